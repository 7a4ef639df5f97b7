//! Likely causes of differences between measurement and theory, collected from the five classic articles on such tests.

use std::cmp::Reverse;
use std::mem::discriminant;

use plimsoll_catalogue::{Catalogue, Chosen, Offer, Peak, PriceTerms, Standing};
use plimsoll_load::Pace;
use plimsoll_record::{Curve, Finding, Weight};
use schemars::JsonSchema;
use serde::Serialize;

use super::{LoadComparison, credits};
use crate::candidate::{OptionValues, Owner, with};
use crate::need::ask_of;

/// A difference between measurement and theory with its likely cause. `report` has the sentences.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Cause {
    /// A finding that makes the figures doubtful by itself.
    Finding {
        /// The finding.
        finding: Finding,
    },
    /// The load was measured through the page cache.
    BufferedIo {
        /// The operations that memory may answer.
        operations: CachedOperations,
        /// The ceiling that the measured figure exceeds; null if it exceeds none.
        above: Option<ExceededCeiling>,
    },
    /// More was measured than a ceiling allows.
    AboveCeiling {
        /// Highest measured operations per second.
        measured_iops: f64,
        /// The ceiling.
        ceiling: String,
        /// Operations per second that the ceiling allows.
        allowed_iops: f64,
        /// The likely reason.
        reason: AboveCeiling,
        /// Seconds that full credits last at the peak; null without a peak of this height.
        burst_s: Option<f64>,
    },
    /// A configuration with another option allows the measured maximum.
    OtherOption {
        /// Highest measured operations per second.
        measured_iops: f64,
        /// The configuration.
        configuration: String,
        /// Operations per second that it allows.
        allowed_iops: f64,
    },
    /// The highest measured figure is the rate that was offered: the generator held the load, and the maximum of the
    /// storage is unknown.
    OfferedRate {
        /// Highest measured operations per second.
        measured_iops: f64,
        /// Operations per second that were offered.
        offered_iops: f64,
    },
    /// The deepest queue is too short for the ceiling.
    ShortQueue {
        /// The ceiling.
        ceiling: String,
        /// Operations per second that the ceiling allows.
        allowed_iops: f64,
        /// The deepest queue.
        depth: u32,
        /// Simulated operations per second at this depth.
        theory_iops: f64,
    },
    /// All saturated loads differ by the same factor, which is that of two units.
    Units {
        /// Measured over simulated figures.
        factor: f64,
        /// The units that have this ratio.
        units: ConfusedUnits,
    },
    /// The response time at queue depth 1 differs.
    FirstDepth {
        /// Measured mean response time in nanoseconds.
        measured_mean_ns: f64,
        /// Simulated mean response time in nanoseconds.
        theory_mean_ns: f64,
    },
    /// Burst credits are used up.
    CreditsUsedUp {
        /// Full credits in operations; null if they count bytes.
        credits: Option<f64>,
        /// Full credits in bytes; null if they count operations.
        credit_bytes: Option<f64>,
        /// Operations per second without credits.
        lasting_iops: f64,
        /// Seconds into the run at which they ended; null if they were used up before.
        ended_s: Option<f64>,
        /// Operations per second until then.
        burst_iops: Option<f64>,
        /// A load without credits.
        offered: Pace,
        /// Its simulated operations per second.
        theory_iops: f64,
        /// Its simulated mean response time in nanoseconds.
        theory_mean_ns: f64,
    },
    /// Burst credits ended within the measured time of a run.
    CreditsEnded,
}

/// The likely reason for figures above a ceiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AboveCeiling {
    /// Burst credits.
    Burst,
    /// Another configuration, or a cache in between.
    OtherLayer,
}

/// Operations of a load that a page cache may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CachedOperations {
    /// Reads only.
    Reads,
    /// Writes only.
    Writes,
    /// Reads and writes.
    All,
}

/// A ceiling below a measured figure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExceededCeiling {
    /// Highest measured operations per second.
    pub measured_iops: f64,
    /// The ceiling.
    pub ceiling: String,
    /// Operations per second that the ceiling allows.
    pub allowed_iops: f64,
}

/// Units that are easily confused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConfusedUnits {
    /// kB and KiB.
    Kilo,
    /// MB and MiB, or kB and KiB twice.
    Mega,
    /// GB and GiB.
    Giga,
}

/// Relative difference below which figures are equal.
pub(super) const SAME: f64 = 0.04;
/// Ratios caused by confused units.
const UNITS: [(f64, ConfusedUnits); 3] =
    [(1.024, ConfusedUnits::Kilo), (1.048_576, ConfusedUnits::Mega), (1.073_741_824, ConfusedUnits::Giga)];

pub(super) fn find_causes(
    catalogue: &Catalogue,
    curve: &Curve,
    offer: &Offer,
    terms: &PriceTerms,
    standing: &Standing,
    rows: &[LoadComparison],
) -> Vec<Cause> {
    let mut causes = findings(curve);
    let cap = standing.binding().map(|bound| (bound.iops, offer.ceilings[bound.ceiling].name.to_string()));
    let max = rows.iter().map(|row| row.iops.0).fold(0.0, f64::max);
    let above = cap.as_ref().filter(|(cap, _)| max > cap * (1.0 + SAME) && peak_of(max, standing).is_none());
    if !curve.conditions.direct && !is_cache_found(curve) {
        let above =
            above.map(|(cap, name)| ExceededCeiling { measured_iops: max, ceiling: name.clone(), allowed_iops: *cap });
        causes.push(Cause::BufferedIo { operations: find_cached_operations(curve), above });
    }
    let last = rows.iter().rev().find(|row| !row.credits.used_up.is_empty());
    causes.extend(
        last.and_then(|row| credits::cause(&row.credits, offer, standing, (row.offered, row.iops.1, row.mean_ns.1))),
    );
    causes.extend(credits::mixed(rows));
    let units = find_unit_error(rows);
    let is_below = cap.as_ref().is_none_or(|(cap, _)| max < cap * (1.0 - SAME));
    let offered = find_offered_rate(rows, max).filter(|_| is_below);
    causes.extend(offered.map(|offered_iops| Cause::OfferedRate { measured_iops: max, offered_iops }));
    if let Some((cap, name)) = &cap {
        // Runs without credits may have had some at their begin.
        let fastest_with_credits =
            rows.iter().filter(|row| row.credits.used_up.is_empty()).map(|row| row.iops.0).fold(0.0, f64::max);
        causes.extend(above_the_cap(fastest_with_credits, *cap, name, standing, curve));
        // Some size matches any figure: a burst or units are the better explanation.
        let explained = units.is_some() || peak_of(max, standing).is_some();
        let options = offer.options.iter().filter(|chosen| !explained || &*chosen.name != "size");
        let is_maximum = offered.is_none() && differ(max, *cap);
        causes.extend(another_value(catalogue, curve, offer, terms, options, max).filter(|_| is_maximum));
        causes.extend(not_reached(rows, *cap, name));
    }
    causes.extend(units);
    causes.extend(first_depth(rows));
    causes
}

/// Findings that make the figures doubtful by themselves, gravest first, each kind once.
fn findings(curve: &Curve) -> Vec<Cause> {
    let weighs = |finding: &&Finding| {
        finding.weight() == Weight::Void
            || matches!(
                finding,
                Finding::BufferedEngine { .. }
                    | Finding::TooShort { .. }
                    | Finding::DeviceIdle { .. }
                    | Finding::RateAboveDepth { .. }
                    | Finding::Paused { .. }
                    | Finding::CutShort { .. }
                    | Finding::Errors { .. }
            )
    };
    let all = curve.findings.iter().chain(curve.runs.iter().flat_map(|run| &run.findings));
    let mut found: Vec<&Finding> = Vec::new();
    for finding in all.filter(weighs) {
        if !found.iter().any(|other| discriminant(*other) == discriminant(finding)) {
            found.push(finding);
        }
    }
    found.sort_by_key(|finding| Reverse(finding.weight()));
    found.into_iter().map(|finding| Cause::Finding { finding: finding.clone() }).collect()
}

/// True if a finding states that the page cache answered.
fn is_cache_found(curve: &Curve) -> bool {
    let all = curve.findings.iter().chain(curve.runs.iter().flat_map(|run| &run.findings));
    let is_cache = |finding: &Finding| match finding {
        Finding::PageCacheAnswered { .. } => true,
        Finding::WritesInMemory { .. } => finding.weight() == Weight::Void,
        _ => false,
    };
    all.into_iter().any(is_cache)
}

fn find_cached_operations(curve: &Curve) -> CachedOperations {
    let mut shares = curve.conditions.streams.iter().map(|stream| stream.mix.reads);
    if shares.clone().all(|reads| reads >= 1.0) {
        CachedOperations::Reads
    } else if shares.all(|reads| reads <= 0.0) {
        CachedOperations::Writes
    } else {
        CachedOperations::All
    }
}

fn above_the_cap(max: f64, cap: f64, name: &str, standing: &Standing, curve: &Curve) -> Option<Cause> {
    if max <= cap * (1.0 + SAME) {
        return None;
    }
    let burst_s = peak_of(max, standing).map(|peak| peak.seconds);
    let reason = match burst_s {
        Some(_) => AboveCeiling::Burst,
        None if curve.conditions.direct => AboveCeiling::OtherLayer,
        // The cause of buffered I/O states it.
        None => return None,
    };
    Some(Cause::AboveCeiling { measured_iops: max, ceiling: name.to_owned(), allowed_iops: cap, reason, burst_s })
}

/// The burst that explains the measured figure.
fn peak_of(max: f64, standing: &Standing) -> Option<Peak> {
    let above = standing.binding().is_some_and(|bound| max > bound.iops * (1.0 + SAME));
    standing.peak.filter(|peak| above && max <= peak.bound.iops * (1.0 + SAME))
}

/// The offered rate, if it determines the highest figure: only open loads that were completed in full reached it.
fn find_offered_rate(rows: &[LoadComparison], max: f64) -> Option<f64> {
    let carried = |row: &LoadComparison| match row.offered {
        Pace::Open { rate, .. } => {
            let rate = rate.as_f64();
            (!row.overloaded.0 && row.iops.0 >= rate * (1.0 - SAME)).then_some(rate)
        }
        Pace::Closed { .. } => None,
    };
    // A load that was not completed, or a closed load as fast, shows the maximum.
    let is_unlimited = rows.iter().all(|row| match row.offered {
        Pace::Open { .. } => carried(row).is_some(),
        Pace::Closed { .. } => row.iops.0 < max * (1.0 - SAME),
    });
    rows.iter().filter(|_| is_unlimited).filter_map(carried).max_by(f64::total_cmp)
}

fn differ(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() >= SAME
}

/// Another value of an option owner cap matches the measured figure best.
fn another_value<'a>(
    catalogue: &Catalogue,
    curve: &Curve,
    offer: &Offer,
    terms: &PriceTerms,
    options: impl Iterator<Item = &'a Chosen>,
    max: f64,
) -> Option<Cause> {
    let ask = ask_of(&curve.conditions.streams[0]);
    // A wrong level is more likely than a wrong size.
    let is_size = |chosen: &&Chosen| &*chosen.name == "size";
    let (sizes, others): (Vec<&Chosen>, Vec<&Chosen>) = options.partition(is_size);
    for chosen in others.into_iter().chain(sizes).filter(|chosen| chosen.low.is_some()) {
        let values = OptionValues::all(chosen);
        let cap_at = |n: u64| {
            let config = with(&offer.config, Owner::Volume, &chosen.name, &values.value(n));
            let offer = catalogue.offer(&config, terms).ok()?;
            let iops = offer.standing(&ask).binding()?.iops;
            Some((iops, offer))
        };
        // The first value owner cap reaches the measured figure; invalid configurations count as above it.
        let (mut first, mut last) = (1, values.count());
        while first < last {
            let middle = first + (last - first) / 2;
            match cap_at(middle) {
                Some((iops, _)) if iops < max => first = middle + 1,
                _ => last = middle,
            }
        }
        let around = (first.saturating_sub(1).max(1)..=last).filter_map(cap_at);
        let nearest = around.min_by(|a, b| (a.0 - max).abs().total_cmp(&(b.0 - max).abs()));
        if let Some((iops, offer)) = nearest.filter(|(iops, _)| !differ(*iops, max)) {
            let configuration = offer.short().to_string();
            return Some(Cause::OtherOption { measured_iops: max, configuration, allowed_iops: iops });
        }
    }
    None
}

fn not_reached(rows: &[LoadComparison], cap: f64, name: &str) -> Option<Cause> {
    let deepest = rows.iter().rev().find(|row| matches!(row.offered, Pace::Closed { .. }))?;
    let Pace::Closed { depth } = deepest.offered else { return None };
    // The missing share may go to the load's other streams.
    if deepest.binds.as_deref() == Some(name) {
        return None;
    }
    (deepest.iops.1 < cap * (1.0 - SAME)).then(|| Cause::ShortQueue {
        ceiling: name.to_owned(),
        allowed_iops: cap,
        depth,
        theory_iops: deepest.iops.1,
    })
}

/// A common factor at all saturated loads that matches confused units.
fn find_unit_error(rows: &[LoadComparison]) -> Option<Cause> {
    let saturated: Vec<f64> =
        rows.iter().filter(|row| row.mean_ns.1 > 2.0 * rows[0].mean_ns.1).map(LoadComparison::ratio).collect();
    let mean = saturated.iter().sum::<f64>() / saturated.len() as f64;
    let steady = saturated.len() >= 2 && saturated.iter().all(|ratio| (ratio / mean - 1.0).abs() < 0.005);
    let fits = |factor: f64| (mean / factor - 1.0).abs() < 0.004 || (mean * factor - 1.0).abs() < 0.004;
    let (_, units) = UNITS.into_iter().find(|(factor, _)| steady && fits(*factor))?;
    Some(Cause::Units { factor: mean, units })
}

fn first_depth(rows: &[LoadComparison]) -> Option<Cause> {
    let first = rows.iter().find(|row| row.offered == Pace::Closed { depth: 1 })?;
    let (measured_mean_ns, theory_mean_ns) = first.mean_ns;
    let is_same = (measured_mean_ns / theory_mean_ns - 1.0).abs() < 0.15;
    (!is_same).then_some(Cause::FirstDepth { measured_mean_ns, theory_mean_ns })
}
