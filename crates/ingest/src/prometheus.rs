//! Disk metrics of Prometheus and its exporters: exposition text, and API responses as JSON.

mod claims;
mod families;
mod gauges;
mod line_protocol;

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::DateTime;
use plimsoll_language::label;
use plimsoll_units::Span;
use serde_json::Value;

use claims::{ClaimMetric, ClaimNames};
use families::{Family, Metric, find_metric, is_limit};
use gauges::{Gauges, SampleFate};

use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, LineFormat, Resemblance};
use crate::json::{self, ElementLines};
use crate::layers::{Layer, Layers};
use crate::processors::{self, ProcessorShares, UsedProcessors};
use crate::reading::Counted::{BusySeconds, Bytes, Operations};
use crate::reading::{Count, Counted, Doubt, Fate, Origin, ReadingScope, ReadingWindow, Resource, Snapshot};
use crate::refusal::{InputFault, Refusal};
use crate::sampled::{Edge, Meaning, Points, SampleInterval, Spacing};
use crate::text::timestamp;

/// Seconds of the processors of each host, for those in use.
#[derive(Debug, Default)]
struct ProcessorSeconds {
    hosts: BTreeMap<String, HostSeconds>,
}

#[derive(Debug, Default)]
struct HostSeconds {
    /// Seconds in which programs ran, and idle seconds with I/O in flight, over all processors since boot, with their
    /// line, by time.
    busy: BTreeMap<DateTime, (f64, f64, u64)>,
    /// A mode is that of idle time with I/O in flight.
    has_io_wait: bool,
    processors: BTreeSet<String>,
}

/// The processor and mode of a counter of processor seconds.
fn processor_mode<'a>(name: &str, label: impl Fn(&str) -> Option<&'a str>) -> Option<(&'a str, &'a str)> {
    let processor = match name {
        "node_cpu_seconds_total" | "node_cpu" => label("cpu"),
        "windows_cpu_time_total" => label("core"),
        _ => None,
    };
    processor.zip(label("mode"))
}

impl ProcessorSeconds {
    /// Adds a counter's value at a time.
    fn add(&mut self, host: &str, (processor, mode): (&str, &str), at: DateTime, seconds: f64, line: u64) {
        let host = self.hosts.entry(host.to_owned()).or_default();
        if !host.processors.contains(processor) {
            host.processors.insert(processor.to_owned());
        }
        host.has_io_wait |= mode == "iowait";
        if !matches!(mode, "idle" | "steal") {
            let so_far = host.busy.entry(at).or_insert((0.0, 0.0, line));
            *(if mode == "iowait" { &mut so_far.1 } else { &mut so_far.0 }) += seconds;
        }
    }

    /// Emits processors in use and their number, for hosts with at least two times; `host` is used for those without name.
    fn emit(self, host: &str, out: &mut Builder) {
        for (name, HostSeconds { busy, has_io_wait, processors }) in self.hosts {
            let name = if name.is_empty() { host } else { &name };
            let (Some(first), Some(last)) = (busy.first_key_value(), busy.last_key_value()) else { continue };
            let length = last.0.duration_since(*first.0).as_secs_f64();
            if length <= 0.0 {
                continue;
            }
            let line = first.1.2;
            let count = processors.len() as f64;
            let mut used = UsedProcessors::default();
            for (before, after) in busy.iter().zip(busy.iter().skip(1)) {
                let seconds = after.0.duration_since(*before.0).as_secs_f64();
                // Counters that fell were reset, which `add_shares` skips.
                let [mean, io_wait] = [after.1.0 - before.1.0, after.1.1 - before.1.1].map(|part| part / seconds);
                let io_wait = Some((io_wait / count).clamp(0.0, 1.0)).filter(|_| has_io_wait);
                used.add_shares(mean, ProcessorShares { used: mean / count, io_wait }, seconds, line);
            }
            out.window(ReadingWindow { begin: Some(*first.0), length: Span::from_secs_f64(length) });
            used.emit_time(name, "modes but idle, iowait and steal", count, out);
            used.emit(name, "modes but idle, iowait and steal", out);
            processors::emit(Resource::HostProcessors, Some((count, line)), (name, "processors of the modes"), out);
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Owner {
    family: Family,
    host: String,
    /// A container, by namespace, pod and name; empty for a host.
    container: String,
    /// True for a control group whose counters include other groups.
    is_group: bool,
    device: String,
    /// The claim of Kubernetes, if known.
    claim: Option<String>,
    /// The provider's identifier of the volume; empty if unknown.
    volume: String,
}

impl Owner {
    /// From the labels of a series.
    fn new<'a>(family: Family, label: impl Fn(&str) -> Option<&'a str>) -> Self {
        let first = |names: &[&str]| {
            names.iter().find_map(|name| label(name).filter(|text| !text.is_empty())).unwrap_or_default()
        };
        let device = match family {
            Family::Telegraf => first(&["name", "device"]),
            Family::WindowsPhysical => first(&["disk"]),
            Family::WindowsLogical => first(&["volume"]),
            Family::EbsDriver | Family::EbsAgent => first(&["volume_id", "VolumeId"]),
            Family::Google => first(&["device_name"]),
            _ => first(&["device"]),
        };
        let (mut container, mut is_group) = (String::new(), false);
        if family == Family::Container {
            let of_pod = [first(&["namespace"]), first(&["pod", "pod_name"]), first(&["container", "container_name"])];
            let names: Vec<&str> = of_pod.into_iter().filter(|name| !name.is_empty()).collect();
            is_group = of_pod[2].is_empty() && first(&["name", "image"]).is_empty();
            container = if names.is_empty() { first(&["name", "id"]).to_owned() } else { names.join("/") };
        }
        let host: &[&str] = match family {
            Family::Google => &["instance_name", "instance_id"],
            _ => &["instance", "node", "nodename", "host", "hostname", "instance_id", "InstanceId"],
        };
        Self {
            family,
            host: first(host).to_owned(),
            container,
            is_group,
            device: device.strip_prefix("/dev/").unwrap_or(device).to_owned(),
            claim: None,
            volume: String::new(),
        }
    }

    fn with_claim(self, names: &ClaimNames) -> Self {
        let claim = names.claim(&self.host, &self.device).map(str::to_owned);
        let volume = names.volume(&self.host, &self.device).unwrap_or_default();
        Self { claim, volume, ..self }
    }

    fn scope(&self, host: &str) -> ReadingScope {
        let host = if self.host.is_empty() { host } else { &self.host };
        let names = [self.container.as_str(), self.claim.as_deref().unwrap_or(&self.device)];
        let part: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
        let part_id = self.volume.clone();
        ReadingScope { host: host.to_owned(), part: part.join(" "), part_id, ..ReadingScope::default() }
    }
}

/// The selected owners of an input.
#[derive(Debug, Default)]
struct Chosen {
    taken: BTreeMap<Owner, Layer>,
}

impl Chosen {
    /// Maximum number of owners.
    const MAX: usize = 100_000;

    /// Selects a family for each host, containers before groups around them, and a single layer of devices.
    fn of<'a>(owners: impl Iterator<Item = &'a Owner>) -> Self {
        let mut by_host: BTreeMap<&str, BTreeSet<&Owner>> = BTreeMap::new();
        for owner in owners {
            by_host.entry(&owner.host).or_default().insert(owner);
        }
        let mut taken = BTreeMap::new();
        for owners in by_host.values() {
            let Some(family) = owners.iter().map(|owner| owner.family).min() else { continue };
            let with_groups = owners.iter().all(|owner| owner.is_group || owner.family != family);
            // A root group includes all others.
            let root = owners.iter().any(|owner| owner.family == family && owner.container == "/");
            let of_family = owners.iter().filter(|owner| {
                let fits = if with_groups && root { owner.container == "/" } else { owner.is_group == with_groups };
                owner.family == family && (family != Family::Container || fits)
            });
            let of_family: Vec<&&Owner> = of_family.filter(|owner| owner.device != "_Total").collect();
            let mut layers = Layers::default();
            for owner in &of_family {
                layers.learn(&owner.device);
            }
            layers.choose();
            taken.extend(
                of_family.into_iter().filter_map(|owner| Some(((*owner).clone(), layers.layer(&owner.device)?))),
            );
        }
        Self { taken }
    }

    fn takes(&self, owner: &Owner) -> bool {
        self.taken.contains_key(owner)
    }

    /// Finds arrays above other owners, for each host; `host` is used for owners without one.
    fn arrays(&self, host: &str, out: &mut Builder) {
        let mut by_host: BTreeMap<&str, Vec<(u32, Layer)>> = BTreeMap::new();
        for (owner, layer) in &self.taken {
            by_host.entry(&owner.host).or_default().push((out.scope(owner.scope(host)), *layer));
        }
        for scopes in by_host.into_values() {
            out.arrays(scopes);
        }
    }

    /// Emits the capacities of the claims of the owners.
    fn emit_capacities(&self, host: &str, claims: &ClaimNames, out: &mut Builder) {
        for owner in self.taken.keys() {
            let Some(claim) = &owner.claim else { continue };
            claims.emit_capacity(claim, out.scope(owner.scope(host)), out);
        }
    }

    fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// Lists the owners, selected or not.
    fn list<'a>(&self, owners: impl Iterator<Item = (&'a Owner, u32)>, out: &mut Builder) {
        for (owner, counters) in owners {
            let ReadingScope { host, part, .. } = owner.scope("");
            let fate = if self.takes(owner) { Fate::Read(counters) } else { Fate::Ignored };
            let gap = if host.is_empty() { "" } else { " " };
            out.part(format!("{}* {host}{gap}{part}", owner.family.prefix()), fate);
        }
    }
}

/// Metrics in the text format of exporters.
pub(crate) const TEXT: Form = Form::lines("prometheus-text", "metrics of an exporter", is_exposition, |input| {
    Box::new(PrometheusText { pace: SampleInterval::new(input), ..PrometheusText::default() })
});

fn is_exposition(head: &Head<'_>) -> Resemblance {
    let text = head.text();
    let (mut typed, mut disks, mut samples, mut others) = (0, 0, 0, 0);
    for line in text.lines().take(2_000) {
        if line.starts_with("# TYPE ") || line.starts_with("# HELP ") {
            typed += 1;
        } else if let Some(sample) = parse_sample(line) {
            samples += 1;
            disks += u32::from(find_metric(sample.name, None).is_some() || gauges::may_be_gauge(line));
        } else if line.starts_with(line_protocol::DISKIO) {
            disks += u32::from(!line_protocol::to_exposition(line).is_empty());
        } else {
            others += u32::from(!line.is_empty() && !line.starts_with('#'));
        }
    }
    match (typed, disks, samples) {
        (_, 1.., _) => Resemblance::Is { marks: 4 },
        (2.., _, 1..) => Resemblance::Is { marks: 2 },
        // Without comments; the last line may be truncated.
        (0, _, 100..) if others <= 1 && text.contains('{') => Resemblance::Is { marks: 1 },
        (1.., ..) => Resemblance::Near { marks: 1, missing: "sample below its TYPE lines" },
        _ => Resemblance::None,
    }
}

/// A line such as `name{label="value"} 12 1700000000000`.
struct MetricLine<'a> {
    name: &'a str,
    labels: &'a str,
    value: f64,
    at: Option<DateTime>,
}

fn parse_sample(line: &str) -> Option<MetricLine<'_>> {
    let name_end = line.find(['{', ' '])?;
    let (name, rest) = line.split_at(name_end);
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':'));
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => rest.split_at_checked(labels_end(rest)?)?,
        None => ("", rest),
    };
    let mut words = rest.trim_start_matches('}').split_ascii_whitespace();
    let value = words.next()?.parse().ok()?;
    let at = words.next().and_then(|word| word.parse().ok());
    let at = at.and_then(|number| timestamp::of_unix(number).or_else(|| timestamp::of_unix(number / 1e3)));
    is_name.then_some(MetricLine { name, labels, value, at })
}

/// The position of the closing brace.
fn labels_end(text: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    text.bytes().position(|byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'}' if !quoted => return true,
            _ => {}
        }
        false
    })
}

/// The value of a label, without unescaping, which devices never need.
fn find_label<'a>(labels: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = labels;
    loop {
        let (key, after) = rest.split_once("=\"")?;
        let end = labels_value_end(after)?;
        if key.trim_matches([',', ' ']) == name {
            return after.get(..end);
        }
        rest = after.get(end + 1..)?;
    }
}

fn labels_value_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

#[derive(Default)]
struct PrometheusText {
    pace: SampleInterval,
    /// The current exposition.
    counts: BTreeMap<Owner, Vec<Count>>,
    times: Times,
    /// Seconds of processors of the current exposition, by host, processor and mode, with their line.
    processors: BTreeMap<(String, String, String), (f64, u64)>,
    processor_seconds: ProcessorSeconds,
    /// Claims by the labels of all expositions so far.
    claims: ClaimNames,
    gauges: Gauges,
    /// Google's exporter adds deltas up.
    adds_up: bool,
    /// Inputs that replace the pages of other exporters.
    remedies: Option<&'static [&'static str]>,
    host: String,
    /// Number of emitted counters, by owner.
    read: BTreeMap<Owner, u32>,
    chosen: Chosen,
    count: u32,
    timed: bool,
}

#[derive(Default)]
struct Times {
    at: Option<DateTime>,
    now: Option<f64>,
    boot: Option<f64>,
}

impl LineFormat for PrometheusText {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let existing = ["node_", "system_disk_", "diskio_", "windows_", "container_fs_", "aws_ebs_csi_", "kube"];
        let is_metric = line.starts_with(['n', 's', 'd', 'w', 'c', 'a', 'k']);
        self.learn_exporter(line);
        if line.starts_with(line_protocol::DISKIO) {
            for sample in line_protocol::to_exposition(line) {
                self.line(&sample, number, out)?;
            }
            return Ok(());
        }
        let is_gauge = !line.starts_with('#') && gauges::may_be_gauge(line);
        if !is_gauge && (!is_metric || !existing.iter().any(|prefix| line.starts_with(prefix))) {
            // The output of `date` before a page.
            if !line.starts_with('#')
                && let Some(taken) = timestamp::of_line(line)
            {
                self.hand_over(out);
                self.times.at = self.pace.taken(taken, out);
            }
            return Ok(());
        }
        let Some(sample) = parse_sample(line) else {
            out.caution(Some(Origin::line(number)), Doubt::lacking("a sample", "its value"));
            return Ok(());
        };
        self.take_sample(&sample, number, out);
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.hand_over(out);
        std::mem::take(&mut self.processor_seconds).emit(&self.host, out);
        let interval = self.pace.interval;
        let gauges = std::mem::take(&mut self.gauges);
        if self.count == 0 && !gauges.is_empty() {
            return gauges.put(interval, out);
        }
        let missing = InputFault::missing("counters of disks", self.remedies.unwrap_or(&["the diskstats collector"]));
        out.require(self.count > 0, self.claims.explain_missing(missing))?;
        self.chosen.arrays(&self.host, out);
        self.chosen.emit_capacities(&self.host, &self.claims, out);
        self.chosen.list(self.read.iter().map(|(owner, counters)| (owner, *counters)), out);
        out.require(!self.chosen.is_empty(), InputFault::LoopDevicesOnly)?;
        out.require(self.count < 2 || self.timed, Doubt::UntimedSamples { items: label!("expositions") })?;
        gauges.put(interval, out)
    }
}

/// Exporters without operations of storage, by the beginning of their metrics, and the inputs that have them.
const OTHER_EXPORTERS: [(&str, &[&str]); 5] = [
    ("mysql_", &["SHOW GLOBAL STATUS", "node_disk_* of node_exporter"]),
    ("pg_", &["SELECT * FROM pg_stat_io", "node_disk_* of node_exporter"]),
    ("oracledb_", &["an AWR report", "node_disk_* of node_exporter"]),
    ("oci_", &["the JSON of summarize-metrics-data with .sum()"]),
    ("aws_", &["aws_ebs_* or aws_rds_*, reads and writes"]),
];

impl PrometheusText {
    fn learn_exporter(&mut self, line: &str) {
        let typed = line.strip_prefix("# TYPE ").filter(|name| name.starts_with(Family::Google.prefix()));
        self.adds_up |= typed.is_some_and(|name| name.ends_with(" counter"));
        if self.remedies.is_none() && !line.starts_with('#') {
            self.remedies =
                OTHER_EXPORTERS.iter().find(|(prefix, _)| line.starts_with(prefix)).map(|(_, remedies)| *remedies);
        }
    }

    fn take_sample(&mut self, sample: &MetricLine, number: u64, out: &mut Builder) {
        let time: Option<fn(&mut Times) -> &mut Option<f64>> = match sample.name {
            "node_boot_time_seconds" | "node_boot_time" => Some(|times| &mut times.boot),
            "node_time_seconds" | "node_time" => Some(|times| &mut times.now),
            _ => None,
        };
        if let Some(time) = time {
            // The start time precedes the disks: it begins the next exposition.
            if time(&mut self.times).is_some() {
                self.hand_over(out);
            }
            *time(&mut self.times) = Some(sample.value);
            return;
        }
        if sample.name == "node_uname_info" {
            find_label(sample.labels, "nodename").unwrap_or_default().clone_into(&mut self.host);
            return;
        }
        let host = Owner::new(Family::Node, |name| find_label(sample.labels, name)).host;
        if let Some((processor, mode)) = processor_mode(sample.name, |name| find_label(sample.labels, name)) {
            let key = (host, processor.to_owned(), mode.to_owned());
            if self.processors.contains_key(&key) {
                self.hand_over(out);
            }
            self.times.at = sample.at.or(self.times.at);
            self.processors.insert(key, (sample.value, number));
            return;
        }
        let metric = ClaimMetric { name: sample.name, host: &host, value: Some(sample.value), line: number };
        if self.claims.learn(&metric, |name| find_label(sample.labels, name)) {
            return;
        }
        if self.take_gauge(sample, number, out) {
            return;
        }
        let label = |name: &str| find_label(sample.labels, name);
        let Some(metric) = find_metric(sample.name, direction_of(label)) else { return };
        if !sample.value.is_finite() {
            return out.caution(Some(Origin::line(number)), Doubt::NotANumber { value: label!("the value") });
        }
        let owner = Owner::new(metric.family, label);
        if self.gauges.is_interval_total(sample.name, &owner.device) {
            return;
        }
        if self.holds(&owner, &metric.counted) {
            self.hand_over(out);
        }
        if self.counts.len() >= Chosen::MAX && !self.counts.contains_key(&owner) {
            return out.caution_once(Some(Origin::line(number)), Doubt::TooManyDevices { limit: Chosen::MAX });
        }
        self.times.at = sample.at.or(self.times.at);
        let field = format!("{}{{{}}}", sample.name, owner.device);
        let origin = out.origin(number, "", &field);
        let value = sample.value * metric.unit;
        self.counts.entry(owner).or_default().push(Count { counted: metric.counted, value, wraps_at: None, origin });
    }

    /// Adds a value of a period; false for other metrics.
    fn take_gauge(&mut self, sample: &MetricLine, number: u64, out: &mut Builder) -> bool {
        let is_google = sample.name.starts_with(Family::Google.prefix());
        // Peaks and means stay gauges.
        let is_delta = is_google && !["_disk_max_", "_disk_average_"].iter().any(|word| sample.name.contains(word));
        if self.adds_up && is_delta {
            return false;
        }
        let label = |name: &str| find_label(sample.labels, name);
        let gauge = (sample.name, sample.value, sample.at);
        let mut fate = self.gauges.take(gauge, number, label);
        if fate == SampleFate::NextPage {
            self.hand_over(out);
            fate = self.gauges.take(gauge, number, label);
        }
        is_google || fate != SampleFate::Other
    }

    fn holds(&self, owner: &Owner, counted: &Counted) -> bool {
        self.counts.get(owner).is_some_and(|counts| counts.iter().any(|count| count.counted == *counted))
    }

    /// The end of the window of a page of this age without a time.
    fn assume_time(&self, age: Span, out: &mut Builder) -> Option<DateTime> {
        out.caution_once(None, Doubt::NoTimes);
        let seconds = age.as_secs_f64() + self.pace.interval.map_or(0.0, Span::as_secs_f64);
        timestamp::later(jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0), seconds)
    }

    /// Emits the current exposition.
    fn hand_over(&mut self, out: &mut Builder) {
        let times = std::mem::take(&mut self.times);
        let processors = std::mem::take(&mut self.processors);
        if self.counts.is_empty() && !self.gauges.has_page() {
            return;
        }
        let counts = std::mem::take(&mut self.counts).into_iter();
        let counts: BTreeMap<Owner, Vec<Count>> =
            counts.map(|(owner, counts)| (owner.with_claim(&self.claims), counts)).collect();
        let at = times.at.or_else(|| times.now.and_then(timestamp::of_unix));
        let (at, paced) = self.pace.time(at);
        if self.gauges.has_page() {
            let age = paced.filter(|_| self.gauges.needs_time());
            let taken = at.or_else(|| self.assume_time(age?, out));
            self.gauges.end_page(taken, out);
        }
        if counts.is_empty() {
            return;
        }
        if let Some(at) = at {
            for ((host, processor, mode), (seconds, line)) in processors {
                self.processor_seconds.add(&host, (&processor, &mode), at, seconds, line);
            }
        }
        let boot = times.boot.and_then(timestamp::of_unix);
        let uptime = at.zip(boot).map(|(at, boot)| at.duration_since(boot).as_secs_f64());
        let uptime = uptime.filter(|age| *age > 0.0).map(Span::from_secs_f64);
        self.timed |= at.is_some() || paced.is_some();
        self.chosen = Chosen::of(counts.keys());
        // Exporters of the host and of the driver may have the same claim.
        let mut snapshots: BTreeMap<u32, Snapshot> = BTreeMap::new();
        for (owner, mut counts) in counts {
            *self.read.entry(owner.clone()).or_default() += counts.len() as u32;
            let takes = self.chosen.takes(&owner);
            counts.retain(|count| takes || is_limit(&count.counted));
            let Some(first) = counts.first() else { continue };
            let scope = out.scope(owner.scope(&self.host));
            // A host's uptime does not apply to its containers.
            let age = uptime.filter(|_| owner.family != Family::Container).or(paced);
            if let Some(snapshot) = snapshots.get_mut(&scope) {
                snapshot.counts.extend(counts);
            } else {
                let origin = first.origin.clone();
                snapshots.insert(scope, Snapshot { scope, at, age, counts, origin });
            }
        }
        for snapshot in snapshots.into_values() {
            out.snapshot(snapshot);
        }
        self.count += 1;
    }
}

/// The label of the direction of operations.
fn direction_of<'a>(label: impl Fn(&str) -> Option<&'a str>) -> Option<&'a str> {
    label("direction").or_else(|| label("type"))
}

/// Responses of Prometheus and of compatible servers.
pub(crate) const ANSWER: Form = Form::document("prometheus-json", "answer of Prometheus", is_answer, read_series);

fn is_answer(head: &Head<'_>) -> Resemblance {
    if !head.begins(b"{[") {
        return Resemblance::None;
    }
    let typed = head.has("\"resultType\"");
    let series = head.has("\"metric\"") && head.has_any(&["\"values\"", "\"value\""]);
    Resemblance::is(4, typed && series)
        .or(3, series && head.has("\"__name__\""))
        .or(2, typed || head.has("\"errorType\"") && head.has("\"status\""))
}

struct DiskSeries {
    owner: Owner,
    counted: Counted,
    unit: f64,
    /// A rate by its name, according to the naming of recording rules.
    is_rate: bool,
    /// A counter by its name, which functions such as `rate()` remove.
    is_total: bool,
    points: Vec<(DateTime, f64)>,
    line: u64,
    place: String,
}

/// All series of an input, and the number of others.
#[derive(Default)]
struct DiskSeriesSet {
    series: Vec<DiskSeries>,
    processors: ProcessorSeconds,
    claims: ClaimNames,
    gauges: Gauges,
    nameless: usize,
    others: BTreeMap<String, u64>,
}

fn read_series(input: &FormatInput, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
    let mut found = DiskSeriesSet::default();
    for (lines, value) in json::read_documents(document, out)? {
        if let Some(error) = json::get_text(&value, &["error"]) {
            out.caution(Some(Origin::line(lines.begin)), Doubt::QueryFailed { error: error.to_owned() });
        }
        found.take_document(&value, &lines);
    }
    let gauges = std::mem::take(&mut found.gauges);
    if !gauges.is_empty() {
        gauges.put(input.interval, out)?;
        if found.series.is_empty() {
            return Ok(());
        }
    }
    found.check(out)?;
    for series in &mut found.series {
        series.owner = series.owner.clone().with_claim(&found.claims);
    }
    std::mem::take(&mut found.processors).emit("", out);
    let chosen = Chosen::of(found.series.iter().map(|series| &series.owner));
    let mut read: BTreeMap<&Owner, u32> = BTreeMap::new();
    for series in &found.series {
        *read.entry(&series.owner).or_default() += series.points.len() as u32;
    }
    chosen.arrays("", out);
    chosen.list(read.into_iter(), out);
    found.series.retain(|series| chosen.takes(&series.owner) || is_limit(&series.counted));
    let (rates, others): (Vec<DiskSeries>, Vec<DiskSeries>) =
        found.series.into_iter().partition(|series| series.is_rate);
    let mut marks = Marks { named: others.iter().all(|series| series.is_total), ..Marks::default() };
    for series in &others {
        marks.learn(&series.counted, series.points.iter().map(|(_, value)| *value));
    }
    put_rates(&rates, input, out)?;
    match marks.kind() {
        _ if others.is_empty() => {}
        ValueKind::Counters => put_counters(&others, out),
        ValueKind::Rates => {
            out.caution(None, Doubt::RatesAssumed);
            put_rates(&others, input, out)?;
        }
        ValueKind::Unclear => return Err(out.unusable(InputFault::CountersOrRates)),
    }
    chosen.emit_capacities("", &found.claims, out);
    Ok(())
}

impl DiskSeriesSet {
    fn take_document(&mut self, value: &Value, lines: &ElementLines) {
        let (path, results) = match value {
            Value::Array(list) => ("", list.as_slice()),
            _ => match json::get(value, &["data"]) {
                Some(data) => ("data.result", json::list(data, &["result"])),
                None => ("result", json::list(value, &["result"])),
            },
        };
        for (index, result) in results.iter().enumerate() {
            let path = format!("{path}[{index}]");
            self.take_series(result, lines.at(&path), &path);
        }
    }

    fn take_series(&mut self, result: &Value, line: u64, path: &str) {
        let Some(labels) = json::get(result, &["metric"]) else { return };
        let label = |name: &str| labels.get(name).and_then(Value::as_str);
        let Some(full) = label("__name__") else {
            self.nameless += 1;
            return;
        };
        let host = Owner::new(Family::Node, label).host;
        let values = || json::list(result, &["values"]).iter().chain(result.get("value")).filter_map(point);
        if let Some(place) = processor_mode(full, label) {
            values().for_each(|(at, value)| self.processors.add(&host, place, at, value, line));
            return;
        }
        let metric = ClaimMetric { name: full, host: &host, value: values().next_back().map(|(_, value)| value), line };
        if self.claims.learn(&metric, label) {
            return;
        }
        if self.gauges.take_series(full, values(), (line, path), label) {
            return;
        }
        let (name, is_rate) = match full.split(':').collect::<Vec<_>>().as_slice() {
            [_, name, operation] => (*name, operation.contains("rate")),
            _ => (full, false),
        };
        let Some(Metric { family, counted, unit }) = find_metric(name, direction_of(label)) else {
            *self.others.entry(full.to_owned()).or_default() += 1;
            return;
        };
        let owner = Owner::new(family, label);
        if self.gauges.is_interval_total(name, &owner.device) {
            return;
        }
        let mut points: Vec<(DateTime, f64)> = values().collect();
        points.sort_by_key(|(at, _)| *at);
        points.dedup_by_key(|(at, _)| *at);
        let place = format!("{path} {full}{{{}}}", owner.device);
        let is_total = full.ends_with("_total");
        self.series.push(DiskSeries { owner, counted, unit, is_rate, is_total, points, line, place });
    }

    /// Adds cautions for missing and unused series.
    fn check(&self, out: &mut Builder) -> Result<(), Refusal> {
        if self.series.iter().all(|series| series.points.is_empty()) {
            let of_disks = InputFault::missing("metric of operations of disks", &["node_disk_* of node_exporter"]);
            return Err(out.unusable(match self.nameless {
                1.. => InputFault::Doubt(Doubt::NamelessSeries),
                0 if self.others.is_empty() => self.claims.explain_missing(InputFault::NoValues),
                0 => self.claims.explain_missing(of_disks),
            }));
        }
        if self.nameless > 0 {
            out.caution(None, Doubt::NamelessSeries);
        }
        for (name, count) in &self.others {
            out.part(format!("{name} ({count} series)"), Fate::Ignored);
        }
        Ok(())
    }
}

/// `[seconds, "value"]`
fn point(pair: &Value) -> Option<(DateTime, f64)> {
    let [seconds, value] = pair.as_array()?.as_slice() else { return None };
    let value = json::number(value)?;
    Some((timestamp::of_unix(json::number(seconds)?)?, value))
}

fn put_rates(rates: &[DiskSeries], input: &FormatInput, out: &mut Builder) -> Result<(), Refusal> {
    let (mut points, mut spacing) = (Points::default(), Spacing::default());
    for series in rates {
        let scope = out.scope(series.owner.scope(""));
        spacing.learn(series.points.iter().map(|(at, _)| *at));
        for (index, (at, value)) in series.points.iter().enumerate() {
            let origin = build_origin(series, index, out);
            points.add(*at, scope, Meaning::Rate(series.counted.clone()), value * series.unit, origin);
        }
    }
    if points.is_empty() {
        return Ok(());
    }
    let Some(length) = spacing.length(input.interval) else {
        return Err(out.unusable(InputFault::NoLength { item: label!("value in each series") }));
    };
    points.put(length, Edge::End, out);
    Ok(())
}

/// Converts counters to snapshots in order of time.
fn put_counters(counters: &[DiskSeries], out: &mut Builder) {
    let mut by_moment: BTreeMap<DateTime, BTreeMap<u32, Vec<Count>>> = BTreeMap::new();
    for series in counters {
        let scope = out.scope(series.owner.scope(""));
        for (index, (at, value)) in series.points.iter().enumerate() {
            let counts = by_moment.entry(*at).or_default().entry(scope).or_default();
            if counts.iter().all(|count| count.counted != series.counted) {
                let (counted, value) = (series.counted.clone(), value * series.unit);
                counts.push(Count { counted, value, wraps_at: None, origin: build_origin(series, index, out) });
            }
        }
    }
    for (at, scopes) in by_moment {
        for (scope, counts) in scopes {
            let origin = counts[0].origin.clone();
            out.snapshot(Snapshot { scope, at: Some(at), age: None, counts, origin });
        }
    }
}

fn build_origin(series: &DiskSeries, index: usize, out: &mut Builder) -> Origin {
    out.origin(series.line, &series.place, &format!("values[{index}]"))
}

/// The meaning of a response's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueKind {
    Counters,
    Rates,
    Unclear,
}

/// Evidence for each meaning.
#[derive(Debug, Default)]
struct Marks {
    /// All are counters by name.
    named: bool,
    /// Operations and bytes that are not whole numbers.
    fractions: u64,
    /// Operations and bytes that are non-zero whole numbers.
    wholes: u64,
    /// Shares of time above 1.
    beyond_one: bool,
    rises: u64,
    falls: u64,
    /// Falls to less than half.
    resets: u64,
    nonzero: bool,
}

impl Marks {
    /// Examines a series in order of time.
    fn learn(&mut self, counted: &Counted, values: impl Iterator<Item = f64> + Clone) {
        for value in values.clone() {
            self.nonzero |= value != 0.0;
            match counted {
                Operations(_) | Bytes(_) => {
                    self.fractions += u64::from(value.fract() != 0.0);
                    self.wholes += u64::from(value != 0.0 && value.fract() == 0.0);
                }
                BusySeconds(_) => self.beyond_one |= value > 1.05,
                _ => {}
            }
        }
        for (before, after) in values.clone().zip(values.skip(1)) {
            self.rises += u64::from(after > before);
            self.falls += u64::from(after < before);
            self.resets += u64::from(after * 2.0 < before);
        }
    }

    fn kind(&self) -> ValueKind {
        let changes = self.rises + self.falls;
        let falls_often = self.falls * 5 >= changes;
        let falls_seldom = self.falls * 20 <= changes;
        let resets_seldom = self.rises > 0 && self.falls * 3 <= self.rises && self.resets == self.falls;
        match () {
            () if !self.nonzero => ValueKind::Counters,
            () if self.fractions > 0 => ValueKind::Rates,
            () if self.named && self.wholes > 0 && resets_seldom => ValueKind::Counters,
            () if changes > 4 && falls_often => ValueKind::Rates,
            () if changes > 0 && falls_seldom && (self.wholes > 0 || self.beyond_one) => ValueKind::Counters,
            () if changes > 4 && falls_seldom => ValueKind::Counters,
            () if changes == 0 && self.wholes > 0 && self.beyond_one => ValueKind::Counters,
            () => ValueKind::Unclear,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Marks, ValueKind, find_label, parse_sample};
    use crate::reading::{Class, Counted};

    #[test]
    fn samples_are_read_with_labels_and_times() {
        let check = |line: &str, name: &str, device: Option<&str>, value: f64, timed: bool| {
            let sample = parse_sample(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((sample.name, find_label(sample.labels, "device")), (name, device), "{line}");
            assert_eq!((sample.value, sample.at.is_some()), (value, timed), "{line}");
        };
        check("a_total{device=\"sda\"} 1.5e+06", "a_total", Some("sda"), 1.5e6, false);
        check("a{x=\"}\\\"\",device=\"sda\",} 3 1772442000123", "a", Some("sda"), 3.0, true);
        check("a{x=\"device=\", device=\"b\"} 3 1772442000.123", "a", Some("b"), 3.0, true);
        check("a 7", "a", None, 7.0, false);
        for line in ["", "a", "a{b=\"c\" 1", "a b 1", "# TYPE a counter", "a{b=\"c\"}"] {
            assert!(parse_sample(line).is_none(), "{line}");
        }
    }

    fn check(counted: &Counted, values: &[f64], expected: ValueKind) {
        let mut marks = Marks::default();
        marks.learn(counted, values.iter().copied());
        assert_eq!(marks.kind(), expected, "{values:?}");
    }

    #[test]
    fn counters_rise_and_rates_may_fall() {
        let reads = Counted::Operations(Class::Read);
        check(&reads, &[1_000.0, 1_010.0, 1_300.0], ValueKind::Counters);
        check(&reads, &[1_000.0, 1_010.0], ValueKind::Counters);
        check(&reads, &[0.0, 0.0, 0.0], ValueKind::Counters);
        check(&reads, &[10.5, 12.0, 11.0], ValueKind::Rates);
        check(&reads, &[10.0, 12.0, 9.0, 11.0, 8.0, 12.0], ValueKind::Rates);
        check(&reads, &[10.0, 10.0, 10.0], ValueKind::Unclear);
        check(&reads, &[10.0, 12.0, 11.0], ValueKind::Unclear);
        let restarted: Vec<f64> = (0..40).map(|n| f64::from(n % 39) * 100.0).collect();
        check(&reads, &restarted, ValueKind::Counters);
        let busy = Counted::BusySeconds(Class::All);
        check(&busy, &[100.5, 100.9], ValueKind::Counters);
        check(&busy, &[0.5, 0.9], ValueKind::Unclear);
    }
}
