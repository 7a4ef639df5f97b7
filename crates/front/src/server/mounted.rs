//! Exports that the kernel shows as files: its requests are read from a device, one message at a time, and answered in
//! the ring loop.
//!
//! A single read in the ring waits for the next message, as each message would wake all reads that wait. Further messages
//! are read directly. Replies leave in any order, so that as many requests are in flight as the kernel sends.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::{opcode, types};
use plimsoll_volume::{Command, Errno, Export, NotAccepted, Reply, Request, Then};

use super::Server;
use super::flight::{ClientExport, ConnectedClient, Flight, ServedPart};
use super::input::seek;
use super::ring::Token;
use super::turnaround::Unfollowed;
use crate::codec::{Codec, Exports, Incoming, Message, Operation, ReplyBody, Tag};
use crate::pool::{Buffer, Pool};
use crate::protocol::{DEVICE_HEAD_BYTES, DEVICE_PAYLOAD_MAX, Device, Protocol};
use crate::slots::Slots;

/// Minimum length of a payload that stays in the buffer it was read to; shorter payloads are copied, as they should not
/// occupy a large buffer.
const DIRECT_MIN: usize = 32 << 10;

/// Maximum of messages that are processed before the loop serves others.
const MESSAGES_MAX: u32 = 64;

/// One mount gets at most this fraction of the memory for payloads.
const MEMORY_SHARE: u64 = 4;

/// Maximum bytes of a message without a payload: the longest name, and some more.
const MESSAGE_MAX: usize = 4096;

pub(super) struct Mounts {
    all: Slots<Mounted>,
    /// Mounts that wait for an answer to another request.
    blocked: Vec<u32>,
}

/// A mount: a filesystem that shows an export as its file.
struct Mounted {
    device: OwnedFd,
    session: ClientExport,
    codec: Protocol,
    inbox: Inbox,
    /// The ring is reading into the inbox.
    reading: bool,
    blocked: bool,
    /// Nothing more is read; it ends once all requests are answered.
    ending: bool,
    /// Accepted requests without an answer.
    in_flight: u32,
    unfollowed: Unfollowed,
    /// Bytes of their buffers.
    buffered_bytes: u64,
}

/// A message of the kernel. The part of a write before its payload fits into the head, so that the payload begins on a
/// page.
struct Inbox {
    head: Box<[u8; DEVICE_HEAD_BYTES]>,
    payload: Buffer,
    vectors: Box<[libc::iovec; 2]>,
    /// Received bytes that are not decoded yet.
    length: usize,
}

impl Inbox {
    fn new(pool: &mut Pool) -> Self {
        let nothing = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let payload = pool.lend_anyway(DEVICE_PAYLOAD_MAX);
        Self { head: Box::new([0; DEVICE_HEAD_BYTES]), payload, vectors: Box::new([nothing; 2]), length: 0 }
    }

    /// The memory for the next message.
    #[inline]
    fn vectors(&mut self) -> *const libc::iovec {
        let payload = libc::iovec { iov_base: self.payload.at(0).cast(), iov_len: DEVICE_PAYLOAD_MAX as usize };
        *self.vectors = [libc::iovec { iov_base: self.head.as_mut_ptr().cast(), iov_len: DEVICE_HEAD_BYTES }, payload];
        self.vectors.as_ptr()
    }

    /// Decodes the message, whose length has to be the stated one.
    #[inline]
    fn decode(&self, codec: &mut Protocol, exports: &Exports<'_>, out: &mut Vec<u8>) -> Message {
        let head = &self.head[..self.length.min(DEVICE_HEAD_BYTES)];
        let rest = self.length - head.len();
        let mut decoded = codec.feed(head, exports, out);
        if rest > 0 && decoded.message == Message::Incomplete {
            let message = [head, &self.payload.content()[..rest.min(MESSAGE_MAX)]].concat();
            decoded = codec.feed(&message, exports, out);
        }
        match decoded.message {
            Message::Request(incoming) if decoded.used + incoming.payload as usize != self.length => Message::Invalid,
            message => message,
        }
    }
}

/// The continuation after a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MountStep {
    Continue,
    /// Another request has to be answered first.
    Blocked,
    End,
}

impl Mounts {
    pub(super) const fn new() -> Self {
        Self { all: Slots::new(), blocked: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// True if a mount waits for an answer.
    #[inline]
    pub(super) const fn are_blocked(&self) -> bool {
        !self.blocked.is_empty()
    }

    /// Closes all mounts. Memory that the kernel may still write to is leaked rather than reused.
    pub(super) fn give_up(&mut self) {
        for number in self.all.numbers() {
            if let Some(Mounted { inbox, .. }) = self.all.remove(number) {
                std::mem::forget(inbox);
            }
        }
    }

    fn of(&self, export: Export) -> impl Iterator<Item = u32> {
        let of = move |number: &u32| self.all.get(*number).is_some_and(|mounted| mounted.session.export == export);
        self.all.numbers().into_iter().filter(of)
    }
}

impl Server {
    /// Serves an export as the file of a mounted filesystem, until that is unmounted.
    ///
    /// # Errors
    /// The export is not offered, or the ring fails.
    pub fn mount(&mut self, export: Export, device: Device) -> io::Result<()> {
        let Some(offer) = self.offers.iter().find(|offer| offer.export == export) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        // Allocations for an answer must not wait for writeback that needs this answer. Needs a privilege.
        let _ = rustix::process::configure_io_flusher_behavior(true);
        let codec = Protocol::of_device(&device, offer);
        let mounted = Mounted {
            device: device.descriptor,
            session: ClientExport { export, path: None, row: self.counts.row(export) },
            codec,
            inbox: Inbox::new(&mut self.pool),
            reading: false,
            blocked: false,
            ending: false,
            in_flight: 0,
            unfollowed: Unfollowed::default(),
            buffered_bytes: 0,
        };
        let number = self.mounts.all.insert(mounted);
        self.read_device(number)
    }

    /// Number of mounts of an export.
    pub fn mounts(&self, export: Export) -> usize {
        self.mounts.of(export).count()
    }

    /// Ends the mounts of an export after requests in flight were answered: further accesses fail. An unmounted
    /// filesystem ends by itself.
    pub fn end_mounts(&mut self, export: Export) {
        for number in self.mounts.of(export).collect::<Vec<_>>() {
            self.end_mounted(number);
        }
    }

    pub(super) fn end_all_mounts(&mut self) {
        for number in self.mounts.all.numbers() {
            self.end_mounted(number);
        }
    }

    fn end_mounted(&mut self, number: u32) {
        let Some(mounted) = self.mounts.all.get_mut(number) else { return };
        if !std::mem::replace(&mut mounted.ending, true) && mounted.reading {
            // A failed ring fails again in the next round.
            let _ = self.ring.cancel(Token::Message(number));
        }
        self.close_mounted(number);
    }

    /// Reads the next message in the ring.
    #[inline]
    fn read_device(&mut self, number: u32) -> io::Result<()> {
        let Some(mounted) = self.mounts.all.get_mut(number) else { return Ok(()) };
        mounted.reading = true;
        let descriptor = types::Fd(mounted.device.as_raw_fd());
        let entry = opcode::Readv::new(descriptor, mounted.inbox.vectors(), 2).offset(u64::MAX).build();
        // SAFETY: the vectors and their memory are in the inbox. While `reading` is set it is not accessed, and the
        // mount is kept; `Mounts::give_up` leaks it.
        unsafe { self.ring.push(entry, Token::Message(number)) }
    }

    /// A message was read, or the filesystem was unmounted.
    #[inline]
    pub(super) fn message_read(&mut self, number: u32, result: i32) -> io::Result<()> {
        let Some(mounted) = self.mounts.all.get_mut(number) else { return Ok(()) };
        mounted.reading = false;
        match result {
            came @ 1.. => mounted.inbox.length = came as usize,
            error if is_passing(-error) => {}
            _ => mounted.ending = true,
        }
        self.take_messages(number)
    }

    /// Processes messages, and waits for more.
    #[inline]
    fn take_messages(&mut self, number: u32) -> io::Result<()> {
        for _ in 0..MESSAGES_MAX {
            let Some(mounted) = self.mounts.all.get(number) else { return Ok(()) };
            if mounted.ending || (mounted.inbox.length == 0 && !self.read_at_once(number)) {
                break;
            }
            match self.take_message(number) {
                MountStep::Continue => {}
                MountStep::Blocked => return Ok(()),
                MountStep::End => self.end_mounted(number),
            }
        }
        match self.mounts.all.get(number) {
            Some(mounted) if !mounted.ending => self.read_device(number),
            _ => {
                self.close_mounted(number);
                Ok(())
            }
        }
    }

    /// Reads a further message: with requests in flight, there often is one. `false`: there was none.
    #[inline]
    fn read_at_once(&mut self, number: u32) -> bool {
        let Some(mounted) = self.mounts.all.get_mut(number).filter(|mounted| mounted.in_flight > 1) else {
            return false;
        };
        // SAFETY: the vectors point to memory of the inbox, which nothing else uses while the ring does not read into
        // it.
        let came = unsafe { libc::readv(mounted.device.as_raw_fd(), mounted.inbox.vectors(), 2) };
        // An error shows again at the read in the ring.
        mounted.inbox.length = usize::try_from(came).unwrap_or(0);
        came > 0
    }

    #[inline]
    fn take_message(&mut self, number: u32) -> MountStep {
        let Some(mounted) = self.mounts.all.get_mut(number) else { return MountStep::End };
        let Mounted { device, session, codec, inbox, .. } = mounted;
        let exports = Exports { offers: &[], size: self.volumes.size(session.export) };
        self.out.clear();
        let next = match inbox.decode(codec, &exports, &mut self.out) {
            Message::Request(incoming) => self.perform_message(number, &incoming),
            Message::Handled => {
                if !self.out.is_empty() {
                    send(device, &self.out, &[]);
                }
                MountStep::Continue
            }
            _ => MountStep::End,
        };
        if next == MountStep::Continue
            && let Some(mounted) = self.mounts.all.get_mut(number)
        {
            mounted.inbox.length = 0;
        }
        next
    }

    #[inline]
    fn perform_message(&mut self, number: u32, incoming: &Incoming) -> MountStep {
        let tag = incoming.tag;
        let body = match incoming.operation {
            Ok(Operation::Io(request)) => return self.accept_message(number, tag, &request, incoming.payload as usize),
            Ok(Operation::Seek { offset, allocated }) => {
                let Some(Mounted { session, .. }) = self.mounts.all.get(number) else { return MountStep::End };
                ReplyBody::Position(seek(&self.volumes, session.export, offset, allocated))
            }
            Ok(Operation::Extents { .. } | Operation::Stored(_) | Operation::Combine { .. }) => {
                ReplyBody::Failed(Errno::NotSup)
            }
            Ok(Operation::Disconnect) => return MountStep::End,
            Err(errno) => ReplyBody::Failed(errno),
        };
        self.send_reply(number, &tag, &body, &[]);
        MountStep::Continue
    }

    #[inline]
    fn accept_message(&mut self, number: u32, tag: Tag, request: &Request, payload: usize) -> MountStep {
        let share = self.limits.bytes / MEMORY_SHARE;
        let Some(mounted) = self.mounts.all.get_mut(number) else { return MountStep::End };
        let Mounted { session, inbox, buffered_bytes, .. } = mounted;
        let session = *session;
        let moves = matches!(request.command, Command::Read | Command::Write);
        let bytes = if moves { request.length as u32 } else { 0 };
        let keeps = payload >= DIRECT_MIN;
        let mut buffer = None;
        if bytes > 0 {
            if !self.volumes.takes(session.export, bytes.into()) {
                return self.block_mounted(number);
            }
            // If a payload stays in its buffer, the next message needs another buffer.
            let required = if keeps { DEVICE_PAYLOAD_MAX } else { bytes };
            buffer = match *buffered_bytes {
                0 => Some(self.pool.lend_anyway(required)),
                buffered_bytes if buffered_bytes + u64::from(required) > share => None,
                _ => self.pool.lend(required),
            };
            let Some(buffer) = &mut buffer else { return self.block_mounted(number) };
            *buffered_bytes += buffer.size();
            if keeps {
                std::mem::swap(buffer, &mut inbox.payload);
            } else if payload > 0 {
                buffer.bytes()[..bytes as usize].copy_from_slice(&inbox.payload.content()[..bytes as usize]);
            } else if self.volumes.reads_only_allocated() {
                buffer.allow_view();
            }
        }
        match self.hand_over(session, (ConnectedClient::Mount(number), tag, ServedPart::Full), request, buffer) {
            Ok(()) => {
                if let Some(mounted) = self.mounts.all.get_mut(number) {
                    mounted.in_flight += 1;
                    let turnaround = mounted.unfollowed.came(self.now, mounted.in_flight);
                    self.followed(session, turnaround);
                }
                MountStep::Continue
            }
            Err(refused) => {
                let (flight, reason) = *refused;
                self.not_accepted(number, flight, keeps, reason)
            }
        }
    }

    /// A volume has refused a request, or cannot accept it yet.
    #[cold]
    fn not_accepted(&mut self, number: u32, flight: Flight, keeps: bool, reason: NotAccepted) -> MountStep {
        let Some(mounted) = self.mounts.all.get_mut(number) else { return MountStep::End };
        if let Some(mut buffer) = flight.buffer {
            if keeps {
                // The message has to be decoded again.
                std::mem::swap(&mut buffer, &mut mounted.inbox.payload);
            }
            mounted.buffered_bytes -= buffer.size();
            self.pool.give_back(buffer);
        }
        match reason {
            NotAccepted::Full => self.block_mounted(number),
            NotAccepted::Failed(errno) => {
                self.send_reply(number, &flight.tag, &ReplyBody::Failed(errno), &[]);
                self.counts.refused(flight.row);
                MountStep::Continue
            }
        }
    }

    #[inline]
    fn send_reply(&mut self, number: u32, tag: &Tag, body: &ReplyBody<'_>, payload: &[u8]) {
        if let Some(mounted) = self.mounts.all.get_mut(number) {
            self.out.clear();
            mounted.codec.reply(tag, body, &mut self.out);
            send(&mounted.device, &self.out, payload);
        }
    }

    fn block_mounted(&mut self, number: u32) -> MountStep {
        if let Some(mounted) = self.mounts.all.get_mut(number)
            && !std::mem::replace(&mut mounted.blocked, true)
        {
            self.mounts.blocked.push(number);
        }
        MountStep::Blocked
    }

    pub(super) fn resume_mounts(&mut self) -> io::Result<()> {
        for number in std::mem::take(&mut self.mounts.blocked) {
            if let Some(mounted) = self.mounts.all.get_mut(number) {
                mounted.blocked = false;
                self.take_messages(number)?;
            }
        }
        Ok(())
    }

    /// Answers a request. Instead of a torn connection, from which no kernel would recover, the request fails.
    #[inline]
    pub(super) fn reply_to_mount(&mut self, number: u32, flight: Flight, reply: &Reply) {
        let outcome = if reply.then == Then::Tear { Err(Errno::Io) } else { reply.outcome };
        let body = flight.body(outcome);
        let payload = match (body, &flight.buffer) {
            (ReplyBody::Data(length), Some(buffer)) => &buffer.content()[..length as usize],
            _ => &[],
        };
        self.send_reply(number, &flight.tag, &body, payload);
        let Some(mounted) = self.mounts.all.get_mut(number) else { return };
        mounted.in_flight -= 1;
        mounted.unfollowed.answered(self.now);
        if let Some(buffer) = flight.buffer {
            mounted.buffered_bytes -= buffer.size();
            self.pool.give_back(buffer);
        }
        if mounted.ending {
            self.close_mounted(number);
        }
    }

    /// Closes the device of a mount that has ended: further accesses fail at once.
    fn close_mounted(&mut self, number: u32) {
        let ended = |mounted: &Mounted| mounted.ending && !mounted.reading && mounted.in_flight == 0;
        if self.mounts.all.get(number).is_some_and(ended)
            && let Some(mounted) = self.mounts.all.remove(number)
        {
            self.pool.give_back(mounted.inbox.payload);
            self.mounts.blocked.retain(|blocked| *blocked != number);
            self.volumes.flush_all(&mut self.jobs);
        }
    }
}

/// Sends a reply. An interrupted request and an unmounted filesystem need none; the next read shows whether it is
/// unmounted.
#[inline]
fn send(device: &OwnedFd, head: &[u8], payload: &[u8]) {
    let part = |bytes: &[u8]| libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let vectors = [part(head), part(payload)];
    let count = if payload.is_empty() { 1 } else { 2 };
    // SAFETY: the vectors point to live memory, which the call only reads.
    let _ = unsafe { libc::writev(device.as_raw_fd(), vectors.as_ptr(), count) };
}

/// Errors of a read that do not mean the end: no message, or one that was withdrawn.
const fn is_passing(error: i32) -> bool {
    matches!(error, libc::EAGAIN | libc::EINTR | libc::ENOENT)
}
