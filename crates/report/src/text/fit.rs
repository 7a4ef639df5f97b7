//! A fitted model: its numbers, how well they are known, how well it describes and foretells, and what else was tried.

use plimsoll_analyse::{Fitted, Misfit, Parameter};

use super::TextStyle;
use super::paint::{INDENT, Line, Tone, hanging, wrap};
use super::table::{Align, Column, Table};
use crate::number;
use crate::words::clean;

/// All parts.
pub(super) fn parts(fitted: &Fitted, style: &TextStyle) -> Vec<Vec<Line>> {
    vec![headline(fitted, style), parameters(&fitted.parameters, style), notes(fitted, style)]
}

fn headline(fitted: &Fitted, style: &TextStyle) -> Vec<Line> {
    let mut lines: Vec<Line> =
        wrap(&fitted.spec.to_string(), style.width).into_iter().map(|line| Line::of(line, Tone::Strong)).collect();
    let foretells = match &fitted.held_out {
        Some(held_out) => format!("; loads left out are foretold within {}", misfit(*held_out)),
        None => "; too few loads to leave one out".into(),
    };
    let described = format!("Describes the measured response times within {}{foretells}.", misfit(fitted.error));
    lines.extend(wrap(&described, style.width).into_iter().map(Line::plain));
    lines
}

fn misfit(misfit: Misfit) -> String {
    format!("{:.1} % (at worst {:.1} %)", misfit.mean * 100.0, misfit.worst * 100.0)
}

fn parameters(parameters: &[Parameter], style: &TextStyle) -> Vec<Line> {
    let column = |name, align, of: &dyn Fn(&Parameter) -> String| Column {
        name,
        unit: "",
        align,
        expendable: 0,
        cells: parameters.iter().map(of).collect(),
    };
    let interval = |one: &Parameter| match one.interval {
        Some((low, high)) => format!("{} to {}", value(one.unit, low), value(one.unit, high)),
        None if one.identified => "no interval".into(),
        None => "not identified".into(),
    };
    let columns = vec![
        column("parameter", Align::Left, &|one| clean(&one.name)),
        column("value", Align::Left, &|one| value(one.unit, one.value)),
        column("95 % interval", Align::Left, &interval),
    ];
    let mut lines = Table { columns, ..Table::default() }.lay_out(style).lines;
    lines.push(Line::plain(String::new()));
    for one in parameters {
        let text = format!("{}: {}", one.name, one.identified_by);
        lines.extend(hanging("known by", Tone::Quiet, wrap(&clean(&text), style.width - INDENT)));
    }
    lines
}

/// `104 us`, `56,000 IOPS`, `32`.
fn value(unit: &str, value: f64) -> String {
    match unit {
        "ns" => number::time(value),
        "" => number::three(value),
        unit => format!("{} {unit}", number::three(value)),
    }
}

fn notes(fitted: &Fitted, style: &TextStyle) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add =
        |name: &str, tone, text: &str| lines.extend(hanging(name, tone, wrap(&clean(text), style.width - INDENT)));
    if let Some(rival) = &fitted.rival {
        add(
            "rival",
            Tone::Yellow,
            &format!(
                "{} describes the runs nearly as well ({}) and differs beyond them: {}",
                rival.shape,
                misfit(rival.error),
                rival.spec
            ),
        );
    }
    for doubt in &fitted.doubts {
        add("doubt", Tone::Yellow, doubt);
    }
    let tried: Vec<String> = fitted
        .alternatives
        .iter()
        .map(|other| format!("{} {}", other.shape, misfit(other.held_out.unwrap_or(other.error))))
        .collect();
    if !tried.is_empty() {
        add("tried", Tone::Quiet, &tried.join("; "));
    }
    lines
}
