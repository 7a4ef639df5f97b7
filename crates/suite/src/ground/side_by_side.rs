//! Concurrent workers, each with a thread and a target.

use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_device::{Batching, Clock, Shape, ThreadUsage, drop_cache, sharpen_timers, thread_usage};
use plimsoll_drive::{Fault, Observe, Partial, PartialRun, Rules, Target, drive};
use plimsoll_load::{Due, JobSpec, Load, OpOutcome, Rounds};
use plimsoll_units::{Bytes, Instant, Kind, Op, Span};
use rustix::thread::{CpuSet, sched_setaffinity};

use super::{misfit, slice_of};
use crate::conduct::{Signal, ToleratedErrors};
use crate::result::{FailedOperation, IoResult, LoggedOperation, Queues, WorkerResult};
use crate::step::{IoStep, Worker, WorkerOrder};
use crate::workers::{StartBarrier, WorkerHandle, merge, together};

/// Creates the target of a worker on the worker's thread.
pub(super) trait Targets: Sync {
    /// The target, and the worker's job in the address space of that target.
    fn target(&self, worker: &Worker, shape: &Shape, clock: Clock) -> Result<(Box<dyn Target>, JobSpec), Fault>;
}

/// Runs the workers of a step.
pub(super) fn run(targets: &dyn Targets, step: &IoStep, observe: Observe<'_>) -> Partial<IoResult> {
    let clock = Clock::start();
    let numbered: Vec<_> = step.workers.iter().enumerate().collect();
    let groups: Vec<_> =
        if step.order == WorkerOrder::InTurn { numbered.chunks(1).collect() } else { vec![&numbered[..]] };
    let mut all = IoResult::default();
    for group in groups {
        let barrier = StartBarrier::new(group.len());
        let members = group.iter().map(|&(index, worker)| {
            let thread = WorkerThread { targets, step, index, worker, clock, barrier: &barrier };
            move |handle: &mut WorkerHandle<'_>| thread.work(handle)
        });
        let mut stopped = false;
        let observed = together(members.collect(), &mut |series| {
            let onward = observe(series);
            stopped |= onward.is_break();
            onward
        });
        let observed = match observed {
            Ok(observed) => observed,
            Err(fault) => return PartialRun::join(all, Some(fault)),
        };
        let mut fault = None;
        for one in observed {
            let (worker, failed) = PartialRun::split(one);
            fault = fault.or(failed);
            merge(&mut all.series, worker.observed.series.clone());
            all.workers.push(worker);
        }
        if stopped || fault.is_some() {
            return PartialRun::join(all, fault);
        }
    }
    Ok(all)
}

/// Rules of the loop for workers that share it, with the smallest of their batches of completions.
pub(super) fn derive_rules(depth: u32, step: &IoStep, workers: &[Worker]) -> Rules {
    let reap_max = workers.iter().filter_map(|worker| worker.access.batching.reap_max).min();
    Rules {
        reap_min: match workers {
            [only] => only.access.batching.reap_min as usize,
            _ => 1,
        },
        reap_max: reap_max.map_or(usize::MAX, |reap_max| reap_max as usize),
        ..Rules::new(depth, slice_of(step))
    }
}

/// Interval at which a waiting worker checks for its signals.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The context of a worker's thread.
struct WorkerThread<'a> {
    targets: &'a dyn Targets,
    step: &'a IoStep,
    index: usize,
    worker: &'a Worker,
    clock: Clock,
    barrier: &'a StartBarrier,
}

impl WorkerThread<'_> {
    fn work(&self, handle: &mut WorkerHandle<'_>) -> Partial<WorkerResult> {
        sharpen_timers();
        let job = &self.worker.job;
        let access = &self.worker.access;
        let shape = Shape {
            depth: job.depth,
            largest: Bytes::new(u64::from(job.largest())),
            writes: job.writes(),
            contents: access.contents.clone(),
            seed: job.seed ^ (self.index as u64) << 32,
            flush: access.flush,
            durable: access.durable,
            batching: access.batching,
            advice: access.advice,
        };
        let created = self.bind().and_then(|()| self.targets.target(self.worker, &shape, self.clock));
        // All workers are ready or have failed before the first begins.
        self.barrier.wait();
        let (mut target, spec) = created.map_err(PartialRun::at_once)?;
        self.await_others(handle);
        let began = target.now() + self.worker.begins;
        let index = self.index.min(255) as u8;
        let stop_all = (self.step.order == WorkerOrder::UntilFirst).then(|| handle.flag());
        let load = TrackedJob::new(self.worker, spec, index, began, stop_all);
        let mut load = load.ok_or_else(|| PartialRun::at_once(misfit(self.index)))?;
        let spins = self.worker.conduct.spins;
        load.spins = (!spins.is_zero()).then_some((self.clock, spins));
        let rules = derive_rules(shape.depth, self.step, std::slice::from_ref(self.worker));
        let driven = drive(&mut *target, &mut load, &rules, &mut |series| handle.observe(series));
        let used = thread_usage() - load.used_before;
        if self.step.order == WorkerOrder::UntilFirst {
            handle.stop();
        }
        let (observed, fault) = PartialRun::split(driven);
        self.ended(fault.is_some() || load.failed.is_some());
        let closing = self.clock.now();
        drop(target);
        let closed = self.clock.now().since(closing);
        let observed = WorkerResult {
            observed,
            began,
            ended: load.rounds.ended(),
            closed,
            cpu: Some(used.cpu),
            usage: Some(used),
            queues: load.queues(),
            spent: load.rounds.spent(),
            failed: load.failed,
            log: load.log.unwrap_or_default(),
        };
        PartialRun::join(observed, fault)
    }

    /// Binds the thread to its processors.
    fn bind(&self) -> Result<(), Fault> {
        let processors = &self.worker.conduct.processors;
        if processors.is_empty() {
            return Ok(());
        }
        let mut set = CpuSet::new();
        for processor in processors.iter().map(|number| *number as usize).filter(|number| *number < CpuSet::MAX_CPU) {
            set.set(processor);
        }
        sched_setaffinity(None, &set).map_err(|error| Fault {
            attempt: format!("binding a worker to the processors {processors:?}: leave them out, or name others"),
            source: error.into(),
        })
    }

    /// Sleeps until all signals of this worker are set, or until it has to end.
    fn await_others(&self, handle: &mut WorkerHandle<'_>) {
        let conduct = &self.worker.conduct;
        let slice = slice_of(self.step);
        let waiting = || conduct.after.iter().any(|signal| !signal.is_given()) && !conduct.stop.is_given();
        let (since, mut passed) = (self.clock.now(), Span::ZERO);
        while waiting() && !handle.is_stopped() {
            std::thread::sleep(POLL_INTERVAL);
            while self.clock.now().since(since) >= passed + slice {
                handle.pass(slice);
                passed += slice;
            }
        }
    }

    /// Signals the end of this worker.
    fn ended(&self, has_failed: bool) {
        let conduct = &self.worker.conduct;
        conduct.when_ended.iter().for_each(Signal::give);
        if has_failed {
            conduct.when_failed.iter().for_each(Signal::give);
        }
    }
}

/// A worker's job that logs its operations, ends with other workers, and counts concurrent operations.
#[derive(Debug)]
pub(super) struct TrackedJob<'a> {
    pub(super) rounds: Rounds,
    /// Files to drop from the page cache at each turn of the rounds, and the turns so far.
    forgets: Vec<PathBuf>,
    turns: u64,
    pub(super) log: Option<Vec<LoggedOperation>>,
    pub(super) queues: Queues,
    pub(super) failed: Option<FailedOperation>,
    /// Resource usage of the thread when counting began.
    used_before: ThreadUsage,
    flights: Vec<(Op, Instant)>,
    /// The job ends when either is set. The observer would end it, too, but is called too rarely.
    stop_all: Option<&'a AtomicBool>,
    signal: Signal,
    endures: Option<ToleratedErrors>,
    counts_from: Instant,
    counts: bool,
    in_flight: u32,
    batch: Batch,
    batching: Batching,
    /// Clock of the worker, and the processor time that it spends at the start of a pause.
    pub(super) spins: Option<(Clock, Span)>,
}

/// Operations of the same time and direction.
#[derive(Clone, Copy, Debug)]
struct Batch {
    way: Way,
    at: Instant,
    count: u32,
    /// Operations in flight, including the last of the batch.
    in_flight: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    HandedOver,
    TakenBack,
}

impl<'a> TrackedJob<'a> {
    /// The worker's job, placed as `spec`, from `start` on; `None` if it cannot be placed. `stop_all` is set when all
    /// workers have to end.
    pub(super) fn new(
        worker: &Worker,
        spec: JobSpec,
        index: u8,
        start: Instant,
        stop_all: Option<&'a AtomicBool>,
    ) -> Option<Self> {
        let conduct = &worker.conduct;
        Some(Self {
            rounds: Rounds::new(spec, conduct.repeat, index, start)?,
            forgets: conduct.forgets.clone(),
            turns: 0,
            log: worker.logged.then(Vec::new),
            queues: Queues::default(),
            failed: None,
            used_before: thread_usage(),
            flights: Vec::new(),
            stop_all,
            signal: conduct.stop.clone(),
            endures: conduct.endures.clone(),
            counts_from: start + conduct.counts_from,
            counts: conduct.counts_from.is_zero(),
            in_flight: 0,
            batch: Batch { way: Way::TakenBack, at: start, count: 0, in_flight: 0 },
            batching: worker.access.batching,
            spins: None,
        })
    }

    /// True when no more operations are taken.
    fn is_stopped(&self) -> bool {
        self.failed.is_some()
            || self.signal.is_given()
            || self.stop_all.is_some_and(|stop_all| stop_all.load(Ordering::Relaxed))
    }

    /// True when all operations are completed or abandoned.
    pub(super) fn is_done(&self) -> bool {
        self.in_flight == 0 && self.due() == Due::Over
    }

    /// Counts so far.
    pub(super) fn queues(&self) -> Queues {
        let mut queues = self.queues;
        queues.add(self.batch);
        queues
    }

    #[inline]
    fn join(&mut self, way: Way, at: Instant) {
        let max = match way {
            Way::HandedOver => self.batching.submit_max,
            Way::TakenBack => self.batching.reap_max,
        };
        let is_complete = max.is_some_and(|max| self.batch.count >= max);
        if self.batch.way == way && self.batch.at == at && !is_complete {
            self.batch.count += 1;
        } else {
            self.queues.add(self.batch);
            self.batch = Batch { way, at, count: 1, in_flight: 0 };
        }
        self.batch.in_flight = self.in_flight;
    }

    /// Spends processor time from `now` on.
    #[cold]
    fn spin(&self, now: Instant) {
        let Some((clock, span)) = self.spins else { return };
        while clock.now() < now + span && !self.is_stopped() {
            std::hint::spin_loop();
        }
    }

    #[cold]
    fn begin_to_count(&mut self) {
        self.counts = true;
        self.queues = Queues::default();
        self.batch.count = 0;
        self.used_before = thread_usage();
    }

    /// Drops the files from the page cache. The next round reads what remains there if a file cannot be opened again.
    #[cold]
    fn forget(&mut self) {
        self.turns = self.rounds.turns();
        for file in self.forgets.iter().filter_map(|path| File::open(path).ok()) {
            let _ = drop_cache(&file);
        }
    }

    #[cold]
    fn fail(&mut self, op: &Op, errno: i32) {
        if self.endures.as_ref().is_some_and(|endures| !endures.holds(op, errno)) {
            self.failed.get_or_insert(FailedOperation { op: *op, errno });
        }
    }
}

impl Queues {
    fn add(&mut self, batch: Batch) {
        let counts = match batch.way {
            Way::HandedOver => {
                // The queue depth of a batch is that at its last operation.
                self.in_flight[batch.in_flight.max(1).ilog2().min(6) as usize] += u64::from(batch.count);
                &mut self.handed_over
            }
            Way::TakenBack => &mut self.taken_back,
        };
        counts[place(batch.count)] += u64::from(batch.count > 0);
    }
}

/// Index of the bin of a number: zero, up to 4, 8, 16, 32, 64, and more.
const fn place(count: u32) -> usize {
    match count {
        0 => 0,
        1..=4 => 1,
        5..=8 => 2,
        9..=16 => 3,
        17..=32 => 4,
        33..=64 => 5,
        _ => 6,
    }
}

impl Load for TrackedJob<'_> {
    #[inline]
    fn due(&self) -> Due {
        if self.is_stopped() { Due::Over } else { self.rounds.due() }
    }

    #[inline]
    fn awaited(&self) -> Option<Kind> {
        self.rounds.awaited()
    }

    #[inline]
    fn take(&mut self, now: Instant) -> Op {
        if !self.counts && now >= self.counts_from {
            self.begin_to_count();
        }
        let op = self.rounds.take(now);
        self.in_flight += 1;
        self.join(Way::HandedOver, now);
        if self.log.is_some() {
            self.flights.push((op, now));
        }
        op
    }

    #[inline]
    fn completed(&mut self, now: Instant, op: &Op, outcome: OpOutcome) {
        let rests_until = self.rounds.rests_until();
        self.rounds.completed(now, op, outcome);
        if self.spins.is_some() && self.rounds.rests_until() > rests_until {
            self.spin(now);
        }
        if self.turns != self.rounds.turns() {
            self.forget();
        }
        self.in_flight -= 1;
        self.join(Way::TakenBack, now);
        if let OpOutcome::Failed(errno) = outcome {
            self.fail(op, errno);
        }
        if let Some(log) = &mut self.log
            && let Some(place) = self.flights.iter().position(|(flying, _)| flying == op)
        {
            let (op, submitted) = self.flights.swap_remove(place);
            log.push(LoggedOperation { op, submitted, completed: now });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::IoSliceMut;

    use plimsoll_load::{LaneSpec, Pattern, Region, Until, WorkerOps};
    use plimsoll_units::{Bytes, Span};
    use rustix::io::ReadWriteFlags;

    use super::*;
    use crate::step::FileAccess;

    fn worker(depth: u32, operations: u64) -> Worker {
        let size = Bytes::mib(1);
        let lane = LaneSpec::new(4_096, Pattern::Sequential);
        let job = JobSpec::new(WorkerOps::Reads, lane, Region::first(size), Until::operations(operations));
        Worker::new(JobSpec { depth, ..job }, 0, size, FileAccess::buffered())
    }

    fn watched(worker: &Worker) -> TrackedJob<'static> {
        TrackedJob::new(worker, worker.job.clone(), 0, Instant::ZERO, None).expect("it fits")
    }

    #[test]
    fn queue_depths_are_counted() {
        let mut load = watched(&worker(6, 12));
        let at = |micros| Instant::ZERO + Span::from_micros(micros);
        for round in 0..2 {
            let ops: Vec<Op> = (0..6).map(|_| load.take(at(round * 10))).collect();
            for (index, op) in ops.iter().enumerate() {
                load.completed(at(round * 10 + if index < 5 { 5 } else { 6 }), op, OpOutcome::Done);
            }
        }
        let queues = load.queues();
        assert_eq!(queues.in_flight, [0, 0, 12, 0, 0, 0, 0]);
        assert_eq!(queues.handed_over, [0, 0, 2, 0, 0, 0, 0]);
        assert_eq!(queues.taken_back, [0, 2, 2, 0, 0, 0, 0]);
        assert!(load.is_done());
    }

    #[test]
    fn batches_end_at_their_limits() {
        let mut worker = worker(6, 6);
        worker.access.batching = Batching { submit_max: Some(1), reap_min: 1, reap_max: Some(5) };
        let mut load = watched(&worker);
        let ops: Vec<Op> = (0..6).map(|_| load.take(Instant::ZERO)).collect();
        for op in &ops {
            load.completed(Instant::ZERO, op, OpOutcome::Done);
        }
        let queues = load.queues();
        assert_eq!(queues.in_flight, [1, 2, 3, 0, 0, 0, 0]);
        assert_eq!(queues.handed_over, [0, 6, 0, 0, 0, 0, 0]);
        assert_eq!(queues.taken_back, [0, 1, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn files_leave_the_page_cache_between_rounds() {
        let path = std::env::temp_dir().join(format!("plimsoll-rounds-{}", std::process::id()));
        std::fs::write(&path, [1; 4_096]).unwrap();
        let file = File::open(&path).unwrap();
        file.sync_all().unwrap();
        let is_cached = || {
            let mut bytes = [0; 512];
            rustix::io::preadv2(&file, &mut [IoSliceMut::new(&mut bytes)], 0, ReadWriteFlags::NOWAIT).is_ok()
        };
        // The probe starts readahead, which may complete before the answer on a busy host.
        let tries = 0..100;
        drop_cache(&file).unwrap();
        if tries.clone().all(|_| is_cached()) {
            eprintln!("skipped: the temporary directory is in memory");
            return std::fs::remove_file(path).unwrap();
        }
        let mut worker = worker(1, 1);
        worker.conduct.repeat.rounds = u64::MAX;
        worker.conduct.forgets = vec![path.clone()];
        let mut load = watched(&worker);
        let mut leaves = || {
            assert!(!std::fs::read(&path).unwrap().is_empty());
            let op = load.take(Instant::ZERO);
            load.completed(Instant::ZERO, &op, OpOutcome::Done);
            !is_cached()
        };
        assert!(tries.into_iter().any(|_| leaves()));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn first_untolerated_failure_ends_worker() {
        let mut worker = worker(1, 12);
        let mut load = watched(&worker);
        let op = load.take(Instant::ZERO);
        load.completed(Instant::ZERO, &op, OpOutcome::Failed(5));
        assert!(load.failed.is_none() && !load.is_done(), "everything is endured");
        worker.conduct.endures = Some(ToleratedErrors::default());
        let mut load = watched(&worker);
        let op = load.take(Instant::ZERO);
        load.completed(Instant::ZERO, &op, OpOutcome::Failed(5));
        assert_eq!(load.failed, Some(FailedOperation { op, errno: 5 }));
        assert!(load.is_done());
    }

    #[test]
    fn signal_ends_worker_and_warm_up_is_excluded() {
        let mut worker = worker(1, 12);
        worker.conduct.counts_from = Span::from_micros(10);
        let mut load = watched(&worker);
        for micros in [0, 5, 10, 15] {
            let now = Instant::ZERO + Span::from_micros(micros);
            let op = load.take(now);
            load.completed(now, &op, OpOutcome::Done);
        }
        assert_eq!(load.queues().in_flight[0], 2);
        worker.conduct.stop.give();
        assert!(load.is_done());
    }
}
