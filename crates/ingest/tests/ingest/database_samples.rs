//! Outcomes of all samples of databases. Runs if `PLIMSOLL_SAMPLES` is set to a folder with a folder for each kind.
#![allow(clippy::print_stdout, reason = "the outcome of each sample is printed")]

use std::collections::BTreeMap;

use plimsoll_ingest::{Measure, Outcome, OutcomeSummary, Reading, join};

use crate::bench_real::outcomes;

/// Counts outcomes of a kind by verdict, prints each, and checks that bytes are operations times their size.
fn verdicts(kind: &str) -> BTreeMap<OutcomeSummary, usize> {
    let mut counts = BTreeMap::new();
    for (name, outcome) in outcomes(kind) {
        let description = match &outcome {
            Outcome::Read(reading) => {
                let alone = join(vec![(**reading).clone()]).remove(0);
                bytes_are_sizes(&name, &alone);
                format!("{}: {} figures, {} snapshots", reading.kind, alone.figures.len(), reading.snapshots.len())
            }
            Outcome::Refused { refusal, .. } => refusal.to_string(),
        };
        println!("{:?} {name}: {description}", outcome.verdict());
        *counts.entry(outcome.verdict()).or_default() += 1;
    }
    counts
}

fn bytes_are_sizes(name: &str, reading: &Reading) {
    for figure in reading.figures.iter().filter(|figure| figure.measure == Measure::Size) {
        let of = |measure| {
            let key = (figure.scope, figure.window, figure.class, measure);
            let found = reading.figures.iter().find(|one| (one.scope, one.window, one.class, one.measure) == key);
            found.map_or(f64::NAN, |one| one.value)
        };
        let (iops, bytes) = (of(Measure::Iops), of(Measure::Throughput));
        assert!(
            (iops * figure.value - bytes).abs() <= 1e-6 * bytes,
            "{name}: {iops} of {} are not {bytes}",
            figure.value
        );
    }
}

fn check(kind: &str, expected: &[(OutcomeSummary, usize)]) {
    let counts: Vec<_> = verdicts(kind).into_iter().collect();
    assert!(counts.is_empty() || counts == expected, "{kind}: {counts:?}");
}

#[test]
fn postgres() {
    check("pg_stat_io", &[(OutcomeSummary::Read, 2)]);
}

#[test]
fn mysql_status() {
    // Four are summaries of rounded counters.
    check("mysql_global_status", &[(OutcomeSummary::Read, 16), (OutcomeSummary::Refused, 4)]);
}

#[test]
fn innodb_monitor() {
    // A file with a deadlock has no rates; another is a shell script.
    check("mysql_innodb_status", &[(OutcomeSummary::Read, 18), (OutcomeSummary::Refused, 2)]);
}

#[test]
fn files_of_the_performance_schema() {
    // Definitions of views, without rows.
    check("mysql_ps_file_io", &[(OutcomeSummary::Refused, 5)]);
}
