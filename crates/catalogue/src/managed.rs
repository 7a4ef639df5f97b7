//! Managed databases: engines, and the division of work between provider and user.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cite::Cite;

/// A database management system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DatabaseEngine {
    /// IBM Db2.
    Db2,
    /// MariaDB.
    MariaDb,
    /// MySQL.
    MySql,
    /// Oracle Database.
    Oracle,
    /// PostgreSQL.
    PostgreSql,
    /// Microsoft SQL Server.
    SqlServer,
}

impl DatabaseEngine {
    /// All engines.
    pub const ALL: [Self; 6] = [Self::Db2, Self::MariaDb, Self::MySql, Self::Oracle, Self::PostgreSql, Self::SqlServer];

    /// Name in product files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Db2 => "db2",
            Self::MariaDb => "mariadb",
            Self::MySql => "mysql",
            Self::Oracle => "oracle",
            Self::PostgreSql => "postgresql",
            Self::SqlServer => "sqlserver",
        }
    }

    /// Name in texts.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Db2 => "Db2",
            Self::MariaDb => "MariaDB",
            Self::MySql => "MySQL",
            Self::Oracle => "Oracle Database",
            Self::PostgreSql => "PostgreSQL",
            Self::SqlServer => "SQL Server",
        }
    }
}

/// The service around the storage of a managed database.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ManagedDatabase {
    /// Engines that it runs; never empty.
    pub engines: Vec<DatabaseEngine>,
    /// The work of the provider.
    pub provides: Arc<str>,
    /// The work that remains with the user.
    pub leaves: Arc<str>,
    /// Source of both.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

impl ManagedDatabase {
    /// Titles of the engines: `MySQL, PostgreSQL`.
    pub fn engine_titles(&self) -> String {
        self.engines.iter().map(|engine| engine.title()).collect::<Vec<_>>().join(", ")
    }
}
