//! A database as a ground: statements, and concurrent sessions, observed together with the storage below them.

mod monitor;
mod sessions;
mod statements;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_database::Observer;
use plimsoll_device::{Clock, cpu_time, drop_cache};
use plimsoll_drive::{Fault, Observe, Partial, PartialRun};
use plimsoll_record::Finding;
use plimsoll_units::Instant;

pub use monitor::Sink;

use self::monitor::{Monitor, Observations};
use super::{Facts, Ground, StepOutcome, Unfit};
use crate::below::UnderlyingStorage;
use crate::result::{ConfigureResult, IoResult, StepResult};
use crate::session_run::session_run;
use crate::sql::{SessionsResult, SessionsStep, StatementsResult, StatementsStep};
use crate::step::{FileSpec, IoStep, SettingsStep};
use crate::workers::unstarted;

/// Settings that decide whether commits reach the storage.
const FLUSH_SETTINGS: [&str; 5] =
    ["fsync", "synchronous_commit", "innodb_flush_log_at_trx_commit", "sync_binlog", "synchronous"];

/// A database of a server, or in a file.
pub struct DatabaseGround {
    target: Box<dyn plimsoll_database::Database>,
    facts: Facts,
    /// Dropped after the target, whose server may run on it.
    below: Option<Box<dyn UnderlyingStorage>>,
    sink: Option<Sink>,
    /// The first error of observing the database.
    observe_error: Option<String>,
}

impl DatabaseGround {
    /// A connected database.
    pub fn new(target: Box<dyn plimsoll_database::Database>, facts: Facts) -> Self {
        Self { target, facts, below: None, sink: None, observe_error: None }
    }

    /// The same with the storage below it.
    pub fn on(self, below: Option<Box<dyn UnderlyingStorage>>) -> Self {
        Self { below, ..self }
    }

    /// The same with a receiver of snapshots of its counters.
    pub fn telling(self, sink: Option<Sink>) -> Self {
        Self { sink, ..self }
    }

    /// The fault, with the reason why a server that was created for the run failed.
    fn explained(&self, fault: Fault) -> Fault {
        match self.target.post_mortem() {
            None => fault,
            Some(why) => Fault { source: std::io::Error::other(format!("{}; {why}", fault.source)), ..fault },
        }
    }

    /// The outcome of a step, whose result counts after a fault unless it is empty.
    fn ended(&self, result: StepResult, is_empty: bool, fault: Option<Fault>) -> StepOutcome {
        match fault.map(|fault| self.explained(fault)) {
            None => Ok(result),
            Some(fault) => Err(Box::new(PartialRun { fault, until: (!is_empty).then_some(result) })),
        }
    }

    fn observer(&mut self) -> Option<Box<dyn Observer>> {
        match self.target.observer() {
            Ok(observer) => Some(observer),
            Err(failure) => {
                self.observe_error.get_or_insert(failure.message);
                None
            }
        }
    }
}

/// Runs a step while a thread observes it.
///
/// # Errors
/// The thread could not be started: the step was not run.
fn run_monitored<T>(
    monitor: impl FnOnce(&AtomicBool) -> Observations + Send,
    run: impl FnOnce() -> T,
) -> Result<(T, Observations), Fault> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let observer = std::thread::Builder::new().name("observer".into());
        let observing = observer.spawn_scoped(scope, || monitor(&stop)).map_err(|source| unstarted(1, source))?;
        let done = run();
        stop.store(true, Ordering::Relaxed);
        Ok((done, observing.join().expect("the observer does not panic")))
    })
}

impl Ground for DatabaseGround {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn begin_measuring(&mut self) -> Result<(), Fault> {
        let Some(below) = self.below.as_mut().filter(|below| below.is_fast()) else { return Ok(()) };
        self.target.checkpoint().map_err(|failure| sessions::convert_failure("flushing the loaded data", failure))?;
        let failed = |why: String| Fault {
            attempt: "preparing the storage for the measurement".into(),
            source: std::io::Error::other(why),
        };
        below.begin_measuring().map_err(failed)
    }

    fn findings(&self) -> Vec<Finding> {
        let about = self.facts.database.as_ref().map(|(_, about)| about);
        let loose = about.filter(|about| about.durable == Some(false)).map(|about| {
            let off = |(name, value): &&(String, String)| FLUSH_SETTINGS.contains(&name.as_str()) && !value.is_empty();
            let settings: Vec<String> =
                about.settings.iter().filter(off).map(|(name, value)| format!("{name} {value}")).collect();
            Finding::NotDurable { setting: settings.join(", ") }
        });
        let unobserved =
            self.observe_error.clone().map(|why| Finding::Unobserved { what: "counters of the database".into(), why });
        let below = self.below.iter().flat_map(|below| below.findings());
        loose.into_iter().chain(unobserved).chain(below).collect()
    }

    fn prepare_files(&mut self, files: &[FileSpec]) -> Result<(), Unfit> {
        if files.is_empty() { Ok(()) } else { Err(Unfit::Names(self.facts.subject.name.clone())) }
    }

    fn io(&mut self, _: &IoStep, _: Observe<'_>) -> Partial<IoResult> {
        let source = std::io::Error::new(std::io::ErrorKind::Unsupported, "a database has no blocks to ask for");
        Err(PartialRun::at_once(Fault { attempt: "running a step of blocks".into(), source }))
    }

    fn statements(&mut self, step: &StatementsStep, observe: Observe<'_>) -> StepOutcome {
        let (clock, before) = (Clock::start(), cpu_time());
        let observer = self.observer();
        let below = self.below.as_mut();
        let (numbers, began) = (Vec::new(), clock.now());
        let monitor = Monitor { clock, observer, below, sink: None, numbers, began, counts: false };
        let target = &*self.target;
        let watched = run_monitored(|stop| monitor.run(stop), || statements::run(target, step, observe));
        let ((measured, fault), observations) = watched.map_err(PartialRun::at_once)?;
        let client = cpu_time() - before;
        let part = observations.total();
        self.observe_error = self.observe_error.take().or(observations.error);
        let measured = StatementsResult { counted: part.counted, storage: part.storage, client, ..measured };
        let is_empty = measured.done == 0 && measured.changes.is_empty();
        self.ended(StepResult::Statements(Box::new(measured)), is_empty, fault)
    }

    fn sessions(&mut self, step: &SessionsStep, observe: Observe<'_>) -> StepOutcome {
        if step.checkpoint
            && let Err(failure) = self.target.checkpoint()
        {
            let fault = sessions::convert_failure("writing dirty blocks before a step", failure);
            return Err(PartialRun::at_once(self.explained(fault)));
        }
        let clock = Clock::start();
        let observer = self.observer();
        let (below, sink) = (self.below.as_mut(), self.sink.as_mut());
        let group = sessions::SessionGroup::new(&*self.target, step, clock);
        let monitor = |stop: &AtomicBool| {
            let numbers = group.await_all();
            let began = clock.now();
            Monitor { clock, observer, below, sink, numbers, began, counts: true }.run(stop)
        };
        let watched = run_monitored(monitor, || sessions::run(&group, observe));
        let ((measured, fault), observations) = watched.map_err(PartialRun::at_once)?;
        let began = group.began();
        self.observe_error = self.observe_error.take().or_else(|| observations.error.clone());
        let is_empty = measured.series.iter().all(|slice| slice.tally.0.is_empty());
        let mut measured = completed(step, measured, &observations, began);
        measured.limit = monitor::limit(&measured);
        if let Some((system, about)) = &self.facts.database {
            measured.findings = monitor::find_doubts(&measured, *system, about);
        }
        self.ended(StepResult::Sessions(Box::new(measured)), is_empty, fault)
    }

    fn configure(&mut self, step: &SettingsStep) -> Result<StepResult, Fault> {
        let clock = Clock::start();
        let refused = self.target.configure(&step.settings, step.change).err().map(|failure| failure.message);
        if refused.is_none() && self.target.about().created {
            self.target.checkpoint().map_err(|failure| sessions::convert_failure("writing dirty blocks", failure))?;
            if let Some(folder) = self.target.about().folder.as_deref() {
                drop_file_caches(Path::new(folder));
            }
        }
        Ok(StepResult::Configured(ConfigureResult { span: clock.now().since(Instant::ZERO), refused }))
    }

    fn restore_settings(&mut self) -> Result<(), Fault> {
        self.target
            .restore_settings()
            .map_err(|failure| sessions::convert_failure("putting the settings of the server back", failure))
    }
}

/// Drops the page cache of the clean files in a directory of a server. Files that cannot be opened may have been removed by
/// the server since.
fn drop_file_caches(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => drop_file_caches(&entry.path()),
            Ok(kind) if kind.is_file() => {
                let _ = std::fs::File::open(entry.path()).map(drop_cache);
            }
            _ => {}
        }
    }
}

/// Result of concurrent sessions, with the observations in the window of its figures.
fn completed(
    step: &SessionsStep,
    measured: SessionsResult,
    observations: &Observations,
    began: Instant,
) -> SessionsResult {
    let run = session_run(step, &measured).run;
    let window = (run.warm_up, run.warm_up + run.span);
    let part = observations.over(began + window.0, began + window.1, step.sessions);
    let marks = observations.marks.iter().map(|(at, what)| (at.since(began), what.clone())).collect();
    SessionsResult {
        window,
        counted: part.counted,
        storage: part.storage,
        split: part.split,
        client: part.client,
        marks,
        ..measured
    }
}
