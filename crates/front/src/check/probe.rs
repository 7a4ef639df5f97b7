//! Connections to the checked server, and requests with their combined replies.

use plimsoll_device::nbd::wire::{PAYLOAD_MAX, Reader, Style, chunk, command, command_flag, flag, option, rep};
use plimsoll_device::nbd::{Chosen, Chunk, ExportAddress, OptionReply, Socket, Talk, TalkError, WireRequest};
use plimsoll_language::label;

use super::Permission;

/// The checked server.
pub(super) struct Probe<'a> {
    pub address: &'a ExportAddress,
    pub permission: &'a Permission,
    /// The export as reported to a client that negotiates nothing.
    pub chosen: Chosen,
}

/// A session with a chosen export.
pub(super) struct ProbeSession {
    pub talk: Talk,
    pub style: Style,
    pub chosen: Chosen,
    cookie: u64,
}

#[derive(Debug, Default)]
pub(super) struct ProbeReply {
    /// The first error, or zero.
    pub errno: u32,
    /// Data of a read, with zeros for reported holes.
    pub data: Vec<u8>,
    /// Reported bytes, as data or holes.
    covered: usize,
    /// Number of chunks with data or holes.
    pub pieces: u32,
    /// Extents of a block status with their flags.
    pub extents: Vec<(u64, u64)>,
    /// Protocol violation, if any.
    pub flaw: Option<String>,
}

impl Probe<'_> {
    pub(super) fn new<'a>(address: &'a ExportAddress, permission: &'a Permission) -> Result<Probe<'a>, TalkError> {
        let chosen = Talk::begin(address, permission.timeout)?.choose(&address.export, true)?;
        Ok(Probe { address, permission, chosen })
    }

    /// A connection after the greeting.
    pub(super) fn talk(&self) -> Result<Talk, TalkError> {
        Talk::begin(self.address, self.permission.timeout)
    }

    /// A connection with only these client flags.
    pub(super) fn talk_as(&self, flags: u16) -> Result<Talk, TalkError> {
        Talk::begin_as(self.address, self.permission.timeout, flags)
    }

    /// A connection after the greeting without TLS, regardless of the address.
    pub(super) fn clear(&self) -> Result<Talk, TalkError> {
        Talk::begin(&ExportAddress { tls: None, ..self.address.clone() }, self.permission.timeout)
    }

    /// A connection before the greeting.
    pub(super) fn socket(&self) -> Result<Socket, TalkError> {
        let failed = |source| TalkError::Io { attempt: label!("connecting"), source };
        Socket::connect(&self.address.host, self.permission.timeout).map_err(failed)
    }

    /// A session in the given style; `None` if the server does not support it.
    pub(super) fn session(&self, style: Style) -> Result<Option<ProbeSession>, TalkError> {
        self.session_with(style, |_| Ok(true))
    }

    /// The same with further options before the export is chosen; also `None` if these are refused.
    pub(super) fn session_with(
        &self,
        style: Style,
        negotiate: impl FnOnce(&mut Talk) -> Result<bool, TalkError>,
    ) -> Result<Option<ProbeSession>, TalkError> {
        let mut talk = self.talk()?;
        let framing = match style {
            Style::Simple => None,
            Style::Structured => Some(option::STRUCTURED_REPLY),
            Style::Extended => Some(option::EXTENDED_HEADERS),
        };
        if let Some(framing) = framing
            && !accepted(&talk.option(framing, &[])?)
        {
            return Ok(None);
        }
        if !negotiate(&mut talk)? {
            return Ok(None);
        }
        let chosen = talk.choose(&self.address.export, true)?;
        Ok(Some(ProbeSession { talk, style, chosen, cookie: 0x0123_4567_89ab_cd00 }))
    }

    /// A session with simple replies, which all servers support.
    pub(super) fn simple(&self) -> Result<ProbeSession, TalkError> {
        let refused = || TalkError::Refused {
            attempt: label!("choosing the export"),
            reason: "accepted before, refused now".into(),
        };
        self.session(Style::Simple)?.ok_or_else(refused)
    }

    /// True if the server accepts a new client.
    pub(super) fn is_alive(&self) -> Result<bool, TalkError> {
        let mut session = self.simple()?;
        Ok(session.read(0, self.block())?.errno == 0)
    }

    /// The minimum size of a request, 512 if unlimited.
    pub(super) fn block(&self) -> u32 {
        self.chosen.blocks.map_or(512, |[least, _, _]| least.max(512)).min(self.chosen.size.max(1) as u32)
    }

    pub(super) fn payload(&self) -> u32 {
        self.chosen.blocks.map_or(PAYLOAD_MAX, |[_, _, max]| max)
    }

    pub(super) fn has(&self, feature: u16) -> bool {
        self.chosen.flags & feature != 0
    }

    /// The reason for not writing; `None` if writing is permitted.
    pub(super) fn keeps_off(&self) -> Option<&'static str> {
        if self.has(flag::READ_ONLY) {
            Some("the export is read-only")
        } else if self.permission.writes {
            None
        } else {
            Some("writing is not permitted")
        }
    }
}

/// True if the option was accepted.
pub(super) fn accepted(replies: &[OptionReply]) -> bool {
    replies.last().is_some_and(|replies| replies.kind == rep::ACK)
}

/// The last reply to an option as text.
pub(super) fn worded(replies: &[OptionReply]) -> String {
    let Some(last) = replies.last() else { return "nothing".into() };
    let name = match last.kind {
        rep::ACK => "ACK",
        rep::ERR_UNSUP => "ERR_UNSUP",
        rep::ERR_POLICY => "ERR_POLICY",
        rep::ERR_INVALID => "ERR_INVALID",
        rep::ERR_TLS_REQD => "ERR_TLS_REQD",
        rep::ERR_UNKNOWN => "ERR_UNKNOWN",
        rep::ERR_TOO_BIG => "ERR_TOO_BIG",
        rep::ERR_EXT_HEADER_REQD => "ERR_EXT_HEADER_REQD",
        _ => return format!("reply {:#x}", last.kind),
    };
    if replies.len() == 1 { name.into() } else { format!("{} replies and {name}", replies.len() - 1) }
}

impl ProbeSession {
    pub(super) fn read(&mut self, offset: u64, length: u32) -> Result<ProbeReply, TalkError> {
        self.exchange(command::READ, 0, offset, length.into(), &[])
    }

    pub(super) fn write(&mut self, offset: u64, data: &[u8], flags: u16) -> Result<ProbeReply, TalkError> {
        self.exchange(command::WRITE, flags, offset, data.len() as u64, data)
    }

    /// Sends a request. Returns its cookie.
    pub(super) fn send(&mut self, request: &WireRequest, payload: &[u8]) -> Result<u64, TalkError> {
        self.cookie += 1;
        let carries = self.style == Style::Extended && !payload.is_empty();
        let flags = request.flags | if carries { command_flag::PAYLOAD_LEN } else { 0 };
        self.talk.request(self.style, &WireRequest { flags, cookie: self.cookie, ..*request }, payload)?;
        Ok(self.cookie)
    }

    /// Sends a request and receives its complete reply.
    pub(super) fn exchange(
        &mut self,
        command: u16,
        flags: u16,
        offset: u64,
        length: u64,
        payload: &[u8],
    ) -> Result<ProbeReply, TalkError> {
        let cookie = self.send(&WireRequest { flags, command, cookie: 0, offset, length }, payload)?;
        let expected = if command == command::READ { length as u32 } else { 0 };
        let request = WireRequest { flags, command, cookie, offset, length };
        let mut reply = ProbeReply { data: vec![0; expected.min(64 << 20) as usize], ..ProbeReply::default() };
        loop {
            let chunk = self.talk.chunk(expected)?;
            reply.flaw = reply.flaw.or_else(|| misframed(&chunk, self.style, &request));
            reply.add(&chunk, offset);
            if chunk.done {
                break;
            }
        }
        if reply.errno == 0 && reply.covered != expected as usize {
            reply.flaw.get_or_insert(format!("{} of {expected} bytes", reply.covered));
        }
        Ok(reply)
    }
}

/// Violation of the framing of a chunk, if any.
fn misframed(chunk: &Chunk, style: Style, request: &WireRequest) -> Option<String> {
    let extended = style == Style::Extended;
    if chunk.cookie != request.cookie {
        Some(format!("cookie {:#x} for request {:#x}", chunk.cookie, request.cookie))
    } else if chunk.style > style || (extended && chunk.style != Style::Extended) {
        Some(format!("a {:?} reply to a {style:?} request", chunk.style))
    } else if chunk.style == Style::Simple && style > Style::Simple && request.command == command::READ {
        Some("a simple reply to a read after structured replies were negotiated".into())
    } else {
        let told = chunk.offset.filter(|told| *told != request.offset)?;
        Some(format!("offset {told:#x} in the header of a reply to offset {:#x}", request.offset))
    }
}

impl ProbeReply {
    /// Adds a chunk of the reply to a request at `offset`.
    fn add(&mut self, chunk: &Chunk, offset: u64) {
        if self.errno == 0 {
            self.errno = chunk.errno();
        }
        let mut reader = Reader(&chunk.payload);
        match (chunk.style, chunk.kind) {
            (Style::Simple, _) if !chunk.payload.is_empty() => self.put(&chunk.payload, 0),
            (Style::Structured | Style::Extended, chunk::OFFSET_DATA) => {
                let at = reader.u64().unwrap_or(0).wrapping_sub(offset);
                self.put(reader.0, at as usize);
            }
            (Style::Structured | Style::Extended, chunk::OFFSET_HOLE) => {
                reader.u64();
                self.covered += reader.u32().unwrap_or(0) as usize;
                self.pieces += 1;
            }
            (Style::Structured, chunk::BLOCK_STATUS) => {
                reader.u32();
                while let (Some(length), Some(state)) = (reader.u32(), reader.u32()) {
                    self.extents.push((length.into(), state.into()));
                }
            }
            (Style::Extended, chunk::BLOCK_STATUS_EXT) => {
                reader.u64();
                while let (Some(length), Some(state)) = (reader.u64(), reader.u64()) {
                    self.extents.push((length, state));
                }
            }
            _ => {}
        }
    }

    fn put(&mut self, bytes: &[u8], at: usize) {
        match self.data.get_mut(at..).and_then(|room| room.get_mut(..bytes.len())) {
            Some(room) => room.copy_from_slice(bytes),
            None => drop(self.flaw.replace("data outside of the requested range".into())),
        }
        self.covered += bytes.len();
        self.pieces += 1;
    }

    /// Error and violation as text.
    pub(super) fn worded(&self) -> String {
        let errno = match self.errno {
            0 => "success".to_owned(),
            1 => "EPERM".into(),
            5 => "EIO".into(),
            12 => "ENOMEM".into(),
            22 => "EINVAL".into(),
            28 => "ENOSPC".into(),
            75 => "EOVERFLOW".into(),
            95 => "ENOTSUP".into(),
            108 => "ESHUTDOWN".into(),
            other => format!("error {other}"),
        };
        match &self.flaw {
            Some(flaw) => format!("{errno}, malformed: {flaw}"),
            None => errno,
        }
    }

    pub(super) const fn is_good(&self) -> bool {
        self.errno == 0 && self.flaw.is_none()
    }

    /// True if it failed with one of these errors, without violations.
    pub(super) fn is_refused(&self, with: &[u32]) -> bool {
        with.contains(&self.errno) && self.flaw.is_none()
    }
}
