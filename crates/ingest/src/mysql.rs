//! What MySQL and MariaDB count of their I/O: status variables, the monitor of InnoDB, and files of the performance
//! schema.
//!
//! Knows nothing of who asked for them, nor of versions: variables are known by name, and what a server counts within
//! what is told by what it shows.

mod files;
mod monitor;
mod status;

pub(crate) use files::FORM as FILES;
pub(crate) use monitor::FORM as MONITOR;
pub(crate) use status::FORM as STATUS;
pub(crate) use status::{Server, Variable};
