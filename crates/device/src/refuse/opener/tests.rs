//! Detection of writers in fixture trees.

use super::*;
use crate::host::tests::Fixture;

fn check(name: &str, flags: &str, opened: &str, expected: Option<&str>) {
    let fixture = Fixture::new(name, &[("data/mine", ""), ("data/shared", ""), ("data/other", "")]);
    let at = |name: &str| fixture.0.join("data").join(name);
    let identity = |name: &str| Identity::of(&at(name).metadata().unwrap());
    let inode = std::os::unix::fs::MetadataExt::ino(&at(opened).metadata().unwrap());
    fixture.link("proc/4194305/fd/3", &at(opened).to_string_lossy());
    fixture.put("proc/4194305/fdinfo/3", &format!("pos:\t0\nflags:\t{flags}\nmnt_id:\t29\nino:\t{inode}\n"));
    fixture.put("proc/4194305/comm", "dd\n");
    let found = writer(&fixture.tree(), &[identity("mine"), identity("shared")], &at("mine"));
    let expected = expected.map(|opened| Opener { pid: 4_194_305, command: "dd".to_owned(), opened: at(opened) });
    assert_eq!(found, expected, "{name}");
}

#[test]
fn writer_of_overlapping_device_is_found() {
    check("opener-own", "0100002", "mine", Some("mine"));
    check("opener-shared", "0100001", "shared", Some("shared"));
    check("opener-reader", "0100000", "shared", None);
    check("opener-other", "0100002", "other", None);
}

#[test]
fn disk_and_its_partitions_overlap() {
    let fixture = crate::disk::tests::sda("opener-sharing");
    let number = |minor| Identity::Block(crate::block::DeviceNumber { major: 8, minor });
    let sharing = |minor| super::super::find_sharing(&fixture.tree(), number(minor)).unwrap();
    assert_eq!(sharing(0), [0, 1, 2].map(number));
    assert_eq!(sharing(1), [1, 0].map(number));
}
