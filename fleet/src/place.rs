//! Where a command runs.

use std::thread;

use anyhow::{Result, ensure};
use clap::Args;

use crate::replay::RunPlace;
use crate::tls::TlsOptions;

/// Options of commands that replay.
#[derive(Clone, Debug, Args)]
pub struct PlaceOptions {
    /// Scheduler of a cluster, such as 127.0.0.1:50050; this process if none
    #[arg(long)]
    pub cluster: Option<String>,
    /// Buckets at a time in this process; the number of processors if none
    #[arg(long)]
    pub parallel: Option<usize>,
    /// Bytes of volumes in memory, of each of a few parts of the work; the rest waits in temporary files
    #[arg(long, hide = true, default_value_t = 32 << 20)]
    pub max_buffered: usize,
    #[command(flatten)]
    pub tls: TlsOptions,
}

impl PlaceOptions {
    /// The place.
    pub fn run_place(&self) -> Result<RunPlace> {
        if let Some(address) = &self.cluster {
            return Ok(RunPlace::Cluster { address: address.clone(), tls: self.tls.clone() });
        }
        ensure!(self.tls.tls_cert.is_none(), "--tls-cert is for the connection with a cluster: add --cluster");
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Ok(RunPlace::Embedded { parallel: self.parallel.unwrap_or(processors) })
    }
}
