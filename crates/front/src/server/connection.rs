//! One client: what it sent and was not understood yet, what it waits for, and what it has not read.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use plimsoll_device::nbd::wire::Style;
use plimsoll_device::nbd::{Outgoing, Payload};
use plimsoll_units::Instant;
use plimsoll_volume::{Access, Errno, Export};

use super::secure::Secured;
use crate::nbd::{Ask, Blocks, Handshake, Header};
use crate::pool::Buffer;

/// Bytes that are taken from a client at a time.
const INBOX_BYTES: usize = 256 << 10;

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
        Self { bytes: vec![0; INBOX_BYTES].into_boxed_slice(), start: 0, end: 0 }
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
        }
        &mut self.bytes[self.end..]
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
    pub socket: bool,
    pub stage: Stage,
    pub course: Course,
    pub inbox: Inbox,
    /// Between the socket and the inbox and outbox, where the connection is encrypted.
    pub tls: Option<Box<Secured>>,
    pub current: Option<Current>,
    pub outbox: Outgoing<Answer>,
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
            socket,
            stage,
            course: Course::On,
            inbox: Inbox::new(),
            tls: None,
            current: None,
            outbox: Outgoing::default(),
            receiving: false,
            direct: false,
            polling: false,
            touched: false,
            blocked: false,
            long: false,
            in_flight: 0,
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

    /// Something is to be sent.
    #[inline]
    pub(super) fn has_unsent(&self) -> bool {
        self.outbox.bytes() > 0 || self.tls.as_ref().is_some_and(|secured| secured.channel.wants_send())
    }

    /// Half of a message came, or a reply is not read: the client owes something.
    pub(super) fn owes(&self) -> bool {
        let half = self.current.is_some() || !self.inbox.bytes().is_empty() || matches!(self.stage, Stage::Greeting(_));
        self.has_unsent() || (half && !self.blocked)
    }
}
