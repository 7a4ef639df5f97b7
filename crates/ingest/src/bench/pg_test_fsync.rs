//! `pg_test_fsync` of PostgreSQL: synchronous writes of a single process, by method.

use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::reading::{ReadingEvidence, ReadingScope, Setting};
use crate::refusal::Refusal;
use crate::text;

/// `pg_test_fsync`.
pub(crate) const FORM: Form =
    Form::lines("pg-test-fsync", "pg_test_fsync", resembles, |_| Box::new(FsyncTest::default()));

fn resembles(head: &Head<'_>) -> Resemblance {
    let titled = head.has("Compare file sync methods using ");
    Resemblance::is(6, titled && head.has("ops/sec")).or_near(2, titled, "line with ops/sec")
}

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
            self.lasted_s = text::number(text);
        } else if let Some((name, rate)) = text.split_once("  ").filter(|_| text.contains("ops/sec")) {
            let origin = out.origin(number, &self.title, name);
            let Some((rate, rest)) = text::leading(rate) else {
                out.caution(Some(origin), "no rate: skipped");
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
                mean_s: text::number_after(rest, "ops/sec").map(|us| us / 1e6),
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
        out.require_results("no method has a rate: provide the output of a finished run")
    }
}

/// The bytes in a name: `one 8kB write`, `2 *  8kB open_sync writes`. PostgreSQL's kB are 1,024 bytes.
fn block(name: &str) -> Option<f64> {
    let word = name.split(' ').find_map(|word| word.strip_suffix("kB"))?;
    word.parse::<f64>().ok().map(|kilobytes| kilobytes * text::KIB)
}
