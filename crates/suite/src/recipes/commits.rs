//! The least time of a commit on durable media.

use plimsoll_units::Span;

use crate::ground::Facts;

/// A write and a flush that return faster than this did not leave the controller: flash with protected memory takes longer.
const PROTECTED: Span = Span::from_micros(12);
/// The same for a rotating disk: a revolution at 15,000 rpm takes 4 ms, half of it on average.
const ROTATING: Span = Span::from_millis(2);

/// The least time of a commit on a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Durable {
    /// The least time.
    pub(super) least: Span,
    /// The medium.
    pub(super) medium: &'static str,
}

/// The least time on the medium of a ground.
pub(super) fn durable(facts: &Facts) -> Durable {
    let rotational = facts.subject.device.as_ref().and_then(|device| device.rotational);
    // Virtual disks report rotation by default.
    let is_virtual = facts.host.as_ref().is_some_and(|host| host.virtualization.is_some());
    if rotational == Some(true) && !is_virtual {
        Durable { least: ROTATING, medium: "a disk that rotates" }
    } else {
        Durable { least: PROTECTED, medium: "durable media" }
    }
}
