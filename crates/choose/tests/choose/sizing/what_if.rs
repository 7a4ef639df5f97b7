//! What-if analyses: levels, the cache, and growth.

use std::fmt::Write as _;
use std::sync::Arc;

use plimsoll_catalogue::{Catalogue, Config, Money};
use plimsoll_choose::hours::Rule;
use plimsoll_choose::sizing::{
    Burst, Cluster, Compute, Design, Growth, MachineShare, MemoryOrigin, ProcessorOrigin, Search, Sizing,
    derive_requirements, judge, size,
};
use plimsoll_choose::what_if::{
    CacheWhatIf, EstimateSource, HORIZON_MONTHS, MemoryFirst, Tuning, cache, growth, memory_first, replay_levels,
};
use plimsoll_ingest::{
    Account, CacheCurve, Class, DatabaseDemand, EventTime, HostLoad, HostWaiting, InputPosition, InstanceFiltering,
    InstanceResource, MissCurve, Origin, Resource, SessionTime, TimeCounters, WaitCause,
};
use plimsoll_units::{Bytes, Span};

use crate::sizing::support::{plain, subject, terms};

/// A day of reads of 8 KiB by the hour, with a third as many writes.
fn day(iops: impl Fn(u32) -> f64) -> DatabaseDemand {
    let mut lines = String::new();
    for hour in 0..24 {
        let reads = iops(hour);
        for (class, rate) in [("reads", reads), ("writes", reads / 3.0)] {
            writeln!(lines, "{hour:02}:00 3600 {class} iops mean {rate}").unwrap();
            writeln!(lines, "{hour:02}:00 3600 {class} bytes mean {}", rate * 8_192.0).unwrap();
        }
    }
    subject(&lines)
}

fn among(names: &[&str]) -> Search {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    Search { widest: 1, ..Search::among(&Catalogue::built_in(), &names).unwrap() }
}

fn sized(subject: &DatabaseDemand, design: &Design, search: &Search) -> Sizing {
    size(&Catalogue::built_in(), &derive_requirements(subject, design).unwrap(), &terms(), search)
}

#[test]
fn levels_of_a_choice_are_compared_within_the_tuning_range() {
    let subject = day(|hour| if (9..17).contains(&hour) { 5_000.0 } else { 20.0 });
    let sizing = sized(&subject, &plain(), &among(&["oci"]));
    let tuning = Tuning { default: Some(10), max: Some(20) };
    let found = replay_levels(&Catalogue::built_in(), &terms(), &sizing, &subject, tuning);
    let replays = &found.first().expect("a block volume has levels").replays;
    let policy = replays.iter().find_map(|replay| match &replay.rule {
        Rule::Autotune(policy) => Some((policy.default, policy.max)),
        _ => None,
    });
    assert_eq!(policy, Some((10, 20)));
    let daily = replays.iter().find(|replay| matches!(replay.rule, Rule::Daily(_))).expect("hours are known");
    let fixed = replays.iter().filter(|replay| matches!(replay.rule, Rule::Fixed(_)) && replay.throttled == 0.0);
    let enough = fixed.min_by_key(|replay| replay.monthly.millionths).expect("a level that suffices");
    assert!(daily.throttled == 0.0 && daily.monthly.millionths < enough.monthly.millionths, "{daily:?} {enough:?}");
}

#[test]
fn hours_without_a_demand_have_the_level_of_the_highest_known_one() {
    // Two hours of data, and none of the other 22: these are unknown, not idle.
    let line = |hour: u32, class: &str| {
        format!("{hour:02}:00 3600 {class} iops mean 2500\n{hour:02}:00 3600 {class} bytes mean 20480000\n")
    };
    let lines: String =
        [8, 9].into_iter().flat_map(|hour| ["reads", "writes"].map(|class| line(hour, class))).collect();
    let subject = subject(&lines);
    let sizing = sized(&subject, &plain(), &among(&["oci"]));
    let found = replay_levels(&Catalogue::built_in(), &terms(), &sizing, &subject, Tuning::default());
    let replays = &found.first().expect("a block volume has levels").replays;
    let (daily, plan) = replays
        .iter()
        .find_map(|replay| match &replay.rule {
            Rule::Daily(plan) => Some((replay, plan)),
            _ => None,
        })
        .expect("hours are known");
    assert_eq!(plan.covered, 2);
    assert!(plan.levels.iter().all(|level| *level == plan.levels[8]), "{plan:?}");
    let fixed =
        replays.iter().find(|replay| replay.rule == Rule::Fixed(plan.levels[8])).expect("a level of the ladder");
    assert_eq!((daily.monthly, daily.changes, daily.throttled), (fixed.monthly, 0, fixed.throttled));
}

#[test]
fn the_price_of_a_daily_plan_is_that_of_its_24_hours() {
    // A load from 8 to 20 with a peak at 9: the price is that of every hour of the plan, with and without a demand.
    let mut lines = String::new();
    for hour in 8..20 {
        let rate = if hour == 9 { 5_000 } else { 20 };
        for class in ["reads", "writes"] {
            writeln!(lines, "{hour:02}:00 3600 {class} iops mean {rate}").unwrap();
            writeln!(lines, "{hour:02}:00 3600 {class} bytes mean {}", rate * 8192).unwrap();
        }
    }
    let subject = subject(&lines);
    let sizing = sized(&subject, &plain(), &among(&["oci"]));
    let found = replay_levels(&Catalogue::built_in(), &terms(), &sizing, &subject, Tuning::default());
    let replays = &found.first().expect("a block volume has levels").replays;
    let daily = replays.iter().find(|replay| matches!(replay.rule, Rule::Daily(_))).expect("hours are known");
    let Rule::Daily(plan) = daily.rule else { unreachable!() };
    let monthly =
        |level: u32| replays.iter().find(|replay| replay.rule == Rule::Fixed(level)).expect("a level").monthly.as_f64();
    let mean = plan.levels.iter().map(|level| monthly(*level)).sum::<f64>() / 24.0;
    assert!((daily.monthly.as_f64() - mean).abs() < 1e-5, "{daily:?}");
    // From midnight to 8 and from 20 on, and at 9, the highest level: down at 8, up at 9, down at 10, up at 20.
    assert_eq!((plan.covered, daily.changes), (12, 4), "{plan:?}");
}

#[test]
fn products_without_levels_are_omitted() {
    let subject = day(|_| 500.0);
    let sizing = sized(&subject, &plain(), &among(&["gcp/pd-ssd"]));
    assert!(!sizing.choices.is_empty());
    assert!(replay_levels(&Catalogue::built_in(), &terms(), &sizing, &subject, Tuning::default()).is_empty());
}

fn place() -> InputPosition {
    InputPosition { input: "report".into(), origin: Origin::line(1) }
}

/// A cache of 8 GiB: half the size doubles the reads, twice the size leaves a quarter.
pub fn build_account() -> Account {
    let gib = f64::from(1_u32 << 30);
    let total = SessionTime {
        seconds: 3_600.0,
        database_s: 7_200.0,
        rounding_s: 0.0,
        processor_s: Some(1_000.0),
        processors: Some(8.0),
        host_busy: None,
        host: HostWaiting::default(),
        commits: None,
        counters: TimeCounters::default(),
        waits: Vec::new(),
        place: place(),
    };
    let curve = CacheCurve {
        instance: String::new(),
        pool: "D".to_owned(),
        size_bytes: 8.0 * gib,
        reads: 1e6,
        points: vec![(0.5, 2.0), (1.0, 1.0), (2.0, 0.25)],
        place: place(),
    };
    Account {
        total,
        slots: Vec::new(),
        cache_bytes: Some(8.0 * gib),
        memory_bytes: None,
        stored_bytes: None,
        caches: vec![curve],
    }
}

fn dollars(millionths: i128) -> Money {
    Money { millionths, currency: "USD".parse().unwrap() }
}

/// 12,000 operations per second on provisioned IOPS with a price each.
fn with_cache(account: Option<&Account>, misses: Option<&MissCurve>, price: Option<Money>) -> Option<CacheWhatIf> {
    let search = among(&["aws/gp3"]);
    let sizing = sized(&day(|_| 9_000.0), &plain(), &search);
    cache(&Catalogue::built_in(), &terms(), &search, &sizing, (account, misses, price))
}

#[test]
fn a_larger_cache_leaves_fewer_reads_and_smaller_storage() {
    let found = with_cache(Some(&build_account()), None, Some(dollars(100_000))).expect("an estimate");
    assert_eq!(found.by, EstimateSource::Database);
    let twice = found.sizes.last().unwrap();
    assert!((twice.more_bytes / f64::from(1_u32 << 30) - 8.0).abs() < 1e-9 && (twice.reads - 0.25).abs() < 1e-9);
    // A quarter of 9,000 reads, and 3,000 writes.
    assert!((twice.required.points[0].iops() - 5_250.0).abs() < 1e-6, "{}", twice.required.points[0].iops());
    assert_eq!(twice.memory, Some(dollars(800_000)));
    let storage = twice.choice.as_ref().and_then(|choice| choice.price.as_ref()).map(|price| price.monthly);
    assert_eq!(twice.sum, storage.and_then(|storage| storage.plus(dollars(800_000))));
    let prices: Vec<i128> = found.sizes.iter().map(|size| size.sum.unwrap().millionths).collect();
    assert!(found.better().is_some_and(|better| better.more_bytes >= twice.more_bytes), "{prices:?}");
}

#[test]
fn fewer_reads_through_a_larger_cache_save_database_time() {
    // Half of 7,200 s are reads of 1 ms, of which a quarter is left.
    let found = with_reads_of_time(0.5).expect("an estimate");
    let twice = found.sizes.last().unwrap();
    let (saved, half) = (twice.saved.expect("the time is known"), found.sizes.first().unwrap().saved);
    // Reads take another time on the first choice, so the share is not exactly 0.375.
    assert!((0.25..0.5).contains(&saved), "{saved}");
    assert!(half < Some(0.0), "half of the cache doubles the reads: {half:?}");
    assert!(twice.waiting < found.present_waiting && twice.waiting.is_some(), "{:?}", found.present_waiting);
    let faster = found.faster().expect("a notable saving");
    assert!(faster.more_bytes > 0.0 && faster.saved >= Some(0.8 * saved), "{:?}", faster.saved);
    assert!(with_reads_of_time(0.02).expect("an estimate").faster().is_none());
    assert!(with_cache(None, None, None).is_none());
}

/// The effect of other caches if reads are a share of the database's time.
fn with_reads_of_time(share: f64) -> Option<CacheWhatIf> {
    let search = among(&["aws/gp3"]);
    let of = |class: &str, rate: f64| {
        format!("08:00 3600 {class} iops mean {rate}\n08:00 3600 {class} bytes mean {}\n", rate * 8_192.0)
    };
    let account = reading(share);
    let lines = of("random-reads", 9_000.0) + &of("data-writes", 3_000.0);
    let subject = DatabaseDemand { account: Some(account.clone()), ..subject(&lines) };
    let sizing = sized(&subject, &Design { may_be_slower: true, ..plain() }, &search);
    cache(&Catalogue::built_in(), &terms(), &search, &sizing, (Some(&account), None, Some(dollars(1_000_000))))
}

#[test]
fn expensive_memory_is_not_better_and_unpriced_memory_has_no_sum() {
    let dear = with_cache(Some(&build_account()), None, Some(dollars(100_000_000))).expect("an estimate");
    assert!(dear.better().is_none());
    let unpriced = with_cache(Some(&build_account()), None, None).expect("an estimate");
    assert!(unpriced.better().is_none() && unpriced.sizes.iter().all(|size| size.sum.is_none()));
    assert!(with_cache(None, None, Some(dollars(1))).is_none());
}

#[test]
fn a_trace_determines_misses_by_share_of_its_working_set() {
    let bytes = 64e9;
    let misses = MissCurve {
        scope: 0,
        window: 0,
        reads: 1e6,
        working_set_bytes: bytes,
        sampled: 1.0,
        points: vec![(0.0, 1.0), (bytes / 2.0, 0.4), (bytes, 0.0)],
        origin: Origin::line(1),
    };
    let found = with_cache(None, Some(&misses), None).expect("a curve");
    let left: Vec<f64> = found.sizes.iter().map(|size| size.reads).collect();
    assert_eq!((found.by, left), (EstimateSource::Trace, vec![1.0, 1.0, 0.4, 0.0]));
    let writes_alone = found.sizes[3].required.points[0].iops();
    assert!((writes_alone - 3_000.0).abs() < 1e-6, "{writes_alone}");
}

/// Random reads per second that sessions wait for, and a third as many writes.
fn single_blocks(reads: f64) -> DatabaseDemand {
    let of = |class: &str, rate: f64| {
        format!("08:00 3600 {class} iops mean {rate}\n08:00 3600 {class} bytes mean {}\n", rate * 8_192.0)
    };
    subject(&(of("random-reads", reads) + &of("data-writes", reads / 3.0)))
}

/// The memory to buy for random reads, with a cache of 8 GiB.
fn find_memory(reads: f64, account: Option<&Account>) -> Option<MemoryFirst> {
    let search = among(&["aws"]);
    let mut sizing = sized(&single_blocks(reads), &plain(), &search);
    sizing.required.account = account.cloned().map(Arc::new);
    memory_first(&Catalogue::built_in(), &terms(), &search, &sizing, None)
}

/// The account with this share of its time in single-block reads of 1 ms.
pub fn reading(share: f64) -> Account {
    let mut account = build_account();
    let total_s = account.total.database_s * share;
    account.total.waits.push(EventTime {
        event: "db file sequential read".into(),
        cause: WaitCause::of("db file sequential read"),
        foreground: true,
        count: total_s / 0.001,
        total_s,
        histogram: Vec::new(),
        place: place(),
    });
    account
}

#[test]
fn memory_is_bought_if_it_saves_more_than_storage_for_the_money() {
    let found = find_memory(20_000.0, Some(&reading(0.5))).expect("8 GiB of memory are cheaper than IOPS");
    assert_eq!(found.by, EstimateSource::Database);
    let [before, after] = found.waiting;
    assert!(found.reads < 1.0 && after <= 0.75 * before && found.saved >= Some(0.05), "{found:?}");
    let has = |choice: &plimsoll_choose::sizing::Choice| {
        choice.machine.as_ref().and_then(|machine| machine.offer.machine_shape()?.memory).map(Bytes::get)
    };
    assert!(has(&found.choice) >= Some(found.more_bytes as u64));
    if let Some((_, price)) = &found.storage {
        assert!(found.total.millionths < price.millionths, "{found:?}");
    }
    assert!(find_memory(20_000.0, Some(&reading(0.01))).is_none(), "reads of 1 % of the time are not worth memory");
}

#[test]
fn memory_that_is_paid_already_is_used() {
    // Reads of a tenth of the database's time; twice the cache of 8 GiB leaves a quarter of them.
    let with_memory = |gib: u64| {
        let compute = Compute { processors: Some(8.0), memory: Some(Bytes::gib(gib)) };
        let search = among(&["aws"]);
        let mut sizing = sized(&single_blocks(400.0), &Design { compute, ..plain() }, &search);
        sizing.required.account = Some(Arc::new(reading(0.1)));
        let shape = sizing.choices[0].machine.as_ref().unwrap().offer.machine_shape().unwrap().memory.unwrap();
        (memory_first(&Catalogue::built_in(), &terms(), &search, &sizing, None), shape)
    };
    let (found, shape) = with_memory(17);
    assert_eq!(shape, Bytes::gib(32));
    let found = found.expect("10 GiB more fit");
    assert!(found.is_paid && found.total == found.present && (found.reads - 0.25).abs() < 1e-9, "{found:?}");
    let (found, _) = with_memory(31);
    assert!(found.is_none_or(|found| !found.is_paid), "8 GiB more do not fit");
}

#[test]
fn a_given_machine_has_no_room_for_a_larger_cache_than_its_memory() {
    let config: Config = "oci/block-volume:100GB on oci/VM.Standard.E3.Flex:ocpu=2,memory=32".parse().unwrap();
    let search = Search { machine: config.machine, ..among(&["oci"]) };
    let subject = DatabaseDemand {
        resources: vec![resource("", Resource::SharedMemory, 20.0 * f64::from(1 << 30))],
        ..single_blocks(400.0)
    };
    let mut required = derive_requirements(&subject, &plain()).unwrap();
    let share = MachineShare::of_all(1);
    required.platform.cluster =
        Some(Cluster { instances: Vec::new(), covered: 1, count: 2, waits: 0.1, share, ended: None });
    let mut sizing = size(&Catalogue::built_in(), &required, &terms(), &search);
    sizing.required.account = Some(Arc::new(reading(0.1)));
    let given = sizing.choices[0].machine.as_ref().and_then(|machine| machine.offer.machine_shape()?.memory);
    let found = memory_first(&Catalogue::built_in(), &terms(), &search, &sizing, None);
    let fits = found.as_ref().is_none_or(|found| 25.0 + found.more_bytes / f64::from(1 << 30) / 0.8 <= 32.0);
    assert!(given == Some(Bytes::gib(32)) && fits, "{given:?} {found:?}");
}

#[test]
fn a_cache_below_the_least_memory_of_a_machine_is_free() {
    // A machine with 16 GiB for its processors, of which the database uses a sixteenth.
    let subject = DatabaseDemand {
        resources: vec![resource("", Resource::SharedMemory, f64::from(1 << 30))],
        ..single_blocks(400.0)
    };
    let compute = Compute { processors: Some(8.0), memory: None };
    let search = among(&["aws"]);
    let mut sizing = sized(&subject, &Design { compute, ..plain() }, &search);
    assert_eq!(sizing.required.compute.memory, Some(Bytes::gib(8)), "the least");
    sizing.required.account = Some(Arc::new(reading(0.1)));
    let found = memory_first(&Catalogue::built_in(), &terms(), &search, &sizing, None).expect("8 GiB more fit");
    assert!(found.is_paid && found.total == found.present, "{found:?}");
}

#[test]
fn all_data_in_memory_is_evaluated_without_an_estimate() {
    // 100 GiB of data, and more sessions waiting than any volume removes.
    let found = find_memory(60_000.0, None).expect("a machine with 100 GiB more costs less than 60,000 IOPS");
    assert_eq!((found.by, found.reads), (EstimateSource::AllData, 0.0));
    assert!((found.more_bytes / f64::from(1_u32 << 30) - 100.0).abs() < 1e-6, "{}", found.more_bytes);
    assert!(find_memory(20.0, None).is_none(), "few reads are not worth memory");
}

#[test]
fn waits_for_uncounted_classes_are_compared_through_their_total() {
    // The input counts reads only; sessions wait for single-block reads of 10 ms.
    let mut half = reading(0.5);
    let waited_s = half.total.waits[0].total_s;
    half.total.waits[0].count = waited_s / 0.01;
    let subject = DatabaseDemand { account: Some(half), ..day(|_| 100.0) };
    let sizing = sized(&subject, &plain(), &among(&["aws/gp3"]));
    let choice = &sizing.choices[0];
    assert_eq!(choice.today(&sizing.required, Class::Read), Some(Span::from_millis(10)));
    let effect = choice.effect.as_ref().expect("reads are simulated");
    let [before_s, after_s] = choice.waits(effect, Class::Read).expect("sessions wait for reads");
    let then_s = choice.usual.iter().find(|one| one.class == Class::Read).unwrap().mean.as_secs_f64();
    assert!((before_s - waited_s).abs() < 1e-9 && (after_s - waited_s * then_s / 0.01).abs() < 1e-6, "{after_s}");
}

#[test]
fn processors_grow_unless_they_are_given() {
    let used = resource("", Resource::Processors, 10.0);
    let subject = DatabaseDemand { resources: vec![used], ..day(|_| 100.0) };
    let growth = Growth { yearly: 1.0, months: 12 };
    let design = Design { growth, ..Design::of(Bytes::gib(100)) };
    let processors = |design: &Design| derive_requirements(&subject, design).unwrap().compute.processors;
    // Ten in use, at 70 % utilisation.
    assert_eq!(processors(&Design { growth: Growth::default(), ..design.clone() }), Some(15.0));
    assert_eq!(processors(&design), Some(29.0));
    let given = Compute { processors: Some(8.0), memory: None };
    assert_eq!(processors(&Design { compute: given, ..design }), Some(8.0));
}

#[test]
fn given_peaks_need_processors_and_assumed_ones_are_stated() {
    let demand = |burst: Burst, more: Option<(Resource, f64)>| {
        let own = [(Resource::Processors, 4.0)].into_iter().chain(more);
        let resources = own.map(|(kind, value)| resource("", kind, value)).collect();
        let subject = DatabaseDemand { resources, ..subject("08:00 3600 reads iops mean 100") };
        derive_requirements(&subject, &Design { burst, ..plain() }).unwrap()
    };
    let processors = |burst: Burst, more| demand(burst, more).compute.processors;
    // Four in use, sixteen in peaks of four times the load, both at 70 % utilisation.
    assert_eq!(processors(Burst::None, None), Some(6.0));
    assert_eq!(processors(Burst::Times(4.0), None), Some(23.0));
    assert_eq!(processors(Burst::Times(1.2), None), Some(7.0), "the same utilisation as of the mean");
    // The present host has no more than twelve, and a minute in which nine ran is known.
    assert_eq!(processors(Burst::Times(4.0), Some((Resource::HostProcessors, 12.0))), Some(18.0));
    assert_eq!(processors(Burst::Times(4.0), Some((Resource::PeakProcessors, 9.0))), Some(13.0));
    // Ratios of other databases are of operations: processors stay, and the peak is stated.
    let assumed = demand(Burst::Auto, None);
    let peaks = assumed.compute_origin.peaks.expect("an hour hides peaks");
    assert_eq!(assumed.compute.processors, Some(6.0));
    assert!(!peaks.is_given && (peaks.processors - 4.0 * peaks.times).abs() < 1e-9 && peaks.times > 3.0, "{peaks:?}");
    assert_eq!(assumed.compute_origin.busy_hours, None, "an hour");
    // The mean of a day hides the hours of the processors as well as those of the operations.
    let day_long = InstanceResource { window: Span::from_secs(86_400), ..resource("", Resource::Processors, 4.0) };
    let subject = DatabaseDemand { resources: vec![day_long], ..subject("08:00 86400 reads iops mean 100") };
    let assumed = derive_requirements(&subject, &Design { burst: Burst::Auto, ..plain() }).unwrap();
    let hours = assumed.compute_origin.busy_hours.expect("a day hides its busy hours");
    assert!(!hours.is_given && (hours.times - 3.3).abs() < 1e-9, "{hours:?}");
    assert_eq!(assumed.compute.processors, Some((4.0_f64 * 3.3 / 0.7).ceil()));
    let peaks = assumed.compute_origin.peaks.expect("their minutes");
    assert!(!peaks.is_given && peaks.times > hours.times, "{peaks:?}");
    // Processors that were given have no peaks.
    let compute = Compute { processors: Some(8.0), memory: None };
    let subject = DatabaseDemand { resources: vec![resource("", Resource::Processors, 4.0)], ..day(|_| 100.0) };
    let given = derive_requirements(&subject, &Design { compute, burst: Burst::Times(4.0), ..plain() }).unwrap();
    assert_eq!((given.compute.processors, given.compute_origin.peaks), (Some(8.0), None));
}

/// Cells filter 1.4 GB/s: 7 processors at 200 MB/s, in addition to those of the database.
#[test]
fn scans_of_storage_cells_take_processors_of_the_machine() {
    let filtered = |processors: Option<f64>| InstanceFiltering {
        filtered: resource("1", Resource::FilteredBytes, 1.4e9),
        processors,
    };
    let with = |filtering: Vec<InstanceFiltering>, resources: Vec<InstanceResource>, compute: Compute| {
        let subject = DatabaseDemand { resources, filtering, ..subject("08:00 3600 reads iops mean 100") };
        derive_requirements(&subject, &Design { compute, ..plain() }).unwrap()
    };
    let of = |resources, compute| with(vec![filtered(None)], resources, compute);
    let found = of(vec![resource("1", Resource::Processors, 4.0)], Compute::default());
    assert_eq!(found.compute.processors, Some(16.0));
    let processors = found.compute_origin.scans.expect("scans").processors;
    assert!(
        processors.iter().zip([1.75, 7.0]).all(|(found, expected)| (found - expected).abs() < 1e-9),
        "{processors:?}"
    );
    // In another window than that with the most processors: 4 / 0.7, (0.5 + 7) / 0.7.
    let apart =
        |used| with(vec![filtered(Some(used))], vec![resource("1", Resource::Processors, 4.0)], Compute::default());
    assert_eq!(apart(0.5).compute.processors, Some(11.0));
    let small = InstanceFiltering { filtered: resource("1", Resource::FilteredBytes, 1e8), processors: Some(4.0) };
    let busiest =
        with(vec![filtered(Some(0.5)), small], vec![resource("1", Resource::Processors, 8.0)], Compute::default());
    assert_eq!(busiest.compute.processors, Some(12.0), "8 / 0.7 exceed (0.5 + 7) / 0.7");
    // A minute of the database's own processors does not contain them, and may need more.
    let minute = [resource("1", Resource::Processors, 4.0), resource("1", Resource::PeakProcessors, 14.0)];
    assert_eq!(of(minute.to_vec(), Compute::default()).compute.processors, Some(20.0));
    assert_eq!(of(Vec::new(), Compute::default()).compute.processors, Some(10.0), "the rest is unknown");
    let given = of(Vec::new(), Compute { processors: Some(8.0), memory: None });
    assert_eq!((given.compute.processors, given.compute_origin.scans), (Some(8.0), None));
}

/// A resource of an instance in a window of an hour.
pub fn resource(instance: &str, resource: Resource, value: f64) -> InstanceResource {
    InstanceResource { instance: instance.into(), resource, value, window: Span::from_secs(3600), place: place() }
}

#[test]
fn machines_are_sized_for_the_database_instead_of_its_host() {
    const GIB: f64 = (1 << 30) as f64;
    let needed = |resources: Vec<InstanceResource>| {
        let subject = DatabaseDemand { resources, ..day(|_| 100.0) };
        let required = derive_requirements(&subject, &Design::of(Bytes::gib(100))).unwrap();
        let memory = required.compute.memory.map(|memory| (memory.get() as f64 / GIB).round());
        ((required.compute.processors, memory), required.compute_origin)
    };
    let host = || [resource("", Resource::HostProcessors, 64.0), resource("", Resource::HostMemory, 472.0 * GIB)];
    let of = |own: &[(&str, Resource, f64)]| {
        let own = own.iter().map(|(instance, kind, value)| resource(instance, *kind, *value));
        needed(own.chain(host()).collect())
    };
    let (sga, pga) = ((Resource::SharedMemory, 24.0 * GIB), (Resource::ProcessMemory, 0.5 * GIB));
    // Of the memory at most 80 %, of the processors 70 %.
    let (one, origin) = of(&[("", sga.0, sga.1), ("", pga.0, pga.1), ("", Resource::Processors, 5.0)]);
    assert_eq!(one, (Some(8.0), Some(31.0)));
    assert!(matches!(origin.memory, Some(MemoryOrigin::Database { parts, .. }) if parts.len() == 2));
    // The instance with the most decides, not the sum.
    let processors = |instance| (instance, Resource::Processors, 5.0);
    let two = [("1", sga.0, sga.1), ("2", sga.0, sga.1), ("2", pga.0, pga.1), processors("1"), processors("2")];
    assert_eq!(of(&two).0, one);
    // The busiest minute has the same utilisation.
    assert_eq!(of(&[("", Resource::Processors, 5.0), ("", Resource::PeakProcessors, 12.0)]).0.0, Some(18.0));
    // Shared buffers leave room for the page cache.
    assert_eq!(of(&[("", Resource::SharedBuffers, 8.0 * GIB)]).0.1, Some(20.0));
    // A host that pages has less than the need.
    let load = HostLoad { busy: 0.3, io_wait: None, paged_bytes_s: Some([500e3, 600e3]), place: place() };
    let resources = [(Resource::SharedMemory, 8.0 * GIB), (Resource::HostMemory, 24.0 * GIB)];
    let resources = resources.map(|(kind, bytes)| resource("", kind, bytes)).to_vec();
    let paging = DatabaseDemand { resources, host: Some(load), ..day(|_| 100.0) };
    let required = derive_requirements(&paging, &Design::of(Bytes::gib(100))).unwrap();
    assert_eq!(required.compute.memory, Some(Bytes::gib(24)));
    // The host only where the database's figures are unknown.
    let (unknown, origin) = of(&[]);
    assert_eq!(unknown, (Some(64.0), Some(472.0)));
    assert!(matches!(origin.processors, Some(ProcessorOrigin::Host(_))), "{origin:?}");
    assert_eq!(needed(Vec::new()).0, (None, None));
}

#[test]
fn a_choice_is_outgrown_in_the_first_month_that_fails() {
    let (catalogue, search, subject) = (Catalogue::built_in(), among(&["aws/gp3"]), day(|_| 3_000.0));
    let design = Design { headroom: 0.3, growth: Growth { yearly: 0.5, months: 12 }, ..plain() };
    let sizing = sized(&subject, &design, &search);
    let found = growth(&catalogue, &terms(), &search, &sizing, (&subject, &design)).unwrap().expect("a choice");
    let (month, _) = found.ends.expect("it grows by a half every year");
    let suffices = |months: u32| {
        let later = Design { growth: Growth { yearly: 0.5, months }, ..design.clone() };
        judge(&catalogue, &found.offer.config, &derive_requirements(&subject, &later).unwrap(), &terms()).is_ok()
    };
    assert!((12..HORIZON_MONTHS).contains(&month), "{month}");
    assert!(suffices(month - 1) && !suffices(month), "{month}");
    let monthly = |later: &plimsoll_choose::what_if::Later| {
        later.choice.as_ref().and_then(|choice| choice.price.as_ref()).map(|price| price.monthly.millionths)
    };
    let prices: Vec<Option<i128>> = found.later.iter().map(monthly).collect();
    assert!(prices[0].is_some() && prices.is_sorted(), "{prices:?}");
}

#[test]
fn a_constant_load_is_not_outgrown() {
    let (catalogue, search, subject) = (Catalogue::built_in(), among(&["aws/gp3"]), day(|_| 3_000.0));
    let design = Design { growth: Growth { yearly: 0.0, months: 0 }, ..plain() };
    let sizing = sized(&subject, &design, &search);
    let found = growth(&catalogue, &terms(), &search, &sizing, (&subject, &design)).unwrap().expect("a choice");
    assert!(found.ends.is_none());
    let names: Vec<Arc<str>> =
        found.later.iter().flat_map(|later| &later.choice).map(|choice| choice.offer.title.clone()).collect();
    assert_eq!(names.len(), 3);
}
