//! Byte patterns: sequences of numbers, hexadecimal digits, quoted text and file names.

use plimsoll_language::say;

use crate::number::Unreadable;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternPiece {
    /// Literal bytes.
    Bytes(Vec<u8>),
    /// Offset of the block, eight bytes, little-endian. Only for verification.
    Offset,
    File(String),
}

/// Maximum length of a pattern's text; fio's is 512 bytes.
const TEXT_MAX: usize = 4_096;

/// Observed with fio 3.33: `"ab"` is literal, `'name'` a file, `0x123` the bytes 01 23, a decimal number its minimal
/// little-endian encoding, `%o` the offset.
pub(super) fn read(text: &str) -> Result<Vec<PatternPiece>, Unreadable> {
    if text.len() > TEXT_MAX {
        return Err(Unreadable(say!("longer than {TEXT_MAX} letters; write a shorter one, or the name of a file")));
    }
    let wrong =
        || Unreadable("no pattern; write bytes as 0xdeadbeef, a number, \"text\" in quotes or 'a file'".to_owned());
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = if let Some(quoted) = rest.strip_prefix('"') {
            let (inside, after) = quoted.split_once('"').filter(|(inside, _)| !inside.is_empty()).ok_or_else(wrong)?;
            (PatternPiece::Bytes(inside.as_bytes().to_vec()), after)
        } else if let Some(quoted) = rest.strip_prefix('\'') {
            let (inside, after) = quoted.split_once('\'').filter(|(inside, _)| !inside.is_empty()).ok_or_else(wrong)?;
            (PatternPiece::File(inside.to_owned()), after)
        } else if let Some(after) = rest.strip_prefix("%o") {
            (PatternPiece::Offset, after)
        } else if let Some(digits) = rest.strip_prefix("0x") {
            let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
            (PatternPiece::Bytes(hexadecimal(&digits[..end]).ok_or_else(wrong)?), &digits[end..])
        } else {
            let sign = usize::from(rest.starts_with('-'));
            let end = rest[sign..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |end| end + sign);
            // A zero before an x begins a hexadecimal number: `-120xff` is -12 and 0xff.
            let begins_hexadecimal = end > sign + 1 && rest[..end].ends_with('0') && rest[end..].starts_with('x');
            let end = end - usize::from(begins_hexadecimal);
            let number: i32 = rest[..end].parse().map_err(|_| wrong())?;
            (PatternPiece::Bytes(least_bytes(number)), &rest[end..])
        };
        pieces.push(piece);
        rest = after;
    }
    if pieces.is_empty() { Err(wrong()) } else { Ok(pieces) }
}

fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    if digits.is_empty() {
        return None;
    }
    let padded = if digits.len().is_multiple_of(2) { digits.to_owned() } else { format!("0{digits}") };
    padded.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// Minimal little-endian encoding of a number.
fn least_bytes(number: i32) -> Vec<u8> {
    let bytes = number.to_le_bytes();
    let used = 4 - bytes.iter().rev().take_while(|byte| **byte == 0).count();
    bytes[..used.max(1)].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_parsed() {
        let check = |text: &str, expected: Option<&[u8]>| {
            let pieces = read(text).ok();
            let bytes = pieces.map(|pieces| {
                pieces
                    .into_iter()
                    .flat_map(|p| if let PatternPiece::Bytes(b) = p { b } else { vec![] })
                    .collect::<Vec<u8>>()
            });
            assert_eq!(bytes.as_deref(), expected, "{text}");
        };
        check("0xdeadbeef", Some(&[0xde, 0xad, 0xbe, 0xef]));
        check("0x123", Some(&[0x01, 0x23]));
        check("\"ab\"0x12", Some(b"ab\x12"));
        check("300", Some(&[0x2c, 0x01]));
        check("0", Some(&[0]));
        check("-12", Some(&[0xf4, 0xff, 0xff, 0xff]));
        check("\"abcd\"-120xdeadface", Some(b"abcd\xf4\xff\xff\xff\xde\xad\xfa\xce"));
        check("120x12", Some(&[0x0c, 0x12]));
        check("2147483648", None);
        check("abc", None);
        check("\"ab", None);
        check("\"\"", None);
        check("0x", None);
        check("", None);
        assert_eq!(read("0xff%o"), Ok(vec![PatternPiece::Bytes(vec![0xff]), PatternPiece::Offset]));
        assert_eq!(read("'/a b'"), Ok(vec![PatternPiece::File("/a b".to_owned())]));
    }
}
