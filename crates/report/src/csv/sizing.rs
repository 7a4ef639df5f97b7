//! Sizing as comma-separated values: one row for each choice, for each that misses the objective, and each rejection.

use plimsoll_choose::sizing::{Choice, Limit, Rejection, Sizing};

use super::row;
use crate::words::{clean, sizing as words};

const HEADER: [&str; 19] = [
    "verdict",
    "rank",
    "configuration",
    "product",
    "capacity_bytes",
    "price_month",
    "currency",
    "region",
    "price_date",
    "binds",
    "binds_over_design_point",
    "allowed_iops",
    "allowed_bytes_per_s",
    "next_limit",
    "next_over_design_point",
    "objective_ns",
    "latency_mean_ns",
    "machines_enough",
    "why",
];

/// Lines end in CR LF; what is not known is an empty field, never a zero. `latency_mean_ns` names each class.
pub fn sizing_csv(sizing: &Sizing) -> String {
    let mut out = String::new();
    row(&mut out, HEADER.iter().map(|name| (*name).to_owned()));
    for (verdict, choices) in [("carries", &sizing.choices), ("misses the objective", &sizing.nearly)] {
        for (rank, choice) in choices.iter().enumerate() {
            row(&mut out, chosen(verdict, rank + 1, choice).into_iter());
        }
    }
    for (rank, rejection) in sizing.rejected.iter().enumerate() {
        row(&mut out, rejected(rank + 1, rejection).into_iter());
    }
    out
}

fn chosen(verdict: &str, rank: usize, choice: &Choice) -> [String; 19] {
    let price = choice.price.as_ref();
    let of = |limit: &Option<Limit>, cell: &dyn Fn(&Limit) -> String| limit.as_ref().map_or_else(String::new, cell);
    let latencies: Vec<String> =
        choice.latency.iter().map(|one| format!("{} {}", one.class.name(), one.mean.as_nanos())).collect();
    let ratio = |limit: &Limit| super::plain(limit.over);
    [
        verdict.to_owned(),
        rank.to_string(),
        clean(&choice.offer.short().to_string()),
        choice.offer.product().name().to_owned(),
        choice.offer.capacity.get().to_string(),
        price.map_or_else(String::new, |price| price.monthly.exact()),
        price.map_or_else(String::new, |price| price.monthly.currency.to_string()),
        price.and_then(|price| price.region.as_deref()).map_or_else(String::new, clean),
        price.map_or_else(String::new, |price| clean(&price.cite.date)),
        of(&choice.binds, &|limit| clean(&limit.name)),
        of(&choice.binds, &ratio),
        of(&choice.binds, &|limit| super::plain(limit.iops)),
        of(&choice.binds, &|limit| super::plain(limit.bytes_per_second)),
        of(&choice.next, &|limit| clean(&limit.name)),
        of(&choice.next, &ratio),
        choice.reached.map_or_else(String::new, |reached| reached.as_nanos().to_string()),
        latencies.join("; "),
        choice.machines.as_ref().map_or_else(String::new, |machines| machines.enough.to_string()),
        words::reason(choice),
    ]
}

fn rejected(rank: usize, rejection: &Rejection) -> [String; 19] {
    std::array::from_fn(|index| match HEADER[index] {
        "verdict" => "does not carry it".to_owned(),
        "rank" => rank.to_string(),
        "configuration" => clean(&rejection.name),
        "why" => words::why(&rejection.why),
        _ => String::new(),
    })
}
