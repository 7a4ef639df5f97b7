//! The conformance check: this server passes, and installed third-party servers are checked.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::serving::Serving;
use plimsoll_device::nbd::{ExportAddress, NbdHost};
use plimsoll_front::Limits;
use plimsoll_front::check::{CheckVerdict, FeatureResult, Permission, check};

const PERMISSION: Permission =
    Permission { writes: true, timeout: Duration::from_secs(10), timing: Duration::from_millis(50) };

/// Features that a server without TLS lacks.
const TLS: &[&str] = &[
    "STARTTLS",
    "STARTTLS with data is invalid",
    "before TLS: ERR_TLS_REQD",
    "STARTTLS a second time is invalid",
    "TLS voids what was negotiated before",
];

fn failed(rows: &[FeatureResult]) -> Vec<&FeatureResult> {
    rows.iter().filter(|row| row.verdict == CheckVerdict::Fail).collect()
}

#[test]
fn own_server_passes() {
    let serving = Serving::start(true, Limits::default());
    for export in ["data", "fixed"] {
        let address = ExportAddress { export: export.into(), ..serving.address.clone() };
        let rows = check(&address, &PERMISSION).unwrap();
        assert_eq!(failed(&rows), Vec::<&FeatureResult>::new(), "{export}");
        let open: Vec<&str> =
            rows.iter().filter(|row| row.verdict == CheckVerdict::Unsupported).map(|row| row.feature).collect();
        let expected: &[&str] = match export {
            "data" => TLS,
            _ => &[
                TLS[0],
                TLS[1],
                TLS[2],
                TLS[3],
                TLS[4],
                "WRITE_ZEROES",
                "WRITE_ZEROES with NO_HOLE",
                "WRITE_ZEROES with FAST_ZERO",
                "TRIM leaves adjacent data",
            ],
        };
        assert_eq!(open, expected);
    }
}

#[test]
fn check_writes_only_with_permission() {
    let serving = Serving::start(true, Limits::default());
    let rows = check(&serving.address, &Permission { writes: false, ..PERMISSION }).unwrap();
    assert!(rows.iter().filter(|row| row.area == "data").all(|row| row.verdict != CheckVerdict::Pass));
    let count = serving.handle.call(|server| server.take_count(plimsoll_volume::Export(0))).unwrap();
    assert_eq!(count.writes, 0);
}

#[test]
fn unknown_export_is_an_error() {
    let serving = Serving::start(false, Limits::default());
    let address = ExportAddress { export: "none".into(), ..serving.address.clone() };
    let error = check(&address, &PERMISSION).unwrap_err().to_string();
    assert!(error.contains("no such export"), "{error}");
}

/// Starts a third-party server, if installed.
fn peer(program: &str, arguments: &[&str], socket: &Path) -> Option<Child> {
    let child = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    for _ in 0..200 {
        if socket.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(50));
    Some(child)
}

#[test]
fn nbdkit_passes() {
    let directory = std::env::temp_dir().join(format!("plimsoll-check-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let socket = directory.join("nbdkit");
    let Some(mut nbdkit) = peer("nbdkit", &["-f", "-U", socket.to_str().unwrap(), "memory", "64M"], &socket) else {
        println!("skipped: nbdkit is not installed (Debian: apt-get install nbdkit)");
        return;
    };
    let rows = check(&ExportAddress { host: NbdHost::Unix(socket), export: String::new(), tls: None }, &PERMISSION);
    nbdkit.kill().unwrap();
    nbdkit.wait().unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(failed(&rows.unwrap()), Vec::<&FeatureResult>::new());
}
