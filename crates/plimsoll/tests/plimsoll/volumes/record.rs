//! Recording and replay of requests to a served volume.

use rustix::process::Signal;

use crate::home::{Home, SLOWLY};

#[test]
fn a_recorded_load_is_replayed_on_other_products() {
    let home = Home::serving("recorded", SLOWLY);
    home.does(&["volume", "create", "data", "--like", "oci:50GB@10vpu"]);
    home.refuses(&["volume", "record", "data"], "name a new file to record to, or give --stop");
    home.refuses(&["volume", "record", "data", "--stop"], "data is not recorded");
    let begun = home.does(&["volume", "record", "data", "data.trace"]);
    assert!(begun.contains("data.trace"), "{begun}");
    home.refuses(&["volume", "record", "data", "more.trace"], "is recorded to");
    home.does(&["measure", &home.uri("data"), "--depth", "4", "--duration", "1s", "--quiet"]);
    let ended = home.does(&["volume", "record", "data", "--stop"]);
    assert!(ended.contains("operations in") && ended.contains("plimsoll simulate CONFIG --replay"), "{ended}");
    let replayed = ["simulate", "oci:50GB@10vpu", "aws/gp3:100GiB", "--replay", "data.trace"];
    let reported = home.run(&replayed);
    let text = String::from_utf8_lossy(&reported.stdout);
    assert!(reported.status.success(), "{}", String::from_utf8_lossy(&reported.stderr));
    assert!(text.contains("Replay of data.trace") && text.contains("Recorded load by configuration"), "{text}");
}

#[test]
fn a_service_records_all_its_volumes_from_the_beginning() {
    let mut home = Home::serving("recording", SLOWLY);
    home.does(&["volume", "create", "data", "--like", "limit(5000)", "--size", "8MiB"]);
    home.signal(Signal::TERM);
    let here = home.path().to_str().expect("a plain path").to_owned();
    home.serve(&[SLOWLY, &["--record", &here]].concat());
    home.does(&["measure", &home.uri("data"), "--depth", "2", "--duration", "500ms", "--quiet"]);
    assert!(home.signal(Signal::TERM).success());
    let entries = std::fs::read_dir(home.path()).expect("it is there").flatten();
    let traces: Vec<_> = entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(".trace")).collect();
    let [trace] = &traces[..] else { panic!("one trace and not {traces:?}") };
    assert!(trace.file_name().to_string_lossy().starts_with("data-2"), "{trace:?}");
    let text = std::fs::read_to_string(trace.path()).expect("text");
    assert!(text.starts_with("#plimsoll.trace/1\n") && text.ends_with("#dropped 0\n"), "{text}");
    assert!(text.lines().count() > 10, "{text}");
}
