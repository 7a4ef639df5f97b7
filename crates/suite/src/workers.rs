//! Concurrent workers: each on its thread, with a common observer and a common end.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use plimsoll_drive::{Fault, Observe, Onward};
use plimsoll_language::say;
use plimsoll_record::{Slice, Tally};
use plimsoll_units::{Instant, Span};

/// Maximum interval between calls of the observer.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// A barrier that can be closed: threads wait until all have arrived, or until a thread has failed.
#[derive(Debug)]
pub struct StartBarrier {
    /// Number of missing threads; `None` once it is closed.
    missing: Mutex<Option<usize>>,
    changed: Condvar,
}

impl StartBarrier {
    /// A barrier for `count` threads.
    pub const fn new(count: usize) -> Self {
        Self { missing: Mutex::new(Some(count)), changed: Condvar::new() }
    }

    /// Arrives, and waits for the others. False if the barrier was closed before all had arrived.
    pub fn wait(&self) -> bool {
        self.arrive(1)
    }

    /// Waits for the threads of the barrier without being counted. False if it was closed before all had arrived.
    pub fn watch(&self) -> bool {
        self.arrive(0)
    }

    fn arrive(&self, threads: usize) -> bool {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        *missing = missing.map(|missing| missing.saturating_sub(threads));
        self.changed.notify_all();
        let waits = |missing: &mut Option<usize>| missing.is_some_and(|missing| missing > 0);
        let missing = self.changed.wait_while(missing, waits).unwrap_or_else(PoisonError::into_inner);
        missing.is_some()
    }

    /// Releases all present and future waiters, unless all have arrived.
    pub fn close(&self) {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        *missing = missing.filter(|missing| *missing == 0);
        self.changed.notify_all();
    }
}

/// Fault if `required` threads could not be started, with the most probable limit. `source` is the error of the system.
pub fn unstarted(required: usize, source: io::Error) -> Fault {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nproc).current;
    let limit = limit.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string());
    let source = if source.kind() == io::ErrorKind::WouldBlock {
        io::Error::other(say!(
            "{source}: the limit of processes and threads of this user (ulimit -u) is {limit}; the control group may have \
             a lower one (pids.max): raise it, or ask for less at once"
        ))
    } else {
        source
    };
    Fault { attempt: say!("starting {required} threads"), source }
}

/// The connection of a worker to its group.
#[derive(Debug)]
pub struct WorkerHandle<'a> {
    stop: &'a AtomicBool,
    index: usize,
    send: Sender<(usize, Message)>,
    delivered: usize,
}

/// A message from a worker to its group.
#[derive(Debug)]
enum Message {
    /// The next slice of its series.
    Slice(Slice),
    /// No more slices follow.
    Ended,
}

impl<'a> WorkerHandle<'a> {
    /// Set when the group has to end.
    pub(crate) const fn flag(&self) -> &'a AtomicBool {
        self.stop
    }

    /// Observer of the worker's loop: sends new slices to the group, and returns whether to continue.
    pub fn observe(&mut self, series: &[Slice]) -> Onward {
        for slice in &series[self.delivered.min(series.len())..] {
            // The receiver is dropped only when the group ends.
            let _ = self.send.send((self.index, Message::Slice(slice.clone())));
            self.delivered += 1;
        }
        if self.is_stopped() { Onward::Break(()) } else { Onward::Continue(()) }
    }

    /// Sends an empty slice, for a worker that has not started.
    pub fn pass(&mut self, span: Span) {
        let slice = Slice { start: Instant::ZERO, span, tally: Tally::default() };
        // As above.
        let _ = self.send.send((self.index, Message::Slice(slice)));
    }

    /// True when the group has to end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends the group.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Runs `members`, each on a thread named `loop N`, and passes their series to `observe`, merged slice by slice as soon
/// as all have delivered a slice. All are stopped when `observe` stops them or a member fails. Returns the results in
/// the order of the members.
///
/// # Errors
/// A thread could not be started: then no member is run, so that members may wait for each other.
pub fn together<M, T, E>(members: Vec<M>, observe: Observe<'_>) -> Result<Vec<Result<T, E>>, Fault>
where
    M: FnOnce(&mut WorkerHandle<'_>) -> Result<T, E> + Send,
    T: Send,
    E: Send,
{
    let stop = AtomicBool::new(false);
    let (send, receive) = channel();
    let count = members.len();
    let started = StartBarrier::new(count);
    std::thread::scope(|scope| {
        let (stop, started) = (&stop, &started);
        let start = |(index, member): (usize, M)| {
            let mut handle = WorkerHandle { stop, index, send: send.clone(), delivered: 0 };
            let run = move || {
                let done = started.wait().then(|| member(&mut handle).inspect_err(|_| handle.stop()));
                // As above.
                let _ = handle.send.send((index, Message::Ended));
                done
            };
            std::thread::Builder::new().name(format!("loop {index}")).spawn_scoped(scope, run)
        };
        let handles: io::Result<Vec<_>> = members.into_iter().enumerate().map(start).collect();
        drop(send);
        let handles = handles.map_err(|source| {
            started.close();
            unstarted(count, source)
        })?;
        gather(&receive, count, observe, stop);
        let ended = handles.into_iter().map(|handle| handle.join().expect("a loop does not panic"));
        Ok(ended.map(|done| done.expect("all were started")).collect())
    })
}

/// Passes the merged series to `observe` when all active workers have delivered a slice, and stops all on request.
fn gather(receive: &Receiver<(usize, Message)>, loops: usize, observe: Observe<'_>, stop: &AtomicBool) {
    let mut series: Vec<Slice> = Vec::new();
    // Slices of each worker; `None` if it has ended.
    let mut delivered: Vec<Option<usize>> = vec![Some(0); loops];
    let mut complete = 0;
    loop {
        match receive.recv_timeout(POLL_INTERVAL) {
            Err(RecvTimeoutError::Disconnected) => return,
            // Calls the observer even so: the user may interrupt during a long slice.
            Err(RecvTimeoutError::Timeout) => {}
            Ok((index, Message::Ended)) => delivered[index] = None,
            Ok((index, Message::Slice(slice))) => {
                let place = delivered[index].unwrap_or(series.len());
                match series.get_mut(place) {
                    Some(mine) => mine.tally.merge(&slice.tally),
                    None => series.push(slice),
                }
                delivered[index] = Some(place + 1);
            }
        }
        complete = delivered.iter().flatten().copied().min().unwrap_or(series.len()).max(complete);
        if observe(&series[..complete]).is_break() {
            stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Merges the series of a worker into that of all, slice by slice.
pub fn merge(all: &mut Vec<Slice>, series: Vec<Slice>) {
    for (index, slice) in series.into_iter().enumerate() {
        match all.get_mut(index) {
            Some(mine) => {
                mine.tally.merge(&slice.tally);
                mine.span = mine.span.max(slice.span);
            }
            None => all.push(slice),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_barrier_releases_all_waiters() {
        let barrier = StartBarrier::new(3);
        std::thread::scope(|scope| {
            let waiting = [scope.spawn(|| barrier.wait()), scope.spawn(|| barrier.watch())];
            barrier.close();
            assert!(waiting.into_iter().all(|thread| !thread.join().expect("it does not panic")));
        });
        assert!(!barrier.wait());
    }

    #[test]
    fn barrier_opens_when_all_have_arrived() {
        let barrier = StartBarrier::new(2);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| barrier.wait());
            assert!(barrier.wait() && other.join().expect("it does not panic"));
        });
        barrier.close();
        assert!(barrier.watch(), "a late waiter is not blocked");
    }

    #[test]
    fn missing_threads_are_explained_by_their_limit() {
        let fault = unstarted(64, io::ErrorKind::WouldBlock.into());
        assert!(fault.source.to_string().contains("ulimit -u"), "{}", fault.source);
        assert_eq!(fault.attempt, "starting 64 threads");
    }
}
