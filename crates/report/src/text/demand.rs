//! What inputs ask of storage: what each was recognised as, the demand by class, over time, and where each number stands.

use plimsoll_ingest::{Class, Demand, Fate, Figure, Measure, Outcome, Reading, Subject, Summary, Verdict};

use super::grid::{self, Cells, Filled, Heading};
use super::paint::{INDENT, Line, Tone, hanging, wrap};
use super::{TextStyle, evidence};
use crate::number;
use crate::words::clean;

/// How much of a demand is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// The demand.
    Figures,
    /// And the place of every number.
    Origins,
}

/// Rows of a table over time; of more, the note says how many.
const MOST_SLOTS: usize = 48;

pub(super) fn parts(outcomes: &[Outcome], demand: &Demand, telling: Telling, style: &TextStyle) -> Vec<Vec<Line>> {
    let inputs = inputs(outcomes);
    let mut parts = grid::parts(&inputs.headings, &inputs.rows, &inputs.notes, style);
    for subject in &demand.subjects {
        parts.push(head(subject, style));
        parts.extend(classes(subject, style));
        parts.extend(over_time(subject, style));
        parts.push(subject.doubts.iter().flat_map(|doubt| said("note", doubt, style)).collect());
    }
    for reading in outcomes.iter().filter_map(Outcome::reading) {
        parts.extend(evidence::evidence(reading, style));
        parts.extend(reading.curves.iter().map(|curve| evidence::curve(curve, style)));
    }
    if telling == Telling::Origins {
        for reading in outcomes.iter().filter_map(Outcome::reading) {
            parts.extend(origins(reading, style));
        }
    }
    parts.push(doubts(outcomes, style));
    parts
}

fn said(word: &str, text: &str, style: &TextStyle) -> Vec<Line> {
    hanging(word, Tone::Yellow, wrap(&clean(text), style.width - INDENT)).collect()
}

const INPUTS: [Heading; 4] = [
    Heading { name: "input", unit: "", cells: Cells::Words, expendable: 0 },
    Heading { name: "is", unit: "", cells: Cells::Words, expendable: 0 },
    Heading { name: "was", unit: "", cells: Cells::Words, expendable: 0 },
    Heading { name: "figures", unit: "", cells: Cells::Figures, expendable: 2 },
];

/// What each input was recognised as.
pub(crate) fn inputs(outcomes: &[Outcome]) -> Filled {
    let row = |outcome: &Outcome| {
        let version = outcome.reading().and_then(|reading| reading.version.clone());
        let kind = outcome.kind().map_or("not known".to_owned(), |kind| kind.to_string());
        let kind = version.map_or(kind.clone(), |version| format!("{kind} {version}"));
        let verdict = match outcome.verdict() {
            Verdict::Read => "read",
            Verdict::Partly => "read in part",
            Verdict::Refused => "refused",
        };
        let figures = outcome.reading().map_or("–".to_owned(), |reading| number::whole(reading.figures.len() as f64));
        vec![file_name(outcome.name()).to_owned(), kind, verdict.to_owned(), figures]
    };
    let rows: Vec<Vec<String>> = outcomes.iter().map(row).collect();
    Filled::new(&INPUTS, rows, ignored(outcomes).into_iter().chain(times(outcomes)).collect())
}

/// The end of a path: what tells files apart in a table.
fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// In which zone times are: of inputs with dates alone.
fn times(outcomes: &[Outcome]) -> Option<String> {
    let readings = || outcomes.iter().filter_map(Outcome::reading);
    let dated = readings().flat_map(|reading| &reading.windows).any(|window| window.begin.is_some());
    let mut zones: Vec<&str> = readings().filter_map(|reading| reading.assumed_zone.as_deref()).collect();
    zones.sort_unstable();
    zones.dedup();
    match zones.as_slice() {
        _ if !dated => None,
        [] => Some("Times are in UTC.".to_owned()),
        zones => Some(format!(
            "Times are in UTC. Times without an offset are taken as {} (--time-zone sets another zone).",
            zones.join(", ")
        )),
    }
}

fn ignored(outcomes: &[Outcome]) -> Option<String> {
    let parts = |fate: Fate| {
        let parts = outcomes.iter().filter_map(Outcome::reading).flat_map(|reading| &reading.parts);
        let mut names: Vec<&str> = parts.filter(|part| part.fate == fate).map(|part| part.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let (ignored, missing) = (parts(Fate::Ignored).len(), parts(Fate::Missing));
    let mut text = String::new();
    if ignored > 0 {
        text = format!("{ignored} kinds of sections say nothing of storage and were ignored. ");
    }
    if !missing.is_empty() {
        text += &format!("Not in every input: {}.", missing.join(", "));
    }
    (!text.is_empty()).then(|| text.trim_end().to_owned())
}

fn minutes(seconds: f64) -> String {
    if seconds < 120.0 {
        format!("{} s", number::three(seconds))
    } else {
        format!("{} min", number::three(seconds / 60.0))
    }
}

fn head(subject: &Subject, style: &TextStyle) -> Vec<Line> {
    let name = if subject.name.is_empty() { "Demand" } else { subject.name.as_str() };
    let lengths: Vec<f64> = subject.slots.iter().map(|slot| slot.length.as_secs_f64()).collect();
    let (least, most) = lengths.iter().fold((f64::MAX, 0.0_f64), |(a, b), &s| (a.min(s), b.max(s)));
    let each = if most > least * 1.02 { format!("{} to {}", minutes(least), minutes(most)) } else { minutes(most) };
    let begins: Vec<_> = subject.slots.iter().filter_map(|slot| slot.begin).collect();
    let from = begins.first().map_or(String::new(), |begin| format!(", from {begin}").replace('T', " "));
    let several = if lengths.len() > 1 {
        format!("{} windows of {each}{from}", lengths.len())
    } else {
        format!("one window of {each}{from}")
    };
    let hidden = if most > 3_900.0 { ": peaks that are shorter are hidden in the averages" } else { "" };
    grid::facts(name, &[("over", format!("{several}{hidden}")), ("of", subject.instances.join(", "))], style)
}

const ONE: [Heading; 5] = [
    Heading { name: "class", unit: "", cells: Cells::Words, expendable: 0 },
    Heading { name: "rate", unit: "IOPS", cells: Cells::Figures, expendable: 0 },
    Heading { name: "bytes", unit: "MB/s", cells: Cells::Figures, expendable: 0 },
    Heading { name: "size", unit: "KiB", cells: Cells::Figures, expendable: 1 },
    Heading { name: "latency", unit: "ms", cells: Cells::Figures, expendable: 0 },
];

const SEVERAL: [Heading; 9] = [
    Heading { name: "class", unit: "", cells: Cells::Words, expendable: 0 },
    Heading { name: "mean", unit: "IOPS", cells: Cells::Figures, expendable: 0 },
    Heading { name: "p95", unit: "IOPS", cells: Cells::Figures, expendable: 0 },
    Heading { name: "highest", unit: "IOPS", cells: Cells::Figures, expendable: 0 },
    Heading { name: "mean", unit: "MB/s", cells: Cells::Figures, expendable: 0 },
    Heading { name: "p95", unit: "MB/s", cells: Cells::Figures, expendable: 2 },
    Heading { name: "highest", unit: "MB/s", cells: Cells::Figures, expendable: 3 },
    Heading { name: "size", unit: "KiB", cells: Cells::Figures, expendable: 1 },
    Heading { name: "latency", unit: "ms", cells: Cells::Figures, expendable: 0 },
];

fn classes(subject: &Subject, style: &TextStyle) -> Vec<Vec<Line>> {
    let several = subject.slots.len() > 1;
    let mut rows = Vec::new();
    for class in Class::ALL {
        let of = |measure| subject.series(class, measure).and_then(|series| subject.summary(series));
        let all = [Measure::Iops, Measure::Throughput, Measure::Size, Measure::Latency].map(of);
        let [iops, bytes, size, latency] = all;
        if all.iter().all(Option::is_none) {
            continue;
        }
        let cell = |summary: Option<Summary>, value: fn(&Summary) -> f64, unit: f64| {
            summary.map_or("–".to_owned(), |summary| number::three(value(&summary) / unit))
        };
        let mean = |summary, unit| cell(summary, |summary| summary.mean, unit);
        let mut row = vec![class.name().to_owned()];
        for (summary, unit) in [(iops, 1.0), (bytes, 1e6)] {
            row.push(mean(summary, unit));
            if several {
                row.push(cell(summary, |summary| summary.p95, unit));
                row.push(cell(summary, |summary| summary.maximum, unit));
            }
        }
        row.push(mean(size, 1024.0));
        row.push(mean(latency, 1e-3));
        rows.push(row);
    }
    grid::parts(if several { &SEVERAL } else { &ONE }, &rows, &[], style)
}

const TIMES: [Heading; 6] = [
    Heading { name: "from", unit: "", cells: Cells::Words, expendable: 0 },
    Heading { name: "for", unit: "", cells: Cells::Words, expendable: 1 },
    Heading { name: "reads", unit: "IOPS", cells: Cells::Figures, expendable: 0 },
    Heading { name: "writes", unit: "IOPS", cells: Cells::Figures, expendable: 0 },
    Heading { name: "reads", unit: "MB/s", cells: Cells::Figures, expendable: 0 },
    Heading { name: "writes", unit: "MB/s", cells: Cells::Figures, expendable: 0 },
];

fn over_time(subject: &Subject, style: &TextStyle) -> Vec<Vec<Line>> {
    if subject.slots.len() < 2 {
        return Vec::new();
    }
    let value = |class, measure, index: usize, unit: f64| {
        let value = subject.series(class, measure).and_then(|series| series.values[index]);
        value.map_or("–".to_owned(), |value| number::three(value / unit))
    };
    let row = |index: usize| {
        let slot = &subject.slots[index];
        let begin = slot.begin.map_or("not said".to_owned(), |begin| begin.to_string().replace('T', " "));
        let mut row = vec![begin, minutes(slot.length.as_secs_f64())];
        for (measure, unit) in [(Measure::Iops, 1.0), (Measure::Throughput, 1e6)] {
            row.extend([Class::Read, Class::Write].map(|class| value(class, measure, index, unit)));
        }
        row
    };
    let count = subject.slots.len();
    let rows: Vec<Vec<String>> = (0..count.min(MOST_SLOTS)).map(row).collect();
    let more = (count > MOST_SLOTS).then(|| format!("The first {MOST_SLOTS} of {count} windows; --json has all."));
    grid::parts(&TIMES, &rows, &more.into_iter().collect::<Vec<_>>(), style)
}

/// A figure with its unit.
pub(crate) fn shown(figure: &Figure) -> String {
    let value = figure.value;
    match figure.measure {
        Measure::Iops => format!("{} IOPS", number::three(value)),
        Measure::Throughput => format!("{} MB/s", number::three(value / 1e6)),
        Measure::Size => format!("{} KiB", number::three(value / 1024.0)),
        Measure::Latency => format!("{} ms", number::three(value * 1e3)),
        Measure::Depth => number::three(value),
        Measure::Busy => format!("{} %", number::three(value * 100.0)),
    }
}

/// What is measured, in a word.
pub(crate) const fn measure_name(measure: Measure) -> &'static str {
    match measure {
        Measure::Iops => "iops",
        Measure::Throughput => "throughput",
        Measure::Size => "size",
        Measure::Latency => "latency",
        Measure::Depth => "depth",
        Measure::Busy => "busy",
    }
}

fn origins(reading: &Reading, style: &TextStyle) -> Vec<Vec<Line>> {
    let line = |figure: &Figure| {
        let part = &reading.scopes[figure.scope as usize].part;
        let class = figure.class.name();
        let class = if part.is_empty() { class.to_owned() } else { format!("{class} of {}", file_name(part)) };
        let text = format!("{class}, {}: {}; {}", measure_name(figure.measure), shown(figure), figure.origin);
        wrap(&clean(&text), style.width)
    };
    let name = wrap(&clean(&reading.name), style.width).into_iter().map(|line| Line::of(line, Tone::Strong));
    vec![name.chain(reading.figures.iter().flat_map(line).map(Line::plain)).collect()]
}

pub(super) fn doubts(outcomes: &[Outcome], style: &TextStyle) -> Vec<Line> {
    let mut lines = Vec::new();
    for outcome in outcomes {
        match outcome {
            Outcome::Refused { name, refusal } => lines.extend(said("refused", &format!("{name}: {refusal}"), style)),
            Outcome::Read(reading) => {
                for caution in &reading.cautions {
                    let place = caution.origin.as_ref().map_or(String::new(), |origin| format!(", {origin}"));
                    lines.extend(said("caution", &format!("{}{place}: {}", reading.name, caution.text), style));
                }
            }
        }
    }
    lines
}
