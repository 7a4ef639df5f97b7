//! Conversations of `tests/corpus` and mutants of them: the codec and a server survive all input, release all
//! resources, send bounded output, and continue to serve others.
//!
//! `PLIMSOLL_FUZZ_CASES` sets the number of mutants, which are deterministic.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use fastrand::Rng;
use plimsoll_device::nbd::WireRequest;
use plimsoll_device::nbd::wire::{Style, command};
use plimsoll_front::codec::Operation;
use plimsoll_front::nbd::{Handshake, HandshakeStep, Header, PAYLOAD_MAX, Terms, Tls};
use plimsoll_front::{Blocks, Offer, Server};
use plimsoll_volume::{Export, VolumeAccess};

use super::memory::{Memory, SIZE, TIMEOUT};

/// Edge cases of numbers.
const ODD: [u64; 12] = [0, 1, 2, 7, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 0xffff_ffff_ffff_ffff];

pub struct Conversation {
    pub name: String,
    pub bytes: Vec<u8>,
}

fn build_corpus() -> Vec<Conversation> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<Conversation> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "bin"))
        .map(|path| Conversation {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            bytes: std::fs::read(path).unwrap(),
        })
        .collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    assert!(all.len() > 90, "the corpus is there");
    all
}

pub fn cases(usual: u64) -> u64 {
    std::env::var("PLIMSOLL_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

/// A conversation with one to four changes.
pub fn mutant(corpus: &[Conversation], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = corpus[rng.usize(..corpus.len())].bytes.clone();
    for _ in 0..rng.u32(1..5) {
        let at = rng.usize(..=bytes.len());
        let until = (at + rng.usize(..64)).min(bytes.len());
        match rng.u32(0..8) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << rng.u32(0..8),
            2 | 3 => {
                let width = [1, 2, 4, 8][rng.usize(..4)].min(bytes.len() - at);
                let odd = ODD[rng.usize(..ODD.len())].to_be_bytes();
                bytes[at..at + width].copy_from_slice(&odd[8 - width..]);
            }
            4 => bytes.truncate(at),
            5 => drop(bytes.drain(at..until)),
            6 => {
                let again = bytes[at..until].to_vec();
                bytes.splice(at..at, again);
            }
            _ => {
                let other = &corpus[rng.usize(..corpus.len())].bytes;
                let from = rng.usize(..=other.len());
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
        }
    }
    bytes
}

fn build_offers() -> Vec<Offer> {
    let mut fixed = Offer::new(Export(1), "fixed", SIZE);
    fixed.access = VolumeAccess::ReadOnly;
    vec![Offer::new(Export(0), "data", SIZE), fixed]
}

/// Replies and requests of a codec for a conversation in pieces of `piece` bytes.
fn understood(input: &[u8], piece: usize) -> (Vec<u8>, Vec<Result<Operation, plimsoll_volume::Errno>>) {
    let (offers, mut out) = (build_offers(), Vec::new());
    let mut handshake = Handshake::new(Tls::Off, &mut out);
    let (mut start, mut end) = (0, 0);
    let session = loop {
        let fed = handshake.feed(&input[start..end], &offers, &mut out);
        assert!(fed.used <= end - start);
        start += fed.used;
        match fed.step {
            HandshakeStep::Begin(session) => break session,
            HandshakeStep::More if end < input.len() => end = (end + piece).min(input.len()),
            HandshakeStep::More | HandshakeStep::End | HandshakeStep::Secure => return (out, Vec::new()),
        }
    };
    let mut asks = Vec::new();
    let mut rest = &input[start..];
    let (style, access) = (session.style, offers[session.export.0 as usize].access);
    let terms = Terms { style, allocation: session.allocation, size: SIZE, access, blocks: Blocks::default() };
    while let Ok(Some(header)) = Header::parse(style, rest) {
        assert!(header.payload <= PAYLOAD_MAX);
        let ask = header.operation(&terms);
        if let Ok(Operation::Io(request)) = ask {
            assert!(request.offset.checked_add(request.length).is_some_and(|end| end <= SIZE), "{request:?}");
        }
        asks.push(ask);
        let taken = style.request_bytes() + header.payload as usize;
        let Some(behind) = rest.get(taken..) else { break };
        rest = behind;
    }
    (out, asks)
}

#[test]
fn codec_survives_the_corpus_and_its_mutants() {
    let corpus = build_corpus();
    let mut rng = Rng::with_seed(0x706c_696d);
    let mutants = cases(50_000);
    let mut begun = 0_u64;
    for case in 0..corpus.len() as u64 + mutants {
        let (input, piece) = match corpus.get(case as usize) {
            Some(entry) => (entry.bytes.clone(), 1),
            None => (mutant(&corpus, &mut rng), rng.usize(1..200)),
        };
        let at_once = understood(&input, input.len().max(1));
        // A reply to an option has at most a few hundred bytes, and an option at least 16.
        let bound = 18 + 400 * (1 + input.len() / 16);
        assert!(at_once.0.len() <= bound, "case {case}: {} bytes for {}", at_once.0.len(), input.len());
        if input.len() < 10_000 {
            assert_eq!(understood(&input, piece), at_once, "case {case} in pieces of {piece}");
        }
        begun += u64::from(!at_once.1.is_empty());
    }
    assert!(begun > mutants / 5, "too few mutants get to requests: {begun}");
}

/// Sends the input, and counts received bytes until the server closes the connection.
pub fn send(socket: &Path, input: &[u8]) -> u64 {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut back = stream.try_clone().unwrap();
    let mut answered = 0;
    std::thread::scope(|scope| {
        // Sending to a full socket requires a concurrent reader.
        let long = input.len() > 32 << 10;
        let mut write = || {
            // The server may close the connection first.
            let _ = stream.write_all(input);
            let _ = stream.shutdown(Shutdown::Write);
        };
        if long {
            scope.spawn(write);
        } else {
            write();
        }
        answered = drain(&mut back);
    });
    answered
}

/// Checks that a well-behaved client is served.
fn is_well(target: &Memory) {
    let mut talk = target.talk("data");
    for (command, data) in [(command::WRITE, &[9; 512][..]), (command::READ, &[])] {
        let request = WireRequest { flags: 0, command, cookie: 1, offset: 0, length: 512 };
        talk.request(Style::Simple, &request, data).unwrap();
        let answer = talk.chunk(if command == command::READ { 512 } else { 0 }).unwrap();
        assert_eq!((answer.errno(), answer.payload.iter().all(|byte| *byte == 9)), (0, true));
    }
}

/// Checks that all resources of closed connections are released.
pub fn is_clean(target: &Memory) {
    let begun = Instant::now();
    let left = |server: &mut Server| {
        let clients: usize = [Export(0), Export(1)].map(|export| server.clients(export)).iter().sum();
        let in_flight = [Export(0), Export(1)].map(|export| server.volumes().0.in_flight(export));
        (clients, in_flight, server.lent_bytes())
    };
    loop {
        let left = target.handle.call(left).unwrap();
        if left == (0, [0, 0], 0) {
            return;
        }
        assert!(begun.elapsed() < TIMEOUT, "clients, requests and bytes remain: {left:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Reads until the server closes the connection.
fn drain(stream: &mut UnixStream) -> u64 {
    let (mut answered, mut buffer) = (0, vec![0; 256 << 10]);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return answered,
            Ok(count) => answered += count as u64,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => panic!("the connection hangs"),
            Err(_) => return answered,
        }
    }
}

#[test]
fn server_survives_the_corpus_and_its_mutants() {
    let corpus = build_corpus();
    let target = Memory::start(64 << 20);
    let mut rng = Rng::with_seed(0x736f_6c6c);
    for case in 0..corpus.len() as u64 + cases(10_000) {
        let input = corpus.get(case as usize).map_or_else(|| mutant(&corpus, &mut rng), |entry| entry.bytes.clone());
        let answered = send(&target.socket, &input);
        // A request has at least 28 bytes and returns the export at most.
        let bound = 18 + (input.len() as u64 / 16 + 1) * 400 + (input.len() as u64 / 28) * (SIZE + 64);
        assert!(answered <= bound, "case {case}: {answered} bytes for {}", input.len());
        if case % 500 == 0 {
            is_well(&target);
        }
    }
    is_well(&target);
    is_clean(&target);
}
