//! Database time and the effect of changes: bars, events, what-ifs and the buffer cache curve.

use std::iter;

use maud::html;
use plimsoll_choose::diagnosis::{DatabaseEffect, FLOOR_S, Slice, Split};
use plimsoll_ingest::EventTime;
use plimsoll_language::{label, say};
use plimsoll_units::Bytes;

use super::{Case, origins};
use crate::chart::{self, Axis, Bar, Fill, Joined, Plane, PointGroup, Spot};
use crate::html::{both, figure};
use crate::number;
use crate::page::{Block, Cell, Chart, Column, ColumnKind, PageSection, Table, UNKNOWN};
use crate::pages::file_name;
use crate::scale::AxisScale;
use crate::words::diagnosis::{part, second_log_write, seconds, share};

/// Parts with a smaller share would be rounded to 0 %.
const SHARE_MIN: f64 = 0.000_5;
/// Maximum number of events.
const EVENTS_MAX: usize = 10;

/// Database time as a cascade of bars.
pub(super) fn build_section(case: &Case<'_>) -> Option<PageSection> {
    let split = case.found.split.as_ref()?;
    let description = bars(split).iter().map(|bar| format!("{}: {}", bar.name, bar.value)).collect::<Vec<_>>();
    let id = format!("time-{}", case.index);
    let drawn = both(&id, label!("Database time by part"), &say!("{}.", description.join(label!("; "))), |size| {
        chart::bars(&bars(split), size)
    });
    let markup = html! {
        p class="lead" { (label!("Faster storage shortens full bars only. Each bar begins at the end of the bar above.")) }
        (figure(&drawn, &case.source()))
    };
    let chart = Chart { markup, plain: Some(plain_bars(split)) };
    Some(
        PageSection::bare(case.title(label!("Database time")), vec![Block::Chart(chart)])
            .with_anchor(format!("d{}-time", case.index)),
    )
}

fn bar_columns() -> [Column; 5] {
    [
        Column::text(label!("database time"), 0),
        Column::new(label!("share"), "%", ColumnKind::Share, 0),
        Column::time(label!("time"), "s", 0),
        Column::text("", 1),
        Column::text(label!("longest"), 2),
    ]
}

/// A row of a part, or of all storage, with a bar in characters.
fn plain_bar(name: String, [share, seconds]: [f64; 2], is_storage: bool, longest: String) -> Vec<Cell> {
    /// Characters of the whole time.
    const FULL: f64 = 25.0;
    let mark = if is_storage { "\u{25aa}" } else { "\u{25ab}" };
    vec![
        Cell::text(name),
        Cell::figure(format!("{:.1}", share * 100.0), share * 100.0),
        Cell::three(seconds),
        Cell::text(mark.repeat((share * FULL).round() as usize)),
        Cell::text(longest),
    ]
}

/// A bar in characters for each part; several parts of storage follow their sum.
fn plain_bars(split: &Split) -> Table {
    let row = |slice: &Slice, lead: &str| {
        // Time outside of the events, such as that of log writes within commits, may exceed the first of them.
        let rest_s = slice.seconds - slice.events.iter().map(|event| event.total_s).sum::<f64>();
        let longest = slice.events.first().filter(|event| event.total_s >= rest_s);
        let longest = longest.map_or(String::new(), |event| event.event.to_string());
        let name = format!("{lead}{}", part(slice.part));
        plain_bar(name, [slice.share, slice.seconds], slice.part.is_storage(), longest)
    };
    let (storage, others): (Vec<&Slice>, Vec<&Slice>) =
        split.slices.iter().filter(|slice| slice.share >= SHARE_MIN).partition(|slice| slice.part.is_storage());
    let all = [split.storage(), storage.iter().map(|slice| slice.seconds).sum()];
    let parts = match storage[..] {
        [only] => vec![row(only, "")],
        [] => Vec::new(),
        _ => iter::once(plain_bar(label!("storage").to_owned(), all, true, String::new()))
            .chain(storage.iter().map(|slice| row(slice, "- ")))
            .collect(),
    };
    let (above, below): (Vec<&Slice>, Vec<&Slice>) = others.iter().partition(|slice| slice.share > all[0]);
    let rows = above.iter().map(|slice| row(slice, "")).chain(parts).chain(below.iter().map(|slice| row(slice, "")));
    let processors = split.processors.map_or(String::new(), |count| say!("; processors: {}", number::integer(count)));
    let busy = split.host_busy.map_or(String::new(), |busy| say!(", busy {} of the time", share(busy)));
    let waiting = split.host.io_wait.map_or(String::new(), |idle| say!(", idle in I/O wait {}", share(idle)));
    let notes = [
        say!("{} sessions active on average{processors}{busy}{waiting}", number::three(split.active)),
        label!("\u{25aa} shortened by faster storage; \u{25ab} unaffected by storage").to_owned(),
    ];
    Table::of(label!("Database time by part"), bar_columns(), rows, |row| row).with_notes(notes)
}

fn bars(split: &Split) -> Vec<Bar> {
    let mut from = 0.0;
    let bar = |slice: &Slice| {
        let start = from;
        from += slice.share;
        Bar {
            name: part(slice.part).to_owned(),
            from: start,
            to: from,
            value: say!("{}, {} s", share(slice.share), number::three(slice.seconds)),
            fill: if slice.part.is_storage() { Fill::Full } else { Fill::Hollow },
            tone: 0,
        }
    };
    split.slices.iter().filter(|slice| slice.share >= SHARE_MIN).map(bar).collect()
}

fn event_columns() -> [Column; 7] {
    [
        Column::text(label!("waits for"), 0),
        Column::new(label!("waits"), "", ColumnKind::Share, 2),
        Column::time(label!("each"), "ms", 0),
        Column::new("p99", "ms", ColumnKind::Text, 3),
        Column::time(label!("in all"), "s", 1),
        Column::new(label!("line"), "", ColumnKind::Share, 0),
        Column::text(label!("of"), 4),
    ]
}

/// The events with the most database time.
pub(super) fn longest_events(split: &Split) -> Vec<&EventTime> {
    let mut events: Vec<&EventTime> = split.slices.iter().flat_map(|slice| &slice.events).collect();
    events.sort_by(|a, b| b.total_s.total_cmp(&a.total_s));
    events.truncate(EVENTS_MAX);
    events
}

/// The longest events, each with the place of its longest value.
pub(super) fn places(case: &Case<'_>) -> Option<PageSection> {
    let split = case.found.split.as_ref()?;
    let time = &split.place;
    let events = longest_events(split);
    let is_one = events.iter().all(|event| event.place.input == time.input);
    let row = |(index, event): (usize, &EventTime)| {
        let within = event.quantile_s(0.99).map_or(UNKNOWN.to_owned(), |[lower, upper]| {
            let (sign, bound) = if upper.is_finite() { ("<=", upper) } else { (">", lower) };
            format!("{sign} {}", number::three(bound * 1e3))
        });
        let line = event.place.origin.line;
        let line = Some(line).filter(|line| *line > 0);
        let input = if is_one { UNKNOWN } else { file_name(&event.place.input) };
        let place = Some(origins::event_id(case.index, index));
        vec![
            Cell::text(&event.event).with_link(place.clone()),
            Cell::or_unknown(Some(event.count).filter(|count| *count > 0.0), Cell::three),
            Cell::or_unknown(event.mean_s(), |mean| Cell::three(mean / 1e-3)).with_link(place.clone()),
            Cell::text(within),
            Cell::three(event.total_s).with_link(place.clone()),
            Cell::or_unknown(line, |line| Cell::text(line.to_string())).with_link(place),
            Cell::text(input),
        ]
    };
    let note = say!(
        "database time: {} s{}, {}, {}",
        number::three(split.database_s),
        if case.found.windows.count > 1 { label!(", most of it in") } else { "" },
        file_name(&time.input),
        time.origin
    );
    let excess = split.parts_s.map(|parts_s| {
        let of = if split.total_s > split.database_s { label!("their sum") } else { label!("the database time") };
        let parts_s = number::three(parts_s);
        say!("waits and processor time, sampled separately, are {parts_s} s, more than the database time: shares are of {of}")
    });
    let idle = split.idle_waits.iter().map(|(event, seconds)| say!("{event}, {} s", number::three(*seconds)));
    let idle = idle.collect::<Vec<_>>().join(label!("; "));
    let idle = (!idle.is_empty()).then(|| say!("not counted, as idle: {idle}"));
    let notes = iter::once(note).chain(idle).chain(excess);
    let blocks = if events.is_empty() {
        notes.map(Block::Note).collect()
    } else {
        let table =
            Table::of(label!("Longest waits"), event_columns(), events.into_iter().enumerate(), row).without_unknown();
        vec![Block::Table(table.with_notes(notes))]
    };
    Some(PageSection::bare(case.title(label!("Longest waits")), blocks))
}

fn what_if_columns() -> [Column; 4] {
    [
        Column::text(label!("what if"), 0),
        Column::new(label!("saves"), "%", ColumnKind::Share, 0),
        Column::new(label!("same work"), label!("times as fast"), ColumnKind::Share, 1),
        Column::new(label!("reads"), "%", ColumnKind::Share, 2),
    ]
}

/// The effects of faster storage and of other sizes of the buffer cache.
pub(super) fn what_ifs(case: &Case<'_>) -> PageSection {
    let found = case.found;
    // Zero has no sign.
    let percent = |share: f64| {
        let percent = (share * 1_000.0).round() / 10.0 + 0.0;
        Cell::figure(format!("{percent:.1}"), percent)
    };
    let effect = |name: &str, effect: &Option<DatabaseEffect>| {
        let effect = effect.as_ref().filter(|effect| !effect.parts.is_empty())?;
        let faster = Cell::three(effect.speedup());
        Some(vec![Cell::text(name), percent(effect.saved()), faster, Cell::unknown()])
    };
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    rows.extend(effect(label!("storage ten times as fast"), &found.ten_times));
    let bound = found.split.as_ref().zip(found.at_most.as_ref());
    let writes = bound.map_or("", |(split, bound)| second_log_write(split.storage(), bound.saved()));
    rows.extend(effect(&say!("storage with zero latency (Amdahl's bound){writes}"), &found.at_most));
    for step in &found.cache {
        let bytes = Bytes::new((step.bytes / f64::from(1 << 20)).round() as u64 * (1 << 20));
        let faster = 1.0 / (1.0 - step.saved).max(f64::MIN_POSITIVE);
        let name = say!("buffer cache {} times, {bytes}", number::three(step.factor));
        let reads = percent(step.reads).with_link(origins::cache_id(case));
        rows.push(vec![Cell::text(name), percent(step.saved), Cell::three(faster), reads]);
    }
    let note = say!(
        "share of the database's time, for the same work; minimum time of an operation: {}; background writes, \
         processor time and locks are unchanged",
        seconds(FLOOR_S)
    );
    let table =
        Table::of(label!("Effects of faster storage or another buffer cache"), what_if_columns(), rows, |row| row);
    let blocks = iter::once(Block::Table(table.with_notes([note]))).chain(cache(case).map(Block::Chart));
    PageSection::bare(case.title(label!("What would change it")), blocks.collect())
        .with_anchor(format!("d{}-what-if", case.index))
}

/// Reads by size of the buffer cache.
fn cache(case: &Case<'_>) -> Option<Chart> {
    let steps = &case.found.cache;
    let (first, last) = (steps.first()?, steps.last()?);
    let gib = |bytes: f64| bytes / f64::from(1 << 30);
    let spot = |bytes: f64, reads: f64, saved: f64| Spot {
        x: gib(bytes),
        y: reads * 100.0,
        tip: say!("{} GiB: {} of today's reads, saves {}", number::three(gib(bytes)), share(reads), share(saved)),
        label: String::new(),
    };
    let mut spots: Vec<Spot> = steps.iter().map(|step| spot(step.bytes, step.reads, step.saved)).collect();
    let present = first.bytes / first.factor;
    spots.push(Spot { label: label!("today").into(), ..spot(present, 1.0, 0.0) });
    spots.sort_by(|a, b| a.x.total_cmp(&b.x));
    let max = steps.iter().map(|step| step.reads * 100.0).fold(100.0, f64::max);
    let plane = Plane {
        x: Axis {
            name: label!("buffer cache, GiB"),
            scale: AxisScale::from_zero(gib(last.bytes)),
            label: number::three,
        },
        y: Axis {
            name: label!("reads of storage, % of today's"),
            scale: AxisScale::from_zero(max),
            label: number::three,
        },
        groups: vec![PointGroup {
            name: label!("reads").into(),
            tone: 0,
            fill: Fill::Full,
            joined: Joined::Line,
            spots,
        }],
    };
    let id = format!("cache-{}", case.index);
    let chart =
        both(&id, label!("Reads by size of the buffer cache"), label!("The table above has the figures."), |size| {
            chart::plane(&plane, size)
        });
    Some(Chart::new(html! {
        h3 { (label!("Reads by size of the buffer cache")) }
        p class="lead" { (label!("Estimated by the database or from a trace, over the range of the estimates.")) }
        (figure(&chart, &case.source()))
    }))
}
