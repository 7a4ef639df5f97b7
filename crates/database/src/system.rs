//! The supported database systems.

/// A database system. As the value of a flag, a system of which a server can be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum System {
    /// PostgreSQL, from its installed programs
    Postgres,
    /// MariaDB or MySQL, from its installed programs
    #[value(name = "mariadb", alias = "mysql")]
    Mysql,
    /// SQLite, which is part of this program
    Sqlite,
    /// Oracle Database; no server of it can be created
    #[value(skip)]
    Oracle,
}

impl System {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Mysql => "MySQL",
            Self::Sqlite => "SQLite",
            Self::Oracle => "Oracle",
        }
    }

    /// True for a database (a schema in Oracle) of the server itself or of its operator.
    pub fn reserves(self, name: &str) -> bool {
        let reserved: &[&str] = match self {
            Self::Postgres => &[
                "postgres",
                "template0",
                "template1",
                // Managed services.
                "alloydbadmin",
                "azure_maintenance",
                "azure_sys",
                "cloudsqladmin",
                "rdsadmin",
            ],
            Self::Mysql => &["information_schema", "mysql", "ndbinfo", "performance_schema", "sys"],
            Self::Oracle => &[
                "APPQOSSYS",
                "AUDSYS",
                "CTXSYS",
                "DBSFWUSER",
                "DBSNMP",
                "DVF",
                "DVSYS",
                "GGSYS",
                "GSMADMIN_INTERNAL",
                "GSMCATUSER",
                "GSMUSER",
                "LBACSYS",
                "MDSYS",
                "OJVMSYS",
                "OLAPSYS",
                "ORDDATA",
                "ORDPLUGINS",
                "ORDSYS",
                "OUTLN",
                "PUBLIC",
                "RDSADMIN",
                "REMOTE_SCHEDULER_AGENT",
                "SI_INFORMTN_SCHEMA",
                "SYS",
                "SYS$UMF",
                "SYSBACKUP",
                "SYSDG",
                "SYSKM",
                "SYSMAN",
                "SYSRAC",
                "SYSTEM",
                "WMSYS",
                "XDB",
                "XS$NULL",
            ],
            Self::Sqlite => &[],
        };
        // MySQL's names are case-insensitive on some filesystems; Oracle's are unless quoted.
        reserved.iter().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// Whether statements can run in loops inside the server.
    pub const fn has_procedures(self) -> bool {
        !matches!(self, Self::Sqlite)
    }
}

impl std::fmt::Display for System {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_databases_are_reserved() {
        let reserved = [
            (System::Mysql, "mysql information_schema performance_schema sys MYSQL"),
            (System::Postgres, "template0 template1 postgres"),
            (System::Oracle, "SYS system"),
        ];
        for (system, names) in reserved {
            assert!(names.split(' ').all(|name| system.reserves(name)), "{system}");
            assert!(!system.reserves("shop") && !system.reserves("plimsoll"), "{system}");
        }
        assert!(!System::Sqlite.reserves("mysql"));
    }
}
