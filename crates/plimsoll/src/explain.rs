//! `plimsoll explain`: comparison of a run with the theoretical figures of a configuration.

use plimsoll_language::say;

use crate::args::ExplainArgs;
use crate::cli_error::CliError;
use crate::offers::read_offers;
use crate::output::Forms;
use crate::store;

/// Compares a run with a configuration.
pub fn run(args: &ExplainArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let mut offers = read_offers(&args.terms)?;
    let curve = store::runs().load_generated(Some(&args.run))?;
    let offer = offers.offer(&args.config)?;
    offer.model().map_err(|why| CliError::usage(format!("{}: {why}", args.config)))?;
    let explanation = plimsoll_choose::explain(&offers.catalogue, &curve, &offer, &offers.terms);
    let explanation = explanation
        .ok_or_else(|| CliError::usage(say!("{}: too small for the run's load: use a larger size", args.config)))?;
    let mut page = plimsoll_report::pages::explanation(&explanation);
    page.subject.push(plimsoll_report::words::run(&curve, store::file_of(Some(&args.run))));
    forms.write(&page, || plimsoll_report::explanation_json(&explanation))
}
