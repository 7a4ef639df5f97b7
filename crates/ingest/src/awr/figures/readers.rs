//! Statements and segments with most reads, and the periods that the database analysed.

use std::sync::Arc;

use plimsoll_units::Span;

use super::{Page, build_scope};
use crate::awr::report::{Reach, StatedValue};
use crate::awr::section::AwrSection;
use crate::reading::{AnalysedPeriod, ReadingScope, TopReader, WindowCount};

/// Emits the reads of statements and segments as counts of parts, and the active sessions of analysed periods.
pub(super) fn emit(page: &mut Page<'_>) {
    let (block_bytes, window) = (page.block_bytes(), page.at.1);
    let total = build_scope(page.report);
    for reader in &page.report.readers {
        let scope = page.out.scope(ReadingScope { part: reader.name.clone(), ..total.clone() });
        let bytes = reader.blocks.clone().zip(block_bytes).map(|(blocks, bytes)| blocks.times(bytes));
        let counts = [
            (WindowCount::READ_REQUESTS, reader.requests.clone()),
            (WindowCount::READ_BYTES, bytes),
            (WindowCount::CALLS, reader.executions.clone()),
        ];
        for (name, stated) in counts {
            let Some(StatedValue { value, line, field }) = stated else { continue };
            let origin = page.out.origin(line, reader.section.name(), &field);
            page.out.tally(WindowCount { scope, window, name, value, origin });
        }
    }
    analyses(page);
}

/// The statement with the most bytes.
pub(super) fn find_top(page: &Page<'_>) -> Option<Arc<TopReader>> {
    let block_bytes = page.block_bytes()?;
    let statement = |name: &str| Some(name.strip_prefix("statement ")?.split(' ').next()?.to_owned());
    let readers = page.report.readers.iter();
    let blocks = readers.filter_map(|reader| Some((statement(&reader.name)?, reader, reader.blocks.as_ref()?.value)));
    let (statement, reader, blocks) = blocks.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let module = reader.name.split_once(" (").and_then(|(_, module)| module.strip_suffix(')')).unwrap_or_default();
    Some(Arc::new(TopReader { statement, module: module.to_owned(), bytes: blocks * block_bytes }))
}

fn analyses(page: &mut Page<'_>) {
    let (scope, window) = page.at;
    // The sessions of all instances are not those of the reported one.
    let is_own = |is_of_database: bool| !(is_of_database && page.report.reach == Reach::Instance);
    for analysis in page.report.analyses.iter().filter(|analysis| is_own(analysis.is_of_database)) {
        let seconds = analysis.end.duration_since(analysis.begin).as_secs_f64();
        if seconds <= 0.0 {
            continue;
        }
        let begin = page.out.local(analysis.begin);
        let origin = page.out.origin(analysis.active.line, AwrSection::Analyses.name(), &analysis.active.field);
        let (length, active_sessions) = (Span::from_secs_f64(seconds), analysis.active.value);
        let (user_io, finding) = (analysis.user_io, analysis.finding.clone());
        page.out.analysis(AnalysedPeriod { scope, window, begin, length, active_sessions, user_io, finding, origin });
    }
}
