//! From received bytes to requests: what a connection does with its input.

use std::io;
use std::os::fd::AsRawFd;

use io_uring::{opcode, types};
use plimsoll_volume::{Errno, NotTaken, Request, Ticket};

use super::connection::{Connection, Course, Current, Served, Stage};
use super::parts::WriteParts;
use super::ring::Token;
use super::{Client, Flight, Server};
use crate::nbd::{Ask, Handshake, Header, Session, Step, Terms, Voice};
use crate::service::Service;

/// The rest of a payload is received into its own buffer from this length on; less is copied.
const DIRECT_MIN: u32 = 32 << 10;

/// Bytes of replies that a client may leave unread before nothing more is taken in from it.
const UNREAD_MAX: usize = 4 << 20;

/// The part of all memory for payloads that one client gets at most.
const SHARE: u64 = 4;

/// Bytes of payloads that one client gets at most. What is beyond is moved in parts.
pub(super) const HELD_MAX: u64 = 8 << 20;

/// Bytes of a payload that is held whole; a longer one is moved in parts.
const WHOLE_MAX: u32 = 1 << 20;

/// Long reads that may wait for a client to take them.
const STREAMS_MAX: usize = 1024;

/// Extents of one answer at most.
const EXTENTS_MAX: usize = 4096;

/// What follows on a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Another step.
    Onward,
    /// More bytes have to come.
    Receive,
    /// Something has to be answered first.
    Blocked,
    /// No more is taken in.
    End(Course),
}

impl<S: Service + 'static> Server<S> {
    /// The kernel has received something for a connection, or its end.
    #[inline]
    pub(super) fn received(&mut self, number: u32, result: i32) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(number) else { return Ok(()) };
        connection.receiving = false;
        if connection.course != Course::On {
            self.touch(number);
            return Ok(());
        }
        connection.moved = self.now;
        match (result, connection.current.as_mut().filter(|_| connection.direct)) {
            (moved @ 1.., Some(current)) => current.filled += moved as u32,
            (moved @ 1.., None) => connection.received(moved as usize),
            (error, _) if error == -libc::EINTR || error == -libc::EAGAIN => {}
            (0, _) => {
                self.end(number, Course::Ending);
                return Ok(());
            }
            _ => {
                self.end(number, Course::Broken);
                return Ok(());
            }
        }
        self.take_in(number)
    }

    /// Takes in as many requests as are complete, and receives more.
    #[inline]
    pub(super) fn take_in(&mut self, number: u32) -> io::Result<()> {
        loop {
            let Some(connection) = self.connections.get_mut(number) else { return Ok(()) };
            if connection.course != Course::On || connection.receiving {
                return Ok(());
            }
            // A client that does not read is not served further; sending goes on when it does.
            let full = connection.unread() > UNREAD_MAX || connection.streams.len() >= STREAMS_MAX;
            let next = if full { Next::Blocked } else { self.step(number) };
            match next {
                Next::Onward => {}
                Next::Receive if self.receive(number)? => {}
                Next::Receive => return Ok(()),
                Next::Blocked => {
                    self.block(number);
                    return Ok(());
                }
                Next::End(course) => {
                    self.end(number, course);
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
    fn step(&mut self, number: u32) -> Next {
        let Some(connection) = self.connections.get_mut(number) else { return Next::End(Course::Broken) };
        let Stage::Open(served) = &connection.stage else { return self.greet(number) };
        let served = *served;
        if connection.current.is_some() {
            return self.proceed(number, &served);
        }
        match Header::parse(served.style, connection.inbox.bytes()) {
            Ok(None) => Next::Receive,
            Err(_) => Next::End(Course::Broken),
            Ok(Some(header)) => {
                connection.inbox.used(served.style.request_bytes());
                let size = self.service.size(served.export);
                let Served { style, allocation, access, blocks, .. } = served;
                let ask = header.ask(&Terms { style, allocation, size, access, blocks });
                connection.current = Some(Current { header, ask, buffer: None, filled: 0, parts: None });
                self.proceed(number, &served)
            }
        }
    }

    fn greet(&mut self, number: u32) -> Next {
        let Some(connection) = self.connections.get_mut(number) else { return Next::End(Course::Broken) };
        let Stage::Greeting(handshake) = &mut connection.stage else { return Next::Onward };
        for offer in &mut self.offers {
            offer.size = self.service.size(offer.export);
        }
        let mut fed = None;
        let (input, offers) = (connection.inbox.bytes(), &self.offers);
        connection.outbox.put(None, |out| fed = Some(handshake.feed(input, offers, out)));
        let fed = fed.expect("the outbox has called it");
        connection.inbox.used(fed.used);
        let next = match fed.step {
            Step::More => Next::Receive,
            Step::Begin(session) => self.open(number, session),
            Step::Secure => self.secure(number),
            Step::End => Next::End(Course::Ending),
        };
        self.touch(number);
        next
    }

    /// The current request: its payload first, then what it asks for.
    #[inline]
    fn proceed(&mut self, number: u32, served: &Served) -> Next {
        if !self.reserve(number, served) {
            return Next::Blocked;
        }
        let Some(connection) = self.connections.get_mut(number) else { return Next::End(Course::Broken) };
        let Connection { current, inbox, long, .. } = connection;
        let Some(current) = current else { return Next::Onward };
        let wanted = current.end() - current.filled;
        if wanted > 0 {
            let here = inbox.bytes();
            let come = here.len().min(wanted as usize);
            if let Some(room) = current.room() {
                room[..come].copy_from_slice(&here[..come]);
            }
            inbox.used(come);
            current.filled += come as u32;
            if come < wanted as usize {
                return Next::Receive;
            }
        }
        if current.header.payload > 0 {
            *long = current.header.payload >= 2 * DIRECT_MIN;
        }
        if current.is_stored_in_parts() { self.store_part(number, served) } else { self.fulfil(number, served) }
    }

    /// Lends memory for the payload of the current request, or for its next part; `false` while it has to wait.
    #[inline]
    fn reserve(&mut self, number: u32, served: &Served) -> bool {
        let share = (self.limits.bytes / SHARE).clamp(WHOLE_MAX.into(), HELD_MAX);
        let Self { connections, service, pool, .. } = self;
        let Some(connection) = connections.get_mut(number) else { return false };
        let Connection { current, held, tls, .. } = connection;
        let Some(current) = current else { return true };
        if current.is_stored_in_parts() {
            return current.reserve_part(pool, held);
        }
        let payload = current.payload();
        if payload == 0 || current.buffer.is_some() || current.parts.is_some() {
            return true;
        }
        if !service.takes(served.export, u64::from(payload)) {
            return false;
        }
        // Whoever holds no memory gets some for a short payload, whatever others hold.
        let lent = match *held {
            held if payload > WHOLE_MAX || held + u64::from(payload) > share => None,
            0 => Some(pool.lend_anyway(payload)),
            _ => pool.lend(payload),
        };
        let Some(mut buffer) = lent else {
            current.parts = Some(WriteParts::default());
            return !current.is_stored_in_parts() || current.reserve_part(pool, held);
        };
        *held += buffer.size();
        // What is encrypted has to be looked at here.
        if current.header.payload == 0 && tls.is_none() && service.reads_what_has_space() {
            buffer.allow_view();
        }
        current.buffer = Some(buffer);
        true
    }

    /// The current request is complete.
    #[inline]
    pub(super) fn fulfil(&mut self, number: u32, served: &Served) -> Next {
        let Some(connection) = self.connections.get_mut(number) else { return Next::End(Course::Broken) };
        let Some(current) = connection.current.take() else { return Next::Onward };
        let Header { cookie, offset, .. } = current.header;
        let division = current.header.division(served.style);
        let voice = Voice { style: served.style, cookie, offset, division };
        match current.ask {
            Ok(Ask::Io(request)) => return self.accept(number, served, voice, &request, current),
            Ok(Ask::Disconnect) => return Next::End(Course::Ending),
            Ok(Ask::Status { offset, length, one }) => {
                let most = if one { 1 } else { EXTENTS_MAX };
                let extents = self.extents(served.export, offset, length, most);
                let Some(connection) = self.connections.get_mut(number) else { return Next::Onward };
                connection.put(None, |out| voice.allocation(out, &extents));
            }
            Err(errno) => {
                connection.put(None, |out| voice.failed(out, errno));
                self.counts.refused(served.count);
            }
        }
        self.touch(number);
        Next::Onward
    }

    #[inline]
    fn accept(&mut self, number: u32, served: &Served, voice: Voice, request: &Request, current: Current) -> Next {
        let Current { header, ask, buffer, filled, parts } = current;
        let flight = Flight {
            client: Client::Nbd { connection: number, voice },
            count: served.count,
            command: request.command,
            length: request.length as u32,
            buffer,
            blank: false,
            came: self.now,
        };
        let ticket = self.flights.insert(flight);
        let taken = match parts {
            None => self.put(served.export, Ticket(ticket.into()), request),
            Some(_) => self.put_timing(served.export, Ticket(ticket.into()), request),
        };
        match taken {
            Ok(()) => {
                if let Some(connection) = self.connections.get_mut(number) {
                    connection.in_flight += 1;
                    let turnaround = connection.unfollowed.came(self.now, connection.in_flight);
                    self.followed(served.export, served.count, turnaround);
                }
                Next::Onward
            }
            Err(NotTaken::Full) => {
                let buffer = self.flights.remove(ticket).and_then(|flight| flight.buffer);
                if let Some(connection) = self.connections.get_mut(number) {
                    connection.current = Some(Current { header, ask, buffer, filled, parts });
                }
                Next::Blocked
            }
            Err(NotTaken::Failed(errno)) => {
                self.refuse(number, served, voice, ticket, errno);
                Next::Onward
            }
        }
    }

    #[cold]
    fn refuse(&mut self, number: u32, served: &Served, voice: Voice, ticket: u32, errno: Errno) {
        let buffer = self.flights.remove(ticket).and_then(|flight| flight.buffer);
        if let Some(connection) = self.connections.get_mut(number) {
            if let Some(buffer) = buffer {
                connection.held -= buffer.size();
                self.pool.give_back(buffer);
            }
            connection.put(None, |out| voice.failed(out, errno));
        }
        self.counts.refused(served.count);
        self.touch(number);
    }

    /// The client has chosen an export.
    fn open(&mut self, number: u32, session: Session) -> Next {
        let Session { export, style, allocation } = session;
        let offer = self.offers.iter().find(|offer| offer.export == export);
        let (Some(offer), Some(connection)) = (offer, self.connections.get_mut(number)) else {
            return Next::End(Course::Broken);
        };
        let (access, blocks, count) = (offer.access, offer.blocks, self.counts.row(export));
        connection.inbox.open();
        connection.stage = Stage::Open(Served { export, count, style, allocation, access, blocks });
        Next::Onward
    }

    /// Asks for more, into the payload that is being filled or into the inbox: the kernel, or what it has received in
    /// encrypted form. `true`: more is there.
    #[inline]
    fn receive(&mut self, number: u32) -> io::Result<bool> {
        let Some(connection) = self.connections.get_mut(number) else { return Ok(false) };
        let header_bytes = match &connection.stage {
            Stage::Open(served) => Some(served.style.request_bytes()),
            Stage::Greeting(_) => None,
        };
        let Connection { current, inbox, long, direct, tls, .. } = &mut *connection;
        // Before a long payload only its header is taken: the payload goes where it belongs at once.
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
        let descriptor = types::Fd(connection.input().as_raw_fd());
        let entry = if connection.socket {
            let flags = if connection.direct { libc::MSG_WAITALL } else { 0 };
            opcode::Recv::new(descriptor, at, length).flags(flags).build()
        } else {
            opcode::Read::new(descriptor, at, length).offset(u64::MAX).build()
        };
        // SAFETY: the room is in the inbox of the connection or in the buffer of its current request. While `receiving` is
        // set neither is touched, and the connection is kept; `Server::drop` leaks it.
        unsafe { self.ring.push(entry, Token::Received(number)) }?;
        Ok(false)
    }

    /// A new client is greeted.
    pub(super) fn welcome(&mut self, mut connection: Connection) -> io::Result<()> {
        let mut handshake = None;
        let tls = self.tls.state();
        connection.outbox.put(None, |out| handshake = Some(Handshake::new(tls, out)));
        connection.stage = Stage::Greeting(handshake.expect("the outbox has called it"));
        let number = self.connections.insert(connection);
        self.touch(number);
        self.receive(number).map(drop)
    }
}

impl Connection {
    /// The export that the client has chosen.
    pub(super) fn export(&self) -> Option<plimsoll_volume::Export> {
        match &self.stage {
            Stage::Open(served) => Some(served.export),
            Stage::Greeting(_) => None,
        }
    }
}
