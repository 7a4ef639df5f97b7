//! A quote: performance, binding limit and price of a configuration, and the ways to lift that limit.

use plimsoll_catalogue::{
    Ask, Catalogue, Chosen, Config, ConfigRefusal, NoPrice, Offer, OptionValue, Price, PriceTerms, Standing,
};

use crate::lift::{Lift, lifts};

/// Performance and price of a configuration.
#[derive(Clone, Debug)]
pub struct Quote {
    /// The offer: ceilings, capacity, options, doubts.
    pub offer: Offer,
    /// The operations in question.
    pub ask: Ask,
    /// Their ceilings.
    pub standing: Standing,
    /// The price under the terms, or the reason why there is none.
    pub price: Result<Price, NoPrice>,
    /// Ways to lift the binding limit, the cheapest first.
    pub lifts: Vec<Lift>,
}

/// Quotes a configuration.
///
/// # Errors
/// If the configuration is invalid.
pub fn quote(catalogue: &Catalogue, config: &Config, terms: &PriceTerms, ask: &Ask) -> Result<Quote, ConfigRefusal> {
    let offer = catalogue.offer(config, terms)?;
    let standing = offer.standing(ask);
    let lifts = lifts(catalogue, &offer, terms, ask);
    let price = offer.price();
    Ok(Quote { offer, ask: *ask, standing, price, lifts })
}

/// An option's value for display.
pub(crate) fn value_of(chosen: &Chosen) -> String {
    match &chosen.value {
        Some(OptionValue::Number(number)) => format!("{number}"),
        Some(OptionValue::Text(word)) => word.to_string(),
        None => "none".into(),
    }
}
