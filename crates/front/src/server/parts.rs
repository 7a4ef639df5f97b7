//! Requests with long payloads: moved between client and files in parts, so that a connection needs memory for one or
//! two parts, however long its requests and however slow its client.
//!
//! The model sees one request. The parts of a write are stored before that; those of a read are fetched after the model
//! has answered, as fast as the client reads them. A part that is fetched later contains later writes, which protocols
//! allow. Each part goes through the map of its volume, so it never contains bytes of another volume.

use plimsoll_volume::{Command, Errno, NotAccepted, Request};

use super::Server;
use super::connection::{Connection, Lifecycle, ReadReply};
use super::flight::{ClientExport, ConnectedClient, Flight, ServedPart};
use super::input::InputStep;
use crate::codec::{Codec, Division, Operation, ReadPart, ReplyBody, SessionServices, Tag};
use crate::pool::Buffer;

/// Bytes of a part.
pub(super) const PART_BYTES: u32 = 512 << 10;

/// A read that the model has answered, with parts that are not fetched.
#[derive(Debug)]
pub(super) struct StreamedRead {
    tag: Tag,
    length: u32,
    /// Bytes that are not in the outbox yet.
    left: u32,
}

#[derive(Debug, Default)]
pub(super) struct WriteParts {
    /// Start of the present part within the payload.
    pub start: u32,
    /// A part, or the flush after the last part, is in progress.
    pub storing: bool,
    /// The flush of a write with FUA has begun.
    flushed: bool,
    /// A part of a request was handed to its volume.
    begun: bool,
}

impl StreamedRead {
    pub(super) const fn new(tag: Tag, length: u32) -> Self {
        Self { tag, length, left: length }
    }

    /// True if its reply has begun and must not be divided.
    pub(super) fn is_within_reply(&self) -> bool {
        self.tag.division == Division::Undivided && self.left < self.length
    }

    fn next(&self) -> ReadPart {
        let max = match self.tag.division {
            Division::Pieces(piece) => piece.min(PART_BYTES),
            Division::Chunks | Division::Undivided => PART_BYTES,
        };
        let length = self.left.min(max);
        ReadPart { offset: self.tag.offset + u64::from(self.length - self.left), length, rest: self.left - length }
    }
}

impl Server {
    /// Queues a connection that may fetch the next part of a read.
    #[inline]
    pub(super) fn want_part(&mut self, number: u32) {
        if let Some(connection) = self.connections.get_mut(number)
            && !connection.streams.is_empty()
            && !connection.fetching
            && connection.lifecycle != Lifecycle::Broken
            && connection.outbox.bytes() < PART_BYTES as usize
        {
            connection.fetching = true;
            self.streaming.push(number);
        }
    }

    /// Fetches one part for each queued connection.
    pub(super) fn fetch_parts(&mut self) {
        for number in std::mem::take(&mut self.streaming) {
            self.fetch_part(number);
        }
    }

    fn fetch_part(&mut self, number: u32) {
        let Some(connection) = self.connections.get_mut(number) else { return };
        let (Some(session), Some(stream)) = (connection.session, connection.streams.front()) else { return };
        if connection.lifecycle == Lifecycle::Broken {
            return;
        }
        let (tag, part) = (stream.tag, stream.next());
        let mut buffer = self.pool.lend_anyway(part.length);
        connection.buffered_bytes += buffer.size();
        let has_digests = connection.codec.services().is_some_and(SessionServices::has_digests);
        if connection.tls.is_none() && !has_digests && self.volumes.reads_only_allocated() {
            buffer.allow_view();
        }
        let length = u64::from(part.length);
        let request = Request { command: Command::Read, offset: part.offset, length, fua: false };
        self.transfer(number, session, tag, &request, Some(buffer));
    }

    /// The current request is a write in parts, and its present part is complete.
    pub(super) fn store_part(&mut self, number: u32) -> InputStep {
        let Some(connection) = self.connections.get_mut(number) else { return InputStep::End(Lifecycle::Broken) };
        let (Some(session), Some(current)) = (connection.session, &mut connection.current) else {
            return InputStep::Continue;
        };
        let (Ok(Operation::Io(request)), Some(parts)) = (current.incoming.operation, &mut current.parts) else {
            return InputStep::Continue;
        };
        let buffer = current.buffer.take();
        let part = match buffer {
            Some(_) => {
                let (offset, length) = (request.offset + u64::from(parts.start), current.filled - parts.start);
                Request { command: Command::Write, offset, length: length.into(), fua: false }
            }
            None if request.fua && !parts.flushed => {
                parts.flushed = true;
                Request { command: Command::Flush, offset: 0, length: 0, fua: false }
            }
            None => return self.perform(number),
        };
        parts.storing = true;
        let tag = current.incoming.tag;
        self.transfer(number, session, tag, &part, buffer);
        InputStep::Continue
    }

    /// The current message is a part of a request, and its payload is complete.
    pub(super) fn perform_part(&mut self, number: u32) -> InputStep {
        let Some(connection) = self.connections.get_mut(number) else { return InputStep::End(Lifecycle::Broken) };
        let (Some(session), Some(current)) = (connection.session, &mut connection.current) else {
            return InputStep::Continue;
        };
        let tag = current.incoming.tag;
        match (current.incoming.operation, &mut current.parts) {
            (Ok(Operation::Io(request)), Some(parts)) if !parts.begun => {
                (parts.begun, parts.storing) = (true, true);
                let buffer = current.buffer.take();
                self.transfer(number, session, tag, &request, buffer);
            }
            (operation, _) => {
                connection.current = None;
                if let Some(services) = connection.codec.services_mut() {
                    services.part_done(&tag, operation.map(drop));
                }
            }
        }
        InputStep::Continue
    }

    /// Begins the real work of a part.
    pub(super) fn transfer(
        &mut self,
        number: u32,
        session: ClientExport,
        tag: Tag,
        part: &Request,
        buffer: Option<Buffer>,
    ) {
        if let Some(connection) = self.connections.get_mut(number) {
            connection.in_flight += 1;
        }
        let accepted =
            self.hand_over(session, (ConnectedClient::Connection(number), tag, ServedPart::Part), part, buffer);
        if let Err(refused) = accepted {
            let (flight, reason) = *refused;
            let errno = match reason {
                NotAccepted::Full => Errno::Io,
                NotAccepted::Failed(errno) => errno,
            };
            self.transferred(flight, Err(errno));
        }
    }

    /// The real work of a part has ended.
    pub(super) fn transferred(&mut self, flight: Flight, outcome: Result<(), Errno>) {
        let ConnectedClient::Connection(number) = flight.client else { return };
        let Some(connection) = self.connections.get_mut(number) else { return };
        connection.in_flight -= 1;
        if !connection.combining.is_empty()
            && let Some(combining) = connection.take_combining(&flight.tag)
        {
            return self.continue_combination(number, combining, flight.buffer, outcome);
        }
        let unused = if flight.command == Command::Read {
            let (row, length) = (flight.row, connection.streams.front().map_or(0, |stream| stream.length));
            let (unused, ended) = connection.fetched(flight, outcome, &mut self.out);
            if let Some(outcome) = ended {
                self.counts.ended(row, Command::Read, length, outcome);
            }
            unused
        } else {
            connection.stored(outcome);
            flight.buffer
        };
        if let Some(buffer) = unused {
            connection.buffered_bytes -= buffer.size();
            self.pool.give_back(buffer);
        }
        self.touch(number);
    }
}

impl Connection {
    /// A part of the first stream was read, or failed. Returns unused memory, and the outcome of the whole read after
    /// its last part.
    fn fetched(
        &mut self,
        flight: Flight,
        outcome: Result<(), Errno>,
        out: &mut Vec<u8>,
    ) -> (Option<Buffer>, Option<Result<(), Errno>>) {
        self.fetching = false;
        let Flight { tag, buffer, is_hole, .. } = flight;
        if self.lifecycle != Lifecycle::Broken && !self.awaits(&tag, out) {
            self.streams.pop_front();
            return (buffer, None);
        }
        let Some(stream) = self.streams.front_mut().filter(|_| self.lifecycle != Lifecycle::Broken) else {
            return (buffer, None);
        };
        let part = stream.next();
        if let Err(errno) = outcome {
            let within_reply = stream.is_within_reply();
            self.streams.pop_front();
            if within_reply {
                // No error can follow the header of an undivided reply: the connection ends.
                self.lifecycle = Lifecycle::Broken;
            } else {
                self.reply(&tag, &ReplyBody::Failed(errno), None);
            }
            return (buffer, Some(outcome));
        }
        let (is_first, length) = (stream.left == stream.length, stream.length);
        stream.left = part.rest;
        if matches!(tag.division, Division::Pieces(_))
            && let Some(buffer) = buffer
        {
            // Only the last piece can reach beyond the limit.
            let sent = if part.rest == 0 { part.length - length.saturating_sub(tag.limit) } else { part.length };
            self.reply_piece(&tag, ReadPart { length: sent, ..part }, ReadReply::new(buffer, sent));
            if part.rest == 0 {
                self.streams.pop_front();
            }
            return (None, (part.rest == 0).then_some(Ok(())));
        }
        let (payload, unused) = if is_hole { (None, buffer) } else { (buffer, None) };
        let payload = payload.map(|buffer| ReadReply::new(buffer, part.length));
        let body = match tag.division {
            Division::Chunks if is_hole => Some(ReplyBody::HolePart(part)),
            Division::Chunks => Some(ReplyBody::DataPart(part)),
            Division::Undivided | Division::Pieces(_) => is_first.then_some(ReplyBody::Data(length)),
        };
        let Self { codec, outbox, .. } = self;
        outbox.put(payload, |out| {
            if let Some(body) = &body {
                codec.reply(&tag, body, out);
            }
        });
        if part.rest == 0 {
            self.streams.pop_front();
            self.outbox.append(&mut self.later);
        }
        (unused, (part.rest == 0).then_some(Ok(())))
    }

    /// A part of the current write was stored, or failed.
    fn stored(&mut self, outcome: Result<(), Errno>) {
        let Some(current) = &mut self.current else { return };
        if let Some(parts) = &mut current.parts {
            parts.storing = false;
        }
        if let Err(errno) = outcome {
            current.incoming.operation = Err(errno);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use plimsoll_units::Instant;

    use super::*;
    use crate::protocol::Protocol;

    /// The state of a connection when the second part of a read cannot be fetched, and the bytes behind the first part.
    fn check(codec: Protocol, division: Division, lifecycle: Lifecycle, behind: usize) {
        let socket = UnixStream::pair().unwrap().0.into();
        let mut connection = Connection::new(socket, None, true, codec, Instant::ZERO);
        let tag = Tag { id: 1, offset: 0, division, holes: false, limit: u32::MAX };
        let mut pool = crate::pool::Pool::new(1 << 30);
        let mut part = || Flight {
            client: ConnectedClient::Connection(0),
            tag,
            work: ServedPart::Part,
            row: 0,
            command: Command::Read,
            length: PART_BYTES,
            buffer: Some(pool.lend_anyway(PART_BYTES)),
            is_hole: false,
            came: Instant::ZERO,
        };
        connection.streams.push_back(StreamedRead::new(tag, 4 * PART_BYTES));
        assert!(matches!(connection.fetched(part(), Ok(()), &mut Vec::new()), (None, None)));
        let before = connection.outbox.bytes();
        let (buffer, ended) = connection.fetched(part(), Err(Errno::Io), &mut Vec::new());
        assert_eq!((buffer.is_some(), ended), (true, Some(Err(Errno::Io))), "memory is returned, the read has failed");
        assert_eq!((connection.lifecycle, connection.outbox.bytes() - before), (lifecycle, behind), "{division:?}");
        assert!(connection.streams.is_empty());
    }

    #[test]
    fn failed_part_of_a_read_is_an_error_chunk_or_ends_the_connection() {
        let error = 20 + 6 + Errno::Io.to_string().len();
        let [_, structured, extended] = Protocol::negotiated();
        check(structured, Division::Chunks, Lifecycle::Open, error);
        check(extended, Division::Chunks, Lifecycle::Open, error + 12);
        let [simple, structured, _] = Protocol::negotiated();
        check(structured, Division::Undivided, Lifecycle::Broken, 0);
        check(simple, Division::Undivided, Lifecycle::Broken, 0);
    }
}
