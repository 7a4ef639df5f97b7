//! Repetition of a job, optionally with reading back the written data after each round.

use plimsoll_units::{Instant, Kind, Op, Span};

use crate::job::{Job, JobSpec, LaneSpec, Until, WorkerOps};
use crate::{Due, Load, OpOutcome};

/// Repetition of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Number of rounds, at least 1. The time of the job is that of all rounds together.
    pub rounds: u64,
    /// Whether the written data are read back in the same order after each round, unless the time is over.
    pub reads_back: bool,
}

impl Repeat {
    /// Once.
    pub const ONCE: Self = Self { rounds: 1, reads_back: false };
}

/// A job repeated in rounds.
#[derive(Clone, Debug)]
pub struct Rounds {
    spec: JobSpec,
    repeat: Repeat,
    index: u8,
    start: Instant,
    job: Job,
    round: u64,
    /// Jobs before the current one.
    turns: u64,
    /// Whether it is reading back.
    is_back: bool,
    /// Whether the current job is the last.
    is_last: bool,
    /// Start of this round, or of its reading back.
    began: Instant,
    /// Bytes written in this round.
    written: u64,
    spent: [Span; 2],
}

impl Rounds {
    /// `None` if the job is not possible: see [`Job::new`].
    pub fn new(spec: JobSpec, repeat: Repeat, index: u8, start: Instant) -> Option<Self> {
        let job = Job::new(spec.clone(), index, start)?;
        Some(Self {
            is_last: repeat.rounds <= 1 && !repeat.reads_back,
            spec,
            repeat,
            index,
            start,
            job,
            round: 0,
            turns: 0,
            is_back: false,
            began: start,
            written: 0,
            spent: [Span::ZERO; 2],
        })
    }

    /// Number of rounds and readings back before the present one.
    pub const fn turns(&self) -> u64 {
        self.turns
    }

    /// Completion of the last operation; the start if there is none.
    pub const fn ended(&self) -> Instant {
        self.job.ended()
    }

    /// End of the last pause by [`crate::ThinkPause`]; the start if there was none.
    pub const fn rests_until(&self) -> Instant {
        self.job.rests_until()
    }

    /// Time spent on the job itself and on reading back.
    pub fn spent(&self) -> [Span; 2] {
        let mut spent = self.spent;
        spent[usize::from(self.is_back)] += self.ended().since(self.began);
        spent
    }

    /// The job that reads back the data written in this round, in order.
    fn back(&self, left: Span) -> JobSpec {
        JobSpec {
            work: WorkerOps::Reads,
            reads: LaneSpec { rate: None, ..self.spec.writes.clone() },
            flush_every: 0,
            flush_at_end: false,
            think: None,
            until: Until { span: left, ..Until::bytes(self.written) },
            seed: self.seed(),
            ..self.spec.clone()
        }
    }

    const fn seed(&self) -> u64 {
        self.spec.seed.wrapping_add(self.round.wrapping_mul(0x9e37_79b9))
    }

    /// Continues with reading back or the next round.
    #[cold]
    fn turn(&mut self, now: Instant) {
        let total = self.spec.until.span;
        let left = if total == Span::MAX { total } else { (self.start + total).since(now) };
        let back = self.repeat.reads_back && !self.is_back && self.written > 0;
        let next = if back { Some(self.back(left)) } else { self.another(left) };
        let job = next.filter(|_| !left.is_zero()).and_then(|spec| Job::new(spec, self.index, now));
        let Some(mut job) = job else {
            self.is_last = true;
            return;
        };
        if !back && !self.is_back {
            job.continue_pace(&self.job);
        }
        self.turns += 1;
        self.spent = self.spent();
        (self.job, self.began, self.is_back) = (job, now, back);
        let is_last_round = self.round + 1 >= self.repeat.rounds;
        self.is_last = is_last_round && (back || !self.repeat.reads_back);
    }

    /// The next round, if there is one.
    fn another(&mut self, left: Span) -> Option<JobSpec> {
        if self.round + 1 >= self.repeat.rounds {
            return None;
        }
        self.round += 1;
        self.written = 0;
        let until = Until { span: left, ..self.spec.until };
        Some(JobSpec { until, seed: self.seed(), ..self.spec.clone() })
    }
}

impl Load for Rounds {
    #[inline]
    fn due(&self) -> Due {
        self.job.due()
    }

    #[inline]
    fn awaited(&self) -> Option<Kind> {
        self.job.awaited()
    }

    #[inline]
    fn take(&mut self, now: Instant) -> Op {
        let op = self.job.take(now);
        if op.kind.writes() {
            self.written += u64::from(op.length);
        }
        op
    }

    #[inline]
    fn completed(&mut self, now: Instant, op: &Op, outcome: OpOutcome) {
        self.job.completed(now, op, outcome);
        if !self.is_last && self.job.is_idle() && self.job.due() == Due::Over {
            self.turn(now);
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use alloc::vec::Vec;

    use plimsoll_units::{Bytes, Iops};

    use super::*;
    use crate::{Arrival, Pattern, Region};

    /// Runs operations sequentially with 1 us each; returns kinds and offsets in blocks.
    fn done(spec: JobSpec, repeat: Repeat) -> (Vec<(Kind, u64)>, [Span; 2]) {
        let mut rounds = Rounds::new(spec, repeat, 0, Instant::ZERO).unwrap();
        let (mut now, mut ops) = (Instant::ZERO, Vec::new());
        while matches!(rounds.due(), Due::Now | Due::At(_)) {
            let op = rounds.take(now);
            now += Span::from_micros(1);
            rounds.completed(now, &op, OpOutcome::Done);
            ops.push((op.kind, op.offset / 4_096));
        }
        assert_eq!(rounds.due(), Due::Over);
        (ops, rounds.spent())
    }

    fn spec(work: WorkerOps, until: Until) -> JobSpec {
        let lane = LaneSpec::new(4_096, Pattern::Shuffled);
        JobSpec::new(work, lane, Region::first(Bytes::kib(64)), until)
    }

    #[test]
    fn written_data_are_read_back_in_order() {
        let repeat = Repeat { rounds: 2, reads_back: true };
        let (ops, spent) = done(spec(WorkerOps::Writes, Until::bytes(8 * 4_096)), repeat);
        assert_eq!(ops.len(), 32);
        for (index, part) in ops.chunks(8).enumerate() {
            let kind = if index % 2 == 0 { Kind::Write } else { Kind::Read };
            assert!(part.iter().all(|(found, _)| *found == kind), "{part:?}");
        }
        let places = |part: usize| ops[8 * part..8 * part + 8].iter().map(|(_, at)| *at).collect::<Vec<_>>();
        assert_eq!((places(0), places(2)), (places(1), places(3)));
        assert_ne!(places(0), places(2), "rounds have different orders");
        assert_eq!(spent, [Span::from_micros(16); 2]);
    }

    #[test]
    fn only_writes_of_a_mix_are_read_back() {
        let (ops, _) = done(
            spec(WorkerOps::Mixed { reads: 0.5 }, Until::bytes(16 * 4_096)),
            Repeat { rounds: 1, reads_back: true },
        );
        let writes: Vec<u64> = ops[..16].iter().filter(|(kind, _)| *kind == Kind::Write).map(|(_, at)| *at).collect();
        let back: Vec<u64> = ops[16..].iter().map(|(_, at)| *at).collect();
        assert_eq!(writes, back);
        assert!(!writes.is_empty());
    }

    #[test]
    fn time_ends_all_rounds() {
        let until = Until { span: Span::from_micros(20), ..Until::bytes(8 * 4_096) };
        let (ops, spent) = done(spec(WorkerOps::Writes, until), Repeat { rounds: 9, reads_back: true });
        assert_eq!(ops.len(), 20);
        assert_eq!(spent, [Span::from_micros(12), Span::from_micros(8)]);
        let (ops, _) =
            done(spec(WorkerOps::Writes, Until::span(Span::from_micros(5))), Repeat { rounds: 9, reads_back: true });
        assert_eq!(ops.len(), 5, "no reading back after the end of time");
    }

    #[test]
    fn rounds_together_keep_the_rate() {
        let mut spec = spec(WorkerOps::Reads, Until::bytes(4 * 4_096));
        spec.reads.rate = Some((Iops::from_f64(1e5), Arrival::Constant));
        let mut rounds = Rounds::new(spec, Repeat { rounds: 5, reads_back: false }, 0, Instant::ZERO).unwrap();
        let mut now = Instant::ZERO;
        for _ in 0..20 {
            if let Due::At(due) = rounds.due() {
                now = due;
            }
            let op = rounds.take(now);
            now += Span::from_micros(1);
            rounds.completed(now, &op, OpOutcome::Done);
        }
        assert_eq!(now, Instant::ZERO + Span::from_micros(191));
    }

    #[test]
    fn once_is_the_job_itself() {
        let (ops, spent) = done(spec(WorkerOps::Writes, Until::bytes(8 * 4_096)), Repeat::ONCE);
        assert_eq!((ops.len(), spent), (8, [Span::from_micros(8), Span::ZERO]));
    }
}
