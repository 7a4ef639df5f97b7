//! `plimsoll catalogue`: which products are known, what is known of one, and whether a product file can be read.

use std::path::Path;

use plimsoll_report::{pages, product_json, products_json};

use crate::args::{CatalogueArgs, CatalogueCommand};
use crate::offers::{self, Offers};
use crate::output::{Forms, print};
use crate::trouble::Trouble;

/// Lists, shows or checks products.
pub fn run(args: &CatalogueArgs) -> Result<(), Trouble> {
    let forms = Forms::new(&args.forms)?;
    match &args.command {
        None | Some(CatalogueCommand::List) => {
            let catalogue = Offers::new(&args.terms)?.catalogue;
            forms.write(&pages::products(&catalogue), || products_json(&catalogue))
        }
        Some(CatalogueCommand::Show { product }) => {
            let mut offers = Offers::new(&args.terms)?;
            // A path names a product, too.
            offers.config(product)?;
            let found = offers.catalogue.find(product).map_err(|unknown| Trouble::usage(unknown.to_string()))?;
            forms.write(&pages::product(found), || product_json(found))
        }
        Some(CatalogueCommand::Check { files }) => files.iter().try_for_each(|path| check(path)),
    }
}

fn check(path: &Path) -> Result<(), Trouble> {
    let complaints = offers::check(path)?;
    if complaints.is_empty() {
        return print(format!("{}: in order\n", path.display()).as_bytes());
    }
    let lines: Vec<String> = complaints.iter().map(ToString::to_string).collect();
    Err(Trouble::usage(lines.join("\nplimsoll: ")))
}
