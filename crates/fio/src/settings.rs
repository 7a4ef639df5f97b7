//! Effective values of a job: defaults, overridden by global sections and by its section.

use std::collections::BTreeMap;
use std::rc::Rc;

use plimsoll_units::{Bytes, Span};

use crate::fault::Place;
use crate::number::Base;
use crate::options::{self, Support};
use crate::parse::Given;
use crate::value::{self, Each, ParsedValue};

/// A value and its origin.
struct SettingEntry {
    value: ParsedValue,
    /// Index of the last option that set it, from 1; 0 for a default.
    order: usize,
    place: Option<Place>,
}

/// All values of a job.
pub(crate) struct Settings {
    entries: BTreeMap<&'static str, SettingEntry>,
    /// Start of the job: the place of defaults.
    place: Place,
}

/// Getters per variant of a value; `None` for an option without value and default.
macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $variant:ident -> $type:ty;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name(&self, name: &str) -> Option<$type> {
            match self.value(name)? {
                ParsedValue::$variant(value) => Some(value.clone()),
                other => unreachable_form(name, other),
            }
        }
    )*};
}

/// A getter that does not match the option's form is a defect of this crate, found by any job of defaults.
fn unreachable_form<T>(name: &str, value: &ParsedValue) -> Option<T> {
    debug_assert!(false, "{name} holds {value:?}");
    None
}

impl Settings {
    pub(crate) fn new(given: &[Rc<Given>], place: Place) -> Self {
        let mut entries = BTreeMap::new();
        for spec in options::options().filter(|spec| !spec.default.is_empty()) {
            if let Ok(value) = value::parse_value(spec.form, Some(spec.default), Base::Binary) {
                entries.insert(spec.name, SettingEntry { value, order: 0, place: None });
            }
        }
        for (index, given) in given.iter().enumerate() {
            let value = match entries.get(given.spec.name) {
                Some(SettingEntry { value, .. }) => given.value.clone().over(value),
                None => given.value.clone(),
            };
            let entry = SettingEntry { value, order: index + 1, place: Some(given.place.clone()) };
            if !matches!(given.spec.support, Support::Refused(_)) {
                entries.insert(given.spec.name, entry);
            }
        }
        Self { entries, place }
    }

    fn value(&self, name: &str) -> Option<&ParsedValue> {
        debug_assert!(matches!(options::look_up(name), options::OptionLookup::Supported(_)), "no option {name}");
        self.entries.get(name).map(|entry| &entry.value)
    }

    /// Order in which an option was given: of two exclusive options the later applies.
    pub(crate) fn order(&self, name: &str) -> usize {
        self.entries.get(name).map_or(0, |entry| entry.order)
    }

    /// Place of an option, or the start of the job.
    pub(crate) fn place(&self, name: &str) -> &Place {
        self.entries.get(name).and_then(|entry| entry.place.as_ref()).unwrap_or(&self.place)
    }

    /// True if a switch is on.
    pub(crate) fn flag(&self, name: &str) -> bool {
        match self.value(name) {
            Some(ParsedValue::Flag(on)) => *on,
            Some(other) => unreachable_form(name, other).unwrap_or(false),
            None => false,
        }
    }

    getters! {
        text: Text -> String;
        integer: Integer -> i64;
        time: Time -> Span;
        extent: Extent -> value::Extent;
        floats: Floats -> Vec<f64>;
        distribution: Distribution -> value::Distribution;
        pattern: Pattern -> Vec<value::PatternPiece>;
        processors: Processors -> Vec<u32>;
    }

    /// A non-negative integer; zero without a value.
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.integer(name).map_or(0, |value| value.max(0) as u64)
    }

    /// A positive integer; `None` if zero or not given.
    pub(crate) fn above_zero(&self, name: &str) -> Option<u64> {
        Some(self.count(name)).filter(|count| *count > 0)
    }

    pub(crate) fn integers(&self, name: &str) -> Each<Option<i64>> {
        match self.value(name) {
            Some(ParsedValue::Integers(values)) => *values,
            Some(other) => unreachable_form(name, other).unwrap_or_default(),
            None => Each::default(),
        }
    }

    pub(crate) fn time_range(&self, name: &str) -> (Span, Option<Span>) {
        match self.value(name) {
            Some(ParsedValue::TimeRange(low, high)) => (*low, *high),
            Some(other) => unreachable_form(name, other).unwrap_or_default(),
            None => (Span::ZERO, None),
        }
    }

    pub(crate) fn sizes(&self, name: &str) -> Option<(Bytes, Bytes)> {
        match self.value(name)? {
            ParsedValue::Sizes(low, high) => Some((*low, *high)),
            other => unreachable_form(name, other),
        }
    }

    pub(crate) fn ranges(&self, name: &str) -> Each<Option<(Bytes, Bytes)>> {
        match self.value(name) {
            Some(ParsedValue::Ranges(values)) => *values,
            Some(other) => unreachable_form(name, other).unwrap_or_default(),
            None => Each::default(),
        }
    }

    pub(crate) fn split(&self, name: &str) -> Each<Option<Vec<(Bytes, u32)>>> {
        match self.value(name) {
            Some(ParsedValue::Split(values)) => values.clone(),
            Some(other) => unreachable_form(name, other).unwrap_or_default(),
            None => Each::default(),
        }
    }

    /// The chosen keyword, and the text after its colon.
    pub(crate) fn choice(&self, name: &str) -> Option<(&'static str, Option<String>)> {
        match self.value(name)? {
            ParsedValue::Choice(word, after) => Some((word, after.clone())),
            other => unreachable_form(name, other),
        }
    }

    /// The keyword without parameter; empty without a value.
    pub(crate) fn word(&self, name: &str) -> &'static str {
        self.choice(name).map_or("", |(word, _)| word)
    }
}
