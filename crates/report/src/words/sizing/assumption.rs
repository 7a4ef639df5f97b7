//! Assumptions of a sizing, and the origins of its factors.

use plimsoll_choose::sizing::{Assumption, LoadAssumption, PeakSource, StepKind};
use plimsoll_language::{label, say};

pub(crate) fn assumption(own: &Assumption) -> String {
    match own {
        Assumption::Load(load) => load_assumption(*load).to_owned(),
        Assumption::UncountedOperations(class) => say!(
            "the input counts no {}: 8 KiB are assumed for each where the bytes are known, and none elsewhere",
            class.label()
        ),
        Assumption::LogWritesOnly => {
            label!("the input counts no writes but those of the log: the choice covers no others").to_owned()
        }
        Assumption::UncountedObjective { objective, class, evaluated_on: Some(other) } => {
            say!("the input does not count {}: \"{objective}\" is evaluated on {}", class.label(), other.label())
        }
        Assumption::UncountedObjective { objective, class, evaluated_on: None } => {
            say!("the input has no {}: \"{objective}\" is not evaluated", class.label())
        }
        Assumption::AnsweredByCache { class, mean, windows: [cached, all], .. } if cached < all => say!(
            "{} took {mean} in {cached} of {all} windows, which no storage does: a cache in memory answered some of them, \
             so storage carries fewer than these windows count; compare with iostat of the same time",
            class.label()
        ),
        Assumption::AnsweredByCache { class, mean, .. } => say!(
            "{} took {mean} today, which no storage does: a cache in memory answered them, so choices are not compared \
             with it; keep that memory",
            class.label()
        ),
        Assumption::DefaultObjective { class, objective, today } => {
            let name = class.label();
            let condition = match today {
                None => say!("the input has no response times of {name}:"),
                Some(mean) => say!("{name} took {mean} on average today: in peaks"),
            };
            say!("{condition} \"{objective}\" is required, or another objective with -o")
        }
        Assumption::PossibleCores(processors) => say!(
            "the host has {processors} cores and as many processors, which count as vCPUs: if they are whole cores \
             without hyper-threading, each does the work of up to two vCPUs; state --vcpus then"
        ),
        Assumption::StoredBytes(stored) => {
            say!("the database occupies {stored}, according to its report: --capacity overrides it")
        }
        Assumption::ClaimCapacity(capacity) => {
            say!(
                "the capacity is that of the volume claim, {capacity} with its free space: --capacity and --free override it"
            )
        }
    }
}

fn load_assumption(load: LoadAssumption) -> &'static str {
    match load {
        LoadAssumption::SplitByBytes => {
            label!("the input counts reads and writes together: they are split in proportion to their bytes")
        }
        LoadAssumption::ReadShare => {
            label!("the input does not separate reads and writes: 70 % are assumed to be reads")
        }
        LoadAssumption::Sizes => {
            label!(
                "the input lacks the size of some operations: 8 KiB are assumed, 128 KiB for scans and sorts, 4 KiB for the log"
            )
        }
        LoadAssumption::FewSizes => {
            label!(
                "the input lacks the size of less than 1 % of the operations: 8 KiB are assumed, 128 KiB for scans and sorts, 4 KiB for \
             the log"
            )
        }
    }
}

/// Name of a step from the measured to the expected load.
pub(crate) fn step_name(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Peaks(_) => label!("peaks within windows"),
        StepKind::WithoutStall { .. } => label!("without the stall"),
        StepKind::Growth(_) => label!("growth"),
    }
}

/// Origin of the factor of a step.
pub(crate) fn step_source(kind: StepKind) -> String {
    match kind {
        StepKind::Peaks(source) => peak_source(source),
        StepKind::WithoutStall { is_estimated } => {
            let origin = if is_estimated {
                label!("estimated for the rate without it, at most")
            } else {
                label!("an assumption, as the input does not determine the rate without it")
            };
            say!("the measured rate is what a stall or a limit lets through; {origin}")
        }
        StepKind::Growth(growth) => say!(
            "{} % a year for {} months, compounded; the capacity and the processors grow as well",
            (growth.yearly * 1e4).round() / 100.0,
            growth.months
        ),
    }
}

fn peak_source(source: PeakSource) -> String {
    let databases =
        label!("one-minute maxima over averages of three Oracle databases with snapshots of 30 and 60 min, the median");
    match source {
        PeakSource::Request => label!("as given").to_owned(),
        PeakSource::Input => {
            label!("the input's own maxima over its averages; those of reads and writes are assumed to coincide")
                .to_owned()
        }
        PeakSource::Minute => label!("windows of up to a minute have no relevant hidden peaks").to_owned(),
        PeakSource::Databases => databases.to_owned(),
        PeakSource::ShorterWindows => say!("{databases}, less for shorter windows"),
        PeakSource::BusyPeriods => say!("sessions of the busiest period by ADDM over the mean, times {databases}"),
        PeakSource::LongerWindows => say!(
            "{databases}; for windows beyond an hour, also half hours over the week of 106 disks of virtual machines: \
             provide reports of an hour or less"
        ),
    }
}
