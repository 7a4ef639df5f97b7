//! Variations of a configuration: another value of an option.

use plimsoll_catalogue::{Catalogue, Chosen, Config, ConfigRefusal, Offer, OptionValue, Part, PriceTerms, Setting};

/// The part of a configuration to which an option belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Volume,
    Machine,
}

/// The option that a ceiling names as raising it.
pub(crate) fn option<'a>(offer: &'a Offer, name: &str) -> Option<(Owner, &'a Chosen)> {
    let find = |options: &'a [Chosen]| options.iter().find(|chosen| *chosen.name == *name);
    let volume = find(&offer.options).map(|chosen| (Owner::Volume, chosen));
    volume.or_else(|| find(&offer.machine_options).map(|chosen| (Owner::Machine, chosen)))
}

/// The configuration with another value of an option.
pub(crate) fn with(config: &Config, owner: Owner, name: &str, value: &str) -> Config {
    let mut config = config.clone();
    match owner {
        Owner::Volume => set(&mut config.volume, name, value),
        Owner::Machine => config.machine.iter_mut().for_each(|machine| set(machine, name, value)),
    }
    config
}

fn set(part: &mut Part, name: &str, value: &str) {
    part.settings.retain(|setting| match setting {
        Setting::Size { .. } => name != "size",
        Setting::Word(_) => name != "tier",
        Setting::Option { name: own, .. } => own != name,
    });
    part.settings.push(Setting::Option { name: name.into(), value: value.into() });
}

/// The values to which an option can be raised, in textual form and in order; numbers by their steps.
#[derive(Clone, Debug)]
pub(crate) struct OptionValues {
    base: f64,
    step: f64,
    count: u64,
    words: Vec<String>,
}

impl OptionValues {
    /// What stands above the option's present value; empty when nothing does.
    pub(crate) fn above(chosen: &Chosen) -> Self {
        let none = Self { base: 0.0, step: 1.0, count: 0, words: Vec::new() };
        let Some(present) = &chosen.value else { return none };
        if !chosen.choices.is_empty() {
            let is_present = |choice: &str| match present {
                OptionValue::Text(word) => choice == &**word,
                OptionValue::Number(value) => choice.parse() == Ok(*value),
            };
            let rest = chosen.choices.iter().skip_while(|choice| !is_present(choice)).skip(1);
            let words: Vec<String> = rest.map(ToString::to_string).collect();
            return Self { count: words.len() as u64, words, ..none };
        }
        match (present, chosen.high, chosen.step.filter(|step| *step > 0.0)) {
            (OptionValue::Number(value), Some(high), Some(step)) => {
                let count = ((high - value) / step + 1e-9).floor().max(0.0) as u64;
                Self { base: *value, step, count, words: Vec::new() }
            }
            _ => none,
        }
    }

    /// All values of the option.
    pub(crate) fn all(chosen: &Chosen) -> Self {
        match (&chosen.value, chosen.low, chosen.step) {
            (Some(OptionValue::Number(_)), Some(low), Some(step)) if step > 0.0 => {
                let below = Chosen { value: Some(OptionValue::Number(low - step)), ..chosen.clone() };
                Self::above(&below)
            }
            _ => {
                let words: Vec<String> = chosen.choices.iter().map(ToString::to_string).collect();
                Self { base: 0.0, step: 1.0, count: words.len() as u64, words }
            }
        }
    }

    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// The `n`-th value; `n` from 1 to the count.
    pub(crate) fn value(&self, n: u64) -> String {
        match self.words.get((n - 1) as usize) {
            Some(word) => word.clone(),
            None => format!("{}", self.base + self.step * n as f64),
        }
    }
}

/// Options with at most this many values are levels: each value is tried, because availability need not be monotonic.
pub(crate) const FEW: u64 = 16;

/// True for an option with few values.
pub(crate) fn has_levels(chosen: &Chosen) -> bool {
    OptionValues::all(chosen).count() <= FEW
}

type OptionPosition<'a> = (&'a Config, Owner, &'a Chosen);

/// The lowest value for which `enough` is true, if any. An invalid configuration counts as insufficient: a higher value
/// may be valid.
///
/// With more than a few values, `enough` is assumed to be monotonic.
pub(crate) fn lowest(
    catalogue: &Catalogue,
    terms: &PriceTerms,
    place: OptionPosition<'_>,
    enough: &dyn Fn(&Offer) -> bool,
) -> Option<Offer> {
    let values = OptionValues::above(place.2);
    let holds = |n: u64| at(catalogue, terms, place, &values.value(n)).ok().filter(|offer| enough(offer));
    if values.count() <= FEW {
        return (1..=values.count()).find_map(holds);
    }
    let top = last_valid(catalogue, terms, place, &values);
    let mut best = if top == 0 { None } else { holds(top) }?;
    let (mut low, mut high) = (0, top);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match holds(middle) {
            Some(offer) => (best, high) = (offer, middle),
            None => low = middle,
        }
    }
    Some(best)
}

/// The highest value on offer.
pub(crate) fn highest(catalogue: &Catalogue, terms: &PriceTerms, place: OptionPosition<'_>) -> Option<Offer> {
    let values = OptionValues::above(place.2);
    let top = last_valid(catalogue, terms, place, &values);
    let tried = top.min(FEW);
    (top - tried + 1..=top).rev().find_map(|n| at(catalogue, terms, place, &values.value(n)).ok())
}

/// The number of the last value that the other options allow: a relation between options, such as IOPS for each MiB/s,
/// can end below the range of the option. 0 if none is above the present value.
fn last_valid(catalogue: &Catalogue, terms: &PriceTerms, place: OptionPosition<'_>, values: &OptionValues) -> u64 {
    let is_valid = |n: u64| at(catalogue, terms, place, &values.value(n)).is_ok();
    let count = values.count();
    if let Some(last) = (count.saturating_sub(FEW) + 1..=count).rev().find(|n| is_valid(*n)) {
        return last;
    }
    // The present value, number 0, is valid.
    let (mut low, mut high) = (0, count);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_valid(middle) { low = middle } else { high = middle }
    }
    low
}

fn at(
    catalogue: &Catalogue,
    terms: &PriceTerms,
    (config, owner, chosen): OptionPosition<'_>,
    value: &str,
) -> Result<Offer, ConfigRefusal> {
    catalogue.offer(&with(config, owner, &chosen.name, value), terms)
}
