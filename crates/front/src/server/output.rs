//! From answers to sent bytes, and the end of connections.

use std::io;

use plimsoll_volume::{Command, Reply, Then};

use super::Server;
use super::connection::{Lifecycle, ReadReply};
use super::flight::{ConnectedClient, Flight, ServedPart};
use super::notices::EndReason;
use super::parts::StreamedRead;
use super::ring::Token;
use crate::codec::ReplyBody;

impl Server {
    /// Processes the replies that are due.
    #[inline]
    pub(super) fn answer(&mut self) {
        let Some(at) = self.volumes.wake_at().filter(|at| *at <= self.now) else { return };
        let mut replies = std::mem::take(&mut self.replies);
        self.volumes.drain(self.now, &mut replies);
        let planned = replies.iter().filter(|reply| self.is_planned(reply)).count();
        self.waker.answered(self.now, at, planned);
        self.freed |= !replies.is_empty();
        for reply in replies.drain(..) {
            self.reply(&reply);
        }
        self.replies = replies;
    }

    /// True if a model determined the time of the reply; parts of a request leave when they are moved.
    #[inline]
    fn is_planned(&self, reply: &Reply) -> bool {
        let flight = self.flights.get(reply.ticket.0 as u32);
        flight.is_some_and(|flight| flight.work != ServedPart::Part)
    }

    #[inline]
    fn reply(&mut self, reply: &Reply) {
        let Some(flight) = self.flights.remove(reply.ticket.0 as u32) else { return };
        if flight.work == ServedPart::Part {
            return self.transferred(flight, reply.outcome);
        }
        self.counts.answered(flight.row, reply.lateness, self.now.since(flight.came));
        // A read in parts ends with its last part.
        let is_streamed = flight.command == Command::Read && flight.buffer.is_none() && !flight.is_hole;
        if reply.outcome.is_err() || !is_streamed {
            self.counts.ended(flight.row, flight.command, flight.length, reply.outcome);
        }
        match flight.client {
            ConnectedClient::Connection(number) => self.reply_to_connection(number, flight, reply),
            ConnectedClient::Mount(number) => self.reply_to_mount(number, flight, reply),
        }
    }

    #[inline]
    fn reply_to_connection(&mut self, number: u32, flight: Flight, reply: &Reply) {
        let Some(connection) = self.connections.get_mut(number) else { return };
        connection.in_flight -= 1;
        connection.unfollowed.answered(self.now);
        let body = flight.body(reply.outcome);
        if reply.then == Then::Tear {
            connection.lifecycle = Lifecycle::Broken;
        }
        if !connection.combining.is_empty()
            && let Some(combining) = connection.take_combining(&flight.tag)
        {
            return self.continue_combination(number, combining, flight.buffer, reply.outcome);
        }
        let Flight { tag, length, mut buffer, .. } = flight;
        if connection.lifecycle != Lifecycle::Broken && connection.awaits(&tag, &mut self.out) {
            match body {
                ReplyBody::Data(_) => match buffer.take() {
                    Some(buffer) => connection.reply_data(&tag, buffer, length),
                    None => connection.streams.push_back(StreamedRead::new(tag, length)),
                },
                _ => connection.reply(&tag, &body, None),
            }
        }
        if let Some(buffer) = buffer {
            connection.buffered_bytes -= buffer.size();
            self.pool.give_back(buffer);
        }
        self.touch(number);
    }

    /// Sends data of the touched connections, and closes those that have ended.
    #[inline]
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let mut touched = std::mem::take(&mut self.touched);
        for number in touched.drain(..) {
            self.send(number)?;
            self.want_part(number);
            self.close_when_done(number)?;
        }
        // This touches no connection; the list keeps its memory.
        if self.touched.is_empty() {
            self.touched = touched;
        }
        Ok(())
    }

    #[inline]
    fn send(&mut self, number: u32) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(number) else { return Ok(()) };
        connection.touched = false;
        let nothing = connection.outbox.bytes() == 0 && connection.tls.is_none();
        if nothing || connection.polling || connection.lifecycle == Lifecycle::Broken {
            return Ok(());
        }
        let before = connection.outbox.bytes();
        let mut outbox = std::mem::take(&mut connection.outbox);
        let pool = &mut self.pool;
        let mut returned = 0;
        let done = |answer: ReadReply| {
            if let Some(buffer) = answer.into_buffer() {
                returned += buffer.size();
                pool.give_back(buffer);
            }
        };
        let sent = match connection.tls.take() {
            None => outbox.send(connection.output(), connection.socket, done),
            Some(mut secured) => {
                let before = secured.channel.sent();
                let sent = secured.carry(&mut outbox, connection, done);
                if secured.channel.sent() > before {
                    connection.moved = self.now;
                }
                connection.tls = Some(secured);
                sent
            }
        };
        connection.buffered_bytes -= returned;
        connection.outbox = outbox;
        if connection.outbox.bytes() < before {
            // Encrypted data have left the outbox, but may not be sent yet.
            if connection.tls.is_none() {
                connection.moved = self.now;
            }
            self.freed = true;
        }
        match sent {
            Ok(true) => Ok(()),
            Ok(false) => {
                connection.polling = true;
                self.ring.poll(connection.output(), libc::POLLOUT, Token::Writable(number))
            }
            Err(_) => {
                connection.lifecycle = Lifecycle::Broken;
                Ok(())
            }
        }
    }

    /// Begins the end of a connection.
    pub(super) fn end(&mut self, number: u32, lifecycle: Lifecycle, reason: EndReason) {
        if let Some(connection) = self.connections.get_mut(number)
            && connection.lifecycle != Lifecycle::Broken
        {
            connection.lifecycle = lifecycle;
            connection.end_reason.get_or_insert(reason);
        }
        self.touch(number);
    }

    fn close_when_done(&mut self, number: u32) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(number) else { return Ok(()) };
        match connection.lifecycle {
            Lifecycle::Open => return Ok(()),
            Lifecycle::Draining if connection.has_unsent() || connection.in_flight > 0 => return Ok(()),
            Lifecycle::Draining => connection.lifecycle = Lifecycle::Broken,
            Lifecycle::Broken => {}
        }
        connection.streams.clear();
        for answer in connection.outbox.clear().chain(connection.later.clear()) {
            if let Some(buffer) = answer.into_buffer() {
                connection.buffered_bytes -= buffer.size();
                self.pool.give_back(buffer);
            }
        }
        let (receiving, polling) = (connection.receiving, connection.polling);
        if connection.socket {
            // All operations on the socket end at once.
            let _ = rustix::net::shutdown(connection.output(), rustix::net::Shutdown::Both);
        } else {
            if receiving {
                self.ring.cancel(Token::Received(number))?;
            }
            if polling {
                self.ring.cancel(Token::Writable(number))?;
            }
        }
        if receiving || polling || connection.in_flight > 0 {
            return Ok(());
        }
        let Some(connection) = self.connections.remove(number) else { return Ok(()) };
        self.notices.push_end(&connection);
        let has_export = connection.export().is_some();
        if let Some(buffer) = connection.current.and_then(|current| current.buffer) {
            self.pool.give_back(buffer);
        }
        self.blocked.retain(|blocked| *blocked != number);
        if has_export {
            self.volumes.flush_all(&mut self.jobs);
        }
        // A connection that replaces it may wait for this.
        self.freed = true;
        self.accept_clients()
    }
}
