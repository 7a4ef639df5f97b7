//! Simulation of a load on a model in virtual time.

use plimsoll_drive::{Onward, Rules, Simulated, drive};
use plimsoll_load::{BlockMix, Mix, Pace, Pattern, Region, StreamPhase, StreamSpec, Streams};
use plimsoll_model::{Chain, ChainSpec};
use plimsoll_record::Bins;
use plimsoll_units::{Bytes, Instant, Kind, Span};

/// A random load on a model.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Bytes of an operation.
    pub size: u64,
    pub reads: f64,
    /// Bytes of the addressed region.
    pub region: u64,
    pub pace: Pace,
    /// Virtual milliseconds of warm-up.
    pub warm_up_ms: u32,
    /// Virtual milliseconds measured.
    pub counted_ms: u32,
}

/// Result of a trial.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Operations per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes: f64,
    /// Mean response time of reads.
    pub read_ms: f64,
}

impl Outcome {
    /// 10^6 bytes per second.
    pub fn mb(&self) -> f64 {
        self.bytes / 1e6
    }
}

impl Trial {
    /// Random reads of `size` bytes over the first 10^9 bytes at `depth`, 60 s after a warm-up of 5 s.
    pub fn random_reads(size: u64, depth: u32) -> Self {
        Self {
            size,
            reads: 1.0,
            region: 1_000_000_000,
            pace: Pace::Closed { depth },
            warm_up_ms: 5_000,
            counted_ms: 60_000,
        }
    }

    /// Writes instead of reads.
    pub fn writes(self) -> Self {
        Self { reads: 0.0, ..self }
    }

    /// A mix of reads and writes.
    pub fn mixed(self, reads: f64) -> Self {
        Self { reads, ..self }
    }

    /// Over the first `bytes`.
    pub fn over(self, bytes: u64) -> Self {
        Self { region: bytes, ..self }
    }

    /// With this duration and warm-up.
    pub fn lasting(self, warm_up_ms: u32, counted_ms: u32) -> Self {
        Self { warm_up_ms, counted_ms, ..self }
    }

    /// Result of `model`.
    pub fn on(&self, model: &ChainSpec) -> Outcome {
        let mut target = Simulated::new(Chain::new(model, 7));
        let start = Instant::ZERO;
        let end = start + Span::from_millis(u64::from(self.warm_up_ms + self.counted_ms));
        let mut load = Streams::new(&[self.stream()], 7, StreamPhase { end, ..StreamPhase::unbounded(start) })
            .expect("the region holds blocks");
        let slice_ms = divisor(self.warm_up_ms, self.counted_ms);
        let rules = Rules::new(32_768, Span::from_millis(u64::from(slice_ms)));
        let result =
            drive(&mut target, &mut load, &rules, &mut |_| Onward::Continue(())).expect("models have no faults");
        let from = (self.warm_up_ms / slice_ms) as usize;
        let slices = result.series.iter().skip(from).take((self.counted_ms / slice_ms) as usize);
        let (mut all, mut reads) = (Bins::default(), Bins::default());
        for slice in slices {
            all.merge(&slice.tally.response());
            reads.merge(&slice.tally.response_where(|counter| counter.kind == Kind::Read));
        }
        let iops = all.count as f64 * 1e3 / f64::from(self.counted_ms);
        let read_ms = reads.mean().map_or(f64::NAN, Span::as_millis_f64);
        Outcome { iops, bytes: iops * self.size as f64, read_ms }
    }

    fn stream(&self) -> StreamSpec {
        StreamSpec {
            name: "data".into(),
            mix: Mix { sizes: BlockMix::one(Bytes::new(self.size)), reads: self.reads, durable: false, flush_every: 0 },
            pattern: Pattern::Uniform,
            region: Region::first(Bytes::new(self.region / self.size * self.size)),
            pace: self.pace,
        }
    }
}

/// Greatest common divisor, so that slices end at the boundaries of the measurement.
fn divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { divisor(b, a % b) }
}
