//! A table of a product file. Keys are read by name; unread keys are complaints.
//!
//! Knows TOML and positions, not products.

use std::cell::RefCell;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::complaint::Complaints;
use crate::nearest;

/// A table, or an entry of an array of tables.
pub(crate) struct Section<'d, 'i> {
    table: &'d DeTable<'i>,
    /// Byte offset in the text.
    pub at: usize,
    /// Name in messages, such as `[[limit]]`.
    pub name: &'static str,
    read_keys: RefCell<Vec<&'static str>>,
}

/// A value with its position.
pub(crate) type SpannedValue<'d, 'i> = &'d Spanned<DeValue<'i>>;

/// A text with its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpannedText<'d> {
    pub text: &'d str,
    pub at: usize,
}

impl<'d, 'i> Section<'d, 'i> {
    pub(crate) fn new(table: &'d DeTable<'i>, at: usize, name: &'static str) -> Self {
        Self { table, at, name, read_keys: RefCell::default() }
    }

    pub(crate) fn get(&self, key: &'static str) -> Option<SpannedValue<'d, 'i>> {
        self.read_keys.borrow_mut().push(key);
        self.table.get(key)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// All keys with their values, in order of position.
    pub(crate) fn entries(&self) -> Vec<(SpannedText<'d>, SpannedValue<'d, 'i>)> {
        let mut entries: Vec<_> = self
            .table
            .iter()
            .map(|(key, value)| (SpannedText { text: key.get_ref(), at: key.span().start }, value))
            .collect();
        entries.sort_by_key(|(key, _)| key.at);
        entries
    }

    pub(crate) fn text(&self, key: &'static str, to: &mut Complaints) -> Option<SpannedText<'d>> {
        let value = self.get(key)?;
        let text = value.get_ref().as_str().map(|text| SpannedText { text, at: value.span().start });
        if text.is_none() {
            wrong(value, key, "a text in quotation marks", to);
        }
        text
    }

    /// A required text.
    pub(crate) fn required(&self, key: &'static str, to: &mut Complaints) -> Option<SpannedText<'d>> {
        let text = self.text(key, to);
        if !self.has(key) {
            to.at(self.at, format!("{} has no {key}", self.name), format!("{key} = \"...\""));
        }
        text
    }

    /// A text; empty if absent.
    pub(crate) fn words(&self, key: &'static str, to: &mut Complaints) -> &'d str {
        self.text(key, to).map_or("", |text| text.text)
    }

    pub(crate) fn number(&self, key: &'static str, to: &mut Complaints) -> Option<f64> {
        let value = self.get(key)?;
        let number = read_number(value);
        if number.is_none() {
            wrong(value, key, "a number", to);
        }
        number
    }

    /// A list of two numbers.
    pub(crate) fn pair(&self, key: &'static str, to: &mut Complaints) -> Option<(f64, f64)> {
        let value = self.get(key)?;
        let numbers: Vec<f64> = elements(value, key, to).into_iter().filter_map(read_number).collect();
        let pair = if let [low, high] = numbers[..] { Some((low, high)) } else { None };
        if pair.is_none_or(|(low, high)| low > high) {
            wrong(value, key, "two numbers in brackets, the lower first", to);
        }
        pair
    }

    /// A boolean; false if absent.
    pub(crate) fn truth(&self, key: &'static str, to: &mut Complaints) -> bool {
        let Some(value) = self.get(key) else { return false };
        let truth = value.get_ref().as_bool();
        if truth.is_none() {
            wrong(value, key, "true or false", to);
        }
        truth.unwrap_or_default()
    }

    /// Elements of an array; empty if absent.
    pub(crate) fn list(&self, key: &'static str, to: &mut Complaints) -> Vec<SpannedValue<'d, 'i>> {
        self.get(key).map_or_else(Vec::new, |value| elements(value, key, to))
    }

    pub(crate) fn texts(&self, key: &'static str, to: &mut Complaints) -> Vec<SpannedText<'d>> {
        let list = self.list(key, to);
        let mut text = |value: SpannedValue<'d, 'i>| {
            let text = value.get_ref().as_str().map(|text| SpannedText { text, at: value.span().start });
            if text.is_none() {
                wrong(value, key, "texts in quotation marks", to);
            }
            text
        };
        list.into_iter().filter_map(&mut text).collect()
    }

    /// A subtable.
    pub(crate) fn section(&self, key: &'static str, name: &'static str, to: &mut Complaints) -> Option<Self> {
        let value = self.get(key)?;
        let section = read_section(value, name);
        if section.is_none() {
            wrong(value, key, "a table", to);
        }
        section
    }

    /// Entries of an array of tables.
    pub(crate) fn sections(&self, key: &'static str, name: &'static str, to: &mut Complaints) -> Vec<Self> {
        let list = self.list(key, to);
        list.into_iter()
            .filter_map(|value| {
                let section = read_section(value, name);
                if section.is_none() {
                    wrong(value, key, "tables", to);
                }
                section
            })
            .collect()
    }

    /// Complains about unread keys.
    pub(crate) fn finish(self, to: &mut Complaints) {
        let read_keys = self.read_keys.borrow();
        for (key, _) in self.entries() {
            if !read_keys.contains(&key.text) {
                let near = nearest::suggestion(key.text, read_keys.iter().copied());
                let mut allowed = read_keys.clone();
                allowed.sort_unstable();
                allowed.dedup();
                to.at(key.at, format!("{} has no key {:?}{near}", self.name, key.text), allowed.join(", "));
            }
        }
    }
}

pub(crate) fn read_section<'d, 'i>(value: SpannedValue<'d, 'i>, name: &'static str) -> Option<Section<'d, 'i>> {
    value.get_ref().as_table().map(|table| Section::new(table, value.span().start, name))
}

/// Elements of an array.
pub(crate) fn elements<'d, 'i>(
    value: SpannedValue<'d, 'i>,
    key: &str,
    to: &mut Complaints,
) -> Vec<SpannedValue<'d, 'i>> {
    let array = value.get_ref().as_array();
    if array.is_none() {
        wrong(value, key, "a list in brackets", to);
    }
    array.into_iter().flatten().collect()
}

pub(crate) fn wrong(value: SpannedValue, key: &str, allowed: &str, to: &mut Complaints) {
    to.at(value.span().start, format!("{key} is {}", value.get_ref().type_str()), allowed);
}

/// An integer or a float, as a number.
pub(crate) fn read_number(value: SpannedValue) -> Option<f64> {
    number_text(value)?.parse().ok().filter(|number: &f64| number.is_finite())
}

/// An integer or a float, as its digits.
pub(crate) fn number_text<'d>(value: SpannedValue<'d, '_>) -> Option<&'d str> {
    let text = match value.get_ref() {
        DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str(),
        DeValue::Float(float) => float.as_str(),
        _ => return None,
    };
    Some(text.strip_prefix('+').unwrap_or(text))
}
