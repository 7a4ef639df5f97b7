//! Minimum time of a commit on durable media.

use plimsoll_units::Span;

use crate::ground::Facts;

/// Threshold for a write with flush on solid-state media. Faster calls did not leave the controller: flash with
/// power-loss protection takes longer.
const PROTECTED: Span = Span::from_micros(12);
/// Threshold for rotating disks: a revolution at 15,000 rpm takes 4 ms, half of it on average.
const ROTATING: Span = Span::from_millis(2);

/// Minimum time of a commit on a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Durable {
    /// Minimum time.
    pub(crate) least: Span,
    /// Whether the medium is a rotating disk.
    pub(crate) rotates: bool,
}

/// Minimum time on the medium of a ground.
pub(crate) fn durable(facts: &Facts) -> Durable {
    let rotational = facts.subject.device.as_ref().and_then(|device| device.rotational);
    // Virtual disks report rotation by default.
    let is_virtual = facts.host.as_ref().is_some_and(|host| host.virtualization.is_some());
    let rotates = rotational == Some(true) && !is_virtual;
    Durable { least: if rotates { ROTATING } else { PROTECTED }, rotates }
}
