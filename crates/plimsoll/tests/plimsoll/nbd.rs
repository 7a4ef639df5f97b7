//! `plimsoll nbd`: images and memory, over sockets of all kinds and over standard input and output.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::folder::{Folder, PROGRAM, stderr, stdout};

fn nbd(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).arg("nbd").args(arguments).stdin(Stdio::null()).output().expect("the command starts")
}

/// A server, stopped on drop.
struct Server(Child);

impl Server {
    /// Starts a server and waits for its address.
    fn start(arguments: &[&str]) -> (Self, Vec<String>) {
        let mut command = Command::new(PROGRAM);
        command.arg("nbd").args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut server = Self(command.spawn().expect("the command starts"));
        let mut lines = BufReader::new(server.0.stdout.take().expect("it is a pipe")).lines();
        let places = arguments.iter().filter(|argument| **argument == "--listen").count();
        let reported = (0..=places).map(|_| lines.next().expect("a line comes").expect("it is a text")).collect();
        (server, reported)
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("it runs");
    }

    fn wait(&mut self) -> Option<i32> {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(30) {
            if let Some(status) = self.0.try_wait().expect("it is our child") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the server goes on");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// True if a third-party program is installed.
fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !found {
        eprintln!("skipped: {program} is not installed (Debian: apt-get install libnbd-bin)");
    }
    found
}

fn text(output: &Output) -> String {
    stdout(output) + &stderr(output)
}

#[test]
fn invalid_arguments_are_refused_in_one_line() {
    let folder = Folder::short("nbd-refused");
    let refused = |arguments: &[&str], expected: &str| folder.refuses(&[&["nbd"], arguments].concat(), expected);
    let (image, created) = (folder.file("image"), folder.file("none"));
    folder.write("image", vec![1; 8192]);
    refused(&["--size", "1GiB"], "no listening address");
    refused(&["-s"], "--size 1GiB");
    refused(&["-s", &created], "use --size to create it");
    refused(&["-s", "-r", &created, "--size", "1MiB"], "no such file");
    refused(&["-s", &image, "--size", "1MiB"], "omit --size");
    refused(&["-s", &folder.file("")], "plimsoll serve");
    refused(&["-s", "/dev/null"], "neither a file nor a block device");
    refused(&["-s", "--size", "1MiB", "--like", "oci:50GB@7000vpu"], "vpu");
    refused(&["-s", "--size", "1MiB", "--like", "limit(many)"], "limit");
    refused(&["-s", "--size", "1MiB", "--tls", "require"], "--tls-certificates DIR");
    refused(&["-s", "--size", "1MiB", "--tls-certificates", &created], "server-cert.pem");
    let file = format!("unix:{image}");
    refused(&["--size", "1MiB", "--listen", &file], "is not a socket");
    assert!(!Path::new(&created).exists() && folder.bytes("image") == vec![1; 8192]);

    let place = format!("unix:{}", folder.file("socket"));
    let (_first, reported) = Server::start(&[&image, "--listen", &place]);
    assert!(reported[1].contains(&folder.file("socket")), "{reported:?}");
    refused(&["--size", "1MiB", "--listen", &place], "another server is listening there");
    let other = format!("unix:{}", folder.file("other"));
    refused(&[&image, "--listen", &other], "locked by another process");
    let (_third, reported) = Server::start(&["--size", "1MiB", "--listen", "tcp:127.0.0.1:0"]);
    let port = reported[1].trim().trim_end_matches('/').rsplit(':').next().expect("a port").to_owned();
    refused(&["--size", "1MiB", "--listen", &format!("tcp:127.0.0.1:{port}")], "another server is listening there");
}

#[test]
fn an_image_is_served_as_it_is() {
    if !has("nbdinfo") || !has("nbdcopy") {
        return;
    }
    let folder = Folder::short("nbd-image");
    let (image, source, back) = (folder.file("image"), folder.file("source"), folder.file("back"));
    let data: Vec<u8> = (0..3_000_000_u32).map(|byte| (byte / 777 + byte) as u8).collect();
    folder.write("source", &data);
    let place = format!("unix:{}", folder.file("socket"));
    let arguments = [&*image, "--size", "3000000", "--like", "link(1ms)", "--listen", &place, "--export", "a b"];
    let (mut server, reported) = Server::start(&arguments);
    let uri = reported[1].trim();
    assert!(reported[0].contains("emulated") && uri.contains("a%20b"), "{reported:?}");
    assert_eq!(fs::metadata(&image).expect("it was made").len(), 3_000_000);
    for copy in [[&*source, uri], [uri, &*back]] {
        let output = Command::new("nbdcopy").args(copy).arg("--flush").output().expect("it starts");
        assert!(output.status.success(), "{}", text(&output));
    }
    assert!(folder.bytes("back") == data);
    server.signal(Signal::TERM);
    assert_eq!(server.wait(), Some(0));
    assert!(folder.bytes("image") == data, "the image has other bytes");
    assert!(!Path::new(&folder.file("socket")).exists(), "the socket is left");

    let (_server, reported) = Server::start(&[&*image, "-r", "--listen", &place]);
    let uri = reported[1].trim();
    let output = Command::new("nbdinfo").arg(uri).output().expect("it starts");
    assert!(text(&output).contains("is_read_only: true"), "{}", text(&output));
}

#[test]
fn holes_of_a_sparse_image_and_of_memory_are_shown() {
    if !has("nbdinfo") {
        return;
    }
    let folder = Folder::short("nbd-sparse");
    let image = folder.file("image");
    let write = |name: &str| {
        let file =
            fs::OpenOptions::new().write(true).create(true).truncate(false).open(name).expect("it can be opened");
        file.set_len(8 << 20).expect("it has this size");
        std::os::unix::fs::FileExt::write_all_at(&file, &vec![7; 1 << 20], 4 << 20).expect("it can be written");
    };
    write(&image);
    let place = format!("unix:{}", folder.file("socket"));
    let map = |uri: &str| {
        let output = Command::new("nbdinfo").args(["--map", uri]).output().expect("it starts");
        let lines: Vec<Vec<u64>> = text(&output)
            .lines()
            .map(|line| line.split_whitespace().take(3).map(|word| word.parse().expect("a number")).collect())
            .collect();
        lines
    };
    for model in [&[][..], &["--like", "link(1us)"]] {
        let (mut server, reported) = Server::start(&[&[&*image, "--listen", &place], model].concat());
        assert_eq!(
            map(reported[1].trim()),
            [[0, 4 << 20, 3], [4 << 20, 1 << 20, 0], [5 << 20, 3 << 20, 3]],
            "{model:?}"
        );
        server.signal(Signal::TERM);
        assert_eq!(server.wait(), Some(0));
    }
    let (_server, reported) = Server::start(&["--size", "8MiB", "--listen", &place]);
    assert_eq!(map(reported[1].trim()), [[0, 8 << 20, 3]], "memory that was never written");
}

#[test]
fn a_command_gets_a_server_of_its_own_and_its_end_is_ours() {
    if !has("nbdinfo") {
        return;
    }
    let output = nbd(&["--size", "5MiB", "--run", "nbdinfo --size \"$uri\"; echo \"<$unixsocket>\"; exit 7"]);
    assert_eq!(output.status.code(), Some(7), "{}", text(&output));
    let reported = text(&output);
    let socket = reported.split(['<', '>']).nth(1).expect("a path");
    assert!(reported.starts_with("5242880\n") && !Path::new(socket).exists(), "{reported}");
    assert!(!Path::new(socket).parent().expect("a folder").exists());

    let began = Instant::now();
    let output =
        nbd(&["--size", "1MiB", "--listen", "tcp:127.0.0.1:0", "--run", "echo $port; kill -TERM $PPID; exec sleep 60"]);
    assert!(began.elapsed() < Duration::from_secs(50), "the command was waited for");
    assert_ne!(output.status.code(), Some(0), "{}", text(&output));
}

#[test]
fn standard_input_and_output_serve_a_client() {
    let mut server = Command::new(PROGRAM)
        .args(["nbd", "-s", "--size", "1MiB"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut greeting = [0; 18];
    server.stdout.as_mut().expect("a pipe").read_exact(&mut greeting).expect("it greets");
    assert_eq!(&greeting[..16], b"NBDMAGICIHAVEOPT");
    drop(server.stdin.take());
    let mut rest = Vec::new();
    server.stdout.as_mut().expect("a pipe").read_to_end(&mut rest).expect("it ends");
    assert!(rest.is_empty(), "{rest:?}");
    assert!(server.wait().expect("it is our child").success());
}

#[test]
fn sockets_of_the_starter_are_used() {
    if !has("nbdinfo") {
        return;
    }
    let served = |more: &[&str]| {
        let arguments = [&["--", "[", PROGRAM, "nbd", "--size", "5MiB"], more, &["]"]].concat();
        let output = Command::new("nbdinfo").arg("--size").args(arguments).output().expect("it starts");
        assert_eq!(text(&output), "5242880\n");
    };
    served(&[]);
    served(&["-s"]);
    served(&["--like", "link(1ms)", "--export", ""]);
}

/// Socket activation by `sd_listen_fds(3)`: descriptor 3 and the process ID.
#[test]
fn a_socket_is_handed_over_by_number() {
    let folder = Folder::short("nbd-handed");
    for arguments in ["nbd --size 5MiB".to_owned(), format!("serve {}", folder.file("volumes"))] {
        let path = folder.file(&arguments[..3]);
        let listener = std::os::unix::net::UnixListener::bind(&path).expect("it can be bound");
        let script = "exec 3<&0 0</dev/null; LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=nbd exec \"$0\" ";
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("{script}{arguments}"), PROGRAM]).stdin(OwnedFd::from(listener));
        let mut server = Server(command.stdout(Stdio::piped()).spawn().expect("it starts"));
        let mut client = std::os::unix::net::UnixStream::connect(&path).expect("it listens");
        client.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket has one");
        let mut greeting = [0; 18];
        client.read_exact(&mut greeting).expect("it greets");
        assert_eq!(&greeting[..16], b"NBDMAGICIHAVEOPT");
        server.signal(Signal::INT);
        assert_eq!(server.wait(), Some(0), "{arguments}");
        assert!(Path::new(&path).exists(), "the socket is its maker's");
    }
}

#[test]
fn tls_is_required_and_verified() {
    let Some((ours, theirs)) = crate::certificates::certificates() else { return };
    let (ours, theirs) = (ours.to_str().unwrap(), theirs.to_str().unwrap());
    let check = |uri: &str| format!("'{PROGRAM}' nbd-check {uri}");
    let run = |command: &str| {
        let listen = ["--size", "8MiB", "--listen", "tcp:127.0.0.1:0", "--run", command];
        nbd(&[&listen[..], &["--tls-certificates", ours, "--tls-verify-peer"]].concat())
    };
    let fine = run(&check("\"$uri\""));
    assert!(fine.status.success() && text(&fine).contains(" 0 fail"), "{}", text(&fine));
    let plain = run(&check("nbd://127.0.0.1:$port/"));
    assert!(!plain.status.success() && text(&plain).contains("write nbds:"), "{}", text(&plain));
    let stranger = run(&check(&format!("\"nbds://127.0.0.1:$port/?tls-certificates={theirs}\"")));
    assert!(!stranger.status.success() && text(&stranger).contains("UnknownIssuer"), "{}", text(&stranger));
}

#[test]
fn units_are_valid_for_systemd() {
    let folder = Folder::short("nbd-units");
    let units = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd");
    for name in ["plimsoll.service", "plimsoll.socket"] {
        let unit = fs::read_to_string(units.join(name)).expect("the unit is there");
        folder.write(name, unit.replace("/usr/bin/plimsoll", PROGRAM));
    }
    let verify =
        ["verify", "--man=no", &folder.file("plimsoll.service"), &folder.file("plimsoll.socket")].map(str::to_owned);
    let Ok(output) = Command::new("systemd-analyze").args(verify).output() else {
        eprintln!("skipped: systemd-analyze is not installed");
        return;
    };
    let ours: Vec<String> = text(&output).lines().filter(|line| line.contains("plimsoll")).map(str::to_owned).collect();
    assert!(ours.is_empty(), "{ours:#?}");
}

/// At rates that the volume never completes, response times are those of the length of the run.
#[test]
fn overloaded_rates_have_no_load_line() {
    let folder = Folder::new("overloaded");
    let state = folder.path().display();
    let measure =
        format!("XDG_STATE_HOME='{state}' '{PROGRAM}' measure \"$uri\" -r 100 -b 64KiB --rate 500,1000 -d 1s --json -");
    let output = nbd(&["--size", "1GiB", "--like", "limit(100)", "--run", &measure]);
    let run: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(run["runs"][0]["figures"]["steadiness"], "overloaded", "{}", run["runs"][0]["figures"]);
    assert_eq!(run["load_line"]["verdict"], "never", "{}", run["load_line"]);
}
