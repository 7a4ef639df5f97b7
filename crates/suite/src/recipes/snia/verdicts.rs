//! Conclusions from the rounds, and their limitations.

use plimsoll_units::{Bytes, Span};

use super::SniaOptions;
use super::results::Results;
use super::steady::{EXCURSION, RANGE};
use super::test::SniaTest;
use crate::ground::{Facts, Nature};

pub(super) fn of(all: &[Results], options: &SniaOptions, size: Bytes, facts: &Facts) -> Vec<String> {
    let mut verdicts: Vec<String> = all.iter().filter(|results| !results.rounds.is_empty()).map(of_test).collect();
    if verdicts.is_empty() {
        return verdicts;
    }
    verdicts.push(
        "The device was not purged: its earlier contents, and those of other tests, affect the figures. They do not \
         comply with SNIA's specification."
            .into(),
    );
    if facts.nature == Nature::Directory {
        verdicts.push("Files were tested: the filesystem between them and the device is part of the figures.".into());
    }
    let total = facts.subject.size;
    if size < total || facts.nature == Nature::Directory {
        verdicts.push(format!(
            "{size} were written, not all of the device: the rest serves it as spare space, and writes may be faster than \
             on a full one."
        ));
    }
    if options.precondition < 2 && all.iter().any(|results| results.test.is_preconditioned()) {
        verdicts.push(format!(
            "The whole size was written {} times before a test, not twice as the method requires.",
            options.precondition
        ));
    }
    if options.point < Span::from_secs(60) {
        verdicts.push(format!(
            "A load of a round lasted {}, not a minute: rounds that look alike may still be on their way.",
            options.point
        ));
    }
    if facts.grid > 512 && all.iter().any(|results| results.test != SniaTest::Throughput) {
        verdicts.push(format!(
            "Block sizes that are not multiples of {} bytes were left out: direct I/O needs them.",
            facts.grid
        ));
    }
    verdicts
}

fn of_test(results: &Results) -> String {
    let (test, unit) = (results.test, results.unit());
    if test == SniaTest::WriteSaturation {
        return saturated(results);
    }
    let (cell, rounds) = (test.tracked(), results.total().len());
    match results.steady() {
        None => format!("{test}: {rounds} rounds are too few to be steady; the figures are of those."),
        Some(steady) => {
            let (range, excursion) = (steady.range * 100.0, steady.excursion.abs() * 100.0);
            let how = format!(
                "over rounds {} to {} the tracked load, {cell}, spans {range:.1} % of its average of {} {unit} (95 % interval {} to {}; {:.0} % allowed) and moves by \
                 {excursion:.1} % ({:.0} % allowed)",
                steady.first,
                steady.last,
                results.display(steady.mean),
                results.display(steady.interval.0),
                results.display(steady.interval.1),
                RANGE * 100.0,
                EXCURSION * 100.0
            );
            if steady.is_reached() {
                format!("{test}: steady after {rounds} rounds: {how}.")
            } else {
                format!(
                    "{test}: not steady after {rounds} rounds: {how}. The figures are of the last five all the same."
                )
            }
        }
    }
}

fn saturated(results: &Results) -> String {
    let observed: Vec<_> = results.rounds.iter().flatten().collect();
    let [first, .., last] = &observed[..] else {
        return format!("{}: a single round does not show the sustained rate.", results.test);
    };
    let written: u64 = observed.iter().map(|observed| observed.written).sum();
    let half = &observed[observed.len() / 2..];
    let rates = || half.iter().map(|observed| observed.iops);
    let (low, high) = (rates().fold(f64::MAX, f64::min), rates().fold(0.0, f64::max));
    format!(
        "{}: {:.0} operations a second in the first round, {:.0} in the last, which is {:.0} % of it; {:.0} to {:.0} over the \
         second half. {:.3} GB were written.",
        results.test,
        first.iops,
        last.iops,
        last.iops / first.iops.max(1e-9) * 100.0,
        low,
        high,
        written as f64 / 1e9
    )
}
