//! One client: what it sent and was not understood yet, what it waits for, and what it has not read.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use plimsoll_device::nbd::wire::Style;
use plimsoll_device::nbd::{Outgoing, Payload};
use plimsoll_units::Instant;
use plimsoll_volume::{Access, Command, Errno, Export, Request};

use super::listen::Door;
use super::parts::{PART_BYTES, Stream, WriteParts};
use super::secure::Secured;
use super::turnaround::Unfollowed;
use crate::nbd::{Ask, Blocks, Handshake, Header};
use crate::pool::{Buffer, Pool};

/// Bytes that are taken at a time from a client that has chosen an export.
const INBOX_BYTES: usize = 256 << 10;

/// Bytes that a new client gets for what it sends. An option that is longer makes it grow.
const GREETING_BYTES: usize = 1 << 10;

/// How far a connection is.
#[derive(Debug)]
pub(super) enum Stage {
    /// Options are negotiated.
    Greeting(Handshake),
    /// Requests are served.
    Open(Served),
}

/// What an open connection is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    pub export: Export,
    /// Where its counts are.
    pub count: u32,
    pub style: Style,
    pub allocation: bool,
    pub access: Access,
    pub blocks: Blocks,
}

/// Whether a connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    On,
    /// No more is read; it ends when all replies are sent.
    Ending,
    /// It is broken; replies are dropped.
    Broken,
}

/// Bytes that were received and not used.
#[derive(Debug)]
pub(super) struct Inbox {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Inbox {
    pub(super) fn new() -> Self {
        Self { bytes: vec![0; GREETING_BYTES].into_boxed_slice(), start: 0, end: 0 }
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    #[inline]
    pub(super) fn used(&mut self, count: usize) {
        self.start += count;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    #[inline]
    pub(super) fn received(&mut self, count: usize) {
        self.end += count;
    }

    /// Where more can be put; what is there moves to the front when the room behind it is less than half.
    #[inline]
    pub(super) fn room(&mut self) -> &mut [u8] {
        if self.bytes.len() - self.end < self.bytes.len() / 2 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if self.end > self.bytes.len() / 2 && self.bytes.len() < INBOX_BYTES {
                self.grow(2 * self.bytes.len());
            }
        }
        &mut self.bytes[self.end..]
    }

    /// Gives it the memory for requests.
    pub(super) fn open(&mut self) {
        self.grow(INBOX_BYTES);
    }

    #[cold]
    fn grow(&mut self, bytes: usize) {
        let mut grown = vec![0; bytes].into_boxed_slice();
        grown[..self.end].copy_from_slice(&self.bytes[..self.end]);
        self.bytes = grown;
    }
}

/// The request that is being taken in.
#[derive(Debug)]
pub(super) struct Current {
    pub header: Header,
    pub ask: Result<Ask, Errno>,
    /// Its payload, where it has or gets one.
    pub buffer: Option<Buffer>,
    /// Bytes of the payload that came.
    pub filled: u32,
    /// Its payload is moved in parts.
    pub parts: Option<WriteParts>,
}

impl Current {
    /// Bytes that it brings or returns, and that memory is needed for.
    #[inline]
    pub(super) const fn payload(&self) -> u32 {
        match self.ask {
            Ok(Ask::Io(Request { command: Command::Write, .. })) => self.header.payload,
            Ok(Ask::Io(Request { command: Command::Read, length, .. })) => length as u32,
            _ => 0,
        }
    }

    /// It is a write whose payload goes to its file part by part.
    #[inline]
    pub(super) const fn is_stored_in_parts(&self) -> bool {
        self.parts.is_some() && self.header.payload > 0 && self.ask.is_ok()
    }

    /// The byte of the payload where its buffer ends.
    #[inline]
    pub(super) fn end(&self) -> u32 {
        match &self.parts {
            Some(parts) if self.buffer.is_some() => (parts.start + PART_BYTES).min(self.header.payload),
            _ => self.header.payload,
        }
    }

    /// Where the bytes of its payload go that have not come; `None` when they are dropped.
    #[inline]
    pub(super) fn room(&mut self) -> Option<&mut [u8]> {
        let (end, filled) = (self.end(), self.filled);
        let start = self.parts.as_ref().map_or(0, |parts| parts.start);
        Some(&mut self.buffer.as_mut()?.bytes()[(filled - start) as usize..(end - start) as usize])
    }

    /// Lends memory for the next part of a write; `false` while the part before is being stored.
    pub(super) fn reserve_part(&mut self, pool: &mut Pool, held: &mut u64) -> bool {
        let Some(parts) = self.parts.as_mut().filter(|parts| !parts.storing) else { return false };
        if self.buffer.is_none() && self.filled < self.header.payload {
            let buffer = pool.lend_anyway(PART_BYTES.min(self.header.payload - self.filled));
            *held += buffer.size();
            (self.buffer, parts.start) = (Some(buffer), self.filled);
        }
        true
    }
}

/// What a read returns.
#[derive(Debug)]
pub(super) struct Answer {
    pub buffer: Buffer,
    pub length: u32,
}

impl Payload for Answer {
    #[inline]
    fn bytes(&self) -> &[u8] {
        &self.buffer.content()[..self.length as usize]
    }
}

/// One client.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // each says something of its own
pub(super) struct Connection {
    input: OwnedFd,
    /// Where replies go, when not back.
    output: Option<OwnedFd>,
    /// The listening socket that it came over.
    pub door: Option<Door>,
    pub socket: bool,
    pub stage: Stage,
    pub course: Course,
    pub inbox: Inbox,
    /// Between the socket and the inbox and outbox, where the connection is encrypted.
    pub tls: Option<Box<Secured>>,
    pub current: Option<Current>,
    pub outbox: Outgoing<Answer>,
    /// Reads whose bytes are fetched part by part as the client takes them.
    pub streams: VecDeque<Stream>,
    /// A part of the first of them is being fetched, or waits for its turn.
    pub fetching: bool,
    /// Replies that cannot leave before the last byte of an undivided stream.
    pub later: Outgoing<Answer>,
    /// The kernel is receiving, into the payload of the current request when `direct`.
    pub receiving: bool,
    pub direct: bool,
    /// The kernel says when the client reads.
    pub polling: bool,
    /// Something has to be sent, or the end looked at.
    pub touched: bool,
    /// Nothing is taken in until a reply has left.
    pub blocked: bool,
    /// The last payload was long: the next one shall not be received beside a header.
    pub long: bool,
    /// Requests that were taken in and not answered.
    pub in_flight: u32,
    pub unfollowed: Unfollowed,
    /// Bytes of buffers that its requests and unsent replies hold.
    pub held: u64,
    /// When bytes came or went last.
    pub moved: Instant,
}

impl Connection {
    pub(super) fn new(input: OwnedFd, output: Option<OwnedFd>, socket: bool, stage: Stage, now: Instant) -> Self {
        Self {
            input,
            output,
            door: None,
            socket,
            stage,
            course: Course::On,
            inbox: Inbox::new(),
            tls: None,
            current: None,
            outbox: Outgoing::default(),
            streams: VecDeque::new(),
            fetching: false,
            later: Outgoing::default(),
            receiving: false,
            direct: false,
            polling: false,
            touched: false,
            blocked: false,
            long: false,
            in_flight: 0,
            unfollowed: Unfollowed::default(),
            held: 0,
            moved: now,
        }
    }

    pub(super) fn input(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }

    pub(super) fn output(&self) -> BorrowedFd<'_> {
        self.output.as_ref().unwrap_or(&self.input).as_fd()
    }

    /// The kernel has received so many bytes, not into a payload.
    #[inline]
    pub(super) fn received(&mut self, count: usize) {
        match &mut self.tls {
            None => self.inbox.received(count),
            Some(secured) => secured.channel.received(count),
        }
    }

    /// Has a reply leave, and behind the bytes of a read that has begun and must not be divided.
    #[inline]
    pub(super) fn put(&mut self, answer: Option<Answer>, write: impl FnOnce(&mut Vec<u8>)) {
        let undivided = self.streams.front().is_some_and(Stream::is_within_reply);
        let queue = if undivided { &mut self.later } else { &mut self.outbox };
        queue.put(answer, write);
    }

    /// Bytes of replies that the client has not read.
    #[inline]
    pub(super) const fn unread(&self) -> usize {
        self.outbox.bytes() + self.later.bytes()
    }

    /// Something is to be sent.
    #[inline]
    pub(super) fn has_unsent(&self) -> bool {
        let held = self.outbox.bytes() > 0 || !self.streams.is_empty();
        held || self.tls.as_ref().is_some_and(|secured| secured.channel.wants_send())
    }

    /// Half of a message came, or a reply is not read: the client owes something.
    pub(super) fn owes(&self) -> bool {
        let half = self.current.is_some() || !self.inbox.bytes().is_empty() || matches!(self.stage, Stage::Greeting(_));
        self.has_unsent() || (half && !self.blocked)
    }
}
