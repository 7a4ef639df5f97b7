//! Time dilation: model time runs slower than real time, so that a slow host can emulate a fast product.

use plimsoll_units::{Instant, Span};

/// Factor by which model time is slower than real time; 1 is real time. Figures of a dilated volume are in model time,
/// which must be stated with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slow(u32);

impl Slow {
    /// Real time.
    pub const NOT: Self = Self(1);

    /// `times` slower; zero means 1.
    pub const fn by(times: u32) -> Self {
        Self(if times == 0 { 1 } else { times })
    }

    pub const fn times(self) -> u32 {
        self.0
    }

    /// Model time at a real time.
    pub const fn model(self, now: Instant) -> Instant {
        Instant::from_nanos(now.as_nanos() / self.0 as u64)
    }

    /// Model duration of a real duration.
    pub const fn model_span(self, span: Span) -> Span {
        Span::from_nanos(span.as_nanos() / self.0 as u64)
    }

    /// First real time at which the model has reached `at`.
    pub const fn real(self, at: Instant) -> Instant {
        Instant::from_nanos(at.as_nanos().saturating_mul(self.0 as u64))
    }

    /// Real duration of a model duration.
    pub const fn real_span(self, span: Span) -> Span {
        Span::from_nanos(span.as_nanos().saturating_mul(self.0 as u64))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn real_time_of_a_model_time(at in 0..u64::MAX / 5_000, times in 1..5_000_u32) {
            let (slow, at) = (Slow::by(times), Instant::from_nanos(at));
            let real = slow.real(at);
            prop_assert_eq!(slow.model(real), at);
            prop_assert!(at == Instant::ZERO || slow.model(real - Span::from_nanos(1)) < at);
        }
    }
}
