//! Conditions of a recommendation: the busiest instance of a cluster, caps, whole cores, limits that faster work reaches,
//! wider stripes and backups.

use std::fmt::Write as _;
use std::sync::Arc;

use plimsoll_catalogue::{Catalogue, Wrap};
use plimsoll_choose::sizing::{
    Attachment, Best, Burst, Compute, Design, MachineShare, Platform, ProcessorOrigin, Search, ShareOrigin, Sizing,
    SizingRequirements, SpeedBound, derive_requirements, layouts, more_processors, size,
};
use plimsoll_ingest::{Class, DatabaseDemand, EventTime, Resource, WaitCause};
use plimsoll_units::{Bytes, Span};

use super::support::{alternatives, database, plain, subject, terms};
use super::what_if::{build_account, reading, resource};

/// Hours of two instances, in MB/s of 8 KiB reads.
fn instances(hours: &[(f64, f64)]) -> DatabaseDemand {
    let mut lines = String::new();
    for (hour, (first, second)) in hours.iter().enumerate() {
        for (instance, megabytes) in [("sales1", first), ("sales2", second)] {
            let bytes = megabytes * 1e6;
            writeln!(lines, "{hour:02}:00 3600 reads iops mean {} {instance}", bytes / 8_192.0).unwrap();
            writeln!(lines, "{hour:02}:00 3600 reads bytes mean {bytes} {instance}").unwrap();
            writeln!(lines, "{hour:02}:00 3600 writes iops mean 10 {instance}").unwrap();
        }
    }
    subject(&lines)
}

fn share(subject: &DatabaseDemand) -> MachineShare {
    Platform::of(subject).cluster.expect("two instances").share
}

#[test]
fn each_machine_carries_the_busiest_instance() {
    // The busiest hour of the first instance is 80 of 100 MB/s, and its mean far less.
    let uneven = share(&instances(&[(80.0, 20.0), (10.0, 40.0), (10.0, 40.0)]));
    assert!((uneven.parts[1] - 0.8).abs() < 1e-6 && (uneven.parts[0] - 0.8).abs() < 0.01, "{uneven:?}");
    assert_eq!(uneven.origin, ShareOrigin::Busiest("sales1".to_owned()));
    let even = share(&instances(&[(50.0, 50.0)]));
    assert!((even.parts[1] - 0.5).abs() < 1e-6, "{even:?}");
    // Instances that are busy at different times need a machine for all of it.
    let alternating = share(&instances(&[(90.0, 0.0), (0.0, 90.0)]));
    assert!((alternating.parts[1] - 1.0).abs() < 1e-6, "{alternating:?}");
    // Highest minutes of the other instance, at other times, do not make its part of the deciding hour smaller.
    let mut lines = String::new();
    for hour in 0..20 {
        let (first, second) = if hour == 3 { (480.0, 20.0) } else { (10.0, 10.0) };
        for (instance, mean, highest) in [("sales1", first, first), ("sales2", second, 700.0)] {
            writeln!(lines, "{hour:02}:00 3600 reads iops mean {} {instance}", mean * 100.0).unwrap();
            writeln!(lines, "{hour:02}:00 3600 reads bytes mean {} {instance}", mean * 1e6).unwrap();
            writeln!(lines, "{hour:02}:00 3600 reads bytes max {} {instance}", highest * 1e6).unwrap();
        }
    }
    let with_maxima = share(&subject(&lines));
    assert!(with_maxima.parts[1] >= 0.96 - 1e-6, "{with_maxima:?}");
    // A report of the whole cluster has the instances in tables only.
    let memory = ["1", "2"].map(|instance| resource(instance, Resource::SharedMemory, 1e9)).to_vec();
    let undivided = DatabaseDemand { resources: memory, ..subject("08:00 3600 reads iops mean 100") };
    assert_eq!(share(&undivided), MachineShare::of_all(2));
    assert!(MachineShare::of_all(2).parts.iter().all(|part| (part - 1.0).abs() < 1e-9));
}

#[test]
fn instances_without_figures_at_the_end_are_counted() {
    let ended = |hours: u32| {
        let mut lines = String::new();
        for hour in 0..20 {
            writeln!(lines, "{hour:02}:00 3600 reads iops mean 100 sales1").unwrap();
            if hour < hours {
                writeln!(lines, "{hour:02}:00 3600 reads iops mean 100 sales2").unwrap();
            }
        }
        Platform::of(&subject(&lines)).cluster.expect("two instances").ended
    };
    let found = ended(12).expect("eight hours without the second");
    assert_eq!((found.count, found.last.hour()), (1, 11));
    assert_eq!((ended(20), ended(19)), (None, None), "the last snapshot may be late");
}

#[test]
fn a_machine_for_the_busiest_instance_is_larger_than_for_the_mean() {
    let machine = |hours: &[(f64, f64)]| -> Attachment {
        let found = derive_requirements(&instances(hours), &plain()).unwrap();
        let search = Search::among(&Catalogue::built_in(), &["oci/block-volume".to_owned()]).unwrap();
        let sizing = size(&Catalogue::built_in(), &found, &terms(), &search);
        sizing.best_machine().cloned().expect("a machine")
    };
    let (even, uneven) = (machine(&[(600.0, 600.0)]), machine(&[(1_100.0, 100.0)]));
    let limit = |machine: &Attachment| machine.binds.as_ref().expect("a limit").bytes_per_second;
    assert!(limit(&even) >= 600e6 && limit(&uneven) >= 1_100e6, "{} {}", limit(&even), limit(&uneven));
    assert!(even.monthly.unwrap().millionths < uneven.monthly.unwrap().millionths);
}

/// An hour on two processors, whose sessions wait four times as long for the resource manager.
fn capped() -> DatabaseDemand {
    let mut account = build_account();
    account.total.processor_s = Some(7_200.0);
    account.total.database_s = 36_000.0;
    account.total.waits.push(EventTime {
        event: "resmgr:cpu quantum".into(),
        cause: WaitCause::of("resmgr:cpu quantum"),
        foreground: true,
        count: 1_000.0,
        total_s: 28_800.0,
        histogram: Vec::new(),
        place: account.total.place.clone(),
    });
    let resources = vec![resource("", Resource::Processors, 2.0)];
    DatabaseDemand { account: Some(account), resources, ..subject("08:00 3600 reads iops mean 1000") }
}

#[test]
fn storage_and_processors_are_sized_without_the_same_cap() {
    let of = |lifts_processor_cap: bool, burst: Burst, compute: Compute| {
        derive_requirements(&capped(), &Design { lifts_processor_cap, burst, compute, ..plain() }).unwrap()
    };
    let without = of(true, Burst::Times(1.0), Compute::default());
    assert!((without.points[0].iops() - 5_000.0).abs() < 1.0, "{:?}", without.points);
    assert_eq!(without.compute.processors, Some(15.0));
    let origin = without.compute_origin.processors;
    assert!(matches!(origin, Some(ProcessorOrigin::Uncapped { .. })), "{origin:?}");
    // Sessions that never pause have no peaks above their rate.
    let peaks = of(true, Burst::Times(3.0), Compute::default());
    assert!((peaks.points[0].iops() - 5_000.0).abs() < 1.0, "{:?}", peaks.points);
    let given = of(true, Burst::Times(1.0), Compute { processors: Some(4.0), memory: None });
    assert_eq!(given.compute.processors, Some(4.0));
}

#[test]
fn a_cap_of_processors_remains_with_the_price_without_it() {
    let catalogue = Catalogue::built_in();
    let search = Search::among(&catalogue, &["oci/block-volume".to_owned()]).unwrap();
    let design = Design { burst: Burst::Auto, ..plain() };
    let required = derive_requirements(&capped(), &design).unwrap();
    // An hour hides peaks of 3.13 times the operations, but none of the capped processors.
    assert!((required.points[0].iops() - 3_130.0).abs() < 1.0, "{:?}", required.points);
    assert_eq!((required.compute.processors, required.compute_origin.peaks), (Some(3.0), None));
    let sizing = sized(&required, &search);
    let subject = capped();
    let of_design =
        |design: &Design| alternatives((&catalogue, &terms()), &search, (&subject, design)).uncapped(&sizing);
    let uncapped = of_design(&design).expect("a cap");
    assert_eq!(uncapped.required.compute.processors, Some(15.0));
    let without = uncapped.choice.expect("a larger machine").total().unwrap();
    assert!(without.as_f64() > sizing.best_total().unwrap().as_f64(), "{without}");
    let lifted = Design { lifts_processor_cap: true, ..design };
    assert!(of_design(&lifted).is_none(), "sized without it");
}

#[test]
fn peaks_inside_days_have_a_price_without_them() {
    let catalogue = Catalogue::built_in();
    let search = Search::among(&catalogue, &["oci/block-volume".to_owned()]).unwrap();
    let find = |seconds: u32, burst: Burst| {
        let of = |class: &str| {
            format!("00:00 {seconds} {class} iops mean 2000\n 00:00 {seconds} {class} bytes mean 16384000\n")
        };
        let subject = subject(&(of("reads") + &of("writes")));
        let design = Design { burst, ..plain() };
        let sizing = sized(&derive_requirements(&subject, &design).unwrap(), &search);
        (alternatives((&catalogue, &terms()), &search, (&subject, &design)).constant_load(&sizing), sizing.best_total())
    };
    let (found, total) = find(6 * 86_400, Burst::Auto);
    let found = found.expect("a mean of six days");
    assert!((found.required.points[0].iops() - 4_000.0).abs() < 1.0, "{:?}", found.required.points);
    assert!(found.choice.unwrap().total().unwrap().as_f64() < total.unwrap().as_f64());
    assert!(find(6 * 86_400, Burst::None).0.is_none(), "none are assumed");
    assert!(find(3_600, Burst::Auto).0.is_none(), "an hour is a usual window");
}

#[test]
fn less_headroom_is_stated_if_it_is_much_cheaper() {
    let catalogue = Catalogue::built_in();
    let search = Search { widest: 1, ..Search::among(&catalogue, &["azure/premium-ssd".to_owned()]).unwrap() };
    let find = |iops: f64, headroom: f64| {
        let required = SizingRequirements { headroom, ..database(iops, Bytes::gib(900)) };
        alternatives((&catalogue, &terms()), &search, (&capped(), &plain())).less_headroom(&sized(&required, &search))
    };
    // P30 has up to 8,000 IOPS at no additional price, P40 costs twice as much.
    let found = find(6_850.0, 0.2).expect("16 % above the load");
    assert!((found.headroom - 0.16).abs() < 1e-9, "{}", found.headroom);
    assert!(found.choice.meets(), "{:?}", found.choice.reached);
    assert!(find(6_600.0, 0.2).is_none(), "P30 has the headroom");
    assert!(find(7_800.0, 0.2).is_none(), "P30 has 2 % of headroom");
    assert!(find(6_850.0, 0.0).is_none(), "P30 suffices");
}

#[test]
fn a_machine_for_uncertain_processors_is_priced() {
    let catalogue = Catalogue::built_in();
    let search = Search::among(&catalogue, &["oci/block-volume".to_owned()]).unwrap();
    let find = |cores: f64, burst: Burst| {
        let resources = [(Resource::Processors, 4.0), (Resource::HostProcessors, 8.0), (Resource::HostCores, cores)];
        let resources = resources.map(|(kind, value)| resource("", kind, value)).to_vec();
        let subject = DatabaseDemand { resources, ..subject("08:00 3600 reads iops mean 100") };
        let sizing = sized(&derive_requirements(&subject, &Design { burst, ..plain() }).unwrap(), &search);
        let more = more_processors(&catalogue, &terms(), &sizing);
        more.map(|machine| machine.offer.machine_shape().unwrap().vcpus.unwrap())
    };
    // 4 / 0.7 are 6 vCPUs; of cores twice as many; in peaks all 8 processors of the host.
    assert_eq!(find(4.0, Burst::None), None);
    assert_eq!((find(8.0, Burst::None), find(4.0, Burst::Auto)), (Some(12.0), Some(12.0)));
}

#[test]
fn a_provider_has_the_same_recommendation_alone_and_among_others() {
    let catalogue = Catalogue::built_in();
    let mut required = database(3_000.0, Bytes::gib(1_000));
    required.account = Some(Arc::new(reading(0.5)));
    required.today = vec![(Class::RandomRead, Span::from_millis(5)), (Class::RedoWrite, Span::from_micros(300))];
    let names = ["aws", "azure", "gcp", "oci"].map(str::to_owned);
    let find = |names: &[String]| {
        let search = Search::among(&catalogue, names).unwrap();
        let mut sizing = sized(&required, &search);
        sizing.layouts = layouts(&catalogue, &terms(), &search, &sizing);
        sizing
    };
    let all = find(&names);
    for name in &names {
        let alone = find(std::slice::from_ref(name)).best_total();
        assert_eq!(all.best_of(name).and_then(Best::total), alone, "{name}");
        assert!(alone.is_some(), "{name}");
    }
}

#[test]
fn processors_that_may_be_cores_are_stated() {
    let found = |cores: f64, compute: Compute| {
        let resources = [(Resource::Processors, 4.0), (Resource::HostProcessors, 8.0), (Resource::HostCores, cores)];
        let resources = resources.map(|(kind, value)| resource("", kind, value)).to_vec();
        let subject = DatabaseDemand { resources, ..subject("08:00 3600 reads iops mean 100") };
        derive_requirements(&subject, &Design { compute, ..plain() }).unwrap().compute_origin.possible_cores
    };
    assert_eq!(found(8.0, Compute::default()), Some(8.0));
    assert_eq!(found(4.0, Compute::default()), None, "two threads a core");
    assert_eq!(found(8.0, Compute { processors: Some(6.0), memory: None }), None, "as given");
}

fn sized(demand: &SizingRequirements, search: &Search) -> Sizing {
    size(&Catalogue::built_in(), demand, &terms(), search)
}

#[test]
fn a_load_without_pauses_saves_time_up_to_the_first_limit() {
    let search = Search { widest: 1, ..Search::among(&Catalogue::built_in(), &["aws/gp3".to_owned()]).unwrap() };
    let of = |iops: f64, mean_ms: u64| {
        let mut demand = database(iops, Bytes::gib(1_000));
        let mut account = reading(0.9);
        let waits = &mut account.total.waits;
        waits[0].count = waits[0].total_s / (mean_ms as f64 * 1e-3);
        demand.account = Some(Arc::new(account));
        demand.today = vec![(Class::RandomRead, Span::from_millis(mean_ms))];
        sized(&demand, &search)
    };
    // Reads ten times as fast: nine tenths of the time make the rate grow sixfold, and the volume allows a fifth more.
    let found = of(10_000.0, 20);
    let saved = found.best_effect().expect("waits of reads").saved();
    let limit = found.speed_limit().expect("12,000 IOPS are provisioned");
    assert!(saved > 0.7 && limit.saved < 0.3, "{saved} {limit:?}");
    assert!((limit.saved - (1.0 - 1.0 / limit.limit.over())).abs() < 1e-9, "{limit:?}");
    assert!(matches!(limit.limit, SpeedBound::Storage(_)), "{limit:?}");
    // The included 3,000 IOPS are far above a small load.
    assert_eq!(of(100.0, 20).speed_limit(), None);
    // A machine with 2.1 times the processors in use.
    let mut busy = of(100.0, 20);
    let vcpus = busy.best_machine().and_then(|machine| machine.offer.machine_shape()?.vcpus).expect("a machine");
    busy.required.compute_origin.processors = Some(ProcessorOrigin::Busy(vcpus / 2.1));
    let limit = busy.speed_limit().expect("processors");
    assert!(matches!(limit.limit, SpeedBound::Processors { .. }), "{limit:?}");
    assert!((limit.saved - (1.0 - 1.0 / 2.1)).abs() < 1e-9, "{limit:?}");
    assert_eq!(sized(&database(10_000.0, Bytes::gib(1_000)), &search).speed_limit(), None, "no time is known");
}

#[test]
fn a_wider_stripe_is_found_if_it_is_much_cheaper() {
    let catalogue = Catalogue::built_in();
    let names = ["oci/block-volume".to_owned()];
    let find = |reads: f64, widest: u32| {
        let search = Search { widest, ..Search::among(&catalogue, &names).unwrap() };
        let mut demand = database(reads / 0.6, Bytes::gib(556));
        demand.points[0].classes.retain(|load| load.class == Class::RandomRead);
        let sizing = sized(&demand, &search);
        (
            alternatives((&catalogue, &terms()), &search, (&capped(), &plain())).wider_stripe(&sizing),
            sizing.best_total(),
        )
    };
    // Four volumes need a level with several paths, for which the machine has many processors; more volumes do not.
    let (wider, total) = find(310_000.0, 4);
    let (wider, total) = (wider.expect("more volumes at a lower level"), total.expect("a price"));
    assert!(wider.total().unwrap().as_f64() <= 0.9 * total.as_f64(), "{:?} {total}", wider.total());
    let members: u32 = wider.offer.config.wraps.iter().map(Wrap::members).product();
    assert!(members > 4, "{}", wider.offer.config);
    assert!(find(310_000.0, 32).0.is_none(), "the search has them");
    assert!(find(310_000.0, 1).0.is_none(), "no stripes are allowed");
    assert!(find(500.0, 4).0.is_none(), "a single volume suffices");
}

/// Hours of small reads, and one of large ones.
fn with_backup(large_bytes: f64, size: f64) -> DatabaseDemand {
    let mut lines = String::new();
    for hour in 0..20 {
        let (bytes, size) = if hour == 3 { (large_bytes, size) } else { (20e6, 8_192.0) };
        writeln!(lines, "{hour:02}:00 3600 reads iops mean {}", bytes / size).unwrap();
        writeln!(lines, "{hour:02}:00 3600 reads bytes mean {bytes}").unwrap();
        writeln!(lines, "{hour:02}:00 3600 writes iops mean 10").unwrap();
    }
    subject(&lines)
}

#[test]
fn a_window_of_a_backup_is_stated_with_the_load_without_it() {
    let catalogue = Catalogue::built_in();
    let search = Search::among(&catalogue, &["aws/gp3".to_owned()]).unwrap();
    let design = Design { quantile: None, ..plain() };
    let find = |subject: &DatabaseDemand| {
        let sizing = sized(&derive_requirements(subject, &design).unwrap(), &search);
        (alternatives((&catalogue, &terms()), &search, (subject, &design)).without_scans(&sizing), sizing.best_total())
    };
    let (found, total) = find(&with_backup(400e6, 1_048_576.0));
    let found = found.expect("an hour of 20 times the median");
    assert_eq!(found.scans.windows, 1);
    assert!((found.scans.times - 20.0).abs() < 0.2 && found.scans.large_reads > 0.99, "{:?}", found.scans);
    assert!((found.point.bytes_per_second() - 20e6).abs() < 1e6, "{:?}", found.point);
    let without = found.choice.expect("a small volume").total().unwrap();
    assert!(without.as_f64() < total.unwrap().as_f64(), "{without}");
    assert!(find(&with_backup(400e6, 8_192.0)).0.is_none(), "small reads are no backup");
    assert!(find(&with_backup(60e6, 1_048_576.0)).0.is_none(), "three times the median");
}
