//! The table that marks a database as holding data of plimsoll: what they are, and which objects belong to them.
//!
//! Only objects that the table lists are dropped without a word of the user.

use crate::failure::Failure;
use crate::target::{Database, Session};
use crate::value::Value;

/// The name of the table.
pub const MARKER_TABLE: &str = "plimsoll_data";
/// The longest text of an item; objects have shorter names in every system.
const LONGEST: usize = 2000;

/// What a database holds of plimsoll.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataMarker {
    /// The suite that loaded the data.
    pub suite: String,
    /// The options that determine the data.
    pub options: String,
    /// The program that loaded them, with its version.
    pub version: String,
    /// When loading began, as the caller writes times.
    pub time: String,
    /// Loading came to its end.
    pub complete: bool,
    /// Objects that were made, as [`Database::contents`] names them, without the marker itself.
    pub objects: Vec<String>,
}

/// True for the marker among the names of [`Database::contents`].
fn is_marker(name: &str) -> bool {
    name.rsplit(['.', ' ']).next().is_some_and(|last| last.eq_ignore_ascii_case(MARKER_TABLE))
}

impl DataMarker {
    /// What the database holds of plimsoll, and all other objects in it; none where it is not marked.
    ///
    /// # Errors
    /// The database is not reached, or its marker cannot be read.
    pub fn read(database: &dyn Database) -> Result<(Option<Self>, Vec<String>), Failure> {
        let contents = database.contents()?;
        if !contents.iter().any(|name| is_marker(name)) {
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
        let others = contents.into_iter().filter(|name| !is_marker(name) && !marker.objects.contains(name)).collect();
        Ok((Some(marker), others))
    }

    /// Marks an empty database before it is loaded.
    ///
    /// # Errors
    /// It is a system database, or the user may not create tables there.
    pub fn create(&self, database: &dyn Database) -> Result<(), Failure> {
        database.check_not_system()?;
        let mut session = database.session()?;
        session.run(&format!(
            "CREATE TABLE {MARKER_TABLE} (place INTEGER NOT NULL PRIMARY KEY, item VARCHAR(20) NOT NULL, \
             content VARCHAR({LONGEST}) NOT NULL)"
        ))?;
        let items =
            [("suite", &self.suite), ("options", &self.options), ("version", &self.version), ("time", &self.time)];
        insert(&mut *session, 0, items.map(|(item, content)| (item, content.as_str())))
    }

    /// Adds what was made since to the objects of the marker.
    ///
    /// # Errors
    /// The database is not reached.
    pub fn add_objects(&mut self, database: &dyn Database) -> Result<(), Failure> {
        let new: Vec<String> =
            database.contents()?.into_iter().filter(|name| !is_marker(name) && !self.objects.contains(name)).collect();
        if !new.is_empty() {
            let items = new.iter().map(|name| ("object", name.as_str()));
            insert(&mut *database.session()?, OBJECTS + self.objects.len(), items)?;
        }
        self.objects.extend(new);
        Ok(())
    }

    /// Marks the data as whole.
    ///
    /// # Errors
    /// The database is not reached.
    pub fn complete(&mut self, database: &dyn Database) -> Result<(), Failure> {
        insert(&mut *database.session()?, COMPLETE, [("complete", "yes")])?;
        self.complete = true;
        Ok(())
    }

    /// Drops the objects of the marker, and the marker last: what is interrupted can be begun again.
    ///
    /// # Errors
    /// It is a system database, or an object is in use.
    pub fn drop_data(&self, database: &dyn Database) -> Result<(), Failure> {
        database.destroy_contents(Some(&self.objects))?;
        let marker: Vec<String> = database.contents()?.into_iter().filter(|name| is_marker(name)).collect();
        database.destroy_contents(Some(&marker))
    }
}

/// Places of items in the table, after the four that describe the data.
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
        let content: String = content.chars().take(LONGEST).collect();
        let place = Value::Int(i64::try_from(place).unwrap_or(i64::MAX));
        session.execute(statement, &[place, Value::Text(item.into()), Value::Text(content)])?;
    }
    session.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marker_is_known_by_its_name_in_every_system() {
        for name in ["plimsoll_data", "table public.plimsoll_data", "PLIMSOLL_DATA"] {
            assert!(is_marker(name), "{name}");
        }
        for name in ["plimsoll_data_2", "table public.my_plimsoll_data", "table plimsoll_data.orders", ""] {
            assert!(!is_marker(name), "{name}");
        }
    }
}
