//! Zip archives, read from their first byte to their last: members are unpacked as they come, and the directory at the
//! end is not needed.

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::{Meter, PIECE};
use crate::refusal::Refusal;

/// What takes the members of an archive.
pub(crate) trait Members {
    /// A member begins.
    fn begin(&mut self, name: &str);
    /// Bytes of the member that began last.
    fn bytes(&mut self, bytes: &[u8]);
    /// It ended; or broke off, for that reason.
    fn end(&mut self, broken: Option<&'static str>);
    /// A member, or all that follows, cannot be read.
    fn refuse(&mut self, name: &str, refusal: Refusal);
}

/// One archive.
#[derive(Default)]
pub(crate) struct Archive {
    /// Bytes that are not enough for a step.
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
    /// What follows a body of unknown length.
    Descriptor {
        crc: u32,
    },
    Skip {
        left: u64,
    },
    Over,
}

struct Body {
    /// Packed bytes to come, where the header says so.
    left: Option<u64>,
    /// None for members that are stored as they are.
    inflate: Option<Box<Decompress>>,
    crc: Crc,
    expected: u32,
}

/// How a step went: the bytes that it used, or that it needs more.
enum Step {
    Used(usize),
    Starved,
}

const CUT: &str = "the archive ends early: copy it again";
const DAMAGED: &str = "the archive is damaged: pack it again";
const MOST_MEMBERS: u32 = 100_000;

impl Archive {
    /// How archives begin; the second is an empty one.
    pub(crate) const MAGICS: [[u8; 4]; 2] = [*b"PK\x03\x04", *b"PK\x05\x06"];

    pub(crate) fn push(&mut self, bytes: &[u8], members: &mut impl Members) {
        for piece in bytes.chunks(16 * PIECE) {
            let mut rest = std::mem::take(&mut self.rest);
            rest.extend_from_slice(piece);
            let mut used = 0;
            while !matches!(self.state, State::Over) {
                match self.step(&rest[used..], members) {
                    Ok(Step::Used(more)) => used += more,
                    Ok(Step::Starved) => break,
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
            State::Body(_) | State::Descriptor { .. } => members.end(Some(CUT)),
            State::Header | State::Skip { .. } => members.refuse("", Refusal::Archive { what: CUT }),
            State::Over if self.members == 0 => members.refuse("", Refusal::Archive { what: "it has no file in it" }),
            State::Over => {}
        }
    }

    fn give_up(&mut self, refusal: Refusal, members: &mut impl Members) {
        let inside = matches!(self.state, State::Body(_) | State::Descriptor { .. });
        self.state = State::Over;
        self.members += 1;
        if inside && matches!(refusal, Refusal::Archive { .. }) {
            members.end(Some(DAMAGED));
        } else {
            members.refuse("", refusal);
        }
    }

    fn step(&mut self, bytes: &[u8], members: &mut impl Members) -> Result<Step, Refusal> {
        match &mut self.state {
            State::Header => self.header(bytes, members),
            State::Body(body) => {
                let progress = body.step(bytes, &mut self.meter, members)?;
                if let Progress::Over(_) = progress {
                    let crc = body.crc.sum();
                    self.state = match body.left {
                        None => State::Descriptor { crc },
                        Some(left) => {
                            members.end((crc != body.expected).then_some(DAMAGED));
                            State::Skip { left }
                        }
                    };
                }
                Ok(match progress {
                    Progress::Over(used) | Progress::More(used) => Step::Used(used),
                    Progress::Starved => Step::Starved,
                })
            }
            State::Descriptor { crc } => {
                let Some((length, expected)) = descriptor(bytes) else { return Ok(Step::Starved) };
                members.end((*crc != expected).then_some(DAMAGED));
                self.state = State::Header;
                Ok(Step::Used(length))
            }
            State::Skip { left: 0 } => {
                self.state = State::Header;
                Ok(Step::Used(0))
            }
            State::Skip { left } => {
                let used = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= used as u64;
                Ok(if used == 0 { Step::Starved } else { Step::Used(used) })
            }
            State::Over => Ok(Step::Starved),
        }
    }

    fn header(&mut self, bytes: &[u8], members: &mut impl Members) -> Result<Step, Refusal> {
        let Some(magic) = bytes.first_chunk::<4>() else { return Ok(Step::Starved) };
        match magic {
            b"PK\x03\x04" => {}
            // The directory, or another part of the end.
            [b'P', b'K', ..] => {
                self.state = State::Over;
                return Ok(Step::Used(0));
            }
            _ => return Err(Refusal::Archive { what: DAMAGED }),
        }
        let Some(header) = Header::read(bytes) else { return Ok(Step::Starved) };
        self.members += 1;
        if self.members > MOST_MEMBERS {
            return Err(Refusal::Archive { what: "it has more than 100,000 files: give it in parts" });
        }
        let name = String::from_utf8_lossy(header.name).into_owned();
        let used = Step::Used(header.length);
        if name.ends_with('/') || name.starts_with("__MACOSX/") {
            self.state = State::Skip { left: header.packed.unwrap_or(0) };
        } else if let Some(what) = header.unreadable() {
            members.refuse(&name, Refusal::Archive { what });
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
    /// Unpacks a piece of `bytes`.
    fn step(&mut self, bytes: &[u8], meter: &mut Meter, members: &mut impl Members) -> Result<Progress, Refusal> {
        let most = self.left.map_or(PIECE, |left| PIECE.min(usize::try_from(left).unwrap_or(PIECE)));
        let bytes = &bytes[..bytes.len().min(most)];
        let mut buffer = [0; 16 << 10];
        let (read, over, unpacked) = if let Some(inflate) = &mut self.inflate {
            let (read, written) = (inflate.total_in(), inflate.total_out());
            let status = inflate.decompress(bytes, &mut buffer, FlushDecompress::None);
            let over = status.map_err(|_| Refusal::Archive { what: DAMAGED })? == Status::StreamEnd;
            let (read, written) = (inflate.total_in() - read, inflate.total_out() - written);
            (read as usize, over, &buffer[..written as usize])
        } else {
            (bytes.len(), self.left == Some(bytes.len() as u64), bytes)
        };
        meter.add(read, unpacked.len())?;
        self.crc.update(unpacked);
        members.bytes(unpacked);
        self.left = self.left.map(|left| left - read as u64);
        match (over, read > 0 || !unpacked.is_empty()) {
            (true, _) => Ok(Progress::Over(read)),
            (false, true) => Ok(Progress::More(read)),
            (false, false) if bytes.is_empty() && self.left != Some(0) => Ok(Progress::Starved),
            (false, false) => Err(Refusal::Archive { what: DAMAGED }),
        }
    }
}

/// What became of a piece of a body: how many bytes of it were used.
#[derive(Clone, Copy)]
enum Progress {
    Starved,
    More(usize),
    Over(usize),
}

const STORED: u16 = 0;
const DEFLATE: u16 = 8;

/// The header of a member (APPNOTE 6.3.10, 4.3.7).
struct Header<'a> {
    flags: u16,
    method: u16,
    crc: u32,
    /// Bytes of the body, unless they are said only after it.
    packed: Option<u64>,
    name: &'a [u8],
    /// Bytes of the header.
    length: usize,
}

impl<'a> Header<'a> {
    /// None when it has not come completely.
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

    fn unreadable(&self) -> Option<&'static str> {
        match (self.flags & 1, self.method, self.packed) {
            (1, ..) => Some("it is encrypted: unpack it first"),
            (_, DEFLATE, _) | (_, STORED, Some(_)) => None,
            _ => Some("it is packed in a way that is not read here: unpack it first"),
        }
    }
}

/// The packed size out of the extra field of large members: the second of the sizes in it.
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

/// The length and the checksum of what follows a body: its magic may be left out, and its sizes may be wide.
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
