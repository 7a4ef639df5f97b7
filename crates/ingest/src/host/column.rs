//! What columns are called, and what stands in them: the names of sysstat since 2003, as text and as JSON.

use crate::figure::{Class, Measure};

/// A column that speaks of storage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Column {
    pub(super) class: Class,
    pub(super) measure: Measure,
    /// What its number is multiplied by to have base units.
    pub(super) factor: f64,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Known {
    /// A figure.
    Value(Column),
    /// Bytes of a class in all of the window: what is read beside a rate says how long the window was.
    Total(Class, f64),
    /// It is of these tables, and says nothing that others do not say better.
    Beside,
}

const SECTOR: f64 = 512.0;
const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;

/// What a column is. None for names that these tables do not have.
pub(super) fn known(name: &str) -> Option<Known> {
    let value = |class, measure, factor| Some(Known::Value(Column { class, measure, factor }));
    match name {
        "tps" => value(Class::All, Measure::Iops, 1.0),
        "r/s" | "rtps" => value(Class::Read, Measure::Iops, 1.0),
        "w/s" | "wtps" => value(Class::Write, Measure::Iops, 1.0),
        "d/s" | "dtps" => value(Class::Discard, Measure::Iops, 1.0),
        "f/s" => value(Class::Flush, Measure::Iops, 1.0),
        "areq-sz" => value(Class::All, Measure::Size, KIB),
        "avgrq-sz" => value(Class::All, Measure::Size, SECTOR),
        "rareq-sz" => value(Class::Read, Measure::Size, KIB),
        "wareq-sz" => value(Class::Write, Measure::Size, KIB),
        "dareq-sz" => value(Class::Discard, Measure::Size, KIB),
        "await" => value(Class::All, Measure::Latency, 1e-3),
        "r_await" => value(Class::Read, Measure::Latency, 1e-3),
        "w_await" => value(Class::Write, Measure::Latency, 1e-3),
        "d_await" => value(Class::Discard, Measure::Latency, 1e-3),
        "f_await" => value(Class::Flush, Measure::Latency, 1e-3),
        "aqu-sz" | "avgqu-sz" => value(Class::All, Measure::Depth, 1.0),
        "%util" | "util" | "util-percent" => value(Class::All, Measure::Busy, 0.01),
        "svctm" | "rqm/s" | "%rqm" | "rqm" | "rrqm/s" | "wrqm/s" | "drqm/s" | "%rrqm" | "%wrqm" | "%drqm" | "rrqm"
        | "wrqm" | "drqm" => Some(Known::Beside),
        _ => bytes(name),
    }
}

/// Columns of bytes: `rkB/s`, `MB_read/s`, `Blk_wrtn`, `rd_sec/s`, `bread/s`.
fn bytes(name: &str) -> Option<Known> {
    let rate = |class, factor| Some(Known::Value(Column { class, measure: Measure::Throughput, factor }));
    let (stem, is_rate) = name.strip_suffix("/s").map_or((name, false), |stem| (stem, true));
    if let Some((unit, what)) = stem.split_once('_')
        && let Some(factor) = unit_of(unit)
    {
        let class = match what {
            "read" => Class::Read,
            "wrtn" | "w+d" => Class::Write,
            "dscd" => Class::Discard,
            _ => return None,
        };
        return if is_rate { rate(class, factor) } else { Some(Known::Total(class, factor)) };
    }
    match stem {
        "rkB" => rate(Class::Read, KIB),
        "wkB" => rate(Class::Write, KIB),
        "dkB" => rate(Class::Discard, KIB),
        "kB" if is_rate => rate(Class::All, KIB),
        "rMB" => rate(Class::Read, MIB),
        "wMB" => rate(Class::Write, MIB),
        "dMB" => rate(Class::Discard, MIB),
        "MB" if is_rate => rate(Class::All, MIB),
        "rsec" | "rd_sec" | "bread" => rate(Class::Read, SECTOR),
        "wsec" | "wr_sec" | "bwrtn" => rate(Class::Write, SECTOR),
        "dsec" | "dc_sec" | "bdscd" => rate(Class::Discard, SECTOR),
        "sec" if is_rate => rate(Class::All, SECTOR),
        _ => None,
    }
}

fn unit_of(text: &str) -> Option<f64> {
    match text {
        "kB" => Some(KIB),
        "MB" => Some(MIB),
        "Blk" => Some(SECTOR),
        _ => None,
    }
}
