//! Models: any configuration or stages, simulated as they are typed, over measured runs; and the articles.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use maud::{PreEscaped, html};
use plimsoll_language::label;
use plimsoll_measure::{EffortLevel, SimulationRequest, SweepOptions};
use plimsoll_report::page_fragment;
use plimsoll_units::Span;
use serde::{Deserialize, Serialize};

use crate::ConsoleState;
use crate::answer::{Input, WebAnswer, WebRefusal, WebResult};
use crate::commands::{ArticleRequest, CurvePoint, Observer, PRESETS};
use crate::layout::{self, Frame};
use crate::{figures, jobs};

/// Longest text of a model.
const MODEL_BYTES: usize = 4_096;
/// Time limit of a simulation; the points until then are shown.
const SIMULATION_TIMEOUT: Duration = Duration::from_secs(4);
/// Virtual time of a step of an article.
const STEP: Span = Span::from_millis(500);
/// Time limit of an article.
const ARTICLE_TIMEOUT: Duration = Duration::from_secs(120);
/// Articles: name, title, configuration.
const ARTICLES: [(&str, &str, &str); 5] = [
    ("oci-levels", "OCI block volumes of several levels and sizes, with dd", "oci:50GB@0vpu"),
    ("oci-uhp", "OCI block volumes of Ultra High Performance, with fio", "oci:1500GB@120vpu"),
    ("tr4969", "NetApp TR-4969: AFF A-Series and C-Series under a ladder of threads", "netapp/aff-a800"),
    ("sakura", "SATA disk, SSD and ioDrive of rented servers, with Bonnie++ and tiotest", "sakura/sas-hdd"),
    ("azure-striping", "Disks of Azure in 2014, one and two striped, with CrystalDiskMark 3.0.3", "azure/2014:1023GB"),
];

/// Fragments of the articles that were simulated.
pub type Articles = Mutex<BTreeMap<&'static str, String>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SimulateRequest {
    model: String,
    #[serde(default)]
    preset: String,
    #[serde(default)]
    reads: String,
    #[serde(default)]
    block: String,
}

#[derive(Serialize)]
struct Simulated {
    points: Vec<CurvePoint>,
    load_line: Option<String>,
    /// Whether the time limit ended the simulation.
    cut: bool,
    usd: Option<String>,
    jpy: Option<String>,
    /// Limit of the catalogue for this load: operations per second, and its name.
    published: Option<(f64, String)>,
}

/// The form, the chart and the list of articles.
pub fn render_models(_: &Input) -> WebAnswer {
    let frame = Frame { title: label!("Model"), place: "/model", scripts: &["model.js"] };
    let content = html! {
        h1 { (label!("Model")) }
        section class="card" {
            form id="model" {
                label class="wide" { (label!("Configurations or stages, one per line"))
                    textarea name="models" rows="3" spellcheck="false" autocomplete="off" { "oci:256GB@20vpu\naws/gp3:256GiB" } }
                div class="row" {
                    label { (label!("Load")) select name="preset" { @for preset in PRESETS { option { (preset) } } } }
                    label { (label!("Reads, %")) input name="reads" inputmode="numeric" autocomplete="off" placeholder="70"; }
                    label { (label!("Block size")) input name="block" autocomplete="off" placeholder="8KiB"; }
                    label { (label!("Measured run over it")) select name="run" { option value="" { "–" } } }
                }
            }
            p id="message" class="message" role="status" data-busy=(label!("Simulating …"))
                data-cut=(label!("time limit reached, no load line"))
                data-limit=(label!("published limit")) data-month=(label!("a month")) {}
            div id="curve" class="plot tall" data-height="400" role="img" aria-label=(label!("Response time against throughput")) {}
            ul id="lines" class="plain" {}
        }
        section class="card" {
            h2 { (label!("Published benchmarks, simulated")) }
            ul class="plain" { @for (name, title, config) in ARTICLES {
                li { a href={ "/model/articles/" (name) } { (title) } " " code { (config) } }
            } }
        }
    };
    layout::page(&frame, &content)
}

/// Simulates a model within a time limit.
pub fn simulate(shared: &ConsoleState, input: &Input) -> WebResult {
    let request: SimulateRequest = input.read()?;
    let model = request.model.trim();
    if model.is_empty() || model.len() > MODEL_BYTES {
        return Err(WebRefusal::bad(label!(
            "write a configuration such as oci:256GB@20vpu, or stages such as station(8, 80us)"
        )));
    }
    let simulation = SimulationRequest {
        load: jobs::build_load(&request.preset, &request.reads, &request.block)?,
        sweep: SweepOptions { effort: EffortLevel::Quick, ..SweepOptions::default() },
        ..SimulationRequest::default()
    };
    let stop = Arc::clone(&input.cancelled);
    let observer = Observer::new(|_| (), Arc::clone(&stop));
    let curve = limited(SIMULATION_TIMEOUT, &stop, || (shared.commands.simulate)(model, &simulation, observer));
    let curve = curve.map_err(WebRefusal::bad)?;
    let offer = figures::parse_offer(shared, model).ok();
    let ask = curve.conditions.streams.first().map(plimsoll_choose::ask_of);
    let published = offer.as_ref().zip(ask).and_then(|(offer, ask)| figures::find_binding(offer, &ask));
    let priced = offer.as_ref().map(figures::of_offer);
    let load_line = curve.load_line.map(|line| plimsoll_report::words::load_line(&line));
    Ok(WebAnswer::json(&Simulated {
        points: curve.runs.iter().map(CurvePoint::of).collect(),
        load_line,
        cut: stop.load(Ordering::Relaxed),
        usd: priced.as_ref().and_then(|figures| figures.usd.clone()),
        jpy: priced.and_then(|figures| figures.jpy),
        published,
    }))
}

/// Runs `work`, and sets `stop` when the time is over.
fn limited<T>(span: Duration, stop: &AtomicBool, work: impl FnOnce() -> T) -> T {
    let (done, waiting) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if waiting.recv_timeout(span) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                stop.store(true, Ordering::Relaxed);
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// An article, simulated.
pub fn article_page(shared: &ConsoleState, input: &Input) -> WebResult {
    let existing = ARTICLES.iter().find(|(name, ..)| *name == input.part(0));
    let (name, title, config) =
        existing.ok_or_else(|| WebRefusal::not_found(label!("no such article: the list has five")))?;
    let existing = shared.articles.lock().unwrap_or_else(PoisonError::into_inner).get(*name).cloned();
    let fragment = match existing {
        Some(fragment) => fragment,
        None => simulated_article(shared, input, name, config)?,
    };
    let frame = Frame { title, place: "/model", scripts: &["report.js"] };
    Ok(layout::page(&frame, &html! { div class="report" lang="en" { (PreEscaped(fragment)) } }))
}

/// Simulates an article; a complete one is kept, as the same simulation gives the same figures.
fn simulated_article(
    shared: &ConsoleState,
    input: &Input,
    name: &'static str,
    config: &'static str,
) -> Result<String, WebRefusal> {
    let request = ArticleRequest { article: name, config, step: STEP };
    let stop = Arc::clone(&input.cancelled);
    let observer = Observer::new(|_| (), Arc::clone(&stop));
    let page = limited(ARTICLE_TIMEOUT, &stop, || (shared.commands.article)(&request, observer));
    let fragment = page_fragment(&page.map_err(WebRefusal::bad)?).into_string();
    if !stop.load(Ordering::Relaxed) {
        shared.articles.lock().unwrap_or_else(PoisonError::into_inner).insert(name, fragment.clone());
    }
    Ok(fragment)
}
