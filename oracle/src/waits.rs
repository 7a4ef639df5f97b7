//! Activities of a session from the class and event of its wait in `V$SESSION`.

use plimsoll_record::Spent;

/// Activity of a session that waits for this event.
pub(super) fn activity(class: &str, event: &str) -> Spent {
    match (class, event) {
        // Another session is reading or changing the block.
        ("User I/O", "read by other session") | ("Concurrency" | "Cluster", _) => Spent::Internal,
        // The log or its buffer is full; no free buffer until dirty ones are written.
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
    fn wait_events_have_activities() {
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
