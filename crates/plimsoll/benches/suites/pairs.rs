//! Pairs in turns, and the table of their ratios.

use std::process::Command;

use plimsoll_record::SuiteRun;

use crate::{folder, number};

/// Names and figures of one run; none of what a tool prints no figure of.
pub type Figures = Vec<(String, Option<f64>)>;

/// The listings of a suite, one after the other.
pub fn plimsoll(suite: &str, flags: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(["suite", suite, "--quiet", "--json", "-"])
        .args(flags)
        .arg(folder())
        .env("PLIMSOLL_RUNS", std::env::temp_dir().join("plimsoll-bench-runs"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let suite = SuiteRun::from_json(&output.stdout).unwrap();
    suite.listings.into_iter().map(|listing| listing.text).collect()
}

/// Measures both sides so often, and prints a row for each figure.
pub fn compare(title: &str, unit: &str, mut ours: impl FnMut() -> Figures, mut theirs: impl FnMut() -> Figures) {
    let pairs = number("PLIMSOLL_BENCH_PAIRS", 3);
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        // ABBA: a drift of the storage favours neither.
        if pair % 2 == 0 {
            a.push(ours());
            b.push(theirs());
        } else {
            b.push(theirs());
            a.push(ours());
        }
    }
    println!("\n### {title}\n\n{pairs} pairs, medians; the ratios of single pairs from the least to the most\n");
    println!("| {unit} | plimsoll | the tool | ratio | of pairs |\n|---|---|---|---|---|");
    for (index, (name, _)) in a[0].iter().enumerate() {
        let of = |side: &[Figures]| side.iter().filter_map(|run| run.get(index)?.1).collect::<Vec<f64>>();
        let (ours, theirs) = (of(&a), of(&b));
        let format_median = |values: &[f64]| median(values).map_or("-".to_owned(), |value| format!("{value:.0}"));
        let ratio = median(&ours).zip(median(&theirs)).map_or("-".into(), |(a, b)| format!("**{:.2}**", a / b));
        println!(
            "| {name} | {} | {} | {ratio} | {} |",
            format_median(&ours),
            format_median(&theirs),
            spread(&ours, &theirs)
        );
    }
}

fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn spread(ours: &[f64], theirs: &[f64]) -> String {
    let mut ratios: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| a / b).collect();
    ratios.sort_by(f64::total_cmp);
    match ratios[..] {
        [least, .., max] => format!("{least:.2} to {max:.2}"),
        _ => "-".into(),
    }
}
