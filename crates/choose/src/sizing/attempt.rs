//! Trials of a product's candidates, and their place in the result: choice, slower than today, near miss, rejection.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

use plimsoll_catalogue::{Offer, Price, Product};

use super::assess::{Assessed, Assessor};
use super::candidates::{Candidate, Group};
use super::frontier::by_rank_in_product;
use super::machines::{Fleet, lower_options, within_machine};
use super::size::storage_price;
use super::{Attachment, Choice, Exclusion, Rejection, RejectionReason};
use crate::matching::price_of;
use crate::requirements::TightBound;

/// The cheapest configuration of each level of each product.
#[derive(Default)]
pub(super) struct Levels {
    /// Those that meet the objectives and are not slower than today.
    pub(super) met: Vec<Choice>,
    /// Those that meet the objectives, but are slower than today.
    pub(super) slower: Vec<Choice>,
}

/// Configurations of one or several products by their place in the result.
#[derive(Default)]
pub(super) struct Found {
    /// The cheapest of each product that meets the objectives and is not slower than today.
    pub(super) choices: Vec<Choice>,
    /// Of products without such a configuration, the best that is slower than today.
    pub(super) slower: Vec<Choice>,
    /// Of products without either, the configuration nearest to the objectives.
    pub(super) nearly: Vec<Choice>,
    /// Products without any of these.
    pub(super) rejected: Vec<Rejection>,
    /// The cheapest configuration of each level.
    pub(super) levels: Levels,
}

impl Found {
    pub(super) fn rejected(rejection: Rejection) -> Self {
        Self { rejected: vec![rejection], ..Self::default() }
    }

    /// Adds those of another product.
    pub(super) fn merge(&mut self, other: Self) {
        self.choices.extend(other.choices);
        self.slower.extend(other.slower);
        self.nearly.extend(other.nearly);
        self.rejected.extend(other.rejected);
        self.levels.met.extend(other.levels.met);
        self.levels.slower.extend(other.levels.slower);
    }
}

/// The cheaper of two choices; the first if they are equal.
fn cheaper(best: Choice, other: Choice) -> Choice {
    if by_rank_in_product(&other, &best).is_lt() { other } else { best }
}

/// Ratio of neighbouring rates between which a ceiling is refined.
const RATE_STEP: f64 = 1.05;

/// Ratio of the least database time to the previous one from which on higher ceilings make no difference.
const FASTER: f64 = 0.995;

/// A candidate that misses an objective or is slower than today.
struct Miss {
    over: f64,
    /// Monthly price of its storage, as [`Candidate::cost`].
    cost: f64,
    /// Its index in the choices that are slower than today, if it meets the objectives.
    slower: Option<usize>,
}

/// Trials of the candidates of a group.
#[derive(Default)]
struct Trials {
    /// Candidates without a place in `levels.met`, in the order of their trials.
    misses: Vec<Miss>,
    /// Index of the group's choice in `levels.met`, and its headroom.
    choice: Option<(usize, f64)>,
    /// The last candidate is bound by a ceiling, so that higher ones may help.
    is_bound: bool,
    /// It has a choice, or is too slow in any size.
    is_closed: bool,
}

/// Results for the candidates of a product so far.
pub(super) struct Attempt<'a> {
    pub(super) assessor: &'a Assessor<'a>,
    /// Machines of the provider, computed for the first offer.
    fleet: OnceCell<Option<Fleet>>,
    levels: Levels,
    /// The candidate nearest to the objectives.
    nearly: Option<Box<Choice>>,
    rejected: Option<Rejection>,
    trials: BTreeMap<Group, Trials>,
    /// Assessments by configuration: several headrooms, and machines that carry less, lead to the same offer.
    assessed: RefCell<BTreeMap<String, Assessed>>,
    /// The least database time of slower candidates as a multiple of today's, before the last trials.
    least: f64,
    /// Candidates from this monthly price on are ignored.
    below: f64,
    /// Only the choice with the cheapest storage is needed.
    is_for_cheapest: bool,
}

impl<'a> Attempt<'a> {
    /// An attempt for the cheapest choice of each group.
    pub(super) fn new(assessor: &'a Assessor<'a>) -> Self {
        Self {
            assessor,
            least: f64::INFINITY,
            below: f64::INFINITY,
            is_for_cheapest: false,
            fleet: OnceCell::new(),
            levels: Levels::default(),
            nearly: None,
            rejected: None,
            trials: BTreeMap::new(),
            assessed: RefCell::default(),
        }
    }

    /// An attempt for the choice with the cheapest storage, below a monthly price.
    pub(super) fn for_cheapest(assessor: &'a Assessor<'a>, below: f64) -> Self {
        Self { below, is_for_cheapest: true, ..Self::new(assessor) }
    }

    /// Tries candidates by price until each group has a candidate that meets the objectives, or is too slow in any
    /// size.
    pub(super) fn try_all(&mut self, candidates: Vec<Candidate>) {
        for candidate in candidates {
            let is_closed = self.trials.get(&candidate.group).is_some_and(|trials| trials.is_closed);
            if is_closed || candidate.cost >= self.below || self.is_assessed(&candidate.offer) {
                continue;
            }
            let Candidate { group, cost, .. } = candidate;
            match self.assess(candidate) {
                Assessed::Meets(choice) => {
                    let trials = self.trials.entry(group).or_default();
                    trials.is_closed = true;
                    trials.choice = choice.binds.as_ref().map(|limit| (self.levels.met.len(), limit.over));
                    if self.is_for_cheapest && !choice.has_unverified_price() {
                        self.below = cost;
                    }
                    self.levels.met.push(*choice);
                }
                Assessed::Misses { choice, by_latency } => {
                    let trials = self.trials.entry(group).or_default();
                    trials.is_closed = by_latency;
                    trials.is_bound = !by_latency;
                    self.missed((group, cost), choice);
                }
                Assessed::Fails(rejection) => self.rejected = self.rejected.take().or(Some(rejection)),
            }
        }
    }

    /// Replaces choices whose ceilings were raised in large steps by cheaper ones between the last step that missed an
    /// objective and the first that met all; without such a choice, those that are slower than today, between the last
    /// step that was slower than the best of them and the first as fast. `offers` returns the candidates at a headroom.
    pub(super) fn refine(&mut self, mut offers: impl FnMut(f64) -> Vec<Candidate>) {
        let all = std::mem::take(&mut self.trials);
        for (group, trials) in &all {
            let (Some((index, met_at)), Some(missed)) = (trials.choice, trials.misses.last()) else { continue };
            let choice = self.levels.met[index].clone();
            let bracket = (missed.over, met_at);
            self.levels.met[index] = self.cheapest_between(*group, bracket, choice, &mut offers, &|_| false);
        }
        if self.levels.met.is_empty() && !self.is_for_cheapest {
            self.refine_slower(all, offers);
        }
    }

    fn refine_slower(&mut self, all: BTreeMap<Group, Trials>, mut offers: impl FnMut(f64) -> Vec<Candidate>) {
        let assessor = self.assessor;
        let Some(bound) = assessor.required.slower_bound(&self.levels.slower) else { return };
        let is_as_fast = |choice: &Choice| choice.meets() && assessor.required.is_within(&bound, choice);
        let Some(mut best) = assessor.required.best_of_slower(&self.levels.slower).and_then(storage_price) else {
            return;
        };
        for (group, Trials { mut misses, .. }) in all {
            misses.sort_by(|a, b| a.over.total_cmp(&b.over));
            let suffices = |miss: &Miss| miss.slower.filter(|index| is_as_fast(&self.levels.slower[*index]));
            let Some((first, index)) = (1..misses.len()).find_map(|at| Some((at, suffices(&misses[at])?))) else {
                continue;
            };
            // An insufficient candidate is a lower bound of the price.
            if suffices(&misses[0]).is_some() || misses[first - 1].cost >= best {
                continue;
            }
            let bracket = (misses[first - 1].over, misses[first].over);
            let choice = self.levels.slower[index].clone();
            let refined = self.cheapest_between(group, bracket, choice, &mut offers, &is_as_fast);
            best = storage_price(&refined).map_or(best, |price| price.min(best));
            self.levels.slower.push(refined);
        }
    }

    /// The cheapest choice between a headroom that does not suffice and that of `choice`, which does: of those that meet
    /// the objectives, and of those that are slower than today, but sufficient by `is_as_fast`.
    ///
    /// Tried rates are the same for all demands, and options are then lowered by themselves to their smallest step, so
    /// that a lower demand, with another mix, finds the configurations of a higher one.
    fn cheapest_between(
        &self,
        group: Group,
        (missed_at, met_at): (f64, f64),
        choice: Choice,
        offers: &mut impl FnMut(f64) -> Vec<Candidate>,
        is_as_fast: &dyn Fn(&Choice) -> bool,
    ) -> Choice {
        let sufficient = |candidate: Candidate| match self.assess(candidate) {
            Assessed::Meets(choice) => Some(*choice),
            Assessed::Misses { choice, .. } => Some(*choice).filter(is_as_fast),
            Assessed::Fails(_) => None,
        };
        let rate = self.assessor.required.points[0].iops() * self.assessor.required.room();
        let step = |over: f64| (over * rate).ln() / RATE_STEP.ln();
        let (mut low, mut high) = (step(missed_at).floor() as i32, step(met_at).ceil() as i32);
        let mut best = choice;
        while high.saturating_sub(low) > 1 {
            let middle = i32::midpoint(low, high);
            let candidate = offers(RATE_STEP.powi(middle) / rate).into_iter().find(|one| one.group == group);
            match candidate.and_then(sufficient) {
                Some(choice) => {
                    high = middle;
                    best = cheaper(best, choice);
                }
                None => low = middle,
            }
        }
        let lowered = RefCell::new(best.clone());
        let suffices = |offer: &Offer| {
            let found = self.has_room(offer).then(|| sufficient(Candidate::new(offer.clone(), group, self.assessor)));
            let found = found.flatten();
            let is_sufficient = found.is_some();
            if let Some(choice) = found {
                lowered.replace_with(|best| cheaper(best.clone(), choice));
            }
            is_sufficient
        };
        lower_options(self.assessor, &best.offer, &suffices);
        lowered.into_inner()
    }

    /// True if the capacity and the ceilings of an offer suffice.
    fn has_room(&self, offer: &Offer) -> bool {
        let demand = self.assessor.required;
        let is_allowed = |tight: TightBound| tight.allows(demand.room());
        offer.capacity >= demand.capacity && self.assessor.requirements.tightest(offer).is_none_or(is_allowed)
    }

    fn missed(&mut self, (group, cost): (Group, f64), choice: Box<Choice>) {
        let slower = choice.meets().then_some(self.levels.slower.len());
        if let Some(limit) = &choice.binds {
            self.trials.entry(group).or_default().misses.push(Miss { over: limit.over, cost, slower });
        }
        if slower.is_some() {
            self.levels.slower.push(*choice);
        } else if self.nearly.as_ref().is_none_or(|nearest| choice.miss() < nearest.miss()) {
            self.nearly = Some(choice);
        }
    }

    /// Attaches an offer to a machine and assesses it.
    fn assess(&self, candidate: Candidate) -> Assessed {
        let Candidate { offer, price, .. } = candidate;
        // Without a place for those that are slower, neither their machines nor their percentiles are needed.
        if self.is_for_cheapest
            && let Some(missed) = self.assessor.find_slower(&offer, price.clone())
        {
            self.assessed.borrow_mut().insert(offer.short().to_string(), missed.clone());
            return missed;
        }
        let machine = match self.attach(&offer) {
            Ok(machine) => machine,
            Err(rejection) => return Assessed::Fails(rejection),
        };
        let reduced = machine.as_ref().and_then(|machine| within_machine(self.assessor, &offer, machine));
        let (Some(reduced), Some(fleet)) = (reduced, self.fleet(&offer)) else {
            return self.assess_on(&offer, price, machine);
        };
        // The machine does not carry all of the offer: less of it, otherwise a machine that does.
        let reduced_price = price_of(&reduced, self.assessor.terms);
        let on_same = fleet.cheapest(self.assessor, &reduced).ok();
        let assessed = self.assess_on(&reduced, reduced_price, on_same);
        match (&assessed, fleet.carrying(self.assessor, &offer)) {
            (Assessed::Meets(_), _) | (_, Err(_)) => assessed,
            (_, Ok(larger)) => self.assess_on(&offer, price, Some(larger)),
        }
    }

    fn assess_on(&self, offer: &Offer, price: Option<Price>, machine: Option<Attachment>) -> Assessed {
        let mut assessed = self.assess_once(offer, price);
        if let Assessed::Meets(choice) | Assessed::Misses { choice, .. } = &mut assessed {
            choice.risks.extend(machine.iter().flat_map(Attachment::price_risks));
            choice.machine = machine;
        }
        assessed
    }

    fn is_assessed(&self, offer: &Offer) -> bool {
        self.assessed.borrow().contains_key(&offer.short().to_string())
    }

    fn assess_once(&self, offer: &Offer, price: Option<Price>) -> Assessed {
        let config = offer.short().to_string();
        if let Some(assessed) = self.assessed.borrow().get(&config) {
            return assessed.clone();
        }
        let assessed = self.assessor.assess(offer, price);
        self.assessed.borrow_mut().insert(config, assessed.clone());
        assessed
    }

    fn attach(&self, offer: &Offer) -> Result<Option<Attachment>, Rejection> {
        self.fleet(offer).map(|fleet| fleet.cheapest(self.assessor, offer)).transpose()
    }

    fn fleet(&self, offer: &Offer) -> Option<&Fleet> {
        self.fleet.get_or_init(|| Fleet::of(self.assessor, offer)).as_ref()
    }

    /// True if no candidate met the objectives, and higher ceilings may help: a ceiling binds, and the last ones reduced the
    /// least database time of the candidates that are slower than today.
    pub(super) fn may_improve(&mut self) -> bool {
        let is_open = |trials: &Trials| trials.is_bound && !trials.is_closed;
        let least = self.assessor.required.slower_bound(&self.levels.slower).map_or(f64::INFINITY, |bound| bound.least);
        let is_less = least.is_infinite() || least < self.least * FASTER;
        self.least = least;
        self.levels.met.is_empty() && is_less && self.trials.values().any(is_open)
    }

    pub(super) fn cheapest(&self) -> Option<&Choice> {
        self.levels.met.iter().min_by(|a, b| by_rank_in_product(a, b))
    }

    /// The place of the product and its levels in the result.
    pub(super) fn finish(self, product: &Product) -> Found {
        let mut found = Found::default();
        if let Some(cheapest) = self.cheapest() {
            found.choices.push(cheapest.clone());
        } else if let Some(best) = self.assessor.required.best_of_slower(&self.levels.slower) {
            found.slower.push(best.clone());
        } else if let Some(choice) = self.nearly {
            found.nearly.push(*choice);
        } else {
            let no_configuration =
                || Rejection { name: product.name().into(), reason: RejectionReason::Excluded(Exclusion::Invalid) };
            found.rejected.push(self.rejected.unwrap_or_else(no_configuration));
        }
        Found { levels: self.levels, ..found }
    }
}
