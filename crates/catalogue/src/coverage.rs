//! Which products and machines have prices, from where and when, and how imported prices differ from those of the files.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::billing::ProductRow;
use crate::catalogue::{Catalogue, provider};
use crate::cite::Cite;
use crate::commitment::Commitment;
use crate::decimal::Decimal;
use crate::imported::{ImportedPrices, MONTH_HOURS, Rate, unit_of};
use crate::money::{Currency, Money};
use crate::product::{Amount, BilledPart, PriceList, PricePart, Product};

/// Prices of a vendor in a region and currency.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PriceCoverage {
    /// First part of the products' names.
    pub vendor: String,
    /// Region of the vendor; null for worldwide prices.
    pub region: Option<Arc<str>>,
    /// ISO 4217 code.
    pub currency: String,
    /// Whether the user imported them.
    pub imported: bool,
    /// Products other than machines with a price.
    pub products: Vec<String>,
    /// Machines with a price.
    pub machines: usize,
    /// Machines with a price for a commitment of a year, and of three years.
    pub committed_machines: [usize; 2],
    /// Documents, the newest first.
    pub sources: Vec<Arc<Cite>>,
}

/// A component whose imported price differs from that of the product file, in the same region and currency.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PriceChange {
    /// Product with its tier, or machine.
    pub subject: String,
    /// Region; null for worldwide prices.
    pub region: Option<Arc<str>>,
    /// Component.
    pub component: Arc<str>,
    /// Unit without time, such as `GiB`; empty for a disk or machine.
    pub unit: Arc<str>,
    /// Monthly price of a unit in the product file; of an operation, once.
    pub before: Money,
    /// The imported one.
    pub after: Money,
}

impl PriceChange {
    /// The imported price relative to the other.
    pub fn ratio(&self) -> f64 {
        self.after.as_f64() / self.before.as_f64()
    }
}

type Key = (String, Option<Arc<str>>, Currency, bool);

impl Catalogue {
    /// Prices by vendor, region and currency: imported ones first.
    pub fn price_coverage(&self) -> Vec<PriceCoverage> {
        let mut found: BTreeMap<Key, PriceCoverage> = BTreeMap::new();
        for product in self.products() {
            for list in self.imported_lists(product).chain(&product.prices) {
                let vendor = provider(&product.name).to_owned();
                // False sorts before true.
                let key = (vendor, list.region.clone(), list.currency, list.imported.is_none());
                let entry = found.entry(key.clone()).or_insert_with(|| PriceCoverage {
                    vendor: key.0,
                    region: key.1,
                    currency: key.2.to_string(),
                    imported: !key.3,
                    products: Vec::new(),
                    machines: 0,
                    committed_machines: [0; 2],
                    sources: Vec::new(),
                });
                entry.add(product, list);
            }
        }
        let mut all: Vec<PriceCoverage> = found.into_values().collect();
        all.sort_by_key(|coverage| !coverage.imported);
        for coverage in &mut all {
            coverage.sources.sort_by(|a, b| b.date.cmp(&a.date).then_with(|| a.title.cmp(&b.title)));
            coverage.sources.dedup();
        }
        all
    }

    /// Components whose imported price differs from that of the product file, by product.
    pub fn price_changes(&self) -> Vec<PriceChange> {
        let mut changes = Vec::new();
        for product in self.products() {
            for list in self.imported_lists(product) {
                let Some(prices) = &list.imported else { continue };
                let alike = product.prices.iter().filter(|own| own.currency == list.currency);
                let alike = alike.filter(|own| own.region == list.region);
                let Some(own) = alike.max_by_key(|own| own.validity.from) else { continue };
                for row in product.rows() {
                    changes.extend(row.changes(product, prices, own));
                }
            }
        }
        changes
    }
}

impl PriceCoverage {
    fn add(&mut self, product: &Product, list: &PriceList) {
        match &list.imported {
            Some(prices) => self.sources.extend(prices.sources().into_iter().map(|(cite, _)| cite)),
            None => self.sources.extend(list.parts.iter().map(|part| Arc::clone(&part.cite))),
        }
        if product.machines.is_none() {
            if !self.products.contains(&product.name.to_string()) {
                self.products.push(product.name.to_string());
            }
            return;
        }
        let rows = product.rows();
        match &list.imported {
            Some(prices) => {
                let has = |commitment| rows.iter().filter(|row| row.has_rates(product, prices, commitment)).count();
                self.machines += has(Commitment::None);
                self.committed_machines = [has(Commitment::OneYear), has(Commitment::ThreeYears)];
            }
            None => self.machines += rows.iter().filter(|row| row.listed(list.parts.first()).is_some()).count(),
        }
    }
}

impl ProductRow {
    fn has_rates(&self, product: &Product, prices: &ImportedPrices, commitment: Commitment) -> bool {
        let mut own = product.billed.iter().filter(|part| part.applies(&self.values) == Some(true)).peekable();
        own.peek().is_some() && own.all(|part| self.rate(part, prices, commitment).is_some())
    }

    fn rate<'p>(&self, part: &BilledPart, prices: &'p ImportedPrices, commitment: Commitment) -> Option<&'p Rate> {
        part.keys(&self.values).find_map(|key| prices.rate(&key, commitment)).filter(|rate| rate.unit() == &*part.unit)
    }

    fn changes(&self, product: &Product, prices: &ImportedPrices, own: &PriceList) -> Vec<PriceChange> {
        let mut changes = Vec::new();
        let mut done: Vec<&Arc<str>> = Vec::new();
        for part in &product.billed {
            let name = part.listed_name();
            if done.contains(&name) || part.applies(&self.values) == Some(false) {
                continue;
            }
            done.push(name);
            let mut listed = own.parts.iter().filter(|listed| listed.name == *name);
            let listed = listed.find(|listed| listed.applies(&self.values) != Some(false));
            let (Some(before), Some(after)) = (self.listed(listed), self.imported(product, part, prices)) else {
                continue;
            };
            let money = |amount: Decimal| Some(Money { millionths: amount.millionths()?, currency: own.currency });
            if let (Some(before_money), Some(after_money)) = (money(before), money(after))
                && before != after
            {
                changes.push(PriceChange {
                    subject: self.name.clone(),
                    region: own.region.clone(),
                    component: Arc::clone(name),
                    unit: Arc::clone(&part.unit),
                    before: before_money,
                    after: after_money,
                });
            }
        }
        changes
    }

    /// The imported monthly price of a unit; of all components within a part of the list together.
    fn imported(&self, product: &Product, part: &BilledPart, prices: &ImportedPrices) -> Option<Decimal> {
        if part.within.is_none() {
            return monthly(self.rate(part, prices, Commitment::None)?);
        }
        let mut within = product.billed.iter().filter(|other| other.listed_name() == part.listed_name());
        within.try_fold(Decimal::ZERO, |sum, other| {
            let quantity = Decimal::from_quantity(other.quantity.number(&self.values)?)?;
            sum.plus(quantity.times(monthly(self.rate(other, prices, Commitment::None)?)?)?)
        })
    }

    /// The monthly price of a unit in the product file.
    fn listed(&self, part: Option<&PricePart>) -> Option<Decimal> {
        let part = part?;
        let amount = match &part.amount {
            Amount::Each(amount, _) => *amount,
            Amount::Graduated(steps, _) => steps.first()?.1,
            Amount::ByTier(amounts) => (*amounts.get(self.index?)?)?,
            Amount::ByColumn(column, _) => Decimal::from_quantity(self.values[*column].as_number()?)?,
            Amount::Flat(_) | Amount::PerGib(_) | Amount::Unknown => return None,
        };
        let amount = match unit_of(&part.per) {
            "10,000 operations" => amount.times("0.0001".parse().ok()?)?,
            "million operations" => amount.times("0.000001".parse().ok()?)?,
            _ => amount,
        };
        part.hours.map_or(Some(amount), |hours| amount.times(hours))
    }
}

fn monthly(rate: &Rate) -> Option<Decimal> {
    let amount = rate.flat().or_else(|| Some(rate.steps.first()?.1))?;
    if rate.is_hourly() { amount.times(Decimal::from_integer(MONTH_HOURS)) } else { Some(amount) }
}
