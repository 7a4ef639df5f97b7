//! Outcomes of gates as XML of `JUnit`, which CI servers show as tests.

use maud::html;
use plimsoll_choose::{Gate, GateOutcome};

use crate::words::gate_outcome;

/// A condition on a result, and its outcome.
#[derive(Clone, Debug)]
pub struct JudgedGate<'a> {
    /// The result: a run, a comparison or a configuration.
    pub subject: String,
    pub gate: &'a Gate,
    pub outcome: GateOutcome,
}

/// A sizing without a configuration that carries the demand as fast as today's storage.
#[derive(Clone, Debug)]
pub struct Shortfall {
    pub reason: String,
    /// True if no configuration carries it at all, so that conditions have nothing to decide on.
    pub is_undetermined: bool,
}

/// Number of failures and of undetermined outcomes.
pub fn count_outcomes(judged: &[JudgedGate<'_>], shortfall: Option<&Shortfall>) -> [usize; 2] {
    let count = |is: fn(&GateOutcome) -> bool| judged.iter().filter(|one| is(&one.outcome)).count();
    let is_short = |is_undetermined| shortfall.is_some_and(|one| one.is_undetermined == is_undetermined);
    [
        count(|outcome| matches!(outcome, GateOutcome::Failed(_))) + usize::from(is_short(false)),
        count(|outcome| matches!(outcome, GateOutcome::Unknown(_))) + usize::from(is_short(true)),
    ]
}

/// Renders XML of `JUnit`: a failed condition is a failure, an undetermined one an error. A shortfall is a test of its own.
pub fn junit(judged: &[JudgedGate<'_>], shortfall: Option<&Shortfall>) -> String {
    let [failures, errors] = count_outcomes(judged, shortfall);
    let text = |one: &JudgedGate<'_>| gate_outcome(one.gate, &one.outcome);
    let tests = judged.len() + usize::from(shortfall.is_some());
    let suites = html! {
        testsuites {
            testsuite name="plimsoll" tests=(tests) failures=(failures) errors=(errors) {
                @for one in judged {
                    testcase classname=(one.subject) name={ "not " (one.gate) } {
                        @match one.outcome {
                            GateOutcome::Passed(_) => system-out { (text(one)) },
                            GateOutcome::Failed(_) => failure message=(text(one)) {},
                            GateOutcome::Unknown(_) => error message=(text(one)) {},
                        }
                    }
                }
                @if let Some(Shortfall { reason, is_undetermined }) = shortfall {
                    testcase classname="plimsoll" name="carried as fast as today" {
                        @if *is_undetermined { error message=(reason) {} } @else { failure message=(reason) {} }
                    }
                }
            }
        }
    };
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", suites.0)
}

/// Renders a command that failed before its conditions could be judged: an error of each, as the figures do not exist.
pub fn junit_of_error(gates: &[Gate], message: &str) -> String {
    let suites = html! {
        testsuites {
            testsuite name="plimsoll" tests=(gates.len()) failures="0" errors=(gates.len()) {
                @for gate in gates {
                    testcase classname="plimsoll" name={ "not " (gate) } { error message=(message) {} }
                }
            }
        }
    };
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", suites.0)
}

#[cfg(test)]
mod tests {
    use plimsoll_choose::GateGap;
    use plimsoll_record::Estimate;

    use super::*;

    #[test]
    fn failures_and_errors_are_counted_and_escaped() {
        let gate: Gate = "line < 20k".parse().expect("it is a condition");
        let judge = |iops: f64| gate.judge(Estimate::bare(iops));
        let outcomes = [judge(18_300.0), GateOutcome::Unknown(GateGap::NoLine), judge(21_000.0)];
        let judged = outcomes.map(|outcome| JudgedGate { subject: "a & b".into(), gate: &gate, outcome });
        let xml = junit(&judged, None);
        assert!(xml.contains(r#"tests="3" failures="1" errors="1""#), "{xml}");
        let failed =
            r#"<testcase classname="a &amp; b" name="not line &lt; 20k"><failure message="failed, line &lt; 20k: "#;
        assert!(xml.contains(failed), "{xml}");
        assert!(
            xml.contains(r#"<error message="undetermined, line &lt; 20k: the run has no load line"></error>"#),
            "{xml}"
        );
    }
}
