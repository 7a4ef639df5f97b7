//! `plimsoll diagnose` from files to verdicts.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use plimsoll_testkit::Workload;

/// A temporary directory.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plimsoll-diagnose-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder can be made");
        Self(path)
    }

    fn put(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("a file can be written");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn report(hour: i8, single_reads: u64) -> String {
    let work = Workload {
        database: "SHOP".to_owned(),
        instance: "shop1".to_owned(),
        host: "db1".to_owned(),
        begin: jiff::civil::date(2026, 3, 2).at(hour, 0, 0, 0),
        minutes: 60,
        block_bytes: 8_192,
        single_reads,
        several_reads: 0,
        blocks_a_read: 16,
        data_writes: 72_000,
        redo_writes: 18_000,
        redo_write_bytes: 4_096,
        read_us: 8_000,
        redo_us: 400,
        processor_s: 2_160,
        processors: 16,
        cache_mib: 4_096,
    };
    work.awr_html()
}

fn diagnose(path: &Path, flags: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_plimsoll");
    Command::new(program).arg("diagnose").arg(path).args(flags).output().expect("it runs")
}

fn check(output: &Output, code: i32, said: &[&str]) {
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for phrase in said {
        assert!(flat.contains(phrase), "{phrase}\nis not in\n{text}");
    }
}

#[test]
fn reports_of_a_folder_are_one_diagnosis() {
    let folder = Folder::new("folder");
    for hour in 0..8 {
        folder.put(&format!("awr_{hour}.html"), &report(hour, 180_000 * (1 + hour as u64)));
    }
    folder.put("notes.txt", "hello");
    let said = ["8 windows of up to 60 min", "Sessions mostly wait for storage", "is slow, not overloaded"];
    check(&diagnose(&folder.0, &[]), 0, &said);
    // Up to 400 reads, 20 writes and 5 log writes per second.
    let on = ["azure/2014", "No ceiling of the configuration is reached", "85 %"];
    check(&diagnose(&folder.0, &["--on", "azure/2014:1023GB"]), 0, &on);
    let json = diagnose(&folder.0, &["--json", "-"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("it is JSON");
    assert_eq!(json["subjects"][0]["answers"][0]["iops_and_latency_seconds"].as_array().map(Vec::len), Some(8));
}

#[test]
fn errors_have_remedies() {
    let folder = Folder::new("refused");
    folder.put("notes.txt", "hello");
    check(&diagnose(&folder.0, &[]), 1, &["no usable input"]);
    check(&diagnose(&folder.0, &["--on", "azure/2041:1023GB"]), 2, &["azure/2014"]);
    check(&diagnose(&folder.0.join("nothing"), &[]), 2, &["nothing: no such file or directory: check the path"]);
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
    folder.put("failover.jsonl", &log("[1,1,1,1,1]"));
    check(
        &diagnose(&folder.0.join("failover.jsonl"), &[]),
        0,
        &[
            "mpatha has 5 paths and uses one at a time: its paths are grouped for failover.",
            "it carries 46,400 IOPS; 5 would carry 232,000 IOPS",
            "Set path_grouping_policy to multibus",
        ],
    );
    folder.put("multibus.jsonl", &log("[5]"));
    let output = diagnose(&folder.0.join("multibus.jsonl"), &[]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("mpatha"), "all paths are in use");
}
