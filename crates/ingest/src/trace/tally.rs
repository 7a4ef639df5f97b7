//! What a trace asks for, counted: by window of time, by volume, and as a working set. Knows no dialect.

use plimsoll_record::Action;

use super::dialect::{Mark, Said, Sink};
use super::misses::Misses;
use super::pages::PAGE;
use super::streams::Streams;
use super::volumes::{Volume, Volumes};
use super::windows::{Counts, Sort, Windows};
use crate::builder::Builder;

/// A record that comes so much later is no record: its time is damaged.
const NO_GAP_NS: u64 = 400 * 86_400 * 1_000_000_000;

/// Takes operations.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) volumes: Volumes,
    pub(super) by_volume: Vec<OfVolume>,
    pub(super) windows: Windows,
    pub(super) misses: Misses,
    /// What cannot be read: the first of it, and how much.
    pub(super) broken: Vec<(u64, String)>,
    pub(super) broken_count: u64,
    pub(super) operations: u64,
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    /// How far a time fell behind one before it, at most, and where first.
    pub(super) back: Option<Back>,
    /// True when records have times.
    pub(super) timed: bool,
}

/// What one volume is asked.
#[derive(Default)]
pub(super) struct OfVolume {
    pub(super) counts: Counts,
    streams: Streams,
}

/// Times that fall.
#[derive(Clone, Copy)]
pub(super) struct Back {
    pub(super) number: u64,
    pub(super) most_ns: u64,
}

/// In the order of their numbers.
const SORTS: [Sort; Sort::COUNT] =
    [Sort::RandomRead, Sort::SequentialRead, Sort::Write, Sort::Flush, Sort::Discard, Sort::Unsaid];

impl Tally {
    /// False for a time that cannot be.
    fn time(&mut self, number: u64, at_ns: u64) -> bool {
        if !self.timed {
            (self.timed, self.first_ns, self.last_ns) = (true, at_ns, at_ns);
        }
        if at_ns > self.last_ns.saturating_add(NO_GAP_NS) || self.first_ns > at_ns.saturating_add(NO_GAP_NS) {
            return false;
        }
        if at_ns < self.last_ns {
            let back = self.back.get_or_insert(Back { number, most_ns: 0 });
            back.most_ns = back.most_ns.max(self.last_ns - at_ns);
        }
        self.first_ns = self.first_ns.min(at_ns);
        self.last_ns = self.last_ns.max(at_ns);
        true
    }
}

impl OfVolume {
    fn sort(&mut self, said: &Said) -> Sort {
        match said.action {
            Some(Action::Read) if self.streams.follows(said.place, said.length.unwrap_or(0)) => Sort::SequentialRead,
            Some(Action::Read) => Sort::RandomRead,
            Some(Action::Write | Action::DurableWrite) => Sort::Write,
            Some(Action::Flush) => Sort::Flush,
            Some(Action::Trim) => Sort::Discard,
            None => Sort::Unsaid,
        }
    }
}

impl Sink for Tally {
    fn volume(&mut self, name: &[u8]) -> Volume {
        self.volumes.number(name)
    }

    fn asked(&mut self, said: &Said) -> Mark {
        let at_ns = said.at_ns.unwrap_or(0);
        if said.at_ns.is_some() && !self.time(said.number, at_ns) {
            self.broken(said.number, "its time is more than a year from that of the record before: left out");
            return Mark { at_ns: 0, class: u8::MAX };
        }
        self.operations += 1;
        let volume = said.volume as usize;
        if volume >= self.by_volume.len() {
            self.by_volume.resize_with(volume + 1, OfVolume::default);
        }
        let of = &mut self.by_volume[volume];
        let (sort, bytes) = (of.sort(said), said.length.unwrap_or(0));
        of.counts[sort as usize].operations += 1;
        of.counts[sort as usize].bytes = of.counts[sort as usize].bytes.saturating_add(bytes);
        match sort {
            Sort::RandomRead | Sort::SequentialRead => self.misses.operation(said.volume, said.place, bytes, true),
            Sort::Write => self.misses.operation(said.volume, said.place, bytes, false),
            Sort::Unsaid => self.misses.object(said.place, said.length.unwrap_or(PAGE)),
            Sort::Flush | Sort::Discard => {}
        }
        if said.at_ns.is_some() {
            self.windows.count(at_ns, sort, said.number, bytes);
        }
        let mark = Mark { at_ns, class: sort as u8 };
        if let Some(took_ns) = said.took_ns.filter(|_| said.at_ns.is_some()) {
            self.answered(mark, took_ns);
        }
        mark
    }

    fn answered(&mut self, mark: Mark, took_ns: u64) {
        if let Some(sort) = SORTS.get(usize::from(mark.class)) {
            self.windows.answer(mark.at_ns, *sort, took_ns);
        }
    }

    fn broken(&mut self, number: u64, what: &str) {
        self.broken_count += 1;
        if self.broken.len() < Builder::MOST_CAUTIONS {
            self.broken.push((number, what.to_owned()));
        }
    }
}
