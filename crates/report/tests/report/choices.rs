//! Quotes, matches, explanations and products as text and JSON, on a catalogue with figures calculated by hand.
#![allow(clippy::unwrap_used)]

use crate::support;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use plimsoll_choose::{
    AboveCeiling, Cause, ConfusedUnits, Explanation, Matches, Need, NoConfiguration, Quote, Rejected, Resemblance,
    Unsuitable, explain, matching, quote,
};
use plimsoll_load::Pace;
use plimsoll_record::Curve;
use plimsoll_report::pages::{self, Detail};
use plimsoll_report::{
    Charset, Color, Page, TextStyle, explanation_json, matches_json, page_csv, page_html, page_markdown, page_summary,
    page_text, quotes_json,
};
use plimsoll_units::Bytes;
use support::page::check_page;
use support::shelf;

const WIDTHS: [usize; 6] = [0, 40, 64, 80, 100, 160];

fn plain(width: usize) -> TextStyle {
    TextStyle { width, ..TextStyle::default() }
}

/// Checks a text: lines within the width without trailing blanks, ASCII on request, colour without changes to words.
fn check(name: &str, text: &dyn Fn(&TextStyle) -> String) {
    for width in WIDTHS {
        let unicode = text(&plain(width));
        assert!(unicode.ends_with('\n'), "{name}");
        for line in unicode.lines() {
            assert!(line.chars().count() <= width.max(40), "{name} at {width}: {line}");
            assert_eq!(line, line.trim_end(), "{name}: blanks at an end");
        }
        assert!(!unicode.contains("NaN") && !unicode.contains("inf "), "{name}: {unicode}");
        let ascii = text(&TextStyle { unicode: Charset::Ascii, ..plain(width) });
        assert!(ascii.is_ascii() && ascii.lines().count() == unicode.lines().count(), "{name}");
        let coloured = text(&TextStyle { color: Color::Ansi, ..plain(width) });
        let pieces = coloured.split("\u{1b}[").enumerate();
        let bare: String =
            pieces.map(|(i, piece)| if i == 0 { piece } else { piece.split_once('m').unwrap().1 }).collect();
        assert_eq!(bare, unicode, "{name}: colour changes no word");
    }
}

/// Checks every form of a page.
fn sound(name: &str, page: &Page) {
    check(name, &|style| page_text(page, style));
    let html = page_html(page);
    check_page(name, &html);
    let regions: Vec<&str> = html.split("role=\"region\" aria-label=\"").skip(1).collect();
    let labels: BTreeSet<&str> = regions.iter().filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(labels.len(), regions.len(), "{name}: landmarks have labels of their own");
    for text in [page_markdown(page), page_csv(page)] {
        assert!(!text.contains('\u{1b}') && !text.contains("NaN"), "{name}: {text}");
    }
}

fn quotes(quotes: &[Quote], style: &TextStyle) -> String {
    page_text(&pages::quotes(quotes), style)
}

fn print_matches(
    (need, matches, near): &(Need, Matches, Vec<Resemblance>),
    detail: Detail,
    style: &TextStyle,
) -> String {
    page_text(&pages::matches(need, matches, near, detail), style)
}

fn explanation(explained: &Explanation, style: &TextStyle) -> String {
    page_text(&pages::explanation(explained), style)
}

/// Joins lines, so that phrases are found wherever they wrap.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn quoted(configs: &[&str]) -> Vec<Quote> {
    let catalogue = shelf::build_catalogue();
    let one = |config: &&str| quote(&catalogue, &config.parse().unwrap(), &shelf::terms(), &shelf::ask()).unwrap();
    configs.iter().map(one).collect()
}

fn build_curve() -> Curve {
    let mut curve = support::build_curve();
    curve.conditions.streams.truncate(1);
    let mut place = 0;
    curve.runs.retain(|_| (place += 1, [1, 3, 7, 9, 15].contains(&place)).1);
    curve
}

fn build_need(iops: u64) -> Need {
    let mut need = Need::of(&build_curve(), Bytes::gib(100)).unwrap();
    need.iops = iops as f64;
    need.objective = "p99<=5ms".parse().unwrap();
    need.streams[0].region.length = Bytes::gib(100);
    need.streams[0].pace =
        Pace::Open { rate: plimsoll_units::Iops::per_second(iops), arrival: plimsoll_load::Arrival::Poisson };
    need
}

fn find_matches(iops: u64) -> (Need, Matches, Vec<Resemblance>) {
    let need = build_need(iops);
    let matches = matching(&shelf::build_catalogue(), &need, &shelf::terms(), 8);
    let near = Resemblance { config: "fast:100GB".parse().unwrap(), factor: 1.12, points: vec![(1, 950.0, 1_040.0)] };
    (need, matches, vec![near])
}

fn explained() -> Explanation {
    static MADE: OnceLock<Explanation> = OnceLock::new();
    let make = || {
        let catalogue = shelf::build_catalogue();
        let offer = catalogue.offer(&"fast:1000GB,iops=20000".parse().unwrap(), &shelf::terms()).unwrap();
        explain(&catalogue, &build_curve(), &offer, &shelf::terms()).unwrap()
    };
    MADE.get_or_init(make).clone()
}

#[test]
fn quote_shows_rates_price_limit_and_lifts() {
    let text = quotes(&quoted(&["fast:100GB,iops=5000"]), &plain(100));
    let expected = "Fast volume, 100 GB, 5,000 IOPS: 5,000 IOPS of 16 KiB random reads, 28.00 USD a month

test/fast:100GB,iops=5000
Fast volume, capacity 100 GiB
carries  5,000 IOPS, 81.9 MB/s of 16 KiB random reads, sustained (verified)
price    28.00 USD a month (verified)
          8.00 USD  storage, 100 GB-month x 0.08 USD
         20.00 USD  IOPS above 1,000, 4,000 IOPS-month x 0.005 USD
         Volumes of the test (2026-01, verified); 121 days old; without taxes
limit    IOPS as provisioned: 5,000 IOPS
         Volumes of the test (2026-01, verified): reads and writes count alike
next     throughput of the level: 131.1 MB/s (125 MiB/s), equal to 8,000 IOPS here (verified)
";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("lift     no other value of iops raises it\n"), "{text}");
    let more = flat(&quotes(&quoted(&["fast:200GB,iops=5000"]), &plain(100)));
    let lift = "lift iops 5000 -> 8000: 8,000 IOPS, for 15.00 USD a month more; next limit: throughput of the level";
    assert!(more.contains(lift), "{more}");
    assert!(text.contains("latency  \"below a millisecond\" - Volumes of the test (2026-01, verified)\n"), "{text}");
    assert!(text.contains("doubt    its latency is half of what the page allows\n"), "{text}");
    assert!(flat(&text).contains("figures from documents, not measured; verified: from the vendor's own document"));
    assert!(quotes(&[], &plain(100)).is_empty());
}

#[test]
fn quote_shows_bursts_members_and_unknown_prices() {
    let text = flat(&quotes(&quoted(&["test/credits:500GiB", "stripe(2,64KiB) of test/credits:100GiB"]), &plain(100)));
    let burst = "burst 3,000 IOPS, 49.2 MB/s for 60 min from full credits of baseline (unverified)";
    assert!(text.contains(burst), "{text}");
    assert!(text.contains("limit baseline: 300 IOPS of each member, equal to 600 IOPS here"), "{text}");
    assert!(text.contains("price the catalogue has no price of test/credits"), "{text}");
    assert!(text.contains("unverified: without a source"), "{text}");
}

#[test]
fn several_quotes_begin_with_a_table() {
    let several = quoted(&["fast:100GB,iops=5000", "fast:200GB,iops=10000", "other/drive"]);
    let text = quotes(&several, &plain(120));
    let highest = "Highest of the configurations: other/drive: 75,000 IOPS of 16 KiB random reads, price unknown\n\
                   other/drive: the catalogue has no price of other/drive\n\n";
    let table = text.strip_prefix(highest).unwrap_or_else(|| panic!("{text}"));
    let table: Vec<String> = table.lines().take(6).map(flat).collect();
    assert_eq!(table[0], "Sustained rates for 16 KiB random reads");
    assert_eq!(table[3], "test/fast:100GB,iops=5000 5,000 81.9 28.00 USD 5.60 USD IOPS as provisioned verified");
    assert_eq!(table[4], "test/fast:200GB,iops=10000 8,000 131.1 61.00 USD 7.63 USD throughput of the level verified");
    assert_eq!(table[5], "other/drive 75,000 1,228.8 – – random reads of the data sheet unverified");
    assert!(!quotes(&several[..1], &plain(120)).contains("per 1,000"), "a single quote has no table");
}

#[test]
fn a_sum_without_a_part_is_marked_in_every_form() {
    let mut several = quoted(&["fast:100GB,iops=5000", "fast:200GB,iops=10000"]);
    several[1].price.as_mut().unwrap().without = vec!["memory of test/fast".to_owned()];
    let page = pages::quotes(&several);
    let text = flat(&page_text(&page, &plain(120)));
    assert!(text.contains("test/fast:200GB,iops=10000 8,000 131.1 at least 61.00 USD –"), "{text}");
    assert!(page_html(&page).contains("at least 61.00"), "the table of HTML");
    let csv = page_csv(&page);
    assert!(csv.contains("131.072,>=61.00,USD,,,"), "{csv}");
    assert_eq!(several[1].monthly(), None);
}

#[test]
fn configurations_that_the_user_named_are_all_on_the_first_screen() {
    let names: Vec<String> = (1..=9).map(|tens| format!("fast:{}GB,iops=5000", 100 * tens)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for lines in [24, 12] {
        let summary = page_summary(&pages::quotes(&quoted(&names)), "--details", &TextStyle { lines, ..plain(100) });
        assert!(names.iter().all(|name| summary.contains(&format!("test/{name}"))), "{summary}");
        assert!(!summary.contains("more row"), "{summary}");
    }
}

#[test]
fn an_unknown_price_has_its_reason_on_the_first_screen() {
    let summary = |configs: &[&str]| flat(&page_summary(&pages::quotes(&quoted(configs)), "--details", &plain(100)));
    let reason = "the catalogue has no price of other/drive";
    assert!(summary(&["other/drive"]).contains(reason), "{}", summary(&["other/drive"]));
    let several = summary(&["fast:100GB,iops=5000", "other/drive"]);
    assert!(several.contains(&format!("other/drive: {reason}")), "{several}");
}

#[test]
fn matches_name_price_room_and_reason() {
    let text = print_matches(&find_matches(2_000), Detail::Normal, &plain(120));
    let cheapest =
        "Fast volume, 100 GB, 2,800 IOPS, 17.00 USD a month, is the cheapest that carries 2,000 IOPS at p99 <= 5 ms\n";
    assert!(text.starts_with(cheapest), "{text}");
    let text = flat(&text);
    assert!(text.contains("2,000 IOPS at p99 <= 5 ms: 8 KiB random"), "{text}");
    assert!(text.contains("test/fast:100GB,iops=2800 17.00 USD 2,800 +40 % p99 "), "{text}");
    assert!(text.contains("no price in the catalogue for these terms:"), "{text}");
    assert!(text.contains("Products that resemble the measured storage fast:100GB, within a factor of 1.12"), "{text}");
    assert!(text.contains("Would not carry it: 1 1 - the catalogue does not know when other/drive answers"), "{text}");
    assert!(text.contains("response times are simulated"), "{text}");
}

#[test]
fn headline_of_matches_names_parts_without_a_price() {
    let (need, mut found, near) = find_matches(2_000);
    found.suitable[0].price.as_mut().unwrap().without = vec!["instance of test/fast".to_owned()];
    let lacks = "17.00 USD a month, without the price of instance of test/fast";
    let text = flat(&print_matches(&(need.clone(), found.clone(), near.clone()), Detail::Normal, &plain(120)));
    let headline = format!(
        "No product with a complete price carries 2,000 IOPS at p99 <= 5 ms; Fast volume, 100 GB, 2,800 IOPS does, {lacks}"
    );
    assert!(text.starts_with(&headline), "{text}");
    assert!(text.contains("at least 17.00 USD"), "{text}");
    let short = flat(&page_text(&pages::matches_short(&need, &found, &near), &plain(100)));
    assert!(short.contains(lacks), "{short}");
}

#[test]
fn short_form_has_eight_lines_at_most() {
    let short = |iops| {
        let (need, found, near) = find_matches(iops);
        page_text(&pages::matches_short(&need, &found, &near), &plain(100))
    };
    for iops in [500, 2_000, 500_000] {
        let text = short(iops);
        assert!((3..=8).contains(&text.lines().count()), "{text}");
    }
    let text = short(500_000);
    assert!(text.starts_with("No product in the catalogue carries 500,000 IOPS"), "{text}");
    assert!(text.contains("most similar: fast:100GB (within a factor of 1.12); all: plimsoll match"), "{text}");
}

#[test]
fn explanation_has_a_row_per_load() {
    let text = explanation(&explained(), &plain(120));
    assert!(text.contains("\ntest/fast:1000GB,iops=20000,"), "{text}");
    let highest = "Maximum throughput: 62,200 IOPS measured, 16,000 in theory (3.88 times the theoretical maximum)\n";
    assert!(text.starts_with(highest), "{text}");
    assert!(
        text.contains("Ceiling: throughput of the level: 131.1 MB/s (125 MiB/s), equal to 16,000 IOPS here"),
        "{text}"
    );
    assert_eq!(text.lines().filter(|line| line.starts_with("depth ")).count(), 3, "{text}");
    assert!(
        text.lines().any(|line| line.starts_with("65,700 IOPS") && line.contains(" – ")),
        "overloaded runs have no ratio: {text}"
    );
    assert!(text.contains("Likely causes\n  "), "{text}");
    let narrow = flat(&explanation(&explained(), &plain(80)));
    assert!(
        narrow.contains("limits in theory: media (depth 1 to depth 4); throughput of the level (depth 64); media ("),
        "{narrow}"
    );
}

#[test]
fn causes_and_rejections_are_sentences_of_their_figures() {
    let mut compared = explained();
    compared.causes = vec![
        Cause::AboveCeiling {
            measured_iops: 2_950.0,
            ceiling: "IOPS of the size".into(),
            allowed_iops: 300.0,
            reason: AboveCeiling::Burst,
            burst_s: Some(2_000.0),
        },
        Cause::Units { factor: 0.9537, units: ConfusedUnits::Mega },
        Cause::FirstDepth { measured_mean_ns: 974e3, theory_mean_ns: 674e3 },
        Cause::CreditsUsedUp {
            credits: Some(5.4e6),
            credit_bytes: None,
            lasting_iops: 100.0,
            ended_s: Some(1_957.0),
            burst_iops: Some(2_855.0),
            offered: Pace::Closed { depth: 4 },
            theory_iops: 100.0,
            theory_mean_ns: 40e6,
        },
    ];
    let text = flat(&page_text(&pages::explanation(&compared), &plain(200)));
    let sentences = [
        "2,950 IOPS were measured, and IOPS of the size allows 300",
        "-> burst credits: at the peak, full credits last 2000 s: measure longer",
        "all saturated loads differ by the factor 0.954",
        "-> units: MB and MiB (or KiB twice) are 4.9 % apart",
        "one operation at a time takes 974 us, and 674 us in theory",
        "-> another layer adds 300 us to each operation",
        "burst credits are used up (5.4 M credits, at 2,855 IOPS after 1,957 s): 100 IOPS from then on",
        "-> theory for a run without credits: 100 IOPS, 40 ms at depth 4",
    ];
    for sentence in sentences {
        assert!(text.contains(sentence), "{sentence} in {text}");
    }
    let json: serde_json::Value = serde_json::from_slice(&explanation_json(&compared)).unwrap();
    let kinds: Vec<&str> =
        json["causes"].as_array().unwrap().iter().filter_map(|cause| cause["kind"].as_str()).collect();
    assert_eq!(kinds, ["above-ceiling", "units", "first-depth", "credits-used-up"]);
    assert_eq!((&json["causes"][1]["units"], &json["causes"][3]["lasting_iops"]), (&"mega".into(), &100.0.into()));

    let (load, mut matched, near) = find_matches(2_000);
    let capacity = NoConfiguration::Capacity(Bytes::gib(4_096));
    let reasons = [
        (Unsuitable::NoConfiguration(capacity), "capacity", "it cannot hold 4 TiB"),
        (
            Unsuitable::Completes { iops: 4e3, required: 12e3 },
            "completes",
            "it completes 4,000 of 12,000 IOPS (simulated)",
        ),
    ];
    matched.rejected = reasons.clone().map(|(reason, ..)| Rejected { name: "a".into(), reason }).into();
    let json: serde_json::Value = serde_json::from_slice(&matches_json(&load, &matched, &near)).unwrap();
    for (rejected, (_, kind, why)) in json["rejected"].as_array().unwrap().iter().zip(reasons) {
        assert_eq!((rejected["kind"].as_str(), rejected["why"].as_str()), (Some(kind), Some(why)));
    }
    assert_eq!(json["rejected"][1]["iops"], 4_000.0);
}

#[test]
fn products_are_listed_and_shown() {
    let catalogue = shelf::build_catalogue();
    let list = flat(&page_text(&pages::build_products_page(&catalogue), &plain(120)));
    assert!(list.contains("test/fast fast volume 20 to 1000 GB USD "), "{list}");
    assert!(list.contains("other (1) other/drive drive 480 GB – 1u "), "{list}");
    let page = page_text(&pages::product(catalogue.find("fast").unwrap()), &plain(120));
    for reported in [
        "test/fast: Fast volume (volume)\n",
        "1 GB is 1,073,741,824 bytes\n",
        "  iops: 1000 to min(20000, 50 * size) in steps of 100; default 1000 [1, 2026-01, verified]\n",
        "    at most 50 for each GB\n",
        "  IOPS as provisioned (volume): iops IOPS; counted per 256 KiB; raised by iops [1, 2026-01, verified]\n",
        "    - IOPS above 1,000: 0.005 per IOPS-month of iops - 1000\n",
        "  station(64, {read_us}us) \"media\" [2, 2026-02, inferred]\n",
        "  read_us = 500 us [2, 2026-01, inferred]\n",
        "Contradictions between documents\n  the table and the prose of the page differ [1, 2026-01, verified]\n",
        "  [1] Volumes of the test https://example.org/volumes\n",
    ] {
        assert!(page.contains(reported), "{reported}\nis not in\n{page}");
    }
}

#[test]
fn several_prices_are_drawn_against_throughput() {
    let drawn = |configs: &[&str]| page_html(&pages::quotes(&quoted(configs)));
    let title = "Price against throughput";
    let page = drawn(&["fast:100GB,iops=1000", "fast:100GB,iops=5000"]);
    assert!(page.contains(title) && page.contains("price a month") && page.contains("sustained IOPS"), "{page}");
    let tip = "5,000\u{a0}IOPS";
    assert!(page.contains(tip), "a point states its figures: {page}");
    assert!(!drawn(&["fast:100GB,iops=1000"]).contains(title), "a single price");
    assert!(!drawn(&["fast:100GB,iops=1000", "other/drive"]).contains(title), "no second price in the same currency");
}

#[test]
fn every_text_follows_its_style() {
    let catalogue = shelf::build_catalogue();
    let several = quoted(&["fast:100GB,iops=5000", "stripe(2,64KiB) of test/credits:500GiB", "other/drive"]);
    sound("quotes", &pages::quotes(&several));
    sound("quote", &pages::quotes(&several[1..2]));
    for iops in [2_000, 500_000] {
        let found = find_matches(iops);
        check("short", &|style| page_text(&pages::matches_short(&found.0, &found.1, &found.2), style));
        for detail in [Detail::Normal, Detail::All] {
            sound("matches", &pages::matches(&found.0, &found.1, &found.2, detail));
        }
    }
    sound("explanation", &pages::explanation(&explained()));
    sound("list", &pages::build_products_page(&catalogue));
    for product in catalogue.products() {
        sound("page", &pages::product(product));
    }
}

#[test]
fn json_names_format_and_units() {
    let read = |bytes: Vec<u8>| serde_json::from_slice::<serde_json::Value>(&bytes).unwrap();
    let json = read(quotes_json(&quoted(&["fast:200GB,iops=5000", "other/drive"]), None));
    assert_eq!(json["format"], "plimsoll.quote/1");
    let first = &json["quotes"][0];
    assert_eq!(first["configuration"], "test/fast:200GB,iops=5000,attachment=plain");
    assert_eq!(first["capacity_bytes"], 214_748_364_800_u64);
    assert_eq!(first["sustained_iops"], 5_000.0);
    assert_eq!(first["price"]["monthly"], serde_json::json!({ "amount": "36.00", "currency": "USD" }));
    let term = serde_json::json!({ "quantity": 200.0, "unit_price": "0.08", "hours": null });
    assert_eq!(first["price"]["parts"][0]["terms"], serde_json::json!([term]));
    assert_eq!(first["limits"][1]["given_bytes_per_second"], 131_072_000.0);
    assert_eq!(first["limits"][0]["source"]["status"], "verified");
    assert_eq!(first["lifts"][0]["option"], "iops");
    assert!(json["quotes"][1]["price"].is_null() && json["quotes"][1]["no_price"].is_string());
    let (need, mut found, near) = find_matches(2_000);
    found.rejected.push(Rejected { name: "a".into(), reason: Unsuitable::Capacity });
    let json = read(matches_json(&need, &found, &near));
    assert_eq!((&json["format"], &json["need"]["objective"]), (&"plimsoll.match/1".into(), &"p99 <= 5 ms".into()));
    assert_eq!(json["carries"][0]["price"]["monthly"]["amount"], "17.00");
    assert!(json["carries"][0]["simulated_objective_ns"].as_u64().unwrap() > 500_000);
    assert_eq!(json["resembles"][0]["points"][0]["depth"], 1);
    assert_eq!(json["rejected"].as_array().unwrap().len(), found.rejected.len());
    let json = read(explanation_json(&explained()));
    assert_eq!(json["format"], "plimsoll.explanation/1");
    assert_eq!(json["loads"][0]["offered_depth"], 1);
    assert!(json["loads"][0]["theory_mean_ns"].as_f64().unwrap() > 490_000.0);
}
