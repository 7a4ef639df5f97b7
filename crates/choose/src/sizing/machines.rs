//! Machines of a volume's provider: the cheapest with sufficient limits for the design point.

use plimsoll_catalogue::{Chosen, Config, Money, Offer, Part, Price, Product, ProductKind, Setting};

use super::assess::Assessor;
use super::product_facts::members;
use super::{Attachment, DesignLimit, Rejection, RejectionReason};
use crate::matching::price_of;
use crate::requirements::TightBound;

/// Machines of a provider for the volumes of a product, with the required processors and memory, in trial order: by price,
/// unpriced ones last by their limits.
pub(super) struct Fleet {
    machines: Vec<Machine>,
    /// Machines of the provider, whatever their processors and memory.
    of: usize,
    /// Number of machines that share the load.
    count: u32,
}

/// A machine; flexible ones in a fixed size.
struct Machine {
    part: Part,
    monthly: Option<Money>,
    /// The tightest of its own limits relative to the load, with a plain volume.
    over: f64,
}

impl Fleet {
    /// The machines for the volumes of an offer; `None` if it is not a volume, names a machine, or none is known.
    pub(super) fn of(assessor: &Assessor<'_>, offer: &Offer) -> Option<Self> {
        if offer.config.machine.is_some() || offer.product().kind() != ProductKind::Volume {
            return None;
        }
        let (provider, _) = offer.config.volume.product.split_once('/')?;
        let families = assessor.catalogue.products().filter(|product| product.kind() == ProductKind::Machine);
        let own = families.filter(|family| family.name().eq_ignore_ascii_case(provider));
        let names: Vec<String> = own.flat_map(Product::machines).collect();
        if names.is_empty() {
            return None;
        }
        let plain = plain(assessor, offer);
        let sizes = names.iter().flat_map(|name| sizes(assessor, &plain, name));
        let sizes: Vec<Part> = sizes.collect();
        let of = sizes.len();
        let mut machines: Vec<Machine> =
            sizes.into_iter().filter_map(|part| Machine::of(assessor, &plain, part)).collect();
        let price = |machine: &Machine| machine.monthly.map_or(i128::MAX, |monthly| monthly.millionths);
        machines.sort_by(|a, b| {
            let by_limits = || a.over.total_cmp(&b.over).then_with(|| a.part.product.cmp(&b.part.product));
            price(a).cmp(&price(b)).then_with(by_limits)
        });
        Some(Self { machines, of, count: assessor.wanted.instances() })
    }

    /// A single machine, whatever its processors and memory.
    pub(super) fn only(assessor: &Assessor<'_>, offer: &Offer, machine: &Part) -> Self {
        let machine = Machine::attached(assessor, &plain(assessor, offer), machine.clone());
        Self { machines: machine.into_iter().map(|(machine, _)| machine).collect(), of: 1, count: 1 }
    }

    /// The first machine with sufficient limits for an offer.
    pub(super) fn cheapest(&self, assessor: &Assessor<'_>, offer: &Offer) -> Result<Attachment, Rejection> {
        self.for_all(assessor, &[(assessor, offer)])
    }

    /// The first machine with sufficient limits for several offers together.
    pub(super) fn for_all(
        &self,
        assessor: &Assessor<'_>,
        parts: &[(&Assessor<'_>, &Offer)],
    ) -> Result<Attachment, Rejection> {
        let room = assessor.wanted.room();
        let enough = || self.machines.iter().filter(|machine| machine.over >= room * (1.0 - 1e-9));
        let of = self.of;
        let attached = enough().find_map(|machine| {
            let (offer, binds) = machine.attach_all(room, parts, self.count)?;
            Some(Attachment {
                count: self.count,
                monthly: machine
                    .monthly
                    .map(|one| Money { millionths: one.millionths * i128::from(self.count), ..one }),
                binds,
                volumes: parts.iter().map(|(_, offer)| members(offer)).sum(),
                volumes_max: offer.machine_shape().and_then(|shape| shape.volumes),
                network_gbps: offer
                    .machine_shape()
                    .and_then(|shape| shape.network_bits_per_second)
                    .map(|bits| bits / 1e9),
                enough: enough().count(),
                unpriced: enough().filter(|machine| machine.monthly.is_none()).count(),
                of,
                offer,
            })
        });
        attached.ok_or_else(|| {
            let (first, offer) = parts[0];
            let nearest = self.machines.iter().max_by(|a, b| a.over.total_cmp(&b.over));
            let nearest = nearest.and_then(|machine| {
                let attached = machine.with(first, offer)?;
                let own = own_limits(first, &attached, self.count).into_iter().next()?;
                Some((machine.part.product.clone(), first.limit(&attached, &own)))
            });
            Rejection { name: offer.short().to_string(), reason: RejectionReason::NoMachine { of, nearest } }
        })
    }
}

impl Machine {
    /// `None` if it cannot be had with the volume, has too few processors or too little memory, or is an Arm machine:
    /// programs for x86-64, as most databases of today are, do not run there.
    fn of(assessor: &Assessor<'_>, plain: &Offer, part: Part) -> Option<Self> {
        let (machine, attached) = Self::attached(assessor, plain, part)?;
        let shape = attached.machine_shape();
        let is_arm = shape.as_ref().is_some_and(|shape| shape.arm);
        let (vcpus, memory) = shape.map_or((None, None), |shape| (shape.vcpus, shape.memory));
        (!is_arm && assessor.wanted.compute.fits(vcpus, memory)).then_some(machine)
    }

    /// The machine, and a plain volume on it; `None` if it cannot be had with the volume.
    fn attached(assessor: &Assessor<'_>, plain: &Offer, part: Part) -> Option<(Self, Offer)> {
        let config = Config { machine: Some(part.clone()), ..plain.config.clone() };
        let attached = assessor.catalogue.offer(&config, assessor.terms).ok()?;
        let count = assessor.wanted.instances();
        let over = own_limits(assessor, &attached, count).first().map_or(f64::MAX, |tight| tight.over);
        let monthly = price_of_machine(assessor, plain, &part);
        Some((Self { part, monthly, over }, attached))
    }

    fn with(&self, assessor: &Assessor<'_>, offer: &Offer) -> Option<Offer> {
        let config = Config { machine: Some(self.part.clone()), ..offer.config.clone() };
        assessor.catalogue.offer(&config, assessor.terms).ok()
    }

    /// The first offer on this machine, and the machine's binding limit; `None` if the limits are insufficient.
    fn attach_all(
        &self,
        room: f64,
        parts: &[(&Assessor<'_>, &Offer)],
        count: u32,
    ) -> Option<(Offer, Option<DesignLimit>)> {
        let mut first = None;
        let mut shared: Vec<(DesignLimit, f64)> = Vec::new();
        for (assessor, offer) in parts {
            let attached = self.with(assessor, offer)?;
            let bounds = bounds(assessor, &attached, count);
            if !bounds.first().is_none_or(|tight| tight.allows(room)) {
                return None;
            }
            for tight in own_limits(assessor, &attached, count) {
                let limit = assessor.limit(&attached, &tight);
                match shared.iter_mut().find(|(known, _)| known.name == limit.name) {
                    Some((_, used)) => *used += 1.0 / tight.over,
                    None => shared.push((limit, 1.0 / tight.over)),
                }
            }
            first.get_or_insert(attached);
        }
        let first = first?;
        let volumes: u32 = parts.iter().map(|(_, offer)| members(offer)).sum();
        let volumes_max = first.machine_shape().and_then(|shape| shape.volumes);
        let fits =
            volumes_max.is_none_or(|max| volumes <= max) && shared.iter().all(|(_, used)| used * room <= 1.0 + 1e-9);
        let binds = shared.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(limit, _)| limit);
        fits.then_some((first, binds))
    }
}

/// Limits of an offer on a number of machines that share the load, the tightest first.
fn bounds(assessor: &Assessor<'_>, attached: &Offer, count: u32) -> Vec<TightBound> {
    let mut bounds = assessor.requirements.bounds(attached);
    for tight in bounds.iter_mut().filter(|tight| is_shared(attached, tight)) {
        tight.over *= f64::from(count);
    }
    bounds.sort_by(|a, b| a.over.total_cmp(&b.over));
    bounds
}

fn is_shared(attached: &Offer, tight: &TightBound) -> bool {
    attached.ceilings[tight.bound.ceiling].scope.is_shared()
}

/// Limits shared by all volumes of a machine, the tightest first, without duplicates.
fn own_limits(assessor: &Assessor<'_>, attached: &Offer, count: u32) -> Vec<TightBound> {
    let mut own = bounds(assessor, attached, count);
    own.retain(|tight| is_shared(attached, tight));
    let mut seen = Vec::new();
    own.retain(|tight| {
        let is_new = !seen.contains(&tight.bound.ceiling);
        seen.push(tight.bound.ceiling);
        is_new
    });
    own
}

/// The price of the machine by itself, in the region of the volume's price; in any if the volume has none.
fn price_of_machine(assessor: &Assessor<'_>, plain: &Offer, machine: &Part) -> Option<Money> {
    let config = Config { wraps: Vec::new(), volume: machine.clone(), machine: None };
    let alone = assessor.catalogue.offer(&config, assessor.terms).ok()?;
    let is_complete = |price: &Price| price.without.is_empty();
    let price = match price_of(plain, assessor.terms) {
        None => price_of(&alone, assessor.terms).filter(is_complete),
        Some(volume) => alone.prices().into_iter().find(|price| {
            let in_region = volume.region.is_none() || price.region.is_none() || price.region == volume.region;
            in_region && price.monthly.currency == volume.monthly.currency && is_complete(price)
        }),
    };
    price.map(|price| price.monthly)
}

/// A volume of the offer's size without options, which needs no particular machine; the offer itself if that is
/// invalid.
fn plain(assessor: &Assessor<'_>, offer: &Offer) -> Offer {
    let is_size = |setting: &&Setting| matches!(setting, Setting::Option { name, .. } if name == "size");
    let settings = offer.config.volume.settings.iter().filter(is_size).cloned().collect();
    let volume = Part { product: offer.config.volume.product.clone(), settings };
    let config = Config { wraps: Vec::new(), volume, machine: None };
    assessor.catalogue.offer(&config, assessor.terms).unwrap_or_else(|_| offer.clone())
}

/// The machine with defaults, and with each option doubled up to its maximum.
fn sizes(assessor: &Assessor<'_>, plain: &Offer, name: &str) -> Vec<Part> {
    let machine = Part { product: name.to_owned(), settings: Vec::new() };
    let config = Config { machine: Some(machine.clone()), ..plain.config.clone() };
    let Ok(shown) = assessor.catalogue.offer(&config, assessor.terms) else { return vec![machine] };
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
    let grown: Vec<Part> = shown.machine_options.iter().flat_map(grown).collect();
    std::iter::once(machine.clone()).chain(grown).collect()
}
