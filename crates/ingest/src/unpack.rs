//! Compressed inputs: gzip, and the members of a zip archive, decompressed incrementally.
//!
//! Declared lengths are not trusted: limits apply to the actual bytes.

use std::io::Write;

use encoding_rs::{CoderResult, UTF_16BE, UTF_16LE};
use flate2::write::MultiGzDecoder;
use flate2::{Crc, Decompress, FlushDecompress, Status};
use plimsoll_language::label;
use plimsoll_units::Bytes;

use crate::reading::Doubt;
use crate::refusal::{InputFault, Refusal};

/// Bytes decompressed at a time: they yield at most a thousand times as many.
pub(crate) const PIECE: usize = 4 << 10;

/// Counts bytes in and out, against decompression bombs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meter {
    pub(crate) packed: u64,
    pub(crate) unpacked: u64,
}

impl Meter {
    /// Maximum decompressed bytes of an input.
    pub(crate) const MAX_BYTES: u64 = 16 << 30;
    /// Real reports compress to a hundredth at best; the maximum of gzip and zip is 1,032.
    const RATIO: u64 = 250;
    /// Below this size any ratio is accepted.
    const HARMLESS: u64 = 16 << 20;

    /// Adds bytes, and refuses implausible ratios.
    pub(crate) fn add(&mut self, packed: usize, unpacked: usize) -> Result<(), Refusal> {
        self.packed = self.packed.saturating_add(packed as u64);
        self.unpacked = self.unpacked.saturating_add(unpacked as u64);
        if self.unpacked > Self::MAX_BYTES {
            return Err(Refusal::TooLarge { limit: Bytes::new(Self::MAX_BYTES) });
        }
        if self.unpacked > Self::HARMLESS && self.unpacked / Self::RATIO > self.packed {
            return Err(Refusal::Bomb { ratio: Self::RATIO });
        }
        Ok(())
    }
}

/// Decompresses an input if it is gzip.
#[derive(Default)]
pub(crate) struct Gunzip {
    state: GzipState,
    meter: Meter,
}

#[derive(Default)]
enum GzipState {
    #[default]
    Begin,
    /// The first byte matches.
    Half,
    Plain,
    Packed(Box<MultiGzDecoder<Vec<u8>>>),
    /// Broken or ended: the rest is dropped.
    Over,
}

/// The end of a decompressed input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Full,
    Cut,
}

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

impl Gunzip {
    /// Appends the decompressed `bytes` to `out`.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
        match (&mut self.state, bytes) {
            (_, []) | (GzipState::Over, _) => Ok(()),
            (GzipState::Plain, _) => {
                self.meter.add(bytes.len(), bytes.len())?;
                out.extend_from_slice(bytes);
                Ok(())
            }
            (GzipState::Packed(decoder), _) => {
                let fine = unpack(decoder, &mut self.meter, bytes, out)?;
                if !fine {
                    self.state = GzipState::Over;
                }
                Ok(())
            }
            (GzipState::Begin, [first, rest @ ..]) if *first == GZIP_MAGIC[0] => {
                self.state = GzipState::Half;
                self.push(rest, out)
            }
            (GzipState::Half, [second, ..]) if *second == GZIP_MAGIC[1] => {
                self.state = GzipState::Packed(Box::new(MultiGzDecoder::new(Vec::new())));
                self.push(&GZIP_MAGIC[..1], out)?;
                self.push(bytes, out)
            }
            (state, _) => {
                let first = matches!(state, GzipState::Half);
                self.state = GzipState::Plain;
                out.extend_from_slice(if first { &GZIP_MAGIC[..1] } else { &[] });
                self.push(bytes, out)
            }
        }
    }

    pub(crate) fn end(&mut self, out: &mut Vec<u8>) -> Ending {
        match std::mem::replace(&mut self.state, GzipState::Over) {
            GzipState::Packed(mut decoder) => {
                let total = decoder.try_finish().is_ok();
                out.append(decoder.get_mut());
                if total { Ending::Full } else { Ending::Cut }
            }
            GzipState::Over => Ending::Cut,
            GzipState::Half => {
                out.push(GZIP_MAGIC[0]);
                Ending::Full
            }
            GzipState::Begin | GzipState::Plain => Ending::Full,
        }
    }
}

/// False if the rest is not gzip.
fn unpack(
    decoder: &mut MultiGzDecoder<Vec<u8>>,
    meter: &mut Meter,
    bytes: &[u8],
    out: &mut Vec<u8>,
) -> Result<bool, Refusal> {
    for piece in bytes.chunks(PIECE) {
        let fine = decoder.write_all(piece).is_ok();
        meter.add(piece.len(), decoder.get_ref().len())?;
        out.append(decoder.get_mut());
        if !fine {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A consumer of the members of an archive.
pub(crate) trait Members {
    fn begin(&mut self, name: &str);
    /// Bytes of the current member.
    fn bytes(&mut self, bytes: &[u8]);
    /// The member ended, or is broken for a reason.
    fn end(&mut self, broken: Option<Doubt>);
    /// A member, or the rest of the archive, is unreadable.
    fn refuse(&mut self, name: &str, refusal: Refusal);
}

#[derive(Default)]
pub(crate) struct Archive {
    /// An incomplete step.
    rest: Vec<u8>,
    state: State,
    meter: Meter,
    members: u32,
}

#[derive(Default)]
enum State {
    #[default]
    Header,
    Body(Body),
    /// The descriptor after a body of unknown length.
    Descriptor {
        crc: u32,
    },
    Skip {
        left: u64,
    },
    Over,
}

struct Body {
    /// Remaining compressed bytes, if declared.
    left: Option<u64>,
    /// None for stored members.
    inflate: Option<Box<Decompress>>,
    crc: Crc,
    expected: u32,
}

/// The result of a step: the number of bytes used, or a need for more.
enum Unpacked {
    Used(usize),
    Starved,
}

const MAX_MEMBERS: u32 = 100_000;

impl Archive {
    /// The signatures of archives; the second is for an empty archive.
    pub(crate) const MAGICS: [[u8; 4]; 2] = [*b"PK\x03\x04", *b"PK\x05\x06"];

    pub(crate) fn push(&mut self, bytes: &[u8], members: &mut impl Members) {
        for piece in bytes.chunks(16 * PIECE) {
            let mut rest = std::mem::take(&mut self.rest);
            rest.extend_from_slice(piece);
            let mut used = 0;
            while !matches!(self.state, State::Over) {
                match self.step(&rest[used..], members) {
                    Ok(Unpacked::Used(more)) => used += more,
                    Ok(Unpacked::Starved) => break,
                    Err(refusal) => self.give_up(refusal, members),
                }
            }
            rest.drain(..used);
            self.rest = rest;
            if matches!(self.state, State::Over) {
                self.rest.clear();
            }
        }
    }

    pub(crate) fn end(&mut self, members: &mut impl Members) {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Body(_) | State::Descriptor { .. } => members.end(Some(Doubt::ArchiveTruncated)),
            State::Header | State::Skip { .. } => members.refuse("", Refusal::archive(Doubt::ArchiveTruncated)),
            State::Over if self.members == 0 => members.refuse("", Refusal::archive(InputFault::ArchiveEmpty)),
            State::Over => {}
        }
    }

    fn give_up(&mut self, refusal: Refusal, members: &mut impl Members) {
        let inside = matches!(self.state, State::Body(_) | State::Descriptor { .. });
        self.state = State::Over;
        self.members += 1;
        if inside && matches!(refusal, Refusal::Archive { .. }) {
            members.end(Some(Doubt::ArchiveDamaged));
        } else {
            members.refuse("", refusal);
        }
    }

    fn step(&mut self, bytes: &[u8], members: &mut impl Members) -> Result<Unpacked, Refusal> {
        match &mut self.state {
            State::Header => self.header(bytes, members),
            State::Body(body) => {
                let (unpacked, is_over) = body.step(bytes, &mut self.meter, members)?;
                if is_over {
                    let crc = body.crc.sum();
                    self.state = match body.left {
                        None => State::Descriptor { crc },
                        Some(left) => {
                            members.end((crc != body.expected).then_some(Doubt::ArchiveDamaged));
                            State::Skip { left }
                        }
                    };
                }
                Ok(unpacked)
            }
            State::Descriptor { crc } => {
                let Some((length, expected)) = descriptor(bytes) else { return Ok(Unpacked::Starved) };
                members.end((*crc != expected).then_some(Doubt::ArchiveDamaged));
                self.state = State::Header;
                Ok(Unpacked::Used(length))
            }
            State::Skip { left: 0 } => {
                self.state = State::Header;
                Ok(Unpacked::Used(0))
            }
            State::Skip { left } => {
                let used = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= used as u64;
                Ok(if used == 0 { Unpacked::Starved } else { Unpacked::Used(used) })
            }
            State::Over => Ok(Unpacked::Starved),
        }
    }

    fn header(&mut self, bytes: &[u8], members: &mut impl Members) -> Result<Unpacked, Refusal> {
        let Some(magic) = bytes.first_chunk::<4>() else { return Ok(Unpacked::Starved) };
        match magic {
            b"PK\x03\x04" => {}
            // The directory or the end record.
            [b'P', b'K', ..] => {
                self.state = State::Over;
                return Ok(Unpacked::Used(0));
            }
            _ => return Err(Refusal::archive(Doubt::ArchiveDamaged)),
        }
        let Some(header) = MemberHeader::read(bytes) else { return Ok(Unpacked::Starved) };
        self.members += 1;
        if self.members > MAX_MEMBERS {
            return Err(Refusal::archive(InputFault::TooMany { limit: MAX_MEMBERS as usize, items: label!("files") }));
        }
        let name = String::from_utf8_lossy(header.name).into_owned();
        let used = Unpacked::Used(header.length);
        if name.ends_with('/') || name.starts_with("__MACOSX/") {
            self.state = State::Skip { left: header.packed.unwrap_or(0) };
        } else if let Some(property) = header.unsupported() {
            members.refuse(&name, Refusal::archive(InputFault::ArchiveUnsupported { property }));
            self.state = header.packed.map_or(State::Over, |left| State::Skip { left });
        } else {
            members.begin(&name);
            let inflate = (header.method == DEFLATE).then(|| Box::new(Decompress::new(false)));
            let (left, expected) = (header.packed, header.crc);
            self.state = State::Body(Body { left, inflate, crc: Crc::new(), expected });
        }
        Ok(used)
    }
}

impl Body {
    /// Decompresses a piece of `bytes`. True at the end of the body.
    fn step(
        &mut self,
        bytes: &[u8],
        meter: &mut Meter,
        members: &mut impl Members,
    ) -> Result<(Unpacked, bool), Refusal> {
        let max = self.left.map_or(PIECE, |left| PIECE.min(usize::try_from(left).unwrap_or(PIECE)));
        let bytes = &bytes[..bytes.len().min(max)];
        let mut buffer = [0; 16 << 10];
        let (read, over, unpacked) = if let Some(inflate) = &mut self.inflate {
            let (read, written) = (inflate.total_in(), inflate.total_out());
            let status = inflate.decompress(bytes, &mut buffer, FlushDecompress::None);
            let over = status.map_err(|_| Refusal::archive(Doubt::ArchiveDamaged))? == Status::StreamEnd;
            let (read, written) = (inflate.total_in() - read, inflate.total_out() - written);
            (read as usize, over, &buffer[..written as usize])
        } else {
            (bytes.len(), self.left == Some(bytes.len() as u64), bytes)
        };
        meter.add(read, unpacked.len())?;
        self.crc.update(unpacked);
        members.bytes(unpacked);
        self.left = self.left.map(|left| left - read as u64);
        if over || read > 0 || !unpacked.is_empty() {
            Ok((Unpacked::Used(read), over))
        } else if bytes.is_empty() && self.left != Some(0) {
            Ok((Unpacked::Starved, false))
        } else {
            Err(Refusal::archive(Doubt::ArchiveDamaged))
        }
    }
}

const STORED: u16 = 0;
const DEFLATE: u16 = 8;

/// The header of a member (APPNOTE 6.3.10, 4.3.7).
struct MemberHeader<'a> {
    flags: u16,
    method: u16,
    crc: u32,
    /// Bytes of the body, unless a descriptor after it contains them.
    packed: Option<u64>,
    name: &'a [u8],
    /// Bytes of the header.
    length: usize,
}

impl<'a> MemberHeader<'a> {
    /// None if incomplete.
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let short = |at: usize| Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let long = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let (flags, method, crc, packed) = (short(6)?, short(8)?, long(14)?, long(18)?);
        let (name, extra) = (short(26)? as usize, short(28)? as usize);
        let length = 30 + name + extra;
        let extra = bytes.get(30 + name..length)?;
        let packed = match packed {
            u32::MAX => wide_size(extra).unwrap_or(u64::from(packed)),
            packed => u64::from(packed),
        };
        let packed = (flags & 8 == 0).then_some(packed);
        Some(Self { flags, method, crc, packed, name: &bytes[30..30 + name], length })
    }

    fn unsupported(&self) -> Option<&'static str> {
        match (self.flags & 1, self.method, self.packed) {
            (1, ..) => Some("encryption"),
            (_, DEFLATE, _) | (_, STORED, Some(_)) => None,
            _ => Some("compression method"),
        }
    }
}

/// The packed size from the extra field of large members: its second size.
fn wide_size(mut extra: &[u8]) -> Option<u64> {
    loop {
        let (id, length) = (*extra.first_chunk::<2>()?, *extra.get(2..)?.first_chunk::<2>()?);
        let length = u16::from_le_bytes(length) as usize;
        let field = extra.get(4..4 + length)?;
        if u16::from_le_bytes(id) == 1 {
            return field.get(8..)?.first_chunk().map(|size| u64::from_le_bytes(*size));
        }
        extra = &extra[4 + length..];
    }
}

/// The length of a descriptor, and the checksum: its magic is optional, and its sizes may be 64 bits.
fn descriptor(bytes: &[u8]) -> Option<(usize, u32)> {
    let magic = if bytes.starts_with(b"PK\x07\x08") { 4 } else { 0 };
    let crc = u32::from_le_bytes(*bytes.get(magic..)?.first_chunk()?);
    let next = |length: usize| Some(bytes.get(length..)?.first_chunk::<2>()? == b"PK");
    let (narrow, wide) = (magic + 12, magic + 20);
    if next(narrow)? {
        return Some((narrow, crc));
    }
    next(wide)?.then_some((wide, crc))
}

/// Converts an input to UTF-8, according to its first bytes.
#[derive(Default)]
pub(crate) struct Decoder {
    state: Encoding,
}

enum Encoding {
    /// The first bytes, which may have a byte order mark.
    Unknown(Vec<u8>),
    AsIs,
    Wide(encoding_rs::Decoder),
}

impl Default for Encoding {
    fn default() -> Self {
        Self::Unknown(Vec::new())
    }
}

impl Decoder {
    /// Appends the converted `bytes` to `out`.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        match &mut self.state {
            Encoding::AsIs => out.extend_from_slice(bytes),
            Encoding::Wide(decoder) => convert(decoder, bytes, false, out),
            Encoding::Unknown(head) => {
                head.extend_from_slice(bytes);
                if head.len() >= 4 {
                    self.decide(out);
                }
            }
        }
    }

    /// Appends the rest: an input may be shorter than a mark, or end within a character.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) {
        if matches!(self.state, Encoding::Unknown(_)) {
            self.decide(out);
        }
        if let Encoding::Wide(decoder) = &mut self.state {
            convert(decoder, &[], true, out);
        }
    }

    fn decide(&mut self, out: &mut Vec<u8>) {
        let Encoding::Unknown(head) = std::mem::replace(&mut self.state, Encoding::AsIs) else { return };
        let (encoding, mark) = match *head.as_slice() {
            [0xff, 0xfe, ..] => (Some(UTF_16LE), 2),
            [0xfe, 0xff, ..] => (Some(UTF_16BE), 2),
            // Without a mark: two Latin letters, with which every text report begins.
            [a, 0, b, 0, ..] if a != 0 && b != 0 => (Some(UTF_16LE), 0),
            [0, a, 0, b, ..] if a != 0 && b != 0 => (Some(UTF_16BE), 0),
            [0xef, 0xbb, 0xbf, ..] => (None, 3),
            _ => (None, 0),
        };
        if let Some(encoding) = encoding {
            self.state = Encoding::Wide(encoding.new_decoder_without_bom_handling());
        }
        self.push(&head[mark..], out);
    }
}

fn convert(decoder: &mut encoding_rs::Decoder, mut bytes: &[u8], last: bool, out: &mut Vec<u8>) {
    let mut buffer = [0; 4096];
    loop {
        let (result, read, written, _) = decoder.decode_to_utf8(bytes, &mut buffer, last);
        out.extend_from_slice(&buffer[..written]);
        bytes = &bytes[read..];
        if result == CoderResult::InputEmpty {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Decoder;

    fn decoded(bytes: &[u8], step: usize) -> String {
        let (mut decoder, mut out) = (Decoder::default(), Vec::new());
        for piece in bytes.chunks(step) {
            decoder.push(piece, &mut out);
        }
        decoder.end(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    fn wide(text: &str, order: fn(u16) -> [u8; 2], mark: Option<u16>) -> Vec<u8> {
        mark.into_iter().chain(text.encode_utf16()).flat_map(order).collect()
    }

    #[test]
    fn every_encoding_gives_the_same_text_for_any_split() {
        let text = "AWR \u{e4} \u{6708} \u{1f71c} end";
        let inputs = [
            text.as_bytes().to_vec(),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            wide(text, u16::to_le_bytes, Some(0xfeff)),
            wide(text, u16::to_be_bytes, Some(0xfeff)),
            wide(text, u16::to_le_bytes, None),
            wide(text, u16::to_be_bytes, None),
        ];
        for input in &inputs {
            for step in 1..=input.len() {
                assert_eq!(decoded(input, step), text, "step {step}");
            }
        }
    }

    #[test]
    fn short_and_broken_texts_are_decoded() {
        assert_eq!(decoded(b"", 1), "");
        assert_eq!(decoded(b"a", 1), "a");
        assert_eq!(decoded(b"\xff\xfea", 1), "\u{fffd}", "half a unit");
        assert_eq!(decoded(b"\xff\xfe\x00\xd8", 1), "\u{fffd}", "half a pair");
    }
}
