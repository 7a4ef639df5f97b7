//! AWR reports and Statspack as text: paginated columns under rulers.

use super::compare::ComparedLines;
use super::figures;
use super::readers::MODULE;
use super::report::{Reach, Report};
use super::rows;
use super::section::AwrSection;
use super::top::TopLayout;
use super::waits;
use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::refusal::{InputFault, Refusal};
use crate::text::Numerals;
use crate::text::table::{NamedTable, Row, Ruler, titles};

/// AWR reports as text.
pub(crate) const FORM: Form = Form::lines("awr-text", "AWR report (text)", is_awr, |_| Box::new(AwrText::default()));

pub(crate) const STATSPACK_FORM: Form = Form::lines("statspack", "Statspack report", is_statspack, |_| {
    Box::new(AwrText { lacks: &[AwrSection::IoProfile, AwrSection::FileTypes], ..AwrText::default() })
});

fn is_awr(head: &Head<'_>) -> Resemblance {
    let is_text = !head.has_any(&["<h1", "<table", "<TABLE"]);
    let missing = "heading WORKLOAD REPOSITORY";
    // People copy the front page without its title.
    let is_front_page = ["Begin Snap:", "Elapsed:", "Load Profile", "Per Second"].iter().all(|mark| head.has(mark));
    let is = Resemblance::is(2, is_text && head.has("WORKLOAD REPOSITORY")).or(1, is_text && is_front_page);
    is.or_near(2, is_text && head.has("Begin Snap:"), missing)
}

fn is_statspack(head: &Head<'_>) -> Resemblance {
    let near = head.has_any(&["STATSPACK", "Snap Id"]);
    Resemblance::is(2, head.has("STATSPACK report for")).or_near(1, near, "line `STATSPACK report for`")
}

pub(super) fn parse_report(text: &str) -> Report {
    let mut pages = ReportLines { is_trimmed: is_trimmed(&text.lines().collect::<Vec<_>>()), ..ReportLines::default() };
    for (index, line) in text.lines().enumerate() {
        pages.line(line, index as u64 + 1);
    }
    pages.finish()
}

#[derive(Default)]
struct AwrText {
    pages: ReportLines,
    /// Sections that its kind never has: Statspack has no profile and no file types.
    lacks: &'static [AwrSection],
    /// Set by a title of a comparison of two periods.
    compared: Option<ComparedLines>,
    spacing: Spacing,
}

/// Blank lines after each line, and blanks before all of them, as mails and word processors insert them.
#[derive(Default)]
struct Spacing {
    /// The first lines with their numbers, until they show the spacing.
    opening: Vec<(String, u64)>,
    is_decided: bool,
    is_doubled: bool,
    /// Number of blanks before each line.
    indent: usize,
    /// The line before has text.
    has_text: bool,
}

impl Spacing {
    /// Lines that show the spacing of a report: its first tables have rows without blank lines between them.
    const OPENING: usize = 40;

    /// Decides by the first lines, which are returned.
    fn decide(&mut self) -> Vec<(String, u64)> {
        let opening = std::mem::take(&mut self.opening);
        let has_text = |index: usize| !opening[index].0.trim().is_empty();
        self.is_doubled =
            opening.len() >= 10 && (1..opening.len()).all(|index| !has_text(index - 1) || !has_text(index));
        let indents = opening.iter().filter(|(line, _)| !line.trim().is_empty()).map(|(line, _)| indent_of(line));
        self.indent = indents.min().unwrap_or_default();
        self.is_decided = true;
        opening
    }

    /// True for an inserted line.
    fn is_inserted(&mut self, line: &str) -> bool {
        let has_text = !line.trim().is_empty();
        let is_inserted = self.is_doubled && !has_text && self.has_text;
        self.has_text = has_text;
        is_inserted
    }
}

fn indent_of(line: &str) -> usize {
    line.bytes().take_while(|byte| *byte == b' ').count()
}

/// True if lines lost the blanks before their text: the names of these rows end at the same column.
fn is_trimmed(lines: &[&str]) -> bool {
    let [begin, end, elapsed] = ["Begin Snap:", "End Snap:", "Elapsed:"].map(|name| {
        let row = lines.iter().find(|line| line.trim_start().starts_with(name))?;
        Some(indent_of(&with_blanks(row)))
    });
    begin.is_some() && (end == begin || elapsed == begin)
}

impl AwrText {
    fn report_line(&mut self, line: &str, number: u64, out: &Builder) -> Result<(), Refusal> {
        let line = &line[self.spacing.indent.min(indent_of(line))..];
        if self.spacing.is_inserted(line) {
            return Ok(());
        }
        let is_title =
            ["WORKLOAD REPOSITORY", "STATSPACK report for"].iter().any(|title| line.trim().starts_with(title));
        out.require(!is_title || self.pages.report.met.is_empty(), InputFault::SeveralReports)?;
        if line.contains("COMPARE PERIOD") && line.contains("WORKLOAD REPOSITORY") {
            self.compared.get_or_insert_default().title(line);
        }
        match &mut self.compared {
            Some(compared) => compared.line(line, number),
            None => self.pages.line(line, number),
        }
        Ok(())
    }

    fn opening(&mut self, out: &Builder) -> Result<(), Refusal> {
        let lines = self.spacing.decide();
        self.pages.is_trimmed = is_trimmed(&lines.iter().map(|(line, _)| line.as_str()).collect::<Vec<_>>());
        lines.iter().try_for_each(|(line, number)| self.report_line(line, *number, out))
    }
}

impl LineFormat for AwrText {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if self.spacing.is_decided {
            return self.report_line(line, number, out);
        }
        self.spacing.opening.push((line.to_owned(), number));
        if self.spacing.opening.len() < Spacing::OPENING { Ok(()) } else { self.opening(out) }
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        if !self.spacing.is_decided {
            self.opening(out)?;
        }
        if let Some(compared) = self.compared.take() {
            return compared.finish().make(out);
        }
        let mut report = self.pages.finish();
        report.lacks = self.lacks.to_vec();
        figures::make(&report, out)
    }
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent marks of a text")]
struct ReportLines {
    report: Report,
    /// The section's heading, if any.
    heading: String,
    /// Possible column headings.
    heads: Vec<String>,
    table: Option<Drawing>,
    /// The snapshots, with a name before each line.
    snapshots: NamedTable,
    /// Rows of snapshots end with the number of instances.
    has_instances: bool,
    caches: NamedTable,
    memory: NamedTable,
    /// A program inserted a line into the text: a ruler follows.
    injected: bool,
    /// A line of dashes was found.
    ruled: bool,
    /// Lines lost the blanks before their text.
    is_trimmed: bool,
    number: u64,
}

/// A table in progress.
struct Drawing {
    ruler: Ruler,
    /// Ruler and columns of the first line of each row, in tables with two lines per row.
    first: Option<(Ruler, Vec<String>)>,
    table: NamedTable,
    /// The first line of a row, until the second arrives.
    waiting: Option<Vec<String>>,
    /// The columns of the events with most time.
    top: Option<TopLayout>,
    /// Lines are not below their columns.
    is_shifted: bool,
}

const MAX_ROWS: usize = 200_000;

impl ReportLines {
    fn line(&mut self, line: &str, number: u64) {
        self.number = number;
        self.report.ended |= line.contains("End of Report");
        let expanded;
        let line = line.trim_start_matches('\u{c}').trim_end();
        // SQL*Plus replaces blanks with tabs by default (SET TAB ON).
        let line = if line.contains('\t') {
            expanded = with_blanks(line);
            &expanded
        } else {
            line
        };
        if let Some((heading, about)) = line.split_once("DB/Inst:") {
            self.begin_section(heading, about);
        } else if let Some((heading, about)) =
            line.split_once(" for DB: ").filter(|(_, about)| about.contains("Snaps:"))
        {
            // Statspack before 10.1: `Wait Events for DB: ORCL  Instance: orcl  Snaps: 1 -2`.
            let names = about.split_once("Snaps:").map_or(about, |(names, _)| names);
            self.begin_section(heading, &names.replacen("Instance:", "/", 1).replace(' ', ""));
        } else if is_underline(line) {
            self.underline();
        } else if line.is_empty() {
            self.blank();
        } else if line == "OUTPUT" {
            self.injected = true;
        } else if let Some(ruler) = Ruler::of(line) {
            self.rule(ruler);
        } else if !self.first_page(line) {
            self.row(line);
        }
    }

    /// The report, after the last line.
    fn finish(&mut self) -> Report {
        let cut = self.table.is_some() && !self.heading.is_empty();
        if let (true, Some(drawing)) = (cut, &mut self.table) {
            drawing.table.cut = true;
        }
        self.end_table();
        self.end_first_page();
        let mut report = std::mem::take(&mut self.report);
        report.unruled = !self.ruled;
        waits::settle(&mut report);
        report
    }

    /// Reads the tables of the first page: other sections need the length of the window and the decimal sign.
    fn end_first_page(&mut self) {
        let pages = [
            (AwrSection::Snapshots, &mut self.snapshots),
            (AwrSection::CacheSizes, &mut self.caches),
            (AwrSection::Memory, &mut self.memory),
        ];
        for (section, table) in pages {
            let table = std::mem::take(table);
            if !table.rows.is_empty() {
                rows::read(&mut self.report, section, &table);
            }
        }
    }

    fn begin_section(&mut self, heading: &str, about: &str) {
        self.end_table();
        self.end_first_page();
        heading.trim().clone_into(&mut self.heading);
        self.heads.clear();
        // Statspack omits the name of the database at the top.
        self.report.set_names(about);
    }

    fn blank(&mut self) {
        self.heads.clear();
        let ends = |drawing: &Drawing| {
            drawing.first.is_none() && !drawing.table.rows.is_empty() && !drawing.is_of_statements()
        };
        if self.table.as_ref().is_some_and(ends) {
            self.end_table();
        }
    }

    /// A title ends here: it is not a name of a column.
    fn underline(&mut self) {
        if self.table.as_ref().is_some_and(|drawing| !drawing.table.rows.is_empty()) {
            self.end_table();
        }
        self.heads.clear();
    }

    fn rule(&mut self, ruler: Ruler) {
        self.ruled = true;
        if std::mem::take(&mut self.injected) && ruler.is_single() {
            return;
        }
        let has_rows = self.table.as_ref().is_some_and(|drawing| !drawing.table.rows.is_empty());
        let heads = std::mem::take(&mut self.heads);
        match self.table.take() {
            // The apparent rows are the headings of a second line.
            Some(drawing) if drawing.is_name_alone() && !ruler.is_inner() => {
                let lines: Vec<String> = drawing.table.rows.into_iter().map(|row| row.cells.concat()).collect();
                let columns = titles(lines.iter().map(|line| ruler.cells(line)));
                let first = Some((drawing.ruler, drawing.table.columns));
                self.open(ruler, columns, first);
                self.table.iter_mut().for_each(|drawing| drawing.is_shifted = self.is_trimmed);
            }
            Some(drawing) if has_rows || ruler.is_inner() => {
                self.table = Some(drawing);
                self.end_table();
            }
            // Below a heading over several columns: their own headings follow.
            None if ruler.is_inner() => {}
            _ => {
                let mut columns = titles(heads.iter().map(|head| ruler.cells(head)));
                let top = heads.last().and_then(|head| TopLayout::of(head));
                if let Some(layout) = &top {
                    columns = layout.columns();
                }
                // Before 11.2 the ruler begins right of the names.
                let is_profile = heads.iter().any(|head| head.trim() == "Load Profile")
                    && heads.last().is_some_and(|head| head.contains("Per Second"));
                if is_profile {
                    columns = ["load profile", "per second", "per transaction"].map(str::to_owned).to_vec();
                }
                // The line above the last begins with blanks.
                let is_shifted = self.is_trimmed && heads.len() > 1 && top.is_none() && !is_profile;
                if columns.iter().any(|column| !column.is_empty()) {
                    self.open(ruler, columns, None);
                    if let Some(drawing) = &mut self.table {
                        (drawing.top, drawing.is_shifted) = (top, is_shifted);
                    }
                }
            }
        }
    }

    fn open(&mut self, ruler: Ruler, mut columns: Vec<String>, first: Option<(Ruler, Vec<String>)>) {
        if let Some((_, names)) = &first {
            columns.splice(0..0, names.iter().cloned());
        }
        let table = NamedTable { heading: self.heading.clone(), line: self.number, columns, ..NamedTable::default() };
        self.table = Some(Drawing { ruler, first, table, waiting: None, top: None, is_shifted: false });
    }

    fn row(&mut self, line: &str) {
        let line_number = self.number;
        let top = self.heads.last().filter(|_| self.table.is_none()).and_then(|head| TopLayout::of(head));
        // A copy without the ruler.
        if let Some(top) = top.filter(|top| top.split_row(line).is_some()) {
            self.heads.clear();
            self.open(Ruler::full_width(), top.columns(), None);
            self.table.iter_mut().for_each(|drawing| drawing.top = Some(top.clone()));
        }
        let Some(drawing) = &mut self.table else {
            // Notes are placed between a heading and its table; ornaments mark headings over several columns.
            if !line.starts_with("->") && !line.contains("---") {
                self.heads.push(line.to_owned());
            }
            if self.heads.len() > 8 {
                self.heads.remove(0);
            }
            return;
        };
        if drawing.table.rows.len() >= MAX_ROWS {
            drawing.table.cut = true;
            return;
        }
        drawing.is_shifted |= self.is_trimmed && !drawing.is_by_words() && !drawing.ruler.fits(line);
        let cells = drawing.cells(line);
        drawing.table.rows.extend(cells.map(|cells| Row { line: line_number, cells }));
    }

    fn end_table(&mut self) {
        let Some(drawing) = self.table.take() else { return };
        let table = drawing.table;
        match AwrSection::of_text(&table) {
            _ if drawing.is_shifted => self.report.shift(&table.heading),
            Some(section) => rows::read(&mut self.report, section, &table),
            None if !table.heading.is_empty() => self.report.ignore(&table.heading),
            None => {}
        }
    }

    /// Reads lines of the first page that have no ruler: names with their values.
    fn first_page(&mut self, line: &str) -> bool {
        if !self.heading.is_empty() {
            return false;
        }
        if line.contains("WORKLOAD REPOSITORY PDB") {
            self.report.reach = Reach::Pluggable;
        }
        let text = line.trim_start();
        if text.starts_with("Snap Id") {
            self.has_instances = text.trim_end().ends_with(" Instances");
        }
        if self.report.release.is_empty()
            && let Some(release) = text.split_whitespace().find(|word| is_release(word))
        {
            release.clone_into(&mut self.report.release);
        }
        for name in ["Begin Snap:", "End Snap:", "Elapsed:", "DB Time:", "DB time:"] {
            if let Some(rest) = text.strip_prefix(name) {
                let value = if name.contains("Snap") { moment_of(rest) } else { up_to_bracket(rest) };
                // The tables of the front page precede the end of this one, and need the decimal sign.
                if let Some(numerals) =
                    value.split_whitespace().next().filter(|_| name == "Elapsed:").and_then(Numerals::of)
                {
                    self.report.numerals = numerals;
                }
                let name = if name == "DB time:" { "DB Time:" } else { name };
                let instances = rest.split_whitespace().last().filter(|_| self.has_instances && name.contains("Snap"));
                let cells = vec![name.to_owned(), value, instances.unwrap_or_default().to_owned()];
                self.snapshots.columns = ["", "snap time", "instances"].map(str::to_owned).to_vec();
                self.snapshots.rows.push(Row { line: self.number, cells });
                self.table = None;
                return true;
            }
        }
        if let Some((name, values)) = text.split_once(':').filter(|(name, _)| is_memory(name)) {
            let cells = std::iter::once(name).chain(values.split_whitespace()).map(str::to_owned).collect();
            self.memory.columns = ["", "begin", "end"].map(str::to_owned).to_vec();
            self.memory.rows.push(Row { line: self.number, cells });
            return true;
        }
        let mut found = false;
        for name in ["Buffer Cache:", "Std Block Size:"] {
            if let Some((_, rest)) = text.split_once(name) {
                let value = rest.split_whitespace().next().unwrap_or_default();
                self.caches.rows.push(Row { line: self.number, cells: vec![name.to_owned(), value.to_owned()] });
                found = true;
            }
        }
        // The sizes have their names beside them: the ruler above is no table.
        if found && self.table.as_ref().is_some_and(|drawing| drawing.table.rows.is_empty()) {
            self.table = None;
        }
        found
    }
}

/// True for a release of five numbers, `11.2.0.4.0`.
fn is_release(word: &str) -> bool {
    word.split('.').count() == 5 && word.split('.').all(|part| part.parse::<u32>().is_ok())
}

/// True for the rows of memory in use.
fn is_memory(name: &str) -> bool {
    matches!(name, "SGA use (MB)" | "PGA use (MB)")
}

impl Drawing {
    /// True for the first of two rulers: a tablespace, or a tablespace and a file.
    fn is_name_alone(&self) -> bool {
        let names = &self.table.columns;
        names.first().is_some_and(|name| name == "tablespace")
            && (names.len() == 1 || names[1] == "filename")
            && self.first.is_none()
    }

    /// True for statements, each of which ends with a blank line.
    fn is_of_statements(&self) -> bool {
        AwrSection::of(&self.table.columns) == Some(AwrSection::Statements)
    }

    /// True for a table whose rows have their numbers after a name and a colon.
    fn is_profile(&self) -> bool {
        self.table.columns.first().is_some_and(|name| name.ends_with("profile"))
    }

    /// True for a table whose rows are read without positions.
    fn is_by_words(&self) -> bool {
        self.top.is_some() || self.is_profile()
    }

    /// The cells of a row; none if its second line is still missing.
    fn cells(&mut self, line: &str) -> Option<Vec<String>> {
        if let Some((ruler, _)) = &self.first {
            let Some(mut names) = self.waiting.take() else {
                self.waiting = Some(ruler.cells(line));
                return None;
            };
            names.extend(self.ruler.cells(line));
            return Some(names);
        }
        if line.starts_with(MODULE) && self.is_of_statements() {
            return Some(vec![line.to_owned()]);
        }
        if self.is_profile() {
            // Names exceed the ruler here, and only the last cells may be blank.
            let (name, numbers) = line.split_once(": ").unwrap_or((line.trim_end_matches(':'), ""));
            let name = name.split_whitespace().collect::<Vec<&str>>().join(" ");
            return Some(std::iter::once(name).chain(numbers.split_whitespace().map(str::to_owned)).collect());
        }
        if let Some(top) = &self.top {
            // Positions decide about other numbers of words, unless the ruler has other columns.
            let of_ruler = || self.ruler.cells(line);
            let has_columns = |cells: &Vec<String>| cells.len() == self.table.columns.len();
            let cells = top.split_row(line).or_else(|| Some(of_ruler()).filter(has_columns));
            return Some(cells.unwrap_or_else(|| vec![line.to_owned()]));
        }
        // The lines between two rulers are kept verbatim.
        if self.is_name_alone() { Some(vec![line.to_owned()]) } else { Some(self.ruler.cells(line)) }
    }
}

/// True for a single run of tildes from the first column on.
fn is_underline(line: &str) -> bool {
    line.len() >= 3 && line.bytes().all(|byte| byte == b'~')
}

/// A line with its tabs replaced: stops are at every eighth column.
fn with_blanks(line: &str) -> String {
    const STOP: usize = 8;
    let (mut text, mut column) = (String::with_capacity(line.len() * 2), 0);
    for letter in line.chars() {
        if letter == '\t' {
            let blanks = STOP - column % STOP;
            text.extend(std::iter::repeat_n(' ', blanks));
            column += blanks;
        } else {
            text.push(letter);
            column += 1;
        }
    }
    text
}

/// The two words of a timestamp: a date with hyphens, and a time.
fn moment_of(text: &str) -> String {
    // Some languages pad the names of months with blanks.
    let text = text.replace(" -", "-");
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().position(|word| word.matches('-').count() == 2);
    at.and_then(|at| Some(format!("{} {}", words[at], words.get(at + 1)?))).unwrap_or_default()
}

/// `60.22 (mins)` from `60.22 (mins) Av Act Sess: 7.1`.
fn up_to_bracket(text: &str) -> String {
    text.split_inclusive(')').next().unwrap_or_default().trim().to_owned()
}
