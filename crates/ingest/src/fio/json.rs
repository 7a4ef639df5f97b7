//! fio's JSON, and JSON+ with all latency bins. Files may have other lines around it, and several documents.

use std::collections::BTreeMap;

use memchr::{memchr, memmem};
use serde_json::{Map, Value};

use plimsoll_language::label;

use super::job::{ALL_CLIENTS, Got, JobResult, Options, emit};
use super::judge::{self, DiskUse};
use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, Resemblance};
use crate::json::{self, number_at as number, text_at};
use crate::reading::{Doubt, Fate, Setting};
use crate::refusal::{InputFault, Refusal};

/// JSON of fio.
pub(crate) const FORM: Form = Form::document("fio-json", "fio result (JSON)", is_fio, read);

/// Maximum false starts of a document.
const MAX_TRIES: usize = 200;

fn is_fio(head: &Head<'_>) -> Resemblance {
    let jobs = head.has_any(&["\"jobs\"", "\"client_stats\""]);
    let is = Resemblance::is(8, head.has("\"fio version\"")).or(5, jobs && head.has("\"jobname\""));
    is.or_near(1, jobs, "`fio version`")
}

fn read(_: &FormatInput, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
    json::check_size(document)?;
    let (documents, cut) = split_documents(&repaired(document));
    let mut count = 0;
    for (number, document) in documents.iter().enumerate() {
        let jobs = read_jobs(document);
        if is_repeated(&jobs, document, &documents[number + 1..]) {
            out.part("intermediate results of a running test", Fate::Ignored);
            continue;
        }
        if let Some(version) = text_at(document, "fio version") {
            out.version(version);
        }
        let numbers = emit(&jobs, out);
        count += numbers;
        out.part("result", if numbers > 0 { Fate::Read(numbers) } else { Fate::Empty });
    }
    if cut {
        out.caution(None, Doubt::JsonTruncated);
        out.part("result", Fate::Broken);
    }
    out.require(count > 0, InputFault::Unfinished { lacks: label!("job with operations") })?;
    Ok(())
}

/// Replaces invalid JSON of old versions: special numbers, and backslashes in paths.
fn repaired(document: &[u8]) -> Vec<u8> {
    let mut text = document.to_vec();
    for (wrong, right) in [(": -nan", ": null"), (": nan", ":null"), (": -inf", ": null"), (": inf", ":null")] {
        let places: Vec<usize> = memmem::find_iter(&text, wrong).collect();
        for at in places {
            text[at..at + wrong.len()].copy_from_slice(right.as_bytes());
        }
    }
    let mut at = 0;
    while let Some(found) = memchr(b'\\', &text[at..]) {
        at += found;
        match text.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' | b'u') => at += 2,
            _ => text[at] = b'/',
        }
        at = at.min(text.len());
    }
    text
}

/// The documents of a file, and whether the last of them is broken.
fn split_documents(text: &[u8]) -> (Vec<Map<String, Value>>, bool) {
    let mut documents = Vec::new();
    let (mut at, mut tries, mut cut) = (0, 0, false);
    while let Some(found) = memchr(b'{', &text[at..]) {
        at += found;
        let mut stream = serde_json::Deserializer::from_slice(&text[at..]).into_iter::<Value>();
        if let Some(Ok(Value::Object(document))) = stream.next() {
            at += stream.byte_offset();
            if document.contains_key("jobs") || document.contains_key("client_stats") {
                documents.push(document);
                cut = false;
            }
        } else {
            // Only documents of fio are reported as broken.
            let begin = &text[at..(at + 200).min(text.len())];
            cut |= memmem::find(begin, b"\"fio version\"").is_some();
            at += 1;
            tries += 1;
        }
        if tries > MAX_TRIES {
            break;
        }
    }
    (documents, cut)
}

/// True for intermediate results (`--status-interval`), if a later document has the final ones.
fn is_repeated(jobs: &[JobResult], document: &Map<String, Value>, later: &[Map<String, Value>]) -> bool {
    let runs = entries(document)
        .any(|entry| entry.get("eta").and_then(Value::as_u64).is_some_and(|eta| (1..1 << 30).contains(&eta)));
    let names = |document: &Map<String, Value>| -> Vec<String> {
        entries(document).filter_map(|entry| get_text(entry, "jobname")).collect()
    };
    runs && later.iter().any(|other| names(other).iter().eq(jobs.iter().map(|job| &job.name)))
}

fn entries(document: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    let of = |key| document.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
    of("jobs").chain(of("client_stats"))
}

fn get_text(entry: &Map<String, Value>, key: &str) -> Option<String> {
    text_at(entry, key).map(str::to_owned)
}

fn read_jobs(document: &Map<String, Value>) -> Vec<JobResult> {
    let mut global = Options::default();
    take(&mut global, document.get("global options"));
    let disk = document.get("disk_util").and_then(Value::as_array).and_then(|disks| match disks.as_slice() {
        [only] => get_text(only.as_object()?, "name"),
        _ => None,
    });
    let mut counts: BTreeMap<JobKey, f64> = BTreeMap::new();
    for entry in entries(document) {
        *counts.entry(known_as(entry)).or_default() += 1.0;
    }
    let of = |(index, entry)| {
        let job = read_job(entry, index, &global, (counts[&known_as(entry)], disk.as_deref()));
        if is_total(entry, document) {
            return JobResult { host: String::new(), setting: Setting::default(), is_total: true, ..job };
        }
        JobResult { host: host(entry, document), ..job }
    };
    let mut jobs: Vec<JobResult> = entries(document).enumerate().map(of).collect();
    judge::judge(&mut jobs, DiskUse::of(document));
    jobs
}

/// True for the sum of all clients. fio gives it host and port of the last client.
fn is_total(entry: &Map<String, Value>, document: &Map<String, Value>) -> bool {
    document.contains_key("client_stats") && text_at(entry, "jobname") == Some(ALL_CLIENTS)
}

/// Name of the client; with its port if several clients have this name.
fn host(entry: &Map<String, Value>, document: &Map<String, Value>) -> String {
    let Some(name) = get_text(entry, "hostname") else { return String::new() };
    let is_shared = entries(document).any(|other| {
        text_at(other, "hostname") == Some(&name)
            && !is_total(other, document)
            && other.get("port") != entry.get("port")
    });
    match number(entry, "port").filter(|_| is_shared) {
        Some(port) => format!("{name}:{port}"),
        None => name,
    }
}

/// Client (host and port) and name of a job.
type JobKey = (Option<String>, Option<u64>, Option<String>);

/// The key of jobs that share a name: their results are separate unless fio grouped them.
fn known_as(entry: &Map<String, Value>) -> JobKey {
    (get_text(entry, "hostname"), entry.get("port").and_then(Value::as_u64), get_text(entry, "jobname"))
}

fn take(options: &mut Options, value: Option<&Value>) {
    let listed = value.and_then(Value::as_object);
    options.is_complete |= listed.is_some_and(|listed| !listed.is_empty());
    for (name, value) in listed.into_iter().flatten() {
        options.take(name, value.as_str().unwrap_or(""));
    }
}

fn read_job(
    entry: &Map<String, Value>,
    index: usize,
    global: &Options,
    (results, disk): (f64, Option<&str>),
) -> JobResult {
    let mut options = global.clone();
    take(&mut options, entry.get("job options"));
    let name = get_text(entry, "jobname").unwrap_or_else(|| format!("job {index}"));
    let direction = |key: &str| {
        let got = entry.get(key)?.as_object()?;
        Some(read_direction(got, format!("jobs[{index}].{key}"))).filter(Got::is_any)
    };
    let (reads, writes, trims, mixed) = (direction("read"), direction("write"), direction("trim"), direction("mixed"));
    // fio's default; with other operations, the output lacks some options.
    if options.rw.is_none() && options.is_complete && [&writes, &trims, &mixed].iter().all(|other| other.is_none()) {
        options.rw = reads.as_ref().map(|_| "read".to_owned());
    }
    let mut syncs = direction("sync");
    // With fewer results than jobs, each result covers several (`group_reporting`, which may be missing).
    let jobs = options.jobs.or(options.rw.is_some().then_some(1.0));
    let threads = jobs.map(|jobs| (jobs / results).max(1.0).round());
    let job = JobResult {
        host: String::new(),
        part: options.part.clone().or_else(|| disk.map(str::to_owned)).unwrap_or_default(),
        group: number(entry, "groupid").unwrap_or(0.0) as u64,
        setting: options.setting(threads),
        offering: options.offering(threads),
        processor: processor(entry),
        pauses: options.pauses(),
        findings: Vec::new(),
        reads,
        writes,
        trims,
        mixed,
        syncs: None,
        error: number(entry, "error").unwrap_or(0.0).abs() as u64,
        errors: (
            number(entry, "total_err").unwrap_or(0.0) as u64,
            number(entry, "first_error").unwrap_or(0.0).abs() as i32,
        ),
        name,
        is_total: false,
    };
    // Flushes have a count but no time: the job's time applies.
    if let Some(syncs) = &mut syncs {
        syncs.lasted_s = job.writes.as_ref().or(job.reads.as_ref()).and_then(|got| got.lasted_s);
        syncs.iops = syncs
            .operations
            .zip(syncs.lasted_s)
            .filter(|(_, lasted)| *lasted > 0.0)
            .map(|(count, lasted)| count / lasted);
        syncs.bytes_s = None;
    }
    JobResult { syncs, ..job }
}

/// Processor time of a thread, as a share of a processor.
fn processor(entry: &Map<String, Value>) -> Option<f64> {
    let [user, system] = ["usr_cpu", "sys_cpu"].map(|name| number(entry, name));
    Some((user? + system?) / 100.0)
}

fn read_direction(direction: &Map<String, Value>, field: String) -> Got {
    let (total, completion) = (latency(direction, "lat"), latency(direction, "clat"));
    let mean_s = total.as_ref().and_then(|total| total.mean_s).or_else(|| completion.as_ref()?.mean_s);
    let quantiles =
        [total, completion].into_iter().flatten().map(|latency| latency.quantiles).find(|all| !all.is_empty());
    Got {
        iops: number(direction, "iops"),
        bytes_s: number(direction, "bw_bytes").or_else(|| number(direction, "bw").map(|kib| kib * 1024.0)),
        operations: number(direction, "total_ios"),
        mean_s,
        quantiles: quantiles.unwrap_or_default(),
        lasted_s: number(direction, "runtime").map(|ms| ms / 1e3).filter(|seconds| *seconds > 0.0),
        incomplete: ["short_ios", "drop_ios"].map(|key| number(direction, key).unwrap_or(0.0)),
        line: 0,
        field,
    }
}

struct JsonLatency {
    mean_s: Option<f64>,
    quantiles: Vec<(f64, f64)>,
}

/// A latency: in nanoseconds since version 3, in microseconds before.
fn latency(direction: &Map<String, Value>, name: &str) -> Option<JsonLatency> {
    const UNITS: [(&str, f64); 4] = [("_ns", 1e-9), ("_us", 1e-6), ("_usec", 1e-6), ("", 1e-6)];
    let (of, unit) = UNITS
        .into_iter()
        .find_map(|(suffix, unit)| Some((direction.get(&format!("{name}{suffix}"))?.as_object()?, unit)))?;
    let mean_s = number(of, "mean").filter(|mean| *mean > 0.0).map(|mean| mean * unit);
    let pairs = |key: &str| -> Vec<(f64, f64)> {
        let object = of.get(key).and_then(Value::as_object).into_iter().flatten();
        let mut pairs: Vec<(f64, f64)> =
            object.filter_map(|(name, value)| Some((name.parse().ok()?, value.as_f64()?))).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        pairs
    };
    let percentiles =
        pairs("percentile").into_iter().filter(|(percent, value)| *percent > 0.0 && *percent <= 100.0 && *value > 0.0);
    let mut quantiles: Vec<(f64, f64)> = percentiles.map(|(percent, value)| (percent / 100.0, value * unit)).collect();
    if quantiles.is_empty() {
        quantiles = of_bins(&pairs("bins"), unit);
    }
    Some(JsonLatency { mean_s, quantiles })
}

/// Quantiles of binned latencies, as fio computes them.
pub(super) fn of_bins(bins: &[(f64, f64)], unit: f64) -> Vec<(f64, f64)> {
    const WANTED: [f64; 7] = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0];
    let all: f64 = bins.iter().map(|(_, count)| count).sum();
    if all <= 0.0 {
        return Vec::new();
    }
    let at = |quantile: f64| {
        let mut passed = 0.0;
        let bin = bins.iter().find(|(_, count)| {
            passed += count;
            passed >= quantile * all * (1.0 - 1e-12)
        });
        Some((quantile, bin?.0 * unit))
    };
    WANTED.into_iter().filter_map(at).collect()
}
