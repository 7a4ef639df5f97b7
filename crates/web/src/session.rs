//! Links that open the console once, and sessions: secrets in cookies that survive a restart of the service.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes of a secret.
const SECRET_BYTES: usize = 16;
/// Unused links; a further link replaces the oldest.
const MAX_LINKS: usize = 8;
/// Folder of unused links: an empty file each, so that another process of the user can add one.
const LINKS: &str = "links";
/// File with the URL of the running console.
const URL: &str = "url";
/// Sessions; a further session replaces the oldest.
const MAX_SESSIONS: usize = 16;
/// Lifetime of a session in seconds.
const SESSION_SECONDS: u64 = 30 * 24 * 3_600;
const SESSIONS_FILE: &str = "sessions";

/// Adds a link to the running console of a directory, and returns its URL.
///
/// # Errors
/// No console runs there, or the system gives no random bytes.
pub fn add_link(directory: &Path) -> io::Result<String> {
    let url = fs::read_to_string(directory.join(URL))?;
    Ok(link_url(&url, &Links(directory.join(LINKS)).add()?))
}

/// A URL that opens the console once. The token is in the fragment, which browsers do not send.
pub fn link_url(console: &str, token: &str) -> String {
    format!("{console}/enter#{token}")
}

/// Unused links, as empty files.
#[derive(Debug)]
struct Links(PathBuf);

impl Links {
    /// Creates a link, and returns its token.
    fn add(&self) -> io::Result<String> {
        make_private(&self.0)?;
        let mut links = fs::read_dir(&self.0)?
            .map(|entry| {
                let entry = entry?;
                Ok((entry.metadata()?.modified()?, entry.path()))
            })
            .collect::<io::Result<Vec<_>>>()?;
        links.sort();
        for (_, oldest) in links.iter().take((links.len() + 1).saturating_sub(MAX_LINKS)) {
            // The link may have been used since.
            let _ = fs::remove_file(oldest);
        }
        let token = create_secret()?;
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(self.0.join(&token))?;
        Ok(token)
    }

    /// Uses a link. False if it is unknown or was used before.
    fn take(&self, token: &str) -> io::Result<bool> {
        if token.len() != 2 * SECRET_BYTES || !token.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Ok(false);
        }
        match fs::remove_file(self.0.join(token)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[derive(Debug)]
pub struct Sessions {
    links: Links,
    url: PathBuf,
    file: PathBuf,
    state: Mutex<SessionStore>,
}

#[derive(Default)]
struct SessionStore {
    /// Secret, and the time of its creation in seconds since 1970.
    sessions: Vec<(String, u64)>,
}

impl std::fmt::Debug for SessionStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionStore").field("sessions", &self.sessions.len()).finish_non_exhaustive()
    }
}

impl Sessions {
    /// Reads the sessions of earlier runs, and removes their links.
    pub fn open(directory: &Path, url: &str) -> io::Result<Self> {
        let links = Links(directory.join(LINKS));
        match fs::remove_dir_all(&links.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let url_file = directory.join(URL);
        write_private(&url_file, url.as_bytes())?;
        let file = directory.join(SESSIONS_FILE);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let session = |line: &str| {
            let (secret, created) = line.split_once(' ')?;
            Some((secret.to_owned(), created.parse().ok()?))
        };
        let sessions = text.lines().filter_map(session).take(MAX_SESSIONS).collect();
        Ok(Self { links, url: url_file, file, state: Mutex::new(SessionStore { sessions }) })
    }

    /// The token of a new link.
    pub fn link(&self) -> io::Result<String> {
        self.links.add()
    }

    /// Exchanges the token of a link for a session. `None` if it is unknown or was used before.
    pub fn enter(&self, token: &str) -> io::Result<Option<String>> {
        if !self.links.take(token)? {
            return Ok(None);
        }
        let mut state = self.state();
        let session = create_secret()?;
        let now = unix_time_s();
        state.sessions.retain(|(_, created)| is_valid(*created, now));
        if state.sessions.len() == MAX_SESSIONS {
            state.sessions.remove(0);
        }
        state.sessions.push((session.clone(), now));
        let lines: Vec<String> = state.sessions.iter().map(|(secret, created)| format!("{secret} {created}")).collect();
        write_private(&self.file, lines.join("\n").as_bytes())?;
        Ok(Some(session))
    }

    /// True if the session exists and is not too old.
    pub fn admits(&self, session: &str) -> bool {
        let now = unix_time_s();
        // Compares with every session, also after a match.
        let state = self.state();
        let admits =
            |(secret, created): &(String, u64)| equals_in_constant_time(secret, session) & is_valid(*created, now);
        state.sessions.iter().map(admits).fold(false, |any, one| any | one)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, SessionStore> {
        // Poisoning is harmless: lists change in single steps.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// No console is at the URL any more.
impl Drop for Sessions {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.url);
    }
}

const fn is_valid(created: u64, now: u64) -> bool {
    now.saturating_sub(created) < SESSION_SECONDS
}

fn unix_time_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |span| span.as_secs())
}

fn equals_in_constant_time(secret: &str, candidate: &str) -> bool {
    let differences =
        secret.bytes().zip(candidate.bytes()).fold(0, |difference, (a, b)| difference | std::hint::black_box(a ^ b));
    differences == 0 && secret.len() == candidate.len()
}

/// Random bytes of the system as hexadecimal digits.
pub fn create_secret() -> io::Result<String> {
    let mut bytes = [0; SECRET_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let digit = |four: u8| char::from_digit(u32::from(four), 16).expect("four bits are a digit");
    Ok(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect())
}

/// Creates a directory that only its owner can read.
pub fn make_private(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// Writes a file atomically that only its owner can read.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = path.with_extension("part");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&draft, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_opens_once_and_session_survives_restart() {
        let directory = std::env::temp_dir().join(format!("plimsoll-sessions-{}", std::process::id()));
        make_private(&directory).unwrap();
        let sessions = Sessions::open(&directory, "http://127.0.0.1:7580").unwrap();
        let token = sessions.link().unwrap();
        assert_eq!(sessions.enter("0000").unwrap(), None);
        let session = sessions.enter(&token).unwrap().unwrap();
        assert_eq!(sessions.enter(&token).unwrap(), None, "a link is used once");
        assert!(sessions.admits(&session) && !sessions.admits(&token) && !sessions.admits(""));
        let url = add_link(&directory).unwrap();
        let other = url.strip_prefix("http://127.0.0.1:7580/enter#").unwrap();
        assert!(sessions.enter(other).unwrap().is_some(), "a link of another process");
        let tokens: Vec<String> = (0..=MAX_LINKS).map(|_| sessions.link().unwrap()).collect();
        let entered = tokens.iter().filter(|token| sessions.enter(token).unwrap().is_some()).count();
        assert_eq!(entered, MAX_LINKS, "a further link replaces the oldest");
        assert_eq!(sessions.enter("../sessions").unwrap(), None);
        drop(sessions);
        assert!(add_link(&directory).is_err(), "no console runs");
        let again = Sessions::open(&directory, "http://127.0.0.1:7580").unwrap();
        assert!(again.admits(&session));
        assert!(!is_valid(0, SESSION_SECONDS));
        fs::remove_dir_all(&directory).unwrap();
    }
}
