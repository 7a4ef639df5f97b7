//! How other threads reach a running server: a queue of errands, and a descriptor that the ring watches.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use rustix::event::{EventfdFlags, eventfd};

use super::Server;

type Errand<S> = Box<dyn FnOnce(&mut Server<S>) + Send>;

/// Runs errands on a server's own thread.
#[derive(Debug)]
pub struct Handle<S> {
    send: Sender<Errand<S>>,
    bell: Arc<OwnedFd>,
}

impl<S> Clone for Handle<S> {
    fn clone(&self) -> Self {
        Self { send: self.send.clone(), bell: Arc::clone(&self.bell) }
    }
}

/// The server is gone.
#[derive(Debug, thiserror::Error)]
#[error("the server has ended")]
pub struct Ended;

impl<S> Handle<S> {
    /// Has `errand` done between two rounds of the loop.
    pub fn send(&self, errand: impl FnOnce(&mut Server<S>) + Send + 'static) -> Result<(), Ended> {
        self.send.send(Box::new(errand)).map_err(|_| Ended)?;
        // A bell that has rung too often to ring again rings already.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
        Ok(())
    }

    /// Has `errand` done, and waits for its result.
    pub fn call<T: Send + 'static>(
        &self,
        errand: impl FnOnce(&mut Server<S>) -> T + Send + 'static,
    ) -> Result<T, Ended> {
        let (answer, answered) = channel();
        self.send(move |server| {
            let _ = answer.send(errand(server));
        })?;
        answered.recv().map_err(|_| Ended)
    }
}

/// The server's end.
pub(super) struct Mail<S> {
    pub handle: Handle<S>,
    receive: Receiver<Errand<S>>,
}

impl<S> Mail<S> {
    pub(super) fn new() -> io::Result<Self> {
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let (send, receive) = channel();
        Ok(Self { handle: Handle { send, bell }, receive })
    }

    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        self.handle.bell.as_fd()
    }

    /// What was asked since the last call.
    pub(super) fn read(&self) -> Vec<Errand<S>> {
        let _ = rustix::io::read(&*self.handle.bell, &mut [0; 8]);
        self.receive.try_iter().collect()
    }
}
