//! `plimsoll suite`: a classic benchmark on a path, an export or a product.

use std::ops::ControlFlow;

use plimsoll_drive::Onward;
use plimsoll_record::{Finding, SUITE_FORMAT, Slice, SuiteRun};
use plimsoll_report::Progress;
use plimsoll_suite::{Done, Facts, Ground, Nature, Recipe, Step, StepSeen, Watch, Work, perform, step_run};
use plimsoll_units::{Instant, Span, Throughput};

use crate::args::{Place, SuiteArgs};
use crate::console::Console;
use crate::course::{length, of_late};
use crate::database;
use crate::offers::Offers;
use crate::output::{Outputs, finish_suite};
use crate::site::Site;
use crate::store;
use crate::trouble::Trouble;

/// Runs the suite.
pub fn run(args: &SuiteArgs) -> Result<(), Trouble> {
    let place = args.place();
    if place.output().svg.is_some() {
        return Err(Trouble::usage("--svg: a suite has several pictures: write them to a page with --html"));
    }
    let outputs = Outputs::new(place.output())?;
    let sessions = args.sessions();
    let mut console = Console::new(place.output().quiet).map_err(|error| Trouble::Failed(error.into()))?;
    let mut snapshots = None;
    let mut ground = match place {
        Place::Storage(args) => {
            let site = Site { place: &args.place, destroy: &args.destroy, seed: 1, memory: args.memory };
            site.ground(|| Offers::new(&args.terms))?
        }
        Place::Database(args) => {
            let (ground, taken) = database::ground(args, sessions, &mut console)?;
            snapshots = taken;
            ground
        }
    };
    let mut recipe = args.recipe(ground.facts()).map_err(Trouble::usage)?;
    if ground.facts().read_only && recipe.files().iter().any(|file| file.writes) {
        let Place::Storage(place) = place else { return Err(Trouble::usage("the database is read-only")) };
        return Err(read_only(&place.place, ground.facts()));
    }
    room_for(&*recipe, ground.facts())?;
    if let Some(path) = args.memory() {
        store::check_writable(path)?;
    }
    let (mut ran, failed) = made(&mut *recipe, &mut *ground, &mut console)?;
    if let Some((path, memory)) = args.memory().zip(recipe.memory()) {
        store::write_whole(path, &memory)?;
    }
    finish_suite(&mut ran, snapshots, &outputs)?;
    if failed { Err(Trouble::Ended(1)) } else { Ok(()) }
}

/// Refuses what does not fit beside the database, where its space is known.
fn room_for(recipe: &dyn Recipe, facts: &Facts) -> Result<(), Trouble> {
    let (loads, space) = (recipe.loads(), facts.space);
    if facts.database.is_none() || space.get() == 0 || loads <= space {
        return Ok(());
    }
    Err(Trouble::usage(format!(
        "{}: about {loads} are to be loaded, and {space} are free there: give a smaller --scale or --table, or another --path",
        facts.subject.name
    )))
}

fn read_only(place: &str, facts: &Facts) -> Trouble {
    Trouble::usage(match facts.nature {
        Nature::Directory => format!("{place}: nothing can be written there: give a directory that you can write to"),
        _ => format!("{place}: this suite writes, and its data would be lost: add --destroy {place} if they may be"),
    })
}

/// Makes all steps, and says what came of them; true when the suite found what must not be.
fn made(recipe: &mut dyn Recipe, ground: &mut dyn Ground, console: &mut Console) -> Result<(SuiteRun, bool), Trouble> {
    let is_virtual = ground.facts().nature == Nature::Model;
    let started = jiff::Timestamp::now();
    let clock = plimsoll_device::Clock::start();
    let mut watch = OnScreen { console, place: 0, expected: 1, spent: Span::ZERO };
    let outcome = perform(recipe, ground, &mut watch).map_err(|unfit| Trouble::usage(unfit.to_string()))?;
    let spent = watch.spent;
    watch.console.clear();
    let facts = ground.facts().clone();
    if outcome.done.is_empty() {
        return Err(match outcome.fault {
            Some(fault) => Trouble::Failed(anyhow::Error::new(fault)),
            None => Trouble::Interrupted,
        });
    }
    let fault = outcome.fault.map(|fault| Finding::Fault { what: format!("{:#}", anyhow::Error::new(fault)) });
    let suite = SuiteRun {
        format: SUITE_FORMAT.into(),
        made_by: crate::MADE_BY.into(),
        started: (!is_virtual).then(|| started.to_string()),
        wall: if is_virtual { spent } else { clock.now().since(Instant::ZERO) },
        command: std::env::args().map(without_password).collect(),
        ended: outcome.ended,
        listings: recipe.listings(&outcome.done, &facts),
        verdicts: recipe.verdicts(&outcome.done, &facts),
        steps: outcome.done.iter().filter_map(|done| step_run(done, &facts)).collect(),
        findings: fault.into_iter().chain(ground.findings()).collect(),
        database: facts.database.as_ref().map(|_| Box::new(recipe.judged(&outcome.done, &facts))),
        source: facts.source,
        subject: facts.subject,
        host: facts.host,
        suite: recipe.name().into(),
        follows: recipe.follows(),
        settings: recipe.settings(),
    };
    let failed = recipe.has_failed(&outcome.done);
    Ok((suite, failed))
}

/// An argument as it may be kept and shown.
fn without_password(argument: String) -> String {
    match argument.parse::<plimsoll_database::Address>() {
        Ok(address) => address.to_string(),
        Err(_) => argument,
    }
}

/// Progress of a suite on the user's screen.
struct OnScreen<'a> {
    console: &'a mut Console,
    place: usize,
    expected: usize,
    /// Time of the steps that were made.
    spent: Span,
}

impl Watch for OnScreen<'_> {
    fn begins(&mut self, _step: &Step, place: usize, expected: usize) {
        (self.place, self.expected) = (place, expected.max(place + 1));
    }

    fn looks(&mut self, step: &Step, series: &[Slice]) -> Onward {
        let (place, expected) = (self.place, self.expected);
        self.console.show(|| progress(step, series, place, expected));
        if self.console.interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn ends(&mut self, done: &Done) {
        self.spent += match (&done.seen, &done.step.work) {
            (StepSeen::Io(seen), _) => seen.span(),
            (StepSeen::Files(seen), _) => seen.span,
            (StepSeen::Statements(seen), _) => seen.span,
            (StepSeen::Crowd(seen), _) => length(&seen.series),
            (_, Work::Pause(span)) => *span,
            _ => Span::ZERO,
        };
        self.console.step_done(&done.step.name, &came_of(&done.seen));
    }
}

/// What came of a step, in a few words; empty where there is nothing to say.
fn came_of(seen: &StepSeen) -> String {
    let rate = |count: u64, span: Span| count as f64 / span.as_secs_f64().max(1e-9);
    match seen {
        StepSeen::Io(seen) => {
            let (total, span) = (seen.total(), seen.span());
            let moved = Throughput::per_second(rate(total.bytes(), span) as u64);
            format!("{:.0} IOPS, {moved}, {span}", rate(total.operations(), span))
        }
        StepSeen::Files(seen) => format!("{} files, {}", seen.files, seen.span),
        StepSeen::Statements(seen) => format!("{} statements, {}", seen.done, seen.span),
        StepSeen::Crowd(seen) => {
            let (whole, of_late) = (length(&seen.series), of_late(&seen.series));
            let p99 = of_late.1.map(|p99| format!(", p99 {p99}")).unwrap_or_default();
            format!("{:.0} a second{p99}, {whole}", of_late.0)
        }
        StepSeen::Skipped(why) => format!("left out, as {why}"),
        StepSeen::Paused => String::new(),
    }
}

fn progress<'a>(step: &'a Step, series: &[Slice], place: usize, expected: usize) -> Progress<'a> {
    let (rate, p99) = of_late(series);
    let elapsed = length(series).as_secs_f64();
    // Of a step whose end is known, how far it is.
    let whole = Span::from_secs_f64(elapsed);
    let (lasts, unit) = match &step.work {
        Work::Io(io) => {
            let lasts = io.workers.iter().map(|worker| worker.job.until.span).max();
            (lasts.filter(|span| *span < Span::MAX), "IOPS")
        }
        Work::Crowd(crowd) if crowd.turns.is_none() => (Some(crowd.warm_up + crowd.most), "a second"),
        Work::Statements(statements) => {
            let done: u64 = series.iter().map(|slice| slice.tally.operations()).sum();
            let lasts = (done > 0).then(|| whole.as_secs_f64() * statements.count as f64 / done as f64);
            let lasts = lasts.map(Span::from_secs_f64);
            (statements.limit.map_or(lasts, |limit| lasts.map(|lasts| lasts.min(limit))), "a second")
        }
        _ => (None, "a second"),
    };
    let share = lasts.map_or(0.5, |span| (elapsed / span.as_secs_f64()).clamp(0.0, 1.0));
    let left = lasts.map_or(Span::ZERO, |span| Span::from_secs_f64((span.as_secs_f64() - elapsed).max(0.0)));
    let done = (place as f64 + share) / expected as f64;
    Progress { phase: &step.name, point: format!("step {} of {expected}", place + 1), rate, unit, p99, done, left }
}
