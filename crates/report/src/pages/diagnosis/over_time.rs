//! Demand over time by window, with the ceilings of the given configuration.

use maud::html;
use plimsoll_catalogue::Counts;
use plimsoll_ingest::{Class, DatabaseDemand, Measure};
use plimsoll_language::label;

use super::Case;
use crate::chart;
use crate::html::{both, figure};
use crate::number;
use crate::page::{Block, Chart, PageSection};
use crate::timeline::{Panel, PanelScale, Timeline, Track};
use crate::words::clean;

/// Maximum number of points over the width; more would be narrower than a stroke.
const MAX_PIECES: usize = 400;
/// Maximum number of ceilings in a panel.
const MAX_LIMITS: usize = 2;
/// Ceilings above this multiple of the peak demand are omitted, as they would flatten the chart.
const IN_SIGHT: f64 = 4.0;

/// Operations and bytes per second by window; `None` for a single window.
pub(super) fn section(case: &Case<'_>) -> Option<PageSection> {
    let subject = case.subject;
    if subject.slots.len() < 2 {
        return None;
    }
    let clock = TimeAxis::of(subject);
    let panels: Vec<Panel> = [
        panel(case, &clock, Measure::Iops, label!("demand, IOPS"), 1.0),
        panel(case, &clock, Measure::Throughput, label!("demand, MB/s"), 1e6),
    ]
    .into_iter()
    .flatten()
    .collect();
    if panels.is_empty() {
        return None;
    }
    let limited = panels.iter().any(|panel| !panel.limits.is_empty());
    let ticks = clock.ticks();
    let story = Timeline { title: String::new(), source: String::new(), panels, marks: Vec::new(), ticks };
    let id = format!("over-time-{}", case.index);
    let description = label!("Demand in operations and bytes per second over all windows.");
    let chart = both(&id, label!("Demand over time"), description, |size| chart::panels(&story, size));
    let markup = html! {
        p class="lead" {
            (label!("Each step is the mean of a window")) @if clock.merged > 1 { (label!(", the highest of ")) (clock.merged) (label!(" adjacent windows")) } (label!("."))
            @if clock.begin.is_none() { (label!(" Some inputs have no timestamps: windows are drawn in sequence.")) }
            @if limited { (label!(" Dashed lines are the ceilings for the mix of the busiest window.")) }
        }
        (figure(&chart, &case.source()))
    };
    Some(PageSection::bare(case.title(label!("Demand over time")), vec![Block::Chart(Chart::new(markup))]))
}

struct TimeAxis {
    /// Beginning of the first window, if every window has a timestamp.
    begin: Option<plimsoll_ingest::Slot>,
    /// Beginning and end of each window in seconds.
    spans: Vec<(f64, f64)>,
    /// Number of windows merged into a point.
    merged: usize,
}

impl TimeAxis {
    fn of(subject: &DatabaseDemand) -> Self {
        let slots = &subject.slots;
        let begin = slots.first().copied().filter(|_| slots.iter().all(|slot| slot.begin.is_some()));
        let mut so_far = 0.0;
        let mut spans = Vec::new();
        for slot in slots {
            let length = slot.length.as_secs_f64();
            let since = begin.and_then(|first| Some(slot.begin?.duration_since(first.begin?).as_secs_f64()));
            let from = since.unwrap_or(so_far);
            so_far = from + length;
            spans.push((from, so_far));
        }
        Self { begin, spans, merged: slots.len().div_ceil(MAX_PIECES).max(1) }
    }

    /// A step for each point; broken at missing windows and unknown values.
    fn track(&self, name: &str, values: &[Option<f64>], unit: f64) -> Track {
        let mut points = Vec::new();
        let mut last_to = f64::NAN;
        for (spans, values) in self.spans.chunks(self.merged).zip(values.chunks(self.merged)) {
            let (from, to) = (spans[0].0, spans.iter().map(|span| span.1).fold(spans[0].1, f64::max));
            if from > last_to + (to - from) / 2.0 {
                points.push((from, f64::NAN));
            }
            let highest = values.iter().copied().flatten().reduce(f64::max).map_or(f64::NAN, |value| value / unit);
            points.extend([(from, highest), (to, highest)]);
            last_to = to;
        }
        Track { name: name.to_owned(), points }
    }

    /// Whole hours or days in the time zone of the inputs.
    fn ticks(&self) -> Vec<(f64, String)> {
        const STEPS: [f64; 17] = [
            1.0,
            5.0,
            15.0,
            60.0,
            300.0,
            900.0,
            1_800.0,
            3_600.0,
            10_800.0,
            21_600.0,
            43_200.0,
            DAY,
            2.0 * DAY,
            7.0 * DAY,
            14.0 * DAY,
            28.0 * DAY,
            91.0 * DAY,
        ];
        const DAY: f64 = 86_400.0;
        let Some(begin) = self.begin.and_then(|slot| slot.begin) else { return Vec::new() };
        let end = self.spans.iter().map(|span| span.1).fold(0.0, f64::max);
        let step = STEPS.into_iter().find(|step| end / step <= 10.0).unwrap_or(365.0 * DAY);
        let of_day = f64::from(begin.hour()) * 3_600.0 + f64::from(begin.minute()) * 60.0 + f64::from(begin.second());
        let first = (of_day / step).ceil() * step - of_day;
        let label = |at: f64| {
            let time = begin.checked_add(std::time::Duration::from_secs_f64(at.max(0.0).round())).unwrap_or(begin);
            match (time.hour(), time.minute(), time.second()) {
                (0, 0, 0) => format!("{:02}-{:02}", time.month(), time.day()),
                (hour, minute, _) if step >= 60.0 => format!("{hour:02}:{minute:02}"),
                (hour, minute, second) => format!("{hour:02}:{minute:02}:{second:02}"),
            }
        };
        let count = ((end - first) / step).floor().clamp(-1.0, 20.0) as i32;
        (0..=count).map(|k| first + f64::from(k) * step).map(|at| (at, label(at))).collect()
    }
}

/// Panel of a measure: reads and writes if inputs distinguish them, otherwise all operations.
fn panel(case: &Case<'_>, clock: &TimeAxis, measure: Measure, name: &str, unit: f64) -> Option<Panel> {
    let series = |class| case.subject.series(class, measure);
    let track = |class: Class| Some(clock.track(class.label(), &series(class)?.values, unit));
    let mut tracks: Vec<Track> = [Class::Write, Class::Read].into_iter().filter_map(track).collect();
    if tracks.is_empty() {
        tracks.extend(track(Class::All));
    }
    let values = tracks.iter().flat_map(|track| &track.points).map(|(_, value)| *value);
    let max = values.filter(|value| value.is_finite()).reduce(f64::max)?;
    Some(Panel { name: name.to_owned(), scale: PanelScale::Rate, tracks, limits: limits(case, measure, max, unit) })
}

/// The lowest ceilings near the demand.
fn limits(case: &Case<'_>, measure: Measure, max: f64, unit: f64) -> Vec<(f64, String)> {
    let counts = if measure == Measure::Iops { Counts::Operations } else { Counts::Bytes };
    let ceilings = case.found.on.iter().flat_map(|on| &on.ceilings).filter(|used| used.counts == counts);
    let observed = ceilings.filter(|used| used.allows / unit <= max * IN_SIGHT).take(MAX_LIMITS);
    observed
        .map(|used| (used.allows / unit, format!("{}: {}", clean(&used.name), number::three(used.allows / unit))))
        .collect()
}
