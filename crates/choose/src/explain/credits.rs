//! Burst credits during the measured runs: a run after their end has to be compared with a product without credits.

use plimsoll_catalogue::{Bucket, Counts, Offer, Standing};
use plimsoll_load::Pace;
use plimsoll_model::ChainSpec;
use plimsoll_record::{CreditLevel, Curve, Finding, Run, Source};

use super::LoadComparison;
use super::cause::{Cause, SAME};

/// Share of full credits below which a bucket counts as used up: pieces of a series are this coarse.
const USED_UP: f64 = 0.02;
/// Share of a run's measured time in which credits may still end, so that its figures describe the time after.
const LATE: f64 = 0.1;

/// The credits at the measured part of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CreditState {
    /// Ceilings whose credits are used up, as indices in [`Offer::ceilings`]; empty while credits last.
    pub used_up: Vec<usize>,
    /// Seconds into the run at which the first of them ended, and operations per second until then. `None` if they were
    /// used up before, or if that is inferred from the rate alone.
    pub ended: Option<(f64, f64)>,
    /// The credits ended within the measured part: its figures describe neither state.
    pub is_mixed: bool,
}

/// The credits that a simulated curve states; `None` if they are unknown.
pub(super) const fn stated_level(curve: &Curve) -> Option<CreditLevel> {
    match curve.source {
        Source::Simulated { credits, .. } => credits,
        _ => None,
    }
}

/// The model of an offer with these credits.
pub(super) fn model(offer: &Offer, state: &CreditState, level: Option<CreditLevel>) -> Option<ChainSpec> {
    let pinned = || offer.credit_models(&offer.model().ok()?);
    match level {
        Some(CreditLevel::UsedUp) => pinned().map(|models| models.used_up),
        Some(CreditLevel::Full) => pinned().and_then(|models| models.full),
        Some(CreditLevel::Spent) | None => None,
    }
    .or_else(|| offer.without_credits(&state.used_up).model().ok())
}

/// The credits at each run of `curve`: as it states, or full at the first of runs that follow each other.
pub(super) fn states(curve: &Curve, standing: &Standing, level: Option<CreditLevel>) -> Vec<CreditState> {
    if level == Some(CreditLevel::UsedUp) {
        let used_up = standing.buckets.iter().map(|bucket| bucket.bound.ceiling).collect();
        return vec![CreditState { used_up, ..CreditState::default() }; curve.runs.len()];
    }
    if level == Some(CreditLevel::Full) {
        return vec![CreditState::default(); curve.runs.len()];
    }
    // Runs that are sums of slots have no place in time.
    if standing.buckets.is_empty() || !curve.slots.is_empty() {
        return vec![CreditState::default(); curve.runs.len()];
    }
    let mut balances: Vec<f64> = standing.buckets.iter().map(|bucket| bucket.operations).collect();
    curve.runs.iter().map(|run| spend(run, &standing.buckets, &mut balances)).collect()
}

/// Spends the credits of `balances` in a run.
fn spend(run: &Run, buckets: &[Bucket], balances: &mut [f64]) -> CreditState {
    let (mut elapsed, mut done) = (0.0, 0.0);
    let mut state = CreditState::default();
    let measured_s = run.warm_up.as_secs_f64() + LATE * run.span.as_secs_f64();
    for (seconds, operations) in pieces(run) {
        for (bucket, balance) in buckets.iter().zip(&mut *balances) {
            *balance = (*balance + bucket.bound.iops * seconds - operations).clamp(0.0, bucket.operations);
            let is_listed = state.used_up.contains(&bucket.bound.ceiling);
            if *balance > USED_UP * bucket.operations || is_listed {
                continue;
            }
            if elapsed > measured_s {
                state.is_mixed = state.used_up.is_empty();
                continue;
            }
            state.used_up.push(bucket.bound.ceiling);
            // Credits that earlier runs used up did not end in this one.
            if state.ended.is_none() && elapsed > 0.0 {
                state.ended = Some((elapsed + seconds, (done + operations) / (elapsed + seconds)));
            }
        }
        elapsed += seconds;
        done += operations;
    }
    if let Some(ended) = dropped(run).filter(|_| state.ended.is_some()) {
        state.ended = Some(ended);
    }
    state
}

/// Seconds and operations of the slices of a run, or of the whole run.
fn pieces(run: &Run) -> Vec<(f64, f64)> {
    if run.series.is_empty() {
        let seconds = (run.warm_up + run.span).as_secs_f64();
        return vec![(seconds, run.figures.iops.value * seconds)];
    }
    run.series.iter().map(|slice| (slice.span.as_secs_f64(), slice.tally.operations() as f64)).collect()
}

/// The seconds until the rate fell, and the rate until then, as the analysis of the run found them.
fn dropped(run: &Run) -> Option<(f64, f64)> {
    run.findings.iter().find_map(|finding| match finding {
        Finding::RateDropped { at_seconds, before, .. } => Some((*at_seconds, *before)),
        _ => None,
    })
}

/// Credits that another load used up before the first run, as the rate of the `fastest` run suggests: it is the
/// lasting one, and `full`, the theory with full credits, is higher.
pub(super) fn used_up_before(fastest: f64, full: f64, standing: &Standing) -> Option<CreditState> {
    let is_lasting = |bucket: &&Bucket| (fastest / bucket.bound.iops - 1.0).abs() < SAME;
    let lowest = standing.buckets.iter().min_by(|a, b| a.bound.iops.total_cmp(&b.bound.iops)).filter(is_lasting)?;
    let used_up = vec![lowest.bound.ceiling];
    (full > fastest * (1.0 + SAME)).then(|| CreditState { used_up, ..CreditState::default() })
}

/// The cause that credits are used up, with the theory for a run without them: rate and mean response time.
pub(super) fn cause(
    state: &CreditState,
    offer: &Offer,
    standing: &Standing,
    theory: (Pace, f64, f64),
) -> Option<Cause> {
    let first = *state.used_up.first()?;
    let bucket = standing.buckets.iter().find(|bucket| bucket.bound.ceiling == first)?;
    let ceiling = &offer.ceilings[first];
    let credits = ceiling.credits.filter(|_| bucket.bound.counts == Counts::Operations);
    let (offered, theory_iops, theory_mean_ns) = theory;
    Some(Cause::CreditsUsedUp {
        credits,
        credit_bytes: ceiling.credit_bytes.filter(|_| credits.is_none()),
        lasting_iops: bucket.bound.iops,
        ended_s: state.ended.map(|(seconds, _)| seconds),
        burst_iops: state.ended.map(|(_, iops)| iops),
        offered,
        theory_iops,
        theory_mean_ns,
    })
}

/// The cause that credits ended within the measured part of a run.
pub(super) fn mixed(rows: &[LoadComparison]) -> Option<Cause> {
    rows.iter().any(|row| row.credits.is_mixed).then_some(Cause::CreditsEnded)
}
