//! Activities of a session from its wait event in PostgreSQL.
//!
//! Names of events differ between versions: 12 to 18 are supported.

use plimsoll_record::Spent;

/// Activity of a session with this state and wait. `None` if the server does not report it.
pub(super) fn activity(state: Option<&str>, kind: Option<&str>, event: Option<&str>) -> Option<Spent> {
    match state? {
        "active" | "fastpath function call" => Some(waiting(kind, event.unwrap_or_default())),
        "idle" | "idle in transaction" | "idle in transaction (aborted)" => Some(Spent::Client),
        // `track_activities` is off.
        _ => None,
    }
}

fn waiting(kind: Option<&str>, event: &str) -> Spent {
    match kind {
        None => Spent::Processor,
        Some("IO") => transfer(event),
        // A wait for the WAL write lock is a wait for another session's flush, which includes the own commit.
        Some("LWLock") if event.starts_with("WALWrite") => Spent::Committing,
        // Not a row lock: another session is extending the file.
        Some("Lock") if event == "extend" => Spent::Internal,
        Some("Lock") => Spent::Locked,
        Some("IPC") if event == "SyncRep" || event.ends_with("GroupUpdate") => Spent::Committing,
        Some("LWLock" | "BufferPin" | "IPC") => Spent::Internal,
        Some("Client") => Spent::Client,
        Some(_) => Spent::Other,
    }
}

/// Waits for the operating system: WAL or data files.
fn transfer(event: &str) -> Spent {
    match event {
        "WALRead" => Spent::Reading,
        _ if event.starts_with("WAL") => Spent::Committing,
        // Asynchronous I/O, as of version 18, consists of reads.
        "DataFilePrefetch" => Spent::Reading,
        _ if event.starts_with("Aio") || event.ends_with("Read") => Spent::Reading,
        _ => Spent::Writing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_events_are_classified() {
        let check = |kind: &str, event: &str, order| {
            assert_eq!(activity(Some("active"), Some(kind), Some(event)), Some(order), "{kind}:{event}");
        };
        check("IO", "DataFileRead", Spent::Reading);
        check("IO", "DataFilePrefetch", Spent::Reading);
        check("IO", "BufFileRead", Spent::Reading);
        check("IO", "AioIoCompletion", Spent::Reading);
        for event in ["DataFileWrite", "DataFileExtend", "DataFileFlush", "DataFileSync", "BufFileWrite"] {
            check("IO", event, Spent::Writing);
        }
        for event in ["WALSync", "WALWrite", "WALInitSync", "WALInitWrite"] {
            check("IO", event, Spent::Committing);
        }
        check("LWLock", "WALWrite", Spent::Committing);
        check("LWLock", "WALWriteLock", Spent::Committing);
        check("LWLock", "WALInsert", Spent::Internal);
        check("LWLock", "BufferIO", Spent::Internal);
        check("IPC", "BufferIo", Spent::Internal);
        check("IPC", "SyncRep", Spent::Committing);
        check("IPC", "XactGroupUpdate", Spent::Committing);
        check("Lock", "transactionid", Spent::Locked);
        check("Lock", "extend", Spent::Internal);
        check("Client", "ClientRead", Spent::Client);
        check("Timeout", "PgSleep", Spent::Other);
        assert_eq!(activity(Some("active"), None, None), Some(Spent::Processor));
        assert_eq!(activity(Some("idle in transaction"), Some("Client"), Some("ClientRead")), Some(Spent::Client));
        assert_eq!(activity(None, None, None), None);
        assert_eq!(activity(Some("disabled"), None, None), None);
    }
}
