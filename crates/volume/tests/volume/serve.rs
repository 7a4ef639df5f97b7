//! Times of replies: model and real work combined, within limits, with faults, dilated.

use crate::disk::{Disk, Luck, SECTOR};
use fastrand::Rng;
use plimsoll_model::{Chain, Model, parse};
use plimsoll_units::{Instant, Kind, Op, Slot, Span};
use plimsoll_volume::{
    Bound, Class, Command, Durability, Edit, EditError, Errno, Export, Faults, FidelityVerdict, FileJob, Geometry, Io,
    Lead, Limits, NotAccepted, NotServed, Reply, Request, Serving, Slow, Space, Store, StoreHealth, Then, Ticket,
    VolumeAccess, VolumeId, Volumes,
};
use proptest::prelude::*;

const SIZE: u64 = 64 << 20;

pub struct World {
    pub volumes: Volumes,
    disk: Disk,
    random: Rng,
    jobs: Vec<FileJob>,
    replies: Vec<Reply>,
    next: u64,
}

pub const fn at(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

const fn request(command: Command, block: u64, length: u64) -> Request {
    Request { command, offset: block * 4096, length, fua: false }
}

pub const READ: Request = request(Command::Read, 0, 4096);
const WRITE: Request = request(Command::Write, 0, 4096);

impl World {
    pub fn new(slow: u32) -> Self {
        let store = Store::new(Geometry::default(), 1 << 30);
        let volumes = Volumes::new(store, Slow::by(slow));
        let (disk, random) = (Disk::default(), Rng::with_seed(1));
        Self { volumes, disk, random, jobs: Vec::new(), replies: Vec::new(), next: 1_000_000 }
    }

    fn edit(&mut self, edit: &Edit) -> VolumeId {
        self.next += 1;
        let volume = self.volumes.edit(Ticket(self.next), edit, &mut self.jobs).unwrap();
        self.work(Instant::ZERO);
        assert!(self.volumes.edited().iter().all(|edited| edited.outcome.is_ok()));
        volume
    }

    pub fn create(&mut self) -> VolumeId {
        self.edit(&Edit::Create { size: SIZE, text: "test".to_owned() })
    }

    fn serve(&mut self, volume: VolumeId, model: &str, limits: Limits) -> Result<Export, NotServed> {
        let model = parse(model).unwrap();
        self.volumes.serve(Instant::ZERO, &Serving { volume, model, seed: 3, limits, group: None })
    }

    pub fn accept(&mut self, now: Instant, export: Export, request: &Request) -> Result<Ticket, NotAccepted> {
        self.accept_on(now, export, None, request)
    }

    fn accept_on(
        &mut self,
        now: Instant,
        export: Export,
        path: Option<u8>,
        request: &Request,
    ) -> Result<Ticket, NotAccepted> {
        self.next += 1;
        let ticket = Ticket(self.next);
        let sectors = request.length.min(1 << 26) / SECTOR;
        self.disk.payloads.insert(ticket, vec![self.next; sectors as usize]);
        self.volumes.accept(now, export, path, ticket, request, &mut self.jobs).map(|()| ticket)
    }

    /// Executes all jobs.
    pub fn work(&mut self, now: Instant) {
        self.disk.take_over(&mut self.jobs);
        while let Some((job, _)) = self.disk.work(&mut self.random, Luck::Good) {
            self.volumes.worked(now, job, Ok(()), &mut self.jobs);
            self.disk.take_over(&mut self.jobs);
        }
    }

    pub fn drain(&mut self, now: Instant) -> Vec<Reply> {
        self.volumes.drain(now, &mut self.replies);
        std::mem::take(&mut self.replies)
    }

    /// A volume with this model and default limits.
    fn with(model: &str) -> (Self, Export) {
        let mut world = Self::new(1);
        let volume = world.create();
        let export = world.serve(volume, model, Limits::default()).unwrap();
        (world, export)
    }
}

#[test]
fn reply_leaves_when_model_and_work_are_done() {
    let (mut world, export) = World::with("link(100us)");
    world.accept(at(0), export, &READ).unwrap();
    world.work(at(10_000));
    assert_eq!(world.volumes.wake_at(), Some(at(100_000)));
    assert_eq!(world.drain(at(99_999)), []);
    let replies = world.drain(at(100_000));
    assert_eq!((replies[0].due, replies[0].lateness, replies[0].outcome), (at(100_000), Span::ZERO, Ok(())));

    world.accept(at(200_000), export, &READ).unwrap();
    assert_eq!(world.drain(at(300_000)), [], "the model is done, the work is not");
    assert_eq!(world.volumes.wake_at(), None);
    world.work(at(350_000));
    assert_eq!(world.volumes.wake_at(), Some(at(350_000)));
    let replies = world.drain(at(351_000));
    assert_eq!((replies[0].due, replies[0].lateness), (at(300_000), Span::from_nanos(51_000)));
    assert_eq!(world.volumes.in_flight(export), 0);
}

#[test]
fn answers_leave_early_by_their_path_latency() {
    let (mut world, export) = World::with("link(100us)");
    world.volumes.set_lead(export, Lead { path: Span::from_micros(30), front: Span::ZERO });
    world.accept(at(0), export, &READ).unwrap();
    world.work(at(0));
    assert_eq!(world.volumes.wake_at(), Some(at(70_000)));
    let replies = world.drain(at(72_000));
    assert_eq!((replies[0].due, replies[0].lateness), (at(100_000), Span::from_nanos(2_000)));
    assert_eq!(world.volumes.wake_at(), None);
}

#[test]
fn delayed_answers_leave_early_by_their_path_latency() {
    let (mut world, export) = World::with("link(100us)");
    world.volumes.set_lead(export, Lead { path: Span::from_micros(30), front: Span::ZERO });
    let faults = Faults { spikes_ppm: 1_000_000, spike: Span::from_micros(400), ..Faults::default() };
    world.volumes.inject(at(0), export, Some(faults));
    world.accept(at(0), export, &READ).unwrap();
    world.work(at(0));
    assert_eq!(world.drain(at(70_000)), []);
    assert_eq!(world.volumes.wake_at(), Some(at(470_000)));
    let replies = world.drain(at(472_000));
    assert_eq!((replies[0].due, replies[0].lateness), (at(500_000), Span::from_nanos(2_000)));
}

#[test]
fn path_latency_beyond_the_model_is_lateness() {
    let (mut world, export) = World::with("limit(1000000) then link(10us)");
    world.volumes.set_lead(export, Lead { path: Span::from_micros(60), front: Span::ZERO });
    for index in 0..1_000 {
        let now = at(index * 1_000_000);
        world.accept(now, export, &READ).unwrap();
        world.work(now);
        assert_eq!(world.drain(now)[0].lateness, Span::from_micros(50));
    }
    world.drain(at(2_000_000_000));
    let fidelity = world.volumes.fidelity(export).unwrap();
    assert_eq!(fidelity.counted(), (0, 1), "a client of this volume sees 60 us instead of 10");
}

#[test]
fn lateness_is_part_of_the_fidelity() {
    let (mut world, export) = World::with("link(100us)");
    for index in 0..1_000 {
        let now = at(index * 1_000_000);
        world.accept(now, export, &READ).unwrap();
        world.work(now);
        let late = if index % 10 == 0 { 500_000 } else { 0 };
        assert_eq!(world.drain(now + Span::from_nanos(100_000 + late)).len(), 1);
    }
    world.drain(at(2_000_000_000));
    let fidelity = world.volumes.fidelity(export).unwrap();
    let verdicts: Vec<FidelityVerdict> = fidelity.periods().map(|period| period.verdict).collect();
    assert_eq!(verdicts, [FidelityVerdict::Unfaithful(plimsoll_volume::Breach::Tail)]);
    let late = fidelity.lateness();
    assert_eq!((late.count, late.sum_ns), (1_000, 100 * 500_000));
}

#[test]
fn invalid_requests_are_refused_at_once() {
    let (mut world, export) = World::with("link(1us)");
    let mut refused = |request: Request| match world.accept(at(0), export, &request) {
        Err(NotAccepted::Failed(errno)) => errno,
        other => panic!("{other:?} to {request:?}"),
    };
    let end = SIZE / 4096;
    assert_eq!(refused(request(Command::Read, end, 4096)), Errno::Inval);
    assert_eq!(refused(request(Command::Write, end, 4096)), Errno::NoSpc);
    assert_eq!(refused(request(Command::Write, end - 1, 8192)), Errno::NoSpc);
    assert_eq!(refused(request(Command::Trim, end - 1, 8192)), Errno::Inval);
    assert_eq!(refused(request(Command::Read, 0, 0)), Errno::Inval);
    assert_eq!(refused(request(Command::Read, 0, 100)), Errno::Inval);
    assert_eq!(refused(request(Command::Read, 0, (64 << 20) + 512)), Errno::Inval);
    let beyond = Request { command: Command::Read, offset: u64::MAX - 511, length: 1024, fua: false };
    assert_eq!(refused(beyond), Errno::Inval);
    assert!(world.volumes.withdraw(export));
    assert_eq!(world.accept(at(0), export, &READ), Err(NotAccepted::Failed(Errno::Shutdown)));
    assert_eq!(world.accept(at(0), Export(9), &READ), Err(NotAccepted::Failed(Errno::Shutdown)));
}

#[test]
fn snapshot_is_read_only_and_served_volume_is_not_deleted() {
    let (mut world, _) = World::with("link(1us)");
    let fork = Edit::Fork { of: VolumeId(0), access: VolumeAccess::ReadOnly, text: "before".to_owned() };
    let snapshot = world.edit(&fork);
    let export = world.serve(snapshot, "link(1us)", Limits::default()).unwrap();
    assert_eq!(world.accept(at(0), export, &WRITE), Err(NotAccepted::Failed(Errno::Perm)));
    world.accept(at(0), export, &READ).unwrap();
    let served_twice = world.serve(snapshot, "link(1us)", Limits::default());
    assert_eq!(served_twice, Err(NotServed::Twice(snapshot)));
    let delete = world.volumes.edit(Ticket(1), &Edit::Delete { volume: snapshot }, &mut world.jobs);
    assert_eq!(delete, Err(EditError::InUse(snapshot)));
    let about = world.volumes.store().about(snapshot).unwrap();
    assert_eq!((about.access, about.text, about.size), (VolumeAccess::ReadOnly, "before", SIZE));
}

#[test]
fn snapshots_of_several_volumes_are_made_together_or_not_at_all() {
    let mut world = World::new(1);
    let (data, log) = (world.create(), world.create());
    let unknown = Edit::Snapshots { of: vec![(data, String::new()), (VolumeId(99), String::new())] };
    let refused = world.volumes.edit(Ticket(1), &unknown, &mut world.jobs);
    assert_eq!(refused, Err(EditError::Unknown(VolumeId(99))));
    let first = world.edit(&Edit::Snapshots { of: vec![(data, "data".to_owned()), (log, "log".to_owned())] });
    for (number, text) in [(first.0, "data"), (first.0 + 1, "log")] {
        let about = world.volumes.store().about(VolumeId(number)).unwrap();
        assert_eq!((about.access, about.text), (VolumeAccess::ReadOnly, text));
    }
    assert!(world.volumes.store().about(VolumeId(first.0 + 2)).is_none());
}

#[test]
fn limits_bound_requests_in_flight() {
    let mut world = World::new(1);
    let volume = world.create();
    let limits = Limits { requests: 4, bytes: 64 << 10, payload: 1 << 20, block: 512 };
    let export = world.serve(volume, "link(100us)", limits).unwrap();
    world.accept(at(0), export, &request(Command::Read, 0, 1 << 20)).unwrap();
    assert!(!world.volumes.takes(export, 0), "one that is longer than the limit is alone");
    world.work(at(0));
    assert_eq!(world.drain(at(100_000)).len(), 1);
    for _ in 0..4 {
        world.accept(at(100_000), export, &READ).unwrap();
    }
    assert!(!world.volumes.takes(export, 4096));
    assert_eq!(world.accept(at(100_000), export, &READ), Err(NotAccepted::Full));
    world.work(at(100_000));
    assert_eq!(world.drain(at(200_000)).len(), 4);
    assert!(world.volumes.takes(export, 4096));
}

#[test]
fn request_in_parts_is_one_request_to_the_model() {
    let (mut world, export) = World::with("link(100us)");
    for (number, block) in [(1, 0), (2, 16)] {
        let part = request(Command::Write, block, 64 << 10);
        world.disk.payloads.insert(Ticket(number), vec![number; (part.length / SECTOR) as usize]);
        world.volumes.transfer(at(0), export, Ticket(number), &part, &mut world.jobs).unwrap();
    }
    assert!(world.drain(at(0)).is_empty(), "their work is not done");
    world.work(at(0));
    assert_eq!(world.drain(at(0)).len(), 2, "as soon as it is");
    let undivided = request(Command::Write, 0, 128 << 10);
    world.volumes.accept_timing(at(0), export, None, Ticket(3), &undivided).unwrap();
    assert!(world.jobs.is_empty() && world.drain(at(99_999)).is_empty());
    assert_eq!(world.drain(at(100_000)).len(), 1);
    let totals = world.volumes.totals(export).unwrap();
    let writes = Class::Write.index();
    assert_eq!((totals.ops[writes], totals.bytes[writes]), (1, 128 << 10));
    let part = request(Command::Read, 0, 4096);
    world.volumes.transfer(at(100_000), export, Ticket(4), &part, &mut world.jobs).unwrap();
    assert!(!world.volumes.withdraw(export), "a part is being moved");
}

#[test]
fn paths_of_clients_have_the_times_of_the_model_and_are_named() {
    let text = "window(1 on 2 paths: link(1us, 100MB/s on 2 paths) then station(8, 100us)) \"queue\"";
    let (mut world, export) = World::with(text);
    let mut model = Chain::new(&parse(text).unwrap(), 3);
    for (number, path) in [Some(1), Some(0), Some(1), None, Some(1)].into_iter().enumerate() {
        let now = at(number as u64 * 10_000);
        world.accept_on(now, export, path, &READ).unwrap();
        let op = Op { offset: 0, length: 4096, kind: Kind::Read, stream: 0 };
        model.submit_on(now, Slot(number as u32), &op, path);
    }
    world.work(at(0));
    let mut answers = Vec::new();
    model.drain(Instant::NEVER, &mut answers);
    let due: Vec<Instant> = world.drain(at(10_000_000)).iter().map(|reply| reply.due).collect();
    assert_eq!(due, answers.iter().map(|answer| answer.at).collect::<Vec<_>>(), "real time agrees with virtual time");
    let bound: Vec<(&str, u64)> = world.volumes.totals(export).unwrap().bound_by_volume().collect();
    assert!(bound.contains(&("queue, path 2", 2)), "two requests waited for the window of their path: {bound:?}");
}

#[test]
fn time_at_a_limit_counts_once_for_all_requests_that_it_delayed() {
    // 1,000 operations a second after a first one; the answer of the station takes 100 us.
    let (mut world, export) = World::with("limit(1000) \"rate\" then station(8, 100us) \"media\"");
    for _ in 0..5 {
        world.accept(at(0), export, &READ).unwrap();
    }
    world.work(at(0));
    world.drain(at(20_000_000));
    // The first is held by the media, the last is answered after 4 ms at the limit and 0.1 ms.
    let limited = world.volumes.totals(export).unwrap().limited.map(|time| time.length().as_nanos());
    assert_eq!(limited, [4_100_000, 0]);
    // Alone it waits for no limit.
    world.accept(at(30_000_000), export, &READ).unwrap();
    world.work(at(30_000_000));
    world.drain(at(40_000_000));
    assert_eq!(world.volumes.totals(export).unwrap().limited[0].length().as_nanos(), 4_100_000);
}

#[test]
fn limits_of_bytes_and_of_the_group_have_their_own_time() {
    let mut world = World::new(1);
    let group = world.volumes.group(&parse("limit(1000) then limit(1MB/s, burst 4KiB)").unwrap(), 0);
    let volume = world.create();
    let model = parse("limit(4096kB/s) then link(1us)").unwrap();
    let serving = Serving { volume, model, seed: 3, limits: Limits::default(), group: Some(group) };
    let export = world.volumes.serve(at(0), &serving).unwrap();
    for _ in 0..3 {
        world.accept(at(0), export, &READ).unwrap();
    }
    world.work(at(0));
    world.drain(at(1_000_000_000));
    let totals = world.volumes.totals(export).unwrap();
    let by_group: Vec<u64> = totals.limited_by_group.iter().map(|time| time.length().as_nanos()).collect();
    assert_eq!(totals.limited.map(|time| time.length().is_zero()), [true, true], "the group holds them longer");
    assert!(by_group[1] > 8_000_000 && by_group[0] == 0, "3 x 4,096 bytes at 1 MB/s: {by_group:?}");
}

#[test]
fn trims_of_terabytes_are_one_operation() {
    let mut world = World::new(1);
    let volume = world.edit(&Edit::Create { size: 100 << 40, text: String::new() });
    let export = world.serve(volume, "limit(100MB/s) then link(10us)", Limits::default()).unwrap();
    let far = (90 << 40) / 4096;
    world.accept(at(0), export, &request(Command::Write, far, 65_536)).unwrap();
    world.work(at(0));
    assert_eq!(world.volumes.store().usage().taken, 65_536);
    world.drain(at(1_000_000));
    world.accept(at(1_000_000), export, &request(Command::Trim, 0, 100 << 40)).unwrap();
    world.work(at(1_000_000));
    assert_eq!(world.drain(at(1_010_000)).len(), 1);
    assert_eq!(world.volumes.extents(export, 0, 100 << 40, 8).len(), 1);
    world.accept(at(1_010_000), export, &request(Command::Flush, 0, 0)).unwrap();
    world.work(at(1_010_000));
    assert_eq!(world.volumes.store().usage().taken, 0);
}

#[test]
fn extents_show_allocation() {
    let (mut world, export) = World::with("link(1us)");
    world.accept(at(0), export, &request(Command::Write, 16, 4096)).unwrap();
    let keep = Command::WriteZeroes { space: Space::Keep };
    world.accept(at(0), export, &request(keep, 48, 128 << 10)).unwrap();
    world.work(at(0));
    let extents = world.volumes.extents(export, 4096, SIZE, 8);
    let observed: Vec<(u64, bool)> = extents.iter().map(|extent| (extent.length >> 10, extent.allocated)).collect();
    assert_eq!(observed, [(60, false), (64, true), (64, false), (128, true), ((64 << 10) - 320, false)]);
    assert_eq!(world.volumes.extents(export, 4096, SIZE, 2).len(), 2);
    assert_eq!(world.volumes.extents(export, 65_536, 512, 8)[0].length, 512);
}

#[test]
fn full_store_fails_writes_and_recovers() {
    let (mut world, export) = World::with("link(1us)");
    world.volumes.set_capacity(2 << 16);
    for block in [0, 16] {
        world.accept(at(0), export, &request(Command::Write, block, 4096)).unwrap();
    }
    world.work(at(0));
    let ticket = world.accept(at(0), export, &request(Command::Write, 32, 4096)).unwrap();
    let replies = world.drain(at(1_000));
    let failed = replies.iter().find(|reply| reply.ticket == ticket).unwrap();
    assert_eq!(failed.outcome, Err(Errno::NoSpc));
    world.accept(at(1_000), export, &request(Command::Trim, 0, 65_536)).unwrap();
    // Space is freed when a request needs it, without a flush.
    world.accept(at(1_000), export, &request(Command::Write, 32, 4096)).unwrap();
    world.work(at(1_000));
    let replies = world.drain(at(2_000));
    assert_eq!(replies.len(), 2, "nothing waits for ever");
    assert!(replies.iter().all(|reply| reply.outcome.is_ok()));
}

#[test]
fn failed_sync_fails_the_store() {
    let (mut world, export) = World::with("link(1us)");
    world.accept(at(0), export, &WRITE).unwrap();
    world.work(at(0));
    world.drain(at(1_000));
    world.accept(at(1_000), export, &request(Command::Flush, 0, 0)).unwrap();
    let sync = world.jobs.pop().unwrap();
    world.volumes.worked(at(1_000), sync.id, Err(Errno::Io), &mut world.jobs);
    assert_eq!(world.drain(at(2_000))[0].outcome, Err(Errno::Io));
    assert!(world.volumes.store().has_failed());
    for refused in [WRITE, request(Command::Flush, 0, 0)] {
        assert_eq!(world.accept(at(2_000), export, &refused), Err(NotAccepted::Failed(Errno::Io)));
    }
    world.accept(at(2_000), export, &READ).unwrap();
    let create = Edit::Create { size: SIZE, text: String::new() };
    assert_eq!(world.volumes.edit(Ticket(1), &create, &mut world.jobs), Err(EditError::Failed));
}

/// The kinds of the jobs that are queued.
fn list_kinds(world: &World) -> Vec<&'static str> {
    let kind = |job: &FileJob| match job.io {
        Io::Sync { .. } => "sync",
        Io::Commit(_) => "commit",
        _ => "other",
    };
    world.jobs.iter().map(kind).collect()
}

const fn second(n: u64) -> Instant {
    at(n * 1_000_000_000)
}

/// Checks at the end of a second whether a commit is due, and executes its jobs.
fn is_committed(world: &mut World, now: u64) -> bool {
    world.volumes.commit_due(second(now), Span::from_secs(1), &mut world.jobs);
    let kinds = list_kinds(world);
    world.work(second(now));
    !kinds.is_empty() && kinds.iter().all(|kind| *kind == "sync")
}

#[test]
fn answered_writes_are_committed_within_the_interval_or_when_idle() {
    let (mut world, export) = World::with("link(1us)");
    world.volumes.set_durability(Durability::Flushes, Some(Span::from_secs(5)));
    let write = |world: &mut World, now: u64| {
        world.accept(second(now), export, &request(Command::Write, now, 4096)).unwrap();
        world.work(second(now));
    };
    let mut committed = Vec::new();
    for now in 10..=21 {
        write(&mut world, now);
        committed.extend(is_committed(&mut world, now).then_some(now));
    }
    // The write of second 10 would be 5 s old before the next check; the next commit begins with a write of 15.
    assert_eq!(committed, [14, 19]);
    // The check of 22 sees a write since the last one, that of 23 none.
    assert_eq!([22, 23, 24].map(|now| is_committed(&mut world, now)), [true, false, false]);
    world.volumes.set_durability(Durability::Flushes, None);
    write(&mut world, 30);
    assert!((31..60).all(|now| !is_committed(&mut world, now)));
}

#[test]
fn much_data_is_committed_without_a_flush() {
    let (mut world, export) = World::with("link(1us)");
    let mut syncs = 0;
    for n in 0..10 {
        world.drain(second(n));
        world.accept(second(n), export, &request(Command::Write, 0, 32 << 20)).unwrap();
        world.disk.take_over(&mut world.jobs);
        while let Some((job, _)) = world.disk.work(&mut world.random, Luck::Good) {
            world.volumes.worked(second(n), job, Ok(()), &mut world.jobs);
            syncs += list_kinds(&world).iter().filter(|kind| **kind == "sync").count();
            world.disk.take_over(&mut world.jobs);
        }
    }
    assert_eq!(syncs, 1, "320 MiB, a commit after 256 MiB");
}

#[test]
fn durable_writes_are_answered_after_their_commit() {
    let (mut world, export) = World::with("link(1us)");
    world.volumes.set_durability(Durability::Changes, None);
    world.accept(at(0), export, &WRITE).unwrap();
    for expected in ["other", "sync", "commit"] {
        assert_eq!(list_kinds(&world), [expected]);
        assert_eq!(world.drain(at(10_000)), [], "before {expected}");
        world.disk.take_over(&mut world.jobs);
        let (job, _) = world.disk.work(&mut world.random, Luck::Good).unwrap();
        world.volumes.worked(at(10_000), job, Ok(()), &mut world.jobs);
    }
    assert_eq!(world.drain(at(20_000)).len(), 1);
}

#[test]
fn a_sync_without_space_is_repeated() {
    let (mut world, export) = World::with("link(1us)");
    world.volumes.set_durability(Durability::Flushes, Some(Span::from_secs(5)));
    world.accept(at(0), export, &WRITE).unwrap();
    world.work(at(0));
    world.drain(at(1_000));
    world.accept(at(1_000), export, &request(Command::Flush, 0, 0)).unwrap();
    let sync = world.jobs.pop().unwrap();
    world.volumes.worked(at(1_000), sync.id, Err(Errno::NoSpc), &mut world.jobs);
    assert_eq!(world.drain(at(2_000))[0].outcome, Err(Errno::NoSpc));
    assert_eq!(world.volumes.health(), StoreHealth::Stalled(Errno::NoSpc));
    assert!(!world.volumes.store().has_failed() && world.volumes.store().has_changes());
    // The regular commit repeats it without a request.
    assert!((2..8).any(|now| is_committed(&mut world, now)));
    assert_eq!(world.volumes.health(), StoreHealth::Good);
    world.accept(second(9), export, &WRITE).unwrap();
}

#[test]
fn faults_are_injected() {
    let (mut world, export) = World::with("link(10us)");
    let all = 1_000_000;
    let mut one = |faults: Faults| {
        world.volumes.inject(at(0), export, Some(faults));
        world.accept(at(0), export, &WRITE).unwrap();
        world.work(at(0));
        let mut replies = Vec::new();
        while let Some(at) = world.volumes.wake_at() {
            replies.extend(world.drain(at));
        }
        replies[0]
    };
    let failed = one(Faults { errors_ppm: all, ..Faults::default() });
    assert_eq!((failed.outcome, failed.bound_by), (Err(Errno::Io), Bound::Fault));
    let torn = one(Faults { tears_ppm: all, ..Faults::default() });
    assert_eq!((torn.outcome, torn.then), (Ok(()), Then::Tear));
    let late = one(Faults { spikes_ppm: all, spike: Span::from_millis(50), ..Faults::default() });
    assert!(late.due >= at(50_010_000) && late.lateness.is_zero() && late.bound_by == Bound::Fault);
    let stalled = one(Faults { stall: Span::from_secs(2), ..Faults::default() });
    assert!(stalled.due >= at(2_000_000_000) && stalled.then == Then::Send);
}

#[test]
fn changed_rates_keep_queues_and_credits() {
    let (mut world, export) = World::with("limit(1000) \"size\"");
    world.accept(at(0), export, &READ).unwrap();
    world.volumes.remodel(at(0), export, &parse("limit(10) \"level\"").unwrap(), 3);
    for _ in 0..3 {
        world.accept(at(0), export, &READ).unwrap();
    }
    world.work(at(0));
    let due: Vec<u64> = world.drain(at(1_000_000_000)).iter().map(|reply| reply.due.as_nanos() / 1_000_000).collect();
    assert_eq!(due, [0, 1, 101, 201], "the first was let through at the old rate, and charged for");
    assert_eq!(count_bound(&world, export), [("size".to_owned(), 0), ("level".to_owned(), 4)]);
    let totals = world.volumes.totals(export).unwrap();
    assert_eq!(totals.ops[Class::Read.index()], 4);
    // 0, 1, 101 and 201 ms, as the drain came only after a second.
    let responses = &totals.responses[Class::Read.index()];
    assert_eq!(responses.buckets().filter(|bucket| bucket.1 > 0).collect::<Vec<_>>(), [(1_000_000_000, 4)]);
    assert!(responses.sum_ns() <= 4_000_000_000, "{responses:?}");
}

#[test]
fn changed_model_applies_to_new_requests_and_totals_continue() {
    let (mut world, export) = World::with("link(1ms) \"disk\"");
    world.accept(at(0), export, &READ).unwrap();
    world.volumes.remodel(at(100_000), export, &parse("link(10us) \"flash\" then link(1us) \"disk\"").unwrap(), 3);
    world.accept(at(100_000), export, &READ).unwrap();
    world.work(at(100_000));
    let due = |replies: Vec<Reply>| replies.iter().map(|reply| reply.due.as_nanos()).collect::<Vec<u64>>();
    assert_eq!(due(world.drain(at(111_000))), [111_000]);
    assert_eq!(due(world.drain(at(2_000_000))), [1_000_000], "what was in flight is answered by its own model");
    assert_eq!(count_bound(&world, export), [("disk".to_owned(), 1), ("flash".to_owned(), 1)]);
    world.volumes.remodel(at(3_000_000), Export(9), &parse("link(1ms)").unwrap(), 3);
}

#[test]
fn empty_group_can_be_removed() {
    let mut world = World::new(1);
    let volume = world.create();
    let group = world.volumes.group(&parse("limit(10)").unwrap(), 0);
    let serving =
        Serving { volume, model: parse("link(1us)").unwrap(), seed: 0, limits: Limits::default(), group: Some(group) };
    let export = world.volumes.serve(at(0), &serving).unwrap();
    assert!(!world.volumes.dissolve(group));
    world.accept(at(0), export, &READ).unwrap();
    assert!(!world.volumes.withdraw(export) && !world.volumes.dissolve(group), "something is in flight");
    world.work(at(0));
    world.drain(at(1_000_000_000));
    assert!(world.volumes.withdraw(export) && world.volumes.dissolve(group));
    assert_eq!(world.volumes.serve(at(0), &serving), Err(NotServed::NoGroup(group)));
    assert_eq!(world.volumes.group(&parse("limit(10)").unwrap(), 0), group, "its number is used again");
}

/// Requests of a volume by binding stage.
fn count_bound(world: &World, export: Export) -> Vec<(String, u64)> {
    let totals = world.volumes.totals(export).unwrap();
    totals.bound_by_volume().map(|(name, count)| (name.to_owned(), count)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// A volume replies at the time of its model, regardless of the times of drains, multiplied by `slow` when dilated.
    #[test]
    fn volume_answers_at_the_time_of_its_model(
        gaps in prop::collection::vec((0..200_000_u64, 0..256_u64, prop::bool::ANY), 1..100),
        slow in 1..20_u32,
    ) {
        let model = "limit(9000, burst 4) then station(3, 150us, exponential) then link(20us)";
        let mut world = World::new(slow);
        let volume = world.create();
        let export = world.serve(volume, model, Limits::default()).unwrap();
        let mut chain = Chain::new(&parse(model).unwrap(), 3);
        let (mut now, mut replies, mut answers) = (0, Vec::new(), Vec::new());
        for (slot, (gap, block, drains)) in gaps.iter().enumerate() {
            now += gap;
            let op = Op { offset: block * 4096, length: 4096, kind: Kind::Read, stream: 0 };
            chain.submit(at(now), Slot(slot as u32), &op);
            let real = at(now * u64::from(slow));
            world.accept(real, export, &request(Command::Read, *block, 4096)).unwrap();
            world.work(real);
            if *drains {
                replies.extend(world.drain(real));
            }
        }
        chain.drain(at(u64::MAX / 64), &mut answers);
        while let Some(at) = world.volumes.wake_at() {
            replies.extend(world.drain(at));
        }
        let mut due: Vec<Instant> = replies.iter().map(|reply| reply.due).collect();
        due.sort_unstable();
        let expected: Vec<Instant> = answers.iter().map(|answer| at(answer.at.as_nanos() * u64::from(slow))).collect();
        prop_assert_eq!(due, expected);
    }
}
