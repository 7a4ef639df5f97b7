//! fio, run as its users run it, read through its JSON.

use std::path::Path;
use std::process::Command;

use crate::{Observation, median, seconds};

pub fn there() -> bool {
    Command::new("fio").arg("--version").output().is_ok_and(|output| output.status.success())
}

pub fn version() -> String {
    let output = Command::new("fio").arg("--version").output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().trim_start_matches("fio-").to_owned()
}

/// 4 KiB random reads with everything registered that can be.
pub fn random_reads(path: &Path, depth: u32) -> Observation {
    run(&[
        "--ioengine=io_uring".into(),
        "--direct=1".into(),
        "--fixedbufs=1".into(),
        "--registerfiles=1".into(),
        format!("--filename={}", path.display()),
        format!("--iodepth={depth}"),
    ])
}

pub fn null_engine() {
    let observations: Vec<Observation> =
        (0..5).map(|_| run(&["--ioengine=null".into(), "--size=100g".into(), "--iodepth=32".into()])).collect();
    println!("| fio, null engine, depth 32 | {:.2} |", median(&observations, |observation| observation.iops) / 1e6);
}

fn run(arguments: &[String]) -> Observation {
    let output = Command::new("fio")
        .args(["--name=peer", "--rw=randread", "--bs=4k", "--norandommap", "--time_based", "--output-format=json"])
        .arg("--thread")
        .arg(format!("--runtime={}", seconds()))
        .args(arguments)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let json = text.find('{').map_or("", |start| &text[start..]);
    let result: serde_json::Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {text}"));
    let job = &result["jobs"][0];
    let operations = job["read"]["total_ios"].as_f64().unwrap();
    let user_share = job["usr_cpu"].as_f64().unwrap() / 100.0;
    let runtime_ns = job["job_runtime"].as_f64().unwrap() * 1e6;
    Observation { iops: job["read"]["iops"].as_f64().unwrap(), user_ns: user_share * runtime_ns / operations }
}
