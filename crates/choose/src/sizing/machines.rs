//! Which machines of a volume's provider let the design point through.

use plimsoll_catalogue::{Chosen, Config, Offer, Part, Product, ProductKind, Setting};

use super::Machines;
use super::assess::Assessor;

/// How many are named.
const NAMED: usize = 3;

/// Every machine of the provider with the volume at it: where a machine can be had larger, the smallest that suffices.
pub(super) fn machines(assessor: &Assessor<'_>, offer: &Offer) -> Option<Machines> {
    if offer.config.machine.is_some() || offer.product().kind() != ProductKind::Volume {
        return None;
    }
    let (provider, _) = offer.config.volume.product.split_once('/')?;
    let families = assessor.catalogue.products().filter(|product| product.kind() == ProductKind::Machine);
    let names: Vec<String> =
        families.filter(|family| family.name().eq_ignore_ascii_case(provider)).flat_map(Product::machines).collect();
    let mut enough: Vec<(f64, String)> = names.iter().filter_map(|name| suffices(assessor, offer, name)).collect();
    enough.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    (!names.is_empty()).then(|| Machines {
        enough: enough.len(),
        of: names.len(),
        least: enough.into_iter().take(NAMED).map(|(_, name)| name).collect(),
    })
}

/// The machine, as large as it has to be, with what its own ceilings allow.
fn suffices(assessor: &Assessor<'_>, offer: &Offer, name: &str) -> Option<(f64, String)> {
    let plain = Part { product: name.to_owned(), settings: Vec::new() };
    let at = |machine: Part| {
        let config = Config { machine: Some(machine), ..offer.config.clone() };
        let attached = assessor.catalogue.offer(&config, assessor.terms).ok()?;
        let beside = assessor.asked.beside(&attached);
        let is_own = |ceiling: usize| ceiling >= offer.ceilings.len();
        let own = beside.iter().find(|tight| is_own(tight.bound.ceiling)).map_or(f64::MAX, |tight| tight.over);
        let fits = beside.first().is_none_or(|tight| tight.allows(assessor.wanted.room()));
        fits.then(|| (own, attached.short().machine.map_or_else(|| name.to_owned(), |machine| machine.to_string())))
    };
    at(plain.clone()).or_else(|| larger(assessor, offer, &plain).into_iter().find_map(at))
}

/// The machine with each of its options doubled from the least on, to the most.
fn larger(assessor: &Assessor<'_>, offer: &Offer, machine: &Part) -> Vec<Part> {
    // Any volume of the provider shows what the machine can be: the smallest asks for no machine of some size.
    let volume = Part { product: offer.config.volume.product.clone(), settings: size(offer) };
    let config = Config { wraps: Vec::new(), volume, machine: Some(machine.clone()) };
    let Ok(shown) = assessor.catalogue.offer(&config, assessor.terms) else { return Vec::new() };
    let grown = |chosen: &Chosen| {
        let (Some(low), Some(high)) = (chosen.low, chosen.high) else { return Vec::new() };
        let doubled = std::iter::successors(Some(low.max(1.0) * 2.0), |value| Some(value * 2.0));
        let values = doubled.take_while(|value| *value < high).chain(std::iter::once(high).filter(|high| *high > low));
        let part = |value: f64| Part {
            settings: vec![Setting::Option { name: chosen.name.to_string(), value: format!("{value}") }],
            ..machine.clone()
        };
        values.map(part).collect::<Vec<Part>>()
    };
    shown.machine_options.iter().flat_map(grown).collect()
}

/// The size alone.
fn size(offer: &Offer) -> Vec<Setting> {
    let is_size = |setting: &&Setting| matches!(setting, Setting::Option { name, .. } if name == "size");
    offer.config.volume.settings.iter().filter(is_size).cloned().collect()
}
