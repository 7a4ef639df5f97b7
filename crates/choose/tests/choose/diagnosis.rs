//! Verdicts for databases with known time splits, for windows with known queues, and for real reports if available.

mod hosts;
mod processors;

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_catalogue::{Catalogue, Date, PriceTerms};
use plimsoll_choose::diagnosis::{
    CensorCause, Censored, CountedEvent, DiagnoseOptions, Diagnosis, DiagnosisVerdict, EffectRule, FLOOR_S,
    HistoryQuantity, Latencies, TimePart, diagnose, effect, without_storage,
};
use plimsoll_ingest::{
    Account, Cap, CapBasis, CapKind, CapLimit, CapOwner, Class, DatabaseDemand, Demand, EventTime, HostWaiting, Ingest,
    InputPosition, Measure, MeasureSeries, Origin, Outcome, PartWork, SessionTime, Slot, Statistic, TimeCounters,
    WaitCause, WindowCount,
};
use plimsoll_testkit::Workload;
use plimsoll_units::Span;
use proptest::prelude::*;

/// An hour on 16 processors, with `reads_s` seconds of reads of a millisecond each.
pub fn workload(processor_s: u64, reads_s: u64) -> Workload {
    Workload {
        single_reads: reads_s * 1_000,
        several_reads: 0,
        blocks_a_read: 16,
        data_writes: 72_000,
        read_us: 1_000,
        redo_us: 400,
        processor_s,
        ..Workload::small_shop(9)
    }
}

/// The subject of a report with additional foreground waits: event, count, seconds. They are added to its time.
pub fn build_subject(work: &Workload, waits: &[(&str, u64, u64)]) -> DatabaseDemand {
    let mut rows = String::new();
    for (event, count, seconds) in waits {
        let blank = "<td></td>";
        rows += &format!("<tr><td>{event}</td><td>{count}</td>{blank}<td>{seconds}</td>{blank}{blank}{blank}</tr>");
    }
    let text = work.awr_html();
    let at = text.find("<td class='awrc'>db file sequential read").expect("it has that event");
    let at = text[..at].rfind("<tr>").expect("it is in a row");
    let mut subjects = read_subjects(&format!("{}{rows}{}", &text[..at], &text[at..]));
    assert_eq!(subjects.len(), 1);
    let mut subject = subjects.remove(0);
    let more: u64 = waits.iter().map(|(_, _, seconds)| seconds).sum();
    if let Some(account) = &mut subject.account {
        account.total.database_s += more as f64;
    }
    subject
}

pub(super) fn read_subjects(text: &str) -> Vec<DatabaseDemand> {
    let mut ingest = Ingest::new("report.html");
    ingest.feed(text.as_bytes());
    let outcomes = ingest.finish();
    let readings: Vec<_> = outcomes.iter().filter_map(Outcome::reading).collect();
    Demand::of(&readings).subjects
}

pub(crate) fn check(subject: &DatabaseDemand) -> Diagnosis {
    let found = diagnose(subject, &DiagnoseOptions::default());
    if let Some(split) = &found.split {
        let sum: f64 = split.slices.iter().map(|slice| slice.share).sum();
        let parts_s: f64 = split.slices.iter().map(|slice| slice.seconds).sum();
        let expected = (parts_s / split.total_s).max(1.0);
        assert!((sum - expected).abs() < 1e-9 && expected <= 1.25, "{}: shares sum to {sum}", found.name);
        assert!(split.slices.iter().all(|slice| (0.0..=1.0 + 1e-9).contains(&slice.share)));
        let (ten, max) = (found.ten_times.as_ref().expect("a time"), found.at_most.as_ref().expect("a time"));
        assert!(ten.saved() <= max.saved() + 1e-12 && ten.saved() >= 0.0, "{}", found.name);
        assert!(max.saved() >= split.storage() - 1e-9 && max.saved() <= 1.0 + 1e-12, "{}", found.name);
    }
    assert!(!found.verdicts.is_empty(), "{}: no verdict", found.name);
    found
}

pub(crate) fn near(found: f64, expected: f64, share: f64) {
    assert!((found - expected).abs() <= expected.abs() * share, "{found}, expected {expected}");
}

pub fn ids(found: &Diagnosis) -> Vec<&'static str> {
    found.verdicts.iter().map(DiagnosisVerdict::id).collect()
}

#[test]
fn a_busy_processor_is_no_reason_to_buy_storage() {
    let found = check(&build_subject(&workload(8_500, 1_500), &[]));
    let Some(DiagnosisVerdict::StorageInPart { share, main: TimePart::Processor, main_share, .. }) =
        found.verdicts.first()
    else {
        panic!("{:?}", found.verdicts)
    };
    near(*share, 0.15, 1e-9);
    near(*main_share, 0.85, 1e-9);
    let found = check(&build_subject(&workload(8_600, 1_400), &[]));
    let Some(DiagnosisVerdict::NotStorage { share, at_most, main: TimePart::Processor, .. }) = found.verdicts.first()
    else {
        panic!("{:?}", found.verdicts)
    };
    near(*share, 0.14, 1e-9);
    near(*at_most, 0.14, 1e-9);
}

#[test]
fn storage_is_the_answer_from_half_of_the_time() {
    let found = check(&build_subject(&workload(5_800, 4_200), &[]));
    let Some(DiagnosisVerdict::StorageInPart { share, part, part_share, main, main_share, .. }) =
        found.verdicts.first()
    else {
        panic!("{:?}", found.verdicts)
    };
    near(*share, 0.42, 1e-9);
    near(*part_share, 0.42, 1e-9);
    near(*main_share, 0.58, 1e-9);
    assert_eq!((*part, *main), (TimePart::RandomRead, TimePart::Processor));
    // The largest part of the time, and less than half: the other parts are named, not storage again.
    let waits = [("enq: TX - row lock contention", 100, 3_000)];
    let found = check(&build_subject(&workload(2_900, 4_100), &waits));
    let Some(DiagnosisVerdict::StorageInPart { main: TimePart::Lock, .. }) = found.verdicts.first() else {
        panic!("{:?}", found.verdicts)
    };
    assert_eq!(ids(&check(&build_subject(&workload(4_900, 5_100), &[])))[0], "storage");
}

/// AWR divides by the database's time, too, although its parts are sampled separately and may exceed it.
#[test]
fn shares_are_of_the_time_of_sessions_unless_it_is_invalid() {
    let with_time = |database_s: f64| {
        let mut demand = build_subject(&workload(9_000, 1_500), &[]);
        demand.account.as_mut().expect("an account").total.database_s = database_s;
        check(&demand)
    };
    let split = |found: &Diagnosis| found.split.clone().expect("a time");
    let found = with_time(10_000.0);
    near(found.share(TimePart::RandomRead), 0.15, 1e-9);
    near(found.share(TimePart::Processor), 0.9, 1e-9);
    near(split(&found).parts_s.expect("they exceed it"), 10_500.0, 1e-9);
    // Processor time alone exceeds it, as in some reports of Statspack.
    let found = with_time(5_000.0);
    near(found.share(TimePart::Processor), 9_000.0 / 10_500.0, 1e-9);
    near(split(&found).total_s, 10_500.0, 1e-9);
}

/// Seconds of reads and of processors with which a time of 10,000 s is possible, or not.
#[test]
fn waits_that_exceed_the_time_of_sessions_give_no_answer() {
    for (processor_s, reads_s, is_possible) in [
        (1_000, 9_000, true),
        (9_000, 2_900, true),
        (1_000, 11_000, true),
        (20_000, 900, true),
        (1_000, 12_500, false),
        (6_000, 9_000, false),
        (1_000, 90_000, false),
        (20_000, 90_000, false),
    ] {
        let mut demand = build_subject(&workload(processor_s, reads_s), &[]);
        demand.account.as_mut().expect("an account").total.database_s = 10_000.0;
        let found = diagnose(&demand, &DiagnoseOptions::default());
        let first = found.verdicts.first().expect("a verdict");
        let is_contradiction = matches!(first, DiagnosisVerdict::WaitsExceedTime { .. });
        assert_eq!(is_contradiction, !is_possible, "{processor_s} and {reads_s}: {first:?}");
        let is_divided = found.split.is_some() && found.ten_times.is_some() && found.at_most.is_some();
        assert_eq!(is_divided, is_possible);
        if let DiagnosisVerdict::WaitsExceedTime { waited_s, database_s, .. } = *first {
            near(waited_s, reads_s as f64, 1e-9);
            near(database_s, 10_000.0, 1e-9);
            assert_eq!(ids(&found), ["waits-exceed-time"], "no other answer");
        }
    }
}

#[test]
fn uncounted_user_io_changes_like_the_reads_with_a_latency() {
    let mut found = build_account(&[(0, 1_000.0, 4.0), (5, 100.0, 1.0)], 10.0, 0.0);
    let rest = EventTime {
        event: "wait class User I/O".into(),
        cause: WaitCause::Storage(Class::Read),
        count: 0.0,
        total_s: 6.0,
        ..found.total.waits[0].clone()
    };
    found.total.waits.push(EventTime { foreground: true, ..rest });
    found.total.database_s += 6.0;
    let halved = Latencies([(Class::RandomRead, 0.002)].into());
    let change = effect(&found, &halved, &Latencies::default()).expect("a time");
    let rest = change.parts.iter().find(|part| part.class == Class::Read).expect("a part of its own");
    assert_eq!((rest.rule, rest.before_s, rest.after_s), (EffectRule::LikeReads, 6.0, 3.0));
    near(change.before_s - change.after_s, 5.0, 1e-9);
    // Without a read of known latency it is unchanged, and named so.
    let unscaled = effect(&found, &Latencies::default(), &Latencies::default()).expect("a time");
    assert!(unscaled.parts.is_empty() && unscaled.retained.contains(&(Class::Read, 6.0)), "{unscaled:?}");
    let demand = DatabaseDemand { account: Some(found), ..disk(&[(300.0, 0.001)], 1.0) };
    let split = check(&demand).split.expect("a time");
    near(split.share(TimePart::OtherUserIo), 6.0 / split.database_s, 1e-9);
    near(split.storage(), 10.0 / split.database_s, 1e-9);
}

#[test]
fn waits_are_not_counted_as_operations() {
    let mut demand = build_subject(&workload(2_000, 8_000), &[]);
    for wait in demand.account.as_mut().into_iter().flat_map(|account| account.slots.iter_mut().flatten()) {
        wait.waits.iter_mut().for_each(|wait| wait.count *= 0.005);
    }
    let found = check(&demand);
    let reads =
        found.waits.iter().find(|response| response.class == Class::RandomRead).expect("waits without a latency");
    assert_eq!(reads.counted, CountedEvent::SessionWait);
    assert!(found.responses.iter().all(|response| response.class != Class::RandomRead));
    let log = found.response(Class::RedoWrite);
    assert!(log.is_none_or(|log| log.counted == CountedEvent::LogWrite), "{log:?}");
}

/// On Exadata, smart scans read most blocks: waits for single blocks do not determine the latency of all reads.
#[test]
fn few_waits_are_no_latency_of_many_operations() {
    let is_known = |waits: f64| {
        let mut subject = build_subject(&workload(2_000, 8_000), &[]);
        for wait in subject.account.as_mut().into_iter().flat_map(|account| account.slots.iter_mut().flatten()) {
            wait.waits.iter_mut().for_each(|wait| wait.count *= waits);
        }
        let found = check(&subject);
        found.responses.iter().any(|response| response.class == Class::RandomRead)
    };
    assert!(is_known(1.0) && is_known(0.02));
    assert!(!is_known(0.005));
    // Where only all reads are counted, their number counts.
    let mut subject = build_subject(&workload(2_000, 8_000), &[]);
    subject.series.retain(|series| (series.class, series.measure) != (Class::RandomRead, Measure::Iops));
    assert!(subject.latency_s(Class::RandomRead, 0).is_some());
    for wait in subject.account.as_mut().into_iter().flat_map(|account| account.slots.iter_mut().flatten()) {
        wait.waits.iter_mut().for_each(|wait| wait.count *= 0.005);
    }
    assert_eq!(subject.latency_s(Class::RandomRead, 0), None);
}

#[test]
fn reads_are_saved_down_to_the_floor_and_by_memory() {
    let found = check(&build_subject(&workload(2_000, 8_000), &[]));
    let Some(DiagnosisVerdict::Storage { share, part: TimePart::RandomRead, saved, .. }) = found.verdicts.first()
    else {
        panic!("{:?}", found.verdicts)
    };
    near(*share, 0.8, 1e-9);
    near(*saved, 0.72, 1e-9);
    // 250 us: a tenth would be below the floor.
    let quick = Workload { read_us: 250, single_reads: 32_000_000, ..workload(2_000, 0) };
    let found = check(&build_subject(&quick, &[]));
    near(found.ten_times.as_ref().expect("a time").saved(), 0.8 * (1.0 - FLOOR_S / 250e-6), 1e-9);
    assert!(ids(&found).contains(&"many"), "{:?}", found.verdicts);
    let Some(DiagnosisVerdict::CacheHelps { factor, bytes, reads, saved }) =
        found.verdicts.iter().find(|verdict| verdict.id() == "cache-helps")
    else {
        panic!("{:?}", found.verdicts)
    };
    assert_eq!(ids(&found)[1], "cache-helps", "a larger cache precedes causes and limits");
    near(*factor, 2.0, 1e-9);
    near(*bytes, 8_192.0 * 1_048_576.0, 1e-9);
    near(*reads, 0.5, 1e-9);
    near(*saved, 0.4, 1e-9);
}

#[test]
fn a_trace_takes_precedence_over_estimates_of_the_database() {
    let gib = 1_073_741_824.0;
    let misses = [(gib, 0.5), (4.0 * gib, 0.2), (8.0 * gib, 0.05)];
    let options = DiagnoseOptions { misses: Some(&misses), ..DiagnoseOptions::default() };
    let found = diagnose(&build_subject(&workload(2_000, 8_000), &[]), &options);
    let twice = found.cache.iter().find(|step| step.factor > 1.9).expect("the trace covers this size");
    near(twice.reads, 0.25, 1e-9);
    near(twice.saved, 0.6, 1e-9);
}

#[test]
fn commits_are_separated_from_log_writes() {
    let found = check(&build_subject(&workload(7_000, 2_000), &[("log file sync", 100_000, 1_000)]));
    let Some(DiagnosisVerdict::CommitsElsewhere { sync_s, write_s, share, .. }) = found.verdicts.get(2) else {
        panic!("{:?}", found.verdicts)
    };
    near(*sync_s, 0.01, 1e-9);
    near(*write_s, 400e-6, 1e-9);
    near(*share, 0.096, 1e-9);
    let found = check(&build_subject(&workload(7_000, 2_000), &[("log file sync", 2_000_000, 1_000)]));
    let Some(DiagnosisVerdict::CommitsForLog { share, .. }) = found.verdicts.get(2) else {
        panic!("{:?}", found.verdicts)
    };
    near(*share, 0.08, 1e-9);
}

#[test]
fn other_large_waits_are_named() {
    let waits = [
        ("enq: TX - row lock contention", 10, 2_000),
        ("free buffer waits", 10, 700),
        ("SQL*Net message from client", 10, 90_000),
        ("an unknown event", 10, 50_000),
    ];
    let mut subject = build_subject(&workload(4_000, 1_000), &waits);
    // Idle waits are not part of the database's time.
    if let Some(account) = &mut subject.account {
        account.total.database_s = 7_700.0;
    }
    let found = check(&subject);
    near(found.share(TimePart::Lock), 2_000.0 / 7_700.0, 1e-9);
    assert_eq!(ids(&found)[1..4], ["cache-helps", "writers-behind", "elsewhere"], "{:?}", found.verdicts);
}

/// A resource plan limits the processors: the load is below the demand, which nothing but the plan determines.
#[test]
fn a_cap_of_processors_censors_the_demand() {
    let capped = |waits_s: u64| {
        let found = check(&build_subject(&workload(7_200, 0), &[("resmgr:cpu quantum", 1_000, waits_s)]));
        found.censored.map(|censored| (censored.id(), censored.up_to))
    };
    let Some((id, Some(up_to))) = capped(28_800) else { panic!("censored") };
    assert_eq!(id, "processor-cap");
    near(up_to, 5.0, 1e-6);
    assert_eq!(capped(3_600), None, "a third of the time");
}

/// Switches wait for checkpoints and archiving by the size of the log files: no storage shortens them.
#[test]
fn waits_for_log_switches_are_not_storage() {
    let waits = [
        ("log file switch (checkpoint incomplete)", 100, 1_500),
        ("log file switch (archiving needed)", 100, 400),
        ("log file switch completion", 100, 60),
        ("log file switch (private strand flush incomplete)", 100, 40),
    ];
    let mut subject = build_subject(&workload(7_000, 1_000), &waits);
    if let Some(account) = &mut subject.account {
        let counters = &mut account.total.counters;
        (counters.log_switches, counters.log_bytes) = (Some(200.0), Some(200.0 * 32e6));
    }
    let found = check(&subject);
    near(found.share(TimePart::LogSwitch), 0.2, 1e-9);
    assert!(ids(&found).contains(&"log-switches") && !ids(&found).contains(&"writers-behind"), "{:?}", found.verdicts);
    let at_most = found.at_most.as_ref().expect("a bound");
    near(at_most.saved(), 0.1, 1e-9);
    let is = |verdict: &&DiagnosisVerdict| matches!(verdict, DiagnosisVerdict::LogSwitches { .. });
    let Some(DiagnosisVerdict::LogSwitches { event, switches: Some(switches), .. }) = found.verdicts.iter().find(is)
    else {
        panic!("{:?}", found.verdicts)
    };
    assert_eq!(event.as_ref(), "log file switch (checkpoint incomplete)");
    near(switches.0, 200.0, 1e-9);
    near(switches.1, 32e6, 1e-9);
}

#[test]
fn each_class_that_is_slow_for_its_medium_is_named() {
    // Single-block reads of 41 ms are 3 % of the time, temp writes of 247 ms 1 %, scans are quick.
    let temp = [("direct path write temp", 405, 100), ("db file scattered read", 100_000, 100)];
    let few = Workload { single_reads: 7_300, read_us: 41_000, ..workload(9_000, 0) };
    let found = check(&build_subject(&few, &temp));
    let slow: Vec<(Class, f64, Option<f64>)> = found
        .verdicts
        .iter()
        .filter_map(|verdict| match verdict {
            DiagnosisVerdict::SlowClass { class, latency_s, share, .. } => Some((*class, *latency_s, *share)),
            _ => None,
        })
        .collect();
    assert_eq!(ids(&found)[0], "not-storage", "{:?}", found.verdicts);
    let [(first, read_s, read_share), (second, temp_s, temp_share)] = slow[..] else { panic!("{:?}", found.verdicts) };
    assert_eq!((first, second), (Class::RandomRead, Class::TempWrite));
    near(read_s, 0.041, 0.01);
    near(temp_s, 100.0 / 405.0, 0.01);
    assert!(read_share > temp_share && read_share < Some(0.05) && temp_share > Some(0.0), "{slow:?}");
}

#[test]
fn a_slow_log_explains_lock_waits() {
    let row_locks = [("enq: TX - row lock contention", 9_000, 4_000)];
    let slow = Workload { redo_us: 76_000, ..workload(2_000, 100) };
    let found = check(&build_subject(&slow, &row_locks));
    let Some(DiagnosisVerdict::LogBehindLocks { write_s, share, sustained, locks }) = found.verdicts.get(1) else {
        panic!("{:?}", found.verdicts)
    };
    near(*write_s, 0.076, 0.01);
    assert!(*share < 0.15 && sustained >= locks && *locks > 0.5, "{:?}", found.verdicts);
    // With a fast log the locks are the application's own.
    let found = check(&build_subject(&workload(2_000, 100), &row_locks));
    assert_eq!(found.verdicts[0].id(), "not-storage");
    assert_eq!(found.censored, None);
}

#[test]
fn a_lock_held_during_log_writes_hides_the_demand() {
    // An hour with a grant every 96.6 ms, of which a log write of 75.7 ms is 78 %: up to 4.6 times the rate without it.
    let grants = (3_600.0_f64 / 0.096_6).round() as u64;
    let slow = Workload { redo_us: 75_700, ..workload(2_000, 100) };
    let found = check(&build_subject(&slow, &[("enq: TX - row lock contention", grants, 3_560_000)]));
    let censored = found.censored.clone().expect("it is stalled");
    let CensorCause::LogBehindLocks { active, locks, write_s, grant_s } = censored.cause else {
        panic!("{censored:?}")
    };
    assert!(active > 980.0 && locks > 0.97, "{active} {locks}");
    near(write_s, 0.075_7, 0.01);
    near(grant_s.expect("the report counts waits"), 0.096_6, 0.001);
    near(censored.up_to.expect("it follows from the grants"), 4.62, 0.03);
    assert_eq!(found.verdicts[0].id(), "censored", "it is the first verdict");
    // More grants than log writes fit: several locks, whose number is unknown.
    let found = check(&build_subject(&slow, &[("enq: TX - row lock contention", 4 * grants, 3_560_000)]));
    let censored = found.censored.expect("it is stalled");
    assert_eq!((censored.up_to, censored.factor()), (None, Censored::ASSUMED));
}

#[test]
fn a_reached_limit_hides_the_demand() {
    let minute = |at: i32| if at % 2 == 0 { (300.0, 0.002) } else { (450.0 + 4.0 * f64::from(at), 0.008) };
    let mut subject = disk(&(0..40).map(minute).collect::<Vec<_>>(), 1.0);
    assert_eq!(check(&subject).censored, None, "rates alone do not show a limit here");
    let cap = |points: usize| Cap {
        part: "vol-01".to_owned(),
        metric: "VolumeIOPSExceededCheck".to_owned(),
        limit: CapLimit {
            provider: "EBS",
            owner: CapOwner::Volume,
            kind: CapKind::Operations,
            basis: CapBasis::Exceeded,
        },
        points,
        of: 40,
        each: Some(Span::from_secs(60)),
        time: None,
        slots: (0..40).filter(|at| at % 2 == 1).take(points).collect(),
    };
    subject.caps = vec![cap(20)];
    let censored = check(&subject).censored.expect("the limit is reached");
    let CensorCause::Metric { limits, .. } = &censored.cause else { panic!("{censored:?}") };
    assert_eq!(*limits, [cap(20)]);
    assert_eq!(censored.limit_owner(), Some(CapOwner::Volume));
    near(censored.up_to.expect("latencies are known"), 4.0, 0.01);
    // The limit that was reached longest binds; time counts more exactly than windows.
    let of_machine = |seconds: u64| Cap {
        limit: CapLimit { owner: CapOwner::Machine, ..cap(20).limit },
        time: Some([Span::from_secs(seconds), Span::from_secs(2_400)]),
        ..cap(20)
    };
    for (seconds, owner, count) in
        [(1_500, CapOwner::Machine, 2), (1_000, CapOwner::Volume, 2), (60, CapOwner::Volume, 1)]
    {
        subject.caps = vec![cap(20), of_machine(seconds)];
        let censored = check(&subject).censored.expect("limits are reached");
        assert_eq!(censored.limit_owner(), Some(owner));
        assert!(matches!(&censored.cause, CensorCause::Metric { limits, .. } if limits.len() == count), "{censored:?}");
    }
    // Stalls are no limit, and are named first.
    let stall = Cap { limit: CapLimit { basis: CapBasis::Stalled, ..cap(20).limit }, ..cap(3) };
    subject.caps = vec![stall.clone()];
    let found = check(&subject);
    assert_eq!((found.censored, found.verdicts.first()), (None, Some(&DiagnosisVerdict::ProviderStall(stall))));
    subject.caps = vec![cap(1)];
    assert_eq!(check(&subject).censored, None, "a single minute of 40");
    // Without the metric, most windows at a value show it.
    let sustained: Vec<(f64, f64)> =
        (0..40).map(|at| if at < 12 { (0.6 * wave(at), 0.001) } else { (506.0, 0.03) }).collect();
    let censored = check(&disk(&sustained, 1.0)).censored.expect("28 of 40 windows are pinned");
    assert!(matches!(censored.cause, CensorCause::Pinned { windows: [28, 40], .. }), "{censored:?}");
    assert_eq!(censored.up_to, Some(Censored::MAX), "30 times as long is beyond the next limit");
    let constant: Vec<(f64, f64)> = sustained.iter().map(|(rate, _)| (*rate, 0.001)).collect();
    assert_eq!(check(&disk(&constant, 1.0)).censored, None, "a constant load that waits no longer");
}

#[test]
fn a_constant_number_in_flight_at_varying_rates_hides_the_demand() {
    let closed = |at: i32| (8.0 / (0.004 + 0.001 * f64::from(at % 9)), 0.004 + 0.001 * f64::from(at % 9));
    let censored =
        check(&disk(&(0..90).map(closed).collect::<Vec<_>>(), 1.0)).censored.expect("8 are always in flight");
    let CensorCause::ClosedLoad { in_flight, latency_s } = censored.cause else { panic!("{censored:?}") };
    near(in_flight, 8.0, 0.001);
    near(censored.up_to.expect("the fastest windows are known"), latency_s[1] / 0.004, 0.001);
    let open: Vec<(f64, f64)> = (0..90).map(|at| (wave(at), 0.008)).collect();
    assert_eq!(check(&disk(&open, 1.0)).censored, None, "the number follows the rate");
}

#[test]
fn sessions_that_always_read_from_slow_storage_hide_the_demand() {
    let reads = |read_us| check(&build_subject(&Workload { read_us, ..workload(400, 1_000) }, &[]));
    let found = reads(12_000);
    let censored = found.censored.expect("nearly all of the time is reads of 12 ms");
    assert!(matches!(censored.cause, CensorCause::ClosedReads { .. }), "{censored:?}");
    let saved = found.ten_times.expect("a time").saved();
    near(censored.up_to.expect("it follows from the time"), 1.0 / (1.0 - saved), 0.001);
    assert_eq!(reads(1_000).censored, None, "fast reads");
}

#[test]
fn time_in_no_counter_is_a_queue_for_processors() {
    let mut subject = build_subject(&workload(4_000, 1_000), &[]);
    let account = subject.account.as_mut().expect("the report contains the time of sessions");
    account.total.database_s = 10_000.0;
    account.total.host_busy = Some(0.7);
    let found = check(&subject);
    assert!(
        found.verdicts.contains(&DiagnosisVerdict::ProcessorQueue {
            share: 0.5,
            busy: Some(0.7),
            queue_s: None,
            paged_bytes: None
        }),
        "{:?}",
        found.verdicts
    );
    let account = subject.account.as_mut().expect("the report contains the time of sessions");
    account.total.host_busy = Some(0.95);
    assert_eq!(ids(&check(&subject))[0], "processors-full");
}

#[test]
fn a_window_of_a_week_is_reported() {
    let found = check(&build_subject(&Workload { minutes: 10_080, ..workload(4_000, 1_000) }, &[]));
    assert_eq!(ids(&found).last(), Some(&"long-windows"));
}

/// Minutes of a disk: rate, and latency in seconds.
pub(crate) fn disk(minutes: &[(f64, f64)], depth: f64) -> DatabaseDemand {
    let series = |class, measure, value: &dyn Fn(&(f64, f64)) -> f64| MeasureSeries {
        class,
        measure,
        statistic: Statistic::Mean,
        values: minutes.iter().map(|minute| Some(value(minute))).collect(),
        sources: Vec::new(),
        distribution: None,
    };
    DatabaseDemand {
        name: "sda".to_owned(),
        instances: Vec::new(),
        loads: Vec::new(),
        slots: vec![Slot::of(None, Span::from_secs(60)); minutes.len()],
        series: vec![
            series(Class::All, Measure::Depth, &|(iops, latency_s)| iops * latency_s * depth),
            series(Class::Read, Measure::Iops, &|(iops, _)| *iops),
            series(Class::Read, Measure::Throughput, &|(iops, _)| iops * 8_192.0),
            series(Class::Read, Measure::Latency, &|(_, latency_s)| *latency_s),
        ],
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

fn wave(at: i32) -> f64 {
    300.0 + 250.0 * (f64::from(at) * 0.37).sin() + f64::from(at % 7) * 5.0
}

#[test]
fn a_slow_disk_is_distinguished_from_a_loaded_disk() {
    let slow: Vec<(f64, f64)> = (0..200).map(|at| (wave(at), 0.008 + 1e-5 * f64::from(at % 5))).collect();
    let found = check(&disk(&slow, 1.0));
    assert_eq!(ids(&found), ["untold", "slow"], "{:?}", found.verdicts);
    let loaded: Vec<(f64, f64)> = (0..200).map(|at| (wave(at), 0.001 / (1.0 - wave(at) / 620.0))).collect();
    let found = check(&disk(&loaded, 1.0));
    let Some(DiagnosisVerdict::AtItsLimit { knee_iops: Some(knee), quiet_s, loaded_s, .. }) = found.verdicts.get(1)
    else {
        panic!("{:?}", found.verdicts)
    };
    assert!((300.0..520.0).contains(knee) && loaded_s > &(3.0 * quiet_s), "{knee} {quiet_s} {loaded_s}");
    // A disk that is idle nearly all of the time is at no limit: its busiest windows have other operations.
    let mut idle = disk(&loaded, 1.0);
    let busy =
        MeasureSeries { measure: Measure::Busy, values: vec![Some(0.02); loaded.len()], ..idle.series[0].clone() };
    idle.series.push(busy.clone());
    let found = ids(&check(&idle));
    assert!(!found.contains(&"at-its-limit"), "{found:?}");
    idle.series.pop();
    idle.series.push(MeasureSeries { values: vec![Some(0.98); loaded.len()], ..busy });
    let found = ids(&check(&idle));
    assert!(found.contains(&"at-its-limit"), "{found:?}");
    // Operations of 4 MiB take 20 ms at the rate of slow storage.
    let mut large = disk(&loaded, 1.0);
    let sizes = loaded.iter().map(|(iops, _)| Some(if *iops > 480.0 { 4_194_304.0 } else { 8_192.0 } * iops)).collect();
    large.series[2].values = sizes;
    let found = ids(&check(&large));
    assert!(!found.contains(&"at-its-limit"), "{found:?}");
    let quick: Vec<(f64, f64)> = (0..200).map(|at| (wave(at), 0.000_3)).collect();
    assert_eq!(ids(&check(&disk(&quick, 1.0))), ["untold", "devices-free", "quick"]);
    let mut full = disk(&slow, 1.0);
    let busy = MeasureSeries { measure: Measure::Busy, values: vec![Some(0.9); slow.len()], ..full.series[0].clone() };
    full.series.push(busy);
    assert_eq!(ids(&check(&full)), ["untold", "slow-or-loaded"], "the disk may be saturated at any rate");
    let one = check(&disk(&[(300.0, 0.008)], 1.0));
    assert_eq!(ids(&one), ["untold", "slow-or-loaded"]);
    assert_eq!(ids(&check(&disk(&[(30.0, 0.008)], 1.0))), ["untold", "devices-free", "slow"]);
}

#[test]
fn pending_operations_at_a_zero_rate_are_a_stall() {
    let monitor = |reads: &str, pending: &str| {
        format!(
            "=====================================\n2026-03-02 09:00:20 0x7f01 INNODB MONITOR OUTPUT\n\
             =====================================\nPer second averages calculated from the last 20 seconds\n--------\nFILE I/O\n\
             --------\nPending normal aio reads: [{pending}, 0] , aio writes: [0, 0] ,\n\
             {reads} reads/s, 16384 avg bytes/read, 5.00 writes/s, 0.00 fsyncs/s\n----------------------------\n\
             END OF INNODB MONITOR OUTPUT\n============================\n"
        )
    };
    let of = |text: String| check(&read_subjects(&text)[0]);
    let found = of(monitor("0.00", "3"));
    let stalled = found.verdicts.iter().find(|verdict| verdict.id() == "stalled");
    let expected = DiagnosisVerdict::Stalled { class: Class::Read, pending: 3.0, windows: 1, of: 1 };
    assert_eq!(stalled, Some(&expected), "{:?}", found.verdicts);
    assert!(!ids(&of(monitor("7.00", "3"))).contains(&"stalled"));
    assert!(!ids(&of(monitor("0.00", "0"))).contains(&"stalled"));
}

#[test]
fn without_waits_there_is_no_bound() {
    let mut busy = build_subject(&workload(9_500, 500), &[]);
    let total = &mut busy.account.as_mut().expect("an account").total;
    total.waits.clear();
    total.processor_s = Some(0.93 * total.database_s);
    let found = check(&busy);
    let Some(DiagnosisVerdict::NoSessionTimes { on_processor: Some(share), .. }) = found.verdicts.first() else {
        panic!("{:?}", found.verdicts)
    };
    near(*share, 0.93, 1e-9);
}

#[test]
fn a_queue_inconsistent_with_its_rates_is_reported() {
    let slow: Vec<(f64, f64)> = (0..50).map(|at| (wave(at), 0.008)).collect();
    assert!(ids(&check(&disk(&slow, 2.0))).contains(&"unequal"));
}

#[test]
fn a_cap_shows_in_the_windows_and_in_the_catalogue() {
    let capped: Vec<(f64, f64)> = (0..300).map(|at| (wave(at).min(506.0), 0.002)).collect();
    let pinned = capped.iter().filter(|(iops, _)| *iops >= 506.0 * 0.97).count();
    let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: None, region: None };
    let catalogue = Catalogue::built_in();
    let offer = |config: &str| {
        catalogue.offer(&config.parse().expect("a configuration"), &terms).expect("a valid configuration")
    };
    let small = offer("azure/2014:1023GB");
    let found = diagnose(&disk(&capped, 1.0), &DiagnoseOptions { on: Some(&small), misses: None });
    let at = found.verdicts.iter().find(|verdict| verdict.id() == "at-ceiling");
    let Some(DiagnosisVerdict::AtCeiling { allows, demand, near: windows, windows: of, .. }) = at else {
        panic!("{:?}", found.verdicts)
    };
    near(*allows, 500.0, 1e-9);
    near(*demand, 506.0, 1e-9);
    assert_eq!((*of, *windows >= pinned), (300, true));
    let pin = found.verdicts.iter().find(|verdict| verdict.id() == "pinned");
    assert!(matches!(pin, Some(DiagnosisVerdict::Pinned { windows, of: 300, .. }) if *windows == pinned), "{pin:?}");
    let large = offer("oci:1000GB@20vpu");
    let found = diagnose(&disk(&capped, 1.0), &DiagnoseOptions { on: Some(&large), misses: None });
    assert!(ids(&found).contains(&"below-ceilings"), "{:?}", found.verdicts);
}

pub(crate) fn build_account(waits: &[(usize, f64, f64)], processor_s: f64, unsaid_s: f64) -> Account {
    const EVENTS: [&str; 9] = [
        "db file sequential read",
        "direct path read",
        "direct path read temp",
        "log file sync",
        "free buffer waits",
        "enq: TX - row lock contention",
        "latch free",
        "log buffer space",
        "unknown event",
    ];
    let place = || InputPosition { input: Arc::from("test"), origin: Origin::line(1) };
    let event = |event: &str, foreground, count, total_s| EventTime {
        event: Arc::from(event),
        cause: WaitCause::of(event),
        foreground,
        count,
        total_s,
        histogram: Vec::new(),
        place: place(),
    };
    let mut by_event: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (which, count, seconds) in waits {
        by_event.insert(EVENTS[which % EVENTS.len()], (*count, *seconds));
    }
    let mut events: Vec<EventTime> =
        by_event.iter().map(|(name, (count, seconds))| event(name, true, *count, *seconds)).collect();
    events.push(event("log file parallel write", false, 1_000.0, 0.4));
    let waited: f64 = by_event.values().map(|(_, seconds)| seconds).sum();
    let total = SessionTime {
        seconds: 3_600.0,
        database_s: waited + processor_s + unsaid_s,
        rounding_s: 0.0,
        processor_s: Some(processor_s),
        processors: None,
        host_busy: None,
        host: HostWaiting::default(),
        commits: None,
        counters: TimeCounters::default(),
        waits: events,
        place: place(),
    };
    Account { total, slots: Vec::new(), cache_bytes: None, memory_bytes: None, stored_bytes: None, caches: Vec::new() }
}

proptest! {
    #[test]
    fn shares_sum_to_one_and_effects_are_monotone(
        waits in prop::collection::vec((0_usize..9, 1.0..1e6_f64, 0.01..1e5_f64), 0..9),
        processor_s in 0.1..1e5_f64, unsaid_s in -10.0..1e5_f64,
        low in prop::collection::vec(1e-6..1e-1_f64, 4), more in prop::collection::vec(1.0..10.0_f64, 4),
    ) {
        let account = build_account(&waits, processor_s, unsaid_s);
        let subject = DatabaseDemand { account: Some(account.clone()), ..disk(&[(300.0, 0.001)], 1.0) };
        check(&subject);
        let classes = [Class::RandomRead, Class::SequentialRead, Class::TempRead, Class::RedoWrite];
        let latencies = |of: &dyn Fn(usize) -> f64| {
            Latencies(classes.iter().enumerate().map(|(index, class)| (*class, of(index))).collect())
        };
        let at = |latencies: &Latencies| {
            let effect = effect(&account, latencies, &Latencies::default()).expect("a time");
            let unchanged_s = effect.other_s() + effect.retained.iter().map(|(_, seconds)| seconds).sum::<f64>();
            near(effect.parts.iter().map(|part| part.after_s).sum::<f64>() + unchanged_s, effect.after_s, 1e-9);
            for part in effect.parts.iter().filter(|part| part.rule == EffectRule::Latency) {
                let [now, then] = part.latencies_s.expect("the latencies of the ratio");
                near(part.before_s * then / now, part.after_s, 1e-9);
            }
            effect.after_s
        };
        let (quick, slow) = (at(&latencies(&|index| low[index])), at(&latencies(&|index| low[index] * more[index])));
        prop_assert!(quick <= slow + 1e-9, "{quick} {slow}");
        let least = without_storage(&account).expect("a time").after_s;
        prop_assert!(least <= quick + 1e-6, "{least} {quick}");
        // The present latencies change nothing.
        let same = classes.iter().filter_map(|class| Some((*class, account.total.operation_s(*class)?))).collect();
        let same = effect(&account, &Latencies(same), &Latencies::default()).expect("a time");
        prop_assert!((same.after_s - same.before_s).abs() <= 1e-9 * same.before_s);
    }
}

/// Hours of a database: active sessions that wait for reads, and for a lock, by window.
fn hours(sessions: &[(f64, f64)]) -> Diagnosis {
    let begin = jiff::civil::date(2026, 3, 2).at(0, 0, 0, 0);
    let mut of_hour = build_account(&[(0, 1_000.0, 1.0), (5, 100.0, 1.0)], 1.0, 0.0);
    let slot = |hour: usize| {
        let hour = jiff::SignedDuration::from_hours(i64::try_from(hour).unwrap_or_default());
        Slot::of(begin.checked_add(hour).ok(), Span::from_secs(3_600))
    };
    let spent = |(reads, locks): &(f64, f64)| {
        let mut spent = of_hour.total.clone();
        for wait in &mut spent.waits {
            let of = if &*wait.event == "db file sequential read" { *reads } else { *locks };
            wait.total_s = if wait.foreground { of * 3_600.0 } else { 0.0 };
        }
        (spent.processor_s, spent.commits) = (Some(0.0), Some(reads * 3_600.0));
        spent.database_s = (reads + locks) * 3_600.0;
        spent
    };
    let slots: Vec<SessionTime> = sessions.iter().map(spent).collect();
    of_hour.total.database_s = slots.iter().map(|spent| spent.database_s).sum();
    of_hour.total.seconds = 3_600.0 * slots.len() as f64;
    for wait in of_hour.total.waits.iter_mut().filter(|wait| wait.foreground) {
        let of = |spent: &SessionTime| {
            spent.waits.iter().find(|other| other.event == wait.event).map_or(0.0, |of| of.total_s)
        };
        wait.total_s = slots.iter().map(of).sum();
    }
    of_hour.slots = slots.into_iter().map(Some).collect();
    let mut subject = disk(&vec![(300.0, 0.001); sessions.len()], 1.0);
    subject.slots = (0..sessions.len()).map(slot).collect();
    subject.account = Some(of_hour);
    check(&subject)
}

#[test]
fn an_unusual_hour_is_found() {
    let mut sessions: Vec<(f64, f64)> = (0..12).map(|hour| (1.0 + 0.1 * f64::from(hour % 4), 0.2)).collect();
    let found = hours(&sessions);
    assert!(!ids(&found).contains(&"unusual"), "{:?}", found.history);
    sessions[7].1 = 9.0;
    let found = hours(&sessions);
    let history = found.history.as_ref().expect("twelve windows");
    assert_eq!(history.windows.len(), 12);
    assert!(history.unusual.iter().all(|unusual| unusual.slot.begin.is_some_and(|begin| begin.hour() == 7)));
    assert!(ids(&found).contains(&"unusual"), "{:?}", ids(&found));
    assert_eq!(history.windows[7].main, TimePart::Lock);
}

/// A database with 10 active sessions: seconds in reads, on processors and in no counter, and the busy share of 8
/// processors.
pub fn diagnose_busy(reads_s: f64, processor_s: f64, unsaid_s: f64, host_busy: Option<f64>) -> Diagnosis {
    let mut account = build_account(&[(0, 1_000_000.0, reads_s)], processor_s, unsaid_s);
    account.total.seconds = account.total.database_s / 10.0;
    (account.total.processors, account.total.host_busy) = (Some(8.0), host_busy);
    let mut subject = disk(&[(300.0, 0.001)], 1.0);
    subject.account = Some(account);
    check(&subject)
}

#[test]
fn time_in_no_counter_beside_free_processors_may_be_storage() {
    let found = diagnose_busy(3_000.0, 500.0, 6_500.0, Some(0.05));
    assert!(
        matches!(found.verdicts[0], DiagnosisVerdict::StorageAtLeast { are_processors_free: true, .. }),
        "{:?}",
        found.verdicts
    );
    assert_eq!(ids(&diagnose_busy(3_000.0, 500.0, 6_500.0, Some(0.7)))[0], "storage-in-part");
}

#[test]
fn full_processors_precede_the_waits_that_they_lengthen() {
    let found = diagnose_busy(3_000.0, 3_000.0, 4_000.0, Some(0.95));
    assert_eq!(ids(&found)[..2], ["processors-full", "storage-in-part"], "{:?}", found.verdicts);
    assert_eq!(ids(&diagnose_busy(3_000.0, 7_000.0, 0.0, Some(0.95)))[0], "storage-in-part");
}

#[test]
fn idle_database_is_the_first_finding() {
    let mut account = build_account(&[(0, 1_000.0, 9.0)], 1.0, 0.0);
    account.total.seconds = 3_600.0;
    let mut subject = disk(&[(300.0, 0.001)], 1.0);
    subject.account = Some(account);
    assert_eq!(ids(&check(&subject))[..2], ["quiet", "storage"]);
}

#[test]
fn unusual_hours_are_ranked_and_few() {
    // Every tenth hour waits for locks, the later the longer; both the wait and the sessions are unusual.
    let of = |hour: u32| (1.0 + 0.1 * f64::from(hour % 4), if hour % 10 == 5 { 2.0 + f64::from(hour) } else { 0.2 });
    let found = hours(&(0..100).map(of).collect::<Vec<_>>());
    let unusual = &found.history.as_ref().expect("windows").unusual;
    let locks: Vec<f64> = unusual.iter().map(|unusual| unusual.value.floor()).collect();
    assert_eq!(unusual.len(), 5, "a twentieth of 100 windows: {unusual:?}");
    assert!(locks.is_sorted_by(|a, b| a > b) && locks[0] >= 97.0, "{locks:?}");
    // Small waits are unusual, and too small to matter beside 10 sessions.
    let small = |hour: u32| (10.0, if hour == 7 { 1.0 } else { 0.1 });
    let found = hours(&(0..24).map(small).collect::<Vec<_>>());
    assert!(!ids(&found).contains(&"unusual"), "{:?}", found.history);
}

#[test]
fn waits_that_follow_the_load_are_found() {
    let found = hours(&(0..12).map(|hour| (1.0 + f64::from(hour % 5), 0.5)).collect::<Vec<_>>());
    let of = |event: &str| {
        let waits = &found.history.as_ref().expect("twelve windows").with_load;
        waits.iter().find(|wait| &*wait.event == event).map(|wait| wait.correlation)
    };
    assert_eq!(of("db file sequential read"), Some(1.0));
    assert_eq!(of("enq: TX - row lock contention"), Some(0.0), "constants have no correlation");
}

#[test]
fn a_change_between_two_periods_has_its_cause() {
    let found = hours(&[(1.0, 0.1), (1.0, 4.0)]);
    let change = found.history.as_ref().and_then(|history| history.change.as_ref()).expect("two windows");
    assert_eq!(change.windows, [1, 1]);
    let main = change.main().expect("a wait grew");
    assert_eq!(main.quantity, HistoryQuantity::Waiting("enq: TX - row lock contention".into()));
    near(main.after - main.before, 3.9, 1e-9);
    assert!(ids(&found).contains(&"changed"), "{:?}", ids(&found));
    let same = hours(&[(1.0, 0.1), (1.0, 0.1)]);
    assert!(!ids(&same).contains(&"changed"));
}

/// A part of a subject's work: reads, writes and tallies of an hour.
#[test]
fn a_time_below_the_resolution_has_no_shares() {
    let with = |rounding_s: f64| {
        let mut idle = build_account(&[(0, 1_000.0, 9.0)], 1.0, 0.0);
        (idle.total.seconds, idle.total.rounding_s) = (3_600.0, rounding_s);
        check(&DatabaseDemand { account: Some(idle), ..disk(&[(300.0, 0.001)], 1.0) })
    };
    // 10 s of sessions in an hour, which are printed as 0.0 active sessions.
    let found = with(0.05 * 3_600.0);
    let DiagnosisVerdict::BelowResolution { active_max } = found.verdicts[0] else { panic!("{:?}", found.verdicts) };
    near(active_max, 190.0 / 3_600.0, 1e-9);
    assert!(found.split.is_none() && found.ten_times.is_none() && found.at_most.is_none() && found.cache.is_empty());
    assert!(!ids(&found).contains(&"storage"), "{:?}", ids(&found));
    assert_eq!(ids(&with(0.5))[..2], ["quiet", "storage"], "a twentieth is no obstacle");
}

fn work(part: &str, reads: f64, writes: f64, tallies: &[(&'static str, f64)]) -> PartWork {
    PartWork {
        part: part.to_owned(),
        seconds: 3_600.0,
        reads,
        bytes_read: reads * 8_192.0,
        read_s: 0.0,
        writes,
        bytes_written: writes * 8_192.0,
        tallies: tallies.iter().copied().collect(),
        place: InputPosition { input: Arc::from("test"), origin: Origin::line(1) },
    }
}

#[test]
fn the_origin_of_the_work_is_named() {
    let found = |works: Vec<PartWork>| {
        let found = check(&DatabaseDemand { works, ..disk(&[(300.0, 0.001)], 1.0) });
        ids(&found)
            .into_iter()
            .filter(|id| !matches!(*id, "untold" | "devices-free" | "quick" | "slow"))
            .collect::<Vec<_>>()
    };
    let checkpoints = |timed, requested| {
        vec![(WindowCount::CHECKPOINTS_TIMED, timed), (WindowCount::CHECKPOINTS_REQUESTED, requested)]
    };
    let total = |tallies: &[(&'static str, f64)]| work("", 1e6, 1e5, tallies);
    assert_eq!(found(vec![total(&checkpoints(1.0, 30.0))]), ["checkpoints-requested"]);
    assert_eq!(found(vec![total(&checkpoints(30.0, 2.0))]), [""; 0]);
    assert_eq!(found(vec![total(&[]), work("statement 7", 7e5, 10.0, &[])]), ["one-statement-reads"]);
    assert_eq!(found(vec![total(&[]), work("statement 7", 1e5, 10.0, &[])]), [""; 0]);
    assert_eq!(found(vec![total(&[(WindowCount::AUTOVACUUM, 3e5)])]), ["autovacuum"]);
    assert_eq!(found(vec![total(&[(WindowCount::SESSION_WRITES, 5e4)])]), ["sessions-write"]);
    assert_eq!(found(vec![total(&[]), work("/d/orders.ibd", 9e5, 5e4, &[])]), ["one-file"]);
    assert_eq!(found(vec![total(&[(WindowCount::FREE_PAGE_WAITS, 9e4)])]), ["buffer-waits"]);
    let statement =
        |name: &str, seconds| work(name, 0.0, 0.0, &[(WindowCount::CALLS, 10.0), (WindowCount::EXECUTION_S, seconds)]);
    let slow = vec![total(&[]), statement("statement a", 90.0), statement("statement b", 1.0)];
    assert_eq!(found(slow), ["slow-statement"]);
}
