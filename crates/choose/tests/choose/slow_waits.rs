//! Verdicts about single waits that are slow for their medium: commits, events, log writes, large reads; and about time that is
//! in no counter.

use plimsoll_choose::diagnosis::{CensorCause, CountedEvent, Diagnosis, DiagnosisVerdict, TimePart};
use plimsoll_ingest::{Class, DatabaseDemand, EventTime, Measure, MeasureSeries, Slot, WaitCause};
use plimsoll_units::Span;

use crate::diagnosis::{build_account, build_subject, check, diagnose_busy, disk, ids, near, workload};

/// A report whose database time is shorter than the processor time within it.
#[test]
fn processors_in_use_are_those_of_the_processor_time() {
    let mut account = build_account(&[(0, 1_000.0, 5.0)], 1_187.0, 0.0);
    account.total.database_s = 618.0;
    account.total.processors = Some(12.0);
    let subject = DatabaseDemand { account: Some(account), ..disk(&[(300.0, 0.001)], 1.0) };
    let split = check(&subject).split.expect("a time");
    near(split.mean_sessions(split.share(TimePart::Processor)), 1_187.0 / 3_600.0, 1e-9);
    near(split.processors_busy().expect("processors"), 1_187.0 / 3_600.0 / 12.0, 1e-9);
}

/// Means of hundreds of milliseconds are a finding, although their share of the time is small.
#[test]
fn a_mean_far_beyond_its_medium_is_named_at_any_share() {
    let commits = |sync_s: f64, histogram: Vec<(f64, f64)>, has_writes: bool| {
        let mut account = build_account(&[(0, 1e6, 100.0), (3, 1_000.0, 1_000.0 * sync_s)], 1e5, 0.0);
        if !has_writes {
            account.total.waits.retain(|wait| wait.foreground);
        }
        for write in account.total.waits.iter_mut().filter(|wait| !wait.foreground) {
            write.histogram.clone_from(&histogram);
            (write.count, write.total_s) = (write.count * 9_000.0, write.total_s * 9_000.0);
        }
        check(&DatabaseDemand { account: Some(account), ..disk(&[(300.0, 0.001)], 1.0) }).verdicts
    };
    let find = |verdicts: &[DiagnosisVerdict]| {
        verdicts.iter().find_map(|verdict| match verdict {
            DiagnosisVerdict::CommitsElsewhere { sync_s, share, behind_write_s, .. } => {
                Some((*sync_s, *share, *behind_write_s))
            }
            _ => None,
        })
    };
    let Some((sync_s, share, None)) = find(&commits(0.446, Vec::new(), true)) else { panic!("commits of 446 ms") };
    near(sync_s, 0.446, 1e-9);
    assert!(share < 0.05, "{share}");
    assert_eq!(find(&commits(0.010, Vec::new(), true)), None, "a small share of commits as on a disk");
    // A fiftieth of the log writes takes half a second, and a write is always in progress: most commits arrive during a
    // long one.
    let stalls = vec![(0.001, 980.0), (0.256, 0.0), (0.512, 20.0), (f64::INFINITY, 0.0)];
    let Some((_, _, Some(behind_s))) = find(&commits(0.446, stalls, true)) else { panic!("log writes that stall") };
    let residual_s = (980.0 * 1e-6 + 20.0 * 0.512 * 0.512) / (980.0 * 1e-3 + 20.0 * 0.512) / 2.0;
    near(behind_s, 0.4e-3 + residual_s, 1e-9);
    let few = vec![(0.001, 9_990.0), (0.256, 0.0), (0.512, 1.0), (f64::INFINITY, 0.0)];
    assert!(matches!(find(&commits(0.446, few, true)), Some((_, _, None))), "stalls are too rare");
    let unknown = commits(0.446, Vec::new(), false);
    let is_event =
        |verdict: &DiagnosisVerdict| matches!(verdict, DiagnosisVerdict::SlowEvent { cause: WaitCause::Commit, .. });
    assert!(find(&unknown).is_none() && unknown.iter().any(is_event), "{unknown:?}");
}

#[test]
fn a_slow_event_of_a_fast_class_is_named() {
    let reads = |mean_s: f64| {
        let mut account = build_account(&[(0, 1e6, 1_000.0)], 1e5, 0.0);
        let blocks = EventTime {
            event: "cell list of blocks physical read".into(),
            cause: WaitCause::Storage(Class::RandomRead),
            foreground: true,
            count: 1_000.0,
            total_s: 1_000.0 * mean_s,
            ..account.total.waits[0].clone()
        };
        account.total.database_s += blocks.total_s;
        account.total.waits.push(blocks);
        let found = check(&DatabaseDemand { account: Some(account), ..disk(&[(300.0, 0.001)], 1.0) });
        found.verdicts.iter().any(|verdict| verdict.id() == "slow-event")
    };
    assert!(reads(0.038) && !reads(0.003));
}

/// The log writer's waits are the latency of log writes where nothing else has it.
#[test]
fn slow_writes_of_the_log_writer_are_named() {
    let of = |write_s: f64| {
        let mut account = build_account(&[(0, 1e6, 100.0)], 1e5, 0.0);
        for write in account.total.waits.iter_mut().filter(|wait| !wait.foreground) {
            write.total_s = write.count * write_s;
        }
        check(&DatabaseDemand { account: Some(account), ..disk(&[(300.0, 0.001)], 1.0) }).verdicts
    };
    let is_slow = |verdict: &DiagnosisVerdict| {
        matches!(verdict, DiagnosisVerdict::SlowClass { class: Class::RedoWrite, counted: CountedEvent::LogWrite, .. })
    };
    assert!(of(0.021).iter().any(is_slow) && !of(0.001).iter().any(is_slow));
}

/// Smart scans of Exadata: each wait is for several reads of a MiB.
#[test]
fn waits_for_large_reads_are_judged_by_their_transfer() {
    let of_size = |bytes: f64| {
        let (count, wait_s) = (100_000.0, 0.0127);
        let account = build_account(&[(1, count, count * wait_s)], 100.0, 0.0);
        let mut demand = DatabaseDemand { account: Some(account), ..disk(&[(300.0, 0.001)], 1.0) };
        let throughput = count * bytes / demand.slots[0].length.as_secs_f64();
        let series = MeasureSeries {
            class: Class::SequentialRead,
            measure: Measure::Throughput,
            values: vec![Some(throughput)],
            ..demand.series[0].clone()
        };
        demand.series.push(series);
        check(&demand).verdicts
    };
    let found = of_size(4.67e6);
    let is_transfer = |verdict: &&DiagnosisVerdict| matches!(verdict, DiagnosisVerdict::Transfer { .. });
    let Some(DiagnosisVerdict::Transfer { class, bytes, latency_s, .. }) = found.iter().find(is_transfer) else {
        panic!("{found:?}")
    };
    assert_eq!(*class, Class::SequentialRead);
    near(*bytes, 4.67e6, 1e-9);
    near(*latency_s, 0.0127, 1e-9);
    let is_slow = |verdict: &DiagnosisVerdict| {
        matches!(
            verdict,
            DiagnosisVerdict::SlowOrLoaded { class: Class::SequentialRead, .. }
                | DiagnosisVerdict::Slow { class: Class::SequentialRead, .. }
        )
    };
    assert!(!found.iter().any(is_slow), "{found:?}");
    // The same wait for a MiB, or for so many bytes that most were read without a wait, is slow.
    for bytes in [1_048_576.0, 1e9] {
        let found = of_size(bytes);
        assert!(found.iter().any(is_slow) && !found.iter().any(|one| is_transfer(&one)), "{bytes}: {found:?}");
    }
}

/// Sessions in a scan all the time: with idle processors the time in no counter is that of reads, too.
#[test]
fn scans_that_share_a_slow_volume_hide_the_demand() {
    let found = |active: f64, megabytes: f64, host_busy: f64| {
        let mut account = build_account(
            &[(1, 3_600.0 * 8_000.0, 0.32 * active * 3_600.0)],
            0.01 * active * 3_600.0,
            0.67 * active * 3_600.0,
        );
        (account.total.processors, account.total.host_busy) = (Some(96.0), Some(host_busy));
        let mut demand = DatabaseDemand { account: Some(account), ..disk(&[(300.0, 0.001)], 1.0) };
        demand.slots = vec![Slot::of(None, Span::from_secs(3_600))];
        for (measure, value) in [(Measure::Throughput, megabytes * 1e6), (Measure::Iops, 8_000.0)] {
            let values = vec![Some(value)];
            let series = MeasureSeries { class: Class::SequentialRead, measure, values, ..demand.series[0].clone() };
            demand.series.push(series);
        }
        check(&demand).censored
    };
    let censored = found(60.0, 525.0, 0.004).expect("8.8 MB/s for each session");
    let CensorCause::ClosedReads { active, share, latency_s, .. } = censored.cause else { panic!("{censored:?}") };
    near(active, 60.0, 1e-9);
    near(share, 0.99, 1e-9);
    near(latency_s, 0.99 * 60.0 / 8_000.0, 1e-9);
    assert_eq!(censored.up_to, None, "the input does not tell the rate of a faster volume");
    assert_eq!(found(60.0, 525.0, 0.6), None, "sessions may queue for processors");
    assert_eq!(found(60.0, 6_000.0, 0.004), None, "100 MB/s for each session");
}

/// As counted by PostgreSQL: the flush of the log counts for the session that performs it, and the waits of sessions
/// that commit with it appear in no counter. Nor does processor time.
fn group_commits(flushes: f64, each_s: f64, commits: f64, database_s: f64) -> Diagnosis {
    let mut database = build_subject(&workload(0, 100), &[]);
    let total = &mut database.account.as_mut().expect("an account").total;
    (total.database_s, total.processor_s, total.commits) = (database_s, None, Some(commits));
    total.waits.truncate(1);
    let flush = &mut total.waits[0];
    (flush.event, flush.cause, flush.foreground) = ("WALSync".into(), WaitCause::Storage(Class::RedoWrite), true);
    (flush.count, flush.total_s) = (flushes, flushes * each_s);
    check(&database)
}

#[test]
fn commits_flushed_by_another_session_also_wait_for_storage() {
    let found = group_commits(1_000.0, 0.05, 3_600.0, 300.0);
    let log = found.split.as_ref().map_or(0.0, |split| split.share(TimePart::LogWrite));
    near(log, 0.6, 1e-9);
    assert!(ids(&found).contains(&"storage"), "{:?}", ids(&found));
    // With nearly all time in no counter, storage cannot be ruled out.
    let found = group_commits(1_000.0, 0.001, 1_000.0, 100.0);
    assert!(ids(&found).contains(&"storage-at-least"), "{:?}", ids(&found));
    // Never more than the time in no counter.
    let found = group_commits(1_000.0, 0.05, 1e6, 100.0);
    near(found.split.as_ref().map_or(0.0, |split| split.share(TimePart::LogWrite)), 1.0, 1e-9);
}

#[test]
fn the_use_of_processors_is_known_without_figures_of_the_host() {
    let found = diagnose_busy(100.0, 9_900.0, 0.0, None);
    let DiagnosisVerdict::NotStorage { host_busy: Some(own), .. } = found.verdicts[0] else {
        panic!("{:?}", found.verdicts)
    };
    near(own, 0.99 * 10.0 / 8.0, 1e-9);
}
