//! Values, statements, counts and digests.

use plimsoll_database::{Answer, Session, Value};

use super::Server;

#[test]
fn statements_run_and_values_come_back() {
    let Some(server) = Server::start("values") else { return };
    let mut session = server.session();
    assert!(session.number().is_some_and(|pid| pid > 1));
    types(&mut *session);
    parameters(&mut *session);
    several_statements(&mut *session);
    digests(&mut *session);
    procedures(&mut *session);
    transactions(&mut *session, &mut *server.session());
    large(&mut *session);
}

fn one(session: &mut dyn Session, sql: &str) -> Vec<Value> {
    let rows = session.rows(sql).unwrap_or_else(|failure| panic!("{sql}: {failure}"));
    assert_eq!(rows.len(), 1, "{sql}");
    rows.into_iter().next().unwrap()
}

fn types(session: &mut dyn Session) {
    let row = one(session, "SELECT 1::int2, 2::int4, -3::int8, true, 1.5::float4, 1e300::float8, 2.50::numeric(9,2)");
    let order = [Value::Int(1), Value::Int(2), Value::Int(-3), Value::Int(1), Value::Float(1.5), Value::Float(1e300)];
    assert_eq!(row[..6], order);
    assert_eq!(row[6], Value::from("2.50"));
    let row =
        one(session, "SELECT 'a'::text, 'b'::varchar(3), 'c'::char(2), 'd'::name, '\\x00ff'::bytea, NULL::int, ''");
    assert_eq!(row[..4], ["a", "b", "c ", "d"].map(Value::from));
    assert_eq!(row[4..], [Value::Bytes(vec![0, 255]), Value::Null, Value::from("")]);
    let row = one(
        session,
        "SELECT '2020-02-29 12:30:00.5'::timestamp, '{\"a\": 1}'::jsonb, '{1,2}'::int[], '1 day'::interval, 'Infinity'::float8",
    );
    assert_eq!(row[..4], ["2020-02-29 12:30:00.5", "{\"a\": 1}", "{1,2}", "1 day"].map(Value::from));
    assert_eq!(row[4], Value::Float(f64::INFINITY));
}

fn parameters(session: &mut dyn Session) {
    session
        .run("CREATE TABLE wide (a int2, b int4, c int8, d numeric, e float8, f text, g bytea, h bool, i timestamp, j json)")
        .unwrap();
    let insert = session.prepare("INSERT INTO wide VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) -- really?").unwrap();
    let bytes = Value::Bytes((0..=255).collect());
    let stamp = "2020-01-01 00:00:00";
    let values = [
        Value::Int(-7),
        Value::Float(2.0),
        Value::Int(i64::MIN),
        Value::Int(12),
        Value::Int(3),
        Value::Int(5),
        bytes.clone(),
        Value::Int(1),
        Value::from(stamp),
        Value::from("{}"),
    ];
    assert_eq!(session.execute(insert, &values).unwrap(), Answer { rows: 0, changed: 1, digest: 0 });
    assert_eq!(session.execute(insert, &[const { Value::Null }; 10]).unwrap().changed, 1);
    let select = session.prepare("SELECT * FROM wide WHERE c = ? AND f <> '?'").unwrap();
    let rows = session.fetch(select, &[Value::Int(i64::MIN)]).unwrap();
    let order = [
        Value::Int(-7),
        Value::Int(2),
        Value::Int(i64::MIN),
        Value::from("12"),
        Value::Float(3.0),
        Value::from("5"),
        bytes,
        Value::Int(1),
        Value::from(stamp),
        Value::from("{}"),
    ];
    assert_eq!(rows, [order]);
    assert_eq!(session.rows("SELECT * FROM wide WHERE a IS NULL").unwrap(), [[const { Value::Null }; 10]]);
    let text = session.prepare("SELECT ?::text, ?::bytea").unwrap();
    let rows = session.fetch(text, &[Value::from("größer"), Value::Null]).unwrap();
    assert_eq!(rows, [[Value::from("größer"), Value::Null]]);
    assert!(session.execute(text, &[]).is_err(), "values are missing");
    assert!(session.prepare("SELECT FROM FROM").is_err());
    assert_eq!(session.fetch(text, &[Value::Null, Value::Null]).unwrap().len(), 1, "it goes on after failures");
}

fn several_statements(session: &mut dyn Session) {
    let answer = session
        .run("CREATE TABLE many (n int); INSERT INTO many SELECT generate_series(1, 10); SELECT * FROM many; ; UPDATE many SET n = n + 1 WHERE n > 5; SELECT 1;")
        .unwrap();
    assert_eq!((answer.rows, answer.changed), (11, 15));
    let answer = session.run("DELETE FROM many WHERE n > 9 RETURNING n").unwrap();
    assert_eq!((answer.rows, answer.changed), (2, 2));
    assert_eq!(session.run("CREATE TABLE copied AS SELECT * FROM many").unwrap().changed, 8);
    assert_eq!(session.run("").unwrap(), Answer::default());
    assert!(session.run("SELECT 1; SELECT 1/0; SELECT 2").unwrap_err().message.contains("22012"));
    assert!(session.run("COPY many FROM STDIN").is_err());
    assert_eq!(session.run("COPY many TO STDOUT").unwrap().changed, 8);
    assert_eq!(session.rows("SELECT 1; SELECT 2, 3").unwrap(), [[Value::Int(2), Value::Int(3)]]);
}

fn digests(session: &mut dyn Session) {
    session
        .run("CREATE TABLE d AS SELECT n, 'text ' || n AS t, n / 8.0::float8 AS f, NULLIF(n, 5) AS m FROM generate_series(1, 500) n")
        .unwrap();
    let mut digest = |sql: &str| session.run(sql).unwrap().digest;
    let up = digest("SELECT * FROM d ORDER BY n");
    assert_eq!(up, digest("SELECT * FROM d ORDER BY n DESC"));
    assert_ne!(up, digest("SELECT * FROM d WHERE n <> 7"));
    assert_ne!(up, digest("SELECT t, n, f, m FROM d"));
    assert_ne!(up, digest("SELECT n, t, f, coalesce(m, 5) FROM d"));
    let prepared = session.prepare("SELECT * FROM d WHERE n <= ?").unwrap();
    assert_eq!(session.execute(prepared, &[Value::Int(500)]).unwrap(), Answer { rows: 500, changed: 0, digest: up });
}

fn procedures(session: &mut dyn Session) {
    session
        .run(
            "CREATE PROCEDURE twice(INOUT number int, INOUT word text) LANGUAGE plpgsql AS $$
             BEGIN number := number * 2; word := word || '?'; COMMIT; END $$",
        )
        .unwrap();
    let order = [[Value::Int(42), Value::from("a?")]];
    assert_eq!(session.rows("CALL twice(21, 'a')").unwrap(), order);
    let call = session.prepare("CALL twice(?, ?)").unwrap();
    assert_eq!(session.fetch(call, &[Value::Int(21), Value::from("a")]).unwrap(), order);
}

fn transactions(session: &mut dyn Session, other: &mut dyn Session) {
    session.run("CREATE TABLE t (n int)").unwrap();
    session.begin().unwrap();
    session.run("INSERT INTO t VALUES (1)").unwrap();
    assert_eq!(other.run("SELECT * FROM t").unwrap().rows, 0);
    session.commit().unwrap();
    assert_eq!(other.run("SELECT * FROM t").unwrap().rows, 1);
    session.begin().unwrap();
    session.run("DELETE FROM t").unwrap();
    session.rollback().unwrap();
    assert_eq!(other.run("SELECT * FROM t").unwrap().rows, 1);
}

/// Messages longer than a read, and many short messages.
fn large(session: &mut dyn Session) {
    let text = "x".repeat(3 << 20);
    let echo = session.prepare("SELECT length(?::text), ?::text").unwrap();
    let rows = session.fetch(echo, &[Value::from(text.as_str()), Value::from(text.as_str())]).unwrap();
    assert_eq!(rows, [[Value::Int(3 << 20), Value::from(text.as_str())]]);
    let answer = session.run("SELECT n, repeat('y', n % 200) FROM generate_series(1, 50000) n").unwrap();
    assert_eq!(answer.rows, 50_000);
    let sum: i64 = session
        .rows("SELECT n FROM generate_series(1, 50000) n")
        .unwrap()
        .iter()
        .map(|row| row[0].int().unwrap())
        .sum();
    assert_eq!(sum, 50_000 * 50_001 / 2);
}
