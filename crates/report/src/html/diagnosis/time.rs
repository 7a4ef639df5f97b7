//! How the database spent its time, and what would change it: bars, events, what-ifs and the cache's curve.

use maud::{Markup, html};
use plimsoll_choose::diagnosis::{Slice, Split};

use super::super::figures::{both, figure};
use super::super::grid::filled;
use super::{Case, origins};
use crate::chart::{self, Axis, Bar, Fill, Group, Joined, Plane, Spot, typeset};
use crate::number;
use crate::scale::Scale;
use crate::text::diagnosis::{evidence, what_ifs as table_of};
use crate::words::diagnosis::{part, share};

/// The database's time as a cascade of bars, and the events that it went to.
pub(super) fn split(case: &Case<'_>) -> Markup {
    let Some(split) = &case.found.split else { return html! {} };
    let description = bars(split).iter().map(|bar| format!("{}: {}", bar.name, bar.value)).collect::<Vec<_>>();
    let id = format!("time-{}", case.index);
    let chart = both(&id, "Database time by part", &format!("{}.", description.join("; ")), |size| {
        chart::bars(&bars(split), size)
    });
    let events = evidence::places(split, case.found.windows.count);
    let event = |row: usize, column: &str| {
        let measured = ["waits for", "each", "99 of 100", "in all", "line"].contains(&column);
        measured.then(|| origins::event_id(case.index, row))
    };
    html! {
        section id={ "d" (case.index) "-time" } {
            h2 { "Database time" }
            p class="lead" { "Full bars are what faster storage makes shorter; hollow ones are what it does not. Each begins where the one above ends." }
            (figure(&chart, &case.source()))
            (filled("Waits that most of the time went to", &events, event))
        }
    }
}

fn bars(split: &Split) -> Vec<Bar> {
    /// Shares that would be shown as nought.
    const LEAST: f64 = 0.000_5;
    let mut from = 0.0;
    let bar = |slice: &Slice| {
        let start = from;
        from += slice.share;
        Bar {
            name: part(slice.part).to_owned(),
            from: start,
            to: from,
            value: format!("{}, {} s", share(slice.share), number::three(slice.seconds)),
            fill: if slice.part.is_storage() { Fill::Full } else { Fill::Hollow },
            tone: 0,
        }
    };
    split.slices.iter().filter(|slice| slice.share >= LEAST).map(bar).collect()
}

/// What faster storage or another buffer cache would give.
pub(super) fn what_ifs(case: &Case<'_>) -> Markup {
    let table = table_of(case.found);
    if table.rows.is_empty() {
        return html! {};
    }
    let faster = case.found.ten_times.iter().chain(&case.found.at_most).filter(|effect| !effect.parts.is_empty());
    let faster = faster.count();
    let origin = |row: usize, column: &str| match column {
        "reads" if row >= faster => origins::cache_id(case),
        _ => None,
    };
    html! {
        section id={ "d" (case.index) "-what-if" } {
            h2 { "What would change it" }
            (filled("What faster storage or another buffer cache would give", &table, origin))
            (cache(case))
        }
    }
}

/// Reads over the size of the buffer cache.
fn cache(case: &Case<'_>) -> Markup {
    let steps = &case.found.cache;
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else { return html! {} };
    let gib = |bytes: f64| bytes / f64::from(1 << 30);
    let spot = |bytes: f64, reads: f64, saved: f64| Spot {
        x: gib(bytes),
        y: reads * 100.0,
        tip: format!("{} GiB: {} of today's reads, saves {}", number::three(gib(bytes)), share(reads), share(saved)),
        label: String::new(),
    };
    let mut spots: Vec<Spot> = steps.iter().map(|step| spot(step.bytes, step.reads, step.saved)).collect();
    let present = first.bytes / first.factor;
    spots.push(Spot { label: "today".into(), ..spot(present, 1.0, 0.0) });
    spots.sort_by(|a, b| a.x.total_cmp(&b.x));
    let most = steps.iter().map(|step| step.reads * 100.0).fold(100.0, f64::max);
    let plane = Plane {
        x: Axis { name: "buffer cache, GiB", scale: Scale::from_zero(gib(last.bytes)), label: number::three },
        y: Axis { name: "reads of storage, % of today's", scale: Scale::from_zero(most), label: number::three },
        groups: vec![Group { name: "reads".into(), tone: 0, fill: Fill::Full, joined: Joined::Line, spots }],
    };
    let id = format!("cache-{}", case.index);
    let chart = both(&id, "Reads over the size of the buffer cache", "The table above has the figures.", |size| {
        chart::plane(&plane, size)
    });
    html! {
        h3 { "Reads over the size of the buffer cache" }
        p class="lead" { (typeset("As the database, or a trace, estimates it; nothing is said beyond its estimates.")) }
        (figure(&chart, &case.source()))
    }
}
