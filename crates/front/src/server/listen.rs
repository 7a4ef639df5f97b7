//! How clients come in: listening sockets, and descriptors that are connected already.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};

use rustix::net::sockopt;

use super::connection::{Connection, Course, Stage};
use super::ring::Token;
use super::{Limits, Server};
use crate::nbd::{Handshake, Tls};
use crate::service::Service;

/// Bytes that a Unix socket may hold for a client: a large reply goes out in few pieces.
const SOCKET_BYTES: usize = 1 << 20;

/// Clients that may be on their way out while others are let in.
const LEAVING_MAX: usize = 16;

/// A listening socket.
#[derive(Debug)]
pub(super) struct Listener {
    socket: OwnedFd,
    serial: u64,
    accepting: bool,
    closed: bool,
}

/// A listening socket of a server, for [`Server::shut`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Door {
    number: u32,
    /// Distinguishes sockets that had the same number one after the other.
    serial: u64,
}

impl<S: Service + 'static> Server<S> {
    /// Lets clients in that come over a listening socket, Unix or TCP.
    pub fn listen(&mut self, socket: impl Into<OwnedFd>) -> io::Result<Door> {
        let serial = self.doors;
        self.doors += 1;
        let listener = Listener { socket: socket.into(), serial, accepting: false, closed: false };
        let number = self.listeners.insert(listener);
        self.open_doors()?;
        Ok(Door { number, serial })
    }

    /// Lets nobody in any more over this socket.
    pub fn shut(&mut self, Door { number, serial }: Door) -> io::Result<()> {
        let listener = self.listeners.get_mut(number).filter(|listener| listener.serial == serial);
        let Some(listener) = listener else { return Ok(()) };
        listener.closed = true;
        if listener.accepting {
            return self.ring.cancel(Token::Accepted(number));
        }
        self.listeners.remove(number);
        Ok(())
    }

    /// Serves a client that is connected already: a socket, or two pipes.
    pub fn serve(&mut self, input: OwnedFd, output: Option<OwnedFd>) -> io::Result<()> {
        let socket = rustix::fs::fstat(&input)
            .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Socket);
        // One socket for both directions is served as such.
        let output = output.filter(|_| !socket);
        if let Some(output) = &output {
            let flags = rustix::fs::fcntl_getfl(output)?;
            rustix::fs::fcntl_setfl(output, flags | rustix::fs::OFlags::NONBLOCK)?;
        }
        if socket {
            prepare(&input);
        }
        self.enter(None, input, output, socket)
    }

    fn enter(&mut self, door: Option<Door>, input: OwnedFd, output: Option<OwnedFd>, socket: bool) -> io::Result<()> {
        let stage = Stage::Greeting(Handshake::new(Tls::Off, &mut Vec::new()));
        let mut connection = Connection::new(input, output, socket, stage, self.now);
        connection.door = door;
        self.welcome(connection)
    }

    /// Waits for clients at every listening socket where it does not yet, unless too many are on their way out: those
    /// that come wait in the kernel then.
    pub(super) fn open_doors(&mut self) -> io::Result<()> {
        if self.connections.len() >= self.limits.connections + LEAVING_MAX {
            return Ok(());
        }
        for number in self.listeners.numbers() {
            let Some(listener) = self.listeners.get_mut(number) else { continue };
            if listener.accepting || listener.closed {
                continue;
            }
            listener.accepting = true;
            self.ring.accept(listener.socket.as_fd(), Token::Accepted(number))?;
        }
        Ok(())
    }

    pub(super) fn close_doors(&mut self) {
        for number in self.listeners.numbers() {
            let Some(&Listener { serial, .. }) = self.listeners.get(number) else { continue };
            // A ring that cannot take this fails in the next round.
            let _ = self.shut(Door { number, serial });
        }
    }

    pub(super) fn accepted(&mut self, number: u32, result: i32) -> io::Result<()> {
        let Some(listener) = self.listeners.get_mut(number) else { return Ok(()) };
        listener.accepting = false;
        let (closed, serial) = (listener.closed, listener.serial);
        if closed {
            self.listeners.remove(number);
        }
        if result < 0 {
            // Too many open files, or a client that is gone: the next look tries again.
            return Ok(());
        }
        // SAFETY: the kernel has just made this descriptor for us.
        let socket = unsafe { OwnedFd::from_raw_fd(result) };
        if closed {
            return Ok(());
        }
        let door = Door { number, serial };
        if self.has_room(door) {
            prepare(&socket);
            self.enter(Some(door), socket, None, true)?;
        }
        self.open_doors()
    }

    /// Whether one more client may come in over a listening socket; makes room where that is possible.
    fn has_room(&mut self, door: Door) -> bool {
        let (mut here, mut greeting) = (0, 0);
        let (mut all, mut longest, mut longest_here) = (0, None, None);
        for number in self.connections.numbers() {
            let Some(connection) = self.connections.get(number) else { continue };
            if connection.course == Course::Broken {
                continue;
            }
            let (is_here, is_greeting) =
                (connection.door == Some(door), matches!(connection.stage, Stage::Greeting(_)));
            all += 1;
            here += usize::from(is_here);
            if is_greeting {
                let waiting = Some((connection.moved, number));
                longest = longest.min(waiting).or(waiting);
                if is_here {
                    greeting += 1;
                    longest_here = longest_here.min(waiting).or(waiting);
                }
            }
        }
        let Limits { connections, handshakes, .. } = self.limits;
        // Clients of one socket leave a quarter of the places to those of the others.
        let here_max = if self.listeners.len() > 1 { connections - connections / 4 } else { connections };
        let leaves = if here >= here_max || greeting >= handshakes {
            longest_here
        } else if all >= connections {
            longest
        } else {
            return true;
        };
        if let Some((_, number)) = leaves {
            self.end(number, Course::Broken);
        }
        leaves.is_some()
    }
}

/// Best effort: small replies leave at once, large ones in few pieces.
fn prepare(socket: &impl AsFd) {
    if sockopt::set_tcp_nodelay(socket, true).is_err() {
        let forced = sockopt::set_socket_send_buffer_size_force(socket, SOCKET_BYTES);
        if forced.is_err() {
            let _ = sockopt::set_socket_send_buffer_size(socket, SOCKET_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::{UnixListener, UnixStream};

    use plimsoll_device::Clock;

    use super::*;
    use crate::files::Files;
    use crate::plain::Plain;

    #[test]
    fn clients_of_a_closed_socket_do_not_count_for_the_next() {
        let limits = Limits { handshakes: 1, ..Limits::default() };
        let mut server = Server::new(Plain::new([512]), Files::memory(), limits, Clock::start()).unwrap();
        let directory = std::env::temp_dir().join(format!("plimsoll-doors-{}", std::process::id()));
        std::fs::create_dir(&directory).unwrap();
        let [first, second] = ["first", "second"].map(|name| directory.join(name));
        let old = server.listen(UnixListener::bind(&first).unwrap()).unwrap();
        let _early = UnixStream::connect(&first).unwrap();
        while server.connections.len() == 0 {
            server.round().unwrap();
        }
        server.shut(old).unwrap();
        while server.listeners.len() > 0 {
            server.round().unwrap();
        }
        let new = server.listen(UnixListener::bind(&second).unwrap()).unwrap();
        assert_eq!(new.number, old.number, "numbers are reused");
        server.shut(old).unwrap();
        let mut late = UnixStream::connect(&second).unwrap();
        late.set_nonblocking(true).unwrap();
        while late.read(&mut [0; 64]).is_err() {
            server.round().unwrap();
        }
        let open = server.connections.iter_mut().filter(|connection| connection.course == Course::On).count();
        assert_eq!(open, 2, "the client of the closed socket goes on");
        std::fs::remove_dir_all(directory).unwrap();
    }
}
