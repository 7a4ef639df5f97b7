//! Numbers and fields of a line, without a copy of it. Knows no dialect.

/// Cuts a line at each `separator`. Returns how many fields there are; those beyond `fields` are counted only.
///
/// Fields are short: looking at each byte is faster than any search.
pub(super) fn split<'a>(line: &'a [u8], separator: u8, fields: &mut [&'a [u8]]) -> usize {
    let mut count = 0;
    let mut begin = 0;
    for (at, byte) in line.iter().enumerate() {
        if *byte == separator {
            if let Some(field) = fields.get_mut(count) {
                *field = trimmed(&line[begin..at]);
            }
            count += 1;
            begin = at + 1;
        }
    }
    if let Some(field) = fields.get_mut(count) {
        *field = trimmed(&line[begin..]);
    }
    count + 1
}

/// Most fields have no blanks at their ends.
#[inline]
fn trimmed(field: &[u8]) -> &[u8] {
    match field {
        [first, .., last] if *first > b' ' && *last > b' ' => field,
        _ => field.trim_ascii(),
    }
}

/// The same at runs of blanks and tabs, none of which is a field. Stops when `fields` are full, so that one more than
/// are wanted tells whether there are more.
pub(super) fn words<'a>(line: &'a [u8], fields: &mut [&'a [u8]]) -> usize {
    let mut at = 0;
    for (count, field) in fields.iter_mut().enumerate() {
        while line.get(at).is_some_and(|byte| *byte <= b' ') {
            at += 1;
        }
        let begin = at;
        while line.get(at).is_some_and(|byte| *byte > b' ') {
            at += 1;
        }
        if begin == at {
            return count;
        }
        *field = &line[begin..at];
    }
    fields.len()
}

/// Digits and nothing else.
#[inline]
pub(super) fn whole(text: &[u8]) -> Option<u64> {
    // Up to here no digits are too many.
    const SAFE: usize = 19;
    if text.is_empty() || text.len() > SAFE + 1 {
        return None;
    }
    let (head, last) = text.split_at(text.len().min(SAFE));
    let mut value: u64 = 0;
    for byte in head {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    match last {
        [] => Some(value),
        [digit @ b'0'..=b'9', ..] => value.checked_mul(10)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    }
}

/// A number with or without decimals, times `unit`: `1.5` with a unit of 1,000,000,000 is 1,500,000,000. Digits below
/// one are dropped.
pub(super) fn scaled(text: &[u8], unit: u64) -> Option<u64> {
    let Some(point) = text.iter().position(|byte| *byte == b'.') else { return whole(text)?.checked_mul(unit) };
    let (before, after) = (&text[..point], &text[point + 1..]);
    let mut value = if before.is_empty() { 0 } else { whole(before)?.checked_mul(unit)? };
    if before.is_empty() && after.is_empty() {
        return None;
    }
    let mut unit = unit;
    for byte in after {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        unit /= 10;
        value = value.checked_add(u64::from(digit) * unit)?;
    }
    Some(value)
}

/// Hexadecimal digits, with or without `0x`.
pub(super) fn hexadecimal(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")).unwrap_or(text);
    let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u64::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::{hexadecimal, scaled, split, whole, words};

    #[test]
    fn numbers_are_digits_and_nothing_else() {
        assert_eq!((whole(b"0"), whole(b"18446744073709551615")), (Some(0), Some(u64::MAX)));
        for text in [&b""[..], b"-1", b"1.0", b"18446744073709551616", b"1e3", b" 1"] {
            assert_eq!(whole(text), None, "{text:?}");
        }
        let table: [(&[u8], u64, Option<u64>); 8] = [
            (b"1.5", 1_000_000_000, Some(1_500_000_000)),
            (b"0.000001850", 1_000_000_000, Some(1_850)),
            (b".25", 1_000, Some(250)),
            (b"7.", 1_000, Some(7_000)),
            (b"3", 100, Some(300)),
            (b"0.123456", 1_000, Some(123)),
            (b".", 1_000, None),
            (b"1.2.3", 1_000, None),
        ];
        for (text, unit, expected) in table {
            assert_eq!(scaled(text, unit), expected, "{text:?}");
        }
        assert_eq!((hexadecimal(b"2a"), hexadecimal(b"0x28"), hexadecimal(b"R")), (Some(0x2a), Some(0x28), None));
    }

    #[test]
    fn fields_beyond_the_room_are_counted() {
        let mut two: [&[u8]; 2] = [b""; 2];
        assert_eq!((split(b"a, b,c", b',', &mut two), two), (3, [&b"a"[..], b"b"]));
        assert_eq!((words(b"  a\t b c ", &mut two), two), (2, [&b"a"[..], b"b"]));
        assert_eq!((words(b" c ", &mut two), two), (1, [&b"c"[..], b"b"]), "what is not there is left alone");
        assert_eq!((split(b"", b',', &mut two), words(b" ", &mut two)), (1, 0));
    }
}
