//! Default data directories, and the client of the service there.

use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_language::{label, say};
use plimsoll_measure::EmulatedVolume;
use plimsoll_service::client::{CONTROL_SOCKET, Client, ControlAddress};
use plimsoll_service::http::Token;
use plimsoll_service::observed::ObservedVolume;

use crate::args::ReachArgs;
use crate::cli_error::CliError;
use crate::store::user_directory;

/// The environment variable that names the service.
const SERVICE_VARIABLE: &str = "PLIMSOLL_SERVICE";
/// The data directory of root.
const ROOT_DIRECTORY: &str = "/var/lib/plimsoll";

/// The data directory of this user.
pub fn directory() -> Result<PathBuf, CliError> {
    if rustix::process::geteuid().is_root() {
        return Ok(ROOT_DIRECTORY.into());
    }
    let data = user_directory("XDG_DATA_HOME", ".local/share").filter(|path| path.is_absolute());
    data.map(|data| data.join("plimsoll")).ok_or_else(|| {
        CliError::usage(label!("there is no data directory: neither XDG_DATA_HOME nor HOME is set; name one"))
    })
}

/// A client of the named service, or of that in a default directory.
pub fn client(args: &ReachArgs) -> Result<Client, CliError> {
    let token = args.token_file.as_deref().map(Token::read).transpose();
    let token = token.map_err(|error| CliError::usage(error.to_string()))?;
    let address = match &args.service {
        Some(address) => address.clone(),
        None => read_service_variable()?.map_or_else(default_address, Ok)?,
    };
    let address = match address {
        ControlAddress::Unix(path) if path.is_dir() => ControlAddress::Unix(path.join(CONTROL_SOCKET)),
        other => other,
    };
    Ok(Client::new(address, token).context(label!("asking the service"))?)
}

/// The data directory of the named or default service, which need not run.
pub fn data_directory(args: &ReachArgs) -> Result<PathBuf, CliError> {
    match args.service.clone().map_or_else(read_service_variable, |address| Ok(Some(address)))? {
        None => directory(),
        Some(ControlAddress::Unix(path))
            if path.is_dir() || path.file_name().is_none_or(|name| name != CONTROL_SOCKET) =>
        {
            Ok(path)
        }
        Some(ControlAddress::Unix(socket)) => Ok(socket.parent().unwrap_or(&socket).to_owned()),
        Some(ControlAddress::Tcp(at)) => Err(CliError::usage(say!("name the data directory instead of http://{at}"))),
    }
}

fn read_service_variable() -> Result<Option<ControlAddress>, CliError> {
    let Some(text) = std::env::var_os(SERVICE_VARIABLE).filter(|text| !text.is_empty()) else { return Ok(None) };
    let address = text.to_string_lossy().parse();
    address.map(Some).map_err(|error| CliError::usage(format!("{SERVICE_VARIABLE}: {error}")))
}

/// The socket of this user's service, or of root's if only that exists.
fn default_address() -> Result<ControlAddress, CliError> {
    let own = directory()?.join(CONTROL_SOCKET);
    let of_root = Path::new(ROOT_DIRECTORY).join(CONTROL_SOCKET);
    Ok(ControlAddress::Unix(if !own.exists() && of_root.exists() { of_root } else { own }))
}

/// The emulated volume of a service of this host, for a measurement.
pub fn find_volume(directory: &Path, name: &str) -> Option<EmulatedVolume> {
    let volume = ObservedVolume::of_directory(directory, name)?;
    let (model, slow) = (volume.model().to_owned(), volume.slow());
    Some(EmulatedVolume { model, slow, findings: Box::new(move || volume.findings()) })
}
