//! Sources of snapshots: counters of a database, through its own client, and of this host. Counters are not interpreted.

mod client;
mod linux;
mod multipath;
mod mysql;
mod postgres;

use serde_json::{Map, Value};

pub use linux::Linux;
pub use mysql::Mysql;
pub use postgres::{Postgres, PsqlConnection};

pub trait CounterSource {
    /// Name in the file's header.
    fn name(&self) -> &'static str;

    /// Connects, and returns the properties of the source. `stop` returns true when the user stops the collection.
    ///
    /// # Errors
    /// The source does not answer, or the user stopped the collection.
    fn connect(&mut self, stop: &dyn Fn() -> bool) -> Result<Map<String, Value>, SourceError>;

    /// Counters that are disabled on the server, with the setting that enables them.
    fn missing(&self, _sample: &Map<String, Value>) -> Option<&'static str> {
        None
    }

    /// The current counters.
    ///
    /// # Errors
    /// The connection was lost, or the user stopped the collection.
    fn sample(&mut self, stop: &dyn Fn() -> bool) -> Result<Map<String, Value>, SourceError>;
}

/// Reason for missing counters.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A failure with its remedy, in a sentence.
    #[error("{0}")]
    Failed(String),
    #[error("stopped")]
    Stopped,
}
