//! An article of about 2013 about disks, SSDs and ioDrives in rented servers.

use crate::articles::figure::{Article, By, Figure, Published};
use crate::articles::sakura_suite;
use crate::articles::sakura_tables;
use crate::articles::shelf::{model, parsed};
use crate::articles::trial::Trial;
use plimsoll_model::ChainSpec;

const GIB: u64 = 1 << 30;
/// Threads of tiobench.
const THREADS: u32 = 8;
/// Seeking processes of Bonnie++.
const SEEKERS: u32 = 3;
/// Readahead of the kernel per reader.
const AHEAD: u64 = 128 << 10;
/// The largest request that the kernel merges from adjacent pages.
const MERGED: u64 = 512 << 10;
const NAMES: [&str; 4] = ["SATA", "SSD", "ioDrive", "SATA, 16 GB"];
/// Page cache of the machine with 512 MB, less kernel and programs.
const PAGES: &str = "page-cache(400MB) of ";
const DRIVES: [&str; 4] = ["sata-hdd", "intel-330-180", "iodrive-320", "sata-hdd"];

pub fn article() -> Article {
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
                512 MB of its memory; the disk also with all 16 GB. The figures of storage are those \
                that `plimsoll suite articles --article sakura` prints for the servers and drives in `catalogue/sakura`, behind the page cache \
                of a host with 400 MB for pages. The file system and the layout of the two drives of a server are not published. The rule that a disk settles before each write was chosen among three, with the random writes of table 8 in view: those two \
                errors are not independent of the figures.",
        figures: parts.into_iter().flatten().collect(),
        missed: missed(),
    }
}

fn cached(drive: &str) -> ChainSpec {
    model(&format!("{PAGES}{drive}"))
}

/// Reads in order; the kernel reads a request ahead.
fn read_in_order(drive: &str) -> f64 {
    let trial = Trial::random_reads(AHEAD, 2).sequential().over(GIB);
    trial.lasting(500, 1_500).on(&model(drive)).bytes
}

/// Writes in order in requests of 512 KiB.
fn written_in_order(drive: &str) -> f64 {
    let trial = Trial::random_reads(MERGED, 1).writes().sequential().over(GIB);
    trial.lasting(5_000, 20_000).on(&model(drive)).bytes
}

/// Rewriting in units of 512 KiB: a disk seeks between read and write.
fn rewritten(drive: &str) -> f64 {
    let trial = Trial::random_reads(MERGED, 1).mixed(0.5).sequential().streams(2).over(GIB);
    trial.lasting(2_000, 10_000).on(&model(drive)).bytes / 2.0
}

/// Concurrent random reads of 4 KiB of an SSD, once the page cache is full.
fn read_at_random(drive: &str, readers: u32) -> f64 {
    Trial::random_reads(4096, readers).over(GIB).lasting(40_000 / readers, 1_000).on(&cached(drive)).iops
}

/// The same on 32 GiB with 16 GB of memory, which caches about 45 %.
fn read_at_random_of_32_gib() -> f64 {
    let drive = model("sata-hdd");
    let large = parsed(&format!("cache(45%, hit: link(2us); miss: {drive})"));
    Trial::random_reads(4096, SEEKERS).over(32 * GIB).lasting(5_000, 100_000).on(&large).iops
}

const PER_CHARACTER: &str = "byte by byte, this measures the processor, not the storage";

/// Bonnie++ of the column with 16 GB writes 32 GiB, more than the suite does: the disk alone.
const DIRECT: &str = "`sata-hdd` without a page cache, 32 GiB";

fn bonnie() -> Vec<Figure> {
    let table = |row: &str, drive: usize, kib: f64| {
        Figure::new(format!("table 6, {row}"), NAMES[drive], Published::Exactly(kib), "KiB/s")
    };
    let mut figures = Vec::new();
    for (drive, kib) in [1214.0, 1238.0, 1221.0, 1234.0].into_iter().enumerate() {
        figures.push(table("write by character", drive, kib).missing(PER_CHARACTER));
    }
    let mut row = |row: &str, label: &str, published: [f64; 4], direct: f64, fitted: &[usize], allowed: f64| {
        for (drive, kib) in published.into_iter().enumerate() {
            let figure = table(row, drive, kib);
            let figure = match drive {
                3 => figure.given(By::Simulation, DIRECT, direct / 1024.0, allowed),
                _ => from_suite(figure, drive, label, allowed),
            };
            figures.push(if fitted.contains(&drive) { figure.fitted() } else { figure });
        }
    };
    let disk = DRIVES[3];
    let written = [101_934.0, 258_506.0, 578_389.0, 106_982.0];
    row("write by block", "Bonnie++ write, block", written, written_in_order(disk), &[0, 1], 0.5);
    let again = [43_441.0, 124_805.0, 260_766.0, 52_700.0];
    row("rewrite", "Bonnie++ rewrite", again, rewritten(disk), &[], 0.55);
    let read = [141_667.0, 300_527.0, 824_549.0, 154_720.0];
    row("read by block", "Bonnie++ read, block", read, read_in_order(disk), &[], 0.45);
    for (drive, kib) in [5793.0, 5963.0, 5425.0].into_iter().enumerate() {
        figures.push(table("read by character", drive, kib).missing(PER_CHARACTER));
    }
    let seeks = |drive: usize, published| {
        Figure::new("table 6, seeks (printed as KB/s)", NAMES[drive], Published::Exactly(published), "a second")
    };
    figures.push(from_suite(seeks(0, 489.0), 0, "Bonnie++ seeks", 0.1));
    figures.push(from_suite(seeks(1, 15_958.0), 1, "Bonnie++ seeks", 0.3).fitted());
    figures.push(seeks(3, 445.8).given(
        By::Simulation,
        "three at once on `sata-hdd`, 32 GiB of which memory holds 45 %",
        read_at_random_of_32_gib(),
        0.25,
    ));
    figures
}

/// A figure as the suite prints it.
fn from_suite(figure: Figure, drive: usize, label: &str, allowed: f64) -> Figure {
    let printed = sakura_suite::column(drive);
    figure.given(By::Simulation, format!("suite on `{}`", printed.flags), printed.figure(label), allowed)
}

const WRITES_IN_ORDER: [f64; 4] = [83.826, 251.427, 535.675, 92.085];
const WRITES_AT_RANDOM: [f64; 4] = [4.727, 170.547, 593.659, 22.201];
const READS_IN_ORDER: [f64; 4] = [158.834, 712.450, 437.936, 19_339.364];
const READS_AT_RANDOM: [f64; 4] = [2.264, 98.142, 120.311, 18_175.686];
const IN_MEMORY: &str = "the page cache held all of the file: this measures memory, not the disk";

/// Row of the article, line of the suite, published values, columns that set a parameter, and tolerance.
type SuiteRow = (&'static str, &'static str, [f64; 4], &'static [usize], f64);

fn tiobench() -> Vec<Figure> {
    let mut figures = vec![Figure::new("table 5", "8 threads of 128 MB", Published::Exactly(1.0), "GiB").given(
        By::Law,
        "8 x 128 MiB",
        f64::from(THREADS) * 128.0 / 1024.0,
        0.0,
    )];
    let rows: [SuiteRow; 4] = [
        ("writes in order", "tiotest write", WRITES_IN_ORDER, &[1], 0.75),
        ("random writes", "tiotest random write", WRITES_AT_RANDOM, &[1], 0.55),
        ("reads in order", "tiotest read", READS_IN_ORDER, &[], 0.7),
        ("`random write` again, which is random read", "tiotest random read", READS_AT_RANDOM, &[0, 1, 2], 0.2),
    ];
    for (row, label, published, fitted, allowed) in rows {
        for (drive, mib) in published.into_iter().enumerate() {
            let figure = Figure::new(format!("table 8, {row}"), NAMES[drive], Published::Exactly(mib), "MiB/s");
            figures.push(match (drive, label) {
                (3, "tiotest read" | "tiotest random read") => figure.missing(IN_MEMORY),
                _ if fitted.contains(&drive) => from_suite(figure, drive, label, allowed).fitted(),
                _ => from_suite(figure, drive, label, allowed),
            });
        }
    }
    figures
}

fn latencies() -> Vec<Figure> {
    const MEANS: [(&str, [f64; 4], [f64; 4]); 4] = [
        ("writes in order", WRITES_IN_ORDER, [0.326, 0.108, 0.052, 0.004]),
        ("random writes", WRITES_AT_RANDOM, [5.722, 0.150, 0.049, 0.003]),
        ("reads in order", READS_IN_ORDER, [0.166, 0.042, 0.071, 0.002]),
        ("random reads", READS_AT_RANDOM, [12.931, 0.305, 0.258, 0.002]),
    ];
    let mut figures = Vec::new();
    for (row, mib, means) in MEANS {
        for drive in 0..4 {
            let figure = Figure::new(
                format!("table 9, {row}"),
                format!("{}, mean", NAMES[drive]),
                Published::Exactly(means[drive]),
                "ms",
            );
            let each = mib[drive] * 256.0;
            let only_flushed = drive == 3 && row.contains("writes");
            figures.push(if only_flushed {
                figure.missing("the throughput counts the flush at the end and the latency does not: 8 threads do not make 0.1 in flight")
            } else {
                figure.given(By::Law, "Little: 8 threads over the throughput of table 8", f64::from(THREADS) * 1e3 / each, 0.25)
            });
        }
    }
    for (drive, published) in [4.786, 0.151, 0.108, 0.003].into_iter().enumerate() {
        let mean = MEANS.iter().map(|(_, _, means)| means[drive]).sum::<f64>() / 4.0;
        let figure =
            Figure::new("table 9, total", format!("{}, mean", NAMES[drive]), Published::Exactly(published), "ms");
        figures.push(figure.given(By::Law, "mean of the four: as many operations of each", mean, 0.09));
    }
    figures
}

/// Tables created by the test `create`, three times 10,000; and tables rewritten by `alter-table`: 100 additions, 8
/// index creations and drops each, 91 removals, and the initial creation. From the loops of the suite's scripts.
const CREATED: f64 = 30_000.0;
const ALTERED: f64 = 208.0;

fn sql_bench() -> Vec<Figure> {
    const TESTS: [(&str, [f64; 4]); 8] = [
        ("ATIS", [9.0, 9.0, 10.0, 8.0]),
        ("alter-table", [2.0, 11.0, 10.0, 3.0]),
        ("big-tables", [6.0, 7.0, 7.0, 7.0]),
        ("connect", [61.0, 61.0, 55.0, 61.0]),
        ("create", [34.0, 1060.0, 1031.0, 53.0]),
        ("insert", [410.0, 411.0, 426.0, 444.0]),
        ("select", [146.0, 143.0, 142.0, 140.0]),
        ("wisconsin", [2.0, 4.0, 5.0, 3.0]),
    ];
    // Additional seconds per table on an SSD.
    let flush = (1060.0 - 34.0) / CREATED;
    let mut figures = Vec::new();
    for (test, seconds) in TESTS {
        let flushed = match test {
            "create" => CREATED,
            "alter-table" => ALTERED,
            _ => 0.0,
        };
        for drive in 0..4 {
            let figure =
                Figure::new(format!("table 10, {test}"), NAMES[drive], Published::Exactly(seconds[drive]), "s");
            let honoured = flushed > 0.0 && (drive == 1 || drive == 2);
            figures.push(if drive == 0 {
                figure.missing("MySQL's own work on this processor: not modelled")
            } else if honoured {
                let how = format!("as SATA, and {flushed} flushes of {:.1} ms", flush * 1e3);
                let figure = figure.given(By::Law, how, seconds[0] + flushed * flush, 0.2);
                if drive == 1 && test == "create" { figure.fitted() } else { figure }
            } else {
                figure.given(By::Law, "as SATA: hardly any I/O", seconds[0], 0.62)
            });
        }
    }
    figures
}

fn missed() -> Vec<String> {
    let kept = Trial::random_reads(4096, 1).durable().over(GIB).lasting(1_000, 20_000);
    let disk = kept.on(&model("sata-hdd:flush=honoured")).mean_ms;
    vec![
        "The second row called random write in table 8 is random read, as in table 9, and so is its latency."
            .into(),
        "Bonnie++'s seeks are operations a second, not KB/s: 489 KB/s would be 122 seeks of 4 KB."
            .into(),
        format!(
            "sql-bench's create is thirty times slower on flash, without an explanation in the article. Its script creates 30,000 tables, \
             and MySQL flushes the definition of each. The SATA disk took 1.1 ms for a table, while a disk that honours flushes needs \
             {disk:.1} ms for a single write, or {:.0} s in all: on the SATA disk no flush reached the platter. On the SSD and on the \
             ioDrive a table took 34 ms longer, the same on two unrelated devices: this is the file system's journal, not flash.",
            disk * CREATED / 1e3
        ),
        "The same 34 ms for each of the 208 tables that alter-table rebuilds are 7 s; measured were 9 and 8 s more than on SATA. Both \
         tests measured flushes."
            .into(),
        "With 512 MB, two fifths of the gigabyte fit into memory, so `random read` is partly memory in every column: a disk alone \
         would be a third slower. In the column with 16 GB all reads, and all writes except their last flush, are memory."
            .into(),
        format!(
            "Eight threads do not saturate flash: by the fitted model the SSD completes {:.0} thousand reads a second with 32 threads; \
             25 thousand were measured with eight. The ioDrive was hardly loaded.",
            read_at_random("intel-330-180", 32) / 1e3
        ),
        "Its ioDrive was faster than the printed specification: sequential writes 592 MB/s instead of 510, reads 844 MB/s instead of 735, due to a \
         different firmware or the page cache.".into(),
        "The measured SSD, an Intel 330, is not in the table of specifications; the listed DC S3500 was not measured.".into(),
    ]
}
