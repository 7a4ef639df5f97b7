//! Marker table of a database with data of plimsoll: suite, options, and the objects that belong to the data.
//!
//! Only objects listed in the table are dropped without confirmation.

use std::collections::BTreeSet;

use crate::failure::Failure;
use crate::system::System;
use crate::target::{Database, Session};
use crate::value::Value;

const MARKER_TABLE: &str = "plimsoll_data";
/// Maximum length of an item; names of objects are shorter in every system.
const MAX_CONTENT: usize = 2000;

/// Kinds of objects that statements of suites create.
const KINDS: [&str; 5] = ["table", "view", "procedure", "function", "sequence"];
/// Keywords of a statement around the kind of its object.
const SKIPPED: [&str; 5] = ["or", "replace", "if", "not", "exists"];

/// Objects created and dropped by statements, as kind and name in lower case without schema: `table orders`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectChanges {
    /// Objects created and not dropped since.
    pub created: BTreeSet<String>,
    /// Dropped objects that existed before.
    pub dropped: BTreeSet<String>,
}

impl ObjectChanges {
    /// Records an executed statement. Statements other than definitions are skipped by their first word.
    pub fn note(&mut self, sql: &str) {
        let starts_with = |word: &str| sql.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        let creates = starts_with("CREATE ");
        if !creates && !starts_with("DROP ") {
            return;
        }
        let Some(object) = object_of(sql) else { return };
        if creates {
            self.dropped.remove(&object);
            self.created.insert(object);
        } else if !self.created.remove(&object) {
            self.dropped.insert(object);
        }
    }

    /// Merges the changes of a concurrent session.
    pub fn merge(&mut self, other: Self) {
        self.created.extend(other.created);
        self.dropped.extend(other.dropped);
    }

    /// True without changes.
    pub fn is_empty(&self) -> bool {
        self.created.is_empty() && self.dropped.is_empty()
    }
}

/// Object that a statement creates or drops. `None` for indexes and the like, which belong to tables.
fn object_of(sql: &str) -> Option<String> {
    let mut words = sql.split(|at: char| at.is_whitespace() || at == '(').skip(1).map(str::to_ascii_lowercase);
    let mut next = || words.by_ref().find(|word| !word.is_empty() && !SKIPPED.contains(&word.as_str()));
    let kind = next().filter(|kind| KINDS.contains(&kind.as_str()))?;
    Some(format!("{kind} {}", next()?))
}

/// Marker of a database: its data of plimsoll.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataMarker {
    /// Suite that loaded the data.
    pub suite: String,
    /// Options that determine the data.
    pub options: String,
    /// Program that loaded the data, with its version.
    pub version: String,
    /// Start of loading, formatted by the caller.
    pub time: String,
    /// Whether loading finished.
    pub complete: bool,
    /// Created objects, named as in [`Database::contents`], without the marker table.
    pub objects: Vec<String>,
}

/// Naming of the user's objects by [`Database::contents`].
struct Listing {
    system: System,
    schema: String,
}

impl Listing {
    fn of(database: &dyn Database) -> Result<Self, Failure> {
        let system = database.system();
        let mut schema = String::new();
        if system == System::Postgres {
            let rows = database.session()?.rows("SELECT quote_ident(current_schema())")?;
            rows.first().and_then(|row| row.first()?.text()).unwrap_or_default().clone_into(&mut schema);
        }
        Ok(Self { system, schema })
    }

    /// Name without the parameters of a routine.
    fn name(&self, object: &str) -> String {
        match (self.system, object.split_once(' ')) {
            (System::Postgres, Some((kind, name))) => format!("{kind} {}.{name}", self.schema),
            (System::Oracle, Some((kind, name))) => format!("{kind} {}", name.to_ascii_uppercase()),
            _ => object.to_owned(),
        }
    }

    fn marker(&self) -> String {
        self.name(&format!("table {MARKER_TABLE}"))
    }
}

impl DataMarker {
    /// Reads the marker, and all other objects of the database; `None` without a marker.
    ///
    /// # Errors
    /// The database is unreachable, or its marker is unreadable.
    pub fn read(database: &dyn Database) -> Result<(Option<Self>, Vec<String>), Failure> {
        let (contents, table) = (database.contents()?, Listing::of(database)?.marker());
        if !contents.contains(&table) {
            return Ok((None, contents));
        }
        let mut marker = Self::default();
        let rows = database.session()?.rows(&format!("SELECT item, content FROM {MARKER_TABLE} ORDER BY place"))?;
        for row in rows {
            let [Some(item), Some(content)] = [0, 1].map(|column| row.get(column).and_then(Value::text)) else {
                continue;
            };
            match item {
                "suite" => marker.suite = content.into(),
                "options" => marker.options = content.into(),
                "version" => marker.version = content.into(),
                "time" => marker.time = content.into(),
                "complete" => marker.complete = true,
                "object" => marker.objects.push(content.into()),
                _ => {}
            }
        }
        let others = contents.into_iter().filter(|name| *name != table && !marker.objects.contains(name)).collect();
        Ok((Some(marker), others))
    }

    /// Marks an empty database before it is loaded.
    ///
    /// # Errors
    /// System database, or the user may not create tables.
    pub fn create(&self, database: &dyn Database) -> Result<(), Failure> {
        database.check_not_system()?;
        let mut session = database.session()?;
        session.run(&format!(
            "CREATE TABLE {MARKER_TABLE} (place INTEGER NOT NULL PRIMARY KEY, item VARCHAR(20) NOT NULL, \
             content VARCHAR({MAX_CONTENT}) NOT NULL)"
        ))?;
        let items =
            [("suite", &self.suite), ("options", &self.options), ("version", &self.version), ("time", &self.time)];
        insert(&mut *session, 0, items.map(|(item, content)| (item, content.as_str())))
    }

    /// Records created and dropped objects of the data. Objects of other users are not included.
    ///
    /// # Errors
    /// The database is unreachable.
    pub fn record(&mut self, database: &dyn Database, changes: &ObjectChanges) -> Result<(), Failure> {
        let listing = Listing::of(database)?;
        // A routine is listed with its parameters.
        let is_of = |objects: &BTreeSet<String>, name: &str| objects.contains(name.split('(').next().unwrap_or(name));
        let [created, dropped] = [&changes.created, &changes.dropped]
            .map(|objects| objects.iter().map(|object| listing.name(object)).collect::<BTreeSet<String>>());
        let mut session = database.session()?;
        let is_dropped = |name: &&String| is_of(&dropped, name);
        delete(&mut *session, self.objects.iter().filter(is_dropped))?;
        self.objects.retain(|name| !is_of(&dropped, name));
        let is_new = |name: &String| is_of(&created, name) && !self.objects.contains(name);
        let new: Vec<String> = database.contents()?.into_iter().filter(is_new).collect();
        let last = session.rows(&format!("SELECT MAX(place) FROM {MARKER_TABLE}"))?;
        let last = last.first().and_then(|row| row.first()?.int()).unwrap_or_default();
        let first = OBJECTS.max(usize::try_from(last).unwrap_or_default() + 1);
        insert(&mut *session, first, new.iter().map(|name| ("object", name.as_str())))?;
        self.objects.extend(new);
        Ok(())
    }

    /// Marks loading as finished.
    ///
    /// # Errors
    /// The database is unreachable.
    pub fn complete(&mut self, database: &dyn Database) -> Result<(), Failure> {
        insert(&mut *database.session()?, COMPLETE, [("complete", "yes")])?;
        self.complete = true;
        Ok(())
    }

    /// Drops the listed objects, and the marker last, so that an interrupted drop can be repeated.
    ///
    /// # Errors
    /// System database, or an object is in use or referenced by an object of another user.
    pub fn drop_data(&self, database: &dyn Database) -> Result<(), Failure> {
        database.destroy_contents(Some(&self.objects))?;
        database.destroy_contents(Some(&[Listing::of(database)?.marker()]))
    }
}

/// Indexes of items in the table, after the four that describe the data.
const COMPLETE: usize = 10;
const OBJECTS: usize = 100;

fn insert<'a>(
    session: &mut dyn Session,
    first: usize,
    items: impl IntoIterator<Item = (&'static str, &'a str)>,
) -> Result<(), Failure> {
    session.begin()?;
    let statement = session.prepare(&format!("INSERT INTO {MARKER_TABLE} (place, item, content) VALUES (?, ?, ?)"))?;
    for (place, (item, content)) in (first..).zip(items) {
        let content: String = content.chars().take(MAX_CONTENT).collect();
        let place = Value::Int(i64::try_from(place).unwrap_or(i64::MAX));
        session.execute(statement, &[place, Value::Text(item.into()), Value::Text(content)])?;
    }
    session.commit()
}

fn delete<'a>(session: &mut dyn Session, objects: impl Iterator<Item = &'a String>) -> Result<(), Failure> {
    session.begin()?;
    let statement = session.prepare(&format!("DELETE FROM {MARKER_TABLE} WHERE item = 'object' AND content = ?"))?;
    for object in objects {
        session.execute(statement, &[Value::Text(object.clone())])?;
    }
    session.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defined_objects_are_counted() {
        let check = |statements: &[&str], created: &[&str], dropped: &[&str]| {
            let mut changes = ObjectChanges::default();
            for sql in statements {
                changes.note(sql);
            }
            let names = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>();
            assert_eq!((names(&changes.created), names(&changes.dropped)), {
                let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
                (owned(created), owned(dropped))
            });
        };
        check(&["CREATE TABLE a (i INT)", "create table B(i INT)"], &["table a", "table b"], &[]);
        check(&["CREATE OR REPLACE PROCEDURE p(n INT) AS x"], &["procedure p"], &[]);
        check(&["CREATE FUNCTION f(n int, m int) RETURNS int"], &["function f"], &[]);
        check(&["CREATE TABLE a (i INT)", "DROP TABLE IF EXISTS a", "DROP TABLE b"], &[], &["table b"]);
        check(&["DROP TABLE b", "CREATE TABLE b (i INT)"], &["table b"], &[]);
        check(&["CREATE UNIQUE INDEX i ON a (k)", "CREATE INDEX i ON a (k)", "DROP INDEX i", "CREATED", ""], &[], &[]);
        check(&["INSERT INTO a VALUES ('CREATE TABLE x (y INT)')", "CREATE TABLE"], &[], &[]);
    }
}
