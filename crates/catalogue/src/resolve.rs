//! Resolves a configuration to the values of a product's variables: given values, tier and defaults, checked against
//! bounds and rules.

mod bounds;
mod settings;

use std::sync::Arc;

use crate::commitment::Commitment;
use crate::config::{OWN_MACHINE, OWN_MACHINE_WORD, Part, Setting};
use crate::date::Date;
use crate::expression::Value;
use crate::number::format_plain;
use crate::product::{MEMBERS, OptionValue, Origin, PriceList, Product, Range, Rule, VOLUME};
use crate::refusal::ConfigRefusal;
use settings::Given;

/// A product with a value for each of its variables.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    pub product: Arc<Product>,
    /// Name of the product or machine.
    pub name: Arc<str>,
    pub values: Vec<Value>,
    pub tier: Option<usize>,
    /// The user's own price, instead of those of the file.
    pub own_price: Option<Arc<[PriceList]>>,
    /// Imported lists of the product, which go before those of the file.
    pub imported: Option<Arc<[PriceList]>>,
    pub commitment: Commitment,
    /// Row of the machine in its family.
    row: Option<usize>,
    /// Values of the configuration.
    given: Given,
}

/// Value of an option, and its alternatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// Name of the option.
    pub name: Arc<str>,
    /// Its value; `None` if neither given nor defaulted.
    pub value: Option<OptionValue>,
    /// Origin of the value.
    pub by: ChosenBy,
    /// Minimum in this configuration; for numbers and sizes.
    pub low: Option<f64>,
    /// Maximum.
    pub high: Option<f64>,
    /// Values are multiples of this, or the maximum.
    pub step: Option<f64>,
    /// Alternatives; for choices.
    pub choices: Vec<Arc<str>>,
}

/// Origin of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenBy {
    /// Given by the configuration.
    Configuration,
    /// Default of the product, or implied by the tier.
    Default,
}

/// A product, or a machine of a family.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedSubject<'c> {
    pub product: &'c Arc<Product>,
    pub row: Option<usize>,
}

impl ResolvedSubject<'_> {
    pub(crate) fn name(&self) -> Arc<str> {
        let machine = self.row.zip(self.product.machines.as_ref()).map(|(row, machines)| &machines.rows[row].name);
        let named = |row: &Arc<str>| match format!("{}/{row}", self.product.name) {
            name if name == OWN_MACHINE => OWN_MACHINE_WORD.into(),
            name => name.into(),
        };
        machine.map_or_else(|| Arc::clone(&self.product.name), named)
    }
}

/// The configuration around a product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'c> {
    pub as_of: Date,
    /// The machine that a volume is attached to.
    pub machine: Option<&'c Resolved>,
    /// The product of the volumes; `None` for a machine alone.
    pub volume: Option<&'c Arc<str>>,
    /// Volumes of the configuration.
    pub members: f64,
}

/// Gives every variable of `subject` its value.
pub(crate) fn resolve(subject: &ResolvedSubject, part: &Part, context: Context<'_>) -> Result<Resolved, ConfigRefusal> {
    let product = subject.product;
    let given = Given::read(product, &subject.name(), &part.settings)?;
    let mut resolved = Resolved {
        product: Arc::clone(product),
        name: subject.name(),
        values: vec![Value::Absent; product.variables.len()],
        own_price: None,
        imported: None,
        commitment: Commitment::None,
        row: subject.row,
        tier: given.tier.or_else(|| product.tiers.as_ref()?.default),
        given,
    };
    resolved.values[MEMBERS] = Value::Number(context.members);
    resolved.values[VOLUME] = context.volume.map_or(Value::Absent, |volume| Value::Text(Arc::clone(volume)));
    resolved.dated(context.as_of)?;
    resolved.take_row();
    resolved.take_from(context.machine);
    resolved.take_given();
    resolved.settle_tier()?;
    resolved.take_defaults();
    resolved.check_options()?;
    resolved.check_rules(context.as_of)?;
    Ok(resolved)
}

impl Resolved {
    /// The user's own price, or the imported lists and those of the product's file.
    pub(crate) fn price_lists(&self) -> impl Iterator<Item = &PriceList> {
        let imported = self.imported.as_deref().filter(|_| self.own_price.is_none()).unwrap_or_default();
        imported.iter().chain(self.own_price.as_deref().unwrap_or(&self.product.prices))
    }

    /// The price lists at a date, in the order of the file: an imported one takes the place of that of its region and
    /// currency, those of other regions and currencies follow.
    pub(crate) fn valid_price_lists(&self, as_of: Date) -> impl Iterator<Item = &PriceList> {
        let is_valid = move |list: &&PriceList| list.validity.holds(as_of);
        let (imported, of_file): (Vec<&PriceList>, Vec<&PriceList>) =
            self.price_lists().filter(is_valid).partition(|list| list.imported.is_some());
        let is_alike = |a: &PriceList, b: &PriceList| a.currency == b.currency && a.region == b.region;
        let mut lists: Vec<&PriceList> = Vec::new();
        for list in of_file {
            let list = imported.iter().find(|imported| is_alike(imported, list)).copied().unwrap_or(list);
            if list.imported.is_none() || !lists.iter().any(|existing| std::ptr::eq(*existing, list)) {
                lists.push(list);
            }
        }
        for list in imported {
            if !lists.iter().any(|existing| std::ptr::eq(*existing, list)) {
                lists.push(list);
            }
        }
        lists.into_iter()
    }

    /// Bytes of a volume; of a product without a size, its unit.
    pub(crate) fn size_bytes(&self) -> f64 {
        let units = if self.product.option("size").is_some() { self.size().unwrap_or(0.0) } else { 1.0 };
        units * self.product.unit.bytes as f64
    }

    /// Sets the figures of that date; refuses a date without any.
    fn dated(&mut self, as_of: Date) -> Result<(), ConfigRefusal> {
        for figure in self.product.figures.iter().filter(|figure| figure.validity.holds(as_of)) {
            self.values[figure.variable] = Value::Number(figure.value);
        }
        let limits = &self.product.limits;
        if limits.is_empty() || limits.iter().any(|limit| limit.validity.holds(as_of)) {
            return Ok(());
        }
        let mut existing: Vec<String> = limits.iter().map(|limit| limit.validity.words()).collect();
        existing.dedup();
        Err(ConfigRefusal::NoLimitsThen { product: self.name.to_string(), as_of: as_of.to_string(), existing })
    }

    fn take_row(&mut self) {
        if let Some((row, machines)) = self.row.zip(self.product.machines.as_ref()) {
            let cells = &machines.rows[row].cells;
            self.values[machines.first..machines.first + cells.len()].clone_from_slice(cells);
        }
    }

    fn take_from(&mut self, machine: Option<&Self>) {
        let Some(machine) = machine else { return };
        let foreign = self.product.variables.iter().enumerate().filter(|(_, own)| own.origin == Origin::Machine);
        for (slot, own) in foreign {
            let theirs = machine.product.variables.iter().position(|theirs| theirs.name == own.name);
            self.values[slot] = theirs.map_or(Value::Absent, |theirs| machine.values[theirs].clone());
        }
    }

    fn take_given(&mut self) {
        for (option, given) in self.product.options.iter().zip(&self.given.options) {
            if let Some((value, _)) = given {
                self.values[option.variable] = value.clone();
            }
        }
    }

    /// Derives the tier from the size, or the size from a named tier.
    fn settle_tier(&mut self) -> Result<(), ConfigRefusal> {
        let size = self.product.option("size").map(|(_, option)| option.variable);
        let product = Arc::clone(&self.product);
        if let (Some(size), Some(tiers), Some(tier)) = (size, &product.tiers, self.tier)
            && let Some(sizes) = &tiers.sizes
        {
            match self.values[size] {
                Value::Number(required) if required > sizes[tier] => return Err(self.tier_too_small(tier, sizes[tier])),
                Value::Number(_) => {}
                _ => self.values[size] = Value::Number(sizes[tier]),
            }
        }
        if size.is_some_and(|size| self.values[size] == Value::Absent) {
            self.take_defaults();
        }
        if let (Some(size), Some(tiers), None) = (size, &product.tiers, self.tier)
            && let (Some(sizes), Value::Number(required)) = (&tiers.sizes, &self.values[size])
        {
            self.tier = sizes.iter().position(|holds| holds >= required);
        }
        if let (Some(tiers), Some(tier)) = (&product.tiers, self.tier) {
            let cells = &tiers.rows[tier].cells;
            self.values[tiers.first..tiers.first + cells.len()].clone_from_slice(cells);
        }
        Ok(())
    }

    fn tier_too_small(&self, tier: usize, holds: f64) -> ConfigRefusal {
        let rows = &self.product.tiers.as_ref().expect("it was asked for by its tiers").rows;
        ConfigRefusal::TierTooSmall {
            product: self.name.to_string(),
            tier: rows[tier].name.to_string(),
            holds: format!("{} {}", crate::number::display(holds), self.product.unit.word),
            size: self.given.display("size", &self.product),
        }
    }

    /// Sets defaults, which may depend on each other in any order.
    fn take_defaults(&mut self) {
        for _ in 0..self.product.options.len() {
            let mut changed = false;
            for index in 0..self.product.options.len() {
                let option = &self.product.options[index];
                let default = option.default.as_ref().filter(|_| self.values[option.variable] == Value::Absent);
                let value = default.map(|default| default.value(&self.values)).filter(|value| *value != Value::Absent);
                if let Some(value) = value {
                    self.values[option.variable] = value;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn check_rules(&self, as_of: Date) -> Result<(), ConfigRefusal> {
        match self.broken(as_of).find(|rule| !rule.caution) {
            None => Ok(()),
            Some(rule) => Err(ConfigRefusal::Rule {
                product: self.name.to_string(),
                message: rule.message.to_string(),
                cite: Arc::clone(&rule.cite),
            }),
        }
    }

    /// Rules that the configuration breaks.
    pub(crate) fn broken(&self, as_of: Date) -> impl Iterator<Item = &Rule> {
        let rules = self.product.rules.iter().filter(move |rule| rule.validity.holds(as_of));
        rules.filter(|rule| rule.require.truth(&self.values) == Some(false))
    }

    /// Rules that hang on what is not known here: the machine.
    pub(crate) fn undecided(&self, as_of: Date) -> impl Iterator<Item = &Rule> {
        let rules = self.product.rules.iter().filter(move |rule| rule.validity.holds(as_of));
        rules.filter(|rule| !rule.caution && rule.require.truth(&self.values).is_none())
    }

    /// True for a machine that the configuration describes by its limits.
    pub(crate) fn is_own_machine(&self) -> bool {
        *self.name == *OWN_MACHINE_WORD
    }

    /// True for a machine with a cache that answers all reads.
    pub(crate) fn answers_reads(&self) -> bool {
        let machines = self.product.machines.as_ref();
        machines.and_then(|machines| machines.cached_reads.as_ref()?.truth(&self.values)) == Some(true)
    }

    /// Size in the vendor's unit, if any.
    pub(crate) fn size(&self) -> Option<f64> {
        let (_, option) = self.product.option("size")?;
        match self.values[option.variable] {
            Value::Number(size) => Some(size),
            _ => None,
        }
    }

    /// The configuration without defaults; the full configuration if that would not be equivalent.
    pub(crate) fn short_part(&self, as_of: Date, machine: Option<&Self>) -> Part {
        let full = self.part();
        let by_default = |setting: &Setting| {
            let Setting::Option { name, .. } = setting else { return false };
            let option = self.product.option(name).map(|(_, option)| option);
            let default = option.and_then(|option| Some((option, option.default.as_ref()?)));
            default.is_some_and(|(option, default)| default.value(&self.values) == self.values[option.variable])
        };
        let settings = full.settings.iter().filter(|setting| !by_default(setting)).cloned().collect();
        let short = Part { product: full.product.clone(), settings };
        let subject = ResolvedSubject { product: &self.product, row: self.row };
        let volume = match &self.values[VOLUME] {
            Value::Text(volume) => Some(volume),
            _ => None,
        };
        let members = self.values[MEMBERS].as_number().unwrap_or(1.0);
        let context = Context { as_of, machine, volume, members };
        let same = resolve(&subject, &short, context).is_ok_and(|other| other.values == self.values);
        if same { short } else { full }
    }

    /// The full configuration.
    pub(crate) fn part(&self) -> Part {
        let size = self
            .size()
            .map(|size| Setting::Size { number: format_plain(size), unit: self.product.unit.word.to_string() });
        let tier = self.given.tier.or_else(|| self.product.tiers.as_ref()?.default);
        let tier = tier.zip(self.product.tiers.as_ref());
        let tier = tier.map(|(tier, tiers)| Setting::Word(tiers.rows[tier].name.to_string()));
        let options = self.product.options.iter().filter(|option| !matches!(option.range, Range::Size(..)));
        let options = options.filter_map(|option| {
            let value = match &self.values[option.variable] {
                Value::Absent => return None,
                Value::Number(number) => {
                    let unit = option.unit.as_ref().map_or("", |unit| &unit.word);
                    format!("{}{unit}", format_plain(*number))
                }
                Value::Text(text) => text.to_string(),
            };
            Some(Setting::Option { name: option.name.to_string(), value })
        });
        let product = if self.is_own_machine() { OWN_MACHINE } else { &self.name };
        Part { product: product.to_owned(), settings: size.into_iter().chain(tier).chain(options).collect() }
    }

    /// All options with their values.
    pub(crate) fn chosen(&self) -> Vec<Chosen> {
        let one = |(index, option): (usize, &crate::product::OptionRule)| {
            let (low, high, step) = self.bounds(option);
            let texts = option.choices().iter().map(|choice| match choice {
                Value::Text(text) => Arc::clone(text),
                // Ungrouped, as in configurations.
                Value::Number(number) => format_plain(*number).into(),
                Value::Absent => Arc::from(""),
            });
            Chosen {
                name: Arc::clone(&option.name),
                value: match &self.values[option.variable] {
                    Value::Absent => None,
                    Value::Number(number) => Some(OptionValue::Number(*number)),
                    Value::Text(text) => Some(OptionValue::Text(Arc::clone(text))),
                },
                by: if self.given.options[index].is_some() { ChosenBy::Configuration } else { ChosenBy::Default },
                low,
                high,
                step,
                choices: texts.collect(),
            }
        };
        self.product.options.iter().enumerate().map(one).chain(self.chosen_tier()).collect()
    }

    /// The tier, presented as an option.
    fn chosen_tier(&self) -> Option<Chosen> {
        let rows = &self.product.tiers.as_ref()?.rows;
        Some(Chosen {
            name: "tier".into(),
            value: self.tier.map(|tier| OptionValue::Text(Arc::clone(&rows[tier].name))),
            by: if self.given.tier.is_some() { ChosenBy::Configuration } else { ChosenBy::Default },
            low: None,
            high: None,
            step: None,
            choices: rows.iter().map(|row| Arc::clone(&row.name)).collect(),
        })
    }
}
