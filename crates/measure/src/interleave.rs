//! Two targets, or two settings of a target, measured in alternating passes.

use std::io;
use std::process::{Command, Stdio};

use plimsoll_analyse::{Comparison, compare_sides, compare_turns};
use plimsoll_device::ActivityDelta;
use plimsoll_drive::Fault;
use plimsoll_language::say;
use plimsoll_record::Curve;

use crate::error::{MeasureError, describe};
use crate::invalid::InvalidRequest;
use crate::measured_load::MeasuredLoad;
use crate::monitor::Monitor;
use crate::plan::MeasurePlan;
use crate::prepared::Prepared;
use crate::request::{EngineChoice, MeasurementRequest, RunContext};
use crate::sweep;

/// The curves of both sides.
#[derive(Debug)]
pub struct InterleavedCurves {
    /// In the order of the requests. The second side has the objective of the first.
    pub curves: [Curve; 2],
    /// The fault that ended the measurement, with its causes.
    pub fault: Option<String>,
}

/// Measures both requests in alternating passes. `before_pass` is called with the index of the side before each of its
/// passes.
///
/// # Errors
/// A request is invalid, the requests cannot be compared, or a side has no result.
pub fn measure_interleaved(
    requests: [MeasurementRequest; 2],
    before_pass: &dyn Fn(usize) -> Result<(), Fault>,
    context: &RunContext<'_>,
    monitor: &mut dyn Monitor,
) -> Result<InterleavedCurves, MeasureError> {
    if requests[0].engine == EngineChoice::Fio {
        return Err(InvalidRequest::InterleavedFio.into());
    }
    let requests = share_permissions(requests)?;
    let [a, b] = requests.map(Prepared::new);
    let (mut a, mut b) = (a?, b?);
    share_size(&mut a, &mut b);
    a.reuse_objective(context)?;
    let plan = share_plan(&a, &b)?;
    let (mut begun_a, mut begun_b) = (a.begin(context, monitor)?, b.begin(context, monitor)?);
    // Filling may have ended early.
    share_size(&mut a, &mut b);
    (begun_a.streams, begun_b.streams) = (a.place()?, b.place()?);
    let streams = [&begun_a.streams[..], &begun_b.streams[..]];
    let results = sweep::run_interleaved(&plan, streams, &mut [&mut a.storage, &mut b.storage], before_pass, monitor);
    let fault = results.iter().find_map(|result| result.fault.as_ref()).map(|fault| describe(fault));
    // On a common disk, operations of the other side would count as those of a neighbour.
    let [activity_a, activity_b] = [&begun_a, &begun_b].map(|begun| ActivityDelta { disk: None, ..begun.activity() });
    let [result_a, result_b] = results;
    let mut curves = [a.end(begun_a, result_a, activity_a, context)?, b.end(begun_b, result_b, activity_b, context)?];
    let reused = a.reused_objective();
    a.judge(&mut curves[0], reused);
    let objective = reused.or_else(|| curves[0].load_line.map(|line| line.objective()));
    a.judge(&mut curves[1], objective);
    Ok(InterleavedCurves { curves, fault })
}

/// The requests with the permissions of each side: `destroy` applies to the side that it names.
fn share_permissions(requests: [MeasurementRequest; 2]) -> Result<[MeasurementRequest; 2], MeasureError> {
    let paths = [&*requests[0].path, &*requests[1].path];
    requests[0].check_destroy(&paths)?;
    Ok(requests.map(|mut request| {
        request.destroy.retain(|named| *named == request.path);
        request
    }))
}

/// Limits both targets to the size of the smaller one.
fn share_size(a: &mut Prepared, b: &mut Prepared) {
    let size = a.size.min(b.size);
    (a.size, b.size) = (size, size);
}

/// The common plan; fails if only one side would be written.
fn share_plan(a: &Prepared, b: &Prepared) -> Result<MeasurePlan, MeasureError> {
    let (MeasuredLoad::Generated(plan), MeasuredLoad::Generated(other)) = (&a.load, &b.load) else {
        return Err(InvalidRequest::InterleavedReplay.into());
    };
    if plan.templates != other.templates {
        return Err(InvalidRequest::InterleavedWrites.into());
    }
    Ok(plan.in_turns())
}

/// The comparison of both sides: of named loads one by one, or by the load line of the first.
///
/// # Errors
/// The first side has no load line.
pub fn compare_interleaved(curves: &[Curve; 2]) -> Result<Comparison, MeasureError> {
    let [a, b] = curves;
    match a.load_line {
        _ if curves.iter().any(|curve| curve.slots.is_empty()) => {
            Ok(compare_sides(std::slice::from_ref(a), std::slice::from_ref(b), None))
        }
        Some(line) => Ok(compare_turns(a, b, line.objective())),
        None => Err(MeasureError::NoFirstLine),
    }
}

/// Maximum length of quoted command output.
const MAX_QUOTE: usize = 500;

/// Runs a command of the user through the shell.
///
/// # Errors
/// It fails: the end of its output is quoted.
pub fn run_in_shell(command: &str) -> Result<(), Fault> {
    let failed = |source| Fault { attempt: say!("running {command:?} before a pass"), source };
    let output = Command::new("sh").args(["-c", command]).stdin(Stdio::null()).output().map_err(failed)?;
    if output.status.success() {
        return Ok(());
    }
    let printed = [output.stderr, output.stdout].concat();
    let printed = String::from_utf8_lossy(&printed);
    let quoted: Vec<char> = printed.trim().chars().collect();
    let quoted: String = quoted[quoted.len().saturating_sub(MAX_QUOTE)..].iter().collect();
    Err(failed(io::Error::other(format!("{}: {quoted}", output.status))))
}
