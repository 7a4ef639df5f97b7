//! `plimsoll diagnose`: whether storage is the problem, what else is, and what would help.

use plimsoll_choose::diagnosis::{Diagnosis, Question, diagnose};
use plimsoll_ingest::{Demand, Outcome};

use crate::args::DiagnoseArgs;
use crate::inputs;
use crate::offers::Offers;
use crate::output::Forms;
use crate::trouble::Trouble;

/// Reads the inputs and diagnoses each database or host of them.
pub fn run(args: &DiagnoseArgs) -> Result<(), Trouble> {
    let forms = Forms::new(&args.forms)?;
    // What is wrong with the configuration is said before long inputs are read.
    let offer = args.on.as_ref().map(|config| Offers::new(&args.terms)?.offer(config)).transpose()?;
    let outcomes = inputs::outcomes(&args.input)?;
    let read: Vec<_> = outcomes.iter().filter_map(Outcome::reading).collect();
    let question = Question { on: offer.as_ref(), misses: None };
    let demand = Demand::of(&read);
    let found: Vec<Diagnosis> = demand.subjects.iter().map(|subject| diagnose(subject, &question)).collect();
    let page = plimsoll_report::pages::diagnoses(&outcomes, &demand, &found);
    forms.write(&page, || plimsoll_report::diagnoses_json(&outcomes, &found))?;
    inputs::readings(&outcomes)?;
    if found.is_empty() {
        return Err(Trouble::usage(
            "the inputs say nothing of what is asked of storage: give reports of a database or host",
        ));
    }
    Ok(())
}
