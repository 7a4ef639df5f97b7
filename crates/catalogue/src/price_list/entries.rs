//! Entries of Azure, OCI and GCP, told apart by their fields.

use serde::Deserialize;
use serde_json::Value;

use super::azure::AzureItem;
use super::gcp::GcpSku;
use super::oci::OciProduct;
use super::{Collector, PriceListError, PriceListForm};

/// An entry, or a page of entries.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Azure(Box<AzureItem>),
    Oci(Box<OciProduct>),
    Gcp(Box<GcpSku>),
    Page {
        #[serde(alias = "Items", alias = "skus")]
        items: Vec<Value>,
    },
}

/// Takes the rates of an entry or a page.
pub(super) fn add(value: Value, collector: &mut Collector<'_>) -> Result<(), PriceListError> {
    let Ok(entry) = serde_json::from_value::<Entry>(value) else {
        collector.skip("it is not understood");
        return Ok(());
    };
    let form = &mut collector.found.form;
    match entry {
        Entry::Azure(item) => {
            form.get_or_insert(PriceListForm::Azure);
            item.add(collector)
        }
        Entry::Oci(product) => {
            form.get_or_insert(PriceListForm::Oci);
            product.add(collector)
        }
        Entry::Gcp(sku) => {
            form.get_or_insert(PriceListForm::Gcp);
            sku.add(collector)
        }
        Entry::Page { items } => items.into_iter().try_for_each(|item| add(item, collector)),
    }
}
