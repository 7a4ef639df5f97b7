//! The syntax of stages and their parsers.

use alloc::vec::Vec;

use plimsoll_units::{Bytes, Span};

use super::value::{after, burst, flushing, parse_demand, rate, share, span, throughput};
use super::{Arguments, NotationError};
use crate::spec::{DiskSpec, Duplex, Flushing, Layout, Rate, StageSpec};

/// `Ok(None)` if the arguments are invalid.
type Read = Result<Option<StageSpec>, NotationError>;

pub(super) struct StageForm {
    name: &'static str,
    pub(super) takes: &'static str,
    reads: Reads,
}

enum Reads {
    /// A stage with values only.
    Plain(fn(&[&str]) -> Option<StageSpec>),
    /// A stage with pairs: `1: 6000, 2: 11000`.
    Pairs(fn(&str) -> Option<StageSpec>),
    /// A stage with nested chains.
    Nested(fn(&Arguments<'_>) -> Read),
    Array(Layout),
}

impl StageForm {
    pub(super) fn read(&self, arguments: &Arguments<'_>) -> Read {
        match self.reads {
            Reads::Plain(read) if arguments.only(&[]) => Ok(read(&arguments.values)),
            Reads::Plain(_) => Ok(None),
            Reads::Pairs(read) => Ok(read(arguments.text)),
            Reads::Nested(read) => read(arguments),
            Reads::Array(layout) => array(layout, arguments),
        }
    }
}

/// Labels of nested chains.
pub(super) const LABELS: [&str; 7] = ["read", "write", "flush", "first", "rest", "hit", "miss"];

const FORMS: [StageForm; 25] = [
    StageForm {
        name: "limit",
        takes: "limit(IOPS [per SIZE] or MB/s [, burst OPERATIONS or SIZE]), such as limit(3000) or limit(480MB/s)",
        reads: Reads::Plain(limit),
    },
    StageForm {
        name: "station",
        takes: "station(SERVERS, MEAN [, write TIME] [, flush TIME] [, MB/s] [, write MB/s] [, exponential | lognormal SCV]), such as station(8, 80us, exponential)",
        reads: Reads::Plain(station),
    },
    StageForm {
        name: "bank",
        takes: "bank(QUEUES [of SIZE], MEAN [, as for a station]), such as bank(32 of 16KiB, 85us)",
        reads: Reads::Plain(bank),
    },
    StageForm {
        name: "disk",
        takes: "disk(SIZE, RPM, seek SHORTEST to MEAN, MB/s to MB/s [, queue DEPTH gain EXPONENT [from DEPTH]] [, idle TIME]), such as disk(1TB, 7200rpm, seek 0.8ms to 8.5ms, 150MB/s to 75MB/s)",
        reads: Reads::Plain(disk),
    },
    StageForm {
        name: "curve",
        takes: "curve(1: IOPS [, DEPTH: IOPS]...), such as curve(1: 6600, 8: 30800, 16: 47400)",
        reads: Reads::Pairs(curve),
    },
    StageForm {
        name: "link",
        takes: "link(LATENCY [, MB/s [, full duplex] [on NUMBER paths]]), such as link(25us, 1200MB/s)",
        reads: Reads::Plain(link),
    },
    StageForm { name: "stall", takes: "stall(EVERY, LENGTH), such as stall(100s, 10s)", reads: Reads::Plain(stall) },
    StageForm {
        name: "pressure",
        takes: "pressure(IOPS or MB/s, burst OPERATIONS or SIZE, delay TIME), such as pressure(760000, burst 1000, delay 2ms)",
        reads: Reads::Plain(pressure),
    },
    StageForm {
        name: "cold",
        takes: "cold(rest TIME, extra TIME, grain SIZE, share PERCENT%), such as cold(rest 1209600s, extra 5ms, grain 1MiB, share 30%)",
        reads: Reads::Plain(cold),
    },
    StageForm {
        name: "buffer",
        takes: "buffer(SIZE, drain MB/s [, flush honoured | flush immediate]), such as buffer(8GB, drain 6GB/s)",
        reads: Reads::Plain(buffer),
    },
    StageForm {
        name: "window",
        takes: "window(SLOTS [on NUMBER paths]: STAGES), such as window(32: station(8, 80us))",
        reads: Reads::Nested(parse_window),
    },
    StageForm {
        name: "pieces",
        takes: "pieces(SIZE: STAGES), such as pieces(256KiB: limit(400MB/s))",
        reads: Reads::Nested(pieces),
    },
    StageForm {
        name: "split",
        takes: "split(read: STAGES; write: STAGES; flush: STAGES), such as split(read: link(80us); write: link(20us))",
        reads: Reads::Nested(split),
    },
    StageForm {
        name: "concat",
        takes: "concat(SIZE, first: STAGES; rest: STAGES), such as concat(2TB, first: link(8ms); rest: link(90us))",
        reads: Reads::Nested(concat),
    },
    StageForm {
        name: "cache",
        takes: "cache(HITS%, hit: STAGES; miss: STAGES), such as cache(30%, hit: link(20us); miss: link(90us))",
        reads: Reads::Nested(cache),
    },
    StageForm {
        name: "clock",
        takes: "clock(SIZE of BLOCK, hit: STAGES; miss: STAGES), such as clock(512MB of 4KiB, hit: link(2us); miss: link(90us))",
        reads: Reads::Nested(clock),
    },
    StageForm {
        name: "writeback",
        takes: "writeback(SIZE [, halves TIME] [, depth PIECES] [, flush honoured | flush immediate] [, reads PERCENT%]: STAGES), such as writeback(64MiB: link(5ms))",
        reads: Reads::Nested(write_back),
    },
    StageForm {
        name: "prefetch",
        takes: "prefetch(WINDOW of UNIT [, streams NUMBER]: STAGES), such as prefetch(8MiB of 256KiB: link(2ms))",
        reads: Reads::Nested(prefetch),
    },
    StageForm {
        name: "mirror",
        takes: "mirror(MEMBERS: STAGES), such as mirror(2: link(90us))",
        reads: Reads::Nested(mirror),
    },
    StageForm { name: "stripe", takes: STRIPED, reads: Reads::Array(Layout::Stripe) },
    StageForm { name: "split-stripe", takes: STRIPED, reads: Reads::Array(Layout::SplitStripe) },
    StageForm { name: "serial-stripe", takes: STRIPED, reads: Reads::Array(Layout::SerialStripe) },
    StageForm { name: "raid10", takes: STRIPED, reads: Reads::Array(Layout::Raid10) },
    StageForm { name: "raid5", takes: STRIPED, reads: Reads::Array(Layout::Raid5) },
    StageForm { name: "raid6", takes: STRIPED, reads: Reads::Array(Layout::Raid6) },
];

const STRIPED: &str = "stripe(MEMBERS, INTERLEAVE: STAGES), and so for split-stripe, serial-stripe, raid5, raid6 and raid10, such as stripe(2, 64KiB: link(90us))";

pub(super) fn find(name: &str) -> Option<&'static StageForm> {
    FORMS.iter().find(|form| form.name == name)
}

pub(super) fn names() -> Vec<&'static str> {
    FORMS.iter().map(|form| form.name).collect()
}

fn limit(values: &[&str]) -> Option<StageSpec> {
    let (first, rest) = values.split_first()?;
    let (rate_text, unit) = match first.split_once(" per ") {
        Some((rate, unit)) => (rate.trim(), Some(unit.trim().parse().ok()?)),
        None => (*first, None),
    };
    let rate = rate(rate_text)?;
    let burst = match (rest, rate) {
        ([], rate) => rate.default_burst(),
        ([text], _) => burst(text, rate)?,
        _ => return None,
    };
    let counts_bytes = matches!(rate, Rate::Bytes(_));
    (unit.is_none() || !counts_bytes).then_some(StageSpec::Limit { rate, burst, unit })
}

fn station(values: &[&str]) -> Option<StageSpec> {
    let (servers, rest) = values.split_first()?;
    Some(StageSpec::Station { servers: servers.parse().ok()?, demand: parse_demand(rest)? })
}

fn bank(values: &[&str]) -> Option<StageSpec> {
    let (first, rest) = values.split_first()?;
    let (queues, grain) = match first.split_once(" of ") {
        Some((queues, grain)) => (queues.trim(), grain.trim().parse().ok()?),
        None => (*first, Bytes::kib(16)),
    };
    Some(StageSpec::Bank { queues: queues.parse().ok()?, grain, demand: parse_demand(rest)? })
}

fn disk(values: &[&str]) -> Option<StageSpec> {
    let [capacity, rpm, seek, rates, rest @ ..] = values else { return None };
    let rpm: f64 = rpm.strip_suffix("rpm")?.trim().parse().ok()?;
    let (settle, seek) = seek.strip_prefix("seek ")?.split_once(" to ")?;
    let (outer, inner) = rates.split_once(" to ")?;
    let (mut queue, mut gain, mut reorders_from, mut idle) = (1, 0.0, 1.0, None);
    for option in rest {
        if let Some(time) = option.strip_prefix("idle ") {
            idle = Some(span(time)?);
        } else {
            let (depth, exponent) = option.strip_prefix("queue ")?.split_once(" gain ")?;
            let (exponent, from) = exponent.split_once(" from ").unwrap_or((exponent, "1"));
            (queue, gain) = (depth.trim().parse().ok()?, exponent.trim().parse().ok()?);
            reorders_from = from.trim().parse().ok()?;
        }
    }
    (rpm >= 1.0).then_some(())?;
    Some(StageSpec::Disk(DiskSpec {
        capacity: capacity.parse().ok()?,
        turn: Span::from_nanos((60e9 / rpm + 0.5) as u64),
        settle: span(settle)?,
        seek: span(seek)?,
        outer: throughput(outer.trim())?,
        inner: throughput(inner.trim())?,
        gain,
        reorders_from,
        queue,
        idle,
    }))
}

fn link(values: &[&str]) -> Option<StageSpec> {
    let (last, before) = values.split_last()?;
    let (last, paths) = on_paths(last)?;
    let (latency, bandwidth, duplex) = match (before, last) {
        ([], latency) => (latency, None, Duplex::Half),
        ([latency], bandwidth) => (*latency, Some(throughput(bandwidth)?), Duplex::Half),
        ([latency, bandwidth], "full duplex") => (*latency, Some(throughput(bandwidth)?), Duplex::Full),
        _ => return None,
    };
    Some(StageSpec::Link { latency: latency.parse().ok()?, bandwidth, duplex, paths })
}

/// A value, and the number of paths behind it.
fn on_paths(value: &str) -> Option<(&str, u8)> {
    match value.split_once(" on ") {
        None => Some((value, 1)),
        Some((value, paths)) => Some((value.trim_end(), paths.trim().strip_suffix(" paths")?.trim_end().parse().ok()?)),
    }
}

fn curve(text: &str) -> Option<StageSpec> {
    let point = |pair: &str| {
        let (number, iops) = pair.split_once(':')?;
        Some((number.trim().parse().ok()?, iops.trim().parse().ok()?))
    };
    Some(StageSpec::Curve { points: text.split(',').map(point).collect::<Option<_>>()? })
}

fn stall(values: &[&str]) -> Option<StageSpec> {
    let [every, length] = values else { return None };
    Some(StageSpec::Stall { every: every.parse().ok()?, length: length.parse().ok()? })
}

fn pressure(values: &[&str]) -> Option<StageSpec> {
    let [first, burst_text, delay] = values else { return None };
    let rate = rate(first)?;
    Some(StageSpec::Pressure { rate, burst: burst(burst_text, rate)?, delay: span(delay.strip_prefix("delay ")?)? })
}

fn cold(values: &[&str]) -> Option<StageSpec> {
    (values.len() == 4).then_some(())?;
    Some(StageSpec::Cold {
        rest: span(after(values, "rest")?)?,
        extra: span(after(values, "extra")?)?,
        grain: after(values, "grain")?.parse().ok()?,
        share: share(after(values, "share")?)?,
    })
}

fn buffer(values: &[&str]) -> Option<StageSpec> {
    let (capacity, drain, flush) = match values {
        [capacity, drain] => (capacity, drain, Flushing::Immediate),
        [capacity, drain, flush] => (capacity, drain, flushing(flush)?),
        _ => return None,
    };
    let drain = throughput(drain.strip_prefix("drain ")?.trim())?;
    Some(StageSpec::Buffer { capacity: capacity.parse().ok()?, drain, flushing: flush })
}

fn parse_window(arguments: &Arguments<'_>) -> Read {
    let ([slots], true) = (&arguments.values[..], arguments.only(&[""])) else { return Ok(None) };
    let inside = arguments.chain("")?;
    let read = || on_paths(slots).and_then(|(slots, paths)| Some((slots.parse().ok()?, paths)));
    Ok(read().map(|(slots, paths)| StageSpec::Window { slots, paths, inside }))
}

fn pieces(arguments: &Arguments<'_>) -> Read {
    let ([size], true) = (&arguments.values[..], arguments.only(&[""])) else { return Ok(None) };
    let inside = arguments.chain("")?;
    Ok(size.parse().ok().map(|size| StageSpec::Pieces { size, inside }))
}

fn split(arguments: &Arguments<'_>) -> Read {
    if !arguments.values.is_empty() || !arguments.only(&["read", "write", "flush"]) {
        return Ok(None);
    }
    let [read, write, flush] = ["read", "write", "flush"].map(|label| arguments.chain(label));
    Ok(Some(StageSpec::Split { read: read?, write: write?, flush: flush? }))
}

fn concat(arguments: &Arguments<'_>) -> Read {
    let ([size], true) = (&arguments.values[..], arguments.only(&["first", "rest"])) else { return Ok(None) };
    let (first, rest) = (arguments.chain("first")?, arguments.chain("rest")?);
    Ok(size.parse().ok().map(|size| StageSpec::Concat { size, first, rest }))
}

fn cache(arguments: &Arguments<'_>) -> Read {
    let ([hits], true) = (&arguments.values[..], arguments.only(&["hit", "miss"])) else { return Ok(None) };
    let (hit, miss) = (arguments.chain("hit")?, arguments.chain("miss")?);
    Ok(share(hits).map(|hits| StageSpec::Cache { hits, hit, miss }))
}

fn clock(arguments: &Arguments<'_>) -> Read {
    let ([residence], true) = (&arguments.values[..], arguments.only(&["hit", "miss"])) else { return Ok(None) };
    let (hit, miss) = (arguments.chain("hit")?, arguments.chain("miss")?);
    let sizes = residence.split_once(" of ").map(|(capacity, grain)| (capacity.trim().parse(), grain.trim().parse()));
    let Some((Ok(capacity), Ok(grain))) = sizes else { return Ok(None) };
    Ok(Some(StageSpec::Clock { capacity, grain, hit, miss }))
}

/// Default depth: the kernel's queue of requests per device.
const DEFAULT_DEPTH: u32 = 128;

fn write_back(arguments: &Arguments<'_>) -> Read {
    let Some((capacity, options)) = arguments.values.split_first() else { return Ok(None) };
    let (mut depth, mut flush, mut reads) = (Some(DEFAULT_DEPTH), Some(Flushing::Honoured), Some(0.0));
    let mut halves = None;
    for option in options {
        if let Some(text) = option.strip_prefix("halves ") {
            halves = span(text.trim());
            if halves.is_none() {
                return Ok(None);
            }
        } else if let Some(text) = option.strip_prefix("depth ") {
            depth = text.trim().parse().ok();
        } else if let Some(text) = option.strip_prefix("reads ") {
            reads = share(text.trim());
        } else {
            flush = flushing(option);
        }
    }
    let (Ok(capacity), Some(depth), Some(flushing), Some(reads)) = (capacity.parse(), depth, flush, reads) else {
        return Ok(None);
    };
    if !arguments.only(&[""]) {
        return Ok(None);
    }
    Ok(Some(StageSpec::WriteBack { capacity, halves, depth, flushing, reads, inside: arguments.chain("")? }))
}

/// Default number of streams.
const DEFAULT_STREAMS: u32 = 16;

fn prefetch(arguments: &Arguments<'_>) -> Read {
    let (sizes, streams) = match arguments.values[..] {
        [sizes] => (sizes, Some(DEFAULT_STREAMS)),
        [sizes, streams] => (sizes, streams.strip_prefix("streams ").and_then(|number| number.trim().parse().ok())),
        _ => return Ok(None),
    };
    let sizes = sizes.split_once(" of ").map(|(window, unit)| (window.trim().parse(), unit.trim().parse()));
    let (Some((Ok(window), Ok(unit))), Some(streams), true) = (sizes, streams, arguments.only(&[""])) else {
        return Ok(None);
    };
    Ok(Some(StageSpec::Prefetch { window, unit, streams, inside: arguments.chain("")? }))
}

fn mirror(arguments: &Arguments<'_>) -> Read {
    let ([members], true) = (&arguments.values[..], arguments.only(&[""])) else { return Ok(None) };
    let Ok(members) = members.parse() else { return Ok(None) };
    let (layout, interleave) = (Layout::Mirror, Bytes::mib(1));
    Ok(Some(StageSpec::Array { layout, members, interleave, member: arguments.chain("")? }))
}

fn array(layout: Layout, arguments: &Arguments<'_>) -> Read {
    let ([members, interleave], true) = (&arguments.values[..], arguments.only(&[""])) else { return Ok(None) };
    let (Ok(members), Ok(interleave)) = (members.parse(), interleave.parse()) else { return Ok(None) };
    Ok(Some(StageSpec::Array { layout, members, interleave, member: arguments.chain("")? }))
}
