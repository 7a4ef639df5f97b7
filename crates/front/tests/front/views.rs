//! Replies sent from views of files: a slow client never gets later contents of the place.

use std::time::Duration;

use plimsoll_device::nbd::wire::{Style, command};
use plimsoll_device::nbd::{Talk, WireRequest};

use super::memory::{Memory, SIZE};

fn ask(talk: &mut Talk, command: u16, length: u64, data: &[u8]) {
    let request = WireRequest { command, cookie: 1, length, ..WireRequest::default() };
    talk.request(Style::Simple, &request, data).unwrap();
}

fn done(talk: &mut Talk, command: u16, length: u64, data: &[u8]) {
    ask(talk, command, length, data);
    assert_eq!(talk.chunk(0).unwrap().errno(), 0);
}

/// A client sends reads without reading replies; the range is trimmed, and its space is reused by another volume.
#[test]
fn slow_reader_never_gets_data_of_another_volume() {
    let memory = Memory::start(SIZE);
    memory.create("other");
    let mut owner = memory.talk("data");
    done(&mut owner, command::WRITE, SIZE, &vec![1; SIZE as usize]);
    let mut slow = memory.talk("data");
    for _ in 0..6 {
        ask(&mut slow, command::READ, SIZE, &[]);
    }
    // Until the server has replied with more than the socket buffer takes.
    for _ in 0..1_000 {
        if memory.handle.call(|server| server.lent_bytes()).unwrap() >= 4 * SIZE {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    done(&mut owner, command::TRIM, SIZE, &[]);
    done(&mut owner, command::FLUSH, 0, &[]);
    let mut other = memory.talk("other");
    done(&mut other, command::WRITE, SIZE, &vec![2; SIZE as usize]);
    for number in 0..6 {
        let answer = slow.chunk(SIZE as u32).unwrap();
        assert_eq!(answer.errno(), 0);
        let observed = |byte| answer.payload.contains(&byte);
        assert!(!observed(2), "reply {number} has bytes of another volume");
        assert!(number > 0 || observed(1), "the first read was answered before");
    }
    ask(&mut other, command::READ, SIZE, &[]);
    assert!(other.chunk(SIZE as u32).unwrap().payload.iter().all(|byte| *byte == 2));
}
