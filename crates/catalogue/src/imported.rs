//! Prices that a user imported from a vendor's list: rates by meter, for one region and currency, with their sources.
//!
//! A meter is the vendor's name for a billed quantity; product files name the meters of their components.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::cite::{Cite, Status};
use crate::commitment::Commitment;
use crate::date::Date;
use crate::decimal::Decimal;
use crate::money::Currency;

/// Version of the file format.
const FORMAT: u32 = 1;
/// Hours of a month, by which hourly rates are multiplied.
pub(crate) const MONTH_HOURS: i128 = 730;

/// Imported prices of a vendor in a region and currency.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedPrices {
    vendor: String,
    region: Option<Arc<str>>,
    currency: Currency,
    rates: BTreeMap<Commitment, BTreeMap<String, Rate>>,
}

/// Price of a meter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rate {
    /// Unit and time: `GiB-month`, `hour`, `IOPS-hour`, `operation`.
    pub per: Arc<str>,
    /// First unit and amount of each range, ascending.
    pub steps: Vec<(Decimal, Decimal)>,
    pub cite: Arc<Cite>,
}

impl Rate {
    /// Unit without time; empty for a machine or disk itself.
    pub(crate) fn unit(&self) -> &str {
        unit_of(&self.per)
    }

    pub(crate) fn is_hourly(&self) -> bool {
        &*self.per == "hour" || self.per.ends_with("-hour")
    }

    /// The amount if the rate is not graduated; a free first range is the vendor's allowance.
    pub(crate) fn flat(&self) -> Option<Decimal> {
        let mut charged = self.steps.iter().map(|(_, amount)| *amount).filter(|amount| *amount != Decimal::ZERO);
        let first = charged.next();
        charged.next().is_none().then(|| first.unwrap_or(Decimal::ZERO))
    }
}

/// The unit of `GiB-month` is `GiB`, that of `hour` empty.
pub(crate) fn unit_of(per: &str) -> &str {
    match per {
        "hour" | "month" => "",
        _ => per.strip_suffix("-month").or_else(|| per.strip_suffix("-hour")).unwrap_or(per),
    }
}

/// A meter as written in product files and looked up in lists: lower case, single spaces.
pub(crate) fn meter_key(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Contents that are not imported prices.
#[plimsoll_language::say_errors]
#[derive(Debug, Error)]
pub enum ImportedPricesError {
    /// Not JSON, or other fields.
    #[error("not a file of imported prices: {0}")]
    Json(#[from] serde_json::Error),
    /// Written by another version.
    #[error("imported prices of format {0}: this version reads format {FORMAT}; import the list again")]
    Format(u32),
    /// A value is no amount, date, currency or source.
    #[error("imported prices have {what} {text:?}: import the list again")]
    Value {
        /// Kind of the value.
        what: &'static str,
        /// Its text.
        text: String,
    },
}

#[derive(Serialize, Deserialize)]
struct ImportedDocument {
    format: u32,
    vendor: String,
    region: Option<String>,
    currency: String,
    sources: Vec<SourceEntry>,
    rates: Vec<RateEntry>,
}

#[derive(Serialize, Deserialize)]
struct SourceEntry {
    title: String,
    date: String,
    note: String,
}

#[derive(Serialize, Deserialize)]
struct RateEntry {
    meter: String,
    per: String,
    /// First unit and amount of each range.
    amounts: Vec<(String, String)>,
    commitment: String,
    source: usize,
}

impl ImportedPrices {
    pub(crate) fn new(vendor: &str, region: Option<&str>, currency: Currency) -> Self {
        Self { vendor: vendor.to_owned(), region: region.map(Arc::from), currency, rates: BTreeMap::new() }
    }

    /// Vendor, as the first part of its products' names.
    pub fn vendor(&self) -> &str {
        &self.vendor
    }

    /// Region; `None` for worldwide prices.
    pub fn region(&self) -> Option<&str> {
        self.region.as_deref()
    }

    /// Currency.
    pub const fn currency(&self) -> Currency {
        self.currency
    }

    /// Sources of the rates with their number of rates, the newest first.
    pub fn sources(&self) -> Vec<(Arc<Cite>, usize)> {
        let mut sources: Vec<(Arc<Cite>, usize)> = Vec::new();
        for rate in self.rates.values().flat_map(BTreeMap::values) {
            match sources.iter_mut().find(|(cite, _)| *cite == rate.cite) {
                Some((_, count)) => *count += 1,
                None => sources.push((Arc::clone(&rate.cite), 1)),
            }
        }
        sources.sort_by(|a, b| b.0.date.cmp(&a.0.date).then_with(|| a.0.title.cmp(&b.0.title)));
        sources
    }

    /// Date of the oldest source: the prices are offered from then on.
    pub fn date(&self) -> Option<Date> {
        self.sources().last().and_then(|(cite, _)| cite.date.parse().ok())
    }

    /// Number of rates with this commitment.
    pub fn count(&self, commitment: Commitment) -> usize {
        self.rates.get(&commitment).map_or(0, BTreeMap::len)
    }

    /// File name that is distinct for vendor, region and currency.
    pub fn file_name(&self) -> String {
        let region = self.region.as_deref().unwrap_or("all");
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        format!("{}_{}_{}.json", self.vendor, region.chars().map(plain).collect::<String>(), self.currency)
    }

    /// True for prices of the same vendor, region and currency.
    pub fn is_alike(&self, other: &Self) -> bool {
        self.vendor == other.vendor && self.region == other.region && self.currency == other.currency
    }

    /// Adds the rates of an earlier import that this has not, or that are of a later date.
    pub fn merge(&mut self, earlier: Self) {
        for (commitment, rates) in earlier.rates {
            let own = self.rates.entry(commitment).or_default();
            for (meter, rate) in rates {
                if own.get(&meter).is_none_or(|existing| existing.cite.date < rate.cite.date) {
                    own.insert(meter, rate);
                }
            }
        }
    }

    /// True if it has a rate of this meter.
    pub(crate) fn has(&self, meter: &str) -> bool {
        self.rates.values().any(|rates| rates.contains_key(meter))
    }

    pub(crate) fn rate(&self, meter: &str, commitment: Commitment) -> Option<&Rate> {
        self.rates.get(&commitment)?.get(meter)
    }

    pub(crate) fn rate_mut(&mut self, meter: &str, commitment: Commitment) -> Option<&mut Rate> {
        self.rates.get_mut(&commitment)?.get_mut(meter)
    }

    pub(crate) fn insert(&mut self, meter: String, commitment: Commitment, rate: Rate) {
        self.rates.entry(commitment).or_default().insert(meter, rate);
    }

    pub(crate) fn set_cite(&mut self, cite: &Arc<Cite>) {
        for rate in self.rates.values_mut().flat_map(BTreeMap::values_mut) {
            rate.cite = Arc::clone(cite);
        }
    }

    /// Removes rates without an amount above zero; returns their number.
    pub(crate) fn remove_free(&mut self) -> usize {
        let is_free = |rate: &Rate| rate.steps.iter().all(|(_, amount)| *amount == Decimal::ZERO);
        let count = |prices: &Self| prices.rates.values().map(BTreeMap::len).sum::<usize>();
        let before = count(self);
        self.rates.values_mut().for_each(|rates| rates.retain(|_, rate| !is_free(rate)));
        before - count(self)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rates.values().all(BTreeMap::is_empty)
    }

    /// Contents of its file.
    pub fn to_json(&self) -> String {
        let cites: Vec<Arc<Cite>> = self.sources().into_iter().map(|(cite, _)| cite).collect();
        let entry = |commitment: &Commitment, meter: &String, rate: &Rate| RateEntry {
            meter: meter.clone(),
            per: rate.per.to_string(),
            amounts: rate.steps.iter().map(|(from, amount)| (from.to_string(), amount.to_string())).collect(),
            commitment: commitment.name().to_owned(),
            source: cites.iter().position(|cite| *cite == rate.cite).unwrap_or_default(),
        };
        let rates = self.rates.iter().flat_map(|(commitment, rates)| rates.iter().map(move |rate| (commitment, rate)));
        let document = ImportedDocument {
            format: FORMAT,
            vendor: self.vendor.clone(),
            region: self.region.as_deref().map(str::to_owned),
            currency: self.currency.to_string(),
            rates: rates.map(|(commitment, (meter, rate))| entry(commitment, meter, rate)).collect(),
            sources: cites
                .iter()
                .map(|cite| SourceEntry { title: cite.title.clone(), date: cite.date.clone(), note: cite.note.clone() })
                .collect(),
        };
        serde_json::to_string(&document).expect("texts and numbers can be written as JSON")
    }

    /// Reads the contents of its file.
    pub fn from_json(text: &str) -> Result<Self, ImportedPricesError> {
        let document: ImportedDocument = serde_json::from_str(text)?;
        if document.format != FORMAT {
            return Err(ImportedPricesError::Format(document.format));
        }
        let wrong = |what, text: &str| ImportedPricesError::Value { what, text: text.to_owned() };
        let currency = document.currency.parse().map_err(|_| wrong("the currency", &document.currency))?;
        let cites: Vec<Arc<Cite>> = document.sources.into_iter().map(|source| Arc::new(source.cite())).collect();
        if let Some(cite) = cites.iter().find(|cite| cite.date.parse::<Date>().is_err()) {
            return Err(wrong("the date", &cite.date));
        }
        let mut prices = Self::new(&document.vendor, document.region.as_deref(), currency);
        for entry in document.rates {
            let decimal = |text: &String| text.parse::<Decimal>().map_err(|()| wrong("the amount", text));
            let steps = entry.amounts.iter().map(|(from, amount)| Ok((decimal(from)?, decimal(amount)?)));
            let steps = steps.collect::<Result<Vec<_>, ImportedPricesError>>()?;
            let commitment = entry.commitment.parse().map_err(|_| wrong("the commitment", &entry.commitment))?;
            let cite = cites.get(entry.source).ok_or_else(|| wrong("the source", &entry.source.to_string()))?;
            let rate = Rate { per: entry.per.into(), steps, cite: Arc::clone(cite) };
            prices.insert(entry.meter, commitment, rate);
        }
        Ok(prices)
    }
}

impl SourceEntry {
    fn cite(self) -> Cite {
        Cite { title: self.title, url: String::new(), date: self.date, status: Status::Verified, note: self.note }
    }
}
