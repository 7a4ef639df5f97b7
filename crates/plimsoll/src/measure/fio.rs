//! Measures with an installed fio instead of plimsoll's loops, on this host or on others that run it as a server.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use plimsoll_device::{Caching, Clock, Engine};
use plimsoll_load::{Pace, StreamSpec};
use plimsoll_measure::backend::fio::{Fio, FioHost, Hosts, Installed, IoEngine, check_hosts, list_differences};
use plimsoll_measure::checks::{self, Evidence};
use plimsoll_measure::{Grid, MeasurePlan, sweep};
use plimsoll_record::{Curve, Finding, Run, Source, Subject};
use plimsoll_units::{Bytes, Instant};

use super::{Head, addressed, conditions, only_this, reading, usage};
use crate::args::{EngineWord, MeasureCommand};
use crate::cli_error::CliError;
use crate::console::Console;
use crate::output::{Outputs, finish};

/// Assumed block size of devices on other hosts.
const BLOCK: Bytes = Bytes::new(512);

/// The fio backend for an open file or device, if requested.
pub(super) fn wanted(
    args: &MeasureCommand,
    compressible: f64,
    file: &OwnedFd,
    caching: Caching,
    writable: bool,
) -> Result<Option<Fio>, CliError> {
    if args.target.engine != EngineWord::Fio {
        return Ok(None);
    }
    let installed = Installed::find().map_err(usage)?;
    let direct = caching == Caching::Direct;
    let io = if installed.has_ring && Engine::Ring.refused().is_none() { IoEngine::Ring } else { IoEngine::Libaio };
    if io == IoEngine::Libaio && !direct {
        return Err(CliError::usage(
            "fio cannot use io_uring here, and its libaio is asynchronous only with direct I/O: use a path that supports direct I/O, and omit --buffered",
        ));
    }
    // The file may be unnamed, or its name may refer to another file by then.
    let path = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()));
    let threads = args.sweep.threads;
    Ok(Some(Fio { installed, io, place: FioHost::Here(path), threads, compressible, direct, writable }))
}

/// A finding about differences between fio's load and plimsoll's.
pub(super) fn differences(fio: &Fio, streams: &[StreamSpec], runs: &[Run]) -> Option<Finding> {
    let paces: Vec<Pace> = runs.iter().map(|run| run.offered).collect();
    let mut ways = list_differences(streams, &paces);
    if matches!(fio.place, FioHost::Hosts(_)) {
        ways.push("other hosts report counts only at the end, so runs have no time series");
    }
    let generator = format!("fio {}", fio.installed.version);
    (!ways.is_empty()).then(|| Finding::OfferedOtherwise { generator, how: ways.join("; ") })
}

/// Fails for flags that cannot be applied on other hosts.
pub(super) fn meant_for_fio(args: &MeasureCommand) -> Result<(), CliError> {
    if args.target.hosts.is_empty() || args.target.engine == EngineWord::Fio {
        return Ok(());
    }
    Err(CliError::usage("--hosts requires --engine fio"))
}

/// Measures the path on the given hosts.
pub(super) fn run_on_hosts(args: &MeasureCommand, plan: MeasurePlan, outputs: &Outputs) -> Result<(), CliError> {
    only_this(args)?;
    let Some(size) = args.target.size else {
        return Err(CliError::usage("--hosts requires --size, the size of the measured part of the path"));
    };
    if args.target.buffered || plan.buffered {
        return Err(CliError::usage("other hosts support only direct I/O: omit --buffered"));
    }
    let path = args.path.to_str().unwrap_or_default();
    let hosts = Hosts::new(&args.target.hosts, path).map_err(usage)?;
    let mut findings = Vec::new();
    let writable = !args.target.destroy.is_empty();
    if writable && args.path.starts_with("/dev") {
        // Safety checks are possible on this host only.
        return Err(CliError::usage(format!(
            "{path}: devices of other hosts are read-only, as their content cannot be checked: omit --destroy"
        )));
    }
    let plan = if writable { plan } else { reading(args, plan, &mut findings)? };
    let streams = plan.place(size, Grid::Direct(BLOCK))?;
    let mut fio = Fio {
        installed: Installed::find().map_err(usage)?,
        io: IoEngine::Libaio,
        place: FioHost::Hosts(hosts),
        threads: args.sweep.threads,
        compressible: plan.compressible,
        direct: true,
        writable,
    };
    let mut console = Console::new(args.output.quiet).map_err(|error| CliError::Failed(error.into()))?;
    let block = plan.largest();
    let named = args.target.hosts.join(",");
    check_hosts(&fio, size, block).map_err(|fault| {
        let why = anyhow::Error::new(fault);
        CliError::usage(format!(
            "{path} on {named}: {why:#}: run `fio --server` on each host, and use a path that exists there"
        ))
    })?;
    let subject = Subject { name: format!("{named}:{path}"), kind: "path on other hosts".into(), size, device: None };
    let curve = measure(&plan, streams, &mut fio, subject, findings, &mut console)?;
    finish(curve, None, outputs)
}

fn measure(
    plan: &MeasurePlan,
    streams: Vec<StreamSpec>,
    fio: &mut Fio,
    subject: Subject,
    mut findings: Vec<Finding>,
    console: &mut Console,
) -> Result<Curve, CliError> {
    let started = jiff::Timestamp::now();
    let clock = Clock::start();
    let evidence = Evidence { data: addressed(&streams), ..Evidence::default() };
    let result = sweep::run(plan, &streams, &[], fio, console);
    findings.extend(differences(fio, &streams, &result.runs));
    let source = Source::Measured { engine: format!("{fio}, {} hosts", fio.hosts()) };
    let conditions = conditions(plan, streams, fio.threads, Caching::Direct);
    let head = Head { started, source, subject, conditions, findings };
    let mut curve = head.curve(result, clock.now().since(Instant::ZERO))?;
    // The generator is not on this host.
    curve.host = None;
    curve.findings.extend(checks::check_curve(&curve, &evidence));
    Ok(curve)
}
