//! A repeating byte pattern that may contain the offset of the block.

use plimsoll_load::OpOutcome;
use plimsoll_units::{Kind, Op};

use super::Content;
use super::mismatch::{Collected, Mismatch, MismatchKind, Mismatches};

/// Position at which the pattern restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// At the first byte of each operation. Reads can only be verified if they have the offset and length of the
    /// writes.
    Operation,
    /// At each multiple of this number of bytes (at least 1) from the start of the target.
    Every(u64),
    /// Never: it runs from the start of the target.
    Never,
}

/// Whether reads are verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// Compare reads with the pattern.
    Reads,
    /// Do not verify.
    Nothing,
}

/// A repeating byte pattern.
#[derive(Debug)]
pub struct Pattern {
    bytes: Vec<u8>,
    /// Positions of 8-byte offsets in the pattern.
    offsets: Vec<usize>,
    restart: Restart,
    compare: Compare,
    mismatches: Collected,
}

impl Pattern {
    /// Repeats `bytes`; a zero byte if empty. At each position in `offsets`, 8 bytes are replaced by the offset of the
    /// last restart, little-endian, cut at the end of the pattern.
    pub fn new(bytes: &[u8], offsets: &[usize], restart: Restart, compare: Compare) -> Self {
        let bytes = if bytes.is_empty() { vec![0] } else { bytes.to_vec() };
        let offsets = offsets.iter().copied().filter(|at| *at < bytes.len()).collect();
        Self { bytes, offsets, restart, compare, mismatches: Collected::default() }
    }

    /// Mismatches so far, counted per operation.
    pub fn mismatches(&self) -> Mismatches {
        self.mismatches.so_far()
    }

    /// The pattern for a restart at `begin`.
    fn turn(&self, begin: u64) -> Vec<u8> {
        let mut turn = self.bytes.clone();
        for at in &self.offsets {
            for (place, byte) in turn[*at..].iter_mut().zip(begin.to_le_bytes()) {
                *place = byte;
            }
        }
        turn
    }

    /// Calls `each` for the parts of an operation of `length` bytes: range in the operation, pattern, and index of its
    /// first byte.
    fn parts(&self, op: &Op, length: usize, mut each: impl FnMut(std::ops::Range<usize>, &[u8], usize)) {
        let mut start = 0;
        while start < length {
            let offset = op.offset + start as u64;
            let (begin, left) = match self.restart {
                Restart::Operation => (op.offset, length),
                Restart::Never => (0, length),
                Restart::Every(every) => {
                    let every = every.max(1);
                    (offset - offset % every, (every - offset % every) as usize)
                }
            };
            let end = length.min(start.saturating_add(left));
            let first = ((offset - begin) % self.bytes.len() as u64) as usize;
            if self.offsets.is_empty() {
                each(start..end, &self.bytes, first);
            } else {
                each(start..end, &self.turn(begin), first);
            }
            start = end;
        }
    }
}

impl Content for Pattern {
    fn fill(&self, op: &Op, _: u64, bytes: &mut [u8]) -> u64 {
        self.parts(op, bytes.len(), |part, pattern, first| repeat(&mut bytes[part], pattern, first));
        0
    }

    fn checks(&self) -> bool {
        self.compare == Compare::Reads
    }

    fn complete(&self, op: &Op, _: u64, bytes: &[u8], outcome: OpOutcome) -> OpOutcome {
        if op.kind != Kind::Read || outcome != OpOutcome::Done {
            return outcome;
        }
        let (mut at, mut wrong) = (None, 0);
        self.parts(op, bytes.len(), |part, pattern, first| {
            let begin = part.start;
            let found = bytes[part].iter().zip(pattern.iter().cycle().skip(first)).enumerate();
            for (index, _) in found.filter(|(_, (found, byte))| found != byte) {
                at.get_or_insert((begin + index) as u32);
                wrong += 1;
            }
        });
        let Some(at) = at else { return outcome };
        let zeroes = bytes.iter().all(|byte| *byte == 0);
        let kind = if zeroes { MismatchKind::NeverWritten } else { MismatchKind::Rot { at, bytes: wrong } };
        self.mismatches.add(Mismatch { offset: op.offset, length: op.length, kind, expected: None, found: None });
        OpOutcome::Failed(libc::EILSEQ)
    }
}

/// Fills `bytes` with the pattern, starting at its byte `first`.
fn repeat(bytes: &mut [u8], pattern: &[u8], first: usize) {
    let Some(head) = bytes.len().min(pattern.len()).checked_sub(1) else { return };
    for (place, byte) in bytes[..=head].iter_mut().zip(pattern.iter().cycle().skip(first)) {
        *place = *byte;
    }
    // Doubles the filled part: runs at memory speed.
    let mut done = head + 1;
    while done < bytes.len() {
        let more = done.min(bytes.len() - done);
        bytes.copy_within(..more, done);
        done += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &[u8], offsets: &[usize], restart: Restart, op: (u64, usize), expected: &[u8]) {
        let content = Pattern::new(pattern, offsets, restart, Compare::Reads);
        let mut bytes = vec![0xee; op.1];
        let op = Op { offset: op.0, length: op.1 as u32, kind: Kind::Write, stream: 0 };
        content.fill(&op, 1, &mut bytes);
        assert_eq!(bytes, expected, "{pattern:?}, {restart:?}, {op:?}");
        let read = Op { kind: Kind::Read, ..op };
        assert_eq!(content.complete(&read, 0, &bytes, OpOutcome::Done), OpOutcome::Done);
        for at in 0..bytes.len() {
            bytes[at] ^= 1;
            assert_eq!(content.complete(&read, 0, &bytes, OpOutcome::Done), OpOutcome::Failed(libc::EILSEQ));
            let kind = content.mismatches().first.last().map(|mismatch| mismatch.kind);
            let zeroes = bytes.iter().all(|byte| *byte == 0);
            let rot = MismatchKind::Rot { at: at as u32, bytes: 1 };
            assert_eq!(kind, Some(if zeroes { MismatchKind::NeverWritten } else { rot }));
            bytes[at] ^= 1;
        }
        assert_eq!(content.mismatches().total, bytes.len() as u64);
    }

    #[test]
    fn a_pattern_repeats() {
        check(b"abc", &[], Restart::Operation, (16, 8), b"abcabcab");
        check(b"abc", &[], Restart::Never, (16, 8), b"bcabcabc");
        check(b"abc", &[], Restart::Every(4), (16, 8), b"abcaabca");
        check(b"abc", &[], Restart::Every(4), (18, 8), b"caabcaab");
        check(b"abcdefgh", &[], Restart::Never, (6, 3), b"gha");
        check(b"", &[], Restart::Never, (1, 3), b"\0\0\0");
        check(b"a", &[], Restart::Operation, (1, 1), b"a");
    }

    #[test]
    fn pattern_contains_the_offset() {
        let pattern = b"xy\0\0\0\0\0\0\0\0z";
        let here = b"xy\x80\x02\0\0\0\0\0\0zxy\x80\x02\0";
        check(pattern, &[2], Restart::Operation, (640, 16), here);
        check(pattern, &[2], Restart::Every(8), (8, 12), b"xy\x08\0\0\0\0\0xy\x10\0");
        check(&[0; 8], &[0], Restart::Never, (8, 9), &[0; 9]);
        check(b"ab\0\0", &[2, 9], Restart::Operation, (0x0102, 4), b"ab\x02\x01");
    }
}
