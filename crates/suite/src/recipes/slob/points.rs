//! Points of a curve: block I/O by the database's counters, times of units of work, and the storage below.

use plimsoll_analyse::knee;
use plimsoll_record::{Bins, LoadLine, Run, SessionRun};
use plimsoll_units::{Bytes, Span};

use super::turns::{SELECT, UPDATE};
use crate::session_run::session_run;
use crate::sql::{SessionsResult, SessionsStep};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PointSpec {
    /// `UPDATE_PCT`.
    pub(super) update_pct: u32,
    /// Threads per schema.
    pub(super) threads: u32,
}

#[derive(Clone, Debug)]
pub(super) struct SlobPoint {
    pub(super) spec: PointSpec,
    /// Units of work without their commits, and the counters of their window.
    pub(super) measured: SessionRun,
    /// Times of reading units.
    pub(super) selects: Bins,
    /// Times of updating units.
    pub(super) updates: Bins,
    /// Times of commits; empty if not timed separately.
    pub(super) commits: Bins,
    /// Duration of the window of the counters.
    pub(super) window: Span,
}

impl SlobPoint {
    pub(super) fn of(spec: PointSpec, step: &SessionsStep, observed: &SessionsResult) -> Self {
        let measured = session_run(step, observed);
        let kind = |kind: u8| measured.run.total.response_where(|counter| counter.stream == kind);
        Self {
            spec,
            selects: kind(SELECT),
            updates: kind(UPDATE),
            commits: measured.parts.response(),
            measured,
            window: Span::from_nanos(observed.window.1.as_nanos().saturating_sub(observed.window.0.as_nanos())),
        }
    }

    fn rate(&self, count: Option<u64>) -> Option<f64> {
        let seconds = self.window.as_secs_f64();
        Some(count? as f64 / seconds).filter(|_| seconds > 0.0)
    }

    /// Units of work per second.
    pub(super) fn units_s(&self) -> f64 {
        self.measured.run.figures.iops.value
    }

    /// Blocks read by the database per second.
    pub(super) fn reads_s(&self) -> Option<f64> {
        self.rate(self.measured.counted.reads)
    }

    /// Blocks written per second.
    pub(super) fn writes_s(&self) -> Option<f64> {
        self.rate(self.measured.counted.writes)
    }

    /// Blocks read and written per second: the horizontal axis of a SLOB curve.
    pub(super) fn blocks_s(&self) -> Option<f64> {
        Some(self.reads_s()? + self.writes_s().unwrap_or(0.0))
    }

    /// Cache hits of the database in blocks per second.
    pub(super) fn hits_s(&self) -> Option<f64> {
        self.rate(self.measured.counted.hits)
    }

    /// Log bytes per second.
    pub(super) fn log_s(&self) -> Option<f64> {
        self.rate(self.measured.counted.log_bytes)
    }

    /// Commits per second, by the database's counter.
    pub(super) fn commits_s(&self) -> Option<f64> {
        self.rate(self.measured.counted.commits)
    }

    /// Mean time of a read in the database: the vertical axis.
    pub(super) fn read_latency(&self) -> Option<Span> {
        self.measured.counted.read_latency()
    }

    /// Mean time of a read on the underlying device.
    pub(super) fn disk_latency(&self) -> Option<Span> {
        self.measured.storage.disk.as_ref()?.read_latency()
    }

    /// Fraction of bytes read from the operating system that did not come from storage, 0 to 1.
    pub(super) fn page_cache_share(&self, block: u64) -> Option<f64> {
        self.measured.storage.page_cache_share(&self.measured.counted, Bytes::new(block))
    }

    /// Server's share of all processors of this host, 0 to 1.
    pub(super) fn server_share(&self) -> Option<f64> {
        let (cpu, host) = (self.measured.counted.cpu?, self.measured.storage.host?);
        let all = host.total().as_secs_f64();
        (all > 0.0).then(|| cpu.total().as_secs_f64() / all)
    }
}

/// Points with the same share of updates.
pub(super) struct SlobCurve<'a> {
    pub(super) points: Vec<&'a SlobPoint>,
}

impl<'a> SlobCurve<'a> {
    /// Selects the points with this share.
    pub(super) fn of(points: &'a [SlobPoint], update_pct: u32) -> Self {
        Self { points: points.iter().filter(|point| point.spec.update_pct == update_pct).collect() }
    }

    /// The point with the highest block I/O; by units of work if the database does not count blocks.
    pub(super) fn best(&self) -> Option<&'a SlobPoint> {
        let throughput = |point: &SlobPoint| point.blocks_s().unwrap_or_else(|| point.units_s());
        self.points.iter().copied().max_by(|a, b| throughput(a).total_cmp(&throughput(b)))
    }

    /// The knee, beyond which more threads mainly increase the waiting time.
    pub(super) fn knee(&self) -> Option<&'a SlobPoint> {
        let runs: Vec<Run> = self.points.iter().map(|point| point.measured.run.clone()).collect();
        let offered = knee(&runs)?.offered;
        self.points.iter().copied().find(|point| point.measured.run.offered == offered)
    }

    /// Block I/O per second at a load line in units of work, by the nearest point's blocks per unit.
    pub(super) fn blocks_at(&self, line: &LoadLine) -> Option<f64> {
        let (LoadLine::At { iops, .. } | LoadLine::Beyond { iops, .. }) = line else { return None };
        let away = |point: &&&SlobPoint| (point.units_s() - iops.value).abs();
        let nearest =
            self.points.iter().filter(|point| point.units_s() > 0.0).min_by(|a, b| away(a).total_cmp(&away(b)))?;
        Some(iops.value * nearest.blocks_s()? / nearest.units_s())
    }

    /// Block I/O per second at which the mean read time reaches `limit`, interpolated between points, and whether a
    /// point above was measured. `None` if the lightest load exceeds it, or without data.
    pub(super) fn blocks_within(&self, limit: Span) -> Option<(f64, bool)> {
        let mut observed: Vec<(f64, f64)> = self
            .points
            .iter()
            .filter_map(|point| Some((point.blocks_s()?, point.read_latency()?.as_nanos() as f64)))
            .collect();
        observed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let limit = limit.as_nanos() as f64;
        let within = observed.iter().take_while(|(_, latency)| *latency <= limit).count();
        let below = observed.get(within.checked_sub(1)?)?;
        let Some(above) = observed.get(within) else { return Some((below.0, false)) };
        let share = (limit - below.1) / (above.1 - below.1).max(1.0);
        Some((below.0 + (above.0 - below.0) * share.clamp(0.0, 1.0), true))
    }
}
