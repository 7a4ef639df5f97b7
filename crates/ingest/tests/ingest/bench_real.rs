//! Results of real systems, in the folder named by `PLIMSOLL_SAMPLES`: they are not part of the repository.

use plimsoll_ingest::{Outcome, OutcomeSummary, ReadingEvidence};

use crate::bench::outcome;
use crate::samples::samples;

/// Every file of a kind, with its outcome.
pub(super) fn outcomes(kind: &str) -> Vec<(String, Outcome)> {
    let read = |(name, bytes): (String, Vec<u8>)| {
        let outcome = outcome(name.as_str(), &bytes, 1 << 16);
        (name, outcome)
    };
    samples(&[kind]).into_iter().map(read).collect()
}

/// Relations between the numbers of a result.
fn laws(file: &str, evidence: &ReadingEvidence, all_threads: bool) {
    let setting = &evidence.setting;
    if let (Some(iops), Some(bytes_s), Some(block)) = (evidence.iops, evidence.bytes_s, setting.block_bytes) {
        let size = bytes_s / iops;
        assert!((size / block - 1.0).abs() < 0.03, "{file}: {}: {size} and {block}", evidence.test);
    }
    // Little's law: operations in flight do not exceed the depth, and are close to it under a closed load.
    if let (Some(iops), Some(mean_s), Some(depth)) = (evidence.iops, evidence.mean_s, setting.depth)
        && all_threads
        && setting.reads.is_none_or(|reads| reads <= 0.0 || reads >= 1.0)
        && !evidence.test.contains("its ")
    {
        let in_flight = iops * mean_s;
        assert!((0.8..1.05).contains(&(in_flight / depth)), "{file}: {}: {in_flight} of {depth}", evidence.test);
    }
    let ascends = |pair: &[(f64, f64)]| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1;
    assert!(evidence.quantiles.windows(2).all(ascends), "{file}: {}: {:?}", evidence.test, evidence.quantiles);
}

#[test]
fn real_results_are_read() {
    // Settings, headings and unfinished runs are refused as such.
    let refused = ["header", "pgio.conf", "IncorrectResults"];
    for kind in ["crystaldiskmark", "diskspd", "bonnie", "tiobench", "orion", "slob", "pgbench", "hammerdb_sysbench"] {
        for (file, outcome) in outcomes(kind) {
            let expected = refused.iter().any(|part| file.contains(part));
            match outcome {
                Outcome::Refused { refusal, .. } => {
                    assert!(expected, "{file}: {refusal}");
                }
                Outcome::Read(reading) => {
                    assert!(!expected && !reading.evidence.is_empty(), "{file}");
                    assert_ne!(Outcome::Read(reading.clone()).verdict(), OutcomeSummary::Refused);
                    // A file was shortened by hand: its totals are of half of its threads.
                    let all_threads = !reading
                        .cautions
                        .iter()
                        .any(|caution| caution.doubt.to_string().contains("its totals may lack the others"));
                    reading.evidence.iter().for_each(|evidence| laws(&file, evidence, all_threads));
                }
            }
        }
    }
}
