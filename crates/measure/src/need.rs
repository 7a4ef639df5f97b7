//! Storage needs: a measured load, or a required rate of it or of a preset.

use plimsoll_analyse::judged;
use plimsoll_choose::Need;
use plimsoll_ingest::ASSUMED_SPACE;
use plimsoll_load::{Arrival, Pace, Region, StreamSpec};
use plimsoll_record::{Curve, Estimate, Finding, LoadLine, Objective};
use plimsoll_units::{Bytes, Iops};

use crate::error::MeasureError;
use crate::invalid::InvalidRequest;
use crate::preset::Preset;

/// The preset of loads without a run, the default of measurements.
const DEFAULT_PRESET: &str = "oltp";
/// Capacity of loads without a run: products are as large as their limits need.
const MIN_CAPACITY: Bytes = Bytes::gib(1);
/// Addressed space without a run: larger than caches of products; smaller products are addressed completely.
const DEFAULT_SPACE: Bytes = Bytes::gib(64);

/// A required load; absent values are those of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NeedRequest {
    pub capacity: Option<Bytes>,
    pub iops: Option<Iops>,
    pub objective: Option<Objective>,
}

impl NeedRequest {
    /// The need by a run, whose load line becomes the required load.
    ///
    /// # Errors
    /// The figures of the run do not describe its storage, or it has neither a load line nor a size, and the request lacks it.
    pub fn of_run(&self, curve: &mut Curve) -> Result<Need, MeasureError> {
        if let Some(finding) = curve.void() {
            let (name, text, remedy) = (curve.subject.name.clone(), finding.text(), finding.remedy());
            return Err(InvalidRequest::VoidRun { name, text, remedy: remedy.to_owned() }.into());
        }
        let capacity = self.capacity.map_or_else(|| measured_size(curve), Ok)?;
        curve.load_line = self.find_load_line(curve);
        if self.iops.is_some() || self.objective.is_some() {
            curve.basis = None;
        }
        let missing =
            if curve.load_line.is_none() { InvalidRequest::NoLoadLine } else { InvalidRequest::MissedObjective };
        Need::of(curve, capacity).ok_or(missing.into())
    }

    /// The need without a run, with the name of the preset whose operations it has; `None` without a rate and an objective.
    ///
    /// # Errors
    /// Only one of rate and objective is given.
    pub fn of_preset(&self) -> Result<Option<(Need, &'static str)>, MeasureError> {
        let (iops, objective) = match (self.iops, self.objective) {
            (Some(iops), Some(objective)) => (iops, objective),
            (Some(_), None) => return Err(InvalidRequest::NoRunsFor("--objective").into()),
            (None, Some(_)) => return Err(InvalidRequest::NoRunsFor("--iops").into()),
            (None, None) => return Ok(None),
        };
        let preset = Preset::find(DEFAULT_PRESET)?;
        let template = preset.streams.into_iter().next().expect("a preset has a stream");
        let stream = StreamSpec {
            name: template.name,
            mix: template.mix,
            pattern: template.pattern,
            region: Region { start: 0, length: self.capacity.unwrap_or(DEFAULT_SPACE) },
            pace: Pace::Open { rate: iops, arrival: Arrival::Poisson },
        };
        let capacity = self.capacity.unwrap_or(MIN_CAPACITY);
        Ok(Some((Need { streams: vec![stream], iops: iops.as_f64(), objective, capacity }, DEFAULT_PRESET)))
    }

    /// The run's load line, or the requirement.
    fn find_load_line(&self, curve: &Curve) -> Option<LoadLine> {
        let objective = self.objective.or_else(|| curve.load_line.map(|line| line.objective()));
        match (self.iops, self.objective) {
            (Some(iops), _) => {
                objective.map(|objective| LoadLine::At { objective, iops: Estimate::bare(iops.as_f64()) })
            }
            (None, Some(objective)) => judged(curve, objective).map(|(line, _)| line),
            (None, None) => curve.load_line,
        }
    }
}

/// The size of the measured range; fails if it is an assumption.
fn measured_size(curve: &Curve) -> Result<Bytes, MeasureError> {
    let assumed = |finding: &Finding| matches!(finding, Finding::Assumed { what, .. } if what == ASSUMED_SPACE);
    if curve.findings.iter().any(assumed) {
        return Err(InvalidRequest::AssumedSize.into());
    }
    Ok(curve.subject.size)
}
