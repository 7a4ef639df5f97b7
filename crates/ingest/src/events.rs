//! The meaning of a wait event: an operation of storage, a commit, a lock, or idling.
//!
//! Covers the event names of Oracle (with Exadata), `PostgreSQL` and `MySQL`. Unknown names are [`WaitCause::Other`],
//! never storage. Text reports truncate long names at the end of their column.

use crate::reading::{Class, WaitCause};

impl WaitCause {
    /// The meaning of an event, from the database's name for it.
    pub fn of(event: &str) -> Self {
        Self::find(event).unwrap_or(Self::Other)
    }

    /// The same; none for an unknown name.
    fn find(event: &str) -> Option<Self> {
        let event = event.trim();
        let rests = [Self::Processor, Self::Lock, Self::Concurrency, Self::Cluster, Self::Network, Self::LogSwitch];
        let rest = rests.into_iter().find(|waited| waited.rest() == event);
        rest.or_else(|| oracle(event)).or_else(|| mysql(event)).or_else(|| postgresql(event))
    }

    /// The meaning of an event of Oracle: by its name, or for unknown names by Oracle's class, such as `Concurrency`. Locks
    /// are named in the class `Application`, so its unknown events are no locks.
    pub(crate) fn of_oracle(event: &str, class: &str) -> Self {
        // The waits of the class `Commit` other than for commits are rare and not log writes.
        let is_telling = !class.is_empty() && class != "Commit" && !class.starts_with("Applic");
        Self::find(event)
            .unwrap_or_else(|| if is_telling { Self::of(&format!("wait class {class}")) } else { Self::Other })
    }
}

/// True for reads that a larger buffer cache saves; direct reads bypass it.
pub fn is_through_cache(event: &str) -> bool {
    let read = matches!(WaitCause::of(event).class(), Some(RandomRead | SequentialRead | Class::Read));
    read && !event.contains("direct path") && !event.contains("smart")
}

/// True for the remainder of the wait class User I/O, in inputs that list only some of its events.
pub fn is_user_io_remainder(event: &str) -> bool {
    event == "wait class User I/O"
}

use Class::{Archive, Backup, DataWrite, Other, RandomRead, RedoWrite, SequentialRead, TempRead, TempWrite};
use WaitCause::{Behind, Cluster, Commit, Concurrency, Idle, Lock, LogSwitch, Network, Processor, Storage};

/// Exact names.
const ORACLE: &[(WaitCause, &[&str])] = &[
    (Storage(RandomRead), &["db file sequential read", "db file parallel read", "cell single block physical read"]),
    (Storage(RandomRead), &["cell list of blocks physical read"]),
    (Behind(RandomRead), &["read by other session", "cell interconnect retransmit during physical read"]),
    (Storage(SequentialRead), &["db file scattered read", "cell multiblock physical read", "direct path read"]),
    (Storage(TempRead), &["direct path read temp"]),
    (Storage(TempWrite), &["direct path write temp"]),
    (Storage(DataWrite), &["direct path write", "direct path sync", "db file parallel write"]),
    (Storage(DataWrite), &["db file async I/O submit"]),
    (Behind(DataWrite), &["free buffer waits", "write complete waits", "local write wait", "checkpoint completed"]),
    (Behind(DataWrite), &["enq: KO - fast object checkpoint", "enq: RO - fast object reuse"]),
    (Commit, &["log file sync", "wait class Commit"]),
    (Storage(RedoWrite), &["log file parallel write"]),
    (Behind(RedoWrite), &["log buffer space"]),
    // Their number and duration follow from the size and number of the log files and from the archiver.
    (LogSwitch, &["log file switch (checkpoint incomplete)", "log file switch (archiving needed)"]),
    (LogSwitch, &["log file switch completion", "log file switch (private strand flush incomplete)"]),
    (Storage(Archive), &["log file sequential read", "Log archive I/O"]),
    (Storage(Backup), &["RMAN backup & recovery I/O", "Datapump dump file I/O"]),
    (Storage(Other), &["control file sequential read", "control file parallel write", "control file single write"]),
    (Storage(Other), &["db file single write", "log file single write", "Disk file operations I/O"]),
    (Storage(Other), &["Disk file Mirror Read", "Disk file I/O Calibration", "Parameter File I/O", "utl_file I/O"]),
    (Storage(Other), &["external table read", "kfk: async disk IO", "ASM IO for non-blocking poll", "io done"]),
    (Storage(Other), &["recovery read", "wait class System I/O"]),
    (WaitCause::Other, &["External Procedure initial connection", "External Procedure call", "os thread creation"]),
    (WaitCause::Other, &["PX Deq Credit: send blkd", "wait class Configuration", "wait class Administrative"]),
    (WaitCause::Other, &["wait class Queueing", "wait class Other"]),
    (Concurrency, &["buffer busy waits", "os thread startup", "pipe put", "wait class Concurrency"]),
    (Idle, &["wait class Idle", "SQL*Net message from client", "PX Idle Wait", "PL/SQL lock timer", "pipe get"]),
    (Idle, &["single-task message", "class slave wait", "jobq slave wait", "jobq slave TJ process wait"]),
    (Idle, &["i/o slave wait", "wait for unread message on broadcast channel"]),
    (Idle, &["wait for unread message on multiple broadcast channels", "virtual circuit wait"]),
    (Idle, &["virtual circuit next request", "shared server idle wait", "dispatcher timer"]),
    (Idle, &["PX Nsq: PQ load info query", "Recovery Server Servlet wait", "auto-sqltune: wait graph update"]),
    (Idle, &["recovery instance recovery completion", "gcs remote message", "ges remote message", "GCR sleep"]),
    (Idle, &["heartbeat redo informer", "watchdog main loop", "rdbms ipc message", "OFS idle"]),
    (Idle, &["LGWR worker group idle", "AQPC idle", "lreg timer", "Space Manager: slave idle wait"]),
    (Idle, &["Streams AQ: waiting for messages in the queue"]),
    (Idle, &["Streams AQ: waiting for time management or cleanup tasks", "PX Deq: Execution Msg"]),
    (Idle, &["PX Deq: Execute Reply", "PX Deq: Join ACK", "PX Deq: Parse Reply", "PX Deq: Table Q Normal"]),
    (Idle, &["PX Deq Credit: need buffer"]),
    (Network, &["SQL*Net message from dblink", "LNS wait on SENDREQ", "SYNC Remote Write", "Redo Transport Attach"]),
    (Network, &["LGWR-LNS wait on channel", "wait class Network"]),
    (Storage(Class::Read), &["wait class User I/O"]),
    (Lock, &["Wait for Table Lock", "wait class Application"]),
    (Cluster, &["wait class Cluster"]),
    (Processor, &["wait class Scheduler"]),
];

/// Prefixes, tried after exact names: the longest counts.
const ORACLE_FAMILIES: &[(WaitCause, &[&str])] = &[
    (Storage(RandomRead), &["cell single block", "cell list of blocks"]),
    (Storage(SequentialRead), &["cell multiblock", "cell smart", "cell external table", "direct path read"]),
    (Storage(SequentialRead), &["securefile direct-read"]),
    (Storage(Backup), &["cell smart restore", "cell smart incremental", "Backup:", "RMAN"]),
    (Storage(DataWrite), &["cell smart file creation", "direct path write", "securefile direct-write"]),
    (Behind(DataWrite), &["write complete waits"]),
    (LogSwitch, &["log file switch"]),
    (Storage(Archive), &["Log archive"]),
    (Network, &["ARCH ", "SQL*Net", "TCP Socket", "LNS ", "LGWR"]),
    (Storage(Other), &["flashback", "control file", "ASM file"]),
    (Processor, &["resmgr"]),
    (Concurrency, &["enq: SQ", "enq: HW", "latch", "library cache", "row cache", "cursor:", "buffer busy"]),
    (Cluster, &["enq: IV", "gc buffer busy", "gc ", "gcs ", "ges ", "DFS lock handle"]),
    (Lock, &["enq:"]),
    (Idle, &["Data Guard", "PX Deq", "Streams AQ: qmn", "Streams AQ: waiting", "DIAG idle", "VKTM", "EMON"]),
    (Idle, &["KSV master"]),
];

/// Each name of a table with its meaning.
fn listed(table: &'static [(WaitCause, &'static [&'static str])]) -> impl Iterator<Item = (&'static str, WaitCause)> {
    table.iter().flat_map(|(waited, names)| names.iter().map(|name| (*name, *waited)))
}

fn oracle(event: &str) -> Option<WaitCause> {
    /// The narrowest column that truncates names.
    const NARROWEST: usize = 20;
    let cut = |existing: &str| event.len() >= NARROWEST && existing.starts_with(event);
    let total = listed(ORACLE).find(|(name, _)| *name == event).or_else(|| listed(ORACLE).find(|(name, _)| cut(name)));
    let families = || listed(ORACLE_FAMILIES).filter(|(start, _)| event.starts_with(start));
    let found = total.or_else(|| families().max_by_key(|(start, _)| start.len()));
    found
        .map(|(_, waited)| waited)
        .or_else(|| (event.contains("idle wait") || event.ends_with(" timer")).then_some(Idle))
}

/// Instruments of the performance schema.
fn mysql(event: &str) -> Option<WaitCause> {
    if event == "idle" {
        return Some(Idle);
    }
    let event = event.strip_prefix("wait/")?;
    let file = |name: &str| {
        Some(match name.rsplit('/').next()? {
            // Reads and writes together; sessions mostly wait for reads.
            "innodb_data_file" => Storage(RandomRead),
            "innodb_log_file" | "innodb_redo_log_file" | "binlog" | "aria_log" => Storage(RedoWrite),
            "innodb_temp_file" | "io_cache" | "temptable" => Storage(TempRead),
            "innodb_dblwr_file" => Storage(DataWrite),
            "MYD" | "dfile" | "kfile" | "map" | "ibd" => Storage(Class::Read),
            _ => Storage(Other),
        })
    };
    match event {
        _ if event.starts_with("io/file/") => file(event),
        _ if event.starts_with("io/socket/") => Some(if event.ends_with("client_connection") { Idle } else { Network }),
        _ if event.starts_with("lock/") => Some(Lock),
        _ if event.starts_with("synch/") => Some(Concurrency),
        // Table waits include all nested waits, such as for files.
        _ => None,
    }
}

/// `DataFileRead`, `IO:DataFileRead`, `LWLock:WALWrite`: with or without the type, which the view has in a separate
/// column.
fn postgresql(event: &str) -> Option<WaitCause> {
    let (family, name) = event.split_once([':', '/', '.']).map_or(("", event), |(family, name)| (family, name.trim()));
    // The same name is used for a lock in memory and for an operation.
    if family == "LWLock" && matches!(name, "WALWrite" | "WALWriteLock") {
        return Some(Behind(RedoWrite));
    }
    Some(match name {
        "DataFileRead" | "DataFilePrefetch" | "AioIoCompletion" => Storage(Class::Read),
        "DataFileWrite" | "DataFileExtend" => Storage(DataWrite),
        "DataFileFlush" | "DataFileSync" | "DataFileImmediateSync" => Storage(Class::Flush),
        "DataFileTruncate" => Storage(Other),
        "WALWrite" | "WalWrite" | "WALSync" | "WalSync" | "WALInitWrite" | "WALInitSync" => Storage(RedoWrite),
        "BufFileRead" => Storage(TempRead),
        "BufFileWrite" => Storage(TempWrite),
        "BufferIO" => Behind(Class::Read),
        "WALWriteLock" => Behind(RedoWrite),
        "BufferPin" | "transactionid" | "tuple" => Lock,
        "ClientRead" => Idle,
        "SyncRep" | "ClientWrite" => Network,
        _ => match family {
            "IO" => Storage(Other),
            "Lock" | "BufferPin" => Lock,
            "LWLock" | "IPC" => Concurrency,
            "Client" => Network,
            "Activity" | "Timeout" => Idle,
            "CPU" => Processor,
            _ => return None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_recognised_by_name_family_and_prefix() {
        let table = [
            ("db file sequential read", Storage(RandomRead)),
            ("db file sequential re", Storage(RandomRead)),
            ("cell single block physical read: flash cache", Storage(RandomRead)),
            ("cell smart table scan", Storage(SequentialRead)),
            ("direct path read temp", Storage(TempRead)),
            ("direct path read", Storage(SequentialRead)),
            ("log file sync", Commit),
            ("log file switch (checkpoin", LogSwitch),
            ("log file switch (archiving needed)", LogSwitch),
            ("log file switch completion", LogSwitch),
            ("log buffer space", Behind(RedoWrite)),
            ("free buffer waits", Behind(DataWrite)),
            ("enq: TX - row lock contention", Lock),
            ("latch: cache buffers chains", Concurrency),
            ("row cache mutex", Concurrency),
            ("row cache lock", Concurrency),
            ("gc cr block 2-way", Cluster),
            ("SQL*Net message from client", Idle),
            ("SQL*Net more data to client", Network),
            ("resmgr:cpu quantum", Processor),
            ("smon timer", Idle),
            ("ADR block file read", WaitCause::Other),
            ("wait/io/file/innodb/innodb_data_file", Storage(RandomRead)),
            ("wait/io/file/sql/binlog", Storage(RedoWrite)),
            ("wait/synch/mutex/innodb/trx_mutex", Concurrency),
            ("wait/io/table/sql/handler", WaitCause::Other),
            ("DataFileRead", Storage(Class::Read)),
            ("IO:WALSync", Storage(RedoWrite)),
            ("LWLock:WALWrite", Behind(RedoWrite)),
            ("Lock:transactionid", Lock),
            ("IO/SLRURead", Storage(Other)),
            ("", WaitCause::Other),
        ];
        for (event, expected) in table {
            assert_eq!(WaitCause::of(event), expected, "{event}");
        }
    }

    #[test]
    fn unknown_events_have_the_meaning_of_their_class() {
        let table = [
            ("an event of release 31", "Concurrency", Concurrency),
            ("an event of release 31", "Concurrenc", Concurrency),
            ("an event of release 31", "User I/O", Storage(Class::Read)),
            ("an event of release 31", "Commit", WaitCause::Other),
            ("an event of release 31", "Idle", Idle),
            ("an event of release 31", "", WaitCause::Other),
            ("log file sync", "Other", Commit),
            ("External Procedure initial connection", "Application", WaitCause::Other),
            ("External Procedure initi", "Application", WaitCause::Other),
            ("an event of release 31", "Application", WaitCause::Other),
            ("enq: TX - row lock contention", "Application", Lock),
            ("Wait for Table Lock", "Application", Lock),
        ];
        for (event, class, expected) in table {
            assert_eq!(WaitCause::of_oracle(event, class), expected, "{event}, {class}");
        }
    }

    #[test]
    fn only_buffered_reads_are_saved_by_a_larger_cache() {
        let saved = ["db file sequential read", "db file scattered read", "DataFileRead", "read by other session"];
        let stays = ["direct path read", "cell smart table scan", "direct path read temp", "log file sync", "idle"];
        assert!(saved.into_iter().all(is_through_cache));
        assert!(!stays.into_iter().any(is_through_cache));
    }
}
