//! A week of demand on volumes with fixed, autotuned or scheduled levels.

use std::collections::BTreeMap;

use jiff::civil::{DateTime, date};
use plimsoll_catalogue::{Catalogue, Date, PriceTerms};
use plimsoll_choose::hours::{LevelReplay, Levels, NoLevels, Rule, compare, demand_over_time};
use plimsoll_ingest::{Class, DatabaseDemand, Measure, MeasureSeries, Slot, Statistic};
use plimsoll_units::Span;

fn find_levels(config: &str) -> Result<Levels, NoLevels> {
    let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
    Levels::of(&Catalogue::built_in(), &config.parse().expect("a configuration"), &terms)
}

/// Reads of 8 KiB in minutes over seven days: `iops` by the hour of the day.
fn week(iops: impl Fn(u8) -> f64) -> DatabaseDemand {
    let begin = date(2026, 3, 2).at(0, 0, 0, 0);
    let minute = |n: i64| begin.checked_add(jiff::Span::new().minutes(n)).expect("a date");
    let slots: Vec<Slot> = (0..7 * 24 * 60).map(|n| Slot::of(Some(minute(n)), Span::from_secs(60))).collect();
    let rate = |slot: &Slot| iops(slot.begin.map_or(0, DateTime::hour).unsigned_abs());
    let series = |measure: Measure, each: f64| MeasureSeries {
        class: Class::Read,
        measure,
        statistic: Statistic::Mean,
        values: slots.iter().map(|slot| Some(rate(slot) * each)).collect(),
        sources: Vec::new(),
        distribution: None,
    };
    DatabaseDemand {
        name: "shop".to_owned(),
        instances: Vec::new(),
        loads: Vec::new(),
        series: vec![series(Measure::Iops, 1.0), series(Measure::Throughput, 8_192.0)],
        slots,
        totals: [None, None],
        account: None,
        oracle_release: None,
        platform: None,
        filtering: Vec::new(),
        resources: Vec::new(),
        host: None,
        works: Vec::new(),
        caps: Vec::new(),
        latencies: BTreeMap::new(),
        busy_periods: Vec::new(),
        multipaths: Vec::new(),
        uses_page_cache: false,
        is_cluster: false,
        doubts: Vec::new(),
    }
}

fn build_replays(config: &str, iops: impl Fn(u8) -> f64) -> Vec<LevelReplay> {
    let (levels, subject) = (find_levels(config).expect("levels"), week(iops));
    let max = levels.levels.last().map_or(0, |level| level.level);
    let policy = levels.follow_load().then(|| levels.policy(10, max));
    compare(&levels, &subject.slots, &demand_over_time(&subject), policy)
}

fn of<'a>(replays: &'a [LevelReplay], rule: &str) -> &'a LevelReplay {
    let name = |rule: &Rule| match rule {
        Rule::Fixed(level) => level.to_string(),
        Rule::Autotune(_) => "autotune".to_owned(),
        Rule::Daily(_) => "daily".to_owned(),
    };
    replays.iter().find(|replay| name(&replay.rule) == rule).unwrap_or_else(|| panic!("no {rule}"))
}

#[test]
fn eight_busy_hours_cost_less_with_changing_levels() {
    // 500 GB give 30,000 IOPS at 10 VPU, 60 per GB; busy hours need 20 VPU with 75 per GB.
    let replays = build_replays("oci:500GB@10vpu", |hour| if (9..17).contains(&hour) { 34_000.0 } else { 2_000.0 });
    let (low, enough) = (of(&replays, "10"), of(&replays, "20"));
    let (autotune, daily) = (of(&replays, "autotune"), of(&replays, "daily"));
    assert!(low.throttled > 0.3, "{low:?}");
    assert_eq!((enough.throttled, enough.changes), (0.0, 0));
    assert_eq!((daily.throttled, daily.changes), (0.0, 14));
    assert!(autotune.throttled > 0.0 && autotune.throttled < 0.01, "{:?}", autotune.throttled);
    let cost = |replay: &LevelReplay| replay.monthly.millionths;
    assert!(cost(low) < cost(daily) && cost(daily) < cost(enough));
    assert!(cost(low) < cost(autotune) && cost(autotune) < cost(of(&replays, "30")));
    assert!(autotune.mean < low.mean, "{} {}", autotune.mean, low.mean);
}

#[test]
fn operations_above_the_level_are_served_later() {
    // 60 IOPS per GB: 6,000. An hour of 12,000 makes its last operation wait for about an hour.
    let replays = build_replays("oci:100GB@10vpu", |hour| if hour == 5 { 12_000.0 } else { 100.0 });
    let low = of(&replays, "10");
    let wait = low.longest_wait.as_secs_f64();
    assert!((wait / 3_600.0 - 1.0).abs() < 0.05, "{wait} s");
    assert!(low.throttled > 2.0 / 24.0 * 0.95, "{}", low.throttled);
}

#[test]
fn a_higher_level_never_delays_more_and_never_costs_less() {
    let replays = build_replays("oci:200GB@0vpu", |hour| 900.0 * f64::from(hour));
    let fixed: Vec<&LevelReplay> = replays.iter().filter(|replay| matches!(replay.rule, Rule::Fixed(_))).collect();
    assert!(fixed.len() > 3);
    for pair in fixed.windows(2) {
        assert!(pair[1].throttled <= pair[0].throttled && pair[1].cost.millionths >= pair[0].cost.millionths);
    }
}

#[test]
fn products_without_levels_are_an_error() {
    let refused = find_levels("azure/premium-ssd:1TiB").err().or_else(|| find_levels("sakura/iodrive-duo-640").err());
    let message = refused.map(|why| why.to_string()).unwrap_or_default();
    assert!(message.contains("level") || message.contains("premium"), "{message}");
}
