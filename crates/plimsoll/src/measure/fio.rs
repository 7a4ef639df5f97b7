//! Measuring with an installed fio in place of plimsoll's own loops: here, or on other hosts that run it as a server.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use plimsoll_device::{Caching, Clock, Engine};
use plimsoll_load::{Pace, StreamSpec};
use plimsoll_record::{Curve, Finding, Run, Source, Subject};
use plimsoll_units::{Bytes, Instant};

use super::{Head, addressed, conditions, only_this, reading, usage};
use crate::args::{EngineWord, Measure};
use crate::checks::{self, Evidence};
use crate::console::Console;
use crate::course::follow;
use crate::output::{Outputs, finish};
use crate::plan::{Grid, Plan};
use crate::stand::fio::{Fio, Hosts, Installed, IoEngine, Place, check_hosts, own_ways};
use crate::trouble::Trouble;

/// Blocks of devices on other hosts, which are not asked.
const BLOCK: Bytes = Bytes::new(512);

/// The fio that is to offer the load to an open file or device, if one is.
pub(super) fn wanted(
    args: &Measure,
    compressible: f64,
    file: &OwnedFd,
    caching: Caching,
    writable: bool,
) -> Result<Option<Fio>, Trouble> {
    if args.target.engine != EngineWord::Fio {
        return Ok(None);
    }
    let installed = Installed::find().map_err(usage)?;
    let direct = caching == Caching::Direct;
    let io = if installed.has_ring && Engine::Ring.refused().is_none() { IoEngine::Ring } else { IoEngine::Libaio };
    if io == IoEngine::Libaio && !direct {
        return Err(Trouble::usage(
            "fio cannot use io_uring here, and its libaio is asynchronous for direct I/O alone: give a path with direct I/O, without --buffered",
        ));
    }
    // The file may have no name, and a name may mean another file by then.
    let path = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()));
    let threads = args.course.threads;
    Ok(Some(Fio { installed, io, place: Place::Here(path), threads, compressible, direct, writable }))
}

/// What fio did otherwise than plimsoll under these loads.
pub(super) fn differences(fio: &Fio, streams: &[StreamSpec], runs: &[Run]) -> Option<Finding> {
    let paces: Vec<Pace> = runs.iter().map(|run| run.offered).collect();
    let mut ways = own_ways(streams, &paces);
    if matches!(fio.place, Place::Hosts(_)) {
        ways.push("other hosts tell their counts in the end only, so nothing is known of the time within a run");
    }
    let generator = format!("fio {}", fio.installed.version);
    (!ways.is_empty()).then(|| Finding::OfferedOtherwise { generator, how: ways.join("; ") })
}

/// Refuses other hosts where nothing of plimsoll could reach them.
pub(super) fn meant_for_fio(args: &Measure) -> Result<(), Trouble> {
    if args.target.hosts.is_empty() || args.target.engine == EngineWord::Fio {
        return Ok(());
    }
    Err(Trouble::usage("--hosts names hosts that run `fio --server`: add --engine fio"))
}

/// Measures the path on the hosts that were named.
pub(super) fn run_on_hosts(args: &Measure, plan: Plan, outputs: &Outputs) -> Result<(), Trouble> {
    only_this(args)?;
    let Some(size) = args.target.size else {
        return Err(Trouble::usage("--hosts needs --size: how much of the path there is to be measured"));
    };
    if args.target.buffered || plan.buffered {
        return Err(Trouble::usage("other hosts are measured with direct I/O alone: leave out --buffered"));
    }
    let path = args.path.to_str().unwrap_or_default();
    let hosts = Hosts::new(&args.target.hosts, path).map_err(usage)?;
    let mut findings = Vec::new();
    let writable = !args.target.destroy.is_empty();
    if writable && args.path.starts_with("/dev") {
        // Whether it is mounted or carries anything can be found out on this host alone.
        return Err(Trouble::usage(format!(
            "{path}: a device of another host is only read, since nothing here can see what is on it: leave out --destroy"
        )));
    }
    let plan = if writable { plan } else { reading(args, plan, &mut findings)? };
    let streams = plan.place(size, Grid::Direct(BLOCK))?;
    let mut fio = Fio {
        installed: Installed::find().map_err(usage)?,
        io: IoEngine::Libaio,
        place: Place::Hosts(hosts),
        threads: args.course.threads,
        compressible: plan.compressible,
        direct: true,
        writable,
    };
    let mut console = Console::new(args.output.quiet).map_err(|error| Trouble::Failed(error.into()))?;
    let block = plan.largest();
    let named = args.target.hosts.join(",");
    check_hosts(&fio, size, block).map_err(|fault| {
        let why = anyhow::Error::new(fault);
        Trouble::usage(format!(
            "{path} on {named}: {why:#}: run `fio --server` on each of them, and give what is there"
        ))
    })?;
    let subject = Subject { name: format!("{named}:{path}"), kind: "path on other hosts".into(), size, device: None };
    let curve = measure(&plan, streams, &mut fio, subject, findings, &mut console)?;
    finish(curve, None, outputs)
}

fn measure(
    plan: &Plan,
    streams: Vec<StreamSpec>,
    fio: &mut Fio,
    subject: Subject,
    mut findings: Vec<Finding>,
    console: &mut Console,
) -> Result<Curve, Trouble> {
    let started = jiff::Timestamp::now();
    let clock = Clock::start();
    let evidence = Evidence { data: addressed(&streams), ..Evidence::default() };
    let travelled = follow(plan, &streams, &[], fio, console);
    findings.extend(differences(fio, &streams, &travelled.runs));
    let source = Source::Measured { engine: format!("{fio}, {} hosts", fio.hosts()) };
    let conditions = conditions(plan, streams, fio.threads, Caching::Direct);
    let head = Head { started, source, subject, conditions, findings };
    let mut curve = head.curve(travelled, clock.now().since(Instant::ZERO))?;
    // The load did not come from here.
    curve.host = None;
    curve.findings.extend(checks::findings(&curve, &evidence));
    Ok(curve)
}
