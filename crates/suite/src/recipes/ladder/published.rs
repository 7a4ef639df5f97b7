//! The published ladder: full scans of a table in Oracle on an Azure disk, 2014.

use std::sync::LazyLock;

use crate::recipes::articles::published::article;

pub(super) const FOLLOWS: &str = "froop: striping disks of Windows Server on Microsoft Azure (gist, Japanese), ladder of a full scan of 13 September 2014";

pub(super) const TITLE: &str = "Compared with the article's full scan in Oracle on an Azure disk, 2014";

pub(super) struct LadderRow {
    /// Concurrent statements.
    pub(super) sessions: u32,
    /// Mean response time, in seconds.
    pub(super) mean_s: f64,
    /// Throughput, in statements per minute.
    pub(super) per_minute: f64,
}

pub(super) static ROWS: LazyLock<[LadderRow; 8]> = LazyLock::new(|| {
    let table = article("azure-striping").table("ladder");
    let [sessions, means, rates] = ["sessions", "mean", "throughput"].map(|label| table.figures::<8>(label));
    std::array::from_fn(|index| LadderRow {
        sessions: sessions[index] as u32,
        mean_s: means[index],
        per_minute: rates[index],
    })
});

/// Fit of the table: service time of the queueing station and delay elsewhere, in seconds.
pub(super) const STATION_S: (f64, f64) = (3.48, 9.88);
