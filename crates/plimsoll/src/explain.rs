//! `plimsoll explain`: a run beside what a configuration would have given, line by line.

use crate::args::ExplainArgs;
use crate::offers::Offers;
use crate::output::Forms;
use crate::store;
use crate::trouble::Trouble;

/// Explains a run by a configuration.
pub fn run(args: &ExplainArgs) -> Result<(), Trouble> {
    let forms = Forms::new(&args.forms)?;
    let mut offers = Offers::new(&args.terms)?;
    let curve = store::load_generated(Some(&args.run))?;
    let offer = offers.offer(&args.config)?;
    offer.model().map_err(|why| Trouble::usage(format!("{}: {why}", args.config)))?;
    let explanation = plimsoll_choose::explain(&offers.catalogue, &curve, &offer, &offers.terms);
    let explanation = explanation.ok_or_else(|| {
        Trouble::usage(format!("{}: the run's load does not fit on it: give a larger size", args.config))
    })?;
    let mut page = plimsoll_report::pages::explanation(&explanation);
    page.subject.push(plimsoll_report::words::run(&curve));
    forms.write(&page, || plimsoll_report::explanation_json(&explanation))
}
