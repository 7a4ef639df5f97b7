//! Summary of a trace, from a single pass.

use std::collections::BTreeMap;
use std::io::BufRead;

use plimsoll_load::{BlockMix, Mix};
use plimsoll_units::{Bytes, Span};

use super::{Action, TraceEntry, TraceError, TraceReader};

/// Maximum number of distinct sizes; with more, sizes are rounded up to powers of two.
const MAX_SIZES: usize = 8;

/// Largest size in a mix.
const LARGEST: u64 = 1 << 30;

/// Summary of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    pub operations: u64,
    /// Time from the first to the last operation.
    pub span: Span,
    /// End of the highest accessed byte range.
    pub reach: u64,
    /// Mean sizes and kinds.
    pub mix: Mix,
    /// Number of operations dropped by the recorder.
    pub dropped: u64,
}

#[derive(Default)]
struct OutlineCounts {
    sizes: BTreeMap<u64, u64>,
    coarse: bool,
    reads: u64,
    writes: u64,
    durable: u64,
    flushes: u64,
}

impl OutlineCounts {
    fn size(&mut self, length: u64) {
        let class = |length: u64| length.next_power_of_two().min(LARGEST);
        let length = if self.coarse { class(length) } else { length };
        *self.sizes.entry(length).or_default() += 1;
        if !self.coarse && self.sizes.len() > MAX_SIZES {
            self.coarse = true;
            for (length, count) in std::mem::take(&mut self.sizes) {
                *self.sizes.entry(class(length)).or_default() += count;
            }
        }
    }

    fn mix(&self) -> Mix {
        let changes = self.writes + self.durable;
        let share = |part: u64, total: u64| part as f64 / total.max(1) as f64;
        Mix {
            sizes: self.split(),
            reads: if self.reads + changes == 0 { 1.0 } else { share(self.reads, self.reads + changes) },
            durable: self.durable > self.writes,
            flush_every: u32::try_from((changes + self.flushes / 2).checked_div(self.flushes).unwrap_or(0))
                .unwrap_or(u32::MAX)
                .max(u32::from(self.flushes > 0)),
        }
    }

    /// Weights in units of 1/10,000; rarer sizes are dropped.
    fn split(&self) -> BlockMix {
        let total: u64 = self.sizes.values().sum();
        let weight = |count: u64| (count as f64 / total as f64 * 10_000.0 + 0.5) as u32;
        let sizes = |class: fn(u64) -> u64| {
            let mut weights: BTreeMap<u64, u32> = BTreeMap::new();
            for (&length, &count) in &self.sizes {
                *weights.entry(class(length)).or_default() += weight(count);
            }
            weights.retain(|_, weight| *weight > 0);
            BlockMix::weighted(weights.into_iter().map(|(length, weight)| (Bytes::new(length), weight)).collect())
        };
        let exact = sizes(|length| length);
        let classes = || sizes(|length| length.next_power_of_two().min(LARGEST));
        exact.or_else(classes).unwrap_or_else(|| BlockMix::one(Bytes::new(512)))
    }
}

impl Outline {
    /// Summarises a trace. `None` without operations.
    ///
    /// # Errors
    /// The first malformed line.
    pub fn of<R: BufRead>(mut trace: TraceReader<R>) -> Result<Option<Self>, TraceError> {
        let outline = Self::over(&mut trace)?;
        Ok(outline.map(|outline| Self { dropped: trace.dropped(), ..outline }))
    }

    /// Summarises operations of any origin, without dropped operations.
    ///
    /// # Errors
    /// The first error of the iterator.
    pub fn over<E>(operations: impl Iterator<Item = Result<TraceEntry, E>>) -> Result<Option<Self>, E> {
        let mut counts = OutlineCounts::default();
        let (mut count, mut reach) = (0, 0);
        let mut ends = None;
        for entry in operations {
            let entry = entry?;
            count += 1;
            reach = reach.max(entry.offset.saturating_add(entry.length));
            ends = Some((ends.map_or(entry.at, |(first, _)| first), entry.at));
            match entry.action {
                Action::Read => counts.reads += 1,
                Action::Write => counts.writes += 1,
                Action::DurableWrite => counts.durable += 1,
                Action::Flush => counts.flushes += 1,
                Action::Trim => {}
            }
            if entry.bytes() > 0 {
                counts.size(entry.length);
            }
        }
        let outline = |(first, last): (Span, Span)| Self {
            operations: count,
            span: last - first,
            reach,
            mix: counts.mix(),
            dropped: 0,
        };
        Ok(ends.map(outline))
    }
}
