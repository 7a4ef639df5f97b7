//! The truth of a synthetic fleet is found again.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::{TestFolder, arg, contents, fail, generate, succeed, table};

/// Price of gp3 in us-east-1 in millionths, by hand: 0.08 a GiB, 0.005 an IOPS above 3,000, 0.04 a MiB/s above 125.
fn gp3_micros(size: i64, iops: i64, throughput: i64) -> i64 {
    size * 80_000 + (iops - 3_000).max(0) * 5_000 + (throughput - 125).max(0) * 40_000
}

fn option(config: &str, name: &str) -> i64 {
    let mut parts = config.split([':', ',']);
    let value = parts.find_map(|part| part.strip_prefix(&format!("{name}=")).or_else(|| part.strip_suffix(name)));
    value.unwrap().parse().unwrap()
}

#[test]
fn throttled_volumes_and_savings_are_found() {
    let folder = TestFolder::new("truth");
    let fleet = generate(&folder, "fleet", &["--volumes", "600", "--days", "15", "--period", "1800", "--buckets", "4"]);
    let screen = succeed(&["rightsize", arg(&fleet), "--as-of", "2026-11-28", "--to", "aws/gp3"]);
    assert!(screen.starts_with("600 volumes cost ") && screen.lines().count() <= 25, "{screen}");
    let page = std::fs::read_to_string(fleet.join("rightsize/rightsize.html")).unwrap();
    for heading in ["Largest savings", "Most throttled", "Distribution", "By account", "By region", "By team"] {
        assert!(page.contains(heading), "{heading}");
    }
    for part in ["<svg", "team-10", "account-6"] {
        assert!(page.contains(part), "{part}");
    }
    let truth = table(&fleet.join("truth.csv"));
    let answers = table(&fleet.join("rightsize/verdicts.csv"));
    // The ten largest of each list are on the page, the largest first.
    for (throttled, column) in [("true", "throttled_permille"), ("false", "saving_micros")] {
        let listed = answers.iter().filter(|answer| answer["throttled"] == throttled && answer[column] != "0");
        let mut listed: Vec<_> =
            listed.map(|answer| (-answer[column].parse::<i64>().unwrap(), &answer["id"])).collect();
        listed.sort_by_key(|(value, _)| *value);
        let places: Vec<_> = listed.iter().map(|(_, id)| page.find(&format!(">{id}<"))).collect();
        assert!(places[..10].is_sorted() && places[..10].iter().all(Option::is_some), "{column}: {places:?}");
        assert!(places[10..].iter().all(Option::is_none), "{column}: {places:?}");
    }
    assert_eq!((truth.len(), answers.len()), (600, 600));
    let (mut found, mut wrong, mut missed) = (0, 0, 0);
    let (mut expected_saving, mut saving) = (0, 0);
    let mut patterns: BTreeMap<&str, u32> = BTreeMap::new();
    for (truth, answer) in truth.iter().zip(&answers) {
        assert_eq!(truth["id"], answer["id"]);
        *patterns.entry(&truth["pattern"]).or_default() += 1;
        match (truth["throttled"] == "true", answer["throttled"] == "true") {
            (true, true) => found += 1,
            (false, true) => wrong += 1,
            (true, false) => missed += 1,
            (false, false) => {}
        }
        if truth["throttled"] == "false" && truth["config"].starts_with("aws/gp3") {
            let (size, number) = (option(&truth["config"], "GiB"), |name: &str| truth[name].parse::<i64>().unwrap());
            let cost = gp3_micros(size, option(&truth["config"], "iops"), option(&truth["config"], "throughput"));
            let iops = (number("peak_iops") * 11 + 9) / 10;
            let throughput = (iops * number("block_bytes") + 1_048_575) / 1_048_576;
            // The throughput is at most a quarter of the operations, and both have their parts included.
            let best = gp3_micros(size, iops.max(throughput * 4).max(3_000), throughput);
            expected_saving += (cost - best).max(0);
            saving += answer["saving_micros"].parse::<i64>().unwrap();
        }
    }
    assert_eq!(patterns.len(), 6, "{patterns:?}");
    let total = f64::from(found + missed);
    assert!(total >= 30.0, "{total} throttled volumes");
    let (precision, recall) = (f64::from(found) / f64::from(found + wrong), f64::from(found) / total);
    assert!(precision >= 0.99 && recall >= 0.99, "precision {precision}, recall {recall}");
    let ratio = saving as f64 / expected_saving as f64;
    assert!((ratio - 1.0).abs() <= 0.02, "saving {saving}, expected {expected_saving}");
}

#[test]
fn commands_change_volumes_to_the_proposed_configuration() {
    let folder = TestFolder::new("commands");
    let fleet = folder.path("fleet");
    let ids = ["vol-a", "ocid1.volume.b", "it's; x"];
    let operations = |id: &str| if id == "vol-a" { 100 } else { 3_600 };
    let row = |n: usize| ids.map(|id| format!("{id},{},{},0\n", n * 900, operations(id))).concat();
    let points: String = (0..2_000).map(row).collect();
    let points = folder.write("points.csv", &format!("id,ts,reads,writes\n{points}"));
    let inventory = "id,config,account\nvol-a,\"aws/gp3:100GiB,iops=5000,throughput=125\",one\n\
                     ocid1.volume.b,\"oci/block-volume:200GB,vpu=20\",two\n\
                     it's; x,\"aws/gp3:10GiB,iops=4000\",two\n";
    let inventory = folder.write("inventory.csv", inventory);
    let columns = "id=id,time=ts,period=900,read_ops=reads,write_ops=writes";
    let text = succeed(&["ingest", arg(&fleet), arg(&points), "--columns", columns, "--inventory", arg(&inventory)]);
    assert!(text.starts_with("6000 points added, 0 were present, 0 rows rejected"), "{text}");
    succeed(&["rightsize", arg(&fleet), "--as-of", "2026-11-28", "--out", arg(&folder.path("out"))]);
    let commands = std::fs::read_to_string(folder.path("out").join("commands.sh")).unwrap();
    let expected =
        "aws ec2 modify-volume --volume-id vol-a --volume-type gp3 --iops 3000 --throughput 125 --region us-east-1\n";
    assert!(commands.contains(expected), "{commands}");
    assert!(commands.contains("oci bv volume update --volume-id ocid1.volume.b --vpus-per-gb "), "{commands}");
    assert!(commands.contains("--volume-id 'it'\\''s; x' "), "{commands}");
    let answers = table(&folder.path("out").join("verdicts.csv"));
    let read = |name: &str| std::fs::read_to_string(folder.path("out").join(name)).unwrap();
    let module = read("terraform/aws-one/volumes.tf");
    let import = "import {\n  to = aws_ebs_volume.plimsoll_vol-a\n  id = \"vol-a\"\n}\n";
    let attributes = "  type              = \"gp3\"\n  size              = 100\n  iops              = 3000\n  throughput        = 125\n";
    for part in [import, attributes, "    prevent_destroy = true\n    ignore_changes  = [availability_zone, "] {
        assert!(module.contains(part), "{module}");
    }
    let module = read("terraform/oci-two/volumes.tf");
    assert!(module.contains("  id = \"ocid1.volume.b\"\n") && module.contains("oci_core_volume"), "{module}");
    // An identifier that is not one of the provider cannot be imported.
    assert!(!folder.path("out").join("terraform/aws-two").exists());
    let classes = read("kubernetes.yaml");
    let gp3 = "parameters:\n  type: \"gp3\"\n  iops: \"3000\"\n  throughput: \"125\"\n";
    for part in [
        "kind: VolumeAttributesClass\nmetadata:\n  name: plimsoll-aws-gp3-3000-125\ndriverName: ebs.csi.aws.com\n",
        "kind: StorageClass\nmetadata:\n  name: plimsoll-aws-gp3-3000-125\nprovisioner: ebs.csi.aws.com\n",
        "provisioner: blockvolume.csi.oraclecloud.com\nparameters:\n  vpusPerGB: \"",
    ] {
        assert!(classes.contains(part), "{classes}");
    }
    // Volumes of any size share a class, and each class is written once.
    assert_eq!((classes.matches(gp3).count(), classes.matches("kind: StorageClass").count()), (2, 2), "{classes}");
    let claims = table(&folder.path("out").join("kubernetes.csv"));
    assert_eq!(claims[0]["volume_handle"], "vol-a");
    assert_eq!(claims[0]["volume_attributes_class"], "plimsoll-aws-gp3-3000-125");
    assert_eq!(claims[1]["volume_attributes_class"], "");
    // 2,000 IOPS above the included ones at 0.005 USD.
    assert_eq!((answers[0]["saving_micros"].as_str(), answers[0]["action"].as_str()), ("10000000", "lower"));
    assert!(answers[0]["risks"].contains("throughput-unknown"), "{}", answers[0]["risks"]);
    let totals = table(&folder.path("out").join("totals.csv"));
    let of_account: Vec<_> = totals.iter().filter(|total| total["by"] == "account").collect();
    assert_eq!((of_account.len(), of_account[0]["saving_micros"].as_str()), (2, "10000000"));
}

/// Name, account, peak of its busiest volume in operations per second, operations for each GiB, and counts of volumes by
/// their size in GiB.
type Workload = (&'static str, &'static str, i64, i64, &'static [(i64, i64)]);

/// 98 volumes of twelve clusters (mitodl/ol-infrastructure, pull requests 5869 and 5968, September 2026). Outside of
/// production a class gave 50 IOPS for each GiB: 525 USD a month for operations above the included ones beside 392 for
/// storage, against peaks of 58, 639 and 168 operations per second. Sizes, and those of production, fit the published totals.
const WORKLOADS: [Workload; 6] = [
    ("typesense", "qa", 58, 50, &[(24, 100)]),
    ("clickhouse", "qa", 639, 50, &[(1, 500), (1, 200), (8, 100), (2, 60)]),
    ("starrocks-fe", "qa", 168, 50, &[(6, 100), (2, 60)]),
    ("others", "qa", 20, 0, &[(21, 7), (1, 13)]),
    ("clickhouse-production", "production", 1_983, 50, &[(3, 1_500)]),
    ("others-production", "production", 300, 0, &[(29, 100)]),
];

/// The inventory, with at most `iops_per_gib` outside of production.
fn published_inventory(iops_per_gib: i64) -> String {
    let mut inventory = "id,config,account,team\n".to_owned();
    for (team, account, _, own, groups) in WORKLOADS {
        let own = if account == "qa" { own.min(iops_per_gib) } else { own };
        let sizes = groups.iter().flat_map(|(count, size)| (0..*count).map(move |_| size));
        for (number, size) in sizes.enumerate() {
            let iops = (own * size).max(3_000);
            inventory.push_str(&format!("vol-{team}-{number},\"aws/gp3:{size}GiB,iops={iops}\",{account},{team}\n"));
        }
    }
    inventory
}

fn published_points() -> String {
    let mut points = "id,ts,r,w\n".to_owned();
    for (team, _, peak, _, groups) in WORKLOADS {
        for number in 0..groups.iter().map(|(count, _)| *count).sum() {
            for minute in 0..60 {
                let reads = if number == 0 && minute == 30 { 60 * peak } else { 60 };
                points.push_str(&format!("vol-{team}-{number},{},{reads},0\n", 1_788_264_000 + 60 * minute));
            }
        }
    }
    points
}

/// Volumes, cost and saving of a group.
fn sums_of_group(fleet: &Path, by: &str, name: &str) -> [i64; 3] {
    let totals = table(&fleet.join("rightsize/totals.csv"));
    let total = totals.iter().find(|total| total["by"] == by && total["name"] == name).unwrap();
    let [volumes, cost, saving] =
        ["volumes", "cost_micros", "saving_micros"].map(|column| total[column].parse::<i64>().unwrap());
    [volumes, cost / 1_000_000, saving / 1_000_000]
}

#[test]
fn a_published_case_of_unused_operations_is_found() {
    let folder = TestFolder::new("published");
    let fleet = folder.path("fleet");
    let points = folder.write("points.csv", &published_points());
    let columns = "id=id,time=ts,period=60,read_ops=r,write_ops=w";
    let ingest = |iops_per_gib: i64| {
        let inventory = folder.write("inventory.csv", &published_inventory(iops_per_gib));
        succeed(&["ingest", arg(&fleet), arg(&points), "--columns", columns, "--inventory", arg(&inventory)]);
    };
    ingest(50);
    succeed(&["rightsize", arg(&fleet), "--as-of", "2026-11-28"]);
    assert_eq!(sums_of_group(&fleet, "account", "qa"), [66, 917, 525]);
    assert_eq!(sums_of_group(&fleet, "team", "typesense"), [24, 432, 240]);
    assert_eq!(sums_of_group(&fleet, "team", "clickhouse"), [12, 354, 225]);
    assert_eq!(sums_of_group(&fleet, "team", "starrocks-fe"), [8, 117, 60]);
    // Three times 72,000 operations above the included ones.
    assert_eq!(sums_of_group(&fleet, "team", "clickhouse-production"), [3, 1_440, 1_080]);
    assert_eq!(sums_of_group(&fleet, "all", "all")[0], 98);
    // The class was set to 30 for each GiB: 75 USD stay, all of clickhouse.
    ingest(30);
    succeed(&["rightsize", arg(&fleet), "--as-of", "2026-11-28"]);
    assert_eq!(sums_of_group(&fleet, "account", "qa"), [66, 467, 75]);
    assert_eq!(sums_of_group(&fleet, "team", "clickhouse"), [12, 204, 75]);
}

#[test]
fn disagreements_with_compute_optimizer_have_reasons() {
    let folder = TestFolder::new("optimizer");
    let fleet = folder.path("fleet");
    let points = folder.write("points.csv", &published_points());
    let inventory = folder.write("inventory.csv", &published_inventory(50));
    let columns = "id=id,time=ts,period=60,read_ops=r,write_ops=w";
    succeed(&["ingest", arg(&fleet), arg(&points), "--columns", columns, "--inventory", arg(&inventory)]);
    let head = "accountId,volumeArn,finding,lookbackPeriodInDays,currentConfiguration_volumeType,\
                currentConfiguration_volumeSize,currentConfiguration_volumeBaselineIOPS,\
                currentConfiguration_volumeBaselineThroughput,recommendationOptions_1_configuration_volumeType,\
                recommendationOptions_1_configuration_volumeSize,recommendationOptions_1_configuration_volumeBaselineIOPS,\
                recommendationOptions_1_configuration_volumeBaselineThroughput\n";
    let row = |id: &str, size: &str, iops: i64, proposed: &str| {
        format!("1,arn:aws:ec2:us-east-1:1:volume/{id},NotOptimized,14.0,gp3,{size},{iops},125,{proposed}\n")
    };
    let rows = [
        row("vol-typesense-0", "100", 5_000, "gp3,100,3000,125"),
        row("vol-clickhouse-0", "500", 25_000, "gp3,500,5000,125"),
        row("vol-clickhouse-0", "500", 25_000, "gp2,500,600,250"),
        row("vol-clickhouse-0", "500", 25_000, "gp2,500,650,250"),
        row("vol-starrocks-fe-0", "100", 5_000, "gp2,100,300,128"),
        row("vol-clickhouse-1", "100", 5_000, "gp3,100,3000,125"),
        row("vol-others-0", "7", 3_000, ",,,"),
        row("vol-elsewhere", "7", 3_000, ",,,"),
        row("vol-clickhouse-2", "large", 5_000, ",,,"),
    ];
    let export = folder.write("export.csv", &format!("{head}{}", rows.concat()));
    let screen = succeed(&["rightsize", arg(&fleet), "--as-of", "2026-11-28", "--compute-optimizer", arg(&export)]);
    assert!(screen.contains("Compute Optimizer: 8 volumes compared, 2 agree;"), "{screen}");
    let compared = table(&fleet.join("rightsize/compute-optimizer.csv"));
    let reasons: Vec<_> = compared.iter().map(|row| row["disagreement"].as_str()).collect();
    let expected =
        ["", "more-capacity", "below-peak", "less-headroom", "other-product", "inventory-differs", "", "unreadable"];
    assert_eq!(reasons, expected, "{compared:?}");
    let expected = "the busiest point needs 639 IOPS and 2.5 MiB/s, the export proposes 5000 IOPS and 125 MiB/s; the export \
                    looks back 14 days";
    assert_eq!(compared[1]["reason"], expected);
    assert_eq!((&*compared[1]["export_cost_micros"], &*compared[1]["cost_micros"]), ("50000000", "40000000"));
    let page = std::fs::read_to_string(fleet.join("rightsize/rightsize.html")).unwrap();
    assert!(page.contains("more-capacity"));
    let error = fail(&["rightsize", arg(&fleet), "--compute-optimizer", arg(&inventory)]);
    assert!(error.contains("is no export of EBS volumes of Compute Optimizer"), "{error}");
}

/// Each volume's percentile agrees with that of the engine, across months and with missing values.
#[test]
fn volume_percentiles_agree_with_the_engine() {
    let folder = TestFolder::new("percentiles");
    let mut rows = String::from("VolumeId,Time,R,W\n");
    for hour in 0..1_500_u64 {
        let at = 1_767_225_600 + hour * 3_600;
        for volume in 0..5 {
            let reads =
                if (hour + volume) % 7 == 0 { String::new() } else { (hour * 7_919 % (997 + volume)).to_string() };
            rows.push_str(&format!("vol-{volume},{at},{reads},{}\n", hour % 13));
        }
    }
    let (input, fleet) = (folder.write("points.csv", &rows), folder.path("fleet"));
    let columns = "id=VolumeId,time=Time,period=3600,read_ops=R,write_ops=W";
    succeed(&["ingest", arg(&fleet), arg(&input), "--columns", columns, "--buckets", "2"]);
    let differences = |name: &str, value: &str, share: &str| {
        let query = format!(
            "select count(*) as volumes, max(abs(a.value - b.value)) < 1e-9 as equal from volume_percentile('{name}', {share}) a \
             join (select volume, percentile_cont({share}) within group (order by {value}) as value from metrics \
             group by volume) b on a.volume = b.volume"
        );
        succeed(&["sql", arg(&fleet), &query, "--format", "csv"])
    };
    for share in ["0", "0.5", "0.99", "1"] {
        assert_eq!(differences("read_ops", "cast(read_ops as double)", share), "volumes,equal\n5,true\n");
    }
    let rate = "cast(read_ops + write_ops as double) / period_s";
    assert_eq!(differences("iops", rate, "0.95"), "volumes,equal\n5,true\n");
    let unknown = "select * from volume_percentile('bytes_per_second', 0.5) where value is null";
    assert_eq!(succeed(&["sql", arg(&fleet), unknown, "--format", "csv"]).lines().count(), 6);
    let error = fail(&["sql", arg(&fleet), "select * from volume_percentile('reads', 0.5)"]);
    assert!(error.contains("'iops', 'bytes_per_second', or of read_ops"), "{error}");
}

#[test]
fn sql_has_the_tables_and_the_functions_of_the_catalogue() {
    let folder = TestFolder::new("sql");
    let fleet = generate(&folder, "fleet", &["--volumes", "20", "--days", "2", "--period", "3600", "--buckets", "2"]);
    let sql = |query: &str| succeed(&["sql", arg(&fleet), query, "--format", "csv"]);
    assert_eq!(sql("select count(*) as n, count(distinct volume) as v from metrics"), "n,v\n960,20\n");
    let query = "select ceiling_iops('aws/gp3:100GiB,iops=5000', 16384) as a, price('aws/gp3:100GiB,iops=5000', \
                 'us-east-1', '2026-11-28') as b, carries('aws/gp3:100GiB', 2000, 50, 5.0) as c, \
                 carries('aws/gp3:100GiB', 4000, 50, 5.0) as d";
    assert_eq!(sql(query), "a,b,c,d\n5000,18000000,true,false\n");
    let joined = "select count(*) as n from volumes v join metrics m on m.volume = v.volume where \
                  ceiling_iops(v.config, 4096) > 0";
    assert_eq!(sql(joined), "n\n960\n");
    let error = fail(&["sql", arg(&fleet), "select price('aws/gp9:1GiB', 'us-east-1', '2026')"]);
    assert!(error.contains("gp9"), "{error}");
}

#[test]
fn volumes_without_an_answer_are_named() {
    let folder = TestFolder::new("unknown");
    let fleet = folder.path("fleet");
    let row = |n: usize| ["a", "b"].map(|id| format!("{id},{},270000,0,1105920000,0\n", n * 900)).concat();
    let points: String = (0..2_000).map(row).collect();
    let points = folder.write("points.csv", &format!("id,ts,r,w,rb,wb\n{points}"));
    let inventory = "id,config,account\na,\"stripe(2,64KiB) of aws/gp3:100GiB\",000123\nb,generic/hdd-7200:1000GB,000123\n\
                     c,aws/gp3:100GiB,000123\n";
    let inventory = folder.write("inventory.csv", inventory);
    let columns = "id=id,time=ts,period=900,read_ops=r,write_ops=w,read_bytes=rb,write_bytes=wb";
    succeed(&["ingest", arg(&fleet), arg(&points), "--columns", columns, "--inventory", arg(&inventory)]);
    // 300 reads a second: more than a turning disk carries, and no limit that a replay has.
    let screen = succeed(&["replay", arg(&fleet), "--as-of", "2026-11"]);
    assert!(screen.contains("note: waits of 2 volumes are unknown"), "{screen}");
    let screen = succeed(&["rightsize", arg(&fleet), "--as-of", "2026-11-28"]);
    assert!(screen.starts_with("1 of 2 volumes cost "), "{screen}");
    assert!(screen.contains("note: 1 volumes have no points, and are in none of these figures"), "{screen}");
    assert!(screen.contains("note: 1 volumes have limits that a replay does not have"), "{screen}");
    let query = "select account, count(*) as n from volumes group by account";
    assert_eq!(succeed(&["sql", arg(&fleet), query, "--format", "csv"]), "account,n\n000123,3\n");
}

#[test]
fn an_unknown_load_is_not_idle_and_gaps_are_named() {
    let folder = TestFolder::new("load");
    let fleet = folder.path("fleet");
    // Reads of `a` without its writes; no operation of `b`; `c` lacks half of the time.
    let row = |n: usize| {
        let at = n * 900;
        let rest = if n.is_multiple_of(128) && n > 0 { String::new() } else { format!("b,{at},0,0,0,0\n") };
        let half =
            if (1_000..3_000).contains(&n) { String::new() } else { format!("c,{at},900,900,3686400,3686400\n") };
        format!("a,{at},270000,,1105920000,\n{rest}{half}")
    };
    let points: String = (0..4_000).map(row).collect();
    let points = folder.write("points.csv", &format!("id,ts,r,w,rb,wb\n{points}"));
    let config = "\"aws/gp3:100GiB,iops=5000\"";
    let inventory = folder.write("inventory.csv", &format!("id,config\na,{config}\nb,{config}\nc,{config}\n"));
    let columns = "id=id,time=ts,period=900,read_ops=r,write_ops=w,read_bytes=rb,write_bytes=wb";
    succeed(&["ingest", arg(&fleet), arg(&points), "--columns", columns, "--inventory", arg(&inventory)]);
    let screen = succeed(&["rightsize", arg(&fleet), "--as-of", "2026-11-28", "--to", "aws/gp3"]);
    assert!(screen.contains("note: 1 volumes have no point with both reads and writes"), "{screen}");
    assert!(screen.contains("note: 1 volumes have times whose operations are unknown"), "{screen}");
    let answers = table(&fleet.join("rightsize/verdicts.csv"));
    let actions: Vec<_> = answers.iter().map(|answer| (&*answer["action"], &*answer["new_config"])).collect();
    let lower = "aws/gp3:100GiB";
    assert_eq!(actions, [("unknown", ""), ("idle", lower), ("lower", lower)]);
    assert!(answers[0]["risks"].contains("load-unknown"), "{}", answers[0]["risks"]);
    // 2,000 points of 15 minutes.
    assert!(answers[2]["risks"].contains(r#"{"kind":"gaps","points":0,"hours":500}"#), "{}", answers[2]["risks"]);
    assert!(!answers[1]["risks"].contains("gaps"), "{}", answers[1]["risks"]);
}

/// The same answers with any memory and any number of buckets, and no temporary files.
#[test]
fn answers_do_not_depend_on_memory_and_buckets() {
    let folder = TestFolder::new("memory");
    let options = ["--volumes", "700", "--days", "40", "--period", "21600"];
    let arn =
        |number: usize| format!("1,arn:aws:ec2:us-east-1:1:volume/vol-{number:017x},NotOptimized,14.0,gp3,100,3000\n");
    let head = "accountId,volumeArn,finding,lookbackPeriodInDays,currentConfiguration_volumeType,\
                currentConfiguration_volumeSize,currentConfiguration_volumeBaselineIOPS\n";
    let rows: String = (0..900).rev().map(arn).collect();
    let export = folder.write("export.csv", &format!("{head}1,,,,,,\n{rows}"));
    let answers =
        [("large", "16", "100000000"), ("small", "3", "3000"), ("tiny", "16", "1")].map(|(name, buckets, memory)| {
            let fleet = generate(&folder, name, &[&options[..], &["--buckets", buckets]].concat());
            let arguments = ["rightsize", arg(&fleet), "--as-of", "2026-11-28", "--compute-optimizer", arg(&export)];
            let screen = succeed(&[&arguments[..], &["--max-buffered", memory]].concat());
            let csv = fleet.join("replay.csv");
            let arguments = ["replay", arg(&fleet), "--as-of", "2026-11", "--as", "aws/gp3", "--csv", arg(&csv)];
            let replayed = succeed(&[&arguments[..], &["--max-buffered", memory]].concat());
            let leftovers: Vec<_> = contents(&fleet).into_keys().filter(|name| name.contains(".tmp")).collect();
            assert!(leftovers.is_empty(), "{leftovers:?}");
            let costs = replayed.lines().take(2).map(str::to_owned).collect::<Vec<_>>();
            (screen.replace(arg(&fleet), ""), contents(&fleet.join("rightsize")), costs, std::fs::read(csv).unwrap())
        });
    let [large, rest @ ..] = &answers;
    assert_eq!(table(&folder.path("large/rightsize/verdicts.csv")).len(), 700);
    assert!(large.1.contains_key("kubernetes.yaml") && large.1.contains_key("compute-optimizer.csv"));
    for other in rest {
        assert_eq!((&large.0, &large.2), (&other.0, &other.2));
        for (name, bytes) in &large.1 {
            assert!(other.1.get(name) == Some(bytes), "{name} differs");
        }
        assert_eq!(large.1.len(), other.1.len());
        assert!(large.3 == other.3, "replay.csv differs");
    }
    let document = std::fs::read(folder.path("tiny/rightsize/verdicts.json")).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(document["volumes"].as_array().unwrap().len(), 700);
    assert_eq!(document["totals"][0]["volumes"], 700);
    let saving = "select sum(saving_micros) as s from verdicts where action <> 'raise'";
    let saving = succeed(&["sql", arg(&folder.path("tiny")), saving, "--format", "csv"]);
    assert_eq!(saving, format!("s\n{}\n", document["totals"][0]["saving_micros"]));
}
