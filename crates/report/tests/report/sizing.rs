//! Sizing as text, JSON, CSV and Terraform.
#![allow(clippy::unwrap_used)]

use plimsoll_catalogue::{Catalogue, Date, Money, PriceTerms};
use plimsoll_choose::diagnosis::{
    CensorCause, Censored, DatabaseEffect, DiagnosisVerdict, EffectRule, FilterWork, HostEvidence, HostLimit,
    PartEffect, TimePart,
};
use plimsoll_choose::sizing::{
    Assumption, Best, Busiest, CellScans, Choice, ClassLatency, ClassLoad, Cluster, Compute, DemandWindow, DesignPoint,
    Exadata, GrowthStep, LessHeadroom, MachineShare, Measured, OtherLoad, PeakSource, Platform, ProcessorOrigin,
    ScanWindows, Search, Sizing, SizingRequirements, StepKind, WithoutScans, fewer_processors, layouts, size,
};
use plimsoll_choose::what_if::{EstimateSource, MemoryFirst, WhatIfs};
use plimsoll_ingest::{Class, InputPosition, InstanceResource, Origin, Resource, Slot, TopReader};
use plimsoll_report::words::slower_than_unpriced;
use plimsoll_report::{
    Block, Charset, Page, Table, TextStyle, kubernetes, kubernetes_gaps, page_csv, page_html, page_summary, page_text,
    pages, sizing_json, terraform, terraform_gaps,
};
use plimsoll_units::{Bytes, Span};

pub(super) fn derive_requirements(iops: f64, objective: &str) -> SizingRequirements {
    let load = |class, iops: f64, size: f64, reads| ClassLoad {
        class,
        iops,
        bytes_per_second: iops * size,
        reads,
        sequential: class == Class::RedoWrite,
        durable: class == Class::RedoWrite,
    };
    let classes =
        vec![load(Class::RandomRead, iops * 0.9, 8192.0, 1.0), load(Class::RedoWrite, iops * 0.1, 4096.0, 0.0)];
    let point = DesignPoint { of: Busiest::Operations, windows: 2, classes };
    let measured = Measured {
        quantile: Some(0.95),
        windows: 24,
        longest: Span::from_secs(3600),
        iops: iops / 3.0,
        bytes_per_second: point.bytes_per_second() / 3.0,
        highest_iops: iops / 2.0,
        highest_bytes_per_second: point.bytes_per_second() / 2.0,
    };
    SizingRequirements {
        subject: "SALES".into(),
        headroom: 0.2,
        mean_iops: iops / 4.0,
        objectives: objective.parse().into_iter().collect(),
        measured,
        steps: vec![GrowthStep {
            kind: StepKind::Peaks(PeakSource::Databases),
            small: 3.0,
            large: 6.0,
            scans: 1.0,
            spread: Some((1.4, 7.5)),
        }],
        assumptions: vec![Assumption::LogWritesOnly],
        ..SizingRequirements::of(vec![point], Bytes::gib(1000))
    }
}

pub(super) fn sized(iops: f64, objective: &str, names: &[&str]) -> Sizing {
    let catalogue = Catalogue::built_in();
    let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    size(&catalogue, &derive_requirements(iops, objective), &terms, &Search::among(&catalogue, &names).unwrap())
}

pub(super) fn page(sizing: &Sizing) -> Page {
    pages::sizing(sizing, &WhatIfs::default(), &[], 12)
}

/// Checks the text at every width, and returns it as a single line.
fn check(sizing: &Sizing) -> String {
    for width in [40, 64, 100, 160] {
        let style = TextStyle { width, ..TextStyle::default() };
        let text = page_text(&page(sizing), &style);
        // Commands are not wrapped.
        for line in text.lines().filter(|line| !line.contains("plimsoll quote")) {
            assert!(line.chars().count() <= width, "at {width}: {line}");
            assert_eq!(line, line.trim_end(), "blanks at an end");
        }
        assert!(!text.contains('\u{1b}') && !text.contains("NaN") && !text.contains("inf "), "{text}");
        let ascii = TextStyle { unicode: Charset::Ascii, ..style };
        assert!(page_text(&page(sizing), &ascii).is_ascii());
    }
    let summary = page_summary(&page(sizing), "--details", &TextStyle::default());
    assert!(summary.lines().count() <= 24, "{summary}");
    let words = page(sizing).headline.map_or(0, |headline| headline.text.split_whitespace().count());
    assert!(words <= 25, "{words} words:\n{summary}");
    let style = TextStyle { width: 160, ..TextStyle::default() };
    page_text(&page(sizing), &style).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn text_has_every_step_to_the_design_point() {
    let text = check(&sized(6_000.0, "", &["aws/gp3", "aws/st1"]));
    for reported in [
        "measured 2,000 IOPS and 15.6 MB/s, not exceeded in 95 % of the time, 24 windows of up to 60 min",
        "peaks x 3 for small operations, x 6 for those of 64 KiB and more, x 1 for scans, sorts and backups",
        "(measured range: 1.4 to 7.5)",
        "expected 6,000 IOPS, 46.7 MB/s: 90 % random reads of 8 KiB, 10 % redo of 4 KiB",
        "design required ceilings: 1.2 times this load",
        "assumed the input counts no writes but those of the log",
    ] {
        assert!(text.contains(reported), "{reported} in {text}");
    }
}

#[test]
fn cheapest_choice_names_its_first_and_next_limit() {
    let text = check(&sized(6_000.0, "read p99<=20ms", &["aws/gp3", "aws/io2"]));
    assert!(text.contains("carries the load at read p99 <= 20 ms"), "{text}");
    assert!(text.contains("first limit: ") && text.contains("; next: "), "{text}");
    assert!(
        text.contains("machine aws/") && text.contains("known machines are x86-64 and have the required processors"),
        "{text}"
    );
}

#[test]
fn verdict_without_a_choice_names_the_nearest() {
    let sizing = sized(6_000.0, "read p99<=1us", &["aws/gp3"]);
    let text = check(&sizing);
    assert!(text.contains("carries the load at read p99 <= 1 us: the nearest has"), "{text}");
    assert_eq!(terraform(&sizing), None);
}

#[test]
fn a_managed_database_is_ranked_with_what_it_leaves_to_the_user() {
    let sizing = sized(5_000.0, "", &["aws/gp3", "aws/rds-oracle:db.r6i.xlarge"]);
    let text = check(&sizing).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("aws/rds-oracle is managed (Oracle Database): AWS runs the machine"), "{text}");
    assert!(
        text.contains("the other choices are storage for a database of your own: they also leave to you"),
        "{text}"
    );
    let without = check(&sized(5_000.0, "", &["aws/gp3"]));
    assert!(!without.contains("is managed") && !without.contains("of your own"), "{without}");
}

#[test]
fn managed_databases_have_their_resources_in_terraform() {
    let written = |product: &str| terraform(&sized(5_000.0, "", &[product])).unwrap_or_default();
    let attribute = |text: &str, name: &str| {
        let mut lines = text.lines().filter_map(|line| line.trim().split_once('='));
        lines.find(|(own, _)| own.trim() == name).map(|(_, value)| value.trim().to_owned())
    };
    let oracle = written("aws/rds-oracle:db.r6i.8xlarge");
    assert!(oracle.contains("resource \"aws_db_instance\" \"data\" {"), "{oracle}");
    let has = |name: &str, value: &str| assert_eq!(attribute(&oracle, name).as_deref(), Some(value), "{oracle}");
    has("instance_class", "\"db.r6i.8xlarge\"");
    has("storage_type", "\"gp3\"");
    has("multi_az", "false");
    has("license_model", "\"bring-your-own-license\"");
    // The included 12,000 IOPS must not be given.
    assert_eq!(attribute(&oracle, "iops"), None, "{oracle}");
    let azure = written("azure/sql:business-critical");
    assert_eq!(attribute(&azure, "sku_name").as_deref(), Some("\"BC_Gen5_2\""), "{azure}");
    assert_eq!(attribute(&azure, "license_type").as_deref(), Some("\"LicenseIncluded\""), "{azure}");
}

#[test]
fn rejections_have_reasons() {
    let text = check(&sized(100_000.0, "", &["aws/st1"]));
    assert!(text.contains("Do not carry the load, nearest first: 1"), "{text}");
    assert!(text.contains("% of the requirement"), "{text}");
}

#[test]
fn choice_and_frontier_fit_one_screen() {
    let sizing = sized(6_000.0, "", &["aws", "gcp"]);
    assert!(sizing.frontier.len() > 1);
    let text = page_text(&page(&sizing), &TextStyle { width: 100, ..TextStyle::default() });
    let first: Vec<&str> = text.lines().take(40).collect();
    let (screen, rest) = (first.join(" "), &text[first.join("\n").len()..]);
    let parts = [
        "Cheapest configuration that carries",
        "Other providers, with machine: ",
        "Price against database time, by provider",
        "aws on aws/",
        "gcp on gcp/",
        "sessions that wait for reads and log writes in peaks",
    ];
    let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(screen.contains(part), "{part} in the first 40 lines of {text}");
    }
    assert!(rest.contains("Design point of SALES"), "{rest}");
    let aws = check(&sized(6_000.0, "", &["aws"]));
    assert!(aws.contains("More money: aws/io2:1000GiB,iops=7200 for "), "{aws}");
}

#[test]
fn providers_without_a_choice_have_a_reason() {
    let text = check(&sized(100_000.0, "", &["gcp/hyperdisk-balanced", "aws/st1"]));
    assert!(text.contains("aws: none. ") && text.contains("% of the requirement"), "{text}");
}

#[test]
fn service_levels_and_snapshots_are_shown_with_the_choice() {
    let text = check(&sized(6_000.0, "", &["aws/io2"]));
    let loss = "0.001 %";
    for reported in
        ["available 99.9 % of the time (unverified)", "90 % of the provisioned performance 99.9 % of the time", loss]
    {
        assert!(text.contains(reported), "{reported} in {text}");
    }
    // 1,000 GiB at 0.05 USD.
    assert!(text.contains("0.05 USD per GiB-month stored, 50.00 USD a month for the full capacity"), "{text}");
}

#[test]
fn more_memory_precedes_storage_in_the_headline_if_it_costs_less() {
    let sizing = sized(6_000.0, "", &["aws/gp3"]);
    let choice = sizing.choices[0].clone();
    let present = choice.total().unwrap();
    let gib = f64::from(1 << 30);
    let with_total = |total| MemoryFirst {
        by: EstimateSource::Database,
        bytes: 48.0 * gib,
        more_bytes: 16.0 * gib,
        reads: 0.3,
        saved: Some(0.2),
        total,
        present,
        is_paid: false,
        waiting: [6.0, 2.0],
        storage: None,
        choice: choice.clone(),
    };
    let headline = |memory: MemoryFirst| {
        let what_ifs = WhatIfs { memory: Some(memory), ..WhatIfs::default() };
        pages::sizing(&sizing, &what_ifs, &[], 12).headline.unwrap()
    };
    let dearer = headline(with_total(present));
    assert!(dearer.cautions.iter().all(|text| !text.contains("cache")), "{dearer:?}");
    assert!(dearer.details.iter().any(|text| text.starts_with("More memory instead: a cache of 48 GiB")), "{dearer:?}");
    let headline = headline(with_total(Money { millionths: present.millionths - 1_000_000, ..present }));
    let reported = "Memory first: a cache of 48 GiB, 16 GiB more, leaves 30 % of the reads (the database's own estimate), reduces \
                waiting sessions from 6 to 2 and saves 20 % of the database's time";
    assert!(headline.cautions[0].starts_with(reported), "{:?}", headline.cautions);
    assert!(headline.details[0].contains("Cheapest configuration"), "{:?}", headline.details);
}

#[test]
fn figures_of_a_part_or_of_exadata_are_the_headline() {
    let mut sizing = sized(6_000.0, "", &["aws/io2"]);
    let headline = |sizing: &Sizing| page(sizing).headline.unwrap();
    assert!(headline(&sizing).cautions.iter().all(|text| !text.contains("cluster")));
    let instances = vec!["sales1".to_owned()];
    sizing.required.platform = Platform {
        cluster: Some(Cluster {
            instances,
            covered: 1,
            count: 1,
            waits: 0.12,
            share: MachineShare::of_all(1),
            ended: None,
        }),
        ..Platform::default()
    };
    let part = headline(&sizing);
    // With --unsupported the lack of support is in the headline.
    let caution = "A single instance of a cluster (RAC) is reported and priced; Oracle does not support RAC at aws";
    assert!(part.text.ends_with("RAC unsupported") && part.cautions[0].starts_with(caution), "{part:?}");
    let detail = part.details.iter().find(|text| text.contains("single instance of a cluster (sales1"));
    assert!(detail.is_some_and(|text| text.contains("12 %")), "{part:?}");
    assert!(part.details.iter().any(|text| text.contains("does not support RAC on EC2")), "{part:?}");
    assert!(part.details[0].contains("Cheapest configuration that carries"), "{part:?}");
    sizing.required.platform.exadata =
        Some(Exadata { smart_scans: 0.4, flash: Some(0.9), filtered_bytes_s: Some(1e9) });
    let cells = headline(&sizing);
    assert!(cells.cautions[0].contains("without Exadata cells"), "{cells:?}");
    let is_exadata = |text: &&String| text.contains("Exadata") && text.contains("40 %") && text.contains("90 %");
    assert!(cells.details.iter().any(|text| is_exadata(&text)), "{cells:?}");
    let place = InputPosition { input: "report".into(), origin: Origin::line(1) };
    let window = Span::from_secs(3600);
    let filtered =
        InstanceResource { instance: String::new(), resource: Resource::FilteredBytes, value: 1e9, window, place };
    sizing.required.compute_origin.scans = Some(CellScans { filtered, beside: 1.0, processors: [1.25, 5.0] });
    let caution = &headline(&sizing).cautions[0];
    assert!(caution.contains("without Exadata cells: filtering takes 1.25 to 5 processors more"), "{caution}");
}

#[test]
fn layout_is_part_of_the_choice() {
    let catalogue = Catalogue::built_in();
    let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
    let search = Search::among(&catalogue, &["aws/gp3".to_owned(), "aws/io2".to_owned()]).unwrap();
    let required =
        SizingRequirements { capacity: Bytes::gib(8192), ..derive_requirements(2_000.0, "redo:mean<=700us") };
    let mut sizing = size(&catalogue, &required, &terms, &search);
    sizing.layouts = layouts(&catalogue, &terms, &search, &sizing);
    let text = check(&sizing);
    assert!(text.contains("at redo mean <= 700 us: data on aws/gp3"), "{text}");
    assert!(text.contains("Redo and temporary data on separate volumes"), "{text}");
    let terraform = terraform(&sizing).unwrap();
    assert!(terraform.contains("\"aws_ebs_volume\" \"data\"") && terraform.contains("\"aws_ebs_volume\" \"redo\""));
    assert_eq!(terraform.matches("variable \"aws_availability_zone\"").count(), 1, "{terraform}");
    let json: serde_json::Value = serde_json::from_slice(&sizing_json(&sizing, &WhatIfs::default())).unwrap();
    assert_eq!(json["layouts"][0]["parts"][1]["content"], "redo");
    let keys = json["layouts"][0].as_object().unwrap();
    assert!(keys.contains_key("database_time") && keys.contains_key("saved_time_share"), "{keys:?}");
}

#[test]
fn only_the_recommendation_is_written() {
    let mut sizing = sized(6_000.0, "", &["aws/gp3", "aws/fsx-ontap", "oci"]);
    let is_ontap = |choice: &Choice| choice.offer.product().name() == "aws/fsx-ontap";
    sizing.choices.sort_by_key(|choice| !is_ontap(choice));
    assert!(is_ontap(&sizing.choices[0]), "it carries the load");
    let gap = "The recommendation of aws is not written: aws/fsx-ontap has no";
    let remedy = "; --provider aws/gp3 sizes for a product that has it";
    for (text, gaps, object) in [
        (terraform(&sizing), terraform_gaps(&sizing), "Terraform resource"),
        (kubernetes(&sizing), kubernetes_gaps(&sizing), "CSI driver"),
    ] {
        let text = text.unwrap();
        let reason = format!("{gap} {object}{remedy}");
        assert!(text.contains(&format!("# {reason}\n")), "{text}");
        assert!(!text.contains("gp3\"") && !text.contains("ebs.csi"), "another product: {text}");
        assert!(text.contains("oci"), "{text}");
        assert_eq!(gaps.first(), Some(&reason), "the recommended provider is first");
        let mut sheet = page(&sizing);
        pages::add_gaps(&mut sheet, gaps);
        assert!(page_summary(&sheet, "--details", &TextStyle::default()).contains("is not written"));
    }
    let fixed = "oci/block-volume: no VolumeAttributesClass, as its CSI driver changes no property of it in use";
    assert!(kubernetes_gaps(&sizing).iter().any(|gap| gap == fixed), "{:?}", kubernetes_gaps(&sizing));
}

/// A sizing that recommends gp3, slower than today, as the first of the others has no price.
fn recommend_slower(names: &[&str]) -> Sizing {
    let mut sizing = sized(6_000.0, "", names);
    let is_gp3 = |choice: &Choice| choice.offer.product().name() == "aws/gp3";
    sizing.slower = sizing.choices.extract_if(.., |choice| is_gp3(choice)).collect();
    // Too slow for a doubt about both.
    let mean = |ms| vec![ClassLatency { class: Class::RandomRead, mean: Span::from_millis(ms), p99: None }];
    sizing.slower[0].usual = mean(9);
    sizing.choices[0].usual = mean(1);
    sizing.choices[0].price = None;
    assert!(matches!(sizing.best(), Some(Best::Slower(choice)) if is_gp3(choice)));
    sizing
}

#[test]
fn the_manifest_is_that_of_the_slower_recommendation() {
    let sizing = recommend_slower(&["aws/gp3", "aws/io2"]);
    let text = terraform(&sizing).unwrap();
    assert!(text.contains("\"gp3\"") && !text.contains("\"io2\""), "{text}");
    let reason = slower_than_unpriced(&sizing).expect("io2 is not slower, but has no price");
    assert!(reason.contains("aws/io2") && reason.contains("--price"), "{reason}");
    assert_eq!(slower_than_unpriced(&sized(6_000.0, "", &["aws/gp3", "aws/io2"])), None);
}

#[test]
fn slower_recommendation_is_marked_in_chart_and_table() {
    let sizing = recommend_slower(&["aws/gp3", "aws/io1", "aws/io2"]);
    let html = page_html(&page(&sizing)).replace("<wbr>", "");
    let marked: Vec<&str> = html.split("<tr class=\"chosen\">").skip(1).collect();
    let row = marked[0].split("</tr>").next().unwrap();
    assert!(marked.len() == 1 && row.contains("aws/gp3") && row.contains("slower than today"), "{row}");
    let tips: Vec<&str> = html.split("data-tip=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(html.contains(">recommended</text>") && tips.iter().any(|tip| tip.contains("aws/gp3")), "{tips:?}");
    let first = sized(6_000.0, "", &["aws/gp3", "aws/io2"]);
    let html = page_html(&page(&first)).replace("<wbr>", "");
    let row = html.split("<tr class=\"chosen\">").nth(1).and_then(|rest| rest.split("</tr>").next()).unwrap();
    let name = first.choices[0].offer.short().to_string();
    assert!(row.contains(&name) && !row.contains("slower"), "{name} in {row}");
}

#[test]
fn bar_of_the_room_is_as_long_as_its_label() {
    let sizing = sized(6_000.0, "", &["aws/io2", "oci", "netapp/aff-a800"]);
    let html = page_html(&page(&sizing));
    for choice in &sizing.choices {
        let room = choice.binds.as_ref().unwrap().over - 1.0;
        let width = (room.clamp(0.0, 1.0) * 1_520.0).round() / 10.0;
        assert!(html.contains(&format!("<rect class=\"solid\" x=\"4\" y=\"3\" width=\"{width}\"")), "{room}: {width}");
    }
}

#[test]
fn storage_without_a_resource_is_a_comment() {
    let sizing = sized(6_000.0, "", &["netapp/aff-a800"]);
    let text = terraform(&sizing).unwrap();
    assert!(text.starts_with("# The recommendation of netapp is not written: netapp/aff-a800 has no"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn the_reason_of_a_refusal_is_the_verdict() {
    let share = MachineShare::of_all(2);
    let cluster = Cluster { instances: Vec::new(), covered: 2, count: 2, waits: 0.1, share, ended: None };
    let platform = Platform { cluster: Some(cluster), ..Platform::default() };
    let required = SizingRequirements { platform, ..derive_requirements(6_000.0, "") };
    let catalogue = Catalogue::built_in();
    let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
    let search = Search::among(&catalogue, &["azure".to_owned()]).unwrap();
    let sizing = size(&catalogue, &required, &terms, &search);
    let summary = page_summary(&page(&sizing), "--details", &TextStyle::default());
    assert!(summary.contains("No configuration is eligible"), "{summary}");
    let caution = &page(&sizing).headline.unwrap().cautions[0];
    assert!(caution.contains("does not support RAC") && caution.contains(" products)"), "{caution}");
}

#[test]
fn json_has_every_choice_and_csv_a_row_for_each() {
    let sizing = sized(6_000.0, "read p99<=20ms", &["aws", "gcp"]);
    let json: serde_json::Value = serde_json::from_slice(&sizing_json(&sizing, &WhatIfs::default())).unwrap();
    assert_eq!(json["format"], "plimsoll.sizing/1");
    assert_eq!(json["choices"].as_array().unwrap().len(), sizing.choices.len());
    assert_eq!(json["wanted"]["points"][0]["classes"][0]["class"], "random reads");
    assert!(json["choices"][0]["binds"]["over_design_point"].as_f64().unwrap() >= 1.0 - 1e-6);
    let csv = page_csv(&page(&sizing));
    let rows = 1 + sizing.choices.len() + sizing.nearly.len() + sizing.rejected.len();
    assert_eq!(csv.matches("\r\n").count(), rows);
    assert!(csv.starts_with("verdict,rank,configuration,"), "{csv}");
}

#[test]
fn resources_have_the_attributes_of_their_provider() {
    let of = |name: &str, iops: f64| terraform(&sized(iops, "", &[name])).unwrap();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cases: [(&str, f64, &[&str]); 5] = [
        ("aws/io2", 5_000.0, &["resource \"aws_ebs_volume\"", "type = \"io2\"", "size = 1000", "iops = 6000"]),
        ("oci", 5_000.0, &["resource \"oci_core_volume\"", "size_in_gbs = 1000", "vpus_per_gb = 10"]),
        (
            "azure/ultra",
            5_000.0,
            &[
                "resource \"azurerm_managed_disk\"",
                "\"UltraSSD_LRS\"",
                "disk_iops_read_write = 6000",
                "zone = var.azure_zone",
            ],
        ),
        ("gcp/hyperdisk-extreme", 5_000.0, &["resource \"google_compute_disk\"", "provisioned_iops = "]),
        ("gcp/hyperdisk-balanced-ha", 5_000.0, &["resource \"google_compute_region_disk\"", "replica_zones = ["]),
    ];
    for (name, iops, reported) in cases {
        let text = of(name, iops);
        for one in reported {
            assert!(words(&text).contains(one), "{one} in {text}");
        }
        for used in text.split("var.").skip(1) {
            let name: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            assert!(text.contains(&format!("variable \"{name}\"")), "{name} is declared in {text}");
        }
    }
}

#[test]
fn members_of_a_stripe_are_counted_and_named() {
    let text = terraform(&sized(150_000.0, "", &["gcp/hyperdisk-balanced"])).unwrap();
    assert!(text.contains("count") && text.contains("plimsoll-data-${count.index}"), "{text}");
    assert!(text.contains("# stripe(") && text.contains("USD a month in us-central1, price list ("), "{text}");
}

#[test]
fn oracle_before_12_2_has_the_sector_size_in_terraform() {
    let of = |release: &str| {
        let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
        let search = Search { products: vec!["azure/premium-ssd-v2".into()], ..Search::default() };
        let platform = Platform { oracle_release: Some(release.to_owned()), ..Platform::default() };
        let sizing = size(
            &Catalogue::built_in(),
            &SizingRequirements { platform, ..derive_requirements(6_000.0, "") },
            &terms,
            &search,
        );
        terraform(&sizing).unwrap()
    };
    let attribute = |text: &str| {
        let words: Vec<&str> =
            text.lines().find(|line| line.contains("logical_sector_size"))?.split_whitespace().collect();
        Some(words.join(" "))
    };
    assert_eq!(attribute(&of("11.2.0.4.0")).as_deref(), Some("logical_sector_size = 512"));
    assert_eq!(attribute(&of("19.0.0.0.0")), None);
}

#[test]
fn licences_are_counted_by_the_rule_of_the_provider() {
    let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
    let of = |name: &str, processors: f64, gib: u64| {
        let platform = Platform { oracle_release: Some("19.0.0.0.0".to_owned()), ..Platform::default() };
        let compute = Compute { processors: Some(processors), memory: Some(Bytes::gib(gib)) };
        let demand = SizingRequirements { platform, compute, ..derive_requirements(3_000.0, "") };
        let search = Search { products: vec![name.to_owned()], ..Search::default() };
        let mut sizing = size(&Catalogue::built_in(), &demand, &terms, &search);
        sizing.fewer_processors = fewer_processors(&Catalogue::built_in(), &terms, &sizing);
        check(&sizing)
    };
    let aws = of("aws/io2", 16.0, 64);
    assert!(
        aws.contains("16 vCPUs: 8 processor licences of Enterprise Edition if two vCPUs share a core, 16 if"),
        "{aws}"
    );
    assert!(aws.contains("without a core factor") && aws.contains("Standard Edition 2 is not allowed"), "{aws}");
    let small = of("aws/io2", 4.0, 16);
    assert!(small.contains("4 vCPUs: 2 processor licences") && !small.contains("Standard Edition 2"), "{small}");
    // Fewer vCPUs are not fewer licences if they are cores: both numbers are stated, and constrained cores are disputed.
    let azure = of("azure/premium-ssd", 4.0, 200);
    assert!(azure.contains("has 8 vCPUs (4 or 8 licences) for") && azure.contains("constrained cores"), "{azure}");
    let oci = of("oci/block-volume", 8.0, 64);
    assert!(oci.contains("counted by OCPUs, and sources differ") && !oci.contains("processor licences"), "{oci}");
}

#[test]
fn platforms_without_support_are_refused_in_the_headline() {
    let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
    let products = ["aws/io2", "azure/premium-ssd", "oci/block-volume"].map(str::to_owned).to_vec();
    let search = Search { products, ..Search::default() };
    let cluster = Cluster {
        instances: Vec::new(),
        covered: 2,
        count: 2,
        waits: 0.1,
        share: MachineShare::of_all(2),
        ended: None,
    };
    let platform = Platform { cluster: Some(cluster), ..Platform::default() };
    let cluster_wanted = SizingRequirements { platform, ..derive_requirements(6_000.0, "") };
    let sizing = size(&Catalogue::built_in(), &cluster_wanted, &terms, &search);
    let headline = page(&sizing).headline.unwrap();
    let choice = &headline.details[0];
    assert!(choice.contains("oci/block-volume") && choice.contains("2 x oci/"), "{headline:?}");
    let refused = "Refused, as Oracle does not support RAC there: aws, azure (--unsupported includes them)";
    assert!(headline.details.iter().any(|text| text.contains(refused)), "{headline:?}");
    // The recommended platform is neither supported nor refused by a document.
    assert!(headline.text.ends_with("RAC undocumented"), "{headline:?}");
    let unclear = &headline.cautions[0];
    assert!(unclear.contains("RAC of 2 instances, each machine for all of the load"), "{headline:?}");
    assert!(unclear.contains("at oci, Oracle documents RAC as a service only"), "{headline:?}");
    assert!(
        headline.details.iter().any(|text| text.starts_with("Support unknown: Oracle documents RAC at OCI")),
        "{headline:?}"
    );
    let alone = SizingRequirements { platform: Platform::default(), ..cluster_wanted.clone() };
    let single = page(&size(&Catalogue::built_in(), &alone, &terms, &search)).headline.unwrap();
    assert!(
        !single.text.contains("RAC") && !single.cautions.iter().any(|caution| caution.contains("RAC")),
        "{single:?}"
    );
    let search = Search { products: vec!["aws/io2".to_owned()], ..Search::default() };
    let headline = page(&size(&Catalogue::built_in(), &cluster_wanted, &terms, &search)).headline.unwrap();
    assert!(headline.text.contains("No configuration is eligible"), "{headline:?}");
}

#[test]
fn peaks_of_a_mean_of_days_have_a_price_without_them() {
    let mut days = sized(1_000.0, "", &["oci/block-volume"]);
    let kind = StepKind::Peaks(PeakSource::BusyPeriods);
    days.required.steps = vec![GrowthStep { kind, small: 10.1, large: 19.5, scans: 1.0, spread: Some((4.6, 24.0)) }];
    days.required.measured.longest = Span::from_secs(6 * 86_400);
    let mut choice = days.choices[0].clone();
    let mut constant = |choice: &Choice| {
        days.constant_load = Some(OtherLoad { required: days.required.clone(), choice: Some(choice.clone()) });
        page(&days).headline.unwrap().cautions
    };
    assert!(!constant(&choice).iter().any(|text| text.starts_with("Peaks are")), "the price is the same");
    choice.price.as_mut().unwrap().monthly.millionths /= 2;
    let total = choice.total().unwrap();
    let caution = format!(
        "Peaks are 10.1 times the mean of 6 days (busy hours by ADDM, minutes assumed; 4.6 to 24 in measured databases); \
         without, {total} a month (--burst none)."
    );
    let found = constant(&choice);
    assert!(found.contains(&caution), "{found:?}");
}

#[test]
fn conditions_of_the_recommendation_are_cautions_in_a_line() {
    let first = |sizing: &Sizing| page(sizing).headline.unwrap();
    let mut sizing = sized(1_000.0, "", &["oci/block-volume"]);
    // A cap of the processors, for which storage and machine are sized alike.
    sizing.required.compute = Compute { processors: Some(6.0), memory: None };
    let mut capped = sizing.clone();
    let cause = CensorCause::ProcessorCap { share: 0.8, processors: [1.2, 6.0], limit: Some(2.0) };
    capped.required.censored = Some(Censored { cause, up_to: Some(5.0) });
    let choice = capped.choices[0].clone();
    let total = choice.total().unwrap();
    capped.uncapped = Some(OtherLoad { required: sizing.required.clone(), choice: Some(choice) });
    let caution = format!(
        "The resource manager caps the processors (80 % of the time waits), and this is sized for it; without, up to 5 times \
         the rate, 6 processors in use for 1.2: {total} a month (--uncapped)."
    );
    assert!(first(&capped).cautions.contains(&caution), "{:?}", first(&capped).cautions);
    let kind = StepKind::WithoutStall { is_estimated: true };
    let step = GrowthStep { kind, small: 5.0, large: 5.0, scans: 5.0, spread: None };
    capped.required.steps.push(step);
    let caution = "Sized without the cap of the resource manager (80 % of the time waits): up to 5 times the rate, 6 processors in \
                   use for 1.2.";
    assert!(first(&capped).cautions.contains(&caution.to_owned()), "{:?}", first(&capped).cautions);
    let small = "The machine is too small for the database: 2 vCPUs, 8 GiB of 6 vCPUs and 12 GiB required.";
    assert_eq!(first(&sizing).cautions[0], small);
    // Processors that may be cores, and memory that is assumed.
    let mut cores = sizing.clone();
    cores.required.compute_origin.possible_cores = Some(8.0);
    cores.required.compute_origin.processors = Some(ProcessorOrigin::Busy(4.2));
    let caution = "Uncertain machine: the host's processors (8) may be whole cores, then up to 12 vCPUs; 12 GiB of memory assumed \
                   (2 GiB a vCPU) (--vcpus, --memory).";
    assert!(first(&cores).cautions.contains(&caution.to_owned()), "{:?}", first(&cores).cautions);
    cores.required.compute_origin.processors = Some(ProcessorOrigin::Busy(0.3));
    assert!(!first(&cores).cautions.iter().any(|text| text.contains("whole cores")), "the machine has twice as many");
    // A few windows of a backup, and a wider stripe.
    let choice = sizing.choices[0].clone();
    let total = choice.total().unwrap();
    let scans = ScanWindows {
        windows: 1,
        bytes_per_second: 910e6,
        times: 9.1,
        highest: Slot::of("2026-03-01T03:00".parse().ok(), Span::from_secs(3_600)),
        large_reads: 0.958,
        reader: None,
    };
    let point = sizing.required.points[0].clone();
    sizing.without_scans = Some(WithoutScans { scans, point, choice: Some(choice.clone()) });
    let found = first(&sizing).cautions.into_iter().find(|text| text.starts_with("A scan")).unwrap();
    let caution = "A scan or a backup decides: 1 window of up to 910 MB/s (from 2026-03-01 03:00:00), 9.1 times the median, 96 % large reads; \
                   without, ";
    assert!(found.starts_with(caution) && found.contains(&total.to_string()), "{found}");
    sizing.without_scans.as_mut().unwrap().scans.times = 45_000.0;
    let found = first(&sizing).cautions.into_iter().find(|text| text.starts_with("A scan")).unwrap();
    assert!(found.contains(", the median window is nearly idle, 96 % large reads; "), "{found}");
    let reader = TopReader { statement: "a1b2".into(), module: "SQL*Plus".into(), bytes: 1e12 };
    sizing.without_scans.as_mut().unwrap().scans.reader = Some((reader, 0.76));
    let found = first(&sizing).cautions.into_iter().find(|text| text.starts_with("A scan")).unwrap();
    assert!(found.contains("96 % large reads, 76 % by SQL_ID a1b2 (SQL*Plus); without, "), "{found}");
    sizing.less_headroom = Some(LessHeadroom { headroom: 0.19, choice: choice.clone() });
    sizing.wider = Some(choice);
    let configuration = page(&sizing).figures.into_iter().find(|fact| fact.name == "Configuration").unwrap();
    assert_eq!(configuration.remarks[1], format!("{total} with its machine at 19 % headroom (--headroom 19%)"));
    assert!(configuration.remarks[2].starts_with("--stripe 1: "), "{:?}", configuration.remarks);
}

#[test]
fn lone_window_is_left_out_only_if_the_others_are_a_load() {
    let caution = |others: f64| {
        let mut sizing = sized(1_000.0, "", &["oci/block-volume"]);
        let class = sizing.required.points[0].classes[0];
        let window = |iops: f64| DemandWindow { seconds: 300.0, classes: vec![ClassLoad { iops, ..class }] };
        sizing.required.series = std::iter::once(8_000.0).chain(std::iter::repeat_n(others, 47)).map(window).collect();
        sizing.required.measured.iops = 8_000.0;
        let cautions = page(&sizing).headline.unwrap().cautions;
        cautions.into_iter().find(|text| text.starts_with("A single one of")).unwrap_or_default()
    };
    assert_eq!(
        caution(400.0),
        "A single one of 48 windows decides: 8,000 IOPS, and at most 400 in the others; --percentile 97.9 leaves it out."
    );
    for (others, text) in [(79.0, "79"), (0.000_2, "0"), (0.0, "0")] {
        let expected = format!(
            "A single one of 48 windows decides: 8,000 IOPS, and the others are nearly idle (at most {text} IOPS): provide more \
             windows under load."
        );
        assert_eq!(caution(others), expected);
    }
    assert_eq!(caution(4_000.0), "");
}

/// Rows of the table: time today x factor = time then, and their sum is the change of the headline.
#[test]
fn database_time_is_the_sum_of_its_rows() {
    let mut sizing = sized(1_000.0, "", &["oci/block-volume"]);
    let part = |class, [before_s, after_s]: [f64; 2], latencies_s: Option<[f64; 2]>, rule| PartEffect {
        class,
        before_s,
        after_s,
        operation_s: None,
        latencies_s,
        rule,
    };
    let effect = DatabaseEffect {
        before_s: 1_000.0,
        after_s: 1_000.0 - 300.0 - 50.0 - 20.0,
        parts: vec![
            part(Class::RandomRead, [400.0, 100.0], Some([0.004, 0.001]), EffectRule::Latency),
            part(Class::RedoWrite, [100.0, 50.0], Some([0.002, 0.001]), EffectRule::Latency),
            part(Class::Read, [30.0, 10.0], None, EffectRule::LikeReads),
        ],
        retained: vec![(Class::TempWrite, 60.0)],
        filter: FilterWork::Seconds([5.0, 20.0]),
    };
    sizing.choices[0].effect = Some(effect);
    let printed = page(&sizing);
    let blocks = || printed.sections.iter().flat_map(|section| &section.blocks);
    let is_it = |table: &&Table| table.label == "Database time for the same work";
    let tables = || blocks().filter_map(|block| if let Block::Table(table) = block { Some(table) } else { None });
    let table = tables().find(is_it).expect("a table");
    let rows: Vec<Vec<&str>> =
        table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
    assert_eq!(rows[0], ["random reads", "400", "0.25", "100", "mean 1 ms instead of 4 ms"]);
    assert_eq!(rows[2], ["reads", "30", "0.333", "10", "like the other reads (assumed)"]);
    assert_eq!(rows[4], ["all other time", "410", "1", "410", "not storage: unchanged"]);
    let exact = |row: &[plimsoll_report::Cell], column: usize| row[column].exact.parse::<f64>().unwrap();
    let (sum, total) = (table.rows[..5].iter(), &table.rows[5]);
    for column in [1, 3] {
        let sum: f64 = sum.clone().map(|row| exact(row, column)).sum();
        assert!((sum - exact(total, column)).abs() < 1e-9, "{rows:?}");
    }
    assert_eq!(rows[5], ["database time", "1,000", "0.63", "630", "sum"]);
    assert_eq!((rows[6][3], rows[7][3]), ("5", "20"));
    // The most filtering and unchanged other reads: 1 - (630 + 20 + 20) / 1,000.
    assert!(table.notes[0].starts_with("Database time: 33 % to 36 % less, 1,000 s to 630 s"), "{:?}", table.notes);
    let json: serde_json::Value = serde_json::from_slice(&sizing_json(&sizing, &WhatIfs::default())).unwrap();
    let time = &json["choices"][0]["database_time"];
    assert_eq!(time["seconds_after"], 630.0);
    assert_eq!(time["other_seconds"], 410.0);
    assert_eq!((&time["unchanged_seconds"][0], &time["filtering_seconds"][1]), (&60.0.into(), &20.0.into()));
    assert_eq!(time["parts"][0]["latency_seconds"][1], 0.001);
}

#[test]
fn another_problem_than_storage_precedes_the_recommendation() {
    let starts_with_problem = |answer: DiagnosisVerdict, first: &str| {
        let mut sizing = sized(1_000.0, "", &["oci/block-volume"]);
        sizing.required.answer = Some(answer);
        let text = page(&sizing).headline.unwrap().text;
        assert!(text.starts_with(&format!("{first}. Smallest sufficient: OCI Block Volume")), "{text}");
    };
    let main = TimePart::Processor;
    starts_with_problem(
        DiagnosisVerdict::NotStorage { share: 0.004, at_most: 0.006, host_busy: None, main, main_share: 0.4 },
        "Storage is not the problem (0.4 % of database time)",
    );
    starts_with_problem(DiagnosisVerdict::Quiet { active: 0.1 }, "The database is nearly idle (0.1 active sessions)");
    let evidence =
        HostEvidence { busy: 0.04, processors: None, io_wait: None, devices_busy: Some(0.03), in_flight: None };
    starts_with_problem(
        DiagnosisVerdict::Host { limit: HostLimit::Neither, evidence },
        "Storage is not the problem (processors busy 4 %, the busiest device 3 %)",
    );
}

#[test]
fn the_measured_rate_is_that_of_the_expected_load() {
    let mut sizing = sized(1_000.0, "", &["oci/block-volume"]);
    sizing.required.measured.bytes_per_second = 8e6;
    let expected = |sizing: &Sizing| {
        page(sizing).figures.into_iter().find(|fact| fact.name == "Expected").unwrap().remarks[0].clone()
    };
    assert!(expected(&sizing).contains(" IOPS times 3 (peaks); "), "{}", expected(&sizing));
    for point in &mut sizing.required.points {
        point.of = Busiest::Bytes;
    }
    sizing.choices[0].binds.as_mut().unwrap().point = Busiest::Bytes;
    assert!(expected(&sizing).starts_with("measured 8 MB/s times 3 (peaks); "), "{}", expected(&sizing));
}

#[test]
fn a_slower_configuration_is_not_recommended_in_silence() {
    let mut sizing = sized(1_000.0, "", &["oci/block-volume"]);
    sizing.slower = std::mem::take(&mut sizing.choices);
    let headline = page(&sizing).headline.unwrap();
    assert!(headline.text.starts_with("Slower than today: "), "{headline:?}");
    assert!(headline.cautions[0].contains("this is the nearest: --may-be-slower accepts it"), "{headline:?}");
    // Another at a fifth of the price.
    let slower = |choice: &Choice, after_s: f64, part: i128| {
        let mut choice = choice.clone();
        let (parts, retained, filter) = (Vec::new(), Vec::new(), FilterWork::None);
        choice.effect = Some(DatabaseEffect { before_s: 100.0, after_s, parts, retained, filter });
        choice.price.as_mut().unwrap().monthly.millionths /= part;
        choice
    };
    let nearest = sizing.slower[0].clone();
    sizing.slower = vec![slower(&nearest, 142.0, 1), slower(&nearest, 146.0, 5)];
    let (cautions, cheaper) = (page(&sizing).headline.unwrap().cautions, sizing.slower[1].total().unwrap());
    let expected = format!("; {cheaper} with OCI Block Volume");
    let found = cautions.iter().find(|text| text.contains(&expected)).unwrap_or_else(|| panic!("{cautions:?}"));
    assert!(found.contains(": 46 % more (--slower 47% accepts it"), "{found}");
}
