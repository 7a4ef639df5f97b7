//! Managed databases of the built-in catalogue: published bills, steps, ratios, and what cannot be had.

use std::sync::LazyLock;

use plimsoll_catalogue::{Ask, Catalogue, Config, Offer, PriceTerms, ProductKind};
use plimsoll_units::Bytes;

static BUILT_IN: LazyLock<Catalogue> = LazyLock::new(Catalogue::built_in);

fn try_offer(config: &str) -> Result<Offer, String> {
    let terms = PriceTerms { as_of: "2026-11-27".parse().expect("a date"), currency: None, region: None };
    let config: Config = config.parse().expect("a configuration");
    BUILT_IN.offer(&config, &terms).map_err(|refusal| refusal.to_string())
}

fn offer(config: &str) -> Offer {
    try_offer(config).unwrap_or_else(|refusal| panic!("{config}: {refusal}"))
}

/// Exact monthly price, and the parts without an amount.
fn monthly(config: &str) -> (String, String) {
    let price = offer(config).price().unwrap_or_else(|none| panic!("{config}: {none}"));
    (price.monthly.exact(), price.without.join(", "))
}

/// Exact cost of a part of the price; 0 if there is none.
fn part(config: &str, name: &str) -> String {
    let price = offer(config).price().unwrap_or_else(|none| panic!("{config}: {none}"));
    price.parts.iter().find(|part| &*part.name == name).map_or_else(|| "0".to_owned(), |part| part.money.exact())
}

/// Lowest rate of all ceilings for operations of 8 KiB, at random for reads and in order for writes.
fn rate(config: &str, reads: f64) -> u64 {
    let ask = Ask { block: Bytes::kib(8), reads, sequential: reads < 1.0 };
    offer(config).standing(&ask).binding().expect("a ceiling").iops.round() as u64
}

fn doubts(config: &str) -> String {
    offer(config).doubts().into_iter().map(|doubt| doubt.text).collect::<Vec<_>>().join("; ")
}

#[track_caller]
fn refused(config: &str, words: &str) {
    let refusal = try_offer(config).err().unwrap_or_else(|| panic!("{config} is on offer"));
    assert!(refusal.contains(words), "{config}: {refusal}");
}

/// github.com/infracost/infracost, issue 3591 of 2026-07-07: 9,710 requests a second for 730 hours.
#[test]
fn aurora_is_billed_by_request_unless_io_optimized() {
    let cluster = "aws/aurora:1525GiB,reads=7490,writes=2220";
    let requests = offer(cluster).price().expect("a price");
    let requests = requests.parts.iter().find(|part| &*part.name == "requests").expect("it is billed by request");
    assert!((requests.quantity - 25_517.88).abs() < 1e-6, "{} million", requests.quantity);
    assert_eq!(requests.money.exact(), "5103.576");
    assert_eq!(part(cluster, "storage"), "152.50");
    let optimized = format!("{cluster},storage=io-optimized");
    assert_eq!(part(&optimized, "requests"), "0");
    assert_eq!(part(&optimized, "storage, I/O-Optimized"), "343.125");
    // Requests that nobody counted are not free.
    assert_eq!(monthly("aws/aurora:1525GiB,db.r6g.large").1, "requests of aws/aurora");
}

/// A worked example of AWS, in its agent toolkit of 2026-08-20: stay on Standard.
#[test]
fn aurora_standard_is_cheaper_for_few_requests() {
    let cluster = |mode: &str, millions: u32| {
        format!("aws/aurora:800GiB,db.r6g.2xlarge,instances=2,storage={mode},monthly_operations={millions}M")
    };
    assert_eq!(monthly(&cluster("standard", 1200)), ("1835.48".to_owned(), String::new()));
    assert_eq!(monthly(&cluster("io-optimized", 1200)), ("2150.124".to_owned(), String::new()));
    let advice = |config: &str| {
        (doubts(config).contains("io-optimized is cheaper"), doubts(config).contains("standard is cheaper"))
    };
    assert_eq!(advice(&cluster("standard", 1200)), (false, false));
    assert_eq!(advice(&cluster("io-optimized", 1200)), (false, true));
    // Both cost the same at (0.3 x 1,515.48 + 1.25 x 80) / 0.20 = 2,773 million.
    assert_eq!(advice(&cluster("standard", 2773)), (false, false));
    assert_eq!(advice(&cluster("standard", 2774)), (true, false));
    assert_eq!(advice(&cluster("io-optimized", 2774)), (false, false));
}

/// github.com/infracost/infracost, issue 2487 of 2023-06-05.
#[test]
fn oracle_on_gp3_is_charged_above_12_000_iops_from_200_gib_on() {
    let iops = "gp3 IOPS above those included";
    assert_eq!(part("aws/rds-oracle:200GiB,iops=15000", iops), "60.00");
    assert_eq!(part("aws/rds-oracle:200GiB,iops=15000", "storage"), "23.00");
    assert_eq!(part("aws/rds-oracle:200GiB,iops=15000,db.t3.large", "instance"), "99.28");
    refused("aws/rds-oracle:199GiB,iops=15000", "iops is 15,000, and can be 3,000 only");
    // PostgreSQL and MySQL are striped from 400 GiB on, SQL Server never.
    refused("aws/rds-postgres:200GiB,iops=15000", "can be 3,000 only");
    assert_eq!(part("aws/rds-mysql:400GiB,iops=14000", iops), "40.00");
    assert_eq!(part("aws/rds-mysql:400GiB,iops=14000,multi-az", iops), "80.00");
    assert_eq!(part("aws/rds-mysql:400GiB,iops=14000,multi-az", "storage"), "92.00");
    assert_eq!(part("aws/rds-sqlserver:200GiB,iops=14000", iops), "220.00");
    refused("aws/rds-sqlserver:400GiB,iops=17000", "can be 3,000 to 16,000");
}

/// github.com/aws-samples/sample-aws-pricing-calculator-mcp, issue 22 of 2026-07-06: 3,719 MiB/s at 14,000 IOPS would be
/// 1,557.70 USD, and cannot be ordered.
#[test]
fn a_ratio_of_throughput_and_iops_that_rds_does_not_sell_is_refused() {
    let oracle = |iops: u32, mib_s: u32| format!("aws/rds-oracle:8000GiB,db.r6i.xlarge,iops={iops},throughput={mib_s}");
    refused(
        &oracle(14_000, 3719),
        "throughput is 3,719, and can be 500 to 3,500; at most 0.25 MiB/s for each provisioned IOPS",
    );
    // 876 IOPS more are sold, for 17.52.
    assert_eq!(monthly(&oracle(14_876, 3719)), ("1575.22".to_owned(), String::new()));
    // What an estimate without throughput prints.
    assert_eq!(monthly(&oracle(14_000, 500)), ("1300.18".to_owned(), String::new()));
}

#[test]
fn other_storage_and_deployments_of_rds_are_billed_as_published() {
    let without = "instance of aws/rds-postgres, standby of Multi-AZ of aws/rds-postgres".to_owned();
    let io2 = "aws/rds-postgres:500GiB,io2,iops=20000,multi-az";
    assert_eq!(monthly(io2), ("4125.00".to_owned(), without.clone()));
    let gp3 = monthly("aws/rds-postgres:500GiB,multi-az");
    assert_eq!(gp3, ("115.00".to_owned(), without));
    assert_eq!((rate("aws/rds-postgres:500GiB,multi-az", 1.0), rate(io2, 1.0)), (12_000, 20_000));
    let mysql = |rest: &str| part(&format!("aws/rds-mysql:30GiB,db.t3.large{rest}"), "standby of Multi-AZ");
    assert_eq!((mysql(""), mysql(",multi-az")), ("0".to_owned(), "99.28".to_owned()));
    assert_eq!(part("aws/rds-sqlserver:20GiB,db.m5.xlarge,edition=enterprise", "instance"), "1705.28");
    assert_eq!(part("aws/rds-oracle:20GiB,db.t3.large,licence=included", "instance"), "219.00");
    refused("aws/rds-postgres:80GiB,io1", "begin at 100 GiB");
    refused("aws/rds-sqlserver:20000GiB", "end below that size");
}

#[test]
fn the_instance_class_limits_the_volumes() {
    // The instance carries 12,000 IOPS all the time, of volumes with 64,000.
    assert_eq!(rate("aws/rds-postgres:1000GiB,iops=64000,db.r6g.2xlarge", 1.0), 12_000);
    assert_eq!(rate("aws/rds-postgres:1000GiB,iops=64000,db.r6g.8xlarge", 1.0), 40_000);
    assert_eq!(rate("aws/rds-postgres:1000GiB,iops=64000", 1.0), 64_000);
    assert!(doubts("aws/rds-postgres:1000GiB").contains("no instance class is given"));
    assert!(!doubts("aws/rds-postgres:1000GiB,db.r6g.large").contains("no instance class is given"));
    refused("aws/rds-oracle:1000GiB,db.r6g.large", "Arm");
    let shape = offer("aws/rds-postgres:1000GiB,db.r6g.2xlarge").machine_shape().expect("a class");
    assert_eq!((shape.vcpus, shape.memory), (Some(8.0), Some(Bytes::gib(64))));
}

#[test]
fn storage_autoscaling_over_the_step_is_a_doubt() {
    let crossing = "storage autoscaling can carry it over the size";
    assert!(doubts("aws/rds-mysql:300GiB,max_storage=500").contains(crossing));
    for config in [
        "aws/rds-mysql:300GiB",
        "aws/rds-mysql:300GiB,max_storage=399",
        "aws/rds-mysql:400GiB,max_storage=1000",
        "aws/rds-sqlserver:20GiB,max_storage=1000",
    ] {
        assert!(!doubts(config).contains(crossing), "{config}");
    }
}

#[test]
fn managed_databases_run_on_machines_of_the_provider_only() {
    refused("aws/rds-postgres:500GiB on aws/m5.large", "cannot be attached to a machine; choose an instance class");
    refused("stripe(2,64KiB) of aws/rds-postgres:500GiB", "cannot be striped");
    refused("page-cache(1GiB) of azure/sql:100GB", "cannot be striped, mirrored or cached");
    let managed = BUILT_IN.products().filter(|product| product.kind() == ProductKind::Managed);
    let mut count = 0;
    for product in managed {
        let service = product.managed().unwrap_or_else(|| panic!("{}", product.name()));
        assert!(!service.engines.is_empty() && !product.ranked(), "{}", product.name());
        count += 1;
    }
    assert_eq!(count, 12);
}

#[test]
fn azure_sql_has_a_log_rate_beside_its_iops() {
    // 4.5 MB/s for each vCore, at most 50.
    assert_eq!(rate("azure/sql:100GB,vcores=4", 0.0), 1280);
    let log = |config: &str| {
        let ask = Ask { block: Bytes::kib(64), reads: 0.0, sequential: true };
        offer(config).standing(&ask).binding().expect("a ceiling").bytes_per_second.round() as u64
    };
    assert_eq!((log("azure/sql:100GB,vcores=4"), log("azure/sql:100GB,vcores=40")), (18_000_000, 50_000_000));
    assert_eq!(log("azure/sql:100GB,business-critical,vcores=24"), 96_000_000);
    // 444.47 for 4 vCores, 291.90 for their licence and 0.58 for 5 GB, each rounded.
    let price = |config: &str| offer(config).price().expect("a price").monthly.as_f64();
    assert!((price("azure/sql:5GB,vcores=4") - 736.95).abs() < 0.01);
    assert!((price("azure/sql:5GB,vcores=4,licence=own") - 445.05).abs() < 0.01);
    assert!((price("azure/sql:50GB,business-critical-m,vcores=8") - 12_006.58).abs() < 0.01);
}

#[test]
fn flexible_servers_are_limited_by_disk_and_machine() {
    assert_eq!(rate("azure/postgres-flexible:2048GiB,Standard_D4ds_v5", 1.0), 6400);
    assert_eq!(rate("azure/postgres-flexible:2048GiB,Standard_D8ds_v5", 1.0), 7500);
    let pg = monthly("azure/postgres-flexible:64GiB,Standard_D2ds_v5");
    assert_eq!(pg, ("157.022".to_owned(), String::new()));
    // 20 GiB include 360 IOPS: 140 of 500 cost 8.40.
    assert_eq!(part("azure/mysql-flexible:20GiB,business-critical-4,iops=500", "IOPS above those included"), "8.40");
    assert_eq!(rate("azure/mysql-flexible:20GiB", 1.0), 360);
    refused("azure/mysql-flexible:20GiB,general-purpose-2,iops=3300", "can be 360 to 3,200");
}

/// `add one, such as db.t3.large`: a class without a price would leave the price unknown.
#[test]
fn proposed_instance_classes_have_a_price() {
    let has_price = |config: String| {
        let price = try_offer(&config).ok().and_then(|offer| offer.price().ok());
        price.is_some_and(|price| {
            !price.without.iter().any(|part| part.contains("machine") || part.contains("instance"))
        })
    };
    let mut count = 0;
    for product in BUILT_IN.products().filter(|product| product.kind() == ProductKind::Managed) {
        let config = format!("{}:100{}", product.name(), product.capacity_unit().0);
        let Ok(without_class) = try_offer(&config) else { continue };
        let texts = without_class.doubts().into_iter().map(|doubt| doubt.text);
        for text in texts.chain(without_class.needs().iter().map(ToString::to_string)) {
            let Some((_, classes)) = text.split_once("add one, such as ") else { continue };
            let classes = classes.split([' ', ',']).filter(|word| word.contains(['.', '_']));
            assert!(classes.into_iter().any(|class| has_price(format!("{config},{class}"))), "{config}: {text}");
            count += 1;
        }
    }
    assert!(count >= 6, "RDS, Aurora and Azure propose some: {count}");
}

#[test]
fn products_without_published_limits_have_no_ceiling_and_no_model() {
    for config in ["aws/aurora:100GiB", "gcp/alloydb:100GiB"] {
        let priced_only = offer(config);
        assert!(priced_only.ceilings.is_empty() && priced_only.model().is_err(), "{config}");
    }
}
