//! `plimsoll fio`: runs fio's jobs on plimsoll's engine, with fio's output formats.

mod notes;
mod observer;
pub mod results;
mod server;

use std::io::Write;
use std::path::PathBuf;

use plimsoll_device::Engine;
use plimsoll_drive::Onward;
use plimsoll_fio::{FioCommand, Flags, JobNote, Question, command, engine_help, help, option_help, print};
use plimsoll_language::{label, say};
use plimsoll_measure::read_model;
use plimsoll_record::{Source, Subject};
use plimsoll_report::{pages, words::job_note};
use plimsoll_suite::fio::{
    JobFiles, JobsOutcome, NamedDisk, PathLookup, PathMeaning, PlanContext, PlannedJobs, StagePlan, find_file,
    is_directory, plan, unix_ms, with_surroundings,
};
use plimsoll_suite::{Facts, Ground, Nature, Paths};
use plimsoll_units::Bytes;

use crate::args::{FioArgs, FormArgs};
use crate::cli_error::CliError;
use crate::console::Console;
use crate::offers::read_offers;
use crate::output::{self, Forms};
use crate::site::Site;
use notes::Notes;
use observer::JobObserver;
use results::Results;

/// Parses and runs the jobs, and prints the results.
pub fn run(args: &FioArgs) -> Result<(), CliError> {
    let read = with_surroundings(&read_variable, |surroundings| command(&args.arguments, surroundings));
    let command = read.map_err(|faults| fail_as_fio(&faults))?;
    match &command.flags.question {
        None => {}
        Some(Question::Version) => return output::print((format_version() + "\n").as_bytes()),
        Some(Question::Help) => return output::print(help().as_bytes()),
        Some(Question::Option(name)) => return output::print(option_help(name.as_deref()).as_bytes()),
        Some(Question::Engine(name)) => return output::print(engine_help(name.as_deref()).as_bytes()),
    }
    if command.flags.show_command {
        return output::print(command.showcmd.as_bytes());
    }
    let mut notes = Notes::new(command.flags.notes.as_deref())?;
    let forms = page_forms(&command.flags)?;
    command.warnings.iter().for_each(|note| notes.write(note));
    if command.flags.parse_only {
        return Ok(());
    }
    let (mut target, plan) = prepare(&command).map_err(with_fio_exit_code)?;
    plan.notes.iter().for_each(|note| notes.write(job_note(note)));
    if let Some(doubt) = find_size_doubt(&command) {
        notes.write(doubt);
    }
    run_jobs(&command, &plan, &mut target, &mut notes, &forms)
}

/// The doubt of the product of `--on` about jobs of several sizes.
fn find_size_doubt(command: &FioCommand) -> Option<String> {
    let on = command.flags.on.first().filter(|_| command.block_sizes().len() > 1)?;
    let model = read_model(on, || read_offers(&crate::args::TermsArgs::default())).ok()?;
    model.offer?.size_sharing_doubt()
}

/// The target of jobs, and their plan on it. Nothing is written.
pub fn prepare(command: &FioCommand) -> Result<(JobTarget, StagePlan), CliError> {
    let target = JobTarget::new(command)?;
    let context = PlanContext {
        lookup: PathLookup {
            at: &find_file,
            is_directory: &is_directory,
            meaning: target.meaning,
            disks: &target.disks,
        },
        fresh_seed: unix_ms().wrapping_mul(0x9e37_79b9_7f4a_7c15),
        ring_refused: Engine::Ring.refused(),
        aio_refused: Engine::Aio.refused(),
    };
    let plan = plan(command, &context).map_err(|faults| CliError::usage(faults.join("\nplimsoll: ")))?;
    Ok((target, plan))
}

/// Lays out the files of jobs, runs them, and removes files with `unlink`. Returns the names of those that remain, too.
pub fn perform(
    jobs: &PlannedJobs<'_>,
    target: &mut JobTarget,
    results: &mut Results,
    console: &mut Console,
) -> Result<(JobsOutcome, Vec<JobNote>), CliError> {
    let files = JobFiles::new(&jobs.plan.files, target.meaning, &mut *target.ground, &mut |path, written, size| {
        console.show_line(&say!("laying out {path}: {written} of {size}"));
        if console.interrupted() { Onward::Break(()) } else { Onward::Continue(()) }
    });
    console.clear();
    let files =
        files.map_err(|why| if console.interrupted() { CliError::Interrupted } else { CliError::usage(why) })?;
    let outcome = jobs.run(&files, &mut *target.ground, &mut JobObserver::new(jobs, console, results));
    console.clear();
    Ok((outcome, files.remove()))
}

/// The files of the page. fio's own output is the text.
fn page_forms(flags: &Flags) -> Result<Forms, CliError> {
    let [html, markdown, csv] = [&flags.html, &flags.markdown, &flags.csv].map(|file| file.as_ref().map(PathBuf::from));
    let takes_output = [&html, &markdown, &csv].into_iter().flatten().any(|file| file.as_os_str() == "-");
    if takes_output && flags.output.is_none() {
        return Err(CliError::usage(label!("fio's output takes standard output: give it a file with --output=FILE")));
    }
    Ok(Forms::new(&FormArgs { json: None, html, markdown, csv, details: true, no_color: true })?.without_text())
}

pub struct JobTarget {
    /// Executes them.
    pub ground: Box<dyn Ground>,
    /// Meaning of their paths.
    pub meaning: PathMeaning,
    /// Disks of a simulated server.
    disks: Vec<NamedDisk>,
}

impl JobTarget {
    /// Files and devices of this host, or the target of `--on`.
    fn new(command: &FioCommand) -> Result<Self, CliError> {
        let destroy: Vec<PathBuf> = command.flags.destroy.iter().map(PathBuf::from).collect();
        if let Some((model, disks)) = server::server(&command.flags)? {
            let meaning = PathMeaning::Space(model.facts().space);
            return Ok(Self { ground: Box::new(model), meaning, disks });
        }
        let Some(on) = command.flags.on.first() else {
            let source = Source::Measured { engine: "fio jobs".into() };
            let subject =
                Subject { name: "files of jobs".into(), kind: "files".into(), size: Bytes::ZERO, device: None };
            let facts = Facts { space: Bytes::new(u64::MAX), ..Facts::new(Nature::Directory, source, subject) };
            let ground = Box::new(Paths::new(facts, destroy));
            return Ok(Self { ground, meaning: PathMeaning::Paths, disks: Vec::new() });
        };
        let site = Site { place: on, destroy: &destroy, seed: command.flags.seed.unwrap_or(1), page_cache: None };
        let ground = site.ground(|| read_offers(&crate::args::TermsArgs::default()))?;
        let facts = ground.facts();
        if !matches!(facts.nature, Nature::Model | Nature::Export) {
            let why = label!(
                "--on takes a configuration of the catalogue, stages, or nbd://HOST/NAME; files are named in the job"
            );
            return Err(CliError::usage(format!("{on}: {why}")));
        }
        if facts.read_only && command.jobs.iter().any(plimsoll_fio::FioJob::writes) {
            let why = say!("the jobs write and would destroy its data: add --destroy {on} to allow it");
            return Err(CliError::usage(format!("{on}: {why}")));
        }
        let meaning = PathMeaning::Space(facts.space);
        Ok(Self { ground, meaning, disks: Vec::new() })
    }
}

fn run_jobs(
    command: &FioCommand,
    plan: &StagePlan,
    target: &mut JobTarget,
    notes: &mut Notes,
    forms: &Forms,
) -> Result<(), CliError> {
    let mut results = Results::new(&command.flags)?;
    let version = format_version();
    let jobs = PlannedJobs::new(command, plan, target.meaning, &version);
    results.heading(&jobs)?;
    let mut console = Console::new(false)?;
    let (outcome, remaining) = perform(&jobs, target, &mut results, &mut console).map_err(with_fio_exit_code)?;
    outcome.failures.iter().chain(&outcome.log_errors).for_each(print_error);
    results.report(&outcome.report)?;
    let findings = target.ground.findings();
    findings.iter().map(plimsoll_record::Finding::text).for_each(|text| notes.write(text));
    forms.write(&pages::jobs(&outcome.report, &target.ground.facts().source, &plan.notes, &findings), Vec::new)?;
    for note in &remaining {
        notes.write(job_note(note));
    }
    match (outcome.interrupted, outcome.failures.is_empty()) {
        (true, _) => Err(CliError::Interrupted),
        (false, true) => Ok(()),
        (false, false) => Err(CliError::Ended(1)),
    }
}

/// A variable of the environment, for job files.
pub fn read_variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Replaces fio's version.
pub fn format_version() -> String {
    print::version(env!("CARGO_PKG_VERSION"))
}

/// Exit code 1 for usage errors, as in fio.
fn with_fio_exit_code(error: CliError) -> CliError {
    match error {
        CliError::Usage(text) => fail_as_fio(&[text]),
        other => other,
    }
}

/// Prints each message and fails with exit code 1, as fio does.
fn fail_as_fio(messages: &[impl std::fmt::Display]) -> CliError {
    messages.iter().for_each(print_error);
    CliError::Ended(1)
}

/// Prints a line on standard error.
fn print_error(text: impl std::fmt::Display) {
    // Nothing can be reported if standard error is closed.
    let _ = writeln!(std::io::stderr(), "plimsoll: {text}");
}
