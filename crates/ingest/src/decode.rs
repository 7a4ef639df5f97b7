//! Encodings of text: a byte order mark is taken off, UTF-16 becomes UTF-8, everything else passes as it is.

use encoding_rs::{CoderResult, UTF_16BE, UTF_16LE};

/// Turns an input's bytes into UTF-8, as far as its first bytes tell the encoding.
#[derive(Default)]
pub(crate) struct Decoder {
    state: State,
}

enum State {
    /// The first bytes: a mark may be among them.
    Unknown(Vec<u8>),
    AsIs,
    Wide(encoding_rs::Decoder),
}

impl Default for State {
    fn default() -> Self {
        Self::Unknown(Vec::new())
    }
}

impl Decoder {
    /// Appends to `out` what `bytes` say.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        match &mut self.state {
            State::AsIs => out.extend_from_slice(bytes),
            State::Wide(decoder) => convert(decoder, bytes, false, out),
            State::Unknown(head) => {
                head.extend_from_slice(bytes);
                if head.len() >= 4 {
                    self.decide(out);
                }
            }
        }
    }

    /// Appends what is left: an input may be shorter than a mark, and end within a letter.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) {
        if matches!(self.state, State::Unknown(_)) {
            self.decide(out);
        }
        if let State::Wide(decoder) = &mut self.state {
            convert(decoder, &[], true, out);
        }
    }

    fn decide(&mut self, out: &mut Vec<u8>) {
        let State::Unknown(head) = std::mem::replace(&mut self.state, State::AsIs) else { return };
        let (encoding, mark) = match *head.as_slice() {
            [0xff, 0xfe, ..] => (Some(UTF_16LE), 2),
            [0xfe, 0xff, ..] => (Some(UTF_16BE), 2),
            // Without a mark: two Latin letters, which is how every text report begins.
            [a, 0, b, 0, ..] if a != 0 && b != 0 => (Some(UTF_16LE), 0),
            [0, a, 0, b, ..] if a != 0 && b != 0 => (Some(UTF_16BE), 0),
            [0xef, 0xbb, 0xbf, ..] => (None, 3),
            _ => (None, 0),
        };
        if let Some(encoding) = encoding {
            self.state = State::Wide(encoding.new_decoder_without_bom_handling());
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
    fn every_encoding_gives_the_same_text_however_it_is_cut() {
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
    fn short_and_broken_texts_end_well() {
        assert_eq!(decoded(b"", 1), "");
        assert_eq!(decoded(b"a", 1), "a");
        assert_eq!(decoded(b"\xff\xfea", 1), "\u{fffd}", "half a unit");
        assert_eq!(decoded(b"\xff\xfe\x00\xd8", 1), "\u{fffd}", "half a pair");
    }
}
