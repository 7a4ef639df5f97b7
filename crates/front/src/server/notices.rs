//! Notices of what happens to clients. The caller of the server takes and logs them: a slow log must not delay the loop.

use std::fmt;
use std::net::SocketAddr;

use plimsoll_volume::Export;

use super::Server;
use super::connection::Connection;
use crate::codec::Codec;

/// Maximum of notices that were not taken.
const MAX_NOTICES: usize = 256;

/// Notices since they were last taken.
#[derive(Debug, Default)]
pub struct ClientNotices {
    /// The first of them.
    pub notices: Vec<ClientNotice>,
    /// The number of further ones.
    pub dropped: u64,
}

/// What happened to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientNotice {
    /// `nbd` or `iscsi`.
    pub protocol: &'static str,
    /// Address of the client; `None` if it is not of the network.
    pub address: Option<SocketAddr>,
    /// True if the connection is encrypted.
    pub encrypted: bool,
    pub event: ClientEvent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEvent {
    /// The client has chosen an export.
    Connected(Export),
    /// A client with an export has gone.
    Disconnected(Export, EndReason),
    /// The client was refused, or left before it chose an export for another reason than its own wish.
    Refused(String),
}

/// The first reason for the end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    Client,
    /// The operating system reported the loss of the connection.
    Lost,
    /// The client violated the protocol, or its data were damaged.
    Violation,
    Tls,
    /// The client was too slow.
    Slow,
    /// A later session of the same client has replaced it.
    Replaced,
    /// A later client took its place, as there are no others.
    Crowded,
    /// The export or the server ended.
    Withdrawn,
}

impl fmt::Display for EndReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Client => "the client ended the connection",
            Self::Lost => "the connection was lost",
            Self::Violation => "the client violated the protocol, or its data were damaged",
            Self::Tls => "TLS failed: the client may not accept the certificate, or has none that the service accepts",
            Self::Slow => "the client did not send the rest of a message, or read a reply, in time",
            Self::Replaced => "a later session of the same initiator replaces it",
            Self::Crowded => "there are too many clients: the one that negotiated longest leaves",
            Self::Withdrawn => "the volume was withdrawn, or the service ends",
        })
    }
}

impl ClientNotices {
    pub(super) fn push(&mut self, connection: &Connection, event: ClientEvent) {
        if self.notices.len() == MAX_NOTICES {
            self.dropped += 1;
            return;
        }
        let (protocol, address) = (connection.codec.name(), connection.address);
        let encrypted = connection.tls.is_some();
        self.notices.push(ClientNotice { protocol, address, encrypted, event });
    }

    /// Notes a refusal by the codec, once.
    pub(super) fn push_refusal(&mut self, connection: &mut Connection) {
        if let Some(reason) = connection.codec.take_refusal() {
            connection.refused = true;
            self.push(connection, ClientEvent::Refused(reason));
        }
    }

    /// Notes that a connection has ended.
    pub(super) fn push_end(&mut self, connection: &Connection) {
        let reason = connection.end_reason.unwrap_or(EndReason::Lost);
        match connection.export() {
            Some(export) => self.push(connection, ClientEvent::Disconnected(export, reason)),
            None if connection.refused => {}
            // Clients that only list exports, and probes, come and go.
            None if matches!(reason, EndReason::Client | EndReason::Lost | EndReason::Withdrawn) => {}
            None => self.push(connection, ClientEvent::Refused(reason.to_string())),
        }
    }
}

impl Server {
    /// Takes the notices since the last call.
    pub fn take_client_notices(&mut self) -> ClientNotices {
        std::mem::take(&mut self.notices)
    }
}
