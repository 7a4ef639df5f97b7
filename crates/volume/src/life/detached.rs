//! Detached autotune: a volume that nobody has attached for long enough goes to its lowest level, and back to its
//! default when it is attached again.

use plimsoll_units::{Instant, Span};

/// Whether a volume is attached, and since when it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detached {
    /// How long it has to be detached.
    after: Span,
    /// Level after that time.
    low: u32,
    /// Level when attached again.
    default: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Attached,
    Since(Instant),
    Low,
}

impl Detached {
    /// 14 days, as one provider has it.
    pub const FORTNIGHT: Span = Span::from_secs(14 * 24 * 3_600);

    /// An attached volume. `after` is compressed in tests.
    pub const fn new(after: Span, low: u32, default: u32) -> Self {
        Self { after, low, default, state: State::Attached }
    }

    /// It was detached at `now`.
    pub const fn detach(&mut self, now: Instant) {
        if matches!(self.state, State::Attached) {
            self.state = State::Since(now);
        }
    }

    /// It was attached. Returns the level that it has now, if that changed.
    pub const fn attach(&mut self) -> Option<u32> {
        let was_low = matches!(self.state, State::Low);
        self.state = State::Attached;
        if was_low { Some(self.default) } else { None }
    }

    /// The next time for [`Detached::tick`].
    pub fn wake_at(&self) -> Option<Instant> {
        match self.state {
            State::Since(moment) => Some(moment + self.after),
            State::Attached | State::Low => None,
        }
    }

    /// Time passed. Returns the level that the volume has now, if that changed.
    pub fn tick(&mut self, now: Instant) -> Option<u32> {
        if self.wake_at().is_none_or(|at| at > now) {
            return None;
        }
        self.state = State::Low;
        Some(self.low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_fortnight_it_goes_low_and_comes_back_when_attached() {
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
    fn attached_in_time_nothing_changes() {
        let mut volume = Detached::new(Detached::FORTNIGHT, 0, 10);
        volume.detach(Instant::ZERO);
        assert_eq!(volume.attach(), None);
        assert_eq!(volume.tick(Instant::NEVER), None);
    }
}
