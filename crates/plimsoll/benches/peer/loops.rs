//! What the loop itself can do, on targets that need no hardware.

use plimsoll_device::{Clock, Null, Ring, Shape, sharpen_timers};
use plimsoll_drive::{Onward, Rules, Simulated, Target, drive};
use plimsoll_load::{BlockMix, Mix, Pace, Pattern, Region, StreamPhase, StreamSpec, Streams};
use plimsoll_model::{Chain, parse};
use plimsoll_units::{Bytes, Span};

use crate::pairs;

const DEPTH: u32 = 32;

pub fn table() {
    sharpen_timers();
    println!("| target, depth {DEPTH}, full histograms | million operations a second |");
    println!("|---|---|");
    row("nothing (`Null`)", || Box::new(Null::new(Clock::start())));
    let shape = Shape::reading(DEPTH, Bytes::kib(4));
    if Ring::new(None, &shape, Clock::start()).is_ok() {
        row("io_uring no-op", || Box::new(Ring::new(None, &shape, Clock::start()).unwrap()));
    }
    for model in ["station(1, 1us)", "station(8, 80us)", "station(8, 80us, exponential)", "limit(1M)"] {
        row(&format!("simulated {model}"), || Box::new(Simulated::new(Chain::new(&parse(model).unwrap(), 1))));
    }
    let long =
        "limit(400k) then station(16, 40us, exponential) then station(24, 60us, exponential) then link(5us, 8GB/s)";
    row("simulated limit, two stations and a link", || Box::new(Simulated::new(Chain::new(&parse(long).unwrap(), 1))));
}

fn row(name: &str, target: impl Fn() -> Box<dyn Target>) {
    let mut rates: Vec<f64> = (0..pairs()).map(|_| rate(&mut *target())).collect();
    rates.sort_by(f64::total_cmp);
    println!("| {name} | {:.1} |", rates[rates.len() / 2] / 1e6);
}

/// Operations per second of processor time over a fixed number of operations.
fn rate(target: &mut dyn Target) -> f64 {
    let operations = 8_000_000;
    let spec = StreamSpec {
        name: "data".into(),
        mix: Mix { sizes: BlockMix::one(Bytes::kib(8)), reads: 0.8, durable: false, flush_every: 0 },
        pattern: Pattern::Uniform,
        region: Region::first(Bytes::gib(64)),
        pace: Pace::Closed { depth: DEPTH },
    };
    let phase = StreamPhase { operations, ..StreamPhase::unbounded(target.now()) };
    let mut load = Streams::new(&[spec], 1, phase).unwrap();
    let rules = Rules::new(DEPTH, Span::from_millis(100));
    let start = std::time::Instant::now();
    let result = drive(target, &mut load, &rules, &mut |_| Onward::Continue(())).unwrap();
    let elapsed = start.elapsed().as_secs_f64();
    let counted: u64 = result.series.iter().map(|slice| slice.tally.operations()).sum();
    assert_eq!(counted, operations, "every operation is counted");
    operations as f64 / elapsed
}
