//! Volumes under load in virtual time: shared limits, time dilation, and autotune.

use plimsoll_model::{Change, Rate, Stage, parse};
use plimsoll_units::{Instant, Iops, Span};
use plimsoll_volume::{
    AutotuneState, Export, FidelityVerdict, GroupId, IntervalLoad, Ladder, LevelModel, Limits, Policy, Serving, Totals,
};

use crate::serve::{READ, World};

const SECOND: Span = Span::from_secs(1);

/// Keeps the given number of reads in flight on each volume until `end`; returns the number of replies of each.
fn run(world: &mut World, mut now: Instant, end: Instant, depths: &[(Export, u32)]) -> Vec<u64> {
    let answers = |world: &World, export| world.volumes.totals(export).map_or(0, |totals| totals.ops[0]);
    let before: Vec<u64> = depths.iter().map(|(export, _)| answers(world, *export)).collect();
    while now < end {
        for (export, depth) in depths {
            while world.volumes.in_flight(*export) < *depth {
                world.accept(now, *export, &READ).unwrap();
            }
        }
        world.work(now);
        now = world.volumes.wake_at().map_or(end, |at| at.max(now).min(end));
        world.drain(now);
    }
    depths.iter().zip(before).map(|((export, _), before)| answers(world, *export) - before).collect()
}

fn serve(world: &mut World, model: &str, group: Option<GroupId>) -> Export {
    let volume = world.create();
    let model = parse(model).unwrap();
    let serving = Serving { volume, model, seed: 0, limits: Limits::default(), group };
    world.volumes.serve(Instant::ZERO, &serving).unwrap()
}

#[test]
fn volumes_of_a_group_share_its_limit() {
    let mut world = World::new(1);
    let group = world.volumes.group(&parse("limit(4000)").unwrap(), 0);
    let exports = [(); 3].map(|()| serve(&mut world, "limit(3000)", Some(group)));
    let alone = serve(&mut world, "limit(3000)", None);
    let one = run(&mut world, Instant::ZERO, Instant::ZERO + SECOND, &[(exports[0], 8)]);
    assert!((2_999..=3_001).contains(&one[0]), "alone it has its own limit: {one:?}");
    let begin = Instant::ZERO + SECOND;
    let depths = [(exports[0], 8), (exports[1], 8), (exports[2], 8), (alone, 8)];
    let all = run(&mut world, begin, begin + SECOND, &depths);
    let shared: u64 = all[..3].iter().sum();
    assert!((3_999..=4_001).contains(&shared), "{all:?}");
    assert!(all[..3].iter().all(|count| (1_300..1_370).contains(count)), "equal depths, equal shares: {all:?}");
    assert!((2_999..=3_001).contains(&all[3]), "{all:?}");

    let rate = Rate::Operations(Iops::per_second(1_500));
    let begin = begin + SECOND;
    world.volumes.change_group(begin, group, &Change::Rate { stage: Stage(0), rate }).unwrap();
    let all = run(&mut world, begin, begin + SECOND, &depths);
    let shared: u64 = all[..3].iter().sum();
    assert!((1_499..=1_525).contains(&shared), "two dozen were let through before: {all:?}");
}

#[test]
fn dilation_stretches_all_times() {
    let counts = |slow: u32| {
        let mut world = World::new(slow);
        let export = serve(&mut world, "limit(20000) then link(250us)", None);
        run(&mut world, Instant::ZERO, Instant::ZERO + SECOND * u64::from(slow), &[(export, 32)]);
        world.drain(Instant::ZERO + SECOND * u64::from(slow) * 2);
        let fidelity = world.volumes.fidelity(export).unwrap();
        let first = fidelity.periods().next().unwrap();
        assert_eq!(first.verdict, FidelityVerdict::Faithful);
        first.windows.iter().map(|window| window.achieved.ops).collect::<Vec<u64>>()
    };
    assert_eq!(counts(1), counts(10), "figures are in model time");
}

#[test]
fn level_follows_the_load() {
    let model = |level: u32| parse(&format!("limit({}) \"level\" then link(300us)", level * 50)).unwrap();
    let rungs = (1..=4).map(|step| LevelModel { level: step * 10, model: model(step * 10) });
    let ladder = Ladder::new(rungs.collect()).unwrap();
    let seconds = |seconds| Span::from_secs(seconds);
    let policy =
        Policy { up_after: seconds(3), down_first: seconds(20), down_next: seconds(5), ..Policy::between(10, 30) };

    let mut world = World::new(1);
    let export = serve(&mut world, &model(10).to_string(), None);
    let mut tune = AutotuneState::new(Instant::ZERO, policy, ladder, 10);
    let (mut now, mut before, mut story) = (Instant::ZERO, Totals::default(), Vec::new());
    for second in 0..60 {
        // Idle time starts with the replies of requests in flight.
        let depth = if second < 12 { 16 } else { 0 };
        let done = run(&mut world, now, now + SECOND, &[(export, depth)]);
        now += SECOND;
        let totals = world.volumes.totals(export).unwrap().clone();
        let observed = IntervalLoad::between(tune.ladder(), &before, &totals);
        before = totals;
        if let Some(level) = tune.observe(now, &observed) {
            world.volumes.remodel(now, export, tune.ladder().model(level).unwrap(), 0);
        }
        story.push((tune.level(), done[0]));
    }
    let levels: Vec<u32> = story.iter().map(|(level, _)| *level).collect();
    let changed: Vec<usize> = (1..60).filter(|at| levels[*at] != levels[at - 1]).collect();
    assert_eq!(changed, [2, 5, 32, 37], "up after 3 s twice, down after 20 s of rest and 5 s more: {levels:?}");
    assert_eq!((levels[2], levels[5], levels[32], levels[37]), (20, 30, 20, 10));
    assert!((995..=1_005).contains(&story[4].1) && (1_490..=1_505).contains(&story[8].1), "{story:?}");
}
