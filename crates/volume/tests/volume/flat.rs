//! Whole files: identity mapping, durability, and refusal of changes after a failed sync.

use plimsoll_units::{Instant, Span};
use plimsoll_volume::{
    Command, Errno, Export, FileId, FileJob, FilePosition, Flat, Io, Lead, Reply, Request, Space, StoreEnd, Ticket,
    VolumeAccess, VolumeId, Volumes,
};

const SIZE: u64 = 1 << 20;

fn request(command: Command, offset: u64, length: u64, fua: bool) -> Request {
    Request { command, offset, length, fua }
}

/// Accepts a request and executes its jobs; syncs end with `sync`. Returns the jobs and the outcome.
fn done(flat: &mut Flat, request: &Request, sync: Result<(), Errno>) -> (Vec<Io>, Result<(), Errno>) {
    let mut jobs = Vec::new();
    if let Err(errno) = flat.accept(7, Ticket(3), VolumeId(1), request, &mut jobs) {
        assert!(jobs.is_empty());
        return (Vec::new(), Err(errno));
    }
    let mut observed = Vec::new();
    while let Some(FileJob { id, io }) = jobs.pop() {
        assert_eq!(flat.ended().count(), 0, "it ended before {io:?}");
        let outcome = if matches!(io, Io::Sync { .. }) { sync } else { Ok(()) };
        observed.push(io);
        flat.worked(id, outcome, &mut jobs);
    }
    let ended: Vec<StoreEnd> = flat.ended().collect();
    let [StoreEnd::Request(7, outcome)] = ended[..] else { panic!("{ended:?}") };
    (observed, outcome)
}

fn build_flat() -> Flat {
    Flat::new([(512, VolumeAccess::ReadOnly), (SIZE, VolumeAccess::ReadWrite)])
}

#[test]
fn bytes_keep_their_offset() {
    let file = FileId(1);
    let place = FilePosition { file, at: 4096 };
    let (sync, ticket) = (Io::Sync { file, length: 0 }, Ticket(3));
    let write = Io::Write { ticket, from: 0, place, length: 100 };
    let free = Command::WriteZeroes { space: Space::Free };
    let keep = Command::WriteZeroes { space: Space::Keep };
    for (command, fua, expected) in [
        (Command::Read, false, vec![Io::Read { ticket, into: 0, place, length: 100 }]),
        (Command::Read, true, vec![Io::Read { ticket, into: 0, place, length: 100 }]),
        (Command::Write, false, vec![write.clone()]),
        (Command::Write, true, vec![write, sync.clone()]),
        (free, false, vec![Io::Punch { place, length: 100 }]),
        (keep, true, vec![Io::Zero { place, length: 100 }, sync]),
        (Command::Cache, false, vec![]),
    ] {
        let (observed, outcome) = done(&mut build_flat(), &request(command, 4096, 100, fua), Ok(()));
        assert_eq!((observed, outcome), (expected, Ok(())), "{command:?}");
    }
}

#[test]
fn invalid_requests_are_refused() {
    let mut flat = build_flat();
    let refused =
        |flat: &mut Flat, command, offset, length| done(flat, &request(command, offset, length, false), Ok(())).1;
    assert_eq!(refused(&mut flat, Command::Write, SIZE - 1, 2), Err(Errno::NoSpc));
    assert_eq!(refused(&mut flat, Command::Read, SIZE - 1, 2), Err(Errno::Inval));
    assert_eq!(refused(&mut flat, Command::Read, u64::MAX, 2), Err(Errno::Inval));
    assert_eq!(refused(&mut flat, Command::Trim, 0, 0), Err(Errno::Inval));
    let write = request(Command::Write, 0, 1, false);
    assert_eq!(flat.accept(0, Ticket(0), VolumeId(0), &write, &mut Vec::new()), Err(Errno::Perm));
    assert_eq!(flat.accept(0, Ticket(0), VolumeId(2), &write, &mut Vec::new()), Err(Errno::Inval));
    assert_eq!(flat.extents(VolumeId(1), SIZE - 5, 10)[0].length, 5);
}

#[test]
fn failed_sync_fails_later_changes() {
    let mut flat = build_flat();
    let flush = request(Command::Flush, 0, 0, false);
    assert_eq!(done(&mut flat, &flush, Err(Errno::Io)).1, Err(Errno::Io));
    assert_eq!(done(&mut flat, &flush, Ok(())).1, Err(Errno::Io));
    assert_eq!(done(&mut flat, &request(Command::Write, 0, 1, false), Ok(())).1, Err(Errno::Io));
    assert_eq!(done(&mut flat, &request(Command::Read, 0, 1, false), Ok(())).1, Ok(()));
}

#[test]
fn export_without_a_model_replies_after_work_and_delay() {
    let at = |us| Instant::ZERO + Span::from_micros(us);
    for delay in [0, 50] {
        let mut volumes = Volumes::plain([SIZE], Span::from_micros(delay));
        volumes.set_lead(Export(0), Lead { path: Span::from_micros(30), front: Span::ZERO });
        let (mut jobs, mut replies) = (Vec::new(), Vec::new());
        let read = request(Command::Read, 0, 100, false);
        volumes.accept(at(0), Export(0), None, Ticket(3), &read, &mut jobs).unwrap();
        assert_eq!(volumes.wake_at(), None, "its work is not done");
        volumes.worked(at(10), jobs[0].id, Ok(()), &mut Vec::new());
        assert_eq!(volumes.wake_at(), Some(at(10 + delay)));
        volumes.drain(at(12 + delay), &mut replies);
        let [Reply { due, lateness, outcome: Ok(()), .. }] = replies[..] else { panic!("{replies:?}") };
        assert_eq!((due, lateness), (at(10 + delay), Span::from_micros(2)), "the lead has no effect");
        assert_eq!((volumes.in_flight(Export(0)), volumes.wake_at()), (0, None));
    }
}
