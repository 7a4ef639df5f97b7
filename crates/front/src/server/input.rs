//! From received bytes to requests: the input of a connection.

use std::io;

use plimsoll_volume::{Errno, Export, NotAccepted, Request, Volumes};

use super::Server;
use super::connection::{Connection, Current, Lifecycle};
use super::flight::{ClientExport, ConnectedClient, Flight, ServedPart};
use super::notices::{ClientEvent, EndReason};
use super::parts::WriteParts;
use super::ring::Token;
use crate::codec::{Codec, Decoded, Division, Exports, Message, Operation, ReplyBody, SessionServices, Tag};

/// Minimum rest of a payload that is received directly into its buffer; a shorter one is copied.
const DIRECT_MIN: u32 = 32 << 10;

/// Maximum of unread replies, in bytes, before nothing more is read from the client.
const UNREAD_MAX: usize = 4 << 20;

/// One client gets at most this fraction of the memory for payloads.
const MEMORY_SHARE: u64 = 4;

/// Maximum bytes of payloads of one client; the rest is moved in parts.
pub(super) const MAX_HELD: u64 = 8 << 20;

/// Maximum bytes of a payload that is held as a whole; a longer one is moved in parts.
const MAX_WHOLE: u32 = 1 << 20;

/// Maximum of long reads that wait for the client.
const STREAMS_MAX: usize = 1024;

/// Maximum of extents in one reply.
const EXTENTS_MAX: usize = 4096;

/// Extents that a seek examines with one call.
const SEEK_EXTENTS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputStep {
    /// Another step.
    Continue,
    /// More bytes are needed.
    Receive,
    /// Another request has to be answered first.
    Blocked,
    /// Nothing more is read.
    End(Lifecycle),
}

impl Server {
    /// The kernel has received bytes of a connection, or its end.
    #[inline]
    pub(super) fn received(&mut self, number: u32, result: i32) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(number) else { return Ok(()) };
        connection.receiving = false;
        if connection.lifecycle != Lifecycle::Open {
            self.touch(number);
            return Ok(());
        }
        connection.moved = self.now;
        match (result, connection.current.as_mut().filter(|_| connection.direct)) {
            (moved @ 1.., Some(current)) => current.filled += moved as u32,
            (moved @ 1.., None) => connection.received(moved as usize),
            (error, _) if error == -libc::EINTR || error == -libc::EAGAIN => {}
            (0, _) => {
                self.end(number, Lifecycle::Draining, EndReason::Client);
                return Ok(());
            }
            _ => {
                self.end(number, Lifecycle::Broken, EndReason::Lost);
                return Ok(());
            }
        }
        self.take_in(number)
    }

    /// Processes all complete requests, and receives more.
    #[inline]
    pub(super) fn take_in(&mut self, number: u32) -> io::Result<()> {
        loop {
            let Some(connection) = self.connections.get_mut(number) else { return Ok(()) };
            if connection.lifecycle != Lifecycle::Open || connection.receiving {
                return Ok(());
            }
            // A client that does not read replies has to wait; sending goes on when it reads.
            let full = connection.unread() > UNREAD_MAX || connection.streams.len() >= STREAMS_MAX;
            let next = if full { InputStep::Blocked } else { self.step(number) };
            match next {
                InputStep::Continue => {}
                InputStep::Receive if self.receive(number)? => {}
                InputStep::Receive => return Ok(()),
                InputStep::Blocked => {
                    self.block(number);
                    return Ok(());
                }
                InputStep::End(lifecycle) => {
                    let reason = match lifecycle {
                        Lifecycle::Broken => EndReason::Violation,
                        Lifecycle::Open | Lifecycle::Draining => EndReason::Client,
                    };
                    self.end(number, lifecycle, reason);
                    return Ok(());
                }
            }
        }
    }

    fn block(&mut self, number: u32) {
        self.touch(number);
        if let Some(connection) = self.connections.get_mut(number)
            && !connection.blocked
        {
            connection.blocked = true;
            self.blocked.push(number);
        }
    }

    #[inline]
    fn step(&mut self, number: u32) -> InputStep {
        let Some(connection) = self.connections.get_mut(number) else { return InputStep::End(Lifecycle::Broken) };
        if connection.current.is_some() {
            return self.proceed(number);
        }
        if connection.follows && self.has_predecessors(number) {
            return InputStep::Blocked;
        }
        let Some(connection) = self.connections.get_mut(number) else { return InputStep::End(Lifecycle::Broken) };
        let size = if let Some(session) = connection.session {
            self.volumes.size(session.export)
        } else {
            self.offers.iter_mut().for_each(|offer| offer.size = self.volumes.size(offer.export));
            0
        };
        self.out.clear();
        let exports = Exports { offers: &self.offers, size };
        let Decoded { used, message } = connection.codec.feed(connection.inbox.bytes(), &exports, &mut self.out);
        connection.inbox.used(used);
        if connection.session.is_none() {
            self.notices.push_refusal(connection);
        }
        if !self.out.is_empty() {
            connection.put(None, |_, out| out.extend_from_slice(&self.out));
            self.touch(number);
        }
        match message {
            Message::Request(incoming) => {
                if let Some(connection) = self.connections.get_mut(number) {
                    connection.current = Some(Current::request(incoming));
                }
                self.proceed(number)
            }
            Message::Part(incoming) => {
                if let Some(connection) = self.connections.get_mut(number) {
                    connection.current = Some(Current::part(incoming));
                }
                self.proceed(number)
            }
            Message::Incomplete => InputStep::Receive,
            Message::Handled => InputStep::Continue,
            Message::Opened(export) => self.open(number, export),
            Message::StartTls => self.secure(number),
            Message::End => InputStep::End(Lifecycle::Draining),
            Message::Invalid => InputStep::End(Lifecycle::Broken),
        }
    }

    /// The current request: first its payload, then its operation.
    #[inline]
    fn proceed(&mut self, number: u32) -> InputStep {
        if !self.reserve(number) {
            return InputStep::Blocked;
        }
        let Some(connection) = self.connections.get_mut(number) else { return InputStep::End(Lifecycle::Broken) };
        let Connection { codec, current, inbox, long, session, .. } = connection;
        let Some(current) = current else { return InputStep::Continue };
        let required = current.end() - current.filled;
        if required > 0 {
            let here = inbox.bytes();
            let come = here.len().min(required as usize);
            if let Some(room) = current.room() {
                room[..come].copy_from_slice(&here[..come]);
            }
            inbox.used(come);
            current.filled += come as u32;
            if come < required as usize {
                return InputStep::Receive;
            }
        }
        if current.incoming.payload > 0 {
            *long = current.incoming.payload >= 2 * DIRECT_MIN;
        }
        let trailer = usize::from(std::mem::take(&mut current.incoming.trailer));
        if trailer > 0 {
            let Some(bytes) = inbox.bytes().get(..trailer) else {
                current.incoming.trailer = trailer as u8;
                return InputStep::Receive;
            };
            let payload = current.buffer.as_ref().map(|buffer| &buffer.content()[..current.incoming.payload as usize]);
            let services = payload.zip(codec.services_mut());
            if services.is_some_and(|(payload, services)| !services.verify(payload, bytes)) {
                return InputStep::End(Lifecycle::Broken);
            }
            inbox.used(trailer);
        }
        let (operation, is_part, is_in_parts) =
            (current.incoming.operation, current.is_part, current.is_stored_in_parts());
        if session.is_some_and(|session| self.is_locked(session.export, operation)) {
            return InputStep::Blocked;
        }
        match (is_part, is_in_parts) {
            (true, _) => self.perform_part(number),
            (false, true) => self.store_part(number),
            (false, false) => self.perform(number),
        }
    }

    /// Lends memory for the payload of the current request, or for its next part; `false` while it has to wait.
    #[inline]
    fn reserve(&mut self, number: u32) -> bool {
        let share = (self.limits.bytes / MEMORY_SHARE).clamp(MAX_WHOLE.into(), MAX_HELD);
        let Self { connections, volumes, pool, .. } = self;
        let Some(connection) = connections.get_mut(number) else { return false };
        let Connection { codec, current, session, buffered_bytes, tls, .. } = connection;
        let (Some(current), Some(session)) = (current, session) else { return true };
        if current.is_part || current.is_stored_in_parts() {
            return current.reserve_part(pool, buffered_bytes);
        }
        let payload = current.payload();
        if payload == 0 || current.buffer.is_some() || current.parts.is_some() {
            return true;
        }
        if !volumes.takes(session.export, u64::from(payload)) {
            return false;
        }
        // A client without memory gets some for a short payload, whatever other clients hold.
        let lent = match *buffered_bytes {
            buffered_bytes if payload > MAX_WHOLE || buffered_bytes + u64::from(payload) > share => None,
            0 => Some(pool.lend_anyway(payload)),
            _ => pool.lend(payload),
        };
        let Some(mut buffer) = lent else {
            current.parts = Some(WriteParts::default());
            return !current.is_stored_in_parts() || current.reserve_part(pool, buffered_bytes);
        };
        *buffered_bytes += buffer.size();
        // Encryption needs the bytes in memory of our own.
        let in_one_piece = match current.incoming.tag.division {
            Division::Pieces(piece) => payload <= piece && !codec.services().is_some_and(SessionServices::has_digests),
            Division::Chunks | Division::Undivided => true,
        };
        if current.incoming.payload == 0 && tls.is_none() && in_one_piece && volumes.reads_only_allocated() {
            buffer.allow_view();
        }
        current.buffer = Some(buffer);
        true
    }

    /// The current request is complete: begins its operation.
    #[inline]
    pub(super) fn perform(&mut self, number: u32) -> InputStep {
        let Some(connection) = self.connections.get_mut(number) else { return InputStep::End(Lifecycle::Broken) };
        let (Some(session), Some(current)) = (connection.session, connection.current.take()) else {
            return InputStep::Continue;
        };
        let tag = current.incoming.tag;
        match current.incoming.operation {
            Ok(Operation::Io(request) | Operation::Stored(request)) => {
                return self.accept(number, session, &request, current);
            }
            Ok(Operation::Combine { .. }) => return self.begin_combination(number, session, current),
            Ok(Operation::Disconnect) => return InputStep::End(Lifecycle::Draining),
            Ok(Operation::Extents { offset, length, one }) => {
                let extents = self.extents(session.export, offset, length, if one { 1 } else { EXTENTS_MAX });
                self.reply_now(number, &tag, &ReplyBody::Extents(&extents));
            }
            Ok(Operation::Seek { offset, allocated }) => {
                let position = seek(&self.volumes, session.export, offset, allocated);
                self.reply_now(number, &tag, &ReplyBody::Position(position));
            }
            Err(errno) => {
                self.reply_now(number, &tag, &ReplyBody::Failed(errno));
                self.counts.refused(session.row);
            }
        }
        InputStep::Continue
    }

    fn reply_now(&mut self, number: u32, tag: &Tag, body: &ReplyBody<'_>) {
        if let Some(connection) = self.connections.get_mut(number) {
            connection.reply(tag, body, None);
        }
        self.touch(number);
    }

    #[inline]
    fn accept(&mut self, number: u32, session: ClientExport, request: &Request, current: Current) -> InputStep {
        let Current { incoming, buffer, filled, parts, is_part } = current;
        let work = if parts.is_some() { ServedPart::Timing } else { ServedPart::Full };
        match self.hand_over(session, (ConnectedClient::Connection(number), incoming.tag, work), request, buffer) {
            Ok(()) => {
                if let Some(connection) = self.connections.get_mut(number) {
                    connection.in_flight += 1;
                    let turnaround = connection.unfollowed.came(self.now, connection.in_flight);
                    self.followed(session, turnaround);
                }
                InputStep::Continue
            }
            Err(refused) => match *refused {
                (Flight { buffer, .. }, NotAccepted::Full) => {
                    if let Some(connection) = self.connections.get_mut(number) {
                        connection.current = Some(Current { incoming, buffer, filled, parts, is_part });
                    }
                    InputStep::Blocked
                }
                (flight, NotAccepted::Failed(errno)) => {
                    self.refuse(number, flight, errno);
                    InputStep::Continue
                }
            },
        }
    }

    #[cold]
    fn refuse(&mut self, number: u32, flight: Flight, errno: Errno) {
        if let (Some(connection), Some(buffer)) = (self.connections.get_mut(number), flight.buffer) {
            connection.buffered_bytes -= buffer.size();
            self.pool.give_back(buffer);
        }
        self.reply_now(number, &flight.tag, &ReplyBody::Failed(errno));
        self.counts.refused(flight.row);
    }

    /// The client has chosen an export.
    fn open(&mut self, number: u32, export: Export) -> InputStep {
        let Some(connection) = self.connections.get_mut(number) else { return InputStep::End(Lifecycle::Broken) };
        connection.inbox.open();
        let path = connection.codec.services().map(SessionServices::path);
        connection.session = Some(ClientExport { export, path, row: self.counts.row(export) });
        let replaced =
            |other: &u32| *other != number && self.connections.get(*other).is_some_and(Connection::is_replaced);
        let replaced: Vec<u32> = self.connections.numbers().into_iter().filter(replaced).collect();
        if let Some(connection) = self.connections.get_mut(number) {
            self.notices.push(connection, ClientEvent::Connected(export));
            connection.follows = !replaced.is_empty();
        }
        for other in replaced {
            self.end(other, Lifecycle::Broken, EndReason::Replaced);
        }
        InputStep::Continue
    }

    /// Whether requests of connections that this one replaces are in flight: their changes have to precede its own.
    fn has_predecessors(&mut self, number: u32) -> bool {
        let has = self.connections.iter().any(|other| other.is_replaced() && other.in_flight > 0);
        if let Some(connection) = self.connections.get_mut(number) {
            connection.follows = has;
        }
        has
    }

    /// Receives more, into the current payload or into the inbox: from the kernel, or from decrypted data. `true`:
    /// bytes were added.
    #[inline]
    pub(super) fn receive(&mut self, number: u32) -> io::Result<bool> {
        let Some(connection) = self.connections.get_mut(number) else { return Ok(false) };
        let header_bytes = connection.codec.header_bytes();
        let Connection { current, inbox, long, direct, tls, .. } = &mut *connection;
        // A header is received alone before a long payload, which then goes into its buffer directly.
        let least = header_bytes.filter(|_| *long && current.is_none());
        let rest = current.as_mut().and_then(Current::room).filter(|room| room.len() >= DIRECT_MIN as usize);
        *direct = rest.is_some();
        let room = rest.unwrap_or_else(|| {
            let had = inbox.bytes().len();
            let room = inbox.room();
            let length = least.map_or(room.len(), |least| least.saturating_sub(had).max(1));
            &mut room[..length]
        });
        if let Some(secured) = tls {
            let opened = secured.channel.open(room);
            return self.opened(number, &opened);
        }
        let (at, length) = (room.as_mut_ptr(), room.len() as u32);
        connection.receiving = true;
        let flags = if connection.direct { libc::MSG_WAITALL } else { 0 };
        let entry = connection.receive_entry(at, length, flags);
        // SAFETY: the room is in the inbox of the connection or in the buffer of its current request. While `receiving`
        // is set neither is accessed, and the connection is kept; `Server::drop` leaks it.
        unsafe { self.ring.push(entry, Token::Received(number)) }?;
        Ok(false)
    }
}

/// The first byte from `offset` on that is allocated, or is in a hole. A hole follows the last allocated byte.
#[cold]
pub(super) fn seek(volumes: &Volumes, export: Export, mut offset: u64, allocated: bool) -> Option<u64> {
    let size = volumes.size(export);
    while offset < size {
        for extent in volumes.extents(export, offset, size - offset, SEEK_EXTENTS) {
            if extent.allocated == allocated {
                return Some(offset);
            }
            offset += extent.length.max(1);
        }
    }
    (!allocated).then_some(size)
}
