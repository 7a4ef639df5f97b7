//! Totals of a served volume: monotonic counters.

use std::sync::Arc;

use plimsoll_model::{ChainSpec, Rate, Stage};
use plimsoll_units::{Instant, Span};

use crate::request::Class;

/// Maximum number of distinct names; further names share the last counter.
const LABELS_MAX: usize = 4_096;

/// Identifier of a stage name: its index in [`Totals::bound_by_volume`]. Stable across changes of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(pub u16);

/// The stage that delayed a request longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bound {
    /// A stage of the volume's own model, by its name in [`Totals`].
    Volume(Label),
    /// A stage of its group's shared model.
    Group(Stage),
    Fault,
}

/// Upper bounds of the buckets of response times, in nanoseconds: 1, 2 and 5 of each decade from 1 us to 10 s.
pub const BUCKET_BOUNDS_NS: [u64; 22] = [
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// Response times of successful requests, counted in buckets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseCounts {
    counts: [u64; BUCKET_BOUNDS_NS.len()],
    sum_ns: u64,
}

impl ResponseCounts {
    /// Counts by the upper bound of their bucket, in nanoseconds; longer responses are in none.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        BUCKET_BOUNDS_NS.into_iter().zip(self.counts)
    }

    /// Sum of all response times in nanoseconds, with those in no bucket.
    pub const fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    fn record(&mut self, response: Span) {
        let ns = response.as_nanos();
        if let Some(count) = self.counts.get_mut(BUCKET_BOUNDS_NS.partition_point(|bound| *bound < ns)) {
            *count += 1;
        }
        self.sum_ns = self.sum_ns.saturating_add(ns);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedQuantity {
    Operations,
    /// Bytes.
    Bytes,
}

impl LimitedQuantity {
    /// The quantity of each stage of a model, in the order of its names; none for stages that are not limits.
    pub fn of_stages(model: &ChainSpec) -> Vec<Option<Self>> {
        let quantity = |rate| match rate {
            Rate::Operations(_) => Self::Operations,
            Rate::Bytes(_) => Self::Bytes,
        };
        model.limited_rates().into_iter().map(|rate| rate.map(quantity)).collect()
    }
}

/// Time with at least one request that a limit delayed longest, from its submission to its due time, in model time. Requests
/// are added in the order of their replies, so that a time between two of them that a later, longer one covers is left
/// out: a lower bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitTime {
    length: Span,
    until: Instant,
}

impl LimitTime {
    pub const fn length(self) -> Span {
        self.length
    }

    fn add(&mut self, [begin, end]: [Instant; 2]) {
        let begin = begin.max(self.until);
        if end > begin {
            self.length += end.since(begin);
            self.until = end;
        }
    }
}

/// Operations, bytes and errors by class ([`Class::index`]), and binding stages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Successful requests.
    pub ops: [u64; 4],
    /// Bytes transferred.
    pub bytes: [u64; 4],
    /// Failed requests.
    pub errors: [u64; 4],
    /// Response times of successful requests as clients have them, in model time; of volumes with a model.
    pub responses: [ResponseCounts; 4],
    /// Requests by binding stage of the group's model.
    pub bound_by_group: Vec<u64>,
    /// Requests affected by an injected fault.
    pub bound_by_fault: u64,
    /// Time at the limits of operations and of bytes of the volume's own models.
    pub limited: [LimitTime; 2],
    /// Time at each stage of the group's model.
    pub limited_by_group: Vec<LimitTime>,
    bound_by_volume: Vec<(Arc<str>, u64)>,
    /// The quantity that each of these stages limits in the present model.
    quantities: Vec<Option<LimitedQuantity>>,
}

impl Totals {
    /// Requests by binding stage of the volume's own models: each name once, in the order of [`Label`].
    pub fn bound_by_volume(&self) -> impl ExactSizeIterator<Item = (&str, u64)> {
        self.bound_by_volume.iter().map(|(name, count)| (&**name, *count))
    }

    pub(crate) fn label_stages(&mut self, model: &ChainSpec) -> Vec<Label> {
        let labels = self.labels(&model.names());
        for (label, quantity) in labels.iter().zip(LimitedQuantity::of_stages(model)) {
            self.quantities[usize::from(label.0)] = quantity;
        }
        labels
    }

    /// Labels of stage names.
    pub(crate) fn labels(&mut self, names: &[String]) -> Vec<Label> {
        let labels = names.iter().map(|name| self.label(name)).collect();
        self.quantities.resize(self.bound_by_volume.len(), None);
        labels
    }

    fn label(&mut self, name: &str) -> Label {
        let found = self.bound_by_volume.iter().position(|(own, _)| **own == *name);
        let place = found.unwrap_or_else(|| {
            if self.bound_by_volume.len() < LABELS_MAX {
                self.bound_by_volume.push((name.into(), 0));
            }
            self.bound_by_volume.len() - 1
        });
        Label(place as u16)
    }

    /// Counts the response time of a successful request.
    pub(crate) fn respond(&mut self, class: Class, response: Span) {
        self.responses[class.index()].record(response);
    }

    /// Adds the time of a request to that of the limit that delayed it.
    pub(crate) fn add_limit_time(&mut self, bound_by: Bound, period: [Instant; 2]) {
        match bound_by {
            Bound::Volume(Label(label)) => {
                if let Some(Some(quantity)) = self.quantities.get(usize::from(label)) {
                    self.limited[*quantity as usize].add(period);
                }
            }
            Bound::Group(stage) => {
                let stage = usize::from(stage.0);
                if stage >= self.limited_by_group.len() {
                    self.limited_by_group.resize(stage + 1, LimitTime::default());
                }
                self.limited_by_group[stage].add(period);
            }
            Bound::Fault => {}
        }
    }

    pub(crate) fn count(&mut self, class: Class, bytes: u64, is_error: bool, bound_by: Bound) {
        let index = class.index();
        if is_error {
            self.errors[index] += 1;
        } else {
            self.ops[index] += 1;
            self.bytes[index] += bytes;
        }
        match bound_by {
            Bound::Volume(Label(label)) => self.bound_by_volume[usize::from(label)].1 += 1,
            Bound::Group(stage) => {
                let stage = usize::from(stage.0);
                if stage >= self.bound_by_group.len() {
                    self.bound_by_group.resize(stage + 1, 0);
                }
                self.bound_by_group[stage] += 1;
            }
            Bound::Fault => self.bound_by_fault += 1,
        }
    }
}
