//! `plimsoll match` and the end of `plimsoll measure`: products that carry the measured load.

use plimsoll_choose::{Matches, Need, Resemblance, matching, resembling};
use plimsoll_measure::{NeedRequest, Offers, sizing};
use plimsoll_record::Curve;
use plimsoll_report::Page;
use plimsoll_report::pages::{self, Detail};

use crate::args::MatchArgs;
use crate::cli_error::CliError;
use crate::offers::read_offers;
use crate::output::Forms;
use crate::store;

/// Maximum number of products in a list.
const MAX_PRODUCTS: usize = 12;
/// Maximum number at the end of a measurement.
const MAX_SHORT: usize = 4;
/// Maximum number of similar products.
const MAX_SIMILAR: usize = 3;

/// Matches a run, or a required rate without a run, against the catalogue.
pub fn run(args: &MatchArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let offers = read_offers(&args.terms)?;
    args.capacity.map_or(Ok(()), sizing::check_capacity)?;
    let detail = if args.all { Detail::All } else { Detail::Normal };
    let request = NeedRequest { capacity: args.capacity, iops: args.iops, objective: args.objective };
    if args.run.is_none()
        && !store::runs().has_curve()
        && let Some((need, preset)) = request.of_preset()?
    {
        let matches = matching(&offers.catalogue, &need, &offers.ranking_terms()?, MAX_PRODUCTS);
        let mut page = pages::matches(&need, &matches, &[], detail);
        if let Some(headline) = &mut page.headline {
            headline.cautions.insert(0, plimsoll_report::words::load_of_preset(preset, &need.ask()));
            headline.cautions.extend(args.capacity.is_none().then(plimsoll_report::words::without_capacity));
        }
        return forms.write(&page, || plimsoll_report::matches_json(&need, &matches, &[]));
    }
    let mut curve = store::runs().load_generated(args.run.as_deref())?;
    let need = request.of_run(&mut curve)?;
    let (matches, resemblances) = find(&offers, &curve, &need, MAX_PRODUCTS)?;
    let mut page = pages::matches(&need, &matches, &resemblances, detail);
    let file = store::file_of(args.run.as_deref());
    page.subject.push(plimsoll_report::words::run(&curve, file));
    let caution = match args.iops {
        Some(_) => Some(plimsoll_report::words::load_of_run(&curve, file)),
        None => plimsoll_report::words::line_at_limit(&curve),
    };
    if let Some(headline) = &mut page.headline {
        headline.cautions.splice(0..0, caution);
    }
    forms.write(&page, || plimsoll_report::matches_json(&need, &matches, &resemblances))
}

/// Summary at the end of a measurement; `None` without a load line.
pub fn summarise(curve: &Curve) -> Option<Page> {
    let offers = read_offers(&crate::args::TermsArgs::default()).ok()?;
    let need = Need::of(curve, curve.subject.size)?;
    let (matches, resemblances) = find(&offers, curve, &need, MAX_SHORT).ok()?;
    Some(pages::matches_short(&need, &matches, &resemblances))
}

fn find(offers: &Offers, curve: &Curve, need: &Need, max: usize) -> Result<(Matches, Vec<Resemblance>), CliError> {
    let terms = offers.ranking_terms()?;
    let matches = matching(&offers.catalogue, need, &terms, max);
    let resemblances = resembling(&offers.catalogue, curve, curve.subject.size, &terms, MAX_SIMILAR);
    Ok((matches, resemblances))
}
