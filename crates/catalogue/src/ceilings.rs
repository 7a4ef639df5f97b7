//! Ceilings of a configuration, independent of a load.

use std::sync::Arc;

use crate::date::Date;
use crate::expression::Expression;
use crate::offer::Ceiling;
use crate::product::Limit;
use crate::resolve::Resolved;

/// Ceilings of a product whose condition holds and whose figures all have values.
pub(crate) fn ceilings(of: &Resolved, as_of: Date) -> impl Iterator<Item = Ceiling> {
    let valid = of.product.limits.iter().filter(move |limit| limit.validity.holds(as_of));
    valid.filter_map(|limit| ceiling(limit, of))
}

fn ceiling(limit: &Limit, of: &Resolved) -> Option<Ceiling> {
    if limit.when.as_ref().is_some_and(|when| when.truth(&of.values) != Some(true)) {
        return None;
    }
    let positive =
        |expression: &Option<Expression>| expression.as_ref()?.number(&of.values).filter(|value| *value > 0.0);
    let (iops, bytes_per_second) = (positive(&limit.iops), positive(&limit.bytes));
    (iops.is_some() || bytes_per_second.is_some()).then(|| Ceiling {
        name: Arc::clone(&limit.name),
        scope: limit.scope,
        iops,
        bytes_per_second,
        added: limit.added,
        kinds: limit.kinds,
        access: limit.access,
        unit: limit.unit,
        credits: positive(&limit.credits).filter(|_| iops.is_some()),
        credit_bytes: positive(&limit.credit_bytes).filter(|_| bytes_per_second.is_some()),
        burst: limit.burst,
        in_model: limit.in_model,
        lift: limit.lift.clone(),
        cite: Arc::clone(&limit.cite),
    })
}
