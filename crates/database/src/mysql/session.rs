//! A session: statements, rows, digests, and cancellation.

use std::sync::Arc;

use mysql::prelude::{Protocol, Queryable};
use mysql::{Conn, Error, QueryResult, Statement};
use plimsoll_language::label;

use super::failures::convert_error;
use super::place::MySqlLocation;
use super::values::{ValueKind, digested, parameters};
use crate::digest::RowDigest;
use crate::failure::{Failure, FailureKind};
use crate::target::{Answer, Cancel, Prepared, Session};
use crate::value::{Row, Value};

/// A connection and its prepared statements.
pub(super) struct MysqlSession {
    conn: Conn,
    place: Arc<MySqlLocation>,
    statements: Vec<Statement>,
}

impl MysqlSession {
    pub(super) fn new(place: Arc<MySqlLocation>) -> Result<Self, Failure> {
        Ok(Self { conn: place.open()?, place, statements: Vec::new() })
    }

    fn perform(
        &mut self,
        prepared: Prepared,
        values: &[Value],
        rows: Option<&mut Vec<Row>>,
    ) -> Result<Answer, Failure> {
        let statement = self.statements.get(prepared.0).ok_or_else(|| {
            Failure::new(
                FailureKind::Statement,
                label!("the statement was not prepared by this session: prepare it first"),
            )
        })?;
        let result = self.conn.exec_iter(statement, parameters(values)).map_err(|error| convert_error(&error))?;
        drain(result, rows).map_err(|error| convert_error(&error))
    }
}

impl Session for MysqlSession {
    fn read_only(&mut self) -> Result<(), Failure> {
        self.run("SET SESSION TRANSACTION READ ONLY").map(drop)
    }

    fn run(&mut self, sql: &str) -> Result<Answer, Failure> {
        run_text(&mut self.conn, sql, None)
    }

    fn rows(&mut self, sql: &str) -> Result<Vec<Row>, Failure> {
        query_rows(&mut self.conn, sql)
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared, Failure> {
        self.statements.push(self.conn.prep(sql).map_err(|error| convert_error(&error))?);
        Ok(Prepared(self.statements.len() - 1))
    }

    fn execute(&mut self, prepared: Prepared, values: &[Value]) -> Result<Answer, Failure> {
        self.perform(prepared, values, None)
    }

    fn fetch(&mut self, prepared: Prepared, values: &[Value]) -> Result<Vec<Row>, Failure> {
        let mut rows = Vec::new();
        self.perform(prepared, values, Some(&mut rows))?;
        Ok(rows)
    }

    fn cancel(&self) -> Box<dyn Cancel> {
        Box::new(Kill { place: Arc::clone(&self.place), connection: self.conn.connection_id() })
    }

    fn number(&self) -> Option<u64> {
        Some(self.conn.connection_id().into())
    }
}

/// Cancels the statement of a connection, over another connection.
struct Kill {
    place: Arc<MySqlLocation>,
    connection: u32,
}

impl Cancel for Kill {
    fn cancel(&self) {
        // The session may have ended.
        if let Ok(mut conn) = self.place.open() {
            let _ = conn.query_drop(format!("KILL QUERY {}", self.connection));
        }
    }
}

/// Runs statements without parameters.
fn run_text(conn: &mut Conn, sql: &str, rows: Option<&mut Vec<Row>>) -> Result<Answer, Failure> {
    let answer = conn.query_iter(sql).and_then(|result| drain(result, rows));
    answer.map_err(|error| convert_error(&error))
}

/// Runs statements without parameters, and returns the rows of the last result set.
pub(super) fn query_rows(conn: &mut Conn, sql: &str) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    run_text(conn, sql, Some(&mut rows))?;
    Ok(rows)
}

/// Consumes all results of a statement, and keeps the rows of the last result set.
fn drain<P: Protocol>(
    mut result: QueryResult<'_, '_, '_, P>,
    mut rows: Option<&mut Vec<Row>>,
) -> Result<Answer, Error> {
    let mut answer = Answer::default();
    while let Some(set) = result.iter() {
        answer.changed += set.affected_rows();
        let columns: Vec<ValueKind> = set.columns().as_ref().iter().map(ValueKind::of).collect();
        let mut first = true;
        for row in set {
            let values = columns.iter().zip(row?.unwrap()).map(|(holds, value)| holds.value(value));
            let mut digest = RowDigest::new();
            if let Some(rows) = rows.as_deref_mut() {
                if std::mem::take(&mut first) {
                    rows.clear();
                }
                let row: Row = values.inspect(|value| digested(&mut digest, value)).collect();
                rows.push(row);
            } else {
                values.for_each(|value| digested(&mut digest, &value));
            }
            answer.count(digest);
        }
    }
    Ok(answer)
}
