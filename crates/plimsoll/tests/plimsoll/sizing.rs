//! `plimsoll size`: choices from reports, and errors about missing information.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::process::{Command, Output};

use plimsoll_testkit::Workload;

/// Hourly reports of a database from 8 to 15 o'clock with increasing load.
fn reports() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("size-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for hour in 8..16_i8 {
        let workload = Workload {
            database: "SHOP".to_owned(),
            instance: "shop1".to_owned(),
            host: "db1".to_owned(),
            begin: jiff::civil::date(2026, 3, 2).at(hour, 0, 0, 0),
            minutes: 60,
            block_bytes: 8_192,
            single_reads: 3_600 * 100 * hour.unsigned_abs() as u64,
            several_reads: 36_000,
            blocks_a_read: 64,
            data_writes: 720_000,
            redo_writes: 180_000,
            redo_write_bytes: 4_096,
            read_us: 850,
            redo_us: 410,
            processor_s: 5_000,
            processors: 16,
            cache_mib: 4_096,
        };
        std::fs::write(folder.join(format!("awr-{hour}.html")), workload.awr_html()).unwrap();
    }
    folder
}

fn size(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    command.arg("size").arg(reports()).args(arguments.split_whitespace()).output().unwrap()
}

#[test]
fn json_on_standard_output_keeps_the_reason_on_standard_error() {
    let output = size("--capacity 500GiB --provider oci --objective p99<=1us --json -");
    assert_eq!(output.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["choices"].as_array().map(Vec::len), Some(0));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("no configuration carries the demand: widen --provider"), "{stderr}");
}

#[test]
fn reports_become_choices() {
    // Log writes take 410 us at present, and neither choice is as fast.
    let asked = "--capacity 500GiB --provider oci,gp3 --burst none --as-of 2026-11-21 --json -";
    let output = size(asked);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("use --may-be-slower to accept them"), "{stderr}");
    let output = size(&format!("--may-be-slower {asked}"));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let wanted = &json["wanted"];
    assert_eq!((&wanted["subject"], &wanted["measured"]["windows"]), (&"SHOP".into(), &8.into()));
    // At 15 o'clock: 1,500 single reads, 10 scans, 200 and 50 writes per second.
    let iops = wanted["measured"]["iops"].as_f64().unwrap();
    assert!((iops - 1_760.0).abs() < 2.0, "{iops}");
    let choices = json["choices"].as_array().unwrap();
    assert_eq!(choices.len(), 2);
    for choice in choices {
        assert!(choice["binds"]["over_design_point"].as_f64().unwrap() >= 1.0 - 1e-6, "{choice}");
        assert!(!choice["simulated_latency"].as_array().unwrap().is_empty());
    }
}

#[test]
fn unreachable_objective_has_exit_code_1_and_names_the_nearest() {
    let output = size("--capacity 500GiB --provider gp3 --objective p99<=1us --as-of 2026-11-21");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("carries the load at read p99 <= 1 us: the nearest has"), "{text}");
}

#[test]
fn missing_arguments_are_named() {
    let cases = [
        ("", "use --capacity, such as --capacity 2TiB"),
        ("nowhere.txt", "nowhere.txt: no such file or directory"),
        ("--capacity 1TiB --provider azur", "did you mean azure"),
        ("--capacity 1TiB --currency CHF", "prices are in EUR, JPY, USD"),
        ("--capacity 1TiB --machine aws/m5.larg", "did you mean aws/m5.large"),
        ("--capacity 1TiB --machine gp3", "is not a machine"),
        ("--capacity 1TiB --database SHOPS", "did you mean SHOP?"),
        ("--capacity 1TiB --growth 30%/week --months 3", "such as 30%/year"),
    ];
    for (arguments, said) in cases {
        let output = size(arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {text}");
        assert!(text.contains(said), "{arguments}: {text}");
    }
}
