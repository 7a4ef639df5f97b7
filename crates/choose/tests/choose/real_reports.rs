//! Diagnoses of real reports.

use super::diagnosis::{check, read_subjects};

/// Reports from outside of the repository: `PLIMSOLL_SAMPLES` names their folder.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test of a pure crate that reads files of the machine")]
fn every_real_report_gets_a_verdict() {
    let Some(folder) = std::env::var_os("PLIMSOLL_SAMPLES") else {
        println!("skipped: PLIMSOLL_SAMPLES names no folder of samples");
        return;
    };
    let mut reports = 0;
    for kind in ["awr_html", "awr_text", "statspack"] {
        let entries = std::fs::read_dir(std::path::Path::new(&folder).join(kind)).expect("the folder can be read");
        for entry in entries {
            let bytes = std::fs::read(entry.expect("an entry").path()).expect("the file can be read");
            let found = read_subjects(&String::from_utf8_lossy(&bytes));
            reports += usize::from(!found.is_empty());
            for diagnosis in found.iter().map(check) {
                assert!(diagnosis.split.is_some(), "a report contains the time of sessions");
                assert_ne!(diagnosis.verdicts[0].id(), "untold");
            }
        }
    }
    assert!(reports >= 22, "{reports}");
}
