//! The sentences: verdict, findings, and where it was measured.

use plimsoll_record::{Curve, Ended, Weight};

use super::TextStyle;
use super::paint::{INDENT, Line, Tone, hanging, wrap};
use crate::doubts::{self, Doubt};
use crate::words::standing;
use crate::{number, pick, words};

/// The load line, what limits it, the knee and the most.
pub(super) fn headline(curve: &Curve, style: &TextStyle) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add = |text: &str, tone| lines.extend(wrap(text, style.width).into_iter().map(|line| Line::of(line, tone)));
    if let Some(ended) = words::ended(curve.ended) {
        add(ended, Tone::Yellow);
    }
    add(&verdict(curve), Tone::Strong);
    if let Some(confidence) = standing::confidence(curve) {
        add(&format!("Confidence: {confidence}."), Tone::Plain);
    }
    if let Some(next) = standing::next(curve) {
        add(&format!("Next: {next}"), Tone::Plain);
    }
    if let Some(meaning) = standing::meaning(curve) {
        add(&meaning, Tone::Plain);
    }
    if let Some(limit) = words::limit(curve) {
        add(&limit, Tone::Plain);
    }
    let mut parts = Vec::new();
    if let Some(knee) = curve.knee {
        let (iops, mean) = (number::three(knee.iops), number::time(knee.mean_ns));
        parts.push(format!("Knee: {iops} IOPS at a mean of {mean} ({}).", words::pace(&knee.offered)));
    }
    if let Some(most) = pick::fastest(curve).filter(|_| curve.conditions.trace.is_none()) {
        let figures = &most.figures;
        let (iops, moved) = (number::three(figures.iops.value), number::throughput(figures.bytes_per_second));
        parts.push(format!("Most: {iops} IOPS, {moved} ({}).", words::pace(&most.offered)));
    }
    if !parts.is_empty() {
        add(&parts.join(" "), Tone::Plain);
    }
    lines
}

fn verdict(curve: &Curve) -> String {
    let word = curve.source.word();
    if let Some(replay) = words::replay(curve) {
        return format!("{replay} - {word}");
    }
    match &curve.load_line {
        Some(line) => format!("Load line: {}{} - {word}", words::load_line(line), typical(curve)),
        None if curve.ended != Ended::Complete => format!("Load line: none, as the measurement has no end - {word}"),
        None if pick::seen(curve).next().is_none() => format!("Load line: none, as nothing was completed - {word}"),
        None => format!("Load line: none was drawn - {word}"),
    }
}

/// Which part of the time keeps the objective at the line.
fn typical(curve: &Curve) -> String {
    let basis = curve.basis.filter(|_| pick::has_line(curve));
    basis.map_or_else(String::new, |basis| format!(" in the typical {}", standing::slot(basis.slot)))
}

/// Findings, the heaviest first, each with its remedy.
pub(super) fn findings(curve: &Curve, style: &TextStyle) -> Vec<Line> {
    let doubts = doubts::of(curve);
    if doubts.is_empty() {
        return vec![Line::plain("Findings: none")];
    }
    told(&doubts, style)
}

/// Findings under their heading, each with its remedy; nothing where there are none.
pub(super) fn told(doubts: &[Doubt], style: &TextStyle) -> Vec<Line> {
    if doubts.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![Line::of("Findings", Tone::Strong)];
    for doubt in doubts {
        let tone = match doubt.weight {
            Weight::Void => Tone::Red,
            Weight::Caution => Tone::Yellow,
            Weight::Note => Tone::Blue,
        };
        let scope = doubt.scope.as_ref().map(|scope| format!(" ({scope})")).unwrap_or_default();
        let text = wrap(&format!("{}{scope}", doubt.text), style.width - INDENT);
        lines.extend(hanging(words::weight(doubt.weight), tone, text));
        for line in wrap(&format!("-> {}", doubt.remedy), style.width - INDENT) {
            lines.push(Line::of(format!("{:INDENT$}{line}", ""), Tone::Quiet));
        }
    }
    lines
}

/// What was asked of what, from where, and how the figures are meant.
pub(super) fn place(curve: &Curve, style: &TextStyle) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add = |name: &str, text: &str| lines.extend(hanging(name, Tone::Quiet, wrap(text, style.width - INDENT)));
    for stream in &curve.conditions.streams {
        let name = if curve.conditions.streams.len() > 1 {
            format!("{}: ", words::clean(&stream.name))
        } else {
            String::new()
        };
        add("load", &format!("{name}{}", words::stream(stream)));
    }
    add("", &words::conditions(&curve.conditions));
    add("target", &format!("{}, {}", words::clean(&curve.subject.name), words::subject(&curve.subject)));
    if let Some(host) = curve.host.as_ref().map(words::host).filter(|host| !host.is_empty()) {
        add("host", &host);
    }
    let began = curve.started.as_ref().map(|started| format!(", began {}", words::clean(started))).unwrap_or_default();
    add("source", &format!("{}{began}, duration {}", words::source(curve), words::duration(&curve.source, curve.wall)));
    let intervals = match curve.conditions.trace {
        None => "95 % intervals by batch means",
        Some(_) => "no intervals, as another hour would be another load",
    };
    add("figures", &format!("latency: response time from the intended moment; {intervals}; 1 MB is 1,000,000 bytes"));
    lines
}
