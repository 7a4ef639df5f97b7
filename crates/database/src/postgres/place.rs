//! Connection parameters of a PostgreSQL server: the address, with defaults from the variables of `psql`.

use std::path::{Path, PathBuf};

use plimsoll_language::{label, say};

use crate::failure::{Failure, FailureKind};

/// Default socket directories.
const SOCKETS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

#[derive(Clone, PartialEq, Eq)]
pub(super) enum PostgresHost {
    /// Directory of a Unix socket.
    Socket(PathBuf),
    /// Host name or IP address.
    Net(String),
}

/// Host, user and database. Not `Debug`, to protect the password.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct PostgresLocation {
    pub(super) host: PostgresHost,
    pub(super) port: u16,
    pub(super) user: String,
    pub(super) password: Option<String>,
    pub(super) database: String,
    /// Server options, as `-c name=value`.
    pub(super) options: Option<String>,
}

impl PostgresLocation {
    /// Parses an address. `variable` looks up environment variables; `login` is the user of this process.
    ///
    /// # Errors
    /// [`FailureKind::Unsupported`] for unknown or unsupported parts.
    pub(super) fn read(url: &str, variable: &dyn Fn(&str) -> Option<String>, login: &str) -> Result<Self, Failure> {
        let given = UrlParts::read(url)?;
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let port = given.port.or_else(|| variable("PGPORT"));
        let port = match port {
            Some(text) => text.parse().map_err(|_| unfit(say!("{text} is not a port")))?,
            None => 5432,
        };
        let host = match given.host.or_else(|| variable("PGHOST")) {
            Some(host) if host.contains(',') => {
                return Err(unfit(say!("{host} are several hosts: name the host to measure")));
            }
            Some(host) if host.starts_with(['/', '@']) => PostgresHost::Socket(host.into()),
            Some(host) => PostgresHost::Net(host),
            None => local(port),
        };
        let user = given.user.or_else(|| variable("PGUSER")).unwrap_or_else(|| login.to_owned());
        let database = given.database.or_else(|| variable("PGDATABASE")).unwrap_or_else(|| user.clone());
        let password = given.password.or_else(|| variable("PGPASSWORD"));
        if let Some(mode) = given.sslmode.or_else(|| variable("PGSSLMODE"))
            && ["require", "verify-ca", "verify-full"].contains(&mode.as_str())
        {
            return Err(unfit(say!(
                "sslmode={mode}: plimsoll speaks no TLS with PostgreSQL: use a Unix socket, a private network or an SSH tunnel"
            )));
        }
        Ok(Self { host, port, user, password, database, options: given.options })
    }

    /// Path of the socket, or host and port.
    pub(super) fn display(&self) -> String {
        match &self.host {
            PostgresHost::Socket(_) => self.socket().unwrap_or_default().display().to_string(),
            PostgresHost::Net(host) => format!("{host}:{}", self.port),
        }
    }

    /// Path of the socket, for Unix sockets.
    pub(super) fn socket(&self) -> Option<PathBuf> {
        match &self.host {
            PostgresHost::Socket(folder) => Some(socket(folder, self.port)),
            PostgresHost::Net(_) => None,
        }
    }
}

fn socket(folder: &Path, port: u16) -> PathBuf {
    folder.join(format!(".s.PGSQL.{port}"))
}

fn local(port: u16) -> PostgresHost {
    let found = SOCKETS.iter().map(Path::new).find(|folder| socket(folder, port).exists());
    found.map_or_else(|| PostgresHost::Net("localhost".into()), |folder| PostgresHost::Socket(folder.into()))
}

fn unfit(why: String) -> Failure {
    Failure::new(FailureKind::Unsupported, why)
}

#[derive(Default)]
struct UrlParts {
    host: Option<String>,
    port: Option<String>,
    user: Option<String>,
    password: Option<String>,
    database: Option<String>,
    sslmode: Option<String>,
    options: Option<String>,
}

impl UrlParts {
    fn read(url: &str) -> Result<Self, Failure> {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (place, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, host) = place.rsplit_once('@').unwrap_or(("", place));
        let (user, password) = user.split_once(':').map_or((user, None), |(user, password)| (user, Some(password)));
        let (host, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, rest)) => (host, rest.strip_prefix(':').unwrap_or_default()),
            None => host.rsplit_once(':').unwrap_or((host, "")),
        };
        let some = |text: &str| Ok::<_, Failure>(Some(decoded(text)?).filter(|text| !text.is_empty()));
        let mut given = Self {
            host: some(host)?,
            port: some(port)?,
            user: some(user)?,
            password: password.map(decoded).transpose()?,
            database: some(database)?,
            ..Self::default()
        };
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            given.set(name, some(value)?)?;
        }
        Ok(given)
    }

    fn set(&mut self, name: &str, value: Option<String>) -> Result<(), Failure> {
        let field = match name {
            "host" | "hostaddr" => &mut self.host,
            "port" => &mut self.port,
            "user" => &mut self.user,
            "password" => &mut self.password,
            "dbname" => &mut self.database,
            "sslmode" => &mut self.sslmode,
            "options" => &mut self.options,
            // Without effect on measurements.
            "application_name" | "connect_timeout" | "client_encoding" => return Ok(()),
            _ => {
                return Err(unfit(say!(
                    "{name} in the address is not known: host, port, user, password, dbname, options and sslmode are"
                )));
            }
        };
        *field = value;
        Ok(())
    }
}

/// Decodes `%XX`.
fn decoded(text: &str) -> Result<String, Failure> {
    let wrong = || {
        unfit(label!("the address has a % that no two hexadecimal digits follow: write %25 for the sign itself").into())
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        rest = more;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, more) = rest.split_at_checked(2).ok_or_else(wrong)?;
        let digits = std::str::from_utf8(digits).map_err(|_| wrong())?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| wrong())?);
        rest = more;
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str, variables: &[(&str, &str)]) -> Result<PostgresLocation, Failure> {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        PostgresLocation::read(url, &find, "me")
    }

    fn display(url: &str, variables: &[(&str, &str)]) -> String {
        let place = read(url, variables).unwrap_or_else(|failure| panic!("{failure}"));
        let password = place.password.as_deref().unwrap_or("-");
        format!("{} {} {password} {}", place.display(), place.user, place.database)
    }

    #[test]
    fn address_has_host_user_and_database() {
        assert_eq!(display("postgres://u:p%40ss@db:6000/shop", &[]), "db:6000 u p@ss shop");
        assert_eq!(display("postgresql://u@[::1]:6000/", &[]), "::1:6000 u - u");
        assert_eq!(display("postgres:///x?host=/run/pg&port=1", &[]), "/run/pg/.s.PGSQL.1 me - x");
        assert_eq!(display("postgres://%2Frun%2Fpg/x?user=a&password=b", &[]), "/run/pg/.s.PGSQL.5432 a b x");
        assert_eq!(display("postgres://h/?dbname=y&sslmode=prefer", &[]), "h:5432 me - y");
    }

    #[test]
    fn environment_supplies_defaults() {
        let variables =
            [("PGHOST", "/s"), ("PGPORT", "7"), ("PGUSER", "eve"), ("PGPASSWORD", "w"), ("PGDATABASE", "d")];
        assert_eq!(display("postgres:///", &variables), "/s/.s.PGSQL.7 eve w d");
        assert_eq!(display("postgres://u:v@h:1/n", &variables), "h:1 u v n");
        assert_eq!(display("postgres://h", &[("PGPORT", "")]), "h:5432 me - me");
    }

    #[test]
    fn unsupported_address_is_refused_without_password() {
        for wrong in [
            "postgres://u:secret@h/x?sslmode=require",
            "postgres://u:secret@a,b/x",
            "postgres://u:secret@h:port/x",
            "postgres://u:secret@h/x%2",
            "postgres://u:secret@h/x%zz",
            "postgres://u:secret@h/x?wishes=three",
        ] {
            let failure = read(wrong, &[]).err().expect(wrong);
            assert!(failure.kind == FailureKind::Unsupported && !failure.message.contains("secret"), "{failure}");
        }
    }
}
