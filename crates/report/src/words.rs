//! Loads, paces, verdicts and error numbers as text. Renderers escape it.

use plimsoll_catalogue::translate_doubt;
use plimsoll_language::{Language, label, say};
use plimsoll_load::{Arrival, Mix, Pace, Pattern, StreamSpec};
use plimsoll_record::{Curve, EndReason, Estimate, Finding, LoadLine, Run, Weight};
use plimsoll_units::Bytes;

use crate::{number, pick};

mod causes;
pub(crate) mod confidence;
mod counted;
mod cut;
pub(crate) mod database;
pub mod diagnosis;
mod errno;
pub(crate) mod first_screen;
mod gates;
pub(crate) mod host_check;
mod job_notes;
pub(crate) mod limits;
pub(crate) mod offer;
mod place;
mod quantities;
mod rejections;
mod replay;
pub(crate) mod sizing;
mod steps;
mod verdicts;
pub mod volume;
pub(crate) mod watch;

pub use self::sizing::{slower_than_unpriced, uncarried};
pub(crate) use causes::{cause, difference};
pub use confidence::{line_at_limit, load_of_preset, load_of_run, run, without_capacity};
pub(crate) use counted::{Counted, closed_line, sessions, tens, unjudged};
pub(crate) use cut::cut;
pub use errno::errno;
pub use gates::gate_outcome;
pub use job_notes::job_note;
pub(crate) use offer::{product_text, status_name};
pub use place::{command, conditions, host, source, source_line, source_word, subject};
pub(crate) use place::{date, duration, source_place};
pub(crate) use quantities::quantity;
pub(crate) use rejections::{no_configuration, unsuitable, unsuitable_id};
pub(crate) use replay::{format_outcome, recording, replay};
pub use steps::step_name;
pub use verdicts::verdict;

/// Purpose of a command that repeats a run.
pub(crate) fn repeat_purpose() -> &'static str {
    label!("To repeat")
}

/// A phase of a measurement by its name, as `Purpose::name` of a sweep.
pub fn phase(name: &'static str) -> &'static str {
    match name {
        "most it carries" => label!("most it carries"),
        "first look" => label!("first look"),
        "load line" => label!("load line"),
        "again" => label!("again"),
        "before the hold" => label!("before the hold"),
        "holding the line" => label!("holding the line"),
        "replay" => label!("replay"),
        other => other,
    }
}

/// A stream: `8 KiB random, 80 % reads, uniform over 4 GiB`.
pub fn stream(spec: &StreamSpec) -> String {
    let access = match spec.pattern {
        Pattern::Sequential => label!("sequential"),
        Pattern::Recorded => label!("as recorded"),
        Pattern::Backward => label!("backward"),
        Pattern::Stride { .. } => label!("strided"),
        Pattern::Same => label!("the same block"),
        _ => label!("random"),
    };
    let mut parts = vec![format!("{} {access}", format_sizes(&spec.mix)), kinds(&spec.mix)];
    let length = spec.region.length;
    parts.push(match spec.pattern {
        Pattern::Sequential => say!("over {length}"),
        Pattern::Recorded => say!("in the first {length}"),
        Pattern::Uniform => say!("uniform over {length}"),
        Pattern::Shuffled => say!("each block once, over {length}"),
        Pattern::Backward => say!("backward over {length}"),
        Pattern::Stride { blocks } => say!("each {blocks}th block of {length}"),
        Pattern::Same => label!("the first block again and again").into(),
        Pattern::Pareto { h } => say!("Pareto {h} over {length}"),
        Pattern::Normal { deviation } => say!("normal, deviation {deviation}, over {length}"),
        Pattern::Zipf { theta } => say!("Zipf {theta} over {length}"),
        Pattern::HotSpot { operations, space } => {
            say!("{} of it on {} of {length}", number::percent(operations), number::percent(space))
        }
    });
    if spec.region.start > 0 {
        parts.push(say!("from {}", Bytes::new(spec.region.start)));
    }
    parts.join(label!(", "))
}

fn format_sizes(mix: &Mix) -> String {
    let sizes = mix.sizes.sizes();
    if let [(size, _)] = sizes {
        return size.to_string();
    }
    let total: f64 = sizes.iter().map(|&(_, weight)| f64::from(weight)).sum();
    let part = |&(size, weight): &(Bytes, u32)| format!("{size} ({})", number::percent(f64::from(weight) / total));
    sizes.iter().map(part).collect::<Vec<_>>().join(" + ")
}

/// The name of a kind of operation.
pub(crate) fn name_kind(kind: &str) -> &str {
    match kind {
        "read" => label!("read"),
        "write" => label!("write"),
        "durable write" => label!("durable write"),
        "flush" => label!("flush"),
        "trim" => label!("trim"),
        other => other,
    }
}

fn kinds(mix: &Mix) -> String {
    let writes = if mix.durable { label!("durable writes") } else { label!("writes") };
    let text = match mix.reads {
        share if share >= 1.0 => return label!("reads").into(),
        share if share <= 0.0 => writes.into(),
        share if mix.durable => say!("{} reads, the rest {writes}", number::percent(share)),
        share => say!("{} reads", number::percent(share)),
    };
    match mix.flush_every {
        0 => text,
        1 => say!("{text}, a flush after each write"),
        n => say!("{text}, a flush after {n} writes"),
    }
}

/// A pace: `depth 8`, `20,000 IOPS, Poisson`, `20,000 IOPS, even`.
pub fn pace(pace: &Pace) -> String {
    Counted::Operations.pace(pace)
}

/// A pace without its spacing: `depth 8`, `20,000 IOPS`.
pub(crate) fn offered(offered: &Pace) -> String {
    match offered {
        Pace::Closed { .. } => pace(offered),
        Pace::Open { rate, .. } => rate.to_string(),
    }
}

/// The arrival spacing shared by all open loads of the runs, if any.
pub(crate) fn arrivals(runs: &[Run]) -> Option<&'static str> {
    let mut found = runs.iter().filter_map(|run| match run.offered {
        Pace::Open { arrival, .. } => Some(arrival),
        Pace::Closed { .. } => None,
    });
    let first = found.next()?;
    found.all(|other| other == first).then_some(spacing(first))
}

/// Spacing of arrivals: `Poisson`, `even` or `as recorded`.
pub fn spacing(arrival: Arrival) -> &'static str {
    match arrival {
        Arrival::Constant => label!("even"),
        Arrival::Poisson => label!("Poisson"),
        Arrival::Recorded => label!("as recorded"),
    }
}

/// A load line as a sentence without full stop: `41,200 IOPS (39,800 to 42,600) keep p99 <= 1 ms`.
pub fn load_line(line: &LoadLine) -> String {
    Counted::Operations.load_line(line)
}

/// A rate with its interval: `41,200 IOPS (39,800 to 42,600)`.
pub fn rate(iops: &Estimate) -> String {
    Counted::Operations.rate(iops)
}

/// The limit that binds above the load line, otherwise at it, with its share; `None` if the runs do not name one.
pub(crate) fn binding_limit(curve: &Curve) -> Option<String> {
    if is_bound_by_generator(curve) {
        return None;
    }
    let dominant = |run: &Run| {
        let (name, share) = run.bound_by.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((product_text(name), number::percent(*share)))
    };
    if let Some((run, (name, share))) = pick::above_line(curve).and_then(|run| Some((run, dominant(run)?))) {
        return Some(say!("{name}: it held {share} of the operations at {}, above the line", offered(&run.offered)));
    }
    let (name, share) = dominant(pick::at_line(curve)?)?;
    Some(say!("{name}: it held {share} of the operations"))
}

fn is_bound_by_generator(curve: &Curve) -> bool {
    let mut findings = curve.findings.iter().chain(curve.runs.iter().flat_map(|run| &run.findings));
    findings.any(|finding| matches!(finding, Finding::GeneratorBound { .. }))
}

/// Maximum ratio of two rates that is no difference.
const MAX_ALIKE: f64 = 1.05;

/// True if the storage completes notably more than `iops`, with longer response times.
pub(crate) fn is_below_maximum(curve: &Curve, iops: f64) -> bool {
    pick::fastest(curve).is_some_and(|max| max.figures.iops.value > iops * MAX_ALIKE)
}

/// The limit of a curve as a sentence; `None` if the runs do not determine it.
pub fn limit(curve: &Curve) -> Option<String> {
    if is_bound_by_generator(curve) {
        return Some(label!("The generator set the pace, not the storage.").into());
    }
    if let Some(binding) = binding_limit(curve) {
        return Some(say!("Limited by {binding}."));
    }
    pick::at_line(curve)?;
    let max = format!("{} IOPS", number::three(pick::fastest(curve)?.figures.iops.value));
    let is_saturated = curve.runs.iter().any(|run| !pick::is_open(run) || pick::is_overloaded(run));
    Some(match curve.load_line.as_ref()? {
        LoadLine::At { iops, .. } if is_below_maximum(curve, iops.value) => {
            say!("Latency is the limit: the storage completes up to {max}, but misses the objective.")
        }
        LoadLine::Beyond { .. } if !is_saturated => {
            label!("No limit was reached: the storage carried each of the offered loads.").into()
        }
        LoadLine::At { .. } | LoadLine::Beyond { .. } => say!("Throughput is the limit: no run exceeded {max}."),
        LoadLine::Never { least, objective } if *least <= objective.limit => {
            say!("Throughput is the limit: no run exceeded {max}.")
        }
        LoadLine::Never { .. } => label!("Latency is the limit: even the lightest load misses the objective.").into(),
        LoadLine::Refused { .. } => return None,
    })
}

/// Reason why a curve is incomplete, as a sentence; `None` if it is complete.
pub fn ended(ended: EndReason) -> Option<&'static str> {
    match ended {
        EndReason::Complete => None,
        EndReason::Interrupted => Some(label!("Interrupted: no verdict, only the runs until then.")),
        EndReason::Failed => Some(label!("Failed: no verdict, only the runs until the target failed.")),
    }
}

/// A finding's weight as a word.
pub fn weight(weight: Weight) -> &'static str {
    match weight {
        Weight::Note => label!("note"),
        Weight::Caution => label!("caution"),
        Weight::Void => label!("void"),
    }
}

/// The text of a finding, with names of error numbers.
pub fn finding(finding: &Finding) -> String {
    match finding {
        Finding::Errors { count, errno: number } => {
            say!("{} operations failed, most with {}", number::integer(*count as f64), errno(*number))
        }
        Finding::ModelDoubted { what } => say!("the model: {}", clean(&translate_doubt(what))),
        other => clean(&other.text()),
    }
}

/// The value of a fitted parameter: `104 us`, `56,000 per second`, `32`.
pub fn fitted_value(unit: &str, value: f64) -> String {
    match unit {
        "ns" => number::time(value),
        "" => number::three(value),
        unit => format!("{} {unit}", number::three(value)),
    }
}

/// Removes control characters from external text, such as file names, which could control the terminal or break XML.
pub fn clean(text: &str) -> String {
    let allowed = |c: char| {
        !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if allowed(c) { c } else { '\u{fffd}' }).collect()
}

/// Capitalises the first letter in English, unless the first word is an identifier.
pub(crate) fn sentence(text: &str) -> String {
    if Language::current() == Language::Japanese {
        return text.to_owned();
    }
    let first = text.split(' ').next().unwrap_or_default();
    let mut rest = text.chars();
    match rest.next() {
        Some(start) if first.chars().all(|c| c.is_ascii_lowercase() || "-:".contains(c)) => {
            start.to_ascii_uppercase().to_string() + rest.as_str()
        }
        _ => text.to_owned(),
    }
}
