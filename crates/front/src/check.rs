//! Conformance check of any NBD server: each feature of the protocol with the request and the response.
//!
//! Follows the public specification (NetworkBlockDevice/nbd, `doc/proto.md`). Writes only with permission, and restores
//! overwritten data.

mod data;
mod options;
mod probe;
mod requests;
mod status;
mod timing;
mod tls;

use std::time::Duration;

use plimsoll_device::nbd::{ExportAddress, TalkError};

use self::probe::Probe;

/// Result of a check of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckVerdict {
    /// Conforms to the specification.
    Pass,
    /// Violates the specification.
    Fail,
    /// Not offered, and refused correctly.
    Unsupported,
    /// Not tested, for the stated reason.
    NotTried,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureResult {
    /// Part of the protocol.
    pub area: &'static str,
    pub feature: &'static str,
    pub verdict: CheckVerdict,
    pub sent: String,
    pub got: String,
}

/// Permitted operations on the server.
#[derive(Clone, Copy, Debug)]
pub struct Permission {
    /// Allows writes. Overwritten data are restored unless the connection fails.
    pub writes: bool,
    /// Timeout of each response.
    pub timeout: Duration,
    /// Duration of each load for response times; zero to skip them.
    pub timing: Duration,
}

impl Default for Permission {
    fn default() -> Self {
        Self { writes: false, timeout: Duration::from_secs(10), timing: Duration::from_secs(1) }
    }
}

/// The outcome, or the failure of the connection.
type FeatureCheck = Result<CheckOutcome, TalkError>;

struct CheckOutcome {
    verdict: CheckVerdict,
    sent: String,
    got: String,
}

impl CheckOutcome {
    fn new(verdict: CheckVerdict, sent: impl Into<String>, got: impl Into<String>) -> Self {
        Self { verdict, sent: sent.into(), got: got.into() }
    }

    /// `Pass` if `good`, otherwise `Fail`.
    fn judged(good: bool, sent: impl Into<String>, got: impl Into<String>) -> Self {
        Self::new(if good { CheckVerdict::Pass } else { CheckVerdict::Fail }, sent, got)
    }

    fn unsupported(sent: impl Into<String>, got: impl Into<String>) -> Self {
        Self::new(CheckVerdict::Unsupported, sent, got)
    }

    fn not_tried(why: impl Into<String>) -> Self {
        Self::new(CheckVerdict::NotTried, "", why)
    }
}

/// A feature and its check, which uses separate connections.
struct Feature {
    area: &'static str,
    name: &'static str,
    run: fn(&Probe<'_>) -> FeatureCheck,
}

/// Checks the server of an export.
///
/// # Errors
/// The server cannot be reached, or lacks the export.
pub fn check(address: &ExportAddress, permission: &Permission) -> Result<Vec<FeatureResult>, TalkError> {
    let probe = Probe::new(address, permission)?;
    let groups =
        [options::FEATURES, tls::FEATURES, requests::FEATURES, status::FEATURES, data::FEATURES, timing::FEATURES];
    Ok(groups.into_iter().flatten().map(|feature| row(feature, &probe)).collect())
}

fn row(feature: &Feature, probe: &Probe<'_>) -> FeatureResult {
    let found = (feature.run)(probe).unwrap_or_else(|error| {
        let mut got = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            got = format!("{got}: {cause}");
            source = cause.source();
        }
        CheckOutcome::new(CheckVerdict::Fail, "", got)
    });
    FeatureResult {
        area: feature.area,
        feature: feature.name,
        verdict: found.verdict,
        sent: found.sent,
        got: found.got,
    }
}
