//! `plimsoll catalogue`: lists and shows products, and checks product files.

use std::path::Path;

use plimsoll_report::{pages, product_json, products_json};

use crate::args::{CatalogueArgs, CatalogueCommand};
use crate::cli_error::CliError;
use crate::offers::{self, Offers};
use crate::output::{Forms, print};

/// Lists, shows or checks products.
pub fn run(args: &CatalogueArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    match &args.command {
        None | Some(CatalogueCommand::List) => {
            let catalogue = Offers::new(&args.terms)?.catalogue;
            forms.write(&pages::products(&catalogue), || products_json(&catalogue))
        }
        Some(CatalogueCommand::Show { product }) => {
            let mut offers = Offers::new(&args.terms)?;
            // A path also names a product.
            offers.config(product)?;
            let found = offers.catalogue.find(product).map_err(|unknown| CliError::usage(unknown.to_string()))?;
            forms.write(&pages::product(found), || product_json(found))
        }
        Some(CatalogueCommand::Check { files }) => files.iter().try_for_each(|path| check(path)),
    }
}

fn check(path: &Path) -> Result<(), CliError> {
    let complaints = offers::check(path)?;
    if complaints.is_empty() {
        return print(format!("{}: valid\n", path.display()).as_bytes());
    }
    let lines: Vec<String> = complaints.iter().map(ToString::to_string).collect();
    Err(CliError::usage(lines.join("\nplimsoll: ")))
}
