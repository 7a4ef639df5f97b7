//! Databases as targets of transactions: sessions, counters, and servers made for a run.
//!
//! Knows nothing about benchmarks: it runs the SQL that it is given, and says what the server counted. Drivers are behind
//! [`Database`] and [`Session`], and block the thread that asks.

mod address;
pub mod cage;
mod data_marker;
mod digest;
mod failure;
pub mod kept;
mod leftovers;
mod made;
pub mod mysql;
mod oracle;
pub mod postgres;
pub mod processes;
mod sqlite;
mod system;
mod target;
mod value;

pub use address::{Address, NoAddress};
pub use data_marker::{DataMarker, MARKER_TABLE};
pub use failure::{Failure, Kind};
pub use leftovers::remove_leftovers;
pub use made::{Flushes, Made, Make, Server};
pub use system::System;
pub use target::{Answer, Cancel, Database, Observer, Prepared, Session, connect};
pub use value::{Row, Value};
