//! Periods that the database analysed (ADDM), and the statements and segments with most reads.

use std::sync::Arc;

use super::report::{Analysis, Reader, Report, StatedValue};
use super::rows::{Cells, text_of};
use super::section::AwrSection;
use crate::text::table::{NamedTable, Row};
use crate::text::timestamp;

/// Begin of the line with the program of a statement, in text.
pub(super) const MODULE: &str = "Module: ";

/// Maximum statements and segments.
const MAX_READERS: usize = 500;

/// Reads the findings, each with its period. Returns the number of values.
pub(super) fn read_analyses(report: &mut Report, table: &NamedTable) -> u32 {
    let cells = Cells::of(report, table);
    let active = table.column_like("avg active sessions of the task");
    let [begin, end, task] = ["begin snap time", "end snap time", "task name"].map(|name| table.column_like(name));
    let share = table.column_like("percent active sessions");
    let mut count = 0;
    for row in &table.rows {
        let moment = |column| text_of(row, column).and_then(timestamp::local);
        let (Some(begin), Some(end)) = (moment(begin), moment(end)) else { continue };
        let name = format!("{} to {}", row.cell(0), end.to_string().replace('T', " "));
        let Some(active) = cells.found(row, &name, active) else { continue };
        // The task of a single instance has its number: `ADDM:DBID_1_SNAPSHOT`.
        let is_of_database = text_of(row, task).is_some_and(|task| task.matches('_').count() == 1);
        let is_user_io = row.cell(0).to_ascii_lowercase().starts_with("\"user i/o\" wait class");
        let share = cells.number(row, share).map(|percent| percent / 100.0);
        let user_io = share.filter(|_| is_user_io);
        let finding = share.map(|share| (Arc::from(row.cell(0)), share));
        count += 1;
        match report.analyses.iter_mut().find(|one| (one.begin, one.end) == (begin, end)) {
            Some(existing) => {
                existing.user_io = existing.user_io.or(user_io);
                let findings = [existing.finding.take(), finding].into_iter().flatten();
                existing.finding = findings.max_by(|a, b| a.1.total_cmp(&b.1));
            }
            None => report.analyses.push(Analysis { begin, end, active, user_io, finding, is_of_database }),
        }
    }
    count
}

/// Reads statements by blocks or by requests. Returns the number of values.
pub(super) fn read_statements(report: &mut Report, table: &NamedTable) -> u32 {
    let cells = Cells::of(report, table);
    let column = |names: &[&str]| names.iter().find_map(|name| table.column(name));
    let id = column(&["sql id", "hash value", "old hash value"]);
    let blocks = column(&["physical reads", "total reads", "physical rds"]);
    let requests = column(&["physical read reqs", "total requests"]);
    let executions = column(&["executions", "total execs"]);
    let (module, text) = (table.column("sql module"), table.column("sql text"));
    let mut found: Vec<Reader> = Vec::new();
    for row in &table.rows {
        if let (Some(module), Some(last)) = (row.cell(0).strip_prefix(MODULE), found.last_mut()) {
            last.name = format!("{} ({})", last.name, module.trim());
            continue;
        }
        let Some(id) = text_of(row, id).filter(|id| is_statement(id)) else { continue };
        let stated = |column| cells.found(row, id, column);
        let (blocks, requests) = (stated(blocks), stated(requests));
        if blocks.is_none() && requests.is_none() {
            continue;
        }
        let executions = stated(executions);
        let name = match text_of(row, module).or_else(|| text_of(row, text).filter(|text| is_block(text))) {
            Some(of) if text_of(row, module).is_some() => format!("statement {id} ({of})"),
            Some(_) => format!("statement {id} (PL/SQL)"),
            None => format!("statement {id}"),
        };
        found.push(Reader { section: AwrSection::Statements, name, blocks, requests, executions });
    }
    add(report, found)
}

/// Reads segments by blocks or by requests. Returns the number of values.
pub(super) fn read_segments(report: &mut Report, table: &NamedTable) -> u32 {
    let cells = Cells::of(report, table);
    let names = ["owner", "object name", "subobject name"].map(|name| table.column(name));
    let (blocks, requests) = (table.column("physical reads"), table.column("phys read requests"));
    let segment = |row: &Row| {
        let parts: Vec<&str> = names.iter().filter_map(|column| text_of(row, *column)).collect();
        let name = format!("segment {}", parts.join("."));
        let stated = |column| cells.found(row, &name, column);
        let (blocks, requests) = (stated(blocks), stated(requests));
        let is_complete = parts.len() > 1 && (blocks.is_some() || requests.is_some());
        is_complete.then_some(Reader { section: AwrSection::Segments, blocks, requests, executions: None, name })
    };
    let found = table.rows.iter().filter_map(segment).collect();
    add(report, found)
}

/// Adds readers; another table may have the other number of a statement or segment. Returns the number of values.
fn add(report: &mut Report, found: Vec<Reader>) -> u32 {
    let mut count = 0;
    for reader in found {
        count += [&reader.blocks, &reader.requests, &reader.executions].into_iter().flatten().count() as u32;
        if let Some(existing) = report.readers.iter_mut().find(|existing| existing.name == reader.name) {
            let put = |field: &mut Option<StatedValue>, value| *field = field.take().or(value);
            put(&mut existing.blocks, reader.blocks);
            put(&mut existing.requests, reader.requests);
            put(&mut existing.executions, reader.executions);
        } else if report.readers.len() < MAX_READERS {
            report.readers.push(reader);
        }
    }
    count
}

/// True for a `SQL_ID`, or a hash value of Statspack.
fn is_statement(id: &str) -> bool {
    let is_hash = (5..=10).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_digit());
    is_hash || id.len() == 13 && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// True for an anonymous block, whose statements are counted in it as well as by themselves.
fn is_block(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or_default();
    ["begin", "declare", "call"].iter().any(|start| word.eq_ignore_ascii_case(start))
}
