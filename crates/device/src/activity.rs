//! Counters of the device, the processors and this process, before and after: what else went on during a run.
//!
//! Gives numbers with units, and knows nothing about which of them makes a figure questionable.

mod counters;
mod delta;
mod totals;

use std::time::Instant;

use plimsoll_record::CpuTime;

pub use delta::{ActivityDelta, DiskDelta, Frequency, ProcessDelta};
pub use totals::{disk_counters, host_time};

use counters::{Disk, Process, Processors};

use crate::disk::Block;
use crate::host::{CLOCK_SOURCE, Tree};
use crate::subject::{DeviceNumber, Subject};

/// What is watched: the disk of a subject, found once.
#[derive(Clone, Debug)]
pub struct Watch {
    tree: Tree,
    disk: Option<DeviceNumber>,
}

impl Watch {
    /// Watches the disk that holds `subject` (the whole one: others on it compete for it), and the machine.
    pub fn new(subject: &Subject) -> Self {
        Self::on(Tree::system(), subject.device)
    }

    /// Watches the machine alone: what is measured is no disk of it.
    pub fn host() -> Self {
        Self::on(Tree::system(), None)
    }

    fn on(tree: Tree, device: Option<DeviceNumber>) -> Self {
        let whole = |number| Block::find(&tree, number).ok()?.whole().number();
        let disk = device.map(|number| whole(number).unwrap_or(number));
        Self { tree, disk }
    }

    /// The counters now. Reads a few small files: below a millisecond on most machines.
    pub fn snapshot(&self) -> Activity {
        Activity {
            taken: Instant::now(),
            disk: self.disk.and_then(|number| Disk::read(&self.tree, number)),
            processors: Processors::read(&self.tree),
            process: Process::read(&self.tree),
            own_cpu: crate::usage::cpu_time(),
            clock: self.tree.word(CLOCK_SOURCE),
            frequencies_khz: counters::frequencies_khz(&self.tree),
        }
    }
}

/// Counters at one moment; what they mean is the difference to another ([`Activity::since`]).
#[derive(Clone, Debug)]
pub struct Activity {
    taken: Instant,
    disk: Option<Disk>,
    processors: Option<Processors>,
    process: Option<Process>,
    own_cpu: CpuTime,
    clock: Option<String>,
    frequencies_khz: Vec<u64>,
}

#[cfg(test)]
mod tests;
