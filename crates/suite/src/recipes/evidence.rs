//! The limit of concurrent sessions and its evidence, as part of a sentence.

use plimsoll_record::Spent;
use plimsoll_units::Span;

use crate::sql::SessionsResult;

/// The observed limit, with its evidence in parentheses.
pub(super) fn bound(observed: &SessionsResult) -> String {
    let limit = observed.limit.as_deref().unwrap_or("no saturated resource was observed");
    let evidence = describe_evidence(observed);
    if evidence.is_empty() { limit.into() } else { format!("{limit} ({})", evidence.join(", ")) }
}

fn describe_evidence(observed: &SessionsResult) -> Vec<String> {
    let window = observed.window.1 - observed.window.0;
    let waited = observed.split.as_ref().and_then(|split| split.shares.iter().max_by(|a, b| a.1.total_cmp(&b.1)));
    let waited =
        waited.map(|(spent, share)| format!("sessions were {} for {:.0} % of the time", doing(*spent), 100.0 * share));
    let host = observed.storage.host.as_ref().and_then(|host| {
        let used = host.busy + host.stolen;
        share(used, used + host.waiting + host.idle)
    });
    let host = host.map(|share| format!("the host's processors were busy for {share:.0} %"));
    let disk = observed.storage.disk.as_ref();
    let disk = disk.and_then(|disk| Some(format!("{} for {:.0} %", disk.device, share(disk.busy, window)?)));
    let sustained = observed.storage.bound_by.first();
    let sustained =
        sustained.map(|(name, share)| format!("{name} held {:.0} % of the volume's answers", 100.0 * share));
    [waited, host, disk, sustained].into_iter().flatten().collect()
}

/// Percentage; `None` for a zero base.
fn share(part: Span, total: Span) -> Option<f64> {
    (!total.is_zero()).then(|| 100.0 * part.as_secs_f64() / total.as_secs_f64())
}

const fn doing(spent: Spent) -> &'static str {
    match spent {
        Spent::Processor => "on a processor or runnable",
        Spent::Reading => "reading blocks",
        Spent::Writing => "writing blocks",
        Spent::Committing => "waiting for the log",
        Spent::Locked => "waiting for locks",
        Spent::Internal => "waiting inside the server",
        Spent::Client => "waiting for the client",
        Spent::Other => "waiting for something else",
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{DiskCounters, HostTime, SessionTimes, StorageSide};

    use super::*;

    #[test]
    fn limit_includes_evidence() {
        let part = |share: f64| Span::from_secs_f64(10.0 * share);
        let split =
            SessionTimes { shares: vec![(Spent::Reading, 0.7), (Spent::Processor, 0.3)], method: String::new() };
        let observed = SessionsResult {
            window: (Span::from_secs(1), Span::from_secs(11)),
            split: Some(split),
            storage: StorageSide {
                disk: Some(DiskCounters { device: "vda".into(), busy: part(0.97), ..DiskCounters::default() }),
                host: Some(HostTime { busy: part(0.2), idle: part(0.8), ..HostTime::default() }),
                bound_by: vec![("IOPS".into(), 0.9)],
            },
            limit: Some("IOPS".into()),
            ..SessionsResult::default()
        };
        let expected = "IOPS (sessions were reading blocks for 70 % of the time, the host's processors were busy for 20 %, vda for \
                        97 %, IOPS held 90 % of the volume's answers)";
        assert_eq!(bound(&observed), expected);
        assert_eq!(bound(&SessionsResult::default()), "no saturated resource was observed");
    }
}
