//! Random requests, edits, failures and crashes: acknowledged flushes and FUA writes are never lost, and snapshots
//! never change.

use std::collections::{BTreeMap, BTreeSet};

use crate::disk::{Disk, Luck, SECTOR};
use crate::truth::{Step, Truth};
use fastrand::Rng;
use plimsoll_model::parse;
use plimsoll_units::{Instant, Span};
use plimsoll_volume::{
    Command, Edit, Export, FileJob, Geometry, Limits, Request, Serving, Slow, Space, Store, Ticket, VolumeAccess,
    VolumeId, Volumes,
};
use proptest::prelude::*;

const GEOMETRY: Geometry = Geometry { cluster_bytes: 4096, clusters_per_file: 32 };
const PER_CLUSTER: u64 = 4096 / SECTOR;
const VOLUME: u64 = 12 * 4096 + 1024;
/// Clusters of a store: sufficient, or scarce for three volumes.
const CAPACITIES: [u64; 2] = [160 * 4096, 40 * 4096];

#[derive(Clone, Copy, Debug)]
enum Action {
    Ask { command: Command, volume: u8, at: u8, sectors: u8, fua: bool },
    Create,
    Fork { of: u8, access: VolumeAccess },
    Restore { volume: u8, from: u8 },
    Grow { volume: u8 },
    Delete { volume: u8 },
    Work { jobs: u8, luck: Luck },
    Crash,
}

fn actions(crashes: u32, failures: u32) -> impl Strategy<Value = Vec<Action>> {
    let command = prop_oneof![
        6 => Just(Command::Write),
        3 => Just(Command::Read),
        3 => Just(Command::Flush),
        1 => Just(Command::Trim),
        1 => Just(Command::WriteZeroes { space: Space::Free }),
        1 => Just(Command::WriteZeroes { space: Space::Keep }),
        1 => Just(Command::Cache),
    ];
    let sectors = prop_oneof![4 => 1..9_u8, 1 => 9..60_u8];
    let ask = (command, 0..6_u8, 0..100_u8, sectors, prop::bool::weighted(0.2))
        .prop_map(|(command, volume, at, sectors, fua)| Action::Ask { command, volume, at, sectors, fua });
    let access = prop_oneof![Just(VolumeAccess::ReadOnly), Just(VolumeAccess::ReadWrite)];
    let action = prop_oneof![
        40 => ask,
        1 => Just(Action::Create),
        3 => (0..6_u8, access).prop_map(|(of, access)| Action::Fork { of, access }),
        1 => (0..6_u8, 0..6_u8).prop_map(|(volume, from)| Action::Restore { volume, from }),
        1 => (0..6_u8).prop_map(|volume| Action::Grow { volume }),
        2 => (0..6_u8).prop_map(|volume| Action::Delete { volume }),
        30 => (1..12_u8).prop_map(|jobs| Action::Work { jobs, luck: Luck::Good }),
        failures => (1..4_u8).prop_map(|jobs| Action::Work { jobs, luck: Luck::NoSpace }),
        crashes => Just(Action::Crash),
    ];
    prop::collection::vec(action, 1..250)
}

/// Requests and edits without a reply.
#[derive(Clone, Debug)]
enum PendingOp {
    Request { volume: VolumeId, request: Request, at: Step },
    Make { volume: VolumeId, of: Option<VolumeId>, access: VolumeAccess, at: Step },
    Restore { volume: VolumeId, from: VolumeId, at: Step },
    Grow { volume: VolumeId, sectors: usize },
    Delete { volume: VolumeId },
}

impl PendingOp {
    /// The volume that is created, deleted or overwritten.
    fn edited(&self) -> Option<VolumeId> {
        match *self {
            Self::Make { volume, .. }
            | Self::Delete { volume }
            | Self::Restore { volume, .. }
            | Self::Grow { volume, .. } => Some(volume),
            Self::Request { .. } => None,
        }
    }
}

struct World {
    capacity: u64,
    volumes: Volumes,
    disk: Disk,
    random: Rng,
    jobs: Vec<FileJob>,
    truths: BTreeMap<VolumeId, Truth>,
    exports: BTreeMap<VolumeId, Export>,
    pending: BTreeMap<Ticket, PendingOp>,
    step: Step,
    /// Volumes with an edit that may or may not have become durable.
    doubtful: BTreeSet<VolumeId>,
    /// True after a failure: refusals are then acceptable.
    failures: bool,
}

/// Forces frequent full commits, so that short tests cover them.
fn commit_fully_often(mut store: Store) -> Store {
    store.set_records_kept(8);
    store
}

fn serve(volumes: &mut Volumes, now: Instant, volume: VolumeId) -> Export {
    let model = parse("link(1ns)").unwrap();
    volumes.serve(now, &Serving { volume, model, seed: 0, limits: Limits::default(), group: None }).unwrap()
}

impl World {
    fn new(seed: u64) -> Self {
        let capacity = CAPACITIES[(seed % 2) as usize];
        let mut world = Self {
            capacity,
            volumes: Volumes::new(commit_fully_often(Store::new(GEOMETRY, capacity)), Slow::NOT),
            disk: Disk::default(),
            random: Rng::with_seed(seed),
            jobs: Vec::new(),
            truths: BTreeMap::new(),
            exports: BTreeMap::new(),
            pending: BTreeMap::new(),
            step: 1,
            doubtful: BTreeSet::new(),
            failures: false,
        };
        world.act(Action::Create);
        world.settle();
        world
    }

    fn now(&self) -> Instant {
        Instant::ZERO + Span::from_micros(self.step)
    }

    fn pick(&self, index: u8) -> Option<VolumeId> {
        self.exports.keys().nth(usize::from(index) % self.exports.len().max(1)).copied()
    }

    fn act(&mut self, action: Action) {
        self.step += 1;
        let picked = |index| self.pick(index);
        match action {
            Action::Ask { command, volume, at, sectors, fua } => {
                if let Some(volume) = picked(volume) {
                    self.ask(command, volume, at, sectors, fua);
                }
            }
            Action::Create => {
                let text = format!("made at {}", self.step);
                self.make(&Edit::Create { size: VOLUME, text }, None, VolumeAccess::ReadWrite);
            }
            Action::Fork { of, access } => {
                if let Some(of) = picked(of).filter(|_| self.truths.len() < 12) {
                    let edit = match access {
                        VolumeAccess::ReadOnly => Edit::Snapshots { of: vec![(of, String::new())] },
                        VolumeAccess::ReadWrite => Edit::Fork { of, access, text: String::new() },
                    };
                    self.make(&edit, Some(of), access);
                }
            }
            Action::Restore { volume, from } => {
                if let (Some(volume), Some(from)) = (picked(volume), picked(from)) {
                    self.edit(&Edit::Restore { volume, from }, PendingOp::Restore { volume, from, at: self.step });
                }
            }
            Action::Grow { volume } => {
                if let Some(volume) = picked(volume) {
                    let sectors = self.truths[&volume].sectors.len() + 5;
                    let size = sectors as u64 * SECTOR;
                    self.edit(&Edit::Grow { volume, size, text: None }, PendingOp::Grow { volume, sectors });
                }
            }
            Action::Delete { volume } => {
                if let Some(volume) = picked(volume).filter(|_| self.exports.len() > 1) {
                    self.delete(volume);
                }
            }
            Action::Work { jobs, luck } => {
                for _ in 0..jobs {
                    self.work(luck);
                }
            }
            Action::Crash => self.crash(),
        }
        self.answers();
    }

    fn ask(&mut self, command: Command, volume: VolumeId, at: u8, sectors: u8, fua: bool) {
        let ticket = Ticket(self.step);
        let size = self.truths[&volume].sectors.len() as u64;
        let first = u64::from(at) % size;
        let count = u64::from(sectors).min(size - first);
        let (offset, length) = if command == Command::Flush { (0, 0) } else { (first * SECTOR, count * SECTOR) };
        let request = Request { command, offset, length, fua };
        let values: Vec<u64> = (0..count).map(|sector| self.step * 1_000 + sector).collect();
        self.disk
            .payloads
            .insert(ticket, if command == Command::Read { vec![u64::MAX; count as usize] } else { values });
        let accepted = self.volumes.accept(self.now(), self.exports[&volume], None, ticket, &request, &mut self.jobs);
        let given = self.given(&request, ticket);
        if accepted.is_ok() {
            let truth = self.truths.get_mut(&volume).unwrap();
            for (first, values) in given {
                truth.give(first, &values, self.step);
            }
            let end = (request.offset + request.length) / SECTOR;
            if command == Command::Trim && end == truth.sectors.len() as u64 {
                // The partial last cluster is trimmed, too, unless the volume was grown meanwhile: uncertain.
                let from = (end / PER_CLUSTER * PER_CLUSTER) as usize;
                truth.give(from, &vec![0; end as usize - from], self.step - 1);
            }
            self.pending.insert(ticket, PendingOp::Request { volume, request, at: self.step });
        } else {
            self.disk.payloads.remove(&ticket);
            let excused = self.failures || self.truths[&volume].read_only || self.is_full();
            assert!(excused, "{accepted:?} to {request:?}");
        }
        self.disk.take_over(&mut self.jobs);
    }

    fn is_full(&self) -> bool {
        self.capacity == CAPACITIES[1] || self.volumes.store().usage().available < 20 * 4096
    }

    /// Values that a request writes, by sector.
    fn given(&self, request: &Request, ticket: Ticket) -> Vec<(usize, Vec<u64>)> {
        let first = request.offset / SECTOR;
        let end = first + request.length / SECTOR;
        match request.command {
            Command::Write => vec![(first as usize, self.disk.payloads[&ticket].clone())],
            Command::WriteZeroes { .. } => vec![(first as usize, vec![0; (end - first) as usize])],
            Command::Trim => {
                let (from, until) = (first.next_multiple_of(PER_CLUSTER), end / PER_CLUSTER * PER_CLUSTER);
                vec![(from.min(until) as usize, vec![0; until.saturating_sub(from) as usize])]
            }
            Command::Read | Command::Flush | Command::Cache => Vec::new(),
        }
    }

    fn make(&mut self, edit: &Edit, of: Option<VolumeId>, access: VolumeAccess) {
        if let Ok(volume) = self.volumes.edit(Ticket(self.step), edit, &mut self.jobs) {
            self.pending.insert(Ticket(self.step), PendingOp::Make { volume, of, access, at: self.step });
        }
        self.disk.take_over(&mut self.jobs);
    }

    fn edit(&mut self, edit: &Edit, pending: PendingOp) {
        if self.volumes.edit(Ticket(self.step), edit, &mut self.jobs).is_ok() {
            self.pending.insert(Ticket(self.step), pending);
        }
        self.disk.take_over(&mut self.jobs);
    }

    fn delete(&mut self, volume: VolumeId) {
        let edit = Edit::Delete { volume };
        assert!(self.volumes.edit(Ticket(self.step), &edit, &mut self.jobs).is_err(), "it is served");
        if !self.volumes.withdraw(self.exports[&volume]) {
            let export = self.exports[&volume];
            self.finish_until(|world| world.volumes.in_flight(export) == 0);
        }
        if self.volumes.edit(Ticket(self.step), &edit, &mut self.jobs).is_ok() {
            self.exports.remove(&volume);
            self.pending.insert(Ticket(self.step), PendingOp::Delete { volume });
        } else {
            // Refused if an edit of the volume is pending.
            let export = serve(&mut self.volumes, Instant::ZERO + Span::from_micros(self.step), volume);
            self.exports.insert(volume, export);
        }
        self.disk.take_over(&mut self.jobs);
    }

    fn work(&mut self, luck: Luck) {
        self.step += 1;
        self.failures |= luck == Luck::NoSpace;
        if let Some((job, outcome)) = self.disk.work(&mut self.random, luck) {
            self.volumes.worked(self.now(), job, outcome, &mut self.jobs);
            self.disk.take_over(&mut self.jobs);
        }
        self.answers();
    }

    fn answers(&mut self) {
        self.step += 1;
        let mut replies = Vec::new();
        self.volumes.drain(self.now(), &mut replies);
        for reply in replies {
            let pending = self.pending.remove(&reply.ticket).expect("one reply for each request");
            let payload = self.disk.payloads.remove(&reply.ticket);
            assert!(reply.outcome.is_ok() || self.failures || self.is_full(), "{reply:?} to {pending:?}");
            if reply.outcome.is_ok() {
                self.replied(&pending, &payload.unwrap_or_default());
            }
        }
        for edited in self.volumes.edited() {
            let pending = self.pending.remove(&edited.ticket).expect("one end for each edit");
            assert!(edited.outcome.is_ok() || self.failures, "{edited:?}");
            // A failed edit has been executed, and becomes durable with the next commit.
            if edited.outcome.is_err() {
                self.doubtful.extend(pending.edited());
            }
            self.apply_edit(&pending);
        }
    }

    fn replied(&mut self, pending: &PendingOp, payload: &[u64]) {
        let PendingOp::Request { volume, request, at } = *pending else { panic!("{pending:?} is a request") };
        let truth = self.truths.get_mut(&volume).unwrap();
        let first = (request.offset / SECTOR) as usize;
        match request.command {
            // Reads observe a restore before it is durable.
            Command::Read if self.pending.values().any(|pending| pending.edited() == Some(volume)) => {}
            Command::Read => {
                truth.read(first, payload, at, self.step).unwrap_or_else(|why| panic!("{volume:?}: {why}"));
            }
            Command::Flush => {
                let others = !self.pending.is_empty();
                for truth in self.truths.values_mut() {
                    truth.flushed(at, others);
                }
            }
            Command::Cache => {}
            Command::Write | Command::Trim | Command::WriteZeroes { .. } => truth.answered(at, self.step, request.fua),
        }
    }

    fn apply_edit(&mut self, pending: &PendingOp) {
        match *pending {
            PendingOp::Make { volume, of, access, at } => {
                let read_only = access == VolumeAccess::ReadOnly;
                let sectors = (VOLUME / SECTOR) as usize;
                let forked = of.map(|of| self.truths[&of].forked(at, self.step, read_only));
                self.truths.insert(volume, forked.unwrap_or_else(|| Truth::blank(sectors)));
                let export = serve(&mut self.volumes, Instant::ZERO + Span::from_micros(self.step), volume);
                self.exports.insert(volume, export);
                let size = self.volumes.size(export) / SECTOR;
                self.truths.get_mut(&volume).unwrap().grow(size as usize);
            }
            PendingOp::Restore { volume, from, at } => {
                let source = self.truths[&from].clone();
                let truth = self.truths.get_mut(&volume).unwrap();
                truth.grow(source.sectors.len());
                truth.restored(&source, at, self.step);
            }
            PendingOp::Grow { volume, sectors } => self.truths.get_mut(&volume).unwrap().grow(sectors),
            PendingOp::Delete { volume } => drop(self.truths.remove(&volume)),
            PendingOp::Request { .. } => panic!("{pending:?} is an edit"),
        }
    }

    fn finish_until(&mut self, done: impl Fn(&Self) -> bool) {
        let mut steps = 0;
        while !done(self) {
            self.work(Luck::Good);
            steps += 1;
            assert!(steps < 100_000, "hangs: {:?}", self.pending);
        }
    }

    /// Completes all work.
    fn settle(&mut self) {
        self.finish_until(|world| world.disk.is_idle() && world.pending.is_empty());
    }

    fn crash(&mut self) {
        self.disk.crash(&mut self.random);
        self.jobs.clear();
        let Some(recovered) = self.disk.open(self.capacity) else { panic!("the first volume was answered") };
        self.volumes = Volumes::new(commit_fully_often(recovered.store), Slow::NOT);
        self.jobs = recovered.jobs;
        self.disk.take_over(&mut self.jobs);
        self.step += 1;
        let there: BTreeMap<VolumeId, (u64, bool)> = self
            .volumes
            .store()
            .volumes()
            .map(|about| (about.volume, (about.size, about.access == VolumeAccess::ReadOnly)))
            .collect();
        let pending = std::mem::take(&mut self.pending);
        let mut doubtful = std::mem::take(&mut self.doubtful);
        doubtful.extend(pending.values().filter_map(PendingOp::edited));
        self.exports.clear();
        for (&volume, &(size, read_only)) in &there {
            let export = serve(&mut self.volumes, Instant::ZERO + Span::from_micros(self.step), volume);
            self.exports.insert(volume, export);
            let values = self.read_all(export, size);
            match self.truths.get(&volume) {
                Some(truth) if !doubtful.contains(&volume) => {
                    assert!(values.len() >= truth.sectors.len(), "{volume:?} shrank");
                    truth.survived(&values).unwrap_or_else(|why| panic!("{volume:?}: {why}"));
                }
                _ => assert!(doubtful.contains(&volume), "{volume:?} came from nowhere"),
            }
            self.truths.insert(volume, Truth::adopt(&values, self.step, read_only));
        }
        for volume in self.truths.keys() {
            assert!(there.contains_key(volume) || doubtful.contains(volume), "{volume:?} is lost");
        }
        self.truths.retain(|volume, _| there.contains_key(volume));
        self.failures = false;
    }

    fn read_all(&mut self, export: Export, size: u64) -> Vec<u64> {
        self.step += 1;
        let ticket = Ticket(self.step);
        let request = Request { command: Command::Read, offset: 0, length: size, fua: false };
        self.disk.payloads.insert(ticket, vec![u64::MAX; (size / SECTOR) as usize]);
        self.volumes.accept(self.now(), export, None, ticket, &request, &mut self.jobs).unwrap();
        self.disk.take_over(&mut self.jobs);
        let mut replies = Vec::new();
        while replies.is_empty() {
            if let Some((job, _)) = self.disk.work(&mut self.random, Luck::Good) {
                self.volumes.worked(self.now(), job, Ok(()), &mut self.jobs);
                self.disk.take_over(&mut self.jobs);
            }
            self.step += 1;
            self.volumes.drain(self.now(), &mut replies);
        }
        self.disk.payloads.remove(&ticket).unwrap()
    }
}

fn play(actions: Vec<Action>, seed: u64) -> World {
    let mut world = World::new(seed);
    for action in actions {
        world.act(action);
    }
    world.settle();
    world
}

/// A sequence with every kind of action and a job after each, with a crash after every job.
#[test]
fn crash_after_every_job_loses_no_acknowledged_data() {
    let write = |volume, at, sectors, fua| Action::Ask { command: Command::Write, volume, at, sectors, fua };
    let ask = |command, volume, at, sectors| Action::Ask { command, volume, at, sectors, fua: false };
    let free = Command::WriteZeroes { space: Space::Free };
    let life = [
        write(0, 0, 40, false),
        write(0, 3, 2, true),
        ask(Command::Flush, 0, 0, 0),
        Action::Fork { of: 0, access: VolumeAccess::ReadOnly },
        write(0, 5, 30, false),
        Action::Fork { of: 0, access: VolumeAccess::ReadWrite },
        ask(Command::Flush, 0, 0, 0),
        write(2, 1, 3, true),
        ask(Command::Trim, 0, 8, 16),
        ask(free, 0, 30, 9),
        Action::Grow { volume: 0 },
        write(0, 90, 9, false),
        ask(Command::Flush, 0, 0, 0),
        Action::Restore { volume: 0, from: 1 },
        write(0, 0, 8, true),
        Action::Delete { volume: 1 },
        write(0, 20, 60, true),
        ask(Command::Flush, 1, 0, 0),
    ];
    let jobs = |count: usize| vec![Action::Work { jobs: 1, luck: Luck::Good }; count];
    let sequence: Vec<Action> = life.iter().flat_map(|action| [vec![*action], jobs(5)].concat()).collect();
    for until in 0..=sequence.len() {
        for seed in 0..10 {
            let mut world = World::new(seed);
            for action in &sequence[..until] {
                world.act(*action);
            }
            world.crash();
            world.settle();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn acknowledged_flushes_survive_crashes(actions in actions(6, 0), seed: u64) {
        play(actions, seed).crash();
    }

    #[test]
    fn failures_and_crashes_lose_no_acknowledged_data(actions in actions(4, 6), seed: u64) {
        play(actions, seed).crash();
    }

    #[test]
    fn no_space_is_lost_without_a_crash(actions in actions(0, 0), seed: u64) {
        let mut world = play(actions, seed);
        let volume = world.pick(0).unwrap();
        world.ask(Command::Flush, volume, 0, 0, false);
        world.settle();
        let taken = world.volumes.store().usage().taken;
        world.crash();
        world.settle();
        prop_assert_eq!(world.volumes.store().usage().taken, taken);
    }
}
