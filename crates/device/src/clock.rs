//! The real time line: the monotonic clock relative to an origin that all loops of a run share.

use plimsoll_units::Instant;

/// Reads the monotonic clock. Copies share the origin, so times of several threads are comparable.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: std::time::Instant,
}

impl Clock {
    /// A clock with origin now.
    pub fn start() -> Self {
        Self { origin: std::time::Instant::now() }
    }

    /// Current time.
    #[inline]
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.origin.elapsed().as_nanos() as u64)
    }
}
