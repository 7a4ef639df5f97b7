//! A result as a page of data: verdict, sections, facts, tables and charts, independent of every output form.
//!
//! A builder in `pages` decides content, order and wording. The renderers (`page.rs` of each form) are independent of
//! results.

use std::borrow::Cow;

use maud::Markup;
use plimsoll_catalogue::{Money, Price};
use plimsoll_language::{label, say};
use plimsoll_record::{Estimate, Weight};

use crate::number;
use crate::words::clean;

/// The text of an unknown value.
pub(crate) const UNKNOWN: &str = "\u{2013}";

/// A result before it is rendered.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Title of the document. Terminals omit it.
    pub title: String,
    /// The runs or inputs behind the result, a sentence each.
    pub subject: Vec<String>,
    /// A finding that limits or voids the verdict; precedes it.
    pub alert: Option<(Emphasis, String)>,
    /// The result in a sentence; `None` for lists and descriptions.
    pub headline: Option<Headline>,
    /// Origin of the figures, such as `measured`; completes the headline. Empty if the sections contain it.
    pub origin: &'static str,
    /// Key figures, with notes as remarks. The full text omits them, as the sections have them.
    pub figures: Vec<Fact>,
    /// The plot or table of the summary.
    pub exhibit: Exhibit,
    /// Place of the findings in the summary.
    pub order: SummaryOrder,
    /// The parts, in reading order.
    pub sections: Vec<PageSection>,
    /// Commands that follow from the result: purpose and command line.
    pub next: Vec<(String, String)>,
    /// Names and versions of the programs that recorded the data; empty for this program.
    pub made_by: String,
}

/// Place of the findings in a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SummaryOrder {
    /// Before the plot or table.
    #[default]
    FindingsFirst,
    /// Behind it, and none where it leaves no room.
    ExhibitFirst,
}

/// The plot or table of a summary.
#[derive(Clone, Debug, Default)]
pub enum Exhibit {
    /// The first of the sections that fits.
    #[default]
    OfSections,
    /// This block, or the first of the sections if it does not fit.
    Block(Block),
    /// None: figures and findings have all lines.
    None,
}

/// The verdict, and its grade of doubt.
#[derive(Clone, Debug, Default)]
pub struct Headline {
    /// A sentence of at most 25 words.
    pub text: String,
    /// Grade of doubt in a word or two, such as `simulated` or `fair confidence`. Terminals print it among the notes.
    pub grade: &'static str,
    /// Limitations of the verdict, a sentence each.
    pub cautions: Vec<String>,
    /// Sentences that complete the verdict.
    pub details: Vec<String>,
}

impl Headline {
    /// A sentence without a grade of doubt.
    pub fn of(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

#[derive(Clone, Debug, Default)]
pub struct PageSection {
    /// Title, also in the list of contents.
    pub heading: String,
    /// Anchor for links; generated if empty.
    pub anchor: String,
    /// How the heading and the content are shown.
    pub visibility: Visibility,
    /// Content, in reading order.
    pub blocks: Vec<Block>,
}

/// How a section is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Visibility {
    #[default]
    Open,
    /// Terminals omit the heading.
    Bare,
    /// HTML collapses the content.
    Folded,
    /// HTML collapses the content; terminals omit it.
    Detail,
}

/// A piece of a section.
#[derive(Clone, Debug)]
pub enum Block {
    Text(String),
    /// A paragraph of secondary importance.
    Note(String),
    /// Title of the blocks that follow in the section.
    Heading(String),
    /// Names with values, warnings and findings included.
    Facts(Vec<Fact>),
    /// Entries with remarks.
    Items(Vec<Item>),
    /// Figures in rows.
    Table(Table),
    /// A table for CSV only, as the page has its content in words. If a page has such tables, CSV has no others.
    Data(Table),
    /// A picture; HTML only.
    Chart(Chart),
    /// A curve in characters; terminals only.
    Plot(Plot),
    /// Bars of letters; terminals only.
    Shares(Shares),
    /// Lines in the layout of another program: never wrapped.
    Listing(String),
}

/// A name with its value.
#[derive(Clone, Debug, Default)]
pub struct Fact {
    /// The name, at most 8 letters.
    pub name: Cow<'static, str>,
    pub emphasis: Emphasis,
    pub text: String,
    /// Components of the value: amount and description.
    pub parts: Vec<(String, String)>,
    /// Sources and remedies.
    pub remarks: Vec<String>,
    /// Places of the page that support it; HTML only.
    pub links: Vec<Link>,
}

/// A link to a place of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Anchor of a section or of a row.
    pub anchor: String,
    pub name: String,
}

/// Emphasis, from none to the gravest finding. The text always has the same information in words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Emphasis {
    /// None.
    #[default]
    Plain,
    /// The most important fact.
    Strong,
    /// A finding that matters little.
    Note,
    /// A finding that limits the validity of the figures.
    Caution,
    /// A finding that invalidates the figures.
    Void,
}

/// An entry of a list.
#[derive(Clone, Debug, Default)]
pub struct Item {
    pub text: String,
    pub remarks: Vec<String>,
}

/// Rows of figures.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Description for screen readers.
    pub label: String,
    /// Name and type of each column.
    pub columns: Vec<Column>,
    /// Cells, in the order of the columns.
    pub rows: Vec<Vec<Cell>>,
    /// Headings between rows: index of the row below, text.
    pub groups: Vec<(usize, String)>,
    /// Sentences below the table.
    pub notes: Vec<String>,
    pub layout: TableLayout,
    pub extent: TableExtent,
    /// Place of the intervals of its cells.
    pub intervals: IntervalPlace,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableLayout {
    /// Aligned columns below their heads, within the width.
    #[default]
    Grid,
    /// A line for each row, without heads and of any length, so that scripts can read it.
    Lines,
}

/// Rows of a table on the first screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableExtent {
    /// The first rows, as many as the screen has room for.
    #[default]
    First,
    /// All rows: the user named each of them.
    All,
}

/// Place of the intervals of a table's cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IntervalPlace {
    /// Below the values in HTML, in a column of their own in the other forms.
    #[default]
    Column,
    /// Below the values in HTML; the other forms omit them, as another column has their width.
    HtmlOnly,
}

/// Name and type of a column.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: Cow<'static, str>,
    /// The unit of its values, or the second line of its name.
    pub unit: &'static str,
    /// The type of its values; determines the alignment.
    pub kind: ColumnKind,
    /// Drop priority: 0 is always kept; of the others the highest is dropped first if the width is too small.
    pub priority: u8,
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    Text,
    /// A configuration or a path: never wrapped; above its row if the width is too small.
    Name,
    /// Operations or bytes in a time.
    Rate,
    /// Latencies and durations.
    Time,
    /// Bytes.
    Size,
    /// Amounts with their currency.
    Money,
    /// Shares, ratios and counts.
    Share,
    /// Reasons for doubt, separated by commas: letters with a legend if the width is too small.
    Reasons,
}

/// A value of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// The formatted value.
    pub text: String,
    /// The value for CSV, with full precision and without grouping; empty if unknown.
    pub exact: String,
    /// Its 95 % interval, such as `39,800 to 42,600`; forms other than HTML show it in a separate column.
    pub interval: Option<String>,
    /// Emphasis. On the first cell of a row it applies to the row.
    pub emphasis: Emphasis,
    /// Anchor of the value's source, or a path of the server of this page; HTML only.
    pub link: Option<String>,
    /// Anchor of the row; on its first cell.
    pub anchor: Option<String>,
    /// Length of a bar next to the value, from 0 to 1; HTML only.
    pub gauge: Option<f64>,
    /// Number of the series that the row describes, for its marker in the charts; HTML only.
    pub series: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct Chart {
    /// The drawing, with its description and its sources.
    pub markup: Markup,
    /// The data as a table, for the other forms.
    pub plain: Option<Table>,
}

/// Response time against throughput, for a drawing in characters.
#[derive(Clone, Debug, Default)]
pub struct Plot {
    /// Title, without its values.
    pub title: String,
    /// Loads, in the order of the curve.
    pub points: Vec<PlotPoint>,
    /// Operations per second and nanoseconds of the fitted median and 99th percentile, ascending.
    pub fits: [Vec<(f64, f64)>; 2],
    /// Limit of the response time in nanoseconds.
    pub limit_ns: Option<f64>,
    /// The load line in operations per second.
    pub line_iops: Option<f64>,
    /// Meaning of the signs.
    pub legend: String,
}

#[derive(Clone, Copy, Debug)]
pub struct PlotPoint {
    /// Completed operations per second.
    pub iops: f64,
    /// Median and 99th percentile of the response time in nanoseconds.
    pub percentiles_ns: [Option<f64>; 2],
    /// True if arrivals are timed (open load).
    pub is_open: bool,
    /// True if the load arrived faster than it was completed.
    pub is_overloaded: bool,
}

/// Bars of equal length, each divided among letters.
#[derive(Clone, Debug, Default)]
pub struct Shares {
    /// Name of each bar, and its parts: letter and share, 0 to 1.
    pub bars: Vec<(String, Vec<(char, f64)>)>,
    /// Meaning of the letters.
    pub legend: String,
}

impl PageSection {
    /// A section with a heading in every form.
    pub fn new(heading: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self { heading: heading.into(), anchor: String::new(), visibility: Visibility::Open, blocks }
    }

    /// A section without a heading on terminals.
    pub fn bare(heading: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self { visibility: Visibility::Bare, ..Self::new(heading, blocks) }
    }

    /// A section that HTML collapses.
    pub(crate) fn folded(heading: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self { visibility: Visibility::Folded, ..Self::new(heading, blocks) }
    }

    /// A section that HTML collapses and terminals omit.
    pub(crate) fn detail(heading: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self { visibility: Visibility::Detail, ..Self::new(heading, blocks) }
    }

    pub(crate) fn with_anchor(self, anchor: impl Into<String>) -> Self {
        Self { anchor: anchor.into(), ..self }
    }

    /// Prefixes the heading with the name of a run, for pages of several runs.
    pub(crate) fn of_run(self, label: &str) -> Self {
        Self { heading: format!("{label}: {}", self.heading), ..self }
    }

    /// True if a form would show any block.
    pub(crate) fn has_content(&self) -> bool {
        self.blocks.iter().any(|block| match block {
            Block::Text(text) | Block::Note(text) | Block::Heading(text) | Block::Listing(text) => !text.is_empty(),
            Block::Facts(facts) => !facts.is_empty(),
            Block::Items(items) => !items.is_empty(),
            Block::Table(table) => !table.rows.is_empty(),
            // A plot and shares repeat the chart before them.
            Block::Data(_) | Block::Plot(_) | Block::Shares(_) => false,
            Block::Chart(_) => true,
        })
    }
}

impl Page {
    /// A page with one section: names with their values below a heading. Empty values are omitted.
    pub fn of_facts<N: Into<Cow<'static, str>>>(
        title: impl Into<String>,
        heading: impl Into<String>,
        facts: impl IntoIterator<Item = (N, String)>,
    ) -> Self {
        let facts = facts.into_iter().filter(|(_, text)| !text.is_empty());
        let facts = facts.map(|(name, text)| Fact::new(name, text)).collect();
        let sections = vec![PageSection::new(heading, vec![Block::Facts(facts)])];
        Self { title: title.into(), sections, ..Self::default() }
    }

    /// The same with a caution among the facts of the first section.
    pub fn with_caution(mut self, caution: Option<String>) -> Self {
        if let Some(Block::Facts(facts)) = self.sections.first_mut().and_then(|section| section.blocks.first_mut()) {
            facts.extend(caution.map(|text| Fact::caution(label!("caution"), text)));
        }
        self
    }

    /// A page with one block.
    pub fn of_block(title: impl Into<String>, block: Block) -> Self {
        Self { title: title.into(), sections: vec![PageSection::bare("", vec![block])], ..Self::default() }
    }

    /// A page with a table, or with a paragraph if the table has no rows.
    pub fn of_table(table: Table, none: &str) -> Self {
        let block = if table.rows.is_empty() { Block::Text(none.to_owned()) } else { Block::Table(table.clone()) };
        Self::of_block(table.label, block)
    }

    /// The sections that have content.
    pub(crate) fn display(&self) -> impl Iterator<Item = &PageSection> {
        self.sections.iter().filter(|section| section.has_content())
    }
}

impl Fact {
    /// A name with its value.
    pub fn new(name: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), ..Self::default() }
    }

    /// A limitation that the reader has to know.
    pub(crate) fn caution(name: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        Self { emphasis: Emphasis::Caution, ..Self::new(name, text) }
    }

    pub(crate) fn with_emphasis(self, emphasis: Emphasis) -> Self {
        Self { emphasis, ..self }
    }

    pub(crate) fn with_links(self, links: Vec<Link>) -> Self {
        Self { links, ..self }
    }

    /// Adds a source or a remedy; an empty text is ignored.
    pub(crate) fn with_remark(mut self, remark: impl Into<String>) -> Self {
        self.remarks.extend(Some(remark.into()).filter(|remark| !remark.is_empty()));
        self
    }
}

impl Item {
    /// An entry with its remarks; empty remarks are omitted.
    pub(crate) fn new(text: impl Into<String>, remarks: impl IntoIterator<Item = String>) -> Self {
        let remarks = remarks.into_iter().filter(|remark| !remark.is_empty()).collect();
        Self { text: text.into(), remarks }
    }
}

impl Column {
    /// A column with a unit, or with a second line of its name.
    pub const fn new(name: &'static str, unit: &'static str, kind: ColumnKind, priority: u8) -> Self {
        Self { name: Cow::Borrowed(name), unit, kind, priority }
    }

    /// A column of words.
    pub const fn text(name: &'static str, priority: u8) -> Self {
        Self::new(name, "", ColumnKind::Text, priority)
    }

    pub(crate) const fn rate(name: &'static str, unit: &'static str, priority: u8) -> Self {
        Self::new(name, unit, ColumnKind::Rate, priority)
    }

    pub(crate) const fn time(name: &'static str, unit: &'static str, priority: u8) -> Self {
        Self::new(name, unit, ColumnKind::Time, priority)
    }

    /// Reasons for doubt, which no width omits.
    pub(crate) fn doubts() -> Self {
        Self::new(label!("doubts"), "", ColumnKind::Reasons, 0)
    }

    /// Money per month.
    pub(crate) fn monthly(name: &'static str, priority: u8) -> Self {
        Self::new(name, label!("a month"), ColumnKind::Money, priority)
    }

    pub(crate) fn configuration() -> Self {
        Self::new(label!("configuration"), "", ColumnKind::Name, 0)
    }

    /// Name and unit on one line.
    pub(crate) fn title(&self) -> String {
        [&*self.name, self.unit].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Words are aligned left; figures are aligned by their decimal points.
    pub(crate) const fn is_words(&self) -> bool {
        matches!(self.kind, ColumnKind::Text | ColumnKind::Name | ColumnKind::Reasons)
    }
}

impl Cell {
    /// Text; a dash is an unknown value.
    pub fn text(text: impl AsRef<str>) -> Self {
        let text = clean(text.as_ref());
        let exact = if text == UNKNOWN { String::new() } else { text.clone() };
        Self { text, exact, ..Self::default() }
    }

    /// A formatted figure and its exact value.
    pub fn figure(text: String, value: f64) -> Self {
        let exact = if value.is_finite() { (value + 0.0).to_string() } else { String::new() };
        Self { text, exact, ..Self::default() }
    }

    /// Operations per second.
    pub(crate) fn rate(iops: f64) -> Self {
        Self::figure(number::rate(iops), iops)
    }

    /// Three significant digits.
    pub(crate) fn three(value: f64) -> Self {
        Self::figure(number::three(value), value)
    }

    /// A share as a percentage.
    pub(crate) fn percent(share: f64) -> Self {
        Self::figure(number::percent(share), share)
    }

    /// An amount; a dash for `None`.
    pub fn money(sum: Option<Money>) -> Self {
        sum.map_or_else(Self::unknown, |sum| Self {
            text: sum.to_string(),
            exact: format!("{} {}", sum.exact(), sum.currency.code()),
            ..Self::default()
        })
    }

    /// A monthly price; without a part it is a lower bound, also in CSV, where `>=120.6` is no number to add up.
    pub fn price(price: Option<&Price>) -> Self {
        let cell = Self::money(price.map(|price| price.monthly));
        if price.is_none_or(Price::is_complete) {
            return cell;
        }
        Self { text: format!("{}{}", label!("at least "), cell.text), exact: format!(">={}", cell.exact), ..cell }
    }

    pub(crate) fn unknown() -> Self {
        Self::text(UNKNOWN)
    }

    /// The cell of a value, or a dash.
    pub(crate) fn or_unknown<T>(value: Option<T>, cell: impl FnOnce(T) -> Self) -> Self {
        value.map_or_else(Self::unknown, cell)
    }

    pub(crate) fn with_interval(self, interval: impl Into<String>) -> Self {
        Self { interval: Some(interval.into()), ..self }
    }

    pub(crate) fn with_link(self, link: Option<String>) -> Self {
        Self { link, ..self }
    }

    pub(crate) fn with_gauge(self, share: f64) -> Self {
        Self { gauge: Some(share), ..self }
    }

    pub(crate) fn with_series(self, index: usize) -> Self {
        Self { series: Some(index), ..self }
    }

    /// The cell of an estimate, with its interval.
    pub(crate) fn estimate(estimate: &Estimate, show: impl Fn(f64) -> String) -> Self {
        let cell = Self::figure(show(estimate.value), estimate.value);
        match number::interval(estimate) {
            Some((low, high)) => cell.with_interval(say!("{} to {}", show(low), show(high))),
            None => cell,
        }
    }

    pub(crate) fn with_emphasis(self, emphasis: Emphasis) -> Self {
        Self { emphasis, ..self }
    }
}

impl Chart {
    /// A picture whose figures are in a table of the page.
    pub(crate) const fn new(markup: Markup) -> Self {
        Self { markup, plain: None }
    }
}

impl Table {
    /// A table with a row for each item, whose columns follow with [`TableRows::column`].
    pub fn rows<T>(label: impl Into<String>, items: impl IntoIterator<Item = T>) -> TableRows<T> {
        let items: Vec<T> = items.into_iter().collect();
        let rows = items.iter().map(|_| Vec::new()).collect();
        TableRows { items, table: Self { label: label.into(), rows, ..Self::default() } }
    }

    /// A table with a row for each item.
    pub(crate) fn of<T>(
        label: impl Into<String>,
        columns: impl Into<Vec<Column>>,
        things: impl IntoIterator<Item = T>,
        row: impl FnMut(T) -> Vec<Cell>,
    ) -> Self {
        let rows = things.into_iter().map(row).collect();
        Self { label: label.into(), columns: columns.into(), rows, ..Self::default() }
    }

    /// Sets the sentences below the table.
    pub fn with_notes(self, notes: impl IntoIterator<Item = String>) -> Self {
        Self { notes: notes.into_iter().collect(), ..self }
    }

    /// Drops the columns without a known value.
    pub(crate) fn without_unknown(mut self) -> Self {
        for index in (0..self.columns.len()).rev() {
            if self.rows.iter().all(|row| [UNKNOWN, ""].contains(&row[index].text.as_str())) {
                self.columns.remove(index);
                self.rows.iter_mut().for_each(|row| drop(row.remove(index)));
            }
        }
        self
    }

    /// A table for CSV only; an empty text is an unknown value.
    pub(crate) fn data(columns: &[&'static str], rows: impl IntoIterator<Item = Vec<String>>) -> Block {
        let row = |row: Vec<String>| row.into_iter().map(|exact| Cell { exact, ..Cell::default() }).collect();
        let columns = columns.iter().map(|&name| Column::text(name, 0)).collect();
        Block::Data(Self { columns, rows: rows.into_iter().map(row).collect(), ..Self::default() })
    }

    /// Adds the intervals of each column's cells as a separate column.
    pub(crate) fn with_intervals(&self) -> Self {
        let mut table = self.clone();
        if table.intervals == IntervalPlace::HtmlOnly {
            return table;
        }
        for index in (0..table.columns.len()).rev() {
            if table.rows.iter().all(|row| row[index].interval.is_none()) {
                continue;
            }
            let priority = table.columns[index].priority + 1;
            table.columns.insert(index + 1, Column::text(label!("95 % interval"), priority));
            for row in &mut table.rows {
                let interval = row[index].interval.take().map_or_else(Cell::unknown, Cell::text);
                row.insert(index + 1, interval);
            }
        }
        table
    }
}

/// A table under construction: the items of its rows.
#[derive(Debug)]
pub struct TableRows<T> {
    items: Vec<T>,
    table: Table,
}

impl<T> TableRows<T> {
    /// Adds a column with a cell for each item; `None` is an unknown value.
    pub fn column<C: Into<Cell>>(mut self, column: Column, cell: impl Fn(&T) -> C) -> Self {
        self.table.columns.push(column);
        for (row, item) in self.table.rows.iter_mut().zip(&self.items) {
            row.push(cell(item).into());
        }
        self
    }

    /// Adds several columns of the same kind: each with its key.
    pub(crate) fn columns<K: Copy, C: Into<Cell>>(
        self,
        columns: impl IntoIterator<Item = (K, Column)>,
        cell: impl Fn(&T, K) -> C,
    ) -> Self {
        columns.into_iter().fold(self, |rows, (key, column)| rows.column(column, |item| cell(item, key)))
    }

    pub fn table(self) -> Table {
        self.table
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl<C: Into<Self>> From<Option<C>> for Cell {
    fn from(value: Option<C>) -> Self {
        value.map_or_else(Self::unknown, Into::into)
    }
}

impl From<Weight> for Emphasis {
    fn from(weight: Weight) -> Self {
        match weight {
            Weight::Note => Self::Note,
            Weight::Caution => Self::Caution,
            Weight::Void => Self::Void,
        }
    }
}
