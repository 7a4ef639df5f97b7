//! Benchmark results as curves, and findings that follow from their own output.

use plimsoll_ingest::{Reading, build_curves};
use plimsoll_load::{Pace, Pattern};
use plimsoll_record::{Curve, Finding, Source, Steadiness, Weight};
use plimsoll_units::Bytes;

use crate::read::reading as read;

/// A result of fio 3: one job of reads with these options, 60 s long, and the counters of its disk.
fn fio(options: &str, operations: u64, disk: &str, cpu: (f64, f64)) -> String {
    let (iops, bytes) = (operations as f64 / 60.0, operations * 4096);
    format!(
        r#"{{"fio version":"fio-3.28","global options":{{"filename":"/data/t","size":"1g"}},"jobs":[{{"jobname":"r",
        "groupid":0,"error":0,"job options":{{"name":"r","bs":"4k",{options}}},
        "read":{{"io_bytes":{bytes},"bw_bytes":{},"iops":{iops},"runtime":60000,"total_ios":{operations},
        "clat_ns":{{"mean":125000.0,"percentile":{{"50.000000":120000,"99.000000":180000}}}},"lat_ns":{{"mean":128500.0}}}},
        "write":{{"io_bytes":0,"bw_bytes":0,"iops":0.0,"runtime":0,"total_ios":0}},
        "usr_cpu":{},"sys_cpu":{}}}],"disk_util":[{disk}]}}"#,
        bytes / 60,
        cpu.0,
        cpu.1
    )
}

fn findings(reading: &Reading) -> Vec<String> {
    reading.evidence[0].findings.iter().map(|finding| format!("{:?}: {}", finding.weight(), finding.text())).collect()
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let found = findings(&read(text));
    let fits = found.len() == expected.len() && found.iter().zip(expected).all(|(found, part)| found.contains(part));
    assert!(fits, "{found:#?}, expected {expected:#?}");
}

const RANDOM: &str = r#""rw":"randread","ioengine":"libaio","iodepth":"32""#;

#[test]
fn reads_that_the_device_did_not_serve_are_void() {
    let disk = r#"{"name":"nvme1n1","read_ios":8100,"write_ios":10,"read_merges":0,"write_merges":0,"util":8.5}"#;
    check(
        &fio(RANDOM, 14_648_437, disk, (20.0, 79.0)),
        &[
            "Caution: libaio was used without direct I/O: its submissions wait, so that a depth of 32 was not in flight",
            "Caution: the processors were 99 % busy",
            "Void: 99.9 % of the reads came from the page cache: not a figure of the storage",
            "Caution: the device was busy for 8.5 % of the time",
        ],
    );
}

#[test]
fn direct_reads_that_reached_the_device_have_no_finding() {
    let disk = r#"{"name":"nvme1n1","read_ios":600100,"write_ios":10,"read_merges":0,"write_merges":0,"util":99.5}"#;
    let direct = format!(r#"{RANDOM},"direct":"1""#);
    check(&fio(&direct, 600_000, disk, (5.0, 9.0)), &[]);
    // Without statistics of the disk nothing is known.
    let silent = r#"{"name":"nbd0","read_ios":0,"write_ios":0,"util":0.0}"#;
    check(&fio(&direct, 600_000, silent, (5.0, 9.0)), &[]);
    // A compound disk is listed with its members.
    let members = r#"{"name":"md0","read_ios":600100,"write_ios":0,"aggr_read_ios":300050,"util":99.0},
        {"name":"sda","read_ios":300050,"write_ios":0,"util":99.0},{"name":"sdb","read_ios":300050,"write_ios":0,"util":99.0}"#;
    check(&fio(&direct, 600_000, members, (5.0, 9.0)), &[]);
    let cached = r#"{"name":"zd0","read_ios":60000,"write_ios":0,"read_merges":0,"util":99.0}"#;
    check(&fio(&direct, 600_000, cached, (5.0, 9.0)), &["Void: 90 % of the bytes read never came from the device"]);
}

/// Read-ahead reads in large operations: only the bytes show whether the device served them.
#[test]
fn results_without_storage_are_void() {
    let disk = r#"{"name":"nullb0","read_ios":600100,"write_ios":10,"util":99.5}"#;
    let at = |options: &str, disk: &str| fio(&format!(r#"{options},"direct":"1""#), 600_000, disk, (5.0, 9.0));
    for engine in ["null", "cpuio", "netsplice", "filestat"] {
        let options = format!(r#""rw":"randread","ioengine":"{engine}","iodepth":"32""#);
        check(&at(&options, ""), &[&format!("Void: ioengine={engine} transfers no data of storage")]);
    }
    let places = [
        ("/dev/shm/t", "Void: /dev/shm/t keeps its data in memory"),
        ("/data/t:/dev/shm", "Void: /dev/shm keeps its data in memory"),
        ("/dev/ram1", "Void: /dev/ram1 keeps its data in memory"),
        ("/dev/nullb0", "Void: /dev/nullb0 transfers no data of storage"),
    ];
    for (place, expected) in places {
        check(&at(&format!(r#"{RANDOM},"filename":"{place}""#), ""), &[expected]);
    }
    check(&at(RANDOM, disk), &["Void: null_blk transfers no data of storage"]);
    for place in ["/dev/shmem/t", "/dev/ramdisk", "/data/nullb0/t"] {
        check(&at(&format!(r#"{RANDOM},"filename":"{place}""#), ""), &[]);
    }
}

#[test]
fn failed_and_incomplete_operations_have_findings() {
    let text = fio(&format!(r#"{RANDOM},"direct":"1""#), 600_000, "", (5.0, 9.0));
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from));
        text.replacen(from, to, 1)
    };
    check(&changed(r#""error":0"#, r#""error":5"#), &["Void: the target failed: fio ended the job with error 5"]);
    check(
        &changed(r#""error":0"#, r#""error":0,"total_err":3,"first_error":5"#),
        &["Caution: 3 operations failed, most with errno 5"],
    );
    check(
        &changed(r#""total_ios":600000"#, r#""total_ios":600000,"short_ios":100,"drop_ios":7"#),
        &["Caution: 100 operations transferred fewer bytes than requested, and 7 were dropped"],
    );
}

#[test]
fn pauses_determine_the_rate() {
    let options = format!(r#"{RANDOM},"direct":"1","thinktime":"5000","thinktime_blocks":"10""#);
    let paused = fio(&options, 114_000, "", (1.0, 1.0));
    check(
        &paused,
        &["Caution: its jobs paused between operations (thinktime), which limited their rate: 0.24 operations"],
    );
    let curve = only(&paused);
    let Pace::Open { rate, .. } = curve.runs[0].offered else { panic!("{:?}", curve.runs[0].offered) };
    assert!((rate.as_f64() - 1_900.0).abs() < 1e-6, "{rate:?}");
    assert_eq!(curve.runs[0].figures.steadiness, Steadiness::Unknown);
    // Pauses that leave the depth in flight change no figure.
    let filled = fio(&options, 14_943_000, "", (1.0, 1.0));
    check(&filled, &[]);
    assert_eq!(only(&filled).runs[0].offered, Pace::Closed { depth: 32 });
}

#[test]
fn several_sizes_have_their_mean() {
    let block = |options: &str, bytes: u64| {
        let text = fio(RANDOM, 600_000, "", (1.0, 1.0)).replacen(r#""bs":"4k""#, options, 1);
        let (from, to) = (600_000_u64 * 4096 / 60, 600_000 * bytes / 60);
        let text = text.replacen(&format!(r#""bw_bytes":{from}"#), &format!(r#""bw_bytes":{to}"#), 1);
        only(&text).conditions.streams[0].mix.sizes.largest()
    };
    assert_eq!(block(r#""bssplit":"4k/50:64k/50""#, 34_816), Bytes::kib(34));
    assert_eq!(block(r#""bs":"64k,4k""#, 65_536), Bytes::kib(64));
    assert_eq!(block(r#""bsrange":"32k-96k""#, 65_301), Bytes::kib(64));
    assert_eq!(block(r#""blocksize":"64k""#, 65_301), Bytes::kib(64));
}

#[test]
fn default_order_is_sequential_reads() {
    let options = r#""ioengine":"libaio","iodepth":"32""#;
    let curve = only(&fio(options, 600_000, "", (1.0, 1.0)));
    assert_eq!(curve.runs[0].offered, Pace::Closed { depth: 32 });
    assert_eq!(curve.conditions.streams[0].pattern, Pattern::Sequential);
    // Writes are not fio's default: the output lacks options.
    let writes = fio(options, 600_000, "", (1.0, 1.0)).replacen(r#""write""#, r#""other""#, 1).replacen(
        r#""read""#,
        r#""write""#,
        1,
    );
    assert_eq!(read(&writes).evidence[0].setting.sequential, None);
}

#[test]
fn sequential_reads_are_judged_by_bytes() {
    let sequential = r#""rw":"read","ioengine":"psync""#;
    let ahead = r#"{"name":"vda","read_ios":18800,"read_sectors":4812800,"write_ios":1,"util":99.0}"#;
    check(&fio(sequential, 600_000, ahead, (5.0, 9.0)), &["Caution: buffered I/O"]);
    let cached = r#"{"name":"vda","read_ios":1000,"read_sectors":256000,"write_ios":1,"util":80.0}"#;
    check(&fio(sequential, 600_000, cached, (5.0, 9.0)), &["Caution: buffered I/O", "Void: 95 % of the reads"]);
    // Without bytes, operations of at most 1.25 MiB are assumed.
    let unknown = r#"{"name":"vda","read_ios":18800,"write_ios":1,"util":99.0}"#;
    check(&fio(sequential, 600_000, unknown, (5.0, 9.0)), &["Caution: buffered I/O"]);
}

/// The only curve of a text.
#[track_caller]
fn only(text: &str) -> Curve {
    let mut found = build_curves(&read(text), None);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0).curve
}

#[test]
fn results_of_one_workload_are_a_curve() {
    let job = |name: &str, rw: &str, depth: u32, iops: f64| {
        format!(
            r#"{{"jobname":"{name}","groupid":{depth},"job options":{{"rw":"{rw}","bs":"4k","iodepth":"{depth}","direct":"1",
            "ioengine":"libaio","filename":"/dev/x","size":"10g"}},"read":{{"io_bytes":1,"bw_bytes":1,"iops":{iops},
            "runtime":60000,"total_ios":{},"lat_ns":{{"mean":{}}}}}}}"#,
            (iops * 60.0) as u64,
            f64::from(depth) * 1e9 / iops
        )
    };
    let jobs = [job("r4", "randread", 4, 4_000.0), job("r1", "randread", 1, 1_000.0), job("s1", "read", 2, 3_000.0)];
    let text = format!(r#"{{"fio version":"fio-3.33","jobs":[{}]}}"#, jobs.join(","));
    let found = build_curves(&read(&text), None);
    assert_eq!(found.iter().map(|one| one.tests.join(" ")).collect::<Vec<_>>(), ["r4 r1", "s1"]);
    let curve = &found[0].curve;
    assert_eq!(curve.source, Source::Measured { engine: "fio 3.33, libaio".into() });
    let depths: Vec<Pace> = curve.runs.iter().map(|run| run.offered).collect();
    assert_eq!(depths, [Pace::Closed { depth: 1 }, Pace::Closed { depth: 4 }]);
    let stream = &curve.conditions.streams[0];
    assert_eq!((stream.mix.sizes.largest(), stream.mix.reads, stream.pattern), (Bytes::kib(4), 1.0, Pattern::Uniform));
    assert_eq!((curve.subject.size, curve.conditions.direct, curve.findings.len()), (Bytes::gib(10), true, 0));
    assert!((curve.runs[0].figures.mean_ns.value - 1e6).abs() < 1.0);
    let named = build_curves(&read(&text), Some("s1"));
    assert_eq!(named.len(), 1);
    assert_eq!(named[0].curve.conditions.streams[0].pattern, Pattern::Sequential);
}

#[test]
fn tables_of_curves_are_read_with_their_units() {
    let curve = only("depth,iops,latency_us\n1,10000,100\n4,38000,105\n16,80000,200\n");
    assert!(matches!(curve.source, Source::Published { .. }));
    let figures: Vec<(f64, f64)> =
        curve.runs.iter().map(|run| (run.figures.iops.value, run.figures.mean_ns.value.round())).collect();
    assert_eq!(figures, [(10_000.0, 100_000.0), (38_000.0, 105_000.0), (80_000.0, 200_000.0)]);
    // Four values are assumed: size, share of reads, order, range.
    assert_eq!(
        curve.findings.iter().filter(|finding| finding.weight() == Weight::Note).count(),
        4,
        "{:?}",
        curve.findings
    );
    let rates = only("rate;IOPS;mean (ms);p99 (ms);block;reads\n1000;1000;0.2;0.5;8KiB;70\n9000;8000;50;90;8KiB;70\n");
    assert!(matches!(rates.runs[0].offered, Pace::Open { .. }));
    assert_eq!(rates.runs[1].figures.steadiness, Steadiness::Overloaded);
    assert!((rates.runs[0].figures.p99_ns.value - 5e5).abs() < 1.0);
    assert!((rates.conditions.streams[0].mix.reads - 0.7).abs() < 1e-9);
}

#[test]
fn latencies_without_a_unit_follow_from_depth_over_rate() {
    for (text, mean_ns) in [
        ("qd,iops,lat\n1,1000,1.01\n4,4000,0.99\n", 1.01e6),
        ("qd,iops,lat\n1,1000,1010\n4,4000,990\n", 1.01e6),
        ("qd\tiops\n1\t1000\n4\t4000\n", 1e6),
    ] {
        let curve = only(text);
        assert!(
            (curve.runs[0].figures.mean_ns.value / mean_ns - 1.0).abs() < 1e-9,
            "{text}: {:?}",
            curve.runs[0].figures
        );
    }
    let inferred = only("qd,iops\n1,1000\n");
    let is_mean = |finding: &Finding| matches!(finding, Finding::Assumed { what, .. } if what.contains("mean"));
    assert!(inferred.runs[0].findings.iter().any(is_mean), "{:?}", inferred.runs[0].findings);
}

#[test]
fn rates_above_the_law_of_little_are_doubted() {
    let doubt = |text: &str| {
        let reading = read(text);
        let found = reading.cautions.iter().map(|caution| caution.doubt.to_string());
        found.filter(|doubt| doubt.contains("Little's law")).collect::<Vec<_>>()
    };
    let found = doubt("depth,iops,latency_ms\n1,9900,101\n4,38,105\n");
    assert!(matches!(found.as_slice(), [only] if only.contains("allows at most 9.9 operations")), "{found:?}");
    let curve = only("depth,iops,latency_ms\n1,9900,101\n4,38,105\n");
    let is_doubted = |finding: &Finding| matches!(finding, Finding::RateAboveDepth { .. });
    assert!(curve.runs[0].findings.iter().any(is_doubted), "{:?}", curve.runs[0].findings);
    assert!(!curve.runs[1].findings.iter().any(is_doubted));
    // A closed load may pause, and latencies of open loads are in no relation to a depth.
    assert!(doubt("depth,iops,latency_us\n1,10000,100\n4,3800,105\n").is_empty());
    assert!(doubt("rate,iops,latency_ms\n9900,9900,101\n").is_empty());
}
