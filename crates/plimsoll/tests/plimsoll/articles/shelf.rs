//! Models of configurations from the catalogue.

use std::sync::OnceLock;

use plimsoll_catalogue::{Catalogue, Config, Date, Offer, PriceTerms};
use plimsoll_model::ChainSpec;

/// The built-in products.
pub fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(Catalogue::built_in)
}

/// The offer of `config` at the end of `year`.
pub fn offer_of(config: &str, year: u16) -> Offer {
    let parsed: Config = config.parse().unwrap_or_else(|error| panic!("{error}"));
    let terms = PriceTerms { as_of: Date::day(year, 12, 31), currency: None, region: None };
    catalogue().offer(&parsed, &terms).unwrap_or_else(|refusal| panic!("{config}: {refusal}"))
}

/// The offer of `config` at the end of 2024.
pub fn offer(config: &str) -> Offer {
    offer_of(config, 2024)
}

/// The model of `config`.
pub fn model(config: &str) -> ChainSpec {
    offer(config).model().unwrap_or_else(|error| panic!("{config}: {error}"))
}

pub fn parse_model(notation: &str) -> ChainSpec {
    plimsoll_model::parse(notation).unwrap_or_else(|error| panic!("{notation}: {error}"))
}
