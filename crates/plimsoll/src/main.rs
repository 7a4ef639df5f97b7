//! The command line: flags become a plan, the plan is wired to crates, and what comes of it is printed.

mod args;
mod catalogue;
mod checks;
mod collect;
mod comparing;
mod console;
mod course;
mod database;
mod demand;
mod diagnose;
mod explain;
mod fio;
mod fitting;
mod generate;
mod image;
mod inputs;
mod iscsi;
mod matching;
mod measure;
mod nbd;
mod nbd_check;
mod offers;
mod output;
mod plan;
mod preset;
mod probe;
mod quote;
mod replay;
mod serve;
mod show;
mod signals;
mod simulate;
mod site;
mod sizing;
mod stand;
mod store;
mod suite;
mod systemd;
mod tls;
mod trouble;
mod usage;
mod volumes;
mod what_ifs;
mod words;

use std::io::Write;
use std::process::ExitCode;

use clap::FromArgMatches;

use crate::args::{Cli, Command};
use crate::trouble::Trouble;

/// Program and version, as run files say it.
pub(crate) const MADE_BY: &str = concat!("plimsoll ", env!("CARGO_PKG_VERSION"));

fn main() -> ExitCode {
    let cli = args::command()
        .try_get_matches()
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .unwrap_or_else(|error| usage::explained(error).exit());
    let done = match cli.command {
        Command::Measure(args) => measure::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Quote(args) => quote::run(&args),
        Command::Catalogue(args) => catalogue::run(&args),
        Command::Match(args) => matching::run(&args),
        Command::Demand(args) => demand::run(&args),
        Command::Diagnose(args) => diagnose::run(&args),
        Command::Collect(args) => collect::run(&args),
        Command::Size(args) => sizing::run(&args),
        Command::Suite(args) => suite::run(&args),
        Command::Fio(args) => fio::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Fit(args) => fitting::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Volume(args) => volumes::run(&args),
        Command::Nbd(args) => nbd::run(&args),
        Command::Iscsi(args) => iscsi::run(&args),
        Command::NbdCheck(args) => nbd_check::run(&args),
        Command::Report(args) => show::report(&args),
        Command::Compare(args) => comparing::run(&args),
        Command::Runs(forms) => show::runs(&forms),
        Command::Presets { name } => show::presets(name.as_deref()),
        Command::Generate { what } => output::print(&generate::generated(what)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            if !matches!(trouble, Trouble::Interrupted | Trouble::Ended(_)) {
                // With standard error gone there is nobody left to tell.
                let _ = writeln!(std::io::stderr(), "plimsoll: {trouble}");
            }
            ExitCode::from(trouble.exit_code())
        }
    }
}
