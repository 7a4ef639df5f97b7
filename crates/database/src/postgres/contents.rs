//! Contents of a database apart from those of PostgreSQL and its extensions: listing and dropping.

use plimsoll_units::Bytes;

use super::session::PostgresSession;
use crate::failure::Failure;
use crate::target::Session;
use crate::value::Value;

/// A row per object: its name and the statement that drops it, in drop order.
///
/// A schema without objects of extensions is dropped as a whole. Objects of other schemas, `public` included, are
/// dropped individually.
const CONTENTS: &str = "\
WITH extension AS (
  SELECT classid, objid FROM pg_depend WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
), schema AS (
  SELECT n.oid, n.nspname,
    n.nspname = 'public'
    OR EXISTS (SELECT FROM extension WHERE classid = 'pg_namespace'::regclass AND objid = n.oid)
    OR EXISTS (SELECT FROM pg_extension WHERE extnamespace = n.oid)
    OR EXISTS (SELECT FROM extension JOIN pg_class c ON c.oid = objid
               WHERE classid = 'pg_class'::regclass AND c.relnamespace = n.oid)
    OR EXISTS (SELECT FROM extension JOIN pg_proc p ON p.oid = objid
               WHERE classid = 'pg_proc'::regclass AND p.pronamespace = n.oid)
    OR EXISTS (SELECT FROM extension JOIN pg_type t ON t.oid = objid
               WHERE classid = 'pg_type'::regclass AND t.typnamespace = n.oid) AS stays
  FROM pg_namespace n WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
), relation AS (
  SELECT c.oid, CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence'
                               WHEN 'f' THEN 'foreign table' ELSE 'table' END AS kind, s.nspname, c.relname, s.stays
  FROM pg_class c JOIN schema s ON s.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
    AND NOT EXISTS (SELECT FROM extension WHERE classid = 'pg_class'::regclass AND objid = c.oid)
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                    AND c.relkind = 'S' AND d.deptype IN ('a', 'i') AND d.refclassid = 'pg_class'::regclass)
), routine AS (
  SELECT CASE p.prokind WHEN 'p' THEN 'procedure' WHEN 'a' THEN 'aggregate' ELSE 'function' END AS kind, s.nspname,
         p.proname, pg_get_function_identity_arguments(p.oid) AS arguments, s.stays
  FROM pg_proc p JOIN schema s ON s.oid = p.pronamespace
  WHERE NOT EXISTS (SELECT FROM extension WHERE classid = 'pg_proc'::regclass AND objid = p.oid)
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'i')
), kind AS (
  SELECT CASE t.typtype WHEN 'd' THEN 'domain' ELSE 'type' END AS kind, s.nspname, t.typname, s.stays
  FROM pg_type t JOIN schema s ON s.oid = t.typnamespace LEFT JOIN pg_class c ON c.oid = t.typrelid
  WHERE (t.typtype IN ('d', 'e', 'r') OR t.typtype = 'c' AND c.relkind = 'c')
    AND NOT EXISTS (SELECT FROM extension WHERE classid = 'pg_type'::regclass AND objid = t.oid)
)
SELECT what, sql FROM (
  SELECT 1, format('%s %I.%I', kind, nspname, relname), stays, format('DROP %s IF EXISTS %I.%I CASCADE', upper(kind), nspname, relname)
  FROM relation
  UNION ALL
  SELECT 2, format('%s %I.%I(%s)', kind, nspname, proname, arguments), stays,
         format('DROP %s IF EXISTS %I.%I(%s) CASCADE', upper(kind), nspname, proname, coalesce(nullif(arguments, ''), CASE kind WHEN 'aggregate' THEN '*' ELSE '' END))
  FROM routine
  UNION ALL
  SELECT 3, format('%s %I.%I', kind, nspname, typname), stays, format('DROP %s IF EXISTS %I.%I CASCADE', upper(kind), nspname, typname)
  FROM kind
  UNION ALL
  SELECT 0, format('schema %I', nspname), true, format('DROP SCHEMA IF EXISTS %I CASCADE', nspname) FROM schema WHERE NOT stays
) AS found (step, what, one_by_one, sql)";

/// Names of the objects, such as `table public.orders`.
pub(super) fn names(talk: &mut PostgresSession) -> Result<Vec<String>, Failure> {
    column(talk, &format!("{CONTENTS} ORDER BY what"))
}

/// Size of user tables and indexes in bytes.
pub(super) fn query_size(talk: &mut PostgresSession) -> Result<Bytes, Failure> {
    let rows = talk.rows(
        "SELECT COALESCE(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.relkind IN ('r', 'm') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'",
    )?;
    let size = rows.first().and_then(|row| row.first()?.int()).unwrap_or_default();
    Ok(Bytes::new(size.unsigned_abs()))
}

/// Drops all objects with their dependents, or those with these names that have no dependents.
pub(super) fn drop_all(talk: &mut PostgresSession, only: Option<&[String]>) -> Result<(), Failure> {
    // Locks of other sessions would block this forever.
    talk.run("SET lock_timeout = '30s'")?;
    let query = format!("SELECT what, sql FROM ({CONTENTS} WHERE one_by_one ORDER BY step, what) AS ordered");
    for row in talk.rows(&query)? {
        let [Some(name), Some(sql)] = [row.first(), row.get(1)].map(|value| value.and_then(Value::text)) else {
            continue;
        };
        if only.is_none_or(|only| only.iter().any(|existing| existing == name)) {
            let sql = if only.is_some() { sql.trim_end_matches(" CASCADE") } else { sql };
            talk.run(sql).map_err(|failure| failure.during(sql))?;
        }
    }
    Ok(())
}

fn column(talk: &mut PostgresSession, query: &str) -> Result<Vec<String>, Failure> {
    let text = |value: &Value| value.text().map(str::to_owned);
    Ok(talk.rows(query)?.iter().filter_map(|row| row.first().and_then(text)).collect())
}
