//! Response times at queue depth 1 and higher, measured by a client with simple replies.

use plimsoll_device::Clock;
use plimsoll_device::nbd::wire::{command, flag};
use plimsoll_device::nbd::{TalkError, WireRequest};
use plimsoll_record::{Bins, Recorder};
use plimsoll_units::{Instant, Span};

use super::probe::{Probe, ProbeSession};
use super::{CheckOutcome, CheckVerdict, Feature, FeatureCheck};

const AREA: &str = "timing";

pub(super) const FEATURES: &[Feature] = &[
    Feature { area: AREA, name: "READ, one at a time", run: |probe| reads(probe, 1) },
    Feature { area: AREA, name: "READ, 32 at a time", run: |probe| reads(probe, 32) },
    Feature { area: AREA, name: "FLUSH without dirty data", run: flushes },
];

fn reads(probe: &Probe<'_>, depth: u64) -> FeatureCheck {
    let length = 4096.min(probe.chosen.size) as u32;
    let places = probe.chosen.size / u64::from(length);
    let make_request = |number: u64| {
        // Scattered by the golden ratio, in the same order for every server.
        let offset = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % places * u64::from(length);
        WireRequest { command: command::READ, offset, length: length.into(), ..WireRequest::default() }
    };
    let sent = format!("READ {length} at scattered offsets, {depth} in flight");
    measured(probe, depth, &sent, length, make_request)
}

fn flushes(probe: &Probe<'_>) -> FeatureCheck {
    if !probe.has(flag::SEND_FLUSH) {
        return Ok(CheckOutcome::unsupported("", "no flag SEND_FLUSH"));
    }
    measured(probe, 1, "FLUSH", 0, |_| WireRequest { command: command::FLUSH, ..WireRequest::default() })
}

fn measured(
    probe: &Probe<'_>,
    depth: u64,
    sent: &str,
    length: u32,
    make_request: impl Fn(u64) -> WireRequest,
) -> FeatureCheck {
    let lasts = Span::from_nanos(probe.permission.timing.as_nanos() as u64);
    if lasts.is_zero() {
        return Ok(CheckOutcome::not_tried("duration 0"));
    }
    let (bins, span) = load(&mut probe.simple()?, depth, lasts, length, make_request)?;
    let quantile = |share| bins.quantile(share).unwrap_or(Span::ZERO);
    let rate = bins.count as f64 / span.as_secs_f64();
    let got = format!("{rate:.0} per second, p50 {}, p99 {}", quantile(0.5), quantile(0.99));
    Ok(CheckOutcome::new(CheckVerdict::Pass, sent, got))
}

/// Keeps `depth` requests in flight for the duration. Returns response times and elapsed time.
fn load(
    session: &mut ProbeSession,
    depth: u64,
    lasts: Span,
    length: u32,
    make_request: impl Fn(u64) -> WireRequest,
) -> Result<(Bins, Span), TalkError> {
    let clock = Clock::start();
    let start = clock.now();
    let mut recorder = Recorder::new();
    let mut waiting: Vec<(u64, Instant)> = Vec::new();
    let mut number = 0;
    loop {
        let now = clock.now();
        while (waiting.len() as u64) < depth && now.since(start) < lasts {
            waiting.push((session.send(&make_request(number), &[])?, clock.now()));
            number += 1;
        }
        if waiting.is_empty() {
            return Ok((recorder.take(), now.since(start)));
        }
        let chunk = session.talk.chunk(length)?;
        if let Some(at) = waiting.iter().position(|(cookie, _)| *cookie == chunk.cookie) {
            recorder.record(clock.now().since(waiting.swap_remove(at).1));
        }
    }
}
