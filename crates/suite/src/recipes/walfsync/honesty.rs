//! Whether a flush did what it says: faster than media can be, no slower than a write into memory.
//!
//! Knows nothing about steps.

use plimsoll_record::{Finding, Source};
use plimsoll_units::Span;

use super::print::Got;
use crate::ground::Facts;

/// A write and a flush that return faster than this never left a controller: flash with protected memory takes longer.
const PROTECTED_COMMIT: Span = Span::from_micros(12);
/// The same for a disk that has to turn: a turn of 15,000 a minute takes 4 ms, half of it on average.
const ROTATING_COMMIT: Span = Span::from_millis(2);
/// A commit that is not slower than this many plain writes was not flushed.
const PLAIN_RATIO: f64 = 3.0;
/// Times are alike up to this ratio.
const ALIKE_RATIO: f64 = 1.5;

/// What the commits say about the storage; none where a model answers, or nothing is known.
pub(super) fn verdict(commit: &Got, plain: Option<&Got>, facts: &Facts) -> Option<String> {
    if !matches!(facts.source, Source::Measured { .. }) {
        return None;
    }
    let median = commit.durable.quantile(0.5)?;
    let device = facts.subject.device.clone().unwrap_or_default();
    // A virtual disk says that it rotates because nobody told it otherwise.
    let is_virtual = facts.host.as_ref().is_some_and(|host| host.virtualization.is_some());
    let rotates = device.rotational == Some(true) && !is_virtual;
    let least = if rotates { ROTATING_COMMIT } else { PROTECTED_COMMIT };
    if let Some(plain) = plain.filter(|plain| commit.rate() * PLAIN_RATIO > plain.rate()) {
        return Some(format!(
            "flushes do nothing here: {:.0} durable writes a second, and {:.0} without a flush; this place is memory, or \
             ignores flushes",
            commit.rate(),
            plain.rate()
        ));
    }
    if median < least {
        let finding = Finding::FlushNotHonoured { median };
        return Some(format!("{}; {}", finding.text(), finding.remedy()));
    }
    let cache = device.write_cache.map_or_else(String::new, |cache| format!(" (its write cache: {cache})"));
    let disk = if rotates { "a disk that rotates" } else { "durable media" };
    Some(format!(
        "the flush of a commit takes {median} (median), no faster than {disk} can be{cache}: nothing speaks against its \
         honesty, and only a power cut proves it"
    ))
}

/// Whether one descriptor makes durable what another one wrote.
pub(super) fn descriptors(own: &Got, other: &Got) -> String {
    let (own, other) = (1e6 / own.rate(), 1e6 / other.rate());
    if other * ALIKE_RATIO < own {
        format!(
            "fsync through another descriptor takes {other:.0} us, and {own:.0} us through the one that wrote: it does \
             not flush what another one wrote"
        )
    } else {
        format!("fsync through another descriptor takes {other:.0} us, as through the one that wrote ({own:.0} us)")
    }
}
