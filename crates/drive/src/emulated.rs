//! The emulator's core: a model whose answers are awaited in the time of another target.

use plimsoll_model::{Model, ModelAnswer};
use plimsoll_units::{Instant, Op, Slot};

use crate::simulated::completion;
use crate::{Completion, Fault, Target};

/// A model in the time of another target, which serves as clock and timer and gets no I/O.
///
/// Completions carry their delivery time rather than the model's: the difference is the emulator's lateness, which a
/// comparison with [`crate::Simulated`] must include.
#[derive(Debug)]
pub struct Emulated<M, T> {
    model: M,
    clock: T,
    now: Instant,
    answers: Vec<ModelAnswer>,
    no_completions: Vec<Completion>,
}

impl<M: Model, T: Target> Emulated<M, T> {
    /// The idle model on `line`, which must have no operations in flight.
    pub fn new(model: M, mut clock: T) -> Self {
        let now = clock.now();
        Self { model, clock, now, answers: Vec::new(), no_completions: Vec::new() }
    }
}

impl<M: Model, T: Target> Target for Emulated<M, T> {
    fn now(&mut self) -> Instant {
        self.now = self.now.max(self.clock.now());
        self.now
    }

    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        let now = self.now();
        for (slot, op) in batch {
            self.model.submit(now, *slot, op);
        }
        Ok(())
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        self.model.drain(self.now, &mut self.answers);
        while self.answers.is_empty() && self.now < until {
            let wake_at = self.model.wake_at().unwrap_or(Instant::NEVER);
            let woken = self.clock.wait(wake_at.min(until), &mut self.no_completions)?;
            self.now = self.now.max(woken);
            self.model.drain(self.now, &mut self.answers);
        }
        let delivered = self.now;
        completions.extend(self.answers.drain(..).map(|answer| Completion { at: delivered, ..completion(answer) }));
        Ok(self.now)
    }
}
