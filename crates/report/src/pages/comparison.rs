//! Comparison of runs: the verdict, the figures of both sides, and differing conditions.

use plimsoll_analyse::{Change, Comparison, Difference, Incomparable, LineComparison, Method, Quantity, Verdict};
use plimsoll_language::{label, say};
use plimsoll_load::Pace;
use plimsoll_record::Estimate;

use super::curves::{Sheet, number_labels, overlay, runs_in_full};
use crate::findings::list_doubts;
use crate::latency::LatencyUnit;
use crate::page::{Block, Cell, Column, Fact, Headline, Item, Page, PageSection, Table, Visibility};
use crate::{number, words};

/// Maximum number of findings above the figures, with their number if there are more.
const MAX_CAUTIONS: usize = 3;

/// Compares two sides. `names` are the runs of each side, `sheets` the runs of both sides in the same order.
pub fn comparison(names: [&[String]; 2], comparison: &Comparison, sheets: &[Sheet<'_>]) -> Page {
    let mut blocks = vec![Block::Facts(sides(names))];
    blocks.extend(comparison.objective.map(|objective| Block::Text(say!("objective {objective}"))));
    blocks.extend(comparison.history.map(|history| {
        let scatter = number::percent(history.deviation.exp_m1());
        let runs = history.runs;
        Block::Note(say!("noise: {runs} earlier runs of the same load vary by {scatter}"))
    }));
    let difference =
        |difference: &Difference| Item::new(say!("{}: {} and {}", difference.what, difference.a, difference.b), []);
    let conditions = comparison.conditions.iter().map(difference).collect();
    let figures = tabulate_figures(comparison);
    let mut sections = vec![
        PageSection::bare(label!("Sides"), blocks),
        PageSection::bare(label!("Figures of both sides"), vec![Block::Table(figures.clone()), Block::Data(figures)]),
        PageSection::new(label!("Different conditions"), vec![Block::Items(conditions)]),
    ];
    let labels = number_labels(&names.concat());
    // Without a verdict there is none to limit.
    let has_verdict = !matches!(comparison.verdict, Verdict::NotComparable(_));
    let judged = sheets.iter().map(|sheet| sheet.curve).filter(|_| has_verdict);
    let mut cautions = list_doubts(judged, &labels);
    if cautions.len() > MAX_CAUTIONS {
        let others = cautions.split_off(MAX_CAUTIONS - 1).len();
        cautions.push(say!("{others} other findings of the runs: --details"));
    }
    if !sheets.is_empty() {
        let [chart, table] = overlay(sheets, &labels);
        sections.extend([chart, PageSection { visibility: Visibility::Detail, ..table }]);
        sections.extend(runs_in_full(sheets, &labels, Visibility::Detail));
    }
    let headline = Headline { text: verdict(comparison), grade: grade(comparison), cautions, ..Headline::default() };
    Page { title: label!("Comparison of runs").to_owned(), headline: Some(headline), sections, ..Page::default() }
}

fn sides(names: [&[String]; 2]) -> Vec<Fact> {
    let side = |(side, names): (&'static str, &[String])| {
        let fact = |(index, name): (usize, &String)| Fact::new(if index == 0 { side } else { "" }, name);
        names.iter().enumerate().map(fact).collect::<Vec<_>>()
    };
    [label!("first"), label!("second")].into_iter().zip(names).flat_map(side).collect()
}

/// Scope of the verdict.
fn grade(comparison: &Comparison) -> &'static str {
    match &comparison.line {
        Some(line) if line.method != Method::SingleRuns => label!("beyond the time of these runs"),
        _ => label!("for the time of these runs"),
    }
}

fn verdict(comparison: &Comparison) -> String {
    if let Some(line) = &comparison.line {
        let turns = (line.method == Method::Interleaved).then(|| turns_sentence(line, &comparison.verdict)).flatten();
        return turns.unwrap_or_else(|| line_sentence(line, &comparison.verdict));
    }
    let only_lines = comparison.points.is_empty() && comparison.objective.is_some();
    let objective_change = |change: &str| {
        let objective = comparison.objective.map(|objective| objective.to_string()).unwrap_or_default();
        say!("{objective} {change}, during these runs.")
    };
    match &comparison.verdict {
        Verdict::Better if only_lines => {
            say!("Better: {}", objective_change(label!("is met now and was missed at all loads before")))
        }
        Verdict::Worse if only_lines => {
            say!("Worse: {}", objective_change(label!("is missed at all loads now and was met before")))
        }
        Verdict::Better => label!("Better: the second run is faster by more than the noise of these runs.").into(),
        Verdict::Worse => label!("Worse: the second run is slower by more than the noise of these runs.").into(),
        Verdict::Mixed => label!("Mixed: the second run is better at some loads and worse at others.").into(),
        Verdict::NoRealChange => label!("No significant difference between these runs.").into(),
        // The different conditions have the loads.
        Verdict::NotComparable(Incomparable::Loads(_)) => {
            label!("No verdict: their loads differ: measure both with the same flags, --size among them.").into()
        }
        Verdict::NotComparable(why) => say!("No verdict: {why}."),
    }
}

/// The verdict on load lines that were measured alternately; `None` if they do not differ.
fn turns_sentence(line: &LineComparison, verdict: &Verdict) -> Option<String> {
    let (word, more) = match verdict {
        Verdict::Better => (label!("Better"), label!("more")),
        Verdict::Worse => (label!("Worse"), label!("less")),
        _ => return None,
    };
    let by = share_and_range(&line.ratio);
    let (a, b) = (number::three(line.a), number::three(line.b));
    Some(say!("{word}: the second carries {by} {more}, {b} against {a} IOPS for {}.", line.objective))
}

/// The verdict on load lines. For single runs it is limited to the time of the runs.
fn line_sentence(line: &LineComparison, verdict: &Verdict) -> String {
    let direction = match verdict {
        Verdict::Better => label!("Better: the load line rose"),
        Verdict::Worse => label!("Worse: the load line fell"),
        Verdict::NotComparable(why) => return say!("No verdict: {why}."),
        _ => {
            let (least, when) = (whole_percent(line.resolution), reservation(line, label!(" during these runs")));
            return say!("No significant difference; the smallest detectable difference is {least} %{when}.");
        }
    };
    let (by, a, b) = (share_and_range(&line.ratio), number::three(line.a), number::three(line.b));
    let (objective, when) = (line.objective, reservation(line, label!(", during these runs")));
    say!("{direction} by {by}, {a} to {b} IOPS for {objective}{when}.")
}

/// A ratio as a change without sign: `21 % (12 to 31 %)`.
pub(super) fn share_and_range(ratio: &Estimate) -> String {
    let sign = if ratio.value < 1.0 { -1.0 } else { 1.0 };
    let change = |ratio: f64| {
        let change = (ratio - 1.0) * sign;
        // The interval of a real change may include the opposite sign if the verdict rests on the scatter of other
        // runs.
        if change < 0.0 { format!("-{}", whole_percent(-change)) } else { whole_percent(change) }
    };
    let range = number::interval(ratio).map_or_else(String::new, |(low, high)| {
        let [least, max] = if sign < 0.0 { [high, low] } else { [low, high] };
        say!(" ({} to {} %)", change(least), change(max))
    });
    format!("{} %{range}", change(ratio.value))
}

fn reservation(line: &LineComparison, words: &'static str) -> &'static str {
    if line.method == Method::SingleRuns { words } else { "" }
}

/// A share in per cent, with one decimal below 10 %.
fn whole_percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 { number::three((percent * 10.0).round() / 10.0) } else { number::integer(percent) }
}

/// The figures that both sides have.
fn tabulate_figures(comparison: &Comparison) -> Table {
    let changes: Vec<&Change> = comparison.overall.iter().chain(&comparison.points).collect();
    let note = label!(
        "intervals are widened for the number of comparisons; a change has to pass what runs that follow each \
                other differ by"
    );
    let has_interval = changes.iter().any(|change| number::interval(&change.ratio).is_some());
    let table = Table::rows(label!("Figures of both sides"), changes)
        .column(Column::text(label!("figure"), 0), |change| name_quantity(change.quantity, change.offered))
        .column(Column::text(label!("first"), 0), |change| show_value(change.quantity, change.a))
        .column(Column::text(label!("second"), 0), |change| show_value(change.quantity, change.b))
        .column(Column::text(label!("change"), 0), |change| {
            let ratio = Cell::text(signed(change.ratio.value));
            match number::interval(&change.ratio) {
                Some((low, high)) => ratio.with_interval(say!("{} to {}", signed(low), signed(high))),
                None => ratio,
            }
        });
    // Runs that are not comparable have no better figures.
    let table = match comparison.verdict {
        Verdict::NotComparable(_) => table,
        _ => table.column(Column::text(label!("verdict"), 0), |change| judgement(&change.verdict)),
    };
    table.table().with_notes(has_interval.then(|| note.to_owned()))
}

/// Such as `p99 at 1,000 IOPS, Poisson`.
pub(super) fn name_quantity(quantity: Quantity, offered: Option<Pace>) -> String {
    let name = match quantity {
        Quantity::MostIops => label!("maximum"),
        Quantity::LoadLine => label!("load line"),
        Quantity::Iops => "IOPS",
        Quantity::Mean => label!("mean"),
        Quantity::P99 => "p99",
    };
    offered.map_or(name.into(), |pace| say!("{name} at {}", words::pace(&pace)))
}

pub(super) fn show_value(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::MostIops | Quantity::LoadLine | Quantity::Iops => format!("{} IOPS", number::three(value)),
        Quantity::Mean | Quantity::P99 => {
            let unit = if value < 1e6 { LatencyUnit::Micro } else { LatencyUnit::Milli };
            format!("{} {}", unit.show(value), unit.name())
        }
    }
}

fn judgement(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::NoRealChange => label!("no real change"),
        Verdict::Better => label!("better"),
        Verdict::Worse => label!("worse"),
        Verdict::Mixed => label!("mixed"),
        Verdict::NotComparable(_) => label!("no verdict"),
    }
}

/// A ratio as a change in per cent.
fn signed(ratio: f64) -> String {
    if ratio.is_finite() { number::change(ratio - 1.0, 1) } else { "–".into() }
}
