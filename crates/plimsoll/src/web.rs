//! `plimsoll web`: the service with its web console.

use plimsoll_language::say;
use plimsoll_service::client::{CONTROL_SOCKET, Client, ControlAddress};

use crate::args::{ServeArgs, WebArgs};
use crate::cli_error::CliError;
use crate::volumes::home;
use crate::web_console::FOLDER;
use crate::{output, serve};

/// Address of the console unless another is given.
const ADDRESS: &str = "127.0.0.1:7580";

/// Serves until a signal.
pub fn run(args: WebArgs) -> Result<(), CliError> {
    if args.url {
        return print_url(&args.serve);
    }
    let web = args.serve.web.or_else(|| Some(ADDRESS.to_owned()));
    serve::run(&ServeArgs { web, ..args.serve })
}

/// Prints a further URL of a running console.
fn print_url(args: &ServeArgs) -> Result<(), CliError> {
    let directory = args.directory.clone().map_or_else(home::directory, Ok)?;
    let path = directory.display();
    let control = args.control.clone().unwrap_or_else(|| directory.join(CONTROL_SOCKET));
    let client = Client::new(ControlAddress::Unix(control), None);
    let is_running = client.is_ok_and(|client| client.get("/v1/service").is_ok());
    let url = if is_running { plimsoll_web::add_link(&directory.join(FOLDER)).ok() } else { None };
    let url =
        url.ok_or_else(|| CliError::usage(say!("no console runs for {path}: start it with plimsoll web {path}")))?;
    output::print(format!("{url}\n").as_bytes())
}
