//! Full disks and torn metadata: clients get errors, durable data are kept, and service continues.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use plimsoll_device::nbd::wire::{Style, chunk, command, command_flag};
use plimsoll_device::nbd::{Talk, WireRequest};

use plimsoll_front::{Checksums, DataFiles, DirectoryError};
use plimsoll_volume::LogError;

use super::crash::home;
use super::killed::{Killed, SIZE, TIMEOUT};

const NO_SPACE: u32 = 28;
const CLUSTER: u64 = 4096;

fn ask(talk: &mut Talk, command: u16, offset: u64, length: u64, data: &[u8], flags: u16) -> (u32, Vec<u8>) {
    let request = WireRequest { flags, command, cookie: 1, offset, length };
    talk.request(Style::Structured, &request, data).unwrap();
    let answer = talk.chunk(0).unwrap();
    let bytes = match answer.kind {
        chunk::OFFSET_DATA => answer.payload[8..].to_vec(),
        chunk::OFFSET_HOLE => vec![0; length as usize],
        _ => Vec::new(),
    };
    (answer.errno(), bytes)
}

fn write(talk: &mut Talk, cluster: u64, byte: u8, flags: u16) -> u32 {
    let data = vec![byte; CLUSTER as usize];
    ask(talk, command::WRITE, cluster * CLUSTER, CLUSTER, &data, flags).0
}

fn flush(talk: &mut Talk) -> u32 {
    ask(talk, command::FLUSH, 0, 0, &[], 0).0
}

fn read(talk: &mut Talk, cluster: u64) -> u8 {
    let (errno, bytes) = ask(talk, command::READ, cluster * CLUSTER, CLUSTER, &[], 0);
    assert_eq!(errno, 0);
    assert!(bytes.iter().all(|byte| *byte == bytes[0]), "cluster {cluster} is torn");
    bytes[0]
}

/// Writes consecutive clusters until there is no space. Returns their number.
fn fill(talk: &mut Talk, clusters: u64) -> u64 {
    for cluster in 0..clusters {
        match write(talk, cluster, byte(cluster), command_flag::FUA) {
            0 => {}
            errno => {
                assert_eq!(errno, NO_SPACE);
                return cluster;
            }
        }
    }
    panic!("{clusters} clusters were written, and there is still space");
}

fn byte(cluster: u64) -> u8 {
    cluster as u8 | 1
}

#[test]
fn full_store_recovers() {
    let base = home("capacity");
    let mut server = Killed::start(&base);
    server.ready().unwrap();
    server.order("capacity 65536");
    let mut talk = server.talk(0);
    assert_eq!(fill(&mut talk, SIZE / CLUSTER), 16);
    assert_eq!(write(&mut talk, 3, 99, 0), 0, "allocated clusters can be overwritten");
    assert_eq!(ask(&mut talk, command::TRIM, 0, 4 * CLUSTER, &[], 0).0, 0);
    assert_eq!(flush(&mut talk), 0);
    for cluster in 20..24 {
        assert_eq!(write(&mut talk, cluster, byte(cluster), 0), 0, "space was freed");
    }
    assert_eq!(write(&mut talk, 24, 1, 0), NO_SPACE);
    assert_eq!(flush(&mut talk), 0);
    server.kill();
    let mut server = Killed::start(&base);
    server.ready().unwrap();
    let mut talk = server.talk(0);
    for cluster in 0..25 {
        let expected = if (4..16).contains(&cluster) || (20..24).contains(&cluster) { byte(cluster) } else { 0 };
        assert_eq!(read(&mut talk, cluster), expected, "cluster {cluster}");
    }
    std::fs::remove_dir_all(base).unwrap();
}

/// A server on a private filesystem of the given size.
fn on_a_small_disk(base: &Path, bytes: u64) -> Option<Killed> {
    Command::new("unshare").arg("--version").output().ok()?;
    let data = base.join("data");
    std::fs::create_dir_all(&data).unwrap();
    let mut command = Command::new("unshare");
    let mount = format!("mount -t tmpfs -o size={bytes},mode=700 none \"$1\" && shift && exec \"$@\"");
    command.args(["--map-root-user", "--mount", "sh", "-c", &mount, "sh"]);
    command.arg(data).arg(std::env::current_exe().unwrap());
    let mut server = Killed::start_as(base, command);
    server.ready().is_some().then_some(server)
}

#[test]
fn full_disk_recovers() {
    let base = home("disk");
    for changes in (0..120).step_by(12) {
        let Some(server) = on_a_small_disk(&base, 2 << 20) else {
            eprintln!("skipped: a private filesystem needs unshare with user namespaces, or root");
            break;
        };
        fill_and_free(server, changes);
    }
    std::fs::remove_dir_all(base).unwrap();
}

fn fill_and_free(mut server: Killed, changes: u32) {
    server.order(&format!("grow 0 {}", 4 << 20));
    let mut talk = server.talk(0);
    // Varies the position of the log's end when the disk becomes full.
    for _ in 0..changes {
        assert_eq!((write(&mut talk, 1000, 1, 0), flush(&mut talk)), (0, 0));
        assert_eq!(ask(&mut talk, command::TRIM, 1000 * CLUSTER, CLUSTER, &[], command_flag::FUA).0, 0);
    }
    let written = fill(&mut talk, 1000);
    for cluster in 0..written {
        assert_eq!(read(&mut talk, cluster), byte(cluster), "cluster {cluster}");
    }
    // Commits continue although there is no space for a new log.
    for _ in 0..100 {
        assert_eq!(ask(&mut talk, command::TRIM, 100 * CLUSTER, CLUSTER, &[], command_flag::FUA).0, 0);
        assert_eq!(write(&mut talk, 100, byte(100), command_flag::FUA), 0);
    }
    for round in 1..4 {
        assert_eq!(ask(&mut talk, command::TRIM, 0, 64 * CLUSTER, &[], 0).0, 0);
        assert_eq!(flush(&mut talk), 0, "space can be freed on a full disk");
        for cluster in 0..32 {
            assert_eq!(write(&mut talk, cluster, round, command_flag::FUA), 0, "round {round}, cluster {cluster}");
        }
    }
    for cluster in 0..written {
        let expected = if cluster < 32 {
            3
        } else if cluster < 64 {
            0
        } else {
            byte(cluster)
        };
        assert_eq!(read(&mut talk, cluster), expected, "cluster {cluster}");
    }
}

/// Waits until no answered change is without a commit.
fn settle(server: &mut Killed) {
    let begun = std::time::Instant::now();
    while server.order("pending") == "true" {
        assert!(begun.elapsed() < TIMEOUT, "changes are never committed");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Clusters of volume 0 after a kill and a restart.
fn after_a_kill(mut server: Killed, base: &Path, clusters: u64) -> Vec<u8> {
    server.kill();
    let mut server = Killed::start(base);
    server.ready().unwrap();
    let mut talk = server.talk(0);
    (0..clusters).map(|cluster| read(&mut talk, cluster)).collect()
}

#[test]
fn unflushed_writes_survive_a_kill_after_a_regular_commit() {
    let base = home("interval");
    let mut server = Killed::start(&base);
    server.ready().unwrap();
    let mut talk = server.talk(0);
    assert_eq!(write(&mut talk, 0, 7, 0), 0);
    assert_eq!(server.order("pending"), "true", "no commit without an interval");
    server.order("durability interval");
    for cluster in 1..16 {
        assert_eq!(write(&mut talk, cluster, byte(cluster), 0), 0);
    }
    settle(&mut server);
    let expected: Vec<u8> = std::iter::once(7).chain((1..16).map(byte)).collect();
    assert_eq!(after_a_kill(server, &base, 16), expected);
    std::fs::remove_dir_all(base).unwrap();
}

#[test]
fn unflushed_writes_survive_a_kill_after_a_disconnection() {
    let base = home("disconnection");
    let mut server = Killed::start(&base);
    server.ready().unwrap();
    let mut talk = server.talk(0);
    assert_eq!(write(&mut talk, 0, 7, 0), 0);
    drop(talk);
    settle(&mut server);
    assert_eq!(after_a_kill(server, &base, 1), [7]);
    std::fs::remove_dir_all(base).unwrap();
}

#[test]
fn durable_writes_survive_a_kill_at_once() {
    let base = home("durable");
    let mut server = Killed::start(&base);
    server.ready().unwrap();
    server.order("durability changes");
    let mut talk = server.talk(0);
    for cluster in 0..16 {
        assert_eq!(write(&mut talk, cluster, byte(cluster), 0), 0);
    }
    assert_eq!(ask(&mut talk, command::TRIM, 0, CLUSTER, &[], 0).0, 0);
    let expected: Vec<u8> = std::iter::once(0).chain((1..16).map(byte)).collect();
    assert_eq!(after_a_kill(server, &base, 16), expected);
    std::fs::remove_dir_all(base).unwrap();
}

#[test]
fn first_data_file_without_space_is_made_later() {
    let base = home("first");
    let Some(mut server) = on_a_small_disk(&base, 2 << 20) else {
        eprintln!("skipped: a private filesystem needs unshare with user namespaces, or root");
        return;
    };
    let mut talk = server.talk(0);
    let data = base.join("data").display().to_string();
    assert!(server.order(&format!("ballast {data}")).contains("No space"));
    assert_eq!(write(&mut talk, 0, 1, 0), NO_SPACE);
    let flushed = flush(&mut talk);
    assert!([0, NO_SPACE].contains(&flushed), "{flushed}");
    assert_ne!(server.order("health"), "Failed");
    server.order(&format!("unballast {data}"));
    assert_eq!((write(&mut talk, 0, 2, 0), flush(&mut talk), read(&mut talk, 0)), (0, 0, 2));
    assert_eq!(server.order("health"), "Good");
    std::fs::remove_dir_all(base).unwrap();
}

/// The log of the directory, and its length before the last flush.
fn two_flushes(base: &Path) -> (PathBuf, usize, Vec<u8>) {
    let mut server = Killed::start(base);
    server.ready().unwrap();
    let mut talk = server.talk(0);
    assert_eq!((write(&mut talk, 1, 11, 0), flush(&mut talk)), (0, 0));
    let log = base.join("data/log");
    let before = std::fs::metadata(&log).unwrap().len() as usize;
    let superblock = std::fs::read(base.join("data/superblock")).unwrap();
    assert_eq!((write(&mut talk, 2, 22, 0), flush(&mut talk)), (0, 0));
    server.kill();
    (log, before, superblock)
}

/// The error of opening a directory that lost durable data.
fn refusal(base: &Path) -> DirectoryError {
    DataFiles::directory(&base.join("data"), Checksums::AsMade).map(drop).expect_err("durable data were lost")
}

/// All files of a directory, data files up to 1 MiB.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let begin = |path: &Path| {
        let mut bytes = Vec::new();
        File::open(path).unwrap().take(1 << 20).read_to_end(&mut bytes).unwrap();
        bytes
    };
    paths.filter(|path| path.is_file()).map(|path| (path.clone(), begin(&path))).collect()
}

#[test]
fn directory_opens_during_concurrent_is_served_checks() {
    let base = home("looked-at");
    let directory = base.join("data");
    std::fs::create_dir_all(&directory).unwrap();
    drop(DataFiles::directory(&directory, Checksums::AsMade).unwrap());
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looker = scope.spawn(|| {
            let mut looks = 0_u64;
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                plimsoll_front::is_served(&directory).unwrap();
                looks += 1;
            }
            looks
        });
        let opened: Vec<_> = (0..300).map(|_| DataFiles::directory(&directory, Checksums::AsMade).map(drop)).collect();
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(looker.join().unwrap() > 0);
        assert!(opened.iter().all(Result::is_ok), "{:?}", opened.iter().find(|opened| opened.is_err()));
    });
}

#[test]
fn log_without_an_acknowledged_commit_is_refused() {
    let base = home("lost");
    let (log, before, _) = two_flushes(&base);
    let log_bytes = std::fs::read(&log).unwrap();
    let files_before = files(&base.join("data"));
    let cuts = (0..log_bytes.len()).map(|length| log_bytes[..length].to_vec());
    let zeroed = (0..log_bytes.len()).map(|from| [&log_bytes[..from], &vec![0; log_bytes.len() - from]].concat());
    let flips = (0..log_bytes.len()).map(|at| {
        let mut bytes = log_bytes.clone();
        bytes[at] ^= 0x40;
        bytes
    });
    for (number, damaged) in cuts.chain(zeroed).chain(flips).enumerate() {
        std::fs::write(&log, &damaged).unwrap();
        let why = refusal(&base);
        let DirectoryError::Log { source, .. } = why else { panic!("case {number}: {why:?}") };
        let lost_last = matches!(source, LogError::Lost { at, last: 2, .. } if at == before as u64);
        let lost_more = matches!(source, LogError::Lost { last: 2, .. } | LogError::Missing { last: 2 })
            || matches!(source, LogError::Damaged { last: 2, .. });
        assert!(lost_last || lost_more, "case {number}: {source:?}");
        std::fs::write(&log, &log_bytes).unwrap();
        assert!(files(&base.join("data")) == files_before, "case {number}: a refused start has changed files");
    }
    std::fs::remove_file(&log).unwrap();
    let why = refusal(&base);
    assert!(matches!(why, DirectoryError::Log { source: LogError::Missing { last: 2 }, .. }), "{why:?}");
    std::fs::write(&log, &log_bytes).unwrap();
    assert!(DataFiles::directory(&base.join("data"), Checksums::AsMade).is_ok(), "the log as it was");
    std::fs::remove_dir_all(base).unwrap();
}

#[test]
fn files_of_another_directory_are_refused() {
    let (one, other) = (home("one"), home("other"));
    two_flushes(&one);
    two_flushes(&other);
    for (name, moved) in [("log", "log.own"), ("data.0", "kept.0")] {
        let own = one.join("data").join(name);
        std::fs::rename(&own, one.join("data").join(moved)).unwrap();
        std::fs::copy(other.join("data").join(name), &own).unwrap();
        let why = refusal(&one);
        let is_foreign = matches!(why, DirectoryError::Log { source: LogError::Foreign { .. }, .. })
            || matches!(why, DirectoryError::DataFile { .. });
        assert!(is_foreign, "{name}: {why:?}");
        std::fs::rename(one.join("data").join(moved), own).unwrap();
    }
    for base in [one, other] {
        std::fs::remove_dir_all(base).unwrap();
    }
}

#[test]
fn unacknowledged_commit_at_the_end_of_a_log_is_moved_to_a_file() {
    let base = home("torn");
    let (log, before, superblock) = two_flushes(&base);
    let log_bytes = std::fs::read(&log).unwrap();
    let cuts = (before..log_bytes.len()).map(|length| log_bytes[..length].to_vec());
    let flips = (before..log_bytes.len()).map(|at| {
        let mut bytes = log_bytes.clone();
        bytes[at] ^= 0x40;
        bytes
    });
    let (step, mut torn_files) = (5, 0);
    for (number, torn) in cuts.chain(flips).enumerate().filter(|(number, _)| number % step == 0) {
        std::fs::write(&log, &torn).unwrap();
        // The state after a kill before the reply.
        std::fs::write(base.join("data/superblock"), &superblock).unwrap();
        let mut server = Killed::start(&base);
        server.ready().unwrap();
        if torn.len() > before {
            torn_files += 1;
            let file = base.join(format!("data/log.torn-{torn_files}"));
            assert!(std::fs::read(file).unwrap() == torn[before..], "case {number}");
        }
        let mut talk = server.talk(0);
        assert_eq!((read(&mut talk, 1), read(&mut talk, 2)), (11, 0), "case {number}");
        // Lost data are written again and become durable.
        assert_eq!(write(&mut talk, 2, 22, command_flag::FUA), 0);
        server.kill();
        let mut server = Killed::start(&base);
        server.ready().unwrap();
        assert_eq!(read(&mut server.talk(0), 2), 22);
        server.kill();
        std::fs::write(&log, &log_bytes).unwrap();
    }
    std::fs::remove_dir_all(base).unwrap();
}
