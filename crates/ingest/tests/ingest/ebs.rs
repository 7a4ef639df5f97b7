//! Statistics of EBS volumes in every form in which programs print them, of invented volumes.

use std::fmt::Write as _;

use plimsoll_ingest::{
    CapBasis, CapKind, CapOwner, Class, Demand, FormatInput, LatencyHistogram, Measure, Outcome, Reading, ReadingScope,
    Resource, join,
};
use plimsoll_units::Span;

use crate::series::{cut_anywhere, has_caution, laws, near, outcome, read, read_as, refused, values};

/// Counters after `n` seconds, from the values at attachment: 3,000 reads of 8 KiB in 20 ms each, 0.7 s of each second
/// above the volume's limit of operations and 0.1 s above the instance's limit of throughput.
fn counters(n: u64) -> [u64; 11] {
    let at = |begin: u64, rate: u64| begin + rate * n;
    [
        at(1_000, 3_000),
        at(50, 10),
        at(8_192_000, 24_576_000),
        at(800_000, 160_000),
        at(530_000, 60_000_000),
        at(9_000, 5_000),
        at(7_000, 700_000),
        at(0, 0),
        at(0, 0),
        at(3, 100_000),
        4,
    ]
}

const KEYS: [&str; 11] = [
    "total_read_ops",
    "total_write_ops",
    "total_read_bytes",
    "total_write_bytes",
    "total_read_time",
    "total_write_time",
    "ebs_volume_performance_exceeded_iops",
    "ebs_volume_performance_exceeded_tp",
    "ec2_instance_performance_exceeded_iops",
    "ec2_instance_performance_exceeded_tp",
    "volume_queue_length",
];

/// Latencies of reads: 2,970 of 3,000 a second below 32.768 ms, the others below 65.536 ms. Bins count in 32 bits.
fn bins_at(n: u64) -> [(u64, u64, u64); 2] {
    [(16_384, 32_768, (4_294_967_000 + 2_970 * n) % (1 << 32)), (32_768, 65_536, 30 * n)]
}

fn json_of(values: [u64; 11], bins: [(u64, u64, u64); 2], names: &[(&str, &str)]) -> String {
    let mut text = String::from("{\n");
    for (key, value) in KEYS.iter().zip(values) {
        let key = names.iter().find(|(own, _)| own == key).map_or(*key, |(_, other)| other);
        let _ = writeln!(text, "  \"{key}\":{value},");
    }
    let bins = bins.map(|(lower, upper, count)| format!("{{\"lower\":{lower},\"upper\":{upper},\"count\":{count}}}"));
    let _ = writeln!(text, "  \"read_io_latency_histogram\":{{\"num_bins\":2,\"bins\":[\n{}\n]}},", bins.join(",\n"));
    text + "  \"write_io_latency_histogram\":{\"num_bins\":0,\"bins\":[]}\n}\n"
}

fn json(n: u64) -> String {
    json_of(counters(n), bins_at(n), &[])
}

/// The text of `ebsnvme stats`, or with colons that of `nvme amzn stats`.
fn print_text(n: u64, colon: &str) -> String {
    let c = counters(n);
    let row = |title: &str, names: [&str; 2], at: usize| {
        format!("{title}{colon}\n  {}: {}\n  {}: {}\n", names[0], c[at], names[1], c[at + 1])
    };
    let (of, limits) = (["Read", "Write"], ["IOPS", "Throughput"]);
    let mut text = row("Total Ops", of, 0) + &row("Total Bytes", of, 2) + &row("Total Time (us)", of, 4);
    text += &row("EBS Volume Performance Exceeded (us)", limits, 6);
    text += &row("EC2 Instance EBS Performance Exceeded (us)", limits, 8);
    let _ = writeln!(text, "Queue Length (point in time): {} \n", c[10]);
    let line = "=================================\n";
    let _ = write!(
        text,
        "Read IO Latency Histogram (us)\nNumber of bins: 2\n{line}Lower       Upper        IO Count\n{line}"
    );
    for (lower, upper, count) in bins_at(n) {
        let _ = writeln!(text, "[{lower:<8} - {upper:<8}] => {count}");
    }
    text + "\nWrite IO Latency Histogram (us)\nNumber of bins: 0\n"
}

fn build_page(n: u64) -> Vec<u8> {
    let mut page = vec![0; 4_096];
    page[..4].copy_from_slice(&0x3C23_B510_u32.to_le_bytes());
    for (index, value) in counters(n).into_iter().enumerate() {
        page[8 + 8 * index..16 + 8 * index].copy_from_slice(&value.to_le_bytes());
    }
    page[512] = 2;
    for (index, (lower, upper, count)) in bins_at(n).into_iter().enumerate() {
        let bin = [lower.to_le_bytes(), upper.to_le_bytes(), count.to_le_bytes()].concat();
        page[520 + 24 * index..544 + 24 * index].copy_from_slice(&bin);
    }
    page
}

fn timed(n: u64, sample: &str) -> String {
    format!("2026-03-02T09:00:{n:02}Z\n{sample}")
}

/// Asserts the rates of two windows, of 10 and of 20 seconds, and the times above limits.
fn check(reading: &Reading, part: &str) {
    laws(reading);
    let both = |class, measure, expected: f64| near(&values(reading, part, class, measure), &[expected, expected]);
    both(Class::Read, Measure::Iops, 3_000.0);
    both(Class::Read, Measure::Size, 8_192.0);
    both(Class::Read, Measure::Latency, 0.02);
    both(Class::Write, Measure::Iops, 10.0);
    let demand = Demand::of(&[reading]);
    let caps: Vec<_> = demand.subjects[0]
        .caps
        .iter()
        .map(|cap| {
            let time = cap.time.expect("EBS counts time").map(Span::as_secs_f64);
            assert_eq!((cap.of, cap.limit.basis), (2, CapBasis::Exceeded));
            (cap.limit.provider, cap.limit.owner, cap.limit.kind, cap.points, time)
        })
        .collect();
    let expected = [
        ("EBS", CapOwner::Volume, CapKind::Operations, 2, [21.0, 30.0]),
        ("EBS", CapOwner::Volume, CapKind::Bytes, 0, [0.0, 30.0]),
        ("EC2", CapOwner::Machine, CapKind::Operations, 0, [0.0, 30.0]),
        ("EC2", CapOwner::Machine, CapKind::Bytes, 2, [3.0, 30.0]),
    ];
    assert_eq!(caps, expected);
    assert!(has_caution(reading, "ebs_volume_performance_exceeded_iops rises, and the demand exceeds these figures"));
    let reads = &demand.subjects[0].latencies[&Class::Read];
    assert_eq!(reads.values().copied().collect::<Vec<_>>(), [2_970.0 * 30.0, 30.0 * 30.0], "a wrap is no reset");
    assert_eq!(LatencyHistogram::quantile_s(reads, 0.99), Some([0.016_384, 0.032_768]));
    assert_eq!(LatencyHistogram::quantile_s(reads, 0.991), Some([0.032_768, 0.065_536]));
}

#[test]
fn samples_in_json_are_windows_between_them() {
    let series: String = [0, 10, 30].map(|n| timed(n, &json(n))).concat();
    check(&read(&series), "");
    cut_anywhere(&series);
    // Amazon's script prints a line, and has other names for the instance.
    let names = [
        ("ec2_instance_performance_exceeded_iops", "ec2_instance_ebs_performance_exceeded_iops"),
        ("ec2_instance_performance_exceeded_tp", "ec2_instance_ebs_performance_exceeded_tp"),
    ];
    let line = |n: u64| json_of(counters(n), bins_at(n), &names).replace('\n', "") + "\n";
    let series: String = [0, 10, 30].map(|n| timed(n, &line(n))).concat();
    check(&read(&series), "");
}

#[test]
fn samples_in_text_are_windows_between_them() {
    for colon in ["", ":"] {
        let series: String = [0, 10, 30].map(|n| timed(n, &print_text(n, colon))).concat();
        check(&read(&series), "");
    }
    cut_anywhere(&timed(0, &print_text(0, "")));
}

#[test]
fn volumes_are_distinguished_by_a_line_with_their_device() {
    let series: String =
        [0, 10, 30].map(|n| timed(n, &format!("/dev/nvme1n1\n{}vol-0a1:\n{}", json(n), print_text(n, ":")))).concat();
    let reading = read(&series);
    for part in ["/dev/nvme1n1", "vol-0a1"] {
        near(&values(&reading, part, Class::Read, Measure::Iops), &[3_000.0; 2]);
    }
    assert_eq!(reading.windows.len(), 2);
    let commented: String = [0, 10, 30].map(|n| timed(n, &format!("#DEV nvme1n1\n{}", json(n)))).concat();
    near(&values(&read(&commented), "nvme1n1", Class::Read, Measure::Iops), &[3_000.0; 2]);
}

#[test]
fn samples_at_an_interval_are_differences_after_the_first() {
    let differences = |seconds: u64| {
        let (before, after) = (counters(0), counters(seconds));
        let mut rises: [u64; 11] = std::array::from_fn(|at| after[at] - before[at]);
        rises[10] = 4;
        json_of(rises, [(16_384, 32_768, 2_970 * seconds), (32_768, 65_536, 30 * seconds)], &[])
    };
    for program in ["NVMe", "EBS"] {
        let head = format!("Polling {program} stats every 5 sec(s); press Ctrl+C to stop\n\n");
        let reading = read(&(head + &json(0) + &differences(5) + "\n\n" + &differences(5)));
        near(&values(&reading, "", Class::Read, Measure::Iops), &[3_000.0; 2]);
        near(&values(&reading, "", Class::Write, Measure::Size), &[16_000.0; 2]);
    }
}

#[test]
fn pages_are_samples() {
    let pages = [build_page(0), build_page(10), build_page(20)].concat();
    let interval = FormatInput { interval: Some(Span::from_secs(10)), ..FormatInput::default() };
    let Outcome::Read(reading) = outcome(&pages, 1_000, interval) else { panic!("refused") };
    near(&values(&reading, "", Class::Read, Measure::Latency), &[0.02; 2]);
    let Outcome::Refused { refusal, .. } = outcome(&pages, 4_096, "pages") else { panic!("no times") };
    assert!(refusal.to_string().contains("specify their interval"), "{refusal}");
    let other = [&pages[..4_096], &[1; 4_096]].concat();
    let Outcome::Read(reading) =
        outcome(&other, 100, FormatInput { interval: Some(Span::from_secs(1)), ..Default::default() })
    else {
        panic!("the first page is usable")
    };
    assert!(has_caution(&reading, "page 2 is skipped: its magic number is 0x01010101"), "{:?}", reading.cautions);
}

#[test]
fn a_single_sample_has_no_rates() {
    let alone = join(vec![read(&json(5))]).remove(0);
    assert!(alone.figures.is_empty() && alone.caps.is_empty());
    assert!(has_caution(&alone, "no known start"), "{:?}", alone.cautions);
    let joined = join(vec![read(&timed(0, &json(0))), read(&timed(10, &json(10)))]).remove(1);
    near(&values(&joined, "", Class::Read, Measure::Iops), &[3_000.0]);
    assert_eq!(joined.caps[0].time, Some([Span::from_secs(7), Span::from_secs(10)]));
    assert!(refused(&(json(0) + &json(1))).contains("specify their interval"));
    let interval = FormatInput { interval: Some(Span::from_secs(1)), ..FormatInput::default() };
    near(&values(&read_as(&(json(0) + &json(1)), interval), "", Class::Read, Measure::Iops), &[3_000.0]);
}

#[test]
fn broken_samples_are_skipped() {
    let series = timed(0, &json(0)) + &timed(10, "{\"total_read_ops\": x}\n") + &timed(20, &json(20));
    let reading = read(&series);
    near(&values(&reading, "", Class::Read, Measure::Iops), &[3_000.0]);
    assert!(has_caution(&reading, "invalid JSON"));
    // Truncated in the second sample.
    let cut = &series[..json(0).len() + 200];
    assert!(has_caution(&read(cut), "invalid JSON"));
}

#[test]
fn snapshots_of_collect_are_samples_of_each_volume() {
    let head = "{\"format\":\"plimsoll.snapshots/1\",\"source\":\"ebs\",\"host\":\"db1\"}\n";
    let line = |n: u64| {
        let one = json(n).replace('\n', "");
        format!("{{\"at\":\"2026-03-02T09:00:{n:02}.000Z\",\"volumes\":{{\"vol-0a1\":{one}}}}}\n")
    };
    let series: String = [0, 10, 30].map(line).concat();
    let reading = read(&(head.to_owned() + &series));
    check(&reading, "vol-0a1");
    assert!(reading.scopes.iter().any(|scope| scope.host == "db1"));
}

#[test]
fn node_metrics_of_the_csi_driver_have_the_same_limits() {
    let exposition = |n: u64| {
        let c = counters(n);
        let labels = "{instance_id=\"i-0b2\",volume_id=\"vol-0a1\"}";
        let seconds = |micros: u64| micros as f64 / 1e6;
        let mut text = String::new();
        for (name, value) in [
            ("read_ops_total", c[0] as f64),
            ("write_ops_total", c[1] as f64),
            ("read_bytes_total", c[2] as f64),
            ("write_bytes_total", c[3] as f64),
            ("read_seconds_total", seconds(c[4])),
            ("write_seconds_total", seconds(c[5])),
            ("exceeded_iops_seconds_total", seconds(c[6])),
            ("exceeded_tp_seconds_total", seconds(c[7])),
            ("ec2_exceeded_iops_seconds_total", seconds(c[8])),
            ("ec2_exceeded_tp_seconds_total", seconds(c[9])),
            ("volume_queue_length", 4.0),
            ("read_io_latency_seconds_bucket", 5.0),
            ("nvme_collector_scrapes_total", 5.0),
        ] {
            let at = 1_772_442_000_000 + 1_000 * n;
            let _ = writeln!(text, "# TYPE aws_ebs_csi_{name} counter\naws_ebs_csi_{name}{labels} {value} {at}");
        }
        text
    };
    let reading = read(&[0, 10, 30].map(exposition).concat());
    near(&values(&reading, "vol-0a1", Class::Read, Measure::Iops), &[3_000.0; 2]);
    near(&values(&reading, "vol-0a1", Class::Read, Measure::Latency), &[0.02; 2]);
    let caps: Vec<_> = reading.caps.iter().map(|cap| (cap.metric.as_str(), cap.points, cap.limit.owner)).collect();
    let expected = [
        ("aws_ebs_csi_exceeded_iops_seconds_total", 2, CapOwner::Volume),
        ("aws_ebs_csi_exceeded_tp_seconds_total", 0, CapOwner::Volume),
        ("aws_ebs_csi_ec2_exceeded_iops_seconds_total", 0, CapOwner::Machine),
        ("aws_ebs_csi_ec2_exceeded_tp_seconds_total", 2, CapOwner::Machine),
    ];
    assert_eq!(caps, expected);
    assert!(reading.scopes.iter().all(|scope| scope.host == "i-0b2" && scope.part == "vol-0a1"));
    // Other exporters count the operations of the host; the limits stay.
    let node = "node_disk_reads_completed_total{device=\"nvme1n1\",instance=\"i-0b2\"}";
    let with_node = |n: u64| exposition(n) + &format!("{node} {} {}\n", 100 * n, 1_772_442_000_000 + 1_000 * n);
    let reading = read(&[0, 10, 30].map(with_node).concat());
    near(&values(&reading, "nvme1n1", Class::Read, Measure::Iops), &[100.0; 2]);
    assert_eq!((values(&reading, "vol-0a1", Class::Read, Measure::Iops).len(), reading.caps.len()), (0, 4));
    // Labels of kube-state-metrics and of the device join volume and device to the claim.
    let claims = "kube_persistentvolume_info{persistentvolume=\"pvc-7\",csi_volume_handle=\"vol-0a1\",instance=\"ksm:8080\"} 1\n\
                  kube_persistentvolumeclaim_info{exported_namespace=\"db\",namespace=\"monitoring\",\
                  persistentvolumeclaim=\"data-postgres-0\",volumename=\"pvc-7\",instance=\"ksm:8080\"} 1\n\
                  node_disk_info{device=\"nvme1n1\",instance=\"i-0b2\",serial=\"vol0a1\"} 1\n";
    let reading = read(&(claims.to_owned() + &[0, 10, 30].map(with_node).concat()));
    near(&values(&reading, "db/data-postgres-0", Class::Read, Measure::Iops), &[100.0; 2]);
    let is_claim = |scope: &ReadingScope| (&*scope.part, &*scope.part_id) == ("db/data-postgres-0", "vol-0a1");
    assert!(reading.scopes.iter().all(is_claim), "{:?}", reading.scopes);
    let reading = read(&(claims.to_owned() + &[0, 10, 30].map(exposition).concat()));
    near(&values(&reading, "db/data-postgres-0", Class::Read, Measure::Iops), &[3_000.0; 2]);
    // The capacity is that of the volume; without it, that of the file system.
    let kubelet = "kubelet_volume_stats_capacity_bytes{namespace=\"db\",persistentvolumeclaim=\"data-postgres-0\",\
                   instance=\"node:10250\"} 1e+13\n";
    let volume = "kube_persistentvolume_capacity_bytes{persistentvolume=\"pvc-7\"} 5.36870912e+09\n";
    for (metrics, bytes) in [(kubelet.to_owned(), 1e13), (format!("{kubelet}{volume}"), 5.368_709_12e9)] {
        let reading = read(&(metrics + claims + &[0, 10, 30].map(exposition).concat()));
        let found: Vec<_> = reading.resources.iter().map(|one| (one.resource, &*one.instance, one.value)).collect();
        assert_eq!(found, [(Resource::ClaimCapacity, "db/data-postgres-0", bytes)]);
    }
    // Another node's device of the same name has no claim.
    let elsewhere = with_node(0).replace("i-0b2", "i-0b3") + &with_node(10).replace("i-0b2", "i-0b3");
    let reading = read(&(claims.replace("vol-0a1", "vol-0ff") + &elsewhere));
    assert!(reading.scopes.iter().all(|scope| !scope.part.contains('/')), "{:?}", reading.scopes);
}

/// Serial numbers of Google's disks are their names (65-gce-disk-naming.rules); those of Azure and OCI name no volume, but
/// kubelet mounts the file system of any driver in a directory with the name of its `PersistentVolume`.
#[test]
fn devices_of_other_drivers_have_claims_by_name_or_mount() {
    let names = |serial: &str, handle: &str, mount: &str| {
        format!(
            "kube_persistentvolume_info{{persistentvolume=\"pvc-7\",csi_volume_handle=\"{handle}\"}} 1\n\
             kube_persistentvolume_claim_ref{{persistentvolume=\"pvc-7\",name=\"data-0\",claim_namespace=\"db\"}} 1\n\
             node_disk_info{{device=\"sdc\",instance=\"n1\",serial=\"{serial}\"}} 1\n\
             node_filesystem_size_bytes{{device=\"/dev/sdc\",fstype=\"ext4\",instance=\"n1\",mountpoint=\"{mount}\"}} 5e+11\n"
        )
    };
    let line = |n: u64| {
        let at = 1_772_442_000_000 + 1_000 * n;
        format!("node_disk_reads_completed_total{{device=\"sdc\",instance=\"n1\"}} {} {at}\n", 100 * n)
    };
    let part = |names: &str| {
        let reading = read(&(names.to_owned() + &[0, 10, 30].map(line).concat()));
        reading.scopes.last().map(|scope| scope.part.clone()).unwrap_or_default()
    };
    let mount = "/var/lib/kubelet/pods/0a1b/volumes/kubernetes.io~csi/pvc-7/mount";
    let azure = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/pvc-7";
    let google = "projects/p/zones/us-central1-a/disks/pvc-7";
    assert_eq!(part(&names("pvc-7", google, "/data")), "db/data-0");
    assert_eq!(part(&names("", azure, mount)), "db/data-0");
    assert_eq!(part(&names("", "ocid1.volume.oc1.phx.abc", mount)), "db/data-0");
    assert_eq!(part(&names("pvc-7", azure, "/data")), "sdc");
}

#[test]
fn metrics_of_kubelet_have_no_operations() {
    let kubelet = "# HELP kubelet_volume_stats_capacity_bytes [ALPHA] Capacity in bytes of the volume\n\
                   # TYPE kubelet_volume_stats_capacity_bytes gauge\n\
                   kubelet_volume_stats_capacity_bytes{namespace=\"testns\",persistentvolumeclaim=\"testpvc\"} 1e+13\n\
                   # HELP kubelet_volume_stats_used_bytes [ALPHA] Number of used bytes in the volume\n\
                   # TYPE kubelet_volume_stats_used_bytes gauge\n\
                   kubelet_volume_stats_used_bytes{namespace=\"testns\",persistentvolumeclaim=\"testpvc\"} 1.2e+11\n";
    let refusal = refused(kubelet);
    assert!(refusal.contains("kubelet counts only bytes") && refusal.contains("aws_ebs_csi_*"), "{refusal}");
}
