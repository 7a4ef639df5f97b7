//! Replay of a recorded load on products, models and real storage.

mod measured;

use crate::folder::Folder;

/// A trace with these lines.
fn trace(lines: &str) -> String {
    format!("#plimsoll.trace/1\ntime_ns,kind,offset,length\n{lines}")
}

/// Reads of 4 KiB, evenly spaced.
fn evenly(count: u64, gap_ns: u64) -> String {
    let line = |n| format!("{},read,{},4096\n", n * gap_ns, n * 4096);
    (0..count).map(line).collect()
}

/// Number and mean in nanoseconds of the response times of the only run.
fn read_response(curve: &serde_json::Value) -> (u64, u64) {
    let [run] = curve["runs"].as_array().expect("runs").as_slice() else { panic!("not one run: {curve}") };
    let response = &run["total"][0]["response"];
    let of = |name: &str| response[name].as_u64().unwrap_or_else(|| panic!("{name} in {response}"));
    (of("count"), of("sum_ns") / of("count"))
}

#[test]
fn a_recorded_load_is_answered_as_its_arithmetic_says() {
    let folder = Folder::new("replay-arithmetic");
    folder.write("load.trace", trace(&evenly(1_000, 2_000_000)));
    let replay = ["simulate", "station(1, 1ms)", "--replay", "load.trace"];
    assert_eq!(read_response(&folder.json(&replay)), (1_000, 1_000_000), "one at a time, 1 ms each");
    // At double speed they just fit; at four times the speed each waits half a millisecond longer than the previous.
    assert_eq!(read_response(&folder.json(&[&replay[..], &["--time-scale", "0.5"]].concat())), (1_000, 1_000_000));
    let crowded = folder.json(&[&replay[..], &["--time-scale", "0.25"]].concat());
    assert_eq!(read_response(&crowded), (1_000, 250_750_000));
    assert_eq!(crowded["runs"][0]["figures"]["steadiness"], "overloaded");
    let fast = folder.json(&[&replay[..], &["--as-fast-as-possible", "--depth", "4"]].concat());
    assert_eq!(read_response(&fast), (1_000, 3_994_000), "four in flight wait for four, but for the first three");
    assert_eq!(fast["conditions"]["trace"]["operations"], 1_000);
}

#[test]
fn products_are_set_beside_each_other() {
    let folder = Folder::new("replay-beside");
    folder.write("load.trace", trace(&(evenly(4_000, 200_000) + "#dropped 7\n")));
    let arguments = ["simulate", "oci:100GB@0vpu", "oci:200GB@20vpu", "--replay", "load.trace"];
    let text = folder.text(&[&arguments[..], &["--objective", "p99<=5ms"]].concat());
    for expected in [
        "Replay of load.trace (4,000 operations in 800 ms): not carried",
        "p99 <= 5 ms\nwas kept",
        "Recorded load by configuration",
        "carried",
        "lacks 7 operations (it has 4,000)",
    ] {
        assert!(text.contains(expected), "{expected:?} in\n{text}");
    }
    assert!(!text.contains("Load line"), "one load has no load line:\n{text}");
    assert_eq!(text, folder.text(&[&arguments[..], &["--objective", "p99<=5ms"]].concat()), "it repeats itself");
}

#[test]
fn unserved_operations_are_counted() {
    let folder = Folder::new("replay-given-up");
    folder.write("load.trace", trace(&evenly(100_000, 1_000)));
    let curve = folder.json(&["simulate", "limit(100)", "--replay", "load.trace"]);
    let run = &curve["runs"][0];
    let unserved = run["unserved"].as_u64().expect("a count");
    assert!((95_000..100_000).contains(&unserved), "ten seconds at 100 a second leave most of 100,000: {unserved}");
    assert_eq!(read_response(&curve).0, 100_000, "those given up count with the time that they waited");
}

#[test]
fn other_dialects_are_answered_alike() {
    let folder = Folder::new("replay-dialects");
    folder.write("own.trace", trace(&evenly(1_000, 1_000_000)));
    let line = |n: u64| format!("0,{},4096,r,{}.{:03}\n", n * 8, n / 1_000, n % 1_000);
    let spc: String = (0..1_000).map(line).collect();
    folder.write("spc.csv", &spc);
    let second = |line: &str| format!("{line}\n{}\n", line.replacen("0,", "1,", 1));
    let two: String = spc.lines().map(second).collect();
    folder.write("two.csv", two);
    let replay = |trace| folder.json(&["simulate", "oci:50GB@10vpu", "--replay", trace]);
    let (own, spc, two) = (replay("own.trace"), replay("spc.csv"), replay("two.csv"));
    assert_eq!(own["runs"], spc["runs"]);
    let figure = |curve: &serde_json::Value| curve["conditions"]["trace"]["operations"].as_u64();
    assert_eq!((figure(&spc), figure(&two)), (Some(1_000), Some(2_000)));
    let reported = two["findings"].to_string();
    assert!(reported.contains("2 volumes") && reported.contains("512 bytes are assumed"), "{reported}");
}

#[test]
fn invalid_traces_fail_with_one_line() {
    let folder = Folder::new("replay-refused");
    folder.write("load.trace", trace(&evenly(10, 1_000)));
    folder.write("back.trace", trace("5,read,0,512\n4,read,0,512\n"));
    folder.write("far.trace", trace("0,write,900000000000,4096\n"));
    folder.write("empty.trace", trace("#dropped 0\n"));
    let simulate = |more: &[&'static str]| [&["simulate", "oci:50GB@10vpu"][..], more].concat();
    folder.refuses_usage(&simulate(&["--replay", "none.trace"]), "none.trace: cannot be read");
    folder.refuses_usage(&simulate(&["--replay", "back.trace"]), "back.trace:4: time goes back");
    folder.refuses_usage(&simulate(&["--replay", "far.trace"]), "is 50 GiB: use a larger product");
    folder.refuses_usage(&simulate(&["--replay", "empty.trace"]), "the recording is empty");
    folder.write("pages.trace", "1\n2\n3\n4\n".repeat(8));
    folder.refuses_usage(&simulate(&["--replay", "pages.trace"]), "cannot be replayed");
    folder.write("other.txt", "what is this\n");
    folder.refuses_usage(&simulate(&["--replay", "other.txt"]), "unknown trace format");
    folder.refuses_usage(&simulate(&["--replay", "load.trace", "--depth", "4"]), "--as-fast-as-possible");
    folder.refuses_usage(&simulate(&["--replay", "load.trace", "--time-scale", "0"]), "invalid time scale 0");
    folder.refuses_usage(&simulate(&["--replay", "load.trace", "--reads", "50"]), "cannot be used with");
    folder.refuses_usage(&simulate(&["--time-scale", "2"]), "--replay");
    folder.text(&simulate(&["--replay", "load.trace", "--json", "run.json", "--quiet"]));
    folder.refuses_usage(&["explain", "run.json", "--as", "oci:50GB@10vpu"], "--replay load.trace");
    folder.refuses_usage(&["match", "run.json"], "--replay load.trace");
    assert!(folder.text(&["report", "run.json"]).contains("Replay of load.trace"));
}
