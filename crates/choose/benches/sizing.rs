//! Time to size a demand with a week of one-minute windows: all products are raised and priced, the cheapest replayed
//! and simulated; then with a separate volume for redo.
//!
//! `cargo bench -p plimsoll-choose --bench sizing` prints a row for each load.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout)]

use std::time::Instant;

use plimsoll_catalogue::{Catalogue, Date, PriceTerms};
use plimsoll_choose::sizing::{
    Busiest, ClassLoad, DemandWindow, DesignPoint, Search, SizingRequirements, layouts, size,
};
use plimsoll_ingest::Class;
use plimsoll_units::Bytes;

const MINUTES: u32 = 7 * 24 * 60;

/// The load of each minute: a day's curve, with scans whose size differs from minute to minute.
fn week(point: &DesignPoint) -> Vec<DemandWindow> {
    let minute = |minute: u32| {
        let level = 0.6 + 0.4 * (f64::from(minute % 1440) / 1440.0 * std::f64::consts::TAU).sin();
        let scans = 0.5 + f64::from(minute.wrapping_mul(2_654_435_761) % 1000) / 2000.0;
        let scaled = |load: &ClassLoad| {
            let bytes = if load.class == Class::SequentialRead { level * scans } else { level };
            ClassLoad { iops: load.iops * level, bytes_per_second: load.bytes_per_second * bytes, ..*load }
        };
        DemandWindow { seconds: 60.0, classes: point.classes.iter().map(scaled).collect() }
    };
    (0..MINUTES).map(minute).collect()
}

fn derive_requirements(iops: f64) -> SizingRequirements {
    let load = |class, share: f64, size: f64, reads| ClassLoad {
        class,
        iops: iops * share,
        bytes_per_second: iops * share * size,
        reads,
        sequential: matches!(class, Class::SequentialRead | Class::RedoWrite),
        durable: class == Class::RedoWrite,
    };
    let classes = vec![
        load(Class::RandomRead, 0.6, 8192.0, 1.0),
        load(Class::DataWrite, 0.2, 8192.0, 0.0),
        load(Class::RedoWrite, 0.15, 4096.0, 0.0),
        load(Class::SequentialRead, 0.05, 262_144.0, 1.0),
    ];
    let point = DesignPoint { of: Busiest::Operations, windows: 1, classes };
    SizingRequirements {
        headroom: 0.2,
        mean_iops: iops / 2.0,
        series: week(&point),
        objectives: vec!["read:p99<=10ms".parse().expect("it is an objective")],
        ..SizingRequirements::of(vec![point], Bytes::gib(2048))
    }
}

fn main() {
    let catalogue = Catalogue::built_in();
    let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
    println!("| load | evaluated offers | choices | time | layouts |");
    println!("|---|---|---|---|---|");
    for iops in [500.0, 12_000.0, 120_000.0] {
        let began = Instant::now();
        let sizing = size(&catalogue, &derive_requirements(iops), &terms, &Search::default());
        let seconds = began.elapsed().as_secs_f64();
        let found = layouts(&catalogue, &terms, &Search::default(), &sizing);
        let laid_out = began.elapsed().as_secs_f64() - seconds;
        let (offers, choices, layouts) = (sizing.evaluated, sizing.choices.len(), found.len());
        println!("| {iops} IOPS | {offers} | {choices} | {seconds:.2} s | {layouts} in {laid_out:.2} s |");
    }
}
