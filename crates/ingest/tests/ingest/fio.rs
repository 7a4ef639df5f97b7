//! Results of fio in each of its formats, of versions 2 and 3.

#[path = "fio/written.rs"]
mod written;

use plimsoll_ingest::{Fate, Outcome, OutcomeSummary, ReadingEvidence};
use plimsoll_record::Finding;
use proptest::prelude::*;

use self::written::{JSON_2, JSON_3, TEXT_2, TEXT_3};

pub use crate::read::outcome;
use crate::read::reading_as as reading;

fn refusal(name: &str, text: &str) -> String {
    match outcome(name, text.as_bytes(), 4_096) {
        Outcome::Read(reading) => panic!("{reading:?}"),
        Outcome::Refused { refusal, .. } => refusal.to_string(),
    }
}

fn near(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found - expected).abs() <= 1e-6 * expected.abs())
}

/// A result as a line: test; reads, sequential, block, depth, threads; IOPS, MB/s, mean and median in µs, seconds.
fn display(evidence: &ReadingEvidence) -> String {
    let setting = &evidence.setting;
    let or_none = |value: Option<f64>| {
        value.map_or("-".to_owned(), |value| {
            format!("{value:.6}").trim_end_matches('0').trim_end_matches('.').to_owned()
        })
    };
    let median =
        evidence.quantiles.iter().find(|(quantile, _)| (quantile - 0.5).abs() < 1e-9).map(|(_, value)| value * 1e6);
    let settings = [setting.reads, setting.block_bytes, setting.depth, setting.threads].map(or_none).join(" ");
    let order = setting.sequential.map_or("-", |sequential| if sequential { "sequential" } else { "random" });
    let got = [
        evidence.iops,
        evidence.bytes_s.map(|bytes| bytes / 1e6),
        evidence.mean_s.map(|mean| mean * 1e6),
        median,
        evidence.lasted_s,
    ];
    format!("{}: {order} {settings}: {}", evidence.test, got.map(or_none).join(" "))
}

fn check(name: &str, text: &str, id: &str, expected: &[&str]) {
    let reading = reading(name, text);
    assert_eq!(reading.kind.id, id);
    let found: Vec<String> = reading.evidence.iter().map(display).collect();
    assert_eq!(found, expected, "{:?}", reading.cautions);
    assert_eq!(reading.figures, [], "no demand");
}

const MIXED: [&str; 3] = [
    "mix: random 0.7 8192 64 4: 1000 8.192 700 - 10",
    "mix, its reads: random 1 8192 64 4: 700 5.7344 400 300 10",
    "mix, its writes: random 0 8192 64 4: 300 2.4576 1400 900 10",
];

#[test]
fn json_of_both_versions_yields_equal_results() {
    check("", JSON_3, "fio-json", &MIXED);
    check("", JSON_2, "fio-json", &MIXED);
    assert_eq!(reading("", JSON_3).version.as_deref(), Some("fio-3.36"));
    let scope = &reading("", JSON_3).scopes[0];
    assert_eq!(scope.part, "/dev/nvme9n9");
}

#[test]
fn text_of_both_versions_yields_equal_results() {
    check("", TEXT_3, "fio-text", &MIXED);
    check("", TEXT_2, "fio-text", &MIXED);
    let behind_host: String = TEXT_3.lines().flat_map(|line| ["<db1> ", line, "\n"]).collect();
    assert_eq!(reading("", &behind_host).scopes[0].host, "db1");
}

/// Fields of a direction: KiB, KiB/s, IOPS, ms; then latencies and the rest.
fn terse(kib: u64, rate: u64, iops: u64, us: u64, median: u64, more: usize) -> String {
    let percentiles = (0..20).map(|n| if n == 6 { format!("50.000000%={median}") } else { "0%=0".to_owned() });
    let percentiles: Vec<String> = percentiles.collect();
    let rest = vec!["0"; more].join(";");
    format!("{kib};{rate};{iops};10000;1;9;2.5;0.1;1;9;{us}.0;0.1;{};1;9;{us}.0;1.5;{rest}", percentiles.join(";"))
}

#[test]
fn terse_lines_of_each_version_are_read() {
    let line = |version: u32, more: usize, trims: bool| {
        let both = [terse(56_000, 5_600, 700, 400, 300, more), terse(24_000, 2_400, 300, 1_400, 900, more)].join(";");
        let trim = if trims { format!(";{}", terse(0, 0, 0, 0, 0, more)) } else { String::new() };
        let head = if version == 2 { "2;mix;0;0".to_owned() } else { format!("{version};fio-3.36;mix;0;0") };
        format!("{head};{both}{trim};1.0%;2.0%;10;0;5\n")
    };
    let expected: Vec<String> =
        MIXED.iter().map(|line| line.replace("random", "-").replace("8192 64 4", "8192 - -")).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    for (version, more, trims) in [(2, 5, false), (3, 5, false), (4, 5, true), (5, 11, true)] {
        check("", &line(version, more, trims), "fio-terse", &expected);
    }
    let cut = line(3, 5, false) + &line(3, 5, false)[..100];
    let outcome = outcome("", cut.as_bytes(), 7);
    assert_eq!(outcome.verdict(), OutcomeSummary::Partly);
}

#[test]
fn clients_of_terse_lines_end_with_their_disks() {
    let line = |name: &str, iops: u64| {
        let both = [terse(56_000, 5_600, iops, 400, 300, 5), terse(0, 0, 0, 0, 0, 5)].join(";");
        format!("3;fio-3.36;{name};0;0;{both};1.0%;2.0%;10;0;5\n")
    };
    let disks = ";sda;700;0;0;0;280;0;280;90.00%\n";
    let progress = "Jobs: 1 (f=1): [r(1)][100.0%][eta 00m:00s]\r";
    let text = [progress, &line("mix", 700), disks, &line("mix", 500), disks, &line("All clients", 1_200)].concat();
    let found = reading("", &text);
    let of = |one: &ReadingEvidence| (&*found.scopes[one.scope as usize].host, one.iops.unwrap_or_default());
    let found: Vec<_> = found.evidence.iter().map(of).collect();
    assert_eq!(found, [("", 1_200.0), ("client 1", 700.0), ("client 2", 500.0)]);
}

#[test]
fn jobs_of_grouped_clients_on_a_host_are_counted_by_client() {
    let entry = |name: &str, port: u32| {
        format!(
            "{{\"jobname\": \"{name}\", \"groupid\": 0, \"error\": 0, \"job options\": {{\"bs\": \"4k\", \"rw\": \"randread\", \
             \"iodepth\": \"8\", \"numjobs\": \"2\", \"ioengine\": \"libaio\"}}, \"read\": {{\"iops\": 8000, \"total_ios\": 80000, \
             \"runtime\": 10000, \"lat_ns\": {{\"mean\": 2000000.0}}}}, \"hostname\": \"db1\", \"port\": {port}}}"
        )
    };
    let entries = [entry("rr", 1), entry("rr", 2), entry("All clients", 2)].join(",");
    let found = reading("", &format!("{{\"fio version\": \"fio-3.36\", \"client_stats\": [{entries}]}}"));
    let depths: Vec<_> = found.evidence.iter().map(|one| one.setting.depth).collect();
    assert_eq!(depths, [Some(32.0), Some(16.0), Some(16.0)]);
    assert!(
        !found.cautions.iter().any(|caution| caution.doubt.to_string().contains("in flight")),
        "{:?}",
        found.cautions
    );
}

/// Text of a run of random reads whose device got `ios` of 700,000 operations.
fn text_with_disks(ios: u32, more: &str) -> String {
    format!(
        "j: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=16\n\
         j: (groupid=0, jobs=1): err= 0: pid=1: Thu Jun 12 12:38:19 2025\n  read: IOPS=70.0k, BW=273MiB/s \
         (287MB/s)(2734MiB/10001msec)\n     lat (usec): min=1, max=9, avg=200.00, stdev=1.00\n\
         \x20    issued rwts: total=700000,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n\nRun status group 0 (all jobs):\n   READ: \
         bw=273MiB/s (287MB/s), 273MiB/s-273MiB/s (287MB/s-287MB/s), io=2734MiB (2867MB), run=10001-10001msec\n\n\
         Disk stats (read/write):\n{more}  vda: ios={ios}/12, merge=0/3, ticks=900/1, in_queue=901, util=98.00%\n"
    )
}

#[test]
fn disks_of_text_show_reads_from_a_cache() {
    let findings = |text: &str| reading("", text).evidence[0].findings.clone();
    let cached = findings(&text_with_disks(7_000, ""));
    assert!(matches!(cached[..], [Finding::DeviceNotReached { share }] if (share - 0.99).abs() < 1e-9), "{cached:?}");
    assert_eq!(findings(&text_with_disks(690_000, "")), []);
    // A compound disk and its members count the same operations.
    let compound = "    md0: ios=7000/12, merge=0/0, aggrios=3500/6, aggrmerge=0/0, aggrticks=1/1, aggrin_queue=2, aggrutil=98.00%\n";
    assert_eq!(findings(&text_with_disks(7_000, compound)).len(), 1);
    // Each run has disks of its own.
    let two = text_with_disks(7_000, "") + &text_with_disks(690_000, "");
    let counts: Vec<usize> = reading("", &two).evidence.iter().map(|one| one.findings.len()).collect();
    assert_eq!(counts, [1, 0]);
}

#[test]
fn documents_between_other_lines_are_found() {
    let two = format!("fio: warning {{ this is none\n>{JSON_3}\nbye }}\n{JSON_2}trailing");
    check("", &two, "fio-json", &[&MIXED[..], &MIXED[..]].concat());
    let cut = format!("{JSON_3}\n{}", &JSON_3[..JSON_3.len() / 2]);
    let partly = outcome("", cut.as_bytes(), 50);
    assert_eq!(
        (partly.verdict(), partly.reading().map(|reading| reading.evidence.len())),
        (OutcomeSummary::Partly, Some(3))
    );
    assert!(refusal("", &JSON_3[..JSON_3.len() / 2]).contains("complete output"));
    // Output of old versions is not valid JSON.
    let odd = JSON_3.replace("\"mean\" : 400000.0", "\"mean\" : -nan").replace("/dev/nvme9n9", "\\\\.\\PhysicalDrive1");
    assert_eq!(reading("", &odd).evidence.len(), 3);
}

#[test]
fn a_test_with_its_own_report_is_counted_once() {
    let running = JSON_3.replace("\"eta\" : 0", "\"eta\" : 5");
    let reading = reading("", &format!("{running}\n{JSON_3}"));
    assert_eq!((reading.evidence.len(), reading.parts[0].fate), (3, Fate::Ignored));
}

#[test]
fn concurrent_jobs_are_combined_first() {
    let (_, rest) = JSON_3.split_once("\"jobs\" : [").unwrap();
    let (entry, _) = rest.split_once("],\n  \"disk_util\"").unwrap();
    let text = format!("{{\"fio version\" : \"fio-3.36\", \"jobs\" : [{entry},{entry}]}}");
    let found: Vec<String> = reading("", &text).evidence.iter().map(display).collect();
    assert_eq!(found.len(), 9);
    assert_eq!(found[0], "mix, 2 jobs at once: random 0.7 8192 64 4: 2000 16.384 700 - 10");
    let clients = JSON_3
        .replace("\"jobs\" :", "\"client_stats\" :")
        .replace("\"jobname\"", "\"hostname\" : \"db1\", \"jobname\"");
    assert_eq!(reading("", &clients).scopes[0].host, "db1");
}

#[test]
fn unified_results_beside_their_parts_are_counted_once() {
    let direction = |iops: u32| {
        format!(
            "{{\"iops\": {iops}.0, \"total_ios\": {}, \"runtime\": 100000, \"lat_ns\": {{\"mean\": 2000000.0}}}}",
            iops * 100
        )
    };
    let text = format!(
        "{{\"fio version\": \"fio-3.33\", \"jobs\": [{{\"jobname\": \"mix\", \"groupid\": 0, \"error\": 0, \"job options\": \
         {{\"bs\": \"4k\", \"rw\": \"randrw\", \"iodepth\": \"8\", \"direct\": \"1\", \"unified_rw_reporting\": \"both\"}}, \
         \"read\": {}, \"write\": {}, \"mixed\": {}}}]}}",
        direction(1_000),
        direction(500),
        direction(1_500)
    );
    let found = reading("", &text);
    let results: Vec<_> = found.evidence.iter().map(|one| (one.test.as_str(), one.iops)).collect();
    let expected = [("mix", Some(1_500.0)), ("mix, its reads", Some(1_000.0)), ("mix, its writes", Some(500.0))];
    assert_eq!(results, expected, "{:?}", found.cautions);
}

/// Client mode of fio 3.36 and 3.33: results of two hosts, and their sum.
#[test]
fn sum_of_all_clients_is_not_a_client() {
    let entry = |job: &str, host: &str, port: u32, iops: f64| {
        format!(
            "{{\"jobname\": \"{job}\", \"groupid\": 0, \"error\": 0, \"job options\": {{\"bs\": \"4k\", \"rw\": \"randread\", \
             \"iodepth\": \"16\", \"ioengine\": \"libaio\"}}, \"read\": {{\"iops\": {iops}, \"total_ios\": {}, \"runtime\": \
             10000, \"lat_ns\": {{\"mean\": 2000000.0}}}}, \"hostname\": \"{host}\", \"port\": {port}}}",
            iops * 10.0
        )
    };
    let document = |entries: &[String]| {
        reading("", &format!("{{\"fio version\": \"fio-3.36\", \"client_stats\": [{}]}}", entries.join(",")))
    };
    let sum = entry("All clients", "db2", 8765, 12_000.0);
    let found = document(&[entry("rr", "db1", 8765, 6_000.0), entry("rr", "db2", 8765, 6_000.0), sum.clone()]);
    let lines: Vec<String> = found.evidence.iter().map(display).collect();
    assert_eq!(lines[0], "rr, 2 clients at once: random 1 4096 32 2: 12000 - 2000 - 10");
    let hosts: Vec<&str> = found.evidence.iter().map(|one| &*found.scopes[one.scope as usize].host).collect();
    assert_eq!((hosts, &found.cautions[..]), (vec!["", "db1", "db2"], &[][..]));
    let same = document(&[entry("rr", "db1", 1, 6_000.0), entry("rr", "db1", 2, 6_000.0), sum.clone()]);
    let hosts: Vec<&str> = same.evidence.iter().map(|one| &*same.scopes[one.scope as usize].host).collect();
    assert_eq!(hosts, ["", "db1:1", "db1:2"]);
    let cut = document(&[entry("rr", "db1", 8765, 6_000.0), sum.clone()]);
    assert_eq!(cut.evidence.len(), 1);
    assert!(cut.cautions[0].doubt.to_string().contains("add up to 6000"), "{:?}", cut.cautions);
    let alone = document(&[sum]);
    assert_eq!(alone.evidence.iter().map(display).collect::<Vec<_>>(), ["All clients: - 1 - - -: 12000 - 2000 - 10"]);
}

#[test]
fn results_of_clients_have_hosts_in_text() {
    let begin = |host: &str| {
        format!(
            "<{host}> j: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=8\n"
        )
    };
    let result = |iops: u32| {
        format!(
            "j: (groupid=0, jobs=1): err= 0: pid=1: Thu Jun 12 12:38:19 2025\n  write: IOPS={iops}, BW=4000KiB/s \
             (4096kB/s)(40MiB/10001msec); 0 zone resets\n     lat (usec): min=1, max=9, avg=2000.00, stdev=1.00\n"
        )
    };
    let sum = "All clients: (groupid=0, jobs=2): err= 0: pid=0: Thu Jun 12 12:38:19 2025\n  write: IOPS=3000, BW=12Mi \
               (12M)(80MiB/10001msec); 0 zone resets\n";
    let status = "\nRun status group 0 (all jobs):\n  WRITE: bw=1MiB/s\n";
    let hosts = |text: &str| {
        let found = reading("", text);
        let of = |one: &ReadingEvidence| (found.scopes[one.scope as usize].host.clone(), one.iops.unwrap_or_default());
        (found.evidence.iter().map(of).collect::<Vec<_>>(), found.cautions.len())
    };
    let begins = begin("db1") + &begin("db2");
    let expected = vec![(String::new(), 3_000.0), ("db1".to_owned(), 1_000.0), ("db2".to_owned(), 2_000.0)];
    let each = format!("{begins}<db1> \n{}<db2> \n{}{sum}", result(1_000), result(2_000));
    assert_eq!(hosts(&each), (expected.clone(), 0));
    let connected = "hostname=db3, be=0, 64-bit, os=Linux\nhostname=db1, be=0\n";
    let lost = reading("", &format!("{connected}{each}client <db3>: timeout on SEND_ETA\n"));
    let [caution] = &lost.cautions[..] else { panic!("{:?}", lost.cautions) };
    assert!(caution.doubt.to_string().starts_with("no results of db3: "), "{}", caution.doubt);
    // The last line of the progress precedes a name without a line end.
    let progress = "Jobs: 2 (f=2): [w(2)][100.0%][w=12M][w=3000 IOPS][eta 00m:00s]\r          ";
    let redrawn = each.replacen("<db1> \n", &format!("{progress}\r<db1> \n"), 1);
    let redrawn = redrawn.replace("<db2> \nj: (", &format!("<db2> \n{progress}\rj: ("));
    assert_eq!(hosts(&redrawn), (expected.clone(), 0), "{redrawn:?}");
    // Both hosts are announced before the first result: their order is a guess.
    let late = format!("{begins}<db1> \n<db2> \n{}{status}{}{status}{sum}", result(1_000), result(2_000));
    assert_eq!(hosts(&late), (expected, 1));
}

#[test]
fn incomplete_operations_of_text_have_a_finding() {
    for counts in [
        "total=700000,0,0,0 short=3,0,0,0 dropped=1,0,0,0",
        "total=r=700000/w=0/d=0, short=r=3/w=0/d=0, drop=r=1/w=0/d=0",
    ] {
        let text = text_with_disks(690_000, "").replacen("total=700000,0,0,0 short=0,0,0,0 dropped=0,0,0,0", counts, 1);
        let findings = &reading("", &text).evidence[0].findings;
        assert!(findings.contains(&Finding::CutShort { short: 3, dropped: 1 }), "{findings:?}");
    }
}

#[test]
fn flushes_have_their_own_latencies() {
    let sync = "\"sync\" : { \"total_ios\" : 3000, \"lat_ns\" : { \"mean\" : 50000.0, \"percentile\" : { \"50.000000\" : 40000 } } },\n\"write\" :";
    let reading = reading("", &JSON_3.replace("\"write\" :", sync));
    assert_eq!(display(&reading.evidence[3]), "mix, its flushes: - - - 64 4: 300 - 50 40 10");
}

#[test]
fn logs_are_series() {
    let rows: String = (1..=5)
        .flat_map(|n| [format!("{}, {}, 0, 0, 0\n", n * 1_000, 100 * n), format!("{}, 7, 1, 0, 0\n", n * 1_000)])
        .collect();
    let reading = reading("out/test_iops.1.log", &rows);
    let of = |test: &str| -> Vec<&ReadingEvidence> {
        reading.evidence.iter().filter(|evidence| evidence.test.ends_with(test)).collect()
    };
    let reads = of("its reads");
    assert!(near(reads[0].iops, 300.0) && reads[0].at_s.is_none(), "{reads:?}");
    let moments: Vec<(f64, f64)> =
        reads[1..].iter().filter_map(|evidence| Some((evidence.at_s?, evidence.iops?))).collect();
    assert_eq!(moments, [(1.0, 100.0), (2.0, 200.0), (3.0, 300.0), (4.0, 400.0), (5.0, 500.0)]);
    assert_eq!(of("its writes").len(), 6);
    assert!(refusal("noname.txt", &rows).contains("keep the end of its file name"));
}

#[test]
fn guessed_units_of_logs_cause_a_caution() {
    let mean = |name: &str, text: &str| {
        let reading = reading(name, text);
        (reading.evidence[0].mean_s.or(reading.evidence[0].bytes_s), reading.cautions.len())
    };
    let (bandwidth, _) = mean("a_bw.log", "500, 64816, 0, 0\n1000, 64816, 0, 0\n");
    assert!(near(bandwidth, 64_816.0 * 1024.0));
    let (old, doubts) = mean("a_clat.log", "250, 104056, 0, 0\n500, 104056, 0, 0\n");
    assert!(near(old, 0.104_056) && doubts == 1, "{old:?}");
    // A latency of 2.9 seconds after a second is impossible: these are nanoseconds.
    let (new, doubts) = mean("a_clat.1.log", "1000, 2905702, 0, 0\n2000, 2905702, 0, 0\n");
    assert!(near(new, 0.002_905_702) && doubts == 0, "{new:?}");
    let (wide, _) = mean("a_lat.log", "250, 80000, 0, 4096, 8192, 0x0\n500, 80000, 0, 4096, 0, 0x0\n");
    assert!(near(wide, 80e-6), "{wide:?}");
}

#[test]
fn histograms_have_quantiles() {
    let row = |ms: u64, at: usize| {
        let counts: Vec<&str> = (0..1856).map(|bin| if bin == at { "10" } else { "0" }).collect();
        format!("{ms}, 0, 4096, {}\n", counts.join(", "))
    };
    let reading = reading("a_clat_hist.1.log", &(row(1_000, 100) + &row(2_000, 200)));
    assert_eq!((reading.kind.id, reading.evidence.len()), ("fio-histogram-log", 3));
    // The 201st bin begins at (64 + 8) * 4 nanoseconds, and is 4 wide.
    let interval = &reading.evidence[1];
    assert!(near(interval.quantiles.first().map(|(_, value)| *value), 290e-9), "{interval:?}");
    assert!(near(interval.iops, 10.0) && interval.at_s == Some(1.0));
    assert!(near(reading.evidence[2].mean_s, f64::midpoint(100.5e-9, 290e-9)), "{:?}", reading.evidence[2]);
}

#[test]
fn edited_numbers_are_noticed() {
    let has_caution = |text: &str| {
        reading("", text).cautions.iter().any(|caution| caution.doubt.to_string().contains("manual edits"))
    };
    assert!(!has_caution(JSON_3) && has_caution(&JSON_3.replace("\"iops\" : 700.0", "\"iops\" : 900.0")));
}

#[test]
fn other_inputs_are_refused() {
    assert!(
        refusal("", "mix: (g=0): rw=randrw, bs=8k-8k, ioengine=libaio, iodepth=16\nfio-3.1\n")
            .contains("let the test run to its end")
    );
    assert!(refusal("", ".TH fio 1\n: (groupid=0, jobs=1): err= 0: BW=1\n").contains("not a known format"));
    let idle = JSON_3.replace("700.0", "0").replace("300.0", "0").replace("\"total_ios\" : 7000", "\"total_ios\" : 0");
    let idle =
        idle.replace("\"total_ios\" : 3000", "\"total_ios\" : 0").replace("5734400", "0").replace("2457600", "0");
    assert!(refusal("", &idle).contains("no job with operations"));
    let (run, _) = TEXT_3.split_once("Run status").unwrap();
    assert_eq!(outcome("", run.as_bytes(), 64).verdict(), OutcomeSummary::Partly);
}

fn inputs() -> [(&'static str, &'static str); 6] {
    let log = "1000, 100, 0, 0\n2000, 100, 1, 0\n";
    [("", JSON_3), ("", JSON_2), ("", TEXT_3), ("", TEXT_2), ("a_bw.log", log), ("a_lat.log", log)]
}

proptest! {
    #[test]
    fn outcomes_are_independent_of_piece_sizes(which in 0_usize..6, step in 1_usize..500) {
        let (name, text) = inputs()[which];
        prop_assert_eq!(outcome(name, text.as_bytes(), step), outcome(name, text.as_bytes(), text.len()));
    }

    #[test]
    fn any_bytes_yield_an_outcome(which in 0_usize..6, at in 0.0_f64..1.0, bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let (name, text) = inputs()[which];
        let at = (text.len() as f64 * at) as usize;
        let mut broken = text.as_bytes().to_vec();
        broken.splice(at..(at + bytes.len() / 2).min(text.len()), bytes);
        let total = outcome(name, &broken, broken.len());
        prop_assert_eq!(outcome(name, &broken, 37), total);
    }
}
