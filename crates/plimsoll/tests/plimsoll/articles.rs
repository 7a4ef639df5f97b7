//! Five articles whose figures are reproduced within stated tolerances, or listed with the reason why no model applies.
//! `docs/articles.md` is generated from them, and a test fails if it is stale.
//!
//! `trial.rs` runs quotes and simulations.

mod azure_stripe;
mod command;
mod curves;
mod evidence;
mod figure;
mod mixed_loads;
mod netapp;
mod oci_levels;
mod oci_uhp;
mod page;
mod sakura;
mod sakura_tables;
mod scorecard;
mod shelf;
mod trial;

use std::sync::LazyLock;

use figure::Article;

/// In the order of the page; computed once for all tests.
static ARTICLES: [LazyLock<Article>; 5] = [
    LazyLock::new(oci_levels::article),
    LazyLock::new(netapp::article),
    LazyLock::new(sakura::article),
    LazyLock::new(azure_stripe::article),
    LazyLock::new(oci_uhp::article),
];

fn check(article: &Article) {
    let complaints: Vec<String> = article.figures.iter().filter_map(figure::Figure::complaint).collect();
    assert!(complaints.is_empty(), "{}:\n{}", article.title, complaints.join("\n"));
}

#[test]
fn oci_levels_are_reproduced() {
    check(&ARTICLES[0]);
}

#[test]
fn netapp_is_reproduced() {
    check(&ARTICLES[1]);
}

#[test]
fn sakura_is_reproduced() {
    check(&ARTICLES[2]);
}

#[test]
fn azure_stripe_is_reproduced() {
    check(&ARTICLES[3]);
}

#[test]
fn oci_uhp_is_reproduced() {
    check(&ARTICLES[4]);
}

#[test]
fn the_page_is_fresh() {
    page::check(&ARTICLES.each_ref().map(|article| &**article));
}

#[test]
fn the_scorecard_is_fresh() {
    scorecard::check();
}
