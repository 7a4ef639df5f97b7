//! The description of an emulated export, which prevents its latencies from being mistaken for measured ones.
//!
//! Sent as the export's description, readable by people and programs: `emulated like oci:50GB@0vpu: limit(3000)`.

use std::fmt;
use std::str::FromStr;

use super::wire::TEXT_MAX;

const FIRST: &str = "emulated";
const SLOWER: &str = " times slower";
const LIKE: &str = " like ";

/// An export whose replies are delayed by a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emulation {
    /// The emulated configuration of the catalogue; `None` for bare stages.
    pub like: Option<String>,
    /// The model's stages in the notation of `plimsoll-model`.
    pub model: String,
    /// Time dilation: replies take this many times as long as in the model; 1 is real time.
    pub slow: u32,
}

/// A description without an emulation.
#[plimsoll_language::say_errors]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the description does not mark the export as emulated")]
pub struct NotEmulated;

/// Formats the description, truncated to the protocol's maximum.
impl fmt::Display for Emulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { like, model, slow } = self;
        let mut text = FIRST.to_owned();
        if *slow != 1 {
            text += &format!(" {slow}{SLOWER}");
        }
        if let Some(like) = like {
            text += &format!("{LIKE}{like}");
        }
        text += &format!(": {model}");
        let end = (0..=text.len().min(TEXT_MAX)).rev().find(|end| text.is_char_boundary(*end));
        f.write_str(&text[..end.unwrap_or(0)])
    }
}

impl FromStr for Emulation {
    type Err = NotEmulated;

    fn from_str(description: &str) -> Result<Self, NotEmulated> {
        let rest = description.strip_prefix(FIRST).ok_or(NotEmulated)?;
        let (head, model) = rest.split_once(": ").ok_or(NotEmulated)?;
        let (slow, like) = match head.split_once(SLOWER) {
            Some((slow, like)) => (slow.trim().parse().map_err(|_| NotEmulated)?, like),
            None => (1, head),
        };
        let like = match like.strip_prefix(LIKE) {
            Some(like) => Some(like.to_owned()),
            None if like.is_empty() => None,
            None => return Err(NotEmulated),
        };
        Ok(Self { like, model: model.to_owned(), slow })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, like: Option<&str>, model: &str, slow: u32) {
        let expected = Emulation { like: like.map(Into::into), model: model.into(), slow };
        assert_eq!(expected.to_string(), text);
        assert_eq!(text.parse(), Ok(expected));
    }

    #[test]
    fn server_emulation_is_parsed() {
        check("emulated: limit(3000)", None, "limit(3000)", 1);
        check("emulated like oci:50GB@0vpu: limit(3000)", Some("oci:50GB@0vpu"), "limit(3000)", 1);
        check("emulated 10 times slower: link(1ms)", None, "link(1ms)", 10);
        check("emulated 2 times slower like aws/gp3: link(1ms)", Some("aws/gp3"), "link(1ms)", 2);
        for other in
            ["", "a disk", "emulated", "emulated by hand: x", "emulated x times slower: y", "emulatedlike a: b"]
        {
            assert_eq!(other.parse::<Emulation>(), Err(NotEmulated), "{other}");
        }
    }

    #[test]
    fn long_model_is_truncated() {
        let long = Emulation { like: None, model: "é".repeat(TEXT_MAX), slow: 1 };
        let text = long.to_string();
        assert!(text.len() <= TEXT_MAX && text.parse::<Emulation>().is_ok());
    }
}
