//! A check of any NBD server: what it does with each feature of the protocol, what was sent and what came back.
//!
//! Judges by the public specification (NetworkBlockDevice/nbd, `doc/proto.md`) and knows nothing about how a server
//! works. Writes only when it is allowed to, and puts back what it overwrote.

mod data;
mod options;
mod probe;
mod requests;
mod status;
mod timing;
mod tls;

use std::time::Duration;

use plimsoll_device::nbd::{Address, TalkError};

use self::probe::Probe;

/// What a check found out about a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The server does what the specification says.
    Pass,
    /// It does not.
    Fail,
    /// It does not offer the feature, and says so properly.
    Unsupported,
    /// It was not tried, for the reason that is given.
    NotTried,
}

/// One feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The part of the protocol that it belongs to.
    pub area: &'static str,
    /// What it is.
    pub feature: &'static str,
    /// What was found out.
    pub verdict: Verdict,
    /// What was sent.
    pub sent: String,
    /// What came back.
    pub got: String,
}

/// What may be done to the server.
#[derive(Clone, Copy, Debug)]
pub struct Permission {
    /// The export may be written. What is overwritten is put back, if nothing breaks in between.
    pub writes: bool,
    /// How long each answer is waited for.
    pub timeout: Duration,
    /// How long each of the loads lasts that response times are taken of; zero for none.
    pub timing: Duration,
}

impl Default for Permission {
    fn default() -> Self {
        Self { writes: false, timeout: Duration::from_secs(10), timing: Duration::from_secs(1) }
    }
}

/// What one feature showed.
struct Found {
    verdict: Verdict,
    sent: String,
    got: String,
}

impl Found {
    fn new(verdict: Verdict, sent: impl Into<String>, got: impl Into<String>) -> Self {
        Self { verdict, sent: sent.into(), got: got.into() }
    }

    /// Passes when `good`, else fails.
    fn judged(good: bool, sent: impl Into<String>, got: impl Into<String>) -> Self {
        Self::new(if good { Verdict::Pass } else { Verdict::Fail }, sent, got)
    }

    fn unsupported(sent: impl Into<String>, got: impl Into<String>) -> Self {
        Self::new(Verdict::Unsupported, sent, got)
    }

    fn not_tried(why: impl Into<String>) -> Self {
        Self::new(Verdict::NotTried, "", why)
    }
}

/// A feature, and how it is looked at: on connections of its own.
struct Feature {
    area: &'static str,
    name: &'static str,
    look: fn(&Probe<'_>) -> Result<Found, TalkError>,
}

/// Checks the server of an export.
///
/// # Errors
/// It cannot be reached, or has no such export: then there is nothing to check.
pub fn check(address: &Address, permission: &Permission) -> Result<Vec<Row>, TalkError> {
    let probe = Probe::new(address, permission)?;
    let groups =
        [options::FEATURES, tls::FEATURES, requests::FEATURES, status::FEATURES, data::FEATURES, timing::FEATURES];
    Ok(groups.into_iter().flatten().map(|feature| row(feature, &probe)).collect())
}

fn row(feature: &Feature, probe: &Probe<'_>) -> Row {
    let found = (feature.look)(probe).unwrap_or_else(|error| {
        let mut got = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            got = format!("{got}: {cause}");
            source = cause.source();
        }
        Found::new(Verdict::Fail, "", got)
    });
    Row { area: feature.area, feature: feature.name, verdict: found.verdict, sent: found.sent, got: found.got }
}
