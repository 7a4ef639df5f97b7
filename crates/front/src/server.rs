//! The ring loop that serves exports to clients: a single call waits for sockets, for files, and for the next due
//! answer of a model.
//!
//! [`Volumes`] decide which jobs a request needs and when it is answered.
#![allow(unsafe_code)]

mod checked;
mod combine;
mod connection;
mod counts;
mod edits;
mod flight;
mod inline_io;
mod input;
mod listen;
mod mailbox;
mod mounted;
mod notices;
mod output;
mod parts;
mod recorder;
mod ring;
mod secure;
mod turnaround;
mod wake;
mod work;

use std::collections::BTreeMap;
use std::io;

use io_uring::types::Timespec;
use plimsoll_device::Clock;
use plimsoll_units::{Instant, Span};
use plimsoll_volume::{Export, Extent, FileJob, FilePosition, Reply, StoreId, Ticket, Volumes};

use self::checked::Guards;
use self::combine::Lock;
use self::connection::{Connection, Lifecycle};
use self::counts::ServerCounts;
use self::edits::EditCallback;
use self::flight::Flight;
use self::inline_io::InlineIo;
use self::listen::Listener;
use self::mailbox::Mailbox;
use self::mounted::Mounts;
use self::ring::{Ring, RingEvent, Token};
use self::wake::{NEAR, Waker};
use self::work::Task;
use crate::codec::{Message, SessionServices};
use crate::files::DataFiles;
use crate::offer::Offer;
use crate::pool::Pool;
use crate::slots::Slots;
use crate::unit::Controller;

pub use counts::Count;
pub use edits::EditFailed;
pub use listen::ListenerId;
pub use mailbox::{Handle, ServerEnded};
pub use notices::{ClientEvent, ClientNotice, ClientNotices, EndReason};
pub use recorder::{RecordError, RecordedTrace, TraceRecorder};
pub use secure::TlsMode;
pub use turnaround::Floor;

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Concurrent clients; at most three quarters of them through one of several listening sockets. A further client
    /// replaces the one that has negotiated longest, and is refused if all have chosen an export.
    pub connections: usize,
    /// Concurrent clients of one listening socket that have not chosen an export.
    pub handshakes: usize,
    /// Bytes of payloads in memory.
    pub bytes: u64,
    /// Maximum time for a client to send the rest of a message, or to read a reply.
    pub client_timeout: Span,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 256, handshakes: 64, bytes: 512 << 20, client_timeout: Span::from_secs(60) }
    }
}

/// Interval of the checks for slow clients. One timer for all costs less than a timeout for each wait.
static POLL_INTERVAL: Timespec = Timespec::new().sec(1);

/// Maximum time of the loop after [`Server::stop`], for clients that have not read all replies.
const SHUTDOWN_TIMEOUT: Span = Span::from_secs(5);
/// Maximum time for making answered writes durable at the end; service managers kill after 90 s.
const FLUSH_TIMEOUT: Span = Span::from_secs(60);

/// A server: made, given exports and listeners, and run on one thread.
pub struct Server {
    ring: Ring,
    clock: Clock,
    now: Instant,
    waker: Waker,
    floor: Option<Floor>,
    volumes: Volumes,
    files: DataFiles,
    inline_io: InlineIo,
    offers: Vec<Offer>,
    limits: Limits,
    tls: TlsMode,
    connections: Slots<Connection>,
    flights: Slots<Flight>,
    tasks: Slots<Task>,
    guards: Guards,
    listeners: Slots<Listener>,
    /// Serial number of the next listening socket.
    listener_serial: u64,
    mounts: Mounts,
    pool: Pool,
    mailbox: Mailbox,
    counts: ServerCounts,
    notices: ClientNotices,
    jobs: Vec<FileJob>,
    replies: Vec<Reply>,
    events: Vec<RingEvent>,
    /// Connections with data to send, or that may have to be closed.
    touched: Vec<u32>,
    /// Connections that wait for an answer to another request.
    blocked: Vec<u32>,
    /// Connections that may fetch the next part of a read.
    streaming: Vec<u32>,
    /// Ranges that a single request may change.
    locks: Vec<Lock>,
    /// An answer was queued or sent since blocked connections were retried.
    freed: bool,
    /// Edits begun so far, and the callbacks of those in progress.
    edits: u64,
    editing: BTreeMap<Ticket, EditCallback>,
    /// Logs that are being replaced.
    replacing: u32,
    /// Exports that are recorded.
    recorders: Vec<(Export, TraceRecorder)>,
    /// Bytes that a codec has written.
    out: Vec<u8>,
    /// Deadline of the loop after [`Server::stop`].
    stop: Option<Instant>,
}

impl Server {
    /// A server without exports and listeners, on `clock`.
    ///
    /// # Errors
    /// The kernel has no `io_uring`, or does not allow it; or checksums cannot be computed again after an unclean end.
    pub fn new(volumes: Volumes, mut files: DataFiles, limits: Limits, clock: Clock) -> io::Result<Self> {
        files.recover_sums()?;
        let now = clock.now();
        Ok(Self {
            ring: Ring::new()?,
            clock,
            now,
            waker: Waker::new(),
            floor: None,
            volumes,
            inline_io: InlineIo::new(!files.are_durable(), clock),
            files,
            offers: Vec::new(),
            limits,
            tls: TlsMode::Off,
            connections: Slots::new(),
            flights: Slots::new(),
            tasks: Slots::new(),
            guards: Guards::new(),
            listeners: Slots::new(),
            listener_serial: 0,
            mounts: Mounts::new(),
            pool: Pool::new(limits.bytes),
            mailbox: Mailbox::new()?,
            counts: ServerCounts::default(),
            notices: ClientNotices::default(),
            jobs: Vec::new(),
            replies: Vec::new(),
            events: Vec::new(),
            touched: Vec::new(),
            blocked: Vec::new(),
            streaming: Vec::new(),
            locks: Vec::new(),
            freed: false,
            edits: 0,
            editing: BTreeMap::new(),
            replacing: 0,
            recorders: Vec::new(),
            out: Vec::new(),
            stop: None,
        })
    }

    /// A handle for other threads.
    pub fn handle(&self) -> Handle {
        self.mailbox.handle.clone()
    }

    /// Offers an export to clients, in place of one with the same name.
    pub fn offer(&mut self, offer: Offer) {
        self.offers.retain(|other| other.name != offer.name);
        self.offers.push(offer);
    }

    /// Sets whether further clients may or have to encrypt.
    pub fn set_tls(&mut self, mode: TlsMode) {
        self.tls = mode;
    }

    /// Sets the latency floor of this host. Answers leave earlier than their models give them by the latency of the
    /// path to the client and back, at most by that of the floor. Without a floor the maximum is 30 us.
    pub const fn set_floor(&mut self, floor: Floor) {
        self.floor = Some(floor);
    }

    /// Withdraws an offer. Its connections and mounts end after requests in flight were answered.
    pub fn retract(&mut self, export: Export) {
        self.offers.retain(|offer| offer.export != export);
        self.listeners.iter().for_each(|listener| listener.service.forget(export));
        self.end_mounts(export);
        for number in self.connections.numbers() {
            if self.connections.get(number).is_some_and(|connection| connection.export() == Some(export)) {
                self.close(number);
            }
        }
    }

    /// Ends the sessions of an export, of protocols with sessions, after their requests in flight were answered.
    pub fn end_sessions(&mut self, export: Export) {
        let is_session =
            |connection: &Connection| connection.codec.services().is_some() && connection.export() == Some(export);
        for number in self.connections.numbers() {
            if self.connections.get(number).is_some_and(is_session) {
                self.close(number);
            }
        }
    }

    /// Makes a controller the owner of an export with two controllers: its paths are optimized from now on.
    pub fn set_owner(&mut self, export: Export, owner: Controller) {
        self.listeners.iter().for_each(|listener| listener.service.set_owner(export, owner));
    }

    /// Ends a connection after the requests in flight, and announces that once.
    fn close(&mut self, number: u32) {
        self.out.clear();
        let open = |connection: &&mut Connection| connection.lifecycle == Lifecycle::Open;
        if let Some(connection) = self.connections.get_mut(number).filter(open) {
            if let Some(services) = connection.codec.services_mut() {
                services.close(&mut self.out);
            }
            if !self.out.is_empty() {
                connection.put(None, |_, out| out.append(&mut self.out));
            }
        }
        self.end(number, Lifecycle::Draining, EndReason::Withdrawn);
    }

    /// Connections that have chosen an export.
    pub fn clients(&self, export: Export) -> usize {
        let of = |number: &u32| self.connections.get(*number).is_some_and(|one| one.export() == Some(export));
        self.connections.numbers().iter().filter(|number| of(number)).count()
    }

    /// Connections that have chosen an export, and its mounts on this host.
    pub fn users(&self, export: Export) -> usize {
        self.clients(export) + self.mounts(export)
    }

    /// Connections, with those that are ending.
    pub fn connected(&self) -> usize {
        self.connections.len()
    }

    /// The identity of the data directory; `None` without one.
    pub fn store_id(&self) -> Option<StoreId> {
        self.files.id()
    }

    /// Allocated ranges and holes of an export from `offset` on, from its map or its file.
    fn extents(&mut self, export: Export, offset: u64, length: u64, limit: usize) -> Vec<Extent> {
        let extents = self.volumes.extents(export, offset, length, limit);
        let (Some(file), [Extent { length, allocated: true }]) = (self.volumes.flat_file(export), &extents[..]) else {
            return extents;
        };
        self.files.extents(FilePosition { file, at: offset }, *length, limit).unwrap_or(extents)
    }

    /// The volumes between two rounds of the loop, the present time, and the list for jobs that result from calls.
    pub fn volumes(&mut self) -> (&mut Volumes, Instant, &mut Vec<FileJob>) {
        self.now = self.clock.now();
        (&mut self.volumes, self.now, &mut self.jobs)
    }

    /// Bytes of memory lent to requests and to replies that are not sent yet.
    pub const fn lent_bytes(&self) -> u64 {
        self.pool.lent()
    }

    /// The counts of an export since the last call.
    pub fn take_count(&mut self, export: Export) -> Count {
        self.counts.take(export)
    }

    /// Ends the loop: no further clients or requests are accepted; requests in flight are answered.
    pub fn stop(&mut self) {
        self.stop = Some(self.clock.now() + SHUTDOWN_TIMEOUT);
        self.close_listeners();
        self.end_all_mounts();
        for number in self.connections.numbers() {
            self.close(number);
        }
    }

    /// Serves until [`Server::stop`]; without a listener until the last connection or mount ends.
    ///
    /// # Errors
    /// The ring fails as a whole.
    pub fn run(&mut self) -> io::Result<()> {
        plimsoll_device::sharpen_timers();
        self.watch_mailbox()?;
        self.tick()?;
        self.now = self.clock.now();
        self.process()?;
        let mut served = Ok(());
        while served.is_ok() && !self.is_over() {
            served = self.round();
        }
        self.finish_recordings();
        served.and_then(|()| self.flush_answered())
    }

    /// Makes all answered writes durable: clients that end without a flush lose nothing by an orderly end of the server.
    fn flush_answered(&mut self) -> io::Result<()> {
        let end = self.clock.now() + FLUSH_TIMEOUT;
        self.volumes.flush_all(&mut self.jobs);
        self.process()?;
        while self.volumes.is_flushing() && self.now < end {
            self.round()?;
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        let clients = self.connections.len() + self.mounts.len() + self.flights.len();
        let work = self.tasks.len() + self.replacing as usize + self.editing.len();
        match self.stop {
            Some(at) => clients + work == 0 || self.now >= at,
            None => clients + work + self.listeners.len() == 0,
        }
    }

    /// Waits once, and processes all events.
    fn round(&mut self) -> io::Result<()> {
        // A long read yields to other events after each part.
        if !self.streaming.is_empty() || !self.is_due()? {
            let next = self.volumes.wake_at().filter(|_| self.streaming.is_empty());
            let max = match next {
                None if !self.streaming.is_empty() => Some(Span::ZERO),
                next => next.map(|at| self.waker.sleep(self.now, at)),
            };
            let mut events = std::mem::take(&mut self.events);
            self.ring.wait(max, &mut events)?;
            self.now = self.clock.now();
            self.waker.woke(self.now, events.is_empty());
            for event in events.drain(..) {
                self.dispatch(event)?;
            }
            self.events = events;
            self.fetch_parts();
        }
        self.process()
    }

    /// True when an answer is due. Close to its time, waits for it here, unless an event comes first.
    #[inline]
    fn is_due(&mut self) -> io::Result<bool> {
        let Some(at) = self.volumes.wake_at() else { return Ok(false) };
        if at > self.now + NEAR {
            // Work since the last reading took time.
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

    /// Spins until `at`; false when an event came before it.
    fn spin(&mut self, at: Instant) -> io::Result<bool> {
        if self.ring.uring.is_queued() {
            self.ring.uring.submit()?;
        }
        let begun = self.now;
        while at > self.now && !self.ring.uring.is_ready() {
            std::hint::spin_loop();
            self.now = self.clock.now();
        }
        self.waker.spun(self.now.since(begun));
        Ok(at <= self.now)
    }

    #[inline]
    fn dispatch(&mut self, RingEvent { token, result }: RingEvent) -> io::Result<()> {
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
            Token::Message(number) => self.message_read(number, result),
            Token::Mailbox => {
                for call in self.mailbox.read() {
                    call(self);
                }
                self.watch_mailbox()
            }
            Token::Tick => self.tick(),
            Token::Cancelled => Ok(()),
        }
    }

    /// Begins jobs, sends answers that are due, and resumes blocked clients, until nothing is left.
    #[inline]
    fn process(&mut self) -> io::Result<()> {
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

    /// Resumes blocked connections and mounts.
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

    /// Ends connections of slow clients, and does other periodic work.
    #[cold]
    fn tick(&mut self) -> io::Result<()> {
        for number in self.connections.numbers() {
            let (now, timeout) = (self.now, self.limits.client_timeout);
            let late = self.connections.get(number).is_some_and(|connection| {
                let silent = connection.owes() && now.since(connection.moved) > timeout;
                silent || connection.tls.as_ref().is_some_and(|secured| secured.is_late(now, timeout))
            });
            if late || !self.tick_codec(number) {
                self.end(number, Lifecycle::Broken, EndReason::Slow);
            }
        }
        self.accept_clients()?;
        self.volumes.commit_due(self.now, Span::from_secs(1), &mut self.jobs);
        self.flush_recorders();
        if self.pool.trim() && self.flights.len() == 0 {
            give_memory_back();
        }
        self.ring.sleep(&POLL_INTERVAL, Token::Tick)
    }

    /// Lets a codec send messages of its own; `false` if the connection has to end.
    fn tick_codec(&mut self, number: u32) -> bool {
        self.out.clear();
        let Some(connection) = self.connections.get_mut(number) else { return true };
        let message = connection.codec.services_mut().map_or(Message::Handled, |services| services.tick(&mut self.out));
        if !self.out.is_empty() && connection.lifecycle == Lifecycle::Open {
            connection.put(None, |_, out| out.append(&mut self.out));
            self.touch(number);
        }
        message != Message::Invalid
    }

    fn watch_mailbox(&mut self) -> io::Result<()> {
        self.ring.poll(self.mailbox.wakeup(), libc::POLLIN, Token::Mailbox)
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

/// Returns freed memory to the system.
fn give_memory_back() {
    // SAFETY: the call has no preconditions.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0)
    };
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.ring.uring.in_flight() > 0 {
            // The kernel may still write to this memory: it is leaked rather than reused.
            std::mem::forget(std::mem::replace(&mut self.connections, Slots::new()));
            std::mem::forget(std::mem::replace(&mut self.flights, Slots::new()));
            std::mem::forget(std::mem::replace(&mut self.tasks, Slots::new()));
            self.mounts.give_up();
        }
    }
}
