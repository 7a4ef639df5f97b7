//! The notation for models: `limit(3000) then station(8, 80us, exponential) then link(25us, 1200MB/s)`.

mod form;
mod value;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::spec::{ChainSpec, Invalid, Named};

/// A text that is not a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotationError {
    /// A part is not of the form `name(...)`, or the name is unknown.
    Stage(String),
    /// Parentheses that do not match.
    Unbalanced {
        /// The model as written.
        text: String,
        /// The parenthesis that is missing.
        missing: char,
    },
    /// An argument of a stage cannot be read.
    Argument {
        /// The stage as written.
        stage: String,
        /// The syntax of its arguments.
        takes: &'static str,
    },
    /// The stages can be read, but not combined or not with these values.
    Chain {
        /// The model as written.
        text: String,
        /// The reason.
        reason: String,
    },
}

impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stage(part) => {
                write!(f, "{part:?} is not a stage: use {}, joined by then", form::names().join(", "))
            }
            Self::Unbalanced { text, missing: ')' } => {
                write!(f, "{text:?} lacks a closing parenthesis: write ) after the last argument of each stage")
            }
            Self::Unbalanced { text, .. } => write!(f, "{text:?} has too many closing parentheses: remove a )"),
            Self::Argument { stage, takes } => write!(f, "{stage:?} cannot be read: write {takes}"),
            Self::Chain { text, reason } => write!(f, "{text:?} cannot be a model: {reason}"),
        }
    }
}

impl core::error::Error for NotationError {}

/// Parses stages joined by `then`.
///
/// # Errors
/// If a stage is unknown or unreadable, or the stages do not form a model.
pub fn parse(text: &str) -> Result<ChainSpec, NotationError> {
    if measure_nesting(text) > MAX_NESTING {
        let reason = alloc::format!("its parentheses are nested deeper than {MAX_NESTING}");
        return Err(NotationError::Chain { text: text.to_string(), reason });
    }
    if let Some(missing) = missing_parenthesis(text) {
        return Err(NotationError::Unbalanced { text: text.to_string(), missing });
    }
    let stages = parse_stages(text)?;
    ChainSpec::new(stages).map_err(|Invalid(reason)| NotationError::Chain { text: text.to_string(), reason })
}

const MAX_NESTING: usize = 12;

fn measure_nesting(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut max = 0;
    for letter in text.bytes() {
        match letter {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        max = max.max(depth);
    }
    max
}

/// The parenthesis that is missing, outside of quoted names.
fn missing_parenthesis(text: &str) -> Option<char> {
    let outside = || text.split('"').step_by(2);
    let count = |letter: char| outside().map(|part| part.matches(letter).count()).sum::<usize>();
    match count('(').cmp(&count(')')) {
        core::cmp::Ordering::Greater => Some(')'),
        core::cmp::Ordering::Less => Some('('),
        core::cmp::Ordering::Equal => None,
    }
}

fn parse_stages(text: &str) -> Result<Vec<Named>, NotationError> {
    split(text, " then ").into_iter().map(|part| parse_stage(part.trim())).collect()
}

/// A nested chain, which may be empty.
fn inside(text: &str) -> Result<ChainSpec, NotationError> {
    let text = text.trim();
    if text.is_empty() { Ok(ChainSpec::default()) } else { parse_stages(text).map(ChainSpec::nested) }
}

/// `form(...)`, with an optional quoted name after it.
fn parse_stage(part: &str) -> Result<Named, NotationError> {
    let unknown = || NotationError::Stage(part.to_string());
    let (written, name) = match part.strip_suffix('"').and_then(|rest| rest.rsplit_once('"')) {
        Some((written, name)) => (written.trim_end(), Some(name.into())),
        None => (part, None),
    };
    let (name_of_form, rest) = written.split_once('(').ok_or_else(unknown)?;
    let arguments = rest.strip_suffix(')').ok_or_else(unknown)?;
    let form = form::find(name_of_form.trim()).ok_or_else(unknown)?;
    let stage = form
        .read(&Arguments::new(arguments))?
        .ok_or_else(|| NotationError::Argument { stage: written.to_string(), takes: form.takes })?;
    Ok(Named { stage, name })
}

/// The text between parentheses: values separated by commas, and chains after a colon.
struct Arguments<'a> {
    /// The whole text.
    text: &'a str,
    values: Vec<&'a str>,
    /// Chains with their labels; an empty label if unlabelled.
    chains: Vec<(&'a str, &'a str)>,
}

impl<'a> Arguments<'a> {
    fn new(text: &'a str) -> Self {
        let mut values = Vec::new();
        let mut chains = Vec::new();
        for (index, section) in split(text, ";").into_iter().enumerate() {
            let halves = split(section, ":");
            let (head, chain) = match &halves[..] {
                [head] => (*head, None),
                [head, ..] => (*head, Some(section[head.len() + 1..].trim())),
                [] => continue,
            };
            let mut items: Vec<&str> = split(head, ",").into_iter().map(str::trim).collect();
            let labelled = items.last().is_some_and(|item| form::LABELS.contains(item));
            let label = if labelled && chain.is_some() { items.pop().unwrap_or_default() } else { "" };
            chains.extend(chain.map(|chain| (label, chain)));
            if index == 0 {
                values = items;
            } else if items.iter().any(|item| !item.is_empty()) {
                // No stage takes values after a chain.
                values.push("");
            }
        }
        Self { text, values, chains }
    }

    /// The chain with this label; empty if absent.
    fn chain(&self, label: &str) -> Result<ChainSpec, NotationError> {
        let found = self.chains.iter().find(|(own, _)| *own == label);
        found.map_or_else(|| Ok(ChainSpec::default()), |(_, text)| inside(text))
    }

    /// True if all chains have one of these labels.
    fn only(&self, labels: &[&str]) -> bool {
        self.chains.len() <= labels.len() && self.chains.iter().all(|(label, _)| labels.contains(label))
    }
}

/// The parts between separators outside parentheses and quotes.
fn split<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let (mut parts, mut start, mut depth, mut quoted) = (Vec::new(), 0, 0_i32, false);
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 && !quoted && at >= start && text[at..].starts_with(separator) {
            parts.push(&text[start..at]);
            start = at + separator.len();
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests;
