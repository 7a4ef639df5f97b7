//! `plimsoll demand`: storage demand from reports of databases and hosts.

use plimsoll_ingest::{Demand, Outcome, Reading};
use plimsoll_measure::{list_readings, sizing::check_load};
use plimsoll_report::pages::{self, DemandDetail};

use crate::args::DemandArgs;
use crate::cli_error::CliError;
use crate::output::Forms;

/// Reads the inputs and shows their demand.
pub fn run(args: &DemandArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let outcomes = args.input.files().read()?;
    let readings: Vec<_> = outcomes.iter().filter_map(Outcome::reading).collect();
    let demand = Demand::of(&readings);
    let detail = if args.origins { DemandDetail::Origins } else { DemandDetail::Figures };
    let page = pages::demand(&outcomes, &demand, detail);
    forms.write(&page, || plimsoll_report::demand_json(&outcomes, &demand))?;
    // Inputs of benchmarks have results or miss curves in place of a load.
    let is_other = |input: &&Reading| !input.evidence.is_empty() || !input.curves.is_empty();
    if list_readings(&outcomes)?.iter().any(is_other) { Ok(()) } else { Ok(check_load(&demand)?) }
}
