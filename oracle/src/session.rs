//! A session of Oracle.
//!
//! Not run against a server: see the README.

use oracledb::{Config, Connection, Error, ErrorKind, ToDbValue};
use plimsoll_database::{Answer, Cancel, Failure, FailureKind, Prepared, Row, RowDigest, Session, Value};

use super::{codes, statements};

/// Rows prefetched with a query's reply, so that short results need a single round trip.
const ROWS_AT_ONCE: u32 = 100;

/// A session.
pub(super) struct OracleSession {
    connection: Connection,
    config: Config,
    /// Prepared statements in Oracle's syntax; the driver keeps their cursors.
    statements: Vec<String>,
    /// Inside an explicit transaction: statements do not commit automatically.
    begun: bool,
}

impl OracleSession {
    pub(super) fn connect(config: &Config) -> Result<Self, Error> {
        let connection = oracledb::connect(config.clone())?;
        Ok(Self { connection, config: config.clone(), statements: Vec::new(), begun: false })
    }

    pub(super) fn version(&self) -> Result<oracledb::OracleVersion, Error> {
        self.connection.version()
    }

    /// Runs a statement in Oracle's syntax, and passes each row to `row`.
    fn each(
        &self,
        sql: &str,
        values: &[Value],
        mut row: impl FnMut(&oracledb::Row) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let bound: Vec<BoundValue> = values.iter().map(BoundValue::of).collect();
        let bound: Vec<&dyn ToDbValue> = bound.iter().map(BoundValue::value).collect();
        let builder = self.connection.statement(sql)?;
        let mut statement = builder.prefetch_rows(ROWS_AT_ONCE).fetch_array_size(ROWS_AT_ONCE).build()?;
        if statement.is_query() {
            for found in statement.query(&bound)? {
                row(&found?)?;
            }
            return Ok(0);
        }
        let changed = statement.execute(&bound)?.rows_affected();
        if !self.begun {
            self.connection.commit()?;
        }
        Ok(changed)
    }
}

impl Session for OracleSession {
    fn read_only(&mut self) -> Result<(), Failure> {
        let line = "Oracle has no session that only reads: connect as a user who may not write";
        Err(Failure::new(FailureKind::Unsupported, line))
    }

    fn run(&mut self, sql: &str) -> Result<Answer, Failure> {
        let mut answer = Answer::default();
        for statement in statements::split(sql) {
            let changed = self.each(statement, &[], |row| {
                answer.count(row_digest(row)?);
                Ok(())
            });
            answer.changed += changed.map_err(|error| failure(&error, statement))?;
        }
        Ok(answer)
    }

    fn rows(&mut self, sql: &str) -> Result<Vec<Row>, Failure> {
        let mut found = Vec::new();
        for statement in statements::split(sql) {
            found.clear();
            let outcome = self.each(statement, &[], |row| {
                found.push(values(row)?);
                Ok(())
            });
            outcome.map_err(|error| failure(&error, statement))?;
        }
        Ok(found)
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared, Failure> {
        let sql = statements::numbered(statements::split(sql).first().copied().unwrap_or_default());
        let prepared = self.connection.statement(&sql).and_then(|builder| {
            let mut statement = builder.prefetch_rows(ROWS_AT_ONCE).fetch_array_size(ROWS_AT_ONCE).build()?;
            // The server executes DDL when it parses it, so parsing is deferred to the execution.
            if statement.is_ddl() { Ok(()) } else { statement.ensure_fully_parsed() }
        });
        prepared.map_err(|error| failure(&error, &sql))?;
        self.statements.push(sql);
        Ok(Prepared(self.statements.len() - 1))
    }

    fn execute(&mut self, prepared: Prepared, values: &[Value]) -> Result<Answer, Failure> {
        let sql = self.statement(prepared)?;
        let mut answer = Answer::default();
        let changed = self.each(sql, values, |row| {
            answer.count(row_digest(row)?);
            Ok(())
        });
        answer.changed = changed.map_err(|error| failure(&error, sql))?;
        Ok(answer)
    }

    fn fetch(&mut self, prepared: Prepared, values: &[Value]) -> Result<Vec<Row>, Failure> {
        let sql = self.statement(prepared)?;
        let mut found = Vec::new();
        let outcome = self.each(sql, values, |row| {
            found.push(self::values(row)?);
            Ok(())
        });
        outcome.map_err(|error| failure(&error, sql))?;
        Ok(found)
    }

    fn begin(&mut self) -> Result<(), Failure> {
        self.begun = true;
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.begun = false;
        self.connection.commit().map_err(|error| failure(&error, "COMMIT"))
    }

    fn rollback(&mut self) -> Result<(), Failure> {
        self.begun = false;
        self.connection.rollback().map_err(|error| failure(&error, "ROLLBACK"))
    }

    /// The driver cannot interrupt a call. Another session cancels the statement (version 18 or later, privilege `ALTER
    /// SYSTEM`).
    fn cancel(&self) -> Box<dyn Cancel> {
        let numbers = self.connection.session_id().ok().zip(self.connection.serial_num().ok());
        Box::new(OracleCancel { config: self.config.clone(), numbers })
    }

    fn number(&self) -> Option<u64> {
        self.connection.session_id().ok().map(|id| id as u64)
    }
}

impl OracleSession {
    fn statement(&self, prepared: Prepared) -> Result<&String, Failure> {
        self.statements
            .get(prepared.0)
            .ok_or_else(|| Failure::new(FailureKind::Statement, "this statement was prepared by another session"))
    }
}

/// Cancels a statement from another session.
struct OracleCancel {
    config: Config,
    numbers: Option<(usize, usize)>,
}

impl Cancel for OracleCancel {
    fn cancel(&self) {
        if let Some((session, serial)) = self.numbers
            && let Ok(connection) = oracledb::connect(self.config.clone())
        {
            // Oracle reports an error if the statement has already ended.
            let _ = connection.execute(&format!("ALTER SYSTEM CANCEL SQL '{session}, {serial}'"), &[]);
        }
    }
}

/// A value in the driver's types.
enum BoundValue<'a> {
    Null(Option<String>),
    Int(i64),
    Float(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl<'a> BoundValue<'a> {
    fn of(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null(None),
            Value::Int(value) => Self::Int(*value),
            Value::Float(value) => Self::Float(*value),
            Value::Text(text) => Self::Text(text),
            Value::Bytes(bytes) => Self::Bytes(bytes),
        }
    }

    fn value(&self) -> &dyn ToDbValue {
        match self {
            Self::Null(none) => none,
            Self::Int(value) => value,
            Self::Float(value) => value,
            Self::Text(text) => text,
            Self::Bytes(bytes) => bytes,
        }
    }
}

fn row_digest(row: &oracledb::Row) -> Result<RowDigest, Error> {
    let mut digest = RowDigest::new();
    for column in 0..row.columns().len() {
        match value(row, column)? {
            Value::Null => digest.null(),
            Value::Int(value) => digest.int(value),
            Value::Float(value) => digest.float(value),
            Value::Text(text) => digest.bytes(text.as_bytes()),
            Value::Bytes(bytes) => digest.bytes(&bytes),
        }
    }
    Ok(digest)
}

fn values(row: &oracledb::Row) -> Result<Row, Error> {
    (0..row.columns().len()).map(|column| value(row, column)).collect()
}

/// Converts a value by its type: numbers to integers if exact, else floating point; times and intervals to text.
fn value(row: &oracledb::Row, column: usize) -> Result<Value, Error> {
    let db_type = row.columns()[column].db_type();
    if db_type == oracledb::DB_TYPE_NUMBER || db_type == oracledb::DB_TYPE_BINARY_INTEGER {
        return Ok(row.get::<Option<String>>(column)?.map_or(Value::Null, number));
    }
    let text = |text: Option<String>| text.map_or(Value::Null, Value::Text);
    if db_type == oracledb::DB_TYPE_BINARY_DOUBLE {
        Ok(row.get::<Option<f64>>(column)?.map_or(Value::Null, Value::Float))
    } else if db_type == oracledb::DB_TYPE_BINARY_FLOAT {
        Ok(row.get::<Option<f32>>(column)?.map_or(Value::Null, |value| Value::Float(f64::from(value))))
    } else if [oracledb::DB_TYPE_RAW, oracledb::DB_TYPE_LONG_RAW, oracledb::DB_TYPE_BLOB].contains(&db_type) {
        Ok(row.get::<Option<Vec<u8>>>(column)?.map_or(Value::Null, Value::Bytes))
    } else if db_type == oracledb::DB_TYPE_BOOLEAN {
        Ok(row.get::<Option<bool>>(column)?.map_or(Value::Null, |value| Value::Int(i64::from(value))))
    } else if db_type == oracledb::DB_TYPE_INTERVAL_DS {
        Ok(text(row.get::<Option<oracledb::OracleIntervalDS>>(column)?.map(|span| span.to_string())))
    } else if db_type == oracledb::DB_TYPE_INTERVAL_YM {
        Ok(text(row.get::<Option<oracledb::OracleIntervalYM>>(column)?.map(|span| span.to_string())))
    } else if MOMENTS.contains(&db_type) {
        Ok(text(row.get::<Option<oracledb::OracleTimestamp>>(column)?.map(|moment| moment.to_string())))
    } else {
        Ok(text(row.get(column)?))
    }
}

const MOMENTS: [&oracledb::DbType; 4] = [
    oracledb::DB_TYPE_DATE,
    oracledb::DB_TYPE_TIMESTAMP,
    oracledb::DB_TYPE_TIMESTAMP_TZ,
    oracledb::DB_TYPE_TIMESTAMP_LTZ,
];

fn number(text: String) -> Value {
    match (text.parse(), text.parse()) {
        (Ok(value), _) => Value::Int(value),
        (_, Ok(value)) => Value::Float(value),
        _ => Value::Text(text),
    }
}

/// Failure of a statement.
pub(super) fn failure(error: &Error, sql: &str) -> Failure {
    let failure_kind = kind(error);
    let hint = match failure_kind {
        FailureKind::NoSpace => ": enlarge the tablespace, or choose a smaller scale",
        FailureKind::Conflict => ": try the transaction again",
        _ => "",
    };
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let displayed: String = line(sql).chars().take(120).collect();
    Failure::new(failure_kind, format!("Oracle: {}, in {displayed}{hint}", line(&error.to_string())))
}

/// Kind of an error of the driver.
pub(super) fn kind(error: &Error) -> FailureKind {
    match error.kind() {
        ErrorKind::DbError(error) => codes::kind(error.code()),
        ErrorKind::ListenerRefusedConnection(_, _, _, code) => codes::kind(*code),
        ErrorKind::ServerVersionNotSupported => FailureKind::TooOld,
        ErrorKind::NoCredentials => FailureKind::Refused,
        ErrorKind::InvalidServiceName(..)
        | ErrorKind::InvalidSid(..)
        | ErrorKind::InvalidConnectString(..)
        | ErrorKind::TnsAliasNotFound(..)
        | ErrorKind::UnexpectedRefuse(_)
        | ErrorKind::NoConfigDir => FailureKind::Unreachable,
        ErrorKind::DeadConnection
        | ErrorKind::NotConnected
        | ErrorKind::StreamOperation
        | ErrorKind::OutOfData
        | ErrorKind::UnableToRecover => FailureKind::Lost,
        ErrorKind::NotImplemented(_) | ErrorKind::UnsupportedDbType(_) | ErrorKind::UnsupportedConversion(..) => {
            FailureKind::Unsupported
        }
        _ => codes::code(&error.to_string()).map_or(FailureKind::Statement, codes::kind),
    }
}
