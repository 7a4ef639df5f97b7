//! Diagnosis of a database: the parts of its time, the effect of faster storage or more memory, latency under load,
//! limits, and the origin of the work, as verdicts with their evidence.
//!
//! Input is the demand ([`plimsoll_ingest::DatabaseDemand`]) and optionally an offer. Texts are made by the report.

mod busy;
mod cache;
mod ceilings;
mod censored;
mod effect;
mod history;
mod host;
mod pinned;
mod response;
mod rules;
mod split;
mod totals;
mod verdict;

use plimsoll_catalogue::Offer;
use plimsoll_ingest::{Cap, CapBasis, Class, DatabaseDemand, Slot};

pub(crate) use self::rules::QUIET_SESSIONS;
pub use busy::{BusyBasis, BusyHours};
pub use cache::CacheStep;
pub(crate) use cache::steps as cache_steps;
pub use ceilings::{CeilingUse, OfferUse};
pub use censored::{CensorCause, Censored, SaturationBasis};
pub use effect::{
    DatabaseEffect, EffectRule, FLOOR_S, FilterWork, Latencies, PartEffect, SCAN_RATES, effect, without_storage,
};
pub use history::{Changed, History, HistoryQuantity, LoadCorrelation, PeriodChange, Unusual, WindowTime};
pub use host::{FreeDevices, HostEvidence, HostLimit};
pub use pinned::Pinned;
pub use response::{CountedEvent, Response, ResponsePoint};
pub(crate) use split::has_shares;
pub use split::{Commits, Slice, Split, TimePart};
pub use verdict::DiagnosisVerdict;

/// Optional inputs beside the demand.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiagnoseOptions<'a> {
    /// The storage configuration, whose ceilings are compared with the demand.
    pub on: Option<&'a Offer>,
    /// Miss ratio of a cache by its size in bytes, ascending, from a trace. It takes precedence over the database's
    /// estimates.
    pub misses: Option<&'a [(f64, f64)]>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// The database or host; empty if no input names it.
    pub name: String,
    pub windows: Windows,
    /// Time of sessions by part, if an input contains it.
    pub split: Option<Split>,
    /// Composition of the waits for commits, if sessions waited for them.
    pub commits: Option<Commits>,
    /// Effect of storage that is ten times as fast.
    pub ten_times: Option<DatabaseEffect>,
    /// Effect of storage with zero latency: the upper bound for any storage.
    pub at_most: Option<DatabaseEffect>,
    /// Effect of other sizes of the buffer cache, by size.
    pub cache: Vec<CacheStep>,
    /// Latency of each class over its rate.
    pub responses: Vec<Response>,
    /// Waits of sessions for classes without such a latency.
    pub waits: Vec<Response>,
    /// Load of the hosts' processors and devices, if an input has it.
    pub host: Option<HostEvidence>,
    /// Use of devices that are not full in any window.
    pub free_devices: Option<FreeDevices>,
    /// Rates pinned at a value in many windows.
    pub pinned: Vec<Pinned>,
    /// Windows over time, if several of them contain the database's time.
    pub history: Option<History>,
    /// The busiest hours, if they differ from the mean.
    pub busy: Option<BusyHours>,
    /// The window with the most operations, and that with the most bytes, with these per second; none for a single window.
    pub highest: [Option<(Slot, f64)>; 2],
    /// The demand in relation to the ceilings of the given configuration.
    pub on: Option<OfferUse>,
    /// Limits of volumes and machines by the provider's metrics, reached or not.
    pub caps: Vec<Cap>,
    /// The reason why the measured rates are below the demand, if any.
    pub censored: Option<Censored>,
    /// Conclusions, the main answer first.
    pub verdicts: Vec<DiagnosisVerdict>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Windows {
    /// How many.
    pub count: usize,
    /// Seconds of all.
    pub seconds: f64,
    /// Seconds of the longest: peaks that are shorter are hidden in its means.
    pub longest_s: f64,
    /// The first of them.
    pub first: Option<Slot>,
}

pub fn diagnose(subject: &DatabaseDemand, options: &DiagnoseOptions<'_>) -> Diagnosis {
    let account = subject.account.as_ref();
    let split = account.and_then(|account| split::split(&account.total));
    let responses = response::responses(subject);
    let history = history::history(subject);
    let mut diagnosis = Diagnosis {
        name: subject.name.clone(),
        windows: windows(subject),
        commits: account.and_then(|account| split::split_commits(&account.total)),
        ten_times: account.and_then(effect::ten_times),
        at_most: account.and_then(without_storage),
        cache: account.map(|account| cache::steps(account, options.misses)).unwrap_or_default(),
        host: host::find_evidence(subject, &responses),
        free_devices: host::find_free_devices(subject),
        waits: response::of_waits(subject, &responses),
        responses,
        pinned: pinned::pinned(subject),
        busy: split.as_ref().and_then(|split| busy::find_busy_hours(subject, split, history.as_ref())),
        highest: busy::find_highest(subject),
        history,
        on: options.on.map(|offer| ceilings::on(subject, offer)),
        caps: subject.caps.clone(),
        censored: None,
        verdicts: Vec::new(),
        split,
    };
    diagnosis.verdicts = rules::find_verdicts(subject, &diagnosis);
    diagnosis.censored = censored::censored(subject, &diagnosis);
    // Figures of a stalled system are not its demand, which matters for each other verdict.
    let limits = diagnosis.censored.clone().map(DiagnosisVerdict::Censored);
    let is_stall = |cap: &&Cap| cap.limit.basis == CapBasis::Stalled && cap.points > 0;
    let stalls = subject.caps.iter().filter(is_stall).cloned().map(DiagnosisVerdict::ProviderStall);
    diagnosis.verdicts.splice(0..0, stalls.chain(limits));
    let is_unanswered = |verdict: &DiagnosisVerdict| matches!(verdict, DiagnosisVerdict::NoSessionTimes { .. });
    if let Some(devices) = diagnosis.unlimited_devices()
        && let Some(at) = diagnosis.verdicts.iter().position(is_unanswered)
    {
        diagnosis.verdicts.insert(at + 1, DiagnosisVerdict::DevicesFree(devices));
    }
    diagnosis
}

fn windows(subject: &DatabaseDemand) -> Windows {
    let resolutions = subject.slots.iter().map(|slot| slot.resolution.as_secs_f64());
    Windows {
        count: subject.slots.iter().map(|slot| slot.windows as usize).sum(),
        seconds: subject.slots.iter().map(|slot| slot.length.as_secs_f64()).sum(),
        longest_s: resolutions.fold(0.0, f64::max),
        first: subject.slots.first().copied(),
    }
}

impl Diagnosis {
    /// Share of the database's time spent on a part, 0 to 1; 0 if unknown.
    pub fn share(&self, part: TimePart) -> f64 {
        self.split.as_ref().map_or(0.0, |split| split.share(part))
    }

    /// Mean active sessions in the busiest hours; those of all windows if they do not differ.
    pub fn active_when_busy(&self) -> Option<f64> {
        let split = self.split.as_ref()?;
        let busy = self.busy.as_ref().map(|busy| match busy.basis {
            BusyBasis::Windows { active, .. } => active,
            BusyBasis::Analysis { .. } => busy.highest,
        });
        Some(busy.unwrap_or(split.active))
    }

    /// True with less than one active session, also in the busiest hours: no part of the time is a problem.
    pub fn is_light(&self) -> bool {
        self.active_when_busy().is_some_and(|active| active < 1.0)
    }

    /// True if the operations with most of the time of storage are fast for their medium: it is long by their number.
    pub fn is_storage_fast(&self) -> bool {
        rules::is_fast(self)
    }

    /// The use of devices that are not full in any window, unless another finding is about a limit or a stall of storage.
    pub fn unlimited_devices(&self) -> Option<FreeDevices> {
        let is_limit = |verdict: &DiagnosisVerdict| {
            matches!(
                verdict,
                DiagnosisVerdict::AtItsLimit { .. }
                    | DiagnosisVerdict::AtCeiling { .. }
                    | DiagnosisVerdict::Censored(_)
                    | DiagnosisVerdict::Pinned { .. }
                    | DiagnosisVerdict::ProviderStall(_)
                    | DiagnosisVerdict::Stalled { .. }
            )
        };
        let is_capped = self.caps.iter().any(|cap| cap.points > 0);
        self.free_devices.filter(|_| !is_capped && !self.verdicts.iter().any(is_limit))
    }

    /// Latency of a class.
    pub fn response(&self, class: Class) -> Option<&Response> {
        self.responses.iter().find(|response| response.class == class)
    }
}
