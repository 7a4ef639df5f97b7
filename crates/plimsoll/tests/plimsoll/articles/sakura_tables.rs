//! Other tables of the article on Sakura's servers: prices, specifications, ratios, and maximum latencies.

use crate::articles::figure::{By, Figure, Published};
use crate::articles::shelf::{carried_in_order_mb, model, offer, price};
use crate::articles::trial::Trial;

const MEGABYTE: u64 = 1 << 20;

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
    let quoted = |place: &str, what: String, yen: f64, config: String, value: f64| {
        Figure::new(place, what, Published::Exactly(yen), "JPY").given(By::Quote, format!("`{config}`"), value, 0.0)
    };
    let mut figures = Vec::new();
    for (storage, yen) in STORAGE {
        for (machine, yen) in MACHINES.into_iter().zip(yen) {
            let config = format!("sakura/server:{machine},storage={storage}");
            let (rent, _) = price(&config);
            figures.push(quoted("table 1", format!("{machine} with {storage}, a month"), yen, config, rent));
        }
    }
    for (card, once, monthly) in CARDS {
        let (rent, set_up) = price(card);
        figures.push(quoted("table 4", format!("{card}, set-up"), once, card.into(), set_up));
        figures.push(quoted("table 4", format!("{card}, a month"), monthly, card.into(), rent));
    }
    figures
}

/// Table, drive, and published values: sequential reads and writes in MB/s, random reads and writes of 4 KB per second.
type Printed = (&'static str, &'static str, [f64; 2], Option<[f64; 2]>);

const PRINTED: [Printed; 10] = [
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

pub fn specifications() -> Vec<Figure> {
    let mut figures = Vec::new();
    for (table, drive, in_order, at_random) in PRINTED {
        let modelled = model(drive);
        let figure = |what: &str, published, unit| {
            Figure::new(table, format!("{drive}, {what}"), Published::Exactly(published), unit)
        };
        let how = |what: &str| format!("`{drive}`, {what}");
        for (what, published, trial) in [
            ("reads in order", in_order[0], Trial::random_reads(MEGABYTE, 4).sequential()),
            ("writes in order", in_order[1], Trial::random_reads(MEGABYTE, 4).sequential().writes()),
        ] {
            let value = trial.lasting(300, 600).on(&modelled).mb();
            let given = figure(what, published, "MB/s").given(By::Simulation, how("1 MiB at depth 4"), value, 0.08);
            figures.push(given.fitted());
        }
        for (what, published, trial) in at_random.into_iter().flat_map(|[reads, writes]| {
            [
                ("random reads of 4 KB", reads, Trial::random_reads(4096, 32)),
                ("random writes of 4 KB", writes, Trial::random_reads(4096, 32).writes()),
            ]
        }) {
            let value = trial.lasting(300, 300).on(&modelled).iops;
            let given = figure(what, published, "IOPS").given(By::Simulation, how("depth 32"), value, 0.05);
            figures.push(given.fitted());
        }
    }
    figures.extend(small_operations());
    figures
}

/// Operations of 512 bytes, as in the catalogue's sequential quotes.
fn small_operations() -> Vec<Figure> {
    let mut figures = Vec::new();
    for (drive, reads, writes) in [("iodrive-320", 100_000.0, 141_000.0), ("iodrive-duo-640", 196_000.0, 285_000.0)] {
        for (what, published, share) in [("reads", reads, 1.0), ("writes", writes, 0.0)] {
            let value = carried_in_order_mb(drive, 512, share) * 1e6 / 512.0;
            figures.push(
                Figure::new(
                    "table 3",
                    format!("{drive}, {what} of 512 bytes in order"),
                    Published::Exactly(published),
                    "IOPS",
                )
                .given(By::Quote, format!("`{drive}`"), value, 0.0),
            );
        }
    }
    for (what, published) in [("reads", 137_000.0), ("writes", 535_000.0)] {
        figures.push(
            Figure::new(
                "table 3",
                format!("iodrive2-365, random {what} of 512 bytes"),
                Published::Exactly(published),
                "IOPS",
            )
            .missing("the catalogue has the limit for 4 KB, also for smaller sizes"),
        );
    }
    let capacity = offer("iodrive-320").capacity.get() as f64 / 1e9;
    figures.push(Figure::new("fio-status", "capacity of the ioDrive", Published::Exactly(320.0), "GB").given(
        By::Quote,
        "`iodrive-320`",
        capacity,
        0.0,
    ));
    figures
}

/// Statements of the text about table 6, computed from the table.
pub fn ratios() -> Vec<Figure> {
    let rows = [
        ("write by block", [101_934.0, 258_506.0, 578_389.0]),
        ("rewrite", [43_441.0, 124_805.0, 260_766.0]),
        ("read by block", [141_667.0, 300_527.0, 824_549.0]),
    ];
    let figure = |row: &str, drive: &str, low, high, value| {
        Figure::new("text on table 6", format!("{drive} over SATA, {row}"), Published::Between(low, high), "times")
            .given(By::Law, "table 6", value, 0.0)
    };
    rows.iter()
        .flat_map(|(row, [sata, ssd, iodrive])| {
            [figure(row, "SSD", 2.0, 3.0, ssd / sata), figure(row, "ioDrive", 5.0, 7.0, iodrive / sata)]
        })
        .collect()
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
        for (drive, value) in ["SATA", "SSD", "ioDrive", "SATA, 16 GB"].into_iter().zip(values) {
            let what = format!("{drive}, longest");
            figures
                .push(Figure::new(format!("{table}, {row}"), what, Published::Exactly(*value), "ms").missing(LONGEST));
        }
    }
    figures
}
