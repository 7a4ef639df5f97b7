//! The flags of TLS as what a server does.

use plimsoll_device::nbd::{Address, Encryption, Host};
use plimsoll_device::tls::{Identity, Names, Peers};
use plimsoll_front::TlsMode;
use plimsoll_front::sockets::Place;

use crate::args::{TlsArgs, TlsWord};
use crate::trouble::Trouble;

/// Reads the certificates, where they are wanted.
pub fn mode(args: &TlsArgs) -> Result<TlsMode, Trouble> {
    let word = args.tls.unwrap_or(if args.tls_certificates.is_some() { TlsWord::Require } else { TlsWord::Off });
    if word == TlsWord::Off {
        return Ok(TlsMode::Off);
    }
    let Some(directory) = &args.tls_certificates else {
        return Err(Trouble::usage(
            "--tls needs certificates: add --tls-certificates DIR, with server-cert.pem and server-key.pem in it",
        ));
    };
    let peers = if args.tls_verify_peer { Peers::Verified } else { Peers::Anyone };
    let identity = Identity::read(directory, peers).map_err(|error| Trouble::usage(error.to_string()))?;
    Ok(if word == TlsWord::Allow { TlsMode::Offered(identity) } else { TlsMode::Required(identity) })
}

/// Where a client finds an export, and that it has to encrypt if it has to.
pub fn address(place: &Place, export: &str, args: &TlsArgs, mode: &TlsMode) -> Address {
    let host = match place {
        Place::Unix(path) => Host::Unix(path.clone()),
        Place::Tcp { host, port } => Host::Tcp { name: host.clone(), port: *port },
    };
    let certificates = args.tls_certificates.as_ref().and_then(|path| std::path::absolute(path).ok());
    let tls = matches!(mode, TlsMode::Required(_)).then_some(Encryption {
        certificates,
        names: Names::Matching,
        hostname: None,
    });
    Address { host, export: export.to_owned(), tls }
}
