//! Verdicts about commits, the log, and writers that fall behind.

use plimsoll_ingest::{Class, WaitCause};

use super::{Diagnosis, NOTABLE};
use crate::diagnosis::split::{Part, Split};
use crate::diagnosis::verdict::Verdict;

pub(super) fn verdicts(split: &Split, diagnosis: &Diagnosis) -> Vec<Verdict> {
    commits(split, diagnosis).into_iter().chain(behind(split)).collect()
}

fn commits(split: &Split, diagnosis: &Diagnosis) -> Option<Verdict> {
    /// A commit may first wait for the write in progress, so twice a write is expected.
    const EXPECTED: f64 = 2.0;
    let commits = diagnosis.commits.as_ref()?;
    let write_s = commits.write_s?;
    let (log, rest) = (split.share(Part::LogWrite), split.share(Part::CommitRest));
    if log + rest < NOTABLE {
        return None;
    }
    Some(if commits.sync_s > EXPECTED * write_s {
        Verdict::CommitsElsewhere { sync_s: commits.sync_s, write_s, share: rest, a_second: commits.a_second }
    } else {
        Verdict::CommitsForLog { sync_s: commits.sync_s, write_s, share: log }
    })
}

/// Waits of sessions for free buffers, checkpoints and log switches.
fn behind(split: &Split) -> Option<Verdict> {
    let is_behind =
        |cause: WaitCause| matches!(cause, WaitCause::Behind(Class::DataWrite | Class::RedoWrite | Class::Archive));
    let events = split.slices.iter().flat_map(|slice| &slice.events).filter(|event| is_behind(event.cause));
    let all: f64 = split.slices.iter().map(|slice| slice.seconds).sum();
    let share = events.clone().map(|event| event.total_s).sum::<f64>() / all;
    let longest = events.max_by(|a, b| a.total_s.total_cmp(&b.total_s))?;
    (share >= NOTABLE).then(|| Verdict::WritersBehind { event: longest.event.clone(), share })
}
