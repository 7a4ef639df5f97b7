//! Results of SLOB, a row for each run, and of pgio, its sibling for PostgreSQL: points of a curve.
//!
//! Latencies of the table are microseconds; megabytes are 1,048,576 bytes.

use super::part;
use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::reading::{Doubt, Fate, ReadingEvidence, Setting};
use crate::refusal::{InputFault, Refusal};
use crate::text::{self, MIB};

/// SLOB and pgio.
pub(crate) const FORM: Form = Form::lines("slob", "SLOB or pgio results", resembles, |_| Box::new(Slob::default()));

fn resembles(head: &Head<'_>) -> Resemblance {
    let table = head.has("FILE|SESSIONS|") && head.has("|PREADS|");
    let settings = head.has("UPDATE_PCT=") && head.has("WORK_UNIT=");
    let is = Resemblance::is(3, table || head.has("RIOPS >") && head.has("CACHE_HITS/s >"));
    is.or_near(2, settings, "table of results: these are its settings")
}

#[derive(Default)]
struct Slob {
    /// Column names, once known.
    columns: Vec<String>,
    broken: u64,
}

impl LineFormat for Slob {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if line.starts_with("FILE|SESSIONS|") {
            self.columns = line.split('|').map(|name| name.trim().to_owned()).collect();
        } else if line.contains("RIOPS >") {
            self.pgio(line, number, out);
        } else if !self.columns.is_empty() && line.contains('|') {
            self.row(line, number, out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        out.require_results(InputFault::missing("row", &["awr_info.sh with the reports"]))?;
        if self.broken > 0 {
            out.part("rows", Fate::Broken);
        }
        Ok(())
    }
}

impl Slob {
    fn row(&mut self, line: &str, number: u64, out: &mut Builder) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let cell = |name: &str| {
            let column = self.columns.iter().position(|column| column == name)?;
            text::parse_number(cells.get(column)?)
        };
        let run = cells[0].to_owned();
        let (Some(reads), Some(writes)) = (cell("PREADS"), cell("PWRITES")) else {
            self.broken += 1;
            let origin = out.origin(number, "", &run);
            return out.caution(Some(origin), Doubt::lacking("a row", "reads and writes"));
        };
        let iops = reads + writes;
        // Zero is printed if the report had no such event.
        let micros = |name: &str| cell(name).filter(|micros| *micros > 0.0).map(|micros| micros * 1e-6);
        let megabytes = |name: &str| cell(name).map(|megabytes| megabytes * MIB);
        let threads = cell("SESSIONS").filter(|sessions| *sessions > 0.0);
        let lasted_s = cell("ELAPSED").filter(|seconds| *seconds > 0.0);
        let data = Setting {
            reads: Some(reads / iops).filter(|share| share.is_finite()),
            sequential: Some(false),
            threads,
            ..Setting::default()
        };
        let bytes_s = megabytes("READ_MBS").zip(megabytes("WRITE_MBS")).map(|(reads, writes)| reads + writes);
        let mean_s = micros("DFSR_LAT");
        let redo = (megabytes("REDO_MBS"), micros("LFPW_LAT"));
        let scope = part(out, "");
        let origin = out.origin(number, "", &run);
        out.evidence(ReadingEvidence {
            setting: data,
            iops: Some(iops),
            bytes_s,
            mean_s,
            lasted_s,
            ..ReadingEvidence::new(scope, format!("{run}: data files, latency of reads"), origin.clone())
        });
        if let (Some(bytes_s), mean_s) = redo {
            let setting = Setting { reads: Some(0.0), sequential: Some(true), threads, ..Setting::default() };
            let redo = ReadingEvidence {
                setting,
                bytes_s: Some(bytes_s),
                mean_s,
                lasted_s,
                ..ReadingEvidence::new(scope, "", origin)
            };
            out.evidence(ReadingEvidence { test: format!("{run}: redo"), ..redo });
        }
    }

    /// `DBNAME: pg10. 4 schemas, 2 threads(each). Run time: 120 seconds. RIOPS >74097< CACHE_HITS/s >2799<`
    fn pgio(&mut self, line: &str, number: u64, out: &mut Builder) {
        let origin = out.origin(number, "", "RIOPS");
        let Some(iops) = text::number_after(line, "RIOPS >") else {
            self.broken += 1;
            return out.caution(Some(origin), Doubt::lacking("RIOPS", "a number"));
        };
        let before = |word: &str| {
            let text = line.split_once(word)?.0.trim_end();
            text::parse_number(text.rsplit(|letter: char| !letter.is_ascii_digit()).next()?)
        };
        let threads = before("schemas").zip(before("threads")).map(|(schemas, threads)| schemas * threads);
        let scope = part(out, "");
        out.caution_once(None, Doubt::PageCache);
        out.evidence(ReadingEvidence {
            setting: Setting { sequential: Some(false), threads, ..Setting::default() },
            iops: Some(iops),
            lasted_s: text::number_after(line, "Run time:").filter(|seconds| *seconds > 0.0),
            ..ReadingEvidence::new(scope, "pgio: reads", origin)
        });
    }
}
