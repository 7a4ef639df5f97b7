//! Progress of jobs on a line in fio's format: `Jobs: 1 (f=1): [r(1)][33.3%][r=59MiB/s][r=15.1k IOPS][eta 00m:02s]`.
//!
//! Independent of terminals.

use plimsoll_analyse::total_span;
use plimsoll_fio::FioJob;
use plimsoll_record::Slice;
use plimsoll_units::{Kind, Span};

use super::plan::StagePlan;

/// Properties of a run: workers and limits of each stage.
#[derive(Debug)]
pub struct RunProperties {
    /// fio's letter of each worker by stage.
    letters: Vec<Vec<char>>,
    /// Time limit of each stage, if known.
    times: Vec<Option<Span>>,
    /// Bytes of each stage, if known.
    bytes: Vec<Option<u64>>,
    /// Number of files of each stage.
    files: Vec<usize>,
}

impl RunProperties {
    /// Properties of a plan.
    pub fn new(plan: &StagePlan, jobs: &[FioJob]) -> Self {
        let finite = |span: Span| (span < Span::MAX).then_some(span);
        let mut course = Self { letters: Vec::new(), times: Vec::new(), bytes: Vec::new(), files: Vec::new() };
        for stage in &plan.stages {
            course.letters.push(stage.iter().map(|member| letter(&jobs[member.job])).collect());
            let lasts =
                stage.iter().map(|member| finite(member.worker.job.until.span).map(|span| span + member.worker.begins));
            course.times.push(lasts.collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().max()));
            let bytes =
                stage.iter().map(|member| Some(member.worker.job.until.bytes).filter(|bytes| *bytes < u64::MAX));
            course.bytes.push(bytes.sum::<Option<u64>>());
            course.files.push(stage.iter().map(|member| member.worker.parts.len()).sum());
        }
        course
    }

    /// The line during a stage, for its `series` so far.
    pub fn line(&self, stage: usize, series: &[Slice], elapsed: Span) -> String {
        let letters: Vec<char> = self
            .letters
            .iter()
            .enumerate()
            .flat_map(|(number, letters)| {
                letters.iter().map(move |letter| match number.cmp(&stage) {
                    std::cmp::Ordering::Less => '_',
                    std::cmp::Ordering::Equal => *letter,
                    std::cmp::Ordering::Greater => 'P',
                })
            })
            .collect();
        let running = self.letters[stage].len();
        let share = self.share(stage, series, elapsed);
        let mut text = format!("Jobs: {running} (f={}): [{}]", self.files[stage], runs(&letters));
        text.push_str(&share.map_or("[-.-%]".to_owned(), |share| format!("[{:.1}%]", share * 100.0)));
        text.push_str(&rates(series));
        text.push_str(&match share.filter(|share| *share > 0.0) {
            Some(share) => format!("[eta {}]", clock(self.left(stage, share, elapsed))),
            None => "[eta --]".to_owned(),
        });
        text
    }

    /// Completed share of a stage, 0 to 1.
    fn share(&self, stage: usize, series: &[Slice], elapsed: Span) -> Option<f64> {
        let of_time = self.times[stage].map(|total| elapsed.as_secs_f64() / total.as_secs_f64().max(1e-9));
        let done: u64 = series.iter().map(|slice| slice.tally.bytes()).sum();
        let of_bytes = self.bytes[stage].map(|total| done as f64 / total.max(1) as f64);
        of_time.into_iter().chain(of_bytes).reduce(f64::max).map(|share| share.clamp(0.0, 1.0))
    }

    /// Remaining seconds of all stages with known time.
    fn left(&self, stage: usize, share: f64, elapsed: Span) -> u64 {
        let here = elapsed.as_secs_f64() * (1.0 - share) / share;
        let later: f64 = self.times[stage + 1..].iter().flatten().map(|span| span.as_secs_f64()).sum();
        (here + later).round() as u64
    }
}

/// fio's letters: `R` reads, `W` writes, `M` both, `D` trims; lower case for random access.
fn letter(job: &FioJob) -> char {
    let direction = job.access.direction;
    match (job.access.is_random(), direction.reads, direction.writes) {
        (false, true, true) => 'M',
        (true, true, true) => 'm',
        (false, _, true) => 'W',
        (true, _, true) => 'w',
        (true, ..) if direction.trims => 'd',
        (false, ..) if direction.trims => 'D',
        (true, ..) => 'r',
        (false, ..) => 'R',
    }
}

/// `_(2),r(1)`
fn runs(letters: &[char]) -> String {
    let groups = letters.chunk_by(|a, b| a == b);
    groups.map(|group| format!("{}({})", group[0], group.len())).collect::<Vec<_>>().join(",")
}

/// Recent bytes and operations per second.
fn rates(series: &[Slice]) -> String {
    let mut from = series.len();
    while from > 0 && total_span(&series[from..]) < Span::from_secs(1) {
        from -= 1;
    }
    let recent = &series[from..];
    let seconds = total_span(recent).as_secs_f64().max(1e-9);
    let of = |is_selected: fn(Kind) -> bool| {
        let counters = || recent.iter().flat_map(|slice| &slice.tally.0).filter(|counter| is_selected(counter.kind));
        let (bytes, operations) =
            counters().fold((0, 0), |sum, counter| (sum.0 + counter.bytes, sum.1 + counter.operations()));
        (bytes as f64 / seconds, operations as f64 / seconds)
    };
    let ways = [("r", of(|kind| kind == Kind::Read)), ("w", of(Kind::writes)), ("t", of(|kind| kind == Kind::Trim))];
    let used = || ways.iter().filter(|(_, (_, operations))| *operations > 0.0);
    let text = |format: fn(&(f64, f64)) -> String| {
        used().map(|(way, rate)| format!("{way}={}", format(rate))).collect::<Vec<_>>().join(",")
    };
    if used().next().is_none() {
        return String::new();
    }
    format!("[{}][{} IOPS]", text(|rate| binary(rate.0)), text(|rate| decimal(rate.1)))
}

fn binary(bytes_s: f64) -> String {
    let (mut value, mut unit) = (bytes_s / 1_024.0, "KiB/s");
    for larger in ["MiB/s", "GiB/s"] {
        if value >= 10_000.0 {
            (value, unit) = (value / 1_024.0, larger);
        }
    }
    if value < 100.0 { format!("{value:.1}{unit}") } else { format!("{value:.0}{unit}") }
}

fn decimal(count: f64) -> String {
    if count < 10_000.0 { format!("{count:.0}") } else { format!("{:.1}k", count / 1_000.0) }
}

fn clock(seconds: u64) -> String {
    let (minutes, hours) = (seconds / 60 % 60, seconds / 3_600);
    let hours = if hours > 0 { format!("{hours:02}h:") } else { String::new() };
    format!("{hours}{minutes:02}m:{:02}s", seconds % 60)
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{Bins, Counter, Tally};
    use plimsoll_units::Instant;

    use super::*;

    fn slice(kind: Kind, operations: u64) -> Slice {
        let response = Bins { count: operations, ..Bins::default() };
        let counter =
            Counter { stream: 0, kind, bytes: operations * 4_096, errors: Vec::new(), response, service: None };
        Slice { start: Instant::ZERO, span: Span::from_secs(1), tally: Tally(vec![counter]) }
    }

    #[test]
    fn line_has_workers_and_progress() {
        let course = RunProperties {
            letters: vec![vec!['W'], vec!['r', 'r', 'm'], vec!['R']],
            times: vec![None, Some(Span::from_secs(10)), Some(Span::from_secs(60))],
            bytes: vec![None; 3],
            files: vec![1, 3, 1],
        };
        let series = [slice(Kind::Read, 15_100), slice(Kind::Write, 10)];
        let line = course.line(1, &series[..1], Span::from_secs(4));
        assert_eq!(line, "Jobs: 3 (f=3): [_(1),r(2),m(1),P(1)][40.0%][r=59.0MiB/s][r=15.1k IOPS][eta 01m:06s]");
        let line = course.line(1, &series, Span::from_secs(5));
        assert!(line.contains("[w=40.0KiB/s][w=10 IOPS]"), "{line}");
        let line = course.line(0, &[], Span::ZERO);
        assert_eq!(line, "Jobs: 1 (f=1): [W(1),P(4)][-.-%][eta --]");
    }
}
