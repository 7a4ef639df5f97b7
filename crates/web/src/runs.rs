//! Measuring, and the library of kept runs: filter, labels, comparison, downloads.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use maud::html;
use plimsoll_measure::{KeptFile, MeasureError, Retained, load_found, stem};
use plimsoll_record::Curve;
use plimsoll_report::pages::{self, KeptRun, Sheet};
use plimsoll_report::{Page, page_csv, page_fragment, page_html};
use serde::{Deserialize, Serialize};

use crate::ConsoleState;
use crate::answer::{Input, WebAnswer, WebRefusal, WebResult, plain_name};
use crate::commands::{CurvePoint, LineSoFar, PRESETS};
use crate::layout::{self, Frame};

/// Runs that are listed, newest first.
const MAX_LISTED: usize = 1_000;
/// Runs in one chart.
const MAX_OVERLAID: usize = 5;

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

/// The page of a run.
fn build_page(run: &Retained) -> Page {
    match run {
        Retained::Curve(curve) => pages::curves(&Sheet::all(std::slice::from_ref(curve))),
        Retained::Suite(suite) => pages::suites(std::slice::from_ref(suite)),
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
                        option value="quick" { (l.pick("15 s, rough", "15 s（概算）")) } option value="" selected { "1 min" } option value="120s" { "2 min" } option value="600s" { "10 min" }
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
            p id="ending" role="status" data-retained=(l.pick("Kept as", "保存名:")) data-stopped=(l.pick("Stopped. Kept as", "停止しました。保存名:"))
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
            p id="none" class="lead" hidden {
                (l.pick("No run was kept yet. Start one above, for example of /var/tmp.",
                    "保存された測定結果はありません。例えば /var/tmp を指定して上のフォームから開始します。")) }
        }
    };
    layout::page(&frame, &content)
}

/// The report of a run.
pub fn run_page(shared: &ConsoleState, input: &Input) -> WebResult {
    let l = input.language;
    let name = input.part(0);
    let page = build_page(&load(shared, name)?);
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
    let compared = shared.runs.compare_files(&find(shared, before)?, &find(shared, after)?);
    let compared = compared.map_err(|error| refuse(&error))?;
    let page = pages::comparison(compared.names(), &compared.comparison, &Sheet::all(&compared.curves()));
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
        Retained::Curve(curve) => Ok(*curve),
        Retained::Suite(_) => {
            Err(WebRefusal::bad(format!("{name} is a suite, which has no curve: mark runs of one load")))
        }
    };
    let curves: Vec<Curve> = names.iter().map(curve).collect::<Result<_, WebRefusal>>()?;
    let page = pages::curves(&Sheet::all(&curves));
    let l = input.language;
    let frame =
        Frame { title: l.pick("Overlay", "重ね合わせ"), place: "/measure", scripts: &["report.js"], language: l };
    Ok(layout::page(&frame, &html! { div class="report" lang="en" { (page_fragment(&page)) } }))
}

/// The file of a run.
pub fn json(shared: &ConsoleState, input: &Input) -> WebResult {
    let name = input.part(0);
    let bytes = fs::read(find(shared, name)?.0).map_err(|error| WebRefusal::failed(format!("{name}: {error}")))?;
    Ok(WebAnswer::File(format!("{name}.json"), "application/json", bytes))
}

/// The tables of a run.
pub fn export_csv(shared: &ConsoleState, input: &Input) -> WebResult {
    let csv = page_csv(&page_of(shared, input.part(0))?);
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
        Retained::Curve(curve) => Ok(WebAnswer::json(&curve.runs.iter().map(CurvePoint::of).collect::<Vec<_>>())),
        Retained::Suite(_) => Err(WebRefusal::bad("a suite has no curve: choose a run of one load")),
    }
}

/// All runs, newest first.
pub fn list(shared: &ConsoleState) -> WebAnswer {
    let paths: Vec<PathBuf> = shared.runs.list().into_iter().rev().take(MAX_LISTED).collect();
    let mut existing = shared.run_list.0.lock().unwrap_or_else(PoisonError::into_inner);
    existing.retain(|path, _| paths.contains(path));
    let mut runs = Vec::with_capacity(paths.len());
    for path in paths {
        let Ok(modified) = fs::metadata(&path).and_then(|found| found.modified()) else { continue };
        let entry = match existing.get(&path) {
            Some((at, entry)) if *at == modified => entry.clone(),
            _ => {
                let entry = describe_run(&path);
                existing.insert(path.clone(), (modified, entry.clone()));
                entry
            }
        };
        let label = KeptFile(path).note();
        runs.push(RunEntry { label, ..entry });
    }
    WebAnswer::json(&runs)
}

fn describe_run(path: &Path) -> RunEntry {
    let name = stem(path);
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
    match load_found(path) {
        Ok(Retained::Curve(curve)) => RunEntry {
            result: KeptRun::of_curve(name, &curve).result,
            line: curve.load_line.as_ref().map(LineSoFar::of),
            source: curve.source.word().to_owned(),
            subject: curve.subject.name,
            started: curve.started,
            is_curve: true,
            ..unreadable
        },
        Ok(Retained::Suite(suite)) => RunEntry {
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
fn find(shared: &ConsoleState, name: &str) -> Result<KeptFile, WebRefusal> {
    let found = shared.runs.find_exact(name).filter(|_| plain_name(name) == name);
    found.ok_or_else(|| WebRefusal::not_found(format!("{name}: no such run: the list has all of them")))
}

fn load(shared: &ConsoleState, name: &str) -> Result<Retained, WebRefusal> {
    find(shared, name)?.load().map_err(|error| refuse(&error))
}

fn refuse(error: &MeasureError) -> WebRefusal {
    match error {
        MeasureError::Usage(_) => WebRefusal::bad(error.to_string()),
        MeasureError::Fault(fault) => WebRefusal::failed(format!("{fault}: {}", fault.source)),
        error => WebRefusal::failed(error.to_string()),
    }
}
