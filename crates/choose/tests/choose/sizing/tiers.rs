//! Tiers from a report of devices.

use plimsoll_catalogue::Catalogue;
use plimsoll_choose::sizing::Search;
use plimsoll_choose::what_if::{NoTiers, Tiers, tiers};
use plimsoll_ingest::{Demand, Ingest, Outcome, Reading};

use crate::sizing::support::{plain, terms};

/// Tiers of devices with these reads of 8 KiB per second, in the format of iostat.
fn parted(reads: &[(&str, u32)]) -> Result<Tiers, NoTiers> {
    let head = "Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz aqu-sz %util";
    let line = |(name, rate): &(&str, u32)| {
        format!("{name} {rate}.00 {}.00 0.00 0.00 1.00 8.00 0.00 0.00 0.00 0.00 0.00 0.00 0.10 9.00\n", rate * 8)
    };
    let report = format!("{head}\n{}\n", reads.iter().map(line).collect::<String>()).repeat(4);
    let mut ingest = Ingest::new("iostat");
    ingest.feed(report.as_bytes());
    let outcomes = ingest.finish();
    let readings: Vec<&Reading> = outcomes.iter().filter_map(Outcome::reading).collect();
    let demand = Demand::of(&readings);
    let catalogue = Catalogue::built_in();
    let search = Search { widest: 1, ..Search::among(&catalogue, &["aws/gp3".to_owned()]).unwrap() };
    tiers(&catalogue, &terms(), &search, &readings, (&demand.subjects[0], &plain()))
}

#[test]
fn the_busiest_parts_are_hot_and_capacity_is_shared() {
    let found = parted(&[("sda", 9_000), ("sdb", 100), ("sdc", 100), ("sdd", 100)]).unwrap();
    assert_eq!(found.parts, 4);
    let split = &found.splits[0];
    assert_eq!(split.hot_parts[0], "sda");
    assert_eq!(split.hot.0.capacity.get() + split.cold.0.capacity.get(), plain().capacity.get());
    let iops = split.hot.0.points[0].iops() + split.cold.0.points[0].iops();
    assert!((iops - 9_300.0).abs() < 1.0, "{iops}");
    assert!(found.splits.is_sorted_by_key(|split| split.sum.map(|sum| sum.millionths)));
}

#[test]
fn a_single_part_cannot_be_divided() {
    assert_eq!(parted(&[("sda", 500)]).err(), Some(NoTiers::OnePart));
}
