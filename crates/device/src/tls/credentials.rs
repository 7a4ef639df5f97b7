//! Certificates and keys in a directory, with the file names of libnbd, nbdkit and QEMU.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use super::verify::{ServerNames, verifier};

/// The certificate of the authority.
const CA: &str = "ca-cert.pem";

/// Maximum length of a certificate or key file in bytes.
const LARGEST: u64 = 1 << 20;

/// Unusable certificates or keys.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct NoCredentials {
    path: PathBuf,
    why: String,
}

/// The clients that a server accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peers {
    /// Every client.
    Anyone,
    /// Clients with a certificate that the authority in `ca-cert.pem` signed.
    Verified,
}

/// The certificate of a server, and its requirements for clients.
#[derive(Clone, Debug)]
pub struct Identity(Arc<ServerConfig>);

/// The requirements of a client for servers, and its own certificate.
#[derive(Clone, Debug)]
pub struct Trust(Arc<ClientConfig>);

impl Identity {
    /// Reads `server-cert.pem` and `server-key.pem` in a directory, and `ca-cert.pem` where clients are verified.
    pub fn read(directory: &Path, peers: Peers) -> Result<Self, NoCredentials> {
        let chain = certificates(&directory.join("server-cert.pem"))?;
        let key_path = directory.join("server-key.pem");
        let key = read_key(&key_path)?;
        let builder = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| wrong(directory, error.to_string()))?;
        let builder = match peers {
            Peers::Anyone => builder.with_no_client_auth(),
            Peers::Verified => {
                let roots = Arc::new(authorities(&directory.join(CA))?);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider()).build();
                builder
                    .with_client_cert_verifier(verifier.map_err(|error| wrong(&directory.join(CA), error.to_string()))?)
            }
        };
        let unfit = |error| wrong(&key_path, format!("does not match server-cert.pem in its directory ({error})"));
        let mut config = builder.with_single_cert(chain, key).map_err(unfit)?;
        // Connections to volumes are few and long: no sessions are kept for resumption.
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        Ok(Self(Arc::new(config)))
    }

    /// Configuration of rustls, for servers that are no [`Channel`](super::Channel).
    pub fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.0)
    }
}

impl Trust {
    /// Reads from a directory: `ca-cert.pem`, unless any server is accepted, and `client-cert.pem` with
    /// `client-key.pem` if present.
    pub fn read(directory: Option<&Path>, names: ServerNames) -> Result<Self, NoCredentials> {
        let here = directory.unwrap_or(Path::new("."));
        let roots = match (names, directory) {
            (ServerNames::Anyone, _) => None,
            (_, Some(directory)) => Some(authorities(&directory.join(CA))?),
            (_, None) => {
                let why = "no authority is named to verify the server with: add tls-certificates=DIRECTORY to the \
                           address, with ca-cert.pem in it, or tls-verify-peer=false";
                return Err(wrong(Path::new(CA), why));
            }
        };
        let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| wrong(here, error.to_string()))?;
        let verifier = verifier(&provider(), roots, names).map_err(|error| wrong(&here.join(CA), error.to_string()))?;
        let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
        let own = directory.map(|directory| directory.join("client-cert.pem")).filter(|path| path.exists());
        let mut config = match own {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let key_path = path.with_file_name("client-key.pem");
                let unfit =
                    |error| wrong(&key_path, format!("does not match client-cert.pem in its directory ({error})"));
                builder.with_client_auth_cert(certificates(&path)?, read_key(&key_path)?).map_err(unfit)?
            }
        };
        config.resumption = rustls::client::Resumption::disabled();
        Ok(Self(Arc::new(config)))
    }

    pub(super) fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.0)
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn wrong(path: &Path, why: impl Into<String>) -> NoCredentials {
    NoCredentials { path: path.to_owned(), why: why.into() }
}

fn read(path: &Path) -> Result<Vec<u8>, NoCredentials> {
    let length = std::fs::metadata(path).map_err(|error| wrong(path, error.to_string()))?.len();
    if length > LARGEST {
        return Err(wrong(path, "too large for a certificate or a key"));
    }
    std::fs::read(path).map_err(|error| wrong(path, error.to_string()))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, NoCredentials> {
    let text = read(path)?;
    let found: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(&text).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(wrong(path, "no certificate in PEM form in it")),
        Err(error) => Err(wrong(path, format!("no certificate in PEM form: {error}"))),
    }
}

fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, NoCredentials> {
    PrivateKeyDer::from_pem_slice(&read(path)?)
        .map_err(|error| wrong(path, format!("no private key in PEM form, or an encrypted one: {error}")))
}

fn authorities(path: &Path) -> Result<RootCertStore, NoCredentials> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|error| wrong(path, format!("no certificate of an authority: {error}")))?;
    }
    Ok(roots)
}
