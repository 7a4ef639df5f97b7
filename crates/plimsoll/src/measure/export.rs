//! Measures an export of an NBD server directly, without a kernel driver.

use std::net::IpAddr;
use std::sync::Mutex;

use plimsoll_device::nbd::wire::flag;
use plimsoll_device::nbd::{Chosen, Connection, Emulation, ExportAddress, NbdHost, NoNbdAddress, TalkError};
use plimsoll_device::{ActivityDelta, ActivityWatch, Caching, Clock, processor_limit};
use plimsoll_front::Floor;
use plimsoll_measure::checks::{self, Evidence};
use plimsoll_measure::{AccessPath, Grid, Storage, SweepResult, probe};
use plimsoll_record::{Curve, Device, Finding, Run, Source, Subject};
use plimsoll_units::{Bytes, Instant, Span};

use super::work::MeasuredLoad;
use super::{Begun, Head, addressed, only_this, size_of_existing, usage};
use crate::args::{EngineWord, MeasureCommand};
use crate::cli_error::CliError;
use crate::console::Console;
use crate::output::{Outputs, finish};

/// Block size if the server does not report it; all servers accept it.
const BLOCK: Bytes = Bytes::new(512);

/// Duration of the measurement of the floor.
const FLOOR: Span = Span::from_millis(500);

/// Measures the export at `uri`.
pub(super) fn run(args: &MeasureCommand, work: MeasuredLoad, uri: &str, outputs: &Outputs) -> Result<(), CliError> {
    let mut console = Console::new(args.output.quiet).map_err(|error| CliError::Failed(error.into()))?;
    finish(measured(args, work, uri, &mut console)?, None, outputs)
}

/// Measures the export at `uri`.
pub(super) fn measured(
    args: &MeasureCommand,
    work: MeasuredLoad,
    uri: &str,
    console: &mut Console,
) -> Result<Curve, CliError> {
    MeasuredExport::named(args, work, uri)?.measure(args, console)
}

/// Fails for flags that apply only to files.
fn meant_for_files(args: &MeasureCommand, work: &MeasuredLoad) -> Result<(), CliError> {
    let target = &args.target;
    let flag = match (target.buffered, work.is_buffered(), target.engine) {
        (true, ..) => "--buffered is",
        (_, true, _) => "this preset is",
        (.., EngineWord::Threads) => "--engine threads is",
        (.., EngineWord::Fio) => "--engine fio is",
        _ => return Ok(()),
    };
    Err(CliError::usage(format!("{flag} for files and devices only, not for exports")))
}

/// A prepared export.
pub(super) struct MeasuredExport {
    pub(super) work: MeasuredLoad,
    address: ExportAddress,
    chosen: Chosen,
    emulation: Option<Emulation>,
    pub(super) storage: Storage,
    pub(super) size: Bytes,
    pub(super) grid: Grid,
    findings: Vec<Finding>,
    /// Latency floor of this host, if the server runs on it.
    floor: Option<Floor>,
    /// Whether writes are permitted.
    writable: bool,
}

impl MeasuredExport {
    /// Opens the export at `uri`.
    pub(super) fn named(args: &MeasureCommand, work: MeasuredLoad, uri: &str) -> Result<Self, CliError> {
        let address: ExportAddress = uri.parse().map_err(|error: NoNbdAddress| usage(error))?;
        only_this(args)?;
        meant_for_files(args, &work)?;
        Self::open(args, work, address)
    }

    fn open(args: &MeasureCommand, work: MeasuredLoad, address: ExportAddress) -> Result<Self, CliError> {
        let mut findings = Vec::new();
        let writable = !args.target.destroy.is_empty();
        let work = if writable { work } else { work.reading(args, &mut findings)? };
        let connection = Connection::open(&address).map_err(|error| unreachable(&address, error))?;
        let chosen = connection.chosen().clone();
        let threads = args.sweep.threads;
        if threads > 1 && chosen.flags & flag::CAN_MULTI_CONN == 0 {
            return Err(CliError::usage(format!(
                "{address}: the server does not support concurrent connections (CAN_MULTI_CONN): omit --threads"
            )));
        }
        if work.writes() && chosen.flags & flag::READ_ONLY != 0 {
            return Err(CliError::usage(format!(
                "{address}: the export is read-only: omit --destroy, or {}",
                work.to_read_only()
            )));
        }
        let [least, _, most] = chosen.blocks.unwrap_or([BLOCK.get() as u32, 0, u32::MAX]);
        if work.largest().get() > u64::from(most) {
            let (most, largest) = (Bytes::new(most.into()), work.largest());
            return Err(CliError::usage(format!(
                "{address}: its maximum request is {most}, and the load has {largest}: {}",
                work.to_ask_for_less()
            )));
        }
        let grid = Grid::Export(Bytes::new(u64::from(least.max(1))));
        let size = size_of_existing(args, Bytes::new(chosen.size))?;
        work.place(args, size, grid)?;
        let emulation: Option<Emulation> = chosen.description.as_deref().and_then(|text| text.parse().ok());
        let access = AccessPath::Export(address.clone(), Mutex::new(vec![connection]));
        let storage = Storage { access, threads, compressible: work.compressible() };
        Ok(Self { work, address, chosen, emulation, storage, size, grid, findings, floor: None, writable })
    }

    fn measure(&mut self, args: &MeasureCommand, console: &mut Console) -> Result<Curve, CliError> {
        let begun = self.begin(args)?;
        let result = self.work.run(&begun.streams, &mut self.storage, console);
        let activity = begun.activity();
        self.end(begun, result, activity)
    }

    /// Probes the export.
    pub(super) fn begin(&mut self, args: &MeasureCommand) -> Result<Begun, CliError> {
        let started = jiff::Timestamp::now();
        let clock = Clock::start();
        self.floor = self.floor()?;
        self.findings.extend(self.emulation.as_ref().and_then(slowed));
        let mut evidence = Evidence { processor_limit: processor_limit(), ..Evidence::default() };
        if self.writable && self.emulation.is_none() && self.chosen.flags & flag::READ_ONLY == 0 {
            let failed = |fault| CliError::Failed(anyhow::Error::new(fault));
            evidence.commit = probe::measure_commit(&mut self.storage, self.size).map_err(failed)?;
        }
        let streams = self.work.place(args, self.size, self.grid)?;
        evidence.data = addressed(&streams);
        let watch = ActivityWatch::host();
        let before = watch.snapshot();
        Ok(Begun { started, clock, evidence, streams, watch, before })
    }

    /// Builds the curve with its findings.
    pub(super) fn end(
        &mut self,
        begun: Begun,
        result: SweepResult,
        activity: ActivityDelta,
    ) -> Result<Curve, CliError> {
        let Begun { started, clock, mut evidence, streams, .. } = begun;
        evidence.activity = activity;
        evidence.aside = result.aside.clone();
        self.findings.extend(self.work.findings());
        self.findings.extend(self.floor.as_ref().map(|floor| added(floor, &result.runs)));
        let head = Head {
            started,
            source: self.source(),
            subject: self.subject(),
            conditions: self.work.conditions(streams, self.storage.threads, Caching::Direct),
            findings: self.findings.clone(),
        };
        let mut curve = head.curve(result, clock.now().since(Instant::ZERO))?;
        curve.findings.extend(checks::check_curve(&curve, &evidence));
        Ok(curve)
    }

    /// The latency floor, if the server runs on this host.
    fn floor(&self) -> Result<Option<Floor>, CliError> {
        let local = match &self.address.host {
            NbdHost::Unix(_) => true,
            NbdHost::Tcp { name, .. } => name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()),
        };
        let measured = local.then(|| Floor::measure(FLOOR)).transpose();
        measured.map_err(|error| CliError::Failed(error.into()))
    }

    fn source(&self) -> Source {
        match &self.emulation {
            Some(emulation) => Source::Emulated { model: emulation.model.clone() },
            None => Source::Measured { engine: "NBD".into() },
        }
    }

    /// An emulation has the name of its simulation, so that reports relate them.
    pub(super) fn subject(&self) -> Subject {
        let (name, kind) = match &self.emulation {
            Some(Emulation { like: Some(like), .. }) => (like.clone(), "product"),
            Some(Emulation { model, .. }) => (model.clone(), "model"),
            None => (self.address.to_string(), "NBD export"),
        };
        let slower = self.emulation.as_ref().filter(|emulation| emulation.slow != 1);
        let name = slower.map_or(name.clone(), |Emulation { slow, .. }| format!("{name}, {slow} times slower"));
        let told = self.emulation.is_none();
        let device = Device {
            name: (!told).then(|| self.address.to_string()),
            model: self.chosen.description.clone().filter(|text| told && !text.is_empty()),
            size: Some(Bytes::new(self.chosen.size)),
            rotational: Some(self.chosen.flags & flag::ROTATIONAL != 0),
            logical_block: self.chosen.blocks.map(|[least, ..]| least),
            ..Device::default()
        };
        Subject { name, kind: kind.into(), size: self.size, device: Some(device) }
    }
}

/// Finding about the floor relative to the fastest responses.
fn added(floor: &Floor, runs: &[Run]) -> Finding {
    let medians = runs.iter().filter_map(|run| run.total.response().quantile(0.5));
    let quickest = medians.min().unwrap_or_default();
    let wait = quickest - floor.beyond(quickest).min(quickest);
    Finding::Floor { round_trip: floor.round_trip_p50, wait, beyond: floor.beyond(wait) }
}

fn slowed(emulation: &Emulation) -> Option<Finding> {
    let slow = emulation.slow;
    (slow != 1).then_some(Finding::TimeDilated { slow })
}

fn unreachable(address: &ExportAddress, error: TalkError) -> CliError {
    let remedy = match error {
        TalkError::Credentials(_) => "correct tls-certificates in the address",
        TalkError::Io { .. } => "start the server, or correct the address",
        TalkError::Unexpected { .. } => "use the address of an NBD server",
        TalkError::Refused { .. } => "use the name of an export",
    };
    CliError::usage(format!("{address}: {:#}: {remedy}", anyhow::Error::new(error)))
}
