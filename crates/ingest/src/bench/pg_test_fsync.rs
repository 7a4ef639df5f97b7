//! `pg_test_fsync` of `PostgreSQL`: synchronous writes of a single process, by method. A rate counts the tool's operations:
//! a group of writes that is durable at its end.

use plimsoll_language::label;

use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::reading::{Doubt, Fate, ReadingEvidence, ReadingScope, Setting};
use crate::refusal::{InputFault, Refusal};
use crate::text;
use crate::text::table::spaced;

/// `pg_test_fsync`.
pub(crate) const FORM: Form =
    Form::lines("pg-test-fsync", "pg_test_fsync", resembles, |_| Box::new(FsyncTest::default()));

fn resembles(head: &Head<'_>) -> Resemblance {
    let titled = head.has("Compare file sync methods using ");
    Resemblance::is(6, titled && head.has("ops/sec")).or_near(2, titled, "line with ops/sec")
}

/// The title of writes that only reach the page cache, no evidence about storage.
const BUFFERED: &str = "Non-sync";

#[derive(Default)]
struct FsyncTest {
    /// The title of the current tests.
    title: String,
    block_bytes: Option<f64>,
    lasted_s: Option<f64>,
}

impl LineFormat for FsyncTest {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let text = line.trim();
        if text.ends_with("per test") {
            self.lasted_s = text::parse_number(text);
        } else if let Some((before, after)) = text.split_once("ops/sec") {
            // Names may have runs of blanks: `2 *  8kB open_sync writes`.
            let (name, rate) = before.trim_end().rsplit_once(' ').unwrap_or_default();
            let name = &spaced(name);
            let origin = out.origin(number, &self.title, name);
            if self.title.starts_with(BUFFERED) {
                out.part(self.title.as_str(), Fate::Ignored);
                return Ok(());
            }
            let Some(rate) = text::parse_decimal(rate) else {
                out.caution(Some(origin), Doubt::NotANumber { value: label!("the rate") });
                return Ok(());
            };
            let scope = out.scope(ReadingScope::default());
            let setting = Setting {
                reads: Some(0.0),
                block_bytes: block(name).or(self.block_bytes),
                depth: Some(1.0),
                threads: Some(1.0),
                ..Setting::default()
            };
            out.evidence(ReadingEvidence {
                setting,
                iops: Some(rate),
                mean_s: text::parse_number(after).map(|us| us / 1e6),
                lasted_s: self.lasted_s,
                ..ReadingEvidence::new(scope, format!("{}: {name}", self.title), origin)
            });
        } else if let Some(title) = text.strip_suffix(':').filter(|title| !title.starts_with('(')) {
            title.clone_into(&mut self.title);
            // Of two writes, both are durable by a single command.
            self.block_bytes = block(title);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        out.require_results(InputFault::Unfinished { lacks: label!("method with a rate") })
    }
}

/// The bytes in a name: `one 8kB write`, `2 *  8kB open_sync writes`. PostgreSQL's kB are 1,024 bytes.
fn block(name: &str) -> Option<f64> {
    let word = name.split(' ').find_map(|word| word.strip_suffix("kB"))?;
    word.parse::<f64>().ok().map(|kilobytes| kilobytes * text::KIB)
}
