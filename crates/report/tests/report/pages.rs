//! Pages and pictures of every curve are well formed, self-contained, accessible and escaped.

use crate::support;

use plimsoll_record::{Curve, Finding, LineBasis, LoadLine, LoadSlot, SlotRole};
use plimsoll_report::pages::{self, Sheet};
use plimsoll_report::{page_html, page_markdown, svg};
use support::markup;
use support::page::check_page;

fn write_html(curves: &[&Curve]) -> String {
    page_html(&support::page(curves))
}

#[test]
fn every_curve_has_a_valid_page() {
    for (name, curve) in support::odd() {
        check_page(name, &write_html(&[&curve]));
    }
}

#[test]
fn void_finding_is_the_headline() {
    let mut curve = support::build_curve();
    curve.findings.push(Finding::GeneratorBound { achieved: 1e5, ceiling: 1.1e5 });
    let page = write_html(&[&curve]);
    let (head, _) = page.split_once("</header>").expect("a page has a head");
    let (alert, verdict) = (head.find("Void: ").expect("the finding"), head.find("Load line: ").expect("the verdict"));
    assert!(alert < verdict && head.contains("weight void"), "{head}");
    let markdown = page_markdown(&support::page(&[&curve]));
    assert!(markdown.lines().nth(2).is_some_and(|line| line.starts_with("**Void: ")), "{markdown}");
}

#[test]
fn runs_of_one_target_have_labels() {
    let (one, other) = (support::build_curve(), support::build_curve());
    let page = write_html(&[&one, &other]);
    for number in 1..=2 {
        let label = format!("{} ({number})", one.subject.name);
        assert!(page.contains(&format!("<h2>{label}: Findings</h2>")), "{label} heads its sections");
        assert!(page.contains(&format!("</svg>{label}</th>")), "{label} is a row of the table");
    }
    assert_eq!(page.matches("--objective 'p99&lt;=1ms'").count(), 2, "commands are shown as a shell reads them");
}

#[test]
fn curves_overlay_in_any_number() {
    let all = support::odd();
    let curves: Vec<&Curve> = all.iter().map(|(_, curve)| curve).collect();
    for count in [0, 2, 3, 7, curves.len()] {
        check_page(&format!("{count} curves"), &write_html(&curves[..count]));
        markup::check(&svg(&curves[..count]));
    }
}

#[test]
fn comparison_begins_with_the_verdict_and_has_every_run() {
    let curves = [support::build_curve(), support::build_curve()];
    let ladder = support::ladder();
    let sheets: Vec<Sheet<'_>> =
        curves.iter().map(|curve| Sheet { curve, ladder: ladder.clone(), price: None }).collect();
    let names = [["before".to_owned()], ["after".to_owned()]];
    let comparison = plimsoll_analyse::compare(&curves[0], &curves[1]);
    let page = page_html(&pages::comparison([&names[0], &names[1]], &comparison, &sheets));
    check_page("comparison", &page);
    let (head, _) = page.split_once("</header>").expect("a page has a head");
    assert!(head.contains("No significant difference"), "{head}");
    let doubts: Vec<&str> = head.matches("all runs: ").collect();
    assert!(!doubts.is_empty(), "cautions of the runs: {head}");
    for part in ["Latency against throughput", "no real change", "before", "after", "Load line by objective"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn every_curve_has_a_valid_picture() {
    for (name, curve) in support::odd() {
        let picture = svg(&[&curve]);
        let elements = markup::check(&picture);
        assert_eq!(elements[..3], ["svg", "title", "desc"], "{name}");
        assert!(picture.contains("prefers-color-scheme: dark") && picture.contains("Source: "), "{name}");
        assert!(!picture.contains("NaN") && !picture.contains("\"inf"), "{name}");
    }
}

#[test]
fn overloaded_load_has_one_mark_that_the_legend_explains() {
    let picture = svg(&[&support::build_curve()]);
    assert_eq!(picture.matches("class=\"cross\"").count(), 2, "the run and the legend");
    for label in ["overloaded: ", "fit: medians of slots", "open load", "closed load"] {
        assert_eq!(picture.matches(label).count(), 1, "{label}");
    }
    let steady = Curve { runs: support::build_curve().runs[..8].to_vec(), ..support::build_curve() };
    assert!(!svg(&[&steady]).contains("overloaded"));
}

/// A line for each percentile, rising, through the load line where it is of the same measure.
#[test]
fn line_of_the_picture_is_the_fit_of_the_estimate() {
    let curve = support::build_curve();
    let (line, basis) = plimsoll_analyse::judged(&curve, "p99<=1ms".parse().unwrap()).expect("it has runs");
    let curve = Curve { load_line: Some(line), basis, ..curve };
    let picture = svg(&[&curve]);
    let paths: Vec<&str> = picture.split("class=\"path open\" d=\"M").skip(1).collect();
    assert_eq!(paths.len(), 3);
    let vertices = |path: &str| -> Vec<(f64, f64)> {
        let numbers = path.split('"').next().unwrap_or_default().split('L').map(|pair| pair.split_once(' ').unwrap());
        numbers.map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).collect()
    };
    for path in &paths {
        assert!(vertices(path).is_sorted_by(|a, b| a.0 <= b.0 && a.1 >= b.1), "{path}");
    }
    let mark = picture.split("class=\"line-mark\"><circle cx=\"").nth(1).expect("the load line is marked");
    let (x, rest) = mark.split_once("\" cy=\"").unwrap();
    let mark: (f64, f64) = (x.parse().unwrap(), rest.split('"').next().unwrap().parse().unwrap());
    let is_near = |vertex: &(f64, f64)| (vertex.0 - mark.0).abs() < 0.2 && (vertex.1 - mark.1).abs() < 0.2;
    assert!(vertices(paths[1]).iter().any(is_near), "{mark:?}: {}", paths[1]);
}

#[test]
fn curves_that_differ_by_more_than_twenty_times_have_a_logarithmic_axis() {
    let slow = |times: f64| {
        let mut curve = support::build_curve();
        for run in &mut curve.runs {
            run.figures.iops.value /= times;
        }
        svg(&[&support::build_curve(), &Curve { load_line: None, ..curve }])
    };
    assert!(slow(50.0).contains(">1,000</text>") && slow(50.0).contains(">10k</text>"));
    assert!(!slow(10.0).contains(">1,000</text>") && slow(10.0).contains(">0</text>"));
}

#[test]
fn external_names_are_escaped() {
    let page = write_html(&[&support::hostile()]);
    assert!(page.contains("/mnt/&lt;b&gt;&amp;&quot;'--"));
    assert!(!page.contains("<b>"));
}

#[test]
fn verdict_is_first() {
    let curve = support::build_curve();
    let page = write_html(&[&curve]);
    let (_, head) = page.split_once("<header>").unwrap();
    let (head, _) = head.split_once("<nav class=\"contents\"").unwrap();
    let (chart, figures) = (head.find("<svg class=\"chart").unwrap(), head.find("<dl class=\"facts\"").unwrap());
    assert!(chart < figures, "the chart is on the first screen");
    for required in ["p99 ≤\u{a0}1\u{a0}ms", "IOPS", "measured", "Latency is the limit", "Nearest the load line"] {
        assert!(head.contains(required), "{required} in {head}");
    }
    let named = |required: &str| support::odd().into_iter().find(|(name, _)| *name == required).unwrap().1;
    assert!(write_html(&[&named("never")]).contains("was missed even at the lightest load"));
    assert!(write_html(&[&named("beyond")]).contains("at least 60,000"));
    assert!(write_html(&[&named("interrupted")]).contains("Interrupted: "));
    assert!(write_html(&[&named("simulated")]).contains("Limited by volume rate, 60,000\u{a0}IOPS: it held 83\u{a0}%"));
}

#[test]
fn load_lines_by_objective_are_shown() {
    let curve = support::build_curve();
    let ladder: Vec<LoadLine> = support::ladder();
    let page = page_html(&pages::curves(&[Sheet { curve: &curve, ladder, price: None }]));
    check_page("ladder", &page);
    assert!(page.contains("Load line by objective") && page.contains("a lower bound"));
    assert!(!write_html(&[&curve]).contains("Load line by objective"));
}

#[test]
fn page_of_a_long_measurement_has_a_bounded_size() {
    let mut curve = support::build_curve();
    for run in &mut curve.runs {
        let slices = run.series.clone();
        (0..60).for_each(|_| run.series.extend_from_slice(&slices));
    }
    assert!(write_html(&[&curve]).len() < 400_000);
}

#[test]
fn completions_after_the_run_do_not_add_to_rates_by_stream() {
    let table = |curve: &Curve| {
        let page = write_html(&[curve]);
        let from = page.find("<h2>By stream and kind").expect("there are several streams");
        page[from..].split("</table>").next().unwrap_or_default().to_owned()
    };
    assert_eq!(table(&support::drained(support::build_curve())), table(&support::build_curve()));
}

#[test]
fn slots_are_drawn_over_time_with_confidence_and_the_next_command() {
    let mut curve = support::build_curve();
    assert!(!write_html(&[&curve]).contains("Slots over time"));
    let slot = |(index, run): (usize, &plimsoll_record::Run)| {
        let start = plimsoll_units::Instant::ZERO + plimsoll_units::Span::from_millis(500 * index as u64);
        LoadSlot::of(run, SlotRole::Pass, 0, start)
    };
    curve.slots = curve.runs.iter().enumerate().map(slot).collect();
    curve.basis = Some(LineBasis::default());
    let page = write_html(&[&curve]);
    check_page("slots", &page);
    for required in
        ["Slots over time", "open load, objective missed", "Confidence: ", " confidence</span>", "plimsoll match"]
    {
        assert!(page.contains(required), "{required}");
    }
}

#[test]
fn prices_of_simulated_configurations_stand_next_to_their_load_lines() {
    let curves = [support::build_curve(), support::build_curve()];
    let price = |quote: &plimsoll_choose::Quote| quote.price.clone().ok();
    let (catalogue, terms, ask) = (support::shelf::build_catalogue(), support::shelf::terms(), support::shelf::ask());
    let offer = |iops: u32| {
        let config = format!("fast:100GB,iops={iops}").parse().expect("a configuration");
        plimsoll_choose::quote(&catalogue, &config, &terms, &ask).expect("an offer")
    };
    let quotes = [1000, 5000].map(offer);
    let sheet = |(curve, quote)| Sheet { curve, ladder: Vec::new(), price: price(quote) };
    let page = pages::curves(&curves.iter().zip(&quotes).map(sheet).collect::<Vec<_>>());
    let html = page_html(&page);
    check_page("priced", &html);
    for part in ["Price against throughput", "load line, IOPS", "price a month"] {
        assert!(html.contains(part), "{part} in {html}");
    }
    let monthly = price(&quotes[1]).expect("it has a price").monthly.to_string();
    assert!(page_markdown(&page).contains(&monthly), "{monthly} in the table");
    let unpriced = page_html(&support::page(&[&curves[0], &curves[1]]));
    assert!(!unpriced.contains("price a month"));
}
