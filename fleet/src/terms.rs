//! Terms of prices: date, region and currency.

use anyhow::{Context, Result};
use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use plimsoll_catalogue::{Date, PriceTerms};

/// Options of prices.
#[derive(Clone, Debug, Args)]
pub struct TermOptions {
    /// Date of limits and prices, such as 2026-11 or 2026-11-28; today if none
    #[arg(long)]
    pub as_of: Option<String>,
    /// Regions of volumes whose row names none: one of each provider, separated by commas
    #[arg(long, default_value = "us-east-1")]
    pub region: String,
    /// Currency of prices
    #[arg(long, default_value = "USD")]
    pub currency: String,
}

impl TermOptions {
    /// The terms of a volume in `region`; in that of the command line if it is empty.
    pub fn price_terms(&self, region: &str) -> Result<PriceTerms> {
        let as_of: Date = match &self.as_of {
            Some(text) => text.parse().context("--as-of")?,
            None => today().parse()?,
        };
        let currency = self.currency.parse().context("--currency")?;
        let region = if region.is_empty() { self.region.clone() } else { region.to_owned() };
        Ok(PriceTerms { as_of, currency: Some(currency), region: Some(region) })
    }
}

/// The present date in UTC, such as 2026-11-28.
pub fn today() -> String {
    Timestamp::now().to_zoned(TimeZone::UTC).date().to_string()
}
