//! SKUs of Google's Cloud Billing catalogue (`cloudbilling.googleapis.com/v1/services/6F81-5844-456A/skus`).

use serde::Deserialize;
use serde_json::Value;

use super::{Collector, ListedRate, PriceListError, PriceListForm, decimal};
use crate::commitment::Commitment;
use crate::decimal::Decimal;
use crate::imported::meter_key;

/// A SKU.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GcpSku {
    description: String,
    #[serde(default)]
    category: Category,
    #[serde(default)]
    service_regions: Vec<String>,
    pricing_info: Vec<PricingInfo>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Category {
    #[serde(default)]
    usage_type: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PricingInfo {
    pricing_expression: PricingExpression,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PricingExpression {
    #[serde(default)]
    usage_unit: String,
    tiered_rates: Vec<TieredRate>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TieredRate {
    #[serde(default)]
    start_usage_amount: f64,
    unit_price: UnitPrice,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UnitPrice {
    #[serde(default)]
    currency_code: String,
    /// A text, or a number in some copies.
    #[serde(default)]
    units: Value,
    #[serde(default)]
    nanos: i64,
}

impl UnitPrice {
    fn amount(&self) -> Option<Decimal> {
        let units = match &self.units {
            Value::Null => Decimal::ZERO,
            Value::String(text) => text.parse().ok()?,
            other => decimal(other.as_f64()?)?,
        };
        let nano: Decimal = "0.000000001".parse().ok()?;
        units.plus(Decimal::from_integer(i128::from(self.nanos)).times(nano)?)
    }
}

/// Words of a description that do not tell machine series apart.
const FILLERS: [&str; 6] = ["predefined", "amd", "arm", "instance", "memory-optimized", "running"];

/// The meter of a description: `n2 core` for machines, the text without its place for disks.
fn meter_of(description: &str, commitment: Commitment) -> Option<String> {
    let text = meter_key(description);
    if commitment == Commitment::None {
        let text =
            text.split_once(" running in ").or_else(|| text.split_once(" in ")).map_or(text.as_str(), |(name, _)| name);
        return Some(machine_meter(text).unwrap_or_else(|| text.to_owned()));
    }
    let text = text.strip_prefix("commitment v1: ").or_else(|| text.strip_prefix("commitment: "))?;
    let (text, _) = text.split_once(" in ")?;
    machine_meter(text).or_else(|| match text {
        "cpu" => Some("n1 core".to_owned()),
        "ram" => Some("n1 ram".to_owned()),
        _ => None,
    })
}

/// `n2d amd instance core` is `n2d core`, `compute optimized ram` is `c2 ram`.
fn machine_meter(text: &str) -> Option<String> {
    let text = text.replace("compute optimized", "c2");
    let words: Vec<&str> = text.split(' ').filter(|word| !FILLERS.contains(word)).collect();
    let [series, part] = words[..] else { return None };
    let is_series =
        series.len() <= 4 && series.starts_with(|c: char| c.is_ascii_lowercase()) && series.contains(char::is_numeric);
    let part = match part {
        "core" | "cpu" => "core",
        "ram" => "ram",
        _ => return None,
    };
    is_series.then(|| format!("{series} {part}"))
}

/// Unit and time of a usage unit, for a meter that is billed by `billed`.
fn per(usage_unit: &str, billed: &str) -> Option<String> {
    let (unit, time) = match usage_unit {
        "h" | "mo" => ("", usage_unit),
        _ => usage_unit.rsplit_once('.')?,
    };
    let time = match time {
        "h" => "hour",
        "mo" => "month",
        _ => return None,
    };
    let unit = match unit {
        // IOPS and throughput are counted without a name.
        "" => billed,
        "GiBy" => "GiB",
        "MiBy" | "MiBy/s" => "MiB/s",
        _ => return None,
    };
    Some(if unit.is_empty() { time.to_owned() } else { format!("{unit}-{time}") })
}

impl GcpSku {
    pub(super) fn add(&self, collector: &mut Collector<'_>) -> Result<(), PriceListError> {
        let commitment = match self.category.usage_type.as_str() {
            "OnDemand" | "" => Commitment::None,
            "Commit1Yr" => Commitment::OneYear,
            "Commit3Yr" => Commitment::ThreeYears,
            _ => {
                collector.skip("a machine that may be taken away (spot), or another kind of use");
                return Ok(());
            }
        };
        let meter = meter_of(&self.description, commitment);
        let billed = meter.as_deref().and_then(|meter| collector.meters.unit("gcp", meter)).cloned();
        let (Some(meter), Some(billed)) = (meter, billed) else {
            collector.skip("no product of the catalogue bills it");
            return Ok(());
        };
        // The last entry is the price of today.
        let Some(info) = self.pricing_info.last() else {
            collector.skip("it has no price");
            return Ok(());
        };
        let expression = &info.pricing_expression;
        for (rate, region) in expression
            .tiered_rates
            .iter()
            .flat_map(|rate| self.service_regions.iter().map(move |region| (rate, region)))
        {
            let Some(amount) = rate.unit_price.amount() else {
                collector.skip("its amount is not understood");
                continue;
            };
            let listed = ListedRate {
                region: Some(region),
                currency: &rate.unit_price.currency_code,
                meter: &meter,
                per: per(&expression.usage_unit, &billed),
                unit: &expression.usage_unit,
                from: decimal(rate.start_usage_amount).unwrap_or(Decimal::ZERO),
                amount,
                commitment,
                replaces: false,
            };
            collector.add(PriceListForm::Gcp, listed)?;
        }
        Ok(())
    }
}
