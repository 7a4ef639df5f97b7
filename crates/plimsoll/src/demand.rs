//! `plimsoll demand`: storage demand from reports of databases and hosts.

use plimsoll_ingest::{Demand, Outcome};
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
    let has_other =
        list_readings(&outcomes)?.iter().any(|reading| !reading.evidence.is_empty() || !reading.curves.is_empty());
    if has_other { Ok(()) } else { Ok(check_load(&demand)?) }
}
