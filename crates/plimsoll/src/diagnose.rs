//! `plimsoll diagnose`: share of storage in the database's time, other causes, and remedies.

use plimsoll_choose::diagnosis::{DiagnoseOptions, Diagnosis, diagnose};
use plimsoll_ingest::{Demand, Outcome};
use plimsoll_measure::{list_readings, sizing::check_load};

use crate::args::DiagnoseArgs;
use crate::cli_error::CliError;
use crate::offers::read_offers;
use crate::output::Forms;

/// Diagnoses each database or host of the inputs.
pub fn run(args: &DiagnoseArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    // Checks the configuration before reading long inputs.
    let offer =
        args.on.as_ref().map(|config| Ok::<_, CliError>(read_offers(&args.terms)?.offer(config)?)).transpose()?;
    let outcomes = args.input.files().read()?;
    let readings: Vec<_> = outcomes.iter().filter_map(Outcome::reading).collect();
    let options = DiagnoseOptions { on: offer.as_ref(), misses: None };
    let demand = Demand::of(&readings);
    let found: Vec<Diagnosis> = demand.subjects.iter().map(|subject| diagnose(subject, &options)).collect();
    let page = plimsoll_report::pages::diagnoses(&outcomes, &demand, &found);
    forms.write(&page, || plimsoll_report::diagnoses_json(&outcomes, &found))?;
    list_readings(&outcomes)?;
    Ok(check_load(&demand)?)
}
