//! Requirements on ceilings: mixes of operations with their rates, each of which has to fit separately.

use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_catalogue::{Ask, Bound, Offer};

/// Relative difference below which rates are equal: 6,000 times 1.1 is 6,600 up to rounding.
const SAME: f64 = 1e-9;

/// Concurrent operations of several kinds, each with its operations per second.
pub(crate) type Mix = Vec<(Ask, f64)>;

#[derive(Debug)]
pub(crate) struct Requirements {
    /// Each mix with its total operations per second.
    mixes: Vec<(Mix, f64)>,
    evaluated: AtomicU64,
}

/// The ceiling with the least headroom, or the largest deficit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TightBound {
    /// The ceiling, and the rate that it allows.
    pub(crate) bound: Bound,
    /// The allowed rate over the required rate: below 1 it is insufficient.
    pub(crate) over: f64,
    pub(crate) mix: usize,
}

impl Requirements {
    /// Mixes that occur at different times. None of them is empty.
    pub(crate) fn of(mixes: impl IntoIterator<Item = Mix>) -> Self {
        let rated = |mix: Mix| {
            let rate = mix.iter().map(|(_, rate)| rate).sum();
            (mix, rate)
        };
        Self { mixes: mixes.into_iter().map(rated).collect(), evaluated: AtomicU64::new(0) }
    }

    /// Number of offers checked so far.
    pub(crate) fn evaluated(&self) -> u64 {
        self.evaluated.load(Ordering::Relaxed)
    }

    /// Every ceiling in relation to the requirements, the tightest first.
    pub(crate) fn bounds(&self, offer: &Offer) -> Vec<TightBound> {
        self.evaluated.fetch_add(1, Ordering::Relaxed);
        let mut all: Vec<TightBound> = Vec::new();
        for (number, (mix, rate)) in self.mixes.iter().enumerate() {
            let bounds = offer.standing_of(mix).bounds;
            all.extend(bounds.into_iter().map(|bound| TightBound { bound, over: bound.iops / rate, mix: number }));
        }
        all.sort_by(|a, b| a.over.total_cmp(&b.over));
        all
    }

    /// The tightest ceiling; `None` if the catalogue has none.
    pub(crate) fn tightest(&self, offer: &Offer) -> Option<TightBound> {
        self.bounds(offer).first().copied()
    }
}

impl TightBound {
    /// True if it allows `room` times the required rate.
    pub(crate) fn allows(&self, room: f64) -> bool {
        self.over >= room * (1.0 - SAME)
    }
}
