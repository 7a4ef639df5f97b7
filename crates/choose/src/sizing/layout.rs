//! Separate volumes for redo and temporary data, if cheaper or necessary for the objectives.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use plimsoll_catalogue::{Catalogue, Config, Money, Part, Price, PriceTerms};
use plimsoll_ingest::Class;
use plimsoll_units::Bytes;

use super::assess::{Assessed, Assessor};
use super::frontier::by_rank;
use super::machines::{Fleet, within_machine};
use super::search::provider;
use super::size::{cheapest_of_each, storage_price};
use super::{
    Attachment, Choice, ClassLoad, ClassObjective, Compute, DemandWindow, DesignPoint, PriceDoubt, Search, Sizing,
    SizingRequirements,
};
use crate::matching::price_of;

/// Maximum cost relative to a single volume: more volumes need more administration.
const CHEAPER: f64 = 0.95;
/// Temporary data with a smaller share of the bytes stay with the data.
const MUCH_TEMP: f64 = 0.05;
/// Seconds of redo that a separate volume holds.
const REDO_RETENTION_S: f64 = 3600.0;
/// Capacity share of a volume for temporary data.
const TEMP_SHARE: f64 = 0.1;
/// Minimum volume for redo or temporary data.
const SMALLEST: Bytes = Bytes::gib(16);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VolumeContent {
    /// Data files, and all content without a separate volume.
    Data,
    Redo,
    /// Sorts and hashes that exceed memory.
    Temp,
}

/// Volumes of a provider, each with its own content.
#[derive(Clone, Debug)]
pub struct VolumeLayout {
    pub provider: String,
    /// The volumes, data first.
    pub parts: Vec<VolumePart>,
    /// The cheapest machine with sufficient limits for all volumes; `None` as for [`Choice::machine`].
    pub machine: Option<Attachment>,
    /// Monthly price including the machine; `None` unless all parts have a price.
    pub total: Option<Money>,
    /// Monthly price of the provider's cheapest single-volume choice, likewise; `None` if none meets the objectives.
    pub single: Option<Money>,
}

#[derive(Clone, Debug)]
pub struct VolumePart {
    pub content: VolumeContent,
    /// Its design point.
    pub required: SizingRequirements,
    /// The cheapest suitable choice.
    pub choice: Choice,
}

impl VolumeContent {
    const ALL: [Self; 3] = [Self::Data, Self::Redo, Self::Temp];

    /// The name in texts and resources.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Redo => "redo",
            Self::Temp => "temp",
        }
    }

    const fn of(class: Class) -> Self {
        match class {
            Class::RedoWrite => Self::Redo,
            Class::TempRead | Class::TempWrite => Self::Temp,
            _ => Self::Data,
        }
    }
}

impl VolumeLayout {
    /// Mean number of sessions that wait for reads and log writes, over all parts.
    pub fn waiting(&self) -> Option<f64> {
        let of = |part: &VolumePart| part.choice.waiting(&part.required.points[0]);
        self.parts.iter().map(of).sum()
    }

    pub fn price_doubt(&self) -> PriceDoubt {
        let machine = match &self.machine {
            Some(Attachment { monthly: None, .. }) => PriceDoubt::Partial,
            _ => PriceDoubt::Firm,
        };
        self.parts.iter().map(|part| part.choice.price_doubt()).fold(machine, PriceDoubt::max)
    }

    /// Order of preference, as of [`Choice::rank`].
    fn rank(&self) -> (PriceDoubt, f64) {
        let excess: f64 = self.parts.iter().map(|part| part.choice.unverified_excess()).sum();
        (self.price_doubt().completeness(), self.total.map_or(f64::INFINITY, |total| total.as_f64() + excess))
    }

    /// True if it costs at most `share` of a single volume, or its price is more complete.
    pub(super) fn is_cheaper(&self, single: &Choice, share: f64) -> bool {
        let ((doubt, amount), (single_doubt, single_amount)) = (self.rank(), single.rank());
        doubt < single_doubt || (doubt == single_doubt && amount < single_amount * share)
    }
}

impl VolumePart {
    /// Reduces the volume to what the machine of all parts carries, if it then still meets the objectives.
    fn reduce(&mut self, (catalogue, terms): (&Catalogue, &PriceTerms), machine: &Attachment) {
        let assessor = Assessor::new(catalogue, terms, &self.required);
        let config = Config { machine: machine.offer.config.machine.clone(), ..self.choice.offer.config.clone() };
        let Ok(offer) = catalogue.offer(&config, terms) else { return };
        let attached = Attachment { offer, ..machine.clone() };
        let Some(reduced) = within_machine(&assessor, &self.choice.offer, &attached) else { return };
        if let Assessed::Meets(choice) = assessor.assess(&reduced, price_of(&reduced, terms)) {
            self.choice = *choice;
        }
    }
}

/// For each provider the cheapest layout that separates redo, temporary data, or both: if it costs at least a twentieth
/// less than the provider's cheapest single volume, or if no single volume meets the objectives. All parts together
/// stay within the limits of the machine that the search names.
pub fn layouts(catalogue: &Catalogue, terms: &PriceTerms, search: &Search, sizing: &Sizing) -> Vec<VolumeLayout> {
    let mut found: Vec<VolumeLayout> = Vec::new();
    let machine = search.machine.as_ref();
    let search = &search.without_machine(catalogue);
    let mut entire = sizing.required.clone();
    if machine.is_some() {
        // The given machine need not have the processors and the memory of the present host.
        entire.compute = Compute::default();
    }
    // A part as expensive as a single volume cannot make a cheaper layout.
    let below = |provider: &str| {
        let single = of_provider(sizing, provider).filter(|single| single.price_doubt() == PriceDoubt::Firm);
        single.and_then(Choice::total).map_or(f64::INFINITY, |total| total.as_f64() * CHEAPER)
    };
    let mut existing: BTreeMap<(VolumeContent, Vec<VolumeContent>), PartChoices> = BTreeMap::new();
    for contents in separations(&sizing.required) {
        let mut keys = Vec::new();
        // Data last: without a choice for each other part, a provider needs none for them.
        for content in contents.iter().rev() {
            // Redo and temporary data are the same in every separation.
            let rest = if *content == VolumeContent::Data { contents.clone() } else { Vec::new() };
            let retained = |class: Class| in_part(*content, &contents, class);
            let Some(required) = part_of(&entire, *content, retained) else { continue };
            let key = (*content, rest);
            if !existing.contains_key(&key) {
                let others = keys.iter().filter(|_| *content == VolumeContent::Data).map(|key| &existing[key]);
                let limit = |provider: &str| {
                    let price = |part: &PartChoices| storage_price(part.choices.get(provider)?);
                    others.clone().try_fold(below(provider), |limit, part| Some(limit - price(part)?))
                };
                let mut assessor = Assessor::new(catalogue, terms, &required);
                assessor.needs_latency = entire.needs_latency();
                let choices = cheapest_of_each(&assessor, search, limit);
                existing.insert(key.clone(), PartChoices { required, choices });
            }
            keys.push(key);
        }
        if keys.len() < contents.len() {
            continue;
        }
        let parts: Vec<(VolumeContent, &PartChoices)> = keys.iter().rev().map(|key| (key.0, &existing[key])).collect();
        for provider in parts[0].1.choices.keys() {
            let Some(layout) = find_layout((catalogue, terms), sizing, (provider, machine), &parts) else { continue };
            match found.iter_mut().find(|existing| existing.provider == *provider) {
                Some(existing) if layout.rank() < existing.rank() => *existing = layout,
                Some(_) => {}
                None => found.push(layout),
            }
        }
    }
    found.sort_by(|a, b| a.rank().partial_cmp(&b.rank()).unwrap_or(Ordering::Equal));
    found
}

/// The cheapest storage of each provider for a part.
struct PartChoices {
    required: SizingRequirements,
    choices: BTreeMap<String, Choice>,
}

/// Ways to separate the content of a demand, each with its parts.
fn separations(required: &SizingRequirements) -> Vec<Vec<VolumeContent>> {
    let share = |content: VolumeContent| {
        let of_point = |point: &DesignPoint| {
            let own = point.classes.iter().filter(|load| VolumeContent::of(load.class) == content);
            own.map(|load| load.bytes_per_second).sum::<f64>() / point.bytes_per_second()
        };
        required.points.iter().map(of_point).fold(0.0, f64::max)
    };
    let (redo, temp) = (share(VolumeContent::Redo) > 0.0, share(VolumeContent::Temp) >= MUCH_TEMP);
    let ways = [
        (redo, vec![VolumeContent::Data, VolumeContent::Redo]),
        (temp, vec![VolumeContent::Data, VolumeContent::Temp]),
    ];
    let both = (redo && temp, VolumeContent::ALL.to_vec());
    ways.into_iter().chain([both]).filter(|(is_possible, _)| *is_possible).map(|(_, contents)| contents).collect()
}

/// True if a class belongs to a part; classes without a separate volume belong to data.
fn in_part(content: VolumeContent, contents: &[VolumeContent], class: Class) -> bool {
    let own = VolumeContent::of(class);
    if contents.contains(&own) { own == content } else { content == VolumeContent::Data }
}

/// The design point of a part; `None` if it has no operations.
fn part_of(
    required: &SizingRequirements,
    content: VolumeContent,
    retained: impl Fn(Class) -> bool,
) -> Option<SizingRequirements> {
    let classes = |classes: &[ClassLoad]| -> Vec<ClassLoad> {
        classes.iter().filter(|load| retained(load.class)).copied().collect()
    };
    let points = required.points.iter().map(|point| DesignPoint { classes: classes(&point.classes), ..point.clone() });
    let points: Vec<DesignPoint> = points.filter(|point| !point.classes.is_empty()).collect();
    let rate: f64 = points.first()?.iops();
    let redo: f64 = points.iter().map(DesignPoint::bytes_per_second).fold(0.0, f64::max);
    let of_class = |objective: &&ClassObjective| objective.class.is_none_or(&retained);
    let window = |window: &DemandWindow| DemandWindow { classes: classes(&window.classes), ..window.clone() };
    Some(SizingRequirements {
        capacity: match content {
            VolumeContent::Data => required.capacity,
            VolumeContent::Redo => SMALLEST.max(Bytes::new((redo * REDO_RETENTION_S) as u64)),
            VolumeContent::Temp => SMALLEST.max(Bytes::new((required.capacity.get() as f64 * TEMP_SHARE) as u64)),
        },
        mean_iops: required.mean_iops * rate / required.points[0].iops(),
        usual: required
            .usual
            .as_ref()
            .map(|usual| DesignPoint { classes: classes(&usual.classes), ..usual.clone() })
            .filter(|usual| !usual.classes.is_empty()),
        objectives: required.objectives.iter().filter(of_class).copied().collect(),
        peak_bounds: required.peak_bounds.iter().filter(of_class).copied().collect(),
        today: required.today.iter().filter(|(class, _)| retained(*class)).copied().collect(),
        series: required.series.iter().map(window).collect(),
        points,
        ..required.clone()
    })
}

/// The provider's cheapest single volume.
fn of_provider<'s>(sizing: &'s Sizing, name: &str) -> Option<&'s Choice> {
    let own = sizing.choices.iter().filter(|choice| provider(choice.offer.product().name()) == name);
    own.filter(|choice| choice.total().is_some()).min_by(|a, b| by_rank(a, b))
}

/// The layout of a provider; `None` if a part has no choice, no machine suffices, or a single volume is as good.
fn find_layout(
    (catalogue, terms): (&Catalogue, &PriceTerms),
    entire: &Sizing,
    (provider, only): (&str, Option<&Part>),
    parts: &[(VolumeContent, &PartChoices)],
) -> Option<VolumeLayout> {
    let chosen = parts.iter().map(|(content, part)| {
        let choice = part.choices.get(provider)?.clone();
        Some(VolumePart { content: *content, required: part.required.clone(), choice })
    });
    let mut parts = chosen.collect::<Option<Vec<VolumePart>>>()?;
    let machine = find_machine((catalogue, terms), &entire.required, &parts, only).ok()?;
    if let Some(machine) = &machine {
        for part in &mut parts {
            part.reduce((catalogue, terms), machine);
        }
    }
    for part in &mut parts {
        part.choice.machine = None;
    }
    let required = &entire.required;
    let effect = required.effect(parts.iter().flat_map(|part| &part.choice.usual));
    if !required.may_be_slower && required.exceeds_tolerance(effect.as_ref(), &[]) {
        return None;
    }
    let single = of_provider(entire, provider);
    let monthly = |part: &VolumePart| part.choice.price.as_ref().and_then(Price::total);
    let machine_price = machine.as_ref().map(|machine| machine.monthly);
    let mut sums = parts.iter().map(monthly).chain(machine_price);
    let first = sums.next().flatten();
    let total = sums.fold(first, |sum, price| sum?.plus(price?));
    let layout =
        VolumeLayout { provider: provider.to_owned(), parts, machine, total, single: single.and_then(Choice::total) };
    single.is_none_or(|single| layout.is_cheaper(single, CHEAPER)).then_some(layout)
}

/// The cheapest machine for all parts, or the given one; an error if none suffices.
fn find_machine(
    (catalogue, terms): (&Catalogue, &PriceTerms),
    required: &SizingRequirements,
    parts: &[VolumePart],
    only: Option<&Part>,
) -> Result<Option<Attachment>, super::Rejection> {
    let total = Assessor::new(catalogue, terms, required);
    let fleet = match only {
        Some(machine) => Some(Fleet::only(&total, &parts[0].choice.offer, machine)),
        None => Fleet::of(&total, &parts[0].choice.offer),
    };
    let Some(fleet) = fleet else { return Ok(None) };
    let assessors: Vec<_> = parts.iter().map(|part| Assessor::new(catalogue, terms, &part.required)).collect();
    let offers: Vec<_> = assessors.iter().zip(parts).map(|(assessor, part)| (assessor, &part.choice.offer)).collect();
    fleet.for_all(&total, &offers).map(Some)
}
