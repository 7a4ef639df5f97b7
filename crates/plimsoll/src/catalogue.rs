//! `plimsoll catalogue`: lists and shows products, and checks product files.

use std::path::PathBuf;

use plimsoll_catalogue::Complaint;
use plimsoll_measure::check_product_file;
use plimsoll_report::{checked_products_json, pages, product_json, products_json};

use crate::args::{CatalogueArgs, CatalogueCommand};
use crate::cli_error::CliError;
use crate::offers::read_offers;
use crate::output::Forms;

/// Lists, shows or checks products.
pub fn run(args: &CatalogueArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    match &args.command {
        None | Some(CatalogueCommand::List) => {
            let catalogue = read_offers(&args.terms)?.catalogue;
            forms.write(&pages::build_products_page(&catalogue), || products_json(&catalogue))
        }
        Some(CatalogueCommand::Show { product }) => {
            let mut offers = read_offers(&args.terms)?;
            // A path also names a product.
            offers.config(product)?;
            let found = offers.catalogue.find(product).map_err(|unknown| CliError::usage(unknown.to_string()))?;
            forms.write(&pages::product(found), || product_json(found))
        }
        Some(CatalogueCommand::Check { files }) => check(files, forms),
    }
}

/// Checks product files. Defects are the error message; other forms have them, too.
fn check(paths: &[PathBuf], forms: Forms) -> Result<(), CliError> {
    let checked = |path: &PathBuf| Ok((path.display().to_string(), check_product_file(path)?));
    let files: Vec<(String, Vec<Complaint>)> = paths.iter().map(checked).collect::<Result<_, CliError>>()?;
    let lines: Vec<String> = files.iter().flat_map(|(_, defects)| defects).map(ToString::to_string).collect();
    let forms = if lines.is_empty() { forms } else { forms.without_text() };
    forms.write(&pages::checked_products(&files), || checked_products_json(&files))?;
    if lines.is_empty() { Ok(()) } else { Err(CliError::Failed(anyhow::anyhow!(lines.join("\nplimsoll: ")))) }
}
