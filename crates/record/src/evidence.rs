//! Evidence: runs that a model may be fitted to.

use crate::curve::{Curve, Source};

/// A curve that was seen on something real. A model fitted to a model's own output would confirm itself.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a>(&'a Curve);

/// The curve was not seen on anything real.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} figures are no evidence: give a run that was measured, or a published one")]
pub struct NotEvidence(&'static str);

impl<'a> TryFrom<&'a Curve> for Evidence<'a> {
    type Error = NotEvidence;
    fn try_from(curve: &'a Curve) -> Result<Self, NotEvidence> {
        match curve.source {
            Source::Measured { .. } | Source::Published { .. } => Ok(Self(curve)),
            Source::Simulated { .. } | Source::Emulated { .. } => Err(NotEvidence(curve.source.word())),
        }
    }
}

impl<'a> Evidence<'a> {
    /// The curve.
    pub const fn curve(&self) -> &'a Curve {
        self.0
    }
}
