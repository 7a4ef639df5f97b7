//! Disk statistics of hosts: iostat, sar, sadf and vmstat, as text and as JSON.
//!
//! All of them print the same measures under similar names, a row for each device and sample (`disks`). Devices are
//! layered, so only a single layer counts (`crate::layers`). The first report of a run is a mean since boot without a
//! mark: it is dropped if others follow.

mod disks;
mod iostat;
mod json;
mod pidstat;
mod sadf;
mod sar;
mod vmstat;

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime};
use plimsoll_units::Span;

use self::disks::{Absent, Disks};
use crate::builder::Builder;
use crate::form::{Form, FormatInput, Resemblance};
use crate::processors::{ProcessorShares, UsedProcessors};
use crate::reading::{Class, Doubt, Fate, Measure, Origin, ReadingScope, ReadingWindow};
use crate::refusal::InputFault;
use crate::text::timestamp::{self, Stamp};

pub(crate) use iostat::FORM as IOSTAT;
pub(crate) use json::FORM as JSON;
pub(crate) use pidstat::FORM as PIDSTAT;
pub(crate) use sadf::FORM as SADF;
pub(crate) use sar::FORM as SAR;
pub(crate) use vmstat::FORM as VMSTAT;

/// Placeholder of an absent date: only differences of times are known.
const UNDATED: Date = jiff::civil::date(1970, 1, 1);

/// Windows of an input's samples.
#[derive(Debug, Default)]
struct Timeline {
    begin: Option<DateTime>,
    interval: Option<Span>,
    /// The time of the last sample.
    last: Option<DateTime>,
    length: Option<Span>,
    /// Total length of the samples so far, for inputs without times.
    passed: SignedDuration,
    /// Cautions were given: for an assumed length, for a clock that went back.
    assumed: bool,
    went_back: bool,
}

/// A time in UTC; without a date it stays unchanged.
fn instant(stamp: Stamp, out: &mut Builder) -> DateTime {
    match stamp.parts() {
        (at, _) if at.year() <= UNDATED.year() => at,
        _ => out.instant(stamp),
    }
}

impl Timeline {
    fn new(input: &FormatInput) -> Self {
        Self { begin: input.begin, interval: input.interval, ..Self::default() }
    }

    /// Sets the time before the next sample; earlier samples belong to another run.
    fn from(&mut self, at: Option<DateTime>) {
        self.last = at;
    }

    /// The window of a sample that ends at `at`, with its own length in seconds if known. It begins in `line`.
    fn sample(&mut self, at: Option<DateTime>, stated_s: Option<f64>, line: u64, out: &mut Builder) -> u32 {
        let apart = match (self.last, at) {
            (Some(last), Some(at)) => Some(at.duration_since(last).as_secs_f64()),
            _ => None,
        };
        if apart.is_some_and(|apart| apart < 0.0) && !std::mem::replace(&mut self.went_back, true) {
            out.caution(Some(Origin::line(line)), Doubt::ClockBack);
        }
        let seconds = stated_s.or(apart).filter(|seconds| *seconds > 0.0 && seconds.is_finite());
        let length = seconds.map(Span::from_secs_f64).or(self.interval).or(self.length);
        let length = length.filter(|length| !length.is_zero()).unwrap_or_else(|| {
            if !std::mem::replace(&mut self.assumed, true) {
                out.caution(Some(Origin::line(line)), Doubt::IntervalAssumed);
            }
            Span::from_secs(1)
        });
        self.length = Some(length);
        self.last = at.or(self.last);
        let lasted = SignedDuration::from_nanos(i64::try_from(length.as_nanos()).unwrap_or(i64::MAX));
        let begin = match at {
            Some(at) if at.year() > UNDATED.year() => timestamp::before(at, length),
            _ => self.begin.and_then(|begin| begin.checked_add(self.passed).ok()),
        };
        self.passed = self.passed.checked_add(lasted).unwrap_or(self.passed);
        let window = ReadingWindow { begin, length };
        if begin.is_some() { out.window(window) } else { out.sample(window) }
    }

    /// The window of means since boot, for inputs without other samples. An unknown length is assumed to be a day, so
    /// that means are not mistaken for peaks.
    fn since_boot(stated_s: Option<f64>, line: u64, out: &mut Builder) -> u32 {
        out.caution(Some(Origin::line(line)), Doubt::MeanSinceStart);
        let seconds = stated_s.filter(|seconds| *seconds > 0.0 && seconds.is_finite()).unwrap_or_else(|| {
            out.caution(Some(Origin::line(line)), Doubt::DaySinceStart);
            86_400.0
        });
        out.sample(ReadingWindow { begin: None, length: Span::from_secs_f64(seconds) })
    }
}

/// The sar tables of a host: its devices, and total transfers.
#[derive(Debug, Default)]
struct Tables {
    disks: Disks,
    /// The host as one device without a name.
    total: Disks,
}

impl Tables {
    fn of(host: &str) -> Self {
        Self { disks: Disks::of(host), total: Disks::of(host) }
    }

    /// Switches to a host.
    fn go_on(&mut self, host: &str, out: &mut Builder) {
        self.disks.go_on(host, out);
        self.total.go_on(host, out);
    }

    /// Emits a row of transfers.
    fn transfers(&mut self, line: u64, numbers: &[f64], window: u32, out: &mut Builder) {
        self.total.numbers("", line, numbers);
        self.total.close(window, Absent::Unknown, out);
    }

    /// Emits the rows of devices. The table of transfers has no latency: the mean of the devices is used for the host.
    fn devices(&mut self, window: u32, out: &mut Builder) {
        let line = self.disks.line();
        let sums = self.disks.close(window, Absent::Unknown, out);
        if !self.total.has_given() {
            return;
        }
        let scope = out.scope(ReadingScope { host: self.disks.host().to_owned(), ..ReadingScope::default() });
        let figures = [(Measure::Latency, sums.latency(), "await"), (Measure::Depth, sums.depth(), "aqu-sz")];
        for (measure, value, name) in figures {
            let Some(value) = value else { continue };
            let origin = out.origin(line, "all devices", name);
            out.mean((scope, window), Class::All, measure, value, origin);
        }
    }

    /// Lists the tables.
    fn end(&self, out: &mut Builder) {
        self.disks.end("devices", out);
        self.total.end("transfers", out);
    }

    fn has_given(&self) -> bool {
        self.disks.has_given() || self.total.has_given()
    }
}

/// The kind of the current sar table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum In {
    /// Unknown, or without figures that are read.
    #[default]
    Other,
    Disks,
    Transfers,
    Processors,
    Memory,
}

/// Parts with their outcomes.
#[derive(Debug, Default)]
struct Noted(Vec<(&'static str, Fate)>);

impl Noted {
    /// Records a part once.
    fn note(&mut self, name: &'static str, fate: Fate) {
        if !self.0.iter().any(|(existing, _)| *existing == name) {
            self.0.push((name, fate));
        }
    }

    /// Lists all parts.
    fn list(&self, out: &mut Builder) {
        for (name, fate) in &self.0 {
            out.part(*name, *fate);
        }
    }
}

#[derive(Debug, Default)]
struct Reports {
    disks: Disks,
    timeline: Timeline,
    /// Reports of this run.
    count: u64,
    /// Dropped means since boot.
    left_out: u32,
    /// The host of this run, and its processors.
    host: String,
    processors: Option<f64>,
    /// Time of the processors in the current report, with its line.
    shares: Option<(ProcessorShares, u64)>,
    used: UsedProcessors,
}

/// The content after a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follows {
    /// Another report of the same run.
    Report,
    /// Another run, or the end.
    End,
}

impl Reports {
    fn new(input: &FormatInput) -> Self {
        Self { timeline: Timeline::new(input), ..Self::default() }
    }

    /// Begins a run on a host with a number of processors.
    fn run(&mut self, host: &str, processors: Option<f64>, out: &mut Builder) {
        self.used.emit_share(&self.host, "avg-cpu", self.processors, out);
        host.clone_into(&mut self.host);
        self.processors = processors;
        self.disks.go_on(host, out);
        self.count = 0;
        self.timeline.from(None);
    }

    /// Ends the current report, taken at `at`.
    fn close(&mut self, at: Option<DateTime>, absent: Absent, follows: Follows, out: &mut Builder) {
        self.disks.join();
        // With -z, a report without rows is an idle interval.
        let is_idle = absent == Absent::Idle && self.count > 0;
        if self.disks.is_empty() && !is_idle {
            return;
        }
        self.count += 1;
        let (line, seconds) = (self.disks.line(), self.disks.seconds());
        let shares = self.shares.take();
        if self.count > 1 {
            let window = self.timeline.sample(at, seconds, line, out);
            self.disks.close(window, absent, out);
            if let (Some((shares, line)), Some(length)) = (shares, out.latest_length()) {
                self.used.add_shares(shares.used, shares, length.as_secs_f64(), line);
            }
        } else if follows == Follows::End && !self.disks.has_given() {
            let window = Timeline::since_boot(seconds, line, out);
            self.disks.close(window, absent, out);
        } else {
            self.left_out += 1;
            self.timeline.from(at);
            self.disks.drop_rows();
        }
    }

    /// Lists the reports.
    fn end(&mut self, out: &mut Builder) {
        self.used.emit_share(&self.host, "avg-cpu", self.processors, out);
        self.disks.end("devices", out);
        if self.left_out > 0 {
            out.part("first report, since boot", Fate::Ignored);
        }
    }
}

/// Binary files of sar: `/var/log/sa/sa15`.
pub(crate) const BINARY: Form = Form::refused(
    "sa",
    "sysstat data file (binary)",
    // The magic number of all versions since 2003, in both byte orders.
    |head| Resemblance::is(9, matches!(head.raw(), [0x96, 0xd5, ..] | [0xd5, 0x96, ..])),
    &InputFault::BinarySysstat,
);

/// `sadf -x` and `sadf -g`.
pub(crate) const XML: Form = Form::refused(
    "sadf-xml",
    "sadf output as XML or SVG",
    |head| Resemblance::is(6, head.has("<?xml") && head.has("sysstat") && head.has_any(&["<host ", "<svg"])),
    &InputFault::SysstatXml,
);

/// iostat, vmstat and sar of Solaris, AIX, BSD, macOS and HP-UX.
pub(crate) const FOREIGN: Form = Form::refused(
    "iostat-other",
    "iostat, vmstat, sar of another system",
    |head| Resemblance::is(6, head.text().lines().take(200).any(is_foreign)),
    &InputFault::OtherSystem,
);

/// True for a heading that only other systems print.
fn is_foreign(line: &str) -> bool {
    let line = line.trim();
    let has_all = |names: &[&str]| names.iter().all(|name| line.split_whitespace().any(|word| word == *name));
    line.starts_with("extended device statistics")
        || has_all(&["kr/s", "kw/s"])
        || has_all(&["Kb_read", "Kb_wrtn"])
        || (line.starts_with("System configuration: lcpu") && line.contains('='))
        || has_all(&["KB/t", "tps", "MB/s"])
        || has_all(&["bps", "sps", "msps"])
        || has_all(&["kthr", "memory", "page"])
        // sar -d of Solaris and HP-UX, and of AIX with Kbs/s.
        || has_all(&["avque", "r+w/s", "avwait", "avserv"])
}
