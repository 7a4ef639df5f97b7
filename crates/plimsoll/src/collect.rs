//! `plimsoll collect`: snapshots of the counters of a database or host, in a file that `plimsoll demand` reads.
//!
//! Counters are not interpreted here; progress is computed by the reader of the file.

mod ebs;
mod log;
mod oracle;

use std::time::{Duration, Instant};

use plimsoll_ingest::{Class, Ingest, Measure, Outcome};
use plimsoll_suite::collect::{CounterSource, Linux, Mysql, Postgres, PsqlConnection, SourceError};
use plimsoll_suite::snapshots::{FORMAT, line};
use plimsoll_units::Span;
use serde_json::{Map, Value, json};

use crate::args::{CollectArgs, CollectCommand, CollectPostgres, SamplingArgs};
use crate::cli_error::CliError;
use crate::console::Console;
use ebs::EbsVolumes;
use log::CollectLog;

/// Minimum interval between snapshots.
const SHORTEST: Span = Span::from_millis(100);

/// Collects until the time is over or the user stops it.
pub fn run(args: &CollectArgs) -> Result<(), CliError> {
    match &args.source {
        CollectCommand::Postgres(args) => collect_postgres(args),
        CollectCommand::Mysql(args) => collect(&mut Mysql::new(&args.client), &args.sampling),
        CollectCommand::Linux(args) => collect(&mut Linux::default(), &args.sampling),
        CollectCommand::Ebs(args) => collect(&mut EbsVolumes::new(&args.devices), &args.sampling),
        CollectCommand::Oracle(args) => oracle::print(args),
    }
}

fn collect_postgres(args: &CollectPostgres) -> Result<(), CliError> {
    let application_name = std::env::var_os("PGAPPNAME").is_none().then_some("plimsoll");
    let connection = PsqlConnection { url: args.url.as_deref(), options: &args.client, application_name };
    collect(&mut Postgres::new(connection), &args.sampling)
}

fn collect(source: &mut dyn CounterSource, sampling: &SamplingArgs) -> Result<(), CliError> {
    if sampling.interval < SHORTEST {
        return Err(CliError::usage(format!("--interval: at least {SHORTEST}, as counters have no higher resolution")));
    }
    if sampling.duration < sampling.interval {
        return Err(CliError::usage("--duration: at least one --interval, as figures need two snapshots"));
    }
    let mut console = Console::new(false).map_err(anyhow::Error::from)?;
    let interrupted = console.interrupted_flag();
    let stop = || interrupted.load(std::sync::atomic::Ordering::Relaxed);
    let mut head = match source.connect(&stop) {
        Ok(head) => head,
        Err(SourceError::Stopped) => return Err(CliError::Interrupted),
        Err(SourceError::Failed(why)) => return Err(CliError::Failed(anyhow::anyhow!(why))),
    };
    head.extend([
        ("format".to_owned(), json!(FORMAT)),
        ("program".to_owned(), json!(crate::MADE_BY)),
        ("source".to_owned(), json!(source.name())),
        ("interval_s".to_owned(), json!(sampling.interval.as_secs_f64())),
    ]);
    let log = CollectLog::create(sampling.out.as_deref(), source.name(), &head)?;
    Collection { source, log, console: &mut console, head, before: None, connected: true }.run(sampling, &stop)
}

struct Collection<'a> {
    source: &'a mut dyn CounterSource,
    log: CollectLog,
    console: &'a mut Console,
    head: Map<String, Value>,
    /// The previous snapshot, for progress.
    before: Option<Map<String, Value>>,
    connected: bool,
}

impl Collection<'_> {
    fn run(&mut self, sampling: &SamplingArgs, stop: &dyn Fn() -> bool) -> Result<(), CliError> {
        let begun = Instant::now();
        let (interval, duration) = (length(sampling.interval), length(sampling.duration));
        let mut ticks = 0_u32;
        let mut result = Ok(());
        while result.is_ok() {
            result = self.snapshot(begun, duration, stop);
            // A snapshot that exceeds the interval skips the following ones.
            ticks = (ticks + 1).max((begun.elapsed().as_nanos() / interval.as_nanos()) as u32 + 1);
            let next = interval.saturating_mul(ticks);
            // The last snapshot may be slightly late.
            if result.is_err() || next > duration + interval / 10 {
                break;
            }
            if !wait(begun + next, stop) {
                result = Err(CliError::Interrupted);
            }
        }
        self.end(result)
    }

    fn snapshot(&mut self, begun: Instant, duration: Duration, stop: &dyn Fn() -> bool) -> Result<(), CliError> {
        match self.attempt(stop) {
            Ok(sample) => {
                self.connected = true;
                self.log.write(&sample)?;
                if let Some(missing) = self.source.missing(&sample).filter(|_| self.before.is_none()) {
                    self.console.say(missing);
                }
                let iops = self.before.as_ref().and_then(|before| compute_iops(&self.head, before, &sample));
                let rate = iops.map_or_else(String::new, |iops| format!(", {iops:.0} IOPS now"));
                let left = Span::from_secs(duration.saturating_sub(begun.elapsed()).as_secs());
                let count = self.log.count();
                self.console.line(&format!("{count} snapshots{rate}, {left} remaining; Ctrl-C stops and keeps them"));
                self.before = Some(sample);
                Ok(())
            }
            Err(SourceError::Stopped) => Err(CliError::Interrupted),
            Err(SourceError::Failed(why)) => {
                if std::mem::replace(&mut self.connected, false) {
                    self.console.say(&format!("{why}; retrying every interval, collected snapshots are kept"));
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

    fn end(&mut self, result: Result<(), CliError>) -> Result<(), CliError> {
        self.console.clear();
        let (count, name) = (self.log.count(), self.log.name());
        let next = match count {
            0 | 1 => "too few for figures: collect for longer".to_owned(),
            _ => format!("show their storage demand: plimsoll demand {name}"),
        };
        self.console.say(&format!("{count} snapshots in {name}; {next}"));
        result?;
        if self.connected && count > 1 {
            return Ok(());
        }
        Err(CliError::Failed(anyhow::anyhow!("connection to the server lost: {name} has the snapshots until then")))
    }
}

fn length(span: Span) -> Duration {
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
