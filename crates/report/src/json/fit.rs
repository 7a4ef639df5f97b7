//! A fitted model.

use plimsoll_analyse::{Alternative, Fitted, Misfit, Parameter};
use serde_json::{Value, json};

use super::number;

pub(super) fn fit(fitted: &Fitted) -> Value {
    json!({
        "format": "plimsoll.fit/1",
        "model": fitted.spec.to_string(),
        "parameters": fitted.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "error": misfit(fitted.error),
        "held_out_error": fitted.held_out.map(misfit),
        "alternatives": fitted.alternatives.iter().map(alternative).collect::<Vec<_>>(),
        "rival": fitted.rival.as_ref().map(alternative),
        "doubts": fitted.doubts,
    })
}

fn misfit(misfit: Misfit) -> Value {
    json!({ "mean_share": number(misfit.mean), "worst_share": number(misfit.worst) })
}

fn parameter(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "value": number(parameter.value),
        "unit": parameter.unit,
        "interval": parameter.interval.map(|(low, high)| [number(low), number(high)]),
        "identified": parameter.identified,
        "identified_by": parameter.identified_by,
    })
}

fn alternative(other: &Alternative) -> Value {
    json!({
        "shape": other.shape,
        "model": other.spec.to_string(),
        "error": misfit(other.error),
        "held_out_error": other.held_out.map(misfit),
    })
}
