//! `plimsoll explain`: a run beside what a configuration would have given, line by line.

use crate::args::ExplainArgs;
use crate::offers::Offers;
use crate::output::{Outputs, put};
use crate::store;
use crate::trouble::Trouble;

/// Explains a run by a configuration.
pub fn run(args: &ExplainArgs) -> Result<(), Trouble> {
    let outputs = Outputs::plain(args.shown.no_color);
    let mut offers = Offers::new(&args.terms)?;
    let curve = store::load_generated(Some(&args.run))?;
    let offer = offers.offer(&args.config)?;
    offer.model().map_err(|why| Trouble::usage(format!("{}: {why}", args.config)))?;
    let explanation = plimsoll_choose::explain(&offers.catalogue, &curve, &offer, &offers.terms);
    let explanation = explanation.ok_or_else(|| {
        Trouble::usage(format!("{}: the run's load does not fit on it: give a larger size", args.config))
    })?;
    if let Some(path) = &args.shown.json {
        return put(path, &plimsoll_report::explanation_json(&explanation));
    }
    outputs.print(&format!("{}\n\n", plimsoll_report::words::run(&curve)))?;
    outputs.print(&plimsoll_report::explanation(&explanation, outputs.style()))
}
