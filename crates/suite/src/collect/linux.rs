//! Counters of this host: `/proc/diskstats`, `/proc/stat`, `/proc/pressure/io`, and the hierarchy of devices.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use plimsoll_language::{label, say};

use super::{CounterSource, SourceError};
use crate::snapshots::timestamp;

/// Columns of `/proc/diskstats` behind major, minor and name; older kernels have fewer.
const COLUMNS: [&str; 17] = [
    "reads",
    "reads_merged",
    "sectors_read",
    "ms_reading",
    "writes",
    "writes_merged",
    "sectors_written",
    "ms_writing",
    "in_flight",
    "ms_busy",
    "ms_weighted",
    "discards",
    "discards_merged",
    "sectors_discarded",
    "ms_discarding",
    "flushes",
    "ms_flushing",
];

/// Columns of the first line of `/proc/stat`.
const TIMES: [&str; 8] = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];

/// Devices in memory or without storage.
const NO_STORAGE: [&str; 5] = ["loop", "ram", "zram", "sr", "fd"];

/// Maximum number of devices, which limits the length of lines.
const MAX_DEVICES: usize = 1_000;

/// Counters of this host.
#[derive(Debug, Default)]
pub struct Linux {
    devices: Vec<String>,
    /// The only device, of any kind.
    only: Option<String>,
}

impl Linux {
    /// Counters of a single device, also of one above others, such as a loop device.
    pub fn of_device(name: &str) -> Self {
        Self { devices: Vec::new(), only: Some(name.to_owned()) }
    }
}

impl CounterSource for Linux {
    fn name(&self) -> &'static str {
        "linux"
    }

    fn connect(&mut self, _: &dyn Fn() -> bool) -> Result<Map<String, Value>, SourceError> {
        let entries = fs::read_dir("/sys/block")
            .map_err(|error| SourceError::Failed(say!("cannot read /sys/block: {error}; Linux is required")))?;
        let mut names: Vec<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        let (devices, left_out): (Vec<String>, Vec<String>) = names.into_iter().partition(|name| match &self.only {
            Some(only) => name == only,
            None => is_array(name) || is_lowest(name),
        });
        let arrays: Map<String, Value> =
            devices.iter().filter(|name| is_array(name)).map(|name| (name.clone(), json!(members(name)))).collect();
        if let Some(only) = self.only.as_ref().filter(|_| devices.is_empty()) {
            return Err(SourceError::Failed(say!("{only}: no such block device: see lsblk -d")));
        }
        if devices.is_empty() {
            return Err(SourceError::Failed(
                label!("no local block device: collect on the host that has the storage").to_owned(),
            ));
        }
        let about: Map<String, Value> = devices.iter().map(|name| (name.clone(), describe_device(name))).collect();
        self.devices = devices;
        self.devices.truncate(MAX_DEVICES);
        let multipaths = super::multipath::multipaths();
        let processors = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
        let fields = [
            ("host", json!(read("/proc/sys/kernel/hostname"))),
            ("version", json!(read("/proc/sys/kernel/osrelease"))),
            ("processors", json!(processors)),
            ("memory_bytes", json!(parse_memory(&read("/proc/meminfo")))),
            ("devices", Value::Object(about)),
            ("arrays", if arrays.is_empty() { Value::Null } else { Value::Object(arrays) }),
            ("multipaths", if multipaths.is_empty() { Value::Null } else { Value::Object(multipaths) }),
            ("left_out", json!(left_out)),
        ];
        Ok(fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.to_owned(), value))
            .collect())
    }

    fn sample(&mut self, _: &dyn Fn() -> bool) -> Result<Map<String, Value>, SourceError> {
        let text = fs::read_to_string("/proc/diskstats")
            .map_err(|error| SourceError::Failed(say!("cannot read /proc/diskstats: {error}")))?;
        let uptime = read("/proc/uptime").split(' ').next().and_then(|seconds| seconds.parse::<f64>().ok());
        let fields = [
            ("at", timestamp()),
            ("uptime_s", json!(uptime)),
            ("devices", Value::Object(parse_devices(&text, &self.devices))),
            ("pressure_io", parse_pressure(&read("/proc/pressure/io"))),
            ("processor_ticks", parse_ticks(&read("/proc/stat"))),
        ];
        Ok(fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.to_owned(), value))
            .collect())
    }
}

/// The text of a file without the line end; empty if it cannot be read.
pub(super) fn read(path: &str) -> String {
    fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default()
}

/// True for devices at the bottom of the hierarchy; devices above them count the same operations again.
fn is_lowest(name: &str) -> bool {
    let no_storage = NO_STORAGE
        .iter()
        .any(|start| name.strip_prefix(start).is_some_and(|rest| rest.starts_with(|byte: char| byte.is_ascii_digit())));
    let slaves = fs::read_dir(Path::new("/sys/block").join(name).join("slaves")).map_or(0, Iterator::count);
    !no_storage && slaves == 0
}

/// True for software RAID with members.
fn is_array(name: &str) -> bool {
    let is_named = name.strip_prefix("md").is_some_and(|rest| rest.starts_with(|byte: char| byte.is_ascii_digit()));
    is_named && !members(name).is_empty()
}

/// The disks below an array or a multipath device, directly or through partitions.
pub(super) fn members(array: &str) -> Vec<String> {
    let slaves = fs::read_dir(Path::new("/sys/block").join(array).join("slaves")).into_iter().flatten().flatten();
    let disk = |slave: fs::DirEntry| {
        let device = slave.path().canonicalize().ok()?;
        let disk = if device.join("partition").exists() { device.parent()?.to_owned() } else { device };
        Some(disk.file_name()?.to_string_lossy().into_owned())
    };
    let mut disks: Vec<String> = slaves.filter_map(disk).collect();
    disks.sort();
    disks.dedup();
    disks
}

fn describe_device(name: &str) -> Value {
    let file = |file: &str| read(&format!("/sys/block/{name}/{file}"));
    let number = |text: String| text.parse::<u64>().ok();
    json!({
        "size_bytes": number(file("size")).map(|sectors| sectors * 512),
        "rotational": number(file("queue/rotational")),
        "depth": number(file("queue/nr_requests")),
        "block_bytes": number(file("queue/physical_block_size")),
    })
}

fn parse_devices(diskstats: &str, selected: &[String]) -> Map<String, Value> {
    let mut devices = Map::new();
    for line in diskstats.lines() {
        let mut words = line.split_ascii_whitespace().skip(2);
        let Some(name) = words.next().filter(|name| selected.iter().any(|selected| selected == name)) else { continue };
        let counts = COLUMNS
            .iter()
            .zip(words)
            .filter_map(|(column, word)| Some(((*column).to_owned(), json!(word.parse::<u64>().ok()?))));
        devices.insert(name.to_owned(), Value::Object(counts.collect()));
    }
    devices
}

/// Parses `some avg10=0.00 avg60=0.00 avg300=0.00 total=123`: microseconds since boot.
fn parse_pressure(text: &str) -> Value {
    let total = |start: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(start))?;
        line.rsplit_once("total=")?.1.parse::<u64>().ok()
    };
    match (total("some "), total("full ")) {
        (None, None) => Value::Null,
        (some, full) => json!({ "some_us": some, "full_us": full }),
    }
}

fn parse_ticks(stat: &str) -> Value {
    let Some(line) = stat.lines().next().and_then(|line| line.strip_prefix("cpu ")) else { return Value::Null };
    let counts = TIMES.iter().zip(line.split_ascii_whitespace());
    Value::Object(
        counts.filter_map(|(name, word)| Some(((*name).to_owned(), json!(word.parse::<u64>().ok()?)))).collect(),
    )
}

fn parse_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_columns_are_named() {
        let text = "   8       0 sda 10 1 80 5 20 2 160 6 0 7 11\n   8       1 sda1 9 9 9 9 9 9 9 9 9 9 9\n";
        let found = parse_devices(text, &["sda".to_owned()]);
        assert_eq!(found.len(), 1);
        assert_eq!(found["sda"]["ms_weighted"], json!(11));
        assert_eq!(found["sda"].get("discards"), None);
    }

    #[test]
    fn missing_counters_are_absent() {
        let both = "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=3\n";
        assert_eq!(parse_pressure(both), json!({"some_us": 12, "full_us": 3}));
        assert_eq!((parse_pressure(""), parse_ticks("")), (Value::Null, Value::Null));
        assert_eq!(parse_ticks("cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 1\n")["iowait"], json!(5));
        assert_eq!((parse_memory("MemTotal:  4 kB\n"), parse_memory("")), (Some(4_096), None));
    }
}
