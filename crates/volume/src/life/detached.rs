//! Detached autotune: a volume that is detached for long enough drops to its lowest level, and returns to its default
//! when attached.

use plimsoll_units::{Instant, Span};

/// Attachment state of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detached {
    /// Detached time before the level drops.
    after: Span,
    /// Level after that time.
    low: u32,
    /// Level when attached again.
    default: u32,
    state: AttachState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AttachState {
    Attached,
    Since(Instant),
    Low,
}

impl Detached {
    /// 14 days, as documented by a provider.
    pub const FORTNIGHT: Span = Span::from_secs(14 * 24 * 3_600);

    /// State of an attached volume. Tests use a short `after`.
    pub const fn new(after: Span, low: u32, default: u32) -> Self {
        Self { after, low, default, state: AttachState::Attached }
    }

    /// Detaches at `now`.
    pub const fn detach(&mut self, now: Instant) {
        if matches!(self.state, AttachState::Attached) {
            self.state = AttachState::Since(now);
        }
    }

    /// Attaches. Returns the new level if it changed.
    pub const fn attach(&mut self) -> Option<u32> {
        let was_low = matches!(self.state, AttachState::Low);
        self.state = AttachState::Attached;
        if was_low { Some(self.default) } else { None }
    }

    /// Next time for [`Detached::tick`].
    pub fn wake_at(&self) -> Option<Instant> {
        match self.state {
            AttachState::Since(moment) => Some(moment + self.after),
            AttachState::Attached | AttachState::Low => None,
        }
    }

    /// Advances to `now`. Returns the new level if it changed.
    pub fn tick(&mut self, now: Instant) -> Option<u32> {
        if self.wake_at().is_none_or(|at| at > now) {
            return None;
        }
        self.state = AttachState::Low;
        Some(self.low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_drops_after_14_days_until_attached() {
        let mut volume = Detached::new(Detached::FORTNIGHT, 0, 10);
        let begin = Instant::ZERO + Span::from_secs(5);
        volume.detach(begin);
        volume.detach(begin + Span::from_secs(60));
        let due = begin + Detached::FORTNIGHT;
        assert_eq!(volume.wake_at(), Some(due));
        assert_eq!(volume.tick(due - Span::from_nanos(1)), None);
        assert_eq!(volume.tick(due), Some(0));
        assert_eq!((volume.tick(due), volume.wake_at()), (None, None));
        assert_eq!(volume.attach(), Some(10));
        assert_eq!(volume.attach(), None);
    }

    #[test]
    fn attaching_in_time_keeps_the_level() {
        let mut volume = Detached::new(Detached::FORTNIGHT, 0, 10);
        volume.detach(Instant::ZERO);
        assert_eq!(volume.attach(), None);
        assert_eq!(volume.tick(Instant::NEVER), None);
    }
}
