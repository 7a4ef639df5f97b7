//! `plimsoll demand`: what reports of databases and hosts ask of storage.

use plimsoll_ingest::{Demand, Outcome};
use plimsoll_report::pages::{self, Telling};

use crate::args::DemandArgs;
use crate::inputs;
use crate::output::Forms;
use crate::trouble::Trouble;

/// Reads the inputs and shows their demand.
pub fn run(args: &DemandArgs) -> Result<(), Trouble> {
    let forms = Forms::new(&args.forms)?;
    let outcomes = inputs::outcomes(&args.input)?;
    let read: Vec<_> = outcomes.iter().filter_map(Outcome::reading).collect();
    let demand = Demand::of(&read);
    let telling = if args.origins { Telling::Origins } else { Telling::Figures };
    let page = pages::demand(&outcomes, &demand, telling);
    forms.write(&page, || plimsoll_report::demand_json(&outcomes, &demand))?;
    inputs::readings(&outcomes).map(|_| ())
}
