//! The views as text: psql in all its formats, CSV, and `\watch`.

use super::views::{Fields, known};
use super::{Cluster, KIND};
use crate::builder::Builder;
use crate::figure::{Origin, Scope};
use crate::format::{Form, Format, Input, Resemblance, Takes};
use crate::kind::Kind;
use crate::lines::{LineFormat, Lines};
use crate::reading::Fate;
use crate::refusal::Refusal;
use crate::rows::{Rows, Seen};
use crate::timestamp;

pub(crate) const FORM: Form = Form { kind: KIND, takes: Takes::Text, resembles, open };

fn open(input: &Input) -> Box<dyn Format> {
    Box::new(Lines::new(Text {
        rows: Rows::new(known),
        cluster: Cluster::new(input, Scope::default()),
        width: 0,
        broken: 0,
    }))
}

/// It is one when a row of a view can be read, and near to one when names of its columns are there.
fn resembles(head: &[u8]) -> Resemblance {
    let head = String::from_utf8_lossy(head);
    if head.contains("plimsoll.snapshots/") {
        return Resemblance::None;
    }
    let marks = ["backend_type", "shared_blks_read", "blks_read", "buffers_clean", "buffers_checkpoint", "wal_records"];
    let marks = marks.iter().filter(|mark| head.contains(**mark)).count() as u8;
    if marks == 0 && !head.contains("buffers_written") {
        return Resemblance::None;
    }
    let mut rows = Rows::new(known);
    let is_row = |rows: &Rows| {
        let fields = Fields { columns: &rows.columns, cells: &rows.cells, line: 0 };
        fields.view().is_some() && rows.cells.iter().any(|cell| cell.parse::<f64>().is_ok())
    };
    for line in head.lines() {
        if rows.line(line, 0) == Seen::Row && is_row(&rows) {
            return Resemblance::Is { marks: 10 + marks };
        }
    }
    if rows.end() && is_row(&rows) {
        return Resemblance::Is { marks: 10 + marks };
    }
    Resemblance::Near { marks: 1, missing: "row of pg_stat_io or another view of statistics" }
}

struct Text {
    rows: Rows,
    cluster: Cluster,
    /// Cells of the widest row.
    width: usize,
    broken: u32,
}

impl Text {
    fn row(&mut self, out: &mut Builder) {
        let rows = &self.rows;
        self.width = rows.cells.len();
        let fields = Fields { columns: &rows.columns, cells: &rows.cells, line: rows.line };
        self.cluster.row(&fields, rows.table, out);
    }
}

impl LineFormat for Text {
    fn kind(&self) -> Kind {
        KIND
    }

    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if let Some(taken) = timestamp::of_line(line) {
            if self.rows.end() {
                self.row(out);
            }
            self.cluster.taken(taken, out);
            return Ok(());
        }
        match self.rows.line(line, number) {
            Seen::Row => self.row(out),
            Seen::Broken => {
                self.broken += 1;
                let text = format!(
                    "a row with {} cells under {} columns: left out",
                    self.rows.cells.len(),
                    self.rows.columns.len()
                );
                out.caution(Some(Origin::line(number)), text);
            }
            Seen::Nothing | Seen::Table => {}
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        if self.rows.end() {
            if self.rows.cells.len() < self.width {
                self.broken += 1;
                out.caution(Some(Origin::line(self.rows.line)), "the input ends within a record: copy it again");
            }
            self.row(out);
        }
        if self.broken > 0 {
            out.part("rows", Fate::Broken);
        }
        self.cluster.end(out)
    }
}
