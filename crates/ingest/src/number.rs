//! Numbers as reports print them.

/// Which mark stands before the decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numerals {
    /// `1,234.5`
    #[default]
    Point,
    /// `1.234,5`
    Comma,
}

impl Numerals {
    /// What `text` says, when it is a number and nothing else: with or without marks between the thousands, with leading
    /// zero or none (`.5`), with an exponent (`1.5E+07`). A column of `####` is no number.
    pub fn number(self, text: &str) -> Option<f64> {
        let text = text.trim();
        let (decimal, thousands) = match self {
            Self::Point => (b'.', b','),
            Self::Comma => (b',', b'.'),
        };
        // Longer than any number that is printed: rather no number than one with digits cut off.
        let mut plain = [0_u8; 64];
        let mut length = 0;
        for &byte in text.as_bytes() {
            let byte = match byte {
                _ if byte == thousands => continue,
                _ if byte == decimal => b'.',
                b'0'..=b'9' | b'-' | b'+' | b'e' | b'E' => byte,
                _ => return None,
            };
            *plain.get_mut(length)? = byte;
            length += 1;
        }
        let plain = std::str::from_utf8(&plain[..length]).ok()?;
        if plain.bytes().any(|byte| byte.is_ascii_digit()) { plain.parse().ok() } else { None }
    }

    /// Which of the two a number is printed in whose decimals are known to be there, such as `60.22`.
    pub fn of(text: &str) -> Option<Self> {
        match text.bytes().rev().find(|byte| !byte.is_ascii_digit())? {
            b'.' => Some(Self::Point),
            b',' => Some(Self::Comma),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Numerals::{self, Comma, Point};

    #[test]
    fn numbers_are_read_as_printed() {
        let table: [(Numerals, &str, Option<f64>); 16] = [
            (Point, "1,234,567.5", Some(1_234_567.5)),
            (Point, " .06 ", Some(0.06)),
            (Point, "-3", Some(-3.0)),
            (Point, "1.5E+07", Some(1.5e7)),
            (Point, "1.E+03", Some(1_000.0)),
            (Point, "1.07832e+06", Some(1_078_320.0)),
            (Point, "", None),
            (Point, ".", None),
            (Point, "-", None),
            (Point, "#####", None),
            (Point, "12K", None),
            (Point, "E", None),
            (Point, "1e", None),
            (Comma, "1.234,5", Some(1_234.5)),
            (Comma, ",06", Some(0.06)),
            (Comma, "12", Some(12.0)),
        ];
        for (numerals, text, expected) in table {
            assert_eq!(numerals.number(text), expected, "{text:?}");
        }
        assert_eq!(Point.number(&"1".repeat(65)), None);
        assert_eq!(
            (Numerals::of("60.22"), Numerals::of("1.060,22"), Numerals::of("60")),
            (Some(Point), Some(Comma), None)
        );
    }
}
