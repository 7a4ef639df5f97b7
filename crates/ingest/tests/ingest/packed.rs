//! Gzip and zip: complete, truncated, damaged and malicious.

use std::io::Write;

use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::{Compression, Crc};
use plimsoll_ingest::{Fate, Outcome, OutcomeSummary};

use crate::core::{read_outcomes, refusal};

const TEXT: &[u8] = b"load a 1\nload b 2\n";

fn gz(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// Packing of an archive's member.
#[derive(Clone, Copy, PartialEq)]
enum Packing {
    Stored,
    Deflated,
    /// Followed by its sizes, as written by streaming programs.
    Streamed,
}

fn member(name: &str, text: &[u8], packing: Packing) -> Vec<u8> {
    let mut crc = Crc::new();
    crc.update(text);
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).expect("memory takes it");
    let packed = if packing == Packing::Stored { text.to_vec() } else { encoder.finish().expect("memory takes it") };
    let sizes = [crc.sum(), packed.len() as u32, text.len() as u32].map(u32::to_le_bytes).concat();
    let (flags, method, head) = match packing {
        Packing::Stored => (0_u16, 0_u16, sizes.clone()),
        Packing::Deflated => (0, 8, sizes.clone()),
        Packing::Streamed => (8, 8, vec![0; 12]),
    };
    let tail = if packing == Packing::Streamed { [b"PK\x07\x08".to_vec(), sizes].concat() } else { Vec::new() };
    let numbers = [20, flags, method, 0, 0].map(u16::to_le_bytes).concat();
    let lengths = [name.len() as u16, 0].map(u16::to_le_bytes).concat();
    [b"PK\x03\x04".to_vec(), numbers, head, lengths, name.as_bytes().to_vec(), packed, tail].concat()
}

fn archive(members: &[Vec<u8>]) -> Vec<u8> {
    [members.concat(), b"PK\x01\x02 the rest is not needed".to_vec()].concat()
}

/// Name, verdict and number of figures of each outcome.
fn summary(outcomes: &[Outcome]) -> Vec<(&str, OutcomeSummary, usize)> {
    let figures = |outcome: &Outcome| outcome.reading().map_or(0, |reading| reading.figures.len());
    outcomes.iter().map(|outcome| (outcome.name(), outcome.verdict(), figures(outcome))).collect()
}

#[test]
fn gzip_is_read_in_pieces_of_any_size() {
    let packed = [gz(b"load a 1\n"), gz(b"load b 2\n")].concat();
    for step in 1..=packed.len() {
        assert_eq!(summary(&read_outcomes(&packed, step)), [("test", OutcomeSummary::Read, 2)], "step {step}");
    }
}

#[test]
fn truncated_gzip_is_read_partly() {
    let text = "load a 1\n".repeat(100_000);
    let packed = gz(text.as_bytes());
    let outcomes = read_outcomes(&packed[..packed.len() - 10], 1_000);
    assert_eq!(outcomes[0].verdict(), OutcomeSummary::Partly);
    let reading = outcomes[0].reading().unwrap();
    assert!(reading.figures.len() > 10_000, "{}", reading.figures.len());
    assert!(reading.cautions[0].doubt.to_string().contains("ends early"));
    assert!(reading.parts.iter().any(|part| part.fate == Fate::Broken));
}

#[test]
fn files_of_an_archive_are_separate_inputs() {
    let packed = archive(&[
        member("folder/", b"", Packing::Stored),
        member("one", TEXT, Packing::Deflated),
        member("folder/two", TEXT, Packing::Stored),
        member("three", TEXT, Packing::Streamed),
        member("other", b"something else", Packing::Deflated),
        member("four.gz", &gz(TEXT), Packing::Stored),
        member("empty", b"", Packing::Streamed),
    ]);
    let expected = [
        ("test/one", OutcomeSummary::Read, 2),
        ("test/folder/two", OutcomeSummary::Read, 2),
        ("test/three", OutcomeSummary::Read, 2),
        ("test/other", OutcomeSummary::Refused, 0),
        ("test/four.gz", OutcomeSummary::Read, 2),
        ("test/empty", OutcomeSummary::Refused, 0),
    ];
    for step in [1, 2, 3, 7, 64, 100_000] {
        assert_eq!(summary(&read_outcomes(&packed, step)), expected, "step {step}");
    }
}

#[test]
fn a_damaged_archive_is_read_up_to_the_damage() {
    let total = archive(&[member("one", TEXT, Packing::Deflated), member("two", TEXT, Packing::Stored)]);
    let second = member("one", TEXT, Packing::Deflated).len();
    for end in 4..total.len() - 30 {
        let outcomes = read_outcomes(&total[..end], 11);
        assert!(!outcomes.is_empty(), "truncated at {end}");
        if end >= second {
            assert_eq!(summary(&outcomes)[0], ("test/one", OutcomeSummary::Read, 2), "truncated at {end}");
        }
        assert_ne!(outcomes.last().unwrap().verdict(), OutcomeSummary::Read, "truncated at {end}");
    }
    let mut flipped = total;
    let last = flipped.iter().rposition(|&byte| byte == b'2').unwrap();
    flipped[last] = b'3';
    let outcomes = read_outcomes(&flipped, 11);
    assert_eq!(outcomes[1].verdict(), OutcomeSummary::Partly, "its checksum does not fit");
}

#[test]
fn random_damage_yields_an_outcome() {
    let total = archive(&[member("one", TEXT, Packing::Deflated), member("two", TEXT, Packing::Streamed)]);
    for at in 4..total.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut damaged = total.clone();
            damaged[at] = value;
            assert!(!read_outcomes(&damaged, 5).is_empty());
        }
    }
}

#[test]
fn refusals_of_archives_name_the_reason() {
    let message = |bytes: &[u8]| refusal(&read_outcomes(bytes, 9)[0]);
    assert_eq!(message(b"PK\x05\x06 empty"), "zip archive: it has no files");
    let mut encrypted = archive(&[member("one", TEXT, Packing::Deflated)]);
    encrypted[6] |= 1;
    assert_eq!(message(&encrypted), "zip archive: its encryption is not supported: extract it first");
    let mut unusual = archive(&[member("one", TEXT, Packing::Deflated)]);
    unusual[8] = 14;
    assert_eq!(message(&unusual), "zip archive: its compression method is not supported: extract it first");
}

#[test]
fn bombs_are_refused_in_bounded_memory() {
    let zeros = vec![b'x'; 20 << 20];
    let lines: Vec<u8> = [b"load a 1\n".to_vec(), zeros].concat();
    let message = |bytes: &[u8]| refusal(&read_outcomes(bytes, 1 << 16)[0]);
    let expected = "words of a test, line 2: a line of more than 1048576 bytes: check that the file is text";
    assert_eq!(message(&gz(&lines)), expected, "refused by the format first");
    let many = [b"load a 1\n".to_vec(), vec![b'\n'; 20 << 20]].concat();
    assert!(message(&gz(&many)).starts_with("it decompresses to more than 250 times its size"));
    assert!(
        message(&archive(&[member("one", &many, Packing::Deflated)])).starts_with("it decompresses to more than 250")
    );
}
