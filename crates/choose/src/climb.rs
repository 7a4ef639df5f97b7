//! The least configurations of a product whose ceilings suffice: raised, option by option, until none is below.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use plimsoll_catalogue::{Catalogue, Ceiling, Chosen, Config, Offer, Part, Product, ProductKind, Setting, Terms, Wrap};
use plimsoll_model::Layout;
use plimsoll_units::Bytes;

use crate::asked::{Asked, Tight};
use crate::candidate::{FEW, Rungs, Whose, highest, lowest, option, with};

/// Ceilings at what is needed queue without end: they are taken at these multiples of it.
pub(crate) const ROOM: [f64; 2] = [1.1, 1.4];
/// How many options are raised one after the other.
const MOST_RAISED: u32 = 6;
/// Widths of stripes that are tried where one volume is not enough, and their interleave.
const STRIPES: [u32; 3] = [2, 4, 8];
const INTERLEAVE: Bytes = Bytes::kib(64);
/// The option by which operations are paid for, of products whose price hangs on them.
const PAID_OPERATIONS: &str = "monthly_operations";

/// What configurations are looked for.
pub(crate) struct Goal<'a> {
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) terms: &'a Terms,
    pub(crate) asked: &'a Asked,
    /// What has to fit on the whole.
    pub(crate) capacity: Bytes,
    /// What ceilings have to allow over what is asked, each on its own.
    pub(crate) rooms: &'a [f64],
    /// The machine that volumes are attached to.
    pub(crate) machine: Option<&'a Part>,
    /// Operations of a month, where they are known.
    pub(crate) monthly_operations: Option<f64>,
}

/// What was found of a product.
#[derive(Default)]
pub(crate) struct Found {
    /// Offers that suffice, each with the numbers of the room and of the level that it was looked for with.
    pub(crate) offers: Vec<((usize, usize), Offer)>,
    /// What came nearest where nothing suffices at the first room, with the ceiling that it fails by.
    pub(crate) nearest: Option<(Tight, Offer)>,
}

/// The least configurations of a product whose ceilings suffice, one for each level that it has: single, or striped where
/// single ones do not suffice.
pub(crate) fn offers(goal: &Goal<'_>, product: &Product) -> Result<Vec<Offer>, String> {
    let plain = |found: Found| {
        let mut seen = BTreeSet::new();
        let offers = found.offers.into_iter().map(|(_, offer)| offer);
        offers.filter(|offer| seen.insert(offer.config.to_string())).collect::<Vec<Offer>>()
    };
    let single = plain(of_width(goal, product, 1)?);
    if !single.is_empty() || product.kind() == ProductKind::Server {
        return Ok(single);
    }
    for members in STRIPES {
        let striped = of_width(goal, product, members).map(plain).unwrap_or_default();
        if !striped.is_empty() {
            return Ok(striped);
        }
    }
    Err("no configuration of it, striped over 8 or not, has ceilings that high".into())
}

/// The least configurations of so many volumes whose ceilings suffice, one for each level and room.
pub(crate) fn of_width(goal: &Goal<'_>, product: &Product, members: u32) -> Result<Found, String> {
    let start = goal.start(product, members)?;
    if start.capacity < goal.capacity {
        return Err(format!("it holds {}", start.capacity));
    }
    let mut found = Found::default();
    for (level, offer) in levels(goal.catalogue, &start, goal.terms).into_iter().enumerate() {
        for room in 0..goal.rooms.len() {
            let mut climb = Climb { goal, room, level, found: &mut found };
            climb.from(&offer, MOST_RAISED);
        }
    }
    Ok(found)
}

impl Goal<'_> {
    /// The smallest that holds the capacity.
    fn start(&self, product: &Product, members: u32) -> Result<Offer, String> {
        let each = Bytes::new(self.capacity.get().div_ceil(u64::from(members)));
        let mut volume = Part { product: product.name().into(), settings: Vec::new() };
        if product.has_size() {
            let size = product.smallest_size(each).ok_or_else(|| format!("it cannot hold {each}"))?;
            volume.settings.push(Setting::Option { name: "size".into(), value: format!("{size}") });
        }
        let wraps = (members > 1).then_some(Wrap::Array { layout: Layout::Stripe, members, interleave: INTERLEAVE });
        let mut config = Config { wraps: wraps.into_iter().collect(), volume, machine: self.machine.cloned() };
        let mut offer = self.catalogue.offer(&config, self.terms).map_err(|refusal| refusal.to_string())?;
        if let Some(operations) = self.monthly_operations.filter(|_| option(&offer, PAID_OPERATIONS).is_some()) {
            let of_one = (operations / f64::from(members)).ceil();
            config = with(&config, Whose::Volume, PAID_OPERATIONS, &format!("{of_one}"));
            offer = self.catalogue.offer(&config, self.terms).map_err(|refusal| refusal.to_string())?;
        }
        Ok(offer)
    }
}

/// The configuration as it is, and at each value of its first option of few values that some ceiling names: a tier
/// that was chosen binds the size, and one that follows the size does not.
fn levels(catalogue: &Catalogue, start: &Offer, terms: &Terms) -> Vec<Offer> {
    let named = start.ceilings.iter().flat_map(|ceiling| ceiling.lift.iter());
    let options = named.filter_map(|name| option(start, name)).filter(|(whose, _)| *whose == Whose::Volume);
    let few = options.map(|(_, chosen)| chosen).find(|chosen| (2..=FEW).contains(&Rungs::all(chosen).count()));
    let Some(chosen) = few else { return vec![start.clone()] };
    let rungs = Rungs::all(chosen);
    let at = |n| catalogue.offer(&with(&start.config, Whose::Volume, &chosen.name, &rungs.value(n)), terms).ok();
    std::iter::once(start.clone()).chain((1..=rungs.count()).filter_map(at)).collect()
}

/// Raises what the lowest ceiling names until none is below what is needed; every way to do it is followed.
struct Climb<'a, 'g> {
    goal: &'a Goal<'g>,
    /// Their numbers.
    room: usize,
    level: usize,
    found: &'a mut Found,
}

impl Climb<'_, '_> {
    fn from(&mut self, offer: &Offer, left: u32) {
        let Some(tight) = self.goal.asked.tightest(offer).filter(|tight| !tight.allows(self.goal.rooms[self.room]))
        else {
            return self.found.offers.push(((self.room, self.level), offer.clone()));
        };
        if left == 0 {
            return;
        }
        let ceiling = &offer.ceilings[tight.bound.ceiling];
        let mut raised: Vec<Offer> =
            ceiling.lift.iter().filter_map(|name| self.lifted(offer, name, &ceiling.name)).collect();
        if raised.is_empty() {
            raised = self.opened(offer, ceiling);
        }
        if raised.is_empty() && self.found.offers.is_empty() {
            self.missed(offer, tight, MOST_RAISED);
        }
        for raised in raised {
            self.from(&raised, left - 1);
        }
    }

    /// Keeps what came nearest: with all that lifts its ceilings at the most, as far as that helps.
    fn missed(&mut self, offer: &Offer, tight: Tight, left: u32) {
        let ceiling = &offer.ceilings[tight.bound.ceiling];
        let most = |name: &std::sync::Arc<str>| {
            let (whose, chosen) = option(offer, name)?;
            let raised = highest(self.goal.catalogue, self.goal.terms, (&offer.config, whose, chosen))?;
            Some((self.goal.asked.tightest(&raised)?, raised))
        };
        let higher = ceiling.lift.iter().filter_map(most).filter(|(raised, _)| raised.over > tight.over);
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

    /// The least value of an option at which the ceiling of this name is high enough.
    fn lifted(&self, offer: &Offer, option_name: &str, ceiling: &str) -> Option<Offer> {
        let enough = |raised: &Offer| {
            let of_it = |tight: &&Tight| *raised.ceilings[tight.bound.ceiling].name == *ceiling;
            self.goal
                .asked
                .beside(raised)
                .iter()
                .find(of_it)
                .is_none_or(|tight| tight.allows(self.goal.rooms[self.room]))
        };
        let (whose, chosen) = option(offer, option_name)?;
        lowest(self.goal.catalogue, self.goal.terms, (&offer.config, whose, chosen), &enough)
    }

    /// What an option may be can depend on others, such as the size: the least value of each at which one of the rest
    /// can lift the ceiling.
    fn opened(&self, offer: &Offer, ceiling: &Ceiling) -> Vec<Offer> {
        let opening = |chosen: &Chosen| {
            let rest = || ceiling.lift.iter().filter(|name| **name != chosen.name);
            let liftable = |raised: &Offer| rest().any(|name| self.lifted(raised, name, &ceiling.name).is_some());
            lowest(self.goal.catalogue, self.goal.terms, (&offer.config, Whose::Volume, chosen), &liftable)
        };
        offer.options.iter().filter_map(opening).collect()
    }
}
