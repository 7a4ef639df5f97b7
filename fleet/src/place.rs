//! Where a command runs.

use std::thread;

use clap::Args;

use crate::replay::RunPlace;

/// Options of commands that replay.
#[derive(Clone, Debug, Args)]
pub struct PlaceOptions {
    /// Scheduler of a cluster, such as 127.0.0.1:50050; this process if none
    #[arg(long)]
    pub cluster: Option<String>,
    /// Buckets at a time in this process; the number of processors if none
    #[arg(long)]
    pub parallel: Option<usize>,
}

impl PlaceOptions {
    /// The place.
    pub fn run_place(&self) -> RunPlace {
        if let Some(address) = &self.cluster {
            return RunPlace::Cluster(address.clone());
        }
        let processors = thread::available_parallelism().map_or(1, usize::from);
        RunPlace::Embedded { parallel: self.parallel.unwrap_or(processors) }
    }
}
