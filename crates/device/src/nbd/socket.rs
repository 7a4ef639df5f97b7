//! A connected stream socket, Unix or TCP, plaintext or TLS.

use std::io::{self, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};

use super::address::NbdHost;
use crate::outgoing::{Outgoing, Payload, Wire};
use crate::tls::{Channel, Opened};

/// A connection to a server.
#[derive(Debug)]
pub struct Socket {
    descriptor: OwnedFd,
    channel: Option<Box<Channel>>,
}

impl Socket {
    /// Connects, and bounds every later wait by `timeout`.
    pub fn connect(host: &NbdHost, timeout: Duration) -> io::Result<Self> {
        let descriptor = match host {
            NbdHost::Unix(path) => UnixStream::connect(path)?.into(),
            NbdHost::Tcp { name, port } => {
                let stream = TcpStream::connect((name.as_str(), *port))?;
                stream.set_nodelay(true)?;
                stream.into()
            }
        };
        for direction in [sockopt::Timeout::Recv, sockopt::Timeout::Send] {
            sockopt::set_socket_timeout(&descriptor, direction, Some(timeout))?;
        }
        Ok(Self { descriptor, channel: None })
    }

    /// Starts TLS; all later data are encrypted.
    ///
    /// # Errors
    /// The server does not support TLS, or a certificate was rejected on either side.
    pub fn secure(&mut self, mut channel: Channel) -> io::Result<()> {
        while channel.is_beginning() {
            channel.flush(&mut BlockingSocket(self.descriptor.as_fd()))?;
            receive(&self.descriptor, &mut channel)?;
            if let Err(error) = channel.begin() {
                // Sends the TLS alert, if possible.
                let _ = channel.flush(&mut BlockingSocket(self.descriptor.as_fd()));
                return Err(error);
            }
        }
        channel.flush(&mut BlockingSocket(self.descriptor.as_fd()))?;
        self.channel = Some(Box::new(channel));
        Ok(())
    }

    /// Fills `bytes`.
    pub fn read(&mut self, mut bytes: &mut [u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = match &mut self.channel {
                None => received(&self.descriptor, bytes)?,
                Some(channel) => match channel.open(bytes)? {
                    Opened::Bytes(count) => count,
                    Opened::End => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Opened::Nothing => {
                        receive(&self.descriptor, channel)?;
                        0
                    }
                },
            };
            bytes = &mut bytes[count..];
        }
        Ok(())
    }

    /// Sends all of `bytes`.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut wire = BlockingSocket(self.descriptor.as_fd());
        match &mut self.channel {
            None => wire.write_all(bytes),
            Some(channel) => {
                let pushed = channel.push(bytes, &mut wire);
                pushed.map_err(|error| disconnect(&self.descriptor, channel).unwrap_or(error))
            }
        }
    }

    /// The TLS channel, for callers that receive by themselves.
    pub fn channel(&mut self) -> Option<&mut Channel> {
        self.channel.as_deref_mut()
    }

    /// Ends TLS. The caller frees the channel's memory; the socket is unusable afterwards.
    pub fn take_channel(&mut self) -> Option<Box<Channel>> {
        let mut channel = self.channel.take()?;
        channel.close();
        // The server may not read the disconnect.
        let _ = channel.flush(&mut Wire { to: self.descriptor.as_fd(), socket: true });
        Some(channel)
    }

    /// Sends as much of `out` as the server accepts without blocking, and returns sent payloads through `sent`.
    /// `false`: the rest has to wait for the server to read.
    pub fn carry<P: Payload>(&mut self, out: &mut Outgoing<P>, sent: impl FnMut(P)) -> io::Result<bool> {
        let to = self.descriptor.as_fd();
        match &mut self.channel {
            None => out.send(to, true, sent),
            Some(channel) => channel.carry(out, to, true, sent),
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.take_channel();
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Receives at least a byte.
fn received(socket: impl AsFd, bytes: &mut [u8]) -> io::Result<usize> {
    loop {
        match recv(&socket, &mut *bytes, RecvFlags::empty()) {
            Ok((0, _)) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok((count, _)) => return Ok(count),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(timeout_error(error)),
        }
    }
}

fn receive(socket: impl AsFd, channel: &mut Channel) -> io::Result<()> {
    let count = received(socket, channel.room())?;
    channel.received(count);
    Ok(())
}

/// The reason for a disconnect, if the server sent a TLS alert.
fn disconnect(socket: impl AsFd, channel: &mut Channel) -> Option<io::Error> {
    receive(socket, channel).ok()?;
    channel.open(&mut [0; 1]).err()
}

/// Sends with the socket's timeout.
struct BlockingSocket<'a>(BorrowedFd<'a>);

impl Write for BlockingSocket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        send(self.0, bytes, SendFlags::NOSIGNAL).map_err(timeout_error)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Wraps a connected socket and keeps its timeouts.
impl From<OwnedFd> for Socket {
    fn from(connected: OwnedFd) -> Self {
        Self { descriptor: connected, channel: None }
    }
}

/// A socket with a timeout reports it as `EAGAIN`.
fn timeout_error(error: rustix::io::Errno) -> io::Error {
    if error == rustix::io::Errno::AGAIN { io::ErrorKind::TimedOut.into() } else { error.into() }
}
