//! Measuring, and the library of kept runs: filter, labels, comparison, downloads.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use maud::html;
use plimsoll_record::{Curve, FormatError, SUITE_FORMAT, SuiteRun};
use plimsoll_report::pages::{self, KeptRun};
use plimsoll_report::{Page, page_csv, page_fragment, page_html};
use serde::{Deserialize, Serialize};

use crate::ConsoleState;
use crate::answer::{Input, WebAnswer, WebRefusal, WebResult, plain_name};
use crate::commands::{CurvePoint, LineSoFar, PRESETS};
use crate::layout::{self, Frame};

/// Runs that are listed, newest first.
const MAX_LISTED: usize = 1_000;
/// A larger file is no run.
const MAX_RUN_BYTES: u64 = 1 << 30;
/// Runs in one chart.
const MAX_OVERLAID: usize = 5;
/// Characters of a label.
const MAX_LABEL: usize = 120;

/// Entries of runs that did not change since they were read.
#[derive(Debug, Default)]
pub struct RunList(Mutex<BTreeMap<PathBuf, (SystemTime, RunEntry)>>);

/// A run in the list.
#[derive(Clone, Debug, Serialize)]
pub struct RunEntry {
    name: String,
    result: String,
    /// The load line of a curve.
    line: Option<LineSoFar>,
    subject: String,
    source: String,
    started: Option<String>,
    is_curve: bool,
    label: String,
}

/// A run of one load, or of a suite.
enum RunSummary {
    Curve(Box<Curve>),
    Suite(Box<SuiteRun>),
}

impl RunSummary {
    fn page(&self, shared: &ConsoleState) -> Page {
        match self {
            Self::Curve(curve) => (shared.commands.curves)(std::slice::from_ref(curve)),
            Self::Suite(suite) => pages::suites(std::slice::from_ref(suite)),
        }
    }
}

/// The form of a measurement, its live curve, and the library.
pub fn measure_page(input: &Input) -> WebAnswer {
    let l = input.language;
    let frame = Frame { title: l.pick("Measure", "測定"), place: "/measure", scripts: &["measure.js"], language: l };
    let content = html! {
        h1 { (l.pick("Measure", "測定")) }
        section class="card" {
            form id="start" {
                div class="row" {
                    label class="wide" { (l.pick("Directory, file, device or export", "ディレクトリ、ファイル、デバイス、またはエクスポート"))
                        input name="path" required autocomplete="off" list="volumes" placeholder="/var/lib/postgresql"; }
                    datalist id="volumes" {}
                    label { (l.pick("Load", "負荷")) select name="preset" { @for preset in PRESETS { option { (preset) } } } }
                    label { (l.pick("Time", "時間")) select name="duration" {
                        option value="quick" { "10 s" } option value="" selected { "1 min" } option value="120s" { "2 min" } option value="600s" { "10 min" }
                    } }
                    label { (l.pick("Objective", "目標値")) input name="objective" autocomplete="off" placeholder="p99<=1ms"; }
                    label { (l.pick("Size of the file", "ファイルサイズ")) input name="size" autocomplete="off" placeholder="8GiB"; }
                }
                label class="check" { input type="checkbox" name="destroy";
                    (l.pick("Write to this existing file, device or export: its data are lost", "既存のファイル、デバイス、エクスポートに書き込む（データは失われます）")) }
                p { button { (l.pick("Start", "開始")) } }
            }
        }
        section class="card" id="job" hidden {
            h2 { (l.pick("Measurement", "測定")) " " small id="what" {} }
            p id="progress" { progress id="done" max="1" value="0" aria-label=(l.pick("Progress", "進捗")) {} " " span id="phase" {} }
            dl class="tiles" {
                div { dt { "IOPS" } dd id="iops" { "–" } }
                div { dt { "p99" } dd id="p99" { "–" } }
                div { dt { (l.pick("Points", "測定点")) } dd id="count" { "0" } }
                div { dt { (l.pick("Left", "残り時間")) } dd id="left" { "–" } }
            }
            p id="line" role="status" data-so-far=(l.pick("Load line so far", "暫定の負荷限界")) {}
            div id="curve" class="plot" data-height="340" role="img" aria-label=(l.pick("Response time against throughput", "スループットと応答時間")) {}
            ul id="notices" class="plain" {}
            p id="ending" role="status" data-kept=(l.pick("Kept as", "保存名:")) data-stopped=(l.pick("Stopped. Kept as", "停止しました。保存名:"))
                data-gone=(l.pick("The service was restarted during this measurement: it is not kept.", "測定中にサービスが再起動されたため、保存されていません。")) {}
            p class="actions" {
                button type="button" id="stop" { (l.pick("Stop and keep", "停止して保存")) }
                a id="open" class="button" hidden { (l.pick("Open the run", "結果を開く")) }
                a id="story" class="button" hidden { (l.pick("One HTML file to send", "送付用 HTML ファイル")) }
                button type="button" id="discard" class="quiet" hidden { (l.pick("Discard", "破棄")) }
            }
        }
        section class="card" {
            h2 { (l.pick("Runs", "結果一覧")) }
            div class="row" {
                label class="wide" { (l.pick("Filter", "絞り込み")) input id="filter" type="search" autocomplete="off"; }
                button type="button" id="compare" disabled { (l.pick("Compare the two that are marked", "選択した2件を比較")) }
                button type="button" id="overlay" disabled { (l.pick("Overlay", "重ねて表示")) }
            }
            div class="scroll" tabindex="0" role="region" aria-label=(l.pick("Runs", "結果一覧")) {
                table id="runs" data-label=(l.pick("Label", "ラベル")) data-delete=(l.pick("Delete", "削除")) data-mark=(l.pick("Mark", "選択"))
                    data-sure=(l.pick("Delete this run for good?", "この結果を完全に削除しますか？")) {
                    thead { tr {
                        th scope="col" { (l.pick("Run", "測定")) }
                        th scope="col" class="l" { (l.pick("Result", "結果")) }
                        th scope="col" class="l" { (l.pick("Label", "ラベル")) }
                        th scope="col" class="l" { (l.pick("Actions", "操作")) }
                    } }
                    tbody {}
                }
            }
            p id="none" class="lead" hidden { (l.pick("No run was kept yet.", "保存された測定結果はありません。")) }
        }
    };
    layout::page(&frame, &content)
}

/// The report of a run.
pub fn run_page(shared: &ConsoleState, input: &Input) -> WebResult {
    let l = input.language;
    let name = input.part(0);
    let page = load(shared, name)?.page(shared);
    let frame = Frame { title: name, place: "/measure", scripts: &["report.js"], language: l };
    let path = |form: &str| format!("/runs/{name}/{form}");
    let content = html! {
        p class="actions" {
            a class="button" href=(path("html")) { "HTML" } " "
            a class="button" href=(path("json")) { "JSON" } " "
            a class="button" href=(path("csv")) { "CSV" } " "
            a href="/measure" { (l.pick("All runs", "結果一覧")) }
        }
        div class="report" lang="en" { (page_fragment(&page)) }
    };
    Ok(layout::page(&frame, &content))
}

/// The comparison of two runs.
pub fn compare(shared: &ConsoleState, input: &Input) -> WebResult {
    let (before, after) = (input.part(0), input.part(1));
    let paths = [file(shared, before)?, file(shared, after)?].map(|path| path.display().to_string());
    let page = (shared.commands.compare)(&paths[0], &paths[1]).map_err(WebRefusal::bad)?;
    let frame = Frame {
        title: input.language.pick("Comparison", "比較"),
        place: "/measure",
        scripts: &["report.js"],
        language: input.language,
    };
    Ok(layout::page(&frame, &html! { div class="report" lang="en" { (page_fragment(&page)) } }))
}

/// Several runs in one chart; their names are separated by commas.
pub fn overlay(shared: &ConsoleState, input: &Input) -> WebResult {
    let names: Vec<&str> = input.part(0).split(',').collect();
    if names.len() > MAX_OVERLAID {
        return Err(WebRefusal::bad(format!("a chart has at most {MAX_OVERLAID} runs: mark fewer")));
    }
    let curve = |name: &&str| match load(shared, name)? {
        RunSummary::Curve(curve) => Ok(*curve),
        RunSummary::Suite(_) => {
            Err(WebRefusal::bad(format!("{name} is a suite, which has no curve: mark runs of one load")))
        }
    };
    let curves: Vec<Curve> = names.iter().map(curve).collect::<Result<_, WebRefusal>>()?;
    let page = (shared.commands.curves)(&curves);
    let l = input.language;
    let frame =
        Frame { title: l.pick("Overlay", "重ね合わせ"), place: "/measure", scripts: &["report.js"], language: l };
    Ok(layout::page(&frame, &html! { div class="report" lang="en" { (page_fragment(&page)) } }))
}

/// The file of a run.
pub fn json(shared: &ConsoleState, input: &Input) -> WebResult {
    let bytes = fs::read(file(shared, input.part(0))?).map_err(|error| read_failed(input.part(0), &error))?;
    Ok(WebAnswer::File(format!("{}.json", input.part(0)), "application/json", bytes))
}

/// The tables of a run.
pub fn export_csv(shared: &ConsoleState, input: &Input) -> WebResult {
    let csv = page_csv(&load(shared, input.part(0))?.page(shared));
    Ok(WebAnswer::File(format!("{}.csv", input.part(0)), "text/csv; charset=utf-8", csv.into_bytes()))
}

/// The report of a run as one file.
pub fn export_html(shared: &ConsoleState, input: &Input) -> WebResult {
    let html = page_html(&load(shared, input.part(0))?.page(shared));
    Ok(WebAnswer::File(format!("{}.html", input.part(0)), "text/html; charset=utf-8", html.into_bytes()))
}

/// The page of a run, for a document that joins several.
pub fn page_of(shared: &ConsoleState, name: &str) -> Result<Page, WebRefusal> {
    Ok(load(shared, name)?.page(shared))
}

/// Points of a curve, to draw it over others.
pub fn points(shared: &ConsoleState, input: &Input) -> WebResult {
    match load(shared, input.part(0))? {
        RunSummary::Curve(curve) => Ok(WebAnswer::json(&curve.runs.iter().map(CurvePoint::of).collect::<Vec<_>>())),
        RunSummary::Suite(_) => Err(WebRefusal::bad("a suite has no curve: choose a run of one load")),
    }
}

/// All runs, newest first.
pub fn list(shared: &ConsoleState) -> WebAnswer {
    let Some(folder) = &shared.runs else { return WebAnswer::json(&Vec::<RunEntry>::new()) };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    paths.sort();
    paths.reverse();
    paths.truncate(MAX_LISTED);
    let mut known = shared.run_list.0.lock().unwrap_or_else(PoisonError::into_inner);
    known.retain(|path, _| paths.contains(path));
    let mut runs = Vec::with_capacity(paths.len());
    for path in paths {
        let Ok(modified) = fs::metadata(&path).and_then(|found| found.modified()) else { continue };
        let entry = match known.get(&path) {
            Some((at, entry)) if *at == modified => entry.clone(),
            _ => {
                let entry = describe_run(&path);
                known.insert(path.clone(), (modified, entry.clone()));
                entry
            }
        };
        let label = fs::read_to_string(path.with_extension("label")).unwrap_or_default();
        runs.push(RunEntry { label, ..entry });
    }
    WebAnswer::json(&runs)
}

fn describe_run(path: &Path) -> RunEntry {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let unreadable = RunEntry {
        name: name.clone(),
        result: "unreadable".to_owned(),
        line: None,
        subject: String::new(),
        source: String::new(),
        started: None,
        is_curve: false,
        label: String::new(),
    };
    match read_summary(path) {
        Ok(RunSummary::Curve(curve)) => RunEntry {
            result: KeptRun::of_curve(name, &curve).result,
            line: curve.load_line.as_ref().map(LineSoFar::of),
            source: curve.source.word().to_owned(),
            subject: curve.subject.name,
            started: curve.started,
            is_curve: true,
            ..unreadable
        },
        Ok(RunSummary::Suite(suite)) => RunEntry {
            result: KeptRun::of_suite(name, &suite).result,
            source: suite.source.word().to_owned(),
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
    let path = file(shared, input.part(0))?.with_extension("label");
    let Label { label } = input.read()?;
    let label: String = label.chars().filter(|c| !c.is_control()).take(MAX_LABEL).collect();
    let done = if label.trim().is_empty() { fs::remove_file(&path) } else { fs::write(&path, label.trim()) };
    match done {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(read_failed(input.part(0), &error)),
        _ => Ok(WebAnswer::Done),
    }
}

/// Deletes a run and its label.
pub fn delete(shared: &ConsoleState, input: &Input) -> WebResult {
    let path = file(shared, input.part(0))?;
    fs::remove_file(&path).map_err(|error| read_failed(input.part(0), &error))?;
    let _ = fs::remove_file(path.with_extension("label"));
    Ok(WebAnswer::Done)
}

/// The file of a run that exists.
fn file(shared: &ConsoleState, name: &str) -> Result<PathBuf, WebRefusal> {
    let unknown = || WebRefusal::not_found(format!("{name}: no such run: the list has all of them"));
    let folder = shared.runs.as_ref().ok_or_else(unknown)?;
    if plain_name(name) != name {
        return Err(unknown());
    }
    let path = folder.join(format!("{name}.json"));
    if path.is_file() { Ok(path) } else { Err(unknown()) }
}

fn load(shared: &ConsoleState, name: &str) -> Result<RunSummary, WebRefusal> {
    read_summary(&file(shared, name)?)
}

fn read_summary(path: &Path) -> Result<RunSummary, WebRefusal> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let length = fs::metadata(path).map_err(|error| read_failed(&name, &error))?.len();
    if length > MAX_RUN_BYTES {
        return Err(WebRefusal::bad(format!("{name}: larger than any run")));
    }
    let bytes = fs::read(path).map_err(|error| read_failed(&name, &error))?;
    let read = match Curve::from_json(&bytes) {
        Ok(curve) => Ok(RunSummary::Curve(curve.into())),
        Err(FormatError::Version(version)) if version == SUITE_FORMAT => {
            SuiteRun::from_json(&bytes).map(|suite| RunSummary::Suite(suite.into()))
        }
        Err(error) => Err(error),
    };
    read.map_err(|error| WebRefusal::bad(format!("{name}: {error}")))
}

fn read_failed(name: &str, error: &std::io::Error) -> WebRefusal {
    WebRefusal::failed(format!("{name}: {error}"))
}
