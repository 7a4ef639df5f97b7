//! Sentences and remedies of findings about results of other programs.

use super::Finding;
use plimsoll_language::{label, say};
use plimsoll_units::Grouped;

/// Shares above are shown with a decimal: 99.9 % is not all.
const NEARLY_ALL: f64 = 0.995;

impl Finding {
    /// Sentences about results of other programs.
    pub(super) fn imported_text(&self) -> String {
        match self {
            Self::WritesInMemory { share } => say!(
                "{} of the written bytes had not reached the device when the job ended: memory took them, not the storage",
                share_text(*share)
            ),
            Self::BufferedEngine { engine, depth: Some(depth) } => say!(
                "{engine} was used without direct I/O: its submissions wait, so that a depth of {depth} was not in flight"
            ),
            Self::BufferedEngine { engine, depth: None } => {
                say!("{engine} was used without direct I/O: its submissions wait, so that operations hardly overlapped")
            }
            Self::Assumed { what, value } => say!("{what} is not stated: {value} is assumed"),
            Self::TooShort { seconds } => {
                say!("the run lasted {seconds:.1} s: too short for burst allowances, write caches and warm-up to show")
            }
            Self::DeviceIdle { busy } => say!(
                "the device was busy for {} of the time only: the load mostly did not wait for it",
                share_text(*busy)
            ),
            Self::RateAboveDepth { achieved, allowed } => say!(
                "{achieved} operations a second are more than the {allowed} that depth and mean response time allow",
                achieved = Grouped(*achieved),
                allowed = Grouped(*allowed)
            ),
            Self::NoStorage { target } => {
                say!("{target} transfers no data of storage: the figures do not describe storage")
            }
            Self::Paused { in_flight, depth } => say!(
                "its jobs paused between operations (thinktime), which limited their rate: {in_flight:.2} operations were in \
                 flight on average, not the depth of {depth:.0}"
            ),
            Self::CutShort { short, dropped } => {
                say!(
                    "{short} operations transferred fewer bytes than requested, and {dropped} were dropped",
                    short = Grouped(*short as f64),
                    dropped = Grouped(*dropped as f64)
                )
            }
            _ => self.database_text(),
        }
    }

    pub(super) fn imported_remedy(&self) -> &'static str {
        match self {
            Self::WritesInMemory { .. } => {
                label!("repeat it with direct I/O (fio: direct=1), or with a flush at the end")
            }
            Self::BufferedEngine { .. } => label!("repeat it with direct I/O (fio: direct=1)"),
            Self::Assumed { .. } => {
                label!("state it (fio: JSON output; tables: columns block, reads), or leave out what depends on it")
            }
            Self::TooShort { .. } => {
                label!("repeat it for a minute or longer (fio: time_based, runtime and ramp_time)")
            }
            Self::NoStorage { .. } => {
                label!("test a file or device of the storage (fio: ioengine=io_uring or libaio, with direct=1)")
            }
            Self::Paused { .. } => label!("leave out thinktime to measure the limits of the storage"),
            Self::CutShort { .. } => {
                label!("check the kernel log (dmesg), and that the range lies within the file or device")
            }
            Self::RateAboveDepth { .. } => label!("check the columns of depth, rate and response time, and its unit"),
            _ => label!(
                "check that the tested file is on that device, and repeat the test with direct I/O (fio: direct=1)"
            ),
        }
    }
}

/// `85 %`; `99.9 %` for nearly all, which is never rounded up to all.
pub(super) fn share_text(share: f64) -> String {
    if (NEARLY_ALL..1.0).contains(&share) {
        format!("{:.1} %", (share * 1e3).floor() / 10.0)
    } else if share < 0.1 {
        format!("{:.1} %", share * 100.0)
    } else {
        format!("{:.0} %", share * 100.0)
    }
}
