//! Faults on request: what a request suffers is drawn when it is accepted, from a seed, so that the same requests suffer
//! the same.

use plimsoll_units::{Instant, Span};

use crate::request::Class;

/// What a volume is to suffer. Everything is off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Determines which requests are met.
    pub seed: u64,
    /// Which requests are met; all when absent.
    pub only: Option<Class>,
    /// Requests of a million that fail with EIO when their answer is due; their bytes stay as they were, except those of a
    /// write that is stored in parts.
    pub errors_ppm: u32,
    /// Requests of a million that are answered later by `spike`.
    pub spikes_ppm: u32,
    /// How much later, in model time.
    pub spike: Span,
    /// Requests of a million that are not answered: their connection is torn when the answer is due.
    pub tears_ppm: u32,
    /// From now on, for so long, nothing is answered (a stalled path); in model time.
    pub stall: Span,
}

/// Faults at work.
#[derive(Clone, Debug)]
pub(crate) struct Injector {
    faults: Faults,
    random: fastrand::Rng,
    /// When the stall began, and when it ends.
    stall: (Instant, Instant),
}

/// What one request suffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) fails: bool,
    pub(crate) tears: bool,
    pub(crate) extra: Span,
}

impl Fate {
    pub(crate) const NONE: Self = Self { fails: false, tears: false, extra: Span::ZERO };
}

impl Injector {
    pub(crate) fn new(now: Instant, faults: Faults) -> Self {
        Self { faults, random: fastrand::Rng::with_seed(faults.seed), stall: (now, now + faults.stall) }
    }

    /// What the next request suffers. Three numbers are drawn for each, so that switching one fault on leaves the
    /// others where they were.
    pub(crate) fn fate(&mut self, class: Class) -> Fate {
        let mut draws = |ppm: u32| self.random.u32(0..1_000_000) < ppm;
        let Faults { errors_ppm, spikes_ppm, tears_ppm, spike, only, .. } = self.faults;
        let (fails, late, tears) = (draws(errors_ppm), draws(spikes_ppm), draws(tears_ppm));
        if only.is_some_and(|only| only != class) {
            return Fate::NONE;
        }
        Fate { fails, tears, extra: if late { spike } else { Span::ZERO } }
    }

    /// When what the models answer at `at` may be answered.
    pub(crate) fn answer_at(&self, at: Instant, fate: Fate) -> Instant {
        let at = at + fate.extra;
        let (from, until) = self.stall;
        if at >= from && at < until { until } else { at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_meets_the_same_requests() {
        let faults = Faults { seed: 7, errors_ppm: 10_000, spikes_ppm: 20_000, tears_ppm: 5_000, ..Faults::default() };
        let fates = |faults| {
            let mut injector = Injector::new(Instant::ZERO, faults);
            (0..100_000).map(|_| injector.fate(Class::Read)).collect::<Vec<Fate>>()
        };
        let met = fates(faults);
        assert_eq!(met, fates(faults));
        let failed = met.iter().filter(|fate| fate.fails).count();
        assert!((900..1_100).contains(&failed), "{failed} of 100,000 at 1 %");
        let others = fates(Faults { spikes_ppm: 0, ..faults });
        assert!(met.iter().zip(&others).all(|(a, b)| a.fails == b.fails && a.tears == b.tears));
    }

    #[test]
    fn a_stall_holds_everything_until_its_end() {
        let from = Instant::from_nanos(1_000);
        let injector = Injector::new(from, Faults { stall: Span::from_nanos(500), ..Faults::default() });
        let answer = |ns| injector.answer_at(Instant::from_nanos(ns), Fate::NONE).as_nanos();
        assert_eq!([answer(999), answer(1_000), answer(1_499), answer(1_500)], [999, 1_500, 1_500, 1_500]);
    }

    #[test]
    fn other_kinds_are_spared() {
        let faults = Faults { errors_ppm: 1_000_000, only: Some(Class::Write), ..Faults::default() };
        let mut injector = Injector::new(Instant::ZERO, faults);
        assert!(!injector.fate(Class::Read).fails && injector.fate(Class::Write).fails);
    }
}
