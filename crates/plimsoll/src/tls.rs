//! Conversion of TLS flags.

use plimsoll_device::nbd::{Encryption, ExportAddress, NbdHost};
use plimsoll_device::tls::{Identity, Peers, ServerNames};
use plimsoll_front::TlsMode;
use plimsoll_front::sockets::ListenAddress;
use plimsoll_language::label;

use crate::args::{TlsArgs, TlsWord};
use crate::cli_error::CliError;

/// Reads the certificates, if required.
pub fn mode(args: &TlsArgs) -> Result<TlsMode, CliError> {
    let word = args.tls.unwrap_or(if args.tls_certificates.is_some() { TlsWord::Require } else { TlsWord::Off });
    if word == TlsWord::Off {
        return Ok(TlsMode::Off);
    }
    let Some(directory) = &args.tls_certificates else {
        return Err(CliError::usage(label!(
            "--tls requires --tls-certificates DIR with server-cert.pem and server-key.pem"
        )));
    };
    let peers = if args.tls_verify_peer { Peers::Verified } else { Peers::Anyone };
    let identity = Identity::read(directory, peers).map_err(|error| CliError::usage(error.to_string()))?;
    Ok(if word == TlsWord::Allow { TlsMode::Offered(identity) } else { TlsMode::Required(identity) })
}

/// The address of an export for clients, with TLS if required.
pub fn address(place: &ListenAddress, export: &str, args: &TlsArgs, mode: &TlsMode) -> ExportAddress {
    let host = match place {
        ListenAddress::Unix(path) => NbdHost::Unix(path.clone()),
        ListenAddress::Tcp { host, port } => NbdHost::Tcp { name: host.clone(), port: *port },
    };
    let certificates = args.tls_certificates.as_ref().and_then(|path| std::path::absolute(path).ok());
    let tls = matches!(mode, TlsMode::Required(_)).then_some(Encryption {
        certificates,
        names: ServerNames::Matching,
        hostname: None,
    });
    ExportAddress { host, export: export.to_owned(), tls }
}
