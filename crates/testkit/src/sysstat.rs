//! Output of the host's tools: iostat in several versions, as text and as JSON, sar, and sadf.
//!
//! Data and log are on separate devices, so that their figures are distinguishable. The queue of a device follows from
//! Little's law (1961).

use jiff::civil::DateTime;
use serde_json::{Value, json};

use super::Workload;

/// Versions of iostat with different columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// Before 11.6: sizes in sectors, `svctm`.
    Sectors,
    /// 11.6: sizes in KiB, by direction.
    Kibibytes,
    /// 12.1: columns grouped by reads, writes and discards.
    Directions,
    /// 12.5 and later: with flushes.
    Flushes,
}

/// A device over a window.
struct SampledDevice {
    name: &'static str,
    reads: f64,
    read_kib: f64,
    writes: f64,
    write_kib: f64,
    read_ms: f64,
    write_ms: f64,
}

impl SampledDevice {
    fn all(work: &Workload) -> [Self; 2] {
        let each = |bytes: u64| bytes as f64 / 1024.0 / work.seconds();
        let (read_ms, redo_ms) = (work.read_us as f64 / 1e3, work.redo_us as f64 / 1e3);
        let data = Self {
            name: "nvme0n1",
            reads: work.rate(work.reads()),
            read_kib: each(work.read_bytes()),
            writes: work.rate(work.data_writes),
            write_kib: each(work.data_bytes()),
            read_ms,
            write_ms: redo_ms,
        };
        let log = Self {
            name: "nvme1n1",
            reads: 0.0,
            read_kib: 0.0,
            writes: work.rate(work.redo_writes),
            write_kib: each(work.redo_bytes()),
            read_ms: 0.0,
            write_ms: redo_ms,
        };
        [data, log]
    }

    fn queue(&self) -> f64 {
        (self.reads * self.read_ms + self.writes * self.write_ms) / 1e3
    }

    /// Utilisation in percent, for Poisson arrivals.
    fn busy(&self) -> f64 {
        let queue = self.queue();
        queue / (1.0 + queue) * 100.0
    }

    fn rate(&self) -> f64 {
        self.reads + self.writes
    }

    fn kib(&self) -> f64 {
        self.read_kib + self.write_kib
    }

    /// Mean time of an operation in milliseconds.
    fn wait(&self) -> f64 {
        ratio(self.queue() * 1e3, self.rate())
    }

    /// Columns of iostat with their values.
    fn columns(&self, generation: Generation) -> Vec<(&'static str, f64)> {
        let (reads, writes) = (ratio(self.read_kib, self.reads), ratio(self.write_kib, self.writes));
        let read = [("r/s", self.reads), ("rkB/s", self.read_kib), ("rrqm/s", 0.0), ("%rrqm", 0.0)];
        let write = [("w/s", self.writes), ("wkB/s", self.write_kib), ("wrqm/s", 0.0), ("%wrqm", 0.0)];
        let waits = [("r_await", self.read_ms), ("w_await", self.write_ms)];
        let sizes = [("rareq-sz", reads), ("wareq-sz", writes)];
        let discards =
            [("d/s", 0.0), ("dkB/s", 0.0), ("drqm/s", 0.0), ("%drqm", 0.0), ("d_await", 0.0), ("dareq-sz", 0.0)];
        let (queue, busy) = (("aqu-sz", self.queue()), ("%util", self.busy()));
        let served = ("svctm", ratio(self.busy() * 10.0, self.rate()));
        let [r, rkb, rrqm, rshare] = read;
        let [w, wkb, wrqm, wshare] = write;
        match generation {
            Generation::Sectors => {
                let size = ("avgrq-sz", ratio(self.kib() * 2.0, self.rate()));
                let wait = ("await", self.wait());
                vec![
                    rrqm,
                    wrqm,
                    r,
                    w,
                    rkb,
                    wkb,
                    size,
                    ("avgqu-sz", self.queue()),
                    wait,
                    waits[0],
                    waits[1],
                    served,
                    busy,
                ]
            }
            Generation::Kibibytes => {
                let rates = [r, w, rkb, wkb, rrqm, wrqm, rshare, wshare, waits[0], waits[1], queue];
                rates.into_iter().chain(sizes).chain([served, busy]).collect()
            }
            Generation::Directions | Generation::Flushes => {
                let flushes = [("f/s", 0.0), ("f_await", 0.0)];
                let flushes = if generation == Generation::Flushes { &flushes[..] } else { &[] };
                let reads = read.into_iter().chain([waits[0], sizes[0]]);
                let writes = write.into_iter().chain([waits[1], sizes[1]]);
                let all = reads.chain(writes).chain(discards).chain(flushes.iter().copied());
                all.chain([queue, busy]).collect()
            }
        }
    }
}

fn ratio(sum: f64, count: f64) -> f64 {
    if count > 0.0 { sum / count } else { 0.0 }
}

/// Output of `iostat -xt`, beginning with the means since boot.
pub(super) fn iostat(works: &[Workload], generation: Generation) -> String {
    let Some(first) = works.first() else { return String::new() };
    let mut text = banner(first);
    let title = if generation == Generation::Sectors { "Device:" } else { "Device" };
    for (index, work) in std::iter::once(first).chain(works).enumerate() {
        let at = if index == 0 { work.begin } else { work.end() };
        text += &format!("\n{}\n{}", at.strftime("%m/%d/%Y %H:%M:%S"), processors(work));
        let devices = SampledDevice::all(work);
        text += &format!("\n{title:<10}");
        for (name, _) in devices[0].columns(generation) {
            text += &format!(" {name:>10}");
        }
        for device in &devices {
            text += &format!("\n{:<10}", device.name);
            for (_, value) in device.columns(generation) {
                text += &format!(" {value:>10.2}");
            }
        }
        text.push('\n');
    }
    text
}

/// Output of `iostat -xt -o JSON`.
pub(super) fn iostat_json(works: &[Workload]) -> String {
    let Some(first) = works.first() else { return String::new() };
    let statistics: Vec<Value> = works
        .iter()
        .map(|work| {
            let disks: Vec<Value> = SampledDevice::all(work)
                .iter()
                .map(|device| {
                    let columns = device.columns(Generation::Flushes);
                    let fields = columns.into_iter().map(|(name, value)| {
                        (name.trim_start_matches('%').to_owned(), json!((value * 100.0).round() / 100.0))
                    });
                    let name = ("disk_device".to_owned(), json!(device.name));
                    Value::Object(std::iter::once(name).chain(fields).collect())
                })
                .collect();
            json!({ "timestamp": work.end().strftime("%Y-%m-%dT%H:%M:%S").to_string(), "disk": disks })
        })
        .collect();
    let host = json!({
        "nodename": first.host,
        "sysname": "Linux",
        "release": "6.8.0",
        "machine": "x86_64",
        "number-of-cpus": first.processors,
        "date": first.begin.date().to_string(),
        "statistics": statistics,
    });
    format!("{:#}\n", json!({ "sysstat": { "hosts": [host] } }))
}

/// Output of `sar -d`.
pub(super) fn sar(works: &[Workload]) -> String {
    let Some(first) = works.first() else { return String::new() };
    let mut text = banner(first);
    let titles = ["tps", "rkB/s", "wkB/s", "dkB/s", "areq-sz", "aqu-sz", "await", "%util"];
    let title = |at: DateTime| {
        let titles = titles.map(|title| format!(" {title:>10}")).concat();
        format!("\n{}        {:<10}{titles}\n", at.strftime("%H:%M:%S"), "DEV")
    };
    for (index, work) in works.iter().enumerate() {
        // The titles repeat; the first have the time of the start.
        if index % 20 == 0 {
            text += &title(work.begin);
        }
        for device in SampledDevice::all(work) {
            text += &format!("{}        {:<10}", work.end().strftime("%H:%M:%S"), device.name);
            for value in device.totals() {
                text += &format!(" {value:>10.2}");
            }
            text.push('\n');
        }
    }
    text
}

/// Output of `sadf -d -- -d`.
pub(super) fn sadf(works: &[Workload]) -> String {
    let mut text = "# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util\n".to_owned();
    for work in works {
        let (interval, at) = (u64::from(work.minutes) * 60, work.end().strftime("%Y-%m-%d %H:%M:%S UTC"));
        for device in SampledDevice::all(work) {
            text += &format!("{};{interval};{at};{}", work.host, device.name);
            for value in device.totals() {
                text += &format!(";{value:.2}");
            }
            text.push('\n');
        }
    }
    text
}

impl SampledDevice {
    /// Columns of sar, with directions only for bytes.
    fn totals(&self) -> [f64; 8] {
        let size = ratio(self.kib(), self.rate());
        [self.rate(), self.read_kib, self.write_kib, 0.0, size, self.queue(), self.wait(), self.busy()]
    }
}

fn banner(work: &Workload) -> String {
    let date = work.begin.strftime("%m/%d/%Y");
    format!("Linux 6.8.0 ({}) \t{date} \t_x86_64_\t({} CPU)\n", work.host, work.processors)
}

fn processors(work: &Workload) -> String {
    let user = (work.processor_s as f64 / work.seconds() / f64::from(work.processors.max(1)) * 100.0).min(100.0);
    let idle = 100.0 - user;
    format!(
        "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n         {user:>6.2}    0.00    0.00    0.00    0.00  {idle:>6.2}\n"
    )
}
