//! Real job files, cut short: those that can run here run, and their results have the form of fio's own.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use super::{Folder, beside_fio, read, stderr};

/// Options that are left out: places, sizes, times, rates and logs, so that a job is over at once; and one with which fio
/// 3.33 never ends where there is no rate.
const LEFT_OUT: [&str; 26] = [
    "filename",
    "directory",
    "filename_format",
    "size",
    "filesize",
    "io_size",
    "offset",
    "offset_increment",
    "nrfiles",
    "numjobs",
    "loops",
    "runtime",
    "timeout",
    "ramp_time",
    "startdelay",
    "thinktime",
    "rate",
    "rate_iops",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
    "log_avg_msec",
    "log_hist_msec",
    "steadystate_duration",
    "io_submit_mode",
];

/// The jobs of a file, of 1 MiB and 200 ms each.
fn short(text: &str) -> String {
    let is_left_out = |line: &&str| LEFT_OUT.contains(&line.split(['=', ' ']).next().unwrap_or_default());
    let lines = text.lines().map(str::trim).filter(|line| !is_left_out(line));
    let section = |line: &str| line.starts_with('[') && !line.starts_with("[global");
    lines
        .map(|line| if section(line) { format!("{line}\nsize=1m\nruntime=200ms\n") } else { format!("{line}\n") })
        .collect()
}

/// The last reason that is given, without its place: notes stand before it.
fn reason(said: &str) -> String {
    let line = said.lines().last().unwrap_or_default();
    let words = line.trim_start_matches("plimsoll: ");
    let words = words.split_once(": ").map_or(words, |(_, words)| words);
    words.split(';').next().unwrap_or_default().chars().take(60).collect()
}

#[test]
fn real_job_files_run_or_say_why_they_do_not() {
    let Some(folder) = std::env::var_os("PLIMSOLL_SAMPLES").map(|root| PathBuf::from(root).join("fio_job")) else {
        return println!("skipped: PLIMSOLL_SAMPLES names no folder of job files");
    };
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut table = BTreeMap::<String, usize>::new();
    let mut ran = 0;
    for path in &paths {
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let own = Folder::new(&format!("sample-{ran}"));
        let (output, said) = own.told("", &short(&text));
        let outcome = match output.status.code() {
            Some(0) => {
                ran += 1;
                let theirs = theirs(&short(&text));
                match theirs {
                    Some(theirs) => {
                        let missing = beside_fio::missing(&theirs, &read(&output));
                        // How far a job comes in its time is its own affair, and so what bins it has.
                        let of_time = [".disk_util", ".bins.", ".percentile."];
                        let is_other = |key: &&String| of_time.iter().all(|part| !key.contains(part));
                        let missing: Vec<_> = missing.iter().filter(is_other).collect();
                        assert!(missing.is_empty(), "{name}: {missing:?}");
                        "runs, in fio's form".to_owned()
                    }
                    None => "runs; not in the installed fio".to_owned(),
                }
            }
            Some(1) => format!("refused: {}", reason(&said)),
            other => panic!("{name}: {other:?}: {}", stderr(&output)),
        };
        println!("{name}: {outcome}");
        *table.entry(outcome).or_default() += 1;
    }
    println!("{} job files", paths.len());
    for (outcome, count) in &table {
        println!("{count:5} {outcome}");
    }
    // The others are templates, or ask for what plimsoll has not: networks, metadata, commands past the block layer.
    assert!(ran * 3 > paths.len(), "{ran} of {} run", paths.len());
}

/// What fio makes of the same file, if it takes it.
fn theirs(text: &str) -> Option<serde_json::Value> {
    let folder = Folder::new("sample-theirs");
    folder.put("job.fio", text);
    let output =
        Command::new("fio").args(["--output-format=json+", "job.fio"]).current_dir(folder.path()).output().ok()?;
    output.status.success().then(|| read(&output))
}
