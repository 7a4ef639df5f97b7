//! Evidence: curves that a model may be fitted to.

use crate::curve::{Curve, Source};
use crate::finding::Finding;

/// A measured or published curve whose figures describe the storage. A model fitted to model output would confirm itself.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a>(&'a Curve);

/// The reason why a curve is no evidence.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotEvidence {
    /// The curve is simulated or emulated.
    #[error("{0} figures are no evidence: give a measured or published run")]
    OfModel(&'static str),
    /// Its figures do not describe the storage.
    #[error("{name} is no evidence: {}; {}", .finding.text(), .finding.remedy())]
    Void {
        /// The measured target.
        name: String,
        finding: Finding,
    },
}

impl<'a> TryFrom<&'a Curve> for Evidence<'a> {
    type Error = NotEvidence;
    fn try_from(curve: &'a Curve) -> Result<Self, NotEvidence> {
        match curve.source {
            Source::Measured { .. } | Source::Published { .. } => match curve.void() {
                None => Ok(Self(curve)),
                Some(finding) => Err(NotEvidence::Void { name: curve.subject.name.clone(), finding: finding.clone() }),
            },
            Source::Simulated { .. } | Source::Emulated { .. } => Err(NotEvidence::OfModel(curve.source.label())),
        }
    }
}

impl<'a> Evidence<'a> {
    pub const fn curve(&self) -> &'a Curve {
        self.0
    }
}
