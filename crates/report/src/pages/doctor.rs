//! Checks of a host.

use plimsoll_language::{label, say};
use plimsoll_record::{CheckNeed, CheckStatus, HostCheck, HostFact};

use crate::number;
use crate::page::{Block, Cell, Column, ColumnKind, Emphasis, Headline, Item, Page, PageSection, Table};
use crate::words::host_check::{check_name, describe_fact, describe_remedy, status_name};

/// Failed checks and cautions in full on a terminal, so that the page fits 24 lines of 80 columns; the table has all.
const MAX_PROBLEMS: usize = 3;

/// The verdict, the problems with their remedies, and all checks of the host for the storage at `path`.
pub fn doctor(path: &str, checks: &[HostCheck]) -> Page {
    let is_problem = |check: &&HostCheck| matches!(check.status, CheckStatus::Failed | CheckStatus::Caution);
    let problems: Vec<&HostCheck> = checks.iter().filter(|check| is_problem(check) || check.is_blocking()).collect();
    let (detailed, others) = problems.split_at(problems.len().min(MAX_PROBLEMS));
    let mut blocks = vec![Block::Items(detailed.iter().map(|check| item(check)).collect())];
    let lines = [
        (label!("more, with remedies in --markdown -"), others.to_vec()),
        (label!("unknown"), list_unknown(checks)),
        (label!("ok"), of(checks, CheckStatus::Ok)),
    ];
    let lines = lines.into_iter().filter(|(_, checks)| !checks.is_empty());
    blocks.extend(lines.map(|(label, checks)| Block::Text(format!("{label}: {}", names(&checks)))));
    let sections = vec![
        PageSection::bare(label!("Problems"), blocks),
        PageSection::detail(label!("All checks"), vec![Block::Table(table(checks))]),
    ];
    let is_ready = !checks.iter().any(HostCheck::is_blocking) && find_full_processors(checks).is_none();
    let (purpose, verb) = if is_ready { (label!("measure"), "measure") } else { (label!("after a remedy"), "doctor") };
    Page {
        title: say!("Host and storage at {path}"),
        headline: Some(Headline::of(verdict(path, checks))),
        sections,
        next: vec![(purpose.to_owned(), format!("plimsoll {verb} {path}"))],
        ..Page::default()
    }
}

fn verdict(path: &str, checks: &[HostCheck]) -> String {
    let blocking: Vec<&HostCheck> = checks.iter().filter(|check| check.is_blocking()).collect();
    if !blocking.is_empty() {
        return say!("Not ready for measurements at {path} and emulated volumes: {}.", names(&blocking));
    }
    let number = |status| of(checks, status).len();
    let failures = match number(CheckStatus::Failed) {
        0 => None,
        1 => Some(label!("1 optional failure").to_owned()),
        count => Some(say!("{count} optional failures")),
    };
    let cautions = match number(CheckStatus::Caution) {
        0 => None,
        1 => Some(label!("1 caution").to_owned()),
        count => Some(say!("{count} cautions")),
    };
    let unknown = Some(number(CheckStatus::Unknown)).filter(|count| *count > 0).map(|count| say!("{count} unknown"));
    let counts: Vec<String> = [failures, cautions, unknown].into_iter().flatten().collect();
    let rest = if counts.is_empty() { String::new() } else { say!(", with {}", counts.join(label!(", "))) };
    match find_full_processors(checks) {
        Some(share) => say!(
            "Not quiet: other processes use {} of the processors, which delays measurements at {path} and replies of emulated \
             volumes; otherwise ready{rest}.",
            number::percent((share * 100.0).round() / 100.0)
        ),
        None => say!("Ready for measurements at {path} and emulated volumes{rest}."),
    }
}

/// Share of the processors that other processes use, if it is so large that a measurement waits for them.
fn find_full_processors(checks: &[HostCheck]) -> Option<f64> {
    const FULL: f64 = 0.5;
    let mut shares = checks.iter().filter_map(|check| match check.fact {
        HostFact::OtherWork(share) => share,
        _ => None,
    });
    shares.find(|share| *share >= FULL)
}

fn of(checks: &[HostCheck], status: CheckStatus) -> Vec<&HostCheck> {
    checks.iter().filter(|check| check.status == status).collect()
}

/// Unknown results that are not shown in full.
fn list_unknown(checks: &[HostCheck]) -> Vec<&HostCheck> {
    checks.iter().filter(|check| check.status == CheckStatus::Unknown && !check.is_blocking()).collect()
}

fn names(checks: &[&HostCheck]) -> String {
    checks.iter().map(|check| check_name(check)).collect::<Vec<_>>().join(label!(", "))
}

fn item(check: &HostCheck) -> Item {
    let (status, name) = (status_name(check.status), check_name(check));
    Item::new(format!("{status}: {name}: {}", describe_fact(check)), [describe_remedy(check)])
}

fn table(checks: &[HostCheck]) -> Table {
    let emphasis = |check: &HostCheck| match check.status {
        CheckStatus::Failed => Emphasis::Void,
        CheckStatus::Caution => Emphasis::Caution,
        CheckStatus::Unknown => Emphasis::Note,
        CheckStatus::Ok => Emphasis::Plain,
    };
    Table::rows(label!("Checks of the host"), checks)
        .column(Column::new(label!("check"), "", ColumnKind::Name, 0), |check| {
            Cell::text(check_name(check)).with_emphasis(emphasis(check))
        })
        .column(Column::text(label!("status"), 0), |check| status_name(check.status))
        .column(Column::text(label!("necessary"), 0), |check| {
            if check.need == CheckNeed::Necessary { label!("yes") } else { label!("no") }
        })
        .column(Column::text(label!("found"), 0), |check| describe_fact(check))
        .column(Column::text(label!("remedy"), 0), |check| describe_remedy(check))
        .table()
}

#[cfg(test)]
mod tests {
    use plimsoll_record::FuseState;

    use super::*;
    use crate::{Charset, Color, TextStyle, page_text};

    const STYLE: TextStyle = TextStyle { color: Color::Plain, width: 80, lines: 24, unicode: Charset::Ascii };

    const fn check_of(fact: HostFact, status: CheckStatus, need: CheckNeed) -> HostCheck {
        HostCheck { status, need, fact }
    }

    /// An observation and a remedy of several lines.
    fn long() -> HostFact {
        HostFact::Ring(Some(("an observation, ".repeat(6), None)))
    }

    fn text(checks: &[HostCheck]) -> String {
        page_text(&doctor("/data", checks), &STYLE)
    }

    #[test]
    fn text_fits_a_screen_whatever_the_number_of_problems() {
        for status in CheckStatus::ALL {
            let mut checks = vec![check_of(long(), status, CheckNeed::Necessary); 4];
            checks.resize(20, check_of(long(), status, CheckNeed::Optional));
            let text = text(&checks);
            assert!(text.lines().count() <= 24, "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
    }

    #[test]
    fn full_processors_are_in_the_verdict() {
        let of_share = |share: Option<f64>| {
            let status = if share.is_some_and(|share| share > 0.1) { CheckStatus::Caution } else { CheckStatus::Ok };
            let page = doctor("/data", &[check_of(HostFact::OtherWork(share), status, CheckNeed::Optional)]);
            (page.headline.unwrap_or_default().text, page.next[0].1.clone())
        };
        for quiet in [None, Some(0.0), Some(0.3)] {
            let (text, next) = of_share(quiet);
            assert!(text.starts_with("Ready for measurements at /data"), "{quiet:?}: {text}");
            assert_eq!(next, "plimsoll measure /data");
        }
        for (share, stated) in [(0.5, "50 %"), (0.997, "100 %")] {
            let (text, next) = of_share(Some(share));
            let expected = format!("Not quiet: other processes use {stated} of the processors");
            assert!(text.starts_with(&expected) && text.contains("otherwise ready"), "{text}");
            assert_eq!(next, "plimsoll doctor /data");
        }
    }

    #[test]
    fn verdict_follows_the_necessary_checks() {
        use CheckNeed::{Necessary, Optional};
        use CheckStatus::{Caution, Failed, Ok, Unknown};
        let first = |checks: &[HostCheck]| text(checks).lines().next().unwrap_or_default().to_owned();
        let fit = check_of(HostFact::Path("/data: directory".into()), Ok, Necessary);
        assert_eq!(first(std::slice::from_ref(&fit)), "Ready for measurements at /data and emulated volumes.");
        let doubtful = [
            check_of(HostFact::Fuse(FuseState::NoDevice), Failed, Optional),
            check_of(HostFact::Governor(None), Unknown, Optional),
            check_of(HostFact::Steal(Some(0.5)), Caution, Optional),
        ];
        let expected = "Ready for measurements at /data and emulated volumes, with 1 optional failure, 1";
        assert_eq!(first(&doubtful), expected, "the rest is wrapped");
        for status in [Failed, Unknown] {
            let unfit = [check_of(long(), status, Necessary), fit.clone()];
            assert!(first(&unfit).starts_with("Not ready"), "{}", first(&unfit));
            assert!(text(&unfit).contains(&format!("{}: io_uring: an observation", status.name())));
        }
    }

    #[test]
    fn unknown_is_listed_apart_from_ok() {
        let checks = [
            check_of(HostFact::Governor(None), CheckStatus::Unknown, CheckNeed::Optional),
            check_of(HostFact::Path("/data: directory".into()), CheckStatus::Ok, CheckNeed::Necessary),
        ];
        let text = text(&checks);
        assert!(text.contains("unknown: governor\n") && text.contains("ok: path\n"), "{text}");
    }
}
