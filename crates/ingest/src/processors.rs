//! Processors and memory of a host, as its tools report them.

use crate::builder::Builder;
use crate::reading::{HostTime, Origin, ReadingScope, Resource, ResourceFigure};

/// Seconds of the shortest interval whose use is a peak.
const MINUTE: f64 = 60.0;
/// Seconds of the means of which the highest counts: shorter ones have peaks that a queue for processors hides.
const HOUR: f64 = 3600.0;

/// Shares of the time of a host's processors in an interval, 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessorShares {
    /// On which programs ran.
    pub(crate) used: f64,
    /// Idle with I/O in flight, if the input has it.
    pub(crate) io_wait: Option<f64>,
}

impl ProcessorShares {
    /// From percentages of idle time (with those of other machines), and of idle time with I/O in flight, a part of it.
    pub(crate) fn of_idle(idle_percent: f64, io_wait_percent: Option<f64>) -> Self {
        let io_wait = io_wait_percent.map(|percent| (percent / 100.0).clamp(0.0, 1.0));
        Self { used: (1.0 - idle_percent / 100.0).clamp(0.0, 1.0), io_wait }
    }
}

/// Processors in use by all programs of a host, or their busy share: the highest hourly mean, or the mean of a shorter input.
#[derive(Debug, Default)]
pub(crate) struct UsedProcessors {
    /// Of the present hour.
    seconds: f64,
    processor_seconds: f64,
    /// The highest mean of a complete hour.
    highest: Option<f64>,
    /// The highest of all intervals of a minute or more.
    peak: Option<f64>,
    /// First line with a figure.
    line: Option<u64>,
    /// Of all intervals with shares: seconds, and these times the shares in use and in I/O wait.
    shared: [f64; 3],
    /// An interval with shares has none of I/O wait.
    lacks_io_wait: bool,
}

impl UsedProcessors {
    /// Adds an interval in which `used` processors ran on average.
    pub(crate) fn add(&mut self, used: f64, seconds: f64, line: u64) {
        if !(used >= 0.0 && seconds > 0.0) {
            return;
        }
        self.line.get_or_insert(line);
        if seconds >= MINUTE {
            self.peak = Some(self.peak.map_or(used, |peak| peak.max(used)));
        }
        self.seconds += seconds;
        self.processor_seconds += used * seconds;
        if self.seconds >= HOUR {
            let mean = self.processor_seconds / self.seconds;
            self.highest = Some(self.highest.map_or(mean, |highest| highest.max(mean)));
            (self.seconds, self.processor_seconds) = (0.0, 0.0);
        }
    }

    /// Adds an interval with shares of all processors, whose number in use is `used`; the shares may be of an unknown
    /// number.
    pub(crate) fn add_shares(&mut self, used: f64, shares: ProcessorShares, seconds: f64, line: u64) {
        self.add(used, seconds, line);
        if shares.used >= 0.0 && seconds > 0.0 {
            let weighted = [1.0, shares.used, shares.io_wait.unwrap_or(0.0)].map(|share| share * seconds);
            self.shared = [0, 1, 2].map(|at| self.shared[at] + weighted[at]);
            self.lacks_io_wait |= shares.io_wait.is_none();
        }
    }

    /// The highest use in an interval of a minute or more, and the line of the first interval.
    pub(crate) fn peak(&self) -> Option<(f64, u64)> {
        self.peak.zip(self.line)
    }

    /// True without figures.
    pub(crate) const fn is_empty(&self) -> bool {
        self.line.is_none()
    }

    /// Emits the figure of a host, if there is one, and begins anew.
    pub(crate) fn emit(&mut self, host: &str, field: &str, out: &mut Builder) {
        emit(Resource::UsedProcessors, self.take(), (host, field), out);
    }

    /// Emits the time of the processors over the whole input, in its latest window. An unknown number counts as one.
    pub(crate) fn emit_time(&self, host: &str, field: &str, processors: f64, out: &mut Builder) {
        let ([seconds, used_s, io_wait_s], Some(line), Some(window)) = (self.shared, self.line, out.latest_window())
        else {
            return;
        };
        if seconds > 0.0 {
            let scope = out.scope(ReadingScope { host: host.to_owned(), ..ReadingScope::default() });
            let origin = Origin { line, table: None, field: out.text(field) };
            out.host(HostTime {
                scope,
                window,
                busy_s: used_s * processors,
                idle_s: (seconds - used_s).max(0.0) * processors,
                io_wait_s: Some(io_wait_s * processors).filter(|_| !self.lacks_io_wait),
                queue_s: None,
                paged_bytes: None,
                origin,
            });
        }
    }

    /// The same where shares of all processors, 0 to 1, were added: processors in use if their number is known, otherwise
    /// the share.
    pub(crate) fn emit_share(&mut self, host: &str, field: &str, processors: Option<f64>, out: &mut Builder) {
        let processors = processors.filter(|count| *count >= 1.0);
        self.emit_time(host, field, processors.unwrap_or(1.0), out);
        let share = self.take();
        match processors {
            Some(count) => {
                let used = share.map(|(share, line)| (share * count, line));
                emit(Resource::HostProcessors, used.map(|(_, line)| (count, line)), (host, field), out);
                emit(Resource::UsedProcessors, used, (host, field), out);
            }
            None => emit(Resource::BusyShare, share, (host, field), out),
        }
    }

    /// The value and its line.
    fn take(&mut self) -> Option<(f64, u64)> {
        let Self { seconds, processor_seconds, highest, line, .. } = std::mem::take(self);
        highest.or((seconds > 0.0).then(|| processor_seconds / seconds)).zip(line)
    }
}

/// Emits a resource of a host: its value and line.
pub(crate) fn emit(resource: Resource, stated: Option<(f64, u64)>, (host, field): (&str, &str), out: &mut Builder) {
    let (Some((value, line)), Some(window)) = (stated, out.latest_window()) else { return };
    let scope = out.scope(ReadingScope { host: host.to_owned(), ..ReadingScope::default() });
    let origin = Origin { line, table: None, field: out.text(field) };
    out.resource(ResourceFigure { scope, window, instance: String::new(), resource, value, origin });
}
