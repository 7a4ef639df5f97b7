//! The client: the NBD target, or the ring on a block device, and what it sees in windows of 100 ms.

use std::path::Path;
use std::time::{Duration, Instant};

use plimsoll_device::nbd::{Connection, ExportAddress, Remote};
use plimsoll_device::{AccessMode, Caching, Clock, Ring, Shape, sharpen_timers};
use plimsoll_drive::{Onward, Rules, Target, drive};
use plimsoll_load::{BlockMix, Mix, Pace, Pattern, Region, StreamPhase, StreamSpec, Streams};
use plimsoll_record::Bins;
use plimsoll_units::{Bytes, Span};

use crate::{BLOCK, Case, lasts};

pub const SIZE: Bytes = Bytes::gib(1);
const WINDOW: Span = Span::from_millis(100);

/// What a client saw. Times in nanoseconds.
#[derive(Clone, Debug)]
pub struct Observation {
    pub iops: f64,
    /// Operations of the first second over those of an ideal one.
    pub first: f64,
    /// The largest difference of a window from the ideal, as a share.
    pub worst: f64,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    /// The share of operations whose response is within 2 % or 15 us of the ideal.
    pub within: f64,
}

pub fn reads(size: Bytes, depth: u32) -> StreamSpec {
    StreamSpec {
        name: String::new(),
        mix: Mix { sizes: BlockMix::one(Bytes::new(BLOCK)), reads: 1.0, durable: false, flush_every: 0 },
        pattern: Pattern::Uniform,
        region: Region::first(size),
        pace: Pace::Closed { depth },
    }
}

fn shape(depth: u32) -> Shape {
    Shape::reading(depth, Bytes::new(BLOCK))
}

/// An export behind a socket that appears within ten seconds.
pub fn connect_remote(socket: &Path, depth: u32) -> Result<Remote, String> {
    let address: ExportAddress = format!("nbd+unix:///data?socket={}", socket.display()).parse().unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        match Connection::open(&address) {
            Ok(connection) => {
                let remote = Remote::new(vec![connection], &shape(depth), Clock::start());
                return remote.map_err(|error| error.to_string());
            }
            Err(error) if Instant::now() > deadline => return Err(format!("no answer: {error}")),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Reads from a block device; the caller's thread makes and uses the ring.
pub fn device(path: &Path, case: &Case) -> Result<Observation, String> {
    use std::os::fd::AsFd;
    let opened = plimsoll_device::open(path, AccessMode::Read, Caching::Direct).map_err(|error| error.to_string())?;
    let ring = Ring::new(Some(opened.file.as_fd()), &shape(case.depth), Clock::start());
    Ok(observe(&mut ring.map_err(|error| error.to_string())?, case))
}

pub fn observe(target: &mut dyn Target, case: &Case) -> Observation {
    sharpen_timers();
    let start = target.now();
    let phase = StreamPhase { end: start + lasts(), ..StreamPhase::unbounded(start) };
    let mut load = Streams::new(&[reads(SIZE, case.depth)], 1, phase).unwrap();
    let rules = Rules::new(case.depth, WINDOW);
    let result = drive(target, &mut load, &rules, &mut |_| Onward::Continue(())).unwrap();
    let windows = (lasts().as_nanos() / WINDOW.as_nanos()) as usize;
    let counts: Vec<u64> = result.series.iter().take(windows).map(|slice| slice.tally.operations()).collect();
    let mut response = Bins::default();
    for slice in &result.series {
        response.merge(&slice.tally.response());
    }
    let quantile = |share| response.quantile(share).unwrap_or_default().as_nanos() as f64;
    let ideal = case.ideal_iops() * WINDOW.as_secs_f64();
    let off = |count: &u64| (*count as f64 / ideal - 1.0).abs();
    Observation {
        iops: counts.iter().sum::<u64>() as f64 / lasts().as_secs_f64(),
        first: counts.iter().take(10).sum::<u64>() as f64 / (10.0 * ideal),
        worst: counts.iter().map(off).fold(0.0, f64::max),
        p50: quantile(0.5),
        p90: quantile(0.9),
        p99: quantile(0.99),
        within: within(&response, case.ideal_response()),
    }
}

/// The share of responses within 2 % or 15 us of `ideal`, to the resolution of the bins.
fn within(responses: &Bins, ideal: Span) -> f64 {
    let tolerance = Span::from_micros(15).max(ideal / 50);
    let beyond = responses.share_within(ideal - tolerance);
    responses.share_within(ideal + tolerance) - beyond
}
