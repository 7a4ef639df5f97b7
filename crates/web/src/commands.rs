//! Commands of the program that the console offers, as functions: they need crates above this one.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_measure::{MeasurementRequest, SimulationRequest};
use plimsoll_record::{Curve, LoadLine, Run};
use plimsoll_report::Page;
use plimsoll_units::Span;
use serde::Serialize;

/// Presets that need no further input.
pub const PRESETS: [&str; 5] = ["oltp", "redo", "scan", "backup", "etcd"];

/// Functions of the program. Messages of errors state cause and remedy.
#[derive(Clone, Copy, Debug)]
pub struct Commands {
    /// Measures, and keeps the run with the command line that repeats it. Returns its name.
    pub measure: fn(MeasurementRequest, Vec<String>, Observer) -> Result<String, String>,
    /// Simulates a load on a configuration or stages.
    pub simulate: fn(&str, &SimulationRequest, Observer) -> Result<Curve, String>,
    /// Simulates an article. Returns its page.
    pub article: fn(&ArticleRequest, Observer) -> Result<Page, String>,
}

/// A simulation of the benchmarks of a published article.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArticleRequest {
    pub article: &'static str,
    /// Configuration of the catalogue.
    pub config: &'static str,
    /// Virtual time of a step.
    pub step: Span,
}

/// Receives the events of a measurement, and stops it.
#[derive(Clone)]
pub struct Observer {
    send: Arc<dyn Fn(MeasureEvent) + Send + Sync>,
    stop: Arc<AtomicBool>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum MeasureEvent {
    /// Progress, several times a second.
    State(MeasureProgress),
    /// A load was measured.
    Point(CurvePoint),
    /// The load line of the points so far.
    LoadLine(LineFigures),
    /// A line for the user.
    Notice { text: String },
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MeasureProgress {
    /// Phase and offered load in words.
    pub phase: String,
    /// Recent completed operations per second.
    pub iops: f64,
    /// Recent 99th percentile of the response time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
    /// Completed share, 0 to 1.
    pub done: f64,
    /// Remaining time.
    pub left_ns: u64,
}

/// Figures of a load line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineFigures {
    pub text: String,
    /// Operations per second; `None` if no load met the objective.
    pub iops: Option<f64>,
    pub limit_ns: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Offered load in words.
    pub load: String,
    /// Completed operations per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Median response time.
    pub p50_ns: f64,
    /// 99th percentile of the response time.
    pub p99_ns: f64,
    /// True if operations arrived by the clock.
    pub open: bool,
}

impl CurvePoint {
    /// Figures of a run.
    pub fn of(run: &Run) -> Self {
        let figures = &run.figures;
        Self {
            load: plimsoll_report::words::pace(&run.offered),
            iops: figures.iops.value,
            bytes_per_second: figures.bytes_per_second,
            p50_ns: figures.p50_ns.value,
            p99_ns: figures.p99_ns.value,
            open: matches!(run.offered, plimsoll_load::Pace::Open { .. }),
        }
    }
}

impl LineFigures {
    /// Figures of a load line.
    pub fn of(line: &LoadLine) -> Self {
        Self {
            text: plimsoll_report::typeset(&plimsoll_report::words::load_line(line)),
            iops: line.iops().map(|iops| iops.value),
            limit_ns: line.objective().limit.as_nanos(),
        }
    }
}

impl Observer {
    /// An observer that passes events to `send`.
    pub fn new(send: impl Fn(MeasureEvent) + Send + Sync + 'static, stop: Arc<AtomicBool>) -> Self {
        Self { send: Arc::new(send), stop }
    }

    /// Passes an event on.
    pub fn send(&self, event: MeasureEvent) {
        (self.send)(event);
    }

    /// True once the user stopped the measurement.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Flag that becomes true when the user stops the measurement.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").field("stopped", &self.is_stopped()).finish_non_exhaustive()
    }
}
