//! One ring loop that serves exports to clients: it waits for sockets, for the files behind the volumes and for the
//! moments of their models in a single call.
//!
//! Knows nothing about models: a [`Service`] says what real work a request needs and when it is answered.
#![allow(unsafe_code)]

mod checked;
mod connection;
mod counts;
mod edits;
mod haste;
mod input;
mod listen;
mod mail;
mod mounted;
mod output;
mod parts;
mod ring;
mod secure;
mod tape;
mod turnaround;
mod wake;
mod work;

use std::collections::BTreeMap;
use std::io;

use io_uring::types::Timespec;
use plimsoll_device::Clock;
use plimsoll_units::{Instant, Span};
use plimsoll_volume::{Command, Export, Extent, Job, Place, Reply, Ticket};

use self::checked::Guards;
use self::connection::{Connection, Course};
use self::counts::Counts;
use self::edits::Afterwards;
use self::haste::Haste;
use self::listen::Listener;
use self::mail::Mail;
use self::mounted::Mounts;
use self::ring::{Event, Ring, Token};
use self::wake::{NEAR, Waker};
use self::work::Task;
use crate::files::Files;
use crate::floor::Floor;
use crate::fuse::Unique;
use crate::nbd::{Offer, Voice};
use crate::pool::{Buffer, Pool};
use crate::service::Service;
use crate::slots::Slots;

pub use counts::Count;
pub use edits::EditFailed;
pub use listen::Door;
pub use mail::{Ended, Handle};
pub use secure::TlsMode;
pub use tape::{Kept, RecordError, Tape};

/// What a server takes on at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Clients at the same time; those of one of several listening sockets get three quarters. One more ends the longest
    /// of those that have not chosen an export, and is refused when all have.
    pub connections: usize,
    /// Clients at the same time that came over one listening socket and have not chosen an export.
    pub handshakes: usize,
    /// Bytes of payloads in memory.
    pub bytes: u64,
    /// How long a client may take to send the rest of a message, or to read a reply.
    pub patience: Span,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 256, handshakes: 64, bytes: 512 << 20, patience: Span::from_secs(60) }
    }
}

/// A request that was taken in and not answered.
#[derive(Debug)]
struct Flight {
    client: Client,
    count: u32,
    command: Command,
    length: u32,
    buffer: Option<Buffer>,
    /// All of it reads as zeros.
    blank: bool,
    came: Instant,
}

/// Who is answered.
#[derive(Clone, Copy, Debug)]
enum Client {
    /// A client of NBD.
    Nbd { connection: u32, voice: Voice },
    /// A client of NBD, whose request is moved in parts: this is one of them.
    Part { connection: u32, voice: Voice },
    /// The kernel, for a filesystem.
    Kernel { mount: u32, unique: Unique },
}

/// So often clients are looked at that owe something. A timer of its own costs less than one for each wait.
static LOOK: Timespec = Timespec::new().sec(1);

/// How long the loop goes on after it was told to stop, although clients have not read everything.
const FAREWELL: Span = Span::from_secs(5);

/// A server. It is made, given exports and listeners, and run on one thread.
pub struct Server<S> {
    ring: Ring,
    clock: Clock,
    now: Instant,
    waker: Waker,
    floor: Option<Floor>,
    service: S,
    files: Files,
    haste: Haste,
    offers: Vec<Offer>,
    limits: Limits,
    tls: TlsMode,
    connections: Slots<Connection>,
    flights: Slots<Flight>,
    tasks: Slots<Task>,
    guards: Guards,
    listeners: Slots<Listener>,
    /// Listening sockets so far.
    doors: u64,
    mounts: Mounts,
    pool: Pool,
    mail: Mail<S>,
    counts: Counts,
    jobs: Vec<Job>,
    replies: Vec<Reply>,
    events: Vec<Event>,
    /// Connections that have something to send, or may have come to their end.
    touched: Vec<u32>,
    /// Connections that wait until something is answered.
    blocked: Vec<u32>,
    /// Connections whose clients may be sent the next part of a read.
    streaming: Vec<u32>,
    /// Something was answered or sent since blocked connections were looked at.
    freed: bool,
    /// Edits that were begun, and what is to be done after those that have not ended.
    edits: u64,
    editing: BTreeMap<Ticket, Afterwards<S>>,
    /// Logs that are being replaced.
    replacing: u32,
    /// Exports that are recorded.
    tapes: Vec<(Export, Tape)>,
    /// When the loop ends at the latest, once it was told to.
    stop: Option<Instant>,
}

impl<S: Service + 'static> Server<S> {
    /// A server without exports and listeners, on `clock`.
    ///
    /// # Errors
    /// The kernel has no `io_uring`, or does not allow it; or checksums cannot be computed again after an unclean end.
    pub fn new(service: S, mut files: Files, limits: Limits, clock: Clock) -> io::Result<Self> {
        files.recover_sums()?;
        let now = clock.now();
        Ok(Self {
            ring: Ring::new()?,
            clock,
            now,
            waker: Waker::new(),
            floor: None,
            service,
            haste: Haste::new(!files.are_durable(), clock),
            files,
            offers: Vec::new(),
            limits,
            tls: TlsMode::Off,
            connections: Slots::new(),
            flights: Slots::new(),
            tasks: Slots::new(),
            guards: Guards::new(),
            listeners: Slots::new(),
            doors: 0,
            mounts: Mounts::new(),
            pool: Pool::new(limits.bytes),
            mail: Mail::new()?,
            counts: Counts::default(),
            jobs: Vec::new(),
            replies: Vec::new(),
            events: Vec::new(),
            touched: Vec::new(),
            blocked: Vec::new(),
            streaming: Vec::new(),
            freed: false,
            edits: 0,
            editing: BTreeMap::new(),
            replacing: 0,
            tapes: Vec::new(),
            stop: None,
        })
    }

    /// How other threads reach it.
    pub fn handle(&self) -> Handle<S> {
        self.mail.handle.clone()
    }

    /// Shows an export to clients; one of the same name is replaced for those who come.
    pub fn offer(&mut self, offer: Offer) {
        self.offers.retain(|other| other.name != offer.name);
        self.offers.push(offer);
    }

    /// Whether clients that come from now on may or have to encrypt.
    pub fn set_tls(&mut self, mode: TlsMode) {
        self.tls = mode;
    }

    /// The floor of this host: answers leave earlier than their models give them by what the way to the clients and back
    /// takes, and by no more than the floor shows. Without it that is at most 30 us.
    pub const fn set_floor(&mut self, floor: Floor) {
        self.floor = Some(floor);
    }

    /// Takes an export from the list, and ends its connections and filesystems after what is in flight was answered.
    pub fn retract(&mut self, export: Export) {
        self.offers.retain(|offer| offer.export != export);
        self.end_mounts(export);
        for number in self.connections.numbers() {
            if self.connections.get(number).is_some_and(|connection| connection.export() == Some(export)) {
                self.end(number, Course::Ending);
            }
        }
    }

    /// How many clients an export has over NBD.
    pub fn clients(&self, export: Export) -> usize {
        let of = |number: &u32| self.connections.get(*number).is_some_and(|one| one.export() == Some(export));
        self.connections.numbers().iter().filter(|number| of(number)).count()
    }

    /// How many clients are connected over NBD, those on their way out among them.
    pub fn connected(&self) -> usize {
        self.connections.len()
    }

    /// Where an export has space, from `offset` on: by its map, or by the file that it is.
    fn extents(&mut self, export: Export, offset: u64, length: u64, limit: usize) -> Vec<Extent> {
        let extents = self.service.extents(export, offset, length, limit);
        let (Some(file), [Extent { length, allocated: true }]) = (self.service.whole_file(export), &extents[..]) else {
            return extents;
        };
        self.files.extents(Place { file, at: offset }, *length, limit).unwrap_or(extents)
    }

    /// The service, between two rounds of the loop, with the present moment and a list for jobs that come of it.
    pub fn service(&mut self) -> (&mut S, Instant, &mut Vec<Job>) {
        self.now = self.clock.now();
        (&mut self.service, self.now, &mut self.jobs)
    }

    /// Bytes of payloads that are in memory for requests and for replies that are not sent yet.
    pub const fn lent_bytes(&self) -> u64 {
        self.pool.lent()
    }

    /// What was counted for an export since the last call.
    pub fn take_count(&mut self, export: Export) -> Count {
        self.counts.take(export)
    }

    /// Ends the loop: nobody is let in, nothing is read, and what is in flight is answered.
    pub fn stop(&mut self) {
        self.stop = Some(self.clock.now() + FAREWELL);
        self.close_doors();
        self.end_all_mounts();
        for number in self.connections.numbers() {
            self.end(number, Course::Ending);
        }
    }

    /// Serves until [`Server::stop`], or until the last connection or filesystem ends when there is no listener.
    ///
    /// # Errors
    /// The ring fails as a whole.
    pub fn run(&mut self) -> io::Result<()> {
        plimsoll_device::sharpen_timers();
        self.watch_mail()?;
        self.look()?;
        self.now = self.clock.now();
        self.settle()?;
        let mut served = Ok(());
        while served.is_ok() && !self.is_over() {
            served = self.round();
        }
        self.finish_recordings();
        served
    }

    fn is_over(&self) -> bool {
        let clients = self.connections.len() + self.mounts.len() + self.flights.len();
        let work = self.tasks.len() + self.replacing as usize + self.editing.len();
        match self.stop {
            Some(at) => clients + work == 0 || self.now >= at,
            None => clients + work + self.listeners.len() == 0,
        }
    }

    /// Waits once, and deals with everything that came.
    fn round(&mut self) -> io::Result<()> {
        // A long read gives way to other events after each part.
        if !self.streaming.is_empty() || !self.is_due()? {
            let next = self.service.wake_at().filter(|_| self.streaming.is_empty());
            let most = match next {
                None if !self.streaming.is_empty() => Some(Span::ZERO),
                next => next.map(|at| self.waker.sleep(self.now, at)),
            };
            let mut events = std::mem::take(&mut self.events);
            self.ring.wait(most, &mut events)?;
            self.now = self.clock.now();
            self.waker.woke(self.now, events.is_empty());
            for event in events.drain(..) {
                self.heed(event)?;
            }
            self.events = events;
            self.fetch_parts();
        }
        self.settle()
    }

    /// True when the service has something to do at once. A moment that is nearer than the way to sleep and back is
    /// waited for here, as long as no event comes.
    #[inline]
    fn is_due(&mut self) -> io::Result<bool> {
        let Some(at) = self.service.wake_at() else { return Ok(false) };
        if at > self.now + NEAR {
            // What was done since the last reading took its time, too.
            self.now = self.clock.now();
        }
        let left = at.since(self.now);
        if left > self.waker.near(left) {
            return Ok(false);
        }
        if left > NEAR {
            return self.spin(at);
        }
        while at > self.now {
            self.now = self.clock.now();
        }
        Ok(true)
    }

    /// Waits for a moment without sleep; false when an event came before it.
    fn spin(&mut self, at: Instant) -> io::Result<bool> {
        self.ring.submit()?;
        let begun = self.now;
        while at > self.now && !self.ring.has_events() {
            std::hint::spin_loop();
            self.now = self.clock.now();
        }
        self.waker.spun(self.now.since(begun));
        Ok(at <= self.now)
    }

    #[inline]
    fn heed(&mut self, Event { token, result }: Event) -> io::Result<()> {
        match token {
            Token::Received(number) => self.received(number, result),
            Token::Writable(number) => {
                if let Some(connection) = self.connections.get_mut(number) {
                    connection.polling = false;
                    self.touch(number);
                }
                Ok(())
            }
            Token::Worked(number) => self.advanced(number, result),
            Token::Accepted(number) => self.accepted(number, result),
            Token::Asked(number) => self.asked(number, result),
            Token::Mail => {
                for errand in self.mail.read() {
                    errand(self);
                }
                self.watch_mail()
            }
            Token::Look => self.look(),
            Token::Cancelled => Ok(()),
        }
    }

    /// Begins jobs, answers what is due, sends, and takes in what had to wait, until nothing more can be done.
    #[inline]
    fn settle(&mut self) -> io::Result<()> {
        loop {
            self.begin_jobs()?;
            if !self.editing.is_empty() {
                self.end_edits();
            }
            self.answer();
            self.flush()?;
            if std::mem::take(&mut self.freed) && (!self.blocked.is_empty() || self.mounts.are_blocked()) {
                self.resume()?;
            } else if self.jobs.is_empty() && self.touched.is_empty() {
                return Ok(());
            }
        }
    }

    /// Lets blocked connections and filesystems go on.
    fn resume(&mut self) -> io::Result<()> {
        self.resume_mounts()?;
        for number in std::mem::take(&mut self.blocked) {
            if let Some(connection) = self.connections.get_mut(number) {
                connection.blocked = false;
                self.take_in(number)?;
            }
        }
        Ok(())
    }

    /// Ends connections whose clients have owed something for too long.
    #[cold]
    fn look(&mut self) -> io::Result<()> {
        for number in self.connections.numbers() {
            let (now, patience) = (self.now, self.limits.patience);
            let late = self.connections.get(number).is_some_and(|connection| {
                let silent = connection.owes() && now.since(connection.moved) > patience;
                silent || connection.tls.as_ref().is_some_and(|secured| secured.is_late(now, patience))
            });
            if late {
                self.end(number, Course::Broken);
            }
        }
        self.open_doors()?;
        self.turn_pages();
        if self.pool.trim() && self.flights.len() == 0 {
            give_memory_back();
        }
        self.ring.sleep(&LOOK, Token::Look)
    }

    fn watch_mail(&mut self) -> io::Result<()> {
        self.ring.poll(self.mail.bell(), libc::POLLIN, Token::Mail)
    }

    fn touch(&mut self, number: u32) {
        if let Some(connection) = self.connections.get_mut(number)
            && !connection.touched
        {
            connection.touched = true;
            self.touched.push(number);
        }
    }
}

/// Has the allocator return what it keeps of freed memory.
fn give_memory_back() {
    // SAFETY: the call has no preconditions.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0)
    };
}

impl<S> Drop for Server<S> {
    fn drop(&mut self) {
        if self.ring.holds_memory() {
            // The kernel may still move data: the memory is given up rather than reused.
            std::mem::forget(std::mem::replace(&mut self.connections, Slots::new()));
            std::mem::forget(std::mem::replace(&mut self.flights, Slots::new()));
            std::mem::forget(std::mem::replace(&mut self.tasks, Slots::new()));
            self.mounts.give_up();
        }
    }
}
