//! `plimsoll fio`: runs fio's jobs on plimsoll's engine, with fio's output formats.

mod around;
mod disks;
mod help;
mod logs;
mod notes;
mod place;
mod plan;
mod report;
mod run;
mod server;
mod status;
mod steady;
mod tell;
mod watch;

use std::io::Write;
use std::path::PathBuf;

use plimsoll_device::Engine;
use plimsoll_fio::{FioCommand, Flags, Question, command, engine_help, option_help, print};
use plimsoll_record::{Source, Subject};
use plimsoll_report::pages;
use plimsoll_suite::{Facts, Nature, Paths};
use plimsoll_units::Bytes;

use crate::args::{FioArgs, FormArgs};
use crate::cli_error::CliError;
use crate::console::Console;
use crate::offers::Offers;
use crate::output::{self, Forms};
use crate::site::Site;
use disks::{Disks, ProcessorTicks};
use notes::Notes;
use place::Laid;
use plan::{Around, Ground, NamedDisk, StagePlan, Whereabouts, plan};
use report::{FioReportInput, Results};
use run::{Ran, Since};
use watch::JobObserver;

/// Parses and runs the jobs, and prints the results.
pub fn run(args: &FioArgs) -> Result<(), CliError> {
    let read = around::within(|around| command(&args.arguments, around));
    let command = read.map_err(|faults| refused(&faults))?;
    match &command.flags.question {
        None => {}
        Some(Question::Version) => return output::print((version() + "\n").as_bytes()),
        Some(Question::Help) => return output::print(help::HELP.as_bytes()),
        Some(Question::Option(name)) => return output::print(option_help(name.as_deref()).as_bytes()),
        Some(Question::Engine(name)) => return output::print(engine_help(name.as_deref()).as_bytes()),
    }
    if command.flags.show_command {
        return output::print(command.shown.as_bytes());
    }
    let mut notes = Notes::new(command.flags.notes.as_deref())?;
    let forms = page_forms(&command.flags)?;
    command.warnings.iter().for_each(|note| notes.write(note));
    if command.flags.parse_only {
        return Ok(());
    }
    let mut site = Stead::new(&command).map_err(as_fio)?;
    let around = Around {
        whereabouts: Whereabouts {
            at: &place::at,
            is_directory: &place::is_directory,
            ground: site.ground,
            disks: &site.disks,
        },
        fresh_seed: run::unix_ms().wrapping_mul(0x9e37_79b9_7f4a_7c15),
        ring_refused: Engine::Ring.refused(),
        aio_refused: Engine::Aio.refused(),
    };
    let plan = plan(&command, &around).map_err(|faults| refused(&faults))?;
    plan.notes.iter().for_each(|note| notes.write(note));
    carry_out(&command, &plan, &mut site, &mut notes, &forms)
}

/// The files of the page. fio's own output is the text.
fn page_forms(flags: &Flags) -> Result<Forms, CliError> {
    let [html, markdown, csv] = [&flags.html, &flags.markdown, &flags.csv].map(|file| file.as_ref().map(PathBuf::from));
    let takes_output = [&html, &markdown, &csv].into_iter().flatten().any(|file| file.as_os_str() == "-");
    if takes_output && flags.output.is_none() {
        return Err(CliError::usage("fio's output takes standard output: give it a file with --output=FILE"));
    }
    Ok(Forms::new(&FormArgs { json: None, html, markdown, csv, no_color: true })?.without_text())
}

/// Target of the jobs.
struct Stead {
    on: Box<dyn plimsoll_suite::Ground>,
    ground: Ground,
    /// Disks of a simulated server.
    disks: Vec<NamedDisk>,
}

impl Stead {
    /// Files and devices of this host, or the target of `--on`.
    fn new(command: &FioCommand) -> Result<Self, CliError> {
        let destroy: Vec<PathBuf> = command.flags.destroy.iter().map(PathBuf::from).collect();
        if let Some((model, disks)) = server::server(&command.flags)? {
            let space = Ground::Space(plimsoll_suite::Ground::facts(&model).space);
            return Ok(Self { on: Box::new(model), ground: space, disks });
        }
        let Some(on) = command.flags.on.first() else {
            let source = Source::Measured { engine: "fio jobs".into() };
            let subject =
                Subject { name: "files of jobs".into(), kind: "files".into(), size: Bytes::ZERO, device: None };
            let facts = Facts { space: Bytes::new(u64::MAX), ..Facts::new(Nature::Directory, source, subject) };
            return Ok(Self { on: Box::new(Paths::new(facts, destroy)), ground: Ground::Paths, disks: Vec::new() });
        };
        let site = Site { place: on, destroy: &destroy, seed: command.flags.seed.unwrap_or(1), page_cache: None };
        let ground = site.ground(|| Offers::new(&crate::args::TermsArgs::default()))?;
        let facts = ground.facts();
        if !matches!(facts.nature, Nature::Model | Nature::Export) {
            let why =
                "--on takes a configuration of the catalogue, stages, or nbd://HOST/NAME; files are named in the job";
            return Err(CliError::usage(format!("{on}: {why}")));
        }
        if facts.read_only && command.jobs.iter().any(plimsoll_fio::FioJob::writes) {
            let why = format!("the jobs write and would destroy its data: add --destroy {on} to allow it");
            return Err(CliError::usage(format!("{on}: {why}")));
        }
        let space = Ground::Space(facts.space);
        Ok(Self { on: ground, ground: space, disks: Vec::new() })
    }
}

fn carry_out(
    command: &FioCommand,
    plan: &StagePlan,
    site: &mut Stead,
    notes: &mut Notes,
    forms: &Forms,
) -> Result<(), CliError> {
    let mut results = Results::new(&command.flags)?;
    let version = version();
    results.heading(command, plan, &version)?;
    let since = Since::now();
    let mut console = Console::new(false).map_err(|error| CliError::Failed(error.into()))?;
    let laid = Laid::new(&plan.files, site.ground, &mut *site.on, &mut console);
    let laid = laid.map_err(|why| if console.interrupted() { CliError::Interrupted } else { refused(&[why]) })?;
    let shows_disks = site.ground == Ground::Paths && command.jobs.iter().any(|job| job.shown.disk_use);
    let disks = if shows_disks { Disks::of(&plan.files) } else { Disks::default() };
    let processors = command.flags.idle_profile.map(ProcessorTicks::new);
    let mut watch = JobObserver::new(command, plan, &mut console, &mut results, &version);
    let ran = run::run(plan, &command.jobs, &laid, &mut *site.on, &mut watch);
    let steady = watch.into_steady();
    console.clear();
    let elapsed = if shows_virtual_time(site) { ran.span() } else { since.elapsed() };
    let course =
        FioReportInput { command, plan, elapsed_s: elapsed.as_nanos() / 1_000_000_000 + 1, version: &version, steady };
    let mut report = course.report(&ran);
    report.disks = disks.used();
    report.idleness = processors.map(|processors| processors.idleness());
    let wrong = report::mismatches(plan, site.ground);
    wrong.iter().for_each(say);
    let failed = failures(command, plan, &ran);
    failed.iter().for_each(say);
    write_logs(command, plan, &ran);
    results.report(&report)?;
    forms.write(&pages::jobs(&report, site.on.facts().source.word()), Vec::new)?;
    laid.remove().iter().for_each(|note| notes.write(note));
    match (ran.interrupted, wrong.is_empty() && failed.is_empty()) {
        (true, _) => Err(CliError::Interrupted),
        (false, true) => Ok(()),
        (false, false) => Err(CliError::Ended(1)),
    }
}

/// Reasons for an early end of jobs, a line each.
fn failures(command: &FioCommand, plan: &StagePlan, ran: &Ran) -> Vec<String> {
    let pairs = plan.stages.iter().zip(&ran.stages).flat_map(|(members, done)| members.iter().zip(done));
    let of_job = |(member, done): (&plan::Member, &run::FinishedJob)| {
        let failure = report::failure(member, plan, done.seen.failed?);
        Some(format!("{}: err={}/{}", command.jobs[member.job].name, failure.errno, failure.text))
    };
    let fault = ran.fault.as_ref().map(|fault| format!("{fault}: {}", fault.source));
    pairs.filter_map(of_job).chain(fault).collect()
}

/// True for simulated jobs.
fn shows_virtual_time(site: &Stead) -> bool {
    site.on.facts().nature == Nature::Model
}

fn write_logs(command: &FioCommand, plan: &StagePlan, ran: &Ran) {
    for (members, done) in plan.stages.iter().zip(&ran.stages) {
        for (member, done) in members.iter().zip(done) {
            let job = &command.jobs[member.job];
            logs::write(job, member, &done.seen, done.started_unix_ms).iter().for_each(say);
        }
    }
}

/// Replaces fio's version.
fn version() -> String {
    print::version(env!("CARGO_PKG_VERSION"))
}

/// Exit code 1 for usage errors, as in fio.
fn as_fio(trouble: CliError) -> CliError {
    match trouble {
        CliError::Usage(text) => refused(&[text]),
        other => other,
    }
}

/// Prints each message and fails with exit code 1, as fio does.
fn refused(messages: &[impl std::fmt::Display]) -> CliError {
    messages.iter().for_each(say);
    CliError::Ended(1)
}

/// Prints a line on standard error.
fn say(text: impl std::fmt::Display) {
    // Nothing can be reported if standard error is closed.
    let _ = writeln!(std::io::stderr(), "plimsoll: {text}");
}
