//! Tables of a product file: tiers and machines, with CSV files of machines.

use std::collections::BTreeSet;
use std::sync::Arc;

use toml::de::DeValue;

use super::PartReader;
use super::section::{Section, SpannedText, SpannedValue as Toml, elements, read_number, wrong};
use crate::expression::{Type, Value};
use crate::product::{Machines, OptionValue, Origin, ProductKind, TableRow, Tiers};

/// Rows before the first column became their name.
struct UnnamedRows {
    columns: Vec<String>,
    rows: Vec<TableRow>,
    at: usize,
}

/// Value of a cell; an empty text is a missing value.
pub(crate) fn cell(value: Toml) -> Option<Value> {
    if let Some(number) = read_number(value) {
        return Some(Value::Number(number));
    }
    match value.get_ref() {
        DeValue::Boolean(truth) => Some(Value::Number(f64::from(u8::from(*truth)))),
        DeValue::String(text) => Some(text_cell(text)),
        _ => None,
    }
}

fn text_cell(text: &str) -> Value {
    if text.is_empty() { Value::Absent } else { Value::Text(text.into()) }
}

pub(crate) fn as_option_value(value: Value) -> Option<OptionValue> {
    match value {
        Value::Absent => None,
        Value::Number(number) => Some(OptionValue::Number(number)),
        Value::Text(text) => Some(OptionValue::Text(text)),
    }
}

impl PartReader<'_> {
    pub(super) fn tiers(&mut self, head: &Section) -> Option<Tiers> {
        let section = head.section("tiers", "[tiers]", &mut self.to)?;
        let default = section.text("default", &mut self.to);
        let table = self.table(&section);
        let cite = self.cites.cite(&section, &mut self.to);
        section.finish(&mut self.to);
        let first = self.declare_columns(&table, "tier.")?;
        let size = table.columns.iter().position(|column| column == "size");
        let sizes = size.map(|column| self.tier_sizes(&table, column));
        let default = default.and_then(|name| {
            let found = table.rows.iter().position(|row| *row.name == *name.text);
            if found.is_none() {
                self.to.at(name.at, format!("there is no tier {:?}", name.text), "a name of [tiers]");
            }
            found
        });
        Some(Tiers { first, columns: table.columns, rows: table.rows, cite, sizes, default })
    }

    /// Sizes must ascend, so that the first sufficient tier is the smallest.
    fn tier_sizes(&mut self, table: &UnnamedRows, column: usize) -> Vec<f64> {
        let mut sizes = Vec::new();
        for row in &table.rows {
            match row.cells[column] {
                Value::Number(size) if sizes.last().is_none_or(|last| *last < size) => sizes.push(size),
                _ => {
                    let what = format!("tier {} is not larger than the one before", row.name);
                    self.to.at(table.at, what, "rows by rising size, each with a size");
                    sizes.push(f64::INFINITY);
                }
            }
        }
        sizes
    }

    pub(super) fn machines(&mut self, head: &Section, kind: ProductKind) -> Option<Machines> {
        let section = head.section("machines", "[machines]", &mut self.to);
        if section.is_some() != (kind == ProductKind::Machine) {
            let what = if section.is_some() { "[machines] in a product of another kind" } else { "no [machines]" };
            self.to.at(head.at, what, "[machines] in a file of kind \"machine\", and only there");
        }
        let section = section?;
        let csv = section.text("csv", &mut self.to);
        let table = match csv {
            Some(csv) => self.csv(csv),
            None => Some(self.table(&section)),
        };
        let _ = self.cites.cite(&section, &mut self.to);
        let first = table.as_ref().and_then(|table| self.declare_columns(table, ""));
        let keys = ["vcpus", "sustained_vcpus", "memory_gib", "network_gbps", "volumes", "arm", "cached_reads"];
        let [vcpus, sustained_vcpus, memory_gib, network_gbps, volumes, arm, cached_reads] =
            keys.map(|key| self.expression(&section, key, Type::Number));
        section.finish(&mut self.to);
        Some(Machines {
            first: first?,
            rows: table?.rows,
            vcpus,
            sustained_vcpus,
            memory_gib,
            network_gbps,
            volumes,
            arm,
            cached_reads,
        })
    }

    /// Declares the columns as variables, and returns the number of the first.
    fn declare_columns(&mut self, table: &UnnamedRows, prefix: &str) -> Option<usize> {
        let mut first = None;
        for (index, column) in table.columns.iter().enumerate() {
            let is_text = table.rows.iter().any(|row| matches!(row.cells[index], Value::Text(_)));
            let is_number = table.rows.iter().any(|row| matches!(row.cells[index], Value::Number(_)));
            if is_text && is_number {
                self.to.at(table.at, format!("column {column:?} holds numbers and texts"), "one of both, or \"\"");
            }
            let holds = if is_text { Type::Text } else { Type::Number };
            match self.names.declare(&format!("{prefix}{column}"), holds, Origin::Cell) {
                Ok(slot) => first = first.or(Some(slot)),
                Err(_) => self.to.at(table.at, format!("{column:?} has a meaning already"), "another name"),
            }
        }
        first
    }

    fn table(&mut self, section: &Section) -> UnnamedRows {
        let at = section.at;
        let columns = section.texts("columns", &mut self.to);
        let columns: Vec<String> = columns.into_iter().map(|column| column.text.to_owned()).collect();
        if columns.first().is_none_or(|first| first != "name") {
            self.to.at(
                at,
                format!("{} has no column \"name\" at its beginning", section.name),
                "columns = [\"name\", ...]",
            );
        }
        let (mut rows, mut names): (Vec<TableRow>, BTreeSet<String>) = Default::default();
        for value in section.list("rows", &mut self.to) {
            let values = elements(value, "row", &mut self.to);
            if values.len() != columns.len() {
                let what = format!("the row has {} cells", values.len());
                self.to.at(value.span().start, what, format!("{}: {}", columns.len(), columns.join(", ")));
                continue;
            }
            let cells: Vec<Value> = values.into_iter().map(|value| self.cell(value)).collect();
            let Some(Value::Text(name)) = cells.first() else {
                self.to.at(value.span().start, "the row has no name", "a text in its first cell");
                continue;
            };
            if !names.insert(name.to_string()) {
                self.to.at(value.span().start, format!("a second row {name:?}"), "one row for each name");
            }
            rows.push(TableRow { name: Arc::clone(name), cells });
        }
        UnnamedRows { columns, rows, at }
    }

    pub(super) fn cell(&mut self, value: Toml) -> Value {
        cell(value).unwrap_or_else(|| {
            wrong(value, "the cell", "a number, a text, true or false; \"\" for none", &mut self.to);
            Value::Absent
        })
    }

    fn csv(&mut self, csv: SpannedText) -> Option<UnnamedRows> {
        let Some(text) = (self.beside)(csv.text) else {
            self.to.at(csv.at, format!("{:?} cannot be read", csv.text), "a file in the same folder");
            return None;
        };
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let columns: Vec<String> = lines.next()?.1.split(',').map(|column| column.trim().to_owned()).collect();
        let mut rows: Vec<TableRow> = Vec::new();
        for (index, line) in lines {
            let cells: Vec<Value> = line.split(',').map(|cell| csv_cell(cell.trim())).collect();
            let name = line.split(',').next().unwrap_or_default().trim();
            if cells.len() != columns.len() || name.is_empty() {
                let what = format!("line {} of {:?} has {} cells", index + 1, csv.text, cells.len());
                self.to.at(csv.at, what, format!("{}: {}", columns.len(), columns.join(", ")));
                continue;
            }
            rows.push(TableRow { name: name.into(), cells });
        }
        let names: BTreeSet<&str> = rows.iter().map(|row| &*row.name).collect();
        if names.len() < rows.len() {
            self.to.at(csv.at, format!("{:?} has rows of the same name", csv.text), "one row for each name");
        }
        Some(UnnamedRows { columns, rows, at: csv.at })
    }
}

fn csv_cell(text: &str) -> Value {
    let starts_as_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let number = starts_as_number.then(|| text.parse().ok()).flatten().filter(|number: &f64| number.is_finite());
    number.map_or_else(|| text_cell(text), Value::Number)
}
