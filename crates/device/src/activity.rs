//! Counters of the device, the processors and this process before and after a run, to reveal concurrent activity.
//!
//! Returns numbers with units; thresholds are applied elsewhere.

mod counters;
mod delta;
mod host_snapshot;
mod totals;

use std::time::Instant;

use plimsoll_record::CpuTime;

pub use delta::{ActivityDelta, DiskDelta, Frequency, ProcessDelta};
pub use host_snapshot::HostSnapshot;
pub use totals::{disk_counters, host_time};

use counters::{DiskLine, Process, Processors};

use crate::block::{BlockDevice, DeviceNumber};
use crate::host::{CLOCK_SOURCE, Tree};
use crate::subject::Subject;

/// Source of snapshots; the disk of the subject is looked up once.
#[derive(Clone, Debug)]
pub struct ActivityWatch {
    tree: Tree,
    disk: Option<DeviceNumber>,
}

impl ActivityWatch {
    /// Watches the machine and the disk that holds `subject`: the whole disk, as other users of it compete.
    pub fn new(subject: &Subject) -> Self {
        Self::on(Tree::system(), subject.device)
    }

    /// Watches the machine alone, for targets that are not a local disk.
    pub fn host() -> Self {
        Self::on(Tree::system(), None)
    }

    fn on(tree: Tree, device: Option<DeviceNumber>) -> Self {
        let disk_of = |number| BlockDevice::find(&tree, number).ok()?.disk().number();
        let disk = device.map(|number| disk_of(number).unwrap_or(number));
        Self { tree, disk }
    }

    /// Takes a snapshot. Reads a few small files: below a millisecond on most machines.
    pub fn snapshot(&self) -> Activity {
        Activity {
            taken: Instant::now(),
            disk: self.disk.and_then(|number| DiskLine::read(&self.tree, number)),
            processors: Processors::read(&self.tree),
            process: Process::read(&self.tree),
            own_cpu: crate::usage::cpu_time(),
            clock: self.tree.word(CLOCK_SOURCE),
            frequencies_khz: counters::frequencies_khz(&self.tree),
        }
    }
}

/// Counters at one moment; only differences ([`Activity::since`]) are meaningful.
#[derive(Clone, Debug)]
pub struct Activity {
    taken: Instant,
    disk: Option<DiskLine>,
    processors: Option<Processors>,
    process: Option<Process>,
    own_cpu: CpuTime,
    clock: Option<String>,
    frequencies_khz: Vec<u64>,
}

#[cfg(test)]
mod tests;
