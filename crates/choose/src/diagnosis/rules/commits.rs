//! Verdicts about commits, the log, and writers that fall behind.

use plimsoll_ingest::{Class, WaitCause};

use super::{Diagnosis, NOTABLE};
use crate::diagnosis::split::{Commits, Split, TimePart};
use crate::diagnosis::verdict::DiagnosisVerdict;

pub(super) fn verdicts(split: &Split, diagnosis: &Diagnosis) -> Vec<DiagnosisVerdict> {
    judge_commits(split, diagnosis).into_iter().chain(behind(split)).chain(log_switches(split)).collect()
}

fn judge_commits(split: &Split, diagnosis: &Diagnosis) -> Option<DiagnosisVerdict> {
    /// A commit may first wait for the write in progress, so twice a write is expected.
    const EXPECTED: f64 = 2.0;
    /// A commit takes less than a millisecond on flash, and about ten on a disk without a cache.
    const SLOW_S: f64 = 0.020;
    /// Minimum commits for a mean.
    const MIN_COMMITS: f64 = 100.0;
    /// Minimum share of a commit that log writes with their variation explain, to be its cause.
    const EXPLAINED: f64 = 0.5;
    let Commits { sync_s, write_s, behind_write_s, a_second, event, .. } = diagnosis.commits.as_ref()?;
    let (sync_s, a_second) = (*sync_s, *a_second);
    let (log, rest) = (split.share(TimePart::LogWrite), split.share(TimePart::CommitRest));
    let is_slow = sync_s >= SLOW_S && event.count >= MIN_COMMITS;
    if log + rest < NOTABLE && !is_slow {
        return None;
    }
    let Some(write_s) = *write_s else {
        let a_second = event.count / diagnosis.windows.seconds;
        let (name, cause, share) = (event.event.clone(), event.cause, log + rest);
        let slow = DiagnosisVerdict::SlowEvent { event: name, cause, mean_s: sync_s, a_second, class_s: None, share };
        return is_slow.then_some(slow);
    };
    Some(if sync_s > EXPECTED * write_s {
        let is_cause = |behind_s: &f64| *behind_s >= EXPLAINED * sync_s && *behind_s > EXPECTED * write_s;
        let behind_write_s = behind_write_s.filter(is_cause);
        DiagnosisVerdict::CommitsElsewhere { sync_s, write_s, behind_write_s, share: rest, a_second }
    } else {
        DiagnosisVerdict::CommitsForLog { sync_s, write_s, share: log }
    })
}

fn log_switches(split: &Split) -> Option<DiagnosisVerdict> {
    let slice = split.slices.iter().find(|slice| slice.part == TimePart::LogSwitch && slice.share >= NOTABLE)?;
    let longest = slice.events.iter().max_by(|a, b| a.total_s.total_cmp(&b.total_s))?;
    let (event, switches) = (longest.event.clone(), split.log_switches);
    Some(DiagnosisVerdict::LogSwitches { event, share: slice.share, switches })
}

/// Waits of sessions for free buffers, checkpoints and room in the log buffer.
fn behind(split: &Split) -> Option<DiagnosisVerdict> {
    let is_behind =
        |cause: WaitCause| matches!(cause, WaitCause::Behind(Class::DataWrite | Class::RedoWrite | Class::Archive));
    let events = split.slices.iter().flat_map(|slice| &slice.events).filter(|event| is_behind(event.cause));
    let all: f64 = split.slices.iter().map(|slice| slice.seconds).sum();
    let share = events.clone().map(|event| event.total_s).sum::<f64>() / all;
    let longest = events.max_by(|a, b| a.total_s.total_cmp(&b.total_s))?;
    (share >= NOTABLE).then(|| DiagnosisVerdict::WritersBehind { event: longest.event.clone(), share })
}
