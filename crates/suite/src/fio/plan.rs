//! Converts jobs to workers: stages, files, loads, and dependencies between clones.
//!
//! Pure: file properties are arguments, and random values follow from seeds.

mod bonds;
mod contents;
mod lanes;
mod slices;
mod space;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::conduct::{Conduct, ToleratedErrors};
use crate::step::{Descriptor, FileAccess, Worker};
use plimsoll_device::{AccessAdvice, Batching, Contents, Durable, Engine as Issuer, Flush, SyncMode};
use plimsoll_fio::{
    BlockSizes, Engine, FileAdvice, FioCommand, FioJob, Flow, JobDirection, JobNote, Order, Placing, RangeSync, Seed,
    Synchronous, groups,
};
use plimsoll_language::{label, say};
use plimsoll_load::{CountedOps, FlushOrder, JobSpec, RateWait, Repeat, ThinkPause, Turns, Until, WorkerOps};
use plimsoll_units::{Bytes, Span};

pub use contents::{Checks, Filling};
pub use slices::slice_length;
pub use space::{Existing, FilePlan, NamedDisk, PathLookup, PathMeaning, bases};

#[derive(Debug, Default)]
pub struct StagePlan {
    /// Distinct files of all jobs.
    pub files: Vec<FilePlan>,
    /// Workers of each stage, in fio's order.
    pub stages: Vec<Vec<Member>>,
    pub notes: Vec<JobNote>,
}

/// A clone of a job.
#[derive(Debug)]
pub struct Member {
    pub job: usize,
    /// Number among the clones of its job, from 0.
    pub copy: u64,
    /// Number among all clones, from 0.
    pub number: u64,
    pub group: u32,
    pub worker: Worker,
    /// Verification of its reads.
    pub checks: Checks,
}

/// Properties of the host, and plimsoll's own flags.
pub struct PlanContext<'a> {
    /// Files and devices by path.
    pub lookup: PathLookup<'a>,
    /// Seed of jobs with different random numbers in each run.
    pub fresh_seed: u64,
    /// Reason why `io_uring` is unavailable, if it is.
    pub ring_refused: Option<String>,
    /// Reason why kernel AIO is unavailable, if it is.
    pub aio_refused: Option<String>,
}

/// fio's default of `randseed`.
const SEED: u64 = 0x89;

/// Creates the plan.
///
/// # Errors
/// Errors with remedies, a line each.
pub fn plan(command: &FioCommand, context: &PlanContext<'_>) -> Result<StagePlan, Vec<String>> {
    let placings = groups(&command.jobs);
    let mut planner =
        Planner { command, context, plan: StagePlan::default(), faults: Vec::new(), file_indices: BTreeMap::new() };
    for (index, (job, placing)) in command.jobs.iter().zip(&placings).enumerate() {
        planner.job(index, job, *placing);
    }
    if matches!(context.lookup.meaning, PathMeaning::Space(_))
        && planner.plan.stages.iter().any(|stage| stage.len() > 256)
    {
        planner
            .faults
            .push(label!("more than 256 concurrent clones with --on; use a lower numjobs or a stonewall").into());
    }
    space::set_bases(&mut planner.plan.files, &context.lookup);
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
    command: &'a FioCommand,
    context: &'a PlanContext<'a>,
    plan: StagePlan,
    faults: Vec<String>,
    /// Indices of files by path.
    file_indices: BTreeMap<String, usize>,
}

impl Planner<'_> {
    fn job(&mut self, index: usize, job: &FioJob, placing: Placing) {
        if job.flow.engine == Engine::Null && matches!(self.context.lookup.meaning, PathMeaning::Space(_)) {
            let why = label!("ioengine=null transfers no data: use another");
            return self.faults.push(format!("{}: {}: {why}", job.place, job.name));
        }
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
                // Other clones would repeat the error.
                Err(why) => return self.faults.push(format!("{}: {}: {why}", job.place, job.name)),
            }
        }
    }

    fn member(&mut self, index: usize, job: &FioJob, copy: u64, number: u64) -> Result<Member, String> {
        let seed = self.seed(job, number);
        let spread = space::spread(job, copy, seed, &self.context.lookup)?;
        let parts = spread.parts(job, &mut self.plan.files, &mut self.file_indices)?;
        let forgets = self.forgets(job);
        let until = limit_job(job, &spread, forgets);
        let spec = JobSpec {
            work: select_work(job),
            reads: lanes::build_lane(
                job,
                if only_verifies(job) { lanes::LaneKind::Write } else { lanes::LaneKind::Read },
                &spread,
            )?,
            writes: lanes::build_lane(
                job,
                if job.access.direction.trims { lanes::LaneKind::Trim } else { lanes::LaneKind::Write },
                &spread,
            )?,
            // Set by the backend.
            files: Vec::new(),
            turns: order_files(job)?,
            depth: limit_depth(job),
            refill: find_refill_depth(job),
            durable: false,
            flush_every: count_writes_per_flush(job)?,
            flush_order: flush_order(job.flow.engine),
            flush_at_end: job.files.flush_at_end || job.files.flush_on_close,
            think: plan_pauses(job),
            rate_wait: RateWait::Drained,
            until,
            seed,
        };
        if job.access.direction.trims && !matches!(self.context.lookup.meaning, PathMeaning::Paths) {
            return Err(say!("rw={} with --on: trims need a file or device; name it, and omit --on", job.access.rw));
        }
        if job.files.range_every.is_some() && !matches!(self.context.lookup.meaning, PathMeaning::Paths) {
            return Err(label!("sync_file_range with --on: a model has no dirty pages; use fdatasync").into());
        }
        let mut worker = Worker::new(spec, 0, Bytes::ZERO, self.access(job));
        worker.parts = parts;
        worker.begins = draw_delay(job, seed);
        worker.logged = logs_each(job);
        worker.conduct = build_conduct(job, copy, forgets);
        if forgets {
            let paths = worker.parts.iter().filter_map(|part| self.plan.files[part.file].path.as_ref());
            worker.conduct.forgets = paths.map(PathBuf::from).collect();
        }
        Ok(Member { job: index, copy, number, group: 0, worker, checks: Checks::None })
    }

    fn seed(&self, job: &FioJob, number: u64) -> u64 {
        let base = match (self.command.flags.seed, job.access.seed) {
            (Some(seed), _) => seed,
            (None, Seed::Given(seed)) => seed as u64,
            (None, Seed::Repeated) => SEED,
            (None, Seed::Fresh) => self.context.fresh_seed,
        };
        base.wrapping_add(number.wrapping_mul(0x1_0000_01b3))
    }

    /// Sets the contents and checks of each worker, once all files and their offsets are known.
    fn fill_buffers(&mut self) {
        let StagePlan { files, stages, .. } = &mut self.plan;
        for member in stages.iter_mut().flatten() {
            let job = &self.command.jobs[member.job];
            let regions = bases(&member.worker.parts, files, self.context.lookup.meaning);
            match contents::build_contents(job, member.worker.job.seed, &regions) {
                Ok((contents, checks)) => {
                    member.worker.access.contents = contents;
                    member.checks = checks;
                }
                Err(why) => return self.faults.push(format!("{}: {}: {why}", job.place, job.name)),
            }
        }
    }

    /// True if pages are dropped from the page cache before each pass over the files, as fio opens them anew for each.
    fn forgets(&self, job: &FioJob) -> bool {
        let is_buffered = job.files.invalidate && !job.files.direct && !job.files.read_before;
        let is_file = !matches!(self.issuer(job.flow.engine), Issuer::Mapped | Issuer::Null);
        is_buffered && is_file && matches!(self.context.lookup.meaning, PathMeaning::Paths)
    }

    fn access(&self, job: &FioJob) -> FileAccess {
        let issuer = self.issuer(job.flow.engine);
        FileAccess {
            engine: issuer,
            direct: job.files.direct && !matches!(issuer, Issuer::Mapped | Issuer::Null),
            opened: match job.files.synchronous {
                Synchronous::No => SyncMode::None,
                Synchronous::Data => SyncMode::Dsync,
                Synchronous::All => SyncMode::Sync,
            },
            durable: Durable::Dsync,
            flush: match job.files.range_every {
                Some((_, range)) => Flush::SyncFileRange(convert_range_flags(range)),
                None if job.files.fdatasync_every.is_some() => Flush::Fdatasync,
                None => Flush::Fsync,
            },
            descriptor: Descriptor::Retained,
            contents: Contents::Stamped { compressible: 0.0 },
            batching: limit_batches(job),
            advice: select_advice(job),
        }
    }

    /// The engine that replaces one of fio.
    fn issuer(&self, engine: Engine) -> Issuer {
        match engine {
            Engine::Libaio if self.context.aio_refused.is_none() => Issuer::Aio,
            Engine::IoUring | Engine::Libaio | Engine::Windowsaio if self.context.ring_refused.is_none() => {
                Issuer::Ring
            }
            Engine::IoUring | Engine::Libaio | Engine::Windowsaio | Engine::Posixaio => Issuer::Threads,
            Engine::Sync | Engine::Psync | Engine::Vsync | Engine::Pvsync | Engine::Pvsync2 => Issuer::Inline,
            Engine::Mmap => Issuer::Mapped,
            Engine::Null => Issuer::Null,
        }
    }

    /// Notes on deviations of a job, each once.
    fn notes(&mut self, job: &FioJob) {
        let notes =
            [self.engine_note(job), self.cache_note(job), verify_note(job), rate_note(job), submission_note(job)];
        for note in notes.into_iter().flatten() {
            if !self.plan.notes.contains(&note) {
                self.plan.notes.push(note);
            }
        }
    }

    /// Files of the host have a page cache; a target of `--on` has none.
    fn cache_note(&self, job: &FioJob) -> Option<JobNote> {
        let is_buffered = !job.files.direct || job.flow.engine == Engine::Mmap;
        (is_buffered && matches!(self.context.lookup.meaning, PathMeaning::Space(_))).then_some(JobNote::NoPageCache)
    }

    fn engine_note(&self, job: &FioJob) -> Option<JobNote> {
        let engine = job.flow.engine;
        let name = engine.name();
        match (engine, self.issuer(engine)) {
            _ if !self.command.flags.on.is_empty() => None,
            (Engine::Libaio | Engine::Windowsaio, Issuer::Ring) => Some(JobNote::EngineByRing { engine: name }),
            (Engine::Posixaio, _) => Some(JobNote::EngineByThreads { engine: name }),
            (_, Issuer::Threads) => {
                let reason = self.context.ring_refused.clone().unwrap_or_default();
                Some(JobNote::RingRefused { engine: name, reason })
            }
            _ => None,
        }
    }
}

fn verify_note(job: &FioJob) -> Option<JobNote> {
    let method = job.verification.as_ref()?.sum;
    (!matches!(method, "pattern" | "null")).then_some(JobNote::OwnBlockHeader { method })
}

fn rate_note(job: &FioJob) -> Option<JobNote> {
    let flow = &job.flow;
    let rates = [
        flow.rate.read,
        flow.rate.write,
        flow.rate.trim,
        flow.rate_iops.read,
        flow.rate_iops.write,
        flow.rate_iops.trim,
    ];
    rates.iter().any(Option::is_some).then_some(JobNote::LatencyFromSchedule)
}

fn submission_note(job: &FioJob) -> Option<JobNote> {
    let wants = job.display.slat_percentiles || job.logs.latency.is_some();
    wants.then_some(JobNote::NoSubmissionLatency)
}

fn select_work(job: &FioJob) -> WorkerOps {
    let direction = job.access.direction;
    match (direction.reads, direction.writes, direction.trims) {
        _ if only_verifies(job) => WorkerOps::Reads,
        (_, true, true) => WorkerOps::TrimWrites,
        (_, false, true) => WorkerOps::Trims,
        (true, true, false) => WorkerOps::Mixed { reads: f64::from(job.access.read_percent) / 100.0 },
        (false, true, false) => WorkerOps::Writes,
        (_, false, false) => WorkerOps::Reads,
    }
}

/// True if the job only trims.
const fn only_trims(job: &FioJob) -> bool {
    job.access.direction.trims && !job.access.direction.writes
}

/// True if the job only reads and verifies.
fn only_verifies(job: &FioJob) -> bool {
    job.verification.as_ref().is_some_and(|verification| verification.only) && job.access.direction.writes
}

/// True if the job repeats until its runtime is over.
const fn is_timed(job: &FioJob) -> bool {
    job.life.time_based && job.life.runtime.is_some()
}

/// End of a job, or of each of its passes if it `forgets`. Bytes of the warm-up count, as in fio.
fn limit_job(job: &FioJob, spread: &space::Spread, forgets: bool) -> Until {
    if job.files.create_only {
        return Until { bytes: 0, operations: 0, ..Until::ENDLESS };
    }
    let span = job.life.runtime.map_or(Span::MAX, |runtime| runtime + job.life.ramp);
    let timed = is_timed(job);
    let bytes = if timed && !forgets { u64::MAX } else { spread.bytes(job) };
    let operations = if timed { u64::MAX } else { job.access.operations.unwrap_or(u64::MAX) };
    let operations = if timed { operations } else { operations.min(operations_with_gaps(job, spread)) };
    Until { bytes, operations, span, looks: 1 }
}

/// Operations of a sequential job with gaps. fio continues at the start of a file after its end, but ends at the end of a
/// part of a file, unless `io_size` is given. Counted only for a single block size.
fn operations_with_gaps(job: &FioJob, spread: &space::Spread) -> u64 {
    let access = &job.access;
    let JobDirection { reads, writes, trims } = access.direction;
    let blocks = match (reads, writes, trims) {
        (true, false, false) => &access.blocks.read,
        (false, true, false) => &access.blocks.write,
        (false, false, true) => &access.blocks.trim,
        _ => return u64::MAX,
    };
    match (access.order, blocks) {
        (Order::Sequential { step }, BlockSizes::Range(low, high))
            if step > 0 && low == high && access.io_size.is_none() =>
        {
            spread.operations(low.get(), low.get() + step.cast_unsigned()).unwrap_or(u64::MAX)
        }
        _ => u64::MAX,
    }
}

/// Number of writes before each flush of any kind; 0 for none.
fn count_writes_per_flush(job: &FioJob) -> Result<u32, String> {
    let files = &job.files;
    let all =
        [files.fsync_every, files.fdatasync_every, files.range_every.map(|(every, _)| every)].into_iter().flatten();
    match all.collect::<Vec<_>>()[..] {
        [] => Ok(0),
        [every] => Ok(every.min(u64::from(u32::MAX)) as u32),
        _ => {
            Err(label!("fsync and fdatasync together, or with sync_file_range, are not supported; use a single option")
                .into())
        }
    }
}

fn convert_range_flags(range: RangeSync) -> u32 {
    let RangeSync { wait_before, write, wait_after } = range;
    let flags = [(wait_before, Flush::WAIT_BEFORE), (write, Flush::WRITE), (wait_after, Flush::WAIT_AFTER)];
    flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum()
}

/// Queue depth. The asynchronous engines of fio 3.33 trim by system calls, so that there is never more than a trim.
fn limit_depth(job: &FioJob) -> u32 {
    if only_trims(job) { 1 } else { job.flow.in_flight() }
}

/// Order of a flush in fio's engine: the call of libaio blocks the job, those of `io_uring` and POSIX AIO are queued.
const fn flush_order(engine: Engine) -> FlushOrder {
    match engine {
        Engine::IoUring | Engine::Posixaio => FlushOrder::Queued,
        _ => FlushOrder::Blocking,
    }
}

fn plan_pauses(job: &FioJob) -> Option<ThinkPause> {
    let think = job.flow.think?;
    let counted = if think.counts_issued { CountedOps::Issued } else { CountedOps::Completed };
    Some(ThinkPause { pause: think.pause, every: think.every, counted, interval: think.io_time })
}

fn select_advice(job: &FioJob) -> Option<AccessAdvice> {
    match job.files.advice {
        FileAdvice::None => None,
        FileAdvice::ByOrder if job.access.is_random() => Some(AccessAdvice::Random),
        FileAdvice::Random => Some(AccessAdvice::Random),
        FileAdvice::ByOrder | FileAdvice::Sequential => Some(AccessAdvice::Sequential),
    }
}

/// fio submits `iodepth_batch` operations per call, and reaps completions only when its queue is full. Its null engine
/// completes a batch at once.
fn limit_batches(job: &FioJob) -> Batching {
    let Flow { engine, batch, complete_min, complete_max, .. } = job.flow;
    if engine == Engine::Null {
        return Batching { submit_max: Some(batch.max(1)), ..Batching::FREE };
    }
    Batching { submit_max: Some(batch.max(1)), reap_min: complete_min.max(1), reap_max: Some(complete_max.max(1)) }
}

/// Queue length at which a full queue is refilled. In fio 3.33, at a full queue at least `iodepth_batch_complete_min`
/// completions are reaped until the queue is at `iodepth_low`.
fn find_refill_depth(job: &FioJob) -> u32 {
    let flow = &job.flow;
    let depth = limit_depth(job);
    let low = flow.depth_low.min(depth.saturating_sub(flow.complete_min.max(1)));
    if depth <= 1 || low + 1 >= depth { u32::MAX } else { low }
}

fn order_files(job: &FioJob) -> Result<Turns, String> {
    use plimsoll_fio::FileOrder;
    let count = |run: u64| run.min(u64::from(u32::MAX)) as u32;
    match job.files.order {
        FileOrder::RoundRobin { run } => Ok(Turns::RoundRobin(count(run))),
        FileOrder::Random { run } => Ok(Turns::Random(count(run))),
        FileOrder::Sequential => Ok(Turns::Sequential),
        FileOrder::Zipf { .. } | FileOrder::Pareto { .. } | FileOrder::Normal { .. } => Err(label!(
            "file_service_type: supported values are \
                 roundrobin, random and sequential"
        )
        .into()),
    }
}

/// `startdelay`, drawn if it is a range.
fn draw_delay(job: &FioJob, seed: u64) -> Span {
    let (low, high) = job.life.delay;
    let wide = high.map_or(0, |high| (high.max(low) - low).as_nanos());
    low + Span::from_nanos(space::drawn(seed ^ 0xde1a, wide))
}

fn build_conduct(job: &FioJob, copy: u64, forgets: bool) -> Conduct {
    let continues = job.life.continues;
    let ignores = &job.life.ignores;
    let numbers = |list: &[String]| list.iter().filter_map(|error| contents::parse_errno(error)).collect();
    let processors = job.processors.clone().unwrap_or_default();
    let timed = is_timed(job);
    Conduct {
        repeat: Repeat {
            rounds: match (timed, forgets) {
                (false, _) => job.life.loops,
                (true, true) => u64::MAX,
                (true, false) => 1,
            },
            reads_back: contents::reads_back(job) && !timed,
        },
        endures: Some(ToleratedErrors {
            reads: continues.reads,
            writes: continues.writes,
            mismatches: continues.verification,
            ignored: [numbers(&ignores.reads), numbers(&ignores.writes), numbers(&ignores.verification)],
        }),
        counts_from: job.life.ramp,
        spins: job.flow.think.map_or(Span::ZERO, |think| think.spin),
        processors: match processors.len() {
            0 => processors,
            count if job.split_processors => vec![processors[(copy % count as u64) as usize]],
            _ => processors,
        },
        ..Conduct::default()
    }
}

/// True if its logs have a line per operation.
pub fn logs_each(job: &FioJob) -> bool {
    let logs = &job.logs;
    let rates = logs.bandwidth.is_some() || logs.latency.is_some() || logs.iops.is_some();
    rates && logs.window.is_zero()
}
