//! The machine that generates the load: kernel, processors, memory, hypervisor, clock.
//!
//! `None` means unknown.

mod processor;
pub(crate) mod tree;
mod virtualization;

use std::thread::available_parallelism;

use plimsoll_record::Host;
use plimsoll_units::Bytes;

pub(crate) use tree::Tree;

pub(crate) const CLOCK_SOURCE: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";

/// Describes this machine, as visible to this process.
pub fn describe() -> Host {
    let cpus = available_parallelism().ok().map(|count| count.get() as u32);
    read(&Tree::system(), cpus)
}

/// `cpus` is the number available under the affinity mask and control group, which no file of the tree contains.
fn read(tree: &Tree, cpus: Option<u32>) -> Host {
    let cpuinfo = tree.text("proc/cpuinfo").unwrap_or_default();
    Host {
        kernel: tree.word("proc/sys/kernel/osrelease"),
        cpu: processor::model(&cpuinfo),
        cpus,
        memory: memory(tree),
        virtualization: virtualization::read(tree, &cpuinfo),
        clock_source: tree.word(CLOCK_SOURCE),
        governor: tree.word("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    }
}

/// `MemTotal:       24684096 kB`, where the kernel's kB is 1,024 bytes.
fn memory(tree: &Tree) -> Option<Bytes> {
    let text = tree.text("proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes::kib(kib))
}

/// The value of the first line `key : value` of `/proc/cpuinfo`.
fn value<'a>(cpuinfo: &'a str, key: &str) -> Option<&'a str> {
    let lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    let mut values = lines.filter(|(name, _)| name.trim() == key).map(|(_, value)| value.trim());
    values.find(|value| !value.is_empty())
}

#[cfg(test)]
pub(crate) mod tests;
