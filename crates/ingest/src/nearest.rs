//! The nearest format of an input that no format resembles: by the words of its family, otherwise by its shape.

use crate::form::Head;
use crate::reading::FormatName;

/// A family of formats, by its best known member.
struct Family {
    kind: FormatName,
    /// Words in lower case, of which a member has several.
    words: &'static [&'static str],
    /// The missing mark, for the end of the sentence "but it has no ...".
    missing: &'static str,
}

const fn kind(id: &'static str, name: &'static str) -> FormatName {
    FormatName { id, name }
}

const TABLE: Family = Family {
    kind: kind("table", "table of samples"),
    words: &["iops", "timestamp", "read_", "write_"],
    missing: "first row with the names of columns, such as time,read_iops,write_iops,read_mbps",
};
const IOSTAT: Family = Family {
    kind: kind("iostat", "iostat"),
    words: &["r/s", "w/s", "await", "%util", "tps", "device"],
    missing: "line with the names of columns, such as Device r/s w/s rkB/s wkB/s r_await w_await",
};
const CLOUD: Family = Family {
    kind: kind("cloudwatch", "CloudWatch metrics"),
    words: &["datapoints", "\"timestamp\"", "\"metric\"", "\"values\""],
    missing: "MetricDataResults or Datapoints: export reads, writes and bytes of volumes as JSON",
};
const AWR: Family = Family {
    kind: kind("awr-html", "AWR report (HTML)"),
    words: &["snap id", "elapsed:", "db time", "load profile", "instance activity", "wait events"],
    missing: "heading WORKLOAD REPOSITORY",
};

const FAMILIES: [Family; 12] = [
    AWR,
    IOSTAT,
    CLOUD,
    TABLE,
    Family {
        kind: kind("vmstat", "vmstat"),
        words: &["procs", "swpd", " bi ", " bo "],
        missing: "line with the names of columns, with bi and bo",
    },
    Family {
        kind: kind("pdh", "performance counters (PDH-CSV)"),
        words: &["physicaldisk", "logicaldisk", "disk reads/sec", "disk transfers/sec", "pdh"],
        missing: "first line with (PDH-CSV 4.0): export the log with relog -f csv",
    },
    Family {
        kind: kind("dstat", "dstat (CSV)"),
        words: &["dstat", "dsk/", "io/total"],
        missing: "columns of disks: record with dstat --time -dr --output FILE",
    },
    Family {
        kind: kind("mysql-status", "SHOW GLOBAL STATUS of MySQL or MariaDB"),
        words: &["innodb_", "variable_name", "innodb", "mysql", "mariadb"],
        missing: "counters of InnoDB such as Innodb_data_reads",
    },
    Family {
        kind: kind("postgresql", "statistics of PostgreSQL"),
        words: &["pg_stat_", "blks_read", "backend_type", "postgres"],
        missing: "columns of pg_stat_io or pg_stat_database",
    },
    Family {
        kind: kind("sqlserver-files", "files of SQL Server"),
        words: &["num_of_reads", "io_stall", "sql server", "dm_io_virtual"],
        missing: "columns num_of_reads and num_of_bytes_read",
    },
    Family {
        kind: kind("prometheus", "Prometheus exposition"),
        words: &["node_disk_", "# help", "# type", "_total{"],
        missing: "metrics of disks such as node_disk_reads_completed_total",
    },
    Family {
        kind: kind("fio-json", "fio (JSON)"),
        words: &["fio-", "clat", "iodepth", "bw=", "iops=", "\"jobs\""],
        missing: "results of jobs: run fio with --output-format=json",
    },
];

/// The nearest format, and the missing mark.
pub(crate) fn of(head: &Head<'_>) -> (FormatName, &'static str) {
    let lower = head.text().to_lowercase();
    let score = |family: &Family| family.words.iter().filter(|word| lower.contains(**word)).count();
    let best = FAMILIES.iter().map(|family| (score(family), family)).rev().max_by_key(|(score, _)| *score);
    let family = match best {
        // A single word is as likely in prose.
        Some((2.., family)) => family,
        _ => by_shape(head),
    };
    (family.kind, family.missing)
}

fn by_shape<'a>(head: &Head<'_>) -> &'a Family {
    const TRIED: usize = 20;
    let text = head.text().trim_start();
    let lines = || text.lines().filter(|line| !line.trim().is_empty()).take(TRIED);
    let is_separated = |mark: char| lines().all(|line| line.contains(mark));
    if text.starts_with(['{', '[']) {
        &CLOUD
    } else if text.starts_with('<') {
        &AWR
    } else if [',', ';', '\t'].into_iter().any(is_separated) {
        &TABLE
    } else {
        &IOSTAT
    }
}
