//! The command line: converts flags to a plan, connects the crates, and prints results.
//!
//! A library with one function, so that a program with further drivers can call it: see `oracle/`.

mod args;
mod catalogue;
mod check;
mod cli_error;
mod cloud;
mod collect;
mod comparing;
mod completion;
mod console;
mod database;
mod defaults;
mod demand;
mod diagnose;
mod doctor;
mod explain;
mod fio;
mod fitting;
mod gates;
mod generate;
mod guide;
mod image;
mod iscsi;
mod kubernetes;
mod locale;
mod log;
mod matching;
mod measure;
mod nbd;
mod nbd_check;
mod oci_agent;
mod offers;
mod otlp;
mod output;
mod portals;
mod prices;
mod quote;
mod serve;
mod show;
mod signals;
mod simulate;
mod site;
mod sizing;
mod store;
mod suite;
mod tls;
mod trial;
mod usage;
mod volumes;
mod watch;
mod web;
mod web_console;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::FromArgMatches;
use clap_complete::CompleteEnv;
use plimsoll_language::label;

use crate::args::{Cli, Command};
use crate::cli_error::CliError;

/// Program and version in run files.
pub(crate) const PROGRAM: &str = concat!("plimsoll ", env!("CARGO_PKG_VERSION"));

/// The path of this program, for child processes.
pub(crate) fn own_program() -> Result<PathBuf, CliError> {
    Ok(std::env::current_exe().context(label!("finding this program"))?)
}

/// Runs the command of the process's arguments.
pub fn main() -> ExitCode {
    CompleteEnv::with_factory(completion::build_command).var(completion::VARIABLE).complete();
    // For errors of the configuration file.
    locale::set_language(None);
    let command = match defaults::apply(args::build_command()) {
        Ok(command) => command,
        Err(error) => return fail(&error),
    };
    // For help and errors of the arguments.
    locale::set_language(locale::find_choice(&command, std::env::args_os()));
    let mut command = args::translate(command);
    if std::env::args_os().skip(1).eq(["help"]) {
        command = args::describe_commands(command);
    }
    let cli = command
        .try_get_matches()
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .unwrap_or_else(|error| usage::exit(error));
    locale::set_language(cli.lang);
    let done = match cli.command {
        Command::Measure(args) => measure::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Quote(args) => quote::run(&args),
        Command::Catalogue(args) => catalogue::run(&args),
        Command::Prices(args) => prices::run(&args),
        Command::Match(args) => matching::run(&args),
        Command::Demand(args) => demand::run(&args),
        Command::Diagnose(args) => diagnose::run(&args),
        Command::Collect(args) => collect::run(&args),
        Command::Watch(args) => watch::run(&args),
        Command::Size(args) => sizing::run(&args),
        Command::Kubernetes(args) => kubernetes::run(&args),
        Command::Suite(args) => suite::run(&args),
        Command::Fio(args) => fio::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Fit(args) => fitting::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Web(args) => web::run(*args),
        Command::Volume(args) => volumes::run(&args),
        Command::Instance(args) => cloud::instance(&args),
        Command::OciKey(args) => cloud::oci_key(&args),
        Command::OciConfig(args) => cloud::oci_config(&args),
        Command::OciAgent(args) => oci_agent::run(&args),
        Command::Ec2Key(args) => cloud::ec2_key(&args),
        Command::Nbd(args) => nbd::run(&args),
        Command::Iscsi(args) => iscsi::run(&args),
        Command::NbdCheck(args) => nbd_check::run(&args),
        Command::Try(args) => trial::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Report(args) => show::report(&args),
        Command::Compare(args) => comparing::run(&args),
        Command::Runs(args) => show::manage_runs(&args),
        Command::History(args) => show::history(&args),
        Command::Config(forms) => defaults::show(&forms, cli.lang),
        Command::Guide { name } => output::print(guide::text(name.as_deref()).as_bytes()),
        Command::Presets { name, forms } => show::presets(name.as_deref(), &forms),
        Command::Generate { document, name } => {
            generate::generate_document(document, name.as_deref()).and_then(|text| output::print(&text))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

/// Reports an error, and returns its exit code.
fn fail(error: &CliError) -> ExitCode {
    if !matches!(error, CliError::Ended(_)) {
        // Nothing can be reported if standard error is closed.
        let _ = writeln!(std::io::stderr(), "plimsoll: {error}");
    }
    ExitCode::from(error.exit_code())
}
