//! The block layer's own limits (control group `blkio` of version 1), on a loop device of our own over a file in memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::offered::{Observation, SIZE, device};
use crate::{Case, Like};

const GROUP: &str = "/sys/fs/cgroup/blkio/plimsoll-accuracy";

/// The device and the group, both gone afterwards.
struct Throttled {
    file: PathBuf,
    device: Option<PathBuf>,
}

pub fn measure(case: &Case) -> Result<Observation, String> {
    let (name, limit) = match case.like {
        Like::Iops(iops) => ("blkio.throttle.read_iops_device", iops),
        Like::BytesPerSecond(bytes) => ("blkio.throttle.read_bps_device", bytes),
        Like::Delay(_) => return Err("has no delays".into()),
    };
    let throttled = Throttled::new()?;
    let device_path = throttled.device.clone().ok_or("no loop device")?;
    let number = number_of(&device_path)?;
    fs::write(format!("{GROUP}/{name}"), format!("{number} {limit}")).map_err(|error| format!("{name}: {error}"))?;
    let case = *case;
    // Version 1 has groups of single threads, and takes 0 for the one that asks.
    let client = std::thread::spawn(move || {
        fs::write(format!("{GROUP}/tasks"), "0").map_err(|error| format!("joining it: {error}"))?;
        device(&device_path, &case)
    });
    client.join().unwrap()
}

impl Throttled {
    fn new() -> Result<Self, String> {
        fs::create_dir_all(GROUP).map_err(|error| format!("needs root and control groups of version 1: {error}"))?;
        let file = Path::new("/dev/shm").join(format!("plimsoll-accuracy-{}", std::process::id()));
        let image = fs::File::create(&file).and_then(|image| image.set_len(SIZE.get()));
        image.map_err(|error| format!("{}: {error}", file.display()))?;
        let mut throttled = Self { file, device: None };
        let created = Command::new("losetup").args(["--find", "--show"]).arg(&throttled.file).output();
        let created = created.map_err(|error| format!("losetup: {error}"))?;
        if !created.status.success() {
            return Err("needs a loop device".into());
        }
        throttled.device = Some(String::from_utf8_lossy(&created.stdout).trim().into());
        Ok(throttled)
    }
}

impl Drop for Throttled {
    fn drop(&mut self) {
        if let Some(device) = &self.device {
            let _ = Command::new("losetup").arg("--detach").arg(device).status();
        }
        let _ = fs::remove_file(&self.file);
        // Rules of the group go with it; the client's thread has ended.
        let _ = fs::remove_dir(GROUP);
    }
}

/// `MAJOR:MINOR` of a block device.
fn number_of(device: &Path) -> Result<String, String> {
    let name = device.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let number = fs::read_to_string(format!("/sys/class/block/{name}/dev"));
    Ok(number.map_err(|error| format!("{name}: {error}"))?.trim().to_owned())
}
