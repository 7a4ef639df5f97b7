//! Busy hours, and tables in Hybrid Columnar Compression.

use plimsoll_choose::diagnosis::{BusyBasis, BusyHours, DiagnosisVerdict};
use plimsoll_language::{label, say};

use super::{VerdictText, duration, share};
use crate::number;
use crate::words::clean;

pub(super) fn verdict_text(verdict: &DiagnosisVerdict) -> Option<VerdictText> {
    let (kind, text, remedy) = match verdict {
        DiagnosisVerdict::BusyHours(busy) => {
            let remedy = match busy.basis {
                BusyBasis::Analysis { .. } => {
                    label!("Provide reports of these hours: all other figures are means of the whole window.")
                }
                BusyBasis::Windows { .. } => {
                    label!("Diagnose the busy windows by themselves: the other shares are means of all windows.")
                }
            };
            (label!("answer"), describe(busy), remedy)
        }
        DiagnosisVerdict::ColumnarCompression { share: of_bytes, bytes, units, ratio } => (
            label!("storage"),
            compression(*of_bytes, [*bytes, *units], *ratio),
            label!(
                "Before a move, find these tables (COMPRESS_FOR in DBA_TABLES and DBA_TAB_PARTITIONS) and their ratio \
             (DBMS_COMPRESSION), and enlarge capacity and reads by it."
            ),
        ),
        _ => return None,
    };
    Some(VerdictText { kind, text, remedy: remedy.to_owned() })
}

/// The busiest window or period: `26.4 active sessions from 2013-12-02 07:59 for 60 min`.
pub(crate) fn highest(busy: &BusyHours) -> String {
    let from = busy.begin.map_or(String::new(), |begin| say!(" from {}", begin.strftime("%Y-%m-%d %H:%M")));
    say!("{} active sessions{from} for {}", number::three(busy.highest), duration(busy.length_s))
}

fn describe(busy: &BusyHours) -> String {
    let times = |active: f64| number::three(active / busy.mean);
    match busy.basis {
        BusyBasis::Analysis { user_io } => {
            let user_io = user_io.map(|user_io| (user_io, say!("{} of them in User I/O", share(user_io.min(1.0)))));
            let finding =
                busy.finding.as_ref().filter(|(_, of)| user_io.as_ref().is_none_or(|(user_io, _)| of > user_io));
            let finding =
                finding.map(|(name, of)| say!("{} of them in its finding \"{}\"", share(of.min(1.0)), clean(name)));
            let parts = finding.into_iter().chain(user_io.map(|(_, text)| text));
            say!(
                "Busy hours reach {} times the mean, by ADDM: {}{}; the mean is {}.",
                times(busy.highest),
                highest(busy),
                parts.map(|part| say!(", {part}")).collect::<Vec<_>>().concat(),
                number::three(busy.mean)
            )
        }
        BusyBasis::Windows { windows: [count, of], active, storage } => say!(
            "The busiest {count} of {of} windows have {} active sessions, {} times the mean, and storage is {} of their time, \
             {} of all; the busiest has {}.",
            number::three(active),
            times(active),
            share(storage),
            share(busy.mean_storage),
            highest(busy)
        ),
    }
}

fn compression(of_bytes: Option<f64>, [bytes, units]: [f64; 2], ratio: Option<f64>) -> String {
    let load = match of_bytes {
        Some(of_bytes) => {
            say!("{} of the bytes read ({}) are its units", share(of_bytes), number::throughput(bytes))
        }
        None => say!("scans decompress {} units/s", number::three(units)),
    };
    let ratio = match ratio {
        Some(ratio) => say!("by the ratio, {} for the rows loaded", number::three(ratio)),
        None => label!("by the ratio, which the input does not state").to_owned(),
    };
    say!(
        "Hybrid Columnar Compression is in use: {load}. Only Exadata, ZFS and FS1 have it: elsewhere these tables and their \
         reads grow {ratio}."
    )
}
