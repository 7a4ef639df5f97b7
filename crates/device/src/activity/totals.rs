//! Counters of a block device and of the processors since boot, as the types of a run.

use plimsoll_record::{DiskCounters, HostTime};
use plimsoll_units::Span;

use super::counters::{DiskLine, Processors};
use super::delta::SECTOR_BYTES;
use crate::block::BlockDevice;
use crate::host::Tree;

/// Counters of the block device `name` as `/proc/diskstats` spells it (`vda`, `nvme0n1p1`, `loop3`). `None` without
/// such a device. Flushes are zero before Linux 5.5. A partition has the flushes of its whole disk, because the kernel
/// counts them only there.
pub fn disk_counters(name: &str) -> Option<DiskCounters> {
    counters_in(&Tree::system(), name)
}

/// Processor time of the whole host since boot. `None` without `/proc/stat`.
pub fn host_time() -> Option<HostTime> {
    let processors = Processors::read(&Tree::system())?;
    Some(in_time(&processors, rustix::param::clock_ticks_per_second()))
}

fn counters_in(tree: &Tree, name: &str) -> Option<DiskCounters> {
    let table = tree.text("proc/diskstats").ok()?;
    let flushing = BlockDevice::named(tree, name).filter(BlockDevice::is_partition).map(|block| block.disk().name());
    counters_of(&table, name, flushing.as_deref().unwrap_or(name))
}

/// Counters of `name`, with the flushes of the device `flushing`, from the text of `/proc/diskstats`.
fn counters_of(table: &str, name: &str, flushing: &str) -> Option<DiskCounters> {
    let line_of = |name: &str| table.lines().find_map(|line| DiskLine::named(line, name));
    let disk = line_of(name)?;
    let flushed = line_of(flushing).unwrap_or(disk);
    let bytes = |sectors: u64| sectors.saturating_mul(SECTOR_BYTES);
    Some(DiskCounters {
        device: name.into(),
        reads: disk.reads,
        read_bytes: bytes(disk.sectors_read),
        read_time: Span::from_millis(disk.spent_ms[0]),
        writes: disk.writes,
        written_bytes: bytes(disk.sectors_written),
        write_time: Span::from_millis(disk.spent_ms[1]),
        flushes: flushed.flushes.unwrap_or_default(),
        flush_time: Span::from_millis(flushed.flush_ms.unwrap_or_default()),
        busy: Span::from_millis(disk.busy_ms),
    })
}

fn in_time(processors: &Processors, ticks_per_second: u64) -> HostTime {
    let time = |ticks: u64| {
        let nanos = u128::from(ticks) * 1_000_000_000 / u128::from(ticks_per_second.max(1));
        Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    };
    HostTime {
        busy: time(processors.busy),
        waiting: time(processors.waiting),
        idle: time(processors.idle),
        stolen: time(processors.stolen),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tests::sda;

    const TABLE: &str = "\
   8       0 sda 100 1 800 30 200 5 1600 70 0 90 100 7 0 0 0 40 11
   8       1 sda1 10 1 80 3 20 5 160 7 0 9 10 0 0 0 0 0 0
 254       0 vda 1 0 2 3 4 0 5 6 0 7 8
";

    #[test]
    fn disk_counters_are_bytes_and_time() {
        let expected = DiskCounters {
            device: "sda".into(),
            reads: 100,
            read_bytes: 800 * 512,
            read_time: Span::from_millis(30),
            writes: 200,
            written_bytes: 1600 * 512,
            write_time: Span::from_millis(70),
            flushes: 40,
            flush_time: Span::from_millis(11),
            busy: Span::from_millis(90),
        };
        assert_eq!(counters_of(TABLE, "sda", "sda"), Some(expected));
        let old = counters_of(TABLE, "vda", "vda").unwrap();
        assert_eq!((old.reads, old.written_bytes, old.flushes), (1, 5 * 512, 0));
        assert_eq!(counters_of(TABLE, "sdb", "sdb"), None);
    }

    #[test]
    fn flushes_of_a_partition_are_those_of_its_disk() {
        let fixture = sda("totals");
        fixture.put("proc/diskstats", TABLE);
        fixture.link("sys/class/block/sda", "../../devices/pci/block/sda");
        fixture.link("sys/class/block/sda1", "../../devices/pci/block/sda/sda1");
        let part = counters_in(&fixture.tree(), "sda1").unwrap();
        assert_eq!((part.device.as_str(), part.reads, part.flushes), ("sda1", 10, 40));
        assert_eq!(counters_in(&fixture.tree(), "sda").unwrap().flush_time, Span::from_millis(11));
    }

    #[test]
    fn ticks_become_time() {
        let ticks = Processors { busy: 150, idle: 1_000, waiting: 5, stolen: 1 };
        let expected = HostTime {
            busy: Span::from_millis(1_500),
            waiting: Span::from_millis(50),
            idle: Span::from_secs(10),
            stolen: Span::from_millis(10),
        };
        assert_eq!(in_time(&ticks, 100), expected);
    }

    #[test]
    fn this_host_has_processors() {
        let time = host_time().expect("/proc/stat exists on Linux");
        assert!(time.busy > Span::ZERO, "{time:?}");
    }
}
