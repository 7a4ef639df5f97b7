//! The trace of a recorded export has its requests in order.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use plimsoll_device::nbd::wire::{Style, command, command_flag};
use plimsoll_device::nbd::{Talk, WireRequest};
use plimsoll_front::{Limits, RecordedTrace};
use plimsoll_record::{Action, TraceReader};
use plimsoll_volume::{Export, Slow};

use crate::serving::Serving;

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no thread panics with the lock").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    /// The operations of the trace: action, offset, length.
    fn lines(&self) -> Vec<(Action, u64, u64)> {
        let text = self.0.lock().expect("no thread panics with the lock").clone();
        let lines = TraceReader::new(&text[..]).expect("a trace");
        lines.map(|line| line.expect("well-formed")).map(|line| (line.action, line.offset, line.length)).collect()
    }
}

fn ask(talk: &mut Talk, flags: u16, command: u16, offset: u64, length: u64) {
    let payload = vec![7; if command == command::WRITE { length as usize } else { 0 }];
    talk.request(Style::Simple, &WireRequest { flags, command, cookie: 1, offset, length }, &payload)
        .expect("it is sent");
    let answer = talk.chunk(if command == command::READ { length as u32 } else { 0 }).expect("it is answered");
    assert_eq!(answer.errno(), 0, "command {command} at {offset}");
}

#[test]
fn trace_has_the_requests_of_the_recording() {
    let serving = Serving::start(false, Limits::default());
    let mut talk = serving.talk();
    talk.choose("data", true).unwrap();
    let (text, export) = (Shared::default(), Export(0));
    ask(&mut talk, 0, command::READ, 0, 512);
    let sink = text.clone();
    serving.handle.call(move |server| server.record(export, Slow::NOT, sink)).unwrap().unwrap();
    let again = serving.handle.call(move |server| server.record(export, Slow::NOT, io::sink())).unwrap();
    assert!(again.is_err(), "one recording at a time");
    ask(&mut talk, 0, command::WRITE, 4096, 8192);
    ask(&mut talk, command_flag::FUA, command::WRITE, 0, 512);
    ask(&mut talk, 0, command::READ, 1 << 20, 65536);
    ask(&mut talk, 0, command::FLUSH, 0, 0);
    ask(&mut talk, 0, command::TRIM, 1 << 20, 1 << 20);
    ask(&mut talk, 0, command::WRITE_ZEROES, 2 << 20, 4096);
    ask(&mut talk, command_flag::NO_HOLE, command::WRITE_ZEROES, 3 << 20, 4096);
    let recorded = serving.handle.stop_recording(export).unwrap().expect("there is one").unwrap();
    assert_eq!(recorded, RecordedTrace { operations: 7, dropped: 0 });
    ask(&mut talk, 0, command::READ, 0, 512);
    assert!(serving.handle.stop_recording(export).unwrap().is_none());
    let expected = [
        (Action::Write, 4096, 8192),
        (Action::DurableWrite, 0, 512),
        (Action::Read, 1 << 20, 65536),
        (Action::Flush, 0, 0),
        (Action::Trim, 1 << 20, 1 << 20),
        (Action::Trim, 2 << 20, 4096),
        (Action::Write, 3 << 20, 4096),
    ];
    assert_eq!(text.lines(), expected);
}

#[test]
fn ending_server_finishes_its_recordings() {
    let text = Shared::default();
    {
        let serving = Serving::start(false, Limits::default());
        let sink = text.clone();
        serving.handle.call(|server| server.record(Export(0), Slow::NOT, sink)).unwrap().unwrap();
        let mut talk = serving.talk();
        talk.choose("data", true).unwrap();
        ask(&mut talk, 0, command::READ, 4096, 512);
    }
    assert_eq!(text.lines(), [(Action::Read, 4096, 512)]);
    assert!(text.0.lock().unwrap().ends_with(b"#dropped 0\n"));
}
