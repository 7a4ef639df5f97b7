//! Elapsed time of jobs on configurations: a fixed number of operations and a processor time, on idle storage and
//! beside other load.
//!
//! A job without a think time reads and writes back to back, as a closed load. Sessions with a think time are an open
//! load for the others, at the rate that they reach on idle storage.

use std::str::FromStr;

use plimsoll_catalogue::{Money, Offer};
use plimsoll_ingest::{Account, EventTime, WaitCause};
use plimsoll_load::{Arrival, BlockMix, Mix, Pace, Pattern, Region, StreamSpec};
use plimsoll_model::ChainSpec;
use plimsoll_units::{Bytes, Iops, Span};

use crate::diagnosis::has_shares;
use crate::matching::within;
use crate::sizing::{Choice, Sizing, map};
use crate::trial::background_trial;

/// Operations of a job's trial.
const OPERATIONS: u64 = 10_000;
/// Default size of an operation.
const BLOCK: Bytes = Bytes::kib(8);
/// Maximum operations in flight of all sessions of a job.
const MAX_DEPTH: u32 = 4096;

/// A job: one execution, or executions by sessions with a think time in between.
#[derive(Clone, Debug, PartialEq)]
pub struct StorageJob {
    /// Its name; empty for `job`, or the number among several.
    pub name: String,
    pub reads: f64,
    /// Writes of an execution that it waits for, such as that of a commit. They are durable.
    pub writes: f64,
    /// Bytes of an operation.
    pub size: Bytes,
    /// Operations in flight of a session.
    pub depth: u32,
    /// Sequential instead of random access.
    pub sequential: bool,
    /// Processor time of an execution.
    pub cpu: Span,
    /// Number of sessions. Without a think time they share the work of one execution.
    pub sessions: u32,
    /// Time of a session between executions; `None` for a job that is executed once.
    pub think: Option<Span>,
}

/// A job, or the work of the inputs.
#[derive(Clone, Debug, PartialEq)]
pub enum JobWord {
    /// The work of the inputs' windows.
    Inputs,
    /// A given job.
    Job(StorageJob),
}

impl FromStr for JobWord {
    type Err = JobError;
    fn from_str(text: &str) -> Result<Self, JobError> {
        if text == "inputs" { Ok(Self::Inputs) } else { text.parse().map(Self::Job) }
    }
}

/// The error for a text that is not a job. Displays the remedy.
#[plimsoll_language::say_errors]
#[rustfmt::skip]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    #[error("{0:?} is not KEY=VALUE of a job: write it as {JOB_EXAMPLE}")] NoPair(String),
    #[error("{value:?} is not a valid {key} of a job: write it as {JOB_EXAMPLE}")] Value { key: String, value: String },
    #[error("{0:?} is not a property of a job: write it as {JOB_EXAMPLE}")] Key(String),
    #[error("{0:?} has no operations: write it as {JOB_EXAMPLE}")] NoOperations(String),
    #[error("{0:?} has more than {MAX_DEPTH} operations in flight: write it as {JOB_EXAMPLE}")] InFlight(String),
    #[error("{0:?} has sessions without think or processor time: write it as {JOB_EXAMPLE}")] NoTime(String),
}

/// A job in the syntax of the command line.
const JOB_EXAMPLE: &str = "reads=1e6,size=8KiB,depth=1,cpu=20min";

impl FromStr for StorageJob {
    type Err = JobError;
    /// `reads=1e6,size=8KiB,depth=1,cpu=20min`; also `name`, `writes`, `sequential=yes`, `sessions` and `think`.
    fn from_str(text: &str) -> Result<Self, JobError> {
        let mut job = Self {
            name: String::new(),
            reads: 0.0,
            writes: 0.0,
            size: BLOCK,
            depth: 1,
            sequential: false,
            cpu: Span::ZERO,
            sessions: 1,
            think: None,
        };
        for pair in text.split(',') {
            let pair = pair.trim();
            let (key, value) = pair.split_once('=').ok_or_else(|| JobError::NoPair(pair.into()))?;
            let (key, value) = (key.trim(), value.trim());
            let refused = || JobError::Value { key: key.into(), value: value.into() };
            let count = || value.parse::<f64>().ok().filter(|count| (0.0..=1e15).contains(count)).ok_or_else(refused);
            let number =
                || value.parse::<u32>().ok().filter(|number| (1..=MAX_DEPTH).contains(number)).ok_or_else(refused);
            let time = || value.parse::<Span>().map_err(|_| refused());
            match key {
                "name" => value.clone_into(&mut job.name),
                "reads" => job.reads = count()?,
                "writes" => job.writes = count()?,
                "size" => {
                    let size: Option<Bytes> = value.parse().ok();
                    let is_block = |size: &Bytes| *size >= Bytes::new(512) && *size <= Bytes::mib(16);
                    job.size = size.filter(is_block).ok_or_else(refused)?.round_down(Bytes::new(512));
                }
                "depth" => job.depth = number()?,
                "sequential" => job.sequential = yes(value).ok_or_else(refused)?,
                "cpu" => job.cpu = time()?,
                "sessions" => job.sessions = number()?,
                "think" => job.think = Some(time()?),
                _ => return Err(JobError::Key(key.into())),
            }
        }
        if job.operations() < 1.0 {
            return Err(JobError::NoOperations(text.into()));
        }
        if job.sessions.saturating_mul(job.depth) > MAX_DEPTH && job.think.is_none() {
            return Err(JobError::InFlight(text.into()));
        }
        if job.think.is_some_and(|think| think + job.cpu == Span::ZERO) {
            return Err(JobError::NoTime(text.into()));
        }
        Ok(job)
    }
}

fn yes(word: &str) -> Option<bool> {
    match word {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

impl StorageJob {
    fn operations(&self) -> f64 {
        self.reads + self.writes
    }

    fn stream(&self, space: Bytes, pace: Pace) -> StreamSpec {
        StreamSpec {
            name: self.name.clone(),
            mix: Mix {
                sizes: BlockMix::one(self.size),
                reads: self.reads / self.operations(),
                durable: self.writes > 0.0,
                flush_every: 0,
            },
            pattern: if self.sequential { Pattern::Sequential } else { Pattern::Uniform },
            region: Region { start: 0, length: space.max(self.size) },
            pace,
        }
    }

    /// The job back to back: of a session with a think time a single one.
    fn closed(&self, space: Bytes) -> StreamSpec {
        let sessions = if self.think.is_some() { 1 } else { self.sessions };
        self.stream(space, Pace::Closed { depth: self.depth.saturating_mul(sessions).min(MAX_DEPTH) })
    }

    /// The elapsed time of an execution at a number of operations per second.
    fn elapsed(&self, iops: f64) -> Span {
        let sessions = if self.think.is_some() { 1.0 } else { f64::from(self.sessions) };
        Span::from_secs_f64(self.cpu.as_secs_f64() / sessions + self.operations() / iops)
    }

    /// The job as a load on others: with a think time at the rate reached if an execution takes `alone`.
    fn load(&self, space: Bytes, alone: Span) -> StreamSpec {
        let Some(think) = self.think else { return self.closed(space) };
        let rate = f64::from(self.sessions) * self.operations() / (think + alone).as_secs_f64();
        self.stream(space, Pace::Open { rate: Iops::from_f64(rate), arrival: Arrival::Poisson })
    }
}

/// Elapsed times of jobs on several configurations.
#[derive(Clone, Debug, Default)]
pub struct JobTimes {
    pub jobs: Vec<StorageJob>,
    /// The work of the inputs as a job, if it was requested and the inputs contain the waits of sessions.
    pub window: Option<WindowWork>,
    /// Operations per second of the inputs, which are executed beside the jobs; `None` without inputs.
    pub beside_iops: Option<f64>,
    pub rows: Vec<JobTimesOn>,
}

/// Elapsed times of jobs on a configuration.
#[derive(Clone, Debug)]
pub struct JobTimesOn {
    pub offer: Offer,
    /// Its monthly price, with its machine if it has one; `None` if unknown.
    pub total: Option<Money>,
    /// The elapsed times of the jobs, in their order.
    pub times: Vec<JobTime>,
    /// The elapsed time of the work of the inputs; `None` if unknown.
    pub window: Option<Span>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobTime {
    /// On idle storage; `None` without a model.
    pub alone: Option<Span>,
    /// Beside the inputs' load and the other jobs; `None` if there is no other load, or the storage does not carry it.
    pub beside: Option<Span>,
}

/// The work of the inputs' windows as a job whose elapsed time changes with the database's time.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowWork {
    /// The elapsed time today: that of the windows, or the database's time if less than one session is active.
    pub today: Span,
    /// Mean active sessions.
    pub active: f64,
    /// The longest wait for storage, if there is one.
    pub top_wait: Option<EventTime>,
    /// Share of the database's time of this wait.
    pub top_share: f64,
}

impl WindowWork {
    fn of(account: &Account) -> Option<Self> {
        let time = &account.total;
        if time.seconds <= 0.0 || time.database_s <= 0.0 || !has_shares(time) {
            return None;
        }
        let is_storage = |event: &&EventTime| matches!(event.cause, WaitCause::Storage(_) | WaitCause::Commit);
        let top_wait = time.foreground().filter(is_storage).max_by(|a, b| a.total_s.total_cmp(&b.total_s)).cloned();
        let top_share = top_wait.as_ref().map_or(0.0, |event| event.total_s / time.database_s);
        let today = Span::from_secs_f64(time.seconds.min(time.database_s));
        Some(Self { today, active: time.database_s / time.seconds, top_wait, top_share })
    }
}

/// Elapsed times on given configurations, beside each other.
pub fn jobs_on<'o>(jobs: &[StorageJob], offers: impl IntoIterator<Item = (&'o Offer, Option<Money>)>) -> JobTimes {
    let row = |(offer, total): (&Offer, Option<Money>)| JobTimesOn {
        offer: offer.clone(),
        total,
        times: times(jobs, offer, &[], offer.capacity),
        window: None,
    };
    JobTimes { jobs: named(jobs), rows: offers.into_iter().map(row).collect(), ..JobTimes::default() }
}

/// Elapsed times on up to `max` choices of a sizing, and on as many that are slower than today or miss an objective,
/// beside the mean load of its inputs. With an account also those of the work of the inputs.
pub fn jobs_of_choices(
    jobs: &[StorageJob],
    sizing: &Sizing,
    account: Option<&Account>,
    (pool, max): (&dyn crate::sizing::Pool, usize),
) -> JobTimes {
    let required = &sizing.required;
    let usual = required.usual.as_ref().or(required.points.first());
    let streams = usual.map(|point| point.streams(required.capacity)).unwrap_or_default();
    let window = account.and_then(WindowWork::of);
    let then = |choice: &Choice| {
        let effect = choice.effect.as_ref()?;
        Some(Span::from_secs_f64(window.as_ref()?.today.as_secs_f64() * effect.after_s / effect.before_s))
    };
    let places = [&sizing.choices, &sizing.slower, &sizing.nearly];
    let choices: Vec<&Choice> = places.into_iter().flat_map(|choices| choices.iter().take(max)).collect();
    let row = |choice: &&Choice| JobTimesOn {
        offer: choice.offer.clone(),
        total: choice.total(),
        times: times(jobs, &choice.offer, &streams, required.capacity),
        window: then(choice),
    };
    let rows = map(pool, &choices, row);
    JobTimes { jobs: named(jobs), beside_iops: usual.map(crate::sizing::DesignPoint::iops), window, rows }
}

/// Jobs, with a name for those without.
fn named(jobs: &[StorageJob]) -> Vec<StorageJob> {
    let name = |(index, job): (usize, &StorageJob)| match (job.name.is_empty(), jobs.len()) {
        (false, _) => job.name.clone(),
        (true, 1) => "job".to_owned(),
        (true, _) => format!("job {}", index + 1),
    };
    let numbered = jobs.iter().enumerate();
    numbered.map(|(index, job)| StorageJob { name: name((index, job)), ..job.clone() }).collect()
}

/// Elapsed times of jobs on an offer, beside other streams and each other.
fn times(jobs: &[StorageJob], offer: &Offer, others: &[StreamSpec], space: Bytes) -> Vec<JobTime> {
    let Ok(model) = offer.model() else { return vec![JobTime::default(); jobs.len()] };
    let space = if offer.capacity > Bytes::ZERO { space.min(offer.capacity) } else { space };
    let alone: Vec<Option<Span>> = jobs.iter().map(|job| back_to_back(job, &model, &[], space)).collect();
    let loads: Vec<Option<StreamSpec>> =
        jobs.iter().zip(&alone).map(|(job, alone)| Some(job.load(space, (*alone)?))).collect();
    let beside = |index: usize| {
        let own = loads[index].clone()?;
        let other_jobs = loads.iter().enumerate().filter(|(other, _)| *other != index).flat_map(|(_, load)| load);
        let mut background: Vec<StreamSpec> = other_jobs.cloned().chain(others.iter().cloned()).collect();
        // Sessions with a think time also wait for each other.
        if jobs[index].think.is_some() && jobs[index].sessions > 1 {
            background.push(own);
        }
        (!background.is_empty()).then(|| back_to_back(&jobs[index], &model, &background, space)).flatten()
    };
    alone.iter().enumerate().map(|(index, alone)| JobTime { alone: *alone, beside: beside(index) }).collect()
}

/// Elapsed time of a job beside a background; `None` if the model does not carry it.
fn back_to_back(job: &StorageJob, model: &ChainSpec, background: &[StreamSpec], space: Bytes) -> Option<Span> {
    let streams: Vec<StreamSpec> = std::iter::once(job.closed(space)).chain(background.iter().cloned()).collect();
    let figures = background_trial(model, &within(&streams, space), OPERATIONS, 1)?;
    (!figures.overloaded && figures.iops > 0.0).then(|| job.elapsed(figures.iops))
}
