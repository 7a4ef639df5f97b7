//! Simulation of a load on a model in virtual time.

use plimsoll_drive::{Onward, Rules, Simulated, drive};
use plimsoll_load::{Arrival, BlockMix, Mix, Pace, Pattern, Region, StreamPhase, StreamSpec, Streams};
use plimsoll_model::{Chain, ChainSpec};
use plimsoll_record::Bins;
use plimsoll_units::{Bytes, Instant, Iops, Kind, Span};

/// A load on a model.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Bytes of an operation.
    pub size: u64,
    /// Share of reads.
    pub reads: f64,
    /// Access pattern.
    pub pattern: Pattern,
    /// Bytes of the addressed region.
    pub region: u64,
    /// Pace of a stream.
    pub pace: Pace,
    /// Number of streams, each on a part of the region.
    pub streams: u32,
    /// True if every write is durable.
    pub durable: bool,
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
    /// Mean response time in milliseconds.
    pub mean_ms: f64,
    /// Mean response time of reads.
    pub read_ms: f64,
    /// Mean response time of writes.
    pub write_ms: f64,
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
            pattern: Pattern::Uniform,
            region: 1_000_000_000,
            pace: Pace::Closed { depth },
            streams: 1,
            durable: false,
            warm_up_ms: 5_000,
            counted_ms: 60_000,
        }
    }

    /// Writes instead of reads.
    pub fn writes(self) -> Self {
        Self { reads: 0.0, ..self }
    }

    /// Durable writes.
    pub fn durable(self) -> Self {
        Self { durable: true, ..self.writes() }
    }

    /// A mix of reads and writes.
    pub fn mixed(self, reads: f64) -> Self {
        Self { reads, ..self }
    }

    /// Sequential access.
    pub fn sequential(self) -> Self {
        Self { pattern: Pattern::Sequential, ..self }
    }

    /// Over the first `bytes`.
    pub fn over(self, bytes: u64) -> Self {
        Self { region: bytes, ..self }
    }

    /// With concurrent streams, each on its part.
    pub fn streams(self, streams: u32) -> Self {
        Self { streams, ..self }
    }

    /// Poisson arrivals at this rate.
    pub fn open(self, iops: u64) -> Self {
        Self { pace: Pace::Open { rate: Iops::per_second(iops), arrival: Arrival::Poisson }, ..self }
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
        let mut load = Streams::new(&self.specs(), 7, StreamPhase { end, ..StreamPhase::unbounded(start) })
            .expect("parts hold blocks");
        let slice_ms = divisor(self.warm_up_ms, self.counted_ms);
        let rules = Rules::new(32_768, Span::from_millis(u64::from(slice_ms)));
        let seen = drive(&mut target, &mut load, &rules, &mut |_| Onward::Continue(())).expect("models have no faults");
        let from = (self.warm_up_ms / slice_ms) as usize;
        let slices = seen.series.iter().skip(from).take((self.counted_ms / slice_ms) as usize);
        let (mut all, mut reads, mut writes) = (Bins::default(), Bins::default(), Bins::default());
        for slice in slices {
            all.merge(&slice.tally.response());
            reads.merge(&slice.tally.response_where(|counter| counter.kind == Kind::Read));
            writes.merge(&slice.tally.response_where(|counter| counter.kind == Kind::Write));
        }
        let iops = all.count as f64 * 1e3 / f64::from(self.counted_ms);
        let [mean_ms, read_ms, write_ms] =
            [all, reads, writes].map(|bins| bins.mean().map_or(f64::NAN, Span::as_millis_f64));
        Outcome { iops, bytes: iops * self.size as f64, mean_ms, read_ms, write_ms }
    }

    fn specs(&self) -> Vec<StreamSpec> {
        let part = self.region / u64::from(self.streams) / self.size * self.size;
        let stream = |index: u32| StreamSpec {
            name: "data".into(),
            mix: Mix {
                sizes: BlockMix::one(Bytes::new(self.size)),
                reads: self.reads,
                durable: self.durable,
                flush_every: 0,
            },
            pattern: self.pattern,
            region: Region { start: u64::from(index) * part, length: Bytes::new(part) },
            pace: self.pace,
        };
        (0..self.streams).map(stream).collect()
    }
}

/// Greatest common divisor, so that slices end at the boundaries of the measurement.
fn divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { divisor(b, a % b) }
}
