//! Generic products against the published drives that they stand for: the model is within the range of the drives at every
//! depth, and near their median at the lowest and the highest depth.

use plimsoll_catalogue::{Ask, Catalogue, Config, Date, Offer, PriceTerms, TypicalRange};
use plimsoll_units::Span;

use crate::agreement::saturated_model;
use crate::closed::closed_rate;

/// Largest accepted difference from the median at the lowest and the highest depth.
const TOLERANCE: f64 = 0.10;
/// Operations of a simulation at depth 1.
const OPERATIONS: f64 = 4_000.0;

/// Burst credits of the simulated drive.
#[derive(Clone, Copy)]
enum Credits {
    Full,
    Spent,
}

/// Configurations that stand for published drives.
const CONFIGURATIONS: [(&str, Credits); 7] = [
    ("generic/hdd-7200", Credits::Spent),
    ("generic/hdd-10000", Credits::Spent),
    ("generic/hdd-15000", Credits::Spent),
    ("generic/sata-ssd", Credits::Spent),
    ("generic/sata-ssd:state=fresh", Credits::Full),
    ("generic/nvme-tlc", Credits::Spent),
    ("generic/nvme-qlc", Credits::Spent),
];

fn create_offer(catalogue: &Catalogue, config: &str) -> Offer {
    let terms = PriceTerms { as_of: Date::day(2026, 11, 23), currency: None, region: None };
    let config: Config = config.parse().expect("a configuration");
    catalogue.offer(&config, &terms).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn simulated(offer: &Offer, credits: Credits, ask: &Ask, range: &TypicalRange) -> f64 {
    let spec = match credits {
        Credits::Full => offer.model().unwrap_or_else(|error| panic!("{error}")),
        Credits::Spent => saturated_model(offer, ask.block),
    };
    let operations = OPERATIONS * f64::from(range.depth).sqrt();
    closed_rate(&spec, ask, range.depth, offer.capacity, Span::from_secs_f64(operations / range.median))
}

/// `cargo test -p plimsoll-choose typical -- --nocapture` prints the table.
#[test]
fn generic_products_are_typical_of_published_drives() {
    let catalogue = Catalogue::built_in();
    let mut faults = Vec::new();
    println!("| product | load | depth | published | median | simulated |\n|---|---|---:|---:|---:|---:|");
    for (config, credits) in CONFIGURATIONS {
        let offer = create_offer(&catalogue, config);
        let loads = offer.typical();
        assert!(!loads.is_empty(), "{config} stands for no published drives");
        for load in loads {
            let words = if load.ask.reads > 0.0 { "reads" } else { "writes" };
            let ends = [load.ranges.first(), load.ranges.last()].map(|range| range.map(|range| range.depth));
            for range in &load.ranges {
                let TypicalRange { depth, lowest, median, highest, .. } = *range;
                let rate = simulated(&offer, credits, &load.ask, range);
                println!("| {config} | {words} | {depth} | {lowest} to {highest} | {median} | {rate:.1} |");
                let is_typical = !ends.contains(&Some(depth)) || (rate / median - 1.0).abs() <= TOLERANCE;
                if !is_typical || !(lowest..=highest).contains(&rate) {
                    faults.push(format!(
                        "{config}, {words}, depth {depth}: {rate:.1}, not {median} ({lowest} to {highest})"
                    ));
                }
            }
        }
    }
    let generic = catalogue.products().filter(|product| product.name().starts_with("generic/"));
    assert!(generic.into_iter().all(|product| !product.typical().is_empty()), "a generic product stands for no drives");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
