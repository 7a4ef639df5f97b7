//! `t/io_uring`, the smallest `io_uring` load generator, from the source of fio: no histograms, a clock reading each second.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Observation, seconds};

/// The program that the user named, if it is there.
pub fn program() -> Option<PathBuf> {
    std::env::var_os("PLIMSOLL_BENCH_T_IO_URING").map(PathBuf::from).filter(|program| program.is_file())
}

/// 4 KiB random reads in its usual batches of 32, without polling. The user time is unknown.
pub fn random_reads(program: &Path, path: &Path, depth: u32) -> Observation {
    let output = Command::new(program)
        .args(["-p0", "-B1", "-F1", "-R1", "-s32", "-c32", "-b4096"])
        .args([format!("-d{depth}"), format!("-r{}", seconds())])
        .arg(path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let rates: Vec<f64> = text.lines().filter_map(|line| rate(line.strip_prefix("IOPS=")?)).collect();
    assert!(!rates.is_empty(), "{} printed no rate: {text}", program.display());
    Observation { iops: rates.iter().sum::<f64>() / rates.len() as f64, user_ns: f64::NAN }
}

/// The number that a line begins with, like `213.54K`.
fn rate(line: &str) -> Option<f64> {
    let word = line.split(',').next()?;
    let (number, factor) = match word.strip_suffix('K') {
        Some(number) => (number, 1e3),
        None => word.strip_suffix('M').map_or((word, 1.0), |number| (number, 1e6)),
    };
    Some(number.parse::<f64>().ok()? * factor)
}
