//! Simulated rate of a closed load on a model.

use std::ops::ControlFlow;

use plimsoll_catalogue::Ask;
use plimsoll_drive::{Rules, Simulated, drive};
use plimsoll_load::{BlockMix, Mix, Pace, Pattern, Region, StreamPhase, StreamSpec, Streams};
use plimsoll_model::{Chain, ChainSpec};
use plimsoll_units::{Bytes, Instant, Span};

const SLICES: u64 = 20;

/// Operations per second over the first `region` bytes in the second half of a virtual `span`.
pub fn closed_rate(spec: &ChainSpec, ask: &Ask, depth: u32, region: Bytes, span: Span) -> f64 {
    let stream = StreamSpec {
        name: "load".into(),
        mix: Mix { sizes: BlockMix::one(ask.block), reads: ask.reads, durable: false, flush_every: 0 },
        pattern: if ask.sequential { Pattern::Sequential } else { Pattern::Uniform },
        region: Region::first(region),
        pace: Pace::Closed { depth },
    };
    let phase = StreamPhase { end: Instant::ZERO + span, ..StreamPhase::unbounded(Instant::ZERO) };
    let mut streams = Streams::new(&[stream], 1, phase).expect("the region holds a block");
    let mut target = Simulated::new(Chain::new(spec, 1));
    let rules = Rules::new(depth, span / SLICES);
    let driven = drive(&mut target, &mut streams, &rules, &mut |_| ControlFlow::Continue(())).expect("no faults");
    let (half, end) = (Instant::ZERO + span / 2, Instant::ZERO + span);
    let counted = driven.series.iter().filter(|slice| slice.start >= half && slice.start < end);
    let (operations, spent) =
        counted.fold((0, Span::ZERO), |sum, slice| (sum.0 + slice.tally.operations(), sum.1 + slice.span));
    operations as f64 / spent.as_secs_f64()
}
