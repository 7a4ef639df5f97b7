//! Verdicts of the search: better settings, candidates that were not better, settings that were not tried, and the limit
//! of the storage.

use plimsoll_analyse::{TuneOutcome, TuneTrial};
use plimsoll_record::{TuneVerdict, TunedSetting, UntriedReason, UntriedSetting, Verdict};

use super::Search;
use crate::recipe::CompletedStep;
use crate::recipes::evidence::binding_limit;
use crate::step::Work;

/// Share of the replies above which a limit of the volume explains the throughput.
const EXHAUSTED_SHARE: f64 = 0.5;

pub(super) fn verdicts(search: &Search, done: &[CompletedStep]) -> Vec<Verdict> {
    let tuning = &search.tuning;
    let trials = tuning.trials();
    let settings = accepted(search);
    let compared = trials.iter().filter(|trial| trial.pairs > 0).count() as u64;
    let mut found: Vec<Verdict> = vec![if settings.is_empty() {
        TuneVerdict::PresentSettings { compared }.into()
    } else {
        TuneVerdict::BetterSettings { settings, ratio: tuning.confirmed() }.into()
    }];
    found.extend(tuning.grid().map(|grid| {
        let best = grid.cells.first().map(|cell| cell.configuration.clone()).unwrap_or_default();
        let (configurations, rounds) = (grid.cells.len() as u64 + 1, grid.rounds as u64);
        TuneVerdict::BestOfGrid { configurations, rounds, best, ratio: grid.best }.into()
    }));
    found.extend(limits(search, done));
    let is_rejected = |trial: &&TuneTrial| trial.outcome != TuneOutcome::Accepted && trial.pairs > 0;
    let settings: Vec<TunedSetting> =
        trials.iter().filter(is_rejected).map(|trial| describe_trial(search, trial)).collect();
    if !settings.is_empty() {
        found.push(TuneVerdict::NotBetter { settings }.into());
    }
    let settings = untried(search, &trials);
    if !settings.is_empty() {
        found.push(TuneVerdict::NotTried { settings }.into());
    }
    found
}

/// Settings of the best configuration that differ from those at the start, each with the comparison that set it.
pub(super) fn accepted(search: &Search) -> Vec<TunedSetting> {
    let trials = search.tuning.trials();
    let both = search.tuning.best().iter().zip(search.tuning.present()).filter(|(best, present)| best != present);
    let tuned = both.map(|(best, present)| {
        let set = trials.iter().rfind(|trial| trial.outcome == TuneOutcome::Accepted && trial.changes.contains(best));
        TunedSetting {
            changes: vec![best.clone()],
            before: vec![present.1.clone()],
            ratio: set.and_then(|trial| trial.ratio),
            needs_restart: search.restarting.contains(&best.0),
        }
    });
    tuned.collect()
}

fn describe_trial(search: &Search, trial: &TuneTrial) -> TunedSetting {
    TunedSetting {
        changes: trial.changes.clone(),
        before: trial.before.iter().map(|(_, value)| value.clone()).collect(),
        ratio: trial.ratio,
        needs_restart: trial.changes.iter().any(|(name, _)| search.restarting.contains(name)),
    }
}

/// Settings that were not tried, and candidates that the server refused or for which there was no time.
fn untried(search: &Search, trials: &[TuneTrial]) -> Vec<UntriedSetting> {
    let refused = trials.iter().filter_map(|trial| match &trial.outcome {
        TuneOutcome::Refused(why) => Some((&trial.changes, UntriedReason::Refused { why: why.clone() })),
        _ => None,
    });
    let late = search.tuning.untried().iter().map(|candidate| (&candidate.changes, UntriedReason::Budget));
    let changed = refused.chain(late).filter_map(|(changes, reason)| match changes.as_slice() {
        [(name, value)] => Some(UntriedSetting { name: name.clone(), value: Some(value.clone()), reason }),
        [first, rest @ ..] => {
            let rest: Vec<String> = rest.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            let value = Some(format!("{} with {}", first.1, rest.join(", ")));
            Some(UntriedSetting { name: first.0.clone(), value, reason })
        }
        [] => None,
    });
    search.untried.iter().cloned().chain(changed).collect()
}

/// The limit of the last run with the best configuration.
fn limits(search: &Search, done: &[CompletedStep]) -> Vec<Verdict> {
    let name = search.name(search.tuning.best());
    let last = done.iter().rfind(|done| done.step.counts && done.step.name == name);
    let Some((Work::Sessions(step), Some(observed))) = last.map(|last| (&last.step.work, last.result.sessions()))
    else {
        return Vec::new();
    };
    let exhausted = observed.storage.bound_by.first().filter(|(_, share)| *share >= EXHAUSTED_SHARE);
    let exhausted =
        exhausted.map(|(limit, share)| TuneVerdict::StorageLimit { limit: limit.clone(), share: *share }.into());
    exhausted.into_iter().chain([binding_limit(step.pace, observed).into()]).collect()
}
