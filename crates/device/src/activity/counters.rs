//! Parsers of kernel counters: `/proc/diskstats`, `/proc/stat`, `/proc/self/io`, processor frequencies.
//!
//! Formats: Documentation/admin-guide/iostats.rst of the kernel, and proc(5).

use crate::block::DeviceNumber;
use crate::host::Tree;

/// A disk's line of `/proc/diskstats`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DiskLine {
    pub(super) reads: u64,
    pub(super) sectors_read: u64,
    pub(super) writes: u64,
    pub(super) sectors_written: u64,
    /// Merged reads and merged writes.
    pub(super) merges: [u64; 2],
    pub(super) spent_ms: [u64; 2],
    pub(super) busy_ms: u64,
    pub(super) weighted_ms: u64,
    pub(super) discards: Option<u64>,
    pub(super) flushes: Option<u64>,
    pub(super) flush_ms: Option<u64>,
}

impl DiskLine {
    pub(super) fn read(tree: &Tree, number: DeviceNumber) -> Option<Self> {
        tree.text("proc/diskstats").ok()?.lines().find_map(|line| Self::parse(line, number))
    }

    /// `254 0 vda reads merged sectors ms writes merged sectors ms in-flight busy weighted [discards x4 [flushes x2]]`
    fn parse(line: &str, number: DeviceNumber) -> Option<Self> {
        let mut fields = line.split_whitespace();
        let mut part = || fields.next()?.parse::<u32>().ok();
        if part()? != number.major || part()? != number.minor {
            return None;
        }
        Self::counts(fields.skip(1))
    }

    /// Parses the line of `/proc/diskstats` if it belongs to the disk `name`.
    pub(super) fn named(line: &str, name: &str) -> Option<Self> {
        let mut fields = line.split_whitespace().skip(2);
        if fields.next()? != name {
            return None;
        }
        Self::counts(fields)
    }

    fn counts<'a>(fields: impl Iterator<Item = &'a str>) -> Option<Self> {
        let counts: Vec<u64> = fields.map_while(|field| field.parse().ok()).collect();
        let at = |index: usize| counts.get(index).copied();
        Some(Self {
            reads: at(0)?,
            sectors_read: at(2)?,
            writes: at(4)?,
            sectors_written: at(6)?,
            merges: [at(1)?, at(5)?],
            spent_ms: [at(3)?, at(7)?],
            busy_ms: at(9)?,
            weighted_ms: at(10)?,
            discards: at(11),
            flushes: at(15),
            flush_ms: at(16),
        })
    }
}

/// The first line of `/proc/stat`, in ticks of all processors together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Processors {
    pub(super) busy: u64,
    pub(super) idle: u64,
    pub(super) waiting: u64,
    pub(super) stolen: u64,
}

impl Processors {
    pub(super) fn read(tree: &Tree) -> Option<Self> {
        Self::parse(tree.text("proc/stat").ok()?.lines().next()?)
    }

    /// `cpu user nice system idle iowait irq softirq steal guest guest_nice`; user and nice include guest time.
    fn parse(line: &str) -> Option<Self> {
        let ticks: Vec<u64> = line.strip_prefix("cpu ")?.split_whitespace().map_while(|t| t.parse().ok()).collect();
        let [user, nice, system, idle, waiting, irq, softirq, stolen] = *ticks.first_chunk()?;
        Some(Self { busy: user + nice + system + irq + softirq, idle, waiting, stolen })
    }

    pub(super) const fn total(&self) -> u64 {
        self.busy + self.idle + self.waiting + self.stolen
    }
}

/// `/proc/self/io`, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) syscall_read: u64,
    pub(super) syscall_written: u64,
    pub(super) storage_read: u64,
    pub(super) storage_written: u64,
}

impl Process {
    pub(super) fn read(tree: &Tree) -> Option<Self> {
        let text = tree.text("proc/self/io").ok()?;
        let value = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
            line?.trim().parse::<u64>().ok()
        };
        Some(Self {
            syscall_read: value("rchar")?,
            syscall_written: value("wchar")?,
            storage_read: value("read_bytes")?,
            storage_written: value("write_bytes")?,
        })
    }
}

/// Frequency of each processor in kHz, by processor number; empty without cpufreq.
pub(super) fn frequencies_khz(tree: &Tree) -> Vec<u64> {
    let names = tree.names("sys/devices/system/cpu").unwrap_or_default();
    let numbered = names.iter().filter_map(|name| name.strip_prefix("cpu")?.parse::<u32>().ok());
    let mut numbers: Vec<u32> = numbered.collect();
    numbers.sort_unstable();
    let read =
        |number: &u32| tree.word(format!("sys/devices/system/cpu/cpu{number}/cpufreq/scaling_cur_freq"))?.parse().ok();
    numbers.iter().map_while(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disk_lines_of_all_kernels_are_parsed() {
        let number = DeviceNumber { major: 254, minor: 0 };
        let old = " 254       0 vda 10 1 20 3 40 5 60 7 0 90 100";
        let expected = DiskLine {
            reads: 10,
            sectors_read: 20,
            writes: 40,
            sectors_written: 60,
            busy_ms: 90,
            weighted_ms: 100,
            merges: [1, 5],
            spent_ms: [3, 7],
            discards: None,
            flushes: None,
            flush_ms: None,
        };
        assert_eq!(DiskLine::parse(old, number), Some(expected));
        let new = format!("{old} 11 0 0 0 12 1");
        let newest = DiskLine { discards: Some(11), flushes: Some(12), flush_ms: Some(1), ..expected };
        assert_eq!(DiskLine::parse(&new, number), Some(newest));
        assert_eq!((DiskLine::named(&new, "vda"), DiskLine::named(&new, "vd")), (Some(newest), None));
        assert_eq!(DiskLine::parse(old, DeviceNumber { major: 254, minor: 1 }), None);
        assert_eq!(DiskLine::parse("254 0 vda 1 2", number), None);
    }

    #[test]
    fn processor_time_is_parsed() {
        let expected = Processors { busy: 1 + 2 + 3 + 6 + 7, idle: 4, waiting: 5, stolen: 8 };
        assert_eq!(Processors::parse("cpu  1 2 3 4 5 6 7 8 9 10"), Some(expected));
        assert_eq!(Processors::parse("cpu0 1 2 3 4 5 6 7 8"), None);
        assert_eq!(Processors::parse("cpu  1 2 3"), None);
    }
}
