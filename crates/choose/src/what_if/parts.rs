//! Devices, files and tablespaces of a reading: which there are, and what it says of some of them alone.

use std::collections::BTreeSet;

use plimsoll_ingest::Reading;

/// The parts that readings have figures of, by name.
pub fn parts<'a>(readings: impl IntoIterator<Item = &'a Reading>) -> BTreeSet<&'a str> {
    let of =
        |reading: &'a Reading| reading.figures.iter().map(|figure| reading.scopes[figure.scope as usize].part.as_str());
    readings.into_iter().flat_map(of).filter(|part| !part.is_empty()).collect()
}

/// Keeps what a reading says of the parts that are chosen. What is said of the whole, such as its waits, goes: it
/// would be taken for theirs.
pub fn keep_parts(reading: &mut Reading, is_chosen: impl Fn(&str) -> bool) {
    let Reading { scopes, figures, evidence, snapshots, times, hosts, waits, databases, advice, curves, .. } = reading;
    let chosen = |scope: u32| is_chosen(&scopes[scope as usize].part);
    figures.retain(|figure| chosen(figure.scope));
    curves.retain(|curve| chosen(curve.scope));
    evidence.clear();
    snapshots.clear();
    times.clear();
    hosts.clear();
    waits.clear();
    databases.clear();
    advice.clear();
}
