//! Storage as the target of a replay: a loop on its own thread, and a reader on another, so that neither observing nor
//! reading delays the loop.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use plimsoll_device::{Batching, Clock, Contents, Durable, Flush, Shape, sharpen_timers, thread_cpu_time};
use plimsoll_drive::{Fault, Observe, PartialRun, Rules, drive};
use plimsoll_ingest::TraceFault;
use plimsoll_language::label;
use plimsoll_load::{Recorded, Replay, Tempo};
use plimsoll_suite::workers::WorkerHandle;
use plimsoll_units::Span;

use super::{Playback, Recording, ReplayTarget, join_read_fault};
use crate::backend::{PointOutcome, Storage, collect_outcome};

/// Operations per batch of the reader, and batches read ahead.
const BATCH_OPERATIONS: usize = 4096;
const MAX_BATCHES: usize = 16;
/// Range of operations in flight with recorded arrival times before arrivals queue in the generator, limited by the
/// memory below.
const SLOT_RANGE: (u64, u64) = (16, 1024);
const BUFFER_MEMORY: u64 = 256 << 20;

type Batch = Vec<Result<Recorded, TraceFault>>;

impl ReplayTarget for Storage {
    const SHORTEST_SLICE: Span = Span::from_millis(20);

    fn stages(&self) -> Vec<String> {
        Vec::new()
    }

    /// A trial would change the data and the caches.
    fn estimate(&mut self, _: &Recording, _: u32, _: u64) -> Option<Span> {
        None
    }

    fn replay(&mut self, playback: &Playback<'_>, observe: Observe<'_>) -> PointOutcome {
        let (this, clock) = (&*self, Clock::start());
        self.run_loops(vec![|handle: &mut WorkerHandle<'_>| this.run_replay(playback, clock, handle)], observe)
    }
}

impl Storage {
    fn run_replay(&self, playback: &Playback<'_>, clock: Clock, handle: &mut WorkerHandle<'_>) -> PointOutcome {
        sharpen_timers();
        let Playback { recording, tempo, slice, seed } = *playback;
        let shape = Shape {
            depth: count_slots(recording, tempo),
            largest: recording.largest(),
            writes: recording.writes(),
            contents: Contents::Stamped { compressible: self.compressible },
            seed,
            flush: Flush::default(),
            durable: Durable::default(),
            batching: Batching::FREE,
            advice: None,
        };
        // Leaving the scope drops the receiver, which ends the reader.
        std::thread::scope(|scope| {
            let (send, receive) = sync_channel(MAX_BATCHES);
            let reader = std::thread::Builder::new().name("reader".into());
            let failed = |source| {
                PartialRun::at_once(Fault { attempt: label!("starting a thread that reads the trace").into(), source })
            };
            reader.spawn_scoped(scope, move || read_ahead(recording, &send)).map_err(failed)?;
            self.with_target(&shape, clock, &mut |target| {
                let ahead = ReadAhead::new(&receive);
                let mut load = Replay::new(ahead, tempo, target.now());
                let cpu_before = thread_cpu_time();
                let rules = Rules::new(shape.depth, slice);
                let driven = drive(target, &mut load, &rules, &mut |series| handle.observe(series));
                let cpu = thread_cpu_time() - cpu_before;
                join_read_fault(load.end(), collect_outcome(driven, Some(cpu)), recording)
            })
        })
    }
}

/// Maximum operations in flight.
fn count_slots(recording: &Recording, tempo: Tempo) -> u32 {
    match tempo {
        Tempo::Closed { depth } => depth,
        // A read buffer and a write buffer.
        Tempo::Recorded { .. } => {
            let (least, max) = SLOT_RANGE;
            (BUFFER_MEMORY / (2 * recording.largest().get()).max(1)).clamp(least, max) as u32
        }
    }
}

/// Reads the recording to its end, or until the receiver is dropped.
fn read_ahead(recording: &Recording, send: &SyncSender<Batch>) {
    let mut operations = match recording.operations() {
        Ok(operations) => operations,
        Err(fault) => {
            // The receiver may be gone.
            let _ = send.send(vec![Err(fault)]);
            return;
        }
    };
    loop {
        let batch: Batch = operations.by_ref().take(BATCH_OPERATIONS).collect();
        if batch.is_empty() || send.send(batch).is_err() {
            return;
        }
    }
}

/// Batches of the reader.
struct ReadAhead<'a> {
    receive: &'a Receiver<Batch>,
    batch: std::vec::IntoIter<Result<Recorded, TraceFault>>,
}

impl<'a> ReadAhead<'a> {
    /// Waits for the first batch.
    fn new(receive: &'a Receiver<Batch>) -> Self {
        Self { receive, batch: receive.recv().unwrap_or_default().into_iter() }
    }
}

impl Iterator for ReadAhead<'_> {
    type Item = Result<Recorded, TraceFault>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch.next().or_else(|| {
            self.batch = self.receive.recv().ok()?.into_iter();
            self.batch.next()
        })
    }
}
