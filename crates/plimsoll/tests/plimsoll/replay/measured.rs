//! Replay on real storage: a directory, a file and an export receive the recorded operations.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{evenly, trace};
use crate::folder::{Folder, PROGRAM, stderr};

const BLOCK: u64 = 4096;

/// Number of operations and bytes of a run by kind.
type Counts = BTreeMap<String, (u64, u64)>;

fn counts(run: &Value) -> Counts {
    let counters = run["total"].as_array().expect("counters").iter();
    let number = |value: &Value| value.as_u64().expect("a number");
    let count = |counter: &Value| {
        let kind = counter["kind"].as_str().expect("a kind").to_owned();
        (kind, (number(&counter["response"]["count"]), number(&counter["bytes"])))
    };
    counters.map(count).collect()
}

fn of(expected: &[(&str, u64, u64)]) -> Counts {
    expected.iter().map(|&(kind, count, bytes)| (kind.to_owned(), (count, bytes))).collect()
}

fn finding<'a>(curve: &'a Value, name: &str) -> Option<&'a Value> {
    curve["findings"].as_array().expect("findings").iter().find(|finding| finding["finding"] == name)
}

/// Two hundred operations of all kinds, one per half millisecond, in 4 MiB.
fn of_every_kind() -> String {
    let line = |n: u64| {
        let (kind, offset, length) = match n % 10 {
            0..=4 => ("read", n * 7 % 512 * 2 * BLOCK, 2 * BLOCK),
            5 | 6 => ("write", n * 5 % 1024 * BLOCK, BLOCK),
            7 => ("durable-write", n * 3 % 1024 * BLOCK, BLOCK),
            8 => ("flush", 0, 0),
            _ => ("trim", 1 << 30, 1 << 20),
        };
        format!("{},{kind},{offset},{length}\n", n * 500_000)
    };
    (0..200).map(line).collect()
}

#[test]
fn every_operation_is_made_once() {
    let folder = Folder::new("replay-made");
    folder.write("load.trace", trace(&(of_every_kind() + "#dropped 5\n")));
    let expected = of(&[
        ("read", 100, 200 * BLOCK),
        ("write", 40, 40 * BLOCK),
        ("durable-write", 20, 20 * BLOCK),
        ("flush", 20, 0),
    ]);
    let measure = |more: &[&str]| folder.json(&[&["measure", ".", "--replay", "load.trace"][..], more].concat());

    let timely = measure(&[]);
    let run = &timely["runs"][0];
    assert_eq!(counts(run), expected, "{timely}");
    assert_eq!((&timely["source"]["kind"], &timely["ended"]), (&"measured".into(), &"complete".into()));
    let size = timely["subject"]["size"].as_u64().expect("a size");
    assert_eq!(size, 16 << 20, "a file as large as the trace reaches, but for its trims, and as files are at least");
    let spans = run["series"].as_array().expect("a series").iter();
    let lasted: u64 = spans.map(|slice| slice["span_ns"].as_u64().expect("a span")).sum();
    assert!(lasted >= 99_000_000, "arrivals were kept: {lasted} ns");
    assert_eq!(run["lateness"]["count"], 180, "how late the loop was is known of each operation");
    assert_eq!(timely["conditions"]["trace"]["operations"], 200);
    assert_eq!(finding(&timely, "trace-incomplete").expect("it lacks some")["dropped"], 5);
    let left_out = finding(&timely, "not-replayed").expect("trims are left out");
    assert_eq!((&left_out["count"], &left_out["what"]), (&20.into(), &"20 trims".into()));

    let slowed = measure(&["--time-scale", "3", "--engine", "threads"]);
    assert_eq!(counts(&slowed["runs"][0]), expected);
    assert!(slowed["wall_ns"].as_u64() > Some(290_000_000), "{}", slowed["wall_ns"]);

    let fast = measure(&["--as-fast-as-possible", "--depth", "1,8"]);
    let runs = fast["runs"].as_array().expect("runs");
    let depths: Vec<&Value> = runs.iter().map(|run| &run["offered"]["closed"]["depth"]).collect();
    assert_eq!(depths, [1, 8], "{}", runs[0]["offered"]);
    assert!(runs.iter().all(|run| counts(run) == expected && run["unserved"] == 0));
}

#[test]
fn existing_files_are_overwritten_only_if_named() {
    let folder = Folder::new("replay-there");
    folder.write("load.trace", trace(&of_every_kind()));
    let data: Vec<u8> = (0..4_u32 << 20).map(|byte| (byte / 4096 + byte) as u8).collect();
    folder.write("data", &data);
    let measure = |more: &[&'static str]| [&["measure", "data", "--replay", "load.trace"][..], more].concat();
    folder.refuses_usage(&measure(&[]), "add --destroy data to allow it, or use --reads-only");
    folder.refuses_usage(&measure(&["--destroy", "other"]), "only data is measured");
    let read = folder.json(&measure(&["--reads-only"]));
    assert_eq!(counts(&read["runs"][0]), of(&[("read", 100, 200 * BLOCK)]));
    assert_eq!(finding(&read, "not-replayed").expect("the others")["what"], "20 trims, 60 writes, 20 flushes");
    assert!(folder.bytes("data") == data, "it was written to");
    let simulated = folder.json(&["simulate", "link(1ms)", "--replay", "load.trace", "--reads-only"]);
    assert_eq!(counts(&simulated["runs"][0]), counts(&read["runs"][0]), "a model is asked the same");
    let written = folder.json(&measure(&["--destroy", "data", "--compressible", "50"]));
    assert_eq!((counts(&written["runs"][0]).len(), &written["conditions"]["compressible"]), (4, &0.5.into()));
    assert!(folder.bytes("data") != data, "nothing was written");
}

#[test]
fn traces_that_storage_cannot_replay_fail_with_one_line() {
    let folder = Folder::new("replay-unasked");
    folder.write("load.trace", trace(&evenly(300, 1_000)));
    folder.write("between.trace", trace("0,read,512,4096\n5,read,100,300\n"));
    folder.write("trims.trace", trace("0,trim,0,4096\n"));
    folder.write("far.trace", trace("0,read,900000000000000,4096\n"));
    folder.write("large.trace", trace("0,read,0,33554432\n9,read,0,33554433\n9,read,0,0\n"));
    folder.write("data", vec![1; 1 << 20]);
    let refuses = |path, trace, more: &[&'static str], expected| {
        folder.refuses_usage(&[&["measure", path, "--replay", trace][..], more].concat(), expected);
    };
    refuses("data", "load.trace", &[], "extends to 1.17 MiB, but the size of data is 1 MiB: use a larger target");
    refuses("data", "load.trace", &["--size", "512KiB"], "but --size is 512 KiB: use a larger --size");
    refuses(".", "far.trace", &[], "are free, too little for a scratch file of");
    refuses(".", "trims.trace", &[], "all of its 1 operations would be omitted");
    refuses(".", "trims.trace", &["--reads-only"], "omit --reads-only");
    refuses(".", "load.trace", &["--threads", "2"], "omit --threads");
    refuses(".", "load.trace", &["--engine", "fio"], "omit --engine fio");
    refuses(".", "load.trace", &["--depth", "4"], "--as-fast-as-possible");
    refuses(".", "load.trace", &["--as-fast-as-possible", "--depth", "5000"], "invalid queue depth 5000");
    refuses(".", "large.trace", &["--as-fast-as-possible", "--depth", "64"], "lower the depth");
    refuses(".", "load.trace", &["--reads", "50"], "cannot be used with");
    refuses(".", "load.trace", &["--hosts", "other"], "--engine fio");
    let large = folder.json(&["measure", ".", "--replay", "large.trace"]);
    assert_eq!(counts(&large["runs"][0]), of(&[("read", 1, 32 << 20)]));
    let what = &finding(&large, "not-replayed").expect("two are")["what"];
    assert_eq!(what, "1 without a length, 1 of more than 32 MiB at once");

    let buffered = folder.json(&["measure", ".", "--replay", "between.trace", "--buffered"]);
    assert_eq!(counts(&buffered["runs"][0]), of(&[("read", 2, 4396)]));
    if finding(&folder.json(&["measure", ".", "--replay", "load.trace"]), "direct-refused").is_some() {
        eprintln!("skipped: no direct I/O in {}, so nothing has to be aligned", folder.path().display());
        return;
    }
    refuses(".", "between.trace", &[], "1 of 2 operations are not aligned");
    refuses(".", "between.trace", &[], "add --buffered");
}

#[test]
fn volumes_lie_one_behind_the_other() {
    let folder = Folder::new("replay-volumes");
    // Two units with two blocks each, in SPC format: sectors, bytes, seconds.
    folder.write("two.csv", "0,8,4096,w,0.0\n1,0,4096,w,0.001\n0,0,4096,w,0.002\n1,8,4096,w,0.003\n");
    // The second begins at a multiple of a MiB.
    let reach = (1 << 20) + 2 * 4096;
    let replay = ["measure", "data", "--replay", "two.csv", "--destroy", "data"];
    folder.write("data", vec![0; reach - 4096]);
    folder.refuses_usage(&replay, "two.csv: it extends to 1.01 MiB, but the size of data is");
    folder.write("data", vec![0; reach]);
    let curve = folder.json(&replay);
    assert_eq!(counts(&curve["runs"][0]), of(&[("write", 4, 4 * BLOCK)]));
    assert!(curve["findings"].to_string().contains("2 volumes"), "{}", curve["findings"]);
}

/// fio's counts of its own replay, and its duration.
fn by_fio(folder: &Folder, log: &str) -> (Counts, u64) {
    let options = ["--name=again", "--filename=data", "--ioengine=psync", "--output-format=json"];
    let output =
        Command::new("fio").args(options).arg(format!("--read_iolog={log}")).current_dir(folder.path()).output();
    let output = output.expect("it has started before");
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let job = &report["jobs"][0];
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let kinds = [("read", "read"), ("write", "write"), ("flush", "sync")];
    let count = |(kind, theirs): (&str, &str)| {
        (kind.to_owned(), (number(&job[theirs]["total_ios"]), number(&job[theirs]["io_bytes"])))
    };
    (kinds.map(count).into_iter().collect(), number(&job["job_runtime"]))
}

#[test]
fn logs_of_fio_are_replayed_as_fio_does() {
    if Command::new("fio").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("skipped: fio is not installed");
        return;
    }
    let folder = Folder::new("replay-fio");
    folder.write("data", vec![7; 4 << 20]);
    let record = ["--name=once", "--filename=data", "--size=4m", "--rw=randrw", "--bs=4k,8k", "--number_ios=300"];
    let more = ["--ioengine=psync", "--fsync=20", "--thinktime=500", "--write_iolog=three.log"];
    let recorded = Command::new("fio").args(record).args(more).current_dir(folder.path()).output().expect("it starts");
    assert!(recorded.status.success(), "{}", stderr(&recorded));
    let log = folder.read("three.log");
    // Up to 3.30 a log had no times, and a field less per line.
    let has_times = log.starts_with("fio version 3");
    let older: String = log.lines().skip(1).map(|line| convert_to_older(line, has_times) + "\n").collect();
    folder.write("two.log", format!("fio version 2 iolog\n{older}"));
    for name in ["three.log", "two.log"] {
        let (theirs, runtime_ms) = by_fio(&folder, name);
        let ours = folder.json(&["measure", "data", "--replay", name, "--destroy", "data"]);
        assert_eq!(counts(&ours["runs"][0]), theirs, "{name}");
        assert_eq!(theirs.values().map(|(count, _)| count).sum::<u64>() / 100, 3, "{theirs:?}");
        if name == "three.log" && has_times {
            let span_ms = ours["conditions"]["trace"]["span_ns"].as_u64().expect("a span") / 1_000_000;
            assert!(span_ms > 100 && runtime_ms + 20 > span_ms, "{span_ms} ms of ours, {runtime_ms} ms of theirs");
        }
    }
}

fn convert_to_older(line: &str, has_times: bool) -> String {
    if has_times { line.split_once(' ').expect("a time comes first").1.to_owned() } else { line.to_owned() }
}

/// Tolerance between an emulated volume and its model, as a share of its times. Larger than that of the loops (see the
/// test of the diagram), due to server, socket and client.
const TOLERANCE: f64 = 0.1;
/// A busy host is often late.
const ATTEMPTS: u32 = 6;
/// Mean lateness of sleeps of a host that is too busy to be a judge, of which a reply has several.
const MAX_LATENESS: Duration = Duration::from_micros(150);

/// Mean lateness of a hundred sleeps of a millisecond.
fn mean_lateness() -> Duration {
    let (nap, count) = (Duration::from_millis(1), 100);
    let begin = Instant::now();
    for _ in 0..count {
        std::thread::sleep(nap);
    }
    begin.elapsed().saturating_sub(nap * count) / count
}

#[test]
fn an_emulated_volume_answers_a_recording_as_its_simulation_does() {
    let folder = Folder::new("replay-emulated");
    let model = "station(2, 4ms) then link(1ms)";
    let line = |n: u64| {
        let kind = if n.is_multiple_of(4) { "write" } else { "read" };
        // In groups of three, of which one waits: no compared quantile lies between these and the others.
        format!("{},{kind},{},4096\n", n / 3 * 15_000_000, n * 7 % 256 * BLOCK)
    };
    folder.write("load.trace", trace(&(0..200).map(line).collect::<String>()));
    folder.text(&["simulate", model, "--replay", "load.trace", "--json", "simulated.json", "--quiet"]);
    let load = |name: &str| -> Value { serde_json::from_slice(&folder.bytes(name)).expect("it is JSON") };
    let simulated = load("simulated.json");
    let ns =
        |curve: &Value, quantile: &str| curve["runs"][0]["figures"][quantile]["value"].as_f64().expect("it has one");
    let program = PROGRAM;
    let replay =
        format!("'{program}' measure \"$uri\" --destroy \"$uri\" --replay load.trace --json emulated.json --quiet");
    let (mut ratios, mut nearest, mut lateness) = (Vec::new(), f64::INFINITY, Duration::ZERO);
    for _ in 0..ATTEMPTS {
        lateness = lateness.max(mean_lateness());
        folder.text(&["nbd", "--size", "16MiB", "--like", model, "--run", &replay]);
        let emulated = load("emulated.json");
        assert_eq!(emulated["source"]["kind"], "emulated");
        assert_eq!(counts(&emulated["runs"][0]), counts(&simulated["runs"][0]), "both were asked the same");
        // Latency that a server on this host adds to every reply, measured immediately before.
        let floor = &finding(&emulated, "floor").expect("the server is here")["beyond_ns"];
        let floor = floor.as_f64().expect("a time");
        let apart = ["p50_ns", "mean_ns"].map(|quantile| {
            let ratio = ns(&emulated, quantile) / ns(&simulated, quantile);
            ratio - floor / ns(&simulated, quantile)
        });
        ratios.push(apart);
        nearest = nearest.min((apart[0] - 1.0).abs().max((apart[1] - 1.0).abs()));
        if nearest < TOLERANCE {
            break;
        }
    }
    if nearest >= TOLERANCE && lateness > MAX_LATENESS {
        eprintln!("skipped: this machine oversleeps too much to be a judge: {lateness:?} of 1 ms");
        return;
    }
    assert!(nearest < TOLERANCE, "emulated over simulated, less the floor, median and mean: {ratios:?}");
    let both = folder.text(&["report", "simulated.json", "emulated.json", "--html", "both.html"]);
    assert!(both.contains("Recorded load by configuration"), "{both}");
    let page = folder.read("both.html");
    assert!(page.contains("Replays on 2 configurations"));
    let compared = folder.text(&["compare", "simulated.json", "emulated.json"]);
    assert!(!compared.contains("stream recorded"), "the load is the same:\n{compared}");
}
