//! What a session is doing, from what PostgreSQL says that it waits for.
//!
//! Names of waits differ between versions: those of 12 to 18 are known.

use plimsoll_record::Spent;

/// What a session does in this state with this wait. None where the server does not say.
pub(super) fn activity(state: Option<&str>, kind: Option<&str>, event: Option<&str>) -> Option<Spent> {
    match state? {
        "active" | "fastpath function call" => Some(waiting(kind, event.unwrap_or_default())),
        "idle" | "idle in transaction" | "idle in transaction (aborted)" => Some(Spent::Client),
        // It does not tell what its sessions do (track_activities).
        _ => None,
    }
}

fn waiting(kind: Option<&str>, event: &str) -> Spent {
    match kind {
        None => Spent::Processor,
        Some("IO") => transfer(event),
        // Who waits for the log's write lock waits for another one's flush, which is its own as well.
        Some("LWLock") if event.starts_with("WALWrite") => Spent::Committing,
        // A lock only in name: the file is made longer by somebody else just now.
        Some("Lock") if event == "extend" => Spent::Internal,
        Some("Lock") => Spent::Locked,
        Some("IPC") if event == "SyncRep" || event.ends_with("GroupUpdate") => Spent::Committing,
        Some("LWLock" | "BufferPin" | "IPC") => Spent::Internal,
        Some("Client") => Spent::Client,
        Some(_) => Spent::Other,
    }
}

/// Waits for the operating system: for the log, or for files of data.
fn transfer(event: &str) -> Spent {
    match event {
        "WALRead" => Spent::Reading,
        _ if event.starts_with("WAL") => Spent::Committing,
        // Asynchronous ones, of version 18, are reads so far.
        "DataFilePrefetch" => Spent::Reading,
        _ if event.starts_with("Aio") || event.ends_with("Read") => Spent::Reading,
        _ => Spent::Writing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_told_apart() {
        let check = |kind: &str, event: &str, wanted| {
            assert_eq!(activity(Some("active"), Some(kind), Some(event)), Some(wanted), "{kind}:{event}");
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
