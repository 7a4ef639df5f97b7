//! The published ladder: full scans of a table in Oracle on an Azure disk, 2014.

/// The followed article.
pub(super) const FOLLOWS: &str = "froop: striping disks of Windows Server on Microsoft Azure (gist, Japanese), ladder of a full scan of 13 September 2014";

/// Title of the comparison.
pub(super) const TITLE: &str = "Compared with the article's full scan in Oracle on an Azure disk, 2014";

/// A row of the table.
pub(super) struct LadderRow {
    /// Concurrent statements.
    pub(super) sessions: u32,
    /// Mean response time, in seconds.
    pub(super) mean_s: f64,
    /// Throughput, in statements per minute.
    pub(super) per_minute: f64,
}

const fn row(sessions: u32, mean_s: f64, per_minute: f64) -> LadderRow {
    LadderRow { sessions, mean_s, per_minute }
}

/// The table.
pub(super) const ROWS: [LadderRow; 8] = [
    row(1, 13.36, 4.5),
    row(2, 13.91, 8.6),
    row(3, 15.25, 11.8),
    row(4, 17.67, 13.6),
    row(5, 19.70, 15.2),
    row(6, 22.51, 16.0),
    row(9, 30.04, 18.0),
    row(12, 41.99, 17.1),
];

/// Fit of the table: service time of the queueing station and delay elsewhere, in seconds.
pub(super) const STATION_S: (f64, f64) = (3.48, 9.88);
