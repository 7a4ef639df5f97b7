//! FIFO queue of this process's writers.
//!
//! SQLite allows a single writer at a time. Others poll and are never woken. This queue admits writers in order of
//! arrival.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// The write lock of a database.
#[derive(Debug, Default)]
pub(super) struct Gate(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    /// Present holder.
    inside: Option<u64>,
    /// Waiting writers and their threads.
    waiting: VecDeque<(u64, Thread)>,
    /// Number of arrivals so far.
    came: u64,
}

impl Gate {
    /// Enters if free. True if entered.
    pub(super) fn try_enter(&self) -> bool {
        let mut queue = self.queue();
        if queue.inside.is_some() {
            return false;
        }
        queue.came += 1;
        queue.inside = Some(queue.came);
        true
    }

    /// Enters, or gives up after `limit` or when `cancelled` is set and [`Gate::wake_all`] is called. True if entered.
    pub(super) fn enter(&self, limit: Duration, cancelled: &AtomicBool) -> bool {
        let until = Instant::now() + limit;
        let mut queue = self.queue();
        queue.came += 1;
        let me = queue.came;
        if queue.inside.is_none() {
            queue.inside = Some(me);
            return true;
        }
        queue.waiting.push_back((me, std::thread::current()));
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || cancelled.load(Relaxed) {
                queue.waiting.retain(|(other, _)| *other != me);
                return false;
            }
            drop(queue);
            std::thread::park_timeout(left);
            queue = self.queue();
            if queue.inside == Some(me) {
                return true;
            }
        }
    }

    /// Leaves, and admits the next writer.
    pub(super) fn leave(&self) {
        let mut queue = self.queue();
        queue.inside = queue.waiting.pop_front().map(|(next, thread)| {
            thread.unpark();
            next
        });
    }

    /// Wakes all waiting writers, so that a cancelled writer notices.
    pub(super) fn wake_all(&self) {
        self.queue().waiting.iter().for_each(|(_, thread)| thread.unpark());
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn writers_enter_in_order_of_arrival() {
        let (gate, go) = (Gate::default(), AtomicBool::new(false));
        let order = Mutex::new(Vec::new());
        assert!(gate.enter(LONG, &go));
        std::thread::scope(|scope| {
            for number in 0..4 {
                let (gate, go, order) = (&gate, &go, &order);
                scope.spawn(move || {
                    assert!(gate.enter(LONG, go));
                    order.lock().unwrap().push(number);
                    gate.leave();
                });
                while gate.queue().waiting.len() <= number {
                    std::thread::yield_now();
                }
            }
            gate.leave();
        });
        assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3]);
        assert!(gate.enter(Duration::ZERO, &go), "nobody is left inside");
    }

    #[test]
    fn cancelled_waiter_is_removed() {
        let (gate, cancelled) = (Gate::default(), AtomicBool::new(false));
        assert!(gate.enter(LONG, &cancelled));
        assert!(!gate.enter(Duration::from_millis(1), &cancelled));
        cancelled.store(true, Relaxed);
        assert!(!gate.enter(LONG, &cancelled));
        gate.leave();
        assert!(gate.enter(Duration::ZERO, &cancelled), "the gate is free");
    }
}
