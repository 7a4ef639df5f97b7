//! `plimsoll demand`: storage demand from reports of databases and hosts.

use plimsoll_ingest::{Demand, Outcome};
use plimsoll_measure::list_readings;
use plimsoll_report::pages::{self, DemandDetail};

use crate::args::DemandArgs;
use crate::cli_error::CliError;
use crate::output::Forms;

/// Reads the inputs and shows their demand.
pub fn run(args: &DemandArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let outcomes = args.input.files().read()?;
    let read: Vec<_> = outcomes.iter().filter_map(Outcome::reading).collect();
    let demand = Demand::of(&read);
    let detail = if args.origins { DemandDetail::Origins } else { DemandDetail::Figures };
    let page = pages::demand(&outcomes, &demand, detail);
    forms.write(&page, || plimsoll_report::demand_json(&outcomes, &demand))?;
    list_readings(&outcomes)?;
    Ok(())
}
