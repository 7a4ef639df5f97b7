//! Verdicts on short transactions: supported rate, binding limit, and consistency of the data.

use plimsoll_database::System;
use plimsoll_record::{OltpVerdict, SessionVerdict, Verdict};

use super::{Oltp, OltpPoint, Script};
use crate::ground::Facts;
use crate::recipe::{CompletedStep, Recipe};
use crate::recipes::evidence::binding_limit;

/// Maximum share of the host's processors for this program, above which it is part of the measured load.
const MAX_CLIENT_SHARE: f64 = 0.1;

/// The point with the highest throughput; of equal points the first, which has the lightest closed load.
pub(super) fn maximum<'a, 'b>(points: &'a [OltpPoint<'b>]) -> Option<&'a OltpPoint<'b>> {
    points.iter().rev().max_by(|a, b| a.run.figures.iops.value.total_cmp(&b.run.figures.iops.value))
}

pub(super) fn verdicts(oltp: &Oltp, done: &[CompletedStep], facts: &Facts) -> Vec<Verdict> {
    let measured = Oltp::measured(done);
    let mut found: Vec<Verdict> = Vec::new();
    if let Some(best) = maximum(&measured) {
        let judged = oltp.database_result(done, facts);
        let (per_second, offered) = (best.run.figures.iops.value, best.step.pace);
        found.push(OltpVerdict::MaximumTransactions { per_second, offered }.into());
        found.extend(judged.knee.map(|knee| OltpVerdict::Knee { knee }.into()));
        let line = |line| SessionVerdict::LoadLine { update_pct: None, line, blocks_per_second: None }.into();
        found.extend(judged.load_line.map(line));
        found.push(binding_limit(offered, best.observed).into());
        found.extend(clients(best, facts).map(Verdict::from));
    }
    found.push(agreement(oltp, done).into());
    if oltp.options.script == Script::NewOrder {
        found.push(OltpVerdict::TpcCLike { rolled_back: oltp.ledger.undone() }.into());
    }
    found
}

/// Share of the host's processors used by this program. For `SQLite` this includes the database.
fn clients(best: &OltpPoint<'_>, facts: &Facts) -> Option<OltpVerdict> {
    if facts.database.as_ref().is_some_and(|(system, _)| *system == System::Sqlite) {
        return None;
    }
    let (host, cpu) = best.observed.storage.host.zip(best.observed.client)?;
    let share = cpu.total().as_secs_f64() / host.total().as_secs_f64().max(1e-9);
    Some(OltpVerdict::Clients { share, excessive: share > MAX_CLIENT_SHARE })
}

fn agreement(oltp: &Oltp, done: &[CompletedStep]) -> OltpVerdict {
    let tables = oltp.load_errors(done);
    if !tables.is_empty() {
        return OltpVerdict::TablesNotLoaded { tables };
    }
    let script = oltp.options.script.name().to_owned();
    match oltp.inconsistencies(done) {
        None => OltpVerdict::ConsistencyUnchecked { script },
        Some(inconsistencies) if inconsistencies.is_empty() => OltpVerdict::Consistent { script },
        Some(inconsistencies) => OltpVerdict::InconsistentData { inconsistencies },
    }
}
