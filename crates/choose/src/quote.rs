//! A quote: performance, binding limit and price of a configuration, and the ways to lift that limit.

use plimsoll_catalogue::{Ask, Catalogue, Config, ConfigRefusal, NoPrice, Offer, Price, PriceTerms, Standing};

use crate::lift::{Lift, find_lifts};

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
    let lifts = find_lifts(catalogue, &offer, terms, ask);
    let price = offer.price();
    Ok(Quote { offer, ask: *ask, standing, price, lifts })
}
