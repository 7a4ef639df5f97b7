//! Prometheus metrics (text format 0.0.4), named like the disk metrics of `node_exporter`.

use std::fmt::Write;

use plimsoll_volume::BUCKET_BOUNDS_NS;

use crate::api::{About, Bin, KindCount, LimitedTimes, Stats, Volume};
use crate::{Refusal, RefusalKind, Service};

pub(super) const TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

type VolumeCounters = (Volume, Stats);

/// Renders the present counters of a service.
pub(super) fn scraped(service: &Service) -> Result<String, Refusal> {
    let mut counted = Vec::new();
    for volume in service.list()? {
        match service.stats(&volume.name) {
            Ok(stats) => counted.push((volume, stats)),
            // The volume was deleted since the listing.
            Err(refusal) if refusal.kind == RefusalKind::NotFound => {}
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(render_page(&service.about()?, &counted))
}

/// Renders one metric family after another.
fn render_page(about: &About, volumes: &[VolumeCounters]) -> String {
    let mut page = Page { text: String::new(), volumes };
    page.service(about);
    page.volumes();
    page.operations();
    page.fidelity();
    page.cost();
    page.ebs_driver();
    page.text
}

struct Page<'a> {
    text: String,
    volumes: &'a [VolumeCounters],
}

impl Page<'_> {
    /// Starts a metric family.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.put(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
    }

    fn put(&mut self, arguments: std::fmt::Arguments<'_>) {
        self.text.write_fmt(arguments).expect("writing to a string does not fail");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let labels: Vec<String> = labels.iter().map(|(key, text)| format!("{key}=\"{}\"", escaped(text))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        // Zero has no sign.
        self.put(format_args!("{name}{labels} {}\n", value + 0.0));
    }

    /// Writes a family with at most one sample per volume.
    fn each(&mut self, name: &str, kind: &str, help: &str, value: impl Fn(&Volume, &Stats) -> Option<f64>) {
        self.family(name, kind, help);
        for (volume, stats) in self.volumes {
            if let Some(value) = value(volume, stats) {
                self.sample(name, &[("volume", &volume.name)], value);
            }
        }
    }

    fn service(&mut self, about: &About) {
        let mut one = |name: &str, help: &str, labels: &[(&str, &str)], value: f64| {
            self.family(name, "gauge", help);
            self.sample(name, labels, value);
        };
        one("plimsoll_info", "Version of the service; always 1.", &[("made_by", &about.made_by)], 1.0);
        let slow = f64::from(about.slow);
        one("plimsoll_time_dilation", "How many times slower than the clock the model's time runs.", &[], slow);
        let realtime = f64::from(u8::from(about.realtime));
        one("plimsoll_realtime_priority", "1 with real-time priority, 0 without.", &[], realtime);
        one("plimsoll_capacity_bytes", "Bytes that data may use.", &[], about.capacity_bytes as f64);
        one("plimsoll_used_bytes", "Bytes that data use.", &[], about.used_bytes as f64);
        let health = f64::from(u8::from(about.trouble.is_none()));
        one("plimsoll_store_healthy", "1 if the store accepts changes and makes them durable, 0 if not.", &[], health);
        let floor = &about.floor;
        one("plimsoll_floor_iops", "4 KiB reads a second at depth 32 without a model.", &[], floor.iops as f64);
        let spans = [
            ("plimsoll_floor_round_trip_seconds", floor.round_trip_p50_ns, floor.round_trip_p99_ns),
            ("plimsoll_floor_timer_seconds", floor.timer_p50_ns, floor.timer_p99_ns),
        ];
        let help = ["Round trip of a 4 KiB read at depth 1 without a model.", "Lateness of a timer."];
        for ((name, p50, p99), help) in spans.into_iter().zip(help) {
            self.family(name, "gauge", help);
            self.sample(name, &[("quantile", "0.5")], seconds(p50));
            self.sample(name, &[("quantile", "0.99")], seconds(p99));
        }
    }

    fn volumes(&mut self) {
        let name = "plimsoll_volume_info";
        self.family(name, "gauge", "Configuration of the volume; always 1.");
        for (volume, _) in self.volumes {
            let group = volume.group.as_deref().unwrap_or_default();
            self.sample(name, &[("volume", &volume.name), ("like", &volume.like), ("group", group)], 1.0);
        }
        let size = |volume: &Volume, _: &Stats| Some(volume.size_bytes as f64);
        self.each("plimsoll_volume_size_bytes", "gauge", "Bytes that clients see.", size);
        let level = |volume: &Volume, _: &Stats| volume.level.map(f64::from);
        self.each("plimsoll_volume_level", "gauge", "The product's level, such as VPUs.", level);
        let clients = |volume: &Volume, _: &Stats| Some(volume.clients as f64);
        self.each("plimsoll_volume_clients", "gauge", "Clients that have it open.", clients);
        let in_flight = |_: &Volume, stats: &Stats| Some(f64::from(stats.in_flight));
        self.each("plimsoll_volume_io_now", "gauge", "Requests in flight.", in_flight);
    }

    fn operations(&mut self) {
        let families = [
            ("read", "reads_completed", "Reads answered.", "read_bytes", "Bytes read."),
            ("write", "writes_completed", "Writes answered.", "written_bytes", "Bytes written."),
            ("trim", "discards_completed", "Trims answered.", "discarded_bytes", "Bytes trimmed."),
            ("flush", "flush_requests", "Flushes answered.", "", ""),
        ];
        for (kind, ops, ops_help, bytes, bytes_help) in families {
            let of = |stats: &Stats| stats.counts.iter().find(|count| count.kind == kind).cloned();
            let count = |_: &Volume, stats: &Stats| of(stats).map(|count| count.ops as f64);
            self.each(&format!("plimsoll_volume_{ops}_total"), "counter", ops_help, count);
            if !bytes.is_empty() {
                let count = |_: &Volume, stats: &Stats| of(stats).map(|count| count.bytes as f64);
                self.each(&format!("plimsoll_volume_{bytes}_total"), "counter", bytes_help, count);
            }
        }
        let name = "plimsoll_volume_errors_total";
        self.family(name, "counter", "Requests answered with an error.");
        for (volume, stats) in self.volumes {
            for count in &stats.counts {
                self.sample(name, &[("volume", &volume.name), ("kind", &count.kind)], count.errors as f64);
            }
        }
        let name = "plimsoll_volume_bound_by_total";
        self.family(name, "counter", "Requests by the limit that held them longest.");
        for (volume, stats) in self.volumes {
            for bound in &stats.bound_by {
                self.sample(name, &[("volume", &volume.name), ("limit", &bound.limit)], bound.count as f64);
            }
        }
    }

    fn fidelity(&mut self) {
        let count = |_: &Volume, stats: &Stats| Some(stats.faithful as f64);
        let help = "Seconds with answers that were faithful to the model.";
        self.each("plimsoll_volume_faithful_seconds_total", "counter", help, count);
        let count = |_: &Volume, stats: &Stats| Some(stats.unfaithful as f64);
        let help = "Seconds with answers that were not faithful to the model.";
        self.each("plimsoll_volume_unfaithful_seconds_total", "counter", help, count);
        let name = "plimsoll_volume_response_seconds";
        self.family(name, "gauge", "Response time that the model gave in the last second that had answers.");
        for (volume, stats) in self.volumes {
            for (quantile, ns) in stats.last.iter().flat_map(|last| [("0.5", last.p50_ns), ("0.99", last.p99_ns)]) {
                self.sample(name, &[("volume", &volume.name), ("quantile", quantile)], seconds(ns));
            }
        }
        let name = "plimsoll_volume_lateness_seconds";
        self.family(
            name,
            "histogram",
            "How long after the moment of the model clients had answers, by complete seconds: the way to them is estimated.",
        );
        for (volume, Stats { lateness, lateness_sum_ns, .. }) in self.volumes {
            let count = lateness.iter().map(|bin| bin.count).sum();
            self.histogram(name, &[("volume", &volume.name)], lateness, (*lateness_sum_ns, count));
        }
        let name = "plimsoll_volume_response_histogram_seconds";
        self.family(name, "histogram", "Response times of successful requests as clients have them, in model time.");
        for (volume, stats) in self.volumes {
            for of in &stats.counts {
                let labels = [("volume", volume.name.as_str()), ("kind", &of.kind)];
                self.histogram(name, &labels, &of.responses, (of.response_sum_ns, of.ops));
            }
        }
    }

    /// Writes the samples of a histogram with a sum in nanoseconds and a count.
    fn histogram(&mut self, name: &str, labels: &[(&str, &str)], bins: &[Bin], (sum_ns, count): (u64, u64)) {
        let bucket = format!("{name}_bucket");
        let mut put = |bound: &str, within: u64| {
            self.sample(&bucket, &[labels, &[("le", bound)]].concat(), within as f64);
        };
        for bound in BUCKET_BOUNDS_NS {
            let within = bins.iter().filter(|bin| bin.upto_ns <= bound).map(|bin| bin.count).sum();
            put(&seconds(bound).to_string(), within);
        }
        put("+Inf", count);
        self.sample(&format!("{name}_sum"), labels, seconds(sum_ns));
        self.sample(&format!("{name}_count"), labels, count as f64);
    }

    /// Volumes of Amazon's products under the names of the EBS CSI driver, which reads them from log page 0xD0: `docs/metrics.md`
    /// of kubernetes-sigs/aws-ebs-csi-driver. Its latency histograms have no sum.
    fn ebs_driver(&mut self) {
        let of = |kind: &'static str, value: fn(&KindCount) -> f64| {
            move |stats: &Stats| stats.counts.iter().find(|count| count.kind == kind).map(value)
        };
        let time = |value: fn(&LimitedTimes) -> u64| move |stats: &Stats| Some(seconds(value(&stats.limited)));
        let ops = |count: &KindCount| count.ops as f64;
        let bytes = |count: &KindCount| count.bytes as f64;
        let busy = |count: &KindCount| seconds(count.response_sum_ns);
        self.each_ebs("read_ops_total", "Reads completed.", of("read", ops));
        self.each_ebs("write_ops_total", "Writes completed.", of("write", ops));
        self.each_ebs("read_bytes_total", "Bytes read.", of("read", bytes));
        self.each_ebs("write_bytes_total", "Bytes written.", of("write", bytes));
        self.each_ebs("read_seconds_total", "Sum of the times of reads.", of("read", busy));
        self.each_ebs("write_seconds_total", "Sum of the times of writes.", of("write", busy));
        let help = "Time in which the limit of IOPS of the volume held operations.";
        self.each_ebs("exceeded_iops_seconds_total", help, time(|limited| limited.volume_operations_ns));
        let help = "Time in which the limit of throughput of the volume held operations.";
        self.each_ebs("exceeded_tp_seconds_total", help, time(|limited| limited.volume_bytes_ns));
        let help = "Time in which the limit of IOPS of the instance held operations.";
        self.each_ebs("ec2_exceeded_iops_seconds_total", help, time(|limited| limited.group_operations_ns));
        let help = "Time in which the limit of throughput of the instance held operations.";
        self.each_ebs("ec2_exceeded_tp_seconds_total", help, time(|limited| limited.group_bytes_ns));
        self.each_ebs("volume_queue_length", "Operations in flight.", |stats| Some(f64::from(stats.in_flight)));
    }

    /// Writes a family of the EBS CSI driver.
    fn each_ebs(&mut self, name: &str, help: &str, value: impl Fn(&Stats) -> Option<f64>) {
        let name = format!("aws_ebs_csi_{name}");
        self.family(&name, if name.ends_with("_total") { "counter" } else { "gauge" }, help);
        for (volume, stats) in self.volumes {
            let Some(value) = value(stats).filter(|_| volume.like.starts_with("aws/")) else { continue };
            let instance = volume.group.as_deref().unwrap_or_default();
            self.sample(&name, &[("instance_id", instance), ("volume_id", &volume.name)], value);
        }
    }

    fn cost(&mut self) {
        let families = [
            ("plimsoll_volume_cost_total", "counter", "Cost of the volume so far, at list prices."),
            ("plimsoll_volume_cost_per_month", "gauge", "A month of 730 hours at the present level, at list prices."),
        ];
        for (index, (name, kind, help)) in families.into_iter().enumerate() {
            self.family(name, kind, help);
            for (volume, _) in self.volumes {
                let Some(cost) = &volume.cost else { continue };
                let amount = [&cost.so_far, &cost.monthly][index];
                if let Ok(amount) = amount.parse() {
                    self.sample(name, &[("volume", &volume.name), ("currency", &cost.currency)], amount);
                }
            }
        }
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests;
