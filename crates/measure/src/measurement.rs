//! The measurement of a request.

use plimsoll_record::Curve;

use crate::error::MeasureError;
use crate::hosts;
use crate::monitor::Monitor;
use crate::prepared::Prepared;
use crate::request::{MeasurementRequest, RunContext};

/// Measures the target of the request: its curve with the verdict.
///
/// # Errors
/// The request is invalid, or the measurement ended without a result.
pub fn measure(
    request: MeasurementRequest,
    context: &RunContext<'_>,
    monitor: &mut dyn Monitor,
) -> Result<Curve, MeasureError> {
    request.check_destroy(&[&request.path])?;
    if !request.hosts.is_empty() {
        return hosts::measure(&request, context, monitor);
    }
    let mut prepared = Prepared::new(request)?;
    prepared.reuse_objective(context)?;
    prepared.measure(context, monitor)
}
