//! Rows from text in every shape: always the same two rows.

use super::{ColumnWeight, LineKind, RowReader};

fn classify_column(name: &str) -> ColumnWeight {
    match name {
        "name" | "reads" | "writes" => ColumnWeight::One,
        "now" => ColumnWeight::Alone,
        _ => ColumnWeight::No,
    }
}

/// Rows as `table: column=cell ...`.
fn format_rows(text: &str) -> Vec<String> {
    let mut rows = RowReader::new(classify_column);
    let mut out = Vec::new();
    let put = |rows: &RowReader, out: &mut Vec<String>| {
        let cells: Vec<String> =
            rows.columns.iter().zip(&rows.cells).map(|(name, cell)| format!("{name}={cell}")).collect();
        out.push(format!("{}: {}", rows.table, cells.join(" ")));
    };
    for (line, number) in text.lines().zip(1..) {
        match rows.line(line, number) {
            LineKind::Row => put(&rows, &mut out),
            LineKind::Broken => out.push(format!("broken {number}")),
            LineKind::Other | LineKind::Table => {}
        }
    }
    if rows.end() {
        put(&rows, &mut out);
    }
    out
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(format_rows(text), expected, "{text}");
}

const BOTH: [&str; 2] = ["1: name=a reads=1 writes=", "1: name=b reads=2 writes=4"];

#[test]
fn every_shape_gives_the_same_rows() {
    let shapes = [
        " name | reads | writes \n------+-------+--------\n a    |     1 |       \n b    |     2 |      4\n(2 rows)\n\n",
        "+------+-------+--------+\n| name | reads | writes |\n+------+-------+--------+\n| a | 1 |  |\n| b | 2 | 4 |\n+---+---+--+\n",
        "│ name │ reads │ writes │\n├──────┼───────┼────────┤\n│ a    │ 1     │        │\n│ b    │     2 │      4 │\n",
        "name|reads|writes\na|1|\nb|2|4\n(2 rows)\n",
        "name,reads,writes\na,1,\nb,2,4\n",
        "\"name\";\"reads\";\"writes\"\n\"a\";1;\n\"b\";\"2\";4\n",
        "name\treads\twrites\na\t1\t\nb\t2\t4\n",
        "-[ RECORD 1 ]\nname   | a\nreads  | 1\nwrites | \n-[ RECORD 2 ]\nname   | b\nreads  | 2\nwrites | 4\n",
        "*** 1. row ***\n  name: a\n reads: 1\nwrites: \n*** 2. row ***\n  name: b\n reads: 2\nwrites: 4\n2 rows in set\n",
        "name|a\nreads|1\nwrites|\n\nname|b\nreads|2\nwrites|4\n",
        "name|a\nreads|1\nwrites|\nname|b\nreads|2\nwrites|4\n",
    ];
    for shape in shapes {
        check(shape, &BOTH);
    }
}

#[test]
fn consecutive_tables_are_separated() {
    check("name|reads\na|1\n\nname|reads\nb|2\n", &["1: name=a reads=1", "2: name=b reads=2"]);
    check("name|reads\na|1\nname|reads\nb|2\n", &["1: name=a reads=1", "2: name=b reads=2"]);
    check("name,reads\na,1\nreads,writes,x\n1,2,3\n", &["1: name=a reads=1", "2: reads=1 writes=2 x=3"]);
    check(" now \n-----\n 12\n(1 row)\n\nname|reads\na|1\n", &["1: now=12", "2: name=a reads=1"]);
    let marked = "-[ RECORD 1 ]\nname | a\nreads | 1\n\n-[ RECORD 1 ]\nname | b\nreads | 2\n";
    check(marked, &["1: name=a reads=1", "2: name=b reads=2"]);
}

#[test]
fn texts_with_separators_are_cells() {
    check("name,reads\n\"a,\"\"b\"\"\",1\n", &["1: name=a,\"b\" reads=1"]);
    check("name,reads\n\"a\nb\",1\n", &["1: name=a\nb reads=1"]);
    check(" name | reads\n------+-------\n a|b  | 1\n", &["1: name=a|b reads=1"]);
}

#[test]
fn other_lines_are_not_rows() {
    check("nothing | here\n1 | 2\n", &[]);
    check("name|reads\na|1|3\nremark\nb|2\n", &["broken 2", "1: name=b reads=2"]);
    check("", &[]);
}
