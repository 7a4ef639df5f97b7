//! The diagram commutes: a model simulated in virtual time and executed in real time has the same response times,
//! within the lateness of the host.

use plimsoll_device::{Clock, Ring, Shape, sharpen_timers};
use plimsoll_drive::{Completion, Emulated, Fault, Onward, Rules, Simulated, Target, drive};
use plimsoll_load::{Arrival, BlockMix, Mix, Pace, Pattern, Region, StreamPhase, StreamSpec, Streams};
use plimsoll_model::{Chain, parse};
use plimsoll_record::{Bins, Recorder};
use plimsoll_units::{Bytes, Instant, Iops, Op, Slot, Span};

const MODEL: &str = "limit(1500, burst 4) then station(4, 3ms, exponential) then link(500us, 200MB/s)";
const LASTS: Span = Span::from_secs(3);
/// Tolerances as shares: medians and 90th percentiles.
const TOLERANCE: [(f64, f64); 2] = [(0.5, 0.03), (0.9, 0.05)];
/// Maximum lateness of the host, at the 90th percentile and on average, as a share of the model's median. Rare long
/// delays affect only the mean; queueing of the open load multiplies both.
const OVERSLEPT: f64 = 0.01;
/// A busy host is often late.
const ATTEMPTS: u32 = 6;
/// Attempts on a quiet host, of which one has to agree.
const JUDGED: usize = 3;

/// A time line that records the lateness of wake-ups.
struct Watched<'a, T> {
    line: T,
    overslept: &'a mut Recorder,
}

impl<T: Target> Target for Watched<'_, T> {
    fn now(&mut self) -> Instant {
        self.line.now()
    }

    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        self.line.submit(batch)
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        let woken = self.line.wait(until, completions)?;
        self.overslept.record(woken.since(until));
        Ok(woken)
    }
}

fn chain() -> Chain {
    Chain::new(&parse(MODEL).expect("the model can be read"), 7)
}

/// Response times of `pace` on `target`.
fn offered(target: &mut dyn Target, pace: Pace) -> Bins {
    let spec = StreamSpec {
        name: "data".into(),
        mix: Mix { sizes: BlockMix::one(Bytes::kib(8)), reads: 0.8, durable: false, flush_every: 0 },
        pattern: Pattern::Uniform,
        region: Region::first(Bytes::gib(1)),
        pace,
    };
    let start = target.now();
    let phase = StreamPhase { end: start + LASTS, ..StreamPhase::unbounded(start) };
    let mut load = Streams::new(&[spec], 7, phase).expect("the region holds a block");
    let rules = Rules::new(64, Span::from_millis(100));
    let result = drive(target, &mut load, &rules, &mut |_| Onward::Continue(())).expect("no faults");
    let mut all = Bins::default();
    for slice in &result.series {
        all.merge(&slice.tally.response());
    }
    all
}

fn commutes(pace: Pace) {
    let shape = Shape::reading(1, Bytes::kib(4));
    if let Err(error) = Ring::new(None, &shape, Clock::start()) {
        eprintln!("skipped: waiting needs io_uring here, and it was refused ({error})");
        return;
    }
    sharpen_timers();
    let simulated = offered(&mut Simulated::new(chain()), pace);
    let seconds = |bins: &Bins, quantile| bins.quantile(quantile).expect("something was counted").as_secs_f64();
    let (mut differences, mut too_late) = (Vec::new(), Vec::new());
    for _ in 0..ATTEMPTS {
        let ring = Ring::new(None, &shape, Clock::start()).expect("it was made before");
        let mut overslept = Recorder::new();
        let watched = Watched { line: ring, overslept: &mut overslept };
        let emulated = offered(&mut Emulated::new(chain(), watched), pace);
        let ratio = |quantile| seconds(&emulated, quantile) / seconds(&simulated, quantile) - 1.0;
        let overslept = overslept.take();
        let mean = overslept.mean().unwrap_or_default().as_secs_f64();
        let overslept = seconds(&overslept, 0.9).max(mean) / seconds(&simulated, 0.5);
        if TOLERANCE.iter().all(|&(quantile, allowed)| ratio(quantile).abs() <= allowed) {
            return;
        }
        if overslept > OVERSLEPT {
            too_late.push(overslept);
            continue;
        }
        differences.push(TOLERANCE.map(|(quantile, _)| ratio(quantile)));
        let judged = differences.len() == JUDGED;
        assert!(!judged, "{pace:?}: emulated over simulated, p50 and p90, less 1: {differences:?}");
    }
    eprintln!("skipped: this machine oversleeps too much to be a judge: {too_late:?} of the median");
}

#[test]
fn a_closed_load_sees_the_same_in_virtual_and_in_real_time() {
    commutes(Pace::Closed { depth: 8 });
}

#[test]
fn an_open_load_sees_the_same_in_virtual_and_in_real_time() {
    commutes(Pace::Open { rate: Iops::per_second(900), arrival: Arrival::Poisson });
}
