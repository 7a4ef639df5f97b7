//! What-ifs of a sizing: what levels would cost and hold up, whether memory is the better buy, how long a choice lasts.

use plimsoll_catalogue::Money;
use plimsoll_choose::hours::{LevelReplay, Rule};
use plimsoll_choose::sizing::Choice;
use plimsoll_choose::what_if::{
    CacheSize, CacheWhatIf, HORIZON_MONTHS, LevelsOfChoice, NoLonger, Outgrown, SaidBy, Split, Tiers, WhatIfs,
};
use plimsoll_units::{Bytes, Span};

use super::TextStyle;
use super::configurations::{left_out, note};
use super::paint::{Line, Tone, cut, wrap};
use super::table::{Align, Column, Table};
use crate::words::{clean, offer, sizing as words};
use crate::{money, number};

/// A configuration in a cell is cut after so many columns.
const NAME: usize = 44;

/// Every what-if that was asked.
pub(super) fn parts(what_ifs: &WhatIfs, style: &TextStyle) -> Vec<Vec<Line>> {
    let mut parts = Vec::new();
    match &what_ifs.levels {
        Some(choices) if choices.is_empty() => {
            let none = "What if the level changed? No choice has a level that can be set while it is used; --provider \
                        oci looks at those that have one";
            parts.push(strong(none, style));
        }
        Some(choices) => parts.extend(choices.iter().map(|choice| levels(choice, style))),
        None => (),
    }
    parts.extend(what_ifs.cache.as_ref().map(|what_if| cache(what_if, style)));
    parts.extend(what_ifs.growth.as_ref().map(|outgrown| growth(outgrown, style)));
    parts.extend(what_ifs.tiers.as_ref().map(|parted| tiers(parted, style)));
    parts
}

fn strong(text: &str, style: &TextStyle) -> Vec<Line> {
    wrap(&clean(text), style.width).into_iter().map(|line| Line::of(line, Tone::Strong)).collect()
}

fn column(name: &'static str, unit: &'static str, expendable: u8, cells: Vec<String>) -> Column {
    Column { name, unit, align: Align::Left, expendable, cells }
}

/// A heading, the table below it, and notes.
fn lay_out(title: &str, columns: Vec<Column>, notes: &[String], style: &TextStyle) -> Vec<Line> {
    let laid = Table { columns, ..Table::default() }.lay_out(style);
    let left_out = left_out(&laid);
    let mut lines = strong(title, style);
    lines.extend(laid.lines);
    for text in notes.iter().chain(&left_out) {
        lines.extend(note(&clean(text), style));
    }
    lines
}

fn levels(choice: &LevelsOfChoice, style: &TextStyle) -> Vec<Line> {
    let cells = |of: &dyn Fn(&LevelReplay) -> String| choice.replays.iter().map(of).collect::<Vec<_>>();
    let rule = |replay: &LevelReplay| match &replay.rule {
        Rule::Fixed(level) => format!("{} {level}", choice.option),
        Rule::Autotune(policy) => format!("autotune {} to {}", policy.default, policy.most),
        Rule::Daily(_) => "by the hour".to_owned(),
    };
    let prices: Vec<Option<Money>> = choice.replays.iter().map(|replay| Some(replay.monthly)).collect();
    let columns = vec![
        column("level", "", 0, cells(&rule)),
        column("price", "a month", 0, money::column(&prices)),
        column("throttled", "of the time", 0, cells(&|replay| number::percent(replay.throttled))),
        column("delayed", "operations", 2, cells(&|replay| number::percent(replay.delayed))),
        column("longest", "wait", 1, cells(&|replay| time(replay.longest_wait))),
        column("mean", "modelled", 0, cells(&|replay| time(replay.mean))),
        column("changes", "", 3, cells(&|replay| number::whole(f64::from(replay.changes)))),
    ];
    let mut notes: Vec<String> = choice.replays.iter().filter_map(|replay| timetable(&replay.rule)).collect();
    notes.push(
        "the demand as it was measured, window by window: without growth, and without peaks that are shorter than a \
         window"
            .to_owned(),
    );
    let title = format!("What if the level of {} changed?", offer::configuration(&choice.offer));
    lay_out(&title, columns, &notes, style)
}

/// What is longer than a few seconds is a queue that grew for minutes or hours.
fn time(span: Span) -> String {
    if span < Span::from_secs(10) { span.to_string() } else { words::length(span.as_secs_f64()) }
}

/// `by the hour: 10 from 0, 20 from 9, 10 from 17 o'clock`.
fn timetable(rule: &Rule) -> Option<String> {
    let Rule::Daily(hours) = rule else { return None };
    let changes = hours.iter().enumerate().filter(|(hour, level)| *hour == 0 || hours[hour - 1] != **level);
    let changes: Vec<String> = changes.map(|(hour, level)| format!("{level} from {hour:02}:00")).collect();
    Some(format!("by the hour: {}", changes.join(", ")))
}

fn cache(what_if: &CacheWhatIf, style: &TextStyle) -> Vec<Line> {
    let sizes = &what_if.sizes;
    let cells = |of: &dyn Fn(&CacheSize) -> String| sizes.iter().map(of).collect::<Vec<_>>();
    let sums = |of: &dyn Fn(&CacheSize) -> Option<Money>| money::column(&sizes.iter().map(of).collect::<Vec<_>>());
    let iops = |size: &CacheSize| size.wanted.points.first().map_or_else(none, |point| number::rate(point.iops()));
    let columns = vec![
        column("cache", "", 0, cells(&|size| gib(size.bytes))),
        column("more", "memory", 3, cells(&|size| gib(size.more_bytes))),
        column("reads", "left", 0, cells(&|size| number::percent(size.reads))),
        column("expected", "IOPS", 2, cells(&iops)),
        column("storage", "a month", 0, sums(&|size| monthly(size.choice.as_ref()))),
        column("memory", "a month", 1, sums(&|size| size.memory)),
        column("together", "a month", 0, sums(&|size| size.sum)),
        column("cheapest", "", 4, cells(&|size| configuration(size.choice.as_ref()))),
    ];
    let by = match what_if.by {
        SaidBy::Database => {
            "the database's own estimate of its cache; scans, sorts and writes are taken to stay as they are"
        }
        SaidBy::Trace => "worked out of the trace: a cache of whole pages above what was traced",
    };
    let slower = "a smaller cache makes sessions wait more often: that has no price here";
    let smaller = sizes.iter().any(|size| size.more_bytes < 0.0).then_some(slower);
    let notes: Vec<String> = [Some(by), smaller].into_iter().flatten().map(str::to_owned).collect();
    let mut lines = lay_out("What if the cache had another size?", columns, &notes, style);
    lines.extend(strong(&verdict(what_if), style));
    lines
}

fn verdict(what_if: &CacheWhatIf) -> String {
    let Some(present) = what_if.present else {
        return "The present choice has no price: nothing to compare with".to_owned();
    };
    if what_if.sizes.iter().all(|size| size.memory.is_none()) {
        return format!("The present choice costs {present} a month: --ram-price '5 USD' (a GiB and month) compares");
    }
    let Some((better, sum)) = what_if.better().and_then(|better| Some((better, better.sum?))) else {
        return format!("RAM is not the better buy: no larger cache and its storage cost less than {present} a month");
    };
    let cache = gib(better.bytes);
    format!("RAM is the better buy: {sum} a month with a cache of {cache}, {present} with the present one")
}

fn gib(bytes: f64) -> String {
    let sign = if bytes < 0.0 { "-" } else { "" };
    format!("{sign}{}", Bytes::new(bytes.abs() as u64))
}

fn none() -> String {
    "–".to_owned()
}

fn monthly(choice: Option<&Choice>) -> Option<Money> {
    Some(choice?.price.as_ref()?.monthly)
}

fn configuration(choice: Option<&Choice>) -> String {
    choice.map_or_else(|| "nothing carries it".to_owned(), |choice| cut(&offer::configuration(&choice.offer), NAME))
}

fn growth(outgrown: &Outgrown, style: &TextStyle) -> Vec<Line> {
    let name = offer::configuration(&outgrown.offer);
    let ends = match &outgrown.ends {
        None => format!("{name} suffices for {HORIZON_MONTHS} months and more"),
        Some((0, why)) => format!("{name} does not suffice today: {}", reason(why)),
        Some((month, why)) => format!("{name} suffices until month {}, then no longer: {}", month - 1, reason(why)),
    };
    let title = format!("What if it grew by {} a year? {ends}", number::percent(outgrown.yearly));
    let later = &outgrown.later;
    let prices: Vec<Option<Money>> = later.iter().map(|later| monthly(later.choice.as_ref())).collect();
    let columns = vec![
        column("in", "months", 0, later.iter().map(|later| later.months.to_string()).collect()),
        column("expected", "IOPS", 0, later.iter().map(|one| number::rate(one.wanted.points[0].iops())).collect()),
        column("keeps", "", 0, later.iter().map(|later| offer::capacity(later.wanted.capacity)).collect()),
        column("price", "a month", 0, money::column(&prices)),
        column("cheapest", "", 0, later.iter().map(|later| configuration(later.choice.as_ref())).collect()),
    ];
    lay_out(&title, columns, &["sufficing has the headroom in it; prices are today's".to_owned()], style)
}

/// Names of hot parts in a cell: the rest is counted.
const NAMED: usize = 3;

fn tiers(parted: &Tiers, style: &TextStyle) -> Vec<Line> {
    let splits = &parted.splits;
    let cells = |of: &dyn Fn(&Split) -> String| splits.iter().map(of).collect::<Vec<_>>();
    let names = |split: &Split| match split.hot_parts.split_at_checked(NAMED) {
        Some((first, rest)) if !rest.is_empty() => format!("{} and {} more", first.join(", "), rest.len()),
        _ => split.hot_parts.join(", "),
    };
    let sums: Vec<Option<Money>> = splits.iter().map(|split| split.sum).collect();
    let columns = vec![
        column("hot", "", 0, cells(&names)),
        column("on", "", 0, cells(&|split| configuration(Some(&split.hot.1)))),
        column("the rest", "on", 0, cells(&|split| configuration(Some(&split.cold.1)))),
        column("together", "a month", 0, money::column(&sums)),
    ];
    let mut notes = vec![format!(
        "bytes of the {} parts are not known: the capacity is shared evenly among them, which is a guess",
        parted.parts
    )];
    if splits.is_empty() {
        notes.push("no way to part them is carried on both sides".to_owned());
    }
    lay_out("What if hot and cold parts were kept apart?", columns, &notes, style)
}

fn reason(why: &NoLonger) -> String {
    match why {
        NoLonger::Carries(rejection) => words::why(&rejection.why),
        NoLonger::Meets => "its response times miss the objective, as simulated".to_owned(),
    }
}
