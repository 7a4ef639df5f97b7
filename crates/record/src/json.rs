//! JSON of results, in which zero has no sign: the sum of no values is -0.0.

use std::io::{Result, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

/// Serialises to a single line.
///
/// # Panics
/// If a key is not a string.
pub fn to_json_line(value: &impl Serialize) -> Vec<u8> {
    serialize(value, CompactFormatter)
}

/// Serialises with a line for each value.
///
/// # Panics
/// If a key is not a string.
pub fn to_json_pretty(value: &impl Serialize) -> Vec<u8> {
    serialize(value, PrettyFormatter::new())
}

fn serialize(value: &impl Serialize, formatter: impl Formatter) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, UnsignedZero(formatter));
    value.serialize(&mut serializer).expect("results have string keys, and memory accepts all bytes");
    bytes
}

struct UnsignedZero<F>(F);

/// Delegates the methods that [`PrettyFormatter`] implements.
macro_rules! delegate {
    ($($method:ident($($argument:ident: $type:ty)?);)*) => {$(
        fn $method<W: ?Sized + Write>(&mut self, writer: &mut W $(, $argument: $type)?) -> Result<()> {
            self.0.$method(writer $(, $argument)?)
        }
    )*};
}

impl<F: Formatter> Formatter for UnsignedZero<F> {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> Result<()> {
        self.0.write_f64(writer, value + 0.0)
    }

    delegate! {
        begin_array();
        end_array();
        begin_array_value(is_first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(is_first: bool);
        begin_object_value();
        end_object_value();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_no_sign() {
        let value = (0..0).map(f64::from).sum::<f64>();
        assert!(value.is_sign_negative(), "the sum of no values");
        let values = serde_json::json!({ "a": [value, -0.5], "b": {}, "c": null });
        assert_eq!(to_json_line(&values), br#"{"a":[0.0,-0.5],"b":{},"c":null}"#);
        let pretty = serde_json::to_string_pretty(&values).unwrap().replace("-0.0", "0.0");
        assert_eq!(String::from_utf8(to_json_pretty(&values)).unwrap(), pretty);
    }
}
