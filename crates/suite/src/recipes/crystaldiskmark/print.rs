//! The text that versions 3.0 and 8.0 save, line by line.
//!
//! A test that was not made has a score of nought there, as it has in theirs. A megabyte is 1,000,000 bytes.

use plimsoll_units::{Bytes, Span};

use super::plan::{Direction, Test};
use super::score::Cell;
use super::{CrystalDiskMarkOptions, Data, Directions, Profile};
use crate::ground::Facts;

/// Text of version 3.0: eight lines, reads and writes in turn.
pub(super) fn three(options: &CrystalDiskMarkOptions, cells: &[Cell], facts: &Facts) -> String {
    const NAMES: [[&str; 2]; 4] = [
        ["Sequential Read", "Sequential Write"],
        ["Random Read 512KB", "Random Write 512KB"],
        ["Random Read 4KB (QD=1)", "Random Write 4KB (QD=1)"],
        ["Random Read 4KB (QD=32)", "Random Write 4KB (QD=32)"],
    ];
    let rule = "-".repeat(71);
    let mut text = format!("{rule}\nCrystalDiskMark 3.0 layout, printed by plimsoll\n{rule}\n");
    text += "* MB/s = 1,000,000 byte/s\n\n";
    for (test, names) in NAMES.iter().enumerate() {
        for (name, direction) in names.iter().zip([Direction::Reads, Direction::Writes]) {
            let (rate, iops, _) = of(options, cells, direction, test);
            text += &format!("{name:>26} : {rate:9.3} MB/s");
            if test >= 2 {
                text += &format!(" [{iops:8.1} IOPS]");
            }
            text += "\n";
        }
    }
    let (size, runs, name) = (options.size().get() >> 20, options.runs, &facts.subject.name);
    text += &format!("\n  Test : {size} MB [{name}] (x{runs}){}\n", fill(options));
    if !options.date.is_empty() {
        text += &format!("  Date : {}\n", options.date);
    }
    if let Some(kernel) = kernel(facts) {
        text += &format!("    OS : Linux {kernel}\n");
    }
    text
}

/// Text of version 8.0: a section for reads, for writes, and for what was mixed.
pub(super) fn eight(options: &CrystalDiskMarkOptions, tests: &[Test], cells: &[Cell], facts: &Facts) -> String {
    let rule = "-".repeat(78);
    let mut text = format!("{rule}\nCrystalDiskMark 8.0 layout, printed by plimsoll\n{rule}\n");
    text += "* MB/s = 1,000,000 bytes/s\n* KB = 1000 bytes, KiB = 1024 bytes\n\n";
    let mix = options.mix.filter(|_| options.directions == Directions::Both);
    for direction in [Some(Direction::Reads), Some(Direction::Writes), mix.map(Direction::Mix)].into_iter().flatten() {
        text += &match direction {
            Direction::Reads => "[Read]\n".to_owned(),
            Direction::Writes => "[Write]\n".to_owned(),
            Direction::Mix(reads) => format!("[Mix] Read {:.0}%/Write {:.0}%\n", reads * 100.0, (1.0 - reads) * 100.0),
        };
        for (index, test) in tests.iter().enumerate() {
            let (rate, iops, latency) = of(options, cells, direction, index);
            let micros = latency.as_nanos() as f64 / 1e3;
            text += &format!("  {}: {rate:9.3} MB/s [{iops:9.1} IOPS] <{micros:9.2} us>\n", name(test));
        }
        text += "\n";
    }
    let (size, runs, subject) = (options.size(), options.runs, &facts.subject.name);
    text += &format!("Profile: {}\n", profile(options.profile));
    text += &format!("   Test: {size} (x{runs}) [{subject}]{}\n", fill(options));
    text += &format!("   Time: Measure {} / Interval {}\n", seconds(options.measure()), seconds(options.interval()));
    if !options.date.is_empty() {
        text += &format!("   Date: {}\n", options.date);
    }
    if let Some(kernel) = kernel(facts) {
        text += &format!("     OS: Linux {kernel}\n");
    }
    text
}

/// Score in MB/s, operations a second, and mean latency; nought for what was not made.
fn of(options: &CrystalDiskMarkOptions, cells: &[Cell], direction: Direction, test: usize) -> (f64, f64, Span) {
    let wanted = |cell: &&Cell| cell.line.direction == direction && cell.line.test == test;
    let Some(cell) = cells.iter().find(wanted) else { return (0.0, 0.0, Span::ZERO) };
    let rate = cell.score(options.score);
    (rate / 1e6, rate / f64::from(cell.line.block), cell.latency(options.score))
}

fn name(test: &Test) -> String {
    let kind = if test.sequential { "SEQ" } else { "RND" };
    let block = Bytes::new(test.block.into()).to_string().replace(' ', "");
    format!("{kind} {block:>7} (Q={:3}, T={:2})", test.queues, test.threads)
}

const fn profile(profile: Profile) -> &'static str {
    match profile {
        Profile::Default | Profile::Nvme => "Default",
        Profile::Peak => "Peak",
        Profile::Real => "Real",
        Profile::Demo => "Demo",
        Profile::Flash => "Flash Memory",
    }
}

const fn fill(options: &CrystalDiskMarkOptions) -> &'static str {
    match options.data {
        Data::Random => "",
        Data::Zeroes => " <0Fill>",
    }
}

fn seconds(span: Span) -> String {
    let second = Span::from_secs(1).as_nanos();
    if span.as_nanos().is_multiple_of(second) { format!("{} sec", span.as_nanos() / second) } else { span.to_string() }
}

fn kernel(facts: &Facts) -> Option<&str> {
    facts.host.as_ref()?.kernel.as_deref()
}
