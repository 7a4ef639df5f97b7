//! Portals of iSCSI targets: their sockets, the addresses that initiators get, and the authentication of initiators.

use std::path::Path;

use plimsoll_front::iscsi::{Chap, Credentials};
use plimsoll_front::sockets::{ListenAddress, Listening, SocketAccess};
use plimsoll_service::http::check_private;

use crate::args::ChapArgs;
use crate::cli_error::CliError;

/// Minimum bytes of a secret (RFC 7143, 12.1.1).
const SECRET_MIN: usize = 12;

/// Listens at the addresses of portals.
pub fn listen(places: &[ListenAddress]) -> Result<Vec<Listening>, CliError> {
    let refused = |error| CliError::usage(format!("{:#}", anyhow::Error::new(error)));
    places.iter().map(|place| place.listen(SocketAccess::Owner).map_err(refused)).collect()
}

/// The addresses of sockets, `HOST:PORT`.
pub fn addresses(listening: &[Listening]) -> Vec<String> {
    listening.iter().filter_map(|listening| address(&listening.place)).collect()
}

/// The addresses that discovery returns: those of the user, or those of the portals. A portal of all addresses has none:
/// the target returns the address of the connection.
pub fn advertised(own: &[String], wanted: &[ListenAddress]) -> Vec<String> {
    if !wanted.is_empty() {
        return wanted.iter().filter_map(address).collect();
    }
    let is_open = |address: &&String| !address.starts_with("0.0.0.0:") && !address.starts_with("[::]:");
    own.iter().filter(is_open).cloned().collect()
}

fn address(place: &ListenAddress) -> Option<String> {
    match place {
        ListenAddress::Unix(_) => None,
        ListenAddress::Tcp { host, port } if host.contains(':') => Some(format!("[{host}]:{port}")),
        ListenAddress::Tcp { host, port } => Some(format!("{host}:{port}")),
    }
}

/// The authentication of initiators; `None` admits all.
pub fn chap(args: &ChapArgs) -> Result<Option<Chap>, CliError> {
    let initiator = credentials(args.chap_user.as_deref(), args.chap_secret_file.as_deref())?;
    let target = credentials(args.mutual_chap_user.as_deref(), args.mutual_chap_secret_file.as_deref())?;
    let Some(initiator) = initiator else { return Ok(None) };
    if target.as_ref().is_some_and(|target| target.secret == initiator.secret) {
        return Err(CliError::usage("initiator and target have the same secret; choose another one for the target"));
    }
    Ok(Some(Chap { initiator, target }))
}

fn credentials(name: Option<&str>, file: Option<&Path>) -> Result<Option<Credentials>, CliError> {
    let (Some(name), Some(file)) = (name, file) else { return Ok(None) };
    let shown = file.display();
    check_private(file).map_err(|error| CliError::usage(error.to_string()))?;
    let content = std::fs::read(file).map_err(|error| CliError::usage(format!("{shown}: {error}")))?;
    let secret = content.trim_ascii_end().to_vec();
    if secret.len() < SECRET_MIN {
        return Err(CliError::usage(format!("{shown}: a secret has at least {SECRET_MIN} bytes")));
    }
    Ok(Some(Credentials { name: name.to_owned(), secret }))
}
