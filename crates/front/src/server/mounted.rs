//! Exports that the kernel shows as files: messages of FUSE, taken in and answered in the one ring loop.
//!
//! One read of the ring waits for the kernel's next request: each request would wake all reads that wait, so that more of
//! them cost more than they save. What came beside it is read at once. A request is answered when the service says so,
//! in any order, so that as many are under way as the kernel hands over.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::{opcode, types};
use plimsoll_volume::{Command, Errno, Export, NotTaken, Reply, Request, Then, Ticket};

use super::ring::Token;
use super::turnaround::Unfollowed;
use super::{Client, Flight, Server};
use crate::fuse::wire::{self, WRITE_BYTES};
use crate::fuse::{Code, Device, Header, PAYLOAD_MAX, Step, Tree, Unique};
use crate::pool::{Buffer, Pool};
use crate::service::Service;
use crate::slots::Slots;

/// Payloads from this length on stay where they were read to; shorter ones are copied, so that a large buffer is not held
/// for them.
const DIRECT_MIN: usize = 32 << 10;

/// Messages that are taken in one after the other before the loop sees to others.
const ROW: u32 = 64;

/// The part of all memory for payloads that one filesystem gets at most.
const SHARE: u64 = 4;

/// Bytes of a message that is no write: a name at its longest, and something more.
const MESSAGE_MAX: usize = 4096;

/// Extents that are looked at with one call.
const EXTENTS: usize = 64;

/// Filesystems that are served.
pub(super) struct Mounts {
    all: Slots<Mounted>,
    /// Those that wait until something is answered.
    blocked: Vec<u32>,
    /// An answer's bytes.
    out: Vec<u8>,
}

/// One filesystem.
struct Mounted {
    device: OwnedFd,
    export: Export,
    /// Where its counts are.
    count: u32,
    tree: Tree,
    inbox: Inbox,
    /// The kernel is told to read into the inbox.
    reading: bool,
    blocked: bool,
    /// Nothing is read any more; it ends when all is answered.
    ending: bool,
    /// Requests that were taken in and not answered.
    in_flight: u32,
    unfollowed: Unfollowed,
    /// Bytes of buffers that these hold.
    held: u64,
}

/// A message of the kernel. What comes before the payload of a write fits into the head, so that a payload begins on a page.
struct Inbox {
    head: Box<[u8; WRITE_BYTES]>,
    payload: Buffer,
    vectors: Box<[libc::iovec; 2]>,
    /// Bytes that came and were not understood yet.
    length: usize,
}

impl Inbox {
    fn new(pool: &mut Pool) -> Self {
        let nothing = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let payload = pool.lend_anyway(PAYLOAD_MAX);
        Self { head: Box::new([0; WRITE_BYTES]), payload, vectors: Box::new([nothing; 2]), length: 0 }
    }

    /// Where the next message goes.
    #[inline]
    fn vectors(&mut self) -> *const libc::iovec {
        let payload = libc::iovec { iov_base: self.payload.at(0).cast(), iov_len: PAYLOAD_MAX as usize };
        *self.vectors = [libc::iovec { iov_base: self.head.as_mut_ptr().cast(), iov_len: WRITE_BYTES }, payload];
        self.vectors.as_ptr()
    }

    /// What a message asks for, and the bytes of payload behind it.
    #[inline]
    fn judge(&self, tree: &Tree, size: u64, out: &mut Vec<u8>) -> (Step, usize) {
        let head = &self.head[..self.length.min(WRITE_BYTES)];
        let rest = self.length - head.len();
        let writes = Header::parse(head).is_some_and(|header| header.opcode == wire::opcode::WRITE);
        if writes || rest == 0 {
            return (tree.take(head, rest, size, out), rest);
        }
        let message = [head, &self.payload.content()[..rest.min(MESSAGE_MAX)]].concat();
        (tree.take(&message, 0, size, out), 0)
    }
}

/// What follows on a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Onward,
    /// Something has to be answered first.
    Blocked,
    End,
}

impl Mounts {
    pub(super) const fn new() -> Self {
        Self { all: Slots::new(), blocked: Vec::new(), out: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// True when one of them waits for an answer to leave.
    #[inline]
    pub(super) const fn are_blocked(&self) -> bool {
        !self.blocked.is_empty()
    }

    /// Closes what is served; memory that the kernel may still move data into is given up rather than reused.
    pub(super) fn give_up(&mut self) {
        for number in self.all.numbers() {
            if let Some(Mounted { inbox, .. }) = self.all.remove(number) {
                std::mem::forget(inbox);
            }
        }
    }

    fn of(&self, export: Export) -> impl Iterator<Item = u32> {
        let of = move |number: &u32| self.all.get(*number).is_some_and(|mounted| mounted.export == export);
        self.all.numbers().into_iter().filter(of)
    }
}

impl<S: Service + 'static> Server<S> {
    /// Serves an export that is offered as the file of a mounted filesystem, until that is unmounted.
    ///
    /// # Errors
    /// The export is not offered, or the ring fails.
    pub fn mount(&mut self, export: Export, device: Device) -> io::Result<()> {
        let Some(offer) = self.offers.iter().find(|offer| offer.export == export) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        // Memory that is wanted for an answer must not wait for writes that only this answer lets go on. Allowed to few.
        let _ = rustix::process::configure_io_flusher_behavior(true);
        let Device { descriptor: device, owner, time } = device;
        let tree = Tree { access: offer.access, minimum: offer.blocks.minimum, owner, time };
        let mounted = Mounted {
            device,
            export,
            count: self.counts.row(export),
            tree,
            inbox: Inbox::new(&mut self.pool),
            reading: false,
            blocked: false,
            ending: false,
            in_flight: 0,
            unfollowed: Unfollowed::default(),
            held: 0,
        };
        let number = self.mounts.all.insert(mounted);
        self.read_device(number)
    }

    /// How many filesystems show an export.
    pub fn mounts(&self, export: Export) -> usize {
        self.mounts.of(export).count()
    }

    /// Ends the filesystems that show an export after what is in flight was answered: accesses fail from then on. One that
    /// is unmounted ends by itself.
    pub fn end_mounts(&mut self, export: Export) {
        for number in self.mounts.of(export).collect::<Vec<_>>() {
            self.end_mounted(number);
        }
    }

    pub(super) fn end_all_mounts(&mut self) {
        for number in self.mounts.all.numbers() {
            self.end_mounted(number);
        }
    }

    fn end_mounted(&mut self, number: u32) {
        let Some(mounted) = self.mounts.all.get_mut(number) else { return };
        if !std::mem::replace(&mut mounted.ending, true) && mounted.reading {
            // A ring that cannot take this fails in the next round.
            let _ = self.ring.cancel(Token::Asked(number));
        }
        self.close_mounted(number);
    }

    /// Waits for the kernel's next request.
    #[inline]
    fn read_device(&mut self, number: u32) -> io::Result<()> {
        let Some(mounted) = self.mounts.all.get_mut(number) else { return Ok(()) };
        mounted.reading = true;
        let descriptor = types::Fd(mounted.device.as_raw_fd());
        let entry = opcode::Readv::new(descriptor, mounted.inbox.vectors(), 2).offset(u64::MAX).build();
        // SAFETY: the vectors and what they point to are in the inbox. While `reading` is set it is not touched, and the
        // filesystem is kept; `Mounts::give_up` leaks it.
        unsafe { self.ring.push(entry, Token::Asked(number)) }
    }

    /// The kernel has asked something, or the filesystem is gone.
    #[inline]
    pub(super) fn asked(&mut self, number: u32, result: i32) -> io::Result<()> {
        let Some(mounted) = self.mounts.all.get_mut(number) else { return Ok(()) };
        mounted.reading = false;
        match result {
            came @ 1.. => mounted.inbox.length = came as usize,
            error if is_passing(-error) => {}
            _ => mounted.ending = true,
        }
        self.take_messages(number)
    }

    /// Takes in what the kernel has asked, and waits for more.
    #[inline]
    fn take_messages(&mut self, number: u32) -> io::Result<()> {
        for _ in 0..ROW {
            let Some(mounted) = self.mounts.all.get(number) else { return Ok(()) };
            if mounted.ending || (mounted.inbox.length == 0 && !self.read_at_once(number)) {
                break;
            }
            match self.take_message(number) {
                Next::Onward => {}
                Next::Blocked => return Ok(()),
                Next::End => self.end_mounted(number),
            }
        }
        match self.mounts.all.get(number) {
            Some(mounted) if !mounted.ending => self.read_device(number),
            _ => {
                self.close_mounted(number);
                Ok(())
            }
        }
    }

    /// Reads what came beside a request: where one is under way, others are likely. `false`: nothing was there.
    #[inline]
    fn read_at_once(&mut self, number: u32) -> bool {
        let Some(mounted) = self.mounts.all.get_mut(number).filter(|mounted| mounted.in_flight > 1) else {
            return false;
        };
        // SAFETY: the vectors point to memory of the inbox, which nobody else uses while the ring does not read into it.
        let came = unsafe { libc::readv(mounted.device.as_raw_fd(), mounted.inbox.vectors(), 2) };
        // Whatever is wrong, the ring's read will say so.
        mounted.inbox.length = usize::try_from(came).unwrap_or(0);
        came > 0
    }

    #[inline]
    fn take_message(&mut self, number: u32) -> Next {
        let Some(mounted) = self.mounts.all.get_mut(number) else { return Next::End };
        let size = self.service.size(mounted.export);
        self.mounts.out.clear();
        let (step, payload) = mounted.inbox.judge(&mounted.tree, size, &mut self.mounts.out);
        let next = match step {
            Step::Answer => {
                send(&mounted.device, &self.mounts.out, &[]);
                Next::Onward
            }
            Step::Nothing => Next::Onward,
            Step::Broken => Next::End,
            Step::Find { unique, offset, allocated } => {
                let found = find(&self.service, mounted.export, offset, size, allocated);
                match found {
                    Some(at) => unique.place(&mut self.mounts.out, at),
                    None => unique.failed(&mut self.mounts.out, Code(libc::ENXIO)),
                }
                send(&mounted.device, &self.mounts.out, &[]);
                Next::Onward
            }
            Step::Io(unique, request) => self.accept_message(number, unique, &request, payload),
        };
        if next == Next::Onward
            && let Some(mounted) = self.mounts.all.get_mut(number)
        {
            mounted.inbox.length = 0;
        }
        next
    }

    #[inline]
    fn accept_message(&mut self, number: u32, unique: Unique, request: &Request, payload: usize) -> Next {
        let share = self.limits.bytes / SHARE;
        let Some(mounted) = self.mounts.all.get_mut(number) else { return Next::End };
        let Mounted { export, count, inbox, held, .. } = mounted;
        let moves = matches!(request.command, Command::Read | Command::Write);
        let bytes = if moves { request.length as u32 } else { 0 };
        let keeps = payload >= DIRECT_MIN;
        let mut buffer = None;
        if bytes > 0 {
            if !self.service.takes(*export, bytes.into()) {
                return self.block_mounted(number);
            }
            // Where a payload stays where it is, the next message needs another buffer.
            let wanted = if keeps { PAYLOAD_MAX } else { bytes };
            buffer = match *held {
                0 => Some(self.pool.lend_anyway(wanted)),
                held if held + u64::from(wanted) > share => None,
                _ => self.pool.lend(wanted),
            };
            let Some(buffer) = &mut buffer else { return self.block_mounted(number) };
            *held += buffer.size();
            if keeps {
                std::mem::swap(buffer, &mut inbox.payload);
            } else if payload > 0 {
                buffer.bytes()[..bytes as usize].copy_from_slice(&inbox.payload.content()[..bytes as usize]);
            } else if self.service.reads_what_has_space() {
                buffer.allow_view();
            }
        }
        let (client, export, command) = (Client::Kernel { mount: number, unique }, *export, request.command);
        let length = request.length as u32;
        let flight = Flight { client, count: *count, command, length, buffer, blank: false, came: self.now };
        mounted.in_flight += 1;
        let ticket = self.flights.insert(flight);
        match self.put(export, Ticket(ticket.into()), request) {
            Ok(()) => {
                self.followed_mounted(number);
                Next::Onward
            }
            Err(not) => self.not_taken(number, ticket, keeps, not),
        }
    }

    /// The service has refused a request, or cannot take it yet.
    #[cold]
    fn not_taken(&mut self, number: u32, ticket: u32, keeps: bool, not: NotTaken) -> Next {
        let Some(Flight { client: Client::Kernel { unique, .. }, buffer, count, .. }) = self.flights.remove(ticket)
        else {
            return Next::End;
        };
        let Some(mounted) = self.mounts.all.get_mut(number) else { return Next::End };
        mounted.in_flight -= 1;
        if let Some(mut buffer) = buffer {
            if keeps {
                // The message is still to be understood.
                std::mem::swap(&mut buffer, &mut mounted.inbox.payload);
            }
            mounted.held -= buffer.size();
            self.pool.give_back(buffer);
        }
        match not {
            NotTaken::Full => self.block_mounted(number),
            NotTaken::Failed(errno) => {
                self.mounts.out.clear();
                unique.failed(&mut self.mounts.out, errno.into());
                send(&mounted.device, &self.mounts.out, &[]);
                self.counts.refused(count);
                Next::Onward
            }
        }
    }

    #[inline]
    fn followed_mounted(&mut self, number: u32) {
        if let Some(Mounted { export, count, in_flight, unfollowed, .. }) = self.mounts.all.get_mut(number) {
            let (export, count) = (*export, *count);
            let turnaround = unfollowed.came(self.now, *in_flight);
            self.followed(export, count, turnaround);
        }
    }

    fn block_mounted(&mut self, number: u32) -> Next {
        if let Some(mounted) = self.mounts.all.get_mut(number)
            && !std::mem::replace(&mut mounted.blocked, true)
        {
            self.mounts.blocked.push(number);
        }
        Next::Blocked
    }

    /// Lets blocked filesystems go on.
    pub(super) fn resume_mounts(&mut self) -> io::Result<()> {
        for number in std::mem::take(&mut self.mounts.blocked) {
            if let Some(mounted) = self.mounts.all.get_mut(number) {
                mounted.blocked = false;
                self.take_messages(number)?;
            }
        }
        Ok(())
    }

    /// A request is answered. Instead of being torn, which no kernel would mend, a filesystem has that one request fail.
    #[inline]
    pub(super) fn tell(&mut self, number: u32, unique: Unique, flight: Flight, reply: &Reply) {
        let Some(mounted) = self.mounts.all.get_mut(number) else { return };
        let Flight { command, length, buffer, .. } = flight;
        let out = &mut self.mounts.out;
        out.clear();
        let mut payload = &[][..];
        match (reply.outcome, command) {
            _ if reply.then == Then::Tear => unique.failed(out, Errno::Io.into()),
            (Err(errno), _) => unique.failed(out, errno.into()),
            (Ok(()), Command::Read) => {
                payload = buffer.as_ref().map_or(&[][..], |buffer| &buffer.content()[..length as usize]);
                unique.data(out, length);
            }
            (Ok(()), Command::Write) => unique.written(out, length),
            (Ok(()), _) => unique.done(out),
        }
        send(&mounted.device, out, payload);
        mounted.in_flight -= 1;
        mounted.unfollowed.answered(self.now);
        if let Some(buffer) = buffer {
            mounted.held -= buffer.size();
            self.pool.give_back(buffer);
        }
        if mounted.ending {
            self.close_mounted(number);
        }
    }

    /// Closes the device when that is due: what is asked of the filesystem from then on fails at once.
    fn close_mounted(&mut self, number: u32) {
        let ended = |mounted: &Mounted| mounted.ending && !mounted.reading && mounted.in_flight == 0;
        if self.mounts.all.get(number).is_some_and(ended)
            && let Some(mounted) = self.mounts.all.remove(number)
        {
            self.pool.give_back(mounted.inbox.payload);
            self.mounts.blocked.retain(|blocked| *blocked != number);
        }
    }
}

/// Sends an answer. A request that the kernel has given up, and a filesystem that is gone, need none; whether it is gone
/// is what reading says.
#[inline]
fn send(device: &OwnedFd, head: &[u8], payload: &[u8]) {
    let part = |bytes: &[u8]| libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let vectors = [part(head), part(payload)];
    let count = if payload.is_empty() { 1 } else { 2 };
    // SAFETY: the vectors point to live memory, which the call only reads.
    let _ = unsafe { libc::writev(device.as_raw_fd(), vectors.as_ptr(), count) };
}

/// Errors of reading the device that say nothing about the filesystem: nothing there, or what was there was given up.
const fn is_passing(error: i32) -> bool {
    matches!(error, libc::EAGAIN | libc::EINTR | libc::ENOENT)
}

/// Where the first data, or the first hole, from `offset` on begin; behind the last data there is a hole.
#[cold]
fn find(service: &impl Service, export: Export, mut offset: u64, size: u64, allocated: bool) -> Option<u64> {
    while offset < size {
        for extent in service.extents(export, offset, size - offset, EXTENTS) {
            if extent.allocated == allocated {
                return Some(offset);
            }
            offset += extent.length.max(1);
        }
    }
    (!allocated).then_some(size)
}
