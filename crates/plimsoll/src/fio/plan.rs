//! From jobs to workers: stages, files, loads, and what ties copies to each other.
//!
//! Knows no file system: what exists is asked for by path. Nothing is opened and nothing is drawn but from seeds.

mod bonds;
mod contents;
mod lanes;
mod slices;
mod space;

use std::collections::BTreeMap;

use plimsoll_device::{Contents, Durable, Engine as Issuer, Flush, SyncMode};
use plimsoll_fio::{Command, Engine, Job, Placing, Seed, Synchronous, groups};
use plimsoll_load::{JobSpec, Repeat, Turns, Until, Work};
use plimsoll_suite::{Access, Conduct, Descriptor, ToleratedErrors, Worker};
use plimsoll_units::{Bytes, Span};

pub use contents::{Checks, Filling};
pub use slices::slice;
pub use space::{Existing, FilePlan, Ground, Whereabouts, bases};

/// What is to be done, stage by stage.
#[derive(Debug, Default)]
pub struct Plan {
    /// Files of all jobs, each once.
    pub files: Vec<FilePlan>,
    /// Workers of each stage, in fio's order.
    pub stages: Vec<Vec<Member>>,
    /// What is worth a word.
    pub notes: Vec<String>,
}

/// One copy of a job.
#[derive(Debug)]
pub struct Member {
    /// Its job, by its place in the list.
    pub job: usize,
    /// Its number among the copies of its job, from 0.
    pub copy: u64,
    /// Its number among all copies of all jobs, from 0.
    pub number: u64,
    /// Number of its group.
    pub group: u32,
    /// What it does.
    pub worker: Worker,
    /// What finds out whether its reads brought what they should.
    pub checks: Checks,
}

/// What the machine says, and what plimsoll's own flags do.
pub struct Around<'a> {
    /// What is at a path.
    pub whereabouts: Whereabouts<'a>,
    /// The seed of jobs that do not want the same numbers in each run.
    pub fresh_seed: u64,
    /// Why there is no ring, if there is none.
    pub ring_refused: Option<String>,
    /// Why the kernel has no asynchronous I/O, if it has none.
    pub aio_refused: Option<String>,
}

/// Of fio's default for `randseed`.
const SEED: u64 = 0x89;

/// Makes the plan.
///
/// # Errors
/// What cannot be, in one line each, with what to write instead.
pub fn plan(command: &Command, around: &Around<'_>) -> Result<Plan, Vec<String>> {
    let placings = groups(&command.jobs);
    let mut planner = Planner { command, around, plan: Plan::default(), faults: Vec::new(), known: BTreeMap::new() };
    for (index, (job, placing)) in command.jobs.iter().zip(&placings).enumerate() {
        planner.job(index, job, *placing);
    }
    if matches!(around.whereabouts.ground, Ground::Space(_))
        && planner.plan.stages.iter().any(|stage| stage.len() > 256)
    {
        planner
            .faults
            .push("more than 256 copies of jobs at once, with --on; write a lower numjobs or a stonewall".into());
    }
    if planner.faults.is_empty() {
        planner.fill_buffers();
    }
    if !planner.faults.is_empty() {
        return Err(planner.faults);
    }
    bonds::tie(&command.jobs, &placings, &mut planner.plan.stages);
    Ok(planner.plan)
}

struct Planner<'a> {
    command: &'a Command,
    around: &'a Around<'a>,
    plan: Plan,
    faults: Vec<String>,
    /// Places of files in the list, by path.
    known: BTreeMap<String, usize>,
}

impl Planner<'_> {
    fn job(&mut self, index: usize, job: &Job, placing: Placing) {
        self.notes(job);
        while self.plan.stages.len() <= placing.stage as usize {
            self.plan.stages.push(Vec::new());
        }
        for copy in 0..job.life.copies {
            let number = placing.first_copy + copy;
            match self.member(index, job, copy, number) {
                Ok(mut member) => {
                    member.group = placing.group;
                    self.plan.stages[placing.stage as usize].push(member);
                }
                // The other copies would say the same.
                Err(why) => return self.faults.push(format!("{}: {}: {why}", job.place, job.name)),
            }
        }
    }

    fn member(&mut self, index: usize, job: &Job, copy: u64, number: u64) -> Result<Member, String> {
        let seed = self.seed(job, number);
        let spread = space::spread(job, copy, seed, &self.around.whereabouts)?;
        let parts = spread.parts(job, &mut self.plan.files, &mut self.known)?;
        let until = until(job, &spread);
        let spec = JobSpec {
            work: work(job),
            reads: lanes::lane(job, if only_verifies(job) { lanes::Way::Write } else { lanes::Way::Read }, &spread)?,
            writes: lanes::lane(
                job,
                if job.access.direction.trims { lanes::Way::Trim } else { lanes::Way::Write },
                &spread,
            )?,
            // The ground says where they are.
            files: Vec::new(),
            turns: turns(job)?,
            depth: job.flow.in_flight(),
            refill: refill(job),
            durable: false,
            flush_every: job.files.fsync_every.or(job.files.fdatasync_every).unwrap_or(0).min(u64::from(u32::MAX))
                as u32,
            flush_at_end: job.files.flush_at_end || job.files.flush_on_close,
            think: job.flow.think.map(|think| (think.every.min(u64::from(u32::MAX)) as u32, think.pause)),
            until,
            seed,
        };
        if job.access.direction.trims && !matches!(self.around.whereabouts.ground, Ground::Paths) {
            return Err(format!(
                "rw={} with --on: trims are of files and devices; name one, and leave --on out",
                job.access.rw
            ));
        }
        if job.files.fsync_every.is_some() && job.files.fdatasync_every.is_some() {
            return Err("fsync and fdatasync together: a flush is made in one way; remove one of them".into());
        }
        let mut worker = Worker::new(spec, 0, Bytes::ZERO, self.access(job));
        worker.parts = parts;
        worker.begins = delay(job, seed);
        worker.logged = logs_each(job);
        worker.conduct = conduct(job, copy);
        Ok(Member { job: index, copy, number, group: 0, worker, checks: Checks::Nothing })
    }

    fn seed(&self, job: &Job, number: u64) -> u64 {
        let base = match (self.command.flags.seed, job.access.seed) {
            (Some(seed), _) => seed,
            (None, Seed::Given(seed)) => seed as u64,
            (None, Seed::Repeated) => SEED,
            (None, Seed::Fresh) => self.around.fresh_seed,
        };
        base.wrapping_add(number.wrapping_mul(0x1_0000_01b3))
    }

    /// Gives each worker what it writes and what checks it: all files are known by now, and so where each of them begins.
    fn fill_buffers(&mut self) {
        let Plan { files, stages, .. } = &mut self.plan;
        for member in stages.iter_mut().flatten() {
            let job = &self.command.jobs[member.job];
            let regions = bases(&member.worker.parts, files, self.around.whereabouts.ground);
            match contents::contents(job, member.worker.job.seed, &regions) {
                Ok((contents, checks)) => {
                    member.worker.access.contents = contents;
                    member.checks = checks;
                }
                Err(why) => return self.faults.push(format!("{}: {}: {why}", job.place, job.name)),
            }
        }
    }

    fn access(&self, job: &Job) -> Access {
        let issuer = self.issuer(job.flow.engine);
        Access {
            engine: issuer,
            direct: job.files.direct && !matches!(issuer, Issuer::Mapped | Issuer::Null),
            opened: match job.files.synchronous {
                Synchronous::No => SyncMode::None,
                Synchronous::Data => SyncMode::Dsync,
                Synchronous::All => SyncMode::Sync,
            },
            durable: Durable::Dsync,
            flush: if job.files.fdatasync_every.is_some() { Flush::Fdatasync } else { Flush::Fsync },
            descriptor: Descriptor::Kept,
            contents: Contents::Stamped { compressible: 0.0 },
        }
    }

    /// What issues operations in an engine's place.
    fn issuer(&self, engine: Engine) -> Issuer {
        match engine {
            Engine::Libaio if self.around.aio_refused.is_none() => Issuer::Aio,
            Engine::IoUring | Engine::Libaio | Engine::Windowsaio if self.around.ring_refused.is_none() => Issuer::Ring,
            Engine::IoUring | Engine::Libaio | Engine::Windowsaio | Engine::Posixaio => Issuer::Threads,
            Engine::Sync | Engine::Psync | Engine::Vsync | Engine::Pvsync | Engine::Pvsync2 => Issuer::Inline,
            Engine::Mmap => Issuer::Mapped,
            Engine::Null => Issuer::Null,
        }
    }

    /// Says once what is otherwise than the words of a job suggest.
    fn notes(&mut self, job: &Job) {
        let notes = [self.engine_note(job), verify_note(job), rate_note(job), submission_note(job)];
        for note in notes.into_iter().flatten() {
            if !self.plan.notes.contains(&note) {
                self.plan.notes.push(note);
            }
        }
    }

    /// What stands for an engine that is not plimsoll's own.
    fn engine_note(&self, job: &Job) -> Option<String> {
        let engine = job.flow.engine;
        let name = engine.name();
        match (engine, self.issuer(engine)) {
            _ if self.command.flags.on.is_some() => None,
            (Engine::Libaio | Engine::Windowsaio, Issuer::Ring) => {
                Some(format!("ioengine={name}: a ring of io_uring stands for it"))
            }
            (Engine::Posixaio, _) => Some(format!("ioengine={name}: threads with pread and pwrite stand for it")),
            (_, Issuer::Threads) => {
                let why = self.around.ring_refused.as_deref().unwrap_or_default();
                Some(format!(
                    "ioengine={name}: there is no io_uring here ({why}): threads with pread and pwrite stand for it"
                ))
            }
            _ => None,
        }
    }
}

fn verify_note(job: &Job) -> Option<String> {
    let sum = job.verification.as_ref()?.sum;
    let what = "blocks have a header of plimsoll's own, from which all their data follow, and each byte is compared";
    (!matches!(sum, "pattern" | "null")).then(|| format!("verify={sum}: {what}"))
}

fn rate_note(job: &Job) -> Option<String> {
    let flow = &job.flow;
    let rates = [
        flow.rate.read,
        flow.rate.write,
        flow.rate.trim,
        flow.rate_iops.read,
        flow.rate_iops.write,
        flow.rate_iops.trim,
    ];
    let what = "lat runs from the moment at which the rate asked for an operation, clat from when it was handed over";
    rates.iter().any(Option::is_some).then(|| what.to_owned())
}

fn submission_note(job: &Job) -> Option<String> {
    let wants = job.shown.slat_percentiles || job.logs.latency.is_some();
    wants.then(|| "slat is not measured: how long it takes to hand operations over is within clat".to_owned())
}

/// What the job does.
fn work(job: &Job) -> Work {
    let direction = job.access.direction;
    match (direction.reads, direction.writes, direction.trims) {
        _ if only_verifies(job) => Work::Reads,
        (_, true, true) => Work::TrimWrites,
        (_, false, true) => Work::Trims,
        (true, true, false) => Work::Mixed { reads: f64::from(job.access.read_percent) / 100.0 },
        (false, true, false) => Work::Writes,
        (_, false, false) => Work::Reads,
    }
}

/// The job discards, and does nothing else.
const fn only_trims(job: &Job) -> bool {
    job.access.direction.trims && !job.access.direction.writes
}

/// The job writes nothing, and reads what it would have written.
fn only_verifies(job: &Job) -> bool {
    job.verification.as_ref().is_some_and(|verification| verification.only) && job.access.direction.writes
}

/// When a job is over. Bytes of the warm-up count, as they do in fio.
fn until(job: &Job, spread: &space::Spread) -> Until {
    if job.files.create_only {
        return Until { bytes: 0, operations: 0, ..Until::ENDLESS };
    }
    let span = job.life.runtime.map_or(Span::MAX, |runtime| runtime + job.life.ramp);
    let timed = job.life.time_based && job.life.runtime.is_some();
    let bytes = if timed { u64::MAX } else { spread.bytes(job) };
    let operations = if timed { u64::MAX } else { job.access.operations.unwrap_or(u64::MAX) };
    Until { bytes, operations, span, looks: 1 }
}

/// A full queue is filled again when it has come down to this.
///
/// Learned by running fio 3.33: at a full queue at least `iodepth_batch_complete_min` answers are waited for, and again
/// until the queue is at `iodepth_low`.
fn refill(job: &Job) -> u32 {
    let flow = &job.flow;
    let depth = flow.in_flight();
    let low = flow.depth_low.min(depth.saturating_sub(flow.complete_min.max(1)));
    if depth <= 1 || low + 1 >= depth { u32::MAX } else { low }
}

fn turns(job: &Job) -> Result<Turns, String> {
    use plimsoll_fio::FileOrder;
    let count = |run: u64| run.min(u64::from(u32::MAX)) as u32;
    match job.files.order {
        FileOrder::RoundRobin { run } => Ok(Turns::RoundRobin(count(run))),
        FileOrder::Random { run } => Ok(Turns::Random(count(run))),
        FileOrder::Sequential => Ok(Turns::Sequential),
        FileOrder::Zipf { .. } | FileOrder::Pareto { .. } | FileOrder::Normal { .. } => {
            Err("file_service_type: files are chosen in turn, at random or one after the other; write one of \
                 roundrobin, random and sequential"
                .into())
        }
    }
}

/// `startdelay`: drawn where it is a range.
fn delay(job: &Job, seed: u64) -> Span {
    let (low, high) = job.life.delay;
    let wide = high.map_or(0, |high| (high.max(low) - low).as_nanos());
    low + Span::from_nanos(space::drawn(seed ^ 0xde1a, wide))
}

fn conduct(job: &Job, copy: u64) -> Conduct {
    let continues = job.life.continues;
    let ignores = &job.life.ignores;
    let numbers = |list: &[String]| list.iter().filter_map(|error| contents::errno(error)).collect();
    let processors = job.processors.clone().unwrap_or_default();
    let timed = job.life.time_based && job.life.runtime.is_some();
    Conduct {
        repeat: Repeat {
            rounds: if timed { 1 } else { job.life.loops },
            reads_back: contents::reads_back(job) && !timed,
        },
        endures: Some(ToleratedErrors {
            reads: continues.reads,
            writes: continues.writes,
            mismatches: continues.verification,
            ignored: [numbers(&ignores.reads), numbers(&ignores.writes), numbers(&ignores.verification)],
        }),
        counts_from: job.life.ramp,
        processors: match processors.len() {
            0 => processors,
            count if job.split_processors => vec![processors[(copy % count as u64) as usize]],
            _ => processors,
        },
        ..Conduct::default()
    }
}

/// Its logs have a line for each operation.
pub fn logs_each(job: &Job) -> bool {
    let logs = &job.logs;
    let rates = logs.bandwidth.is_some() || logs.latency.is_some() || logs.iops.is_some();
    rates && logs.window.is_zero()
}
