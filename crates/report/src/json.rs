//! Quotes, matches and explanations as JSON: every unit in a key's name, money as decimal text with its currency.
//!
//! The field `format` names form and version; what is not known is absent or null, never zero. A curve's own
//! JSON is made in `plimsoll-record`.

mod catalogue;
mod demand;
mod diagnosis;
mod explanation;
mod matches;
mod offer;
mod quote;
mod sizing;
mod what_if;

use plimsoll_analyse::Fitted;
use plimsoll_catalogue::{Catalogue, Product};
use plimsoll_choose::diagnosis::Diagnosis;
use plimsoll_choose::sizing::Sizing;
use plimsoll_choose::what_if::WhatIfs;
use plimsoll_choose::{Explanation, Matches, Need, Quote, Resemblance};
use plimsoll_ingest::{Demand, Outcome};
use serde_json::Value;

use crate::pages::KeptRun;

/// Quotes as `plimsoll.quote/1`, ending in a newline.
pub fn quotes_json(quotes: &[Quote]) -> Vec<u8> {
    bytes(&quote::quotes(quotes))
}

/// What was needed, what would carry it and what would not, as `plimsoll.match/1`, ending in a newline.
pub fn matches_json(need: &Need, matches: &Matches, near: &[Resemblance]) -> Vec<u8> {
    bytes(&matches::matches(need, matches, near))
}

/// What inputs say, number by number, and their demand, as `plimsoll.demand/1`, ending in a newline.
pub fn demand_json(outcomes: &[Outcome], demand: &Demand) -> Vec<u8> {
    bytes(&demand::demand(outcomes, demand))
}

/// What was found of each database or host, as `plimsoll.diagnosis/1`, ending in a newline.
pub fn diagnoses_json(outcomes: &[Outcome], diagnoses: &[Diagnosis]) -> Vec<u8> {
    bytes(&diagnosis::diagnoses(outcomes, diagnoses))
}

/// What to buy for a demand, and what would be if, as `plimsoll.sizing/1`, ending in a newline.
pub fn sizing_json(sizing: &Sizing, what_ifs: &WhatIfs) -> Vec<u8> {
    let what_ifs = serde_json::json!({ "what_ifs": what_if::what_ifs(what_ifs) });
    bytes(&offer::merged([sizing::sizing(sizing), what_ifs]))
}

/// Measured beside theory as `plimsoll.explanation/1`, ending in a newline.
pub fn explanation_json(explanation: &Explanation) -> Vec<u8> {
    bytes(&explanation::explanation(explanation))
}

/// A fitted model as `plimsoll.fit/1`, ending in a newline.
pub fn fit_json(fitted: &Fitted) -> Vec<u8> {
    bytes(&offer::merged([serde_json::json!({ "format": "plimsoll.fit/1" }), serde_json::json!(fitted)]))
}

/// Every product in short as `plimsoll.catalogue/1`, ending in a newline.
pub fn products_json(products: &Catalogue) -> Vec<u8> {
    bytes(&catalogue::products(products))
}

/// One product in full as `plimsoll.product/1`, ending in a newline.
pub fn product_json(product: &Product) -> Vec<u8> {
    bytes(&catalogue::product(product))
}

/// Kept runs as `plimsoll.runs/1`, ending in a newline.
pub fn runs_json(runs: &[KeptRun]) -> Vec<u8> {
    let run = |run: &KeptRun| {
        serde_json::json!({
            "name": run.name,
            "result": run.result,
            "load_line_iops": run.iops.map(number),
            "objective": run.objective.map(|objective| objective.to_string()),
        })
    };
    bytes(&serde_json::json!({ "format": "plimsoll.runs/1", "runs": runs.iter().map(run).collect::<Vec<_>>() }))
}

fn bytes(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

/// A number, or null for what is none.
fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}
