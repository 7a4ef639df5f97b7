//! Lines printed by fio 3.42 from known figures: tests without an installed fio, and rare cases.

use plimsoll_fio::print::{
    Depths, Detail, DirectionResult, DiskCounts, DiskUse, Errors, Failure, FioReport, Idleness, JobReport, Kilo,
    LatencyCounts, LatencyHistogram, Moments, OutputForm, SampleStatistics, SteadyState, TerseVersion, Unified, Units,
    format_report, json, normal, terse, version,
};
use plimsoll_record::{Bins, Recorder};
use plimsoll_units::Span;

fn bins(latencies_ns: &[u64]) -> Bins {
    let mut recorder = Recorder::new();
    for ns in latencies_ns {
        recorder.record(Span::from_nanos(*ns));
    }
    recorder.take()
}

/// Latencies without bins.
fn moments(count: u64, (min_ns, max_ns): (u64, u64), (mean_ns, deviation_ns): (f64, f64)) -> LatencyHistogram {
    let exact = Some(Moments { min_ns, max_ns, mean_ns, deviation_ns });
    LatencyHistogram { bins: Bins { count, ..Bins::default() }, exact }
}

fn build_exact(ns: u64) -> LatencyHistogram {
    let exact = Some(Moments { min_ns: ns, max_ns: ns, mean_ns: ns as f64, deviation_ns: 0.0 });
    LatencyHistogram { bins: bins(&[ns]), exact }
}

fn report(job: JobReport) -> FioReport {
    let created = "Sat Nov 21 19:18:18 2026".to_owned();
    FioReport {
        version: "fio-3.42".to_owned(),
        made_unix_ms: 1_795_288_698_123,
        created,
        jobs: vec![job],
        ..FioReport::default()
    }
}

/// A read of 4 KiB with zero latency.
fn single() -> JobReport {
    let read = DirectionResult {
        bytes: 4_096,
        operations: 1,
        runtime_ms: 1,
        completion: build_exact(10_526),
        total: build_exact(10_917),
        ..DirectionResult::default()
    };
    let depths = Depths { level: [1, 0, 0, 0, 0, 0, 0], ..Depths::default() };
    JobReport { pid: 24_893, read, depths, runtime_ms: 1, minor_faults: 6, ..JobReport::new("b") }
}

#[test]
fn normal_text_matches_fio() {
    let expected = "
b: (groupid=0, jobs=1): err= 0: pid=24893: Sat Nov 21 19:18:18 2026
  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(4096B/1msec)
    clat (nsec): min=10526, max=10526, avg=10526.00, stdev= 0.00
     lat (nsec): min=10917, max=10917, avg=10917.00, stdev= 0.00
    clat percentiles (nsec):
     |  1.00th=[10560],  5.00th=[10560], 10.00th=[10560], 20.00th=[10560],
     | 30.00th=[10560], 40.00th=[10560], 50.00th=[10560], 60.00th=[10560],
     | 70.00th=[10560], 80.00th=[10560], 90.00th=[10560], 95.00th=[10560],
     | 99.00th=[10560], 99.50th=[10560], 99.90th=[10560], 99.95th=[10560],
     | 99.99th=[10560]
  lat (usec)   : 20=100.00%
  cpu          : usr=0.00%, sys=0.00%, ctx=0, majf=0, minf=6
  IO depths    : 1=100.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
     submit    : 0=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     complete  : 0=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     issued rwts: total=1,0,0,0 short=0,0,0,0 dropped=0,0,0,0
     latency   : target=0.00ns, window=0.00ns, percentile=100.00%, depth=1

Run status group 0 (all jobs):
   READ: bw=4000KiB/s (4096kB/s), 4000KiB/s-4000KiB/s (4096kB/s-4096kB/s), io=4096B (4096B), run=1-1msec
";
    assert_eq!(normal(&report(single())), expected);
}

#[test]
fn terse_lines_match_fio() {
    let percents = "1 5 10 20 30 40 50 60 70 80 90 95 99 99.5 99.9 99.95 99.99";
    let percentiles = |us: u64| -> String {
        let told = percents.split(' ').map(|percent| format!("{:.6}%={us};", percent.parse::<f64>().unwrap()));
        told.collect::<String>() + "0%=0;0%=0;0%=0"
    };
    let nothing = format!(
        "0;0;0;0;0;0;0.000000;0.000000;0;0;0.000000;0.000000;{};0;0;0.000000;0.000000;0;0;0.000000%;0.000000;0.000000",
        percentiles(0)
    );
    let expected = format!(
        "3;fio-3.42;b;0;0;4;4000;1000;1;0;0;0.000000;0.000000;10;10;10.526000;0.000000;{};10;10;10.917000;0.000000;0;0;\
         0.000000%;0.000000;0.000000;{nothing};0.000000%;0.000000%;0;0;6;100.0%;0.0%;0.0%;0.0%;0.0%;0.0%;0.0%;0.00%;\
         0.00%;0.00%;100.00%{}\n",
        percentiles(10),
        ";0.00%".repeat(18)
    );
    assert_eq!(terse(&report(single()), TerseVersion::V3), expected);
    let described = JobReport { description: Some("hello".to_owned()), ..single() };
    let second = terse(&report(described), TerseVersion::V2);
    assert!(second.starts_with("2;b;0;0;4;") && second.ends_with("%\n;hello\n"), "{second}");
    assert_eq!(TerseVersion::of(6), None);
}

/// The line of normal text with this beginning.
fn find_line(job: JobReport, begin: &str) -> String {
    let text = normal(&report(job));
    let found = text.lines().find(|line| line.starts_with(begin));
    found.unwrap_or_else(|| panic!("{begin} in {text}")).to_owned()
}

#[test]
fn failures_and_errors_are_printed() {
    let failure = "file:io_u.c:2057, func=io_u error, error=No space left on device";
    let job = JobReport {
        pid: 23_513,
        failure: Some(Failure { errno: 28, text: failure.to_owned() }),
        errors: Some(Errors { total: 1, first: 28, text: "No space left on device".to_owned() }),
        ..JobReport::new("j")
    };
    let header = format!("j: (groupid=0, jobs=1): err=28 ({failure}): pid=23513: Sat Nov 21 19:18:18 2026");
    assert_eq!(find_line(job.clone(), "j: "), header);
    let errors = "     errors    : total=1, first_error=28/<No space left on device>";
    assert_eq!(find_line(job.clone(), "     errors"), errors);
    let text = json(&report(job.clone()), Detail::Percentiles);
    let told = "      \"total_err\" : 1,\n      \"first_error\" : 28,\n      \"latency_depth\" : 1,\n";
    assert!(text.contains("\"error\" : 28,") && text.contains(told), "{text}");
    assert!(terse(&report(job), TerseVersion::V3).ends_with(";1;28\n"));
}

#[test]
fn steady_state_is_printed() {
    let steady = SteadyState {
        measure: "iops".to_owned(),
        limit: 30.0,
        in_percent: true,
        duration_s: 2,
        attained: true,
        criterion: 4.679_336,
        deviation: 801.5,
        slope: 0.0,
        bytes_s: vec![73_441_280, 66_875_392],
        iops: vec![17_930, 16_327],
        latency_ns: Vec::new(),
    };
    let of = |steady: SteadyState| JobReport { steady: Some(steady), ..single() };
    // fio prints 68.5MB/s, which is neither 70,158,336 bytes nor 66.9 MiB.
    let expected = "  steadystate  : attained=yes, bw=66.9MiB/s (70.2MB/s), iops=17.1k, iops mean dev=4.679%";
    assert_eq!(find_line(of(steady.clone()), "  steady"), expected);
    let slope =
        SteadyState { measure: "bw_slope".to_owned(), in_percent: false, latency_ns: vec![143, 127], ..steady.clone() };
    let expected = "  steadystate  : attained=yes, bw=66.9MiB/s (70.2MB/s), iops=17.1k, lat=135nsec, bw slope=4.679";
    assert_eq!(find_line(of(slope), "  steady"), expected);
    let text = json(&report(of(steady)), Detail::Percentiles);
    for part in [
        "\"ss\" : \"iops:30.000000%\"",
        "\"criterion\" : \"4.679336%\"",
        "\"bw_mean\" : 70158336",
        "\"iops_mean\" : 17128",
        "\"iops\" : [\n            17930,\n            16327\n          ]",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn disks_and_processors_are_printed() {
    // A RAID of two disks, as printed by fio 3.36.
    let raid = DiskUse {
        name: "md127".to_owned(),
        own: DiskCounts {
            operations: [0, 5_103_732],
            sectors: [0, 163_315_176],
            ticks_ms: [0, 528_238],
            queue_ms: 528_238,
            busy_percent: 95.73,
            ..DiskCounts::default()
        },
        below: Some(DiskCounts {
            operations: [0, 2_552_722],
            sectors: [0, 81_684_036],
            merges: [0, 29],
            ticks_ms: [0, 266_302],
            queue_ms: 266_304,
            busy_percent: 69.0,
        }),
    };
    let each_percent = vec![98.0, 98.19];
    let idleness = Idleness { system_percent: 98.09, each_percent, unit_mean_us: 6.67, unit_deviation_us: 0.0 };
    let complete = FioReport { disks: vec![raid], idleness: Some(idleness), ..report(single()) };
    let expected = "
Disk stats (read/write):
    md127: ios=0/5103732, sectors=0/163315176, merge=0/0, ticks=0/528238, in_queue=528238, util=95.73%, aggrios=0/2552722, \
                    aggsectors=0/81684036, aggrmerge=0/29, aggrticks=0/266302, aggrin_queue=266304, aggrutil=69.00%

CPU idleness:
  system: 98.09%
  percpu: 98.00%, 98.19%
  unit work: mean=6.67us, stddev=0.00
";
    let text = normal(&complete);
    assert!(text.ends_with(expected), "{text}");
    let text = json(&complete, Detail::Percentiles);
    let part = "      \"aggr_write_merge\" : 29,\n";
    assert!(text.contains(part) && text.contains("\"cpu-1\" : 98.190000,\n    \"unit_mean\" : 6.670000"), "{text}");
}

#[test]
fn mixed_directions_are_printed_with_separate_directions() {
    let lane = |bytes: u64, completion: LatencyHistogram| DirectionResult {
        bytes,
        operations: bytes / 4_096,
        runtime_ms: 1_001,
        completion,
        ..DirectionResult::default()
    };
    let mut job = JobReport {
        unified: Unified::Both,
        read: lane(25_194_496, moments(6_151, (90, 5_320_900), (61_854.908, 109_723.105))),
        write: lane(24_842_240, moments(6_065, (100, 1_440_200), (69_839.65, 47_404.17))),
        ..JobReport::new("four")
    };
    job.read.bandwidth = SampleStatistics { least: 23_952, max: 25_205, mean: 24_578.5, deviation: 886.005, count: 2 };
    job.write.bandwidth =
        SampleStatistics { least: 23_440, max: 25_029, mean: 24_234.5, deviation: 1_123.593, count: 2 };
    // fio 3.42 omits the unit: BW=47.7Mi (50.0M).
    assert_eq!(find_line(job.clone(), "  mixed"), "  mixed: IOPS=12.2k, BW=47.7MiB/s (50.0MB/s)(47.7MiB/1001msec)");
    let text = normal(&report(job.clone()));
    let completion = "    clat (nsec): min=90, max=5320.9k, avg=65819.1";
    assert!(text.contains(completion) && text.contains(", stdev=84811.4"), "{text}");
    let samples = "   bw (  KiB/s): min=47392, max=50234, per=100.00%, avg=48813.00, stdev=826.13, samples=4";
    assert!(text.contains(samples), "{text}");
    assert!(
        text.contains("     issued rwts: total=6151,6065,0,0 ") && text.contains("\n  MIXED: bw=47.7MiB/s"),
        "{text}"
    );
    let mixed = normal(&report(JobReport { unified: Unified::Mixed, ..job }));
    assert!(mixed.contains("     issued rwts: total=12216,0,0,0 ") && !mixed.contains("  READ: "), "{mixed}");
}

#[test]
fn samples_have_their_labelled_unit() {
    let mut job = single();
    job.units = Units { kilo: Kilo::Decimal, ..Units::default() };
    job.read.bandwidth = SampleStatistics { least: 976, max: 984, mean: 978.0, deviation: 4.0, count: 4 };
    let begin = "   bw (   kB/s): min=  999, max= 1007, per=24.45%, avg=1001.47, stdev= 4.10, samples=4";
    assert_eq!(find_line(job.clone(), "   bw"), begin);
    (job.units, job.read.bytes) = (Units::default(), 1 << 30);
    job.read.bandwidth =
        SampleStatistics { least: 21_911_568, max: 23_455_856, mean: 22_683_712.0, deviation: 1_091_976.5, count: 2 };
    let begin = "   bw (  MiB/s): min=21398, max=22906, per=2.16%, avg=22152.06, stdev=1066.38, samples=2";
    assert_eq!(find_line(job, "   bw"), begin);
}

#[test]
fn report_from_bins_alone() {
    let latencies: Vec<u64> = (0..1_000).map(|i| 100_000 + i * 200).collect();
    let mut job = single();
    job.read = DirectionResult {
        bytes: 4_096_000,
        operations: 1_000,
        runtime_ms: 1_000,
        completion: bins(&latencies).into(),
        ..DirectionResult::default()
    };
    let text = normal(&report(job));
    assert!(text.contains("    clat (usec): min=100, max=299, avg=199.90, stdev=57.7"), "{text}");
    assert!(text.contains(" 50.00th=[  200], 60.00th=[  221]"), "{text}");
    // Latencies from 100.0 to 299.8 us: those below 250 us; a bin cut by the limit counts by its middle.
    let share = line_share(&text);
    assert!((share - 75.0).abs() < 1.0, "{share}: {text}");
    let mut counts = LatencyCounts::default();
    counts.add(&bins(&latencies));
    assert_eq!(counts.us.iter().sum::<u64>(), 1_000);
}

/// Percentage at 250 us.
fn line_share(text: &str) -> f64 {
    let line = text.lines().find(|line| line.starts_with("  lat (usec)   : ")).unwrap();
    line.split("250=").nth(1).unwrap().split('%').next().unwrap().parse().unwrap()
}

#[test]
fn forms_come_in_the_order_of_fio() {
    let complete = FioReport { version: version("0.1.0"), ..report(single()) };
    let all = format_report(
        &complete,
        &[OutputForm::Normal, OutputForm::Json(Detail::Buckets), OutputForm::Terse(TerseVersion::V5)],
    );
    let places: Vec<usize> =
        ["5;fio-3.42-plimsoll-0.1.0;b;", "{\n  \"fio version\" : \"fio-3.42-plimsoll-0.1.0\",", "}\n\nb: (groupid=0"]
            .into_iter()
            .map(|part| all.find(part).unwrap_or_else(|| panic!("{part} in {all}")))
            .collect();
    assert!(places.is_sorted() && places[0] == 0, "{places:?}");
    assert_eq!(format_report(&complete, &[OutputForm::Json(Detail::Percentiles)]).matches("\"bins\"").count(), 0);
}
