//! Verdicts about the origin of the work and its changes over time.

use plimsoll_choose::diagnosis::{Changed, DiagnosisVerdict, HistoryQuantity};
use plimsoll_ingest::{Class, WindowCount};
use plimsoll_language::{label, say};

use super::{VerdictText, event, seconds, share};
use crate::number;

/// A quantity of a window as a noun.
pub(crate) fn quantity(quantity: &HistoryQuantity) -> String {
    match quantity {
        HistoryQuantity::Active => label!("active sessions").to_owned(),
        HistoryQuantity::Waiting(name) => say!("sessions that wait for \"{}\"", event(name)),
        HistoryQuantity::WaitSeconds(name) => say!("duration of \"{}\"", event(name)),
        HistoryQuantity::OnProcessor => label!("sessions on a processor").to_owned(),
        HistoryQuantity::Commits => label!("commits/s").to_owned(),
        HistoryQuantity::Rate(Class::All) => label!("operations/s").to_owned(),
        HistoryQuantity::Rate(class) => say!("{} per second", class.label()),
        HistoryQuantity::Latency(class) => say!("latency of {}", class.label()),
    }
}

/// A value of a quantity with its unit.
pub(crate) fn value(quantity: &HistoryQuantity, value: f64) -> String {
    match quantity {
        HistoryQuantity::WaitSeconds(_) | HistoryQuantity::Latency(_) => seconds(value),
        _ => number::three(value),
    }
}

fn changed(changed: &Changed) -> String {
    let [before, after] = [changed.before, changed.after].map(|of| value(&changed.quantity, of));
    say!("{}: {before} before, {after} after", quantity(&changed.quantity))
}

pub(super) fn verdict_text(verdict: &DiagnosisVerdict) -> Option<VerdictText> {
    origin(verdict).or_else(|| counted(verdict)).or_else(|| over_time(verdict))
}

/// Verdicts about statements and files.
fn origin(verdict: &DiagnosisVerdict) -> Option<VerdictText> {
    let (text, remedy) = match verdict {
        DiagnosisVerdict::OneStatement { statement, class, share: of } => (
            say!("The {} makes {} of the {}.", event(statement), share(*of), class.label()),
            label!(
                "Check its plan and indexes before storage: the database has its text under this SQL_ID or queryid."
            ),
        ),
        DiagnosisVerdict::ReadsBy { parts } => {
            let named = parts.iter().map(|(name, of)| format!("{} {}", event(name), share(*of)));
            let is_statement = parts.first().is_some_and(|(name, _)| name.starts_with("statement "));
            let remedy = if is_statement {
                label!(
                    "Check their plans and indexes before storage: the database has their texts under these identifiers."
                )
            } else {
                label!("Check the statements that read them, and whether they fit into the buffer cache.")
            };
            (say!("The largest readers: {}.", named.collect::<Vec<_>>().join(label!(", "))), remedy)
        }
        DiagnosisVerdict::SlowStatement { statement, share: of, mean_s, rows } => (
            say!(
                "The {} takes {} of the time of all statements: {} per execution{}.",
                event(statement),
                share(*of),
                seconds(*mean_s),
                rows.map_or(String::new(), |rows| say!(", which examines {} rows", number::three(rows)))
            ),
            label!("Check its plan first: the database has its text under the digest or queryid."),
        ),
        DiagnosisVerdict::OneFile { file, share: of } => (
            say!("One file has {} of all operations: {}.", share(*of), event(file)),
            label!("Check the tables in this file and the statements that read them."),
        ),
        _ => return None,
    };
    Some(VerdictText { kind: label!("cause"), text, remedy: remedy.to_owned() })
}

/// Verdicts about counters of the database's own work.
fn counted(verdict: &DiagnosisVerdict) -> Option<VerdictText> {
    let (text, remedy) = match verdict {
        DiagnosisVerdict::Autovacuum { share: of } => (
            say!("Autovacuum makes {} of all operations.", share(*of)),
            label!(
                "Spread it: more frequent runs on the largest tables (autovacuum_vacuum_scale_factor), a lower \
             autovacuum_vacuum_cost_limit, or vacuum in quiet hours."
            ),
        ),
        DiagnosisVerdict::SessionsWrite { share: of } => (
            say!("Sessions write {} of all pages themselves, because no clean page was available.", share(*of)),
            label!(
                "Let the background writer write more (bgwriter_lru_maxpages, bgwriter_delay), or enlarge shared_buffers; bulk \
             loads write their own pages in any case."
            ),
        ),
        DiagnosisVerdict::CheckpointsRequested { requested, timed, every_s } => (
            say!(
                "{} of {} checkpoints were requested before checkpoint_timeout{}: after each, full pages are written to the log.",
                number::three(*requested),
                number::three(requested + timed),
                every_s.map_or(String::new(), |every_s| say!(", one per {}", super::duration(every_s)))
            ),
            label!(
                "Raise max_wal_size until checkpoints are triggered by checkpoint_timeout: this reduces the log volume and write bursts."
            ),
        ),
        DiagnosisVerdict::BufferWaits { name, a_second } => (
            say!("Sessions had {} {name} per second.", number::three(*a_second)),
            if *name == WindowCount::LOG_BUFFER_WAITS {
                label!("Enlarge innodb_log_buffer_size, or make the log's writes faster.")
            } else {
                label!(
                    "Let InnoDB write earlier (innodb_io_capacity, innodb_max_dirty_pages_pct), or enlarge the buffer pool."
                )
            },
        ),
        _ => return None,
    };
    Some(VerdictText { kind: label!("cause"), text, remedy: remedy.to_owned() })
}

/// Verdicts about windows over time.
fn over_time(verdict: &DiagnosisVerdict) -> Option<VerdictText> {
    let (text, remedy) = match verdict {
        DiagnosisVerdict::Unusual { windows, farthest } => (
            say!(
                "{}: {}{}; the median is {}.",
                if *windows == 1 {
                    label!("1 window is unusual").to_owned()
                } else {
                    say!("{windows} windows are unusual")
                },
                farthest.slot.begin.map_or(String::new(), |begin| say!("{begin} with ").replace('T', " ")),
                format_args!("{} {}", value(&farthest.quantity, farthest.value), quantity(&farthest.quantity)),
                value(&farthest.quantity, farthest.median)
            ),
            label!("Diagnose these windows separately: the overall mean hides them."),
        ),
        DiagnosisVerdict::Changed { before, after, main } => (
            say!(
                "The later windows have {} active sessions, the earlier ones {}{}.",
                number::three(*after),
                number::three(*before),
                main.as_ref().map_or(String::new(), |main| say!("; {}", changed(main)))
            ),
            "",
        ),
        _ => return None,
    };
    Some(VerdictText { kind: label!("note"), text, remedy: remedy.to_owned() })
}
