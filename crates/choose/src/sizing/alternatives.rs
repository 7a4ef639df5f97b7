//! Alternatives to the recommended configuration that a single condition changes: a wider stripe, less headroom, and other
//! loads, such as that without the few windows of a scan or a backup.

use std::collections::BTreeMap;

use plimsoll_catalogue::{Catalogue, PriceTerms};
use plimsoll_ingest::{DatabaseDemand, Slot, TopReader};

use super::backlog::quantile;
use super::burst::LARGE_READ;
use super::derivation::{derive_requirements, load_windows};
use super::size::{lowest_total, size};
use super::{
    Burst, Busiest, Choice, ClassLoad, Design, DesignPoint, GrowthStep, PeakSource, Search, Sizing, SizingRequirements,
    StepKind,
};
use crate::diagnosis::CensorCause;

/// Maximum ratio of the price of an alternative to that of the recommended configuration.
const CHEAPER: f64 = 0.9;
/// Maximum width of stripes.
const WIDEST: u32 = 32;

/// A configuration of the recommended product that has less headroom than required, and costs much less.
#[derive(Clone, Debug)]
pub struct LessHeadroom {
    /// Its headroom above the expected load in whole percent, as a share: 0.19.
    pub headroom: f64,
    pub choice: Choice,
}

/// The recommended product for another load.
#[derive(Clone, Debug)]
pub struct OtherLoad {
    /// The load and the processors.
    pub required: SizingRequirements,
    /// The configuration; `None` if the product does not carry the load.
    pub choice: Option<Choice>,
}

/// What a sizing is derived from, to derive its alternatives.
#[derive(Clone, Copy)]
pub struct Alternatives<'a> {
    /// Products with their limits and prices.
    pub catalogue: &'a Catalogue,
    pub terms: &'a PriceTerms,
    /// Candidates of the sizing.
    pub search: &'a Search,
    /// Load of the inputs.
    pub subject: &'a DatabaseDemand,
    /// Rules of the sizing.
    pub design: &'a Design,
}

impl Alternatives<'_> {
    /// Adds the alternatives to a sizing.
    pub fn find(&self, sizing: &mut Sizing) {
        sizing.wider = self.wider_stripe(sizing);
        sizing.less_headroom = self.less_headroom(sizing);
        sizing.uncapped = self.uncapped(sizing);
        sizing.constant_load = self.constant_load(sizing);
        sizing.without_scans = self.without_scans(sizing);
    }

    /// A stripe of the recommended product with more volumes than the search allows, if it costs at least a tenth less.
    pub fn wider_stripe(&self, sizing: &Sizing) -> Option<Choice> {
        let total = sizing.best_total()?;
        if !(2..WIDEST).contains(&self.search.widest) {
            return None;
        }
        let search = Search { widest: WIDEST, ..self.of_product(sizing)? };
        let wider = size(self.catalogue, &sizing.required, self.terms, &search).choices.into_iter().next()?;
        let own = wider.total().filter(|own| own.currency == total.currency)?;
        (own.as_f64() <= CHEAPER * total.as_f64()).then_some(wider)
    }

    /// The configuration with up to five percentage points less headroom, if it costs at least a tenth less.
    pub fn less_headroom(&self, sizing: &Sizing) -> Option<LessHeadroom> {
        const LESS: f64 = 0.05;
        let total = sizing.best_total().filter(|_| sizing.required.headroom >= LESS)?;
        let search = self.of_product(sizing)?;
        let mut required = sizing.required.clone();
        required.headroom -= LESS;
        // Prices first, as they need no simulation.
        if lowest_total(self.catalogue, self.terms, &required, &search)? > CHEAPER * total.as_f64() {
            return None;
        }
        let sized = size(self.catalogue, &required, self.terms, &search);
        let choice = sized.best()?.choice()?;
        let own = choice.total().filter(|own| own.currency == total.currency)?;
        let headroom = ((choice.first_limit()?.over * required.room() - 1.0) * 100.0 + 1e-6).floor() / 100.0;
        let is_cheaper = own.as_f64() <= CHEAPER * total.as_f64() && headroom < sizing.required.headroom;
        is_cheaper.then(|| LessHeadroom { headroom, choice: choice.clone() })
    }

    /// The sizing without a limit of the resource manager on processors; `None` if there is none, or the sizing is without it.
    pub fn uncapped(&self, sizing: &Sizing) -> Option<OtherLoad> {
        let censored = sizing.required.censored.as_ref()?;
        let is_limit = matches!(censored.cause, CensorCause::ProcessorCap { .. });
        if !is_limit || self.design.lifts_processor_cap || self.design.burst == Burst::None {
            return None;
        }
        self.for_design(sizing, &Design { lifts_processor_cap: true, ..self.design.clone() })
    }

    /// The sizing for the mean of windows that are so long that their peaks are an assumption.
    pub fn constant_load(&self, sizing: &Sizing) -> Option<OtherLoad> {
        let is_assumed = |step: &GrowthStep| {
            matches!(step.kind, StepKind::Peaks(PeakSource::LongerWindows | PeakSource::BusyPeriods))
                && step.small.max(step.large) > 1.0
        };
        let is_assumed = sizing.required.steps.iter().any(is_assumed);
        is_assumed.then(|| self.for_design(sizing, &Design { burst: Burst::None, ..self.design.clone() }))?
    }

    /// The recommended product by other rules.
    fn for_design(&self, sizing: &Sizing, design: &Design) -> Option<OtherLoad> {
        let required = derive_requirements(self.subject, design).ok()?;
        let search = self.of_product(sizing);
        let sized = search.map(|search| size(self.catalogue, &required, self.terms, &search));
        let choice = sized.as_ref().and_then(|sized| sized.best()?.choice().cloned());
        Some(OtherLoad { required, choice })
    }

    /// The search for the product of the recommended configuration; `None` for separate volumes.
    fn of_product(&self, sizing: &Sizing) -> Option<Search> {
        let choice = sizing.best()?.choice()?;
        Some(Search { products: vec![choice.offer.product().name().to_owned()], ..self.search.clone() })
    }

    /// The sizing without a few windows of large reads, if these determine the expected bytes per second.
    pub fn without_scans(&self, sizing: &Sizing) -> Option<WithoutScans> {
        let (scans, other) = without_scans(self.subject, self.design)?;
        let busiest = |demand: &SizingRequirements| {
            let rate = |point: &&DesignPoint| point.bytes_per_second();
            demand.points.iter().max_by(|a, b| rate(a).total_cmp(&rate(b))).cloned()
        };
        let (point, present) = (busiest(&other)?, busiest(&sizing.required)?);
        if point.bytes_per_second() > DECISIVE * present.bytes_per_second() {
            return None;
        }
        let search = self.of_product(sizing);
        let choice =
            search.and_then(|search| size(self.catalogue, &other, self.terms, &search).choices.into_iter().next());
        Some(WithoutScans { scans, point, choice })
    }
}

/// A few windows of mostly large reads, of a scan or a backup.
#[derive(Clone, Debug, PartialEq)]
pub struct ScanWindows {
    /// Number of these windows.
    pub windows: usize,
    /// Bytes per second of the highest of them.
    pub bytes_per_second: f64,
    /// The same as a multiple of the median window.
    pub times: f64,
    pub highest: Slot,
    /// Share of large reads in their bytes, 0 to 1.
    pub large_reads: f64,
    /// The statement that read the most in them, with its bytes, and their share of all bytes, at most 1; `None` if the input
    /// names none.
    pub reader: Option<(TopReader, f64)>,
}

/// The sizing without these windows.
#[derive(Clone, Debug)]
pub struct WithoutScans {
    pub scans: ScanWindows,
    /// The expected load without them, in the windows with the most bytes.
    pub point: DesignPoint,
    /// The cheapest choice of the recommended product for that load; `None` if there is none.
    pub choice: Option<Choice>,
}

/// Minimum number of windows of an input that has a usual load.
const MIN_WINDOWS: usize = 8;
/// Maximum share of the windows.
const RARE: f64 = 0.1;
/// Minimum bytes per second of such a window, as a multiple of the median.
const FAR: f64 = 4.0;
/// Minimum share of large reads in its bytes.
const MIN_LARGE_READS: f64 = 0.7;
/// Maximum ratio of the expected bytes without them to those with them.
const DECISIVE: f64 = 0.7;

/// The windows of a scan or a backup, and the design point of the others.
fn without_scans(subject: &DatabaseDemand, design: &Design) -> Option<(ScanWindows, SizingRequirements)> {
    let (windows, slots) = load_windows(subject, design);
    let rate = |index: usize| windows[index].rate(Busiest::Bytes);
    let median = quantile(windows.iter().map(|one| (one.rate(Busiest::Bytes), one.seconds)).collect(), 0.5);
    let large_reads = |index: usize| {
        let is_large = |load: &&ClassLoad| load.reads >= 1.0 && load.size() >= LARGE_READ;
        windows[index].classes.iter().filter(is_large).map(|load| load.bytes_per_second).sum::<f64>()
    };
    let is_scan = |index: &usize| rate(*index) >= FAR * median && large_reads(*index) >= MIN_LARGE_READS * rate(*index);
    let found: Vec<usize> = (0..windows.len()).filter(is_scan).collect();
    let is_rare = found.len() as f64 <= RARE * windows.len() as f64;
    if windows.len() < MIN_WINDOWS || found.is_empty() || !is_rare || median <= 0.0 {
        return None;
    }
    let bytes = |index: usize| rate(index) * windows[index].seconds;
    let sum = |of: &dyn Fn(usize) -> f64| found.iter().map(|index| of(*index)).sum::<f64>();
    let highest = found.iter().copied().max_by(|a, b| rate(*a).total_cmp(&rate(*b)))?;
    let scans = ScanWindows {
        windows: found.len(),
        bytes_per_second: rate(highest),
        times: rate(highest) / median,
        highest: subject.slots[slots[highest]],
        large_reads: sum(&large_reads) / sum(&rate),
        reader: find_reader(subject, found.iter().map(|index| slots[*index]), sum(&bytes)),
    };
    let mut other = subject.clone();
    for values in other.series.iter_mut().map(|series| &mut series.values) {
        for slot in found.iter().map(|index| slots[*index]) {
            values[slot] = None;
        }
    }
    let without = |slot: &usize| found.iter().all(|index| slots[*index] != *slot);
    limit_filtering(&mut other, slots.iter().copied().filter(without));
    Some((scans, derive_requirements(&other, design).ok()?))
}

/// The statement with the most bytes in these slots, each of which has the one that read the most in it.
fn find_reader(subject: &DatabaseDemand, slots: impl Iterator<Item = usize>, all: f64) -> Option<(TopReader, f64)> {
    let account = subject.account.as_ref()?;
    let mut readers: BTreeMap<&str, TopReader> = BTreeMap::new();
    for top in slots.filter_map(|slot| account.slots.get(slot)?.as_ref()?.counters.top_reader.as_deref()) {
        let none = || TopReader { bytes: 0.0, ..top.clone() };
        readers.entry(&top.statement).or_insert_with(none).bytes += top.bytes;
    }
    let reader = readers.into_values().max_by(|a, b| a.bytes.total_cmp(&b.bytes))?;
    let share = (reader.bytes / all).min(1.0);
    Some((reader, share))
}

/// Limits the scans that cells filter for an instance to those of all instances in the busiest of these slots.
fn limit_filtering(subject: &mut DatabaseDemand, slots: impl Iterator<Item = usize>) {
    let Some(account) = &subject.account else { return };
    let spent = slots.filter_map(|slot| account.slots.get(slot)?.as_ref());
    let Some(highest) = spent.filter_map(|spent| Some(spent.counters.filtered_bytes? / spent.seconds)).reduce(f64::max)
    else {
        return;
    };
    for one in &mut subject.filtering {
        one.filtered.value = one.filtered.value.min(highest);
    }
}
