//! Messages queued for a socket, sent with few system calls.
//!
//! Independent of protocols: a message is a header, optionally with a payload behind it.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::io::{self, IoSlice, Write};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Maximum number of pieces per call; each has up to two parts.
const PIECES_MAX: usize = 64;

/// Maximum number of parts per call.
pub(crate) const PARTS_MAX: usize = 2 * PIECES_MAX;

/// Sent header bytes above which they are removed from the buffer.
const GONE_MAX: usize = 64 << 10;

/// Bytes that are sent without a copy and must not move meanwhile.
pub trait Payload {
    /// The bytes.
    fn bytes(&self) -> &[u8];
}

/// Headers, and the payload behind them.
#[derive(Debug)]
struct OutgoingPart<P> {
    head: usize,
    payload: Option<P>,
}

/// Unsent messages.
#[derive(Debug)]
pub struct Outgoing<P> {
    heads: Vec<u8>,
    /// Bytes of `heads` that belong to sent pieces.
    gone: usize,
    pieces: VecDeque<OutgoingPart<P>>,
    /// Bytes of the first piece that were sent.
    sent: usize,
    bytes: usize,
}

impl<P> Default for Outgoing<P> {
    fn default() -> Self {
        Self { heads: Vec::new(), gone: 0, pieces: VecDeque::new(), sent: 0, bytes: 0 }
    }
}

impl<P: Payload> Outgoing<P> {
    /// Unsent bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Appends the header that `write` writes, followed by a payload.
    #[inline]
    pub fn put(&mut self, payload: Option<P>, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.heads.len();
        write(&mut self.heads);
        let head = self.heads.len() - before;
        self.bytes += head + payload.as_ref().map_or(0, |payload| payload.bytes().len());
        match self.pieces.back_mut() {
            Some(last) if last.payload.is_none() => {
                last.head += head;
                last.payload = payload;
            }
            _ => self.pieces.push_back(OutgoingPart { head, payload }),
        }
    }

    /// Appends the messages of `later`, which must all be unsent.
    pub fn append(&mut self, later: &mut Self) {
        debug_assert!(later.gone == 0 && later.sent == 0, "queue was sent from");
        self.heads.append(&mut later.heads);
        self.pieces.append(&mut later.pieces);
        self.bytes += std::mem::take(&mut later.bytes);
    }

    /// Sends as much as the peer accepts without blocking, and returns sent payloads. `false`: the rest has to wait
    /// until the peer reads.
    ///
    /// # Errors
    /// The connection is broken.
    #[inline]
    pub fn send(&mut self, to: BorrowedFd<'_>, socket: bool, mut sent: impl FnMut(P)) -> io::Result<bool> {
        while self.bytes > 0 {
            match self.send_once(to, socket) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => self.advance(count, &mut sent),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    #[inline]
    fn send_once(&self, to: BorrowedFd<'_>, socket: bool) -> io::Result<usize> {
        let mut parts = [IoSlice::new(&[]); PARTS_MAX];
        let count = self.parts(usize::MAX, &mut parts);
        Wire { to, socket }.write_vectored(&parts[..count])
    }

    /// Collects the next parts, up to `max` bytes in total. Returns their number.
    #[inline]
    pub(crate) fn parts<'a>(&'a self, max: usize, parts: &mut [IoSlice<'a>; PARTS_MAX]) -> usize {
        let (mut count, mut left) = (0, max);
        let (mut head_at, mut passed) = (self.gone, self.sent);
        for piece in self.pieces.iter().take(PIECES_MAX) {
            let head = &self.heads[head_at..head_at + piece.head];
            head_at += piece.head;
            let payload = piece.payload.as_ref().map_or(&[][..], Payload::bytes);
            for part in [head, payload] {
                let skip = passed.min(part.len());
                passed -= skip;
                let rest = &part[skip..];
                let rest = &rest[..rest.len().min(left)];
                if !rest.is_empty() {
                    left -= rest.len();
                    parts[count] = IoSlice::new(rest);
                    count += 1;
                }
            }
        }
        count
    }

    /// Removes and returns the unsent bytes, with a copy of payloads.
    pub fn take_bytes(&mut self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes);
        while self.bytes > 0 {
            let mut parts = [IoSlice::new(&[]); PARTS_MAX];
            let count = self.parts(usize::MAX, &mut parts);
            let before = bytes.len();
            parts[..count].iter().for_each(|part| bytes.extend_from_slice(part));
            self.advance(bytes.len() - before, &mut drop);
        }
        bytes
    }

    /// Marks the next `count` bytes as sent; passes completed payloads to `sent`.
    #[inline]
    pub(crate) fn advance(&mut self, count: usize, sent: &mut impl FnMut(P)) {
        self.bytes -= count;
        self.sent += count;
        while let Some(first) = self.pieces.front() {
            let total = first.head + first.payload.as_ref().map_or(0, |payload| payload.bytes().len());
            if self.sent < total {
                break;
            }
            self.sent -= total;
            self.gone += first.head;
            self.pieces.pop_front().and_then(|piece| piece.payload).map(&mut *sent);
        }
        // A queue that is never empty would keep all headers otherwise.
        if self.pieces.is_empty() || self.gone > GONE_MAX {
            self.heads.drain(..self.gone);
            self.gone = 0;
        }
    }

    /// The payloads that are not completely sent; callers may relocate their bytes.
    pub fn payloads(&mut self) -> impl Iterator<Item = &mut P> {
        self.pieces.iter_mut().filter_map(|piece| piece.payload.as_mut())
    }

    /// Drops all messages, and returns their payloads.
    pub fn clear(&mut self) -> impl Iterator<Item = P> + use<P> {
        std::mem::take(self).pieces.into_iter().filter_map(|piece| piece.payload)
    }
}

/// A descriptor for writes without blocking or signals.
pub(crate) struct Wire<'a> {
    pub to: BorrowedFd<'a>,
    /// True for a socket; otherwise a non-blocking pipe.
    pub socket: bool,
}

impl Write for Wire<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    #[inline]
    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let vectors = parts.as_ptr().cast::<libc::iovec>().cast_mut();
        let sent = if self.socket {
            // SAFETY: all-zero is a valid msghdr.
            let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
            message.msg_iov = vectors;
            message.msg_iovlen = parts.len() as _;
            // SAFETY: an `IoSlice` is ABI-compatible with iovec (per its documentation), and the call only reads the
            // referenced memory.
            unsafe { libc::sendmsg(self.to.as_raw_fd(), &raw const message, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) }
        } else {
            // SAFETY: as above; the descriptor does not block.
            unsafe { libc::writev(self.to.as_raw_fd(), vectors, i32::try_from(parts.len()).unwrap_or(0)) }
        };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
