//! Totals of a step for classic listings: bytes, operations, seconds and processor time.

use plimsoll_record::{Bins, CpuTime, Tally};
use plimsoll_units::{Kind, Span};

use crate::result::IoResult;

#[derive(Clone, Debug, Default)]
pub(super) struct PhaseTotals {
    /// Bytes transferred in the counted direction.
    pub bytes: u64,
    /// Operations in the counted direction.
    pub operations: u64,
    /// From the first start to the last end, flushes included.
    pub span: Span,
    /// Processor time; `None` in virtual time.
    pub cpu: Option<CpuTime>,
    /// Times of reads and writes, without flushes.
    pub times: Bins,
}

/// Operations counted as the work of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PhaseCounts {
    Reads,
    Writes,
}

impl PhaseCounts {
    const fn has(self, kind: Kind) -> bool {
        match (self, kind) {
            (_, Kind::Flush) | (Self::Writes, Kind::Read) => false,
            (Self::Reads, kind) => matches!(kind, Kind::Read),
            (Self::Writes, _) => true,
        }
    }
}

impl PhaseTotals {
    /// Totals of a result. `counts` selects the direction; a read that is written back counts once.
    pub fn of(observed: &IoResult, counts: PhaseCounts) -> Self {
        let total = observed.total();
        let counted = total.only(|counter| counts.has(counter.kind));
        Self {
            bytes: counted.bytes(),
            operations: counted.operations(),
            span: observed.span(),
            cpu: observed.cpu(),
            times: times(&total),
        }
    }

    /// Bytes per second; `None` for a zero interval.
    pub fn bytes_per_second(&self) -> Option<f64> {
        per_second(self.bytes as f64, self.span)
    }

    /// Operations per second; `None` for a zero interval.
    pub fn operations_per_second(&self) -> Option<f64> {
        per_second(self.operations as f64, self.span)
    }

    /// Processor time of the step, user and system, in percent of its duration: above 100 with several workers.
    pub fn cpu_percent(&self) -> Option<f64> {
        let cpu = self.cpu?;
        per_second(cpu.total().as_secs_f64() * 100.0, self.span)
    }

    /// Maximum time of a read or write.
    pub fn longest(&self) -> Option<Span> {
        (!self.times.is_empty()).then(|| Span::from_nanos(self.times.max_ns))
    }
}

/// Times of reads and writes.
pub(super) fn times(total: &Tally) -> Bins {
    total.response_where(|counter| counter.kind != Kind::Flush)
}

/// Rate per second; `None` for a zero interval.
pub(super) fn per_second(amount: f64, span: Span) -> Option<f64> {
    (!span.is_zero()).then(|| amount / span.as_secs_f64())
}
