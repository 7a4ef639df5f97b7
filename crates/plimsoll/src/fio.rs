//! `plimsoll fio`: jobs in fio's language, run by plimsoll's engine and told as fio tells them.

mod around;
mod disks;
mod help;
mod logs;
mod notes;
mod place;
mod plan;
mod report;
mod run;
mod status;
mod steady;
mod tell;
mod watch;

use std::io::Write;
use std::path::PathBuf;

use plimsoll_device::Engine;
use plimsoll_fio::{Command, Question, command, engine_help, option_help, print};
use plimsoll_record::{Source, Subject};
use plimsoll_suite::{Facts, Nature, Paths};
use plimsoll_units::Bytes;

use crate::args::FioArgs;
use crate::console::Console;
use crate::offers::Offers;
use crate::output;
use crate::site::Site;
use crate::trouble::Trouble;
use disks::{Disks, Processors};
use notes::Notes;
use place::Laid;
use plan::{Around, Ground, Plan, Whereabouts, plan};
use report::{Course, Results};
use run::{Ran, Since};
use watch::Watch;

/// Reads the jobs, runs them, and prints what became of them.
pub fn run(args: &FioArgs) -> Result<(), Trouble> {
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
    command.warnings.iter().for_each(|note| notes.write(note));
    if command.flags.parse_only {
        return Ok(());
    }
    let mut site = Stead::new(&command).map_err(as_fio)?;
    let around = Around {
        whereabouts: Whereabouts { at: &place::at, is_directory: &place::is_directory, ground: site.ground },
        fresh_seed: run::unix_ms().wrapping_mul(0x9e37_79b9_7f4a_7c15),
        ring_refused: Engine::Ring.refused(),
        aio_refused: Engine::Aio.refused(),
    };
    let plan = plan(&command, &around).map_err(|faults| refused(&faults))?;
    plan.notes.iter().for_each(|note| notes.write(note));
    carry_out(&command, &plan, &mut site, &mut notes)
}

/// Where jobs run.
struct Stead {
    on: Box<dyn plimsoll_suite::Ground>,
    ground: Ground,
}

impl Stead {
    /// The machine's files and devices, or what `--on` names.
    fn new(command: &Command) -> Result<Self, Trouble> {
        let destroy: Vec<PathBuf> = command.flags.destroy.iter().map(PathBuf::from).collect();
        let Some(on) = &command.flags.on else {
            let facts = Facts {
                source: Source::Measured { engine: "fio jobs".into() },
                subject: Subject {
                    name: "files of jobs".into(),
                    kind: "files".into(),
                    size: Bytes::ZERO,
                    device: None,
                },
                host: None,
                space: Bytes::new(u64::MAX),
                grid: 1,
                nature: Nature::Directory,
                read_only: false,
                stages: Vec::new(),
                page_cache: None,
                write_back: None,
                database: None,
            };
            return Ok(Self { on: Box::new(Paths::new(facts, destroy)), ground: Ground::Paths });
        };
        let site = Site { place: on, destroy: &destroy, seed: command.flags.seed.unwrap_or(1), page_cache: None };
        let ground = site.ground(|| Offers::new(&crate::args::TermsArgs::default()))?;
        let facts = ground.facts();
        if !matches!(facts.nature, Nature::Model | Nature::Export) {
            let what = "--on takes a configuration of the catalogue, stages, or nbd://HOST/NAME: name files in the job";
            return Err(Trouble::usage(format!("{on}: {what}")));
        }
        if facts.read_only && command.jobs.iter().any(plimsoll_fio::Job::writes) {
            let what = format!("jobs write, and its data would be lost: add --destroy {on} if they may be");
            return Err(Trouble::usage(format!("{on}: {what}")));
        }
        let space = Ground::Space(facts.space);
        Ok(Self { on: ground, ground: space })
    }
}

fn carry_out(command: &Command, plan: &Plan, site: &mut Stead, notes: &mut Notes) -> Result<(), Trouble> {
    let mut results = Results::new(&command.flags)?;
    let version = version();
    results.heading(command, plan, &version)?;
    let since = Since::now();
    let mut console = Console::new(false).map_err(|error| Trouble::Failed(error.into()))?;
    let laid = Laid::new(&plan.files, site.ground, &mut *site.on, &mut console);
    let laid = laid.map_err(|why| if console.interrupted() { Trouble::Interrupted } else { refused(&[why]) })?;
    let shows_disks = site.ground == Ground::Paths && command.jobs.iter().any(|job| job.shown.disk_use);
    let disks = if shows_disks { Disks::of(&plan.files) } else { Disks::default() };
    let processors = command.flags.idle_profile.map(Processors::new);
    let mut watch = Watch::new(command, plan, &mut console, &mut results, &version);
    let ran = run::run(plan, &command.jobs, &laid, &mut *site.on, &mut watch);
    let steady = watch.into_steady();
    console.clear();
    let elapsed = if shows_virtual_time(site) { ran.span() } else { since.elapsed() };
    let course = Course { command, plan, elapsed_s: elapsed.as_nanos() / 1_000_000_000 + 1, version: &version, steady };
    let mut report = course.report(&ran);
    report.disks = disks.used();
    report.idleness = processors.map(|processors| processors.idleness());
    let wrong = report::mismatches(plan, site.ground);
    wrong.iter().for_each(say);
    let failed = failures(command, plan, &ran);
    failed.iter().for_each(say);
    write_logs(command, plan, &ran);
    results.report(&report)?;
    laid.remove().iter().for_each(|note| notes.write(note));
    match (ran.interrupted, wrong.is_empty() && failed.is_empty()) {
        (true, _) => Err(Trouble::Interrupted),
        (false, true) => Ok(()),
        (false, false) => Err(Trouble::Ended(1)),
    }
}

/// What ended jobs early, one line each.
fn failures(command: &Command, plan: &Plan, ran: &Ran) -> Vec<String> {
    let pairs = plan.stages.iter().zip(&ran.stages).flat_map(|(members, done)| members.iter().zip(done));
    let of_job = |(member, done): (&plan::Member, &run::FinishedJob)| {
        let failure = report::failure(member, plan, done.seen.failed?);
        Some(format!("{}: err={}/{}", command.jobs[member.job].name, failure.errno, failure.text))
    };
    let fault = ran.fault.as_ref().map(|fault| format!("{fault}: {}", fault.source));
    pairs.filter_map(of_job).chain(fault).collect()
}

/// Time passes as a model says.
fn shows_virtual_time(site: &Stead) -> bool {
    site.on.facts().nature == Nature::Model
}

fn write_logs(command: &Command, plan: &Plan, ran: &Ran) {
    for (members, done) in plan.stages.iter().zip(&ran.stages) {
        for (member, done) in members.iter().zip(done) {
            let job = &command.jobs[member.job];
            logs::write(job, member, &done.seen, done.started_unix_ms).iter().for_each(say);
        }
    }
}

/// What stands in the place of fio's version.
fn version() -> String {
    print::version(env!("CARGO_PKG_VERSION"))
}

/// What the user can mend ends with 1, as in fio.
fn as_fio(trouble: Trouble) -> Trouble {
    match trouble {
        Trouble::Usage(what) => refused(&[what]),
        other => other,
    }
}

/// Says each of them; fio ends with 1 then.
fn refused(said: &[impl std::fmt::Display]) -> Trouble {
    said.iter().for_each(say);
    Trouble::Ended(1)
}

/// Says a line on standard error.
fn say(what: impl std::fmt::Display) {
    // With standard error gone there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "plimsoll: {what}");
}
