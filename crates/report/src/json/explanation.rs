//! Measured beside theory.

use plimsoll_choose::{Cause, Explanation, Row};
use plimsoll_load::Pace;
use serde_json::{Value, json};

use super::{number, offer};

pub(super) fn explanation(explanation: &Explanation) -> Value {
    let own = json!({
        "format": "plimsoll.explanation/1",
        "loads": explanation.rows.iter().map(row).collect::<Vec<_>>(),
        "causes": explanation.causes.iter().map(cause).collect::<Vec<_>>(),
    });
    let offered = &explanation.offer;
    offer::merged([offer::offer(offered), offer::standing(offered, &explanation.standing), own])
}

fn row(row: &Row) -> Value {
    let offered = match row.offered {
        Pace::Closed { depth } => json!({ "offered_depth": depth }),
        Pace::Open { rate, .. } => json!({ "offered_iops": number(rate.as_f64()) }),
    };
    let own = json!({
        "measured_iops": number(row.iops.0),
        "theory_iops": number(row.iops.1),
        "ratio": number(row.ratio()),
        "measured_mean_ns": number(row.mean_ns.0),
        "theory_mean_ns": number(row.mean_ns.1),
        "measured_p99_ns": number(row.p99_ns.0),
        "theory_p99_ns": number(row.p99_ns.1),
        "theory_binds": row.binds,
    });
    offer::merged([offered, own])
}

fn cause(cause: &Cause) -> Value {
    json!({ "what": cause.what, "why": cause.why })
}
