//! The options of a job: names, values, defaults and support in plimsoll.
//!
//! Names, aliases, ranges and defaults are from fio 3.33 (`--cmdhelp`, and its list of candidates for an ambiguous
//! abbreviation); newer names are from its documentation.

mod files;
mod host;
mod life;
mod logs;
mod offsets;
mod pace;
mod unsupported;
mod verification;

use plimsoll_language::StaticText;

use crate::near;
use crate::number::Bare;

/// Type of the value of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueForm {
    /// A non-empty text.
    Text,
    /// An optional text: logs have default names.
    OptionalText,
    /// An optional 0 or 1; without a value 1.
    Flag,
    /// 0 or 1.
    Bool,
    /// A whole number from the first to the second; units of sizes are allowed.
    Integer(i64, i64),
    /// One to three numbers, for reads, writes and trims.
    Integers(i64, i64),
    Time(Bare),
    /// One to three times, in microseconds without a unit.
    Times,
    /// A time, or a range from which it is drawn.
    TimeRange,
    /// Bytes, or a share in percent, or a number of zones.
    Extent,
    /// A size, or a range from which sizes are drawn.
    Sizes,
    /// One to three ranges of sizes, for reads, writes and trims.
    Ranges,
    /// Sizes with their shares, for reads, writes and trims.
    Split,
    Choice(&'static [&'static str]),
    /// A keyword with parameters after a colon.
    ChoiceWith(&'static [&'static str]),
    /// Numbers from the first to the second, with colons between them.
    Floats(f64, f64),
    /// Distribution of random offsets.
    Distribution,
    /// Bytes: a number, hexadecimal digits, or a text in quotes, one after the other.
    Pattern,
    /// Processors: numbers and ranges.
    Processors,
    /// Processors: a bit for each of the first 64.
    ProcessorMask,
}

/// Support of an option in plimsoll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    Runs,
    /// Accepted without an effect, with the reason.
    Accepted(StaticText),
    /// Refused unless its value is the default, with the reason.
    Refused(StaticText),
}

#[derive(Debug, PartialEq)]
pub struct Spec {
    /// Name in fio's listings and results.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// Type of its value.
    pub form: ValueForm,
    /// fio's default in its notation; empty for none.
    pub default: &'static str,
    pub support: Support,
}

impl Spec {
    const fn new(name: &'static str, form: ValueForm, default: &'static str, support: Support) -> Self {
        Self { name, aliases: &[], form, default, support }
    }

    const fn runs(name: &'static str, form: ValueForm, default: &'static str) -> Self {
        Self::new(name, form, default, Support::Runs)
    }

    const fn also(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Priority within its section: fio reads a few options before all others, and file names after them.
    pub fn rank(&self) -> i8 {
        match self.name {
            "kb_base" | "unit_base" | "lockfile" | "cpus_allowed_policy" => -1,
            "filename" | "filename_format" => 1,
            _ => 0,
        }
    }

    /// Whether it may have no value.
    pub fn is_bare(&self) -> bool {
        matches!(self.form, ValueForm::Flag | ValueForm::OptionalText)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionLookup {
    /// An option of the tables.
    Supported(&'static Spec),
    /// An option of fio or of one of its engines that plimsoll does not have, with its origin.
    Unsupported(StaticText),
    /// Unknown, with the nearest known name.
    Unknown(Option<&'static str>),
}

const TABLES: [&[Spec]; 7] = [
    files::OPTIONS,
    offsets::OPTIONS,
    pace::OPTIONS,
    life::OPTIONS,
    verification::OPTIONS,
    logs::OPTIONS,
    host::OPTIONS,
];

/// All options of the tables.
pub fn options() -> impl Iterator<Item = &'static Spec> {
    TABLES.iter().copied().flatten()
}

/// All names, aliases included.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    options().flat_map(|spec| std::iter::once(spec.name).chain(spec.aliases.iter().copied()))
}

pub fn look_up(name: &str) -> OptionLookup {
    let supported = options().find(|spec| spec.name == name || spec.aliases.contains(&name));
    let unsupported = || unsupported::belongs_to(name).map(OptionLookup::Unsupported);
    let unknown = || OptionLookup::Unknown(near::nearest(name, names().chain(unsupported::names())));
    supported.map(OptionLookup::Supported).or_else(unsupported).unwrap_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::number::Base;
    use crate::value;

    #[test]
    fn names_are_unique() {
        let mut observed = BTreeSet::new();
        for name in names().chain(unsupported::names()) {
            assert!(observed.insert(name), "{name} stands twice");
        }
        assert!(observed.len() >= 386, "{}", observed.len());
    }

    #[test]
    fn defaults_are_valid_values() {
        for spec in options().filter(|spec| !spec.default.is_empty()) {
            assert!(value::parse_value(spec.form, Some(spec.default), Base::Binary).is_ok(), "{spec:?}");
        }
    }

    #[test]
    fn all_names_are_found() {
        let check = |name, expected: &str| {
            let found = match look_up(name) {
                OptionLookup::Supported(spec) => spec.name.to_owned(),
                OptionLookup::Unsupported(owner) => format!("unsupported: {owner}"),
                OptionLookup::Unknown(near) => format!("unknown: {}", near.unwrap_or("-")),
            };
            assert!(found.starts_with(expected), "{name}: {found}");
        };
        check("bs", "bs");
        check("blocksize", "bs");
        check("timeout", "runtime");
        check("ss_dur", "steadystate_duration");
        check("hostname", "unsupported: the engines net");
        check("iodepht", "unknown: iodepth");
        check("BS", "unknown: bs");
        check("graphtype", "unknown: -");
    }
}
