//! List prices of offers, without discounts, exchange rates and taxes.

use plimsoll_language::say;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use thiserror::Error;

use crate::billing::ExactTerm;
use crate::cite::Cite;
use crate::commitment::Commitment;
use crate::date::Date;
use crate::decimal::Decimal;
use crate::money::{Currency, Money};
use crate::offer::{Doubt, Offer};
use crate::product::{Amount, Often, PriceList, PricePart};
use crate::resolve::Resolved;
use crate::translate::translate;

/// A list price.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// Cost of a month.
    pub monthly: Money,
    /// One-time cost; `None` if zero.
    pub once: Option<Money>,
    /// Components. Each is rounded individually; the totals above are rounded from exact sums.
    pub parts: Vec<Charge>,
    /// Region of the vendor; `None` for worldwide prices.
    pub region: Option<Arc<str>>,
    /// Source of the list; if components have other sources, the least reliable of them.
    pub cite: Arc<Cite>,
    /// Statement of the list about taxes; may be empty.
    pub taxes: Arc<str>,
    /// What is in the configuration and not in the price: a machine without a list, or without a price in it, and billed
    /// components without an amount.
    pub without: Vec<String>,
    /// Machines whose price is on demand, because the list has none for the commitment.
    pub uncommitted: Vec<Arc<str>>,
    /// Commitment of the other prices.
    pub commitment: Commitment,
    /// The date of the offer's terms.
    as_of: Date,
}

/// The price of stored snapshots.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SnapshotPrice {
    /// For each unit.
    pub each: Money,
    /// The vendor's unit, such as `GiB-month`.
    pub per: Arc<str>,
    /// Monthly price of a snapshot of the full capacity; null when the unit is not that of the capacity.
    pub full_monthly: Option<Money>,
    /// Where it was read.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

/// Bytes of a GiB.
const GIB: f64 = (1_u64 << 30) as f64;
/// A price that is older than this many days is doubtful.
pub const MAX_PRICE_AGE_DAYS: i64 = 180;

/// One part of a price.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Charge {
    /// Name of the component.
    pub name: Arc<str>,
    /// Unit of the vendor, such as `GiB-month`.
    pub per: Arc<str>,
    /// Number of units, over all members.
    pub quantity: f64,
    /// Quantities by price of a unit, whose products add up to the cost; several for graduated prices.
    pub terms: Vec<ChargeTerm>,
    /// Cost per month or once.
    #[serde(rename = "cost")]
    pub money: Money,
    /// Interval of payment.
    #[serde(rename = "paid")]
    pub often: Often,
    /// Source of its amount.
    #[serde(skip)]
    pub cite: Arc<Cite>,
}

/// Units at the same price.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChargeTerm {
    /// Number of units, over all members.
    pub quantity: f64,
    /// Exact price of a unit as a decimal text, in the currency of the cost: `0.0425`.
    pub unit_price: String,
    /// Hours of a month by which a price for an hour is multiplied; otherwise null.
    pub hours: Option<f64>,
}

impl ChargeTerm {
    fn of(exact: &ExactTerm, members: i128) -> Self {
        Self {
            quantity: exact.quantity.as_f64() * members as f64,
            unit_price: exact.unit_price.to_string(),
            hours: exact.hours.map(Decimal::as_f64),
        }
    }
}

/// Reason why an offer has no price.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoPrice {
    /// There is no price list.
    #[error("the catalogue has no price of {product}")]
    None {
        /// Name of the product.
        product: String,
    },
    /// No list for this currency, region and date.
    #[error("the catalogue has no price of {product} {required}; it has {}", existing.join(", "))]
    NotListed {
        /// Name of the product.
        product: String,
        /// The requested list: `for USD in us-east-1 as of 2026-11`.
        required: String,
        /// Existing lists.
        existing: Vec<String>,
    },
    /// Several lists apply: the terms must select a list.
    #[error("{product} has several prices: choose a currency and a region of {}", existing.join(", "))]
    Several {
        /// Name of the product.
        product: String,
        /// Applicable lists.
        existing: Vec<String>,
    },
    /// The list has no price for this configuration.
    #[error("the list of {product} has no price for {part}")]
    NotCovered {
        /// Name of the product.
        product: String,
        /// The component or tier without a price.
        part: String,
    },
    /// The sum overflows.
    #[error("the price of {product} is beyond reckoning")]
    TooLarge {
        /// Name of the product.
        product: String,
    },
}

impl Price {
    /// True if no part of the configuration is without an amount.
    pub fn is_complete(&self) -> bool {
        self.without.is_empty()
    }

    /// Cost of a month; `None` if a part is without an amount, so that the sum is only a lower bound.
    pub fn total(&self) -> Option<Money> {
        self.is_complete().then_some(self.monthly)
    }

    /// Days from the date of its oldest source to the date of the terms. `None` when a source has no date that can be
    /// read, and for terms of an earlier time.
    pub fn age_days(&self) -> Option<i64> {
        self.oldest().map(|(_, age)| age)
    }

    /// The oldest source, and the same days.
    pub fn oldest(&self) -> Option<(&Arc<Cite>, i64)> {
        let cites = [&self.cite].into_iter().chain(self.parts.iter().map(|part| &part.cite));
        let aged = cites.map(|cite| Some((cite, self.as_of.days_since(cite.date.parse().ok()?))));
        let aged = aged.collect::<Option<Vec<_>>>()?;
        aged.into_iter().rev().max_by_key(|(_, age)| *age).filter(|(_, age)| *age >= 0)
    }

    /// The doubt about a price that is older than [`MAX_PRICE_AGE_DAYS`].
    pub fn age_doubt(&self) -> Option<Doubt> {
        let age = self.age_days().filter(|age| *age > MAX_PRICE_AGE_DAYS)?;
        let text = say!("its price is {age} days old: check the vendor's list");
        Some(Doubt { text, cite: self.oldest().map(|(cite, _)| Arc::clone(cite)) })
    }

    /// The doubt about machines that have no price for the commitment.
    pub fn commitment_doubt(&self) -> Option<Doubt> {
        let machine = self.uncommitted.first()?;
        let text = say!("no committed price of {machine} is known for {}: its price is on demand", self.commitment);
        Some(Doubt { text, cite: None })
    }

    /// What makes it questionable: its age, that its amounts were not read with the vendor, and that it is not the one of
    /// the commitment.
    pub fn doubts(&self) -> Vec<Doubt> {
        self.status_doubts().into_iter().chain(self.age_doubt()).chain(self.commitment_doubt()).collect()
    }

    fn status_doubts(&self) -> Vec<Doubt> {
        let alike = self.parts.iter().all(|part| part.cite == self.cite);
        let about = |text: String, cite: &Arc<Cite>| Doubt { text, cite: Some(Arc::clone(cite)) };
        if alike {
            let doubt = self.cite.status.doubt();
            return doubt.map(|doubt| about(say!("its price {doubt}"), &self.cite)).into_iter().collect();
        }
        let doubtful = self.parts.iter().filter_map(|part| Some((part, part.cite.status.doubt()?)));
        doubtful
            .map(|(part, doubt)| about(say!("the price of \"{}\" {doubt}", translate(&part.name)), &part.cite))
            .collect()
    }
}

impl Offer {
    /// The one price under the offer's terms. For all members of an array, and for the machine when it has a list.
    pub fn price(&self) -> Result<Price, NoPrice> {
        self.price_by(self.list()?)
    }

    /// The price of stored snapshots, by the list of the offer's price; by the first list if the terms leave several.
    /// `None` when there is no list, or the list has no price of snapshots.
    pub fn snapshot_price(&self) -> Option<SnapshotPrice> {
        let first = || self.valid_lists(&self.volume).find(|list| self.is_wanted(list));
        let list = self.list().ok().or_else(first)?;
        let rate = list.snapshot.as_ref()?;
        let money = |amount: Decimal| Some(Money { millionths: amount.millionths()?, currency: list.currency });
        let (unit, bytes) = self.product().capacity_unit();
        let units = self.capacity.get() as f64 / bytes.get() as f64;
        let is_unit = rate.per.strip_suffix("-month") == Some(unit);
        let full = || money(Decimal::from_quantity(units)?.times(rate.amount)?);
        Some(SnapshotPrice {
            each: money(rate.amount)?,
            per: Arc::clone(&rate.per),
            full_monthly: if is_unit { full() } else { None },
            cite: Arc::clone(&rate.cite),
        })
    }

    /// The one price list under the offer's terms.
    fn list(&self) -> Result<&PriceList, NoPrice> {
        let name = || self.volume.product.name.to_string();
        if self.volume.price_lists().next().is_none() {
            return Err(NoPrice::None { product: name() });
        }
        let valid: Vec<&PriceList> = self.valid_lists(&self.volume).collect();
        let matching: Vec<&PriceList> = valid.iter().copied().filter(|list| self.is_wanted(list)).collect();
        match chosen(&matching) {
            Some(list) => Ok(list),
            None if matching.is_empty() => {
                let existing = self.volume.price_lists().map(PriceList::words).collect();
                Err(NoPrice::NotListed { product: name(), required: self.wanted_words(), existing })
            }
            None => {
                Err(NoPrice::Several { product: name(), existing: matching.iter().map(|list| list.words()).collect() })
            }
        }
    }

    /// All prices at the date of the offer's terms, in any currency and region.
    pub fn prices(&self) -> Vec<Price> {
        self.valid_lists(&self.volume).filter_map(|list| self.price_by(list).ok()).collect()
    }

    fn valid_lists<'r>(&self, of: &'r Resolved) -> impl Iterator<Item = &'r PriceList> {
        of.valid_price_lists(self.terms.as_of)
    }

    fn is_wanted(&self, list: &PriceList) -> bool {
        self.terms.currency.is_none_or(|currency| currency == list.currency) && self.terms.takes(list.region.as_deref())
    }

    fn wanted_words(&self) -> String {
        let mut words: Vec<String> = self.terms.currency.iter().map(|currency| format!("for {currency}")).collect();
        words.extend(self.terms.region.iter().map(|region| format!("in {region}")));
        words.push(format!("as of {}", self.terms.as_of));
        words.join(" ")
    }

    fn price_by(&self, list: &PriceList) -> Result<Price, NoPrice> {
        let members = self.config.wraps.iter().map(|wrap| i128::from(wrap.members())).product();
        let mut bill = Bill::new(list.currency);
        bill.add(list, &self.volume, members)?;
        if let Some(machine) = &self.machine {
            let alike = |other: &&PriceList| {
                let in_region = match &list.region {
                    Some(region) => other.region.as_ref() == Some(region),
                    None => self.terms.region.is_some() && self.terms.takes(other.region.as_deref()),
                };
                other.currency == list.currency && (other.region.is_none() || in_region)
            };
            let lists: Vec<&PriceList> = self.valid_lists(machine).filter(alike).collect();
            let with_machine = chosen(&lists).map(|list| {
                let mut both = bill.clone();
                both.add(list, machine, 1).map(|()| both)
            });
            match with_machine {
                Some(Ok(both)) => bill = both,
                Some(Err(NoPrice::NotCovered { .. })) | None => bill.without.push(machine.name.to_string()),
                Some(Err(other)) => return Err(other),
            }
        }
        let too_large = || NoPrice::TooLarge { product: self.volume.name.to_string() };
        let monthly = bill.money(bill.monthly).ok_or_else(too_large)?;
        let once = bill.once.map(|once| bill.money(once).ok_or_else(too_large)).transpose()?;
        let cites = bill.parts.iter().map(|part| &part.cite).chain([&list.cite]);
        let cite = Arc::clone(cites.max_by_key(|cite| cite.status).unwrap_or(&list.cite));
        let (region, taxes) = (list.region.clone(), Arc::clone(&list.taxes));
        let Bill { parts, without, uncommitted, .. } = bill;
        let commitment = self.volume.commitment;
        let as_of = self.terms.as_of;
        Ok(Price { monthly, once, parts, region, cite, taxes, without, uncommitted, commitment, as_of })
    }
}

/// The only list, or the only list with a region.
fn chosen<'l>(lists: &[&'l PriceList]) -> Option<&'l PriceList> {
    if let [only] = lists {
        return Some(only);
    }
    let first = lists.first()?;
    let mut regional = lists.iter().filter(|list| list.region.is_some());
    let only = regional.next().filter(|_| regional.next().is_none());
    only.copied().filter(|_| lists.iter().all(|list| list.currency == first.currency))
}

/// A price while it is added up.
#[derive(Clone)]
struct Bill {
    currency: Currency,
    monthly: Decimal,
    once: Option<Decimal>,
    parts: Vec<Charge>,
    without: Vec<String>,
    uncommitted: Vec<Arc<str>>,
}

impl Bill {
    const fn new(currency: Currency) -> Self {
        Self {
            currency,
            monthly: Decimal::ZERO,
            once: None,
            parts: Vec::new(),
            without: Vec::new(),
            uncommitted: Vec::new(),
        }
    }

    /// Adds the imported components first, then those of the file that have no imported rate. Fails without a price of the
    /// first component; others are listed as missing.
    fn add(&mut self, list: &PriceList, of: &Resolved, members: i128) -> Result<(), NoPrice> {
        let before = self.parts.len();
        let imported = self.add_imported(list, of, members)?;
        let mut is_committed = !imported.is_empty() && !imported.iter().any(|(_, committed)| !committed);
        for part in list.parts.iter().filter(|part| !imported.iter().any(|(name, _)| *name == part.name)) {
            match part.applies(&of.values) {
                Some(true) => {}
                Some(false) => continue,
                None => return Err(not_covered(of, &part.name)),
            }
            let Some((quantity, exact)) = list_terms(part, of) else {
                if self.parts.len() == before {
                    return Err(not_covered(of, &part.name));
                }
                self.without.push(missing(of, &part.name));
                continue;
            };
            is_committed = false;
            let (name, per, cite) = (Arc::clone(&part.name), Arc::clone(&part.per), Arc::clone(&part.cite));
            let money = Money { millionths: 0, currency: self.currency };
            let charge = Charge { name, per, quantity, terms: Vec::new(), money, often: part.often, cite };
            self.push(of, exact, members, charge)?;
        }
        self.miss_components(list, of, &imported, before)?;
        if of.commitment != Commitment::None && of.product.machines.is_some() && !is_committed {
            self.uncommitted.push(Arc::clone(&of.name));
        }
        Ok(())
    }

    /// Adds the components with an imported rate; returns their names in lists, and whether the rate is the committed one.
    /// A component within a part of lists counts if all within that part have a rate.
    fn add_imported(
        &mut self,
        list: &PriceList,
        of: &Resolved,
        members: i128,
    ) -> Result<Vec<(Arc<str>, bool)>, NoPrice> {
        let Some(prices) = &list.imported else { return Ok(Vec::new()) };
        let own = of.product.billed.iter().filter(|part| part.applies(&of.values) == Some(true));
        let own: Vec<_> = own.collect();
        let charge_all = |commitment| own.iter().map(|part| (*part, part.charge(of, prices, commitment))).collect();
        let mut charges: Vec<_> = charge_all(of.commitment);
        // A machine has a committed price for all its parts, or none.
        if of.product.machines.is_some()
            && charges.iter().any(|(_, charge)| charge.as_ref().is_some_and(|one| !one.committed))
        {
            charges = charge_all(Commitment::None);
            charges.iter_mut().filter_map(|(_, charge)| charge.as_mut()).for_each(|charge| charge.committed = false);
        }
        let lacking: Vec<&Arc<str>> =
            charges.iter().filter(|(_, charge)| charge.is_none()).map(|(part, _)| part.listed_name()).collect();
        let mut found = Vec::new();
        for (part, charge) in charges.iter().filter(|(part, _)| !lacking.contains(&part.listed_name())) {
            let Some(charge) = charge else { continue };
            found.push((Arc::clone(part.listed_name()), charge.committed));
            let is_reserved = charge.committed && of.commitment != Commitment::None;
            let name = if is_reserved {
                format!("{}, for {}", part.name, of.commitment).into()
            } else {
                Arc::clone(&part.name)
            };
            let (per, cite) = (Arc::clone(&charge.per), Arc::clone(&charge.cite));
            let money = Money { millionths: 0, currency: self.currency };
            let (quantity, often) = (charge.quantity, Often::Monthly);
            let part = Charge { name, per, quantity, terms: Vec::new(), money, often, cite };
            self.push(of, charge.terms.clone(), members, part)?;
        }
        Ok(found)
    }

    /// Lists components that the vendor bills and the list has not. Fails if the first is among them.
    fn miss_components(
        &mut self,
        list: &PriceList,
        of: &Resolved,
        imported: &[(Arc<str>, bool)],
        before: usize,
    ) -> Result<(), NoPrice> {
        if list.parts.iter().any(|part| matches!(part.amount, Amount::Flat(_) | Amount::PerGib(_))) {
            // The user's own price is for all of it.
            return Ok(());
        }
        for part in &of.product.billed {
            let is_listed = imported.iter().any(|(name, _)| name == part.listed_name())
                || list
                    .parts
                    .iter()
                    .any(|listed| listed.name == *part.listed_name() && listed.applies(&of.values) != Some(false));
            let is_free = part.quantity.number(&of.values) == Some(0.0);
            if is_listed || is_free || part.applies(&of.values) == Some(false) {
                continue;
            }
            if self.parts.len() == before {
                return Err(not_covered(of, &part.name));
            }
            self.without.push(missing(of, &part.name));
        }
        Ok(())
    }

    /// Adds a charge for one member to the sums, with its terms and money.
    fn push(
        &mut self,
        of: &Resolved,
        terms: Option<Vec<ExactTerm>>,
        members: i128,
        charge: Charge,
    ) -> Result<(), NoPrice> {
        let terms = terms.unwrap_or_default();
        let cost = terms.iter().try_fold(Decimal::ZERO, |sum, term| sum.plus(term.cost()?));
        let cost = cost.filter(|_| !terms.is_empty());
        let too_large = || NoPrice::TooLarge { product: of.name.to_string() };
        let exact = cost.and_then(|cost| cost.times(Decimal::from_integer(members))).ok_or_else(too_large)?;
        let money = self.money(exact).ok_or_else(too_large)?;
        let sum = match charge.often {
            Often::Monthly => &mut self.monthly,
            Often::Once => self.once.get_or_insert(Decimal::ZERO),
        };
        *sum = sum.plus(exact).ok_or_else(too_large)?;
        let terms = terms.iter().map(|term| ChargeTerm::of(term, members)).collect();
        self.parts.push(Charge { quantity: charge.quantity * members as f64, terms, money, ..charge });
        Ok(())
    }

    fn money(&self, sum: Decimal) -> Option<Money> {
        sum.millionths().map(|millionths| Money { millionths, currency: self.currency })
    }
}

fn not_covered(of: &Resolved, component: &str) -> NoPrice {
    NoPrice::NotCovered { product: of.part().to_string(), part: component.to_owned() }
}

/// A component without an amount, as a part of the product.
fn missing(of: &Resolved, component: &str) -> String {
    format!("{component} of {}", of.name)
}

/// Quantity and its terms; `None` if the list has no price, `Some((_, None))` on overflow.
fn list_terms(part: &PricePart, of: &Resolved) -> Option<(f64, Option<Vec<ExactTerm>>)> {
    let term = |quantity, unit_price| ExactTerm { quantity, unit_price, hours: part.hours };
    let each = |quantity: f64, unit_price: Decimal| {
        Some((quantity, Decimal::from_quantity(quantity).map(|exact| vec![term(exact, unit_price)])))
    };
    match &part.amount {
        Amount::Each(amount, expression) => each(expression.number(&of.values)?, *amount),
        Amount::Graduated(steps, expression) => {
            let quantity = expression.number(&of.values)?;
            let parts = Decimal::from_quantity(quantity).and_then(|exact| divide_by_steps(steps, exact));
            Some((quantity, parts.map(|parts| parts.into_iter().map(|(units, amount)| term(units, amount)).collect())))
        }
        Amount::ByColumn(column, expression) => {
            let amount = Decimal::from_quantity(of.values[*column].as_number()?)?;
            each(expression.number(&of.values)?, amount)
        }
        Amount::Flat(amount) => each(1.0, *amount),
        Amount::PerGib(amount) => each(of.size_bytes() / GIB, *amount),
        Amount::Unknown => None,
        Amount::ByTier(amounts) => each(1.0, (*amounts.get(of.tier?)?)?),
    }
}

/// The units in each step, with the price of a unit; at least the first.
fn divide_by_steps(steps: &[(Option<Decimal>, Decimal)], quantity: Decimal) -> Option<Vec<(Decimal, Decimal)>> {
    let (mut parts, mut from) = (Vec::new(), Decimal::ZERO);
    for (upto, amount) in steps {
        let end = upto.filter(|upto| upto.is_less_than(quantity)).unwrap_or(quantity);
        if from.is_less_than(end) || parts.is_empty() {
            parts.push((end.minus(from)?, *amount));
            from = end;
        }
    }
    Some(parts)
}
