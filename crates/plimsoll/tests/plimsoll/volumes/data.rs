//! Data written by third-party clients are preserved across snapshots, clones and a kill.

use rustix::process::Signal;

use crate::home::{Home, SLOWLY, content, find_program, noise, program};

const SIZE: usize = 8 << 20;

fn copy(from: &str, to: &str) {
    program("nbdcopy", &["--flush", from, to]);
}

#[test]
fn a_snapshot_keeps_what_is_overwritten_and_a_clone_its_own() {
    if !find_program("nbdcopy") {
        return;
    }
    let home = Home::serving("snapshot", SLOWLY);
    home.does(&["volume", "create", "data", "--like", "limit(5000)", "--size", "8MiB"]);
    let file = |name: &str| home.path().join(name).to_str().expect("a plain path").to_owned();
    let (first, second) = (noise(1, SIZE), noise(2, SIZE));
    std::fs::write(file("first"), &first).expect("it can be written");
    std::fs::write(file("second"), &second).expect("it can be written");
    copy(&file("first"), &home.uri("data"));
    home.does(&["volume", "snapshot", "data", "before"]);
    home.does(&["volume", "clone", "data", "own"]);
    copy(&file("second"), &home.uri("data"));
    let read = |volume: &str| {
        copy(&home.uri(volume), &file("read"));
        content(home.path().join("read").as_path())
    };
    assert!(read("data") == second && read("before") == first && read("own") == first);
    copy(&file("second"), &home.uri("own"));
    assert!(read("own") == second && read("before") == first);
    home.does(&["volume", "restore", "data", "before"]);
    assert!(read("data") == first);
    let info = program("nbdinfo", &[&home.uri("before")]);
    assert!(info.contains("is_read_only: true") && info.contains("emulated"), "{info}");
    let stats = home.does(&["volume", "stats", "own"]);
    assert!(stats.contains("8 MiB"), "{stats}");
}

#[test]
fn after_a_kill_all_is_there_again() {
    if !find_program("nbdcopy") {
        return;
    }
    let mut home = Home::serving("killed", SLOWLY);
    home.does(&["volume", "create", "data", "--like", "oci:50GB@20vpu"]);
    home.does(&["volume", "create", "small", "--like", "limit(5000)", "--size", "8MiB"]);
    home.does(&["volume", "group", "create", "vm", "--like", "limit(5000)"]);
    let bytes = noise(3, SIZE);
    let file = home.path().join("file").to_str().expect("a plain path").to_owned();
    std::fs::write(&file, &bytes).expect("it can be written");
    copy(&file, &home.uri("small"));
    home.does(&["volume", "snapshot", "small", "before"]);
    home.does(&["volume", "level", "data", "10"]);
    let before = home.does(&["volume", "list"]);
    assert!(!home.signal(Signal::KILL).success());
    let greeted = home.serve(SLOWLY);
    assert!(greeted.contains("Serving 3 volumes"), "{greeted}");
    assert_eq!(home.does(&["volume", "list"]), before);
    assert!(home.does(&["volume", "group", "list"]).contains("vm"));
    for volume in ["small", "before"] {
        copy(&home.uri(volume), &file);
        assert!(content(file.as_ref()) == bytes, "{volume}");
    }
}

#[test]
fn a_flipped_bit_is_named_by_scrub_and_fsck() {
    if !find_program("nbdcopy") {
        return;
    }
    let mut home = Home::serving("checksums", &["--checksums", "--slow", "20"]);
    home.does(&["volume", "create", "data", "--like", "limit(5000)", "--size", "8MiB"]);
    let bytes = noise(4, SIZE);
    let file = home.path().join("file").to_str().expect("a plain path").to_owned();
    std::fs::write(&file, &bytes).expect("it can be written");
    copy(&file, &home.uri("data"));
    let clean = home.does(&["volume", "scrub", "--rate", "1GiB"]);
    assert!(clean.contains("8 MiB of 8 MiB") && clean.contains("All compared data are what was written"), "{clean}");
    assert!(home.signal(Signal::TERM).success());

    let data = home.data().join("data.0");
    let mut stored = std::fs::read(&data).expect("it can be read");
    let blocks = stored.chunks(4096).position(|block| block == &bytes[5 * 4096..6 * 4096]);
    stored[blocks.expect("the block is there") * 4096 + 77] ^= 1;
    std::fs::write(&data, stored).expect("it can be written");
    let damaged = |home: &Home, arguments: &[&str], expected: &str| {
        let output = home.run(arguments);
        let reported = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.code() == Some(1) && reported.contains(expected), "{arguments:?}: {reported}");
    };
    let directory = home.data().to_str().expect("a plain path").to_owned();
    damaged(&home, &["volume", "fsck", &directory], "volume data is damaged at byte 20480");
    home.serve(SLOWLY);
    damaged(&home, &["volume", "scrub", "data"], "volume data at byte 20480");
    home.refuses(&["volume", "scrub", "date"], "did you mean data?");
}
