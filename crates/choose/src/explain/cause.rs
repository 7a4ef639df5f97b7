//! Likely causes of differences between measurement and theory, collected from the five classic articles on such tests.

use std::cmp::Reverse;
use std::mem::discriminant;

use plimsoll_catalogue::{Catalogue, Chosen, Offer, Peak, PriceTerms, Standing};
use plimsoll_load::Pace;
use plimsoll_record::{Curve, Finding, Weight};

use super::{LoadComparison, credits};
use crate::candidate::{OptionValues, Owner, with};
use crate::need::ask_of;

/// A likely cause of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The difference.
    pub difference: String,
    /// The likely cause.
    pub cause: String,
}

/// Relative difference below which figures are equal.
pub(super) const SAME: f64 = 0.04;
/// Ratios caused by confused units.
const UNITS: [(f64, &str); 3] =
    [(1.024, "kB and KiB"), (1.048_576, "MB and MiB (or KiB twice)"), (1.073_741_824, "GB and GiB")];

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
    if !curve.conditions.direct {
        causes.push(Cause {
            difference: "it was measured through the page cache".into(),
            cause: "memory answers cached reads, and writes until it is full: use direct I/O, or exceed the size of memory and \
                          end with a flush"
                .into(),
        });
    }
    let last = rows.iter().rev().find(|row| !row.credits.used_up.is_empty());
    causes.extend(
        last.and_then(|row| credits::cause(&row.credits, offer, standing, (row.offered, row.iops.1, row.mean_ns.1))),
    );
    causes.extend(credits::mixed(rows));
    let units = find_unit_error(rows);
    if let Some((cap, name)) = &cap {
        // Runs without credits may have had some at their begin.
        let fastest_with_credits =
            rows.iter().filter(|row| row.credits.used_up.is_empty()).map(|row| row.iops.0).fold(0.0, f64::max);
        causes.extend(above_the_cap(fastest_with_credits, *cap, name, standing, curve));
        // Some size matches any figure: a burst or units are the better explanation.
        let explained = units.is_some() || peak_of(max, standing).is_some();
        let options = offer.options.iter().filter(|chosen| !explained || &*chosen.name != "size");
        causes.extend(another_value(catalogue, curve, offer, terms, options, max).filter(|_| differ(max, *cap)));
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
            || matches!(finding, Finding::BufferedEngine { .. } | Finding::TooShort { .. } | Finding::DeviceIdle { .. })
    };
    let all = curve.findings.iter().chain(curve.runs.iter().flat_map(|run| &run.findings));
    let mut found: Vec<&Finding> = Vec::new();
    for finding in all.filter(weighs) {
        if !found.iter().any(|other| discriminant(*other) == discriminant(finding)) {
            found.push(finding);
        }
    }
    found.sort_by_key(|finding| Reverse(finding.weight()));
    let cause = |finding: &Finding| Cause { difference: finding.text(), cause: finding.remedy().to_owned() };
    found.into_iter().map(cause).collect()
}

fn above_the_cap(max: f64, cap: f64, name: &str, standing: &Standing, curve: &Curve) -> Option<Cause> {
    if max <= cap * (1.0 + SAME) {
        return None;
    }
    let difference = format!("{max:.0} IOPS were measured, and {name} allows {cap:.0}");
    let cause = match peak_of(max, standing) {
        Some(peak) => format!("burst credits: at the peak, full credits last {:.0} s: measure longer", peak.seconds),
        None if curve.conditions.direct => {
            "the configuration differs, or a layer in between answers: a cache of the host or of the \
             controller, or data that compresses away"
                .into()
        }
        None => "the page cache accepts writes before the storage does: use direct I/O".into(),
    };
    Some(Cause { difference, cause })
}

/// The burst that explains the measured figure.
fn peak_of(max: f64, standing: &Standing) -> Option<Peak> {
    let above = standing.binding().is_some_and(|bound| max > bound.iops * (1.0 + SAME));
    standing.peak.filter(|peak| above && max <= peak.bound.iops * (1.0 + SAME))
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
            return Some(Cause {
                difference: format!("at most {max:.0} IOPS were measured"),
                cause: format!("that is what {} gives ({iops:.0} IOPS)", offer.short()),
            });
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
    (deepest.iops.1 < cap * (1.0 - SAME)).then(|| Cause {
        difference: format!("{name} allows {cap:.0} IOPS, and depth {depth} gives {:.0} in theory", deepest.iops.1),
        cause: "the queue is too short: throughput is depth over latency until a limit binds (Little's law)".into(),
    })
}

/// A common factor at all saturated loads that matches confused units.
fn find_unit_error(rows: &[LoadComparison]) -> Option<Cause> {
    let saturated: Vec<f64> =
        rows.iter().filter(|row| row.mean_ns.1 > 2.0 * rows[0].mean_ns.1).map(LoadComparison::ratio).collect();
    let mean = saturated.iter().sum::<f64>() / saturated.len() as f64;
    let steady = saturated.len() >= 2 && saturated.iter().all(|ratio| (ratio / mean - 1.0).abs() < 0.005);
    let fits = |factor: f64| (mean / factor - 1.0).abs() < 0.004 || (mean * factor - 1.0).abs() < 0.004;
    let (_, which) = UNITS.into_iter().find(|(factor, _)| steady && fits(*factor))?;
    Some(Cause {
        difference: format!("all saturated loads differ by the factor {mean:.3}"),
        cause: format!("units: {which} are {} % apart", ((mean.max(1.0 / mean) - 1.0) * 1000.0).round() / 10.0),
    })
}

fn first_depth(rows: &[LoadComparison]) -> Option<Cause> {
    let first = rows.iter().find(|row| row.offered == Pace::Closed { depth: 1 })?;
    let (measured, theory) = first.mean_ns;
    let difference_us = (measured - theory) / 1e3;
    if (measured / theory - 1.0).abs() < 0.15 {
        return None;
    }
    let difference =
        format!("one operation at a time takes {:.0} us, and {:.0} us in theory", measured / 1e3, theory / 1e3);
    let cause = if difference_us > 0.0 {
        format!(
            "another layer adds {difference_us:.0} us to each operation: the host, a filesystem, a network, encryption"
        )
    } else {
        "a nearer layer answers: a cache, or faster media than the model's".into()
    };
    Some(Cause { difference, cause })
}
