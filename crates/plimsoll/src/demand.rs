//! `plimsoll demand`: what reports of databases and hosts ask of storage.

use plimsoll_ingest::{Demand, Outcome};
use plimsoll_report::Telling;

use crate::args::DemandArgs;
use crate::inputs;
use crate::output::{Outputs, put};
use crate::trouble::Trouble;

/// Reads the inputs and shows their demand.
pub fn run(args: &DemandArgs) -> Result<(), Trouble> {
    let outputs = Outputs::plain(args.shown.no_color);
    let outcomes = inputs::outcomes(&args.input)?;
    let read: Vec<_> = outcomes.iter().filter_map(Outcome::reading).collect();
    let demand = Demand::of(&read);
    if let Some(path) = &args.shown.json {
        put(path, &plimsoll_report::demand_json(&outcomes, &demand))?;
    } else {
        let telling = if args.origins { Telling::Origins } else { Telling::Figures };
        outputs.print(&plimsoll_report::demand(&outcomes, &demand, telling, outputs.style()))?;
    }
    inputs::readings(&outcomes).map(|_| ())
}
