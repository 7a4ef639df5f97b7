//! Provenance of figures: source, target, host, conditions, command.

use plimsoll_language::{label, say};
use plimsoll_record::{Conditions, CreditLevel, Curve, Host, Source, Subject};
use plimsoll_units::Span;

use super::clean;
use crate::number;

/// The word displayed with every figure, as [`Source::word`].
pub fn source_word(source: &Source) -> &'static str {
    match source {
        Source::Measured { .. } => label!("measured"),
        Source::Simulated { .. } => label!("simulated"),
        Source::Emulated { .. } => label!("emulated"),
        Source::Published { .. } => label!("published"),
    }
}

/// Source of a curve: `measured with io_uring`, `simulated by link(1us)`, `simulated by the catalogue's model`.
pub fn source(curve: &Curve) -> String {
    let word = source_word(&curve.source);
    let is_product = curve.subject.kind == "product";
    match &curve.source {
        Source::Measured { engine } => say!("{word} with {}", clean(engine)),
        // The stages of a catalogue model are too long to display; the run's file has them.
        Source::Simulated { credits, .. } if is_product => {
            say!("{word} by the catalogue's model{}", credits.map_or("", describe_credits))
        }
        Source::Emulated { .. } if is_product => say!("{word} by the catalogue's model"),
        Source::Simulated { model, .. } | Source::Emulated { model } => say!("{word} by {}", clean(model)),
        Source::Published { document } => say!("{word} in {}", clean(document)),
    }
}

fn describe_credits(credits: CreditLevel) -> &'static str {
    match credits {
        CreditLevel::UsedUp => label!(" without burst credits"),
        CreditLevel::Full => label!(" with full burst credits"),
        CreditLevel::Spent => label!(" from full burst credits on"),
    }
}

/// Source line of charts: `measured with io_uring on /dev/nvme0n1, 2026-03-02`.
pub fn source_line(curve: &Curve) -> String {
    let place = source_place(curve);
    date(curve).map_or(place.clone(), |date| say!("{place}, {date}"))
}

/// Duration of a run: `2:11`, or `2:11 of virtual time` for a simulation.
pub(crate) fn duration(source: &Source, wall: Span) -> String {
    match source {
        Source::Simulated { .. } => say!("{} of virtual time", number::clock(wall)),
        _ => number::clock(wall),
    }
}

/// Source line of charts without the date.
pub(crate) fn source_place(curve: &Curve) -> String {
    say!("{} on {}", source(curve), clean(&curve.subject.name))
}

/// The day of the start.
pub(crate) fn date(curve: &Curve) -> Option<String> {
    curve.started.as_deref().and_then(|started| started.split('T').next()).map(clean)
}

/// The target: `block device, 100 GiB; Samsung PM9A3 (nvme0n1), SSD, scheduler none`.
pub fn subject(subject: &Subject) -> String {
    let kind = name_target(&subject.kind);
    // The size of a database is unknown.
    let head = if subject.size.get() > 0 { say!("{kind}, {}", subject.size) } else { kind };
    let Some(device) = &subject.device else { return head };
    let mut parts: Vec<String> = Vec::new();
    match (&device.model, &device.name) {
        (Some(model), Some(name)) => parts.push(format!("{} ({})", clean(model), clean(name))),
        (Some(one), None) | (None, Some(one)) => parts.push(clean(one)),
        (None, None) => {}
    }
    parts.extend(device.size.map(|size| size.to_string()));
    parts.extend(
        device
            .rotational
            .map(|rotates| if rotates { label!("rotational").into() } else { label!("not rotational").into() }),
    );
    parts.extend(device.filesystem.as_ref().map(|filesystem| clean(filesystem)));
    parts.extend(device.scheduler.as_ref().map(|scheduler| say!("scheduler {}", clean(scheduler))));
    parts.extend(device.write_cache.as_ref().map(|cache| say!("{} cache", clean(cache))));
    if parts.is_empty() { head } else { say!("{head}; {}", parts.join(label!(", "))) }
}

/// The name of a kind of target.
fn name_target(kind: &str) -> String {
    let name = match kind {
        "benchmark" => label!("benchmark"),
        "block device" => label!("block device"),
        "database" => label!("database"),
        "directory" => label!("directory"),
        "file" => label!("file"),
        "files" => label!("files"),
        "model" => label!("model"),
        "NBD export" => label!("NBD export"),
        "path on other hosts" => label!("path on other hosts"),
        "product" => label!("product"),
        "server" => label!("server"),
        other => other,
    };
    clean(name)
}

/// A part of the name of a virtualization: `KVM`, `container (docker)`.
fn name_virtualization(name: &str) -> String {
    match name.strip_prefix("container (").and_then(|rest| rest.strip_suffix(')')) {
        Some(runtime) => say!("container ({})", clean(runtime)),
        None if name == "unnamed hypervisor" => label!("unnamed hypervisor").to_owned(),
        None => clean(name),
    }
}

/// The host: `8 processors (AMD EPYC 7R13), 32 GiB, KVM, Linux 6.8.0`.
pub fn host(host: &Host) -> String {
    let cpu = host.cpu.as_ref().map(|cpu| clean(cpu));
    let mut parts: Vec<String> = Vec::new();
    match (host.cpus, cpu) {
        (Some(1), Some(cpu)) => parts.push(say!("1 processor ({cpu})")),
        (Some(count), Some(cpu)) => parts.push(say!("{count} processors ({cpu})")),
        (Some(count), None) => parts.push(say!("{count} processors")),
        (None, Some(cpu)) => parts.push(cpu),
        (None, None) => {}
    }
    parts.extend(host.memory.map(|memory| say!("{memory} memory")));
    parts.extend(host.virtualization.iter().flat_map(|names| names.split(", ").map(name_virtualization)));
    parts.extend(host.kernel.as_ref().map(|kernel| say!("Linux {}", clean(kernel))));
    parts.extend(host.clock_source.as_ref().map(|clock| say!("clock {}", clean(clock))));
    parts.extend(host.governor.as_ref().map(|governor| say!("governor {}", clean(governor))));
    parts.join(label!(", "))
}

/// Conditions other than the streams: `direct I/O, 4 threads, 0 % compressible, seed 42`.
pub fn conditions(conditions: &Conditions) -> String {
    let path = if conditions.direct { label!("direct I/O") } else { label!("through the page cache") };
    let threads = match conditions.threads {
        1 => label!("1 thread").to_owned(),
        n => say!("{n} threads"),
    };
    let compressible = number::percent(conditions.compressible);
    say!("{path}, {threads}, data {compressible} compressible, seed {}", conditions.seed)
}

/// The command line, quoted for a POSIX shell.
pub fn command(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    let quoted = |word: &String| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    clean(&words.iter().map(quoted).collect::<Vec<_>>().join(" "))
}
