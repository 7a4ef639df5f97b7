//! The tables of a report, row by row, into the report.

mod head;
mod load;
mod storage;

use super::report::{Report, Said};
use super::section::Section;
use crate::number::Numerals;
use crate::table::{Row, Table};

/// Reads a table that is of a section.
pub(super) fn read(report: &mut Report, section: Section, table: &Table) {
    let before = *report.met.entry(section).or_default();
    let numbers = match section {
        Section::Database
        | Section::Instance
        | Section::Container
        | Section::Host
        | Section::Snapshots
        | Section::CacheSizes
        | Section::ClusterDatabase
        | Section::ClusterInstances
        | Section::ClusterCaches => head::read(report, section, table),
        Section::LoadProfile
        | Section::TimeModel
        | Section::OperatingSystem
        | Section::ForegroundWaits
        | Section::BackgroundWaits
        | Section::Histogram
        | Section::ClusterTimeModel
        | Section::ClusterSystems
        | Section::ClusterWaits => load::read(report, section, table),
        Section::IoProfile
        | Section::Statistics
        | Section::FileTypes
        | Section::Functions
        | Section::Tablespaces
        | Section::Files
        | Section::BufferPoolAdvice
        | Section::ClusterStatistics
        | Section::ClusterFileTypes => storage::read(report, section, table),
    };
    report.met.insert(section, before + numbers);
    if table.cut {
        report.cut.push(section);
    }
}

/// One table, for the functions that read its cells.
#[derive(Clone, Copy)]
struct Cells<'a> {
    table: &'a Table,
    numerals: Numerals,
}

impl<'a> Cells<'a> {
    fn of(report: &Report, table: &'a Table) -> Self {
        Self { table, numerals: report.numerals }
    }

    /// The number of a row under a column.
    fn number(self, row: &Row, column: Option<usize>) -> Option<f64> {
        column.and_then(|column| self.numerals.number(row.cell(column)))
    }

    /// A value with its place: the row called `name`, under the column.
    fn said(self, row: &Row, name: &str, column: usize, value: f64) -> Said {
        let title = self.table.columns.get(column).map_or("", String::as_str);
        let field = if title.is_empty() { name.to_owned() } else { format!("{name} / {title}") };
        Said { value, line: row.line, field }
    }

    /// The number of a row under a column, with its place.
    fn found(self, row: &Row, name: &str, column: Option<usize>) -> Option<Said> {
        let column = column?;
        let value = self.numerals.number(row.cell(column))?;
        Some(self.said(row, name, column, value))
    }
}

/// The text of a row under a column, when there is one.
fn text_of(row: &Row, column: Option<usize>) -> Option<&str> {
    column.map(|column| row.cell(column)).filter(|text| !text.is_empty())
}
