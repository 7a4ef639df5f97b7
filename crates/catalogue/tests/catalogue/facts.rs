//! Facts of built-in products besides ceilings: machines and their prices, durability, sharing, snapshots, age of prices.

#![allow(clippy::float_cmp)]

use std::sync::LazyLock;

use plimsoll_catalogue::{
    Ask, Catalogue, Config, ConfigRefusal, MAX_PRICE_AGE_DAYS, Offer, PriceTerms, ServiceSubject, SharingMode,
};
use plimsoll_units::Bytes;

static BUILT_IN: LazyLock<Catalogue> = LazyLock::new(Catalogue::built_in);

fn try_offer(config: &str, region: &str) -> Result<Offer, ConfigRefusal> {
    let region = Some(region.to_owned()).filter(|region| !region.is_empty());
    let terms = PriceTerms { as_of: "2026-11-23".parse().expect("a date"), currency: "USD".parse().ok(), region };
    BUILT_IN.offer(&config.parse::<Config>().expect("a configuration"), &terms)
}

fn create_offer(config: &str, region: &str) -> Offer {
    try_offer(config, region).unwrap_or_else(|refusal| panic!("{config}: {refusal}"))
}

/// The lowest ceiling of random reads of 4 KiB, rounded.
fn find_iops(config: &str) -> u64 {
    let offer = create_offer(config, "");
    let standing = offer.standing(&Ask { block: Bytes::kib(4), reads: 1.0, sequential: false });
    standing.binding().expect("a ceiling").iops.round() as u64
}

fn doubts(offer: &Offer) -> String {
    offer.doubts().into_iter().map(|doubt| doubt.text).collect::<Vec<_>>().join("; ")
}

#[test]
fn the_price_of_a_machine_is_part_of_the_price() {
    let monthly = |config: &str, region: &str| {
        let price = create_offer(config, region).price().unwrap_or_else(|none| panic!("{config}: {none}"));
        (price.monthly.exact(), price.without.join(" "))
    };
    let priced = |sum: &str| (sum.to_owned(), String::new());
    // 0.1008 and 0.1302 an hour for 730 hours.
    assert_eq!(monthly("aws/m7i.large", "us-east-1"), priced("73.584"));
    assert_eq!(monthly("aws/m7i.large", "ap-northeast-1"), priced("95.046"));
    assert_eq!(monthly("azure/Standard_E8bds_v5", "eastus"), priced("487.64"));
    assert_eq!(monthly("gcp/n2-highmem-8", "us-central1"), priced("382.56088"));
    // 16 OCPUs at 0.03 and their 256 GB at 0.002 an hour.
    assert_eq!(monthly("oci/VM.Standard.E5.Flex:16ocpu", ""), priced("724.16"));
    assert_eq!(monthly("oci/VM.Standard.E5.Flex:16ocpu,memory=128", ""), priced("537.28"));
    // Oracle's price of a month of 744 hours is 7,713.79.
    assert_eq!(monthly("oci/BM.Standard.E5.192", ""), priced("7568.64"));
    assert_eq!(monthly("io2:100GiB on aws/m7i.large", "us-east-1"), priced("92.584"));
    assert_eq!(monthly("io2:100GiB on aws/a1.large", "us-east-1"), ("19.00".to_owned(), "aws/a1.large".to_owned()));
}

#[test]
fn shapes_of_machines_are_known() {
    let shape = |config: &str| {
        let shape = create_offer(config, "").machine_shape().expect("it has a machine");
        let gib = shape.memory.map(|memory| memory.get() as f64 / 1_073_741_824.0);
        (shape.vcpus, gib, shape.network_bits_per_second, shape.volumes)
    };
    assert_eq!(shape("oci:100GB on oci/VM.Standard.E5.Flex:16ocpu"), (Some(32.0), Some(256.0), Some(16e9), Some(32)));
    assert_eq!(shape("aws/m7i.large"), (Some(2.0), Some(8.0), Some(0.65e9), Some(32)));
    assert_eq!(shape("azure/Standard_E8bds_v5"), (Some(8.0), Some(64.0), None, Some(16)));
    assert_eq!(shape("gcp/c4-highmem-8"), (Some(8.0), Some(62.0), None, Some(31)));
    assert_eq!(create_offer("oci:100GB", "").machine_shape(), None);
}

#[test]
fn disks_of_a_kind_share_the_limits_of_their_machine() {
    assert_eq!(find_iops("gcp/pd-balanced:1000GiB"), 9_000);
    // The base of 3,000 counts once.
    assert_eq!(find_iops("stripe(2,64KiB) of gcp/pd-balanced:1000GiB"), 15_000);
    assert_eq!(find_iops("stripe(8,64KiB) of gcp/pd-ssd:1000GiB"), 100_000);
    assert_eq!(find_iops("stripe(8,64KiB) of gcp/pd-ssd:1000GiB on gcp/n2-highmem-16"), 25_000);
    assert_eq!(find_iops("stripe(8,64KiB) of gcp/hyperdisk-balanced:1000GiB,iops=50000 on gcp/c3-highmem-22"), 120_000);
    // Azure has a cap for Ultra and Premium SSD v2 disks, and another for the rest.
    let eight = "on azure/Standard_E8bds_v5";
    assert_eq!(
        find_iops(&format!("stripe(4,64KiB) of azure/ultra:1024GiB,iops=40000,throughput=1000 {eight}")),
        44_200
    );
    assert_eq!(find_iops(&format!("stripe(16,64KiB) of azure/premium-ssd:P30 {eight}")), 33_000);
}

#[test]
fn everyday_machines_have_their_limits() {
    for (config, expected) in [
        ("stripe(4,64KiB) of gcp/pd-ssd:500GiB on gcp/n2-standard-4", 15_000),
        ("gcp/pd-ssd:500GiB on gcp/n1-standard-4", 15_000),
        ("gcp/pd-ssd:500GiB on gcp/e2-standard-4", 15_000),
        ("gcp/pd-balanced:5000GiB on gcp/h3-standard-88", 15_000),
        ("gcp/pd-ssd:500GiB on gcp/h3-standard-88", 15_000),
        ("gcp/hyperdisk-balanced:500GiB,iops=50000,throughput=300 on gcp/h3-standard-88", 15_000),
        ("gcp/pd-ssd:2000GiB on gcp/c2-standard-60", 30_000),
        ("gcp/pd-ssd:2000GiB on gcp/t2d-standard-16", 25_000),
        ("stripe(4,64KiB) of azure/premium-ssd:P30 on azure/Standard_D4s_v5", 6_400),
        ("stripe(4,64KiB) of azure/premium-ssd:P30 on azure/Standard_DS3_v2", 12_800),
        ("stripe(16,64KiB) of azure/premium-ssd:P30 on azure/Standard_E16as_v5", 25_600),
        ("azure/premium-ssd:P10 on azure/Standard_D4s_v3", 500),
        // The limits of the base size, with fewer processors.
        ("stripe(16,64KiB) of azure/premium-ssd:P30 on azure/Standard_E32-8s_v5", 51_200),
        ("oci:1000GB@20vpu on oci/VM.Standard.A2.Flex:2ocpu", 40_000),
        ("oci:2000GB@20vpu on oci/VM.DenseIO.E4.Flex:8ocpu", 50_000),
        ("oci:2000GB@20vpu on oci/VM.Standard.E2.2", 28_000),
        ("stripe(8,64KiB) of oci:1000GB@20vpu on oci/VM.DenseIO2.8", 160_000),
        // Without the word that all names of Azure begin with.
        ("stripe(4,64KiB) of azure/premium-ssd:P30 on azure/D4s_v5", 6_400),
        ("stripe(4,64KiB) of azure/premium-ssd:P30 on azure/ds3_v2", 12_800),
    ] {
        assert_eq!(find_iops(config), expected, "{config}");
    }
    let shape = create_offer("azure/Standard_E32-8s_v5", "eastus").machine_shape().unwrap();
    assert_eq!((shape.vcpus, shape.memory.map(|memory| memory.get() >> 30)), (Some(8.0), Some(256)));
}

#[test]
fn host_cache_has_limits_of_its_own() {
    let standing = |config: &str, reads: f64, block: Bytes| {
        let offer = create_offer(config, "");
        let standing = offer.standing(&Ask { block, reads, sequential: false });
        let binding = standing.binding().expect("a ceiling");
        (binding.iops.round(), (binding.bytes_per_second / 1e6).round())
    };
    let (kib, mib) = (Bytes::kib(4), Bytes::mib(1));
    let on = |cache: &str| format!("stripe(4,64KiB) of azure/premium-ssd:P30 on azure/Standard_D8s_v3{cache}");
    // The figures of Microsoft's example: 12,800 IOPS and 192 MB/s uncached, 16,000 and 128 cached.
    assert_eq!(standing(&on(""), 1.0, kib).0, 12_800.0);
    assert_eq!(standing(&on(""), 1.0, mib).1, 192.0);
    assert_eq!(standing(&on(":host_cache=hits"), 1.0, kib).0, 16_000.0);
    assert_eq!(standing(&on(":host_cache=hits"), 1.0, mib).1, 128.0);
    // Hits do not reach the disk, writes do, and misses count on both paths.
    assert_eq!(standing("azure/premium-ssd:P10 on azure/Standard_D8s_v3:hits", 1.0, kib).0, 16_000.0);
    assert_eq!(standing("azure/premium-ssd:P10 on azure/Standard_D8s_v3:hits", 0.0, kib).0, 500.0);
    assert_eq!(standing(&on(":hits"), 0.0, kib).0, 12_800.0);
    assert_eq!(standing(&on(":misses"), 1.0, kib).0, 12_800.0);
    assert_eq!(standing(&on(":misses"), 1.0, mib).1, 128.0);
    create_offer(&on(":hits"), "").model().unwrap();
    for (config, expected) in [
        ("azure/ultra:1024GiB,iops=4000,throughput=100 on azure/Standard_D8s_v5:hits", "have no host cache"),
        ("azure/premium-ssd:P30 on azure/Standard_L8s_v3:hits", "no cached limits of this machine"),
    ] {
        let refusal = try_offer(config, "").unwrap_err().to_string();
        assert!(refusal.contains(expected), "{config}: {refusal}");
    }
    assert!(doubts(&create_offer(&on(":hits"), "")).contains("counted as hits"));
}

#[test]
fn machine_may_be_described_by_its_limits() {
    let own = "machine(iops=12800, mbps=192, vcpus=8, memory=64GiB)";
    for volume in ["stripe(4,64KiB) of azure/premium-ssd:P30", "aws/io2:1000GiB,iops=20000", "oci:1000GB@20vpu"] {
        let offer = create_offer(&format!("{volume} on {own}"), "");
        let displayed = offer.config.to_string();
        assert!(displayed.ends_with(" on machine(iops=12800,mbps=192,vcpus=8,memory=64GiB)"), "{displayed}");
        assert!(offer.short().to_string().ends_with(" on machine(iops=12800,mbps=192,vcpus=8,memory=64GiB)"));
        let binding = offer.standing(&Ask { block: Bytes::kib(4), reads: 1.0, sequential: false });
        assert_eq!(binding.binding().unwrap().iops.round(), 12_800.0, "{volume}");
        let shape = offer.machine_shape().unwrap();
        assert_eq!((shape.vcpus, shape.memory, shape.volumes), (Some(8.0), Some(Bytes::gib(64)), None));
        assert!(offer.model_notation().unwrap().contains("limit(12800) \"IOPS of the machine\""));
    }
    assert_eq!(create_offer("machine(mbps=200)", "").config.to_string(), "machine(mbps=200)");
    for (config, expected) in [
        ("gp3:100GiB on machine(vcpus=8)", "name a limit of the machine"),
        ("gp3:100GiB on machine(speed=8)", "has no option \"speed\""),
        ("stripe(3,64KiB) of gp3:100GiB on machine(iops=100,volumes=2)", "the machine takes fewer volumes"),
        ("gp3:100GiB on machine(iops=0)", "iops is 0, and can be 1 to"),
    ] {
        let refusal = try_offer(config, "").unwrap_err().to_string();
        assert!(refusal.contains(expected), "{config}: {refusal}");
    }
}

#[test]
fn sizes_of_clouds_count_in_powers_of_1024() {
    for (config, expected) in [
        ("oci:32TB@0vpu", "oci/block-volume:32768GB,"),
        ("oci:1TB@10vpu", "oci/block-volume:1024GB,"),
        ("oci:1TiB", "oci/block-volume:1024GB,"),
        ("aws/gp3:1TB", "aws/gp3:1024GiB,"),
        ("aws/gp3:500GB", "aws/gp3:500GiB,"),
        ("azure/premium-ssd:1TB", "azure/premium-ssd:1024GiB,"),
        ("azure/2014:0.5TB", "azure/2014:512GB"),
        ("gcp/pd-ssd:2tb", "gcp/pd-ssd:2048GiB"),
        ("oci:size=1TB", "oci/block-volume:1024GB,"),
        ("aws/gp3:1T", "aws/gp3:1024GiB,"),
        ("oci:size=500G", "oci/block-volume:500GB,"),
        ("gcp/pd-ssd:2Ti", "gcp/pd-ssd:2048GiB"),
        ("oci:51200MB", "oci/block-volume:50GB,"),
        // Drives and arrays count in powers of 1,000.
        ("netapp/aff-a800:10TB", "netapp/aff-a800:10000GB,"),
    ] {
        let displayed = create_offer(config, "").config.to_string();
        assert!(displayed.starts_with(expected), "{config} is {displayed}");
    }
    // A P30.
    assert_eq!(find_iops("azure/premium-ssd:1TB"), 5_000);
    let refusal = try_offer("oci:33TB@0vpu", "").unwrap_err().to_string();
    assert!(refusal.contains("size is 33 TB (33,792 GB as the vendor counts)"), "{refusal}");
}

#[test]
fn ultra_high_performance_on_a_small_machine_has_one_path() {
    let on = |ocpu: u32| format!("oci:1500GB@120vpu on oci/VM.Standard.E4.Flex:{ocpu}ocpu");
    // One session of 32 commands of 669 us; then the network of 4 and of 2 Gb/s.
    assert_eq!(find_iops(&on(4)), 47_833);
    assert_eq!(find_iops(&on(2)), 40_000);
    assert_eq!(find_iops(&on(16)), 300_000);
    let small = create_offer(&on(4), "");
    assert!(doubts(&small).contains("is supported on virtual machines from 16 OCPUs"), "{}", doubts(&small));
    assert!(small.model_notation().unwrap().contains("window(32 on 1 paths: "));
    assert!(!doubts(&create_offer(&on(16), "")).contains("is supported on virtual machines"));
    assert_eq!(find_iops("oci:1500GB@120vpu on oci/BM.Standard.E4.128"), 300_000);
}

#[test]
fn lost_paths_leave_the_rates_of_the_others() {
    let bytes = |paths: u32| {
        let offer = create_offer(&format!("oci:1500GB@120vpu,active_paths={paths}"), "");
        let standing = offer.standing(&Ask { block: Bytes::mib(1), reads: 1.0, sequential: true });
        (standing.binding().unwrap().bytes_per_second / 1e6).round()
    };
    assert_eq!([5, 4, 3, 2, 1].map(bytes), [2_680.0, 2_680.0, 2_070.0, 1_380.0, 690.0]);
    let lost = create_offer("oci:1500GB@120vpu,active_paths=3", "");
    assert!(lost.model_notation().unwrap().contains("window(113 on 3 paths: link(1us, 690MB/s on 3 paths)"));
    assert!(doubts(&lost).contains("paths are lost"), "{}", doubts(&lost));
    assert!(try_offer("oci:1500GB@120vpu,active_paths=6", "").is_err());
    assert!(try_offer("oci:100GB@20vpu,active_paths=2", "").is_err(), "one path below 30 VPUs");
}

#[test]
fn machines_refuse_disks_that_they_do_not_take() {
    for (config, expected) in [
        ("gcp/pd-balanced:100GiB on gcp/c4-highmem-8", "pd-balanced cannot be attached to C4 and N4 machines"),
        ("gcp/hyperdisk-extreme:100GiB on gcp/c3-highmem-44", "Hyperdisk Extreme needs C3 from 88 vCPUs"),
        ("gcp/hyperdisk-balanced:100GiB on gcp/n2-highmem-8", "Hyperdisk Balanced on C2D, E2, N1, N2 and N2D"),
        ("stripe(8,64KiB) of gcp/hyperdisk-balanced:100GiB on gcp/c4-highmem-2", "the machine takes fewer Hyperdisk"),
        ("stripe(17,64KiB) of azure/ultra:1024GiB on azure/Standard_E8bds_v5", "the machine takes fewer data disks"),
    ] {
        let refusal = try_offer(config, "").err().unwrap_or_else(|| panic!("{config} is offered")).to_string();
        assert!(refusal.contains(expected), "{config}: {refusal}");
    }
}

#[test]
fn bounds_of_hyperdisk_follow_size_and_iops() {
    for (config, offered) in [
        ("gcp/hyperdisk-balanced:4GiB", true),
        ("gcp/hyperdisk-balanced:4GiB,iops=2001", false),
        ("gcp/hyperdisk-balanced:320GiB,iops=160000,throughput=625", true),
        ("gcp/hyperdisk-balanced:320GiB,iops=160000,throughput=624", false),
        ("gcp/hyperdisk-balanced:20GiB,iops=9600,throughput=2400", true),
        ("gcp/hyperdisk-balanced:20GiB,iops=9596,throughput=2400", false),
        ("gcp/hyperdisk-extreme:100GiB,iops=120000", true),
        ("gcp/hyperdisk-extreme:100GiB,iops=120001", false),
        ("gcp/hyperdisk-extreme:10000GiB,iops=19999", false),
    ] {
        assert_eq!(try_offer(config, "").is_ok(), offered, "{config}");
    }
}

#[test]
fn a_stripe_fails_with_any_of_its_volumes() {
    let rates = |config: &str| {
        let durability = create_offer(config, "").durability()?;
        let per_cent = |rate: f64| (rate * 1e5).round() / 1e3;
        Some((per_cent(durability.failure_rate_low), per_cent(durability.failure_rate_high)))
    };
    assert_eq!(rates("gp3:100GiB"), Some((0.1, 0.2)));
    assert_eq!(rates("stripe(8,64KiB) of gp3:100GiB"), Some((0.797, 1.589)));
    assert_eq!(rates("io2:100GiB"), Some((0.001, 0.001)));
    assert_eq!(rates("mirror(2) of gp3:100GiB"), None);
    assert_eq!(rates("sakura/sata-hdd"), None);
    // Eleven nines keep their digits.
    let ultra = create_offer("stripe(2,64KiB) of azure/ultra:100GiB", "").durability().unwrap().failure_rate_high;
    assert!((ultra / 2e-11 - 1.0).abs() < 1e-9, "{ultra}");
}

#[test]
fn a_stripe_is_available_with_all_of_its_volumes() {
    let levels = |config: &str| -> Vec<(ServiceSubject, f64, Option<f64>)> {
        let levels = create_offer(config, "").service_levels();
        levels.iter().map(|level| (level.of, (level.share * 1e6).round() / 1e6, level.amount)).collect()
    };
    let performance = (ServiceSubject::Performance, 0.99, Some(0.9));
    assert_eq!(levels("gp3:100GiB"), [(ServiceSubject::Availability, 0.999, None), performance]);
    // 0.999 to the fourth power.
    assert!((levels("stripe(4,64KiB) of gp3:100GiB")[0].1 - 0.996_006).abs() < 1e-9);
    assert_eq!(levels("mirror(2) of gp3:100GiB"), [performance]);
    // Lower Cost has no level of performance.
    assert_eq!((levels("oci:100GB@0vpu").len(), levels("oci:100GB@10vpu").len()), (1, 2));
}

#[test]
fn paths_over_iscsi_depend_on_the_configuration() {
    let facts = |config: &str| {
        let facts = create_offer(config, "").iscsi()?;
        Some((facts.vendor, facts.paths, facts.queue_depth, facts.controllers))
    };
    assert_eq!(facts("oci:1500GB@120vpu"), Some(("ORACLE".into(), Some(5), Some(128), 1)));
    assert_eq!(facts("oci:1500GB@120vpu,policy=failover"), Some(("ORACLE".into(), Some(5), Some(32), 1)));
    assert_eq!(facts("oci:1500GB@120vpu,queue_depth=64"), Some(("ORACLE".into(), Some(5), Some(64), 1)));
    assert_eq!(facts("oci:1500GB@20vpu"), Some(("ORACLE".into(), Some(1), Some(32), 1)));
    assert_eq!(facts("netapp/aff-a800"), Some(("NETAPP".into(), None, None, 2)));
    assert_eq!(facts("gp3:100GiB"), None);
}

#[test]
fn sharing_depends_on_the_configuration() {
    let hosts = |config: &str| create_offer(config, "").sharing().map(|sharing| (sharing.hosts, sharing.mode));
    assert_eq!(hosts("io2:100GiB"), Some((16, SharingMode::ReadWrite)));
    assert_eq!(hosts("gp3:100GiB"), None);
    assert_eq!(hosts("oci:100GB@20vpu"), Some((32, SharingMode::ReadWrite)));
    assert_eq!(hosts("oci:100GB@30vpu"), Some((8, SharingMode::ReadWrite)));
    assert_eq!(hosts("azure/premium-ssd:P40"), Some((5, SharingMode::ReadWrite)));
    assert_eq!(hosts("gcp/hyperdisk-ml:100GiB"), Some((2500, SharingMode::ReadOnly)));
    let catalogue = Catalogue::built_in();
    let shareable = |name: &str| catalogue.find(name).unwrap().shareable();
    assert!(shareable("gcp/hyperdisk-balanced") && shareable("oci") && !shareable("gp2"));
    assert!(!shareable("gcp/hyperdisk-ml") && !shareable("gcp/hyperdisk-extreme"));
}

#[test]
fn snapshots_have_a_price_of_their_own() {
    let price = |config: &str, region: &str| {
        create_offer(config, region).snapshot_price().map(|price| format!("{} {}", price.each.exact(), price.per))
    };
    assert_eq!(price("gp3:100GiB", "us-east-1").as_deref(), Some("0.05 GiB-month"));
    assert_eq!(price("gcp/pd-ssd:100GiB", "asia-northeast1").as_deref(), Some("0.064 GiB-month"));
    assert_eq!(price("oci:100GB", "").as_deref(), Some("0.0255 GB-month"));
    assert_eq!(price("sakura/sata-hdd", ""), None);
}

#[test]
fn a_single_path_is_offered_with_a_doubt() {
    const SINGLE: &str = "over a single path";
    assert!(!doubts(&create_offer("oci:1500GB@120vpu", "")).contains(SINGLE));
    assert!(doubts(&create_offer("oci:1500GB@120vpu,multipath=no", "")).contains(SINGLE));
    assert!(doubts(&create_offer("oci:1500GB@120vpu,policy=failover", "")).contains(SINGLE));
    assert!(!doubts(&create_offer("oci:1500GB@20vpu,multipath=no", "")).contains(SINGLE));
    assert_eq!(find_iops("oci:1500GB@120vpu"), 300_000);
    assert_eq!(find_iops("oci:1500GB@120vpu,multipath=no"), 47_833);
}

#[test]
fn old_prices_are_doubtful() {
    let aged = |config: &str, as_of: &str, currency: &str| {
        let terms = PriceTerms { as_of: as_of.parse().unwrap(), currency: currency.parse().ok(), region: None };
        let price = Catalogue::built_in().offer(&config.parse().unwrap(), &terms).unwrap().price().unwrap();
        (price.age_days(), price.doubts().iter().any(|doubt| doubt.text.contains("days old")))
    };
    assert_eq!(aged("oci:100GB", "2026-11-23", "USD"), (Some(60), false));
    assert_eq!(aged("oci:100GB", "2027-03-23", "USD"), (Some(MAX_PRICE_AGE_DAYS), false));
    assert_eq!(aged("oci:100GB", "2027-03-24", "USD"), (Some(MAX_PRICE_AGE_DAYS + 1), true));
    assert_eq!(aged("oci:100GB", "2026-11-23", "JPY"), (Some(723), true));
    // A source without a date has no age.
    assert_eq!(aged("oci:100GB", "2026-11-23", "EUR"), (None, false));
}

#[test]
fn a_server_has_the_model_of_the_drive_that_holds_its_data() {
    let model = |config: &str| {
        let notation = create_offer(config, "").model_notation().unwrap();
        plimsoll_model::parse(&notation).unwrap_or_else(|error| panic!("{config}: {error}"))
    };
    for (storage, drive) in
        [("sata-hdd", "sakura/sata-hdd"), ("sas-hdd", "sakura/sas-hdd"), ("ssd", "intel-dc-s3500-240")]
    {
        assert_eq!(model(&format!("sakura/server:storage={storage}")), model(drive), "{storage}");
    }
    // The ioDrive is behind its driver, which works on the processors of the host.
    let card = create_offer("iodrive-320", "").model_notation().unwrap();
    let behind = format!("split(read: station(1, 51us) \"driver on the host\"; write: ; flush: ) then {card}");
    assert_eq!(model("sakura/server:storage=sata-hdd-iodrive"), plimsoll_model::parse(&behind).unwrap());
}

/// A disk positions and then transfers: at 104.1 operations a second and 123 MB/s, 1 MiB takes 9.6 and 8.5 ms.
#[test]
fn times_of_an_added_limit_follow_each_other() {
    for (block, expected) in [(Bytes::new(512), 104.1), (Bytes::mib(1), 55.2)] {
        let standing = create_offer("generic/hdd-7200", "").standing(&Ask { block, reads: 1.0, sequential: false });
        let iops = standing.binding().expect("a ceiling").iops;
        assert!((iops - expected).abs() < 0.1, "{block}: {iops}");
    }
}

#[test]
fn operations_of_a_volume_of_oci_pass_its_limits_in_pieces() {
    let notation = |config: &str| create_offer(config, "").model_notation().unwrap();
    let volume = notation("oci:600GB@0vpu on oci/VM.Standard.E5.Flex:2ocpu");
    assert!(volume.starts_with("pieces(192KiB: limit(1200 per 256KiB) \"IOPS that the size gives"), "{volume}");
    assert_eq!(volume.matches("pieces(192KiB: ").count(), 2, "those of the machine, too: {volume}");
    let array = notation("stripe(2,64KiB) of oci:600GB@20vpu on oci/VM.Standard.E5.Flex:8ocpu");
    assert!(
        array.starts_with("pieces(192KiB: limit(") && array.contains("stripe(2, 64KiB: pieces(192KiB: "),
        "{array}"
    );
    assert!(create_offer("oci:600GB@20vpu", "").limits().unwrap().to_string().starts_with("pieces(192KiB: "));
    assert!(!notation("aws/gp3:600GiB").contains("pieces("));
}

#[test]
fn terms_of_charges_add_up_to_their_cost() {
    let configs = [
        ("gp3:500GiB,iops=5000", "us-east-1"),
        ("io2:500GiB,iops=70000", "us-east-1"),
        ("stripe(2,64KiB) of oci:641GB on oci/VM.Standard.E5.Flex:ocpu=4,memory=64", ""),
        ("gcp/hyperdisk-balanced:500GiB,iops=6000", "us-central1"),
        ("azure/premium-ssd:P30", "eastus"),
    ];
    for (config, region) in configs {
        let price = create_offer(config, region).price().unwrap();
        for part in &price.parts {
            let cost = |term: &plimsoll_catalogue::ChargeTerm| {
                term.quantity * term.unit_price.parse::<f64>().unwrap() * term.hours.unwrap_or(1.0)
            };
            let sum: f64 = part.terms.iter().map(cost).sum();
            assert!(!part.terms.is_empty() && (sum - part.money.as_f64()).abs() < 1e-5, "{config}: {part:?}");
            let quantity: f64 = part.terms.iter().map(|term| term.quantity).sum();
            assert!((quantity - part.quantity).abs() < 1e-6, "{config}: {part:?}");
        }
        let graduated = price.parts.iter().any(|part| part.terms.len() > 1);
        assert_eq!(graduated, config.starts_with("io2"), "{config}");
    }
}
