//! Accounts of session time: of a single report, several reports, several instances, and after thinning.

use plimsoll_ingest::{Account, Class, Demand, InstanceResource, Reading, Resource, WaitCause};
use plimsoll_testkit::Workload;
use proptest::prelude::*;

fn workload(instance: &str, hour: i8, single_reads: u64) -> Workload {
    Workload {
        instance: instance.to_owned(),
        host: format!("host of {instance}"),
        begin: jiff::civil::date(2026, 3, 2).at(hour, 0, 4, 0),
        single_reads,
        read_us: 1_000,
        redo_us: 400,
        ..Workload::small_shop(hour)
    }
}

/// A report with further rows of foreground waits: event, count, seconds.
fn report(work: &Workload, waits: &[(&str, u64, u64)]) -> Reading {
    let mut rows = String::new();
    for (event, count, seconds) in waits {
        let blank = "<td></td>";
        rows += &format!("<tr><td>{event}</td><td>{count}</td>{blank}<td>{seconds}</td>{blank}{blank}{blank}</tr>");
    }
    let text = work.awr_html();
    let at = text.find("<td class='awrc'>db file sequential read").expect("it has that event");
    let at = text[..at].rfind("<tr>").expect("it is in a row");
    let text = format!("{}{rows}\n{}", &text[..at], &text[at..]);
    crate::read::reading(&text)
}

fn account(readings: &[Reading]) -> Account {
    let mut demand = Demand::of(&readings.iter().collect::<Vec<_>>());
    assert_eq!(demand.subjects.len(), 1);
    demand.subjects.remove(0).account.expect("the reports account for session time")
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= expected.abs() * 1e-9, "{found}, expected {expected}");
}

#[test]
fn a_report_yields_an_account_of_session_time() {
    let waits = [("log file sync", 100_000, 300), ("enq: TX - row lock contention", 5, 70), ("smon timer", 9, 3_000)];
    let found = account(&[report(&workload("shop1", 9, 3_600_000), &waits)]);
    near(found.total.database_s, 8_600.0);
    near(found.total.processor_s.unwrap(), 5_000.0);
    near(found.total.processors.unwrap(), 16.0);
    near(found.total.waited_s(|waited| waited == WaitCause::Storage(Class::RandomRead)), 3_600.0);
    near(found.total.waited_s(|waited| waited == WaitCause::Commit), 300.0);
    near(found.total.waited_s(|waited| waited == WaitCause::Lock), 70.0);
    near(found.total.operation_s(Class::RedoWrite).unwrap(), 400e-6);
    near(found.total.operation_s(Class::RandomRead).unwrap(), 1e-3);
    assert!(found.total.waits.iter().all(|wait| wait.cause != WaitCause::Idle));
    let sync = found.total.foreground().find(|wait| wait.cause == WaitCause::Commit).unwrap();
    assert_eq!((&*sync.place.input, &*sync.place.origin.field), ("test", "log file sync"));
    near(found.cache_bytes.unwrap(), 4_096.0 * 1_048_576.0);
    assert_eq!(found.caches.len(), 1);
    assert_eq!(found.caches[0].points, [(0.5, 2.0), (1.0, 1.0), (2.0, 0.5)]);
    near(found.caches[0].size_bytes, 4_096.0 * 1_048_576.0);
}

#[test]
fn windows_and_instances_add_up_once() {
    let readings = [
        report(&workload("shop1", 9, 3_600_000), &[("log file sync", 10, 4)]),
        report(&workload("shop2", 9, 7_200_000), &[("log file sync", 30, 8)]),
        report(&workload("shop1", 10, 1_800_000), &[]),
        // A repeated window is not counted again.
        report(&workload("shop1", 10, 1_800_000), &[]),
    ];
    let found = account(&readings);
    assert_eq!(found.slots.len(), 2);
    near(found.slots[0].as_ref().unwrap().database_s, 20_800.0);
    near(found.slots[0].as_ref().unwrap().processors.unwrap(), 32.0);
    near(found.slots[1].as_ref().unwrap().database_s, 6_800.0);
    near(found.total.database_s, 27_600.0);
    near(found.total.seconds, 7_200.0);
    near(found.total.processors.unwrap(), 32.0);
    near(found.cache_bytes.unwrap(), 4_096.0 * 1_048_576.0);
    let sync = found.total.foreground().find(|wait| wait.cause == WaitCause::Commit).unwrap();
    near(sync.mean_s().unwrap(), 0.3);
    assert_eq!(found.caches.len(), 2, "a cache of each instance");
}

proptest! {
    #[test]
    fn thinning_preserves_sums(waits in prop::collection::vec(
        (prop::sample::select(vec![
            "log file sync", "enq: TX - row lock contention", "enq: TM - contention", "latch free", "latch: a", "latch: b",
            "gc cr request", "SQL*Net more data to client", "SQL*Net message from client", "direct path read", "x", "y", "z",
            "library cache lock", "cursor: pin S", "row cache lock", "resmgr:cpu quantum", "free buffer waits", "u", "v", "w",
        ]), 1_u64..1_000, 1_u64..10_000), 0..25))
    {
        // A report names each event once.
        let mut waits = waits;
        waits.sort_unstable();
        waits.dedup_by_key(|wait| wait.0);
        let total = report(&workload("shop1", 9, 1_000), &waits);
        let mut thin = total.clone();
        thin.thin();
        prop_assert!(thin.waits.len() <= total.waits.len());
        let (total, thin) = (account(&[total]), account(&[thin]));
        let kinds = [WaitCause::Commit, WaitCause::Lock, WaitCause::Concurrency, WaitCause::Cluster, WaitCause::Network,
            WaitCause::Processor, WaitCause::Other, WaitCause::Storage(Class::SequentialRead), WaitCause::Behind(Class::DataWrite)];
        for kind in kinds {
            let seconds = |account: &Account| account.total.waited_s(|waited| waited == kind);
            prop_assert!((seconds(&total) - seconds(&thin)).abs() < 1e-6, "{kind:?}");
        }
    }
}

/// Resources of the only subject, each with its value and the field that states it.
fn resources(readings: &[Reading]) -> Vec<(String, Resource, f64, String)> {
    let mut demand = Demand::of(&readings.iter().collect::<Vec<_>>());
    assert_eq!(demand.subjects.len(), 1);
    let of = |one: InstanceResource| (one.instance, one.resource, one.value, one.place.origin.field.to_string());
    demand.subjects.remove(0).resources.into_iter().map(of).collect()
}

#[test]
fn memory_and_processors_in_use_are_those_of_the_highest_window() {
    const MIB: f64 = 1_048_576.0;
    let of_hour = |hour: i8, sga: &str, pga: [&str; 2]| {
        let rows = format!(
            "<table><tr><th> </th><th>Begin</th><th>End</th></tr>\
             <tr><td>Host Mem (MB):</td><td>483,328.0</td><td>483,328.0</td></tr>\
             <tr><td>SGA use (MB):</td><td>{sga}</td><td>{sga}</td></tr>\
             <tr><td>PGA use (MB):</td><td>{}</td><td>{}</td></tr></table>\n",
            pga[0], pga[1]
        );
        let text = workload("shop1", hour, 3_600_000).awr_html();
        let at = text.find("<h3").expect("it has sections");
        crate::read::reading(&format!("{}{rows}{}", &text[..at], &text[at..]))
    };
    let found = resources(&[of_hour(9, "24,576.0", ["300.5", "512.0"]), of_hour(10, "20,480.0", ["700.0", "600.0"])]);
    let value = |resource: Resource| {
        let mut own = found.iter().filter(|one| one.1 == resource);
        let one = own.next().unwrap_or_else(|| panic!("{resource:?} in {found:?}"));
        assert!(own.next().is_none(), "{found:?}");
        (one.2, one.3.as_str())
    };
    let (shared, field) = value(Resource::SharedMemory);
    near(shared, 24_576.0 * MIB);
    assert!(field.starts_with("SGA use (MB)"), "{field}");
    near(value(Resource::ProcessMemory).0, 700.0 * MIB);
    near(value(Resource::HostProcessors).0, 16.0);
    // 5,000 s of sessions on processors in an hour.
    let (processors, field) = value(Resource::Processors);
    assert!((processors - 5_000.0 / 3_600.0).abs() < 0.01 && field.starts_with("DB CPU"), "{processors}, {field}");
}

#[test]
fn limits_of_database_resources_replace_unknown_memory_in_use() {
    let limits = "<table><tr><th> </th><th>Begin</th><th>End</th></tr><tr><td>CPUs:</td><td>8</td><td>8</td></tr>\
                  <tr><td>SGA Target:</td><td>14,000,000,000</td><td>14,000,000,000</td></tr>\
                  <tr><td>PGA Target:</td><td>21,000,000,000</td><td>20,000,000,000</td></tr>\
                  <tr><td>Memory Target</td><td> </td><td> </td></tr></table>\n";
    let used = "<table><tr><th> </th><th>Begin</th><th>End</th></tr>\
                <tr><td>SGA use (MB):</td><td>1,000.0</td><td>1,000.0</td></tr></table>\n";
    let found = |tables: &str| {
        let text = workload("shop1", 9, 3_600_000).awr_html();
        let at = text.find("<h3").expect("it has sections");
        resources(&[crate::read::reading(&format!("{}{tables}{}", &text[..at], &text[at..]))])
    };
    let value = |found: &[(String, Resource, f64, String)], resource: Resource| {
        found.iter().find(|one| one.1 == resource).map(|one| one.2)
    };
    let limited = found(limits);
    assert_eq!(value(&limited, Resource::ProcessorLimit), Some(8.0));
    assert_eq!(value(&limited, Resource::SharedMemory), Some(14e9));
    assert_eq!(value(&limited, Resource::ProcessMemory), Some(21e9));
    let both = found(&format!("{limits}{used}"));
    assert_eq!(value(&both, Resource::SharedMemory), Some(1_000.0 * 1_048_576.0), "memory in use takes precedence");
}

#[test]
fn targets_stand_in_for_memory_in_use() {
    let advice = |size: &str, factor: &str, rows: &[(&str, &str)]| {
        let row = |(size, factor): &(&str, &str)| format!("<tr><td>{size}</td><td>{factor}</td></tr>");
        let rows = rows.iter().map(row).collect::<Vec<_>>().concat();
        format!("<table><tr><th>{size}</th><th>{factor}</th></tr>{rows}</table>\n")
    };
    let sga =
        advice("SGA Target Size (M)", "SGA Size Factor", &[("1,024", "0.50"), ("2,048", "1.00"), ("4,096", "2.00")]);
    let pga = advice("PGA Target Est (MB)", "Size Factr", &[("128", "0.50"), ("256", "1.00")]);
    let text = workload("shop1", 9, 3_600_000).awr_html();
    let at = text.find("<h3").expect("it has sections");
    let found = resources(&[crate::read::reading(&format!("{}{sga}{pga}{}", &text[..at], &text[at..]))]);
    for (resource, megabytes) in [(Resource::SharedMemory, 2_048.0), (Resource::ProcessMemory, 256.0)] {
        let one = found.iter().find(|one| one.1 == resource).unwrap_or_else(|| panic!("{resource:?} in {found:?}"));
        near(one.2, megabytes * 1_048_576.0);
    }
}
