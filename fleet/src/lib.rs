//! `plimsoll-fleet`: usage, limits and cost of all volumes of a company.
//!
//! The engine is DataFusion, in this process or on a cluster of processes of this program (Ballista). Products, limits
//! and prices are those of plimsoll's catalogue.

mod cluster;
pub mod folder;
mod generate;
mod ingest;
pub mod limits;
mod merge;
mod months;
mod parallel;
mod place;
pub mod points;
mod random;
pub mod records;
pub mod replay;
mod rightsize;
mod runs;
mod sql;
mod terms;
pub mod tls;
pub mod volumes;
mod what_if;

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::{Parser, Subcommand};

use cluster::{ExecutorOptions, SchedulerOptions};
use generate::GenerateOptions;
use ingest::IngestOptions;
use rightsize::RightsizeOptions;
use sql::SqlOptions;
use what_if::ReplayOptions;

/// Usage, limits and cost of all volumes of a company
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Print warnings of the engine
    #[arg(long, global = true)]
    verbose: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a synthetic fleet whose truth is recorded in truth.csv
    Generate(GenerateOptions),
    /// Read metrics into the folder of a fleet
    Ingest(IngestOptions),
    /// Replay all points under the limits of today's configurations, or of another product
    Replay(ReplayOptions),
    /// Find the cheapest configuration of each volume that carries its load
    Rightsize(RightsizeOptions),
    /// Query the tables of a fleet
    Sql(SqlOptions),
    /// Run the scheduler of a cluster
    Scheduler(SchedulerOptions),
    /// Run an executor of a cluster
    Executor(ExecutorOptions),
}

/// Prints warnings of the engine.
struct EngineLog;

impl log::Log for EngineLog {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let _ = writeln!(std::io::stderr(), "{} {}: {}", record.level(), record.target(), record.args());
    }

    fn flush(&self) {}
}

static LOG: EngineLog = EngineLog;

fn run(command: &Command) -> Result<String> {
    match command {
        Command::Generate(options) => {
            let points = generate::generate(options)?;
            let folder = options.folder.display();
            Ok(format!(
                "{} volumes, {points} points in {folder}\nnext: plimsoll-fleet rightsize {folder}",
                options.volumes
            ))
        }
        Command::Ingest(options) => {
            let mut progress = |line: &str| {
                let _ = writeln!(std::io::stderr(), "{line}");
            };
            let ingested = ingest::ingest(options, &mut progress)?;
            let (text, refused) = (ingested.to_text(&options.folder), ingested.refused_files);
            ensure!(refused == 0, "{refused} of {} files not read to their end; {text}", options.files.len());
            Ok(text)
        }
        Command::Replay(options) => what_if::run(options),
        Command::Rightsize(options) => rightsize::rightsize(options),
        Command::Sql(options) => sql::query(options),
        Command::Scheduler(options) => cluster::run_scheduler(options).map(|()| String::new()),
        Command::Executor(options) => cluster::run_executor(options).map(|()| String::new()),
    }
}

/// The program.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let level = if arguments.verbose { log::LevelFilter::Warn } else { log::LevelFilter::Error };
    if log::set_logger(&LOG).is_ok() {
        log::set_max_level(level);
    }
    match run(&arguments.command) {
        Ok(text) => {
            // A reader that closes the pipe is no fault.
            let _ = writeln!(std::io::stdout(), "{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "plimsoll-fleet: {error:#}");
            ExitCode::FAILURE
        }
    }
}
