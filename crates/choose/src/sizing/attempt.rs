//! Trials of a product's candidates, and their place in the result: choice, slower than today, near miss, rejection.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use plimsoll_catalogue::{Offer, Price, Product};

use super::assess::{Assessed, Assessor};
use super::candidates::{Candidate, Group};
use super::frontier::by_rank;
use super::machines::{Fleet, within_machine};
use super::{Attachment, Choice, Rejection, RejectionReason, Risk, RiskKind};
use crate::matching::price_of;

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
    /// A rejected product.
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

/// The cheapest of a choice and others.
fn cheapest_of(choice: Choice, others: Vec<Choice>) -> Choice {
    others.into_iter().fold(choice, |best, other| if by_rank(&other, &best).is_lt() { other } else { best })
}

/// Ratio of neighbouring rates between which a ceiling is refined.
const RATE_STEP: f64 = 1.05;

/// Headrooms between which the smallest sufficient one of a group lies.
struct HeadroomBounds {
    /// That of the last candidate that missed an objective because of a ceiling.
    missed_at: f64,
    /// Index of the group's choice, and its headroom.
    choice: Option<(usize, f64)>,
}

/// A candidate that misses an objective or is slower than today.
struct Miss {
    /// Its headroom.
    over: f64,
    /// Its index in the choices that are slower than today, if it meets the objectives.
    slower: Option<usize>,
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
    /// Headroom of the last candidate that missed an objective because of a ceiling.
    held_at: Option<f64>,
    /// Groups with a choice, and groups too slow in any size.
    closed: BTreeSet<Group>,
    /// Groups with a candidate that missed an objective because of a ceiling.
    bounds: BTreeMap<Group, HeadroomBounds>,
    /// Candidates without a place in `levels.met`, by group.
    misses: BTreeMap<Group, Vec<Miss>>,
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
            below: f64::INFINITY,
            is_for_cheapest: false,
            fleet: OnceCell::new(),
            levels: Levels::default(),
            nearly: None,
            rejected: None,
            held_at: None,
            closed: BTreeSet::new(),
            bounds: BTreeMap::new(),
            misses: BTreeMap::new(),
        }
    }

    /// An attempt for the choice with the cheapest storage, below a monthly price.
    pub(super) fn for_cheapest(assessor: &'a Assessor<'a>, below: f64) -> Self {
        Self { below, is_for_cheapest: true, ..Self::new(assessor) }
    }

    /// Tries candidates by price until each group has a candidate that meets the objectives, or is too slow in any
    /// size.
    pub(super) fn try_all(&mut self, candidates: Vec<Candidate>) {
        self.held_at = None;
        for candidate in candidates {
            if self.closed.contains(&candidate.group) || candidate.cost >= self.below {
                continue;
            }
            let Candidate { group, cost, .. } = candidate;
            match self.assess(candidate) {
                Assessed::Meets(choice) => {
                    self.closed.insert(group);
                    if let (Some(bounds), Some(limit)) = (self.bounds.get_mut(&group), &choice.binds) {
                        bounds.choice = Some((self.levels.met.len(), limit.over));
                    }
                    if self.is_for_cheapest && !choice.has_unverified_price() {
                        self.below = cost;
                    }
                    self.levels.met.push(*choice);
                }
                Assessed::Misses { choice, by_latency } => {
                    self.held_at = choice.binds.as_ref().map(|limit| limit.over).filter(|_| !by_latency);
                    if let Some(missed_at) = self.held_at {
                        self.bounds.insert(group, HeadroomBounds { missed_at, choice: None });
                    }
                    if by_latency {
                        self.closed.insert(group);
                    }
                    self.missed(group, choice);
                }
                Assessed::Fails(rejection) => self.rejected = self.rejected.take().or(Some(rejection)),
            }
        }
    }

    /// Replaces choices whose ceilings were raised in large steps by cheaper ones between the last step that missed an
    /// objective and the first that met all; without such a choice, those that are slower than today, between the last
    /// step that was slower than the best of them and the first as fast. `offers` returns the candidates at a headroom.
    pub(super) fn refine(&mut self, mut offers: impl FnMut(f64) -> Vec<Candidate>) {
        for (group, HeadroomBounds { missed_at, choice }) in std::mem::take(&mut self.bounds) {
            let Some((index, met_at)) = choice else { continue };
            let refined = self.bisect(group, (missed_at, met_at), &mut offers, &|_| false);
            self.levels.met[index] = cheapest_of(self.levels.met[index].clone(), refined);
        }
        if self.levels.met.is_empty() {
            self.refine_slower(offers);
        }
    }

    fn refine_slower(&mut self, mut offers: impl FnMut(f64) -> Vec<Candidate>) {
        let assessor = self.assessor;
        let Some(bound) = assessor.wanted.slower_bound(&self.levels.slower) else { return };
        let is_as_fast = |choice: &Choice| choice.meets() && assessor.wanted.is_within(&bound, choice);
        for (group, mut misses) in std::mem::take(&mut self.misses) {
            misses.sort_by(|a, b| a.over.total_cmp(&b.over));
            let suffices = |miss: &Miss| miss.slower.is_some_and(|index| is_as_fast(&self.levels.slower[index]));
            let Some(first) = misses.iter().position(suffices).filter(|first| *first > 0) else { continue };
            let between = (misses[first - 1].over, misses[first].over);
            let refined = self.bisect(group, between, &mut offers, &is_as_fast);
            self.levels.slower.extend(refined);
        }
    }

    /// The choices between a headroom that does not suffice and one that does: those that meet the objectives, and
    /// those that are slower than today, but sufficient by `is_as_fast`.
    ///
    /// Tried rates are the same for all demands, so that a lower demand does not get a higher rate.
    fn bisect(
        &self,
        group: Group,
        (missed_at, met_at): (f64, f64),
        offers: &mut impl FnMut(f64) -> Vec<Candidate>,
        is_as_fast: &dyn Fn(&Choice) -> bool,
    ) -> Vec<Choice> {
        let rate = self.assessor.wanted.points[0].iops();
        let step = |over: f64| (over * rate).ln() / RATE_STEP.ln();
        let (mut low, mut high) = (step(missed_at).floor() as i32, step(met_at).ceil() as i32);
        let mut found = Vec::new();
        while high.saturating_sub(low) > 1 {
            let middle = i32::midpoint(low, high);
            let candidate = offers(RATE_STEP.powi(middle) / rate).into_iter().find(|one| one.group == group);
            let sufficient = match candidate.map(|candidate| self.assess(candidate)) {
                Some(Assessed::Meets(choice)) => Some(choice),
                Some(Assessed::Misses { choice, .. }) if is_as_fast(&choice) => Some(choice),
                _ => None,
            };
            match sufficient {
                Some(choice) => {
                    high = middle;
                    found.push(*choice);
                }
                None => low = middle,
            }
        }
        found
    }

    fn missed(&mut self, group: Group, choice: Box<Choice>) {
        let slower = choice.meets().then_some(self.levels.slower.len());
        if let Some(limit) = &choice.binds {
            self.misses.entry(group).or_default().push(Miss { over: limit.over, slower });
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
        let mut assessed = self.assessor.assess(offer, price);
        if let Assessed::Meets(choice) | Assessed::Misses { choice, .. } = &mut assessed {
            let price = machine.as_ref().and_then(|machine| machine.price.as_ref());
            let on_demand = price.and_then(Price::commitment_doubt);
            choice.risks.extend(on_demand.map(|doubt| Risk {
                kind: RiskKind::Price,
                text: doubt.text,
                cite: doubt.cite,
            }));
            choice.machine = machine;
        }
        assessed
    }

    fn attach(&self, offer: &Offer) -> Result<Option<Attachment>, Rejection> {
        self.fleet(offer).map(|fleet| fleet.cheapest(self.assessor, offer)).transpose()
    }

    fn fleet(&self, offer: &Offer) -> Option<&Fleet> {
        self.fleet.get_or_init(|| Fleet::of(self.assessor, offer)).as_ref()
    }

    /// Headroom to exceed if no candidate met the objectives and higher ceilings may help: that of the last candidate.
    pub(super) fn held_at(&self) -> Option<f64> {
        if self.levels.met.is_empty() { self.held_at } else { None }
    }

    /// The cheapest choice.
    pub(super) fn cheapest(&self) -> Option<&Choice> {
        self.levels.met.iter().min_by(|a, b| by_rank(a, b))
    }

    /// The place of the product and its levels in the result.
    pub(super) fn finish(self, product: &Product) -> Found {
        let mut found = Found::default();
        if let Some(cheapest) = self.cheapest() {
            found.choices.push(cheapest.clone());
        } else if let Some(best) = self.assessor.wanted.best_of_slower(&self.levels.slower) {
            found.slower.push(best.clone());
        } else if let Some(choice) = self.nearly {
            found.nearly.push(*choice);
        } else {
            let no_configuration = || Rejection {
                name: product.name().into(),
                reason: RejectionReason::Refused("it has no valid configuration".into()),
            };
            found.rejected.push(self.rejected.unwrap_or_else(no_configuration));
        }
        Found { levels: self.levels, ..found }
    }
}
