//! collectl: brief, verbose and detailed lines, and plot data.

use jiff::civil::date;
use plimsoll_ingest::{Class, Demand, FormatInput, Measure, Reading};
use plimsoll_units::Span;

use crate::read::{cautions, cut_anywhere, reading, reading_as, refusal};
use crate::series::near;

const BRIEF: &str = "\
waiting for 10 second sample...
#<--------CPU--------><----------Disks-----------><----------Network---------->
#cpu sys inter  ctxsw KBRead  Reads KBWrit Writes   KBIn  PktIn  KBOut  PktOut 
  37  37   382    188   3200    400   8000    500     45     68      3      21 
  25  25   366    180   6400    800   8000    500      0      1      0       0 
";

const PLOT: &str = "\
#Date Time [CPU]User% [DSK]ReadTot [DSK]WriteTot [DSK]OpsTot [DSK]ReadKBTot [DSK]WriteKBTot [DSK]KbTot
20260302 11:06:50 5 400 500 900 3200 8000 11200
20260302 11:07:00 5 800 500 1300 6400 8000 14400
";

const DETAILS: &str = "\
### RECORD    1 >>> pier1 <<< (1772449610.001) (Mon Mar  2 11:06:50 2026) ###

# DISK STATISTICS (/sec)
#          <---------reads---------------><---------writes--------------><--------averages--------> Pct
#Name       KBytes Merged  IOs Size  Wait  KBytes Merged  IOs Size  Wait  RWSize  QLen  Wait SvcTim Util
sda           1600      0  200    8     2    8000    304  500   16     1      11     2     1      0   40
sdb           1600      0  200    8     4       0      0    0    0     0       8     1     4      0   10

### RECORD    2 >>> pier1 <<< (1772449620.001) (Mon Mar  2 11:07:00 2026) ###

# DISK STATISTICS (/sec)
#          <---------reads---------------><---------writes--------------><--------averages--------> Pct
#Name       KBytes Merged  IOs Size  Wait  KBytes Merged  IOs Size  Wait  RWSize  QLen  Wait SvcTim Util
sda           4800      0  600    8     2    8000    304  500   16     1      11     2     1      0   40
sdb           1600      0  200    8     4       0      0    0    0     0       8     1     4      0   10
";

/// Checks the operations and bytes of all disks in two windows of 10 s.
#[track_caller]
fn check(found: &Reading) {
    assert_eq!(found.kind.id, "collectl");
    let demand = Demand::of(&[found]);
    let values = |class, measure| -> Vec<f64> {
        demand.subjects[0]
            .series(class, measure)
            .into_iter()
            .flat_map(|series| series.values.iter().flatten().copied())
            .collect()
    };
    near(&values(Class::Read, Measure::Iops), &[400.0, 800.0]);
    near(&values(Class::Write, Measure::Iops), &[500.0, 500.0]);
    near(&values(Class::Read, Measure::Throughput), &[3_276_800.0, 6_553_600.0]);
    near(&values(Class::Write, Measure::Throughput), &[8_192_000.0, 8_192_000.0]);
    assert!(found.windows.iter().all(|window| window.length == Span::from_secs_f64(10.0)), "{:?}", found.windows);
}

#[test]
fn each_layout_has_the_same_rates() {
    for text in [BRIEF, PLOT, DETAILS] {
        check(&reading(text));
        cut_anywhere(text);
    }
    let timed = "#Time     KBRead  Reads KBWrit Writes \n23:59:50    3200    400   8000    500 \n00:00:00    6400    800   8000    500 \n";
    check(&reading(timed));
    let summary = "#KBRead RMerged  Reads SizeKB  KBWrite WMerged Writes SizeKB\n   3200       0    400      8     8000     304    500     16\n";
    let record = |second: u32, rows: &str| {
        format!(
            "### RECORD    1 >>> pier1 <<< (17724496{second}.001) (date) ###\n\n# DISK SUMMARY (/sec)\n{rows}\n# NETWORK SUMMARY (/sec)\n#KBIn PktIn\n  1   2\n"
        )
    };
    let later = summary.replace("3200 ", "6400 ").replace(" 400", " 800");
    check(&reading(&(record(10, summary) + &record(20, &later))));
}

#[test]
fn times_and_names_are_those_of_the_record() {
    assert_eq!(reading(PLOT).windows[0].begin, Some(date(2026, 3, 2).at(11, 6, 40, 0)));
    let details = reading(DETAILS);
    assert_eq!(details.scopes[0].host, "pier1");
    let demand = Demand::of(&[&details]);
    let latency = demand.subjects[0].series(Class::Read, Measure::Latency).unwrap().values[0].unwrap();
    assert!((latency - 0.003).abs() < 1e-9, "{latency}");
    assert!(cautions(&reading(&BRIEF.replace("8000", "  8K"))).contains("rounded for the screen"));
}

#[test]
fn layers_count_once_and_missing_disks_are_doubted() {
    let mapped = DETAILS.replace("sdb ", "dm-0");
    let found = reading(&mapped);
    assert!(cautions(&found).contains("by their names, dm-0 are"), "{}", cautions(&found));
    let reads = Demand::of(&[&found]).subjects[0].series(Class::Read, Measure::Iops).unwrap().values.clone();
    assert_eq!(reads, [Some(200.0), Some(600.0)]);
    let rows: Vec<&str> = DETAILS.lines().filter(|line| line.starts_with("sdb")).collect();
    let (before, after) = DETAILS.rsplit_once(rows[1]).unwrap();
    let later = cautions(&reading(&format!("{before}{}", after.trim_start())));
    assert!(later.contains("sdb lacks values of writes in 1 of 2 windows"), "{later}");
    let first = DETAILS.replacen(&format!("{}\n", rows[0]), "", 1);
    let found = reading(&first);
    assert!(cautions(&found).contains("sdb lacks values of writes in 1 of 2 windows"), "{}", cautions(&found));
    let reads = Demand::of(&[&found]).subjects[0].series(Class::Read, Measure::Iops).unwrap().values.clone();
    assert_eq!(reads, [Some(200.0), Some(800.0)], "a disk after the first sample");
}

#[test]
fn samples_without_times_need_an_interval() {
    let (_, untimed) = BRIEF.split_once('\n').unwrap();
    assert!(refusal(untimed).contains("collectl -sd -oD"));
    let interval = Some(Span::from_secs_f64(10.0));
    check(&reading_as(FormatInput { interval, ..FormatInput::from("test") }, untimed));
    assert!(refusal("#<----CPU---->\n#cpu sys inter  ctxsw\n 1 2 3 4\n").contains("columns of disks"));
}
