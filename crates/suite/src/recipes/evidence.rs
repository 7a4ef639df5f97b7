//! Evidence for the limit of concurrent sessions.

use plimsoll_load::Pace;
use plimsoll_record::{DiskCounters, LimitEvidence, SessionTimes, SessionVerdict, StorageSide};
use plimsoll_units::Span;

use crate::sql::SessionsResult;

/// The observed limit of a load, with its evidence.
pub(super) fn binding_limit(offered: Pace, observed: &SessionsResult) -> SessionVerdict {
    let window = observed.window.1 - observed.window.0;
    let evidence = find_evidence(window, observed.split.as_ref(), &observed.storage);
    SessionVerdict::BindingLimit { update_pct: None, offered, limit: observed.limit.clone(), evidence }
}

/// Use of resources over a window.
pub(super) fn find_evidence(window: Span, split: Option<&SessionTimes>, storage: &StorageSide) -> LimitEvidence {
    LimitEvidence {
        sessions: split.and_then(|split| split.shares.iter().max_by(|a, b| a.1.total_cmp(&b.1))).copied(),
        host_share: storage.host.and_then(|host| {
            let used = host.busy + host.stolen;
            share(used, used + host.waiting + host.idle)
        }),
        device: storage.disk.as_ref().and_then(|disk| Some((disk.device.clone(), share(disk.busy, window)?))),
        device_read: storage.disk.as_ref().and_then(DiskCounters::read_latency),
        volume: storage.bound_by.first().cloned(),
    }
}

/// Share; `None` for a zero base.
fn share(part: Span, total: Span) -> Option<f64> {
    (!total.is_zero()).then(|| part.as_secs_f64() / total.as_secs_f64())
}
