//! A gist of 2014 about striped disks on Azure.

use plimsoll_suite::recipes::articles::published::article as published;

use crate::articles::command::{Printed, run};
use crate::articles::figure::{Article, Figure, Published};

const SINGLE: &str = "azure/2014:1023GB";
const STRIPED: &str = "split-stripe(2,64KiB) of azure/2014:1023GB";

pub fn article() -> Article {
    let mut figures = disk_marks();
    figures.extend(interleaves());
    figures.extend(concurrency());
    Article {
        title: "Striped disks on Azure, 2014",
        about: "froop, [a gist](https://gist.github.com/froop/25a2b8d3e1f380ba4c65) of September 2014 (Japanese): \
                CrystalDiskMark on one disk and on two striped ones, under Windows Server 2008 R2 and 2012 R2, and an \
                Oracle statement run by several sessions at once. The model is `azure/2014` of the catalogue, striped \
                by `split-stripe(2,64KiB)`. Two figures of the same disk under the two systems differ by up to 13 %: \
                no model of the disk can be nearer to both than 7 %.",
        figures,
        missed: missed(),
    }
}

/// A row of a table of `CrystalDiskMark`.
struct Row {
    /// Its label in the published table.
    label: &'static str,
    what: &'static str,
    /// Whether the model was fitted to the row, for one disk and two.
    fitted: [bool; 2],
    /// Tolerance for one disk and two.
    tolerance: [f64; 2],
}

const fn row(label: &'static str, what: &'static str, fitted: [bool; 2], tolerance: [f64; 2]) -> Row {
    Row { label, what, fitted, tolerance }
}

const ROWS: [Row; 8] = [
    row("Sequential Read", "sequential read", [true, true], [0.06, 0.05]),
    row("Sequential Write", "sequential write", [true, true], [0.05, 0.06]),
    row("Random Read 512KB", "random read of 512 KB", [true, false], [0.07, 0.15]),
    row("Random Write 512KB", "random write of 512 KB", [true, false], [0.1, 0.05]),
    row("Random Read 4KB (QD=1)", "random read of 4 KB, depth 1", [true, false], [0.08, 0.32]),
    row("Random Write 4KB (QD=1)", "random write of 4 KB, depth 1", [true, false], [0.08, 0.05]),
    row("Random Read 4KB (QD=32)", "random read of 4 KB, depth 32", [true, false], [0.015, 0.08]),
    row("Random Write 4KB (QD=32)", "random write of 4 KB, depth 32", [true, false], [0.015, 0.04]),
];

/// `CrystalDiskMark` of the article.
fn disk_mark(config: &str) -> Printed {
    run(format!("plimsoll suite articles --article azure-striping '{config}' --details"))
}

fn disk_marks() -> Vec<Figure> {
    const TABLES: [&str; 4] =
        ["2008 R2, one disk", "2008 R2, stripe of two", "2012 R2, one disk", "2012 R2, pool of two"];
    let marks = [disk_mark(SINGLE), disk_mark(STRIPED)];
    let [rates, operations] = ["crystaldiskmark", "operations"].map(|table| published("azure-striping").table(table));
    let mut figures = Vec::new();
    for (table, name) in TABLES.iter().enumerate() {
        let disks = table % 2;
        for row in &ROWS {
            let name_of_line = format!("{} :", row.label);
            let (texts, unit, line) = match operations.rows.iter().find(|line| line.label == row.label) {
                Some(line) => (vec![name_of_line.as_str(), "["], "IOPS", line),
                None => (vec![name_of_line.as_str()], "MB/s", rates.row(row.label)),
            };
            let exactly = Published::Exactly(line.published[table].expect("the article has a figure"));
            let figure = Figure::new(*name, row.what, exactly, unit);
            let figure = figure.simulated(marks[disks].after(&texts), row.tolerance[disks]);
            figures.push(if row.fitted[disks] { figure.fitted() } else { figure });
        }
    }
    figures
}

/// Scans of 1 MiB by one reader, with the rows of a request issued one after another.
fn simulate_scan() -> Printed {
    let stripe = |interleave| format!("'serial-stripe(2,{interleave}KiB) of {SINGLE}'");
    let stripes = [64, 256, 512].map(stripe).join(" ");
    run(format!(
        "plimsoll simulate {stripes} --block-size 1MiB --pattern sequential --reads 100 --depth 1 --csv - --quiet"
    ))
}

/// The author's figures on random reads and full table scans.
fn interleaves() -> Vec<Figure> {
    let scan = simulate_scan();
    let mean = |interleave: u32| {
        let subject = format!("serial-stripe(2,{interleave}KiB) of {SINGLE}");
        scan.cell(&[("subject", &subject), ("scope", "all")], "mean_ns")
    };
    let [one, two] = [SINGLE, STRIPED].map(|config| disk_mark(config).after(&["Random Read 512KB :"]));
    let queue = run("plimsoll simulate 'station(1, 1s)' --reads 100 --depth 1,2 --csv - --quiet");
    let together = |depth: &str| queue.cell(&[("depth", depth), ("scope", "all")], "mean_ns");
    vec![
        Figure::new("text", "random read, two disks over one", Published::Exactly(1.3), "times as fast")
            .simulated(two / one, 0.05),
        Figure::new("note of 15 September", "full scan, interleave 512 KB", Published::Exactly(1.3), "times as fast")
            .simulated(mean(256) / mean(512), 0.05),
        Figure::new("note of 15 September", "full scan, interleave 64 KB", Published::Exactly(3.0), "times as long")
            .simulated(mean(64) / mean(512), 0.1)
            .fitted(),
        Figure::new("note of 16 September", "two at once on AWS", Published::Exactly(2.0), "times as long")
            .simulated(together("2") / together("1"), 0.001)
            .fitted(),
        Figure::new("text", "whole job on Azure, over what it took before", Published::Exactly(2.0), "times as long")
            .missing("the article does not describe the previous storage"),
    ]
}

/// Sessions, published mean seconds of the six statements and throughput, and the six values.
type Rung = (u32, f64, f64, [f64; 6]);

fn rungs() -> [Rung; 8] {
    let table = published("azure-striping").table("ladder");
    let [sessions, means, rates] = ["sessions", "mean", "throughput"].map(|label| table.figures::<8>(label));
    let columns: [[f64; 8]; 6] = std::array::from_fn(|index| table.figures(&format!("statement {}", index + 1)));
    std::array::from_fn(|rung| (sessions[rung] as u32, means[rung], rates[rung], columns.map(|column| column[rung])))
}

/// Statements per minute and seconds per statement of `sessions` on a queue of `demand` seconds plus `other` seconds:
/// exact mean value analysis (Reiser and Lavenberg 1980).
fn closed(other: f64, demand: f64, sessions: u32) -> (f64, f64) {
    let (mut queue, mut rate, mut time) = (0.0, 0.0, 0.0);
    for count in 1..=sessions {
        time = demand * (1.0 + queue);
        rate = f64::from(count) / (other + time);
        queue = rate * time;
    }
    (rate * 60.0, other + time)
}

/// Milliseconds at a queue and elsewhere, fitted to all rows, and to rows 1 to 6 only.
const FITTED: (u32, u32) = (3480, 9880);
const FITTED_TO_SIX: (u32, u32) = (3625, 9500);

/// Statements of several sessions that take these milliseconds at a queue and elsewhere.
fn statements((queue, elsewhere): (u32, u32), sessions: &str) -> Printed {
    let stages = format!("station(1, {queue}ms, exponential) \"bottleneck\" then link({elsewhere}ms) \"the rest\"");
    run(format!("plimsoll simulate '{stages}' --reads 100 --depth {sessions} --csv - --quiet"))
}

fn concurrency() -> Vec<Figure> {
    let place = |sessions: u32| format!("table of concurrency, {sessions} at once");
    let all = statements(FITTED, "1,2,3,4,5,6,9,12");
    let cell =
        |of: &Printed, sessions: u32, column| of.cell(&[("depth", &sessions.to_string()), ("scope", "all")], column);
    let mut figures = Vec::new();
    for (sessions, mean, rate, _) in rungs() {
        let figure = Figure::new(place(sessions), "mean response", Published::Exactly(mean), "s");
        figures.push(figure.simulated(cell(&all, sessions, "mean_ns").times(1e-9), 0.06).fitted());
        let figure = Figure::new(place(sessions), "throughput", Published::Exactly(rate), "a minute");
        figures.push(figure.simulated(cell(&all, sessions, "iops").times(60.0), 0.06).fitted());
    }
    let rest = statements(FITTED_TO_SIX, "9,12");
    for (sessions, _, rate, _) in &rungs()[6..] {
        let what = "throughput, fitted to rows 1 to 6 only";
        let figure = Figure::new(place(*sessions), what, Published::Exactly(*rate), "a minute");
        figures.push(figure.simulated(cell(&rest, *sessions, "iops").times(60.0), 0.11));
    }
    figures
}

#[test]
fn price_without_a_document_of_the_time_is_absent() {
    let quote = run("plimsoll quote azure/2014:1023GB aws/standard:100GiB --as-of 2014-09 --details");
    assert!(quote.text().contains("no price of azure/2014"), "{}", quote.text());
    assert!(quote.text().contains("no price of aws/standard as of 2014-09"), "{}", quote.text());
}

#[test]
fn six_rows_determine_the_queue_of_the_prediction() {
    let (other, demand) = fit(&rungs()[..6]);
    let (queue, elsewhere) = FITTED_TO_SIX;
    assert!((demand * 1e3 - f64::from(queue)).abs() < 1.0, "{demand}");
    assert!((other * 1e3 - f64::from(elsewhere)).abs() < 1.0, "{other}");
}

#[test]
fn mean_of_the_six_statements_gives_the_published_throughput() {
    for (sessions, _, rate, six) in rungs() {
        let average = six.iter().sum::<f64>() / 6.0;
        let by_law = f64::from(sessions) * 60.0 / average;
        assert!((by_law / rate - 1.0).abs() < 0.01, "{sessions} at once: {by_law}");
    }
}

/// Seconds outside and inside the queue that minimise the relative squared errors of the throughput.
fn fit(rows: &[(u32, f64, f64, [f64; 6])]) -> (f64, f64) {
    let candidates =
        (0..140_u32).flat_map(|i| (0..140_u32).map(move |j| (7.0 + f64::from(i) / 20.0, 1.5 + f64::from(j) / 40.0)));
    let error = |&(other, demand): &(f64, f64)| {
        let each = |(n, mean, ..): &(u32, f64, f64, [f64; 6])| closed(other, demand, *n).1 / mean - 1.0;
        rows.iter().map(each).map(|error| error * error).sum::<f64>()
    };
    candidates.min_by(|a, b| error(a).total_cmp(&error(b))).expect("there are candidates")
}

fn missed() -> Vec<String> {
    let halved = statements((FITTED.0 / 2, FITTED.1), "12");
    let halved = halved.cell(&[("depth", "12"), ("scope", "all")], "iops").times(60.0);
    let then = run("plimsoll quote gp2:100GiB --as-of 2014-09 --csv -");
    let then = then.cell(&[("configuration", "aws/gp2:100GiB")], "price a month");
    let now = statements(FITTED, "1,2,3,4,5,6,9,12").cell(&[("depth", "12"), ("scope", "all")], "iops").times(60.0);
    vec![
        "The rows at depth 32 measure the limit of 500 requests a second for each blob, not a disk, so a second disk doubles them to the percent."
            .into(),
        "At depth 1 there is no queue, and a stripe cannot help: a request of 4 KB uses a single disk. The measured gain of 18 to 52 % \
         cannot come from striping; reads of the same disk differ by 13 % between two runs, and single runs were compared."
            .into(),
        "The stripe helps large writes most, by a factor of three with two disks, because the volume manager splits them into \
         concurrent chunks of 64 KB: a request of 1 MB at 18 MB/s, sixteen small requests at 53 MB/s."
            .into(),
        format!(
            "The table of concurrency is explained by 3.5 s at a queue and 9.9 s that overlap: the disk is saturated at nine sessions. \
             Two disks would halve the 3.5 s, and by the same model carry {:.0} statements a minute ({}) instead of {:.0} with \
             twelve sessions. The stripe that `had no effect` was measured with a single session.",
            halved.value,
            halved.how,
            now.value
        ),
        "The note on the interleave does not state its baseline. A scan whose requests of 1 MiB are split into rows of both disks, one \
         row after another, takes 2.8 times as long with 64 KiB as with 512 KiB, and is a quarter slower with 256 KiB, the default of \
         Storage Spaces. This layout was chosen with the 64 KiB in view, and contradicts the sequential read of CrystalDiskMark on the \
         same interleave, which was parallel: Oracle must have read in another way, which the article does not show."
            .into(),
        "Row 12 is slower than row 9, which no queue explains: the additional sessions increased the work."
            .into(),
        format!(
            "Of the storage of September 2014 only one price was read in a document: general-purpose SSD of AWS, {} USD a month for \
             100 GiB ({}). Prices of that time of Azure's page blobs and of AWS's magnetic volumes are not in the catalogue.",
            then.value,
            then.how
        ),
    ]
}
