//! Disk statistics and processor idleness during jobs.

use std::path::Path;

use plimsoll_device::{Activity, ActivityWatch, classify, describe_disk};
use plimsoll_fio::IdleProfile;
use plimsoll_fio::print::{DiskCounts, DiskUse, Idleness};

use super::plan::FilePlan;

/// Bytes of a sector in the kernel's counters.
const SECTOR: u64 = 512;

/// Disks with their initial counters.
#[derive(Debug, Default)]
pub struct Disks(Vec<(String, ActivityWatch, Activity)>);

impl Disks {
    /// The distinct disks of these files.
    pub fn of(files: &[FilePlan]) -> Self {
        let mut disks: Vec<(String, ActivityWatch, Activity)> = Vec::new();
        for path in files.iter().filter_map(|file| file.path.as_ref()) {
            let Ok(subject) = classify(Path::new(path)) else { continue };
            let Some(name) = describe_disk(&subject).name else { continue };
            if disks.iter().all(|(existing, ..)| *existing != name) {
                let watch = ActivityWatch::new(&subject);
                let before = watch.snapshot();
                disks.push((name, watch, before));
            }
        }
        Self(disks)
    }

    /// Statistics since the start. Disks without counters are omitted.
    pub fn used(&self) -> Vec<DiskUse> {
        let used = |(name, watch, before): &(String, ActivityWatch, Activity)| {
            let delta = watch.snapshot().since(before);
            let disk = delta.disk?;
            let own = DiskCounts {
                operations: [disk.reads, disk.writes],
                sectors: [disk.read.get() / SECTOR, disk.written.get() / SECTOR],
                merges: disk.merges,
                ticks_ms: disk.spent.map(|span| span.as_millis_f64() as u64),
                queue_ms: (disk.in_flight * delta.elapsed.as_millis_f64()).round() as u64,
                busy_percent: disk.busy * 100.0,
            };
            Some(DiskUse { name: name.clone(), own, below: None })
        };
        self.0.iter().filter_map(used).collect()
    }
}

/// Idle and total ticks of processors at the start; the first entry is the sum of all.
#[derive(Debug)]
pub struct ProcessorTicks {
    before: Vec<(u64, u64)>,
    profile: IdleProfile,
}

impl ProcessorTicks {
    /// All processors of the host.
    pub fn new(profile: IdleProfile) -> Self {
        Self { before: parse_ticks(&read_stat()), profile }
    }

    /// Idleness since the start. Not calibrated: times of work units are zero.
    pub fn idleness(&self) -> Idleness {
        let shares = compute_idle_shares(&self.before, &parse_ticks(&read_stat()));
        let (system, each) = shares.split_first().map_or((0.0, &[][..]), |(all, each)| (*all, each));
        let each = if self.profile == IdleProfile::PerProcessor { each.to_vec() } else { Vec::new() };
        Idleness { system_percent: system, each_percent: each, ..Idleness::default() }
    }
}

fn read_stat() -> String {
    std::fs::read_to_string("/proc/stat").unwrap_or_default()
}

/// Parses `cpu0 user nice system idle iowait ...`; I/O wait counts as idle.
fn parse_ticks(text: &str) -> Vec<(u64, u64)> {
    let line = |line: &str| {
        let ticks: Vec<u64> = line.split_whitespace().skip(1).take(8).map_while(|tick| tick.parse().ok()).collect();
        Some((ticks.get(3)? + ticks.get(4)?, ticks.iter().sum()))
    };
    text.lines().take_while(|line| line.starts_with("cpu")).filter_map(line).collect()
}

fn compute_idle_shares(before: &[(u64, u64)], after: &[(u64, u64)]) -> Vec<f64> {
    let share = |(before, after): (&(u64, u64), &(u64, u64))| {
        let (idle, all) = (after.0.saturating_sub(before.0), after.1.saturating_sub(before.1));
        if all == 0 { 0.0 } else { (idle as f64 / all as f64 * 100.0).min(100.0) }
    };
    before.iter().zip(after).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idleness_is_a_share_of_total_time() {
        let before = parse_ticks("cpu  10 0 10 60 20 0 0 0 0 0\ncpu0 10 0 10 60 20 0 0 0 0 0\nintr 1\n");
        let after = parse_ticks("cpu  20 0 10 80 30 0 0 0 0 0\ncpu0 60 0 10 60 20 0 0 0 0 0\nintr 1\n");
        assert_eq!(before, [(80, 100), (80, 100)]);
        assert_eq!(compute_idle_shares(&before, &after), [75.0, 0.0]);
    }
}
