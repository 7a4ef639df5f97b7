//! Options of a product file.

use std::sync::Arc;

use plimsoll_units::Bytes;

use super::section::{Section, read_section};
use super::{PartReader, is_size_unit};
use crate::expression::{Expression, Type, Value};
use crate::nearest;
use crate::product::{Bounds, OptionRule, Origin, ProductKind, Range, Unit};

const KINDS: [&str; 3] = ["size", "number", "choice"];

impl PartReader<'_> {
    /// Declares options as variables before expressions are parsed.
    pub(super) fn declare_options(&mut self, head: &Section) {
        let Some(options) = head.section("options", "[options]", &mut self.to) else { return };
        for (key, value) in options.entries() {
            let choices = read_section(value, "[options.NAME]").map(|entry| entry.list("choices", &mut self.to));
            let texts = choices.iter().flatten().any(|choice| choice.get_ref().is_str());
            let holds = if texts { Type::Text } else { Type::Number };
            let plain = key.text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let reserved = key.text == "tier" && head.get("tiers").is_some();
            let begins = key.text.starts_with(|c: char| c.is_ascii_lowercase()) && !reserved;
            if !plain || !begins || self.names.declare(key.text, holds, Origin::Option).is_err() {
                let allowed = "a name of its own: a small letter, then letters, digits and _";
                self.to.at(key.at, format!("an option {:?}", key.text), allowed);
            }
        }
    }

    /// Bounds and defaults of volumes may depend on the machine.
    pub(super) fn options(&mut self, head: &Section, kind: ProductKind) -> Vec<OptionRule> {
        let Some(options) = head.section("options", "[options]", &mut self.to) else { return Vec::new() };
        let mut read = Vec::new();
        self.names.may_be_machines = kind != ProductKind::Machine;
        for (key, value) in options.entries() {
            let Some(entry) = read_section(value, "[options.NAME]") else {
                self.to.at(key.at, format!("options.{} is no table", key.text), "[options.NAME]");
                continue;
            };
            read.extend(self.option(key.text, &entry));
            entry.finish(&mut self.to);
        }
        self.names.may_be_machines = false;
        read
    }

    fn option(&mut self, name: &str, entry: &Section) -> Option<OptionRule> {
        let variable = self.names.list.iter().position(|variable| *variable.name == *name)?;
        let kind = entry.required("kind", &mut self.to);
        let cite = self.cites.cite(entry, &mut self.to);
        let choices: Vec<Value> =
            entry.list("choices", &mut self.to).into_iter().map(|value| self.cell(value)).collect();
        let bounds = Bounds {
            low: self.expression(entry, "min", Type::Number),
            high: self.expression(entry, "max", Type::Number),
            step: self.expression(entry, "step", Type::Number),
        };
        let has_bounds = bounds.low.is_some() || bounds.high.is_some();
        let kind = kind?;
        let range = match kind.text {
            "number" if choices.is_empty() => Range::Number(bounds),
            "size" if name == "size" && (!has_bounds || choices.is_empty()) => Range::Size(bounds, choices),
            "choice" if !choices.is_empty() && !has_bounds => Range::Choice(choices),
            _ => {
                let what = format!("kind {:?} does not go with the other keys of {name:?}", kind.text);
                let near = nearest::suggestion(kind.text, KINDS);
                let allowed = "number with min, max, step; choice with choices; size, for the option size, with either";
                self.to.at(kind.at, format!("{what}{near}"), allowed);
                return None;
            }
        };
        let holds = self.names.list[variable].holds;
        let default = self.default(entry, &range, holds);
        let note = Arc::from(cite.note.as_str());
        let detached_from = self.detached_from(entry, &range);
        let unit = self.option_unit(entry, &range);
        let option = OptionRule { name: name.into(), variable, range, default, unit, detached_from, note, cite };
        self.check_constants(entry, &option);
        Some(option)
    }

    fn option_unit(&mut self, entry: &Section, range: &Range) -> Option<Unit> {
        let word = entry.text("unit", &mut self.to)?;
        match format!("1{}", word.text).parse::<Bytes>() {
            Ok(bytes) if is_size_unit(word.text) && matches!(range, Range::Number(_)) => {
                Some(Unit { word: word.text.into(), bytes: bytes.get() })
            }
            _ => {
                let what = format!("unit {:?} does not go with this option", word.text);
                self.to.at(word.at, what, "a unit of sizes, such as GiB, for an option of kind \"number\"");
                None
            }
        }
    }

    fn detached_from(&mut self, entry: &Section, range: &Range) -> Option<f64> {
        let value = entry.number("detached_from", &mut self.to)?;
        if !matches!(range, Range::Number(_)) {
            let what = "detached_from does not go with an option that is no number".to_owned();
            self.to.at(entry.at, what, "kind = \"number\", and the least value that is changed detached only");
        }
        Some(value)
    }

    /// Default of a choice: a choice; of a number: an expression.
    fn default(&mut self, entry: &Section, range: &Range, holds: Type) -> Option<Expression> {
        let value = entry.get("default")?;
        let text = value.get_ref().as_str().filter(|_| holds == Type::Text);
        let Some(text) = text else { return self.expression_of(value, "default", holds) };
        let Range::Choice(choices) = range else { return None };
        if choices.contains(&Value::Text(text.into())) {
            return Some(Expression::constant_text(text));
        }
        let words: Vec<String> = choices.iter().map(Value::words).collect();
        self.to.at(value.span().start, format!("default is {text:?}"), nearest::one_of(&words));
        None
    }

    /// Checks that constant bounds are not empty.
    fn check_constants(&mut self, entry: &Section, option: &OptionRule) {
        let Some(bounds) = option.bounds() else { return };
        let constant = |expression: &Option<Expression>| expression.as_ref().and_then(Expression::as_constant);
        let (low, high, step) = (constant(&bounds.low), constant(&bounds.high), constant(&bounds.step));
        let default = constant(&option.default);
        let above = |a: Option<f64>, b: Option<f64>| a.zip(b).is_some_and(|(a, b)| a > b);
        let what = if above(low, high) {
            "min is above max"
        } else if step.is_some_and(|step| step <= 0.0) {
            "step is not above zero"
        } else if above(low, default) || above(default, high) {
            "default is outside min and max"
        } else {
            return;
        };
        self.to.at(entry.at, format!("option {:?}: {what}", option.name), "min <= default <= max, step > 0");
    }
}
