//! Named files created by plimsoll: opening, recognition by mark, and claims without `--destroy`.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]
#![expect(clippy::print_stderr, reason = "a skipped test reports the reason")]

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use plimsoll_device::{
    AccessMode, Caching, OpenHow, Space, SyncMode, WriteRefusal, claim_ours, create, drop_cache, is_ours, length,
    mark_created, open_how, preallocate, sync_data,
};
use plimsoll_units::Bytes;
use rustix::fs::{OFlags, XattrFlags};
use rustix::io::{IoSliceMut, ReadWriteFlags};

const SIZE: Bytes = Bytes::mib(1);

/// A temporary directory, removed on drop.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("files-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A marked file; `None` if the filesystem does not support marks.
fn ours(place: &Place) -> Option<PathBuf> {
    let path = place.at("ours");
    let file = create(&path, SIZE, Space::Sparse).unwrap();
    let is_marked = mark_created(&file).unwrap();
    if !is_marked {
        eprintln!("skipped: the filesystem of {} keeps no extended attributes", path.display());
    }
    is_marked.then_some(path)
}

#[test]
fn file_is_opened_with_requested_options() {
    let place = Place::new("open");
    let path = place.at("file");
    create(&path, SIZE, Space::Sparse).unwrap();
    let syncs = [
        (SyncMode::None, OFlags::empty()),
        (SyncMode::Dsync, OFlags::DSYNC),
        (SyncMode::Sync, OFlags::SYNC | OFlags::DSYNC),
    ];
    for (sync, expected) in syncs {
        for caching in [Caching::Buffered, Caching::Direct] {
            for (access, mode) in [(AccessMode::Read, OFlags::RDONLY), (AccessMode::Write, OFlags::RDWR)] {
                let opened = open_how(&path, &OpenHow { access, caching, sync }).unwrap();
                let flags = rustix::fs::fcntl_getfl(&opened.file).unwrap();
                assert_eq!(flags & (OFlags::SYNC | OFlags::DSYNC), expected, "{sync:?}");
                assert_eq!(flags & OFlags::RWMODE, mode, "{access:?}");
                assert_eq!(flags.contains(OFlags::DIRECT), opened.caching == Caching::Direct, "{caching:?}");
                assert_eq!(length(&opened.file).unwrap(), SIZE);
            }
        }
    }
}

#[test]
fn space_is_reserved_or_not() {
    let place = Place::new("space");
    let blocks = |path: &Path| {
        use std::os::unix::fs::MetadataExt;
        let stat = fs::metadata(path).unwrap();
        (stat.len(), stat.blocks() * 512)
    };
    for (space, least, max) in [(Space::Reserve, SIZE.get(), u64::MAX), (Space::Sparse, 0, 64 << 10)] {
        let path = place.at(&format!("{space:?}"));
        create(&path, SIZE, space).unwrap();
        let (length, there) = blocks(&path);
        assert!(length == SIZE.get() && (least..=max).contains(&there), "{space:?}: {length}, {there}");
    }
    let path = place.at("Reserve");
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    preallocate(&file, Bytes::kib(64), Space::Truncate).unwrap();
    assert_eq!(blocks(&path), (64 << 10, 0));
    create(&place.at("empty"), Bytes::default(), Space::Reserve).unwrap();
    assert_eq!(blocks(&place.at("empty")).0, 0);
}

#[test]
fn existing_file_is_not_recreated() {
    let place = Place::new("there");
    let path = place.at("theirs");
    fs::write(&path, "of another").unwrap();
    for space in [Space::Reserve, Space::Sparse, Space::Truncate] {
        assert_eq!(create(&path, SIZE, space).unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
    }
    assert_eq!(fs::read(&path).unwrap(), b"of another");
    // Too large for any filesystem: no file remains.
    assert!(create(&place.at("huge"), Bytes::new(i64::MAX.unsigned_abs()), Space::Reserve).is_err());
    assert!(!place.at("huge").exists());
}

#[test]
fn marked_file_is_recognised() {
    let place = Place::new("known");
    let Some(path) = ours(&place) else { return };
    assert!(is_ours(&path));
    // Also by another name, and by a link.
    let moved = place.at("moved");
    fs::rename(&path, &moved).unwrap();
    std::os::unix::fs::symlink(&moved, place.at("link")).unwrap();
    assert!(is_ours(&moved) && is_ours(&place.at("link")));
    // A copy with attributes may hold valuable data.
    let copy = place.at("copy");
    fs::copy(&moved, &copy).unwrap();
    let mut value = [0; 64];
    let length = rustix::fs::getxattr(&moved, "user.plimsoll", &mut value[..]).unwrap();
    rustix::fs::setxattr(&copy, "user.plimsoll", &value[..length], XattrFlags::empty()).unwrap();
    assert!(!is_ours(&copy));
    fs::write(place.at("theirs"), "of another").unwrap();
    assert!(!is_ours(&place.at("theirs")) && !is_ours(&place.at("nothing")) && !is_ours(&place.0));
}

#[test]
fn marked_file_is_claimed_without_destroy() {
    let place = Place::new("claim");
    let Some(path) = ours(&place) else { return };
    let claim = claim_ours(&path).unwrap();
    assert!(claim.covers(&fs::File::open(&path).unwrap()).unwrap());
    // Exclusive to a run.
    assert!(matches!(claim_ours(&path), Err(WriteRefusal::Locked { .. })));
    drop(claim);
    let theirs = place.at("theirs");
    fs::write(&theirs, "of another").unwrap();
    for refused in [&theirs, &place.0] {
        let refusal = claim_ours(refused).unwrap_err();
        assert!(matches!(refusal, WriteRefusal::NotNamed { .. }), "{refusal}");
    }
    assert!(matches!(claim_ours(&place.at("nothing")), Err(WriteRefusal::Unusable(_))));
}

#[test]
fn marked_file_with_a_signature_is_refused() {
    let place = Place::new("signature");
    let Some(path) = ours(&place) else { return };
    // The magic of ext4: a filesystem in it is deliberate.
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    rustix::io::pwrite(&file, &[0x53, 0xef], 1024 + 56).unwrap();
    drop(file);
    let refusal = claim_ours(&path).unwrap_err();
    assert!(matches!(refusal, WriteRefusal::Carries { .. }), "{refusal}");
}

/// Number of cached bytes at the start of a file.
fn cached(file: &OwnedFd) -> Option<usize> {
    let mut bytes = [0; 4096];
    rustix::io::preadv2(file, &mut [IoSliceMut::new(&mut bytes)], 0, ReadWriteFlags::NOWAIT).ok()
}

#[test]
fn file_is_dropped_from_the_page_cache() {
    let place = Place::new("cache");
    let file = create(&place.at("file"), SIZE, Space::Reserve).unwrap();
    rustix::io::pwrite(&file, &[7; 8192], 0).unwrap();
    if cached(&file) != Some(4096) {
        eprintln!("skipped: the filesystem does not say what is cached");
        return;
    }
    sync_data(&file).unwrap();
    if rustix::fs::fstatfs(&file).unwrap().f_type == 0x0102_1994 {
        eprintln!("skipped: tmpfs keeps everything in the page cache");
        return;
    }
    // The probe starts readahead, which may complete before the answer on a busy host.
    let after_dropping = || {
        drop_cache(&file).unwrap();
        cached(&file)
    };
    assert!((0..100).any(|_| after_dropping().is_none()));
}
