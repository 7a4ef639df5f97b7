//! A model as the target of a replay: initially idle, in virtual time.

use std::ops::ControlFlow;

use plimsoll_analyse::total_span;
use plimsoll_drive::{Observe, PartialRun, Rules, Simulated, drive};
use plimsoll_load::{Replay, Tempo};
use plimsoll_model::Chain;
use plimsoll_units::{Instant, Span};

use super::{Playback, Recording, ReplayTarget, join_read_fault, read_fault};
use crate::backend::{MAX_VIRTUAL_DEPTH, PointOutcome, Virtual, collect_outcome};

/// Number of operations for estimating the rate at a depth.
const PILOT: u64 = 2_000;

impl ReplayTarget for Virtual {
    const SHORTEST_SLICE: Span = Span::from_millis(1);

    fn stages(&self) -> Vec<String> {
        self.model.names()
    }

    fn estimate(&mut self, recording: &Recording, depth: u32, seed: u64) -> Option<Span> {
        let playback = Playback { recording, tempo: Tempo::Closed { depth }, slice: Span::from_secs(1), seed };
        let pilot = self.replay_first(PILOT, &playback, &mut |_| ControlFlow::Continue(())).ok()?;
        let operations = recording.outline().operations;
        let each = total_span(&pilot.loops.series).as_secs_f64() / PILOT.min(operations) as f64;
        Some(Span::from_secs_f64(each * operations as f64))
    }

    fn replay(&mut self, playback: &Playback<'_>, observe: Observe<'_>) -> PointOutcome {
        self.replay_first(u64::MAX, playback, observe)
    }
}

impl Virtual {
    /// Replays the first `max` operations.
    fn replay_first(&self, max: u64, playback: &Playback<'_>, observe: Observe<'_>) -> PointOutcome {
        let Playback { recording, tempo, slice, seed } = *playback;
        let depth = match tempo {
            Tempo::Recorded { .. } => MAX_VIRTUAL_DEPTH,
            Tempo::Closed { depth } => depth,
        };
        let operations = recording.operations().map_err(|fault| PartialRun::at_once(read_fault(fault, recording)))?;
        let max = usize::try_from(max).unwrap_or(usize::MAX);
        let mut load = Replay::new(operations.take(max), tempo, Instant::ZERO);
        let mut target = Simulated::new(Chain::new(&self.model, seed));
        let outcome = drive(target.as_target(), &mut load, &Rules::new(depth, slice), observe);
        join_read_fault(load.end(), collect_outcome(outcome, None), recording)
    }
}
