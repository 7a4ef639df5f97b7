//! An export of an NBD server as the target of a measurement, without a kernel driver.

use std::net::IpAddr;
use std::sync::Mutex;

use plimsoll_device::Caching;
use plimsoll_device::nbd::wire::flag;
use plimsoll_device::nbd::{Chosen, Connection, Emulation, ExportAddress, NbdHost, NoNbdAddress, TalkError};
use plimsoll_front::Floor;
use plimsoll_language::label;
use plimsoll_record::{Device, Finding, Run, Source, Subject};
use plimsoll_units::{Bytes, Span};

use super::{Prepared, Target};
use crate::backend::{AccessPath, Storage};
use crate::checks::Evidence;
use crate::emulated::{self, EmulatedVolume};
use crate::error::{MeasureError, describe};
use crate::invalid::InvalidRequest;
use crate::measured_load::MeasuredLoad;
use crate::plan::Grid;
use crate::probe;
use crate::request::{EngineChoice, MeasurementRequest, RunContext};

/// Block size if the server does not report it; all servers accept it.
const BLOCK: Bytes = Bytes::new(512);

/// Duration of the measurement of the floor.
const FLOOR: Span = Span::from_millis(500);

#[derive(Debug)]
pub(super) struct ExportTarget {
    address: ExportAddress,
    chosen: Chosen,
    emulation: Option<Emulation>,
    /// Latency floor of this host, if the server runs on it.
    floor: Option<Floor>,
    /// Whether writes are permitted.
    writable: bool,
}

/// Opens the export of the request.
pub(super) fn open(request: MeasurementRequest, load: MeasuredLoad) -> Result<Prepared, MeasureError> {
    let address: ExportAddress =
        request.uri().unwrap_or_default().parse().map_err(|error: NoNbdAddress| MeasureError::usage(error))?;
    check_options(&request, &load)?;
    let mut findings = Vec::new();
    let writable = !request.destroy.is_empty();
    let load = if writable { load } else { load.read_only(&request, &mut findings)? };
    let connection = Connection::open(&address).map_err(|error| unreachable(&address, &error))?;
    let chosen = connection.chosen().clone();
    let threads = request.sweep.threads;
    check_server(&address, &chosen, &load, threads)?;
    let grid = Grid::Export(chosen.blocks.map_or(BLOCK, |[min, ..]| Bytes::new(u64::from(min.max(1)))));
    let size = request.choose_size(Bytes::new(chosen.size))?;
    let emulation = chosen.description.as_deref().and_then(|text| text.parse().ok());
    let access = AccessPath::Export(address.clone(), Mutex::new(vec![connection]));
    let storage = Storage { access, threads, compressible: load.compressible() };
    let target = Target::Export(ExportTarget { address, chosen, emulation, floor: None, writable }.into());
    let (fio, reused, caching) = (None, None, Caching::Direct);
    Ok(Prepared { request, load, storage, size, fio, grid, caching, findings, reused, target })
}

/// Fails for options that apply only to files.
fn check_options(request: &MeasurementRequest, load: &MeasuredLoad) -> Result<(), MeasureError> {
    let flag = match (request.buffered, load.is_buffered(), request.engine) {
        (true, ..) => label!("--buffered is"),
        (_, true, _) => label!("this preset is"),
        (.., EngineChoice::Threads) => label!("--engine threads is"),
        (.., EngineChoice::Fio) => label!("--engine fio is"),
        _ => return Ok(()),
    };
    Err(InvalidRequest::DiskOption(flag).into())
}

/// Fails for a load that the server does not support.
fn check_server(
    address: &ExportAddress,
    chosen: &Chosen,
    load: &MeasuredLoad,
    threads: u32,
) -> Result<(), MeasureError> {
    if threads > 1 && chosen.flags & flag::CAN_MULTI_CONN == 0 {
        return Err(InvalidRequest::SingleConnection(address.to_string()).into());
    }
    let (address, recorded) = (address.to_string(), matches!(load, MeasuredLoad::Recorded(_)));
    if load.writes() && chosen.flags & flag::READ_ONLY != 0 {
        return Err(InvalidRequest::ReadOnlyExport { address, recorded }.into());
    }
    let max = chosen.blocks.map_or(u32::MAX, |[.., max]| max);
    let (max, largest) = (Bytes::new(max.into()), load.largest());
    if largest > max {
        return Err(InvalidRequest::LargeRequest { address, max, largest, recorded }.into());
    }
    Ok(())
}

fn unreachable(address: &ExportAddress, error: &TalkError) -> MeasureError {
    let remedy = match error {
        TalkError::Credentials(_) => label!("correct tls-certificates in the address"),
        TalkError::Io { .. } => label!("start the server, or correct the address"),
        TalkError::Unexpected { .. } => label!("use the address of an NBD server"),
        TalkError::Refused { .. } => label!("use the name of an export"),
    };
    MeasureError::usage(format!("{address}: {}: {remedy}", describe(error)))
}

impl Prepared {
    /// Measures the latency floor and the time of a commit.
    pub(super) fn probe_export(&mut self, evidence: &mut Evidence) -> Result<(), MeasureError> {
        let Target::Export(export) = &mut self.target else { return Ok(()) };
        if export.is_local() {
            export.floor = Some(Floor::measure(FLOOR).map_err(MeasureError::Floor)?);
        }
        let slow = export.emulation.as_ref().map_or(1, |emulation| emulation.slow);
        self.findings.extend((slow != 1).then_some(Finding::TimeDilated { slow }));
        if export.writable && export.emulation.is_none() && export.chosen.flags & flag::READ_ONLY == 0 {
            evidence.commit = probe::measure_commit(&mut self.storage, self.size)?;
        }
        Ok(())
    }
}

impl ExportTarget {
    /// True if the server runs on this host.
    fn is_local(&self) -> bool {
        match &self.address.host {
            NbdHost::Unix(_) => true,
            NbdHost::Tcp { name, .. } => name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()),
        }
    }

    /// The volume of an emulation, if its service answers.
    pub(super) fn find_volume(&self, context: &RunContext<'_>) -> Option<EmulatedVolume> {
        self.emulation.as_ref().and_then(|_| emulated::find_export(&self.address, context.find_volume))
    }

    /// Finding about the floor relative to the fastest responses.
    pub(super) fn compare_floor(&self, runs: &[Run]) -> Option<Finding> {
        let floor = self.floor.as_ref()?;
        let medians = runs.iter().filter_map(|run| run.total.response().quantile(0.5));
        let quickest = medians.min().unwrap_or_default();
        let wait = quickest - floor.beyond(quickest).min(quickest);
        Some(Finding::Floor { round_trip: floor.round_trip_p50, wait, beyond: floor.beyond(wait) })
    }

    pub(super) fn source(&self) -> Source {
        match &self.emulation {
            Some(emulation) => Source::Emulated { model: emulation.model.clone() },
            None => Source::Measured { engine: "NBD".into() },
        }
    }

    /// The subject of the curve. An emulation has the name of its simulation, so that reports relate them.
    pub(super) fn describe(&self, size: Bytes) -> Subject {
        let (name, kind) = match &self.emulation {
            Some(Emulation { like: Some(like), .. }) => (like.clone(), "product"),
            Some(Emulation { model, .. }) => (model.clone(), "model"),
            None => (self.address.to_string(), "NBD export"),
        };
        let slower = self.emulation.as_ref().filter(|emulation| emulation.slow != 1);
        let name = slower.map_or(name.clone(), |Emulation { slow, .. }| format!("{name}, {slow} times slower"));
        let is_real = self.emulation.is_none();
        let device = Device {
            name: (!is_real).then(|| self.address.to_string()),
            model: self.chosen.description.clone().filter(|text| is_real && !text.is_empty()),
            size: Some(Bytes::new(self.chosen.size)),
            rotational: Some(self.chosen.flags & flag::ROTATIONAL != 0),
            logical_block: self.chosen.blocks.map(|[min, ..]| min),
            ..Device::default()
        };
        Subject { name, kind: kind.into(), size, device: Some(device) }
    }
}
