//! Detection of uses in fixture trees.

use super::*;
use crate::block::DeviceNumber;
use crate::disk::tests::sda;

const ROOT: &str = "1 0 8:99 / / rw - ext4 /dev/root rw\n";

fn check_use(name: &str, minor: u32, mounts: &str, files: &[(&str, &str)], expected: &str) {
    let fixture = sda(&format!("use-{name}"));
    fixture.put("proc/self/mountinfo", &format!("{ROOT}{mounts}"));
    std::fs::remove_dir_all(fixture.0.join("sys/devices/pci/block/sda/sda2/holders")).unwrap();
    for (path, text) in files {
        fixture.put(path, text);
    }
    let sda = BlockDevice::find(&fixture.tree(), DeviceNumber { major: 8, minor }).unwrap();
    let found = block(&fixture.tree(), &sda).unwrap();
    let displayed = found.map_or_else(|| "free".into(), |found| format!("{found}: {}", found.remedy()));
    assert_eq!(displayed, expected, "{name}");
}

#[test]
fn uses_of_a_block_device_are_found() {
    let second = "2 1 8:2 / /data rw - xfs /dev/sda2 rw\n";
    check_use("free", 0, "", &[], "free");
    check_use("disk-by-partition", 0, second, &[], "/dev/sda2 is mounted at /data: unmount it (umount /data)");
    check_use("partition", 2, second, &[], "/dev/sda2 is mounted at /data: unmount it (umount /data)");
    check_use("sibling", 1, second, &[], "free");
    let disk_mount = "2 1 8:0 / /data rw - xfs /dev/sda rw\n";
    check_use("partition-by-disk", 1, disk_mount, &[], "/dev/sda is mounted at /data: unmount it (umount /data)");
    let holder = [("sys/devices/pci/block/sda/sda2/holders/dm-0/dev", "253:0\n")];
    let stacked = "/dev/sda2 is in use by dm-0, stacked on it: take it out of the LVM, RAID, encryption or multipath \
                above (lsblk shows it)";
    check_use("held", 0, "", &holder, stacked);
    check_use("held-sibling", 1, "", &holder, "free");
}

#[test]
fn missing_mount_table_is_an_error() {
    let fixture = sda("use-unknown");
    let sda = BlockDevice::find(&fixture.tree(), DeviceNumber { major: 8, minor: 0 }).unwrap();
    assert!(block(&fixture.tree(), &sda).is_err());
}

#[test]
fn uses_of_a_file_are_found() {
    let fixture = sda("use-file");
    fixture.put("data/my image", "bytes");
    let stat = fixture.tree().path("data/my image").metadata().unwrap();
    let check = |expected: Option<InUse>| assert_eq!(file(&fixture.tree(), &Identity::of(&stat)).unwrap(), expected);
    check(None);
    fixture.put("sys/kernel/config/nvmet/subsystems/nqn/namespaces/1/device_path", "/data/my image\n");
    check(Some(InUse::Exported { by: "NVMe" }));
    fixture.put("sys/kernel/config/target/core/fileio_0/lun/udev_path", "/data/my image\n");
    check(Some(InUse::Exported { by: "SCSI" }));
    fixture.put("sys/block/loop3/loop/backing_file", "/data/my image\n");
    check(Some(InUse::Loop { device: "/dev/loop3".into() }));
    fixture.put("proc/swaps", "Filename Type Size Used Priority\n/data/my\\040image file 1 0 -2\n");
    check(Some(InUse::Swap { device: "/data/my image".into() }));
}
