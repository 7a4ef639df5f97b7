//! Fixed newstyle negotiation: from the greeting to a session, an end, or the beginning of TLS.
//!
//! Every option gets a reply, and only a few flags are kept: no client can make the state grow.

use plimsoll_device::nbd::wire::{
    GREETING, OPTION, OPTION_REPLY, Reader, Style, TEXT_MAX, flag, hello, info, option, rep,
};
use plimsoll_volume::{Export, VolumeAccess};

use super::meta;
use crate::codec::Tls;
use crate::offer::{Medium, Offer};

/// Maximum bytes of an option's data. Longer data are skipped and refused.
const DATA_MAX: usize = 32 << 10;

/// Maximum bytes of an option that are skipped: a longer one is not from a client.
const SKIP_MAX: u32 = 32 << 20;

/// Maximum characters of a name in a log.
const LOGGED_NAME_MAX: usize = 80;

/// Maximum of options in a handshake.
const OPTIONS_MAX: u32 = 4096;

/// The result of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Negotiated {
    pub export: Export,
    /// How requests and replies are framed.
    pub style: Style,
    /// `base:allocation` was chosen.
    pub allocation: bool,
}

/// The continuation after input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeStep {
    /// More bytes are needed.
    More,
    Begin(Negotiated),
    /// TLS begins: after the output was sent, [`Handshake::secured`] goes on.
    Secure,
    /// The connection ends after the output was sent.
    End,
}

/// The used part of the input, and the continuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fed {
    /// Used bytes of the input; the rest has to be fed again, with more behind it.
    pub used: usize,
    pub step: HandshakeStep,
}

#[derive(Clone, Copy, Debug)]
enum HandshakeState {
    ClientFlags,
    Option,
    /// The data of an option that is too long are skipped.
    Skip {
        option: u32,
        left: u32,
    },
}

/// A negotiation in progress.
#[derive(Clone, Debug)]
pub struct Handshake {
    state: HandshakeState,
    tls: Tls,
    fixed: bool,
    no_zeroes: bool,
    style: Style,
    /// The export for which `base:allocation` was chosen.
    allocation: Option<Export>,
    options: u32,
    /// The reason for which the client was refused last.
    refusal: Option<String>,
}

impl Handshake {
    /// Begins with the greeting, which is appended to `out`.
    pub fn new(tls: Tls, out: &mut Vec<u8>) -> Self {
        out.extend_from_slice(&GREETING.to_be_bytes());
        out.extend_from_slice(&OPTION.to_be_bytes());
        out.extend_from_slice(&(hello::FIXED_NEWSTYLE | hello::NO_ZEROES).to_be_bytes());
        Self {
            state: HandshakeState::ClientFlags,
            tls,
            fixed: false,
            no_zeroes: false,
            style: Style::Simple,
            allocation: None,
            options: 0,
            refusal: None,
        }
    }

    /// Takes the reason for which the client was refused last.
    pub fn take_refusal(&mut self) -> Option<String> {
        self.refusal.take()
    }

    fn refuse_name(&mut self, name: &str) {
        let name: String = name.chars().take(LOGGED_NAME_MAX).collect();
        self.refusal = Some(format!("there is no export {name:?}"));
    }

    /// The connection is encrypted from now on: earlier options are void.
    #[must_use]
    pub fn secured(self) -> Self {
        Self { tls: Tls::On, style: Style::Simple, allocation: None, ..self }
    }

    /// Processes bytes of the client and appends replies to `out`. `offers` are the present exports. The input has to
    /// have room for 32 KiB and a header.
    pub fn feed(&mut self, input: &[u8], offers: &[Offer], out: &mut Vec<u8>) -> Fed {
        let mut used = 0;
        loop {
            match self.message(&input[used..], offers, out) {
                None => return Fed { used, step: HandshakeStep::More },
                Some(Fed { used: more, step }) => {
                    used += more;
                    if step != HandshakeStep::More {
                        return Fed { used, step };
                    }
                }
            }
        }
    }

    /// Processes a message; `None` if it is incomplete.
    fn message(&mut self, input: &[u8], offers: &[Offer], out: &mut Vec<u8>) -> Option<Fed> {
        let mut reader = Reader(input);
        match self.state {
            HandshakeState::ClientFlags => Some(Fed { used: 4, step: self.client_flags(reader.u32()?) }),
            HandshakeState::Option => {
                let (magic, option, length) = (reader.u64()?, reader.u32()?, reader.u32()?);
                self.options += 1;
                if magic != OPTION || length > SKIP_MAX || self.options > OPTIONS_MAX {
                    return Some(Fed { used: input.len(), step: HandshakeStep::End });
                }
                if length as usize > DATA_MAX {
                    self.state = HandshakeState::Skip { option, left: length };
                    return Some(Fed { used: 16, step: HandshakeStep::More });
                }
                let Some(data) = reader.bytes(length as usize) else {
                    self.options -= 1;
                    return None;
                };
                let step = self.answer(option, data, offers, out);
                Some(Fed { used: 16 + data.len(), step })
            }
            HandshakeState::Skip { option, left } => {
                let used = input.len().min(left as usize);
                let left = left - used as u32;
                self.state = HandshakeState::Skip { option, left };
                if left == 0 {
                    self.state = HandshakeState::Option;
                    if option == option::EXPORT_NAME {
                        return Some(Fed { used, step: HandshakeStep::End });
                    }
                    reply(out, option, rep::ERR_TOO_BIG, b"the option's data are too long");
                } else if used == 0 {
                    return None;
                }
                Some(Fed { used, step: HandshakeStep::More })
            }
        }
    }

    fn client_flags(&mut self, flags: u32) -> HandshakeStep {
        let defined = u32::from(hello::FIXED_NEWSTYLE | hello::NO_ZEROES);
        self.fixed = flags & u32::from(hello::FIXED_NEWSTYLE) != 0;
        self.no_zeroes = flags & u32::from(hello::NO_ZEROES) != 0;
        self.state = HandshakeState::Option;
        if flags & !defined == 0 { HandshakeStep::More } else { HandshakeStep::End }
    }

    fn answer(&mut self, option: u32, data: &[u8], offers: &[Offer], out: &mut Vec<u8>) -> HandshakeStep {
        if !self.fixed && option != option::EXPORT_NAME {
            // A client without fixed newstyle does not understand replies.
            return HandshakeStep::End;
        }
        let exempt = matches!(option, option::STARTTLS | option::ABORT);
        if self.tls == Tls::Required && !exempt {
            self.refusal = Some("the client does not begin TLS, which is required".to_owned());
            if option == option::EXPORT_NAME {
                return HandshakeStep::End;
            }
            reply(out, option, rep::ERR_TLS_REQD, b"this server requires TLS");
            return HandshakeStep::More;
        }
        match option {
            option::EXPORT_NAME => return self.export_name(data, offers, out),
            option::ABORT => {
                reply(out, option, rep::ACK, &[]);
                return HandshakeStep::End;
            }
            option::INFO | option::GO => return self.choose(option, data, offers, out),
            option::STARTTLS => return self.start_tls(data, out),
            option::LIST => list(data, offers, out),
            option::STRUCTURED_REPLY | option::EXTENDED_HEADERS => self.frame(option, data, out),
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => self.metadata(option, data, offers, out),
            _ => reply(out, option, rep::ERR_UNSUP, b"unknown option"),
        }
        HandshakeStep::More
    }

    fn export_name(&mut self, data: &[u8], offers: &[Offer], out: &mut Vec<u8>) -> HandshakeStep {
        let name = Reader(data).text(data.len());
        let offer = name.and_then(|name| named(offers, name));
        // This option has no error reply, and does not allow extended headers.
        let Some(offer) = offer.filter(|_| self.style != Style::Extended) else {
            self.refuse_name(name.unwrap_or_default());
            return HandshakeStep::End;
        };
        out.extend_from_slice(&offer.size.to_be_bytes());
        out.extend_from_slice(&encode_flags(offer, self.style).to_be_bytes());
        if !self.no_zeroes {
            out.extend_from_slice(&[0; 124]);
        }
        HandshakeStep::Begin(self.session(offer))
    }

    fn session(&self, offer: &Offer) -> Negotiated {
        let allocation = self.style > Style::Simple && self.allocation == Some(offer.export);
        Negotiated { export: offer.export, style: self.style, allocation }
    }

    fn start_tls(&self, data: &[u8], out: &mut Vec<u8>) -> HandshakeStep {
        let (kind, text) = match self.tls {
            Tls::Off => (rep::ERR_UNSUP, "this server has no TLS"),
            Tls::On => (rep::ERR_INVALID, "the connection is encrypted already"),
            Tls::Offered | Tls::Required if data.is_empty() => {
                reply(out, option::STARTTLS, rep::ACK, &[]);
                return HandshakeStep::Secure;
            }
            Tls::Offered | Tls::Required => (rep::ERR_INVALID, "STARTTLS has no data"),
        };
        reply(out, option::STARTTLS, kind, text.as_bytes());
        HandshakeStep::More
    }

    /// INFO and GO.
    fn choose(&mut self, option: u32, data: &[u8], offers: &[Offer], out: &mut Vec<u8>) -> HandshakeStep {
        let Some((name, requested)) = choice(data) else {
            reply(out, option, rep::ERR_INVALID, b"malformed: name or list of informations does not fit the length");
            return HandshakeStep::More;
        };
        let Some(offer) = named(offers, name) else {
            self.refuse_name(name);
            reply(out, option, rep::ERR_UNKNOWN, b"there is no export of that name");
            return HandshakeStep::More;
        };
        self.tell(option, offer, &requested, out);
        reply(out, option, rep::ACK, &[]);
        if option == option::GO { HandshakeStep::Begin(self.session(offer)) } else { HandshakeStep::More }
    }

    fn tell(&self, option: u32, offer: &Offer, requested: &[u16], out: &mut Vec<u8>) {
        let mut tell = |kind: u16, parts: &[&[u8]]| {
            let data: Vec<u8> =
                [&kind.to_be_bytes()[..]].iter().chain(parts).flat_map(|part| part.iter().copied()).collect();
            reply(out, option, rep::INFO, &data);
        };
        tell(info::EXPORT, &[&offer.size.to_be_bytes(), &encode_flags(offer, self.style).to_be_bytes()]);
        if requested.contains(&info::NAME) {
            tell(info::NAME, &[offer.name.as_bytes()]);
        }
        if requested.contains(&info::DESCRIPTION) && !offer.description.is_empty() {
            tell(info::DESCRIPTION, &[&offer.description.as_bytes()[..offer.description.len().min(TEXT_MAX)]]);
        }
        if requested.contains(&info::BLOCK_SIZE) || offer.blocks.minimum > 1 {
            let blocks = [offer.blocks.minimum, offer.blocks.preferred, offer.blocks.payload].map(u32::to_be_bytes);
            tell(info::BLOCK_SIZE, &[&blocks[0], &blocks[1], &blocks[2]]);
        }
    }

    fn frame(&mut self, option: u32, data: &[u8], out: &mut Vec<u8>) {
        let requested = if option == option::EXTENDED_HEADERS { Style::Extended } else { Style::Structured };
        let (kind, text) = match (requested, self.style) {
            _ if !data.is_empty() => (rep::ERR_INVALID, "this option has no data"),
            (Style::Structured, Style::Extended) => (rep::ERR_EXT_HEADER_REQD, "extended headers were chosen already"),
            (requested, present) if requested == present => (rep::ERR_INVALID, "this was chosen already"),
            _ => {
                self.style = requested;
                (rep::ACK, "")
            }
        };
        reply(out, option, kind, text.as_bytes());
    }

    fn metadata(&mut self, option: u32, data: &[u8], offers: &[Offer], out: &mut Vec<u8>) {
        let sets = option == option::SET_META_CONTEXT;
        if sets {
            self.allocation = None;
        }
        if self.style == Style::Simple {
            reply(out, option, rep::ERR_INVALID, b"metadata need structured replies");
            return;
        }
        let Some(requested) = meta::parse(data, sets) else {
            reply(out, option, rep::ERR_INVALID, b"malformed: name or queries do not fit the length");
            return;
        };
        let Some(offer) = named(offers, requested.export) else {
            reply(out, option, rep::ERR_UNKNOWN, b"there is no export of that name");
            return;
        };
        if requested.allocation {
            reply(out, option, rep::META_CONTEXT, &meta::encode_allocation(sets));
            self.allocation = if sets { Some(offer.export) } else { self.allocation };
        }
        reply(out, option, rep::ACK, &[]);
    }
}

/// The flags of an export for a client that negotiated `style`.
fn encode_flags(offer: &Offer, style: Style) -> u16 {
    let mut flags = flag::HAS_FLAGS | flag::SEND_FLUSH | flag::SEND_FUA | flag::SEND_CACHE | flag::CAN_MULTI_CONN;
    flags |= match offer.access {
        VolumeAccess::ReadOnly => flag::READ_ONLY,
        VolumeAccess::ReadWrite => flag::SEND_TRIM | flag::SEND_WRITE_ZEROES | flag::SEND_FAST_ZERO,
    };
    if offer.medium == Medium::Rotational {
        flags |= flag::ROTATIONAL;
    }
    if style > Style::Simple {
        flags |= flag::SEND_DF;
    }
    flags
}

/// The offer with that name. The empty name means the only offer.
fn named<'a>(offers: &'a [Offer], name: &str) -> Option<&'a Offer> {
    match (offers.iter().find(|offer| offer.name == name), offers) {
        (Some(offer), _) => Some(offer),
        (None, [only]) if name.is_empty() => Some(only),
        (None, _) => None,
    }
}

fn list(data: &[u8], offers: &[Offer], out: &mut Vec<u8>) {
    if !data.is_empty() {
        reply(out, option::LIST, rep::ERR_INVALID, b"LIST has no data");
        return;
    }
    for offer in offers {
        let length = offer.name.len() as u32;
        let described = &offer.description.as_bytes()[..offer.description.len().min(TEXT_MAX)];
        reply(out, option::LIST, rep::SERVER, &[&length.to_be_bytes(), offer.name.as_bytes(), described].concat());
    }
    reply(out, option::LIST, rep::ACK, &[]);
}

/// The name and the requested information types of INFO or GO; `None` if it is malformed.
fn choice(data: &[u8]) -> Option<(&str, Vec<u16>)> {
    let mut reader = Reader(data);
    let length = reader.u32()? as usize;
    let name = reader.text(length)?;
    let count = usize::from(reader.u16()?);
    let requested = (0..count).map(|_| reader.u16()).collect::<Option<Vec<u16>>>()?;
    reader.0.is_empty().then_some((name, requested))
}

/// Appends a reply to an option; for errors, the data are a message.
fn reply(out: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    out.extend_from_slice(&OPTION_REPLY.to_be_bytes());
    for word in [option, kind, data.len() as u32] {
        out.extend_from_slice(&word.to_be_bytes());
    }
    out.extend_from_slice(data);
}

#[cfg(test)]
mod tests;
