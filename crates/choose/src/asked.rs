//! What ceilings have to allow: mixes of operations at their rates, each of which has to fit alone.

use std::cell::Cell;

use plimsoll_catalogue::{Ask, Bound, Offer};

/// Rates nearer to each other than this share are the same: 6,000 times 1.1 is 6,600, and no operation more.
const SAME: f64 = 1e-9;

/// Operations of several kinds together, each with its operations a second.
pub(crate) type Mix = Vec<(Ask, f64)>;

/// What is asked of ceilings.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Each mix with its operations a second in all.
    mixes: Vec<(Mix, f64)>,
    looked_at: Cell<u64>,
}

/// The ceiling that is nearest to what is asked, or the farthest below it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tight {
    /// What it allows.
    pub(crate) bound: Bound,
    /// The same over what is asked: below 1 it is not enough.
    pub(crate) over: f64,
    /// Of which mix, by its number.
    pub(crate) mix: usize,
}

impl Asked {
    /// Mixes that come at different times. None of them is empty.
    pub(crate) fn of(mixes: impl IntoIterator<Item = Mix>) -> Self {
        let rated = |mix: Mix| {
            let rate = mix.iter().map(|(_, rate)| rate).sum();
            (mix, rate)
        };
        Self { mixes: mixes.into_iter().map(rated).collect(), looked_at: Cell::new(0) }
    }

    /// How many offers were held against it.
    pub(crate) fn looked_at(&self) -> u64 {
        self.looked_at.get()
    }

    /// Every ceiling beside it, the tightest first.
    pub(crate) fn beside(&self, offer: &Offer) -> Vec<Tight> {
        self.looked_at.set(self.looked_at.get() + 1);
        let mut all: Vec<Tight> = Vec::new();
        for (number, (mix, rate)) in self.mixes.iter().enumerate() {
            let bounds = offer.standing_of(mix).bounds;
            all.extend(bounds.into_iter().map(|bound| Tight { bound, over: bound.iops / rate, mix: number }));
        }
        all.sort_by(|a, b| a.over.total_cmp(&b.over));
        all
    }

    /// The tightest ceiling; `None` where the catalogue knows none.
    pub(crate) fn tightest(&self, offer: &Offer) -> Option<Tight> {
        self.beside(offer).first().copied()
    }
}

impl Tight {
    /// True when it allows so many times what is asked.
    pub(crate) fn allows(&self, room: f64) -> bool {
        self.over >= room * (1.0 - SAME)
    }
}
