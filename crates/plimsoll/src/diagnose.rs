//! `plimsoll diagnose`: whether storage is the problem, what else is, and what would help.

use plimsoll_choose::diagnosis::{Diagnosis, Question, diagnose};
use plimsoll_ingest::{Demand, Outcome};

use crate::args::DiagnoseArgs;
use crate::inputs;
use crate::offers::Offers;
use crate::output::{Outputs, put};
use crate::store;
use crate::trouble::Trouble;

/// Reads the inputs and diagnoses each database or host of them.
pub fn run(args: &DiagnoseArgs) -> Result<(), Trouble> {
    let outputs = Outputs::plain(args.shown.no_color);
    // What is wrong with the configuration is said before long inputs are read.
    let offer = args.on.as_ref().map(|config| Offers::new(&args.terms)?.offer(config)).transpose()?;
    let written = args.html.as_ref();
    written.filter(|path| path.as_os_str() != "-").map(|path| store::check_writable(path)).transpose()?;
    let outcomes = inputs::outcomes(&args.input)?;
    let read: Vec<_> = outcomes.iter().filter_map(Outcome::reading).collect();
    let question = Question { on: offer.as_ref(), misses: None };
    let demand = Demand::of(&read);
    let found: Vec<Diagnosis> = demand.subjects.iter().map(|subject| diagnose(subject, &question)).collect();
    if let Some(path) = written {
        put(path, plimsoll_report::diagnoses_html(&outcomes, &demand, &found).as_bytes())?;
    }
    if let Some(path) = &args.shown.json {
        put(path, &plimsoll_report::diagnoses_json(&outcomes, &found))?;
    } else if written.is_none_or(|path| path.as_os_str() != "-") {
        outputs.print(&plimsoll_report::diagnoses(&outcomes, &found, outputs.style()))?;
    }
    inputs::readings(&outcomes)?;
    if found.is_empty() {
        return Err(Trouble::usage(
            "the inputs say nothing of what is asked of storage: give reports of a database or host",
        ));
    }
    Ok(())
}
