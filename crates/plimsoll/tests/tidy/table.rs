//! The table of crates in ARCHITECTURE.md: `name <- dependencies | zone | description`, lowest crate first.

use super::complaint::{Complaint, assert_found, assert_none};
use super::tree;

pub const DOCUMENT: &str = "ARCHITECTURE.md";
/// The first line of the table.
const FENCE: &str = "```crates";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Zone {
    /// Neither operating system nor platform mathematics, enforced by the attribute.
    NoStd,
    /// The standard library without clock, thread, file, network and environment.
    Pure,
    Shell,
}

#[derive(Clone, Debug)]
pub struct Row {
    /// Name without the prefix `plimsoll-`.
    pub name: String,
    /// Permitted dependencies.
    pub uses: Vec<String>,
    pub zone: Zone,
    /// True if `unsafe` is permitted.
    pub with_unsafe: bool,
    /// True if an async runtime is permitted.
    pub with_async: bool,
    /// True if the crate is planned.
    pub later: bool,
    /// Line in the document, from 1.
    pub line: usize,
}

impl Row {
    /// `file:line`.
    pub fn place(&self) -> String {
        format!("{DOCUMENT}:{}", self.line)
    }
}

/// The table of the project.
pub fn read_rows() -> Vec<Row> {
    let text = tree::read_text(DOCUMENT).unwrap_or_default();
    let (rows, complaints) = parse(&text);
    assert_none(&complaints);
    rows
}

/// The rows of a document's table, and complaints about them.
pub fn parse(document: &str) -> (Vec<Row>, Vec<Complaint>) {
    let (mut rows, mut complaints): (Vec<Row>, Vec<Complaint>) = (Vec::new(), Vec::new());
    let numbered = document.lines().enumerate().map(|(index, line)| (index + 1, line));
    let within = numbered.skip_while(|(_, line)| line.trim_end() != FENCE).skip(1);
    for (number, line) in within.take_while(|(_, line)| !line.starts_with("```")) {
        let Some(row) = parse_row(number, line) else {
            complaints.push(malformed(number, line));
            continue;
        };
        complaints.extend(row.uses.iter().filter_map(|used| misplaced(&row, used, &rows)));
        rows.push(row);
    }
    if rows.is_empty() && complaints.is_empty() {
        complaints.push(Complaint {
            place: DOCUMENT.to_owned(),
            found: format!("no block that opens with {FENCE}"),
            allowed: "one block with a line for each crate".to_owned(),
            remedy: "write the table of crates: name <- uses | zone | what it is".to_owned(),
        });
    }
    (rows, complaints)
}

fn parse_row(line: usize, text: &str) -> Option<Row> {
    let (name, rest) = text.split_once("<-")?;
    let [uses, marks, purpose] = rest.split('|').map(str::trim).collect::<Vec<_>>().try_into().ok()?;
    let mut row = Row {
        name: name.trim().to_owned(),
        uses: uses.split_whitespace().filter(|word| *word != "nothing").map(String::from).collect(),
        zone: Zone::Shell,
        with_unsafe: false,
        with_async: false,
        later: false,
        line,
    };
    let mut zones = 0;
    for mark in marks.split(',').map(str::trim) {
        let zone = match mark {
            "no_std" => Zone::NoStd,
            "pure" => Zone::Pure,
            "shell" => Zone::Shell,
            "unsafe" => {
                row.with_unsafe = true;
                continue;
            }
            "async" => {
                row.with_async = true;
                continue;
            }
            "later" => {
                row.later = true;
                continue;
            }
            _ => return None,
        };
        row.zone = zone;
        zones += 1;
    }
    (zones == 1 && !row.name.is_empty() && !uses.is_empty() && !purpose.is_empty()).then_some(row)
}

fn malformed(line: usize, text: &str) -> Complaint {
    Complaint {
        place: format!("{DOCUMENT}:{line}"),
        found: format!("{text:?}"),
        allowed: "name <- used crates, or nothing | one of no_std, pure, shell; and unsafe, async, later | what it is"
            .to_owned(),
        remedy: "write the line in that form".to_owned(),
    }
}

/// A crate may use only crates above it, of the same or a stricter zone.
fn misplaced(row: &Row, used: &str, above: &[Row]) -> Option<Complaint> {
    let (found, allowed, remedy) = match above.iter().find(|other| other.name == used) {
        Some(other) if other.zone <= row.zone => return None,
        Some(other) => (
            format!("{} ({:?}) uses {used} ({:?})", row.name, row.zone, other.zone),
            "no_std uses no_std; pure uses no_std and pure; shell uses all",
            "move what is used to a crate of less reach, or the user to one of more",
        ),
        None => (
            format!("{} uses {used}, which is not above it", row.name),
            "crates of lines above: so no circle can be drawn",
            "move the line down, correct the name, or leave the edge out",
        ),
    };
    Some(Complaint { place: row.place(), found, allowed: allowed.to_owned(), remedy: remedy.to_owned() })
}

#[test]
fn a_table_is_read() {
    let (rows, complaints) = parse(
        "# Title\n```crates\n\
         a <- nothing | no_std | base\n\
         b <- a | shell, unsafe, later | top\n\
         ```\nafter <- this\n",
    );
    assert_none(&complaints);
    assert_eq!(rows.len(), 2);
    assert!(rows[0].zone == Zone::NoStd && rows[0].uses.is_empty() && !rows[0].later && rows[0].line == 3);
    assert!(rows[1].uses == ["a"] && rows[1].with_unsafe && !rows[1].with_async && rows[1].later);
}

#[test]
fn a_wrong_table_is_refused() {
    assert_found(&parse("nothing here").1, &["ARCHITECTURE.md: no block"]);
    let wrong = "```crates\n\
         a <- b | pure | uses what is below\n\
         b <- nothing | shell | base\n\
         c <- b | pure | reaches too far\n\
         d <- nothing | fast | no such zone\n\
         e | pure | no arrow\n\
         ```";
    let expected = [
        "ARCHITECTURE.md:2: a uses b, which is not above it",
        "ARCHITECTURE.md:4: c (Pure) uses b (Shell)",
        "ARCHITECTURE.md:5: ",
        "ARCHITECTURE.md:6: ",
    ];
    assert_found(&parse(wrong).1, &expected);
}
