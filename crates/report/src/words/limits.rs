//! Limits of volumes and machines by their provider's metrics, as text.

use plimsoll_ingest::{Cap, CapBasis, CapKind, CapOwner};
use plimsoll_language::{label, say};
use plimsoll_units::Span;

use super::clean;
use super::sizing::length;
use crate::number;

/// `The volume vol-01 was above its IOPS limit in 38 of 60 minutes, according to EBS (VolumeIOPSExceededCheck)`
pub(crate) fn sentence(cap: &Cap) -> String {
    let event = match (cap.limit.basis, kind(cap.limit.kind)) {
        (CapBasis::Exceeded, "") => label!("had operations delayed by its limit").to_owned(),
        (CapBasis::Exceeded, kind) => say!("was above its {kind} limit"),
        (CapBasis::Share, "") => label!("used at least 95 % of its limit").to_owned(),
        (CapBasis::Share, kind) => say!("used at least 95 % of its {kind} limit"),
        (CapBasis::Credits, "") => label!("had no burst credits left").to_owned(),
        (CapBasis::Credits, kind) => say!("had no burst credits for {kind} left"),
        (CapBasis::Stalled, _) if cap.is_always() => label!("completed no operations").to_owned(),
        (CapBasis::Stalled, _) => label!("completed no operations at times,").to_owned(),
    };
    let metric = cap.metric.strip_prefix(&cap.part).unwrap_or(&cap.metric);
    say!("{} {event} {}, according to {} ({})", subject(cap), often(cap), cap.limit.provider, clean(metric.trim()))
}

fn kind(kind: CapKind) -> &'static str {
    match kind {
        CapKind::Operations => "IOPS",
        CapKind::Bytes => label!("throughput"),
        CapKind::Either => "",
    }
}

/// The owner of a limit with its name.
fn subject(cap: &Cap) -> String {
    let part = clean(&cap.part);
    // A claim of Kubernetes is `namespace/name`.
    let is_volume = part.starts_with("vol") || part.contains('/');
    match cap.limit.owner {
        CapOwner::Machine if is_volume => say!("The machine of {part}"),
        CapOwner::Machine => say!("The machine {part}").trim_end().to_owned(),
        CapOwner::Volume => say!("The volume {part}").trim_end().to_owned(),
        CapOwner::Unknown => say!("The storage {part}").trim_end().to_owned(),
    }
}

/// `in 38 of 60 minutes`, `in all 60 minutes`, `for 21 s of 30 s`
fn often(cap: &Cap) -> String {
    if let Some([above, all]) = cap.time {
        return say!("for {} of {}", length(above.as_secs_f64()), length(all.as_secs_f64()));
    }
    let (at, of) = (number::integer(cap.points as f64), number::integer(cap.of as f64));
    if cap.is_always() && cap.of > 1 {
        return match cap.each.map(Span::as_secs_f64) {
            Some(each) if (each - 60.0).abs() < 0.5 => say!("in all {of} minutes"),
            Some(each) => say!("in all {of} windows of {}", length(each)),
            None => say!("in all {of} points"),
        };
    }
    match cap.each.map(Span::as_secs_f64) {
        Some(each) if (each - 60.0).abs() < 0.5 => say!("in {at} of {of} minutes"),
        Some(each) => say!("in {at} of {of} windows of {}", length(each)),
        None => say!("in {at} of {of} points"),
    }
}

/// Whether a faster volume raises the limit, as a sentence with its remedy.
pub(crate) fn remedy(owner: CapOwner) -> &'static str {
    match owner {
        CapOwner::Volume => {
            label!(
                "Raise the volume's limit, then measure again: until then this load is only the lower end of a range."
            )
        }
        CapOwner::Machine => {
            label!(
                "A faster volume does not help, as the limit is the machine's: choose a machine with a higher limit, then \
             measure again: until then this load is only the lower end of a range."
            )
        }
        CapOwner::Unknown => {
            label!(
                "Raise the limit, which may be the volume's or the machine's, then measure again: until then this load is only \
             the lower end of a range."
            )
        }
    }
}

/// Identifier of an owner for programs.
pub(crate) const fn owner_id(owner: CapOwner) -> &'static str {
    match owner {
        CapOwner::Volume => "volume",
        CapOwner::Machine => "machine",
        CapOwner::Unknown => "unknown",
    }
}

/// Identifier of a quantity for programs.
pub(crate) const fn kind_id(kind: CapKind) -> &'static str {
    match kind {
        CapKind::Operations => "iops",
        CapKind::Bytes => "throughput",
        CapKind::Either => "unknown",
    }
}

/// Identifier of the way of reporting for programs.
pub(crate) const fn basis_id(basis: CapBasis) -> &'static str {
    match basis {
        CapBasis::Exceeded => "exceeded",
        CapBasis::Share => "share",
        CapBasis::Credits => "credits",
        CapBasis::Stalled => "stalled",
    }
}
