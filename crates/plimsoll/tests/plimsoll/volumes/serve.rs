//! Start, end and access control of a service.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::certificates::certificates;
use crate::home::{Home, Running, SLOWLY, find_program, program};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn token(home: &Home, name: &str, text: &str, mode: u32) -> String {
    let path = home.path().join(name);
    fs::write(&path, format!("{text}\n")).expect("it can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
    path.to_str().expect("a plain path").to_owned()
}

/// The text after a word in the greeting.
fn after<'a>(greeting: &'a str, word: &str) -> &'a str {
    let at = greeting.split_once(word).unwrap_or_else(|| panic!("no {word:?} in {greeting}")).1;
    at.split([' ', ',', '\n']).next().expect("there is a first part")
}

#[test]
fn a_signal_ends_it_cleanly() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut home = Home::serving("stopped", SLOWLY);
        home.does(&["volume", "create", "data", "--like", "limit(500)", "--size", "64MiB"]);
        let mode = |name: &str| home.data().join(name).metadata().map(|found| found.permissions().mode() & 0o777);
        assert_eq!(
            (mode("control.sock").ok(), mode("nbd.sock").ok(), mode("").ok()),
            (Some(0o600), Some(0o600), Some(0o700))
        );
        assert_eq!(home.signal(signal).code(), Some(0), "{signal:?}");
        assert!(!home.data().join("control.sock").exists() && !home.data().join("nbd.sock").exists());
        home.refuses(&["volume", "list"], "no service answers");
        home.serve(&[]);
        assert!(home.does(&["volume", "list"]).contains("data"));
    }
}

/// The log of a service, as objects.
fn logged(path: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(path).expect("the log is there");
    // The last line may be incomplete.
    text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(parse).collect()
}

fn parse(line: &str) -> serde_json::Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// Waits for a line with this message, and returns it.
fn until_logged(path: &Path, message: &str) -> serde_json::Value {
    for _ in 0..6_000 {
        if let Some(line) = logged(path).into_iter().find(|line| line["message"] == message) {
            return line;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("no {message:?} in {:?}", logged(path));
}

#[test]
fn log_has_a_line_for_each_change_refusal_and_client() {
    let mut home = Home::new("log");
    let path = home.path().join("log.json");
    let mut command = home.command(&["serve"]);
    command.arg(home.data()).args(SLOWLY).args(["--log-format", "json"]);
    command.stderr(fs::File::create(&path).expect("it can be written"));
    home.serve_by(&mut command);
    home.does(&["volume", "create", "db", "--like", "oci:50GB@10vpu"]);
    home.refuses(&["volume", "create", "db", "--like", "oci:50GB@10vpu"], "already");
    home.does(&["volume", "level", "db", "20"]);
    let client = home.command(&["measure", &home.uri("db"), "--duration", "60s"]).stdout(Stdio::null()).spawn();
    let client = Running(client.expect("it starts"));
    let connected = until_logged(&path, "client connected");
    assert_eq!((&connected["volume"], &connected["protocol"]), (&"db".into(), &"nbd".into()), "{connected}");
    drop(client);
    let disconnected = until_logged(&path, "client disconnected");
    // A client that is killed with replies in flight resets its connection.
    let reasons = ["the client ended the connection", "the connection was lost"];
    assert!(reasons.iter().any(|reason| disconnected["reason"] == *reason), "{disconnected}");
    let absent = home.uri("db").replace("/db?", "/absent?");
    assert!(!home.command(&["measure", &absent, "--duration", "1s"]).output().unwrap().status.success());
    let refused = until_logged(&path, "client refused");
    assert_eq!(refused["reason"], "there is no export \"absent\"", "{refused}");
    home.does(&["volume", "snapshot", "db", "before"]);
    home.does(&["volume", "delete", "before", "--yes"]);
    home.does(&["volume", "delete", "db", "--yes"]);
    assert_eq!(home.signal(Signal::INT).code(), Some(0));
    let lines = logged(&path);
    // A measurement has several connections.
    let mut messages: Vec<&str> = Vec::new();
    for message in lines.iter().filter_map(|line| line["message"].as_str()) {
        if !messages.contains(&message) {
            messages.push(message);
        }
    }
    let expected = [
        "serving",
        "volume created",
        "refused",
        "level changed",
        "client connected",
        "client disconnected",
        "client refused",
        "snapshot created",
        "volume deleted",
        "stopping",
        "stopped",
    ];
    assert_eq!(messages, expected);
    assert!(lines[2]["reason"].as_str().is_some_and(|reason| reason.contains("already")), "{}", lines[2]);
    let span = &lines[3]["span"];
    assert_eq!((&span["door"], &span["operation"]), (&"control".into(), &"changeLevel".into()));
    assert!(lines.iter().all(|line| line["timestamp"].as_str().is_some_and(|time| time.ends_with('Z'))));
}

#[test]
fn durability_is_an_option_of_the_service() {
    let home = Home::serving("durable", &[SLOWLY, &["--durable-writes"]].concat());
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let created = home.does(&["volume", "create", "data", "--like", "limit(500)", "--size", "64MiB"]);
    assert!(words(&created).contains("each write at its acknowledgement"), "{created}");
    let home = Home::serving("undurable", &[SLOWLY, &["--commit-interval", "none"]].concat());
    let created = words(&home.does(&["volume", "create", "data", "--like", "limit(500)", "--size", "64MiB"]));
    assert!(created.contains("durable at a flush; not at the acknowledgement"), "{created}");
}

#[test]
fn occupied_directories_and_sockets_are_refused() {
    let home = Home::serving("taken", &[]);
    let data = home.data();
    let other = home.path().join("other");
    let (data, other) = (data.to_str().expect("a plain path"), other.to_str().expect("a plain path"));
    home.refuses(&["serve", data], "is served by another process");
    home.refuses(&["serve", other, "--control", &format!("{data}/control.sock")], "another server is listening there");
    home.refuses(&["serve", other, "--listen", &format!("unix:{data}/nbd.sock")], "another server is listening there");
    fs::write(home.path().join("file"), "").expect("it can be written");
    home.refuses(&["serve", other, "--control", "file"], "is not a socket");
    home.refuses(&["serve", "file"], "file");
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let at = port.local_addr().expect("it is bound").to_string();
    home.refuses(&["serve", other, "--listen", &format!("tcp:{at}")], "another server is listening there");
    assert!(home.does(&["volume", "list"]).starts_with("no volumes"), "the first one goes on");
    // Leftovers of a dead service do not interfere.
    let mut home = Home::new("left");
    fs::create_dir_all(home.data()).expect("it can be made");
    drop(UnixListener::bind(home.data().join("control.sock")).expect("it can be bound"));
    home.serve(&[]);
    assert!(home.does(&["volume", "list"]).starts_with("no volumes"));
}

#[test]
fn over_tcp_only_the_token_opens() {
    let mut home = Home::new("token");
    let (right, wrong) = (token(&home, "right", TOKEN, 0o600), token(&home, "wrong", &TOKEN.replace('0', "1"), 0o600));
    home.refuses(
        &["serve", "x", "--control-tcp", "127.0.0.1:0", "--token-file", &token(&home, "open", TOKEN, 0o644)],
        "chmod 600",
    );
    home.refuses(
        &["serve", "x", "--control-tcp", "127.0.0.1:0", "--token-file", &token(&home, "short", "abc", 0o600)],
        "holds no token",
    );
    assert!(!home.path().join("x").exists(), "nothing was made");
    let alone = home.run(&["serve", "x", "--control-tcp", "127.0.0.1:0"]);
    assert!(String::from_utf8_lossy(&alone.stderr).contains("--token-file"));
    let greeting = home.serve(&["--control-tcp", "127.0.0.1:0", "--token-file", &right, "--listen", "tcp:127.0.0.1:0"]);
    let url = format!("http://{}", after(&greeting, "http://"));
    home.refuses(&["volume", "list", "--service", &url], "--token-file");
    home.refuses(&["volume", "list", "--service", &url, "--token-file", &wrong], "refused the token");
    let created = ["volume", "create", "data", "--like", "limit(500)", "--size", "64MiB"];
    let created = home.does(&[&created[..], &["--service", &url, "--token-file", &right]].concat());
    assert!(created.contains(&format!("nbd://{}", after(&greeting, "nbd://"))), "{created}");
    if find_program("nbdinfo") {
        assert_eq!(program("nbdinfo", &["--size", &home.uri("data")]).trim(), (64 << 20).to_string());
    }
    if find_program("curl") {
        let curl =
            |header: &str| program("curl", &["-s", "-w", "%{http_code}", "-H", header, &format!("{url}/metrics")]);
        assert_eq!(curl("x: y"), "401");
        assert!(curl(&format!("authorization: Bearer {TOKEN}")).ends_with("200"));
    }
}

#[test]
fn with_certificates_nobody_comes_in_unencrypted() {
    let Some((ours, theirs)) = certificates() else { return };
    let mut home = Home::new("tls");
    let (ours, theirs) = (ours.to_str().expect("a plain path"), theirs.to_str().expect("a plain path"));
    home.refuses(&["serve", "x", "--tls", "require"], "--tls-certificates DIR");
    home.refuses(&["serve", "x", "--tls-certificates", "nowhere"], "nowhere");
    assert!(!home.path().join("x").exists(), "nothing was made");
    let greeting =
        home.serve(&["--slow", "20", "--tls-certificates", ours, "--tls-verify-peer", "--listen", "tcp:127.0.0.1:0"]);
    home.does(&["volume", "create", "data", "--like", "limit(500)", "--size", "64MiB"]);
    let uri = home.uri("data");
    assert!(uri.starts_with("nbds://127.0.0.1:") && greeting.contains("nbds://127.0.0.1:"), "{uri} {greeting}");
    if find_program("nbdinfo") {
        assert_eq!(program("nbdinfo", &["--size", &uri]).trim(), (64 << 20).to_string());
        for stranger in [uri.replace(ours, theirs), uri.replacen("nbds:", "nbd:", 1)] {
            let output = std::process::Command::new("nbdinfo").args(["--size", &stranger]).output();
            assert!(!output.expect("it is installed").status.success(), "{stranger}");
        }
    }
}

/// Socket activation: named sockets from descriptor 3 on.
#[test]
fn sockets_that_the_starter_made_are_used() {
    let home = Home::new("handed");
    let socket = |name: &str| home.path().join(name);
    let control = UnixListener::bind(socket("control")).expect("it can be bound");
    let nbd = UnixListener::bind(socket("nbd")).expect("it can be bound");
    let script = "exec 3<&0 4<&1 >\"$1\" 0</dev/null; LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=control:nbd exec \"$0\" serve volumes --slow 20";
    let program = env!("CARGO_BIN_EXE_plimsoll");
    let service = std::process::Command::new("/bin/sh")
        .args(["-c", script, program, "said"])
        .current_dir(home.path())
        .stdin(Stdio::from(OwnedFd::from(control)))
        .stdout(Stdio::from(OwnedFd::from(nbd)))
        .spawn()
        .expect("it starts");
    let to = socket("control");
    let list = ["volume", "list", "--service", to.to_str().expect("a plain path")];
    let mut service = Running(service);
    // The socket queues clients before the service starts.
    assert!(home.does(&list).starts_with("no volumes"));
    let created =
        home.does(&[&["volume", "create", "data", "--like", "limit(500)", "--size", "1MiB"], &list[2..]].concat());
    assert!(created.contains(&format!("socket={}", socket("nbd").display())), "{created}");
    assert!(!home.data().join("nbd.sock").exists() && !home.data().join("control.sock").exists());
    kill_process(Pid::from_child(&service.0), Signal::TERM).expect("it runs");
    assert_eq!(service.0.wait().expect("it ends").code(), Some(0));
    assert!(socket("control").exists() && socket("nbd").exists(), "they are the service manager's");
}
