//! Gzip, told by its first two bytes; anything else passes as it is.

use std::io::Write;

use flate2::write::MultiGzDecoder;

use super::{Meter, PIECE};
use crate::refusal::Refusal;

/// Unpacks one input if it is gzip.
#[derive(Default)]
pub(crate) struct Gunzip {
    state: State,
    meter: Meter,
}

#[derive(Default)]
enum State {
    #[default]
    Begin,
    /// The first byte fits.
    Half,
    Plain,
    Packed(Box<MultiGzDecoder<Vec<u8>>>),
    /// Broken, or ended: what follows is dropped.
    Over,
}

/// How an unpacked input ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Whole,
    Cut,
}

const MAGIC: [u8; 2] = [0x1f, 0x8b];

impl Gunzip {
    /// Appends to `out` what `bytes` hold.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
        match (&mut self.state, bytes) {
            (_, []) | (State::Over, _) => Ok(()),
            (State::Plain, _) => {
                self.meter.add(bytes.len(), bytes.len())?;
                out.extend_from_slice(bytes);
                Ok(())
            }
            (State::Packed(decoder), _) => {
                let fine = unpack(decoder, &mut self.meter, bytes, out)?;
                if !fine {
                    self.state = State::Over;
                }
                Ok(())
            }
            (State::Begin, [first, rest @ ..]) if *first == MAGIC[0] => {
                self.state = State::Half;
                self.push(rest, out)
            }
            (State::Half, [second, ..]) if *second == MAGIC[1] => {
                self.state = State::Packed(Box::new(MultiGzDecoder::new(Vec::new())));
                self.push(&MAGIC[..1], out)?;
                self.push(bytes, out)
            }
            (state, _) => {
                let first = matches!(state, State::Half);
                self.state = State::Plain;
                out.extend_from_slice(if first { &MAGIC[..1] } else { &[] });
                self.push(bytes, out)
            }
        }
    }

    /// Learns that there is no more.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) -> Ending {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Packed(mut decoder) => {
                let whole = decoder.try_finish().is_ok();
                out.append(decoder.get_mut());
                if whole { Ending::Whole } else { Ending::Cut }
            }
            State::Over => Ending::Cut,
            State::Half => {
                out.push(MAGIC[0]);
                Ending::Whole
            }
            State::Begin | State::Plain => Ending::Whole,
        }
    }
}

/// False when what came is not gzip any more.
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
