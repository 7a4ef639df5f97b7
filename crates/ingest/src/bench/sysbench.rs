//! sysbench from 0.4 to 1.1: its file test is evidence of storage, its database tests count transactions.
//!
//! Lines are recognised by their names, which changed less than their order. Megabytes are 1,048,576 bytes, in any
//! notation. Latencies cover all events: in the file test reads, writes and flushes alike.

use plimsoll_language::label;

use super::doubts;
use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::reading::{Doubt, Fate, Offering, Origin, ReadingEvidence, ReadingScope, Setting};
use crate::refusal::{InputFault, Refusal};
use crate::text::{self, MIB};

pub(crate) const FORM: Form = Form::lines("sysbench", "sysbench", resembles, |_| Box::new(Sysbench::default()));

fn resembles(head: &Head<'_>) -> Resemblance {
    let named = head.has_any(&["sysbench ", "Running the test with following options"]);
    let marks = ["Number of threads:", "Threads started!", "Threads fairness:", "total number of events:"];
    Resemblance::is(3, head.count(&marks) >= if named { 1 } else { 2 })
}

#[derive(Default)]
struct Sysbench {
    run: SysbenchRun,
    others: usize,
}

/// Values of the current run.
#[derive(Default)]
struct SysbenchRun {
    threads: Option<f64>,
    block_bytes: Option<f64>,
    test: String,
    /// Each thread waits for its operation.
    is_synchronous: bool,
    /// Direct I/O, by the flags with which files are opened.
    direct: Option<bool>,
    origin: Option<Origin>,
    reads_s: Option<f64>,
    writes_s: Option<f64>,
    flushes_s: Option<f64>,
    bytes_s: Option<f64>,
    transactions_s: Option<f64>,
    events_s: Option<f64>,
    lasted_s: Option<f64>,
    /// Reads, writes and others, and their total per second, as before 1.0.
    performed: Option<[f64; 3]>,
    mean_s: Option<f64>,
    quantiles: Vec<(f64, f64)>,
}

impl LineFormat for Sysbench {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let text = line.trim();
        if let Some(version) = text.strip_prefix("sysbench ").and_then(|rest| rest.split_whitespace().next()) {
            out.version(version.trim_matches(|letter: char| !letter.is_ascii_digit()));
        }
        if text.starts_with("Running the test with following options") {
            self.flush(out);
        }
        self.run.line(text, number, out);
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.flush(out);
        out.require_results(match self.others {
            0 => InputFault::Unfinished { lacks: label!("statistics") },
            _ => InputFault::missing("test of files or a database", &["fileio", "an OLTP test"]),
        })
    }
}

impl SysbenchRun {
    fn line(&mut self, text: &str, number: u64, out: &mut Builder) {
        if let Some(test) = text.strip_prefix("Doing ").and_then(|rest| rest.strip_suffix(" test")) {
            test.clone_into(&mut self.test);
            return;
        }
        if let Some(size) = text.strip_prefix("Block size ") {
            self.block_bytes = text::size(size);
            return;
        }
        if let Some((rate, _)) = text.split_once(" Requests/sec executed") {
            self.events_s = text::parse_number(rate);
            return self.place(number, "Requests/sec", out);
        }
        if text.starts_with("Read ") && text.contains("Total transferred") {
            self.bytes_s = text.rsplit_once('(').and_then(|(_, rest)| text::parse_number(rest)).map(|rate| rate * MIB);
            return;
        }
        if text == "Using synchronous I/O mode" {
            self.is_synchronous = true;
            return;
        }
        let Some((name, value)) = text.split_once(':') else { return };
        match name.trim() {
            "Extra file open flags" => self.direct = Some(is_direct(value.trim())),
            "Number of threads" => self.threads = text::parse_number(value),
            "Operations performed" => self.performed = performed(value),
            "reads/s" => {
                self.reads_s = text::parse_number(value);
                self.place(number, "reads/s", out);
            }
            "writes/s" => self.writes_s = text::parse_number(value),
            "fsyncs/s" => self.flushes_s = text::parse_number(value),
            "read, MiB/s" | "written, MiB/s" => self.add_megabytes(text::parse_number(value)),
            "read" | "write" | "fsync" if value.contains("IOPS=") => {
                let rate = text::number_after(value, "IOPS=");
                *match name.trim() {
                    "read" => &mut self.reads_s,
                    "write" => &mut self.writes_s,
                    _ => &mut self.flushes_s,
                } = rate;
                let megabytes = value.split_once("IOPS=").and_then(|(_, rest)| rest.split_whitespace().nth(1));
                self.add_megabytes(megabytes.and_then(text::parse_number));
                self.place(number, "IOPS", out);
            }
            "transactions" => {
                self.transactions_s = value.split_once('(').and_then(|(_, rest)| text::parse_number(rest));
                self.place(number, "transactions", out);
            }
            "total time" | "time elapsed" => self.lasted_s = text::parse_seconds(value, 1.0),
            "total number of events" => self.place(number, "events", out),
            "avg" => self.mean_s = text::parse_seconds(value, 1e-3),
            "min" => self.quantile(0.0, value),
            "max" => self.quantile(1.0, value),
            name => {
                // `95th percentile`, or before 1.0 `approx.  95 percentile`.
                let digits = name.trim_start_matches("approx.");
                if let (true, Some(percent)) = (name.ends_with("percentile"), text::parse_number(digits)) {
                    self.quantile(percent / 100.0, value);
                }
            }
        }
    }

    fn place(&mut self, number: u64, field: &str, out: &mut Builder) {
        if self.origin.is_none() {
            self.origin = Some(out.origin(number, "", field));
        }
    }

    fn add_megabytes(&mut self, megabytes: Option<f64>) {
        if let Some(megabytes) = megabytes {
            self.bytes_s = Some(self.bytes_s.unwrap_or(0.0) + megabytes * MIB);
        }
    }

    fn quantile(&mut self, share: f64, value: &str) {
        // Zero is printed for percentiles that were not requested.
        let seconds = text::parse_seconds(value, 1e-3).filter(|seconds| *seconds > 0.0 || share == 0.0);
        if let Some(seconds) = seconds.filter(|_| self.quantiles.len() < 10) {
            self.quantiles.push((share, seconds));
        }
    }

    /// Reads, writes and flushes per second. Before 1.0 there are counts and the total rate.
    fn rates(&self) -> Option<(f64, f64, Option<f64>)> {
        if let (Some(reads), Some(writes)) = (self.reads_s, self.writes_s) {
            return Some((reads, writes, self.flushes_s));
        }
        let [reads, writes, others] = self.performed?;
        let each = self.events_s? / (reads + writes);
        let flushes = Some(others * each).filter(|flushes| flushes.is_finite());
        Some((reads * each, writes * each, flushes)).filter(|(reads, ..)| reads.is_finite())
    }
}

/// True for flags of files with direct I/O: their names since 1.0, before that their number (`O_DIRECT` of Linux).
fn is_direct(flags: &str) -> bool {
    const O_DIRECT: u32 = 0o40_000;
    flags.parse().map_or_else(|_| flags.contains("direct"), |flags: u32| flags & O_DIRECT != 0)
}

/// `6000 Read, 4000 Write, 12800 Other = 22800 Total`
fn performed(text: &str) -> Option<[f64; 3]> {
    let mut counts = text.split([',', '=']).map(text::parse_number);
    Some([counts.next()??, counts.next()??, counts.next()??])
}

impl Sysbench {
    fn flush(&mut self, out: &mut Builder) {
        let mut run = std::mem::take(&mut self.run);
        let Some(origin) = run.origin.take() else { return };
        run.quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        let scope = out.scope(ReadingScope::default());
        let blank = ReadingEvidence { lasted_s: run.lasted_s, ..ReadingEvidence::new(scope, run.test.clone(), origin) };
        match (run.rates(), run.transactions_s) {
            (Some(rates), _) => Self::files(&run, rates, blank, out),
            (None, Some(transactions)) => {
                out.evidence(ReadingEvidence {
                    test: "transactions".to_owned(),
                    setting: Setting { threads: run.threads, ..Setting::default() },
                    transactions_s: Some(transactions),
                    mean_s: run.mean_s,
                    quantiles: run.quantiles,
                    ..blank
                });
            }
            (None, None) => {
                self.others += 1;
                out.part("test of other resources", Fate::Ignored);
            }
        }
    }

    fn files(
        run: &SysbenchRun,
        (reads, writes, flushes): (f64, f64, Option<f64>),
        blank: ReadingEvidence,
        out: &mut Builder,
    ) {
        let iops = reads + writes;
        // The workload from its name: "random r/w", "sequential read", "random write".
        let setting = Setting {
            reads: Some(reads / iops).filter(|share| share.is_finite()),
            sequential: Some(run.test.starts_with("seq")).filter(|_| !run.test.is_empty()),
            block_bytes: run.block_bytes,
            depth: run.threads.filter(|_| run.is_synchronous),
            threads: run.threads,
        };
        let flushes = flushes.filter(|flushes| *flushes > 0.0);
        let mut evidence = ReadingEvidence {
            setting,
            iops: Some(iops),
            bytes_s: run.bytes_s,
            offering: Offering { direct: run.direct, ..Offering::default() },
            findings: doubts(run.direct, run.lasted_s),
            ..blank.clone()
        };
        if flushes.is_none() {
            evidence.mean_s = run.mean_s;
            evidence.quantiles.clone_from(&run.quantiles);
        } else if run.mean_s.is_some() {
            out.caution(Some(blank.origin.clone()), Doubt::MixedLatencies);
        }
        out.evidence(evidence);
        if let Some(flushes) = flushes {
            let setting = Setting { threads: run.threads, ..Setting::default() };
            out.evidence(ReadingEvidence { test: "flushes".to_owned(), setting, iops: Some(flushes), ..blank });
        }
    }
}
