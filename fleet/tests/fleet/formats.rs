//! Formats of metrics that are read by `plimsoll-ingest`: streams, exporters, and collections of hosts and databases.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{TestFolder, arg, contents, fail, output, succeed, table};

const POINTS: &str = "select v.id, m.ts, m.period_s, m.read_ops, m.write_ops, m.read_bytes, m.write_bytes, m.iops_exceeded \
                      from metrics m join volumes v on v.volume = m.volume order by v.id, m.ts";

/// Reads a file twice: the second time changes no byte. Returns the answer and the rows of all points.
fn ingest_twice(fleet: &Path, input: &Path, options: &[&str]) -> (String, Vec<String>) {
    let arguments = [&["ingest", arg(fleet), arg(input)], options].concat();
    let answer = succeed(&arguments);
    let before = contents(fleet);
    succeed(&arguments);
    assert!(contents(fleet) == before);
    let points = succeed(&["sql", arg(fleet), POINTS, "--format", "csv"]);
    (answer, points.lines().skip(1).map(str::to_owned).collect())
}

/// Lines and reasons of all rejected rows.
fn reasons(fleet: &Path) -> Vec<String> {
    let mut rows = Vec::new();
    for file in fs::read_dir(fleet.join("rejected")).unwrap() {
        rows.extend(table(&file.unwrap().path()).iter().map(|row| format!("{} {}", row["line"], row["reason"])));
    }
    rows
}

/// A line of a metric stream, `minute` after 2026-03-01T00:00:00Z.
fn stream_line(metric: &str, dimensions: &str, minute: u64, sum: f64, max: f64) -> String {
    let at = 1_772_323_200_000 + 60_000 * minute;
    format!(
        r#"{{"metric_stream_name":"all","account_id":"1","region":"us-east-1","namespace":"AWS/EBS","metric_name":"{metric}","dimensions":{{{dimensions}}},"timestamp":{at},"value":{{"max":{max},"min":0.0,"sum":{sum},"count":5.0}},"unit":"Count"}}"#
    ) + "\n"
}

#[test]
fn metric_streams_are_sums_of_minutes() {
    let folder = TestFolder::new("stream");
    let fleet = folder.path("fleet");
    let volume = r#""VolumeId":"vol-01""#;
    let checked = r#""VolumeId":"vol-01","InstanceId":"i-1""#;
    let mut lines = Vec::new();
    for minute in [1, 0] {
        let more = minute as f64;
        lines.push(stream_line("VolumeReadOps", volume, minute, 6_001.0 + more, 0.0));
        lines.push(stream_line("VolumeWriteOps", volume, minute, 60.0, 0.0));
        lines.push(stream_line("VolumeReadBytes", volume, minute, 49_160_192.0, 0.0));
        lines.push(stream_line("VolumeWriteBytes", volume, minute, 491_521.0, 0.0));
        lines.push(stream_line("VolumeIOPSExceededCheck", checked, minute, more, more));
    }
    // Delivered twice, cut, and with another value.
    lines.push(lines[0].clone());
    lines.push("{\"metric_stream_name\":\"all\",\"acc\n".to_owned());
    lines.push(stream_line("VolumeReadOps", volume, 0, 7.0, 0.0));
    let input = folder.write("stream", &lines.concat());
    let (answer, points) = ingest_twice(&fleet, &input, &[]);
    assert!(answer.starts_with("2 points added, 0 were present, 2 rows rejected"), "{answer}");
    assert!(!answer.contains("were rates"), "{answer}");
    let expected = ["vol-01,1772323200,60,6001,60,49160192,491521,0", "vol-01,1772323260,60,6002,60,49160192,491521,1"];
    assert_eq!(points, expected);
    let found = reasons(&fleet);
    assert!(found[0].starts_with("12 not read: ") && found[0].contains("invalid JSON"), "{found:?}");
    assert!(found[1].starts_with("13 not read: another value"), "{found:?}");
}

#[test]
fn volumes_of_node_exporter_have_the_names_of_their_claims() {
    let folder = TestFolder::new("claims");
    let fleet = folder.path("fleet");
    let values = |step: u64| {
        let values: Vec<String> =
            (0..3).map(|n| format!("[{},\"{}\"]", 1_772_323_200 + 60 * n, 1_000 + step * n)).collect();
        values.join(",")
    };
    let series = |labels: &str, step: u64| format!(r#"{{"metric":{{{labels}}},"values":[{}]}}"#, values(step));
    let disk = |name: &str, device: &str, step: u64| {
        series(&format!(r#""__name__":"node_disk_{name}_total","device":"{device}","instance":"node1:9100""#), step)
    };
    let text = [
        disk("reads_completed", "nvme1n1", 600),
        disk("writes_completed", "nvme1n1", 60),
        disk("read_bytes", "nvme1n1", 600 * 8_192),
        disk("written_bytes", "nvme1n1", 60 * 8_192),
        disk("reads_completed", "nvme2n1", 6),
        // Without a serial number.
        disk("reads_completed", "nvme3n1", 60),
        series(r#""__name__":"node_disk_info","device":"nvme1n1","instance":"node1:9100","serial":"vol0a1""#, 0),
        series(r#""__name__":"node_disk_info","device":"nvme2n1","instance":"node1:9100","serial":"vol0a2""#, 0),
        series(
            r#""__name__":"kube_persistentvolume_info","persistentvolume":"pvc-7","csi_volume_handle":"vol-0a1""#,
            0,
        ),
        series(
            r#""__name__":"kube_persistentvolumeclaim_info","namespace":"db","persistentvolumeclaim":"data-postgres-0","volumename":"pvc-7""#,
            0,
        ),
    ];
    let text = format!(r#"{{"status":"success","data":{{"resultType":"matrix","result":[{}]}}}}"#, text.join(","));
    let (answer, points) = ingest_twice(&fleet, &folder.write("range.json", &text), &[]);
    assert!(answer.starts_with("6 points added, 0 were present, 0 rows rejected"), "{answer}");
    assert_eq!(points[0], "node1:9100/nvme3n1,1772323200,60,60,,,,");
    assert_eq!(points[2], "vol-0a1,1772323200,60,600,60,4915200,491520,");
    assert_eq!(points[4], "vol-0a2,1772323200,60,6,,,,");
    let volumes = table(&fleet.join("volumes.csv"));
    let names: Vec<_> = volumes.iter().map(|volume| (&*volume["id"], &*volume["name"])).collect();
    let expected = [("node1:9100/nvme3n1", ""), ("vol-0a1", "db/data-postgres-0"), ("vol-0a2", "nvme2n1")];
    assert_eq!(names, expected);
}

/// Reports of `iostat -xt 10`, the first of them the mean since boot.
fn iostat(host: &str, with_times: bool) -> String {
    let mut text = format!("Linux 6.1.0 ({host}) \t2026-03-01 \t_x86_64_\t(8 CPU)\n\n");
    for (n, [r, rkb, w, wkb]) in
        [[9.0, 9.0, 9.0, 9.0], [100.25, 802.04, 0.0, 0.0], [0.03, 0.4, 7.0, 56.0]].iter().enumerate()
    {
        if with_times {
            writeln!(text, "2026-03-01T00:00:{:02}+0000", n * 10).unwrap();
        }
        text.push_str("avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           1.00    0.00    1.00    0.00    0.00   98.00\n\n");
        text.push_str("Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util\n");
        writeln!(text, "nvme0n1 {r:.2} {rkb:.2} 0.00 0.00 0.50 8.00 {w:.2} {wkb:.2} 0.00 0.00 0.50 8.00 0.05 1.00\n")
            .unwrap();
    }
    text
}

#[test]
fn rates_of_iostat_become_sums_of_their_windows() {
    let folder = TestFolder::new("iostat");
    let fleet = folder.path("fleet");
    let (answer, points) = ingest_twice(&fleet, &folder.write("host.txt", &iostat("db1", true)), &[]);
    assert!(answer.starts_with("2 points added, 0 were present, 0 rows rejected"), "{answer}");
    assert!(answer.contains("values were rates: sums of their windows, in whole operations and bytes"), "{answer}");
    // 100.25 a second for ten seconds are 1,002.5.
    let rows = ["db1/nvme0n1,1772323200,10,1003,0,8212890,0,", "db1/nvme0n1,1772323210,10,0,70,4096,573440,"];
    assert_eq!(points, rows);
    // Without times a begin is needed.
    let untimed = folder.write("untimed.txt", &iostat("db2", false));
    let other = folder.path("untimed");
    let answer = succeed(&["ingest", arg(&other), arg(&untimed)]);
    assert!(answer.starts_with("0 points added"), "{answer}");
    assert!(reasons(&other).iter().all(|reason| reason.contains("give --begin")), "{:?}", reasons(&other));
    let options = ["--begin", "2026-03-01T00:00:00Z", "--interval", "10"];
    let (answer, points) = ingest_twice(&folder.path("begun"), &untimed, &options);
    assert!(answer.starts_with("2 points added, 0 were present, 0 rows rejected"), "{answer}");
    assert!(
        points[0].starts_with("db2/nvme0n1,17723232") && points[0].ends_with(",10,1003,0,8212890,0,"),
        "{points:?}"
    );
    let error = fail(&["ingest", arg(&other), arg(&untimed), "--begin", "noon"]);
    assert!(error.contains("--begin \"noon\" is no time: write 2026-01-31T12:00:00Z"), "{error}");
}

#[test]
fn iostat_as_json_is_read_by_host_and_device() {
    let folder = TestFolder::new("iostat-json");
    let fleet = folder.path("fleet");
    let sample = |second: u64, reads: f64| {
        format!(
            r#"{{"timestamp":"2026-03-01T00:00:{second:02}Z","disk":[{{"disk_device":"sda","r/s":{reads},"w/s":2.00,"rkB/s":80.00,
            "wkB/s":16.00,"r_await":0.5,"w_await":0.5,"aqu-sz":0.01,"util":0.10}}]}}"#
        )
    };
    let samples = [sample(0, 1.0), sample(10, 10.0), sample(20, 20.5)].join(",");
    let text = format!(
        r#"{{"sysstat":{{"hosts":[{{"nodename":"db3","sysname":"Linux","release":"6.1.0","machine":"x86_64","number-of-cpus":8,
        "date":"2026-03-01","statistics":[{samples}]}}]}}}}"#
    );
    let (answer, points) = ingest_twice(&fleet, &folder.write("iostat.json", &text), &[]);
    assert!(answer.starts_with("2 points added, 0 were present, 0 rows rejected"), "{answer}");
    let rows = ["db3/sda,1772323200,10,100,20,819200,163840,", "db3/sda,1772323210,10,205,20,819200,163840,"];
    assert_eq!(points, rows);
}

#[test]
fn collections_of_a_host_are_differences_of_counters() {
    let folder = TestFolder::new("collect");
    let fleet = folder.path("fleet");
    let head = r#"{"format":"plimsoll.snapshots/1","source":"linux","program":"plimsoll 0.1.0","interval_s":10,"host":"db4","devices":{"nvme0n1":{}}}"#;
    let mut text = format!("{head}\n");
    // Each snapshot is some milliseconds late.
    for (n, millis) in [3_u64, 450, 51].into_iter().enumerate() {
        let (second, reads, writes) = (10 * n, 1_000 + 777 * n, 50 * n);
        let (sectors_read, sectors_written) = (reads * 16, writes * 8);
        writeln!(
            text,
            r#"{{"at":"2026-03-01T00:00:{second:02}.{millis:03}Z","devices":{{"nvme0n1":{{"reads":{reads},"writes":{writes},"sectors_read":{sectors_read},"sectors_written":{sectors_written},"ms_reading":{reads},"ms_writing":{writes}}}}},"uptime_s":{}}}"#,
            5_000 + second
        )
        .unwrap();
    }
    let (answer, points) = ingest_twice(&fleet, &folder.write("linux.jsonl", &text), &[]);
    assert!(answer.starts_with("2 points added, 0 were present, 0 rows rejected"), "{answer}");
    assert!(!answer.contains("were rates"), "{answer}");
    let rows = ["db4/nvme0n1,1772323200,10,777,50,6365184,204800,", "db4/nvme0n1,1772323210,10,777,50,6365184,204800,"];
    assert_eq!(points, rows);
}

/// Snapshots of `plimsoll collect postgres`, of PostgreSQL 17.
fn postgres() -> String {
    let head = r#"{"format":"plimsoll.snapshots/1","source":"postgres","program":"plimsoll 0.1.0","interval_s":60,"server":"main","host":"db5","version":"17.2","block_bytes":8192}"#;
    let mut text = format!("{head}\n");
    for n in 0..3_u64 {
        let row = |backend: &str, context: &str, reads: u64, writes: u64| {
            format!(
                r#"{{"backend_type":"{backend}","object":"relation","context":"{context}","reads":{reads},"read_time":0,"writes":{writes},"write_time":0,"extends":0,"op_bytes":8192,"stats_reset":"2026-02-01T00:00:00Z"}}"#
            )
        };
        let rows = [
            row("client backend", "normal", 1_000 + 600 * n, 10 * n),
            row("client backend", "bulkread", 60 * n, 0),
            row("checkpointer", "normal", 0, 300 * n),
        ];
        let statement =
            format!(r#"{{"queryid":7,"calls":{n},"shared_blks_read":{},"shared_blks_written":0}}"#, 500 * n);
        writeln!(
            text,
            r#"{{"at":"2026-03-01T00:0{n}:00.002Z","pg_stat_io":[{}],"pg_stat_statements":[{statement}]}}"#,
            rows.join(",")
        )
        .unwrap();
    }
    text
}

#[test]
fn statistics_of_a_database_need_the_name_of_its_volume() {
    let folder = TestFolder::new("postgres");
    let input = folder.write("postgres.jsonl", &postgres());
    let nameless = folder.path("nameless");
    let answer = succeed(&["ingest", arg(&nameless), arg(&input)]);
    assert!(answer.starts_with("0 points added"), "{answer}");
    assert!(reasons(&nameless).iter().all(|reason| reason.contains("--volume")), "{:?}", reasons(&nameless));
    let fleet = folder.path("fleet");
    let (answer, points) = ingest_twice(&fleet, &input, &["--volume", "vol-data"]);
    assert!(answer.starts_with("2 points added, 0 were present, 0 rows rejected"), "{answer}");
    // Statements are parts of the whole.
    let rows = ["vol-data,1772323200,60,660,310,5406720,2539520,", "vol-data,1772323260,60,660,310,5406720,2539520,"];
    assert_eq!(points, rows);
    let run = output(&["ingest", arg(&fleet), arg(&input), "--volume", "vol-data"]);
    let notes = String::from_utf8(run.stderr).unwrap();
    assert!(notes.contains("note: "), "{notes}");
}

#[test]
fn other_inputs_have_a_reason() {
    let folder = TestFolder::new("others");
    let fleet = folder.path("fleet");
    let page = "# TYPE node_disk_reads_completed_total counter\nnode_disk_reads_completed_total{device=\"sda\"} 7\n\
                node_time_seconds 1.7723232e+09\n";
    let answer = succeed(&["ingest", arg(&fleet), arg(&folder.write("page.txt", page))]);
    assert!(answer.starts_with("0 points added, 0 were present, 1 rows rejected"), "{answer}");
    let expected = " it has no operations or bytes of a window: its counters were read once: ";
    assert!(reasons(&fleet)[0].starts_with(expected), "{:?}", reasons(&fleet));
}

/// Names and paths of real files of a kind, in the folder named by `PLIMSOLL_SAMPLES`.
fn samples(kind: &str) -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os("PLIMSOLL_SAMPLES").map(|root| PathBuf::from(root).join(kind)) else {
        println!("skipped: PLIMSOLL_SAMPLES names no folder of samples");
        return Vec::new();
    };
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Each real file has points, or a reason for each row that is not used; a repetition changes no byte.
#[test]
fn real_files_give_points_or_reasons() {
    let options: [(&str, &[&str]); 7] = [
        ("cloudwatch", &[]),
        ("azure_monitor", &[]),
        ("oci_monitoring", &[]),
        ("node_exporter", &[]),
        ("iostat", &["--begin", "2026-03-01T00:00:00Z", "--interval", "1"]),
        ("iostat_json", &[]),
        ("pg_stat_io", &["--volume", "vol-data"]),
    ];
    for (kind, options) in options {
        let mut points = 0;
        for (number, path) in samples(kind).iter().enumerate() {
            let folder = TestFolder::new(&format!("{kind}-{number}"));
            let fleet = folder.path("fleet");
            let arguments = [&["ingest", arg(&fleet), arg(path)], options].concat();
            let first = output(&arguments);
            let text = String::from_utf8([first.stdout, first.stderr].concat()).unwrap();
            let before = contents(&fleet);
            output(&arguments);
            assert!(contents(&fleet) == before, "{}", path.display());
            let has_points = fleet.join("metrics").exists();
            points += u32::from(has_points);
            assert!(has_points || !reasons(&fleet).is_empty(), "{}: {text}", path.display());
            println!("{kind} {}: {}", path.file_name().unwrap().display(), text.lines().next().unwrap_or_default());
        }
        println!("{kind}: {points} files with points");
    }
}
