//! Snapshots of the counters of a database or host, in a file that `plimsoll demand` reads.
//!
//! Counters are not interpreted here; progress is computed by the reader of the file.

mod ebs;
mod log;
mod oracle;

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use plimsoll_ingest::{Class, Ingest, Measure, Outcome};
use plimsoll_suite::collect::{CounterSource, SourceError};
use plimsoll_suite::snapshots::{FORMAT, line};
use plimsoll_units::Span;
use serde_json::{Map, Value, json};

pub use self::ebs::EbsVolumes;
use self::log::CollectLog;
pub use self::oracle::{HISTORY, SAMPLES};
use crate::error::MeasureError;
use crate::invalid::InvalidRequest;

/// Minimum interval between snapshots.
const MIN_INTERVAL: Span = Span::from_millis(100);

/// A collection of snapshots.
#[derive(Clone, Debug)]
pub struct CollectRequest<'a> {
    /// Interval between snapshots, 100 ms at least.
    pub interval: Span,
    pub duration: Span,
    /// File, which must not exist; by default of the name of the source and the time in the current directory.
    pub out: Option<&'a Path>,
    pub program: &'static str,
}

/// Progress of a collection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CollectEvent<'a> {
    /// Counters that are disabled on the server, with the setting that enables them.
    Missing(&'a str),
    /// The failure of a snapshot, which is retried every interval.
    Failed(&'a str),
    /// The progress so far.
    Progress {
        snapshots: u64,
        /// Operations per second between the last two.
        iops: Option<f64>,
        /// Remaining time.
        left: Span,
    },
    Ended {
        snapshots: u64,
        name: &'a str,
    },
}

/// Collects until the time is over or `stop` returns true. Lines go to `stdout` instead of a file if given.
///
/// # Errors
/// A short interval or duration, a source that cannot be reached, an unwritable file, or an interruption; collected snapshots
/// are kept.
pub fn collect(
    source: &mut dyn CounterSource,
    request: &CollectRequest<'_>,
    stdout: Option<Box<dyn Write>>,
    stop: &dyn Fn() -> bool,
    report: &mut dyn FnMut(CollectEvent<'_>),
) -> Result<(), MeasureError> {
    if request.interval < MIN_INTERVAL {
        return Err(InvalidRequest::Interval(MIN_INTERVAL).into());
    }
    if request.duration < request.interval {
        return Err(InvalidRequest::CollectDuration.into());
    }
    let mut head = match source.connect(stop) {
        Ok(head) => head,
        Err(SourceError::Stopped) => return Err(MeasureError::Interrupted),
        Err(SourceError::Failed(why)) => return Err(MeasureError::Source(why)),
    };
    head.extend([
        ("format".to_owned(), json!(FORMAT)),
        ("program".to_owned(), json!(request.program)),
        ("source".to_owned(), json!(source.name())),
        ("interval_s".to_owned(), json!(request.interval.as_secs_f64())),
    ]);
    let log = match stdout {
        Some(stdout) => CollectLog::to_stdout(stdout, &head)?,
        None => CollectLog::create(request.out, source.name(), &head)?,
    };
    Collection { source, log, report, head, before: None, connected: true }.run(request, stop)
}

struct Collection<'a> {
    source: &'a mut dyn CounterSource,
    log: CollectLog,
    report: &'a mut dyn FnMut(CollectEvent<'_>),
    head: Map<String, Value>,
    /// The previous snapshot, for progress.
    before: Option<Map<String, Value>>,
    connected: bool,
}

impl Collection<'_> {
    fn run(&mut self, request: &CollectRequest<'_>, stop: &dyn Fn() -> bool) -> Result<(), MeasureError> {
        let started = Instant::now();
        let (interval, duration) = (to_duration(request.interval), to_duration(request.duration));
        let mut ticks = 0_u32;
        let mut result = Ok(());
        while result.is_ok() {
            result = self.snapshot(started, duration, stop);
            // A snapshot that exceeds the interval skips the following ones.
            ticks = (ticks + 1).max((started.elapsed().as_nanos() / interval.as_nanos()) as u32 + 1);
            let next = interval.saturating_mul(ticks);
            // The last snapshot may be slightly late.
            if result.is_err() || next > duration + interval / 10 {
                break;
            }
            if !wait(started + next, stop) {
                result = Err(MeasureError::Interrupted);
            }
        }
        self.end(result)
    }

    fn snapshot(&mut self, started: Instant, duration: Duration, stop: &dyn Fn() -> bool) -> Result<(), MeasureError> {
        match self.attempt(stop) {
            Ok(sample) => {
                self.connected = true;
                self.log.write(&sample)?;
                if let Some(missing) = self.source.missing(&sample).filter(|_| self.before.is_none()) {
                    (self.report)(CollectEvent::Missing(missing));
                }
                let iops = self.before.as_ref().and_then(|before| compute_iops(&self.head, before, &sample));
                let left = Span::from_secs(duration.saturating_sub(started.elapsed()).as_secs());
                (self.report)(CollectEvent::Progress { snapshots: self.log.count(), iops, left });
                self.before = Some(sample);
                Ok(())
            }
            Err(SourceError::Stopped) => Err(MeasureError::Interrupted),
            Err(SourceError::Failed(why)) => {
                if std::mem::replace(&mut self.connected, false) {
                    (self.report)(CollectEvent::Failed(&why));
                    self.log.note(&why)?;
                }
                Ok(())
            }
        }
    }

    /// The current counters, over a new connection if the previous was lost.
    fn attempt(&mut self, stop: &dyn Fn() -> bool) -> Result<Map<String, Value>, SourceError> {
        if !self.connected {
            self.source.connect(stop)?;
        }
        self.source.sample(stop)
    }

    fn end(&mut self, result: Result<(), MeasureError>) -> Result<(), MeasureError> {
        let (count, name) = (self.log.count(), self.log.name());
        (self.report)(CollectEvent::Ended { snapshots: count, name });
        result?;
        if self.connected && count > 1 {
            return Ok(());
        }
        Err(MeasureError::ConnectionLost(name.to_owned()))
    }
}

fn to_duration(span: Span) -> Duration {
    Duration::from_nanos(span.as_nanos())
}

/// Waits until the given time. Returns false if the user stops the collection.
fn wait(until: Instant, stop: &dyn Fn() -> bool) -> bool {
    while !stop() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(Duration::from_millis(50)));
    }
    false
}

/// Reads and writes per second between two snapshots, computed by the reader of the file.
fn compute_iops(head: &Map<String, Value>, before: &Map<String, Value>, after: &Map<String, Value>) -> Option<f64> {
    let mut ingest = Ingest::new("snapshots");
    for object in [head, before, after] {
        ingest.feed(line(object).as_bytes());
    }
    let outcomes = ingest.finish();
    let reading = outcomes.first().and_then(Outcome::reading)?;
    let is_rate = |figure: &&plimsoll_ingest::Figure| {
        figure.measure == Measure::Iops
            && matches!(figure.class, Class::Read | Class::Write)
            && !reading.scopes[figure.scope as usize].part.starts_with("statement")
    };
    let rates: Vec<f64> = reading.figures.iter().filter(is_rate).map(|figure| figure.value).collect();
    (!rates.is_empty()).then(|| rates.iter().sum())
}
