//! Clusters and Exadata by the names of waits, and layouts of several volumes.

use std::sync::Arc;

use plimsoll_catalogue::{Catalogue, Config};
use plimsoll_choose::diagnosis::{CensorCause, Censored, Latencies, effect};
use plimsoll_choose::sizing::{
    ClassLatency, ClassObjective, Design, Platform, Search, ShareOrigin, SizingRequirements, VolumeContent,
    VolumeLayout, derive_requirements, layouts, size,
};
use plimsoll_ingest::{
    Account, Class, DatabaseDemand, EventTime, HostWaiting, InputPosition, InstanceFiltering, Origin, Resource,
    SessionTime, TimeCounters, TopReader, WaitCause,
};
use plimsoll_units::{Bytes, Span};

use super::support::{alternatives, database, plain, subject, terms};
use super::what_if::resource;

fn place() -> InputPosition {
    InputPosition { input: "report".into(), origin: Origin::line(1) }
}

/// A subject whose sessions waited for these events: name and seconds, which is also the count.
fn waiting(events: &[(&str, f64)]) -> DatabaseDemand {
    let waits = events.iter().map(|(event, seconds)| EventTime {
        event: (*event).into(),
        cause: WaitCause::of(event),
        foreground: true,
        count: *seconds,
        total_s: *seconds,
        histogram: Vec::new(),
        place: place(),
    });
    let total = SessionTime {
        seconds: 3600.0,
        database_s: 1000.0,
        rounding_s: 0.0,
        processor_s: None,
        processors: None,
        host_busy: None,
        host: HostWaiting::default(),
        commits: None,
        counters: TimeCounters::default(),
        waits: waits.collect(),
        place: place(),
    };
    let account = Account {
        total,
        slots: Vec::new(),
        cache_bytes: None,
        memory_bytes: None,
        caches: Vec::new(),
        stored_bytes: None,
    };
    DatabaseDemand { account: Some(account), ..subject("08:00 60 reads iops mean 100") }
}

#[test]
fn a_wait_for_the_global_cache_shows_a_cluster() {
    let cluster = Platform::of(&waiting(&[("gc cr block 2-way", 200.0), ("db file sequential read", 100.0)])).cluster;
    assert!((cluster.unwrap().waits - 0.2).abs() < 1e-9);
    assert_eq!(Platform::of(&waiting(&[("db file sequential read", 100.0)])), Platform::default());
}

#[test]
fn waits_for_cells_show_exadata() {
    let events = [
        ("cell smart table scan", 30.0),
        ("cell single block physical read", 10.0),
        ("cell single block physical read: flash cache", 60.0),
    ];
    let exadata = Platform::of(&waiting(&events)).exadata.unwrap();
    assert!((exadata.smart_scans - 0.3).abs() < 1e-9, "{exadata:?}");
    assert!((exadata.flash.unwrap() - 60.0 / 70.0).abs() < 1e-9, "{exadata:?}");
    let mut counted = waiting(&events[..2]);
    assert_eq!(Platform::of(&counted).exadata.unwrap().flash, None, "neither names nor a counter");
    let counters = &mut counted.account.as_mut().unwrap().total.counters;
    (counters.read_requests, counters.flash_reads) = (Some(1_000.0), Some(988.0));
    assert_eq!(Platform::of(&counted).exadata.unwrap().flash, Some(0.988));
}

#[test]
fn highest_rates_of_an_instance_divide_the_load_of_a_cluster() {
    let mut subject = waiting(&[("gc cr block 2-way", 200.0)]);
    subject.resources = vec![resource("", Resource::BusiestOperations, 0.6), resource("", Resource::BusiestBytes, 0.7)];
    let share = Platform::of(&subject).cluster.unwrap().share;
    assert_eq!((share.parts, share.origin), ([0.6, 0.7], ShareOrigin::Maxima));
}

/// A scan of 100 of 1,000 seconds becomes twice as fast; 80 GB of it are filtered by cells, which takes 100 to 400 seconds
/// of processors.
#[test]
fn filtering_by_cells_reduces_the_saved_time() {
    let mut subject = waiting(&[("cell smart table scan", 100.0)]);
    let mut range = |filtered_bytes: Option<f64>| {
        let account = subject.account.as_mut().unwrap();
        account.total.counters.filtered_bytes = filtered_bytes;
        let faster = Latencies([(Class::SequentialRead, 0.5)].into());
        let change = effect(account, &faster, &Latencies::default()).unwrap();
        assert!((change.saved() - 0.05).abs() < 1e-9, "{change:?}");
        change.saved_range()
    };
    let [low, high] = range(Some(80e9)).unwrap();
    assert!((low + 0.35).abs() < 1e-9 && (high + 0.05).abs() < 1e-9, "{low} {high}");
    assert_eq!(range(None), None, "smart scans without a counter of their bytes");
    let [low, high] = range(Some(0.0)).unwrap();
    assert!((low - 0.05).abs() < 1e-9 && (high - 0.05).abs() < 1e-9, "{low} {high}");
}

/// An hour of a scan by a statement, and eleven usual ones.
#[test]
fn the_statement_of_the_deciding_windows_is_named() {
    let usual = |hour: usize| {
        format!("{hour:02}:00 3600 random-reads iops mean 100\n {hour:02}:00 3600 random-reads bytes mean 819200\n")
    };
    let scan = "11:00 3600 sequential-reads iops mean 1000\n 11:00 3600 sequential-reads bytes mean 1000000000\n";
    let lines: String = (0..12).map(usual).collect();
    let mut subject = subject(&(lines + scan));
    let mut account = waiting(&[("cell smart table scan", 100.0)]).account.unwrap();
    let spent = |filtered_s: f64, bytes: f64| {
        let reader = TopReader { statement: "a1b2".into(), module: "SQL*Plus".into(), bytes };
        let filtered_bytes = Some(filtered_s * 3_600.0);
        let counters = TimeCounters { filtered_bytes, top_reader: Some(reader.into()), ..TimeCounters::default() };
        Some(SessionTime { counters, ..account.total.clone() })
    };
    account.slots = (0..12).map(|hour| if hour == 11 { spent(900e6, 2.7e12) } else { spent(2e6, 1e9) }).collect();
    subject.account = Some(account);
    subject.resources = vec![resource("", Resource::Processors, 1.0)];
    subject.filtering =
        vec![InstanceFiltering { filtered: resource("", Resource::FilteredBytes, 900e6), processors: Some(1.0) }];
    let (catalogue, design) = (Catalogue::built_in(), Design { quantile: None, ..plain() });
    let search = Search::among(&catalogue, &["aws/gp3".to_owned()]).unwrap();
    let sizing = size(&catalogue, &derive_requirements(&subject, &design).unwrap(), &terms(), &search);
    let without = alternatives((&catalogue, &terms()), &search, (&subject, &design)).without_scans(&sizing).unwrap();
    let (reader, share) = without.scans.reader.expect("a statement");
    assert_eq!((without.scans.windows, reader.statement.as_str(), reader.module.as_str()), (1, "a1b2", "SQL*Plus"));
    // 2.7 of 3.6 TB and of 2.9 GB of the other reads.
    assert!((share - 2.7e12 / (1_000_819_200.0 * 3_600.0)).abs() < 1e-9, "{share}");
    assert_eq!(sizing.required.compute.processors, Some(8.0), "1 and 4.5 for the scan");
}

#[test]
fn time_in_no_counter_of_reading_sessions_is_a_range() {
    let account = waiting(&[("direct path read", 320.0)]).account.map(Arc::new);
    let cause = CensorCause::ClosedReads { active: 62.0, share: 0.99, latency_s: 0.008, counted: None };
    let censored = Some(Censored { cause, up_to: None });
    let saved = |censored: Option<Censored>| {
        let required = SizingRequirements { account: account.clone(), censored, ..database(1_000.0, Bytes::gib(100)) };
        // Half of the second that a wait takes.
        let halved = ClassLatency { class: Class::SequentialRead, mean: Span::from_millis(500), p99: None };
        required.effect(&[halved]).and_then(|effect| effect.saved_range()).expect("a time without cells")
    };
    let near = |range: [f64; 2], expected: [f64; 2]| {
        assert!(range.iter().zip(expected).all(|(own, other)| (own - other).abs() < 1e-9), "{range:?}");
    };
    near(saved(censored), [0.16, 0.495]);
    near(saved(None), [0.16, 0.16]);
}

fn laid_out(required: &SizingRequirements, names: &[&str]) -> Vec<VolumeLayout> {
    let catalogue = Catalogue::built_in();
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let search = Search::among(&catalogue, &names).unwrap();
    layouts(&catalogue, &terms(), &search, &size(&catalogue, required, &terms(), &search))
}

#[test]
fn redo_has_a_separate_volume_if_that_is_cheaper() {
    // Only io2 is fast enough for the log, and 8 TiB of it cost more than 8 TiB of gp3 with a small io2.
    let objectives: Vec<ClassObjective> = vec!["redo:mean<=700us".parse().unwrap()];
    let required = SizingRequirements { objectives, ..database(2_000.0, Bytes::gib(8192)) };
    let found = laid_out(&required, &["aws/gp3", "aws/io2"]);
    let layout = &found[0];
    assert_eq!(
        layout.parts.iter().map(|part| part.content).collect::<Vec<_>>(),
        [VolumeContent::Data, VolumeContent::Redo]
    );
    let names: Vec<&str> = layout.parts.iter().map(|part| part.choice.offer.product().name()).collect();
    assert_eq!(names, ["aws/gp3", "aws/io2"]);
    assert!(layout.parts[1].choice.reached.iter().all(plimsoll_choose::sizing::Reached::is_met));
    assert!(layout.single.is_none_or(|single| layout.total.unwrap().millionths < single.millionths));
    assert!(layout.machine.as_ref().is_some_and(|machine| machine.volumes >= 2));
    let iops: f64 = layout.parts.iter().map(|part| part.required.points[0].iops()).sum();
    assert!((iops - 2_000.0).abs() < 1e-6, "every operation belongs to a volume: {iops}");
}

#[test]
fn separate_volumes_share_the_limits_of_a_given_machine() {
    let objectives: Vec<ClassObjective> = vec!["redo:mean<=700us".parse().unwrap()];
    let of = |iops: f64, machine: &str| {
        let catalogue = Catalogue::built_in();
        let part = format!("any on {machine}").parse::<Config>().unwrap().machine;
        let search = Search { machine: part, ..Search::default() };
        let required = SizingRequirements { objectives: objectives.clone(), ..database(iops, Bytes::gib(8192)) };
        layouts(&catalogue, &terms(), &search, &size(&catalogue, &required, &terms(), &search))
    };
    let found = of(2_000.0, "aws/m7i.2xlarge");
    assert!(found.iter().all(|layout| layout.provider == "aws"), "{found:?}");
    let machine = found[0].machine.as_ref().unwrap();
    assert_eq!(machine.offer.short().machine.unwrap().to_string(), "aws/m7i.2xlarge");
    let volumes: i128 = found[0].parts.iter().map(|part| part.choice.price.as_ref().unwrap().monthly.millionths).sum();
    assert_eq!(found[0].total.unwrap().millionths, volumes + machine.monthly.unwrap().millionths);
    assert!(machine.binds.as_ref().is_some_and(|limit| limit.over >= 1.0), "{machine:?}");
    assert!(of(30_000.0, "aws/m5.large").is_empty(), "a small machine does not carry both volumes");
}

#[test]
fn a_single_volume_is_chosen_if_redo_needs_no_extra() {
    assert!(laid_out(&database(200.0, Bytes::gib(500)), &["aws/gp3"]).is_empty());
}
