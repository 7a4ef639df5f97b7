//! Inputs: declared columns, CloudWatch, Prometheus; repeated and contradicting ones.

use std::fs;
use std::path::Path;

use crate::support::{TestFolder, arg, contents, fail, succeed, table};

fn sql(fleet: &Path, query: &str) -> String {
    succeed(&["sql", arg(fleet), query, "--format", "csv"])
}

const ALL: &str = "select v.id, m.ts, m.period_s, m.read_ops, m.write_ops, m.read_bytes, m.write_bytes, m.iops_exceeded, \
                   m.throughput_exceeded from metrics m join volumes v on v.volume = m.volume order by v.id, m.ts";
const HEAD: &str = "id,ts,period_s,read_ops,write_ops,read_bytes,write_bytes,iops_exceeded,throughput_exceeded\n";

#[test]
fn rows_of_csv_are_points_and_bad_rows_are_set_aside() {
    let folder = TestFolder::new("csv");
    let fleet = folder.path("fleet");
    let text = "Volume,When,R,W\nvol-1,2026-01-31T23:55:00Z,100,5\nvol-1,1769904000,200.0,6\nvol-2,2026-02-01 00:00,x,1\n\
                ,2026-02-01T00:00:00Z,1,1\nvol-2,never,1,1\nvol-2,2026-02-01T00:00:00Z\nvol-2,2026-02-01T00:05:00Z,7,\n";
    let input = folder.write("points.csv", text);
    let columns = "id=Volume,time=When,period=300,read_ops=R,write_ops=W";
    let ingest = || succeed(&["ingest", arg(&fleet), arg(&input), "--columns", columns]);
    let first = ingest();
    assert!(
        first.starts_with("3 points added, 0 were present, 4 rows rejected (0 contradict others); 2 volumes"),
        "{first}"
    );
    let expected = "vol-1,1769903700,300,100,5,,,,\nvol-1,1769904000,300,200,6,,,,\nvol-2,1769904300,300,7,,,,,\n";
    assert_eq!(sql(&fleet, ALL), format!("{HEAD}{expected}"));
    let rejected = fs::read_dir(fleet.join("rejected")).unwrap().next().unwrap().unwrap().path();
    let reasons: Vec<_> = table(&rejected).iter().map(|row| format!("{} {}", row["line"], row["reason"])).collect();
    let expected = [
        "4 \"x\" is no whole number of 0 to 1000000000000000",
        "5 the row names no volume",
        "6 \"never\" is no time",
        "7 the row is too short",
    ];
    assert_eq!(reasons, expected);
    // A repetition changes no byte.
    let before = contents(&fleet);
    assert!(ingest().starts_with("0 points added, 3 were present"));
    assert!(contents(&fleet) == before);
}

#[test]
fn later_files_add_points_and_metrics_and_contradictions_are_set_aside() {
    let folder = TestFolder::new("append");
    let fleet = folder.path("fleet");
    let ingest = |name: &str, text: &str, columns: &str| {
        let input = folder.write(name, text);
        succeed(&["ingest", arg(&fleet), arg(&input), "--columns", columns, "--buckets", "1"])
    };
    let columns = "id=id,time=ts,period=300,read_ops=r,write_ops=w";
    ingest("a.csv", "id,ts,r,w\nv,600,1,2\nv,1200,3,4\n", columns);
    // Other metrics of the same points, and a point in between.
    let text = ingest(
        "b.csv",
        "id,ts,rb,wb\nv,600,10,20\nv,900,30,40\n",
        "id=id,time=ts,period=300,read_bytes=rb,write_bytes=wb",
    );
    assert!(text.starts_with("2 points added, 0 were present, 0 rows"), "{text}");
    // Another value, and windows that overlap.
    let text = ingest("c.csv", "id,ts,r,w\nv,600,9,2\nv,1250,1,1\nv,450,1,1\nv,1500,5,6\n", columns);
    assert!(text.starts_with("1 points added, 0 were present, 3 rows rejected (3 contradict others)"), "{text}");
    let expected = "v,600,300,1,2,10,20,,\nv,900,300,,,30,40,,\nv,1200,300,3,4,,,,\nv,1500,300,5,6,,,,\n";
    assert_eq!(sql(&fleet, ALL), format!("{HEAD}{expected}"));
}

#[test]
fn rows_in_any_order_that_do_not_fit_into_memory_give_the_same_files() {
    let folder = TestFolder::new("order");
    let (mut sorted, mut mixed) = (vec![String::new(); 7_200], vec![String::new(); 7_200]);
    for (n, row) in sorted.iter_mut().enumerate() {
        // From the last half of January on, in an hour's steps.
        *row = format!("v{},{},{n},1\n", n / 1_200, 1_768_435_200 + 3_600 * (n % 1_200));
        mixed[n * 7_919 % 7_200].clone_from(row);
    }
    let head = "id,ts,r,w\n";
    // Two contradictions, a repetition, and a window that overlaps.
    let more = "v1,1768435200,9,1\nv0,1768438800,9,1\nv0,1768435200,0,1\nv2,1768435300,5,5\n";
    let ordered = folder.write("sorted.csv", &format!("{head}{}", sorted.concat()));
    let mixed = folder.write("mixed.csv", &format!("{head}{}", mixed.concat()));
    let more = folder.write("more.csv", &format!("{head}{more}"));
    let ingest = |name: &str, input: &Path, buffered: &str| {
        let fleet = folder.path(name);
        let columns = "id=id,time=ts,period=3600,read_ops=r,write_ops=w";
        let inputs = ["ingest", arg(&fleet), arg(input), arg(&more), "--columns", columns, "--buckets", "2"];
        let inventory = folder.write("order.csv", "id,team\nv0,a\nv1,a\nv2,a\nv3,a\nv4,a\nv5,a\n");
        let rest = ["--max-buffered", buffered, "--inventory", arg(&inventory)];
        let text = succeed(&[&inputs[..], &rest].concat());
        let expected = "7200 points added, 1 were present, 3 rows rejected (3 contradict others); 6 volumes";
        assert!(text.starts_with(expected), "{text}");
        let rejected = fs::read_dir(fleet.join("rejected")).unwrap().next().unwrap().unwrap().path();
        assert!(table(&rejected).iter().all(|row| row["input"] == arg(&more)));
        assert!(!fleet.join("runs.tmp").exists());
        contents(&fleet.join("metrics"))
    };
    let expected = ingest("sorted", &ordered, "1500000");
    // More runs than are merged at a time.
    for (name, input, buffered) in [("many", &mixed, "40"), ("few", &mixed, "3000"), ("one", &mixed, "1500000")] {
        assert!(ingest(name, input, buffered) == expected, "{name}");
    }
}

/// Files of several blocks are read on all processors: rows that span lines, and lines of rejected rows, are those of the
/// file.
#[test]
fn rows_of_large_files_are_those_of_their_lines() {
    let folder = TestFolder::new("blocks");
    let (mut text, mut expected, mut line) = ("id,note,ts,r\n".to_owned(), Vec::new(), 2);
    for n in 0..60_000 {
        let at = 1_772_323_200 + 60 * (n / 3);
        let (id, note) = (n % 3, "x".repeat(n % 40));
        if n % 1_000 == 7 {
            // A mark that does not begin a field is a part of it.
            expected.push(format!("{line} \"5\\\"\" is no whole number of 0 to 1000000000000000"));
            text.push_str(&format!("v{id},{note},{at},5\"\n"));
            line += 1;
        } else if n % 5 == 0 {
            text.push_str(&format!("\"v{id}\",\"{note}\n\"\"a\"\", b\",{at},{n}\r\n"));
            line += 2;
        } else {
            text.push_str(&format!("v{id},{note},{at},{n}\n"));
            line += 1;
        }
    }
    assert!(text.len() > 2 << 20);
    let input = folder.write("large.csv", &text);
    let columns = ["--columns", "id=id,time=ts,period=60,read_ops=r"];
    let fleet = folder.path("fleet");
    let answer = succeed(&[&["ingest", arg(&fleet), arg(&input)], &columns[..]].concat());
    assert!(answer.starts_with("59940 points added, 0 were present, 60 rows rejected"), "{answer}");
    let sums = sql(&fleet, "select count(*) as n, sum(read_ops) as r, min(ts) as a, max(ts) as b from metrics");
    let rejected: i64 = (0..60).map(|n| 1_000 * n + 7).sum();
    let total = 60_000 * 59_999 / 2 - rejected;
    assert_eq!(sums, format!("n,r,a,b\n59940,{total},1772323200,1773523140\n"));
    let file = fs::read_dir(fleet.join("rejected")).unwrap().next().unwrap().unwrap().path();
    let reasons: Vec<_> = table(&file).iter().map(|row| format!("{} {}", row["line"], row["reason"])).collect();
    assert_eq!(reasons, expected);
    // The parts of the file in several files give the same points.
    let half = text[..text.len() / 2].rfind("\nv0,").unwrap() + 1;
    let first = folder.write("first.csv", &text[..half]);
    let second = folder.write("second.csv", &format!("id,note,ts,r\n{}", &text[half..]));
    let parts = folder.path("parts");
    succeed(&[&["ingest", arg(&parts), arg(&first), arg(&second)], &columns[..]].concat());
    assert!(contents(&parts.join("metrics")) == contents(&fleet.join("metrics")));
}

#[test]
fn an_inventory_changes_only_its_columns_and_contradicts_itself_with_words() {
    let folder = TestFolder::new("inventory");
    let fleet = folder.path("fleet");
    let read = |text: &str| {
        let inventory = folder.write("inventory.csv", text);
        ["ingest", arg(&fleet), "--inventory", arg(&inventory)].map(str::to_owned)
    };
    let run = |text: &str| succeed(&read(text).each_ref().map(String::as_str));
    run("id,config,account\na,aws/gp3:100GiB,0012\nb,aws/gp3:10GiB,0012\n");
    run("id,team\na,storage\na,storage\n");
    run("id,account\nb,\n");
    let volumes = table(&fleet.join("volumes.csv"));
    let row = |n: usize| ["id", "config", "account", "team"].map(|column| volumes[n][column].clone());
    assert_eq!(row(0), ["a", "aws/gp3:100GiB", "0012", "storage"]);
    assert_eq!(row(1), ["b", "aws/gp3:10GiB", "", ""]);
    for (text, expected) in [
        ("id,team\na,x\na,y\n", "lines 2 and 3 contradict each other about a: remove one"),
        ("name,team\na,x\n", "has no column id"),
        ("id,Config\na,x\n", "has none of the columns config, region, account and team"),
        ("id,team\n,x\n", "line 2: the id is empty"),
    ] {
        let error = fail(&read(text).each_ref().map(String::as_str));
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn cloudwatch_with_checks_of_limits_is_read() {
    let folder = TestFolder::new("cloudwatch");
    let fleet = folder.path("fleet");
    let times = r#"["2026-03-01T00:00:00Z","2026-03-01T00:05:00Z","2026-03-01T00:10:00Z"]"#;
    let result = |id: &str, label: &str, values: &str| {
        format!(r#"{{"Id":"{id}","Label":"{label}","Timestamps":{times},"Values":{values},"StatusCode":"Complete"}}"#)
    };
    let results = [
        result("a", "vol-01 VolumeReadOps", "[30000.0,60000.0,0.0]"),
        result("b", "vol-01 VolumeWriteOps", "[300.0,7.0,0.0]"),
        result("c", "vol-01 VolumeReadBytes", "[245760000.0,491520000.0,0.0]"),
        result("d", "vol-01 VolumeWriteBytes", "[1228800.0,28672.0,0.0]"),
        result("e", "vol-01 VolumeIOPSExceededCheck", "[0.0,1.0,0.0]"),
        result("f", "vol-01 VolumeThroughputExceededCheck", "[0.0,0.0,0.0]"),
    ];
    let text = format!(r#"{{"MetricDataResults":[{}],"Messages":[]}}"#, results.join(","));
    let input = folder.write("metrics.json", &text);
    let answer = succeed(&["ingest", arg(&fleet), arg(&input)]);
    assert!(answer.starts_with("3 points added, 0 were present, 0 rows rejected"), "{answer}");
    let expected = "vol-01,1772323200,300,30000,300,245760000,1228800,0,0\nvol-01,1772323500,300,60000,7,491520000,28672,1,0\n\
                    vol-01,1772323800,300,0,0,0,0,0,0\n";
    assert_eq!(sql(&fleet, ALL), format!("{HEAD}{expected}"));
    let before = contents(&fleet);
    succeed(&["ingest", arg(&fleet), arg(&input)]);
    assert!(contents(&fleet) == before);
}

/// The reasons of all rejected rows.
fn reasons(fleet: &Path) -> Vec<String> {
    let files = fs::read_dir(fleet.join("rejected")).unwrap();
    let rows = files.flat_map(|file| table(&file.unwrap().path()));
    rows.map(|row| format!("{}: {}", row["row"], row["reason"])).collect()
}

/// Reads a file twice: the second time changes no byte. Returns the answer and all points.
fn ingest_twice(fleet: &Path, input: &Path) -> (String, String) {
    let answer = succeed(&["ingest", arg(fleet), arg(input)]);
    let before = contents(fleet);
    succeed(&["ingest", arg(fleet), arg(input)]);
    assert!(contents(fleet) == before);
    (answer, sql(fleet, ALL))
}

#[test]
fn oci_monitoring_is_read_by_identifier_and_means_are_set_aside() {
    let folder = TestFolder::new("oci");
    let fleet = folder.path("fleet");
    let metric = |name: &str, id: &str, values: [&str; 3]| {
        let points = values
            .iter()
            .zip(["00", "05", "10"])
            .map(|(value, minute)| format!(r#"{{"timestamp":"2026-03-01T00:{minute}:00+00:00","value":{value}}}"#));
        let points: Vec<_> = points.collect();
        format!(
            r#"{{"namespace":"oci_blockstore","name":"{name}","dimensions":{{"resourceId":"ocid1.volume.oc1..{id}",
            "resourceDisplayName":"data"}},"aggregated-datapoints":[{}]}}"#,
            points.join(",")
        )
    };
    let metrics = [
        metric("VolumeReadOps", "a", ["30000.0", "60000.0", "0.0"]),
        metric("VolumeWriteOps", "a", ["300.0", "7.0", "0.0"]),
        metric("VolumeReadThroughput", "a", ["245760000.0", "491520000.0", "0.0"]),
        metric("VolumeWriteThroughput", "a", ["1228800.0", "28672.0", "0.0"]),
        metric("VolumeThrottledIOs", "a", ["0.0", "5.0", "0.0"]),
        // The same display name.
        metric("VolumeReadOps", "b", ["1.0", "2.0", "3.0"]),
    ];
    let input = folder.write("oci.json", &format!(r#"{{"data":[{}]}}"#, metrics.join(",")));
    let (answer, points) = ingest_twice(&fleet, &input);
    assert!(answer.starts_with("6 points added, 0 were present, 0 rows rejected"), "{answer}");
    let expected = "ocid1.volume.oc1..a,1772323200,300,30000,300,245760000,1228800,0,0\n\
                    ocid1.volume.oc1..a,1772323500,300,60000,7,491520000,28672,1,1\n\
                    ocid1.volume.oc1..a,1772323800,300,0,0,0,0,0,0\nocid1.volume.oc1..b,1772323200,300,1,,,,,\n\
                    ocid1.volume.oc1..b,1772323500,300,2,,,,,\nocid1.volume.oc1..b,1772323800,300,3,,,,,\n";
    assert_eq!(points, format!("{HEAD}{expected}"));
    // Means are not sums.
    let means = format!(r#"{{"data":[{}]}}"#, metric("VolumeWriteOps", "b", ["0.5", "60.25", "0.0"]));
    let error = fail(&["ingest", arg(&fleet), arg(&folder.write("means.json", &means))]);
    assert!(error.contains("0 points added, 0 were present, 1 rows rejected"), "{error}");
    assert_eq!(sql(&fleet, ALL), format!("{HEAD}{expected}"));
    assert!(reasons(&fleet)[0].contains(".sum()"), "{:?}", reasons(&fleet));
}

#[test]
fn azure_monitor_is_read_by_disk() {
    let folder = TestFolder::new("azure");
    let fleet = folder.path("fleet");
    let answer = |resource: &str, lun: &str, metrics: &[(&str, [&str; 2])]| {
        let metrics = metrics.iter().map(|(name, values)| {
            let points = values
                .iter()
                .zip(["00", "05"])
                .map(|(value, minute)| format!(r#"{{"timeStamp":"2026-03-01T00:{minute}:00Z","average":{value}}}"#));
            let points: Vec<_> = points.collect();
            format!(
                r#"{{"id":"{resource}/providers/Microsoft.Insights/metrics/m","name":{{"value":"{name}"}},"timeseries":[
                {{"metadatavalues":[{lun}],"data":[{}]}}]}}"#,
                points.join(",")
            )
        });
        let metrics: Vec<_> = metrics.collect();
        format!(
            r#"{{"timespan":"2026-03-01T00:00:00Z/2026-03-01T00:10:00Z","interval":"PT5M","value":[{}]}}"#,
            metrics.join(",")
        )
    };
    let disk = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/data1";
    let machine = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/db1";
    let input = [
        answer(
            disk,
            "",
            &[
                ("Composite Disk Read Operations/sec", ["12.5", "30.0"]),
                ("Composite Disk Write Operations/sec", ["1.0", "2.0"]),
                ("Composite Disk Read Bytes/sec", ["102400.0", "245760.0"]),
                ("Composite Disk Write Bytes/sec", ["4096.0", "8192.0"]),
            ],
        ),
        answer(
            machine,
            r#"{"name":{"value":"LUN"},"value":"3"}"#,
            &[("Data Disk Read Operations/Sec", ["1.0", "2.0"]), ("Data Disk Write Operations/Sec", ["0.0", "0.0"])],
        ),
        answer(machine, "", &[("Data Disk Read Operations/Sec", ["9.0", "9.0"])]),
    ];
    let input = folder.write("azure.json", &input.concat());
    let (text, points) = ingest_twice(&fleet, &input);
    assert!(text.starts_with("4 points added, 0 were present, 2 rows rejected"), "{text}");
    let expected = format!(
        "{HEAD}{disk},1772323200,300,3750,300,30720000,1228800,,\n{disk},1772323500,300,9000,600,73728000,2457600,,\n\
         db1/LUN 3,1772323200,300,300,0,,,,\ndb1/LUN 3,1772323500,300,600,0,,,,\n"
    );
    assert_eq!(points, expected);
    assert!(reasons(&fleet)[0].contains("query each disk by itself"), "{:?}", reasons(&fleet));
}

#[test]
fn google_monitoring_is_read_by_device() {
    let folder = TestFolder::new("google");
    let fleet = folder.path("fleet");
    let series = |metric: &str, values: [i64; 2]| {
        let point = |value: i64, minute: i64| {
            format!(
                r#"{{"interval":{{"startTime":"2026-03-01T00:0{minute}:00Z","endTime":"2026-03-01T00:0{}:00Z"}},
                "value":{{"int64Value":"{value}"}}}}"#,
                minute + 1
            )
        };
        format!(
            r#"{{"metric":{{"type":"compute.googleapis.com/instance/disk/{metric}","labels":{{"device_name":"data",
            "instance_name":"db1"}}}},"resource":{{"labels":{{"instance_id":"7"}}}},"points":[{},{}]}}"#,
            point(values[1], 1),
            point(values[0], 0)
        )
    };
    let series = [
        series("read_ops_count", [600, 1_200]),
        series("write_ops_count", [60, 0]),
        series("read_bytes_count", [4_915_200, 9_830_400]),
        series("write_bytes_count", [245_760, 0]),
        series("max_read_ops_count", [50, 70]),
    ];
    let input = folder.write("google.json", &format!(r#"{{"timeSeries":[{}]}}"#, series.join(",")));
    let (answer, points) = ingest_twice(&fleet, &input);
    assert!(answer.starts_with("2 points added, 0 were present, 0 rows rejected"), "{answer}");
    let expected = "db1/data,1772323200,60,600,60,4915200,245760,,\ndb1/data,1772323260,60,1200,0,9830400,0,,\n";
    assert_eq!(points, format!("{HEAD}{expected}"));
}

#[test]
fn counters_of_prometheus_are_differences() {
    let folder = TestFolder::new("prometheus");
    let fleet = folder.path("fleet");
    let series = |name: &str, step: u64| {
        let values: Vec<String> =
            (0..4).map(|n| format!("[{},\"{}\"]", 1_772_323_200 + 60 * n, 1_000 + step * n)).collect();
        let labels = format!(r#""__name__":"node_disk_{name}_total","device":"nvme1n1","instance":"db1:9100""#);
        format!(r#"{{"metric":{{{labels}}},"values":[{}]}}"#, values.join(","))
    };
    let series = [
        series("reads_completed", 600),
        series("writes_completed", 60),
        series("read_bytes", 600 * 8_192),
        series("written_bytes", 60 * 16_384),
    ];
    let text = format!(r#"{{"status":"success","data":{{"resultType":"matrix","result":[{}]}}}}"#, series.join(","));
    let input = folder.write("range.json", &text);
    succeed(&["ingest", arg(&fleet), arg(&input)]);
    let row = |at: u64| format!("db1:9100/nvme1n1,{at},60,600,60,4915200,983040,,\n");
    let rows: String = (0..3).map(|n| row(1_772_323_200 + 60 * n)).collect();
    assert_eq!(sql(&fleet, ALL), format!("{HEAD}{rows}"));
}

#[test]
fn unreadable_files_are_named_and_the_others_are_read() {
    let folder = TestFolder::new("unreadable");
    let fleet = folder.path("fleet");
    let good = folder.write("good.csv", "id,ts,r\nv,600,1\n");
    let other = folder.write("other.csv", "a,b\n1,2\n");
    let columns = "id=id,time=ts,period=300,read_ops=r";
    let error = fail(&["ingest", arg(&fleet), arg(&other), arg(&good), "--columns", columns]);
    assert!(error.contains("1 of 2 files not read to their end; 1 points added"), "{error}");
    let error = fail(&["ingest", arg(&fleet), arg(&good), "--columns", "id=id"]);
    assert!(error.contains("--columns lacks time: add time=COLUMN"), "{error}");
    let error = fail(&["replay", arg(&folder.path("nothing"))]);
    assert!(error.contains("is no folder of a fleet: make one with `ingest` or `generate`"), "{error}");
}
