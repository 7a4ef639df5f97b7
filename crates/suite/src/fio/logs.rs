//! Log files of jobs: a file for each kind and clone, of single operations or slices.

use std::fs::File;
use std::io::{self, BufWriter};

use crate::result::{LoggedOperation, WorkerResult};
use plimsoll_fio::FioJob;
use plimsoll_fio::print::{
    DirectionCounts, HistogramLog, LogColumns, LogKind, LogSample, LogWriter, TransferDirection, log_name,
};
use plimsoll_record::{Bins, Counter};
use plimsoll_units::{Instant, Kind, Span};

use super::job_report::{Cut, trim_warm_up};
use super::plan::{Member, logs_each};

/// Writes the logs of a clone and returns errors. `started_unix_ms` is its start.
pub fn write_logs(job: &FioJob, member: &Member, observed: &WorkerResult, started_unix_ms: u64) -> Vec<String> {
    let logs = &job.logs;
    let bandwidth = logs.bandwidth.as_ref().map(|name| (name, vec![LogKind::Bandwidth]));
    let iops = logs.iops.as_ref().map(|name| (name, vec![LogKind::Operations]));
    let latency = logs.latency.as_ref().map(|name| (name, LogKind::LATENCIES.to_vec()));
    let histogram = logs
        .histogram
        .as_ref()
        .filter(|_| !logs.histogram_window.is_zero())
        .map(|name| (name, vec![LogKind::Histogram]));
    let cut = trim_warm_up(member, observed);
    let source = LogSource { job, observed, cut, epoch_ms: if logs.since_1970 { started_unix_ms } else { 0 } };
    let number = logs.per_copy.then_some(member.number as u32 + 1);
    let mut troubles = Vec::new();
    for (name, kinds) in [bandwidth, iops, latency, histogram].into_iter().flatten() {
        let prefix = if name.is_empty() { &job.name } else { name };
        for log in kinds {
            let path = log_name(prefix, log, number);
            // Clones that share a file append to it.
            let opened = if logs.per_copy || member.copy == 0 {
                File::create(&path)
            } else {
                File::options().append(true).open(&path)
            };
            if let Err(error) = opened.and_then(|file| source.write(log, BufWriter::new(file))) {
                troubles.push(format!("{path}: {error}"));
            }
        }
    }
    troubles
}

/// Data of log lines.
struct LogSource<'a> {
    job: &'a FioJob,
    observed: &'a WorkerResult,
    cut: Cut<'a>,
    epoch_ms: u64,
}

impl LogSource<'_> {
    fn write(&self, log: LogKind, out: BufWriter<File>) -> io::Result<()> {
        if log == LogKind::Histogram {
            return self.histogram(out);
        }
        let logs = &self.job.logs;
        let columns = LogColumns {
            offset: logs.offsets,
            priority: logs.priorities,
            issue_time: false,
            window: (!logs.window.is_zero()).then_some(logs.window),
            value: logs.window_value,
            epoch_ms: self.epoch_ms,
        };
        let mut writer = LogWriter::new(out, log, columns);
        match log {
            // Submission latency is not measured.
            LogKind::Submission => {}
            _ if logs_each(self.job) => self.single(&mut writer)?,
            _ => self.counted(log, &mut writer)?,
        }
        writer.finish(self.cut.span)?;
        Ok(())
    }

    /// A line per operation, in order of completion.
    fn single(&self, writer: &mut LogWriter<BufWriter<File>>) -> io::Result<()> {
        // Times of operations are relative to the step.
        let from = Instant::ZERO + self.cut.line + self.cut.from.since(Instant::ZERO);
        for one in self.observed.log.iter().filter(|one| one.completed >= from) {
            let Some(direction) = map_direction(one.op.kind) else { continue };
            let (at, issued) = (one.completed.since(from), one.submitted.since(from));
            let LoggedOperation { op, .. } = one;
            let (length, offset) = (u64::from(op.length), op.offset);
            let latency = one.completed.since(one.submitted);
            writer.add(&LogSample { at, latency, direction, length, offset, priority: 0, issued })?;
        }
        Ok(())
    }

    /// Lines of averages per window.
    fn counted(&self, log: LogKind, writer: &mut LogWriter<BufWriter<File>>) -> io::Result<()> {
        for (at, counter, direction) in self.counters() {
            let latencies = if log == LogKind::Total { &counter.response } else { counter.service() };
            let Bins { sum_ns, max_ns, .. } = *latencies;
            let (count, bytes) = (counter.operations(), counter.bytes);
            writer.add_counted(&DirectionCounts { at, direction, count, bytes, sum_ns, max_ns })?;
        }
        Ok(())
    }

    fn histogram(&self, out: BufWriter<File>) -> io::Result<()> {
        let logs = &self.job.logs;
        let blocks = &self.job.access.blocks;
        let largest = [blocks.read.largest().get(), blocks.write.largest().get(), blocks.trim.largest().get()];
        let coarseness = u32::from(logs.histogram_coarseness);
        let mut writer = HistogramLog::new(out, logs.histogram_window, coarseness, self.epoch_ms, largest);
        for (at, counter, direction) in self.counters() {
            writer.add_counted(at, direction, counter.service())?;
        }
        writer.finish(self.cut.span)?;
        Ok(())
    }

    /// Counters of all slices, with the start of the slice relative to the end of the warm-up.
    fn counters(&self) -> impl Iterator<Item = (Span, &Counter, TransferDirection)> {
        self.cut.slices.iter().flat_map(|slice| {
            let at = slice.start.since(self.cut.from);
            slice.tally.0.iter().filter_map(move |counter| Some((at, counter, map_direction(counter.kind)?)))
        })
    }
}

const fn map_direction(kind: Kind) -> Option<TransferDirection> {
    match kind {
        Kind::Read => Some(TransferDirection::Read),
        Kind::Write | Kind::DurableWrite => Some(TransferDirection::Write),
        Kind::Trim => Some(TransferDirection::Trim),
        Kind::Flush => None,
    }
}
