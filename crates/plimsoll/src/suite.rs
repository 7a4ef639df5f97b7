//! `plimsoll suite`: runs a benchmark on a path, an export, a product or a database.

use std::ops::ControlFlow;
use std::path::Path;

use plimsoll_analyse::total_span;
use plimsoll_device::{check_writable, write_whole};
use plimsoll_drive::{Onward, PageCache};
use plimsoll_measure::sweep::mean_rate;
use plimsoll_record::{Counter, EndReason, Finding, SUITE_FORMAT, Slice, SuiteRun};
use plimsoll_report::Progress;
use plimsoll_suite::{
    CompletedStep, Facts, Ground, Nature, Phases, Recipe, Step, StepResult, SuiteObserver, SuiteOptions, Surroundings,
    Work, perform_phases, session_run, step_run,
};
use plimsoll_units::{Bytes, Instant, Span, Throughput};

use crate::args::{DatabaseArgs, PhaseWord, SuiteArgs, SuiteTarget, TermsArgs};
use crate::cli_error::CliError;
use crate::console::Console;
use crate::database::{self, Data};
use crate::offers::Offers;
use crate::output::{Outputs, finish_suite};
use crate::site::Site;

/// Runs the suite.
pub fn run_suite(suite: &SuiteArgs) -> Result<(), CliError> {
    let (place, options) = suite.chosen();
    if place.output().svg.is_some() {
        return Err(CliError::usage("--svg: a suite has several charts: use --html"));
    }
    let outputs = Outputs::new(place.output())?;
    let sessions = options.sessions();
    let mut console = Console::new(place.output().quiet).map_err(|error| CliError::Failed(error.into()))?;
    let url = place.database().and_then(|args| Some((args, args.url.as_deref()?)));
    if let Some((args, url)) = url {
        if args.phase == Some(PhaseWord::Cleanup) {
            return Data::clean_up(args, url, &mut console);
        }
        if !options.uses_own_tables() {
            refuse_data_flags(args)?;
        }
        if options.writes() {
            database::check_not_system(url)?;
        }
    }
    let mut snapshots = None;
    let mut ground = match place {
        SuiteTarget::Storage(args) => {
            let page_cache = args.memory.map(|memory| PageCache { elevator: args.elevator, ..PageCache::new(memory) });
            let storage = Site { place: &args.place, destroy: &args.destroy, seed: 1, page_cache };
            storage.ground(|| Offers::new(&args.terms))?
        }
        SuiteTarget::Database(args) => {
            let (ground, taken) = database::ground(args, sessions, &mut console)?;
            snapshots = taken;
            ground
        }
    };
    let mut recipe =
        options.recipe(&surroundings(place.memory(), ground.facts()), ground.facts()).map_err(CliError::usage)?;
    if ground.facts().read_only && recipe.files().iter().any(|file| file.writes) {
        let SuiteTarget::Storage(place) = place else { return Err(CliError::usage("the database is read-only")) };
        return Err(read_only(&place.place, ground.facts()));
    }
    let own_data = url.filter(|_| options.uses_own_tables());
    if own_data.is_none() {
        database::check_room(&*recipe, ground.facts(), Bytes::default())?;
    }
    if let SuiteTarget::Storage(place) = place {
        check_kept(&place.place, options.state(), &*recipe)?;
    }
    let mut data = match own_data {
        Some((args, url)) => Some(Data::claim(args, url, &*recipe, ground.facts(), &mut console)?),
        None => None,
    };
    if data.as_ref().is_some_and(Data::is_prepared) {
        return Ok(());
    }
    let made = run_recipe(&mut *recipe, &mut *ground, &mut console, data.as_mut());
    // An open connection could prevent dropping the data.
    drop(ground);
    let is_whole = made.as_ref().is_ok_and(|(ran, failed)| ran.ended == EndReason::Complete && !failed);
    let finished = data.map_or(Ok(()), |data| data.finish(is_whole, &mut console));
    let (mut ran, failed) = made?;
    if let Some((path, memory)) = options.state().zip(recipe.state()) {
        write_whole(path, &memory).map_err(anyhow::Error::new)?;
    }
    if place.database().is_some_and(|args| args.phase == Some(PhaseWord::Prepare)) {
        return finished.and_then(|()| check_prepared(&*recipe, &ran, failed));
    }
    finish_suite(&mut ran, snapshots, &outputs)?;
    finished?;
    if failed { Err(CliError::Ended(1)) } else { Ok(()) }
}

/// Runs a suite on a configuration of the catalogue, without output.
pub fn simulate(config: &str, options: &dyn SuiteOptions, console: &mut Console) -> Result<SuiteRun, CliError> {
    let storage = Site { place: config, destroy: &[], seed: 1, page_cache: None };
    let mut ground = storage.ground(|| Offers::new(&TermsArgs::default()))?;
    if ground.facts().nature != Nature::Model {
        return Err(CliError::usage(format!("{config}: name a configuration of the catalogue")));
    }
    let mut recipe = options.recipe(&surroundings(None, ground.facts()), ground.facts()).map_err(CliError::usage)?;
    run_recipe(&mut *recipe, &mut *ground, console, None).map(|(run, _)| run)
}

/// Values for a recipe that its options do not contain. `memory` replaces that of the host.
fn surroundings(memory: Option<Bytes>, facts: &Facts) -> Surroundings {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let date = || jiff::Zoned::now().strftime("%Y/%m/%d %H:%M:%S").to_string();
    Surroundings {
        memory: memory.or_else(|| facts.memory()).unwrap_or_default(),
        host: host.trim().to_owned(),
        date: if facts.nature == Nature::Model { String::new() } else { date() },
    }
}

/// Fails if a run would overwrite data, or their state, that an earlier run kept for a check.
fn check_kept(place: &str, state: Option<&Path>, recipe: &dyn Recipe) -> Result<(), CliError> {
    let files = recipe.files();
    let mut written = files.iter().filter(|file| file.writes).peekable();
    let state = state.filter(|_| written.peek().is_some());
    let kept = written.filter_map(|file| Some(Path::new(place).join(file.path.as_ref()?)));
    let exists = kept.chain(state.map(Path::to_path_buf)).find(|path| path.is_file());
    if let Some(path) = exists {
        let path = path.display();
        return Err(CliError::usage(format!(
            "{path}: it may be of an earlier run: add --check to check its data, or remove it, or use another name"
        )));
    }
    state.map_or(Ok(()), |path| Ok(check_writable(path)?))
}

/// Fails for flags about data with a statement on the user's tables.
fn refuse_data_flags(args: &DatabaseArgs) -> Result<(), CliError> {
    let flag = match (&args.destroy, args.phase) {
        (Some(name), _) => format!("--destroy {name}"),
        (None, Some(_)) => "--phase".into(),
        (None, None) => return Ok(()),
    };
    Err(CliError::usage(format!("{flag}: --sql uses existing tables and loads or drops no data: omit it")))
}

/// The outcome of the loading phase alone.
fn check_prepared(recipe: &dyn Recipe, ran: &SuiteRun, failed: bool) -> Result<(), CliError> {
    match ran.ended {
        EndReason::Interrupted => Err(CliError::Interrupted),
        EndReason::Complete if !failed => Ok(()),
        _ => {
            let why: Vec<String> = ran.findings.iter().map(Finding::text).chain(ran.verdicts.iter().cloned()).collect();
            Err(CliError::Failed(anyhow::anyhow!("the data of {} were not loaded: {}", recipe.name(), why.join("; "))))
        }
    }
}

fn read_only(place: &str, facts: &Facts) -> CliError {
    CliError::usage(match facts.nature {
        Nature::Directory => format!("{place}: not writable: use a writable directory"),
        _ => format!("{place}: this suite would destroy its data: add --destroy {place} to allow it"),
    })
}

/// Runs all steps. Returns the result, and whether the suite found an error.
fn run_recipe(
    recipe: &mut dyn Recipe,
    ground: &mut dyn Ground,
    console: &mut Console,
    data: Option<&mut Data>,
) -> Result<(SuiteRun, bool), CliError> {
    let is_virtual = ground.facts().nature == Nature::Model;
    let started = jiff::Timestamp::now();
    let clock = plimsoll_device::Clock::start();
    let phases = data.as_ref().map_or(Phases::All, |data| data.phases());
    let mut watch = OnScreen { console, data, place: 0, expected: 1, spent: Span::ZERO };
    let outcome =
        perform_phases(recipe, ground, &mut watch, phases).map_err(|unfit| CliError::usage(unfit.to_string()))?;
    let spent = watch.spent;
    watch.console.clear();
    let facts = ground.facts().clone();
    if outcome.done.is_empty() {
        return Err(match outcome.fault {
            Some(fault) => CliError::Failed(anyhow::Error::new(fault)),
            None => CliError::Interrupted,
        });
    }
    let failed = recipe.has_failed(&outcome.done);
    let has_verdicts = failed || outcome.ended == EndReason::Complete;
    let fault = outcome.fault.map(|fault| Finding::Fault { what: format!("{:#}", anyhow::Error::new(fault)) });
    let suite = SuiteRun {
        format: SUITE_FORMAT.into(),
        made_by: crate::MADE_BY.into(),
        started: (!is_virtual).then(|| started.to_string()),
        wall: if is_virtual { spent } else { clock.now().since(Instant::ZERO) },
        command: std::env::args().map(without_password).collect(),
        ended: outcome.ended,
        listings: recipe.listings(&outcome.done, &facts),
        verdicts: if has_verdicts { recipe.verdicts(&outcome.done, &facts) } else { Vec::new() },
        steps: outcome.done.iter().filter_map(|done| step_run(done, &facts)).collect(),
        findings: fault.into_iter().chain(ground.findings()).collect(),
        database: facts.database.as_ref().map(|_| Box::new(recipe.database_result(&outcome.done, &facts))),
        source: facts.source,
        subject: facts.subject,
        host: facts.host,
        suite: recipe.name().into(),
        follows: recipe.follows(),
        settings: recipe.settings(),
    };
    Ok((suite, failed))
}

/// An argument without its password.
fn without_password(argument: String) -> String {
    match argument.parse::<plimsoll_database::DatabaseAddress>() {
        Ok(address) => address.to_string(),
        Err(_) => argument,
    }
}

/// Progress of a suite on the user's screen.
struct OnScreen<'a> {
    console: &'a mut Console,
    /// Data in a database that are marked as loaded.
    data: Option<&'a mut Data>,
    place: usize,
    expected: usize,
    /// Total time of the steps.
    spent: Span,
}

impl SuiteObserver for OnScreen<'_> {
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
        self.spent += match (&done.result, &done.step.work) {
            (StepResult::Io(seen), _) => seen.span(),
            (StepResult::Files(seen), _) => seen.span,
            (StepResult::Statements(seen), _) => seen.span,
            (StepResult::Sessions(seen), _) => total_span(&seen.series),
            (_, Work::Pause(span)) => *span,
            _ => Span::ZERO,
        };
        self.console.step_done(&done.step.name, &describe_result(done));
    }
}

/// Result of a step in a few words; may be empty.
fn describe_result(done: &CompletedStep) -> String {
    let rate = |count: u64, span: Span| count as f64 / span.as_secs_f64().max(1e-9);
    match &done.result {
        StepResult::Io(seen) => {
            let (total, span) = (seen.total(), seen.span());
            let moved = Throughput::per_second(rate(total.bytes(), span) as u64);
            format!("{:.0} IOPS, {moved}, {span}", rate(total.operations(), span))
        }
        StepResult::Files(seen) => format!("{} files, {}", seen.files, seen.span),
        StepResult::Statements(seen) => format!("{} statements, {}", seen.done, seen.span),
        StepResult::Sessions(seen) => {
            let Work::Sessions(step) = &done.step.work else { return String::new() };
            // The figures of the result: without warm-up and parts.
            let result = session_run(step, seen).run;
            if result.total.operations() == 0 {
                return format!("nothing was measured, {}", total_span(&seen.series));
            }
            let p99 = Span::from_nanos(result.figures.p99_ns.value as u64);
            format!("{:.0} per second, p99 {p99}, {}", result.figures.iops.value, total_span(&seen.series))
        }
        StepResult::Skipped(why) => format!("skipped, as {why}"),
        StepResult::Paused => String::new(),
    }
}

/// Rate and 99th percentile of a step so far, as its result counts them: after the warm-up, and without parts of transactions.
fn measure_rate(work: &Work, series: &[Slice]) -> (f64, Option<Span>) {
    let Work::Sessions(step) = work else { return mean_rate(series) };
    let warm = Instant::ZERO + step.warm_up;
    let measured = series.iter().position(|slice| slice.start >= warm).map_or(series, |first| &series[first..]);
    let is_part = |counter: &Counter| step.kinds.get(usize::from(counter.stream)).is_some_and(|kind| kind.is_part);
    let only = |slice: &Slice| Slice { tally: slice.tally.only(|counter| !is_part(counter)), ..slice.clone() };
    mean_rate(&measured.iter().map(only).collect::<Vec<_>>())
}

fn progress<'a>(step: &'a Step, series: &[Slice], place: usize, expected: usize) -> Progress<'a> {
    let elapsed = total_span(series).as_secs_f64();
    // Progress within a step whose end is known.
    let whole = Span::from_secs_f64(elapsed);
    let (lasts, unit) = match &step.work {
        Work::Io(io) => {
            let lasts = io.workers.iter().map(|worker| worker.job.until.span).max();
            (lasts.filter(|span| *span < Span::MAX), "IOPS")
        }
        Work::Sessions(sessions) if sessions.turns.is_none() => (Some(sessions.warm_up + sessions.most), "per second"),
        Work::Statements(statements) => {
            let done: u64 = series.iter().map(|slice| slice.tally.operations()).sum();
            let lasts = (done > 0).then(|| whole.as_secs_f64() * statements.count as f64 / done as f64);
            let lasts = lasts.map(Span::from_secs_f64);
            (statements.limit.map_or(lasts, |limit| lasts.map(|lasts| lasts.min(limit))), "per second")
        }
        _ => (None, "per second"),
    };
    let (rate, p99) = measure_rate(&step.work, series);
    let share = lasts.map_or(0.5, |span| (elapsed / span.as_secs_f64()).clamp(0.0, 1.0));
    let left = lasts.map_or(Span::ZERO, |span| Span::from_secs_f64((span.as_secs_f64() - elapsed).max(0.0)));
    let done = (place as f64 + share) / expected as f64;
    Progress { phase: &step.name, point: format!("step {} of {expected}", place + 1), rate, unit, p99, done, left }
}
