//! `plimsoll iscsi` with third-party initiators: libiscsi's tools and conformance suite, and QEMU.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use crate::folder::{PROGRAM, stderr, stdout};

/// Why the suite skips tests, which it counts as passed: commands that the target does not have, a flag of the suite, and
/// properties of other media.
const SKIPPED: [&str; 11] = [
    "WRITEATOMIC16",
    "--allow-sanitize",
    "EXTENDEDCOPY",
    "RECEIVE_COPY_RESULTS",
    "RECEIVECOPYRESULT",
    "READDEFECTDATA",
    "REPORT_SUPPORTED_OPCODES is not implemented",
    "removable",
    "LBPPB < 2",
    "is not write-protected",
    "Multipath unavailable",
];

/// Minimum number of its tests.
const CONFORMANCE_TESTS: usize = 230;

/// A server, stopped on drop.
struct Server(Child);

impl Server {
    /// Starts a server on free ports, and returns the addresses of its unit.
    fn start(arguments: &[&str]) -> (Self, Vec<String>) {
        let mut command = Command::new(PROGRAM);
        command.arg("iscsi").args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut server = Self(command.spawn().expect("the command starts"));
        let mut lines = BufReader::new(server.0.stdout.take().expect("it is a pipe")).lines();
        let portals = arguments.iter().filter(|argument| **argument == "--portal").count();
        lines.next().expect("a greeting comes").expect("it is a text");
        let address = |_| lines.next().expect("an address comes").expect("it is a text").trim().to_owned();
        let addresses = (0..portals).map(address).collect();
        (server, addresses)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A temporary file, removed on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, content: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("plimsoll-iscsi-{name}-{}", std::process::id()));
        fs::write(&path, content).expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("it is a text")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_file(&self.0).expect("it is there");
    }
}

fn run(program: &str, arguments: &[&str]) -> Option<Output> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    if output.is_err() {
        eprintln!("skipped: {program} is not installed (Debian: apt-get install libiscsi-bin qemu-block-extra)");
    }
    output.ok()
}

fn text(output: &Output) -> String {
    stdout(output) + &stderr(output)
}

const PORTAL: [&str; 2] = ["--portal", "127.0.0.1:0"];

#[test]
fn discovery_lists_target_and_unit() {
    let (_server, addresses) = Server::start(&[&["--size", "1GiB"], &PORTAL[..], &PORTAL].concat());
    assert_eq!(addresses.len(), 2);
    let portal = addresses[0].split('/').nth(2).expect("host and port");
    let Some(listed) = run("iscsi-ls", &["-s", &format!("iscsi://{portal}")]) else { return };
    let listed = text(&listed);
    for address in &addresses {
        let portal = address.split('/').nth(2).expect("host and port");
        let target = format!("Target:iqn.2026-01.local.plimsoll:volume Portal:{portal},1");
        assert!(listed.contains(&target), "{target}: {listed}");
    }
    // The tool computes the size from the last block instead of the number of blocks.
    assert!(listed.contains("Lun:0    Type:DIRECT_ACCESS (Size:1023M)"), "{listed}");
}

#[test]
fn chap_of_libiscsi_is_accepted() {
    let [secret, other] = ["first secret\n", "second secret\n"].map(|text| Scratch::new(&text[..5], text.as_bytes()));
    let (_server, addresses) = Server::start(
        &[
            &["--size", "64MiB", "--chap-user", "db1", "--chap-secret-file", secret.path()][..],
            &["--mutual-chap-user", "plimsoll", "--mutual-chap-secret-file", other.path()],
            &PORTAL,
        ]
        .concat(),
    );
    let inquire =
        |password: &str| run("iscsi-inq", &[&addresses[0].replace("iscsi://", &format!("iscsi://db1%{password}@"))]);
    let Some(admitted) = inquire("first secret") else { return };
    assert!(text(&admitted).contains("PLIMSOLL"), "{}", text(&admitted));
    let refused = inquire("wrong secret").expect("it ran before");
    assert!(!refused.status.success() && !text(&refused).contains("PLIMSOLL"), "{}", text(&refused));
}

#[test]
fn qemu_copies_an_image_to_the_unit_and_back() {
    let data: Vec<u8> = (0..32_u32 << 20).map(|byte| (byte / 777 + byte) as u8).collect();
    let (source, back) = (Scratch::new("source", &data), Scratch::new("back", &[]));
    let (_server, addresses) = Server::start(&[&["--size", "32MiB", "--like", "link(100us)"], &PORTAL[..]].concat());
    let convert = |from: &str, to: &str| run("qemu-img", &["convert", "-n", "-f", "raw", "-O", "raw", from, to]);
    let Some(written) = convert(source.path(), &addresses[0]) else { return };
    let missing = ["Unknown protocol", "Unknown driver", "Unable to load module"];
    if missing.iter().any(|missing| text(&written).contains(missing)) {
        eprintln!("skipped: QEMU has no iSCSI (Debian: apt-get install qemu-block-extra)");
        return;
    }
    assert!(written.status.success(), "{}", text(&written));
    fs::write(back.path(), vec![0; data.len()]).unwrap();
    let read = convert(&addresses[0], back.path()).expect("it ran before");
    assert!(read.status.success(), "{}", text(&read));
    assert!(fs::read(back.path()).unwrap() == data, "the copy differs");
}

#[test]
fn conformance_suite_passes() {
    // A test of GET LBA STATUS expects that physical and logical blocks have the same size.
    let size = ["--size", "1GiB", "--physical-block", "512B"];
    let (_server, addresses) = Server::start(&[&size[..], &PORTAL, &PORTAL].concat());
    let arguments = ["--dataloss", "--ignore", "--normal", "--test=ALL", &addresses[0], &addresses[1]];
    let Some(output) = run("iscsi-test-cu", &arguments) else { return };
    let output = text(&output);
    let failed = output.lines().filter_map(|line| line.strip_prefix("Suite ")?.strip_suffix(" had failures:"));
    assert_eq!(failed.collect::<Vec<_>>(), [""; 0], "{output}");
    // The line of the summary: tests, total, run, passed, failed, inactive.
    let summary = output.lines().find(|line| line.trim_start().starts_with("tests"));
    let counts: Vec<usize> =
        summary.expect("a summary").split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert!(counts[1] >= CONFORMANCE_TESTS, "{output}");
    let skipped = output.lines().filter(|line| line.contains("[SKIPPED]"));
    let others: Vec<&str> = skipped.filter(|line| !SKIPPED.iter().any(|reason| line.contains(reason))).collect();
    assert_eq!(others, [""; 0]);
}

#[test]
fn contradictory_arguments_are_refused() {
    let short = Scratch::new("short", b"short\n");
    let secret = Scratch::new("equal", b"the same secret");
    let check = |arguments: &[&str], expected: &str| {
        let output = run(PROGRAM, &[&["iscsi", "--size", "1MiB"], arguments].concat()).expect("it is built");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output).contains(expected), "{arguments:?}: {}", text(&output));
    };
    check(&["--target", "Disk"], "iqn.2026-01.com.example:disk");
    check(&["--portal", "10"], "HOST:PORT");
    check(&["--chap-user", "a"], "--chap-secret-file");
    check(&["--chap-user", "a", "--chap-secret-file", short.path()], "at least 12 bytes");
    let equal = ["--chap-user", "a", "--chap-secret-file", secret.path(), "--mutual-chap-user", "b"];
    check(&[&equal[..], &["--mutual-chap-secret-file", secret.path()]].concat(), "the same secret");
}
