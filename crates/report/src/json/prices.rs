//! What has prices, from where and when; the result of an import.

use std::collections::BTreeMap;

use plimsoll_catalogue::{Catalogue, PriceChange, PriceCoverage, PriceListImport};

use super::each;

view! {
    /// Regions, currencies and dates of all prices.
    struct PricesResult from (catalogue, imports, folder): (&Catalogue, &[(String, PriceListImport)], &str) {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.prices/1"))]
        format: &'static str = "plimsoll.prices/1",
        /// Directory of imported prices.
        directory: String = folder.to_owned(),
        /// Files that this command imported.
        imports: Vec<PriceListImported> = each(imports),
        /// Prices by vendor, region and currency; imported ones first.
        lists: Vec<PriceCoverage> = catalogue.price_coverage(),
        /// Imported prices that differ from those of the product files in the same region and currency.
        changes: Vec<PriceChange> = catalogue.price_changes(),
    }

    /// An imported file.
    struct PriceListImported from (name, import): &(String, PriceListImport) {
        /// Name of the file.
        file: String = name.clone(),
        /// Its format.
        list: Option<&'static str> = import.form.map(plimsoll_catalogue::PriceListForm::title),
        /// Rates of products in the catalogue.
        used: u64 = import.used,
        /// Number of entries that were left out, by reason.
        left_out: BTreeMap<String, u64> = import.skipped.clone(),
    }
}
