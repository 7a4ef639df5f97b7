//! Evidence: curves that a model may be fitted to.

use crate::curve::{Curve, Source};

/// A measured or published curve. A model fitted to model output would confirm itself.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a>(&'a Curve);

/// The curve is simulated or emulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} figures are no evidence: give a measured or published run")]
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
