//! What was compared, and each block that was not as it should be.
//!
//! Knows nothing about steps.

use plimsoll_device::Mismatches;
use plimsoll_units::Bytes;

/// What a report says.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) blocks: u64,
    pub(super) block: Bytes,
    pub(super) seed: u64,
    /// Writes that succeeded.
    pub(super) written: u64,
    /// Blocks that were read and compared.
    pub(super) compared: u64,
    /// Blocks that were read and could not be compared.
    pub(super) passed_over: u64,
    /// Operations that failed.
    pub(super) unreadable: u64,
    pub(super) mismatches: Mismatches,
}

/// The report.
pub(super) fn report(seen: &Seen) -> String {
    let Seen { blocks, block, seed, .. } = seen;
    let mut text = format!("blocks        {blocks} of {block}, seed {seed}\n");
    let lines = [
        ("writes", seen.written),
        ("compared", seen.compared),
        ("passed over", seen.passed_over),
        ("failed", seen.unreadable),
        ("mismatches", seen.mismatches.total),
    ];
    for (name, count) in lines {
        text.push_str(&format!("{name:<14}{count}\n"));
    }
    for mismatch in &seen.mismatches.first {
        text.push_str(&format!("  {mismatch}\n"));
    }
    let listed = seen.mismatches.first.len() as u64;
    if seen.mismatches.total > listed {
        text.push_str(&format!("  {} more\n", seen.mismatches.total - listed));
    }
    text
}

#[cfg(test)]
mod tests {
    use plimsoll_device::{Mismatch, What};

    use super::*;

    #[test]
    fn mismatches_are_listed_with_their_places() {
        let stale = Mismatch { offset: 8192, length: 4096, what: What::Stale, expected: Some(2), found: Some(1) };
        let seen = Seen {
            blocks: 256,
            block: Bytes::kib(4),
            seed: 7,
            written: 300,
            compared: 500,
            passed_over: 0,
            unreadable: 0,
            mismatches: Mismatches { first: vec![stale], total: 3 },
        };
        let expected = format!(
            "blocks        256 of 4 KiB, seed 7\nwrites        300\ncompared      500\npassed over   0\n\
             failed        0\nmismatches    3\n  {stale}\n  2 more\n"
        );
        assert_eq!(report(&seen), expected);
    }
}
