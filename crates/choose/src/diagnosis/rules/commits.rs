//! Verdicts about commits, the log, and writers that fall behind.

use plimsoll_ingest::{Class, WaitCause};

use super::{Diagnosis, NOTABLE};
use crate::diagnosis::split::{Split, TimePart};
use crate::diagnosis::verdict::DiagnosisVerdict;

pub(super) fn verdicts(split: &Split, diagnosis: &Diagnosis) -> Vec<DiagnosisVerdict> {
    judge_commits(split, diagnosis).into_iter().chain(behind(split)).chain(log_switches(split)).collect()
}

fn judge_commits(split: &Split, diagnosis: &Diagnosis) -> Option<DiagnosisVerdict> {
    /// A commit may first wait for the write in progress, so twice a write is expected.
    const EXPECTED: f64 = 2.0;
    let commits = diagnosis.commits.as_ref()?;
    let write_s = commits.write_s?;
    let (log, rest) = (split.share(TimePart::LogWrite), split.share(TimePart::CommitRest));
    if log + rest < NOTABLE {
        return None;
    }
    Some(if commits.sync_s > EXPECTED * write_s {
        DiagnosisVerdict::CommitsElsewhere { sync_s: commits.sync_s, write_s, share: rest, a_second: commits.a_second }
    } else {
        DiagnosisVerdict::CommitsForLog { sync_s: commits.sync_s, write_s, share: log }
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
