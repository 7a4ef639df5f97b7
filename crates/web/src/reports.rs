//! Uploaded reports: cases of files in the state directory, readable by the owner only, and deletable.
//!
//! A body is stored as it arrives, never a path of the server. `plimsoll-ingest` interprets the bytes.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::Request;
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::{HeaderMap, StatusCode};
use plimsoll_language::{label, say};
use plimsoll_measure::{join_outcomes, read_input};
use plimsoll_units::Bytes;
use serde::Serialize;
use tokio::sync::Semaphore;

use crate::ConsoleState;
use crate::answer::{Input, WebAnswer, WebRefusal, WebResult, plain_name};
use crate::case::ParsedCase;
use crate::session::{create_secret, make_private};
use crate::{guard, layout};

/// Bytes of a file.
const MAX_FILE_BYTES: u64 = 256 << 20;
/// Bytes of all files.
const MAX_TOTAL_BYTES: u64 = 2 << 30;
const MAX_FILES: usize = 200;
const MAX_CASES: usize = 200;
const MAX_UPLOADS: usize = 4;
/// Timeout between two pieces of an upload.
const PIECE_TIMEOUT: Duration = Duration::from_secs(15);
/// Cases whose figures stay in memory.
const MAX_PARSED: usize = 4;
/// Header with the name of the file, percent-encoded.
const NAME_HEADER: &str = "x-file-name";
const FOLDER: &str = "reports";

/// All cases.
#[derive(Debug)]
pub struct Reports {
    folder: PathBuf,
    uploads: Semaphore,
    parsed: Mutex<BTreeMap<String, Arc<ParsedCase>>>,
    /// Distinguishes parts of files in progress.
    next_draft: AtomicU64,
}

#[derive(Debug, Serialize)]
pub struct CaseEntry {
    pub id: String,
    pub files: Vec<String>,
    /// Bytes of its files.
    pub bytes: u64,
}

impl Reports {
    /// Cases of earlier runs are kept; parts of uploads are removed.
    pub fn open(directory: &Path) -> io::Result<Self> {
        let folder = directory.join(FOLDER);
        make_private(&folder)?;
        for case in fs::read_dir(&folder)?.flatten() {
            for file in fs::read_dir(case.path()).into_iter().flatten().flatten() {
                if file.path().extension().is_some_and(|end| end == "part") {
                    fs::remove_file(file.path())?;
                }
            }
        }
        Ok(Self {
            folder,
            uploads: Semaphore::new(MAX_UPLOADS),
            parsed: Mutex::default(),
            next_draft: AtomicU64::default(),
        })
    }

    /// All cases, newest first.
    pub fn cases(&self) -> Vec<CaseEntry> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut ids: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        ids.sort();
        let case = |id: String| {
            let files = self.files(&id);
            let bytes = files.iter().filter_map(|path| fs::metadata(path).ok()).map(|found| found.len()).sum();
            CaseEntry { id, files: files.iter().map(|path| strip_number(path)).collect(), bytes }
        };
        ids.into_iter().rev().map(case).collect()
    }

    fn files(&self, id: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.join(id)).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_none_or(|end| end != "part")).collect();
        files.sort();
        files
    }

    /// The file of this name in a case.
    pub fn file(&self, id: &str, name: &str) -> Result<PathBuf, WebRefusal> {
        self.folder(id)?;
        let found = self.files(id).into_iter().find(|path| strip_number(path) == name);
        found.ok_or_else(|| WebRefusal::not_found(say!("{name}: no such file in these reports")))
    }

    /// Names of the files of a case.
    pub fn names(&self, id: &str) -> Vec<String> {
        self.files(id).iter().map(|path| strip_number(path)).collect()
    }

    /// The folder of a case that exists.
    pub fn folder(&self, id: &str) -> Result<PathBuf, WebRefusal> {
        let path = self.folder.join(id);
        if plain_name(id) == id && path.is_dir() {
            return Ok(path);
        }
        Err(WebRefusal::not_found(label!("no such reports: they may have been deleted; upload them again")))
    }

    /// Figures of a case.
    pub fn parsed(&self, id: &str) -> Result<Arc<ParsedCase>, WebRefusal> {
        self.folder(id)?;
        if let Some(parsed) = self.parsed_cases().get(id) {
            return Ok(Arc::clone(parsed));
        }
        let mut outcomes = Vec::new();
        for path in self.files(id) {
            let failed = |error: io::Error| WebRefusal::failed(format!("{}: {error}", strip_number(&path)));
            outcomes.extend(
                read_input(strip_number(&path).into(), &mut File::open(&path).map_err(failed)?).map_err(failed)?,
            );
        }
        let mut outcomes = join_outcomes(outcomes);
        // Refused files follow the others.
        outcomes.sort_by_key(|outcome| outcome.reading().is_none());
        let parsed = Arc::new(ParsedCase::of(outcomes));
        let mut cases = self.parsed_cases();
        if cases.len() >= MAX_PARSED {
            cases.pop_first();
        }
        cases.insert(id.to_owned(), Arc::clone(&parsed));
        Ok(parsed)
    }

    fn parsed_cases(&self) -> MutexGuard<'_, BTreeMap<String, Arc<ParsedCase>>> {
        self.parsed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of an uploaded file, without the number before it.
fn strip_number(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split_once('-').map_or(name.as_ref(), |(_, name)| name).to_owned()
}

/// All cases.
pub fn list(shared: &ConsoleState) -> WebAnswer {
    WebAnswer::json(&shared.reports.cases())
}

/// Creates an empty case.
pub fn create(shared: &ConsoleState, _: &Input) -> WebResult {
    if shared.reports.cases().len() >= MAX_CASES {
        return Err(WebRefusal::bad(say!("there are {MAX_CASES} sets of reports: delete some of them")));
    }
    let random = create_secret().map_err(|error| WebRefusal::failed(error.to_string()))?;
    let id = format!("{}-{}", jiff::Zoned::now().strftime("%Y%m%d-%H%M%S"), &random[..6]);
    make_private(&shared.reports.folder.join(&id)).map_err(|error| WebRefusal::failed(error.to_string()))?;
    Ok(WebAnswer::json(&serde_json::json!({ "id": id })))
}

/// Deletes a case with its files.
pub fn delete(shared: &ConsoleState, input: &Input) -> WebResult {
    let folder = shared.reports.folder(input.part(0))?;
    shared.reports.parsed_cases().remove(input.part(0));
    fs::remove_dir_all(folder).map_err(|error| WebRefusal::failed(error.to_string()))?;
    Ok(WebAnswer::Done)
}

/// Stores the body of a request as a file of a case.
pub async fn upload(shared: Arc<ConsoleState>, case: String, request: Request) -> Response {
    let headers = request.headers().clone();
    let language = guard::read_language(&headers);
    match store_upload(&shared, &case, request).await {
        Ok(answer) => answer.response(),
        Err(refused) => layout::refuse(&refused, &headers, language),
    }
}

async fn store_upload(shared: &Arc<ConsoleState>, case: &str, request: Request) -> WebResult {
    let reports = &shared.reports;
    let folder = reports.folder(case)?;
    let name = file_name(request.headers())?;
    let too_large = || {
        WebRefusal::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            say!(
                "a file is limited to {}, all files to {}: delete reports that are not needed",
                Bytes::new(MAX_FILE_BYTES),
                Bytes::new(MAX_TOTAL_BYTES)
            ),
        )
    };
    let _permit = reports.uploads.try_acquire().map_err(|_| {
        WebRefusal::new(StatusCode::SERVICE_UNAVAILABLE, say!("{MAX_UPLOADS} uploads are in progress: try again later"))
    })?;
    let stored: u64 = reports.cases().iter().map(|case| case.bytes).sum();
    let count = reports.files(case).len();
    if count >= MAX_FILES {
        return Err(WebRefusal::bad(say!("a set of reports has at most {MAX_FILES} files")));
    }
    let max = MAX_FILE_BYTES.min(MAX_TOTAL_BYTES.saturating_sub(stored));
    if hyper::body::Body::size_hint(request.body()).lower() > max {
        return Err(too_large());
    }
    let number = reports.next_draft.fetch_add(1, Ordering::Relaxed);
    let draft = Draft { path: folder.join(format!("{number}.part")), is_complete: AtomicBool::new(false) };
    let failed = |error: io::Error| WebRefusal::failed(say!("the report cannot be stored: {error}"));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft.path).map_err(failed)?;
    let mut body = request.into_body();
    let mut length = 0;
    loop {
        let piece = tokio::time::timeout(PIECE_TIMEOUT, body.frame()).await;
        let piece =
            piece.map_err(|_| WebRefusal::new(StatusCode::REQUEST_TIMEOUT, label!("the upload stopped: try again")))?;
        let Some(frame) = piece else { break };
        let frame = frame.map_err(|_| WebRefusal::bad(label!("the upload broke off: try again")))?;
        let Some(data) = frame.data_ref() else { continue };
        length += data.len() as u64;
        if length > max {
            return Err(too_large());
        }
        file.write_all(data).map_err(failed)?;
    }
    if length == 0 {
        return Err(WebRefusal::bad(say!("{name} is empty: choose a report")));
    }
    fs::rename(&draft.path, folder.join(format!("{count:03}-{name}"))).map_err(failed)?;
    draft.is_complete.store(true, Ordering::Relaxed);
    reports.parsed_cases().remove(case);
    Ok(WebAnswer::json(&serde_json::json!({ "name": name, "bytes": length })))
}

/// A part of a file; removed unless the upload is complete.
struct Draft {
    path: PathBuf,
    is_complete: AtomicBool,
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_complete.load(Ordering::Relaxed) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The name of the uploaded file: its last part, without special characters.
fn file_name(headers: &HeaderMap) -> Result<String, WebRefusal> {
    let encoded = headers.get(NAME_HEADER).and_then(|name| name.to_str().ok()).unwrap_or_default();
    let decoded = decode_percent(encoded);
    let last = decoded.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = plain_name(last);
    if last.is_empty() {
        return Err(WebRefusal::bad(say!("{NAME_HEADER}: the name of the file is missing")));
    }
    if Path::new(&name).extension().is_some_and(|end| end == "part") {
        return Err(WebRefusal::bad(say!("{name}: `.part` marks incomplete files here: rename the file")));
    }
    Ok(name)
}

/// A percent-encoded text.
fn decode_percent(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| *byte == b'%');
        bytes.push(code.unwrap_or(*byte));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_lose_paths_and_special_characters() {
        let name = |encoded: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(NAME_HEADER, encoded.parse().unwrap());
            file_name(&headers).ok()
        };
        assert_eq!(name("awr%20rpt%281%29.html").unwrap(), "awr-rpt-1-.html");
        assert_eq!(name("..%2F..%2Fetc%2Fpasswd").unwrap(), "passwd");
        assert_eq!(name("%E5%A0%B1%E5%91%8A.txt").unwrap(), "--.txt");
        assert_eq!((name("a.part"), name("a%2F")), (None, None));
        assert_eq!(decode_percent("100%"), "100%");
    }
}
