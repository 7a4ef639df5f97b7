//! Recognition of a report's tables by their columns.

use crate::text::table::NamedTable;

/// The tables with storage figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum AwrSection {
    Database,
    Instance,
    Container,
    Host,
    Snapshots,
    CacheSizes,
    LoadProfile,
    IoProfile,
    TimeModel,
    OperatingSystem,
    ForegroundWaits,
    BackgroundWaits,
    Histogram,
    Statistics,
    FileTypes,
    Functions,
    Tablespaces,
    Files,
    BufferPoolAdvice,
    // Of reports about all instances of a cluster.
    ClusterDatabase,
    ClusterInstances,
    ClusterStatistics,
    ClusterTimeModel,
    ClusterSystems,
    ClusterFileTypes,
    ClusterWaits,
    ClusterCaches,
}

/// The columns that identify a section, by the beginnings of their names. All must be present; an empty string is the
/// first column without name.
const KEYS: &[(AwrSection, &[&str])] = &[
    (AwrSection::Database, &["db name", "db id", "release"]),
    (AwrSection::Instance, &["instance", "inst num", "startup time"]),
    (AwrSection::Container, &["container db id", "container name"]),
    (AwrSection::Host, &["host name", "platform", "cpus"]),
    (AwrSection::Snapshots, &["", "snap id", "snap time"]),
    (AwrSection::LoadProfile, &["", "per second", "per transaction"]),
    (AwrSection::IoProfile, &["", "read+write per second", "read per second", "write per second"]),
    (AwrSection::IoProfile, &["statistic", "read+write/s", "reads/s", "writes/s"]),
    (AwrSection::TimeModel, &["statistic name", "time (s)", "% of db time"]),
    (AwrSection::OperatingSystem, &["statistic", "value", "end value"]),
    (AwrSection::Histogram, &["event", "% of waits <"]),
    (AwrSection::Histogram, &["event", "% of total waits <"]),
    (AwrSection::ForegroundWaits, &["event", "waits", "total wait time (s)", "% db time"]),
    (AwrSection::BackgroundWaits, &["event", "waits", "total wait time (s)", "% bg time"]),
    (AwrSection::FileTypes, &["filetype name", "reads: data", "reqs per sec", "writes: data"]),
    (AwrSection::Functions, &["function name", "reads: data", "reqs per sec", "writes: data"]),
    (AwrSection::Files, &["tablespace", "filename", "reads", "writes"]),
    (AwrSection::Tablespaces, &["tablespace", "reads", "av", "writes"]),
    (AwrSection::BufferPoolAdvice, &["p", "size for est (m)", "size factor", "estimated phys reads"]),
    (AwrSection::ClusterStatistics, &["statistic", "total", "per second average"]),
    (AwrSection::Statistics, &["statistic", "total", "per second", "per trans"]),
    (AwrSection::ClusterInstances, &["i#", "instance", "host", "elapsed time(min)"]),
    (AwrSection::ClusterDatabase, &["database id", "database name", "report total (minutes) elapsed time"]),
    (AwrSection::ClusterTimeModel, &["i#", "db time (s)", "db cpu (s)", "bg time (s)"]),
    (AwrSection::ClusterSystems, &["i#", "cpu #cpus", "cpu #cores"]),
    (AwrSection::ClusterFileTypes, &["i#", "filetype name", "requests ios/s"]),
    (AwrSection::ClusterWaits, &["wait class", "wait event", "event waits", "wait time total(s)"]),
    (AwrSection::ClusterCaches, &["i#", "db cache begin"]),
];

impl AwrSection {
    /// The section of a table with these columns.
    pub(super) fn of(columns: &[String]) -> Option<Self> {
        let has = |key: &str, index: usize| {
            if key.is_empty() {
                index == 0 && columns.first().is_some_and(String::is_empty)
            } else {
                like(columns, key)
            }
        };
        let fits = |keys: &[&str]| keys.iter().enumerate().all(|(index, key)| has(key, index));
        let (section, _) = KEYS.iter().find(|(_, keys)| fits(keys))?;
        Some(*section)
    }

    /// The section of a table without column names: that of the cache sizes.
    pub(super) fn of_table(table: &NamedTable) -> Option<Self> {
        let begins = |start: &str| table.rows.iter().any(|row| row.cell(0).starts_with(start));
        if table.column("begin") == Some(1) && table.column("end") == Some(2) && begins("Buffer Cache:") {
            return Some(Self::CacheSizes);
        }
        Self::of(&table.columns)
    }

    /// The section of a table of text. Several tables of Statspack have equal column names, and are distinguished by
    /// their headings.
    pub(super) fn of_text(table: &NamedTable) -> Option<Self> {
        let has = |name: &str| like(&table.columns, name);
        let by_columns = match table.columns.first()?.as_str() {
            "load profile" => Some(Self::LoadProfile),
            "io profile" => Some(Self::IoProfile),
            "event" if table.columns.iter().filter(|column| column.contains('<')).count() >= 6 => Some(Self::Histogram),
            _ => Self::of(&table.columns),
        };
        by_columns.or_else(|| match table.heading.as_str() {
            "Foreground Wait Events" if has("event") && has("waits") => Some(Self::ForegroundWaits),
            "Background Wait Events" if has("event") && has("waits") => Some(Self::BackgroundWaits),
            "Time Model System Stats" if has("time (s)") => Some(Self::TimeModel),
            "OS Statistics" if has("statistic") && has("total") => Some(Self::OperatingSystem),
            "IO Stat by Function - summary" if has("requests /sec") => Some(Self::Functions),
            "Buffer Pool Advisory" if has("size for est (m)") => Some(Self::BufferPoolAdvice),
            _ if has("database") && has("db id") && has("release") => Some(Self::Database),
            _ if has("name") && has("platform") && has("cpus") => Some(Self::Host),
            _ => None,
        })
    }

    /// The name that reports use.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Database | Self::ClusterDatabase => "Database",
            Self::Instance => "Instance",
            Self::Container => "Container",
            Self::Host => "Host",
            Self::Snapshots => "Snapshots",
            Self::CacheSizes | Self::ClusterCaches => "Cache Sizes",
            Self::LoadProfile => "Load Profile",
            Self::IoProfile => "IO Profile",
            Self::TimeModel | Self::ClusterTimeModel => "Time Model Statistics",
            Self::OperatingSystem | Self::ClusterSystems => "Operating System Statistics",
            Self::ForegroundWaits => "Foreground Wait Events",
            Self::BackgroundWaits => "Background Wait Events",
            Self::Histogram => "Wait Event Histogram",
            Self::Statistics => "Instance Activity Stats",
            Self::FileTypes | Self::ClusterFileTypes => "IOStat by Filetype",
            Self::Functions => "IOStat by Function",
            Self::Tablespaces => "Tablespace IO Stats",
            Self::Files => "File IO Stats",
            Self::BufferPoolAdvice => "Buffer Pool Advisory",
            Self::ClusterInstances => "Database Instances",
            Self::ClusterStatistics => "System Statistics (Global)",
            Self::ClusterWaits => "Wait Events (Global)",
        }
    }
}

fn like(columns: &[String], start: &str) -> bool {
    columns.iter().any(|column| column.starts_with(start))
}
