//! The load in the binary dialects.

use super::{LENGTH, Op, TOOK_MS};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Bytes {
    Little,
    Big,
}

impl Bytes {
    fn put(self, record: &mut Vec<u8>, value: u64, bytes: usize) {
        let little = value.to_le_bytes();
        match self {
            Self::Little => record.extend(&little[..bytes]),
            Self::Big => record.extend(little[..bytes].iter().rev()),
        }
    }
}

/// Issues and completions of the load, each after a message, as written by two processors.
pub fn blktrace(load: &[Op], order: Bytes, version: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    // The name of process 12: a notice with a payload.
    event(&mut bytes, order, version, (0, 1 << 26, 0, 0), b"process 12\0\0\0\0\0\0");
    for op in load {
        let category: u64 = if op.is_read { 1 } else { 1 << 1 };
        let at = |ms: u64| 1_000_000_000 + ms * 1_000_000;
        let (issue, complete) = (7 | (category | 1 << 6) << 16, 8 | (category | 1 << 7) << 16);
        event(&mut bytes, order, version, (at(op.at_ms), issue, op.offset / 512, 0), b"");
        event(&mut bytes, order, version, (at(op.at_ms + TOOK_MS), complete, op.offset / 512, 1), b"");
    }
    bytes
}

/// Flushes, each issued without data and with the direction of a read, 2 ms long, every 10 ms.
pub fn blktrace_flushes(count: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in 0..count {
        let at = |ms: u64| 1_000_000_000 + (number * 10 + ms) * 1_000_000;
        for (stage, at) in [(7 | 1 << 22, at(0)), (8 | 1 << 23, at(2))] {
            let category: u64 = 1 | 1 << 2;
            let start = bytes.len();
            event(&mut bytes, Bytes::Little, 7, (at, stage | category << 16, 0, 0), b"");
            bytes[start + 24..start + 28].fill(0);
        }
    }
    bytes
}

fn event(
    out: &mut Vec<u8>,
    order: Bytes,
    version: u64,
    (at, action, sector, cpu): (u64, u64, u64, u64),
    payload: &[u8],
) {
    let device = 8 << 20 | 16;
    let fields = [(0x6561_7400 | version, 4), (1, 4), (at, 8), (sector, 8), (LENGTH, 4)];
    for (value, bytes) in fields {
        order.put(out, value, bytes);
    }
    let rest: &[(u64, usize)] = if version == 8 { &[(12, 4), (action, 8)] } else { &[(action, 4), (12, 4)] };
    for (value, bytes) in rest.iter().chain(&[(device, 4), (cpu, 4), (0, 2), (payload.len() as u64, 2)]) {
        order.put(out, *value, *bytes);
    }
    if version == 8 {
        out.extend([0; 12]);
    }
    out.extend(payload);
}

/// Records of version 7.
pub fn split_records(bytes: &[u8]) -> Vec<&[u8]> {
    let mut rest = bytes;
    let mut records = Vec::new();
    while let Some(length) = rest.get(46) {
        let (record, others) = rest.split_at(48 + usize::from(*length));
        records.push(record);
        rest = others;
    }
    records
}

pub fn vscsi1(load: &[Op]) -> Vec<u8> {
    let record = |op: &Op| {
        let mut bytes = Vec::new();
        let command = if op.is_read { 0x28 } else { 0x2a };
        let fields = [(op.number, 4), (LENGTH, 4), (1, 4), (command, 2), (1 << 8, 2)];
        for (value, length) in fields.into_iter().chain([(op.offset / 512, 8), (5_000_000 + op.at_ms * 1_000, 8)]) {
            Bytes::Little.put(&mut bytes, value, length);
        }
        bytes
    };
    load.iter().flat_map(record).collect()
}

pub fn vscsi2(load: &[Op]) -> Vec<u8> {
    let record = |op: &Op| {
        let mut bytes = Vec::new();
        let command = if op.is_read { 0x88 } else { 0x8a };
        let fields = [(command, 2), (2 << 8, 2), (op.number, 4), (LENGTH, 4), (1, 4), (op.offset / 512, 8)];
        for (value, length) in fields.into_iter().chain([(5_000_000 + op.at_ms * 1_000, 8), (TOOK_MS * 1_000, 8)]) {
            Bytes::Little.put(&mut bytes, value, length);
        }
        bytes
    };
    load.iter().flat_map(record).collect()
}

pub fn oracle(load: &[Op]) -> Vec<u8> {
    let record = |op: &Op| {
        let mut bytes = Vec::new();
        for (value, length) in [(op.at_ms / 1_000, 4), (op.number << 20, 8), (LENGTH, 4), (u64::MAX, 8)] {
            Bytes::Little.put(&mut bytes, value, length);
        }
        bytes
    };
    load.iter().flat_map(record).collect()
}
