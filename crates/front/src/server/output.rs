//! From answers to sent bytes, and the end of connections.

use std::io;

use plimsoll_volume::{Command, Reply, Then};

use super::connection::{Answer, Course};
use super::parts::Stream;
use super::ring::Token;
use super::{Client, Flight, Server};
use crate::service::Service;

impl<S: Service + 'static> Server<S> {
    /// Takes the replies that may leave.
    #[inline]
    pub(super) fn answer(&mut self) {
        let Some(at) = self.service.wake_at().filter(|at| *at <= self.now) else { return };
        let mut replies = std::mem::take(&mut self.replies);
        self.service.drain(self.now, &mut replies);
        let planned = replies.iter().filter(|reply| self.is_planned(reply)).count();
        self.waker.answered(self.now, at, planned);
        self.freed |= !replies.is_empty();
        for reply in replies.drain(..) {
            self.reply(&reply);
        }
        self.replies = replies;
    }

    /// True when the model set the moment of a reply; the parts of a request leave when they are moved.
    #[inline]
    fn is_planned(&self, reply: &Reply) -> bool {
        let flight = self.flights.get(reply.ticket.0 as u32);
        flight.is_some_and(|flight| !matches!(flight.client, Client::Part { .. }))
    }

    #[inline]
    fn reply(&mut self, reply: &Reply) {
        let Some(flight) = self.flights.remove(reply.ticket.0 as u32) else { return };
        if let Client::Part { connection, .. } = flight.client {
            return self.transferred(connection, flight, reply.outcome);
        }
        self.counts.answered(flight.count, reply.lateness, self.now.since(flight.came));
        // A read in parts ends with the last of them.
        let is_streamed = flight.command == Command::Read && flight.buffer.is_none() && !flight.blank;
        if reply.outcome.is_err() || !is_streamed {
            self.counts.ended(flight.count, flight.command, flight.length, reply.outcome);
        }
        let (number, voice) = match flight.client {
            Client::Nbd { connection, voice } | Client::Part { connection, voice } => (connection, voice),
            Client::Kernel { mount, unique } => return self.tell(mount, unique, flight, reply),
        };
        let Flight { command, length, mut buffer, blank, .. } = flight;
        let Some(connection) = self.connections.get_mut(number) else { return };
        connection.in_flight -= 1;
        connection.unfollowed.answered(self.now);
        if connection.course != Course::Broken {
            match (reply.outcome, command) {
                _ if reply.then == Then::Tear => connection.course = Course::Broken,
                (Err(errno), _) => connection.put(None, |out| voice.failed(out, errno)),
                (Ok(()), Command::Read) if blank => connection.put(None, |out| {
                    voice.hole(out, length);
                }),
                (Ok(()), Command::Read) => match buffer.take() {
                    Some(buffer) => connection.put(Some(Answer { buffer, length }), |out| voice.data(out, length)),
                    None => connection.streams.push_back(Stream::new(voice, length)),
                },
                (Ok(()), _) => connection.put(None, |out| voice.done(out)),
            }
        }
        if let Some(buffer) = buffer {
            connection.held -= buffer.size();
            self.pool.give_back(buffer);
        }
        self.touch(number);
    }

    /// Sends what the touched connections have to send, and ends those that are at their end.
    #[inline]
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let mut touched = std::mem::take(&mut self.touched);
        for number in touched.drain(..) {
            self.send(number)?;
            self.want_part(number);
            self.close_when_done(number)?;
        }
        // Nothing is touched by that; the list keeps its memory.
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
        if nothing || connection.polling || connection.course == Course::Broken {
            return Ok(());
        }
        let before = connection.outbox.bytes();
        let mut outbox = std::mem::take(&mut connection.outbox);
        let pool = &mut self.pool;
        let mut returned = 0;
        let done = |answer: Answer| {
            returned += answer.buffer.size();
            pool.give_back(answer.buffer);
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
        connection.held -= returned;
        connection.outbox = outbox;
        if connection.outbox.bytes() < before {
            // What is encrypted has left the outbox and not yet the machine.
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
                connection.course = Course::Broken;
                Ok(())
            }
        }
    }

    /// Begins the end of a connection.
    pub(super) fn end(&mut self, number: u32, course: Course) {
        if let Some(connection) = self.connections.get_mut(number)
            && connection.course != Course::Broken
        {
            connection.course = course;
        }
        self.touch(number);
    }

    fn close_when_done(&mut self, number: u32) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(number) else { return Ok(()) };
        match connection.course {
            Course::On => return Ok(()),
            Course::Ending if connection.has_unsent() || connection.in_flight > 0 => return Ok(()),
            Course::Ending => connection.course = Course::Broken,
            Course::Broken => {}
        }
        connection.streams.clear();
        for answer in connection.outbox.clear().chain(connection.later.clear()) {
            connection.held -= answer.buffer.size();
            self.pool.give_back(answer.buffer);
        }
        let (receiving, polling) = (connection.receiving, connection.polling);
        if connection.socket {
            // Whatever the kernel waits for on it comes back at once.
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
        if let Some(buffer) = connection.current.and_then(|current| current.buffer) {
            self.pool.give_back(buffer);
        }
        self.blocked.retain(|blocked| *blocked != number);
        self.open_doors()
    }
}
