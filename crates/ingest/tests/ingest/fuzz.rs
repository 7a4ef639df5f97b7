//! Mutants of every generated input, and of samples if available: each yields an outcome in bounded memory, for all
//! piece sizes.
//!
//! `PLIMSOLL_FUZZ_CASES` sets the number of mutants. Equal numbers yield equal mutants.

use fastrand::Rng;
use plimsoll_ingest::{Builder, Ingest, Outcome, Reading};
use plimsoll_testkit::{DailyWorkload, Writing};

use super::emit::workload;
use super::samples::samples;
use super::{host_tools, partial_awr, services, windows};

/// Numbers that often cause faults.
const ODD: [&str; 12] = [
    "0",
    "-1",
    "NaN",
    "inf",
    "1e308",
    "1e-320",
    "18446744073709551616",
    "99999999999999999999999999999999999999999999",
    "1,2,3,4",
    "0x7fffffff",
    "#####",
    "",
];

#[expect(clippy::disallowed_methods, reason = "the number of cases is set by the environment")]
fn cases(usual: u64) -> u64 {
    std::env::var("PLIMSOLL_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

/// Bytes used of each sample: more take long without benefit.
const LARGEST: usize = 256 << 10;

fn build_corpus() -> Vec<Vec<u8>> {
    let course = DailyWorkload { busiest: workload(), windows: 3, instances: 2 };
    let mut all: Vec<Vec<u8>> =
        Writing::ALL.iter().flat_map(|(_, form)| form.write(&course)).map(|file| file.text.into_bytes()).collect();
    let written = [
        windows::LOG,
        windows::LIST,
        windows::ESXTOP,
        host_tools::DSTAT,
        host_tools::SCREEN,
        host_tools::PIDSTAT,
        host_tools::BIOSNOOP,
        services::SQL_SERVER,
        services::CONSOLE,
        services::GOOGLE,
        services::INSIGHTS,
        services::FSYNC,
    ];
    all.extend(written.into_iter().map(|text| text.as_bytes().to_vec()));
    all.extend(partial_awr::texts().into_iter().map(String::into_bytes));
    all.extend(samples(&[]).into_iter().map(|(_, mut bytes)| {
        bytes.truncate(LARGEST);
        bytes
    }));
    all
}

/// An input of the corpus with one to four changes.
fn mutant(corpus: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = corpus[rng.usize(..corpus.len())].clone();
    for _ in 0..rng.u32(1..5) {
        let at = rng.usize(..=bytes.len());
        match rng.u32(0..12) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.u32(0..8),
            1 => bytes.truncate(at),
            2 => drop(bytes.drain(..at)),
            3 | 4 => mutate_lines(&mut bytes, rng),
            5 | 6 => number(&mut bytes, at, rng),
            7 => nested(&mut bytes, at, rng),
            8 => {
                let highest = if rng.u8(..20) == 0 { 22 } else { 14 };
                let length = 1 << rng.u32(0..highest);
                bytes.splice(at..at, std::iter::repeat_n(b"x9 <"[rng.usize(..4)], length));
            }
            9 => {
                let other = &corpus[rng.usize(..corpus.len())];
                let from = rng.usize(..=other.len());
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            10 => bytes.iter_mut().skip(at).take(20).for_each(|byte| *byte = rng.u8(..)),
            _ => {
                let (from, to) = ([b' ', b'.', b'-', b'\n', b'>'], [b'\t', b',', b'~', b'\r', 0]);
                let which = rng.usize(..5);
                bytes.iter_mut().filter(|byte| **byte == from[which]).for_each(|byte| *byte = to[which]);
            }
        }
    }
    bytes
}

/// Duplicates, drops or swaps lines.
fn mutate_lines(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    if lines.is_empty() {
        return;
    }
    let (one, other) = (rng.usize(..lines.len()), rng.usize(..lines.len()));
    match rng.u32(0..3) {
        0 => lines.swap(one, other),
        1 => drop(lines.remove(one)),
        _ => lines.insert(other, lines[one]),
    }
    *bytes = lines.concat();
}

/// Replaces the next number with an unusual value.
fn number(bytes: &mut Vec<u8>, at: usize, rng: &mut Rng) {
    let Some(begin) = bytes[at..].iter().position(u8::is_ascii_digit).map(|begin| at + begin) else { return };
    let end = bytes[begin..].iter().position(|byte| !byte.is_ascii_digit()).map_or(bytes.len(), |end| begin + end);
    bytes.splice(begin..end, ODD[rng.usize(..ODD.len())].bytes());
}

fn nested(bytes: &mut Vec<u8>, at: usize, rng: &mut Rng) {
    let pieces = ["[", "{\"a\":", "<table><tr><td>", "<h3>", "((", "\n-- --- ---\n"];
    let piece = pieces[rng.usize(..pieces.len())].repeat(rng.usize(1..2_000));
    bytes.splice(at..at, piece.bytes());
}

fn outcomes(bytes: &[u8], piece: usize) -> Vec<Outcome> {
    let mut ingest = Ingest::new("test");
    for piece in bytes.chunks(piece.max(1)) {
        if !ingest.feed(piece) {
            break;
        }
    }
    ingest.finish()
}

/// Checks that a reading is bounded by its input and by the documented limits.
fn is_bounded(reading: &Reading, bytes: usize) {
    assert!(reading.cautions.len() <= Builder::MAX_CAUTIONS, "{} cautions", reading.cautions.len());
    assert!(reading.parts.len() <= Builder::MAX_PARTS, "{} parts", reading.parts.len());
    assert!(reading.figures.len() <= Builder::MAX_FIGURES, "{} figures", reading.figures.len());
    // Packed inputs contain more than their bytes.
    let max = 1_000 + bytes * 40;
    let retained = [reading.figures.len(), reading.scopes.len(), reading.windows.len(), reading.waits.len()];
    assert!(retained.iter().all(|retained| *retained <= max), "{retained:?} of {bytes} bytes");
    for figure in &reading.figures {
        assert!(figure.value.is_finite() && figure.value >= 0.0, "{figure:?}");
        assert!((figure.scope as usize) < reading.scopes.len() && (figure.window as usize) < reading.windows.len());
    }
}

#[test]
fn every_mutant_has_an_outcome() {
    let corpus = build_corpus();
    let mut rng = Rng::with_seed(0x706c_696d);
    let (mutants, mut read) = (cases(400), 0_u64);
    for case in 0..mutants {
        let bytes = mutant(&corpus, &mut rng);
        let piece = rng.usize(1..5_000);
        let total = outcomes(&bytes, bytes.len());
        assert!(!total.is_empty(), "case {case} has no outcome");
        for reading in total.iter().filter_map(Outcome::reading) {
            is_bounded(reading, bytes.len());
            read += 1;
        }
        for outcome in &total {
            if let Outcome::Refused { refusal, .. } = outcome {
                assert!(refusal.to_string().len() < 1_000, "case {case}: a refusal is short");
            }
        }
        // Twice the work, so for every fourth only.
        if case % 4 == 0 && bytes.len() < LARGEST {
            assert!(outcomes(&bytes, piece) == total, "case {case} in pieces of {piece}");
        }
    }
    assert!(read > mutants / 20, "too few mutants are read at all: {read}");
}
