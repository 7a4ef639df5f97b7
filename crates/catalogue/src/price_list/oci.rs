//! Products of OCI's price list (`https://apexapps.oracle.com/pls/apex/cetools/api/v1/products/`).

use serde::Deserialize;

use super::{Collector, ListedRate, PriceListError, PriceListForm, decimal};
use crate::commitment::Commitment;
use crate::decimal::Decimal;

/// A product; its meters are its part number, and its name without the vendor and dashes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OciProduct {
    part_number: String,
    #[serde(default)]
    display_name: String,
    #[serde(default)]
    metric_name: String,
    currency_code_localizations: Vec<Localization>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Localization {
    currency_code: String,
    prices: Vec<OciPrice>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OciPrice {
    #[serde(default)]
    model: String,
    value: f64,
    range_min: Option<f64>,
}

/// `OCPU Per Hour` is `OCPU-hour`.
fn unit(metric: &str) -> Option<&'static str> {
    match metric.to_lowercase().as_str() {
        "ocpu per hour" | "ocpu hour" => Some("OCPU-hour"),
        "gigabyte per hour" | "gigabytes per hour" => Some("GB-hour"),
        "gigabyte storage capacity per month" => Some("GB-month"),
        "performance units per gigabyte per month" => Some("VPU-GB-month"),
        "nvme terabyte per hour" | "terabyte per hour" => Some("TB-hour"),
        _ => None,
    }
}

impl OciProduct {
    pub(super) fn add(&self, collector: &mut Collector<'_>) -> Result<(), PriceListError> {
        let name = self.display_name.replace('-', " ");
        let name = crate::imported::meter_key(&name);
        let name = ["oracle cloud infrastructure ", "oci "]
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix))
            .unwrap_or(&name);
        let part_number = self.part_number.to_lowercase();
        let Some(meter) = [part_number.as_str(), name].into_iter().find(|meter| collector.is_billed("oci", meter))
        else {
            collector.skip("no product of the catalogue bills it");
            return Ok(());
        };
        for localization in &self.currency_code_localizations {
            for price in &localization.prices {
                let is_list = matches!(price.model.as_str(), "" | "PAY_AS_YOU_GO");
                let Some(amount) = decimal(price.value).filter(|_| is_list) else {
                    collector.skip("not a price as you go");
                    continue;
                };
                let rate = ListedRate {
                    region: None,
                    currency: &localization.currency_code,
                    meter,
                    per: unit(&self.metric_name).map(str::to_owned),
                    unit: &self.metric_name,
                    from: price.range_min.and_then(decimal).unwrap_or(Decimal::ZERO),
                    amount,
                    commitment: Commitment::None,
                    replaces: false,
                };
                collector.add(PriceListForm::Oci, rate)?;
            }
        }
        Ok(())
    }
}
