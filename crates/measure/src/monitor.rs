//! Progress of a measurement, and its interruption.

use plimsoll_load::Pace;
use plimsoll_record::{LoadLine, Run};
use plimsoll_units::{Bytes, Span};

/// Observes a measurement, and can end it.
pub trait Monitor {
    /// True if the user requested an end.
    fn is_interrupted(&self) -> bool;

    /// Progress of filling a scratch file of `size` bytes.
    fn filling(&mut self, filled: Bytes, size: Bytes);

    /// Progress of a point, several times per second; computed only for a monitor that displays it.
    fn point_progress(&mut self, progress: &dyn Fn() -> PointProgress);

    fn point_done(&mut self, run: &Run);

    /// The load line of the points so far; computed only for a monitor that displays it.
    fn line_so_far(&mut self, line: &dyn Fn() -> Option<LoadLine>);

    fn notice(&mut self, text: &str);

    /// The measurement ended, and so does its progress.
    fn clear_progress(&mut self);
}

/// Progress of a point and of its measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointProgress {
    /// Current phase, such as `open load`.
    pub phase: &'static str,
    /// The offered load.
    pub pace: Pace,
    /// Recent operations per second.
    pub iops: f64,
    /// Recent 99th percentile.
    pub p99: Option<Span>,
    /// Completed share of the measurement, 0 to 1.
    pub done: f64,
    /// Estimated remaining time.
    pub left: Span,
}

/// A monitor that shows no progress and never interrupts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unattended;

impl Monitor for Unattended {
    fn is_interrupted(&self) -> bool {
        false
    }

    fn filling(&mut self, _: Bytes, _: Bytes) {}

    fn point_progress(&mut self, _: &dyn Fn() -> PointProgress) {}

    fn point_done(&mut self, _: &Run) {}

    fn line_so_far(&mut self, _: &dyn Fn() -> Option<LoadLine>) {}

    fn notice(&mut self, _: &str) {}

    fn clear_progress(&mut self) {}
}
