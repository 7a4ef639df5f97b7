//! A RAM-backed block device of our own, removed at the end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Zram {
    number: String,
    path: PathBuf,
}

impl Zram {
    /// A device of `bytes`, filled with data that do not compress.
    pub fn new(bytes: u64) -> Result<Self, String> {
        let number = fs::read_to_string("/sys/class/zram-control/hot_add").map_err(|error| error.to_string())?;
        let number = number.trim().to_owned();
        let path = PathBuf::from(format!("/dev/zram{number}"));
        let zram = Self { number, path };
        fs::write(format!("/sys/block/zram{}/disksize", zram.number), bytes.to_string()).map_err(|e| e.to_string())?;
        let filled = Command::new("dd")
            .args(["if=/dev/urandom", "bs=1M", "oflag=direct", "status=none"])
            .arg(format!("count={}", bytes >> 20))
            .arg(format!("of={}", zram.path.display()))
            .status();
        if filled.is_ok_and(|status| status.success()) { Ok(zram) } else { Err("dd could not fill it".into()) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        // Somebody may look at a device that has just been written, as udev does.
        for _ in 0..20 {
            if fs::write("/sys/class/zram-control/hot_remove", &self.number).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        println!("zram{} could not be removed: it is still in use", self.number);
    }
}
