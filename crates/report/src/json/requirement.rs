//! A requirement of a product, checked on storage.

use std::sync::Arc;

use plimsoll_catalogue::{Cite, JudgedCondition, ObservedFigure, RequiredUnit, Requirement};

use super::each;
use crate::pages::CheckedRequirement;
use crate::pages::requirement::{undecided_reason, verdict_word};

view! {
    /// The built-in requirements.
    struct Requirements from all: &[Requirement] {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.requirements/1"))]
        format: &'static str = "plimsoll.requirements/1",
        /// The requirements.
        requirements: Vec<RequirementSummary> = each(all),
    }

    /// A requirement of a product.
    struct RequirementSummary from requirement: &Requirement {
        /// Name of the requirement.
        name: String = requirement.name.clone(),
        /// Name of the product.
        title: String = requirement.title.clone(),
        /// The requirement in a sentence.
        about: String = requirement.about.clone(),
        /// Source of the jobs.
        source: Arc<Cite> = Arc::clone(&requirement.cite),
    }

    /// A requirement of a product, checked on storage.
    struct RequirementCheck from checked: &CheckedRequirement<'_> {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.requirement-check/1"))]
        format: &'static str = "plimsoll.requirement-check/1",
        /// Name of the requirement, or path of its file.
        requirement: String = checked.requirement.name.clone(),
        /// Name of the product.
        title: String = checked.requirement.title.clone(),
        /// The requirement in a sentence.
        about: String = checked.requirement.about.clone(),
        /// The storage, as named by the user.
        target: String = checked.target.to_owned(),
        /// Description of the storage.
        storage: String = checked.storage.clone(),
        /// Origin of the figures: `measured`, `simulated` or `emulated`.
        origin: &'static str = checked.origin,
        /// `met`, `not met` or `undecided`.
        verdict: &'static str = verdict_word(checked.verdict()),
        /// Number of runs, complete or not.
        runs: usize = checked.runs,
        /// The conditions.
        conditions: Vec<CheckedCondition> = each(checked.conditions),
        /// Reasons for an early end.
        failures: Vec<String> = checked.failures.to_vec(),
        /// Choices that the source of the requirement leaves open.
        assumptions: Vec<String> = checked.requirement.assumptions.clone(),
        /// Limitations of the figures.
        cautions: Vec<String> = checked.cautions.clone(),
        /// The jobs in fio's language.
        jobs: String = checked.requirement.jobs.clone(),
        /// Source of the jobs.
        source: Arc<Cite> = Arc::clone(&checked.requirement.cite),
    }

    /// A condition on the result of the jobs.
    struct CheckedCondition from judged: &JudgedCondition<'_> {
        /// The limited figure, as in files of requirements: `write iops`, `sync p99`.
        figure: String = judged.condition.figure.to_string(),
        /// Name of the job that it is taken from; null for the sum over all jobs.
        job: Option<String> = judged.condition.job.clone(),
        /// Unit of the bound and the values: `IOPS`, `bytes/s` or `ns`.
        unit: &'static str = unit_name(judged.condition.figure.unit()),
        /// `minimum` or `maximum`.
        limit: &'static str = limit_name(judged.condition.figure.unit()),
        /// The limit.
        bound: u64 = judged.condition.bound,
        /// The median of the runs; null without such operations.
        value: Option<f64> = judged.median().map(|figure| figure.value),
        /// The median relative to the bound; null without such operations.
        ratio: Option<f64> = judged.ratio(),
        /// The figure of each run; null without such operations.
        figures: Vec<Option<RunFigure>> =
            judged.observed.iter().map(|figure| figure.as_ref().map(RunFigure::from)).collect(),
        /// `met`, `not met` or `undecided`.
        verdict: &'static str = verdict_word(judged.verdict),
        /// Why it is undecided; null for other verdicts.
        reason: Option<String> = undecided_reason(judged),
        /// Source of the limit.
        source: Arc<Cite> = Arc::clone(&judged.condition.cite),
    }

    /// The figure of a run.
    struct RunFigure from figure: &ObservedFigure {
        /// The value.
        value: f64 = figure.value,
        /// Operations that it was computed from.
        operations: u64 = figure.operations,
    }
}

const fn unit_name(unit: RequiredUnit) -> &'static str {
    match unit {
        RequiredUnit::Iops => "IOPS",
        RequiredUnit::BytesPerSecond => "bytes/s",
        RequiredUnit::Nanoseconds => "ns",
    }
}

const fn limit_name(unit: RequiredUnit) -> &'static str {
    match unit {
        RequiredUnit::Iops | RequiredUnit::BytesPerSecond => "minimum",
        RequiredUnit::Nanoseconds => "maximum",
    }
}
