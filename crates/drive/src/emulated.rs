//! The emulator's core: a model whose answers are waited for on another target's time line.

use plimsoll_model::{Answer, Model};
use plimsoll_units::{Instant, Op, Slot};

use crate::simulated::completion;
use crate::{Completion, Fault, Target};

/// A model on the time line of a real target, which is asked for the time and for waiting, not for I/O.
///
/// Completions carry the moment at which they were delivered, not the one that the model gave: the difference is the
/// emulator's own lateness, and hiding it would defeat the comparison with [`crate::Simulated`].
#[derive(Debug)]
pub struct Emulated<M, T> {
    model: M,
    line: T,
    now: Instant,
    answers: Vec<Answer>,
    nothing: Vec<Completion>,
}

impl<M: Model, T: Target> Emulated<M, T> {
    /// The model at rest on `line`, which must have nothing in flight.
    pub fn new(model: M, mut line: T) -> Self {
        let now = line.now();
        Self { model, line, now, answers: Vec::new(), nothing: Vec::new() }
    }
}

impl<M: Model, T: Target> Target for Emulated<M, T> {
    fn now(&mut self) -> Instant {
        self.now = self.now.max(self.line.now());
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
            let woken = self.line.wait(wake_at.min(until), &mut self.nothing)?;
            self.now = self.now.max(woken);
            self.model.drain(self.now, &mut self.answers);
        }
        let delivered = self.now;
        completions.extend(self.answers.drain(..).map(|answer| Completion { at: delivered, ..completion(answer) }));
        Ok(self.now)
    }
}
