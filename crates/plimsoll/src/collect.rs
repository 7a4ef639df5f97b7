//! `plimsoll collect`: snapshots of the counters of a database or host, in a file that `plimsoll demand` reads.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::Ordering;

use plimsoll_language::say;
use plimsoll_measure::collect::{self, CollectEvent, CollectRequest, EbsVolumes};
use plimsoll_suite::collect::{CounterSource, Linux, Mysql, Postgres, PsqlConnection};

use crate::args::{CollectArgs, CollectCommand, SamplingArgs};
use crate::cli_error::CliError;
use crate::console::Console;
use crate::output;

/// Collects until the time is over or the user stops it.
pub fn run(args: &CollectArgs) -> Result<(), CliError> {
    match &args.source {
        CollectCommand::Postgres(args) => {
            collect(&mut connect_postgres(args.url.as_deref(), &args.client), &args.sampling)
        }
        CollectCommand::Mysql(args) => collect(&mut Mysql::new(&args.client), &args.sampling),
        CollectCommand::Linux(args) => collect(&mut Linux::default(), &args.sampling),
        CollectCommand::Ebs(args) => collect(&mut EbsVolumes::new(&args.devices), &args.sampling),
        CollectCommand::Oracle(args) => {
            let script = if args.without_diagnostics_pack { collect::SAMPLES } else { collect::HISTORY };
            output::print(script.as_bytes())
        }
    }
}

/// A source through psql, under the name of this program unless the user has set one.
pub fn connect_postgres<'a>(url: Option<&'a OsStr>, options: &'a [OsString]) -> Postgres<'a> {
    let application_name = std::env::var_os("PGAPPNAME").is_none().then_some("plimsoll");
    Postgres::new(PsqlConnection { url, options, application_name })
}

fn collect(source: &mut dyn CounterSource, sampling: &SamplingArgs) -> Result<(), CliError> {
    let mut console = Console::new(false)?;
    let interrupted = console.interrupted_flag();
    let SamplingArgs { interval, duration, out } = sampling;
    let is_stdout = out.as_deref() == Some(Path::new("-"));
    let stdout = is_stdout.then(|| Box::new(std::io::stdout()) as Box<dyn Write>);
    let request =
        CollectRequest { interval: *interval, duration: *duration, out: out.as_deref(), program: crate::PROGRAM };
    let stop = || interrupted.load(Ordering::Relaxed);
    let mut tell = |event: CollectEvent<'_>| match event {
        CollectEvent::Progress { .. } => console.show_line(&describe(event)),
        _ => console.print_line(&describe(event)),
    };
    Ok(collect::collect(source, &request, stdout, &stop, &mut tell)?)
}

fn describe(event: CollectEvent<'_>) -> String {
    match event {
        CollectEvent::Missing(counters) => counters.to_owned(),
        CollectEvent::Failed(why) => say!("{why}; retrying every interval, collected snapshots are kept"),
        CollectEvent::Progress { snapshots, iops: Some(iops), left } => {
            say!("{snapshots} snapshots, {iops:.0} IOPS now, {left} remaining; Ctrl-C stops and keeps them")
        }
        CollectEvent::Progress { snapshots, iops: None, left } => {
            say!("{snapshots} snapshots, {left} remaining; Ctrl-C stops and keeps them")
        }
        CollectEvent::Ended { snapshots: snapshots @ (0 | 1), name } => {
            say!("{snapshots} snapshots in {name}; too few for figures: collect for longer")
        }
        CollectEvent::Ended { snapshots, name } => {
            say!("{snapshots} snapshots in {name}; show their storage demand: plimsoll demand {name}")
        }
    }
}
