//! An export of an NBD server, accessed from user space.

use std::io;

use plimsoll_device::nbd::{Connection, ExportAddress, Remote};
use plimsoll_device::{Clock, Shape};
use plimsoll_drive::{Fault, Observe, Partial, Target};
use plimsoll_load::{JobSpec, Region};

use super::side_by_side::{Targets, run};
use super::{Facts, Ground, Unfit, fit_files, placed_durable};
use crate::result::IoResult;
use crate::step::{FileSpec, IoStep, Worker};

/// An export, with a connection per worker.
pub struct Export {
    address: ExportAddress,
    facts: Facts,
    regions: Vec<Region>,
}

impl Export {
    /// An export with these facts.
    pub const fn new(address: ExportAddress, facts: Facts) -> Self {
        Self { address, facts, regions: Vec::new() }
    }
}

impl Targets for Export {
    fn target(&self, worker: &Worker, shape: &Shape, clock: Clock) -> Result<(Box<dyn Target>, JobSpec), Fault> {
        let failed = |error| Fault { attempt: self.address.to_string(), source: io::Error::other(error) };
        let connection = Connection::open(&self.address).map_err(failed)?;
        let target = Remote::new(vec![connection], shape, clock).map_err(failed)?;
        Ok((Box::new(target), placed_durable(worker, &self.regions)))
    }
}

impl Ground for Export {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn prepare_files(&mut self, files: &[FileSpec]) -> Result<(), Unfit> {
        self.regions = fit_files(files, &self.facts)?;
        Ok(())
    }

    fn io(&mut self, step: &IoStep, observe: Observe<'_>) -> Partial<IoResult> {
        run(self, step, observe)
    }
}
