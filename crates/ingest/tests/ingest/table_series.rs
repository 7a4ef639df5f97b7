//! Exported tables of samples.

use jiff::civil::date;
use plimsoll_ingest::{Class, DatabaseDemand, Demand, Fate, FormatInput, Measure, Outcome, OutcomeSummary, Reading};
use plimsoll_units::Span;
use proptest::prelude::*;

use crate::series::{cut_anywhere, has_caution, laws, near, outcome, read, read_as, refused, samples, values};

const TABLE: &str = "time,host,device,read_iops,write_iops,read MB/s,read_latency_ms,queue_depth,colour\n\
    2026-03-02 09:05:00,db1,sda,100,50,0.8192,0.5,2,red\n\
    2026-03-02 09:05:00,db1,sdb,10,5,0.1,1.5,1,red\n\
    2026-03-02 09:10:00,db1,sda,200.5,,1.6,0.75,3,blue\n";

#[test]
fn columns_are_recognised_by_names() {
    let reading = read(TABLE);
    laws(&reading);
    near(&values(&reading, "sda", Class::Read, Measure::Iops), &[100.0, 200.5]);
    near(&values(&reading, "sda", Class::Write, Measure::Iops), &[50.0]);
    near(&values(&reading, "sda", Class::Read, Measure::Throughput), &[819_200.0, 1.6e6]);
    near(&values(&reading, "sda", Class::Read, Measure::Latency), &[0.000_5, 0.000_75]);
    near(&values(&reading, "sdb", Class::All, Measure::Depth), &[1.0]);
    assert_eq!(reading.windows.len(), 2);
    assert_eq!(reading.windows[0].begin, Some(date(2026, 3, 2).at(9, 0, 0, 0)));
    assert_eq!(reading.windows[0].length, Span::from_secs(300));
    assert!(reading.parts.iter().any(|part| part.name == "colour" && part.fate == Fate::Ignored));
    assert_eq!(reading.figures[0].origin.to_string(), "line 2, read_iops");
    cut_anywhere(TABLE);
    let german = TABLE.replace(',', ";").replace('.', ",");
    near(&values(&read(&german), "sda", Class::Read, Measure::Iops), &[100.0, 200.5]);
    let quoted = TABLE.replace("2026-03-02 09:05:00", "\"2026-03-02 09:05:00\"").replace('\n', "\r\n");
    near(&values(&read(&quoted), "sda", Class::Read, Measure::Iops), &[100.0, 200.5]);
}

#[test]
fn refusals_name_the_missing_part() {
    let one: String = TABLE.split_inclusive('\n').take(2).collect();
    assert!(refused(&one).contains("specify the interval"));
    let interval = FormatInput { interval: Some(Span::from_secs(60)), ..FormatInput::default() };
    near(&values(&read_as(&one, interval), "sda", Class::Read, Measure::Iops), &[100.0]);
    assert!(refused("time,cpu\n2026-03-02 09:05:00,5\n").contains("no column such as read_iops"));
    assert!(refused("read_iops,write_iops\n5,5\n").contains("no column of the time"));
    let back = TABLE.replace("09:10", "09:00");
    assert!(has_caution(&read(&back), "times go back"));
    let cut = outcome(format!("{TABLE}2026-03-02 09:15:00,db1,sda,2").as_bytes(), 10, "test");
    assert_eq!(cut.verdict(), OutcomeSummary::Partly);
}

#[test]
fn features_of_a_trace_are_sums_of_intervals() {
    let table = "index,ts,read_block_req_count,write_block_req_count,read_io_request_size_sum,write_io_request_size_sum\n\
        0,1799000000,1800,180,14745600,737280\n1,3599900000,3600,0,29491200,0\n2,5000000000,0,0,0,0\n";
    let reading = read(table);
    laws(&reading);
    near(&values(&reading, "", Class::Read, Measure::Iops), &[1.0, 2.0, 0.0]);
    near(&values(&reading, "", Class::Write, Measure::Size), &[4_096.0]);
    assert!(has_caution(&reading, "assumed to be 30 min"));
    assert_eq!((reading.windows.len(), reading.windows[2].begin), (3, None));
    let begin = Some(date(2026, 3, 2).at(9, 0, 0, 0));
    let later = read_as(table, FormatInput { begin, ..FormatInput::default() });
    assert_eq!(later.windows[2].begin, Some(date(2026, 3, 2).at(10, 0, 0, 0)));
    cut_anywhere(table);
    assert!(refused("read_block_req_count,write_block_req_count\n5,6\n").contains("no columns index and ts"));
}

#[test]
fn real_files_are_read() {
    for (name, bytes) in samples("fleet_timeseries") {
        let total = outcome(&bytes, 65_536, name.as_str());
        println!("{name}: {:?}", total.verdict());
        assert_eq!(outcome(&bytes, 997, name.as_str()), total, "{name}");
        let Outcome::Read(reading) = &total else {
            assert!(!bytes.starts_with(b"index,ts,"), "{name}: {total:?}");
            continue;
        };
        laws(reading);
        assert!(reading.windows.iter().all(|window| window.length == Span::from_secs(1_800)), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_damage_yields_an_outcome(cut in 0_usize..300, at in 0_usize..400, junk in "[ \",;0-9a-z:/\n\u{e4}-]{0,30}", step in 1_usize..300) {
        let mut text = TABLE.to_owned();
        text.insert_str(at % text.len(), &junk);
        let end = text.floor_char_boundary(text.len() - cut % text.len());
        text.truncate(end);
        let total = outcome(text.as_bytes(), text.len(), "test");
        prop_assert_eq!(outcome(text.as_bytes(), step, "test"), total);
    }
}

#[test]
fn semicolons_separate_numbers_with_either_decimal_sign() {
    let table = |numbers: [&str; 3]| {
        let lines = (0..3).map(|n| format!("2026-03-02T10:0{n}:00Z;1000;{}\n", numbers[n]));
        format!("time;read_iops;read_mbps\n{}", lines.collect::<String>())
    };
    for (numbers, expected) in [
        (["8.192", "8.192", "40.96"], [8.192e6, 8.192e6, 40.96e6]),
        (["8.192", "8.192", "8.192"], [8.192e6, 8.192e6, 8.192e6]),
        (["8,192", "8,192", "40,96"], [8.192e6, 8.192e6, 40.96e6]),
        (["1.008,5", "8,5", "40"], [1_008.5e6, 8.5e6, 40e6]),
        (["1,008.5", "8.5", "40"], [1_008.5e6, 8.5e6, 40e6]),
    ] {
        near(&values(&read(&table(numbers)), "", Class::Read, Measure::Throughput), &expected);
        cut_anywhere(&table(numbers));
    }
}

#[test]
fn unrecognised_rates_are_named() {
    let reading = read(&TABLE.replace("write_iops", "write_calls_per_second"));
    assert!(has_caution(&reading, "write_calls_per_second: rename"), "{:?}", reading.cautions);
    assert!(!has_caution(&read(TABLE), "rename"));
    assert!(!has_caution(&read(&TABLE.replace("colour", "max_read_iops")), "rename"));
}

/// Read operations of a table with a column of reads, by cell.
fn read_column(cells: &[&str]) -> (Vec<f64>, Vec<String>) {
    let rows = cells
        .iter()
        .enumerate()
        .map(|(n, cell)| format!("2026-03-02T10:{n:02}:00Z,{cell},7\n"))
        .collect::<Vec<_>>()
        .concat();
    let table = format!("time,read_iops,write_iops\n{rows}");
    let reading = read(&table);
    laws(&reading);
    cut_anywhere(&table);
    near(&values(&reading, "", Class::Write, Measure::Iops), &vec![7.0; cells.len()]);
    (values(&reading, "", Class::Read, Measure::Iops), list_doubts(&reading))
}

fn list_doubts(reading: &Reading) -> Vec<String> {
    reading.cautions.iter().map(|caution| caution.doubt.to_string()).collect()
}

#[test]
fn unreadable_cells_are_counted_by_column() {
    let (found, doubts) = read_column(&["100.5", "abc", "5%", "nan", "12.345.678", "8MB", "", "-"]);
    near(&found, &[100.5]);
    let expected = "cells of read_iops that are not numbers are skipped: 6, such as \"abc\"";
    assert!(matches!(doubts.as_slice(), [only] if only.starts_with(expected)), "{doubts:?}");
    let (found, doubts) = read_column(&["1k", "1000 IOPS", "1.5k", ""]);
    near(&found, &[1_000.0, 1_000.0, 1_500.0]);
    assert!(doubts.is_empty(), "an empty cell is absent: {doubts:?}");
}

#[test]
fn numbers_between_commas_may_have_decimal_commas() {
    let (found, doubts) = read_column(&["\"1234,5\"", "\"7,25\"", "\"1.500\""]);
    near(&found, &[1_234.5, 7.25, 1_500.0]);
    assert!(doubts.is_empty(), "{doubts:?}");
    let (found, doubts) = read_column(&["\"1,500\"", "\"2,500\""]);
    near(&found, &[1_500.0, 2_500.0]);
    assert!(doubts.is_empty(), "{doubts:?}");
    near(&read_column(&["12.345.678", "5"]).0, &[12_345_678.0, 5.0]);
}

#[test]
fn groups_of_thousands_that_may_be_decimals_are_doubted() {
    let table =
        |cells: [&str; 2]| format!("time;iops\n2026-03-02T10:00:00Z;{}\n2026-03-02T10:01:00Z;{}\n", cells[0], cells[1]);
    for (cells, expected, is_doubted) in [
        (["1.500", "200"], [1.5, 200.0], true),
        (["1,500", "200"], [1.5, 200.0], true),
        (["1.500", "0.125"], [1.5, 0.125], false),
        (["1.500", "1234.125"], [1.5, 1_234.125], false),
        (["1.500", "2,5"], [1_500.0, 2.5], false),
        (["1.500", "1.000.000"], [1_500.0, 1e6], false),
    ] {
        let reading = read(&table(cells));
        near(&values(&reading, "", Class::All, Measure::Iops), &expected);
        assert_eq!(has_caution(&reading, "groups of thousands"), is_doubted, "{cells:?}: {:?}", list_doubts(&reading));
    }
}

#[test]
fn rows_that_repeat_a_time_count_once() {
    let repeated = "time,read_iops\n2026-03-02T10:00:00Z,1000\n2026-03-02T10:00:00Z,2000\n2026-03-02T10:05:00Z,500\n\
        2026-03-02T10:00:00Z,3000\n";
    let reading = read(repeated);
    laws(&reading);
    near(&values(&reading, "", Class::Read, Measure::Iops), &[1_000.0, 500.0]);
    assert!(has_caution(&reading, "rows that repeat a time are skipped: 2"), "{:?}", list_doubts(&reading));
    cut_anywhere(repeated);
    assert!(!has_caution(&read(TABLE), "repeat a time"), "two volumes have rows of the same time");
    let halves =
        "time,read_iops,write_iops\n2026-03-02T10:00:00Z,10,\n2026-03-02T10:00:00Z,,20\n2026-03-02T10:05:00Z,1,2\n";
    let reading = read(halves);
    near(&values(&reading, "", Class::Write, Measure::Iops), &[20.0, 2.0]);
    assert!(!has_caution(&reading, "repeat a time"), "each row has other columns");
}

#[test]
fn rates_give_the_mean_size_of_operations() {
    near(&values(&read(TABLE), "sda", Class::Read, Measure::Size), &[8_192.0, 1.6e6 / 200.5]);
    let tiny = "time,iops,throughput MB/s\n2026-03-02T10:00:00Z,1000000,1\n2026-03-02T10:05:00Z,1000000,1\n";
    let reading = read(tiny);
    near(&values(&reading, "", Class::All, Measure::Size), &[1.0, 1.0]);
    assert_eq!(list_doubts(&reading).iter().filter(|doubt| doubt.contains("less than a sector")).count(), 1);
    assert!(!has_caution(&read(TABLE), "less than a sector"));
}

/// Reads per second of the devices of a table, and its cautions about layers.
fn count_reads(rows: &[&str]) -> (f64, Vec<String>) {
    let lines = (0..3).flat_map(|n| rows.iter().map(move |row| format!("2026-03-02 09:{n:02}:00,{row}\n")));
    let reading = read(&format!("time,host,device,read_iops\n{}", lines.collect::<String>()));
    let demand = Demand::of(&[&reading]);
    let first =
        |subject: &DatabaseDemand| subject.series(Class::Read, Measure::Iops).and_then(|series| series.values[0]);
    let total = demand.subjects.iter().filter_map(first).sum();
    (
        total,
        list_doubts(&reading)
            .into_iter()
            .filter(|doubt| doubt.contains("layer") || doubt.contains("counted"))
            .collect(),
    )
}

#[test]
fn devices_of_other_layers_count_once() {
    for (rows, expected, above) in [
        (&["a,sda,100", "a,sda1,60", "a,sda2,40", "a,dm-0,100", "a,sdb,10"][..], 110.0, "sda1, sda2, dm-0"),
        (&["a,nvme0n1,100", "a,nvme0n1p1,100", "b,nvme0n1p1,50"], 150.0, "nvme0n1p1"),
        (&["a,vol1,100", "a,vol2,40", "a,Total,140"], 140.0, "Total"),
    ] {
        let (total, doubts) = count_reads(rows);
        near(&[total], &[expected]);
        assert!(doubts.len() == 1 && doubts[0].contains(above), "{doubts:?}");
    }
    assert_eq!(count_reads(&["a,sda,100", "b,sda,40"]), (140.0, vec![]));
    assert_eq!(count_reads(&["a,sda1,100", "a,sda2,40"]), (140.0, vec![]), "without their disk");
    let (total, doubts) = count_reads(&["a,md0,100", "a,sda,60", "a,sdb,50"]);
    assert!((total, doubts.len()) == (100.0, 1) && doubts[0].contains("RAID md0"), "{total}: {doubts:?}");
    let (total, doubts) = count_reads(&["a,dm-0,100", "a,dm-1,40"]);
    assert!((total, doubts.len()) == (140.0, 1) && doubts[0].contains("may be layered"), "{total}: {doubts:?}");
}

#[test]
fn missing_windows_are_doubted() {
    let doubts = |minutes: &[u32]| {
        let row = |minute: &u32| format!("2026-03-02 {:02}:{:02}:00,100\n", 9 + minute / 60, minute % 60);
        let reading = read(&format!("time,read_iops\n{}", minutes.iter().map(row).collect::<String>()));
        let demand = Demand::of(&[&reading]);
        demand.subjects[0].doubts.iter().map(|doubt| (doubt.to_string(), doubt.is_large_gap())).collect::<Vec<_>>()
    };
    assert_eq!(doubts(&[5, 10, 15, 20]), []);
    let found = doubts(&[5, 10, 15, 20, 85, 90, 95, 100]);
    let [(text, true)] = &found[..] else { panic!("{found:?}") };
    assert!(text.starts_with("60.0 % of the") && text.contains("from 2026-03-02T09:20:00 for"), "{text}");
    let all: Vec<u32> = (1..120).map(|n| n * 5).filter(|minute| *minute != 100).collect();
    assert!(matches!(&doubts(&all)[..], [(_, false)]));
}

#[test]
fn counts_that_only_rise_are_counters() {
    let rows = |counts: &[u32]| {
        let row = |(minute, count): (usize, &u32)| format!("2026-03-02 09:{minute:02}:00,{count},{}\n", count * 4_096);
        counts.iter().enumerate().map(row).collect::<String>()
    };
    let rising = rows(&[100, 700, 1_300, 1_900, 2_500, 3_100]);
    let reading = read(&format!("time,read_ops,read_bytes\n{rising}"));
    near(&values(&reading, "", Class::Read, Measure::Iops), &[10.0; 5]);
    near(&values(&reading, "", Class::Read, Measure::Throughput), &[40_960.0; 5]);
    assert!(has_caution(&reading, "interpreted as counters: read_ops, read_bytes"));
    // A reset is no operation.
    let reset = rows(&[100, 700, 1_300, 40, 640, 1_240, 1_840, 2_440, 3_040, 3_640, 4_240, 4_840, 5_440]);
    let reading = read(&format!("time,read_ops_total,read_bytes_total\n{reset}"));
    assert!(values(&reading, "", Class::Read, Measure::Iops).iter().all(|iops| (iops - 10.0).abs() < 1e-9));
    let varying = rows(&[100, 700, 300, 1_900, 500, 900]);
    let reading = read(&format!("time,read_ops,read_bytes\n{varying}"));
    near(&values(&reading, "", Class::Read, Measure::Iops)[..2], &[100.0, 700.0]);
    assert!(has_caution(&reading, "interpreted as rates per second: read_ops, read_bytes"));
    let rates = read(&format!("time,read_iops,read_bytes_s\n{rising}"));
    near(&values(&rates, "", Class::Read, Measure::Iops)[..2], &[100.0, 700.0]);
    assert!(!has_caution(&rates, "interpreted as"));
}

#[test]
fn rows_of_sums_count_once_and_missing_cells_are_doubted() {
    let table = "time,volume,IOPS (k)\n\
        2026-03-02 09:00:00,All volumes,3\n2026-03-02 09:00:00,a,1\n2026-03-02 09:00:00,b,2\n\
        2026-03-02 09:01:00,All volumes,1\n2026-03-02 09:01:00,a,1\n2026-03-02 09:01:00,b,\n";
    let reading = read(table);
    near(&values(&reading, "b", Class::All, Measure::Iops), &[2_000.0]);
    assert!(has_caution(&reading, "by their names, All volumes are"));
    assert!(has_caution(&reading, "b lacks values of all in 1 of 2 windows"));
}

#[test]
fn parts_that_are_sums_or_means_of_the_others_are_doubted() {
    let doubts = |rows: &[[u32; 3]]| {
        let row = |(minute, [a, b, c]): (usize, &[u32; 3])| {
            let at = format!("2026-03-02 09:{minute:02}:00");
            format!("{at},a,{a}\n{at},b,{b}\n{at},cluster,{c}\n")
        };
        let reading = read(&format!("time,volume,iops\n{}", rows.iter().enumerate().map(row).collect::<String>()));
        has_caution(&reading, "the values of cluster are the sum or the mean")
    };
    assert!(doubts(&[[100, 50, 150], [100, 50, 150]]));
    assert!(doubts(&[[100, 50, 75], [80, 40, 60], [100, 60, 80], [10, 30, 20]]));
    assert!(!doubts(&[[100, 50, 150], [0, 0, 0]]), "a single window may be equal by chance");
    assert!(!doubts(&[[100, 50, 150], [100, 50, 140]]));
    assert!(!doubts(&[[100, 100, 100]; 4]), "equal volumes");
    assert!(!doubts(&[[100, 0, 100]; 4]), "a mirror");
    let mean = "time,volume,iops\n2026-03-02 09:00:00,a,100\n2026-03-02 09:00:00,Average,100\n\
        2026-03-02 09:01:00,a,90\n2026-03-02 09:01:00,Average,90\n";
    assert!(has_caution(&read(mean), "by their names, Average are"));
}

#[test]
fn skipped_maxima_are_named() {
    let table =
        "time,read_iops_max,read_iops_avg,colour\n2026-03-02 09:00:00,1000,100,1\n2026-03-02 09:01:00,1000,100,1\n";
    assert!(has_caution(&read(table), "the highest values are means of a window: read_iops_max"));
    assert!(!has_caution(&read(&table.replace("_max", "_id")), "the highest values"));
}

#[test]
fn date_and_time_of_day_may_have_a_column_each() {
    let reading = read("Date,Time,Read IOPS\n3/15/2026,11:59:00 AM,1\n3/15/2026,12:00:00 PM,2\n");
    near(&values(&reading, "", Class::Read, Measure::Iops), &[1.0, 2.0]);
    assert_eq!(reading.windows[1].begin, Some(date(2026, 3, 15).at(11, 59, 0, 0)));
}

#[test]
fn a_cut_last_row_is_skipped_or_doubted() {
    let text = |last: &str| {
        format!(
            "time,write_iops,read_iops\n2026-03-02 10:00:00,5.000,480.000\n2026-03-02 10:01:00,5.000,490.000\n\
             2026-03-02 10:02:00,5.000,{last}"
        )
    };
    let reads = |text: &str| -> Vec<f64> {
        let read = read(text);
        let own = read.figures.iter().filter(|figure| figure.class.name() == "reads");
        own.map(|figure| figure.value).collect()
    };
    let kinds = |text: &str| -> Vec<String> {
        read(text).cautions.iter().map(|caution| caution.doubt.kind()).filter(|kind| kind.starts_with("last")).collect()
    };
    for cut in ["5", "50", "500", "500.", "500.0", "500.00"] {
        assert_eq!(reads(&text(cut)), [480.0, 490.0], "{cut}");
        assert_eq!(kinds(&text(cut)), ["last-line-cut"], "{cut}");
    }
    for complete in ["500.000", "50\n", "50\r\n"] {
        assert_eq!(reads(&text(complete)).len(), 3, "{complete}");
        assert!(kinds(&text(complete)).is_empty(), "{complete}");
    }
    let integers = text("50").replace(".000", "");
    assert_eq!((reads(&integers).len(), kinds(&integers)), (3, vec!["last-value-may-be-cut".to_owned()]));
}
