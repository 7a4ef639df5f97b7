//! Products and prices of a command: its terms, and the directories of the user.

use std::path::PathBuf;

use plimsoll_catalogue::{Date, PriceTerms};
use plimsoll_language::say;
use plimsoll_measure::{OfferSources, Offers, date_of};

use crate::args::TermsArgs;
use crate::cli_error::CliError;
use crate::store::config_folder;

/// Environment variable with the directory of the user's product files.
const PRODUCTS_VARIABLE: &str = "PLIMSOLL_PRODUCTS";
/// Environment variable with the directory of imported prices.
pub const PRICES_VARIABLE: &str = "PLIMSOLL_PRICES";

/// Reads the offers under the terms of the flags.
pub fn read_offers(args: &TermsArgs) -> Result<Offers, CliError> {
    let as_of = args.as_of.unwrap_or_else(current_date);
    Ok(Offers::read(OfferSources {
        products: products_folder(args)?,
        prices: prices_folder(),
        own_prices: args.price.clone(),
        commitment: args.commitment,
        terms: PriceTerms { as_of, currency: args.currency, region: args.region.clone() },
    })?)
}

fn products_folder(args: &TermsArgs) -> Result<Option<PathBuf>, CliError> {
    if let Some(folder) = &args.products {
        if !folder.is_dir() {
            return Err(CliError::usage(say!("{}: no such directory of product files", folder.display())));
        }
        return Ok(Some(folder.clone()));
    }
    let named = std::env::var_os(PRODUCTS_VARIABLE).map(PathBuf::from);
    let default_folder = config_folder().map(|config| config.join("products"));
    Ok(named.or(default_folder).filter(|folder| folder.is_dir()))
}

/// `PLIMSOLL_PRICES`, or `plimsoll/prices` in the user's configuration directory (XDG base directories).
pub fn prices_folder() -> Option<PathBuf> {
    std::env::var_os(PRICES_VARIABLE).map(PathBuf::from).or_else(|| Some(config_folder()?.join("prices")))
}

/// The date in the time zone of this host.
pub fn current_date() -> Date {
    date_of(&jiff::Zoned::now())
}
