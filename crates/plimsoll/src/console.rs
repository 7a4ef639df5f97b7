//! Progress on standard error, and interruption by the user.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plimsoll_language::say;
use plimsoll_measure::{Monitor, PointProgress};
use plimsoll_record::{LoadLine, Run};
use plimsoll_report::{Progress, progress_line};
use plimsoll_units::{Bytes, Span};
use plimsoll_web::{CurvePoint, LineFigures, MeasureEvent, MeasureProgress, Observer};

use crate::cli_error::CliError;

/// Progress on standard error, and handling of Ctrl-C.
#[derive(Debug)]
pub struct Console {
    quiet: bool,
    live: bool,
    interrupted: Arc<AtomicBool>,
    /// Receives progress in place of the terminal.
    observer: Option<Observer>,
    /// When the observer last received progress.
    sent_at: Option<Instant>,
    /// When the last point was printed, at first the start; points of a log are not printed more often than
    /// [`LOG_INTERVAL`].
    printed: Instant,
}

/// Interval of progress for an observer.
const OBSERVER_INTERVAL: Duration = Duration::from_millis(200);
/// Interval of points in a log.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

impl Console {
    /// Installs handlers for SIGINT and SIGTERM. The first signal requests an orderly end; the second ends the process
    /// immediately, which also removes unnamed files.
    pub fn new(quiet: bool) -> Result<Self, CliError> {
        let signals = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];
        let interrupted = crate::signals::watch(&signals).map_err(anyhow::Error::new)?;
        let live = std::io::stderr().is_terminal();
        Ok(Self { quiet, live, interrupted, observer: None, sent_at: None, printed: Instant::now() })
    }

    /// Passes progress to an observer, which can stop the measurement. Prints nothing.
    pub fn for_observer(observer: Observer) -> Self {
        let interrupted = observer.stop_flag();
        Self { quiet: true, live: false, interrupted, observer: Some(observer), sent_at: None, printed: Instant::now() }
    }

    fn take_turn(&mut self) -> bool {
        let is_due = self.observer.is_some() && self.sent_at.is_none_or(|last| last.elapsed() >= OBSERVER_INTERVAL);
        if is_due {
            self.sent_at = Some(Instant::now());
        }
        is_due
    }

    fn notify_observer(&self, event: impl FnOnce() -> MeasureEvent) {
        if let Some(observer) = &self.observer {
            observer.send(event());
        }
    }

    /// True if the user requested an end.
    pub fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// A flag that is set when the user requests an end.
    pub fn interrupted_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.interrupted)
    }

    /// Shows the progress of the measurement in place, on a terminal.
    pub fn show<'a>(&mut self, progress: impl FnOnce() -> Progress<'a>) {
        if self.take_turn() {
            let progress = progress();
            self.notify_observer(|| MeasureEvent::State(state(&progress)));
            return;
        }
        if self.live && !self.quiet {
            // A failure to show progress does not end the measurement.
            let _ = write!(std::io::stderr(), "\r{}\x1b[K", progress_line(&progress(), 78));
        }
    }

    /// Shows a line in place, on a terminal.
    pub fn show_line(&mut self, text: &str) {
        if self.live && !self.quiet {
            let _ = write!(std::io::stderr(), "\r{text}\x1b[K");
        }
    }

    /// True on a terminal, where lines are shown in place.
    pub const fn is_live(&self) -> bool {
        self.live
    }

    /// Prints a line.
    pub fn print_line(&mut self, text: &str) {
        if self.observer.is_some() {
            return self.notify_observer(|| MeasureEvent::Notice { text: text.to_owned() });
        }
        self.clear();
        let _ = writeln!(std::io::stderr(), "plimsoll: {text}");
    }

    /// Prints a line unless output is quiet.
    pub fn print_notice(&mut self, text: &str) {
        if !self.quiet || self.observer.is_some() {
            self.print_line(text);
        }
    }

    /// Prints a completed step with its result, unless progress is shown in place.
    pub fn step_done(&mut self, name: &str, result: &str) {
        if self.live || self.quiet {
            return;
        }
        let colon = if result.is_empty() { "" } else { ": " };
        let _ = writeln!(std::io::stderr(), "  {name}{colon}{result}");
    }

    /// Removes the progress line.
    pub fn clear(&mut self) {
        if self.live && !self.quiet {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

impl Monitor for Console {
    fn is_interrupted(&self) -> bool {
        self.interrupted()
    }

    fn filling(&mut self, filled: Bytes, size: Bytes) {
        if self.take_turn() {
            let phase = describe_filling(filled, size);
            self.notify_observer(|| MeasureEvent::State(MeasureProgress { phase, ..Default::default() }));
        }
        if self.live && !self.quiet {
            let _ = write!(std::io::stderr(), "\r{}\x1b[K", describe_filling(filled, size));
        }
    }

    fn point_progress(&mut self, progress: &dyn Fn() -> PointProgress) {
        self.show(|| {
            let PointProgress { phase, pace, iops, p99, done, left } = progress();
            let point = plimsoll_report::words::pace(&pace);
            let phase = plimsoll_report::words::phase(phase).into();
            Progress { phase, point, rate: iops, unit: "IOPS", p99, done, left }
        });
    }

    /// Prints the point at most once per [`LOG_INTERVAL`], unless progress is shown in place.
    fn point_done(&mut self, run: &Run) {
        self.notify_observer(|| MeasureEvent::Point(CurvePoint::of(run)));
        if self.live || self.quiet || self.printed.elapsed() < LOG_INTERVAL {
            return;
        }
        self.printed = Instant::now();
        let p99 = Span::from_nanos(run.figures.p99_ns.value as u64);
        let pace = plimsoll_report::words::pace(&run.offered);
        let _ = writeln!(std::io::stderr(), "  {pace}: {:.0} IOPS, p99 {p99}", run.figures.iops.value);
    }

    fn line_so_far(&mut self, line: &dyn Fn() -> Option<LoadLine>) {
        if let Some(line) = self.observer.is_some().then(line).flatten() {
            self.notify_observer(|| MeasureEvent::LoadLine(LineFigures::of(&line)));
        }
    }

    fn notice(&mut self, text: &str) {
        self.print_notice(text);
    }

    fn clear_progress(&mut self) {
        self.clear();
    }
}

fn state(progress: &Progress<'_>) -> MeasureProgress {
    MeasureProgress {
        phase: format!("{}, {}", progress.phase, progress.point),
        iops: progress.rate,
        p99_ns: progress.p99.map(Span::as_nanos),
        done: if progress.done.is_finite() { progress.done.clamp(0.0, 1.0) } else { 0.0 },
        left_ns: progress.left.as_nanos(),
    }
}

fn describe_filling(filled: Bytes, size: Bytes) -> String {
    say!("filling a file to measure on: {filled} of {size}")
}
