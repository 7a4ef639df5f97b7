//! Accepting clients: through listening sockets, and on connected descriptors.
#![allow(unsafe_code)]

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};

use rustix::net::sockopt;

use super::connection::{Connection, Lifecycle};
use super::notices::EndReason;
use super::ring::Token;
use super::{Limits, Server};
use crate::descriptors;
use crate::protocol::{Entropy, Protocol, SocketProtocol};

/// Send buffer of a Unix socket in bytes: large replies leave in few pieces.
const SOCKET_BYTES: usize = 1 << 20;

/// Maximum of ending connections beyond the limit of clients.
const LEAVING_MAX: usize = 16;

/// A listening socket.
#[derive(Debug)]
pub(super) struct Listener {
    socket: OwnedFd,
    pub service: SocketProtocol,
    serial: u64,
    accepting: bool,
    closed: bool,
}

/// Identifies a listening socket, for [`Server::close_listener`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenerId {
    number: u32,
    /// Distinguishes successive sockets with the same number.
    serial: u64,
}

impl Server {
    /// Accepts NBD clients through a listening socket, Unix or TCP.
    pub fn listen(&mut self, socket: impl Into<OwnedFd>) -> io::Result<ListenerId> {
        self.listen_for(socket, SocketProtocol::default())
    }

    /// Accepts clients of a protocol through a listening socket, Unix or TCP.
    pub fn listen_for(&mut self, socket: impl Into<OwnedFd>, service: SocketProtocol) -> io::Result<ListenerId> {
        let serial = self.listener_serial;
        self.listener_serial += 1;
        let listener = Listener { socket: socket.into(), service, serial, accepting: false, closed: false };
        let number = self.listeners.insert(listener);
        self.accept_clients()?;
        Ok(ListenerId { number, serial })
    }

    /// Accepts no further clients through this socket.
    pub fn close_listener(&mut self, ListenerId { number, serial }: ListenerId) -> io::Result<()> {
        let listener = self.listeners.get_mut(number).filter(|listener| listener.serial == serial);
        let Some(listener) = listener else { return Ok(()) };
        listener.closed = true;
        if listener.accepting {
            return self.ring.cancel(Token::Accepted(number));
        }
        self.listeners.remove(number);
        Ok(())
    }

    /// Serves a connected client: a socket, or two pipes.
    pub fn serve(&mut self, input: OwnedFd, output: Option<OwnedFd>) -> io::Result<()> {
        let socket = rustix::fs::fstat(&input)
            .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Socket);
        // A socket serves both directions.
        let output = output.filter(|_| !socket);
        if let Some(output) = &output {
            let flags = rustix::fs::fcntl_getfl(output)?;
            rustix::fs::fcntl_setfl(output, flags | rustix::fs::OFlags::NONBLOCK)?;
        }
        if socket {
            prepare(&input);
        }
        self.enter(None, &SocketProtocol::default(), input, (output, socket))
    }

    fn enter(
        &mut self,
        listener: Option<ListenerId>,
        service: &SocketProtocol,
        input: OwnedFd,
        (output, socket): (Option<OwnedFd>, bool),
    ) -> io::Result<()> {
        let mut greeting = Vec::new();
        let mut entropy = Entropy::default();
        rustix::rand::getrandom(&mut entropy, rustix::rand::GetRandomFlags::empty())?;
        let local = rustix::net::getsockname(&input).ok().and_then(|address| SocketAddr::try_from(address).ok());
        let peer = rustix::net::getpeername(&input).ok().flatten();
        let peer = peer.and_then(|address| SocketAddr::try_from(address).ok());
        let codec = Protocol::of_stream(service, self.tls.state(), local, entropy, &mut greeting);
        let mut connection = Connection::new(input, output, socket, codec, self.now);
        connection.listener = listener;
        connection.address = peer;
        connection.put(None, |_, out| out.append(&mut greeting));
        let number = self.connections.insert(connection);
        self.touch(number);
        self.receive(number).map(drop)
    }

    /// Waits for clients at all listening sockets, unless too many connections are ending: clients wait in the kernel
    /// then.
    pub(super) fn accept_clients(&mut self) -> io::Result<()> {
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

    pub(super) fn close_listeners(&mut self) {
        for number in self.listeners.numbers() {
            let Some(&Listener { serial, .. }) = self.listeners.get(number) else { continue };
            // A failed ring fails again in the next round.
            let _ = self.close_listener(ListenerId { number, serial });
        }
    }

    pub(super) fn accepted(&mut self, number: u32, result: i32) -> io::Result<()> {
        let Some(listener) = self.listeners.get_mut(number) else { return Ok(()) };
        listener.accepting = false;
        let (closed, serial, service) = (listener.closed, listener.serial, listener.service.clone());
        if closed {
            self.listeners.remove(number);
        }
        if result < 0 {
            // Too many open files, or a client that is gone: retried at the next tick.
            return Ok(());
        }
        // SAFETY: the kernel has just made this descriptor for us.
        let socket = unsafe { OwnedFd::from_raw_fd(result) };
        if closed {
            return Ok(());
        }
        if !descriptors::admits(&socket) {
            return self.accept_clients();
        }
        let listener = ListenerId { number, serial };
        if self.has_room(listener) {
            prepare(&socket);
            self.enter(Some(listener), &service, socket, (None, true))?;
        }
        self.accept_clients()
    }

    /// Whether a further client may connect through a listening socket; ends another connection if that is necessary.
    fn has_room(&mut self, listener: ListenerId) -> bool {
        let (mut here, mut greeting) = (0, 0);
        let (mut all, mut longest, mut longest_here) = (0, None, None);
        for number in self.connections.numbers() {
            let Some(connection) = self.connections.get(number) else { continue };
            if connection.lifecycle == Lifecycle::Broken {
                continue;
            }
            let (is_here, is_greeting) = (connection.listener == Some(listener), connection.session.is_none());
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
        // Clients of one socket leave a quarter of the places to other sockets.
        let here_max = if self.listeners.len() > 1 { connections - connections / 4 } else { connections };
        let leaves = if here >= here_max || greeting >= handshakes {
            longest_here
        } else if all >= connections {
            longest
        } else {
            return true;
        };
        if let Some((_, number)) = leaves {
            self.end(number, Lifecycle::Broken, EndReason::Crowded);
        }
        leaves.is_some()
    }
}

/// Best effort: small replies leave at once, large replies in few pieces.
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
    use plimsoll_units::Span;
    use plimsoll_volume::Volumes;

    use super::*;
    use crate::files::DataFiles;

    #[test]
    fn clients_of_a_closed_listener_do_not_count_for_the_next() {
        let limits = Limits { handshakes: 1, ..Limits::default() };
        let mut server =
            Server::new(Volumes::plain([512], Span::ZERO), DataFiles::memory(), limits, Clock::start()).unwrap();
        let directory = std::env::temp_dir().join(format!("plimsoll-listeners-{}", std::process::id()));
        std::fs::create_dir(&directory).unwrap();
        let [first, second] = ["first", "second"].map(|name| directory.join(name));
        let old = server.listen(UnixListener::bind(&first).unwrap()).unwrap();
        let _early = UnixStream::connect(&first).unwrap();
        while server.connections.len() == 0 {
            server.round().unwrap();
        }
        server.close_listener(old).unwrap();
        while server.listeners.len() > 0 {
            server.round().unwrap();
        }
        let new = server.listen(UnixListener::bind(&second).unwrap()).unwrap();
        assert_eq!(new.number, old.number, "numbers are reused");
        server.close_listener(old).unwrap();
        let mut late = UnixStream::connect(&second).unwrap();
        late.set_nonblocking(true).unwrap();
        while late.read(&mut [0; 64]).is_err() {
            server.round().unwrap();
        }
        let open = server.connections.iter_mut().filter(|connection| connection.lifecycle == Lifecycle::Open).count();
        assert_eq!(open, 2, "the client of the closed socket goes on");
        std::fs::remove_dir_all(directory).unwrap();
    }
}
