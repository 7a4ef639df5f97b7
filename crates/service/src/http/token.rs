//! Bearer token of TCP clients.

use std::fmt;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

/// Minimum length against guessing.
const MIN_LENGTH: usize = 16;
/// Maximum length of a token file.
const MAX_FILE_BYTES: u64 = 4096;

/// Secret shared by client and service. Never printed.
#[derive(Clone)]
pub struct Token(String);

/// Failure to read a token.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file is missing or unreadable.
    #[error("reading the secret in {}: {source}", path.display())]
    Io {
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// Other users can read the file.
    #[error("{} can be read by others, so it is not secret: chmod 600 it", .0.display())]
    Open(PathBuf),
    /// The file does not contain a token.
    #[error(
        "{} holds no token: write one line of {MIN_LENGTH} to {MAX_FILE_BYTES} letters and digits, as `openssl rand -hex 32` gives",
        .0.display()
    )]
    Unfit(PathBuf),
}

/// Checks that only its owner can read the file of a secret; its length.
///
/// # Errors
/// The file is missing, or others can read it.
pub fn check_private(path: &Path) -> Result<u64, TokenError> {
    let found = path.metadata().map_err(|source| TokenError::Io { path: path.to_owned(), source })?;
    if found.mode() & 0o077 != 0 {
        return Err(TokenError::Open(path.to_owned()));
    }
    Ok(found.len())
}

impl Token {
    /// Reads the only line of a file that only its owner can read.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let failed = |source| TokenError::Io { path: path.to_owned(), source };
        let length = check_private(path)?;
        let unfit = || TokenError::Unfit(path.to_owned());
        if length > MAX_FILE_BYTES {
            return Err(unfit());
        }
        let text = std::fs::read_to_string(path).map_err(failed)?;
        Self::new(text.trim()).ok_or_else(unfit)
    }

    /// A token of visible ASCII characters; `None` if it is too short or contains others.
    pub fn new(text: &str) -> Option<Self> {
        let fit = text.len() >= MIN_LENGTH && text.bytes().all(|byte| byte.is_ascii_graphic());
        fit.then(|| Self(text.to_owned()))
    }

    /// A word that a protocol prescribes instead of a secret.
    pub fn prescribed(word: &str) -> Self {
        Self(word.to_owned())
    }

    /// Value of the header `authorization`.
    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Compares a request's token in constant time.
    pub fn admits(&self, headers: &HeaderMap) -> bool {
        let presented = headers.get(AUTHORIZATION).map_or(&[][..], |value| value.as_bytes());
        let expected = self.bearer();
        // Compares every byte of the header, also after a difference.
        let repeated = expected.bytes().cycle();
        let differences =
            presented.iter().zip(repeated).fold(0, |difference, (a, b)| difference | std::hint::black_box(a ^ b));
        differences == 0 && presented.len() == expected.len()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_token_is_admitted() {
        let token = Token::new("0123456789abcdef").unwrap();
        let admits = |presented: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, presented.parse().unwrap());
            token.admits(&headers)
        };
        assert!(admits("Bearer 0123456789abcdef"));
        let twice = "Bearer 0123456789abcdefBearer 0123456789abcdef";
        for wrong in ["", "Bearer", "Bearer 0123456789abcdee", "Bearer 0123456789abcde", "0123456789abcdef", twice] {
            assert!(!admits(wrong), "{wrong}");
        }
        assert!(!token.admits(&HeaderMap::new()));
        assert!(Token::new("short").is_none() && Token::new("0123456789 abcdef").is_none());
        assert_eq!(format!("{token:?}"), "Token(..)");
    }
}
