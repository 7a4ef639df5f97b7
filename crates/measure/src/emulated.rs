//! Emulated volumes as targets: their figures are emulated, and only as faithful as the volume was.

use std::path::Path;

use plimsoll_device::nbd::{ExportAddress, NbdHost};
use plimsoll_device::{Subject as DeviceSubject, classify, emulated_file};
use plimsoll_record::{Finding, Source};

/// An emulated volume during a measurement.
pub struct EmulatedVolume {
    /// Its stages, in the notation of `plimsoll-model`.
    pub model: String,
    /// Time dilation: replies take this many times as long as in the model.
    pub slow: u32,
    /// Reasons to doubt its figures since it was found.
    pub findings: Box<dyn Fn() -> Vec<Finding>>,
}

/// Finds a volume by the data directory of its service and its name; `None` if the service does not answer.
pub type FindVolume<'a> = &'a dyn Fn(&Path, &str) -> Option<EmulatedVolume>;

pub(crate) fn find_export(address: &ExportAddress, find: FindVolume<'_>) -> Option<EmulatedVolume> {
    let NbdHost::Unix(socket) = &address.host else { return None };
    find(socket.parent()?, &address.export)
}

/// The volume of a file: `DIRECTORY/mnt/NAME/volume`.
pub(crate) fn find_file(file: &Path, find: FindVolume<'_>) -> Option<EmulatedVolume> {
    let mount_point = file.parent()?;
    find(mount_point.parent()?.parent()?, mount_point.file_name()?.to_str()?)
}

/// The source of figures of a directory or file on an emulated volume; `None` on other storage.
pub fn find_emulated_source(path: &Path, find: FindVolume<'_>) -> Option<Source> {
    source_of_subject(&classify(path).ok()?, find)
}

pub(crate) fn source_of_subject(subject: &DeviceSubject, find: FindVolume<'_>) -> Option<Source> {
    let file = emulated_file(subject)?;
    Some(source_of(find_file(&file, find).as_ref()))
}

/// The source of figures of the volume of a file; its model is unknown if its service does not answer.
pub(crate) fn source_of(volume: Option<&EmulatedVolume>) -> Source {
    let unknown = || "unknown".to_owned();
    Source::Emulated { model: volume.map_or_else(unknown, |volume| volume.model.clone()) }
}
