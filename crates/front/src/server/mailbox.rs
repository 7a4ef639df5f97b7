//! Calls from other threads to a running server: a queue, and a descriptor that wakes the ring.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use rustix::event::{EventfdFlags, eventfd};

use super::Server;

type Call = Box<dyn FnOnce(&mut Server) + Send>;

/// Runs calls on the thread of a server.
#[derive(Debug)]
pub struct Handle {
    send: Sender<Call>,
    wakeup: Arc<OwnedFd>,
}

impl Clone for Handle {
    fn clone(&self) -> Self {
        Self { send: self.send.clone(), wakeup: Arc::clone(&self.wakeup) }
    }
}

#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
#[error("the server has ended")]
pub struct ServerEnded;

impl Handle {
    /// Runs `call` between two rounds of the loop.
    pub fn send(&self, call: impl FnOnce(&mut Server) + Send + 'static) -> Result<(), ServerEnded> {
        self.send.send(Box::new(call)).map_err(|_| ServerEnded)?;
        // A full counter wakes the ring as well.
        let _ = rustix::io::write(&self.wakeup, &1u64.to_ne_bytes());
        Ok(())
    }

    /// Runs `call`, and waits for its result.
    pub fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&mut Server) -> T + Send + 'static,
    ) -> Result<T, ServerEnded> {
        let (answer, answered) = channel();
        self.send(move |server| {
            let _ = answer.send(call(server));
        })?;
        answered.recv().map_err(|_| ServerEnded)
    }
}

/// The receiving end.
pub(super) struct Mailbox {
    pub handle: Handle,
    receive: Receiver<Call>,
}

impl Mailbox {
    pub(super) fn new() -> io::Result<Self> {
        let wakeup = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let (send, receive) = channel();
        Ok(Self { handle: Handle { send, wakeup }, receive })
    }

    pub(super) fn wakeup(&self) -> BorrowedFd<'_> {
        self.handle.wakeup.as_fd()
    }

    /// The calls since the last time.
    pub(super) fn read(&self) -> Vec<Call> {
        let _ = rustix::io::read(&*self.handle.wakeup, &mut [0; 8]);
        self.receive.try_iter().collect()
    }
}
