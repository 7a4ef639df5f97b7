//! The disk of a subject as described by sysfs: model, size, block sizes, queue.
//!
//! `None` means unknown. Opens no device.

mod below;
mod loop_backing;

use plimsoll_record::Device;
use plimsoll_units::Bytes;

pub use below::{NoDevice, device_below};
pub use loop_backing::{LoopBacking, emulated_file, loop_backing};

use crate::block::{BlockDevice, DeviceNumber};
use crate::host::Tree;
use crate::subject::Subject;

/// Describes the disk that holds `subject`: the whole disk of a partition, or the stacked device (device-mapper, md,
/// loop).
pub fn describe(subject: &Subject) -> Device {
    let mut device = subject.device.map(|number| read(&Tree::system(), number)).unwrap_or_default();
    if let Some(filesystem) = &subject.filesystem {
        device.filesystem = Some(filesystem.kind.clone());
        device.mount_options = Some(filesystem.options.clone());
    }
    device
}

fn read(tree: &Tree, number: DeviceNumber) -> Device {
    let Ok(block) = BlockDevice::find(tree, number) else { return Device::default() };
    let disk = block.disk();
    Device {
        name: Some(disk.name().replace('!', "/")),
        model: describe_model(&disk),
        size: disk.size().map(Bytes::new),
        rotational: disk.value::<u8>("queue/rotational").map(|flag| flag != 0),
        logical_block: disk.logical_block(),
        physical_block: disk.value("queue/physical_block_size"),
        scheduler: disk.word("queue/scheduler").map(|list| chosen(&list)),
        queue_requests: disk.value("queue/nr_requests"),
        write_cache: disk.word("queue/write_cache"),
        filesystem: None,
        mount_options: None,
    }
}

/// Vendor and model; otherwise the composition of a stacked device, or the driver.
fn describe_model(disk: &BlockDevice) -> Option<String> {
    let model = disk.word("device/model").or_else(|| disk.word("device/name"));
    // A numeric vendor is the PCI vendor of virtio and NVMe; "ATA" is the vendor of every SATA disk.
    let vendor = disk.word("device/vendor").filter(|vendor| !vendor.starts_with("0x") && vendor != "ATA");
    match (vendor, model) {
        (Some(vendor), Some(model)) if !model.starts_with(&vendor) => Some(spaced(&format!("{vendor} {model}"))),
        (_, Some(model)) => Some(spaced(&model)),
        _ => stacked(disk).or_else(|| disk.link("device/driver")),
    }
}

fn stacked(disk: &BlockDevice) -> Option<String> {
    if let Some(name) = disk.word("dm/name") {
        let kind = disk.word("dm/uuid").and_then(|uuid| uuid.split_once('-').map(|(kind, _)| kind.to_owned()));
        return Some(format!("device-mapper {} {name}", kind.as_deref().unwrap_or_default()).replace("  ", " "));
    }
    if let Some(level) = disk.word("md/level") {
        let members = disk.word("md/raid_disks").map(|count| format!(" of {count}")).unwrap_or_default();
        return Some(format!("md {level}{members}"));
    }
    disk.word("loop/backing_file").map(|file| format!("loop over {file}"))
}

/// The active scheduler: the bracketed or only entry.
fn chosen(list: &str) -> String {
    let bracketed = list.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(list, |(name, _)| name).to_owned()
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
pub(crate) mod tests;
