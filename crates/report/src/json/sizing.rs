//! What was asked, what carries it and what does not, choice by choice.

use plimsoll_choose::sizing::{
    Backlog, Busiest, Choice, ClassLoad, Limit, Point, Rejection, Sizing, Slower, Step, Wanted, Why,
};
use plimsoll_units::Span;
use serde_json::{Value, json};

use super::{number, offer};
use crate::words::sizing as words;

pub(super) fn sizing(sizing: &Sizing) -> Value {
    json!({
        "format": "plimsoll.sizing/1",
        "wanted": wanted(&sizing.wanted),
        "looked_at": sizing.looked_at,
        "choices": sizing.choices.iter().map(choice).collect::<Vec<_>>(),
        "frontier": sizing.frontier.iter().map(|one| frontier(&sizing.wanted.points[0], one)).collect::<Vec<_>>(),
        "slower": sizing.slower.iter().map(choice).collect::<Vec<_>>(),
        "nearly": sizing.nearly.iter().map(choice).collect::<Vec<_>>(),
        "rejected": sizing.rejected.iter().map(rejection).collect::<Vec<_>>(),
    })
}

fn wanted(wanted: &Wanted) -> Value {
    let measured = &wanted.measured;
    json!({
        "subject": wanted.subject,
        "measured": {
            "quantile": measured.quantile.map(number),
            "windows": measured.windows,
            "longest_window_ns": measured.longest.as_nanos(),
            "iops": number(measured.iops),
            "bytes_per_second": number(measured.bytes_per_second),
            "highest_iops": number(measured.highest_iops),
            "highest_bytes_per_second": number(measured.highest_bytes_per_second),
        },
        "answer": wanted.answer.as_ref().map(|answer| json!({ "id": answer.id(), "text": words::answer(wanted) })),
        "today": wanted.today.iter().map(|(class, mean)| json!({ "class": class.name(), "mean_ns": mean.as_nanos() })).collect::<Vec<_>>(),
        "may_be_slower": wanted.may_be_slower,
        "may_wait": number(wanted.allowance.share),
        "may_wait_longer_than_ns": wanted.allowance.wait.as_nanos(),
        "steps": wanted.steps.iter().map(step).collect::<Vec<_>>(),
        "points": wanted.points.iter().map(point).collect::<Vec<_>>(),
        "headroom": number(wanted.headroom),
        "mean_iops": number(wanted.mean_iops),
        "capacity_bytes": wanted.capacity.get(),
        "objective": wanted.objective.map(|objective| objective.to_string()),
        "objective_limit_ns": wanted.objective.map(|objective| objective.limit.as_nanos()),
        "assumptions": wanted.assumptions,
    })
}

fn step(step: &Step) -> Value {
    json!({
        "what": step.what,
        "small_operations": number(step.small),
        "large_operations": number(step.large),
        "measured_from": step.spread.map(|(low, _)| number(low)),
        "measured_to": step.spread.map(|(_, high)| number(high)),
        "why": step.why,
    })
}

const fn busiest(of: Busiest) -> &'static str {
    match of {
        Busiest::Operations => "operations",
        Busiest::Bytes => "bytes",
    }
}

fn point(point: &Point) -> Value {
    json!({
        "busiest": busiest(point.of),
        "windows": point.windows,
        "iops": number(point.iops()),
        "bytes_per_second": number(point.bytes_per_second()),
        "classes": point.classes.iter().map(class).collect::<Vec<_>>(),
    })
}

fn class(load: &ClassLoad) -> Value {
    json!({
        "class": load.class.name(),
        "iops": number(load.iops),
        "bytes_per_second": number(load.bytes_per_second),
        "reads_share": number(load.reads),
        "sequential": load.sequential,
        "durable": load.durable,
    })
}

fn choice(choice: &Choice) -> Value {
    let latency = |one: &plimsoll_choose::sizing::ClassLatency| json!({ "class": one.class.name(), "mean_ns": one.mean.as_nanos(), "p99_ns": one.p99.map(Span::as_nanos) });
    let risk = |risk: &plimsoll_choose::sizing::Risk| json!({ "sort": words::risk(risk.sort), "text": risk.text, "source": risk.cite.as_deref().map(offer::source) });
    let burst =
        |peak: &plimsoll_catalogue::Peak| json!({ "iops": number(peak.bound.iops), "lasts_s": number(peak.seconds) });
    let own = json!({
        "command": format!("plimsoll quote '{}'", choice.offer.short()),
        "price": choice.price.as_ref().map(offer::price),
        "binds": choice.binds.as_ref().map(limit),
        "next": choice.next.as_ref().map(limit),
        "simulated_latency": choice.latency.iter().map(latency).collect::<Vec<_>>(),
        "slower": choice.slower.iter().map(slower).collect::<Vec<_>>(),
        "replayed": choice.backlog.as_ref().map(backlog),
        "simulated_objective_ns": choice.reached.map(Span::as_nanos),
        "burst": choice.peak.as_ref().map(burst),
        "machines": choice.machines.as_ref().map(|machines| json!({
            "enough": machines.enough,
            "of": machines.of,
            "least": machines.least,
        })),
        "risks": choice.risks.iter().map(risk).collect::<Vec<_>>(),
    });
    offer::merged([offer::offer(&choice.offer), own])
}

fn frontier(point: &Point, choice: &Choice) -> Value {
    json!({
        "configuration": choice.offer.short().to_string(),
        "price": choice.price.as_ref().map(offer::price),
        "waiting_sessions": choice.waiting(point).map(number),
    })
}

fn slower(slower: &Slower) -> Value {
    json!({
        "class": slower.class.name(),
        "today_mean_ns": slower.today.as_nanos(),
        "simulated_mean_ns": slower.then.as_nanos(),
    })
}

fn backlog(backlog: &Backlog) -> Value {
    json!({
        "longest_wait_ns": backlog.longest_wait.as_nanos(),
        "behind_ns": backlog.behind.as_nanos(),
        "operations_share": number(backlog.operations),
        "bytes_share": number(backlog.bytes),
    })
}

fn limit(limit: &Limit) -> Value {
    json!({
        "name": &*limit.name,
        "busiest": busiest(limit.point),
        "iops": number(limit.iops),
        "bytes_per_second": number(limit.bytes_per_second),
        "over_design_point": number(limit.over),
    })
}

fn rejection(one: &Rejection) -> Value {
    json!({
        "name": one.name,
        "why": words::why(&one.why),
        "share_of_design_point": number(one.why.share()),
        "limit": match &one.why {
            Why::Ceiling(ceiling) => limit(ceiling),
            _ => Value::Null,
        },
    })
}
