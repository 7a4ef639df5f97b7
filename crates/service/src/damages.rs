//! Damaged blocks that reads and scrubs have found.

use std::collections::BTreeMap;

use plimsoll_volume::FilePosition;

use crate::api::DamagedBlock;

/// Known damaged blocks, with the volumes that had them when they were found, and the number of reads of each.
#[derive(Debug, Default)]
pub(crate) struct Damages(pub BTreeMap<FilePosition, (Vec<DamagedBlock>, u64)>);

impl Damages {
    /// Offsets of the damaged blocks of a volume, and the number of reads of them.
    pub fn of(&self, name: &str) -> (Vec<u64>, u64) {
        let mut found = (Vec::new(), 0);
        for (blocks, reads) in self.0.values() {
            for DamagedBlock { offset, .. } in blocks.iter().filter(|block| block.volume == name) {
                found.0.push(*offset);
                found.1 += reads;
            }
        }
        found.0.sort_unstable();
        found
    }
}
