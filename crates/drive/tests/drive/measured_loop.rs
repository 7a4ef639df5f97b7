//! The loop against models whose answers are known.

use plimsoll_drive::{Completion, Fault, LoopResult, Onward, Rules, Simulated, Target, drive};
use plimsoll_load::{Arrival, BlockMix, Mix, OpOutcome, Pace, Pattern, Region, StreamPhase, StreamSpec, Streams};
use plimsoll_model::{Chain, parse};
use plimsoll_record::Bins;
use plimsoll_units::{Bytes, Instant, Iops, Op, Slot, Span};

fn stream(pace: Pace) -> StreamSpec {
    StreamSpec {
        name: "data".into(),
        mix: Mix { sizes: BlockMix::one(Bytes::kib(8)), reads: 0.8, durable: false, flush_every: 0 },
        pattern: Pattern::Uniform,
        region: Region::first(Bytes::gib(1)),
        pace,
    }
}

fn offer(model: &str, specs: &[StreamSpec], depth: u32, seconds: u64) -> LoopResult {
    let phase = StreamPhase { end: Instant::ZERO + Span::from_secs(seconds), ..StreamPhase::unbounded(Instant::ZERO) };
    let mut load = Streams::new(specs, 1, phase).expect("the region holds a block");
    let mut target = Simulated::new(Chain::new(&parse(model).expect("a model"), 1));
    let rules = Rules::new(depth, Span::from_secs(1));
    drive(&mut target, &mut load, &rules, &mut |_| Onward::Continue(())).expect("a simulator has no faults")
}

fn open(per_second: u64, arrival: Arrival) -> Pace {
    Pace::Open { rate: Iops::per_second(per_second), arrival }
}

fn response(observed: &LoopResult) -> Bins {
    let mut all = Bins::default();
    observed.series.iter().for_each(|slice| all.merge(&slice.tally.response()));
    all
}

fn service(observed: &LoopResult) -> Bins {
    let mut all = Bins::default();
    observed.series.iter().for_each(|slice| all.merge(&slice.tally.service()));
    all
}

fn near(actual: Option<Span>, expected: Span, tolerance: f64) {
    let ratio = actual.expect("operations were counted").as_secs_f64() / expected.as_secs_f64();
    assert!((ratio - 1.0).abs() <= tolerance, "{actual:?} against {expected:?}");
}

#[test]
fn a_closed_load_obeys_littles_law() {
    let observed = offer("station(4, 1ms)", &[stream(Pace::Closed { depth: 8 })], 8, 10);
    let counted = response(&observed).count;
    assert!((40_000..=40_008).contains(&counted), "4,000 a second, and those in flight at the end: {counted}");
    near(response(&observed).mean(), Span::from_millis(2), 0.001);
    assert_eq!(observed.unserved, 0);
}

#[test]
fn answers_of_abandoned_operations_are_not_counted_in_the_next_load() {
    let mut target = Simulated::new(Chain::new(&parse("station(1, 25s)").expect("a model"), 1));
    let mut stopped_after = |seconds: usize| {
        let phase = StreamPhase::unbounded(target.now());
        let mut load = Streams::new(&[stream(Pace::Closed { depth: 1 })], 1, phase).expect("the region holds a block");
        let rules = Rules::new(1, Span::from_secs(1));
        let stop = |series: &[plimsoll_record::Slice]| {
            if series.len() < seconds { Onward::Continue(()) } else { Onward::Break(()) }
        };
        let observed = drive(&mut target, &mut load, &rules, &mut |series| stop(series)).expect("no faults");
        target.drop_answers(observed.unserved);
        observed
    };
    assert_eq!(stopped_after(30).unserved, 1, "the second operation takes longer than the loop waits");
    let observed = stopped_after(95);
    assert_eq!(observed.unserved, 0);
    near(response(&observed).mean(), Span::from_secs(25), 0.01);
}

#[test]
fn an_open_load_at_half_of_mm1_waits_twice_its_service() {
    let observed = offer("station(1, 1ms, exponential)", &[stream(open(500, Arrival::Poisson))], 1_000, 400);
    near(response(&observed).mean(), Span::from_millis(2), 0.04);
    near(response(&observed).quantile(0.99), Span::from_nanos(9_210_340), 0.08);
}

/// The standard example of coordinated omission, as in wrk2: 1,000 operations a second of 0.9 ms each, and a stall of
/// 10 s in 100 s.
#[test]
fn response_times_include_a_stall_and_service_times_do_not() {
    let model = "stall(100s, 10s) then station(1, 900us)";
    let observed = offer(model, &[stream(open(1_000, Arrival::Constant))], 1, 100);
    // With a single slot the generator cannot submit during the stall, so service times contain a single long
    // operation.
    near(service(&observed).quantile(0.99), Span::from_micros(900), 0.01);
    // The backlog of 10,000 drains after the stall at 0.9 ms each: a tenth of all operations waited long.
    assert!(response(&observed).quantile(0.95).unwrap() > Span::from_secs(4));
    near(response(&observed).quantile(0.5), Span::from_micros(900), 0.01);
    assert_eq!(observed.lateness.max_ns, 0, "the wait for a slot is the target's, not the loop's");
    assert_eq!(response(&observed).count, 100_000, "every arrival is counted");

    let closed = offer(model, &[stream(Pace::Closed { depth: 1 })], 1, 100);
    near(response(&closed).quantile(0.999), Span::from_micros(900), 0.01);
}

#[test]
fn operations_never_issued_are_counted_with_their_wait() {
    let specs = [stream(open(2_000, Arrival::Constant))];
    let mut load = Streams::new(&specs, 1, StreamPhase::unbounded(Instant::ZERO)).unwrap();
    let mut target = Simulated::new(Chain::new(&parse("station(1, 1ms)").unwrap(), 1));
    let rules = Rules::new(4, Span::from_secs(1));
    let stop = |series: &[plimsoll_record::Slice]| match series.len() {
        10 => Onward::Break(()),
        _ => Onward::Continue(()),
    };
    let observed = drive(&mut target, &mut load, &rules, &mut { stop }).unwrap();
    let answered: u64 = observed.series.iter().map(|slice| slice.tally.operations()).sum();
    assert!((9_990..=10_010).contains(&answered), "{answered}");
    assert_eq!(answered + observed.unserved, response(&observed).count);
    assert!((9_990..=10_010).contains(&observed.unserved), "{}", observed.unserved);
    near(Some(Span::from_nanos(response(&observed).max_ns)), Span::from_secs(5), 0.01);
}

#[test]
fn streams_keep_their_own_figures() {
    let mut redo = stream(open(100, Arrival::Constant));
    redo.mix = Mix { sizes: BlockMix::one(Bytes::new(512)), reads: 0.0, durable: true, flush_every: 0 };
    redo.pattern = Pattern::Sequential;
    let observed = offer("link(1ms)", &[stream(Pace::Closed { depth: 2 }), redo], 8, 10);
    let operations = |stream: u8| -> u64 {
        let tallies = observed.series.iter().flat_map(|slice| &slice.tally.0);
        tallies.filter(|counter| counter.stream == stream).map(plimsoll_record::Counter::operations).sum()
    };
    assert_eq!(operations(0), 20_000, "a depth of 2 at 1 ms");
    assert_eq!(operations(1), 1_000, "100 a second for 10 s, independent of the other stream");
}

#[test]
fn a_series_covers_the_whole_run() {
    let observed = offer("stall(10s, 3s) then link(1ms)", &[stream(Pace::Closed { depth: 1 })], 1, 10);
    let end = observed.series.iter().fold(Instant::ZERO, |end, slice| {
        assert_eq!(slice.start, end, "slices leave no gap, even without completions");
        end + slice.span
    });
    assert_eq!(end, Instant::ZERO + Span::from_secs(10) + Span::from_millis(1));
    assert_eq!(observed.series[8].tally.operations(), 0, "no completion in the middle of the stall");
}

/// A target that oversleeps by half a millisecond, and is otherwise instantaneous.
struct Sleepy(Simulated<Chain>);

impl Target for Sleepy {
    fn now(&mut self) -> Instant {
        self.0.now()
    }

    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        self.0.submit(batch)
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        let woken = self.0.wait(until, completions)?;
        if woken < until {
            return Ok(woken);
        }
        let late = until + Span::from_micros(500);
        while self.0.now() < late {
            self.0.wait(late, completions)?;
        }
        Ok(self.0.now())
    }
}

#[test]
fn oversleep_is_lateness_and_not_response_time() {
    let specs = [stream(open(100, Arrival::Constant))];
    let phase = StreamPhase { end: Instant::ZERO + Span::from_secs(2), ..StreamPhase::unbounded(Instant::ZERO) };
    let mut load = Streams::new(&specs, 1, phase).expect("the region holds a block");
    let mut target = Sleepy(Simulated::new(Chain::new(&parse("link(2ms)").expect("a model"), 1)));
    let rules = Rules::new(8, Span::from_secs(1));
    let observed = drive(&mut target, &mut load, &rules, &mut |_| Onward::Continue(())).expect("no faults");
    near(response(&observed).quantile(0.5), Span::from_millis(2), 0.01);
    near(observed.lateness.quantile(0.5), Span::from_micros(500), 0.01);
    assert_eq!(observed.lateness.count, 200);
}

#[test]
fn a_wait_for_a_slot_is_response_time_and_not_lateness() {
    // Twice the rate of a single slot: nearly all operations wait for the slot, and none for the loop.
    let observed = offer("station(1, 1ms)", &[stream(open(2_000, Arrival::Poisson))], 1, 2);
    assert_eq!(observed.lateness.max_ns, 0);
    assert!(response(&observed).quantile(0.9) > Some(Span::from_secs(1)));
}

/// A target that serves operations inside `wait`, serially, as a device without a queue does.
struct Inline {
    now: Instant,
    queue: Vec<Slot>,
    takes: Span,
}

impl Target for Inline {
    fn now(&mut self) -> Instant {
        self.now
    }

    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        self.queue.extend(batch.iter().map(|(slot, _)| *slot));
        Ok(())
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        for slot in self.queue.drain(..) {
            self.now += self.takes;
            completions.push(Completion { slot, at: self.now, outcome: OpOutcome::Done, bound_by: None });
        }
        if completions.is_empty() {
            self.now = self.now.max(until);
        }
        Ok(self.now)
    }
}

#[test]
fn time_in_a_blocking_target_is_not_lateness() {
    let specs = [stream(open(2_000, Arrival::Constant))];
    let phase = StreamPhase { end: Instant::ZERO + Span::from_secs(2), ..StreamPhase::unbounded(Instant::ZERO) };
    let mut load = Streams::new(&specs, 1, phase).expect("the region holds a block");
    let mut target = Inline { now: Instant::ZERO, queue: Vec::new(), takes: Span::from_millis(1) };
    let rules = Rules::new(64, Span::from_secs(1));
    let observed = drive(&mut target, &mut load, &rules, &mut |_| Onward::Continue(())).expect("no faults");
    assert_eq!(observed.lateness.max_ns, 0, "it never slept while an arrival was due");
    assert!(response(&observed).quantile(0.9) > Some(Span::from_secs(1)), "half of the arrivals are served");
}

/// A target that accepts operations and never completes them.
struct Dead(Instant);

impl Target for Dead {
    fn now(&mut self) -> Instant {
        self.0
    }

    fn submit(&mut self, _batch: &[(Slot, Op)]) -> Result<(), Fault> {
        Ok(())
    }

    fn wait(&mut self, until: Instant, _completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        self.0 = self.0.max(until);
        Ok(self.0)
    }
}

#[test]
fn device_that_never_answers_is_abandoned() {
    let mut load = Streams::new(&[stream(Pace::Closed { depth: 3 })], 1, StreamPhase::unbounded(Instant::ZERO))
        .expect("the region holds a block");
    let rules = Rules::new(3, Span::from_secs(1));
    let stop = |series: &[plimsoll_record::Slice]| match series.len() {
        0..5 => Onward::Continue(()),
        _ => Onward::Break(()),
    };
    let observed = drive(&mut Dead(Instant::ZERO), &mut load, &rules, &mut { stop }).expect("no faults");
    assert_eq!(observed.unserved, 3);
    assert_eq!(response(&observed).count, 3, "with their wait so far");
    near(Some(Span::from_nanos(response(&observed).max_ns)), Span::from_secs(15), 0.02);
}

/// 1,000 credits at 100 operations a second: they end within the second second, and the limit then holds the load.
#[test]
fn binding_stages_are_counted_by_slice() {
    let model = "limit(10, burst 1000) \"sustained\" then station(4, 8ms) \"media\"";
    let observed = offer(model, &[stream(Pace::Closed { depth: 4 })], 4, 60);
    let stages = parse(model).expect("a model").names();
    let from_start = observed.bound_by.shares(Instant::ZERO, &stages);
    assert_eq!(from_start[0].0, "media", "1,000 of 1,600 operations: {from_start:?}");
    let lasting = observed.bound_by.shares(Instant::ZERO + Span::from_secs(10), &stages);
    assert_eq!(lasting, [("sustained".to_owned(), 1.0)]);
    let operations: u64 = observed.series.iter().map(|slice| slice.tally.operations()).sum();
    assert_eq!(observed.bound_by.since(Instant::ZERO).iter().sum::<u64>(), operations);
}
