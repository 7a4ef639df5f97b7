//! Design points of small demands, compared with manual calculations.

use plimsoll_catalogue::{Catalogue, OptionValue};
use plimsoll_choose::diagnosis::DiagnosisVerdict;
use plimsoll_choose::sizing::{
    Assumption, Burst, Busiest, Choice, ClassLoad, ClassObjective, Design, DesignError, Growth, LoadAssumption, Search,
    SizingRequirements, check_counted, derive_requirements, size,
};
use plimsoll_ingest::{Cap, CapBasis, CapKind, CapLimit, CapOwner, Class, DatabaseDemand};
use plimsoll_units::{Bytes, Span};

use super::support::{plain, subject, terms};
use super::what_if::build_account;
use crate::diagnosis::disk;

/// The operations point of the lines: operations and bytes per second by class.
fn check(lines: &str, design: &Design, expected: &[(Class, f64, f64)]) -> SizingRequirements {
    let required = derive_requirements(&subject(lines), design).unwrap();
    let displayed = |load: &ClassLoad| (load.class, round(load.iops), round(load.bytes_per_second));
    let found: Vec<_> = required.points[0].classes.iter().map(displayed).collect();
    assert_eq!(found, expected, "{lines}");
    required
}

fn round(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

const DAY: &str = "
    08:00 3600 random-reads iops mean 100
    08:00 3600 random-reads bytes mean 819200
    08:00 3600 redo iops mean 50
    08:00 3600 redo bytes mean 204800
    09:00 3600 random-reads iops mean 300
    09:00 3600 random-reads bytes mean 2457600
    09:00 3600 redo iops mean 20
    09:00 3600 redo bytes mean 81920
    22:00 3600 sequential-reads iops mean 40
    22:00 3600 sequential-reads bytes mean 41943040
";

#[test]
fn vanishing_rates_are_no_loads() {
    let lines = "
        08:00 3600 random-reads iops mean 100
        08:00 3600 random-reads bytes mean 819200
        08:00 3600 redo iops mean 1e-320
        08:00 3600 redo bytes mean 1e-320
    ";
    check(lines, &plain(), &[(Class::RandomRead, 100.0, 819_200.0)]);
}

#[test]
fn the_mix_is_that_of_the_busiest_windows_and_not_a_sum_of_percentiles() {
    // At 9 there are 320 per second. The 50 of the log at 8 occur at another time.
    let required = check(DAY, &plain(), &[(Class::RandomRead, 300.0, 2_457_600.0), (Class::RedoWrite, 20.0, 81_920.0)]);
    // The night has the most bytes: a separate point.
    assert_eq!(required.points.len(), 2);
    let night = &required.points[1];
    assert_eq!((night.of, night.classes.len(), night.iops()), (Busiest::Bytes, 1, 40.0));
}

#[test]
fn a_lower_percentile_uses_more_windows_at_a_lower_level() {
    // Half of the time there are at most 150: the two windows at and above, scaled to that level.
    let half = Design { quantile: Some(0.5), ..plain() };
    let scale = 150.0 / 470.0;
    let (reads, redo) = (round(400.0 * scale), round(70.0 * scale));
    let expected =
        [(Class::RandomRead, reads, round(3_276_800.0 * scale)), (Class::RedoWrite, redo, round(286_720.0 * scale))];
    assert_eq!(check(DAY, &half, &expected).points[0].windows, 2);
}

/// Half hours with these reads and writes per second; `-` is unknown.
fn half_hours(rates: impl Iterator<Item = (String, String)>) -> String {
    let mut lines = String::new();
    for (n, (reads, writes)) in rates.enumerate() {
        for (class, rate) in [("reads", reads), ("writes", writes)].into_iter().filter(|(_, rate)| rate != "-") {
            let (hour, minute) = (n / 2, n % 2 * 30);
            lines += &format!("{hour:02}:{minute:02} 1800 {class} iops mean {rate}\n");
        }
    }
    lines
}

/// A day with four busy half hours: `reads` and `writes` in the others.
fn day_with_idle(reads: &str, writes: &str) -> String {
    let is_busy = |n: usize| (18..22).contains(&n);
    half_hours((0..48).map(|n| {
        let rate = |idle: &str, busy: &str| if is_busy(n) { busy.to_owned() } else { idle.to_owned() };
        (rate(reads, "40"), rate(writes, "20"))
    }))
}

#[test]
fn idle_windows_count_in_means_percentiles_and_numbers_of_windows() {
    let entire = Design { quantile: None, ..plain() };
    let of = |idle: &str, design: &Design| derive_requirements(&subject(&day_with_idle(idle, idle)), design).unwrap();
    let (zero, nearly) = (of("0", &entire), of("0.001", &entire));
    assert!((zero.mean_iops - 5.0).abs() < 1e-9, "{}", zero.mean_iops);
    assert!((nearly.mean_iops / zero.mean_iops - 1.0).abs() < 1e-3, "{}", nearly.mean_iops);
    assert_eq!((zero.measured.windows, zero.series.len()), (48, 48));
    assert!((zero.points[0].iops() - 60.0).abs() < 1e-6);
    let usual = zero.usual.unwrap();
    assert!((usual.iops() - 5.0).abs() < 1e-9 && (usual.classes[0].reads - 1.0).abs() < 1e-9, "{usual:?}");
    // 44 of 48 windows are 91.7 % of the time.
    let high = of("0", &Design { quantile: Some(0.95), ..plain() });
    assert!((high.measured.iops - 60.0).abs() < 1e-9 && high.measured.windows == 48, "{:?}", high.measured);
    let low = Design { quantile: Some(0.8), ..plain() };
    let error = derive_requirements(&subject(&day_with_idle("0", "0")), &low).unwrap_err();
    let text = "no operations take place in 44 of 48 windows, which are at least 80.000 % of the time";
    assert!(error.to_string().contains(text), "{error}");
}

#[test]
fn windows_that_do_not_count_a_direction_are_unknown_and_not_idle() {
    let entire = Design { quantile: None, ..plain() };
    for (reads, writes) in [("-", "-"), ("0", "-"), ("-", "0")] {
        let required = derive_requirements(&subject(&day_with_idle(reads, writes)), &entire).unwrap();
        assert_eq!(required.measured.windows, 4, "{reads} {writes}");
        assert!((required.mean_iops - 60.0).abs() < 1e-9, "{reads} {writes}");
    }
}

#[test]
fn peaks_within_windows_are_those_of_windows_with_operations() {
    // Operations in 2 of 48 windows: the usual window is idle, and the peaks of those two remain.
    let lines = half_hours((0..48).map(|n| {
        let rate = if n < 2 { "60" } else { "0" };
        (rate.to_owned(), rate.to_owned())
    }));
    let required =
        derive_requirements(&subject(&lines), &Design { quantile: None, burst: Burst::Auto, ..plain() }).unwrap();
    assert!(required.points[0].iops() > 120.0 * 1.5, "{:?}", required.points[0]);
}

#[test]
fn totals_and_parts_are_counted_once() {
    // Of 500 reads 300 are single-block and 100 multi-block; 100 belong to other files.
    let lines = "
        08:00 60 reads iops mean 500
        08:00 60 reads bytes mean 10000000
        08:00 60 random-reads iops mean 300
        08:00 60 random-reads bytes mean 2457600
        08:00 60 sequential-reads iops mean 100
        08:00 60 sequential-reads bytes mean 6553600
    ";
    let expected = [
        (Class::RandomRead, 300.0, 2_457_600.0),
        (Class::Read, 100.0, 988_800.0),
        (Class::SequentialRead, 100.0, 6_553_600.0),
    ];
    let required = derive_requirements(&subject(lines), &plain()).unwrap();
    let mut found: Vec<_> =
        required.points[0].classes.iter().map(|load| (load.class, load.iops, load.bytes_per_second)).collect();
    found.sort_by_key(|(class, ..)| class.name().to_owned());
    assert_eq!(found, expected);
    assert!((required.points[0].iops() - 500.0).abs() < 1e-9);
}

#[test]
fn overlapping_parts_do_not_exceed_the_total() {
    let lines = "
        08:00 60 reads iops mean 400
        08:00 60 random-reads iops mean 300
        08:00 60 sequential-reads iops mean 100
        08:00 60 temp-reads iops mean 60
    ";
    let required = derive_requirements(&subject(lines), &plain()).unwrap();
    assert!((required.points[0].iops() - 400.0).abs() < 1e-9, "{required:?}");
    let temp = required.points[0].classes.iter().find(|load| load.class == Class::TempRead).unwrap();
    assert!((temp.iops - 60.0).abs() < 1e-9);
}

#[test]
fn total_operations_are_split_in_proportion_to_bytes() {
    let lines = "
        08:00 60 all iops mean 100
        08:00 60 reads bytes mean 300000
        08:00 60 writes bytes mean 100000
    ";
    let required = check(lines, &plain(), &[(Class::Read, 75.0, 300_000.0), (Class::Write, 25.0, 100_000.0)]);
    assert_eq!(required.assumptions[0], Assumption::Load(LoadAssumption::SplitByBytes));
    let unknown = check("08:00 60 all iops mean 100", &plain(), &[(Class::All, 100.0, 819_200.0)]);
    assert!((unknown.points[0].classes[0].reads - 0.7).abs() < 1e-9);
    assert_eq!(unknown.assumptions.len(), 2, "{:?}", unknown.assumptions);
}

#[test]
fn maxima_of_the_input_take_precedence_over_general_ratios() {
    let hour = "
        08:00 3600 reads iops mean 100
        08:00 3600 reads bytes mean 819200
        08:00 3600 writes iops mean 100
        08:00 3600 writes bytes mean 819200
    ";
    let auto = Design { burst: Burst::Auto, ..plain() };
    let elsewhere = derive_requirements(&subject(hour), &auto).unwrap();
    assert!((elsewhere.points[0].iops() - 626.0).abs() < 1e-6, "{elsewhere:?}");
    assert!(elsewhere.steps[0].spread.is_some());
    let own = format!("{hour} 08:00 3600 reads iops max 250\n 08:00 3600 writes iops max 150");
    let own = derive_requirements(&subject(&own), &auto).unwrap();
    assert!((own.points[0].iops() - 400.0).abs() < 1e-6, "{own:?}");
    assert_eq!(own.steps[0].spread, None);
    let minute = derive_requirements(&subject(&hour.replace("3600", "60")), &auto).unwrap();
    assert!((minute.points[0].iops() - 200.0).abs() < 1e-6);
}

#[test]
fn scans_have_no_hidden_peaks() {
    let hour = "
        08:00 3600 random-reads iops mean 100
        08:00 3600 random-reads bytes mean 819200
        08:00 3600 sequential-reads iops mean 50
        08:00 3600 sequential-reads bytes mean 52428800
    ";
    let auto = Design { burst: Burst::Auto, ..plain() };
    // Scans take longer in a peak; the others have the measured ratio of 3.13.
    check(hour, &auto, &[(Class::RandomRead, 313.0, 2_564_096.0), (Class::SequentialRead, 50.0, 52_428_800.0)]);
    let twice = Design { burst: Burst::Times(2.0), ..plain() };
    check(hour, &twice, &[(Class::RandomRead, 200.0, 1_638_400.0), (Class::SequentialRead, 100.0, 104_857_600.0)]);
}

#[test]
fn large_writes_apart_from_log_and_data_have_no_hidden_peaks() {
    let report = |log: f64| {
        format!(
            "08:00 3600 redo iops mean 100\n 08:00 3600 redo bytes mean 409600
            08:00 3600 writes iops mean {}\n 08:00 3600 writes bytes mean 5652480",
            log + 10.0
        )
    };
    let auto = Design { burst: Burst::Auto, ..plain() };
    // 10 writes of 512 KiB: archived logs and backups.
    check(&report(100.0), &auto, &[(Class::RedoWrite, 313.0, 1_282_048.0), (Class::BulkWrite, 10.0, 5_242_880.0)]);
    // 110 of 46.5 KiB may be the log's second member: small writes have peaks.
    check(&report(200.0), &auto, &[(Class::Write, 344.3, 16_410_214.4), (Class::RedoWrite, 313.0, 1_282_048.0)]);
}

#[test]
fn growth_is_compounded_and_the_capacity_grows_as_well() {
    let growth = Growth { yearly: 0.5, months: 24 };
    let design = Design { growth, burst: Burst::Times(2.0), headroom: 0.2, ..plain() };
    let required = check("08:00 60 reads iops mean 100", &design, &[(Class::Read, 450.0, 3_686_400.0)]);
    assert_eq!((required.capacity, required.room()), (Bytes::gib(225), 1.2));
}

#[test]
fn a_general_objective_is_evaluated_on_reads() {
    let design = Design { objectives: vec!["p99<=1ms".parse().unwrap()], ..plain() };
    let of = |lines: &str| derive_requirements(&subject(lines), &design).unwrap().objectives[0].to_string();
    assert_eq!(of("08:00 60 reads iops mean 100"), "read p99 <= 1 ms");
    assert_eq!(of("08:00 60 redo iops mean 100"), "p99 <= 1 ms");
}

#[test]
fn a_demand_without_operations_has_a_remedy() {
    let refused = derive_requirements(&subject("08:00 60 reads bytes mean 100"), &plain()).unwrap_err().to_string();
    assert!(refused.contains("SALES") && refused.contains("provide an AWR report"), "{refused}");
    let idle =
        derive_requirements(&subject("08:00 60 reads iops mean 0\n08:00 60 writes iops mean 0"), &plain()).unwrap_err();
    assert_eq!(idle, DesignError::Idle { subject: "SALES".to_owned() }, "counted, and zero");
}

/// 19 idle minutes and a minute of work, repeated: 95 % of the time is idle.
fn rare_work() -> String {
    let minute = |minute: u32| {
        let iops = if minute % 20 == 19 { 4000 } else { 10 };
        format!("{:02}:{:02} 60 reads iops mean {iops}\n", 8 + minute / 60, minute % 60)
    };
    (0..120).map(minute).collect()
}

#[test]
fn work_in_a_twentieth_of_the_time_counts() {
    let subject = subject(&rare_work());
    let percentile = derive_requirements(&subject, &plain()).unwrap();
    assert!((percentile.points[0].iops() - 10.0).abs() < 1e-6, "the percentile excludes it: {:?}", percentile.points);
    let every = Design { quantile: None, ..plain() };
    let replayed = derive_requirements(&subject, &every).unwrap();
    assert!((3_950.0..=4_000.0).contains(&replayed.points[0].iops()), "{:?}", replayed.points);
    assert_eq!((replayed.measured.highest_iops, percentile.measured.highest_iops), (4_000.0, 4_000.0));
    // A fifth of the operations may wait for a minute, so less is needed.
    let patient = Design { objectives: vec!["p80<=60s".parse().unwrap()], ..every };
    let patient = derive_requirements(&subject, &patient).unwrap();
    assert!(patient.points[0].iops() < 3_000.0, "{:?}", patient.points);
}

#[test]
fn the_strictest_objective_bounds_the_wait() {
    let objectives = ["redo:p99<=1ms", "read:p95<=5ms"].map(|text| text.parse().unwrap()).to_vec();
    let lines = "08:00 60 reads iops mean 100";
    let required = derive_requirements(&subject(lines), &Design { objectives, ..plain() }).unwrap();
    assert_eq!(required.allowance.wait, Span::from_millis(1));
    assert!((required.allowance.share - 0.01).abs() < 1e-9, "{:?}", required.allowance);
    assert!(
        required.assumptions.iter().any(|own| matches!(
            own,
            Assumption::UncountedObjective { class: Class::RedoWrite, evaluated_on: None, .. }
        )),
        "{:?}",
        required.assumptions
    );
}

#[test]
fn free_space_is_added_to_the_capacity() {
    let required =
        derive_requirements(&subject("08:00 60 reads iops mean 100"), &Design { free: 0.2, ..plain() }).unwrap();
    assert_eq!(required.capacity, Bytes::gib(125));
}

#[test]
fn response_times_of_a_cache_in_memory_are_not_those_of_storage() {
    let lines = |seconds: &str| {
        format!(
            "08:00 3600 random-reads iops mean 100
             08:00 3600 random-reads bytes mean 819200
             08:00 3600 random-reads latency mean {seconds}
             08:00 3600 redo iops mean 10
             08:00 3600 redo bytes mean 40960
             08:00 3600 redo latency mean 0.0004"
        )
    };
    let of = |seconds: &str| derive_requirements(&subject(&lines(seconds)), &plain()).unwrap();
    let classes = |required: &SizingRequirements| required.today.iter().map(|(class, _)| *class).collect::<Vec<_>>();
    assert_eq!(classes(&of("0.0003")), [Class::RandomRead, Class::RedoWrite]);
    let cached = of("0.00002");
    assert_eq!(classes(&cached), [Class::RedoWrite]);
    let assumption = Assumption::AnsweredByCache {
        class: Class::RandomRead,
        mean: Span::from_micros(20),
        windows: [1, 1],
        is_decisive: true,
    };
    assert!(cached.assumptions.contains(&assumption), "{:?}", cached.assumptions);
}

#[test]
fn reads_are_those_of_a_cache_in_single_windows() {
    // Eleven windows of storage, and one of the page cache.
    let of = |rate: u32, seconds: &str| {
        let lines = |minute: u32, rate: u32, seconds: &str| {
            format!(
                "08:{minute:02} 60 random-reads iops mean {rate}
                 08:{minute:02} 60 random-reads latency mean {seconds}
                 08:{minute:02} 60 writes iops mean 10\n"
            )
        };
        let text: String = (0..11).map(|minute| lines(minute, 1_000, "0.0008")).collect();
        let subject = DatabaseDemand { uses_page_cache: true, ..subject(&(text + &lines(11, rate, seconds))) };
        derive_requirements(&subject, &Design { quantile: Some(1.0), ..plain() }).unwrap()
    };
    let busiest = of(70_000, "0.00007");
    let assumption = Assumption::AnsweredByCache {
        class: Class::RandomRead,
        mean: Span::from_micros(70),
        windows: [1, 12],
        is_decisive: true,
    };
    assert!(busiest.assumptions.contains(&assumption), "{:?}", busiest.assumptions);
    assert!(busiest.counts_cached_reads());
    assert_eq!(busiest.today, [(Class::RandomRead, Span::from_micros(800))], "without the window of the cache");
    assert!(!of(500, "0.00002").counts_cached_reads(), "the window does not determine the load");
    assert!(!of(70_000, "0.0002").counts_cached_reads(), "storage of flash");
}

#[test]
fn classes_with_known_response_times_are_bounded_in_peaks() {
    let lines = |redo_s: &str| {
        format!(
            "08:00 3600 random-reads iops mean 100
             08:00 3600 random-reads bytes mean 819200
             08:00 3600 redo iops mean 10
             08:00 3600 redo bytes mean 40960
             08:00 3600 redo latency mean {redo_s}"
        )
    };
    let of = |redo_s: &str, design: Design| {
        let subject = DatabaseDemand { account: Some(build_account()), ..subject(&lines(redo_s)) };
        let target = derive_requirements(&subject, &design).unwrap();
        let texts = |objectives: &[ClassObjective]| objectives.iter().map(ToString::to_string).collect::<Vec<_>>();
        (texts(&target.objectives), texts(&target.peak_bounds))
    };
    let (required, in_peaks) = of("0.0004", plain());
    assert_eq!(required, ["random reads mean <= 10 ms"], "unknown today");
    assert_eq!(in_peaks, ["redo mean <= 5 ms"]);
    assert_eq!(of("0.008", plain()).1, ["redo mean <= 8 ms"], "not below today's");
    let given = Design { objectives: vec!["redo:p99<=1ms".parse().unwrap()], ..plain() };
    assert_eq!(of("0.0004", given).1, Vec::<String>::new());
}

#[test]
fn todays_log_write_includes_its_flush() {
    let lines = "10:00 60 redo iops mean 100\n10:00 60 redo latency mean 0.0002\n\
                 10:00 60 flushes iops mean 100\n10:00 60 flushes latency mean 0.025\n";
    let required = derive_requirements(&subject(lines), &plain()).unwrap();
    let today = required.today.iter().find(|(class, _)| *class == Class::RedoWrite).map(|(_, mean)| *mean);
    assert_eq!(today, Some(Span::from_micros(25_200)), "PostgreSQL writes to the page cache and then flushes");
}

#[test]
fn operations_that_are_not_counted_are_refused_or_assumed() {
    let absent = subject("08:00 60 redo iops mean 10\n08:00 60 reads bytes mean 8192000");
    let refused = check_counted(&absent).unwrap_err();
    assert_eq!(refused, DesignError::Absent { classes: vec![Class::Read] });
    assert!(refused.to_string().starts_with("the input counts no reads: "), "{refused}");
    assert!(check_counted(&subject("08:00 60 reads iops mean 100")).is_err(), "reads only");
    let log = subject("08:00 60 reads iops mean 100\n08:00 60 redo iops mean 10");
    check_counted(&log).unwrap();
    assert!(derive_requirements(&log, &plain()).unwrap().assumptions.contains(&Assumption::LogWritesOnly));
    let assumed = derive_requirements(&absent, &Design { assumes_blocks: true, ..plain() }).unwrap();
    let reads = assumed.points[0].classes.iter().find(|load| load.class == Class::Read).unwrap();
    assert!((reads.iops - 1_000.0).abs() < 1e-6, "{}", reads.iops);
    assert_eq!(assumed.assumptions.iter().filter(|own| matches!(own, Assumption::UncountedOperations(_))).count(), 2);
    assert!(check_counted(&subject("08:00 60 reads iops mean 100\n08:00 60 writes iops mean 0")).is_ok());
}

/// Minutes of a volume: at every second minute a limit is reached, and operations take four times as long.
fn build_throttled() -> DatabaseDemand {
    let minute = |minute: usize| {
        let (iops, latency) = if minute.is_multiple_of(2) { (300, 0.002) } else { (450 + 4 * minute, 0.008) };
        format!(
            "08:{minute:02} 60 reads iops mean {iops}\n08:{minute:02} 60 reads bytes mean {}\n\
             08:{minute:02} 60 reads latency mean {latency}\n",
            iops * 8_192
        )
    };
    let mut throttled = subject(&(0..40).map(minute).collect::<String>());
    throttled.caps = vec![Cap {
        part: String::new(),
        metric: "VolumeIOPSExceededCheck".to_owned(),
        limit: CapLimit {
            provider: "EBS",
            owner: CapOwner::Volume,
            kind: CapKind::Operations,
            basis: CapBasis::Exceeded,
        },
        points: 20,
        of: 40,
        each: Some(Span::from_secs(60)),
        time: None,
        slots: (0..40).filter(|minute| minute % 2 == 1).collect(),
    }];
    throttled
}

#[test]
fn a_throttled_load_is_the_lower_end_of_a_range() {
    let design = Design { burst: Burst::Auto, quantile: None, may_be_slower: true, ..Design::of(Bytes::gib(2_048)) };
    let with = derive_requirements(&build_throttled(), &design).unwrap();
    let without = derive_requirements(&DatabaseDemand { caps: Vec::new(), ..build_throttled() }, &design).unwrap();
    let times = with.points[0].iops() / without.points[0].iops();
    assert!((times - 4.0).abs() < 0.01 && with.censored.is_some(), "{times}");
    assert!((with.mean_iops / without.mean_iops - 4.0).abs() < 0.01);
    assert!((with.measured.iops - without.measured.iops).abs() < 1e-9, "the measured load stays as it is");
    let as_measured =
        derive_requirements(&build_throttled(), &Design { burst: Burst::None, ..design.clone() }).unwrap();
    assert!((as_measured.points[0].iops() / without.points[0].iops() - 1.0).abs() < 1e-9);
    // The lowest level would carry the load as measured, and is not offered.
    let catalogue = Catalogue::built_in();
    let search = Search { widest: 1, ..Search::among(&catalogue, &["oci/block-volume".to_owned()]).unwrap() };
    let levels = |required: &SizingRequirements| -> Vec<f64> {
        let found = size(&catalogue, required, &terms(), &search);
        let all = found.choices.iter().chain(&found.frontier).chain(&found.slower).chain(&found.nearly);
        let level = |choice: &Choice| choice.offer.options.iter().find(|option| &*option.name == "vpu")?.value.clone();
        let number = |value| if let OptionValue::Number(number) = value { Some(number) } else { None };
        all.filter_map(level).filter_map(number).collect()
    };
    let (free, censored) = (levels(&without), levels(&as_measured));
    assert!(free.iter().any(|level| *level < 1.0), "{free:?}");
    assert!(!censored.is_empty() && censored.iter().all(|level| *level >= 10.0), "{censored:?}");
}

#[test]
fn reads_as_large_as_scans_have_no_hidden_peaks() {
    let design = Design { burst: Burst::Auto, ..plain() };
    let expected = |size: f64, maxima: &str| {
        let bytes = 100.0 * size;
        let subject =
            subject(&format!("08:00 3600 reads iops mean 100\n08:00 3600 reads bytes mean {bytes}\n{maxima}"));
        derive_requirements(&subject, &design).unwrap().points[0].iops()
    };
    assert!((expected(262_144.0, "") - 100.0).abs() < 1e-6, "scans take longer instead");
    assert!((expected(65_536.0, "") - 609.0).abs() < 1.0, "an hour of large reads hides peaks");
    // The highest minute of the input is that of a scan as well.
    assert!(
        (expected(262_144.0, "08:00 3600 reads bytes max 52428800\n08:00 3600 writes bytes max 0") - 100.0).abs()
            < 1e-6
    );
    let twice = expected(65_536.0, "08:00 3600 reads bytes max 13107200\n08:00 3600 writes bytes max 0");
    assert!((twice - 200.0).abs() < 1e-6, "{twice}");
}

/// The storage sets a rate that does not vary while operations always queue: no window shows the demand.
#[test]
fn a_load_at_its_limit_in_all_windows_is_a_lower_bound() {
    let design = Design { burst: Burst::Auto, quantile: None, ..Design::of(Bytes::gib(100)) };
    let derive = |rate: f64, latency_s: f64| {
        let minutes: Vec<(f64, f64)> = (0..30).map(|minute| (rate + f64::from(minute % 3), latency_s)).collect();
        derive_requirements(&disk(&minutes, 1.0), &design).unwrap()
    };
    let full = derive(3_000.0, 0.011);
    let censored = full.censored.as_ref().expect("33 operations are always in flight");
    assert_eq!((censored.id(), censored.up_to, censored.is_lower_bound()), ("saturated", None, true));
    assert!(full.points[0].iops() > 1.9 * full.measured.iops, "twice the rate is assumed");
    let usual = derive(3_000.0, 0.000_5).censored.expect("many products have a limit of 3,000 operations per second");
    assert!(usual.is_possible_only());
    for (rate, latency_s) in [(2_900.0, 0.000_5), (100.0, 0.011)] {
        assert_eq!(derive(rate, latency_s).censored, None, "a constant load at {latency_s} s");
    }
}

#[test]
fn windows_at_the_limit_of_storage_are_a_condition_of_the_size() {
    let wave = |minute: i32| 300.0 + 250.0 * (f64::from(minute) * 0.37).sin() + f64::from(minute % 7) * 5.0;
    let minutes: Vec<(f64, f64)> =
        (0..200).map(|minute| (wave(minute), 0.001 / (1.0 - wave(minute) / 620.0))).collect();
    let required = derive_requirements(&disk(&minutes, 1.0), &plain()).unwrap();
    assert!(matches!(required.incomplete, Some(DiagnosisVerdict::AtItsLimit { .. })), "{:?}", required.incomplete);
    let quick: Vec<(f64, f64)> = minutes.iter().map(|(rate, _)| (*rate, 0.000_5)).collect();
    assert_eq!(derive_requirements(&disk(&quick, 1.0), &plain()).unwrap().incomplete, None);
}

#[test]
fn windows_in_which_the_volume_stalls_are_no_demand() {
    let stalls = |points: usize, minutes: DatabaseDemand| {
        let throttled = build_throttled();
        let cap = &throttled.caps[0];
        let limit = CapLimit { kind: CapKind::Either, basis: CapBasis::Stalled, ..cap.limit };
        let slots = (0..points).collect();
        let caps = vec![Cap { metric: "VolumeStalledIOCheck".to_owned(), limit, points, slots, ..cap.clone() }];
        derive_requirements(&DatabaseDemand { caps, ..minutes }, &plain())
    };
    let idle = || {
        subject(&(0..40).map(|minute| format!("08:{minute:02} 60 reads iops mean 0\n")).collect::<Vec<_>>().concat())
    };
    for minutes in [build_throttled(), idle()] {
        let refused = stalls(40, minutes).unwrap_err();
        assert_eq!(refused, DesignError::Stalled { subject: "SALES".to_owned(), windows: 40 });
    }
    assert!(matches!(stalls(30, idle()), Err(DesignError::Idle { .. })));
    let half = stalls(30, build_throttled()).unwrap();
    assert!(matches!(half.incomplete, Some(DiagnosisVerdict::ProviderStall(_))) && half.censored.is_none());
}
