//! Headers of Oracle's reports: database, host and time.

use jiff::civil::DateTime;

use super::awr::Release;
use super::sheet::SheetTable;
use super::{Workload, number};

const DATABASE: &str = "This table displays database instance information";

/// Header tables of an HTML report.
pub(super) fn build_header_tables(work: &Workload, release: Release) -> Vec<SheetTable> {
    let mut tables = if release == Release::R11 { one_table(work, release) } else { two_tables(work, release) };
    let mut host = SheetTable::new(
        "",
        "This table displays host information",
        &[("Host Name", 16), ("Platform", 32), ("CPUs", 4), ("Cores", 5), ("Sockets", 7), ("Memory (GB)", 10)],
    );
    host.row([work.host.as_str(), PLATFORM, &work.processors.to_string(), "", "", "64.00"]);
    tables.push(host);
    tables.push(snapshots(work));
    let cache = format!("{}M", number(work.cache_mib as f64, 0));
    let mut caches = SheetTable::new(
        "",
        "This table displays cache sizes and other statistics for                     different types of cache",
        &[("", 14), ("Begin", 10), ("End", 10), (" ", 16), ("  ", 10)],
    );
    caches.row(["Buffer Cache:", &cache, &cache, "Std Block Size:", &format!("{}K", work.block_bytes / 1024)]);
    tables.push(caches);
    tables
}

const PLATFORM: &str = "Linux x86 64-bit";

fn one_table(work: &Workload, release: Release) -> Vec<SheetTable> {
    let mut table = SheetTable::new(
        "",
        DATABASE,
        &[
            ("DB Name", 12),
            ("DB Id", 11),
            ("Instance", 12),
            ("Inst num", 8),
            ("Startup Time", 15),
            ("Release", 11),
            ("RAC", 3),
        ],
    );
    table.row([&work.database, "1", &work.instance, "1", &started(work), release.version(), "NO"]);
    vec![table]
}

fn two_tables(work: &Workload, release: Release) -> Vec<SheetTable> {
    let titles = ["DB Name", "DB Id", "Unique Name", "Role", "Edition", "Release", "RAC", "CDB"];
    let mut database = SheetTable::new("", DATABASE, &titles.map(|title| (title, 12)));
    database.row([&work.database, "1", &work.database, "PRIMARY", "EE", release.version(), "NO", "NO"]);
    let mut instance =
        SheetTable::new("", DATABASE, &["Instance", "Inst Num", "Startup Time"].map(|title| (title, 16)));
    let midnight = work.begin.date().to_datetime(jiff::civil::Time::midnight());
    instance.row([&work.instance, "1", &moment(midnight)]);
    vec![database, instance]
}

fn snapshots(work: &Workload) -> SheetTable {
    let columns = [("", 12), ("Snap Id", 9), ("Snap Time", 19), ("Sessions", 8), ("Cursors/Session", 9)];
    let mut table = SheetTable::new("", "This table displays snapshot information", &columns);
    table.row(["Begin Snap:", "1", &moment(work.begin), "", ""]);
    table.row(["End Snap:", "2", &moment(work.end()), "", ""]);
    table.row(["Elapsed:", "", &minutes(f64::from(work.minutes)), "", ""]);
    table.row(["DB Time:", "", &minutes(work.database_s() / 60.0), "", ""]);
    table
}

/// Header of an AWR report as text.
pub(super) fn awr_text(work: &Workload) -> String {
    let mut page = "\nWORKLOAD REPOSITORY report for\n\n".to_owned();
    for table in one_table(work, Release::R11) {
        table.text(&mut page);
    }
    page += &format!(
        "\n{:16} {:32} CPUs Cores Sockets Memory(GB)\n{} {} ---- ----- ------- ----------\n{:16} {PLATFORM:32} {:>4} {:>23}\n",
        "Host Name",
        "Platform",
        "-".repeat(16),
        "-".repeat(32),
        cut(&work.host, 16),
        work.processors,
        "64.00"
    );
    page += "\n              Snap Id      Snap Time      Sessions Curs/Sess\n            --------- ------------------- -------- ---------\n";
    page += &format!("Begin Snap: {:>9} {} {:>8} {:>9}\n", 1, moment(work.begin), 40, "1.0");
    page += &format!("  End Snap: {:>9} {} {:>8} {:>9}\n", 2, moment(work.end()), 40, "1.0");
    page += &format!("   Elapsed: {:>20}\n", minutes(f64::from(work.minutes)));
    page += &format!("   DB Time: {:>20}\n", minutes(work.database_s() / 60.0));
    page
}

/// Cache sizes of an AWR report as text.
pub(super) fn awr_caches(work: &Workload) -> String {
    let cache = format!("{}M", number(work.cache_mib as f64, 0));
    format!(
        "\nCache Sizes                       Begin        End\n~~~~~~~~~~~                  ---------- ----------\n               Buffer Cache: {cache:>10} {cache:>10}  Std Block Size: {:>10}\n",
        format!("{}K", work.block_bytes / 1024)
    )
}

/// Header of a Statspack report.
pub(super) fn statspack(work: &Workload) -> String {
    let mut page = "\nSTATSPACK report for\n\n".to_owned();
    page += "Database    DB Id    Instance     Inst Num  Startup Time   Release     RAC\n";
    page += "~~~~~~~~ ----------- ------------ -------- --------------- ----------- ---\n";
    page += &format!(
        "         {:>11} {:12} {:>8} {:15} {:11} NO\n",
        1,
        cut(&work.instance, 12),
        1,
        started(work),
        Release::R11.version()
    );
    page += "\nHost Name             Platform                CPUs Cores Sockets   Memory (G)\n";
    page += "~~~~ ---------------- ---------------------- ----- ----- ------- ------------\n";
    page += &format!("     {:16} {PLATFORM:22} {:>5} {:>26}\n", cut(&work.host, 16), work.processors, "64.0");
    page += "\nSnapshot       Snap Id     Snap Time      Sessions Curs/Sess Comment\n";
    page += "~~~~~~~~    ---------- ------------------ -------- --------- ------------------\n";
    page += &format!("Begin Snap: {:>10} {} {:>8} {:>9}\n", 1, moment(work.begin), 40, "1.0");
    page += &format!("  End Snap: {:>10} {} {:>8} {:>9}\n", 2, moment(work.end()), 40, "1.0");
    let sessions = number(work.database_s() / work.seconds(), 1);
    page += &format!("   Elapsed: {:>17} Av Act Sess: {sessions:>9}\n", minutes(f64::from(work.minutes)));
    let processor = minutes(work.processor_s as f64 / 60.0);
    page += &format!("   DB time: {:>17}      DB CPU: {processor:>17}\n", minutes(work.database_s() / 60.0));
    let cache = format!("{}M", number(work.cache_mib as f64, 0));
    page += "\nCache Sizes            Begin        End\n~~~~~~~~~~~       ---------- ----------\n";
    page += &format!(
        "    Buffer Cache: {cache:>10}              Std Block Size: {:>10}\n",
        format!("{}K", work.block_bytes / 1024)
    );
    page
}

fn cut(text: &str, letters: usize) -> String {
    text.chars().take(letters).collect()
}

fn minutes(value: f64) -> String {
    format!("{} (mins)", number(value, 2))
}

/// Start of the instance at midnight; reports print it without seconds.
fn started(work: &Workload) -> String {
    let midnight = work.begin.date().to_datetime(jiff::civil::Time::midnight());
    moment(midnight)[..15].to_owned()
}

fn moment(at: DateTime) -> String {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = MONTHS[at.month() as usize - 1];
    let clock = format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second());
    format!("{:02}-{month}-{:02} {clock}", at.day(), at.year() % 100)
}
