//! Whether a flush did what it says: faster than media can be, no slower than a write into memory.
//!
//! Knows nothing about steps.

use plimsoll_record::{Finding, Source};

use super::super::commits::{Durable, durable};
use super::print::Got;
use crate::ground::Facts;

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
    let Durable { least, medium } = durable(facts);
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
    let cache = facts.subject.device.as_ref().and_then(|device| device.write_cache.as_ref());
    let cache = cache.map_or_else(String::new, |cache| format!(" (its write cache: {cache})"));
    Some(format!(
        "the flush of a commit takes {median} (median), no faster than {medium} can be{cache}: nothing speaks against its \
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
