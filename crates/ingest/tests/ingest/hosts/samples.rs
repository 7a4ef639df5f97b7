//! Outcomes and consistency of all samples in the folder named by `PLIMSOLL_SAMPLES`.

use std::collections::BTreeMap;

use plimsoll_ingest::{Class, Demand, Fate, FormatInput, Measure, Outcome, OutcomeSummary, Reading};

use super::outcome;
use crate::samples::samples;

/// Kinds of samples, and the number of them without figures of disks, which may be refused.
const KINDS: [&str; 4] = ["iostat", "iostat_json", "sar", "vmstat"];

#[test]
fn samples_have_outcomes() {
    let mut retained = [0, 0];
    for kind in KINDS {
        for (number, (_, bytes)) in samples(&[kind]).into_iter().enumerate() {
            let outcome = outcome(FormatInput::from(format!("{kind} {number}")), &bytes, 65_536);
            println!("{kind} {number}: {}", summary(&outcome, &bytes));
            if let Outcome::Read(reading) = &outcome {
                let of_file = laws(reading);
                retained = [retained[0] + of_file[0], retained[1] + of_file[1]];
            }
        }
    }
    println!("laws: {retained:?}");
    assert!(retained[0] as f64 >= 0.8 * retained[1] as f64, "{retained:?}");
}

fn summary(outcome: &Outcome, bytes: &[u8]) -> String {
    let reading = match outcome {
        Outcome::Read(reading) => reading,
        Outcome::Refused { refusal, .. } => {
            // Only inputs without rows of disks may be refused.
            let text = String::from_utf8_lossy(bytes);
            let has_row =
                |line: &str| line.split_whitespace().next().is_some_and(|name| name == "sda" || name == "dev8-0");
            assert!(!text.lines().any(has_row), "{refusal}");
            return format!("refused: {refusal}");
        }
    };
    let verdict = match outcome.verdict() {
        OutcomeSummary::Read => "read",
        OutcomeSummary::Partly => "read in part",
        OutcomeSummary::Refused => "refused",
    };
    let skipped = reading.parts.iter().filter(|part| part.fate == Fate::Ignored).count();
    let demand = Demand::of(&[reading.as_ref()]);
    let slots: usize = demand.subjects.iter().map(|subject| subject.slots.len()).sum();
    let cautions: Vec<String> = reading.cautions.iter().map(|caution| caution.doubt.to_string()).take(3).collect();
    format!(
        "{verdict} as {}, {} figures, {} windows, {slots} slots, {skipped} parts skipped; {}",
        reading.kind.id,
        reading.figures.len(),
        reading.windows.len(),
        cautions.join(" | "),
    )
}

/// Activity of a device in a window.
type Row = Vec<(Class, Measure, f64)>;

/// Number of rows consistent with Little's law and with bytes = operations × size, and number of all rows. Some published
/// files were edited by hand, so a few rows are inconsistent.
fn laws(reading: &Reading) -> [usize; 2] {
    let mut rows: BTreeMap<(u32, u32), Row> = BTreeMap::new();
    for figure in &reading.figures {
        rows.entry((figure.window, figure.scope)).or_default().push((figure.class, figure.measure, figure.value));
    }
    let mut retained = [0, 0];
    for row in rows.values() {
        let at = |class, measure| row.iter().find(|one| (one.0, one.1) == (class, measure)).map(|one| one.2);
        for class in Class::ALL {
            let all = (at(class, Measure::Iops), at(class, Measure::Size), at(class, Measure::Throughput));
            if let (Some(iops), Some(size), Some(bytes)) = all
                && iops > 10.0
            {
                // Megabytes have two decimals.
                let near = (iops * size - bytes).abs() <= 0.02 * bytes + 0.006 * 1_048_576.0;
                retained = [retained[0] + usize::from(near), retained[1] + 1];
            }
        }
        let flying: f64 = Class::ALL
            .iter()
            .map(|class| at(*class, Measure::Iops).unwrap_or(0.0) * at(*class, Measure::Latency).unwrap_or(0.0))
            .sum();
        if let Some(depth) = at(Class::All, Measure::Depth).filter(|depth| *depth > 0.1 && flying > 0.0) {
            let near = flying < 1.5 * depth + 0.5 && flying > depth / 1.5 - 0.5;
            retained = [retained[0] + usize::from(near), retained[1] + 1];
        }
    }
    retained
}
