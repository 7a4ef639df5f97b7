//! `plimsoll catalogue`: which products are known, what is known of one, and whether a product file can be read.

use std::path::Path;

use crate::args::{CatalogueArgs, CatalogueCommand};
use crate::offers::{self, Offers};
use crate::output::Outputs;
use crate::trouble::Trouble;

/// Lists, shows or checks products.
pub fn run(args: &CatalogueArgs) -> Result<(), Trouble> {
    let outputs = Outputs::plain(args.no_color);
    match &args.command {
        None | Some(CatalogueCommand::List) => {
            let offers = Offers::new(&args.terms)?;
            outputs.print(&plimsoll_report::product_list(&offers.catalogue, outputs.style()))
        }
        Some(CatalogueCommand::Show { product }) => {
            let mut offers = Offers::new(&args.terms)?;
            // A path names a product, too.
            offers.config(product)?;
            let found = offers.catalogue.find(product).map_err(|unknown| Trouble::usage(unknown.to_string()))?;
            outputs.print(&plimsoll_report::product_page(found, outputs.style()))
        }
        Some(CatalogueCommand::Check { files }) => files.iter().try_for_each(|path| check(path, &outputs)),
    }
}

fn check(path: &Path, outputs: &Outputs) -> Result<(), Trouble> {
    let complaints = offers::check(path)?;
    if complaints.is_empty() {
        return outputs.print(&format!("{}: in order\n", path.display()));
    }
    let lines: Vec<String> = complaints.iter().map(ToString::to_string).collect();
    Err(Trouble::usage(lines.join("\nplimsoll: ")))
}
