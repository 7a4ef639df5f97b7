//! Autotune with constructed and random loads.

use plimsoll_model::parse;
use proptest::prelude::*;

use super::*;
use crate::life::LevelModel;

/// 75 IOPS per unit of level, as 1 GB of a product with 75 IOPS per VPU.
fn ladder() -> Ladder {
    let rung = |level: u32| LevelModel { level, model: parse(&format!("limit({}) \"level\"", level * 75)).unwrap() };
    Ladder::new((1..=12).map(|step| rung(step * 10)).collect()).unwrap()
}

/// A second of a load in operations per second, as observed at a level.
fn second(level: u32, rate: u64) -> IntervalLoad {
    let limit = u64::from(level) * 75;
    let answers = rate.min(limit);
    let throttled = if rate > limit { answers } else { 0 };
    IntervalLoad { answers, throttled, reads: answers, writes: 0, bytes: answers * 8_192 }
}

/// Levels after each second of a load.
fn play(load: impl IntoIterator<Item = u64>) -> Vec<u32> {
    let mut tune = AutotuneState::new(Instant::ZERO, Policy::between(10, 60), ladder(), 10);
    let levels = load.into_iter().enumerate().map(|(index, rate)| {
        let now = Instant::ZERO + Span::from_secs(index as u64 + 1);
        let (before, observed) = (tune.level(), second(tune.level(), rate));
        let changed = tune.observe(now, &observed).is_some();
        assert_eq!(changed, tune.level() != before);
        tune.level()
    });
    levels.collect()
}

#[test]
fn level_follows_the_load() {
    let load = [vec![3_000; 400], vec![500; 6_000]].concat();
    let levels = play(load);
    let changes: Vec<(usize, u32)> =
        (1..levels.len()).filter(|at| levels[*at] != levels[at - 1]).map(|at| (at + 1, levels[at])).collect();
    // Level 40 carries exactly 3,000 IOPS: three steps of 30 s. Then 3,600 s, and a step every 300 s.
    assert_eq!(changes, [(30, 20), (60, 30), (90, 40), (4_000, 30), (4_300, 20), (4_600, 10)]);
}

#[test]
fn loaded_volume_keeps_its_level() {
    let levels = play([vec![1_400; 60], vec![1_400; 20_000]].concat());
    assert_eq!(levels.last(), Some(&20), "1,400 IOPS are more than level 10 carries: no step down, and back up");
    assert!(levels[60..].iter().all(|level| *level == 20));
}

#[test]
fn short_pause_restarts_the_wait() {
    let load: Vec<u64> = (0..600).map(|second| if second % 29 == 28 { 0 } else { 9_000 }).collect();
    assert!(play(load).iter().all(|level| *level == 10), "never throttled for 30 s on end");
}

proptest! {
    #[test]
    fn levels_stay_within_the_policy_and_change_stepwise(
        load in prop::collection::vec((0..9_000_u64, 1..5_000_usize), 1..12),
    ) {
        let load: Vec<u64> = load.into_iter().flat_map(|(rate, seconds)| vec![rate; seconds]).collect();
        let levels = play(load.clone());
        let mut last_up = 0;
        for at in 1..levels.len() {
            prop_assert!((10..=60).contains(&levels[at]));
            prop_assert!(levels[at].abs_diff(levels[at - 1]) <= 10);
            if levels[at] > levels[at - 1] {
                prop_assert!(at - last_up >= 30 || last_up == 0);
                let limit = u64::from(levels[at - 1]) * 75;
                prop_assert!(load[at - 29..=at].iter().all(|rate| *rate > limit), "throttled for 30 s");
                last_up = at;
            }
        }
    }
}
