//! The database systems that are known, and how their SQL differs.

/// A database system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum System {
    /// PostgreSQL.
    Postgres,
    /// MySQL, or MariaDB.
    Mysql,
    /// SQLite, in this process.
    Sqlite,
    /// Oracle Database.
    Oracle,
}

impl System {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Mysql => "MySQL",
            Self::Sqlite => "SQLite",
            Self::Oracle => "Oracle",
        }
    }

    /// Statements can run in loops of the server's own.
    pub const fn has_procedures(self) -> bool {
        !matches!(self, Self::Sqlite)
    }
}

impl std::fmt::Display for System {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
