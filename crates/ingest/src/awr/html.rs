//! AWR reports as HTML: of an instance, of a cluster, of a pluggable database.

use memchr::memmem;

use super::compare::Comparison;
use super::figures;
use super::report::{Reach, Report};
use super::rows;
use super::section::AwrSection;
use super::text::parse_report;
use super::waits;
use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, Resemblance};
use crate::html::{Piece, pieces, preformatted};
use crate::refusal::{InputFault, Refusal};

/// AWR reports as HTML.
pub(crate) const FORM: Form = Form::document("awr-html", "AWR report (HTML)", resembles, read);

fn resembles(head: &Head<'_>) -> Resemblance {
    let head = head.text().to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| head.contains(part));
    let (missing, is_html) = ("heading WORKLOAD REPOSITORY", has(&["<html", "<table", "<h1"]));
    let titled = has(&["workload repository", "awr report for", "awr rac report", "awr compare period"]);
    let marks = if has(&["class=\"awr"]) { 2 } else { 1 };
    Resemblance::is(3, is_html && titled).or_near(marks, is_html, missing)
}

fn read(_: &FormatInput, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
    let (report, comparison) = parse(document);
    out.require(!report.has_another, InputFault::SeveralReports)?;
    match comparison {
        Some(comparison) => comparison.make(out),
        // A page around the text of a report.
        None if report.met.is_empty() => match preformatted(document) {
            text if text.contains("Begin Snap:") => figures::make(&parse_report(&text), out),
            _ => figures::make(&report, out),
        },
        None => figures::make(&report, out),
    }
}

/// The report of a document; with the other period, if it compares two.
pub(super) fn parse(document: &[u8]) -> (Report, Option<Comparison>) {
    let mut report = Report { ended: memmem::rfind(document, b"End of Report").is_some(), ..Report::default() };
    let mut comparison: Option<Comparison> = None;
    let mut titled = None;
    pieces(document, &is_wanted, &mut |piece| match (piece, &mut comparison) {
        (Piece::Heading(heading), _) => {
            titled = titled.take().or_else(|| database_of_title(&heading));
            let heading = heading.to_ascii_lowercase();
            report.has_another |= heading.starts_with("workload repository") && !report.met.is_empty();
            if heading.contains("compare period") {
                comparison.get_or_insert_default().title(&heading);
            }
            if heading.contains("workload repository pdb report") {
                report.reach = Reach::Pluggable;
            }
        }
        (Piece::Table(table), Some(comparison)) => comparison.table(&table),
        (Piece::Table(table), None) => match AwrSection::of_table(&table) {
            Some(section) => rows::read(&mut report, section, &table),
            None => report.ignore(&table.heading),
        },
    });
    if report.database.is_empty() {
        report.database = titled.unwrap_or_default();
    }
    waits::settle(&mut report);
    (report, comparison)
}

/// The database in `AWR Report for DB: ORCL, Inst: orcl1, Snaps: 1-2`, for reports without it in their tables.
fn database_of_title(title: &str) -> Option<String> {
    let name = title.split_once("Report for DB: ")?.1.split(',').next()?.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

fn is_wanted(columns: &[String]) -> bool {
    let caches = columns.get(1).is_some_and(|name| name == "begin") && columns.get(2).is_some_and(|name| name == "end");
    caches || AwrSection::of(columns).is_some() || Comparison::wants(columns)
}
