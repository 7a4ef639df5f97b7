//! Tables of reports, whatever they were drawn with: HTML, or columns under a ruler.

/// One table, with its headings joined to one name for each column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    /// The nearest heading above it.
    pub(crate) heading: String,
    /// Where it begins.
    pub(crate) line: u64,
    /// Names of its columns, in lower case, with single spaces; headings over several columns stand before their own.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row>,
    /// The input, or what may be kept of it, ended inside.
    pub(crate) cut: bool,
}

/// A row of cells, without blanks around them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Row {
    pub(crate) line: u64,
    pub(crate) cells: Vec<String>,
}

impl Table {
    /// The column that is called this.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// The first column whose name begins so.
    pub(crate) fn column_like(&self, start: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.starts_with(start))
    }
}

impl Row {
    /// A cell; empty where the row has none there.
    pub(crate) fn cell(&self, column: usize) -> &str {
        self.cells.get(column).map_or("", String::as_str)
    }
}

/// As it is compared: lower case, single spaces.
pub(crate) fn plain(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for word in name.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
    out
}
