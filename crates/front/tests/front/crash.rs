//! A server that is killed at any time, with active clients and edits, keeps all durable data.
//!
//! `kill -9` ends the process but keeps the kernel's page cache, so these are crashes of the whole program without
//! power loss. Loss and reordering of writes is tested with the simulated disk of the volumes' crash test.
//!
//! `PLIMSOLL_CRASH_ROUNDS` sets the number of kills, `PLIMSOLL_CRASH_SEED` the seed of the requests.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use fastrand::Rng;
use plimsoll_device::nbd::wire::{Style, chunk, command, command_flag};
use plimsoll_device::nbd::{Talk, TalkError, WireRequest};
use plimsoll_front::{Checksums, DataFiles, DirectoryError, Inspection};
use plimsoll_volume::{Commit, Log, Store, Superblock, Unreferenced};

use super::killed::{CHECKSUMS, Killed, SIZE, say};
use super::truth::{Step, Truth};

const SECTOR: u64 = 512;
const PER_CLUSTER: u64 = 8;
/// Number of volumes above which one is deleted.
const VOLUMES_MAX: usize = 7;
/// Queue depth of a client.
const DEPTH: usize = 12;
/// Maximum sectors of a request.
const SECTORS_MAX: u64 = 60;

/// A pending request or edit.
#[derive(Clone, Debug)]
enum Pending {
    Request {
        volume: u32,
        command: u16,
        first: u64,
        durable: bool,
    },
    /// A new volume has no number yet.
    Fork {
        of: u32,
        snapshot: bool,
    },
    Restore {
        volume: u32,
        from: u32,
    },
    Grow {
        volume: u32,
        sectors: u64,
    },
    Delete {
        volume: u32,
    },
}

impl Pending {
    /// The volume that is overwritten, changed or deleted as a whole.
    const fn edited(&self) -> Option<u32> {
        match *self {
            Self::Restore { volume, .. } | Self::Grow { volume, .. } | Self::Delete { volume } => Some(volume),
            Self::Request { .. } | Self::Fork { .. } => None,
        }
    }
}

/// The acknowledged state.
#[derive(Debug, Default)]
struct World {
    step: Step,
    truths: BTreeMap<u32, Truth>,
    pending: BTreeMap<Step, Pending>,
    /// Volumes with a client.
    connected: BTreeSet<u32>,
    counts: Counts,
}

/// Coverage of the rounds, which detects a test without effect.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    requests: u64,
    flushes: u64,
    edits: u64,
    killed_in_flight: u64,
}

fn sector(value: u64) -> impl Iterator<Item = u8> {
    std::iter::repeat_n(value.to_le_bytes(), SECTOR as usize / 8).flatten()
}

/// Contents of sectors; `None` for a torn sector.
fn read_values(bytes: &[u8]) -> Vec<Option<u64>> {
    let value = |sector: &[u8]| {
        let (words, _) = sector.as_chunks::<8>();
        let first = words[0];
        words.iter().all(|word| *word == first).then(|| u64::from_le_bytes(first))
    };
    bytes.chunks(SECTOR as usize).map(value).collect()
}

impl World {
    fn ask(&mut self, pending: Pending) -> Step {
        self.step += 1;
        self.pending.insert(self.step, pending);
        self.step
    }

    /// An encoded request for a volume.
    fn request(&mut self, volume: u32, size: u64, rng: &mut Rng) -> Vec<u8> {
        let truth = &self.truths[&volume];
        let command = match rng.u32(0..100) {
            _ if truth.read_only => command::READ,
            0..50 => command::WRITE,
            50..65 => command::READ,
            65..78 => command::FLUSH,
            78..86 => command::TRIM,
            _ => command::WRITE_ZEROES,
        };
        let first = rng.u64(0..size / SECTOR);
        let max = if rng.bool() { PER_CLUSTER } else { SECTORS_MAX };
        let sectors = rng.u64(1..=max).min(size / SECTOR - first);
        let (first, sectors) = if command == command::FLUSH { (0, 0) } else { (first, sectors) };
        let durable = command != command::READ && rng.u32(0..5) == 0;
        let step = self.ask(Pending::Request { volume, command, first, durable });
        let truth = self.truths.get_mut(&volume).unwrap();
        let mut payload = Vec::new();
        match command {
            command::WRITE => {
                let values: Vec<u64> = (0..sectors).map(|sector| step * 1_000 + sector).collect();
                truth.give(first as usize, &values, step);
                payload.extend(values.into_iter().flat_map(sector));
            }
            command::WRITE_ZEROES => truth.give(first as usize, &vec![0; sectors as usize], step),
            command::TRIM => {
                let (from, until) =
                    (first.next_multiple_of(PER_CLUSTER), (first + sectors) / PER_CLUSTER * PER_CLUSTER);
                truth.give(from.min(until) as usize, &vec![0; until.saturating_sub(from) as usize], step);
            }
            _ => {}
        }
        let keeps = command == command::WRITE_ZEROES && rng.bool();
        let flags = if durable { command_flag::FUA } else { 0 } | if keeps { command_flag::NO_HOLE } else { 0 };
        let wire_request =
            WireRequest { flags, command, cookie: step, offset: first * SECTOR, length: sectors * SECTOR };
        let mut bytes = Vec::new();
        wire_request.write(Style::Structured, &mut bytes);
        bytes.extend(payload);
        bytes
    }

    /// A request was answered successfully.
    fn replied(&mut self, at: Step, payload: &[u8]) {
        let Some(Pending::Request { volume, command, first, durable }) = self.pending.remove(&at) else {
            panic!("a reply to an unknown request: {at}")
        };
        self.step += 1;
        self.counts.requests += 1;
        let remember = !self.pending.is_empty();
        match command {
            // Reads may already see a restore that is not durable yet.
            command::READ if self.pending.values().any(|other| other.edited() == Some(volume)) => {}
            command::READ => {
                let truth = self.truths.get_mut(&volume).unwrap();
                for (index, value) in read_values(payload).iter().enumerate() {
                    let at_sector = first as usize + index;
                    // A read concurrent with a write may see a part of it.
                    let Some(value) = value else {
                        let allowed = truth.sectors[at_sector].readable(at);
                        assert!(allowed.len() > 1, "volume {volume}, sector {at_sector} is torn, allowed {allowed:?}");
                        continue;
                    };
                    let read = truth.read(at_sector, &[*value], at, self.step);
                    read.unwrap_or_else(|why| panic!("volume {volume}: {why}"));
                }
            }
            command::FLUSH => {
                self.counts.flushes += 1;
                for truth in self.truths.values_mut() {
                    truth.flushed(at, remember);
                }
            }
            _ => self.truths.get_mut(&volume).unwrap().answered(at, self.step, durable),
        }
    }

    /// A random edit that is currently possible, and its command line.
    fn edit(&mut self, rng: &mut Rng) -> (Step, String) {
        let all: Vec<u32> = self.truths.keys().copied().collect();
        let writable: Vec<u32> = all.iter().copied().filter(|volume| !self.truths[volume].read_only).collect();
        let of = all[rng.usize(..all.len())];
        let volume = writable[rng.usize(..writable.len())];
        let sectors = self.truths[&volume].sectors.len() as u64;
        let idle = all.iter().rev().copied().find(|volume| *volume != 0 && !self.connected.contains(volume));
        let (pending, line) = match (rng.u32(0..8), idle) {
            (_, Some(idle)) if all.len() > VOLUMES_MAX => (Pending::Delete { volume: idle }, format!("delete {idle}")),
            (0..2, _) if of != volume && self.truths[&of].sectors.len() as u64 <= sectors => {
                (Pending::Restore { volume, from: of }, format!("restore {volume} {of}"))
            }
            (2, _) if sectors < 2 * SIZE / SECTOR => {
                let sectors = sectors + PER_CLUSTER;
                (Pending::Grow { volume, sectors }, format!("grow {volume} {}", sectors * SECTOR))
            }
            (3, Some(idle)) => (Pending::Delete { volume: idle }, format!("delete {idle}")),
            (4, _) => (Pending::Fork { of, snapshot: false }, format!("clone {of}")),
            _ => (Pending::Fork { of, snapshot: true }, format!("snapshot {of}")),
        };
        (self.ask(pending), line)
    }

    /// An edit was answered successfully.
    fn edited(&mut self, at: Step, created: u32) {
        self.step += 1;
        self.counts.edits += 1;
        let edit = self.pending.remove(&at).unwrap();
        match edit {
            Pending::Fork { of, snapshot } => {
                let truth = self.truths[&of].forked(at, self.step, snapshot);
                assert!(self.truths.insert(created, truth).is_none(), "volume {created} was created twice");
            }
            Pending::Restore { volume, from } => {
                let source = self.truths[&from].clone();
                self.truths.get_mut(&volume).unwrap().restored(&source, at, self.step);
            }
            Pending::Grow { volume, sectors } => self.truths.get_mut(&volume).unwrap().grow(sectors as usize),
            Pending::Delete { volume } => drop(self.truths.remove(&volume)),
            Pending::Request { .. } => panic!("{edit:?} is not an edit"),
        }
    }

    /// Compares the state of a restarted server with the acknowledged state, and continues from it.
    fn compare(&mut self, server: &mut Killed) {
        self.step += 1;
        self.counts.killed_in_flight += self.pending.len() as u64;
        let pending = std::mem::take(&mut self.pending);
        let doubtful: BTreeSet<u32> = pending.values().filter_map(Pending::edited).collect();
        let mut forks = pending.values().filter(|edit| matches!(edit, Pending::Fork { .. })).count();
        let there = server.list();
        for volume in self.truths.keys() {
            let is_there = there.iter().any(|(number, ..)| number == volume);
            assert!(is_there || doubtful.contains(volume), "volume {volume} is lost");
        }
        for (volume, size, read_only) in &there {
            let bytes = read_all(&mut server.talk(*volume), *size);
            let found: Vec<u64> = read_values(&bytes)
                .iter()
                .enumerate()
                .map(|(at, value)| value.unwrap_or_else(|| panic!("volume {volume}, sector {at} is torn")))
                .collect();
            match self.truths.get(volume) {
                Some(truth) if !doubtful.contains(volume) => {
                    assert_eq!((found.len(), *read_only), (truth.sectors.len(), truth.read_only), "volume {volume}");
                    truth.survived(&found).unwrap_or_else(|why| panic!("volume {volume}: {why}"));
                }
                Some(_) => {}
                None => {
                    assert!(forks > 0, "volume {volume} has no origin");
                    forks -= 1;
                }
            }
            self.truths.insert(*volume, Truth::adopt(&found, self.step, *read_only));
        }
        self.truths.retain(|volume, _| there.iter().any(|(number, ..)| number == volume));
    }
}

fn read_all(talk: &mut Talk, size: u64) -> Vec<u8> {
    let wire_request = WireRequest { command: command::READ, cookie: 1, length: size, ..WireRequest::default() };
    let mut bytes = Vec::new();
    wire_request.write(Style::Structured, &mut bytes);
    talk.socket().write(&bytes).unwrap();
    read_payload(talk).unwrap().1
}

/// The next reply: its step and the data of a read.
fn read_payload(talk: &mut Talk) -> Result<(Step, Vec<u8>), TalkError> {
    let answer = talk.chunk(0)?;
    assert_eq!(answer.errno(), 0, "request {} failed", answer.cookie);
    let bytes = match answer.kind {
        chunk::OFFSET_DATA => answer.payload[8..].to_vec(),
        chunk::OFFSET_HOLE => vec![0; u32::from_be_bytes(answer.payload[8..12].try_into().unwrap()) as usize],
        _ => Vec::new(),
    };
    Ok((answer.cookie, bytes))
}

/// A client that sends requests until the server is killed.
fn client(world: &Mutex<World>, talk: &mut Talk, volume: u32, size: u64, mut rng: Rng) {
    let mut in_flight = 0;
    loop {
        while in_flight < DEPTH {
            let bytes = world.lock().unwrap().request(volume, size, &mut rng);
            if talk.socket().write(&bytes).is_err() {
                return;
            }
            in_flight += 1;
        }
        let Ok((at, bytes)) = read_payload(talk) else { return };
        world.lock().unwrap().replied(at, &bytes);
        in_flight -= 1;
    }
}

/// Edits the store until the server is killed.
fn editor(world: &Mutex<World>, control: &mut BufReader<UnixStream>, mut rng: Rng) {
    loop {
        let (at, line) = world.lock().unwrap().edit(&mut rng);
        let Some(answer) = say(control, &line) else { return };
        let created = answer.strip_prefix("ok ").unwrap_or_else(|| panic!("{line}: {answer}"));
        world.lock().unwrap().edited(at, created.parse().unwrap());
        std::thread::sleep(Duration::from_micros(rng.u64(0..5_000)));
    }
}

/// Loads a server with requests, and kills it.
fn life_and_death(world: World, server: &mut Killed, rng: &mut Rng) -> World {
    // Snapshots reply so fast that a client of a snapshot starves the others.
    let snapshots = rng.u32(0..4) == 0;
    let volumes: Vec<(u32, u64, bool)> =
        server.list().into_iter().filter(|(.., read_only)| snapshots || !read_only).collect();
    let chosen: Vec<(u32, u64)> = (0..rng.usize(1..4))
        .map(|_| volumes[rng.usize(..volumes.len())])
        .map(|(volume, size, _)| (volume, size))
        .collect();
    let mut talks: Vec<Talk> = chosen.iter().map(|(volume, _)| server.talk(*volume)).collect();
    let connected = chosen.iter().map(|(volume, _)| *volume).collect();
    let world = Mutex::new(World { connected, ..world });
    let mut control = BufReader::new(server.control().get_ref().try_clone().unwrap());
    std::thread::scope(|scope| {
        let world = &world;
        for ((volume, size), talk) in chosen.iter().zip(&mut talks) {
            let rng = rng.fork();
            scope.spawn(move || client(world, talk, *volume, *size, rng));
        }
        let seed = rng.fork();
        let control = &mut control;
        scope.spawn(move || editor(world, control, seed));
        std::thread::sleep(Duration::from_micros(rng.u64(0..80_000)));
        server.kill();
    });
    world.into_inner().unwrap()
}

/// A log that lost a confirmed part is refused, whether it was truncated, zeroed or overwritten.
fn refuse_damage(base: &Path, rng: &mut Rng) {
    let directory = base.join("data");
    let (path, superblock) = (directory.join("log"), std::fs::read(directory.join("superblock")).unwrap());
    let (log_bytes, next) = (std::fs::read(&path).unwrap(), Superblock::read(&superblock).unwrap().next);
    let log = Log::read(&log_bytes);
    let confirmed = log.commits.iter().filter(|commit| commit.sequence < next).map(Commit::encoded_bytes).sum::<u64>();
    // No attempt if it was killed between a new log and its confirmation.
    let attempts = if confirmed > 0 { 3 } else { 0 };
    for _ in 0..attempts {
        let (at, mut damaged) = (rng.usize(0..confirmed as usize), log_bytes.clone());
        match rng.u32(0..3) {
            0 => damaged.truncate(at),
            1 => damaged[at..].fill(0),
            _ => damaged[at] ^= 1 << rng.u32(0..8),
        }
        std::fs::write(&path, &damaged).unwrap();
        let opened = DataFiles::directory(&directory, Checksums::AsMade).map(drop);
        assert!(matches!(opened, Err(DirectoryError::Log { .. })), "damage at {at} of {confirmed}: {opened:?}");
    }
    std::fs::write(&path, log_bytes).unwrap();
}

/// Appends an incomplete commit to the log, as an interrupted append leaves it. It was not acknowledged.
fn tear_log(base: &Path, rng: &mut Rng) {
    let path = base.join("data/log");
    let log_bytes = std::fs::read(&path).unwrap();
    let torn = match rng.u32(0..3) {
        0 => (0..rng.usize(1..300)).map(|_| rng.u8(..)).collect(),
        1 => vec![0; rng.usize(1..300)],
        _ => log_bytes[..rng.usize(0..log_bytes.len().min(25))].to_vec(),
    };
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(&torn).unwrap();
}

pub fn home(name: &str) -> PathBuf {
    let base = std::env::temp_dir().join(format!("plimsoll-crash-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&base);
    std::fs::create_dir_all(&base).unwrap();
    base
}

/// A random number.
fn chance() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn killed_server_keeps_durable_data() {
    let base = home("rounds");
    kill_often(&base);
    std::fs::remove_dir_all(base).unwrap();
}

/// The same with checksums: reads of a false mismatch would fail.
#[test]
fn killed_server_with_checksums_keeps_durable_data() {
    let base = home("checksums");
    std::fs::write(base.join(CHECKSUMS), []).unwrap();
    kill_often(&base);
    let inspection = Inspection::open(&base.join("data")).unwrap();
    assert!(inspection.has_checksums() && inspection.damaged_sums().is_empty());
    let recovered =
        Store::recover(inspection.log().commits.iter().cloned(), &inspection.lengths(), u64::MAX, Unreferenced::Keep);
    for (place, length) in recovered.unwrap().store.places(None) {
        assert_eq!(inspection.scan(place, length).unwrap(), []);
    }
    std::fs::remove_dir_all(base).unwrap();
}

fn kill_often(base: &Path) {
    let rounds = number("PLIMSOLL_CRASH_ROUNDS").unwrap_or(20);
    let seed = number("PLIMSOLL_CRASH_SEED").unwrap_or_else(chance);
    eprintln!("PLIMSOLL_CRASH_SEED={seed}");
    let mut rng = Rng::with_seed(seed);
    let mut world = World::default();
    world.truths.insert(0, Truth::blank((SIZE / SECTOR) as usize));
    for _ in 0..rounds {
        // Recovery is killed as well, at any time.
        for _ in 0..rng.u32(0..3) {
            let mut server = Killed::start(base);
            std::thread::sleep(Duration::from_micros(rng.u64(0..20_000)));
            server.kill();
        }
        let mut server = Killed::start(base);
        server.ready().expect("the server recovers");
        world.compare(&mut server);
        world = life_and_death(world, &mut server, &mut rng);
        refuse_damage(base, &mut rng);
        if rng.u32(0..3) == 0 {
            tear_log(base, &mut rng);
        }
    }
    eprintln!("{:?}, {} volumes", world.counts, world.truths.len());
    assert!(world.counts.requests > rounds && world.counts.edits > 0, "no work was done: {:?}", world.counts);
}
