//! Loops side by side: each on a thread of its own, watched together, ended together.
//!
//! Knows nothing about what the loops do.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use plimsoll_drive::{Observe, Onward};
use plimsoll_record::{Slice, Tally};
use plimsoll_units::{Instant, Span};

/// How often the observer is asked at least.
const LOOK: Duration = Duration::from_millis(250);

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
/// as soon as all have delivered one. Where `observe` breaks off or a member fails, all are stopped.
///
/// # Errors
/// Of each member its own; or that its thread could not be started, which stops the others.
pub fn together<M, T, E>(members: Vec<M>, observe: Observe<'_>) -> Vec<io::Result<Result<T, E>>>
where
    M: FnOnce(&mut Tie<'_>) -> Result<T, E> + Send,
    T: Send,
    E: Send,
{
    let stop = AtomicBool::new(false);
    let (send, receive) = channel();
    let count = members.len();
    std::thread::scope(|scope| {
        let stop = &stop;
        let start = |(index, member): (usize, M)| {
            let mut tie = Tie { stop, index, send: send.clone(), delivered: 0 };
            let run = move || {
                let done = member(&mut tie).inspect_err(|_| tie.stop());
                // As above.
                let _ = tie.send.send((index, News::Ended));
                done
            };
            std::thread::Builder::new().name(format!("loop {index}")).spawn_scoped(scope, run)
        };
        let handles: Vec<_> = members.into_iter().enumerate().map(start).collect();
        drop(send);
        if handles.iter().any(Result::is_err) {
            stop.store(true, Ordering::Relaxed);
        }
        gather(&receive, count, observe, stop);
        handles.into_iter().map(|handle| handle.map(|handle| handle.join().expect("a loop does not panic"))).collect()
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
