//! Text of logins and discoveries: pairs of keys and values, and the negotiation of the parameters of a session.

use super::wire::Digest;

/// Bytes of the data segments that the target receives at most.
pub(super) const SEGMENT_MAX: u32 = 256 << 10;

/// Bytes of a burst at most: the largest multiple of 1 KiB below 16 MiB.
const BURST_MAX: u32 = (16 << 20) - (1 << 10);

/// Bytes of a burst that needs no permission at most.
const FIRST_BURST_MAX: u32 = 256 << 10;

/// Bytes of a key at most, and of a value (RFC 7143, 6.1).
const KEY_MAX: usize = 63;
const VALUE_MAX: usize = 8192;

/// The bounds of sizes in a negotiation (RFC 7143, 13.12 to 13.14).
const SIZES: std::ops::RangeInclusive<u32> = 512..=(1 << 24) - 1;

/// Key and value of each pair; `None` if a text is malformed.
pub(super) fn split_pairs(text: &[u8]) -> Option<Vec<(&str, &str)>> {
    let items = text.split(|byte| *byte == 0).filter(|item| !item.is_empty());
    items
        .map(|item| {
            let (key, value) = std::str::from_utf8(item).ok()?.split_once('=')?;
            (!key.is_empty() && key.len() <= KEY_MAX && value.len() <= VALUE_MAX).then_some((key, value))
        })
        .collect()
}

/// Appends a pair.
pub(super) fn put(out: &mut Vec<u8>, key: &str, value: impl std::fmt::Display) {
    out.extend_from_slice(format!("{key}={value}\0").as_bytes());
}

/// The result of the negotiation of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parameters {
    pub header_digest: Digest,
    pub data_digest: Digest,
    /// Bytes of the data segments that the initiator receives.
    pub segment: u32,
    /// Bytes of one sequence of data.
    pub burst: u32,
    /// Bytes of data that need no permission.
    pub first_burst: u32,
    /// All data but immediate data need a permission.
    pub initial_r2t: bool,
    /// Data may be in the message of the command.
    pub immediate: bool,
}

impl Default for Parameters {
    /// The values of RFC 7143 for keys that nobody mentions.
    fn default() -> Self {
        Self {
            header_digest: Digest::None,
            data_digest: Digest::None,
            segment: 8192,
            burst: 256 << 10,
            first_burst: 64 << 10,
            initial_r2t: true,
            immediate: true,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyAnswer {
    Value(String),
    /// The key declares a value.
    Silence,
}

impl Parameters {
    /// Negotiates an operational key. `initial_r2t` is the wish of the target.
    pub(super) fn negotiate(&mut self, key: &str, value: &str, initial_r2t: bool) -> KeyAnswer {
        match key {
            "HeaderDigest" => digest(&mut self.header_digest, value),
            "DataDigest" => digest(&mut self.data_digest, value),
            "InitialR2T" => truth(value, |theirs| {
                self.initial_r2t = theirs || initial_r2t;
                self.initial_r2t
            }),
            "ImmediateData" => truth(value, |theirs| {
                self.immediate = theirs;
                theirs
            }),
            "MaxRecvDataSegmentLength" => match size(value) {
                Some(bytes) => {
                    self.segment = bytes;
                    KeyAnswer::Silence
                }
                None => rejected(),
            },
            "MaxBurstLength" => length(&mut self.burst, value, BURST_MAX),
            "FirstBurstLength" => length(&mut self.first_burst, value, FIRST_BURST_MAX),
            "MaxConnections" | "MaxOutstandingR2T" | "iSCSIProtocolLevel" => at_most(value, 1),
            "ErrorRecoveryLevel" | "DefaultTime2Retain" => at_most(value, 0),
            "DefaultTime2Wait" => {
                number(value).map_or_else(rejected, |theirs| KeyAnswer::Value(theirs.max(2).to_string()))
            }
            "DataPDUInOrder" | "DataSequenceInOrder" => truth(value, |_| true),
            "IFMarker" | "OFMarker" => truth(value, |_| false),
            "IFMarkInt" | "OFMarkInt" => KeyAnswer::Value("Irrelevant".to_owned()),
            "TaskReporting" => KeyAnswer::Value("RFC3720".to_owned()),
            _ => KeyAnswer::Value("NotUnderstood".to_owned()),
        }
    }

    /// Bytes of immediate data at most.
    pub(super) fn immediate_max(&self) -> u32 {
        if self.immediate { self.first_burst.min(SEGMENT_MAX) } else { 0 }
    }

    /// Bytes of the data segments that the target sends, whole blocks where possible.
    pub(super) fn piece(&self, block: u32) -> u32 {
        let bytes = self.segment.min(self.burst).min(SEGMENT_MAX);
        if bytes >= block { bytes - bytes % block } else { bytes - bytes % 4 }
    }
}

fn rejected() -> KeyAnswer {
    KeyAnswer::Value("Reject".to_owned())
}

fn truth(value: &str, decide: impl FnOnce(bool) -> bool) -> KeyAnswer {
    let theirs = match value {
        "Yes" => true,
        "No" => false,
        _ => return rejected(),
    };
    KeyAnswer::Value(if decide(theirs) { "Yes" } else { "No" }.to_owned())
}

/// Decimal, or hexadecimal with `0x`.
pub(super) fn number(value: &str) -> Option<u32> {
    match value.strip_prefix("0x").or_else(|| value.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => value.parse().ok(),
    }
}

fn size(value: &str) -> Option<u32> {
    number(value).filter(|bytes| SIZES.contains(bytes))
}

fn at_most(value: &str, limit: u32) -> KeyAnswer {
    number(value).map_or_else(rejected, |theirs| KeyAnswer::Value(theirs.min(limit).to_string()))
}

/// The smaller length, in whole blocks of 4,096 or 512 bytes, so that data arrive in whole blocks.
fn length(of: &mut u32, value: &str, limit: u32) -> KeyAnswer {
    let Some(theirs) = size(value) else { return rejected() };
    let bytes = theirs.min(limit);
    *of = bytes - bytes % if bytes >= 4096 { 1024 } else { 512 };
    KeyAnswer::Value(of.to_string())
}

/// The first known method of the list.
fn digest(of: &mut Digest, value: &str) -> KeyAnswer {
    for method in value.split(',') {
        *of = match method {
            "None" => Digest::None,
            "CRC32C" => Digest::Crc32c,
            _ => continue,
        };
        return KeyAnswer::Value(method.to_owned());
    }
    rejected()
}

/// The bytes of a binary value: hexadecimal with `0x`, or Base64 with `0b`; `None` if it is malformed.
pub(super) fn binary(value: &str) -> Option<Vec<u8>> {
    let (prefix, digits) = value.split_at_checked(2)?;
    match prefix {
        "0x" | "0X" => hexadecimal(digits),
        "0b" | "0B" => base64(digits),
        _ => None,
    }
}

fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = digits.chars().map(|digit| digit.to_digit(16)).collect();
    let digits = digits?;
    let odd = digits.len() % 2;
    let pairs = digits[odd..].chunks_exact(2).map(|pair| (pair[0] * 16 + pair[1]) as u8);
    Some(digits[..odd].iter().map(|digit| *digit as u8).chain(pairs).collect())
}

fn base64(digits: &str) -> Option<Vec<u8>> {
    let digits = digits.trim_end_matches('=');
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_pairs_that_end_with_a_zero() {
        assert_eq!(split_pairs(b"A=1\0B=\0\0"), Some(vec![("A", "1"), ("B", "")]));
        assert_eq!(split_pairs(b""), Some(Vec::new()));
        assert_eq!(split_pairs(b"A\0"), None);
        assert_eq!(split_pairs(b"=1\0"), None);
        assert_eq!(split_pairs(b"A=\xff\0"), None);
    }

    fn check(key: &str, value: &str, expected: &str) -> Parameters {
        let mut parameters = Parameters::default();
        let answer = parameters.negotiate(key, value, false);
        assert_eq!(answer, KeyAnswer::Value(expected.to_owned()), "{key}={value}");
        parameters
    }

    #[test]
    fn each_key_has_its_rule() {
        assert_eq!(check("HeaderDigest", "CRC32C,None", "CRC32C").header_digest, Digest::Crc32c);
        assert_eq!(check("DataDigest", "X,None,CRC32C", "None").data_digest, Digest::None);
        check("DataDigest", "X", "Reject");
        assert!(!check("InitialR2T", "No", "No").initial_r2t);
        assert!(check("InitialR2T", "Yes", "Yes").initial_r2t);
        assert_eq!(Parameters::default().negotiate("InitialR2T", "No", true), KeyAnswer::Value("Yes".to_owned()));
        assert!(!check("ImmediateData", "No", "No").immediate);
        assert_eq!(check("MaxBurstLength", "16776192", "16776192").burst, BURST_MAX);
        assert_eq!(check("FirstBurstLength", "0x7fffff", "262144").first_burst, 262_144);
        assert_eq!(check("FirstBurstLength", "5000", "4096").first_burst, 4096);
        check("FirstBurstLength", "511", "Reject");
        check("MaxConnections", "8", "1");
        check("ErrorRecoveryLevel", "2", "0");
        check("DefaultTime2Wait", "0", "2");
        check("DataPDUInOrder", "No", "Yes");
        check("IFMarker", "Yes", "No");
        check("InitialR2T", "maybe", "Reject");
        check("X-com.example", "1", "NotUnderstood");
        let mut parameters = Parameters::default();
        assert_eq!(parameters.negotiate("MaxRecvDataSegmentLength", "65536", false), KeyAnswer::Silence);
        assert_eq!((parameters.segment, parameters.piece(512)), (65_536, 65_536));
    }

    #[test]
    fn binary_values_are_hexadecimal_or_base64() {
        assert_eq!(binary("0x00ff1"), Some(vec![0, 0x0f, 0xf1]));
        assert_eq!(binary("0bAP8Q"), Some(vec![0, 0xff, 0x10]));
        assert_eq!(binary("0bAP8="), Some(vec![0, 0xff]));
        for malformed in ["", "0", "00", "0xg", "0b*"] {
            assert_eq!(binary(malformed), None, "{malformed}");
        }
    }
}
