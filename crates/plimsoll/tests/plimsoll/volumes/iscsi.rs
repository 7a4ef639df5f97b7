//! Volumes of a service over iSCSI: what libiscsi's tools see, and the commands for initiators.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::home::{Home, program};

const PORTALS: [&str; 4] = ["--iscsi", "127.0.0.1:0", "--iscsi", "127.0.0.1:0"];

/// The addresses of the portals of a greeting.
fn list_portals(greeting: &str) -> Vec<String> {
    let line = greeting.lines().find_map(|line| line.strip_prefix("iSCSI"));
    line.expect("it names the portals").split(',').map(|portal| portal.trim().to_owned()).collect()
}

#[test]
fn volumes_of_a_service_are_targets() {
    let mut home = Home::new("targets");
    let portals = list_portals(
        &home.serve(&[&["--slow", "20", "--iscsi-prefix", "iqn.2026-01.com.example"], &PORTALS[..]].concat()),
    );
    assert_eq!(portals.len(), 2);
    let created = home.does(&["volume", "create", "data", "--like", "limit(3000)", "--size", "64MiB"]);
    assert!(created.contains(&format!("iqn.2026-01.com.example:data at {}, {}", portals[0], portals[1])), "{created}");
    home.does(&["volume", "create", "fast", "--like", "oci:50GB@120vpu"]);
    let target: Value =
        serde_json::from_str(&home.does(&["volume", "attach", "fast", "--iscsi", "--json"])).expect("it is JSON");
    assert_eq!((target["vendor"].as_str(), target["portals"].as_array().map(Vec::len)), (Some("ORACLE"), Some(2)));
    let script = home.does(&["volume", "attach", "fast", "/data", "--iscsi"]);
    let iqn = target["iqn"].as_str().expect("a name");
    for portal in &portals {
        assert!(script.contains(&format!("sudo iscsiadm -m node -T {iqn} -p {portal} -l\n")), "{script}");
    }
    if std::process::Command::new("iscsi-ls").arg("--help").output().is_err() {
        eprintln!("skipped: iscsi-ls is not installed (Debian: apt-get install libiscsi-bin)");
        return;
    }
    let listed = program("iscsi-ls", &["-s", &format!("iscsi://{}", portals[0])]);
    for iqn in [iqn, "iqn.2026-01.com.example:data"] {
        assert_eq!(listed.matches(&format!("Target:{iqn} ")).count(), 2, "{listed}");
    }
    home.does(&["volume", "delete", "data", "--yes"]);
    let listed = program("iscsi-ls", &[&format!("iscsi://{}", portals[1])]);
    assert!(!listed.contains("com.example:data") && listed.contains(iqn), "{listed}");
}

#[test]
fn commands_for_initiators_need_a_portal_with_an_address() {
    let mut home = Home::serving("portals", &["--slow", "20"]);
    let create = ["volume", "create", "data", "--like", "limit(3000)", "--size", "64MiB"];
    home.does(&create);
    home.refuses(&["volume", "attach", "data", "--iscsi"], "plimsoll serve --iscsi HOST:PORT");
    home.signal(rustix::process::Signal::TERM);
    home.serve(&["--slow", "20", "--iscsi", "0.0.0.0:0"]);
    home.refuses(&["volume", "attach", "data", "--iscsi"], "--iscsi-advertise HOST:PORT");
    home.refuses(&["volume", "failover", "data"], "data has no controllers");
    home.refuses(&["serve", "elsewhere", "--chap-user", "a", "--chap-secret-file", "none"], "none");
}

#[test]
fn initiators_without_the_secret_are_refused() {
    let mut home = Home::new("secret");
    let secret = home.path().join("secret");
    std::fs::write(&secret, "a secret of the service\n").expect("it can be written");
    let file = secret.to_str().expect("a plain path");
    let mode = |mode| std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(mode)).expect("it is ours");
    mode(0o640);
    let refusal = "secret can be read by others, so it is not secret: chmod 600 it";
    home.refuses(&["serve", "elsewhere", "--chap-user", "db1", "--chap-secret-file", file], refusal);
    mode(0o600);
    let flags = [&["--slow", "20", "--chap-user", "db1", "--chap-secret-file", file], &PORTALS[..2]].concat();
    let portal = list_portals(&home.serve(&flags)).remove(0);
    home.does(&["volume", "create", "data", "--like", "limit(3000)", "--size", "64MiB"]);
    let script = home.does(&["volume", "attach", "data", "--iscsi"]);
    assert!(script.contains("auth.username -v db1") && !script.contains("a secret"), "{script}");
    let inquire = |login: &str| {
        let url = format!("iscsi://{login}{portal}/iqn.2026-01.local.plimsoll:data/0");
        std::process::Command::new("iscsi-inq").arg(url).output()
    };
    let Ok(refused) = inquire("") else {
        eprintln!("skipped: iscsi-inq is not installed (Debian: apt-get install libiscsi-bin)");
        return;
    };
    assert!(!refused.status.success(), "{refused:?}");
    let admitted = inquire("db1%a secret of the service@").expect("it ran before");
    assert!(String::from_utf8_lossy(&admitted.stdout).contains("PLIMSOLL"), "{admitted:?}");
}
