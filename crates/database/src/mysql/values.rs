//! Conversion of values between the protocol and this crate.
//!
//! The text protocol sends all values as text, the binary protocol most as numbers. The type of the column makes both
//! equal. Decimals and dates are text.

use mysql::consts::ColumnType;
use mysql::{Column, Params};

use crate::digest::RowDigest;
use crate::value::Value;

/// Character set number of binary strings.
const BINARY: u16 = 63;

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    Integer,
    Float,
    Bits,
    Text,
    Bytes,
    Date,
    /// Date and time, with this many fractional digits.
    Moment(usize),
    /// Time, with this many fractional digits.
    Time(usize),
}

impl ValueKind {
    pub(super) fn of(column: &Column) -> Self {
        use ColumnType as Type;
        let digits = usize::from(column.decimals());
        match column.column_type() {
            Type::MYSQL_TYPE_TINY
            | Type::MYSQL_TYPE_SHORT
            | Type::MYSQL_TYPE_INT24
            | Type::MYSQL_TYPE_LONG
            | Type::MYSQL_TYPE_LONGLONG
            | Type::MYSQL_TYPE_YEAR => Self::Integer,
            Type::MYSQL_TYPE_FLOAT | Type::MYSQL_TYPE_DOUBLE => Self::Float,
            Type::MYSQL_TYPE_BIT => Self::Bits,
            Type::MYSQL_TYPE_DATE | Type::MYSQL_TYPE_NEWDATE => Self::Date,
            Type::MYSQL_TYPE_DATETIME
            | Type::MYSQL_TYPE_DATETIME2
            | Type::MYSQL_TYPE_TIMESTAMP
            | Type::MYSQL_TYPE_TIMESTAMP2 => Self::Moment(digits),
            Type::MYSQL_TYPE_TIME | Type::MYSQL_TYPE_TIME2 => Self::Time(digits),
            Type::MYSQL_TYPE_DECIMAL | Type::MYSQL_TYPE_NEWDECIMAL | Type::MYSQL_TYPE_JSON => Self::Text,
            _ if column.character_set() == BINARY => Self::Bytes,
            _ => Self::Text,
        }
    }

    /// Converts a value of the column.
    pub(super) fn value(self, value: mysql::Value) -> Value {
        match value {
            mysql::Value::NULL => Value::Null,
            mysql::Value::Int(value) => Value::Int(value),
            mysql::Value::UInt(value) => unsigned(value),
            // Through text: a 32-bit 0.1 becomes 0.1, as in the text protocol.
            mysql::Value::Float(value) => Value::Float(value.to_string().parse().unwrap_or(f64::from(value))),
            mysql::Value::Double(value) => Value::Float(value),
            mysql::Value::Date(year, month, day, hour, minute, second, micros) => {
                let date = format!("{year:04}-{month:02}-{day:02}");
                Value::Text(match self {
                    Self::Moment(digits) => {
                        format!("{date} {hour:02}:{minute:02}:{second:02}{}", fraction(micros, digits))
                    }
                    _ => date,
                })
            }
            mysql::Value::Time(negative, days, hours, minutes, seconds, micros) => {
                let digits = if let Self::Time(digits) = self { digits } else { 0 };
                let (sign, hours) = (if negative { "-" } else { "" }, days * 24 + u32::from(hours));
                Value::Text(format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{}", fraction(micros, digits)))
            }
            mysql::Value::Bytes(bytes) => self.bytes(bytes),
        }
    }

    fn bytes(self, bytes: Vec<u8>) -> Value {
        match self {
            Self::Bits => unsigned(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))),
            Self::Bytes => Value::Bytes(bytes),
            _ => match String::from_utf8(bytes) {
                Ok(text) => self.text(text),
                Err(error) => Value::Bytes(error.into_bytes()),
            },
        }
    }

    fn text(self, text: String) -> Value {
        let number = match self {
            Self::Integer => text.parse().ok().map(Value::Int),
            Self::Float => text.parse().ok().map(Value::Float),
            _ => None,
        };
        number.unwrap_or(Value::Text(text))
    }
}

/// Values beyond `i64` stay exact as text.
fn unsigned(value: u64) -> Value {
    i64::try_from(value).map_or_else(|_| Value::Text(value.to_string()), Value::Int)
}

/// Fractional digits of a second. Digits beyond the column's declaration are kept.
fn fraction(micros: u32, digits: usize) -> String {
    let digits = match digits {
        1..=6 => digits,
        _ if micros > 0 => 6,
        _ => return String::new(),
    };
    format!(".{}", &format!("{micros:06}")[..digits])
}

/// Adds a value to the digest of its row.
pub(super) fn digested(digest: &mut RowDigest, value: &Value) {
    match value {
        Value::Null => digest.null(),
        Value::Int(value) => digest.int(*value),
        Value::Float(value) => digest.float(*value),
        Value::Text(text) => digest.bytes(text.as_bytes()),
        Value::Bytes(bytes) => digest.bytes(bytes),
    }
}

/// Parameters of a prepared statement.
pub(super) fn parameters(values: &[Value]) -> Params {
    let parameter = |value: &Value| match value {
        Value::Null => mysql::Value::NULL,
        Value::Int(value) => mysql::Value::Int(*value),
        Value::Float(value) => mysql::Value::Double(*value),
        Value::Text(text) => mysql::Value::Bytes(text.clone().into_bytes()),
        Value::Bytes(bytes) => mysql::Value::Bytes(bytes.clone()),
    };
    if values.is_empty() { Params::Empty } else { Params::Positional(values.iter().map(parameter).collect()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_protocols_give_the_same_values() {
        let bytes = |text: &str| mysql::Value::Bytes(text.into());
        let check = |holds: ValueKind, text: &str, binary: mysql::Value, value: Value| {
            assert_eq!(holds.value(bytes(text)), value);
            assert_eq!(holds.value(binary), value);
        };
        check(ValueKind::Integer, "-7", mysql::Value::Int(-7), Value::Int(-7));
        check(ValueKind::Integer, "18446744073709551615", mysql::Value::UInt(u64::MAX), "18446744073709551615".into());
        check(ValueKind::Float, "0.1", mysql::Value::Float(0.1), Value::Float(0.1));
        check(ValueKind::Float, "1e300", mysql::Value::Double(1e300), Value::Float(1e300));
        check(ValueKind::Date, "2024-02-29", mysql::Value::Date(2024, 2, 29, 0, 0, 0, 0), "2024-02-29".into());
        let midnight = mysql::Value::Date(2024, 2, 29, 0, 0, 0, 0);
        check(ValueKind::Moment(0), "2024-02-29 00:00:00", midnight, "2024-02-29 00:00:00".into());
        let late = mysql::Value::Date(2024, 2, 29, 23, 59, 58, 120_000);
        check(ValueKind::Moment(2), "2024-02-29 23:59:58.12", late, "2024-02-29 23:59:58.12".into());
        check(ValueKind::Time(0), "-49:00:01", mysql::Value::Time(true, 2, 1, 0, 1, 0), "-49:00:01".into());
        assert_eq!(ValueKind::Bits.value(mysql::Value::Bytes(vec![1, 2])), Value::Int(258));
        assert_eq!(ValueKind::Bytes.value(bytes("a")), Value::Bytes(b"a".to_vec()));
        assert_eq!(ValueKind::Text.value(mysql::Value::Bytes(vec![0xff])), Value::Bytes(vec![0xff]));
    }
}
