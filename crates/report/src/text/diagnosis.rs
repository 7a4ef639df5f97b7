//! A diagnosis for a terminal: the verdicts first, then the database's time as bars, what would change it, how storage
//! answers, its ceilings, and where the numbers stand.

pub(crate) mod evidence;

use plimsoll_choose::diagnosis::{Diagnosis, Split};
use plimsoll_ingest::Outcome;

use evidence::NO_CEILINGS;

use super::TextStyle;
use super::configurations;
use super::demand;
use super::grid::{self, Cells, Filled, Heading};
use super::paint::{INDENT, Line, Tone, hanging, wrap};
use crate::number;
use crate::words::clean;
use crate::words::diagnosis::{Told, duration, part, seconds, share, told};

pub(super) fn parts(outcomes: &[Outcome], diagnoses: &[Diagnosis], style: &TextStyle) -> Vec<Vec<Line>> {
    let mut parts = Vec::new();
    for diagnosis in diagnoses {
        parts.push(head(diagnosis, style));
        parts.push(diagnosis.verdicts.iter().map(told).flat_map(|told| verdict(&told, style)).collect());
        if let Some(split) = &diagnosis.split {
            parts.extend(bars(split, style));
        }
        parts.extend(what_ifs(diagnosis).lay_out(style));
        parts.extend(evidence::responses(diagnosis).lay_out(style));
        parts.extend(diagnosis.on.iter().flat_map(|on| or_note(&evidence::ceilings(on), NO_CEILINGS, style)));
        if let Some(split) = &diagnosis.split {
            let places = evidence::places(split, diagnosis.windows.count);
            parts.extend(or_note(&places, &places.notes.join("; "), style));
        }
    }
    parts.push(demand::doubts(outcomes, style));
    parts
}

fn head(diagnosis: &Diagnosis, style: &TextStyle) -> Vec<Line> {
    let windows = diagnosis.windows;
    let name = if diagnosis.name.is_empty() { "Diagnosis" } else { diagnosis.name.as_str() };
    let begin = windows.first.and_then(|slot| slot.begin);
    let from = begin.map_or(String::new(), |begin| format!(", from {begin}").replace('T', " "));
    let over = match windows.count {
        1 => format!("one window of {}{from}", duration(windows.longest_s)),
        count => {
            let longest = duration(windows.longest_s);
            format!("{} windows of up to {longest}{from}", number::whole(count as f64))
        }
    };
    let on = diagnosis.on.as_ref().map_or(String::new(), |on| on.config.clone());
    grid::facts(name, &[("over", over), ("on", on)], style)
}

fn verdict(told: &Told, style: &TextStyle) -> Vec<Line> {
    let tone = if told.word == "answer" { Tone::Strong } else { Tone::Yellow };
    let text = hanging(told.word, tone, wrap(&clean(&told.text), style.width - INDENT));
    let remedy = hanging("  do", Tone::Quiet, wrap(&clean(&told.remedy), style.width - INDENT));
    text.chain(remedy.filter(|_| !told.remedy.is_empty())).collect()
}

const BARS: [Heading; 5] = [
    Heading { name: "database time", unit: "", cells: Cells::Words, expendable: 0 },
    Heading { name: "share", unit: "%", cells: Cells::Figures, expendable: 0 },
    Heading { name: "time", unit: "s", cells: Cells::Figures, expendable: 0 },
    Heading { name: "", unit: "", cells: Cells::Words, expendable: 1 },
    Heading { name: "longest", unit: "", cells: Cells::Words, expendable: 2 },
];

/// One bar for each part: full where faster storage makes it shorter, hollow where it does not.
fn bars(split: &Split, style: &TextStyle) -> Vec<Vec<Line>> {
    /// Columns of all the time.
    const FULL: f64 = 25.0;
    /// Shares that would be shown as nought.
    const LEAST: f64 = 0.000_5;
    let row = |slice: &plimsoll_choose::diagnosis::Slice| {
        let mark = if slice.part.is_storage() { "\u{25aa}" } else { "\u{25ab}" };
        let longest = slice.events.first().map_or(String::new(), |event| event.event.to_string());
        vec![
            part(slice.part).to_owned(),
            format!("{:.1}", slice.share * 100.0),
            number::three(slice.seconds),
            mark.repeat((slice.share * FULL).round() as usize),
            longest,
        ]
    };
    let seen = split.slices.iter().filter(|slice| slice.share >= LEAST);
    let rows: Vec<Vec<String>> = seen.map(row).collect();
    let processors = split.processors.map_or(String::new(), |count| format!("; processors: {}", number::whole(count)));
    let busy = split.host_busy.map_or(String::new(), |busy| format!(", busy {} of the time", share(busy)));
    let notes = [
        format!("{} sessions active on average{processors}{busy}", number::three(split.active)),
        "\u{25aa} what faster storage makes shorter; \u{25ab} what it does not".to_owned(),
    ];
    grid::parts(&BARS, &rows, &notes, style)
}

const WHAT_IFS: [Heading; 4] = [
    Heading { name: "what if", unit: "", cells: Cells::Words, expendable: 0 },
    Heading { name: "saves", unit: "%", cells: Cells::Figures, expendable: 0 },
    Heading { name: "same work", unit: "times as fast", cells: Cells::Figures, expendable: 1 },
    Heading { name: "reads", unit: "%", cells: Cells::Figures, expendable: 2 },
];

/// A table, or the note where it has no rows.
fn or_note(table: &Filled, note: &str, style: &TextStyle) -> Vec<Vec<Line>> {
    if table.rows.is_empty() { vec![configurations::note(note, style).collect()] } else { table.lay_out(style) }
}

/// What faster storage or another buffer cache would give.
pub(crate) fn what_ifs(diagnosis: &Diagnosis) -> Filled {
    // No minus before a zero.
    let percent = |share: f64| format!("{:.1}", (share * 1_000.0).round() / 10.0 + 0.0);
    let mut rows = Vec::new();
    let effects = [
        ("storage ten times as fast", &diagnosis.ten_times),
        ("storage that answers at once (Amdahl's bound)", &diagnosis.at_most),
    ];
    for (name, effect) in effects {
        let Some(effect) = effect.as_ref().filter(|effect| !effect.parts.is_empty()) else { continue };
        rows.push(vec![
            name.to_owned(),
            percent(effect.saved()),
            number::three(effect.speedup()),
            "\u{2013}".to_owned(),
        ]);
    }
    for step in &diagnosis.cache {
        let bytes = plimsoll_units::Bytes::new((step.bytes / f64::from(1 << 20)).round() as u64 * (1 << 20));
        let faster = 1.0 / (1.0 - step.saved).max(f64::MIN_POSITIVE);
        let name = format!("buffer cache {} times, {bytes}", number::three(step.factor));
        rows.push(vec![name, percent(step.saved), number::three(faster), percent(step.reads)]);
    }
    let floor = seconds(plimsoll_choose::diagnosis::FLOOR_S);
    let note = format!(
        "of the database's time, for the same work; no operation is taken to get below {floor}; writes behind sessions, \
         processors and locks stay as they are"
    );
    Filled::new(&WHAT_IFS, rows, vec![note])
}
