//! A target without I/O: operations complete at the next wait. Measures the overhead of the loop.

use std::time::Duration;

use plimsoll_drive::{Completion, Fault, Target};
use plimsoll_load::OpOutcome;
use plimsoll_units::{Instant, Op, Slot};

use crate::clock::Clock;

/// Target that completes every operation at the next wait.
#[derive(Debug)]
pub struct Null {
    clock: Clock,
    pending: Vec<Slot>,
}

impl Null {
    /// A target without operations in flight.
    pub const fn new(clock: Clock) -> Self {
        Self { clock, pending: Vec::new() }
    }
}

impl Target for Null {
    fn now(&mut self) -> Instant {
        self.clock.now()
    }

    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        self.pending.extend(batch.iter().map(|(slot, _)| *slot));
        Ok(())
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        let now = self.clock.now();
        if self.pending.is_empty() && until > now {
            std::thread::sleep(Duration::from_nanos(until.since(now).as_nanos()));
            return Ok(self.clock.now());
        }
        let done = |slot| Completion { slot, at: now, outcome: OpOutcome::Done, bound_by: None };
        completions.extend(self.pending.drain(..).map(done));
        Ok(now)
    }
}
