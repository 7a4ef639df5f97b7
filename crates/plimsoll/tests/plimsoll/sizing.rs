//! `plimsoll size`: choices from reports, and errors about missing information.

use std::process::Output;

use plimsoll_testkit::Workload;

use crate::folder::{Folder, stderr, stdout, words};

/// Hourly reports of a database from 8 to 15 o'clock with increasing load.
fn reports() -> Folder {
    let folder = Folder::new("size");
    for hour in 8..16_i8 {
        let workload = Workload {
            single_reads: 3_600 * 100 * u64::from(hour.unsigned_abs()),
            several_reads: 36_000,
            ..Workload::small_shop(hour)
        };
        folder.write(&format!("awr-{hour}.html"), workload.awr_html());
    }
    folder
}

fn size(arguments: &str) -> Output {
    let folder = reports();
    folder.run(&["size", "."].into_iter().chain(arguments.split_whitespace()).collect::<Vec<_>>())
}

#[test]
fn json_on_standard_output_keeps_the_reason_on_standard_error() {
    let output = size("--capacity 500GiB --provider oci --objective p99<=1us --json -");
    assert_eq!(output.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["choices"].as_array().map(Vec::len), Some(0));
    let stderr = stderr(&output);
    assert!(stderr.contains("no configuration carries the demand: widen --provider"), "{stderr}");
}

/// Exit code, XML of `JUnit` and standard error of a sizing of the sample with a condition.
fn judge(arguments: &str, condition: &str) -> (Option<i32>, String, String) {
    let folder = Folder::new("size-gate");
    let report = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/awr.html");
    let load = ["size", report].into_iter().chain(arguments.split_whitespace());
    let output = folder.run(&load.chain(["--fail-if", condition, "--junit", "gate.xml"]).collect::<Vec<_>>());
    (output.status.code(), folder.read("gate.xml"), stderr(&output))
}

#[test]
fn condition_on_a_demand_that_nothing_carries_is_undetermined() {
    let missed = "--capacity 500GiB --provider oci --objective p99<=1us";
    let cases = [
        (missed, "price > 1", "no configuration carries the demand: widen"),
        (missed, "database-time > 2%", "no configuration carries the demand: widen"),
        ("--capacity 9000TiB --provider aws/gp3", "price > 1", "no configuration is eligible"),
    ];
    for (arguments, condition, reason) in cases {
        let (code, xml, stderr) = judge(arguments, condition);
        assert_eq!(code, Some(3), "{stderr}");
        assert!(xml.contains(r#"tests="2" failures="0" errors="2""#) && xml.contains(reason), "{xml}");
    }
}

#[test]
fn unknown_price_is_undetermined() {
    let (code, xml, stderr) = judge("--capacity 500GiB --provider oci --currency EUR --may-be-slower", "price > 1");
    assert_eq!(code, Some(3), "{stderr}");
    assert!(xml.contains(r#"tests="1" failures="0" errors="1""#), "{xml}");
}

#[test]
fn slower_storage_fails_a_test_of_its_own() {
    let (code, xml, stderr) = judge("--capacity 500GiB --provider aws/gp2 --slower 0%", "price > 100000");
    assert_eq!(code, Some(1), "{stderr}");
    assert!(xml.contains(r#"tests="2" failures="1" errors="0""#), "{xml}");
    assert!(xml.contains("passed, not price &gt; 100000"), "{xml}");
    assert!(xml.contains(r#"name="carried as fast as today"><failure message="configurations that carry"#), "{xml}");
}

#[test]
fn the_size_on_disk_of_a_report_is_the_default_capacity() {
    const HISTORY: &str = "\
~~BEGIN-OS-INFORMATION~~
STAT_NAME                      STAT_VALUE
------------------------------ --------------------
DB_NAME                        SHOP
AWR_MINER_VER                  4.0.11
~~END-OS-INFORMATION~~

~~BEGIN-SIZE-ON-DISK~~

   SNAP_ID    SIZE_GB
---------- ----------
       800        300

~~END-SIZE-ON-DISK~~

~~BEGIN-MAIN-METRICS~~

      snap      dur_m end                  inst        aas  read_mb_s  read_iops write_iops
---------- ---------- -------------- ---------- ---------- ---------- ---------- ----------
       800         60 26/03/02 10:00          1          2          8       1000        200

~~END-MAIN-METRICS~~
";
    let folder = Folder::new("size-on-disk");
    folder.write("awr-hist.out", HISTORY);
    let run =
        |more: &[&str]| folder.run(&[&["size", "awr-hist.out", "--provider", "gp3", "--json", "-"], more].concat());
    let capacity = |output: Output| {
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        json["wanted"]["capacity_bytes"].as_u64().unwrap() >> 30
    };
    // A tenth stays free.
    assert_eq!(capacity(run(&[])), 333);
    assert_eq!(capacity(run(&["--capacity", "90GiB"])), 100);
    let text = stdout(&folder.run(&["size", "awr-hist.out", "--provider", "gp3"]));
    assert!(text.contains("the database occupies 300 GiB, according to its report"), "{text}");
}

#[test]
fn reports_become_choices() {
    // Log writes take 410 us at present, in a small part of the database's time, and neither choice is as fast.
    let requested = "--capacity 500GiB --provider oci,gp3 --burst none --as-of 2026-11-21 --json -";
    let output = size(&requested.replace("oci,gp3", "netapp/hdd-array"));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("use --slower or --may-be-slower to accept them"), "{}", stderr(&output));
    let output = size(&format!("--may-be-slower {requested}"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let required = &json["wanted"];
    assert_eq!((&required["subject"], &required["measured"]["windows"]), (&"SHOP".into(), &8.into()));
    // At 15 o'clock: 1,500 single reads, 10 scans, 200 and 50 writes per second.
    let iops = required["measured"]["iops"].as_f64().unwrap();
    assert!((iops - 1_760.0).abs() < 2.0, "{iops}");
    let choices = json["choices"].as_array().unwrap();
    assert_eq!(choices.len(), 2);
    for choice in choices {
        assert!(choice["binds"]["over_design_point"].as_f64().unwrap() >= 1.0 - 1e-6, "{choice}");
        assert!(!choice["simulated_latency"].as_array().unwrap().is_empty());
    }
}

#[test]
fn todays_cost_and_the_origin_of_the_machine_are_stated() {
    let requested = "--capacity 500GiB --provider gp3 --burst none --as-of 2026-11-21 --may-be-slower";
    let output = size(&format!("{requested} --today aws/io2:500GiB,iops=20000 --json -"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let cost = &json["today_cost"];
    assert_eq!(
        (&cost["configurations"][0], &cost["with_machine"]),
        (&"aws/io2:500GiB,iops=20000".into(), &false.into())
    );
    let amount = |key: &str| cost[key]["amount"].as_str().unwrap().parse::<f64>().unwrap();
    assert!((amount("monthly") - amount("recommended_monthly") - amount("saving_monthly")).abs() < 1e-6, "{cost}");
    let origins = json["wanted"]["machine_origin"].as_array().unwrap();
    assert!(origins[0].as_str().unwrap().contains("DB CPU"), "{origins:?}");
    let text = stdout(&size(&format!("{requested} --today aws/gp2:500GiB")));
    assert!(text.contains("Today's configuration (aws/gp2:500GiB) costs 50.00 USD a month"), "{text}");
    let refused = size(&format!("{requested} --today aws/gp9:500GiB"));
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("--today"), "{}", stderr(&refused));
}

#[test]
fn unreachable_objective_has_exit_code_1_and_names_the_nearest() {
    let output = size("--capacity 500GiB --provider gp3 --objective p99<=1us --as-of 2026-11-21");
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(text.contains("carries the load at read p99 <= 1 us: the nearest has"), "{text}");
}

#[test]
fn missing_arguments_are_named() {
    let cases = [
        ("", "use --capacity, such as --capacity 2TiB"),
        ("nowhere.txt", "nowhere.txt: no such file or directory"),
        ("--capacity 1TiB --provider azur", "did you mean azure"),
        ("--capacity 1TiB --currency CHF", "prices are in EUR, JPY, USD"),
        ("--capacity 1TiB --machine aws/m5.larg", "did you mean aws/m5.large"),
        ("--capacity 1TiB --machine gp3", "is not a machine"),
        ("--capacity 1TiB --machine aws/io2.large", "did you mean aws/"),
        (
            "--capacity 1TiB --machine foo",
            "no product \"foo\" (other machines: machine(iops=12800, mbps=192)): use a name such as aws/m5.large",
        ),
        ("--capacity 1TiB --machine oci/VM.Standard.E5.Flex --provider aws", "of --provider aws: name a machine"),
        ("--capacity 1TiB --headroom -50%", "not a percentage: write a number from 0 to 100"),
        ("--capacity 1TiB --free -1%", "not a percentage: write a number from 0 to 100"),
        ("--capacity 1TiB --most 0", "0 is not in 1.."),
        ("--capacity 1TiB --currency XYZ", "\"XYZ\" is not a currency of ISO 4217"),
        ("--capacity 1TiB --price netapp/aff-a800=1200000", "--price netapp/aff-a800: the price has no currency"),
        ("--capacity 1TiB --database SHOPS", "did you mean SHOP?"),
        ("--capacity 1TiB --growth 30%/week --months 3", "such as 30%/year"),
    ];
    for (arguments, reported) in cases {
        let output = size(arguments);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {text}");
        assert!(text.contains(reported), "{arguments}: {text}");
    }
}

/// An hour of a volume by `CloudWatch`, with the minutes for which a check of the metric is 1.
fn volume_with_check(metric: &str, is_checked: fn(u32) -> bool) -> String {
    let result = |label: &str, value: &dyn Fn(bool, u32) -> f64| {
        let minutes = || (0..60_u32).map(|minute| (minute, is_checked(minute)));
        let times: Vec<String> = minutes().map(|(minute, _)| format!("\"2026-03-02T09:{minute:02}:00Z\"")).collect();
        let values: Vec<String> = minutes().map(|(minute, is_at)| value(is_at, minute).to_string()).collect();
        format!(
            "{{\"Id\":\"m\",\"Label\":\"{label}\",\"Timestamps\":[{}],\"Values\":[{}]}}",
            times.join(","),
            values.join(",")
        )
    };
    let operations = |is_at: bool, minute: u32| if is_at { 120_000.0 } else { 60_000.0 + f64::from(minute * 60) };
    let results = [
        result("VolumeReadOps", &operations),
        result("VolumeWriteOps", &|_, _| 6_000.0),
        result("VolumeReadBytes", &|is_at, minute| operations(is_at, minute) * 8_192.0),
        result("VolumeQueueLength", &|is_at, minute| {
            (operations(is_at, minute) + 6_000.0) / 60.0 * if is_at { 0.006 } else { 0.002 }
        }),
        result(metric, &|is_at, _| f64::from(u8::from(is_at))),
    ];
    format!("{{\"MetricDataResults\":[{}]}}", results.join(","))
}

#[test]
fn a_reached_limit_is_stated_first_and_sized_as_a_range() {
    let folder = Folder::new("throttled");
    // In two of three minutes the limit is reached, and the queue is longer.
    folder.write("volume.json", volume_with_check("VolumeIOPSExceededCheck", |minute| minute % 3 > 0));
    let arguments = ["size", "volume.json", "--capacity", "500GiB", "--provider", "oci"];
    let json: serde_json::Value =
        serde_json::from_slice(&folder.run(&[&arguments[..], &["--json", "-"]].concat()).stdout).unwrap();
    let censored = &json["wanted"]["censored"];
    assert_eq!(censored["id"], "limit-metric", "{json:.300}");
    let number = |name: &str| censored[name].as_f64().unwrap();
    assert!((number("up_to_times") - 3.0).abs() < 0.01, "{censored}");
    assert!((number("most_iops") / number("least_iops") - 3.0).abs() < 0.01, "{censored}");
    let text = stdout(&folder.run(&arguments));
    let first = words(text.split_once('\n').map_or("", |(_, rest)| rest));
    assert!(first.starts_with("The volume was above its IOPS limit in 40 of 60 minutes, according to EBS"), "{text}");
    assert!(first.contains("up to 3 times the measured rate") && !text.contains("vpu=0"), "{text}");
    let text = stdout(&folder.run(&["diagnose", "volume.json"]));
    assert!(text.starts_with("Storage is the problem; a limit keeps the load below the demand"), "{text}");
}

#[test]
fn a_load_at_its_limit_in_all_windows_is_stated_as_a_lower_bound() {
    let folder = Folder::new("bound");
    folder.write("volume.json", volume_with_check("VolumeIOPSExceededCheck", |_| true));
    let row = |second: usize| format!("2026-03-02 09:00:{second:02},sda,2100,900,16800,7200,11,11,33\n");
    let head = "time,device,read_iops,write_iops,read_kb,write_kb,read_latency_ms,write_latency_ms,queue\n";
    folder.write("host.csv", head.to_owned() + &(0..30).map(row).collect::<String>());
    for (file, iops, id, caution) in [
        ("volume.json", "2,100", "limit-metric", "The volume was above its IOPS limit in all 60 minutes"),
        (
            "host.csv",
            "3,000",
            "saturated",
            "The measured rate is what a limit lets through: it stays at 3,000 IOPS in all",
        ),
    ] {
        let arguments = ["size", file, "--capacity", "500GiB", "--provider", "aws"];
        let text = stdout(&folder.run(&arguments));
        assert!(text.starts_with(&format!("At least {iops} IOPS needed, as a limit held the load. ")), "{text}");
        let text = words(&text);
        assert!(text.contains(caution) && text.find(caution) < text.find("Uncertain machine"), "{text}");
        let json: serde_json::Value =
            serde_json::from_slice(&folder.run(&[&arguments[..], &["--json", "-"]].concat()).stdout).unwrap();
        let censored = &json["wanted"]["censored"];
        assert_eq!((&censored["id"], &censored["is_lower_bound"]), (&id.into(), &true.into()), "{censored}");
        let text = stdout(&folder.run(&["diagnose", file]));
        assert!(text.contains("a limit keeps the load below the demand"), "{text}");
    }
}

#[test]
fn a_volume_that_stalls_in_all_windows_is_no_need_and_no_throttling() {
    let folder = Folder::new("stalls");
    folder.write("volume.json", volume_with_check("VolumeStalledIOCheck", |_| true));
    let refused = folder.run(&["size", "volume.json", "--capacity", "500GiB"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stdout(&refused));
    assert!(
        words(&stderr(&refused)).contains("storage stalls in all of 60 windows, so their rates are not the demand")
    );
    let text = words(&stdout(&folder.run(&["diagnose", "volume.json"])));
    assert!(text.contains("did not answer all the time") && !text.contains("throttled"), "{text}");
    assert!(text.starts_with("Storage is the problem: the volume did not respond"), "{text}");
    assert!(text.contains("completed no operations in all 60 minutes"), "{text}");
    // The load is in the table, and demand agrees with size.
    assert!(text.contains("class mean p95 highest"), "{text}");
    let demand = words(&stdout(&folder.run(&["demand", "volume.json"])));
    assert!(demand.starts_with("Measured rates while storage stalls, not the demand: "), "{demand}");
    let reason = "plimsoll size refuses this load: storage stalls in all of 60 windows";
    assert!(demand.contains(reason), "{demand}");
}
