//! Damaged and foreign data directories are not served.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use plimsoll_front::DirectoryError;
use plimsoll_service::{AddChecksums, OpenError, Repair, Service, api, fsck};
use plimsoll_volume::Superblock;

use crate::home::{Home, copy_files, create_directory, options};

/// A stopped service with data in two volumes, and a snapshot.
fn stopped() -> PathBuf {
    let home = Home::new();
    home.create("data", "link(10us)");
    home.create("other", "link(10us)");
    for part in 0..6 {
        home.client("data").write(part << 20, &vec![part as u8 + 1; 256 << 10]);
    }
    let fork = api::Fork { name: "kept".into(), like: None };
    home.service.snapshot("data", &fork).unwrap();
    home.client("data").write(0, &[9; 4096]);
    home.client("other").write(0, &[7; 8192]);
    home.keep()
}

/// Refusal of a directory; asserts that nothing in it has changed.
#[track_caller]
fn refusal(directory: &Path) -> String {
    let log = fs::read(directory.join("log")).ok();
    let superblock = fs::read(directory.join("superblock")).ok();
    match Service::open(options(directory)).map(drop) {
        Ok(()) => panic!("it has started"),
        Err(why) => {
            assert_eq!(fs::read(directory.join("log")).ok(), log);
            assert_eq!(fs::read(directory.join("superblock")).ok(), superblock);
            match &why {
                OpenError::Damaged { why, .. } => why.clone(),
                OpenError::Directory(why) => why.to_string(),
                other => panic!("{other}"),
            }
        }
    }
}

/// Repairs and starts a directory; asserts that a second repair finds nothing.
#[track_caller]
fn repaired(directory: &Path) -> Home {
    let found = fsck(directory, Repair::Never, AddChecksums::Never).unwrap();
    assert!(!found.problems.is_empty() && found.repaired.is_empty(), "{found:?}");
    let check = fsck(directory, Repair::Requested, AddChecksums::Never).unwrap();
    assert!(check.problems.is_empty() && !check.repaired.is_empty(), "{check:?}");
    let again = fsck(directory, Repair::Never, AddChecksums::Never).unwrap();
    assert!(again.problems.is_empty(), "{again:?}");
    Home::open(options(directory))
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

#[test]
fn truncated_or_zeroed_log_is_refused() {
    let intact = stopped();
    let length = fs::metadata(intact.join("log")).unwrap().len() as usize;
    for round in 0..25 {
        let cut = copy_files(&intact);
        change(&cut.join("log"), |log| log.truncate(length * round / 25));
        let why = refusal(&cut);
        assert!(why.contains("durable commit"), "cut {round}: {why}");
        fs::remove_dir_all(cut).unwrap();
    }
    for round in 0..12 {
        let zeroed = copy_files(&intact);
        change(&zeroed.join("log"), |log| log[length * round / 12..].fill(0));
        assert!(refusal(&zeroed).contains("durable commit"), "zeroed {round}");
        fs::remove_dir_all(zeroed).unwrap();
    }
    let missing = copy_files(&intact);
    fs::remove_file(missing.join("log")).unwrap();
    assert!(refusal(&missing).contains("the log is missing"));
    for damaged in [missing, intact] {
        fs::remove_dir_all(damaged).unwrap();
    }
}

#[test]
fn missing_or_short_data_file_is_refused_with_volumes() {
    let intact = stopped();
    let missing = copy_files(&intact);
    fs::remove_file(missing.join("data.0")).unwrap();
    let why = refusal(&missing);
    for part in ["data.0 is missing", "volumes data, other, kept"] {
        assert!(why.contains(part), "no {part:?} in {why}");
    }
    let short = copy_files(&intact);
    fs::File::options().write(true).open(short.join("data.0")).unwrap().set_len(1 << 20).unwrap();
    let why = refusal(&short);
    assert!(why.contains("data.0 has 1048576 bytes") && why.contains("data"), "{why}");
    let home = repaired(&short);
    assert_eq!(home.client("data").read(0, 4096).len(), 4096);
    drop(home);
    drop(repaired(&missing));
    fs::remove_dir_all(intact).unwrap();
}

#[test]
fn damaged_log_is_repaired_up_to_the_damage() {
    let intact = stopped();
    let log = fs::read(intact.join("log")).unwrap();
    let frames: Vec<usize> = (0..log.len() - 4).filter(|at| log[*at..].starts_with(b"PLM2")).collect();
    let last_but_one = frames[frames.len() - 2];
    let damaged = copy_files(&intact);
    change(&damaged.join("log"), |log| log[last_but_one + 30] ^= 1);
    let why = refusal(&damaged);
    assert!(why.contains("is unreadable") && why.contains("concern volume other"), "{why}");
    let home = repaired(&damaged);
    assert_eq!(home.service.list().unwrap().len(), 3);
    assert_eq!(home.client("data").read(1 << 20, 4), [2; 4]);
    let torn_bytes = fs::read(damaged.join("log.torn-1")).unwrap();
    assert_eq!(torn_bytes.len(), log.len() - last_but_one, "what was cut off is kept");
    assert!(home.service.notices().iter().any(|notice| notice.contains("no volume refers to")));
    let directory = home.keep();
    let check = fsck(&directory, Repair::Requested, AddChecksums::Never).unwrap();
    assert!(check.repaired[0].contains("freed at the next start") && !check.keeps_unreferenced, "{check:?}");
    let home = Home::open(options(&directory));
    assert!(home.service.notices().is_empty());
    drop(home);
    fs::remove_dir_all(intact).unwrap();
}

#[test]
fn commits_alternate_superblock_slots() {
    let intact = stopped();
    let superblock = fs::read(intact.join("superblock")).unwrap();
    let next = |slot: &[u8]| Superblock::read(slot).unwrap().next;
    let slots = [next(&superblock[..4_096]), next(&superblock[4_096..])];
    assert_eq!(slots[0].abs_diff(slots[1]), 1, "{slots:?}");
    fs::remove_dir_all(intact).unwrap();
}

#[test]
fn lost_superblock_is_rebuilt_from_log() {
    let intact = stopped();
    let without = copy_files(&intact);
    fs::remove_file(without.join("superblock")).unwrap();
    let advice = format!("plimsoll volume fsck {} --repair makes it again", without.display());
    assert!(refusal(&without).contains(&advice), "{}", refusal(&without));
    let home = repaired(&without);
    assert_eq!(home.client("other").read(0, 8192), [7; 8192]);
    drop(home);
    fs::remove_dir_all(intact).unwrap();
}

#[test]
fn foreign_directory_is_refused_and_unchanged() {
    let foreign = create_directory();
    fs::create_dir_all(&foreign).unwrap();
    fs::write(foreign.join("log"), "1\n2\n3\n").unwrap();
    fs::write(foreign.join("data.0"), "somebody's").unwrap();
    assert!(refusal(&foreign).contains("is neither empty nor a data directory of plimsoll"));
    let mut names: Vec<_> = fs::read_dir(&foreign).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["data.0", "log"]);
    assert_eq!(fs::read(foreign.join("log")).unwrap(), b"1\n2\n3\n");
    assert!(matches!(fsck(&foreign, Repair::Requested, AddChecksums::Never), Err(DirectoryError::Foreign(_))));
    fs::remove_file(foreign.join("data.0")).unwrap();
    fs::write(foreign.join("log"), b"PLMS and so on").unwrap();
    assert!(refusal(&foreign).contains("of an earlier development version"));
    fs::remove_dir_all(foreign).unwrap();
}

#[test]
fn links_and_writable_by_others_are_refused() {
    let intact = stopped();
    for name in ["log", "data.0", "superblock"] {
        let linked = copy_files(&intact);
        fs::rename(linked.join(name), linked.join("elsewhere")).unwrap();
        symlink(linked.join("elsewhere"), linked.join(name)).unwrap();
        assert!(refusal(&linked).contains("is a symbolic link"), "{name}");
        fs::remove_dir_all(linked).unwrap();
        let shared = copy_files(&intact);
        fs::set_permissions(shared.join(name), fs::Permissions::from_mode(0o666)).unwrap();
        assert!(refusal(&shared).contains("can be written by others (mode 666)"), "{name}");
        fs::remove_dir_all(shared).unwrap();
    }
    fs::set_permissions(&intact, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(refusal(&intact).contains("can be written by others (mode 777): chmod go-w it"));
    fs::remove_dir_all(intact).unwrap();
    let empty = create_directory();
    fs::create_dir_all(&empty).unwrap();
    assert!(matches!(fsck(&empty, Repair::Requested, AddChecksums::Never), Err(DirectoryError::Untrusted { .. })));
    assert_eq!(fs::read_dir(&empty).unwrap().count(), 0);
    drop(Home::open(options(&empty)).keep());
    assert_eq!(fs::metadata(&empty).unwrap().permissions().mode() & 0o777, 0o700, "it is its owner's alone");
    fs::remove_dir_all(empty).unwrap();
}

#[test]
fn directory_in_use_is_not_checked() {
    let home = Home::new();
    assert!(matches!(fsck(&home.directory, Repair::Never, AddChecksums::Never), Err(DirectoryError::InUse(_))));
    assert!(plimsoll_front::is_served(&home.directory).unwrap());
    let directory = home.keep();
    assert!(!plimsoll_front::is_served(&directory).unwrap());
    let check = fsck(&directory, Repair::Never, AddChecksums::Never).unwrap();
    assert!(check.problems.is_empty(), "{check:?}");
    fs::remove_dir_all(directory).unwrap();
}
