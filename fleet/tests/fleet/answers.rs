//! The truth of a synthetic fleet is found again.

use std::collections::BTreeMap;

use crate::support::{TestFolder, arg, fail, generate, succeed, table};

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
    let truth = table(&fleet.join("truth.csv"));
    let answers = table(&fleet.join("rightsize/verdicts.csv"));
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
    // 2,000 IOPS above the included ones at 0.005 USD.
    assert_eq!((answers[0]["saving_micros"].as_str(), answers[0]["action"].as_str()), ("10000000", "lower"));
    assert!(answers[0]["risks"].contains("throughput-unknown"), "{}", answers[0]["risks"]);
    let totals = table(&folder.path("out").join("totals.csv"));
    let of_account: Vec<_> = totals.iter().filter(|total| total["by"] == "account").collect();
    assert_eq!((of_account.len(), of_account[0]["saving_micros"].as_str()), (2, "10000000"));
}

/// Name, peak of its busiest volume in operations per second, and counts of volumes by their size in GiB.
type Workload = (&'static str, i64, &'static [(i64, i64)]);

/// Volumes of three workloads whose class gave them 50 IOPS for each GiB (mitodl/ol-infrastructure, pull request 5869,
/// 2026-09-15): 525 USD a month for operations above the included ones, against peaks of 58, 639 and 168 operations per second.
/// The sizes fit the published totals.
#[test]
fn a_published_case_of_unused_operations_is_found() {
    let folder = TestFolder::new("published");
    let fleet = folder.path("fleet");
    let workloads: [Workload; 3] = [
        ("typesense", 58, &[(24, 100)]),
        ("clickhouse", 639, &[(1, 500), (1, 200), (8, 100), (2, 60)]),
        ("starrocks-fe", 168, &[(6, 100), (2, 60)]),
    ];
    let (mut inventory, mut points) = ("id,config,team\n".to_owned(), "id,ts,r,w\n".to_owned());
    for (team, peak, groups) in workloads {
        let sizes = groups.iter().flat_map(|(count, size)| (0..*count).map(move |_| size));
        for (number, size) in sizes.enumerate() {
            inventory.push_str(&format!("vol-{team}-{number},\"aws/gp3:{size}GiB,iops={}\",{team}\n", 50 * size));
            for minute in 0..60 {
                let reads = if number == 0 && minute == 30 { 60 * peak } else { 60 };
                points.push_str(&format!("vol-{team}-{number},{},{reads},0\n", 1_788_264_000 + 60 * minute));
            }
        }
    }
    let (inventory, points) = (folder.write("inventory.csv", &inventory), folder.write("points.csv", &points));
    let columns = "id=id,time=ts,period=60,read_ops=r,write_ops=w";
    succeed(&["ingest", arg(&fleet), arg(&points), "--columns", columns, "--inventory", arg(&inventory)]);
    succeed(&["rightsize", arg(&fleet), "--as-of", "2026-11-28"]);
    let totals = table(&fleet.join("rightsize/totals.csv"));
    let saving = |by: &str, name: &str| {
        let total = totals.iter().find(|total| total["by"] == by && total["name"] == name).unwrap();
        (total["volumes"].clone(), total["saving_micros"].clone())
    };
    let expected = |volumes: &str, dollars: &str| (volumes.to_owned(), format!("{dollars}000000"));
    assert_eq!(saving("team", "typesense"), expected("24", "240"));
    assert_eq!(saving("team", "clickhouse"), expected("12", "225"));
    assert_eq!(saving("team", "starrocks-fe"), expected("8", "60"));
    assert_eq!(saving("all", "all"), expected("44", "525"));
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
