//! A document again with other text: its headings and tables stay, whatever else it holds goes.

use super::grid::{Known, joined, known, shown};
use super::scan::{Scan, Tag, Token};

/// A text of a document and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    /// A heading, or the title of a column.
    Title,
    /// A cell: the titles of its table's columns, and its own among them.
    Cell(&'a [String], usize),
}

/// Writes `document` into `out`, with each text as `text` wants it.
pub(crate) fn rewrite(document: &[u8], out: &mut String, text: &mut dyn FnMut(Place<'_>, &str) -> String) {
    let mut scan = Scan::new(document);
    let mut page = Page { out, text, lines: 0, table: None, open: None };
    page.out.push_str("<html><body class=\"awr\">");
    while let Some(token) = scan.next() {
        match token {
            Token::Text(text) => page.add(text),
            Token::Open(tag) => page.open(tag),
            Token::Close(name) => page.close(name),
        }
        page.follow(scan.line());
    }
    let is_cut = page.table.is_some();
    page.end_row();
    if !is_cut {
        page.out.push_str("</body></html>\n");
    }
}

struct Page<'a> {
    out: &'a mut String,
    text: &'a mut dyn FnMut(Place<'_>, &str) -> String,
    /// Line ends that were written: numbers stay in their lines.
    lines: u64,
    table: Option<Drawing>,
    /// The text of the cell or heading that is open.
    open: Option<Vec<u8>>,
}

#[derive(Default)]
struct Drawing {
    heads: Vec<Vec<(String, usize)>>,
    columns: Option<Vec<String>>,
    row: Vec<Cell>,
}

struct Cell {
    text: String,
    columns: usize,
    is_head: bool,
}

const MOST_CELLS: usize = 512;

impl Page<'_> {
    fn add(&mut self, text: &[u8]) {
        if let Some(open) = &mut self.open {
            open.extend_from_slice(text);
        }
    }

    /// Ends as many lines as the document did, between rows only.
    fn follow(&mut self, line: u64) {
        if self.open.is_none() && self.table.as_ref().is_none_or(|table| table.row.is_empty()) {
            while self.lines + 1 < line {
                self.out.push('\n');
                self.lines += 1;
            }
        }
    }

    fn open(&mut self, tag: Tag<'_>) {
        match known(tag.name) {
            Known::Table => {
                self.end_table();
                self.out.push_str("<table>");
                self.table = Some(Drawing::default());
            }
            Known::Row => self.end_row(),
            Known::Cell { is_head } => {
                self.end_cell();
                let Some(table) = self.table.as_mut().filter(|table| table.row.len() < MOST_CELLS) else { return };
                let width = tag.attribute(b"colspan").and_then(|width| std::str::from_utf8(width).ok()?.parse().ok());
                let columns = width.unwrap_or(1).clamp(1, MOST_CELLS);
                table.row.push(Cell { text: String::new(), columns, is_head });
                self.open = Some(Vec::new());
            }
            Known::Heading if self.table.is_none() => self.open = Some(Vec::new()),
            Known::Break => self.add(b" "),
            Known::Heading | Known::Other => {}
        }
    }

    fn close(&mut self, name: &[u8]) {
        match known(name) {
            Known::Table => self.end_table(),
            Known::Row => self.end_row(),
            Known::Cell { .. } => self.end_cell(),
            Known::Heading if self.table.is_none() => {
                if let Some(text) = self.open.take() {
                    let heading = (self.text)(Place::Title, &shown(&text));
                    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
                    self.out.push_str(&format!("<{name}>{}</{name}>", escaped(&heading)));
                }
            }
            _ => {}
        }
    }

    fn end_cell(&mut self) {
        if let (Some(text), Some(table)) = (self.open.take(), &mut self.table)
            && let Some(cell) = table.row.last_mut()
        {
            cell.text = shown(&text);
        }
    }

    fn end_row(&mut self) {
        self.end_cell();
        let Some(table) = &mut self.table else { return };
        let row = std::mem::take(&mut table.row);
        if row.is_empty() {
            return;
        }
        let is_head =
            row.iter().any(|cell| cell.is_head) && row.iter().all(|cell| cell.is_head || cell.text.is_empty());
        if is_head && table.columns.is_none() && table.heads.len() < 4 {
            table.heads.push(row.iter().map(|cell| (cell.text.clone(), cell.columns)).collect());
        }
        let columns: &[String] = if is_head { &[] } else { table.columns.get_or_insert_with(|| joined(&table.heads)) };
        self.out.push_str("<tr>");
        let mut index = 0;
        for cell in row {
            let place = if is_head { Place::Title } else { Place::Cell(columns, index) };
            let text = escaped(&(self.text)(place, &cell.text));
            let name = if cell.is_head { "th" } else { "td" };
            let span = if cell.columns > 1 { format!(" colspan=\"{}\"", cell.columns) } else { String::new() };
            self.out.push_str(&format!("<{name}{span}>{text}</{name}>"));
            index += cell.columns;
        }
        self.out.push_str("</tr>");
    }

    fn end_table(&mut self) {
        self.end_row();
        if self.table.take().is_some() {
            self.out.push_str("</table>");
        }
    }
}

/// Text that means no tag.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
