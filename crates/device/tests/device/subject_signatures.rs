//! Signatures written by the respective programs, in files, without privileges. Skips and names programs that are not
//! installed.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]
#![expect(clippy::print_stderr, reason = "a skipped test reports the reason")]

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use plimsoll_device::{Family, check_destroy, signature};
use plimsoll_units::Bytes;

/// An image file, removed on drop.
struct Image(PathBuf);

impl Image {
    fn new(name: &str, size: Bytes) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.img", std::process::id()));
        File::create(&path).unwrap().set_len(size.get()).unwrap();
        Self(path)
    }

    fn found(&self) -> String {
        let mut file = File::open(&self.0).unwrap();
        let size = Bytes::new(file.metadata().unwrap().len());
        signature(&mut file, size).unwrap().map_or_else(|| "nothing".into(), |found| found.to_string())
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Runs `command` (its words, then the image) with `input`; false if the program is missing.
fn run(command: &str, input: &str, image: &Image) -> bool {
    let mut words = command.split(' ');
    let program = words.next().unwrap();
    let spawned = Command::new(program)
        .args(words)
        .arg(&image.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = spawned else {
        eprintln!("skipped: {program} is not installed");
        return false;
    };
    // A program that reads no input may have exited.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    true
}

fn check(name: &str, command: &str, input: &str, expected: &str) {
    let image = Image::new(name, Bytes::mib(320));
    if !run(command, input, &image) {
        return;
    }
    assert_eq!(image.found(), expected, "{command}");
    let refusal = check_destroy(&image.0, std::slice::from_ref(&image.0)).unwrap_err().to_string();
    assert!(refusal.contains(expected), "{refusal}");
    if run("wipefs -a -f -q", "", &image) {
        cleared(&image);
        check_destroy(&image.0, std::slice::from_ref(&image.0)).unwrap();
    }
}

/// Clears remains that wipefs leaves, according to the remedy: the 4 KiB blocks with magic bytes.
fn cleared(image: &Image) {
    let mut file = File::options().read(true).write(true).open(&image.0).unwrap();
    let size = Bytes::new(file.metadata().unwrap().len());
    for _ in 0..4 {
        let Some(left) = signature(&mut file, size).unwrap() else { return };
        assert_eq!(left.family, Family::Other, "{left} is left by wipefs");
        file.write_all_at(&[0; 4096], left.offset / 4096 * 4096).unwrap();
    }
    assert_eq!(image.found(), "nothing");
}

#[test]
fn linux_filesystems() {
    check("ext2", "mkfs.ext4 -q -F -O ^has_journal,^extents,^64bit,^flex_bg", "", "an ext2 filesystem (at byte 1080)");
    check("ext3", "mkfs.ext4 -q -F -O ^extents,^64bit,^flex_bg", "", "an ext3 filesystem (at byte 1080)");
    check("ext4", "mkfs.ext4 -q -F", "", "an ext4 filesystem (at byte 1080)");
    check("xfs", "mkfs.xfs -q -f", "", "an XFS filesystem (at byte 0)");
    check("btrfs", "mkfs.btrfs -q -f", "", "a btrfs filesystem (at byte 65600)");
    check("f2fs", "mkfs.f2fs -q -f", "", "an F2FS filesystem (at byte 1024)");
}

#[test]
fn foreign_filesystems() {
    check("fat12", "mkfs.vfat -F 12 -S 4096 -s 128", "", "a FAT filesystem (at byte 54)");
    check("fat16", "mkfs.vfat -F 16", "", "a FAT filesystem (at byte 54)");
    check("fat32", "mkfs.vfat -F 32", "", "a FAT filesystem (at byte 82)");
    check("exfat", "mkfs.exfat", "", "an exFAT filesystem (at byte 3)");
    check("ntfs", "mkfs.ntfs -Q -F -q", "", "an NTFS filesystem (at byte 3)");
}

#[test]
fn swap_and_encryption() {
    check("swap", "mkswap", "", "a swap area (at byte 4086)");
    check(
        "luks1",
        "cryptsetup -q luksFormat --type luks1 --iter-time 1 --key-file=-",
        "key",
        "a LUKS volume (at byte 0)",
    );
    let luks2 = "cryptsetup -q luksFormat --type luks2 --pbkdf pbkdf2 --iter-time 1 --key-file=-";
    check("luks2", luks2, "key", "a LUKS volume (at byte 0)");
}

#[test]
fn partition_tables() {
    let table = |label: &str| format!("label: {label}\n,16M\n");
    check("mbr", "sfdisk -q", &table("dos"), "an MBR partition table (at byte 510)");
    check("gpt", "sfdisk -q", &table("gpt"), "a GPT partition table (at byte 512)");
    check("sgi", "sfdisk -q", &table("sgi"), "an SGI disk label (at byte 0)");
}

#[test]
fn backup_table_is_found_without_the_primary() {
    let image = Image::new("backup", Bytes::mib(64));
    if !run("sfdisk -q", "label: gpt\n,16M\n", &image) {
        return;
    }
    let mut file = File::options().write(true).open(&image.0).unwrap();
    file.write_all(&vec![0; 64 << 10]).unwrap();
    assert_eq!(image.found(), "a GPT partition table (at byte 67108352)");
}
