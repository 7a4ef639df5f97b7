//! The cheapest configurations of a product with sufficient ceilings, found by raising options step by step.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_catalogue::{
    Ask, Catalogue, Ceiling, Chosen, Config, ConfigRefusal, Offer, Part, PriceTerms, Product, ProductKind, Setting,
    Wrap,
};
use plimsoll_model::Layout;
use plimsoll_units::Bytes;

use crate::candidate::{FEW, OptionValues, Owner, highest, lowest, option, with};
use crate::requirements::{Requirements, TightBound};

/// Headroom factors: queues at a ceiling grow without bound.
pub(crate) const ROOM: [f64; 2] = [1.1, 1.4];
/// Maximum options raised in succession.
const MAX_RAISED: u32 = 6;
/// Stripe widths tried if a single volume is insufficient, and their interleave.
const STRIPES: [u32; 3] = [2, 4, MAX_MEMBERS];
const MAX_MEMBERS: u32 = 8;
const INTERLEAVE: Bytes = Bytes::kib(64);
/// The option that pays for operations, in products billed by operations.
const PAID_OPERATIONS: &str = "monthly_operations";

/// The reason why a product has no configuration for a capacity or a load.
#[derive(Clone, Debug, PartialEq)]
pub enum NoConfiguration {
    /// No size of the product holds the capacity.
    Capacity(Bytes),
    /// Its fixed capacity, which is smaller than the required one.
    Holds(Bytes),
    /// Its ceilings are insufficient, even in a stripe of this many volumes.
    Ceilings(u32),
    /// The catalogue refuses its configuration.
    Refused(Box<ConfigRefusal>),
}

/// The goal of a search for configurations.
pub(crate) struct Goal<'a> {
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) terms: &'a PriceTerms,
    pub(crate) requirements: &'a Requirements,
    /// Minimum total capacity.
    pub(crate) capacity: Bytes,
    /// Headroom factors; each is searched separately.
    pub(crate) rooms: &'a [f64],
    /// The machine to which volumes are attached.
    pub(crate) machine: Option<&'a Part>,
    /// Operations per month, if known.
    pub(crate) monthly_operations: Option<f64>,
    /// Options with their values, for products that have them. They are not raised.
    pub(crate) settings: &'a [(String, String)],
}

#[derive(Default)]
pub(crate) struct ClimbResult {
    /// Sufficient offers, each with the indices of its headroom and of its level.
    pub(crate) offers: Vec<((usize, usize), Offer)>,
    /// The nearest insufficient offer and its tightest ceiling, if none suffices at the first headroom.
    pub(crate) nearest: Option<(TightBound, Offer)>,
}

impl ClimbResult {
    /// Adds the offers of another width, and its nearest miss if that is nearer.
    pub(crate) fn merge(&mut self, other: Self) {
        self.offers.extend(other.offers);
        let over = |nearest: &Option<(TightBound, Offer)>| nearest.as_ref().map_or(0.0, |(tight, _)| tight.over);
        if over(&other.nearest) > over(&self.nearest) {
            self.nearest = other.nearest;
        }
    }
}

/// The smallest sufficient configurations of a product, one for each of its levels: single, or striped if no single
/// volume suffices.
pub(crate) fn list_offers(goal: &Goal<'_>, product: &Product) -> Result<Vec<Offer>, NoConfiguration> {
    let plain = |found: ClimbResult| {
        let mut observed = BTreeSet::new();
        let offers = found.offers.into_iter().map(|(_, offer)| offer);
        offers.filter(|offer| observed.insert(offer.config.to_string())).collect::<Vec<Offer>>()
    };
    let single = plain(of_width(goal, product, 1)?);
    if !single.is_empty() || matches!(product.kind(), ProductKind::Server | ProductKind::Array | ProductKind::Managed) {
        return Ok(single);
    }
    for members in STRIPES {
        let striped = of_width(goal, product, members).map(plain).unwrap_or_default();
        if !striped.is_empty() {
            return Ok(striped);
        }
    }
    Err(NoConfiguration::Ceilings(MAX_MEMBERS))
}

/// The smallest configurations of a single volume of `product` with this capacity whose ceilings allow `room` times the
/// operations per second of each mix. The mixes occur at different times, and none is empty.
///
/// # Errors
/// No configuration of the product has the capacity.
pub fn sufficient_offers(
    catalogue: &Catalogue,
    product: &Product,
    capacity: Bytes,
    mixes: Vec<Vec<(Ask, f64)>>,
    room: f64,
    terms: &PriceTerms,
) -> Result<Vec<Offer>, NoConfiguration> {
    let requirements = Requirements::of(mixes);
    let goal = Goal {
        catalogue,
        terms,
        requirements: &requirements,
        capacity,
        rooms: &[room],
        machine: None,
        monthly_operations: None,
        settings: &[],
    };
    Ok(of_width(&goal, product, 1)?.offers.into_iter().map(|(_, offer)| offer).collect())
}

/// The smallest sufficient configurations of this width, one for each level and headroom.
pub(crate) fn of_width(goal: &Goal<'_>, product: &Product, members: u32) -> Result<ClimbResult, NoConfiguration> {
    let start = goal.start(product, members)?;
    if start.capacity < goal.capacity {
        return Err(NoConfiguration::Holds(start.capacity));
    }
    let mut found = ClimbResult::default();
    for (level, offer) in goal.levels(&start).into_iter().enumerate() {
        for room in 0..goal.rooms.len() {
            let mut climb = Climb { goal, room, level, found: &mut found };
            climb.from(&offer, MAX_RAISED);
        }
    }
    Ok(found)
}

impl Goal<'_> {
    /// The smallest configuration with the capacity.
    fn start(&self, product: &Product, members: u32) -> Result<Offer, NoConfiguration> {
        let each = Bytes::new(self.capacity.get().div_ceil(u64::from(members)));
        let mut volume = Part { product: product.name().into(), settings: Vec::new() };
        if product.has_size() {
            let size = product.smallest_size(each).ok_or(NoConfiguration::Capacity(each))?;
            volume.settings.push(Setting::Option { name: "size".into(), value: format!("{size}") });
        }
        let wraps = (members > 1).then_some(Wrap::Array { layout: Layout::Stripe, members, interleave: INTERLEAVE });
        let mut config = Config { wraps: wraps.into_iter().collect(), volume, machine: self.machine.cloned() };
        let mut offer =
            self.catalogue.offer(&config, self.terms).map_err(|refusal| NoConfiguration::Refused(refusal.into()))?;
        if let Some(operations) = self.monthly_operations.filter(|_| option(&offer, PAID_OPERATIONS).is_some()) {
            let per_volume = (operations / f64::from(members)).ceil();
            config = with(&config, Owner::Volume, PAID_OPERATIONS, &format!("{per_volume}"));
            offer = self
                .catalogue
                .offer(&config, self.terms)
                .map_err(|refusal| NoConfiguration::Refused(refusal.into()))?;
        }
        for (name, value) in self.settings {
            if option(&offer, name).is_some() {
                config = with(&config, Owner::Volume, name, value);
                offer = self
                    .catalogue
                    .offer(&config, self.terms)
                    .map_err(|refusal| NoConfiguration::Refused(refusal.into()))?;
            }
        }
        Ok(offer)
    }

    /// The configuration as it is, and with each value of its first option with few values that raises some ceiling: an
    /// explicit tier limits the size, while a tier that follows the size does not.
    fn levels(&self, start: &Offer) -> Vec<Offer> {
        let named = start.ceilings.iter().flat_map(|ceiling| self.raising(ceiling));
        let options = named.filter_map(|name| option(start, name)).filter(|(owner, _)| *owner == Owner::Volume);
        let few =
            options.map(|(_, chosen)| chosen).find(|chosen| (2..=FEW).contains(&OptionValues::all(chosen).count()));
        let Some(chosen) = few else { return vec![start.clone()] };
        let values = OptionValues::all(chosen);
        let at = |n| {
            let config = with(&start.short(), Owner::Volume, &chosen.name, &values.value(n));
            self.catalogue.offer(&config, self.terms).ok()
        };
        std::iter::once(start.clone()).chain((1..=values.count()).filter_map(at)).collect()
    }

    /// The options that raise a ceiling and have no given value.
    fn raising<'c>(&self, ceiling: &'c Ceiling) -> impl Iterator<Item = &'c Arc<str>> {
        ceiling.lift.iter().filter(|name| !self.is_given(name))
    }

    fn is_given(&self, name: &str) -> bool {
        self.settings.iter().any(|(given, _)| given == name)
    }
}

/// Raises the options named by the tightest ceiling until all ceilings suffice, following every alternative.
struct Climb<'a, 'g> {
    goal: &'a Goal<'g>,
    room: usize,
    level: usize,
    found: &'a mut ClimbResult,
}

impl Climb<'_, '_> {
    fn from(&mut self, offer: &Offer, left: u32) {
        let Some(tight) =
            self.goal.requirements.tightest(offer).filter(|tight| !tight.allows(self.goal.rooms[self.room]))
        else {
            return self.found.offers.push(((self.room, self.level), offer.clone()));
        };
        if left == 0 {
            return;
        }
        let ceiling = &offer.ceilings[tight.bound.ceiling];
        let mut raised: Vec<Offer> =
            self.goal.raising(ceiling).filter_map(|name| self.lifted(offer, name, &ceiling.name)).collect();
        if raised.is_empty() {
            raised = self.opened(offer, ceiling);
        }
        if raised.is_empty() && self.found.offers.is_empty() {
            self.missed(offer, tight, MAX_RAISED);
        }
        for raised in raised {
            self.from(&raised, left - 1);
        }
    }

    /// Records the nearest insufficient offer, with the options of its ceilings at their maximum as far as that helps.
    fn missed(&mut self, offer: &Offer, tight: TightBound, left: u32) {
        if tight.allows(self.goal.rooms[self.room]) {
            // Options that limit each other suffice only together.
            return self.found.offers.push(((self.room, self.level), offer.clone()));
        }
        let ceiling = &offer.ceilings[tight.bound.ceiling];
        let max = |name: &Arc<str>| {
            let (owner, chosen) = option(offer, name)?;
            let raised = highest(self.goal.catalogue, self.goal.terms, (&offer.short(), owner, chosen))?;
            Some((self.goal.requirements.tightest(&raised)?, raised))
        };
        let higher = self.goal.raising(ceiling).filter_map(max).filter(|(raised, _)| raised.over > tight.over);
        match higher.max_by(|a, b| a.0.over.total_cmp(&b.0.over)) {
            Some((tight, raised)) if left > 0 => self.missed(&raised, tight, left - 1),
            _ => {
                let nearer = self.found.nearest.as_ref().is_none_or(|(nearest, _)| tight.over > nearest.over);
                if nearer {
                    self.found.nearest = Some((tight, offer.clone()));
                }
            }
        }
    }

    /// The lowest value of an option at which the named ceiling suffices.
    fn lifted(&self, offer: &Offer, option_name: &str, ceiling: &str) -> Option<Offer> {
        let enough = |raised: &Offer| {
            let of_it = |tight: &&TightBound| *raised.ceilings[tight.bound.ceiling].name == *ceiling;
            self.goal
                .requirements
                .bounds(raised)
                .iter()
                .find(of_it)
                .is_none_or(|tight| tight.allows(self.goal.rooms[self.room]))
        };
        let (owner, chosen) = option(offer, option_name)?;
        lowest(self.goal.catalogue, self.goal.terms, (&offer.short(), owner, chosen), &enough)
    }

    /// The range of an option can depend on others, such as the size: the lowest value of each of these at which one of
    /// the other options can lift the ceiling.
    fn opened(&self, offer: &Offer, ceiling: &Ceiling) -> Vec<Offer> {
        let opening = |chosen: &Chosen| {
            let rest = || self.goal.raising(ceiling).filter(|name| **name != chosen.name);
            let liftable = |raised: &Offer| rest().any(|name| self.lifted(raised, name, &ceiling.name).is_some());
            lowest(self.goal.catalogue, self.goal.terms, (&offer.short(), Owner::Volume, chosen), &liftable)
        };
        offer.options.iter().filter(|chosen| !self.goal.is_given(&chosen.name)).filter_map(opening).collect()
    }
}
