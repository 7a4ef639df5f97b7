//! The limit that decides the state of a watch, and the cheapest change that lifts it.

use plimsoll_catalogue::{Catalogue, Offer, PriceTerms};

use super::alert::AlertKind;
use super::sample::mix_of;
use super::{CreditBalance, IntervalUse, LimitUse, MEAN_SPAN, WatchState, Watcher};
use crate::lift::{Lift, find_lifts};

/// The time that a watch describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchPeriod {
    /// The latest minutes of a running source.
    Present,
    /// All of a file.
    Recording,
}

/// The limit that decides the state of a watch, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DecidingLimit {
    /// Its credits are used up: index in [`Watcher::limits`].
    CreditsUsedUp(usize),
    /// Its credits end first.
    CreditsEnd(CreditBalance),
    /// Its use is the highest.
    Used(LimitUse),
}

/// The cheapest change that lifts a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitStep {
    /// Index in [`Watcher::limits`].
    pub limit: usize,
    /// `None` if no single option of the configuration lifts it.
    pub lift: Option<Lift>,
}

impl DecidingLimit {
    /// Index in [`Watcher::limits`].
    pub const fn limit(&self) -> usize {
        match self {
            Self::CreditsUsedUp(limit) => *limit,
            Self::CreditsEnd(balance) => balance.limit,
            Self::Used(of) => of.limit,
        }
    }
}

impl WatchState {
    /// The limit that decides the state; `None` if no limit is watched.
    pub fn deciding_limit(&self, period: WatchPeriod) -> Option<DecidingLimit> {
        if period == WatchPeriod::Recording {
            let by_time = |a: &&LimitUse, b: &&LimitUse| a.above.cmp(&b.above).then(a.highest.total_cmp(&b.highest));
            return self.limits.iter().max_by(by_time).copied().map(DecidingLimit::Used);
        }
        let used_up = self.firing.iter().find(|alert| alert.kind == AlertKind::CreditsUsedUp);
        let ending = || self.credits.first().copied().filter(|balance| balance.ends_in.is_some());
        used_up
            .map(|alert| DecidingLimit::CreditsUsedUp(alert.limit))
            .or_else(|| ending().map(DecidingLimit::CreditsEnd))
            .or_else(|| self.limits.first().copied().map(DecidingLimit::Used))
    }
}

impl Watcher {
    /// The limit that decides the present state.
    pub fn deciding_limit(&self, period: WatchPeriod) -> Option<usize> {
        Some(self.state()?.deciding_limit(period)?.limit())
    }

    /// The cheapest change that lifts a limit, for the operations of the interval with its highest use in the period.
    pub fn next_step(&self, limit: usize, period: WatchPeriod, catalogue: &Catalogue, terms: &PriceTerms) -> LimitStep {
        LimitStep { limit, lift: self.find_lift(limit, period, catalogue, terms) }
    }

    fn find_lift(&self, limit: usize, period: WatchPeriod, catalogue: &Catalogue, terms: &PriceTerms) -> Option<Lift> {
        let flows = match period {
            WatchPeriod::Recording => &self.highest[limit].flows,
            WatchPeriod::Present => {
                let by_use = |interval: &&IntervalUse| interval.used[limit];
                let intervals = self.latest_intervals(MEAN_SPAN);
                &intervals.max_by(|a, b| by_use(a).total_cmp(&by_use(b)))?.flows
            }
        };
        let own = self.offer.as_ref()?;
        let offer = catalogue.offer(&own.short(), terms).ok()?;
        let watched = self.limits[limit];
        // Terms of another date may have other limits.
        let name =
            |offer: &Offer| offer.ceilings.get(watched.ceiling).map(|ceiling| (ceiling.name.clone(), ceiling.scope));
        if name(own) != name(&offer) {
            return None;
        }
        let lifted = Some((watched.ceiling, watched.counts));
        find_lifts(catalogue, &offer, terms, &mix_of(flows), lifted).into_iter().next()
    }
}
