//! Outputs of benchmarks read as evidence: texts in the format of each program, with invented numbers.

use plimsoll_ingest::{Fate, OutcomeSummary, Reading, ReadingEvidence};
use plimsoll_record::Finding;
use proptest::prelude::*;

use crate::read::refusal as refused;
pub(super) use crate::read::{outcome, reading as read};

/// Test, operations per second, bytes per second, mean in microseconds, share of reads and depth of each result; `-` is
/// absent.
#[track_caller]
fn check(text: &str, kind: &str, expected: &[&str]) -> Reading {
    let reading = read(text);
    assert_eq!(reading.kind.id, kind);
    assert!(reading.figures.is_empty(), "evidence is no demand");
    let found: Vec<String> = reading.evidence.iter().map(display).collect();
    assert_eq!(found, expected, "{:?}", reading.cautions);
    let lines = text.lines().count() as u64;
    assert!(reading.evidence.iter().all(|evidence| (1..=lines).contains(&evidence.origin.line)));
    reading
}

fn display(evidence: &ReadingEvidence) -> String {
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.0}"));
    let setting = &evidence.setting;
    format!(
        "{} | {} {} {} | {} {} {}",
        evidence.test,
        number(evidence.iops),
        number(evidence.bytes_s),
        number(evidence.mean_s.map(|seconds| seconds * 1e6)),
        number(setting.reads.map(|share| share * 100.0)),
        number(setting.depth),
        number(setting.block_bytes),
    )
}

const MARK_8: &str = "\
CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo
* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]

[Read]
  SEQ    1MiB (Q=  8, T= 1):   524.288 MB/s [    500.0 IOPS] < 16000.00 us>
  RND    4KiB (Q= 32, T=16):   409.600 MB/s [ 100000.0 IOPS] <  5120.00 us>

[Write]
  SEQ    1MiB (Q=  8, T= 1):   104.858 MB/s [    100.0 IOPS] < 80000.00 us>
  RND    4KiB (Q=  1, T= 1):     0.000 MB/s [      0.0 IOPS] <     0.00 us>

[Mix] Read 70%/Write 30%
  RND    4KiB (Q=  1, T= 1):     4.096 MB/s [   1000.0 IOPS] <  1000.00 us>

Profile: Default
   Test: 1 GiB (x5) [D: 48% (893/1863GiB)]
";

const MARK_3: &str = "\
CrystalDiskMark 3.0.1 x64 (C) 2007-2010 hiyohiyo
* MB/s = 1,000,000 byte/s [SATA/300 = 300,000,000 byte/s]

           Sequential Read :   250.000 MB/s
        Random Write 512KB :   524,288 MB/s
    Random Read 4KB (QD=1) :     4.096 MB/s [  1000.0 IOPS]
  Random Write 4KB (QD=32) :    40.960 MB/s [ 10000.0 IOPS]

  Test : 1000 MB [C: 37.6% (44.8/119.1 GB)] (x5)
";

const MARK_8_SAYS: [&str; 4] = [
    "SEQ 1MiB (Q= 8, T= 1) | 500 524288000 16000 | 100 8 1048576",
    "RND 4KiB (Q= 32, T=16) | 100000 409600000 5120 | 100 512 4096",
    "SEQ 1MiB (Q= 8, T= 1) | 100 104858000 80000 | 0 8 1048576",
    "RND 4KiB (Q= 1, T= 1) | 1000 4096000 1000 | 70 1 4096",
];

#[test]
fn crystaldiskmark_yields_scores_by_test() {
    let reading = check(MARK_8, "crystaldiskmark", &MARK_8_SAYS);
    assert_eq!(reading.version.as_deref(), Some("8.0.4"));
    assert_eq!(reading.scopes[0].part, "D:");
    assert!(reading.parts.iter().any(|part| part.fate == Fate::Empty), "tests not run are absent, not zero");
    assert!(reading.cautions[0].doubt.to_string().contains("best of several runs"));
    let old = [
        "Sequential Read | - 250000000 - | 100 - -",
        "Random Write 512KB | 1000 524288000 - | 0 - 524288",
        "Random Read 4KB (QD=1) | 1000 4096000 - | 100 1 4096",
        "Random Write 4KB (QD=32) | 10000 40960000 - | 0 32 4096",
    ];
    assert_eq!(check(MARK_3, "crystaldiskmark", &old).scopes[0].part, "C:");
    let wide: Vec<u8> = [0xfeff].into_iter().chain(MARK_8.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let wide = outcome("test", &wide, 7);
    assert_eq!(wide.reading().unwrap().evidence, reading.evidence);
    let kde = MARK_8
        .replace("CrystalDiskMark 8.0.4 x64", "      KDiskMark (3.1.4): https://example.org")
        .replace("[Mix] Read 70%/Write 30%", "[Mix] 70/30");
    assert!(check(&kde, "crystaldiskmark", &MARK_8_SAYS).cautions.is_empty());
    assert!(refused("CrystalDiskMark 8.0.4 x64\nnothing else\n").contains("no line with a score"));
}

const DISKSPD: &str = "\
Command Line: diskspd.exe -b8K -r -t2 -o4 -w25 -L a.dat

Input parameters:

\ttimespan:   1
\tduration: 10s
\tpath: 'a.dat'
\t\tperforming mix test (read/write ratio: 75/25)
\t\tblock size: 8KiB
\t\tusing random I/O (alignment: 8KiB)
\t\tnumber of outstanding I/O operations per thread: 4
\t\tthreads per file: 2

Results for timespan 1:
actual test time:\t10.00s
thread count:\t\t2

Total IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | IopsStdDev | LatStdDev |  file
     0 |        40960000 |         5000 |       3.91 |     500.00 |    8.000 |       1.00 |     1.000 | a.dat (1GiB)
     1 |        40960000 |         5000 |       3.91 |     500.00 |    8.000 |       1.00 |     1.000 | a.dat (1GiB)
total:          81920000 |        10000 |       7.81 |    1000.00 |    8.000 |       1.00 |     1.000

Read IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | IopsStdDev | LatStdDev |  file
total:          61440000 |         7500 |       5.86 |     750.00 |    9.000 |       1.00 |     1.000

Write IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | IopsStdDev | LatStdDev |  file
total:          20480000 |         2500 |       1.95 |     250.00 |    5.000 |       1.00 |     1.000

total:
  %-ile |  Read (ms) | Write (ms) | Total (ms)
    min |      0.100 |        N/A |      0.100
   50th |      9.000 |      5.000 |      8.000
3-nines |     20.000 |     10.000 |     20.000
    max |     30.000 |     11.000 |     30.000
";

#[test]
fn diskspd_yields_both_directions_of_a_mix() {
    let expected = [
        "span 1 | 1000 8192000 8000 | 75 8 8192",
        "span 1, its reads | 750 6144000 9000 | 100 8 8192",
        "span 1, its writes | 250 2048000 5000 | 0 8 8192",
    ];
    let reading = check(DISKSPD, "diskspd-text", &expected);
    assert_eq!(reading.evidence[0].lasted_s, Some(10.0));
    assert_eq!(reading.evidence[0].setting.sequential, Some(false));
    let quantiles = &reading.evidence[0].quantiles;
    assert_eq!(quantiles.len(), 4);
    assert!((quantiles[2].0 - 0.999).abs() < 1e-9 && (quantiles[2].1 - 0.020).abs() < 1e-9);
    assert_eq!(reading.evidence[2].quantiles.len(), 3, "a latency that is not there is none");
    let lacks = read(&DISKSPD.replace("thread count:\t\t2", "thread count:\t\t3"));
    assert!(reading.cautions.is_empty() && lacks.cautions[0].doubt.to_string().contains("may lack the others"));
    // Newer versions print settings only in the command.
    let from = DISKSPD.find("Input").unwrap();
    let short = format!("{}{}", &DISKSPD[..from], &DISKSPD[DISKSPD.find("Results").unwrap()..]);
    check(&short, "diskspd-text", &expected);
    // A truncated file causes a caution.
    let cut = outcome("test", &DISKSPD.as_bytes()[..DISKSPD.find("Write IO").unwrap()], 10);
    assert_eq!(cut.verdict(), OutcomeSummary::Partly);
}

const DISKSPD_XML: &str = "\
<Results><System><Tool><Version>2.1.0</Version></Tool></System>
<Profile><ResultFormat>xml</ResultFormat><TimeSpans><TimeSpan><Duration>10</Duration><Targets><Target>
<Path>b.dat</Path><BlockSize>4096</BlockSize><Random>4096</Random><RequestCount>3</RequestCount>
<ThreadsPerFile>2</ThreadsPerFile></Target></Targets></TimeSpan></TimeSpans></Profile>
<TimeSpan><TestTimeSeconds>10.00</TestTimeSeconds><ThreadCount>2</ThreadCount>
<Latency><AverageReadMilliseconds>2.000</AverageReadMilliseconds>
<AverageTotalMilliseconds>2.000</AverageTotalMilliseconds>
<Bucket><Percentile>50</Percentile><ReadMilliseconds>1.500</ReadMilliseconds><TotalMilliseconds>1.500</TotalMilliseconds>
</Bucket></Latency>
<Thread><Id>0</Id><Target><ReadBytes>40960000</ReadBytes><ReadCount>10000</ReadCount><WriteBytes>0</WriteBytes>
<WriteCount>0</WriteCount></Target></Thread>
<Thread><Id>1</Id><Target><ReadBytes>40960000</ReadBytes><ReadCount>10000</ReadCount><WriteBytes>0</WriteBytes>
<WriteCount>0</WriteCount></Target></Thread></TimeSpan></Results>
";

#[test]
fn diskspd_xml_is_summed_over_threads() {
    let reading = check(DISKSPD_XML, "diskspd-xml", &["span 1 | 2000 8192000 2000 | 100 6 4096"]);
    assert_eq!(reading.evidence[0].quantiles, [(0.5, 0.0015)]);
    assert_eq!((reading.version.as_deref(), reading.scopes[0].part.as_str()), (Some("2.1.0"), "b.dat"));
    assert!(refused(&DISKSPD_XML[..900]).contains("save it again completely"));
    let deep = DISKSPD_XML.replace("<Id>0</Id>", &"<a>".repeat(200_000));
    assert!(refused(&deep).contains("diskspd"));
}

#[test]
fn tests_through_the_page_cache_and_short_ones_are_doubted() {
    let findings = |text: &str| read(text).evidence[0].findings.clone();
    assert_eq!(findings(DISKSPD), [Finding::Buffered]);
    let direct = DISKSPD.replace("diskspd.exe -b8K", "diskspd.exe -Sh -b8K");
    assert_eq!(findings(&direct), []);
    let stated = DISKSPD.replace("\t\tblock size", "\t\tsoftware cache disabled\n\t\tblock size");
    assert_eq!(findings(&stated), []);
    assert_eq!(findings(&stated.replace("time:\t10.00s", "time:\t2.00s")), [Finding::TooShort { seconds: 2.0 }]);
    assert_eq!(findings(DISKSPD_XML), [Finding::Buffered]);
    let cache = "<DisableOSCache>true</DisableOSCache><BlockSize>";
    assert_eq!(findings(&DISKSPD_XML.replace("<BlockSize>", cache)), []);

    assert_eq!(findings(FILEIO_1_0), []);
    let with = |flags: &str| {
        let mode = "Using synchronous I/O mode\nDoing random";
        let text = FILEIO_1_0.replace("Block size", &format!("Extra file open flags: {flags}\nBlock size"));
        read(&text.replace("Doing random", mode)).evidence.swap_remove(0)
    };
    assert_eq!((with("(none)").findings, with("(none)").setting.depth), (vec![Finding::Buffered], Some(4.0)));
    assert_eq!((with("directio").findings, with("16384").findings), (Vec::new(), Vec::new()));
    assert_eq!(with("0").findings, [Finding::Buffered]);
}

const BONNIE_CSV: &str = "1.97,1.97,box,2,1421800799,8G,,100,90,2048,15,1024,5,90,88,4096,7,500.5,10,16,,,,,\
4922,58,+++++,+++,5440,53,2898,97,+++++,+++,5908,60,9us,512ms,670ms,,44660us,200ms,3747us,1759us,1643us,33518us,192us,839us";

const BONNIE_TEXT: &str = "\
Version  1.03       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
box           4G:8k 19202  60  2048  20  1024  13 43262  97  4096  51 +++++ +++
                    ------Sequential Create------ --------Random Create--------
                    -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                 16   100   1   100   1   100   1   100   1   100   1   100   1
";

#[test]
fn bonnie_yields_blocks_and_seeks() {
    let expected = [
        "block output | - 2097152 - | 0 - -",
        "rewrite | - 1048576 - | 50 - -",
        "block input | - 4194304 - | 100 - -",
        "seeks | 500 - - | 91 - -",
    ];
    let reading = check(BONNIE_CSV, "bonnie", &expected);
    assert_eq!(reading.evidence[3].quantiles, [(1.0, 0.2)], "the longest operation");
    assert_eq!(reading.scopes[0].host, "box");
    let old =
        expected[..3].iter().map(|text| text.replace("- -", "- 8192").replace("| - 8192", "| -")).collect::<Vec<_>>();
    let reading = read(BONNIE_TEXT);
    let found: Vec<String> = reading.evidence.iter().map(display).collect();
    assert_eq!(found.len(), old.len());
    assert!(reading.evidence.iter().all(|evidence| evidence.setting.block_bytes == Some(8_192.0)));
    assert!(reading.cautions.iter().any(|caution| caution.doubt.to_string().contains("less than half a second")));
    // The same row of a quick run, and of a version with a unit in each cell.
    let quick = BONNIE_TEXT.replace(" 19202  60 ", "           ").replace(" 43262  97 ", "           ");
    assert_eq!(read(&quick).evidence.len(), 3);
    let units = BONNIE_TEXT.replace(" 2048 ", " 1.5g ");
    assert_eq!(read(&units).evidence[0].bytes_s, Some(1.5 * 1_073_741_824.0));
}

const TIOTEST: &str = "\
Tiotest results for 8 concurrent io threads:
| Item                  | Time     | Rate         | Usr CPU  | Sys CPU |
+-----------------------+----------+--------------+----------+---------+
| Write        1600 MBs |    8.0 s |   2.000 MB/s |   5.4 %  | 742.1 % |
| Random Read    31 MBs |    0.0 s | 4783.000 MB/s | 4898.2 %  | 1224.6 % |
Tiotest latency results:
| Item         | Average latency | Maximum latency | % >2 sec | % >10 sec |
| Write        |        0.500 ms |      835.720 ms |  0.00000 |   0.00000 |
| Random Read  |        0.006 ms |        0.025 ms |  0.00000 |   0.00000 |
| Total        |        0.016 ms |      835.720 ms |  0.00000 |   0.00000 |
";

#[test]
fn tiotest_and_tiobench_yield_rates_and_latencies() {
    let expected = ["Write | - 2097152 500 | 0 8 -", "Random Read | - 5015339008 6 | 100 8 -"];
    let reading = check(TIOTEST, "tiotest", &expected);
    assert_eq!((reading.evidence[0].lasted_s, reading.evidence[1].lasted_s), (Some(8.0), None));
    let tables = "\
Sequential Reads
                              File  Blk   Num                   Avg      Maximum      Lat%     Lat%    CPU
Identifier                    Size  Size  Thr   Rate  (CPU%)  Latency    Latency      >2s      >10s    Eff
---------------------------- ------ ----- ---  ------ ------ --------- -----------  -------- -------- -----
my kernel 5.4                 4000  4096    2    4.00 4.962%     0.063      301.65   0.00000  0.00000  1218
";
    check(tables, "tiotest", &["Sequential Reads | 1024 4194304 63 | 100 2 4096"]);
}

#[test]
fn orion_yields_maxima_and_matrices() {
    let summary = "\
ORION VERSION 11.1.0.7.0
Small IO size: 8 KB
Large IO size: 1024 KB
Write: 0%
Duration for each Data Point: 60 seconds
Name: /dev/vdx  Size: 21474836480

Maximum Large MBPS=100.00 @ Small=0 and Large=2
Maximum Small IOPS=1000 @ Small=5 and Large=0
Minimum Small Latency=0.26 @ Small=5 and Large=0
";
    let expected = [
        "Maximum Large MBPS | - 104857600 - | 100 2 1048576",
        "Maximum Small IOPS | 1000 - - | 100 5 8192",
        "Minimum Small Latency | - - 260 | 100 5 8192",
    ];
    assert_eq!(check(summary, "orion", &expected).scopes[0].part, "/dev/vdx");
    let newer = summary.replace("0.26 @", "97.677 usecs @");
    assert!((read(&newer).evidence[2].mean_s.unwrap() - 97.677e-6).abs() < 1e-12);
    let matrix = "Large/Small,      1,      2\n      0,    106,\n      1,     90,    150\n";
    let named = |name| outcome(name, matrix.as_bytes(), 5);
    let found: Vec<String> = named("a_2024_iops.csv").reading().unwrap().evidence.iter().map(display).collect();
    let expected = [
        "small 1, large 0 | 106 - - | - 1 -",
        "small 1, large 1 | 90 - - | - 2 -",
        "small 2, large 1 | 150 - - | - 3 -",
    ];
    assert_eq!(found, expected);
    assert_eq!(named("a_mbps.csv").reading().unwrap().evidence[0].bytes_s, Some(106.0 * 1_048_576.0));
    assert_eq!(named("a_lat.csv").verdict(), OutcomeSummary::Refused);
    assert!(refused(matrix).contains("keep the end of its file name"));
}

const SLOB: &str = "\
FILE|SESSIONS|ELAPSED|DB CPU|DB Tm|EXECUTES|LIO|PREADS|READ_MBS|PWRITES|WRITE_MBS|REDO_MBS|DFSR_LAT|DPR_LAT|DFPR_LAT|DFPW_LAT|LFPW_LAT|TOP WAIT|
awr_0.16.1|16|1200|3.0|15.0|1000|90000|800|6.25|200|1.5|2.5|500|0|0|900|450|db file sequential read|
awr_0.32.1|32|1200|3.0|15.0|1000|90000|||||2.5|500|0|0|900|450|db file sequential read|
";

#[test]
fn slob_yields_a_point_per_run() {
    let expected = [
        "awr_0.16.1: data files, latency of reads | 1000 8126464 500 | 80 - -",
        "awr_0.16.1: redo | - 2621440 450 | 0 - -",
    ];
    let reading = check(SLOB, "slob", &expected);
    assert!(reading.parts.iter().any(|part| part.fate == Fate::Broken), "the second row lacks its numbers");
    assert_eq!(reading.evidence[0].setting.threads, Some(16.0));
    assert!(refused(SLOB.lines().next().unwrap()).contains("has no row"));
    assert!(refused("UPDATE_PCT=0\nWORK_UNIT=255\n").contains("these are its settings"));
    let pgio = "DBNAME:  pg. 4 schemas, 2 threads(each). Run time: 120 seconds. RIOPS >7400< CACHE_HITS/s >2799<\n";
    let reading = check(pgio, "slob", &["pgio: reads | 7400 - - | - - -"]);
    assert_eq!((reading.evidence[0].setting.threads, reading.evidence[0].lasted_s), (Some(8.0), Some(120.0)));
}

fn transactions(text: &str) -> Vec<(Option<f64>, Option<f64>, Option<f64>)> {
    let reading = read(text);
    reading.evidence.iter().map(|one| (one.transactions_s, one.mean_s, one.setting.threads)).collect()
}

#[test]
fn transactions_are_not_storage_operations() {
    let pgbench = "\
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 10
query mode: simple
number of clients: 16
duration: 60 s
latency average = 8.000 ms
tps = 1990.000000 (including connections establishing)
tps = 2000.000000 (excluding connections establishing)
SQL script 1: a.sql
 - tps = 1.0
";
    assert_eq!(transactions(pgbench), [(Some(2_000.0), Some(0.008), Some(16.0))]);
    assert!(refused(&pgbench.replace("tps =", "t =")).contains("no line `tps =`"));
    let hammer = "\
HammerDB CLI v4.5
Vuser 1:Timing test period of 5 in minutes
Vuser 1:8 Active Virtual Users configured
Vuser 1:TEST RESULT : System achieved 600 NOPM from 1200 PostgreSQL TPM
";
    assert_eq!(transactions(hammer), [(Some(20.0), None, Some(8.0)), (Some(10.0), None, Some(8.0))]);
    let older = hammer.replace("600 NOPM from 1200 PostgreSQL TPM", "1200 Oracle TPM at 600 NOPM");
    assert_eq!(transactions(&older), transactions(hammer));
    let unfinished = &hammer[..hammer.find("Vuser 1:TEST").unwrap()];
    assert!(refused(unfinished).contains("finished run"));
}

const FILEIO_1_0: &str = "\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4

Block size 16KiB
Doing random r/w test
Threads started!

File operations:
    reads/s:                      600.00
    writes/s:                     400.00
    fsyncs/s:                     1280.00

Throughput:
    read, MiB/s:                  9.375
    written, MiB/s:               6.25

General statistics:
    total time:                          10.0172s
    total number of events:              22800

Latency (ms):
         min:                                    0.00
         avg:                                    0.11
         max:                                   35.59
         95th percentile:                        0.33
";

#[test]
fn sysbench_results_of_files_and_databases() {
    let results = ["random r/w | 1000 16384000 - | 60 - 16384", "flushes | 1280 - - | - - -"];
    let reading = check(FILEIO_1_0, "sysbench", &results);
    assert!(reading.cautions[0].doubt.to_string().contains("reads, writes and flushes together"));
    let alone = FILEIO_1_0.replace("1280.00", "0.00");
    let reading = check(&alone, "sysbench", &["random r/w | 1000 16384000 110 | 60 - 16384"]);
    let expected = [(0.0, 0.0), (0.95, 0.00033), (1.0, 0.03559)];
    for ((share, seconds), expected) in reading.evidence[0].quantiles.iter().zip(expected) {
        assert!((share - expected.0).abs() < 1e-12 && (seconds - expected.1).abs() < 1e-12);
    }
    let newer = alone
        .replace("File operations:", "Throughput:")
        .replace("    reads/s:                      600.00", "  read:  IOPS=600.00 9.375 MiB/s (9.83 MB/s)")
        .replace("    writes/s:                     400.00", "  write: IOPS=400.00 6.25 MiB/s (6.55 MB/s)")
        .replace("    read, MiB/s:                  9.375\n    written, MiB/s:               6.25\n", "");
    check(&newer, "sysbench", &["random r/w | 1000 16384000 110 | 60 - 16384"]);
    let older = "\
sysbench 0.4.12:  multi-threaded system evaluation benchmark
Running the test with following options:
Number of threads: 4
Block size 16Kb
Doing random r/w test
Threads started!
Operations performed:  6000 Read, 4000 Write, 12800 Other = 22800 Total
Read 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb  (15.625Mb/sec)
 1000.00 Requests/sec executed
";
    check(older, "sysbench", &results);
    let oltp = "\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)
Number of threads: 8
Threads started!
    transactions:                        972 (32.40 per sec.)
Latency (ms):
         avg:                                    0.25
";
    assert_eq!(transactions(oltp), [(Some(32.4), Some(0.00025), Some(8.0))]);
    let cpu = oltp.replace("transactions:                        972 (32.40 per sec.)", "total number of events: 9");
    assert!(refused(&cpu).contains("no test of files or a database"));
}

const ALL: [&str; 8] = [MARK_8, MARK_3, DISKSPD, DISKSPD_XML, BONNIE_TEXT, TIOTEST, SLOB, FILEIO_1_0];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damaged_inputs_have_equal_outcomes_for_all_piece_sizes(
        which in 0_usize..ALL.len(), at in 0_usize..4_000, junk in "[|,:=%()\\[\\]<>0-9a-zA-Z .+-]{0,30}", end in 0_usize..4_000,
        step in 1_usize..300,
    ) {
        let mut text = ALL[which].to_owned();
        text.insert_str(at % text.len(), &junk);
        text.truncate(text.len() - end % text.len());
        prop_assert_eq!(outcome("x_iops", text.as_bytes(), step), outcome("x_iops", text.as_bytes(), text.len().max(1)));
    }

    #[test]
    fn any_bytes_below_a_heading_yield_an_outcome(
        which in 0_usize..ALL.len(), tail in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let head = ALL[which].as_bytes();
        let bytes = [&head[..head.len() / 2], tail.as_slice()].concat();
        prop_assert_eq!(outcome("x", &bytes, 3), outcome("x", &bytes, bytes.len()));
    }
}

/// Format of 2.00: seeks and their processes precede the rates.
#[test]
fn bonnie_of_format_1_98_names_its_seeks() {
    let line = "1.98,2.00a,host,1,1795276232,2G,,8192,5,1276,62,512466,56,1171407,41,1690,56,+++++,+++,11134,48,16,,,,,2549,63,\
                +++++,+++,+++++,+++,13493,66,+++++,+++,+++++,+++,33663us,65871us,12212us,16164us,12351us,23209us,30700us,\
                4274us,4772us,8053us,4073us,4636us\n";
    let expected =
        ["block output | - 524765184 - | 0 - -", "rewrite | - 1199520768 - | 50 - -", "seeks | 11134 - - | 91 - -"];
    let reading = check(line, "bonnie", &expected);
    assert_eq!(reading.evidence[0].quantiles, [(1.0, 0.065_871)]);
}

/// Format of 0.4.2: the title is separated from its bracket.
#[test]
fn tiobench_of_0_4_2_is_known() {
    let text = "\
Sequential Reads
================
                              File   Blk   Num                         Avg      Maximum      Lat%     Lat%     CPU
Identifier                    Size   Size  Thr      Rate     (CPU%)  Latency    Latency      >2s      >10s     Eff
---------------------------- ------ ------ ---  ------------ ------ --------- -----------  -------- -------- -------
host                            64    4096    2         79.85 38.97%     0.090        9.50   0.00000  0.00000     205
";
    check(text, "tiotest", &["Sequential Reads | 20442 83728794 90 | 100 2 4096"]);
}
