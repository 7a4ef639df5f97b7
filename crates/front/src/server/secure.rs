//! Encrypted clients: how TLS begins, and what it does between the socket and a connection's inbox and outbox.
//!
//! All of it runs in the loop. What it costs (a signature for each client that comes, a pass over each payload) is time
//! of the loop, and shows as lateness.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::AsRawFd;

use io_uring::{opcode, types};
use plimsoll_device::nbd::Outgoing;
use plimsoll_device::nbd::tls::{Channel, Identity, Opened};
use plimsoll_units::{Instant, Span};

use super::Server;
use super::connection::{Answer, Connection, Course, Stage};
use super::input::Next;
use super::ring::Token;
use crate::nbd::Tls;
use crate::service::Service;

/// Whether clients encrypt.
#[derive(Clone, Debug, Default)]
pub enum TlsMode {
    /// Nobody can.
    #[default]
    Off,
    /// Who asks for it.
    Offered(Identity),
    /// Nothing is told and served before it.
    Required(Identity),
}

impl TlsMode {
    /// How a handshake begins.
    pub(super) const fn state(&self) -> Tls {
        match self {
            Self::Off => Tls::Off,
            Self::Offered(_) => Tls::Offered,
            Self::Required(_) => Tls::Required,
        }
    }
}

/// A connection's TLS, and when it began.
#[derive(Debug)]
pub(super) struct Secured {
    pub channel: Channel,
    since: Instant,
}

impl Secured {
    /// The client has not proved itself in time, however busy it is about it.
    pub(super) fn is_late(&self, now: Instant, patience: Span) -> bool {
        self.channel.is_beginning() && now.since(self.since) > patience
    }

    /// Sends what is encrypted and as much of `outbox` as the client reads, and takes leave when that was the last.
    pub(super) fn carry(
        &mut self,
        outbox: &mut Outgoing<Answer>,
        connection: &Connection,
        mut done: impl FnMut(Answer),
    ) -> io::Result<bool> {
        let (to, socket) = (connection.output(), connection.socket);
        let sent = self.channel.carry(outbox, to, socket, &mut done)?;
        let last = connection.course == Course::Ending && connection.in_flight == 0;
        if !sent || !last || self.channel.is_beginning() {
            return Ok(sent);
        }
        self.channel.close();
        self.channel.carry(outbox, to, socket, done)
    }
}

impl<S: Service + 'static> Server<S> {
    /// The client may begin TLS: what was answered so far leaves as it is.
    pub(super) fn secure(&mut self, number: u32) -> Next {
        let (Some(connection), TlsMode::Offered(identity) | TlsMode::Required(identity)) =
            (self.connections.get_mut(number), &self.tls)
        else {
            return Next::End(Course::Ending);
        };
        // It has to wait for the answer: what came with the question would be taken for its word after it has proved
        // who it is, and anybody on the way could have put it there.
        let early = !connection.inbox.bytes().is_empty();
        let channel = Channel::server(identity, connection.outbox.take_bytes());
        let (Stage::Greeting(handshake), Ok(channel), false) = (&mut connection.stage, channel, early) else {
            return Next::End(Course::Broken);
        };
        *handshake = handshake.clone().secured();
        connection.tls = Some(Box::new(Secured { channel, since: self.now }));
        Next::Receive
    }

    /// What was received in encrypted form gave this, into the current payload where the connection is `direct` and else
    /// into the inbox. `true`: there is more to understand; else more is received.
    pub(super) fn opened(&mut self, number: u32, opened: &io::Result<Opened>) -> io::Result<bool> {
        let Some(connection) = self.connections.get_mut(number) else { return Ok(false) };
        if connection.has_unsent() {
            self.touch(number);
        }
        let Some(connection) = self.connections.get_mut(number) else { return Ok(false) };
        match opened {
            Ok(Opened::Bytes(count)) => {
                match connection.current.as_mut().filter(|_| connection.direct) {
                    Some(current) => current.filled += *count as u32,
                    None => connection.inbox.received(*count),
                }
                return Ok(true);
            }
            Ok(Opened::Nothing) => self.receive_encrypted(number)?,
            Ok(Opened::End) => self.end(number, Course::Ending),
            Err(_) => {
                if let Some(mut secured) = connection.tls.take() {
                    // The client is told why, if that can be done at once.
                    let _ = secured.carry(&mut Outgoing::default(), connection, drop);
                    connection.tls = Some(secured);
                }
                self.end(number, Course::Broken);
            }
        }
        Ok(false)
    }

    fn receive_encrypted(&mut self, number: u32) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(number) else { return Ok(()) };
        let Some(secured) = &mut connection.tls else { return Ok(()) };
        let room = secured.channel.room();
        let (at, length) = (room.as_mut_ptr(), room.len() as u32);
        connection.receiving = true;
        connection.direct = false;
        let descriptor = types::Fd(connection.input().as_raw_fd());
        let entry = if connection.socket {
            opcode::Recv::new(descriptor, at, length).build()
        } else {
            opcode::Read::new(descriptor, at, length).offset(u64::MAX).build()
        };
        // SAFETY: the room is in the channel of the connection. While `receiving` is set it is not touched, and the
        // connection is kept; `Server::drop` leaks it.
        unsafe { self.ring.push(entry, Token::Received(number)) }
    }
}
