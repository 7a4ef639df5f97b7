//! `plimsoll collect`: counters of a database or host, snapshot by snapshot, into a file that `plimsoll demand` reads.
//!
//! Knows nothing of what counters mean: what is shown while it runs comes of the same reading that the file gets later.

mod client;
mod linux;
mod log;
mod mysql;
mod oracle;
mod postgres;

use std::time::{Duration, Instant};

use plimsoll_ingest::{Class, Ingest, Measure, Outcome};
use plimsoll_units::Span;
use serde_json::{Map, Value, json};

use crate::args::{CollectArgs, CollectCommand, SamplingArgs};
use crate::console::Console;
use crate::trouble::Trouble;
use log::Log;
pub use log::line;

/// The format's name and version; docs/inputs.md says what is in it.
pub const FORMAT: &str = "plimsoll.snapshots/1";

/// The shortest time between snapshots.
const SHORTEST: Span = Span::from_millis(100);

/// Collects until the time is over or the user has enough.
pub fn run(args: &CollectArgs) -> Result<(), Trouble> {
    match &args.what {
        CollectCommand::Postgres(args) => collect(&mut postgres::Postgres::new(args), &args.sampling),
        CollectCommand::Mysql(args) => collect(&mut mysql::Mysql::new(args), &args.sampling),
        CollectCommand::Linux(args) => collect(&mut linux::Linux::new(), &args.sampling),
        CollectCommand::Oracle(args) => oracle::print(args),
    }
}

/// What has counters.
trait Source {
    /// What it is called in the head.
    fn name(&self) -> &'static str;

    /// Connects, and says what there is to know beside counters. `stop` says that the user wants an end.
    fn connect(&mut self, stop: &dyn Fn() -> bool) -> Result<Map<String, Value>, Lost>;

    /// Which figures the counters cannot give as the server is set, and how to set it.
    fn missing(&self, _sample: &Map<String, Value>) -> Option<&'static str> {
        None
    }

    /// The counters of this moment.
    fn sample(&mut self, stop: &dyn Fn() -> bool) -> Result<Map<String, Value>, Lost>;
}

/// Why there are no counters.
#[derive(Debug)]
enum Lost {
    /// In one sentence, with what to do.
    Why(String),
    /// The user wants an end.
    Stopped,
}

fn collect(source: &mut dyn Source, sampling: &SamplingArgs) -> Result<(), Trouble> {
    if sampling.interval < SHORTEST {
        return Err(Trouble::usage(format!("--interval: at least {SHORTEST}: the counters have no more to tell")));
    }
    if sampling.duration < sampling.interval {
        return Err(Trouble::usage("--duration: at least one --interval, since figures come of two snapshots"));
    }
    let mut console = Console::new(false).map_err(anyhow::Error::from)?;
    let interrupted = console.interrupted_flag();
    let stop = || interrupted.load(std::sync::atomic::Ordering::Relaxed);
    let mut head = match source.connect(&stop) {
        Ok(head) => head,
        Err(Lost::Stopped) => return Err(Trouble::Interrupted),
        Err(Lost::Why(why)) => return Err(Trouble::Failed(anyhow::anyhow!(why))),
    };
    head.extend([
        ("format".to_owned(), json!(FORMAT)),
        ("program".to_owned(), json!(crate::MADE_BY)),
        ("source".to_owned(), json!(source.name())),
        ("interval_s".to_owned(), json!(sampling.interval.as_secs_f64())),
    ]);
    let log = Log::create(sampling.out.as_deref(), source.name(), &head)?;
    Collection { source, log, console: &mut console, head, before: None, connected: true }.run(sampling, &stop)
}

struct Collection<'a> {
    source: &'a mut dyn Source,
    log: Log,
    console: &'a mut Console,
    head: Map<String, Value>,
    /// The snapshot before, for what is shown.
    before: Option<Map<String, Value>>,
    connected: bool,
}

impl Collection<'_> {
    fn run(&mut self, sampling: &SamplingArgs, stop: &dyn Fn() -> bool) -> Result<(), Trouble> {
        let begun = Instant::now();
        let (interval, duration) = (length(sampling.interval), length(sampling.duration));
        let mut ticks = 0_u32;
        let mut result = Ok(());
        while result.is_ok() {
            result = self.snapshot(begun, duration, stop);
            // A snapshot that took longer than the interval takes no other's place.
            ticks = (ticks + 1).max((begun.elapsed().as_nanos() / interval.as_nanos()) as u32 + 1);
            let next = interval.saturating_mul(ticks);
            // The last one may come a little late, and is no less worth.
            if result.is_err() || next > duration + interval / 10 {
                break;
            }
            if !wait(begun + next, stop) {
                result = Err(Trouble::Interrupted);
            }
        }
        self.end(result)
    }

    fn snapshot(&mut self, begun: Instant, duration: Duration, stop: &dyn Fn() -> bool) -> Result<(), Trouble> {
        match self.attempt(stop) {
            Ok(sample) => {
                self.connected = true;
                self.log.write(&sample)?;
                if let Some(missing) = self.source.missing(&sample).filter(|_| self.before.is_none()) {
                    self.console.say(missing);
                }
                let iops = self.before.as_ref().and_then(|before| iops(&self.head, before, &sample));
                let rate = iops.map_or_else(String::new, |iops| format!(", {iops:.0} IOPS now"));
                let left = Span::from_secs(duration.saturating_sub(begun.elapsed()).as_secs());
                let count = self.log.count();
                self.console.line(&format!("{count} snapshots{rate}, {left} to go; Ctrl-C ends it, and keeps them"));
                self.before = Some(sample);
                Ok(())
            }
            Err(Lost::Stopped) => Err(Trouble::Interrupted),
            Err(Lost::Why(why)) => {
                if std::mem::replace(&mut self.connected, false) {
                    self.console.say(&format!("{why}; trying again every interval, what was collected stays"));
                    self.log.note(&why)?;
                }
                Ok(())
            }
        }
    }

    /// The counters of now, over a new connection where the old one was lost.
    fn attempt(&mut self, stop: &dyn Fn() -> bool) -> Result<Map<String, Value>, Lost> {
        if !self.connected {
            self.source.connect(stop)?;
        }
        self.source.sample(stop)
    }

    fn end(&mut self, result: Result<(), Trouble>) -> Result<(), Trouble> {
        self.console.clear();
        let (count, name) = (self.log.count(), self.log.name());
        let what = match count {
            0 | 1 => "too few for figures: collect again, for longer".to_owned(),
            _ => format!("what they ask of storage: plimsoll demand {name}"),
        };
        self.console.say(&format!("{count} snapshots in {name}; {what}"));
        result?;
        if self.connected && count > 1 {
            return Ok(());
        }
        Err(Trouble::Failed(anyhow::anyhow!(
            "the server was lost before the time was over: {name} has what came before"
        )))
    }
}

fn length(span: Span) -> Duration {
    Duration::from_nanos(span.as_nanos())
}

/// Waits until a moment. False when the user wants an end before.
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

/// Reads and writes a second between two snapshots, as the file's reader sees them.
fn iops(head: &Map<String, Value>, before: &Map<String, Value>, after: &Map<String, Value>) -> Option<f64> {
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

/// This moment, as snapshots have it.
pub fn now() -> Value {
    json!(jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}
