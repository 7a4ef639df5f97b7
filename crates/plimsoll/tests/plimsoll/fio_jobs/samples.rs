//! Real job files, shortened: those that can run here have the same results as with fio.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::conformance::{counts, files, run_fio};
use super::{JobFolder, beside_fio, integer, read, real};
use crate::folder::stderr;

/// Omitted options: paths, sizes, times and logs, which shortens jobs; an option with which fio 3.33 never ends without
/// a rate; and a random seed.
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
    "time_based",
    "randrepeat",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
    "log_avg_msec",
    "log_hist_msec",
    "steadystate_duration",
    "io_submit_mode",
];

/// Time limit of a job in milliseconds.
const LASTS_MS: u64 = 2_000;

/// The jobs of a file, limited to 1 MiB and two seconds each.
fn short(text: &str) -> String {
    let is_left_out = |line: &&str| LEFT_OUT.contains(&line.split(['=', ' ']).next().unwrap_or_default());
    let lines = text.lines().map(str::trim).filter(|line| !is_left_out(line));
    let section = |line: &str| line.starts_with('[') && !line.starts_with("[global");
    lines
        .map(
            |line| if section(line) { format!("{line}\nsize=1m\nruntime={LASTS_MS}ms\n") } else { format!("{line}\n") },
        )
        .collect()
}

/// The last error message, without its place; notes precede it.
fn reason(reported: &str) -> String {
    let line = reported.lines().last().unwrap_or_default();
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
    let mut all_differences = Vec::new();
    for path in &paths {
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let own = JobFolder::new(&format!("sample-{ran}"));
        let (output, reported) = own.run_jobs("", &short(&text));
        let outcome = match output.status.code() {
            Some(0) => {
                ran += 1;
                let other = JobFolder::new(&format!("sample-theirs-{ran}"));
                match run_fio(&other, &short(&text)) {
                    Some(theirs) => {
                        let ours = read(&output);
                        let mut other_than_fio = differences(&theirs, &ours);
                        if files(&other) != files(&own) {
                            other_than_fio.push(format!("files {:?}, fio {:?}", files(&own), files(&other)));
                        }
                        all_differences.extend(other_than_fio.iter().map(|words| format!("{name}: {words}")));
                        let missing = beside_fio::list_missing(&theirs, &ours);
                        // Progress within the time limit varies, and so do the bins.
                        let of_time = [".disk_util", ".bins.", ".percentile."];
                        let is_other = |key: &&String| of_time.iter().all(|part| !key.contains(part));
                        let missing: Vec<_> = missing.iter().filter(is_other).collect();
                        assert!(missing.is_empty(), "{name}: {missing:?}");
                        "runs, as in fio".to_owned()
                    }
                    None => "runs; not in the installed fio".to_owned(),
                }
            }
            Some(1) => format!("refused: {}", reason(&reported)),
            other => panic!("{name}: {other:?}: {}", stderr(&output)),
        };
        println!("{name}: {outcome}");
        *table.entry(outcome).or_default() += 1;
    }
    println!("{} job files", paths.len());
    for (outcome, count) in &table {
        println!("{count:5} {outcome}");
    }
    assert!(all_differences.is_empty(), "{all_differences:#?}");
    // The others are templates, or need networks, metadata or passthrough commands.
    assert!(ran * 3 > paths.len(), "{ran} of {} run", paths.len());
}

/// Differences of jobs: names, counts and rates.
fn differences(theirs: &Value, ours: &Value) -> Vec<String> {
    let jobs = |report: &Value| report["jobs"].as_array().cloned().unwrap_or_default();
    let (their_jobs, our_jobs) = (jobs(theirs), jobs(ours));
    let names = |jobs: &[Value]| jobs.iter().map(|job| job["jobname"].to_string()).collect::<Vec<_>>();
    if names(&their_jobs) != names(&our_jobs) {
        return vec![format!("jobs {:?}, fio {:?}", names(&our_jobs), names(&their_jobs))];
    }
    let mut found = Vec::new();
    for (their, our) in their_jobs.iter().zip(&our_jobs) {
        let option = |name: &str| their["job options"][name].as_str().or(theirs["global options"][name].as_str());
        let lasted = |least: u64| integer(their, "job_runtime") >= least || integer(our, "job_runtime") >= least;
        let is_mixed = matches!(option("rw"), Some("rw" | "readwrite" | "randrw"));
        // Sizes and the verified part of a mix are drawn differently by each program.
        let is_drawn = option("bssplit").or(option("bsrange")).is_some() || (is_mixed && option("verify").is_some());
        let difference = if ["rate", "rate_iops"].iter().any(|name| option(name).is_some()) && lasted(LASTS_MS / 2) {
            other_rate(their, our)
        } else if !lasted(LASTS_MS - 100) && !is_drawn {
            other_count(their, our, is_mixed)
        } else {
            None
        };
        found.extend(difference.map(|words| format!("{}: {words}", our["jobname"])));
    }
    found
}

/// Operations per second of each direction, within a tenth plus two operations.
fn other_rate(their: &Value, our: &Value) -> Option<String> {
    ["read", "write", "trim"].iter().find_map(|way| {
        let [theirs, ours] = [their, our].map(|report| real(report, &format!("{way}.iops")));
        let is_other = (theirs - ours).abs() > theirs / 10.0 + 2.0;
        is_other.then(|| format!("{way} {ours:.1} operations a second, fio {theirs:.1}"))
    })
}

/// Counts of operations, bytes and flushes. The reads of a mix are drawn differently by each program, which affects
/// flushes.
fn other_count(their: &Value, our: &Value, is_mixed: bool) -> Option<String> {
    let together = |counts: [u64; 7]| vec![counts[0] + counts[2], counts[1] + counts[3], counts[4], counts[5]];
    let of = |job: &Value| if is_mixed { together(counts(job)) } else { counts(job).to_vec() };
    let (theirs, ours) = (of(their), of(our));
    (theirs != ours).then(|| format!("counts {ours:?}, fio {theirs:?}"))
}
