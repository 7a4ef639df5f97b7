//! Traces of real systems, in the folder named by `PLIMSOLL_SAMPLES`: they are not part of the repository.
#![expect(clippy::disallowed_methods, reason = "the test reads files of the machine and reports when there are none")]

use std::path::Path;

use plimsoll_ingest::{Class, Fate, Measure, OutcomeSummary};

use crate::traces::{near, read_outcome, total};

/// Samples that are read only partly, with the reason.
const EXCEPTIONS: [(&str, OutcomeSummary); 2] = [
    // Half of its times are times of day.
    ("blk_data.txt", OutcomeSummary::Partly),
    // Truncated within a record.
    ("oracleGeneral", OutcomeSummary::Partly),
];

#[test]
fn samples_are_read() {
    let Ok(folder) = std::env::var("PLIMSOLL_SAMPLES") else {
        println!("skipped: PLIMSOLL_SAMPLES names no folder of samples");
        return;
    };
    let mut count = 0;
    for kind in std::fs::read_dir(Path::new(&folder)).unwrap().map(|entry| entry.unwrap().path()) {
        let name = kind.file_name().unwrap().to_string_lossy().into_owned();
        if !(name.starts_with("trace_") || name.starts_with("blk") || name == "fio_iolog") {
            continue;
        }
        for file in std::fs::read_dir(&kind).unwrap().map(|entry| entry.unwrap().path()) {
            let outcome = read_outcome(&std::fs::read(&file).unwrap(), 65_536);
            let path = file.display().to_string();
            let expected =
                EXCEPTIONS.iter().find(|(part, _)| path.contains(part)).map_or(OutcomeSummary::Read, |found| found.1);
            assert_eq!(outcome.verdict(), expected, "{path}");
            let reading = outcome.reading().unwrap();
            let operations = reading.parts.iter().find_map(|part| match part.fate {
                Fate::Read(count) => Some(f64::from(count)),
                _ => None,
            });
            let found = total(reading, Class::All, Measure::Iops);
            assert!(found == 0.0 || near(found, operations.unwrap()), "{path}: {found} of {operations:?}");
            for curve in &reading.curves {
                assert!(curve.points.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 >= two[1].1), "{path}");
            }
            count += 1;
        }
    }
    assert!(count > 0, "no sample of a trace in {folder}");
}
