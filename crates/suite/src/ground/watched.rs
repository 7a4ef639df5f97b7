//! A worker's job as it is offered: watched for what ends it, and counted by how many operations there are at once.
//!
//! Knows nothing about threads and targets.

use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_device::{ThreadUsage, thread_usage};
use plimsoll_load::{Due, JobSpec, Load, Outcome, Rounds};
use plimsoll_units::{Instant, Op};

use crate::conduct::{Endured, Signal};
use crate::seen::{Failed, Logged, Queues};
use crate::step::Worker;

/// A job whose operations are kept, where that was asked for, and that ends with others, where it was asked for.
#[derive(Debug)]
pub(super) struct Watched<'a> {
    pub(super) rounds: Rounds,
    pub(super) log: Option<Vec<Logged>>,
    pub(super) queues: Queues,
    pub(super) failed: Option<Failed>,
    /// What the thread had used when counting began.
    pub(super) used_before: ThreadUsage,
    flights: Vec<(Op, Instant)>,
    /// Nothing more is asked for once one of these is set: the observer, who says so too, is asked too seldom for that.
    crew: Option<&'a AtomicBool>,
    signal: Signal,
    endures: Option<Endured>,
    counts_from: Instant,
    counts: bool,
    in_flight: u32,
    together: Together,
}

/// Operations of one moment that went the same way.
#[derive(Clone, Copy, Debug)]
struct Together {
    way: Way,
    at: Instant,
    count: u32,
    /// In flight with the last of them.
    in_flight: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    HandedOver,
    TakenBack,
}

impl<'a> Watched<'a> {
    /// The worker's job, placed as `spec`, from `start` on. `None` when it cannot be. `crew` is set when all are to end.
    pub(super) fn new(
        worker: &Worker,
        spec: JobSpec,
        index: u8,
        start: Instant,
        crew: Option<&'a AtomicBool>,
    ) -> Option<Self> {
        let conduct = &worker.conduct;
        Some(Self {
            rounds: Rounds::new(spec, conduct.repeat, index, start)?,
            log: worker.logged.then(Vec::new),
            queues: Queues::default(),
            failed: None,
            used_before: thread_usage(),
            flights: Vec::new(),
            crew,
            signal: conduct.stop.clone(),
            endures: conduct.endures.clone(),
            counts_from: start + conduct.counts_from,
            counts: conduct.counts_from.is_zero(),
            in_flight: 0,
            together: Together { way: Way::TakenBack, at: start, count: 0, in_flight: 0 },
        })
    }

    /// True when nothing more will be asked for.
    fn is_stopped(&self) -> bool {
        self.failed.is_some() || self.signal.is_given() || self.crew.is_some_and(|crew| crew.load(Ordering::Relaxed))
    }

    /// True when all is done, or given up, and back.
    pub(super) fn is_done(&self) -> bool {
        self.in_flight == 0 && self.due() == Due::Over
    }

    /// What was counted up to now.
    pub(super) fn queues(&self) -> Queues {
        let mut queues = self.queues;
        queues.add(self.together);
        queues
    }

    #[inline]
    fn join(&mut self, way: Way, at: Instant) {
        if self.together.way == way && self.together.at == at {
            self.together.count += 1;
        } else {
            self.queues.add(self.together);
            self.together = Together { way, at, count: 1, in_flight: 0 };
        }
        self.together.in_flight = self.in_flight;
    }

    #[cold]
    fn begin_to_count(&mut self) {
        self.counts = true;
        self.queues = Queues::default();
        self.together.count = 0;
        self.used_before = thread_usage();
    }

    #[cold]
    fn fail(&mut self, op: &Op, errno: i32) {
        if self.endures.as_ref().is_some_and(|endures| !endures.holds(op, errno)) {
            self.failed.get_or_insert(Failed { op: *op, errno });
        }
    }
}

impl Queues {
    fn add(&mut self, together: Together) {
        let counts = match together.way {
            Way::HandedOver => {
                // All of them were there at that moment, the first one too.
                self.in_flight[together.in_flight.max(1).ilog2().min(6) as usize] += u64::from(together.count);
                &mut self.handed_over
            }
            Way::TakenBack => &mut self.taken_back,
        };
        counts[place(together.count)] += u64::from(together.count > 0);
    }
}

/// The place of a number among none, up to 4, 8, 16, 32, 64, and more.
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

impl Load for Watched<'_> {
    #[inline]
    fn due(&self) -> Due {
        if self.is_stopped() { Due::Over } else { self.rounds.due() }
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
    fn completed(&mut self, now: Instant, op: &Op, outcome: Outcome) {
        self.rounds.completed(now, op, outcome);
        self.in_flight -= 1;
        self.join(Way::TakenBack, now);
        if let Outcome::Failed(errno) = outcome {
            self.fail(op, errno);
        }
        if let Some(log) = &mut self.log
            && let Some(place) = self.flights.iter().position(|(flying, _)| flying == op)
        {
            let (op, submitted) = self.flights.swap_remove(place);
            log.push(Logged { op, submitted, completed: now });
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_load::{LaneSpec, Pattern, Region, Until, Work};
    use plimsoll_units::{Bytes, Span};

    use super::*;
    use crate::step::Access;

    fn worker(depth: u32, operations: u64) -> Worker {
        let size = Bytes::mib(1);
        let lane = LaneSpec::new(4_096, Pattern::Sequential);
        let job = JobSpec::new(Work::Reads, lane, Region::first(size), Until::operations(operations));
        Worker::new(JobSpec { depth, ..job }, 0, size, Access::buffered())
    }

    fn watched(worker: &Worker) -> Watched<'static> {
        Watched::new(worker, worker.job.clone(), 0, Instant::ZERO, None).expect("it fits")
    }

    #[test]
    fn what_is_in_flight_at_once_is_counted() {
        let mut load = watched(&worker(6, 12));
        let at = |micros| Instant::ZERO + Span::from_micros(micros);
        for round in 0..2 {
            let ops: Vec<Op> = (0..6).map(|_| load.take(at(round * 10))).collect();
            for (index, op) in ops.iter().enumerate() {
                load.completed(at(round * 10 + if index < 5 { 5 } else { 6 }), op, Outcome::Done);
            }
        }
        let queues = load.queues();
        assert_eq!(queues.in_flight, [0, 0, 12, 0, 0, 0, 0]);
        assert_eq!(queues.handed_over, [0, 0, 2, 0, 0, 0, 0]);
        assert_eq!(queues.taken_back, [0, 2, 2, 0, 0, 0, 0]);
        assert!(load.is_done());
    }

    #[test]
    fn the_first_failure_that_is_not_endured_ends_it() {
        let mut worker = worker(1, 12);
        let mut load = watched(&worker);
        let op = load.take(Instant::ZERO);
        load.completed(Instant::ZERO, &op, Outcome::Failed(5));
        assert!(load.failed.is_none() && !load.is_done(), "everything is endured");
        worker.conduct.endures = Some(Endured::default());
        let mut load = watched(&worker);
        let op = load.take(Instant::ZERO);
        load.completed(Instant::ZERO, &op, Outcome::Failed(5));
        assert_eq!(load.failed, Some(Failed { op, errno: 5 }));
        assert!(load.is_done());
    }

    #[test]
    fn a_signal_ends_it_and_a_warm_up_is_not_counted() {
        let mut worker = worker(1, 12);
        worker.conduct.counts_from = Span::from_micros(10);
        let mut load = watched(&worker);
        for micros in [0, 5, 10, 15] {
            let now = Instant::ZERO + Span::from_micros(micros);
            let op = load.take(now);
            load.completed(now, &op, Outcome::Done);
        }
        assert_eq!(load.queues().in_flight[0], 2);
        worker.conduct.stop.give();
        assert!(load.is_done());
    }
}
