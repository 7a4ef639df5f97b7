//! The diagram commutes: a model simulated in virtual time, and the same model waited for in real time, give the same
//! response times, within what the waiting itself is late.
#![allow(clippy::print_stderr, reason = "a test that is skipped says why")]

use plimsoll_device::{Clock, Ring, Shape, sharpen_timers};
use plimsoll_drive::{Emulated, Onward, Rules, Simulated, Target, drive};
use plimsoll_load::{Arrival, Mix, Pace, Pattern, Phase, Region, Split, StreamSpec, Streams};
use plimsoll_model::{Chain, parse};
use plimsoll_record::Bins;
use plimsoll_units::{Bytes, Iops, Span};

const MODEL: &str = "limit(1500, burst 4) then station(4, 3ms, exponential) then link(500us, 200MB/s)";
const LASTS: Span = Span::from_secs(3);
/// What is allowed between the two, as shares: medians and 90th percentiles.
const TOLERANCE: [(f64, f64); 2] = [(0.5, 0.03), (0.9, 0.05)];
/// A busy machine is late by more than the model; it is seldom busy three times.
const ATTEMPTS: u32 = 3;

fn chain() -> Chain {
    Chain::new(&parse(MODEL).expect("the model can be read"), 7)
}

/// Response times of `pace` on `target`.
fn offered(target: &mut dyn Target, pace: Pace) -> Bins {
    let spec = StreamSpec {
        name: "data".into(),
        mix: Mix { sizes: Split::one(Bytes::kib(8)), reads: 0.8, durable: false, flush_every: 0 },
        pattern: Pattern::Uniform,
        region: Region::first(Bytes::gib(1)),
        pace,
    };
    let start = target.now();
    let phase = Phase { end: start + LASTS, ..Phase::unbounded(start) };
    let mut load = Streams::new(&[spec], 7, phase).expect("the region holds a block");
    let rules = Rules::new(64, Span::from_millis(100));
    let seen = drive(target, &mut load, &rules, &mut |_| Onward::Continue(())).expect("no faults");
    let mut all = Bins::default();
    for slice in &seen.series {
        all.merge(&slice.tally.response());
    }
    all
}

fn commutes(pace: Pace) {
    let shape = Shape { depth: 1, largest: Bytes::kib(4), writes: false, compressible: 0.0, seed: 0 };
    if let Err(error) = Ring::new(None, &shape, Clock::start()) {
        eprintln!("skipped: waiting needs io_uring here, and it was refused ({error})");
        return;
    }
    sharpen_timers();
    let simulated = offered(&mut Simulated::new(chain()), pace);
    let mut differences = Vec::new();
    for _ in 0..ATTEMPTS {
        let line = Ring::new(None, &shape, Clock::start()).expect("it was made before");
        let emulated = offered(&mut Emulated::new(chain(), line), pace);
        let ratio = |quantile: f64| {
            let of = |bins: &Bins| bins.quantile(quantile).expect("something was counted").as_secs_f64();
            of(&emulated) / of(&simulated) - 1.0
        };
        if TOLERANCE.iter().all(|&(quantile, allowed)| ratio(quantile).abs() <= allowed) {
            return;
        }
        differences.push(TOLERANCE.map(|(quantile, _)| ratio(quantile)));
    }
    panic!("{pace:?}: emulated over simulated, p50 and p90, less 1: {differences:?}");
}

#[test]
fn a_closed_load_sees_the_same_in_virtual_and_in_real_time() {
    commutes(Pace::Closed { depth: 8 });
}

#[test]
fn an_open_load_sees_the_same_in_virtual_and_in_real_time() {
    commutes(Pace::Open { rate: Iops::per_second(900), arrival: Arrival::Poisson });
}
