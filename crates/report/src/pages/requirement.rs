//! A requirement of a product, checked on storage.

use plimsoll_catalogue::{
    Cite, JudgedCondition, RequiredFigure, RequiredOps, RequiredUnit, Requirement, RequirementCondition,
    RequirementVerdict, TimeStatistic, TimedOps, Undecided,
};
use plimsoll_language::{label, say};

use crate::number;
use crate::page::{Block, Cell, Column, ColumnKind, Emphasis, Fact, Headline, Page, PageSection, Table};
use crate::words::clean;
use crate::words::offer::{product_text, source};

/// A requirement with the verdicts on its conditions.
#[derive(Clone, Debug)]
pub struct CheckedRequirement<'a> {
    pub requirement: &'a Requirement,
    /// The storage, as named by the user.
    pub target: &'a str,
    pub storage: String,
    /// Origin of the figures: `measured`, `simulated` or `emulated`.
    pub origin: &'static str,
    /// Number of runs, complete or not.
    pub runs: usize,
    /// The conditions in order, at least one.
    pub conditions: &'a [JudgedCondition<'a>],
    /// Reasons for an early end, a line each.
    pub failures: &'a [String],
    /// Limitations of the figures, a sentence each.
    pub cautions: Vec<String>,
}

impl CheckedRequirement<'_> {
    /// The verdict on all conditions.
    pub fn verdict(&self) -> RequirementVerdict {
        self.deciding().verdict
    }

    /// The condition that decides: the first failed, else the first undecided, else the one nearest to its bound.
    fn deciding(&self) -> &JudgedCondition<'_> {
        let is_failed = |judged: &&JudgedCondition<'_>| judged.verdict == RequirementVerdict::Failed;
        let is_undecided = |judged: &&JudgedCondition<'_>| judged.verdict != RequirementVerdict::Met;
        let failed = self.conditions.iter().find(is_failed);
        let undecided = || self.conditions.iter().find(is_undecided);
        let nearest = || self.conditions.iter().max_by(|a, b| use_of(a).total_cmp(&use_of(b)));
        failed.or_else(undecided).or_else(nearest).expect("a requirement has a condition")
    }
}

/// Share of the bound in use: 1 at the bound, less for a condition that is met.
fn use_of(judged: &JudgedCondition<'_>) -> f64 {
    let ratio = judged.ratio().unwrap_or(f64::INFINITY);
    if is_maximum(judged.condition) { ratio } else { 1.0 / ratio }
}

fn is_maximum(condition: &RequirementCondition) -> bool {
    condition.figure.unit() == RequiredUnit::Nanoseconds
}

/// The verdict, each condition with its figure, and the sources.
pub fn checked_requirement(checked: &CheckedRequirement<'_>) -> Page {
    let requirement = checked.requirement;
    let cites = checked.conditions.iter().map(|judged| &*judged.condition.cite);
    let cites = std::iter::once(&*requirement.cite).chain(cites);
    let failures = checked.failures.iter().map(|line| Fact::caution(label!("ended"), clean(line)));
    let sections = vec![
        PageSection::bare(label!("Conditions"), vec![Block::Table(condition_table(checked))]),
        PageSection::bare(label!("Problems"), vec![Block::Facts(failures.collect())]),
        PageSection::folded(label!("Sources"), vec![Block::Facts(source_facts(cites))]),
        PageSection::detail(label!("Jobs"), vec![Block::Listing(requirement.jobs.trim().to_owned())]),
    ];
    let runs = if checked.runs == 1 { label!("1 run").to_owned() } else { say!("{} runs", checked.runs) };
    Page {
        title: say!("Requirement of {} on {}", product_text(&requirement.title), clean(checked.target)),
        subject: vec![say!("{}: {}; {runs}", clean(checked.target), clean(&checked.storage))],
        headline: Some(Headline {
            text: verdict_sentence(checked),
            cautions: requirement.assumptions.iter().chain(&checked.cautions).map(|text| product_text(text)).collect(),
            ..Headline::default()
        }),
        origin: checked.origin,
        figures: vec![
            Fact::new(label!("storage"), say!("{}, {runs}", clean(&checked.storage))),
            Fact::new(label!("requires"), product_text(&requirement.about)),
            Fact::new(label!("source"), source(&requirement.cite)),
        ],
        sections,
        next: vec![(label!("its file").to_owned(), format!("plimsoll check {}", requirement.name))],
        ..Page::default()
    }
}

/// Each source once, with its URL.
fn source_facts<'a>(cites: impl Iterator<Item = &'a Cite>) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for cite in cites {
        let fact = Fact::new(label!("source"), source(cite)).with_remark(clean(&cite.url));
        let fact = fact.with_remark(product_text(&cite.note));
        if !facts.iter().any(|other| other.text == fact.text && other.remarks == fact.remarks) {
            facts.push(fact);
        }
    }
    facts
}

/// The verdict in at most 25 words.
fn verdict_sentence(checked: &CheckedRequirement<'_>) -> String {
    let deciding = checked.deciding();
    let condition = deciding.condition;
    let title = product_text(&checked.requirement.title);
    let verdict = match deciding.verdict {
        RequirementVerdict::Met => label!("is met"),
        RequirementVerdict::Failed => label!("is not met"),
        RequirementVerdict::Undecided(why) => {
            return say!("{title}'s requirement is undecided: {}", reason(condition, why));
        }
    };
    let value = deciding.median().map(|figure| format_value(condition, figure.value)).unwrap_or_default();
    let observed = match condition.figure {
        RequiredFigure::Time(of, TimeStatistic::Percentile(thousandths)) => {
            say!("{} % of {} within {value}", f64::from(thousandths) / 1e3, timed_name(of))
        }
        RequiredFigure::Time(of, TimeStatistic::Mean) => say!("{} take {value} on average", timed_name(of)),
        RequiredFigure::Iops(_) | RequiredFigure::Bandwidth(_) => format!("{value}{}", of_operations(condition)),
    };
    say!("{title}'s requirement {verdict}: {observed}, {} required", bound(condition))
}

/// ` of reads`, or empty for all operations.
fn of_operations(condition: &RequirementCondition) -> &'static str {
    match condition.figure {
        RequiredFigure::Iops(RequiredOps::Reads) | RequiredFigure::Bandwidth(RequiredOps::Reads) => label!(" of reads"),
        RequiredFigure::Iops(RequiredOps::Writes) | RequiredFigure::Bandwidth(RequiredOps::Writes) => {
            label!(" of writes")
        }
        _ => "",
    }
}

fn timed_name(of: TimedOps) -> &'static str {
    match of {
        TimedOps::Reads => label!("reads"),
        TimedOps::Writes => label!("writes"),
        TimedOps::Flushes => label!("flushes"),
    }
}

/// `at most 10 ms`, `at least 3,000 IOPS`.
fn bound(condition: &RequirementCondition) -> String {
    let side = if is_maximum(condition) { label!("at most") } else { label!("at least") };
    format!("{side} {}", format_value(condition, condition.bound as f64))
}

fn format_value(condition: &RequirementCondition, value: f64) -> String {
    match condition.figure.unit() {
        RequiredUnit::Iops => format!("{} IOPS", number::integer(value)),
        RequiredUnit::BytesPerSecond => number::throughput(value),
        RequiredUnit::Nanoseconds => number::time(value),
    }
}

/// Why a condition is undecided.
fn reason(condition: &RequirementCondition, why: Undecided) -> String {
    match why {
        Undecided::EndedEarly => label!("the measurement ended early").to_owned(),
        Undecided::Invalid => label!("its figures do not describe storage").to_owned(),
        Undecided::NoOperations => say!("no operations for {}", figure_name(condition)),
        Undecided::RunsDiffer => say!("{} is near {}, and runs differ", figure_name(condition), bound(condition)),
        Undecided::FewOperations { count } => {
            let behind = match condition.figure {
                RequiredFigure::Time(of, TimeStatistic::Percentile(thousandths)) => {
                    say!("{} beyond p{}", timed_name(of), f64::from(thousandths) / 1e3)
                }
                _ => say!("operations for {}", figure_name(condition)),
            };
            say!("only {count} {behind}, at least 100 are necessary")
        }
    }
}

/// `p99 of flushes`, `IOPS of reads (random)`.
fn figure_name(condition: &RequirementCondition) -> String {
    let name = match condition.figure {
        RequiredFigure::Iops(_) => format!("IOPS{}", of_operations(condition)),
        RequiredFigure::Bandwidth(_) => say!("throughput{}", of_operations(condition)),
        RequiredFigure::Time(of, TimeStatistic::Mean) => say!("mean of {}", timed_name(of)),
        RequiredFigure::Time(of, TimeStatistic::Percentile(thousandths)) => {
            say!("p{} of {}", f64::from(thousandths) / 1e3, timed_name(of))
        }
    };
    condition.job.as_ref().map_or(name.clone(), |job| format!("{name} ({})", clean(job)))
}

pub(crate) fn verdict_word(verdict: RequirementVerdict) -> &'static str {
    match verdict {
        RequirementVerdict::Met => label!("met"),
        RequirementVerdict::Failed => label!("not met"),
        RequirementVerdict::Undecided(_) => label!("undecided"),
    }
}

/// Why a verdict is undecided; `None` for others.
pub(crate) fn undecided_reason(judged: &JudgedCondition<'_>) -> Option<String> {
    match judged.verdict {
        RequirementVerdict::Undecided(why) => Some(reason(judged.condition, why)),
        RequirementVerdict::Met | RequirementVerdict::Failed => None,
    }
}

fn condition_table(checked: &CheckedRequirement<'_>) -> Table {
    let emphasis = |verdict| match verdict {
        RequirementVerdict::Met => Emphasis::Plain,
        RequirementVerdict::Failed => Emphasis::Void,
        RequirementVerdict::Undecided(_) => Emphasis::Caution,
    };
    let share = |name| Column::new(name, "", ColumnKind::Share, 0);
    let table = Table::rows(label!("Conditions"), checked.conditions)
        .column(Column::text(label!("condition"), 0), |judged| {
            Cell::text(figure_name(judged.condition)).with_emphasis(emphasis(judged.verdict))
        })
        .column(share(label!("required")), |judged| {
            Cell::figure(bound(judged.condition), judged.condition.bound as f64)
        })
        .column(share(checked.origin), |judged| {
            Cell::or_unknown(judged.median(), |figure| {
                Cell::figure(format_value(judged.condition, figure.value), figure.value)
            })
        })
        .column(share(label!("ratio")), |judged| Cell::or_unknown(judged.ratio(), Cell::three))
        .column(Column::text(label!("verdict"), 0), |judged| verdict_word(judged.verdict))
        .column(Column::text(label!("source"), 1), |judged| source(&judged.condition.cite));
    let reasons = checked.conditions.iter().filter_map(undecided_reason);
    let is_below = checked.conditions.iter().any(JudgedCondition::is_met_below_bound);
    let below = is_below.then(|| label!("a rate of at least 99 % of its limit counts as met").to_owned());
    let median = (checked.runs > 1).then(|| say!("median of {} runs, as the first was near a limit", checked.runs));
    table.table().with_notes(reasons.chain(below).chain(median))
}

/// The requirements with their names.
pub fn requirements(all: &[Requirement]) -> Page {
    let table = Table::rows(label!("Requirements"), all)
        .column(Column::text(label!("name"), 0), |requirement| requirement.name.as_str())
        .column(Column::text(label!("product"), 1), |requirement| product_text(&requirement.title))
        .column(Column::text(label!("requires"), 0), |requirement| product_text(&requirement.about))
        .column(Column::text(label!("source"), 2), |requirement| source(&requirement.cite))
        .table();
    Page {
        next: vec![(label!("check").to_owned(), "plimsoll check etcd .".to_owned())],
        ..Page::of_table(table, label!("no requirements"))
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_catalogue::{ObservedFigure, RunValidity, built_in_requirements, judge_all, parse_requirement};

    use super::*;
    use crate::{TextStyle, page_summary};

    /// The summary of a built-in requirement whose figures are `share` of their bounds in `runs` runs.
    fn summary(name: &str, share: f64, runs: usize, validity: RunValidity) -> String {
        let (_, text) = built_in_requirements().find(|(own, _)| *own == name).unwrap();
        let requirement = parse_requirement(name, text).unwrap();
        let observed = requirement.conditions.iter().map(|condition| {
            let value = condition.bound as f64 * share;
            Some(ObservedFigure { value, operations: 10_029 })
        });
        let run: Vec<_> = observed.collect();
        let conditions = judge_all(&requirement, &vec![run; runs], validity);
        let checked = CheckedRequirement {
            requirement: &requirement,
            target: "/var/lib/storage",
            storage: "directory, 26.8 GiB; virtio_blk (vda), 256 GiB".into(),
            origin: "measured",
            runs,
            conditions: &conditions,
            failures: &["wal: err=28/No space left on device".into()],
            cautions: vec!["tmpfs keeps its data in memory: the figures describe that, not storage".into(); 3],
        };
        let text = page_summary(&checked_requirement(&checked), "--details", &TextStyle::default());
        assert!(text.lines().count() <= 24, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(verdict_sentence(&checked).split_whitespace().count() <= 25, "{}", verdict_sentence(&checked));
        text
    }

    #[test]
    fn verdict_is_the_first_sentence_in_a_screen() {
        use RunValidity::{EndedEarly, Valid, Void};
        let check = |name: &str, share: f64, validity, expected: &str| {
            let text = summary(name, share, 1, validity).split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(expected), "{text}");
        };
        let met = "etcd's requirement is met: 99 % of flushes within 2.1 ms, at most 10 ms required - measured";
        check("etcd", 0.21, Valid, met);
        check(
            "etcd",
            2.0,
            Valid,
            "etcd's requirement is not met: 99 % of flushes within 20 ms, at most 10 ms required",
        );
        check("etcd", 0.21, EndedEarly, "etcd's requirement is undecided: the measurement ended early - measured");
        check("etcd", 0.21, Void, "etcd's requirement is undecided: its figures do not describe storage - measured");
        let failed = "HashiCorp Vault's requirement is not met: 1,500 IOPS, at least 3,000 IOPS required - measured";
        check("vault", 0.5, Valid, failed);
        check("gitaly", 2.0, Valid, "is met: 4,000 IOPS of writes, at least 2,000 IOPS required");
    }

    #[test]
    fn each_summary_fits_a_screen() {
        for (name, _) in built_in_requirements() {
            for (share, runs) in [(0.5, 1), (0.995, 3), (2.0, 1)] {
                for validity in [RunValidity::Valid, RunValidity::EndedEarly, RunValidity::Void] {
                    summary(name, share, runs, validity);
                }
            }
        }
    }
}
