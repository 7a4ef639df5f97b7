//! The verdict about measured rates that are below the demand.

use plimsoll_choose::diagnosis::{CensorCause, Censored, DiagnosisVerdict, SaturationBasis};
use plimsoll_ingest::{CapOwner, Measure};
use plimsoll_language::{label, say};

use super::{VerdictText, seconds, share};
use crate::number;
use crate::words::limits;

pub(super) fn verdict_text(verdict: &DiagnosisVerdict) -> Option<VerdictText> {
    let (text, advice) = match verdict {
        DiagnosisVerdict::Censored(censored) => {
            (say!("{}. {}.", reason(censored), without(censored)), remedy(censored))
        }
        DiagnosisVerdict::ProviderStall(cap) => (
            say!("{}.", limits::sentence(cap)),
            label!("This is a fault of the storage and not a limit: report the volume and the times to the provider."),
        ),
        _ => return None,
    };
    Some(VerdictText { kind: label!("answer"), text, remedy: advice.to_owned() })
}

/// `The measured rate is what a stall lets through: ..`, without a full stop.
pub(crate) fn reason(censored: &Censored) -> String {
    match &censored.cause {
        CensorCause::LogBehindLocks { active, locks, write_s, grant_s } => {
            let sustained = match grant_s {
                Some(grant_s) if write_s < grant_s => say!(
                    "a lock is granted every {} and a log write takes {}, {} of that",
                    seconds(*grant_s),
                    seconds(*write_s),
                    share(write_s / grant_s)
                ),
                _ => say!("locks are held during log writes of {}", seconds(*write_s)),
            };
            say!(
                "The measured rate is what a stall lets through: {} active sessions wait for locks in {} of their time, and {sustained}",
                number::three(*active),
                share(*locks)
            )
        }
        CensorCause::Metric { limits: caps, latency_s } => {
            let mut sentences: Vec<String> = caps.iter().map(limits::sentence).collect();
            if let Some(first) = sentences.first_mut().filter(|_| censored.limit_owner() == Some(CapOwner::Machine)) {
                first.push_str(label!(", which a faster volume does not raise"));
            }
            let all = sentences.join(label!("; ")).replace("; The ", "; the ");
            say!("{all}{}; the measured rate is what the limit lets through", longer(*latency_s))
        }
        CensorCause::Pinned { measure, value, windows: [at, of], latency_s } => {
            let rate = format_rate(*measure, *value);
            say!(
                "The measured rate is what a limit lets through: it stays at {rate} in {at} of {of} windows with I/O{}",
                longer(*latency_s)
            )
        }
        CensorCause::Saturated { measure, value, windows, in_flight, latency_s, basis } => {
            saturated((*measure, *value), *windows, [*in_flight, *latency_s], *basis)
        }
        CensorCause::ClosedLoad { in_flight, latency_s: [fastest, mean] } => say!(
            "The measured rate is what slow answers let through: about {} operations are in flight at any rate, and take {} \
             on average, {} in the fastest windows",
            number::three(*in_flight),
            seconds(*mean),
            seconds(*fastest)
        ),
        CensorCause::ProcessorCap { share: of_time, processors: [used, _], limit } => {
            let limit = limit.map_or_else(String::new, |limit| say!(", of {} that it allows", number::three(limit)));
            say!(
                "The measured rate is what a cap lets through: sessions wait for the resource manager in {} of their time, and run \
                 on {} processors{limit}",
                share(*of_time),
                number::three(*used)
            )
        }
        CensorCause::ClosedReads { active, share: of_time, latency_s, counted } => {
            closed_reads(*active, *of_time, *latency_s, *counted)
        }
    }
}

/// A rate that stays the same in all windows, with the operations in flight and their seconds.
fn saturated(
    (measure, value): (Measure, f64),
    windows: usize,
    [in_flight, latency_s]: [f64; 2],
    basis: SaturationBasis,
) -> String {
    match basis {
        SaturationBasis::Queue => say!(
            "The measured rate is what a limit lets through: it stays at {} in all {windows} windows with I/O, while {} \
             operations are in flight and take {}",
            format_rate(measure, value),
            number::three(in_flight),
            seconds(latency_s)
        ),
        SaturationBasis::UsualLimit => say!(
            "The measured rate may be what a limit lets through: it stays at {}, a usual limit, in all {windows} windows with I/O, \
             while {} operations are in flight and take {}; a constant load of the application looks the same",
            format_rate(measure, value),
            number::three(in_flight),
            seconds(latency_s)
        ),
    }
}

/// `3,000 IOPS`, `125 MB/s`
fn format_rate(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Throughput => number::throughput(value),
        _ => format!("{} IOPS", number::rate(value)),
    }
}

/// Sessions that wait for reads nearly all the time; `counted` has the share and the mean of the counted waits.
fn closed_reads(active: f64, of_time: f64, latency_s: f64, counted: Option<[f64; 2]>) -> String {
    let (active, latency, of_time) = (number::three(active), seconds(latency_s), share(of_time));
    let reads = match counted {
        Some([of_waits, mean_s]) => {
            let of_waits = share(of_waits);
            say!(
                "{active} active sessions wait for reads in {of_waits} to {of_time} of their time: counted waits of {} in {of_waits}, \
                 and up to {latency} with the time in no counter, while the processors are idle",
                seconds(mean_s)
            )
        }
        None => say!("{active} active sessions wait for reads of {latency} in {of_time} of their time"),
    };
    say!("The measured rate is what slow reads let through: {reads}")
}

/// `, where operations take 40 ms instead of 2 ms`.
fn longer(latency_s: Option<[f64; 2]>) -> String {
    let text = |[free, at]: [f64; 2]| say!(", where operations take {} instead of {}", seconds(at), seconds(free));
    latency_s.map_or_else(String::new, text)
}

/// The estimated rate without the stall, without a full stop.
fn without(censored: &Censored) -> String {
    censored.up_to.map_or_else(
        || label!("How much higher the demand is does not follow from the input").to_owned(),
        |times| say!("Without that the rate can be up to {} times as high", number::three(times)),
    )
}

fn remedy(censored: &Censored) -> &'static str {
    if let Some(owner) = censored.limit_owner() {
        return limits::remedy(owner);
    }
    if censored.is_possible_only() {
        return label!(
            "Compare it with the limits of the volume and the machine (--on CONFIG); at one of them, raise it, then measure again."
        );
    }
    match censored.cause {
        CensorCause::LogBehindLocks { .. } => {
            label!("Speed up log writes, then measure again: until then this load is only the lower end of a range.")
        }
        CensorCause::Metric { .. } | CensorCause::Pinned { .. } | CensorCause::Saturated { .. } => {
            label!("Raise the limit, then measure again: until then this load is only the lower end of a range.")
        }
        CensorCause::ProcessorCap { .. } => {
            label!(
                "Raise the limit of the resource plan, or tune the statements; until then this load is only the lower end of a range."
            )
        }
        CensorCause::ClosedLoad { .. } | CensorCause::ClosedReads { .. } => {
            label!(
                "If these sessions pause between requests, the load is the measured one; otherwise it is only the lower end of a range."
            )
        }
    }
}
