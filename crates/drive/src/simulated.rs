//! The simulator: a model as a target in virtual time.

use plimsoll_load::OpOutcome;
use plimsoll_model::{Chain, Model, ModelAnswer};
use plimsoll_units::{Instant, Op, Slot};

use crate::{Completion, Fault, Target};

/// A model in virtual time.
#[derive(Clone, Debug)]
pub struct Simulated<M> {
    model: M,
    now: Instant,
    answers: Vec<ModelAnswer>,
}

impl<M: Model> Simulated<M> {
    /// The idle model, at the origin of its time line.
    pub const fn new(model: M) -> Self {
        Self { model, now: Instant::ZERO, answers: Vec::new() }
    }

    /// The model.
    pub const fn model(&self) -> &M {
        &self.model
    }

    /// Waits for this many operations in flight and drops their answers, which a later load would take for its own.
    pub fn drop_answers(&mut self, operations: u64) {
        let mut dropped = 0;
        while let Some(at) = self.model.wake_at().filter(|_| dropped < operations) {
            self.now = self.now.max(at);
            self.model.drain(self.now, &mut self.answers);
            dropped += self.answers.len() as u64;
            self.answers.clear();
        }
    }

    /// The model without its time line.
    pub fn into_model(self) -> M {
        self.model
    }

    /// The model, to change its parameters between operations.
    pub const fn model_mut(&mut self) -> &mut M {
        &mut self.model
    }
}

impl Simulated<Chain> {
    /// A chain as a target, compiled in this crate with its optimisations, whatever those of the caller.
    pub fn as_target(&mut self) -> &mut dyn Target {
        self
    }
}

impl<M: Model> Target for Simulated<M> {
    fn now(&mut self) -> Instant {
        self.now
    }

    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        for (slot, op) in batch {
            self.model.submit(self.now, *slot, op);
        }
        Ok(())
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        while self.answers.is_empty() && self.now < until {
            let wake_at = self.model.wake_at().unwrap_or(Instant::NEVER);
            self.now = self.now.max(wake_at.min(until));
            self.model.drain(self.now, &mut self.answers);
        }
        completions.extend(self.answers.iter().map(|answer| completion(*answer)));
        self.answers.clear();
        Ok(self.now)
    }
}

/// Converts a model's answer to a completion: models do not fail operations.
pub(crate) fn completion(answer: ModelAnswer) -> Completion {
    Completion { slot: answer.slot, at: answer.at, outcome: OpOutcome::Done, bound_by: Some(answer.bound_by) }
}
