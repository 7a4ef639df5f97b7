//! TLS for both sides of a connection: decrypts received ciphertext, and encrypts outgoing data.
//!
//! Independent of protocols, and never blocks. Certificates only: rustls does not support external pre-shared keys.

mod credentials;
mod verify;

use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::BorrowedFd;

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, Connection, ServerConnection};

use crate::outgoing::{Outgoing, PARTS_MAX, Payload, Wire};

pub use credentials::{Identity, NoCredentials, Peers, Trust};
pub use verify::ServerNames;

/// Size of the receive buffer for ciphertext in bytes.
const TAKEN_BYTES: usize = 128 << 10;

/// Maximum plaintext in bytes that is encrypted ahead of sending.
const SEALED_MAX: usize = 256 << 10;

/// The TLS of a connection.
pub struct Channel {
    tls: Connection,
    /// Plaintext sent before the first ciphertext.
    ahead: Vec<u8>,
    /// Received, unprocessed ciphertext.
    taken: Box<[u8]>,
    start: usize,
    end: usize,
    sent: u64,
}

/// Result of processing received ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// Bytes of plaintext.
    Bytes(usize),
    /// More ciphertext is needed.
    Nothing,
    /// The peer closed the connection properly.
    End,
}

impl Channel {
    /// The server side. `ahead` is sent before TLS starts.
    ///
    /// # Errors
    /// Out of memory, or of randomness.
    pub fn server(identity: &Identity, ahead: Vec<u8>) -> io::Result<Self> {
        let tls = ServerConnection::new(identity.config()).map_err(failed)?;
        Ok(Self::new(tls.into(), ahead))
    }

    /// The client side, for the server `name`.
    ///
    /// # Errors
    /// `name` is neither a host name nor an IP address.
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

    /// Registers `count` received bytes in [`Channel::room`].
    #[inline]
    pub fn received(&mut self, count: usize) {
        self.end += count;
    }

    /// Continues the handshake with received data. Data may have to be sent afterwards, even after an error; more must
    /// be received while [`Channel::is_beginning`].
    ///
    /// # Errors
    /// The peer does not speak TLS, is not trusted, or aborts.
    pub fn begin(&mut self) -> io::Result<()> {
        while self.is_beginning() && self.start < self.end {
            self.take()?;
        }
        Ok(())
    }

    /// Decrypts received data into `plain`, which has space for at least one byte. Data may have to be sent afterwards,
    /// even after an error.
    ///
    /// # Errors
    /// The peer does not speak TLS, is not trusted, or aborts.
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

    /// Processes a part of the received ciphertext.
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
