//! A connected stream socket, Unix or TCP, plain or with TLS.

use std::io::{self, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};

use super::address::Host;
use crate::outgoing::{Outgoing, Payload, Wire};
use crate::tls::{Channel, Opened};

/// A connection to a server.
#[derive(Debug)]
pub struct Socket {
    descriptor: OwnedFd,
    channel: Option<Box<Channel>>,
}

impl Socket {
    /// Connects, waiting at most `timeout`; every later wait on it is bounded in the same way.
    pub fn connect(host: &Host, timeout: Duration) -> io::Result<Self> {
        let descriptor = match host {
            Host::Unix(path) => UnixStream::connect(path)?.into(),
            Host::Tcp { name, port } => {
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

    /// Begins TLS: from here on all is encrypted.
    ///
    /// # Errors
    /// The server does not speak it, is not trusted, or does not trust us.
    pub fn secure(&mut self, mut channel: Channel) -> io::Result<()> {
        while channel.is_beginning() {
            channel.flush(&mut Patient(self.descriptor.as_fd()))?;
            receive(&self.descriptor, &mut channel)?;
            if let Err(error) = channel.begin() {
                // The server is told as well, if it listens.
                let _ = channel.flush(&mut Patient(self.descriptor.as_fd()));
                return Err(error);
            }
        }
        channel.flush(&mut Patient(self.descriptor.as_fd()))?;
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
        let mut wire = Patient(self.descriptor.as_fd());
        match &mut self.channel {
            None => wire.write_all(bytes),
            Some(channel) => {
                let pushed = channel.push(bytes, &mut wire);
                pushed.map_err(|error| disconnect(&self.descriptor, channel).unwrap_or(error))
            }
        }
    }

    /// Its TLS, for those that receive by themselves.
    pub fn channel(&mut self) -> Option<&mut Channel> {
        self.channel.as_deref_mut()
    }

    /// Ends TLS. Its memory is for the caller to free: nothing can be read or written any more that makes sense.
    pub fn take_channel(&mut self) -> Option<Box<Channel>> {
        let mut channel = self.channel.take()?;
        channel.close();
        // A server that does not read needs no disconnect.
        let _ = channel.flush(&mut Wire { to: self.descriptor.as_fd(), socket: true });
        Some(channel)
    }

    /// Sends as much of `out` as the server takes without waiting, and gives back payloads that are done with. `false`:
    /// the rest has to wait until it reads.
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
            Err(error) => return Err(patient(error)),
        }
    }
}

fn receive(socket: impl AsFd, channel: &mut Channel) -> io::Result<()> {
    let count = received(socket, channel.room())?;
    channel.received(count);
    Ok(())
}

/// Why the server has closed the connection, if it said so before.
fn disconnect(socket: impl AsFd, channel: &mut Channel) -> Option<io::Error> {
    receive(socket, channel).ok()?;
    channel.open(&mut [0; 1]).err()
}

/// Sends, and waits as long as the socket does.
struct Patient<'a>(BorrowedFd<'a>);

impl Write for Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        send(self.0, bytes, SendFlags::NOSIGNAL).map_err(patient)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One that is connected already; its waits are bounded as they were.
impl From<OwnedFd> for Socket {
    fn from(connected: OwnedFd) -> Self {
        Self { descriptor: connected, channel: None }
    }
}

/// A socket with a bounded wait says "would block" when the wait was too long.
fn patient(error: rustix::io::Errno) -> io::Error {
    if error == rustix::io::Errno::AGAIN { io::ErrorKind::TimedOut.into() } else { error.into() }
}
