//! History of a case: reports, the choice for them, the emulated volume of that choice, and its measurement.
//!
//! A file in another folder than the reports has the choice, the volume and the run of a case.

use std::fs;
use std::path::Path;

use plimsoll_language::{label, say};
use plimsoll_report::{Page, page_html, pages};
use plimsoll_service::api::Create;
use serde::{Deserialize, Serialize};

use crate::ConsoleState;
use crate::answer::{Input, WebAnswer, WebRefusal, WebResult, plain_name};
use crate::case::{SearchExtent, SizeRequest};
use crate::choose;
use crate::runs;
use crate::session::write_private;

/// Folder of the files of cases.
const FOLDER: &str = "stories";
/// Maximum length of the name of a volume that is derived from a subject.
const MAX_NAME: usize = 40;

/// Volume and run that were created from a case.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct CaseHistory {
    /// Conditions of the choice.
    #[serde(rename = "wanted")]
    required: SizeRequest,
    /// The chosen configuration.
    like: String,
    volume: String,
    run: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EmulateRequest {
    like: String,
    #[serde(rename = "wanted")]
    required: SizeRequest,
}

/// Creates the emulated volume of a choice.
pub fn emulate(shared: &ConsoleState, input: &Input) -> WebResult {
    let case = input.part(0);
    let EmulateRequest { like, required } = input.read()?;
    let parsed = shared.reports.parsed(case)?;
    let name = choose_name(shared, &choose::subject_names(&parsed))?;
    let create = Create { name: name.clone(), like: like.clone(), ..Create::default() };
    shared.service.create(&create)?;
    store(&shared.directory, case, &CaseHistory { required, like, volume: name.clone(), run: None });
    Ok(WebAnswer::json(&serde_json::json!({ "volume": name })))
}

/// A name for a volume that is not in use.
fn choose_name(shared: &ConsoleState, subject: &str) -> Result<String, WebRefusal> {
    let letters: String = plain_name(&subject.to_lowercase()).chars().take(MAX_NAME).collect();
    let letters = letters.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned();
    let stem = if letters.is_empty() { "choice".to_owned() } else { letters };
    let volumes = shared.service.list()?;
    let is_free = |name: &String| volumes.iter().all(|volume| volume.name != *name);
    let names = std::iter::once(stem.clone()).chain((2..1_000).map(|number| format!("{stem}-{number}")));
    names
        .into_iter()
        .find(is_free)
        .ok_or_else(|| WebRefusal::bad(label!("too many volumes of this name: delete some of them")))
}

/// The case that a volume was created for.
pub fn case_of(shared: &ConsoleState, volume: &str) -> Option<String> {
    let cases = fs::read_dir(shared.directory.join(FOLDER)).ok()?.flatten();
    let ids = cases.filter_map(|entry| Some(entry.path().file_stem()?.to_string_lossy().into_owned()));
    ids.into_iter().find(|id| {
        read(&shared.directory, id).is_some_and(|history| history.volume == volume) && shared.reports.folder(id).is_ok()
    })
}

/// Name of the database of a case.
pub fn title(shared: &ConsoleState, case: &str) -> String {
    shared.reports.parsed(case).map_or_else(|_| case.to_owned(), |parsed| choose::subject_names(&parsed))
}

/// Records the measured run of a case.
pub fn note_run(directory: &Path, case: &str, run: &str) {
    if let Some(history) = read(directory, case) {
        store(directory, case, &CaseHistory { run: Some(run.to_owned()), ..history });
    }
}

/// Diagnosis, choice and measurement as one file that needs no network.
pub fn html(shared: &ConsoleState, input: &Input) -> WebResult {
    let case = input.part(0);
    let parsed = shared.reports.parsed(case)?;
    let history = read(&shared.directory, case).unwrap_or_default();
    let subject = choose::find_subject(&parsed, &history.required.subject)?;
    let request = SizeRequest { extent: SearchExtent::Report, ..history.required };
    let found = choose::search_catalogue(shared, &parsed, subject, &request, &input.cancelled)?;
    let mut parts: Vec<Page> = vec![choose::diagnosis(&parsed), choose::render_sizing(&parsed, &found)];
    let run = Some(input.part(1)).filter(|run| !run.is_empty()).map(str::to_owned).or(history.run);
    if let Some(run) = run {
        parts.push(runs::page_of(shared, &run)?);
    }
    let page = pages::joined(&say!("Storage for {}", choose::subject_names(&parsed)), parts);
    Ok(WebAnswer::File(format!("storage-{case}.html"), "text/html; charset=utf-8", page_html(&page).into_bytes()))
}

fn find_path(directory: &Path, case: &str) -> Option<std::path::PathBuf> {
    (plain_name(case) == case).then(|| directory.join(FOLDER).join(format!("{case}.json")))
}

fn read(directory: &Path, case: &str) -> Option<CaseHistory> {
    serde_json::from_slice(&fs::read(find_path(directory, case)?).ok()?).ok()
}

/// Stores a history. Failures are ignored, as they affect only links between pages.
fn store(directory: &Path, case: &str, history: &CaseHistory) {
    let Some(path) = find_path(directory, case) else { return };
    let bytes = serde_json::to_vec(history).unwrap_or_default();
    let _ = crate::session::make_private(&directory.join(FOLDER)).and_then(|()| write_private(&path, &bytes));
}
