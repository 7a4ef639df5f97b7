//! The meaning of a wait event: an operation of storage, a commit, a lock, or idling.
//!
//! Covers the event names of Oracle (with Exadata), `PostgreSQL` and `MySQL`. Unknown names are [`WaitCause::Other`],
//! never storage. Text reports truncate long names at the end of their column.

use crate::reading::Class;

/// The meaning of a wait event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitCause {
    /// An operation of storage: the wait lasts for the operation, or for several that were requested together.
    Storage(Class),
    /// A wait that ends when operations of this class are done: free buffers, a log switch.
    Behind(Class),
    /// A commit: the write of the log and everything around it.
    Commit,
    /// A processor.
    Processor,
    /// A lock of another transaction.
    Lock,
    /// A structure in memory used by another session.
    Concurrency,
    /// Blocks and locks of other instances of a cluster.
    Cluster,
    /// Communication with clients, other databases or a standby.
    Network,
    /// Idle waits, which are not part of the database's time.
    Idle,
    /// Unknown and other events.
    Other,
}

impl WaitCause {
    /// The meaning of an event, from the database's name for it.
    pub fn of(event: &str) -> Self {
        let event = event.trim();
        let rests = [Self::Processor, Self::Lock, Self::Concurrency, Self::Cluster, Self::Network];
        if let Some(known) = rests.into_iter().find(|waited| waited.rest() == event) {
            return known;
        }
        oracle(event).or_else(|| mysql(event)).or_else(|| postgresql(event)).unwrap_or(Self::Other)
    }

    /// The common name of merged short waits, which [`WaitCause::of`] also maps back.
    pub const fn rest(self) -> &'static str {
        match self {
            Self::Storage(_) | Self::Behind(_) | Self::Other | Self::Commit | Self::Idle => "other waits",
            Self::Processor => "other waits for a processor",
            Self::Lock => "other locks",
            Self::Concurrency => "other waits for memory structures",
            Self::Cluster => "other waits for the cluster",
            Self::Network => "other waits for the network",
        }
    }

    /// The class of operations that determines the wait; none if faster storage does not shorten it.
    pub const fn class(self) -> Option<Class> {
        match self {
            Self::Storage(class) | Self::Behind(class) => Some(class),
            Self::Commit => Some(RedoWrite),
            _ => None,
        }
    }
}

/// True for reads that a larger buffer cache saves; direct reads bypass it.
pub fn is_through_cache(event: &str) -> bool {
    let read = matches!(WaitCause::of(event).class(), Some(RandomRead | SequentialRead | Class::Read));
    read && !event.contains("direct path") && !event.contains("smart")
}

use Class::{Archive, Backup, DataWrite, Other, RandomRead, RedoWrite, SequentialRead, TempRead, TempWrite};
use WaitCause::{Behind, Cluster, Commit, Concurrency, Idle, Lock, Network, Processor, Storage};

/// Exact names.
const ORACLE: &[(&str, WaitCause)] = &[
    ("db file sequential read", Storage(RandomRead)),
    ("db file parallel read", Storage(RandomRead)),
    ("read by other session", Behind(RandomRead)),
    ("cell single block physical read", Storage(RandomRead)),
    ("cell list of blocks physical read", Storage(RandomRead)),
    ("cell interconnect retransmit during physical read", Behind(RandomRead)),
    ("db file scattered read", Storage(SequentialRead)),
    ("cell multiblock physical read", Storage(SequentialRead)),
    ("direct path read", Storage(SequentialRead)),
    ("direct path read temp", Storage(TempRead)),
    ("direct path write temp", Storage(TempWrite)),
    ("direct path write", Storage(DataWrite)),
    ("direct path sync", Storage(DataWrite)),
    ("db file parallel write", Storage(DataWrite)),
    ("db file async I/O submit", Storage(DataWrite)),
    ("free buffer waits", Behind(DataWrite)),
    ("write complete waits", Behind(DataWrite)),
    ("local write wait", Behind(DataWrite)),
    ("checkpoint completed", Behind(DataWrite)),
    ("log file switch (checkpoint incomplete)", Behind(DataWrite)),
    ("enq: KO - fast object checkpoint", Behind(DataWrite)),
    ("enq: RO - fast object reuse", Behind(DataWrite)),
    ("log file sync", Commit),
    ("log file parallel write", Storage(RedoWrite)),
    ("log buffer space", Behind(RedoWrite)),
    ("log file switch completion", Behind(RedoWrite)),
    ("log file switch (private strand flush incomplete)", Behind(RedoWrite)),
    ("log file switch (archiving needed)", Behind(Archive)),
    ("log file sequential read", Storage(Archive)),
    ("Log archive I/O", Storage(Archive)),
    ("RMAN backup & recovery I/O", Storage(Backup)),
    ("Datapump dump file I/O", Storage(Backup)),
    ("control file sequential read", Storage(Other)),
    ("control file parallel write", Storage(Other)),
    ("control file single write", Storage(Other)),
    ("db file single write", Storage(Other)),
    ("log file single write", Storage(Other)),
    ("Disk file operations I/O", Storage(Other)),
    ("Disk file Mirror Read", Storage(Other)),
    ("Disk file I/O Calibration", Storage(Other)),
    ("Parameter File I/O", Storage(Other)),
    ("utl_file I/O", Storage(Other)),
    ("external table read", Storage(Other)),
    ("kfk: async disk IO", Storage(Other)),
    ("ASM IO for non-blocking poll", Storage(Other)),
    ("io done", Storage(Other)),
    ("recovery read", Storage(Other)),
    ("os thread creation", WaitCause::Other),
    ("buffer busy waits", Concurrency),
    ("row cache lock", Concurrency),
    ("SQL*Net message from client", Idle),
    ("SQL*Net message from dblink", Network),
    ("LNS wait on SENDREQ", Network),
    ("SYNC Remote Write", Network),
    ("Redo Transport Attach", Network),
    ("LGWR-LNS wait on channel", Network),
    ("PX Idle Wait", Idle),
    ("PL/SQL lock timer", Idle),
    ("pipe get", Idle),
    ("single-task message", Idle),
    ("class slave wait", Idle),
    ("jobq slave wait", Idle),
    ("jobq slave TJ process wait", Idle),
    ("i/o slave wait", Idle),
    ("wait for unread message on broadcast channel", Idle),
    ("wait for unread message on multiple broadcast channels", Idle),
    ("virtual circuit wait", Idle),
    ("virtual circuit next request", Idle),
    ("shared server idle wait", Idle),
    ("dispatcher timer", Idle),
    ("PX Nsq: PQ load info query", Idle),
    ("Recovery Server Servlet wait", Idle),
    ("auto-sqltune: wait graph update", Idle),
    ("recovery instance recovery completion", Idle),
    ("gcs remote message", Idle),
    ("ges remote message", Idle),
    ("GCR sleep", Idle),
    ("heartbeat redo informer", Idle),
    ("watchdog main loop", Idle),
    ("rdbms ipc message", Idle),
    ("OFS idle", Idle),
    ("LGWR worker group idle", Idle),
    ("AQPC idle", Idle),
    ("lreg timer", Idle),
    ("Space Manager: slave idle wait", Idle),
    ("Streams AQ: waiting for messages in the queue", Idle),
    ("Streams AQ: waiting for time management or cleanup tasks", Idle),
    ("PX Deq: Execution Msg", Idle),
    ("PX Deq: Execute Reply", Idle),
    ("PX Deq: Join ACK", Idle),
    ("PX Deq: Parse Reply", Idle),
    ("PX Deq: Table Q Normal", Idle),
    ("PX Deq Credit: need buffer", Idle),
    ("PX Deq Credit: send blkd", WaitCause::Other),
    // Classes of waits, for time outside of named events.
    ("wait class User I/O", Storage(Class::Read)),
    ("wait class System I/O", Storage(Other)),
    ("wait class Commit", Commit),
    ("wait class Application", Lock),
    ("wait class Concurrency", Concurrency),
    ("wait class Cluster", Cluster),
    ("wait class Network", Network),
    ("wait class Scheduler", Processor),
    ("wait class Configuration", WaitCause::Other),
    ("wait class Administrative", WaitCause::Other),
    ("wait class Queueing", WaitCause::Other),
    ("wait class Other", WaitCause::Other),
];

/// Prefixes, tried after exact names, in order.
const ORACLE_FAMILIES: &[(&str, WaitCause)] = &[
    ("cell single block", Storage(RandomRead)),
    ("cell list of blocks", Storage(RandomRead)),
    ("cell multiblock", Storage(SequentialRead)),
    ("cell smart restore", Storage(Backup)),
    ("cell smart incremental", Storage(Backup)),
    ("cell smart file creation", Storage(DataWrite)),
    ("cell smart", Storage(SequentialRead)),
    ("cell external table", Storage(SequentialRead)),
    ("direct path read", Storage(SequentialRead)),
    ("direct path write", Storage(DataWrite)),
    ("write complete waits", Behind(DataWrite)),
    ("log file switch", Behind(RedoWrite)),
    ("Log archive", Storage(Archive)),
    ("ARCH ", Network),
    ("Backup:", Storage(Backup)),
    ("RMAN", Storage(Backup)),
    ("flashback", Storage(Other)),
    ("control file", Storage(Other)),
    ("ASM file", Storage(Other)),
    ("securefile direct-read", Storage(SequentialRead)),
    ("securefile direct-write", Storage(DataWrite)),
    ("resmgr", Processor),
    ("enq: SQ", Concurrency),
    ("enq: HW", Concurrency),
    ("enq: IV", Cluster),
    ("enq:", Lock),
    ("latch", Concurrency),
    ("library cache", Concurrency),
    ("cursor:", Concurrency),
    ("buffer busy", Concurrency),
    ("gc buffer busy", Cluster),
    ("gc ", Cluster),
    ("gcs ", Cluster),
    ("ges ", Cluster),
    ("DFS lock handle", Cluster),
    ("SQL*Net", Network),
    ("TCP Socket", Network),
    ("LNS ", Network),
    ("LGWR", Network),
    ("Data Guard", Idle),
    ("PX Deq", Idle),
    ("Streams AQ: qmn", Idle),
    ("Streams AQ: waiting", Idle),
    ("DIAG idle", Idle),
    ("VKTM", Idle),
    ("EMON", Idle),
    ("KSV master", Idle),
];

fn oracle(event: &str) -> Option<WaitCause> {
    /// The narrowest column that truncates names.
    const NARROWEST: usize = 20;
    let cut = |known: &str| event.len() >= NARROWEST && known.starts_with(event);
    let whole = ORACLE.iter().find(|(name, _)| *name == event).or_else(|| ORACLE.iter().find(|(name, _)| cut(name)));
    let family = || ORACLE_FAMILIES.iter().find(|(start, _)| event.starts_with(start));
    let found = whole.or_else(family).map(|(_, waited)| *waited);
    found.or_else(|| (event.contains("idle wait") || event.ends_with(" timer")).then_some(Idle))
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

const POSTGRESQL: &[(&str, WaitCause)] = &[
    ("DataFileRead", Storage(Class::Read)),
    ("DataFilePrefetch", Storage(Class::Read)),
    ("AioIoCompletion", Storage(Class::Read)),
    ("DataFileWrite", Storage(DataWrite)),
    ("DataFileExtend", Storage(DataWrite)),
    ("DataFileFlush", Storage(Class::Flush)),
    ("DataFileSync", Storage(Class::Flush)),
    ("DataFileImmediateSync", Storage(Class::Flush)),
    ("DataFileTruncate", Storage(Other)),
    ("WALWrite", Storage(RedoWrite)),
    ("WalWrite", Storage(RedoWrite)),
    ("WALSync", Storage(RedoWrite)),
    ("WalSync", Storage(RedoWrite)),
    ("WALInitWrite", Storage(RedoWrite)),
    ("WALInitSync", Storage(RedoWrite)),
    ("BufFileRead", Storage(TempRead)),
    ("BufFileWrite", Storage(TempWrite)),
    ("BufferIO", Behind(Class::Read)),
    ("WALWriteLock", Behind(RedoWrite)),
    ("SyncRep", Network),
    ("BufferPin", Lock),
    ("transactionid", Lock),
    ("tuple", Lock),
    ("ClientRead", Idle),
    ("ClientWrite", Network),
];

/// `DataFileRead`, `IO:DataFileRead`, `LWLock:WALWrite`: with or without the type, which the view has in a separate
/// column.
fn postgresql(event: &str) -> Option<WaitCause> {
    let (family, name) = event.split_once([':', '/', '.']).map_or(("", event), |(family, name)| (family, name.trim()));
    // The same name is used for a lock in memory and for an operation.
    if family == "LWLock" && matches!(name, "WALWrite" | "WALWriteLock") {
        return Some(Behind(RedoWrite));
    }
    let of_family = || match family {
        "IO" => Some(Storage(Other)),
        "Lock" | "BufferPin" => Some(Lock),
        "LWLock" | "IPC" => Some(Concurrency),
        "Client" => Some(Network),
        "Activity" | "Timeout" => Some(Idle),
        "CPU" => Some(Processor),
        _ => None,
    };
    POSTGRESQL.iter().find(|(known, _)| *known == name).map(|(_, waited)| *waited).or_else(of_family)
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
            ("log file switch (checkpoin", Behind(DataWrite)),
            ("enq: TX - row lock contention", Lock),
            ("latch: cache buffers chains", Concurrency),
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
    fn only_buffered_reads_are_saved_by_a_larger_cache() {
        let saved = ["db file sequential read", "db file scattered read", "DataFileRead", "read by other session"];
        let stays = ["direct path read", "cell smart table scan", "direct path read temp", "log file sync", "idle"];
        assert!(saved.into_iter().all(is_through_cache));
        assert!(!stays.into_iter().any(is_through_cache));
    }
}
