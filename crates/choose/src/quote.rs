//! A quote: what a configuration gives, what binds it, what it costs, and what lifting the limit would.

use plimsoll_catalogue::{
    Ask, Catalogue, Chosen, Config, NoPrice, Offer, OptionValue, Price, Refusal, Standing, Terms,
};

use crate::lift::{Lift, lifts};

/// What a configuration gives and costs.
#[derive(Clone, Debug)]
pub struct Quote {
    /// The offer: ceilings, capacity, options, doubts.
    pub offer: Offer,
    /// What was asked of its ceilings.
    pub ask: Ask,
    /// Where that stands among them.
    pub standing: Standing,
    /// The price under the terms, or why there is none.
    pub price: Result<Price, NoPrice>,
    /// Ways to lift the limit that binds, the cheapest first.
    pub lifts: Vec<Lift>,
}

/// Quotes a configuration.
///
/// # Errors
/// When the configuration cannot be had.
pub fn quote(catalogue: &Catalogue, config: &Config, terms: &Terms, ask: &Ask) -> Result<Quote, Refusal> {
    let offer = catalogue.offer(config, terms)?;
    let standing = offer.standing(ask);
    let lifts = lifts(catalogue, &offer, terms, ask);
    let price = offer.price();
    Ok(Quote { offer, ask: *ask, standing, price, lifts })
}

/// An option's value as a person reads it.
pub(crate) fn value_of(chosen: &Chosen) -> String {
    match &chosen.value {
        Some(OptionValue::Number(number)) => format!("{number}"),
        Some(OptionValue::Text(word)) => word.to_string(),
        None => "none".into(),
    }
}
