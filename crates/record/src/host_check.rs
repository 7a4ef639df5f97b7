//! Checks of a host: its fitness for measurements and emulated volumes.

/// A check of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostCheck {
    /// Name, such as `io_uring`.
    pub name: &'static str,
    /// The result.
    pub status: CheckStatus,
    /// Whether commands can work without it.
    pub need: CheckNeed,
    /// The observation, such as `2 of 4 processors`.
    pub found: String,
    /// Consequence and remedy; empty if ok.
    pub remedy: String,
}

/// Result of a check of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckStatus {
    /// A command will not work.
    Failed,
    /// Works, but figures or response times are doubtful.
    Caution,
    /// Could not be checked.
    Unknown,
    /// Works.
    Ok,
}

impl CheckStatus {
    /// All results, gravest first.
    pub const ALL: [Self; 4] = [Self::Failed, Self::Caution, Self::Unknown, Self::Ok];

    /// `failed`, `caution`, `unknown` or `ok`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Caution => "caution",
            Self::Unknown => "unknown",
            Self::Ok => "ok",
        }
    }
}

/// Importance of a checked facility.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckNeed {
    /// `plimsoll measure` or `plimsoll serve` does not work without it.
    Necessary,
    /// Used by further commands and options.
    Optional,
}

impl HostCheck {
    /// True if commands cannot work, or if that is unknown.
    pub fn is_blocking(&self) -> bool {
        self.need == CheckNeed::Necessary && matches!(self.status, CheckStatus::Failed | CheckStatus::Unknown)
    }
}
