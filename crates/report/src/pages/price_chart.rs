//! Throughput of configurations against their price of a month.

use maud::html;
use plimsoll_catalogue::Money;
use plimsoll_language::{label, say};

use crate::chart::{self, Axis, Fill, Joined, Plane, PointGroup, Spot};
use crate::html::{both, figure};
use crate::number;
use crate::page::{Block, Chart};
use crate::scale::AxisScale;

/// A configuration with its price and throughput.
pub(super) struct PricedRate {
    pub name: String,
    pub monthly: Money,
    pub iops: f64,
}

/// A chart of at least two configurations, all with a price in the same currency; `None` otherwise.
///
/// `rate` names the throughput of the vertical axis, and `source` the origin of the figures.
pub(super) fn price_chart(configurations: &[PricedRate], rate: &'static str, source: &str) -> Option<Block> {
    let [first, _, ..] = configurations else { return None };
    if configurations.iter().any(|other| other.monthly.currency != first.monthly.currency) {
        return None;
    }
    let group = |(tone, configuration): (usize, &PricedRate)| {
        let PricedRate { name, monthly, iops } = configuration;
        let tip = say!("{name}: {monthly} a month, {} IOPS", number::rate(*iops));
        let spots = vec![Spot { x: monthly.as_f64(), y: *iops, tip, label: String::new() }];
        PointGroup { name: name.clone(), tone, fill: Fill::Full, joined: Joined::Apart, spots }
    };
    let scale = |of: fn(&PricedRate) -> f64| {
        let values = || configurations.iter().map(of);
        AxisScale::for_latency(values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
    };
    let plane = Plane {
        x: Axis { name: label!("price a month"), scale: scale(|one| one.monthly.as_f64()), label: number::short },
        y: Axis { name: rate, scale: scale(|one| one.iops), label: number::short },
        groups: configurations.iter().enumerate().map(group).collect(),
    };
    let lead = say!("Price in {}. The table has the figures.", first.monthly.currency);
    let picture =
        both("price-throughput", label!("Price against throughput"), &lead, |size| chart::plane(&plane, size));
    let source = html! { (source) };
    Some(Block::Chart(Chart::new(html! { p class="lead" { (lead) } (figure(&picture, &source)) })))
}
