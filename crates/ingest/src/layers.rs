//! Layers of devices: on most hosts a partition, its disk and the devices above it count the same operation.
//!
//! Layers are derived from the kernel's names. A single layer is counted: disks, or without any, the devices above
//! them. Software RAID (md) is counted instead of its disks, because an array reads and writes several of them for an
//! operation. Names do not identify its members, so all disks are assumed to be members (`Builder::arrays` checks that
//! by the bytes).

use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
    /// Not counted, because its operations reach no database storage, or reach it through another device: loops,
    /// memory, optical drives, the paths below a multipath `NVMe` disk, the firmware areas of eMMC.
    Excluded,
    /// A sum of other rows.
    Group,
    /// A device above others: mapped devices, caches, the pseudo devices of multipath drivers.
    Stacked,
    /// Unknown: logical volumes with custom names, or the disks of another system.
    Unknown,
    /// Software RAID of Linux.
    Array,
    /// A disk as seen by the host.
    Disk,
}

/// The devices of an input, and the selected ones.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    taken: BTreeMap<String, Option<Layer>>,
    pub(crate) refused: bool,
}

impl Layers {
    /// Maximum devices of an input.
    pub(crate) const MAX: usize = 4_096;

    /// Adds a device. True if it is new and within the limit.
    pub(crate) fn learn(&mut self, name: &str) -> bool {
        if self.taken.contains_key(name) {
            return false;
        }
        if self.taken.len() >= Self::MAX {
            self.refused = true;
            return false;
        }
        self.taken.insert(name.to_owned(), None);
        true
    }

    /// Selects among names that are in memory already, whatever their number.
    pub(crate) fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut layers = Self { taken: names.map(|name| (name.to_owned(), None)).collect(), refused: false };
        layers.choose();
        layers
    }

    /// Selects a layer among all devices, and arrays with their disks.
    pub(crate) fn choose(&mut self) {
        let is_part = |name: &str| disk_of(name).is_some_and(|disk| self.taken.contains_key(&disk));
        let layers: Vec<Option<Layer>> = self.taken.keys().map(|name| (!is_part(name)).then(|| layer(name))).collect();
        let base = layers.iter().flatten().copied().max().filter(|base| *base > Layer::Excluded);
        for (taken, layer) in self.taken.values_mut().zip(layers) {
            let above = |layer: &Layer| base == Some(Layer::Disk) && *layer == Layer::Array;
            *taken = layer.filter(|layer| Some(*layer) == base || above(layer));
        }
    }

    /// True for a selected device.
    #[cfg(test)]
    fn takes(&self, name: &str) -> bool {
        self.layer(name).is_some()
    }

    /// The layer of a selected device.
    pub(crate) fn layer(&self, name: &str) -> Option<Layer> {
        self.taken.get(name).copied().flatten()
    }

    /// True if the limit of devices was exceeded.
    pub(crate) fn is_full(&self) -> bool {
        self.refused
    }
}

/// The layer of a device from its name.
fn layer(name: &str) -> Layer {
    const APART: [&str; 10] = ["loop", "ram", "zram", "sr", "fd", "cd", "scd", "mtdblock", "dev1-", "dev7-"];
    const STACKED: [&str; 7] = ["dm-", "dm_", "drbd", "bcache", "vpath", "zd", "dev253-"];
    const DRIVERS: [&str; 6] = ["emcpower", "hdiskpower", "VxVM", "VxDMP", "mapper/", "bcache"];
    if name.starts_with(' ') || is_sum(name) {
        return Layer::Group;
    }
    let name = name.strip_prefix("/dev/").unwrap_or(name);
    let is = |kinds: &[&str]| kinds.iter().any(|kind| is_numbered(name, kind));
    if is(&APART)
        || is_path(name)
        || is_firmware(name)
        || numbered_by_major(name).is_some_and(|(major, _)| matches!(major, 2 | 11))
    {
        Layer::Excluded
    } else if is_array(name) || disk_of(name).is_some_and(|disk| is_array(&disk)) {
        Layer::Array
    } else if is_disk(name) || disk_of(name).is_some() {
        Layer::Disk
    } else if is(&STACKED) || DRIVERS.iter().any(|kind| name.len() > kind.len() && name.starts_with(kind)) {
        Layer::Stacked
    } else {
        Layer::Unknown
    }
}

/// `_Total`, `All volumes`, `Grand Total`, `-total-`, `合計`, and means of other rows.
fn is_sum(name: &str) -> bool {
    let is_total = |word: &str| {
        matches!(word, "all" | "total" | "sum" | "overall" | "gesamt" | "summe" | "合計" | "総計" | "全体")
            || matches!(word, "average" | "avg" | "mean" | "mittelwert" | "平均")
    };
    let is_kind = |word: &str| {
        matches!(word, "volumes" | "disks" | "devices" | "luns" | "drives" | "hosts" | "datastores" | "grand")
            || matches!(word, "ボリューム" | "ディスク")
    };
    let lower = name.to_lowercase();
    let mut words = lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.clone().any(is_total) && words.all(|word| is_total(word) || is_kind(word))
}

/// `md2`, `md_d0`, `dev9-2`.
fn is_array(name: &str) -> bool {
    is_numbered(name, "md") || is_numbered(name, "md_d") || is_numbered(name, "dev9-")
}

/// The layer of a whole disk or array; none for partitions and other devices.
pub(crate) fn find_layer(name: &str) -> Option<Layer> {
    Some(layer(name)).filter(|layer| *layer >= Layer::Array && disk_of(name).is_none())
}

/// A path below a multipath `NVMe` disk: `nvme0c1n1` of `nvme0n1`.
fn is_path(name: &str) -> bool {
    name.strip_prefix("nvme").is_some_and(|rest| {
        let kinds: Vec<char> = rest.chars().filter(|c| !c.is_ascii_digit()).collect();
        kinds == ['c', 'n']
    })
}

/// The areas of eMMC that only firmware uses: `mmcblk0boot0`, `mmcblk0rpmb`.
fn is_firmware(name: &str) -> bool {
    name.starts_with("mmcblk") && (name.contains("boot") || name.ends_with("rpmb"))
}

/// The disk of a partition with this name.
fn disk_of(name: &str) -> Option<String> {
    if let Some((major, minor)) = numbered_by_major(name) {
        let each = match major {
            8 | 65..=71 | 128..=135 | 202 => 16,
            94 => 4,
            _ => return None,
        };
        return (minor % each > 0).then(|| format!("dev{major}-{}", minor - minor % each));
    }
    if let Some((disk, number)) = name.rsplit_once("-part") {
        return (all_digits(number) && is_disk(disk)).then(|| disk.to_owned());
    }
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.len() == name.len() {
        return None;
    }
    // Disks with a trailing digit have a letter before partition numbers.
    let disk = match stem.strip_suffix('p') {
        Some(disk) if disk.ends_with(|c: char| c.is_ascii_digit()) => disk,
        _ => stem,
    };
    (is_disk(disk) || is_numbered(disk, "md") || disk.starts_with("emcpower")).then(|| disk.to_owned())
}

fn is_disk(name: &str) -> bool {
    let lettered = ["sd", "hd", "vd", "xvd", "dasd", "ubd", "rssd"].iter().any(|kind| {
        name.strip_prefix(kind)
            .is_some_and(|rest| (1..=4).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_lowercase()))
    });
    let numbered = ["mmcblk", "pmem", "nbd", "rbd", "sfd", "hdisk"].iter().any(|kind| is_numbered(name, kind));
    let persistent = ["ata-", "wwn-", "scsi-", "nvme-", "virtio-", "usb-", "google-"];
    lettered
        || numbered
        || is_nvme(name)
        || is_controlled(name)
        || (persistent.iter().any(|kind| name.starts_with(kind)) && !name.contains("-part"))
        || numbered_by_major(name).is_some_and(|(major, minor)| match major {
            8 | 65..=71 | 128..=135 | 202 => minor % 16 == 0,
            94 => minor % 4 == 0,
            259 => true,
            _ => false,
        })
}

fn is_nvme(name: &str) -> bool {
    let parts = name.strip_prefix("nvme").and_then(|rest| rest.split_once('n'));
    parts.is_some_and(|(controller, space)| all_digits(controller) && all_digits(space))
}

/// `cciss/c0d1`, `ida!c0d0`.
fn is_controlled(name: &str) -> bool {
    let Some((kind, rest)) = name.split_once(['/', '!']) else { return false };
    let parts = rest.strip_prefix('c').and_then(|rest| rest.split_once('d'));
    matches!(kind, "cciss" | "ida" | "rd")
        && parts.is_some_and(|(controller, disk)| all_digits(controller) && all_digits(disk))
}

/// Major and minor number of `dev8-16`.
fn numbered_by_major(name: &str) -> Option<(u32, u32)> {
    let (major, minor) = name.strip_prefix("dev")?.split_once('-')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn is_numbered(name: &str, kind: &str) -> bool {
    name.strip_prefix(kind).is_some_and(all_digits)
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{Layer, Layers, disk_of, layer};

    fn check_name(name: &str, expected: Layer, disk: Option<&str>) {
        assert_eq!((layer(name), disk_of(name).as_deref()), (expected, disk), "{name}");
    }

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
    fn devices_are_classified_by_their_names() {
        check_name("sda", Layer::Disk, None);
        check_name("sdaa12", Layer::Disk, Some("sdaa"));
        check_name("nvme0n1", Layer::Disk, None);
        check_name("nvme0n1p3", Layer::Disk, Some("nvme0n1"));
        check_name("nvme0c1n1", Layer::Excluded, None);
        check_name("mmcblk0p1", Layer::Disk, Some("mmcblk0"));
        check_name("mmcblk0boot0", Layer::Excluded, None);
        check_name("cciss/c0d1", Layer::Disk, None);
        check_name("cciss/c0d1p2", Layer::Disk, Some("cciss/c0d1"));
        check_name("dev8-0", Layer::Disk, None);
        check_name("dev8-17", Layer::Disk, Some("dev8-16"));
        check_name("dev253-1", Layer::Stacked, None);
        check_name("dev7-0", Layer::Excluded, None);
        check_name("dev9-2", Layer::Array, None);
        check_name("dm-0", Layer::Stacked, None);
        check_name("md127", Layer::Array, None);
        check_name("/dev/md2", Layer::Array, None);
        check_name("md0p1", Layer::Array, Some("md0"));
        check_name("docker-pool", Layer::Unknown, None);
        check_name("loop12", Layer::Excluded, None);
        check_name("sr0", Layer::Excluded, None);
        check_name("scd0", Layer::Excluded, None);
        check_name(" total", Layer::Group, None);
        check_name("_Total", Layer::Group, None);
        check_name("All volumes", Layer::Group, None);
        check_name("-total-", Layer::Group, None);
        check_name("合計", Layer::Group, None);
        check_name("total-2", Layer::Unknown, None);
        check_name("ata-DISK_1-part3", Layer::Disk, Some("ata-DISK_1"));
        check_name("", Layer::Unknown, None);
        check_name("é", Layer::Unknown, None);
    }

    #[test]
    fn a_single_layer_is_selected() {
        check("loop0 ram1 sr0 sda sda1 sda2 sdb dm-0", "sda sdb");
        check("nvme0n1 nvme0n1p1 nvme1n1 nvme1c0n1", "nvme0n1 nvme1n1");
        check("xvda1 xvdb dm-3", "xvda1 xvdb");
        check("mmcblk0 mmcblk0p1 mmcblk0boot0", "mmcblk0");
        check("hdisk1 hdisk10 hdisk2 cd0", "hdisk1 hdisk10 hdisk2");
        check("hdisk1 hdisk2 hdiskpower0", "hdisk1 hdisk2");
        check("sda sdb emcpowera emcpowera1", "sda sdb");
        check("cciss/c0d0 cciss/c0d0p1", "cciss/c0d0");
        check("loop0 ram0", "");
    }

    #[test]
    fn arrays_are_selected_with_their_disks() {
        check("md0 md0p1 dm-0 loop3", "md0");
        check("md0 md127", "md0 md127");
        check("sda sda1 sdb sdb1 md2 dm-0", "sda sdb md2");
    }

    #[test]
    fn devices_have_a_limit() {
        let mut layers = Layers::default();
        for number in 0..=Layers::MAX {
            layers.learn(&format!("sd-{number}"));
        }
        layers.choose();
        assert!(layers.is_full());
        assert!(!layers.takes(&format!("sd-{}", Layers::MAX)));
        assert!(layers.takes("sd-0"));
    }
}
