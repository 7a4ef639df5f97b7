//! Smallest configurations of real products, derived by hand from their published rules.

use plimsoll_catalogue::{Ask, Date};

use super::*;

/// The short forms of all offers of `product` for `iops` reads of `block` and at least `capacity`.
fn climbed(product: &str, iops: u64, block: Bytes, capacity: Bytes) -> Result<Vec<String>, NoConfiguration> {
    let catalogue = Catalogue::built_in();
    let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
    let requirements = Requirements::of([vec![(Ask { block, reads: 1.0, sequential: false }, iops as f64)]]);
    let (terms, rooms) = (&terms, &ROOM);
    let goal = Goal {
        catalogue: &catalogue,
        terms,
        requirements: &requirements,
        capacity,
        rooms,
        machine: None,
        monthly_operations: None,
        settings: &[],
    };
    let found = list_offers(&goal, catalogue.find(product).unwrap())?;
    Ok(found.iter().map(|offer| offer.short().to_string()).collect())
}

/// Reads of 4 KiB with a capacity of 100 GiB.
fn check(product: &str, iops: u64, expected: &[&str]) {
    assert_eq!(climbed(product, iops, Bytes::kib(4), Bytes::gib(100)).unwrap(), expected, "{product} {iops}");
}

#[test]
fn a_sufficient_configuration_stays_unchanged() {
    // Every gp3 includes 3,000 IOPS.
    check("aws/gp3", 2_000, &["aws/gp3:100GiB"]);
}

#[test]
fn the_option_that_binds_is_raised_with_room_above_the_need() {
    check("aws/gp3", 10_000, &["aws/gp3:100GiB,iops=11000", "aws/gp3:100GiB,iops=14000"]);
    // 3 IOPS for each GiB.
    check("aws/gp2", 6_000, &["aws/gp2:2200GiB", "aws/gp2:2800GiB"]);
}

#[test]
fn a_load_beyond_one_volume_is_striped() {
    // 16,000 IOPS are the maximum of a volume.
    check("aws/gp2", 20_000, &["stripe(2,64KiB) of aws/gp2:3667GiB", "stripe(2,64KiB) of aws/gp2:4667GiB"]);
    let refused = climbed("aws/sc1", 5_000, Bytes::kib(4), Bytes::gib(500)).unwrap_err();
    assert_eq!(refused, NoConfiguration::Ceilings(8));
}

#[test]
fn two_limits_are_raised_one_after_the_other() {
    // 11,000 reads of 64 KiB are 687.5 MiB/s. Each IOPS allows 0.25 MiB/s, so 875 MiB/s need more IOPS first.
    let found = climbed("aws/gp3", 10_000, Bytes::kib(64), Bytes::gib(100)).unwrap();
    assert_eq!(found, ["aws/gp3:100GiB,iops=11000,throughput=688", "aws/gp3:100GiB,iops=14000,throughput=875"]);
}

#[test]
fn a_size_is_raised_if_other_options_depend_on_it() {
    // Each GiB allows 500 IOPS: 10 GiB suffice for the data, but 6,600 IOPS need 14.
    let found = climbed("aws/gp3", 6_000, Bytes::kib(4), Bytes::gib(10)).unwrap();
    assert_eq!(found, ["aws/gp3:14GiB,iops=6600", "aws/gp3:17GiB,iops=8400"]);
}

#[test]
fn every_level_is_tried() {
    // At VPU 20 a GB has 75 IOPS: 9,900 and 12,600 need 132 and 168. At VPU 0 it has 2.
    let found = climbed("oci/block-volume", 9_000, Bytes::kib(4), Bytes::gib(100)).unwrap();
    for expected in ["132GB,vpu=20", "168GB,vpu=20", "110GB,vpu=30", "100GB,vpu=40", "100GB,vpu=120"] {
        assert!(found.contains(&format!("oci/block-volume:{expected}")), "{expected} in {found:?}");
    }
    let mut once = found.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), found.len(), "no duplicates");
}

#[test]
fn a_tier_is_chosen_where_the_size_alone_does_not_choose_it() {
    let found = climbed("azure/premium-ssd", 4_000, Bytes::kib(4), Bytes::gib(100)).unwrap();
    // A P30 has 5,000 IOPS; a disk of 513 GiB is a P30.
    assert!(found.contains(&"azure/premium-ssd:513GiB".to_owned()), "{found:?}");
    assert!(found.contains(&"azure/premium-ssd:100GiB,P30".to_owned()), "{found:?}");
}

#[test]
fn an_oversized_capacity_is_refused_with_a_reason() {
    let refused = climbed("aws/gp3", 2_000, Bytes::kib(4), Bytes::gib(100_000)).unwrap_err();
    assert_eq!(refused, NoConfiguration::Capacity(Bytes::gib(100_000)));
}
