//! What carries the demand, ranked, beside what misses the objective and what does not carry it.

use maud::{Markup, html};
use plimsoll_choose::sizing::{Choice, ClassLatency, Limit};

use super::super::figures::{both, figure};
use super::super::grid::{Head, Row, link, table};
use super::{Sized, details, saved};
use crate::chart::{self, Axis, Fill, Group, Joined, Plane, Spot, gauge, typeset};
use crate::number;
use crate::scale::Scale;
use crate::text::{Cells, NONE};
use crate::words::{clean, offer, sizing as words};

/// Choices that miss the objective, and products that do not carry it.
const MOST_OTHERS: usize = 40;

const HEADS: [Head; 10] = [
    Head("configuration", "", Cells::Words),
    Head("rank", "", Cells::Figures),
    Head("price", "a month", Cells::Figures),
    Head("room", "above", Cells::Figures),
    Head("design of what binds", "", Cells::Words),
    Head("binds first", "", Cells::Words),
    Head("then", "", Cells::Words),
    Head("reads", "mean", Cells::Figures),
    Head("objective", "reached", Cells::Figures),
    Head("database time", "", Cells::Figures),
];

/// The ranking: a picture of price and room, and a row for each.
pub(super) fn section(sized: &Sized<'_>) -> Markup {
    let choices = sized.choices();
    if choices.is_empty() {
        return html! {};
    }
    let rows: Vec<Row> = choices.iter().enumerate().map(|(index, choice)| row(sized, Some(index), choice)).collect();
    let more = sized.sizing.choices.len() - choices.len();
    html! {
        section id="choices" {
            h2 { "What carries it" }
            p class="lead" {
                "The cheapest configuration of each product. Room is what the limit that binds first allows above the design point; "
                "the bar is full up to the design point."
                @if more > 0 { " " (number::whole(more as f64)) " dearer ones are left out: --most shows more." }
            }
            (table("Choices, the cheapest first", &HEADS, &rows))
            (picture(sized))
        }
    }
}

fn limit(limit: Option<&Limit>) -> String {
    limit.map_or(NONE.to_owned(), |limit| clean(&limit.name))
}

fn row(sized: &Sized<'_>, rank: Option<usize>, choice: &Choice) -> Row {
    let name = offer::configuration(&choice.offer);
    let id = rank.map(details::id);
    let none = || NONE.to_owned();
    let texts = [
        choice.price.as_ref().map_or_else(none, |price| price.monthly.to_string()),
        choice.binds.as_ref().map_or_else(none, |limit| words::room(limit.over)),
    ];
    let [price, room] = texts.map(|text| html! { (typeset(&text)) });
    let reads = read(choice).map_or_else(none, |class| class.mean.to_string());
    let reached = choice.reached.map_or_else(none, |reached| reached.to_string());
    let effect = sized.effect(choice).map_or_else(none, |effect| saved(&effect));
    Row {
        id: None,
        cells: vec![
            link(id.as_deref(), &name),
            html! { (rank.map_or_else(none, |rank| (rank + 1).to_string())) },
            price,
            room,
            html! { @if let Some(limit) = &choice.binds { (gauge(1.0 / limit.over)) } },
            html! { (limit(choice.binds.as_ref())) },
            html! { (limit(choice.next.as_ref())) },
            html! { (typeset(&reads)) },
            html! { (typeset(&reached)) },
            html! { (typeset(&effect)) },
        ],
    }
}

/// The reads with the most operations, or what there is.
fn read(choice: &Choice) -> Option<&ClassLatency> {
    choice.latency.iter().find(|one| one.class.name().contains("reads")).or(choice.latency.first())
}

/// Price against room; nothing of a single choice.
fn picture(sized: &Sized<'_>) -> Markup {
    let spot = |(index, choice): (usize, &Choice)| {
        let (price, limit) = (choice.price.as_ref()?, choice.binds.as_ref()?);
        Some(Spot {
            x: price.monthly.millionths as f64 / 1e6,
            y: limit.over,
            tip: format!(
                "{}: {} a month, {} room",
                offer::configuration(&choice.offer),
                price.monthly,
                words::room(limit.over)
            ),
            label: (index + 1).to_string(),
        })
    };
    let spots: Vec<Spot> = sized.choices().iter().enumerate().filter_map(spot).collect();
    if spots.len() < 2 {
        return html! {};
    }
    let ends = |of: fn(&Spot) -> f64| {
        let values = || spots.iter().map(of);
        (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
    };
    let ((cheap, dear), (_, most)) = (ends(|spot| spot.x), ends(|spot| spot.y));
    let plane = Plane {
        x: Axis { name: "price a month", scale: Scale::for_latency(cheap, dear), label: number::short },
        y: Axis { name: "allowed over the design point, times", scale: Scale::from_zero(most), label: number::three },
        groups: vec![Group { name: "choices".into(), tone: 0, fill: Fill::Full, joined: Joined::Apart, spots }],
    };
    let chart =
        both("choices-price", "Price against room", "The table above has the figures; numbers are ranks.", |size| {
            chart::plane(&plane, size)
        });
    html! { (figure(&chart, &html! { "list prices and ceilings of the catalogue, " (link(Some("sources"), "each with its document")) })) }
}

/// What carries it and misses the objective.
pub(super) fn nearly(sized: &Sized<'_>) -> Markup {
    let nearly = &sized.sizing.nearly;
    let rows: Vec<Row> = nearly.iter().take(MOST_OTHERS).map(|choice| row(sized, None, choice)).collect();
    html! {
        @if !rows.is_empty() {
            section {
                h2 { "Carries it, and misses the objective" }
                p class="lead" {
                    "Their ceilings suffice, and their response times as simulated do not; few vendors publish one, so measure "
                    "before you rule them out."
                }
                (table("Choices that miss the objective", &HEADS, &rows))
            }
        }
    }
}

/// What does not carry it.
pub(super) fn rejected(sized: &Sized<'_>) -> Markup {
    const HEADS: [Head; 3] =
        [Head("product", "", Cells::Words), Head("carries", "", Cells::Words), Head("why not", "", Cells::Words)];
    let rejected = &sized.sizing.rejected;
    let row = |one: &plimsoll_choose::sizing::Rejection| Row {
        id: None,
        cells: vec![
            html! { (clean(&one.name)) },
            html! { @if one.why.share() > 0.0 { (gauge(one.why.share())) } @else { (NONE) } },
            html! { span class="reason" { (typeset(&clean(&words::why(&one.why)))) } },
        ],
    };
    let rows: Vec<Row> = rejected.iter().take(MOST_OTHERS).map(row).collect();
    html! {
        @if !rows.is_empty() {
            section {
                h2 { "Does not carry it" }
                p class="lead" { "The nearest first: the bar is the share of the design point that it carries." }
                (table("Products that do not carry it", &HEADS, &rows))
                @if rejected.len() > rows.len() { p class="lead" { "And " (rejected.len() - rows.len()) " more: the JSON has all." } }
            }
        }
    }
}
