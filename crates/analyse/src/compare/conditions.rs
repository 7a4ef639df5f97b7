//! Differing conditions of the measurements of two curves.

use std::fmt::Display;

use plimsoll_language::{label, say};
use plimsoll_load::{Pace, Pattern, StreamSpec};
use plimsoll_record::{Conditions, Curve, Device, Host, Objective};

use super::Difference;

/// Conditions that are known on at least a side and differ, in the words of a report. Excludes the seed, which must not
/// matter, and the pace of the leading stream, which a curve varies.
pub(super) fn differences(a: &Curve, b: &Curve) -> Vec<Difference> {
    let mut found = ConditionFound::default();
    found.differ(label!("source"), a.source.label(), b.source.label());
    found.differ(label!("made by"), &a.made_by, &b.made_by);
    found.differ(label!("target"), &a.subject.name, &b.subject.name);
    found.differ(label!("kind of target"), &a.subject.kind, &b.subject.kind);
    found.differ(label!("size"), a.subject.size, b.subject.size);
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
    let difference = found.0.into_iter().find(|difference| difference.what != label!("objective"))?;
    Some(say!("{}: {} and {}", difference.what, difference.a, difference.b))
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
        let show = |value: Option<&T>| value.map_or_else(|| label!("not known").into(), T::to_string);
        self.differ(what, show(a), show(b));
    }
}

fn load(found: &mut ConditionFound, a: &Curve, b: &Curve) {
    let (a, b) = (&a.conditions, &b.conditions);
    let direct = |direct: bool| if direct { label!("direct") } else { label!("buffered") };
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    found.differ("I/O", direct(a.direct), direct(b.direct));
    found.differ(label!("threads"), a.threads, b.threads);
    found.differ(label!("compressible"), percent(a.compressible), percent(b.compressible));
    let objective = |objective: &Option<Objective>| objective.map_or(label!("chosen").into(), |o| o.to_string());
    found.differ(label!("objective"), objective(&a.objective), objective(&b.objective));
    let trace =
        |conditions: &Conditions| conditions.trace.as_ref().map_or(label!("none").into(), |trace| trace.name.clone());
    found.differ(label!("trace"), trace(a), trace(b));
    for i in 0..a.streams.len().max(b.streams.len()) {
        let name = a.streams.get(i).or(b.streams.get(i)).map_or("", |stream| stream.name.as_str());
        let show = |streams: &[StreamSpec]| {
            streams.get(i).map_or_else(|| label!("none").into(), |stream| stream_in_words(stream, i))
        };
        found.differ(&say!("stream {name}"), show(&a.streams), show(&b.streams));
    }
}

/// Such as `8 KiB, 70 % reads, uniform in 10 GiB`.
fn stream_in_words(stream: &StreamSpec, index: usize) -> String {
    let mix = &stream.mix;
    let sizes = mix.sizes.sizes();
    let size = |&(size, weight): &_| if sizes.len() == 1 { format!("{size}") } else { format!("{size} x{weight}") };
    let mut words = vec![sizes.iter().map(size).collect::<Vec<_>>().join(" + ")];
    words.push(say!("{} % reads", (mix.reads * 1e4).round() / 1e2));
    if mix.durable {
        words.push(label!("durable writes").into());
    }
    if mix.flush_every > 0 {
        words.push(say!("flush every {} writes", mix.flush_every));
    }
    let pattern = match stream.pattern {
        Pattern::Sequential => label!("sequential").into(),
        Pattern::Uniform => label!("uniform").into(),
        Pattern::Recorded => label!("recorded").into(),
        Pattern::Shuffled => label!("each block once").into(),
        Pattern::Backward => label!("backward").into(),
        Pattern::Stride { blocks } => say!("each {blocks}th block"),
        Pattern::Same => label!("the same block").into(),
        Pattern::Pareto { h } => format!("Pareto {h}"),
        Pattern::Normal { deviation } => say!("normal {deviation}"),
        Pattern::Zipf { theta } => format!("Zipf {theta}"),
        Pattern::HotSpot { operations, space } => say!("hot spot {operations} on {space}"),
    };
    words.push(say!("{pattern} in {}", stream.region.length));
    if stream.region.start > 0 {
        words.push(say!("from byte {}", stream.region.start));
    }
    // The pace of the first stream varies within a curve.
    if index > 0 {
        words.push(match stream.pace {
            Pace::Closed { depth } => say!("depth {depth}"),
            Pace::Open { rate, .. } => rate.to_string(),
        });
    }
    words.join(label!(", "))
}

fn devices(found: &mut ConditionFound, a: &Device, b: &Device) {
    found.maybe(label!("device model"), a.model.as_ref(), b.model.as_ref());
    found.maybe(label!("device size"), a.size.as_ref(), b.size.as_ref());
    found.maybe(label!("rotational"), a.rotational.as_ref(), b.rotational.as_ref());
    found.maybe(label!("scheduler"), a.scheduler.as_ref(), b.scheduler.as_ref());
    found.maybe(label!("device queue"), a.queue_requests.as_ref(), b.queue_requests.as_ref());
    found.maybe(label!("write cache"), a.write_cache.as_ref(), b.write_cache.as_ref());
    found.maybe(label!("filesystem"), a.filesystem.as_ref(), b.filesystem.as_ref());
    found.maybe(label!("mount options"), a.mount_options.as_ref(), b.mount_options.as_ref());
}

fn hosts(found: &mut ConditionFound, a: &Host, b: &Host) {
    found.maybe(label!("kernel"), a.kernel.as_ref(), b.kernel.as_ref());
    found.maybe(label!("processor"), a.cpu.as_ref(), b.cpu.as_ref());
    found.maybe(label!("processors"), a.cpus.as_ref(), b.cpus.as_ref());
    found.maybe(label!("memory"), a.memory.as_ref(), b.memory.as_ref());
    found.maybe(label!("virtualization"), a.virtualization.as_ref(), b.virtualization.as_ref());
    found.maybe(label!("clock source"), a.clock_source.as_ref(), b.clock_source.as_ref());
    found.maybe(label!("governor"), a.governor.as_ref(), b.governor.as_ref());
}
