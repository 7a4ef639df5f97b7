//! One client: its received bytes, its present request, and its unsent replies.

use std::collections::VecDeque;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use io_uring::{opcode, squeue, types};
use plimsoll_device::{Outgoing, Payload};
use plimsoll_units::Instant;
use plimsoll_volume::{Command, Export, Request};

use super::flight::Session;
use super::listen::ListenerId;
use super::parts::{PART_BYTES, Stream, WriteParts};
use super::secure::Secured;
use super::turnaround::Unfollowed;
use crate::codec::{Codec, Incoming, Operation, Protocol, ReplyBody, Tag};
use crate::pool::{Buffer, Pool};

/// Size of the inbox of a client that has chosen an export.
const INBOX_BYTES: usize = 256 << 10;

/// Initial size of the inbox; a longer message enlarges it.
const GREETING_BYTES: usize = 1 << 10;

/// The lifecycle of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lifecycle {
    Open,
    /// Nothing more is read; it ends once all replies are sent.
    Draining,
    /// Replies are dropped.
    Broken,
}

/// Received bytes that are not decoded yet.
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

    /// The space for further bytes. If it is less than half, the bytes move to the front.
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

    /// Enlarges it for requests.
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

/// The request that is being received.
#[derive(Debug)]
pub(super) struct Current {
    pub incoming: Incoming,
    /// Memory for its payload.
    pub buffer: Option<Buffer>,
    /// Received bytes of the payload.
    pub filled: u32,
    /// Its payload is moved in parts.
    pub parts: Option<WriteParts>,
}

impl Current {
    /// Bytes of memory that its payload or its result needs.
    #[inline]
    pub(super) const fn payload(&self) -> u32 {
        match self.incoming.operation {
            Ok(Operation::Io(Request { command: Command::Write, .. })) => self.incoming.payload,
            Ok(Operation::Io(Request { command: Command::Read, length, .. })) => length as u32,
            _ => 0,
        }
    }

    /// A write whose payload is stored in parts.
    #[inline]
    pub(super) const fn is_stored_in_parts(&self) -> bool {
        self.parts.is_some() && self.incoming.payload > 0 && self.incoming.operation.is_ok()
    }

    /// The end of its buffer within the payload.
    #[inline]
    pub(super) fn end(&self) -> u32 {
        match &self.parts {
            Some(parts) if self.buffer.is_some() => (parts.start + PART_BYTES).min(self.incoming.payload),
            _ => self.incoming.payload,
        }
    }

    /// Space for the rest of the payload; `None` if that is discarded.
    #[inline]
    pub(super) fn room(&mut self) -> Option<&mut [u8]> {
        let (end, filled) = (self.end(), self.filled);
        let start = self.parts.as_ref().map_or(0, |parts| parts.start);
        Some(&mut self.buffer.as_mut()?.bytes()[(filled - start) as usize..(end - start) as usize])
    }

    /// Lends memory for the next part of a write; `false` while the previous part is being stored.
    pub(super) fn reserve_part(&mut self, pool: &mut Pool, held: &mut u64) -> bool {
        let Some(parts) = self.parts.as_mut().filter(|parts| !parts.storing) else { return false };
        if self.buffer.is_none() && self.filled < self.incoming.payload {
            let buffer = pool.lend_anyway(PART_BYTES.min(self.incoming.payload - self.filled));
            *held += buffer.size();
            (self.buffer, parts.start) = (Some(buffer), self.filled);
        }
        true
    }
}

/// The result of a read.
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
#[allow(clippy::struct_excessive_bools)] // independent of each other
pub(super) struct Connection {
    input: OwnedFd,
    /// The pipe for replies; `None` for a socket.
    output: Option<OwnedFd>,
    /// Its listening socket.
    pub listener: Option<ListenerId>,
    pub socket: bool,
    pub codec: Protocol,
    /// `None` before the client has chosen an export.
    pub session: Option<Session>,
    pub lifecycle: Lifecycle,
    pub inbox: Inbox,
    /// TLS between the socket and both boxes.
    pub tls: Option<Box<Secured>>,
    pub current: Option<Current>,
    pub outbox: Outgoing<Answer>,
    /// Reads in parts, which are fetched as fast as the client reads them.
    pub streams: VecDeque<Stream>,
    /// A part of the first stream is being fetched, or queued for that.
    pub fetching: bool,
    /// Replies that have to follow the last byte of an undivided stream.
    pub later: Outgoing<Answer>,
    /// The kernel is receiving; into the payload of the current request if `direct`.
    pub receiving: bool,
    pub direct: bool,
    /// The kernel waits until the client reads.
    pub polling: bool,
    /// It is in the list of connections to flush.
    pub touched: bool,
    /// Nothing is read until a reply has left.
    pub blocked: bool,
    /// The last payload was long: the next header is received alone.
    pub long: bool,
    /// Accepted requests without an answer.
    pub in_flight: u32,
    pub unfollowed: Unfollowed,
    /// Bytes of buffers of its requests and unsent replies.
    pub held: u64,
    /// Time of the last progress in either direction.
    pub moved: Instant,
}

impl Connection {
    pub(super) fn new(input: OwnedFd, output: Option<OwnedFd>, socket: bool, codec: Protocol, now: Instant) -> Self {
        Self {
            input,
            output,
            listener: None,
            socket,
            codec,
            session: None,
            lifecycle: Lifecycle::Open,
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

    /// The export that the client has chosen.
    pub(super) fn export(&self) -> Option<Export> {
        self.session.map(|session| session.export)
    }

    pub(super) fn output(&self) -> BorrowedFd<'_> {
        self.output.as_ref().unwrap_or(&self.input).as_fd()
    }

    /// The kernel has received `count` bytes, not into a payload.
    #[inline]
    pub(super) fn received(&mut self, count: usize) {
        match &mut self.tls {
            None => self.inbox.received(count),
            Some(secured) => secured.channel.received(count),
        }
    }

    /// Queues bytes, with the payload of a read behind them. They follow a read that has begun and must not be divided.
    #[inline]
    pub(super) fn put(&mut self, payload: Option<Answer>, write: impl FnOnce(&Protocol, &mut Vec<u8>)) {
        let undivided = self.streams.front().is_some_and(Stream::is_within_reply);
        let Self { codec, later, outbox, .. } = self;
        let queue = if undivided { later } else { outbox };
        queue.put(payload, |out| write(codec, out));
    }

    /// Queues a reply.
    #[inline]
    pub(super) fn reply(&mut self, tag: &Tag, body: &ReplyBody<'_>, payload: Option<Answer>) {
        self.put(payload, |codec, out| codec.reply(tag, body, out));
    }

    /// Receives into memory: as much as there is, or all of it with `flags`.
    pub(super) fn receive_entry(&self, to: *mut u8, length: u32, flags: i32) -> squeue::Entry {
        let descriptor = types::Fd(self.input.as_raw_fd());
        if self.socket {
            opcode::Recv::new(descriptor, to, length).flags(flags).build()
        } else {
            opcode::Read::new(descriptor, to, length).offset(u64::MAX).build()
        }
    }

    /// Unsent bytes of replies.
    #[inline]
    pub(super) const fn unread(&self) -> usize {
        self.outbox.bytes() + self.later.bytes()
    }

    /// True if bytes have to be sent.
    #[inline]
    pub(super) fn has_unsent(&self) -> bool {
        let held = self.outbox.bytes() > 0 || !self.streams.is_empty();
        held || self.tls.as_ref().is_some_and(|secured| secured.channel.wants_send())
    }

    /// True if the client has to send the rest of a message, or to read a reply.
    pub(super) fn owes(&self) -> bool {
        let half = self.current.is_some() || !self.inbox.bytes().is_empty() || self.session.is_none();
        self.has_unsent() || (half && !self.blocked)
    }
}
