//! What is wrong, where, and what to do about it.

use std::fmt;

/// One broken rule.
#[derive(Debug)]
pub struct Complaint {
    /// `file:line`, or `file` when no line is at fault.
    pub place: String,
    /// What stands there.
    pub found: String,
    /// What may stand there.
    pub allowed: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, found, allowed, remedy } = self;
        write!(f, "{place}\n    found:   {found}\n    allowed: {allowed}\n    to do:   {remedy}")
    }
}

/// Fails the test with every complaint, if there is one.
#[track_caller]
pub fn assert_none(complaints: &[Complaint]) {
    let list: Vec<String> = complaints.iter().map(ToString::to_string).collect();
    assert!(list.is_empty(), "{} broken rule(s):\n\n{}\n", list.len(), list.join("\n\n"));
}

/// For tests with planted faults: the places and findings must be exactly these, each as a `place: found` prefix.
#[track_caller]
pub fn assert_found(complaints: &[Complaint], expected: &[&str]) {
    let found: Vec<String> = complaints.iter().map(|c| format!("{}: {}", c.place, c.found)).collect();
    let agree = found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| f.starts_with(e));
    assert!(agree, "found {found:#?}\nexpected {expected:#?}");
}
