//! How fast a commit can be on durable media, whatever asks for it.
//!
//! Knows nothing about benchmarks.

use plimsoll_units::Span;

use crate::ground::Facts;

/// A write and a flush that return faster than this never left a controller: flash with protected memory takes longer.
const PROTECTED: Span = Span::from_micros(12);
/// The same for a disk that has to turn: a turn of 15,000 a minute takes 4 ms, half of it on average.
const ROTATING: Span = Span::from_millis(2);

/// What a commit takes at least, and what that is known of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Durable {
    /// Time of one.
    pub(super) least: Span,
    /// The medium.
    pub(super) medium: &'static str,
}

/// What is known of the medium of a ground.
pub(super) fn durable(facts: &Facts) -> Durable {
    let rotational = facts.subject.device.as_ref().and_then(|device| device.rotational);
    // A virtual disk says that it rotates because nobody told it otherwise.
    let is_virtual = facts.host.as_ref().is_some_and(|host| host.virtualization.is_some());
    if rotational == Some(true) && !is_virtual {
        Durable { least: ROTATING, medium: "a disk that rotates" }
    } else {
        Durable { least: PROTECTED, medium: "durable media" }
    }
}
