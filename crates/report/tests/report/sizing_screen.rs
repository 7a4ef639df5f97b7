//! The first screen of a sizing: prices with their region, doubts at any width, arithmetic that closes, a caution once.
#![allow(clippy::unwrap_used)]

use plimsoll_catalogue::{Catalogue, Date, PriceTerms};
use plimsoll_choose::diagnosis::{
    CensorCause, Censored, DatabaseEffect, DiagnosisVerdict, FilterWork, SaturationBasis,
};
use plimsoll_choose::sizing::{
    Busiest, Cluster, DesignPoint, Growth, GrowthStep, MachineShare, MemoryOrigin, Platform, Search, Sizing,
    SizingRequirements, StepKind, size,
};
use plimsoll_choose::what_if::WhatIfs;
use plimsoll_ingest::{
    Cap, CapBasis, CapKind, CapLimit, CapOwner, Class, Ingest, InputPosition, InstanceResource, Measure, Origin,
    Outcome, Resource,
};
use plimsoll_report::{Fact, Page, TextStyle, page_summary, page_text, pages};
use plimsoll_units::Span;

use crate::sizing::{derive_requirements, page, sized};

fn find_fact(page: &Page, name: &str) -> Fact {
    page.figures.iter().find(|fact| fact.name == name).unwrap_or_else(|| panic!("{name} in {:?}", page.figures)).clone()
}

fn first_remark(sizing: &Sizing, name: &str) -> String {
    find_fact(&page(sizing), name).remarks.first().cloned().unwrap_or_default()
}

#[test]
fn prices_state_their_region() {
    let table = [("aws/gp3", " in us-east-1"), ("oci/block-volume", ""), ("azure/premium-ssd-v2", " in eastus")];
    for (product, place) in table {
        let sizing = sized(3_000.0, "", &[product]);
        let total = sizing.choices[0].price.as_ref().unwrap().monthly;
        let configuration = find_fact(&page(&sizing), "Configuration").remarks[0].clone();
        assert!(configuration.starts_with(&format!("{total} a month{place}")), "{product}: {configuration}");
        let machine = find_fact(&page(&sizing), "Machine");
        assert!(machine.remarks.iter().any(|remark| remark.contains(&format!(" a month{place}"))), "{machine:?}");
    }
}

#[test]
fn old_prices_of_volume_and_machine_are_doubts() {
    let catalogue = Catalogue::built_in();
    let at = |year| PriceTerms { as_of: Date::day(year, 11, 21), currency: "USD".parse().ok(), region: None };
    let search = Search::among(&catalogue, &["aws/gp3".to_owned()]).unwrap();
    let remarks = |year| {
        let sizing = size(&catalogue, &derive_requirements(3_000.0, ""), &at(year), &search);
        let page = pages::sizing(&sizing, &WhatIfs::default(), &[], 12);
        let machine = find_fact(&page, "Machine").remarks.join(", ");
        (machine, find_fact(&page, "Configuration").remarks.join(", "), find_fact(&page, "Doubts").text)
    };
    let (machine, volume, doubts) = remarks(2028);
    assert!(machine.contains(" days old)") && volume.contains(" days old)"), "{machine}; {volume}");
    assert!(doubts.contains("price of the machine"), "{doubts}");
}

#[test]
fn doubts_stay_at_every_width() {
    let sizing = sized(6_000.0, "", &["aws", "gcp", "azure"]);
    for width in [80, 100, 160] {
        let style = TextStyle { width, ..TextStyle::default() };
        for text in [page_summary(&page(&sizing), "--details", &style), page_text(&page(&sizing), &style)] {
            assert!(text.contains("doubts"), "{width}: {text}");
            let omitted = text.split("columns omitted for the width: ").skip(1);
            let omitted: Vec<&str> =
                omitted.filter_map(|rest| rest.split_once("\n\n").map(|(names, _)| names)).collect();
            assert!(omitted.iter().all(|names| !names.contains("doubts")), "{width}: {omitted:?}");
        }
    }
    let narrow = page_summary(&page(&sizing), "--details", &TextStyle { width: 80, ..TextStyle::default() });
    assert!(narrow.contains("doubts: a "), "{narrow}");
}

/// The expected rate is the sum of the parts of the measured one, each times its factor.
#[test]
fn expected_load_is_the_measured_one_times_its_factors() {
    let mut sizing = sized(6_000.0, "", &["aws/gp3"]);
    let peaks = sizing.required.steps[0].clone();
    let growth = GrowthStep {
        kind: StepKind::Growth(Growth { yearly: 0.5, months: 12 }),
        small: 1.5,
        large: 1.5,
        scans: 1.5,
        spread: None,
    };
    let class = sizing.required.points[0].classes[0];
    let scans = plimsoll_choose::sizing::ClassLoad {
        class: Class::SequentialRead,
        iops: 50.0,
        bytes_per_second: 50e6,
        ..class
    };
    let mut check = |steps: Vec<GrowthStep>, has_scans: bool, measured: f64, expected: &str| {
        let mut classes = sizing.required.points[0].classes.clone();
        classes.retain(|load| load.class != Class::SequentialRead);
        classes.extend(has_scans.then_some(scans));
        sizing.required.points = vec![DesignPoint { of: Busiest::Operations, windows: 1, classes }];
        sizing.required.steps = steps;
        sizing.required.measured.iops = measured;
        assert_eq!(first_remark(&sizing, "Expected"), expected);
    };
    let above = "; limits at least 20 % higher";
    check(vec![], false, 6_000.0, &format!("measured 6,000 IOPS{above}"));
    check(vec![peaks.clone()], false, 2_000.0, &format!("measured 2,000 IOPS times 3 (peaks){above}"));
    check(
        vec![peaks.clone()],
        true,
        2_050.0,
        &format!("measured 2,050 IOPS: 2,000 times 3 (peaks), 50 of scans taken once{above}"),
    );
    check(vec![peaks, growth], false, 1_333.3, &format!("measured 1,330 IOPS times 4.5 (peaks 3, growth 1.5){above}"));
    sizing.required.headroom = 0.0;
    assert!(!first_remark(&sizing, "Expected").contains("limits"));
}

/// A limit in all windows: every figure of the measured rate is the same.
#[test]
fn a_limit_has_one_figure() {
    let rate = |value: f64, basis| {
        let mut sizing = sized(6_010.0, "", &["aws/gp3"]);
        let cause = CensorCause::Saturated {
            measure: Measure::Iops,
            value,
            windows: 30,
            in_flight: 16.0,
            latency_s: 0.005,
            basis,
        };
        sizing.required.censored = Some(Censored { cause, up_to: None });
        sizing.required.measured.iops = 3_005.0;
        let kind = StepKind::WithoutStall { is_estimated: false };
        sizing.required.steps = vec![GrowthStep { kind, small: 2.0, large: 2.0, scans: 2.0, spread: None }];
        let page = page(&sizing);
        let headline = page.headline.clone().unwrap();
        (headline.text, headline.cautions[0].clone(), find_fact(&page, "Expected"))
    };
    let (headline, caution, expected) = rate(2_998.0, SaturationBasis::Queue);
    assert!(headline.starts_with("At least 3,005 IOPS needed, as a limit held the load. "), "{headline}");
    assert!(caution.contains("it stays at 3,005 IOPS in all 30 windows"), "{caution}");
    assert!(caution.contains("sized for 3,005 to 6,010 IOPS"), "{caution}");
    assert!(expected.text.starts_with("6,010 IOPS, "), "{expected:?}");
    let remark = "measured 3,005 IOPS times 2 (guess without the stall or limit); limits at least 20 % higher";
    assert_eq!(expected.remarks[0], remark);
    for figure in ["3,000", "2,998", "3,010"] {
        assert!(!format!("{headline} {caution} {expected:?}").contains(figure), "{figure}");
    }
    // Another rate is another figure, and a limit that is only possible is stated as such.
    let (headline, caution, _) = rate(4_000.0, SaturationBasis::UsualLimit);
    assert!(headline.starts_with("At least 3,005 IOPS needed, as a limit may have held the load. "), "{headline}");
    assert!(caution.contains("it stays at 4,000 IOPS, a usual limit,"), "{caution}");
}

#[test]
fn memory_without_that_of_sessions_is_a_caution() {
    let mut sizing = sized(1_000.0, "", &["oci/block-volume"]);
    let mut check = |resources: &[Resource], is_stated: bool| {
        let part = |resource: &Resource| InstanceResource {
            instance: String::new(),
            resource: *resource,
            value: f64::from(1 << 30) * 4.0,
            window: Span::from_secs(60),
            place: InputPosition { input: "status".into(), origin: Origin::line(1) },
        };
        let parts = resources.iter().map(part).collect();
        sizing.required.compute_origin.memory = Some(MemoryOrigin::Database { parts, share: 0.8 });
        let headline = page(&sizing).headline.unwrap();
        let cautions = headline.cautions.join(" ");
        assert_eq!(cautions.contains("memory of sessions (connections) not counted"), is_stated, "{cautions}");
        let details = headline.details.join(" ");
        assert_eq!(details.contains("the memory of sessions (connections) is in no figure of the input"), is_stated);
    };
    check(&[Resource::SharedMemory], true);
    check(&[Resource::SharedBuffers], true);
    check(&[Resource::SharedMemory, Resource::ProcessMemory], false);
}

#[test]
fn the_quoted_command_has_the_machine() {
    let sizing = sized(3_000.0, "", &["oci/block-volume"]);
    let next = |sizing: &Sizing| page(sizing).next[0].clone();
    let (purpose, command) = next(&sizing);
    assert!(purpose == "Its limits and price" && command.contains(" on oci/"), "{purpose}: {command}");
    let share = MachineShare::of_all(3);
    let cluster = Cluster { instances: Vec::new(), covered: 3, count: 3, waits: 0.1, share, ended: None };
    let platform = Platform { cluster: Some(cluster), ..Platform::default() };
    let required = SizingRequirements { platform, ..derive_requirements(3_000.0, "") };
    let catalogue = Catalogue::built_in();
    let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
    let search = Search::among(&catalogue, &["oci".to_owned()]).unwrap();
    let cluster = size(&catalogue, &required, &terms, &search);
    let (purpose, command) = next(&cluster);
    assert_eq!(purpose, "Limits and price with 1 of the 3 machines");
    assert!(command.contains(" on oci/"), "{command}");
}

#[test]
fn slower_rows_of_tables_are_marked() {
    let mut sizing = sized(6_000.0, "", &["aws/gp3", "aws/io1", "aws/io2"]);
    let (parts, retained, filter) = (Vec::new(), Vec::new(), FilterWork::None);
    let effect = DatabaseEffect { before_s: 100.0, after_s: 140.0, parts, retained, filter };
    for choice in
        sizing.choices.iter_mut().chain(sizing.providers.iter_mut().flat_map(|provider| &mut provider.choices))
    {
        choice.effect = Some(effect.clone());
    }
    let text = page_text(&page(&sizing), &TextStyle { width: 200, ..TextStyle::default() });
    // Rows of the other table have letters, with a legend.
    let is_row = |line: &&str| line.contains("40 % more") && !line.starts_with(' ');
    let rows = text.lines().filter(is_row).collect::<Vec<_>>();
    assert!(rows.len() >= 2, "{text}");
    assert!(rows.iter().all(|row| row.contains("slower than today")), "{rows:#?}");
    sizing.required.may_be_slower = true;
    let text = page_text(&page(&sizing), &TextStyle { width: 200, ..TextStyle::default() });
    assert!(!text.contains("slower than today,"), "accepted: {text}");
}

/// The provider's metric is in a caution with its windows, and not in that of the input as well.
#[test]
fn stalls_and_limits_are_one_caution() {
    let read = |metric: &str| -> Vec<Outcome> {
        let at = |minute: usize| format!("\"2026-11-02T10:{minute:02}:00Z\"");
        let times = (0..12).map(|number| at(number * 5)).collect::<Vec<_>>().join(",");
        let series = |label: &str, value: &str| {
            let values = [value; 12].join(",");
            format!("{{\"Id\":\"m\",\"Label\":\"vol-0a {label}\",\"Timestamps\":[{times}],\"Values\":[{values}]}}")
        };
        let text = format!("{{\"MetricDataResults\":[{},{}]}}", series("VolumeReadOps", "300000"), series(metric, "1"));
        let mut ingest = Ingest::new("metrics.json");
        ingest.feed(text.as_bytes());
        ingest.finish()
    };
    let cap = |basis, metric: &str| Cap {
        part: "vol-0a".to_owned(),
        metric: metric.to_owned(),
        limit: CapLimit { provider: "EBS", owner: CapOwner::Volume, kind: CapKind::Operations, basis },
        points: 12,
        of: 12,
        each: Some(Span::from_secs(300)),
        time: None,
        slots: (0..12).collect(),
    };
    let count = |metric: &str, change: &dyn Fn(&mut Sizing)| {
        let outcomes = read(metric);
        assert!(outcomes.iter().any(|outcome| outcome.reading().is_some_and(|reading| !reading.cautions.is_empty())));
        let mut sizing = sized(3_000.0, "", &["aws/gp3"]);
        change(&mut sizing);
        let cautions = pages::sizing(&sizing, &WhatIfs::default(), &outcomes, 12).headline.unwrap().cautions;
        cautions.iter().filter(|text| text.contains(metric)).count()
    };
    let (stalled, exceeded) = ("VolumeStalledIOCheck", "VolumeIOPSExceededCheck");
    assert_eq!(count(stalled, &|_| {}), 1, "the input's own caution");
    let stall = |sizing: &mut Sizing| {
        sizing.required.incomplete = Some(DiagnosisVerdict::ProviderStall(cap(CapBasis::Stalled, stalled)));
    };
    assert_eq!(count(stalled, &stall), 1);
    let limit = |sizing: &mut Sizing| {
        let cause = CensorCause::Metric { limits: vec![cap(CapBasis::Exceeded, exceeded)], latency_s: None };
        sizing.required.censored = Some(Censored { cause, up_to: None });
    };
    assert_eq!(count(exceeded, &limit), 1);
}
