//! Values in PostgreSQL's text format.
//!
//! Text works for every type. An integer in text format fits columns of any width, including `numeric`.

use bytes::{BufMut, BytesMut};

use crate::digest::RowDigest;
use crate::value::Value;

/// OIDs in `pg_type`, which are fixed.
pub(super) const BYTEA: u32 = 17;
const BOOL: u32 = 16;
const INTEGERS: [u32; 4] = [20, 21, 23, 26];
const FLOATS: [u32; 2] = [700, 701];

/// Value of a column of this type.
pub(super) fn value(kind: u32, text: &[u8]) -> Value {
    let read = std::str::from_utf8(text).ok();
    let parsed = match kind {
        BOOL => Some(Value::Int(i64::from(text == b"t"))),
        BYTEA => decode_bytes(text).map(Value::Bytes),
        kind if INTEGERS.contains(&kind) => read.and_then(|text| text.parse().ok()).map(Value::Int),
        kind if FLOATS.contains(&kind) => read.and_then(|text| text.parse().ok()).map(Value::Float),
        _ => None,
    };
    parsed.unwrap_or_else(|| Value::Text(String::from_utf8_lossy(text).into_owned()))
}

/// True if other systems return the value in a form that differs from PostgreSQL's text.
pub(super) fn differs(kind: u32) -> bool {
    kind == BOOL || kind == BYTEA || FLOATS.contains(&kind)
}

/// Adds a value to the digest, in the form common to all systems.
pub(super) fn digest(kind: u32, text: &[u8], digest: &mut RowDigest) {
    if !differs(kind) {
        return digest.bytes(text);
    }
    match value(kind, text) {
        Value::Int(value) => digest.int(value),
        Value::Float(value) => digest.float(value),
        Value::Bytes(bytes) => digest.bytes(&bytes),
        Value::Text(_) | Value::Null => digest.bytes(text),
    }
}

/// Decodes `\x0a1b`.
fn decode_bytes(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |letter: u8| char::from(letter).to_digit(16);
    let (pairs, rest) = text.strip_prefix(b"\\x")?.as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some((digit(*high)? << 4 | digit(*low)?) as u8)).collect();
    if rest.is_empty() { bytes } else { None }
}

/// Writes a parameter with its length. Bytes for a `bytea` column are binary; see [`formats`].
pub(super) fn parameter(value: &Value, out: &mut BytesMut) {
    let at = out.len();
    out.put_i32(-1);
    match value {
        Value::Null => return,
        Value::Int(number) => integer(*number, out),
        // Integral values have no decimal point, so that they fit integer columns.
        Value::Float(number) if number.abs() < 1e15 => out.put_slice(number.to_string().as_bytes()),
        Value::Float(number) => out.put_slice(format!("{number:e}").as_bytes()),
        Value::Text(text) => out.put_slice(text.as_bytes()),
        Value::Bytes(bytes) => out.put_slice(bytes),
    }
    let length = i32::try_from(out.len() - at - 4).unwrap_or(i32::MAX);
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

/// Writes the parameter formats: a single code if all are text, the usual case.
pub(super) fn formats(kinds: &[u32], values: &[Value], out: &mut BytesMut) {
    let binary = |(kind, value): (&u32, &Value)| *kind == BYTEA && matches!(value, Value::Bytes(_));
    if !kinds.iter().zip(values).any(binary) {
        out.put_i16(0);
        return;
    }
    out.put_u16(values.len() as u16);
    for pair in kinds.iter().zip(values) {
        out.put_i16(i16::from(binary(pair)));
    }
}

/// Writes the digits of an integer without allocation: most parameters are integers.
fn integer(number: i64, out: &mut BytesMut) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        out.put_u8(b'-');
    }
    out.put_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Answer;

    fn written(value: &Value) -> Vec<u8> {
        let mut out = BytesMut::new();
        parameter(value, &mut out);
        let (length, text) = out.split_first_chunk::<4>().unwrap();
        let order = if *value == Value::Null { -1 } else { i32::try_from(text.len()).unwrap() };
        assert_eq!(i32::from_be_bytes(*length), order);
        text.to_vec()
    }

    #[test]
    fn parameters_are_encoded_as_text() {
        for number in [0, 7, -1, 1_234_567_890_123, i64::MAX, i64::MIN] {
            assert_eq!(written(&Value::Int(number)), number.to_string().as_bytes());
        }
        assert_eq!(written(&Value::Float(2.0)), b"2");
        assert_eq!(written(&Value::Float(-0.5)), b"-0.5");
        assert_eq!(written(&Value::Float(1e300)), b"1e300");
        assert_eq!(written(&Value::from("a")), b"a");
        assert_eq!(written(&Value::Null), b"");
        assert_eq!(written(&Value::Bytes(vec![0, 255])), [0, 255]);
    }

    #[test]
    fn bytea_parameters_are_binary() {
        let check = |kinds: &[u32], values: &[Value], order: &[u8]| {
            let mut out = BytesMut::new();
            formats(kinds, values, &mut out);
            assert_eq!(&out[..], order);
        };
        check(&[23, 25], &[Value::Int(1), Value::from("a")], &[0, 0]);
        check(&[23, BYTEA], &[Value::Int(1), Value::Bytes(vec![1])], &[0, 2, 0, 0, 0, 1]);
        check(&[BYTEA], &[Value::from("\\x00")], &[0, 0]);
    }

    #[test]
    fn digests_equal_other_systems() {
        let sum = |feed: &dyn Fn(&mut RowDigest)| {
            let (mut answer, mut row) = (Answer::default(), RowDigest::new());
            feed(&mut row);
            answer.count(row);
            answer.digest
        };
        let of = |kind, text: &[u8]| sum(&|row| digest(kind, text, row));
        assert_eq!(of(BOOL, b"t"), sum(&|row| row.int(1)));
        assert_eq!(of(20, b"-5"), sum(&|row| row.int(-5)));
        assert_eq!(of(701, b"1e+20"), sum(&|row| row.float(1e20)));
        assert_eq!(of(BYTEA, b"\\x4142"), sum(&|row| row.bytes(b"AB")));
        assert_eq!(of(25, b"t"), sum(&|row| row.bytes(b"t")));
        assert!(differs(BOOL) && !differs(25) && !differs(20));
    }

    #[test]
    fn text_values_are_parsed_by_type() {
        assert_eq!(value(16, b"t"), Value::Int(1));
        assert_eq!(value(20, b"-5"), Value::Int(-5));
        assert_eq!(value(701, b"1e+20"), Value::Float(1e20));
        assert_eq!(value(1700, b"1.50"), Value::from("1.50"));
        assert_eq!(value(BYTEA, b"\\x00ff"), Value::Bytes(vec![0, 255]));
        assert_eq!(value(BYTEA, b"\\x0"), Value::from("\\x0"));
        assert_eq!(value(999_999, b"whatever"), Value::from("whatever"));
    }
}
