//! Logs of operations or of windows.
//!
//! A line is `time, value, direction, block, priority`, with an optional offset before the priority and an optional
//! issue time after it. Times are milliseconds since the start of the run, or since 1970. Bandwidth is in KiB/s,
//! latencies are in nanoseconds. A window has a line per active direction, at its end. The incomplete last window
//! includes latencies; rates only if at least half of it has passed, since rates over microseconds are meaningless.

use std::io::{self, Write};

use plimsoll_units::Span;

use crate::job::WindowValue;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// `write_bw_log`.
    Bandwidth,
    /// `write_iops_log`.
    Operations,
    Submission,
    Completion,
    Total,
    /// `write_hist_log`.
    Histogram,
}

impl LogKind {
    /// The logs of `write_lat_log`.
    pub const LATENCIES: [Self; 3] = [Self::Submission, Self::Completion, Self::Total];

    /// Suffix of its file name.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Bandwidth => "bw",
            Self::Operations => "iops",
            Self::Submission => "slat",
            Self::Completion => "clat",
            Self::Total => "lat",
            Self::Histogram => "clat_hist",
        }
    }
}

/// Name of a log's file: `a_bw.1.log`, or `a_bw.log` for the log of all jobs (`per_job_logs=0`). Jobs count from 1.
pub fn log_name(prefix: &str, log: LogKind, job: Option<u32>) -> String {
    let job = job.map_or(String::new(), |job| format!(".{job}"));
    format!("{prefix}_{}{job}.log", log.suffix())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferDirection {
    /// 0.
    Read,
    /// 1.
    Write,
    /// 2.
    Trim,
}

impl TransferDirection {
    /// All directions, in numeric order.
    pub(super) const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Trim];
}

/// A completed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSample {
    /// Completion, from the start of the run.
    pub at: Span,
    /// The logged latency; for bandwidth the total latency.
    pub latency: Span,
    pub direction: TransferDirection,
    /// Its length in bytes.
    pub length: u64,
    /// Its offset in bytes.
    pub offset: u64,
    /// I/O priority in Linux encoding: the class in the three highest bits.
    pub priority: u16,
    /// Submission, from the start of the run.
    pub issued: Span,
}

/// Operations of one direction in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectionCounts {
    /// Start of the interval, from the start of the run.
    pub at: Span,
    pub direction: TransferDirection,
    /// Their number.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sum of the logged latencies, in nanoseconds.
    pub sum_ns: u64,
    /// Maximum of the logged latencies, in nanoseconds.
    pub max_ns: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogColumns {
    /// Offsets (`log_offset`).
    pub offset: bool,
    /// Priorities in full (`log_prio`); else 1 for the real-time class and 0 for others.
    pub priority: bool,
    /// Issue times in nanoseconds (`log_issue_time`).
    pub issue_time: bool,
    /// Length of a window (`log_avg_msec`); `None` for a line per operation.
    pub window: Option<Span>,
    /// Statistic of a window.
    pub value: WindowValue,
    /// Offset of times in milliseconds: start of the run since 1970 (`log_unix_epoch`).
    pub epoch_ms: u64,
}

/// Writes a log of bandwidth, operations or latencies.
#[derive(Debug)]
pub struct LogWriter<W> {
    out: W,
    log: LogKind,
    columns: LogColumns,
    /// Start of the open window.
    since: Span,
    cells: [WindowFigures; 3],
}

/// Figures of a direction in the open window.
#[derive(Clone, Copy, Debug, Default)]
struct WindowFigures {
    count: u64,
    bytes: u64,
    sum_ns: u128,
    max_ns: u64,
}

struct LogLine {
    at_ms: u64,
    values: (u64, u64),
    direction: TransferDirection,
    length: u64,
    offset: u64,
    priority: u16,
    issued_ns: u64,
}

impl<W: Write> LogWriter<W> {
    /// Creates a log of any kind except [`LogKind::Histogram`], which is [`HistogramLog`](super::HistogramLog).
    pub fn new(out: W, log: LogKind, columns: LogColumns) -> Self {
        let columns = LogColumns { window: columns.window.filter(|window| !window.is_zero()), ..columns };
        Self { out, log, columns, since: Span::ZERO, cells: Default::default() }
    }

    /// Adds an operation, in order of completion; late operations count in the open window.
    pub fn add(&mut self, observed: &LogSample) -> io::Result<()> {
        let Some(window) = self.columns.window else { return self.single(observed) };
        self.turn(observed.at, window)?;
        let ns = observed.latency.as_nanos();
        let LogSample { at, direction, length: bytes, .. } = *observed;
        self.add_counted(&DirectionCounts { at, direction, count: 1, bytes, sum_ns: ns, max_ns: ns })
    }

    /// Adds aggregated operations, in order of time. They must lie within a single window of this log.
    pub fn add_counted(&mut self, counted: &DirectionCounts) -> io::Result<()> {
        if let Some(window) = self.columns.window {
            self.turn(counted.at, window)?;
        }
        let cell = &mut self.cells[counted.direction as usize];
        cell.count += counted.count;
        cell.bytes += counted.bytes;
        cell.sum_ns += u128::from(counted.sum_ns);
        cell.max_ns = cell.max_ns.max(counted.max_ns);
        Ok(())
    }

    /// Closes the open window if `at` is after it.
    fn turn(&mut self, at: Span, window: Span) -> io::Result<()> {
        if at >= self.since + window {
            self.close(self.since + window)?;
            // Windows without operations have no lines.
            let passed = at.as_nanos() / window.as_nanos();
            self.since = Span::from_nanos(passed * window.as_nanos());
        }
        Ok(())
    }

    /// Closes the log at the end of the run, and returns the output.
    pub fn finish(mut self, end: Span) -> io::Result<W> {
        if let Some(window) = self.columns.window {
            let window_end = self.since + window;
            let end = if end > self.since && end < window_end { end } else { window_end };
            let is_rate = matches!(self.log, LogKind::Bandwidth | LogKind::Operations);
            if !is_rate || (end - self.since) * 2 >= window {
                self.close(end)?;
            }
        }
        self.out.flush()?;
        Ok(self.out)
    }

    fn single(&mut self, observed: &LogSample) -> io::Result<()> {
        let value = match self.log {
            LogKind::Bandwidth => rounded(observed.length as f64 / 1_024.0 * 1e9, observed.latency),
            LogKind::Operations => 1,
            _ => observed.latency.as_nanos(),
        };
        self.line(&LogLine {
            at_ms: observed.at.as_nanos() / 1_000_000,
            values: (value, value),
            direction: observed.direction,
            length: observed.length,
            offset: observed.offset,
            priority: observed.priority,
            issued_ns: observed.issued.as_nanos(),
        })
    }

    fn close(&mut self, end: Span) -> io::Result<()> {
        let length = end - self.since;
        let cells = std::mem::take(&mut self.cells);
        for (direction, cell) in TransferDirection::ALL.into_iter().zip(cells).filter(|(_, cell)| cell.count > 0) {
            let values = match self.log {
                LogKind::Bandwidth => [rounded(cell.bytes as f64 / 1_024.0 * 1e9, length); 2].into(),
                LogKind::Operations => [rounded(cell.count as f64 * 1e9, length); 2].into(),
                _ => ((cell.sum_ns as f64 / cell.count as f64 + 0.5) as u64, cell.max_ns),
            };
            let at_ms = end.as_nanos() / 1_000_000;
            self.line(&LogLine { at_ms, values, direction, length: 0, offset: 0, priority: 0, issued_ns: 0 })?;
        }
        Ok(())
    }

    fn line(&mut self, line: &LogLine) -> io::Result<()> {
        let columns = &self.columns;
        write!(self.out, "{}, ", line.at_ms + columns.epoch_ms)?;
        match (columns.window.map(|_| columns.value).unwrap_or_default(), line.values) {
            (WindowValue::Mean, (value, _)) | (WindowValue::Largest, (_, value)) => write!(self.out, "{value}")?,
            (WindowValue::Both, (mean, max)) => write!(self.out, "{mean}, {max}")?,
        }
        write!(self.out, ", {}, {}", line.direction as u8, line.length)?;
        if columns.offset {
            write!(self.out, ", {}", line.offset)?;
        }
        if columns.priority {
            write!(self.out, ", 0x{:04x}", line.priority)?;
        } else {
            write!(self.out, ", {}", u8::from(line.priority >> 13 == 1))?;
        }
        if columns.issue_time {
            write!(self.out, ", {}", line.issued_ns)?;
        }
        writeln!(self.out)
    }
}

/// Rate per second, rounded. `units` are multiplied by 1e9; an empty span counts as a nanosecond.
fn rounded(units: f64, span: Span) -> u64 {
    (units / span.as_nanos().max(1) as f64 + 0.5) as u64
}

#[cfg(test)]
mod tests {
    use plimsoll_units::Span;

    use crate::job::WindowValue;

    use super::{DirectionCounts, LogColumns, LogKind, LogSample, LogWriter, TransferDirection, log_name};

    fn observe(at_us: u64, latency_us: u64, direction: TransferDirection) -> LogSample {
        LogSample {
            at: Span::from_micros(at_us),
            latency: Span::from_micros(latency_us),
            direction,
            length: 4_096,
            offset: 12_288,
            priority: 0x2004,
            issued: Span::from_micros(at_us - latency_us),
        }
    }

    #[track_caller]
    fn check(log: LogKind, columns: LogColumns, expected: &[&str]) {
        let mut writer = LogWriter::new(Vec::new(), log, columns);
        writer.add(&observe(100_000, 50, TransferDirection::Read)).unwrap();
        writer.add(&observe(150_000, 150, TransferDirection::Read)).unwrap();
        writer.add(&observe(199_999, 20, TransferDirection::Write)).unwrap();
        writer.add(&observe(650_000, 40, TransferDirection::Read)).unwrap();
        let text = String::from_utf8(writer.finish(Span::from_millis(700)).unwrap()).unwrap();
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn without_windows_each_operation_has_a_line() {
        let lines =
            ["100, 50000, 0, 4096, 1", "150, 150000, 0, 4096, 1", "199, 20000, 1, 4096, 1", "650, 40000, 0, 4096, 1"];
        check(LogKind::Total, LogColumns::default(), &lines);
        let all =
            LogColumns { offset: true, priority: true, issue_time: true, epoch_ms: 1_000, ..LogColumns::default() };
        let lines = [
            "1100, 80000, 0, 4096, 12288, 0x2004, 99950000",
            "1150, 26667, 0, 4096, 12288, 0x2004, 149850000",
            "1199, 200000, 1, 4096, 12288, 0x2004, 199979000",
            "1650, 100000, 0, 4096, 12288, 0x2004, 649960000",
        ];
        check(LogKind::Bandwidth, all, &lines);
    }

    #[test]
    fn windows_have_a_line_for_each_direction() {
        let columns = LogColumns { window: Some(Span::from_millis(200)), ..LogColumns::default() };
        check(LogKind::Completion, columns, &["200, 100000, 0, 0, 0", "200, 20000, 1, 0, 0", "700, 40000, 0, 0, 0"]);
        check(LogKind::Operations, columns, &["200, 10, 0, 0, 0", "200, 5, 1, 0, 0", "700, 10, 0, 0, 0"]);
        let long = LogColumns { window: Some(Span::from_millis(600)), ..columns };
        check(LogKind::Operations, long, &["600, 3, 0, 0, 0", "600, 2, 1, 0, 0"]);
        check(LogKind::Completion, long, &["600, 100000, 0, 0, 0", "600, 20000, 1, 0, 0", "700, 40000, 0, 0, 0"]);
        check(LogKind::Bandwidth, columns, &["200, 40, 0, 0, 0", "200, 20, 1, 0, 0", "700, 40, 0, 0, 0"]);
        let max = LogColumns { value: WindowValue::Largest, priority: true, ..columns };
        check(
            LogKind::Submission,
            max,
            &["200, 150000, 0, 0, 0x0000", "200, 20000, 1, 0, 0x0000", "700, 40000, 0, 0, 0x0000"],
        );
        let both = LogColumns { value: WindowValue::Both, offset: true, ..columns };
        check(
            LogKind::Total,
            both,
            &["200, 100000, 150000, 0, 0, 0, 0", "200, 20000, 20000, 1, 0, 0, 0", "700, 40000, 40000, 0, 0, 0, 0"],
        );
    }

    #[test]
    fn aggregated_operations_print_like_single_operations() {
        let columns = LogColumns { window: Some(Span::from_millis(200)), ..LogColumns::default() };
        for log in [LogKind::Bandwidth, LogKind::Operations, LogKind::Completion] {
            let (mut single, mut counted) =
                (LogWriter::new(Vec::new(), log, columns), LogWriter::new(Vec::new(), log, columns));
            for at_ms in [0, 100, 300, 900] {
                for index in 1..=3 {
                    single.add(&observe(at_ms * 1_000 + 500 + index, index * 100, TransferDirection::Write)).unwrap();
                }
                let (at, direction) = (Span::from_millis(at_ms), TransferDirection::Write);
                let (bytes, sum_ns) = (3 * 4_096, 600_000);
                counted
                    .add_counted(&DirectionCounts { at, direction, count: 3, bytes, sum_ns, max_ns: 300_000 })
                    .unwrap();
            }
            let end = Span::from_millis(990);
            assert_eq!(single.finish(end).unwrap(), counted.finish(end).unwrap(), "{log:?}");
        }
    }

    #[test]
    fn log_files_are_named_like_fio() {
        assert_eq!(log_name("a", LogKind::Bandwidth, Some(1)), "a_bw.1.log");
        assert_eq!(log_name("d/a", LogKind::Histogram, Some(12)), "d/a_clat_hist.12.log");
        assert_eq!(LogKind::LATENCIES.map(|log| log_name("x", log, None)), ["x_slat.log", "x_clat.log", "x_lat.log"]);
    }
}
