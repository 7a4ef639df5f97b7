//! Differing conditions of the measurements of two curves.

use std::fmt::Display;

use plimsoll_load::{Pace, Pattern, StreamSpec};
use plimsoll_record::{Conditions, Curve, Device, Host, Objective};

use super::Difference;

/// Conditions that are known on at least a side and differ, in the words of a report. Excludes the seed, which must not
/// matter, and the pace of the leading stream, which a curve varies.
pub(super) fn differences(a: &Curve, b: &Curve) -> Vec<Difference> {
    let mut found = ConditionFound::default();
    found.differ("source", a.source.word(), b.source.word());
    found.differ("made by", &a.made_by, &b.made_by);
    found.differ("target", &a.subject.name, &b.subject.name);
    found.differ("kind of target", &a.subject.kind, &b.subject.kind);
    found.differ("size", a.subject.size, b.subject.size);
    load(&mut found, a, b);
    let device = |curve: &Curve| curve.subject.device.clone().unwrap_or_default();
    devices(&mut found, &device(a), &device(b));
    let host = |curve: &Curve| curve.host.clone().unwrap_or_default();
    hosts(&mut found, &host(a), &host(b));
    found.0
}

/// First difference between the loads of two curves, such as `I/O: direct and buffered`; excludes the objective, the
/// seed and the pace of the leading stream.
pub fn different_load(a: &Curve, b: &Curve) -> Option<String> {
    let mut found = ConditionFound::default();
    load(&mut found, a, b);
    let difference = found.0.into_iter().find(|difference| difference.what != "objective")?;
    Some(format!("{}: {} and {}", difference.what, difference.a, difference.b))
}

#[derive(Default)]
struct ConditionFound(Vec<Difference>);

impl ConditionFound {
    fn differ(&mut self, what: &str, a: impl Display, b: impl Display) {
        let (a, b) = (a.to_string(), b.to_string());
        if a != b {
            self.0.push(Difference { what: what.into(), a, b });
        }
    }

    fn maybe<T: Display>(&mut self, what: &str, a: Option<&T>, b: Option<&T>) {
        let show = |value: Option<&T>| value.map_or_else(|| "not known".into(), T::to_string);
        self.differ(what, show(a), show(b));
    }
}

fn load(found: &mut ConditionFound, a: &Curve, b: &Curve) {
    let (a, b) = (&a.conditions, &b.conditions);
    let direct = |direct: bool| if direct { "direct" } else { "buffered" };
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    found.differ("I/O", direct(a.direct), direct(b.direct));
    found.differ("threads", a.threads, b.threads);
    found.differ("compressible", percent(a.compressible), percent(b.compressible));
    let objective = |objective: &Option<Objective>| objective.map_or("chosen".into(), |o| o.to_string());
    found.differ("objective", objective(&a.objective), objective(&b.objective));
    let trace = |conditions: &Conditions| conditions.trace.as_ref().map_or("none".into(), |trace| trace.name.clone());
    found.differ("trace", trace(a), trace(b));
    for i in 0..a.streams.len().max(b.streams.len()) {
        let name = a.streams.get(i).or(b.streams.get(i)).map_or("", |stream| stream.name.as_str());
        let show =
            |streams: &[StreamSpec]| streams.get(i).map_or_else(|| "none".into(), |stream| stream_in_words(stream, i));
        found.differ(&format!("stream {name}"), show(&a.streams), show(&b.streams));
    }
}

/// Such as `8 KiB, 70 % reads, uniform in 10 GiB`.
fn stream_in_words(stream: &StreamSpec, index: usize) -> String {
    let mix = &stream.mix;
    let sizes = mix.sizes.sizes();
    let size = |&(size, weight): &_| if sizes.len() == 1 { format!("{size}") } else { format!("{size} x{weight}") };
    let mut words = vec![sizes.iter().map(size).collect::<Vec<_>>().join(" + ")];
    words.push(format!("{} % reads", (mix.reads * 1e4).round() / 1e2));
    if mix.durable {
        words.push("durable writes".into());
    }
    if mix.flush_every > 0 {
        words.push(format!("flush every {} writes", mix.flush_every));
    }
    let pattern = match stream.pattern {
        Pattern::Sequential => "sequential".into(),
        Pattern::Uniform => "uniform".into(),
        Pattern::Recorded => "recorded".into(),
        Pattern::Shuffled => "each block once".into(),
        Pattern::Backward => "backward".into(),
        Pattern::Stride { blocks } => format!("each {blocks}th block"),
        Pattern::Same => "the same block".into(),
        Pattern::Pareto { h } => format!("Pareto {h}"),
        Pattern::Normal { deviation } => format!("normal {deviation}"),
        Pattern::Zipf { theta } => format!("Zipf {theta}"),
        Pattern::HotSpot { operations, space } => format!("hot spot {operations} on {space}"),
    };
    words.push(format!("{pattern} in {}", stream.region.length));
    if stream.region.start > 0 {
        words.push(format!("from byte {}", stream.region.start));
    }
    // The pace of the first stream varies within a curve.
    if index > 0 {
        words.push(match stream.pace {
            Pace::Closed { depth } => format!("depth {depth}"),
            Pace::Open { rate, .. } => rate.to_string(),
        });
    }
    words.join(", ")
}

fn devices(found: &mut ConditionFound, a: &Device, b: &Device) {
    found.maybe("device model", a.model.as_ref(), b.model.as_ref());
    found.maybe("device size", a.size.as_ref(), b.size.as_ref());
    found.maybe("rotational", a.rotational.as_ref(), b.rotational.as_ref());
    found.maybe("scheduler", a.scheduler.as_ref(), b.scheduler.as_ref());
    found.maybe("device queue", a.queue_requests.as_ref(), b.queue_requests.as_ref());
    found.maybe("write cache", a.write_cache.as_ref(), b.write_cache.as_ref());
    found.maybe("filesystem", a.filesystem.as_ref(), b.filesystem.as_ref());
    found.maybe("mount options", a.mount_options.as_ref(), b.mount_options.as_ref());
}

fn hosts(found: &mut ConditionFound, a: &Host, b: &Host) {
    found.maybe("kernel", a.kernel.as_ref(), b.kernel.as_ref());
    found.maybe("processor", a.cpu.as_ref(), b.cpu.as_ref());
    found.maybe("processors", a.cpus.as_ref(), b.cpus.as_ref());
    found.maybe("memory", a.memory.as_ref(), b.memory.as_ref());
    found.maybe("virtualization", a.virtualization.as_ref(), b.virtualization.as_ref());
    found.maybe("clock source", a.clock_source.as_ref(), b.clock_source.as_ref());
    found.maybe("governor", a.governor.as_ref(), b.governor.as_ref());
}
