//! Benchmark results of other programs where runs are expected. Parsing and conversion are in `plimsoll-ingest`.

use std::path::{Path, PathBuf};

use plimsoll_analyse::{chosen_objective, judged, reached_knee};
use plimsoll_ingest::{FormatInput, ImportedCurve, Ingest, Outcome, build_curves};
use plimsoll_record::{Curve, Measure, Objective, Scope};
use plimsoll_units::Span;

use crate::error::MeasureError;
use crate::invalid::InvalidRequest;

/// Maximum number of results in a message.
const MAX_NAMES: usize = 8;

/// A file with the results of a benchmark, and the name of a result in it: `FILE` or `FILE#RESULT`.
pub fn split(name: &Path) -> Option<(PathBuf, Option<String>)> {
    if name.is_file() {
        return Some((name.to_owned(), None));
    }
    let text = name.to_str()?;
    let (file, result) = text.rsplit_once('#')?;
    Path::new(file).is_file().then(|| (file.into(), Some(result.to_owned())))
}

/// The curves of a file that is not a run file, each with knee and load line; `None` if it has no benchmark results.
pub fn read(path: &Path, bytes: &[u8], result: Option<&str>) -> Option<Result<Vec<ImportedCurve>, MeasureError>> {
    let name = path.display().to_string();
    let mut ingest = Ingest::new(FormatInput { name: name.clone(), ..FormatInput::default() });
    ingest.feed(bytes);
    let outcomes = ingest.finish();
    let readings = outcomes.iter().filter_map(Outcome::reading).filter(|reading| !reading.evidence.is_empty());
    let readings: Vec<_> = readings.collect();
    if readings.is_empty() {
        return None;
    }
    let mut imported: Vec<ImportedCurve> = readings.iter().flat_map(|reading| build_curves(reading, result)).collect();
    for entry in &mut imported {
        judge(&mut entry.curve);
    }
    let tests: Vec<&str> =
        readings.iter().flat_map(|reading| &reading.evidence).map(|entry| entry.test.as_str()).collect();
    Some(match (imported.is_empty(), result) {
        (false, _) => Ok(imported),
        (true, Some(result)) => {
            Err(InvalidRequest::NoResult { file: name, result: result.to_owned(), results: list_names(&tests) }.into())
        }
        (true, None) => Err(InvalidRequest::NoRates { file: name, results: list_names(&tests) }.into()),
    })
}

/// The only curve; fails if there are several.
pub fn single_curve(path: &Path, mut imported: Vec<ImportedCurve>) -> Result<Curve, MeasureError> {
    if imported.len() == 1 {
        return Ok(imported.remove(0).curve);
    }
    let tests: Vec<&str> = imported.iter().filter_map(|entry| entry.tests.first()).map(String::as_str).collect();
    let (file, results) = (path.display().to_string(), list_names(&tests));
    Err(InvalidRequest::SeveralResults { file, loads: imported.len(), results }.into())
}

fn list_names(names: &[&str]) -> String {
    let more = if names.len() > MAX_NAMES { ", ..." } else { "" };
    format!("{}{more}", names.iter().take(MAX_NAMES).copied().collect::<Vec<_>>().join("; "))
}

/// Computes knee and load line, if the figures describe the storage.
fn judge(curve: &mut Curve) {
    if curve.void().is_some() {
        return;
    }
    curve.knee = reached_knee(&curve.runs);
    let objective = chosen_objective(&curve.runs).or_else(|| objective_of_means(curve));
    let line = objective.and_then(|objective| judged(curve, objective));
    curve.load_line = line.map(|(line, _)| line);
}

/// The objective for results without percentiles: a mean within the first of 1, 2, 5, 10 ... ms that is at least twice that
/// of the lightest load.
fn objective_of_means(curve: &Curve) -> Option<Objective> {
    let light_ns = curve.runs.first()?.figures.mean_ns.value;
    let decades = [1, 10, 100, 1_000].into_iter().flat_map(|decade| [decade, 2 * decade, 5 * decade]);
    let mut limits = decades.map(Span::from_millis);
    let limit = limits.find(|limit| light_ns > 0.0 && limit.as_nanos() as f64 >= 2.0 * light_ns)?;
    Some(Objective { over: Scope::All, measure: Measure::Mean, limit })
}
