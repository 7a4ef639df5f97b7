//! What held a crowd, and what makes its figures questionable, by what was seen beside it.

use plimsoll_database::System;
use plimsoll_record::{DatabaseAbout, Finding, Spent};

use crate::sql::CrowdSeen;

/// A share of sessions' time above which that is what holds them.
const MOST: f64 = 0.4;
/// A device or the processors are full from this share on.
const FULL: f64 = 0.9;
/// Shares below which nothing is said.
const LITTLE: f64 = 0.1;
const FEW_CONFLICTS: f64 = 0.01;
/// Fewer reads than this say nothing about who answered them.
const FEW_READS: u64 = 100;

/// The limit that held it, in a few words; none where it cannot be told.
pub(super) fn limit(seen: &CrowdSeen) -> Option<String> {
    let share = |part: Spent| {
        let shares = seen.split.iter().flat_map(|split| &split.shares);
        shares.filter(|(known, _)| *known == part).map(|(_, share)| share).sum::<f64>()
    };
    let processors = seen.storage.host.map(|host| host.busy.as_secs_f64() / host.whole().as_secs_f64().max(1e-9));
    if share(Spent::Locked) >= MOST {
        return Some("locks that other transactions hold".into());
    }
    let storage = share(Spent::Reading) + share(Spent::Writing) + share(Spent::Committing);
    if processors.is_some_and(|busy| busy >= FULL) && storage < MOST {
        return Some("processors of the host".into());
    }
    if storage >= MOST {
        return Some(storage_limit(seen, share(Spent::Committing) > share(Spent::Reading)));
    }
    let known = [
        (Spent::Processor, "work on processors, a session at a time"),
        (Spent::Internal, "latches inside the server"),
        (Spent::Client, "the client"),
    ];
    let (part, words) = known.into_iter().max_by(|a, b| share(a.0).total_cmp(&share(b.0)))?;
    (share(part) >= MOST).then(|| words.into())
}

fn storage_limit(seen: &CrowdSeen, commits: bool) -> String {
    if let Some((name, share)) = seen.storage.bound_by.first()
        && *share >= MOST
    {
        return name.clone();
    }
    let what = if commits { "commits: flushes of the log" } else { "reads, as many at once as there are sessions" };
    let busy = seen.storage.disk.as_ref().map(|disk| {
        let span = (seen.window.1 - seen.window.0).as_secs_f64().max(1e-9);
        (disk.device.as_str(), disk.busy.as_secs_f64() / span)
    });
    match busy {
        Some((device, share)) if share >= FULL && !commits => format!("{device}, which was never idle"),
        _ => what.into(),
    }
}

/// What makes the figures questionable.
pub(super) fn findings(seen: &CrowdSeen, system: System, about: &DatabaseAbout) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(share) = answered_above(seen, about).filter(|share| *share > LITTLE) {
        findings.push(Finding::PageCacheBelowDatabase { share });
    }
    let busy = seen.storage.host.map(|host| (host.busy.as_secs_f64(), host.whole().as_secs_f64().max(1e-9)));
    let client = seen.client.map(|cpu| (cpu.user + cpu.system).as_secs_f64());
    if let Some((busy, all)) = busy.filter(|_| system != System::Sqlite) {
        let client = client.unwrap_or_default();
        // While processors are idle, it keeps nobody waiting.
        if client / all > LITTLE && busy / all > FULL {
            findings.push(Finding::ClientBound { share: client / all });
        }
        if let Some(server) = seen.counted.cpu {
            let others = (busy - client - (server.user + server.system).as_secs_f64()) / all;
            if others > 2.0 * LITTLE {
                findings.push(Finding::OtherWork { share: others });
            }
        }
    }
    if seen.differing > 0 {
        findings.push(Finding::RowsDiffered { count: seen.differing });
    }
    let (done, failed) = seen
        .series
        .iter()
        .fold((0, 0), |(done, failed), slice| (done + slice.tally.operations(), failed + slice.tally.errors()));
    let share = failed as f64 / (done + failed).max(1) as f64;
    if share > FEW_CONFLICTS {
        findings.push(Finding::Conflicts { count: failed, share });
    }
    findings
}

/// Share of the blocks that the database asked the operating system for and that did not come from storage.
fn answered_above(seen: &CrowdSeen, about: &DatabaseAbout) -> Option<f64> {
    if about.direct == Some(true) {
        return None;
    }
    seen.counted.reads.filter(|reads| *reads >= FEW_READS)?;
    seen.storage.page_cache_share(&seen.counted, about.block)
}
