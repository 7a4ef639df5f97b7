//! Models: any configuration or stages, simulated as they are typed, over measured runs; and the articles.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use maud::{PreEscaped, html};
use plimsoll_language::{Language, label};
use plimsoll_measure::{EffortLevel, SimulationRequest, SweepOptions};
use plimsoll_report::{page_fragment, typeset};
use plimsoll_units::Span;
use serde::{Deserialize, Serialize};

use crate::ConsoleState;
use crate::answer::{Input, WebAnswer, WebRefusal, WebResult};
use crate::commands::{ArticleRequest, CurvePoint, MeasureEvent, Observer, PRESETS};
use crate::layout::{self, Frame};
use crate::{figures, jobs};

/// Maximum length of the text of a model.
const MAX_MODEL_BYTES: usize = 4_096;
/// Time limit of a simulation; the points until then are its result.
const SIMULATION_TIMEOUT: Duration = Duration::from_secs(4);
/// Virtual time of a step of an article.
const STEP: Span = Span::from_millis(500);
/// Time limit of an article.
const ARTICLE_TIMEOUT: Duration = Duration::from_secs(120);
const ARTICLES: [PublishedArticle; 5] = [
    PublishedArticle { name: "oci-levels", config: "oci:50GB@0vpu" },
    PublishedArticle { name: "oci-uhp", config: "oci:1500GB@120vpu" },
    PublishedArticle { name: "tr4969", config: "netapp/aff-a800" },
    PublishedArticle { name: "sakura", config: "sakura/sas-hdd" },
    PublishedArticle { name: "azure-striping", config: "azure/2014:1023GB" },
];

/// A published article, and the configuration that it is simulated on.
struct PublishedArticle {
    name: &'static str,
    config: &'static str,
}

impl PublishedArticle {
    fn title(&self) -> &'static str {
        match self.name {
            "oci-levels" => label!("OCI block volumes of several levels and sizes, with dd"),
            "oci-uhp" => label!("OCI block volumes of Ultra High Performance, with fio"),
            "tr4969" => label!("NetApp TR-4969: AFF A-Series and C-Series under a ladder of threads"),
            "sakura" => label!("SATA disk, SSD and ioDrive of rented servers, with Bonnie++ and tiotest"),
            _ => label!("Disks of Azure in 2014, one and two striped, with CrystalDiskMark 3.0.3"),
        }
    }
}

/// Articles that were simulated. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Articles(Arc<Mutex<SimulatedArticles>>);

/// Results of the simulations of articles.
#[derive(Debug, Default)]
struct SimulatedArticles {
    /// Fragments of pages by article and tag of the language.
    fragments: BTreeMap<(&'static str, &'static str), String>,
    /// Completed percentage of the last simulation.
    percent: BTreeMap<&'static str, u32>,
}

impl Articles {
    fn lock(&self) -> MutexGuard<'_, SimulatedArticles> {
        // Poisoning is harmless: entries are inserted in single steps.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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
            ul class="plain" { @for article in &ARTICLES {
                li { a href={ "/model/articles/" (article.name) } { (article.title()) } " " code { (article.config) } }
            } }
        }
    };
    layout::page(&frame, &content)
}

/// Simulates a model within a time limit.
pub fn simulate(shared: &ConsoleState, input: &Input) -> WebResult {
    let request: SimulateRequest = input.read()?;
    let model = request.model.trim();
    if model.is_empty() || model.len() > MAX_MODEL_BYTES {
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
    let curve = run_limited(SIMULATION_TIMEOUT, &stop, || (shared.commands.simulate)(model, &simulation, observer));
    let curve = curve.map_err(WebRefusal::bad)?;
    let offer = figures::parse_offer(shared, model).ok();
    let ask = curve.conditions.streams.first().map(plimsoll_choose::ask_of);
    let published = offer.as_ref().zip(ask).and_then(|(offer, ask)| figures::find_binding(offer, &ask));
    let priced = offer.as_ref().map(figures::of_offer);
    let load_line = curve.load_line.map(|line| typeset(&plimsoll_report::words::load_line(&line)));
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
fn run_limited<T>(span: Duration, stop: &AtomicBool, work: impl FnOnce() -> T) -> T {
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

/// An article, if it was simulated, or its simulation.
pub fn article_page(shared: &ConsoleState, input: &Input) -> WebResult {
    let article = find_article(input)?;
    let frame = Frame { title: article.title(), place: "/model", scripts: &["report.js", "article.js"] };
    let simulated = shared.articles.lock().fragments.get(&(article.name, Language::current().tag())).cloned();
    let content = html! {
        @if let Some(fragment) = simulated {
            div class="report" { (PreEscaped(fragment)) }
        } @else {
            section class="card" id="article" data-name=(article.name) data-busy=(label!("Simulating …")) {
                h1 { (article.title()) }
                p { progress id="done" max="100" value="0" aria-label=(label!("Progress")) {} " " span id="phase" role="status" {} }
            }
            div id="report" class="report" {}
        }
    };
    Ok(layout::page(&frame, &content))
}

/// Completed percentage of the simulation of an article.
pub fn report_article_progress(shared: &ConsoleState, input: &Input) -> WebResult {
    let percent = shared.articles.lock().percent.get(find_article(input)?.name).copied().unwrap_or(0);
    Ok(WebAnswer::json(&serde_json::json!({ "percent": percent })))
}

/// Simulates an article; a complete one is kept, as the same simulation gives the same figures.
pub fn simulate_article(shared: &ConsoleState, input: &Input) -> WebResult {
    let article = find_article(input)?;
    let request = ArticleRequest { article: article.name, config: article.config, step: STEP };
    let (stop, articles) = (Arc::clone(&input.cancelled), shared.articles.clone());
    let note = move |event| {
        if let MeasureEvent::State(state) = event {
            articles.lock().percent.insert(article.name, (100.0 * state.done) as u32);
        }
    };
    let observer = Observer::new(note, Arc::clone(&stop));
    let page = run_limited(ARTICLE_TIMEOUT, &stop, || (shared.commands.article)(&request, observer));
    let fragment = page_fragment(&page.map_err(WebRefusal::bad)?).into_string();
    if !stop.load(Ordering::Relaxed) {
        shared.articles.lock().fragments.insert((article.name, Language::current().tag()), fragment.clone());
    }
    Ok(WebAnswer::json(&serde_json::json!({ "html": fragment })))
}

fn find_article(input: &Input) -> Result<&'static PublishedArticle, WebRefusal> {
    let found = ARTICLES.iter().find(|article| article.name == input.part(0));
    found.ok_or_else(|| WebRefusal::not_found(label!("no such article: the list has five")))
}
