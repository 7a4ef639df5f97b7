//! AWR-Miner: an invented history of two snapshots, in the format of SQL*Plus.

use plimsoll_ingest::{
    Class, Demand, Doubt, Fate, Figure, InstanceResource, Measure, Outcome, OutcomeSummary, Reading, Resource,
    Statistic,
};
use proptest::prelude::*;

use crate::bench::{outcome, read};
use crate::bench_real::outcomes;

const HISTORY: &str = "\
~~BEGIN-OS-INFORMATION~~
STAT_NAME                      STAT_VALUE
------------------------------ --------------------
NUM_CPUS                       16
PHYSICAL_MEMORY_GB             64
VERSION                        11.2.0.3.0
DB_NAME                        SHOP
HOSTS                          a,b
AWR_MINER_VER                  4.0.11
~~END-OS-INFORMATION~~

~~BEGIN-MAIN-METRICS~~

      snap      dur_m end                  inst        aas  cpu_per_s  commits_s  read_mb_s read_mb_s_max  read_iops read_iops_max write_iops  redo_mb_s
---------- ---------- -------------- ---------- ---------- ---------- ---------- ---------- ------------- ---------- ------------- ---------- ----------
       800         60 26/03/02 10:00          1          2          1        .5          8            80       1000         10000        200         .5
       800         59 26/03/02 10:00          2          1         .5        .5          4            40        500         20000        100         .5
       801          0 26/03/02 10:00          1          1          1        .5          8            80       1000         10000        200         .5
       801         30 26/03/02 10:30          1          1         .5         1          1             2        100    ##########        200         .5

~~END-MAIN-METRICS~~

~~BEGIN-DATABASE-PARAMETERS~~

PARAMETER_NAME                 VALUE
------------------------------ --------------------
__db_cache_size                1073741824
db_block_size                  8192
~~END-DATABASE-PARAMETERS~~

~~BEGIN-IO-WAIT-HISTOGRAM~~

   SNAP_ID WAIT_CLASS           EVENT_NAME                            WAIT_TIME_MILLI WAIT_COUNT
---------- -------------------- ------------------------------------- --------------- ----------
       800 User I/O             db file sequential read                             1        300
       800 User I/O             db file sequential read                             8        100
       801 System I/O           log file parallel write                             2        100

~~END-IO-WAIT-HISTOGRAM~~

~~BEGIN-IOSTAT-BY-FUNCTION~~

   SNAP_ID FUNCTION_NAME           SM_R_REQS  SM_W_REQS  LG_R_REQS  LG_W_REQS
---------- ---------------------- ---------- ---------- ---------- ----------
       800 Buffer Cache Reads         360000          0      36000          0
       800 DBWR                            0      72000          0      72000

~~END-IOSTAT-BY-FUNCTION~~

~~BEGIN-TOP-N-TIMED-EVENTS~~

   SNAP_ID WAIT_CLASS           EVENT_NAME                                   PCTDBT TOTAL_TIME_S
---------- -------------------- ---------------------------------------- ---------- ------------
       800 User I/O             db file sequential read                          10   1074000000

~~END-TOP-N-TIMED-EVENTS~~

~~BEGIN-TOP-SQL-SUMMARY~~
   MODULE
   ------
   x
~~END-TOP-SQL-SUMMARY~~
";

fn find(reading: &Reading, class: Class, measure: Measure, statistic: Statistic) -> Vec<&Figure> {
    let is = |figure: &&Figure| (figure.class, figure.measure, figure.statistic) == (class, measure, statistic);
    reading.figures.iter().filter(is).collect()
}

/// Values of a class and measure, in the order of the input.
#[track_caller]
fn check(reading: &Reading, class: Class, measure: Measure, statistic: Statistic, expected: &[f64]) {
    let found: Vec<f64> = find(reading, class, measure, statistic).iter().map(|figure| figure.value).collect();
    assert_eq!(found, expected);
}

/// An hour on Exadata: 1,000 MiB/s read and 10 written to two mirrors, of which 120 pass, and an hour without scans.
const CELLS: &str = "\
~~BEGIN-MAIN-METRICS~~

      snap      dur_m end                  inst        aas  cpu_per_s  read_mb_s  read_iops write_mb_s write_iops cell_io_int_mb
---------- ---------- -------------- ---------- ---------- ---------- ---------- ---------- ---------- ---------- --------------
       800         60 26/03/02 10:00          1          2          1       1000       1000         10        100           7200
       801         60 26/03/02 11:00          1          2          1         10       1000         10        100           1800

~~END-MAIN-METRICS~~

~~BEGIN-IO-WAIT-HISTOGRAM~~

   SNAP_ID WAIT_CLASS           EVENT_NAME                            WAIT_TIME_MILLI WAIT_COUNT
---------- -------------------- ------------------------------------- --------------- ----------
       800 User I/O             cell smart table scan                               1        300

~~END-IO-WAIT-HISTOGRAM~~

~~BEGIN-TOP-SQL-BY-SNAPID~~

   SNAP_ID MODULE        SQL_ID           READ_MB
---------- ------------- ------------- ----------
       800 JDBC          aaaaaaaaaaaaa       1000
       800 SQL*Plus      bbbbbbbbbbbbb    2000000
       801 JDBC          aaaaaaaaaaaaa          0

~~END-TOP-SQL-BY-SNAPID~~
";

#[test]
fn bytes_that_cells_filter_and_their_statement_are_read() {
    const MIB: f64 = 1_048_576.0;
    let filtered = |history: &str| -> Vec<f64> {
        let reading = read(history);
        let own = reading.resources.iter().filter(|resource| resource.resource == Resource::FilteredBytes);
        own.map(|resource| resource.value / MIB).collect()
    };
    assert_eq!(filtered(CELLS), [900.0], "without scans, all bytes pass");
    assert_eq!(
        filtered(&CELLS.replace("cell smart table", "db file scattered")),
        [0.0; 0],
        "other storage has no cells"
    );
    let demand = Demand::of(&[&read(CELLS)]);
    let account = demand.subjects[0].account.as_ref().unwrap();
    assert_eq!(account.total.counters.filtered_bytes, Some(900.0 * MIB * 3_600.0));
    let readers: Vec<_> = account.slots.iter().map(|slot| slot.as_ref().unwrap().counters.top_reader.clone()).collect();
    let [Some(reader), None] = &readers[..] else { panic!("{readers:?}") };
    assert_eq!((reader.statement.as_str(), reader.module.as_str()), ("bbbbbbbbbbbbb", "SQL*Plus"));
    assert!((reader.bytes - 2e6 * MIB).abs() < 1.0, "{}", reader.bytes);
}

#[test]
fn a_history_has_means_and_highest_minutes() {
    let reading = read(HISTORY);
    assert_eq!((reading.kind.id, reading.version.as_deref()), ("awr-miner", Some("11.2.0.3.0")));
    check(&reading, Class::Read, Measure::Iops, Statistic::Mean, &[1_000.0, 500.0, 100.0]);
    check(&reading, Class::Read, Measure::Iops, Statistic::Maximum, &[10_000.0, 20_000.0]);
    check(&reading, Class::Read, Measure::Throughput, Statistic::Mean, &[8_388_608.0, 4_194_304.0, 1_048_576.0]);
    check(&reading, Class::RandomRead, Measure::Iops, Statistic::Mean, &[100.0]);
    check(&reading, Class::SequentialRead, Measure::Iops, Statistic::Mean, &[10.0]);
    check(&reading, Class::DataWrite, Measure::Iops, Statistic::Mean, &[40.0]);
    let begins: Vec<String> = reading.windows.iter().map(|window| window.begin.unwrap().to_string()).collect();
    assert_eq!(begins, ["2026-03-02T09:00:00", "2026-03-02T10:00:00"], "a window per snapshot");
    assert!((reading.times[0].database_s - 7_200.0).abs() < 1e-9);
    assert_eq!(reading.times[0].processors, Some(16));
    let wait = &reading.waits[0];
    assert_eq!((wait.count, wait.foreground, wait.event.as_str()), (400.0, true, "db file sequential read"));
    assert!((wait.total_s - 1_074.0).abs() < 1e-6, "microseconds under the name of seconds");
    assert_eq!(wait.histogram, [(0.001, 0.75), (0.008, 0.25), (f64::INFINITY, 0.0)]);
    assert!(!reading.waits[1].foreground && (reading.waits[1].total_s - 0.15).abs() < 1e-9);
    assert_eq!(reading.databases[0].cache_bytes, Some(1_073_741_824.0));
    let cautions: Vec<String> = reading.cautions.iter().map(|caution| caution.doubt.to_string()).collect();
    assert_eq!(cautions.len(), 2, "{cautions:?}");
    assert!(
        cautions[0].contains("without snapshot, minutes or end")
            && cautions[1].contains("estimated from their histograms")
    );
    let lines: Vec<&str> = HISTORY.lines().collect();
    for figure in find(&reading, Class::Read, Measure::Iops, Statistic::Mean) {
        assert!(lines[figure.origin.line as usize - 1].contains(&format!(" {} ", figure.value)));
    }
}

#[test]
fn a_history_has_the_memory_and_processors_of_each_instance() {
    let memory = "\
~~BEGIN-MEMORY~~

   SNAP_ID INSTANCE_NUMBER        SGA        PGA      TOTAL
---------- --------------- ---------- ---------- ----------
       800               1         23        1.6       24.6
       800               2         20         .5       20.5
       801               1         23        5.1       28.1

~~END-MEMORY~~

~~BEGIN-MAIN-METRICS~~";
    let reading = read(&HISTORY.replacen("~~BEGIN-MAIN-METRICS~~", memory, 1));
    let demand = Demand::of(&[&reading]);
    assert_eq!(demand.subjects[0].oracle_release.as_deref(), Some("11.2.0.3.0"));
    let gib = |resource: Resource, instance: &str| {
        let is_it = |one: &&InstanceResource| one.resource == resource && one.instance == instance;
        let one = demand.subjects[0].resources.iter().find(is_it).map(|one| one.value);
        one.map(|value| (value / (1_u64 << 30) as f64 * 100.0).round() / 100.0)
    };
    assert_eq!((gib(Resource::SharedMemory, "1"), gib(Resource::ProcessMemory, "1")), (Some(23.0), Some(5.1)));
    // Only instances of the last snapshot are in use.
    assert_eq!(gib(Resource::HostMemory, "1"), Some(64.0));
    let processors = |instance: &str| {
        let is_it = |one: &&InstanceResource| one.resource == Resource::Processors && one.instance == instance;
        demand.subjects[0].resources.iter().find(is_it).map(|one| one.value)
    };
    assert_eq!((processors("1"), processors("2")), (Some(1.0), Some(0.5)));
}

/// The history with classes of waits, the size of the database, and an event without a histogram.
fn with_classes() -> String {
    let block = |name: &str, rows: &[&str]| format!("~~BEGIN-{name}~~\n\n{}\n\n~~END-{name}~~\n\n", rows.join("\n"));
    let classes = block(
        "AVERAGE-ACTIVE-SESSIONS",
        &[
            "   SNAP_ID WAIT_CLASS             AVG_SESS",
            "---------- -------------------- ----------",
            "       800 Application                 .25",
            "       800 Commit                       .2",
            "       800 DB CPU                      1.5",
            "       800 System I/O                   .1",
            "       800 User I/O                     .3",
        ],
    );
    let rows = ["   SNAP_ID    SIZE_GB", "---------- ----------", "       800        2.5", "       801          2"];
    let size = block("SIZE-ON-DISK", &rows);
    let sync =
        "       800 Commit               log file sync                                   5          540\n\n~~END-TOP-N";
    HISTORY
        .replace("~~BEGIN-IO-WAIT-HISTOGRAM~~", &format!("{size}{classes}~~BEGIN-IO-WAIT-HISTOGRAM~~"))
        .replace("\n~~END-TOP-N", sync)
}

#[test]
fn classes_of_waits_add_time_outside_of_listed_events() {
    let reading = read(&with_classes());
    assert_eq!(reading.databases[0].stored_bytes, Some(2.0 * 1_073_741_824.0));
    let found = |event: &str| {
        let wait = reading.waits.iter().find(|wait| wait.event == event);
        wait.map(|wait| (wait.foreground, (wait.total_s * 1e3).round() / 1e3, wait.count))
    };
    assert_eq!(found("wait class Application"), Some((true, 900.0, 0.0)));
    // 1,080 s of reads, 1,074 s of them in a listed event: the rest is less than half of the last digit, 18 s.
    assert_eq!(found("wait class User I/O"), None);
    assert_eq!(found("wait class System I/O"), Some((false, 360.0, 0.0)));
    // A wait per transaction: 0.5/s in an hour, and in 59 minutes.
    assert_eq!(found("log file sync"), Some((true, 540.0, 3_570.0)));
    assert_eq!(found("wait class Commit"), Some((true, 180.0, 3_570.0)));
    assert_eq!(found("wait class DB CPU"), None);
    let sync = reading.waits.iter().find(|wait| wait.event == "log file sync").unwrap();
    assert_eq!(sync.origin.table.as_deref(), Some("TOP-N-TIMED-EVENTS"));
}

/// Older versions have the processor time of all instances only, and the busy share of each host.
#[test]
fn instances_share_the_processor_time_of_all() {
    let text = with_classes().replace(" cpu_per_s ", "    os_cpu ");
    let reading = read(&text);
    let of_hour: Vec<Option<f64>> = reading.times.iter().map(|time| time.processor_s).collect();
    // 1.5 sessions on a processor, two thirds of them of the instance with two of three active sessions.
    assert_eq!(of_hour, [Some(3_600.0), Some(0.5 * 3_600.0), None], "of the common window");
    let demand = Demand::of(&[&reading]);
    let account = demand.subjects[0].account.as_ref().unwrap();
    let first = account.slots[0].as_ref().unwrap();
    assert!((first.processor_s.unwrap() - 5_400.0).abs() < 1e-9, "{:?}", first.processor_s);
    // Busy 1 % and 0.5 % of 16 processors each.
    let busy = f64::midpoint(0.01, 0.005);
    assert!((first.host_busy.unwrap() - busy).abs() < 1e-9, "{:?}", first.host_busy);
}

#[test]
fn shared_processors_are_divided_by_busy_hosts_before_sessions() {
    // The same number of sessions in both instances; the host of the first is twice as busy.
    let text = with_classes().replace("1          2          1        .5 ", "1          1          1        .5 ");
    let found = |column: &str| {
        let reading = read(&text.replace(" cpu_per_s ", column));
        let used: Vec<(f64, String)> = reading
            .resources
            .iter()
            .filter(|one| one.resource == Resource::Processors)
            .map(|one| (one.value, one.origin.field.to_string()))
            .collect();
        let of_times: Vec<f64> = reading.times.iter().filter_map(|time| time.processor_s).collect();
        assert!(used.len() == 2 && of_times.len() == 2, "{used:?}, {of_times:?}");
        assert!((of_times[0] - used[0].0 * 3_600.0).abs() < 1e-9, "{used:?}, {of_times:?}");
        used
    };
    let by_host = found("    os_cpu ");
    assert!((by_host[0].0 - 1.0).abs() < 1e-9 && (by_host[1].0 - 0.5).abs() < 1e-9, "{by_host:?}");
    assert_eq!(by_host[0].1, "DB CPU, 1.5 of all instances, divided by busy processors (os_cpu)");
    let by_sessions = found(" db_cpu_rt ");
    assert!((by_sessions[0].0 - 0.75).abs() < 1e-9 && (by_sessions[1].0 - 0.75).abs() < 1e-9, "{by_sessions:?}");
    assert_eq!(by_sessions[1].1, "DB CPU, 1.5 of all instances, divided by active sessions");
}

#[test]
fn a_zero_below_the_resolution_is_not_zero() {
    let last =
        "1          1         .5         1          1             2        100    ##########        200         .5";
    let zeros =
        "1          0         .5         1          0             2        100    ##########        200          0";
    let reading = read(&HISTORY.replace(last, zeros));
    // Half of the last digit of active sessions in half an hour.
    let time = &reading.times[2];
    assert_eq!((time.database_s, time.rounding_s), (0.0, 0.05 * 1_800.0));
    // 100 reads per second of a block each are more than half of the last digit.
    let half_digit = 0.05 * 1_048_576.0;
    check(
        &reading,
        Class::Read,
        Measure::Throughput,
        Statistic::Mean,
        &[8.0 * 1_048_576.0, 4.0 * 1_048_576.0, half_digit],
    );
    check(&reading, Class::RedoWrite, Measure::Throughput, Statistic::Mean, &[524_288.0, 524_288.0]);
    assert!(
        reading.cautions.iter().any(|caution| caution.doubt.to_string().contains("2 rates of bytes are printed as 0"))
    );
    let demand = Demand::of(&[&reading]);
    let account = demand.subjects[0].account.as_ref().unwrap();
    let rounding_s = 0.05 * (3_600.0 + 3_600.0 + 1_800.0);
    assert!((account.total.rounding_s - rounding_s).abs() < 1e-9, "{}", account.total.rounding_s);
}

#[test]
fn the_finer_column_of_active_sessions_counts() {
    let finer = HISTORY.replace("       aas", "   db_time");
    let time = read(&finer).times[0].clone();
    assert!((time.database_s - 2.0 * 36.0).abs() < 1e-9, "hundredths of a second a second: {}", time.database_s);
    assert!((time.rounding_s - 0.05 * 36.0).abs() < 1e-9);
    assert_eq!(&*time.origin.field, "db_time");
}

#[test]
fn instances_of_a_cluster_add_up_and_their_maxima_do_not() {
    let reading = read(HISTORY);
    let demand = Demand::of(&[&reading]);
    let [shop] = demand.subjects.as_slice() else { panic!("{:?}", demand.subjects) };
    assert!(shop.doubts.is_empty(), "{:?}", shop.doubts);
    let series = shop.series(Class::Read, Measure::Iops).unwrap();
    assert_eq!(series.values, [Some(1_500.0), Some(100.0)]);
    let is_highest = |series: &&plimsoll_ingest::MeasureSeries| {
        (series.class, series.measure, series.statistic) == (Class::Read, Measure::Iops, Statistic::Maximum)
    };
    assert_eq!(shop.series.iter().find(is_highest).unwrap().values, [Some(20_000.0), None]);
}

#[test]
fn a_truncated_history_is_read_partly() {
    let cut = outcome("test", &HISTORY.as_bytes()[..HISTORY.find("       801         30").unwrap()], 100);
    assert_eq!(cut.verdict(), OutcomeSummary::Partly);
    let reading = cut.reading().unwrap();
    assert!(reading.parts.iter().any(|part| part.name == "MAIN-METRICS" && part.fate == Fate::Broken));
    check(reading, Class::Read, Measure::Iops, Statistic::Mean, &[1_000.0, 500.0]);
    let ignored = read(HISTORY).parts.iter().filter(|part| part.fate == Fate::Ignored).count();
    assert_eq!(ignored, 1, "the statements of users are not read");
    let none = outcome("test", &HISTORY.as_bytes()[..HISTORY.find("~~BEGIN-MAIN").unwrap()], 100);
    assert!(matches!(none, Outcome::Refused { refusal, .. } if refusal.to_string().contains("MAIN-METRICS")));
}

#[test]
fn real_histories_are_read() {
    for (file, outcome) in outcomes("awr_miner") {
        assert_eq!(outcome.verdict(), OutcomeSummary::Read, "{file}");
        let reading = outcome.reading().unwrap();
        assert!(reading.cautions.len() <= 3, "{file}: {:?}", reading.cautions);
        // The highest minute is at least the mean of its hour, except for rounding.
        for measure in [Measure::Iops, Measure::Throughput] {
            for class in [Class::Read, Class::Write] {
                let highest = find(reading, class, measure, Statistic::Maximum);
                for mean in find(reading, class, measure, Statistic::Mean) {
                    let same = |other: &&&Figure| (other.scope, other.origin.line) == (mean.scope, mean.origin.line);
                    let Some(highest) = highest.iter().find(same) else { continue };
                    assert!(highest.value * 1.06 + 110_000.0 >= mean.value, "{file}: {} {}", mean.origin, mean.value);
                }
            }
        }
        let demand = Demand::of(&[reading]);
        assert_eq!(demand.subjects.len(), 1, "{file}");
        assert!(demand.subjects[0].doubts.iter().all(|doubt| !matches!(doubt, Doubt::ClockWentBack { .. })), "{file}");
        assert!(demand.subjects[0].doubts.len() <= 2, "{file}: {:?}", demand.subjects[0].doubts);
        for wait in reading.waits.iter().filter(|wait| !wait.histogram.is_empty()) {
            let sum: f64 = wait.histogram.iter().map(|(_, share)| share).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{file}: {}", wait.event);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damaged_inputs_have_equal_outcomes_for_all_piece_sizes(
        at in 0_usize..5_000, junk in "[ -~\\n]{0,40}", end in 0_usize..5_000, step in 1_usize..300,
    ) {
        let mut text = HISTORY.to_owned();
        text.insert_str(at % text.len(), &junk);
        text.truncate(text.len() - end % text.len());
        prop_assert_eq!(outcome("x", text.as_bytes(), step), outcome("x", text.as_bytes(), text.len().max(1)));
    }
}
