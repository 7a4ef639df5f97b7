//! Results of fio from real systems, read from `PLIMSOLL_SAMPLES`.
#![expect(
    clippy::disallowed_methods,
    reason = "a test of a pure crate reads files of the machine, and says when there are none"
)]

use std::path::Path;

use plimsoll_fio::print::{Detail, json};
use serde_json::Value;

use crate::print::read_back::{paths, report};

/// Keys of features that plimsoll lacks: priorities of operations, page cache hits, zones, names of older versions, and
/// units of an edited result.
const OTHERS: [&str; 7] = ["/prios", "/cachehit", "/zone_resets", "_prio/", "/client_stats", "/lat_us/", "/slat_ms/"];

#[test]
fn json_has_every_key_of_real_results() {
    let Ok(folder) = std::env::var("PLIMSOLL_SAMPLES") else {
        println!("skipped: PLIMSOLL_SAMPLES names no folder of samples");
        return;
    };
    let mut count = 0;
    for file in std::fs::read_dir(Path::new(&folder).join("fio_json")).unwrap().map(|entry| entry.unwrap().path()) {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        let Some(begin) = text.find('{') else { continue };
        let Some(Ok(document)) = serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Value>().next() else {
            continue;
        };
        let version = document.get("fio version").and_then(Value::as_str).unwrap_or_default().to_owned();
        let has_own_jobs = document.get("jobs").and_then(Value::as_array).is_some_and(|jobs| !jobs.is_empty());
        if !version.starts_with("fio-3.") || !has_own_jobs {
            continue;
        }
        let found: Value = serde_json::from_str(&json(&report(&document), Detail::Buckets)).unwrap();
        let found = paths(&found);
        let expected = paths(&document);
        // Without bins there are no percentiles.
        let has_bins = expected.iter().any(|path| path.contains("/bins/"));
        let is_known = |path: &&String| {
            let is_other = OTHERS.iter().any(|other| path.contains(other));
            found.contains(*path) || is_other || (!has_bins && path.contains("/percentile/"))
        };
        let missing: Vec<String> = expected.iter().filter(|path| !is_known(path)).cloned().collect();
        assert_eq!(missing, [""; 0], "{}: {version}", file.display());
        count += 1;
    }
    assert!(count > 0, "no result of fio 3 in {folder}");
}
