//! AWR reports and Statspack as text: columns under rulers, in pages.

mod page;

use memchr::memmem;

use self::page::Pages;
use super::compare::ComparedLines;
use super::figures;
use super::section::Section;
use crate::builder::Builder;
use crate::format::{Form, Resemblance, Takes};
use crate::kind::Kind;
use crate::lines::{LineFormat, Lines};
use crate::refusal::Refusal;

const AWR: Kind = Kind { id: "awr-text", name: "AWR report (text)" };
const STATSPACK: Kind = Kind { id: "statspack", name: "Statspack report" };

/// AWR reports as text.
pub(crate) const FORM: Form =
    Form { kind: AWR, takes: Takes::Text, resembles: is_awr, open: |_| Box::new(Lines::new(Text::new(AWR))) };

/// Statspack reports.
pub(crate) const STATSPACK_FORM: Form = Form {
    kind: STATSPACK,
    takes: Takes::Text,
    resembles: is_statspack,
    open: |_| Box::new(Lines::new(Text::new(STATSPACK))),
};

fn has(head: &[u8], text: &str) -> bool {
    memmem::find(head, text.as_bytes()).is_some()
}

fn is_awr(head: &[u8]) -> Resemblance {
    let is_html = has(head, "<h1") || has(head, "<table") || has(head, "<TABLE");
    match (has(head, "WORKLOAD REPOSITORY"), has(head, "Begin Snap:")) {
        _ if is_html => Resemblance::None,
        (true, _) => Resemblance::Is { marks: 2 },
        (false, true) => Resemblance::Near { marks: 2, missing: "heading WORKLOAD REPOSITORY" },
        _ => Resemblance::None,
    }
}

fn is_statspack(head: &[u8]) -> Resemblance {
    match (has(head, "STATSPACK report for"), has(head, "STATSPACK") || has(head, "Snap Id")) {
        (true, _) => Resemblance::Is { marks: 2 },
        (false, true) => Resemblance::Near { marks: 1, missing: "line `STATSPACK report for`" },
        _ => Resemblance::None,
    }
}

/// What a text says.
#[cfg(test)]
pub(super) fn report(text: &str) -> super::report::Report {
    let mut pages = Pages::default();
    for (index, line) in text.lines().enumerate() {
        pages.line(line, index as u64 + 1);
    }
    pages.finish()
}

struct Text {
    kind: Kind,
    pages: Pages,
    /// Once its title says that it compares two periods.
    compared: Option<ComparedLines>,
}

impl Text {
    fn new(kind: Kind) -> Self {
        Self { kind, pages: Pages::default(), compared: None }
    }
}

impl LineFormat for Text {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn line(&mut self, line: &str, number: u64, _: &mut Builder) -> Result<(), Refusal> {
        if line.contains("COMPARE PERIOD") && line.contains("WORKLOAD REPOSITORY") {
            self.compared.get_or_insert_default().title(line);
        }
        match &mut self.compared {
            Some(compared) => compared.line(line, number),
            None => self.pages.line(line, number),
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        if let Some(compared) = self.compared.take() {
            return compared.finish().make(self.kind, out);
        }
        let mut report = self.pages.finish();
        // Statspack knows no profile, and never has file types: it does not miss them.
        if self.kind == STATSPACK {
            report.lacks = vec![Section::IoProfile, Section::FileTypes];
        }
        figures::make(&report, self.kind, out)
    }
}
