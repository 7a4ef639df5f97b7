//! Outputs of a host's tools, of `PostgreSQL` and of fio, generated from a workload and read again.

use plimsoll_ingest::{Class, Measure, Reading, Statistic};
use plimsoll_testkit::{DailyWorkload, Workload, Writing};
use proptest::prelude::*;

use super::emit::{read, workload};

/// Sum over all devices, files or processes in a window that begins with the workload.
fn sum(reading: &Reading, work: &Workload, classes: &[Class], measure: Measure) -> f64 {
    let is_now = |window: u32| reading.windows[window as usize].begin.is_none_or(|begin| begin == work.begin);
    let figures = reading.figures.iter().filter(|figure| {
        classes.contains(&figure.class) && figure.measure == measure && figure.statistic == Statistic::Mean
    });
    figures.filter(|figure| is_now(figure.window)).map(|figure| figure.value).sum()
}

const READS: [Class; 3] = [Class::Read, Class::RandomRead, Class::SequentialRead];
const WRITES: [Class; 3] = [Class::Write, Class::DataWrite, Class::RedoWrite];

#[track_caller]
fn near(found: f64, expected: f64, slack: f64) {
    assert!((found - expected).abs() <= slack + expected * 1e-6, "{found}, not {expected}");
}

fn check(busiest: Workload, form: Writing) {
    let course = DailyWorkload { busiest, windows: 1, instances: 1 };
    let work = &course.workloads()[0];
    let reading = read(&form.write(&course).remove(0).text);
    let rate = |count: u64| count as f64 / work.seconds();
    match form {
        Writing::Iostat(_) | Writing::IostatJson => {
            near(sum(&reading, work, &READS, Measure::Iops), rate(work.reads()), 0.02);
            near(sum(&reading, work, &WRITES, Measure::Iops), rate(work.data_writes + work.redo_writes), 0.02);
            near(sum(&reading, work, &READS, Measure::Throughput), rate(work.read_bytes()), 32.0);
        }
        Writing::Sar | Writing::Sadf => {
            let all = rate(work.reads() + work.data_writes + work.redo_writes);
            near(sum(&reading, work, &[Class::All], Measure::Iops), all, 0.02);
            near(sum(&reading, work, &READS, Measure::Throughput), rate(work.read_bytes()), 32.0);
        }
        Writing::PgStatIo => {
            near(sum(&reading, work, &[Class::Read], Measure::Throughput), rate(work.read_bytes()), 1.0);
            near(sum(&reading, work, &[Class::Write], Measure::Throughput), rate(work.data_bytes()), 1.0);
        }
        Writing::Fio => {
            let found = reading.evidence.iter().any(|evidence| {
                evidence.iops.is_some_and(|iops| (iops - rate(work.single_reads)).abs() <= iops * 1e-6)
            });
            assert!(found, "{:?}", reading.evidence);
        }
        Writing::AwrHtml(_) | Writing::AwrText | Writing::Statspack => {}
    }
}

#[test]
fn every_format_yields_its_workload() {
    for (_, form) in Writing::ALL {
        check(workload(), form);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_workload_survives_a_round_trip(
        single in 0_u64..100_000_000, several in 0_u64..1_000_000, writes in 0_u64..10_000_000, redo in 0_u64..10_000_000,
        minutes in 1_u32..600, which in 0..Writing::ALL.len(),
    ) {
        let work = Workload {
            single_reads: single, several_reads: several, data_writes: writes, redo_writes: redo, minutes, ..workload()
        };
        check(work, Writing::ALL[which].1);
    }
}
