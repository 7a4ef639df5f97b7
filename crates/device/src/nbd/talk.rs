//! A blocking NBD client: options, then requests and replies, one message at a time.
//!
//! For the handshake of targets and for tests of servers, not for measured I/O.

use std::io;
use std::time::Duration;

use plimsoll_language::label;

use super::address::{ExportAddress, NbdHost};
use super::socket::Socket;
use super::wire::{
    EXTENDED_REPLY, EXTENDED_REQUEST, GREETING, OPTION, OPTION_REPLY, REQUEST, Reader, SIMPLE_REPLY, STRUCTURED_REPLY,
    Style, chunk, hello, info, option, rep,
};
use crate::tls::{Channel, NoCredentials, Trust};

/// Maximum length of a message in bytes.
const MESSAGE_MAX: u64 = 64 << 20;

/// Maximum number of replies to an option.
const REPLIES_MAX: usize = 10_000;

/// A failed conversation.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum TalkError {
    /// Unusable certificates or keys for TLS.
    #[error(transparent)]
    Credentials(#[from] NoCredentials),
    /// The socket failed, was closed or timed out.
    #[error("{attempt}")]
    Io {
        attempt: &'static str,
        /// The system error.
        #[source]
        source: io::Error,
    },
    /// The server violates the protocol.
    #[error("{attempt}: the server sends {found}")]
    Unexpected {
        attempt: &'static str,
        /// The received message.
        found: String,
    },
    #[error("{attempt}: the server refuses: {reason}")]
    Refused {
        attempt: &'static str,
        /// The server's message, or its error number.
        reason: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionReply {
    /// Type, a number of [`super::wire::rep`].
    pub kind: u32,
    /// Data; for an error, a message for people.
    pub data: Vec<u8>,
}

/// The description of the chosen export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Size in bytes.
    pub size: u64,
    /// Flags of [`super::wire::flag`].
    pub flags: u16,
    /// Minimum, preferred and maximum size of a request, if the server states them.
    pub blocks: Option<[u32; 3]>,
    /// The server's description, if any.
    pub description: Option<String>,
}

/// A simple reply, or a chunk of a structured or extended reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Identifier of the request.
    pub cookie: u64,
    pub style: Style,
    /// Last chunk of the reply.
    pub done: bool,
    /// Type, a number of [`super::wire::chunk`]; [`chunk::NONE`] for a simple reply.
    pub kind: u16,
    /// The request's offset, in an extended reply.
    pub offset: Option<u64>,
    /// The error of a simple reply, or zero.
    pub error: u32,
    /// Bytes after the header; for a simple reply to a read, the number given to [`Talk::chunk`].
    pub payload: Vec<u8>,
}

impl Chunk {
    /// Error number; zero for none.
    pub fn errno(&self) -> u32 {
        if self.kind & chunk::IS_ERROR == 0 {
            return self.error;
        }
        Reader(&self.payload).u32().unwrap_or(u32::MAX)
    }
}

#[derive(Debug)]
pub struct Talk {
    socket: Socket,
    flags: u16,
}

impl Talk {
    /// Connects and exchanges greetings; starts TLS if the address requires it.
    pub fn begin(address: &ExportAddress, timeout: Duration) -> Result<Self, TalkError> {
        Self::begin_as(address, timeout, hello::FIXED_NEWSTYLE | hello::NO_ZEROES)
    }

    /// Same as [`Talk::begin`], as a client with only these flags of [`hello`].
    pub fn begin_as(address: &ExportAddress, timeout: Duration, flags: u16) -> Result<Self, TalkError> {
        // Certificate errors are reported before connecting.
        let trust = address.tls.as_ref().map(|tls| Trust::read(tls.certificates.as_deref(), tls.names)).transpose()?;
        let failed = |source| TalkError::Io { attempt: label!("connecting"), source };
        let mut talk = Self::greet(Socket::connect(&address.host, timeout).map_err(failed)?, flags)?;
        if let (Some(trust), Some(tls)) = (trust, &address.tls) {
            let name = match (&tls.hostname, &address.host) {
                (Some(name), _) | (None, NbdHost::Tcp { name, .. }) => name,
                (None, NbdHost::Unix(_)) => "localhost",
            };
            talk.secure(&trust, name)?;
        }
        Ok(talk)
    }

    /// Exchanges greetings on a connection, as a client with these flags of [`hello`].
    pub fn greet(socket: Socket, flags: u16) -> Result<Self, TalkError> {
        let mut talk = Self { socket, flags: 0 };
        let mut greeting = [0; 18];
        talk.read("reading the greeting", &mut greeting)?;
        let mut reader = Reader(&greeting);
        if (reader.u64(), reader.u64()) != (Some(GREETING), Some(OPTION)) {
            return Err(unexpected("reading the greeting", "no greeting of a newstyle NBD server"));
        }
        talk.flags = reader.u16().unwrap_or(0);
        if talk.flags & hello::FIXED_NEWSTYLE == 0 {
            return Err(unexpected("reading the greeting", "no fixed newstyle: it cannot answer options"));
        }
        let answer = u32::from(talk.flags & flags);
        talk.write("greeting", &answer.to_be_bytes())?;
        Ok(talk)
    }

    /// Starts TLS with the server, whose certificate must contain `name`. Discards previously negotiated options.
    pub fn secure(&mut self, trust: &Trust, name: &str) -> Result<(), TalkError> {
        const ATTEMPT: &str = "beginning TLS";
        if let Some(OptionReply { kind, data }) = self.option(option::STARTTLS, &[])?.last()
            && *kind != rep::ACK
        {
            return Err(refused(ATTEMPT, *kind, data));
        }
        let failed = |source| TalkError::Io { attempt: ATTEMPT, source };
        self.socket.secure(Channel::client(trust, name).map_err(failed)?).map_err(failed)
    }

    /// The flags of the server's greeting.
    pub const fn flags(&self) -> u16 {
        self.flags
    }

    /// The connection, for a target that takes over, or for raw bytes.
    pub const fn socket(&mut self) -> &mut Socket {
        &mut self.socket
    }

    /// Returns the connection.
    pub fn into_socket(self) -> Socket {
        self.socket
    }

    /// Sends an option and reads all replies; the last is an acknowledgement or an error.
    pub fn option(&mut self, option: u32, data: &[u8]) -> Result<Vec<OptionReply>, TalkError> {
        const ATTEMPT: &str = "negotiating an option";
        let head = [&OPTION.to_be_bytes()[..], &option.to_be_bytes(), &(data.len() as u32).to_be_bytes()];
        self.write(ATTEMPT, &[&head.concat(), data].concat())?;
        let mut replies = Vec::new();
        while replies.len() < REPLIES_MAX {
            let mut head = [0; 20];
            self.read(ATTEMPT, &mut head)?;
            let mut reader = Reader(&head);
            let (magic, of) = (reader.u64().unwrap_or(0), reader.u32().unwrap_or(0));
            let (kind, length) = (reader.u32().unwrap_or(0), reader.u32().unwrap_or(0));
            if magic != OPTION_REPLY || of != option {
                return Err(unexpected(ATTEMPT, &format!("{magic:#x} for option {of}, not a reply to {option}")));
            }
            let data = self.payload(ATTEMPT, u64::from(length))?;
            replies.push(OptionReply { kind, data });
            if kind == rep::ACK || kind & rep::ERROR != 0 {
                return Ok(replies);
            }
        }
        Err(unexpected(ATTEMPT, "too many replies to an option"))
    }

    /// Queries an export, or (`go`) chooses it.
    pub fn choose(&mut self, export: &str, go: bool) -> Result<Chosen, TalkError> {
        const ATTEMPT: &str = "choosing the export";
        let requested = [info::BLOCK_SIZE, info::DESCRIPTION];
        let mut data = [&(export.len() as u32).to_be_bytes()[..], export.as_bytes()].concat();
        data.extend((requested.len() as u16).to_be_bytes());
        data.extend(requested.iter().flat_map(|kind| kind.to_be_bytes()));
        let replies = self.option(if go { option::GO } else { option::INFO }, &data)?;
        let mut chosen = None;
        for OptionReply { kind, data } in &replies {
            match *kind {
                rep::INFO => informed(chosen.get_or_insert_default(), data),
                kind if kind & rep::ERROR != 0 => return Err(refused(ATTEMPT, kind, data)),
                _ => {}
            }
        }
        chosen.ok_or_else(|| unexpected(ATTEMPT, "nothing about the export"))
    }

    /// Sends a request, followed by `payload`.
    pub fn request(&mut self, style: Style, request: &WireRequest, payload: &[u8]) -> Result<(), TalkError> {
        let mut bytes = Vec::with_capacity(32 + payload.len());
        request.write(style, &mut bytes);
        bytes.extend_from_slice(payload);
        self.write("sending a request", &bytes)
    }

    /// Reads a reply or a chunk. A simple reply without an error is followed by `data` bytes.
    pub fn chunk(&mut self, data: u32) -> Result<Chunk, TalkError> {
        const ATTEMPT: &str = "reading a reply";
        let mut magic = [0; 4];
        self.read(ATTEMPT, &mut magic)?;
        let (style, bytes) = match u32::from_be_bytes(magic) {
            SIMPLE_REPLY => (Style::Simple, 12),
            STRUCTURED_REPLY => (Style::Structured, 16),
            EXTENDED_REPLY => (Style::Extended, 28),
            other => return Err(unexpected(ATTEMPT, &format!("{other:#010x}, which opens no reply"))),
        };
        let mut head = [0; 28];
        self.read(ATTEMPT, &mut head[..bytes])?;
        let mut reader = Reader(&head[..bytes]);
        let mut chunk =
            Chunk { cookie: 0, style, done: true, kind: chunk::NONE, offset: None, error: 0, payload: Vec::new() };
        let mut length = u64::from(data);
        if style == Style::Simple {
            chunk.error = reader.u32().unwrap_or(0);
            chunk.cookie = reader.u64().unwrap_or(0);
            length = if chunk.error == 0 { length } else { 0 };
        } else {
            chunk.done = reader.u16().unwrap_or(0) & chunk::DONE != 0;
            chunk.kind = reader.u16().unwrap_or(0);
            chunk.cookie = reader.u64().unwrap_or(0);
            let extended = style == Style::Extended;
            chunk.offset = if extended { reader.u64() } else { None };
            length = if extended { reader.u64() } else { reader.u32().map(u64::from) }.unwrap_or(0);
        }
        chunk.payload = self.payload(ATTEMPT, length)?;
        Ok(chunk)
    }

    fn payload(&mut self, attempt: &'static str, length: u64) -> Result<Vec<u8>, TalkError> {
        if length > MESSAGE_MAX {
            return Err(unexpected(attempt, &format!("a message of {length} bytes")));
        }
        let mut bytes = vec![0; length as usize];
        self.read(attempt, &mut bytes)?;
        Ok(bytes)
    }

    fn read(&mut self, attempt: &'static str, bytes: &mut [u8]) -> Result<(), TalkError> {
        self.socket.read(bytes).map_err(|source| TalkError::Io { attempt, source })
    }

    fn write(&mut self, attempt: &'static str, bytes: &[u8]) -> Result<(), TalkError> {
        self.socket.write(bytes).map_err(|source| TalkError::Io { attempt, source })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireRequest {
    /// Flags of [`super::wire::command_flag`].
    pub flags: u16,
    /// A number of [`super::wire::command`].
    pub command: u16,
    /// The client's identifier of the request.
    pub cookie: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes; a compact request keeps the lower 32 bits.
    pub length: u64,
}

impl WireRequest {
    /// Appends the header.
    #[inline]
    pub fn write(&self, style: Style, out: &mut Vec<u8>) {
        let extended = style == Style::Extended;
        out.extend_from_slice(&if extended { EXTENDED_REQUEST } else { REQUEST }.to_be_bytes());
        out.extend_from_slice(&self.flags.to_be_bytes());
        out.extend_from_slice(&self.command.to_be_bytes());
        out.extend_from_slice(&self.cookie.to_be_bytes());
        out.extend_from_slice(&self.offset.to_be_bytes());
        if extended {
            out.extend_from_slice(&self.length.to_be_bytes());
        } else {
            out.extend_from_slice(&(self.length as u32).to_be_bytes());
        }
    }
}

fn informed(chosen: &mut Chosen, data: &[u8]) {
    let mut reader = Reader(data);
    match reader.u16() {
        Some(info::EXPORT) => {
            chosen.size = reader.u64().unwrap_or(0);
            chosen.flags = reader.u16().unwrap_or(0);
        }
        Some(info::BLOCK_SIZE) => {
            let sizes = [reader.u32(), reader.u32(), reader.u32()].map(Option::unwrap_or_default);
            chosen.blocks = Some(sizes);
        }
        Some(info::DESCRIPTION) => chosen.description = Some(String::from_utf8_lossy(reader.0).into_owned()),
        _ => {}
    }
}

fn unexpected(attempt: &'static str, found: &str) -> TalkError {
    TalkError::Unexpected { attempt, found: found.to_owned() }
}

fn refused(attempt: &'static str, kind: u32, data: &[u8]) -> TalkError {
    let number = kind & !rep::ERROR;
    let what = match kind {
        rep::ERR_UNKNOWN => "there is no such export".to_owned(),
        rep::ERR_TLS_REQD => "it requires TLS; write nbds: instead of nbd:".to_owned(),
        rep::ERR_UNSUP => "it does not support the option".to_owned(),
        _ => format!("error {number}"),
    };
    let text = String::from_utf8_lossy(data);
    let reason = if text.is_empty() { what } else { format!("{what} ({text})") };
    TalkError::Refused { attempt, reason }
}
