//! Differences between measurement and theory, and their likely causes, as sentences.

use plimsoll_choose::{AboveCeiling, CachedOperations, Cause, ConfusedUnits};
use plimsoll_language::{label, say};
use plimsoll_load::Pace;
use plimsoll_units::Bytes;

use super::{clean, product_text};
use crate::number;

pub(crate) fn difference(cause: &Cause) -> String {
    match cause {
        Cause::Finding { finding } => finding.text(),
        Cause::BufferedIo { above: None, .. } => label!("it was measured through the page cache").into(),
        Cause::BufferedIo { above: Some(above), .. } => {
            let (measured, allowed) = (number::integer(above.measured_iops), number::integer(above.allowed_iops));
            say!(
                "it was measured through the page cache: {measured} IOPS, and {} allows {allowed}",
                product_text(&above.ceiling)
            )
        }
        Cause::AboveCeiling { measured_iops, ceiling, allowed_iops, .. } => {
            let (measured, allowed) = (number::integer(*measured_iops), number::integer(*allowed_iops));
            say!("{measured} IOPS were measured, and {} allows {allowed}", product_text(ceiling))
        }
        Cause::OtherOption { measured_iops, .. } => {
            say!("at most {} IOPS were measured", number::integer(*measured_iops))
        }
        Cause::OfferedRate { measured_iops, offered_iops } => {
            let (measured, offered) = (number::integer(*measured_iops), number::integer(*offered_iops));
            say!("{measured} IOPS were measured, and {offered} were offered")
        }
        Cause::ShortQueue { ceiling, allowed_iops, depth, theory_iops } => {
            let (allowed, theory) = (number::integer(*allowed_iops), number::integer(*theory_iops));
            say!("{} allows {allowed} IOPS, and depth {depth} gives {theory} in theory", product_text(ceiling))
        }
        Cause::Units { factor, .. } => say!("all saturated loads differ by the factor {factor:.3}"),
        Cause::FirstDepth { measured_mean_ns, theory_mean_ns } => {
            let (measured, theory) = (number::integer(measured_mean_ns / 1e3), number::integer(theory_mean_ns / 1e3));
            say!("one operation at a time takes {measured} us, and {theory} us in theory")
        }
        Cause::CreditsUsedUp { credits, credit_bytes, lasting_iops, ended_s, burst_iops, .. } => {
            let (full, lasting) = (full_credits(*credits, *credit_bytes), number::integer(*lasting_iops));
            match ended_s.zip(*burst_iops) {
                Some((seconds, iops)) => {
                    let (seconds, iops) = (number::integer(seconds), number::integer(iops));
                    say!(
                        "burst credits are used up ({full}, at {iops} IOPS after {seconds} s): {lasting} IOPS from then on"
                    )
                }
                None => say!(
                    "{lasting} IOPS is the limit without burst credits ({full} when full): they seem to have been used up \
                     before"
                ),
            }
        }
        Cause::CreditsEnded => {
            label!("burst credits ended within the measured time of a run: its figures mix the times before and after")
                .into()
        }
    }
}

/// The likely cause of a difference, with the remedy.
pub(crate) fn cause(cause: &Cause) -> String {
    match cause {
        Cause::Finding { finding } => finding.remedy().into(),
        Cause::BufferedIo { operations, .. } => cached_operations(*operations).to_owned(),
        Cause::AboveCeiling { reason, burst_s, .. } => above_ceiling(*reason, *burst_s),
        Cause::OtherOption { configuration, allowed_iops, .. } => {
            say!("that is what {} gives ({} IOPS)", clean(configuration), number::integer(*allowed_iops))
        }
        Cause::OfferedRate { .. } => label!(
            "the rate of the generator (--rate, or rate and rate_iops of fio): the storage completed all of it, and its \
             maximum is not known"
        )
        .into(),
        Cause::ShortQueue { .. } => {
            label!("the queue is too short: throughput is depth over latency until a limit binds (Little's law)").into()
        }
        Cause::Units { factor, units } => {
            let percent = ((factor.max(1.0 / factor) - 1.0) * 1000.0).round() / 10.0;
            match units {
                ConfusedUnits::Kilo => say!("units: kB and KiB are {percent} % apart"),
                ConfusedUnits::Mega => say!("units: MB and MiB (or KiB twice) are {percent} % apart"),
                ConfusedUnits::Giga => say!("units: GB and GiB are {percent} % apart"),
            }
        }
        Cause::FirstDepth { measured_mean_ns, theory_mean_ns } if measured_mean_ns > theory_mean_ns => say!(
            "another layer adds {} us to each operation: the host, a filesystem, a network, encryption",
            number::integer((measured_mean_ns - theory_mean_ns) / 1e3)
        ),
        Cause::FirstDepth { .. } => label!("a nearer layer answers: a cache, or faster media than the model's").into(),
        Cause::CreditsUsedUp { offered, theory_iops, theory_mean_ns, .. } => {
            without_credits(*offered, *theory_iops, *theory_mean_ns)
        }
        Cause::CreditsEnded => label!("measure for longer than the credits last: --duration").into(),
    }
}

/// What memory does with the operations of a buffered load.
fn cached_operations(operations: CachedOperations) -> &'static str {
    match operations {
        CachedOperations::Reads => {
            label!("memory answers cached reads: use direct I/O, or read more than fits in memory")
        }
        CachedOperations::Writes => label!(
            "memory accepts writes until it is full: use direct I/O, or write more than fits in memory and end with a flush"
        ),
        CachedOperations::All => label!(
            "memory answers cached reads, and writes until it is full: use direct I/O, or exceed the size of memory and end \
             with a flush"
        ),
    }
}

fn above_ceiling(reason: AboveCeiling, burst_s: Option<f64>) -> String {
    match (reason, burst_s) {
        (AboveCeiling::Burst, Some(seconds)) => {
            say!("burst credits: at the peak, full credits last {seconds:.0} s: measure longer")
        }
        (AboveCeiling::Burst | AboveCeiling::OtherLayer, _) => label!(
            "the configuration differs, or a layer in between answers: a cache of the host or of the controller, or data \
             that compresses away"
        )
        .into(),
    }
}

/// Theory for a load without credits.
fn without_credits(offered: Pace, iops: f64, mean_ns: f64) -> String {
    let (rate, mean) = (number::integer(iops), number::three(mean_ns / 1e6));
    match offered {
        Pace::Closed { depth } => {
            say!("theory for a run without credits: {rate} IOPS, {mean} ms at depth {depth}")
        }
        Pace::Open { rate: arrivals, .. } if arrivals.as_f64() > iops * 1.04 => say!(
            "theory for a run without credits: {rate} IOPS, and a queue that grows: {} arrive",
            number::integer(arrivals.as_f64())
        ),
        Pace::Open { .. } => say!("theory for a run without credits: {rate} IOPS, {mean} ms"),
    }
}

/// Full credits: `5.4 M credits`, `1.5 TiB of credits`.
fn full_credits(credits: Option<f64>, bytes: Option<f64>) -> String {
    match (credits, bytes) {
        (Some(credits), _) if credits >= 1e6 => say!("{} M credits", number::three(credits / 1e6)),
        (Some(credits), _) => say!("{} credits", number::integer(credits)),
        (None, Some(bytes)) => say!("{} of credits", Bytes::new(bytes.round() as u64)),
        (None, None) => label!("its credits").into(),
    }
}
