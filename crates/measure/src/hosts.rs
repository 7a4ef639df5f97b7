//! Measurements of a path on other hosts, which run fio as a server.

use jiff::Timestamp;
use plimsoll_analyse::judge;
use plimsoll_device::Clock;
use plimsoll_record::{Curve, Source, Subject};
use plimsoll_units::{Bytes, Instant};

use crate::backend::fio::{Fio, FioHost, Hosts, Installed, IoEngine, check_hosts};
use crate::checks::{self, Evidence};
use crate::curve::CurveHead;
use crate::error::{MeasureError, describe};
use crate::invalid::InvalidRequest;
use crate::measured_load::{MeasuredLoad, addressed_bytes, read_only_plan};
use crate::monitor::Monitor;
use crate::plan::{Grid, MeasurePlan};
use crate::request::{EngineChoice, MeasurementRequest, RunContext};
use crate::sweep;

/// Assumed block size of devices on other hosts.
const BLOCK: Bytes = Bytes::new(512);

/// Measures the path on the hosts of the request.
pub(crate) fn measure(
    request: &MeasurementRequest,
    context: &RunContext<'_>,
    monitor: &mut dyn Monitor,
) -> Result<Curve, MeasureError> {
    let load = MeasuredLoad::new(request)?;
    let MeasuredLoad::Generated(plan) = load else { return Err(InvalidRequest::HostsEngine.into()) };
    if request.engine != EngineChoice::Fio {
        return Err(InvalidRequest::HostsEngine.into());
    }
    let size = request.size.ok_or(InvalidRequest::HostsSize)?;
    if request.buffered || plan.buffered {
        return Err(InvalidRequest::HostsBuffered.into());
    }
    let path = request.path.to_str().unwrap_or_default();
    let hosts = Hosts::new(&request.hosts, path).map_err(MeasureError::usage)?;
    let mut findings = Vec::new();
    let writable = !request.destroy.is_empty();
    if writable && request.path.starts_with("/dev") {
        // Safety checks are possible on this host only.
        return Err(InvalidRequest::HostsDevice(path.to_owned()).into());
    }
    let plan = if writable { *plan } else { read_only_plan(*plan, request, &mut findings)? };
    let streams = plan.place(size, Grid::Direct(BLOCK))?;
    let mut fio = open(request, &plan, hosts, size)?;
    let (started, clock) = (Timestamp::now(), Clock::start());
    let evidence = Evidence { data: addressed_bytes(&streams), ..Evidence::default() };
    let result = sweep::run_sweep(&plan, &streams, &[], &mut fio, monitor);
    findings.extend(fio.list_differences(&streams, &result.runs));
    let head = CurveHead {
        started: Some(started),
        source: Source::Measured { engine: format!("{fio}, {} hosts", fio.hosts()) },
        subject: Subject {
            name: format!("{}:{path}", request.hosts.join(",")),
            kind: "path on other hosts".into(),
            size,
            device: None,
        },
        // The generator is not on this host.
        host: None,
        conditions: plan.conditions(streams, fio.threads, true),
        findings,
    };
    let mut curve = head.complete(result, clock.now().since(Instant::ZERO), context)?;
    curve.findings.extend(checks::check_curve(&curve, &evidence));
    judge(&mut curve, None);
    Ok(curve)
}

/// fio on the hosts; fails if the path is missing on one of them.
fn open(request: &MeasurementRequest, plan: &MeasurePlan, hosts: Hosts, size: Bytes) -> Result<Fio, MeasureError> {
    let fio = Fio {
        installed: Installed::find().map_err(MeasureError::usage)?,
        io: IoEngine::Libaio,
        place: FioHost::Hosts(hosts),
        threads: request.sweep.threads,
        compressible: plan.compressible,
        direct: true,
        writable: !request.destroy.is_empty(),
    };
    check_hosts(&fio, size, plan.largest()).map_err(|fault| {
        let (path, hosts) = (request.path.display().to_string(), request.hosts.join(","));
        InvalidRequest::Hosts { path, hosts, error: describe(&fault) }
    })?;
    Ok(fio)
}
