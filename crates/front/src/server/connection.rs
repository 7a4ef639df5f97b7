//! One client: its received bytes, its present request, and its unsent replies.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::rc::Rc;

use io_uring::{opcode, squeue, types};
use plimsoll_device::{Outgoing, Payload};
use plimsoll_units::Instant;
use plimsoll_volume::{Command, Export, Request};

use super::combine::Combining;
use super::flight::ClientExport;
use super::listen::ListenerId;
use super::notices::EndReason;
use super::parts::{PART_BYTES, StreamedRead, WriteParts};
use super::secure::Secured;
use super::turnaround::Unfollowed;
use crate::codec::{Codec, Division, Incoming, Operation, ReadPart, ReplyBody, SessionServices, Tag};
use crate::pool::{Buffer, Pool};
use crate::protocol::Protocol;

/// Size of the inbox of a client that has chosen an export.
const INBOX_BYTES: usize = 256 << 10;

/// Initial size of the inbox; a longer message enlarges it.
const GREETING_BYTES: usize = 1 << 10;

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
    /// It is itself a part of a request, without timing or reply.
    pub is_part: bool,
}

impl Current {
    /// A request whose payload has to be received, unless parts with it were stored before.
    pub(super) fn request(incoming: Incoming) -> Self {
        match incoming.operation {
            Ok(Operation::Stored(request)) => {
                let payload = request.length as u32;
                let incoming = Incoming { operation: Ok(Operation::Io(request)), payload, ..incoming };
                let parts = Some(WriteParts::default());
                Self { incoming, buffer: None, filled: payload, parts, is_part: false }
            }
            _ => Self { incoming, buffer: None, filled: 0, parts: None, is_part: false },
        }
    }

    pub(super) fn part(incoming: Incoming) -> Self {
        Self { incoming, buffer: None, filled: 0, parts: Some(WriteParts::default()), is_part: true }
    }

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
    pub(super) fn reserve_part(&mut self, pool: &mut Pool, buffered_bytes: &mut u64) -> bool {
        let Some(parts) = self.parts.as_mut().filter(|parts| !parts.storing) else { return false };
        if self.buffer.is_none() && self.filled < self.incoming.payload {
            let buffer = pool.lend_anyway(PART_BYTES.min(self.incoming.payload - self.filled));
            *buffered_bytes += buffer.size();
            (self.buffer, parts.start) = (Some(buffer), self.filled);
        }
        true
    }
}

/// The result of a read, or a piece of it.
#[derive(Debug)]
pub(super) struct ReadReply {
    memory: Memory,
    start: u32,
    length: u32,
}

#[derive(Debug)]
enum Memory {
    Own(Buffer),
    /// Other pieces of the same read use it too.
    Shared(Rc<Buffer>),
}

impl ReadReply {
    /// The first bytes of a buffer.
    #[inline]
    pub(super) const fn new(buffer: Buffer, length: u32) -> Self {
        Self { memory: Memory::Own(buffer), start: 0, length }
    }

    /// The buffer, if no other answer uses it.
    #[inline]
    pub(super) fn into_buffer(self) -> Option<Buffer> {
        match self.memory {
            Memory::Own(buffer) => Some(buffer),
            Memory::Shared(buffer) => Rc::try_unwrap(buffer).ok(),
        }
    }

    /// Copies a view that overlaps this range of a file. Shared memory contains no view.
    pub(super) fn keep(&mut self, file: RawFd, at: u64, length: u64) {
        if let Memory::Own(buffer) = &mut self.memory {
            buffer.keep(file, at, length);
        }
    }
}

impl Payload for ReadReply {
    #[inline]
    fn bytes(&self) -> &[u8] {
        let content = match &self.memory {
            Memory::Own(buffer) => buffer.content(),
            Memory::Shared(buffer) => buffer.content(),
        };
        &content[self.start as usize..][..self.length as usize]
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
    /// Address of the client in a network.
    pub address: Option<SocketAddr>,
    pub socket: bool,
    pub codec: Protocol,
    /// `None` before the client has chosen an export.
    pub session: Option<ClientExport>,
    pub lifecycle: Lifecycle,
    /// The first reason for its end.
    pub end_reason: Option<EndReason>,
    /// The codec has refused the client.
    pub refused: bool,
    pub inbox: Inbox,
    /// TLS between the socket and both boxes.
    pub tls: Option<Box<Secured>>,
    pub current: Option<Current>,
    pub outbox: Outgoing<ReadReply>,
    /// Reads in parts, which are fetched as fast as the client reads them.
    pub streams: VecDeque<StreamedRead>,
    /// A part of the first stream is being fetched, or queued for that.
    pub fetching: bool,
    /// Requests that combine bytes of the client with those of the volume.
    pub combining: Vec<Combining>,
    /// Replies that have to follow the last byte of an undivided stream.
    pub later: Outgoing<ReadReply>,
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
    /// Nothing is read until the requests of the connections that it replaces have ended.
    pub follows: bool,
    /// Accepted requests without an answer.
    pub in_flight: u32,
    pub unfollowed: Unfollowed,
    /// Bytes of buffers of its requests and unsent replies.
    pub buffered_bytes: u64,
    /// Time of the last progress in either direction.
    pub moved: Instant,
}

impl Connection {
    pub(super) fn new(input: OwnedFd, output: Option<OwnedFd>, socket: bool, codec: Protocol, now: Instant) -> Self {
        Self {
            input,
            output,
            listener: None,
            address: None,
            socket,
            codec,
            session: None,
            lifecycle: Lifecycle::Open,
            end_reason: None,
            refused: false,
            inbox: Inbox::new(),
            tls: None,
            current: None,
            outbox: Outgoing::default(),
            streams: VecDeque::new(),
            fetching: false,
            combining: Vec::new(),
            later: Outgoing::default(),
            receiving: false,
            direct: false,
            polling: false,
            touched: false,
            blocked: false,
            long: false,
            follows: false,
            in_flight: 0,
            unfollowed: Unfollowed::default(),
            buffered_bytes: 0,
            moved: now,
        }
    }

    /// Another connection has replaced it.
    pub(super) fn is_replaced(&self) -> bool {
        self.codec.services().is_some_and(SessionServices::is_replaced)
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
    pub(super) fn put(&mut self, payload: Option<ReadReply>, write: impl FnOnce(&mut Protocol, &mut Vec<u8>)) {
        let undivided = self.streams.front().is_some_and(StreamedRead::is_within_reply);
        let Self { codec, later, outbox, .. } = self;
        let queue = if undivided { later } else { outbox };
        queue.put(payload, |out| write(codec, out));
    }

    #[inline]
    pub(super) fn reply(&mut self, tag: &Tag, body: &ReplyBody<'_>, payload: Option<ReadReply>) {
        self.put(payload, |codec, out| codec.reply(tag, body, out));
    }

    /// Queues the result of a read, in pieces if the protocol limits them.
    #[inline]
    pub(super) fn reply_data(&mut self, tag: &Tag, buffer: Buffer, length: u32) {
        let Division::Pieces(piece) = tag.division else {
            return self.reply(tag, &ReplyBody::Data(length), Some(ReadReply::new(buffer, length)));
        };
        let total = length.min(tag.limit);
        if total <= piece {
            let part = ReadPart { offset: tag.offset, length: total, rest: 0 };
            return self.reply_piece(tag, part, ReadReply::new(buffer, total));
        }
        let buffer = Rc::new(buffer);
        for start in (0..total).step_by(piece as usize) {
            let length = piece.min(total - start);
            let part = ReadPart { offset: tag.offset + u64::from(start), length, rest: total - start - length };
            let memory = Memory::Shared(Rc::clone(&buffer));
            self.reply_piece(tag, part, ReadReply { memory, start, length });
        }
    }

    /// Queues a piece of the result of a read, and the trailer behind it.
    #[inline]
    pub(super) fn reply_piece(&mut self, tag: &Tag, part: ReadPart, answer: ReadReply) {
        let mut trailer = Vec::new();
        if let Some(services) = self.codec.services() {
            services.trailer(answer.bytes(), &mut trailer);
        }
        self.reply(tag, &ReplyBody::DataPart(part), Some(answer));
        if !trailer.is_empty() {
            self.put(None, |_, out| out.append(&mut trailer));
        }
    }

    /// Whether the client awaits a reply; sends the messages that waited for the end of the request. `out` is scratch.
    #[inline]
    pub(super) fn awaits(&mut self, tag: &Tag, out: &mut Vec<u8>) -> bool {
        out.clear();
        let awaits = self.codec.services_mut().is_none_or(|services| services.awaits(tag, out));
        if !out.is_empty() {
            self.put(None, |_, queue| queue.append(out));
        }
        awaits
    }

    #[inline]
    pub(super) fn take_combining(&mut self, tag: &Tag) -> Option<Combining> {
        let at = self.combining.iter().position(|combining| combining.tag.id == tag.id)?;
        Some(self.combining.swap_remove(at))
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
        let is_queued = self.outbox.bytes() > 0 || !self.streams.is_empty();
        is_queued || self.tls.as_ref().is_some_and(|secured| secured.channel.wants_send())
    }

    /// True if the client has to send the rest of a message, or to read a reply.
    pub(super) fn owes(&self) -> bool {
        let missing = self.session.is_none() || self.codec.services().is_some_and(SessionServices::awaits_data);
        let half = self.current.is_some() || !self.inbox.bytes().is_empty() || missing;
        self.has_unsent() || (half && !self.blocked)
    }
}
