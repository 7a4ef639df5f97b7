//! Short probes of the storage and the generator before the measurement, as input of findings.

use std::os::fd::OwnedFd;

use plimsoll_device::{Clock, Engine, Ring, Shape, sync_data, truncate};
use plimsoll_drive::{Fault, Onward, Rules, Target, drive_streams};
use plimsoll_language::say;
use plimsoll_load::{BlockMix, Mix, Pace, Pattern, Region, StreamPhase, StreamSpec, Streams};
use plimsoll_record::Tally;
use plimsoll_units::{Bytes, Kind, Span};

use crate::backend::{Backend, Storage, Trial};
use crate::monitor::Monitor;

const SLICE: Span = Span::from_millis(20);

/// Fills the scratch `file` behind `storage`, of `size` bytes, with the data of the load's writes from its beginning,
/// for at most `limit`; truncates it to the filled part, and makes it durable. Returns its size.
pub fn fill(
    storage: &mut Storage,
    file: &OwnedFd,
    size: Bytes,
    limit: Span,
    monitor: &mut dyn Monitor,
) -> Result<Bytes, Fault> {
    let block = Bytes::mib(1);
    let stream = probe_stream(block, 0.0, Pattern::Sequential, size, Pace::Closed { depth: 8 });
    let trial =
        Trial { streams: &[stream], duration: limit, warm_up: Span::ZERO, slice: Span::from_millis(100), seed: 0 };
    let (mut filled, mut counted) = (0, 0);
    let threads = std::mem::replace(&mut storage.threads, 1);
    let point = storage.offer(&trial, &mut |series| {
        // Counts only new slices: the last slice is observed repeatedly.
        filled += series[counted..].iter().map(|slice| slice.tally.bytes()).sum::<u64>();
        counted = series.len();
        monitor.filling(Bytes::new(filled).min(size), size);
        let is_complete = filled >= size.get() || monitor.is_interrupted();
        if is_complete { Onward::Break(()) } else { Onward::Continue(()) }
    });
    storage.threads = threads;
    let written: u64 = point?.loops.series.iter().map(|slice| slice.tally.bytes()).sum();
    let filled = Bytes::new(written.min(size.get())).round_down(block);
    let failed = |source| Fault { attempt: say!("truncating the file to the filled {filled}"), source };
    truncate(file, filled).and_then(|()| sync_data(file)).map_err(failed)?;
    monitor.clear_progress();
    Ok(filled)
}

/// Maximum operations per second of the generator, with operations that the kernel completes immediately. `None` for an
/// engine without these.
pub fn measure_ceiling(engine: Engine, depth: u32, threads: u32) -> Option<f64> {
    if engine != Engine::Ring {
        return None;
    }
    let clock = Clock::start();
    let shape = Shape::reading(depth, Bytes::kib(4));
    let mut ring = Ring::new(None, &shape, clock).ok()?;
    let start = ring.now();
    let duration = Span::from_millis(20);
    let spec = probe_stream(Bytes::kib(4), 1.0, Pattern::Uniform, Bytes::gib(1), Pace::Closed { depth });
    let mut load = Streams::new(&[spec], 0, StreamPhase { end: start + duration, ..StreamPhase::unbounded(start) })?;
    let rules = Rules::new(depth, Span::from_millis(5));
    let loops = drive_streams(&mut ring, &mut load, &rules, &mut |_| Onward::Continue(())).ok()?;
    let operations: u64 = loops.series.iter().map(|slice| slice.tally.operations()).sum();
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    Some(operations as f64 / duration.as_secs_f64() * f64::from(threads.min(cores)))
}

/// Median time of sequential 4 KiB writes with flush; `None` if none completed.
pub fn measure_commit(storage: &mut Storage, size: Bytes) -> Result<Option<Span>, Fault> {
    let mut spec = probe_stream(Bytes::kib(4), 0.0, Pattern::Sequential, size, Pace::Closed { depth: 1 });
    spec.mix.flush_every = 1;
    let tally = measure_tally(storage, &spec, Span::from_millis(250))?;
    let median = |kind| tally.response_where(|counter| counter.kind == kind).quantile(0.5);
    Ok(median(Kind::Write).zip(median(Kind::Flush)).map(|(write, flush)| write + flush))
}

/// Throughput of zeroes relative to incompressible data, alternating to cancel drift.
pub fn measure_compression(storage: &mut Storage, size: Bytes) -> Result<Option<f64>, Fault> {
    let spec = probe_stream(Bytes::kib(128), 0.0, Pattern::Uniform, size, Pace::Closed { depth: 8 });
    let mut bytes = [0, 0];
    let configured = storage.compressible;
    for turn in 0..4 {
        storage.compressible = f64::from(turn % 2);
        let tally = measure_tally(storage, &spec, Span::from_millis(150));
        storage.compressible = configured;
        bytes[turn as usize % 2] += tally?.bytes();
    }
    Ok((bytes[0] > 0).then(|| bytes[1] as f64 / bytes[0] as f64))
}

fn measure_tally(storage: &mut Storage, spec: &StreamSpec, duration: Span) -> Result<Tally, Fault> {
    let trial = Trial { streams: std::slice::from_ref(spec), duration, warm_up: Span::ZERO, slice: SLICE, seed: 0 };
    let threads = std::mem::replace(&mut storage.threads, 1);
    let point = storage.offer(&trial, &mut |_| Onward::Continue(()));
    storage.threads = threads;
    let mut tally = Tally::default();
    point?.loops.series.iter().for_each(|slice| tally.merge(&slice.tally));
    Ok(tally)
}

fn probe_stream(size: Bytes, reads: f64, pattern: Pattern, space: Bytes, pace: Pace) -> StreamSpec {
    let mix = Mix { sizes: BlockMix::one(size), reads, durable: false, flush_every: 0 };
    StreamSpec { name: "probe".into(), mix, pattern, region: Region::first(space), pace }
}
