//! Measurements in progress: started, followed point by point, stopped. At most one runs, as two would disturb each other.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::StatusCode;
use plimsoll_language::{Language, label, say};
use plimsoll_measure::{BlockSizes, EffortLevel, LoadOptions, MeasurementRequest, Percent, SweepOptions};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::ConsoleState;
use crate::answer::{Input, WebAnswer, WebRefusal, WebResult};
use crate::case_history;
use crate::commands::{CurvePoint, LineFigures, MeasureEvent, MeasureProgress, Observer};
use crate::events::EventSender;

/// Maximum number of finished measurements in the list.
const MAX_FINISHED: usize = 12;
/// Maximum number of notices of a measurement.
const MAX_NOTICES: usize = 50;

/// All measurements of this run of the service.
#[derive(Debug, Default)]
pub struct Jobs {
    next: AtomicU64,
    jobs: Mutex<Vec<Arc<WebJob>>>,
}

#[derive(Debug)]
struct WebJob {
    id: u64,
    /// Command line that repeats it.
    command: String,
    path: String,
    case: Option<String>,
    stop: Arc<AtomicBool>,
    state: Mutex<JobState>,
    /// Number of changes of the state.
    changed: watch::Sender<u64>,
}

#[derive(Clone, Debug, Default, Serialize)]
struct JobState {
    progress: MeasureProgress,
    points: Vec<CurvePoint>,
    line: Option<LineFigures>,
    notices: Vec<String>,
    ended: Option<MeasureEnd>,
}

#[derive(Clone, Debug, Serialize)]
struct MeasureEnd {
    /// Name of the kept run.
    run: Option<String>,
    /// Reason for the absence of a run.
    error: Option<String>,
    /// Whether the user stopped it.
    stopped: bool,
    /// Case of the reports that the volume was chosen for.
    story: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MeasureRequest {
    /// Directory, file, device or URI of an export.
    pub path: String,
    pub preset: String,
    /// Time for measuring, such as `30s`; about a minute without it.
    pub duration: String,
    /// Objective, such as `p99<=1ms`.
    pub objective: String,
    /// Size of the file in a directory.
    pub size: String,
    /// Share of reads in percent.
    pub reads: String,
    /// Rough figures in about 15 seconds.
    pub quick: bool,
    /// The data of the path may be overwritten.
    pub destroy: bool,
    /// Uploaded reports that the measured volume was chosen for.
    pub case: Option<String>,
}

impl MeasureRequest {
    fn measurement(&self) -> Result<MeasurementRequest, WebRefusal> {
        if self.path.trim().is_empty() {
            return Err(WebRefusal::bad(label!("name a directory, a file, a block device or the URI of an export")));
        }
        let effort = match (self.quick, parse("duration", &self.duration)?) {
            (true, Some(_)) => return Err(WebRefusal::bad(label!("quick and a duration: choose one"))),
            (true, None) => EffortLevel::Quick,
            (false, Some(duration)) => EffortLevel::Within(duration),
            (false, None) => EffortLevel::Standard,
        };
        let objective = parse("objective", &self.objective)?;
        let path = PathBuf::from(&self.path);
        Ok(MeasurementRequest {
            load: build_load(&self.preset, &self.reads, "")?,
            sweep: SweepOptions { objective, effort, ..SweepOptions::default() },
            size: parse("size", &self.size)?,
            destroy: if self.destroy { vec![path.clone()] } else { Vec::new() },
            path,
            ..MeasurementRequest::default()
        })
    }

    /// The command line that repeats the measurement.
    fn command(&self) -> Vec<String> {
        let mut arguments = vec!["plimsoll".to_owned(), "measure".to_owned()];
        let options = [
            ("preset", &self.preset),
            ("duration", &self.duration),
            ("objective", &self.objective),
            ("size", &self.size),
            ("reads", &self.reads),
        ];
        let given = options.iter().filter(|(_, value)| !value.trim().is_empty());
        arguments.extend(given.map(|(name, value)| format!("--{name}={}", value.trim())));
        arguments.extend(self.quick.then(|| "--quick".to_owned()));
        arguments.extend(self.destroy.then(|| format!("--destroy={}", self.path)));
        arguments.extend(["--".to_owned(), self.path.clone()]);
        arguments
    }
}

/// A load from the fields of a form, which may be empty.
pub fn build_load(preset: &str, reads: &str, block_size: &str) -> Result<LoadOptions, WebRefusal> {
    let mut load = LoadOptions {
        reads: parse("reads", reads)?.map(|Percent(share)| share),
        block_size: parse("block size", block_size)?.map(|BlockSizes(sizes)| sizes),
        ..LoadOptions::default()
    };
    if !preset.trim().is_empty() {
        preset.trim().clone_into(&mut load.preset);
    }
    Ok(load)
}

/// The value of a field; `None` if it is empty.
fn parse<T: FromStr<Err: Display>>(field: &str, text: &str) -> Result<Option<T>, WebRefusal> {
    let text = text.trim();
    let value = (!text.is_empty()).then(|| text.parse()).transpose();
    value.map_err(|error| WebRefusal::bad(format!("{field} {text:?}: {error}")))
}

impl Jobs {
    fn list(&self) -> MutexGuard<'_, Vec<Arc<WebJob>>> {
        // Poisoning is harmless: the list changes in single steps.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, id: &str) -> Result<Arc<WebJob>, WebRefusal> {
        let found = self.list().iter().find(|job| job.id.to_string() == id).cloned();
        found.ok_or_else(|| {
            WebRefusal::not_found(label!("no such measurement: the list has all of this run of the service"))
        })
    }

    pub fn stop_all(&self) {
        self.list().iter().for_each(|job| job.stop.store(true, Ordering::Relaxed));
    }
}

impl WebJob {
    fn state(&self) -> MutexGuard<'_, JobState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_running(&self) -> bool {
        self.state().ended.is_none()
    }

    fn note(&self, event: MeasureEvent) {
        let mut state = self.state();
        match event {
            MeasureEvent::State(progress) => state.progress = progress,
            MeasureEvent::Point(point) => state.points.push(point),
            MeasureEvent::LoadLine(line) => state.line = Some(line),
            MeasureEvent::Notice { text } if state.notices.len() < MAX_NOTICES => state.notices.push(text),
            MeasureEvent::Notice { .. } => {}
        }
        drop(state);
        self.changed.send_modify(|count| *count += 1);
    }

    fn end(&self, outcome: Result<String, String>) {
        let stopped = self.stop.load(Ordering::Relaxed);
        let (run, error) = match outcome {
            Ok(run) => (Some(run), None),
            Err(error) => (None, Some(error)),
        };
        let story = self.case.clone().filter(|_| run.is_some());
        self.state().ended = Some(MeasureEnd { run, error, stopped, story });
        self.changed.send_modify(|count| *count += 1);
    }
}

#[derive(Serialize)]
struct JobEntry<'a> {
    id: u64,
    command: &'a str,
    path: &'a str,
    running: bool,
    points: usize,
    run: Option<String>,
}

/// All measurements, newest first.
pub fn list(shared: &ConsoleState) -> WebAnswer {
    let jobs = shared.jobs.list().clone();
    let entry = |job: &Arc<WebJob>| {
        let state = job.state().clone();
        serde_json::json!(JobEntry {
            id: job.id,
            command: &job.command,
            path: &job.path,
            running: state.ended.is_none(),
            points: state.points.len(),
            run: state.ended.and_then(|end| end.run),
        })
    };
    WebAnswer::json(&jobs.iter().rev().map(entry).collect::<Vec<_>>())
}

/// Starts a measurement. Refusals of the target arrive as the end of the measurement.
pub fn start(shared: &ConsoleState, input: &Input) -> WebResult {
    let request: MeasureRequest = input.read()?;
    let measurement = request.measurement()?;
    let command = request.command();
    let job = Arc::new(WebJob {
        id: shared.jobs.next.fetch_add(1, Ordering::Relaxed) + 1,
        command: command.iter().map(|word| quote_word(word)).collect::<Vec<_>>().join(" "),
        path: request.path.clone(),
        case: request.case,
        stop: Arc::default(),
        state: Mutex::default(),
        changed: watch::channel(0).0,
    });
    {
        let mut jobs = shared.jobs.list();
        if jobs.iter().any(|job| job.is_running()) {
            return Err(WebRefusal::new(
                StatusCode::CONFLICT,
                label!("a measurement is in progress, and two would disturb each other: stop it, or wait for its end"),
            ));
        }
        let surplus = (jobs.len() + 1).saturating_sub(MAX_FINISHED);
        jobs.drain(..surplus);
        jobs.push(Arc::clone(&job));
    }
    let measure = shared.commands.measure;
    let directory = shared.directory.clone();
    let (worker, language) = (Arc::clone(&job), Language::current());
    let work = move || {
        let sink = Arc::clone(&worker);
        let observer = Observer::new(move |event| sink.note(event), Arc::clone(&worker.stop));
        let call = std::panic::AssertUnwindSafe(|| language.scope(|| measure(measurement, command, observer)));
        let outcome = std::panic::catch_unwind(call);
        let outcome = outcome.unwrap_or_else(|_| {
            Err(language.scope(|| label!("the measurement failed: see the output of the program")).to_owned())
        });
        if let (Ok(run), Some(case)) = (&outcome, &worker.case) {
            case_history::note_run(&directory, case, run);
        }
        worker.end(outcome);
    };
    let thread = std::thread::Builder::new().name("measurement".into()).spawn(work);
    if let Err(error) = thread {
        job.end(Err(say!("no thread for the measurement: {error}")));
    }
    Ok(WebAnswer::json(&serde_json::json!({ "id": job.id, "command": job.command })))
}

/// A word of a command line.
fn quote_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,%@+".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Stops a measurement; its points are kept.
pub fn stop(shared: &ConsoleState, input: &Input) -> WebResult {
    shared.jobs.find(input.part(0))?.stop.store(true, Ordering::Relaxed);
    Ok(WebAnswer::Done)
}

/// Removes a finished measurement from the list; its run stays.
pub fn remove(shared: &ConsoleState, input: &Input) -> WebResult {
    let job = shared.jobs.find(input.part(0))?;
    if job.is_running() {
        return Err(WebRefusal::new(StatusCode::CONFLICT, label!("the measurement is in progress: stop it first")));
    }
    shared.jobs.list().retain(|other| other.id != job.id);
    Ok(WebAnswer::Done)
}

/// Sends all points so far, then each new one, and the progress.
pub async fn follow(shared: &ConsoleState, id: &str, sender: &EventSender) {
    let Ok(job) = shared.jobs.find(id) else {
        sender.send("gone", "{}").await;
        return;
    };
    let mut changes = job.changed.subscribe();
    let (mut points, mut notices, mut line) = (0, 0, None);
    loop {
        changes.mark_unchanged();
        let state = job.state().clone();
        for point in &state.points[points..] {
            sender.send("point", &serde_json::to_string(point).unwrap_or_default()).await;
        }
        for text in &state.notices[notices..] {
            sender.send("notice", &serde_json::json!({ "text": text }).to_string()).await;
        }
        if let Some(so_far) = state.line.as_ref().filter(|so_far| line.as_ref() != Some(*so_far)) {
            sender.send("line", &serde_json::to_string(so_far).unwrap_or_default()).await;
        }
        (points, notices, line) = (state.points.len(), state.notices.len(), state.line.clone());
        let is_open = sender.send("state", &serde_json::to_string(&state.progress).unwrap_or_default()).await;
        if let Some(end) = &state.ended {
            sender.send("end", &serde_json::to_string(end).unwrap_or_default()).await;
            return;
        }
        if !is_open || changes.changed().await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_become_a_typed_request() {
        let request = MeasureRequest {
            path: "/data".into(),
            duration: " 30s".into(),
            objective: "p99<=1ms".into(),
            reads: "100".into(),
            destroy: true,
            ..Default::default()
        };
        let measurement = request.measurement().unwrap();
        assert_eq!(measurement.sweep.effort, EffortLevel::Within(plimsoll_units::Span::from_secs(30)));
        assert_eq!((measurement.load.preset.as_str(), measurement.load.reads), ("oltp", Some(1.0)));
        assert_eq!(measurement.destroy, [measurement.path]);
        let wrong = MeasureRequest { size: "much".into(), path: "/data".into(), ..Default::default() };
        assert!(format!("{:?}", wrong.measurement().unwrap_err()).contains("size"));
    }

    #[test]
    fn values_cannot_become_flags() {
        let request = MeasureRequest { path: "--destroy".into(), preset: "oltp --json x".into(), ..Default::default() };
        assert_eq!(request.command(), ["plimsoll", "measure", "--preset=oltp --json x", "--", "--destroy"]);
        let measurement = request.measurement().unwrap();
        assert_eq!((measurement.destroy, measurement.load.preset), (Vec::new(), "oltp --json x".to_owned()));
        assert!(MeasureRequest::default().measurement().is_err());
        assert_eq!((quote_word("a b"), quote_word("--size=1GiB")), ("'a b'".into(), "--size=1GiB".into()));
    }
}
