//! Verification of server certificates by a client.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::VerifierBuilderError;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// The requirements for the certificate of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerNames {
    /// Signed by a trusted authority, for the server's name.
    Matching,
    /// Signed by a trusted authority, for any name: a server on a Unix socket has no name.
    Any,
    /// None: the connection is encrypted, with an unknown peer.
    Anyone,
}

/// Verifies by [`ServerNames`]; without roots, for [`ServerNames::Anyone`], only that the server owns its certificate's key.
#[derive(Debug)]
struct Verifier {
    strict: Option<Arc<WebPkiServerVerifier>>,
    names: ServerNames,
    algorithms: WebPkiSupportedAlgorithms,
}

pub(super) fn verifier(
    provider: &Arc<CryptoProvider>,
    roots: Option<RootCertStore>,
    names: ServerNames,
) -> Result<Arc<dyn ServerCertVerifier>, VerifierBuilderError> {
    let build = |roots| WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
    let strict = roots.map(build).transpose()?;
    Ok(Arc::new(Verifier { strict, names, algorithms: provider.signature_verification_algorithms }))
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(strict) = &self.strict else { return Ok(ServerCertVerified::assertion()) };
        match strict.verify_server_cert(certificate, others, name, ocsp, now) {
            // The name is checked last, so all other checks have passed.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.names == ServerNames::Any => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
