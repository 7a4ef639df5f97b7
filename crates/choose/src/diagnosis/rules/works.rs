//! Verdicts about the origin of the work: statements, files, autovacuum, checkpoints.

use plimsoll_ingest::{Class, DatabaseDemand, Measure, PartWork, WindowCount};

use super::{LARGE, MINOR, NOTABLE};
use crate::diagnosis::Diagnosis;
use crate::diagnosis::split::TimePart;
use crate::diagnosis::verdict::DiagnosisVerdict;

/// Minimum share of the whole for naming a part.
const MUCH: f64 = 0.3;

/// Prefixes of the names of parts.
const STATEMENT: &str = "statement ";
const SEGMENT: &str = "segment ";

pub(super) fn judge_works(subject: &DatabaseDemand, diagnosis: &Diagnosis) -> Vec<DiagnosisVerdict> {
    let Some(total) = subject.works.iter().find(|work| work.part.is_empty()) else { return Vec::new() };
    let parts = || subject.works.iter().filter(|work| !work.part.is_empty());
    let is_statement = |work: &&PartWork| work.part.starts_with(STATEMENT);
    let mut verdicts: Vec<DiagnosisVerdict> = Vec::new();
    // Where storage is not the problem, no statement is its cause.
    let is_problem = diagnosis.split.as_ref().is_none_or(|split| !split.has_waits || split.storage() >= MINOR);
    let by_parts = [STATEMENT, SEGMENT].map(|kind| readers(parts(), total, diagnosis, kind));
    for (class, of) in [(Class::Read, reads as fn(&PartWork) -> f64), (Class::Write, writes as fn(&PartWork) -> f64)] {
        let largest = maximum(parts().filter(is_statement), total, of).filter(|_| is_problem || class == Class::Write);
        verdicts.extend(largest.map(|(work, share)| DiagnosisVerdict::OneStatement {
            statement: work.part.as_str().into(),
            class,
            share,
        }));
    }
    verdicts.extend(slow_statement(parts().filter(is_statement).collect()));
    if !verdicts.iter().any(|verdict| matches!(verdict, DiagnosisVerdict::OneStatement { class: Class::Read, .. })) {
        verdicts.extend(by_parts[0].clone());
    }
    verdicts.extend(by_parts[1].clone());
    let files = parts().filter(|work| !is_statement(work) && !work.part.starts_with(SEGMENT));
    verdicts.extend(
        maximum(files, total, |work| work.reads + work.writes)
            .map(|(work, share)| DiagnosisVerdict::OneFile { file: work.part.as_str().into(), share }),
    );
    verdicts.extend(processes(total));
    verdicts.extend(checkpoints(total));
    verdicts.extend(buffer_waits(total));
    verdicts
}

/// The parts of a kind that cause most of the reads, if storage is a problem: of the bytes, if these decide.
fn readers<'a>(
    parts: impl Iterator<Item = &'a PartWork>,
    total: &PartWork,
    diagnosis: &Diagnosis,
    kind: &str,
) -> Option<DiagnosisVerdict> {
    /// Maximum parts that are named.
    const MAX_NAMED: usize = 3;
    let split = diagnosis.split.as_ref().filter(|split| split.storage() >= MINOR)?;
    let mut parts: Vec<&PartWork> = parts.filter(|work| work.part.starts_with(kind)).collect();
    let has_requests = parts.iter().any(|work| work.reads > 0.0);
    let is_scan = split.main_storage().is_some_and(|slice| slice.part == TimePart::SequentialRead);
    let of = if has_requests && !is_scan { reads } else { |work: &PartWork| work.bytes_read };
    let all = of(total);
    if all <= 0.0 {
        return None;
    }
    parts.sort_by(|a, b| of(b).total_cmp(&of(a)));
    let share = |work: &PartWork| (of(work) / all).min(1.0);
    let notable = parts.into_iter().take(MAX_NAMED).filter(|work| share(work) >= NOTABLE);
    let named: Vec<_> = notable.map(|work| (work.part.as_str().into(), share(work))).collect();
    let is_much = named.iter().map(|(_, share)| share).sum::<f64>() >= MUCH;
    is_much.then_some(DiagnosisVerdict::ReadsBy { parts: named })
}

/// Tables in Hybrid Columnar Compression, if scans read a notable part of their bytes from them.
pub(super) fn judge_compression(subject: &DatabaseDemand) -> Option<DiagnosisVerdict> {
    /// Smaller shares of the bytes read, and fewer units per second where bytes are unknown, do not change a size.
    const MIN_SHARE: f64 = 0.01;
    const MIN_UNITS: f64 = 1.0;
    let spent = &subject.account.as_ref()?.total;
    let columnar = spent.counters.columnar.filter(|_| spent.seconds > 0.0)?;
    let all = subject.series(Class::Read, Measure::Throughput).and_then(|series| subject.summary(series));
    let bytes = columnar.stored_bytes / spent.seconds;
    let share = all.filter(|all| bytes > 0.0 && all.mean > 0.0).map(|all| (bytes / all.mean).min(1.0));
    let units = columnar.units / spent.seconds;
    let is_notable = share.map_or(units >= MIN_UNITS, |share| share >= MIN_SHARE);
    is_notable.then_some(DiagnosisVerdict::ColumnarCompression { share, bytes, units, ratio: columnar.ratio() })
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
