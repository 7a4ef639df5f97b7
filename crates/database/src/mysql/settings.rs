//! Changes of server settings with `SET GLOBAL`, and their reversal.

use mysql::Conn;
use mysql::prelude::Queryable;
use plimsoll_language::say;

use super::failures::convert_error;
use super::place::MySqlLocation;
use crate::failure::{Failure, FailureKind};

/// Changed settings with their earlier values.
#[derive(Debug, Default)]
pub(super) struct ChangedSettings(Vec<(String, String)>);

impl ChangedSettings {
    /// Changes settings, and checks their values: the server replaces values outside of its limits with a warning.
    pub(super) fn change(&mut self, conn: &mut Conn, settings: &[(String, String)]) -> Result<(), Failure> {
        for (name, value) in settings {
            let earlier = read(conn, name)?;
            if earlier == *value {
                continue;
            }
            if !self.0.iter().any(|(changed, _)| changed == name) {
                self.0.push((name.clone(), earlier));
            }
            set(conn, name, value)?;
        }
        // After all of them, because a setting may limit another.
        check_values(conn, settings)
    }

    /// Reverses all changes, the last first.
    pub(super) fn restore(&mut self, place: &MySqlLocation) -> Result<(), Failure> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut conn = place.open()?;
        while let Some((name, earlier)) = self.0.last() {
            set(&mut conn, name, earlier)?;
            self.0.pop();
        }
        Ok(())
    }
}

/// Checks that the server has these values.
pub(super) fn check_values(conn: &mut Conn, settings: &[(String, String)]) -> Result<(), Failure> {
    for (name, value) in settings {
        let present = read(conn, name)?;
        if present != *value {
            let line = say!("the server set {name} to {present} instead of {value}: use a value within its limits");
            return Err(Failure::new(FailureKind::Unsupported, line));
        }
    }
    Ok(())
}

fn read(conn: &mut Conn, name: &str) -> Result<String, Failure> {
    check_name(name)?;
    let value: Option<String> =
        conn.query_first(format!("SELECT CAST(@@GLOBAL.{name} AS CHAR)")).map_err(|error| convert_error(&error))?;
    Ok(value.unwrap_or_default())
}

fn set(conn: &mut Conn, name: &str, value: &str) -> Result<(), Failure> {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let value = if is_number { value.to_owned() } else { format!("'{}'", value.replace('\'', "''")) };
    conn.query_drop(format!("SET GLOBAL {name} = {value}")).map_err(|error| convert_error(&error))
}

/// Refuses names that are not plain identifiers, because they cannot be parameters of a statement.
fn check_name(name: &str) -> Result<(), Failure> {
    let is_plain = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
    if is_plain {
        return Ok(());
    }
    Err(Failure::new(FailureKind::Unsupported, say!("{name:?} is no name of a setting: use lower-case letters")))
}
