//! Invalid arguments are refused with a one-line remedy and exit code 2, and no files are left.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::folder::{Folder, stderr};
use crate::suites::{SMALL, directory, is_root};

#[track_caller]
fn refuses(folder: &Folder, arguments: &[&str], expected: &str) {
    folder.refuses_usage(&[&["suite"], arguments].concat(), expected);
}

#[test]
fn wrong_values_say_what_to_write() {
    let folder = directory("values");
    let check = |arguments: &[&str], expected| refuses(&folder, arguments, expected);
    check(&["dd", "place", "--bs", "8 foo"], "not a size");
    check(&["dd", "place", "--bs", "1TiB"], "one call moves at most 2147479552 bytes");
    check(&["dd", "place", "--count", "0"], "at least 1");
    check(&["dd", "place", "--kinds", "fast"], "[possible values: buffered, ");
    check(&["bonnie", "place", "--files", "x"], "write 16, or 16:4096:512:4");
    check(&["bonnie", "place", "--chunk", "1000"], "a power of two from 256");
    check(&["crystaldiskmark", "place", "--version", "5"], "write --version 3 or --version 8");
    check(&["crystaldiskmark", "place", "--version", "3", "--mix", "70"], "or take version 8");
    check(&["crystaldiskmark", "place", "--mix", "0"], "write --mix 70");
    check(&["crystaldiskmark", "place", "--runs", "0"], "write --runs 5");
    check(&["tiobench", "place", "--threads", "1,2"], "or --tiobench");
    check(&["tiobench", "place", "--rounds", "2"], "--tiobench");
    check(&["snia", "place", "--rounds", "1"], "write --rounds 25");
    check(&["snia", "place", "--mixes", "100,50"], "write --mixes 100,65,0");
    check(&["verify", "place", "--block-size", "100B"], "give a multiple of ");
    check(&["verify", "place", "--check"], "name the file that an earlier run wrote");
    check(&["walfsync", "place", "--measure", "0s"], "give 1s or more");
    check(&["articles", "place"], "--article <ARTICLE>");
    check(&["articles", "place", "--article", "wikipedia"], "[possible values: oci-levels, ");
    check(&["dd", "place", "--json", "/nowhere/run.json"], "cannot be written");
    check(&["unixbench", "place"], "unrecognized subcommand");
    check(&["dd"], "<PATH|URI|CONFIG>");
}

#[test]
fn unknown_places_are_named() {
    let folder = directory("places");
    let check = |arguments: &[&str], expected| refuses(&folder, arguments, expected);
    check(&["dd", "./nowhere"], "./nowhere: no such directory, file or device");
    check(&["dd", "no/where"], "no/where: no such directory, file or device, and the catalogue has no product");
    check(&["dd", "nowhere"], "nowhere: no such directory, file or device, and the catalogue has no product");
    check(&["dd", "ocii:50GB@0vpu"], "did you mean oci?");
    check(&["dd", "drum(3)"], "is not a stage");
    check(&["dd", "/dev/null"], "directory, file or block device");
    check(&["dd", "nbd+unix:///x?socket=nowhere"], "start the server, or correct the address");
    check(&["verify", "station(1, 1ms)"], "a model keeps no bytes");
    check(&["dd", "place", "--destroy", "place"], "omit --destroy");
}

/// No suite starts if its files do not fit; dd is sized by its count.
#[test]
fn too_little_space_is_seen_before_anything_is_written() {
    let folder = directory("space");
    for (name, flags) in SMALL {
        let much: &[&str] = if name == "dd" { &["--bs", "1GiB", "--count", "102400"] } else { &["--size", "100TiB"] };
        let flags: Vec<&str> = match name {
            "articles" => vec!["--article", "oci-uhp"],
            "bonnie" => flags[2..].to_vec(),
            _ => Vec::new(),
        };
        let there = match name {
            "dd" => "do not fit into",
            "articles" => "are there: give another --size",
            _ => "are needed",
        };
        refuses(&folder, &[&[name, "place"], &flags[..], much].concat(), there);
    }
}

/// Suites that write require permission, and existing data are preserved.
#[test]
fn an_existing_file_is_not_written_without_leave() {
    let folder = directory("leave");
    let data = vec![7; 16 << 20];
    fs::write(folder.join("data"), &data).expect("a file can be made");
    for (name, flags) in &SMALL {
        refuses(&folder, &[&[name, "data"], *flags].concat(), "--destroy");
        refuses(&folder, &[&[name, "data"], *flags, &["--destroy", "./data"]].concat(), "--destroy");
    }
    // Suites that only read need no permission.
    let reads = ["--reads-only", "--size", "2MiB", "--runs", "1", "--measure", "20ms", "--interval", "0s"];
    let output = folder.run(&[&["suite", "crystaldiskmark", "data"], &reads[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(fs::read(folder.join("data")).expect("it is there"), data, "not a byte has changed");
    let output = folder.run(&["suite", "dd", "data", "--bs", "64KiB", "--count", "8", "--destroy", "data"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_ne!(fs::read(folder.join("data")).expect("it is there"), data, "its data were given up");
}

#[test]
fn a_directory_that_cannot_be_written_is_named() {
    if is_root() {
        eprintln!("skipped: root may write everywhere");
        return;
    }
    let folder = directory("read-only");
    fs::set_permissions(folder.join("place"), fs::Permissions::from_mode(0o555)).expect("it is ours");
    refuses(&folder, &["dd", "place", "--bs", "64KiB", "--count", "1"], "place");
    fs::set_permissions(folder.join("place"), fs::Permissions::from_mode(0o755)).expect("it is ours");
}
