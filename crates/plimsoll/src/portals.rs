//! Flags of iSCSI portals: their sockets, and the authentication of initiators.

use std::path::Path;

use plimsoll_front::iscsi::{Chap, Credentials};
use plimsoll_front::sockets::{ListenAddress, Listening, SocketAccess};
use plimsoll_language::{label, say};
use plimsoll_service::http::check_private;

use crate::args::ChapArgs;
use crate::cli_error::CliError;

/// Minimum bytes of a secret (RFC 7143, 12.1.1).
const MIN_SECRET_BYTES: usize = 12;

/// Listens at the addresses of portals.
pub fn listen(places: &[ListenAddress]) -> Result<Vec<Listening>, CliError> {
    places.iter().map(|place| Ok(place.listen(SocketAccess::Owner)?)).collect()
}

/// The addresses of sockets, `HOST:PORT`.
pub fn addresses(listening: &[Listening]) -> Vec<String> {
    listening.iter().filter_map(|listening| listening.place.host_and_port()).collect()
}

/// The authentication of initiators; `None` admits all.
pub fn chap(args: &ChapArgs) -> Result<Option<Chap>, CliError> {
    let initiator = credentials(args.chap_user.as_deref(), args.chap_secret_file.as_deref())?;
    let target = credentials(args.mutual_chap_user.as_deref(), args.mutual_chap_secret_file.as_deref())?;
    let Some(initiator) = initiator else { return Ok(None) };
    if target.as_ref().is_some_and(|target| target.secret == initiator.secret) {
        return Err(CliError::usage(label!(
            "initiator and target have the same secret; choose another one for the target"
        )));
    }
    Ok(Some(Chap { initiator, target }))
}

fn credentials(name: Option<&str>, file: Option<&Path>) -> Result<Option<Credentials>, CliError> {
    let (Some(name), Some(file)) = (name, file) else { return Ok(None) };
    let path = file.display();
    check_private(file).map_err(|error| CliError::usage(error.to_string()))?;
    let content = std::fs::read(file).map_err(|error| CliError::usage(format!("{path}: {error}")))?;
    let secret = content.trim_ascii_end().to_vec();
    if secret.len() < MIN_SECRET_BYTES {
        return Err(CliError::usage(say!("{path}: a secret has at least {MIN_SECRET_BYTES} bytes")));
    }
    Ok(Some(Credentials { name: name.to_owned(), secret }))
}
