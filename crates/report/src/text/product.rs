//! One product as its file describes it: options, limits, tiers, prices, model, and where each was read.
//!
//! Arithmetic is shown as it is written. Sources are numbered, and listed at the end.

mod figures;
mod sources;

use plimsoll_catalogue::{OptionView, Product};

use self::sources::Sources;
use super::TextStyle;
use super::paint::{Line, Tone, wrap};
use crate::number;
use crate::words::{clean, offer as words};

/// All sections; those without entries are left out.
pub(super) fn parts(product: &Product, style: &TextStyle) -> Vec<Vec<Line>> {
    let mut sources = Sources::default();
    let mut parts = vec![head(product, style)];
    parts.push(options(product, &mut sources, style));
    parts.push(figures::tiers(product, style));
    parts.push(figures::limits(product, &mut sources, style));
    parts.push(figures::latency(product, &mut sources, style));
    parts.push(figures::rules(product, &mut sources, style));
    parts.push(figures::prices(product, &mut sources, style));
    parts.push(figures::model(product, &mut sources, style));
    parts.push(figures::named(product, &mut sources, style));
    parts.push(figures::autotune(product, &mut sources, style));
    parts.push(figures::machines(product, style));
    parts.push(figures::warnings(product, &mut sources, style));
    parts.push(sources.lines(style));
    parts
}

/// A section: its heading, then entries of which the first line stands out by its place.
struct Section<'s> {
    lines: Vec<Line>,
    style: &'s TextStyle,
}

impl<'s> Section<'s> {
    fn new(heading: &str, style: &'s TextStyle) -> Self {
        Self { lines: vec![Line::of(heading, Tone::Strong)], style }
    }

    fn entry(&mut self, text: &str) {
        let lines = wrap(&clean(text), self.style.width - 4).into_iter().enumerate();
        self.lines
            .extend(lines.map(|(index, line)| Line::plain(format!("  {}{line}", if index == 0 { "" } else { "  " }))));
    }

    /// A remark below an entry; nothing for an empty one.
    fn remark(&mut self, text: &str) {
        if !text.is_empty() {
            let lines = wrap(&clean(text), self.style.width - 4);
            self.lines.extend(lines.into_iter().map(|line| Line::of(format!("    {line}"), Tone::Quiet)));
        }
    }

    /// The lines, or none when there are no entries.
    fn done(self) -> Vec<Line> {
        if self.lines.len() > 1 { self.lines } else { Vec::new() }
    }
}

fn head(product: &Product, style: &TextStyle) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add =
        |text: &str, tone| lines.extend(wrap(&clean(text), style.width).into_iter().map(|line| Line::of(line, tone)));
    add(&format!("{}: {} ({})", product.name(), product.title(), product.kind().name()), Tone::Strong);
    add(product.about(), Tone::Plain);
    if !product.aliases().is_empty() {
        add(&format!("also {}", product.aliases().join(", ")), Tone::Plain);
    }
    let (unit, bytes) = product.capacity_unit();
    if product.has_size() {
        add(&format!("1 {unit} of it is {} bytes", number::whole(bytes.get() as f64)), Tone::Plain);
    } else if bytes.get() > 1 {
        add(&format!("holds {} ({} bytes)", words::capacity(bytes), number::whole(bytes.get() as f64)), Tone::Plain);
    }
    lines
}

fn options(product: &Product, sources: &mut Sources, style: &TextStyle) -> Vec<Line> {
    let mut section = Section::new("Options", style);
    let (unit, _) = product.capacity_unit();
    for option in product.options() {
        let unit = if &*option.name == "size" { format!(" {unit}") } else { String::new() };
        section.entry(&format!("{}: {}{unit} {}", option.name, range(&option), sources.mark(&option.cite)));
        section.remark(&option.note);
        if option.cite.note != *option.note {
            section.remark(&option.cite.note);
        }
    }
    section.done()
}

/// `1 to 65536 in steps of 1, 100 if not given`.
fn range(option: &OptionView) -> String {
    let mut parts = Vec::new();
    parts.push(match (option.low.as_str(), option.high.as_str()) {
        _ if !option.choices.is_empty() => option.choices.join(", "),
        ("", "") => "any number".into(),
        ("", high) => format!("up to {high}"),
        (low, "") => format!("from {low}"),
        (low, high) => format!("{low} to {high}"),
    });
    if !option.step.is_empty() && option.choices.is_empty() {
        parts.push(format!(" in steps of {}", option.step));
    }
    if !option.default.is_empty() {
        parts.push(format!("; {} if not given", option.default));
    }
    if let Some(from) = option.detached_from {
        parts.push(format!("; from or to {from} and more on a detached volume only"));
    }
    parts.concat()
}
