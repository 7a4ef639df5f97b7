//! An AWR report of an instance, as HTML: the sections that say something of storage.

use jiff::civil::DateTime;

use super::Workload;

const MIB: f64 = 1_048_576.0;

pub(super) fn html(work: &Workload) -> String {
    let mut page = Page { text: String::new() };
    let title = format!("AWR Report for DB: {}, Inst: {}", shown(&work.database), shown(&work.instance));
    page.text = format!("<html lang=\"en\"><head><title>{title}</title></head><body class=\"awr\">\n");
    page.text += "<h1 class=\"awr\">WORKLOAD REPOSITORY report for</h1>\n";
    head(work, &mut page);
    statistics(work, &mut page);
    files(work, &mut page);
    waits(work, &mut page);
    advice(work, &mut page);
    page.text += "End of Report</body></html>\n";
    page.text
}

fn head(work: &Workload, page: &mut Page) {
    let name = shown(&work.database);
    page.table(
        "This table displays database instance information",
        &["DB Name", "DB Id", "Unique Name", "Role", "Edition", "Release", "RAC", "CDB"],
        &[vec![
            name.clone(),
            "1".into(),
            name,
            "PRIMARY".into(),
            "EE".into(),
            "19.0.0.0.0".into(),
            "NO".into(),
            "NO".into(),
        ]],
    );
    let started = moment(work.begin.date().to_datetime(jiff::civil::Time::midnight()));
    page.table(
        "This table displays database instance information",
        &["Instance", "Inst Num", "Startup Time"],
        &[vec![shown(&work.instance), "1".into(), started]],
    );
    page.table(
        "This table displays host information",
        &["Host Name", "Platform", "CPUs", "Cores", "Sockets", "Memory (GB)"],
        &[vec![
            shown(&work.host),
            "Linux x86 64-bit".into(),
            work.processors.to_string(),
            String::new(),
            String::new(),
            "64.00".into(),
        ]],
    );
    let end = work.begin.saturating_add(jiff::SignedDuration::from_mins(i64::from(work.minutes)));
    let minutes = |value: f64| format!("{} (mins)", number(value, 2));
    let row = |name: &str, id: &str, time: String| vec![name.into(), id.into(), time, String::new(), String::new()];
    page.table(
        "This table displays snapshot information",
        &["", "Snap Id", "Snap Time", "Sessions", "Cursors/Session"],
        &[
            row("Begin Snap:", "1", moment(work.begin)),
            row("End Snap:", "2", moment(end)),
            row("Elapsed:", "", minutes(f64::from(work.minutes))),
            row("DB Time:", "", minutes(work.database_s() / 60.0)),
        ],
    );
    let cache = format!("{}M", number(work.cache_mib as f64, 0));
    page.table(
        "This table displays cache sizes and other statistics for                     different types of cache",
        &["", "Begin", "End", "", ""],
        &[vec![
            "Buffer Cache:".into(),
            cache.clone(),
            cache,
            "Std Block Size:".into(),
            format!("{}K", work.block_bytes / 1024),
        ]],
    );
}

fn statistics(work: &Workload, page: &mut Page) {
    page.heading("Time Model Statistics");
    let seconds = |value: f64| number(value, 2);
    page.table(
        "This table displays different time model statistics",
        &["Statistic Name", "Time (s)", "% of  DB Time", "% of Total CPU Time"],
        &[
            vec!["DB CPU".into(), seconds(work.processor_s as f64), String::new(), String::new()],
            vec!["DB time".into(), seconds(work.database_s()), String::new(), String::new()],
        ],
    );
    let data_bytes = work.data_writes * work.block_bytes;
    let totals = [
        ("physical read IO requests", work.reads()),
        ("physical read bytes", work.read_bytes()),
        ("physical read total IO requests", work.reads()),
        ("physical read total bytes", work.read_bytes()),
        ("physical read total multi block requests", work.several_reads),
        ("physical reads", work.read_bytes() / work.block_bytes),
        ("physical write IO requests", work.data_writes),
        ("physical write bytes", data_bytes),
        ("physical write total IO requests", work.data_writes + work.redo_writes),
        ("physical write total bytes", data_bytes + work.redo_bytes()),
        ("redo size", work.redo_bytes()),
        ("redo writes", work.redo_writes),
    ];
    let row = |(name, total): &(&str, u64)| {
        let rate = *total as f64 / work.seconds();
        vec![(*name).to_owned(), number(*total as f64, 0), number(rate, 2), String::new()]
    };
    page.heading("Instance Activity Stats");
    page.table(
        "This table displays Instance activity statistics",
        &["Statistic", "Total", "per Second", "per Trans"],
        &totals.iter().map(row).collect::<Vec<_>>(),
    );
}

fn files(work: &Workload, page: &mut Page) {
    let row = |name: &str, (reads, read): (u64, u64), (writes, written): (u64, u64)| {
        let data = |bytes: u64| format!("{:.0}M", bytes as f64 / MIB);
        let rate = |count: u64| format!("{:.2}", count as f64 / work.seconds());
        let each = |bytes: u64| format!("{:.3}M", bytes as f64 / work.seconds() / MIB);
        let reads = [data(read), rate(reads), each(read)];
        let writes = [data(written), rate(writes), each(written)];
        let names = std::iter::once(name.to_owned());
        names.chain(reads).chain(writes).chain([String::new(), String::new()]).collect::<Vec<String>>()
    };
    let data = (work.data_writes, work.data_writes * work.block_bytes);
    let redo = (work.redo_writes, work.redo_bytes());
    let reads = (work.reads(), work.read_bytes());
    page.heading("IOStat by Filetype summary");
    page.table(
        "This table displays IO Statistics for different file types",
        &[
            "Filetype Name",
            "Reads: Data",
            "Reqs   per sec",
            "Data   per sec",
            "Writes: Data",
            "Reqs   per sec",
            "Data   per sec",
            "Small Read",
            "Large Read",
        ],
        &[
            row("Data File", reads, data),
            row("Log File", (0, 0), redo),
            row("TOTAL:", reads, (data.0 + redo.0, data.1 + redo.1)),
        ],
    );
}

fn waits(work: &Workload, page: &mut Page) {
    let row = |event: &str, waits: u64, each_us: u64| {
        let total = number((waits * each_us) as f64 / 1e6, 0);
        vec![
            event.into(),
            number(waits as f64, 0),
            String::new(),
            total,
            format!("{each_us}.00us"),
            String::new(),
            String::new(),
        ]
    };
    for (heading, share, event, count, each) in [
        ("Foreground Wait Events", "% DB time", "db file sequential read", work.single_reads, work.read_us),
        ("Background Wait Events", "% bg time", "log file parallel write", work.redo_writes, work.redo_us),
    ] {
        page.heading(heading);
        page.table(
            "This table displays wait events and their statistics",
            &["Event", "Waits", "%Time -outs", "Total Wait Time (s)", "Avg wait", "Waits /txn", share],
            &[row(event, count, each)],
        );
    }
}

/// Half, the same and twice the cache, with reads as their inverse: the simplest law there is.
fn advice(work: &Workload, page: &mut Page) {
    let row = |factor: f64| {
        let size = work.cache_mib as f64 * factor;
        let reads = work.reads() as f64 / factor / 1000.0;
        let cells =
            [number(size, 0), format!("{factor:.2}"), String::new(), format!("{:.2}", 1.0 / factor), number(reads, 0)];
        std::iter::once("D".to_owned()).chain(cells).collect::<Vec<String>>()
    };
    page.heading("Buffer Pool Advisory");
    page.table(
        "This table displays MTTR advisory",
        &[
            "P",
            "Size for Est (M)",
            "Size Factor",
            "Buffers (thousands)",
            "Est Phys Read Factor",
            "Estimated Phys Reads (thousands)",
        ],
        &[row(0.5), row(1.0), row(2.0)],
    );
}

struct Page {
    text: String,
}

impl Page {
    fn heading(&mut self, heading: &str) {
        self.text += &format!("<h3 class=\"awr\">{heading}</h3>\n");
    }

    fn table(&mut self, summary: &str, columns: &[&str], rows: &[Vec<String>]) {
        self.text += &format!("<table border=\"0\" class=\"tdiff\" summary=\"{summary}\"><tr>");
        for column in columns {
            self.text += &format!("<th class=\"awrbg\" scope=\"col\">{column}</th>");
        }
        self.text += "</tr>\n";
        for row in rows {
            self.text += "<tr>";
            for cell in row {
                let cell = if cell.is_empty() { "&#160;" } else { cell };
                self.text += &format!("<td class='awrc'>{cell}</td>");
            }
            self.text += "</tr>\n";
        }
        self.text += "</table><p />\n";
    }
}

/// Text that means no tag.
fn shown(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Commas between thousands.
fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

fn moment(at: DateTime) -> String {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = MONTHS[at.month() as usize - 1];
    let clock = format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second());
    format!("{:02}-{month}-{:02} {clock}", at.day(), at.year() % 100)
}
