//! The configurations in the glossary are valid.

use plimsoll_catalogue::{Catalogue, Config, PriceTerms};

const GLOSSARY: &str = include_str!("../../../../GLOSSARY.md");
/// A file of the user.
const OWN: &str = "./mine.toml:1TB";

#[test]
fn every_example_has_an_offer() {
    let catalogue = Catalogue::built_in();
    let terms = PriceTerms { as_of: "2026-11-01".parse().unwrap(), currency: None, region: None };
    let entry = GLOSSARY.split("### Configuration\n").nth(1).expect("an entry").split("\n### ").next().unwrap();
    let rows = entry.lines().filter(|line| line.starts_with("| `"));
    let examples: Vec<&str> =
        rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2)).collect();
    assert!(examples.len() > 10, "{examples:?}");
    for example in examples {
        let config: Config = example.parse().unwrap_or_else(|error| panic!("{error}"));
        if example != OWN {
            catalogue.offer(&config, &terms).unwrap_or_else(|refusal| panic!("{example}: {refusal}"));
        }
    }
}
