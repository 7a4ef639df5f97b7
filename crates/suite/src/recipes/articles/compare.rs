//! What was got here beside what was published, and the column that it is like.
//!
//! Knows nothing about how commands are made.

use plimsoll_units::{Bytes, Kind};

use super::published::{Figure, Find, Row, Table};
use crate::recipe::Done;
use crate::seen::IoSeen;

/// A table with the figures that were got; none where there is none.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    pub(super) table: Table,
    pub(super) got: Vec<Option<f64>>,
}

impl Compared {
    /// With what the commands showed, each given as its own steps.
    pub(super) fn of(table: Table, commands: &[&[Done]]) -> Self {
        let got = |row: &Row| commands.get(row.command).and_then(|done| figure(row, done));
        Self { got: table.rows.iter().map(got).collect(), table }
    }

    /// The column that is nearest by the mean of its ratios, each taken as its logarithm; none where nothing compares.
    pub(super) fn nearest(&self) -> Option<usize> {
        let columns = 0..self.table.columns.len();
        let rated = columns.filter_map(|column| Some((column, self.distance(column)?)));
        rated.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(column, _)| column)
    }

    fn distance(&self, column: usize) -> Option<f64> {
        let logarithms: Vec<f64> = self.ratios(column).into_iter().flatten().map(|ratio| ratio.ln().abs()).collect();
        (!logarithms.is_empty()).then(|| logarithms.iter().sum::<f64>() / logarithms.len() as f64)
    }

    /// What was got as a multiple of a column, line by line.
    pub(super) fn ratios(&self, column: usize) -> Vec<Option<f64>> {
        let ratio = |(row, got): (&Row, &Option<f64>)| Some((*got)? / row.published[column]?);
        let ratios = self.table.rows.iter().zip(&self.got).map(ratio);
        ratios.map(|ratio| ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0)).collect()
    }

    /// The table, with columns of what was got and its ratio to the nearest one.
    pub(super) fn text(&self) -> String {
        let Table { title, source, columns, rows, .. } = &self.table;
        let nearest = self.nearest();
        let mut text = format!("{title}\n{source}\n\n");
        for line in 0..2 {
            text.push_str(&format!("{:<28}{:<6}", "", ""));
            for column in *columns {
                text.push_str(&format!("{:>13}", column[line]));
            }
            let [got, ratio] = [["here", "ratio to"], ["", nearest.map_or("", |_| "nearest")]][line];
            text.push_str(&format!("{got:>13}{ratio:>10}\n"));
        }
        let ratios = nearest.map(|column| self.ratios(column));
        for (index, row) in rows.iter().enumerate() {
            let shown =
                |value: Option<f64>| value.map_or_else(|| "-".into(), |value| format!("{value:.*}", row.digits));
            text.push_str(&format!("{:<28}{:<6}", row.label, row.unit));
            for value in row.published {
                text.push_str(&format!("{:>13}", shown(*value)));
            }
            let ratio = ratios.as_ref().and_then(|ratios| ratios[index]);
            let ratio = ratio.map_or_else(|| "-".into(), |ratio| format!("{ratio:.2}"));
            text.push_str(&format!("{:>13}{ratio:>10}\n", shown(self.got[index])));
        }
        text
    }

    /// Which column it is like, and how far from it.
    pub(super) fn sentence(&self) -> Option<String> {
        let column = self.nearest()?;
        let ratios: Vec<f64> = self.ratios(column).into_iter().flatten().collect();
        let least = ratios.iter().copied().reduce(f64::min)?;
        let most = ratios.iter().copied().reduce(f64::max)?;
        let name = self.table.columns[column].join(", ");
        let range = if ratios.len() > 1 { format!("{least:.2} to {most:.2}") } else { format!("{least:.2}") };
        Some(format!("of the published columns {name} is the nearest: what was got here is {range} times its figures"))
    }
}

fn figure(row: &Row, done: &[Done]) -> Option<f64> {
    let name = match row.find {
        Find::Named(name) => name,
        Find::Place(place) => names(done).get(place).copied()?,
    };
    let rounds = done.iter().filter(|done| done.step.counts && done.step.name == name);
    let values = rounds.filter_map(|done| value(row.figure, done.seen.io()?));
    // Of times the shortest is the best.
    if row.figure == Figure::MeanMillis { values.reduce(f64::min) } else { values.reduce(f64::max) }
}

/// Names of the steps that count, in their order.
fn names(done: &[Done]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for name in
        done.iter().filter(|done| done.step.counts && done.seen.io().is_some()).map(|done| done.step.name.as_str())
    {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn value(figure: Figure, seen: &IoSeen) -> Option<f64> {
    let total = seen.total();
    let seconds = Some(seen.span().as_secs_f64()).filter(|seconds| *seconds > 0.0)?;
    let bytes = |wanted: fn(Kind) -> bool| total.only(|counter| wanted(counter.kind)).bytes() as f64;
    let kib = Bytes::kib(1).get() as f64;
    let value = match figure {
        Figure::Megabytes => total.bytes() as f64 / 1e6 / seconds,
        Figure::Mebibytes => total.bytes() as f64 / Bytes::mib(1).get() as f64 / seconds,
        Figure::KibibytesWritten => bytes(Kind::writes) / kib / seconds,
        Figure::KibibytesRead => bytes(|kind| kind == Kind::Read) / kib / seconds,
        Figure::Reads => total.only(|counter| counter.kind == Kind::Read).operations() as f64 / seconds,
        Figure::MeanMillis => total.response_where(|counter| counter.kind != Kind::Flush).mean()?.as_millis_f64(),
    };
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table = Table {
        title: "Disks",
        source: "somewhere",
        columns: &[["old", "one"], ["new", "one"]],
        rows: &[
            Row {
                label: "Read",
                unit: "MB/s",
                digits: 1,
                command: 0,
                find: Find::Place(0),
                figure: Figure::Megabytes,
                published: &[Some(10.0), Some(100.0)],
            },
            Row {
                label: "Seeks",
                unit: "/s",
                digits: 0,
                command: 0,
                find: Find::Named("Seeks"),
                figure: Figure::Reads,
                published: &[Some(100.0), None],
            },
        ],
        notes: &[],
    };

    #[test]
    fn a_table_has_what_was_got_beside_what_was_published() {
        let compared = Compared { table: TABLE, got: vec![Some(12.0), Some(80.0)] };
        let expected = "Disks\nsomewhere\n\n\
            \x20                                           old          new         here  ratio to\n\
            \x20                                           one          one                nearest\n\
            Read                        MB/s           10.0        100.0         12.0      1.20\n\
            Seeks                       /s              100            -           80      0.80\n";
        assert_eq!(compared.text(), expected);
        let said = compared.sentence().expect("a nearest column");
        assert!(said.contains("old, one is the nearest") && said.contains("0.80 to 1.20 times"), "{said}");
    }

    #[test]
    fn what_was_not_got_is_a_dash() {
        let check = |got: &[Option<f64>; 2], nearest| {
            let compared = Compared { table: TABLE, got: got.to_vec() };
            assert_eq!(compared.nearest(), nearest, "{got:?}");
            assert_eq!(compared.sentence().is_some(), nearest.is_some());
        };
        check(&[None, None], None);
        check(&[Some(90.0), None], Some(1));
        check(&[Some(0.0), Some(100.0)], Some(0));
        let compared = Compared { table: TABLE, got: vec![None, None] };
        assert!(compared.text().ends_with("100            -            -         -\n"), "{}", compared.text());
    }
}
