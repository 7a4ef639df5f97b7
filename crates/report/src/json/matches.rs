//! Products that would carry a load, and those that would not.

use plimsoll_choose::{Carries, Matches, Need, Rejected, Resemblance};
use serde_json::{Value, json};

use super::{number, offer};
use crate::words;

pub(super) fn matches(need: &Need, matches: &Matches, near: &[Resemblance]) -> Value {
    json!({
        "format": "plimsoll.match/1",
        "need": {
            "iops": number(need.iops),
            "objective": need.objective.to_string(),
            "objective_limit_ns": need.objective.limit.as_nanos(),
            "capacity_bytes": need.capacity.get(),
            "streams": need.streams.iter().map(words::stream).collect::<Vec<_>>(),
        },
        "carries": matches.carries.iter().map(|one| carries(need, one)).collect::<Vec<_>>(),
        "nearly": matches.nearly.iter().map(|one| carries(need, one)).collect::<Vec<_>>(),
        "resembles": near.iter().map(resemblance).collect::<Vec<_>>(),
        "rejected": matches.rejected.iter().map(rejected).collect::<Vec<_>>(),
    })
}

fn carries(need: &Need, one: &Carries) -> Value {
    let own = json!({
        "price": one.price.as_ref().map(offer::price),
        "binds": one.binds.as_ref().map(|(name, _)| name),
        "ceiling_iops": one.binds.as_ref().map(|(_, iops)| number(*iops)),
        "ceiling_over_need": one.binds.as_ref().map(|(_, iops)| number(iops / need.iops)),
        "simulated_iops": number(one.figures.iops),
        "simulated_mean_ns": number(one.figures.mean_ns()),
        "simulated_objective_ns": one.reached.as_nanos(),
    });
    offer::merged([offer::offer(&one.offer), own])
}

fn resemblance(one: &Resemblance) -> Value {
    let point = |(depth, measured, simulated): &(u32, f64, f64)| json!({ "depth": depth, "measured_iops": number(*measured), "simulated_iops": number(*simulated) });
    json!({
        "configuration": one.config.to_string(),
        "factor": number(one.factor),
        "points": one.points.iter().map(point).collect::<Vec<_>>(),
    })
}

fn rejected(one: &Rejected) -> Value {
    json!({ "name": one.name, "why": one.why })
}
