//! What Oracle's waits mean: the class and the event of a session, as `V$SESSION` shows them.

use plimsoll_record::Spent;

/// What a session is doing that waits for this event.
pub(super) fn activity(class: &str, event: &str) -> Spent {
    match (class, event) {
        // Another session reads this block already; blocks that others change.
        ("User I/O", "read by other session") | ("Concurrency" | "Cluster", _) => Spent::Internal,
        // The log is full, or its buffer; no buffer is free before some are written.
        (_, event) if event.starts_with("log ") => Spent::Committing,
        ("Configuration", "free buffer waits" | "write complete waits") => Spent::Writing,
        ("User I/O" | "System I/O", event) if event.contains("write") => Spent::Writing,
        ("User I/O" | "System I/O", _) => Spent::Reading,
        ("Commit", _) => Spent::Committing,
        (_, event) if event.starts_with("enq: ") => Spent::Locked,
        ("Idle" | "Network", _) => Spent::Client,
        _ => Spent::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_have_a_meaning() {
        let check = |class, event, expected| assert_eq!(activity(class, event), expected, "{class}: {event}");
        check("User I/O", "db file sequential read", Spent::Reading);
        check("User I/O", "db file scattered read", Spent::Reading);
        check("User I/O", "read by other session", Spent::Internal);
        check("User I/O", "direct path write temp", Spent::Writing);
        check("System I/O", "log file parallel write", Spent::Committing);
        check("Commit", "log file sync", Spent::Committing);
        check("Configuration", "log file switch (checkpoint incomplete)", Spent::Committing);
        check("Configuration", "free buffer waits", Spent::Writing);
        check("Application", "enq: TX - row lock contention", Spent::Locked);
        check("Concurrency", "buffer busy waits", Spent::Internal);
        check("Concurrency", "latch: cache buffers chains", Spent::Internal);
        check("Idle", "SQL*Net message from client", Spent::Client);
        check("Network", "SQL*Net message to client", Spent::Client);
        check("Scheduler", "resmgr:cpu quantum", Spent::Other);
    }
}
