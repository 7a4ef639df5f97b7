//! The levels to which a configuration can be set, each with price and model.

use plimsoll_catalogue::{
    Catalogue, Chosen, Config, ConfigRefusal, Money, NoModel, NoPrice, Offer, OptionValue, Price, PriceTerms,
};
use plimsoll_model::ChainSpec;
use plimsoll_units::Span;
use plimsoll_volume::{Ladder, LevelModel, Policy};
use thiserror::Error;

use crate::candidate::{OptionValues, Owner, with};

#[derive(Clone, Debug)]
pub struct Level {
    /// Value of the option.
    pub level: u32,
    pub offer: Offer,
    /// Price per month.
    pub monthly: Money,
    pub(super) model: ChainSpec,
}

/// The levels of a configuration, lowest first.
#[derive(Clone, Debug)]
pub struct Levels {
    /// The option that sets the level.
    pub option: String,
    pub levels: Vec<Level>,
    /// The limits of each level; a level changes only these.
    pub(super) ladder: Ladder,
}

/// The reason why a configuration has no levels.
#[plimsoll_language::say_errors]
#[derive(Debug, Error)]
pub enum NoLevels {
    /// The configuration is invalid.
    #[error(transparent)]
    Refused(#[from] ConfigRefusal),
    /// It has no option that can be changed while it is in use.
    #[error("{0} has no level that can be set while it is used: choose a product with levels, such as oci:1TB@10vpu")]
    None(String),
    /// A level has no price.
    #[error("no price at level {0}: {1}")]
    NoPrice(u32, NoPrice),
    /// A level has no model.
    #[error("no model at level {0}: {1}")]
    NoModel(u32, NoModel),
}

/// Maximum levels; more are thinned out evenly.
const MAX_LEVELS: u64 = 16;

impl Levels {
    /// The levels of a configuration, from the lowest to the highest on offer.
    pub fn of(catalogue: &Catalogue, config: &Config, terms: &PriceTerms) -> Result<Self, NoLevels> {
        let offer = catalogue.offer(config, terms)?;
        let option = level_option(&offer).ok_or_else(|| NoLevels::None(offer.short().to_string()))?;
        let values = OptionValues::all(option);
        let stride = values.count().div_ceil(MAX_LEVELS).max(1);
        let mut levels = Vec::new();
        for n in (1..=values.count()).step_by(stride as usize) {
            let value = values.value(n);
            let Some(level) = integer(&value) else { continue };
            let config = with(config, Owner::Volume, &option.name, &value);
            // Intermediate levels may not be on offer.
            let Ok(offer) = catalogue.offer(&config, terms) else { continue };
            let price = offer.price().and_then(complete).map_err(|error| NoLevels::NoPrice(level, error))?;
            let model = offer.model().map_err(|error| NoLevels::NoModel(level, error))?;
            levels.push(Level { level, monthly: price.monthly, offer, model });
        }
        let rung = |level: &Level| {
            let model = level.offer.limits().map_err(|error| NoLevels::NoModel(level.level, error))?;
            Ok(LevelModel { level: level.level, model })
        };
        let values = levels.iter().map(rung).collect::<Result<Vec<_>, NoLevels>>()?;
        let ladder = Ladder::new(values).map_err(|_| NoLevels::None(offer.short().to_string()))?;
        Ok(Self { option: option.name.to_string(), levels, ladder })
    }

    pub(super) fn level(&self, level: u32) -> &Level {
        self.levels.iter().find(|existing| existing.level == level).expect("rules use levels of the ladder only")
    }

    /// The provider's autotuning policy between two levels, as far as the catalogue contains it.
    pub fn policy(&self, default: u32, max: u32) -> Policy {
        let usual = Policy::between(default, max);
        let span = |key: &str, usual: Span| self.parameter(key).map_or(usual, Span::from_secs_f64);
        Policy {
            step: self.parameter("step").map_or(usual.step, |step| step as u32).max(1),
            up_after: span("up_period_s", usual.up_after),
            down_first: span("down_first_s", usual.down_first),
            down_next: span("down_next_s", usual.down_next),
            ..usual
        }
    }

    /// True if the provider autotunes levels.
    pub fn follow_load(&self) -> bool {
        let tables = self.levels.first().map(|level| level.offer.product().autotune());
        tables.is_some_and(|tables| tables.iter().any(|table| table.name.starts_with("performance")))
    }

    /// A parameter of the provider's autotuning; `step` is named with the option: `step_vpu`.
    fn parameter(&self, key: &str) -> Option<f64> {
        let of_option = format!("{key}_{}", self.option);
        let tables = self.levels.first()?.offer.product().autotune();
        let own = tables.iter().filter(|table| table.name.starts_with("performance"));
        let mut parameters = own.flat_map(|table| &table.parameters);
        match parameters.find(|(name, _)| *name == key || *name == of_option)?.1 {
            OptionValue::Number(number) => Some(number),
            OptionValue::Text(_) => None,
        }
    }
}

/// The option that is a level: a number other than the size that raises some limit.
fn level_option(offer: &Offer) -> Option<&Chosen> {
    let raises = |option: &Chosen| offer.ceilings.iter().any(|ceiling| ceiling.lift.contains(&option.name));
    let is_number = |option: &Chosen| matches!(option.value, Some(OptionValue::Number(_)));
    offer.options.iter().find(|option| &*option.name != "size" && is_number(option) && raises(option))
}

fn integer(value: &str) -> Option<u32> {
    value.parse::<f64>().ok().filter(|value| value.fract() == 0.0 && *value >= 0.0).map(|value| value as u32)
}

/// The price, unless it is without a part.
fn complete(price: Price) -> Result<Price, NoPrice> {
    match price.without.first() {
        None => Ok(price),
        Some(part) => Err(NoPrice::NotCovered { product: "the configuration".to_owned(), part: part.clone() }),
    }
}
