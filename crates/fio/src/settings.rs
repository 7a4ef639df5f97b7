//! The values that hold for one job: defaults, then what global sections say, then what its own says.

use std::collections::BTreeMap;
use std::rc::Rc;

use plimsoll_units::{Bytes, Span};

use crate::fault::Place;
use crate::number::Base;
use crate::options::{self, Fate};
use crate::parse::Given;
use crate::value::{self, Each, Value};

/// A value and how it came about.
struct Entry {
    value: Value,
    /// The number of the last option that said so, from 1; 0 is a default.
    order: usize,
    place: Option<Place>,
}

/// All values of a job.
pub(crate) struct Settings {
    entries: BTreeMap<&'static str, Entry>,
    /// Where the job begins: the place of what nobody wrote.
    place: Place,
}

/// Reads one variant of a value; an option that was not given and has no default has none.
macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $variant:ident -> $type:ty;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name(&self, name: &str) -> Option<$type> {
            match self.value(name)? {
                Value::$variant(value) => Some(value.clone()),
                other => unreachable_form(name, other),
            }
        }
    )*};
}

/// A getter that does not fit an option's form is an error of the job's code, and a job of defaults shows it.
fn unreachable_form<T>(name: &str, value: &Value) -> Option<T> {
    debug_assert!(false, "{name} holds {value:?}");
    None
}

impl Settings {
    pub(crate) fn new(given: &[Rc<Given>], place: Place) -> Self {
        let mut entries = BTreeMap::new();
        for spec in options::options().filter(|spec| !spec.default.is_empty()) {
            if let Ok(value) = value::read(spec.form, Some(spec.default), Base::Binary) {
                entries.insert(spec.name, Entry { value, order: 0, place: None });
            }
        }
        for (index, given) in given.iter().enumerate() {
            let value = match entries.get(given.spec.name) {
                Some(Entry { value, .. }) => given.value.clone().over(value),
                None => given.value.clone(),
            };
            let entry = Entry { value, order: index + 1, place: Some(given.place.clone()) };
            if !matches!(given.spec.fate, Fate::Refused(_)) {
                entries.insert(given.spec.name, entry);
            }
        }
        Self { entries, place }
    }

    fn value(&self, name: &str) -> Option<&Value> {
        debug_assert!(matches!(options::known(name), options::Known::Here(_)), "no option {name}");
        self.entries.get(name).map(|entry| &entry.value)
    }

    /// How late an option was given: that of two which exclude each other counts which came later.
    pub(crate) fn order(&self, name: &str) -> usize {
        self.entries.get(name).map_or(0, |entry| entry.order)
    }

    /// Where an option was given, or where the job begins.
    pub(crate) fn place(&self, name: &str) -> &Place {
        self.entries.get(name).and_then(|entry| entry.place.as_ref()).unwrap_or(&self.place)
    }

    /// True when a switch is on.
    pub(crate) fn flag(&self, name: &str) -> bool {
        match self.value(name) {
            Some(Value::Flag(on)) => *on,
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
        pattern: Pattern -> Vec<value::Piece>;
        processors: Processors -> Vec<u32>;
    }

    /// A whole number that its form keeps at zero or above; zero when there is none.
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.integer(name).map_or(0, |value| value.max(0) as u64)
    }

    /// Likewise, and `None` when it is zero or not given.
    pub(crate) fn above_zero(&self, name: &str) -> Option<u64> {
        Some(self.count(name)).filter(|count| *count > 0)
    }

    pub(crate) fn integers(&self, name: &str) -> Each<Option<i64>> {
        match self.value(name) {
            Some(Value::Integers(values)) => *values,
            Some(other) => unreachable_form(name, other).unwrap_or_default(),
            None => Each::default(),
        }
    }

    pub(crate) fn time_range(&self, name: &str) -> (Span, Option<Span>) {
        match self.value(name) {
            Some(Value::TimeRange(low, high)) => (*low, *high),
            Some(other) => unreachable_form(name, other).unwrap_or_default(),
            None => (Span::ZERO, None),
        }
    }

    pub(crate) fn sizes(&self, name: &str) -> Option<(Bytes, Bytes)> {
        match self.value(name)? {
            Value::Sizes(low, high) => Some((*low, *high)),
            other => unreachable_form(name, other),
        }
    }

    pub(crate) fn ranges(&self, name: &str) -> Each<Option<(Bytes, Bytes)>> {
        match self.value(name) {
            Some(Value::Ranges(values)) => *values,
            Some(other) => unreachable_form(name, other).unwrap_or_default(),
            None => Each::default(),
        }
    }

    pub(crate) fn split(&self, name: &str) -> Each<Option<Vec<(Bytes, u32)>>> {
        match self.value(name) {
            Some(Value::Split(values)) => values.clone(),
            Some(other) => unreachable_form(name, other).unwrap_or_default(),
            None => Each::default(),
        }
    }

    /// The word that was chosen, and what stands behind its colon.
    pub(crate) fn choice(&self, name: &str) -> Option<(&'static str, Option<String>)> {
        match self.value(name)? {
            Value::Choice(word, after) => Some((word, after.clone())),
            other => unreachable_form(name, other),
        }
    }

    /// The word alone; empty when there is none.
    pub(crate) fn word(&self, name: &str) -> &'static str {
        self.choice(name).map_or("", |(word, _)| word)
    }
}
