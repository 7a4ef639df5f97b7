//! Choosing storage for uploaded reports: diagnosis, ranked configurations with prices, and sliders for what-ifs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyper::StatusCode;
use plimsoll_catalogue::{Currency, PriceTerms, translate};
use plimsoll_choose::diagnosis::{DiagnoseOptions, Diagnosis, diagnose};
use plimsoll_choose::sizing::{
    Assumption, Best, Choice, ClassObjective, Design, DesignError, Growth, Search, Sizing, SizingRequirements,
    check_counted, derive_requirements, layouts, size as size_storage,
};
use plimsoll_choose::what_if::{CacheWhatIf, WhatIfs, cache, with_reads_left};
use plimsoll_ingest::{DatabaseDemand, Outcome};
use plimsoll_language::{label, say};
use plimsoll_measure::sizing::{MIN_CAPACITY, stored_capacity};
use plimsoll_report::{Page, page_fragment, pages, typeset};
use plimsoll_units::Bytes;
use serde::Serialize;

use crate::ConsoleState;
use crate::answer::{Input, WebAnswer, WebRefusal, WebResult};
use crate::case::{ParsedCase, SearchExtent, SearchResult, SizeRequest};
use crate::figures;
use crate::threads::{SearchProgress, Threads};

const MAX_CHOICES: usize = 12;
/// Maximum number of products among which a slider searches.
const MAX_LEADERS: usize = 2;

#[derive(Debug, Serialize)]
struct Ranking {
    /// The verdict of the report.
    headline: String,
    /// Its kind: `met`, `doubtful` or `missed`.
    verdict: &'static str,
    word: &'static str,
    /// Change of the request if the verdict is not acceptable.
    remedy: &'static str,
    choices: Vec<ChoiceEntry>,
    /// Cache sizes with the reads that they leave; from a full search.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    caches: Vec<CacheEntry>,
    looked_at: u64,
    /// The report as a fragment; from a full search.
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
}

#[derive(Debug, Serialize)]
struct ChoiceEntry {
    like: String,
    title: String,
    monthly: Option<String>,
    jpy: Option<String>,
    iops: Option<f64>,
    limit: Option<String>,
    /// Limit relative to the design point.
    over: Option<f64>,
    machine: Option<String>,
    /// Class and simulated mean response time.
    latency: Vec<(String, u64)>,
    meets: bool,
    slower: bool,
    risks: usize,
}

#[derive(Debug, Serialize)]
struct CacheEntry {
    bytes: f64,
    reads_left: f64,
    monthly: Option<String>,
}

/// The diagnosis as a page of data.
pub fn diagnosis(parsed: &ParsedCase) -> Page {
    let options = DiagnoseOptions { on: None, misses: None };
    let found: Vec<Diagnosis> = parsed.demand.subjects.iter().map(|subject| diagnose(subject, &options)).collect();
    pages::diagnoses(&parsed.outcomes, &parsed.demand, &found)
}

/// Names of the databases and hosts of a case.
pub fn subject_names(parsed: &ParsedCase) -> String {
    let names: Vec<&str> = parsed.demand.subjects.iter().map(|subject| subject.name.as_str()).collect();
    if names.iter().all(|name| name.is_empty()) { label!("the demand").to_owned() } else { names.join(", ") }
}

/// Ranks configurations.
pub fn size(shared: &ConsoleState, input: &Input) -> WebResult {
    let request: SizeRequest = input.read()?;
    let parsed = shared.reports.parsed(input.part(0))?;
    let subject = find_subject(&parsed, &request.subject)?;
    let found = search_catalogue(shared, &parsed, subject, &request, &input.cancelled)?;
    let page = render_sizing(&parsed, &found);
    let headline = page.headline.as_ref().map(|headline| typeset(&headline.text)).unwrap_or_default();
    let headline = match parsed.demand.subjects.len() {
        0 | 1 => headline,
        count if subject.name.is_empty() => say!("First of {count} databases and hosts: {headline}"),
        _ => format!("{}: {headline}", subject.name),
    };
    let [verdict, word, remedy] = judge(&found.sizing);
    let caches = found.what_ifs.cache.as_ref().map(list_caches).unwrap_or_default();
    let choices = list_choices(&found.sizing);
    let html = (request.extent == SearchExtent::Report).then(|| page_fragment(&page).into_string());
    let looked_at = found.sizing.evaluated;
    Ok(WebAnswer::json(&Ranking { headline, verdict, word, remedy, choices, caches, looked_at, html }))
}

/// Progress of the last search of a case.
pub fn report_progress(shared: &ConsoleState, input: &Input) -> WebResult {
    let percent = shared.reports.parsed(input.part(0))?.progress().percent();
    Ok(WebAnswer::json(&serde_json::json!({ "percent": percent })))
}

/// Kind of the verdict, the kind in words, and the remedy.
fn judge(sizing: &Sizing) -> [&'static str; 3] {
    let is_met = |choice: &Choice| choice.meets() && choice.slower.is_empty();
    match sizing.best() {
        Some(Best::Layout(layout)) if layout.parts.iter().all(|part| is_met(&part.choice)) => {
            ["met", label!("meets the conditions"), ""]
        }
        Some(Best::Single(choice)) if is_met(choice) => ["met", label!("meets the conditions"), ""],
        Some(_) => [
            "doubtful",
            label!("with reservations"),
            label!("If it must not be slower, take the first row without ▼, or set an objective."),
        ],
        None if sizing.nearly.is_empty() && sizing.slower.is_empty() => [
            "missed",
            label!("no configuration"),
            label!("No configuration carries the demand: lower the headroom or the objective."),
        ],
        None if sizing.nearly.is_empty() => [
            "missed",
            label!("only slower ones"),
            label!(
                "Configurations that carry the demand are slower than the present storage: allow them, or widen the providers."
            ),
        ],
        None => [
            "missed",
            label!("conditions missed"),
            label!(
                "No configuration meets all conditions; the nearest are listed. Lower the headroom or the objective."
            ),
        ],
    }
}

/// The configuration of the verdict, then the others in their order.
fn list_choices(sizing: &Sizing) -> Vec<ChoiceEntry> {
    let best = match sizing.best() {
        Some(Best::Single(choice) | Best::Slower(choice) | Best::Doubtful(choice)) => Some(choice),
        Some(Best::Layout(_)) | None => None,
    };
    let all = [&sizing.choices, &sizing.nearly, &sizing.slower].into_iter().flatten();
    let others = all.filter(|choice| best.is_none_or(|best| !std::ptr::eq(best, *choice)));
    best.into_iter().chain(others).take(MAX_CHOICES).map(describe_choice).collect()
}

/// The best choice of each cloud as Terraform.
pub fn terraform(shared: &ConsoleState, input: &Input) -> WebResult {
    let request: SizeRequest = input.read()?;
    let parsed = shared.reports.parsed(input.part(0))?;
    let request = SizeRequest { extent: SearchExtent::Report, ..request };
    let found =
        search_catalogue(shared, &parsed, find_subject(&parsed, &request.subject)?, &request, &input.cancelled)?;
    let text = plimsoll_report::terraform(&found.sizing)
        .ok_or_else(|| WebRefusal::bad(label!("no volume of a cloud carries the demand: loosen the conditions")))?;
    Ok(WebAnswer::File("volumes.tf".to_owned(), "text/plain; charset=utf-8", text.into_bytes()))
}

pub fn render_sizing(parsed: &ParsedCase, found: &SearchResult) -> Page {
    pages::sizing(&found.sizing, &found.what_ifs, &parsed.outcomes, MAX_CHOICES)
}

/// The named subject, or the first if there is no name; the ranking states which.
pub fn find_subject<'p>(parsed: &'p ParsedCase, name: &str) -> Result<&'p DatabaseDemand, WebRefusal> {
    let subjects = &parsed.demand.subjects;
    let found = subjects.iter().find(|subject| subject.name == name);
    found.or_else(|| subjects.first().filter(|_| name.is_empty())).ok_or_else(|| {
        WebRefusal::bad(match parsed.refusals().first() {
            _ if !subjects.is_empty() => {
                say!("{name} is not in the reports: reload the page, and choose one of {}", subject_names(parsed))
            }
            Some(refusal) => refusal.clone(),
            None => label!("the reports have no operations of storage: upload an AWR report, or iostat").to_owned(),
        })
    })
}

/// Searches the catalogue, unless the client is gone: a slider supersedes its own requests. The last report is kept, as
/// files and Terraform follow its page.
pub fn search_catalogue(
    shared: &ConsoleState,
    parsed: &ParsedCase,
    subject: &DatabaseDemand,
    request: &SizeRequest,
    cancelled: &Arc<AtomicBool>,
) -> Result<Arc<SearchResult>, WebRefusal> {
    let check_cancelled = || if cancelled.load(Ordering::Relaxed) { Err(superseded()) } else { Ok(()) };
    let _turn = parsed.turn(request.extent, cancelled).ok_or_else(superseded)?;
    if let Some((_, found)) = parsed.report().as_ref().filter(|(conditions, _)| conditions == request) {
        return Ok(Arc::clone(found));
    }
    let required = build_requirements(subject, request)?;
    let terms = dollar_terms();
    let progress = SearchProgress::default();
    *parsed.progress() = progress.clone();
    let search_among = |names: &[String], [begin, end]: [usize; 2]| {
        let search = Search::among(&shared.products, names).map_err(|unknown| WebRefusal::bad(unknown.to_string()))?;
        let pool = Arc::new(Threads { cancelled: Arc::clone(cancelled), progress: progress.in_phase(begin, end) });
        Ok::<Search, WebRefusal>(Search { pool, ..search })
    };
    if request.extent != SearchExtent::Report {
        let leaders = parsed.leaders().clone();
        let uses_leaders =
            request.extent == SearchExtent::Leaders && request.providers.is_empty() && !leaders.is_empty();
        let names = if uses_leaders { &leaders } else { &request.providers };
        let sizing = size_storage(&shared.products, &required, &terms, &search_among(names, [0, 100])?);
        check_cancelled()?;
        if !uses_leaders {
            *parsed.leaders() = list_leaders(&sizing);
        }
        return Ok(Arc::new(SearchResult { sizing, what_ifs: WhatIfs::default() }));
    }
    let full_search = search_among(&request.providers, [0, 60])?;
    let mut sizing = size_storage(&shared.products, &required, &terms, &full_search);
    check_cancelled()?;
    let layout_search = search_among(&request.providers, [60, 80])?;
    sizing.layouts = layouts(&shared.products, &terms, &layout_search, &sizing);
    check_cancelled()?;
    let leaders = list_leaders(&sizing);
    let leader_search = search_among(&leaders, [80, 100])?;
    let readings = parsed.outcomes.iter().filter_map(Outcome::reading);
    let mut curves = readings.flat_map(|reading| &reading.curves);
    // A curve of one trace describes all of it; curves of several do not add up.
    let misses = curves.next().filter(|_| curves.next().is_none());
    let cache = cache(&shared.products, &terms, &leader_search, &sizing, (subject.account.as_ref(), misses, None));
    check_cancelled()?;
    *parsed.leaders() = leaders;
    let found = Arc::new(SearchResult { sizing, what_ifs: WhatIfs { cache, ..WhatIfs::default() } });
    *parsed.report() = Some((request.clone(), Arc::clone(&found)));
    Ok(found)
}

/// The client has sent a later request.
fn superseded() -> WebRefusal {
    WebRefusal::new(StatusCode::CONFLICT, label!("a later request replaced this search"))
}

/// The design point of a request.
fn build_requirements(subject: &DatabaseDemand, request: &SizeRequest) -> Result<SizingRequirements, WebRefusal> {
    let refuse = |error: DesignError| WebRefusal::bad(error.to_string());
    check_counted(subject).map_err(refuse)?;
    let stored = stored_capacity(subject).filter(|_| request.capacity.trim().is_empty());
    let mut requirements = derive_requirements(subject, &design(request, stored)?).map_err(refuse)?;
    requirements.assumptions.extend(stored.map(Assumption::StoredBytes));
    let is_reduced = request.reads_left < 1.0;
    Ok(if is_reduced {
        with_reads_left(&requirements, subject.account.as_ref(), request.reads_left.max(0.01))
    } else {
        requirements
    })
}

/// Products of the best choices.
fn list_leaders(sizing: &Sizing) -> Vec<String> {
    let mut leaders: Vec<String> = Vec::new();
    for choice in sizing.choices.iter().chain(&sizing.nearly).chain(&sizing.slower) {
        let name = choice.offer.product().name();
        if leaders.len() < MAX_LEADERS && !leaders.iter().any(|leader| leader == name) {
            leaders.push(name.to_owned());
        }
    }
    leaders
}

fn design(request: &SizeRequest, stored: Option<Bytes>) -> Result<Design, WebRefusal> {
    let capacity: Bytes = match (request.capacity.trim(), stored) {
        ("", Some(stored)) => stored,
        ("", None) => {
            return Err(WebRefusal::bad(label!(
                "data today: the reports do not contain it: write a size, such as 2TiB"
            )));
        }
        (text, _) => text.parse().map_err(|error| WebRefusal::bad(format!("data today: {error}")))?,
    };
    if capacity < MIN_CAPACITY {
        return Err(WebRefusal::bad(label!("data today: write a size with its unit, such as 2TiB")));
    }
    let is_in = |value: f64, max: f64| (0.0..=max).contains(&value);
    if !is_in(request.growth, 1_000.0) || !is_in(request.headroom, 1_000.0) || request.months > 240 {
        return Err(WebRefusal::bad(label!("growth and headroom are percentages, and months at most 240")));
    }
    let objective = (request.p99_ms > 0.0).then(|| format!("read:p99<={}us", (request.p99_ms * 1e3).round()));
    let objective = objective.map(|text| text.parse::<ClassObjective>()).transpose();
    let growth = Growth { yearly: request.growth / 100.0, months: request.months };
    Ok(Design {
        growth,
        headroom: request.headroom / 100.0,
        objectives: objective.map_err(|error| WebRefusal::bad(error.to_string()))?.into_iter().collect(),
        may_be_slower: request.may_be_slower,
        ..Design::of(capacity)
    })
}

/// Terms of today in US dollars, by which providers are compared.
fn dollar_terms() -> PriceTerms {
    let dollars: Currency = "USD".parse().expect("USD is a currency code");
    PriceTerms { currency: Some(dollars), ..figures::terms() }
}

fn describe_choice(choice: &Choice) -> ChoiceEntry {
    let figures = figures::of_offer(&choice.offer);
    ChoiceEntry {
        like: figures.like,
        title: figures.title,
        monthly: choice.total().map(|total| total.to_string()),
        jpy: figures.jpy,
        iops: figures.iops,
        limit: choice.binds.as_ref().map(|limit| translate(&limit.name).to_owned()),
        over: choice.binds.as_ref().map(|limit| limit.over),
        machine: choice.machine.as_ref().and_then(|machine| machine.offer.short().machine.map(|part| part.to_string())),
        latency: choice.latency.iter().map(|entry| (entry.class.name().to_owned(), entry.mean.as_nanos())).collect(),
        meets: choice.meets(),
        slower: !choice.slower.is_empty(),
        risks: choice.risks.len(),
    }
}

fn list_caches(found: &CacheWhatIf) -> Vec<CacheEntry> {
    let entry = |size: &plimsoll_choose::what_if::CacheSize| CacheEntry {
        bytes: size.bytes,
        reads_left: size.reads,
        monthly: size.choice.as_ref().and_then(Choice::total).map(|total| total.to_string()),
    };
    let today = found.sizes.first().map(|size| CacheEntry {
        bytes: size.bytes - size.more_bytes,
        reads_left: 1.0,
        monthly: found.present.map(|monthly| monthly.to_string()),
    });
    let larger = found.sizes.iter().filter(|size| size.more_bytes > 0.0).map(entry);
    today.into_iter().chain(larger).collect()
}
