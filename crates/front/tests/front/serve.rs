//! A server as seen by clients on a socket: replies, robustness, and shutdown.

use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::serving::{SIZE, Serving};
use plimsoll_device::nbd::wire::{Style, chunk, command, command_flag, option};
use plimsoll_device::nbd::{Remote, Talk, WireRequest};
use plimsoll_device::{Clock, Shape};
use plimsoll_drive::{Rules, drive};
use plimsoll_front::{Limits, Server};
use plimsoll_load::{BlockMix, Mix, Pace, Pattern, Region, StreamPhase, StreamSpec, Streams};
use plimsoll_units::{Bytes, Span};
use plimsoll_volume::Export;

pub fn wire_request(command: u16, offset: u64, length: u64) -> WireRequest {
    WireRequest { flags: 0, command, cookie: !offset, offset, length }
}

pub fn write(talk: &mut Talk, style: Style, offset: u64, data: &[u8], flags: u16) -> u32 {
    let flags = flags | if style == Style::Extended { command_flag::PAYLOAD_LEN } else { 0 };
    let request = WireRequest { flags, ..wire_request(command::WRITE, offset, data.len() as u64) };
    talk.request(style, &request, data).unwrap();
    talk.chunk(0).unwrap().errno()
}

pub fn read(talk: &mut Talk, style: Style, offset: u64, length: u32) -> Vec<u8> {
    talk.request(style, &wire_request(command::READ, offset, length.into()), &[]).unwrap();
    read_reply(talk, offset, length)
}

/// The data of a requested read whose chunks arrive in order.
pub fn read_reply(talk: &mut Talk, offset: u64, length: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let answer = talk.chunk(length).unwrap();
        assert_eq!((answer.errno(), answer.cookie), (0, !offset));
        let place = answer.payload.first_chunk().map(|place| u64::from_be_bytes(*place));
        match answer.kind {
            chunk::OFFSET_DATA => {
                assert_eq!(place, Some(offset + bytes.len() as u64));
                bytes.extend_from_slice(&answer.payload[8..]);
            }
            chunk::OFFSET_HOLE => {
                assert_eq!(place, Some(offset + bytes.len() as u64));
                let hole = u32::from_be_bytes(*answer.payload.last_chunk().unwrap());
                bytes.resize(bytes.len() + hole as usize, 0);
            }
            _ => bytes = answer.payload,
        }
        if answer.done {
            assert_eq!(bytes.len(), length as usize);
            return bytes;
        }
    }
}

#[test]
fn each_style_reads_written_data() {
    for in_files in [false, true] {
        let serving = Serving::start(in_files, Limits::default());
        for (number, style) in [Style::Simple, Style::Structured, Style::Extended].into_iter().enumerate() {
            let mut talk = serving.talk();
            match style {
                Style::Simple => {}
                Style::Structured => drop(talk.option(option::STRUCTURED_REPLY, &[]).unwrap()),
                Style::Extended => drop(talk.option(option::EXTENDED_HEADERS, &[]).unwrap()),
            }
            assert_eq!(talk.choose("data", true).unwrap().size, SIZE);
            for (place, length) in [(0, 512), (4096, 4096), (12_345, 777), (1 << 20, 3 << 20), (40 << 20, 700_000)] {
                let data: Vec<u8> =
                    (0..length).map(|byte: u32| (byte * 7 + byte / 251 + number as u32) as u8).collect();
                assert_eq!(write(&mut talk, style, place, &data, command_flag::FUA), 0);
                assert_eq!(read(&mut talk, style, place, length), data, "{style:?} {place} {length}");
            }
            let zeroes =
                WireRequest { flags: command_flag::NO_HOLE, ..wire_request(command::WRITE_ZEROES, 4096, 1024) };
            for request in [zeroes, wire_request(command::TRIM, 1 << 20, 4096), wire_request(command::FLUSH, 0, 0)] {
                talk.request(style, &request, &[]).unwrap();
                assert_eq!(talk.chunk(0).unwrap().errno(), 0, "{request:?}");
            }
            assert_eq!(read(&mut talk, style, 4096, 1024), vec![0; 1024]);
            assert_eq!(write(&mut talk, style, SIZE, &[1; 512], 0), 28, "beyond the end");
            assert_eq!(read(&mut talk, style, 60 << 20, 512), vec![0; 512], "the session continues after an error");
        }
        let count = serving.handle.call(|server| server.take_count(Export(0))).unwrap();
        assert_eq!((count.writes, count.errors), (15, 3));
        assert_eq!(count.lateness.count, 15 + 15 + 3 * 3 + 6 + 3);
    }
}

#[test]
fn load_runs_through_the_client() {
    let serving = Serving::start(true, Limits::default());
    let clock = Clock::start();
    let shape = Shape::writing(16, Bytes::mib(1), 0.0, 1);
    let mut remote = Remote::connect(&serving.address, &shape, 2, clock).unwrap();
    assert_eq!((remote.lines(), remote.chosen().size), (2, SIZE));
    let mix = Mix {
        sizes: BlockMix::weighted(vec![(Bytes::kib(4), 8), (Bytes::mib(1), 2)]).unwrap(),
        reads: 0.5,
        durable: false,
        flush_every: 20,
    };
    let region = Region::first(Bytes::new(SIZE));
    let pace = Pace::Closed { depth: 16 };
    let stream = StreamSpec { name: "all".into(), mix, pattern: Pattern::Uniform, region, pace };
    let rules = Rules::new(16, Span::from_millis(100));
    for round in 0..2 {
        let start = clock.now();
        let phase = StreamPhase { end: start + Span::from_millis(200), ..StreamPhase::unbounded(start) };
        let mut load = Streams::new(std::slice::from_ref(&stream), 3, phase).unwrap();
        let observed = drive(&mut remote, &mut load, &rules, &mut |_| ControlFlow::Continue(())).unwrap();
        let tally = observed.series.iter().fold((0, 0), |(operations, errors), slice| {
            (operations + slice.tally.operations(), errors + slice.tally.errors())
        });
        assert!(tally.0 > 30, "round {round}: {tally:?}");
        assert_eq!(tally.1, 0);
        let connections = remote.release();
        assert_eq!(connections.len(), 2, "idle connections can be reused");
        remote = Remote::new(connections, &shape, clock).unwrap();
    }
}

#[test]
fn read_only_export_is_not_changed() {
    let serving = Serving::start(false, Limits::default());
    let mut talk = serving.talk();
    talk.choose("fixed", true).unwrap();
    assert_eq!(write(&mut talk, Style::Simple, 0, &[1; 512], 0), 1);
    assert_eq!(read(&mut talk, Style::Simple, 0, 512), vec![0; 512]);
}

#[test]
fn vanished_clients_leave_no_resources() {
    let serving = Serving::start(true, Limits::default());
    for round in 0..50 {
        let mut talk = serving.talk();
        talk.choose("data", true).unwrap();
        for place in 0..round {
            let request = wire_request(command::READ, place << 16, 64 << 10);
            talk.request(Style::Simple, &request, &[]).unwrap();
        }
        // An incomplete write.
        talk.request(Style::Simple, &wire_request(command::WRITE, 0, 4 << 20), &vec![9; round as usize * 1000])
            .unwrap();
    }
    let gone = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        serving.handle.call(|server| server.clients(Export(0))).unwrap() == 0
    });
    assert!(gone, "connections remain");
    assert_eq!(serving.handle.call(|server| server.lent_bytes()).unwrap(), 0, "buffers are lent");
    let mut talk = serving.talk();
    talk.choose("data", true).unwrap();
    assert_eq!(read(&mut talk, Style::Simple, 0, 512), vec![0; 512], "an incomplete write has no effect");
}

#[test]
fn client_that_does_not_read_delays_no_other() {
    let limits = Limits { bytes: 32 << 20, ..Limits::default() };
    let serving = Serving::start(false, limits);
    let mut greedy = serving.talk();
    greedy.choose("data", true).unwrap();
    for place in 0..100 {
        greedy.request(Style::Simple, &wire_request(command::READ, place << 18, 1 << 20), &[]).unwrap();
    }
    let mut polite = serving.talk();
    polite.choose("data", true).unwrap();
    for _ in 0..20 {
        assert_eq!(read(&mut polite, Style::Simple, 0, 4096).len(), 4096);
    }
    for _ in 0..100 {
        assert_eq!(greedy.chunk(1 << 20).unwrap().payload.len(), 1 << 20);
    }
}

#[test]
fn new_clients_replace_those_that_negotiate_too_long() {
    let serving = Serving::start(false, Limits { connections: 4, ..Limits::default() });
    let mut dawdling: Vec<UnixStream> = (0..4).map(|_| UnixStream::connect(serving.socket()).unwrap()).collect();
    for stream in &mut dawdling {
        stream.read_exact(&mut [0; 18]).unwrap();
    }
    let mut talk = serving.talk();
    talk.choose("data", true).unwrap();
    assert_eq!(read(&mut talk, Style::Simple, 0, 512).len(), 512);
    assert_eq!(dawdling[0].read(&mut [0; 1]).unwrap(), 0, "the first client was disconnected");
}

#[test]
fn number_of_connections_is_limited() {
    let serving = Serving::start(false, Limits::default());
    let mut working = serving.talk();
    working.choose("data", true).unwrap();
    let (mut connections, mut max) = (std::collections::VecDeque::new(), 0);
    for number in 0..10_000 {
        connections.push_back(UnixStream::connect(serving.socket()).unwrap());
        if connections.len() > 400 {
            connections.pop_front();
        }
        if number % 100 == 0 {
            max = max.max(serving.handle.call(|server| server.connected()).unwrap());
            assert_eq!(read(&mut working, Style::Simple, 0, 512).len(), 512);
        }
    }
    assert!(max <= 64 + 1 + 16, "{max} concurrent clients");
    let mut late = serving.talk();
    late.choose("data", true).unwrap();
    assert_eq!(read(&mut late, Style::Simple, 0, 512).len(), 512);
}

#[test]
fn clients_of_a_socket_leave_room_for_those_of_another() {
    let serving = Serving::start(false, Limits { connections: 8, ..Limits::default() });
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    serving.handle.call(|server| server.listen(listener).unwrap()).unwrap();
    let address = format!("nbd://127.0.0.1:{port}/data").parse().unwrap();
    let greedy: Vec<Talk> = (0..20)
        .filter_map(|_| {
            let mut talk = Talk::begin(&address, Duration::from_secs(10)).ok()?;
            talk.choose("data", true).ok().map(|_| talk)
        })
        .collect();
    assert_eq!(greedy.len(), 6, "three quarters of the limit");
    let mut talk = serving.talk();
    talk.choose("data", true).unwrap();
    assert_eq!(read(&mut talk, Style::Simple, 0, 512).len(), 512);
}

#[test]
fn client_that_stops_amid_a_message_is_disconnected() {
    let client_timeout = Span::from_millis(100);
    let serving = Serving::start(false, Limits { client_timeout, ..Limits::default() });
    let mut talk = serving.talk();
    talk.choose("data", true).unwrap();
    talk.request(Style::Simple, &wire_request(command::WRITE, 0, 4096), &[1; 100]).unwrap();
    assert!(talk.chunk(0).is_err(), "the connection was closed");
    let mut idle = serving.talk();
    idle.choose("data", true).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(read(&mut idle, Style::Simple, 0, 512).len(), 512, "idle clients are not disconnected");
}

#[test]
fn noise_ends_only_its_connection() {
    let serving = Serving::start(false, Limits::default());
    let mut rng = 0x9e37_79b9_7f4a_7c15_u64;
    for length in 0..200 {
        let mut stream = UnixStream::connect(serving.socket()).unwrap();
        let noise: Vec<u8> = (0..length)
            .map(|_| {
                rng = rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (rng >> 56) as u8
            })
            .collect();
        // The server may have closed the connection.
        let _ = stream.write_all(&noise);
    }
    for _ in 0..100 {
        let mut talk = serving.talk();
        talk.choose("data", true).unwrap();
        let _ = talk.socket().write(&rng.to_be_bytes().repeat(8));
        assert!(talk.chunk(0).is_err());
    }
    let mut talk = serving.talk();
    assert_eq!(talk.choose("data", true).unwrap().size, SIZE);
}

#[test]
fn requests_before_a_disconnect_are_answered() {
    let serving = Serving::start(true, Limits::default());
    let mut talk = serving.talk();
    talk.choose("data", true).unwrap();
    for place in 0..10 {
        talk.request(Style::Simple, &wire_request(command::READ, place << 12, 4096), &[]).unwrap();
    }
    talk.request(Style::Simple, &wire_request(command::DISC, 0, 0), &[]).unwrap();
    for _ in 0..10 {
        assert_eq!(talk.chunk(4096).unwrap().errno(), 0);
    }
    assert!(talk.chunk(0).is_err(), "then the connection ends");
}

#[test]
fn tcp_and_pipes_serve_the_same_bytes() {
    let serving = Serving::start(false, Limits::default());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    serving.handle.call(|server| server.listen(listener).unwrap()).unwrap();
    let address = format!("nbd://127.0.0.1:{port}/data").parse().unwrap();
    let mut talk = Talk::begin(&address, Duration::from_secs(10)).unwrap();
    talk.choose("data", true).unwrap();
    assert_eq!(write(&mut talk, Style::Simple, 0, &vec![5; 100_000], 0), 0);
    assert_eq!(read(&mut talk, Style::Simple, 0, 100_000), vec![5; 100_000]);

    let ((server_in, mut to_server), (mut from_server, server_out)) =
        (std::io::pipe().unwrap(), std::io::pipe().unwrap());
    let serve = move |server: &mut Server| server.serve(server_in.into(), Some(server_out.into())).unwrap();
    serving.handle.call(serve).unwrap();
    from_server.read_exact(&mut [0; 18]).unwrap();
    let choice = [&b"IHAVEOPT"[..], &1u32.to_be_bytes(), &4u32.to_be_bytes(), b"data"].concat();
    to_server.write_all(&[&3u32.to_be_bytes()[..], &choice].concat()).unwrap();
    from_server.read_exact(&mut [0; 10]).unwrap();
    let mut request = Vec::new();
    wire_request(command::READ, 0, 100_000).write(Style::Simple, &mut request);
    to_server.write_all(&request).unwrap();
    let mut answer = vec![0; 16 + 100_000];
    from_server.read_exact(&mut answer).unwrap();
    assert_eq!(answer[16..], vec![5; 100_000]);
    drop(to_server);
    assert_eq!(from_server.read(&mut [0; 1]).unwrap(), 0, "the end of the input ends the session");
}
