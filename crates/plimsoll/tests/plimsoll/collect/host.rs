//! Devices of this host, scripts for Oracle, and refusals.

use super::{demand, plimsoll, read_lines};
use crate::folder::{Folder, stderr};

#[test]
fn devices_of_this_host_are_collected() {
    if !std::path::Path::new("/sys/block").is_dir() {
        eprintln!("skipped: /sys is not mounted");
        return;
    }
    let folder = Folder::short("host");
    let file = folder.join("host.jsonl");
    let out = file.to_str().unwrap();
    let output =
        plimsoll(&["collect", "linux", "--interval", "100ms", "--duration", "400ms", "--out", out]).output().unwrap();
    if stderr(&output).contains("no block device") {
        eprintln!("skipped: this host has no block device");
        return;
    }
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains(&format!("plimsoll demand {out}")), "{}", stderr(&output));
    let lines = read_lines(&file);
    assert_eq!(lines[0]["format"], "plimsoll.snapshots/1");
    assert!(lines.len() >= 3, "a head and two snapshots at least");
    assert_eq!(demand(&file)["inputs"][0]["kind"], "plimsoll-snapshots");
    let again = plimsoll(&["collect", "linux", "--duration", "10s", "--out", out]).output().unwrap();
    assert!(again.status.code() == Some(2) && stderr(&again).contains("exists"), "{}", stderr(&again));
}

#[test]
fn invalid_arguments_are_refused() {
    for (arguments, expected) in
        [(["--interval", "1ms"], "--interval: at least"), (["--duration", "1s"], "--duration: at least")]
    {
        let output = plimsoll(&["collect", "linux"]).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}

#[test]
fn scripts_for_oracle_are_printed() {
    let output = plimsoll(&["collect", "oracle"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("dba_hist_sysmetric_summary"));
    let output = plimsoll(&["collect", "oracle", "--without-diagnostics-pack"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("v$iostat_file"));
}
