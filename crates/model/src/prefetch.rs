//! Read-ahead: a storage system that detects sequential reads and prefetches.
//!
//! A read that begins where an earlier read ended makes a stream. Prefetch then stays ahead of its last read: by twice
//! the read size at first, doubled by each further read, up to the window. Reads of the stream wait only for the units
//! that they need. Reordered operations still belong to the stream: anywhere within its prefetched range, or up to a
//! window beyond.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use plimsoll_units::{Bytes, Kind, Op};

use crate::write_back::Arrival;

#[derive(Clone, Debug)]
pub(crate) struct Prefetch {
    window: u64,
    unit: u64,
    max_streams: usize,
    streams: Vec<PrefetchStream>,
    /// Reads so far: the age of streams.
    clock: u64,
}

#[derive(Clone, Debug)]
struct PrefetchStream {
    /// The end of the read that began it; only used before the first prefetch.
    end: u64,
    /// Bytes to prefetch beyond its last read; 0 before its second read.
    ahead: u64,
    /// The first unit kept, and whether each unit from there on has arrived.
    first: u64,
    units: VecDeque<bool>,
    /// Waiting reads, with the first and last unit that they need.
    waiting: Vec<(u32, u64, u64)>,
    used: u64,
}

impl Prefetch {
    pub(crate) fn new(window: Bytes, unit: Bytes, streams: u32) -> Self {
        Self { window: window.get(), unit: unit.get(), max_streams: streams as usize, streams: Vec::new(), clock: 0 }
    }

    /// Adds the reads that start now to `reads`.
    pub(crate) fn enter(&mut self, passage: u32, op: &Op, reads: &mut Vec<Op>) -> Arrival {
        if op.kind != Kind::Read || op.length == 0 {
            return Arrival::Through;
        }
        self.clock += 1;
        let Some(index) = self.stream_of(op) else {
            self.remember(op);
            return Arrival::Through;
        };
        let (unit, clock) = (self.unit, self.clock);
        let stream = &mut self.streams[index];
        stream.used = clock;
        stream.extend(op, unit, self.window, reads);
        let (first, last) = (op.offset / unit, (end(op) - 1) / unit);
        if first < stream.first {
            // Its first unit has been dropped.
            return Arrival::Through;
        }
        if stream.has(first, last) {
            return Arrival::Answered;
        }
        stream.waiting.push((passage, first, last));
        Arrival::Waits
    }

    /// Completes an inner read, and adds the reads that waited only for it to `woken`.
    pub(crate) fn fetched(&mut self, op: &Op, woken: &mut VecDeque<u32>) {
        let unit = op.offset / self.unit;
        for stream in &mut self.streams {
            let Some(there) = unit.checked_sub(stream.first).and_then(|at| stream.units.get_mut(at as usize)) else {
                continue;
            };
            if *there {
                continue;
            }
            *there = true;
            let waiting = core::mem::take(&mut stream.waiting);
            let (ready, waiting): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|(_, first, last)| stream.has(*first, *last));
            stream.waiting = waiting;
            return woken.extend(ready.into_iter().map(|(passage, ..)| passage));
        }
    }

    /// The stream that a read belongs to; its second read starts prefetching.
    fn stream_of(&self, op: &Op) -> Option<usize> {
        let (unit, window) = (self.unit, self.window);
        let belongs = |stream: &PrefetchStream| {
            if stream.ahead == 0 {
                return stream.end == op.offset;
            }
            (stream.first * unit..=stream.read_to() * unit + window).contains(&op.offset)
        };
        let of_a_stream = |stream: &PrefetchStream| stream.ahead > 0 && belongs(stream);
        self.streams.iter().position(of_a_stream).or_else(|| self.streams.iter().position(belongs))
    }

    /// Records a read as the possible start of a stream, in place of the least recently used stream.
    fn remember(&mut self, op: &Op) {
        let stream = PrefetchStream {
            end: end(op),
            ahead: 0,
            first: 0,
            units: VecDeque::new(),
            waiting: Vec::new(),
            used: self.clock,
        };
        if self.streams.len() < self.max_streams {
            self.streams.push(stream);
            return;
        }
        let idle = self.streams.iter_mut().filter(|stream| stream.waiting.is_empty());
        if let Some(oldest) = idle.min_by_key(|stream| stream.used) {
            *oldest = stream;
        }
    }
}

impl PrefetchStream {
    /// The unit after the last prefetched unit.
    fn read_to(&self) -> u64 {
        self.first + self.units.len() as u64
    }

    fn has(&self, first: u64, last: u64) -> bool {
        let there = |unit: u64| self.units.get((unit - self.first) as usize).copied().unwrap_or(false);
        (first..=last).all(there)
    }

    /// Prefetches until the window is ahead of `op`, and drops units more than a window behind it.
    fn extend(&mut self, op: &Op, unit: u64, window: u64, reads: &mut Vec<Op>) {
        if self.ahead == 0 {
            self.first = op.offset / unit;
        }
        self.ahead = (2 * self.ahead).max(2 * u64::from(op.length)).min(window);
        let window_end = (end(op) + self.ahead).div_ceil(unit);
        for next in self.read_to()..window_end {
            reads.push(Op { offset: next * unit, length: unit as u32, ..*op });
            self.units.push_back(false);
        }
        let needed = self.waiting.iter().map(|(_, first, _)| *first).min().unwrap_or(u64::MAX);
        let first_retained = (op.offset.saturating_sub(window) / unit).min(needed);
        while self.first < first_retained && self.units.front() == Some(&true) {
            self.units.pop_front();
            self.first += 1;
        }
    }
}

fn end(op: &Op) -> u64 {
    op.offset + u64::from(op.length)
}
