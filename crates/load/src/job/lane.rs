//! Addresses of the operations of one direction of a job: files in turn, and addresses within a file.

use alloc::vec::Vec;

use fastrand::Rng;
use plimsoll_units::{Kind, Op, splitmix64};

use super::{LaneSpec, Sizes, Turns};
use crate::mix::weighted;
use crate::place::{Pattern, Places, Region};

/// State of one direction of a job.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    sizes: Sizes,
    weight: u32,
    align: u64,
    gap: i64,
    hold: u32,
    holds_place: bool,
    random: f64,
    follows: f64,
    files: Vec<File>,
    turns: Turns,
    file: usize,
    /// Operations on the current file in this turn.
    on_file: u32,
    /// Offset of the last operation.
    last: u64,
    rng: Rng,
}

#[derive(Clone, Debug)]
struct File {
    region: Region,
    zones: Vec<Zone>,
    sequential: bool,
    /// Offset in the file of an operation that follows the last.
    follows: u64,
    /// Remaining operations of the current hold.
    hold_left: u32,
    /// Requested bytes of this file since its turn began, for [`Turns::Sequential`].
    visited: u64,
}

/// A part of a file with its own drawing of addresses.
#[derive(Clone, Debug)]
struct Zone {
    /// Cumulative share of operations up to and including this zone.
    until: f64,
    first: u64,
    blocks: u64,
    places: Places,
}

impl Lane {
    /// An unused direction.
    pub(super) fn idle() -> Self {
        Self {
            sizes: Sizes::one(1),
            weight: 1,
            align: 1,
            gap: 0,
            hold: 1,
            holds_place: false,
            random: 0.0,
            follows: 0.0,
            files: Vec::new(),
            turns: Turns::Sequential,
            file: 0,
            on_file: 0,
            last: 0,
            rng: Rng::with_seed(0),
        }
    }

    pub(super) fn new(spec: &LaneSpec, files: &[Region], turns: Turns, seed: u64) -> Option<Self> {
        let (largest, align) = (u64::from(spec.sizes.largest()), u64::from(spec.align).max(1));
        let fits = |region: &Region| region.length.get() >= largest && largest > 0;
        let weight = match &spec.sizes {
            Sizes::Split(sizes) => sizes.iter().try_fold(0_u32, |sum, &(_, weight)| sum.checked_add(weight))?,
            Sizes::Range { least, max, step } => (*least > 0 && least <= max && *step > 0).then_some(1)?,
        };
        if weight == 0 || spec.sizes.smallest() == 0 || !files.iter().all(fits) {
            return None;
        }
        let files = files.iter().enumerate().map(|(index, region)| {
            let blocks = region.length.get() / align;
            let zones = lay_out_zones(spec, blocks, splitmix64(seed ^ (index as u64) << 16))?;
            let sequential = spec.pattern == Pattern::Sequential && spec.zones.is_empty();
            Some(File { region: *region, zones, sequential, follows: 0, hold_left: 0, visited: 0 })
        });
        Some(Self {
            sizes: spec.sizes.clone(),
            weight,
            align,
            gap: spec.gap,
            hold: spec.hold.max(1),
            holds_place: spec.holds_place,
            random: spec.random,
            follows: spec.follows,
            files: files.collect::<Option<_>>()?,
            turns,
            file: 0,
            on_file: 0,
            last: 0,
            rng: Rng::with_seed(splitmix64(seed ^ 0xf11e)),
        })
    }

    /// Offset of the last operation.
    pub(super) const fn last(&self) -> u64 {
        self.last
    }

    #[inline]
    pub(super) fn next(&mut self, kind: Kind, stream: u8) -> Op {
        self.turn();
        let length = u64::from(self.size());
        let strays = self.random > 0.0 && self.rng.f64() < self.random;
        let follows = self.follows > 0.0 && self.rng.f64() < self.follows;
        let file = &mut self.files[self.file];
        let space = file.region.length.get();
        let within = if strays {
            self.rng.u64(0..=(space - length) / self.align) * self.align
        } else if file.sequential || file.hold_left > 0 || follows {
            file.hold_left = file.hold_left.saturating_sub(1);
            if file.follows + length <= space { file.follows } else { 0 }
        } else {
            file.hold_left = self.hold - 1;
            file.draw(length, self.align, &mut self.rng)
        };
        if !strays {
            let gap = if file.sequential { self.gap } else { 0 };
            let end = if self.holds_place { within } else { within + length };
            let follows = end.saturating_add_signed(gap);
            // Going backward beyond the start continues at the end.
            let backs_out = gap < 0 && end.checked_add_signed(gap).is_none();
            file.follows = if backs_out { (space - length) / self.align * self.align } else { follows };
        }
        file.visited += length;
        self.on_file += 1;
        self.last = file.region.start + within;
        Op { offset: self.last, length: length as u32, kind, stream }
    }

    /// Changes to another file when the turn of the current file is over.
    #[inline]
    fn turn(&mut self) {
        if self.files.len() == 1 {
            return;
        }
        let next = (self.file + 1) % self.files.len();
        match self.turns {
            Turns::RoundRobin(each) if self.on_file >= each.max(1) => self.file = next,
            Turns::Random(each) if self.on_file >= each.max(1) || self.on_file == 0 => {
                self.file = self.rng.usize(0..self.files.len());
            }
            Turns::Sequential if self.files[self.file].visited >= self.files[self.file].region.length.get() => {
                self.files[self.file].visited = 0;
                self.file = next;
            }
            _ => return,
        }
        self.on_file = 0;
    }

    #[inline]
    fn size(&mut self) -> u32 {
        match &self.sizes {
            Sizes::Split(sizes) => weighted(sizes, self.weight, &mut self.rng),
            Sizes::Range { least, max, step } => least + self.rng.u32(0..=(max - least) / step) * step,
        }
    }
}

impl File {
    fn draw(&mut self, length: u64, align: u64, rng: &mut Rng) -> u64 {
        let zone = match &mut self.zones[..] {
            [only] => only,
            zones => {
                let share = rng.f64();
                let last = zones.len() - 1;
                let index = zones.iter().position(|zone| share < zone.until).unwrap_or(last);
                &mut zones[index]
            }
        };
        let span = length.div_ceil(align).clamp(1, zone.blocks);
        let place = (zone.first + zone.places.next(zone.blocks, span)) * align;
        place.min((self.region.length.get() - length) / align * align)
    }
}

/// The zones of a file of `blocks` blocks; a single zone if the lane has none.
fn lay_out_zones(spec: &LaneSpec, blocks: u64, seed: u64) -> Option<Vec<Zone>> {
    let single_zone = [(1.0, 1.0)];
    let parts = if spec.zones.is_empty() { &single_zone[..] } else { &spec.zones };
    let (mut until, mut first) = (0.0, 0);
    let mut zones = Vec::new();
    for (index, (operations, space)) in parts.iter().enumerate() {
        until += operations;
        let left = blocks - first;
        let is_last = index + 1 == parts.len();
        let share = if is_last { left } else { ((blocks as f64 * space) as u64).min(left) };
        if share == 0 {
            continue;
        }
        let places = Places::new(spec.pattern, share, 0, splitmix64(seed ^ index as u64))?;
        zones.push(Zone { until, first, blocks: share, places });
        first += share;
    }
    (!zones.is_empty()).then_some(zones)
}
