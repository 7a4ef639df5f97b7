//! TLS on a connection, for both sides: from received ciphertext to plaintext, and from plaintext to ciphertext to be
//! sent.
//!
//! Independent of protocols, and never blocks. Certificates only: rustls, which does the work, has no external
//! pre-shared keys.

mod credentials;
mod verify;

use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::BorrowedFd;

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, Connection, ServerConnection};

use crate::outgoing::{Outgoing, PARTS_MAX, Payload, Wire};

pub use credentials::{Identity, NoCredentials, Peers, Trust};
pub use verify::Names;

/// Bytes of ciphertext that are received at a time.
const TAKEN_BYTES: usize = 128 << 10;

/// Bytes of plaintext that are encrypted before they are sent.
const SEALED_MAX: usize = 256 << 10;

/// The TLS of a connection.
pub struct Channel {
    tls: Connection,
    /// Plain bytes that precede the first ciphertext.
    ahead: Vec<u8>,
    /// Received ciphertext that is not processed.
    taken: Box<[u8]>,
    start: usize,
    end: usize,
    sent: u64,
}

/// The result of processing received ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// Bytes of plaintext.
    Bytes(usize),
    /// More has to be received.
    Nothing,
    /// The peer has closed the connection in order.
    End,
}

impl Channel {
    /// The server's side. `ahead` is sent before TLS begins.
    ///
    /// # Errors
    /// There is no memory, or no randomness.
    pub fn server(identity: &Identity, ahead: Vec<u8>) -> io::Result<Self> {
        let tls = ServerConnection::new(identity.config()).map_err(failed)?;
        Ok(Self::new(tls.into(), ahead))
    }

    /// The client's side, for the server of that name.
    ///
    /// # Errors
    /// `name` is neither a name nor a number of a host.
    pub fn client(trust: &Trust, name: &str) -> io::Result<Self> {
        let name = ServerName::try_from(name.to_owned()).map_err(io::Error::other)?;
        let tls = ClientConnection::new(trust.config(), name).map_err(failed)?;
        Ok(Self::new(tls.into(), Vec::new()))
    }

    fn new(mut tls: Connection, ahead: Vec<u8>) -> Self {
        // `carry` bounds the plaintext that is encrypted at a time.
        tls.set_buffer_limit(None);
        Self { tls, ahead, taken: vec![0; TAKEN_BYTES].into_boxed_slice(), start: 0, end: 0, sent: 0 }
    }

    /// Space for ciphertext, after [`Channel::open`] returned [`Opened::Nothing`].
    #[inline]
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.taken[self.end..]
    }

    /// Ciphertext was received.
    #[inline]
    pub fn received(&mut self, count: usize) {
        self.end += count;
    }

    /// Continues the handshake with received data. There may be data to send afterwards, even after an error; more has
    /// to be received while [`Channel::is_beginning`].
    ///
    /// # Errors
    /// The other side does not speak TLS, is not trusted, or breaks off.
    pub fn begin(&mut self) -> io::Result<()> {
        while self.is_beginning() && self.start < self.end {
            self.take()?;
        }
        Ok(())
    }

    /// Decrypts received data into `plain`, which has space for at least one byte. There may be data to send
    /// afterwards, even after an error.
    ///
    /// # Errors
    /// The other side does not speak TLS, is not trusted, or breaks off.
    pub fn open(&mut self, plain: &mut [u8]) -> io::Result<Opened> {
        let mut filled = 0;
        while filled < plain.len() {
            match self.tls.reader().read(&mut plain[filled..]) {
                Ok(0) if filled == 0 => return Ok(Opened::End),
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                Err(_) if self.start == self.end => break,
                Err(_) => self.take()?,
            }
        }
        Ok(if filled > 0 { Opened::Bytes(filled) } else { Opened::Nothing })
    }

    /// Processes a part of the received data.
    fn take(&mut self) -> io::Result<()> {
        let mut rest = &self.taken[self.start..self.end];
        self.start += self.tls.read_tls(&mut rest)?;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        self.tls.process_new_packets().map(drop).map_err(failed)
    }

    /// True during the handshake.
    pub fn is_beginning(&self) -> bool {
        self.tls.is_handshaking()
    }

    /// True if handshake messages or ciphertext have to be sent.
    #[inline]
    pub fn wants_send(&self) -> bool {
        !self.ahead.is_empty() || self.tls.wants_write()
    }

    /// Bytes sent so far.
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// The negotiated version and ciphers.
    pub fn described(&self) -> String {
        let version = self.tls.protocol_version().and_then(|version| version.as_str());
        let suite = self.tls.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str());
        format!("{}, {}", version.unwrap_or("no version"), suite.unwrap_or("no ciphers"))
    }

    /// Announces the end of the connection.
    pub fn close(&mut self) {
        self.tls.send_close_notify();
    }

    /// Encrypts and sends as much of `out` as the peer accepts without blocking, and returns encrypted payloads.
    /// `false`: the rest has to wait until the peer reads.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn carry<P: Payload>(
        &mut self,
        out: &mut Outgoing<P>,
        to: BorrowedFd<'_>,
        socket: bool,
        mut sent: impl FnMut(P),
    ) -> io::Result<bool> {
        let mut wire = Wire { to, socket };
        loop {
            if !self.flush(&mut wire)? {
                return Ok(false);
            }
            if out.bytes() == 0 || self.is_beginning() {
                return Ok(true);
            }
            let mut parts = [IoSlice::new(&[]); PARTS_MAX];
            let count = out.parts(SEALED_MAX, &mut parts);
            let sealed = self.tls.writer().write_vectored(&parts[..count])?;
            out.advance(sealed, &mut sent);
        }
    }

    /// Encrypts and sends `bytes` through a blocking descriptor.
    pub(super) fn push(&mut self, bytes: &[u8], wire: &mut impl Write) -> io::Result<()> {
        for part in bytes.chunks(SEALED_MAX) {
            self.tls.writer().write_all(part)?;
            self.flush(wire)?;
        }
        Ok(())
    }

    /// Sends ciphertext; `false` if the peer has to read first.
    pub(super) fn flush(&mut self, wire: &mut impl Write) -> io::Result<bool> {
        while self.wants_send() {
            let sent = if self.ahead.is_empty() { self.tls.write_tls(wire) } else { wire.write(&self.ahead) };
            match sent {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    self.sent += count as u64;
                    self.ahead.drain(..count.min(self.ahead.len()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tls, ahead, start, end, .. } = self;
        let ahead = ahead.len();
        f.debug_struct("Channel").field("tls", tls).field("ahead", &ahead).field("taken", &(end - start)).finish()
    }
}

fn failed(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests;
