//! Devices, files and tablespaces of readings: their names, and readings restricted to some of them.

use std::collections::BTreeSet;

use plimsoll_ingest::{Reading, Resource};

/// The names of parts with figures.
pub fn parts<'a>(readings: impl IntoIterator<Item = &'a Reading>) -> BTreeSet<&'a str> {
    let of =
        |reading: &'a Reading| reading.figures.iter().map(|figure| reading.scopes[figure.scope as usize].part.as_str());
    readings.into_iter().flat_map(of).filter(|part| !part.is_empty()).collect()
}

/// The parts whose figures add up to the total.
pub(super) fn counted_parts<'a>(readings: &[&'a Reading]) -> BTreeSet<&'a str> {
    let beneath = |reading: &&'a Reading| -> Vec<&'a str> {
        reading.beneath.iter().map(|scope| reading.scopes[*scope as usize].part.as_str()).collect()
    };
    let left_out: BTreeSet<&str> = readings.iter().flat_map(beneath).collect();
    parts(readings.iter().copied()).into_iter().filter(|part| !left_out.contains(part)).collect()
}

/// Restricts a reading to the chosen parts. Data about the whole, such as waits, is removed, because it would be
/// attributed to these parts.
pub fn keep_parts(reading: &mut Reading, is_chosen: impl Fn(&str) -> bool) {
    let Reading {
        scopes,
        figures,
        evidence,
        snapshots,
        times,
        hosts,
        waits,
        databases,
        advice,
        curves,
        caps,
        latencies,
        beneath,
        resources,
        ..
    } = reading;
    let chosen = |scope: u32| is_chosen(&scopes[scope as usize].part);
    // A device that is excluded from totals counts if it is chosen explicitly.
    if scopes.iter().zip(0..).all(|(scope, number)| beneath.contains(&number) || !is_chosen(&scope.part)) {
        beneath.clear();
    }
    figures.retain(|figure| chosen(figure.scope));
    curves.retain(|curve| chosen(curve.scope));
    caps.retain(|cap| chosen(cap.scope));
    resources.retain(|one| one.resource != Resource::ClaimCapacity || chosen(one.scope));
    latencies.retain(|histogram| chosen(histogram.scope));
    evidence.clear();
    snapshots.clear();
    times.clear();
    hosts.clear();
    waits.clear();
    databases.clear();
    advice.clear();
}

#[cfg(test)]
mod tests {
    use plimsoll_ingest::{Demand, Ingest, Outcome};

    use super::{counted_parts, keep_parts, parts};

    #[test]
    fn a_device_below_an_array_counts_if_it_is_chosen() {
        let report = |second: u32| {
            let row = |name: &str, writes: u32| format!("{name} 0.00 0.00 {writes}.00 {}.00\n", writes * 8);
            let rows = row("md2", 100) + &row("sda", 90) + &row("sdb", 90);
            format!("2026-03-02T09:00:{second:02}Z\nDevice r/s rkB/s w/s wkB/s\n{rows}\n")
        };
        let mut ingest = Ingest::new("iostat");
        ingest.feed((report(0) + &report(10)).as_bytes());
        let outcomes = ingest.finish();
        let Some(Outcome::Read(reading)) = outcomes.first() else { panic!("{outcomes:?}") };
        assert_eq!(parts([&**reading]).into_iter().collect::<Vec<_>>(), ["md2", "sda", "sdb"]);
        assert_eq!(counted_parts(&[reading]).into_iter().collect::<Vec<_>>(), ["md2"]);
        for (part, writes) in [("md2", 100.0), ("sda", 90.0)] {
            let mut reading = reading.clone();
            keep_parts(&mut reading, |own| own == part);
            let demand = Demand::of(&[&*reading]);
            let series = demand.subjects[0].series.iter().find(|series| series.values[0] > Some(0.0)).unwrap();
            assert_eq!(series.values, [Some(writes)], "{part}");
        }
    }
}
