//! `HammerDB`, which counts transactions of a database per minute: a result of the database, not of its storage.

use plimsoll_language::label;

use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::reading::{ReadingEvidence, ReadingScope, Setting};
use crate::refusal::{InputFault, Refusal};
use crate::text;

/// `HammerDB`.
pub(crate) const FORM: Form = Form::lines("hammerdb", "HammerDB", resembles, |_| Box::new(Hammer::default()));

fn resembles(head: &Head<'_>) -> Resemblance {
    let count = head.count(&["HammerDB", "Vuser 1:", "Virtual Users Created", "TEST RESULT :"]);
    let near = head.has_any(&["HammerDB", "TEST RESULT :"]);
    Resemblance::is(3, count > 1).or_near(1, near, "line of a virtual user (`Vuser 1:`)")
}

#[derive(Default)]
struct Hammer {
    users: Option<f64>,
    minutes: Option<f64>,
}

impl LineFormat for Hammer {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if let Some(version) = line.split_once("HammerDB CLI v").and_then(|(_, rest)| rest.split_whitespace().next()) {
            out.version(version);
        } else if let Some((_, rest)) = line.split_once("Timing test period of") {
            self.minutes = text::parse_number(rest);
        } else if line.contains("Active Virtual Users configured") {
            self.users = line.rsplit_once(':').and_then(|(_, rest)| text::parse_number(rest));
        } else if let Some((_, result)) = line.split_once("TEST RESULT") {
            self.result(result, number, out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        out.require_results(InputFault::Unfinished { lacks: label!("line `TEST RESULT : System achieved`") })
    }
}

impl Hammer {
    /// `: System achieved 11 NOPM from 25 MySQL TPM`, or before 4.0 `: System achieved 25 MySQL TPM at 11 NOPM`.
    fn result(&self, text: &str, number: u64, out: &mut Builder) {
        let tokens: Vec<&str> = text.split_whitespace().collect();
        let before = |unit: &str| {
            let at = tokens.iter().position(|word| word.trim_end_matches('.') == unit)?;
            tokens[..at].iter().rev().find_map(|word| text::parse_number(word))
        };
        let lasted_s = self.minutes.map(|minutes| minutes * 60.0);
        let scope = out.scope(ReadingScope::default());
        for (unit, test) in [("TPM", "transactions of the database"), ("NOPM", "new orders")] {
            let Some(minute) = before(unit) else { continue };
            let origin = out.origin(number, "TEST RESULT", unit);
            out.evidence(ReadingEvidence {
                setting: Setting { threads: self.users, ..Setting::default() },
                transactions_s: Some(minute / 60.0),
                lasted_s,
                ..ReadingEvidence::new(scope, test, origin)
            });
        }
    }
}
