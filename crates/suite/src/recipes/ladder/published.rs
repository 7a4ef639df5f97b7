//! The ladder that an article published: a full scan of a table in Oracle, on a disk of Azure in 2014.

/// What the suite follows.
pub(super) const FOLLOWS: &str = "froop: striping disks of Windows Server on Microsoft Azure (gist, Japanese), ladder of a full scan of 13 September 2014";

/// Above the comparison.
pub(super) const TITLE: &str = "Beside the article's full scan in Oracle on one disk of Azure, 2014";

/// A line of its table.
pub(super) struct Row {
    /// Statements at once.
    pub(super) sessions: u32,
    /// Mean response, in seconds.
    pub(super) mean_s: f64,
    /// Throughput, in statements per minute.
    pub(super) per_minute: f64,
}

const fn row(sessions: u32, mean_s: f64, per_minute: f64) -> Row {
    Row { sessions, mean_s, per_minute }
}

/// Its table.
pub(super) const ROWS: [Row; 8] = [
    row(1, 13.36, 4.5),
    row(2, 13.91, 8.6),
    row(3, 15.25, 11.8),
    row(4, 17.67, 13.6),
    row(5, 19.70, 15.2),
    row(6, 22.51, 16.0),
    row(9, 30.04, 18.0),
    row(12, 41.99, 17.1),
];

/// The delay and the queue that its table is fitted by: seconds at the station that queues, and elsewhere.
pub(super) const STATION_S: (f64, f64) = (3.48, 9.88);
