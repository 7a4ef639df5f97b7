//! Items of Azure's Retail Prices API (`https://prices.azure.com/api/retail/prices`), field names as in its reference.

use serde::Deserialize;

use super::{Collector, ListedRate, PriceListError, PriceListForm, decimal};
use crate::commitment::Commitment;
use crate::date::Date;
use crate::decimal::Decimal;

/// An item.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AzureItem {
    currency_code: String,
    retail_price: f64,
    meter_name: String,
    product_name: String,
    unit_of_measure: String,
    #[serde(default)]
    tier_minimum_units: f64,
    #[serde(default)]
    arm_region_name: String,
    #[serde(default)]
    sku_name: String,
    #[serde(default)]
    service_name: String,
    #[serde(default)]
    arm_sku_name: String,
    #[serde(default, rename = "type")]
    kind: String,
    reservation_term: Option<String>,
    effective_end_date: Option<String>,
    savings_plan: Option<Vec<SavingsPlan>>,
}

/// An hourly price under a savings plan.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SavingsPlan {
    retail_price: f64,
    term: String,
}

fn parse_term(text: &str) -> Option<Commitment> {
    match text {
        "1 Year" => Some(Commitment::OneYear),
        "3 Years" => Some(Commitment::ThreeYears),
        _ => None,
    }
}

/// `1 GiB/Hour` is `GiB-hour`; with the number of units that the amount is for, as a factor.
fn parse_unit(text: &str) -> Option<(String, &'static str)> {
    let unit = |unit: &str, factor| Some((unit.to_owned(), factor));
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    match compact.to_lowercase().as_str() {
        "1hour" | "1/hour" => unit("hour", "1"),
        "1/month" => unit("month", "1"),
        "1gib/hour" | "1gb/hour" => unit("GiB-hour", "1"),
        "1gib/month" | "1gb/month" => unit("GiB-month", "1"),
        "10k" => unit("operation", "0.0001"),
        _ => None,
    }
}

impl AzureItem {
    pub(super) fn add(&self, collector: &mut Collector<'_>) -> Result<(), PriceListError> {
        if let Some(reason) = self.reason_to_skip(collector.file.date) {
            collector.skip(reason);
            return Ok(());
        }
        let is_machine = self.service_name == "Virtual Machines";
        let meter = if is_machine {
            format!("virtual machines/{}", self.arm_sku_name)
        } else {
            format!("{}/{}", self.product_name, self.meter_name)
        };
        let commitment = self.reservation_term.as_deref().map_or(Some(Commitment::None), parse_term);
        let (Some(commitment), Some(price)) = (commitment, decimal(self.retail_price)) else {
            collector.skip("its term or amount is not understood");
            return Ok(());
        };
        let mut per = self.per(collector, &meter);
        let mut amount = price;
        if commitment != Commitment::None {
            // The amount of a reservation is for its term, whatever the unit.
            per = Some("month".to_owned());
            let monthly = self.retail_price / f64::from(commitment.months());
            amount = Decimal::from_quantity(monthly).unwrap_or(price);
        } else if let Some((_, factor)) = parse_unit(&self.unit_of_measure) {
            amount = factor.parse().ok().and_then(|factor| price.times(factor)).unwrap_or(price);
        }
        let rate = |commitment, per: Option<String>, amount| ListedRate {
            region: Some(self.arm_region_name.as_str()),
            currency: &self.currency_code,
            meter: &meter,
            per,
            unit: &self.unit_of_measure,
            from: decimal(self.tier_minimum_units).unwrap_or(Decimal::ZERO),
            amount,
            commitment,
            replaces: self.reservation_term.is_some(),
        };
        // A reservation is preferred to a savings plan of the same term, wherever both are.
        for plan in self.savings_plan.iter().flatten().filter(|_| is_machine && commitment == Commitment::None) {
            let (Some(term), Some(amount)) = (parse_term(&plan.term), decimal(plan.retail_price)) else { continue };
            collector.add(PriceListForm::Azure, rate(term, per.clone(), amount))?;
        }
        collector.add(PriceListForm::Azure, rate(commitment, per, amount))
    }

    /// Unit and time; rates of provisioned IOPS and throughput are for one of these, without its name.
    fn per(&self, collector: &Collector<'_>, meter: &str) -> Option<String> {
        let (per, _) = parse_unit(&self.unit_of_measure)?;
        let billed = collector.meters.unit("azure", &crate::imported::meter_key(meter))?;
        Some(match per.as_str() {
            "hour" | "month" if !billed.is_empty() => format!("{billed}-{per}"),
            _ => per,
        })
    }

    fn reason_to_skip(&self, today: Date) -> Option<&'static str> {
        let ended =
            |end: &String| end.get(..10).and_then(|day| day.parse::<Date>().ok()).is_some_and(|end| end < today);
        if self.effective_end_date.as_ref().is_some_and(ended) {
            return Some("it has ended");
        }
        if !matches!(self.kind.as_str(), "" | "Consumption" | "Reservation") {
            return Some("it is neither on demand nor a reservation");
        }
        if self.arm_region_name.is_empty() {
            return Some("it has no region");
        }
        if self.service_name == "Virtual Machines" {
            let is_other = |name: &str| ["Spot", "Low Priority"].iter().any(|word| name.contains(word));
            if self.product_name.contains("Windows") {
                return Some("a machine with Windows");
            }
            if self.product_name.contains("Dedicated") || self.product_name.contains("CloudServices") {
                return Some("not a virtual machine");
            }
            if is_other(&self.sku_name) || is_other(&self.meter_name) {
                return Some("a machine that may be taken away (spot)");
            }
        }
        None
    }
}
