//! The protocol between a client and the server, as a pure state machine: bytes in, requests out; replies in, bytes out.
//!
//! A codec has no socket, clock or volume, and no payloads: the server receives the payload of a write into a buffer,
//! and sends that of a read behind the bytes of the reply. The server has the variants of `Protocol`.

use plimsoll_volume::{Errno, Export, Extent, Request};

use crate::offer::Offer;

/// The protocol of one client.
pub trait Codec {
    /// Decodes the message at the beginning of `input`. Replies that need no volume are appended to `out`.
    fn feed(&mut self, input: &[u8], exports: &Exports<'_>, out: &mut Vec<u8>) -> Decoded;

    /// Appends the reply to a request. The bytes of a read have to follow it.
    fn reply(&mut self, tag: &Tag, body: &ReplyBody<'_>, out: &mut Vec<u8>);

    /// Length of a message without its payload, if all further messages have the same length. The server can then
    /// receive the message separately, and its payload directly into a buffer.
    fn header_bytes(&self) -> Option<usize> {
        None
    }

    /// The connection is encrypted: the negotiation restarts.
    fn start_tls(&mut self) {}

    /// Takes the reason for which the client was refused an export, for a log.
    fn take_refusal(&mut self) -> Option<String> {
        None
    }
}

pub trait SessionServices {
    /// Whether a received payload matches the trailer behind it. Otherwise the connection ends.
    fn verify(&mut self, payload: &[u8], trailer: &[u8]) -> bool;

    /// A [`Message::Part`] has ended.
    fn part_done(&mut self, tag: &Tag, outcome: Result<(), Errno>);

    /// Takes the bytes that [`Operation::Combine`] combines with those of the volume.
    fn parameters(&mut self, tag: &Tag) -> Vec<u8>;

    /// Whether the client awaits the reply to a request. Messages that waited for its end are appended to `out`.
    fn awaits(&mut self, tag: &Tag, out: &mut Vec<u8>) -> bool;

    /// Appends the bytes that have to follow a piece of the bytes of a read ([`Division::Pieces`]).
    fn trailer(&self, payload: &[u8], out: &mut Vec<u8>);

    /// Whether the trailers depend on the payload, which must not change before it is sent then.
    fn has_digests(&self) -> bool;

    /// Whether the client has to send data of a request that was decoded before.
    fn awaits_data(&self) -> bool;

    /// Whether another connection has replaced this one: it has to end.
    fn is_replaced(&self) -> bool;

    /// The client's path to its export, from 0.
    fn path(&self) -> u8;

    /// Called about once per second.
    fn tick(&mut self, out: &mut Vec<u8>) -> Message;

    /// The server ends the connection after the requests in flight.
    fn close(&mut self, out: &mut Vec<u8>);
}

#[derive(Clone, Copy, Debug)]
pub struct Exports<'a> {
    /// All exports, with their present sizes, while the client has not chosen one.
    pub offers: &'a [Offer],
    /// Present size in bytes of the export that the client has chosen.
    pub size: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Consumed bytes of the input. The rest has to be fed again with more bytes behind it.
    pub used: usize,
    /// The consequence for the server.
    pub message: Message,
}

/// The consequence of a message for the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// More bytes are needed.
    Incomplete,
    /// The message was handled by the codec.
    Handled,
    /// The client has chosen an export: requests follow.
    Opened(Export),
    /// TLS begins once the output was sent.
    StartTls,
    /// The connection ends once the output was sent.
    End,
    /// The message violates the protocol: the connection ends at once.
    Invalid,
    Request(Incoming),
    /// A part of a request, without timing or reply: its outcome goes to [`SessionServices::part_done`], and the codec is fed again
    /// after that.
    Part(Incoming),
}

/// A request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// Identifies it in its reply.
    pub tag: Tag,
    /// The requested operation, or the error to reply once the payload was received.
    pub operation: Result<Operation, Errno>,
    /// Bytes of payload that follow the message.
    pub payload: u32,
    /// Bytes behind the payload, for [`SessionServices::verify`].
    pub trailer: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Input or output of a volume.
    Io(Request),
    /// The allocated ranges and holes of a range.
    Extents {
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u64,
        /// A single extent suffices.
        one: bool,
    },
    /// The first byte at or after a position that is allocated, or is in a hole.
    Seek {
        /// First byte.
        offset: u64,
        /// Whether an allocated byte is sought, rather than a hole.
        allocated: bool,
    },
    /// A write whose payload was stored by [`Message::Part`].
    Stored(Request),
    /// Combines bytes of the codec ([`SessionServices::parameters`]) with those of a range.
    Combine {
        /// How they are combined.
        combination: Combination,
        /// The range, and whether the result is durable. The command determines its timing.
        request: Request,
    },
    /// The end of the connection, after all requests before it were answered.
    Disconnect,
}

/// A combination of given bytes with those of a range of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combination {
    Compare,
    /// Compares repetitions of the given bytes with the range.
    CompareRepeated,
    /// Compares the first half of the given bytes, and writes the second half if they are equal. No other request
    /// changes the range meanwhile.
    CompareAndWrite,
    /// Writes the bitwise disjunction. No other request changes the range meanwhile.
    Or,
    /// Writes repetitions of the given bytes.
    Repeat,
}

/// Identifies a request in its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The client's own identifier.
    pub id: u64,
    /// First byte of the request.
    pub offset: u64,
    /// How the bytes of a read may be divided.
    pub division: Division,
    /// Whether a range of zeros may be reported instead of sent.
    pub holes: bool,
    /// Maximum bytes of a read that are sent.
    pub limit: u32,
}

/// How the bytes of a read may be divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// Into chunks, with replies to other requests between them.
    Chunks,
    /// One header, with all bytes behind it.
    Undivided,
    /// Into pieces of this many bytes and a shorter last one, each with a header and a trailer, with other replies between
    /// them.
    Pieces(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyBody<'a> {
    /// The request is done, with no data to return.
    Done,
    /// A write of this many bytes is done.
    Written(u32),
    /// A read of this many bytes is done: they follow.
    Data(u32),
    /// A part of a read that is divided into chunks: its bytes follow.
    DataPart(ReadPart),
    /// A part of such a read, or all of a read, that consists of zeros: nothing follows.
    HolePart(ReadPart),
    /// Allocated ranges and holes from the request's offset on: at least one, none of them empty.
    Extents(&'a [Extent]),
    /// The position that a seek found.
    Position(Option<u64>),
    /// The compared bytes differ first at this position.
    Mismatch(u32),
    Failed(Errno),
}

/// A part of the bytes of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadPart {
    /// Its first byte in the export.
    pub offset: u64,
    /// Bytes.
    pub length: u32,
    /// Bytes of the read behind it.
    pub rest: u32,
}

/// Whether a client encrypts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// Never.
    Off,
    /// If the client requests it.
    Offered,
    /// Before anything is listed or served.
    Required,
    On,
}
