//! The web console of a service, and the commands that it offers.

use std::net::{IpAddr, TcpListener};
use std::path::Path;

use clap::FromArgMatches;
use plimsoll_catalogue::Catalogue;
use plimsoll_front::TlsMode;
use plimsoll_record::{Curve, SuiteRun};
use plimsoll_report::{Page, pages};
use plimsoll_service::Service;
use plimsoll_service::client::{Client, ControlAddress};
use plimsoll_web::{AttachRequest, Commands, ConsoleOptions, Observer, WebTls};

use crate::args::{self, AttachArgs, Cli, Command, MakeFs, ServeArgs};
use crate::cli_error::CliError;
use crate::console::Console;
use crate::volumes::{self, home};
use crate::{comparing, measure, output, simulate, store, suite, tls};

/// Folder of the console in the data directory.
pub const FOLDER: &str = "web";

/// A listening socket, with TLS if other hosts reach it.
#[derive(Debug)]
pub struct WebListener {
    listener: TcpListener,
    tls: Option<WebTls>,
}

/// Listens at the address of `--web`.
pub fn listen(args: &ServeArgs) -> Result<Option<WebListener>, CliError> {
    let Some(address) = &args.web else {
        return if args.web_name.is_empty() { Ok(None) } else { Err(CliError::usage("--web-name requires --web")) };
    };
    let refused = |why: &dyn std::fmt::Display| {
        CliError::usage(format!("--web {address}: {why}: give a free port, such as --web 127.0.0.1:0"))
    };
    let listener = TcpListener::bind(address).map_err(|error| refused(&error))?;
    let local = listener.local_addr().map_err(|error| refused(&error))?;
    if local.ip().is_loopback() {
        return match args.web_name.first() {
            None => Ok(Some(WebListener { listener, tls: None })),
            Some(name) => Err(CliError::usage(format!(
                "--web-name {name}: no other host reaches {local}: give an address that other hosts reach, such as \
                 --web 0.0.0.0:{}",
                local.port()
            ))),
        };
    }
    let (TlsMode::Required(identity) | TlsMode::Offered(identity)) = tls::mode(&args.tls)? else {
        return Err(CliError::usage(format!(
            "--web {address}: reachable from other hosts, where anybody could read the pages: add --tls-certificates DIR, \
             or listen on 127.0.0.1 and forward the port: ssh -L {0}:127.0.0.1:{0} HOST",
            local.port()
        )));
    };
    let names = if args.web_name.is_empty() { vec![own_name(address)?] } else { args.web_name.clone() };
    Ok(Some(WebListener { listener, tls: Some(WebTls { config: identity.config(), names }) }))
}

/// The host of an address, unless it stands for all interfaces.
fn own_name(address: &str) -> Result<String, CliError> {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host).trim_matches(['[', ']']);
    if host.parse::<IpAddr>().is_ok_and(|ip| ip.is_unspecified()) {
        return Err(CliError::usage(format!(
            "--web {address}: requests are accepted only with a known host name: add --web-name HOST as in the URL of \
             browsers"
        )));
    }
    Ok(host.to_owned())
}

/// The console of a service.
pub fn options(listening: WebListener, service: &Service, products: Catalogue, directory: &Path) -> ConsoleOptions {
    let commands = Commands { measure, simulate, curves, compare, suite, attach, detach };
    let WebListener { listener, tls } = listening;
    let (directory, runs) = (directory.join(FOLDER), store::runs_folder());
    ConsoleOptions { listener, tls, directory, runs, service: service.clone(), products, commands }
}

/// Arguments as the command line has them, without the name of the program.
fn parsed(arguments: &[String]) -> Result<Command, String> {
    let words = std::iter::once("plimsoll").chain(arguments.iter().map(String::as_str));
    let matches = args::command().try_get_matches_from(words);
    let cli = matches.and_then(|matches| Cli::from_arg_matches(&matches)).map_err(|error| {
        let text = error.to_string();
        let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty() && !line.starts_with("For more")).collect();
        lines.join(" ").trim_start_matches("error: ").to_owned()
    })?;
    Ok(cli.command)
}

/// The command line that repeats a run of the console.
fn command(arguments: &[String]) -> Vec<String> {
    std::iter::once("plimsoll".to_owned()).chain(arguments.iter().cloned()).collect()
}

fn unexpected() -> String {
    "the console does not offer this command".to_owned()
}

fn measure(arguments: &[String], observer: Observer) -> Result<String, String> {
    let Command::Measure(args) = parsed(arguments)? else { return Err(unexpected()) };
    let kept = measure::measure_and_keep(args.request(), command(arguments), &mut Console::observed(observer));
    kept.map(|path| store::stem(&path)).map_err(|trouble| trouble.to_string())
}

fn simulate(arguments: &[String], observer: Observer) -> Result<Curve, String> {
    let Command::Simulate(args) = parsed(arguments)? else { return Err(unexpected()) };
    let curve = simulate::single(&args, &mut Console::observed(observer)).map_err(|trouble| trouble.to_string())?;
    Ok(Curve { command: command(arguments), ..curve })
}

fn curves(curves: &[Curve]) -> Page {
    pages::curves(&output::sheets(curves))
}

fn compare(before: &str, after: &str) -> Result<Page, String> {
    comparing::page(Path::new(before), Path::new(after)).map_err(|trouble| trouble.to_string())
}

fn suite(arguments: &[String], observer: Observer) -> Result<Page, String> {
    let Command::Suite(args) = parsed(arguments)? else { return Err(unexpected()) };
    let run = suite::simulated(&args, &mut Console::observed(observer)).map_err(|trouble| trouble.to_string())?;
    Ok(pages::suites(&[SuiteRun { command: command(arguments), ..run }]))
}

fn client(directory: &Path) -> Result<Client, String> {
    Client::new(ControlAddress::Unix(directory.join(home::CONTROL)), None).map_err(|error| error.to_string())
}

fn attach(directory: &Path, request: &AttachRequest) -> Result<(), String> {
    let mkfs = match request.mkfs.as_deref() {
        None | Some("") => None,
        Some("ext4") => Some(MakeFs::Ext4),
        Some("xfs") => Some(MakeFs::Xfs),
        Some(other) => return Err(format!("{other}: choose ext4 or xfs")),
    };
    let mountpoint = request.mountpoint.as_ref().filter(|point| !point.trim().is_empty()).map(Into::into);
    let args =
        AttachArgs { name: request.name.clone(), mountpoint, mkfs, mount_options: None, file: false, iscsi: false };
    let attached = volumes::attached(&client(directory)?, &args, volumes::Making::Usual);
    attached.map(drop).map_err(|trouble| trouble.to_string())
}

fn detach(directory: &Path, name: &str) -> Result<(), String> {
    volumes::detached(&client(directory)?, name).map(drop).map_err(|trouble| trouble.to_string())
}
