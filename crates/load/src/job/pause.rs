//! Pauses of a job: after a number of operations, and before an operation that its rate does not yet allow.

use plimsoll_units::{Instant, Kind, Span};

use super::{CountedOps, ThinkPause};

/// A pause that begins when no operation is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pause {
    /// By [`ThinkPause`].
    Think(Span),
    /// Before an operation that is ahead of its rate.
    Rate(Span),
}

/// State of the pauses of a job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pauses {
    /// End of the last pause by [`ThinkPause`]: operations are not intended before.
    pub(super) rests_until: Instant,
    /// End of the last sleep ahead of the rate: operations are not issued before, but may have been intended before.
    pub(super) wakes_at: Instant,
    /// Kind of the last issued operation, if the check that follows it waits for completions.
    pub(super) unchecked: Option<Kind>,
    pending: Option<Pause>,
    issued: u64,
    completed: u64,
    /// Count of operations at the last pause.
    counted: u64,
}

impl Pauses {
    pub(super) const fn new(start: Instant) -> Self {
        Self {
            rests_until: start,
            wakes_at: start,
            unchecked: None,
            pending: None,
            issued: 0,
            completed: 0,
            counted: 0,
        }
    }

    /// True if the job waits for operations in flight before it pauses.
    #[inline]
    pub(super) const fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Counts an operation that is no flush.
    #[inline]
    pub(super) const fn issued(&mut self) {
        self.issued += 1;
    }

    /// Counts a completed operation, and begins a pending pause if it was the last in flight.
    #[inline]
    pub(super) fn completed(&mut self, now: Instant, kind: Kind, in_flight: u32) {
        self.completed += u64::from(kind != Kind::Flush);
        if in_flight == 0
            && let Some(pause) = self.pending.take()
        {
            self.begin(now, pause);
        }
    }

    /// Pauses if enough operations or enough time have passed since the last pause.
    pub(super) fn think(&mut self, now: Instant, think: &ThinkPause, in_flight: u32) {
        let count = match think.counted {
            CountedOps::Completed => self.completed,
            CountedOps::Issued => self.issued,
        };
        let is_counted = think.every.is_some_and(|every| count >= self.counted + every);
        let is_timed = think.interval.is_some_and(|interval| now.since(self.rests_until) >= interval);
        if !is_counted && !is_timed {
            return;
        }
        self.counted = count;
        let pause = Pause::Think(think.pause);
        if in_flight == 0 { self.begin(now, pause) } else { self.pend(pause) }
    }

    /// Pauses when no operation is in flight.
    pub(super) const fn pend(&mut self, pause: Pause) {
        self.pending = Some(pause);
    }

    fn begin(&mut self, now: Instant, pause: Pause) {
        match pause {
            Pause::Think(span) => self.rests_until = now + span,
            Pause::Rate(span) => self.wakes_at = now + span,
        }
    }
}
