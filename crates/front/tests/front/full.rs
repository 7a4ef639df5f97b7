//! No space left, and metadata that are torn: clients are told, nothing that was kept is lost, and it goes on.

use std::path::{Path, PathBuf};
use std::process::Command;

use plimsoll_device::nbd::wire::{Style, chunk, command, command_flag};
use plimsoll_device::nbd::{Asked, Talk};

use super::crash::home;
use super::killed::{Killed, SIZE};

const NO_SPACE: u32 = 28;
const CLUSTER: u64 = 4096;

fn ask(talk: &mut Talk, command: u16, offset: u64, length: u64, data: &[u8], flags: u16) -> (u32, Vec<u8>) {
    let asked = Asked { flags, command, cookie: 1, offset, length };
    talk.request(Style::Structured, &asked, data).unwrap();
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

/// Writes cluster after cluster until there is no space. Returns how many were written.
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
fn a_store_that_is_full_recovers() {
    let base = home("capacity");
    let mut server = Killed::start(&base);
    server.ready().unwrap();
    server.order("capacity 65536");
    let mut talk = server.talk(0);
    assert_eq!(fill(&mut talk, SIZE / CLUSTER), 16);
    assert_eq!(write(&mut talk, 3, 99, 0), 0, "what has its space can be written");
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

/// A server whose data are on a filesystem of so many bytes that nobody else sees and that ends with it.
fn on_a_small_disk(base: &Path, bytes: u64) -> Option<Killed> {
    let data = base.join("data");
    std::fs::create_dir_all(&data).unwrap();
    let mut command = Command::new("unshare");
    let mount = format!("mount -t tmpfs -o size={bytes} none \"$1\" && shift && exec \"$@\"");
    command.args(["--map-root-user", "--mount", "sh", "-c", &mount, "sh"]);
    command.arg(data).arg(std::env::current_exe().unwrap());
    let mut server = Killed::start_as(base, command);
    server.ready().is_some().then_some(server)
}

#[test]
fn a_disk_that_is_full_recovers() {
    let base = home("disk");
    for changes in (0..120).step_by(12) {
        let Some(server) = on_a_small_disk(&base, 2 << 20) else {
            eprintln!("skipped: a filesystem of its own needs unshare with user namespaces, or root");
            break;
        };
        fill_and_free(server, changes);
    }
    std::fs::remove_dir_all(base).unwrap();
}

fn fill_and_free(mut server: Killed, changes: u32) {
    server.order(&format!("grow 0 {}", 4 << 20));
    let mut talk = server.talk(0);
    // The log shall end wherever it may when the disk is full.
    for _ in 0..changes {
        assert_eq!((write(&mut talk, 1000, 1, 0), flush(&mut talk)), (0, 0));
        assert_eq!(ask(&mut talk, command::TRIM, 1000 * CLUSTER, CLUSTER, &[], command_flag::FUA).0, 0);
    }
    let written = fill(&mut talk, 1000);
    for cluster in 0..written {
        assert_eq!(read(&mut talk, cluster), byte(cluster), "cluster {cluster}");
    }
    // Commits go on although there is no space to begin the log anew.
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

/// The log of the directory, and its length before the last flush.
fn two_flushes(base: &Path) -> (PathBuf, usize) {
    let mut server = Killed::start(base);
    server.ready().unwrap();
    let mut talk = server.talk(0);
    assert_eq!((write(&mut talk, 1, 11, 0), flush(&mut talk)), (0, 0));
    let log = base.join("data/log");
    let before = std::fs::metadata(&log).unwrap().len() as usize;
    assert_eq!((write(&mut talk, 2, 22, 0), flush(&mut talk)), (0, 0));
    server.kill();
    (log, before)
}

#[test]
fn a_log_that_is_torn_at_its_end_loses_its_last_commit_alone() {
    let base = home("torn");
    let (log, before) = two_flushes(&base);
    let whole = std::fs::read(&log).unwrap();
    let cuts = (before..whole.len()).map(|length| whole[..length].to_vec());
    let flips = (before..whole.len()).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        bytes
    });
    let step = 5;
    for (number, torn) in cuts.chain(flips).enumerate().filter(|(number, _)| number % step == 0) {
        std::fs::write(&log, torn).unwrap();
        let mut server = Killed::start(&base);
        server.ready().unwrap();
        let mut talk = server.talk(0);
        assert_eq!((read(&mut talk, 1), read(&mut talk, 2)), (11, 0), "case {number}");
        // What it had lost is written again, and lasts.
        assert_eq!(write(&mut talk, 2, 22, command_flag::FUA), 0);
        server.kill();
        let mut server = Killed::start(&base);
        server.ready().unwrap();
        assert_eq!(read(&mut server.talk(0), 2), 22);
        server.kill();
    }
    std::fs::remove_dir_all(base).unwrap();
}
