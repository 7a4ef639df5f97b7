//! The least configurations of a product whose ceilings suffice: raised, option by option, until none is below.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use plimsoll_catalogue::{
    Ask, Bound, Catalogue, Ceiling, Chosen, Config, Offer, Part, Product, ProductKind, Setting, Terms, Wrap,
};
use plimsoll_model::Layout;
use plimsoll_units::Bytes;

use crate::candidate::{FEW, Rungs, Whose, lowest, option, with};
use crate::need::Need;

/// Ceilings at what is needed queue without end: they are taken at these multiples of it.
pub(crate) const ROOM: [f64; 2] = [1.1, 1.4];
/// How many options are raised one after the other.
const MOST_RAISED: u32 = 6;
/// Widths of stripes that are tried where one volume is not enough, and their interleave.
const STRIPES: [u32; 3] = [2, 4, 8];
const INTERLEAVE: Bytes = Bytes::kib(64);

/// The least configurations of a product whose ceilings suffice, one for each level that it has.
pub(crate) fn offers(
    catalogue: &Catalogue,
    product: &Product,
    need: &Need,
    terms: &Terms,
) -> Result<Vec<Offer>, String> {
    let single = widths(catalogue, product, need, terms, 1)?;
    if !single.is_empty() || product.kind() == ProductKind::Server {
        return Ok(single);
    }
    for members in STRIPES {
        let striped = widths(catalogue, product, need, terms, members).unwrap_or_default();
        if !striped.is_empty() {
            return Ok(striped);
        }
    }
    Err("no configuration of it, striped over 8 or not, has ceilings that high".into())
}

fn widths(
    catalogue: &Catalogue,
    product: &Product,
    need: &Need,
    terms: &Terms,
    members: u32,
) -> Result<Vec<Offer>, String> {
    let each = Bytes::new(need.capacity.get().div_ceil(u64::from(members)));
    let mut volume = Part { product: product.name().into(), settings: Vec::new() };
    if product.has_size() {
        let size = product.smallest_size(each).ok_or_else(|| format!("it cannot hold {each}"))?;
        volume.settings.push(Setting::Option { name: "size".into(), value: format!("{size}") });
    }
    let wraps = (members > 1).then_some(Wrap::Array { layout: Layout::Stripe, members, interleave: INTERLEAVE });
    let config = Config { wraps: wraps.into_iter().collect(), volume, machine: None };
    let start = catalogue.offer(&config, terms).map_err(|refusal| refusal.to_string())?;
    if start.capacity < need.capacity {
        return Err(format!("it holds {}", start.capacity));
    }
    let mut found = Vec::new();
    for offer in levels(catalogue, &start, terms) {
        for room in ROOM {
            // 6,000 times 1.1 is 6,600, and no operation more.
            let iops = (need.iops * room * 1e6).round() / 1e6;
            let mut climb = Climb { catalogue, terms, ask: need.ask(), iops, found: Vec::new() };
            climb.from(&offer, MOST_RAISED);
            found.append(&mut climb.found);
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|offer| seen.insert(offer.config.to_string()));
    Ok(found)
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
struct Climb<'a> {
    catalogue: &'a Catalogue,
    terms: &'a Terms,
    ask: Ask,
    /// What no ceiling may be below.
    iops: f64,
    found: Vec<Offer>,
}

impl Climb<'_> {
    fn from(&mut self, offer: &Offer, left: u32) {
        let standing = offer.standing(&self.ask);
        let Some(binding) = standing.binding().filter(|bound| bound.iops < self.iops) else {
            return self.found.push(offer.clone());
        };
        if left == 0 {
            return;
        }
        let ceiling = &offer.ceilings[binding.ceiling];
        let mut raised: Vec<Offer> =
            ceiling.lift.iter().filter_map(|name| self.lifted(offer, name, &ceiling.name)).collect();
        if raised.is_empty() {
            raised = self.opened(offer, ceiling);
        }
        for raised in raised {
            self.from(&raised, left - 1);
        }
    }

    /// The least value of an option at which the ceiling of this name is high enough.
    fn lifted(&self, offer: &Offer, option_name: &str, ceiling: &str) -> Option<Offer> {
        let enough = |raised: &Offer| {
            let same = |bound: &&Bound| *raised.ceilings[bound.ceiling].name == *ceiling;
            raised.standing(&self.ask).bounds.iter().find(same).is_none_or(|bound| bound.iops >= self.iops)
        };
        let (whose, chosen) = option(offer, option_name)?;
        lowest(self.catalogue, self.terms, (&offer.config, whose, chosen), &enough)
    }

    /// What an option may be can depend on others, such as the size: the least value of each at which one of the rest
    /// can lift the ceiling.
    fn opened(&self, offer: &Offer, ceiling: &Ceiling) -> Vec<Offer> {
        let opening = |chosen: &Chosen| {
            let rest = || ceiling.lift.iter().filter(|name| **name != chosen.name);
            let liftable = |raised: &Offer| rest().any(|name| self.lifted(raised, name, &ceiling.name).is_some());
            lowest(self.catalogue, self.terms, (&offer.config, Whose::Volume, chosen), &liftable)
        };
        offer.options.iter().filter_map(opening).collect()
    }
}
