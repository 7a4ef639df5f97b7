//! Databases as targets of transactions: sessions, counters, and servers made for a run.
//!
//! Executes SQL without knowledge of benchmarks, and reads the server's counters. Drivers implement [`Database`] and
//! [`Session`], and block the calling thread.

mod address;
pub mod cgroup;
mod data_marker;
mod digest;
mod drivers;
mod failure;
mod leftovers;
mod made;
pub mod mysql;
mod oracle;
pub mod postgres;
mod private_folder;
pub mod processes;
pub mod server_process;
mod sqlite;
mod system;
mod target;
mod value;

pub use address::{DatabaseAddress, NoAddress};
pub use data_marker::{DataMarker, ObjectChanges};
pub use digest::RowDigest;
pub use drivers::connect;
pub use failure::{Failure, FailureKind};
pub use leftovers::remove_leftovers;
pub use made::{Created, Flushes, MadeServer, Make};
pub use oracle::{OracleDriver, register_oracle};
pub use system::System;
pub use target::{Answer, Cancel, Database, Observer, Prepared, Session, SettingsChange};
pub use value::{Row, Value};
