//! Verdicts about the origin of the work: statements, files, autovacuum, checkpoints.

use plimsoll_ingest::{Class, DatabaseDemand, PartWork, WindowCount};

use super::{LARGE, NOTABLE};
use crate::diagnosis::verdict::DiagnosisVerdict;

/// Minimum share of the whole for naming a part.
const MUCH: f64 = 0.3;

pub(super) fn judge_works(subject: &DatabaseDemand) -> Vec<DiagnosisVerdict> {
    let Some(total) = subject.works.iter().find(|work| work.part.is_empty()) else { return Vec::new() };
    let parts = || subject.works.iter().filter(|work| !work.part.is_empty());
    let is_statement = |work: &&PartWork| work.part.starts_with("statement ");
    let mut verdicts: Vec<DiagnosisVerdict> = Vec::new();
    for (class, of) in [(Class::Read, reads as fn(&PartWork) -> f64), (Class::Write, writes as fn(&PartWork) -> f64)] {
        verdicts.extend(maximum(parts().filter(is_statement), total, of).map(|(work, share)| {
            DiagnosisVerdict::OneStatement { statement: work.part.as_str().into(), class, share }
        }));
    }
    verdicts.extend(slow_statement(parts().filter(is_statement).collect()));
    let files = parts().filter(|work| !is_statement(work));
    verdicts.extend(
        maximum(files, total, |work| work.reads + work.writes)
            .map(|(work, share)| DiagnosisVerdict::OneFile { file: work.part.as_str().into(), share }),
    );
    verdicts.extend(processes(total));
    verdicts.extend(checkpoints(total));
    verdicts.extend(buffer_waits(total));
    verdicts
}

fn reads(work: &PartWork) -> f64 {
    work.reads
}

fn writes(work: &PartWork) -> f64 {
    work.writes
}

/// The part with the largest share of the whole, if it is large.
fn maximum<'a>(
    parts: impl Iterator<Item = &'a PartWork>,
    total: &PartWork,
    of: impl Fn(&PartWork) -> f64,
) -> Option<(&'a PartWork, f64)> {
    /// Minimum operations per second.
    const MIN_IOPS: f64 = 1.0;
    let all = of(total);
    let work = parts.max_by(|a, b| of(a).total_cmp(&of(b)))?;
    let share = (of(work) / all).min(1.0);
    (all >= MIN_IOPS * total.seconds && share >= MUCH).then_some((work, share))
}

/// The statement with the largest share of the time of all counted statements.
fn slow_statement(statements: Vec<&PartWork>) -> Option<DiagnosisVerdict> {
    let seconds = |work: &PartWork| work.tally(WindowCount::EXECUTION_S).unwrap_or(0.0);
    let all: f64 = statements.iter().map(|work| seconds(work)).sum();
    let work = statements.into_iter().max_by(|a, b| seconds(a).total_cmp(&seconds(b)))?;
    let share = seconds(work) / all;
    let calls = work.tally(WindowCount::CALLS).filter(|calls| *calls > 0.0)?;
    (share >= MUCH).then(|| DiagnosisVerdict::SlowStatement {
        statement: work.part.as_str().into(),
        share,
        mean_s: seconds(work) / calls,
        rows: work.tally(WindowCount::ROWS_EXAMINED).map(|rows| rows / calls),
    })
}

/// Autovacuum, and sessions that write pages themselves.
fn processes(total: &PartWork) -> Vec<DiagnosisVerdict> {
    let share = |name: &str, all: f64| {
        let share = total.tally(name)? / all;
        (share >= LARGE && all >= total.seconds).then_some(share.min(1.0))
    };
    let autovacuum =
        share(WindowCount::AUTOVACUUM, total.reads + total.writes).map(|share| DiagnosisVerdict::Autovacuum { share });
    let sessions =
        share(WindowCount::SESSION_WRITES, total.writes).map(|share| DiagnosisVerdict::SessionsWrite { share });
    autovacuum.into_iter().chain(sessions).collect()
}

/// Requested checkpoints.
fn checkpoints(total: &PartWork) -> Option<DiagnosisVerdict> {
    let requested = total.tally(WindowCount::CHECKPOINTS_REQUESTED).filter(|requested| *requested >= 2.0)?;
    let timed = total.tally(WindowCount::CHECKPOINTS_TIMED).unwrap_or(0.0);
    (requested > timed).then(|| DiagnosisVerdict::CheckpointsRequested {
        requested,
        timed,
        every_s: Some(total.seconds / (requested + timed)).filter(|seconds| *seconds > 0.0),
    })
}

/// Waits of sessions for room in the log buffer or for a free page.
fn buffer_waits(total: &PartWork) -> Vec<DiagnosisVerdict> {
    let of = |name: &'static str| {
        let a_second = total.tally(name)? / total.seconds;
        (total.seconds > 0.0 && a_second >= NOTABLE).then_some(DiagnosisVerdict::BufferWaits { name, a_second })
    };
    [WindowCount::LOG_BUFFER_WAITS, WindowCount::FREE_PAGE_WAITS].into_iter().filter_map(of).collect()
}
