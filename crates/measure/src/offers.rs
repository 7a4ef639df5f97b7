//! Built-in products, product files and imported prices of the user, and the terms that apply to them.

use std::borrow::BorrowMut;
use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_catalogue::{
    Catalogue, Commitment, Complaint, Config, Currency, Date, Like, NoLike, Offer, OwnPrice, Price, PriceTerms,
};
use plimsoll_language::label;

use crate::error::MeasureError;
use crate::invalid::InvalidRequest;
use crate::price_files;
use crate::simulation::NamedModel;

/// Maximum size of a product file.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Parses a configuration or stages. Only a configuration needs the offers.
///
/// # Errors
/// The text is neither, the offers cannot be read, or the configuration is not in the catalogue or has no model.
pub fn read_model<O: BorrowMut<Offers>, E: From<MeasureError>>(
    text: &str,
    offers: impl FnOnce() -> Result<O, E>,
) -> Result<NamedModel, E> {
    match text.parse().map_err(|error: NoLike| MeasureError::usage(error))? {
        Like::Stages(model) => Ok(NamedModel { name: model.to_string(), model, offer: None }),
        Like::Config(_) => {
            let offer = offers()?.borrow_mut().offer(text)?;
            let model = offer.model().map_err(|why| MeasureError::usage(format!("{text}: {why}")))?;
            Ok(NamedModel { name: offer.short().to_string(), model, offer: Some(offer) })
        }
    }
}

/// Sources of products and prices, and the terms.
#[derive(Clone, Debug)]
pub struct OfferSources {
    /// Directory of product files.
    pub products: Option<PathBuf>,
    /// Directory of imported prices, which need not exist.
    pub prices: Option<PathBuf>,
    pub own_prices: Vec<OwnPrice>,
    /// Commitment of imported prices.
    pub commitment: Commitment,
    /// Date, currency and region; without a currency, one of each vendor.
    pub terms: PriceTerms,
}

/// Products and terms.
#[derive(Debug)]
pub struct Offers {
    /// Products of the catalogue and of the user.
    pub catalogue: Catalogue,
    /// Date, currency and region.
    pub terms: PriceTerms,
    /// The user's own prices.
    own_prices: Vec<OwnPrice>,
}

impl Offers {
    /// Reads the built-in catalogue, product files and imported prices.
    ///
    /// # Errors
    /// A file cannot be read or is invalid, or a price of the user has no currency or no product.
    pub fn read(sources: OfferSources) -> Result<Self, MeasureError> {
        let OfferSources { products, prices, own_prices, commitment, terms } = sources;
        let mut catalogue = Catalogue::built_in();
        for path in products.as_deref().map_or_else(|| Ok(Vec::new()), product_files)? {
            add_product_file(&mut catalogue, &path)?;
        }
        for prices in price_files::read_all(prices.as_deref())? {
            catalogue.add_imported(prices);
        }
        catalogue.set_commitment(commitment);
        let currency = terms.currency.unwrap_or_else(default_currency);
        for own in &own_prices {
            if own.currency().is_none() && terms.currency.is_none() {
                return Err(InvalidRequest::PriceWithoutCurrency(own.product.clone()).into());
            }
            catalogue.set_price(own, currency, terms.as_of).map_err(MeasureError::usage)?;
        }
        Ok(Self { catalogue, terms, own_prices })
    }

    /// Parses a configuration; a product given as a path is added to the catalogue.
    ///
    /// # Errors
    /// The text is no configuration, its product file is invalid, or the region has no prices.
    pub fn config(&mut self, text: &str) -> Result<Config, MeasureError> {
        let config: Config =
            text.parse().map_err(|error: plimsoll_catalogue::ConfigError| MeasureError::usage(error))?;
        let parts = std::iter::once(&config.volume).chain(&config.machine);
        for part in parts.filter(|part| is_product_file(Path::new(&part.product))) {
            if self.catalogue.find(&part.product).is_err() {
                add_product_file(&mut self.catalogue, Path::new(&part.product))?;
            }
        }
        self.check_region()?;
        Ok(config)
    }

    /// Fails for a region without prices.
    fn check_region(&self) -> Result<(), MeasureError> {
        let regions = self.catalogue.regions();
        let Some(region) = self.terms.regions().find(|region| !regions.contains(region)) else { return Ok(()) };
        let names: Vec<&str> = regions.into_iter().collect();
        Err(InvalidRequest::UnpricedRegion { region: region.to_owned(), priced: names.join(", ") }.into())
    }

    /// The offer of a configuration.
    ///
    /// # Errors
    /// As [`Self::config`], and for products or settings that are not in the catalogue.
    pub fn offer(&mut self, text: &str) -> Result<Offer, MeasureError> {
        let config = self.config(text)?;
        self.catalogue.offer(&config, &self.terms).map_err(MeasureError::usage)
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

    /// The terms of a ranking of all vendors: a common currency, USD by default.
    ///
    /// # Errors
    /// Currency or region have no prices, or a price of the user is in another currency.
    pub fn ranking_terms(&self) -> Result<PriceTerms, MeasureError> {
        let currency = self.terms.currency.unwrap_or_else(default_currency);
        let currencies = self.catalogue.currencies();
        if !currencies.contains(&currency) {
            let codes: Vec<String> = currencies.iter().map(ToString::to_string).collect();
            return Err(InvalidRequest::UnpricedCurrency { currency, priced: codes.join(", ") }.into());
        }
        let is_other = |own: &&OwnPrice| own.currency().is_some_and(|stated| stated != currency);
        if let Some(own) = self.own_prices.iter().find(is_other) {
            return Err(InvalidRequest::PriceInOtherCurrency { product: own.product.clone(), currency }.into());
        }
        self.check_region()?;
        Ok(PriceTerms { currency: Some(currency), ..self.terms.clone() })
    }
}

/// The day of a time in its time zone.
pub fn date_of(time: &jiff::Zoned) -> Date {
    Date::day(time.year().unsigned_abs(), time.month().unsigned_abs(), time.day().unsigned_abs())
}

/// The default currency.
fn default_currency() -> Currency {
    "USD".parse().expect("USD is a currency code")
}

/// Defects of a product file.
///
/// # Errors
/// The file cannot be read.
pub fn check_product_file(path: &Path) -> Result<Vec<Complaint>, MeasureError> {
    let text = read_product_text(path)?;
    Ok(plimsoll_catalogue::check_product(&path.display().to_string(), &text, &table_reader(path)))
}

fn add_product_file(catalogue: &mut Catalogue, path: &Path) -> Result<(), MeasureError> {
    let text = read_product_text(path)?;
    let added = catalogue.add(&path.display().to_string(), &text, &table_reader(path));
    added.map_err(|complaints| refuse_file(&complaints))
}

/// The error of an invalid file: its defects, a line each.
pub fn refuse_file(complaints: &[Complaint]) -> MeasureError {
    let lines: Vec<String> = complaints.iter().map(ToString::to_string).collect();
    MeasureError::usage(lines.join("\nplimsoll: "))
}

/// Reads tables from files in the directory of a product file.
fn table_reader(path: &Path) -> impl Fn(&str) -> Option<String> {
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    move |name| {
        let is_in_directory = Path::new(name).components().count() == 1 && !name.starts_with('.');
        is_in_directory.then(|| read_product_text(&folder.join(name)).ok()).flatten()
    }
}

/// Text of a file of products or of a requirement.
///
/// # Errors
/// The file cannot be read, or is larger than 16 MiB.
pub fn read_product_text(path: &Path) -> Result<String, MeasureError> {
    let refused = |why: &dyn std::fmt::Display| MeasureError::usage(format!("{}: {why}", path.display()));
    let length = fs::metadata(path).map_err(|error| refused(&error))?.len();
    if length > MAX_FILE_BYTES {
        return Err(refused(&label!("larger than 16 MiB")));
    }
    fs::read_to_string(path).map_err(|error| refused(&error))
}

fn product_files(folder: &Path) -> Result<Vec<PathBuf>, MeasureError> {
    let mut files = price_files::list_folder(folder)?;
    files.retain(|path| is_product_file(path));
    Ok(files)
}

fn is_product_file(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "toml")
}
