//! Values of options, parsed by form.
//!
//! Independent of options: the interaction of several options belongs to the job.

mod bytes;
mod distribution;
mod each;
mod split;

use plimsoll_language::{label, say};
use plimsoll_units::{Bytes, Span};

pub use bytes::PatternPiece;
pub use distribution::{Distribution, Zone};
pub use each::Each;

use crate::near;
use crate::number::{self, Bare, Base, NumberScale, Unreadable};
use crate::options::ValueForm;

/// A size that may depend on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Bytes.
    Bytes(Bytes),
    /// Percentage of the file or device, 0 to 100.
    Percent(u8),
}

impl Extent {
    /// Size in bytes of a whole of `total` bytes.
    pub fn of(self, total: Bytes) -> Bytes {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(percent) => Bytes::new((u128::from(total.get()) * u128::from(percent) / 100) as u64),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ParsedValue {
    Text(String),
    Flag(bool),
    Integer(i64),
    Integers(Each<Option<i64>>),
    Time(Span),
    Times(Each<Option<Span>>),
    TimeRange(Span, Option<Span>),
    Extent(Extent),
    Sizes(Bytes, Bytes),
    Ranges(Each<Option<(Bytes, Bytes)>>),
    Split(Each<Option<Vec<(Bytes, u32)>>>),
    Choice(&'static str, Option<String>),
    Floats(Vec<f64>),
    Distribution(Distribution),
    Pattern(Vec<PatternPiece>),
    Processors(Vec<u32>),
}

impl ParsedValue {
    pub(crate) fn processors(&self) -> &[u32] {
        if let Self::Processors(processors) = self { processors } else { &[] }
    }

    /// Overrides an earlier value of the same option: directions missing in this value keep the earlier.
    pub(crate) fn over(self, earlier: &Self) -> Self {
        match (self, earlier) {
            (Self::Integers(new), Self::Integers(old)) => Self::Integers(new.over(old)),
            (Self::Times(new), Self::Times(old)) => Self::Times(new.over(old)),
            (Self::Ranges(new), Self::Ranges(old)) => Self::Ranges(new.over(old)),
            (Self::Split(new), Self::Split(old)) => Self::Split(new.over(old)),
            (new, _) => new,
        }
    }
}

type Read = Result<ParsedValue, Unreadable>;

fn wrong<T>(words: impl Into<String>) -> Result<T, Unreadable> {
    Err(Unreadable(words.into()))
}

/// Parses the text of a value; `None` without `=`.
pub(crate) fn parse_value(form: ValueForm, text: Option<&str>, base: Base) -> Read {
    let Some(text) = text else {
        return match form {
            ValueForm::Flag => Ok(ParsedValue::Flag(true)),
            ValueForm::OptionalText => Ok(ParsedValue::Text(String::new())),
            _ => wrong(label!("without a value; write = and one behind it")),
        };
    };
    if text.trim().is_empty() && form != ValueForm::OptionalText {
        return wrong(label!("empty; write a value behind ="));
    }
    let counts = NumberScale::Counts(base);
    match form {
        ValueForm::Text | ValueForm::OptionalText => Ok(ParsedValue::Text(text.trim().to_owned())),
        ValueForm::Flag | ValueForm::Bool => flag(text),
        ValueForm::Integer(min, max) => bounded(text, counts, min, max).map(ParsedValue::Integer),
        ValueForm::Integers(min, max) => {
            Each::read(text, |part| bounded(part, counts, min, max)).map(ParsedValue::Integers)
        }
        ValueForm::Time(unit) => number::span(text, unit).map(ParsedValue::Time),
        ValueForm::Times => Each::read(text, |part| number::span(part, Bare::Micros)).map(ParsedValue::Times),
        ValueForm::TimeRange => time_range(text),
        ValueForm::Extent => extent(text, base).map(ParsedValue::Extent),
        ValueForm::Sizes => match range(text, base, "-,")? {
            (Bytes::ZERO, _) => wrong(label!("zero; write a size above it")),
            (low, high) => Ok(ParsedValue::Sizes(low, high)),
        },
        ValueForm::Ranges => Each::read(text, |part| block_range(part, base)).map(ParsedValue::Ranges),
        ValueForm::Split => Each::read(text, |part| split::read(part, base)).map(ParsedValue::Split),
        ValueForm::Choice(words) => choice(text, words).map(|word| ParsedValue::Choice(word, None)),
        ValueForm::ChoiceWith(words) => {
            let (word, after) = text.split_once(':').map_or((text, None), |(word, after)| (word, Some(after)));
            choice(word, words).map(|word| ParsedValue::Choice(word, after.map(str::to_owned)))
        }
        ValueForm::Floats(min, max) => floats(text, min, max).map(ParsedValue::Floats),
        ValueForm::Distribution => distribution::read(text, base).map(ParsedValue::Distribution),
        ValueForm::Pattern => bytes::read(text.trim()).map(ParsedValue::Pattern),
        ValueForm::Processors => processors(text).map(ParsedValue::Processors),
        ValueForm::ProcessorMask => bounded(text, counts, 0, i64::MAX)
            .map(|mask| ParsedValue::Processors((0..64).filter(|bit| mask >> bit & 1 == 1).collect())),
    }
}

/// A distribution outside of options, such as that of files.
pub(crate) fn distribution(text: &str) -> Result<Distribution, String> {
    distribution::read(text, Base::Binary).map_err(|Unreadable(words)| words)
}

fn flag(text: &str) -> Read {
    // fio stops at the point: `1.0` is 1.
    let (number, decimals) = text.trim().split_once('.').unwrap_or((text.trim(), "0"));
    match number {
        _ if decimals.is_empty() || decimals.contains(|digit| digit != '0') => {
            wrong(label!("neither 0 nor 1; write one of them"))
        }
        "0" => Ok(ParsedValue::Flag(false)),
        "1" => Ok(ParsedValue::Flag(true)),
        _ => wrong(label!("neither 0 nor 1; write one of them")),
    }
}

fn bounded(text: &str, scale: NumberScale, min: i64, max: i64) -> Result<i64, Unreadable> {
    // fio ignores the sign.
    let percent = text.trim_end().strip_suffix('%').filter(|_| (min, max) == (0, 100));
    let value = number::integer(percent.unwrap_or(text), scale)?;
    match i64::try_from(value) {
        Ok(value) if (min..=max).contains(&value) => Ok(value),
        _ if value < i128::from(min) => wrong(say!("below {min}; write a number from {min} to {max}")),
        _ => wrong(say!("above {max}; write a number from {min} to {max}")),
    }
}

/// A non-negative size.
fn size(text: &str, base: Base) -> Result<Bytes, Unreadable> {
    bounded(text, NumberScale::Counts(base), 0, i64::MAX).map(|bytes| Bytes::new(bytes as u64))
}

fn time_range(text: &str) -> Read {
    let Some((low, high)) = text.split_once('-').filter(|_| !text.starts_with('(')) else {
        return number::span(text, Bare::Seconds).map(|span| ParsedValue::TimeRange(span, None));
    };
    let (low, high) = (number::span(low, Bare::Seconds)?, number::span(high, Bare::Seconds)?);
    Ok(ParsedValue::TimeRange(low.min(high), Some(low.max(high))))
}

fn extent(text: &str, base: Base) -> Result<Extent, Unreadable> {
    if let Some(percent) = text.trim().strip_suffix('%') {
        // fio accepts several: `%%` in templates of other programs.
        return match percent.trim_end_matches('%').parse::<u8>() {
            Ok(percent) if percent <= 100 => Ok(Extent::Percent(percent)),
            _ => wrong(label!("no share; write a whole number from 0 to 100 and %")),
        };
    }
    if text.trim().strip_suffix(['z', 'Z']).is_some_and(|zones| zones.parse::<u64>().is_ok()) {
        return wrong(label!("a number of zones, and zoned block devices are out of scope; write a size"));
    }
    size(text, base).map(Extent::Bytes)
}

fn range(text: &str, base: Base, separators: &str) -> Result<(Bytes, Bytes), Unreadable> {
    let (low, high) = match text.split_once(|c| separators.contains(c)).filter(|_| !text.starts_with('(')) {
        Some((low, high)) => (size(low, base)?, size(high, base)?),
        None => size(text, base).map(|size| (size, size))?,
    };
    Ok((low.min(high), low.max(high)))
}

fn block_range(text: &str, base: Base) -> Result<(Bytes, Bytes), Unreadable> {
    if !text.contains(['-', ':']) {
        return wrong(label!("no range; write two sizes, such as 4k-64k"));
    }
    match range(text, base, "-:")? {
        (low, high) if low.get() == 0 || high.get() > u64::from(u32::MAX) => wrong(label!("outside of 1 B to 4 GiB")),
        range => Ok(range),
    }
}

fn choice(text: &str, words: &'static [&'static str]) -> Result<&'static str, Unreadable> {
    if let Some(word) = words.iter().find(|word| **word == text) {
        return Ok(word);
    }
    let trimmed = text.trim();
    if words.contains(&trimmed) {
        return wrong(label!("after a blank, where fio finds no word; remove the blank behind ="));
    }
    let near = near::nearest(&trimmed.to_ascii_lowercase(), words.iter().copied());
    let meant = near.map_or(String::new(), |near| say!(", perhaps {near}"));
    wrong(say!("no word that it takes; write one of {}{meant}", words.join(", ")))
}

fn floats(text: &str, min: f64, max: f64) -> Result<Vec<f64>, Unreadable> {
    let read = |part: &str| part.trim().parse::<f64>().ok().filter(|value| (min..=max).contains(value));
    match text.split(':').map(read).collect() {
        Some(values) => Ok(values),
        None => wrong(say!("no list; write numbers from {min} to {max} with colons between them, such as {min}:{max}")),
    }
}

fn processors(text: &str) -> Result<Vec<u32>, Unreadable> {
    const MAX: u32 = 1 << 16;
    let mut numbers = Vec::new();
    for part in text.split([',', ':', ' ']).map(str::trim).filter(|part| !part.is_empty()) {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        match (low.parse::<u32>(), high.parse::<u32>()) {
            (Ok(low), Ok(high)) if low <= high && high < MAX => numbers.extend(low..=high),
            _ => return wrong(say!("{part:?} is not a processor; write numbers and ranges, such as 0,5,8-15")),
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}
