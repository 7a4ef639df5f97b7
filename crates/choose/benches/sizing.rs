//! How long it takes to size for a demand: every product of the catalogue raised and priced, the cheapest simulated.
//!
//! `cargo bench -p plimsoll-choose --bench sizing` prints a row for each load.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout, missing_docs)]

use std::time::Instant;

use plimsoll_catalogue::{Catalogue, Date, Terms};
use plimsoll_choose::sizing::{Busiest, ClassLoad, Point, Search, Wanted, size};
use plimsoll_ingest::Class;
use plimsoll_units::Bytes;

fn wanted(iops: f64) -> Wanted {
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
    let point = Point { of: Busiest::Operations, windows: 1, classes };
    Wanted {
        headroom: 0.2,
        mean_iops: iops / 2.0,
        objective: "read p99<=10ms".parse().ok(),
        ..Wanted::of(vec![point], Bytes::gib(2048))
    }
}

fn main() {
    let catalogue = Catalogue::built_in();
    let terms = Terms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
    println!("| load | offers held against it | choices | time |");
    println!("|---|---|---|---|");
    for iops in [500.0, 12_000.0, 120_000.0] {
        let began = Instant::now();
        let sizing = size(&catalogue, &wanted(iops), &terms, &Search::default());
        let seconds = began.elapsed().as_secs_f64();
        println!("| {iops} IOPS | {} | {} | {seconds:.2} s |", sizing.looked_at, sizing.choices.len());
    }
}
