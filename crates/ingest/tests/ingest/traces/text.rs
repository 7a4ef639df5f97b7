//! Operations as lines of each dialect.

use super::{LENGTH, Op, TOOK_MS};

const SECTORS: u64 = LENGTH / 512;
/// Start of 2020 in UTC, in milliseconds since 1970.
const BEGIN_MS: u64 = 1_577_836_800_000;

fn word<'a>(op: &Op, read: &'a str, write: &'a str) -> &'a str {
    if op.is_read { read } else { write }
}

pub fn own(op: &Op) -> String {
    format!("{},{},{},{LENGTH}", op.at_ms * 1_000_000, word(op, "read", "write"), op.offset)
}

fn seconds(ms: u64) -> String {
    format!("{}.{:03}000000", ms / 1_000, ms % 1_000)
}

pub fn blkparse(op: &Op) -> String {
    let line = |ms: u64, action: &str, who: &str| {
        let (at, kind, sector) = (seconds(ms), word(op, "R", "WS"), op.offset / 512);
        format!("  8,16   1 {:8}     {at}   123  {action}   {kind} {sector} + {SECTORS} [{who}]", op.number)
    };
    let (at, end) = (op.at_ms, op.at_ms + TOOK_MS);
    [line(at, "Q", "dd"), line(at, "G", "dd"), line(at, "D", "dd"), line(end, "C", "0")].join("\n")
}

pub fn blkparse_formatted(op: &Op) -> String {
    let line = |ms: u64, action: &str| {
        let (at, kind, sector) = (seconds(ms), word(op, "R", "W"), op.offset / 512);
        format!("{at} 8,16 {action} {kind} {sector} {SECTORS} dd")
    };
    [line(op.at_ms, "D"), line(op.at_ms + TOOK_MS, "C")].join("\n")
}

pub fn iolog3(op: &Op) -> String {
    format!("{} /dev/x {} {} {LENGTH}", op.at_ms * 1_000 + 100, word(op, "read", "write"), op.offset)
}

pub fn iolog2(op: &Op) -> String {
    format!("/dev/x {} {} {LENGTH}\n/dev/x wait 100000 0", word(op, "read", "write"), op.offset)
}

pub fn msr(op: &Op) -> String {
    let ticks = 128_166_372_003_061_629 + op.at_ms * 10_000;
    format!("{ticks},host,0,{},{},{LENGTH},{}", word(op, "Read", "Write"), op.offset, TOOK_MS * 10_000)
}

pub fn systor(op: &Op) -> String {
    let (at, took) = (seconds(BEGIN_MS + op.at_ms), seconds(TOOK_MS));
    format!("{at},{took},{},0,{},{LENGTH}", word(op, "R", "W"), op.offset)
}

pub fn spc(op: &Op) -> String {
    format!("0,{},{LENGTH},{},{}", op.offset / 512, word(op, "r", "W"), seconds(op.at_ms))
}

pub fn alibaba(op: &Op) -> String {
    format!("7,{},{},{LENGTH},{}", word(op, "R", "W"), op.offset, (BEGIN_MS + op.at_ms) * 1_000)
}

pub fn tencent(op: &Op) -> String {
    format!("{},{},{SECTORS},{},1576", (BEGIN_MS + op.at_ms) / 1_000, op.offset / 512, word(op, "0", "1"))
}

pub fn fiu(op: &Op) -> String {
    let (at, sector, kind) = (op.at_ms * 1_000_000 + 89_968_195_792_462, op.offset / 512, word(op, "R", "W"));
    format!("{at} 4892 kjournald two {sector} {SECTORS} {kind} 6 0 531e779d39068a1a5a8a4e2b1f6c9d70")
}

pub fn cloudphysics(op: &Op) -> String {
    format!("1,{},{},{LENGTH},{}", seconds(op.at_ms), word(op, "28", "2a"), op.offset / 512)
}

pub fn cydonia(op: &Op) -> String {
    format!("{},{},{},{LENGTH}", op.at_ms * 1_000, op.offset / 512, word(op, "r", "w"))
}

pub fn disksim(op: &Op) -> String {
    format!("{}.000000\t0\t{}\t{SECTORS}\t{}", op.at_ms, op.offset / 512, word(op, "1", "0"))
}

pub fn ssdsim(op: &Op) -> String {
    format!("{} 0 {} {SECTORS} {}", op.at_ms * 1_000_000, op.offset / 512, word(op, "1", "0"))
}

pub fn objects(op: &Op) -> String {
    format!("{},object{},{LENGTH},-1", seconds(op.at_ms), op.number)
}

pub fn pages(op: &Op) -> String {
    op.number.to_string()
}
