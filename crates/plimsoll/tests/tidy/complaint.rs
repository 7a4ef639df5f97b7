//! Complaints: location, finding, limit and remedy.

use std::collections::BTreeMap;
use std::fmt;

/// A violated rule.
#[derive(Debug)]
pub struct Complaint {
    /// `file:line`, or `file`.
    pub place: String,
    pub found: String,
    pub allowed: String,
    pub remedy: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, found, allowed, remedy } = self;
        write!(f, "{place}\n    found:   {found}\n    allowed: {allowed}\n    to do:   {remedy}")
    }
}

/// Complaints about crates whose numbers differ from those that `file` lists, `crate number` per line: numbers may only
/// shrink. `found` has the places by crate, and `noun` is their plural.
pub fn check_counts(
    file: &str,
    listed: &str,
    found: BTreeMap<&str, Vec<String>>,
    noun: &str,
    remedy: &str,
) -> Vec<Complaint> {
    let listed: BTreeMap<&str, usize> = listed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, number)| Some((name, number.trim().parse().ok()?)))
        .collect();
    let complain = |(name, places): (&str, Vec<String>)| {
        let (number, allowed) = (places.len(), listed.get(name).copied().unwrap_or_default());
        (number != allowed).then(|| Complaint {
            place: file.to_owned(),
            found: format!("crate {name} has {number} {noun}: {}", places.join(" ")),
            allowed: allowed.to_string(),
            remedy: if number > allowed { remedy.to_owned() } else { format!("write {name} {number}") },
        })
    };
    found.into_iter().filter_map(complain).collect()
}

/// Fails the test if there are complaints.
#[track_caller]
pub fn assert_none(complaints: &[Complaint]) {
    let list: Vec<String> = complaints.iter().map(ToString::to_string).collect();
    assert!(list.is_empty(), "{} broken rule(s):\n\n{}\n", list.len(), list.join("\n\n"));
}

/// For tests with injected faults: checks the places and findings, each a `place: found` prefix.
#[track_caller]
pub fn assert_found(complaints: &[Complaint], expected: &[&str]) {
    let found: Vec<String> = complaints.iter().map(|c| format!("{}: {}", c.place, c.found)).collect();
    let agree = found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| f.starts_with(e));
    assert!(agree, "found {found:#?}\nexpected {expected:#?}");
}
