//! Results of fio from real systems, in the folder named by `PLIMSOLL_SAMPLES`: they are not part of the repository.

use plimsoll_ingest::{OutcomeSummary, ReadingEvidence};

use crate::bench_real::outcomes;

/// Relations between the numbers of a result.
fn laws(file: &str, evidence: &ReadingEvidence) {
    let test = &evidence.test;
    let ascending = |pairs: &[(f64, f64)]| pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1);
    assert!(ascending(&evidence.quantiles), "{file}: {test}");
    if test.contains("flushes") || evidence.at_s.is_some() {
        return;
    }
    if let (Some(iops), Some(bytes_s), Some(block)) = (evidence.iops, evidence.bytes_s, evidence.setting.block_bytes) {
        // Rates are printed as integers.
        let tolerance = 0.01 + 1.0 / iops;
        assert!((bytes_s / iops / block - 1.0).abs() < tolerance, "{file}: {test}: {bytes_s} / {iops}, {block}");
    }
    if let (Some(iops), Some(mean), Some(depth)) = (evidence.iops, evidence.mean_s, evidence.setting.depth) {
        // Little's law (1961): operations in flight do not exceed the depth.
        assert!(iops * mean <= depth * 1.05 + 0.05, "{file}: {test}: {iops} * {mean} and {depth}");
    }
}

#[test]
fn samples_are_read() {
    for kind in ["fio_json", "fio_text", "fio_log"] {
        for (name, outcome) in outcomes(kind) {
            // The manual is not a result; some files are truncated.
            let expected = match name.as_str() {
                manual if manual.ends_with("fio.1") => OutcomeSummary::Refused,
                cut if cut.ends_with("secs300.32") => OutcomeSummary::Partly,
                _ => OutcomeSummary::Read,
            };
            assert_eq!(outcome.verdict(), expected, "{name}");
            let Some(reading) = outcome.reading() else { continue };
            assert!(!reading.evidence.is_empty() || name.contains("slat"), "{name}");
            let is_edited =
                reading.cautions.iter().any(|caution| caution.doubt.to_string().contains("check for manual edits"));
            assert!(!is_edited || name.contains("VirtualClient"), "{name}: {:?}", reading.cautions);
            for evidence in reading.evidence.iter().filter(|_| !is_edited) {
                laws(&name, evidence);
            }
        }
    }
}
