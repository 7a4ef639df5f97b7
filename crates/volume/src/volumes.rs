//! The volumes that one front serves: what is stored, joined with when it is answered.
//!
//! A server, not a loop: requests come from outside, and so does the time. It never sleeps, reads no clock and sees no
//! byte of a payload.

mod flight;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use plimsoll_model::{ChainSpec, Change, Refused, Stage};
use plimsoll_units::{Instant, Slot, Span};

use crate::backing::Backing;
use crate::faults::{Fate, Faults, Injector};
use crate::fidelity::Fidelity;
use crate::job::{FileId, Job, JobId};
use crate::pace::{Pace, Passed};
use crate::request::{Errno, Request, Ticket};
use crate::slab::Slab;
use crate::slow::Slow;
use crate::store::{Edit, EditError, Ended, Extent, Store, VolumeId};
use crate::totals::{Label, Totals};
use flight::{Flight, Served};

/// A volume while it is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Export(pub u32);

/// Volumes that share the limits of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

/// What a volume takes in at most.
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

/// What an answer needs from its moment to its client. In the front's time, and in model time inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lead {
    /// The way to the client, and that of the next request from there.
    pub path: Span,
    /// How late the front is as a rule.
    pub front: Span,
}

/// How a stored volume is served.
#[derive(Clone, Debug)]
pub struct Serving {
    /// Which one.
    pub volume: VolumeId,
    /// When it answers.
    pub model: ChainSpec,
    /// Determines the model's service times.
    pub seed: u64,
    /// What it takes in at most.
    pub limits: Limits,
    /// Whose limits it shares; `None` when it stands alone.
    pub group: Option<GroupId>,
}

/// Why a request was not taken. It has no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTaken {
    /// Too much is in flight: to be asked again after a reply. A front that asks [`Volumes::takes`] first never sees
    /// it.
    #[error("too much is in flight")]
    Full,
    /// The request cannot be served: to be answered with this at once.
    #[error("{0}")]
    Failed(Errno),
}

/// The answer to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Whose.
    pub ticket: Ticket,
    /// How it ended. The payload of a read is complete.
    pub outcome: Result<(), Errno>,
    /// When the model answered, on the front's time line.
    pub due: Instant,
    /// How long after that its client has it, by the path of its export's lead.
    pub lateness: Span,
    /// What held it longest.
    pub bound_by: Bound,
    /// What the front does with it.
    pub then: Then,
}

/// What held a request longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bound {
    /// A stage of the volume's own model, by its name in [`Totals`].
    Volume(Label),
    /// A stage of the model that its group shares.
    Group(Stage),
    /// An injected fault.
    Fault,
}

/// What a front does with a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Sends it.
    Send,
    /// Sends nothing and breaks the connection that the request came over: an injected fault.
    Tear,
}

/// An edit of the store ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edited {
    /// Its ticket.
    pub ticket: Ticket,
    /// Durable, or why not. What failed to become durable may still become it with a later commit.
    pub outcome: Result<(), Errno>,
}

/// All volumes of one store, or of whole files ([`crate::Flat`]), that are served by one front, and their time.
///
/// The calls of a front, in any order that its events come in:
/// 1. [`takes`](Self::takes), then [`accept`](Self::accept) for a request: gives jobs to do.
/// 2. [`worked`](Self::worked) for each job that is finished: may give further jobs.
/// 3. [`drain`](Self::drain) whenever [`wake_at`](Self::wake_at) has come: gives replies to send.
///
/// Time never goes back between calls.
#[derive(Debug)]
pub struct Volumes<B = Store> {
    store: B,
    pace: Pace,
    slow: Slow,
    served: Vec<Served>,
    flights: Slab<Flight>,
    /// Answers that a fault delays: when each leaves, its slot, and the moment of the answer.
    held: BinaryHeap<Reverse<(Instant, u32, Instant)>>,
    /// Requests that models, faults and jobs are through with.
    ready: Vec<u32>,
    /// The latest moment that was told.
    now: Instant,
    passed: Vec<Passed>,
    edited: Vec<Edited>,
}

impl Volumes {
    /// The store behind the volumes.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// What the store may use from now on, in bytes.
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

impl<B: Backing> Volumes<B> {
    /// Nothing is served yet.
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
            edited: Vec::new(),
        }
    }

    /// A group whose volumes share `model`: the limits of an instance.
    pub fn group(&mut self, model: &ChainSpec, seed: u64) -> GroupId {
        GroupId(self.pace.add_group(model, seed) as u32)
    }

    /// Ends a group; false, and it goes on, while volumes of it are served or have requests in flight. Its number may be
    /// given to another group after that.
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

    /// Takes no more requests for it (ESHUTDOWN). What is in flight is answered; true when nothing is. Its number may be
    /// given to another volume after that.
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

    /// What a volume takes in at most.
    pub fn limits(&self, export: Export) -> Option<Limits> {
        self.served.get(export.0 as usize).map(|served| served.limits)
    }

    /// What the volume did since it is served.
    pub fn totals(&self, export: Export) -> Option<&Totals> {
        self.served.get(export.0 as usize).map(|served| &served.totals)
    }

    /// How faithful the volume is to its model.
    pub fn fidelity(&self, export: Export) -> Option<&Fidelity> {
        self.served.get(export.0 as usize).map(|served| &served.fidelity)
    }

    /// Answers are handed out so much earlier than the models give them from now on, where they are known by then.
    pub fn set_lead(&mut self, export: Export, lead: Lead) {
        if let Some(served) = self.served.get_mut(export.0 as usize) {
            let [path, front] = [lead.path, lead.front].map(|span| self.slow.model_span(span));
            served.path = path;
            self.pace.set_lead(export.0 as usize, path + front);
        }
    }

    /// Requests that were accepted and not replied to.
    pub fn in_flight(&self, export: Export) -> u32 {
        self.served.get(export.0 as usize).map_or(0, |served| served.in_flight)
    }

    /// True when a request with so many bytes of payload would not be refused as [`NotTaken::Full`]: otherwise nothing
    /// more should be read from that client until a reply has left.
    pub fn takes(&self, export: Export, payload: u64) -> bool {
        self.served.get(export.0 as usize).is_none_or(|served| served.has_room(payload))
    }

    /// Takes a request in. `jobs` gets the real work that can begin at once. Exactly one reply follows.
    pub fn accept(
        &mut self,
        now: Instant,
        export: Export,
        ticket: Ticket,
        request: &Request,
        jobs: &mut Vec<Job>,
    ) -> Result<(), NotTaken> {
        let (slot, fate) = self.admit(now, export, ticket, request)?;
        let volume = self.served[export.0 as usize].volume;
        if fate.fails {
            self.finish(slot, Err(Errno::Io));
        } else if let Err(errno) = self.store.accept(slot, ticket, volume, request, jobs) {
            self.flights.remove(slot);
            return Err(NotTaken::Failed(errno));
        }
        self.submit(now, slot, export, request);
        self.collect();
        Ok(())
    }

    /// Takes a request in without its payload, which [`transfer`](Self::transfer) moves in parts: those of a write before
    /// this call, those of a read after its reply. The model sees one request. Exactly one reply follows.
    pub fn accept_timing(
        &mut self,
        now: Instant,
        export: Export,
        ticket: Ticket,
        request: &Request,
    ) -> Result<(), NotTaken> {
        let (slot, fate) = self.admit(now, export, ticket, request)?;
        self.finish(slot, if fate.fails { Err(Errno::Io) } else { Ok(()) });
        self.submit(now, slot, export, request);
        Ok(())
    }

    /// Does the real work of a part of a request, without the model and the totals: the reply leaves when the work is done.
    pub fn transfer(
        &mut self,
        now: Instant,
        export: Export,
        ticket: Ticket,
        part: &Request,
        jobs: &mut Vec<Job>,
    ) -> Result<(), NotTaken> {
        let now = self.tell(now);
        let served = self.served.get_mut(export.0 as usize).filter(|served| served.is_open);
        let served = served.ok_or(NotTaken::Failed(Errno::Shutdown))?;
        served.transfers += 1;
        let volume = served.volume;
        let slot = self.flights.insert(Flight::transfer(now, export, ticket, part));
        if let Err(errno) = self.store.accept(slot, ticket, volume, part, jobs) {
            self.flights.remove(slot);
            self.served[export.0 as usize].transfers -= 1;
            return Err(NotTaken::Failed(errno));
        }
        self.collect();
        Ok(())
    }

    /// Checks a request against what the volume takes in.
    fn admit(
        &mut self,
        now: Instant,
        export: Export,
        ticket: Ticket,
        request: &Request,
    ) -> Result<(u32, Fate), NotTaken> {
        let now = self.tell(now);
        let served = self.served.get_mut(export.0 as usize).ok_or(NotTaken::Failed(Errno::Shutdown))?;
        served.admit(request)?;
        if served.in_flight == 0 {
            served.fidelity.close(now);
        }
        let fate = served.injector.as_mut().map_or(Fate::NONE, |injector| injector.fate(request.class()));
        Ok((self.flights.insert(Flight::new(export, ticket, request, fate)), fate))
    }

    /// Hands an admitted request to the model.
    fn submit(&mut self, now: Instant, slot: u32, export: Export, request: &Request) {
        let (now, path) = (self.tell(now), export.0 as usize);
        let served = &mut self.served[path];
        served.in_flight += 1;
        served.fidelity.in_flight(served.in_flight);
        served.bytes += request.payload();
        self.pace.submit(now, path, Slot(slot), &request.op());
    }

    /// A job is finished; `jobs` gets what can begin now.
    pub fn worked(&mut self, now: Instant, job: JobId, outcome: Result<(), Errno>, jobs: &mut Vec<Job>) {
        self.tell(now);
        self.store.worked(job, outcome, jobs);
        self.collect();
    }

    /// When [`drain`](Self::drain) has something to do next; `None` when only a request or a finished job can change
    /// that. A moment that has passed means: now.
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

    /// Gives a volume another model while it serves; the totals go on.
    ///
    /// Where rates of limits are all that differs, those change, and what was accumulated stays: queues, credits, caches.
    /// Otherwise the new model begins at rest for requests from now on, and those in flight are answered by the one that
    /// they were taken in with: what both let through counts apart.
    pub fn remodel(&mut self, now: Instant, export: Export, model: &ChainSpec, seed: u64) {
        let now = self.tell(now);
        let path = export.0 as usize;
        let Some(served) = self.served.get_mut(path) else { return };
        let labels = served.totals.labels(&model.names());
        let before = std::mem::replace(&mut served.model, model.clone());
        match before.changes_to(model) {
            Some(changes) => self.pace.change_rates(now, path, &changes, labels),
            None => self.pace.change_model(now, path, model, seed, labels),
        }
    }

    /// Changes what a group shares.
    pub fn change_group(&mut self, now: Instant, group: GroupId, change: &Change) -> Result<(), Refused> {
        let (now, Change::Rate { stage, .. }) = (self.tell(now), *change);
        if !self.pace.has_group(group.0 as usize) {
            return Err(Refused::NoSuchStage(stage));
        }
        self.pace.change_group(now, group.0 as usize, change)
    }

    /// Injects faults into a volume from now on, in place of those before; `None` for no more.
    pub fn inject(&mut self, now: Instant, export: Export, faults: Option<Faults>) {
        let now = self.tell(now);
        if let Some(served) = self.served.get_mut(export.0 as usize) {
            served.injector = faults.map(|faults| Injector::new(now, faults));
        }
    }

    /// Where a volume has space, from `offset` on: at most `limit` runs that together cover at most `length` bytes.
    pub fn extents(&self, export: Export, offset: u64, length: u64, limit: usize) -> Vec<Extent> {
        let volume = self.served.get(export.0 as usize).map(|served| served.volume);
        volume.map_or_else(Vec::new, |volume| self.store.extents(volume, offset, length, limit))
    }

    /// The data file that a volume is, byte for byte; `None` when a map lies between.
    pub fn whole_file(&self, export: Export) -> Option<FileId> {
        self.served.get(export.0 as usize).and_then(|served| self.store.whole_file(served.volume))
    }

    /// Whether reads are only of places that have their space.
    pub fn reads_what_has_space(&self) -> bool {
        self.store.reads_what_has_space()
    }

    /// Edits that ended since the last call.
    pub fn edited(&mut self) -> Vec<Edited> {
        std::mem::take(&mut self.edited)
    }

    /// The model's moment at `now`.
    fn tell(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        self.slow.model(self.now)
    }

    /// Takes over what ended in the store.
    fn collect(&mut self) {
        let Self { store, flights, ready, edited, .. } = self;
        for ended in store.ended() {
            match ended {
                Ended::Request(slot, outcome) => {
                    if let Some(flight) = flights.get_mut(slot)
                        && flight.finish(outcome)
                    {
                        ready.push(slot);
                    }
                }
                Ended::Edit(ticket, outcome) => edited.push(Edited { ticket, outcome }),
            }
        }
    }

    fn finish(&mut self, slot: u32, outcome: Result<(), Errno>) {
        if let Some(flight) = self.flights.get_mut(slot)
            && flight.finish(outcome)
        {
            self.ready.push(slot);
        }
    }

    /// The models are through with a request; a fault may hold it back.
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

    /// Nothing but its jobs holds a request any more.
    fn due(&mut self, slot: u32, at: Instant) {
        let Some(flight) = self.flights.get_mut(slot) else { return };
        let response = at.since(self.pace.submitted(Slot(slot)));
        self.served[flight.export.0 as usize].fidelity.answered(at, response, flight.payload);
        if flight.pass(at) {
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
        let seen = now + served.path;
        served.fidelity.handed_out(seen, seen.since(due), payload);
        let (real, seen) = (self.slow.real(due), self.now + self.slow.real_span(served.path));
        let then = if fate.tears { Then::Tear } else { Then::Send };
        replies.push(Reply { ticket, outcome, due: real, lateness: seen.since(real), bound_by, then });
    }
}

/// Why a volume cannot be served.
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
