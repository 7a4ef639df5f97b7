//! Data that are checked when they are read (`-c`).
//!
//! Knows nothing about how data are made and judged: [`Checked`] does.

use std::sync::Arc;

use plimsoll_device::{Blank, Checked, Checking, Contents};
use plimsoll_load::Region;
use plimsoll_units::Bytes;

use super::Tiobench;
use crate::step::Work;

impl Tiobench {
    /// The same with data that are checked when they are read, which takes time of the processor. What is wrong is told by
    /// the verdicts, and the suite has failed then.
    ///
    /// # Errors
    /// One line that says which blocks can be checked.
    pub(super) fn checking(mut self) -> Result<Self, String> {
        let interval = Bytes::new(self.options.block.into());
        let mut kept: Vec<(usize, Vec<Arc<Checked>>)> = Vec::new();
        for (pass, _, step) in &mut self.plan {
            let Work::Io(io) = &mut step.work else { continue };
            if kept.last().is_none_or(|(of, _)| of != pass) {
                let one = |(index, worker): (usize, &crate::step::Worker)| {
                    let part = &worker.parts[0];
                    let region = Region { start: part.start, length: part.length };
                    let seed = self.options.seed.wrapping_add((*pass as u64) << 32).wrapping_add(index as u64);
                    let how = Checking { seed, interval, region, compressible: 0.0, blank: Blank::PassedOver };
                    Checked::new(&how).map(Arc::new).map_err(|error| error.to_string())
                };
                kept.push((*pass, io.workers.iter().enumerate().map(one).collect::<Result<_, _>>()?));
            }
            let Some((_, checked)) = kept.last() else { continue };
            for (worker, checked) in io.workers.iter_mut().zip(checked) {
                worker.access.contents = Contents::Made(Arc::clone(checked) as Arc<_>);
            }
        }
        self.checked = kept.into_iter().flat_map(|(_, checked)| checked).collect();
        Ok(self)
    }

    /// What the checks found, where data were checked.
    pub(super) fn of_checks(&self) -> Option<String> {
        if self.checked.is_empty() {
            return None;
        }
        let compared: u64 = self.checked.iter().map(|checked| checked.compared()).sum();
        let all: Vec<_> = self.checked.iter().map(|checked| checked.mismatches()).collect();
        let wrong: u64 = all.iter().map(|mismatches| mismatches.total).sum();
        let first = all.iter().find_map(|mismatches| mismatches.first.first());
        Some(match first {
            Some(first) => {
                format!("{compared} blocks were read and compared, and {wrong} were wrong. The first: {first}.")
            }
            None if compared == 0 => {
                "Nothing was compared: nothing that was read keeps bytes, or nothing was read.".into()
            }
            None => format!("{compared} blocks were read and compared, and all were as they had been written."),
        })
    }
}
