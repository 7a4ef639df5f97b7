//! Device number of a block device, as used by mount tables, sysfs and stat.

use std::fmt;
use std::str::FromStr;

/// Major and minor number of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber {
    pub major: u32,
    /// Device of the driver.
    pub minor: u32,
}

impl DeviceNumber {
    /// Decodes `st_dev` or `st_rdev`.
    pub fn from_raw(raw: u64) -> Self {
        Self { major: rustix::fs::major(raw), minor: rustix::fs::minor(raw) }
    }

    /// True for anonymous numbers of filesystems without a single block device (btrfs, overlay, tmpfs, NFS, ZFS).
    pub const fn is_anonymous(self) -> bool {
        self.major == 0
    }
}

/// `8:1`, as the kernel formats it.
impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// Not of the form `major:minor`.
#[plimsoll_language::say_errors]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a device number: write major:minor, such as 8:1")]
pub struct NotANumber;

impl FromStr for DeviceNumber {
    type Err = NotANumber;
    fn from_str(text: &str) -> Result<Self, NotANumber> {
        let (major, minor) = text.trim().split_once(':').ok_or(NotANumber)?;
        let part = |part: &str| part.parse().map_err(|_| NotANumber);
        Ok(Self { major: part(major)?, minor: part(minor)? })
    }
}
