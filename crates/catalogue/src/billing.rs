//! Components that a vendor bills, and their prices by imported rates.

use std::sync::Arc;

use crate::cite::Cite;
use crate::commitment::Commitment;
use crate::decimal::Decimal;
use crate::expression::Value;
use crate::imported::{ImportedPrices, MONTH_HOURS, Rate, meter_key};
use crate::number::format_plain;
use crate::product::{BilledPart, Meter, PriceList, Product, SnapshotRate, TableRow, TemplatePiece, Validity};
use crate::resolve::Resolved;

/// Units at the same price, exactly.
#[derive(Clone, Copy)]
pub(crate) struct ExactTerm {
    pub quantity: Decimal,
    pub unit_price: Decimal,
    pub hours: Option<Decimal>,
}

impl ExactTerm {
    /// The cost; `None` on overflow.
    pub(crate) fn cost(&self) -> Option<Decimal> {
        let sum = self.quantity.times(self.unit_price)?;
        self.hours.map_or(Some(sum), |hours| sum.times(hours))
    }
}

/// Cost of a component in a month, for one member.
pub(crate) struct ImportedCharge {
    pub quantity: f64,
    /// `None` on overflow.
    pub terms: Option<Vec<ExactTerm>>,
    pub per: Arc<str>,
    pub cite: Arc<Cite>,
    /// Whether its rates are those of the commitment.
    pub committed: bool,
}

impl BilledPart {
    /// Its cost by the imported rates; `None` if a rate or the quantity is missing.
    pub(crate) fn charge(
        &self,
        of: &Resolved,
        prices: &ImportedPrices,
        commitment: Commitment,
    ) -> Option<ImportedCharge> {
        let quantity = self.quantity.number(&of.values)?;
        let exact = Decimal::from_quantity(quantity)?;
        let (mut terms, mut from) = (Some(Vec::new()), Decimal::ZERO);
        let (mut first, mut committed): (Option<&Rate>, bool) = (None, true);
        for (end, meter) in &self.meters {
            if first.is_some() && !from.is_less_than(exact) {
                break;
            }
            let (rate, is_committed) = self.rate(meter, of, prices, commitment)?;
            committed &= is_committed;
            first.get_or_insert(rate);
            let end = end.filter(|end| end.is_less_than(exact)).unwrap_or(exact);
            let added = end.minus(from).and_then(|units| divide_by_rate(rate, units));
            terms = terms.zip(added).map(|(terms, added)| terms.into_iter().chain(added).collect());
            from = end;
        }
        let rate = first?;
        Some(ImportedCharge { quantity, terms, per: Arc::clone(&rate.per), cite: Arc::clone(&rate.cite), committed })
    }

    /// The rate of the commitment, or else that on demand, with true for the former.
    fn rate<'p>(
        &self,
        meter: &Meter,
        of: &Resolved,
        prices: &'p ImportedPrices,
        commitment: Commitment,
    ) -> Option<(&'p Rate, bool)> {
        let keys: Vec<String> = meter.iter().filter_map(|name| key(name, &of.values)).collect();
        let find = |commitment| {
            let mut rates = keys.iter().filter_map(|key| prices.rate(key, commitment));
            rates.find(|rate| rate.unit() == &*self.unit)
        };
        let committed = find(commitment).map(|rate| (rate, true));
        committed.or_else(|| find(Commitment::None).map(|rate| (rate, commitment == Commitment::None)))
    }

    /// All names of its meters for these values.
    pub(crate) fn keys(&self, values: &[Value]) -> impl Iterator<Item = String> {
        self.meters.iter().flat_map(|(_, meter)| meter).filter_map(|name| key(name, values))
    }
}

/// The units of a quantity at each price of a rate; at least a term.
fn divide_by_rate(rate: &Rate, quantity: Decimal) -> Option<Vec<ExactTerm>> {
    let hours = rate.is_hourly().then(|| Decimal::from_integer(MONTH_HOURS));
    if let Some(unit_price) = rate.flat() {
        return Some(vec![ExactTerm { quantity, unit_price, hours }]);
    }
    let mut terms = Vec::new();
    for (index, (from, unit_price)) in rate.steps.iter().enumerate() {
        let next = rate.steps.get(index + 1).map(|(next, _)| *next);
        let end = next.filter(|next| next.is_less_than(quantity)).unwrap_or(quantity);
        if from.is_less_than(end) || terms.is_empty() {
            terms.push(ExactTerm { quantity: end.minus(*from)?, unit_price: *unit_price, hours });
        }
    }
    Some(terms)
}

/// The meter's name for these values; `None` if one is missing.
fn key(name: &[TemplatePiece], values: &[Value]) -> Option<String> {
    let mut text = String::new();
    for piece in name {
        match piece {
            TemplatePiece::Text(piece) => text += piece,
            TemplatePiece::Hole(expression) => match expression.value(values) {
                Value::Number(number) => text += &format_plain(number),
                Value::Text(word) => text += &word,
                Value::Absent => return None,
            },
        }
    }
    Some(meter_key(&text))
}

/// A tier, a machine, or the product itself, with the values of its columns.
pub(crate) struct ProductRow {
    pub name: String,
    /// Of the tier or machine.
    pub index: Option<usize>,
    pub values: Vec<Value>,
}

impl Product {
    /// The list of imported prices for this product; `None` without a rate of it.
    pub(crate) fn imported_list(&self, prices: &Arc<ImportedPrices>) -> Option<PriceList> {
        if !self.meters().iter().any(|(meter, _)| prices.has(meter)) {
            return None;
        }
        let alike = self.prices.iter().filter(|list| list.currency == prices.currency());
        let alike = alike.filter(|list| list.region.as_deref() == prices.region());
        let built_in = alike.max_by_key(|list| list.validity.from);
        let (cite, _) = prices.sources().into_iter().next()?;
        let snapshot = self.billed_snapshot.as_ref().and_then(|billed| {
            let rate = prices.rate(&billed.meter, Commitment::None).filter(|rate| rate.unit() == &*billed.unit)?;
            Some(SnapshotRate { amount: rate.flat()?, per: Arc::clone(&rate.per), cite: Arc::clone(&rate.cite) })
        });
        Some(PriceList {
            currency: prices.currency(),
            region: prices.region().map(Arc::from),
            validity: Validity { from: prices.date(), until: None },
            taxes: "".into(),
            parts: built_in.map(|list| list.parts.clone()).unwrap_or_default(),
            snapshot: snapshot.or_else(|| built_in?.snapshot.clone()),
            cite,
            imported: Some(Arc::clone(prices)),
        })
    }

    /// Meters of its components for each tier or machine, and their units.
    pub(crate) fn meters(&self) -> Vec<(String, Arc<str>)> {
        let snapshot = self.billed_snapshot.iter().map(|billed| (billed.meter.clone(), Arc::clone(&billed.unit)));
        let mut meters: Vec<(String, Arc<str>)> = snapshot.collect();
        for row in self.rows() {
            for part in &self.billed {
                meters.extend(part.keys(&row.values).map(|key| (key, Arc::clone(&part.unit))));
            }
        }
        meters
    }

    /// Its machines or tiers; itself without any.
    pub(crate) fn rows(&self) -> Vec<ProductRow> {
        let row = |(first, index, row): (usize, usize, &TableRow), name: String| {
            let mut values = vec![Value::Absent; self.variables.len()];
            values[first..first + row.cells.len()].clone_from_slice(&row.cells);
            ProductRow { name, index: Some(index), values }
        };
        match (&self.machines, &self.tiers) {
            (Some(machines), _) => {
                let rows = machines.rows.iter().enumerate();
                rows.map(|(index, one)| row((machines.first, index, one), format!("{}/{}", self.name, one.name)))
                    .collect()
            }
            (None, Some(tiers)) => {
                let rows = tiers.rows.iter().enumerate();
                rows.map(|(index, one)| row((tiers.first, index, one), format!("{}:{}", self.name, one.name))).collect()
            }
            (None, None) => {
                let values = vec![Value::Absent; self.variables.len()];
                vec![ProductRow { name: self.name.to_string(), index: None, values }]
            }
        }
    }
}
