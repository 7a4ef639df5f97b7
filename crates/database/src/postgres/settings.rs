//! Changes of server settings with `ALTER SYSTEM`, and their reversal.

use std::sync::Arc;
use std::time::{Duration, Instant};

use plimsoll_language::say;

use super::place::PostgresLocation;
use super::session::PostgresSession;
use crate::failure::{Failure, FailureKind};
use crate::target::Session;
use crate::value::Value;

/// Time within which new sessions must have the values after a reload.
const RELOAD_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Changed settings with their earlier values in `postgresql.auto.conf`; `None` without a line there.
#[derive(Debug, Default)]
pub(super) struct ChangedSettings(Vec<(String, Option<String>)>);

impl ChangedSettings {
    /// Changes settings, and waits until new sessions have them.
    pub(super) fn change(
        &mut self,
        place: &Arc<PostgresLocation>,
        settings: &[(String, String)],
    ) -> Result<(), Failure> {
        let mut session = PostgresSession::open(place)?;
        for (name, value) in settings {
            check_name(name)?;
            if !self.0.iter().any(|(changed, _)| changed == name) {
                self.0.push((name.clone(), read_earlier(&mut session, name)?));
            }
            session.run(&format!("ALTER SYSTEM SET {name} = {}", quote(value)))?;
        }
        session.run("SELECT pg_reload_conf()")?;
        await_values(place, settings)
    }

    /// Reverses all changes.
    pub(super) fn restore(&mut self, place: &Arc<PostgresLocation>) -> Result<(), Failure> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut session = PostgresSession::open(place)?;
        for (name, earlier) in &self.0 {
            session.run(&match earlier {
                Some(value) => format!("ALTER SYSTEM SET {name} = {}", quote(value)),
                None => format!("ALTER SYSTEM RESET {name}"),
            })?;
        }
        session.run("SELECT pg_reload_conf()")?;
        self.0.clear();
        Ok(())
    }
}

/// Value in `postgresql.auto.conf`.
fn read_earlier(session: &mut PostgresSession, name: &str) -> Result<Option<String>, Failure> {
    let rows = session.rows(&format!(
        "SELECT setting FROM pg_file_settings WHERE name = {} AND sourcefile LIKE '%postgresql.auto.conf' \
         ORDER BY seqno DESC LIMIT 1",
        quote(name)
    ))?;
    Ok(rows.first().and_then(|row| row.first()).and_then(Value::text).map(str::to_owned))
}

/// Waits until new sessions have these values: the postmaster reads its files after the reload was requested.
pub(super) fn await_values(place: &Arc<PostgresLocation>, settings: &[(String, String)]) -> Result<(), Failure> {
    let until = Instant::now() + RELOAD_TIMEOUT;
    while let Some((name, required, present)) = find_difference(&mut PostgresSession::open(place)?, settings)? {
        if Instant::now() >= until {
            let line = say!(
                "{name} is {present} instead of {required} in a new session: remove its setting of the role or the database"
            );
            return Err(Failure::new(FailureKind::Unsupported, line));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}

/// The first setting with another value: its name, its required and its present value.
fn find_difference(
    session: &mut PostgresSession,
    settings: &[(String, String)],
) -> Result<Option<(String, String, String)>, Failure> {
    for (name, required) in settings {
        let rows = session.rows(&format!("SELECT current_setting({})", quote(name)))?;
        let present = rows.first().and_then(|row| row.first()).and_then(Value::text).unwrap_or_default();
        if present != required {
            return Ok(Some((name.clone(), required.clone(), present.to_owned())));
        }
    }
    Ok(None)
}

/// Refuses names that are not plain identifiers, because they cannot be parameters of a statement.
pub(super) fn check_name(name: &str) -> Result<(), Failure> {
    let is_plain =
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase() || "_0123456789".contains(letter));
    if is_plain {
        return Ok(());
    }
    Err(Failure::new(FailureKind::Unsupported, say!("{name:?} is no name of a setting: use lower-case letters")))
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
