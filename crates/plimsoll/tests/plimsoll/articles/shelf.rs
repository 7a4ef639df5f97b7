//! Limits, prices and models of configurations from the catalogue.

use std::sync::OnceLock;

use plimsoll_catalogue::{Ask, Catalogue, Config, Date, Money, Offer, PriceTerms};
use plimsoll_model::ChainSpec;
use plimsoll_units::Bytes;

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

/// A model in its notation.
pub fn parsed(notation: &str) -> ChainSpec {
    plimsoll_model::parse(notation).unwrap_or_else(|error| panic!("{notation}: {error}"))
}

/// Sustained operations per second of `config` for a block size and a share of `reads`.
pub fn carried(config: &str, block: u64, reads: f64) -> f64 {
    quoted(config, &Ask { block: Bytes::new(block), reads, sequential: false })
}

/// Sequential throughput in 10^6 bytes per second.
pub fn carried_in_order_mb(config: &str, block: u64, reads: f64) -> f64 {
    quoted(config, &Ask { block: Bytes::new(block), reads, sequential: true }) * block as f64 / 1e6
}

fn quoted(config: &str, ask: &Ask) -> f64 {
    offer(config).standing(ask).binding().unwrap_or_else(|| panic!("{config} has no limit")).iops
}

/// Monthly price of `config`, and its one-time price.
pub fn price(config: &str) -> (f64, f64) {
    let price = offer(config).price().unwrap_or_else(|error| panic!("{config}: {error}"));
    (price.monthly.as_f64(), price.once.map_or(0.0, Money::as_f64))
}
