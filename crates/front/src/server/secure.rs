//! Encrypted clients: the beginning of TLS, and its place between the socket and the boxes of a connection.
//!
//! All of it runs in the loop. Its cost (a signature for each client, a pass over each payload) delays the loop and
//! shows as lateness.
#![allow(unsafe_code)]

use std::io;

use plimsoll_device::Outgoing;
use plimsoll_device::tls::{Channel, Identity, Opened};
use plimsoll_units::{Instant, Span};

use super::Server;
use super::connection::{Connection, Lifecycle, ReadReply};
use super::input::InputStep;
use super::notices::EndReason;
use super::ring::Token;
use crate::codec::{Codec, Tls};

/// Whether clients encrypt.
#[derive(Clone, Debug, Default)]
pub enum TlsMode {
    /// They cannot.
    #[default]
    Off,
    /// They may.
    Offered(Identity),
    /// They have to, before anything is listed or served.
    Required(Identity),
}

impl TlsMode {
    /// The initial state of a codec.
    pub(super) const fn state(&self) -> Tls {
        match self {
            Self::Off => Tls::Off,
            Self::Offered(_) => Tls::Offered,
            Self::Required(_) => Tls::Required,
        }
    }
}

/// The TLS of a connection, and its start time.
#[derive(Debug)]
pub(super) struct Secured {
    pub channel: Channel,
    since: Instant,
}

impl Secured {
    /// True if the TLS handshake takes too long, whatever the client sends.
    pub(super) fn is_late(&self, now: Instant, timeout: Span) -> bool {
        self.channel.is_beginning() && now.since(self.since) > timeout
    }

    /// Sends encrypted data and as much of `outbox` as the client reads; closes TLS after the last reply.
    pub(super) fn carry(
        &mut self,
        outbox: &mut Outgoing<ReadReply>,
        connection: &Connection,
        mut done: impl FnMut(ReadReply),
    ) -> io::Result<bool> {
        let (to, socket) = (connection.output(), connection.socket);
        let sent = self.channel.carry(outbox, to, socket, &mut done)?;
        let last = connection.lifecycle == Lifecycle::Draining && connection.in_flight == 0;
        if !sent || !last || self.channel.is_beginning() {
            return Ok(sent);
        }
        self.channel.close();
        self.channel.carry(outbox, to, socket, done)
    }
}

impl Server {
    /// The client begins TLS: earlier replies are sent unencrypted.
    pub(super) fn secure(&mut self, number: u32) -> InputStep {
        let (Some(connection), TlsMode::Offered(identity) | TlsMode::Required(identity)) =
            (self.connections.get_mut(number), &self.tls)
        else {
            return InputStep::End(Lifecycle::Draining);
        };
        // Bytes received before the reply would count as encrypted ones after the handshake, although anybody on the
        // path could have injected them.
        let early = !connection.inbox.bytes().is_empty();
        let channel = Channel::server(identity, connection.outbox.take_bytes());
        let (Ok(channel), false) = (channel, early) else {
            return InputStep::End(Lifecycle::Broken);
        };
        connection.codec.start_tls();
        connection.tls = Some(Box::new(Secured { channel, since: self.now }));
        InputStep::Receive
    }

    /// Received data were decrypted, into the current payload if the connection is `direct` and else into the inbox.
    /// `true`: bytes were added; else more is received.
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
            Ok(Opened::End) => self.end(number, Lifecycle::Draining, EndReason::Client),
            Err(_) => {
                if let Some(mut secured) = connection.tls.take() {
                    // Best effort: the client gets an alert.
                    let _ = secured.carry(&mut Outgoing::default(), connection, drop);
                    connection.tls = Some(secured);
                }
                self.end(number, Lifecycle::Broken, EndReason::Tls);
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
        let entry = connection.receive_entry(at, length, 0);
        // SAFETY: the room is in the channel of the connection. While `receiving` is set it is not accessed, and the
        // connection is kept; `Server::drop` leaks it.
        unsafe { self.ring.push(entry, Token::Received(number)) }
    }
}
