//! A session: statements, rows and counts.

use std::io;
use std::sync::Arc;

use bytes::BufMut;
use plimsoll_language::{label, say};
use postgres_protocol::message::frontend;

use super::place::PostgresLocation;
use super::placeholders::numbered;
use super::sqlstate::{ServerError, garbled, lost};
use super::text;
use super::wire::Wire;
use crate::digest::RowDigest;
use crate::failure::{Failure, FailureKind};
use crate::target::{Answer, Cancel, Prepared, Session};
use crate::value::{Row, Value};

/// First version with `pg_stat_force_next_flush`.
const FORCE_FLUSH_VERSION: u32 = 15;

/// A connection and its prepared statements.
pub(super) struct PostgresSession {
    wire: Wire,
    place: Arc<PostgresLocation>,
    prepared: Vec<Statement>,
}

/// A prepared statement: name, parameter types and column types.
struct Statement {
    name: String,
    parameters: Vec<u32>,
    columns: Vec<u32>,
}

trait RowConsumer {
    /// Types of the columns of the following rows.
    fn columns(&mut self, _: &[u32]) {}
    /// A row, as the body of its message.
    fn row(&mut self, body: &[u8]) -> io::Result<()>;
}

#[derive(Default)]
struct CountedRows {
    answer: Answer,
    /// Types of the columns; empty if all values are digested as the received text.
    kinds: Vec<u32>,
}

impl RowConsumer for CountedRows {
    fn columns(&mut self, kinds: &[u32]) {
        self.kinds.clear();
        if kinds.iter().any(|kind| text::differs(*kind)) {
            self.kinds.extend(kinds);
        }
    }

    fn row(&mut self, body: &[u8]) -> io::Result<()> {
        let mut digest = RowDigest::new();
        let mut column = 0;
        each(body, |value| {
            let kind = self.kinds.get(column).copied().unwrap_or_default();
            match value {
                Some(value) => text::digest(kind, value, &mut digest),
                None => digest.null(),
            }
            column += 1;
        })?;
        self.answer.count(digest);
        Ok(())
    }
}

/// Keeps the rows of the last result.
#[derive(Default)]
struct KeptRows {
    kinds: Vec<u32>,
    rows: Vec<Row>,
}

impl RowConsumer for KeptRows {
    fn columns(&mut self, kinds: &[u32]) {
        self.kinds = kinds.to_vec();
        self.rows.clear();
    }

    fn row(&mut self, body: &[u8]) -> io::Result<()> {
        let mut row = Row::with_capacity(self.kinds.len());
        each(body, |value| {
            let kind = self.kinds.get(row.len()).copied().unwrap_or_default();
            row.push(value.map_or(Value::Null, |text| text::value(kind, text)));
        })?;
        self.rows.push(row);
        Ok(())
    }
}

/// Passes each value of a row to `take`.
fn each<'a>(body: &'a [u8], mut take: impl FnMut(Option<&'a [u8]>)) -> io::Result<()> {
    let short = || garbled(label!("a row is too short"));
    let (count, mut rest) = body.split_first_chunk::<2>().ok_or_else(short)?;
    for _ in 0..u16::from_be_bytes(*count) {
        let (length, after) = rest.split_first_chunk::<4>().ok_or_else(short)?;
        let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
            take(None);
            rest = after;
            continue;
        };
        let (value, after) = after.split_at_checked(length).ok_or_else(short)?;
        take(Some(value));
        rest = after;
    }
    Ok(())
}

/// Types of the described columns.
fn parse_types(body: &[u8]) -> io::Result<Vec<u32>> {
    let short = || garbled(label!("a description is too short"));
    let (count, mut rest) = body.split_first_chunk::<2>().ok_or_else(short)?;
    let mut kinds = Vec::new();
    for _ in 0..u16::from_be_bytes(*count) {
        let name = rest.iter().position(|byte| *byte == 0).ok_or_else(short)?;
        // Table, column, type; then width, modifier and format.
        let fields = rest.get(name + 1..name + 19).ok_or_else(short)?;
        let kind = fields[6..].first_chunk().ok_or_else(short)?;
        kinds.push(u32::from_be_bytes(*kind));
        rest = &rest[name + 19..];
    }
    Ok(kinds)
}

/// Changed rows from the command tag. `SELECT 5` without rows is a `CREATE TABLE AS`.
fn count_changed(tag: &[u8], had_rows: bool) -> u64 {
    let text = std::str::from_utf8(tag.strip_suffix(b"\0").unwrap_or(tag)).unwrap_or_default();
    let mut words = text.split(' ');
    let counts = match words.next() {
        Some("INSERT" | "UPDATE" | "DELETE" | "MERGE" | "COPY") => true,
        Some("SELECT") => !had_rows,
        _ => false,
    };
    if counts { words.next_back().and_then(|number| number.parse().ok()).unwrap_or_default() } else { 0 }
}

impl PostgresSession {
    pub(super) fn open(place: &Arc<PostgresLocation>) -> Result<Self, Failure> {
        Ok(Self { wire: Wire::open(place)?, place: Arc::clone(place), prepared: Vec::new() })
    }

    /// Version as reported by the server, such as `15.13 (Debian 15.13-0+deb12u1)`.
    pub(super) fn version(&self) -> &str {
        &self.wire.version
    }

    /// True for a connection within this host.
    pub(super) fn is_local(&self) -> bool {
        self.wire.is_local()
    }

    fn major(&self) -> u32 {
        self.version()
            .split(|letter: char| !letter.is_ascii_digit())
            .next()
            .and_then(|text| text.parse().ok())
            .unwrap_or(0)
    }

    /// Sends pending messages, and receives until the server is ready. Returns the number of changed rows.
    fn exchange(&mut self, rows: &mut dyn RowConsumer) -> Result<u64, Failure> {
        let mut sum = 0;
        let mut had_rows = false;
        let mut failed = None;
        let mut turn = || -> io::Result<()> {
            self.wire.send()?;
            loop {
                let (tag, body) = self.wire.next()?;
                match tag {
                    b'D' => {
                        had_rows = true;
                        rows.row(body)?;
                    }
                    b'C' => sum += count_changed(body, std::mem::take(&mut had_rows)),
                    b'T' => rows.columns(&parse_types(body)?),
                    b'E' => failed = Some(ServerError::read(body).failure()),
                    b'G' => {
                        frontend::copy_fail("COPY is not supported", &mut self.wire.out)?;
                        self.wire.send()?;
                    }
                    b'Z' => return Ok(()),
                    _ => {}
                }
            }
        };
        let turned = turn();
        ended(failed, turned).map(|()| sum)
    }

    fn query(&mut self, sql: &str, rows: &mut dyn RowConsumer) -> Result<u64, Failure> {
        self.wire.out.clear();
        frontend::query(sql, &mut self.wire.out).map_err(|error| unsent(&error))?;
        self.exchange(rows)
    }

    fn bound(&mut self, prepared: Prepared, values: &[Value], rows: &mut dyn RowConsumer) -> Result<u64, Failure> {
        let unknown = || Failure::new(FailureKind::Statement, label!("this session has not prepared that statement"));
        let statement = self.prepared.get(prepared.0).ok_or_else(unknown)?;
        if statement.parameters.len() != values.len() {
            let line = say!("{} values for a statement that takes {}", values.len(), statement.parameters.len());
            return Err(Failure::new(FailureKind::Statement, line));
        }
        rows.columns(&statement.columns);
        let out = &mut self.wire.out;
        out.clear();
        bind(statement, values, out);
        frontend::execute("", 0, out).map_err(|error| unsent(&error))?;
        frontend::sync(out);
        self.exchange(rows)
    }

    /// Parameter and column types of a statement that was sent for preparation.
    fn described(&mut self) -> Result<(Vec<u32>, Vec<u32>), Failure> {
        let mut parameters = Vec::new();
        let mut columns = Vec::new();
        let mut failed = None;
        let mut turn = || -> io::Result<()> {
            self.wire.send()?;
            loop {
                let (tag, body) = self.wire.next()?;
                match tag {
                    b't' => {
                        let (numbers, _) = body.get(2..).unwrap_or_default().as_chunks::<4>();
                        parameters = numbers.iter().map(|number| u32::from_be_bytes(*number)).collect();
                    }
                    b'T' => columns = parse_types(body)?,
                    b'E' => failed = Some(ServerError::read(body).failure()),
                    b'Z' => return Ok(()),
                    _ => {}
                }
            }
        };
        let turned = turn();
        ended(failed, turned).map(|()| (parameters, columns))
    }
}

/// Result of an exchange. A terminating server reports its reason before it closes the connection.
fn ended(failed: Option<Failure>, turned: io::Result<()>) -> Result<(), Failure> {
    match failed {
        Some(failure) => Err(failure),
        None => turned.map_err(|error| lost(&error)),
    }
}

/// Writes a Bind message.
fn bind(statement: &Statement, values: &[Value], out: &mut bytes::BytesMut) {
    let at = out.len();
    out.put_u8(b'B');
    out.put_i32(0);
    // Unnamed portal.
    out.put_u8(0);
    out.put_slice(statement.name.as_bytes());
    out.put_u8(0);
    text::formats(&statement.parameters, values, out);
    out.put_u16(values.len() as u16);
    for value in values {
        text::parameter(value, out);
    }
    // All results as text.
    out.put_i16(0);
    let length = i32::try_from(out.len() - at - 1).unwrap_or(i32::MAX);
    out[at + 1..at + 5].copy_from_slice(&length.to_be_bytes());
}

/// Failure to encode a statement.
fn unsent(error: &io::Error) -> Failure {
    Failure::new(FailureKind::Statement, say!("the statement cannot be sent: {error}"))
}

impl Session for PostgresSession {
    fn read_only(&mut self) -> Result<(), Failure> {
        Session::run(self, "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY").map(drop)
    }

    fn run(&mut self, sql: &str) -> Result<Answer, Failure> {
        let mut counted = CountedRows::default();
        let changed = self.query(sql, &mut counted)?;
        Ok(Answer { changed, ..counted.answer })
    }

    fn rows(&mut self, sql: &str) -> Result<Vec<Row>, Failure> {
        let mut collected = KeptRows::default();
        self.query(sql, &mut collected)?;
        Ok(collected.rows)
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared, Failure> {
        let name = format!("p{}", self.prepared.len());
        let out = &mut self.wire.out;
        out.clear();
        let written =
            frontend::parse(&name, &numbered(sql), [], out).and_then(|()| frontend::describe(b'S', &name, out));
        written.map_err(|error| unsent(&error))?;
        frontend::sync(out);
        let (parameters, columns) = self.described()?;
        self.prepared.push(Statement { name, parameters, columns });
        Ok(Prepared(self.prepared.len() - 1))
    }

    fn execute(&mut self, prepared: Prepared, values: &[Value]) -> Result<Answer, Failure> {
        let mut counted = CountedRows::default();
        let changed = self.bound(prepared, values, &mut counted)?;
        Ok(Answer { changed, ..counted.answer })
    }

    fn fetch(&mut self, prepared: Prepared, values: &[Value]) -> Result<Vec<Row>, Failure> {
        let mut collected = KeptRows::default();
        self.bound(prepared, values, &mut collected)?;
        Ok(collected.rows)
    }

    fn report_statistics(&mut self) -> Result<(), Failure> {
        if self.major() >= FORCE_FLUSH_VERSION {
            self.run("SELECT pg_stat_force_next_flush()")?;
        }
        Ok(())
    }

    fn cancel(&self) -> Box<dyn Cancel> {
        Box::new(PostgresCancel { place: Arc::clone(&self.place), key: self.wire.key })
    }

    fn number(&self) -> Option<u64> {
        u64::try_from(self.wire.key.0).ok()
    }
}

/// Cancels the statement of a session.
struct PostgresCancel {
    place: Arc<PostgresLocation>,
    key: (i32, i32),
}

impl Cancel for PostgresCancel {
    fn cancel(&self) {
        // If the server is unreachable, the statement has ended, too.
        let _ = Wire::cancel(&self.place, self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::count_changed;

    #[test]
    fn changed_rows_are_parsed_from_command_tag() {
        assert_eq!(count_changed(b"INSERT 0 5\0", false), 5);
        assert_eq!(count_changed(b"UPDATE 3\0", true), 3);
        assert_eq!(count_changed(b"SELECT 7\0", false), 7);
        assert_eq!(count_changed(b"SELECT 7\0", true), 0);
        assert_eq!(count_changed(b"CREATE TABLE\0", false), 0);
        assert_eq!(count_changed(b"", false), 0);
    }
}
