//! The answer to whether storage is the problem, as a headline.

use plimsoll_choose::diagnosis::{BusyBasis, CensorCause, Censored, Diagnosis, DiagnosisVerdict, HostLimit};
use plimsoll_language::{label, say};

use super::share;
use crate::number;

/// The answer of a diagnosis; `None` without a verdict.
pub(crate) fn headline(found: &Diagnosis) -> Option<String> {
    let answer = found.verdicts.iter().find_map(|verdict| answer_of(verdict, found));
    let is_unknown = found.verdicts.iter().any(|verdict| matches!(verdict, DiagnosisVerdict::NoSessionTimes { .. }));
    let is_stalled = found.verdicts.iter().any(|verdict| matches!(verdict, DiagnosisVerdict::Stalled { .. }));
    let is_always =
        |verdict: &DiagnosisVerdict| matches!(verdict, DiagnosisVerdict::Stalled { windows, of, .. } if windows == of);
    match found.verdicts.first()? {
        DiagnosisVerdict::NoSessionTimes { .. } if found.verdicts.iter().any(is_always) => {
            Some(label!("Storage is the problem: it does not respond").to_owned())
        }
        DiagnosisVerdict::NoSessionTimes { .. } if is_stalled => {
            Some(label!("Storage is the problem at times: it does not respond").to_owned())
        }
        DiagnosisVerdict::ProviderStall(cap) if cap.is_always() => {
            Some(label!("Storage is the problem: the volume did not respond").to_owned())
        }
        DiagnosisVerdict::ProviderStall(_) => {
            Some(label!("Storage is the problem at times: the volume did not respond").to_owned())
        }
        DiagnosisVerdict::Censored(censored) => {
            let answer = answer.filter(|_| !is_unknown).or_else(|| answer_of_cause(censored).map(str::to_owned));
            Some(with_cause(censored, &answer?))
        }
        DiagnosisVerdict::ProcessorsFull { busy, .. } => {
            let storage = found.split.as_ref().map_or(0.0, plimsoll_choose::diagnosis::Split::storage);
            let busy = number::percent((busy * 100.0).round() / 100.0);
            Some(say!("Processors are the first problem (busy {busy}); storage is {} of database time", share(storage)))
        }
        _ => answer,
    }
}

/// The answer with the reason why the measured load is below the demand.
fn with_cause(censored: &Censored, answer: &str) -> String {
    match &censored.cause {
        CensorCause::ClosedReads { share: of_time, counted, .. } => {
            let of = match counted {
                Some([counted, _]) => {
                    say!("{} of database time as counted, up to {}", share(*counted), share(*of_time))
                }
                None => say!("{} of database time", share(*of_time)),
            };
            say!("Storage is the problem ({of}), and the measured load is below the demand")
        }
        CensorCause::ProcessorCap { .. } => {
            say!("{answer}; a cap of the processors keeps the load below the demand")
        }
        CensorCause::Saturated { .. } if censored.is_possible_only() => {
            say!("{answer}; a limit may keep the load below the demand")
        }
        CensorCause::Metric { .. } | CensorCause::Pinned { .. } | CensorCause::Saturated { .. } => {
            say!("{answer}; a limit keeps the load below the demand")
        }
        CensorCause::LogBehindLocks { .. } | CensorCause::ClosedLoad { .. } => {
            say!("{answer}; the measured load is below the demand")
        }
    }
}

/// The answer by the cause alone, without the time of sessions.
fn answer_of_cause(censored: &Censored) -> Option<&'static str> {
    match censored.cause {
        CensorCause::Metric { .. } => Some(label!("Storage is the problem")),
        CensorCause::Pinned { .. } | CensorCause::Saturated { .. } | CensorCause::ClosedLoad { .. } => {
            Some(label!("Storage may be the problem"))
        }
        _ => None,
    }
}

/// The answer of a verdict, if it is about whether storage is the problem.
fn answer_of(verdict: &DiagnosisVerdict, found: &Diagnosis) -> Option<String> {
    let with_time = |part: f64| say!("{} of database time{}", share(part), when_busy(found));
    let with_share = |text: &str, part: f64| format!("{text} ({})", with_time(part));
    let active = found.split.as_ref().map_or(0.0, |split| split.active);
    Some(match verdict {
        DiagnosisVerdict::Storage { share: part, .. } | DiagnosisVerdict::StorageInPart { share: part, .. }
            if found.is_light() =>
        {
            let active = number::three(active);
            say!("Storage is no problem at this light load ({} of {active} active sessions)", share(*part))
        }
        DiagnosisVerdict::Storage { share: part, .. } if found.is_storage_fast() => {
            let of = with_time(*part);
            say!("Storage is {of}, although it is fast: the number of operations is the problem")
        }
        DiagnosisVerdict::StorageInPart { share: part, .. } if found.is_storage_fast() => {
            say!("Storage is {}, and fast", with_time(*part))
        }
        DiagnosisVerdict::Storage { share: part, .. } => with_share(label!("Storage is the problem"), *part),
        DiagnosisVerdict::StorageInPart { share: part, .. } => {
            with_share(label!("Storage is part of the problem"), *part)
        }
        DiagnosisVerdict::NotStorage { share: part, .. } => with_share(label!("Storage is not the problem"), *part),
        DiagnosisVerdict::LogBehindLocks { share: part, sustained, .. } => {
            let [low, high] = [*part, part + sustained].map(share);
            say!("Storage may be the problem: slow log writes behind locks ({low} to {high} of database time)")
        }
        DiagnosisVerdict::StorageAtLeast { share: part, unaccounted, .. } => {
            let [part, rest] = [*part, *unaccounted].map(share);
            say!("Cannot tell whether storage is the problem: {part} of database time, {rest} in no counter")
        }
        DiagnosisVerdict::NoSessionTimes { .. } if let Some(devices) = found.unlimited_devices() => {
            let highest = share(devices.busy[1]);
            say!("Storage is not at its limit (devices busy at most {highest}); no input has wait events")
        }
        DiagnosisVerdict::NoSessionTimes { .. } => {
            label!("Cannot tell whether storage is the problem: no input has wait events").to_owned()
        }
        DiagnosisVerdict::WaitsExceedTime { .. } => {
            label!("Cannot tell whether storage is the problem: waits are longer than the database time").to_owned()
        }
        DiagnosisVerdict::Host { limit: HostLimit::Processors | HostLimit::Neither, .. } => {
            label!("Storage is not the problem").to_owned()
        }
        DiagnosisVerdict::Host { limit: HostLimit::FastStorage, .. } => {
            label!("Programs wait for storage, although it is fast: the number of operations is the problem").to_owned()
        }
        DiagnosisVerdict::Host { .. } => label!("Storage is the problem: programs wait for it").to_owned(),
        DiagnosisVerdict::Quiet { active } => {
            let active = number::three(*active);
            say!("Storage is no problem: the database is nearly idle ({active} active sessions)")
        }
        DiagnosisVerdict::BelowResolution { active_max } => {
            let active = number::three(*active_max);
            say!("Storage is no problem: the database is nearly idle (at most {active} active sessions)")
        }
        _ => return None,
    })
}

/// `, 55 % in busy hours`, if that differs.
fn when_busy(found: &Diagnosis) -> String {
    /// Smaller differences do not change the answer.
    const MIN_DIFFERENCE: f64 = 0.05;
    match found.busy.as_ref().map(|busy| (busy.basis, busy.mean_storage)) {
        Some((BusyBasis::Windows { storage, .. }, mean)) if (storage - mean).abs() >= MIN_DIFFERENCE => {
            say!(", {} in busy hours", share(storage))
        }
        _ => String::new(),
    }
}
