//! The views as JSON: an array of rows, an object for each row, or an object of such arrays; also within psql's table.

use serde_json::{Deserializer, Value};

use super::views::Fields;
use super::{Cluster, KIND};
use crate::builder::Builder;
use crate::figure::{Origin, Scope};
use crate::format::{Form, Format, Input, Resemblance, Takes};
use crate::reading::Fate;
use crate::refusal::Refusal;
use crate::timestamp::{self, Taken};
use crate::whole::{Whole, WholeFormat};

pub(crate) const FORM: Form = Form { kind: KIND, takes: Takes::Text, resembles, open };

/// Documents that cannot be read before reading ends.
const MOST_BROKEN: u32 = 20;
/// Objects within objects that are looked at.
const DEEPEST: u32 = 8;

fn open(input: &Input) -> Box<dyn Format> {
    let cluster = Cluster::new(input, Scope::default());
    Box::new(Whole::new(Document { cluster, table: 0 }))
}

fn resembles(head: &[u8]) -> Resemblance {
    let has = |mark: &str| memchr::memmem::find(head, mark.as_bytes()).is_some();
    let pairs = [
        ("\"backend_type\"", "\"context\""),
        ("\"blks_read\"", "\"xact_commit\""),
        ("\"wal_records\"", "\"wal_bytes\""),
        ("\"shared_blks_read\"", "\"calls\""),
        ("\"buffers_clean\"", "\"maxwritten_clean\""),
    ];
    let begins = String::from_utf8_lossy(head).lines().any(|line| line.trim_start().starts_with(['[', '{']));
    let marks = pairs.iter().filter(|(one, other)| has(one) && has(other)).count() as u8;
    if marks == 0 || !begins || has("plimsoll.snapshots/") {
        return Resemblance::None;
    }
    Resemblance::Is { marks: 12 + marks }
}

struct Document {
    cluster: Cluster,
    table: u64,
}

impl WholeFormat for Document {
    fn read(&mut self, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
        let text = String::from_utf8_lossy(document);
        let unwrapped: String = text.lines().flat_map(|line| [unwrap(line), "\n"]).collect();
        let mut broken = 0;
        let (mut at, mut line) = (0, 1);
        while at < unwrapped.len() && broken < MOST_BROKEN {
            let rest = &unwrapped[at..];
            let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
            if !rest.trim_start_matches([' ', '\t']).starts_with(['[', '{']) {
                if let Some(taken) = timestamp::of_line(&rest[..end]) {
                    self.cluster.taken(taken, out);
                }
                (at, line) = (at + end, line + 1);
                continue;
            }
            let mut values = Deserializer::from_str(rest).into_iter::<Value>();
            let read = values.next();
            let used = values.byte_offset();
            if let Some(Ok(found)) = read {
                value(&mut self.cluster, &found, &mut self.table, line, out);
                let used = used.max(1);
                line += rest[..used].matches('\n').count() as u64;
                at += used;
            } else {
                broken += 1;
                out.caution(Some(Origin::line(line)), "not JSON to its end: left out; was it copied completely?");
                (at, line) = (at + end, line + 1);
            }
        }
        if broken > 0 {
            out.part("JSON", Fate::Broken);
        }
        self.cluster.end(out)
    }
}

/// A line without the mark by which psql says that its cell goes on.
fn unwrap(line: &str) -> &str {
    let trimmed = line.trim_end();
    trimmed.strip_suffix('+').unwrap_or(trimmed)
}

/// Reads the rows in a JSON value. `table` counts the arrays that were seen.
pub(crate) fn value(cluster: &mut Cluster, value: &Value, table: &mut u64, line: u64, out: &mut Builder) {
    look(cluster, value, table, line, DEEPEST, out);
}

fn look(cluster: &mut Cluster, value: &Value, table: &mut u64, line: u64, depth: u32, out: &mut Builder) {
    match value {
        Value::Array(rows) if depth > 0 => {
            *table += 1;
            for row in rows {
                look(cluster, row, table, line, depth - 1, out);
            }
        }
        Value::Object(object) if depth > 0 => {
            let plain = object.iter().filter(|(_, value)| !value.is_array() && !value.is_object());
            let (columns, cells): (Vec<String>, Vec<String>) =
                plain.map(|(name, value)| (name.to_ascii_lowercase(), cell(value))).unzip();
            let is_row = cluster.row(&Fields { columns: &columns, cells: &cells, line }, *table, out);
            if is_row && object.len() == columns.len() {
                return;
            }
            if let Some(at) =
                super::views::TIMES.iter().find_map(|name| object.get(*name)?.as_str()).and_then(timestamp::parse)
            {
                cluster.taken(Taken::At(at), out);
            }
            for value in object.values() {
                look(cluster, value, table, line, depth - 1, out);
            }
        }
        _ => {}
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
