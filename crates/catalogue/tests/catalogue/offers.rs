//! Offers, prices and refusals of configurations of three small product files.

use plimsoll_catalogue::{Ask, Catalogue, Config, ConfigRefusal, Offer, PriceTerms};
use plimsoll_units::Bytes;

const CSV: &str = include_str!("products/machines.csv");

fn build_catalogue() -> Catalogue {
    let mut catalogue = Catalogue::default();
    for (file, text) in [
        ("machines.toml", include_str!("products/machines.toml")),
        ("cloud.toml", include_str!("products/cloud.toml")),
        ("burst.toml", include_str!("products/burst.toml")),
    ] {
        let added = catalogue.add(file, text, &|csv| (csv == "machines.csv").then(|| CSV.to_owned()));
        added.unwrap_or_else(|complaints| panic!("{}", complaints[0]));
    }
    catalogue
}

/// `as_of [CURRENCY [REGION]]`.
fn terms(text: &str) -> PriceTerms {
    let mut words = text.split_whitespace();
    PriceTerms {
        as_of: words.next().expect("a date").parse().expect("a test's own text"),
        currency: words.next().map(|code| code.parse().expect("a test's own text")),
        region: words.next().map(str::to_owned),
    }
}

fn offer(config: &str, under: &str) -> Result<Offer, ConfigRefusal> {
    build_catalogue().offer(&config.parse::<Config>().expect("a test's own text"), &terms(under))
}

/// Compares `show` of the offer, or the refusal.
fn check_offer(config: &str, under: &str, show: impl Fn(&Offer) -> String, expected: &str) {
    let displayed = offer(config, under).map_or_else(|refusal| refusal.to_string(), |offer| show(&offer));
    assert_eq!(displayed, expected, "of {config:?} {under:?}");
}

fn in_full(offer: &Offer) -> String {
    format!("{} = {}", offer.config, offer.capacity)
}

fn price(offer: &Offer) -> String {
    offer.price().map_or_else(
        |none| none.to_string(),
        |price| {
            let once =
                price.once.map_or_else(String::new, |once| format!(" and {} {} once", once.exact(), once.currency));
            let without = price.without.iter().map(|name| format!(" without {name}")).collect::<Vec<_>>().concat();
            format!("{} {}{once}{without}", price.monthly.exact(), price.monthly.currency)
        },
    )
}

fn model(offer: &Offer) -> String {
    let text = offer.model_notation().expect("it has a model");
    offer.model().unwrap_or_else(|error| panic!("{error}"));
    text
}

#[test]
fn configurations_are_filled_in() {
    let today = "2026-11";
    let check = |config: &str, expected: &str| check_offer(config, today, in_full, expected);
    check("cloud:256GB", "test/cloud:256GB,vpu=10,attachment=iscsi = 256 GiB");
    check("cloud:256GB@20vpu", "test/cloud:256GB,vpu=20,attachment=iscsi = 256 GiB");
    check("CLOUD:256GiB,paravirtualized", "test/cloud:256GB,vpu=10,attachment=paravirtualized = 256 GiB");
    check("cloud:size=256", "test/cloud:256GB,vpu=10,attachment=iscsi = 256 GiB");
    check("cloud:2TiB", "test/cloud:2048GB,vpu=10,attachment=iscsi = 2 TiB");
    check("cloud:1TB", "test/cloud:1024GB,vpu=10,attachment=iscsi = 1 TiB");
    check("cloud:32768GB", "test/cloud:32768GB,vpu=10,attachment=iscsi = 32 TiB");
    check("stripe(3,64KiB) of cloud:1024GB", "stripe(3,64KiB) of test/cloud:1024GB,vpu=10,attachment=iscsi = 3 TiB");
    check("raid6(6) of burst:1024GiB", "raid6(6,64KiB) of test/burst:1024GiB,iops=3072 = 4 TiB");
    check("burst", "test/burst:100GiB,iops=300 = 100 GiB");
    check("burst:p10", "test/burst:128GiB,P10,iops=384 = 128 GiB");
    check("burst:tier=P10,100GiB", "test/burst:100GiB,P10,iops=300 = 100 GiB");
    check(
        "cloud:50GB@50vpu on test/vm.flex:16ocpu",
        "test/cloud:50GB,vpu=50,attachment=iscsi on test/VM.Flex:ocpu=16 = 50 GiB",
    );
    check("test/BM.Large", "test/BM.Large:ocpu=1 = 0 B");
    for config in
        ["cloud:256GB@20vpu", "burst:P10", "stripe(2) of burst:1TiB", "cloud:50GB@50vpu on test/VM.Flex:16ocpu"]
    {
        let full = offer(config, today).unwrap().config;
        assert_eq!(build_catalogue().offer(&full, &terms(today)).unwrap().config, full);
    }
}

#[test]
fn short_configurations_give_the_same_offer() {
    for (config, expected) in [
        ("cloud:256GB@10vpu,iscsi", "test/cloud:256GB"),
        ("cloud:256GB@20vpu", "test/cloud:256GB,vpu=20"),
        ("mirror(2) of burst:100GiB,iops=300", "mirror(2) of test/burst:100GiB"),
        ("burst:P10,iops=500", "test/burst:128GiB,P10,iops=500"),
        ("cloud:50GB@50vpu on test/VM.Flex:16ocpu", "test/cloud:50GB,vpu=50 on test/VM.Flex:ocpu=16"),
        ("cloud:50GB on test/VM.Flex:1ocpu", "test/cloud:50GB on test/VM.Flex"),
    ] {
        let full = offer(config, "2026").unwrap();
        assert_eq!(full.short().to_string(), expected);
        assert_eq!(offer(expected, "2026").unwrap().config, full.config);
    }
}

#[test]
fn doubts_of_prices_are_named() {
    let show = |offer: &Offer| {
        let doubts = offer.price().unwrap().doubts();
        doubts.into_iter().map(|doubt| doubt.text).collect::<Vec<_>>().join("; ")
    };
    check_offer("cloud:100GB", "2024-12 JPY", show, "the price of \"VPUs\" is recalled from memory, not read anywhere");
    check_offer("cloud:100GB", "2024-12 USD", show, "");
    check_offer("cloud:100GB", "2025-07-01 USD", show, "its price is 182 days old: check the vendor's list");
}

#[test]
fn invalid_configurations_fail_with_one_line() {
    let check = |config: &str, expected: &str| check_offer(config, "2026-11", in_full, expected);
    check("clod:1GB", "the catalogue has no product \"clod\"; did you mean cloud or test/cloud?");
    check("floppy", "the catalogue has no product \"floppy\"");
    check("cloud", "test/cloud needs size: give it 50 to 32,768 GB");
    check("cloud:10GB", "test/cloud: size is 10 GB, and can be 50 to 32,768 GB [Performance page (2024, verified)]");
    check(
        "cloud:100GB@130vpu",
        "test/cloud: vpu is 130, and can be 0 to 120; 0 is the lowest level [Performance page (2024, verified)]",
    );
    check(
        "cloud:0.1TB",
        "test/cloud: size is 0.1 TB (102.4 GB as the vendor counts), and goes in steps of 1 GB: the nearest are 102 GB or 103 GB \
         [Performance page (2024, verified)]",
    );
    check(
        "cloud:100GB@25vpu",
        "test/cloud: vpu is 25, and goes in steps of 10: the nearest are 20 or 30 [Performance page (2024, verified)]",
    );
    check("cloud:100GB,iops=5", "test/cloud has no option \"iops\": it has size, vpu or attachment");
    check("cloud:100GB,vpu=x", "test/cloud: vpu is \"x\", which is no number");
    check("cloud:100GB,attachment=nfs", "test/cloud: attachment is \"nfs\"; it can be iscsi or paravirtualized");
    check("cloud:100GB,P7", "test/cloud has no choice \"P7\": attachment can be iscsi or paravirtualized");
    check("burst:P10,200GiB", "test/burst: P10 holds 128 GiB, not 200 GiB");
    check("burst:P1,40000iops", "test/burst: iops is 40,000, and can be 100 to 32,000 [Volume types (2023, verified)]");
    check(
        "cloud:100GB@30vpu on test/VM.Flex:15ocpu",
        "test/cloud: 30 VPUs and more need a machine of at least 16 OCPUs, or bare metal \
         [Performance page (2024, verified)]",
    );
    check(
        "cloud:100GB@30vpu on test/BM.Large",
        "test/cloud:100GB,vpu=30,attachment=iscsi on test/BM.Large:ocpu=1 = 100 GiB",
    );
    check("cloud:100GB on burst", "burst is no machine: after on, name one");
    check(
        "cloud:100GB on test/VM.Fle",
        "the catalogue has no product \"test/VM.Fle\"; did you mean test/VM.Flex? (other machines: \
         machine(iops=12800, mbps=192))",
    );
    check(
        "cloud:100GB on VM.Flex",
        "the catalogue has no product \"VM.Flex\"; did you mean test/VM.Flex? (other machines: \
         machine(iops=12800, mbps=192))",
    );
    check(
        "cloud:100GB on test/VM.Flex:65ocpu",
        "test/VM.Flex: ocpu is 65, and can be 1 to 64 [Shapes (2024, secondary)]",
    );
}

#[test]
fn prices_are_exact() {
    let check = |config: &str, under: &str, expected: &str| check_offer(config, under, price, expected);
    check("cloud:100GB@10vpu", "2026 JPY", "658.75 JPY and 100 JPY once");
    check("cloud:100GB@10vpu", "2026 USD", "4.25 USD");
    check(
        "cloud:100GB,paravirtualized",
        "2026 JPY",
        "658.75 JPY and 100 JPY once without paravirtualized attachment of test/cloud",
    );
    check("mirror(2) of cloud:100GB@10vpu", "2026 JPY", "1317.50 JPY and 200 JPY once");
    check("cloud:100GB on test/VM.Flex", "2026 USD ashburn", "4.25 USD without test/VM.Flex");
    check(
        "cloud:100GB",
        "2026",
        "test/cloud has several prices: choose a currency and a region of USD from 2024-11, JPY from 2024-11",
    );
    check(
        "cloud:100GB",
        "2026 EUR",
        "the catalogue has no price of test/cloud for EUR as of 2026; it has USD from 2024-11, JPY from 2024-11",
    );
    check(
        "cloud:100GB",
        "2023 USD",
        "the catalogue has no price of test/cloud for USD as of 2023; it has USD from 2024-11, JPY from 2024-11",
    );
    // 32,000 x 0.065 + 32,000 x 0.0455 + 6,000 x 0.03185 = 3,727.10; 0.000006849 x 730 x 1,000 = 4.99977.
    check("burst:1000GiB,iops=70000", "2026 USD east", "3732.09977 USD");
    check("burst:1000GiB,iops=32000", "2026 USD east", "2084.99977 USD");
    check("burst:P10", "2026 USD west", "19.71 USD");
    check("burst:P20", "2026 USD west", "the list of test/burst:512GiB,P20,iops=1536 has no price for tier");
}

#[test]
fn standings_name_what_binds() {
    let show = |block: Bytes, reads: f64| {
        move |offer: &Offer| {
            let standing = offer.standing(&Ask { block, reads, sequential: false });
            let name = |index: usize| &offer.ceilings[index].name;
            let of = |bound: &plimsoll_catalogue::Bound| format!("{:.0} by {}", bound.iops, name(bound.ceiling));
            let mut text: Vec<String> = standing.binding().into_iter().chain(standing.next()).map(of).collect();
            text.extend(standing.peak.map(|peak| format!("{:.0} s of {}", peak.seconds, of(&peak.bound))));
            text.join(", ")
        }
    };
    let check = |config: &str, block: Bytes, reads: f64, expected: &str| {
        check_offer(config, "2026", show(block, reads), expected);
    };
    let (k4, k256, m1) = (Bytes::kib(4), Bytes::kib(256), Bytes::mib(1));
    check("cloud:256GB@50vpu", k4, 1.0, "30720 by IOPS by size, 60000 by throughput by size");
    check("cloud:256GB@50vpu", m1, 1.0, "234 by throughput by size, 1221 by throughput of the level");
    check("cloud:256GB@0vpu", k4, 0.5, "512 by IOPS by size, 3000 by IOPS of the level");
    check("stripe(2,64KiB) of cloud:256GB@50vpu", k4, 1.0, "61440 by IOPS by size, 120000 by throughput by size");
    check("mirror(2) of cloud:256GB@50vpu", k4, 0.0, "30720 by IOPS by size, 60000 by throughput by size");
    check("raid5(5) of cloud:256GB@50vpu", k4, 0.0, "38400 by IOPS by size, 75000 by throughput by size");
    check("raid5(5) of cloud:256GB@50vpu", k256, 0.0, "3750 by throughput by size, 19531 by throughput of the level");
    check(
        "stripe(4) of cloud:1024GB@50vpu on test/VM.Flex:16ocpu",
        k4,
        1.0,
        "320000 by the machine's IOPS, 468750 by the machine's throughput",
    );
    check("burst:100GiB", k4, 1.0, "300 by baseline IOPS, 3000 by burst IOPS, 2000 s of 3000 by burst IOPS");
    check(
        "burst:100GiB",
        m1,
        1.0,
        "75 by baseline IOPS, 100 by throughput of the tier, 54000 s of 100 by throughput of the tier",
    );
    check("burst:1000GiB", k4, 0.0, "3000 by baseline IOPS, 230400 by throughput of the tier");
    check("burst:16384GiB,iops=256000", k4, 0.1, "230400 by throughput of the tier, 256000 by baseline IOPS");
    check("burst:512GiB,iops=256000", k4, 0.0, "250000 by writes of the media, 256000 by baseline IOPS");
    check("burst:512GiB,iops=256000", k4, 0.5, "256000 by baseline IOPS, 500000 by writes of the media");
}

#[test]
fn limits_hold_at_their_time() {
    let show = |offer: &Offer| {
        let standing = offer.standing(&Ask { block: Bytes::kib(4), reads: 1.0, sequential: false });
        standing.binding().map_or(0.0, |bound| bound.iops).to_string()
    };
    for (as_of, expected) in [("2018", "50000"), ("2019-06", "35000"), ("2020-12-31", "35000"), ("2021", "50000")] {
        check_offer("cloud:1024GB@20vpu", as_of, show, expected);
    }
}

#[test]
fn models_are_limits_then_stages() {
    let check = |config: &str, expected: &str| check_offer(config, "2026", model, expected);
    check(
        "cloud:256GB@50vpu",
        "limit(30720) \"IOPS by size\" then limit(245760kB/s) \"throughput by size\" then \
         window(128: station(64, 250us, lognormal 0.3) \"media and network\")",
    );
    check(
        "burst:100GiB",
        "limit(300 per 256KiB, burst 5400000) \"baseline IOPS\" then limit(3000 per 256KiB) \"burst IOPS\" then \
         limit(100MiB/s) \"throughput of the tier\" then split(read: ; write: limit(250000) \"writes of the media\") \
         then link(500us)",
    );
    check(
        "page-cache(512MB) of stripe(2) of cloud:1024GB@20vpu on test/VM.Flex:1ocpu",
        "link(1us) \"page cache\" then writeback(512MB, flush honoured: clock(512MB of 4KiB, hit: ; miss: \
         limit(20000) \"the machine's IOPS\" then limit(120MB/s) \"the machine's throughput\" then stripe(2, 64KiB: \
         limit(50000) \"IOPS of the level\" then limit(614400kB/s) \"throughput by size\" then \
         window(32: station(64, 250us, lognormal 0.3) \"media and network\"))))",
    );
}

#[test]
fn doubts_are_named() {
    let show = |offer: &Offer| offer.doubts().into_iter().map(|doubt| doubt.text).collect::<Vec<_>>().join("; ");
    check_offer("cloud:100GB", "2026", show, "its latency is inferred from other figures; no latency is published");
    check_offer(
        "burst",
        "2026",
        show,
        "the model leaves out \"sequential only\", which holds for one order of addresses only",
    );
    check_offer(
        "cloud:100GB,paravirtualized on test/VM.Flex",
        "2026",
        show,
        "\"paravirtualized attachment\" is inferred from other figures; \"the machine's IOPS\" is known at second hand; \
         \"the machine's throughput\" is known at second hand; its latency is inferred from other figures; \
         no latency is published",
    );
}

#[test]
fn smallest_size_holds_the_required_capacity() {
    let catalogue = build_catalogue();
    let size = |name: &str, bytes: Bytes| catalogue.find(name).unwrap().smallest_size(bytes);
    assert_eq!(size("cloud", Bytes::gib(1)), Some(50.0));
    assert_eq!(size("cloud", Bytes::gib(300)), Some(300.0));
    assert_eq!(size("cloud", Bytes::new((300 << 30) + 1)), Some(301.0));
    assert_eq!(size("cloud", Bytes::gib(32_769)), None);
    assert_eq!(size("test/VM.Flex", Bytes::gib(1)), None);
    assert!(catalogue.find("burst").unwrap().has_size());
}

#[test]
fn a_machine_that_is_not_named_may_have_to_be_something() {
    let needs = |offer: &Offer| offer.needs().join("; ");
    let check = |config: &str, expected: &str| check_offer(config, "2026", needs, expected);
    check("cloud:100GB@20vpu", "");
    check("cloud:100GB@30vpu", "30 VPUs and more need a machine of at least 16 OCPUs, or bare metal");
    check("cloud:100GB@30vpu on test/VM.Flex:16ocpu", "");
}

fn find_built_in(config: &str) -> Offer {
    let found = Catalogue::built_in().offer(&config.parse().expect("a configuration"), &terms("2026-11"));
    found.unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// Ceilings with credits become limits without them, or none; those of a stage of the model, too.
#[test]
fn models_have_both_ends_of_credits() {
    let check = |config: &str, used_up: &[&str], full: &[&str]| {
        let built_in = find_built_in(config);
        let models = built_in.credit_models(&built_in.model().expect("a model")).expect("credits");
        for (model, parts) in [(models.used_up, used_up), (models.full.expect("a model"), full)] {
            let text = model.to_string();
            assert!(!text.contains("burst 5400000") && !text.contains("burst 512000"), "{config}: {text}");
            for part in parts {
                assert!(text.contains(part), "{config}: no {part} in {text}");
            }
            assert!(plimsoll_model::parse(&text).is_ok(), "{text}");
        }
    };
    check(
        "aws/gp2:100GiB",
        &["limit(300 per 256KiB, burst 16)", "limit(3000 per 256KiB)"],
        &["limit(3000 per 256KiB)"],
    );
    check("aws/st1:500GiB", &["limit(19.531 per 1MiB, burst 16)"], &["limit(122.07"]);
    check("stripe(2,64KiB) of aws/gp2:100GiB", &["limit(300 per 256KiB, burst 16)"], &["limit(3000 per 256KiB)"]);
    check("azure/premium-ssd:P10", &["limit(500"], &["limit(3500"]);
    // The tolerance of a limit is no burst that ends.
    for config in ["aws/gp3:100GiB", "azure/2014:1023GB", "oci:100GB@10vpu"] {
        let built_in = find_built_in(config);
        assert_eq!(built_in.credit_models(&built_in.model().expect("a model")), None, "{config}");
    }
}

#[test]
fn credits_last_by_the_load_above_the_lasting_rate() {
    let ask = Ask { block: Bytes::kib(16), reads: 1.0, sequential: false };
    let standing = find_built_in("aws/gp2:100GiB").standing(&ask);
    assert_eq!(standing.credits_last_s(3_000.0), Some(2_000.0));
    assert_eq!(standing.credits_last_s(600.0), Some(18_000.0));
    assert_eq!(standing.credits_last_s(300.0), None, "refilled as fast as spent");
}
