//! Long requests, and clients that do not read replies: bounded memory, and other clients are served.

use std::fs::File;
use std::time::{Duration, Instant};

use plimsoll_device::nbd::wire::{Style, command, command_flag, option};
use plimsoll_device::nbd::{Talk, WireRequest};
use plimsoll_front::nbd::PAYLOAD_MAX;
use plimsoll_front::{DataFiles, Limits, TlsMode};
use plimsoll_volume::Export;

use super::memory::Memory;
use super::serve::{read, read_reply, wire_request, write};
use super::serving::{SIZE, Serving};

/// Maximum memory of sixteen such clients.
const SIXTEEN_MAX: u64 = 128 << 20;

fn pattern(length: u32, seed: u32) -> Vec<u8> {
    (0..length / 4).flat_map(|word| (word ^ seed).wrapping_mul(0x9e37_79b9).to_le_bytes()).collect()
}

fn styled(mut talk: Talk, style: Style) -> Talk {
    match style {
        Style::Simple => {}
        Style::Structured => drop(talk.option(option::STRUCTURED_REPLY, &[]).unwrap()),
        Style::Extended => drop(talk.option(option::EXTENDED_HEADERS, &[]).unwrap()),
    }
    talk.choose("data", true).unwrap();
    talk
}

#[test]
fn requests_of_64_mib_are_served_in_every_style() {
    assert_eq!(u64::from(PAYLOAD_MAX), SIZE);
    for in_files in [false, true] {
        let serving = Serving::start(in_files, Limits::default());
        for (seed, style) in [Style::Simple, Style::Structured, Style::Extended].into_iter().enumerate() {
            let mut talk = styled(serving.talk(), style);
            let data = pattern(PAYLOAD_MAX, seed as u32);
            assert_eq!(write(&mut talk, style, 0, &data, command_flag::FUA), 0);
            assert!(read(&mut talk, style, 0, PAYLOAD_MAX) == data, "{style:?}");
            if style > Style::Simple {
                let undivided = WireRequest { flags: command_flag::DF, ..wire_request(command::READ, 0, SIZE / 2) };
                talk.request(style, &undivided, &[]).unwrap();
                let chunk = talk.chunk(0).unwrap();
                assert!(chunk.done && chunk.payload[8..] == data[..data.len() / 2], "{style:?}: one chunk");
            }
            let odd = &data[1..(3 << 20) + 2];
            assert_eq!(write(&mut talk, style, 12_345, odd, 0), 0);
            assert!(read(&mut talk, style, 12_345, odd.len() as u32) == odd, "{style:?}");
        }
    }
}

#[test]
fn long_read_counts_by_its_outcome() {
    const LONG: u64 = 4 << 20;
    for (readable, expected) in [(true, (1, LONG, 0)), (false, (0, 0, 1))] {
        let serving = Serving::start_on(Limits::default(), TlsMode::Off, move |home| {
            let file = File::options().read(readable).write(true).create_new(true).open(home.join("data.0")).unwrap();
            DataFiles::given([file.into()])
        });
        let mut talk = styled(serving.talk(), Style::Structured);
        talk.request(Style::Structured, &wire_request(command::READ, 0, LONG), &[]).unwrap();
        while !talk.chunk(0).unwrap().done {}
        let count = serving.handle.call(|server| server.take_count(Export(0))).unwrap();
        assert_eq!((count.reads, count.bytes_read, count.errors), expected, "readable: {readable}");
    }
}

#[test]
fn replies_behind_a_long_simple_read_keep_its_bytes_together() {
    let serving = Serving::start(true, Limits::default());
    let mut talk = styled(serving.talk(), Style::Simple);
    let data = pattern(16 << 20, 7);
    assert_eq!(write(&mut talk, Style::Simple, 0, &data, 0), 0);
    for (offset, length) in [(0, 16 << 20), (4096, 512), (8 << 20, 5 << 20), (512, 4096)] {
        talk.request(Style::Simple, &wire_request(command::READ, offset, length), &[]).unwrap();
    }
    let mut left = vec![(0_u64, 16_u64 << 20), (4096, 512), (8 << 20, 5 << 20), (512, 4096)];
    while !left.is_empty() {
        let head = talk.chunk(0).unwrap();
        let at = left.iter().position(|(offset, _)| head.cookie == !offset).unwrap();
        let (offset, length) = left.swap_remove(at);
        let mut bytes = vec![0; length as usize];
        talk.socket().read(&mut bytes).unwrap();
        assert!(bytes == data[offset as usize..][..length as usize], "the read at {offset}");
    }
}

/// Opens `clients` that request `bytes` repeatedly and never read.
fn starve(serving: &Serving, clients: usize, bytes: u64) -> Vec<Talk> {
    let clients = (0..clients).map(|_| {
        let mut talk = styled(serving.talk(), Style::Simple);
        for place in 0..8 {
            let request = WireRequest { cookie: place, ..wire_request(command::READ, 0, bytes) };
            talk.request(Style::Simple, &request, &[]).unwrap();
        }
        talk
    });
    clients.collect()
}

#[test]
fn clients_that_never_read_use_bounded_memory_and_delay_no_other() {
    for (in_files, bytes) in [(false, 32 << 20), (true, 32 << 20), (true, 1 << 20)] {
        let serving = Serving::start(in_files, Limits::default());
        let mut polite = styled(serving.talk(), Style::Simple);
        let data = pattern((1 << 20) + 4, 3);
        assert_eq!(write(&mut polite, Style::Simple, 0, &data, 0), 0);
        let starving = starve(&serving, 16, bytes);
        let begun = Instant::now();
        for _ in 0..20 {
            assert!(read(&mut polite, Style::Simple, 0, data.len() as u32) == data);
            assert_eq!(write(&mut polite, Style::Simple, 0, &data, 0), 0);
            let lent = serving.handle.call(|server| server.lent_bytes()).unwrap();
            assert!(lent <= SIXTEEN_MAX, "{lent} bytes are lent to clients that do not read");
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "20 reads took {:?}", begun.elapsed());
        drop(starving);
    }
}

/// The range of a slow read is trimmed meanwhile, and its space is reused by another volume.
#[test]
fn long_read_never_returns_data_of_another_volume() {
    const LONG: u64 = 16 << 20;
    let memory = Memory::start(LONG);
    memory.create_of("long", LONG);
    memory.create_of("other", LONG);
    let mut owner = memory.talk("long");
    assert_eq!(write(&mut owner, Style::Structured, 0, &vec![1; LONG as usize], 0), 0);
    let mut slow = memory.begin();
    slow.option(option::STRUCTURED_REPLY, &[]).unwrap();
    slow.choose("long", true).unwrap();
    slow.request(Style::Structured, &wire_request(command::READ, 0, LONG), &[]).unwrap();
    // A part is in the socket or lent; the rest is fetched later.
    let begun = Instant::now();
    while memory.handle.call(|server| server.lent_bytes()).unwrap() == 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no part was fetched");
    }
    for request in [wire_request(command::TRIM, 0, LONG), wire_request(command::FLUSH, 0, 0)] {
        owner.request(Style::Simple, &request, &[]).unwrap();
        assert_eq!(owner.chunk(0).unwrap().errno(), 0);
    }
    let mut other = memory.talk("other");
    assert_eq!(write(&mut other, Style::Simple, 0, &vec![2; LONG as usize], 0), 0);
    let observed = read_reply(&mut slow, 0, LONG as u32);
    assert!(!observed.contains(&2), "bytes of another volume");
    assert_eq!(observed[0], 1, "the first part was fetched before");
    assert_eq!(observed.last(), Some(&0), "the last part was fetched after the trim");
}
