//! Requests with long payloads: moved between the client and the files in parts, so that a connection needs memory for a
//! part or two, however long its requests are and however slowly its client reads.
//!
//! The model sees one request. The parts of a write are stored before it does; those of a read are fetched after the model
//! has answered, when the client takes them. A part that is fetched later shows later writes, as NBD allows it; each part
//! goes through the map of its volume, so that none shows the bytes of another one.

use plimsoll_volume::{Command, Errno, NotTaken, Request, Ticket};

use super::connection::{Answer, Course, Served, Stage};
use super::input::Next;
use super::{Client, Flight, Server};
use crate::nbd::{Ask, Division, Part, Voice};
use crate::pool::Buffer;
use crate::service::Service;

/// Bytes of a part.
pub(super) const PART_BYTES: u32 = 512 << 10;

/// A read that the model has answered, and whose bytes were not all fetched.
#[derive(Debug)]
pub(super) struct Stream {
    voice: Voice,
    length: u32,
    /// Bytes that were not put into the outbox.
    left: u32,
}

/// How far a write is whose payload is stored in parts.
#[derive(Debug, Default)]
pub(super) struct WriteParts {
    /// The byte of the payload that the present part begins with.
    pub start: u32,
    /// A part, or the flush behind the last one, is under way.
    pub storing: bool,
    /// The flush of a write with FUA was begun.
    flushed: bool,
}

impl Stream {
    pub(super) const fn new(voice: Voice, length: u32) -> Self {
        Self { voice, length, left: length }
    }

    /// Its reply has begun and must not be divided.
    pub(super) fn is_within_reply(&self) -> bool {
        self.voice.division == Division::Undivided && self.left < self.length
    }

    fn next(&self) -> Part {
        let length = self.left.min(PART_BYTES);
        Part { offset: self.voice.offset + u64::from(self.length - self.left), length, rest: self.left - length }
    }
}

impl<S: Service + 'static> Server<S> {
    /// Notes that a connection may fetch the next part of a read.
    #[inline]
    pub(super) fn want_part(&mut self, number: u32) {
        if let Some(connection) = self.connections.get_mut(number)
            && !connection.streams.is_empty()
            && !connection.fetching
            && connection.course != Course::Broken
            && connection.outbox.bytes() < PART_BYTES as usize
        {
            connection.fetching = true;
            self.streaming.push(number);
        }
    }

    /// Fetches one part for each connection that wants one.
    pub(super) fn fetch_parts(&mut self) {
        for number in std::mem::take(&mut self.streaming) {
            self.fetch_part(number);
        }
    }

    fn fetch_part(&mut self, number: u32) {
        let Some(connection) = self.connections.get_mut(number) else { return };
        let (Stage::Open(served), Some(stream)) = (&connection.stage, connection.streams.front()) else { return };
        if connection.course == Course::Broken {
            return;
        }
        let (served, voice, part) = (*served, stream.voice, stream.next());
        let mut buffer = self.pool.lend_anyway(part.length);
        connection.held += buffer.size();
        if connection.tls.is_none() && self.service.reads_what_has_space() {
            buffer.allow_view();
        }
        let length = u64::from(part.length);
        let request = Request { command: Command::Read, offset: part.offset, length, fua: false };
        self.transfer(number, &served, voice, &request, Some(buffer));
    }

    /// The current request is a write in parts, and what there is to be of its present part has come.
    pub(super) fn store_part(&mut self, number: u32, served: &Served) -> Next {
        let Some(connection) = self.connections.get_mut(number) else { return Next::End(Course::Broken) };
        let Some(current) = &mut connection.current else { return Next::Onward };
        let (Ok(Ask::Io(request)), Some(parts)) = (current.ask, &mut current.parts) else { return Next::Onward };
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
            None => return self.fulfil(number, served),
        };
        parts.storing = true;
        let cookie = current.header.cookie;
        let voice = Voice { style: served.style, cookie, offset: request.offset, division: Division::Undivided };
        self.transfer(number, served, voice, &part, buffer);
        Next::Onward
    }

    /// Begins the real work of a part.
    fn transfer(&mut self, number: u32, served: &Served, voice: Voice, part: &Request, buffer: Option<Buffer>) {
        if let Some(connection) = self.connections.get_mut(number) {
            connection.in_flight += 1;
        }
        let flight = Flight {
            client: Client::Part { connection: number, voice },
            count: served.count,
            command: part.command,
            length: part.length as u32,
            buffer,
            blank: false,
            came: self.now,
        };
        let ticket = self.flights.insert(flight);
        let taken = self.service.transfer(self.now, served.export, Ticket(ticket.into()), part, &mut self.jobs);
        let Err(refused) = taken else { return };
        let errno = match refused {
            NotTaken::Full => Errno::Io,
            NotTaken::Failed(errno) => errno,
        };
        if let Some(flight) = self.flights.remove(ticket) {
            self.transferred(number, flight, Err(errno));
        }
    }

    /// The real work of a part has ended.
    pub(super) fn transferred(&mut self, number: u32, flight: Flight, outcome: Result<(), Errno>) {
        let Some(connection) = self.connections.get_mut(number) else { return };
        connection.in_flight -= 1;
        let unused = if flight.command == Command::Read {
            let (count, length) = (flight.count, connection.streams.front().map_or(0, |stream| stream.length));
            let (unused, ended) = connection.fetched(flight, outcome);
            if let Some(outcome) = ended {
                self.counts.ended(count, Command::Read, length, outcome);
            }
            unused
        } else {
            connection.stored(outcome);
            flight.buffer
        };
        if let Some(buffer) = unused {
            connection.held -= buffer.size();
            self.pool.give_back(buffer);
        }
        self.touch(number);
    }
}

impl super::connection::Connection {
    /// A part of the first stream was read, or could not be. Returns memory that is not needed, and the outcome of the
    /// whole read if that was its last part.
    fn fetched(&mut self, flight: Flight, outcome: Result<(), Errno>) -> (Option<Buffer>, Option<Result<(), Errno>>) {
        self.fetching = false;
        let Flight { buffer, blank, .. } = flight;
        let Some(stream) = self.streams.front_mut().filter(|_| self.course != Course::Broken) else {
            return (buffer, None);
        };
        let (voice, part) = (stream.voice, stream.next());
        if let Err(errno) = outcome {
            let within_reply = stream.is_within_reply();
            self.streams.pop_front();
            if within_reply {
                // No error can follow the header of an undivided reply: the connection ends.
                self.course = Course::Broken;
            } else {
                self.put(None, |out| voice.failed(out, errno));
            }
            return (buffer, Some(outcome));
        }
        let (is_first, length) = (stream.left == stream.length, stream.length);
        stream.left = part.rest;
        let (answer, unused) = if blank { (None, buffer) } else { (buffer, None) };
        let answer = answer.map(|buffer| Answer { buffer, length: part.length });
        self.outbox.put(answer, |out| match voice.division {
            Division::Chunks if blank => voice.hole_part(out, part),
            Division::Chunks => voice.data_part(out, part),
            Division::Undivided if is_first => voice.data(out, length),
            Division::Undivided => {}
        });
        if part.rest == 0 {
            self.streams.pop_front();
            self.outbox.append(&mut self.later);
        }
        (unused, (part.rest == 0).then_some(Ok(())))
    }

    /// A part of the current write is stored, or is not.
    fn stored(&mut self, outcome: Result<(), Errno>) {
        let Some(current) = &mut self.current else { return };
        if let Some(parts) = &mut current.parts {
            parts.storing = false;
        }
        if let Err(errno) = outcome {
            current.ask = Err(errno);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use plimsoll_device::nbd::wire::Style;
    use plimsoll_units::Instant;

    use super::super::connection::Connection;
    use super::*;
    use crate::nbd::{Handshake, Tls};

    const READ: Command = Command::Read;

    /// What becomes of a connection when the second part of a read cannot be fetched, and the bytes behind the first part.
    fn check(style: Style, division: Division, course: Course, behind: usize) {
        let stage = Stage::Greeting(Handshake::new(Tls::Off, &mut Vec::new()));
        let socket = UnixStream::pair().unwrap().0.into();
        let mut connection = Connection::new(socket, None, true, stage, Instant::ZERO);
        let voice = Voice { style, cookie: 1, offset: 0, division };
        let mut pool = crate::pool::Pool::new(1 << 30);
        let mut part = || {
            let client = Client::Part { connection: 0, voice };
            let buffer = Some(pool.lend_anyway(PART_BYTES));
            Flight { client, count: 0, command: READ, length: PART_BYTES, buffer, blank: false, came: Instant::ZERO }
        };
        connection.streams.push_back(Stream::new(voice, 4 * PART_BYTES));
        assert!(matches!(connection.fetched(part(), Ok(())), (None, None)));
        let before = connection.outbox.bytes();
        let (buffer, ended) = connection.fetched(part(), Err(Errno::Io));
        assert_eq!((buffer.is_some(), ended), (true, Some(Err(Errno::Io))), "memory is returned, the read has failed");
        assert_eq!((connection.course, connection.outbox.bytes() - before), (course, behind), "{style:?} {division:?}");
        assert!(connection.streams.is_empty());
    }

    #[test]
    fn an_error_amid_a_read_is_a_chunk_or_the_end() {
        let error = 20 + 6 + Errno::Io.to_string().len();
        check(Style::Structured, Division::Chunks, Course::On, error);
        check(Style::Extended, Division::Chunks, Course::On, error + 12);
        check(Style::Structured, Division::Undivided, Course::Broken, 0);
        check(Style::Simple, Division::Undivided, Course::Broken, 0);
    }
}
