//! Comparison of choices with today's storage: waiting sessions, and the best of the choices that are slower for some
//! class of operations.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_catalogue::Money;
use plimsoll_ingest::{Class, EventTime, WaitCause};
use plimsoll_units::Span;

use super::assumption::{Assumption, LoadAssumption};
use super::frontier::by_rank;
use super::objective::total_of;
use super::search::provider;
use super::{
    Attachment, Choice, ClassLatency, ClassLoad, DesignPoint, Exclusion, PriceDoubt, Rejection, RejectionReason,
    Sizing, SizingRequirements, Slower, VolumeLayout,
};
use crate::diagnosis::{
    CensorCause, DatabaseEffect, DiagnosisVerdict, EffectRule, Latencies, PartEffect, QUIET_SESSIONS, effect,
};

/// Ratio of two inferred response times that is within the doubt about them.
const LATENCY_DOUBT: f64 = 2.0;

impl DesignPoint {
    /// Mean number of sessions that wait for reads and log writes with these response times: rate times time (Little
    /// 1961). All writes count if the input does not separate those of the log; classes without a time do not.
    pub(super) fn waiting(&self, mean: impl Fn(Class) -> Option<Span>) -> f64 {
        let has_parts = self.classes.iter().any(|load| matches!(load.class, Class::DataWrite | Class::RedoWrite));
        let is_awaited =
            |load: &&ClassLoad| load.reads > 0.0 || load.durable || (load.class == Class::Write && !has_parts);
        let sessions = |load: &ClassLoad| Some(load.iops * mean(load.class)?.as_secs_f64());
        self.classes.iter().filter(is_awaited).filter_map(sessions).fold(0.0, |sum, own| sum + own)
    }
}

impl SizingRequirements {
    /// Number of instances, each on a machine of its own.
    pub(super) fn instances(&self) -> u32 {
        self.platform.cluster.as_ref().map_or(1, |cluster| cluster.count)
    }

    /// The assumptions that determine the load, and not a part of it.
    pub fn decisive_assumptions(&self) -> impl Iterator<Item = &Assumption> {
        let is_decisive = |assumption: &&Assumption| {
            matches!(
                assumption,
                Assumption::Load(LoadAssumption::ReadShare | LoadAssumption::Sizes)
                    | Assumption::AnsweredByCache { is_decisive: true, .. }
            )
        };
        self.assumptions.iter().filter(is_decisive)
    }

    /// True if a cache in memory answered reads of the windows that determine the load, so storage carried fewer of them.
    pub fn counts_cached_reads(&self) -> bool {
        self.assumptions.iter().any(|own| matches!(own, Assumption::AnsweredByCache { is_decisive: true, .. }))
    }

    /// Parts of the operations and of the bytes that a machine carries, above 0 to 1.
    pub(super) fn machine_parts(&self) -> [f64; 2] {
        self.platform.cluster.as_ref().map_or([1.0; 2], |cluster| cluster.share.parts)
    }

    /// True if response times decide: configurations whose vendor states no figure, but a worse one than others, are excluded.
    pub fn needs_latency(&self) -> bool {
        let is_bounded = [&self.objectives, &self.peak_bounds].iter().any(|bounds| !bounds.is_empty());
        !self.may_be_slower && (is_bounded || !self.today.is_empty())
    }

    /// The mean load of the input, at which choices are compared with today's storage.
    pub fn usual(&self) -> &DesignPoint {
        self.usual.as_ref().unwrap_or(&self.points[0])
    }

    /// Sessions that wait for the classes whose response times are known today: with today's storage, and with a
    /// choice, both at the mean load of the input.
    pub fn waiting_today(&self, choice: &Choice) -> [f64; 2] {
        let today = |class| self.today.iter().find(|(existing, _)| *existing == class).map(|(_, mean)| *mean);
        let then = |class| choice.usual.iter().find(|one| one.class == class).map(|one| one.mean);
        [
            self.usual().waiting(|class| then(class).and(today(class))),
            self.usual().waiting(|class| today(class).and(then(class))),
        ]
    }

    /// Effect of storage with these mean response times on the database's time, at the mean load of the input; `None` if
    /// the input does not split that time, or no wait is changed. A class without simulated operations is compared through
    /// the total that contains it.
    pub fn effect<'l>(&self, usual: impl IntoIterator<Item = &'l ClassLatency>) -> Option<DatabaseEffect> {
        let account = self.account.as_ref()?;
        let own: BTreeMap<Class, f64> = usual.into_iter().map(|one| (one.class, one.mean.as_secs_f64())).collect();
        let mean = |class: Class| own.get(&class).or_else(|| own.get(&total_of(class))).copied();
        let then = Class::ALL.into_iter().filter_map(|class| Some((class, mean(class)?))).collect();
        let today = self.today.iter().map(|(class, mean)| (*class, mean.as_secs_f64())).collect();
        let mut effect =
            effect(account, &Latencies(then), &Latencies(today)).filter(|effect| !effect.parts.is_empty())?;
        if let Some(CensorCause::ClosedReads { share, .. }) = self.censored.as_ref().map(|censored| &censored.cause) {
            effect.count_as_reads(*share);
        }
        Some(effect)
    }

    /// True if storage is slower than today's by more than the tolerance: the database's time as a whole, or one of these
    /// slower classes by itself. Without a split of that time, the operations of the slower classes, one at a time, must not
    /// add more than the tolerance to the time in which they occur.
    pub(super) fn exceeds_tolerance(&self, effect: Option<&DatabaseEffect>, slower: &[Slower]) -> bool {
        let Some(effect) = effect else {
            let rate = |class| self.usual().classes.iter().find(|load| load.class == class).map(|load| load.iops);
            let added = |slower: &Slower| {
                let added_s = slower.then.as_secs_f64() - slower.today.as_secs_f64();
                rate(slower.class).map_or(f64::INFINITY, |iops| iops * added_s)
            };
            return slower.iter().map(added).sum::<f64>() > self.tolerance;
        };
        let limit_s = self.tolerated_s(effect);
        let is_decisive = |part: &PartEffect| {
            part.after_s - part.before_s > limit_s && slower.iter().any(|slower| slower.class == part.class)
        };
        effect.added_s() > limit_s || effect.parts.iter().any(is_decisive)
    }

    /// Seconds that may be added to the database's time: the tolerance as a share of it, for a nearly idle database of
    /// the time of one that is just not idle.
    fn tolerated_s(&self, effect: &DatabaseEffect) -> f64 {
        let is_quiet = matches!(self.answer, Some(DiagnosisVerdict::Quiet { .. }));
        let account = self.account.as_ref().filter(|_| is_quiet);
        let quiet_s = account.map_or(0.0, |account| QUIET_SESSIONS * account.total.seconds);
        self.tolerance * effect.before_s.max(quiet_s)
    }

    /// True if a choice is slower than today's storage by more than the tolerance.
    pub fn is_slower_than_today(&self, choice: &Choice) -> bool {
        self.exceeds_tolerance(choice.effect.as_ref(), &choice.slower)
    }

    /// True if the least saved share of the database's time is a loss beyond the tolerance.
    pub fn may_exceed_tolerance(&self, effect: &DatabaseEffect) -> bool {
        let limit_s = self.tolerated_s(effect);
        !self.may_be_slower && effect.least_saved().is_some_and(|least| -least * effect.before_s > limit_s)
    }

    /// The tolerance with which a choice is not slower, as a share of the database's time; `None` without a split of that
    /// time.
    pub fn tolerance_for(&self, choice: &Choice) -> Option<f64> {
        let effect = choice.effect.as_ref()?;
        let is_slower = |part: &&PartEffect| choice.slower.iter().any(|slower| slower.class == part.class);
        let added_s = |part: &PartEffect| part.after_s - part.before_s;
        let of_parts = effect.parts.iter().filter(is_slower).map(added_s);
        Some(of_parts.fold(effect.added_s(), f64::max) / effect.before_s)
    }

    /// The cheapest of these choices that is as fast as the fastest of them.
    pub(super) fn best_of_slower<'c>(
        &self,
        slower: impl IntoIterator<Item = &'c Choice> + Clone,
    ) -> Option<&'c Choice> {
        let bound = self.slower_bound(slower.clone())?;
        slower.into_iter().filter(|choice| self.is_within(&bound, choice)).min_by(|a, b| by_rank(a, b))
    }

    /// The bound of the choices that are as fast as the fastest of these. Choices with a complete price are preferred.
    pub(super) fn slower_bound<'c>(&self, slower: impl IntoIterator<Item = &'c Choice> + Clone) -> Option<SlowerBound> {
        let is_complete = slower.clone().into_iter().any(has_complete_price);
        let eligible = slower.into_iter().filter(|choice| !is_complete || has_complete_price(choice));
        let fastest = eligible.min_by(|a, b| self.times_of_today(a).total_cmp(&self.times_of_today(b)))?;
        let is_inferred = fastest.has_inferred_latency();
        Some(SlowerBound { least: self.times_of_today(fastest), is_inferred, is_complete })
    }

    /// True if a choice is as fast as the fastest of the bound.
    pub(super) fn is_within(&self, bound: &SlowerBound, choice: &Choice) -> bool {
        /// Maximum ratio of waiting sessions that is no difference.
        const SAME: f64 = 1.2;
        let times = match &choice.effect {
            Some(_) => 1.0 + self.tolerance,
            None if choice.has_inferred_latency() && bound.is_inferred => LATENCY_DOUBT,
            None => SAME,
        };
        self.times_of_today(choice) <= bound.least * times && (!bound.is_complete || has_complete_price(choice))
    }

    /// Database time as a multiple of today's, or waiting sessions if it is unknown; times below today's are the same.
    fn times_of_today(&self, choice: &Choice) -> f64 {
        let of_sessions = || {
            let [today, then] = self.waiting_today(choice);
            then / today
        };
        choice.effect.as_ref().map_or_else(of_sessions, |effect| 1.0 - effect.saved()).max(1.0)
    }
}

impl Choice {
    /// True if `class` is `row`, or has no simulated operations and is compared through `row`, the total that contains it.
    fn compares(&self, class: Class, row: Class) -> bool {
        class == row || (total_of(class) == row && self.usual.iter().all(|one| one.class != class))
    }

    /// Mean response time today of a simulated class: of its operations, or of the waits that are compared through it.
    pub fn today(&self, required: &SizingRequirements, row: Class) -> Option<Span> {
        let waits = required.account.iter().flat_map(|account| account.total.foreground());
        let is_compared =
            |wait: &&EventTime| matches!(wait.cause, WaitCause::Storage(class) if self.compares(class, row));
        let timed = waits.filter(is_compared).filter(|wait| wait.count > 0.0);
        let (count, seconds) = timed.fold((0.0, 0.0), |sum, wait| (sum.0 + wait.count, sum.1 + wait.total_s));
        let of_class = required.today.iter().find(|(class, _)| *class == row).map(|(_, mean)| *mean);
        // Sessions do not wait for most writes: the waits of a few are not their time.
        let is_read = total_of(row) == Class::Read;
        of_class.or_else(|| (is_read && seconds > 0.0).then(|| Span::from_secs_f64(seconds / count)))
    }

    /// Seconds that sessions wait for a simulated class, and for those compared through it: today and then.
    pub fn waits(&self, effect: &DatabaseEffect, row: Class) -> Option<[f64; 2]> {
        let parts =
            effect.parts.iter().filter(|part| part.rule == EffectRule::Latency && self.compares(part.class, row));
        parts.map(|part| [part.before_s, part.after_s]).reduce(|sum, one| [sum[0] + one[0], sum[1] + one[1]])
    }
}

/// Which choices that are slower than today are as fast as the fastest of them: those whose database time is within the
/// tolerance of the least; if that time is unknown, with which at most a fifth more sessions wait, or twice as many where
/// both response times are inferred.
pub(super) struct SlowerBound {
    /// Database time or waiting sessions of the fastest, as a multiple of today's.
    pub(super) least: f64,
    /// The response times of the fastest are inferred.
    is_inferred: bool,
    /// Choices without a complete price do not count.
    is_complete: bool,
}

fn has_complete_price(choice: &Choice) -> bool {
    choice.price_doubt() <= PriceDoubt::Unverified
}

/// The configuration of the headline.
#[derive(Clone, Copy, Debug)]
pub enum Best<'a> {
    /// Separate volumes, cheaper than a single one or the only solution.
    Layout(&'a VolumeLayout),
    /// The first choice.
    Single(&'a Choice),
    /// A choice that is slower than today, as no other has a price as complete.
    Slower(&'a Choice),
    /// A choice that is slower than today by response times that are as doubtful as those of the first choice, which
    /// costs more.
    Doubtful(&'a Choice),
}

impl<'a> Best<'a> {
    /// The volumes with the load of each, of which a single one has all of it.
    pub(super) fn parts(self, required: &'a SizingRequirements) -> Vec<(&'a SizingRequirements, &'a Choice)> {
        match self {
            Self::Layout(layout) => layout.parts.iter().map(|part| (&part.required, &part.choice)).collect(),
            Self::Single(choice) | Self::Slower(choice) | Self::Doubtful(choice) => vec![(required, choice)],
        }
    }

    /// The only volume; `None` for separate volumes.
    pub fn choice(self) -> Option<&'a Choice> {
        match self {
            Self::Layout(_) => None,
            Self::Single(choice) | Self::Slower(choice) | Self::Doubtful(choice) => Some(choice),
        }
    }

    pub fn volumes(self) -> Vec<&'a Choice> {
        match self {
            Self::Layout(layout) => layout.parts.iter().map(|part| &part.choice).collect(),
            Self::Single(choice) | Self::Slower(choice) | Self::Doubtful(choice) => vec![choice],
        }
    }

    /// Monthly price with the machines; `None` unless all parts have a price.
    pub fn total(self) -> Option<Money> {
        match self {
            Self::Layout(layout) => layout.total,
            Self::Single(choice) | Self::Slower(choice) | Self::Doubtful(choice) => choice.total(),
        }
    }

    /// The machine; `None` without one.
    pub fn machine(self) -> Option<&'a Attachment> {
        match self {
            Self::Layout(layout) => layout.machine.as_ref(),
            Self::Single(choice) | Self::Slower(choice) | Self::Doubtful(choice) => choice.machine.as_ref(),
        }
    }

    pub fn price_doubt(self) -> PriceDoubt {
        match self {
            Self::Layout(layout) => layout.price_doubt(),
            Self::Single(choice) | Self::Slower(choice) | Self::Doubtful(choice) => choice.price_doubt(),
        }
    }

    /// Effect on the time of the database of these requirements, if both are known.
    pub fn effect(self, required: &SizingRequirements) -> Option<DatabaseEffect> {
        required.effect(self.volumes().into_iter().flat_map(|choice| &choice.usual))
    }
}

/// The cheapest of these choices, which are slower than today, that costs less than the first choice and is not slower than it
/// by more than the doubt about the response times of both, which are inferred.
fn cheaper_within_doubt<'c>(first: &Choice, slower: &[&'c Choice]) -> Option<&'c Choice> {
    let is_within = |slower: &&&Choice| {
        let is_near = |own: &ClassLatency| {
            let of_first = first.usual.iter().find(|one| one.class == own.class);
            of_first.is_some_and(|one| own.mean.as_secs_f64() <= LATENCY_DOUBT * one.mean.as_secs_f64())
        };
        let is_cheaper = slower.total().zip(first.total()).is_none_or(|(own, other)| own.millionths < other.millionths);
        is_cheaper && slower.rank() < first.rank() && slower.has_inferred_latency() && slower.usual.iter().all(is_near)
    };
    let cheaper = slower.iter().find(is_within).filter(|_| first.has_inferred_latency());
    cheaper.copied().filter(|choice| choice.total().is_some())
}

impl Sizing {
    /// The best of the choices that are slower than today for some class: the cheapest with which no more sessions wait
    /// than with today's storage; without such a choice, that with the fewest.
    pub fn best_slower(&self) -> Option<&Choice> {
        self.required.best_of_slower(&self.slower)
    }

    /// The configuration to recommend: the cheapest with the most complete price. A configuration without a complete
    /// price is never preferred to a slower one that has it. `None` if nothing carries the load.
    pub fn best(&self) -> Option<Best<'_>> {
        self.best_among(|_| true)
    }

    /// The configuration to recommend among those of a provider.
    pub fn best_of(&self, name: &str) -> Option<Best<'_>> {
        self.best_among(|choice| provider(choice.offer.product().name()) == name)
    }

    /// The configuration to recommend among the eligible ones; a layout is eligible if its volumes are.
    fn best_among(&self, is_eligible: impl Fn(&Choice) -> bool) -> Option<Best<'_>> {
        let choices: Vec<&Choice> = self.choices.iter().filter(|choice| is_eligible(choice)).collect();
        let slower: Vec<&Choice> = self.slower.iter().filter(|choice| is_eligible(choice)).collect();
        let first = choices.first().copied();
        let doubtful = first.and_then(|first| cheaper_within_doubt(first, &slower));
        let layout = self.layouts.iter().find(|layout| layout.parts.iter().all(|part| is_eligible(&part.choice)));
        let is_cheapest =
            |layout: &&VolumeLayout| first.into_iter().chain(doubtful).all(|choice| layout.is_cheaper(choice, 1.0));
        if let Some(layout) = layout.filter(is_cheapest) {
            return Some(Best::Layout(layout));
        }
        if let Some(choice) = doubtful {
            return Some(Best::Doubtful(choice));
        }
        let doubt =
            |choice: Option<&Choice>| choice.map_or(PriceDoubt::Unpriced, |choice| choice.price_doubt().completeness());
        let slower = self.required.best_of_slower(slower.iter().copied());
        match (first, slower) {
            (Some(first), slower) if doubt(Some(first)) <= doubt(slower) => Some(Best::Single(first)),
            (_, Some(slower)) => Some(Best::Slower(slower)),
            (Some(first), None) => Some(Best::Single(first)),
            (None, None) => None,
        }
    }

    /// The configuration that carries the largest part of the load, if none carries all of it.
    pub fn nearest_rejection(&self) -> Option<&Rejection> {
        let is_empty = self.choices.is_empty() && self.slower.is_empty() && self.nearly.is_empty();
        self.rejected.first().filter(|rejection| is_empty && rejection.reason.share() > 0.0)
    }

    /// Providers on which the vendor of the database does not support a cluster, by name.
    pub fn refused_providers(&self) -> Vec<&str> {
        let is_refused = |rejection: &&Rejection| {
            matches!(&rejection.reason, RejectionReason::Excluded(Exclusion::UnsupportedRac(_)))
        };
        let refused = self.rejected.iter().filter(is_refused).map(|rejection| provider(&rejection.name));
        refused.collect::<BTreeSet<&str>>().into_iter().collect()
    }

    /// The volumes of the recommended configuration; empty if there is none.
    pub fn best_volumes(&self) -> Vec<&Choice> {
        self.best().map(Best::volumes).unwrap_or_default()
    }

    /// Monthly price of the recommended configuration with its machines; `None` unless all parts have a price.
    pub fn best_total(&self) -> Option<Money> {
        self.best()?.total()
    }

    pub fn best_machine(&self) -> Option<&Attachment> {
        self.best()?.machine()
    }

    /// Effect of the recommended configuration on the database's time, if both are known.
    pub fn best_effect(&self) -> Option<DatabaseEffect> {
        self.best()?.effect(&self.required)
    }
}
