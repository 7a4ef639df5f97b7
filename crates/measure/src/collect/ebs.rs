//! Statistics of EBS volumes as a source of snapshots: log page 0xD0 of their `NVMe` devices, in the names of
//! `nvme amzn stats`.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_device::NvmeDevice;
use plimsoll_ingest::{EBS_PAGE_BYTES, EbsStatistics};
use plimsoll_language::say;
use plimsoll_suite::collect::{CounterSource, SourceError};
use plimsoll_suite::snapshots::timestamp;
use serde_json::{Map, Value, json};

const STATISTICS_PAGE: u8 = 0xD0;
/// Prefix of the model of EBS volumes, and of local disks of the instance.
const MODEL_PREFIX: &str = "Amazon ";

/// EBS volumes of some devices.
#[derive(Debug)]
pub struct EbsVolumes<'a> {
    paths: &'a [PathBuf],
    /// Each volume with its device.
    devices: Vec<(String, NvmeDevice)>,
}

impl<'a> EbsVolumes<'a> {
    /// Volumes of these devices.
    pub const fn new(paths: &'a [PathBuf]) -> Self {
        Self { paths, devices: Vec::new() }
    }
}

impl CounterSource for EbsVolumes<'_> {
    fn name(&self) -> &'static str {
        "ebs"
    }

    fn connect(&mut self, _: &dyn Fn() -> bool) -> Result<Map<String, Value>, SourceError> {
        self.devices.clear();
        let mut about = Map::new();
        for path in self.paths {
            let device = NvmeDevice::open(path).map_err(|error| source_error(&error))?;
            if let Some(model) = device.model.as_deref().filter(|model| !model.starts_with(MODEL_PREFIX)) {
                return Err(not_ebs(path, &say!("its model is {model}")));
            }
            read(path, &device)?;
            let volume = device.serial.as_deref().map_or_else(|| path.display().to_string(), volume_id);
            let fields = json!({"device": path.display().to_string(), "model": device.model});
            if about.insert(volume.clone(), fields).is_some() {
                return Err(SourceError::Failed(say!("{} is {volume} again: name it once", path.display())));
            }
            self.devices.push((volume, device));
        }
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Ok(Map::from_iter([("host".to_owned(), json!(host.trim())), ("devices".to_owned(), Value::Object(about))]))
    }

    fn sample(&mut self, _: &dyn Fn() -> bool) -> Result<Map<String, Value>, SourceError> {
        let at = timestamp();
        let mut volumes = Map::new();
        for (path, (volume, device)) in self.paths.iter().zip(&self.devices) {
            volumes.insert(volume.clone(), Value::Object(read(path, device)?.to_json()));
        }
        Ok(Map::from_iter([("at".to_owned(), at), ("volumes".to_owned(), Value::Object(volumes))]))
    }
}

fn read(path: &Path, device: &NvmeDevice) -> Result<EbsStatistics, SourceError> {
    let mut page = vec![0; EBS_PAGE_BYTES];
    device.read_log(STATISTICS_PAGE, &mut page).map_err(|error| source_error(&error))?;
    EbsStatistics::of_page(&page).map_err(|error| not_ebs(path, &error.to_string()))
}

fn not_ebs(path: &Path, why: &str) -> SourceError {
    SourceError::Failed(say!(
        "{} is not an EBS volume ({why}): give a device whose model is Amazon Elastic Block Store in lsblk -o \
         NAME,MODEL,SERIAL; for other storage use plimsoll collect linux",
        path.display()
    ))
}

/// The error with its source.
fn source_error(error: &dyn std::error::Error) -> SourceError {
    let source = error.source().map_or_else(String::new, |source| format!(" ({source})"));
    SourceError::Failed(format!("{error}{source}"))
}

/// `vol-0a1` from the serial number `vol0a1`.
fn volume_id(serial: &str) -> String {
    match serial.strip_prefix("vol") {
        Some(rest) if !rest.starts_with('-') => format!("vol-{rest}"),
        _ => serial.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_devices_are_refused_with_the_remedy() {
        let paths = [PathBuf::from("/dev/null")];
        let error = EbsVolumes::new(&paths).connect(&|| false).expect_err("not an NVMe device");
        assert!(error.to_string().contains("/dev/null is not an NVMe device: give one such as"), "{error}");
        assert!(not_ebs(Path::new("/dev/nvme0n1"), "x").to_string().contains("Amazon Elastic Block Store"));
    }

    #[test]
    fn volumes_have_the_ids_of_the_api() {
        assert_eq!(["vol0a1", "vol-0a1", "AWS123"].map(volume_id), ["vol-0a1", "vol-0a1", "AWS123"]);
    }
}
