//! A connection that has chosen an export, without requests in flight.

use std::time::Duration;

use super::address::ExportAddress;
use super::socket::Socket;
use super::talk::{Chosen, Talk, TalkError, WireRequest};
use super::wire::{Style, command, hello};

/// Timeout of the handshake and of sending to a full socket.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A connection that has chosen an export, without requests in flight.
#[derive(Debug)]
pub struct Connection {
    /// `None` after a target has taken it over.
    socket: Option<Socket>,
    chosen: Chosen,
}

impl Connection {
    /// Connects to an export.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses.
    pub fn open(address: &ExportAddress) -> Result<Self, TalkError> {
        Self::choose(Talk::begin(address, TIMEOUT)?, &address.export)
    }

    /// Chooses an export of the server that `socket` is connected to.
    ///
    /// # Errors
    /// The server refuses, or violates the protocol.
    pub fn over(socket: Socket, export: &str) -> Result<Self, TalkError> {
        Self::choose(Talk::greet(socket, hello::FIXED_NEWSTYLE | hello::NO_ZEROES)?, export)
    }

    fn choose(mut talk: Talk, export: &str) -> Result<Self, TalkError> {
        let chosen = talk.choose(export, true)?;
        Ok(Self::at_rest(talk.into_socket(), chosen))
    }

    pub(super) const fn at_rest(socket: Socket, chosen: Chosen) -> Self {
        Self { socket: Some(socket), chosen }
    }

    pub(super) fn into_socket(mut self) -> Socket {
        self.socket.take().expect("it is taken once")
    }

    /// The description of the export by the server.
    pub const fn chosen(&self) -> &Chosen {
        &self.chosen
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(socket) = &mut self.socket {
            disconnect(socket);
        }
    }
}

/// Announces the disconnect, so that the server does not log a broken connection.
pub(super) fn disconnect(socket: &mut Socket) {
    let mut message = Vec::new();
    WireRequest { command: command::DISC, ..WireRequest::default() }.write(Style::Simple, &mut message);
    // The server may be gone already.
    let _ = socket.write(&message);
}
