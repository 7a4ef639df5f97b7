//! Conclusions from the rounds, and their limitations.

use plimsoll_record::SniaVerdict;
use plimsoll_units::{Bytes, Span};

use super::SniaOptions;
use super::results::Results;
use super::steady::{EXCURSION, RANGE};
use super::test::SniaTest;
use crate::ground::{Facts, Nature};

pub(super) fn of(all: &[Results], options: &SniaOptions, size: Bytes, facts: &Facts) -> Vec<SniaVerdict> {
    let mut verdicts: Vec<_> = all.iter().filter(|results| !results.rounds.is_empty()).map(of_test).collect();
    if verdicts.is_empty() {
        return verdicts;
    }
    verdicts.push(SniaVerdict::NotPurged);
    let is_directory = facts.nature == Nature::Directory;
    if is_directory {
        verdicts.push(SniaVerdict::FilesTested);
    }
    if size < facts.subject.size || is_directory {
        verdicts.push(SniaVerdict::PartWritten { size_bytes: size });
    }
    if options.precondition < 2 && all.iter().any(|results| results.test.is_preconditioned()) {
        verdicts.push(SniaVerdict::Preconditioning { passes: options.precondition });
    }
    if options.point < Span::from_secs(60) {
        verdicts.push(SniaVerdict::ShortLoads { span: options.point });
    }
    if facts.grid > 512 && all.iter().any(|results| results.test != SniaTest::Throughput) {
        verdicts.push(SniaVerdict::SizesLeftOut { grid_bytes: Bytes::new(facts.grid) });
    }
    verdicts
}

fn of_test(results: &Results) -> SniaVerdict {
    let (test, rounds) = (results.test.to_string(), results.complete_rounds().len() as u64);
    if results.test == SniaTest::WriteSaturation {
        return saturated(test, results);
    }
    match results.steady() {
        None => SniaVerdict::TooFewRounds { test, rounds },
        Some(steady) => SniaVerdict::SteadyState {
            test,
            rounds,
            reached: steady.is_reached(),
            window: (steady.first as u64, steady.last as u64),
            load: results.test.tracked().to_string(),
            unit: results.unit().into(),
            mean: steady.mean,
            interval: steady.interval,
            range_share: steady.range,
            max_range_share: RANGE,
            excursion_share: steady.excursion,
            max_excursion_share: EXCURSION,
        },
    }
}

fn saturated(test: String, results: &Results) -> SniaVerdict {
    let observed: Vec<_> = results.rounds.iter().flatten().collect();
    let [first, .., last] = &observed[..] else { return SniaVerdict::SingleRound { test } };
    let rates = || observed[observed.len() / 2..].iter().map(|observed| observed.iops);
    SniaVerdict::WriteSaturation {
        test,
        first_iops: first.iops,
        last_iops: last.iops,
        second_half_iops: (rates().fold(f64::MAX, f64::min), rates().fold(0.0, f64::max)),
        written_bytes: Bytes::new(observed.iter().map(|observed| observed.written).sum()),
    }
}
