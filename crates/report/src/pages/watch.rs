//! A load against the limits of a configuration: headroom, credits, forecast, alerts, and the cheapest next step.

use maud::{Markup, html};
use plimsoll_choose::watch::{
    AT_LIMIT, CreditBalance, DayForecast, DecidingLimit, LimitStep, LimitUse, LoadSample, MEAN_SPAN, WatchPeriod,
    WatchState, WatchedLimit, Watcher,
};
use plimsoll_language::{label, say};
use plimsoll_units::Span;

use crate::chart;
use crate::html::{both, figure};
use crate::number;
use crate::page::{
    Block, Cell, Chart, Column, ColumnKind, Emphasis, Exhibit, Fact, Headline, Item, Page, PageSection, Table,
};
use crate::timeline::{Panel, PanelScale, Timeline, Track};
use crate::words::watch::{
    describe_alert, describe_balance, describe_end, format_duration, format_limit, format_time, is_used_up, limit_name,
    scope_name,
};
use crate::words::{clean, offer};

/// Maximum number of points of a chart.
const MAX_POINTS: usize = 600;
/// Use from which the cheapest next step is shown.
const STEP_FROM: f64 = 0.7;
/// Use that storage with this limit cannot have, beyond errors of readings.
const ABOVE: f64 = 1.05;

#[derive(Clone, Copy, Debug)]
pub struct WatchReport<'a> {
    /// The watched database, host or file.
    pub target: &'a str,
    /// Of a file all of its time counts, not its end.
    pub period: WatchPeriod,
    /// The load is that of the counters of a database, not of the device below it.
    pub is_database_alone: bool,
    pub watcher: &'a Watcher,
    /// The present; `None` before the first interval.
    pub state: Option<&'a WatchState>,
    /// The cheapest change that lifts the limit that decides the state.
    pub step: Option<&'a LimitStep>,
    /// Loads of at most a day, for the chart.
    pub samples: &'a [LoadSample],
    /// Share of time that the source took to read its counters, 0 to 1; `None` for files.
    pub cost: Option<f64>,
    /// Why the source gives no figures at present.
    pub trouble: Option<&'a str>,
    /// Lines of the history that were damaged, and skipped.
    pub damaged: usize,
}

pub fn watch(report: &WatchReport<'_>) -> Page {
    let target = clean(report.target);
    let mut page = Page { title: say!("Watch of {target}"), subject: vec![describe_watch(report)], ..Page::default() };
    page.alert = report.trouble.map(|why| (Emphasis::Void, say!("No counters at present: {}.", clean(why))));
    let Some(state) = report.state else {
        let text = label!("No load yet: figures need two readings of the counters.").to_owned();
        let cautions = caution_of_database(report).into_iter().collect();
        page.headline = Some(Headline { text, cautions, ..Headline::default() });
        return page;
    };
    let table = tabulate(report, state);
    page.headline = Some(Headline {
        text: write_verdict(report, state),
        cautions: list_cautions(report, state),
        ..Headline::default()
    });
    page.figures = list_figures(report, state);
    page.exhibit = Exhibit::Block(Block::Table(table.clone()));
    let alerts = list_firing(report).into_iter().map(|alert| Fact::caution(label!("Alert"), alert));
    let facts = page.figures.iter().cloned().chain(alerts).collect();
    let credits = state.credits.iter().map(|balance| describe_credits(report, balance));
    page.sections = vec![
        PageSection::new(label!("Present"), vec![Block::Facts(facts)]),
        PageSection::new(label!("Limits"), vec![Block::Table(table)]),
        PageSection::new(
            label!("Burst credits"),
            vec![Block::Items(credits.map(|text| Item::new(text, [])).collect())],
        ),
        PageSection::new(label!("Alerts"), vec![Block::Items(list_alerts(report, state))]),
        PageSection::new(label!("Load over time"), draw_load(report.samples).into_iter().collect()),
        PageSection::new(label!("Not watched"), vec![Block::Items(list_unwatched(report, state))]),
    ];
    page
}

/// The firing alerts, a sentence each.
pub fn list_firing(report: &WatchReport<'_>) -> Vec<String> {
    let firing = report.state.iter().flat_map(|state| &state.firing);
    firing.map(|of| describe_alert(of, &find_limit(report, of.limit).1)).collect()
}

/// The target, its configuration, and the cost of readings.
pub fn describe_watch(report: &WatchReport<'_>) -> String {
    let on = report.watcher.offer().map(|of| say!(" on {}", offer::configuration(of)));
    let cost = report.cost.map(|cost| say!("; reading the counters takes {} of the time", format_percent(cost)));
    format!("{}{}{}", clean(report.target), on.unwrap_or_default(), cost.unwrap_or_default())
}

/// A share with a digit that is not zero: `0.03 %`, `41 %`.
fn format_percent(share: f64) -> String {
    format!("{} %", number::three(share * 100.0))
}

fn find_limit<'a>(report: &WatchReport<'a>, index: usize) -> (&'a WatchedLimit, String) {
    let limit = &report.watcher.limits()[index];
    (limit, report.watcher.offer().map(|offer| limit_name(offer, limit)).unwrap_or_default())
}

impl WatchReport<'_> {
    fn is_recorded(&self) -> bool {
        self.period == WatchPeriod::Recording
    }
}

/// The gravest fact.
fn write_verdict(report: &WatchReport<'_>, state: &WatchState) -> String {
    if report.watcher.offer().is_none() {
        return label!("Load only: the limits are unknown without --on.").to_owned();
    }
    let Some(deciding) = state.deciding_limit(report.period) else {
        return label!("No limit of this configuration is known.").to_owned();
    };
    let (limit, _) = find_limit(report, deciding.limit());
    let rate = limit.rate.map_or_else(|| label!("the limit").to_owned(), |rate| format_limit(limit, rate));
    match deciding {
        DecidingLimit::CreditsUsedUp(_) => say!("Burst credits are used up: {rate} from now on."),
        DecidingLimit::CreditsEnd(balance) => {
            say!("Burst credits {}; {rate} from then on.", describe_end(&balance))
        }
        DecidingLimit::Used(of) if report.is_recorded() => summarize_recording(report, state, &of),
        DecidingLimit::Used(of) => {
            let word = match of.mean {
                mean if mean >= ABOVE => label!("Above the limit"),
                mean if mean >= AT_LIMIT => label!("At the limit"),
                mean if mean >= STEP_FROM => label!("Near the limit"),
                _ => label!("No limit is near"),
            };
            let place = limit_place(report, limit);
            say!("{word}: {rate} of the {place} binds first, {} used.", format_percent(of.mean))
        }
    }
}

/// The limit that the load of a file was at for the longest time, or came closest to.
fn summarize_recording(report: &WatchReport<'_>, state: &WatchState, first: &LimitUse) -> String {
    let (limit, _) = find_limit(report, first.limit);
    let rate = limit.rate.map_or_else(|| label!("the limit").to_owned(), |rate| format_limit(limit, rate));
    let highest = limit.rate.map_or_else(
        || say!("{} of it", format_percent(first.highest)),
        |rate| format_limit(limit, rate * first.highest),
    );
    let (place, observed) = (limit_place(report, limit), format_duration(state.observed));
    if first.above.is_zero() {
        return say!("No limit was reached in {observed}: up to {highest} of {rate} of the {place}.");
    }
    let word = if limit.burst.is_some() { label!("Above") } else { label!("At") };
    say!("{word} {rate} of the {place} in {} of {observed}, up to {highest}.", format_duration(first.above))
}

/// The cheapest change that lifts the deciding limit, if its use is high.
fn describe_step(report: &WatchReport<'_>, state: &WatchState) -> Option<String> {
    let deciding = state.deciding_limit(report.period)?.limit();
    let of = state.limits.iter().find(|of| of.limit == deciding)?;
    let used = if report.is_recorded() { of.highest } else { of.mean };
    let step = report.step.filter(|step| used >= STEP_FROM && step.limit == deciding)?;
    let (limit, _) = find_limit(report, deciding);
    let place = limit_place(report, limit);
    Some(step.lift.as_ref().map_or_else(
        || say!("no single option lifts this limit of the {place}; other configurations: plimsoll size"),
        |lift| say!("{}; other products: plimsoll size", offer::lift(lift)),
    ))
}

fn limit_place(report: &WatchReport<'_>, limit: &WatchedLimit) -> &'static str {
    report.watcher.offer().map_or(label!("volume"), |offer| scope_name(offer.ceilings[limit.ceiling].scope))
}

/// Counters of a database omit I/O of the device.
fn caution_of_database(report: &WatchReport<'_>) -> Option<String> {
    report.is_database_alone.then(|| {
        label!(
            "The load is that of the database's own counters, without the filesystem's journal, and possibly without its log \
             (PostgreSQL: track_wal_io_timing): add --device NAME on its host."
        )
        .to_owned()
    })
}

fn list_cautions(report: &WatchReport<'_>, state: &WatchState) -> Vec<String> {
    let mut cautions: Vec<String> = caution_of_database(report).into_iter().collect();
    let is_open = |balance: &&CreditBalance| balance.shares[1] - balance.shares[0] > 0.02;
    if state.credits.iter().any(|balance| is_open(&balance)) {
        cautions.push(
            label!("Credits at the start are unknown and assumed full: state them with --credits, such as 40%.")
                .to_owned(),
        );
    }
    if !state.latest.has_bytes && report.watcher.offer().is_some() {
        cautions.push(label!("The source has no throughput: limits of bytes are not watched.").to_owned());
    }
    let lasting = |of: &&LimitUse| report.watcher.limits()[of.limit].burst.is_none();
    if state.limits.iter().filter(lasting).any(|of| of.mean > ABOVE) {
        cautions.push(
            label!("The load exceeds a limit that storage enforces: check --on, and whether a cache answers.")
                .to_owned(),
        );
    }
    if report.damaged > 0 {
        cautions.push(say!("{} damaged lines of the history were skipped.", report.damaged));
    }
    cautions
}

fn list_figures(report: &WatchReport<'_>, state: &WatchState) -> Vec<Fact> {
    let latest = &state.latest;
    let [reads, writes] = latest.iops();
    let bytes = latest.bytes_per_second().map(|[reads, writes]| offer::throughput(reads + writes));
    let bytes = bytes.unwrap_or_else(|| label!("throughput unknown").to_owned());
    let mut facts = vec![Fact::new(
        if report.is_recorded() { label!("At the end") } else { label!("Load") },
        say!("{} reads/s, {} writes/s, {bytes}", number::rate(reads), number::rate(writes)),
    )];
    let latency = |name: &str, seconds: Option<f64>| Some(format!("{name} {}", number::time(seconds? * 1e9)));
    let latencies = [latency(label!("read"), latest.latency_s[0]), latency(label!("write"), latest.latency_s[1])];
    let latencies: Vec<String> = latencies.into_iter().flatten().collect();
    let latency_text = match (latest.flows.is_empty(), latencies.is_empty()) {
        (true, _) => label!("none, as there were no operations").to_owned(),
        (false, true) => label!("unknown: the source has no times").to_owned(),
        (false, false) => latencies.join(label!(", ")),
    };
    facts.push(Fact::new(label!("Latency"), latency_text));
    facts.extend(describe_database(latest).map(|text| Fact::new(label!("Database"), text)));
    facts.extend(state.credits.first().map(|balance| Fact::new(label!("Credits"), describe_credits(report, balance))));
    if report.watcher.offer().is_some() {
        facts.push(Fact::new(label!("Day"), describe_day(report, state.day.as_ref())));
    }
    facts.extend(describe_step(report, state).map(|text| Fact::new(label!("Next"), text)));
    facts.extend(state.cleared.last().map(|last| {
        let others =
            if state.cleared.len() > 1 { say!("{} cleared, the last ", state.cleared.len()) } else { String::new() };
        Fact::new(label!("Alerts"), others + &describe_alert(last, &find_limit(report, last.limit).1))
    }));
    facts
}

/// `4.2 active sessions, at least 38 % of their time in storage, 12 of 100 connections`, as databases do not time all
/// waits; `None` if the source has none of it.
fn describe_database(latest: &LoadSample) -> Option<String> {
    let sessions = latest.sessions.map(|sessions| {
        let active = number::three(sessions.active);
        if sessions.active <= 0.0 {
            return label!("no active sessions").to_owned();
        }
        say!("{active} active sessions, at least {} of their time in storage", format_percent(sessions.storage))
    });
    let connections = latest
        .connections
        .map(|[used, maximum]| say!("{} of {} connections", number::integer(used), number::integer(maximum)));
    let parts: Vec<String> = sessions.into_iter().chain(connections).collect();
    (!parts.is_empty()).then(|| parts.join(label!(", ")))
}

fn describe_credits(report: &WatchReport<'_>, balance: &CreditBalance) -> String {
    let (limit, _) = find_limit(report, balance.limit);
    let rate = format_limit(limit, limit.rate.unwrap_or_default());
    if is_used_up(balance) {
        return say!("used up, refilled at {rate}");
    }
    say!("{} left, {}; refilled at {rate}", describe_balance(balance), describe_end(balance))
}

fn describe_day(report: &WatchReport<'_>, day: Option<&DayForecast>) -> String {
    let Some(day) = day else { return label!("no forecast: no former days yet").to_owned() };
    let peak = day.peak.map(|(limit, used, at)| {
        let (limit, _) = find_limit(report, limit);
        let rate = limit.rate.map_or_else(|| label!("a limit").to_owned(), |rate| format_limit(limit, rate));
        say!("peak of {} of {rate} at {}", format_percent(used), format_time(at))
    });
    let end = day.credits_end.map(|(_, at)| say!("credits end at {}", format_time(at)));
    let mut parts: Vec<String> = peak.into_iter().chain(end).collect();
    if parts.is_empty() {
        parts.push(label!("credits last for the day").to_owned());
    }
    let parts = parts.join(label!(", "));
    if day.days == 1 { say!("{parts} by 1 former day") } else { say!("{parts} by {} former days", day.days) }
}

fn tabulate(report: &WatchReport<'_>, state: &WatchState) -> Table {
    let demand = |of: &LimitUse| {
        let (limit, _) = find_limit(report, of.limit);
        let used = if report.is_recorded() { of.highest } else { of.now };
        limit.rate.map(|rate| Cell::figure(format_limit(limit, rate * used), rate * used))
    };
    let allowed = |of: &LimitUse| {
        let (limit, _) = find_limit(report, of.limit);
        limit.rate.map(|rate| Cell::figure(format_limit(limit, rate), rate))
    };
    let above = |of: &LimitUse| if of.above.is_zero() { "0 s".to_owned() } else { format_duration(of.above) };
    let headroom = |of: &LimitUse| Cell::figure(format_share(1.0 - of.mean), 1.0 - of.mean);
    Table::rows(label!("Limits, the one that binds first at the top"), state.limits.iter().copied())
        .column(Column::text(label!("place"), 0), |of| {
            let (limit, _) = find_limit(report, of.limit);
            let credits = if limit.burst.is_some() { label!(", without credits") } else { "" };
            format!("{}{credits}", limit_place(report, limit))
        })
        .column(
            Column::new(if report.is_recorded() { label!("highest") } else { label!("now") }, "", ColumnKind::Rate, 2),
            demand,
        )
        .column(Column::new(label!("limit"), "", ColumnKind::Rate, 0), allowed)
        .column(Column::new(label!("used"), "5 min", ColumnKind::Share, 0), |of| {
            Cell::figure(format_share(of.mean), of.mean).with_gauge(of.mean.min(1.0))
        })
        .column(Column::new(label!("headroom"), "", ColumnKind::Share, 1), headroom)
        .column(Column::new(label!("at limit"), label!("so far"), ColumnKind::Time, 1), above)
        .column(Column::text(label!("name"), 3), |of| find_limit(report, of.limit).1)
        .table()
        .with_notes([say!(
            "used: mean of the last {}; at limit: time at 95 % or above, with credits: above their rate",
            format_duration(MEAN_SPAN.min(state.observed))
        )])
}

fn format_share(share: f64) -> String {
    format!("{} %", (share * 100.0).round() + 0.0)
}

fn list_alerts(report: &WatchReport<'_>, state: &WatchState) -> Vec<Item> {
    let all = state.cleared.iter().chain(&state.firing);
    let items: Vec<Item> = all.map(|of| Item::new(describe_alert(of, &find_limit(report, of.limit).1), [])).collect();
    if items.is_empty() {
        return vec![Item::new(say!("none in {}", format_duration(state.observed)), [])];
    }
    items
}

/// What a reader could expect to be watched and is not.
fn list_unwatched(report: &WatchReport<'_>, state: &WatchState) -> Vec<Item> {
    let mut items = vec![
        label!("settings of the database, such as the size of its log; of PostgreSQL, connections are watched")
            .to_owned(),
        label!("peaks shorter than the interval of the readings").to_owned(),
    ];
    if report.watcher.offer().is_none() {
        items.push(label!("limits of volume and machine: state the configuration with --on").to_owned());
    } else if report.watcher.offer().is_some_and(|offer| offer.config.machine.is_none()) {
        items.push(label!("limits of the machine: add it to --on, as in 'aws/gp3:500GiB on aws/m5.large'").to_owned());
    }
    if state.latest.sessions.is_none() {
        items.push(label!("the share of storage in the database's time: the source has no session times").to_owned());
    }
    items.into_iter().map(|text| Item::new(text, [])).collect()
}

fn draw_load(samples: &[LoadSample]) -> Option<Block> {
    let first = samples.first().filter(|_| samples.len() > 1)?.end;
    let step = samples.len().div_ceil(MAX_POINTS).max(1);
    let at = |sample: &LoadSample| sample.end.since(first).as_secs_f64();
    let track = |name: &str, index: usize| Track {
        name: name.to_owned(),
        points: samples.iter().step_by(step).map(|sample| (at(sample), sample.iops()[index])).collect(),
    };
    let panel =
        |name: &str, tracks| Panel { name: name.to_owned(), scale: PanelScale::Rate, tracks, limits: Vec::new() };
    let story = Timeline {
        title: String::new(),
        source: String::new(),
        panels: vec![panel(label!("load, IOPS"), vec![track(label!("reads"), 0), track(label!("writes"), 1)])],
        marks: Vec::new(),
        ticks: label_times(samples),
    };
    let drawn = both("load", label!("Load over time"), label!("Reads and writes per second over time."), |size| {
        chart::panels(&story, size)
    });
    let markup: Markup = html! { (figure(&drawn, &html! { (label!("measured")) })) };
    Some(Block::Chart(Chart::new(markup)))
}

/// At most six labelled times; none in less than five minutes, where the axis has seconds.
fn label_times(samples: &[LoadSample]) -> Vec<(f64, String)> {
    let Some((first, last)) = samples.first().zip(samples.last()) else { return Vec::new() };
    let step = Span::from_nanos(last.end.since(first.end).as_nanos() / 5);
    if step < Span::from_secs(60) {
        return Vec::new();
    }
    (0..=5).map(|n| ((step * n).as_secs_f64(), format_time(first.end + step * n))).collect()
}
