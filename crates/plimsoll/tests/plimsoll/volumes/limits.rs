//! Limits of clients: incomplete requests, and the descriptors of the process.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::{Duration, Instant};

use plimsoll_device::nbd::wire::{Style, command, command_flag};
use plimsoll_device::nbd::{ExportAddress, NbdHost, Talk, WireRequest};

use crate::folder::PROGRAM;
use crate::home::{Home, SLOWLY};

/// Less than the time after which an incomplete request is dropped (10 s), so that an answer does not come from that.
const ANSWERED: Duration = Duration::from_secs(9);

/// Timeout of a step on a busy host.
const DEADLINE: Duration = Duration::from_secs(60);

/// The address after a word in the greeting.
fn find_address(greeting: &str, before: &str) -> String {
    let at = greeting.split_once(before).unwrap_or_else(|| panic!("no {before:?} in {greeting}")).1;
    let host = at.split_once("http://").expect("a URL follows").1;
    host.split(['/', ' ', '\n', ',']).next().expect("there is a first part").to_owned()
}

#[test]
fn incomplete_requests_do_not_delay_complete_ones_at_any_door() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a port is free");
    let console = free.to_string();
    let doors = ["--oci", "127.0.0.1:0", "--ec2", "127.0.0.1:0", "--web", &console];
    let mut home = Home::new("doors");
    let greeting = home.serve(&[SLOWLY, &doors].concat());
    let beginnings: [&[u8]; 3] = [b"", b"GET / HT", b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{"];
    let [oci, ec2] = ["OCI", "EC2"].map(|door| find_address(&greeting, door));
    for (door, place) in [("OCI", oci), ("EC2", ec2), ("console", console)] {
        let incomplete: Vec<TcpStream> = (0..250)
            .map(|number| {
                let mut stream = TcpStream::connect(&place).expect("it listens");
                // It may have been disconnected already.
                let _ = stream.write_all(beginnings[number % 3]);
                stream
            })
            .collect();
        for request in ["GET", "POST"] {
            let mut stream = TcpStream::connect(&place).expect("it listens");
            stream.set_read_timeout(Some(ANSWERED)).expect("it is open");
            let message =
                format!("{request} / HTTP/1.1\r\nhost: {place}\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{{}}");
            stream.write_all(message.as_bytes()).expect("it is open");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap_or_else(|error| panic!("{door} {request}: {error}"));
            assert!(
                answer.starts_with("HTTP/1.1 ") && !answer.starts_with("HTTP/1.1 503"),
                "{door} {request}: {answer}"
            );
        }
        drop(incomplete);
    }
}

#[test]
fn connections_beyond_the_descriptors_are_refused_and_writes_go_on() {
    let mut home = Home::new("descriptors");
    // With the soft limit of 30 the service could not serve 20 clients: it raises it to the hard limit.
    let script = "ulimit -Sn 30 && ulimit -Hn 80 && exec \"$0\" serve \"$@\" 2>\"$LOG\"";
    let log = home.path().join("log");
    let mut command = Command::new("sh");
    command.args(["-c", script, PROGRAM]).arg(home.data()).args(SLOWLY).env("LOG", &log);
    home.serve_by(&mut command);
    home.does(&["volume", "create", "data", "--like", "limit(5000)", "--size", "64MiB"]);
    let socket = home.data().join("nbd.sock");
    let host = NbdHost::Unix(socket.clone());
    let address = ExportAddress { host, export: "data".into(), tls: None };
    let mut client = Talk::begin(&address, DEADLINE).expect("it is served");
    client.choose("data", true).expect("it is there");
    let (mut accepted, mut refused): (Vec<UnixStream>, usize) = (Vec::new(), 0);
    while refused < 20 {
        let mut stream = UnixStream::connect(&socket).expect("it listens");
        stream.set_read_timeout(Some(DEADLINE)).expect("it is open");
        // The greeting of NBD, or the end of the connection.
        match stream.read_exact(&mut [0; 18]) {
            Ok(()) => accepted.push(stream),
            Err(_) => refused += 1,
        }
        assert!(accepted.len() + refused < 200, "no connection is refused");
    }
    assert!(accepted.len() > 20, "{} of them are served", accepted.len());
    for number in 0..64_u64 {
        let (flags, offset) = (command_flag::FUA, number << 20);
        let request = WireRequest { flags, command: command::WRITE, cookie: 1, offset, length: 4096 };
        client.request(Style::Simple, &request, &[7; 4096]).expect("it is connected");
        assert_eq!(client.chunk(0).expect("it is answered").errno(), 0, "{number}");
    }
    let end = Instant::now() + DEADLINE;
    while !fs::read_to_string(&log).expect("it is there").contains("connections were refused") {
        assert!(Instant::now() < end, "the refusal is not logged");
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(accepted);
    home.does(&["volume", "snapshot", "data", "before"]);
}
