//! Digest of an answer: equal for equal rows in any order, on every database system.
//!
//! Each row is hashed by FNV-1a (Fowler, Noll, Vo 1991) over the text of its values and then mixed, so that differences
//! survive summation; the hashes of all rows are added.

use std::fmt::Write as _;

use crate::target::Answer;

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;
/// Terminator of a value, a byte that never occurs in UTF-8: `ab`, `c` differs from `a`, `bc`.
const END: u8 = 0xff;
/// NULL, distinct from empty text.
const NULL: u8 = 0xfe;

/// Hash of a row in progress.
#[derive(Clone, Copy, Debug)]
pub struct RowDigest(u64);

impl Default for RowDigest {
    fn default() -> Self {
        Self::new()
    }
}

impl RowDigest {
    /// Hash of an empty row.
    pub const fn new() -> Self {
        Self(BASIS)
    }

    pub fn null(&mut self) {
        self.bytes(&[NULL]);
    }

    /// Adds an integer.
    pub fn int(&mut self, value: i64) {
        let _ = write!(DigestText(self), "{value}");
        self.byte(END);
    }

    /// Adds a floating-point number as its shortest decimal text: 2 and 2.0 are equal.
    pub fn float(&mut self, value: f64) {
        let _ = write!(DigestText(self), "{value}");
        self.byte(END);
    }

    /// Adds text or bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.add(bytes);
        self.byte(END);
    }

    /// The finished hash, by the finalizer of `SplitMix64` (Steele, Lea, Flood, 2014).
    const fn finish(self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.byte(*byte);
        }
    }

    const fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ byte as u64).wrapping_mul(PRIME);
    }
}

/// Formats numbers directly into the hash, without allocation.
struct DigestText<'a>(&'a mut RowDigest);

impl std::fmt::Write for DigestText<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.add(text.as_bytes());
        Ok(())
    }
}

impl Answer {
    /// Adds a returned row.
    pub const fn count(&mut self, row: RowDigest) {
        self.rows += 1;
        self.digest = self.digest.wrapping_add(row.finish());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    fn digest(rows: &[&[Value]]) -> u64 {
        let mut answer = Answer::default();
        for row in rows {
            let mut digest = RowDigest::new();
            for value in *row {
                match value {
                    Value::Null => digest.null(),
                    Value::Int(value) => digest.int(*value),
                    Value::Float(value) => digest.float(*value),
                    Value::Text(text) => digest.bytes(text.as_bytes()),
                    Value::Bytes(bytes) => digest.bytes(bytes),
                }
            }
            answer.count(digest);
        }
        assert_eq!(answer.rows, rows.len() as u64);
        answer.digest
    }

    #[test]
    fn digest_is_independent_of_order_and_number_type() {
        let (one, two): (&[Value], &[Value]) = (&[1.into(), "a".into()], &[2.into(), Value::Null]);
        assert_eq!(digest(&[one, two]), digest(&[two, one]));
        assert_eq!(digest(&[one]), digest(&[&["1".into(), Value::Bytes(b"a".to_vec())]]));
        assert_eq!(digest(&[&[Value::Float(2.0)]]), digest(&[&[2.into()]]));
        assert_eq!(digest(&[]), 0);
    }

    #[test]
    fn different_rows_have_different_digests() {
        let rows: [&[Value]; 7] = [
            &["ab".into(), "c".into()],
            &["a".into(), "bc".into()],
            &["abc".into()],
            &["".into()],
            &[Value::Null],
            &[Value::Null, Value::Null],
            &[],
        ];
        let mut digests: Vec<u64> = rows.iter().map(|row| digest(&[row])).collect();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), rows.len());
        assert_ne!(digest(&[rows[0], rows[0]]), 0, "two equal rows do not cancel out");
    }
}
