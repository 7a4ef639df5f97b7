//! Names of volumes as numbers. Knows nothing of what is asked of them.

use std::collections::BTreeMap;

/// A volume of a trace, by number.
pub(super) type Volume = u32;

/// The volumes that a trace names, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Volumes {
    names: Vec<Box<[u8]>>,
    numbers: BTreeMap<Box<[u8]>, Volume>,
    last: Volume,
    overflow: bool,
}

impl Volumes {
    /// The most that are told apart; the rest are one.
    pub(super) const MOST: usize = 1 << 16;
    /// Bytes of a name that are kept.
    const LONGEST: usize = 256;

    /// The number of a name.
    pub(super) fn number(&mut self, name: &[u8]) -> Volume {
        let name = &name[..name.len().min(Self::LONGEST)];
        // Records of one volume come together.
        if self.names.get(self.last as usize).is_some_and(|last| **last == *name) {
            return self.last;
        }
        self.last = match self.numbers.get(name) {
            Some(known) => *known,
            None if self.names.len() < Self::MOST => {
                let number = self.names.len() as Volume;
                self.names.push(name.into());
                self.numbers.insert(name.into(), number);
                number
            }
            None => {
                self.overflow = true;
                Self::MOST as Volume - 1
            }
        };
        self.last
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.names.len()
    }

    /// A volume's name.
    pub(super) fn name(&self, volume: Volume) -> String {
        self.names.get(volume as usize).map(|name| String::from_utf8_lossy(name).into_owned()).unwrap_or_default()
    }

    /// True when there were more than are told apart.
    pub(super) fn overflowed(&self) -> bool {
        self.overflow
    }
}
