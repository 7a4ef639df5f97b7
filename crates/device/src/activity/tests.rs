//! Differences of two counter snapshots of fixture trees.

use std::time::Duration;

use plimsoll_units::{Bytes, Span};

use super::*;
use crate::disk::tests::sda;

const FREQUENCY: &str = "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq";

#[test]
fn two_snapshots_give_shares_and_counts() {
    let fixture = sda("activity");
    let write = |disk: &str, stat: &str, io: [u32; 4], clock: &str, frequency: &str| {
        fixture.put("proc/diskstats", &format!("   8       0 sda {disk}\n   8       1 sda1 1 1 1 1 1 1 1 1 1 1 1\n"));
        fixture.put("proc/stat", &format!("cpu  {stat}\ncpu0 1 1 1 1 1 1 1 1 1 1\n"));
        let [rchar, wchar, read, written] = io;
        let io = format!("rchar: {rchar}\nwchar: {wchar}\nsyscr: 1\nread_bytes: {read}\nwrite_bytes: {written}\n");
        fixture.put("proc/self/io", &io);
        fixture.put(CLOCK_SOURCE, clock);
        fixture.put(FREQUENCY, frequency);
    };
    let watch = ActivityWatch::on(fixture.tree(), Some(DeviceNumber { major: 8, minor: 1 }));
    write("100 0 800 9 50 0 400 9 0 1000 4294967290", "10 0 10 60 10 0 0 10 0 0", [0, 0, 0, 0], "tsc", "3000000");
    let before = watch.snapshot();
    write(
        "1100 3 8800 20 150 4 1200 39 0 1500 10",
        "50 0 20 70 10 0 0 50 0 0",
        [8000, 50, 2000, 512],
        "hpet",
        "2400000",
    );
    let mut after = watch.snapshot();
    after.taken = before.taken + Duration::from_secs(1);

    let delta = after.since(&before);
    assert_eq!(delta.elapsed, Span::from_secs(1));
    let disk = delta.disk.unwrap();
    assert_eq!((disk.reads, disk.writes, disk.discards, disk.flushes), (1000, 100, None, None));
    assert_eq!((disk.read, disk.written), (Bytes::new(8000 * 512), Bytes::new(800 * 512)));
    assert!((disk.busy - 0.5).abs() < 1e-9 && (disk.in_flight - 0.016).abs() < 1e-9, "{disk:?}");
    assert_eq!((disk.merges, disk.spent), ([3, 4], [Span::from_millis(11), Span::from_millis(30)]));
    assert_eq!((delta.busy, delta.waiting, delta.stolen), (Some(0.5), Some(0.0), Some(0.4)));
    assert_eq!(delta.process.unwrap().syscall_written, Bytes::new(50));
    assert_eq!(delta.cached_share(Bytes::new(8000)), Some(0.75));
    assert_eq!(delta.cached_share(Bytes::ZERO), None);
    assert_eq!(delta.others_iops(1050), Some(50.0));
    assert_eq!(delta.clock_changed, Some(("tsc".into(), "hpet".into())));
    assert_eq!(delta.frequency, Some(Frequency { before_khz: 3_000_000, after_khz: 2_400_000, ratio: 0.8 }));
    assert_eq!(before.since(&after).disk, None, "a decreasing counter has no difference");
}

#[test]
fn missing_counters_are_absent() {
    let fixture = sda("activity-bare");
    let watch = ActivityWatch::on(fixture.tree(), None);
    let before = watch.snapshot();
    let mut after = watch.snapshot();
    (after.taken, after.own_cpu) = (before.taken, before.own_cpu);
    assert_eq!(after.since(&before), ActivityDelta::default());
}
