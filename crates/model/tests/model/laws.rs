//! The laws of models, applied to every kind of stage.

use std::collections::BTreeMap;

use plimsoll_model::{Chain, Change, Model, ModelAnswer, Rate, Stage, parse};
use plimsoll_units::{Instant, Iops, Kind, Op, Slot, Span};
use proptest::prelude::*;

/// Pieces whose ends coincide with arrivals: all its times are multiples of a microsecond.
const NESTED_PIECES: &str = "link(50us) then pieces(256KiB: pieces(96KiB: bank(4 of 64KiB, 100us)) then stripe(2, 64KiB: pieces(96KiB: link(9us))))";

/// Every kind of stage, and combinations in which operations overtake each other.
const MODELS: &[&str] = &[
    "limit(3000)",
    "limit(3000, burst 20)",
    "limit(100MB/s)",
    "station(1, 80us)",
    "station(8, 80us, exponential)",
    "station(4, 1ms, lognormal 2)",
    "link(25us, 1200MB/s)",
    "stall(2ms, 1ms) then link(1ns)",
    "limit(3000 per 16KiB)",
    "bank(6 of 8KiB, 300us, write 900us, 100MB/s, exponential)",
    "disk(1GiB, 7200rpm, seek 0.8ms to 8.5ms, 150MB/s to 75MB/s, queue 32 gain 0.2)",
    "pressure(3000, burst 10, delay 1ms) then link(1us)",
    "cold(rest 1s, extra 2ms, grain 64KiB, share 30%) then link(10us)",
    "buffer(1MB, drain 50MB/s, flush honoured) then link(10us)",
    "window(3: station(8, 1ms, exponential)) then link(1us)",
    "window(3: station(8, 1ms, exponential))",
    "window(2 on 3 paths: link(1us, 100MB/s on 3 paths) then station(8, 300us, exponential)) then link(1us)",
    "link(10us, 100MB/s, full duplex on 2 paths) then window(1 on 5 paths: stripe(2, 16KiB: station(1, 200us)))",
    "link(60us) \"path\" then station(3, 30us, exponential) then writeback(256KiB: station(2, 300us, exponential))",
    "link(200us, 1GB/s) then window(2: disk(1GiB, 7200rpm, seek 0.8ms to 8.5ms, 150MB/s to 75MB/s))",
    "split(read: station(2, 100us, exponential); write: limit(2000); flush: station(1, 2ms)) then link(1us)",
    "concat(512MiB, first: station(1, 300us); rest: window(2: link(90us, 100MB/s)) then limit(3000)) then link(1us)",
    "pieces(64KiB: limit(5000) then limit(50MB/s)) then station(4, 100us, exponential)",
    "station(2, 50us) then pieces(32KiB: window(2: link(20us, 100MB/s)))",
    NESTED_PIECES,
    "writeback(256KiB: pieces(64KiB: station(2, 100us, exponential)) then link(1us)) then pieces(96KiB: limit(2000))",
    "window(2 on 3 paths: pieces(256KiB: link(1us, 100MB/s on 3 paths))) then prefetch(256KiB of 64KiB: pieces(48KiB: link(9us)))",
    "cache(40%, hit: link(2us); miss: station(2, 90us, exponential)) then link(1us)",
    "clock(1MiB of 4KiB, hit: link(2us); miss: station(2, 90us, exponential)) then link(1us)",
    "writeback(2MiB: station(1, 200us, exponential)) then link(1us)",
    "writeback(256KiB, flush immediate: disk(1GiB, 7200rpm, seek 0.8ms to 8.5ms, 150MB/s to 75MB/s)) then link(1us)",
    "writeback(256KiB, halves 1ms, flush immediate: station(2, 300us, exponential)) then link(1us)",
    "writeback(96KiB, halves 400us, reads 20%: stripe(2, 16KiB: writeback(64KiB, halves 1ms: station(2, 300us)))) then link(1us)",
    "stripe(3, 16KiB: station(1, 200us, exponential) then link(10us))",
    "split-stripe(2, 64KiB: station(1, 200us, exponential))",
    "serial-stripe(2, 64KiB: bank(2, 150us)) then link(5us)",
    "raid10(4, 64KiB: disk(1GiB, 7200rpm, seek 0.8ms to 8.5ms, 150MB/s to 75MB/s))",
    "raid5(4, 64KiB: station(1, 300us, exponential))",
    "raid6(5, 16KiB: window(2: station(4, 300us, exponential)))",
    "mirror(2: writeback(1MiB: stripe(2, 8KiB: limit(5000))) then link(3us))",
    "writeback(1MiB: writeback(256KiB: station(2, 300us)) then link(1us)) then link(1us)",
    "station(8, 80us, exponential) then station(2, 20us, exponential)",
    "link(10us, 500MB/s, full duplex) then station(2, 100us)",
    "disk(1GiB, 7200rpm, seek 0.8ms to 8.5ms, 150MB/s to 75MB/s, idle 500us)",
    "link(100us) then disk(1GiB, 7200rpm, seek 0.8ms to 8.5ms, 150MB/s to 75MB/s) then link(1us)",
    "link(100us) then curve(1: 2000, 4: 6000, 16: 9000)",
    "stripe(3, 16KiB: curve(1: 2000, 4: 6000, 16: 9000)) then link(1us)",
    "link(10us) then prefetch(1MiB of 256KiB, streams 2: bank(4 of 64KiB, 300us, 200MB/s, exponential))",
    "link(1us) then prefetch(64KiB of 8KiB: raid5(4, 16KiB: prefetch(16KiB of 8KiB: station(1, 300us)) then link(1us)))",
    "writeback(256KiB, reads 40%: stripe(2, 16KiB: writeback(64KiB, reads 30%: station(2, 300us)))) then link(1us)",
    "limit(20000) then station(16, 200us, exponential) then link(25us, 500MB/s) then stall(10ms, 2ms)",
];

/// An action on a model; each step comes `gap_ns` after the previous step.
#[derive(Clone, Debug)]
enum Step {
    Submit { gap_ns: u64, offset: u64, length: u32, kind: Kind, path: Option<u8> },
    Drain { gap_ns: u64 },
    Change { gap_ns: u64, ops: u64 },
}

fn generate_steps() -> impl Strategy<Value = Vec<Step>> {
    let any = prop_oneof![Just(0), 1..500_u64, 1..300_000_u64];
    // Events coincide if all times are whole microseconds, as those of many models are.
    let whole_us = prop_oneof![Just(0), 1..10_u64, 1..300_u64].prop_map(|us| us * 1_000);
    prop_oneof![steps_after(any), steps_after(whole_us)]
}

fn steps_after(gap_ns: impl Strategy<Value = u64> + Clone) -> impl Strategy<Value = Vec<Step>> {
    let kind = prop_oneof![Just(Kind::Read), Just(Kind::Write), Just(Kind::DurableWrite), Just(Kind::Flush)];
    let place = prop_oneof![(0..256_u64, Just(4096)), (0..128_u64, Just(8192)), (0..8_u64, Just(1 << 20))];
    let path = prop_oneof![2 => Just(None), 3 => (0..7_u8).prop_map(Some)];
    let step = prop_oneof![
        8 => (gap_ns.clone(), place, kind, path).prop_map(|(gap_ns, (block, length), kind, path)| match kind {
            Kind::Flush => Step::Submit { gap_ns, offset: 0, length: 0, kind, path },
            _ => Step::Submit { gap_ns, offset: block * u64::from(length), length, kind, path },
        }),
        3 => gap_ns.clone().prop_map(|gap_ns| Step::Drain { gap_ns }),
        1 => (gap_ns, 100..50_000_u64).prop_map(|(gap_ns, ops)| Step::Change { gap_ns, ops }),
    ];
    prop::collection::vec(step, 1..200)
}

fn build_model(name: &str, seed: u64) -> Chain {
    Chain::new(&parse(name).expect("the models of this file can be read"), seed)
}

/// Result of a sequence of steps: submissions by slot, answers in the order of draining.
struct Story {
    submitted: BTreeMap<Slot, (Instant, Op)>,
    answers: Vec<ModelAnswer>,
}

/// Times at which a story drains its model.
#[derive(Clone, Copy, Debug)]
enum Drains {
    AtEnd,
    InTime,
    /// Ahead by this lead.
    Ahead(Span),
}

/// Executes steps. Slots are never reused.
fn play(model: &mut Chain, steps: &[Step], drains: Drains) -> Story {
    let mut story = Story { submitted: BTreeMap::new(), answers: Vec::new() };
    let mut now = Instant::ZERO;
    for step in steps {
        match *step {
            Step::Submit { gap_ns, offset, length, kind, path } => {
                now += Span::from_nanos(gap_ns);
                let slot = Slot(story.submitted.len() as u32);
                let op = Op { offset, length, kind, stream: 0 };
                model.submit_on(now, slot, &op, path);
                story.submitted.insert(slot, (now, op));
            }
            Step::Drain { gap_ns } => {
                now += Span::from_nanos(gap_ns);
                let lead = match drains {
                    Drains::AtEnd => None,
                    Drains::InTime => Some(Span::ZERO),
                    Drains::Ahead(lead) => Some(lead),
                };
                if let Some(lead) = lead {
                    let before = story.answers.len();
                    let announced = model.wake_ahead(lead);
                    model.drain_ahead(now, lead, &mut story.answers);
                    if let Some(first) = story.answers.get(before) {
                        assert!(announced.is_some_and(|at| at <= first.at), "law 6: {announced:?} but {first:?}");
                    }
                }
            }
            Step::Change { gap_ns, ops } => {
                now += Span::from_nanos(gap_ns);
                let rate = Rate::Operations(Iops::per_second(ops));
                // A model without this limit refuses the change and must stay unchanged.
                let _ = model.change(now, &Change::Rate { stage: Stage(0), rate });
            }
        }
    }
    let mut wakes = 0;
    while let Some(at) = model.wake_at() {
        now = now.max(at);
        model.drain(now, &mut story.answers);
        wakes += 1;
        assert!(wakes <= story.submitted.len() * 64 + 1, "law 6: wake_at never ends");
    }
    story
}

/// The answers of a story by time: answers determined later may precede answers that were drained ahead.
fn answers_by_time(name: &str, seed: u64, steps: &[Step], drains: Drains) -> Vec<ModelAnswer> {
    let mut answers = play(&mut build_model(name, seed), steps, drains).answers;
    answers.sort_by_key(|answer| (answer.at, answer.slot));
    answers
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn law_1_each_operation_is_answered_once(steps in generate_steps(), seed: u64) {
        for name in MODELS {
            let story = play(&mut build_model(name, seed), &steps, Drains::InTime);
            let mut answered: Vec<Slot> = story.answers.iter().map(|answer| answer.slot).collect();
            answered.sort_unstable();
            let submitted: Vec<Slot> = story.submitted.keys().copied().collect();
            prop_assert_eq!(answered, submitted, "{}", name);
        }
    }

    #[test]
    fn law_2_no_answer_before_its_submission_and_none_out_of_order(steps in generate_steps(), seed: u64) {
        for name in MODELS {
            let story = play(&mut build_model(name, seed), &steps, Drains::InTime);
            for answer in &story.answers {
                prop_assert!(answer.at >= story.submitted[&answer.slot].0, "{}: {:?}", name, answer);
            }
            prop_assert!(story.answers.is_sorted_by_key(|answer| answer.at), "{}", name);
        }
    }

    #[test]
    fn law_3_drain_times_change_no_answer(steps in generate_steps(), seed: u64) {
        for name in MODELS {
            let often = play(&mut build_model(name, seed), &steps, Drains::InTime);
            let late = play(&mut build_model(name, seed), &steps, Drains::AtEnd);
            prop_assert_eq!(often.answers, late.answers, "{}", name);
        }
    }

    #[test]
    fn law_8_answers_drained_ahead_are_unchanged(steps in generate_steps(), seed: u64, lead in 0..400_000_u64) {
        for name in MODELS {
            let in_time = answers_by_time(name, seed, &steps, Drains::InTime);
            let ahead = answers_by_time(name, seed, &steps, Drains::Ahead(Span::from_nanos(lead)));
            prop_assert_eq!(in_time, ahead, "{}", name);
        }
    }

    #[test]
    fn law_4_the_same_calls_give_the_same_answers(steps in generate_steps(), seed: u64) {
        for name in MODELS {
            let once = play(&mut build_model(name, seed), &steps, Drains::InTime);
            let again = play(&mut build_model(name, seed), &steps, Drains::InTime);
            prop_assert_eq!(once.answers, again.answers, "{}", name);
        }
    }

    #[test]
    fn law_5_no_window_exceeds_a_limit(steps in generate_steps(), burst in 1..50_u64, ops in 1..100_000_u64) {
        let steps: Vec<Step> = steps.into_iter().filter(|step| !matches!(step, Step::Change { .. })).collect();
        let rate = Iops::per_second(ops);
        let story = play(&mut build_model(&format!("limit({ops}, burst {burst})"), 0), &steps, Drains::InTime);
        for (first, opening) in story.answers.iter().enumerate() {
            for (count, closing) in story.answers[first..].iter().enumerate() {
                // `count + 1` operations in a closed window: all but the burst need their time; 2 ns for rounding.
                let needed = rate.time_of((count as u64 + 1).saturating_sub(burst));
                prop_assert!(closing.at.since(opening.at) + Span::from_nanos(2) >= needed, "{count} after {opening:?}");
            }
        }
    }

    #[test]
    fn law_7_a_refused_change_leaves_the_model_unchanged(steps in generate_steps(), seed: u64) {
        let unchanged: Vec<Step> = steps.iter().map(|step| match *step {
            Step::Change { gap_ns, .. } => Step::Drain { gap_ns },
            ref other => other.clone(),
        }).collect();
        for name in MODELS.iter().filter(|name| !name.starts_with("limit")) {
            let with = play(&mut build_model(name, seed), &steps, Drains::InTime);
            let without = play(&mut build_model(name, seed), &unchanged, Drains::InTime);
            prop_assert_eq!(with.answers, without.answers, "{}", name);
        }
    }
}

#[test]
fn a_limit_delivers_its_rate_exactly() {
    // A bucket of integers polled every 100 us would lose the fraction at 3,000 a second.
    let mut model = build_model("limit(3000)", 0);
    for slot in 0..9_000 {
        model.submit(Instant::ZERO, Slot(slot), &Op { offset: 0, length: 4096, kind: Kind::Read, stream: 0 });
    }
    let mut answers = Vec::new();
    model.drain(Instant::from_nanos(3_000_000_000), &mut answers);
    assert_eq!(answers.len(), 9_000);
    assert_eq!(answers[8_999].at, Instant::from_nanos(2_999_666_666));
}

/// As many operations as [`Chain::burst_left`] states pass at once, and the next one waits.
#[test]
fn burst_left_passes_without_delay() {
    let op = Op { offset: 0, length: 4096, kind: Kind::Read, stream: 0 };
    for (name, unit) in [("limit(3000, burst 20)", 1), ("limit(7MB/s, burst 80KiB)", 4096)] {
        for (spent, idle_us) in [(0, 0), (5, 0), (20, 1_000), (20, 2_500), (20, 1_000_000), (7, 333)] {
            let mut chain = build_model(name, 0);
            for slot in 0..spent {
                chain.submit(Instant::ZERO, Slot(slot), &op);
            }
            let mut answers = Vec::new();
            let now = Instant::ZERO + Span::from_micros(idle_us);
            chain.drain(now, &mut answers);
            let left = chain.burst_left(now, Stage(0)).expect("a limit") / unit;
            for slot in 0..=left as u32 {
                chain.submit(now, Slot(100 + slot), &op);
            }
            answers.clear();
            chain.drain(now, &mut answers);
            assert_eq!(answers.len() as u64, left, "{name} after {spent} and {idle_us} us");
        }
    }
    assert_eq!(build_model("station(1, 80us)", 0).burst_left(Instant::ZERO, Stage(0)), None);
}

#[test]
fn answers_of_the_last_stage_are_known_ahead() {
    let us = Span::from_micros;
    let lead = us(60);
    let path = "link(100us) then station(1, 399us) then writeback(1MiB: ) then link(1us)";
    for name in ["link(500us)", "limit(9000) then station(1, 500us)", "window(2: station(1, 500us))", path] {
        let mut model = build_model(name, 0);
        model.submit(Instant::ZERO, Slot(0), &Op { offset: 0, length: 4096, kind: Kind::Read, stream: 0 });
        let mut answers = Vec::new();
        while let Some(at) = model.wake_ahead(lead).filter(|at| *at <= Instant::ZERO + us(440)) {
            assert_eq!(answers, [], "{name}");
            model.drain_ahead(at, lead, &mut answers);
        }
        assert_eq!(answers[0].at, Instant::ZERO + us(500), "{name}");
        model.drain(Instant::NEVER, &mut answers);
        assert_eq!(answers.len(), 1, "{name}");
    }
}

/// Law 8 for a small read that arrives from the first link when the second piece of a large one joins the same queue.
/// Each time of draining ahead processes the end of the first piece before or after the small read is submitted.
#[test]
fn arrivals_come_behind_simultaneous_events_however_far_ahead_answers_are_drained() {
    let submit = |gap_us: u64, offset: u64, length: u32| Step::Submit {
        gap_ns: gap_us * 1_000,
        offset,
        length,
        kind: Kind::Read,
        path: None,
    };
    // Start of the second piece, and answers of the large and the small read, in microseconds.
    let cases = [("link(50us) then pieces(256KiB: station(1, 9us))", 59, 68, 77), (NESTED_PIECES, 368, 686, 577)];
    for (name, second_us, large_us, small_us) in cases {
        let small_at_us = second_us - 50;
        for drained_at_us in small_at_us - 8..=small_at_us {
            let drain = Step::Drain { gap_ns: drained_at_us * 1_000 };
            let story = [submit(0, 0, 1 << 19), drain, submit(small_at_us - drained_at_us, 1 << 18, 4096)];
            for drains in [Drains::AtEnd, Drains::InTime, Drains::Ahead(Span::from_micros(50))] {
                let mut answers = answers_by_time(name, 0, &story, drains);
                answers.sort_by_key(|answer| answer.slot);
                let answered_us: Vec<u64> = answers.iter().map(|answer| answer.at.as_nanos() / 1_000).collect();
                assert_eq!(answered_us, [large_us, small_us], "{name}, {drains:?} at {drained_at_us} us");
            }
        }
    }
}

#[test]
fn the_stage_that_held_an_operation_longest_binds() {
    let mut model = build_model("limit(1000) then station(1, 300us)", 0);
    for slot in 0..4 {
        model.submit(Instant::ZERO, Slot(slot), &Op { offset: 0, length: 4096, kind: Kind::Read, stream: 0 });
    }
    let mut answers = Vec::new();
    model.drain(Instant::NEVER, &mut answers);
    let bound: Vec<u8> = answers.iter().map(|answer| answer.bound_by.0).collect();
    assert_eq!(bound, [1, 0, 0, 0], "the first found no queue, the others waited for the limit");
}

/// Answers of reads at time 0, each on a path: time in microseconds, and the name of the stage that binds.
fn on_paths(text: &str, paths: &[Option<u8>], length: u32) -> Vec<(u64, String)> {
    let stages = parse(text).expect("the models of this file can be read").names();
    let mut model = build_model(text, 0);
    for (slot, path) in paths.iter().enumerate() {
        let op = Op { offset: 0, length, kind: Kind::Read, stream: 0 };
        model.submit_on(Instant::ZERO, Slot(slot as u32), &op, *path);
    }
    let mut answers = Vec::new();
    model.drain(Instant::NEVER, &mut answers);
    answers.sort_by_key(|answer| answer.slot);
    let named = |answer: &ModelAnswer| (answer.at.as_nanos() / 1_000, stages[usize::from(answer.bound_by.0)].clone());
    answers.iter().map(named).collect()
}

#[test]
fn each_path_has_a_window_of_its_own() {
    let text = "window(1 on 2 paths: station(8, 100us)) \"queue\"";
    let answer = |at: u64, name: &str| (at, name.to_owned());
    let same = on_paths(text, &[Some(1); 3], 4_096);
    let waits = [answer(100, "station(8, 100us)"), answer(200, "station(8, 100us)"), answer(300, "queue, path 2")];
    assert_eq!(same, waits, "one path does not use the window of the other");
    let chosen = on_paths(text, &[None; 6], 4_096);
    let times: Vec<u64> = chosen.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [100, 100, 200, 200, 300, 300], "operations without a path are spread");
    assert_eq!(chosen[5].1, "queue");
    let wrapped = on_paths(text, &[Some(3), Some(1), Some(5)], 4_096);
    assert_eq!(wrapped[2], answer(300, "queue, path 2"), "paths are counted from the first again");
}

#[test]
fn each_path_has_a_rate_of_its_own() {
    let text = "link(1us, 1MB/s on 2 paths) \"path\" then station(8, 10us)";
    let times = |paths: &[Option<u8>]| on_paths(text, paths, 1_000).iter().map(|(at, _)| *at).collect::<Vec<u64>>();
    assert_eq!(times(&[Some(0), Some(0), Some(1)]), [1_011, 2_011, 1_011]);
    assert_eq!(times(&[None, None, None]), [1_011, 1_011, 2_011]);
    assert_eq!(on_paths(text, &[Some(0), Some(0)], 1_000)[1].1, "path, path 1");
}
