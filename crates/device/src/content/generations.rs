//! Versions that a place may hold: acknowledged writes and writes in flight.
//!
//! A write is visible from its submission on. It becomes invisible to reads that begin after the completion of another
//! write that began after its own completion. Overlapping writes have no order: either version or a mixture is valid.
//! Time is a counter of events.

use std::collections::BTreeMap;

/// History unknown: any valid block is accepted.
pub(super) const UNKNOWN: u32 = 0;

/// Partly overwritten: any data are accepted.
pub(super) const SCRAP: u32 = u32::MAX;

/// Not ended, or not superseded.
const NOT_YET: u64 = u64::MAX;

/// A write of a place.
#[derive(Clone, Copy, Debug)]
struct Version {
    generation: u32,
    begun: u64,
    ended: u64,
    /// Time at which a later write had certainly replaced it.
    superseded: u64,
}

/// A place with operations in flight, or with several possible versions.
#[derive(Debug, Default)]
struct Busy {
    versions: Vec<Version>,
    /// Tickets of reads in flight.
    readers: Vec<u64>,
}

impl Busy {
    fn settled(generation: u32) -> Self {
        let version = Version { generation, begun: 0, ended: 0, superseded: NOT_YET };
        Self { versions: vec![version], readers: Vec::new() }
    }

    /// Drops versions that are invisible to all reads in flight.
    fn tidy(&mut self) {
        let oldest = self.readers.iter().copied().min().unwrap_or(NOT_YET);
        self.versions.retain(|version| version.superseded == NOT_YET || version.superseded > oldest);
    }

    /// The version, if it is the only possible one and the place is idle.
    fn quiet(&self) -> Option<u32> {
        match (&self.versions[..], &self.readers[..]) {
            ([only], []) if only.ended != NOT_YET => Some(only.generation),
            _ => None,
        }
    }
}

/// Versions that a read may return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Permitted {
    /// The latest version.
    pub(super) newest: u32,
    /// Other valid versions.
    pub(super) others: Vec<u32>,
}

impl Permitted {
    /// Exactly this version.
    pub(super) const fn only(generation: u32) -> Self {
        Self { newest: generation, others: Vec::new() }
    }

    /// True if `generation` is permitted.
    pub(super) fn contains(&self, generation: u32) -> bool {
        self.newest == generation || self.others.contains(&generation)
    }

    /// All versions, the latest first.
    pub(super) fn all(&self) -> impl Iterator<Item = u32> + Clone {
        std::iter::once(self.newest).chain(self.others.iter().copied())
    }
}

/// Memory of a range of places: 4 bytes each, more for those with operations in flight.
#[derive(Debug, Default)]
pub(super) struct Generations {
    settled: Vec<u32>,
    busy: BTreeMap<usize, Busy>,
    time: u64,
}

impl Generations {
    /// A memory with these versions.
    pub(super) const fn of(settled: Vec<u32>) -> Self {
        Self { settled, busy: BTreeMap::new(), time: 0 }
    }

    /// Advances time; the new time is also the ticket of the operation that begins at it.
    pub(super) const fn tick(&mut self) -> u64 {
        self.time += 1;
        self.time
    }

    fn busy(&mut self, place: usize) -> &mut Busy {
        let settled = self.settled[place];
        self.busy.entry(place).or_insert_with(|| Busy::settled(settled))
    }

    /// Begins a write of the whole place or of a part. Returns its generation.
    pub(super) fn write(&mut self, place: usize, ticket: u64, is_complete: bool) -> u32 {
        let busy = self.busy(place);
        let generations =
            busy.versions.iter().map(|version| version.generation).filter(|generation| *generation != SCRAP);
        let next = generations.max().unwrap_or(UNKNOWN).saturating_add(1).min(SCRAP - 1);
        let generation = if is_complete { next } else { SCRAP };
        busy.versions.push(Version { generation, begun: ticket, ended: NOT_YET, superseded: NOT_YET });
        generation
    }

    /// Completes a write. A failed write may still have stored its data, or part of them.
    pub(super) fn written(&mut self, place: usize, ticket: u64, done: bool) {
        let now = self.tick();
        let Some(busy) = self.busy.get_mut(&place) else { return };
        let own = |version: &Version| version.begun == ticket && version.ended == NOT_YET;
        let Some(index) = busy.versions.iter().position(own) else { return };
        busy.versions[index].ended = now;
        // A partial write does not supersede earlier versions.
        if done && busy.versions[index].generation != SCRAP {
            for version in busy.versions.iter_mut().filter(|version| version.ended < ticket) {
                version.superseded = version.superseded.min(now);
            }
        }
        self.settle(place);
    }

    /// A read of a place begins.
    pub(super) fn read(&mut self, place: usize, ticket: u64) {
        self.busy(place).readers.push(ticket);
    }

    /// Versions that the read may return.
    pub(super) fn permitted(&self, place: usize, ticket: u64) -> Permitted {
        let Some(busy) = self.busy.get(&place) else { return Permitted::only(self.settled[place]) };
        let observed =
            busy.versions.iter().filter(|version| version.superseded > ticket).map(|version| version.generation);
        let newest = observed.clone().max().unwrap_or(UNKNOWN);
        Permitted { newest, others: observed.filter(|generation| *generation != newest).collect() }
    }

    /// Completes a read. If the history of the place was unknown, records the version `found`.
    pub(super) fn observe(&mut self, place: usize, ticket: u64, found: Option<u32>) {
        let Some(busy) = self.busy.get_mut(&place) else { return };
        if let Some(index) = busy.readers.iter().position(|reader| *reader == ticket) {
            busy.readers.swap_remove(index);
        }
        if let ([only], Some(found)) = (&mut busy.versions[..], found)
            && only.generation == UNKNOWN
        {
            only.generation = found;
        }
        self.settle(place);
    }

    fn settle(&mut self, place: usize) {
        let Some(busy) = self.busy.get_mut(&place) else { return };
        busy.tidy();
        if let Some(generation) = busy.quiet() {
            self.settled[place] = generation;
            self.busy.remove(&place);
        }
    }

    /// Settled version of each place in order; [`SCRAP`] for places with operations in flight.
    pub(super) fn versions(&self) -> impl Iterator<Item = u32> {
        let settled_version = |(place, generation): (usize, &u32)| match self.busy.get(&place) {
            Some(busy) => busy.quiet().unwrap_or(SCRAP),
            None => *generation,
        };
        self.settled.iter().enumerate().map(settled_version)
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    const PLACE: usize = 0;

    fn memory() -> Generations {
        Generations::of(vec![UNKNOWN])
    }

    impl Generations {
        fn begin(&mut self) -> (u64, u32) {
            let ticket = self.tick();
            (ticket, self.write(PLACE, ticket, true))
        }

        fn begin_read(&mut self) -> u64 {
            let ticket = self.tick();
            self.read(PLACE, ticket);
            ticket
        }

        /// Versions permitted to a read that begins now.
        fn now(&mut self) -> Vec<u32> {
            let ticket = self.begin_read();
            let permitted = self.permitted(PLACE, ticket);
            self.observe(PLACE, ticket, None);
            permitted.all().collect()
        }
    }

    #[test]
    fn sequential_writes_leave_the_last() {
        let mut memory = memory();
        assert_eq!(memory.now(), [UNKNOWN]);
        for generation in 1..=3 {
            let (ticket, begun) = memory.begin();
            assert_eq!((begun, memory.now()), (generation, vec![generation, generation - 1]));
            memory.written(PLACE, ticket, true);
            assert_eq!(memory.now(), [generation]);
        }
        assert!(memory.busy.is_empty());
        assert_eq!(memory.versions().collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn overlapping_writes_are_both_permitted() {
        let mut memory = memory();
        let (first, _) = memory.begin();
        let (second, _) = memory.begin();
        memory.written(PLACE, second, true);
        memory.written(PLACE, first, true);
        assert_eq!(memory.now(), [2, 1]);
        assert_eq!(memory.versions().collect::<Vec<_>>(), [SCRAP]);
        let (third, _) = memory.begin();
        assert_eq!(memory.now(), [3, 1, 2]);
        memory.written(PLACE, third, true);
        assert_eq!(memory.now(), [3]);
    }

    #[test]
    fn read_may_return_version_at_its_start() {
        let mut memory = memory();
        let (first, _) = memory.begin();
        memory.written(PLACE, first, true);
        let early = memory.begin_read();
        let (second, _) = memory.begin();
        memory.written(PLACE, second, true);
        assert_eq!(memory.now(), [2]);
        assert_eq!(memory.permitted(PLACE, early).all().collect::<Vec<_>>(), [2, 1]);
        memory.observe(PLACE, early, Some(1));
        assert_eq!(memory.now(), [2]);
        assert!(memory.busy.is_empty());
    }

    #[test]
    fn failed_write_is_permitted() {
        let mut memory = memory();
        let (first, _) = memory.begin();
        memory.written(PLACE, first, true);
        let (failed, _) = memory.begin();
        memory.written(PLACE, failed, false);
        assert_eq!(memory.now(), [2, 1]);
        let (third, _) = memory.begin();
        memory.written(PLACE, third, true);
        assert_eq!(memory.now(), [3]);
    }

    #[test]
    fn read_records_unknown_version() {
        let mut memory = memory();
        let ticket = memory.begin_read();
        memory.observe(PLACE, ticket, Some(7));
        assert_eq!(memory.now(), [7]);
        let (ticket, generation) = memory.begin();
        memory.written(PLACE, ticket, true);
        assert_eq!((generation, memory.now()), (8, vec![8]));
    }

    #[test]
    fn partial_write_permits_any_data() {
        let mut memory = memory();
        let part = memory.tick();
        memory.write(PLACE, part, false);
        memory.written(PLACE, part, true);
        assert_eq!(memory.now(), [SCRAP, UNKNOWN]);
        let (ticket, _) = memory.begin();
        memory.written(PLACE, ticket, true);
        assert_eq!(memory.now(), [1]);
    }

    /// Simulates a place: each write takes effect, and each read samples, at a random time while in flight.
    #[test]
    fn visible_versions_are_permitted_and_lost_are_not() {
        for seed in 0..300 {
            let mut rng = Rng::with_seed(seed);
            let mut memory = memory();
            let mut there = UNKNOWN;
            // In flight: ticket, generation, whether it took effect.
            let mut writes: Vec<(u64, u32, bool)> = Vec::new();
            let mut reads: Vec<(u64, Option<u32>)> = Vec::new();
            // Generation, begin and end of completed writes.
            let mut spans: Vec<(u32, u64, u64)> = Vec::new();
            for _ in 0..200 {
                match rng.u8(..6) {
                    0 if writes.len() < 4 => {
                        let (ticket, generation) = memory.begin();
                        writes.push((ticket, generation, false));
                    }
                    1 if reads.len() < 4 => reads.push((memory.begin_read(), None)),
                    2 if !writes.is_empty() => {
                        let chosen = rng.usize(..writes.len());
                        let write = &mut writes[chosen];
                        if !std::mem::replace(&mut write.2, true) {
                            there = write.1;
                        }
                    }
                    3 if !reads.is_empty() => {
                        let chosen = rng.usize(..reads.len());
                        reads[chosen].1.get_or_insert(there);
                    }
                    4 => {
                        if let Some(index) = writes.iter().position(|write| write.2) {
                            let (ticket, generation, _) = writes.swap_remove(index);
                            spans.push((generation, ticket, memory.time + 1));
                            memory.written(PLACE, ticket, true);
                        }
                    }
                    5 => {
                        if let Some(index) = reads.iter().position(|read| read.1.is_some()) {
                            let (ticket, observed) = reads.swap_remove(index);
                            let permitted = memory.permitted(PLACE, ticket);
                            assert!(
                                permitted.contains(observed.unwrap()),
                                "seed {seed}: {observed:?} of {permitted:?}"
                            );
                            let lost = |generation: &u32| {
                                let own = spans.iter().find(|span| span.0 == *generation);
                                let end = own.map_or(if *generation == UNKNOWN { 0 } else { NOT_YET }, |span| span.2);
                                spans.iter().any(|later| later.1 > end && later.2 < ticket)
                            };
                            assert_eq!(permitted.all().find(lost), None, "seed {seed}: {permitted:?}");
                            // As in a run, the first read of an unknown place records its version.
                            memory.observe(PLACE, ticket, observed.filter(|observed| *observed != UNKNOWN));
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}
