//! The average parts of an operation on an array: the rules of `array.rs` without addresses.

use alloc::vec;
use alloc::vec::Vec;

use plimsoll_units::Kind;

use super::network::CentreFlow;
use crate::spec::Layout;

/// Parts that are issued together.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartPhase {
    /// Number of members with parts.
    pub(super) ways: f64,
    /// Parts per member.
    pub(super) batch: f64,
    /// Number of serial repetitions.
    pub(super) times: f64,
    /// Members are chosen round robin instead of by address.
    pub(super) in_turn: bool,
    /// Each part.
    pub(super) part: CentreFlow,
}

/// Average number of units of `unit` bytes covered by an operation of `length` bytes that begins at a multiple of its
/// length.
pub(super) fn touched(length: f64, unit: f64) -> f64 {
    if length <= 0.0 {
        return 0.0;
    }
    let shared = gcd(length as u64, unit as u64) as f64;
    (length + unit - shared) / unit
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

/// The phases of `flow` on an array.
pub(super) fn phases(layout: Layout, members: f64, interleave: f64, flow: CentreFlow) -> Vec<PartPhase> {
    let undivided = PartPhase { ways: members, batch: 1.0, times: 1.0, in_turn: false, part: flow };
    if flow.length <= 0.0 {
        return vec![undivided];
    }
    let chunks = touched(flow.length, interleave);
    match layout {
        Layout::Stripe => vec![striped(undivided, members, chunks)],
        Layout::SplitStripe => {
            let ways = chunks.min(members);
            let part = CentreFlow { length: flow.length / chunks, space: flow.space / members, ..flow };
            vec![PartPhase { ways, batch: chunks / ways, part, ..undivided }]
        }
        Layout::SerialStripe => {
            let rows = touched(flow.length, interleave * members);
            vec![PartPhase { times: rows, ..striped(shorter(undivided, rows), members, chunks / rows) }]
        }
        Layout::Mirror => vec![mirrored(undivided, 1.0, members, flow)],
        Layout::Raid10 => {
            let halves = striped(undivided, members / 2.0, chunks);
            vec![PartPhase { in_turn: false, ..mirrored(halves, halves.ways, 2.0, halves.part) }]
        }
        Layout::Raid5 => with_parity(undivided, members, 1.0, interleave, chunks),
        Layout::Raid6 => with_parity(undivided, members, 2.0, interleave, chunks),
    }
}

fn shorter(phase: PartPhase, by: f64) -> PartPhase {
    PartPhase { part: CentreFlow { length: phase.part.length / by, ..phase.part }, ..phase }
}

fn striped(undivided: PartPhase, members: f64, chunks: f64) -> PartPhase {
    let ways = chunks.min(members);
    let part =
        CentreFlow { length: undivided.part.length / ways, space: undivided.part.space / members, ..undivided.part };
    PartPhase { ways, part, ..undivided }
}

/// Reads alternate between mirrors, so that no mirror gets a sequential stream.
fn mirrored(undivided: PartPhase, ways: f64, mirrors: f64, part: CentreFlow) -> PartPhase {
    if part.kind == Kind::Read {
        PartPhase { ways, in_turn: true, part: CentreFlow { sequential: 0.0, ..part }, ..undivided }
    } else {
        PartPhase { ways: ways * mirrors, part, ..undivided }
    }
}

fn with_parity(undivided: PartPhase, members: f64, parities: f64, interleave: f64, chunks: f64) -> Vec<PartPhase> {
    let flow = undivided.part;
    let data = members - parities;
    let space = flow.space / data;
    if flow.kind == Kind::Read {
        let ways = if chunks <= data { chunks } else { members.min(chunks) };
        let length = if chunks <= data { flow.length / chunks } else { flow.length / data };
        return vec![PartPhase { ways, part: CentreFlow { length, space, ..flow }, ..undivided }];
    }
    if (flow.length as u64).is_multiple_of((data * interleave) as u64) {
        return vec![PartPhase {
            ways: members,
            part: CentreFlow { length: flow.length / data, space, ..flow },
            ..undivided
        }];
    }
    let (ways, length) =
        if chunks <= data { (chunks + parities, flow.length / chunks) } else { (members, flow.length / data) };
    let write = CentreFlow { length, space, sequential: 0.0, ..flow };
    let read = CentreFlow { kind: Kind::Read, ..write };
    vec![PartPhase { ways, part: read, ..undivided }, PartPhase { ways, part: write, ..undivided }]
}
