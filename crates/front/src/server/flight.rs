//! Requests in flight: from a client to its volume, and back as a reply.

use plimsoll_units::Instant;
use plimsoll_volume::{Command, Errno, Export, NotAccepted, Request, Ticket};

use super::Server;
use crate::codec::{ReadPart, ReplyBody, Tag};
use crate::pool::Buffer;

/// A request that was accepted and not answered.
#[derive(Debug)]
pub(super) struct Flight {
    pub client: ConnectedClient,
    pub tag: Tag,
    pub work: ServedPart,
    pub row: u32,
    pub command: Command,
    pub length: u32,
    pub buffer: Option<Buffer>,
    /// All of it reads as zeros, which the reply reports instead of sending them.
    pub is_hole: bool,
    pub came: Instant,
}

/// The receiver of the reply.
#[derive(Clone, Copy, Debug)]
pub(super) enum ConnectedClient {
    Connection(u32),
    Mount(u32),
}

/// The part that the volume has in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServedPart {
    /// Payload and timing.
    Full,
    /// Timing only: the payload is moved in parts.
    Timing,
    /// A part of the payload, without timing.
    Part,
}

/// The export of a client, its path to it if the protocol has several, and the row of its counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientExport {
    pub export: Export,
    pub path: Option<u8>,
    pub row: u32,
}

impl Flight {
    #[inline]
    pub(super) fn body(&self, outcome: Result<(), Errno>) -> ReplyBody<'static> {
        let (length, offset) = (self.length, self.tag.offset);
        match (outcome, self.command) {
            (Err(errno), _) => ReplyBody::Failed(errno),
            (Ok(()), Command::Read) if self.is_hole => ReplyBody::HolePart(ReadPart { offset, length, rest: 0 }),
            (Ok(()), Command::Read) => ReplyBody::Data(length),
            (Ok(()), Command::Write) => ReplyBody::Written(length),
            (Ok(()), _) => ReplyBody::Done,
        }
    }
}

impl Server {
    /// Hands a request to its volume, and to the recorder of its export. A request that is not accepted comes back.
    #[inline]
    pub(super) fn hand_over(
        &mut self,
        session: ClientExport,
        (client, tag, work): (ConnectedClient, Tag, ServedPart),
        request: &Request,
        buffer: Option<Buffer>,
    ) -> Result<(), Box<(Flight, NotAccepted)>> {
        let ClientExport { export, path, row } = session;
        let (command, length, came) = (request.command, request.length as u32, self.now);
        let flight = Flight { client, tag, work, row, command, length, buffer, is_hole: false, came };
        let slot = self.flights.insert(flight);
        let ticket = Ticket(slot.into());
        let accepted = match work {
            ServedPart::Full => self.volumes.accept(came, export, path, ticket, request, &mut self.jobs),
            ServedPart::Timing => self.volumes.accept_timing(came, export, path, ticket, request),
            ServedPart::Part => self.volumes.transfer(came, export, ticket, request, &mut self.jobs),
        };
        match accepted {
            Ok(()) => {
                if !self.recorders.is_empty() && work != ServedPart::Part {
                    self.record_request(export, request);
                }
                Ok(())
            }
            Err(reason) => {
                let flight = self.flights.remove(slot).expect("it was inserted above");
                Err(Box::new((flight, reason)))
            }
        }
    }
}
