//! AWR reports as HTML: of an instance, of a cluster, of a pluggable database.

use memchr::memmem;

use super::compare::Comparison;
use super::figures;
use super::report::{Reach, Report};
use super::rows;
use super::section::Section;
use crate::builder::Builder;
use crate::form::{Form, Head, Input, Resemblance};
use crate::html::{Piece, pieces};
use crate::refusal::Refusal;

/// AWR reports as HTML.
pub(crate) const FORM: Form = Form::document("awr-html", "AWR report (HTML)", resembles, read);

fn resembles(head: &Head<'_>) -> Resemblance {
    let head = head.text().to_ascii_lowercase();
    let has = |text: &str| head.contains(text);
    let titles = ["workload repository", "awr report for", "awr rac report", "awr compare period"];
    match (has("<html") || has("<table") || has("<h1"), titles.iter().any(|title| has(title))) {
        (true, true) => Resemblance::Is { marks: 3 },
        (true, false) if has("class=\"awr") => Resemblance::Near { marks: 2, missing: "heading WORKLOAD REPOSITORY" },
        (true, false) => Resemblance::Near { marks: 1, missing: "heading WORKLOAD REPOSITORY" },
        _ => Resemblance::None,
    }
}

fn read(_: &Input, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
    match said(document) {
        (_, Some(comparison)) => comparison.make(out),
        (report, None) => figures::make(&report, out),
    }
}

/// What a document says; of two periods, if it compares them.
pub(super) fn said(document: &[u8]) -> (Report, Option<Comparison>) {
    let mut report = Report { ended: memmem::rfind(document, b"End of Report").is_some(), ..Report::default() };
    let mut comparison: Option<Comparison> = None;
    pieces(document, &is_wanted, &mut |piece| match (piece, &mut comparison) {
        (Piece::Heading(heading), _) => {
            let heading = heading.to_ascii_lowercase();
            if heading.contains("compare period") {
                comparison.get_or_insert_default().title(&heading);
            }
            if heading.contains("workload repository pdb report") {
                report.reach = Reach::Pluggable;
            }
        }
        (Piece::Table(table), Some(comparison)) => comparison.table(&table),
        (Piece::Table(table), None) => match Section::of_table(&table) {
            Some(section) => rows::read(&mut report, section, &table),
            None => report.ignore(&table.heading),
        },
    });
    (report, comparison)
}

fn is_wanted(columns: &[String]) -> bool {
    let caches = columns.get(1).is_some_and(|name| name == "begin") && columns.get(2).is_some_and(|name| name == "end");
    caches || Section::of(columns).is_some() || Comparison::wants(columns)
}
