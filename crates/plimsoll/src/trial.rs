//! `plimsoll try`: a simulation, a sample report diagnosed and sized, and a level change of an emulated volume under load.
//! Removes all files that it creates.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, anyhow};
use plimsoll_catalogue::Ask;
use plimsoll_choose::diagnosis::{DiagnoseOptions, diagnose};
use plimsoll_choose::sizing::{Design, Search, Sizing, derive_requirements, size};
use plimsoll_ingest::{DatabaseDemand, Demand, Ingest, Outcome};
use plimsoll_language::{label, say};
use plimsoll_measure::{EffortLevel, LoadOptions, MeasurementRequest, SimulationRequest, SweepOptions};
use plimsoll_report::pages::{self, LevelRate, LevelTrial, Trial};
use plimsoll_report::trial_json;
use plimsoll_service::api::{Create, Level, Volume};
use plimsoll_service::client::{Client, next_busy_seconds, volume_path};
use plimsoll_service::staged::{RunningService, ServiceCommand, ServiceFolders};
use plimsoll_units::{Bytes, Span};
use plimsoll_web::{Observer, Threads};

use crate::args::{TermsArgs, TryArgs};
use crate::cli_error::CliError;
use crate::console::Console;
use crate::measure::run_context;
use crate::offers::read_offers;
use crate::output::Forms;
use crate::simulate::simulate_one;

/// A report of a synthetic workload.
const REPORT: &[u8] = include_bytes!("../../../samples/awr.html");
const CAPACITY: Bytes = Bytes::gib(500);
const SIMULATED: &str = "oci:256GB@10vpu";
/// The volume before and after the change of its level.
const EMULATED: [&str; 2] = ["oci:50GB@10vpu", "oci:50GB@20vpu"];
const VOLUME_NAME: &str = "trial";
/// Maximum duration and queue depth of the load on the volume. It is stopped when both rates are measured.
const LOAD: (Span, u32) = (Span::from_secs(20), 16);
/// Seconds of each rate, after a second in which the load begins or the level has changed.
const SECONDS: usize = 2;

/// Runs the three parts. Exit code 1 if no volume could be emulated.
pub fn run(args: &TryArgs) -> Result<(), CliError> {
    let (started, forms) = (Instant::now(), Forms::new(&args.forms)?);
    // Points of curves are progress on a terminal only.
    let mut console = Console::new(!std::io::stderr().is_terminal())?;
    console.print_line(&say!("1 of 3: simulating {SIMULATED}"));
    let sweep = SweepOptions { effort: EffortLevel::Quick, ..SweepOptions::default() };
    let curve = simulate_one(SIMULATED, &SimulationRequest { sweep, ..Default::default() }, &mut console)?;
    check_interrupt(&console)?;
    console.print_line(&say!("2 of 3: {}", name_report()));
    let outcomes = read_report();
    let demand = Demand::of(&outcomes.iter().filter_map(Outcome::reading).collect::<Vec<_>>());
    let subject = demand.subjects.first().context(label!("the sample report has no storage load"))?;
    let diagnosis = diagnose(subject, &DiagnoseOptions { on: None, misses: None });
    let sizing = size_subject(subject)?;
    check_interrupt(&console)?;
    console.print_line(&say!("3 of 3: emulating {} under load, for about 10 s", EMULATED[0]));
    let change = change_level(&console).map_err(|error| error.to_string());
    check_interrupt(&console)?;
    let elapsed = Span::from_nanos(u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX));
    let (curve, diagnosis, sizing, change) = (&curve, &diagnosis, &sizing, &change);
    let trial = Trial { curve, report: name_report(), diagnosis, sizing, change, elapsed };
    let page = pages::trial(&trial);
    forms.print(&plimsoll_report::page_text(&page, forms.style()))?;
    forms.without_text().write(&page, || trial_json(&trial))?;
    if change.is_ok() { Ok(()) } else { Err(CliError::Ended(1)) }
}

fn check_interrupt(console: &Console) -> Result<(), CliError> {
    if console.interrupted() { Err(CliError::Interrupted) } else { Ok(()) }
}

fn name_report() -> &'static str {
    label!("a synthetic AWR report (samples/awr.html of the source)")
}

fn read_report() -> Vec<Outcome> {
    let mut ingest = Ingest::new(name_report());
    ingest.feed(REPORT);
    ingest.finish()
}

fn size_subject(subject: &DatabaseDemand) -> Result<Sizing, CliError> {
    let offers = read_offers(&TermsArgs::default())?;
    let terms = offers.ranking_terms()?;
    let search = Search { pool: Arc::new(Threads::default()), ..Search::default() };
    let required = derive_requirements(subject, &Design::of(CAPACITY)).map_err(anyhow::Error::from)?;
    Ok(size(&offers.catalogue, &required, &terms, &search))
}

/// Serves a volume from temporary directories, and changes its level under load.
fn change_level(console: &Console) -> Result<LevelTrial, CliError> {
    let folders = ServiceFolders::make(&std::env::temp_dir())?;
    // Dropped before the directories of its data.
    let program = crate::own_program()?;
    let command = ServiceCommand { program: &program, products: None, slow: None };
    let service = RunningService::start(&folders, command, &|| console.interrupted())?;
    let create = Create { name: VOLUME_NAME.into(), like: EMULATED[0].into(), ..Create::default() };
    let volume: Volume = service.client.read(&service.client.post("/v1/volumes", &create)?)?;
    let uri = volume.uris.first().context(label!("the service has no socket for clients"))?;
    let (duration, depth) = LOAD;
    let request = MeasurementRequest {
        path: uri.into(),
        load: LoadOptions { reads: Some(1.0), ..LoadOptions::default() },
        sweep: SweepOptions {
            effort: EffortLevel::Within(duration),
            depths: Some(vec![depth]),
            ..SweepOptions::default()
        },
        ..MeasurementRequest::default()
    };
    let stop = Arc::new(AtomicBool::new(false));
    let mut monitor = Console::for_observer(Observer::new(|_| (), Arc::clone(&stop)));
    let (rates, load) = std::thread::scope(|scope| {
        let load = scope.spawn(|| plimsoll_measure::measure(request, &run_context(Vec::new()), &mut monitor));
        let rates = measure_levels(&service.client, &|| load.is_finished() || console.interrupted());
        stop.store(true, Ordering::Relaxed);
        (rates, load.join())
    });
    let rates = match (rates, load) {
        (Ok(rates), _) => rates,
        (Err(_), Ok(Err(error))) => return Err(error.into()),
        (Err(error), _) => return Err(error),
    };
    let (mut offers, ask) =
        (read_offers(&TermsArgs::default())?, Ask { block: Bytes::kib(8), reads: 1.0, sequential: false });
    let mut limit = |config| Ok::<_, CliError>(offers.offer(config)?.standing(&ask).binding().map(|limit| limit.iops));
    let limits = [limit(EMULATED[0])?, limit(EMULATED[1])?];
    Ok(LevelTrial { configurations: EMULATED, rates, limits })
}

/// The rates before and after the change.
fn measure_levels(client: &Client, is_over: &dyn Fn() -> bool) -> Result<[LevelRate; 2], CliError> {
    let rate = || -> Result<LevelRate, CliError> {
        let seconds = next_busy_seconds(client, VOLUME_NAME, SECONDS, is_over)?.ok_or_else(|| {
            CliError::Failed(anyhow!(say!("the load ended before its rate was known, as this host is busy")))
        })?;
        let operations: u64 = seconds.iter().map(|second| second.ops).sum();
        let is_faithful = seconds.iter().all(|second| second.verdict == "faithful");
        Ok(LevelRate { iops: operations as f64 / seconds.len() as f64, is_faithful })
    };
    let before = rate()?;
    client.post(&volume_path(VOLUME_NAME, "level"), &Level { to: EMULATED[1].into(), force_detach: false })?;
    Ok([before, rate()?])
}
