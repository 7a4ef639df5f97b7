//! Lifts, matches and trials on the built-in catalogue.

use plimsoll_catalogue::{Ask, Catalogue, Date, PriceTerms};
use plimsoll_choose::{Need, matching, quote, trial};
use plimsoll_load::{Arrival, BlockMix, Mix, Pace, Pattern, Region, StreamSpec};
use plimsoll_model::parse;
use plimsoll_units::{Bytes, Iops};

fn build_terms() -> PriceTerms {
    PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None }
}

fn stream(reads: f64, space: Bytes, pace: Pace) -> StreamSpec {
    let mix = Mix { sizes: BlockMix::one(Bytes::kib(8)), reads, durable: false, flush_every: 0 };
    StreamSpec { name: "data".into(), mix, pattern: Pattern::Uniform, region: Region::first(space), pace }
}

fn build_need(iops: u64, objective: &str, capacity: Bytes) -> Need {
    let pace = Pace::Open { rate: Iops::per_second(iops), arrival: Arrival::Poisson };
    Need {
        streams: vec![stream(0.7, capacity, pace)],
        iops: iops as f64,
        objective: objective.parse().expect("an objective"),
        capacity,
    }
}

/// Lifts as `OPTION FROM to TO: IOPS at + COST`.
fn lifts(config: &str, ask: &Ask) -> Vec<String> {
    let terms = PriceTerms { region: Some("us-east-1".into()), ..build_terms() };
    let quoted = quote(&Catalogue::built_in(), &config.parse().expect("a configuration"), &terms, ask);
    let quoted = quoted.expect("a valid configuration");
    let cost = |lift: &plimsoll_choose::Lift| lift.costs.map_or("?".into(), |costs| costs.to_string());
    let show = |lift: &plimsoll_choose::Lift| {
        format!("{} {} to {}: {:.0} at + {}", lift.option, lift.change.0, lift.change.1, lift.iops, cost(lift))
    };
    quoted.lifts.iter().map(show).collect()
}

#[test]
fn a_lift_is_the_smallest_change_after_which_another_limit_binds() {
    let ask = Ask { block: Bytes::kib(4), reads: 1.0, sequential: false };
    // 120 IOPS per GB up to the level's 125,000: 1,042 GB.
    let oci = lifts("oci:256GB@50vpu", &ask);
    assert_eq!(oci[0], "vpu 50 to 60: 34560 at + 4.35 USD");
    assert_eq!(oci[1], "size 256 to 1042: 125000 at + 86.85 USD");
    // 125 MiB/s are 32,000 operations of 4 KiB.
    assert_eq!(lifts("aws/gp3:500GiB,iops=12000", &ask)[0], "iops 12000 to 32000: 32000 at + 100.00 USD");
}

#[test]
fn a_lift_takes_defaults_that_follow_the_option() {
    // At 30 VPUs and more the attachment has five paths: the single path of 0 VPUs is no limit there.
    let ask = Ask { block: Bytes::kib(4), reads: 1.0, sequential: false };
    let vpus = &lifts("oci:32TB@0vpu", &ask)[0];
    assert!(vpus.starts_with("vpu 0 to 10: 25000 at + "), "{vpus}");
}

#[test]
fn a_lift_without_another_limit_is_the_maximum() {
    let ask = Ask { block: Bytes::kib(4), reads: 1.0, sequential: false };
    // 3 per GiB, at most 16,000: 5,334 GiB.
    assert_eq!(lifts("aws/gp2:1024GiB", &ask), ["size 1024 to 5334: 16000 at + 431.00 USD"]);
}

#[test]
fn a_lift_goes_as_far_as_the_machine_allows() {
    let ask = Ask { block: Bytes::kib(4), reads: 1.0, sequential: false };
    // 30 VPUs and more need 16 OCPUs.
    let oci = lifts("oci:100GB@10vpu on oci/VM.Standard.E4.Flex:8ocpu", &ask);
    assert_eq!(oci[0], "vpu 10 to 20: 7500 at + 1.70 USD");
}

#[test]
fn a_lift_goes_as_far_as_other_options_allow() {
    let ask = Ask { block: Bytes::kib(4), reads: 1.0, sequential: false };
    let terms = PriceTerms { region: Some("us-central1".into()), ..build_terms() };
    let config = "gcp/hyperdisk-balanced:1000GiB,iops=20000,throughput=600".parse().expect("a configuration");
    let quoted = quote(&Catalogue::built_in(), &config, &terms, &ask).expect("a valid configuration");
    // 256 IOPS for each MiB/s, below the 160,000 of the option.
    assert_eq!(quoted.lifts[0].change, ("20000".into(), "153600".into()));
    assert!((quoted.lifts[0].iops - 153_600.0).abs() < 1.0, "{}", quoted.lifts[0].iops);
}

#[test]
fn a_component_without_a_price_makes_the_cost_of_a_lift_unknown() {
    let ask = Ask { block: Bytes::kib(4), reads: 1.0, sequential: false };
    let tiers = lifts("aws/rds-postgres:500GiB,db.t3.medium", &ask);
    assert_eq!(tiers, ["tier db.t3.medium to db.m5.2xlarge: 12000 at + ?"]);
}

#[test]
fn a_larger_machine_costs_more() {
    let ask = Ask { block: Bytes::kib(4), reads: 1.0, sequential: false };
    let oci = lifts("stripe(4,64KiB) of oci:256GB@20vpu on oci/VM.Standard.E4.Flex:2ocpu", &ask);
    // Two more OCPUs at 0.025 an hour, and the memory that they have by default, 32 GB at 0.0015.
    assert_eq!(oci, ["ocpu 2 to 4: 76800 at + 71.54 USD"]);
}

#[test]
fn suitable_offers_suffice_and_are_sorted_by_price() {
    let need = build_need(5_000, "p99<=5ms", Bytes::gib(200));
    let found = matching(&Catalogue::built_in(), &need, &build_terms(), 8);
    assert_eq!(found.suitable.len(), 8);
    let prices: Vec<f64> =
        found.suitable.iter().filter_map(|offer| Some(offer.price.as_ref()?.monthly.as_f64())).collect();
    assert!(prices.is_sorted() && prices.len() > 3, "{prices:?}");
    for suitable in &found.suitable {
        let (name, ceiling) = suitable.binds.as_ref().expect("clouds have ceilings");
        assert!(*ceiling >= 5_500.0, "{name}: {ceiling}");
        assert!(
            suitable.reached <= need.objective.limit && suitable.offer.capacity >= need.capacity,
            "{}",
            suitable.offer.config
        );
    }
    assert!(found.rejected.iter().any(|rejected| rejected.name == "aws/sc1"), "{:?}", found.rejected);
}

#[test]
fn an_unreachable_objective_has_no_suitable_offer() {
    let found = matching(&Catalogue::built_in(), &build_need(1_000, "p99<=1us", Bytes::gib(100)), &build_terms(), 8);
    assert!(found.suitable.is_empty());
    assert!(!found.nearly.is_empty(), "their ceilings suffice");
}

#[test]
fn a_trial_of_several_streams_counts_the_leading_stream() {
    let model = parse("station(1, 1ms)").expect("a model");
    let data = stream(1.0, Bytes::gib(1), Pace::Closed { depth: 15 });
    let redo = StreamSpec { name: "redo".into(), ..stream(0.0, Bytes::gib(1), Pace::Closed { depth: 1 }) };
    let figures = trial(&model, &[data, redo], 10_000, 1).expect("it fits");
    assert!((figures.iops / 937.5 - 1.0).abs() < 0.02, "15 of 16 operations: {}", figures.iops);
    assert!((figures.mean_ns() / 16e6 - 1.0).abs() < 0.02, "{}", figures.mean_ns());
}

/// The slice after the last arrival contains only the operations in flight at the end, which are fewer than those of a
/// slice: with it, the rate would be 4 % lower.
#[test]
fn rates_of_a_trial_end_with_its_arrivals() {
    let model = parse("station(1024, 5ms)").expect("a model");
    let rate = Iops::from_f64(9_999.7);
    let data = stream(1.0, Bytes::gib(1), Pace::Open { rate, arrival: Arrival::Constant });
    let figures = trial(&model, &[data], 4_000, 1).expect("it fits");
    assert!((figures.iops / rate.as_f64() - 1.0).abs() < 1e-3, "{}", figures.iops);
    assert!(!figures.overloaded);
}

#[test]
fn a_larger_size_may_be_cheaper_than_a_higher_tier() {
    // P40 costs 259.05 USD; above 512 GiB a P30 has 8,000 IOPS for 135.17.
    let found = matching(&Catalogue::built_in(), &build_need(5_000, "p99<=20ms", Bytes::gib(466)), &build_terms(), 12);
    let premium = found.suitable.iter().find(|suitable| suitable.offer.config.volume.product == "azure/premium-ssd");
    let price = premium.and_then(|suitable| suitable.price.as_ref()).expect("a suitable offer with a price");
    assert_eq!(price.monthly.to_string(), "135.17 USD");
}
