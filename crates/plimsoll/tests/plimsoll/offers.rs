//! Commands about products: output and refusals.

use std::fs;
use std::process::Command;

use crate::folder::{Folder, stderr, words};
use crate::forms::as_measured;

#[test]
fn unknown_products_are_refused_with_alternatives() {
    let folder = Folder::new("offers");
    let refuses = |arguments: &[&str], expected: &str| folder.refuses_usage(arguments, expected);
    let quote = |config: &str, expected: &str| refuses(&["quote", config], expected);
    quote("aws/gp9:3GiB", "did you mean aws/gp3 or aws/gp2?");
    quote("oci:256GB@7vpu", "the nearest are 0 or 10");
    quote("oci:256GB@130vpu", "can be 0 to 120");
    quote("azure/premium-ssd:P99", "no tier or choice \"P99\": tier can be P1, P2, P3,");
    quote("azure/premium-ssd:P99", "P70 or P80; expanded can be no or yes; on_demand_burst can be no or yes");
    quote("azure/premium-ssd:yes", "\"yes\" may be expanded or on_demand_burst: write expanded=yes");
    quote("oci:40GB", "can be 50 to 32,768 GB");
    quote("aws/gp3:500GiB,iops=90000", "iops is 90,000");
    quote("aws/gp3:500GiB,speed=3", "has no option \"speed\"");
    quote("oci/boot-volume:100GB@0vpu", "can be 10 to 120");
    quote("azure/premium-ssd:P31", "P30");
    quote("stripe(1,64KiB) of oci:100GB", "stripe");
    quote("oci:100GB on oci:100GB", "is no machine");
    quote("oci:100GB on aws/m5.large", "name a machine of the same provider");
    quote("oci:100GB on nowhere/x", "no product \"nowhere/x\"");
    quote("nowhere.toml:3GB", "nowhere.toml: No such file");
    quote("", "is no configuration");
    refuses(&["quote", "oci:100GB", "--as-of", "someday"], "someday");
    refuses(&["quote", "oci:100GB", "--currency", "dollars"], "dollars");
    refuses(&["quote", "oci:100GB", "--block-size", "0"], "is too small");
    refuses(&["simulate", "oci:100GB@11vpu"], "the nearest are 10 or 20");
    refuses(&["catalogue", "show", "aws/gp9"], "did you mean");
    refuses(&["match"], "no complete runs yet");
    refuses(&["match", "--iops", "18k"], "no complete runs yet: give --objective too");
    refuses(&["match", "--iops", "18k", "--capacity", "1TB"], "give --objective too");
    refuses(&["match", "--objective", "p99<=10ms"], "give --iops too");
    refuses(&["quote", "oci:100GB", "--currency", "XYZ"], "is not a currency of ISO 4217");
    refuses(&["quote", "netapp/aff-a800:10TB", "--price", "netapp/aff-a800=1200000"], "the price has no currency");
}

#[test]
fn a_rate_without_a_run_is_matched_with_the_operations_of_a_preset() {
    let folder = Folder::new("match-preset");
    let text = words(&folder.text(&["match", "--iops", "18k", "--objective", "p99<=10ms", "--as-of", "2026-11-21"]));
    for part in
        ["18,000 IOPS at p99 <= 10 ms", "those of the preset oltp, 8 KiB random, 80 % reads", "--capacity states"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let with_size = folder.text(&["match", "--iops", "18k", "--objective", "p99<=10ms", "--capacity", "2TB"]);
    assert!(!words(&with_size).contains("--capacity states"), "{with_size}");
}

/// Most vendors' GB is binary, and `oci:1TB` is 1,024 of them.
#[test]
fn a_decimal_capacity_is_stated_with_its_binary_one() {
    let folder = Folder::new("capacity");
    let report = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/awr.html");
    for command in [&["match", "--iops", "18k", "--objective", "p99<=10ms"][..], &["size", report]] {
        let text = |capacity: &str| words(&folder.text(&[command, &["--capacity", capacity, "--details"]].concat()));
        assert!(text("1TB").contains("capacity of 1 TB is decimal, 931 GiB: write GiB or TiB"), "{}", text("1TB"));
        assert!(!text("1TiB").contains("is decimal"), "{}", text("1TiB"));
    }
}

#[test]
fn dates_before_the_documents_and_long_after_them_are_on_the_first_screen() {
    let folder = Folder::new("quote-dates");
    let first = |as_of: &str| words(&folder.text(&["quote", "gp3:100GiB", "--as-of", as_of]));
    assert!(first("1999-01").contains("oldest document on Amazon EBS gp3"), "{}", first("1999-01"));
    assert!(first("2031-01").contains("days old, and its limits may have changed"), "{}", first("2031-01"));
    let now = first("2026-11-21");
    assert!(!now.contains("oldest document") && !now.contains("may have changed"), "{now}");
}

#[test]
fn loads_of_several_sizes_state_the_assumed_order() {
    let folder = Folder::new("size-sharing");
    let simulate = |config: &str, sizes: &str| {
        words(&folder.text(&[
            "simulate",
            config,
            "--block-size",
            sizes,
            "--depth",
            "4",
            "--duration",
            "1s",
            "--details",
        ]))
    };
    for (config, expected) in [
        (
            "aws/gp3:100GiB",
            "how operations of different sizes share the limits of aws/gp3 is not published: that they pass whole",
        ),
        ("oci:100GB@10vpu", "how operations of different sizes share a volume's limits is not published"),
    ] {
        let mixed = simulate(config, "8KiB:50,64KiB:50");
        assert!(mixed.contains(expected), "{config}: {mixed}");
        let single = simulate(config, "8KiB");
        assert!(!single.contains("operations of different sizes share"), "{config}: {single}");
        let quote = words(&folder.text(&["quote", config, "--details"]));
        assert!(!quote.contains("operations of different sizes share"), "{config}: {quote}");
    }
}

#[test]
fn a_price_without_a_space_is_read_and_a_total_is_one_for_any_capacity() {
    let folder = Folder::new("own-price");
    let text = folder.text(&["quote", "netapp/aff-a800:10TB", "--price", "netapp/aff-a800=2000000JPY"]);
    assert!(text.contains("2,000,000 JPY a month"), "{text}");
}

#[test]
fn a_price_that_is_not_known_is_not_guessed() {
    let folder = Folder::new("offers");
    let text = words(&folder.text(&["quote", "oci:100GB@10vpu", "--currency", "GBP"]));
    assert!(text.contains("the catalogue has no price of oci/block-volume for GBP"), "{text}");
    let text = folder.text(&["quote", "oci:100GB@10vpu", "--currency", "JPY", "--as-of", "2024-11"]);
    assert!(text.contains("659 JPY a month"), "{text}");
}

/// A worked example of AWS (agent toolkit, 2026-08-20), and github.com/infracost/infracost, issue 3591 of 2026-07-07.
#[test]
fn billing_of_requests_is_compared_with_storage_that_includes_them() {
    let folder = Folder::new("billing");
    let quote = |config: &str| words(&folder.text(&["quote", config, "--as-of", "2026-09"]));
    let stay = quote("aws/aurora:800GiB,db.r6g.2xlarge,instances=2,monthly_operations=1200M");
    let headline = "stay on standard, 1,835.48 USD a month against 2,150.12 USD with io-optimized";
    assert!(stay.contains(headline), "{stay}");
    assert!(stay.contains("1,835.48 USD a month, of which 240.00 USD for requests (13.1 %)"), "{stay}");
    assert!(stay.contains("2,150.12 USD a month, none for requests"), "{stay}");
    let change = quote("aws/aurora:800GiB,db.r6g.2xlarge,instances=2,monthly_operations=2774M");
    assert!(
        change.contains("change to io-optimized, 2,150.12 USD a month against 2,150.28 USD with standard"),
        "{change}"
    );
    // Without an instance, which io-optimized makes dearer, it is undecided.
    let cluster = quote("aws/aurora:1525GiB,reads=7490,writes=2220");
    assert!(cluster.contains("25,517.88 million requests") && !cluster.contains("stay on"), "{cluster}");
    assert!(
        cluster.contains("of which 5,103.58 USD for requests (97.1 %); without the price of instances"),
        "{cluster}"
    );
    assert!(cluster.contains("343.13 USD a month, none for requests; without the price of instances"), "{cluster}");
    let billing =
        folder.json(&["quote", "aws/aurora:800GiB,db.r6g.2xlarge,storage=io-optimized,monthly_operations=1M"]);
    let billing = billing["quotes"][0]["billing"].as_array().unwrap().clone();
    assert_eq!([billing[0]["chosen"].as_bool(), billing[1]["chosen"].as_bool()], [Some(false), Some(true)]);
    // Requests that nobody counted are not free: there is nothing to compare.
    let uncounted = folder.json(&["quote", "aws/aurora:800GiB,db.r6g.2xlarge"]);
    assert_eq!(uncounted["quotes"][0]["billing"].as_array().unwrap().len(), 0);
    assert_eq!(folder.json(&["quote", "aws/gp3:100GiB"])["quotes"][0]["billing"].as_array().unwrap().len(), 0);
}

/// An answer of Prometheus: a claim of 500 GiB with 300 reads and 100 writes of 8 KiB in each second, 2 ms each.
fn claim_metrics() -> String {
    let series = |name: &str, labels: &str, value: fn(u64) -> f64| {
        let points: Vec<String> =
            (0..10).map(|n| format!("[{},\"{}\"]", 1_772_442_000 + 60 * n, value(60 * n))).collect();
        format!("{{\"metric\":{{\"__name__\":\"{name}\",{labels}}},\"values\":[{}]}}", points.join(","))
    };
    let volume = "\"instance_id\":\"i-0b2\",\"volume_id\":\"vol-0a1\"";
    let claim = "\"exported_namespace\":\"db\",\"persistentvolumeclaim\":\"data-postgres-0\",\"volumename\":\"pvc-7\"";
    let all = [
        series("aws_ebs_csi_write_ops_total", volume, |s| 100.0 * s as f64),
        series("aws_ebs_csi_write_bytes_total", volume, |s| 100.0 * 8_192.0 * s as f64),
        series("aws_ebs_csi_write_seconds_total", volume, |s| 100.0 * 0.002 * s as f64),
        series("aws_ebs_csi_read_ops_total", volume, |s| 300.0 * s as f64),
        series("aws_ebs_csi_read_bytes_total", volume, |s| 300.0 * 8_192.0 * s as f64),
        series("aws_ebs_csi_read_seconds_total", volume, |s| 300.0 * 0.002 * s as f64),
        series(
            "kube_persistentvolume_info",
            "\"csi_volume_handle\":\"vol-0a1\",\"persistentvolume\":\"pvc-7\"",
            |_| 1.0,
        ),
        series("kube_persistentvolumeclaim_info", claim, |_| 1.0),
        series("kube_persistentvolume_capacity_bytes", "\"persistentvolume\":\"pvc-7\"", |_| 536_870_912_000.0),
    ];
    format!("{{\"status\":\"success\",\"data\":{{\"resultType\":\"matrix\",\"result\":[{}]}}}}", all.join(","))
}

#[test]
fn the_run_of_a_claim_is_read_from_its_log_and_saved_once() {
    let folder = Folder::new("claim-run");
    let load = ["--depth", "1", "--duration", "300ms", "--size", "16MiB"];
    folder.make("claim");
    let run = folder.text(&[&["measure", "claim", "--quiet", "--keep", "no", "--json", "-"], &load[..]].concat());
    // kubectl prints both streams.
    folder.write("pod.log", format!("plimsoll: io_uring is refused here\n{run}plimsoll: done\n"));
    let collect = ["k8s", "collect", "data.postgres-0", "-n", "db", "--log"];
    let text = words(&folder.text(&[&collect[..], &["pod.log"]].concat()));
    assert!(
        text.starts_with("Load line:") && text.contains("-data-postgres-0-measured-db-data-postgres-0.json"),
        "{text}"
    );
    folder.text(&[&collect[..], &["pod.log"]].concat());
    assert_eq!(folder.text(&["runs"]).matches("data-postgres-0-measured").count(), 1);
    assert_eq!(folder.json(&["report", "last"])["subject"]["name"], "db/data.postgres-0");
    folder.write("pod.log", "plimsoll: /claim: No space left on device: use a smaller --size\n");
    folder.refuses(&[&collect[..], &["pod.log"]].concat(), "ends with \"plimsoll: /claim: No space left on device");
    let without = Folder::new("no-kubectl").env("PATH", "/nonexistent");
    without.refuses(&["k8s", "collect", "data-0"], "kubectl logs job/measure-data-0 -c plimsoll > pod.log");
}

/// The schemas check names and types of fields, not the keys of drivers, which a test of `report` checks.
#[test]
fn kubernetes_objects_match_the_schemas_of_the_api() {
    let folder = Folder::new("schemas");
    let configs = [
        "aws/gp3:500GiB,iops=12000,throughput=500",
        "gcp/hyperdisk-balanced:500GiB,iops=6000,throughput=290",
        "azure/ultra:512GiB,iops=6000,throughput=200",
        "oci:500GB@20vpu",
        "stripe(3,64KiB) of aws/gp3:100GiB",
    ];
    folder.text(&[&["quote"], &configs[..], &["--kubernetes", "claims.yaml"]].concat());
    let job = ["k8s", "job", "data-0", "--image", "registry.example/plimsoll:0.2"];
    folder.write("file.yaml", folder.text(&job));
    folder.write("block.yaml", folder.text(&[&job[..], &["--block", "--namespace", "db", "--", "--quick"]].concat()));
    folder.write("range.json", claim_metrics());
    for provider in ["aws", "gcp", "azure", "oci"] {
        let file = format!("{provider}.yaml");
        let text = folder.text(&["size", "range.json", "--provider", provider, "--kubernetes", &file]);
        let objects = folder.read(&file);
        // A single volume of the claim's capacity.
        assert_eq!(objects.matches("kind: PersistentVolumeClaim").count(), 1, "{text}{objects}");
        assert!(objects.contains("storage: 500Gi\n"), "{objects}");
    }
    let files =
        ["claims", "file", "block", "aws", "gcp", "azure", "oci"].map(|name| folder.file(&format!("{name}.yaml")));
    match Command::new("kubernetes-validate").args(["--strict", "-k", "1.34"]).args(files).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout)),
        Err(error) => eprintln!("skipped: kubernetes-validate is not installed (PyPI): {error}"),
    }
}

#[test]
fn jobs_have_elapsed_times_in_every_form() {
    let folder = Folder::new("jobs");
    let quote = [
        "quote",
        "netapp/aff-c800:10TB,hits=0",
        "netapp/aff-a800:10TB",
        "--job",
        "name=batch,reads=1e6",
        "--job",
        "name=order entry,sessions=50,reads=5,writes=1,cpu=20ms,think=10s",
    ];
    let text = words(&folder.text(&quote));
    for part in ["order entry", "together", "50 sessions, each again after 10 s", "5 reads and 1 write of 8 KiB"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    folder.text(&[&quote[..], &["--html", "jobs.html"]].concat());
    let html = fs::read_to_string(folder.file("jobs.html")).unwrap();
    assert!(html.contains("order entry") && html.contains("Elapsed times of jobs, simulated"));
    let json: serde_json::Value = serde_json::from_str(&folder.text(&[&quote[..], &["--json", "-"]].concat())).unwrap();
    let alone = |row: usize, job: usize| json["jobs"]["configurations"][row]["jobs"][job]["alone_ns"].as_f64().unwrap();
    assert!(alone(0, 0) > 5.0 * alone(1, 0) && alone(0, 1) < 2.0 * alone(1, 1), "{}", json["jobs"]);
}

#[test]
fn a_product_file_is_checked_line_by_line_and_used() {
    let folder = Folder::new("offers");
    let prints = |arguments: &[&str]| words(&folder.text(arguments));
    let good = r#"product = "own/array"
title = "Our array"
kind = "array"
about = "What stands in the cellar"
capacity_unit = "GB"
capacity_bytes = 1000000000
[default]
source = "sheet"
date = "2026"
status = "secondary"
[sources.sheet]
title = "data sheet"
date = "2026"
[options.size]
kind = "size"
min = 100
max = 1000
step = 100
[[limit]]
name = "controller"
scope = "controller"
iops = "20000"
[model]
stages = "station(32, 500us)"
"#;
    folder.write("own.toml", good);
    let path = folder.file("own.toml");
    assert!(prints(&["catalogue", "check", &path]).ends_with("valid"));
    assert!(prints(&["quote", &format!("{path}:200GB")]).contains("20,000 IOPS"));
    let simulated = prints(&["simulate", &format!("{path}:200GB"), "--quick"]);
    assert!(simulated.contains("own/array:200GB"), "{simulated}");
    folder.write("own.toml", good.replace("scope = \"controller\"", "scope = \"cellar\""));
    let checked = folder.run(&["catalogue", "check", &path]);
    assert_eq!((checked.status.code(), checked.stdout.len()), (Some(1), 0));
    assert!(stderr(&checked).contains("own.toml:21:9:"), "{checked:?}");
    folder.refuses(&["quote", &format!("{path}:200GB")], "cellar");
}

#[test]
fn models_are_fitted_to_measured_runs_only() {
    let folder = Folder::new("offers");
    let prints = |arguments: &[&str]| words(&folder.text(arguments));
    let refuses = |arguments: &[&str], expected: &str| folder.refuses(arguments, expected);
    let path = &folder.file("simulated.json");
    prints(&["simulate", "bank(16, 90us, lognormal 0.3)", "--quick", "--reads", "100", "--json", path]);
    refuses(&["fit", path], "simulated figures are no evidence");
    refuses(&["fit", path, "--name", "noslash"], "write PROVIDER/NAME");
    // With the source changed to measured, the fit returns the model as a product file.
    folder.write("simulated.json", as_measured(&folder.read("simulated.json")));
    let file = &folder.file("fitted.toml");
    let fitted = prints(&["fit", path, "--output", file]);
    assert!(fitted.contains("dies"), "{fitted}");
    assert!(prints(&["catalogue", "check", file]).ends_with("valid"));
    assert!(prints(&["simulate", file, "--quick", "--reads", "100"]).contains("dies"));
    let explained = prints(&["explain", path, "--as", file]);
    assert!(explained.contains("Measured against theory"), "{explained}");
    assert!(prints(&["match", path, "--json", "-"]).contains("plimsoll.match/1"));
    refuses(&["match", path, "--region", "nowhere"], "for region \"nowhere\": use one of Japan, ap-northeast-1,");
    refuses(&["match", path, "--currency", "CHF"], "in CHF: prices are in EUR, JPY, USD");
}

/// Statistics of `nvme amzn stats`: reads of 8 KiB in bins, for a mean of 700 us, and seconds above the limit of IOPS.
fn ebs_statistics(seconds: u64, exceeded_us: u64) -> String {
    let reads = |share: u64| share * seconds;
    let bins = [(128, 256, 44), (256, 512, 317), (512, 1024, 480), (1024, 2048, 150), (2048, 4096, 9)];
    let listed: Vec<String> = bins
        .iter()
        .map(|(lower, upper, count)| format!("{{\"lower\":{lower},\"upper\":{upper},\"count\":{}}}", reads(*count)))
        .collect();
    format!(
        "{{\"total_read_ops\":{},\"total_write_ops\":0,\"total_read_bytes\":{},\"total_write_bytes\":0,\"total_read_time\":{},\
         \"total_write_time\":0,\"ebs_volume_performance_exceeded_iops\":{},\"ebs_volume_performance_exceeded_tp\":0,\
         \"ec2_instance_performance_exceeded_iops\":0,\"ec2_instance_performance_exceeded_tp\":0,\"volume_queue_length\":1,\
         \"read_io_latency_histogram\":{{\"num_bins\":5,\"bins\":[{}]}},\"write_io_latency_histogram\":{{\"num_bins\":0,\"bins\":[]}}}}\n",
        reads(1_000),
        reads(8_192_000),
        reads(700_000),
        exceeded_us * seconds,
        listed.join(",")
    )
}

#[test]
fn histograms_of_a_volume_calibrate_its_latency() {
    let folder = Folder::new("calibrate");
    let write = |name: &str, exceeded_us| folder.write(name, [0, 600].map(|s| ebs_statistics(s, exceeded_us)).concat());
    write("ebs.json", 0);
    let fit = ["fit", "ebs.json", "--interval", "600s", "--like", "aws/gp3:100GiB"];
    let text = words(&folder.text(&[&fit[..], &["--output", "mine.toml"]].concat()));
    for part in
        ["limit(3000", "station(256,", "histogram of 600000 reads", "those that the vendor states of aws/gp3:100GiB"]
    {
        assert!(text.contains(part), "no {part} in {text}");
    }
    // The mean of the counters, and the limits of the product.
    let simulated = folder.json(&["simulate", "mine.toml", "--depth", "1"]);
    let mean_ns = simulated["runs"][0]["figures"]["mean_ns"]["value"].as_f64().unwrap();
    assert!((mean_ns / 700e3 - 1.0).abs() < 0.05, "{mean_ns}");
    let quoted = words(&folder.text(&["simulate", "mine.toml", "--depth", "64"]));
    assert!(quoted.contains("3,0") || quoted.contains("3000"), "{quoted}");
    folder.refuses_usage(&fit[..4], "add those of the configuration with --like CONFIG");
    write("limited.json", 700_000);
    let limited = ["fit", "limited.json", "--interval", "600s", "--like", "aws/gp3:100GiB"];
    folder.refuses_usage(&limited, "a limit held operations in 70 % of the time");
}

#[test]
fn simulated_products_carry_their_doubts() {
    let text = words(&Folder::new("offers").text(&["simulate", "netapp/aff-c800", "--quick", "--reads", "100"]));
    assert!(text.contains("known only from anchors"), "{text}");
    // 5.4 million credits for 3,000 IOPS, which 300 refill. A load with a time of its own spends them.
    let timed = ["simulate", "aws/gp2:100GiB", "--depth", "16", "--duration", "10s"];
    let text = words(&Folder::new("bursts").text(&timed));
    assert!(text.contains("3,000 IOPS for 2000 s from full credits, then 300 IOPS"), "{text}");
}

#[test]
fn output_never_replaces_special_files() {
    let folder = Folder::short("offers");
    let socket = folder.join("socket");
    let _listening = std::os::unix::net::UnixListener::bind(&socket).expect("a socket can be made");
    let output = folder.run(&["quote", "oci:50GB@10vpu", "--json", &folder.file("socket")]);
    let message = stderr(&output);
    assert!(!output.status.success() && message.contains("not a regular file"), "{message}");
    assert!(!socket.is_file() && socket.exists(), "it is a socket still");
}

/// A page of Azure's retail prices, with the fields of the vendor's own; amounts are examples.
fn azure_page(disk: &str, machine: &str) -> String {
    let item = |product: &str, meter: &str, service: &str, size: &str, unit: &str, amount: &str| {
        format!(
            r#"{{"currencyCode":"USD","tierMinimumUnits":0.0,"retailPrice":{amount},"unitPrice":{amount},
            "armRegionName":"westeurope","location":"EU West","effectiveStartDate":"2023-01-01T00:00:00Z",
            "meterName":"{meter}","productName":"{product}","skuName":"x","serviceName":"{service}",
            "unitOfMeasure":"{unit}","type":"Consumption","isPrimaryMeterRegion":true,"armSkuName":"{size}"}}"#
        )
    };
    let items = [
        item("Premium SSD Managed Disks", "P30 LRS Disk", "Storage", "", "1/Month", disk),
        item("Virtual Machines Ddsv5 Series", "D8ds v5", "Virtual Machines", "Standard_D8ds_v5", "1 Hour", machine),
        item("Blob Storage", "Hot LRS Data Stored", "Storage", "", "1 GB/Month", "0.02"),
    ];
    format!(
        r#"{{"BillingCurrency":"USD","CustomerEntityId":"Default","Items":[{}],"NextPageLink":null,"Count":3}}"#,
        items.join(",")
    )
}

#[test]
fn imported_prices_are_listed_and_used_by_all_commands() {
    let folder = Folder::new("prices");
    let none = words(&folder.text(&["prices"]));
    assert!(none.starts_with("All prices are built in"), "{none}");
    fs::write(folder.join("page.json"), azure_page("140.5", "0.5")).unwrap();
    let import = ["prices", "import", "page.json", "--date", "2026-11-20"];
    let text = words(&folder.text(&import));
    for expected in [
        "page.json: Azure retail prices, 2 rates for westeurope USD",
        "left out: 1 (no product of the catalogue bills it)",
        "azure westeurope USD 2026-11-20 1 1",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let config = "azure/premium-ssd:P30 on azure/Standard_D8ds_v5";
    let quote = ["quote", config, "--region", "westeurope", "--as-of", "2026-11-26"];
    let text = words(&folder.text(&quote));
    assert!(text.contains("505.50 USD a month, in westeurope (verified)"), "{text}");
    assert!(text.contains("Azure retail prices, page.json (2026-11-20, verified)"), "{text}");
    let several = ["quote", config, "aws/gp3:100GiB", "--region", "us-east-1,westeurope", "--as-of", "2026-11-26"];
    let text = words(&folder.text(&several));
    assert!(text.contains("in westeurope (verified)") && text.contains("in us-east-1 (secondary)"), "{text}");
    // Without a region the first one of the product stays, and a date before the list has the prices of that time.
    let text = words(&folder.text(&["quote", config]));
    assert!(text.contains("in eastus"), "{text}");
    let before = folder.run(&[&quote[..5], &["2026-11-19"]].concat());
    assert!(
        words(&String::from_utf8_lossy(&before.stdout))
            .contains("no price of azure/premium-ssd in westeurope as of 2026-11-19"),
        "{before:?}"
    );
    // A commitment that no list has is no other price in silence.
    let text = words(&folder.text(&[&quote[..], &["--commitment", "3y"]].concat()));
    assert!(text.contains("no committed price of azure/Standard_D8ds_v5 is known for 3y"), "{text}");
    // A later page takes its place; the list of changes compares with the built-in prices of the same region only.
    fs::write(folder.join("later.json"), azure_page("150", "0.5").replace("westeurope", "eastus")).unwrap();
    let result = folder.json(&["prices", "import", "later.json"]);
    let changes = result["changes"].as_array().unwrap();
    let disk = changes.iter().find(|change| change["subject"] == "azure/premium-ssd:P30").unwrap();
    assert_eq!((&disk["before"]["amount"], &disk["after"]["amount"]), (&"135.17".into(), &"150.00".into()));
    assert!(changes.iter().all(|change| change["region"] == "eastus"), "{changes:?}");
    let text = words(&folder.text(&["quote", "azure/premium-ssd:P30"]));
    assert!(text.contains("150.00 USD a month, in eastus"), "{text}");
}

#[test]
fn files_that_are_no_price_lists_are_refused_and_change_nothing() {
    let folder = Folder::new("prices");
    fs::write(folder.join("bill.csv"), "date,service,cost\n2026-11-01,EC2,3\n").unwrap();
    fs::write(folder.join("page.json"), azure_page("140.5", "0.5")).unwrap();
    let refuses = |files: &[&str], expected: &str| {
        folder.refuses_usage(&[&["prices", "import"], files].concat(), expected);
    };
    refuses(&["page.json", "bill.csv"], "bill.csv: it looks like a table with date, service, cost");
    refuses(&["nowhere.json"], "nowhere.json: No such file");
    let text = words(&folder.text(&["prices"]));
    assert!(text.starts_with("All prices are built in"), "{text}");
    // A damaged file of imported prices is named.
    folder.text(&["prices", "import", "page.json"]);
    fs::write(folder.join("config/plimsoll/prices/azure_westeurope_USD.json"), "{}").unwrap();
    folder.refuses_usage(&["quote", "oci:100GB"], "azure_westeurope_USD.json: not a file of imported prices");
}
