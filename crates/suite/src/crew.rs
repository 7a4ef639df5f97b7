//! Loops side by side: each on a thread of its own, watched together, ended together.
//!
//! Knows nothing about what the loops do.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use plimsoll_drive::{Fault, Observe, Onward};
use plimsoll_record::{Slice, Tally};
use plimsoll_units::{Instant, Span};

/// How often the observer is asked at least.
const LOOK: Duration = Duration::from_millis(250);

/// A barrier that can be closed: threads wait until all have come, or until it is known that one of them never will.
#[derive(Debug)]
pub struct StartBarrier {
    /// Threads that are still to come; none once it is closed.
    missing: Mutex<Option<usize>>,
    changed: Condvar,
}

impl StartBarrier {
    /// A barrier for so many threads.
    pub const fn new(count: usize) -> Self {
        Self { missing: Mutex::new(Some(count)), changed: Condvar::new() }
    }

    /// Arrives, and waits for the others. False when the barrier was closed before all had come.
    pub fn wait(&self) -> bool {
        self.arrive(1)
    }

    /// Waits for the threads of the barrier without being one of them. False when it was closed before all had come.
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

    /// Lets everybody go on who waits or will come, unless all have come.
    pub fn close(&self) {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        *missing = missing.filter(|missing| *missing == 0);
        self.changed.notify_all();
    }
}

/// Why `wanted` threads were not all started, with the limit that usually prevents it. `source` is the error of the system.
pub fn unstarted(wanted: usize, source: io::Error) -> Fault {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nproc).current;
    let limit = limit.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string());
    let source = if source.kind() == io::ErrorKind::WouldBlock {
        io::Error::other(format!(
            "{source}: the limit of processes and threads of this user (ulimit -u) is {limit}; the control group may have \
             a lower one (pids.max): raise it, or ask for less at once"
        ))
    } else {
        source
    };
    Fault { attempt: format!("starting {wanted} threads"), source }
}

/// What ties a loop to the others of its crew.
#[derive(Debug)]
pub struct Tie<'a> {
    stop: &'a AtomicBool,
    /// Its place in the crew.
    index: usize,
    send: Sender<(usize, News)>,
    delivered: usize,
}

/// What a loop lets the crew know.
#[derive(Debug)]
enum News {
    /// The next slice of its series.
    Slice(Slice),
    /// There will be none any more.
    Ended,
}

impl<'a> Tie<'a> {
    /// Set when the crew is to end.
    pub(crate) const fn flag(&self) -> &'a AtomicBool {
        self.stop
    }

    /// What the loop's observer does: shows the crew what is new, and passes on whether to go on.
    pub fn observe(&mut self, series: &[Slice]) -> Onward {
        for slice in &series[self.delivered.min(series.len())..] {
            // The receiver is gone only when the crew is being ended.
            let _ = self.send.send((self.index, News::Slice(slice.clone())));
            self.delivered += 1;
        }
        if self.is_stopped() { Onward::Break(()) } else { Onward::Continue(()) }
    }

    /// Lets a slice pass in which the loop did nothing because it has not begun.
    pub fn pass(&mut self, span: Span) {
        let slice = Slice { start: Instant::ZERO, span, tally: Tally::default() };
        // As above.
        let _ = self.send.send((self.index, News::Slice(slice)));
    }

    /// True when the crew is to end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends the crew.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Runs `members`, each on a thread of its own named `loop N`, and shows `observe` their series, merged slice by slice
/// as soon as all have delivered one. Where `observe` breaks off or a member fails, all are stopped. What each of them returned,
/// in their order.
///
/// # Errors
/// A thread could not be started: no member was run then, so that a member may wait for all others.
pub fn together<M, T, E>(members: Vec<M>, observe: Observe<'_>) -> Result<Vec<Result<T, E>>, Fault>
where
    M: FnOnce(&mut Tie<'_>) -> Result<T, E> + Send,
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
            let mut tie = Tie { stop, index, send: send.clone(), delivered: 0 };
            let run = move || {
                let done = started.wait().then(|| member(&mut tie).inspect_err(|_| tie.stop()));
                // As above.
                let _ = tie.send.send((index, News::Ended));
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

/// Shows `observe` the merged series as soon as all loops that have not ended have delivered a slice, and passes its
/// verdict on.
fn gather(receive: &Receiver<(usize, News)>, loops: usize, observe: Observe<'_>, stop: &AtomicBool) {
    let mut series: Vec<Slice> = Vec::new();
    // Slices of each loop; none of one that has ended.
    let mut delivered: Vec<Option<usize>> = vec![Some(0); loops];
    let mut complete = 0;
    loop {
        match receive.recv_timeout(LOOK) {
            Err(RecvTimeoutError::Disconnected) => return,
            // The observer is asked all the same: the user may want an end while a slice is long.
            Err(RecvTimeoutError::Timeout) => {}
            Ok((index, News::Ended)) => delivered[index] = None,
            Ok((index, News::Slice(slice))) => {
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

/// Merges one loop's series into that of all, slice by slice.
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
    fn closed_barrier_lets_everybody_go() {
        let barrier = StartBarrier::new(3);
        std::thread::scope(|scope| {
            let waiting = [scope.spawn(|| barrier.wait()), scope.spawn(|| barrier.watch())];
            barrier.close();
            assert!(waiting.into_iter().all(|thread| !thread.join().expect("it does not panic")));
        });
        assert!(!barrier.wait());
    }

    #[test]
    fn barrier_opens_when_all_have_come() {
        let barrier = StartBarrier::new(2);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| barrier.wait());
            assert!(barrier.wait() && other.join().expect("it does not panic"));
        });
        barrier.close();
        assert!(barrier.watch(), "who comes later finds it open");
    }

    #[test]
    fn missing_threads_are_explained_by_their_limit() {
        let fault = unstarted(64, io::ErrorKind::WouldBlock.into());
        assert!(fault.source.to_string().contains("ulimit -u"), "{}", fault.source);
        assert_eq!(fault.attempt, "starting 64 threads");
    }
}
