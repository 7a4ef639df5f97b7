//! I/O sections: statistics, profile, file types, functions, tablespaces, and cache advice.

use super::AwrFormat;
use crate::sheet::SheetTable;
use crate::{Workload, number};

const MIB: f64 = 1_048_576.0;

/// Rows of the I/O profile: name, reads and writes, reads, writes, each per second.
fn profile_rows(work: &Workload) -> Vec<[String; 4]> {
    let row = |name: &str, (reads, writes): (f64, f64)| {
        let [both, reads, writes] = [reads + writes, reads, writes].map(|value| number(value / work.seconds(), 1));
        [format!("{name}:"), both, reads, writes]
    };
    let (read, data, redo) = (work.read_bytes() as f64, work.data_bytes() as f64, work.redo_bytes() as f64);
    let (reads, data_writes, redo_writes) = (work.reads() as f64, work.data_writes as f64, work.redo_writes as f64);
    let block = work.block_bytes as f64;
    vec![
        row("Total Requests", (reads, data_writes + redo_writes)),
        row("Database Requests", (reads, data_writes)),
        row("Redo Requests", (0.0, redo_writes)),
        row("Total (MB)", (read / MIB, (data + redo) / MIB)),
        row("Database (MB)", (read / MIB, data / MIB)),
        row("Redo (MB)", (0.0, redo / MIB)),
        row("Database (blocks)", (read / block, data / block)),
    ]
}

pub(super) fn profile(work: &Workload) -> SheetTable {
    let titles = [("", 26), ("Read+Write Per Second", 17), ("Read per Second", 15), ("Write Per Second", 15)];
    let mut table = SheetTable::new("IO Profile", "This table displays IO profile", &titles);
    for row in profile_rows(work) {
        table.row(row);
    }
    table
}

/// The I/O profile on the front page of a text report, with right-aligned names.
pub(super) fn profile_text(work: &Workload) -> String {
    let mut page = "\nIO Profile                  Read+Write/Second     Read/Second    Write/Second\n".to_owned();
    page += "~~~~~~~~~~                  ----------------- --------------- ---------------\n";
    for [name, both, reads, writes] in profile_rows(work) {
        page += &format!("{name:>27} {both:>17} {reads:>15} {writes:>15}\n");
    }
    page
}

pub(super) fn statistics(work: &Workload) -> SheetTable {
    let totals = [
        ("physical read IO requests", work.reads()),
        ("physical read bytes", work.read_bytes()),
        ("physical read total IO requests", work.reads()),
        ("physical read total bytes", work.read_bytes()),
        ("physical read total multi block requests", work.several_reads),
        ("physical reads", work.read_bytes() / work.block_bytes),
        ("physical write IO requests", work.data_writes),
        ("physical write bytes", work.data_bytes()),
        ("physical write total IO requests", work.data_writes + work.redo_writes),
        ("physical write total bytes", work.data_bytes() + work.redo_bytes()),
        ("redo size", work.redo_bytes()),
        ("redo writes", work.redo_writes),
    ];
    let titles = [("Statistic", 33), ("Total", 20), ("per Second", 16), ("per Trans", 10)];
    let mut table =
        SheetTable::new("Instance Activity Stats", "This table displays Instance activity statistics", &titles);
    for (name, total) in totals {
        table.row([name, &number(total as f64, 0), &number(work.rate(total), 2), ""]);
    }
    table
}

/// Reads and writes with their bytes, by file type.
fn types(work: &Workload) -> [(&'static str, [u64; 2], [u64; 2]); 2] {
    [
        ("Data File", [work.reads(), work.read_bytes()], [work.data_writes, work.data_bytes()]),
        ("Log File", [0, 0], [work.redo_writes, work.redo_bytes()]),
    ]
}

pub(super) fn file_types(work: &Workload) -> SheetTable {
    let titles = [
        ("Filetype Name", 15),
        ("Reads:|Data", 8),
        ("Reqs|per sec", 9),
        ("Data|per sec", 9),
        ("Writes:|Data", 8),
        ("Reqs|per sec", 9),
        ("Data|per sec", 9),
        ("Small|Read", 7),
        ("Large|Read", 7),
    ];
    let mut table = SheetTable::new(
        "IOStat by Filetype summary",
        "This table displays IO Statistics for different file types",
        &titles,
    );
    let [data, redo] = types(work);
    let total = ("TOTAL:", data.1, [data.2[0] + redo.2[0], data.2[1] + redo.2[1]]);
    for (name, reads, writes) in [data, redo, total] {
        let cells = |[count, bytes]: [u64; 2]| {
            let mib = bytes as f64 / MIB;
            [format!("{mib:.0}M"), format!("{:.2}", work.rate(count)), format!("{:.3}M", mib / work.seconds())]
        };
        let blanks = [String::new(), String::new()];
        table.row(std::iter::once(name.to_owned()).chain(cells(reads)).chain(cells(writes)).chain(blanks));
    }
    table
}

/// I/O by function, as in Statspack.
pub(super) fn functions(work: &Workload) -> SheetTable {
    let titles = [
        ("Function", 15),
        ("Data|Volume", 7),
        ("Requests|/sec", 9),
        ("Data|Vol/sec", 9),
        ("Data|Volume", 7),
        ("Requests|/sec", 9),
        ("Data|Vol/sec", 9),
        ("Count", 6),
        ("Avg|Tm(ms)", 6),
    ];
    let mut table = SheetTable::new("IO Stat by Function - summary", "", &titles);
    table.ornament = "                ---------- Read ----------- ---------- Write ---------- -- Wait ---";
    let [(_, reads, writes), (_, _, redo)] = types(work);
    for (name, reads, writes) in
        [("Buffer Cache Reads", Some(reads), None), ("DBWR", None, Some(writes)), ("LGWR", None, Some(redo))]
    {
        let cells = |traffic: Option<[u64; 2]>| {
            let cells = traffic.map(|[count, bytes]| {
                let mib = bytes as f64 / MIB;
                [format!("{mib:.0}M"), format!("{:.1}", work.rate(count)), format!("{:.1}M", mib / work.seconds())]
            });
            cells.unwrap_or_default()
        };
        table.row(std::iter::once(name.to_owned()).chain(cells(reads)).chain(cells(writes)));
    }
    table
}

/// Tablespace I/O of releases before 18; later releases omit it. All I/O is in a single tablespace.
pub(super) fn tablespaces(work: &Workload) -> SheetTable {
    let titles = [
        ("Tablespace", 30),
        ("Reads", 14),
        ("Av Rds/s", 8),
        ("Av Rd(ms)", 8),
        ("Av Blks/Rd", 8),
        ("Writes", 14),
        ("Writes avg/s", 8),
    ];
    let mut table = SheetTable::new("Tablespace IO Stats", "This table displays tablespace IO statistics", &titles);
    let blocks = work.read_bytes() as f64 / work.block_bytes as f64 / (work.reads() as f64).max(1.0);
    table.row([
        "USERS".to_owned(),
        number(work.reads() as f64, 0),
        number(work.rate(work.reads()), 0),
        format!("{:.2}", work.read_us as f64 / 1e3),
        format!("{blocks:.2}"),
        number(work.data_writes as f64, 0),
        number(work.rate(work.data_writes), 0),
    ]);
    table
}

/// Half, the same and twice the cache, with reads inversely proportional: the simplest law.
pub(super) fn advice(work: &Workload, dialect: AwrFormat) -> SheetTable {
    let (factor, reads) = match dialect {
        AwrFormat::Statspack => (("Size|Factr", 6), ("Est|Phys|Read|Factr", 6)),
        _ => (("Size|Factor", 6), ("Est|Phys|Read|Factor", 6)),
    };
    let titles = [
        ("P", 3),
        ("Size for|Est (M)", 10),
        factor,
        ("Buffers|(thousands)", 12),
        reads,
        ("Estimated|Phys Reads|(thousands)", 14),
    ];
    let mut table = SheetTable::new("Buffer Pool Advisory", "This table displays MTTR advisory", &titles);
    for factor in [0.5, 1.0, 2.0] {
        let size = work.cache_mib as f64 * factor;
        table.row([
            "D",
            &number(size, 0),
            &format!("{factor:.2}"),
            "",
            &format!("{:.2}", 1.0 / factor),
            &number(work.reads() as f64 / factor / 1000.0, 0),
        ]);
    }
    table
}
