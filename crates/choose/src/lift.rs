//! Effect and cost of lifting a limit.

use std::sync::Arc;

use plimsoll_catalogue::{
    Ask, Bound, Catalogue, Chosen, Config, Counts, Money, Offer, OptionValue, Price, PriceTerms, Scope,
};

use crate::candidate::{Owner, has_levels, highest, lowest, option};

/// Relative difference below which ceilings are equal.
const MORE: f64 = 1e-6;

/// A way to lift a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Lift {
    pub option: String,
    /// Present and new value.
    pub change: (String, String),
    /// The configuration afterwards.
    pub config: Config,
    /// Operations per second that the ceilings then allow.
    pub iops: f64,
    /// The ceiling that binds then.
    pub binds: String,
    /// Additional cost per month; `None` if either price is unknown.
    pub costs: Option<Money>,
}

/// Ways to lift a limit of an offer, or the binding limit, for a mix of operations; the cheapest first. Each is the smallest
/// change after which another ceiling binds; if none ever does, the next level, or the maximum of an option without levels.
/// Ceilings below the limit, which bind before it or apply after their credits, are ignored.
pub(crate) fn find_lifts(
    catalogue: &Catalogue,
    offer: &Offer,
    terms: &PriceTerms,
    mix: &[(Ask, f64)],
    limit: Option<(usize, Counts)>,
) -> Vec<Lift> {
    if mix.is_empty() {
        return Vec::new();
    }
    let standing = offer.standing_of(mix);
    let is_limit = |bound: &&Bound| limit.is_none_or(|limit| limit == (bound.ceiling, bound.counts));
    let Some(lifted) = standing.bounds.iter().find(is_limit).copied() else { return Vec::new() };
    let (name, iops) = (ceiling_name(offer, &lifted), lifted.iops);
    let is_lower = |bound: &&Bound| bound.iops < iops * (1.0 - MORE);
    let lower: Vec<_> = standing.bounds.iter().filter(is_lower).map(|bound| identify(offer, bound)).collect();
    let bound = |offer: &Offer| {
        let bounds = offer.standing_of(mix).bounds;
        let bound = bounds.into_iter().find(|bound| !lower.contains(&identify(offer, bound)))?;
        Some((ceiling_name(offer, &bound), bound.iops))
    };
    // Without defaults, which may depend on the option that changes.
    let short = offer.short();
    // The next value may replace a limit by another of the same name.
    let another =
        |raised: &Offer| bound(raised).is_some_and(|(other, higher)| higher > iops * (1.0 + MORE) && other != name);
    let higher = |raised: &Offer| bound(raised).is_some_and(|(_, higher)| higher > iops * (1.0 + MORE));
    let way = |option_name: &str| -> Option<Lift> {
        let (owner, chosen) = option(offer, option_name)?;
        let place = (&short, owner, chosen);
        let level = || if has_levels(chosen) { lowest(catalogue, terms, place, &higher) } else { None };
        let max = || if has_levels(chosen) { None } else { highest(catalogue, terms, place) };
        let furthest = lowest(catalogue, terms, place, &another).or_else(level).or_else(max)?;
        let (binds, reached) = bound(&furthest).filter(|(_, reached)| *reached > iops * (1.0 + MORE))?;
        let as_high = |raised: &Offer| bound(raised).is_some_and(|(_, own)| own >= reached * (1.0 - MORE));
        let raised = lowest(catalogue, terms, place, &as_high).unwrap_or(furthest);
        // Also the ignored ceilings, of which one may bind after its credits.
        let binding = *raised.standing_of(mix).binding()?;
        let is_ignored = binding.iops < reached * (1.0 - MORE);
        let (binds, iops) = if is_ignored { (ceiling_name(&raised, &binding), binding.iops) } else { (binds, reached) };
        Some(describe(offer, &raised, (option_name, owner), (binds.to_string(), iops)))
    };
    let mut lifts: Vec<Lift> = offer.ceilings[lifted.ceiling].lift.iter().filter_map(|name| way(name)).collect();
    lifts.sort_by_key(|lift| lift.costs.map_or(i128::MAX, |money| money.millionths));
    lifts
}

fn ceiling_name(offer: &Offer, bound: &Bound) -> Arc<str> {
    Arc::clone(&offer.ceilings[bound.ceiling].name)
}

/// A bound in all configurations of a product.
fn identify(offer: &Offer, bound: &Bound) -> (Arc<str>, Scope, Counts) {
    (ceiling_name(offer, bound), offer.ceilings[bound.ceiling].scope, bound.counts)
}

fn describe(before: &Offer, after: &Offer, (name, owner): (&str, Owner), (binds, iops): (String, f64)) -> Lift {
    let displayed = |offer: &Offer| option(offer, name).map(|(_, chosen)| value_of(chosen)).unwrap_or_default();
    // A component without a price can depend on the option; only a machine does not depend on options of the volume.
    let machine = after.machine_shape().map(|shape| shape.name);
    let is_of_machine = |part: &String| machine.as_ref().is_some_and(|name| part.ends_with(&**name));
    let is_alike = |before: &Price, after: &Price| {
        let all_priced = after.without.iter().all(|part| owner == Owner::Volume && is_of_machine(part));
        before.monthly.currency == after.monthly.currency && before.without == after.without && all_priced
    };
    let costs = match (before.price(), after.price()) {
        (Ok(before), Ok(after)) if is_alike(&before, &after) => Some(Money {
            millionths: after.monthly.millionths - before.monthly.millionths,
            currency: after.monthly.currency,
        }),
        _ => None,
    };
    Lift {
        option: name.into(),
        change: (displayed(before), displayed(after)),
        config: after.config.clone(),
        iops,
        binds,
        costs,
    }
}

/// An option's value for display.
fn value_of(chosen: &Chosen) -> String {
    match &chosen.value {
        Some(OptionValue::Number(number)) => format!("{number}"),
        Some(OptionValue::Text(word)) => word.to_string(),
        None => "none".into(),
    }
}
