//! The same workload in PostgreSQL's statistics, and as a result of fio.

use serde_json::json;

use super::Workload;

/// `select now(), * from pg_stat_io` of release 16, aligned, before the first window and after each: cumulative
/// counters.
pub(super) fn pg_stat_io(works: &[Workload]) -> String {
    let Some(first) = works.first() else { return String::new() };
    let mut sums = Counters::default();
    let mut text = sums.table(first, first.begin);
    for work in works {
        sums.reads += work.reads();
        sums.blocks += work.read_bytes() / work.block_bytes;
        sums.read_ms += work.single_reads as f64 * work.read_us as f64 / 1e3;
        sums.writes += work.data_writes;
        sums.write_ms += work.data_writes as f64 * work.redo_us as f64 / 1e3;
        text.push('\n');
        text += &sums.table(work, work.end());
    }
    text
}

#[derive(Default)]
struct Counters {
    reads: u64,
    blocks: u64,
    read_ms: f64,
    writes: u64,
    write_ms: f64,
}

impl Counters {
    /// Release 16 counts blocks, combined or not.
    fn table(&self, work: &Workload, at: jiff::civil::DateTime) -> String {
        let titles = [
            "now",
            "backend_type",
            "object",
            "context",
            "reads",
            "read_time",
            "writes",
            "write_time",
            "op_bytes",
            "stats_reset",
        ];
        let at = at.strftime("%Y-%m-%d %H:%M:%S.000000+00").to_string();
        let row = |backend: &str, reads: u64, read_ms: f64, writes: u64, write_ms: f64| {
            let times = [format!("{read_ms:.3}"), format!("{write_ms:.3}")];
            let [read_time, write_time] = times;
            [
                at.clone(),
                backend.to_owned(),
                "relation".to_owned(),
                "normal".to_owned(),
                reads.to_string(),
                read_time,
                writes.to_string(),
                write_time,
                work.block_bytes.to_string(),
                "2026-01-01 00:00:00+00".to_owned(),
            ]
        };
        let rows = [
            row("client backend", self.blocks, self.read_ms, 0, 0.0),
            row("checkpointer", 0, 0.0, self.writes, self.write_ms),
        ];
        aligned(&titles.map(str::to_owned), &rows)
    }
}

/// A table in psql's aligned format.
fn aligned(titles: &[String; 10], rows: &[[String; 10]]) -> String {
    let widths: Vec<usize> = (0..titles.len())
        .map(|column| rows.iter().chain([titles]).map(|row| row[column].len()).max().unwrap_or(0))
        .collect();
    let line = |cells: &[String; 10], is_title: bool| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| {
            let is_number = cell.parse::<f64>().is_ok();
            match (is_title, is_number) {
                (true, _) => format!("{cell:^width$}"),
                (false, true) => format!("{cell:>width$}"),
                (false, false) => format!("{cell:<width$}"),
            }
        });
        format!(" {}", cells.collect::<Vec<String>>().join(" | ")).trim_end().to_owned() + "\n"
    };
    let rule = widths.iter().map(|width| "-".repeat(width + 2)).collect::<Vec<String>>().join("+");
    let body: String = rows.iter().map(|row| line(row, false)).collect();
    format!("{}{rule}\n{body}({} rows)\n", line(titles, true), rows.len())
}

/// fio 3's JSON of a job equivalent to the first window.
pub(super) fn fio(work: &Workload) -> String {
    let runtime_ms = u64::from(work.minutes) * 60_000;
    let side = |count: u64, bytes: u64, mean_us: u64| {
        let mean = mean_us as f64 * 1e3;
        // Percentiles of the same distribution as in the histograms of the reports.
        let percentile = |share: f64| (mean * std::f64::consts::FRAC_2_PI * (share / (1.0 - share)).sqrt()).round();
        let latency = json!({
            "min": 0, "max": percentile(0.999_99), "mean": mean, "stddev": mean, "N": count,
            "percentile": {
                "50.000000": percentile(0.5), "90.000000": percentile(0.9), "99.000000": percentile(0.99),
                "99.900000": percentile(0.999),
            },
        });
        let bytes_s = work.rate(bytes);
        json!({
            "io_bytes": bytes, "io_kbytes": bytes / 1024, "bw_bytes": bytes_s.round(), "bw": (bytes_s / 1024.0).round(),
            "iops": work.rate(count), "runtime": runtime_ms, "total_ios": count, "short_ios": 0, "drop_ios": 0,
            "slat_ns": { "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0 },
            "clat_ns": latency, "lat_ns": latency, "iops_samples": 0, "bw_samples": 0,
        })
    };
    let job = json!({
        "jobname": "workload", "groupid": 0, "error": 0, "eta": 0, "elapsed": runtime_ms / 1000,
        "job options": { "name": "workload", "rw": "randrw", "bs": work.block_bytes.to_string(), "iodepth": "32", "direct": "1" },
        "read": side(work.single_reads, work.single_reads * work.block_bytes, work.read_us),
        "write": side(work.data_writes, work.data_bytes(), work.redo_us),
        "trim": side(0, 0, 0),
        "job_runtime": runtime_ms, "usr_cpu": 1.0, "sys_cpu": 2.0, "ctx": 0, "majf": 0, "minf": 0,
    });
    let time = work.begin.strftime("%a %b %e %H:%M:%S %Y").to_string();
    format!(
        "{:#}\n",
        json!({ "fio version": "fio-3.36", "time": time, "global options": { "ioengine": "libaio" }, "jobs": [job] })
    )
}
