//! Other tables of the article on Sakura's servers: prices, specifications, ratios, and maximum latencies.

use crate::articles::command::{Printed, run};
use crate::articles::figure::{Figure, Published};
use crate::articles::sakura::{NAMES, column};

pub fn prices() -> Vec<Figure> {
    const MACHINES: [&str; 3] = ["RX100-S7", "RX200-S7", "RX200-S7-2CPU"];
    const STORAGE: [(&str, [f64; 3]); 4] = [
        ("sata-hdd", [19_800.0, 27_800.0, 37_800.0]),
        ("sas-hdd", [20_800.0, 28_800.0, 38_800.0]),
        ("ssd", [21_800.0, 30_800.0, 40_800.0]),
        ("sata-hdd-iodrive", [49_800.0, 57_800.0, 67_800.0]),
    ];
    const CARDS: [(&str, f64, f64); 4] = [
        ("intel-910-400", 180_000.0, 0.0),
        ("iodrive2-365", 0.0, 31_500.0),
        ("iodrive-320", 0.0, 31_500.0),
        ("iodrive-duo-640", 0.0, 63_000.0),
    ];
    let servers = |machine: &str| {
        let configs = STORAGE.map(|(storage, _)| format!("sakura/server:{machine},storage={storage}"));
        run(format!("plimsoll quote {} --as-of 2013 --csv -", configs.join(" ")))
    };
    let yen = |place: &str, what: String, yen: f64| Figure::new(place, what, Published::Exactly(yen), "JPY");
    let mut figures = Vec::new();
    for (storage, rents) in STORAGE {
        for (machine, rent) in MACHINES.into_iter().zip(rents) {
            let size = match storage {
                "ssd" => 480,
                "sas-hdd" => 1200,
                _ => 2000,
            };
            let storage_setting = if storage == "sata-hdd" { String::new() } else { format!(",storage={storage}") };
            let name = format!("sakura/server:{size}GB,{machine}{storage_setting}");
            let printed = servers(machine).cell(&[("configuration", &name)], "price a month");
            figures.push(yen("table 1", format!("{machine} with {storage}, a month"), rent).quoted(printed, 0.0));
        }
    }
    let cards = run(format!("plimsoll quote {} --as-of 2013 --csv -", CARDS.map(|(card, ..)| card).join(" ")));
    for (card, once, monthly) in CARDS {
        let cell = |column| cards.cell(&[("configuration", &format!("sakura/{card}"))], column);
        figures.push(yen("table 4", format!("{card}, set-up"), once).quoted(cell("price once"), 0.0));
        figures.push(yen("table 4", format!("{card}, a month"), monthly).quoted(cell("price a month"), 0.0));
    }
    figures
}

/// Table, drive, and published values: sequential reads and writes in MB/s, random reads and writes of 4 KB per second.
type Specification = (&'static str, &'static str, [f64; 2], Option<[f64; 2]>);

const SPECIFICATIONS: [Specification; 10] = [
    ("table 2", "intel-dc-s3500-240", [500.0, 260.0], Some([75_000.0, 7_500.0])),
    ("table 2", "intel-dc-s3500-480", [500.0, 410.0], Some([75_000.0, 11_000.0])),
    ("table 2", "intel-320-120", [270.0, 130.0], Some([38_000.0, 14_000.0])),
    ("table 2", "intel-320-600", [270.0, 220.0], Some([39_500.0, 23_000.0])),
    ("table 2", "intel-520-240", [550.0, 520.0], Some([50_000.0, 80_000.0])),
    ("table 2", "intel-710-100", [270.0, 170.0], Some([38_500.0, 2_300.0])),
    ("table 3", "intel-910-400", [1000.0, 750.0], Some([90_000.0, 38_000.0])),
    ("table 3", "iodrive-320", [735.0, 510.0], None),
    ("table 3", "iodrive-duo-640", [1500.0, 1000.0], None),
    ("table 3", "iodrive2-365", [910.0, 590.0], Some([110_000.0, 140_000.0])),
];

/// All drives of the tables under a load.
fn simulate_drives(load: &str) -> Printed {
    let drives: Vec<&str> = SPECIFICATIONS.iter().map(|(_, drive, ..)| *drive).collect();
    run(format!("plimsoll simulate {} {load} --csv - --quiet", drives.join(" ")))
}

pub fn specifications() -> Vec<Figure> {
    let in_order =
        |reads: u32| simulate_drives(&format!("--block-size 1MiB --pattern sequential --reads {reads} --depth 4"));
    let at_random =
        |reads: u32| simulate_drives(&format!("--block-size 4KiB --pattern uniform --reads {reads} --depth 32"));
    let mut figures = Vec::new();
    for (table, drive, rates, operations) in SPECIFICATIONS {
        let figure = |what: &str, published, unit| {
            Figure::new(table, format!("{drive}, {what}"), Published::Exactly(published), unit)
        };
        let cell = |printed: Printed, column: &str| {
            printed.cell(&[("subject", &format!("sakura/{drive}")), ("scope", "all")], column)
        };
        let shares = [("reads", 100), ("writes", 0)];
        for ((what, reads), published) in shares.into_iter().zip(rates) {
            let rate = cell(in_order(reads), "bytes_per_s").times(1e-6);
            figures.push(figure(&format!("{what} in order"), published, "MB/s").simulated(rate, 0.08).fitted());
        }
        for ((what, reads), published) in shares.into_iter().zip(operations.into_iter().flatten()) {
            let rate = cell(at_random(reads), "iops");
            figures.push(figure(&format!("random {what} of 4 KB"), published, "IOPS").simulated(rate, 0.05).fitted());
        }
    }
    figures.extend(small_operations());
    figures
}

/// Operations of 512 bytes.
fn small_operations() -> Vec<Figure> {
    let figure = |what: String, published| Figure::new("table 3", what, Published::Exactly(published), "IOPS");
    let mut figures = Vec::new();
    for (drive, reads, writes) in [("iodrive-320", 100_000.0, 141_000.0), ("iodrive-duo-640", 196_000.0, 285_000.0)] {
        for (what, published, share) in [("reads", reads, 100), ("writes", writes, 0)] {
            let quote = run(format!(
                "plimsoll quote iodrive-320 iodrive-duo-640 --sequential --block-size 512B --reads {share} --csv -"
            ));
            let iops = quote.cell(&[("configuration", &format!("sakura/{drive}"))], "IOPS");
            figures.push(figure(format!("{drive}, {what} of 512 bytes in order"), published).quoted(iops, 0.0));
        }
    }
    for (what, published) in [("reads", 137_000.0), ("writes", 535_000.0)] {
        let figure = figure(format!("iodrive2-365, random {what} of 512 bytes"), published);
        figures.push(figure.missing("the catalogue has the limit for 4 KB, also for smaller sizes"));
    }
    let capacity = run("plimsoll quote iodrive-320 --details").after(&["capacity"]);
    figures.push(
        Figure::new("fio-status", "capacity of the ioDrive", Published::Exactly(320.0), "GB").quoted(capacity, 0.0),
    );
    figures
}

/// Statements of the text about table 6, for the suite's figures.
pub fn ratios() -> Vec<Figure> {
    let rows = [
        ("write by block", "Bonnie++ write, block"),
        ("rewrite", "Bonnie++ rewrite"),
        ("read by block", "Bonnie++ read, block"),
    ];
    let figure = |(row, label): (&str, &str), drive: usize, low, high| {
        let what = format!("{} over SATA, {row}", NAMES[drive]);
        Figure::new("text on table 6", what, Published::Between(low, high), "times")
            .simulated(column(drive).line(label) / column(0).line(label), 0.45)
    };
    rows.into_iter().flat_map(|row| [figure(row, 1, 2.0, 3.0), figure(row, 2, 5.0, 7.0)]).collect()
}

const LONGEST: &str = "the maximum of a run is a single event: models give distributions";

pub fn bonnie_latencies() -> Vec<Figure> {
    const ROWS: [(&str, [f64; 4]); 6] = [
        ("write by character", [6.778, 8.928, 15.134, 13.619]),
        ("write by block", [558.0, 82.634, 39.102, 326.0]),
        ("rewrite", [160.0, 69.490, 30.426, 293.0]),
        ("read by character", [6.729, 2.647, 2.598, 15.629]),
        ("read by block", [40.779, 1.463, 1.965, 72.092]),
        ("seek", [1517.0, 1.691, 1.250, 287.0]),
    ];
    longest_of("table 7", &ROWS)
}

/// Maximum latencies of tiobench.
pub fn longest() -> Vec<Figure> {
    const ROWS: [(&str, [f64; 4]); 5] = [
        ("writes in order", [1427.121, 1026.949, 726.300, 0.464]),
        ("random writes", [19_829.566, 660.457, 100.269, 0.046]),
        ("reads in order", [1506.043, 5.169, 6.984, 0.039]),
        ("random reads", [431.807, 3.576, 100.640, 0.036]),
        ("total", [19_829.566, 1026.949, 726.300, 0.464]),
    ];
    longest_of("table 9", &ROWS)
}

fn longest_of(table: &str, rows: &[(&str, [f64; 4])]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (row, values) in rows {
        for (drive, value) in NAMES.into_iter().zip(values) {
            let what = format!("{drive}, longest");
            figures
                .push(Figure::new(format!("{table}, {row}"), what, Published::Exactly(*value), "ms").missing(LONGEST));
        }
    }
    figures
}
