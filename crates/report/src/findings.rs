//! The findings of a curve and its runs as one list, gravest first, without repetitions.

use std::cmp::Reverse;
use std::mem::{Discriminant, discriminant};

use plimsoll_language::{label, say};
use plimsoll_record::{Curve, Finding, Run, Source, StepWork, SuiteRun, Weight};

use crate::words;

pub(crate) struct FindingText {
    pub weight: Weight,
    pub text: String,
    /// The affected runs; `None` if it applies to the whole curve.
    pub scope: Option<String>,
    pub remedy: &'static str,
}

/// All findings of a curve, with the paces of their runs.
pub(crate) fn of(curve: &Curve) -> Vec<FindingText> {
    let named = |run: &Run| words::pace(&run.offered);
    let of_runs = curve.runs.iter().flat_map(|run| run.findings.iter().map(move |finding| (named(run), finding)));
    let of_runs = of_runs.filter(|(_, finding)| !curve.findings.contains(finding));
    merged(&curve.findings, of_runs, label!("run"), |finding| finding.remedy_for(&curve.source))
}

/// Findings of compared curves that limit a verdict on them, each with the names of its curves, gravest first.
pub(crate) fn list_doubts<'a>(curves: impl Iterator<Item = &'a Curve>, names: &[String]) -> Vec<String> {
    let mut doubts: Vec<(FindingText, Vec<&str>)> = Vec::new();
    for (curve, name) in curves.zip(names) {
        for finding in of(curve).into_iter().filter(|finding| finding.weight >= Weight::Caution) {
            match doubts.iter_mut().find(|(other, _)| (&other.text, &other.scope) == (&finding.text, &finding.scope)) {
                Some((_, curves)) => curves.push(name),
                None => doubts.push((finding, vec![name])),
            }
        }
    }
    doubts.sort_by_key(|(finding, _)| Reverse(finding.weight));
    let describe = |(finding, curves): (FindingText, Vec<&str>)| {
        let scope = finding.scope.map(|scope| say!(" ({scope})")).unwrap_or_default();
        let curves =
            if curves.len() == names.len() { label!("all runs").to_owned() } else { curves.join(label!(", ")) };
        say!("{curves}: {}{scope}", finding.text)
    };
    doubts.into_iter().map(describe).collect()
}

/// All findings of a suite, with the names of their steps.
pub(crate) fn of_suite(suite: &SuiteRun) -> Vec<FindingText> {
    let of_steps = suite.steps.iter().filter(|step| step.counts).flat_map(|step| {
        let findings: &[Finding] = match &step.work {
            StepWork::Io { run, .. } => &run.findings,
            StepWork::Sessions(group) => &group.run.findings,
            _ => &[],
        };
        findings.iter().map(|finding| (step.name.clone(), finding))
    });
    merged(&suite.findings, of_steps, label!("step"), |finding| finding.remedy_in_suite(&suite.source))
}

/// Findings about the target of other jobs.
pub(crate) fn of_target(all: &[Finding], source: &Source) -> Vec<FindingText> {
    merged(all, std::iter::empty(), "", |finding| finding.remedy_in_suite(source))
}

/// Findings of the whole and of its parts. Of findings of the same kind in several parts, the first is quoted and the
/// others are counted.
fn merged<'a>(
    total: &[Finding],
    parts: impl Iterator<Item = (String, &'a Finding)>,
    part: &str,
    remedy: impl Fn(&Finding) -> &'static str,
) -> Vec<FindingText> {
    let mut kinds: Vec<(Discriminant<Finding>, String, &Finding, u32)> = Vec::new();
    for (name, finding) in parts {
        let kind = discriminant(finding);
        match kinds.iter_mut().find(|(existing, ..)| *existing == kind) {
            Some((.., more)) => *more += 1,
            None => kinds.push((kind, name, finding, 0)),
        }
    }
    let text = |finding: &Finding, scope| {
        let (weight, text) = (finding.weight(), words::finding(finding));
        FindingText { weight, text, scope, remedy: remedy(finding) }
    };
    let mut out: Vec<FindingText> = total.iter().map(|finding| text(finding, None)).collect();
    out.extend(kinds.into_iter().map(|(_, name, finding, more)| {
        let scope = match more {
            0 => name,
            1 => say!("{name}, and 1 more {part}"),
            more => say!("{name}, and {more} more {part}s"),
        };
        text(finding, Some(scope))
    }));
    out.sort_by_key(|finding| Reverse(finding.weight));
    out
}
