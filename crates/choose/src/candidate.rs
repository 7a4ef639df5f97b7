//! Configurations next to a configuration: the same with another value of an option.

use plimsoll_catalogue::{Catalogue, Chosen, Config, Offer, OptionValue, Part, Refusal, Setting, Terms};

/// Where an option belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Volume,
    Machine,
}

/// The option that a ceiling names as what raises it.
pub(crate) fn option<'a>(offer: &'a Offer, name: &str) -> Option<(Whose, &'a Chosen)> {
    let find = |options: &'a [Chosen]| options.iter().find(|chosen| *chosen.name == *name);
    let volume = find(&offer.options).map(|chosen| (Whose::Volume, chosen));
    volume.or_else(|| find(&offer.machine_options).map(|chosen| (Whose::Machine, chosen)))
}

/// The configuration with another value of an option.
pub(crate) fn with(config: &Config, whose: Whose, name: &str, value: &str) -> Config {
    let mut config = config.clone();
    match whose {
        Whose::Volume => set(&mut config.volume, name, value),
        Whose::Machine => config.machine.iter_mut().for_each(|machine| set(machine, name, value)),
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

/// The values that an option can be raised to, as they are written, from the next on; numbers by their steps.
#[derive(Clone, Debug)]
pub(crate) struct Rungs {
    base: f64,
    step: f64,
    count: u64,
    words: Vec<String>,
}

impl Rungs {
    /// What stands above the option's present value; empty when nothing does.
    pub(crate) fn above(chosen: &Chosen) -> Self {
        let nothing = Self { base: 0.0, step: 1.0, count: 0, words: Vec::new() };
        let Some(present) = &chosen.value else { return nothing };
        if !chosen.choices.is_empty() {
            let is_present = |choice: &str| match present {
                OptionValue::Text(word) => choice == &**word,
                OptionValue::Number(value) => choice.parse() == Ok(*value),
            };
            let rest = chosen.choices.iter().skip_while(|choice| !is_present(choice)).skip(1);
            let words: Vec<String> = rest.map(ToString::to_string).collect();
            return Self { count: words.len() as u64, words, ..nothing };
        }
        match (present, chosen.high, chosen.step.filter(|step| *step > 0.0)) {
            (OptionValue::Number(value), Some(high), Some(step)) => {
                let count = ((high - value) / step + 1e-9).floor().max(0.0) as u64;
                Self { base: *value, step, count, words: Vec::new() }
            }
            _ => nothing,
        }
    }

    /// Every value that the option can have, the lowest being the first rung.
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

    /// The value that is `n` rungs up; `n` from 1 to the count.
    pub(crate) fn value(&self, n: u64) -> String {
        match self.words.get((n - 1) as usize) {
            Some(word) => word.clone(),
            None => format!("{}", self.base + self.step * n as f64),
        }
    }
}

/// An option with so many values or fewer is a level: each is tried, and what is on offer of them need not be the
/// upper or the lower ones.
pub(crate) const FEW: u64 = 16;

/// True for an option of few values.
pub(crate) fn has_levels(chosen: &Chosen) -> bool {
    Rungs::all(chosen).count() <= FEW
}

/// An option of a configuration.
type Place<'a> = (&'a Config, Whose, &'a Chosen);

/// The lowest rung at which `enough` holds; `None` when it holds at none. What is refused counts as not enough: above
/// it there may be more.
///
/// Of more than a few rungs, `enough` is taken to hold at every rung above the first at which it does.
pub(crate) fn lowest(
    catalogue: &Catalogue,
    terms: &Terms,
    place: Place<'_>,
    enough: &dyn Fn(&Offer) -> bool,
) -> Option<Offer> {
    let rungs = Rungs::above(place.2);
    let holds = |n: u64| at(catalogue, terms, place, &rungs.value(n)).ok().filter(|offer| enough(offer));
    if rungs.count() <= FEW {
        return (1..=rungs.count()).find_map(holds);
    }
    let mut best = holds(rungs.count())?;
    let (mut low, mut high) = (0, rungs.count());
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match holds(middle) {
            Some(offer) => (best, high) = (offer, middle),
            None => low = middle,
        }
    }
    Some(best)
}

/// The highest rung that is on offer, among the last few.
pub(crate) fn highest(catalogue: &Catalogue, terms: &Terms, place: Place<'_>) -> Option<Offer> {
    let rungs = Rungs::above(place.2);
    let tried = rungs.count().min(FEW);
    (rungs.count() - tried + 1..=rungs.count()).rev().find_map(|n| at(catalogue, terms, place, &rungs.value(n)).ok())
}

fn at(catalogue: &Catalogue, terms: &Terms, (config, whose, chosen): Place<'_>, value: &str) -> Result<Offer, Refusal> {
    catalogue.offer(&with(config, whose, &chosen.name, value), terms)
}
