//! Verdicts of suites on databases.

use plimsoll_load::Pace;
use plimsoll_units::{Bytes, Span};
use serde::{Deserialize, Serialize};

use crate::database::{DelayAndQueue, SessionLimit, Spent};
use crate::figures::{Knee, LoadLine};
use crate::stored;

/// A verdict of suites with concurrent sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum SessionVerdict {
    /// The load line of a curve.
    LoadLine {
        /// The curve of `slob`; null for transactions.
        update_pct: Option<u32>,
        /// The load line; transactions of `slob` are units of work.
        line: LoadLine,
        /// Block I/O per second at the load line; null if unknown.
        blocks_per_second: Option<f64>,
    },
    /// The resource that limits a load.
    BindingLimit {
        /// The curve of `slob`; null for others.
        update_pct: Option<u32>,
        /// The load.
        offered: Pace,
        /// The resource; null if no saturated resource was observed.
        #[serde(default, deserialize_with = "stored::read_optional")]
        limit: Option<SessionLimit>,
        /// Observations.
        evidence: LimitEvidence,
    },
}

/// Use of resources at a load; null if unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LimitEvidence {
    /// State in which sessions spent the largest share of the time, and the share.
    pub sessions: Option<(Spent, f64)>,
    /// Share of the host's processors in use.
    pub host_share: Option<f64>,
    /// Device, and the share of the time that it was busy.
    pub device: Option<(String, f64)>,
    /// Mean time of a read of the device, in nanoseconds.
    #[serde(rename = "device_read_ns")]
    pub device_read: Option<Span>,
    /// Limit of a simulated or emulated volume, and the share of answers that it delayed.
    pub volume: Option<(String, f64)>,
}

/// A verdict of `oltp`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum OltpVerdict {
    /// The highest rate.
    MaximumTransactions {
        /// Transactions per second.
        per_second: f64,
        /// The load.
        offered: Pace,
    },
    /// The knee.
    Knee {
        /// The knee, in transactions per second.
        knee: Knee,
    },
    /// Use of the host's processors by the clients.
    Clients {
        /// Share of the processors.
        share: f64,
        /// Whether it is so high that it is a part of the measured load.
        excessive: bool,
    },
    /// The tables were loaded incorrectly.
    TablesNotLoaded {
        /// Tables with a wrong number of rows.
        tables: Vec<WrongTable>,
    },
    /// The run ended before the check of consistency.
    ConsistencyUnchecked {
        /// The script, such as `tpc-b`.
        script: String,
    },
    /// The data are consistent.
    Consistent {
        /// The script, such as `tpc-b`.
        script: String,
    },
    /// The data are inconsistent.
    InconsistentData {
        /// Inconsistencies.
        inconsistencies: Vec<Inconsistency>,
    },
    /// Differences from TPC-C.
    TpcCLike {
        /// Number of new orders that were rolled back intentionally.
        rolled_back: u64,
    },
}

/// A table with a wrong number of rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrongTable {
    /// Name.
    pub table: String,
    /// Number of rows.
    pub rows: u64,
    /// Required number.
    pub expected: u64,
}

/// A count or sum that does not match another, or the committed transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Inconsistency {
    /// The count or sum.
    pub check: ConsistencyCheck,
    /// Its value.
    pub found: i64,
    /// The required value.
    pub expected: i64,
    /// Number of transactions that may have been committed: the value may be greater by this number.
    pub unsure: u64,
}

impl Inconsistency {
    /// An inconsistency if the value is not in its range.
    pub fn find(check: ConsistencyCheck, found: i64, expected: i64, unsure: u64) -> Option<Self> {
        let range = expected..=expected.saturating_add_unsigned(unsure);
        (!range.contains(&found)).then_some(Self { check, found, expected, unsure })
    }
}

/// A count or sum of the tables of `oltp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ConsistencyCheck {
    /// Balances of accounts.
    AccountBalances,
    /// Balances of tellers.
    TellerBalances,
    /// Balances of branches.
    BranchBalances,
    /// Rows of the history.
    HistoryRows,
    /// Orders, compared with the numbers assigned by districts.
    Orders,
    /// Lines of orders, compared with the line counts of the orders.
    OrderLines,
    /// Hundredths of money of warehouses, compared with those of their districts.
    Money,
    /// Districts whose newest order is not the last assigned number.
    NewestOrders,
    /// New orders that are not delivered, compared with new orders.
    Undelivered,
    /// New orders, compared with committed transactions.
    CommittedOrders,
    /// Payments, compared with committed transactions.
    CommittedPayments,
}

/// A verdict of `ladder`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum LadderVerdict {
    /// A delay and a queue do not describe the throughput.
    PoorFit {
        /// Largest relative error of the best fit.
        error_share: f64,
    },
    /// The station that limits the throughput.
    Station {
        /// Fit.
        fitted: DelayAndQueue,
        /// The highest number of sessions.
        sessions: u32,
        /// Mean response time at that number, in nanoseconds.
        #[serde(rename = "mean_ns")]
        mean: Span,
    },
    /// Throughput grew linearly.
    NoStation {
        /// The highest number of sessions.
        sessions: u32,
        /// Its throughput divided by that of the first rung.
        ratio: f64,
        /// Sessions of the first rung.
        first_sessions: u32,
    },
    /// A rung ended early.
    EndedEarly {
        /// Number of sessions.
        sessions: u32,
        /// Completed executions.
        done: u64,
        /// Planned executions.
        planned: u64,
    },
    /// Data that a scan read from storage.
    Fetched {
        /// Size of the table.
        table_bytes: Bytes,
        /// Number of sessions.
        sessions: u32,
        /// Size of the data read by a scan.
        fetched_bytes: Bytes,
    },
    /// The table fits into a cache.
    TableInCache {
        /// Size of the table.
        table_bytes: Bytes,
        /// Size of the cache.
        cache_bytes: Bytes,
        /// Whether it is the page cache; otherwise the cache of the database.
        page_cache: bool,
    },
    /// All executions returned the same rows.
    EqualRows {
        /// Number of executions.
        executions: u64,
    },
    /// Executions returned other rows than the first.
    DifferentRows {
        /// Rungs with such executions.
        rungs: Vec<OtherRows>,
    },
    /// Comparison of the station with an article.
    PublishedStation {
        /// Fit.
        fitted: DelayAndQueue,
        /// Fit of the published figures.
        published: DelayAndQueue,
    },
}

/// Executions of a rung with other rows than the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherRows {
    /// Number of executions with other rows.
    pub differing: u64,
    /// Number of all executions.
    pub executions: u64,
    /// Number of sessions.
    pub sessions: u32,
}

/// A verdict of `slob`. `threads` are those of each schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum SlobVerdict {
    /// A schema without a row per block.
    UnevenBlocks {
        /// Number of the schema.
        schema: i64,
        /// Rows per block.
        rows_per_block: f64,
    },
    /// The highest rate of block I/O.
    MaximumBlocks {
        /// The curve.
        update_pct: u32,
        /// Reads and writes of blocks per second.
        blocks_per_second: f64,
        /// Threads.
        threads: u32,
        /// Sessions of all schemas.
        sessions: u32,
        /// Share of reads.
        read_share: f64,
        /// Mean time of a read, in nanoseconds; null if unknown.
        #[serde(rename = "read_ns")]
        read: Option<Span>,
    },
    /// The highest rate of a database that does not count block I/O.
    MaximumUnits {
        /// The curve.
        update_pct: u32,
        /// Units of work per second.
        units_per_second: f64,
        /// Threads.
        threads: u32,
    },
    /// The knee.
    UnitKnee {
        /// The curve.
        update_pct: u32,
        /// Threads.
        threads: u32,
        /// Units of work per second.
        units_per_second: f64,
        /// Reads and writes of blocks per second; null if unknown.
        blocks_per_second: Option<f64>,
    },
    /// Block I/O within a mean read time.
    ReadLatency {
        /// The curve.
        update_pct: u32,
        /// The mean read time, in nanoseconds.
        #[serde(rename = "limit_ns")]
        limit: Span,
        /// Reads and writes of blocks per second; null if reads took longer at every load.
        blocks_per_second: Option<f64>,
        /// Whether the mean reached the limit there; otherwise all loads stayed within it.
        reached: bool,
    },
    /// Hits of the page cache below the database are unknown.
    PageCacheUnknown,
    /// Reads of the database reached the storage.
    ReadsReachedStorage {
        /// Largest share of reads served by the page cache.
        share: f64,
        /// Its curve.
        update_pct: u32,
        /// Its threads.
        threads: u32,
    },
    /// The page cache served reads of the database.
    PageCacheReads {
        /// Largest share of reads served by the page cache.
        share: f64,
        /// Its curve.
        update_pct: u32,
        /// Its threads.
        threads: u32,
        /// Remedy.
        remedy: CacheRemedy,
    },
    /// Columns hold repeated text.
    RepeatedText {
        /// Size of a row.
        row_bytes: Bytes,
    },
    /// Columns hold random bytes.
    RandomBytes {
        /// Size of a row.
        row_bytes: Bytes,
        /// The database system.
        system: String,
    },
    /// Settings in SLOB's terms.
    Settings {
        /// Number of schemas.
        schemas: u32,
        /// `SCALE`: rows of a schema.
        scale: u64,
        /// Size of a block.
        block_bytes: Bytes,
        /// `UPDATE_PCT` of each curve.
        update_pcts: Vec<u32>,
        /// `WORK_UNIT`.
        work_unit: u64,
        /// Blocks read by a unit of work.
        blocks: u64,
        /// `REDO_STRESS`.
        redo_stress: String,
        /// The database's cache; null if unknown.
        cache_bytes: Option<Bytes>,
    },
}

/// Remedy for reads served by the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CacheRemedy {
    /// Change the limit of memory, or the scale.
    ChangeMemory,
    /// Limit the memory of the temporary server.
    LimitMemory,
    /// Load more data, or use a temporary server.
    LoadMore,
}

/// A verdict of `sql-bench`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum SqlBenchVerdict {
    /// Statements returned wrong rows.
    WrongRows {
        /// Name of the test.
        test: String,
        /// Name of the section.
        section: String,
        /// Number of such statements.
        wrong: u64,
        /// Number of executed statements.
        done: u64,
        /// The first; null if unknown.
        first: Option<String>,
    },
    /// Time of a row in its own transaction.
    RowCommit {
        /// Median in nanoseconds.
        #[serde(rename = "median_ns")]
        median: Span,
        /// Number of commits.
        commits: u64,
        /// Flushes per commit.
        flushes: FlushCounts,
    },
    /// Flushes are disabled in the settings of the server.
    FlushesDisabled,
    /// The server flushed its log for fewer than half of the commits.
    FewServerFlushes,
    /// The device was flushed for commits.
    DeviceFlushed {
        /// Whether the server is set to flush at each commit; null if unknown.
        durable: Option<bool>,
        /// Whether the medium is a rotating disk.
        rotates: bool,
    },
    /// The device was not flushed for commits.
    DeviceNotFlushed {
        /// Whether the server is set to flush at each commit; null if unknown.
        durable: Option<bool>,
        /// Write cache of the device, as named by the kernel; null if unknown.
        write_cache: Option<String>,
    },
    /// Flushes of the device are unknown.
    DeviceFlushesUnknown {
        /// Whether the server is set to flush at each commit; null if unknown.
        durable: Option<bool>,
        /// Whether the medium is a rotating disk.
        rotates: bool,
    },
    /// Time of a CREATE TABLE.
    TableCreation {
        /// Median in nanoseconds.
        #[serde(rename = "median_ns")]
        median: Span,
        /// Tables per second.
        per_second: f64,
        /// Flushes per table.
        flushes: FlushCounts,
    },
    /// Shares of flushes in the time of tests.
    FlushShares {
        /// Tests limited by flushes.
        flushing: Vec<TestShare>,
        /// Tests limited by both.
        both: Vec<TestShare>,
        /// Tests limited by processors.
        processors: Vec<TestShare>,
    },
    /// Tables were smaller than those of the benchmark.
    SmallTables {
        /// Size relative to full size.
        size: f64,
    },
    /// Sections executed a part of their operations.
    PartialSections {
        /// Share of the operations.
        scale: f64,
    },
    /// Deviation of sections from their definition.
    SectionNote {
        /// Names of the sections.
        sections: Vec<String>,
        /// Deviation.
        note: BenchNote,
    },
    /// The published times of `create`.
    PublishedCreate,
    /// The published times of `alter-table` and `wisconsin`.
    PublishedAlterTable,
    /// The published times of `insert`.
    PublishedInsert,
}

/// Flushes per operation; null if unknown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlushCounts {
    /// Flushes of the log, counted by the server.
    pub server: Option<f64>,
    /// Flushes of the device, including those of other files.
    pub device: Option<f64>,
}

/// Share of a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TestShare {
    /// Name of the test.
    pub test: String,
    /// Share of its time.
    pub share: f64,
}

/// Deviation of a section from its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BenchNote {
    /// Statements change one column each.
    SingleColumns,
    /// Keys are unique.
    UniqueKeys,
    /// Executed as text.
    ExecutedAsText,
    /// Prepared in SQL.
    PreparedInSql,
    /// Inserts of existing keys are ignored.
    IgnoredDuplicates,
}
