//! Keys of clients, in a private file of the data directory: public keys of OCI users, access keys of EC2.
//!
//! Commands write the file while a service reads it: the service compares the file's identity with each request.

use std::fmt::Write;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use rsa::pkcs1::EncodeRsaPublicKey;
use rsa::pkcs8::{DecodePublicKey, EncodePrivateKey, EncodePublicKey, LineEnding};
use rsa::traits::PublicKeyParts;
use rsa::{PrivateKey, PublicKey};
use serde::{Deserialize, Serialize};

use crate::durable;
use crate::identifiers::{hex, random};

const FORMAT: &str = "plimsoll.cloud-keys/1";
const FILE: &str = "keys.json";
const KEY_BITS: usize = 2_048;
/// Bits that a verified signature may have.
const BITS: std::ops::RangeInclusive<usize> = 2_048..=8_192;

/// Tenancy of keys that are registered without a tenancy.
pub const TENANCY: &str = "ocid1.tenancy.oc1..plimsoll";
/// User of keys that are registered without a user.
pub const USER: &str = "ocid1.user.oc1..plimsoll";

/// Directory of the control planes in a data directory.
pub fn state_directory(data_directory: &Path) -> PathBuf {
    data_directory.join("cloud")
}

/// A public key of an OCI user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OciKey {
    pub tenancy: String,
    pub user: String,
    /// MD5 of the public key: 16 pairs of digits, separated by colons.
    pub fingerprint: String,
    /// `RSAPublicKey` of PKCS #1, base64.
    key: String,
}

/// An access key of EC2.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ec2Key {
    /// Access key ID.
    pub id: String,
    /// Secret access key.
    pub secret: String,
}

impl std::fmt::Debug for Ec2Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ec2Key({})", self.id)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyFile {
    format: String,
    #[serde(default)]
    pub oci: Vec<OciKey>,
    #[serde(default)]
    pub ec2: Vec<Ec2Key>,
}

/// A key cannot be registered.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file of keys cannot be read or written.
    #[error("the keys in {}", path.display())]
    Io {
        path: PathBuf,
        /// Error of the system.
        #[source]
        source: io::Error,
    },
    /// The file of keys is unreadable.
    #[error("the keys in {} are unreadable ({why}): move the file away, and register the keys again", path.display())]
    Content { path: PathBuf, why: String },
    /// The text is no public key.
    #[error(
        "this is no RSA public key in PEM ({0}): extract it from the private key with openssl rsa -in KEY.pem -pubout"
    )]
    NoKey(String),
    /// The key is too short or too long.
    #[error("the key has {0} bits: make a key of 2,048 to 8,192 bits")]
    Bits(usize),
    #[error("{0:?} is no OCID of a {1}: write ocid1.{1}.oc1..NAME")]
    NoOcid(String, &'static str),
    /// Random numbers or primes are missing.
    #[error("making a key: {0}")]
    Making(String),
}

/// A new key pair of an OCI user.
#[derive(Debug)]
pub struct NewKey {
    /// Private key, PKCS #8 in PEM.
    pub private_pem: String,
    pub public_pem: String,
}

impl OciKey {
    /// Reads a public key in PEM.
    pub fn new(tenancy: &str, user: &str, public_pem: &str) -> Result<Self, KeyError> {
        for (text, kind) in [(tenancy, "tenancy"), (user, "user")] {
            if !crate::identifiers::is_ocid(text, &[kind]) {
                return Err(KeyError::NoOcid(text.to_owned(), kind));
            }
        }
        let key = PublicKey::from_public_key_pem(public_pem).map_err(|error| KeyError::NoKey(error.to_string()))?;
        let bits = key.size() * 8;
        if !BITS.contains(&bits) {
            return Err(KeyError::Bits(bits));
        }
        let no_key = |error: &dyn std::fmt::Display| KeyError::NoKey(error.to_string());
        let document = key.to_public_key_der().map_err(|error| no_key(&error))?;
        let pkcs1 = key.to_pkcs1_der().map_err(|error| no_key(&error))?;
        Ok(Self {
            tenancy: tenancy.to_owned(),
            user: user.to_owned(),
            fingerprint: fingerprint(document.as_bytes()),
            key: STANDARD.encode(pkcs1.as_bytes()),
        })
    }

    /// `TENANCY/USER/FINGERPRINT`, as signatures name it.
    pub fn id(&self) -> String {
        format!("{}/{}/{}", self.tenancy, self.user, self.fingerprint)
    }

    /// `RSAPublicKey` of PKCS #1.
    pub(crate) fn public_key(&self) -> Option<Vec<u8>> {
        STANDARD.decode(&self.key).ok()
    }
}

impl NewKey {
    /// Makes a key pair of 2,048 bits.
    pub fn generate() -> Result<Self, KeyError> {
        let making = |error: &dyn std::fmt::Display| KeyError::Making(error.to_string());
        let mut random = rsa::rand_core::UnwrapErr(SystemRandom);
        let key = PrivateKey::new(&mut random, KEY_BITS).map_err(|error| making(&error))?;
        let private = key.to_pkcs8_pem(LineEnding::LF).map_err(|error| making(&error))?;
        let public = key.to_public_key().to_public_key_pem(LineEnding::LF).map_err(|error| making(&error))?;
        Ok(Self { private_pem: private.to_string(), public_pem: public })
    }
}

impl Ec2Key {
    /// Makes an access key.
    pub fn generate() -> Self {
        let id: String = hex(&random::<8>()).to_ascii_uppercase();
        Self { id: format!("AKIA{id}"), secret: STANDARD.encode(random::<30>()) }
    }
}

/// MD5 as colon-separated pairs of hexadecimal digits.
fn fingerprint(der: &[u8]) -> String {
    let mut text = String::new();
    for (at, byte) in Md5::digest(der).iter().enumerate() {
        let colon = if at == 0 { "" } else { ":" };
        write!(text, "{colon}{byte:02x}").expect("writing to a string does not fail");
    }
    text
}

/// Registers a key of an OCI user; a key with the same identity is replaced.
pub fn add_oci_key(data_directory: &Path, key: OciKey) -> Result<(), KeyError> {
    change(data_directory, |keys| {
        keys.oci.retain(|old| old.id() != key.id());
        keys.oci.push(key);
    })
}

/// Removes the keys of an OCI user with this fingerprint; the number of removed keys.
pub fn remove_oci_key(data_directory: &Path, fingerprint: &str) -> Result<usize, KeyError> {
    change(data_directory, |keys| {
        let before = keys.oci.len();
        keys.oci.retain(|old| old.fingerprint != fingerprint);
        before - keys.oci.len()
    })
}

/// Registered keys of OCI users.
pub fn oci_keys(data_directory: &Path) -> Result<Vec<OciKey>, KeyError> {
    Ok(load(&state_directory(data_directory).join(FILE))?.oci)
}

/// Registers an access key of EC2.
pub fn add_ec2_key(data_directory: &Path, key: Ec2Key) -> Result<(), KeyError> {
    change(data_directory, |keys| {
        keys.ec2.retain(|old| old.id != key.id);
        keys.ec2.push(key);
    })
}

fn change<T>(data_directory: &Path, change: impl FnOnce(&mut KeyFile) -> T) -> Result<T, KeyError> {
    let directory = state_directory(data_directory);
    let path = directory.join(FILE);
    let failed = |source| KeyError::Io { path: path.clone(), source };
    durable::directory(&directory).map_err(failed)?;
    let lock = durable::lock(&directory).map_err(failed)?;
    let mut keys = load(&path)?;
    let done = change(&mut keys);
    FORMAT.clone_into(&mut keys.format);
    let text = serde_json::to_vec_pretty(&keys).expect("keys are texts");
    durable::replace(&path, &text).map_err(failed)?;
    drop(lock);
    Ok(done)
}

fn load(path: &Path) -> Result<KeyFile, KeyError> {
    let read = durable::read(path).map_err(|source| KeyError::Io { path: path.to_owned(), source })?;
    let Some(bytes) = read else { return Ok(KeyFile::default()) };
    let wrong = |why: String| KeyError::Content { path: path.to_owned(), why };
    let keys: KeyFile = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
    if keys.format != FORMAT {
        return Err(wrong(format!("format {:?}", keys.format)));
    }
    Ok(keys)
}

/// Identity of a file: inode, size and time of change.
type FileIdentity = (u64, u64, i64, i64);

/// Keys as a running service sees them.
#[derive(Debug)]
pub(crate) struct Keys {
    path: PathBuf,
    present: Mutex<(Option<FileIdentity>, Arc<KeyFile>)>,
}

impl Keys {
    pub fn new(state_directory: &Path) -> Self {
        Self { path: state_directory.join(FILE), present: Mutex::default() }
    }

    /// Present keys; those read before if the file has become unreadable.
    pub fn get(&self) -> Arc<KeyFile> {
        let mut present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        let identity = std::fs::metadata(&self.path)
            .ok()
            .map(|found| (found.ino(), found.len(), found.mtime(), found.mtime_nsec()));
        if identity != present.0
            && let Ok(keys) = load(&self.path)
        {
            *present = (identity, Arc::new(keys));
        }
        Arc::clone(&present.1)
    }
}

/// Random numbers of the system for the making of keys.
struct SystemRandom;

impl rsa::rand_core::TryRng for SystemRandom {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(u32::from_ne_bytes(random()))
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Ok(u64::from_ne_bytes(random()))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for chunk in bytes.chunks_mut(32) {
            chunk.copy_from_slice(&random::<32>()[..chunk.len()]);
        }
        Ok(())
    }
}

impl rsa::rand_core::TryCryptoRng for SystemRandom {}
