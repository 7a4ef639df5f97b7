//! The volumes of a front: stored data, and the time of answers.
//!
//! A server, not a loop: requests and the time come from outside. It never sleeps, reads no clock and accesses no
//! payload.

mod flight;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use plimsoll_model::{ChainSpec, Change, Refused, Stage};
use plimsoll_units::{Instant, Slot, Span};

use crate::backing::Backing;
use crate::faults::{Fate, Faults, Injector};
use crate::fidelity::Fidelity;
use crate::flat::Flat;
use crate::job::{FileId, Job, JobId};
use crate::pace::{Pace, Passed};
use crate::record::Access;
use crate::request::{Errno, Request, Ticket};
use crate::slab::Slab;
use crate::slow::Slow;
use crate::store::{Edit, EditError, Ended, Extent, Store, VolumeId};
use crate::totals::{Label, Totals};
use flight::{Flight, Served, Timing};

/// A volume while it is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Export(pub u32);

/// Volumes that share the limits of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

/// Limits of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests in flight.
    pub requests: u32,
    /// Bytes of payloads in flight; a single request may always be as long as `payload`.
    pub bytes: u64,
    /// Bytes of one read or write.
    pub payload: u32,
    /// Offsets and lengths are multiples of this, a power of two.
    pub block: u32,
}

impl Default for Limits {
    /// 1,024 requests, 64 MiB in flight or in one request, blocks of 512 bytes.
    fn default() -> Self {
        Self { requests: 1_024, bytes: 64 << 20, payload: 64 << 20, block: 512 }
    }
}

/// The latency of an answer after its due time. In the front's time; internally in model time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lead {
    /// Latency of the path to the client, and of the next request from there.
    pub path: Span,
    /// Typical lateness of the front.
    pub front: Span,
}

/// Parameters of a served volume.
#[derive(Clone, Debug)]
pub struct Serving {
    /// The stored volume.
    pub volume: VolumeId,
    /// Its timing.
    pub model: ChainSpec,
    /// Determines the model's service times.
    pub seed: u64,
    /// Its limits.
    pub limits: Limits,
    /// The group whose limits it shares, if any.
    pub group: Option<GroupId>,
}

/// The reason why a request was not accepted. It has no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAccepted {
    /// Too much is in flight: retry after a reply. Cannot occur after [`Volumes::takes`] returned true.
    #[error("too much is in flight")]
    Full,
    /// The request is refused: reply with this error at once.
    #[error("{0}")]
    Failed(Errno),
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The ticket of the request.
    pub ticket: Ticket,
    /// The outcome. The payload of a read is complete.
    pub outcome: Result<(), Errno>,
    /// The due time by the model, in the front's time.
    pub due: Instant,
    /// Time from then until the client has it, by the path latency of its export.
    pub lateness: Span,
    /// The stage that held it longest.
    pub bound_by: Bound,
    /// The action of the front.
    pub then: Then,
}

/// The stage that held a request longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bound {
    /// A stage of the volume's own model, by its name in [`Totals`].
    Volume(Label),
    /// A stage of the model that its group shares.
    Group(Stage),
    /// An injected fault.
    Fault,
}

/// The action of a front for a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Send it.
    Send,
    /// Send nothing, and break the connection of the request: an injected fault.
    Tear,
}

/// The end of an edit of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edited {
    /// Its ticket.
    pub ticket: Ticket,
    /// Durable, or the error. A failed edit may still become durable with a later commit.
    pub outcome: Result<(), Errno>,
}

/// The volumes of one store, or of whole files ([`crate::Flat`]), that a front serves, and their timing.
///
/// A front calls, in the order of its events:
/// 1. [`takes`](Self::takes), then [`accept`](Self::accept) for a request, which gives jobs to do;
/// 2. [`worked`](Self::worked) for each finished job, which may give further jobs;
/// 3. [`drain`](Self::drain) at [`wake_at`](Self::wake_at), which gives replies to send.
///
/// Time never goes back between calls.
#[derive(Debug)]
pub struct Volumes<B = Store> {
    store: B,
    pace: Pace,
    slow: Slow,
    served: Vec<Served>,
    flights: Slab<Flight>,
    /// Delayed answers: when each leaves, its slot, and the moment of the answer.
    held: BinaryHeap<Reverse<(Instant, u32, Instant)>>,
    /// Requests that models, faults and jobs are through with.
    ready: Vec<u32>,
    /// The latest time that was passed in.
    now: Instant,
    passed: Vec<Passed>,
    ended: Vec<Ended>,
    edited: Vec<Edited>,
}

impl Volumes {
    /// The store behind the volumes.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// Sets the capacity of the store in bytes.
    pub fn set_capacity(&mut self, capacity: u64) {
        self.store.set_capacity(capacity);
    }

    /// Begins an edit of the store; it is visible when it ends. Returns the volume that it makes or changes.
    pub fn edit(&mut self, ticket: Ticket, edit: &Edit, jobs: &mut Vec<Job>) -> Result<VolumeId, EditError> {
        if let Edit::Delete { volume } = *edit
            && self.served.iter().any(|served| served.volume == volume && served.is_open)
        {
            return Err(EditError::InUse(volume));
        }
        let volume = self.store.edit(ticket, edit, jobs)?;
        self.collect();
        Ok(volume)
    }
}

impl Volumes<Flat> {
    /// Serves whole files without a model: export 0 is file 0 with the first of these sizes in bytes, and so on. Each
    /// answer leaves `delay` after its real work ended; [`Lead`] and [`Fidelity`] do not apply to it. 4,096 requests in
    /// flight for each export, of any length.
    pub fn plain(sizes: impl IntoIterator<Item = u64>, delay: Span) -> Self {
        // Offers state which of them are read-only.
        let flat = Flat::new(sizes.into_iter().map(|size| (size, Access::ReadWrite)));
        let served = flat.volumes().map(|volume| Served::plain(volume, delay)).collect();
        Self { served, ..Self::new(flat, Slow::NOT) }
    }
}

impl<B: Backing> Volumes<B> {
    /// Without served volumes.
    pub const fn new(store: B, slow: Slow) -> Self {
        Self {
            store,
            pace: Pace::new(),
            slow,
            served: Vec::new(),
            flights: Slab::new(),
            held: BinaryHeap::new(),
            ready: Vec::new(),
            now: Instant::ZERO,
            passed: Vec::new(),
            ended: Vec::new(),
            edited: Vec::new(),
        }
    }

    /// Adds a group whose volumes share `model`: the limits of an instance.
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

    /// Begins to serve a volume at `now`.
    pub fn serve(&mut self, now: Instant, serving: &Serving) -> Result<Export, NotServed> {
        let Serving { volume, ref model, seed, limits, group } = *serving;
        self.store.about(volume).ok_or(NotServed::Unknown(volume))?;
        if self.served.iter().any(|served| served.volume == volume && served.is_open) {
            return Err(NotServed::Twice(volume));
        }
        if let Some(group) = group.filter(|group| !self.pace.has_group(group.0 as usize)) {
            return Err(NotServed::NoGroup(group));
        }
        if !limits.block.is_power_of_two() || limits.requests == 0 || limits.payload < limits.block {
            return Err(NotServed::Limits);
        }
        let now = self.tell(now);
        let unused = self.served.iter().position(|served| !served.is_open && served.is_idle());
        let number = unused.unwrap_or(self.served.len());
        let mut new = Served::new(now, serving);
        let labels = new.totals.labels(&model.names());
        self.pace.set_path(number, model, seed, labels, group.map(|group| group.0 as usize));
        match self.served.get_mut(number) {
            Some(old) => *old = new,
            None => self.served.push(new),
        }
        Ok(Export(number as u32))
    }

    /// Accepts no further requests (ESHUTDOWN). Requests in flight are answered; true if there are none. Its number may
    /// be reused after that.
    pub fn withdraw(&mut self, export: Export) -> bool {
        let Some(served) = self.served.get_mut(export.0 as usize) else { return true };
        served.is_open = false;
        served.is_idle()
    }

    /// How many times slower model time runs.
    pub const fn slow(&self) -> Slow {
        self.slow
    }

    /// Bytes of the volume; grows when it is grown.
    pub fn size(&self, export: Export) -> u64 {
        let served = self.served.get(export.0 as usize);
        served.and_then(|served| self.store.about(served.volume)).map_or(0, |about| about.size)
    }

    /// Limits of a volume.
    pub fn limits(&self, export: Export) -> Option<Limits> {
        self.served.get(export.0 as usize).map(|served| served.limits)
    }

    /// The totals of a volume since it is served.
    pub fn totals(&self, export: Export) -> Option<&Totals> {
        self.served.get(export.0 as usize).map(|served| &served.totals)
    }

    /// The fidelity of a volume to its model.
    pub fn fidelity(&self, export: Export) -> Option<&Fidelity> {
        self.served.get(export.0 as usize).map(|served| &served.fidelity)
    }

    /// Sets how much earlier than their due times answers leave, where they are known by then.
    pub fn set_lead(&mut self, export: Export, lead: Lead) {
        let served = self.served.get_mut(export.0 as usize);
        if let Some(served) = served.filter(|served| served.timing.delay().is_none()) {
            let [path, front] = [lead.path, lead.front].map(|span| self.slow.model_span(span));
            served.path = path;
            self.pace.set_lead(export.0 as usize, path + front);
        }
    }

    /// Accepted requests without a reply.
    pub fn in_flight(&self, export: Export) -> u32 {
        self.served.get(export.0 as usize).map_or(0, |served| served.in_flight)
    }

    /// True if a request with this payload in bytes would not be refused as [`NotAccepted::Full`]. Otherwise nothing
    /// more should be read from that client until a reply has left.
    pub fn takes(&self, export: Export, payload: u64) -> bool {
        self.served.get(export.0 as usize).is_none_or(|served| served.has_room(payload))
    }

    /// Accepts a request, and appends the jobs that can begin at once. Exactly one reply follows.
    pub fn accept(
        &mut self,
        now: Instant,
        export: Export,
        ticket: Ticket,
        request: &Request,
        jobs: &mut Vec<Job>,
    ) -> Result<(), NotAccepted> {
        let (slot, fate) = self.admit(now, export, ticket, request)?;
        let volume = self.served[export.0 as usize].volume;
        if fate.fails {
            self.finish(slot, Err(Errno::Io));
        } else if let Err(errno) = self.store.accept(slot, ticket, volume, request, jobs) {
            self.flights.remove(slot);
            return Err(NotAccepted::Failed(errno));
        }
        self.submit(now, slot, export, request);
        self.collect();
        Ok(())
    }

    /// Accepts a request without its payload, which [`transfer`](Self::transfer) moves in parts: those of a write
    /// before this call, those of a read after its reply. The model sees one request. Exactly one reply follows.
    pub fn accept_timing(
        &mut self,
        now: Instant,
        export: Export,
        ticket: Ticket,
        request: &Request,
    ) -> Result<(), NotAccepted> {
        let (slot, fate) = self.admit(now, export, ticket, request)?;
        self.finish(slot, if fate.fails { Err(Errno::Io) } else { Ok(()) });
        self.submit(now, slot, export, request);
        Ok(())
    }

    /// Moves a part of a request, without the model and the totals: the reply leaves when the work is done.
    pub fn transfer(
        &mut self,
        now: Instant,
        export: Export,
        ticket: Ticket,
        part: &Request,
        jobs: &mut Vec<Job>,
    ) -> Result<(), NotAccepted> {
        self.tell(now);
        let served = self.served.get_mut(export.0 as usize).filter(|served| served.is_open);
        let served = served.ok_or(NotAccepted::Failed(Errno::Shutdown))?;
        served.transfers += 1;
        let volume = served.volume;
        let slot = self.flights.insert(Flight::transfer(export, ticket, part));
        if let Err(errno) = self.store.accept(slot, ticket, volume, part, jobs) {
            self.flights.remove(slot);
            self.served[export.0 as usize].transfers -= 1;
            return Err(NotAccepted::Failed(errno));
        }
        self.collect();
        Ok(())
    }

    /// Checks a request against the limits.
    fn admit(
        &mut self,
        now: Instant,
        export: Export,
        ticket: Ticket,
        request: &Request,
    ) -> Result<(u32, Fate), NotAccepted> {
        let now = self.tell(now);
        let served = self.served.get_mut(export.0 as usize).ok_or(NotAccepted::Failed(Errno::Shutdown))?;
        served.admit(request)?;
        if served.in_flight == 0 {
            served.fidelity.close(now);
        }
        let fate = served.injector.as_mut().map_or(Fate::NONE, |injector| injector.fate(request.class()));
        let flight = Flight::new(export, ticket, request, fate, served.timing.delay());
        Ok((self.flights.insert(flight), fate))
    }

    /// Hands an admitted request to the model.
    fn submit(&mut self, now: Instant, slot: u32, export: Export, request: &Request) {
        let (now, path) = (self.tell(now), export.0 as usize);
        let served = &mut self.served[path];
        served.in_flight += 1;
        served.fidelity.in_flight(served.in_flight);
        served.bytes += request.payload();
        if served.timing.delay().is_none() {
            self.pace.submit(now, path, Slot(slot), &request.op());
        }
    }

    /// A job is finished: appends the jobs that can begin now.
    pub fn worked(&mut self, now: Instant, job: JobId, outcome: Result<(), Errno>, jobs: &mut Vec<Job>) {
        self.tell(now);
        self.store.worked(job, outcome, jobs);
        self.collect();
    }

    /// The next time for [`drain`](Self::drain); `None` if only a request or a finished job can change that. A past
    /// time means now.
    pub fn wake_at(&self) -> Option<Instant> {
        if !self.ready.is_empty() {
            return Some(self.now);
        }
        let held = self.held.peek().map(|Reverse((leaves, ..))| *leaves);
        let earliest = self.pace.wake_at().into_iter().chain(held).min();
        earliest.map(|at| self.slow.real(at))
    }

    /// Appends all replies that may leave at `now`: the model has answered and the real work is done.
    pub fn drain(&mut self, now: Instant, replies: &mut Vec<Reply>) {
        let now = self.tell(now);
        let mut passed = std::mem::take(&mut self.passed);
        self.pace.drain(now, &mut passed);
        for passed in passed.drain(..) {
            self.pass(now, &passed);
        }
        self.passed = passed;
        while let Some(Reverse((_, slot, at))) =
            self.held.peek().copied().filter(|Reverse((leaves, ..))| *leaves <= now)
        {
            self.held.pop();
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
    /// If only rates of limits differ, those change, and queues, credits and caches stay. Otherwise the new model
    /// begins at rest with the next request, and requests in flight are answered by the model that accepted them; the
    /// limits of both count apart.
    pub fn remodel(&mut self, now: Instant, export: Export, model: &ChainSpec, seed: u64) {
        let now = self.tell(now);
        let path = export.0 as usize;
        let Some(Served { timing: Timing::Model(present), totals, .. }) = self.served.get_mut(path) else { return };
        let labels = totals.labels(&model.names());
        let before = std::mem::replace(present, model.clone());
        match before.changes_to(model) {
            Some(changes) => self.pace.change_rates(now, path, &changes, labels),
            None => self.pace.change_model(now, path, model, seed, labels),
        }
    }

    /// Changes the shared model of a group.
    pub fn change_group(&mut self, now: Instant, group: GroupId, change: &Change) -> Result<(), Refused> {
        let (now, Change::Rate { stage, .. }) = (self.tell(now), *change);
        if !self.pace.has_group(group.0 as usize) {
            return Err(Refused::NoSuchStage(stage));
        }
        self.pace.change_group(now, group.0 as usize, change)
    }

    /// Injects faults into a volume, in place of previous ones; `None` for none. Spikes and stalls need a model.
    pub fn inject(&mut self, now: Instant, export: Export, faults: Option<Faults>) {
        let now = self.tell(now);
        if let Some(served) = self.served.get_mut(export.0 as usize) {
            served.injector = faults.map(|faults| Injector::new(now, faults));
        }
    }

    /// Allocated ranges and holes of a volume from `offset` on: at most `limit` runs that together cover at most
    /// `length` bytes.
    pub fn extents(&self, export: Export, offset: u64, length: u64, limit: usize) -> Vec<Extent> {
        let volume = self.served.get(export.0 as usize).map(|served| served.volume);
        volume.map_or_else(Vec::new, |volume| self.store.extents(volume, offset, length, limit))
    }

    /// The data file whose content is that of the volume, byte for byte; `None` if there is a map.
    pub fn whole_file(&self, export: Export) -> Option<FileId> {
        self.served.get(export.0 as usize).and_then(|served| self.store.whole_file(served.volume))
    }

    /// Whether reads refer to allocated ranges only, so that showing them through a mapping allocates nothing.
    pub fn reads_only_allocated(&self) -> bool {
        self.store.reads_only_allocated()
    }

    /// Edits that ended since the last call.
    pub fn edited(&mut self) -> Vec<Edited> {
        std::mem::take(&mut self.edited)
    }

    /// The model time at `now`.
    fn tell(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        self.slow.model(self.now)
    }

    /// Processes the requests and edits that ended in the store.
    fn collect(&mut self) {
        let mut all = std::mem::take(&mut self.ended);
        all.extend(self.store.ended());
        for ended in all.drain(..) {
            match ended {
                Ended::Request(slot, outcome) => self.finish(slot, outcome),
                Ended::Edit(ticket, outcome) => self.edited.push(Edited { ticket, outcome }),
            }
        }
        self.ended = all;
    }

    /// The real work of a request ended.
    fn finish(&mut self, slot: u32, outcome: Result<(), Errno>) {
        let now = self.slow.model(self.now);
        let Some(flight) = self.flights.get_mut(slot) else { return };
        flight.outcome = Some(outcome);
        match flight.delay {
            Some(delay) if !delay.is_zero() => self.held.push(Reverse((now + delay, slot, now + delay))),
            Some(_) => {
                flight.due = Some(now);
                self.ready.push(slot);
            }
            None if flight.due.is_some() => self.ready.push(slot),
            None => {}
        }
    }

    /// The models have answered a request; a fault may delay it.
    fn pass(&mut self, now: Instant, passed: &Passed) {
        let slot = passed.slot.0;
        let Some(flight) = self.flights.get_mut(slot) else { return };
        flight.bound_by = passed.bound_by;
        let injector = self.served[flight.export.0 as usize].injector.as_ref();
        let at = injector.map_or(passed.at, |injector| injector.answer_at(passed.at, flight.fate));
        if at > passed.at || flight.fate.fails {
            flight.bound_by = Bound::Fault;
        }
        let leaves = at - self.pace.lead(flight.export.0 as usize);
        if leaves > now && at > passed.at {
            self.held.push(Reverse((leaves, slot, at)));
        } else {
            self.due(slot, at);
        }
    }

    /// Only its jobs delay a request from now on.
    fn due(&mut self, slot: u32, at: Instant) {
        let Some(flight) = self.flights.get_mut(slot) else { return };
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
        let Some(flight) = self.flights.remove(slot) else { return };
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
            let seen = now + served.path;
            served.fidelity.handed_out(seen, seen.since(due), payload);
        }
        let (real, seen) = (self.slow.real(due), self.now + self.slow.real_span(served.path));
        let then = if fate.tears { Then::Tear } else { Then::Send };
        replies.push(Reply { ticket, outcome, due: real, lateness: seen.since(real), bound_by, then });
    }
}

/// The reason why a volume cannot be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotServed {
    /// The store has no such volume.
    #[error("there is no volume {}", .0.0)]
    Unknown(VolumeId),
    /// It is served already.
    #[error("volume {} is served already: withdraw it first", .0.0)]
    Twice(VolumeId),
    /// There is no such group.
    #[error("there is no group {}", .0.0)]
    NoGroup(GroupId),
    /// The limits contradict each other.
    #[error("limits have at least one request, a block that is a power of two, and a payload of at least one block")]
    Limits,
}
