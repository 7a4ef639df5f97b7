//! Reports of iostat, one after the other: the first of a run is a mean since the host was started. Knows no form.

use jiff::civil::DateTime;

use super::disks::{Absent, Disks};
use super::timeline::Timeline;
use crate::builder::Builder;
use crate::format::Input;
use crate::reading::Fate;

/// The reports of an input.
#[derive(Debug)]
pub(super) struct Reports {
    pub(super) disks: Disks,
    timeline: Timeline,
    /// Reports of this run.
    count: u64,
    /// Means since boot that were left out.
    left_out: u32,
}

/// What comes behind a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follows {
    /// Another one of the same run.
    Report,
    /// Another run, or the end.
    Nothing,
}

impl Reports {
    pub(super) fn new(input: &Input) -> Self {
        Self { disks: Disks::of(""), timeline: Timeline::new(input), count: 0, left_out: 0 }
    }

    /// Begins a run on a host.
    pub(super) fn run(&mut self, host: &str, out: &mut Builder) {
        self.disks.go_on(host, out);
        self.count = 0;
        self.timeline.from(None);
    }

    /// Ends the report that is being read, which was taken `at` a moment.
    pub(super) fn close(&mut self, at: Option<DateTime>, absent: Absent, follows: Follows, out: &mut Builder) {
        if self.disks.is_empty() {
            return;
        }
        self.count += 1;
        let (line, seconds) = (self.disks.line(), self.disks.seconds());
        if self.count > 1 {
            let window = self.timeline.sample(at, seconds, line, out);
            self.disks.close(window, absent, out);
        } else if follows == Follows::Nothing && !self.disks.has_given() {
            let window = Timeline::since_boot(seconds, line, out);
            self.disks.close(window, absent, out);
        } else {
            self.left_out += 1;
            self.timeline.from(at);
            self.disks.drop_rows();
        }
    }

    /// Says what became of them.
    pub(super) fn end(&self, out: &mut Builder) {
        self.disks.end("devices", out);
        if self.left_out > 0 {
            out.part("first report, since boot", Fate::Ignored);
        }
    }
}
