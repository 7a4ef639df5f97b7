//! The web console of a service, and the commands that it offers.

use std::net::{IpAddr, TcpListener};
use std::path::Path;

use clap::ValueEnum;
use plimsoll_catalogue::Catalogue;
use plimsoll_front::TlsMode;
use plimsoll_language::{label, say};
use plimsoll_measure::{MeasurementRequest, SimulationRequest, name_run};
use plimsoll_record::{Curve, SuiteRun};
use plimsoll_report::{Page, pages};
use plimsoll_service::Service;
use plimsoll_suite::recipes::articles::{Article, ArticlesOptions};
use plimsoll_web::{ArticleRequest, Commands, ConsoleOptions, Observer, WebTls};

use crate::args::ServeArgs;
use crate::cli_error::CliError;
use crate::console::Console;
use crate::{measure, simulate, store, suite, tls};

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
        return if args.web_name.is_empty() {
            Ok(None)
        } else {
            Err(CliError::usage(label!("--web-name requires --web")))
        };
    };
    let refused = |why: &dyn std::fmt::Display| {
        CliError::usage(say!("--web {address}: {why}: give a free port, such as --web 127.0.0.1:0"))
    };
    let listener = TcpListener::bind(address).map_err(|error| refused(&error))?;
    let local = listener.local_addr().map_err(|error| refused(&error))?;
    if local.ip().is_loopback() {
        return match args.web_name.first() {
            None => Ok(Some(WebListener { listener, tls: None })),
            Some(name) => Err(CliError::usage(say!(
                "--web-name {name}: no other host reaches {local}: give an address that other hosts reach, such as \
                 --web 0.0.0.0:{}",
                local.port()
            ))),
        };
    }
    let (TlsMode::Required(identity) | TlsMode::Offered(identity)) = tls::mode(&args.tls)? else {
        return Err(CliError::usage(say!(
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
        return Err(CliError::usage(say!(
            "--web {address}: requests are accepted only with a known host name: add --web-name HOST as in the URL of \
             browsers"
        )));
    }
    Ok(host.to_owned())
}

/// The console of a service.
pub fn build_options(
    listening: WebListener,
    service: &Service,
    products: Catalogue,
    directory: &Path,
) -> ConsoleOptions {
    let commands = Commands { measure, simulate, article: run_article };
    let WebListener { listener, tls } = listening;
    let (directory, runs) = (directory.join(FOLDER), store::runs());
    ConsoleOptions { listener, tls, directory, runs, service: service.clone(), products, commands }
}

fn measure(request: MeasurementRequest, command: Vec<String>, observer: Observer) -> Result<String, String> {
    let stored = measure::measure_and_keep(request, command, &mut Console::for_observer(observer));
    stored.map(|path| name_run(&path)).map_err(|error| error.to_string())
}

fn simulate(model: &str, request: &SimulationRequest, observer: Observer) -> Result<Curve, String> {
    simulate::simulate_one(model, request, &mut Console::for_observer(observer)).map_err(|error| error.to_string())
}

fn run_article(request: &ArticleRequest, observer: Observer) -> Result<Page, String> {
    let article = Article::from_str(request.article, false)?;
    let options = ArticlesOptions { span: Some(request.step), ..ArticlesOptions::of(article) };
    let run = suite::simulate(request.config, &options, &mut Console::for_observer(observer));
    let run = run.map_err(|error| error.to_string())?;
    let words = ["plimsoll", "suite", "articles", "--article", request.article, "--measure"].map(str::to_owned);
    let command = words.into_iter().chain([request.step.to_string(), request.config.to_owned()]).collect();
    Ok(pages::suites(&[SuiteRun { command, ..run }]))
}
