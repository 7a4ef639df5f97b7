//! The text of a sizing without a configuration that carries the demand, and its remedies.

use plimsoll_choose::sizing::{Best, RejectionReason, Sizing, StepKind};
use plimsoll_language::{label, say};

use crate::words::offer;

/// The reason why a sizing has no choice, with the options that may give one.
pub fn uncarried(sizing: &Sizing) -> String {
    if !sizing.slower.is_empty() {
        label!("configurations that carry the demand are slower than the present storage: use --slower or --may-be-slower to accept them, or widen --provider").to_owned()
    } else if sizing.evaluated == 0 {
        label!("no configuration is eligible: widen --provider; --unsupported includes platforms that the database's vendor does not support").to_owned()
    } else {
        say!("no configuration carries the demand: {}", list_remedies(sizing).join(label!(", or ")))
    }
}

/// The recommendation is slower than today, as the configurations that are not have no complete price.
pub fn slower_than_unpriced(sizing: &Sizing) -> Option<String> {
    let is_slower = matches!(sizing.best(), Some(Best::Slower(_)));
    let first = sizing.choices.first().filter(|_| is_slower)?;
    let name = offer::configuration(&first.offer);
    Some(say!(
        "the recommended configuration is slower than the present storage, and those that are not, such as {name}, have no \
         complete price: state it with --price"
    ))
}

/// Options with which a configuration may carry the demand.
fn list_remedies(sizing: &Sizing) -> Vec<&'static str> {
    let required = &sizing.required;
    // Of the load with its headroom.
    let share = sizing.nearest_rejection().map_or(0.0, |rejection| rejection.reason.share());
    let has_peaks = required.steps.iter().any(|step| matches!(step.kind, StepKind::Peaks(_)) && step.small > 1.0);
    let remedies = [
        (true, label!("widen --provider")),
        (sizing.rejected.iter().any(|one| matches!(one.reason, RejectionReason::Ceiling(_))), label!("raise --stripe")),
        (!sizing.nearly.is_empty(), label!("relax --objective")),
        (share * required.room() >= 1.0, label!("lower --headroom")),
        (required.measured.windows > 1, label!("use --percentile if the highest windows may wait")),
        (has_peaks, label!("use --burst none if the load is constant")),
    ];
    remedies.into_iter().filter(|(is_possible, _)| *is_possible).map(|(_, remedy)| remedy).collect()
}
