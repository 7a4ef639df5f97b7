//! Checksums: damaged data are never served and are reported; sound data are never reported as damaged.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use plimsoll_front::{Checksums, DirectoryError};
use plimsoll_service::{AddChecksums, DamagedBlock, OpenError, Repair, Service, ServiceOptions, api, fsck};

use crate::home::{Home, TIMEOUT, copy_files, create_directory, options};
use crate::logged;

const EIO: u32 = 5;
const KIB: u64 = 1 << 10;

fn checked(directory: &Path) -> ServiceOptions {
    ServiceOptions { checksums: Checksums::Required, ..options(directory) }
}

fn pattern(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    fastrand::Rng::with_seed(seed).fill(&mut bytes);
    bytes
}

/// Offset of these bytes in `data.0`.
fn find(directory: &Path, bytes: &[u8]) -> u64 {
    let data = fs::read(directory.join("data.0")).unwrap();
    let blocks = data.chunks(4096).zip(0..);
    blocks.filter(|(block, _)| block.starts_with(bytes)).map(|(_, at)| at * 4096).next().expect("they are there")
}

fn flip(directory: &Path, name: &str, at: u64) {
    let file = File::options().read(true).write(true).open(directory.join(name)).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 4], at).unwrap();
}

/// A stopped directory with a 1 MiB volume of a pattern and a snapshot of it, with a damaged block at 512 KiB.
fn damaged(data: &[u8]) -> PathBuf {
    let home = Home::open(checked(&create_directory()));
    home.create("data", "link(1us)");
    home.client("data").write(0, data);
    home.service.snapshot("data", &api::Fork { name: "kept".into(), like: None }).unwrap();
    let directory = home.keep();
    flip(&directory, "data.0", find(&directory, &data[512 << 10..][..64]) + 1_000);
    directory
}

fn run_scrub(home: &Home, volume: Option<&str>) -> api::ScrubState {
    let scrub = api::Scrub { volume: volume.map(str::to_owned), rate_bytes: Some(1 << 30) };
    home.service.begin_scrub(&scrub).unwrap();
    let end = Instant::now() + TIMEOUT;
    loop {
        let state = home.service.scrub_state().unwrap();
        if !state.running {
            return state;
        }
        assert!(Instant::now() < end, "{state:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn flipped_bit_fails_reads_and_is_reported() {
    let data = pattern(1, 1 << 20);
    let directory = damaged(&data);
    logged::keep();
    let home = Home::open(options(&directory));
    assert!(home.service.about().unwrap().checksums, "it stays as it was made");
    let mut client = home.client("data");
    assert!(client.read(0, 512 << 10) == data[..512 << 10]);
    for (offset, length) in [(512 * KIB, 4096), (512 * KIB + 100, 7), (0, 1 << 20)] {
        assert_eq!(client.try_read(offset, length), Err(EIO), "{length} bytes at {offset}");
    }
    assert!(client.read(516 * KIB, 508 << 10) == data[516 << 10..]);
    let end = Instant::now() + TIMEOUT;
    let stats = loop {
        let stats = home.service.stats("data").unwrap();
        if stats.damaged_reads == 3 {
            break stats;
        }
        assert!(Instant::now() < end, "{stats:?}");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!((stats.damaged, stats.damaged_reads), (vec![512 * KIB], 3));
    assert!(logged::has(&["damaged", "volume=\"data\"", "offset=524288"]));

    let block = |volume: &str| DamagedBlock { volume: volume.into(), offset: 512 * KIB };
    let endless = api::Scrub { rate_bytes: Some(0), ..api::Scrub::default() };
    assert!(home.service.begin_scrub(&endless).unwrap_err().message.contains("give 1MiB or more"));
    let found = run_scrub(&home, None);
    assert_eq!((found.done_bytes, found.total_bytes, found.damaged_blocks), (1 << 20, 1 << 20, 1));
    assert_eq!(found.damaged, [block("data"), block("kept")]);

    // A partial write of the block fails, a full write succeeds; the snapshot keeps the damaged block.
    assert_eq!(client.try_write(512 * KIB + 10, &[1; 10]), EIO);
    assert_eq!(client.try_read(512 * KIB, 4096), Err(EIO));
    drop(client);
    let directory = home.keep();
    let check = fsck(&directory, Repair::Never, AddChecksums::Never).unwrap();
    assert_eq!(check.damaged, [block("data"), block("kept")]);
    assert!(check.is_served() && check.problems[0].contains("volume data is damaged at byte 524288"), "{check:?}");
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn overwrite_repairs_damaged_block() {
    let data = pattern(2, 1 << 20);
    let home = Home::open(options(&damaged(&data)));
    home.service.delete("kept").unwrap();
    let mut client = home.client("data");
    assert_eq!(client.try_read(512 * KIB, 4096), Err(EIO));
    client.write(512 * KIB, &[7; 4096]);
    assert!(client.read(0, 1 << 20)[512 << 10..516 << 10] == [7; 4096]);
    let found = run_scrub(&home, Some("data"));
    assert_eq!((found.done_bytes, found.damaged_blocks, found.error), (1 << 20, 0, None));
    assert!(home.service.stats("data").unwrap().damaged.is_empty());
}

#[test]
fn only_unclean_stop_requires_recomputed_checksums() {
    let home = Home::open(checked(&create_directory()));
    home.create("data", "link(1us)");
    let data = pattern(3, 300_001);
    home.client("data").write(12_345, &data);
    let copied = copy_files(&home.directory);
    let check = fsck(&copied, Repair::Never, AddChecksums::Never).unwrap();
    assert_eq!((check.uncertain_bytes, check.problems.len()), (16 << 20, 0), "{check:?}");
    fs::remove_dir_all(copied).unwrap();
    let killed = home.after_a_kill();
    let notices = killed.service.notices().to_vec();
    assert!(notices.len() == 1 && notices[0].contains("computed again, 0 of them differed"), "{notices:?}");
    assert!(killed.client("data").read(12_345, 300_001) == data);
    let again = killed.again();
    assert_eq!(again.service.notices(), [] as [String; 0]);
    assert!(again.client("data").read(12_345, 300_001) == data);
}

#[test]
fn damaged_checksum_files_are_refused_and_repaired() {
    let home = Home::open(checked(&create_directory()));
    home.create("data", "link(1us)");
    let data = pattern(4, 100_000);
    home.client("data").write(0, &data);
    let directory = home.keep();
    for (name, is_removed) in [("sums.0", true), ("intent.0", true), ("sums.0", false)] {
        if is_removed {
            fs::remove_file(directory.join(name)).unwrap();
        } else {
            flip(&directory, name, 20);
        }
        let refused = Service::open(options(&directory)).map(drop).unwrap_err();
        assert!(matches!(&refused, OpenError::Directory(DirectoryError::Checksums { why, .. }) if why.contains(name)));
        assert!(!fsck(&directory, Repair::Never, AddChecksums::Never).unwrap().problems.is_empty());
        let check = fsck(&directory, Repair::Requested, AddChecksums::Never).unwrap();
        assert!(check.problems.is_empty() && check.verified_bytes > 100_000, "{check:?}");
    }
    // A flipped bit in a checksum is equivalent to a flipped bit in the data.
    flip(&directory, "sums.0", 4096 + 4 * 20);
    assert_eq!(fsck(&directory, Repair::Never, AddChecksums::Never).unwrap().damaged.len(), 1);
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn checksums_are_added_to_existing_directory() {
    let home = Home::new();
    home.create("data", "link(1us)");
    let data = pattern(5, 200_000);
    home.client("data").write(0, &data);
    let refused = home.service.begin_scrub(&api::Scrub::default()).unwrap_err();
    assert!(refused.message.contains("--add-checksums"), "{refused}");
    let directory = home.keep();
    let refused = Service::open(checked(&directory)).map(drop).unwrap_err();
    assert!(refused.to_string().contains("was made without checksums"), "{refused}");
    let check = fsck(&directory, Repair::Never, AddChecksums::Requested).unwrap();
    assert!(check.has_checksums && check.problems.is_empty(), "{check:?}");
    let home = Home::open(checked(&directory));
    assert!(home.client("data").read(0, 200_000) == data);
    assert_eq!(run_scrub(&home, None).damaged_blocks, 0);
    let directory = home.keep();
    flip(&directory, "data.0", find(&directory, &data[8192..8256]));
    let home = Home::open(options(&directory));
    assert_eq!(home.client("data").try_read(8192, 4096), Err(EIO));
}

/// Copy on write, zeroes, growth and reuse of clusters keep checksums valid, in any order.
#[test]
fn random_operations_cause_no_false_mismatch() {
    const SIZE: usize = 2 << 20;
    let home = Home::open(checked(&create_directory()));
    let create = api::Create {
        name: "v0".into(),
        like: "link(1us)".into(),
        size_bytes: Some(SIZE as u64),
        ..api::Create::default()
    };
    home.service.create(&create).unwrap();
    let mut truths = std::collections::BTreeMap::from([("v0".to_owned(), vec![0; SIZE])]);
    let mut random = fastrand::Rng::with_seed(6);
    for step in 1..400 {
        let name = truths.keys().nth(random.usize(..truths.len())).unwrap().clone();
        let (offset, length) = (random.usize(..SIZE), 1 + random.usize(..150_000));
        let length = length.min(SIZE - offset);
        let count = truths.len();
        let truth = truths.get_mut(&name).unwrap();
        let here = offset..offset + length;
        match random.u32(..20) {
            0..10 => {
                let data = pattern(step, length);
                home.client(&name).write(offset as u64, &data);
                truth[here].copy_from_slice(&data);
            }
            10..13 => {
                home.client(&name).trim(offset as u64, length as u64);
                let end = if offset + length == SIZE { SIZE } else { (offset + length) & !0xFFFF };
                let start = offset.next_multiple_of(1 << 16);
                truth[start.min(end)..end].fill(0);
            }
            13..16 => assert!(home.client(&name).read(offset as u64, length as u32) == truth[here], "step {step}"),
            16..18 if count < 5 => {
                let (clone, content) = (format!("v{step}"), truth.clone());
                home.service.clone_volume(&name, &api::Fork { name: clone.clone(), like: None }).unwrap();
                truths.insert(clone, content);
            }
            _ if count > 1 => {
                home.service.delete(&name).unwrap();
                truths.remove(&name);
            }
            _ => {}
        }
    }
    for (name, truth) in &truths {
        let mut client = home.client(name);
        for at in (0..SIZE).step_by(1 << 19) {
            assert!(client.read(at as u64, 1 << 19) == truth[at..at + (1 << 19)], "{name} at {at}");
        }
    }
    let found = run_scrub(&home, None);
    assert_eq!((found.damaged_blocks, found.error), (0, None));
    let directory = home.keep();
    let check = fsck(&directory, Repair::Never, AddChecksums::Never).unwrap();
    assert!(check.problems.is_empty() && check.verified_bytes > 0, "{check:?}");
    fs::remove_dir_all(directory).unwrap();
}
