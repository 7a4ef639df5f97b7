//! What Oracle's waits mean: the class and the event of a session, as `V$SESSION` shows them.
//!
//! Knows nothing about how they are read.

use crate::target::Activity;

/// What a session is doing that waits for this event.
pub(super) fn activity(class: &str, event: &str) -> Activity {
    match (class, event) {
        // Another session reads this block already; blocks that others change.
        ("User I/O", "read by other session") | ("Concurrency" | "Cluster", _) => Activity::Internal,
        // The log is full, or its buffer; no buffer is free before some are written.
        (_, event) if event.starts_with("log ") => Activity::Commit,
        ("Configuration", "free buffer waits" | "write complete waits") => Activity::Write,
        ("User I/O" | "System I/O", event) if event.contains("write") => Activity::Write,
        ("User I/O" | "System I/O", _) => Activity::Read,
        ("Commit", _) => Activity::Commit,
        (_, event) if event.starts_with("enq: ") => Activity::Lock,
        ("Idle" | "Network", _) => Activity::Client,
        _ => Activity::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_have_a_meaning() {
        let check = |class, event, expected| assert_eq!(activity(class, event), expected, "{class}: {event}");
        check("User I/O", "db file sequential read", Activity::Read);
        check("User I/O", "db file scattered read", Activity::Read);
        check("User I/O", "read by other session", Activity::Internal);
        check("User I/O", "direct path write temp", Activity::Write);
        check("System I/O", "log file parallel write", Activity::Commit);
        check("Commit", "log file sync", Activity::Commit);
        check("Configuration", "log file switch (checkpoint incomplete)", Activity::Commit);
        check("Configuration", "free buffer waits", Activity::Write);
        check("Application", "enq: TX - row lock contention", Activity::Lock);
        check("Concurrency", "buffer busy waits", Activity::Internal);
        check("Concurrency", "latch: cache buffers chains", Activity::Internal);
        check("Idle", "SQL*Net message from client", Activity::Client);
        check("Network", "SQL*Net message to client", Activity::Client);
        check("Scheduler", "resmgr:cpu quantum", Activity::Other);
    }
}
