//! Reasons why products do not carry a load, as text.

use plimsoll_choose::{NoConfiguration, Unsuitable};
use plimsoll_language::{label, say};

use super::{clean, product_text};
use crate::number;

/// The reason why a product does not carry a load.
pub(crate) fn unsuitable(reason: &Unsuitable) -> String {
    match reason {
        Unsuitable::NoConfiguration(reason) => no_configuration(reason),
        Unsuitable::NoModel(error) => clean(&error.to_string()),
        Unsuitable::Capacity => label!("the load does not fit on it").into(),
        Unsuitable::NoneInScope => label!("no operation in the scope of the objective was completed").into(),
        Unsuitable::Sustains { iops, required } => {
            say!("it sustains {} of {} IOPS (modelled)", number::rate(*iops), number::rate(*required))
        }
        Unsuitable::Completes { iops, required } => {
            say!("it completes {} of {} IOPS (simulated)", number::rate(*iops), number::rate(*required))
        }
        Unsuitable::Latency { measure, reached, bound_by } => {
            say!("{measure} is {reached} at this load (simulated), bound by {}", product_text(bound_by))
        }
    }
}

/// Identifier of a reason for programs.
pub(crate) const fn unsuitable_id(reason: &Unsuitable) -> &'static str {
    match reason {
        Unsuitable::NoConfiguration(NoConfiguration::Capacity(_) | NoConfiguration::Holds(_)) => "capacity",
        Unsuitable::NoConfiguration(NoConfiguration::Ceilings(_)) => "ceilings",
        Unsuitable::NoConfiguration(NoConfiguration::Refused(_)) => "refused",
        Unsuitable::NoModel(_) => "no-model",
        Unsuitable::Capacity => "address-range",
        Unsuitable::NoneInScope => "none-in-scope",
        Unsuitable::Sustains { .. } => "sustains",
        Unsuitable::Completes { .. } => "completes",
        Unsuitable::Latency { .. } => "latency",
    }
}

/// The reason why a product has no configuration for a requirement.
pub(crate) fn no_configuration(reason: &NoConfiguration) -> String {
    match reason {
        NoConfiguration::Capacity(capacity) => say!("it cannot hold {capacity}"),
        NoConfiguration::Holds(capacity) => say!("it holds {capacity}"),
        NoConfiguration::Ceilings(members) => say!("insufficient ceilings, even in a stripe of {members} volumes"),
        NoConfiguration::Refused(refusal) => clean(&refusal.to_string()),
    }
}
