//! `docs/catalogue.md`: the example is sound, and all keys are described.
//!
//! The list of keys is taken from the messages of the parser.

use plimsoll_catalogue::{Catalogue, Config, PriceTerms, check_product};

const PAGE: &str = include_str!("../../../../docs/catalogue.md");

/// The first TOML block.
fn example() -> &'static str {
    let rest = PAGE.split_once("```toml\n").expect("the page has an example").1;
    rest.split_once("```").expect("the example ends").0
}

/// Complaints about a text, a line each.
fn complaints(text: &str) -> String {
    check_product("san.toml", text, &|_| None).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Known keys at the position where `plant` inserts an unknown key.
fn known_keys(plant: impl Fn(&str) -> String) -> Vec<String> {
    let found = complaints(&plant("planted = 1"));
    let (_, list) = found.split_once("has no key \"planted\": ").unwrap_or_else(|| panic!("no complaint: {found:?}"));
    list.lines().next().unwrap_or_default().split(", ").map(str::to_owned).collect()
}

/// Text below a heading, up to the next.
fn section(heading: &str) -> &'static str {
    let start = PAGE.find(&format!("\n### {heading}\n")).unwrap_or_else(|| panic!("no heading {heading:?}"));
    let rest = &PAGE[start + 4..];
    &rest[..rest.find("\n#").unwrap_or(rest.len())]
}

#[track_caller]
fn describes(heading: &str, keys: &[String]) {
    // Described once for all entries.
    const EVERYWHERE: [&str; 4] = ["source", "date", "status", "note"];
    for key in keys.iter().filter(|key| !EVERYWHERE.contains(&key.as_str())) {
        assert!(section(heading).contains(&format!("\n| `{key}` |")), "docs/catalogue.md: {heading} lacks {key}");
    }
}

#[test]
fn example_is_valid_and_can_be_quoted_and_simulated() {
    assert_eq!(complaints(example()), "");
    let mut catalogue = Catalogue::built_in();
    catalogue.add("san.toml", example(), &|_| None).expect("it is sound");
    let config: Config = "stripe(2,64KiB) of san:4TiB,class=gold".parse().unwrap();
    let terms = PriceTerms { as_of: "2026-11-21".parse().unwrap(), currency: None, region: None };
    let offer = catalogue.offer(&config, &terms).unwrap();
    assert_eq!(offer.price().unwrap().monthly.to_string(), "760.00 EUR");
    offer.model().unwrap();
}

#[test]
fn every_key_is_described() {
    describes("The head of the file", &known_keys(|key| format!("{key}\n{}", example())));
    for (mark, heading) in [
        ("[default]", "`[default]`"),
        ("[sources.agreement]", "`[sources.NAME]`"),
        ("[options.size]", "`[options.NAME]`"),
        ("[[figure]]", "`[[figure]]`"),
        ("[[limit]]", "`[[limit]]`"),
        ("[[rule]]", "`[[rule]]`"),
        ("[[latency]]", "`[[latency]]`"),
        ("[model]", "`[model]`"),
        ("[[price]]", "`[[price]]`"),
        ("[[price.part]]", "`[[price.part]]`"),
        ("[[published]]", "`[[published]]`"),
        ("[[warning]]", "`[[warning]]`"),
    ] {
        assert!(example().contains(mark), "the example has no {mark}");
        describes(heading, &known_keys(|key| example().replacen(mark, &format!("{mark}\n{key}"), 1)));
    }
    let tiers = "columns = [\"name\"]\nrows = [[\"a\"]]";
    describes("`[tiers]`", &known_keys(|key| format!("{}\n[tiers]\n{key}\n{tiers}", example())));
    let machine = "product = \"own\"\nkind = \"machine\"\ntitle = \"own\"\n[machines]\nsource = \"s\"\ndate = \"2026\"\n\
                   status = \"verified\"\ncolumns = [\"name\"]\nrows = [[\"a\"]]";
    describes("`[machines]`", &known_keys(|key| format!("{machine}\n{key}\n[sources.s]\ntitle = \"s\"\n")));
    for (heading, keys) in [
        ("`[managed]`", "[managed]\nPLANTED\nengines = [\"oracle\"]\nprovides = \"it works\"\nleaves = \"the rest\""),
        ("`[durability]`", "[durability]\nPLANTED\nannual_failure_rate = 0.001"),
        ("`[[service_level]]`", "[[service_level]]\nPLANTED\nof = \"availability\"\nshare = 0.999"),
        ("`[[sharing]]`", "[[sharing]]\nPLANTED\nhosts = 2\nmode = \"read-only\""),
        ("`[iscsi]`", "[iscsi]\nPLANTED\nvendor = \"a\"\nmodel = \"b\"\nrevision = \"1\""),
        ("`[[deviation]]`", "[[deviation]]\nPLANTED\nloads = [\"random read\"]\nwhy = \"why\""),
        ("`[[typical]]`", "[[typical]]\nPLANTED\nkinds = \"read\"\nblock = \"4KiB\""),
        (
            "`[[typical.drive]]`",
            "[[typical]]\nkinds = \"read\"\nblock = \"4KiB\"\n[[typical.drive]]\nPLANTED\nname = \"a\"\niops = { 1 = 2 }",
        ),
    ] {
        describes(heading, &known_keys(|key| format!("{}\n{}", example(), keys.replace("PLANTED", key))));
    }
    for (heading, keys) in [
        ("`[[billed]]`", "[[billed]]\nPLANTED\nname = \"a\"\nquantity = \"1\""),
        ("`[billed_snapshot]`", "[billed_snapshot]\nPLANTED\nmeter = \"a\"\nunit = \"GiB\""),
    ] {
        describes(heading, &known_keys(|key| format!("{}\n{}", example(), keys.replace("PLANTED", key))));
    }
    let snapshot = "[price.snapshot]\nPLANTED\nper = \"TiB-month\"\namount = \"1\"\n[[published]]";
    describes(
        "`[price.snapshot]`",
        &known_keys(|key| example().replacen("[[published]]", &snapshot.replace("PLANTED", key), 1)),
    );
}
