//! The curve of a completed sweep.

use jiff::Timestamp;
use plimsoll_record::{Conditions, Curve, EndReason, FORMAT, Finding, Host, Source, Subject};
use plimsoll_units::Span;

use crate::error::{MeasureError, describe};
use crate::request::RunContext;
use crate::sweep::SweepResult;

/// Fields of a curve other than its runs.
#[derive(Debug)]
pub(crate) struct CurveHead {
    pub(crate) started: Option<Timestamp>,
    pub(crate) source: Source,
    pub(crate) subject: Subject,
    pub(crate) host: Option<Host>,
    pub(crate) conditions: Conditions,
    pub(crate) findings: Vec<Finding>,
}

impl CurveHead {
    /// The curve without a verdict.
    ///
    /// # Errors
    /// There is no run.
    pub(crate) fn complete(
        self,
        result: SweepResult,
        wall: Span,
        context: &RunContext<'_>,
    ) -> Result<Curve, MeasureError> {
        if !result.runs.is_empty() {
            return Ok(self.build(result, wall, context));
        }
        Err(match (result.fault, result.ended) {
            (Some(fault), _) => fault.into(),
            (None, EndReason::Interrupted) => MeasureError::Interrupted,
            _ => MeasureError::NoOperation,
        })
    }

    /// The curve without a verdict, even without runs.
    pub(crate) fn build(self, result: SweepResult, wall: Span, context: &RunContext<'_>) -> Curve {
        let SweepResult { runs, slots, ended, fault, .. } = result;
        let mut findings = self.findings;
        findings.extend(fault.map(|fault| Finding::Fault { what: describe(&fault) }));
        Curve {
            format: FORMAT.into(),
            made_by: context.made_by.into(),
            started: self.started.map(|started| started.to_string()),
            wall,
            command: context.command.clone(),
            ended,
            source: self.source,
            subject: self.subject,
            host: self.host,
            conditions: self.conditions,
            runs,
            knee: None,
            load_line: None,
            closed_line: None,
            basis: None,
            slots,
            findings,
        }
    }
}
