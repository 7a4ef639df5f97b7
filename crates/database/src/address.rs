//! Addresses of databases: `postgres://user@host:5432/name`, `mysql://`, `sqlite:FILE`, `oracle://`.

use std::path::PathBuf;

use crate::system::System;

#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseAddress {
    pub system: System,
    /// The address as given, password included: never printed.
    pub url: String,
    /// Path of the file (SQLite).
    pub file: Option<PathBuf>,
}

/// Text that is not an address of a database.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}: no database's address: write postgres://USER@HOST/NAME, mysql://USER@HOST/NAME, sqlite:FILE or oracle://USER@HOST/SERVICE"
)]
pub struct NoAddress(String);

const SCHEMES: [(&str, System); 6] = [
    ("postgres://", System::Postgres),
    ("postgresql://", System::Postgres),
    ("mysql://", System::Mysql),
    ("mariadb://", System::Mysql),
    ("oracle://", System::Oracle),
    ("sqlite:", System::Sqlite),
];

impl DatabaseAddress {
    /// True for a text with the scheme of a database, valid or not.
    pub fn is_meant(text: &str) -> bool {
        SCHEMES.iter().any(|(scheme, _)| text.starts_with(scheme))
    }

    /// Name of the database: last segment of the path.
    pub fn name(&self) -> Option<&str> {
        if let Some(file) = &self.file {
            return file.file_name()?.to_str();
        }
        let (_, rest) = self.url.split_once("://")?;
        let path = rest.split('?').next()?;
        path.split_once('/').map(|(_, name)| name).filter(|name| !name.is_empty())
    }

    /// Address of an SQLite file.
    pub fn sqlite(file: PathBuf) -> Self {
        Self { system: System::Sqlite, url: format!("sqlite:{}", file.display()), file: Some(file) }
    }
}

impl std::str::FromStr for DatabaseAddress {
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<Self, NoAddress> {
        let found = SCHEMES.iter().find_map(|(scheme, system)| Some((*system, text.strip_prefix(scheme)?)));
        let Some((system, rest)) = found.filter(|(_, rest)| !rest.is_empty()) else {
            return Err(NoAddress(hidden(text)));
        };
        let file = (system == System::Sqlite).then(|| PathBuf::from(rest));
        Ok(Self { system, url: text.into(), file })
    }
}

/// The address without its password.
fn hidden(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.into() };
    let (place, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let displayed = match place.rsplit_once('@') {
        Some((user, host)) => format!("{}@{host}", user.split(':').next().unwrap_or_default()),
        None => place.into(),
    };
    let path = path.split('?').next().unwrap_or_default();
    format!("{scheme}://{displayed}{path}")
}

impl std::fmt::Display for DatabaseAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hidden(&self.url))
    }
}

impl std::fmt::Debug for DatabaseAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Address({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_parsed_and_printed_without_password() {
        let check = |text: &str, system, displayed: &str| {
            let address: DatabaseAddress = text.parse().expect(text);
            assert_eq!((address.system, address.to_string().as_str()), (system, displayed));
        };
        check("postgres://me:secret@db:5432/shop?sslmode=disable", System::Postgres, "postgres://me@db:5432/shop");
        check("mariadb://root@localhost/x", System::Mysql, "mariadb://root@localhost/x");
        check("sqlite:/tmp/a b.db", System::Sqlite, "sqlite:/tmp/a b.db");
        for wrong in ["", "db", "sqlite:", "redis://x", "postgres:/x"] {
            assert!(wrong.parse::<DatabaseAddress>().is_err(), "{wrong}");
        }
        assert!(!"redis://a:secret@b".parse::<DatabaseAddress>().unwrap_err().to_string().contains("secret"));
    }
}
