//! One layer of devices: on most hosts the same operation is counted by a partition, its disk and what is stacked above.
//!
//! Knows names alone, as kernels give them. Disks are taken where there are any; what is stacked over them (device mapper,
//! RAID, multipath drivers) only where there are none; memory and loops never.

use std::collections::BTreeMap;

/// Which devices of an input are taken.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    taken: BTreeMap<String, bool>,
    refused: bool,
}

/// What a device is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    /// Memory, loops, drives for discs: no storage of a database.
    Aside,
    /// Above others that are listed as well.
    Stacked,
    Disk,
}

impl Layers {
    /// Devices of one input; further ones are left out.
    pub(crate) const MOST: usize = 10_000;

    /// Learns that there is this device. True when it is new.
    pub(crate) fn learn(&mut self, name: &str) -> bool {
        if self.taken.contains_key(name) {
            return false;
        }
        if self.taken.len() >= Self::MOST {
            self.refused = true;
            return false;
        }
        self.taken.insert(name.to_owned(), false);
        true
    }

    /// Chooses among all that were learnt.
    pub(crate) fn choose(&mut self) {
        let names: Vec<(String, Layer, bool)> =
            self.taken.keys().map(|name| (name.clone(), layer(name), self.is_partition(name))).collect();
        let best = names.iter().filter(|(.., part)| !part).map(|(_, layer, _)| *layer).max();
        for (name, layer, part) in names {
            let taken = !part && Some(layer) == best && layer > Layer::Aside;
            self.taken.insert(name, taken);
        }
    }

    /// True for a device whose figures are taken.
    pub(crate) fn takes(&self, name: &str) -> bool {
        self.taken.get(name).copied().unwrap_or(false)
    }

    /// True when there were more devices than are kept.
    pub(crate) fn is_full(&self) -> bool {
        self.refused
    }

    /// `sda1` beside `sda`, `nvme0n1p2` beside `nvme0n1`, `nvme0c1n1` beside `nvme0n1`.
    fn is_partition(&self, name: &str) -> bool {
        let trunk = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        if trunk.len() == name.len() {
            return false;
        }
        let of_numbered = trunk.strip_suffix('p').filter(|disk| disk.ends_with(|letter: char| letter.is_ascii_digit()));
        let disk = of_numbered.unwrap_or(trunk);
        (disk != name && self.taken.contains_key(disk))
            || path_of(name).is_some_and(|disk| self.taken.contains_key(&disk))
    }
}

/// The device that a path of multipathing belongs to.
fn path_of(name: &str) -> Option<String> {
    let (controller, rest) = name.strip_prefix("nvme")?.split_once('c')?;
    let (_, namespace) = rest.split_once('n')?;
    Some(format!("nvme{controller}n{namespace}"))
}

fn layer(name: &str) -> Layer {
    const ASIDE: [&str; 8] = ["loop", "ram", "zram", "sr", "fd", "cd", "scd", "mtdblock"];
    const STACKED: [&str; 11] =
        ["dm-", "md", "drbd", "bcache", "emcpower", "hdiskpower", "vpath", "zd", "VxVM", "VxDMP", "dm_"];
    let is = |stem: &&str| {
        name.strip_prefix(*stem).is_some_and(|rest| {
            rest.starts_with(|letter: char| letter.is_ascii_digit() || letter == '_')
                || stem.ends_with("power")
                || (stem.starts_with("Vx") && !rest.is_empty())
        })
    };
    if ASIDE.iter().any(is) {
        Layer::Aside
    } else if STACKED.iter().any(is) || name.starts_with("mapper/") || name.starts_with("/dev/mapper/") {
        Layer::Stacked
    } else {
        Layer::Disk
    }
}

#[cfg(test)]
mod tests {
    use super::Layers;

    fn check(names: &str, expected: &str) {
        let mut layers = Layers::default();
        for name in names.split(' ') {
            layers.learn(name);
        }
        layers.choose();
        let taken: Vec<&str> = names.split(' ').filter(|name| layers.takes(name)).collect();
        assert_eq!(taken.join(" "), expected, "{names}");
    }

    #[test]
    fn one_layer_is_taken() {
        check("loop0 ram1 sr0 sda sda1 sda2 sdb dm-0 md0", "sda sdb");
        check("nvme0n1 nvme0n1p1 nvme1n1 nvme1c0n1", "nvme0n1 nvme1n1");
        check("xvda1 xvdb dm-3", "xvda1 xvdb");
        check("mmcblk0 mmcblk0p1 mmcblk0boot0", "mmcblk0 mmcblk0boot0");
        check("hdisk1 hdisk10 hdisk2 cd0", "hdisk1 hdisk10 hdisk2");
        check("hdisk1 hdisk2 hdiskpower0", "hdisk1 hdisk2");
        check("sda sdb emcpowera emcpowera1", "sda sdb");
        check("cciss/c0d0 cciss/c0d0p1", "cciss/c0d0");
        check("md0 md0p1 dm-0 loop3", "md0 dm-0");
        check("md0 md127", "md0 md127");
        check("loop0 ram0", "");
    }

    #[test]
    fn devices_have_a_limit() {
        let mut layers = Layers::default();
        for number in 0..=Layers::MOST {
            layers.learn(&format!("sd-{number}"));
        }
        layers.choose();
        assert!(layers.is_full());
        assert!(!layers.takes(&format!("sd-{}", Layers::MOST)));
        assert!(layers.takes("sd-0"));
    }
}
