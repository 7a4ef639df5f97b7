//! What-ifs of a sizing: other performance levels, another cache size, growth, separate storage for hot and cold data.

use plimsoll_choose::hours::{LevelReplay, Rule};
use plimsoll_choose::sizing::Choice;
use plimsoll_choose::what_if::{
    CacheSize, CacheWhatIf, EstimateSource, HORIZON_MONTHS, LevelsOfChoice, Outgrown, OutgrownBy, TierSplit, Tiers,
    WhatIfs,
};
use plimsoll_language::{label, say};
use plimsoll_units::{Bytes, Span};

use crate::number;
use crate::page::{Block, Cell, Column, ColumnKind, PageSection, Table};
use crate::words::{diagnosis, offer, sizing as words};

/// A section for each requested what-if.
pub(super) fn build_sections(what_ifs: &WhatIfs) -> Vec<PageSection> {
    let mut sections = Vec::new();
    match &what_ifs.levels {
        Some(choices) if choices.is_empty() => {
            let none = label!(
                "What if the level changed? No choice has a level that can be changed online; --provider \
                        oci selects products that have such levels"
            );
            sections
                .push(PageSection::bare(label!("What if the level changed?"), vec![Block::Heading(none.to_owned())]));
        }
        Some(choices) => sections.extend(choices.iter().map(levels)),
        None => {}
    }
    sections.extend(what_ifs.cache.as_ref().map(build_cache_section));
    sections.extend(what_ifs.growth.as_ref().map(growth));
    sections.extend(what_ifs.tiers.as_ref().map(tiers));
    sections
}

fn level_columns() -> [Column; 7] {
    [
        Column::text(label!("level"), 0),
        Column::monthly(label!("price"), 0),
        Column::new(label!("throttled"), label!("of the time"), ColumnKind::Share, 0),
        Column::new(label!("delayed"), label!("operations"), ColumnKind::Share, 2),
        Column::time(label!("longest"), label!("wait"), 1),
        Column::time(label!("mean"), label!("modelled"), 0),
        Column::new(label!("changes"), "", ColumnKind::Share, 3),
    ]
}

fn levels(choice: &LevelsOfChoice) -> PageSection {
    let row = |replay: &LevelReplay| {
        let rule = match &replay.rule {
            Rule::Fixed(level) => format!("{} {level}", choice.option),
            Rule::Autotune(policy) => say!("autotune {} to {}", policy.default, policy.max),
            Rule::Daily(_) => label!("by the hour").to_owned(),
        };
        vec![
            Cell::text(rule),
            Cell::money(Some(replay.monthly)),
            Cell::percent(replay.throttled),
            Cell::percent(replay.delayed),
            Cell::text(format_time(replay.longest_wait)),
            Cell::text(format_time(replay.mean)),
            Cell::rate(f64::from(replay.changes)),
        ]
    };
    let measured = label!(
        "the measured demand by window, without growth and without peaks shorter \
                    than a window"
    );
    let notes = choice.replays.iter().filter_map(|replay| timetable(&replay.rule)).chain([measured.to_owned()]);
    let table = Table::of(label!("Levels"), level_columns(), &choice.replays, row).with_notes(notes);
    let heading = say!("What if the level of {} changed?", offer::configuration(&choice.offer));
    PageSection::new(heading, vec![Block::Table(table)])
}

/// Waits of more than a few seconds are shown as minutes or hours, as they are those of a queue that keeps growing.
fn format_time(span: Span) -> String {
    if span < Span::from_secs(10) { span.to_string() } else { words::length(span.as_secs_f64()) }
}

/// `by the hour: 10 from 00:00, 20 from 09:00, 10 from 17:00`.
fn timetable(rule: &Rule) -> Option<String> {
    let Rule::Daily(plan) = rule else { return None };
    let hours = plan.levels;
    let changes = hours.iter().enumerate().filter(|(hour, level)| *hour == 0 || hours[hour - 1] != **level);
    let changes: Vec<String> = changes.map(|(hour, level)| say!("{level} from {hour:02}:00")).collect();
    let changes = changes.join(label!(", "));
    Some(if plan.covered < 24 { words::partial_plan(&changes, plan.covered) } else { say!("by the hour: {changes}") })
}

fn cache_columns() -> [Column; 10] {
    [
        Column::new(label!("cache"), "", ColumnKind::Text, 0),
        Column::new(label!("more"), label!("memory"), ColumnKind::Text, 3),
        Column::new(label!("reads"), label!("left"), ColumnKind::Share, 0),
        Column::rate(label!("expected"), "IOPS", 2),
        Column::monthly(label!("storage"), 0),
        Column::monthly(label!("memory"), 1),
        Column::monthly(label!("together"), 0),
        Column::new(label!("database"), label!("time"), ColumnKind::Text, 0),
        Column::new(label!("sessions"), label!("waiting"), ColumnKind::Share, 4),
        Column::text(label!("cheapest"), 4),
    ]
}

fn build_cache_section(what_if: &CacheWhatIf) -> PageSection {
    let row = |size: &CacheSize| {
        vec![
            Cell::text(gib(size.bytes)),
            Cell::text(gib(size.more_bytes)),
            Cell::percent(size.reads),
            Cell::or_unknown(size.required.points.first(), |point| Cell::rate(point.iops())),
            build_price_cell(size.choice.as_ref()),
            Cell::money(size.memory),
            Cell::money(size.sum),
            Cell::or_unknown(size.saved, |share| Cell::text(words::saved_share(share))),
            Cell::or_unknown(size.waiting, Cell::three),
            configuration(size.choice.as_ref()),
        ]
    };
    let by = match what_if.by {
        EstimateSource::Database => {
            label!("the database's own estimate of its cache; scans, sorts and writes are assumed unchanged")
        }
        EstimateSource::Trace => label!("computed from the trace: a cache of whole pages above the traced storage"),
        EstimateSource::AllData => {
            label!("all data in the cache; scans are cached as well, writes are assumed unchanged")
        }
    };
    let time = label!(
        "database time: for the same work, compared with the present cache on the first choice; it is not in the price"
    );
    let slower = label!("the cost of longer waits with a smaller cache is not included");
    let has_time = what_if.sizes.iter().any(|size| size.saved.is_some());
    let has_smaller = what_if.sizes.iter().any(|size| size.more_bytes < 0.0);
    let about_time = if has_time { Some(time) } else { has_smaller.then_some(slower) };
    let notes = [Some(by), about_time].into_iter().flatten().map(str::to_owned);
    let table = Table::of(label!("Sizes of the cache"), cache_columns(), &what_if.sizes, row)
        .without_unknown()
        .with_notes(notes);
    PageSection::new(
        label!("What if the cache had another size?"),
        vec![Block::Table(table), Block::Heading(verdict(what_if))],
    )
}

fn verdict(what_if: &CacheWhatIf) -> String {
    let faster = what_if.faster().and_then(|faster| Some((faster, faster.saved?)));
    let saves = faster.map(|(faster, share)| {
        say!("a cache of {} saves {} of the database's time", gib(faster.bytes), diagnosis::share(share))
    });
    let and_saves = saves.as_ref().map_or_else(String::new, |saves| say!("; {saves}"));
    let Some(present) = what_if.present else {
        return say!("The present choice has no price to compare with{and_saves}");
    };
    if what_if.sizes.iter().all(|size| size.memory.is_none()) {
        return say!(
            "The present choice costs {present} a month: --ram-price '5 USD' (per GiB and month) compares it with \
             memory{and_saves}"
        );
    }
    if let Some((better, sum)) = what_if.better().and_then(|better| Some((better, better.sum?))) {
        let time = better.saved.map_or_else(String::new, |share| say!(", database time {}", words::saved_share(share)));
        let cache = gib(better.bytes);
        return say!(
            "More memory is cheaper: {sum} a month with a cache of {cache}{time}, {present} a month with the present cache"
        );
    }
    let Some(((faster, _), saves)) = faster.zip(saves) else {
        return say!(
            "More memory is more expensive: no larger cache with its storage costs less than {present} a month, and none \
             saves a notable part of the database's time"
        );
    };
    let price = faster.sum.map_or_else(|| label!("at an unknown price").to_owned(), |sum| say!("for {sum} a month"));
    say!("More memory buys time: {saves} {price}, instead of {present} a month with the present cache")
}

fn gib(bytes: f64) -> String {
    let sign = if bytes < 0.0 { "-" } else { "" };
    format!("{sign}{}", Bytes::new(bytes.abs() as u64))
}

fn build_price_cell(choice: Option<&Choice>) -> Cell {
    Cell::price(choice.and_then(|choice| choice.price.as_ref()))
}

fn configuration(choice: Option<&Choice>) -> Cell {
    Cell::text(choice.map_or_else(
        || label!("no configuration carries the load").to_owned(),
        |choice| offer::configuration(&choice.offer),
    ))
}

fn growth_columns() -> [Column; 5] {
    [
        Column::new(label!("month"), "", ColumnKind::Share, 0),
        Column::rate(label!("expected"), "IOPS", 0),
        Column::new(label!("capacity"), "", ColumnKind::Text, 0),
        Column::monthly(label!("price"), 0),
        Column::text(label!("cheapest"), 0),
    ]
}

fn growth(outgrown: &Outgrown) -> PageSection {
    let name = offer::configuration(&outgrown.offer);
    let ends = match &outgrown.ends {
        None => say!("{name} suffices for at least {HORIZON_MONTHS} months"),
        Some((0, why)) => say!("{name} does not suffice today: {}", reason(why)),
        Some((month, why)) => say!("{name} suffices until month {}; in the next one {}", month - 1, reason(why)),
    };
    let heading = say!("What if it grew by {} a year? {ends}", number::percent(outgrown.yearly));
    let table = Table::of(label!("Growth"), growth_columns(), &outgrown.later, |later| {
        vec![
            Cell::rate(f64::from(later.months)),
            Cell::rate(later.required.points[0].iops()),
            Cell::text(offer::capacity(later.required.capacity)),
            build_price_cell(later.choice.as_ref()),
            configuration(later.choice.as_ref()),
        ]
    });
    let note = label!("headroom is included; prices are today's");
    PageSection::new(heading, vec![Block::Table(table.with_notes([note.to_owned()]))])
}

fn reason(why: &OutgrownBy) -> String {
    match why {
        OutgrownBy::Limits(rejection) => words::why(&rejection.reason),
        OutgrownBy::Objective => label!("its simulated response times miss the objective").to_owned(),
    }
}

/// Maximum number of hot parts to name in a cell.
const NAMES_MAX: usize = 3;

fn tier_columns() -> [Column; 4] {
    [
        Column::text(label!("hot"), 0),
        Column::text(label!("on"), 0),
        Column::new(label!("the rest"), label!("on"), ColumnKind::Text, 0),
        Column::monthly(label!("together"), 0),
    ]
}

fn tiers(parted: &Tiers) -> PageSection {
    let row = |split: &TierSplit| {
        let names = match split.hot_parts.split_at_checked(NAMES_MAX) {
            Some((first, rest)) if !rest.is_empty() => say!("{} and {} more", first.join(label!(", ")), rest.len()),
            _ => split.hot_parts.join(label!(", ")),
        };
        vec![
            Cell::text(names),
            configuration(Some(&split.hot.1)),
            configuration(Some(&split.cold.1)),
            Cell::money(split.sum),
        ]
    };
    let mut notes = vec![Block::Note(say!(
        "sizes of {} parts are unknown: an equal share of the capacity is assumed for each",
        parted.parts
    ))];
    if parted.splits.is_empty() {
        notes.push(Block::Note(label!("no separation is carried by both volumes").to_owned()));
    }
    let table = Block::Table(Table::of(label!("Hot and cold parts"), tier_columns(), &parted.splits, row));
    PageSection::new(
        label!("What if hot and cold data were on separate volumes?"),
        std::iter::once(table).chain(notes).collect(),
    )
}
