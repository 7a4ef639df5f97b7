//! AWR reports whose tables were copied as text: cells between tabs, as browsers copy them, or between bars, as
//! converters of HTML, Markdown and wikis write them. Columns have the names of the HTML report.

use super::figures;
use super::report::{Reach, Report};
use super::rows;
use super::section::AwrSection;
use super::waits;
use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, Resemblance};
use crate::refusal::{InputFault, Refusal};
use crate::text::table::{NamedTable, Row, Ruler, cells, plain, spaced};

/// AWR reports with cells between tabs or bars.
pub(crate) const FORM: Form = Form::document("awr-cells", "AWR report (copied tables)", resembles, read);

/// Maximum cells of a line.
const MAX_CELLS: usize = 1_000;

fn resembles(head: &Head<'_>) -> Resemblance {
    /// Fewer lines with cells may be prose.
    const MIN_LINES: usize = 5;
    let titled = head.has_any(&["WORKLOAD REPOSITORY", "Begin Snap:"]);
    let is_html = head.has_any(&["<h1", "<table", "<TABLE"]);
    if !titled || is_html {
        return Resemblance::None;
    }
    // Columns under rulers are those of the text report, with or without tabs.
    let is_ruled = head.text().lines().any(|line| Ruler::of(line.trim_ascii()).is_some_and(|ruler| !ruler.is_single()));
    let lines = head.text().lines().filter(|line| find_separator(line).is_some()).count();
    Resemblance::is(4, !is_ruled && (lines >= MIN_LINES || find_list_separator(head.text()).is_some()))
}

/// The separator of tables that a spreadsheet wrote as separated values; none for other texts.
fn find_list_separator(text: &str) -> Option<char> {
    /// A single line may be prose.
    const MIN_HEADINGS: usize = 2;
    let is_heading = |line: &str, mark: char| {
        let names: Vec<String> = split_list(line, mark).map(|cell| plain(&cell)).collect();
        names.len() > 1 && AwrSection::of(&names).is_some()
    };
    [';', ','].into_iter().find(|mark| text.lines().filter(|line| is_heading(line, *mark)).count() >= MIN_HEADINGS)
}

/// The cells of a line of separated values, without the empty ones that fill it.
fn split_list(line: &str, mark: char) -> impl Iterator<Item = String> {
    let mut all: Vec<String> = cells(line, mark).take(MAX_CELLS).map(|cell| cell.replace(['\t', '|'], " ")).collect();
    while all.last().is_some_and(|cell| cell.trim().is_empty()) {
        all.pop();
    }
    all.into_iter()
}

fn read(_: &FormatInput, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
    let mut text = String::from_utf8_lossy(document);
    if let Some(mark) = find_list_separator(&text) {
        text = text.lines().map(|line| split_list(line, mark).collect::<Vec<_>>().join("\t") + "\n").collect();
    }
    let mut tables = CopiedTables::default();
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        tables.line(line, lines.get(index + 1).copied().unwrap_or_default(), index as u64 + 1);
    }
    let report = tables.finish();
    out.require(!report.has_another, InputFault::SeveralReports)?;
    figures::make(&report, out)
}

/// The separator of a line's cells.
fn find_separator(line: &str) -> Option<char> {
    ['\t', '|'].into_iter().find(|mark| line.contains(*mark))
}

/// True for a line between the names of columns and the first row.
fn is_rule(line: &str) -> bool {
    let is_mark = |byte: u8| matches!(byte, b'-' | b'|' | b':' | b'+' | b'=' | b' ' | b'\t');
    line.contains("--") && line.bytes().all(is_mark)
}

/// Collects a report from its lines.
#[derive(Default)]
struct CopiedTables {
    report: Report,
    heading: String,
    table: Option<NamedTable>,
    /// Lines begin and end with a separator.
    is_bordered: bool,
}

impl CopiedTables {
    fn line(&mut self, line: &str, next: &str, number: u64) {
        self.report.ended |= line.contains("End of Report");
        if is_rule(line) {
            return;
        }
        let Some(separator) = find_separator(line) else { return self.text(line) };
        if self.table.is_none() {
            let is_framed = |line: &str| line.starts_with(['|', '+']) && line.ends_with(['|', '+']);
            let frame = if is_rule(next) { next } else { line };
            self.is_bordered = separator == '|' && is_framed(frame.trim());
        }
        let cells = self.cells(line, separator);
        let names: Vec<String> = cells.iter().map(|cell| plain(cell)).collect();
        if let Some(table) = self.table.as_mut().filter(|table| table.rows.is_empty())
            && let Some(columns) = join_headings(&table.columns, &names)
        {
            table.columns = columns;
            return;
        }
        let is_heading = AwrSection::of(&names).is_some();
        match &mut self.table {
            Some(table) if !is_heading => {
                // Copies may lose the empty name of the first column.
                if table.rows.is_empty() && table.columns.len() + 1 == cells.len() {
                    table.columns.insert(0, String::new());
                }
                table.rows.push(Row { line: number, cells });
            }
            _ => {
                self.end_table();
                let heading = self.heading.clone();
                self.table = Some(NamedTable { heading, line: number, columns: names, ..NamedTable::default() });
            }
        }
    }

    /// A line between tables: a heading, a remark, or none.
    fn text(&mut self, line: &str) {
        self.end_table();
        let text = clean(line.trim_start_matches(['#', ' ']));
        let is_remark =
            text.is_empty() || text.starts_with(['*', '-', '[', '\u{2022}']) || line.trim().starts_with("* ");
        if is_remark {
            return;
        }
        let lower = text.to_ascii_lowercase();
        self.report.has_another |= lower.starts_with("workload repository") && !self.report.met.is_empty();
        if lower.contains("workload repository pdb report") {
            self.report.reach = Reach::Pluggable;
        }
        self.heading = text;
    }

    fn cells(&self, line: &str, separator: char) -> Vec<String> {
        let mut line = line;
        if separator == '|' {
            line = line.trim();
            // A wiki doubles the bars of a heading.
            let bars = if line.starts_with("||") && line.ends_with("||") { "||" } else { "|" };
            if self.is_bordered {
                line = line.strip_prefix(bars).unwrap_or(line);
                line = line.strip_suffix(bars).unwrap_or(line);
            }
            return line.split(bars).take(MAX_CELLS).map(clean).collect();
        }
        line.split(separator).take(MAX_CELLS).map(clean).collect()
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        match AwrSection::of_table(&table) {
            Some(section) => rows::read(&mut self.report, section, &table),
            None => self.report.ignore(&table.heading),
        }
    }

    fn finish(mut self) -> Report {
        self.end_table();
        waits::settle(&mut self.report);
        self.report
    }
}

/// Names of columns below spanning headings, each in one cell: copies lose the number of columns of a heading. None
/// unless they are the columns of a section.
fn join_headings(headings: &[String], names: &[String]) -> Option<Vec<String>> {
    /// Columns of a heading, if it has not two. The last one spans the rest.
    const SPANS: [(&str, usize); 8] = [
        ("database", 8),
        ("cpu", 3),
        ("% cpu", 5),
        ("time (s)", 3),
        ("memory", 1),
        ("wait time", 3),
        ("requests", 4),
        ("mb", 4),
    ];
    if headings.iter().all(String::is_empty) || AwrSection::of(headings).is_some() {
        return None;
    }
    let span = |heading: &String| match heading.as_str() {
        "" => 1,
        heading => SPANS.iter().find(|(name, _)| *name == heading).map_or(2, |(_, span)| *span),
    };
    let join = |headings: &[String]| {
        let (last, before) = headings.split_last()?;
        let spread = before.iter().flat_map(|heading| std::iter::repeat_n(heading, span(heading)));
        let spread = spread.chain(std::iter::repeat(last)).zip(names);
        let columns: Vec<String> = spread.map(|(heading, name)| plain(&format!("{heading} {name}"))).collect();
        AwrSection::of(&columns).map(|_| columns)
    };
    // Copies may fill rows to an equal number of cells.
    let filled = headings.iter().rev().take_while(|heading| heading.is_empty()).count();
    join(headings).or_else(|| join(&headings[..headings.len() - filled]))
}

/// The text of a cell without marks of emphasis and escapes.
fn clean(cell: &str) -> String {
    let mut text = spaced(&cell.replace("&nbsp;", " ").replace("**", "").replace('`', ""));
    // Markdown escapes punctuation: `\_`, `\-`.
    while let Some(at) = text.find('\\').filter(|at| text.as_bytes().get(at + 1).is_some_and(u8::is_ascii_punctuation))
    {
        text.remove(at);
        if text.as_bytes()[at] == b'\\' {
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::join_headings;

    fn check(headings: &str, names: &str, expected: Option<&str>) {
        let split = |text: &str| text.split('|').map(str::to_owned).collect::<Vec<_>>();
        let found = join_headings(&split(headings), &split(names)).map(|columns| columns.join("|"));
        assert_eq!(found.as_deref(), expected, "{headings}");
    }

    #[test]
    fn spanning_headings_precede_the_names_of_their_columns() {
        let names =
            "i#|filetype name|total|ios/s|reads/s|writes/s|total|io mb/s|read mb/s|write mb/s|small read|large read";
        let columns = "i#|filetype name|requests total|requests ios/s|requests reads/s|requests writes/s|mb total|mb io mb/s|\
                       mb read mb/s|mb write mb/s|service time small read|service time large read";
        check("||requests|mb|service time", names, Some(columns));
        check("||requests|mb|service time|||||||", names, Some(columns));
        check(
            "||||per second",
            "statistic|total|per second|per trans|average|std dev|min|max",
            Some(
                "statistic|total|per second|per trans|per second average|per second std dev|per second min|\
                 per second max",
            ),
        );
        check("||requests|mb", "cell name|io reason|total|per sec|total|per sec", None);
        check("statistic|total|per second|per trans", "redo size|1|2|3", None);
    }
}
