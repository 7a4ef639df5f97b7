//! Traces of real systems, which are not kept here: they are looked for where `PLIMSOLL_SAMPLES` says.
#![expect(
    clippy::disallowed_methods,
    reason = "a test of a pure crate reads files of the machine, and says when there are none"
)]

use std::path::Path;

use plimsoll_ingest::{Class, Fate, Measure, Verdict};

use crate::traces::{near, outcome, total};

/// Which samples are not read as a whole, and why.
const EXCEPTIONS: [(&str, Verdict); 2] = [
    // Half of it has the time of day as its time.
    ("blk_data.txt", Verdict::Partly),
    // Cut within a record.
    ("oracleGeneral", Verdict::Partly),
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
            let outcome = outcome(&std::fs::read(&file).unwrap(), 65_536);
            let path = file.display().to_string();
            let expected =
                EXCEPTIONS.iter().find(|(part, _)| path.contains(part)).map_or(Verdict::Read, |found| found.1);
            assert_eq!(outcome.verdict(), expected, "{path}");
            let reading = outcome.reading().unwrap();
            let operations = reading.parts.iter().find_map(|part| match part.fate {
                Fate::Read(count) => Some(f64::from(count)),
                _ => None,
            });
            let told = total(reading, Class::All, Measure::Iops);
            assert!(told == 0.0 || near(told, operations.unwrap()), "{path}: {told} of {operations:?}");
            for curve in &reading.curves {
                assert!(curve.points.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 >= two[1].1), "{path}");
            }
            count += 1;
        }
    }
    assert!(count > 0, "no sample of a trace in {folder}");
}
