//! A diagnosis.

use plimsoll_catalogue::Counts;
use plimsoll_choose::diagnosis::{CacheStep, Commits, DatabaseEffect, Pinned, Verdict};
use plimsoll_choose::diagnosis::{CeilingUse, Diagnosis, History, OnOffer, Response, Slice, Split};
use plimsoll_ingest::{EventTime, Outcome, Place, Slot};
use serde_json::{Value, json};

use super::{demand, number};
use crate::pages::measure_name;
use crate::words::diagnosis::{part, quantity, told};

pub(super) fn diagnoses(outcomes: &[Outcome], diagnoses: &[Diagnosis]) -> Value {
    json!({
        "format": "plimsoll.diagnosis/1",
        "inputs": outcomes.iter().map(demand::summary).collect::<Vec<_>>(),
        "subjects": diagnoses.iter().map(diagnosis).collect::<Vec<_>>(),
    })
}

fn diagnosis(found: &Diagnosis) -> Value {
    json!({
        "name": found.name,
        "windows": {
            "count": found.windows.count,
            "seconds": number(found.windows.seconds),
            "longest_seconds": number(found.windows.longest_s),
            "begin": found.windows.first.and_then(|slot| slot.begin).map(|begin| begin.to_string()),
        },
        "verdicts": found.verdicts.iter().map(verdict).collect::<Vec<_>>(),
        "database_time": found.split.as_ref().map(split),
        "commits": found.commits.as_ref().map(commits),
        "storage_ten_times_as_fast": found.ten_times.as_ref().map(effect),
        "storage_at_once": found.at_most.as_ref().map(effect),
        "buffer_cache": found.cache.iter().map(cache).collect::<Vec<_>>(),
        "answers": found.responses.iter().map(response).collect::<Vec<_>>(),
        "pinned": found.pinned.iter().map(pinned).collect::<Vec<_>>(),
        "history": found.history.as_ref().map(history),
        "on": found.on.as_ref().map(on),
    })
}

fn history(history: &History) -> Value {
    let begin = |slot: &Slot| slot.begin.map(|begin| begin.to_string());
    let windows = history.windows.iter().map(|window| {
        json!({
            "begin": begin(&window.slot),
            "seconds": number(window.slot.length.as_secs_f64()),
            "active_sessions": number(window.active),
            "storage_share": number(window.storage),
            "longest_part": part(window.main),
            "longest_part_share": number(window.main_share),
            "longest_wait": window.event.as_deref(),
        })
    });
    let unusual = history.unusual.iter().map(|unusual| {
        json!({
            "begin": begin(&unusual.slot),
            "quantity": quantity(&unusual.quantity),
            "value": number(unusual.value),
            "median": number(unusual.median),
            "modified_z_score": number(unusual.score),
        })
    });
    let with_load = history.with_load.iter().map(|wait| {
        json!({
            "event": &*wait.event,
            "share": number(wait.share),
            "load": quantity(&wait.load),
            "rank_correlation": number(wait.correlation),
        })
    });
    let change = history.change.as_ref().map(|change| {
        let quantities = change.quantities.iter().map(|changed| {
            json!({
                "quantity": quantity(&changed.quantity),
                "before": number(changed.before),
                "after": number(changed.after),
            })
        });
        json!({
            "from": begin(&change.from),
            "windows_before": change.windows[0],
            "windows_after": change.windows[1],
            "quantities": quantities.collect::<Vec<_>>(),
        })
    });
    json!({
        "windows": windows.collect::<Vec<_>>(),
        "unusual": unusual.collect::<Vec<_>>(),
        "waits_with_load": with_load.collect::<Vec<_>>(),
        "change": change,
    })
}

fn verdict(verdict: &Verdict) -> Value {
    let told = told(verdict);
    json!({ "verdict": verdict.id(), "kind": told.word, "text": told.text, "do": told.remedy })
}

fn place(place: &Place) -> Value {
    json!({ "input": &*place.input, "place": place.origin.to_string() })
}

fn split(split: &Split) -> Value {
    json!({
        "database_seconds": number(split.database_s),
        "active_sessions": number(split.active),
        "processors": split.processors,
        "host_busy_share": split.host_busy,
        "from": place(&split.place),
        "parts": split.slices.iter().map(slice).collect::<Vec<_>>(),
    })
}

fn slice(slice: &Slice) -> Value {
    json!({
        "part": part(slice.part),
        "storage": slice.part.is_storage(),
        "seconds": number(slice.seconds),
        "share": number(slice.share),
        "events": slice.events.iter().map(event).collect::<Vec<_>>(),
    })
}

fn event(event: &EventTime) -> Value {
    let histogram = event
        .histogram
        .iter()
        .map(|(bound, waits)| json!({ "up_to_seconds": number(*bound), "waits": number(*waits) }));
    json!({
        "event": &*event.event,
        "waits": number(event.count),
        "seconds": number(event.total_s),
        "mean_seconds": event.mean_s().map(number),
        "histogram": histogram.collect::<Vec<_>>(),
        "from": place(&event.place),
    })
}

fn commits(commits: &Commits) -> Value {
    json!({
        "seconds": number(commits.total_s),
        "mean_seconds": number(commits.sync_s),
        "log_write_mean_seconds": commits.write_s.map(number),
        "log_write_share": number(commits.write_share),
        "commits_per_second": commits.a_second.map(number),
    })
}

fn effect(effect: &DatabaseEffect) -> Value {
    let parts = effect.parts.iter().map(|part| {
        json!({
            "class": part.class.name(),
            "seconds_before": number(part.before_s),
            "seconds_after": number(part.after_s),
            "operation_seconds": part.operation_s.map(number),
        })
    });
    json!({
        "seconds_before": number(effect.before_s),
        "seconds_after": number(effect.after_s),
        "saved_share": number(effect.saved()),
        "parts": parts.collect::<Vec<_>>(),
        "kept": effect.kept.iter().map(|class| class.name()).collect::<Vec<_>>(),
    })
}

fn cache(step: &CacheStep) -> Value {
    json!({
        "factor": number(step.factor),
        "bytes": number(step.bytes),
        "reads_share": number(step.reads),
        "saved_seconds": number(step.saved_s),
        "saved_share": number(step.saved),
    })
}

fn response(response: &Response) -> Value {
    let points = response.points.iter().map(|point| json!([number(point.iops), number(point.latency_s)]));
    json!({
        "class": response.class.name(),
        "iops": number(response.iops),
        "latency_seconds": number(response.latency_s),
        "in_flight": number(response.in_flight),
        "busy_share": response.busy.map(number),
        "bytes": response.bytes.map(number),
        "quiet_seconds": response.quiet_s.map(number),
        "busiest_seconds": response.loaded_s.map(number),
        "rank_correlation": response.correlation.map(number),
        "knee_iops": response.knee_iops.map(number),
        "iops_and_latency_seconds": points.collect::<Vec<_>>(),
    })
}

fn pinned(pinned: &Pinned) -> Value {
    json!({
        "class": pinned.class.name(),
        "measure": measure_name(pinned.measure),
        "value": number(pinned.value),
        "windows": pinned.windows,
        "of_windows": pinned.of,
    })
}

fn on(on: &OnOffer) -> Value {
    json!({
        "configuration": on.config,
        "windows": on.windows,
        "ceilings": on.ceilings.iter().map(ceiling).collect::<Vec<_>>(),
    })
}

fn ceiling(ceiling: &CeilingUse) -> Value {
    json!({
        "name": &*ceiling.name,
        "unit": if ceiling.counts == Counts::Bytes { "bytes_per_second" } else { "iops" },
        "allows": number(ceiling.allows),
        "asked": number(ceiling.asked),
        "highest_share": number(ceiling.highest),
        "mean_share": number(ceiling.mean),
        "windows_at_it": ceiling.near,
        "busiest_begins": ceiling.slot.begin.map(|begin| begin.to_string()),
    })
}
