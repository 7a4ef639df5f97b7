//! Stacked horizontal bars of equal length. Parts can be distinguished without colour by name, order and legend.

use maud::{Markup, html};

use super::frame::{Size, text_width};
use super::legend::{LegendEntry, cut, legend};
use super::{Drawing, px, typeset};
use crate::words::database::share;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BarPart {
    /// Name, the same in all bars.
    pub name: &'static str,
    /// CSS class of its colour.
    pub class: &'static str,
    /// Share of the bar, 0 to 1.
    pub share: f64,
}

/// A bar; without parts, its name is a heading of the bars below.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stack {
    pub name: String,
    pub parts: Vec<BarPart>,
}

const ROW: f64 = 27.0;
const HIGH: f64 = 19.0;

/// Draws the bars with a legend above and a scale in per cent below.
pub(crate) fn stacks(stacks: &[Stack], size: Size) -> Drawing {
    let left = size.pick(190.0, 112.0);
    let right = f64::from(size.width) - size.pick(24.0, 18.0);
    let (key, key_height) = legend(&entries(stacks), 0.0, 0.0, f64::from(size.width));
    let top = key_height + 10.0;
    let bottom = top + stacks.len() as f64 * ROW;
    let at = |share: f64| px(left + share.clamp(0.0, 1.0) * (right - left));
    let body = html! {
        (key)
        g class="axis" {
            @for quarter in 0..=4 {
                @let x = at(f64::from(quarter) / 4.0);
                line class="grid" x1=(x) x2=(x) y1=(px(top)) y2=(px(bottom + 4.0)) {}
                text x=(x) y=(px(bottom + 19.0)) text-anchor="middle" { (quarter * 25) "\u{a0}%" }
            }
        }
        @for (row, stack) in stacks.iter().enumerate() {
            (drawn_stack(stack, top + row as f64 * ROW, left, &at))
        }
    };
    Drawing { body, height: bottom + 28.0 }
}

fn entries(stacks: &[Stack]) -> Vec<LegendEntry> {
    let mut observed: Vec<&BarPart> = Vec::new();
    for stack in stacks {
        // All bars have their parts in the same order: a new part follows its predecessor.
        let mut place = 0;
        for part in &stack.parts {
            let existing = observed.iter().position(|existing| existing.name == part.name);
            if existing.is_none() {
                observed.insert(place, part);
            }
            place = existing.unwrap_or(place) + 1;
        }
    }
    let sample = || html! { rect class="part" x="4" y="-6" width="16" height="12" {} };
    observed
        .iter()
        .map(|part| LegendEntry { sample: sample(), class: part.class.into(), label: part.name.into() })
        .collect()
}

fn drawn_stack(stack: &Stack, top: f64, left: f64, at: &dyn Fn(f64) -> f64) -> Markup {
    let base = px(top + ROW / 2.0 + 4.0);
    if stack.parts.is_empty() {
        return html! { text class="name" x="0" y=(base) { (cut(&stack.name, 2.0 * left)) } };
    }
    let mut from = 0.0;
    let mut placed = Vec::new();
    for part in stack.parts.iter().filter(|part| part.share.is_finite() && part.share > 0.0) {
        placed.push((part, at(from), at(from + part.share)));
        from += part.share;
    }
    html! {
        text x=(px(left - 10.0)) y=(base) text-anchor="end" { (cut(&stack.name, left - 12.0)) }
        @for (part, from, to) in placed {
            @let share = typeset(&share(part.share));
            @let tip = format!("{}: {} {share}", stack.name, part.name);
            g class=(part.class) data-tip=(tip) {
                title { (tip) }
                rect class="part" x=(from) y=(px(top + (ROW - HIGH) / 2.0)) width=(px((to - from).max(0.5))) height=(HIGH) {}
                @if let Some(label) = label(part.name, &share, to - from) {
                    text class="inside" x=(px(f64::midpoint(from, to))) y=(base) text-anchor="middle" { (label) }
                }
            }
        }
    }
}

/// The longest label that fits into the part.
fn label(name: &str, share: &str, width: f64) -> Option<String> {
    let forms = [format!("{name} {share}"), name.to_owned()];
    forms.into_iter().find(|form| text_width(form) + 6.0 <= width)
}
