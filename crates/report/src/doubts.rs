//! The findings of a curve and its runs as one list: the heaviest first, what is alike said once.

use std::cmp::Reverse;
use std::mem::{Discriminant, discriminant};

use plimsoll_record::{Curve, Finding, Run, StepWork, SuiteRun, Weight};

use crate::words;

/// A finding in words.
pub(crate) struct Doubt {
    pub weight: Weight,
    pub text: String,
    /// The runs that it holds for; `None` when it holds for all of the curve.
    pub scope: Option<String>,
    pub remedy: &'static str,
}

/// All findings. Of the same kind in several runs, the first is quoted and the others are counted.
pub(crate) fn of(curve: &Curve) -> Vec<Doubt> {
    let mut out: Vec<Doubt> =
        curve.findings.iter().map(|finding| doubt(finding, None, finding.remedy_for(&curve.source))).collect();
    let mut kinds: Vec<(Discriminant<Finding>, &Run, &Finding, u32)> = Vec::new();
    for run in &curve.runs {
        for finding in run.findings.iter().filter(|finding| !curve.findings.contains(finding)) {
            let kind = discriminant(finding);
            match kinds.iter_mut().find(|(known, ..)| *known == kind) {
                Some((.., more)) => *more += 1,
                None => kinds.push((kind, run, finding, 0)),
            }
        }
    }
    for (_, run, finding, more) in kinds {
        let pace = words::pace(&run.offered);
        let scope = match more {
            0 => pace,
            1 => format!("{pace}, and 1 more run"),
            more => format!("{pace}, and {more} more runs"),
        };
        out.push(doubt(finding, Some(scope), finding.remedy_for(&curve.source)));
    }
    out.sort_by_key(|doubt| Reverse(doubt.weight));
    out
}

/// All findings of a suite, likewise; those of steps by the step's name.
pub(crate) fn of_suite(suite: &SuiteRun) -> Vec<Doubt> {
    let mut out: Vec<Doubt> =
        suite.findings.iter().map(|finding| doubt(finding, None, finding.remedy_in_suite(&suite.source))).collect();
    let mut kinds: Vec<(Discriminant<Finding>, &str, &Finding, u32)> = Vec::new();
    for step in suite.steps.iter().filter(|step| step.counts) {
        let findings = match &step.work {
            StepWork::Io { run, .. } => &run.findings,
            StepWork::Sessions(crowd) => &crowd.run.findings,
            _ => continue,
        };
        for finding in findings {
            let kind = discriminant(finding);
            match kinds.iter_mut().find(|(known, ..)| *known == kind) {
                Some((.., more)) => *more += 1,
                None => kinds.push((kind, &step.name, finding, 0)),
            }
        }
    }
    for (_, name, finding, more) in kinds {
        let scope = if more == 0 { name.to_owned() } else { format!("{name}, and {more} more steps") };
        out.push(doubt(finding, Some(scope), finding.remedy_in_suite(&suite.source)));
    }
    out.sort_by_key(|doubt| Reverse(doubt.weight));
    out
}

fn doubt(finding: &Finding, scope: Option<String>, remedy: &'static str) -> Doubt {
    Doubt { weight: finding.weight(), text: words::finding(finding), scope, remedy }
}
