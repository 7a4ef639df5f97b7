//! An article of about 2013 about disks, SSDs and ioDrives in rented servers.

use plimsoll_suite::recipes::articles::published::{ArticleTable, article as published};

use crate::articles::command::{Printed, Reading, run};
use crate::articles::figure::{Article, Figure, Published};
use crate::articles::sakura_tables;

pub const NAMES: [&str; 4] = ["SATA", "SSD", "ioDrive", "SATA, 16 GB"];
/// Storage, memory for pages, and elevator of the article's four columns. The kernel left the order of reads of flash
/// alone (`cfq` idles for turning disks only, and the driver of the ioDrive has no elevator).
const HOSTS: [(&str, &str, &str); 4] = [
    ("sakura/server:storage=sata-hdd", "400MB", "cfq"),
    ("sakura/intel-330-180", "400MB", "none"),
    ("sakura/server:storage=sata-hdd-iodrive", "400MB", "none"),
    ("sakura/server:storage=sata-hdd", "15GB", "cfq"),
];

/// The suite on the host of a column.
pub fn column(index: usize) -> Printed {
    let (storage, memory, elevator) = HOSTS[index];
    run(format!("plimsoll suite articles --article sakura {storage} --memory {memory} --elevator {elevator} --details"))
}

/// A line of the suite on the host of a column.
fn printed(index: usize, label: &str) -> Reading {
    column(index).line(label)
}

pub fn article() -> Article {
    std::thread::scope(|scope| {
        for index in 0..HOSTS.len() {
            scope.spawn(move || column(index));
        }
    });
    let parts = [
        sakura_tables::prices(),
        sakura_tables::specifications(),
        bonnie(),
        sakura_tables::ratios(),
        sakura_tables::bonnie_latencies(),
        tiobench(),
        latencies(),
        sakura_tables::longest(),
        sql_bench(),
    ];
    Article {
        title: "Disks, SSDs and ioDrives of a dedicated server",
        about: "First steps with Sakura's dedicated server, part 4 (Japanese, about 2013, undated): Bonnie++, tiobench and \
                MySQL's sql-bench on a SATA disk, two Intel 330 SSDs and a Fusion-io ioDrive, in a Fujitsu RX100 S7 restricted to \
                512 MB of its memory; the disk also with all 16 GB. The servers and drives are those of `catalogue/sakura`, \
                behind the page cache of a host with 400 MB or 15 GB for pages. The file system and the layout of the two drives of a server are not published. The rule that a disk settles before each write was chosen among three, with the random writes of table 8 in view: those two \
                errors are not independent of the figures.",
        figures: parts.into_iter().flatten().collect(),
        missed: missed(),
    }
}

const PER_CHARACTER: &str = "byte by byte, this measures the processor, not the storage";

fn article_table(name: &str) -> &'static ArticleTable {
    published("sakura").table(name)
}

/// Row of the article, line of the suite and of its table, columns that set a parameter, and tolerance.
type SuiteRow = (&'static str, &'static str, &'static [usize], f64);

/// The four columns of a row.
fn row(table: &str, (row, label, fitted, allowed): SuiteRow, unit: &'static str) -> Vec<Figure> {
    let figure = |(drive, published): (usize, f64)| {
        let figure = Figure::new(format!("{table}, {row}"), NAMES[drive], Published::Exactly(published), unit);
        let figure = figure.simulated(printed(drive, label), allowed);
        if fitted.contains(&drive) { figure.fitted() } else { figure }
    };
    article_table("programs").figures::<4>(label).into_iter().enumerate().map(figure).collect()
}

/// Figures of a row that no command prints.
fn missing(table: &str, row: &str, published: &[f64], unit: &'static str, why: &str) -> Vec<Figure> {
    let named = NAMES.iter().zip(published);
    let figure = |(name, published): (&&str, &f64)| {
        Figure::new(format!("{table}, {row}"), *name, Published::Exactly(*published), unit).missing(why)
    };
    named.map(figure).collect()
}

fn bonnie() -> Vec<Figure> {
    let rows: [SuiteRow; 3] = [
        ("write by block", "Bonnie++ write, block", &[0, 1], 0.2),
        ("rewrite", "Bonnie++ rewrite", &[], 0.3),
        ("read by block", "Bonnie++ read, block", &[], 0.45),
    ];
    let mut figures = missing(
        "table 6",
        "write by character",
        &article_table("programs").figures::<4>("Bonnie++ write, per char"),
        "KiB/s",
        PER_CHARACTER,
    );
    figures.extend(rows.into_iter().flat_map(|values| row("table 6", values, "KiB/s")));
    figures.extend(missing(
        "table 6",
        "read by character",
        &article_table("programs").figures::<3>("Bonnie++ read, per char"),
        "KiB/s",
        PER_CHARACTER,
    ));
    let line = article_table("programs").row("Bonnie++ seeks");
    let seeks = |drive: usize| {
        let published = line.published[drive].expect("the article has a figure");
        Figure::new("table 6, seeks (printed as KB/s)", NAMES[drive], Published::Exactly(published), "a second")
            .simulated(printed(drive, "Bonnie++ seeks"), 0.3)
    };
    figures.extend([seeks(0), seeks(1).fitted(), seeks(3)]);
    figures
}

const IN_MEMORY: &str = "the page cache held all of the file: this measures memory, not the disk";

fn tiobench() -> Vec<Figure> {
    let random_reads = "`random write` again, which is random read";
    let rows: [SuiteRow; 2] =
        [("writes in order", "tiotest write", &[1], 0.25), ("random writes", "tiotest random write", &[1], 0.35)];
    let reads: [SuiteRow; 2] =
        [("reads in order", "tiotest read", &[], 0.6), (random_reads, "tiotest random read", &[0, 1, 2], 0.2)];
    let mut figures = vec![
        Figure::new("table 5", "8 threads of 128 MB", Published::Exactly(1.0), "GiB")
            .missing("arithmetic on units, without storage"),
    ];
    figures.extend(rows.into_iter().flat_map(|values| row("table 8", values, "MiB/s")));
    figures.extend(reads.into_iter().flat_map(|values| without_large_host("table 8", values, "MiB/s")));
    figures
}

/// A row of reads: those of the host with 16 GB are of memory.
fn without_large_host(table: &str, values: SuiteRow, unit: &'static str) -> Vec<Figure> {
    let mut figures = row(table, values, unit);
    let last = figures.pop().expect("four columns");
    figures.push(last.missing(IN_MEMORY));
    figures
}

/// Mean latencies of tiobench.
fn latencies() -> Vec<Figure> {
    let rows: [SuiteRow; 4] = [
        ("writes in order, mean", "tiotest write, mean", &[1], 0.3),
        ("random writes, mean", "tiotest random write, mean", &[1], 0.5),
        ("reads in order, mean", "tiotest read, mean", &[], 2.0),
        ("random reads, mean", "tiotest random read, mean", &[0, 1, 2], 0.3),
    ];
    let mut figures: Vec<Figure> =
        rows.into_iter().flat_map(|values| without_large_host("table 9", values, "ms")).collect();
    let [drives @ .., memory] = article_table("totals").figures::<4>("total, mean");
    let drives: [f64; 3] = drives;
    for (drive, published) in drives.into_iter().enumerate() {
        let figure = Figure::new("table 9, total, mean", NAMES[drive], Published::Exactly(published), "ms");
        figures.push(figure.simulated(column(drive).after(&["| Total", "|"]), 0.3));
    }
    figures.push(Figure::new("table 9, total, mean", NAMES[3], Published::Exactly(memory), "ms").missing(IN_MEMORY));
    figures
}

const OWN_WORK: &str =
    "MySQL's own work on this processor: not modelled; `plimsoll suite sql-bench` runs the tests on a database";
const FLUSHES: &str =
    "flushes of the file system's journal, which no model has; `plimsoll suite sql-bench` runs the test on a database";

fn sql_bench() -> Vec<Figure> {
    let why = |test: &str| if matches!(test, "create" | "alter-table") { FLUSHES } else { OWN_WORK };
    let table = article_table("sql-bench");
    let figures = |test: &str| missing("table 10", test, &table.figures::<4>(test), "s", why(test));
    table.rows.iter().flat_map(|line| figures(&line.label)).collect()
}

fn missed() -> Vec<String> {
    let disk = run("plimsoll simulate sata-hdd:flush=honoured --block-size 4KiB --pattern uniform --working-set 1GiB \
         --reads 0 --durable --depth 1 --csv - --quiet");
    let disk = disk.cell(&[("depth", "1"), ("scope", "all")], "mean_ns").times(1e-6);
    let flash = run("plimsoll simulate intel-330-180 --block-size 4KiB --pattern uniform --reads 100 --depth 32 \
         --csv - --quiet");
    let flash = flash.cell(&[("depth", "32"), ("scope", "all")], "iops").times(1e-3);
    vec![
        "The second row called random write in table 8 is random read, as in table 9, and so is its latency."
            .into(),
        "Bonnie++'s seeks are operations a second, not KB/s: 489 KB/s would be 122 seeks of 4 KB."
            .into(),
        format!(
            "sql-bench's create is thirty times slower on flash, without an explanation in the article. Its script creates 30,000 tables, \
             and MySQL flushes the definition of each. The SATA disk took 1.1 ms for a table, while a disk that honours flushes needs \
             {:.1} ms for a single write ({}), or {:.0} s in all: on the SATA disk no flush reached the platter. On the SSD and on the \
             ioDrive a table took 34 ms longer, the same on two unrelated devices: this is the file system's journal, not flash.",
            disk.value,
            disk.how,
            disk.value * 30.0
        ),
        "The same 34 ms for each of the 208 tables that alter-table rebuilds are 7 s; measured were 9 and 8 s more than on SATA. Both \
         tests measured flushes."
            .into(),
        "With 512 MB, two fifths of the gigabyte fit into memory, so `random read` is partly memory in every column: a disk alone \
         would be a third slower. In the column with 16 GB all reads, and all writes except their last flush, are memory."
            .into(),
        format!(
            "Eight threads do not saturate flash: by the fitted model the SSD completes {:.0} thousand reads a second with 32 threads ({}); \
             25 thousand were measured with eight. The ioDrive was hardly loaded.",
            flash.value,
            flash.how
        ),
        "The reads in order of eight threads have the largest errors, and no model of a drive can have them all. The SSD read 747 MB/s, \
         more than a SATA port of 600 MB/s carries: part of it came from memory or from the second drive of the server. The ioDrive \
         read half as fast with eight threads as Bonnie++ with a single reader: its driver and the threads shared the processors and \
         512 MB. The model of the SATA disk suffers from the pages that the random writes left in memory: between them remain many short \
         reads, which a drive's own read-ahead would join and ours does not have. Without the random writes the suite reads \
         110 MB/s there (`plimsoll suite tiobench sata-hdd --memory 400MB --elevator cfq --threads 8 --size 128MiB --random 8`)."
            .into(),
        "By Little's law the published rates and means of table 8 and 9 are 6.6 to 8 operations in flight of the 8 threads, so MB are MiB; \
         with 16 GB the rates of writes include the last flush, which the means do not."
            .into(),
        "Its ioDrive was faster than the printed specification: sequential writes 592 MB/s instead of 510, reads 844 MB/s instead of 735, due to a \
         different firmware or the page cache.".into(),
        "The measured SSD, an Intel 330, is not in the table of specifications; the listed DC S3500 was not measured.".into(),
    ]
}
