//! Several curves beside each other: headline numbers on a common scale.

use maud::{Markup, html};
use plimsoll_record::{Curve, LoadLine};

use crate::chart::{Shape, colour_class, plimsoll_mark, strip, typeset};
use crate::{number, pick, words};

/// The head of a page about several curves.
pub(super) fn head(curves: &[&Curve]) -> Markup {
    let lines: Vec<_> = curves.iter().filter_map(|curve| Some((*curve, value(curve)?))).collect();
    let best = lines.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let same = lines.windows(2).all(|pair| objective(pair[0].0) == objective(pair[1].0));
    html! {
        header {
            h1 { "Load lines of " (curves.len()) " curves" }
            div class="verdict-head" {
                (plimsoll_mark())
                div {
                    @if let Some((curve, most)) = best.filter(|_| same && lines.len() > 1) {
                        p class="big" { (number::three(*most)) span { " IOPS" } }
                        p class="promise" {
                            "is the highest load line, that of " strong { (words::clean(&curve.subject.name)) }
                            @if let Some(objective) = objective(curve) { ", for " (typeset(&objective)) }
                            " " span class="word" { (curve.source.word()) }
                        }
                        @if let Some(other) = rival(curve, curves) {
                            p { "Its interval overlaps that of " (other) ": no difference is shown between the two." }
                        }
                    } @else {
                        p class="big words" { "Side by side" }
                        p class="promise" { "The curves do not share an objective, so none is called the best." }
                    }
                }
            }
        }
    }
}

/// Another curve whose load line may be as high: the intervals overlap, or one has none.
fn rival(best: &Curve, curves: &[&Curve]) -> Option<String> {
    let range = |curve: &Curve| {
        let iops = curve.load_line.as_ref().and_then(pick::line_iops)?;
        Some(number::interval(&iops).unwrap_or((iops.value, iops.value)))
    };
    let (low, _) = range(best)?;
    let others = curves.iter().filter(|curve| !std::ptr::eq(**curve, best));
    let rival = others.into_iter().find(|curve| range(curve).is_some_and(|(_, high)| high >= low))?;
    Some(words::clean(&rival.subject.name))
}

fn objective(curve: &Curve) -> Option<String> {
    curve.load_line.map(|line| line.objective().to_string())
}

fn value(curve: &Curve) -> Option<f64> {
    curve.load_line.as_ref().and_then(pick::line_iops).map(|iops| iops.value)
}

/// One row a curve.
pub(super) fn table(curves: &[&Curve]) -> Markup {
    let most = curves
        .iter()
        .filter_map(|curve| curve.load_line.as_ref().and_then(pick::line_iops))
        .fold(0.0f64, |most, iops| most.max(number::interval(&iops).map_or(iops.value, |(_, high)| high)));
    html! {
        section {
            h2 { "Side by side" }
            div class="scroll" tabindex="0" role="region" aria-label="Headline numbers of the curves" {
                table {
                    thead { tr {
                        th class="l" scope="col" { "curve" }
                        th class="l" scope="col" { "source" }
                        th class="l" scope="col" { "objective" }
                        th scope="col" { "load line" small { "IOPS" } }
                        th class="l" scope="col" { "0 to " (number::short(most)) " IOPS" }
                        th scope="col" { "knee" small { "IOPS" } }
                        th scope="col" { "most" small { "IOPS" } }
                        th scope="col" { "p50, lightest" }
                        th scope="col" { "p99, lightest" }
                    } }
                    tbody { @for (index, curve) in curves.iter().enumerate() { (row(curve, index, most)) } }
                }
            }
        }
    }
}

fn row(curve: &Curve, index: usize, most: f64) -> Markup {
    let class = colour_class(index);
    let line = curve.load_line.as_ref();
    let iops = line.and_then(pick::line_iops);
    let at_least = if matches!(line, Some(LoadLine::Beyond { .. })) { "≥ " } else { "" };
    let time = |ns: Option<f64>| ns.map_or("–".into(), |ns| typeset(&number::time(ns)));
    let lightest = pick::lightest(curve).map(|run| &run.figures);
    html! {
        tr {
            th scope="row" {
                svg class={ "chart swatch " (class) } viewBox="-7 -7 14 14" aria-hidden="true" {
                    (Shape::ALL[index % Shape::ALL.len()].draw(0.0, 0.0, "solid"))
                }
                (words::clean(&curve.subject.name))
            }
            td class="l" { (curve.source.word()) }
            td class="l" { (objective(curve).map_or("–".into(), |objective| typeset(&objective))) }
            td {
                @match (&iops, line) {
                    (Some(iops), _) => {
                        (at_least) (number::three(iops.value))
                        @if let Some((low, high)) = number::interval(iops) { small { (number::three(low)) " – " (number::three(high)) } }
                    },
                    (None, Some(_)) => { "none" },
                    (None, None) => { "–" },
                }
            }
            td class="l" { (strip(iops.as_ref(), most, &class)) }
            td { (curve.knee.map_or("–".into(), |knee| number::three(knee.iops))) }
            td { (pick::fastest(curve).map_or("–".into(), |run| number::three(run.figures.iops.value))) }
            td { (time(lightest.map(|figures| figures.p50_ns.value))) }
            td { (time(lightest.map(|figures| figures.p99_ns.value))) }
        }
    }
}
