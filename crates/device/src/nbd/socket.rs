//! A connected stream socket, Unix or TCP.

use std::io;
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};

use super::address::Host;

/// A connection to a server.
#[derive(Debug)]
pub struct Socket(OwnedFd);

impl Socket {
    /// Connects, waiting at most `patience`; every later wait on it is bounded in the same way.
    pub fn connect(host: &Host, patience: Duration) -> io::Result<Self> {
        let socket = match host {
            Host::Unix(path) => UnixStream::connect(path)?.into(),
            Host::Tcp { name, port } => {
                let stream = TcpStream::connect((name.as_str(), *port))?;
                stream.set_nodelay(true)?;
                stream.into()
            }
        };
        for timeout in [sockopt::Timeout::Recv, sockopt::Timeout::Send] {
            sockopt::set_socket_timeout(&socket, timeout, Some(patience))?;
        }
        Ok(Self(socket))
    }

    /// Fills `bytes`.
    pub fn read(&self, mut bytes: &mut [u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match recv(&self.0, &mut *bytes, RecvFlags::empty()) {
                Ok((0, _)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok((count, _)) => bytes = &mut bytes[count..],
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(patient(error)),
            }
        }
        Ok(())
    }

    /// Sends all of `bytes`.
    pub fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match send(&self.0, bytes, SendFlags::NOSIGNAL) {
                Ok(count) => bytes = &bytes[count..],
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(patient(error)),
            }
        }
        Ok(())
    }

    /// The descriptor alone.
    pub fn into_inner(self) -> OwnedFd {
        self.0
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A socket with a bounded wait says "would block" when the wait was too long.
fn patient(error: rustix::io::Errno) -> io::Error {
    if error == rustix::io::Errno::AGAIN { io::ErrorKind::TimedOut.into() } else { error.into() }
}
