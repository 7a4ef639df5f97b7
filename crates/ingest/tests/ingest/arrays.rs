//! Software RAID and its disks: each operation is counted once.

use std::fmt::Write as _;

use plimsoll_ingest::{Class, Demand, Measure, Reading, join};

use crate::hosts::reading;

/// A report of iostat: devices with their reads and writes per second, of 8 KiB each.
fn report(devices: &[(&str, f64, f64)]) -> String {
    let mut text = String::from("Device r/s rkB/s r_await rareq-sz w/s wkB/s w_await wareq-sz aqu-sz %util\n");
    for (name, reads, writes) in devices {
        let await_ms = if name.starts_with("md") { 0.0 } else { 0.5 };
        let (read_kb, written_kb) = (reads * 8.0, writes * 8.0);
        let _ = writeln!(
            text,
            "{name} {reads:.2} {read_kb:.2} {await_ms:.2} 8.00 {writes:.2} {written_kb:.2} {await_ms:.2} 8.00 0.10 1.00"
        );
    }
    text + "\n"
}

fn iostat(devices: &[(&str, f64, f64)]) -> Reading {
    let time = |second: u32| format!("2026-03-02T09:00:{second:02}Z\n");
    reading(&(time(0) + &report(devices) + &time(10) + &report(devices)))
}

/// Demand of a reading: reads per second, writes per second, and milliseconds per read.
fn read_demand(reading: &Reading) -> (f64, f64, Option<f64>) {
    let demand = Demand::of(&[reading]);
    let of = |class, measure| demand.subjects[0].series(class, measure).and_then(|series| series.values[0]);
    let rate = |class| of(class, Measure::Iops).unwrap_or_default();
    (
        rate(Class::Read),
        rate(Class::Write),
        of(Class::Read, Measure::Latency).map(|seconds| (seconds * 1e6).round() / 1e3),
    )
}

const MIRROR: [(&str, f64, f64); 3] = [("md2", 100.0, 4_671.0), ("nvme0n1", 50.0, 4_377.0), ("nvme1n1", 50.0, 4_377.0)];

#[test]
fn a_mirrored_write_counts_once() {
    let reading = iostat(&MIRROR);
    assert_eq!((read_demand(&reading).0, read_demand(&reading).1), (100.0, 4_671.0));
    let text = &reading.cautions.last().expect("a caution about the assumption").doubt.to_string();
    assert!(
        text.contains("software RAID md2") && text.contains("nvme0n1, nvme1n1 are assumed to be their members"),
        "{text}"
    );
}

#[test]
fn an_untimed_array_has_the_latency_of_its_disks() {
    assert_eq!(read_demand(&iostat(&MIRROR)).2, Some(0.5));
}

#[test]
fn disks_are_counted_if_their_array_carries_little() {
    let reading = iostat(&[("md0", 0.0, 100.0), ("sda", 0.0, 100.0), ("sdb", 0.0, 100.0), ("sdc", 3_000.0, 1_800.0)]);
    assert_eq!((read_demand(&reading).0, read_demand(&reading).1), (3_000.0, 2_000.0));
    let text = &reading.cautions.last().expect("a caution about the rule").doubt.to_string();
    assert!(text.contains("counted at the disks") && text.contains("md0 carried 2.0 %"), "{text}");
}

#[test]
fn counters_of_arrays_follow_the_same_rule() {
    let snapshot = |n: u64| {
        let row = |name: &str, reads: u64, writes: u64, ms: u64| {
            let (reads, writes) = (reads * n, writes * n);
            format!(
                "9 2 {name} {reads} 0 {} {} {writes} 0 {} {} 0 0 0\n",
                reads * 16,
                reads * ms,
                writes * 16,
                writes * ms
            )
        };
        let rows =
            row("sda", 50, 100, 1) + &row("sdb", 50, 100, 1) + &row("md2", 100, 100, 0) + &row("mmcblk0boot0", 9, 9, 1);
        format!("# 2026-03-02T09:00:{n:02}Z\n{rows}")
    };
    let total = reading(&(snapshot(1) + &snapshot(2)));
    assert_eq!(read_demand(&total), (100.0, 100.0, Some(1.0)));
    let joined = join(vec![reading(&snapshot(1)), reading(&snapshot(2))]);
    let readings: Vec<&Reading> = joined.iter().collect();
    let demand = Demand::of(&readings);
    let writes = demand.subjects[0].series(Class::Write, Measure::Iops).expect("writes");
    assert!(writes.values.contains(&Some(100.0)), "{writes:?}");
}

/// Counters of a mirror whose array the kernel does not count, after `n` seconds.
fn uncounted(n: u64) -> String {
    let row = |name: &str, reads: u64, writes: u64| {
        format!(
            "8 0 {name} {} 0 {} {n} {} 0 {} {n} 0 {n} {n}\n",
            reads * n,
            reads * 16 * n,
            writes * n,
            writes * 16 * n
        )
    };
    let rows = row("sda", 3, 46) + &row("sdb", 2, 46) + &row("md0", 0, 0);
    format!("TS {}.0 2026-03-02 09:00:{n:02}\n{rows}", 1_772_442_000 + n)
}

#[test]
fn an_array_without_counters_hides_no_disk() {
    let rates = |readings: &[&Reading]| {
        let demand = Demand::of(readings);
        let of = |class| demand.subjects[0].series(class, Measure::Iops).and_then(|series| series.values[0]);
        (of(Class::Read), of(Class::Write))
    };
    let expected = (Some(5.0), Some(92.0));
    assert_eq!(rates(&[&reading(&(uncounted(10) + &uncounted(20)))]), expected);
    let joined = join(vec![reading(&uncounted(10)), reading(&uncounted(20))]);
    assert_eq!(rates(&joined.iter().collect::<Vec<_>>()), expected, "in two files");
}

#[test]
fn mapped_devices_without_disks_are_counted_once() {
    let counted = |devices: &[(&str, f64, f64)]| {
        let reading = iostat(devices);
        let (reads, writes, _) = read_demand(&reading);
        (reads, writes, reading.cautions.last().map(|caution| caution.doubt.to_string()).unwrap_or_default())
    };
    // An encrypted volume below two logical ones.
    let (reads, writes, text) = counted(&[("dm-0", 300.0, 120.0), ("dm-1", 100.0, 100.0), ("dm-2", 200.0, 20.0)]);
    assert_eq!((reads, writes), (300.0, 120.0));
    assert!(text.contains("counted at dm-0: dm-1, dm-2 carry the same bytes"), "{text}");
    let (reads, writes, _) = counted(&[("dm-0", 300.0, 120.0), ("dm-1", 300.0, 120.0)]);
    assert_eq!((reads, writes), (300.0, 120.0));
    let (reads, writes, text) = counted(&[("dm-0", 300.0, 120.0), ("dm-1", 100.0, 5.0)]);
    assert_eq!((reads, writes), (400.0, 125.0), "no layer is visible");
    assert!(text.contains("may be layered"), "{text}");
    let (reads, writes, _) = counted(&[("sda", 300.0, 120.0), ("dm-0", 300.0, 120.0), ("dm-1", 300.0, 120.0)]);
    assert_eq!((reads, writes), (300.0, 120.0), "at the disk");
}
