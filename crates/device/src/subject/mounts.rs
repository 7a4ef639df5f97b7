//! The mount table, and the filesystem of a path.
//!
//! Parses `/proc/self/mountinfo` (proc(5)), which contains only the mounts of this namespace.

use std::io;
use std::path::{Path, PathBuf};

use crate::block::DeviceNumber;
use crate::host::Tree;

/// A line of the mount table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) id: u64,
    /// Device number of the filesystem: its block device, or anonymous.
    pub(crate) number: DeviceNumber,
    pub(crate) point: PathBuf,
    /// Options of the mount, then further options of the filesystem.
    pub(crate) options: String,
    /// Filesystem type.
    pub(crate) kind: String,
    /// Source: often a path below `/dev`.
    pub(crate) source: String,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Mounts(Vec<Mount>);

impl Mounts {
    /// Reads the mounts visible to this process.
    pub(crate) fn read(tree: &Tree) -> io::Result<Self> {
        tree.text("proc/self/mountinfo").map(|text| Self::parse(&text))
    }

    /// Parses the table; skips malformed lines.
    pub(crate) fn parse(text: &str) -> Self {
        Self(text.lines().filter_map(parse_mount).collect())
    }

    /// The mount of `path` (canonical): by mount ID if the kernel reported it, else the longest mount point above the
    /// path, and the latest if several share it.
    pub(crate) fn holding(&self, path: &Path, id: Option<u64>) -> Option<&Mount> {
        let told = id.and_then(|id| self.0.iter().find(|mount| mount.id == id));
        let longest = || {
            let above = self.0.iter().filter(|mount| path.starts_with(&mount.point));
            above.max_by_key(|mount| mount.point.components().count())
        };
        told.or_else(longest)
    }

    /// First mount with this device number, or with a source accepted by `is_source`.
    pub(crate) fn of(&self, number: DeviceNumber, is_source: impl Fn(&Path) -> bool) -> Option<&Mount> {
        self.0.iter().find(|mount| {
            let source = Path::new(&mount.source);
            mount.number == number || (source.is_absolute() && is_source(source))
        })
    }
}

/// Mount point of a block device, if visible to this process.
pub(crate) fn mount_point(device: &Path) -> Option<PathBuf> {
    let number = DeviceNumber::from_raw(rustix::fs::stat(device).ok()?.st_rdev);
    let mounts = Mounts::read(&Tree::system()).ok()?;
    mounts.of(number, |source| source == device).map(|mount| mount.point.clone())
}

/// `36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/sda1 rw,errors=continue`
fn parse_mount(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut fields = before.split(' ');
    let id = fields.next()?.parse().ok()?;
    let number = fields.nth(1)?.parse().ok()?;
    let point = PathBuf::from(unescaped(fields.nth(1)?));
    let options = fields.next()?;
    let mut fields = after.split(' ');
    let kind = unescaped(fields.next()?);
    let source = unescaped(fields.next()?);
    let options = joined(options, fields.next().unwrap_or_default());
    Some(Mount { id, number, point, options, kind, source })
}

fn joined(mount: &str, filesystem: &str) -> String {
    let mut options: Vec<&str> = mount.split(',').collect();
    for option in filesystem.split(',').filter(|option| !option.is_empty()) {
        // The filesystem's `rw` does not override the mount's `ro`.
        if !options.contains(&option) && !matches!(option, "rw" | "ro") {
            options.push(option);
        }
    }
    if filesystem.split(',').any(|option| option == "ro") && options.first() == Some(&"rw") {
        options[0] = "ro";
    }
    unescaped(&options.join(","))
}

/// Decodes octal escapes (`\040` for a space) of kernel tables.
pub(crate) fn unescaped(field: &str) -> String {
    let mut parts = field.split('\\');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        if let Some(byte) = part.get(..3).and_then(|code| u8::from_str_radix(code, 8).ok()) {
            bytes.push(byte);
            bytes.extend_from_slice(&part.as_bytes()[3..]);
        } else {
            bytes.push(b'\\');
            bytes.extend_from_slice(part.as_bytes());
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard,errors=remount-ro
40 27 8:17 / /data rw,noatime shared:2 master:1 - xfs /dev/sdb1 rw,attr2
41 40 8:33 / /data/my\\040disk ro,noatime shared:3 - ext4 /dev/sdc1 rw
42 27 0:40 /@home /home rw,relatime shared:9 - btrfs /dev/mapper/pool rw,ssd,subvol=/@home
43 27 0:50 / /data rw,relatime - tmpfs tmpfs rw,size=4k
44 27 8:49 / /frozen rw,relatime - ext4 /dev/sdd1 ro
not a mount
";

    fn check(path: &str, id: Option<u64>, expected: &str) {
        let mounts = Mounts::parse(TABLE);
        let mount = mounts.holding(Path::new(path), id).expect("every path is below the root");
        let displayed = format!("{} {} {} {}", mount.number, mount.kind, mount.source, mount.options);
        assert_eq!(displayed, expected, "{path}");
    }

    #[test]
    fn the_filesystem_of_a_path_is_found() {
        check("/srv/x", None, "254:0 ext4 /dev/vda rw,relatime,discard,errors=remount-ro");
        check("/data2", None, "254:0 ext4 /dev/vda rw,relatime,discard,errors=remount-ro");
        check("/data/x", None, "0:50 tmpfs tmpfs rw,relatime,size=4k");
        check("/data/x", Some(40), "8:17 xfs /dev/sdb1 rw,noatime,attr2");
        check("/data/my disk/x", None, "8:33 ext4 /dev/sdc1 ro,noatime");
        check("/home/x", Some(99), "0:40 btrfs /dev/mapper/pool rw,relatime,ssd,subvol=/@home");
        check("/frozen", None, "8:49 ext4 /dev/sdd1 ro,relatime");
    }

    #[test]
    fn mounts_of_a_device_are_found_by_number_and_by_source() {
        let mounts = Mounts::parse(TABLE);
        let number = DeviceNumber { major: 8, minor: 33 };
        assert_eq!(mounts.of(number, |_| false).map(|m| m.point.as_path()), Some(Path::new("/data/my disk")));
        let nothing = DeviceNumber { major: 9, minor: 9 };
        let by_source = mounts.of(nothing, |source| source == Path::new("/dev/mapper/pool"));
        assert_eq!(by_source.map(|m| m.point.as_path()), Some(Path::new("/home")));
        assert_eq!(mounts.of(nothing, |_| false), None);
    }

    #[test]
    fn escapes_are_undone() {
        assert_eq!(unescaped(r"a\040b\011\134c"), "a b\t\\c");
        assert_eq!(unescaped(r"a\9z\"), r"a\9z\");
    }
}
