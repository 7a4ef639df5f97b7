//! Written data are read back, and errors are located.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;

use super::{JobFolder, integer, job, read};

fn corrupt(folder: &JobFolder, name: &str, at: u64) {
    let file = OpenOptions::new().read(true).write(true).open(folder.join(name)).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 0x40], at).unwrap();
}

#[test]
fn written_blocks_are_verified() {
    for (name, options, reads) in [
        ("crc", "rw=write\nverify=crc32c", 16),
        ("md5", "rw=randwrite\nverify=md5\nioengine=io_uring\niodepth=8", 16),
        ("loops", "rw=randwrite\nverify=meta\nloops=3", 48),
        ("pattern", "rw=write\nverify=pattern\nverify_pattern=0xdeadbeef", 16),
        ("offset", "rw=randwrite\nverify=pattern\nverify_pattern=0xff%o", 16),
        ("interval", "rw=write\nbs=16k\nverify=xxhash\nverify_interval=512", 4),
        ("files", "rw=randwrite\nverify=sha1\nnrfiles=4", 16),
        ("unverified", "rw=write\nverify=crc32c\ndo_verify=0", 0),
        ("timed", "rw=write\nverify=crc32c\ntime_based\nruntime=100ms", 0),
        ("null", "rw=write\nverify=null", 0),
    ] {
        let folder = JobFolder::new(&format!("back-{name}"));
        let report = folder.json("", &format!("[v]\nsize=64k\n{options}\n"));
        assert_eq!(integer(job(&report, "v"), "read.total_ios"), reads, "{options}");
        assert!(integer(job(&report, "v"), "write.total_ios") >= 4, "{options}");
    }
}

/// Error output of a job that reads data written before and damaged at two places.
#[track_caller]
fn check(name: &str, how: &str, options: &str, expected: &[&str], exit: i32) {
    let folder = JobFolder::new(&format!("spoiled-{name}"));
    folder.json("", &format!("[v]\nsize=64k\nrw=randwrite\ndo_verify=0\n{how}\n"));
    corrupt(&folder, "v.0.0", 20_000);
    corrupt(&folder, "v.0.0", 40_000);
    let (output, reported) = folder.run_jobs("", &format!("[v]\nsize=64k\n{how}\n{options}\n"));
    assert_eq!(output.status.code(), Some(exit), "{name}: {reported}");
    let lines: Vec<&str> = reported.lines().filter(|line| line.contains("verify: at file")).collect();
    assert_eq!(lines.len(), expected.len(), "{name}: {reported}");
    for words in expected {
        assert!(lines.iter().any(|line| line.contains(words)), "{name}: {words} in {reported}");
    }
    if exit != 0 {
        assert_eq!(integer(job(&read(&output), "v"), "error"), 84);
    }
}

#[test]
fn a_wrong_byte_is_found_where_it_is() {
    let first = "at file v.0.0 offset 16384: 4096 bytes at 16384: byte 3616 is wrong";
    let second = "at file v.0.0 offset 36864: 4096 bytes at 36864: byte 3136 is wrong";
    check("read", "verify=crc32c", "rw=read", &[first], 1);
    check("only", "verify=crc32c", "rw=randwrite\nverify_only", &["byte "], 1);
    check("all", "verify=crc32c", "rw=read\ncontinue_on_error=verify", &[first, second], 1);
    check(
        "intervals",
        "verify=md5\nverify_interval=512",
        "rw=read",
        &["offset 19968: 512 bytes at 19968: byte 32 is"],
        1,
    );
    check("pattern", "verify=pattern\nverify_pattern=0x1234", "rw=read", &[first], 1);
    check("unlooked", "verify=crc32c", "rw=read\nverify=0", &[], 0);
}

#[test]
fn a_file_of_zeroes_was_never_written() {
    let folder = JobFolder::new("zeroes");
    folder.json("", "[v]\nsize=16k\nrw=write\nzero_buffers\n");
    let (output, reported) = folder.run_jobs("", "[v]\nsize=16k\nrw=read\nverify=crc32c\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(reported.contains("verify: at file v.0.0 offset 0: 4096 bytes at 0: zeroes"), "{reported}");
}
