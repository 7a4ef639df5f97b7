//! The laws of models, for groups with a shared model.

use plimsoll_model::{Stage, parse};
use plimsoll_units::Kind;
use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Submit {
        gap_ns: u64,
        volume: usize,
        block: u64,
        kind: Kind,
    },
    Drain {
        gap_ns: u64,
    },
    /// Replaces the model of a volume by an element of [`LATER`].
    Change {
        volume: usize,
        to: usize,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let gap_ns = prop_oneof![Just(0), 1..500_u64, 1..300_000_u64];
    let kind = prop_oneof![Just(Kind::Read), Just(Kind::Write), Just(Kind::Flush)];
    let step = prop_oneof![
        4 => (gap_ns.clone(), 0..3_usize, 0..256_u64, kind)
            .prop_map(|(gap_ns, volume, block, kind)| Step::Submit { gap_ns, volume, block, kind }),
        2 => gap_ns.prop_map(|gap_ns| Step::Drain { gap_ns }),
        1 => (0..3_usize, 0..LATER.len()).prop_map(|(volume, to)| Step::Change { volume, to }),
    ];
    prop::collection::vec(step, 1..150)
}

const OWN: [&str; 3] =
    ["link(1us)", "limit(20000, burst 3) then station(4, 80us, exponential)", "station(2, 150us, exponential)"];
/// Replacement models during operation.
const LATER: [&str; 4] = [
    "link(100us)",
    "limit(40000, burst 3) then station(4, 80us, exponential)",
    "limit(9000) then link(1ms)",
    "link(3us)",
];
const SHARED: &str = "limit(8000) then station(2, 20us, exponential)";

fn build_pace(models: &[&str], shared: Option<&str>) -> Pace {
    let mut pace = Pace::new();
    let group = shared.map(|shared| pace.add_group(&parse(shared).unwrap(), 9));
    for (index, model) in models.iter().enumerate() {
        let model = parse(model).unwrap();
        pace.set_volume(index, &model, index as u64, labels(&model), group);
    }
    pace
}

/// Labels stages by number.
fn labels(model: &ChainSpec) -> Vec<Label> {
    (0..model.names().len()).map(|number| Label(number as u16)).collect()
}

/// Runs the steps, each request with a new slot. Returns submission times and answers in order of slots.
fn play(pace: &mut Pace, steps: &[Step], drains: bool) -> Vec<(Instant, Passed)> {
    let (mut now, mut submitted, mut passed) = (Instant::ZERO, Vec::new(), Vec::new());
    let mut models: Vec<Option<usize>> = vec![None; pace.volumes.len()];
    for step in steps {
        match *step {
            Step::Change { volume, to } => {
                let volume = volume % pace.volumes.len();
                let (model, before) = (parse(LATER[to]).unwrap(), models[volume].replace(to));
                if before == Some(to) {
                    pace.change_rates(now, volume, &[], labels(&model));
                } else {
                    pace.change_model(now, volume, &model, to as u64, labels(&model));
                }
            }
            Step::Submit { gap_ns, volume, block, kind } => {
                now += Span::from_nanos(gap_ns);
                let length = if kind == Kind::Flush { 0 } else { 4_096 };
                let op = Op { offset: block * 4_096, length, kind, stream: 0 };
                pace.submit(now, volume % pace.volumes.len(), Slot(submitted.len() as u32), &op, None);
                submitted.push(now);
            }
            Step::Drain { gap_ns } => {
                now += Span::from_nanos(gap_ns);
                if drains {
                    let promised = pace.wake_at();
                    let before = passed.len();
                    pace.drain(now, &mut passed);
                    let first = passed[before..].iter().map(|passed| passed.at).min();
                    assert!(first.is_none_or(|first| promised.is_some_and(|at| at <= first)), "woken too late");
                }
            }
        }
    }
    while let Some(at) = pace.wake_at() {
        now = now.max(at);
        pace.drain(now, &mut passed);
    }
    passed.sort_by_key(|passed: &Passed| passed.slot);
    assert_eq!(passed.len(), submitted.len(), "each request is answered once");
    submitted.into_iter().zip(passed).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn drain_times_of_a_group_change_no_answer(steps in steps()) {
        let often = play(&mut build_pace(&OWN, Some(SHARED)), &steps, true);
        prop_assert_eq!(&often, &play(&mut build_pace(&OWN, Some(SHARED)), &steps, false));
        for (submitted, passed) in &often {
            prop_assert!(passed.at >= *submitted);
        }
    }

    #[test]
    fn drain_times_change_no_answer_across_model_changes(steps in steps()) {
        let often = play(&mut build_pace(&OWN, None), &steps, true);
        prop_assert_eq!(&often, &play(&mut build_pace(&OWN, None), &steps, false));
        for (submitted, passed) in &often {
            prop_assert!(passed.at >= *submitted);
        }
    }

    #[test]
    fn group_never_exceeds_its_shared_limit(steps in steps()) {
        let mut at: Vec<Instant> =
            play(&mut build_pace(&OWN, Some("limit(8000)")), &steps, true).iter().map(|(_, passed)| passed.at).collect();
        at.sort_unstable();
        for pair in at.windows(2) {
            prop_assert!(pair[1].since(pair[0]) >= Span::from_nanos(125_000));
        }
    }

    #[test]
    fn group_with_one_member_equals_chained_models(mut steps in steps()) {
        steps.retain(|step| !matches!(step, Step::Change { .. }));
        let apart = play(&mut build_pace(&["limit(20000, burst 3)"], Some("limit(8000) then link(25us)")), &steps, true);
        let chain = play(&mut build_pace(&["limit(20000, burst 3) then limit(8000) then link(25us)"], None), &steps, true);
        let moments = |story: &[(Instant, Passed)]| story.iter().map(|(_, passed)| passed.at).collect::<Vec<_>>();
        prop_assert_eq!(moments(&apart), moments(&chain));
    }
}

#[test]
fn binding_stage_is_named() {
    let op = Op { offset: 0, length: 4_096, kind: Kind::Read, stream: 0 };
    let mut pace = build_pace(&["link(10us)", "limit(100)"], Some("limit(1000)"));
    let mut passed = Vec::new();
    for slot in 0..3 {
        pace.submit(Instant::ZERO, 0, Slot(slot), &op, None);
        pace.submit(Instant::ZERO, 1, Slot(slot + 3), &op, None);
    }
    pace.drain(Instant::ZERO + Span::from_secs(1), &mut passed);
    let bound = |slot| passed.iter().find(|passed| passed.slot == Slot(slot)).map(|passed| passed.bound_by);
    assert_eq!(bound(2), Some(Bound::Group(Stage(0))));
    assert_eq!(bound(5), Some(Bound::Volume(Label(0))));
}

#[test]
fn requests_in_flight_keep_their_model() {
    let op = Op { offset: 0, length: 4_096, kind: Kind::Read, stream: 0 };
    let mut pace = build_pace(&["link(1ms)"], None);
    let quick = parse("link(10us)").unwrap();
    pace.submit(Instant::ZERO, 0, Slot(0), &op, None);
    let at = |us| Instant::ZERO + Span::from_micros(us);
    pace.change_model(at(500), 0, &quick, 0, vec![Label(7)]);
    pace.submit(at(500), 0, Slot(1), &op, None);
    assert_eq!(pace.wake_at(), Some(at(510)));
    let mut passed = Vec::new();
    pace.drain(at(2_000), &mut passed);
    let story: Vec<(u32, Instant, Bound)> =
        passed.iter().map(|passed| (passed.slot.0, passed.at, passed.bound_by)).collect();
    assert_eq!(story, [(1, at(510), Bound::Volume(Label(7))), (0, at(1_000), Bound::Volume(Label(0)))]);
    assert!(pace.volumes[0].earlier.is_empty() && pace.wake_at().is_none(), "the old model is dropped");
}
