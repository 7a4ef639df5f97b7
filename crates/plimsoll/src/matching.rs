//! `plimsoll match` and the end of `plimsoll measure`: products that carry the measured load.

use plimsoll_analyse::judged;
use plimsoll_choose::{Matches, Need, Resemblance, matching, resembling};
use plimsoll_ingest::ASSUMED_SPACE;
use plimsoll_language::{label, say};
use plimsoll_load::{Arrival, Pace, Region, StreamSpec};
use plimsoll_measure::{Offers, Preset};
use plimsoll_record::{Curve, Estimate, Finding, LoadLine, Objective};
use plimsoll_report::Page;
use plimsoll_report::pages::{self, Detail};
use plimsoll_units::{Bytes, Iops};

use crate::args::MatchArgs;
use crate::cli_error::CliError;
use crate::offers::read_offers;
use crate::output::Forms;
use crate::sizing;
use crate::store;

/// Maximum number of products in a list.
const MAX: usize = 12;
/// Maximum number at the end of a measurement.
const MAX_SHORT: usize = 4;
/// Maximum number of similar products.
const MAX_RESEMBLING: usize = 3;

/// The default load of measurements.
const DEFAULT_PRESET: &str = "oltp";
/// Capacity without `--capacity`: products are as large as their limits need.
const LEAST_CAPACITY: Bytes = Bytes::gib(1);
/// Addressed space without `--capacity`: more than caches of products hold; smaller products are addressed as a whole.
const DEFAULT_SPACE: Bytes = Bytes::gib(64);

/// Matches a run against the catalogue.
pub fn run(args: &MatchArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let offers = read_offers(&args.terms)?;
    args.capacity.map_or(Ok(()), sizing::check_capacity)?;
    if let (None, Some(iops), Some(objective)) = (&args.run, args.iops, args.objective)
        && !store::runs().has_curve()
    {
        return match_preset(args, &offers, &forms, (iops, objective));
    }
    let mut curve = store::runs().load_generated(args.run.as_deref())?;
    check_evidence(&curve)?;
    let capacity = args.capacity.map_or_else(|| measured_size(&curve), Ok)?;
    curve.load_line = find_load_line(args, &curve);
    if args.iops.is_some() || args.objective.is_some() {
        curve.basis = None;
    }
    let need = Need::of(&curve, capacity).ok_or_else(|| no_need(&curve))?;
    let (matches, resemblances) = found(&offers, &curve, &need, MAX)?;
    let detail = if args.all { Detail::All } else { Detail::Normal };
    let mut page = pages::matches(&need, &matches, &resemblances, detail);
    let file = store::file_of(args.run.as_deref());
    page.subject.push(plimsoll_report::words::run(&curve, file));
    if args.iops.is_some() {
        let cautions = page.headline.iter_mut().map(|headline| &mut headline.cautions);
        cautions.for_each(|cautions| cautions.insert(0, plimsoll_report::words::load_of_run(&curve, file)));
    }
    forms.write(&page, || plimsoll_report::matches_json(&need, &matches, &resemblances))
}

/// Matches a required rate without a run: operations are those of the default load of measurements.
fn match_preset(
    args: &MatchArgs,
    offers: &Offers,
    forms: &Forms,
    (iops, objective): (Iops, Objective),
) -> Result<(), CliError> {
    let preset = Preset::find(DEFAULT_PRESET)?;
    let template = preset.streams.into_iter().next().expect("a preset has a stream");
    let capacity = args.capacity.unwrap_or(LEAST_CAPACITY);
    let stream = StreamSpec {
        name: template.name,
        mix: template.mix,
        pattern: template.pattern,
        region: Region { start: 0, length: args.capacity.unwrap_or(DEFAULT_SPACE) },
        pace: Pace::Open { rate: iops, arrival: Arrival::Poisson },
    };
    let need = Need { streams: vec![stream], iops: iops.as_f64(), objective, capacity };
    let matches = matching(&offers.catalogue, &need, &offers.ranking_terms()?, MAX);
    let detail = if args.all { Detail::All } else { Detail::Normal };
    let mut page = pages::matches(&need, &matches, &[], detail);
    if let Some(headline) = &mut page.headline {
        headline.cautions.insert(0, plimsoll_report::words::load_of_preset(DEFAULT_PRESET, &need.ask()));
        headline.cautions.extend(args.capacity.is_none().then(plimsoll_report::words::without_capacity));
    }
    forms.write(&page, || plimsoll_report::matches_json(&need, &matches, &[]))
}

/// Fails for a curve whose figures do not describe the storage.
fn check_evidence(curve: &Curve) -> Result<(), CliError> {
    curve.void().map_or(Ok(()), |finding| {
        let (name, text, remedy) = (&curve.subject.name, finding.text(), finding.remedy());
        Err(CliError::usage(say!("{name}: its figures match no product: {text}; {remedy}")))
    })
}

/// The size of the measured range; fails if it is an assumption.
fn measured_size(curve: &Curve) -> Result<Bytes, CliError> {
    let assumed = |finding: &Finding| matches!(finding, Finding::Assumed { what, .. } if what == ASSUMED_SPACE);
    if curve.findings.iter().any(assumed) {
        return Err(CliError::usage(label!("these results do not state the size of the storage: add --capacity SIZE")));
    }
    Ok(curve.subject.size)
}

/// The run's load line, or the requirement given by flags.
fn find_load_line(args: &MatchArgs, curve: &Curve) -> Option<LoadLine> {
    let objective = args.objective.or_else(|| curve.load_line.map(|line| line.objective()));
    match (args.iops, args.objective) {
        (Some(iops), _) => objective.map(|objective| LoadLine::At { objective, iops: Estimate::bare(iops.as_f64()) }),
        (None, Some(objective)) => judged(curve, objective).map(|(line, _)| line),
        (None, None) => curve.load_line,
    }
}

/// Summary at the end of a measurement; `None` without a load line.
pub fn short(curve: &Curve) -> Option<Page> {
    let offers = read_offers(&crate::args::TermsArgs::default()).ok()?;
    let need = Need::of(curve, curve.subject.size)?;
    let (matches, resemblances) = found(&offers, curve, &need, MAX_SHORT).ok()?;
    Some(pages::matches_short(&need, &matches, &resemblances))
}

fn found(offers: &Offers, curve: &Curve, need: &Need, max: usize) -> Result<(Matches, Vec<Resemblance>), CliError> {
    let terms = offers.ranking_terms()?;
    let matches = matching(&offers.catalogue, need, &terms, max);
    let resemblances = resembling(&offers.catalogue, curve, curve.subject.size, &terms, MAX_RESEMBLING);
    Ok((matches, resemblances))
}

fn no_need(curve: &Curve) -> CliError {
    CliError::usage(match curve.load_line {
        None => label!("this run has no load line: use --iops and --objective, or measure for longer"),
        Some(_) => label!("no load met the objective: use --iops, or a looser --objective"),
    })
}
