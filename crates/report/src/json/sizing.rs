//! What was asked, what carries it and what does not, choice by choice.

use plimsoll_choose::sizing::{
    Attachment, Backlog, Busiest, Choice, ClassLoad, Limit, Point, Reached, Rejection, Sizing, Slower, Step,
    VolumeLayout, Wanted, Why,
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
        "layouts": sizing.layouts.iter().map(layout).collect::<Vec<_>>(),
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
        "free_share": number(wanted.free),
        "objectives": wanted.objectives.iter().map(|one| json!({ "text": one.to_string(), "limit_ns": one.objective.limit.as_nanos() })).collect::<Vec<_>>(),
        "cluster": wanted.platform.cluster.as_ref().map(|cluster| json!({ "instances": cluster.instances, "waits_share": number(cluster.waits) })),
        "exadata": wanted.platform.exadata.map(|exadata| json!({ "smart_scans_share": number(exadata.smart_scans), "flash_share": exadata.flash.map(number) })),
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
        "simulated_objectives": choice.reached.iter().map(reached).collect::<Vec<_>>(),
        "burst": choice.peak.as_ref().map(burst),
        "machine": choice.machine.as_ref().map(machine),
        "total_monthly": choice.total().map(offer::money),
        "yearly_loss_share": choice.yearly_loss.map(number),
        "risks": choice.risks.iter().map(risk).collect::<Vec<_>>(),
    });
    offer::merged([offer::offer(&choice.offer), own])
}

fn reached(reached: &Reached) -> Value {
    json!({ "objective": reached.objective.to_string(), "ns": reached.time.as_nanos(), "met": reached.is_met() })
}

fn machine(machine: &Attachment) -> Value {
    json!({
        "name": machine.offer.short().machine.map(|machine| machine.to_string()),
        "monthly": machine.monthly.map(offer::money),
        "binds": machine.binds.as_ref().map(limit),
        "volumes": machine.volumes,
        "volumes_max": machine.volumes_max,
        "network_gbps": machine.network_gbps.map(number),
        "enough": machine.enough,
        "of": machine.of,
    })
}

fn layout(layout: &VolumeLayout) -> Value {
    let part = |part: &plimsoll_choose::sizing::VolumePart| json!({ "content": part.content.name(), "capacity_bytes": part.wanted.capacity.get(), "choice": choice(&part.choice) });
    json!({
        "provider": layout.provider,
        "parts": layout.parts.iter().map(part).collect::<Vec<_>>(),
        "machine": layout.machine.as_ref().map(machine),
        "total_monthly": layout.total.map(offer::money),
        "single_monthly": layout.single.map(offer::money),
        "waiting_sessions": layout.waiting().map(number),
    })
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
