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
/// Sessions; a further session replaces the oldest.
const MAX_SESSIONS: usize = 16;
/// Lifetime of a session in seconds.
const SESSION_SECONDS: u64 = 30 * 24 * 3_600;
/// File of sessions.
const FILE: &str = "sessions";

/// Links and sessions.
#[derive(Debug)]
pub struct Sessions {
    file: PathBuf,
    state: Mutex<SessionStore>,
}

#[derive(Default)]
struct SessionStore {
    links: Vec<String>,
    /// Secret, and the time of its creation in seconds since 1970.
    sessions: Vec<(String, u64)>,
}

impl std::fmt::Debug for SessionStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("sessions", &self.sessions.len()).finish_non_exhaustive()
    }
}

impl Sessions {
    /// Reads the sessions of earlier runs.
    pub fn open(directory: &Path) -> io::Result<Self> {
        let file = directory.join(FILE);
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
        Ok(Self { file, state: Mutex::new(SessionStore { links: Vec::new(), sessions }) })
    }

    /// The token of a new link.
    pub fn link(&self) -> io::Result<String> {
        let token = secret()?;
        let mut state = self.state();
        if state.links.len() == MAX_LINKS {
            state.links.remove(0);
        }
        state.links.push(token.clone());
        Ok(token)
    }

    /// Exchanges the token of a link for a session. `None` if it is unknown or was used before.
    pub fn enter(&self, token: &str) -> io::Result<Option<String>> {
        let mut state = self.state();
        let Some(index) = state.links.iter().position(|link| same(link, token)) else { return Ok(None) };
        state.links.remove(index);
        let session = secret()?;
        let now = now();
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
        let now = now();
        // Compares with every session, also after a match.
        let state = self.state();
        let admits = |(secret, created): &(String, u64)| same(secret, session) & is_valid(*created, now);
        state.sessions.iter().map(admits).fold(false, |any, one| any | one)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, SessionStore> {
        // Poisoning is harmless: lists change in single steps.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const fn is_valid(created: u64, now: u64) -> bool {
    now.saturating_sub(created) < SESSION_SECONDS
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |span| span.as_secs())
}

/// Compares in constant time.
fn same(secret: &str, shown: &str) -> bool {
    let differences = secret.bytes().zip(shown.bytes()).fold(0, |seen, (a, b)| seen | std::hint::black_box(a ^ b));
    differences == 0 && secret.len() == shown.len()
}

/// Random bytes of the system as hexadecimal digits.
pub fn secret() -> io::Result<String> {
    let mut bytes = [0; SECRET_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let digit = |four: u8| char::from_digit(u32::from(four), 16).expect("four bits are a digit");
    Ok(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect())
}

/// Creates a directory that only its owner can read.
pub fn make_private(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// Writes a file that only its owner can read, whole or not at all.
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
        let sessions = Sessions::open(&directory).unwrap();
        let token = sessions.link().unwrap();
        assert_eq!(sessions.enter("0000").unwrap(), None);
        let session = sessions.enter(&token).unwrap().unwrap();
        assert_eq!(sessions.enter(&token).unwrap(), None, "a link is used once");
        assert!(sessions.admits(&session) && !sessions.admits(&token) && !sessions.admits(""));
        let again = Sessions::open(&directory).unwrap();
        assert!(again.admits(&session));
        assert!(!is_valid(0, SESSION_SECONDS));
        fs::remove_dir_all(&directory).unwrap();
    }
}
