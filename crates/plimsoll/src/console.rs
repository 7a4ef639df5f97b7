//! What the user sees while something is going on, and how the user stops it.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_record::Run;
use plimsoll_report::{Progress, progress_line};
use plimsoll_units::Span;

/// Progress on standard error, and Ctrl-C.
#[derive(Debug)]
pub struct Console {
    quiet: bool,
    live: bool,
    interrupted: Arc<AtomicBool>,
}

impl Console {
    /// Watches for Ctrl-C and the wish to terminate. The first asks for an orderly end; a second one ends the process
    /// at once: files without a name vanish with it.
    pub fn new(quiet: bool) -> std::io::Result<Self> {
        let interrupted = crate::signals::watch(&[signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM])?;
        Ok(Self { quiet, live: std::io::stderr().is_terminal(), interrupted })
    }

    /// True once the user asked for an end.
    pub fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// What becomes true once the user asked for an end.
    pub fn interrupted_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.interrupted)
    }

    /// Shows where the measurement is, in place, on a terminal.
    pub fn show<'a>(&mut self, progress: impl FnOnce() -> Progress<'a>) {
        if self.live && !self.quiet {
            // Progress that cannot be shown is no reason to stop measuring.
            let _ = write!(std::io::stderr(), "\r{}\x1b[K", progress_line(&progress(), 78));
        }
    }

    /// Shows how far the filling of a scratch file is.
    pub fn filling(&mut self, filled: plimsoll_units::Bytes, size: plimsoll_units::Bytes) {
        if self.live && !self.quiet {
            let _ = write!(std::io::stderr(), "\rfilling a file to measure on: {filled} of {size}\x1b[K");
        }
    }

    /// Shows a line in place, on a terminal.
    pub fn line(&mut self, text: &str) {
        if self.live && !self.quiet {
            let _ = write!(std::io::stderr(), "\r{text}\x1b[K");
        }
    }

    /// True on a terminal: lines are shown in place.
    pub const fn is_live(&self) -> bool {
        self.live
    }

    /// Says a line that stays.
    pub fn say(&mut self, text: &str) {
        self.clear();
        let _ = writeln!(std::io::stderr(), "plimsoll: {text}");
    }

    /// Says a line that stays, unless quiet was wanted.
    pub fn tell(&mut self, text: &str) {
        if !self.quiet {
            self.say(text);
        }
    }

    /// Says that a point is done, where there is no terminal to show progress in place.
    pub fn point_done(&mut self, run: &Run) {
        if self.live || self.quiet {
            return;
        }
        let p99 = Span::from_nanos(run.figures.p99_ns.value as u64);
        let pace = plimsoll_report::words::pace(&run.offered);
        let _ = writeln!(std::io::stderr(), "  {pace}: {:.0} IOPS, p99 {p99}", run.figures.iops.value);
    }

    /// Says that a step is done, where there is no terminal to show progress in place: and what came of it.
    pub fn step_done(&mut self, name: &str, came_of_it: &str) {
        if self.live || self.quiet {
            return;
        }
        let colon = if came_of_it.is_empty() { "" } else { ": " };
        let _ = writeln!(std::io::stderr(), "  {name}{colon}{came_of_it}");
    }

    /// Takes the progress line away.
    pub fn clear(&mut self) {
        if self.live && !self.quiet {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
