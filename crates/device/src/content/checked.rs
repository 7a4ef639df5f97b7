//! Verification of self-describing blocks against a memory of past writes: unexpected data are mismatches.
//!
//! Independent of engines and files. Without memory, as in a process that starts after the writes, any block with the
//! right offset and seed is accepted.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_load::{OpOutcome, Region};
use plimsoll_units::{Bytes, Op};

use super::Content;
use super::block::{BlockParameters, HEADER, count_random_bytes, mixed, random};
use super::generations::{Generations, SCRAP, UNKNOWN};
use super::judge::{ContentVerdict, judge};
use super::mismatch::{Collected, Mismatch, Mismatches};

/// Treatment of a place without a valid block whose history is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blank {
    /// Not checked: the place may be unwritten.
    PassedOver,
    /// A mismatch: every place was written.
    Mismatch,
}

/// Parameters of verification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Checking {
    /// Distinguishes these blocks from those of other runs.
    pub seed: u64,
    /// Block length: a multiple of 8 bytes, from 64 bytes to 1 GiB. Only reads of whole blocks are verified.
    pub interval: Bytes,
    /// The verified range, divided into consecutive blocks. Data outside it are not verified.
    pub region: Region,
    /// Share of the data that compresses away, 0 to 1.
    pub compressible: f64,
    /// Treatment of blank places.
    pub blank: Blank,
}

/// An invalid block length.
#[plimsoll_language::say_errors]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("blocks of {0} bytes cannot be checked: choose a multiple of 8 from 64 bytes to 1 GiB")]
pub struct BadInterval(pub u64);

/// Content that verifies reads. Several loops may share it.
#[derive(Debug)]
pub struct Checked {
    pub(super) how: Checking,
    pub(super) memory: Mutex<Generations>,
    mismatches: Collected,
    compared: AtomicU64,
    passed_over: AtomicU64,
}

impl Checked {
    /// Starts without knowledge of the present data. The memory takes 4 bytes per block of the region.
    ///
    /// # Errors
    /// The interval is not a multiple of 8 bytes from 64 bytes to 1 GiB.
    pub fn new(how: &Checking) -> Result<Self, BadInterval> {
        valid(how.interval)?;
        let places = (how.region.length.get() / how.interval.get()) as usize;
        Ok(Self::remembering(how, Generations::of(vec![UNKNOWN; places])))
    }

    pub(super) fn remembering(how: &Checking, memory: Generations) -> Self {
        Self {
            how: *how,
            memory: Mutex::new(memory),
            mismatches: Collected::default(),
            compared: AtomicU64::new(0),
            passed_over: AtomicU64::new(0),
        }
    }

    /// Mismatches so far.
    pub fn mismatches(&self) -> Mismatches {
        self.mismatches.so_far()
    }

    /// Number of blocks that were read and compared.
    pub fn compared(&self) -> u64 {
        self.compared.load(Ordering::Relaxed)
    }

    /// Number of blocks that were read but not compared, because they are unknown or were partly overwritten.
    pub fn passed_over(&self) -> u64 {
        self.passed_over.load(Ordering::Relaxed)
    }

    pub(super) fn memory(&self) -> MutexGuard<'_, Generations> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn block(&self, place: usize, generation: u32) -> BlockParameters {
        BlockParameters {
            seed: self.how.seed,
            offset: self.how.region.start + place as u64 * self.how.interval.get(),
            length: self.how.interval.get() as u32,
            generation,
            live: count_random_bytes(self.how.compressible),
        }
    }

    /// Splits an operation at block boundaries: index of each block, range of its bytes in the operation, and whether
    /// the block is complete. Omits bytes outside of the region.
    fn parts(&self, op: &Op) -> impl Iterator<Item = (usize, Range<usize>, bool)> + use<> {
        let Region { start, length } = self.how.region;
        let interval = self.how.interval.get();
        let places = length.get() / interval;
        let from = op.offset.saturating_sub(start);
        let to = (op.offset.saturating_add(u64::from(op.length))).saturating_sub(start).min(places * interval);
        let skipped = start.saturating_sub(op.offset);
        let touched = if from < to { from / interval..to.div_ceil(interval) } else { 0..0 };
        touched.map(move |place| {
            let (first, last) = ((place * interval).max(from), ((place + 1) * interval).min(to));
            let bytes = (first - from + skipped) as usize..(last - from + skipped) as usize;
            (place as usize, bytes, last - first == interval)
        })
    }

    /// Verifies and counts a block that was read; returns its version.
    fn check(&self, place: usize, ticket: u64, bytes: &[u8]) -> Result<Option<u32>, ()> {
        let permitted = self.memory().permitted(place, ticket);
        let block = self.block(place, permitted.newest);
        let verdict = if permitted.contains(SCRAP) { None } else { Some(judge(bytes, &block, &permitted)) };
        let (kind, found) = match verdict {
            Some(ContentVerdict::Right(found)) => {
                self.compared.fetch_add(1, Ordering::Relaxed);
                return Ok(found);
            }
            Some(ContentVerdict::Wrong(kind, found)) => (kind, found),
            Some(ContentVerdict::Blank(kind)) if self.how.blank == Blank::Mismatch => (kind, None),
            Some(ContentVerdict::Blank(_)) | None => {
                self.passed_over.fetch_add(1, Ordering::Relaxed);
                return Ok(None);
            }
        };
        self.compared.fetch_add(1, Ordering::Relaxed);
        let expected = (permitted.newest != UNKNOWN).then_some(permitted.newest);
        self.mismatches.add(Mismatch { offset: block.offset, length: block.length, kind, expected, found });
        Err(())
    }
}

/// Rejects invalid block lengths.
pub(super) fn valid(interval: Bytes) -> Result<(), BadInterval> {
    let bytes = interval.get();
    let fits = bytes.is_multiple_of(8) && (64..=1 << 30).contains(&bytes) && bytes >= HEADER as u64;
    if fits { Ok(()) } else { Err(BadInterval(bytes)) }
}

impl Content for Checked {
    fn fill(&self, op: &Op, _: u64, bytes: &mut [u8]) -> u64 {
        let ticket = self.memory().tick();
        let mut end = 0;
        for (place, part, is_complete) in self.parts(op) {
            let generation = self.memory().write(place, ticket, is_complete);
            scrap(&mut bytes[end..part.start], ticket);
            end = part.end;
            if is_complete {
                self.block(place, generation).write(&mut bytes[part]);
            } else {
                scrap(&mut bytes[part], ticket);
            }
        }
        scrap(&mut bytes[end..], ticket);
        ticket
    }

    fn checks(&self) -> bool {
        true
    }

    fn begin_read(&self, op: &Op) -> u64 {
        let mut memory = self.memory();
        let ticket = memory.tick();
        self.parts(op).filter(|(.., is_complete)| *is_complete).for_each(|(place, ..)| memory.read(place, ticket));
        ticket
    }

    fn complete(&self, op: &Op, ticket: u64, bytes: &[u8], outcome: OpOutcome) -> OpOutcome {
        let mut counted = outcome;
        for (place, part, is_complete) in self.parts(op) {
            if op.kind.writes() {
                self.memory().written(place, ticket, outcome == OpOutcome::Done);
            } else if is_complete {
                let observed =
                    if outcome == OpOutcome::Done { self.check(place, ticket, &bytes[part]) } else { Ok(None) };
                if observed.is_err() {
                    counted = OpOutcome::Failed(libc::EILSEQ);
                }
                self.memory().observe(place, ticket, observed.unwrap_or(None));
            }
        }
        counted
    }
}

/// Fills bytes that belong to no complete block with random data.
fn scrap(bytes: &mut [u8], ticket: u64) {
    for (index, part) in bytes.chunks_mut(8).enumerate() {
        part.copy_from_slice(&random(mixed(ticket), index as u64).to_le_bytes()[..part.len()]);
    }
}
