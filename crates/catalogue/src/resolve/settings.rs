//! Settings of a configuration, as values of a product's options.

use std::sync::Arc;

use plimsoll_units::Bytes;

use crate::config::Setting;
use crate::expression::Value;
use crate::number::display;
use crate::product::{OptionRule, Product, Range, Unit};
use crate::refusal::ConfigRefusal;

/// Values given by a configuration.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    /// For each option of the product: value, and text as written.
    pub options: Vec<Option<(Value, String)>>,
    /// The named tier.
    pub tier: Option<usize>,
}

impl Given {
    pub(crate) fn read(product: &Product, name: &Arc<str>, settings: &[Setting]) -> Result<Self, ConfigRefusal> {
        let mut given = Self { options: vec![None; product.options.len()], tier: None };
        for setting in settings {
            match setting {
                Setting::Size { number, unit } => {
                    let (index, _) = recognize(product, name, "size")?;
                    given.options[index] = Some(convert_size(product, name, number, unit)?);
                }
                Setting::Option { name: option, value }
                    if option.eq_ignore_ascii_case("tier") && product.tiers.is_some() =>
                {
                    given.word(product, name, value)?;
                }
                Setting::Option { name: option, value } => {
                    let (index, option) = recognize(product, name, option)?;
                    given.options[index] = Some((read(name, option, value)?, value.clone()));
                }
                Setting::Word(word) => given.word(product, name, word)?,
            }
        }
        Ok(given)
    }

    /// A tier, or a choice of the only option that has it.
    fn word(&mut self, product: &Product, name: &Arc<str>, word: &str) -> Result<(), ConfigRefusal> {
        let tiers = product.tiers.iter().flat_map(|tiers| &tiers.rows);
        let tier = tiers.clone().position(|row| row.name.eq_ignore_ascii_case(word));
        if tier.is_some() && self.tier.is_none() {
            self.tier = tier;
            return Ok(());
        }
        let offering = |option: &OptionRule| option.choices().iter().any(|choice| choice.words() == word);
        let (product_name, owned) = (name.to_string(), word.to_owned());
        let offering: Vec<_> = product.options.iter().enumerate().filter(|(_, option)| offering(option)).collect();
        match offering[..] {
            [(index, option)] => {
                self.options[index] = Some((read(name, option, word)?, owned));
                Ok(())
            }
            [] => Err(ConfigRefusal::UnknownWord { product: product_name, word: owned, existing: words(product) }),
            _ => {
                let options = offering.iter().map(|(_, option)| option.name.to_string()).collect();
                Err(ConfigRefusal::AmbiguousWord { product: product_name, word: owned, options })
            }
        }
    }

    /// Value of an option as written.
    pub(crate) fn display(&self, option: &str, product: &Product) -> String {
        let given = product.option(option).and_then(|(index, _)| self.options[index].as_ref());
        given.map_or_else(String::new, |(_, written)| written.clone())
    }
}

/// Tiers, and choices of each option.
fn words(product: &Product) -> Vec<(String, Vec<String>)> {
    let tiers = product.tiers.iter().map(|tiers| tiers.rows.iter().map(|row| row.name.to_string()).collect());
    let choices = product.options.iter().filter(|option| !option.choices().is_empty());
    let choices = choices.map(|option| (option.name.to_string(), option.choices().iter().map(Value::words).collect()));
    tiers.map(|names| ("tier".to_owned(), names)).chain(choices).collect()
}

fn recognize<'p>(
    product: &'p Product,
    name: &Arc<str>,
    option: &str,
) -> Result<(usize, &'p OptionRule), ConfigRefusal> {
    let same = |existing: &&OptionRule| existing.name.eq_ignore_ascii_case(option);
    let written = product.options.iter().find(same).map_or(option, |existing| &*existing.name);
    product.option(written).ok_or_else(|| ConfigRefusal::UnknownOption {
        product: name.to_string(),
        option: option.to_owned(),
        existing: product.options.iter().map(|option| option.name.to_string()).collect(),
    })
}

/// `12000`, or `12k` and `1.5M` in thousands and millions.
fn parse_number(name: &Arc<str>, option: &str, text: &str) -> Result<f64, ConfigRefusal> {
    let (digits, scale) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1e3),
        None => text.strip_suffix('M').map_or((text, 1.0), |digits| (digits, 1e6)),
    };
    let number = digits.parse().ok().map(|number: f64| number * scale).filter(|number| number.is_finite());
    number.ok_or_else(|| ConfigRefusal::NoNumber {
        product: name.to_string(),
        option: option.to_owned(),
        value: text.to_owned(),
    })
}

impl Unit {
    /// Bytes of a size in another unit. Where the vendor's unit is a power of 1,024, so are decimal names: OCI prints its
    /// maximum of 32,768 GB as 32 TB, and Azure a P30 of 1,024 GiB as 1 TB.
    fn convert(&self, digits: &str, unit: &str) -> Option<Bytes> {
        let is_binary = self.bytes.is_power_of_two() && unit.len() == 2;
        let unit = if is_binary { unit.replacen(['B', 'b'], "iB", 1) } else { unit.to_owned() };
        format!("{digits}{unit}").parse().ok()
    }
}

impl Product {
    /// Bytes of a size as the vendor counts: `70GB` of OCI, whose GB is 2^30 bytes, are 70 GiB. `None` if it is no size.
    pub fn read_size(&self, text: &str) -> Option<Bytes> {
        let text = text.trim();
        let (digits, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
        if !unit.eq_ignore_ascii_case(&self.unit.word) {
            return self.unit.convert(digits, unit);
        }
        let number: f64 = digits.trim().parse().ok()?;
        (number >= 0.0).then(|| Bytes::new((number * self.unit.bytes as f64) as u64))
    }
}

/// The vendor's unit name is taken literally; other units are converted.
fn convert_size(
    product: &Product,
    name: &Arc<str>,
    digits: &str,
    unit: &str,
) -> Result<(Value, String), ConfigRefusal> {
    let vendors = &product.unit;
    if unit.eq_ignore_ascii_case(&vendors.word) {
        let size = parse_number(name, "size", digits)?;
        return Ok((Value::Number(size), format!("{} {}", display(size), vendors.word)));
    }
    let bytes = vendors.convert(digits, unit).ok_or_else(|| ConfigRefusal::NoNumber {
        product: name.to_string(),
        option: "size".to_owned(),
        value: format!("{digits}{unit}"),
    })?;
    let size = bytes.get() as f64 / vendors.bytes as f64;
    let counted = display(if size >= 10_000.0 { size.round() } else { (size * 1e3).round() / 1e3 });
    Ok((Value::Number(size), format!("{digits} {unit} ({counted} {} as the vendor counts)", vendors.word)))
}

fn read(name: &Arc<str>, option: &OptionRule, text: &str) -> Result<Value, ConfigRefusal> {
    let Range::Choice(choices) = &option.range else {
        let size = option.unit.as_ref().filter(|_| text.ends_with(['B', 'b'])).zip(text.parse::<Bytes>().ok());
        if let Some((unit, size)) = size {
            return Ok(Value::Number(size.get() as f64 / unit.bytes as f64));
        }
        return parse_number(name, &option.name, text).map(Value::Number);
    };
    let chosen = choices.iter().find(|choice| match choice {
        Value::Number(number) => text.parse() == Ok(*number),
        other => other.words().eq_ignore_ascii_case(text),
    });
    chosen.cloned().ok_or_else(|| ConfigRefusal::NoChoice {
        product: name.to_string(),
        option: option.name.to_string(),
        value: text.to_owned(),
        choices: choices.iter().map(Value::words).collect(),
    })
}
