//! Checks of options against their bounds.

use std::sync::Arc;

use super::Resolved;
use crate::expression::{Expression, Value};
use crate::number::display;
use crate::product::{OptionRule, Range};
use crate::refusal::ConfigRefusal;
use plimsoll_language::{label, say};

/// Relative tolerance of bounds, which may be results of divisions.
const SLACK: f64 = 1e-9;

impl Resolved {
    pub(super) fn check_options(&self) -> Result<(), ConfigRefusal> {
        for (index, option) in self.product.options.iter().enumerate() {
            match (&self.values[option.variable], &option.range) {
                (Value::Absent, Range::Size(..)) => return Err(self.missing(option)),
                (Value::Number(value), Range::Number(_) | Range::Size(..)) => {
                    let written = self.given.options[index].as_ref().map(|(_, written)| written.as_str());
                    self.check_number(option, *value, written)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Bounds in this configuration: minimum, maximum, step.
    pub(super) fn bounds(&self, option: &OptionRule) -> (Option<f64>, Option<f64>, Option<f64>) {
        let number = |expression: Option<&Expression>| expression?.number(&self.values);
        option.bounds().map_or((None, None, None), |bounds| {
            (number(bounds.low.as_ref()), number(bounds.high.as_ref()), number(bounds.step.as_ref()))
        })
    }

    fn check_number(&self, option: &OptionRule, value: f64, written: Option<&str>) -> Result<(), ConfigRefusal> {
        if let Range::Size(_, choices) = &option.range
            && !choices.is_empty()
            && !choices.contains(&Value::Number(value))
        {
            return Err(ConfigRefusal::NoChoice {
                product: self.name.to_string(),
                option: option.name.to_string(),
                value: self.words(option, value, written),
                choices: choices.iter().map(|choice| self.with_unit(option, choice.words())).collect(),
            });
        }
        let (low, high, step) = self.bounds(option);
        let slack = value.abs() * SLACK;
        if low.is_some_and(|low| value < low - slack) || high.is_some_and(|high| value > high + slack) {
            return Err(self.out_of_range(option, self.words(option, value, written)));
        }
        let Some(step) = step.filter(|step| *step > 0.0) else { return Ok(()) };
        let steps = value / step;
        let on_step = (steps - steps.round()).abs() <= SLACK * steps.abs().max(1.0);
        if on_step || high.is_some_and(|high| (value - high).abs() <= slack) {
            return Ok(());
        }
        let below = steps.floor() * step;
        let above = high.map_or(steps.ceil() * step, |high| high.min(steps.ceil() * step));
        let nearest = [below, above].into_iter().filter(|near| low.is_none_or(|low| *near >= low));
        Err(ConfigRefusal::OffStep {
            product: Arc::clone(&self.name),
            option: Arc::clone(&option.name),
            value: self.words(option, value, written),
            step: self.with_unit(option, display(step)),
            nearest: nearest.map(|near| self.with_unit(option, display(near))).collect(),
            cite: Arc::clone(&option.cite),
        })
    }

    fn out_of_range(&self, option: &OptionRule, value: String) -> ConfigRefusal {
        ConfigRefusal::OutOfRange {
            product: Arc::clone(&self.name),
            option: Arc::clone(&option.name),
            value,
            range: self.range(option),
            note: option.note.to_string(),
            cite: Arc::clone(&option.cite),
        }
    }

    fn missing(&self, option: &OptionRule) -> ConfigRefusal {
        ConfigRefusal::Missing {
            product: self.name.to_string(),
            option: option.name.to_string(),
            range: self.range(option),
        }
    }

    /// `1 to 65,536 GiB`.
    fn range(&self, option: &OptionRule) -> String {
        let choices: Vec<String> = option.choices().iter().map(Value::words).collect();
        if !choices.is_empty() {
            return self.with_unit(option, crate::nearest::one_of(&choices));
        }
        let (low, high, _) = self.bounds(option);
        let range = match (low, high) {
            (Some(low), Some(high)) if (low - high).abs() <= low.abs() * SLACK => say!("{} only", display(low)),
            (Some(low), Some(high)) => say!("{} to {}", display(low), display(high)),
            (Some(low), None) => say!("{} and more", display(low)),
            (None, Some(high)) => say!("up to {}", display(high)),
            (None, None) => label!("a number").to_owned(),
        };
        self.with_unit(option, range)
    }

    fn with_unit(&self, option: &OptionRule, text: String) -> String {
        if matches!(option.range, Range::Size(..)) { format!("{text} {}", self.product.unit.word) } else { text }
    }

    /// A value as written, if that has more information than the number.
    fn words(&self, option: &OptionRule, value: f64, written: Option<&str>) -> String {
        let written = written.filter(|written| written.contains(' '));
        written.map_or_else(|| self.with_unit(option, display(value)), str::to_owned)
    }
}
