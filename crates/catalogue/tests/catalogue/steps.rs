//! Transitions between offers, and limits of machines, with the built-in catalogue.
#![allow(clippy::unwrap_used)] // a test's failure is a panic

use plimsoll_catalogue::{Catalogue, Config, Offer, PriceTerms, Setting};

fn offer(config: &str) -> Offer {
    let terms = PriceTerms { as_of: "2026-11-21".parse().unwrap(), currency: None, region: None };
    let config: Config = config.parse().unwrap();
    Catalogue::built_in().offer(&config, &terms).unwrap_or_else(|refusal| panic!("{refusal}"))
}

#[test]
fn changes_that_need_a_detached_volume_cite_their_source() {
    let check = |from: &str, to: &str, expected: bool| {
        let reported = offer(from).detached_only(&offer(to));
        assert_eq!(reported.is_some(), expected, "{from} to {to}: {reported:?}");
        reported.map(|why| why.to_string())
    };
    check("oci:50GB@0vpu", "oci:50GB@20vpu", false);
    check("oci:50GB@30vpu", "oci:100GB@30vpu", false);
    check("oci:50GB@30vpu", "gp3:50GiB", false);
    check("gp3:50GiB", "gp3:50GiB,iops=16000", false);
    check("oci:50GB@30vpu", "oci:50GB@40vpu", true);
    check("oci:50GB@30vpu", "oci:50GB@20vpu", true);
    let why = check("oci:50GB@20vpu", "oci:50GB@30vpu", true).unwrap();
    assert!(why.starts_with("vpu goes from or to 30 and more on a detached volume only [OCI Ultra High"), "{why}");
}

#[test]
fn settings_take_the_place_of_those_before() {
    let check = |from: &str, settings: &[Setting], expected: &str| {
        let config = offer(from).with(settings);
        assert_eq!(offer(&config.to_string()).short().to_string(), expected);
    };
    let option = |name: &str, value: &str| Setting::Option { name: name.into(), value: value.into() };
    check("oci:50GB@0vpu", &[option("vpu", "20")], "oci/block-volume:50GB,vpu=20");
    check("stripe(2,64KiB) of gp3:50GiB", &[option("iops", "16000")], "stripe(2,64KiB) of aws/gp3:50GiB,iops=16000");
    check("azure/premium-ssd:P30", &[Setting::Word("P40".into())], "azure/premium-ssd:1024GiB,P40");
    let holding = |from: &str, bytes: u64| offer(from).holding(bytes).map(|config| config.to_string());
    assert_eq!(holding("oci:50GB@0vpu", (60 << 30) + 1).as_deref(), Some("oci/block-volume:vpu=0,61GB"));
    assert_eq!(holding("stripe(2) of gp3:1GiB", 10 << 30).as_deref(), Some("stripe(2,64KiB) of aws/gp3:5GiB"));
    assert_eq!(holding("generic/hdd-7200", 1 << 50), None);
}

#[test]
fn limits_of_a_stripe_are_those_of_its_members() {
    let limits = |config: &str| offer(config).limits().unwrap().to_string();
    let one = limits("oci:500GB@10vpu");
    assert_eq!(limits("stripe(2,64KiB) of oci:500GB@10vpu"), format!("stripe(2, 64KiB: {one})"));
}

#[test]
fn a_machine_is_its_limits() {
    let limits = offer("oci/VM.Standard.E4.Flex:16ocpu").limits().unwrap();
    assert!(limits.to_string().starts_with("limit("), "{limits}");
    assert!(offer("sakura/server").limits().unwrap_err().to_string().contains("knows no limits of sakura/server"));
}

#[test]
fn dollars_come_first() {
    assert_eq!(offer("oci:100GB@10vpu").usual_price().unwrap().monthly.to_string(), "4.25 USD");
    assert_eq!(offer("netapp/aff-a800").usual_price(), None);
}
