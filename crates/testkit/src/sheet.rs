//! Tables in HTML, or as text under a ruler.

pub(super) struct SheetTable {
    pub(super) heading: &'static str,
    /// The attribute `summary` in HTML.
    pub(super) summary: &'static str,
    /// Column titles, with `|` at line breaks in text, and widths in text.
    pub(super) columns: Vec<(&'static str, usize)>,
    /// A title above the columns from this index on.
    pub(super) group: Option<(&'static str, usize)>,
    /// Line above the titles in text.
    pub(super) ornament: &'static str,
    pub(super) rows: Vec<Vec<String>>,
}

impl SheetTable {
    pub(super) fn new(heading: &'static str, summary: &'static str, columns: &[(&'static str, usize)]) -> Self {
        Self { heading, summary, columns: columns.to_vec(), group: None, ornament: "", rows: Vec::new() }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Appends the table to an HTML page.
    pub(super) fn html(&self, page: &mut String) {
        if !self.heading.is_empty() {
            *page += &format!("<h3 class=\"awr\">{}</h3>\n", self.heading);
        }
        *page += &format!("<table border=\"0\" class=\"tdiff\" summary=\"{}\"><tr>", self.summary);
        if let Some((title, from)) = self.group {
            *page += &"<td class=\"awrnc\">&#160;</td>".repeat(from);
            let over = self.columns.len() - from;
            *page += &format!("<th class=\"awrbg\" colspan=\"{over}\" scope=\"col\">{title}</th></tr>\n<tr>");
        }
        for (title, _) in &self.columns {
            *page += &format!("<th class=\"awrbg\" scope=\"col\">{}</th>", display(&title.replace('|', " ")));
        }
        *page += "</tr>\n";
        for row in &self.rows {
            *page += "<tr>";
            for cell in row {
                let cell = if cell.is_empty() { "&#160;".to_owned() } else { display(cell) };
                *page += &format!("<td class='awrc'>{cell}</td>");
            }
            *page += "</tr>\n";
        }
        *page += "</table><p />\n";
    }

    /// Appends the table to a text page. The first column is left-aligned, the others right-aligned.
    pub(super) fn text(&self, page: &mut String) {
        if !self.ornament.is_empty() {
            *page += &format!("{}\n", self.ornament);
        }
        if let Some((title, from)) = self.group {
            let before = self.columns[..from].iter().map(|(_, width)| width + 1).sum::<usize>();
            let over = self.columns[from..].iter().map(|(_, width)| width + 1).sum::<usize>() - 1;
            *page += format!("{:before$}{title:^over$}", "").trim_end();
            *page += &format!("\n{:before$}{}\n", "", "-".repeat(over));
        }
        let titles: Vec<Vec<&str>> = self.columns.iter().map(|(title, _)| title.split('|').collect()).collect();
        let height = titles.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            // Short titles are directly above the ruler.
            let part =
                |lines: &Vec<&str>| (line + lines.len()).checked_sub(height).map_or("", |at| lines[at]).to_owned();
            self.line(&titles.iter().map(part).collect::<Vec<String>>(), page);
        }
        let rules: Vec<String> = self.columns.iter().map(|(_, width)| "-".repeat(*width)).collect();
        *page += &format!("{}\n", rules.join(" "));
        for row in &self.rows {
            self.line(row, page);
        }
    }

    fn line(&self, cells: &[String], page: &mut String) {
        let mut line = String::new();
        for (index, ((_, width), cell)) in self.columns.iter().zip(cells).enumerate() {
            let cell = fitted(cell, *width);
            line += &if index == 0 { format!("{cell:<width$} ") } else { format!("{cell:>width$} ") };
        }
        *page += line.trim_end();
        page.push('\n');
    }
}

/// Fits a cell to a width: truncates names, abbreviates numbers, or fills with `#`.
fn fitted(cell: &str, width: usize) -> String {
    let letters = cell.chars().count();
    if letters <= width {
        return cell.to_owned();
    }
    let Ok(number) = cell.replace(',', "").parse::<f64>() else { return cell.chars().take(width).collect() };
    let digits = format!("{:.0}", number.abs()).len();
    let (exponent, scale) = (digits - 1, (1..digits).fold(1.0, |scale, _| scale * 10.0));
    let short = format!("{:.1}E+{exponent:02}", number / scale);
    if short.len() <= width { short } else { "#".repeat(width) }
}

/// Escapes HTML.
pub(super) fn display(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::fitted;

    #[test]
    fn wide_cells_are_shortened_like_in_reports() {
        assert_eq!(fitted("log file parallel write", 8), "log file");
        assert_eq!(fitted("1,234,567", 9), "1,234,567");
        assert_eq!(fitted("12,345,678", 8), "1.2E+07");
        assert_eq!(fitted("12,345,678", 4), "####");
    }
}
