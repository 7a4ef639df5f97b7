//! Recognition of a report's tables by their columns.

use super::top::INSTANCE;
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
    Memory,
    /// Processors and memory that the resource manager allows.
    ResourceLimits,
    SgaAdvice,
    PgaAdvice,
    LoadProfile,
    IoProfile,
    TimeModel,
    OperatingSystem,
    /// The processors of the host on the front page.
    HostProcessors,
    ForegroundWaits,
    BackgroundWaits,
    /// Waits of all processes together, in releases before 11.1 and in Statspack.
    AllWaits,
    /// The events with most time, rounded.
    TopEvents,
    /// Periods that the database analysed (ADDM), with their active sessions.
    Analyses,
    /// Statements with most reads, by blocks or by requests.
    Statements,
    /// Segments with most reads, likewise.
    Segments,
    Histogram,
    Statistics,
    /// Statistics of the log thread, per hour.
    ThreadActivity,
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
    ClusterPga,
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
    (AwrSection::HostProcessors, &["%user", "%system", "%wio", "%idle"]),
    (AwrSection::Analyses, &["finding name", "avg active sessions of the task", "begin snap time", "end snap time"]),
    (AwrSection::Statements, &["physical reads", "executions", "sql id"]),
    (AwrSection::Statements, &["unoptimized read reqs", "physical read reqs", "sql id"]),
    (AwrSection::Statements, &["sql id", "total reads", "total execs"]),
    (AwrSection::Statements, &["physical rds", "executions", "rds per exec"]),
    (AwrSection::Segments, &["owner", "object name", "physical reads"]),
    (AwrSection::Segments, &["owner", "object name", "phys read requests"]),
    (AwrSection::Histogram, &["event", "% of waits <"]),
    (AwrSection::Histogram, &["event", "% of total waits <"]),
    (AwrSection::ForegroundWaits, &["event", "waits", "total wait time (s)", "% db time"]),
    (AwrSection::BackgroundWaits, &["event", "waits", "total wait time (s)", "% bg time"]),
    (AwrSection::AllWaits, &["event", "waits", "total wait time (s)", "waits /txn"]),
    (AwrSection::FileTypes, &["filetype name", "reads: data", "reqs per sec", "writes: data"]),
    (AwrSection::Functions, &["function name", "reads: data", "reqs per sec", "writes: data"]),
    (AwrSection::Files, &["tablespace", "filename", "reads", "writes"]),
    (AwrSection::Tablespaces, &["tablespace", "reads", "av", "writes"]),
    (AwrSection::BufferPoolAdvice, &["p", "size for est (m)", "size factor", "estimated phys reads"]),
    (AwrSection::ClusterStatistics, &["statistic", "total", "per second average"]),
    (AwrSection::Statistics, &["statistic", "total", "per second", "per trans"]),
    (AwrSection::ThreadActivity, &["statistic", "total", "per hour"]),
    (AwrSection::ClusterInstances, &["i#", "instance", "host", "elapsed time(min)"]),
    (AwrSection::ClusterDatabase, &["database id", "database name", "report total (minutes) elapsed time"]),
    (AwrSection::ClusterTimeModel, &["i#", "db time (s)", "db cpu (s)", "bg time (s)"]),
    (AwrSection::ClusterSystems, &["i#", "cpu #cpus", "cpu #cores"]),
    (AwrSection::ClusterFileTypes, &["i#", "filetype name", "requests ios/s"]),
    (AwrSection::ClusterWaits, &["wait class", "wait event", "event waits", "wait time total(s)"]),
    (AwrSection::ClusterCaches, &["i#", "db cache begin"]),
    (AwrSection::ClusterPga, &["i#", "pga mem alloc begin"]),
    (AwrSection::SgaAdvice, &["sga target size (m)", "sga size factor"]),
    (AwrSection::PgaAdvice, &["pga target est (mb)", "size fact"]),
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
        if is_top_events(columns) {
            return Some(Self::TopEvents);
        }
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
        if table.column("begin").is_some() && begins("CPUs:") && (begins("SGA Target") || begins("PGA Target")) {
            return Some(Self::ResourceLimits);
        }
        if begins("SGA use") || begins("PGA use") {
            return Some(Self::Memory);
        }
        Self::of(&table.columns).map(|section| section.under(&table.heading))
    }

    /// The section under a heading: tables of waits of different processes may have equal columns.
    fn under(self, heading: &str) -> Self {
        match self {
            Self::AllWaits if heading.starts_with("Foreground") => Self::ForegroundWaits,
            Self::AllWaits if heading.starts_with("Background") => Self::BackgroundWaits,
            section => section,
        }
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
        by_columns.map(|section| section.under(&table.heading)).or_else(|| match table.heading.as_str() {
            "Foreground Wait Events" if has("event") && has("waits") => Some(Self::ForegroundWaits),
            "Background Wait Events" if has("event") && has("waits") => Some(Self::BackgroundWaits),
            "Time Model System Stats" if has("time (s)") => Some(Self::TimeModel),
            "OS Statistics" | "Operating System Statistics" if has("statistic") && has("total") => {
                Some(Self::OperatingSystem)
            }
            "IO Stat by Function - summary" if has("requests /sec") => Some(Self::Functions),
            "Buffer Pool Advisory" if has("size for est (m)") => Some(Self::BufferPoolAdvice),
            _ if has("database") && has("db id") && has("release") => Some(Self::Database),
            _ if has("name") && has("platform") && has("cpus") => Some(Self::Host),
            _ => None,
        })
    }

    /// True for the heading of a table of waits, operations or times of text.
    pub(super) fn is_of_storage(heading: &str) -> bool {
        const SECTIONS: [AwrSection; 13] = [
            AwrSection::ForegroundWaits,
            AwrSection::BackgroundWaits,
            AwrSection::AllWaits,
            AwrSection::Histogram,
            AwrSection::Statistics,
            AwrSection::FileTypes,
            AwrSection::Functions,
            AwrSection::Tablespaces,
            AwrSection::Files,
            AwrSection::BufferPoolAdvice,
            AwrSection::TimeModel,
            AwrSection::OperatingSystem,
            AwrSection::Statements,
        ];
        let begins = |section: &AwrSection| heading.starts_with(section.name());
        SECTIONS.iter().any(begins) || heading.starts_with("IO Stat by Function")
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
            Self::Memory => "Memory Statistics",
            Self::ResourceLimits => "Database Resource Limits",
            Self::SgaAdvice => "SGA Target Advisory",
            Self::PgaAdvice => "PGA Memory Advisory",
            Self::ClusterPga => "PGA Aggregate Target Statistics",
            Self::LoadProfile => "Load Profile",
            Self::IoProfile => "IO Profile",
            Self::TimeModel | Self::ClusterTimeModel => "Time Model Statistics",
            Self::OperatingSystem | Self::ClusterSystems => "Operating System Statistics",
            Self::HostProcessors => "Host CPU",
            Self::ForegroundWaits => "Foreground Wait Events",
            Self::BackgroundWaits => "Background Wait Events",
            Self::AllWaits => "Wait Events",
            Self::TopEvents => "Top Timed Events",
            Self::Analyses => "Top ADDM Findings",
            Self::Statements => "SQL ordered by Reads",
            Self::Segments => "Segments by Physical Reads",
            Self::Histogram => "Wait Event Histogram",
            Self::Statistics => "Instance Activity Stats",
            Self::ThreadActivity => "Instance Activity Stats - Thread Activity",
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

/// True for the columns of the events with most time: `Time(s)` and a share of the time of calls, or of the database.
/// Complete tables of waits have the share of time-outs as well. Tables of a cluster begin with the instance.
fn is_top_events(columns: &[String]) -> bool {
    let has = |starts: &[&str]| starts.iter().any(|start| like(columns, start));
    let first = columns.iter().find(|name| *name != INSTANCE);
    let is_of_events = first.is_some_and(|name| name == "event" || name.ends_with(" event"));
    let is_timed = has(&["time(s)", "time (s)", "total wait time (sec)"]);
    let is_share = has(&["% db time", "%db time", "% total", "%total"]);
    is_of_events && like(columns, "waits") && is_timed && is_share && !has(&["%tim"])
}

fn like(columns: &[String], start: &str) -> bool {
    columns.iter().any(|column| column.starts_with(start))
}
