//! Injected faults. The fate of a request is drawn from a seeded generator on acceptance, so that runs are
//! reproducible.

use plimsoll_units::{Instant, Span};

use crate::request::Class;

/// The faults of a volume; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Seed of the selection of requests.
    pub seed: u64,
    /// The affected class of requests; all if absent.
    pub only: Option<Class>,
    /// Requests per million that fail with EIO at their due time; stored data are unchanged, except for a write that is
    /// stored in parts.
    pub errors_ppm: u32,
    /// Requests per million that are delayed by `spike`.
    pub spikes_ppm: u32,
    /// The delay, in model time.
    pub spike: Span,
    /// Requests per million without a reply: their connection is closed at the due time.
    pub tears_ppm: u32,
    /// Length of a stall that begins now, in model time: no request is answered (path failure).
    pub stall: Span,
}

/// The fault injector of a volume.
#[derive(Clone, Debug)]
pub(crate) struct Injector {
    faults: Faults,
    random: fastrand::Rng,
    /// Start and end of the stall.
    stall: (Instant, Instant),
}

/// The faults of a request.
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

    /// Draws the faults of the next request. Always draws three numbers, so that an additional kind of fault does not
    /// affect the others.
    pub(crate) fn fate(&mut self, class: Class) -> Fate {
        let mut draws = |ppm: u32| self.random.u32(0..1_000_000) < ppm;
        let Faults { errors_ppm, spikes_ppm, tears_ppm, spike, only, .. } = self.faults;
        let (fails, late, tears) = (draws(errors_ppm), draws(spikes_ppm), draws(tears_ppm));
        if only.is_some_and(|only| only != class) {
            return Fate::NONE;
        }
        Fate { fails, tears, extra: if late { spike } else { Span::ZERO } }
    }

    /// Time at which an answer due at `at` may leave.
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
    fn equal_seeds_affect_equal_requests() {
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
    fn stall_delays_answers_until_its_end() {
        let from = Instant::from_nanos(1_000);
        let injector = Injector::new(from, Faults { stall: Span::from_nanos(500), ..Faults::default() });
        let answer = |ns| injector.answer_at(Instant::from_nanos(ns), Fate::NONE).as_nanos();
        assert_eq!([answer(999), answer(1_000), answer(1_499), answer(1_500)], [999, 1_500, 1_500, 1_500]);
    }

    #[test]
    fn other_classes_are_unaffected() {
        let faults = Faults { errors_ppm: 1_000_000, only: Some(Class::Write), ..Faults::default() };
        let mut injector = Injector::new(Instant::ZERO, faults);
        assert!(!injector.fate(Class::Read).fails && injector.fate(Class::Write).fails);
    }
}
