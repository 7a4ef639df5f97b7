//! Reader of the price lists that clouds publish as files: AWS offers, Azure retail prices, OCI products, GCP SKUs.
//!
//! Streams: memory is bounded by the rates of products in the catalogue, not by the file. Rates that no product bills are
//! counted by reason.

mod aws;
mod azure;
mod csv;
mod entries;
mod gcp;
mod json;
mod oci;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead};
use std::sync::Arc;

use plimsoll_language::{label, say};
use thiserror::Error;

use crate::cite::{Cite, Status};
use crate::commitment::Commitment;
use crate::date::Date;
use crate::decimal::Decimal;
use crate::imported::{ImportedPrices, Rate, meter_key, unit_of};

/// Maximum number of distinct meters with an unexpected unit that are named.
const NAMED_MAX: usize = 5;
/// Maximum number of vendor's entries with rates of products in the catalogue.
const RATES_MAX: usize = 2_000_000;

/// Meters of the products of a catalogue: vendor, then meter with its unit.
#[derive(Clone, Debug, Default)]
pub struct Meters {
    pub(crate) by_vendor: HashMap<String, HashMap<String, Arc<str>>>,
}

impl Meters {
    fn unit(&self, vendor: &str, meter: &str) -> Option<&Arc<str>> {
        self.by_vendor.get(vendor)?.get(meter)
    }
}

/// Format of a price list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceListForm {
    /// AWS offer file of `AmazonEC2` as JSON.
    AwsJson,
    /// The same as CSV.
    AwsCsv,
    /// Pages of Azure's retail prices.
    Azure,
    /// Products of OCI's price list.
    Oci,
    /// SKUs of the Cloud Billing catalogue.
    Gcp,
}

impl PriceListForm {
    /// Title of its documents.
    pub const fn title(self) -> &'static str {
        match self {
            Self::AwsJson => "AWS offer file AmazonEC2 (JSON)",
            Self::AwsCsv => "AWS offer file AmazonEC2 (CSV)",
            Self::Azure => "Azure retail prices",
            Self::Oci => "OCI price list",
            Self::Gcp => "GCP Cloud Billing SKUs",
        }
    }

    const fn vendor(self) -> &'static str {
        match self {
            Self::AwsJson | Self::AwsCsv => "aws",
            Self::Azure => "azure",
            Self::Oci => "oci",
            Self::Gcp => "gcp",
        }
    }
}

/// A file as the shell sees it.
#[derive(Clone, Debug)]
pub struct PriceListFile {
    /// Name in messages and sources.
    pub name: String,
    /// Date of lists without a date of publication: usually that of the download.
    pub date: Date,
    /// Day of the import.
    pub imported: Date,
}

/// Prices of a file.
#[derive(Clone, Debug, Default)]
pub struct PriceListImport {
    /// Rates of products in the catalogue, by region and currency.
    pub prices: Vec<ImportedPrices>,
    /// Number of entries by what was done with them; see [`PriceListImport::used`].
    pub skipped: BTreeMap<String, u64>,
    /// Entries whose rate was taken.
    pub used: u64,
    /// Its format.
    pub form: Option<PriceListForm>,
}

/// A file that is not a price list, or a broken one.
#[plimsoll_language::say_errors]
#[derive(Debug, Error)]
pub enum PriceListError {
    /// Another format.
    #[error(
        "{0}; price lists are read from AWS offer files (JSON and CSV), Azure retail prices, OCI products and GCP SKUs"
    )]
    NotAList(String),
    /// A list without prices of products in the catalogue.
    #[error("it is a list ({form}), but has no price of a product in the catalogue: {skipped}")]
    NothingUsed {
        /// Title of the format.
        form: &'static str,
        /// Reasons with their counts.
        skipped: String,
    },
    /// Broken JSON.
    #[error("broken JSON: {0}")]
    Json(serde_json::Error),
    /// The file cannot be read.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    /// Too many rates.
    #[error("it has more than {RATES_MAX} rates of products in the catalogue: import fewer regions")]
    TooLarge,
}

/// Reads a price list.
///
/// # Errors
/// The file is not a price list that is understood, is broken, or has no price of a product in the catalogue.
pub fn read_price_list(
    mut from: impl BufRead,
    meters: &Meters,
    file: &PriceListFile,
) -> Result<PriceListImport, PriceListError> {
    let mut collector =
        Collector { meters, file, found: PriceListImport::default(), published: None, units: Vec::new() };
    let head = first_bytes(&mut from)?;
    match head.as_slice() {
        [] => return Err(PriceListError::NotAList(label!("the file is empty").to_owned())),
        [0x1f, 0x8b, ..] => return Err(packed("gzip")),
        [b'P', b'K', 3, 4, ..] => return Err(packed("zip")),
        [b'<', ..] => return Err(PriceListError::NotAList(label!("it looks like a web page or XML").to_owned())),
        [b'{' | b'[', ..] => json::read(from, &mut collector)?,
        _ => csv::read(from, &mut collector)?,
    }
    collector.finish()
}

fn packed(how: &str) -> PriceListError {
    PriceListError::NotAList(say!("it is compressed ({how}): unpack it first"))
}

/// The first bytes after white space and a byte order mark, which are consumed.
fn first_bytes(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    loop {
        let head = from.fill_buf()?;
        if head.is_empty() {
            return Ok(Vec::new());
        }
        let blank = |byte: &&u8| byte.is_ascii_whitespace() || matches!(byte, 0xef | 0xbb | 0xbf);
        let blanks = head.iter().take_while(blank).count();
        if blanks < head.len() {
            let found = head[blanks..].iter().take(4).copied().collect();
            from.consume(blanks);
            return Ok(found);
        }
        from.consume(blanks);
    }
}

/// A rate of a list.
struct ListedRate<'r> {
    /// `None` for worldwide prices.
    region: Option<&'r str>,
    currency: &'r str,
    meter: &'r str,
    /// Unit and time, such as `GiB-month`; `None` if the vendor's unit is not understood.
    per: Option<String>,
    /// The vendor's unit.
    unit: &'r str,
    /// First unit of the range.
    from: Decimal,
    amount: Decimal,
    commitment: Commitment,
    /// Whether it takes the place of another price of the meter.
    replaces: bool,
}

/// Rates while a file is read.
struct Collector<'c> {
    meters: &'c Meters,
    file: &'c PriceListFile,
    found: PriceListImport,
    /// Date of publication, if the file has one.
    published: Option<Date>,
    /// Meters with units that are not understood.
    units: Vec<String>,
}

impl Collector<'_> {
    fn skip(&mut self, reason: &str) {
        *self.found.skipped.entry(reason.to_owned()).or_default() += 1;
    }

    /// True if the catalogue bills this meter.
    fn is_billed(&self, vendor: &str, meter: &str) -> bool {
        self.meters.unit(vendor, meter).is_some()
    }

    /// Takes the date of publication from a text that begins with it.
    fn publish(&mut self, text: &str) {
        self.published = text.get(..10).and_then(|day| day.parse().ok()).or(self.published);
    }

    fn cite(&self, form: PriceListForm) -> Arc<Cite> {
        let (date, basis) = match self.published {
            Some(date) => (date, "date of publication"),
            None => (self.file.date, "date of the file"),
        };
        Arc::new(Cite {
            title: format!("{}, {}", form.title(), self.file.name),
            url: String::new(),
            date: date.to_string(),
            status: Status::Verified,
            note: format!("imported on {}; {basis}", self.file.imported),
        })
    }

    /// Takes a rate of a meter that the catalogue bills.
    fn add(&mut self, form: PriceListForm, listed: ListedRate<'_>) -> Result<(), PriceListError> {
        let meter = meter_key(listed.meter);
        let Some(unit) = self.meters.unit(form.vendor(), &meter).cloned() else {
            self.skip("no product of the catalogue bills it");
            return Ok(());
        };
        let Some(per) = listed.per.filter(|per| unit_of(per) == &*unit) else {
            if self.units.len() < NAMED_MAX {
                self.units.push(format!("{} by {:?}", listed.meter, listed.unit));
            }
            self.skip("its unit is not understood");
            return Ok(());
        };
        let Ok(currency) = listed.currency.parse() else {
            self.skip("its currency is not understood");
            return Ok(());
        };
        if listed.amount.is_negative() {
            self.skip("its amount is below zero");
            return Ok(());
        }
        let own = |prices: &ImportedPrices| prices.region() == listed.region && prices.currency() == currency;
        let index = self.found.prices.iter().position(own).unwrap_or_else(|| {
            self.found.prices.push(ImportedPrices::new(form.vendor(), listed.region, currency));
            self.found.prices.len() - 1
        });
        self.found.used += 1;
        if self.found.used as usize > RATES_MAX {
            return Err(PriceListError::TooLarge);
        }
        let step = (listed.from, listed.amount);
        let cite = self.cite(form);
        let prices = &mut self.found.prices[index];
        match prices.rate_mut(&meter, listed.commitment) {
            Some(rate) if listed.replaces => *rate = Rate { per: per.into(), steps: vec![step], cite },
            Some(rate) if *rate.per == *per => {
                if !add_step(&mut rate.steps, step) {
                    self.skip("a second price of the same meter: the first was taken");
                }
            }
            Some(_) => self.skip("a second price of the same meter: the first was taken"),
            None => prices.insert(meter, listed.commitment, Rate { per: per.into(), steps: vec![step], cite }),
        }
        Ok(())
    }

    fn finish(mut self) -> Result<PriceListImport, PriceListError> {
        if let Some(form) = self.found.form {
            // Some lists have their date after their entries.
            let cite = self.cite(form);
            self.found.prices.iter_mut().for_each(|prices| prices.set_cite(&cite));
            // An amount of zero is a placeholder of the vendor: such a product is not free.
            let free: usize = self.found.prices.iter_mut().map(ImportedPrices::remove_free).sum();
            if free > 0 {
                self.found.used -= free as u64;
                self.found.skipped.insert("its amount is zero".to_owned(), free as u64);
            }
            self.found.prices.retain(|prices| !prices.is_empty());
        }
        if !self.units.is_empty() {
            let count = self.found.skipped.remove("its unit is not understood").unwrap_or_default();
            let named = format!("its unit is not understood (such as {})", self.units.join(", "));
            self.found.skipped.insert(named, count);
        }
        match self.found.form {
            None => Err(PriceListError::NotAList("it has no entries of a price list".to_owned())),
            Some(form) if self.found.prices.is_empty() => {
                Err(PriceListError::NothingUsed { form: form.title(), skipped: self.found.skipped_words() })
            }
            Some(_) => Ok(self.found),
        }
    }
}

/// Adds a range in order; a free one gives way to one with a price. False if the range has another price already.
fn add_step(steps: &mut Vec<(Decimal, Decimal)>, (from, amount): (Decimal, Decimal)) -> bool {
    if let Some((_, existing)) = steps.iter_mut().find(|(existing, _)| *existing == from) {
        if *existing == Decimal::ZERO {
            *existing = amount;
        }
        return *existing == amount || amount == Decimal::ZERO;
    }
    let place = steps.iter().position(|(existing, _)| from.is_less_than(*existing)).unwrap_or(steps.len());
    steps.insert(place, (from, amount));
    true
}

impl PriceListImport {
    /// `12 of another system; 3 of a Local Zone`; empty if all entries were used.
    pub fn skipped_words(&self) -> String {
        let words = self.skipped.iter().map(|(reason, count)| format!("{count}: {reason}"));
        words.collect::<Vec<_>>().join("; ")
    }
}

/// A number of JSON as a decimal, without loss.
fn decimal(number: f64) -> Option<Decimal> {
    // Display of f64 is the shortest decimal text that reads back as the same number, without exponent.
    number.is_finite().then(|| format!("{number}").parse().ok()).flatten()
}
