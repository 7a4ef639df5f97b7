//! Snapshots of `/proc/diskstats` and of sysfs, as kernels print them.

use jiff::civil::date;
use plimsoll_ingest::{Class, Fate, FormatInput, Measure, Outcome, OutcomeSummary};
use plimsoll_units::Span;
use proptest::prelude::*;

use crate::series::{cut_anywhere, has_caution, laws, near, outcome, read, read_as, refused, samples, values};

/// A snapshot after `n` seconds: a disk with a partition, with a mapping and a loop device on top.
fn snapshot(n: u64) -> String {
    let row = |head: &str, times: u64| {
        let counts = [100, 3, 1_600, 50, 200, 7, 6_400, 800, 0, 500, 850, 4, 0, 64, 8, 2, 6];
        let counts: Vec<String> = counts.iter().map(|count| (count * n * times + 10).to_string()).collect();
        format!("{head} {}\n", counts.join(" "))
    };
    row("   8       0 sda", 1)
        + &row("   8       1 sda1", 1)
        + &row(" 253       0 dm-0", 1)
        + &row("   7       0 loop0", 9)
}

fn stamped(n: u64) -> String {
    format!("TS {}.000000000 2026-03-02 09:00:{n:02}\n{}", 1_772_442_000 + n, snapshot(n))
}

#[test]
fn snapshots_with_times_are_windows() {
    let text: String = [0, 1, 3].map(stamped).concat();
    let reading = read(&text);
    laws(&reading);
    assert_eq!(reading.windows.len(), 2);
    assert_eq!(reading.windows[1].begin, Some(date(2026, 3, 2).at(9, 0, 1, 0)));
    assert_eq!(reading.windows[1].length, Span::from_secs(2));
    let check = |class, measure, expected: f64| near(&values(&reading, "sda", class, measure), &[expected, expected]);
    check(Class::Read, Measure::Iops, 100.0);
    check(Class::Read, Measure::Throughput, 819_200.0);
    check(Class::Read, Measure::Size, 8_192.0);
    check(Class::Read, Measure::Latency, 0.000_5);
    check(Class::Write, Measure::Iops, 200.0);
    check(Class::Write, Measure::Latency, 0.004);
    check(Class::Discard, Measure::Size, 8_192.0);
    check(Class::Flush, Measure::Iops, 2.0);
    check(Class::Flush, Measure::Latency, 0.003);
    check(Class::All, Measure::Busy, 0.5);
    check(Class::All, Measure::Depth, 0.85);
    assert!(reading.scopes.iter().all(|scope| scope.part == "sda"), "a single layer");
    let fate = |name: &str| reading.parts.iter().find(|part| part.name == name).map(|part| part.fate);
    assert_eq!(
        (fate("sda"), fate("sda1"), fate("dm-0")),
        (Some(Fate::Read(3)), Some(Fate::Ignored), Some(Fate::Ignored))
    );
    assert!(reading.cautions.is_empty(), "{:?}", reading.cautions);
    let origin = reading.figures[0].origin.to_string();
    assert_eq!(origin, "line 7, sda: reads");
    cut_anywhere(&text);
}

#[test]
fn times_are_uptimes_dates_or_provided_by_the_caller() {
    let uptime: String = [10, 20].map(|n| format!("{n}.50 99.00\n{}", snapshot(n))).concat();
    near(&values(&read(&uptime), "sda", Class::Read, Measure::Iops), &[100.0]);
    let dates: String = [10, 20].map(|n| format!("Mon Mar  2 09:00:{n} UTC 2026\n{}", snapshot(n))).concat();
    near(&values(&read(&dates), "sda", Class::Write, Measure::Iops), &[200.0]);
    let bare: String = [0, 5, 10].map(snapshot).concat();
    assert!(refused(&bare).contains("specify their interval"));
    let interval = FormatInput { interval: Some(Span::from_secs(5)), ..FormatInput::from("test") };
    let reading = read_as(&bare, interval.clone());
    near(&values(&reading, "sda", Class::Read, Measure::Iops), &[100.0, 100.0]);
    assert_eq!(reading.windows[1].begin, None);
    let begin = Some(date(2026, 3, 2).at(9, 0, 0, 0));
    let reading = read_as(&bare, FormatInput { begin, ..interval });
    assert_eq!(reading.windows[1].begin, Some(date(2026, 3, 2).at(9, 0, 5, 0)));
}

#[test]
fn a_single_snapshot_is_combined_with_another_file() {
    let readings = [10, 20].map(|n| read(&stamped(n)));
    assert!(readings.iter().all(|reading| reading.figures.is_empty() && reading.snapshots.len() == 1));
    let [second, first] = readings;
    let joined = plimsoll_ingest::join(vec![first, second]);
    near(
        &joined.iter().flat_map(|reading| values(reading, "sda", Class::Read, Measure::Iops)).collect::<Vec<_>>(),
        &[100.0],
    );
    let alone = plimsoll_ingest::join(vec![read(&format!("100.00 90.00\n{}", snapshot(10)))]).remove(0);
    near(&values(&alone, "sda", Class::Read, Measure::Iops), &[10.1]);
    assert!(has_caution(&alone, "hide all peaks"));
}

#[test]
fn old_kernels_and_sysfs_are_read_too() {
    let old =
        |n: u64| format!("TS {}\n   3    1 hda1 {} {} {} {}\n", 1_772_442_000 + n, 10 * n, 160 * n, 20 * n, 320 * n);
    let reading = read(&(old(0) + &old(10)));
    near(&values(&reading, "hda1", Class::Write, Measure::Size), &[8_192.0]);
    assert_eq!(values(&reading, "hda1", Class::Read, Measure::Latency), [0.0; 0]);
    let stat = |n: u64| {
        format!(
            "2026-03-02 09:00:{:02}\n/sys/block/nvme0n1/stat: {} 0 {} {} 0 0 0 0 0 5 5\n",
            n,
            30 * n,
            240 * n,
            3 * n
        )
    };
    let reading = read(&(stat(0) + &stat(10)));
    near(&values(&reading, "nvme0n1", Class::Read, Measure::Latency), &[0.000_1]);
    let headed = |n: u64| format!("==> /sys/block/sda/stat <==\n  {} 0 0 0 0 0 0 0 0 5 5\n\n", 30 * n);
    let reading = read_as(
        &(headed(0) + &headed(10)),
        FormatInput { interval: Some(Span::from_secs(10)), ..FormatInput::default() },
    );
    near(&values(&reading, "sda", Class::Read, Measure::Iops), &[30.0]);
}

#[test]
fn counters_of_32_bits_go_round_and_restarts_are_left_out() {
    let row = |n: u64, reads: u64| {
        format!("TS {}\n 8 0 sda {reads} 0 {} 7 0 0 0 0 0 9 9\n", 1_772_442_000 + n, reads * 8 % (1 << 32))
    };
    let reading = read(&(row(0, 4_294_967_000) + &row(10, 704)));
    near(&values(&reading, "sda", Class::Read, Measure::Iops), &[100.0]);
    let reading = read(&(row(0, 5_000_000) + &row(10, 704) + &row(20, 1_704)));
    near(&values(&reading, "sda", Class::Read, Measure::Iops), &[100.0]);
    assert!(has_caution(&reading, "reset or restart"));
    let reading = read(&(row(10, 1_000) + &row(0, 2_000) + &row(5, 2_500)));
    near(&values(&reading, "sda", Class::Read, Measure::Iops), &[100.0]);
    assert!(has_caution(&reading, "clock did not advance"));
}

#[test]
fn broken_rows_cause_cautions_and_the_rest_is_read() {
    let mut text: String = [0, 1].map(stamped).concat();
    text.push_str("   8      16 sdb 5 3\n");
    let cut = outcome(text.as_bytes(), 100, "test");
    assert_eq!(cut.verdict(), OutcomeSummary::Partly);
    near(&values(cut.reading().unwrap(), "sda", Class::Read, Measure::Iops), &[100.0]);
    let noisy = text.replace("TS ", "cat: warning\nTS ").replace('\n', "\r\n");
    assert!(has_caution(&read(&noisy), "without counters"));
    assert!(refused("   7       0 loop0 1 2 3 4 5 6 7 8 9 10 11\n").contains("memory and loop devices"));
    assert!(refused("the first words\n of a letter\n").contains("the nearest is iostat"));
}

#[test]
fn real_files_are_read() {
    for (name, bytes) in samples("diskstats") {
        let total = outcome(&bytes, 65_536, name.as_str());
        println!("{name}: {:?}", total.verdict());
        if let Outcome::Read(reading) = &total {
            assert_eq!(total.kind().map(|kind| kind.id), Some("diskstats"), "{name}");
            laws(reading);
            assert!(!reading.snapshots.is_empty(), "{name}");
        }
        assert_eq!(outcome(&bytes, 997, name.as_str()), total, "{name}");
        let is_program = bytes.starts_with(b"#!");
        assert_eq!(total.verdict() == OutcomeSummary::Refused, is_program, "{name}: {total:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_rows_yield_an_outcome(
        lines in prop::collection::vec("(TS [0-9.]{1,14}|[ 0-9a-z./:-]{0,60}| 8 0 sda( [0-9]{1,22}){0,20}|[0-9.]{1,9} [0-9.]{1,9})", 0..40),
        step in 1_usize..200,
    ) {
        let text = format!("{}{}\n", stamped(3), lines.join("\n"));
        let total = outcome(text.as_bytes(), text.len(), "test");
        prop_assert_eq!(outcome(text.as_bytes(), step, "test"), total);
    }
}
