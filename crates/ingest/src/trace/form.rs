//! A trace as a form of input: it is counted as it streams by, and told as demand when it ends.

use super::dialect::Dialect;
use super::figures;
use super::tally::Tally;
use crate::builder::Builder;
use crate::format::{Format, Input};
use crate::kind::Kind;
use crate::refusal::Refusal;

/// Counts a trace of a dialect.
pub(super) struct Counting<D> {
    kind: Kind,
    dialect: D,
    tally: Tally,
    input: Input,
}

impl<D: Dialect> Counting<D> {
    pub(super) fn new(kind: Kind, dialect: D, input: &Input) -> Self {
        Self { kind, dialect, tally: Tally::default(), input: input.clone() }
    }
}

impl<D: Dialect> Format for Counting<D> {
    fn feed(&mut self, bytes: &[u8], _: &mut Builder) -> Result<(), Refusal> {
        self.dialect.feed(bytes, &mut self.tally);
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.dialect.end(&mut self.tally);
        let about = self.dialect.about();
        figures::tell(self.kind, std::mem::take(&mut self.tally), &about, &self.input, out)
    }
}
