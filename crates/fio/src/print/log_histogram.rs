//! Logs of histograms: operations per latency bucket and window.
//!
//! A line is `time, direction, block, count, count, ...` with all 1,856 buckets, or a half, a quarter and so on if
//! neighbours are merged (`log_hist_coarseness`).

use std::io::{self, Write};

use plimsoll_record::Bins;
use plimsoll_units::Span;

use super::buckets::{BUCKETS, index};
use super::log::TransferDirection;

#[derive(Debug)]
pub struct HistogramLog<W> {
    out: W,
    window: Span,
    coarseness: u32,
    epoch_ms: u64,
    block_bytes: [u64; 3],
    since: Span,
    counts: [Vec<u64>; 3],
}

impl<W: Write> HistogramLog<W> {
    /// Creates a log with a line per direction and `window` (`log_hist_msec`) with operations.
    ///
    /// A count covers 2^`coarseness` buckets (at most 2^6). `epoch_ms` is added to times, and `block_bytes` are the
    /// largest blocks of reads, writes and trims.
    pub fn new(out: W, window: Span, coarseness: u32, epoch_ms: u64, block_bytes: [u64; 3]) -> Self {
        let window = window.max(Span::from_nanos(1));
        let counts = [const { Vec::new() }; 3];
        Self { out, window, coarseness: coarseness.min(6), epoch_ms, block_bytes, since: Span::ZERO, counts }
    }

    /// Adds the completion latency of an operation completed at `at`, since the start of the run.
    pub fn add(&mut self, at: Span, direction: TransferDirection, latency: Span) -> io::Result<()> {
        self.turn(at)?;
        let counts = &mut self.counts[direction as usize];
        counts.resize(BUCKETS, 0);
        counts[index(latency.as_nanos())] += 1;
        Ok(())
    }

    /// Adds aggregated latencies of a single window from `at` on.
    pub fn add_counted(&mut self, at: Span, direction: TransferDirection, latencies: &Bins) -> io::Result<()> {
        self.turn(at)?;
        let counts = &mut self.counts[direction as usize];
        if !latencies.is_empty() {
            counts.resize(BUCKETS, 0);
        }
        for &(lowest, count) in &latencies.bins {
            counts[index(lowest)] += count;
        }
        Ok(())
    }

    /// Closes the open window if `at` is after it.
    fn turn(&mut self, at: Span) -> io::Result<()> {
        if at >= self.since + self.window {
            self.close(self.since + self.window)?;
            self.since = Span::from_nanos(at.as_nanos() / self.window.as_nanos() * self.window.as_nanos());
        }
        Ok(())
    }

    /// Closes the log at the end of the run, and returns the output. The incomplete last window is included, so that
    /// all lines together count all operations.
    pub fn finish(mut self, end: Span) -> io::Result<W> {
        let window_end = self.since + self.window;
        self.close(if end > self.since && end < window_end { end } else { window_end })?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn close(&mut self, end: Span) -> io::Result<()> {
        for (direction, counts) in self.counts.iter_mut().enumerate().filter(|(_, counts)| !counts.is_empty()) {
            let at_ms = end.as_nanos() / 1_000_000 + self.epoch_ms;
            write!(self.out, "{at_ms}, {direction}, {}", self.block_bytes[direction])?;
            for together in counts.chunks(1 << self.coarseness) {
                write!(self.out, ", {}", together.iter().sum::<u64>())?;
            }
            writeln!(self.out)?;
            counts.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_units::Span;

    use super::{HistogramLog, TransferDirection};

    #[test]
    fn windows_are_counted_separately() {
        let mut log = HistogramLog::new(Vec::new(), Span::from_millis(100), 6, 5_000, [4_096, 8_192, 0]);
        for (at_ms, direction, latency_ns) in [
            (1, TransferDirection::Read, 100),
            (2, TransferDirection::Read, 130),
            (99, TransferDirection::Write, 10),
            (250, TransferDirection::Read, 1 << 40),
        ] {
            log.add(Span::from_millis(at_ms), direction, Span::from_nanos(latency_ns)).unwrap();
        }
        let text = String::from_utf8(log.finish(Span::from_millis(260)).unwrap()).unwrap();
        let rows: Vec<Vec<u64>> =
            text.lines().map(|line| line.split(", ").map(|field| field.parse().unwrap()).collect()).collect();
        assert_eq!(rows.iter().map(|row| row.len() - 3).collect::<Vec<_>>(), [29; 3]);
        assert_eq!(rows[0][..6], [5_100, 0, 4_096, 0, 1, 1]);
        assert_eq!(rows[1][..4], [5_100, 1, 8_192, 1]);
        assert_eq!((rows[2][0], rows[2][31]), (5_260, 1), "the longest are counted in the last");
    }

    #[test]
    fn all_buckets_are_printed_unless_merged() {
        let mut log = HistogramLog::new(Vec::new(), Span::from_millis(100), 0, 0, [512; 3]);
        log.add(Span::ZERO, TransferDirection::Trim, Span::from_nanos(3)).unwrap();
        let text = String::from_utf8(log.finish(Span::from_millis(1)).unwrap()).unwrap();
        assert!(text.starts_with("1, 2, 512, 0, 0, 0, 1, 0"));
        assert_eq!(text.split(", ").count(), 3 + 1_856);
    }
}
