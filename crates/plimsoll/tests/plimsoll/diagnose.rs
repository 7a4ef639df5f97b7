//! `plimsoll diagnose` from files to verdicts.

use std::process::Output;

use plimsoll_testkit::Workload;
use rustix::fs::{FileType, Mode};

use crate::folder::{Folder, stderr, stdout, words};

fn report(hour: i8, single_reads: u64) -> String {
    let work = Workload {
        single_reads,
        several_reads: 0,
        blocks_a_read: 16,
        data_writes: 72_000,
        redo_writes: 18_000,
        read_us: 8_000,
        redo_us: 400,
        processor_s: 2_160,
        ..Workload::small_shop(hour)
    };
    work.awr_html()
}

fn check(output: &Output, code: i32, reported: &[&str]) {
    let text = stdout(output) + &stderr(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    let flat = words(&text);
    for phrase in reported {
        assert!(flat.contains(phrase), "{phrase}\nis not in\n{text}");
    }
}

/// With a file of another format, a pipe and a dangling link beside them.
#[test]
fn reports_of_a_folder_are_one_diagnosis() {
    let folder = Folder::new("folder");
    for hour in 0..8 {
        folder.write(&format!("awr_{hour}.html"), report(hour, 180_000 * (1 + hour as u64)));
    }
    folder.write("notes.txt", "hello");
    std::os::unix::fs::symlink("/nonexistent", folder.join("dangling")).expect("a link can be made");
    rustix::fs::mknodat(rustix::fs::CWD, folder.join("pipe"), FileType::Fifo, Mode::RUSR, 0)
        .expect("a pipe can be made");
    let reported = ["8 windows of up to 60 min", "Sessions mostly wait for storage", "is slow, not overloaded"];
    check(&folder.run(&["diagnose", "."]), 0, &reported);
    // Up to 400 reads, 20 writes and 5 log writes per second.
    let on = ["azure/2014", "No ceiling of the configuration is reached", "85 %"];
    check(&folder.run(&["diagnose", ".", "--on", "azure/2014:1023GB"]), 0, &on);
    let json = folder.run(&["diagnose", ".", "--json", "-"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("it is JSON");
    assert_eq!(json["subjects"][0]["answers"][0]["iops_and_latency_seconds"].as_array().map(Vec::len), Some(8));
}

#[test]
fn errors_have_remedies() {
    let folder = Folder::new("refused");
    folder.write("notes.txt", "hello");
    check(&folder.run(&["diagnose", "."]), 1, &["no usable input"]);
    check(&folder.run(&["diagnose", ".", "--on", "azure/2041:1023GB"]), 2, &["azure/2014"]);
    check(&folder.run(&["diagnose", "nothing"]), 2, &["nothing: no such file or directory: check the path"]);
}

/// A volume of OCI with five paths, as `collect linux` records it with the defaults of multipath-tools.
#[test]
fn a_failover_policy_leaves_paths_idle() {
    let folder = Folder::new("paths");
    let log = |groups: &str| {
        let idle = ["sdc", "sdd", "sde", "sdf"]
            .map(|name| format!(r#""{name}":{{"reads":0,"sectors_read":0,"ms_reading":0}}"#));
        let sample = |second: u32, reads: u32| {
            // 4 KiB and 0.69 ms each.
            let (sectors, ms) = (reads * 8, u64::from(reads) * 69 / 100);
            format!(
                r#"{{"at":"2026-03-02T09:00:{second:02}Z","uptime_s":{second},"devices":{{"sdb":{{"reads":{reads},"sectors_read":{sectors},"ms_reading":{ms}}},{}}}}}"#,
                idle.join(",")
            )
        };
        let head = format!(
            r#"{{"format":"plimsoll.snapshots/1","source":"linux","host":"db1","processors":32,"multipaths":{{"mpatha":{{"paths":["sdb","sdc","sdd","sde","sdf"],"groups":{groups},"queue_depth":32}}}}}}"#
        );
        [head, sample(1, 0), sample(11, 460_000), sample(21, 920_000)].join("\n") + "\n"
    };
    folder.write("failover.jsonl", log("[1,1,1,1,1]"));
    check(
        &folder.run(&["diagnose", "failover.jsonl"]),
        0,
        &[
            "mpatha has 5 paths and uses one at a time: its paths are grouped for failover.",
            "it carries 46,400 IOPS; 5 would carry 232,000 IOPS",
            "Set path_grouping_policy to multibus",
        ],
    );
    folder.write("multibus.jsonl", log("[5]"));
    let output = folder.run(&["diagnose", "multibus.jsonl"]);
    assert!(!stdout(&output).contains("mpatha"), "all paths are in use");
}

/// Statistics of a volume whose instance is above its limit of throughput for 7 s of each 10, and the volume itself above
/// its IOPS for 1 s.
#[test]
fn a_limit_by_the_providers_counters_is_named_first_with_its_owner() {
    let folder = Folder::new("ebs");
    let sample = |n: u64| {
        let (reads, bytes, time) = (30_000 * n, 30_000 * n * 131_072, 30_000 * n * 8_000);
        format!(
            "2026-03-02T09:00:{:02}Z\n{{\"total_read_ops\":{reads},\"total_read_bytes\":{bytes},\"total_read_time\":{time},\n\
             \"total_write_ops\":0,\"total_write_bytes\":0,\"total_write_time\":0,\n\
             \"ebs_volume_performance_exceeded_iops\":{},\"ec2_instance_ebs_performance_exceeded_tp\":{},\n\
             \"volume_queue_length\":2,\"read_io_latency_histogram\":{{\"num_bins\":0,\"bins\":[]}}}}\n",
            10 * n,
            n * 1_000_000,
            n * 7_000_000
        )
    };
    folder.write("ebs.txt", (0..5).map(sample).collect::<String>());
    let named = [
        "Storage is the problem; a limit keeps the load below the demand",
        "The machine was above its throughput limit for 28 s of 40 s, according to EC2 (ec2_instance_performance_exceeded_tp)",
        "the volume was above its IOPS limit for 4 s of 40 s, according to EBS",
        "A faster volume does not help, as the limit is the machine's",
    ];
    check(&folder.run(&["diagnose", "ebs.txt"]), 0, &named);
    let json = folder.run(&["diagnose", "ebs.txt", "--json", "-"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("it is JSON");
    let subject = &json["subjects"][0];
    assert_eq!(subject["verdicts"][0]["verdict"], "censored");
    assert_eq!(subject["censored"]["limit_owner"], "machine");
    let limits = subject["provider_limits"].as_array().expect("a list");
    let found: Vec<_> =
        limits.iter().map(|limit| (limit["owner"].as_str(), limit["seconds_at_limit"].as_f64())).collect();
    assert_eq!(found, [(Some("volume"), Some(4.0)), (Some("machine"), Some(28.0))]);
    let sizing = folder.run(&["size", "ebs.txt", "--capacity", "500GiB", "--provider", "aws"]);
    check(&sizing, 0, &["a faster volume alone does not help, so the machine is sized for this load too"]);
}

#[test]
fn storage_that_does_not_respond_at_times_is_no_fast_storage() {
    let folder = Folder::new("stall");
    let row = |minute: usize| {
        let (rates, queue) = if minute < 10 { ("1000,500,8000,4000,1,1", 1) } else { ("0,0,0,0,0,0", 256) };
        format!("2026-03-02 00:{minute:02}:00,sda,{rates},{queue}\n")
    };
    let head = "time,device,read_iops,write_iops,read_kb,write_kb,read_latency_ms,write_latency_ms,queue\n";
    folder.write("stall.csv", head.to_owned() + &(0..20).map(row).collect::<String>());
    let text = words(&folder.text(&["diagnose", "stall.csv"]));
    assert!(text.starts_with("Storage is the problem at times: it does not respond"), "{text}");
    assert!(!text.contains("the storage is fast") && !text.contains("counted twice"), "{text}");
    let sized = words(&folder.text(&["size", "stall.csv", "--capacity", "1TiB", "--provider", "aws"]));
    assert!(sized.contains("in 10 of 20 windows: the storage, or its path, does not answer. The demand"), "{sized}");
}
