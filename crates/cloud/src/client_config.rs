//! Configuration files of the OCI command line for a control plane.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::keys::{KeyError, NewKey, OciKey, TENANCY, USER, add_oci_key};

const PRIVATE_KEY: &str = "plimsoll_api_key.pem";

/// A configuration of the OCI command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OciConfig {
    /// The configuration file.
    pub config: PathBuf,
    /// The file with the endpoint.
    pub rc: PathBuf,
    /// Fingerprint of its key, which is registered.
    pub fingerprint: String,
}

/// A configuration could not be written.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum ClientConfigError {
    /// A file of the folder exists.
    #[error("{} exists and is kept: name another folder (plimsoll oci-config FOLDER)", .0.display())]
    Exists(PathBuf),
    /// The key could not be made or registered.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// System error.
    #[error("{attempt}")]
    Io {
        /// The failed operation and its object.
        attempt: String,
        /// The system error.
        source: io::Error,
    },
}

impl OciConfig {
    /// Writes the files of a new user key to an absolute folder, and registers the key in the data directory.
    ///
    /// # Errors
    /// A file exists, or cannot be written.
    pub fn write(folder: &Path, directory: &Path, endpoint: &str, region: &str) -> Result<Self, ClientConfigError> {
        let [config, rc, private] = ["config", "oci_cli_rc", PRIVATE_KEY].map(|name| folder.join(name));
        if let Some(present) = [&config, &rc, &private].into_iter().find(|path| path.exists()) {
            return Err(ClientConfigError::Exists(present.clone()));
        }
        let pair = NewKey::generate()?;
        let key = OciKey::new(TENANCY, USER, &pair.public_pem)?;
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|source| ClientConfigError::Io { attempt: format!("making {}", folder.display()), source })?;
        write_new(&private, &pair.private_pem)?;
        let (fingerprint, key_file) = (&key.fingerprint, private.display());
        write_new(
            &config,
            &format!(
                "[DEFAULT]\nuser={USER}\ntenancy={TENANCY}\nfingerprint={fingerprint}\nkey_file={key_file}\nregion={region}\n"
            ),
        )?;
        write_new(&rc, &format!("[DEFAULT]\nendpoint = {endpoint}\ncompartment-id = {TENANCY}\n"))?;
        add_oci_key(directory, key.clone())?;
        Ok(Self { config, rc, fingerprint: key.fingerprint })
    }
}

/// Writes a new file for its owner alone.
fn write_new(path: &Path, text: &str) -> Result<(), ClientConfigError> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|source| ClientConfigError::Io { attempt: format!("writing {}", path.display()), source })
}
