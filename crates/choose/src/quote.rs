//! A quote: performance, binding limit and price of a configuration, and the ways to lift that limit.

use plimsoll_catalogue::{
    Ask, Catalogue, Charge, Chosen, Config, ConfigRefusal, Money, NoPrice, Offer, OptionValue, Price, PriceTerms,
    Standing,
};

use crate::candidate::{Owner, with};
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
    /// Prices by each value of the option that selects what is billed; empty unless requests can be billed.
    pub billing: Vec<BillingChoice>,
}

impl Quote {
    /// Monthly price; `None` unless each part has one.
    pub fn monthly(&self) -> Option<Money> {
        self.price.as_ref().ok()?.total()
    }
}

/// The price of a configuration with another way of billing.
#[derive(Clone, Debug, PartialEq)]
pub struct BillingChoice {
    pub option: String,
    pub value: String,
    /// True for the value of the quoted configuration.
    pub is_chosen: bool,
    pub price: Price,
}

impl BillingChoice {
    /// The charge for requests; none if they are free.
    pub fn requests(&self) -> Option<&Charge> {
        self.price.parts.iter().find(|part| part.per.ends_with("requests"))
    }
}

/// Quotes a configuration.
///
/// # Errors
/// If the configuration is invalid.
pub fn quote(catalogue: &Catalogue, config: &Config, terms: &PriceTerms, ask: &Ask) -> Result<Quote, ConfigRefusal> {
    let offer = catalogue.offer(config, terms)?;
    let standing = offer.standing(ask);
    let lifts = find_lifts(catalogue, &offer, terms, &[(*ask, 1.0)], None);
    let price = offer.price();
    let billing = compare_billing(catalogue, &offer, terms);
    Ok(Quote { offer, ask: *ask, standing, price, lifts, billing })
}

/// Prices by each value of the first option with which requests are billed or free.
fn compare_billing(catalogue: &Catalogue, offer: &Offer, terms: &PriceTerms) -> Vec<BillingChoice> {
    let short = offer.short();
    let price_each = |chosen: &Chosen| -> Option<Vec<BillingChoice>> {
        let Some(OptionValue::Text(present)) = &chosen.value else { return None };
        let price = |value: &str| {
            let config = with(&short, Owner::Volume, &chosen.name, value);
            let price = catalogue.offer(&config, terms).ok()?.price().ok()?;
            let is_chosen = value == &**present;
            Some(BillingChoice { option: chosen.name.to_string(), value: value.to_owned(), is_chosen, price })
        };
        let all: Vec<BillingChoice> = chosen.choices.iter().map(|value| price(value)).collect::<Option<_>>()?;
        let [billed, free] = [true, false].map(|is| all.iter().any(|one| one.requests().is_some() == is));
        (billed && free).then_some(all)
    };
    offer.options.iter().filter(|chosen| chosen.choices.len() > 1).find_map(price_each).unwrap_or_default()
}
