//! TLS: authentication, data transfer, and misbehaving clients.

use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::certificates::certificates;
use super::serve::{read, wire_request, write};
use super::serving::{SIZE, Serving};
use plimsoll_device::nbd::wire::{Style, command, command_flag, option, rep};
use plimsoll_device::nbd::{Encryption, ExportAddress, Remote, Talk, TalkError};
use plimsoll_device::tls::{Identity, Opened, Peers, ServerNames};
use plimsoll_device::{Clock, Shape};
use plimsoll_drive::{Rules, drive};
use plimsoll_front::check::{CheckVerdict, Permission, check};
use plimsoll_front::{Limits, TlsMode};
use plimsoll_load::{BlockMix, Mix, Pace, Pattern, Region, StreamPhase, StreamSpec, Streams};
use plimsoll_units::{Bytes, Span};
use plimsoll_volume::Export;

/// A server that requires TLS, with the certificates of `ours`.
fn require_tls(ours: &Path, peers: Peers, limits: Limits) -> Serving {
    let mode = TlsMode::Required(Identity::read(ours, peers).unwrap());
    Serving::start_with(true, limits, mode)
}

/// The server's address with TLS and the given verification.
fn encrypted(serving: &Serving, certificates: &Path, names: ServerNames) -> ExportAddress {
    let tls = Encryption { certificates: Some(certificates.to_owned()), names, hostname: None };
    ExportAddress { tls: Some(tls), ..serving.address.clone() }
}

fn begin(address: &ExportAddress) -> Result<Talk, TalkError> {
    Talk::begin(address, Duration::from_secs(20))
}

fn told(error: &TalkError) -> String {
    let source = std::error::Error::source(error).map_or_else(String::new, ToString::to_string);
    format!("{error}: {source}")
}

#[test]
fn written_data_are_read_over_tls() {
    let Some((ours, _)) = certificates() else { return };
    let serving = require_tls(ours, Peers::Verified, Limits::default());
    let address = encrypted(&serving, ours, ServerNames::Any);
    for (number, style) in [Style::Simple, Style::Structured, Style::Extended].into_iter().enumerate() {
        let mut talk = begin(&address).unwrap();
        match style {
            Style::Simple => {}
            Style::Structured => drop(talk.option(option::STRUCTURED_REPLY, &[]).unwrap()),
            Style::Extended => drop(talk.option(option::EXTENDED_HEADERS, &[]).unwrap()),
        }
        assert_eq!(talk.choose("data", true).unwrap().size, SIZE);
        for (place, length) in [(0, 512), (12_345, 777), (4096, 40_000), (1 << 20, 3 << 20), (5, 20 << 20)] {
            let data: Vec<u8> = (0..length).map(|byte: u32| (byte * 7 + byte / 251 + number as u32) as u8).collect();
            assert_eq!(write(&mut talk, style, place, &data, command_flag::FUA), 0);
            assert!(read(&mut talk, style, place, length) == data, "{style:?} {place} {length}");
        }
    }
}

#[test]
fn session_ends_with_close_notify() {
    let Some((ours, _)) = certificates() else { return };
    let serving = require_tls(ours, Peers::Anyone, Limits::default());
    let mut talk = begin(&encrypted(&serving, ours, ServerNames::Any)).unwrap();
    talk.choose("data", true).unwrap();
    for place in 0..10 {
        talk.request(Style::Simple, &wire_request(command::READ, place << 12, 4096), &[]).unwrap();
    }
    talk.request(Style::Simple, &wire_request(command::DISC, 0, 0), &[]).unwrap();
    for _ in 0..10 {
        assert_eq!(talk.chunk(4096).unwrap().errno(), 0);
    }
    assert!(talk.chunk(0).is_err());
    let channel = talk.socket().channel().unwrap();
    assert_eq!(channel.open(&mut [0]).unwrap(), Opened::End, "missing close_notify");
}

#[test]
fn load_runs_over_tls() {
    let Some((ours, _)) = certificates() else { return };
    let serving = require_tls(ours, Peers::Anyone, Limits::default());
    let clock = Clock::start();
    let shape = Shape::writing(16, Bytes::mib(1), 0.0, 1);
    let address = encrypted(&serving, ours, ServerNames::Any);
    let mut remote = Remote::connect(&address, &shape, 2, clock).unwrap();
    let sizes = BlockMix::weighted(vec![(Bytes::kib(4), 8), (Bytes::mib(1), 2)]).unwrap();
    let mix = Mix { sizes, reads: 0.5, durable: false, flush_every: 20 };
    let region = Region::first(Bytes::new(SIZE));
    let pace = Pace::Closed { depth: 16 };
    let stream = StreamSpec { name: "all".into(), mix, pattern: Pattern::Uniform, region, pace };
    let start = clock.now();
    let phase = StreamPhase { end: start + Span::from_millis(500), ..StreamPhase::unbounded(start) };
    let mut load = Streams::new(&[stream], 3, phase).unwrap();
    let rules = Rules::new(16, Span::from_millis(100));
    let observed = drive(&mut remote, &mut load, &rules, &mut |_| ControlFlow::Continue(())).unwrap();
    let tally = observed.series.iter().fold((0, 0), |(operations, errors), slice| {
        (operations + slice.tally.operations(), errors + slice.tally.errors())
    });
    assert!(tally.0 > 20 && tally.1 == 0, "{tally:?}");
}

#[test]
fn required_tls_allows_no_plain_listing() {
    let Some((ours, _)) = certificates() else { return };
    let serving = require_tls(ours, Peers::Anyone, Limits::default());
    let mut talk = serving.talk();
    for option in [option::LIST, option::GO, option::STRUCTURED_REPLY, option::SET_META_CONTEXT, 77] {
        let replies = talk.option(option, &[]).unwrap();
        assert_eq!(replies.last().unwrap().kind, rep::ERR_TLS_REQD, "{option}");
    }
    let refused = talk.choose("data", true).unwrap_err();
    assert!(told(&refused).contains("nbds:"), "{}", told(&refused));

    let mode = TlsMode::Offered(Identity::read(ours, Peers::Anyone).unwrap());
    serving.handle.call(move |server| server.set_tls(mode)).unwrap();
    let mut plain = serving.talk();
    assert_eq!(plain.choose("data", true).unwrap().size, SIZE);
    let mut other = begin(&encrypted(&serving, ours, ServerNames::Any)).unwrap();
    assert_eq!(other.choose("data", true).unwrap().size, SIZE);
}

#[test]
fn certificates_are_verified_on_both_sides() {
    let Some((ours, theirs)) = certificates() else { return };
    let serving = require_tls(ours, Peers::Verified, Limits::default());
    let chosen = |address: &ExportAddress| begin(address)?.choose("data", true);
    chosen(&encrypted(&serving, ours, ServerNames::Any)).unwrap();

    let stranger = chosen(&encrypted(&serving, theirs, ServerNames::Anyone)).unwrap_err();
    assert!(told(&stranger).contains("alert"), "{}", told(&stranger));
    let nobody = Encryption { certificates: None, names: ServerNames::Anyone, hostname: None };
    let nobody = chosen(&ExportAddress { tls: Some(nobody), ..serving.address.clone() }).unwrap_err();
    assert!(told(&nobody).contains("CertificateRequired"), "{}", told(&nobody));
    let server = chosen(&encrypted(&serving, theirs, ServerNames::Any)).unwrap_err();
    assert!(told(&server).contains("UnknownIssuer"), "{}", told(&server));

    let named = |hostname: &str| {
        let names = ServerNames::Matching;
        let tls = Encryption { certificates: Some(ours.to_owned()), names, hostname: Some(hostname.to_owned()) };
        chosen(&ExportAddress { tls: Some(tls), ..serving.address.clone() })
    };
    named("localhost").unwrap();
    named("127.0.0.1").unwrap();
    let other = named("db.example.com").unwrap_err();
    assert!(told(&other).contains("not valid for name"), "{}", told(&other));
}

/// A connection that was asked to start TLS.
fn at_the_door(serving: &Serving) -> UnixStream {
    let mut stream = UnixStream::connect(serving.socket()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.read_exact(&mut [0; 18]).unwrap();
    let starttls = [&3u32.to_be_bytes()[..], b"IHAVEOPT", &option::STARTTLS.to_be_bytes(), &[0; 4]].concat();
    stream.write_all(&starttls).unwrap();
    stream.read_exact(&mut [0; 20]).unwrap();
    stream
}

/// A `ClientHello`.
fn build_hello() -> Vec<u8> {
    let nobody = Encryption { certificates: None, names: ServerNames::Anyone, hostname: None };
    let trust = plimsoll_device::tls::Trust::read(None, nobody.names).unwrap();
    let mut channel = plimsoll_device::tls::Channel::client(&trust, "localhost").unwrap();
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let no_payload = &mut plimsoll_device::Outgoing::<NoPayload>::default();
    channel.carry(no_payload, std::os::fd::AsFd::as_fd(&ours), true, drop).unwrap();
    drop(ours);
    let mut hello = Vec::new();
    theirs.read_to_end(&mut hello).unwrap();
    hello
}

struct NoPayload;

impl plimsoll_device::Payload for NoPayload {
    fn bytes(&self) -> &[u8] {
        &[]
    }
}

#[test]
fn hostile_tls_ends_only_its_connection() {
    let Some((ours, _)) = certificates() else { return };
    let serving = require_tls(ours, Peers::Verified, Limits::default());
    let mut polite = begin(&encrypted(&serving, ours, ServerNames::Any)).unwrap();
    polite.choose("data", true).unwrap();
    let proper = build_hello();
    let mut rng = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        rng = rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (rng >> 33) as usize % below
    };
    for round in 0..3000 {
        let mut bytes = proper.clone();
        match round % 4 {
            // Flipped bits, a truncated hello, a repeated hello, and noise in a record.
            0 => (0..=next(8)).for_each(|_| bytes[next(proper.len())] ^= 1 << next(8)),
            1 => bytes.truncate(next(proper.len())),
            2 => bytes.extend_from_slice(&proper[next(proper.len())..]),
            _ => {
                let length = next(600);
                bytes = vec![20 + next(5) as u8, 3, next(5) as u8, (length >> 8) as u8, length as u8];
                bytes.extend((0..length).map(|_| next(256) as u8));
            }
        }
        let mut stream = at_the_door(&serving);
        // The server may have closed the connection.
        let _ = stream.write_all(&bytes);
        if round % 16 == 0 {
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            assert!(answer.len() < 8192, "{} bytes for {}", answer.len(), bytes.len());
        }
        if round % 500 == 0 {
            assert_eq!(read(&mut polite, Style::Simple, 0, 4096), vec![0; 4096]);
        }
    }
    assert_eq!(read(&mut polite, Style::Simple, 0, 4096), vec![0; 4096]);
    assert_eq!(serving.handle.call(|server| server.lent_bytes()).unwrap(), 0);
}

#[test]
fn plain_bytes_behind_starttls_do_not_count_as_encrypted() {
    let Some((ours, _)) = certificates() else { return };
    let serving = require_tls(ours, Peers::Anyone, Limits::default());
    let mut stream = UnixStream::connect(serving.socket()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.read_exact(&mut [0; 18]).unwrap();
    let ask = |option: u32| [&b"IHAVEOPT"[..], &option.to_be_bytes(), &[0; 4]].concat();
    let both = [&3u32.to_be_bytes()[..], &ask(option::STARTTLS), &ask(option::LIST)].concat();
    stream.write_all(&both).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.is_empty(), "{answer:?}");
}

#[test]
fn slow_tls_handshake_is_disconnected() {
    let Some((ours, _)) = certificates() else { return };
    let serving = require_tls(ours, Peers::Anyone, Limits { client_timeout: Span::from_secs(1), ..Limits::default() });
    let mut stream = at_the_door(&serving);
    let began = Instant::now();
    let (hello, mut at) = (build_hello(), 0);
    stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    // Single bytes at intervals are not sufficient progress.
    let ended = loop {
        let _ = stream.write_all(&hello[at..=at]);
        at += 1;
        match stream.read(&mut [0; 16]) {
            Ok(_) => break true,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break true,
            Err(_) if began.elapsed() > Duration::from_secs(20) || at == hello.len() - 1 => break false,
            Err(_) => {}
        }
    };
    assert!(ended, "still connected after {:?}", began.elapsed());
}

#[test]
fn tls_client_that_does_not_read_delays_no_other() {
    let Some((ours, _)) = certificates() else { return };
    let serving = require_tls(ours, Peers::Anyone, Limits { bytes: 32 << 20, ..Limits::default() });
    let address = encrypted(&serving, ours, ServerNames::Any);
    let mut greedy = begin(&address).unwrap();
    greedy.choose("data", true).unwrap();
    for place in 0..100 {
        greedy.request(Style::Simple, &wire_request(command::READ, place << 18, 1 << 20), &[]).unwrap();
    }
    let mut polite = begin(&address).unwrap();
    polite.choose("data", true).unwrap();
    for _ in 0..20 {
        assert_eq!(read(&mut polite, Style::Simple, 0, 4096).len(), 4096);
    }
    let lent = serving.handle.call(|server| server.lent_bytes()).unwrap();
    assert!(lent <= 32 << 20, "{lent}");
    for _ in 0..100 {
        assert_eq!(greedy.chunk(1 << 20).unwrap().payload.len(), 1 << 20);
    }
}

#[test]
fn vanished_tls_clients_leave_no_resources() {
    let Some((ours, _)) = certificates() else { return };
    let serving = require_tls(ours, Peers::Anyone, Limits::default());
    let address = encrypted(&serving, ours, ServerNames::Any);
    for round in 0..30 {
        let mut talk = begin(&address).unwrap();
        talk.choose("data", true).unwrap();
        for place in 0..round {
            talk.request(Style::Simple, &wire_request(command::READ, place << 16, 64 << 10), &[]).unwrap();
        }
        talk.request(Style::Simple, &wire_request(command::WRITE, 0, 4 << 20), &vec![9; round as usize * 1000])
            .unwrap();
    }
    let began = Instant::now();
    while serving.handle.call(|server| server.clients(Export(0))).unwrap() > 0 {
        assert!(began.elapsed() < Duration::from_secs(20), "connections remain");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(serving.handle.call(|server| server.lent_bytes()).unwrap(), 0, "buffers are lent");
}

#[test]
fn own_server_passes_over_tls() {
    let Some((ours, _)) = certificates() else { return };
    let serving = require_tls(ours, Peers::Verified, Limits::default());
    let permission = Permission { writes: true, timeout: Duration::from_secs(20), timing: Duration::from_millis(50) };
    let rows = check(&encrypted(&serving, ours, ServerNames::Any), &permission).unwrap();
    let failed: Vec<_> = rows.iter().filter(|row| row.verdict == CheckVerdict::Fail).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Runs a third-party client; `None` if it is not installed.
fn foreign(program: &str, arguments: &[&str]) -> Option<(bool, String)> {
    let Ok(output) = Command::new(program).args(arguments).stdin(Stdio::null()).output() else {
        eprintln!("skipped: {program} is not installed");
        return None;
    };
    let text = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
}

#[test]
fn third_party_clients_use_tls() {
    let Some((ours, theirs)) = certificates() else { return };
    let serving = require_tls(ours, Peers::Verified, Limits::default());
    let uri = |certificates: &Path| {
        let (socket, certificates) = (serving.socket().display(), certificates.display());
        format!("nbds+unix:///data?socket={socket}&tls-certificates={certificates}")
    };
    let Some((fine, replies)) = foreign("nbdinfo", &[&uri(ours)]) else { return };
    assert!(fine && replies.contains("TLS") && replies.contains("67108864"), "{replies}");
    let Some((fine, replies)) = foreign("nbdinfo", &[&uri(theirs)]) else { return };
    assert!(!fine, "a client of another authority was accepted: {replies}");

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("copies-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (before, after) = (folder.join("before"), folder.join("after"));
    let data: Vec<u8> = (0..SIZE as u32).map(|byte| (byte / 1000 * 31 + byte) as u8).collect();
    std::fs::write(&before, &data).unwrap();
    let Some((fine, replies)) = foreign("nbdcopy", &[before.to_str().unwrap(), &uri(ours)]) else { return };
    assert!(fine, "{replies}");
    let Some((fine, replies)) = foreign("nbdcopy", &[&uri(ours), after.to_str().unwrap()]) else { return };
    assert!(fine, "{replies}");
    assert!(std::fs::read(&after).unwrap() == data, "different data");

    let credentials = format!("tls-creds-x509,id=tls0,endpoint=client,dir={}", ours.display());
    let socket = serving.socket().display();
    let image =
        format!("driver=nbd,server.type=unix,server.path={socket},export=data,tls-creds=tls0,tls-hostname=localhost");
    let before = before.to_str().unwrap();
    let compare = [
        "compare",
        "--object",
        &credentials,
        "--image-opts",
        &format!("driver=raw,file.driver=file,file.filename={before}"),
        &image,
    ];
    let Some((fine, replies)) = foreign("qemu-img", &compare) else { return };
    assert!(fine && replies.contains("identical"), "{replies}");
    std::fs::remove_dir_all(&folder).unwrap();
}
