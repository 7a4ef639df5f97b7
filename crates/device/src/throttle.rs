//! I/O limits that control groups place on this process for one disk: `io.max` of cgroup v2, `blkio.throttle.*` of v1.

use crate::block::{BlockDevice, DeviceNumber};
use crate::cgroup::{CgroupVersion, find_folders};
use crate::host::Tree;
use crate::subject::Subject;

/// A limit on this process's I/O, for example 1,000 read IOPS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Throttle {
    /// The file that sets it, such as `/sys/fs/cgroup/db/io.max`.
    pub file: String,
    /// Kernel name of the disk, such as `vda`.
    pub disk: String,
    /// The limited quantity: `read IOPS`, `write IOPS`, `read bytes/s` or `write bytes/s`.
    pub quantity: &'static str,
    /// The limit, per second.
    pub per_second: u64,
}

/// Keys of `io.max`, the matching file of cgroup v1, and the limited quantity.
const KINDS: [(&str, &str, &str); 4] = [
    ("riops", "blkio.throttle.read_iops_device", "read IOPS"),
    ("wiops", "blkio.throttle.write_iops_device", "write IOPS"),
    ("rbps", "blkio.throttle.read_bps_device", "read bytes/s"),
    ("wbps", "blkio.throttle.write_bps_device", "write bytes/s"),
];

/// The limits of this process's control groups, and of the groups above them, on the disk that holds `subject`.
/// Empty without limits, and where the control groups cannot be read.
pub fn read_throttles(subject: &Subject) -> Vec<Throttle> {
    subject.device.map(|number| read(&Tree::system(), number)).unwrap_or_default()
}

fn read(tree: &Tree, device: DeviceNumber) -> Vec<Throttle> {
    // Limits apply to whole disks only.
    let Ok(disk) = BlockDevice::find(tree, device).map(|block| block.disk()) else { return Vec::new() };
    let Some(number) = disk.number() else { return Vec::new() };
    let found = |file: &str, quantity, per_second| Throttle {
        file: format!("/{file}"),
        disk: disk.name().replace('!', "/"),
        quantity,
        per_second,
    };
    let mut throttles = Vec::new();
    for folder in find_folders(tree, "blkio") {
        for (key, file_v1, quantity) in KINDS {
            let (file, limit) = match folder.version {
                CgroupVersion::V2 => {
                    let file = folder.file("io.max");
                    let limit = limit_v2(tree, &file, number, key);
                    (file, limit)
                }
                CgroupVersion::V1 => {
                    let file = folder.file(file_v1);
                    let limit = limit_v1(tree, &file, number);
                    (file, limit)
                }
            };
            throttles.extend(limit.map(|limit| found(&file, quantity, limit)));
        }
    }
    throttles
}

/// The value of `key` in the line `254:0 rbps=max wbps=max riops=1000 wiops=max`; `None` where it is `max`.
fn limit_v2(tree: &Tree, file: &str, number: DeviceNumber, key: &str) -> Option<u64> {
    let text = tree.text(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{number} ")))?;
    line.split_whitespace().find_map(|pair| pair.strip_prefix(key)?.strip_prefix('=')?.parse().ok())
}

/// The number in the line `254:0 1000`.
fn limit_v1(tree: &Tree, file: &str, number: DeviceNumber) -> Option<u64> {
    let text = tree.text(file).ok()?;
    text.lines().find_map(|line| line.strip_prefix(&format!("{number} "))?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tests::sda;

    fn check(name: &str, files: &[(&str, &str)], expected: &[&str]) {
        let fixture = sda(name);
        for (path, text) in files {
            fixture.put(path, text);
        }
        let found = read(&fixture.tree(), "8:1".parse().unwrap());
        let displayed: Vec<String> =
            found.iter().map(|t| format!("{} {} {} {}", t.file, t.disk, t.quantity, t.per_second)).collect();
        assert_eq!(displayed, expected, "{name}");
    }

    #[test]
    fn limits_of_the_group_and_its_ancestors_are_found() {
        check("throttle-none", &[("proc/self/cgroup", "0::/\n")], &[]);
        check(
            "throttle-v2",
            &[
                ("proc/self/cgroup", "0::/db/main\n"),
                ("sys/fs/cgroup/db/main/io.max", "8:16 riops=5\n8:0 rbps=max wbps=max riops=1000 wiops=max\n"),
                ("sys/fs/cgroup/db/io.max", "8:0 rbps=2000000 wbps=max riops=max wiops=max\n"),
            ],
            &["/sys/fs/cgroup/db/main/io.max sda read IOPS 1000", "/sys/fs/cgroup/db/io.max sda read bytes/s 2000000"],
        );
        check(
            "throttle-v1",
            &[
                ("proc/self/cgroup", "7:cpu:/db\n5:blkio:/db\n0::/\n"),
                ("sys/fs/cgroup/blkio/db/blkio.throttle.write_iops_device", "8:0 300\n"),
                ("sys/fs/cgroup/blkio/db/blkio.throttle.read_iops_device", ""),
            ],
            &["/sys/fs/cgroup/blkio/db/blkio.throttle.write_iops_device sda write IOPS 300"],
        );
    }
}
