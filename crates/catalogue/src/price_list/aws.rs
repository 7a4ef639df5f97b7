//! Offer files of AWS (`AmazonEC2/current/<region>/index.json` and `index.csv`): products, then terms by SKU.
//!
//! Of the products only those that the catalogue bills are kept while the terms are read.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::json::State;
use super::{Collector, ListedRate, PriceListError, PriceListForm};
use crate::commitment::Commitment;
use crate::decimal::Decimal;
use crate::imported::MONTH_HOURS;

/// Products whose terms are still to be read, and the best reservation of each.
#[derive(Default)]
pub(super) struct OfferFile {
    skus: HashMap<String, BilledSku>,
    reserved: HashMap<(String, Commitment), Reservation>,
    has_products: bool,
}

/// A product that the catalogue bills.
struct BilledSku {
    meter: String,
    region: String,
}

/// Attributes that decide about a product; JSON and CSV have the same.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Attributes {
    pub usagetype: String,
    pub location_type: String,
    pub region_code: String,
    pub instance_type: String,
    pub operating_system: String,
    pub tenancy: String,
    #[serde(rename = "preInstalledSw")]
    pub pre_installed_software: String,
    pub license_model: String,
    #[serde(alias = "capacityStatus", rename = "capacitystatus")]
    pub capacity_status: String,
    pub operation: String,
    #[serde(rename = "marketoption")]
    pub market_option: String,
}

/// A price of a term, from JSON or a line of CSV.
pub(super) struct TermPrice<'t> {
    pub sku: &'t str,
    pub unit: &'t str,
    pub begin: &'t str,
    pub currency: &'t str,
    pub amount: &'t str,
}

/// What a reservation requires.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TermAttributes {
    #[serde(rename = "LeaseContractLength")]
    pub lease: String,
    #[serde(rename = "OfferingClass")]
    pub class: String,
    #[serde(rename = "PurchaseOption")]
    pub purchase: String,
}

/// A reservation while its parts are read.
struct Reservation {
    purchase: Purchase,
    currency: String,
    hourly: Decimal,
    upfront: Decimal,
}

/// Order of preference: without a payment in advance, which needs no assumption about its cost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Purchase {
    Monthly,
    PartlyAhead,
    Ahead,
}

/// Why a product is not read, or its meter.
fn meter(of: &Attributes) -> Result<String, &'static str> {
    if !matches!(of.location_type.as_str(), "" | "AWS Region") {
        return Err("not in a region (Local Zone, Wavelength or Outpost)");
    }
    let after = |mark: &str| of.usagetype.find(mark).map(|at| of.usagetype.split_at(at));
    let is_region = |prefix: &str| prefix.is_empty() || (prefix.ends_with('-') && prefix.matches('-').count() == 1);
    if let Some((prefix, name)) = after("EBS:") {
        return if is_region(prefix) {
            Ok(name.to_owned())
        } else {
            Err("not in a region (Local Zone, Wavelength or Outpost)")
        };
    }
    let Some((prefix, _)) = after("BoxUsage") else { return Err("neither a volume nor an instance on demand") };
    let is_plain = is_region(prefix)
        && of.operating_system == "Linux"
        && of.tenancy == "Shared"
        && matches!(of.pre_installed_software.as_str(), "" | "NA")
        && matches!(of.capacity_status.as_str(), "" | "Used")
        && matches!(of.market_option.as_str(), "" | "OnDemand")
        && matches!(of.operation.as_str(), "" | "RunInstances");
    if is_plain && !of.license_model.starts_with("Bring") {
        Ok(format!("BoxUsage:{}", of.instance_type))
    } else {
        Err("an instance with other software, tenancy or capacity than Linux on shared hardware")
    }
}

/// `GB-Mo` is `GiB-month`: AWS counts GB of 2^30 bytes. With the factor of the amount.
fn parse_unit(text: &str) -> Option<(&'static str, &'static str)> {
    match text.to_lowercase().as_str() {
        "gb-mo" | "gb-month" => Some(("GiB-month", "1")),
        "iops-mo" | "iops-month" => Some(("IOPS-month", "1")),
        "mibps-mo" | "mbps-mo" | "mibps-month" => Some(("MiB/s-month", "1")),
        "gibps-mo" | "gbps-mo" | "gibps-month" => Some(("MiB/s-month", "0.0009765625")),
        "hrs" | "hours" | "hour" => Some(("hour", "1")),
        "ios" => Some(("operation", "1")),
        _ => None,
    }
}

fn commitment(lease: &str) -> Option<Commitment> {
    match lease {
        "1yr" | "1 yr" => Some(Commitment::OneYear),
        "3yr" | "3 yr" => Some(Commitment::ThreeYears),
        _ => None,
    }
}

fn parse_purchase(text: &str) -> Option<Purchase> {
    match text {
        "No Upfront" => Some(Purchase::Monthly),
        "Partial Upfront" => Some(Purchase::PartlyAhead),
        "All Upfront" => Some(Purchase::Ahead),
        _ => None,
    }
}

impl OfferFile {
    /// True after products of an offer.
    pub(super) const fn is_used(&self) -> bool {
        self.has_products
    }

    /// Keeps a product that the catalogue bills.
    pub(super) fn product(&mut self, sku: &str, attributes: &Attributes, collector: &mut Collector<'_>) {
        self.has_products = true;
        match meter(attributes) {
            Ok(_) if attributes.region_code.is_empty() => collector.skip("it has no region code"),
            Ok(meter) if !collector.is_billed("aws", &meter.to_lowercase()) => {
                collector.skip("no product of the catalogue bills it");
            }
            Ok(meter) => {
                let region = attributes.region_code.clone();
                self.skus.insert(sku.to_owned(), BilledSku { meter, region });
            }
            Err(reason) => collector.skip(reason),
        }
    }

    /// True if the terms of this product are used.
    pub(super) fn has(&self, sku: &str) -> bool {
        self.skus.contains_key(sku)
    }

    pub(super) fn on_demand(
        &self,
        form: PriceListForm,
        price: &TermPrice<'_>,
        collector: &mut Collector<'_>,
    ) -> Result<(), PriceListError> {
        let Some(sku) = self.skus.get(price.sku) else { return Ok(()) };
        let unit = parse_unit(price.unit);
        let amount = price.amount.parse::<Decimal>().ok();
        let amount = amount.and_then(|amount| amount.times(unit.map_or("1", |(_, factor)| factor).parse().ok()?));
        let (Some(amount), Ok(from)) = (amount, price.begin.parse()) else {
            collector.skip("its amount is not understood");
            return Ok(());
        };
        let rate = ListedRate {
            region: Some(&sku.region),
            currency: price.currency,
            meter: &sku.meter,
            per: unit.map(|(per, _)| per.to_owned()),
            unit: price.unit,
            from,
            amount,
            commitment: Commitment::None,
            replaces: false,
        };
        collector.add(form, rate)
    }

    /// Keeps the best reservation of each term; convertible ones are not read.
    pub(super) fn reserved(&mut self, term: &TermAttributes, price: &TermPrice<'_>, collector: &mut Collector<'_>) {
        if !self.skus.contains_key(price.sku) || term.class == "convertible" {
            return;
        }
        let parsed =
            commitment(&term.lease).zip(parse_purchase(&term.purchase)).zip(price.amount.parse::<Decimal>().ok());
        let Some(((term, purchase), amount)) = parsed else {
            collector.skip("its term or amount is not understood");
            return;
        };
        let fresh = || Reservation {
            purchase,
            currency: price.currency.to_owned(),
            hourly: Decimal::ZERO,
            upfront: Decimal::ZERO,
        };
        let best = self.reserved.entry((price.sku.to_owned(), term)).or_insert_with(fresh);
        if purchase > best.purchase || best.currency != price.currency {
            return;
        }
        if purchase < best.purchase {
            *best = fresh();
        }
        match parse_unit(price.unit) {
            Some(("hour", _)) => best.hourly = amount,
            _ if price.unit == "Quantity" => best.upfront = amount,
            _ => collector.skip("its unit is not understood"),
        }
    }

    /// Hands over the reservations after all terms were read.
    pub(super) fn finish(self, collector: &mut Collector<'_>) -> Result<(), PriceListError> {
        let form = collector.found.form.unwrap_or(PriceListForm::AwsJson);
        collector.found.form = Some(form);
        let mut reserved: Vec<_> = self.reserved.into_iter().collect();
        reserved.sort_by(|(a, _), (b, _)| a.cmp(b));
        for ((sku, commitment), reservation) in reserved {
            let Some(sku) = self.skus.get(&sku) else { continue };
            let (per, amount) = if reservation.upfront == Decimal::ZERO {
                ("hour", Some(reservation.hourly))
            } else {
                ("month", reservation.monthly(commitment))
            };
            let Some(amount) = amount else { continue };
            let rate = ListedRate {
                region: Some(&sku.region),
                currency: &reservation.currency,
                meter: &sku.meter,
                per: Some(per.to_owned()),
                unit: per,
                from: Decimal::ZERO,
                amount,
                commitment,
                replaces: false,
            };
            collector.add(form, rate)?;
        }
        Ok(())
    }
}

impl Reservation {
    /// The payment in advance spread over the term, and the hours of a month.
    fn monthly(&self, commitment: Commitment) -> Option<Decimal> {
        let upfront: f64 = self.upfront.to_string().parse().ok()?;
        let spread = Decimal::from_quantity(upfront / f64::from(commitment.months()))?;
        self.hourly.times(Decimal::from_integer(MONTH_HOURS))?.plus(spread)
    }
}

/// A product of the JSON form.
#[derive(Deserialize)]
struct ProductEntry {
    #[serde(default)]
    attributes: Attributes,
}

/// `products`: an object by SKU; a list in the offers of savings plans.
pub(super) struct OfferProducts<'a, 's, 'c>(pub &'a mut State<'s, 'c>);

impl<'de> DeserializeSeed<'de> for OfferProducts<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OfferProducts<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("products by SKU")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(sku) = map.next_key::<String>()? {
            let product: ProductEntry = map.next_value()?;
            self.0.offer.product(&sku, &product.attributes, self.0.collector);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// Terms of a SKU by offer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TermEntry {
    #[serde(default)]
    price_dimensions: BTreeMap<String, PriceDimension>,
    #[serde(default)]
    term_attributes: TermAttributes,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PriceDimension {
    #[serde(default)]
    unit: String,
    #[serde(default)]
    begin_range: String,
    #[serde(default)]
    price_per_unit: BTreeMap<String, String>,
}

/// `terms`: `OnDemand` and `Reserved`, by SKU.
pub(super) struct OfferTerms<'a, 's, 'c>(pub &'a mut State<'s, 'c>);

impl<'de> DeserializeSeed<'de> for OfferTerms<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for OfferTerms<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("terms by kind")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if !self.0.offer.is_used() {
            let text = "its terms are not after its products, as in AWS's files".to_owned();
            return Err(self.0.fail(PriceListError::NotAList(text)));
        }
        while let Some(kind) = map.next_key::<String>()? {
            match kind.as_str() {
                "OnDemand" => map.next_value_seed(Skus { state: self.0, kind: TermKind::OnDemand })?,
                "Reserved" => map.next_value_seed(Skus { state: self.0, kind: TermKind::Reserved })?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum TermKind {
    OnDemand,
    Reserved,
}

/// Terms of one kind by SKU.
struct Skus<'a, 's, 'c> {
    state: &'a mut State<'s, 'c>,
    kind: TermKind,
}

impl<'de> DeserializeSeed<'de> for Skus<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Skus<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("terms by SKU")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(sku) = map.next_key::<String>()? {
            if !self.state.offer.has(&sku) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            // Ordered, so that the same file gives the same result.
            let entries: BTreeMap<String, TermEntry> = map.next_value()?;
            for entry in entries.values() {
                if let Err(reason) = self.term(&sku, entry) {
                    return Err(self.state.fail(reason));
                }
            }
        }
        Ok(())
    }
}

impl Skus<'_, '_, '_> {
    fn term(&mut self, sku: &str, entry: &TermEntry) -> Result<(), PriceListError> {
        let State { offer, collector, .. } = &mut *self.state;
        for dimension in entry.price_dimensions.values() {
            for (currency, amount) in &dimension.price_per_unit {
                let begin = if dimension.begin_range.is_empty() { "0" } else { &dimension.begin_range };
                let price = TermPrice { sku, unit: &dimension.unit, begin, currency, amount };
                match self.kind {
                    TermKind::OnDemand => offer.on_demand(PriceListForm::AwsJson, &price, collector)?,
                    TermKind::Reserved => offer.reserved(&entry.term_attributes, &price, collector),
                }
            }
        }
        Ok(())
    }
}
