//! Disks as fixture trees of sysfs.

use super::*;
use crate::host::tests::Fixture;

/// A disk `sda` (8:0) with two partitions and a device-mapper volume on the second, as sysfs links them.
pub(crate) fn sda(name: &str) -> Fixture {
    let fixture = Fixture::new(
        name,
        &[
            ("sys/devices/pci/block/sda/dev", "8:0\n"),
            ("sys/devices/pci/block/sda/size", "2097152\n"),
            ("sys/devices/pci/block/sda/ro", "0\n"),
            ("sys/devices/pci/block/sda/device/vendor", "ATA     \n"),
            ("sys/devices/pci/block/sda/device/model", "Samsung SSD  870\n"),
            ("sys/devices/pci/block/sda/queue/rotational", "0\n"),
            ("sys/devices/pci/block/sda/queue/scheduler", "none [mq-deadline] kyber\n"),
            ("sys/devices/pci/block/sda/queue/logical_block_size", "512\n"),
            ("sys/devices/pci/block/sda/queue/physical_block_size", "4096\n"),
            ("sys/devices/pci/block/sda/queue/nr_requests", "256\n"),
            ("sys/devices/pci/block/sda/queue/write_cache", "write back\n"),
            ("sys/devices/pci/block/sda/sda1/partition", "1\n"),
            ("sys/devices/pci/block/sda/sda1/dev", "8:1\n"),
            ("sys/devices/pci/block/sda/sda1/start", "2048\n"),
            ("sys/devices/pci/block/sda/sda1/size", "1000\n"),
            ("sys/devices/pci/block/sda/sda2/partition", "2\n"),
            ("sys/devices/pci/block/sda/sda2/dev", "8:2\n"),
            ("sys/devices/pci/block/sda/sda2/start", "4096\n"),
            ("sys/devices/pci/block/sda/sda2/size", "1000\n"),
            ("sys/devices/pci/block/sda/sda2/holders/dm-0/dev", "253:0\n"),
            ("sys/devices/virtual/block/dm-0/dev", "253:0\n"),
            ("sys/devices/virtual/block/dm-0/dm/name", "vg-data\n"),
            ("sys/devices/virtual/block/dm-0/dm/uuid", "LVM-abc\n"),
        ],
    );
    fixture.link("sys/dev/block/8:0", "../../devices/pci/block/sda");
    fixture.link("sys/dev/block/8:1", "../../devices/pci/block/sda/sda1");
    fixture.link("sys/dev/block/8:2", "../../devices/pci/block/sda/sda2");
    fixture.link("sys/dev/block/253:0", "../../devices/virtual/block/dm-0");
    fixture
}

#[test]
fn partition_has_description_of_its_disk() {
    let fixture = sda("disk");
    let expected = Device {
        name: Some("sda".into()),
        model: Some("Samsung SSD 870".into()),
        size: Some(Bytes::gib(1)),
        rotational: Some(false),
        logical_block: Some(512),
        physical_block: Some(4096),
        scheduler: Some("mq-deadline".into()),
        queue_requests: Some(256),
        write_cache: Some("write back".into()),
        filesystem: None,
        mount_options: None,
    };
    assert_eq!(read(&fixture.tree(), DeviceNumber { major: 8, minor: 1 }), expected);
    assert_eq!(read(&fixture.tree(), DeviceNumber { major: 8, minor: 0 }), expected);
    assert_eq!(read(&fixture.tree(), DeviceNumber { major: 9, minor: 0 }), Device::default());
}

#[test]
fn stacked_device_is_named() {
    let fixture = sda("stacked");
    let device = read(&fixture.tree(), DeviceNumber { major: 253, minor: 0 });
    assert_eq!((device.name.as_deref(), device.model.as_deref()), (Some("dm-0"), Some("device-mapper LVM vg-data")));
}

#[test]
fn family_is_the_devices_that_share_bytes() {
    let fixture = sda("family");
    let check = |minor, expected: &[&str]| {
        let block = BlockDevice::find(&fixture.tree(), DeviceNumber { major: 8, minor }).unwrap();
        let names: Vec<String> = block.family().unwrap().iter().map(BlockDevice::name).collect();
        assert_eq!(names, expected, "8:{minor}");
    };
    check(0, &["sda", "sda1", "sda2"]);
    check(1, &["sda1", "sda"]);
    // Overlapping partitions, such as an extended partition and its logical partitions.
    fixture.put("sys/devices/pci/block/sda/sda2/start", "2100\n");
    check(1, &["sda1", "sda2", "sda"]);
}
