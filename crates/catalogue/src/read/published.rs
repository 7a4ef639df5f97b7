//! Published tables of a product file, which the limits must reproduce.

use super::PartReader;
use super::section::{Section, elements, read_section};
use crate::date::Date;
use crate::expression::Value;
use crate::product::PublishedTable;

/// Default tolerance: rounding to three digits.
const TOLERANCE: f64 = 0.005;
/// A date after all validity periods.
const FAR: Date = Date::year(9999);

impl PartReader<'_> {
    pub(super) fn published(&mut self, head: &Section) -> Vec<PublishedTable> {
        let sections = head.sections("published", "[[published]]", &mut self.to);
        sections.into_iter().map(|section| self.published_table(section)).collect()
    }

    fn published_table(&mut self, section: Section) -> PublishedTable {
        let validity = self.validity(&section);
        let as_of = self.date(&section, "as_of").or(validity.from).unwrap_or(FAR);
        let _ = self.cites.cite(&section, &mut self.to);
        let table = PublishedTable {
            title: section.required("title", &mut self.to).map_or("", |title| title.text).to_owned(),
            columns: section.texts("columns", &mut self.to).into_iter().map(|text| text.text.to_owned()).collect(),
            rows: self.published_rows(&section),
            set: self.set(&section),
            tolerance: section.number("tolerance", &mut self.to).unwrap_or(TOLERANCE),
            except: self.exceptions(&section),
            as_of,
        };
        for (at, row) in &table.rows {
            if row.len() != table.columns.len() {
                let allowed = format!("{}: {}", table.columns.len(), table.columns.join(", "));
                self.to.at(*at, format!("the row has {} cells", row.len()), allowed);
            }
        }
        if let Some(row) = table.except.iter().find(|row| !(1..=table.rows.len()).contains(row)) {
            self.to.at(section.at, format!("there is no row {row}"), format!("rows 1 to {}", table.rows.len()));
        }
        section.finish(&mut self.to);
        table
    }

    fn published_rows(&mut self, section: &Section) -> Vec<(usize, Vec<Value>)> {
        let rows = section.list("rows", &mut self.to);
        let mut read = Vec::new();
        for row in rows {
            let cells = elements(row, "row", &mut self.to);
            read.push((row.span().start, cells.into_iter().map(|cell| self.cell(cell)).collect()));
        }
        read
    }

    fn set(&mut self, section: &Section) -> Vec<(String, Value)> {
        let Some(set) = section.section("set", "set", &mut self.to) else { return Vec::new() };
        set.entries().into_iter().map(|(name, value)| (name.text.to_owned(), self.cell(value))).collect()
    }

    fn exceptions(&mut self, table: &Section) -> Vec<usize> {
        let mut rows = Vec::new();
        for value in table.list("except", &mut self.to) {
            let Some(entry) = read_section(value, "except") else { continue };
            let row = entry.number("row", &mut self.to);
            entry.required("why", &mut self.to);
            if row.is_none() {
                self.to.at(entry.at, "the exception names no row", "{ row = 1, why = \"...\" }");
            }
            rows.extend(row.map(|row| row as usize));
            entry.finish(&mut self.to);
        }
        rows
    }
}
