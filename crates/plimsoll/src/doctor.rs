//! `plimsoll doctor`: fitness of this host for measurements and emulated volumes.

use plimsoll_record::{DatabaseAbout, HostCheck};

use crate::args::DoctorArgs;
use crate::cli_error::CliError;
use crate::database;
use crate::output::Forms;

/// Checks the host. Exit code 1 if a necessary check failed or could not be made.
pub fn run(args: &DoctorArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let about = |url: &String| Ok(database::connect_to(url)?.1.about().clone());
    let databases: Vec<DatabaseAbout> = args.database.iter().map(about).collect::<Result<_, CliError>>()?;
    let checks = plimsoll_measure::examine_host(&args.path, &databases);
    let path = args.path.display().to_string();
    forms.write(&plimsoll_report::pages::doctor(&path, &checks), || plimsoll_report::doctor_json(&path, &checks))?;
    // The page has the reason.
    if checks.iter().any(HostCheck::is_blocking) { Err(CliError::Ended(1)) } else { Ok(()) }
}
