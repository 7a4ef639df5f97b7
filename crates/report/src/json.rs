//! Results as JSON: each is a type with its JSON Schema, and names its format and version in the field `format`.
//!
//! Units end the keys, money is decimal text with its currency, and unknown values are null or absent, never zero. The
//! JSON of curves is their file format, in `plimsoll-record`; that of suites has the texts of verdicts, too.

/// Declares types for JSON: the key, type and value of each field, and the result that they are taken from. The
/// documentation of a field is its description in the schema.
macro_rules! view {
    ($($(#[$meta:meta])* struct $name:ident from $from:tt: $of:ty {
        $($(#[$field:meta])* $key:ident: $type:ty = $value:expr,)*
    })*) => {$(
        #[derive(serde::Serialize, schemars::JsonSchema)]
        $(#[$meta])*
        pub(super) struct $name {
            $($(#[$field])* $key: $type,)*
        }

        impl From<$of> for $name {
            fn from($from: $of) -> Self {
                Self { $($key: $value,)* }
            }
        }
    )*};
}

mod catalogue;
mod changes;
mod comparison;
mod demand;
mod diagnosis;
mod doctor;
mod elapsed;
mod explanation;
mod history;
mod keys;
mod matches;
mod nbd_check;
mod offer;
mod prices;
mod quote;
mod requirement;
mod runs;
mod schema;
mod settings;
mod sizing;
mod trial;
mod watch;
mod what_if;

use plimsoll_analyse::{Comparison, Fitted};
use plimsoll_catalogue::{Catalogue, Complaint, PriceListImport, Product, Requirement};
use plimsoll_choose::diagnosis::Diagnosis;
use plimsoll_choose::elapsed::JobTimes;
use plimsoll_choose::sizing::Sizing;
use plimsoll_choose::what_if::WhatIfs;
use plimsoll_choose::{Explanation, Matches, Need, Quote, Resemblance};
use plimsoll_ingest::{Demand, Outcome};
use plimsoll_language::Language;
use plimsoll_record::{Curve, HostCheck, SessionVerdict, StepWork, SuiteRun, Verdict};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::pages::{
    CheckedFeature, CheckedRequirement, CompletedChange, KeptRun, PresetEntry, RunHistory, Settings, Trial, WatchReport,
};

pub use schema::{close_schema, find_schema, schema_names};

/// Quotes as `plimsoll.quote/1`, ending in a newline.
pub fn quotes_json(quotes: &[Quote], jobs: Option<&JobTimes>) -> Vec<u8> {
    to_english(|| quote::QuoteList::from((quotes, jobs)))
}

/// A need and the products that carry it or not, as `plimsoll.match/1`, ending in a newline.
pub fn matches_json(need: &Need, matches: &Matches, near: &[Resemblance]) -> Vec<u8> {
    to_english(|| matches::MatchResult::from((need, matches, near)))
}

/// Inputs, number by number, and their demand, as `plimsoll.demand/1`, ending in a newline.
pub fn demand_json(outcomes: &[Outcome], demand: &Demand) -> Vec<u8> {
    to_english(|| demand::DemandResult::from((outcomes, demand)))
}

/// Diagnoses of databases and hosts, as `plimsoll.diagnosis/1`, ending in a newline.
pub fn diagnoses_json(outcomes: &[Outcome], diagnoses: &[Diagnosis]) -> Vec<u8> {
    to_english(|| diagnosis::Diagnoses::from((outcomes, diagnoses)))
}

/// Configurations for a demand, and its what-ifs, as `plimsoll.sizing/1`, ending in a newline.
pub fn sizing_json(sizing: &Sizing, what_ifs: &WhatIfs) -> Vec<u8> {
    to_english(|| sizing::SizingResult::from((sizing, what_ifs)))
}

/// Measured and theoretical figures as `plimsoll.explanation/1`, ending in a newline.
pub fn explanation_json(explanation: &Explanation) -> Vec<u8> {
    to_english(|| explanation::ExplanationResult::from(explanation))
}

/// A fitted model as `plimsoll.fit/2`, ending in a newline.
pub fn fit_json(fitted: &Fitted) -> Vec<u8> {
    to_english(|| comparison::FitResult::from(fitted))
}

/// A comparison of the runs of two sides as `plimsoll.comparison/2`, ending in a newline.
pub fn comparison_json(names: [&[String]; 2], comparison: &Comparison, curves: &[Curve]) -> Vec<u8> {
    to_english(|| comparison::ComparisonResult::from((names, comparison, curves)))
}

/// Every product in short as `plimsoll.catalogue/1`, ending in a newline.
pub fn products_json(products: &Catalogue) -> Vec<u8> {
    to_english(|| catalogue::Products::from(products))
}

/// One product in full as `plimsoll.product/1`, ending in a newline.
pub fn product_json(product: &Product) -> Vec<u8> {
    to_english(|| catalogue::ProductResult::from(product))
}

/// Product files and their defects as `plimsoll.product-check/1`, ending in a newline.
pub fn checked_products_json(files: &[(String, Vec<Complaint>)]) -> Vec<u8> {
    to_english(|| catalogue::CheckedProducts::from(files))
}

/// What has prices, and the result of an import, as `plimsoll.prices/1`, ending in a newline.
pub fn prices_json(catalogue: &Catalogue, imports: &[(String, PriceListImport)], folder: &str) -> Vec<u8> {
    to_english(|| prices::PricesResult::from((catalogue, imports, folder)))
}

/// Kept runs as `plimsoll.runs/1`, ending in a newline.
pub fn runs_json(runs: &[KeptRun]) -> Vec<u8> {
    to_english(|| runs::Runs::from(runs))
}

/// Changes of a command as `plimsoll.changes/1`, ending in a newline.
pub fn changes_json(changes: &[CompletedChange]) -> Vec<u8> {
    to_english(|| changes::Changes::from(changes))
}

/// Presets as `plimsoll.presets/1`, ending in a newline.
pub fn presets_json(presets: &[PresetEntry]) -> Vec<u8> {
    to_english(|| settings::Presets::from(presets))
}

/// The configuration as `plimsoll.config/1`, ending in a newline.
pub fn settings_json(settings: &Settings) -> Vec<u8> {
    to_english(|| settings::Configuration::from(settings))
}

/// A trial as `plimsoll.trial/1`, ending in a newline.
pub fn trial_json(trial: &Trial<'_>) -> Vec<u8> {
    to_english(|| trial::TrialResult::from(trial))
}

/// Checked features of an NBD server as `plimsoll.nbd-check/1`, ending in a newline.
pub fn nbd_check_json(uri: &str, features: &[CheckedFeature]) -> Vec<u8> {
    to_english(|| nbd_check::NbdCheck::from((uri, features)))
}

/// A requirement that was checked on storage as `plimsoll.requirement-check/1`, ending in a newline.
pub fn requirement_json(checked: &CheckedRequirement<'_>) -> Vec<u8> {
    to_english(|| requirement::RequirementCheck::from(checked))
}

/// The built-in requirements as `plimsoll.requirements/1`, ending in a newline.
pub fn requirements_json(all: &[Requirement]) -> Vec<u8> {
    to_english(|| requirement::Requirements::from(all))
}

/// Checks of a host as `plimsoll.doctor/1`, ending in a newline.
pub fn doctor_json(path: &str, checks: &[HostCheck]) -> Vec<u8> {
    to_english(|| doctor::Doctor::from((path, checks)))
}

/// A figure of a series of runs as `plimsoll.history/2`, ending in a newline.
pub fn history_json(history: &RunHistory) -> Vec<u8> {
    to_english(|| history::History::from(history))
}

/// A registered key of an OCI user, ending in a newline.
pub fn oci_key_json(id: &str) -> Vec<u8> {
    to_english(|| keys::OciKeyResult::from(id))
}

/// A new configuration of the OCI command line: its two files, the fingerprint of its key, and the URL of its control
/// plane, ending in a newline.
pub fn oci_config_json(written: [&str; 4]) -> Vec<u8> {
    to_english(|| keys::OciConfigResult::from(written))
}

/// Identifiers of registered keys of OCI users, ending in a newline.
pub fn oci_keys_json(ids: &[String]) -> Vec<u8> {
    to_json(&ids)
}

/// A new access key of EC2, its secret and the URL of its control plane, ending in a newline.
pub fn ec2_key_json(id: &str, secret: &str, endpoint: &str) -> Vec<u8> {
    to_english(|| keys::Ec2KeyResult::from((id, secret, endpoint)))
}

/// A watch as `plimsoll.watch/1`, ending in a newline.
pub fn watch_json(report: &WatchReport<'_>) -> Vec<u8> {
    to_english(|| watch::WatchResult::from(report))
}

/// A suite: its file format, with the text of each verdict, measured quantity and limit, ending in a newline.
pub fn suite_json(suite: &SuiteRun) -> Vec<u8> {
    /// Readers recognise a run file by the format at its beginning.
    #[derive(Serialize)]
    struct FormatFirst {
        format: Option<Value>,
        #[serde(flatten)]
        rest: Map<String, Value>,
    }
    let Ok(Value::Object(mut rest)) = serde_json::to_value(suite) else {
        unreachable!("a suite is an object with string keys");
    };
    let mut list = |key| rest.get_mut(key).and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default();
    let (mut verdicts, mut steps) = (list("verdicts"), list("steps"));
    for (stored, verdict) in verdicts.iter_mut().zip(&suite.verdicts) {
        stored["text"] = Language::English.scope(|| crate::words::verdict(verdict)).into();
        if let Verdict::Session(SessionVerdict::BindingLimit { limit: Some(limit), .. }) = verdict {
            stored["limit"]["text"] = limit.to_string().into();
        }
    }
    for (stored, step) in steps.iter_mut().zip(&suite.steps) {
        if let Some(quantity) = &step.measures {
            stored["measures"]["text"] = Language::English.scope(|| crate::words::quantity(quantity)).into();
        }
        if let StepWork::Sessions(sessions) = &step.work
            && let Some(limit) = &sessions.limit
        {
            stored["work"]["crowd"]["limit"]["text"] = limit.to_string().into();
        }
    }
    rest.extend([("verdicts", verdicts), ("steps", steps)].map(|(key, list)| (key.to_owned(), list.into())));
    let mut bytes = plimsoll_record::to_json_line(&FormatFirst { format: rest.remove("format"), rest });
    bytes.push(b'\n');
    bytes
}

/// A result whose texts are English, as they are an interface for programs.
fn to_english<V: Serialize>(view: impl FnOnce() -> V) -> Vec<u8> {
    Language::English.scope(|| to_json(&view()))
}

/// A result as it is printed, ending in a newline.
pub fn to_json(result: &impl Serialize) -> Vec<u8> {
    let mut bytes = plimsoll_record::to_json_pretty(result);
    bytes.push(b'\n');
    bytes
}

/// The views of items.
fn each<'a, T: 'a, V: From<&'a T>>(items: impl IntoIterator<Item = &'a T>) -> Vec<V> {
    items.into_iter().map(V::from).collect()
}

/// The view of an item that may be absent.
fn view<'a, T, V: From<&'a T>>(item: Option<&'a T>) -> Option<V> {
    item.map(V::from)
}

/// A number; none if it is not finite, which JSON cannot express.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
