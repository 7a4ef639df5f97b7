//! The summary of every page fits one screen and begins with an answer of one sentence.

use plimsoll_report::pages;
use plimsoll_report::{
    Block, Emphasis, Fact, Headline, Page, PageSection, SummaryOrder, TextStyle, page_summary, page_text,
};

use crate::support::{self, crowd};

/// Words of the answer at most.
const WORDS_MAX: usize = 25;

/// Checks the summary at 80 columns, also above a line of the caller, and returns it.
fn check(name: &str, page: &Page) -> String {
    let style = TextStyle::default();
    let above = page_summary(page, "--details", &TextStyle { lines: style.lines - 1, ..style });
    assert!(page.headline.is_none() || above.lines().count() < style.lines, "{name}:\n{above}");
    let summary = page_summary(page, "--details", &style);
    let Some(headline) = &page.headline else {
        assert_eq!(summary, page_text(page, &style), "{name}");
        return summary;
    };
    let words = headline.text.split_whitespace().count();
    assert!(words <= WORDS_MAX, "{name}: {words} words: {}", headline.text);
    assert!(summary.lines().count() <= 24, "{name}: {} lines:\n{summary}", summary.lines().count());
    let command = |line: &&str| page.next.iter().any(|(_, command)| line.contains(command.as_str()));
    for line in summary.lines().filter(|line| !command(line)) {
        assert!(line.chars().count() <= 80, "{name}: {line}");
    }
    summary
}

#[test]
fn every_curve_and_suite_fits_one_screen() {
    for (name, curve) in support::odd() {
        check(name, &support::page(&[&curve]));
    }
    for (name, suite) in crowd::odd() {
        check(name, &pages::suites(&[suite]));
    }
}

#[test]
fn a_curve_has_its_plot_and_its_figures() {
    let summary = check("curve", &support::page(&[&support::build_curve()]));
    assert!(summary.starts_with("Load line: "), "{summary}");
    for part in ["\nLimit", "\nKnee", "\nMaximum throughput", "load line ", "Details"] {
        assert!(summary.contains(part), "{part} in {summary}");
    }
}

#[test]
fn findings_that_do_not_fit_are_counted() {
    let mut page = support::page(&[&support::build_curve()]);
    let headline = page.headline.as_mut().expect("a curve has a verdict");
    headline.cautions = (1..=9).map(|number| format!("caution {number} has a sentence")).collect();
    let summary = check("cautions", &page);
    let displayed = (1..=9).filter(|number| summary.contains(&format!("caution {number} has a sentence"))).count();
    let left = summary.lines().find_map(|line| line.strip_prefix("Details (")?.split_once(' '));
    let left: usize = left.expect("the others are counted").0.parse().expect("a count");
    assert!(displayed > 0 && displayed + left >= 9, "{displayed} of {left}:\n{summary}");
}

#[test]
fn a_finding_does_not_repeat_the_verdict() {
    let fact = Fact {
        name: "answer".into(),
        emphasis: Emphasis::Strong,
        text: "It is slow: disks are busy".into(),
        ..Fact::default()
    };
    let long = Block::Listing("a line\n".repeat(30));
    let sections = vec![PageSection::bare("", vec![Block::Facts(vec![fact]), long])];
    let page = Page { headline: Some(Headline::of("It is slow".to_owned())), sections, ..Page::default() };
    let summary = check("diagnosis", &page);
    assert_eq!(summary, "It is slow\n\nanswer  disks are busy\n\nDetails: --details\n");
}

#[test]
fn texts_are_whole_where_fewer_of_them_leave_room() {
    let decisive = "a sentence that is much longer than a line of eighty columns, and that goes on for two more lines before \
                    its end, where the figure stands that decides: 8,040 IOPS";
    let figures = (1..=6).map(|number| Fact::new(format!("figure {number}"), decisive)).collect();
    let sections = vec![PageSection::bare("", vec![Block::Listing("a line\n".repeat(30))])];
    let page = Page { headline: Some(Headline::of("It is slow".to_owned())), figures, sections, ..Page::default() };
    let summary = check("texts", &page);
    assert!(summary.contains("8,040 IOPS") && !summary.contains('\u{2026}'), "{summary}");
}

#[test]
fn findings_end_with_their_decisive_part() {
    let decisive = "a caution that is much longer than a line of eighty columns, and that goes on for two more lines before                     its end, where the remedy stands: --percentile 99";
    let mut page = support::page(&[&support::build_curve()]);
    page.figures = (1..=6).map(|number| Fact::new(format!("figure {number}"), decisive)).collect();
    page.headline.as_mut().expect("a curve has a verdict").cautions = vec![decisive.to_owned(); 3];
    let summary = check("cautions", &page);
    let cut = |part: &str| part.lines().any(|line| line.ends_with('\u{2026}'));
    let findings = summary.split("\n\n").find(|part| part.starts_with("caution")).expect("a caution");
    assert!(findings.contains("--percentile 99") && !cut(findings), "{summary}");
}

#[test]
fn a_table_that_leads_stays_whatever_the_findings() {
    let caution = "a caution that is much longer than a line of eighty columns, and that goes on for two more lines before \
                   its end, where the remedy stands";
    let table = |lines: usize, cautions: usize| {
        let headline = Headline::of("A suite".to_owned());
        let fact =
            Fact { name: "caution".into(), emphasis: Emphasis::Caution, text: caution.into(), ..Fact::default() };
        let findings = Block::Facts(vec![fact; cautions]);
        let sections =
            [Block::Listing("a row\n".repeat(lines)), findings].map(|block| PageSection::bare("", vec![block]));
        let sections = sections.to_vec();
        let order = SummaryOrder::ExhibitFirst;
        check("suite", &Page { headline: Some(headline), order, sections, ..Page::default() })
    };
    let few = table(8, 3);
    let (rows, cautions) = (few.find("a row").expect("the table"), few.find("caution").expect("a finding"));
    assert!(rows < cautions, "{few}");
    let tall = table(18, 3);
    assert_eq!(tall.matches("a row").count(), 18, "{tall}");
    assert!(tall.contains("3 more findings"), "{tall}");
}
