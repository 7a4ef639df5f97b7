//! Metrics of clouds in exporters: values of a period, as gauges.
//!
//! An exporter prints the last period only, so that a page is a window. The period of sums is a setting of the exporter, and
//! no page has it.

mod names;

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::DateTime;
use plimsoll_language::label;
use plimsoll_units::Span;

pub(super) use self::names::may_be_gauge;
use self::names::{DATABASE_LABELS, GaugeMeaning, GaugeMetric, MetricOwner, named};
use crate::builder::Builder;
use crate::clouds::{cap_metric, is_own_disk};
use crate::reading::{Doubt, Fate, Origin, ReadingScope};
use crate::refusal::{InputFault, Refusal};
use crate::sampled::{Edge, Meaning, Points, Spacing};
use crate::text::timestamp;

/// Name and owner of a series.
type SeriesKey = (String, ReadingScope);

/// Values of a metric by time.
#[derive(Debug)]
struct GaugeSeries {
    metric: GaugeMetric,
    edge: Edge,
    points: Vec<(DateTime, f64, Origin)>,
}

/// A value of the current page.
#[derive(Debug)]
struct PageValue {
    metric: GaugeMetric,
    /// Its own time, the begin of a period.
    at: Option<DateTime>,
    value: f64,
    line: u64,
}

/// The gauges of an input.
#[derive(Debug, Default)]
pub(super) struct Gauges {
    series: BTreeMap<SeriesKey, GaugeSeries>,
    page: BTreeMap<SeriesKey, PageValue>,
    /// Times that the page states for hosts.
    stated: BTreeMap<String, DateTime>,
    /// Metrics of disks that are not read.
    ignored: BTreeSet<String>,
    /// Disks of a managed server that hold no data files.
    own_disks: BTreeSet<String>,
    has_untimed: bool,
    /// Sums that may be counters.
    is_unclear: bool,
}

/// Whether a sample is one of these metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SampleFate {
    Other,
    Added,
    /// The page has a value of it: it begins the next page.
    NextPage,
}

impl Gauges {
    /// Maximum number of series.
    const MAX: usize = 100_000;

    /// True for totals of an interval of a managed database, which `rds_exporter` prints as counters under the names of
    /// `node_exporter`.
    pub(super) fn is_interval_total(&mut self, name: &str, device: &str) -> bool {
        let is_total = name.starts_with("node_disk_") && (device.starts_with("rdsdev") || is_own_disk(device));
        if is_total {
            self.ignored.insert(format!("{name} {device}"));
        }
        is_total
    }

    /// Adds a value of the current page.
    pub(super) fn take<'a>(
        &mut self,
        (name, value, at): (&str, f64, Option<DateTime>),
        line: u64,
        label: impl Fn(&str) -> Option<&'a str>,
    ) -> SampleFate {
        if name == "rdsosmetrics_timestamp" {
            let at = timestamp::of_unix(value);
            self.stated.extend(at.map(|at| (named(DATABASE_LABELS, &label).to_owned(), at)));
            return SampleFate::Added;
        }
        let Some((key, metric)) = self.identify(name, &label) else { return SampleFate::Other };
        if self.page.contains_key(&key) {
            return SampleFate::NextPage;
        }
        if self.page.len() < Self::MAX && value.is_finite() {
            self.page.insert(key, PageValue { metric, at, value, line });
        }
        SampleFate::Added
    }

    fn identify<'a>(
        &mut self,
        name: &str,
        label: &impl Fn(&str) -> Option<&'a str>,
    ) -> Option<(SeriesKey, GaugeMetric)> {
        let metric = GaugeMetric::new(name, label)?;
        if metric.subject == MetricOwner::Database && is_own_disk(&metric.scope.part) {
            self.own_disks.insert(metric.scope.part);
            return None;
        }
        Some(((metric.title.clone(), metric.scope.clone()), metric))
    }

    pub(super) fn has_page(&self) -> bool {
        !self.page.is_empty()
    }

    /// True for a page with values whose time is that of the page.
    pub(super) fn needs_time(&self) -> bool {
        let has_time = |value: &PageValue| value.at.is_some() || self.stated.contains_key(&value.metric.scope.host);
        !self.page.values().all(has_time)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.series.is_empty() && !self.has_untimed
    }

    /// Ends a page that was taken at this time.
    pub(super) fn end_page(&mut self, taken: Option<DateTime>, out: &mut Builder) {
        let (page, stated) = (std::mem::take(&mut self.page), std::mem::take(&mut self.stated));
        for (key, PageValue { metric, at, value, line }) in page {
            // Google's exporter prints the end of a period, that of CloudWatch its begin.
            let edge = if at.is_some() && metric.subject != MetricOwner::Disk { Edge::Begin } else { Edge::End };
            let Some(at) = at.or_else(|| stated.get(&metric.scope.host).copied()).or(taken) else {
                self.has_untimed = true;
                continue;
            };
            let origin = Origin { line, table: None, field: out.text(&metric.title) };
            self.add(key, metric, edge, [(at, value, origin)]);
        }
    }

    fn add(
        &mut self,
        key: SeriesKey,
        metric: GaugeMetric,
        edge: Edge,
        points: impl IntoIterator<Item = (DateTime, f64, Origin)>,
    ) {
        let series = self.series.entry(key).or_insert(GaugeSeries { metric, edge, points: Vec::new() });
        series.points.extend(points);
    }

    /// Adds a series of a response; false for other metrics.
    pub(super) fn take_series<'a>(
        &mut self,
        name: &str,
        values: impl Iterator<Item = (DateTime, f64)>,
        (line, path): (u64, &str),
        label: impl Fn(&str) -> Option<&'a str>,
    ) -> bool {
        let Some((key, metric)) = self.identify(name, &label) else { return false };
        let mut values: Vec<_> = values.filter(|(_, value)| value.is_finite()).collect();
        values.sort_by_key(|(at, _)| *at);
        if metric.subject == MetricOwner::Disk && matches!(metric.meaning, GaugeMeaning::Figure(Meaning::Sum(_), _)) {
            match is_counter(&values) {
                Some(true) => return false,
                Some(false) => {}
                None => self.is_unclear = true,
            }
        }
        if self.series.len() < Self::MAX {
            let origin = Origin { line, table: None, field: format!("{path} {name}").into() };
            self.add(key, metric, Edge::End, values.into_iter().map(|(at, value)| (at, value, origin.clone())));
        }
        true
    }

    /// Emits all series. `interval` is the period of sums whose exporter has it in its settings.
    pub(super) fn put(mut self, interval: Option<Span>, out: &mut Builder) -> Result<(), Refusal> {
        for name in std::mem::take(&mut self.ignored) {
            out.part(name, Fate::Ignored);
        }
        for device in std::mem::take(&mut self.own_disks) {
            out.caution(None, Doubt::OwnDisk { device });
        }
        if self.has_untimed {
            return Err(out.unusable(InputFault::NoLength { item: label!("exposition") }));
        }
        if self.is_unclear {
            return Err(out.unusable(InputFault::CountersOrRates));
        }
        let spaced = self.begin_windows(interval);
        let (caps, figures): (Vec<_>, Vec<_>) =
            self.series.into_values().partition(|series| matches!(series.metric.meaning, GaugeMeaning::Cap(_)));
        put_caps(caps, out);
        let mut by_length: BTreeMap<Span, Points> = BTreeMap::new();
        for GaugeSeries { metric, points, .. } in choose_sources(figures, out)? {
            let GaugeMetric { title, meaning: GaugeMeaning::Figure(meaning, unit), scope, period, .. } = metric else {
                continue;
            };
            let stated = period.or(interval);
            if matches!(meaning, Meaning::Sum(_)) && stated.is_none() {
                return Err(out.unusable(InputFault::PeriodOfExporter { metric: title }));
            }
            let Some(length) = stated.or(spaced) else {
                return Err(out.unusable(InputFault::NoLength { item: label!("exposition") }));
            };
            let scope = out.scope(scope);
            let windows = by_length.entry(length).or_default();
            let points = separate_periods(points, length);
            out.part(title, Fate::Read(points.len() as u32));
            for (at, value, origin) in points {
                windows.add(at, scope, meaning.clone(), value * unit, origin);
            }
        }
        for (length, windows) in by_length {
            windows.put(length, Edge::Begin, out);
        }
        Ok(())
    }
}

impl Gauges {
    /// Orders all points, gives them the begin of their windows, and returns the smallest distance of two points.
    fn begin_windows(&mut self, interval: Option<Span>) -> Option<Span> {
        let mut spacing = Spacing::default();
        for series in self.series.values_mut() {
            series.points.sort_by_key(|(at, ..)| *at);
            series.points.dedup_by_key(|(at, ..)| *at);
            spacing.learn(series.points.iter().map(|(at, ..)| *at));
        }
        let spaced = spacing.length(None);
        for GaugeSeries { metric, edge, points } in self.series.values_mut() {
            let length = metric.period.or(interval).or(spaced).filter(|_| *edge == Edge::End);
            let Some(length) = length else { continue };
            for (at, ..) in points {
                *at = timestamp::before(*at, length).unwrap_or(*at);
            }
        }
        spaced
    }
}

/// True for values in order of time that only rise, as those of Google's exporter do if it adds deltas up
/// (`--monitoring.aggregate-deltas`); `None` for too few.
fn is_counter(values: &[(DateTime, f64)]) -> Option<bool> {
    /// Deltas of so many periods rise by chance once in 10!.
    const MIN_POINTS: usize = 10;
    let mut pairs = values.windows(2).map(|pair| pair[1].1 - pair[0].1);
    let is_rising = values.len() > 2 && pairs.clone().any(|rise| rise > 0.0) && pairs.all(|rise| rise >= 0.0);
    if is_rising && values.len() < MIN_POINTS { None } else { Some(is_rising) }
}

/// Emits evidence of limits, of each metric its best statistic.
fn put_caps(caps: Vec<GaugeSeries>, out: &mut Builder) {
    let mut best: BTreeMap<SeriesKey, (usize, GaugeSeries)> = BTreeMap::new();
    for series in caps {
        let GaugeMeaning::Cap(rank) = series.metric.meaning else { continue };
        let key = (series.metric.quantity.clone(), series.metric.scope.clone());
        if best.get(&key).is_none_or(|(other, _)| rank < *other) {
            best.insert(key, (rank, series));
        }
    }
    for ((quantity, scope), (_, GaugeSeries { metric, points, .. })) in best {
        let Some(limit) = cap_metric(&quantity) else { continue };
        let names = [scope.host.as_str(), scope.part.as_str()];
        let owner = names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(" ");
        let scope = out.scope(scope);
        limit.put((&metric.title, &owner), scope, &points, out);
        out.part(metric.title, Fate::Read(points.len() as u32));
    }
}

/// The series of the finest source of each subject, without statistics that allow no rate.
///
/// # Errors
/// Operations or bytes are only known by such a statistic.
fn choose_sources(series: Vec<GaugeSeries>, out: &mut Builder) -> Result<Vec<GaugeSeries>, Refusal> {
    // Clusters and machines cannot be assigned to their instances and volumes.
    let subject_of = |metric: &GaugeMetric| {
        let is_host = metric.subject == MetricOwner::Database && metric.rank < 2;
        (metric.subject, if is_host { metric.scope.host.clone() } else { String::new() })
    };
    let mut finest: BTreeMap<(MetricOwner, String), u8> = BTreeMap::new();
    for GaugeSeries { metric, .. } in &series {
        if matches!(metric.meaning, GaugeMeaning::Figure(Meaning::Sum(_) | Meaning::Rate(_), _)) {
            for key in [subject_of(metric), (metric.subject, String::new())] {
                let rank = finest.entry(key).or_insert(metric.rank);
                *rank = metric.rank.min(*rank);
            }
        }
    }
    let is_finest = |metric: &GaugeMetric| finest.get(&subject_of(metric)).is_none_or(|rank| metric.rank <= *rank);
    let (taken, others): (Vec<_>, Vec<_>) = series.into_iter().partition(|series| is_finest(&series.metric));
    for series in others {
        out.part(series.metric.title, Fate::Ignored);
    }
    let (figures, unusable): (Vec<_>, Vec<_>) =
        taken.into_iter().partition(|series| matches!(series.metric.meaning, GaugeMeaning::Figure(..)));
    for GaugeSeries { metric, .. } in unusable {
        let is_same =
            |other: &GaugeSeries| (&other.metric.quantity, &other.metric.scope) == (&metric.quantity, &metric.scope);
        match metric.meaning {
            GaugeMeaning::Unusable(doubt) if !figures.iter().any(is_same) => return Err(out.unusable(doubt)),
            _ => out.part(metric.title.clone(), Fate::Ignored),
        }
    }
    Ok(figures)
}

/// Points at least a period apart: an exporter that is asked more often repeats the same period.
fn separate_periods(points: Vec<(DateTime, f64, Origin)>, length: Span) -> Vec<(DateTime, f64, Origin)> {
    /// Times of pages jitter.
    const MIN_SHARE: f64 = 0.9;
    let mut separate: Vec<(DateTime, f64, Origin)> = Vec::new();
    for point in points {
        let apart_s = separate.last().map(|(at, ..)| point.0.duration_since(*at).as_secs_f64());
        if apart_s.is_none_or(|apart_s| apart_s >= MIN_SHARE * length.as_secs_f64()) {
            separate.push(point);
        }
    }
    separate
}
