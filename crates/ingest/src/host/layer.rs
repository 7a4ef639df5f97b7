//! Which devices lie over which, as far as their names say. Knows no figures.

/// What a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    /// A disk, as the host sees it.
    Disk,
    /// It lies over others, or nobody knows: mapped devices, RAID, logical volumes with a name of their own.
    Upper,
    /// Its operations reach storage by another device, or no storage at all: loop, memory, optical drives.
    Apart,
    /// A sum of other rows.
    Group,
}

/// What a device of this name is.
pub(super) fn layer(name: &str) -> Layer {
    if name.starts_with(' ') {
        return Layer::Group;
    }
    let name = name.strip_prefix("/dev/").unwrap_or(name);
    if is_disk(name) || disk_of(name).is_some() {
        return Layer::Disk;
    }
    let apart = ["loop", "ram", "zram", "sr", "scd", "fd"].iter().any(|kind| numbered(name, kind));
    if apart || numbered_by_major(name).is_some_and(|(major, _)| matches!(major, 1 | 2 | 7 | 11)) {
        return Layer::Apart;
    }
    // The paths below a multipath NVMe disk, which is there itself.
    let is_path = name.strip_prefix("nvme").is_some_and(|rest| {
        let kinds: Vec<char> = rest.chars().filter(|c| !c.is_ascii_digit()).collect();
        kinds == ['c', 'n']
    });
    if is_path { Layer::Apart } else { Layer::Upper }
}

/// The disk that a partition of this name would lie on.
pub(super) fn disk_of(name: &str) -> Option<String> {
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
    // A disk whose name ends in a digit has a letter before its partitions' numbers.
    let disk = match stem.strip_suffix('p') {
        Some(disk) if disk.ends_with(|c: char| c.is_ascii_digit()) => disk,
        _ => stem,
    };
    is_disk(disk).then(|| disk.to_owned())
}

fn is_disk(name: &str) -> bool {
    let lettered = ["sd", "hd", "vd", "xvd", "dasd", "ubd", "rssd"].iter().any(|kind| {
        name.strip_prefix(kind)
            .is_some_and(|rest| (1..=4).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_lowercase()))
    });
    let numbered = ["mmcblk", "pmem", "nbd", "rbd", "sfd"].iter().any(|kind| numbered(name, kind));
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

fn numbered(name: &str, kind: &str) -> bool {
    name.strip_prefix(kind).is_some_and(all_digits)
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: Layer, disk: Option<&str>) {
        assert_eq!((layer(name), disk_of(name).as_deref()), (expected, disk), "{name}");
    }

    #[test]
    fn devices_are_known_by_their_names() {
        check("sda", Layer::Disk, None);
        check("sdaa12", Layer::Disk, Some("sdaa"));
        check("nvme0n1", Layer::Disk, None);
        check("nvme0n1p3", Layer::Disk, Some("nvme0n1"));
        check("nvme0c1n1", Layer::Apart, None);
        check("mmcblk0p1", Layer::Disk, Some("mmcblk0"));
        check("mmcblk0boot0", Layer::Upper, None);
        check("cciss/c0d1", Layer::Disk, None);
        check("cciss/c0d1p2", Layer::Disk, Some("cciss/c0d1"));
        check("dev8-0", Layer::Disk, None);
        check("dev8-17", Layer::Disk, Some("dev8-16"));
        check("dev253-1", Layer::Upper, None);
        check("dev7-0", Layer::Apart, None);
        check("dm-0", Layer::Upper, None);
        check("md127", Layer::Upper, None);
        check("docker-pool", Layer::Upper, None);
        check("loop12", Layer::Apart, None);
        check("sr0", Layer::Apart, None);
        check("scd0", Layer::Apart, None);
        check(" total", Layer::Group, None);
        check("ata-DISK_1-part3", Layer::Disk, Some("ata-DISK_1"));
        check("", Layer::Upper, None);
        check("é", Layer::Upper, None);
    }
}
