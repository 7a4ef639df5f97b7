//! Pages of diagnoses and sizings: self-contained, valid links, escaped text.
#![allow(clippy::unwrap_used)]

use crate::support::markup;

use std::collections::BTreeSet;

use plimsoll_catalogue::{Catalogue, Date, PriceTerms};
use plimsoll_choose::diagnosis::{DiagnoseOptions, Diagnosis, diagnose};
use plimsoll_choose::sizing::{Design, Growth, Search, Sizing, SizingRequirements, derive_requirements, size};
use plimsoll_choose::what_if::WhatIfs;
use plimsoll_ingest::{Class, Demand, Ingest, Measure, Outcome, Reading};
use plimsoll_report::pages::DemandDetail;
use plimsoll_report::{page_html, pages};
use plimsoll_testkit::Workload;
use plimsoll_units::Bytes;

/// Hourly reports of a database with increasing load.
fn reports(hours: u64) -> Vec<Outcome> {
    let report = |hour: u64| {
        let work = Workload {
            single_reads: 1_080_000 * (hour + 1),
            several_reads: 0,
            blocks_a_read: 16,
            data_writes: 72_000,
            read_us: 8_000 + 1_000 * hour,
            redo_us: 400,
            processor_s: 2_160,
            ..Workload::small_shop(9 + i8::try_from(hour).unwrap())
        };
        let mut ingest = Ingest::new(format!("reports/<awr>_{hour}.html").as_str());
        ingest.feed(work.awr_html().as_bytes());
        ingest.finish()
    };
    (0..hours).flat_map(report).collect()
}

fn join_demand(outcomes: &[Outcome]) -> Demand {
    let readings: Vec<&Reading> = outcomes.iter().filter_map(Outcome::reading).collect();
    Demand::of(&readings)
}

fn diagnosed(outcomes: &[Outcome], on: Option<&str>) -> String {
    let catalogue = Catalogue::built_in();
    let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: None, region: None };
    let offer = on.map(|config| catalogue.offer(&config.parse().unwrap(), &terms).unwrap());
    let demand = join_demand(outcomes);
    let options = DiagnoseOptions { on: offer.as_ref(), misses: None };
    let found: Vec<Diagnosis> = demand.subjects.iter().map(|subject| diagnose(subject, &options)).collect();
    page_html(&pages::diagnoses(outcomes, &demand, &found))
}

fn sized(outcomes: &[Outcome], objective: &str, names: &[&str]) -> (Sizing, String) {
    let demand = join_demand(outcomes);
    let growth = Growth { yearly: 0.3, months: 24 };
    let design = Design { growth, objectives: objective.parse().into_iter().collect(), ..Design::of(Bytes::gib(500)) };
    sized_for(outcomes, &derive_requirements(&demand.subjects[0], &design).unwrap(), names)
}

fn sized_for(outcomes: &[Outcome], required: &SizingRequirements, names: &[&str]) -> (Sizing, String) {
    let catalogue = Catalogue::built_in();
    let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let sizing = size(&catalogue, required, &terms, &Search::among(&catalogue, &names).unwrap());
    let page = page_html(&pages::sizing(&sizing, &WhatIfs::default(), outcomes, 12));
    (sizing, page)
}

fn values<'a>(page: &'a str, before: &str) -> Vec<&'a str> {
    page.split(before).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Checks a page. Returns the targets of its links.
fn check(page: &str) -> Vec<&str> {
    markup::check(page);
    let ids = values(page, " id=\"");
    let existing: BTreeSet<&&str> = ids.iter().collect();
    assert_eq!(existing.len(), ids.len(), "ids are unique");
    for named in values(page, "aria-labelledby=\"").iter().flat_map(|ids| ids.split(' ')) {
        assert!(existing.contains(&named), "{named} is not on the page");
    }
    let links = values(page, "href=\"");
    for link in &links {
        let place = link.strip_prefix('#').unwrap_or_else(|| panic!("{link} leads away"));
        assert!(existing.contains(&place), "{link} leads nowhere");
    }
    for outside in ["src=", "url(", "@import", "fetch("] {
        assert!(!page.contains(outside), "{outside}");
    }
    let displayed = &page[page.find("<main>").unwrap()..page.find("<script>").unwrap()];
    assert_eq!(
        displayed.matches("<figure>").count(),
        displayed.matches("<figcaption>Source: ").count(),
        "sources are named"
    );
    assert_eq!(displayed.matches("<th ").count(), displayed.matches(" scope=\"").count(), "headers have a scope");
    for nonsense in ["NaN", "inf ", "\u{1b}", "<awr>"] {
        assert!(!displayed.contains(nonsense), "{nonsense:?}");
    }
    links
}

#[test]
fn verdict_links_to_the_origin_of_its_numbers() {
    let outcomes = reports(1);
    let page = diagnosed(&outcomes, None);
    let links = check(&page);
    let (head, _) = page.split_once("<nav class=\"contents\"").unwrap();
    assert!(head.contains("Storage is the problem") && head.contains("href=\"#d0-o-time\""), "{head}");
    for required in ["#d0-o-random-reads-latency", "#d0-o-random-reads-iops", "#d0-o-event-0", "#d0-origins"] {
        assert!(links.contains(&required), "{required} in {links:?}");
    }
    let from = page.find("id=\"d0-o-event-0\"").unwrap();
    let row = &page[from..from + page[from..].find("</tr>").unwrap()];
    let outcome = outcomes[0].reading().unwrap();
    let wait = outcome.waits.iter().find(|wait| wait.event == "db file sequential read").unwrap();
    assert!(
        row.contains("reports/&lt;awr&gt;_0.html") && row.contains(&format!("<td>{}</td>", wait.origin.line)),
        "{row}"
    );
}

#[test]
fn bars_are_distinct_without_colour() {
    let page = diagnosed(&reports(1), None);
    let chart = page.split("id=\"time-0-wide-d\"").nth(1).unwrap().split("</svg>").next().unwrap();
    assert!(chart.contains("<rect class=\"solid\"") && chart.contains("<rect class=\"hollow\""), "{chart}");
    assert!(chart.contains("80\u{a0}%, "), "{chart}");
}

#[test]
fn several_windows_have_charts_over_time_and_by_rate() {
    let page = diagnosed(&reports(9), Some("aws/gp3:500GiB"));
    check(&page);
    for required in
        ["Demand over time", "Latency against rate", "Ceilings of aws/gp3", "12:00", "Each point is one window."]
    {
        assert!(page.contains(required), "{required}");
    }
    assert_eq!(page.matches("class=\"pt\"").count() % 2, 0, "each chart has a wide and a narrow form");
    let one = diagnosed(&reports(1), None);
    assert!(!one.contains("Demand over time") && one.contains("requires several"));
}

#[test]
fn inputs_without_figures_have_a_page() {
    check(&diagnosed(&[], None));
    let mut ingest = Ingest::new("notes.txt");
    ingest.feed(b"no storage figures");
    let refused = ingest.finish();
    let page = diagnosed(&refused, None);
    check(&page);
    assert!(page.contains("refused") && page.contains("notes.txt"));
}

#[test]
fn sizing_has_every_step_and_choice() {
    let outcomes = reports(3);
    let (sizing, _) = sized(&outcomes, "", &["aws", "oci"]);
    // Without a split of the database's time, every class that is slower counts.
    let account = sizing.required.account.clone();
    let by_class = SizingRequirements { account: None, ..sizing.required };
    let (sizing, page) = sized_for(&outcomes, &by_class, &["aws", "oci"]);
    check(&page);
    assert!(!sizing.slower.is_empty() && page.contains("slower than today"));
    let any = SizingRequirements { may_be_slower: true, account, ..sizing.required };
    let (sizing, page) = sized_for(&outcomes, &any, &["aws", "oci"]);
    let links = check(&page);
    assert!(sizing.choices.len() > 1);
    let expected =
        ["growth", "headroom", "design point", "Do not carry the load", "Price against waiting sessions", "Sources"];
    for required in expected {
        assert!(page.contains(required), "{required}");
    }
    let (head, _) = page.split_once("<nav class=\"contents\"").unwrap();
    let price = sizing.choices[0].price.as_ref().unwrap().monthly.to_string();
    assert!(head.contains(&price.replace(' ', "\u{a0}")), "{price} in {head}");
    let unbroken = page.replace("<wbr>", "");
    for (index, choice) in sizing.choices.iter().take(12).enumerate() {
        assert!(unbroken.contains(&format!("<h3>{}. {}", index + 1, choice.offer.short())), "{index}");
    }
    assert!(links.len() > 3 && links.iter().all(|link| link.starts_with("#s")), "a list of contents: {links:?}");
    assert!(page.contains("Database time: ") && page.contains(" for the same work."));
}

#[test]
fn headline_states_that_no_configuration_carries_the_load() {
    let (sizing, page) = sized(&reports(1), "read p99<=1us", &["aws/gp3"]);
    check(&page);
    assert!(sizing.choices.is_empty() && page.contains("carries the load at read p99"));
    assert!(page.contains("Carry the load, but miss the objective") || page.contains("Do not carry the load"));
}

#[test]
fn first_sentence_of_a_demand_states_its_busiest_window() {
    let outcomes = reports(3);
    let loads = join_demand(&outcomes);
    let page = pages::demand(&outcomes, &loads, DemandDetail::Figures);
    let headline = page.headline.expect("the reports have a load").text;
    assert!(headline.starts_with("Demand of ") && headline.contains(" in the busiest of 3 windows (60 min from "));
    for unit in [" IOPS, ", " % reads, ", " MB/s "] {
        assert!(headline.contains(unit), "{headline}");
    }
    assert!(headline.split_whitespace().count() <= 25, "{headline}");
    let [subject] = &loads.subjects[..] else { panic!("a single database") };
    let total = |index: usize| {
        let rate = |class| subject.series(class, Measure::Iops).unwrap().values[index].unwrap();
        rate(Class::Read) + rate(Class::Write)
    };
    let busiest = (0..3).map(total).fold(0.0, f64::max);
    let stated: f64 =
        headline.split(" IOPS").next().unwrap().rsplit(' ').next().unwrap().replace(',', "").parse().unwrap();
    assert!((stated / busiest - 1.0).abs() < 0.01, "{headline}: {busiest}");
    let none = pages::demand(&[], &Demand::of(&[]), DemandDetail::Figures);
    assert!(none.headline.is_none(), "without a load there is no figure");
}
