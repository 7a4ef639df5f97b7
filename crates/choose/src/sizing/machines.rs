//! Machines of a volume's provider: the cheapest with sufficient limits for the design point.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use plimsoll_catalogue::{
    Chosen, Config, Counts, Money, Offer, OptionValue, Part, Price, Product, ProductKind, Setting,
};

use super::assess::Assessor;
use super::product_facts::members;
use super::{Attachment, DesignLimit, Rejection, RejectionReason};
use crate::candidate::{self, Owner};
use crate::matching::price_of;
use crate::requirements::{Requirements, TightBound};

/// Machines of a provider for the volumes of a product, with the required processors and memory, in trial order: by price,
/// unpriced ones last by their limits.
pub(super) struct Fleet {
    machines: Vec<Machine>,
    /// Machines of the provider, whatever their processors and memory.
    of: usize,
    /// Number of machines.
    count: u32,
    /// Parts of the operations and of the bytes of the input that each of them carries.
    parts: [f64; 2],
}

/// A machine; flexible ones in a fixed size.
#[derive(Clone)]
struct Machine {
    part: Part,
    price: Option<Price>,
    vcpus: Option<f64>,
    /// The tightest of its own limits relative to the load, with the volume of the first offer.
    over: f64,
}

impl Fleet {
    /// The machines for the volumes of an offer; `None` if it is not a volume, names a machine, or none is known.
    pub(super) fn of(assessor: &Assessor<'_>, offer: &Offer) -> Option<Self> {
        if offer.config.machine.is_some() || offer.product().kind() != ProductKind::Volume {
            return None;
        }
        if let Some(machine) = assessor.machine {
            return Some(Self::only(assessor, offer, machine));
        }
        let (provider, _) = offer.config.volume.product.split_once('/')?;
        let families = assessor.catalogue.products().filter(|product| product.kind() == ProductKind::Machine);
        let own = families.filter(|family| family.name().eq_ignore_ascii_case(provider));
        let names: Vec<String> = own.flat_map(Product::machines).collect();
        if names.is_empty() {
            return None;
        }
        let sizes = names.iter().flat_map(|name| vary_sizes(assessor, offer, name));
        let sizes: Vec<Part> = sizes.collect();
        let of = sizes.len();
        let mut machines: Vec<Machine> =
            sizes.into_iter().filter_map(|part| Machine::of(assessor, offer, part)).collect();
        // Unknown limits are not sufficient ones.
        if machines.iter().any(Machine::has_limits) {
            machines.retain(Machine::has_limits);
        }
        let price = |machine: &Machine| machine.price.as_ref().map_or(i128::MAX, |price| price.monthly.millionths);
        // Oracle Database is licensed by processors: of machines with the same price, that with fewer; others use more.
        let sign = if assessor.required.platform.is_oracle() { 1.0 } else { -1.0 };
        let vcpus = |machine: &Machine| sign * machine.vcpus.unwrap_or(f64::INFINITY);
        machines.sort_by(|a, b| {
            let by_limits = || a.over.total_cmp(&b.over).then_with(|| a.part.product.cmp(&b.part.product));
            price(a).cmp(&price(b)).then_with(|| vcpus(a).total_cmp(&vcpus(b))).then_with(by_limits)
        });
        Some(Self { machines, of, count: assessor.required.instances(), parts: assessor.required.machine_parts() })
    }

    /// A single machine, whatever its processors and memory.
    pub(super) fn only(assessor: &Assessor<'_>, offer: &Offer, machine: &Part) -> Self {
        let attached = attach(assessor, offer, machine);
        let machines =
            attached.iter().map(|attached| Machine::new(assessor, offer, machine.clone(), attached)).collect();
        Self { machines, of: 1, count: assessor.required.instances(), parts: assessor.required.machine_parts() }
    }

    /// The first machine with sufficient limits for an offer.
    pub(super) fn cheapest(&self, assessor: &Assessor<'_>, offer: &Offer) -> Result<Attachment, Rejection> {
        self.for_all(assessor, &[(assessor, offer)])
    }

    /// The first machine that carries all that an offer provides.
    pub(super) fn carrying(&self, assessor: &Assessor<'_>, offer: &Offer) -> Result<Attachment, Rejection> {
        let provided = assessor.requirements.tightest(offer).map_or(0.0, |tight| tight.over);
        self.with_room(&[(assessor, offer)], provided.max(assessor.required.room()))
    }

    /// The first machine with sufficient limits for several offers together.
    pub(super) fn for_all(
        &self,
        assessor: &Assessor<'_>,
        parts: &[(&Assessor<'_>, &Offer)],
    ) -> Result<Attachment, Rejection> {
        self.with_room(parts, assessor.required.room())
    }

    /// The machine with the fewest processors among those with sufficient limits and a price, if it has fewer than
    /// `than`; of several the cheapest.
    pub(super) fn fewest_processors(
        &self,
        parts: &[(&Assessor<'_>, &Offer)],
        room: f64,
        than: f64,
    ) -> Option<Attachment> {
        let is_fewer = |machine: &&Machine| machine.price.is_some() && machine.vcpus.is_some_and(|vcpus| vcpus < than);
        let mut fewer: Vec<Machine> = self.machines.iter().filter(is_fewer).cloned().collect();
        // Stable: machines with equally many processors stay in the order of price.
        fewer.sort_by(|a, b| a.vcpus.partial_cmp(&b.vcpus).unwrap_or(Ordering::Equal));
        Self { machines: fewer, ..*self }.with_room(parts, room).ok()
    }

    fn with_room(&self, parts: &[(&Assessor<'_>, &Offer)], room: f64) -> Result<Attachment, Rejection> {
        let enough = || self.machines.iter().filter(|machine| machine.over >= room * (1.0 - 1e-9));
        let of = self.of;
        let attached = enough().find_map(|machine| {
            let (offer, binds) = machine.attach_all(room, parts, self.parts)?;
            Some(Attachment {
                count: self.count,
                monthly: machine
                    .price
                    .as_ref()
                    .map(|one| Money { millionths: one.monthly.millionths * i128::from(self.count), ..one.monthly }),
                price: machine.price.clone(),
                binds,
                volumes: parts.iter().map(|(_, offer)| members(offer)).sum(),
                volumes_max: offer.machine_shape().and_then(|shape| shape.volumes),
                network_gbps: offer
                    .machine_shape()
                    .and_then(|shape| shape.network_bits_per_second)
                    .map(|bits| bits / 1e9),
                enough: enough().count(),
                unpriced: enough().filter(|machine| machine.price.is_none()).count(),
                of,
                offer,
            })
        });
        attached.ok_or_else(|| {
            let (first, offer) = parts[0];
            let nearest = self.machines.iter().max_by(|a, b| a.over.total_cmp(&b.over));
            let nearest = nearest.and_then(|machine| {
                let attached = attach(first, offer, &machine.part)?;
                let own = own_limits(first, &attached, self.parts).into_iter().next()?;
                Some((machine.part.product.clone(), first.limit(&attached, &own)))
            });
            Rejection { name: offer.short().to_string(), reason: RejectionReason::NoMachine { of, nearest } }
        })
    }
}

impl Machine {
    /// `None` if it cannot be had with the volume, has too few processors or too little memory, is a burstable machine
    /// whose processors do not run all the time that the load takes, or is an Arm machine: programs for x86-64, as most
    /// databases of today are, do not run there.
    fn of(assessor: &Assessor<'_>, offer: &Offer, part: Part) -> Option<Self> {
        let attached = attach(assessor, offer, &part)?;
        let shape = attached.machine_shape();
        let is_arm = shape.as_ref().is_some_and(|shape| shape.arm);
        let lacks_base = shape.as_ref().is_some_and(|shape| {
            shape.sustained_vcpus < shape.vcpus
                && shape.sustained_vcpus.is_some_and(|sustained| sustained < assessor.required.steady_processors())
        });
        let (vcpus, memory) = shape.map_or((None, None), |shape| (shape.vcpus, shape.memory));
        let is_suitable = !is_arm && !lacks_base && assessor.required.compute.fits(vcpus, memory);
        is_suitable.then(|| Self::new(assessor, offer, part, &attached))
    }

    /// False if no limit of the machine for these volumes is known.
    fn has_limits(&self) -> bool {
        self.over < f64::MAX
    }

    /// A machine with its price, and its limits for the volume of `offer`, which is `attached` to it.
    fn new(assessor: &Assessor<'_>, offer: &Offer, part: Part, attached: &Offer) -> Self {
        let over = own_limits(assessor, attached, assessor.required.machine_parts())
            .first()
            .map_or(f64::MAX, |tight| tight.over);
        let price = price_of_machine(assessor, offer, &part);
        let vcpus = attached.machine_shape().and_then(|shape| shape.vcpus);
        Self { part, price, vcpus, over }
    }

    /// The first offer on this machine, and the machine's binding limit; `None` if the limits are insufficient.
    fn attach_all(
        &self,
        room: f64,
        parts: &[(&Assessor<'_>, &Offer)],
        carried: [f64; 2],
    ) -> Option<(Offer, Option<DesignLimit>)> {
        let mut first = None;
        let mut shared: Vec<(DesignLimit, f64)> = Vec::new();
        for (assessor, offer) in parts {
            let attached = attach(assessor, offer, &self.part)?;
            let bounds = find_bounds(assessor, &attached, carried);
            if !bounds.first().is_none_or(|tight| tight.allows(room)) {
                return None;
            }
            for tight in own_limits(assessor, &attached, carried) {
                let limit = assessor.limit(&attached, &tight);
                match shared.iter_mut().find(|(existing, _)| existing.name == limit.name) {
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

/// The volume of an offer on a machine; `None` if it cannot be had with the volume.
fn attach(assessor: &Assessor<'_>, offer: &Offer, machine: &Part) -> Option<Offer> {
    let config = Config { machine: Some(machine.clone()), ..offer.config.clone() };
    assessor.catalogue.offer(&config, assessor.terms).ok()
}

/// The offer without IOPS, throughput and size beyond those that its machine carries of each point; `None` if there are
/// none.
pub(super) fn within_machine(assessor: &Assessor<'_>, offer: &Offer, machine: &Attachment) -> Option<Offer> {
    let mut carried = find_bounds(assessor, &machine.offer, assessor.required.machine_parts());
    carried.retain(|tight| is_shared(&machine.offer, tight));
    let of_mix = |mix: usize| carried.iter().filter(move |limit| limit.mix == mix).map(|limit| limit.over);
    let provided = volume_limits(assessor, offer);
    let reduce = |own: &TightBound| TightBound { over: of_mix(own.mix).fold(own.over, f64::min), ..*own };
    let needed: Vec<TightBound> = provided.iter().map(reduce).collect();
    if needed == provided {
        return None;
    }
    let is_enough = |reduced: &Offer| {
        let provided = volume_limits(assessor, reduced);
        let suffices = |needed: &TightBound| {
            let own = provided.iter().find(|own| is_same_limit(own, needed));
            own.is_none_or(|own| own.allows(needed.over))
        };
        reduced.capacity >= assessor.required.capacity && needed.iter().all(suffices)
    };
    let reduced = lower_options(assessor, offer, &is_enough);
    let is_less = reduced.short().to_string() != offer.short().to_string();
    is_less.then_some(reduced)
}

/// The offer with the lowest value that is enough of each option that raises a ceiling and the price, one after the other;
/// options with levels and given ones keep their values.
pub(super) fn lower_options(assessor: &Assessor<'_>, offer: &Offer, is_enough: &dyn Fn(&Offer) -> bool) -> Offer {
    let lifts: BTreeSet<&str> =
        offer.ceilings.iter().flat_map(|ceiling| ceiling.lift.iter().map(|name| &**name)).collect();
    let mut lowered = offer.clone();
    let given = assessor.given.map_or(&[][..], |search| search.settings(offer.product()));
    let is_given = |name: &str| given.iter().any(|(given, _)| given == name);
    let names = offer.options.iter().map(|chosen| &*chosen.name);
    for name in names.filter(|name| lifts.contains(name) && !is_given(name)) {
        let price = |offer: &Offer| price_of(offer, assessor.terms).map(|price| price.monthly.millionths);
        let saves = |lower: &Offer| price(lower).zip(price(&lowered)).is_none_or(|(then, before)| then < before);
        lowered = reduced_option(assessor, &lowered, name, is_enough).filter(saves).unwrap_or(lowered);
    }
    lowered
}

/// The lowest limits of an offer without its machine, for operations and bytes of each point.
fn volume_limits(assessor: &Assessor<'_>, offer: &Offer) -> Vec<TightBound> {
    let mut lowest: Vec<TightBound> = Vec::new();
    // The tightest come first.
    for bound in assessor.requirements.bounds(offer).into_iter().filter(|bound| !is_shared(offer, bound)) {
        if !lowest.iter().any(|existing| is_same_limit(existing, &bound)) {
            lowest.push(bound);
        }
    }
    lowest
}

fn is_same_limit(a: &TightBound, b: &TightBound) -> bool {
    (a.mix, a.bound.counts) == (b.mix, b.bound.counts)
}

/// The lowest value of an option that is enough, if it is below the present one; `None` for options with levels.
fn reduced_option(
    assessor: &Assessor<'_>,
    offer: &Offer,
    name: &str,
    is_enough: &dyn Fn(&Offer) -> bool,
) -> Option<Offer> {
    let (owner, chosen) = candidate::option(offer, name)?;
    let (Some(OptionValue::Number(value)), Some(low), Some(step)) = (&chosen.value, chosen.low, chosen.step) else {
        return None;
    };
    if owner != Owner::Volume || candidate::has_levels(chosen) || step <= 0.0 || low >= *value {
        return None;
    }
    let below = Chosen { value: Some(OptionValue::Number(low - step)), high: Some(*value), ..chosen.clone() };
    candidate::lowest(assessor.catalogue, assessor.terms, (&offer.short(), owner, &below), is_enough)
}

/// Limits of an offer, those of its machine for these parts of the operations and of the bytes; the tightest first.
fn find_bounds(assessor: &Assessor<'_>, attached: &Offer, parts: [f64; 2]) -> Vec<TightBound> {
    find_machine_bounds(&assessor.requirements, attached, parts)
}

/// The same for any requirements.
pub(super) fn find_machine_bounds(required: &Requirements, attached: &Offer, parts: [f64; 2]) -> Vec<TightBound> {
    let mut bounds = required.bounds(attached);
    for tight in bounds.iter_mut().filter(|tight| is_shared(attached, tight)) {
        tight.over /= parts[usize::from(tight.bound.counts == Counts::Bytes)];
    }
    bounds.sort_by(|a, b| a.over.total_cmp(&b.over));
    bounds
}

fn is_shared(attached: &Offer, tight: &TightBound) -> bool {
    attached.ceilings[tight.bound.ceiling].scope.is_shared()
}

/// Limits shared by all volumes of a machine, the tightest first, without duplicates.
fn own_limits(assessor: &Assessor<'_>, attached: &Offer, parts: [f64; 2]) -> Vec<TightBound> {
    let mut own = find_bounds(assessor, attached, parts);
    own.retain(|tight| is_shared(attached, tight));
    let mut observed = Vec::new();
    own.retain(|tight| {
        let is_new = !observed.contains(&tight.bound.ceiling);
        observed.push(tight.bound.ceiling);
        is_new
    });
    own
}

/// The price of the machine by itself, in the region of the volume's price; in any if the volume has none.
fn price_of_machine(assessor: &Assessor<'_>, offer: &Offer, machine: &Part) -> Option<Price> {
    let config = Config { wraps: Vec::new(), volume: machine.clone(), machine: None };
    let alone = assessor.catalogue.offer(&config, assessor.terms).ok()?;
    match price_of(offer, assessor.terms) {
        None => price_of(&alone, assessor.terms).filter(Price::is_complete),
        Some(volume) => alone.prices().into_iter().find(|price| {
            let in_region = volume.region.is_none() || price.region.is_none() || price.region == volume.region;
            in_region && price.monthly.currency == volume.monthly.currency && price.is_complete()
        }),
    }
}

/// The volume of an offer with its size alone, which needs no particular machine.
fn size_only(offer: &Offer) -> Part {
    let is_size = |setting: &&Setting| match setting {
        Setting::Size { .. } => true,
        Setting::Option { name, .. } => name == "size",
        Setting::Word(_) => false,
    };
    let Part { product, settings } = &offer.config.volume;
    Part { product: product.clone(), settings: settings.iter().filter(is_size).cloned().collect() }
}

/// Names of options for processors and memory of flexible machines.
const PROCESSORS: &str = "ocpu";
const MEMORY: &str = "memory";
const GIB: f64 = 1_073_741_824.0;

/// The machine with defaults, and with each option doubled up to its maximum; of flexible machines also with the fewest
/// processors that suffice, for the database, its memory and the load, and each with the memory that is required instead
/// of the default.
fn vary_sizes(assessor: &Assessor<'_>, offer: &Offer, name: &str) -> Vec<Part> {
    let machine = Part { product: name.to_owned(), settings: Vec::new() };
    let on = |part: &Part| Config { machine: Some(part.clone()), ..offer.config.clone() };
    // A volume with several paths is invalid on the default of a flexible machine, which has one processor.
    let bare = Config { volume: size_only(offer), ..on(&machine) };
    let attached = [on(&machine), bare].into_iter().find_map(|on| assessor.catalogue.offer(&on, assessor.terms).ok());
    let Some(displayed) = attached else { return vec![machine] };
    let compute = assessor.required.compute;
    let flexible = |name: &str| {
        let is_it = |chosen: &&Chosen| *chosen.name == *name && chosen.low < chosen.high;
        displayed.machine_options.iter().find(is_it)
    };
    let with = |part: &Part, name: &str, value: f64| {
        let setting = Setting::Option { name: name.to_owned(), value: format!("{value}") };
        Part { settings: part.settings.iter().cloned().chain([setting]).collect(), ..part.clone() }
    };
    // Its memory may be less than the default, or more at the same number of processors.
    let exact = flexible(MEMORY).map(|_| (compute.required().1.get() as f64 / GIB).ceil());
    let with_memory = |part: Part| {
        let attached = assessor.catalogue.offer(&on(&part), assessor.terms).ok();
        let low = attached.and_then(|offer| candidate::option(&offer, MEMORY)?.1.low).unwrap_or(0.0);
        let sized = exact.map(|gib| with(&part, MEMORY, gib.max(low)));
        sized.filter(|sized| assessor.catalogue.offer(&on(sized), assessor.terms).is_ok()).unwrap_or(part)
    };
    let carried = assessor.required.machine_parts();
    let is_enough = |attached: &Offer| {
        let (vcpus, memory) = attached.machine_shape().map_or((None, None), |shape| (shape.vcpus, shape.memory));
        let binds = own_limits(assessor, attached, carried).into_iter().next();
        compute.fits(vcpus, memory) && binds.is_none_or(|tight| tight.allows(assessor.required.room()))
    };
    let sufficient = || {
        let processors = flexible(PROCESSORS)?;
        let lowest = |part: &Part| {
            let place = (&on(part), Owner::Machine, processors);
            candidate::lowest(assessor.catalogue, assessor.terms, place, &is_enough)
        };
        // Many processors need more memory than that.
        let sized = exact.and_then(|gib| lowest(&with(&machine, MEMORY, gib)));
        let found = sized.or_else(|| lowest(&machine))?;
        let (_, chosen) = candidate::option(&found, PROCESSORS)?;
        let Some(OptionValue::Number(least)) = chosen.value else { return None };
        Some(with(&machine, PROCESSORS, least))
    };
    let grown = |chosen: &Chosen| {
        let (Some(low), Some(high)) = (chosen.low, chosen.high) else { return Vec::new() };
        let doubled = std::iter::successors(Some(low.max(1.0) * 2.0), |value| Some(value * 2.0));
        let values = doubled.take_while(|value| *value < high).chain(std::iter::once(high).filter(|high| *high > low));
        values.map(|value| with(&machine, &chosen.name, value)).collect::<Vec<Part>>()
    };
    let options = displayed.machine_options.iter().filter(|chosen| exact.is_none() || *chosen.name != *MEMORY);
    let mut parts: Vec<Part> = std::iter::once(machine.clone()).chain(options.flat_map(grown)).collect();
    parts.extend(sufficient().filter(|part| !parts.contains(part)));
    parts.into_iter().map(with_memory).collect()
}

#[cfg(test)]
mod tests {
    use plimsoll_catalogue::{Catalogue, Date, PriceTerms};
    use plimsoll_ingest::Class;
    use plimsoll_units::Bytes;

    use super::*;
    use crate::sizing::{Busiest, ClassLoad, DesignPoint, SizingRequirements};

    #[test]
    fn a_volume_is_reduced_to_its_machine() {
        let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
        let catalogue = Catalogue::built_in();
        let check = |volume: &str, machine: &str, (iops, size): (f64, f64), expected: Option<&str>| {
            let class = Class::RandomRead;
            let load =
                ClassLoad { class, iops, bytes_per_second: iops * size, reads: 1.0, sequential: false, durable: false };
            let point = DesignPoint { of: Busiest::Operations, windows: 1, classes: vec![load] };
            let required = SizingRequirements::of(vec![point], Bytes::gib(600));
            let assessor = Assessor::new(&catalogue, &terms, &required);
            let offer = catalogue.offer(&volume.parse().expect("notation"), &terms).expect("on offer");
            let machine = Part { product: machine.to_owned(), settings: Vec::new() };
            let attached = Fleet::only(&assessor, &offer, &machine).cheapest(&assessor, &offer).expect("it suffices");
            let reduced = within_machine(&assessor, &offer, &attached).map(|reduced| reduced.short().to_string());
            assert_eq!(reduced.as_deref(), expected, "{volume}");
        };
        // The machine carries 12,000 operations.
        check("aws/io2:600GiB,iops=15248", "aws/r6i.2xlarge", (9_000.0, 8192.0), Some("aws/io2:600GiB,iops=12000"));
        check("aws/io2:600GiB,iops=12000", "aws/r6i.2xlarge", (9_000.0, 8192.0), None);
        // And 312.5 MB/s, which are fewer operations of 64 KiB; larger volumes than needed shrink as well.
        check("aws/io2:900GiB,iops=9000", "aws/r6i.2xlarge", (4_000.0, 65_536.0), Some("aws/io2:600GiB,iops=4769"));
    }

    /// Several paths need 16 OCPUs: the flexible machine with as many is found, though its default has one.
    #[test]
    fn flexible_machines_are_sized_for_volumes_that_need_many_processors() {
        let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
        let catalogue = Catalogue::built_in();
        let class = Class::RandomRead;
        let (iops, bytes_per_second) = (70_000.0, 70_000.0 * 8192.0);
        let load = ClassLoad { class, iops, bytes_per_second, reads: 1.0, sequential: false, durable: false };
        let point = DesignPoint { of: Busiest::Operations, windows: 1, classes: vec![load] };
        let demand = SizingRequirements::of(vec![point], Bytes::gib(600));
        let assessor = Assessor::new(&catalogue, &terms, &demand);
        let config = "oci:1000GB@120vpu,active_paths=5".parse().expect("notation");
        let offer = catalogue.offer(&config, &terms).expect("on offer");
        let fleet = Fleet::of(&assessor, &offer).expect("there are machines");
        let attached = fleet.cheapest(&assessor, &offer).expect("one suffices").name().expect("a machine");
        assert_eq!(attached, "oci/VM.Standard.E3.Flex:ocpu=16,memory=16", "{attached}");
    }
}
