//! A trial of the program: a simulation, a diagnosis with a sizing, and a level change of an emulated volume.

use plimsoll_choose::diagnosis::Diagnosis;
use plimsoll_choose::sizing::Sizing;
use plimsoll_choose::what_if::WhatIfs;
use plimsoll_language::{label, say};
use plimsoll_record::Curve;
use plimsoll_units::Span;

use super::{Sheet, curves, sizing};
use crate::number;
use crate::page::{Block, Headline, Page, PageSection};
use crate::words;

#[derive(Debug)]
pub struct Trial<'a> {
    pub curve: &'a Curve,
    /// Name of the sample report.
    pub report: &'a str,
    pub diagnosis: &'a Diagnosis,
    pub sizing: &'a Sizing,
    /// The level change, or the reason why no volume was emulated.
    pub change: &'a Result<LevelTrial, String>,
    /// Duration of the trial.
    pub elapsed: Span,
}

/// A level change of an emulated volume under load.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelTrial {
    /// Configuration before and after the change.
    pub configurations: [&'static str; 2],
    /// Rates in the seconds before and after it.
    pub rates: [LevelRate; 2],
    /// IOPS that the product sustains before and after it.
    pub limits: [Option<f64>; 2],
}

/// Rate of an emulated volume over some seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelRate {
    /// Completed operations per second.
    pub iops: f64,
    /// The volume followed its model in all of these seconds.
    pub is_faithful: bool,
}

/// The results in short, and commands to continue with.
pub fn trial(trial: &Trial<'_>) -> Page {
    let section = |title: String, texts: Vec<String>| {
        PageSection::new(title, texts.into_iter().filter(|text| !text.is_empty()).map(Block::Text).collect())
    };
    let name = &trial.curve.subject.name;
    let sections = vec![
        section(say!("1 Simulated: {name}"), vec![verdict_of(curve_page(trial.curve)), list_points(trial.curve)]),
        section(
            say!("2 Diagnosed and sized: {}", trial.report),
            vec![answer(trial.diagnosis), verdict_of(sizing(trial.sizing, &WhatIfs::default(), &[], 1))],
        ),
        section(
            label!("3 Emulated: a volume whose level is changed under load").to_owned(),
            vec![describe_change(trial.change)],
        ),
    ];
    let emulated = if trial.change.is_ok() { label!("and emulated") } else { label!("but not emulated") };
    let verdict = say!("Simulated, diagnosed {emulated} in {}; all temporary files are removed.", trial.elapsed);
    let next = [
        (label!("is this host ready"), "plimsoll doctor"),
        (label!("measure the storage of this directory"), "plimsoll measure . --quick"),
        (label!("storage for your database"), "plimsoll size REPORT --capacity 500GiB"),
    ];
    Page {
        title: label!("Trial").to_owned(),
        headline: Some(Headline::of(verdict)),
        sections,
        next: next.map(|(purpose, command)| (purpose.to_owned(), command.to_owned())).to_vec(),
        ..Page::default()
    }
}

fn curve_page(curve: &Curve) -> Page {
    curves(&[Sheet { curve, ladder: Vec::new(), price: None }])
}

fn verdict_of(page: Page) -> String {
    page.headline.map(|headline| headline.text).unwrap_or_default()
}

/// `depth 1: 1,408 IOPS, p99 1.58 ms; ...`, of the closed loads.
fn list_points(curve: &Curve) -> String {
    let point = |run: &plimsoll_record::Run| {
        let figures = &run.figures;
        let pace = words::pace(&run.offered);
        say!("{pace}: {} IOPS, p99 {}", number::rate(figures.iops.value), number::time(figures.p99_ns.value))
    };
    let closed = curve.runs.iter().filter(|run| matches!(run.offered, plimsoll_load::Pace::Closed { .. }));
    closed.map(point).collect::<Vec<_>>().join(label!("; "))
}

/// The first verdict, as a sentence.
fn answer(diagnosis: &Diagnosis) -> String {
    diagnosis.verdicts.first().map(|verdict| words::diagnosis::verdict_text(verdict).text).unwrap_or_default()
}

fn describe_change(change: &Result<LevelTrial, String>) -> String {
    let LevelTrial { configurations, rates, limits } = match change {
        Ok(change) => change,
        Err(reason) => return say!("No volume was emulated: {reason}. plimsoll doctor checks this host."),
    };
    let side = |index: usize| {
        let limit = limits[index].map(|limit| say!(" (limit {})", number::rate(limit))).unwrap_or_default();
        format!("{}: {} IOPS{limit}", configurations[index], number::rate(rates[index].iops))
    };
    let doubt = if rates.iter().all(|rate| rate.is_faithful) {
        ""
    } else {
        label!(
            " Replies were later than the model, as this host is busy or slow: plimsoll doctor shows how late its timers are."
        )
    };
    say!("{}; after the change {}, while the load continued.{doubt}", side(0), side(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_replies_and_a_missing_volume_are_stated() {
        let rate = |iops, is_faithful| LevelRate { iops, is_faithful };
        let change = |rates| {
            let (configurations, limits) = (["oci:50GB@10vpu", "oci:50GB@20vpu"], [Some(3000.0), None]);
            Ok(LevelTrial { configurations, rates, limits })
        };
        let good = describe_change(&change([rate(2993.4, true), rate(3750.0, true)]));
        let expected = "oci:50GB@10vpu: 2,993 IOPS (limit 3,000); after the change oci:50GB@20vpu: 3,750 IOPS, while";
        assert!(good.starts_with(expected) && !good.contains("busy"), "{good}");
        let late = describe_change(&change([rate(3000.0, true), rate(3100.0, false)]));
        assert!(late.contains("later than the model"), "{late}");
        let none = describe_change(&Err("io_uring is missing".into()));
        assert!(none.contains("No volume was emulated: io_uring is missing."), "{none}");
    }
}
