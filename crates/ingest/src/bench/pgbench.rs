//! pgbench, which counts transactions of PostgreSQL: a result of the database, not of its storage.

use plimsoll_language::label;

use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::reading::{Doubt, Origin, ReadingEvidence, ReadingScope, Setting};
use crate::refusal::{InputFault, Refusal};
use crate::text;

pub(crate) const FORM: Form = Form::lines("pgbench", "pgbench", resembles, |_| Box::new(Pgbench::default()));

fn resembles(head: &Head<'_>) -> Resemblance {
    let named = head.count(&["transaction type:", "scaling factor:", "query mode:", "number of clients:"]) > 1;
    Resemblance::is(3, named && head.has("tps = ")).or_near(2, named, "line `tps =`")
}

#[derive(Default)]
struct Pgbench {
    run: PgbenchRun,
}

/// Values of the current run.
#[derive(Default)]
struct PgbenchRun {
    test: String,
    threads: Option<f64>,
    lasted_s: Option<f64>,
    mean_s: Option<f64>,
    /// With and without connection time; the latter is used.
    including: Option<(f64, Origin)>,
    excluding: Option<(f64, Origin)>,
    /// Per-script sections follow, with equal line names.
    is_script: bool,
}

impl LineFormat for Pgbench {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let text = line.trim();
        if let Some(test) = text.strip_prefix("transaction type:") {
            self.flush(out);
            test.trim().clone_into(&mut self.run.test);
        } else if text.starts_with("SQL script ") {
            self.run.is_script = true;
        } else if !self.run.is_script {
            self.run.line(text, number, out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.flush(out);
        out.require_results(InputFault::Unfinished { lacks: label!("line `tps =` with a number") })
    }
}

impl PgbenchRun {
    fn line(&mut self, text: &str, number: u64, out: &mut Builder) {
        let Some((name, value)) = text.split_once([':', '=']) else { return };
        match name.trim() {
            "number of clients" => self.threads = text::parse_number(value),
            "duration" => self.lasted_s = text::parse_number(value),
            "latency average" => self.mean_s = text::parse_seconds(value, 1e-3),
            "tps" => {
                let origin = out.origin(number, "", "tps");
                let Some(tps) = text::parse_number(value) else {
                    return out.caution(Some(origin), Doubt::NotANumber { value: label!("the rate") });
                };
                let with = value.contains("including");
                *if with { &mut self.including } else { &mut self.excluding } = Some((tps, origin));
            }
            _ => {}
        }
    }
}

impl Pgbench {
    fn flush(&mut self, out: &mut Builder) {
        let run = std::mem::take(&mut self.run);
        let Some((tps, origin)) = run.excluding.or(run.including) else { return };
        let scope = out.scope(ReadingScope::default());
        out.evidence(ReadingEvidence {
            setting: Setting { threads: run.threads, ..Setting::default() },
            transactions_s: Some(tps),
            mean_s: run.mean_s,
            lasted_s: run.lasted_s.filter(|seconds| *seconds > 0.0),
            ..ReadingEvidence::new(scope, run.test, origin)
        });
    }
}
