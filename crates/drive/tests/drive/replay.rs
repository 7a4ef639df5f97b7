//! Replaying a recorded load on the same model gives the same figures, to the nanosecond.

use plimsoll_drive::{LoopResult, Onward, Rules, Simulated, drive};
use plimsoll_load::{
    Arrival, BlockMix, Due, Load, Mix, OpOutcome, Pace, Pattern, Region, Replay, StreamPhase, StreamSpec, Streams,
    Tempo,
};
use plimsoll_model::{Chain, parse};
use plimsoll_record::{Action, Bins, TraceEntry, TraceReader, TraceWriter};
use plimsoll_units::{Bytes, Instant, Iops, Kind, Op, Span};

/// A limit, random service times and a link: each result depends on all preceding operations.
const MODEL: &str = "limit(4000) then station(4, 900us, exponential) then link(25us, 400MB/s)";

/// A load that records the intended times of its operations.
struct Recording<'a, L> {
    load: L,
    trace: TraceWriter<&'a mut Vec<u8>>,
}

impl<L: Load> Load for Recording<'_, L> {
    fn due(&self) -> Due {
        self.load.due()
    }

    fn take(&mut self, now: Instant) -> Op {
        let Due::At(moment) = self.load.due() else { panic!("an open load is due at moments") };
        let op = self.load.take(now);
        let action = match op.kind {
            Kind::Read => Action::Read,
            Kind::Write => Action::Write,
            Kind::DurableWrite => Action::DurableWrite,
            Kind::Flush => Action::Flush,
            Kind::Trim => Action::Trim,
        };
        let at = moment.since(Instant::ZERO);
        self.trace
            .write(&TraceEntry { at, action, offset: op.offset, length: op.length.into() })
            .expect("memory takes all");
        op
    }

    fn completed(&mut self, now: Instant, op: &Op, outcome: OpOutcome) {
        self.load.completed(now, op, outcome);
    }
}

fn generated(rate: u64) -> Streams {
    let sizes = BlockMix::weighted(vec![(Bytes::kib(4), 3), (Bytes::kib(16), 1)]).expect("sizes that fit");
    let stream = StreamSpec {
        name: "data".into(),
        mix: Mix { sizes, reads: 0.7, durable: false, flush_every: 8 },
        pattern: Pattern::Zipf { theta: 0.9 },
        region: Region::first(Bytes::gib(1)),
        pace: Pace::Open { rate: Iops::per_second(rate), arrival: Arrival::Poisson },
    };
    let phase = StreamPhase { operations: 20_000, ..StreamPhase::unbounded(Instant::ZERO) };
    Streams::new(&[stream], 5, phase).expect("the region holds a block")
}

fn offer(load: &mut impl Load, depth: u32) -> LoopResult {
    let mut target = Simulated::new(Chain::new(&parse(MODEL).expect("a model"), 3));
    let rules = Rules::new(depth, Span::from_millis(500));
    drive(&mut target, load, &rules, &mut |_| Onward::Continue(())).expect("a simulator has no faults")
}

fn replayed(text: &[u8], tempo: Tempo, depth: u32) -> LoopResult {
    let mut replay = Replay::new(TraceReader::new(text).expect("a trace").recorded(), tempo, Instant::ZERO);
    let observed = offer(&mut replay, depth);
    replay.end().expect("a whole trace");
    observed
}

fn merge_bins(observed: &LoopResult, of: fn(&plimsoll_record::Tally) -> Bins) -> Bins {
    let mut all = Bins::default();
    observed.series.iter().for_each(|slice| all.merge(&of(&slice.tally)));
    all
}

#[test]
fn a_replay_on_the_same_model_gives_the_same_histogram() {
    // Below the limit, and above the capacity of the stations, where arrivals wait for a slot of the generator.
    for rate in [3_000, 6_000] {
        let mut text = Vec::new();
        let trace = TraceWriter::new(&mut text).unwrap();
        let direct = offer(&mut Recording { load: generated(rate), trace }, 256);
        let again = replayed(&text, Tempo::Recorded { scale: 1.0 }, 256);
        assert_eq!(
            merge_bins(&direct, plimsoll_record::Tally::response),
            merge_bins(&again, plimsoll_record::Tally::response)
        );
        assert_eq!(
            merge_bins(&direct, plimsoll_record::Tally::service),
            merge_bins(&again, plimsoll_record::Tally::service)
        );
        assert_eq!(merge_bins(&direct, plimsoll_record::Tally::response).count, 20_000);
        // By slice they differ: a slice ends between completions of the same time.
        let shares =
            |observed: &LoopResult| observed.bound_by.shares(Instant::ZERO, &["a", "b", "c"].map(String::from));
        assert_eq!(shares(&direct), shares(&again));
    }
}

#[test]
fn a_slower_replay_waits_less_and_a_depth_leaves_no_gaps() {
    let mut text = Vec::new();
    let trace = TraceWriter::new(&mut text).unwrap();
    offer(&mut Recording { load: generated(3_800), trace }, 256);
    let mean = |observed: &LoopResult| merge_bins(observed, plimsoll_record::Tally::response).mean().unwrap();
    let recorded = replayed(&text, Tempo::Recorded { scale: 1.0 }, 256);
    let slower = replayed(&text, Tempo::Recorded { scale: 2.0 }, 256);
    assert!(mean(&slower) < mean(&recorded), "{} against {}", mean(&slower), mean(&recorded));
    let closed = replayed(&text, Tempo::Closed { depth: 1 }, 1);
    assert!(mean(&closed) <= mean(&slower), "{} against {}", mean(&closed), mean(&slower));
    assert_eq!(merge_bins(&closed, plimsoll_record::Tally::response).count, 20_000);
}
