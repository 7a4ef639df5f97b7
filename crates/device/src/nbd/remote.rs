//! An export of an NBD server as a target: each slot is a request, distributed over one or more connections.
//!
//! Simple replies only, like the Linux driver: with structured replies a server may omit zeros, and the measurement
//! would depend on the stored data. Data that are read are discarded, unless they are verified.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use io_uring::opcode;
use io_uring::types::Fd;
use plimsoll_drive::{Completion, Fault, Target};
use plimsoll_language::label;
use plimsoll_load::OpOutcome;
use plimsoll_units::{Instant, Kind, Op, Slot, Span};

use super::address::ExportAddress;
use super::connection::{Connection, disconnect};
use super::socket::Socket;
use super::talk::{Chosen, TalkError, WireRequest};
use super::wire::{PAYLOAD_MAX, SIMPLE_REPLY, Style, command, command_flag, flag};
use crate::buffers::Aligned;
use crate::clock::Clock;
use crate::content::Scribe;
use crate::outgoing::{Outgoing, Payload};
use crate::shape::Shape;
use crate::tls::Opened;
use crate::uring::Uring;

/// Size of the receive buffer of a connection in bytes.
const INBOX_BYTES: usize = 256 << 10;

/// Flag in user data: the socket of the line is writable.
const WRITABLE: u64 = 1 << 32;

/// Flag in user data: the receive of the line is cancelled.
const CANCELLED: u64 = 1 << 33;

struct NbdConnection {
    socket: Socket,
    inbox: Box<[u8]>,
    end: usize,
    /// Bytes of a read's payload that are still expected.
    skip: u64,
    /// Bytes of that payload received so far.
    payload_received: usize,
    /// The read whose payload is being received.
    reading: Option<Slot>,
    receiving: bool,
    out: Outgoing<Data>,
    /// Waiting for the socket to become writable.
    polling: bool,
}

/// The data of a write: a slot's part of the buffer for writes.
struct Data {
    start: *const u8,
    length: usize,
}

impl Data {
    /// # Safety
    /// The buffer outlives the data, and no reference to the part exists when they are read.
    unsafe fn new(buffer: &Aligned, start: usize, length: usize) -> Self {
        Self { start: buffer.at(start), length }
    }
}

impl Payload for Data {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the part is inside the buffer, which is alive and unmodified: see `new`.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

/// The requests in flight, and the data of verified reads.
struct InFlight {
    /// The operation of each slot in use.
    ops: Vec<Option<Op>>,
    scribe: Scribe,
    /// Data of verified reads, a range for each slot; a single byte without verification.
    reads: Aligned,
    stride: usize,
}

impl InFlight {
    fn new(shape: &Shape) -> Self {
        let scribe = shape.scribe(shape.depth);
        let stride = shape.stride();
        let reads = Aligned::new(if scribe.follows() { stride * shape.depth as usize } else { 1 });
        Self { ops: vec![None; shape.depth as usize], scribe, reads, stride }
    }

    /// Stores a part of the data of a slot's read, at `from` bytes from its start.
    #[inline]
    fn keep(&mut self, slot: Slot, from: usize, bytes: &[u8]) {
        if self.scribe.follows() {
            let start = slot.index() * self.stride + from;
            self.reads.bytes()[start..start + bytes.len()].copy_from_slice(bytes);
        }
    }

    fn ended(&self, slot: Slot, outcome: OpOutcome) -> OpOutcome {
        let start = slot.index() * self.stride;
        self.scribe.end(slot, outcome, |length| &self.reads.content()[start..start + length])
    }
}

/// An export as a target.
pub struct Remote {
    uring: Uring,
    clock: Clock,
    now: Instant,
    lines: Vec<NbdConnection>,
    chosen: Chosen,
    writes: Aligned,
    stride: usize,
    requests: InFlight,
    /// Number of unanswered requests.
    in_flight: usize,
}

impl Remote {
    /// Connects to an export for loads of `shape`: with up to `lines` connections, or a single one if the server does
    /// not support several.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses.
    pub fn connect(address: &ExportAddress, shape: &Shape, lines: u32, clock: Clock) -> Result<Self, TalkError> {
        let mut all = vec![Connection::open(address)?];
        let several = all[0].chosen().flags & flag::CAN_MULTI_CONN != 0;
        for _ in 1..if several { lines } else { 1 } {
            all.push(Connection::open(address)?);
        }
        Self::new(all, shape, clock)
    }

    /// A target over connections to the same export, at least one.
    ///
    /// # Errors
    /// The export does not support the load, or `io_uring` is not available.
    pub fn new(connections: Vec<Connection>, shape: &Shape, clock: Clock) -> Result<Self, TalkError> {
        let chosen = connections.first().expect("there is a connection").chosen().clone();
        check_load(&chosen, shape)?;
        let attempt = label!("starting io_uring");
        let uring = Uring::new(2 * connections.len() as u32, 2);
        let uring = uring.map_err(|source| TalkError::Io { attempt, source })?;
        let lines = connections.into_iter().map(|connection| NbdConnection::new(connection.into_socket())).collect();
        let stride = shape.stride();
        let mut writes = Aligned::new(if shape.writes { stride * shape.depth as usize } else { 1 });
        let requests = InFlight::new(shape);
        requests.scribe.prepare(writes.bytes());
        Ok(Self { uring, now: clock.now(), clock, lines, chosen, writes, stride, requests, in_flight: 0 })
    }

    /// Returns the connections for reuse; closes them and returns none if requests are in flight.
    pub fn release(mut self) -> Vec<Connection> {
        let quiet = |line: &NbdConnection| !line.receiving && !line.polling && line.end == 0;
        if self.in_flight > 0 || self.cancel_receives().is_err() || !self.lines.iter().all(quiet) {
            return Vec::new();
        }
        let chosen = self.chosen.clone();
        let lines = std::mem::take(&mut self.lines);
        lines.into_iter().map(|line| Connection::at_rest(line.socket, chosen.clone())).collect()
    }

    /// Cancels all receives: a later target would lose their data.
    fn cancel_receives(&mut self) -> io::Result<()> {
        let waiting = |lines: &[NbdConnection]| lines.iter().filter(|line| line.receiving).count();
        for number in 0..self.lines.len() {
            if self.lines[number].receiving {
                let entry = opcode::AsyncCancel::new(number as u64).build().user_data(number as u64 | CANCELLED);
                // SAFETY: it refers to no memory.
                unsafe { self.uring.push(&entry) }?;
            }
        }
        let give_up = self.clock.now() + Span::from_secs(1);
        while waiting(&self.lines) > 0 && self.clock.now() < give_up {
            self.uring.wait(Some(Span::from_millis(100)))?;
            for (token, result) in self.uring.completions() {
                let line = &mut self.lines[(token & u64::from(u32::MAX)) as usize];
                match token & (WRITABLE | CANCELLED) {
                    0 => {
                        line.receiving = false;
                        // Unexpected data, or the end of the connection: it cannot be reused.
                        line.end += usize::from(result >= 0);
                    }
                    WRITABLE => line.polling = false,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The description of the export by the server.
    pub const fn chosen(&self) -> &Chosen {
        &self.chosen
    }

    /// Number of connections in use.
    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    fn queue_request(&mut self, slot: Slot, op: &Op) {
        let (command, flags) = match op.kind {
            Kind::Read => (command::READ, 0),
            Kind::Write => (command::WRITE, 0),
            Kind::DurableWrite => (command::WRITE, command_flag::FUA),
            Kind::Flush => (command::FLUSH, 0),
            Kind::Trim => (command::TRIM, 0),
        };
        let (offset, length) = if op.kind == Kind::Flush { (0, 0) } else { (op.offset, u64::from(op.length)) };
        let data = op.kind.writes().then(|| self.data(slot, op));
        if data.is_none() {
            let fits = op.kind == Kind::Trim || op.length as usize <= self.stride;
            assert!(fits, "{} bytes do not fit a slot of {}", op.length, self.stride);
            self.requests.scribe.begin(slot, op);
        }
        let count = self.lines.len();
        let request = WireRequest { flags, command, cookie: u64::from(slot.0), offset, length };
        self.lines[slot.index() % count].out.put(data, |out| request.write(Style::Simple, out));
        self.requests.ops[slot.index()] = Some(*op);
    }

    fn data(&mut self, slot: Slot, op: &Op) -> Data {
        assert!(op.length as usize <= self.stride, "{} bytes do not fit a slot of {}", op.length, self.stride);
        let start = slot.index() * self.stride;
        let length = op.length as usize;
        // SAFETY: queued data of other slots are only read while they are sent, not here; the kernel does not access
        // this memory between two calls.
        self.requests.scribe.write(slot, op, unsafe { self.writes.part(start, length) });
        // SAFETY: the data are read by `lines`, which belong to the same target as the buffer, and only while sending.
        unsafe { Data::new(&self.writes, start, length) }
    }

    /// Sends queued data until the sockets are full.
    fn send(&mut self) -> io::Result<()> {
        for (number, line) in self.lines.iter_mut().enumerate().filter(|(_, line)| !line.polling) {
            if !line.socket.carry(&mut line.out, drop)? {
                let descriptor = Fd(line.socket.as_fd().as_raw_fd());
                let entry = opcode::PollAdd::new(descriptor, libc::POLLOUT as u32).build();
                // SAFETY: it refers to no memory.
                unsafe { self.uring.push(&entry.user_data(number as u64 | WRITABLE)) }?;
                line.polling = true;
            }
        }
        Ok(())
    }

    /// Starts a receive on every idle connection.
    fn receive(&mut self) -> io::Result<()> {
        for (number, line) in self.lines.iter_mut().enumerate().filter(|(_, line)| !line.receiving) {
            let descriptor = Fd(line.socket.as_fd().as_raw_fd());
            let room = match line.socket.channel() {
                Some(channel) => channel.room(),
                None => &mut line.inbox[line.end..],
            };
            let entry = opcode::Recv::new(descriptor, room.as_mut_ptr(), room.len() as u32);
            // SAFETY: neither inbox nor channel is moved or freed while a receive is in flight (see Drop).
            unsafe { self.uring.push(&entry.build().user_data(number as u64)) }?;
            line.receiving = true;
        }
        Ok(())
    }
}

impl NbdConnection {
    fn new(socket: Socket) -> Self {
        Self {
            socket,
            inbox: vec![0; INBOX_BYTES].into_boxed_slice(),
            end: 0,
            skip: 0,
            payload_received: 0,
            reading: None,
            receiving: false,
            out: Outgoing::default(),
            polling: false,
        }
    }

    /// Handles `count` received bytes.
    fn received(
        &mut self,
        count: usize,
        requests: &mut InFlight,
        at: Instant,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        let Some(channel) = self.socket.channel() else {
            self.end += count;
            return self.decode(requests, at, completions);
        };
        channel.received(count);
        while let Some(channel) = self.socket.channel() {
            match channel.open(&mut self.inbox[self.end..])? {
                Opened::Nothing => break,
                Opened::End => return Err(io::Error::other("it closed the connection")),
                Opened::Bytes(count) => self.end += count,
            }
            self.decode(requests, at, completions)?;
        }
        Ok(())
    }

    /// Decodes the received data.
    fn decode(&mut self, requests: &mut InFlight, at: Instant, completions: &mut Vec<Completion>) -> io::Result<()> {
        let mut start = 0;
        loop {
            let skipped = (self.skip.min((self.end - start) as u64)) as usize;
            if let Some(slot) = self.reading {
                requests.keep(slot, self.payload_received, &self.inbox[start..start + skipped]);
                self.payload_received += skipped;
            }
            start += skipped;
            self.skip -= skipped as u64;
            if self.skip > 0 {
                break;
            }
            if let Some(slot) = self.reading.take() {
                let outcome = requests.ended(slot, OpOutcome::Done);
                completions.push(Completion { slot, at, outcome, bound_by: None });
            }
            let Some((head, _)) = self.inbox[start..self.end].split_first_chunk::<16>() else { break };
            start += 16;
            let word = |from: usize| u32::from_be_bytes([head[from], head[from + 1], head[from + 2], head[from + 3]]);
            let slot = Slot(word(12));
            let is_reply = word(0) == SIMPLE_REPLY && word(8) == 0;
            let op = requests.ops.get_mut(slot.index()).filter(|_| is_reply).and_then(Option::take);
            let op = op.ok_or_else(|| io::Error::other("the server sent an invalid reply"))?;
            match word(4) {
                0 if op.kind == Kind::Read => {
                    self.skip = op.length.into();
                    self.payload_received = 0;
                    self.reading = Some(slot);
                }
                error => {
                    let outcome = if error == 0 { OpOutcome::Done } else { OpOutcome::Failed(error.cast_signed()) };
                    let outcome = requests.ended(slot, outcome);
                    completions.push(Completion { slot, at, outcome, bound_by: None });
                }
            }
        }
        self.inbox.copy_within(start..self.end, 0);
        self.end -= start;
        Ok(())
    }
}

/// Checks that the export supports the load.
fn check_load(chosen: &Chosen, shape: &Shape) -> Result<(), TalkError> {
    let refused = |reason: String| Err(TalkError::Refused { attempt: label!("preparing the load"), reason });
    let max = chosen.blocks.map_or(PAYLOAD_MAX, |[_, _, max]| max);
    if shape.largest.get() > u64::from(max) {
        return refused(format!("requests are limited to {max} bytes, and the load needs {}", shape.largest.get()));
    }
    if shape.writes && chosen.flags & flag::READ_ONLY != 0 {
        return refused("the export is read-only".into());
    }
    Ok(())
}

impl Target for Remote {
    fn now(&mut self) -> Instant {
        self.now = self.clock.now();
        self.now
    }

    /// # Panics
    /// If an operation exceeds `Shape::largest`, or writes although `Shape::writes` is false.
    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        for (slot, op) in batch {
            self.queue_request(*slot, op);
        }
        self.in_flight += batch.len();
        self.send().map_err(|source| Fault { attempt: label!("sending requests to the NBD server").into(), source })
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        let failed = |source| Fault { attempt: label!("waiting for the NBD server").into(), source };
        let before = completions.len();
        loop {
            self.send().map_err(failed)?;
            self.receive().map_err(failed)?;
            self.now = self.clock.now();
            self.uring.wait(Some(until.since(self.now))).map_err(failed)?;
            self.now = self.clock.now();
            for (token, result) in self.uring.completions() {
                let line = &mut self.lines[(token & !WRITABLE) as usize];
                if token & WRITABLE != 0 {
                    line.polling = false;
                    continue;
                }
                line.receiving = false;
                match result {
                    0 => return Err(failed(io::Error::other("it closed the connection"))),
                    moved @ 1.. => {
                        line.received(moved as usize, &mut self.requests, self.now, completions).map_err(failed)?;
                    }
                    error if error == -libc::EINTR || error == -libc::EAGAIN => {}
                    error => return Err(failed(io::Error::from_raw_os_error(-error))),
                }
            }
            if completions.len() > before || self.now >= until {
                self.in_flight -= completions.len() - before;
                return Ok(self.now);
            }
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        for line in &mut self.lines {
            disconnect(&mut line.socket);
            if line.receiving {
                // The kernel may still write to this memory, so it is leaked.
                std::mem::forget(std::mem::take(&mut line.inbox));
                std::mem::forget(line.socket.take_channel());
            }
        }
    }
}
