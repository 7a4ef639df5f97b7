//! Crowds of sessions on a page: the load line, response time against throughput, what reads took the database and its
//! storage, where the time went, and what happened over time.

use maud::{Markup, html};
use plimsoll_record::{Curve, Spent, SuiteRun};
use plimsoll_units::Span;

use super::super::figures::{both, figure};
use super::super::page;
use crate::chart::{self, Axis, Fill, Joined, Lane, Part, Plane, Spot, Stack, typeset};
use crate::crowds::{Group, Point, at_line, below, headline, offered, responses, splits};
use crate::scale::Scale;
use crate::words::database::{PARTS, share_of, spent, split};
use crate::words::{Counted, clean};
use crate::{number, pick};

/// Curves in one chart: as many as there are shapes.
pub(super) const MOST_CURVES: usize = 6;
/// More bars than these are no picture.
const MOST_BARS: usize = 40;
/// Values on an axis that differ by more than this are placed by factors.
const SQUEEZED: f64 = 20.0;

/// The load line of the only curve, as large as it deserves; nothing of several curves or without one.
pub(super) fn promise(suite: &SuiteRun, groups: &[Group<'_>]) -> Option<Markup> {
    let [group] = groups else { return None };
    let line = group.curve.load_line.as_ref()?;
    let rate = pick::line_iops(line)?;
    let at_least = if matches!(line, plimsoll_record::LoadLine::Beyond { .. }) { "\u{2265}\u{a0}" } else { "" };
    Some(html! {
        p class="big" { (at_least) (number::three(rate.value)) span { " transactions/s" } }
        p class="promise" {
            "keep " (typeset(&line.objective().to_string()))
            @if let Some(by) = at_line(group) { ", by " (by) }
            " " span class="word" { (suite.source.word()) }
        }
    })
}

/// What each curve comes to, in sentences.
pub(super) fn lines(suite: &SuiteRun, groups: &[Group<'_>]) -> Markup {
    let told: Vec<_> = groups.iter().map(|group| headline(suite, group)).collect();
    let told: Vec<_> = told.iter().filter(|told| told.verdict.is_some() || !told.rest.is_empty()).collect();
    let title = match told.iter().filter(|told| told.verdict.is_some()).count() {
        0 => "In short",
        1 => "Load line",
        _ => "Load lines",
    };
    html! {
        @if !told.is_empty() {
            section {
                h2 { (title) }
                ul class="method" {
                    @for one in told {
                        li {
                            @if let Some(verdict) = &one.verdict { strong { (typeset(&verdict.replace(" - ", " \u{2013} "))) "." } " " }
                            (typeset(&one.rest.join(" ")))
                        }
                    }
                }
            }
        }
    }
}

/// Everything that is drawn of the crowds of one suite, with their tables.
pub(super) fn sections(suite: &SuiteRun, groups: &[Group<'_>], index: usize) -> Markup {
    if groups.is_empty() {
        return html! {};
    }
    let source = html! { (suite.source.word()) " on " (clean(&suite.subject.name)) };
    let drawn: Vec<&Group<'_>> = groups.iter().filter(|group| group.seen() > 1).collect();
    let named: Vec<(String, &Group<'_>)> = drawn.iter().map(|group| (group.name.clone(), *group)).collect();
    html! {
        @for (part, chunk) in drawn.chunks(MOST_CURVES).enumerate() {
            (curves(&format!("crowd-{index}-{part}"), part, chunk, &source))
        }
        (page::table(&responses(groups), "Transactions"))
        @for (part, chunk) in named.chunks(MOST_CURVES).enumerate() {
            (reads(&format!("reads-{index}-{part}"), part, chunk, &source))
        }
        (page::table(&below(suite, groups), "What the database and its storage did"))
        (time_split(groups, index, &source))
        (over_time(groups, index, &source))
    }
}

/// Response time against throughput, of one curve or of several over each other. Later parts have no heading.
pub(super) fn curves(id: &str, part: usize, groups: &[&Group<'_>], source: &Markup) -> Markup {
    let curves: Vec<&Curve> = groups.iter().map(|group| &group.curve).collect();
    let title = "Response time against throughput";
    let lead = match curves[..] {
        [_] => "Each marker is one load: so many sessions side by side.",
        _ => "Each marker is one load: so many sessions side by side; upright lines are the load lines.",
    };
    let described = groups.iter().map(|group| description(group)).collect::<Vec<_>>().join(" ");
    let chart = both(id, title, &described, |size| chart::load_curve(&curves, Counted::Transactions, size));
    html! {
        section {
            @if part == 0 { h2 { (title) } p class="lead" { (lead) } }
            (figure(&chart, source))
        }
    }
}

fn description(group: &Group<'_>) -> String {
    let curve = &group.curve;
    let line = curve
        .load_line
        .as_ref()
        .map_or("No load line".into(), |line| format!("Load line: {}", Counted::Transactions.load_line(line)));
    typeset(&format!("{}: {} loads. {line}.", clean(&curve.subject.name), pick::seen(curve).count()))
}

/// The mean latency of reads over what the database reads and writes: as it sees them, and as its storage shows them.
pub(super) fn reads(id: &str, part: usize, named: &[(String, &Group<'_>)], source: &Markup) -> Markup {
    let of = |(tone, (name, group)): (usize, &(String, &Group<'_>))| {
        // Of several curves the names would stand in each other's way.
        let knee = group.at_knee().filter(|_| named.len() == 1);
        both_sides((tone, name), group, knee.map(|point| point.step.name.as_str()))
    };
    let groups: Vec<chart::Group> = named.iter().enumerate().flat_map(of).collect();
    if groups.is_empty() {
        return html! {};
    }
    let spots = || groups.iter().flat_map(|group| &group.spots);
    let ends = |of: fn(&Spot) -> f64| {
        spots()
            .map(of)
            .filter(|value| *value > 0.0)
            .fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)))
    };
    let ((least, most), (low, high)) = (ends(|spot| spot.x), ends(|spot| spot.y));
    // One curve is seen best from zero; of several one may be squeezed into a corner.
    let x = if named.len() > 1 && most / least > SQUEEZED { Scale::log(least, most) } else { Scale::from_zero(most) };
    let plane = Plane {
        x: Axis { name: "block reads and writes of the database a second", scale: x, label: number::short },
        y: Axis { name: "mean latency of a read", scale: Scale::for_latency(low, high), label: time },
        groups,
    };
    let title = "Read latency against block reads and writes";
    let chart = both(id, title, "The table below has the figures.", |size| chart::plane(&plane, size));
    html! {
        section {
            @if part == 0 {
                h2 { (title) }
                p class="lead" {
                    "Full markers are how long a read takes the database; hollow ones, what its block device shows. Where the \
                    hollow ones are higher, the page cache answers some of the reads."
                }
            }
            (figure(&chart, source))
        }
    }
}

fn time(ns: f64) -> String {
    if ns == 0.0 { "0".into() } else { typeset(&number::time(ns)) }
}

fn both_sides((tone, name): (usize, &str), group: &Group<'_>, knee: Option<&str>) -> Vec<chart::Group> {
    let seen = spots(group, "as the database sees it", knee, Point::read_as_seen);
    let below = spots(group, "as the storage shows it", None, Point::read_below);
    let named = |who: &str| if name.is_empty() { who.to_owned() } else { format!("{name}, {who}") };
    let side = |who, fill, spots| chart::Group { name: named(who), tone, fill, joined: Joined::Line, spots };
    let sides =
        [side("as the database sees it", Fill::Full, seen), side("as the storage shows it", Fill::Hollow, below)];
    sides.into_iter().filter(|side| !side.spots.is_empty()).collect()
}

/// Points with a latency, the one of that name marked as the knee.
fn spots<'a>(
    group: &Group<'a>,
    who: &str,
    knee: Option<&str>,
    latency: impl Fn(&Point<'a>) -> Option<Span>,
) -> Vec<Spot> {
    let spot = |point: &Point<'a>| {
        let (x, y) = (point.blocks()?, latency(point)?.as_nanos() as f64);
        (x > 0.0 && y > 0.0).then(|| Spot {
            x,
            y,
            tip: format!("{}: {} at {} blocks/s, {who}", offered(point), number::time(y), number::three(x)),
            label: if knee == Some(point.step.name.as_str()) { "knee".into() } else { String::new() },
        })
    };
    group.points.iter().filter_map(spot).collect()
}

const fn class(part: Spent) -> &'static str {
    match part {
        Spent::Processor => "c5",
        Spent::Reading => "c0",
        Spent::Writing => "c2",
        Spent::Committing => "c1",
        Spent::Locked => "c3",
        Spent::Internal => "c4",
        Spent::Client => "p999",
        Spent::Other => "key",
    }
}

/// Where the sessions' time went, a bar for each load.
fn time_split(groups: &[Group<'_>], index: usize, source: &Markup) -> Markup {
    let mut bars: Vec<Stack> = Vec::new();
    for group in groups {
        let stacks: Vec<Stack> = group.points.iter().filter_map(stack).collect();
        if !stacks.is_empty() && groups.len() > 1 && !group.name.is_empty() {
            bars.push(Stack { name: group.name.clone(), parts: Vec::new() });
        }
        bars.extend(stacks);
    }
    if bars.is_empty() {
        return html! {};
    }
    bars.truncate(MOST_BARS);
    let title = "Where the time went";
    let said = groups
        .iter()
        .flat_map(|group| &group.points)
        .take(MOST_BARS)
        .filter_map(|point| Some(format!("{}: {}", point.name(), split(point.crowd.split.as_ref()?))));
    let described = typeset(&format!("{}.", said.collect::<Vec<_>>().join("; ")));
    let chart = both(&format!("split-{index}"), title, &described, |size| chart::stacks(&bars, size));
    html! {
        section {
            h2 { (title) }
            p class="lead" { "The time of all sessions together, by what they waited for when somebody looked." }
            (figure(&chart, source))
            (page::table(&splits(groups), "Where the time went"))
        }
    }
}

fn stack(point: &Point<'_>) -> Option<Stack> {
    let split = point.crowd.split.as_ref()?;
    let part = |part: &Spent| {
        let share = share_of(split, *part).filter(|share| *share > 0.0)?;
        Some(Part { name: spent(*part).0, class: class(*part), share })
    };
    let parts: Vec<Part> = PARTS.iter().filter_map(part).collect();
    (!parts.is_empty()).then(|| Stack { name: point.label(), parts })
}

fn lane<'a>(group: &'a str, point: &Point<'a>) -> Lane<'a> {
    Lane { run: &point.crowd.run, group, marks: &point.crowd.marks }
}

/// Transactions a second over the time of each load, one after the other, with what was changed meanwhile.
fn over_time(groups: &[Group<'_>], index: usize, source: &Markup) -> Markup {
    let mut lanes: Vec<Lane<'_>> = Vec::new();
    for group in groups {
        let lane = |point| lane(&group.name, point);
        lanes.extend(group.points.iter().map(lane));
    }
    if lanes.iter().all(|lane| lane.run.series.is_empty()) {
        return html! {};
    }
    let changes = lanes.iter().any(|lane| !lane.marks.is_empty());
    let title = "Over time";
    let description = "Transactions completed per second, and the median and 99th percentile of the response time, over \
                       the time of all loads.";
    let draw = |size| chart::over_time(&lanes, Counted::Transactions, size);
    let chart = both(&format!("time-{index}"), title, description, draw);
    html! {
        section {
            h2 { (title) }
            p class="lead" {
                "All loads one after the other, without the pauses between them. Shaded time is warm-up: it is in no figure."
                @if changes { " Dashed upright lines are what was changed while a load ran." }
            }
            (figure(&chart, source))
            @if changes { (marks(groups)) }
        }
    }
}

/// What was changed, and when: the dashed lines in words.
fn marks(groups: &[Group<'_>]) -> Markup {
    const MOST: usize = 50;
    let all = groups.iter().flat_map(|group| &group.points);
    let marks = all.flat_map(|point| point.crowd.marks.iter().map(move |mark| (point, mark)));
    html! {
        ul class="method" {
            @for (point, (at, what)) in marks.take(MOST) {
                li { (point.name()) ", after " (typeset(&at.to_string())) ": " (clean(what)) }
            }
        }
    }
}
