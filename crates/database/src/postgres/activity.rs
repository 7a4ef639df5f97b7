//! What a session is doing, from what PostgreSQL says that it waits for.
//!
//! Names of waits differ between versions: those of 12 to 18 are known.

use crate::target::Activity;

/// What a session does in this state with this wait. None where the server does not say.
pub(super) fn activity(state: Option<&str>, kind: Option<&str>, event: Option<&str>) -> Option<Activity> {
    match state? {
        "active" | "fastpath function call" => Some(waiting(kind, event.unwrap_or_default())),
        "idle" | "idle in transaction" | "idle in transaction (aborted)" => Some(Activity::Client),
        // It does not tell what its sessions do (track_activities).
        _ => None,
    }
}

fn waiting(kind: Option<&str>, event: &str) -> Activity {
    match kind {
        None => Activity::Processor,
        Some("IO") => transfer(event),
        // Who waits for the log's write lock waits for another one's flush, which is its own as well.
        Some("LWLock") if event.starts_with("WALWrite") => Activity::Commit,
        // A lock only in name: the file is made longer by somebody else just now.
        Some("Lock") if event == "extend" => Activity::Internal,
        Some("Lock") => Activity::Lock,
        Some("IPC") if event == "SyncRep" || event.ends_with("GroupUpdate") => Activity::Commit,
        Some("LWLock" | "BufferPin" | "IPC") => Activity::Internal,
        Some("Client") => Activity::Client,
        Some(_) => Activity::Other,
    }
}

/// Waits for the operating system: for the log, or for files of data.
fn transfer(event: &str) -> Activity {
    match event {
        "WALRead" => Activity::Read,
        _ if event.starts_with("WAL") => Activity::Commit,
        // Asynchronous ones, of version 18, are reads so far.
        "DataFilePrefetch" => Activity::Read,
        _ if event.starts_with("Aio") || event.ends_with("Read") => Activity::Read,
        _ => Activity::Write,
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
        check("IO", "DataFileRead", Activity::Read);
        check("IO", "DataFilePrefetch", Activity::Read);
        check("IO", "BufFileRead", Activity::Read);
        check("IO", "AioIoCompletion", Activity::Read);
        for event in ["DataFileWrite", "DataFileExtend", "DataFileFlush", "DataFileSync", "BufFileWrite"] {
            check("IO", event, Activity::Write);
        }
        for event in ["WALSync", "WALWrite", "WALInitSync", "WALInitWrite"] {
            check("IO", event, Activity::Commit);
        }
        check("LWLock", "WALWrite", Activity::Commit);
        check("LWLock", "WALWriteLock", Activity::Commit);
        check("LWLock", "WALInsert", Activity::Internal);
        check("LWLock", "BufferIO", Activity::Internal);
        check("IPC", "BufferIo", Activity::Internal);
        check("IPC", "SyncRep", Activity::Commit);
        check("IPC", "XactGroupUpdate", Activity::Commit);
        check("Lock", "transactionid", Activity::Lock);
        check("Lock", "extend", Activity::Internal);
        check("Client", "ClientRead", Activity::Client);
        check("Timeout", "PgSleep", Activity::Other);
        assert_eq!(activity(Some("active"), None, None), Some(Activity::Processor));
        assert_eq!(activity(Some("idle in transaction"), Some("Client"), Some("ClientRead")), Some(Activity::Client));
        assert_eq!(activity(None, None, None), None);
        assert_eq!(activity(Some("disabled"), None, None), None);
    }
}
