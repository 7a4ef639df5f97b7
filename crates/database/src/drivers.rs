//! Selection of the driver by database system.

use plimsoll_language::{label, say};

use crate::address::DatabaseAddress;
use crate::failure::{Failure, FailureKind};
use crate::made::{Created, Make};
use crate::system::System;
use crate::target::Database;
use crate::{mysql, oracle, postgres, sqlite};

/// Connects to the database at an address.
///
/// # Errors
/// The server is unreachable, denies access, or is too old; or the driver is not built in.
pub fn connect(address: &DatabaseAddress) -> Result<Box<dyn Database>, Failure> {
    match address.system {
        System::Postgres => postgres::connect(address),
        System::Oracle => oracle::connect(address),
        System::Sqlite => sqlite::connect(address),
        System::Mysql => mysql::connect(address),
    }
}

impl Make {
    /// Creates the server. It ends with this process, even if this process is killed.
    ///
    /// # Errors
    /// The programs are not installed, the space is insufficient, or the server does not start (with the end of its
    /// log).
    pub fn make(&self) -> Result<Created, Failure> {
        match self.system {
            System::Postgres => postgres::make(self),
            System::Sqlite if self.log_folder.is_some() => Err(Failure::new(
                FailureKind::Unsupported,
                label!("the log of SQLite is next to its file: leave out --log-path"),
            )),
            System::Sqlite => sqlite::make(self),
            System::Mysql => mysql::make(self),
            System::Oracle => Err(Failure::new(
                FailureKind::Unsupported,
                say!("creating a server of {} is not supported", self.system),
            )),
        }
    }
}
