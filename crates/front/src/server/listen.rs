//! How clients come in: listening sockets, and descriptors that are connected already.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use io_uring::{opcode, types};
use rustix::net::sockopt;

use super::Server;
use super::connection::{Connection, Course, Stage};
use super::ring::Token;
use crate::nbd::{Handshake, Tls};
use crate::service::Service;

/// Bytes that a Unix socket may hold for a client: a large reply goes out in few pieces.
const SOCKET_BYTES: usize = 1 << 20;

/// A listening socket.
#[derive(Debug)]
pub(super) struct Listener {
    socket: OwnedFd,
    accepting: bool,
    closed: bool,
}

/// A listening socket of a server, for [`Server::shut`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Door(u32);

impl<S: Service + 'static> Server<S> {
    /// Lets clients in that come over a listening socket, Unix or TCP.
    pub fn listen(&mut self, socket: impl Into<OwnedFd>) -> io::Result<Door> {
        let listener = Listener { socket: socket.into(), accepting: false, closed: false };
        let number = self.listeners.insert(listener);
        self.open_doors()?;
        Ok(Door(number))
    }

    /// Lets nobody in any more over this socket.
    pub fn shut(&mut self, Door(number): Door) -> io::Result<()> {
        let Some(listener) = self.listeners.get_mut(number) else { return Ok(()) };
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
        let stage = Stage::Greeting(Handshake::new(Tls::Off, &mut Vec::new()));
        self.welcome(Connection::new(input, output, socket, stage, self.now))
    }

    /// Waits for clients at every listening socket where it does not yet.
    pub(super) fn open_doors(&mut self) -> io::Result<()> {
        for number in self.listeners.numbers() {
            let Some(listener) = self.listeners.get_mut(number) else { continue };
            if listener.accepting || listener.closed {
                continue;
            }
            listener.accepting = true;
            let descriptor = types::Fd(listener.socket.as_raw_fd());
            let nobody = std::ptr::null_mut();
            let entry = opcode::Accept::new(descriptor, nobody, nobody.cast()).flags(libc::SOCK_CLOEXEC).build();
            self.ring.push(entry, Token::Accepted(number))?;
        }
        Ok(())
    }

    pub(super) fn close_doors(&mut self) {
        for number in self.listeners.numbers() {
            // A ring that cannot take this fails in the next round.
            let _ = self.shut(Door(number));
        }
    }

    pub(super) fn accepted(&mut self, number: u32, result: i32) -> io::Result<()> {
        let Some(listener) = self.listeners.get_mut(number) else { return Ok(()) };
        listener.accepting = false;
        let closed = listener.closed;
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
        if self.connections.len() >= self.limits.connections && !self.make_room() {
            drop(socket);
        } else {
            self.serve(socket, None)?;
        }
        self.open_doors()
    }

    /// Ends the connection that has been choosing an export for longest; `false` when all have chosen.
    fn make_room(&mut self) -> bool {
        let waiting = |number: &u32| {
            let connection = self.connections.get(*number)?;
            matches!(connection.stage, Stage::Greeting(_)).then_some((connection.moved, *number))
        };
        let longest = self.connections.numbers().iter().filter_map(waiting).min();
        if let Some((_, number)) = longest {
            self.end(number, Course::Broken);
        }
        longest.is_some()
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
