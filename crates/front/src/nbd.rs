//! NBD server as a pure codec: bytes to requests, replies to bytes.
//!
//! Constants are those of [`plimsoll_device::nbd::wire`].

mod handshake;
mod meta;
mod reply;
mod request;

use plimsoll_device::nbd::wire::Style;
use plimsoll_volume::Errno;

use self::reply::ReplyWriter;
use crate::codec::{Codec, Decoded, Exports, Incoming, Message, ReplyBody, Tag};

pub use crate::codec::Tls;
pub use handshake::{Fed, Handshake, HandshakeStep, Negotiated};
pub use request::{Header, InvalidHeader, PAYLOAD_MAX, Terms};

/// The codec of one client: its handshake, then its requests.
#[derive(Debug)]
pub struct NbdCodec(ConnectionPhase);

#[derive(Debug)]
enum ConnectionPhase {
    Handshake(Handshake),
    Transmission(Terms),
}

impl NbdCodec {
    /// Begins with the greeting, which is appended to `out`.
    pub fn new(tls: Tls, out: &mut Vec<u8>) -> Self {
        Self(ConnectionPhase::Handshake(Handshake::new(tls, out)))
    }

    /// For a client that has negotiated `terms`.
    pub const fn transmission(terms: Terms) -> Self {
        Self(ConnectionPhase::Transmission(terms))
    }
}

impl Codec for NbdCodec {
    #[inline]
    fn feed(&mut self, input: &[u8], exports: &Exports<'_>, out: &mut Vec<u8>) -> Decoded {
        match &mut self.0 {
            ConnectionPhase::Transmission(terms) => {
                terms.size = exports.size;
                request(terms, input)
            }
            ConnectionPhase::Handshake(handshake) => {
                let Fed { used, step } = handshake.feed(input, exports.offers, out);
                let message = match step {
                    HandshakeStep::More => Message::Incomplete,
                    HandshakeStep::Secure => Message::StartTls,
                    HandshakeStep::End => Message::End,
                    HandshakeStep::Begin(session) => self.begin(session, exports),
                };
                Decoded { used, message }
            }
        }
    }

    #[inline]
    fn reply(&mut self, tag: &Tag, body: &ReplyBody<'_>, out: &mut Vec<u8>) {
        let style = match &self.0 {
            ConnectionPhase::Transmission(terms) => terms.style,
            ConnectionPhase::Handshake(_) => Style::Simple,
        };
        let writer = ReplyWriter { style, cookie: tag.id, offset: tag.offset };
        match *body {
            ReplyBody::Done | ReplyBody::Written(_) | ReplyBody::Position(_) => writer.done(out),
            ReplyBody::Data(length) => writer.data(out, length),
            ReplyBody::DataPart(part) => writer.data_part(out, part),
            ReplyBody::HolePart(part) => writer.hole_part(out, part),
            ReplyBody::Extents(extents) => writer.allocation(out, extents),
            // No request of the codec compares.
            ReplyBody::Mismatch(_) => writer.failed(out, Errno::Inval),
            ReplyBody::Failed(errno) => writer.failed(out, errno),
        }
    }

    #[inline]
    fn header_bytes(&self) -> Option<usize> {
        match &self.0 {
            ConnectionPhase::Transmission(terms) => Some(terms.style.request_bytes()),
            ConnectionPhase::Handshake(_) => None,
        }
    }

    fn take_refusal(&mut self) -> Option<String> {
        match &mut self.0 {
            ConnectionPhase::Handshake(handshake) => handshake.take_refusal(),
            ConnectionPhase::Transmission(_) => None,
        }
    }

    fn start_tls(&mut self) {
        if let ConnectionPhase::Handshake(handshake) = &mut self.0 {
            *handshake = handshake.clone().secured();
        }
    }
}

impl NbdCodec {
    fn begin(&mut self, session: Negotiated, exports: &Exports<'_>) -> Message {
        let Negotiated { export, style, allocation } = session;
        let Some(offer) = exports.offers.iter().find(|offer| offer.export == export) else { return Message::Invalid };
        let (access, blocks) = (offer.access, offer.blocks);
        self.0 = ConnectionPhase::Transmission(Terms { style, allocation, size: offer.size, access, blocks });
        Message::Opened(export)
    }
}

#[inline]
fn request(terms: &Terms, input: &[u8]) -> Decoded {
    let message = match Header::parse(terms.style, input) {
        Ok(None) => return Decoded { used: 0, message: Message::Incomplete },
        Err(_) => Message::Invalid,
        Ok(Some(header)) => {
            let division = header.division(terms.style);
            let tag = Tag {
                id: header.cookie,
                offset: header.offset,
                division,
                holes: terms.style > Style::Simple,
                limit: u32::MAX,
            };
            Message::Request(Incoming { tag, operation: header.operation(terms), payload: header.payload, trailer: 0 })
        }
    };
    Decoded { used: terms.style.request_bytes(), message }
}
