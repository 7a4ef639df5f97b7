//! Trims are refused like writes, as they change data.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use super::{JobFolder, integer, job, read};
use crate::folder::stderr;

#[test]
fn a_foreign_file_is_not_trimmed_unless_it_is_named() {
    let folder = JobFolder::new("trim-foreign");
    let data = "data".repeat(4_096);
    folder.write("foreign", &data);
    for rw in ["trim", "randtrim", "trimwrite", "randtrimwrite"] {
        let output = folder.run(&format!("--name=a --rw={rw} --filename=foreign"));
        assert_eq!(output.status.code(), Some(1), "{rw}");
        assert!(stderr(&output).contains("add --destroy foreign"), "{rw}: {}", stderr(&output));
        assert_eq!(folder.read("foreign"), data, "{rw}");
        let output = folder.run(&format!("--readonly --name=a --rw={rw} --filename=foreign"));
        assert!(stderr(&output).contains("--readonly was given"), "{rw}: {}", stderr(&output));
    }
    let output = folder.run("--name=a --rw=trim --filename=foreign --destroy=foreign");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(folder.bytes("foreign"), vec![0; data.len()], "its data were discarded");
}

#[test]
fn a_trimmed_file_keeps_its_length_and_frees_its_space() {
    let folder = JobFolder::new("trim-space");
    folder.json("", "[j]\nrw=randtrim\nsize=1m\nbs=64k\n");
    let metadata = std::fs::metadata(folder.join("j.0.0")).unwrap();
    assert_eq!((metadata.len(), metadata.blocks()), (1 << 20, 0));
    let report = folder.json("", "[k]\nrw=trimwrite\nsize=1m\nbs=64k\nverify=crc32c\n");
    assert_eq!(integer(job(&report, "k"), "read.total_ios"), 16, "what was written after a trim is read back");
    let (output, reported) = folder.run_jobs("--on station(1,1ms)", "[l]\nrw=trim\nsize=1m\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(reported.contains("trims need a file or device"), "{reported}");
}

#[test]
fn an_own_device_is_trimmed_when_it_is_named() {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|stat| stat.uid() == 0);
    if !is_root || std::env::var_os("PLIMSOLL_ROOT_TESTS").is_none() {
        return println!("skipped: needs root and loop devices, and runs only with PLIMSOLL_ROOT_TESTS=1");
    }
    let folder = JobFolder::new("trim-device");
    folder.write("image", "data".repeat(1 << 20));
    let device = Loop::new(&folder.join("image"));
    let words = format!("--output-format=json --name=a --rw=trim --bs=64k --size=2m --filename={}", device.0);
    let output = folder.run(&words);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains(&format!("add --destroy {}", device.0)), "{}", stderr(&output));
    let output = folder.run(&format!("{words} --destroy {}", device.0));
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(integer(job(&read(&output), "a"), "trim.total_ios"), 32);
    File::open(&device.0).unwrap().sync_all().unwrap();
    let bytes = std::fs::read(&device.0).unwrap();
    assert!(bytes[..2 << 20].iter().all(|byte| *byte == 0), "what was trimmed is gone");
    assert!(bytes[2 << 20..].starts_with(b"data"), "what is behind it stays");
}

/// A loop device on a file of this test, detached on drop.
struct Loop(String);

impl Loop {
    fn new(image: &Path) -> Self {
        let output = Command::new("losetup").args(["--find", "--show"]).arg(image).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        Self(String::from_utf8(output.stdout).unwrap().trim().to_owned())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.0).status();
    }
}
