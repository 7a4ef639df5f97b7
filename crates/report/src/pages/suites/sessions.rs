//! Charts and tables of session groups: response time against throughput, read latencies of the database and its
//! storage, time by wait class, and loads over time.

use maud::html;
use plimsoll_language::{join_sentences, label, say};
use plimsoll_record::{Curve, SessionTimes, Spent, SuiteRun};
use plimsoll_units::Span;

use super::{chart, source};
use crate::chart::{self as draw, Axis, BarPart, Fill, Joined, Lane, Plane, Spot, Stack, typeset};
use crate::html::both;
use crate::page::{Block, Item, PageSection, Shares};
use crate::pages::curves::plot_curve;
use crate::scale::AxisScale;
use crate::sessions::{SessionCurve, SessionPoint, below, format_load, responses, splits};
use crate::statements;
use crate::words::database::{PARTS, share_of, spent, split};
use crate::words::{Counted, clean};
use crate::{number, pick};

/// Maximum number of curves in a chart, the number of shapes.
pub(super) const CURVES_MAX: usize = 6;
/// Maximum number of bars.
const BARS_MAX: usize = 40;
/// Maximum number of bars in letters; of more, the first load, the knee and the last load of each curve are shown.
const LETTER_BARS_MAX: usize = 16;
/// Maximum number of plots in characters.
const PLOTS_MAX: usize = 4;
/// Maximum number of changes to list.
const CHANGES_MAX: usize = 50;
/// Axes that span more than this factor are logarithmic.
const SQUEEZED: f64 = 20.0;

/// Charts and tables of the session groups of a suite, then those of its statements.
pub(super) fn sections(suite: &SuiteRun, groups: &[SessionCurve<'_>], index: usize) -> Vec<PageSection> {
    let source = source(suite);
    let drawn: Vec<&SessionCurve<'_>> = groups.iter().filter(|group| group.observe() > 1).collect();
    let named: Vec<(String, &SessionCurve<'_>)> = drawn.iter().map(|group| (group.name.clone(), *group)).collect();
    let mut lines: Vec<Block> = Vec::new();
    let mut latencies: Vec<Block> = Vec::new();
    for (part, chunk) in named.chunks(CURVES_MAX).enumerate() {
        lines.push(draw_curves(&format!("crowd-{index}-{part}"), &drawn[part * CURVES_MAX..][..chunk.len()], &source));
        latencies.extend(reads(&format!("reads-{index}-{part}"), chunk, &source));
    }
    lines.extend(groups.iter().take(PLOTS_MAX).map(|group| {
        let mut plot = plot_curve(&group.curve, Counted::Transactions);
        if !group.name.is_empty() {
            plot.title = say!("{}: response time against transactions/s completed", group.name);
        }
        Block::Plot(plot)
    }));
    let behind = label!("Details");
    let statements_title = if groups.is_empty() { behind } else { label!("Statements") };
    vec![
        PageSection::bare(label!("Response time against throughput"), lines),
        PageSection::new(behind, vec![Block::Table(responses(groups))]),
        PageSection::bare(label!("Read latency against block reads and writes"), latencies),
        PageSection::new(label!("Counters of the database and its storage"), vec![Block::Table(below(suite, groups))]),
        PageSection::new(label!("Session time by wait class"), time_split(groups, index, &source)),
        PageSection::bare(label!("Over time"), over_time(groups, index, &source).into_iter().collect()),
        PageSection::new(label!("Changes during the loads"), vec![Block::Items(changes(groups))]),
        PageSection::new(statements_title, vec![Block::Table(statements::table(suite))]),
    ]
}

/// Response time against throughput of one or more curves.
pub(super) fn draw_curves(id: &str, groups: &[&SessionCurve<'_>], source: &str) -> Block {
    let curves: Vec<&Curve> = groups.iter().map(|group| &group.curve).collect();
    let lead = match curves[..] {
        [_] => label!("Each marker is a number of concurrent sessions."),
        _ => label!("Each marker is a number of concurrent sessions; vertical lines are load lines."),
    };
    let described = join_sentences(groups.iter().map(|group| describe_curve(group)));
    let drawn = both(id, label!("Response time against throughput"), &described, |size| {
        draw::load_curve(&curves, Counted::Transactions, size)
    });
    let drawn = html! { (drawn) (draw::zoom_data(&curves, Counted::Transactions)) };
    chart(lead, &drawn, source)
}

fn describe_curve(group: &SessionCurve<'_>) -> String {
    let curve = &group.curve;
    let line = curve
        .load_line
        .as_ref()
        .map_or(label!("No load line").into(), |line| say!("Load line: {}", Counted::Transactions.load_line(line)));
    typeset(&say!("{}: {} loads. {line}.", clean(&curve.subject.name), pick::complete_runs(curve).count()))
}

/// Mean read latency against block reads and writes, measured by the database and by its storage; `None` if neither is
/// known.
pub(super) fn reads(id: &str, named: &[(String, &SessionCurve<'_>)], source: &str) -> Option<Block> {
    let of = |(tone, (name, group)): (usize, &(String, &SessionCurve<'_>))| {
        // The labels of several curves would overlap.
        let knee = group.at_knee().filter(|_| named.len() == 1);
        both_sides((tone, name), group, knee.map(|point| point.step.name.as_str()))
    };
    let groups: Vec<draw::PointGroup> = named.iter().enumerate().flat_map(of).collect();
    if groups.is_empty() {
        return None;
    }
    let spots = || groups.iter().flat_map(|group| &group.spots);
    let ends = |of: fn(&Spot) -> f64| {
        spots()
            .map(of)
            .filter(|value| *value > 0.0)
            .fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)))
    };
    let ((least, max), (low, high)) = (ends(|spot| spot.x), ends(|spot| spot.y));
    // A single curve starts at zero; of several, one might be squeezed into a corner.
    let x =
        if named.len() > 1 && max / least > SQUEEZED { AxisScale::log(least, max) } else { AxisScale::from_zero(max) };
    let plane = Plane {
        x: Axis { name: label!("block reads and writes of the database per second"), scale: x, label: number::short },
        y: Axis { name: label!("mean latency of a read"), scale: AxisScale::for_latency(low, high), label: time },
        groups,
    };
    let title = label!("Read latency against block reads and writes");
    let drawn = both(id, title, label!("The table below has the figures."), |size| draw::plane(&plane, size));
    let lead = label!(
        "Full markers: read latency in the database; hollow markers: that of its block device. If the hollow markers \
                are higher, the page cache serves some of the reads."
    );
    Some(chart(lead, &drawn, source))
}

fn time(ns: f64) -> String {
    if ns == 0.0 { "0".into() } else { typeset(&number::time(ns)) }
}

fn both_sides((tone, name): (usize, &str), group: &SessionCurve<'_>, knee: Option<&str>) -> Vec<draw::PointGroup> {
    let observed = build_spots(group, label!("in the database"), knee, SessionPoint::read_as_seen);
    let below = build_spots(group, label!("at the block device"), None, SessionPoint::read_below);
    let named = |who: &str| if name.is_empty() { who.to_owned() } else { say!("{name}, {who}") };
    let side = |who, fill, spots| draw::PointGroup { name: named(who), tone, fill, joined: Joined::Line, spots };
    let sides = [
        side(label!("in the database"), Fill::Full, observed),
        side(label!("at the block device"), Fill::Hollow, below),
    ];
    sides.into_iter().filter(|side| !side.spots.is_empty()).collect()
}

/// Points with a latency; the point of the given name is marked as the knee.
fn build_spots<'a>(
    group: &SessionCurve<'a>,
    who: &str,
    knee: Option<&str>,
    latency: impl Fn(&SessionPoint<'a>) -> Option<Span>,
) -> Vec<Spot> {
    let spot = |point: &SessionPoint<'a>| {
        let (x, y) = (point.blocks()?, latency(point)?.as_nanos() as f64);
        (x > 0.0 && y > 0.0).then(|| Spot {
            x,
            y,
            tip: say!("{}: {} at {} blocks/s, {who}", format_load(point), number::time(y), number::three(x)),
            label: if knee == Some(point.step.name.as_str()) { label!("knee").into() } else { String::new() },
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

/// Session time by wait class: a bar per load as a chart and in letters, then the shares.
fn time_split(groups: &[SessionCurve<'_>], index: usize, source: &str) -> Vec<Block> {
    let mut bars: Vec<Stack> = Vec::new();
    for group in groups {
        let stacks: Vec<Stack> = group.points.iter().filter_map(stack).collect();
        if !stacks.is_empty() && groups.len() > 1 && !group.name.is_empty() {
            bars.push(Stack { name: group.name.clone(), parts: Vec::new() });
        }
        bars.extend(stacks);
    }
    if bars.is_empty() {
        return Vec::new();
    }
    bars.truncate(BARS_MAX);
    let points = groups.iter().flat_map(|group| &group.points).take(BARS_MAX);
    let described =
        points.filter_map(|point| Some(format!("{}: {}", point.name(), split(point.session_run.split.as_ref()?))));
    let described = typeset(&say!("{}.", described.collect::<Vec<_>>().join(label!("; "))));
    let drawn = both(&format!("split-{index}"), label!("Session time by wait class"), &described, |size| {
        draw::stacks(&bars, size)
    });
    let lead = label!("Total time of all sessions by sampled wait class.");
    vec![chart(lead, &drawn, source), Block::Shares(letters(groups)), Block::Table(splits(groups))]
}

fn letters(groups: &[SessionCurve<'_>]) -> Shares {
    let splits =
        display(groups).into_iter().filter_map(|point| Some((point.name(), point.session_run.split.as_ref()?)));
    let parts = |split: &SessionTimes| -> Vec<(char, f64)> {
        PARTS.iter().filter_map(|part| Some((spent(*part).1, share_of(split, *part)?))).collect()
    };
    let bars: Vec<_> = splits.map(|(name, split)| (name, parts(split))).collect();
    let is_used =
        |letter: char| bars.iter().any(|(_, parts)| parts.iter().any(|(own, share)| *own == letter && *share > 0.0));
    let used = PARTS.iter().map(|part| spent(*part)).filter(|(_, letter)| is_used(*letter));
    let used: Vec<String> = used.map(|(name, letter)| format!("{letter} {name}")).collect();
    let legend = say!("each bar is the total time of all sessions: {}", used.join(label!(", ")));
    Shares { bars, legend }
}

/// All points, or the first point, the knee and the last point of each curve.
fn display<'a, 'b>(groups: &'b [SessionCurve<'a>]) -> Vec<&'b SessionPoint<'a>> {
    if groups.iter().map(|group| group.points.len()).sum::<usize>() <= LETTER_BARS_MAX {
        return groups.iter().flat_map(|group| &group.points).collect();
    }
    let of = |group: &'b SessionCurve<'a>| {
        let knee = group.at_knee().map(|point| &point.step.name);
        let last = group.points.len().saturating_sub(1);
        let telling = move |(index, point): &(usize, &'b SessionPoint<'a>)| {
            *index == 0 || *index == last || Some(&point.step.name) == knee
        };
        group.points.iter().enumerate().filter(telling).map(|(_, point)| point)
    };
    groups.iter().flat_map(of).collect()
}

fn stack(point: &SessionPoint<'_>) -> Option<Stack> {
    let split = point.session_run.split.as_ref()?;
    let part = |part: &Spent| {
        let share = share_of(split, *part).filter(|share| *share > 0.0)?;
        Some(BarPart { name: spent(*part).0, class: class(*part), share })
    };
    let parts: Vec<BarPart> = PARTS.iter().filter_map(part).collect();
    (!parts.is_empty()).then(|| Stack { name: point.label(), parts })
}

/// Transactions per second over time, loads in sequence; `None` without time series.
fn over_time(groups: &[SessionCurve<'_>], index: usize, source: &str) -> Option<Block> {
    let mut lanes: Vec<Lane<'_>> = Vec::new();
    for group in groups {
        for point in &group.points {
            lanes.push(Lane { run: &point.session_run.run, group: &group.name, marks: &point.session_run.marks });
        }
    }
    lanes.iter().find(|lane| !lane.run.series.is_empty())?;
    let description = label!(
        "Transactions completed per second, and the median and 99th percentile of the response time, over \
                       the time of all loads."
    );
    let drawn = both(&format!("time-{index}"), label!("Over time"), description, |size| {
        draw::over_time(&lanes, Counted::Transactions, size)
    });
    let lead = label!(
        "All loads in sequence, without pauses. Shaded: warm-up, excluded from all \
                figures. Dashed vertical lines are changes during a load."
    );
    Some(chart(lead, &drawn, source))
}

/// Changes and their times, as text.
fn changes(groups: &[SessionCurve<'_>]) -> Vec<Item> {
    let all = groups.iter().flat_map(|group| &group.points);
    let marks = all.flat_map(|point| point.session_run.marks.iter().map(move |mark| (point, mark)));
    let item = |(point, (at, what)): (&SessionPoint<'_>, &(Span, String))| {
        Item::new(say!("{}, after {at}: {}", point.name(), clean(what)), [])
    };
    marks.take(CHANGES_MAX).map(item).collect()
}
