//! The volumes of a front: stored data, and the timing of replies.
//!
//! A server, not a loop: requests and the time are arguments. Never sleeps, reads no clock and accesses no payload.

mod flight;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use plimsoll_model::{ChainSpec, Change, ChangeError};
use plimsoll_units::{Instant, Slot, Span};

use crate::backing::Backing;
use crate::faults::{Fate, Faults, Injector};
use crate::fidelity::Fidelity;
use crate::flat::Flat;
use crate::job::{FileId, FileJob, JobId};
use crate::pace::{Pace, Passed};
use crate::record::{VolumeAccess, VolumeId};
use crate::request::{Errno, Request, Ticket};
use crate::slow::Slow;
use crate::store::{Durability, Edit, EditError, Extent, Store, StoreEnd, StoreHealth};
use crate::totals::{Bound, Totals};
use flight::{Flight, ServedVolume, Timing};
use slab::Slab;

/// A served volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Export(pub u32);

/// Volumes that share the limits of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of requests in flight.
    pub requests: u32,
    /// Maximum payload bytes in flight; a single request may always have `payload` bytes.
    pub bytes: u64,
    /// Maximum bytes of a read or write.
    pub payload: u32,
    /// Alignment of offsets and lengths, a power of two.
    pub block: u32,
}

impl Default for Limits {
    /// 1,024 requests, 64 MiB in flight or per request, blocks of 512 bytes.
    fn default() -> Self {
        Self { requests: 1_024, bytes: 64 << 20, payload: 64 << 20, block: 512 }
    }
}

/// Latency after the due time of a reply. In real time; internally in model time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lead {
    /// Latency of the path to the client, including its next request.
    pub path: Span,
    /// Typical lateness of the front.
    pub front: Span,
}

/// Parameters of a served volume.
#[derive(Clone, Debug)]
pub struct Serving {
    pub volume: VolumeId,
    pub model: ChainSpec,
    /// Seed of the model's service times.
    pub seed: u64,
    pub limits: Limits,
    /// Group with shared limits, if any.
    pub group: Option<GroupId>,
}

/// Reason why a request was not accepted. It has no reply.
#[plimsoll_language::say_errors]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAccepted {
    /// Too many requests or bytes in flight: retry after a reply. Cannot occur after [`Volumes::takes`] returned true.
    #[error("too much is in flight")]
    Full,
    /// The request is refused: reply with this error immediately.
    #[error("{0}")]
    Failed(Errno),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    pub ticket: Ticket,
    /// The outcome. The payload of a read is complete.
    pub outcome: Result<(), Errno>,
    /// Due time according to the model, in real time.
    pub due: Instant,
    /// Time from the due time until the client has the reply, according to the path latency of its export.
    pub lateness: Span,
    /// The binding stage.
    pub bound_by: Bound,
    /// The action of the front.
    pub then: Then,
}

/// The action of a front for a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    Send,
    /// Send nothing and close the connection of the request: an injected fault.
    Tear,
}

/// The end of an edit of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edited {
    pub ticket: Ticket,
    /// Durable, or the error. A failed edit may still become durable with a later commit.
    pub outcome: Result<(), Errno>,
}

/// The served volumes of a store, or of plain files ([`crate::Flat`]), and their timing.
///
/// A front calls:
/// 1. [`takes`](Self::takes), then [`accept`](Self::accept) for a request, which gives jobs to do;
/// 2. [`worked`](Self::worked) for each finished job, which may give further jobs;
/// 3. [`drain`](Self::drain) at [`wake_at`](Self::wake_at), which gives replies to send.
///
/// Time never decreases between calls.
#[derive(Debug)]
pub struct Volumes {
    backing: Backing,
    pace: Pace,
    slow: Slow,
    served: Vec<ServedVolume>,
    flights: Slab<Flight>,
    /// Delayed answers: time of departure, slot, and due time.
    delayed: BinaryHeap<Reverse<(Instant, u32, Instant)>>,
    /// Requests with completed models, faults and jobs.
    ready: Vec<u32>,
    /// Latest time passed in.
    now: Instant,
    passed: Vec<Passed>,
    ended: Vec<StoreEnd>,
    edited: Vec<Edited>,
    commits: Commits,
}

/// Regular commits of the store.
#[derive(Clone, Copy, Debug, Default)]
struct Commits {
    /// Maximum age of answered changes that are in no commit.
    interval: Option<Span>,
    /// The oldest such change, in real time.
    since: Option<Instant>,
    /// A job was finished since the last check.
    has_worked: bool,
}

impl Volumes {
    /// The store behind the volumes.
    ///
    /// # Panics
    ///
    /// For plain files, which have none.
    pub fn store(&self) -> &Store {
        let Backing::Store(store) = &self.backing else { panic!("whole files have no store") };
        store
    }

    fn store_mut(&mut self) -> Option<&mut Store> {
        let Backing::Store(store) = &mut self.backing else { return None };
        Some(store)
    }

    /// Sets the capacity of the store in bytes; plain files have none.
    pub fn set_capacity(&mut self, capacity: u64) {
        if let Some(store) = self.store_mut() {
            store.set_capacity(capacity);
        }
    }

    /// Begins to make all answered writes of the store durable.
    pub fn flush_all(&mut self, jobs: &mut Vec<FileJob>) {
        if let Some(store) = self.store_mut() {
            store.flush_all(jobs);
        }
    }

    /// Sets when changes of the store become durable: at their acknowledgement or not, and within `interval` of it;
    /// without an interval only with a flush or much data.
    pub fn set_durability(&mut self, durability: Durability, interval: Option<Span>) {
        self.commits.interval = interval;
        if let Some(store) = self.store_mut() {
            store.set_durability(durability);
        }
    }

    /// Begins to make answered changes durable if they are as old as the interval before the next call, which is `next`
    /// later, or if none was made since the last call.
    pub fn commit_due(&mut self, now: Instant, next: Span, jobs: &mut Vec<FileJob>) {
        let now = self.now.max(now);
        let is_idle = !std::mem::take(&mut self.commits.has_worked);
        let Some((interval, since)) = self.commits.interval.zip(self.commits.since) else { return };
        if is_idle || since + interval <= now + next {
            self.commits.since = None;
            self.flush_all(jobs);
        }
    }

    /// Whether the store accepts changes and makes them durable; plain files have no commits.
    pub fn health(&self) -> StoreHealth {
        match &self.backing {
            Backing::Store(store) => store.health(),
            Backing::Flat(_) => StoreHealth::Good,
        }
    }

    /// True while answered writes of the store are made durable.
    pub fn is_flushing(&self) -> bool {
        matches!(&self.backing, Backing::Store(store) if store.is_flushing())
    }

    /// Begins an edit of the store, visible when it ends. Returns the created or changed volume.
    pub fn edit(&mut self, ticket: Ticket, edit: &Edit, jobs: &mut Vec<FileJob>) -> Result<VolumeId, EditError> {
        if let Edit::Delete { volume } = *edit
            && self.served.iter().any(|served| served.volume == volume && served.is_open)
        {
            return Err(EditError::InUse(volume));
        }
        let store = self.store_mut().ok_or(EditError::NoStore)?;
        let volume = store.edit(ticket, edit, jobs)?;
        self.collect();
        Ok(volume)
    }

    /// Serves plain files without a model: export 0 is file 0 with the first of these sizes in bytes, and so on. Each
    /// reply leaves `delay` after its real work ended; [`Lead`] and [`Fidelity`] do not apply. Each export allows 4,096
    /// requests in flight, of any length.
    pub fn plain(sizes: impl IntoIterator<Item = u64>, delay: Span) -> Self {
        // The front's offers state which of them are read-only.
        let flat = Flat::new(sizes.into_iter().map(|size| (size, VolumeAccess::ReadWrite)));
        let served = flat.volumes().map(|volume| ServedVolume::plain(volume, delay)).collect();
        Self { served, ..Self::new(flat, Slow::NOT) }
    }

    /// Serves a file of `size` bytes as export 0, with a model that is slowed down by an integer factor.
    ///
    /// # Errors
    /// A model that cannot be served.
    pub fn emulated(
        (size, access): (u64, VolumeAccess),
        (model, seed): (ChainSpec, u64),
        slow: u32,
    ) -> Result<Self, NotServed> {
        /// Maximum requests in flight, all visible to the model.
        const MAX_REQUESTS: u32 = 4096;
        let mut volumes = Self::new(Flat::new([(size, access)]), Slow::by(slow));
        let limits = Limits { requests: MAX_REQUESTS, block: 1, ..Limits::default() };
        let serving = Serving { volume: VolumeId(0), model, seed, limits, group: None };
        volumes.serve(Instant::ZERO, &serving)?;
        Ok(volumes)
    }

    /// Creates an instance without served volumes.
    pub fn new(backing: impl Into<Backing>, slow: Slow) -> Self {
        Self {
            backing: backing.into(),
            pace: Pace::new(),
            slow,
            served: Vec::new(),
            flights: Slab::new(),
            delayed: BinaryHeap::new(),
            ready: Vec::new(),
            now: Instant::ZERO,
            passed: Vec::new(),
            ended: Vec::new(),
            edited: Vec::new(),
            commits: Commits::default(),
        }
    }

    /// Adds a group of volumes that share `model`, such as the limits of an instance.
    pub fn group(&mut self, model: &ChainSpec, seed: u64) -> GroupId {
        GroupId(self.pace.add_group(model, seed) as u32)
    }

    /// Removes a group; false if volumes of it are served or have requests in flight. Its number may be reused.
    pub fn dissolve(&mut self, group: GroupId) -> bool {
        for (number, served) in self.served.iter().enumerate() {
            if !served.is_open && served.is_idle() {
                self.pace.leave_group(number);
            }
        }
        self.pace.remove_group(group.0 as usize)
    }

    /// Starts serving a volume at `now`.
    pub fn serve(&mut self, now: Instant, serving: &Serving) -> Result<Export, NotServed> {
        let Serving { volume, ref model, seed, limits, group } = *serving;
        self.backing.about(volume).ok_or(NotServed::Unknown(volume))?;
        if self.served.iter().any(|served| served.volume == volume && served.is_open) {
            return Err(NotServed::Twice(volume));
        }
        if let Some(group) = group.filter(|group| !self.pace.has_group(group.0 as usize)) {
            return Err(NotServed::NoGroup(group));
        }
        if !limits.block.is_power_of_two() || limits.requests == 0 || limits.payload < limits.block {
            return Err(NotServed::Limits);
        }
        let now = self.advance(now);
        let unused = self.served.iter().position(|served| !served.is_open && served.is_idle());
        let number = unused.unwrap_or(self.served.len());
        let mut new = ServedVolume::new(now, serving);
        let labels = new.totals.label_stages(model);
        self.pace.set_volume(number, model, seed, labels, group.map(|group| group.0 as usize));
        match self.served.get_mut(number) {
            Some(old) => *old = new,
            None => self.served.push(new),
        }
        Ok(Export(number as u32))
    }

    /// Stops accepting requests (ESHUTDOWN). Requests in flight are completed; true if there are none. The number may
    /// be reused after that.
    pub fn withdraw(&mut self, export: Export) -> bool {
        let Some(served) = self.served.get_mut(export.0 as usize) else { return true };
        served.is_open = false;
        served.is_idle()
    }

    /// Time dilation.
    pub const fn slow(&self) -> Slow {
        self.slow
    }

    /// Current size of the volume in bytes.
    pub fn size(&self, export: Export) -> u64 {
        let served = self.served.get(export.0 as usize);
        served.and_then(|served| self.backing.about(served.volume)).map_or(0, |about| about.size)
    }

    pub fn limits(&self, export: Export) -> Option<Limits> {
        self.served.get(export.0 as usize).map(|served| served.limits)
    }

    /// Totals of a volume since it was served.
    pub fn totals(&self, export: Export) -> Option<&Totals> {
        self.served.get(export.0 as usize).map(|served| &served.totals)
    }

    /// Fidelity of a volume to its model.
    pub fn fidelity(&self, export: Export) -> Option<&Fidelity> {
        self.served.get(export.0 as usize).map(|served| &served.fidelity)
    }

    /// Sets how much earlier than due replies leave if they are known by then.
    pub fn set_lead(&mut self, export: Export, lead: Lead) {
        let served = self.served.get_mut(export.0 as usize);
        if let Some(served) = served.filter(|served| served.timing.delay().is_none()) {
            let [path, front] = [lead.path, lead.front].map(|span| self.slow.model_span(span));
            served.path = path;
            self.pace.set_lead(export.0 as usize, path + front);
        }
    }

    /// Number of accepted requests without a reply.
    pub fn in_flight(&self, export: Export) -> u32 {
        self.served.get(export.0 as usize).map_or(0, |served| served.in_flight)
    }

    /// True if a request with this payload in bytes would not be refused as [`NotAccepted::Full`]. Otherwise the front
    /// should not read from that client until a reply has left.
    pub fn takes(&self, export: Export, payload: u64) -> bool {
        self.served.get(export.0 as usize).is_none_or(|served| served.has_room(payload))
    }

    /// Accepts a request, and appends its initial jobs. Exactly one reply follows. Models with several paths time it on
    /// the path that the client uses, from 0, or choose a path themselves.
    pub fn accept(
        &mut self,
        now: Instant,
        export: Export,
        path: Option<u8>,
        ticket: Ticket,
        request: &Request,
        jobs: &mut Vec<FileJob>,
    ) -> Result<(), NotAccepted> {
        let (slot, fate) = self.admit(now, export, ticket, request)?;
        let volume = self.served[export.0 as usize].volume;
        if fate.fails {
            self.finish(slot, Err(Errno::Io));
        } else if let Err(errno) = self.backing.accept(slot, ticket, volume, request, jobs) {
            self.flights.try_remove(slot as usize);
            return Err(NotAccepted::Failed(errno));
        }
        self.submit(now, slot, (export, path), request);
        self.collect();
        Ok(())
    }

    /// Accepts a request without its payload, which [`transfer`](Self::transfer) moves in parts: for a write before
    /// this call, for a read after its reply. The model sees a single request. Exactly one reply follows.
    pub fn accept_timing(
        &mut self,
        now: Instant,
        export: Export,
        path: Option<u8>,
        ticket: Ticket,
        request: &Request,
    ) -> Result<(), NotAccepted> {
        let (slot, fate) = self.admit(now, export, ticket, request)?;
        self.finish(slot, if fate.fails { Err(Errno::Io) } else { Ok(()) });
        self.submit(now, slot, (export, path), request);
        Ok(())
    }

    /// Transfers a part of a request, without the model and the totals: its reply leaves when the work is done.
    pub fn transfer(
        &mut self,
        now: Instant,
        export: Export,
        ticket: Ticket,
        part: &Request,
        jobs: &mut Vec<FileJob>,
    ) -> Result<(), NotAccepted> {
        self.advance(now);
        let served = self.served.get_mut(export.0 as usize).filter(|served| served.is_open);
        let served = served.ok_or(NotAccepted::Failed(Errno::Shutdown))?;
        served.transfers += 1;
        let volume = served.volume;
        let slot = self.flights.insert(Flight::transfer(export, ticket, part)) as u32;
        if let Err(errno) = self.backing.accept(slot, ticket, volume, part, jobs) {
            self.flights.try_remove(slot as usize);
            self.served[export.0 as usize].transfers -= 1;
            return Err(NotAccepted::Failed(errno));
        }
        self.collect();
        Ok(())
    }

    /// Validates a request against the limits.
    fn admit(
        &mut self,
        now: Instant,
        export: Export,
        ticket: Ticket,
        request: &Request,
    ) -> Result<(u32, Fate), NotAccepted> {
        let now = self.advance(now);
        let served = self.served.get_mut(export.0 as usize).ok_or(NotAccepted::Failed(Errno::Shutdown))?;
        served.admit(request)?;
        if served.in_flight == 0 {
            served.fidelity.close(now);
        }
        let fate = served.injector.as_mut().map_or(Fate::NONE, |injector| injector.fate(request.class()));
        let flight = Flight::new(export, ticket, request, fate, served.timing.delay());
        Ok((self.flights.insert(flight) as u32, fate))
    }

    /// Passes an admitted request to the model.
    fn submit(&mut self, now: Instant, slot: u32, (export, path): (Export, Option<u8>), request: &Request) {
        let (now, volume) = (self.advance(now), export.0 as usize);
        let served = &mut self.served[volume];
        served.in_flight += 1;
        served.fidelity.in_flight(served.in_flight);
        served.bytes += request.payload();
        if served.timing.delay().is_none() {
            self.pace.submit(now, volume, Slot(slot), &request.op(), path);
        }
    }

    /// Reports a finished job; appends jobs that can start now.
    pub fn worked(&mut self, now: Instant, job: JobId, outcome: Result<(), Errno>, jobs: &mut Vec<FileJob>) {
        self.advance(now);
        self.backing.worked(job, outcome, jobs);
        if let Backing::Store(store) = &self.backing {
            self.commits.has_worked = true;
            self.commits.since = if store.has_changes() { self.commits.since.or(Some(self.now)) } else { None };
        }
        self.collect();
    }

    /// Next time for [`drain`](Self::drain); `None` until a request or a finished job changes that. A past time means
    /// now.
    pub fn wake_at(&self) -> Option<Instant> {
        if !self.ready.is_empty() {
            return Some(self.now);
        }
        let delayed = self.delayed.peek().map(|Reverse((leaves, ..))| *leaves);
        let earliest = self.pace.wake_at().into_iter().chain(delayed).min();
        earliest.map(|at| self.slow.real(at))
    }

    /// Appends all replies due at `now`: the model has answered and the real work is done.
    pub fn drain(&mut self, now: Instant, replies: &mut Vec<Reply>) {
        let now = self.advance(now);
        let mut passed = std::mem::take(&mut self.passed);
        self.pace.drain(now, &mut passed);
        for passed in passed.drain(..) {
            self.pass(now, &passed);
        }
        self.passed = passed;
        while let Some(Reverse((_, slot, at))) =
            self.delayed.peek().copied().filter(|Reverse((leaves, ..))| *leaves <= now)
        {
            self.delayed.pop();
            self.due(slot, at);
        }
        let ready = std::mem::take(&mut self.ready);
        for slot in &ready {
            self.reply(now, *slot, replies);
        }
        self.ready = ready;
        self.ready.clear();
        for served in &mut self.served {
            served.fidelity.close(now);
        }
    }

    /// Replaces the model of a volume that has one; the totals continue.
    ///
    /// If only rates of limits differ, they are changed in place: queues, credits and caches persist. Otherwise the new
    /// model starts idle with the next request, requests in flight keep their model, and the limits of both apply
    /// separately.
    pub fn remodel(&mut self, now: Instant, export: Export, model: &ChainSpec, seed: u64) {
        let now = self.advance(now);
        let volume = export.0 as usize;
        let Some(ServedVolume { timing: Timing::Model(current), totals, .. }) = self.served.get_mut(volume) else {
            return;
        };
        let labels = totals.label_stages(model);
        let before = std::mem::replace(current, model.clone());
        match before.changes_to(model) {
            Some(changes) => self.pace.change_rates(now, volume, &changes, labels),
            None => self.pace.change_model(now, volume, model, seed, labels),
        }
    }

    /// Moves a volume into a group, or out of its group; false while requests of it are in flight, or without a model or
    /// such a group. Its model restarts idle; the totals continue.
    pub fn regroup(&mut self, now: Instant, export: Export, seed: u64, group: Option<GroupId>) -> bool {
        self.advance(now);
        let group = group.map(|group| group.0 as usize);
        let has_group = group.is_none_or(|group| self.pace.has_group(group));
        let Some(served) = self.served.get_mut(export.0 as usize).filter(|served| served.is_idle()) else {
            return false;
        };
        let Timing::Model(model) = &served.timing else { return false };
        if has_group {
            let labels = served.totals.label_stages(model);
            self.pace.set_volume(export.0 as usize, model, seed, labels, group);
        }
        has_group
    }

    /// Changes the shared model of a group.
    pub fn change_group(&mut self, now: Instant, group: GroupId, change: &Change) -> Result<(), ChangeError> {
        let (now, Change::Rate { stage, .. }) = (self.advance(now), *change);
        if !self.pace.has_group(group.0 as usize) {
            return Err(ChangeError::NoSuchStage(stage));
        }
        self.pace.change_group(now, group.0 as usize, change)
    }

    /// Injects faults into a volume, replacing previous faults; `None` for none. Spikes and stalls need a model.
    pub fn inject(&mut self, now: Instant, export: Export, faults: Option<Faults>) {
        let now = self.advance(now);
        if let Some(served) = self.served.get_mut(export.0 as usize) {
            served.injector = faults.map(|faults| Injector::new(now, faults));
        }
    }

    /// Allocated ranges and holes of a volume from `offset` on: at most `limit` runs that together cover at most
    /// `length` bytes.
    pub fn extents(&self, export: Export, offset: u64, length: u64, limit: usize) -> Vec<Extent> {
        let volume = self.served.get(export.0 as usize).map(|served| served.volume);
        volume.map_or_else(Vec::new, |volume| self.backing.extents(volume, offset, length, limit))
    }

    /// The data file with the same content as the volume, byte for byte; `None` with a map.
    pub fn flat_file(&self, export: Export) -> Option<FileId> {
        self.served.get(export.0 as usize).and_then(|served| self.backing.flat_file(served.volume))
    }

    /// Whether reads refer to allocated ranges only, so that mapping them allocates nothing.
    pub fn reads_only_allocated(&self) -> bool {
        self.backing.reads_only_allocated()
    }

    /// Edits that ended since the last call.
    pub fn edited(&mut self) -> Vec<Edited> {
        std::mem::take(&mut self.edited)
    }

    /// Advances to `now`, and returns the model time.
    fn advance(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        self.slow.model(self.now)
    }

    /// Processes requests and edits that ended in the store.
    fn collect(&mut self) {
        let mut all = std::mem::take(&mut self.ended);
        all.extend(self.backing.ended());
        for ended in all.drain(..) {
            match ended {
                StoreEnd::Request(slot, outcome) => self.finish(slot, outcome),
                StoreEnd::Edit(ticket, outcome) => self.edited.push(Edited { ticket, outcome }),
            }
        }
        self.ended = all;
    }

    /// Registers the end of a request's real work.
    fn finish(&mut self, slot: u32, outcome: Result<(), Errno>) {
        let now = self.slow.model(self.now);
        let Some(flight) = self.flights.get_mut(slot as usize) else { return };
        flight.outcome = Some(outcome);
        match flight.delay {
            Some(delay) if !delay.is_zero() => self.delayed.push(Reverse((now + delay, slot, now + delay))),
            Some(_) => {
                flight.due = Some(now);
                self.ready.push(slot);
            }
            None if flight.due.is_some() => self.ready.push(slot),
            None => {}
        }
    }

    /// Registers the models' answer of a request, possibly delayed by a fault.
    fn pass(&mut self, now: Instant, passed: &Passed) {
        let slot = passed.slot.0;
        let Some(flight) = self.flights.get_mut(slot as usize) else { return };
        flight.bound_by = passed.bound_by;
        let injector = self.served[flight.export.0 as usize].injector.as_ref();
        let at = injector.map_or(passed.at, |injector| injector.answer_at(passed.at, flight.fate));
        if at > passed.at || flight.fate.fails {
            flight.bound_by = Bound::Fault;
        }
        let leaves = at - self.pace.lead(flight.export.0 as usize);
        if leaves > now && at > passed.at {
            self.delayed.push(Reverse((leaves, slot, at)));
        } else {
            self.due(slot, at);
        }
    }

    /// Marks a request as due: only its jobs delay it from now on.
    fn due(&mut self, slot: u32, at: Instant) {
        let Some(flight) = self.flights.get_mut(slot as usize) else { return };
        if flight.delay.is_none() {
            let response = at.since(self.pace.submitted(Slot(slot)));
            self.served[flight.export.0 as usize].fidelity.answered(at, response, flight.payload);
        }
        flight.due = Some(at);
        if flight.outcome.is_some() {
            self.ready.push(slot);
        }
    }

    fn reply(&mut self, now: Instant, slot: u32, replies: &mut Vec<Reply>) {
        let Some(flight) = self.flights.try_remove(slot as usize) else { return };
        let Flight { export, ticket, class, payload, fate, bound_by, .. } = flight;
        let (due, outcome) = (flight.due.unwrap_or(now), flight.outcome.unwrap_or(Ok(())));
        let served = &mut self.served[export.0 as usize];
        if flight.is_transfer {
            served.transfers -= 1;
            let (due, lateness, then) = (self.now, Span::ZERO, Then::Send);
            replies.push(Reply { ticket, outcome, due, lateness, bound_by, then });
            return;
        }
        served.in_flight -= 1;
        served.fidelity.in_flight(served.in_flight);
        served.bytes -= payload;
        served.totals.count(class, payload, outcome.is_err(), bound_by);
        if flight.delay.is_none() {
            let (observed, submitted) = (now + served.path, self.pace.submitted(Slot(slot)));
            if outcome.is_ok() {
                served.totals.respond(class, observed.since(submitted));
            }
            served.totals.add_limit_time(bound_by, [submitted, due]);
            served.fidelity.handed_out(observed, observed.since(due), payload);
        }
        let (real, observed) = (self.slow.real(due), self.now + self.slow.real_span(served.path));
        let then = if fate.tears { Then::Tear } else { Then::Send };
        replies.push(Reply { ticket, outcome, due: real, lateness: observed.since(real), bound_by, then });
    }
}

/// Reason why a volume cannot be served.
#[plimsoll_language::say_errors]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotServed {
    /// No such volume in the store.
    #[error("unknown volume {}", .0.0)]
    Unknown(VolumeId),
    /// Already served.
    #[error("volume {} is served already: withdraw it first", .0.0)]
    Twice(VolumeId),
    #[error("unknown group {}", .0.0)]
    NoGroup(GroupId),
    #[error("limits need at least 1 request, a block size that is a power of two, and a payload of at least a block")]
    Limits,
}
