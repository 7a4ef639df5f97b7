//! The real time line: the monotonic clock from an origin that all loops of a run share.

use plimsoll_units::Instant;

/// Reads the monotonic clock. Copies share their origin, so that moments of several threads can be compared.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: std::time::Instant,
}

impl Clock {
    /// A line that begins now.
    pub fn start() -> Self {
        Self { origin: std::time::Instant::now() }
    }

    /// The present moment.
    #[inline]
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.origin.elapsed().as_nanos() as u64)
    }
}
