//! Measuring, and the library of kept runs: filter, labels, comparison, downloads.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use maud::html;
use plimsoll_language::{Language, label, say};
use plimsoll_measure::{MeasureError, RunFile, StoredRun, load_run_file, name_run};
use plimsoll_record::Curve;
use plimsoll_report::pages::{self, KeptRun, Sheet};
use plimsoll_report::words::source_word;
use plimsoll_report::{Page, page_csv, page_fragment, page_html, typeset};
use serde::{Deserialize, Serialize};

use crate::ConsoleState;
use crate::answer::{Input, WebAnswer, WebRefusal, WebResult, plain_name};
use crate::commands::{CurvePoint, LineFigures, PRESETS};
use crate::layout::{self, Frame};

/// Maximum number of listed runs, newest first.
const MAX_LISTED: usize = 1_000;
/// Maximum number of runs in a chart.
const MAX_OVERLAID: usize = 5;

/// Cache of entries by file and time of modification.
#[derive(Debug, Default)]
pub struct RunList(Mutex<BTreeMap<PathBuf, (SystemTime, Language, RunEntry)>>);

#[derive(Clone, Debug, Serialize)]
pub struct RunEntry {
    name: String,
    result: String,
    /// The load line of a curve.
    line: Option<LineFigures>,
    subject: String,
    source: String,
    started: Option<String>,
    is_curve: bool,
    label: String,
}

fn build_page(run: &StoredRun) -> Page {
    match run {
        StoredRun::Curve(curve) => pages::curves(&Sheet::all(std::slice::from_ref(curve))),
        StoredRun::Suite(suite) => pages::suites(std::slice::from_ref(suite)),
    }
}

/// The form of a measurement, its live curve, and the library.
pub fn measure_page(_: &Input) -> WebAnswer {
    let frame = Frame { title: label!("Measure"), place: "/measure", scripts: &["measure.js"] };
    let content = html! {
        h1 { (label!("Measure")) }
        section class="card" {
            form id="start" {
                div class="row" {
                    label class="wide" { (label!("Directory, file, device or export"))
                        input name="path" required autocomplete="off" list="volumes" placeholder="/var/lib/postgresql"; }
                    datalist id="volumes" {}
                    label { (label!("Load")) select name="preset" { @for preset in PRESETS { option { (preset) } } } }
                    label { (label!("Time")) select name="duration" {
                        option value="quick" { (label!("15 s, rough")) } option value="" selected { (label!("1 min")) } option value="120s" { (label!("2 min")) } option value="600s" { (label!("10 min")) }
                    } }
                    label { (label!("Objective")) input name="objective" autocomplete="off" placeholder="p99<=1ms"; }
                    label { (label!("Size of the file")) input name="size" autocomplete="off" placeholder="8GiB"; }
                }
                label class="check" { input type="checkbox" name="destroy";
                    (label!("Write to this existing file, device or export: its data are lost")) }
                p { button { (label!("Start")) } }
            }
        }
        section class="card" id="job" hidden {
            h2 { (label!("Measurement")) " " small id="what" {} }
            p id="progress" { progress id="done" max="1" value="0" aria-label=(label!("Progress")) {} " " span id="phase" {} }
            dl class="tiles" {
                div { dt { "IOPS" } dd id="iops" { "–" } }
                div { dt { "p99" } dd id="p99" { "–" } }
                div { dt { (label!("Points")) } dd id="count" { "0" } }
                div { dt { (label!("Left")) } dd id="left" { "–" } }
            }
            p id="line" role="status" data-so-far=(label!("Load line so far")) {}
            div id="curve" class="plot" data-height="340" role="img" aria-label=(label!("Response time against throughput")) {}
            ul id="notices" class="plain" {}
            p id="ending" role="status" data-retained=(label!("Kept as")) data-stopped=(label!("Stopped. Kept as"))
                data-gone=(label!("The service was restarted during this measurement: it is not kept.")) {}
            p class="actions" {
                button type="button" id="stop" { (label!("Stop and keep")) }
                a id="open" class="button" hidden { (label!("Open the run")) }
                a id="story" class="button" hidden { (label!("One HTML file to send")) }
                button type="button" id="discard" class="quiet" hidden { (label!("Discard")) }
            }
        }
        section class="card" {
            h2 { (label!("Runs")) }
            div class="row" {
                label class="wide" { (label!("Filter")) input id="filter" type="search" autocomplete="off"; }
                button type="button" id="compare" disabled { (label!("Compare the two that are marked")) }
                button type="button" id="overlay" disabled { (label!("Overlay")) }
            }
            div class="scroll" tabindex="0" role="region" aria-label=(label!("Runs")) {
                table id="runs" data-label=(label!("Label")) data-delete=(label!("Delete")) data-mark=(label!("Mark"))
                    data-sure=(label!("Delete this run for good?")) {
                    thead { tr {
                        th scope="col" { (label!("Run")) }
                        th scope="col" class="l" { (label!("Result")) }
                        th scope="col" class="l" { (label!("Label")) }
                        th scope="col" class="l" { (label!("Actions")) }
                    } }
                    tbody {}
                }
            }
            p id="none" class="lead" hidden {
                (label!("No run was kept yet. Start one above, for example of /var/tmp.")) }
        }
    };
    layout::page(&frame, &content)
}

pub fn run_page(shared: &ConsoleState, input: &Input) -> WebResult {
    let name = input.part(0);
    let page = build_page(&load(shared, name)?);
    let frame = Frame { title: name, place: "/measure", scripts: &["report.js"] };
    let path = |form: &str| format!("/runs/{name}/{form}");
    let content = html! {
        p class="actions" {
            a class="button" href=(path("html")) { "HTML" } " "
            a class="button" href=(path("json")) { "JSON" } " "
            a class="button" href=(path("csv")) { "CSV" } " "
            a href="/measure" { (label!("All runs")) }
        }
        div class="report" { (page_fragment(&page)) }
    };
    Ok(layout::page(&frame, &content))
}

/// The comparison of two runs.
pub fn compare(shared: &ConsoleState, input: &Input) -> WebResult {
    let (before, after) = (input.part(0), input.part(1));
    let compared = shared.runs.compare_files(&find(shared, before)?, &find(shared, after)?);
    let compared = compared.map_err(|error| refuse(&error))?;
    let page = pages::comparison(compared.names(), &compared.comparison, &Sheet::all(&compared.curves()));
    let frame = Frame { title: label!("Comparison"), place: "/measure", scripts: &["report.js"] };
    Ok(layout::page(&frame, &html! { div class="report" { (page_fragment(&page)) } }))
}

/// Several runs in one chart; their names are separated by commas.
pub fn overlay(shared: &ConsoleState, input: &Input) -> WebResult {
    let names: Vec<&str> = input.part(0).split(',').collect();
    if names.len() > MAX_OVERLAID {
        return Err(WebRefusal::bad(say!("a chart has at most {MAX_OVERLAID} runs: mark fewer")));
    }
    let curve = |name: &&str| match load(shared, name)? {
        StoredRun::Curve(curve) => Ok(*curve),
        StoredRun::Suite(_) => {
            Err(WebRefusal::bad(say!("{name} is a suite, which has no curve: mark runs of one load")))
        }
    };
    let curves: Vec<Curve> = names.iter().map(curve).collect::<Result<_, WebRefusal>>()?;
    let page = pages::curves(&Sheet::all(&curves));
    let frame = Frame { title: label!("Overlay"), place: "/measure", scripts: &["report.js"] };
    Ok(layout::page(&frame, &html! { div class="report" { (page_fragment(&page)) } }))
}

/// The file of a run.
pub fn json(shared: &ConsoleState, input: &Input) -> WebResult {
    let name = input.part(0);
    let bytes = fs::read(find(shared, name)?.0).map_err(|error| WebRefusal::failed(format!("{name}: {error}")))?;
    Ok(WebAnswer::File(format!("{name}.json"), "application/json", bytes))
}

/// The tables of a run.
pub fn export_csv(shared: &ConsoleState, input: &Input) -> WebResult {
    let csv = Language::English.scope(|| page_of(shared, input.part(0)).map(|page| page_csv(&page)))?;
    Ok(WebAnswer::File(format!("{}.csv", input.part(0)), "text/csv; charset=utf-8", csv.into_bytes()))
}

/// The report of a run as one file.
pub fn export_html(shared: &ConsoleState, input: &Input) -> WebResult {
    let html = page_html(&page_of(shared, input.part(0))?);
    Ok(WebAnswer::File(format!("{}.html", input.part(0)), "text/html; charset=utf-8", html.into_bytes()))
}

/// The page of a run, for a document that joins several.
pub fn page_of(shared: &ConsoleState, name: &str) -> Result<Page, WebRefusal> {
    Ok(build_page(&load(shared, name)?))
}

/// Points of a curve, to draw it over others.
pub fn points(shared: &ConsoleState, input: &Input) -> WebResult {
    match load(shared, input.part(0))? {
        StoredRun::Curve(curve) => Ok(WebAnswer::json(&curve.runs.iter().map(CurvePoint::of).collect::<Vec<_>>())),
        StoredRun::Suite(_) => Err(WebRefusal::bad(label!("a suite has no curve: choose a run of one load"))),
    }
}

/// All runs, newest first.
pub fn list(shared: &ConsoleState) -> WebAnswer {
    let paths: Vec<PathBuf> = shared.runs.list().into_iter().rev().take(MAX_LISTED).collect();
    let mut entries = shared.run_list.0.lock().unwrap_or_else(PoisonError::into_inner);
    entries.retain(|path, _| paths.contains(path));
    let mut runs = Vec::with_capacity(paths.len());
    for path in paths {
        let Ok(modified) = fs::metadata(&path).and_then(|found| found.modified()) else { continue };
        let entry = match entries.get(&path) {
            Some((at, language, entry)) if (*at, *language) == (modified, Language::current()) => entry.clone(),
            _ => {
                let entry = describe_run(&path);
                entries.insert(path.clone(), (modified, Language::current(), entry.clone()));
                entry
            }
        };
        let label = RunFile(path).note();
        runs.push(RunEntry { label, ..entry });
    }
    WebAnswer::json(&runs)
}

fn describe_run(path: &Path) -> RunEntry {
    let name = name_run(path);
    let unreadable = RunEntry {
        name: name.clone(),
        result: label!("unreadable").to_owned(),
        line: None,
        subject: String::new(),
        source: String::new(),
        started: None,
        is_curve: false,
        label: String::new(),
    };
    match load_run_file(path) {
        Ok(StoredRun::Curve(curve)) => RunEntry {
            result: typeset(&KeptRun::of_curve(name, &curve).result),
            line: curve.load_line.as_ref().map(LineFigures::of),
            source: source_word(&curve.source).to_owned(),
            subject: curve.subject.name,
            started: curve.started,
            is_curve: true,
            ..unreadable
        },
        Ok(StoredRun::Suite(suite)) => RunEntry {
            result: typeset(&KeptRun::of_suite(name, &suite).result),
            source: source_word(&suite.source).to_owned(),
            subject: suite.subject.name,
            started: suite.started,
            ..unreadable
        },
        Err(_) => unreadable,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Label {
    label: String,
}

/// Sets the label of a run; an empty one removes it.
pub fn set_label(shared: &ConsoleState, input: &Input) -> WebResult {
    let file = find(shared, input.part(0))?;
    let Label { label } = input.read()?;
    file.set_note(&label).map_err(|error| refuse(&error))?;
    Ok(WebAnswer::Done)
}

/// Deletes a run with its label and snapshots.
pub fn delete(shared: &ConsoleState, input: &Input) -> WebResult {
    find(shared, input.part(0))?.remove().map_err(|error| refuse(&error))?;
    Ok(WebAnswer::Done)
}

/// The kept run of a name.
fn find(shared: &ConsoleState, name: &str) -> Result<RunFile, WebRefusal> {
    let found = shared.runs.find_exact(name).filter(|_| plain_name(name) == name);
    found.ok_or_else(|| WebRefusal::not_found(say!("{name}: no such run: the list has all of them")))
}

fn load(shared: &ConsoleState, name: &str) -> Result<StoredRun, WebRefusal> {
    find(shared, name)?.load().map_err(|error| refuse(&error))
}

fn refuse(error: &MeasureError) -> WebRefusal {
    match error {
        MeasureError::Usage(_) => WebRefusal::bad(error.to_string()),
        MeasureError::Fault(fault) => WebRefusal::failed(format!("{fault}: {}", fault.source)),
        error => WebRefusal::failed(error.to_string()),
    }
}
