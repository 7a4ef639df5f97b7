//! The catalogue of a command: built-in products, the user's product files, and terms.

use std::borrow::BorrowMut;
use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_catalogue::{
    Catalogue, Complaint, Config, Currency, Date, Like, NoLike, Offer, OwnPrice, Price, PriceTerms,
};
use plimsoll_language::say;
use plimsoll_measure::NamedModel;

use crate::args::TermsArgs;
use crate::cli_error::CliError;
use crate::price_files;
use crate::store::config_folder;

/// Environment variable with the directory of the user's product files.
const PRODUCTS_VARIABLE: &str = "PLIMSOLL_PRODUCTS";
/// Maximum size of a product file.
const LARGEST: u64 = 16 << 20;

/// Parses a configuration or stages. Only a configuration needs the offers.
pub fn read_model<O: BorrowMut<Offers>>(
    text: &str,
    offers: impl FnOnce() -> Result<O, CliError>,
) -> Result<NamedModel, CliError> {
    match text.parse().map_err(|error: NoLike| CliError::usage(error))? {
        Like::Stages(model) => Ok(NamedModel { name: model.to_string(), model, offer: None }),
        Like::Config(_) => {
            let offer = offers()?.borrow_mut().offer(text)?;
            let model = offer.model().map_err(|why| CliError::usage(format!("{text}: {why}")))?;
            Ok(NamedModel { name: offer.short().to_string(), model, offer: Some(offer) })
        }
    }
}

/// Products and terms.
#[derive(Debug)]
pub struct Offers {
    /// All known products.
    pub catalogue: Catalogue,
    /// Date, currency and region.
    pub terms: PriceTerms,
    /// The user's own prices.
    own_prices: Vec<OwnPrice>,
}

impl Offers {
    /// The built-in catalogue and the user's directory, under the terms of the flags.
    pub fn new(args: &TermsArgs) -> Result<Self, CliError> {
        let mut catalogue = Catalogue::built_in();
        if let Some(folder) = products_folder(args)? {
            for path in product_files(&folder)? {
                add(&mut catalogue, &path)?;
            }
        }
        for prices in price_files::read_all()? {
            catalogue.add_imported(prices);
        }
        catalogue.set_commitment(args.commitment);
        let as_of = args.as_of.unwrap_or_else(present_date);
        let currency = args.currency.unwrap_or_else(default_currency);
        for own in &args.price {
            if own.currency().is_none() && args.currency.is_none() {
                return Err(CliError::usage(say!(
                    "--price {}: the price has no currency: write it after the amount, such as 9500 USD, or use --currency",
                    own.product
                )));
            }
            catalogue.set_price(own, currency, as_of).map_err(CliError::usage)?;
        }
        let terms = PriceTerms { as_of, currency: args.currency, region: args.region.clone() };
        Ok(Self { catalogue, terms, own_prices: args.price.clone() })
    }

    /// Parses a configuration; a product given as a path is added to the catalogue.
    pub fn config(&mut self, text: &str) -> Result<Config, CliError> {
        let config: Config = text.parse().map_err(|error: plimsoll_catalogue::ConfigError| CliError::usage(error))?;
        let parts = std::iter::once(&config.volume).chain(&config.machine);
        for part in parts.filter(|part| is_product_file(Path::new(&part.product))) {
            if self.catalogue.find(&part.product).is_err() {
                add(&mut self.catalogue, Path::new(&part.product))?;
            }
        }
        self.check_region()?;
        Ok(config)
    }

    /// Fails for a region without prices.
    fn check_region(&self) -> Result<(), CliError> {
        let regions = self.catalogue.regions();
        let Some(region) = self.terms.regions().find(|region| !regions.contains(region)) else { return Ok(()) };
        let existing: Vec<&str> = regions.into_iter().collect();
        Err(CliError::usage(say!(
            "no price in the catalogue for region {region:?}: use one of {}, or omit --region",
            existing.join(", ")
        )))
    }

    /// The offer of a configuration.
    pub fn offer(&mut self, text: &str) -> Result<Offer, CliError> {
        let config = self.config(text)?;
        self.catalogue.offer(&config, &self.terms).map_err(CliError::usage)
    }

    /// The terms for this offer. If flags leave currency and region open and several price lists apply: USD if
    /// available, and the first region.
    pub fn terms_for(&self, offer: &Offer) -> PriceTerms {
        let mut terms = self.terms.clone();
        if let Some(price) = self.price_of(offer) {
            terms.currency = Some(price.monthly.currency);
            terms.region = price.region.as_deref().map(String::from).or(terms.region);
        }
        terms
    }

    /// The price of this offer by the list of [`Self::terms_for`]; `None` without a list that covers it.
    pub fn price_of(&self, offer: &Offer) -> Option<Price> {
        let fits = |price: &Price| {
            let currency = self.terms.currency.is_none_or(|currency| currency == price.monthly.currency);
            currency && self.terms.takes(price.region.as_deref())
        };
        let mut prices: Vec<Price> = offer.prices().into_iter().filter(fits).collect();
        let dollars = prices.iter().position(|price| price.monthly.currency.code() == "USD");
        let chosen = dollars.or((!prices.is_empty()).then_some(0))?;
        Some(prices.swap_remove(chosen))
    }

    /// The terms of a ranking of all vendors: a common currency, USD by default. Fails for a currency or region without
    /// prices.
    pub fn ranking_terms(&self) -> Result<PriceTerms, CliError> {
        let currency = self.terms.currency.unwrap_or_else(default_currency);
        let currencies = self.catalogue.currencies();
        if !currencies.contains(&currency) {
            let existing: Vec<String> = currencies.iter().map(ToString::to_string).collect();
            return Err(CliError::usage(say!(
                "no price in the catalogue in {currency}: prices are in {}",
                existing.join(", ")
            )));
        }
        let is_other = |own: &&OwnPrice| own.currency().is_some_and(|stated| stated != currency);
        if let Some(own) = self.own_prices.iter().find(is_other) {
            return Err(CliError::usage(say!(
                "--price {}: prices are compared in {currency} and not converted: state it in {currency}, or use --currency",
                own.product
            )));
        }
        self.check_region()?;
        Ok(PriceTerms { currency: Some(currency), ..self.terms.clone() })
    }
}

/// The default currency.
fn default_currency() -> Currency {
    "USD".parse().expect("USD is a currency code")
}

/// Errors of a product file.
pub fn check(path: &Path) -> Result<Vec<Complaint>, CliError> {
    let text = read(path)?;
    Ok(plimsoll_catalogue::check_product(&path.display().to_string(), &text, &table_reader(path)))
}

fn add(catalogue: &mut Catalogue, path: &Path) -> Result<(), CliError> {
    let text = read(path)?;
    let added = catalogue.add(&path.display().to_string(), &text, &table_reader(path));
    added.map_err(|complaints| refuse(&complaints))
}

/// The defects of a file, a line each.
pub fn refuse(complaints: &[Complaint]) -> CliError {
    let lines: Vec<String> = complaints.iter().map(ToString::to_string).collect();
    CliError::usage(lines.join("\nplimsoll: "))
}

/// Reads tables from files in the directory of a product file.
fn table_reader(path: &Path) -> impl Fn(&str) -> Option<String> {
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    move |name| {
        // Only files in the same directory.
        let plain = Path::new(name).components().count() == 1 && !name.starts_with('.');
        plain.then(|| read(&folder.join(name)).ok()).flatten()
    }
}

/// Text of a file of products or of a requirement.
pub fn read(path: &Path) -> Result<String, CliError> {
    let refused = |why: &dyn std::fmt::Display| CliError::usage(format!("{}: {why}", path.display()));
    let length = fs::metadata(path).map_err(|error| refused(&error))?.len();
    if length > LARGEST {
        return Err(refused(&"larger than 16 MiB"));
    }
    fs::read_to_string(path).map_err(|error| refused(&error))
}

fn products_folder(args: &TermsArgs) -> Result<Option<PathBuf>, CliError> {
    if let Some(folder) = &args.products {
        if !folder.is_dir() {
            return Err(CliError::usage(say!("{}: no such directory of product files", folder.display())));
        }
        return Ok(Some(folder.clone()));
    }
    let named = std::env::var_os(PRODUCTS_VARIABLE).map(PathBuf::from);
    let usual = config_folder().map(|config| config.join("products"));
    Ok(named.or(usual).filter(|folder| folder.is_dir()))
}

fn product_files(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let entries = fs::read_dir(folder).map_err(|error| CliError::usage(format!("{}: {error}", folder.display())))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| is_product_file(path));
    files.sort();
    Ok(files)
}

fn is_product_file(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "toml")
}

pub fn present_date() -> Date {
    let today = jiff::Zoned::now().date();
    Date::day(today.year().unsigned_abs(), today.month().unsigned_abs(), today.day().unsigned_abs())
}
