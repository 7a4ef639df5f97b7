//! Verdicts about the origin of the work: statements, files, autovacuum, checkpoints.

use plimsoll_ingest::{Class, Subject, Tally, Work};

use super::{LARGE, NOTABLE};
use crate::diagnosis::verdict::Verdict;

/// Minimum share of the whole for naming a part.
const MUCH: f64 = 0.3;

pub(super) fn verdicts(subject: &Subject) -> Vec<Verdict> {
    let Some(whole) = subject.works.iter().find(|work| work.part.is_empty()) else { return Vec::new() };
    let parts = || subject.works.iter().filter(|work| !work.part.is_empty());
    let is_statement = |work: &&Work| work.part.starts_with("statement ");
    let mut verdicts: Vec<Verdict> = Vec::new();
    for (class, of) in [(Class::Read, reads as fn(&Work) -> f64), (Class::Write, writes as fn(&Work) -> f64)] {
        verdicts.extend(most(parts().filter(is_statement), whole, of).map(|(work, share)| Verdict::OneStatement {
            statement: work.part.as_str().into(),
            class,
            share,
        }));
    }
    verdicts.extend(slow_statement(parts().filter(is_statement).collect()));
    let files = parts().filter(|work| !is_statement(work));
    verdicts.extend(
        most(files, whole, |work| work.reads + work.writes)
            .map(|(work, share)| Verdict::OneFile { file: work.part.as_str().into(), share }),
    );
    verdicts.extend(processes(whole));
    verdicts.extend(checkpoints(whole));
    verdicts.extend(buffer_waits(whole));
    verdicts
}

fn reads(work: &Work) -> f64 {
    work.reads
}

fn writes(work: &Work) -> f64 {
    work.writes
}

/// The part with the largest share of the whole, if it is large.
fn most<'a>(parts: impl Iterator<Item = &'a Work>, whole: &Work, of: impl Fn(&Work) -> f64) -> Option<(&'a Work, f64)> {
    /// Minimum operations per second.
    const MIN_IOPS: f64 = 1.0;
    let all = of(whole);
    let work = parts.max_by(|a, b| of(a).total_cmp(&of(b)))?;
    let share = (of(work) / all).min(1.0);
    (all >= MIN_IOPS * whole.seconds && share >= MUCH).then_some((work, share))
}

/// The statement with the largest share of the time of all counted statements.
fn slow_statement(statements: Vec<&Work>) -> Option<Verdict> {
    let seconds = |work: &Work| work.tally(Tally::EXECUTION_S).unwrap_or(0.0);
    let all: f64 = statements.iter().map(|work| seconds(work)).sum();
    let work = statements.into_iter().max_by(|a, b| seconds(a).total_cmp(&seconds(b)))?;
    let share = seconds(work) / all;
    let calls = work.tally(Tally::CALLS).filter(|calls| *calls > 0.0)?;
    (share >= MUCH).then(|| Verdict::SlowStatement {
        statement: work.part.as_str().into(),
        share,
        mean_s: seconds(work) / calls,
        rows: work.tally(Tally::ROWS_EXAMINED).map(|rows| rows / calls),
    })
}

/// Autovacuum, and sessions that write pages themselves.
fn processes(whole: &Work) -> Vec<Verdict> {
    let share = |name: &str, all: f64| {
        let share = whole.tally(name)? / all;
        (share >= LARGE && all >= whole.seconds).then_some(share.min(1.0))
    };
    let autovacuum = share(Tally::AUTOVACUUM, whole.reads + whole.writes).map(|share| Verdict::Autovacuum { share });
    let sessions = share(Tally::SESSION_WRITES, whole.writes).map(|share| Verdict::SessionsWrite { share });
    autovacuum.into_iter().chain(sessions).collect()
}

/// Requested checkpoints.
fn checkpoints(whole: &Work) -> Option<Verdict> {
    let requested = whole.tally(Tally::CHECKPOINTS_REQUESTED).filter(|requested| *requested >= 2.0)?;
    let timed = whole.tally(Tally::CHECKPOINTS_TIMED).unwrap_or(0.0);
    (requested > timed).then(|| Verdict::CheckpointsRequested {
        requested,
        timed,
        every_s: Some(whole.seconds / (requested + timed)).filter(|seconds| *seconds > 0.0),
    })
}

/// Waits of sessions for room in the log buffer or for a free page.
fn buffer_waits(whole: &Work) -> Vec<Verdict> {
    let of = |name: &'static str| {
        let a_second = whole.tally(name)? / whole.seconds;
        (whole.seconds > 0.0 && a_second >= NOTABLE).then_some(Verdict::BufferWaits { name, a_second })
    };
    [Tally::LOG_BUFFER_WAITS, Tally::FREE_PAGE_WAITS].into_iter().filter_map(of).collect()
}
