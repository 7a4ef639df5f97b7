//! Arrays: the mapping of operations to members.

use alloc::vec::Vec;

use plimsoll_units::{Bytes, Kind, Op};

use crate::spec::Layout;

/// A part of an operation, and its member.
pub(crate) type MemberPart = (u32, Op);

#[derive(Clone, Debug)]
pub(crate) struct Array {
    layout: Layout,
    members: u64,
    interleave: u64,
    /// Round-robin counter for reads from mirrors.
    turn: u64,
}

impl Array {
    pub(crate) fn new(layout: Layout, members: u32, interleave: Bytes) -> Self {
        Self { layout, members: u64::from(members), interleave: interleave.get(), turn: 0 }
    }

    /// Puts the parts to issue next into `parts` and advances `progress`; no parts means that the operation is
    /// complete.
    pub(crate) fn parts(&mut self, op: &Op, progress: &mut u32, parts: &mut Vec<MemberPart>) {
        parts.clear();
        if op.length == 0 {
            if *progress == 0 {
                *progress = 1;
                parts.extend((0..self.members).map(|member| (member as u32, *op)));
            }
            return;
        }
        match self.layout {
            Layout::Stripe => once(progress, || self.striped(op, self.members, parts)),
            Layout::SplitStripe => once(progress, || {
                for (chunk, from, bytes) in chunks(op, self.interleave) {
                    let offset = chunk / self.members * self.interleave + from;
                    parts.push(((chunk % self.members) as u32, Op { offset, length: bytes as u32, ..*op }));
                }
            }),
            Layout::SerialStripe => self.next_row(op, progress, parts),
            Layout::Mirror => once(progress, || {
                let from = self.turn % self.members;
                self.turn += 1;
                mirrored(op, 0, self.members, from, parts);
            }),
            Layout::Raid10 => once(progress, || {
                let pairs = self.members / 2;
                let mut halves = Vec::new();
                self.striped(op, pairs, &mut halves);
                for (pair, part) in halves {
                    self.turn += 1;
                    mirrored(&part, u64::from(pair) * 2, 2, self.turn % 2, parts);
                }
            }),
            Layout::Raid5 => self.with_parity(op, 1, progress, parts),
            Layout::Raid6 => self.with_parity(op, 2, progress, parts),
        }
    }

    /// A single part for each member involved: a member's neighbouring rows are contiguous.
    fn striped(&self, op: &Op, members: u64, parts: &mut Vec<MemberPart>) {
        for (chunk, from, bytes) in chunks(op, self.interleave) {
            let row = chunk / members;
            add(parts, (chunk % members) as u32, op, row * self.interleave + from, bytes);
        }
    }

    /// The chunks of the next row.
    fn next_row(&self, op: &Op, progress: &mut u32, parts: &mut Vec<MemberPart>) {
        let start = op.offset + u64::from(*progress);
        let row = self.interleave * self.members;
        let left = u64::from(op.length - *progress).min(row - start % row);
        if left > 0 {
            let next = Op { offset: start, length: left as u32, ..*op };
            self.striped(&next, self.members, parts);
            *progress += left as u32;
        }
    }

    /// Reads access data only; a write of whole rows writes data and parity; other writes read both first.
    fn with_parity(&self, op: &Op, parities: u64, progress: &mut u32, parts: &mut Vec<MemberPart>) {
        let data = self.members - parities;
        let row_bytes = data * self.interleave;
        let whole_rows = op.offset.is_multiple_of(row_bytes) && u64::from(op.length).is_multiple_of(row_bytes);
        let last_phase = if op.kind == Kind::Read || whole_rows { 1 } else { 2 };
        if *progress >= last_phase {
            return;
        }
        *progress += 1;
        let reads_first = last_phase == 2 && *progress == 1;
        let op = if reads_first { Op { kind: Kind::Read, ..*op } } else { *op };
        for (chunk, from, bytes) in chunks(&op, self.interleave) {
            let row = chunk / data;
            // The parities are at the end of the first row and move by a member to the left with each row.
            let first_parity = (self.members - 1 - row % self.members + self.members) % self.members;
            let member = (first_parity + parities + chunk % data) % self.members;
            let offset = row * self.interleave + from;
            add(parts, member as u32, &op, offset, bytes);
            if last_phase == 2 || (op.kind.writes() && chunk % data == 0) {
                for parity in 0..parities {
                    add(parts, ((first_parity + parity) % self.members) as u32, &op, offset, bytes);
                }
            }
        }
    }
}

/// Runs `issue` the first time only.
fn once(progress: &mut u32, issue: impl FnOnce()) {
    if *progress == 0 {
        *progress = 1;
        issue();
    }
}

/// A write to all `count` members from `first` on, a read to member `turn` of them.
fn mirrored(op: &Op, first: u64, count: u64, turn: u64, parts: &mut Vec<MemberPart>) {
    if op.kind == Kind::Read {
        parts.push(((first + turn) as u32, *op));
    } else {
        parts.extend((first..first + count).map(|member| (member as u32, *op)));
    }
}

/// Chunks that an operation covers: number, first byte within the chunk, and bytes.
fn chunks(op: &Op, interleave: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    let end = op.offset + u64::from(op.length);
    let start = op.offset;
    (start / interleave..end.div_ceil(interleave)).map(move |chunk| {
        let from = start.max(chunk * interleave);
        let to = end.min((chunk + 1) * interleave);
        (chunk, from - chunk * interleave, to - from)
    })
}

/// Adds bytes to a member's part.
fn add(parts: &mut Vec<MemberPart>, member: u32, op: &Op, offset: u64, bytes: u64) {
    match parts.iter_mut().find(|part| part.0 == member) {
        Some((_, part)) => {
            let end = (part.offset + u64::from(part.length)).max(offset + bytes);
            part.offset = part.offset.min(offset);
            part.length = (end - part.offset) as u32;
        }
        None => parts.push((member, Op { offset, length: bytes as u32, ..*op })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;

    /// The parts of every phase, as `member:offset+length`, phases separated by `|`, in KiB.
    fn phases(layout: Layout, members: u32, kind: Kind, offset_kib: u64, length_kib: u32) -> String {
        let mut array = Array::new(layout, members, Bytes::kib(64));
        let op = Op { offset: offset_kib << 10, length: length_kib << 10, kind, stream: 0 };
        let (mut progress, mut parts, mut rendered) = (0, Vec::new(), Vec::new());
        loop {
            array.parts(&op, &mut progress, &mut parts);
            if parts.is_empty() {
                return rendered.join(" | ");
            }
            let part = |(member, op): &MemberPart| format!("{member}:{}+{}", op.offset >> 10, op.length >> 10);
            rendered.push(parts.iter().map(part).collect::<Vec<_>>().join(" "));
        }
    }

    #[test]
    fn a_small_operation_goes_to_a_single_member_of_a_stripe() {
        assert_eq!(phases(Layout::Stripe, 2, Kind::Read, 64, 4), "1:0+4");
        assert_eq!(phases(Layout::Stripe, 2, Kind::Write, 132, 8), "0:68+8");
    }

    #[test]
    fn a_large_operation_goes_to_all_members_at_once_or_row_by_row() {
        assert_eq!(phases(Layout::Stripe, 2, Kind::Read, 0, 512), "0:0+256 1:0+256");
        assert_eq!(phases(Layout::SplitStripe, 2, Kind::Read, 0, 256), "0:0+64 1:0+64 0:64+64 1:64+64");
        assert_eq!(phases(Layout::SerialStripe, 2, Kind::Read, 0, 256), "0:0+64 1:0+64 | 0:64+64 1:64+64");
        assert_eq!(phases(Layout::SerialStripe, 2, Kind::Read, 32, 128), "0:32+32 1:0+64 | 0:64+32");
    }

    #[test]
    fn mirrors_write_everywhere_and_read_in_turn() {
        assert_eq!(phases(Layout::Mirror, 3, Kind::Write, 0, 4), "0:0+4 1:0+4 2:0+4");
        assert_eq!(phases(Layout::Mirror, 3, Kind::Read, 0, 4), "0:0+4");
        assert_eq!(phases(Layout::Raid10, 4, Kind::Write, 64, 4), "2:0+4 3:0+4");
    }

    #[test]
    fn a_small_write_with_parity_reads_before_writing() {
        assert_eq!(phases(Layout::Raid5, 4, Kind::Read, 0, 4), "0:0+4");
        assert_eq!(phases(Layout::Raid5, 4, Kind::Write, 0, 4), "0:0+4 3:0+4 | 0:0+4 3:0+4");
        assert_eq!(phases(Layout::Raid6, 5, Kind::Write, 0, 4), "1:0+4 4:0+4 0:0+4 | 1:0+4 4:0+4 0:0+4");
        assert_eq!(phases(Layout::Raid5, 4, Kind::Write, 0, 192), "0:0+64 3:0+64 1:0+64 2:0+64");
    }
}
