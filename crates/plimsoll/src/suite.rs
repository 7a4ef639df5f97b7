//! `plimsoll suite`: runs a benchmark on a path, an export, a product or a database.

use std::ops::ControlFlow;
use std::path::Path;

use plimsoll_device::write_atomically;
use plimsoll_drive::{Onward, PageCache};
use plimsoll_language::{label, say};
use plimsoll_record::{EndReason, Finding, Slice, SuiteRun};
use plimsoll_report::{Progress, words};
use plimsoll_suite::recipes::slob::SlobOptions;
use plimsoll_suite::{
    CompletedStep, DataPhase, DataRequest, Facts, Ground, Nature, Phases, Recipe, RunOrigin, Step, StepProgress,
    SuiteData, SuiteObserver, SuiteOptions, Surroundings, check_retained, check_room, perform_phases, suite_run,
};
use plimsoll_units::{Bytes, Instant, Span};

use crate::args::{DatabaseArgs, SuiteArgs, SuiteTarget, TermsArgs};
use crate::cli_error::CliError;
use crate::console::Console;
use crate::database;
use crate::offers::read_offers;
use crate::output::{self, Outputs, finish_suite};
use crate::site::Site;

/// Runs the suite, or writes its scripts.
pub fn run(args: &SuiteArgs) -> Result<(), CliError> {
    match args.scripts() {
        Some((options, system, directory)) => write_scripts(options, system, directory),
        None => run_suite(args),
    }
}

fn run_suite(suite: &SuiteArgs) -> Result<(), CliError> {
    let (target, options) = suite.target_and_options();
    if target.output().svg.is_some() {
        return Err(CliError::usage(label!("--svg: a suite has several charts: use --html")));
    }
    let outputs = Outputs::new(target.output())?;
    let sessions = options.sessions();
    let mut console = Console::new(target.output().quiet)?;
    let data_request = target.database().and_then(DatabaseArgs::data);
    if let Some(request) = data_request {
        if request.phase == Some(DataPhase::Cleanup) {
            let remaining = SuiteData::clean_up(request, &mut |text| console.print_notice(text))?;
            print_remaining(&mut console, remaining);
            return Ok(());
        }
        request.check(options)?;
    }
    let mut snapshots = None;
    let mut ground = match target {
        SuiteTarget::Storage(args) => {
            let page_cache = args.memory.map(|memory| PageCache { elevator: args.elevator, ..PageCache::new(memory) });
            let storage = Site { place: &args.place, destroy: &args.destroy, seed: 1, page_cache };
            storage.ground(|| read_offers(&args.terms))?
        }
        SuiteTarget::Database(args) => {
            let (ground, database_snapshots) = database::open_ground(args, sessions, &mut console)?;
            snapshots = database_snapshots;
            ground
        }
    };
    let mut recipe =
        options.recipe(&Surroundings::of(ground.facts(), target.memory()), ground.facts()).map_err(CliError::usage)?;
    if ground.facts().read_only && recipe.files().iter().any(|file| file.writes) {
        let SuiteTarget::Storage(args) = target else {
            return Err(CliError::usage(label!("the database is read-only")));
        };
        return Err(read_only(&args.place, ground.facts()));
    }
    let own_data = data_request.filter(|_| options.uses_own_tables());
    if own_data.is_none() {
        check_room(&*recipe, ground.facts(), Bytes::default())?;
    }
    if let SuiteTarget::Storage(args) = target {
        check_retained(Path::new(&args.place), options.state(), &*recipe)?;
    }
    let data = own_data.map(|request| claim(request, &*recipe, ground.facts(), &mut console));
    let mut data = data.transpose()?;
    if data.as_ref().is_some_and(SuiteData::is_prepared) {
        return Ok(());
    }
    let outcome = run_recipe(&mut *recipe, &mut *ground, &mut console, data.as_mut());
    // An open connection could prevent dropping the data.
    drop(ground);
    let is_complete = outcome.as_ref().is_ok_and(|(result, failed)| result.ended == EndReason::Complete && !failed);
    let cleanup = data.map_or(Ok(None), |data| data.finish(is_complete));
    let cleanup = cleanup.map(|remaining| print_remaining(&mut console, remaining));
    let (mut result, failed) = outcome?;
    if let Some((path, memory)) = options.state().zip(recipe.state()) {
        write_atomically(path, &memory).map_err(anyhow::Error::new)?;
    }
    if target.database().is_some_and(|args| args.phase == Some(DataPhase::Prepare)) {
        cleanup?;
        return check_prepared(&*recipe, &result, failed);
    }
    finish_suite(&mut result, snapshots, &outputs)?;
    cleanup?;
    if failed { Err(CliError::Ended(1)) } else { Ok(()) }
}

/// Writes SLOB for a client of a database.
fn write_scripts(options: &SlobOptions, system: &Path, directory: &Path) -> Result<(), CliError> {
    if system != Path::new("oracle") {
        return Err(CliError::usage(say!("--emit {}: write --emit oracle DIR", system.display())));
    }
    let (files, directory) =
        (options.write_scripts(directory).map_err(CliError::usage)?.join(", "), directory.display());
    output::print(
        say!("{directory}: {files}\nRead them, then: sqlplus USER@HOST/SERVICE @{directory}/load.sql, and sh {directory}/run.sh\n").as_bytes(),
    )
}

/// Finds the data of a suite, or makes space for them.
fn claim(
    request: DataRequest<'_>,
    recipe: &dyn Recipe,
    facts: &Facts,
    console: &mut Console,
) -> Result<SuiteData, CliError> {
    let loader = (crate::PROGRAM, jiff::Timestamp::now().to_string());
    Ok(SuiteData::claim(request, recipe, facts, loader, &mut |text| console.print_line(text))?)
}

/// Prints a message about objects that remain in a database.
fn print_remaining(console: &mut Console, remaining: Option<String>) {
    if let Some(text) = remaining {
        console.print_line(&text);
    }
}

/// Runs a suite on a configuration of the catalogue, without output.
pub fn simulate(config: &str, options: &dyn SuiteOptions, console: &mut Console) -> Result<SuiteRun, CliError> {
    let storage = Site { place: config, destroy: &[], seed: 1, page_cache: None };
    let mut ground = storage.ground(|| read_offers(&TermsArgs::default()))?;
    if ground.facts().nature != Nature::Model {
        return Err(CliError::usage(say!("{config}: name a configuration of the catalogue")));
    }
    let mut recipe =
        options.recipe(&Surroundings::of(ground.facts(), None), ground.facts()).map_err(CliError::usage)?;
    run_recipe(&mut *recipe, &mut *ground, console, None).map(|(run, _)| run)
}

/// The outcome of the loading phase alone.
fn check_prepared(recipe: &dyn Recipe, result: &SuiteRun, failed: bool) -> Result<(), CliError> {
    match result.ended {
        EndReason::Interrupted => Err(CliError::Interrupted),
        EndReason::Complete if !failed => Ok(()),
        _ => {
            let verdicts = result.verdicts.iter().map(words::verdict);
            let why: Vec<String> = result.findings.iter().map(Finding::text).chain(verdicts).collect();
            Err(CliError::Failed(anyhow::anyhow!(say!(
                "the data of {} were not loaded: {}",
                recipe.name(),
                why.join("; ")
            ))))
        }
    }
}

fn read_only(place: &str, facts: &Facts) -> CliError {
    CliError::usage(match facts.nature {
        Nature::Directory => say!("{place}: not writable: use a writable directory"),
        _ => say!("{place}: this suite would destroy its data: add --destroy {place} to allow it"),
    })
}

/// Runs all steps. Returns the result, and whether the suite found an error.
fn run_recipe(
    recipe: &mut dyn Recipe,
    ground: &mut dyn Ground,
    console: &mut Console,
    data: Option<&mut SuiteData>,
) -> Result<(SuiteRun, bool), CliError> {
    let is_virtual = ground.facts().nature == Nature::Model;
    let started = jiff::Timestamp::now();
    let clock = plimsoll_device::Clock::start();
    let phases = data.as_ref().map_or(Phases::All, |data| data.phases());
    let mut watch = ScreenObserver { console, data, place: 0, expected: 1, spent: Span::ZERO };
    let outcome =
        perform_phases(recipe, ground, &mut watch, phases).map_err(|unfit| CliError::usage(unfit.to_string()))?;
    let spent = watch.spent;
    watch.console.clear();
    if outcome.done.is_empty() {
        return Err(match outcome.fault {
            Some(fault) => CliError::Failed(anyhow::Error::new(fault)),
            None => CliError::Interrupted,
        });
    }
    let failed = recipe.has_failed(&outcome.done);
    let origin = RunOrigin {
        program: crate::PROGRAM.into(),
        started: (!is_virtual).then(|| started.to_string()),
        wall: if is_virtual { spent } else { clock.now().since(Instant::ZERO) },
        command: std::env::args().map(without_password).collect(),
    };
    Ok((suite_run(recipe, ground, outcome, origin), failed))
}

/// An argument without its password.
fn without_password(argument: String) -> String {
    match argument.parse::<plimsoll_database::DatabaseAddress>() {
        Ok(address) => address.to_string(),
        Err(_) => argument,
    }
}

/// Progress of a suite on the user's screen.
struct ScreenObserver<'a> {
    console: &'a mut Console,
    /// Data in a database that are marked as loaded.
    data: Option<&'a mut SuiteData>,
    place: usize,
    expected: usize,
    /// Total time of the steps.
    spent: Span,
}

impl SuiteObserver for ScreenObserver<'_> {
    fn step_begins(&mut self, step: &Step, place: usize, expected: usize) {
        if let Some(data) = &mut self.data {
            data.begins(step);
        }
        (self.place, self.expected) = (place, expected.max(place + 1));
    }

    fn observe(&mut self, step: &Step, series: &[Slice]) -> Onward {
        let (place, expected) = (self.place, self.expected);
        self.console.show(|| progress(step, series, place, expected));
        if self.console.interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn step_ends(&mut self, done: &CompletedStep) {
        if let Some(data) = &mut self.data {
            data.ended(&done.result);
        }
        self.spent += done.span();
        self.console.step_done(&words::step_name(&done.step.name), &done.describe());
    }
}

fn progress(step: &Step, series: &[Slice], place: usize, expected: usize) -> Progress<'static> {
    let StepProgress { rate, unit, p99, share, left } = StepProgress::of(step, series);
    let done = (place as f64 + share) / expected as f64;
    let phase = words::step_name(&step.name).into();
    Progress { phase, point: say!("step {} of {expected}", place + 1), rate, unit, p99, done, left }
}
