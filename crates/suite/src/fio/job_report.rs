//! Converts worker results to job reports.
//!
//! Pure.

use crate::result::WorkerResult;
use plimsoll_fio::print::{
    Depths, DirectionResult, Errors, Failure, Heading, JobReport, Kilo, LatencyHistogram, Percentiles, RateUnit,
    SampleStatistics, Unified, Units,
};
use plimsoll_fio::{Base, BlockSizes, DisplayOptions, FioJob, RawOption, Reporting};
use plimsoll_record::{Counter, Slice};
use plimsoll_units::{Instant, Kind, Span};

use super::plan::Member;

/// The measured part of a job.
#[derive(Clone, Copy, Debug)]
pub struct Cut<'a> {
    /// The series after the warm-up.
    pub slices: &'a [Slice],
    /// Start of the first slice on the series' time line.
    pub from: Instant,
    /// Duration from there to the end.
    pub span: Span,
    /// Start of the series on the time line of the step.
    pub line: Span,
}

pub fn trim_warm_up<'a>(member: &Member, observed: &'a WorkerResult) -> Cut<'a> {
    let warm = member.worker.conduct.counts_from;
    let begins = member.worker.begins;
    let series = &observed.observed.series;
    let from = Instant::ZERO + begins + warm;
    let first = if warm.is_zero() { 0 } else { series.partition_point(|slice| slice.start < from) };
    let began = match series.get(first) {
        Some(slice) if !warm.is_zero() => slice.start,
        _ => Instant::ZERO + begins,
    };
    let line = observed.began.since(Instant::ZERO + begins);
    let span = (Instant::ZERO + find_end(member, observed).since(Instant::ZERO + line)).since(began);
    Cut { slices: &series[first..], from: began, span, line }
}

/// End of the job: its last completion, or its time limit if that is earlier.
fn find_end(member: &Member, observed: &WorkerResult) -> Instant {
    let until = member.worker.job.until;
    let total = observed.total();
    let is_paced =
        member.worker.job.reads.rate.or(member.worker.job.writes.rate).is_some() || member.worker.job.think.is_some();
    let is_short = total.bytes() < until.bytes && total.operations() < until.operations;
    let ran_out = is_paced && is_short && observed.failed.is_none() && !member.worker.conduct.stop.is_given();
    if until.span < Span::MAX && ran_out { observed.ended.max(observed.began + until.span) } else { observed.ended }
}

/// The report of a clone. `started_unix_ms` is its start.
pub fn report_job(job: &FioJob, member: &Member, observed: &WorkerResult, started_unix_ms: u64) -> JobReport {
    let cut = trim_warm_up(member, observed);
    let counters: Vec<&Counter> = cut.slices.iter().flat_map(|slice| &slice.tally.0).collect();
    let usage = observed.usage.unwrap_or_default();
    let (read, write) = list_times(job, member, observed, cut.span);
    let errors: u64 = counters.iter().flat_map(|counter| &counter.errors).map(|(_, count)| count).sum();
    let first = counters.iter().flat_map(|counter| &counter.errors).next().map_or(0, |(errno, _)| *errno);
    let display = &job.display;
    let continues = job.life.continues;
    let goes_on = continues.reads || continues.writes || continues.verification;
    let mut sync = LatencyHistogram::default();
    counters
        .iter()
        .filter(|counter| counter.kind == Kind::Flush)
        .for_each(|counter| sync.bins.merge(counter.service()));
    JobReport {
        group: member.group,
        pid: std::process::id(),
        failure: (errors > 0 && goes_on).then(|| describe_failure(first, None)),
        started_unix_ms,
        options: list_options(&job.options),
        description: job.description.clone(),
        read: sum_direction(&counters, |kind| kind == Kind::Read, read, display)
            .sampled(job, &cut, |kind| kind == Kind::Read),
        write: sum_direction(&counters, is_write, write, display).sampled(job, &cut, is_write),
        trim: sum_direction(&counters, |kind| kind == Kind::Trim, cut.span, display)
            .sampled(job, &cut, |kind| kind == Kind::Trim),
        sync,
        unified: match display.reporting {
            Reporting::Apart => Unified::Apart,
            Reporting::Mixed => Unified::Mixed,
            Reporting::Both => Unified::Both,
        },
        runtime_ms: cut.span.as_nanos() / 1_000_000,
        user: usage.cpu.user,
        system: usage.cpu.system,
        switches: usage.voluntary + usage.involuntary,
        major_faults: usage.major_faults,
        minor_faults: usage.minor_faults,
        depths: Depths {
            level: observed.queues.in_flight,
            submitted: observed.queues.handed_over,
            completed: observed.queues.taken_back,
        },
        percentiles: Percentiles {
            list: display.percentiles.clone(),
            submission: display.slat_percentiles,
            completion: display.clat_percentiles,
            total: display.lat_percentiles,
        },
        target: plimsoll_fio::print::LatencyTarget { depth: job.flow.iodepth, ..Default::default() },
        errors: goes_on.then(|| Errors { total: errors, first, text: describe_errno(first) }),
        units: select_units(display),
        ..JobReport::new(&job.name)
    }
}

/// The heading of a job of this group.
pub fn build_heading(job: &FioJob, group: u32) -> Heading {
    let blocks = &job.access.blocks;
    let range = |blocks: &BlockSizes| (blocks.smallest().get(), blocks.largest().get());
    Heading {
        name: job.name.clone(),
        group,
        rw: job.access.rw.to_owned(),
        blocks: [range(&blocks.read), range(&blocks.write), range(&blocks.trim)],
        engine: job.flow.engine.name().to_owned(),
        depth: job.flow.iodepth,
        members: job.life.copies.min(u64::from(u32::MAX)) as u32,
        threads: true,
        units: Units { kilo: select_units(&job.display).kilo, ..Units::default() },
    }
}

/// The error of a job in fio's format.
pub fn describe_failure(errno: i32, file: Option<&str>) -> Failure {
    let file = file.map_or(String::new(), |file| format!("file:{file}, "));
    Failure { errno, text: format!("{file}func=io_u error, error={}", describe_errno(errno)) }
}

/// The system's message of an error.
pub fn describe_errno(errno: i32) -> String {
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Options as repeated in results.
pub fn list_options(raw: &[RawOption]) -> Vec<(String, String)> {
    raw.iter().map(|option| (option.name.to_owned(), option.value.clone().unwrap_or_default())).collect()
}

const fn is_write(kind: Kind) -> bool {
    matches!(kind, Kind::Write | Kind::DurableWrite)
}

fn select_units(display: &DisplayOptions) -> Units {
    Units {
        kilo: if display.base == Base::Decimal { Kilo::Decimal } else { Kilo::Binary },
        unit: if display.in_bits { RateUnit::Bits } else { RateUnit::Bytes },
        figures: display.digits,
    }
}

/// Durations of reads and writes: separate phases if written data are read back.
fn list_times(job: &FioJob, member: &Member, observed: &WorkerResult, total: Span) -> (Span, Span) {
    let [own, back] = observed.spent;
    if !member.worker.conduct.repeat.reads_back || back.is_zero() {
        return (total, total);
    }
    let own = own.min(total);
    if job.access.direction.reads { (total, own) } else { (back.min(total), own) }
}

fn sum_direction(
    counters: &[&Counter],
    is_selected: impl Fn(Kind) -> bool,
    time: Span,
    display: &DisplayOptions,
) -> DirectionResult {
    let mut result = DirectionResult::default();
    for counter in counters.iter().filter(|counter| is_selected(counter.kind)) {
        result.bytes += counter.bytes;
        result.operations += counter.operations();
        if !display.without_clat {
            result.completion.bins.merge(counter.service());
        }
        if !display.without_lat {
            result.total.bins.merge(&counter.response);
        }
    }
    if result.operations > 0 {
        result.runtime_ms = time.as_nanos().div_ceil(1_000_000).max(1);
    }
    result
}

/// Sampling of rates at regular intervals.
trait Sampled {
    fn sampled(self, job: &FioJob, cut: &Cut<'_>, is_selected: impl Fn(Kind) -> bool) -> Self;
}

impl Sampled for DirectionResult {
    fn sampled(self, job: &FioJob, cut: &Cut<'_>, is_selected: impl Fn(Kind) -> bool) -> Self {
        if job.display.without_bandwidth || self.operations == 0 {
            return self;
        }
        let bytes = |counter: &Counter| counter.bytes as f64 / 1_024.0;
        let operations = |counter: &Counter| counter.operations() as f64;
        Self {
            bandwidth: sample_rates(cut.slices, job.logs.bandwidth_samples, |counter| {
                if is_selected(counter.kind) { bytes(counter) } else { 0.0 }
            }),
            rate: sample_rates(cut.slices, job.logs.iops_samples, |counter| {
                if is_selected(counter.kind) { operations(counter) } else { 0.0 }
            }),
            ..self
        }
    }
}

/// Rates of `of` per complete `window`; an incomplete window is omitted, as in fio.
fn sample_rates(slices: &[Slice], window: Span, of: impl Fn(&Counter) -> f64) -> SampleStatistics {
    let (mut rates, mut count, mut span) = (Vec::new(), 0.0, Span::ZERO);
    for slice in slices {
        count += slice.tally.0.iter().map(&of).sum::<f64>();
        span += slice.span;
        if span >= window && !span.is_zero() {
            rates.push(count / span.as_secs_f64());
            (count, span) = (0.0, Span::ZERO);
        }
    }
    SampleStatistics::of(&rates)
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{Bins, Tally};

    use super::*;

    #[test]
    fn samples_cover_complete_windows() {
        let slice = |millis, operations| {
            let response = Bins { count: operations, ..Bins::default() };
            let counter =
                Counter { stream: 0, kind: Kind::Read, bytes: 0, errors: Vec::new(), response, service: None };
            Slice { start: Instant::ZERO, span: Span::from_millis(millis), tally: Tally(vec![counter]) }
        };
        let series = [slice(250, 10), slice(250, 20), slice(250, 30), slice(250, 0), slice(100, 9)];
        let observed = sample_rates(&series, Span::from_millis(500), |counter| counter.operations() as f64);
        assert_eq!((observed.count, observed.least, observed.max, observed.mean as u64), (2, 60, 60, 60));
        let observed = sample_rates(&series, Span::from_millis(250), |counter| counter.operations() as f64);
        assert_eq!((observed.count, observed.least, observed.max), (4, 0, 120));
    }

    #[test]
    fn failures_have_system_messages() {
        assert_eq!(describe_failure(5, Some("/d")).text, "file:/d, func=io_u error, error=Input/output error");
        assert_eq!(describe_errno(28), "No space left on device");
    }
}
